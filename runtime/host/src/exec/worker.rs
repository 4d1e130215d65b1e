//! Executing the general plan: what one thread does with the kernels that are ready.
//!
//! A worker has a stack of visits. A visit works on one frame and one stream: its ready kernels are a stack (`inline`), those of other
//! streams a list (`outline`). Before each kernel, the outline list is handed to the queue, one task per stream; when the inline
//! stack is empty, the worker adopts the first outline stream instead. A kernel that calls pushes a visit of the callee's frame, which is drained
//! before the caller goes on; then the results are delivered, in whatever state they are. So the order on one thread is TFRT's, and the
//! machine's stack stays flat.
//!
//! A result that is not final gets a waiter, which opens a visit on the thread that makes it final.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::frame::{End, Frame, Later, Looping, Ready, Running, Started};
use super::{Execution, callee, cancelled, line, operand_error, resolved};
use crate::async_value::AsyncRef;
use crate::error::{Error, ErrorCode, KernelError};
use crate::kernel::{After, Again, Job, KernelFrame, Outcome, Place, Request};
use crate::queue::Task;
use crate::value::Value;

/// Work on one frame.
struct Visit {
    frame: Arc<Frame>,
    stream: u32,
    inline: Vec<Ready>,
    outline: Vec<Ready>,
    /// Completions that the frame has not been told of.
    finished: usize,
    /// The kernel of the visit below that called; it gets the results.
    caller: Option<Running>,
}

/// One thread's work.
#[derive(Default)]
pub(super) struct Worker {
    visits: Vec<Visit>,
    /// The operands and results of the kernel that runs.
    scratch: Vec<Value>,
    /// 0, 1, 2, ...: where the operands are in `scratch`.
    identity: Vec<u32>,
    /// Kernels that have become ready; empty but for moments.
    ready: Vec<Ready>,
    /// Lists for visits to come; empty.
    spare: Vec<Vec<Ready>>,
    /// Whether the queue keeps tasks for this thread that must not wait for a kernel.
    owes: bool,
}

/// How many lists, and values in a list, a thread keeps room for.
const MAX_KEPT: usize = 1 << 10;

thread_local! {
    /// A worker without work, for its room.
    static KEPT: Cell<Option<Box<Worker>>> = const { Cell::new(None) };
}

/// Runs a new frame as far as this thread can.
pub(super) fn run(started: Started) {
    Worker::on_thread(|worker| worker.open(started, None));
}

impl Worker {
    /// Gives this thread a worker, and has it do what it is given.
    fn on_thread(begin: impl FnOnce(&mut Worker)) {
        // Inside of a kernel or a waiter there is none, and a new one is made.
        let mut worker = KEPT.take().unwrap_or_default();
        begin(&mut worker);
        worker.drain();
        worker.scratch.clear();
        worker.owes = false;
        if worker.scratch.capacity() <= MAX_KEPT && worker.spare.len() <= MAX_KEPT {
            KEPT.set(Some(worker));
        }
    }

    /// A visit of `frame` that has nothing to do so far.
    fn push_visit(&mut self, frame: Arc<Frame>, stream: u32) {
        let (inline, outline) = (self.spare.pop().unwrap_or_default(), self.spare.pop().unwrap_or_default());
        self.visits.push(Visit { frame, stream, inline, outline, finished: 0, caller: None });
    }

    /// Opens the first visit of a frame.
    fn open(&mut self, started: Started, caller: Option<Running>) {
        let Started { frame, ready, later } = started;
        // The frame's first stream is the one of its first kernel.
        let stream = frame.general().streams.first().copied().unwrap_or(0);
        for (later, value) in later {
            wait(&frame, stream, later, &value, None);
        }
        self.visits.push(Visit { finished: 1, caller, ..Visit::new(frame, stream, ready) });
    }

    fn drain(&mut self) {
        while let Some(visit) = self.visits.last_mut() {
            if visit.frame.execution.is_seeded && visit.inline.len() > 1 {
                let (last, queue) = (visit.inline.len() - 1, visit.frame.execution.context.queue());
                visit.inline.swap(queue.pick(last + 1).min(last), last);
            }
            if let Some(ready) = visit.inline.pop() {
                visit.hand_out();
                self.kernel(ready);
            } else if let Some(first) = visit.outline.first() {
                visit.stream = visit.frame.general().streams[first.kernel() as usize];
                let mut ready = std::mem::take(&mut visit.outline);
                visit.add(&mut ready);
            } else if let Some(Visit { frame, finished, caller, inline, outline, .. }) = self.visits.pop() {
                let lists = [inline, outline].into_iter();
                self.spare.extend(lists.filter(|list| (1..=MAX_KEPT).contains(&list.capacity())));
                if let Some(running) = caller {
                    let results: Vec<Value> = frame.results().collect();
                    self.publish(running, results.into_iter(), false);
                }
                self.finish(frame, finished);
            }
        }
    }

    /// Counts completions; the end of a frame completes its caller's kernel, and so on.
    fn finish(&mut self, mut frame: Arc<Frame>, mut n: usize) {
        loop {
            let looping = match frame.finish(n) {
                End::NotYet => return,
                End::Iteration(looping) => Some(looping),
                End::Frame => None,
            };
            let Some((parent, kernel)) = frame.parent.clone() else { return };
            if let Some(Looping { running, again }) = looping {
                let (function, results) = (frame.function, frame.results().collect());
                drop(frame);
                return self.iterate(Iteration { frame: parent, running, function, again, results });
            }
            let mut ready = Vec::new();
            parent.complete(kernel, &mut ready);
            if !ready.is_empty() {
                let stream = parent.general().streams[kernel as usize];
                self.visits.push(Visit::new(parent.clone(), stream, ready));
            }
            frame = parent;
            n = 1;
        }
    }

    /// Runs one kernel of the top visit.
    fn kernel(&mut self, ready: Ready) {
        let Some(visit) = self.visits.last() else { return };
        let frame = visit.frame.clone();
        let context = &frame.execution.context;
        let kernel = ready.kernel();
        self.scratch.clear();
        let (running, instead) = frame.gather(ready, &mut self.scratch);
        let plan = &frame.plan().kernels[kernel as usize];
        let n_results = usize::from(plan.n_results);
        context.request.cancellation.before_kernel();
        let instead = match instead {
            Some(Value::Dead) => Some(Value::Dead),
            _ if context.request.cancellation.is_cancelled() => Some(cancelled(context)),
            instead => instead,
        };
        if let Some(value) = instead {
            return self.publish(running, std::iter::repeat_n(value, n_results), true);
        }
        if std::mem::take(&mut self.owes) {
            context.queue().hand_over();
        }
        self.invoke(&frame, running, plan.run);
    }

    /// Does what a kernel has left to be done.
    fn job(&mut self, frame: &Arc<Frame>, running: Running, job: Job) {
        let context = &frame.execution.context;
        let plan = &frame.plan().kernels[running.kernel() as usize];
        if context.request.cancellation.is_cancelled() {
            drop(job);
            let value = cancelled(context);
            return self.publish(running, std::iter::repeat_n(value, usize::from(plan.n_results)), true);
        }
        self.scratch.resize_with(plan.operands.of(&frame.plan().lists).len(), Value::default);
        self.invoke(frame, running, |frame| job.run(frame));
    }

    /// Runs a kernel of the top visit, whose operands are in `scratch`, or what is left of it.
    fn invoke(
        &mut self,
        frame: &Arc<Frame>,
        running: Running,
        run: impl FnOnce(&mut KernelFrame<'_>) -> Outcome,
    ) {
        let kernel = running.kernel();
        let execution = &frame.execution;
        let n_results = usize::from(frame.plan().kernels[kernel as usize].n_results);
        let n_operands = self.scratch.len();
        if self.identity.len() < n_operands {
            self.identity.extend(self.identity.len() as u32..n_operands as u32);
        }
        self.scratch.resize_with(n_operands + n_results, Value::default);
        self.scratch.push(Value::Chain);
        let (operands, step) = (&self.identity[..n_operands], &frame.general().steps[kernel as usize]);
        let (program, at, context) = (&execution.program, frame.at(kernel), &execution.context);
        let mut kernel_frame =
            KernelFrame::of_copies(&mut self.scratch, operands, step, at, program, context);
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&mut kernel_frame)))
            .unwrap_or_else(|panic| Outcome::Error(KernelError::of_panic(panic.as_ref())));
        let request = kernel_frame.take_request();
        let error = match outcome {
            Outcome::Done | Outcome::Operand => None,
            Outcome::Error(error) => Some(error),
            Outcome::Later(job) => {
                self.scratch.clear();
                return self.later(frame, running, job);
            }
            Outcome::Request => match self.request(frame, running, request) {
                Ok(()) => return,
                Err((running, error)) => {
                    let value = Value::Error(located(frame, kernel, error));
                    return self.publish(running, std::iter::repeat_n(value, n_results), true);
                }
            },
        };
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.pop();
        // The operands go before anybody learns that the kernel is done with them.
        drop(scratch.drain(..n_operands));
        if scratch.iter().any(|value| matches!(value, Value::Empty)) {
            let error = located(frame, kernel, error.unwrap_or_else(operand_error));
            let missing = scratch.iter_mut().filter(|value| matches!(value, Value::Empty));
            missing.for_each(|value| *value = Value::Error(error.clone()));
        }
        self.publish(running, scratch.drain(..), true);
        self.scratch = scratch;
    }

    /// Has a task do what a kernel has left to be done.
    fn later(&mut self, frame: &Arc<Frame>, running: Running, job: Job) {
        let queue = frame.execution.context.queue();
        let place = job.place().clone();
        let owed = Owed(Some((frame.clone(), running, job)));
        let task = Task::new(move || owed.run());
        match place {
            Place::Queue => queue.add_soon(task),
            Place::Parked(parking) => parking.park(task),
            // A task that is refused is dropped.
            Place::Blocking(when_full) => drop(queue.add_blocking_task(task, when_full)),
        }
        self.owes = true;
    }

    /// Opens a visit of a kernel's frame, for what is left of the kernel, and goes on from there.
    fn resume(frame: Arc<Frame>, running: Running, rest: impl FnOnce(&mut Worker, &Arc<Frame>, Running)) {
        let stream = frame.general().streams[running.kernel() as usize];
        Worker::on_thread(|worker| {
            worker.push_visit(frame.clone(), stream);
            rest(worker, &frame, running);
        });
    }

    /// Does what a kernel of the top visit asks for.
    fn request(
        &mut self,
        frame: &Arc<Frame>,
        running: Running,
        Request { call, again }: Request,
    ) -> Result<(), (Running, KernelError)> {
        let plan = &frame.plan().kernels[running.kernel() as usize];
        let function = match callee(call, plan, &frame.plan().lists) {
            Ok(function) => function,
            Err(error) => return Err((running, error)),
        };
        let n_operands = self.scratch.len() - usize::from(plan.n_results) - 1;
        let first = (call.first_operand as usize).min(n_operands);
        let n_args = (frame.execution.program.plan(function).n_args as usize).min(n_operands - first);
        let arguments = self.scratch.drain(first..first + n_args).collect();
        self.run_function(frame, running, (function, again), arguments)
    }

    /// Runs a function for a kernel of the top visit: at once if it has a line and nothing to wait for, else in a frame of its own.
    fn run_function(
        &mut self,
        frame: &Arc<Frame>,
        running: Running,
        (function, again): (u32, Again),
        arguments: Vec<Value>,
    ) -> Result<(), (Running, KernelError)> {
        let execution = &frame.execution;
        let callee = execution.program.plan(function);
        let kernel = running.kernel();
        if callee.line.is_some()
            && !execution.is_seeded
            && arguments.iter().all(|value| value.final_value().is_some())
        {
            let mut results = Vec::new();
            let (limits, outer) = (execution.left(frame.depth), || frame.trace(kernel));
            let Execution { program, context, .. } = &**execution;
            let arguments = arguments.into_iter();
            line::run((program, context), (function, again), arguments, limits, &outer, &mut results);
            self.publish(running, results.into_iter(), true);
            return Ok(());
        }
        if let Err(error) = execution.take(callee.n_registers as usize, frame.depth + 1) {
            return Err((running, error));
        }
        let (caller, looping) = match again {
            Again::NEVER => (Some(running), None),
            again => (None, Some(Looping { running, again })),
        };
        let parent = Some((frame.clone(), kernel));
        let started = Frame::start(execution, function, arguments.into_iter(), parent, looping, None);
        self.open(started, caller);
        Ok(())
    }

    /// An iteration has ended: starts the next one, or gives the results to the kernel that asked for the loop.
    fn iterate(&mut self, mut ended: Iteration) {
        if ended.again == Again::WHILE_TRUE
            && let Some(Value::Async(condition)) = ended.results.last()
            && condition.value().is_none()
        {
            let condition = condition.clone();
            return condition.and_then(move |_| Worker::on_thread(|worker| worker.iterate(ended)));
        }
        let condition =
            if ended.again == Again::WHILE_TRUE { ended.results.pop().map(resolved) } else { None };
        let Iteration { frame, running, function, again, results } = ended;
        let stream = frame.general().streams[running.kernel() as usize];
        // In order, if this is the thread that runs what comes after the loop.
        if !self
            .visits
            .last()
            .is_some_and(|visit| visit.stream == stream && Arc::ptr_eq(&visit.frame, &frame))
        {
            self.push_visit(frame.clone(), stream);
        }
        let n_results = results.len();
        let next = match (again.after(), condition) {
            (After::Nothing, _) => Ok(None),
            (After::Iteration(again), _) => Ok(Some(again)),
            (After::IfTrue, Some(Value::I1(more))) => Ok(more.then_some(again)),
            (After::IfTrue, Some(value @ (Value::Dead | Value::Error(_)))) => Err(value),
            (After::IfTrue, _) => Err(Value::Error(located(&frame, running.kernel(), operand_error()))),
        };
        let context = &frame.execution.context;
        let cancellation = &context.request.cancellation;
        let starts = || {
            cancellation.before_kernel();
            !cancellation.is_cancelled()
        };
        let next = match next {
            Ok(Some(_)) if !starts() => Err(cancelled(context)),
            next => next,
        };
        match next {
            Ok(None) => self.publish(running, results.into_iter(), true),
            Err(value) => self.publish(running, std::iter::repeat_n(value, n_results), true),
            Ok(Some(again)) => {
                if let Err((running, error)) = self.run_function(&frame, running, (function, again), results)
                {
                    let value = Value::Error(located(&frame, running.kernel(), error));
                    self.publish(running, std::iter::repeat_n(value, n_results), true);
                }
            }
        }
    }

    /// Stores the results of a kernel of the top visit. `completes`: the kernel is complete when they are final; else its callee's frame
    /// completes it.
    fn publish(&mut self, running: Running, results: impl Iterator<Item = Value>, completes: bool) {
        let Worker { visits, ready, .. } = self;
        let Some(visit) = visits.last_mut() else { return };
        let kernel = running.kernel();
        let mut later = Vec::new();
        visit.frame.publish(running, results, ready, &mut later);
        visit.add(ready);
        if later.is_empty() {
            if completes {
                visit.frame.complete(kernel, ready);
                visit.add(ready);
                visit.finished += 1;
            }
            return;
        }
        let frame = visit.frame.clone();
        let stream = frame.general().streams[kernel as usize];
        let completion =
            completes.then(|| Completes { kernel, left: Arc::new(AtomicUsize::new(later.len())) });
        for (later, value) in later {
            wait(&frame, stream, later, &value, completion.clone());
        }
    }
}

/// What is left of a kernel. If nobody does it, the kernel's results become errors.
struct Owed(Option<(Arc<Frame>, Running, Job)>);

impl Owed {
    fn run(mut self) {
        if let Some((frame, running, job)) = self.0.take() {
            Worker::resume(frame, running, |worker, frame, running| worker.job(frame, running, job));
        }
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        let Some((frame, running, job)) = self.0.take() else { return };
        drop(job);
        let queue = frame.execution.context.queue().clone();
        // By a task: whoever drops this may be deep in other work.
        queue.add_soon(Task::new(move || {
            Worker::resume(frame, running, |worker, frame, running| {
                let message = "there is no thread to run it: too many tasks block";
                let error = KernelError::new(ErrorCode::ResourceExhausted, message);
                let value = Value::Error(located(frame, running.kernel(), error));
                let n_results = frame.plan().kernels[running.kernel() as usize].n_results;
                worker.publish(running, std::iter::repeat_n(value, usize::from(n_results)), true);
            });
        }));
    }
}

/// An iteration that has ended.
struct Iteration {
    /// The frame of the kernel that asked for the loop.
    frame: Arc<Frame>,
    running: Running,
    function: u32,
    again: Again,
    results: Vec<Value>,
}

/// A kernel that is complete when all of its results are final.
#[derive(Clone)]
struct Completes {
    kernel: u32,
    left: Arc<AtomicUsize>,
}

/// Tells the users of a register when its value is final, and goes on with what that makes ready.
fn wait(frame: &Arc<Frame>, stream: u32, later: Later, value: &AsyncRef, completes: Option<Completes>) {
    let frame = frame.clone();
    value.and_then(move |value| {
        let mut ready = Vec::new();
        frame.release(later, matches!(value, Value::Dead), &mut ready);
        let mut finished = 0;
        if let Some(Completes { kernel, left }) = completes {
            // AcqRel: the last one to count sees what all results' producers did.
            if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                frame.complete(kernel, &mut ready);
                finished = 1;
            }
        }
        Worker::on_thread(|worker| {
            if ready.is_empty() {
                worker.finish(frame, finished);
            } else {
                worker.visits.push(Visit { finished, ..Visit::new(frame, stream, ready) });
            }
        });
    });
}

impl Visit {
    /// A visit for kernels that are ready.
    fn new(frame: Arc<Frame>, stream: u32, mut ready: Vec<Ready>) -> Visit {
        let (inline, outline) = (Vec::new(), Vec::new());
        let mut visit = Visit { frame, stream, inline, outline, finished: 0, caller: None };
        visit.add(&mut ready);
        visit
    }

    /// Sorts kernels that have become ready into this visit's stream and the others.
    fn add(&mut self, ready: &mut Vec<Ready>) {
        if ready.is_empty() {
            return;
        }
        let streams = &self.frame.general().streams;
        for ready in ready.drain(..) {
            let list = if streams[ready.kernel() as usize] == self.stream {
                &mut self.inline
            } else {
                &mut self.outline
            };
            list.push(ready);
        }
    }

    /// Hands the kernels of other streams to the queue, one task per stream, by ascending stream.
    fn hand_out(&mut self) {
        if self.outline.is_empty() {
            return;
        }
        let streams = &self.frame.general().streams;
        let mut outline = std::mem::take(&mut self.outline);
        outline.sort_by_key(|ready| streams[ready.kernel() as usize]);
        while let Some(first) = outline.first() {
            let stream = streams[first.kernel() as usize];
            let n = outline.iter().take_while(|ready| streams[ready.kernel() as usize] == stream).count();
            let rest = outline.split_off(n);
            let inline = std::mem::replace(&mut outline, rest);
            let frame = self.frame.clone();
            self.frame.execution.context.queue().add_task(Task::new(move || {
                Worker::on_thread(|worker| worker.visits.push(Visit::new(frame, stream, inline)));
            }));
        }
    }
}

fn located(frame: &Frame, kernel: u32, error: KernelError) -> Error {
    frame.execution.context.raise(&error, frame.trace(kernel))
}
