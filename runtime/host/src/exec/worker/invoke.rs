//! Running one kernel, or what it left to be done later.
//!
//! What a kernel leaves to be done is a task: it is added as soon as anything else happens, so tasks come in
//! order. But if nothing else happens before the thread would take its next task, which is that one, the
//! worker does it at once. Not too often in a row: somebody may wait for this thread.

use std::any::Any;
use std::panic::resume_unwind;
use std::sync::atomic::Ordering;

use super::super::frame::{Ready, Running};
use super::super::operands::operand_error;
use super::{Agenda, MAX_AT_ONCE, MAX_OWED, Worker};
use befrost_kernel_api::context::ExecContext;
use befrost_kernel_api::error::{ErrorCode, KernelError};
use befrost_kernel_api::executor::{CallRequest, Place, Work};
use befrost_kernel_api::kernel::{Job, KernelFrame, Outcome};
use befrost_kernel_api::queue::Task;
use befrost_kernel_api::value::Value;

impl Worker {
    /// Runs one kernel of the top visit.
    #[inline]
    pub(super) fn kernel(&mut self, ready: Ready) {
        if ready.info().is_straight() {
            return self.straight(ready);
        }
        let n_slots = ready.info().n_slots();
        if self.scratch.len() < n_slots {
            self.grow(n_slots);
        }
        let mut instead = None;
        let running = ready.gather(&mut self.scratch, &mut instead);
        let cancellation = &running.frame().execution.context.request.cancellation;
        // Relaxed: a hint to look.
        let most = if running.info().defers { MAX_OWED } else { 0 };
        if instead.is_some() || self.owes > most || cancellation.attention().load(Ordering::Relaxed) {
            return self.kernel_with_care(running, instead);
        }
        let run = running.info().step().step().run;
        self.invoke(running, run);
    }

    /// [`Worker::kernel`] where there is something to do before, or instead.
    #[cold]
    fn kernel_with_care(&mut self, running: Running, instead: Option<Value>) {
        let context = &running.frame().execution.context;
        let cancellation = &context.request.cancellation;
        cancellation.before_kernel();
        let instead = match instead {
            Some(Value::Dead) => Some(Value::Dead),
            _ if cancellation.is_cancelled() => Some(context.cancelled()),
            instead => instead,
        };
        if let Some(value) = instead {
            return self.settle_all(running, &value);
        }
        if std::mem::take(&mut self.owes) > 0 {
            context.queue().hand_over();
        }
        let run = running.info().step().step().run;
        self.invoke(running, run);
    }

    /// Gives all results of a kernel that did not run the same value.
    #[cold]
    pub(super) fn settle_all(&mut self, running: Running, value: &Value) {
        self.clear(&running);
        self.agenda.settle(running, std::iter::repeat(value.clone()));
    }

    /// Drops what a kernel has in `scratch`.
    pub(super) fn clear(&mut self, running: &Running) {
        self.scratch.iter_mut().take(running.info().n_slots()).for_each(Value::release);
    }

    /// Makes room for the operands and results of a kernel.
    #[cold]
    pub(super) fn grow(&mut self, n_slots: usize) {
        self.scratch.resize_with(n_slots, Value::default);
        self.identity.extend(self.identity.len() as u32..n_slots as u32);
    }

    /// Does what a kernel has left to be done.
    pub(super) fn job(&mut self, running: Running, job: Job) {
        let context = &running.frame().execution.context;
        if context.request.cancellation.is_cancelled() {
            drop(job);
            let value = context.cancelled();
            return self.settle_all(running, &value);
        }
        let n_slots = running.info().n_slots();
        if self.scratch.len() < n_slots {
            self.grow(n_slots);
        }
        self.invoke(running, |frame| {
            frame.drop_operands();
            job.run(frame)
        });
    }

    /// Runs a kernel of the top visit, whose operands are in `scratch`, or what is left of it.
    #[inline]
    fn invoke(&mut self, running: Running, run: impl FnOnce(&mut KernelFrame<'_>) -> Outcome) {
        let running: &Running = self.current.insert(running);
        let (info, frame) = (running.info(), running.frame());
        let (n_operands, n_results) = (info.n_operands(), info.n_results());
        let publishes_plainly = info.publishes_plainly;
        let slots = &mut self.scratch[..info.n_slots()];
        let (results, chain) = slots[n_operands..].split_at_mut(n_results);
        match results {
            // As nearly all kernels have: no loop.
            [result] => result.overwrite(Value::Empty),
            results => results.iter_mut().for_each(|result| result.overwrite(Value::Empty)),
        }
        if let [chain] = chain {
            chain.overwrite(Value::Chain);
        }
        let around = frame.execution.around();
        let operands = &self.identity[..n_operands];
        let mut kernel_frame =
            KernelFrame::of_copies(slots, operands, info.step(), &frame.plan().table, around, running);
        let mut outcome = run(&mut kernel_frame);
        while let Outcome::Later(job) = outcome {
            if !matches!(job.place(), Place::Queue)
                || !may_go_on(&self.agenda, &mut self.at_once, around.context)
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
            Outcome::Request => return self.call(running, request),
            Outcome::Done | Outcome::Operand => None,
            Outcome::Error(error) => Some(error),
            Outcome::Later(job) => {
                self.scratch.iter_mut().take(n_operands).for_each(Value::release);
                return self.later(running, job);
            }
        };
        // The operands go before anybody learns that the kernel is done with them.
        let (operands, results) = self.scratch.split_at_mut(n_operands);
        operands.iter_mut().for_each(Value::release);
        match results {
            [result, ..] if publishes_plainly && error.is_none() && result.is_concrete() => {
                self.agenda.settle_plainly(running, result);
            }
            _ => self.settle_results(running, error),
        }
    }

    /// Gives a kernel the results that are in `scratch`; those that are missing become an error.
    #[inline(never)]
    fn settle_results(&mut self, running: Running, error: Option<KernelError>) {
        let info = running.info();
        let results = self.scratch.iter_mut().skip(info.n_operands()).take(info.n_results());
        let mut missing = results.filter(|value| matches!(value, Value::Empty)).peekable();
        if missing.peek().is_some() {
            let error = running.located(&error.unwrap_or_else(operand_error));
            missing.for_each(|value| *value = Value::Error(error.clone()));
        }
        let results = self.scratch.iter_mut().skip(info.n_operands());
        self.agenda.settle(running, results.map(std::mem::take));
    }

    /// Does what a kernel asks for; its operands are in `scratch`.
    fn call(&mut self, running: Running, request: CallRequest) {
        if let Err((running, error)) = self.request(running, request) {
            let value = Value::Error(running.located(&error));
            self.settle_all(running, &value);
        }
    }

    /// A kernel that panicked has failed. Nobody else does.
    #[cold]
    pub(super) fn after_panic(&mut self, panic: Box<dyn Any + Send>) {
        let error = KernelError::of_panic(panic.as_ref());
        if self.straight.is_some() {
            // It is told when the line is gone on with.
            self.panicked = Some(error);
            return;
        }
        let Some(running) = self.current.take() else { resume_unwind(panic) };
        let value = Value::Error(running.located(&error));
        self.settle_all(running, &value);
    }

    /// Has a task do what a kernel has left to be done.
    #[inline]
    fn later(&mut self, running: Running, job: Job) {
        if self.left.is_some() {
            self.leave();
        }
        match job.place() {
            Place::Queue => self.left = Some((running, job)),
            place => later_at(&place.clone(), running, job),
        }
    }

    /// Adds a task for what the last kernel has left to be done.
    pub(super) fn leave(&mut self) {
        let Some((running, job)) = self.left.take() else { return };
        let queue = running.frame().execution.context.queue();
        match queue.local_queue() {
            Some(local) => self.owes += u32::from(local.push(Owed(Some((running, job))).task())),
            None => {
                let queue = queue.clone();
                queue.add_task(Owed(Some((running, job))).task());
            }
        }
    }

    /// Opens a visit for what is left of a kernel, and goes on from there.
    fn resume(running: Running, rest: impl FnOnce(&mut Worker, Running)) {
        Worker::on_thread(|worker| {
            worker.ends_task = true;
            worker.agenda.visit(running.frame().address(), running.stream(), None);
            rest(worker, running);
        });
    }
}

/// Whether a task would be the thread's next one, so that what it is for may as well be done at once. Counts
/// how often it is.
#[inline]
pub(super) fn may_go_on(agenda: &Agenda, at_once: &mut u32, context: &ExecContext) -> bool {
    let may = *at_once < MAX_AT_ONCE
        && agenda.is_idle()
        && context.queue().runs_next()
        && !context.request.cancellation.is_cancelled();
    *at_once += u32::from(may);
    may
}

#[inline(never)]
fn later_at(place: &Place, running: Running, job: Job) {
    // The task may be done, and the frame with it, before the queue has returned.
    let queue = running.frame().execution.context.queue().clone();
    let task = Owed(Some((running, job))).task();
    match place {
        Place::Queue => queue.add_soon(task),
        Place::Parked(parking) => parking.park(task),
        // A task that is refused is dropped.
        Place::Blocking(when_full) => drop(queue.add_blocking_task(task, *when_full)),
    }
}

/// What is left of a kernel. If nobody does it, the kernel's results become errors.
pub(super) struct Owed(Option<(Running, Job)>);

impl Owed {
    #[inline]
    fn task(self) -> Task {
        Task::of(self)
    }

    /// The kernel.
    #[inline]
    pub(super) fn running(&self) -> Option<&Running> {
        self.0.as_ref().map(|(running, _)| running)
    }

    /// Its parts.
    #[inline]
    pub(super) fn take(mut self) -> Option<(Running, Job)> {
        self.0.take()
    }
}

impl Work for Owed {
    #[inline]
    fn work(self) {
        if let Some((running, job)) = self.take() {
            Worker::resume(running, |worker, running| worker.job(running, job));
        }
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        let Some((running, job)) = self.0.take() else { return };
        drop(job);
        let queue = running.frame().execution.context.queue().clone();
        // By a task: whoever drops this may be deep in other work.
        queue.add_soon(Task::new(move || {
            Worker::resume(running, |worker, running| {
                let message = "there is no thread to run it: too many tasks block";
                let error = KernelError::new(ErrorCode::ResourceExhausted, message);
                let value = Value::Error(running.located(&error));
                worker.settle_all(running, &value);
            });
        }));
    }
}
