//! Kernels that ask for functions to be run, once or in a loop.

use super::super::frame::{Continuation, Frame, LoopHead, Running, SequentialLoop};
use super::super::operands::{callee, operand_error};
use super::super::sequential::SequentialExecutor;
use super::super::trip_count::{NextIteration, TripCount};
use super::{ResultConsumer, Worker};
use befrost_kernel_api::error::KernelError;
use befrost_kernel_api::executor::{CallRequest, Runs};
use befrost_kernel_api::value::Value;

/// An iteration that has ended.
pub(super) struct Iteration {
    pub(super) looping: SequentialLoop,
    pub(super) function: u32,
    pub(super) results: Vec<Value>,
}

impl Worker {
    /// Serves the request of a kernel of the top activation. Its operands and the room for its results are in
    /// `scratch`.
    pub(super) fn run_requested(
        &mut self,
        running: Running,
        CallRequest { call, runs }: CallRequest,
    ) -> Result<(), (Running, KernelError)> {
        let frame = running.frame();
        let function = match callee(call, frame.plan(), running.kernel()) {
            Ok(function) => function,
            Err(error) => return Err((running, error)),
        };
        let n_operands = running.info().n_operands();
        let first = (call.first_operand as usize).min(n_operands);
        let n_args = (frame.execution.program.plan(function).n_args as usize).min(n_operands - first);
        self.arguments.extend(self.scratch[first..first + n_args].iter_mut().map(std::mem::take));
        self.clear_scratch(&running);
        let (trips, in_flight) = match runs {
            Runs::More(more) => (TripCount::more(more), 1),
            Runs::WhileTrue { in_flight } => (TripCount::WHILE_TRUE, in_flight),
        };
        self.run_function(running, (function, trips), in_flight)
    }

    /// Runs a function on `arguments` for a kernel of the top activation: sequentially if possible, else in a
    /// frame of its own, or in several frames, at most `in_flight` at a time.
    fn run_function(
        &mut self,
        running: Running,
        (function, trips): (u32, TripCount),
        in_flight: u32,
    ) -> Result<(), (Running, KernelError)> {
        if self.run_sequentially(&running, (function, trips)) {
            self.agenda.settle(running, self.results.drain(..));
            return Ok(());
        }
        if in_flight > 1 {
            let head = LoopHead::new(running, function, in_flight, self.arguments.drain(..));
            self.begin_overlapping(head);
            return Ok(());
        }
        if let Err(error) = self.reserve_registers(&running, function) {
            return Err((running, error));
        }
        let execution = running.frame().execution.clone();
        let caller = Some(running.caller(trips.iteration()));
        let (waits, continuation) = if trips.is_last() {
            (Some(ResultConsumer::Kernel(running)), Continuation::Nothing)
        } else {
            (None, Continuation::NextIteration(SequentialLoop { running, trips }))
        };
        let new_frame = Frame::start(execution, function, self.arguments.drain(..), caller, continuation);
        self.enter_frame(new_frame, waits);
        Ok(())
    }

    /// Runs a function on `arguments` sequentially, with a trip count, if it has a sequential plan and the
    /// arguments are final. Returns whether it did. The results are in `self.results`.
    pub(super) fn run_sequentially(
        &mut self,
        running: &Running,
        (function, trips): (u32, TripCount),
    ) -> bool {
        let frame = running.frame();
        let execution = &frame.execution;
        let callee = execution.program.plan(function);
        let arguments = &mut self.arguments;
        if !callee.runs_sequentially(execution.is_seeded, self.queue)
            || !arguments.iter().all(|value| value.final_value().is_some())
        {
            return false;
        }
        let (program, context) = (&execution.program, &execution.context);
        let limits = execution.remaining(frame.depth);
        let mut executor = SequentialExecutor::new((program, context), callee, limits, Some(running));
        executor.call(trips, arguments, &mut self.results);
        true
    }

    /// Reserves the registers of a frame of a function that a kernel calls. On failure, `arguments` are
    /// dropped.
    pub(super) fn reserve_registers(&mut self, running: &Running, function: u32) -> Result<(), KernelError> {
        let frame = running.frame();
        let n_registers = frame.execution.program.plan(function).n_registers as usize;
        let taken = frame.execution.reserve(n_registers, frame.depth + 1);
        if taken.is_err() {
            self.arguments.clear();
        }
        taken
    }

    /// Returns to the frame of a kernel in whose loop something has happened. The thread's deferred part
    /// becomes a task first. If the top activation has the kernel's frame and stream it is used, so that what
    /// follows the loop is in order.
    pub(super) fn return_to(&mut self, running: &Running) {
        if self.deferred.is_some() {
            self.enqueue_deferred();
        }
        if !self.agenda.is_active(running) {
            self.activate(running.frame(), running.stream(), None);
        }
    }

    /// Starts the next iteration, or gives the results to the kernel that asked for the loop.
    pub(super) fn end_iteration(&mut self, mut ended: Iteration) {
        let is_while = ended.looping.trips.is_while();
        if is_while
            && let Some(Value::Async(condition)) = ended.results.last()
            && condition.value().is_none()
        {
            let (condition, queue) = (condition.clone(), ended.looping.running.frame().execution.anywhere);
            return condition
                .and_then(move |_| Worker::on_thread(queue, |worker| worker.end_iteration(ended)));
        }
        let condition = if is_while { ended.results.pop().map(Value::resolved) } else { None };
        let Iteration { looping: SequentialLoop { running, trips }, function, results } = ended;
        self.return_to(&running);
        let next = match (trips.next(), condition) {
            (NextIteration::Never, _) => Ok(None),
            (NextIteration::Always(trips), _) => Ok(Some(trips)),
            (NextIteration::IfTrue(trips), condition) => {
                is_true(&running, condition).map(|more| more.then_some(trips))
            }
        };
        let next = match next {
            Ok(Some(trips)) => may_start(&running).map(|()| Some(trips)),
            next => next,
        };
        match next {
            Ok(None) => self.agenda.settle(running, results.into_iter()),
            Err(value) => self.settle_with(running, &value),
            Ok(Some(trips)) => {
                self.arguments.extend(results);
                if let Err((running, error)) = self.run_function(running, (function, trips), 1) {
                    let value = Value::Error(running.located(&error));
                    self.settle_with(running, &value);
                }
            }
        }
    }
}

/// Value of a loop's condition, or the value that replaces the results of the loop.
pub(super) fn is_true(running: &Running, condition: Option<Value>) -> Result<bool, Value> {
    match condition {
        Some(Value::I1(more)) => Ok(more),
        Some(value @ (Value::Dead | Value::Error(_))) => Err(value),
        _ => Err(Value::Error(running.located(&operand_error()))),
    }
}

/// Whether another iteration may start, or the value that replaces the results of the loop.
pub(super) fn may_start(running: &Running) -> Result<(), Value> {
    let context = &running.frame().execution.context;
    let cancellation = &context.request.cancellation;
    cancellation.before_kernel();
    if cancellation.is_cancelled() { Err(context.cancelled()) } else { Ok(()) }
}
