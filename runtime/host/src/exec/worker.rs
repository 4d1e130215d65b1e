//! Executing the general plan: what one thread does with the kernels that are ready.
//!
//! A worker has a stack of visits. A visit works on one frame and one stream: its ready kernels are a stack
//! (`inline`), those of other streams a list (`outline`). Before each kernel, the outline list is handed to
//! the queue, one task per stream; when the inline stack is empty, the worker adopts the first outline stream
//! instead, unless the next iteration of a loop waits for the visit's end: then the queue gets them all. A
//! kernel that calls pushes a visit of the callee's frame, which is drained before the caller goes on; then
//! the results are delivered, in whatever state they are: to the kernel, or, of a loop whose iterations
//! overlap, to the next iteration (`overlapping`). So the order on one thread is TFRT's, and the machine's
//! stack stays flat.
//!
//! The lists of all visits are two: each visit's part begins where it found the end. What a visit works on is
//! named by its tokens (`frame`), which keep the frame alive; one that has none left does nothing more but
//! report what it has finished.
//!
//! A kernel that begins a straight line stands for all of it: the others are never on a stack, as each would
//! be the next one anyway (`straight`).
//!
//! A result that is not final gets a waiter, which opens a visit on the thread that makes it final. What a
//! kernel leaves to be done later is a task, which does the same; but where the thread's next task would open
//! the visit again that is about to end, it is done there (`take_next`).

mod invoke;
mod looping;
mod overlapping;
mod straight;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::frame::{
    Completing, Done, FrameEnd, InFlightEnd, LoopHead, NewFrame, PendingRegister, Ready, ResultsToken,
    Running, Sink, StraightRun,
};
use crate::async_value::AsyncRef;
use crate::error::KernelError;
use crate::kernel::Job;
use crate::queue::{Task, WorkQueue};
use crate::value::Value;

use self::invoke::{Deferred, may_run_now};
use self::looping::Iteration;

/// Work on one frame.
struct Activation {
    /// The frame's address, which says nothing of whether it is alive.
    frame: usize,
    stream: u32,
    /// Where its parts of the worker's lists begin.
    inline: usize,
    outline: usize,
    /// What the frame has not been told of.
    done: Option<Done>,
    caller: Option<(ResultConsumer, ResultsToken)>,
}

/// Who wants the results of a frame, in whatever state, when its first visit ends.
enum ResultConsumer {
    /// The kernel of the visit below, which has called.
    Kernel(Running),
    /// The next iteration.
    Iteration(Box<LoopHead>),
}

/// What a thread is to do.
#[derive(Default)]
struct Agenda {
    activations: Vec<Activation>,
    /// Kernels that are ready and of their visit's stream, the next one last.
    inline: Vec<Ready>,
    /// Those of other streams.
    outline: Vec<Ready>,
    /// Results of the kernel that ran last that are not final; empty but for moments.
    unresolved: Vec<(PendingRegister, AsyncRef)>,
}

/// One thread's work.
#[derive(Default)]
pub(super) struct Worker {
    agenda: Agenda,
    /// The operands and results of the kernel that runs. Between kernels, nothing here owns anything.
    scratch: Vec<Value>,
    /// 0, 1, 2, ...: where the operands are in `scratch`; as long as it.
    identity: Vec<u32>,
    /// Arguments and results of a line; empty but for moments.
    arguments: Vec<Value>,
    results: Vec<Value>,
    /// The kernel that runs.
    current: Option<Running>,
    /// The straight line that runs.
    straight: Option<StraightRun>,
    /// Why its next kernel has failed.
    panicked: Option<KernelError>,
    /// What the kernel that ran last has left to be done, as a task that is to be added before anything else
    /// happens.
    deferred: Option<(Running, Job)>,
    /// How often in a row that was done at once.
    n_immediate: u32,
    /// How many tasks the queue keeps for this thread that must not wait for a kernel.
    n_kept_tasks: u32,
    /// Whether a task ends when this has nothing left to do: not where a waiter began, whose producer goes
    /// on.
    ends_task: bool,
    /// Another worker without work.
    next: Option<Box<Worker>>,
}

/// How many values a worker keeps room for.
const MAX_KEPT: usize = 1 << 10;
/// How often in a row a worker does at once what a kernel has left to be done, instead of adding a task.
const MAX_IMMEDIATE: u32 = 31;

/// How many tasks may wait for kernels that take no time, so that not each is handed over by itself.
const MAX_KEPT_TASKS: u32 = 16;

thread_local! {
    /// Workers without work, for their room: as many as have nested.
    static KEPT: Cell<Option<Box<Worker>>> = const { Cell::new(None) };
}

/// Runs a new frame as far as this thread can.
pub(super) fn run(new_frame: NewFrame) {
    Worker::on_thread(|worker| {
        worker.ends_task = true;
        worker.enter_frame(new_frame, None);
    });
}

impl Activation {
    /// Whether there is nothing left to do or to report. It is not the top one, and the top one has nothing
    /// to do.
    fn is_over(&self, agenda: &Agenda) -> bool {
        let Activation { inline, outline, done, caller, frame: _, stream: _ } = self;
        done.is_none()
            && caller.is_none()
            && *inline == agenda.inline.len()
            && *outline == agenda.outline.len()
    }
}

impl Agenda {
    /// Begins a visit that has nothing to do so far.
    fn activate(&mut self, frame: usize, stream: u32, caller: Option<(ResultConsumer, ResultsToken)>) {
        let (inline, outline) = (self.inline.len(), self.outline.len());
        self.activations.push(Activation { frame, stream, inline, outline, done: None, caller });
    }

    /// Whether the top visit is of a kernel's frame and stream.
    fn is_active(&self, running: &Running) -> bool {
        let activation = self.activations.last();
        activation.is_some_and(|it| it.frame == running.frame().address() && it.stream == running.stream())
    }

    /// Whether there is nothing left to do in any visit.
    #[inline]
    fn is_idle(&self) -> bool {
        let Some((top, others)) = self.activations.split_last() else { return false };
        top.caller.is_none()
            && top.inline == self.inline.len()
            && top.outline == self.outline.len()
            && others.iter().all(|activation| activation.is_over(self))
    }

    /// Gives `act` the list of what becomes ready for the top visit, and adds what it has done.
    #[inline(always)]
    fn with_sink(&mut self, act: impl FnOnce(&mut Sink<'_>) -> Option<Done>) {
        let Agenda { activations, inline, outline, .. } = self;
        let Some(activation) = activations.last_mut() else { return };
        if let Some(done) = act(&mut Sink { stream: activation.stream, inline, outline }) {
            done.add_to(&mut activation.done);
        }
    }

    /// Stores the results of a kernel of the top visit's frame. Those that are not final are in `late` then.
    #[inline]
    fn write_results(&mut self, running: Running, results: impl Iterator<Item = Value>) -> Completing {
        let Agenda { activations, inline, outline, unresolved } = self;
        let stream = activations.last().map_or(0, |activation| activation.stream);
        running.write_results(results, &mut Sink { stream, inline, outline }, unresolved)
    }

    /// [`Agenda::publish`] for a kernel that is complete when its results are final.
    #[inline]
    fn settle(&mut self, running: Running, results: impl Iterator<Item = Value>) {
        let completing = self.write_results(running, results);
        if self.unresolved.is_empty() {
            self.with_sink(|sink| Some(completing.complete(sink)));
        } else {
            self.settle_pending(completing);
        }
    }

    /// [`Agenda::settle`] for a kernel that publishes plainly; the result is concrete.
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
            // They may all have come meanwhile.
            self.with_sink(|sink| Some(Arc::into_inner(completing)?.complete(sink)));
        }
        self.unresolved = unresolved;
    }

    /// Ends the top visit: the kernel that called gets its results. What is left to be counted; and if it was
    /// an iteration, who starts the next one.
    fn end_activation(&mut self) -> Option<(Done, Option<Box<LoopHead>>)> {
        let Activation { done, caller, .. } = self.activations.pop()?;
        let done = done?;
        match caller {
            None => Some((done, None)),
            Some((ResultConsumer::Kernel(running), returns)) => {
                let completing = self.deliver(running, returns.results(done.frame()));
                done.set_continuation(completing);
                Some((done, None))
            }
            Some((ResultConsumer::Iteration(mut head), returns)) => {
                head.values.extend(returns.results(done.frame()));
                Some((done, Some(head)))
            }
        }
    }

    /// Gives a kernel of the top visit's frame the results of a function, in whatever state. It is complete
    /// when somebody says so.
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

    /// Goes on with the first of the other streams, where the visit has nothing left in its own.
    fn adopt_stream(&mut self) {
        let Agenda { activations, inline, outline, .. } = self;
        let Some(activation) = activations.last_mut() else { return };
        let Some(first) = outline.get(activation.outline) else { return };
        activation.stream = first.stream();
        inline.extend(outline.extract_if(activation.outline.., |ready| ready.stream() == activation.stream));
    }

    /// Hands the kernels of the top visit that are of other streams to the queue, one task per stream, by
    /// ascending stream.
    #[inline]
    fn enqueue_outline(&mut self, queue: &Arc<dyn WorkQueue>) {
        if self.activations.last().is_some_and(|activation| self.outline.len() > activation.outline) {
            self.enqueue_outline_slow(queue);
        }
    }

    fn enqueue_outline_slow(&mut self, queue: &Arc<dyn WorkQueue>) {
        let Some(activation) = self.activations.last() else { return };
        let (outline, frame) = (&mut self.outline, activation.frame);
        outline[activation.outline..].sort_by_key(Ready::stream);
        let mut rest = outline.drain(activation.outline..).peekable();
        while let Some(first) = rest.next() {
            let stream = first.stream();
            let mut others = std::iter::from_fn(|| rest.next_if(|next| next.stream() == stream));
            queue.add_task(match others.next() {
                None => Task::new(move || Worker::run_ready(frame, stream, |inline| inline.push(first))),
                Some(second) => {
                    let mut all: Vec<Ready> = [first, second].into_iter().chain(others).collect();
                    Task::new(move || Worker::run_ready(frame, stream, |inline| inline.append(&mut all)))
                }
            });
        }
    }
}

impl Worker {
    /// Gives this thread a worker, and has it do what it is given.
    #[inline]
    fn on_thread(begin: impl FnOnce(&mut Worker)) {
        // Inside of a kernel or a waiter, the worker that runs it is not there.
        let mut worker = KEPT.take().unwrap_or_default();
        KEPT.set(worker.next.take());
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
            worker.next = KEPT.take();
            KEPT.set(Some(worker));
        }
    }

    /// A task of one stream.
    fn run_ready(frame: usize, stream: u32, fill: impl FnOnce(&mut Vec<Ready>)) {
        Worker::on_thread(|worker| {
            worker.ends_task = true;
            worker.agenda.activate(frame, stream, None);
            fill(&mut worker.agenda.inline);
        });
    }

    /// Opens the first visit of a frame.
    fn enter_frame(&mut self, mut new_frame: NewFrame, caller: Option<ResultConsumer>) {
        // The stream of whoever calls. If nothing in it is ready, another one is taken up.
        let stream = 0;
        let agenda = &mut self.agenda;
        agenda.activate(new_frame.frame().address(), stream, caller.zip(new_frame.returns()));
        let mut unresolved = std::mem::take(&mut agenda.unresolved);
        agenda.with_sink(|sink| {
            let done = new_frame.begin(sink, &mut unresolved);
            for (pending, value) in unresolved.drain(..) {
                let hold = Hold::Frame(Done::hold(done.frame()));
                RegisterWait { pending, stream, hold }.wait(&value);
            }
            Some(done)
        });
        self.agenda.unresolved = unresolved;
    }

    fn drain(&mut self) {
        while let Some(&Activation { inline, outline, .. }) = self.agenda.activations.last() {
            let agenda = &mut self.agenda;
            if let Some(ready) = pop_ready(&mut agenda.inline, inline) {
                if self.deferred.is_some() {
                    self.enqueue_deferred();
                }
                if self.agenda.outline.len() > outline {
                    self.agenda.enqueue_outline_slow(ready.frame().execution.context.queue());
                }
                self.run_kernel(ready);
            } else if agenda.outline.len() > outline {
                match agenda.activations.last() {
                    // What is in other streams must not keep the next iteration waiting.
                    Some(Activation { caller: Some((ResultConsumer::Iteration(head), _)), .. }) => {
                        let queue = head.running.frame().execution.context.queue().clone();
                        agenda.enqueue_outline_slow(&queue);
                    }
                    _ => agenda.adopt_stream(),
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

    /// Takes what is left of a kernel if a task would be the thread's next one, and go on here: in the top
    /// visit, which like all others has nothing else to do.
    #[inline]
    fn take_deferred(&mut self) -> Option<(Running, Job)> {
        let (running, _) = self.deferred.as_ref()?;
        let context = &running.frame().execution.context;
        if !self.agenda.is_active(running) || !may_run_now(&self.agenda, &mut self.n_immediate, context) {
            return None;
        }
        self.deferred.take()
    }

    /// Takes what is left of another kernel of the top visit's frame, if it is the thread's next task: it
    /// would come back here. The visit, which has nothing else to do, goes on in its stream.
    #[inline]
    fn take_next_deferred(&mut self) -> Option<(Running, Job)> {
        if !self.ends_task || self.n_immediate >= MAX_IMMEDIATE || !self.agenda.is_idle() {
            return None;
        }
        let activation = self.agenda.activations.last_mut()?;
        let frame = activation.frame;
        let is_here = |task: &Task| {
            let deferred = task.as_work::<Deferred>().and_then(Deferred::running);
            deferred.is_some_and(|running| running.frame().address() == frame)
        };
        let context = &activation.done.as_ref()?.frame().execution.context;
        let Some(task) = context.queue().take_next(&is_here) else {
            self.n_kept_tasks += 1;
            return None;
        };
        let (running, job) = task.into_work::<Deferred>().ok()?.take()?;
        activation.stream = running.stream();
        self.n_immediate += 1;
        Some((running, job))
    }

    /// Counts what is done; the end of a frame completes its caller's kernel, and so on.
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

    /// A kernel has completed: goes on with those that waited for that.
    fn complete(&mut self, completing: Completing) {
        self.agenda.activate(completing.frame().address(), completing.stream(), None);
        self.agenda.with_sink(|sink| Some(completing.complete(sink)));
    }
}

/// The kernel that comes next, of those from `first` on.
#[inline]
fn pop_ready(inline: &mut Vec<Ready>, first: usize) -> Option<Ready> {
    let last = inline.len().checked_sub(1)?;
    if last < first {
        return None;
    }
    if last > first {
        let execution = &inline[last].frame().execution;
        if execution.is_seeded {
            let at = first + execution.context.queue().pick(inline.len() - first);
            inline.swap(at.min(last), last);
        }
    }
    inline.pop()
}

/// A register whose value is not final, and what keeps its frame until it is.
struct RegisterWait {
    pending: PendingRegister,
    /// Where those go on that it makes ready.
    stream: u32,
    hold: Hold,
}

enum Hold {
    /// The kernel whose only late result it is, complete with it.
    Kernel(Completing),
    /// One that is complete with the last of its results.
    Share(Arc<Completing>),
    /// Nothing is complete with it.
    Frame(Done),
}

impl RegisterWait {
    /// Tells the users of the register when the value is final, and goes on with what that makes ready.
    fn wait(self, value: &AsyncRef) {
        value.and_then(move |value| {
            let is_dead = matches!(value, Value::Dead);
            Worker::on_thread(|worker| self.end(is_dead, &mut worker.agenda));
        });
    }

    fn end(self, is_dead: bool, agenda: &mut Agenda) {
        let RegisterWait { pending, stream, hold } = self;
        let frame = match &hold {
            Hold::Kernel(completing) => completing.frame(),
            Hold::Share(completing) => completing.frame(),
            Hold::Frame(done) => done.frame(),
        };
        agenda.activate(frame.address(), stream, None);
        agenda.with_sink(|sink| match hold {
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
