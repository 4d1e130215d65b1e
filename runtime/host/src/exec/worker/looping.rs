//! Kernels that have functions run: once, or again and again.

use super::super::again::{After, Again};
use super::super::frame::{Frame, Head, Looping, Running, Then};
use super::super::line::LineExecutor;
use super::super::operands::{callee, operand_error};
use super::{For, Worker};
use befrost_kernel_api::error::KernelError;
use befrost_kernel_api::executor::{CallRequest, Runs};
use befrost_kernel_api::value::Value;

/// An iteration that has ended.
pub(super) struct Iteration {
    pub(super) looping: Looping,
    pub(super) function: u32,
    pub(super) results: Vec<Value>,
}

impl Worker {
    /// Does what a kernel of the top visit asks for. Its operands and room for its results are in `scratch`.
    pub(super) fn request(
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
        self.clear(&running);
        let (again, in_flight) = match runs {
            Runs::More(more) => (Again::times(more), 1),
            Runs::WhileTrue { in_flight } => (Again::WHILE_TRUE, in_flight),
        };
        self.run_function(running, (function, again), in_flight)
    }

    /// Runs a function on `arguments` for a kernel of the top visit: at once if it has a line and nothing to
    /// wait for, else in a frame of its own, or in several, of which at most `in_flight` are left at any
    /// time.
    fn run_function(
        &mut self,
        running: Running,
        (function, again): (u32, Again),
        in_flight: u32,
    ) -> Result<(), (Running, KernelError)> {
        if self.run_line(&running, (function, again)) {
            self.agenda.settle(running, self.results.drain(..));
            return Ok(());
        }
        if in_flight > 1 {
            let head = Head::new(running, function, in_flight, self.arguments.drain(..));
            self.begin_overlapping(head);
            return Ok(());
        }
        if let Err(error) = self.take_registers(&running, function) {
            return Err((running, error));
        }
        let execution = running.frame().execution.clone();
        let caller = Some(running.caller(again.iteration()));
        let (waits, then) = if again.is_last() {
            (Some(For::Kernel(running)), Then::Nothing)
        } else {
            (None, Then::Iterates(Looping { running, again }))
        };
        let started = Frame::start(execution, function, self.arguments.drain(..), caller, then);
        self.open(started, waits);
        Ok(())
    }

    /// Runs a function on `arguments`, perhaps several times, if it has a line and nothing to wait for:
    /// whether it does. What it gives is in `results` then.
    pub(super) fn run_line(&mut self, running: &Running, (function, again): (u32, Again)) -> bool {
        let frame = running.frame();
        let execution = &frame.execution;
        let callee = execution.program.plan(function);
        let arguments = &mut self.arguments;
        if !callee.is_line(execution.is_seeded)
            || !arguments.iter().all(|value| value.final_value().is_some())
        {
            return false;
        }
        let (program, context) = (&execution.program, &execution.context);
        let limits = execution.left(frame.depth);
        let mut line = LineExecutor::new((program, context), callee, limits, Some(running));
        line.call(again, arguments, &mut self.results);
        true
    }

    /// Asks for the registers of a frame of a function that a kernel calls. If there are none, `arguments`
    /// are dropped.
    pub(super) fn take_registers(&mut self, running: &Running, function: u32) -> Result<(), KernelError> {
        let frame = running.frame();
        let n_registers = frame.execution.program.plan(function).n_registers as usize;
        let taken = frame.execution.take(n_registers, frame.depth + 1);
        if taken.is_err() {
            self.arguments.clear();
        }
        taken
    }

    /// Comes back to the frame of a kernel, in whose loop something has happened: what this thread has left
    /// goes first, and what comes after the loop is in order, if this is the thread that runs it.
    pub(super) fn come_back(&mut self, running: &Running) {
        if self.left.is_some() {
            self.leave();
        }
        if !self.agenda.is_visiting(running) {
            self.agenda.visit(running.frame().address(), running.stream(), None);
        }
    }

    /// An iteration has ended: starts the next one, or gives the results to the kernel that asked for the
    /// loop.
    pub(super) fn iterate(&mut self, mut ended: Iteration) {
        let is_while = ended.looping.again.is_while();
        if is_while
            && let Some(Value::Async(condition)) = ended.results.last()
            && condition.value().is_none()
        {
            let condition = condition.clone();
            return condition.and_then(move |_| Worker::on_thread(|worker| worker.iterate(ended)));
        }
        let condition = if is_while { ended.results.pop().map(Value::resolved) } else { None };
        let Iteration { looping: Looping { running, again }, function, results } = ended;
        self.come_back(&running);
        let next = match (again.after(), condition) {
            (After::Nothing, _) => Ok(None),
            (After::Iteration(again), _) => Ok(Some(again)),
            (After::IfTrue(again), condition) => {
                is_true(&running, condition).map(|more| more.then_some(again))
            }
        };
        let next = match next {
            Ok(Some(again)) => may_start(&running).map(|()| Some(again)),
            next => next,
        };
        match next {
            Ok(None) => self.agenda.settle(running, results.into_iter()),
            Err(value) => self.settle_all(running, &value),
            Ok(Some(again)) => {
                self.arguments.extend(results);
                if let Err((running, error)) = self.run_function(running, (function, again), 1) {
                    let value = Value::Error(running.located(&error));
                    self.settle_all(running, &value);
                }
            }
        }
    }
}

/// What a condition says, or what the results of the loop are instead.
pub(super) fn is_true(running: &Running, condition: Option<Value>) -> Result<bool, Value> {
    match condition {
        Some(Value::I1(more)) => Ok(more),
        Some(value @ (Value::Dead | Value::Error(_))) => Err(value),
        _ => Err(Value::Error(running.located(&operand_error()))),
    }
}

/// Whether another iteration may start, or what the results of the loop are instead.
pub(super) fn may_start(running: &Running) -> Result<(), Value> {
    let context = &running.frame().execution.context;
    let cancellation = &context.request.cancellation;
    cancellation.before_kernel();
    if cancellation.is_cancelled() { Err(context.cancelled()) } else { Ok(()) }
}
