//! Running one kernel, or what it left to be done later.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::frame::{Ready, Running};
use super::super::{cancelled, operand_error};
use super::Worker;
use crate::error::{ErrorCode, KernelError};
use crate::kernel::{Job, KernelFrame, Outcome, Place};
use crate::queue::Task;
use crate::value::Value;

impl Worker {
    /// Runs one kernel of the top visit.
    #[inline]
    pub(super) fn kernel(&mut self, ready: Ready) {
        let n_slots = ready.frame().general().steps[ready.kernel() as usize].n_slots();
        if self.scratch.len() < n_slots {
            self.grow(n_slots);
        }
        let (running, instead) = ready.gather(&mut self.scratch);
        let context = &running.frame().execution.context;
        // Relaxed: a hint to look.
        let attention = context.request.cancellation.attention().load(std::sync::atomic::Ordering::Relaxed);
        if attention || instead.is_some() {
            return self.skip_or_invoke(running, instead);
        }
        self.run_kernel(running);
    }

    #[inline]
    fn run_kernel(&mut self, running: Running) {
        if std::mem::take(&mut self.owes) {
            running.frame().execution.context.queue().hand_over();
        }
        let run = running.frame().general().steps[running.kernel() as usize].step().run;
        self.invoke(running, run);
    }

    /// Gives a kernel results that are not its own, if it may not run.
    #[cold]
    fn skip_or_invoke(&mut self, running: Running, instead: Option<Value>) {
        let context = &running.frame().execution.context;
        let cancellation = &context.request.cancellation;
        cancellation.before_kernel();
        let instead = match instead {
            Some(Value::Dead) => Some(Value::Dead),
            _ if cancellation.is_cancelled() => Some(cancelled(context)),
            instead => instead,
        };
        match instead {
            Some(value) => self.settle_all(running, &value),
            None => self.run_kernel(running),
        }
    }

    /// Gives all results of a kernel that did not run the same value.
    #[cold]
    pub(super) fn settle_all(&mut self, running: Running, value: &Value) {
        self.clear(&running);
        self.agenda.settle(running, std::iter::repeat(value.clone()));
    }

    /// Drops what a kernel has in `scratch`.
    pub(super) fn clear(&mut self, running: &Running) {
        let n_slots = running.frame().general().steps[running.kernel() as usize].n_slots();
        self.scratch.iter_mut().take(n_slots).for_each(Value::clear);
    }

    /// Makes room for the operands and results of a kernel.
    #[cold]
    fn grow(&mut self, n_slots: usize) {
        self.scratch.resize_with(n_slots, Value::default);
        self.identity.extend(self.identity.len() as u32..n_slots as u32);
    }

    /// Does what a kernel has left to be done.
    fn job(&mut self, running: Running, job: Job) {
        let context = &running.frame().execution.context;
        if context.request.cancellation.is_cancelled() {
            drop(job);
            let value = cancelled(context);
            return self.settle_all(running, &value);
        }
        let n_slots = running.frame().general().steps[running.kernel() as usize].n_slots();
        if self.scratch.len() < n_slots {
            self.grow(n_slots);
        }
        self.invoke(running, |frame| job.run(frame));
    }

    /// Runs a kernel of the top visit, whose operands are in `scratch`, or what is left of it.
    #[inline]
    fn invoke(&mut self, running: Running, run: impl FnOnce(&mut KernelFrame<'_>) -> Outcome) {
        let frame = running.frame();
        let step = &frame.general().steps[running.kernel() as usize];
        let (n_operands, n_slots) = (step.n_operands(), step.n_slots());
        let slots = &mut self.scratch[..n_slots];
        if let [results @ .., chain] = &mut slots[n_operands..] {
            results.iter_mut().for_each(Value::clear);
            *chain = Value::Chain;
        }
        let (program, context) = (&frame.execution.program, &frame.execution.context);
        let mut kernel_frame =
            KernelFrame::of_copies(slots, &self.identity[..n_operands], step, frame.plan(), program, context);
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&mut kernel_frame)))
            .unwrap_or_else(|panic| Outcome::Error(KernelError::of_panic(panic.as_ref())));
        let request = kernel_frame.take_request();
        // The operands go before anybody learns that the kernel is done with them; but a function that it calls takes them over.
        let (operands, results) = slots.split_at_mut(n_operands);
        let results = &mut results[..step.n_results()];
        let error = match outcome {
            Outcome::Done | Outcome::Operand => None,
            Outcome::Error(error) => Some(error),
            Outcome::Later(job) => {
                operands.iter_mut().for_each(Value::clear);
                results.iter_mut().for_each(Value::clear);
                return self.later(running, job);
            }
            Outcome::Request => {
                if let Err((running, error)) = self.request(running, request) {
                    let value = Value::Error(running.located(&error));
                    self.settle_all(running, &value);
                }
                return;
            }
        };
        operands.iter_mut().for_each(Value::clear);
        if results.iter().any(|value| matches!(value, Value::Empty)) {
            let error = running.located(&error.unwrap_or_else(operand_error));
            let missing = results.iter_mut().filter(|value| matches!(value, Value::Empty));
            missing.for_each(|value| *value = Value::Error(error.clone()));
        }
        self.agenda.settle(running, results.iter_mut().map(std::mem::take));
    }

    /// Has a task do what a kernel has left to be done.
    fn later(&mut self, running: Running, job: Job) {
        let queue = running.frame().execution.context.queue();
        self.owes = true;
        if matches!(job.place(), Place::Queue)
            && let Some(keeper) = queue.keeper()
        {
            return keeper.keep(Owed(Some((running, job))).task());
        }
        // The task may be done, and the frame with it, before the queue has returned.
        let queue = queue.clone();
        let place = job.place().clone();
        let task = Owed(Some((running, job))).task();
        match place {
            Place::Queue => queue.add_soon(task),
            Place::Parked(parking) => parking.park(task),
            // A task that is refused is dropped.
            Place::Blocking(when_full) => drop(queue.add_blocking_task(task, when_full)),
        }
    }

    /// Opens a visit for what is left of a kernel, and goes on from there.
    fn resume(running: Running, rest: impl FnOnce(&mut Worker, Running)) {
        Worker::on_thread(|worker| {
            worker.agenda.visit(running.frame().address(), running.stream(), None);
            rest(worker, running);
        });
    }
}

/// What is left of a kernel. If nobody does it, the kernel's results become errors.
struct Owed(Option<(Running, Job)>);

impl Owed {
    #[inline]
    fn task(self) -> Task {
        Task::new(move || self.run())
    }

    fn run(mut self) {
        if let Some((running, job)) = self.0.take() {
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
