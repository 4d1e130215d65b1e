//! Kernels that have functions run: once, or again and again.

use super::super::frame::{Frame, Looping, Running, Then};
use super::super::line::LineExecutor;
use super::super::{callee, cancelled, operand_error, resolved};
use super::Worker;
use crate::error::KernelError;
use crate::kernel::{After, Again, Request};
use crate::value::Value;

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
        Request { call, again }: Request,
    ) -> Result<(), (Running, KernelError)> {
        let frame = running.frame();
        let plan = &frame.plan().kernels[running.kernel() as usize];
        let function = match callee(call, plan, &frame.plan().lists) {
            Ok(function) => function,
            Err(error) => return Err((running, error)),
        };
        let n_operands = running.info().n_operands();
        let first = (call.first_operand as usize).min(n_operands);
        let n_args = (frame.execution.program.plan(function).n_args as usize).min(n_operands - first);
        self.arguments.extend(self.scratch[first..first + n_args].iter_mut().map(std::mem::take));
        self.clear(&running);
        self.run_function(running, (function, again))
    }

    /// Runs a function on `arguments` for a kernel of the top visit: at once if it has a line and nothing to wait for, else in a frame of its own.
    fn run_function(
        &mut self,
        running: Running,
        (function, again): (u32, Again),
    ) -> Result<(), (Running, KernelError)> {
        let frame = running.frame();
        let execution = &frame.execution;
        let callee = execution.program.plan(function);
        let arguments = &mut self.arguments;
        if callee.has_line
            && !execution.is_seeded
            && arguments.iter().all(|value| value.final_value().is_some())
        {
            let (limits, outer) = (execution.left(frame.depth), || frame.trace(running.kernel()));
            let (program, context) = (&execution.program, &execution.context);
            let results = &mut self.results;
            let mut line = LineExecutor::new((program, context), callee, limits, &outer);
            line.call(again, arguments, results);
            drop(line);
            self.agenda.settle(running, self.results.drain(..));
            return Ok(());
        }
        if let Err(error) = execution.take(callee.n_registers as usize, frame.depth + 1) {
            arguments.clear();
            return Err((running, error));
        }
        let (execution, caller) = (execution.clone(), Some(running.caller()));
        let (waits, then) = match again {
            Again::NEVER => (Some(running), Then::Nothing),
            again => (None, Then::Iterates(Looping { running, again })),
        };
        let started = Frame::start(execution, function, arguments.drain(..), caller, then);
        self.open(started, waits);
        Ok(())
    }

    /// An iteration has ended: starts the next one, or gives the results to the kernel that asked for the loop.
    pub(super) fn iterate(&mut self, mut ended: Iteration) {
        let is_while = ended.looping.again == Again::WHILE_TRUE;
        if is_while
            && let Some(Value::Async(condition)) = ended.results.last()
            && condition.value().is_none()
        {
            let condition = condition.clone();
            return condition.and_then(move |_| Worker::on_thread(|worker| worker.iterate(ended)));
        }
        if self.left.is_some() {
            self.leave();
        }
        let condition = if is_while { ended.results.pop().map(resolved) } else { None };
        let Iteration { looping: Looping { running, again }, function, results } = ended;
        // In order, if this is the thread that runs what comes after the loop.
        if !self.agenda.is_visiting(&running) {
            self.agenda.visit(running.frame().address(), running.stream(), None);
        }
        let next = match (again.after(), condition) {
            (After::Nothing, _) => Ok(None),
            (After::Iteration(again), _) => Ok(Some(again)),
            (After::IfTrue, Some(Value::I1(more))) => Ok(more.then_some(again)),
            (After::IfTrue, Some(value @ (Value::Dead | Value::Error(_)))) => Err(value),
            (After::IfTrue, _) => Err(Value::Error(running.located(&operand_error()))),
        };
        let context = &running.frame().execution.context;
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
            Ok(None) => self.agenda.settle(running, results.into_iter()),
            Err(value) => self.settle_all(running, &value),
            Ok(Some(again)) => {
                self.arguments.extend(results);
                if let Err((running, error)) = self.run_function(running, (function, again)) {
                    let value = Value::Error(running.located(&error));
                    self.settle_all(running, &value);
                }
            }
        }
    }
}
