//! General execution: one thread's work on the kernels that are ready.
//!
//! A worker has a stack of activations. An activation works on one frame and one stream. Its ready kernels
//! are a stack (`inline`); those of other streams are a list (`outline`). Before each kernel, the outline
//! list goes to the queue, one task per stream. When the inline stack is empty, the worker continues with the
//! first outline stream instead. The exception is an activation whose end starts the next iteration of a
//! loop: then the queue gets all outline kernels.
//!
//! A kernel that calls pushes an activation of the callee's frame, which is drained before the caller
//! continues. Then the results are delivered, in any state: to the kernel, or to the next iteration of a loop
//! whose iterations overlap (`overlapping`). So the order on one thread is TFRT's, and the machine's stack
//! stays flat.
//!
//! Invariants:
//!
//! * All activations share two lists. The part of an activation begins at the length that it found.
//! * The tokens of an activation (`frame`) keep its frame alive. An activation without tokens only reports
//!   what it has finished.
//! * A kernel that begins a straight line stands for the whole line (`straight`). The other kernels of the
//!   line are never on a stack, because each would be the next one anyway.
//! * A pending result gets a waiter, which begins an activation on the thread that makes the result final.
//! * The deferred part of a kernel becomes a task, which begins an activation. If the activation that is
//!   about to end has the frame of the thread's next task, it runs that task itself (`take_next_deferred`).
//! * A worker runs kernels of one queue, that of its device, because streams never span queues. An activation
//!   of another queue's stream has no stream, so all kernels that it makes ready go to their queues.
//!
//! If kernels of the program wait for each other, tasks and awaited values count as the execution's
//! [`Activity`](befrost_kernel_api::activity::Activity): a task from before it is given to a queue until the
//! worker that runs it has nothing left to do, a kernel's pending result until its users were notified.
//!
//! Entry points: [`run`] for a new frame; tasks and waiters call `Worker::on_thread`.

mod invoke;
mod looping;
mod overlapping;
mod straight;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::execution::Execution;
use super::frame::{
    Completing, Done, Frame, FrameEnd, InFlightEnd, LoopHead, NewFrame, PendingRegister, Ready, ResultsToken,
    Running, Sink, StraightRun,
};
use befrost_kernel_api::activity::{Activity, Going};
use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::error::KernelError;
use befrost_kernel_api::kernel::Job;
use befrost_kernel_api::queue::Task;
use befrost_kernel_api::value::Value;

use self::invoke::{DeferredTask, may_run_now};
use self::looping::Iteration;

/// Work on one frame and one stream.
struct Activation {
    /// Address of the frame, which may have been freed.
    frame: usize,
    stream: u32,
    /// Start of the activation's parts of `Agenda::inline` and `Agenda::outline`.
    inline: usize,
    outline: usize,
    /// Finished items that are not subtracted from the frame's count yet.
    done: Option<Done>,
    consumer: Option<(ResultConsumer, ResultsToken)>,
}

/// Consumer of a frame's results, in any state, at the end of its first activation.
enum ResultConsumer {
    /// The calling kernel, of the activation below.
    Kernel(Running),
    /// The next iteration.
    Iteration(Box<LoopHead>),
}

/// Work of a thread.
#[derive(Default)]
struct Agenda {
    activations: Vec<Activation>,
    /// Ready kernels of their activation's stream. The last one runs next.
    inline: Vec<Ready>,
    /// Ready kernels of other streams.
    outline: Vec<Ready>,
    /// Results of the last kernel that are not final. Empty between kernels.
    unresolved: Vec<(PendingRegister, AsyncRef)>,
}

/// State of one thread of the executor.
#[derive(Default)]
pub(super) struct Worker {
    /// The device whose queue runs this worker, or [`NO_QUEUE`](super::execution::NO_QUEUE).
    queue: u16,
    agenda: Agenda,
    /// Operands and results of the current kernel. Owns nothing between kernels.
    scratch: Vec<Value>,
    /// 0, 1, 2, ...: the slots of the operands in `scratch`. As long as `scratch`.
    identity: Vec<u32>,
    /// Arguments and results of a sequential execution. Empty between kernels.
    arguments: Vec<Value>,
    results: Vec<Value>,
    /// The current kernel.
    current: Option<Running>,
    /// The current straight line.
    straight: Option<StraightRun>,
    /// Error of the line's next kernel, which has panicked.
    panicked: Option<KernelError>,
    /// Deferred part of the last kernel. It becomes a task before anything else happens.
    deferred: Option<(Running, Job)>,
    /// Number of deferred parts in a row that ran without a task.
    n_immediate: u32,
    /// Number of tasks in the thread's local queue that must not wait for a long kernel.
    n_kept_tasks: u32,
    /// Whether the thread's task ends when this worker has nothing left to do. False for a worker that a
    /// waiter has started: then the producer of the value continues.
    ends_task: bool,
    /// Next worker in the list of unused ones.
    next: Option<Box<Worker>>,
}

/// The stream of an activation whose kernels run on other queues.
const NO_STREAM: u32 = u32::MAX;
/// Limit of the values and ready kernels for which an unused worker keeps memory.
const MAX_KEPT: usize = 1 << 10;
/// Limit of deferred parts in a row that run without a task.
const MAX_IMMEDIATE: u32 = 31;

/// Limit of tasks that stay in the local queue while kernels run that defer their long part, so that not
/// every task is handed over by itself.
const MAX_KEPT_TASKS: u32 = 16;

thread_local! {
    /// Unused workers, kept for their memory: as many as have nested.
    static UNUSED_WORKERS: Cell<Option<Box<Worker>>> = const { Cell::new(None) };
}

/// Runs a new frame as far as this thread can.
pub(super) fn run(new_frame: NewFrame) {
    let going = new_frame.frame().execution.activity().cloned().map(Going::new);
    Worker::on_thread(new_frame.frame().execution.home, |worker| {
        worker.ends_task = true;
        worker.enter_frame(new_frame, None);
    });
    drop(going);
}

impl Activation {
    /// Whether there is nothing left to do or to report. The activation is not the top one, and the top one
    /// has nothing to do.
    fn is_over(&self, agenda: &Agenda) -> bool {
        let Activation { inline, outline, done, consumer, frame: _, stream: _ } = self;
        done.is_none()
            && consumer.is_none()
            && *inline == agenda.inline.len()
            && *outline == agenda.outline.len()
    }
}

impl Agenda {
    /// Begins an activation without work.
    fn activate(&mut self, frame: usize, stream: u32, consumer: Option<(ResultConsumer, ResultsToken)>) {
        let (inline, outline) = (self.inline.len(), self.outline.len());
        self.activations.push(Activation { frame, stream, inline, outline, done: None, consumer });
    }

    /// Whether the top activation has the frame and stream of a kernel.
    fn is_active(&self, running: &Running) -> bool {
        let activation = self.activations.last();
        activation.is_some_and(|it| it.frame == running.frame().address() && it.stream == running.stream())
    }

    /// Whether there is nothing left to do in any activation.
    #[inline]
    fn is_idle(&self) -> bool {
        let Some((top, others)) = self.activations.split_last() else { return false };
        top.consumer.is_none()
            && top.inline == self.inline.len()
            && top.outline == self.outline.len()
            && others.iter().all(|activation| activation.is_over(self))
    }

    /// Calls `act` with the lists for kernels that become ready, and adds the finished items that it returns
    /// to the top activation.
    #[inline(always)]
    fn with_sink(&mut self, act: impl FnOnce(&mut Sink<'_>) -> Option<Done>) {
        let Agenda { activations, inline, outline, .. } = self;
        let Some(activation) = activations.last_mut() else { return };
        if let Some(done) = act(&mut Sink { stream: activation.stream, inline, outline }) {
            done.add_to(&mut activation.done);
        }
    }

    /// Writes the results of a kernel of the top activation's frame. Those that are not final are in
    /// `unresolved` afterwards.
    #[inline]
    fn write_results(&mut self, running: Running, results: impl Iterator<Item = Value>) -> Completing {
        let Agenda { activations, inline, outline, unresolved } = self;
        let stream = activations.last().map_or(0, |activation| activation.stream);
        running.write_results(results, &mut Sink { stream, inline, outline }, unresolved)
    }

    /// [`Agenda::write_results`] for a kernel that is complete when its results are final.
    #[inline]
    fn settle(&mut self, running: Running, results: impl Iterator<Item = Value>) {
        let completing = self.write_results(running, results);
        if self.unresolved.is_empty() {
            self.with_sink(|sink| Some(completing.complete(sink)));
        } else {
            self.settle_pending(completing);
        }
    }

    /// [`Agenda::settle`] for a kernel with a plain result, which is concrete.
    #[inline(always)]
    fn settle_plain_result(&mut self, running: Running, result: &mut Value) {
        let Agenda { activations, inline, outline, .. } = self;
        let Some(activation) = activations.last_mut() else { return };
        let done =
            running.write_plain_result(result, &mut Sink { stream: activation.stream, inline, outline });
        done.add_to(&mut activation.done);
    }

    #[cold]
    fn settle_pending(&mut self, completing: Completing) {
        let stream = completing.stream();
        let mut unresolved = std::mem::take(&mut self.unresolved);
        if unresolved.len() == 1
            && let Some((pending, value)) = unresolved.pop()
        {
            RegisterWait { pending, stream, hold: Hold::Kernel(completing) }.wait(&value);
        } else {
            let completing = Arc::new(completing);
            for (pending, value) in unresolved.drain(..) {
                RegisterWait { pending, stream, hold: Hold::Share(completing.clone()) }.wait(&value);
            }
            // All results may have become final meanwhile.
            self.with_sink(|sink| Some(Arc::into_inner(completing)?.complete(sink)));
        }
        self.unresolved = unresolved;
    }

    /// Ends the top activation and delivers its results. Returns its finished items, which are to be counted,
    /// and the head of the loop if the consumer is the next iteration.
    fn end_activation(&mut self) -> Option<(Done, Option<Box<LoopHead>>)> {
        let Activation { done, consumer, .. } = self.activations.pop()?;
        let done = done?;
        match consumer {
            None => Some((done, None)),
            Some((ResultConsumer::Kernel(running), token)) => {
                let completing = self.deliver(running, token.results(done.frame()));
                done.set_continuation(completing);
                Some((done, None))
            }
            Some((ResultConsumer::Iteration(mut head), token)) => {
                head.values.extend(token.results(done.frame()));
                Some((done, Some(head)))
            }
        }
    }

    /// Writes the results of a function, in any state, as those of a kernel of the top activation's frame.
    /// The caller completes the kernel.
    fn deliver(&mut self, running: Running, results: impl Iterator<Item = Value>) -> Completing {
        let stream = running.stream();
        let completing = self.write_results(running, results);
        for (pending, value) in self.unresolved.drain(..) {
            if completing.frame().has_pending_users(&pending) {
                let hold = Hold::Frame(Done::hold(completing.frame()));
                RegisterWait { pending, stream, hold }.wait(&value);
            }
        }
        completing
    }

    /// Continues with the first of the other streams of device `queue`, when the activation's own stream is
    /// empty. If all are of other queues, they go there.
    fn adopt_stream(&mut self, queue: u16) {
        let Agenda { activations, inline, outline, .. } = self;
        let Some(activation) = activations.last_mut() else { return };
        let Some(first) = outline.get(activation.outline) else { return };
        let Some(first) = outline[activation.outline..].iter().find(|ready| ready.queue() == queue) else {
            let execution = first.frame().execution.clone();
            return self.enqueue_outline_slow(&execution);
        };
        activation.stream = first.stream();
        inline.extend(outline.extract_if(activation.outline.., |ready| ready.stream() == activation.stream));
    }

    /// Hands the top activation's kernels of other streams to the queue: one task per stream, in ascending
    /// order.
    #[inline]
    fn enqueue_outline(&mut self, execution: &Execution) {
        if self.activations.last().is_some_and(|activation| self.outline.len() > activation.outline) {
            self.enqueue_outline_slow(execution);
        }
    }

    fn enqueue_outline_slow(&mut self, execution: &Execution) {
        let Some(activation) = self.activations.last() else { return };
        let (outline, frame) = (&mut self.outline, activation.frame);
        outline[activation.outline..].sort_by_key(Ready::stream);
        let mut rest = outline.drain(activation.outline..).peekable();
        while let Some(first) = rest.next() {
            let (stream, at) = (first.stream(), first.queue());
            let queue = execution.queue(at);
            execution.begin_task();
            let mut others = std::iter::from_fn(|| rest.next_if(|next| next.stream() == stream));
            queue.add_task(match others.next() {
                None => Task::new(move || Worker::run_ready(at, frame, stream, |inline| inline.push(first))),
                Some(second) => {
                    let mut all: Vec<Ready> = [first, second].into_iter().chain(others).collect();
                    Task::new(move || Worker::run_ready(at, frame, stream, |inline| inline.append(&mut all)))
                }
            });
        }
    }
}

impl Worker {
    /// Runs `begin` with a worker on this thread, and then everything that it made ready.
    #[inline]
    fn on_thread(queue: u16, begin: impl FnOnce(&mut Worker)) {
        // Inside of a kernel or a waiter, the worker that runs it is in use and not in the list.
        let mut worker = UNUSED_WORKERS.take().unwrap_or_default();
        UNUSED_WORKERS.set(worker.next.take());
        worker.queue = queue;
        worker.n_immediate = 0;
        worker.ends_task = false;
        let mut begin = Some(begin);
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| {
            if let Some(begin) = begin.take() {
                begin(&mut worker);
            }
            worker.resume_straight_line();
            worker.drain();
        })) {
            worker.after_panic(panic);
        }
        worker.n_kept_tasks = 0;
        if worker.scratch.len() <= MAX_KEPT && worker.agenda.inline.capacity() <= MAX_KEPT {
            worker.next = UNUSED_WORKERS.take();
            UNUSED_WORKERS.set(Some(worker));
        }
    }

    /// Body of a task with ready kernels of one stream.
    fn run_ready(queue: u16, frame: usize, stream: u32, fill: impl FnOnce(&mut Vec<Ready>)) {
        let mut activity = None;
        Worker::on_thread(queue, |worker| {
            worker.ends_task = true;
            worker.agenda.activate(frame, stream, None);
            fill(&mut worker.agenda.inline);
            let execution = worker.agenda.inline.last().map(|ready| &ready.frame().execution);
            activity = execution.and_then(|execution| execution.activity().cloned());
        });
        if let Some(activity) = activity {
            activity.end();
        }
    }

    /// Begins the first activation of a frame.
    fn enter_frame(&mut self, mut new_frame: NewFrame, consumer: Option<ResultConsumer>) {
        // The caller's stream. If none of its kernels is ready, the activation continues with another stream.
        let (address, stream) = (new_frame.frame().address(), self.own_stream(new_frame.frame(), 0));
        // Arguments of the outermost frame may come from anywhere.
        let is_first = new_frame.frame().depth == 0;
        let agenda = &mut self.agenda;
        agenda.activate(address, stream, consumer.zip(new_frame.take_results_token()));
        let mut unresolved = std::mem::take(&mut agenda.unresolved);
        agenda.with_sink(|sink| {
            let done = new_frame.begin(sink, &mut unresolved);
            for (pending, value) in unresolved.drain(..) {
                let hold = Hold::Frame(Done::hold(done.frame()));
                if is_first && let Some(activity) = done.frame().execution.activity() {
                    await_value(activity, &Value::Async(value.clone()));
                }
                RegisterWait { pending, stream, hold }.wait(&value);
            }
            Some(done)
        });
        self.agenda.unresolved = unresolved;
    }

    /// The stream, if its kernels run on this worker's queue. Else [`NO_STREAM`]: all kernels that become
    /// ready are those of other streams.
    #[inline]
    fn own_stream(&self, frame: &Frame, stream: u32) -> u32 {
        if frame.general().queue_of(stream) == self.queue { stream } else { NO_STREAM }
    }

    /// Begins an activation without work.
    fn activate(&mut self, frame: &Frame, stream: u32, consumer: Option<(ResultConsumer, ResultsToken)>) {
        let stream = self.own_stream(frame, stream);
        self.agenda.activate(frame.address(), stream, consumer);
    }

    fn drain(&mut self) {
        while let Some(&Activation { inline, outline, .. }) = self.agenda.activations.last() {
            let agenda = &mut self.agenda;
            if let Some(ready) = pop_ready(&mut agenda.inline, inline) {
                if self.deferred.is_some() {
                    self.enqueue_deferred();
                }
                if self.agenda.outline.len() > outline {
                    self.agenda.enqueue_outline_slow(&ready.frame().execution);
                }
                self.run_kernel(ready);
            } else if agenda.outline.len() > outline {
                match agenda.activations.last() {
                    // The kernels of other streams must not delay the next iteration.
                    Some(Activation { consumer: Some((ResultConsumer::Iteration(head), _)), .. }) => {
                        let execution = head.running.frame().execution.clone();
                        agenda.enqueue_outline_slow(&execution);
                    }
                    _ => agenda.adopt_stream(self.queue),
                }
            } else if let Some((running, job)) = self.take_deferred() {
                self.run_job(running, job);
            } else {
                if self.deferred.is_some() {
                    self.enqueue_deferred();
                }
                if let Some((running, job)) = self.take_next_deferred() {
                    self.run_job(running, job);
                    continue;
                }
                if let Some((done, head)) = self.agenda.end_activation() {
                    self.finish(done);
                    if let Some(head) = head {
                        self.advance(head);
                    }
                }
            }
        }
    }

    /// Takes the deferred part of the last kernel if its task would be the thread's next one and would
    /// continue here. The top activation has its frame and stream, and no activation has anything else to do.
    #[inline]
    fn take_deferred(&mut self) -> Option<(Running, Job)> {
        let (running, _) = self.deferred.as_ref()?;
        let execution = &running.frame().execution;
        if !self.agenda.is_active(running)
            || !may_run_now(&self.agenda, &mut self.n_immediate, execution, self.queue)
        {
            return None;
        }
        self.deferred.take()
    }

    /// Takes the deferred part of another kernel of the top activation's frame if it is the thread's next
    /// task, which would continue here. No activation has anything else to do; the top one changes to the
    /// kernel's stream.
    #[inline]
    fn take_next_deferred(&mut self) -> Option<(Running, Job)> {
        if !self.ends_task || self.n_immediate >= MAX_IMMEDIATE || !self.agenda.is_idle() {
            return None;
        }
        let activation = self.agenda.activations.last_mut()?;
        let frame = activation.frame;
        let is_here = |task: &Task| {
            let deferred = task.as_work::<DeferredTask>().and_then(DeferredTask::running);
            deferred.is_some_and(|running| running.frame().address() == frame)
        };
        let execution = &activation.done.as_ref()?.frame().execution;
        let Some(task) = execution.queue(self.queue).local().take_next(&is_here) else {
            self.n_kept_tasks += 1;
            return None;
        };
        let (running, job) = task.into_work::<DeferredTask>().ok()?.take()?;
        // This worker goes on with it.
        running.frame().execution.activity().into_iter().for_each(|activity| activity.end());
        activation.stream = running.stream();
        self.n_immediate += 1;
        Some((running, job))
    }

    /// Counts finished items. The end of a frame completes the calling kernel, which may end the caller's
    /// frame in turn.
    fn finish(&mut self, mut done: Done) {
        loop {
            let completing = match done.finish() {
                FrameEnd::NotYet => return,
                FrameEnd::Iteration { looping, function, results } => {
                    return self.end_iteration(Iteration { looping, function, results });
                }
                FrameEnd::InFlight(in_flight) => match in_flight.end() {
                    InFlightEnd::Nothing => return,
                    InFlightEnd::Next(head) => return self.resume_loop(head),
                    InFlightEnd::Last(completing) => completing,
                },
                FrameEnd::CompleteCaller(completing) => completing,
            };
            if completing.frame().general().has_after {
                return self.complete(completing);
            }
            done = completing.complete_alone();
        }
    }

    /// Completes a kernel and continues with the kernels that waited for its completion.
    fn complete(&mut self, completing: Completing) {
        self.activate(completing.frame(), completing.stream(), None);
        self.agenda.with_sink(|sink| Some(completing.complete(sink)));
    }
}

/// The next kernel of those from `first` on. A seeded queue chooses it.
#[inline]
fn pop_ready(inline: &mut Vec<Ready>, first: usize) -> Option<Ready> {
    let last = inline.len().checked_sub(1)?;
    if last < first {
        return None;
    }
    if last > first {
        let execution = &inline[last].frame().execution;
        if execution.is_seeded {
            let at = first + execution.context.queue().local().pick(inline.len() - first);
            inline.swap(at.min(last), last);
        }
    }
    inline.pop()
}

/// Counts a value that does not come from a frame of the execution as activity until it is final and all who
/// wait for it were told: waiters run newest first, and this one is the first. A value of a frame is not
/// counted: it may be one that another kernel of the execution is to send.
#[inline]
fn await_value(activity: &Arc<Activity>, value: &Value) {
    if let Value::Async(value) = value {
        let going = Going::new(activity.clone());
        value.and_then(move |_| drop(going));
    }
}

/// A pending register, with a hold on its frame.
struct RegisterWait {
    pending: PendingRegister,
    /// Stream of the activation that notifies the register's users.
    stream: u32,
    hold: Hold,
}

enum Hold {
    /// A kernel whose only pending result is this register: it completes with it.
    Kernel(Completing),
    /// A kernel that completes with the last of its pending results.
    Share(Arc<Completing>),
    /// A hold without a kernel to complete.
    Frame(Done),
}

impl RegisterWait {
    /// Notifies the users of the register when the value is final, and runs the kernels that become ready.
    fn wait(self, value: &AsyncRef) {
        value.and_then(move |value| {
            let is_dead = matches!(value, Value::Dead);
            let queue = self.frame().execution.anywhere;
            Worker::on_thread(queue, |worker| self.end(is_dead, worker));
        });
    }

    fn frame(&self) -> &Frame {
        match &self.hold {
            Hold::Kernel(completing) => completing.frame(),
            Hold::Share(completing) => completing.frame(),
            Hold::Frame(done) => done.frame(),
        }
    }

    fn end(self, is_dead: bool, worker: &mut Worker) {
        worker.activate(self.frame(), self.stream, None);
        let RegisterWait { pending, stream: _, hold } = self;
        worker.agenda.with_sink(|sink| match hold {
            Hold::Kernel(completing) => {
                completing.frame().notify_pending(pending, is_dead, sink);
                Some(completing.complete(sink))
            }
            Hold::Share(completing) => {
                completing.frame().notify_pending(pending, is_dead, sink);
                Some(Arc::into_inner(completing)?.complete(sink))
            }
            Hold::Frame(done) => {
                done.frame().notify_pending(pending, is_dead, sink);
                Some(done)
            }
        });
    }
}
