//! Running one kernel, or its deferred part.
//!
//! The deferred part of a kernel is a task. It is added before anything else happens, so tasks keep their
//! order. If nothing else happens before the thread would take exactly this task as its next one, the worker
//! runs it without a task. The number of such runs in a row is limited, because other work may wait for this
//! thread.

use std::any::Any;
use std::panic::resume_unwind;
use std::sync::atomic::Ordering;

use super::super::execution::Execution;
use super::super::frame::{Ready, Running};
use super::super::operands::operand_error;
use super::{Agenda, MAX_IMMEDIATE, MAX_KEPT_TASKS, Worker, await_value};
use befrost_kernel_api::error::{ErrorCode, KernelError};
use befrost_kernel_api::executor::Work;
use befrost_kernel_api::executor::{CallRequest, Place};
use befrost_kernel_api::kernel::{Job, KernelFrame, Outcome};
use befrost_kernel_api::queue::Task;
use befrost_kernel_api::rendezvous::{Delivery, MeetingKey, Receiver, StepTable};
use befrost_kernel_api::value::Value;

impl Worker {
    /// Runs one kernel of the top activation.
    #[inline]
    pub(super) fn run_kernel(&mut self, ready: Ready) {
        if ready.info().begins_straight_line() {
            return self.run_straight_line(ready);
        }
        let n_slots = ready.info().n_slots();
        if self.scratch.len() < n_slots {
            self.grow_scratch(n_slots);
        }
        let mut substitute = None;
        let running = ready.read_operands(&mut self.scratch, &mut substitute);
        let cancellation = &running.frame().execution.context.request.cancellation;
        // Relaxed: only a hint; the slow path looks again.
        let most = if running.info().defers { MAX_KEPT_TASKS } else { 0 };
        if substitute.is_some()
            || self.n_kept_tasks > most
            || cancellation.attention().load(Ordering::Relaxed)
        {
            return self.run_kernel_slow(running, substitute);
        }
        let run = running.info().step().step().run;
        self.invoke(running, run);
    }

    /// [`Worker::run_kernel`] for a kernel that may not run, or before which the local queue is handed over.
    #[cold]
    fn run_kernel_slow(&mut self, running: Running, substitute: Option<Value>) {
        let context = &running.frame().execution.context;
        let cancellation = &context.request.cancellation;
        cancellation.before_kernel();
        let substitute = match substitute {
            Some(Value::Dead) => Some(Value::Dead),
            _ if cancellation.is_cancelled() => Some(context.cancelled()),
            substitute => substitute,
        };
        if let Some(value) = substitute {
            return self.settle_with(running, &value);
        }
        if std::mem::take(&mut self.n_kept_tasks) > 0 {
            running.frame().execution.queue(self.queue).local().hand_over();
        }
        let run = running.info().step().step().run;
        self.invoke(running, run);
    }

    /// Sets all results of a kernel that did not run to `value`.
    #[cold]
    pub(super) fn settle_with(&mut self, running: Running, value: &Value) {
        self.clear_scratch(&running);
        self.agenda.settle(running, std::iter::repeat(value.clone()));
    }

    /// Drops the kernel's operands and results in `scratch`.
    pub(super) fn clear_scratch(&mut self, running: &Running) {
        self.scratch.iter_mut().take(running.info().n_slots()).for_each(Value::release);
    }

    /// Makes room in `scratch` for the operands and results of a kernel.
    #[cold]
    pub(super) fn grow_scratch(&mut self, n_slots: usize) {
        self.scratch.resize_with(n_slots, Value::default);
        self.identity.extend(self.identity.len() as u32..n_slots as u32);
    }

    /// Runs the deferred part of a kernel.
    pub(super) fn run_job(&mut self, running: Running, job: Job) {
        let context = &running.frame().execution.context;
        if context.request.cancellation.is_cancelled() {
            drop(job);
            let value = context.cancelled();
            return self.settle_with(running, &value);
        }
        let n_slots = running.info().n_slots();
        if self.scratch.len() < n_slots {
            self.grow_scratch(n_slots);
        }
        self.invoke(running, |frame| {
            frame.drop_operands();
            job.run(frame)
        });
    }

    /// Runs a kernel of the top activation, whose operands are in `scratch`, or its deferred part.
    #[inline]
    fn invoke(&mut self, running: Running, run: impl FnOnce(&mut KernelFrame<'_>) -> Outcome) {
        let running: &Running = self.current.insert(running);
        let (info, frame) = (running.info(), running.frame());
        let (n_operands, n_results) = (info.n_operands(), info.n_results());
        let has_plain_result = info.has_plain_result;
        let slots = &mut self.scratch[..info.n_slots()];
        let (results, chain) = slots[n_operands..].split_at_mut(n_results);
        match results {
            // The common case, without a loop.
            [result] => result.overwrite(Value::Empty),
            results => results.iter_mut().for_each(|result| result.overwrite(Value::Empty)),
        }
        if let [chain] = chain {
            chain.overwrite(Value::Chain);
        }
        let around = frame.execution.surroundings();
        let operands = &self.identity[..n_operands];
        let mut kernel_frame =
            KernelFrame::of_copies(slots, operands, info.step(), &frame.plan().table, around, running);
        let mut outcome = run(&mut kernel_frame);
        while let Outcome::Later(job) = outcome {
            if !matches!(job.place(), Place::Queue)
                || !may_run_now(&self.agenda, &mut self.n_immediate, &frame.execution, self.queue)
            {
                outcome = Outcome::Later(job);
                break;
            }
            kernel_frame.drop_operands();
            outcome = job.run(&mut kernel_frame);
        }
        let request = kernel_frame.request();
        let Some(running) = self.current.take() else { return };
        let error = match outcome {
            Outcome::Request => return self.serve_request(running, request),
            Outcome::Done | Outcome::Operand => None,
            Outcome::Error(error) => Some(error),
            Outcome::Later(job) => {
                self.scratch.iter_mut().take(n_operands).for_each(Value::release);
                return self.defer(running, job);
            }
        };
        // The operands are dropped before any user learns that the kernel is done with them.
        let (operands, results) = self.scratch.split_at_mut(n_operands);
        operands.iter_mut().for_each(Value::release);
        match results {
            [result, ..] if has_plain_result && error.is_none() && result.is_concrete() => {
                self.agenda.settle_plain_result(running, result);
            }
            _ => self.settle_results(running, error),
        }
    }

    /// Settles a kernel with the results in `scratch`. Results that are missing become an error.
    #[inline(never)]
    fn settle_results(&mut self, running: Running, error: Option<KernelError>) {
        let info = running.info();
        let (n_operands, n_results) = (info.n_operands(), info.n_results());
        let results = self.scratch.iter_mut().skip(n_operands).take(n_results);
        let mut missing = results.filter(|value| matches!(value, Value::Empty)).peekable();
        // A kernel without results fails, too.
        if missing.peek().is_some() || error.is_some() {
            let error = running.located(&error.unwrap_or_else(operand_error));
            missing.for_each(|value| *value = Value::Error(error.clone()));
        }
        // Other kernels make no pending values: they pass on those of frames, or what is counted already.
        if running.info().is_late
            && let Some(activity) = running.frame().execution.activity()
        {
            self.scratch[n_operands..]
                .iter()
                .take(n_results)
                .for_each(|result| await_value(activity, result));
        }
        let results = self.scratch.iter_mut().skip(n_operands);
        self.agenda.settle(running, results.map(std::mem::take));
    }

    /// Serves the request of a kernel; its operands are in `scratch`.
    fn serve_request(&mut self, running: Running, request: CallRequest) {
        if let Err((running, error)) = self.run_requested(running, request) {
            let value = Value::Error(running.located(&error));
            self.settle_with(running, &value);
        }
    }

    /// Turns the panic of a kernel into its error. A panic outside of kernels is passed on.
    #[cold]
    pub(super) fn after_panic(&mut self, panic: Box<dyn Any + Send>) {
        if self.straight.is_some() {
            // Reported when the line is resumed.
            self.panicked = Some(KernelError::of_panic(panic));
            return;
        }
        let Some(running) = self.current.take() else { resume_unwind(panic) };
        let error = KernelError::of_panic(panic);
        let value = Value::Error(running.located(&error));
        self.settle_with(running, &value);
    }

    /// Takes over the deferred part of a kernel: kept for this thread, or given to its place.
    #[inline]
    fn defer(&mut self, running: Running, mut job: Job) {
        if self.deferred.is_some() {
            self.enqueue_deferred();
        }
        match job.take_place() {
            Place::Queue => self.deferred = Some((running, job)),
            Place::Meeting(step, key) => self.meet(&step, key, running, job),
            place => defer_at(place, running, job),
        }
    }

    /// Runs the deferred part of a kernel with what was sent to it, or lets it wait for that.
    fn meet(&mut self, step: &StepTable, key: MeetingKey, running: Running, job: Job) {
        let mut deferred = Some((running, job));
        let delivery = step.recv(key, || Box::new(DeferredTask(deferred.take())));
        if let (Some(delivery), Some((running, mut job))) = (delivery, deferred) {
            job.arrive(delivery);
            self.run_job(running, job);
        }
    }

    /// Adds a task for the deferred part of the last kernel.
    pub(super) fn enqueue_deferred(&mut self) {
        let Some((running, job)) = self.deferred.take() else { return };
        let execution = &running.frame().execution;
        execution.begin_task();
        let queue = execution.queue(running.queue());
        match queue.local().local_tasks() {
            Some(local) => {
                self.n_kept_tasks += u32::from(local.push(DeferredTask(Some((running, job))).task()));
            }
            None => {
                let queue = queue.clone();
                queue.add_task(DeferredTask(Some((running, job))).task());
            }
        }
    }

    /// Begins an activation for the deferred part of a kernel, and calls `rest` with it.
    fn resume(running: Running, rest: impl FnOnce(&mut Worker, Running)) {
        Worker::on_thread(running.queue(), |worker| {
            worker.ends_task = true;
            worker.activate(running.frame(), running.stream(), None);
            rest(worker, running);
        });
    }
}

/// Whether a task added now would be the thread's next one, so that its work may be done without it. Counts
/// the times that it is.
#[inline]
pub(super) fn may_run_now(agenda: &Agenda, n_immediate: &mut u32, execution: &Execution, queue: u16) -> bool {
    let may = *n_immediate < MAX_IMMEDIATE
        && agenda.is_idle()
        && execution.queue(queue).local().runs_next()
        && !execution.context.request.cancellation.is_cancelled();
    *n_immediate += u32::from(may);
    may
}

#[inline(never)]
fn defer_at(place: Place, running: Running, job: Job) {
    if let Place::Parked(parking) = place {
        return parking.park(DeferredTask(Some((running, job))).task());
    }
    // The task may be done, and the frame freed, before the queue has returned.
    let execution = &running.frame().execution;
    let queue = execution.queue(running.queue()).clone();
    execution.begin_task();
    let task = DeferredTask(Some((running, job))).task();
    match place {
        // A refused task is dropped, which sets the kernel's results to errors.
        Place::Blocking(when_full) => drop(queue.add_blocking_task(task, when_full)),
        _ => queue.local().add_soon(task),
    }
}

/// Task of the deferred part of a kernel. If it is dropped, the kernel's results become errors. It counts as
/// activity unless it is parked or waits in a rendezvous.
pub(super) struct DeferredTask(Option<(Running, Job)>);

impl DeferredTask {
    #[inline]
    fn task(self) -> Task {
        Task::of(self)
    }

    /// The kernel.
    #[inline]
    pub(super) fn running(&self) -> Option<&Running> {
        self.0.as_ref().map(|(running, _)| running)
    }

    /// The kernel and its job.
    #[inline]
    pub(super) fn take(mut self) -> Option<(Running, Job)> {
        self.0.take()
    }
}

impl Work for DeferredTask {
    #[inline]
    fn work(self) {
        if let Some((running, job)) = self.take() {
            let activity = running.frame().execution.activity().cloned();
            Worker::resume(running, |worker, running| worker.run_job(running, job));
            activity.iter().for_each(|activity| activity.end());
        }
    }
}

impl Receiver for DeferredTask {
    fn receive(mut self: Box<DeferredTask>, delivery: Delivery) {
        let Some((running, mut job)) = self.0.take() else { return };
        job.arrive(delivery);
        // The task may be done, and the frame freed, before the queue has returned.
        let execution = &running.frame().execution;
        let queue = execution.queue(running.queue()).clone();
        execution.begin_task();
        queue.add_task(DeferredTask(Some((running, job))).task());
    }
}

impl Drop for DeferredTask {
    fn drop(&mut self) {
        let Some((running, job)) = self.0.take() else { return };
        drop(job);
        let execution = &running.frame().execution;
        let (queue, activity) = (execution.queue(running.queue()).clone(), execution.activity().cloned());
        // In a task, because the caller may be in the middle of other work.
        queue.local().add_soon(Task::new(move || {
            Worker::resume(running, |worker, running| {
                let message = "there is no thread to run it: too many tasks block";
                let error = KernelError::new(ErrorCode::ResourceExhausted, message);
                let value = Value::Error(running.located(&error));
                worker.settle_with(running, &value);
            });
            activity.iter().for_each(|activity| activity.end());
        }));
    }
}
