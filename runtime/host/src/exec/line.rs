//! Executing lines: functions in which nothing has to wait.
//!
//! One stack of values holds the registers of all active frames ([`Stack`]), one of `Caller`s the calls. A kernel that calls pushes a frame
//! and the loop goes on with the callee; nothing recurses on the machine's stack. There are no counters, no atomics but one load, and no allocation
//! per kernel. A panic in a kernel is caught around the loop, becomes the kernel's error, and the loop goes on.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bef_format::OperandMode;

use super::stack::{Stack, Stop};
use super::{Limits, MAX_TRACE, blocking, callee, cancelled, operand_error};
use crate::context::ExecContext;
use crate::error::{Error, KernelError};
use crate::kernel::{Call, KernelRef, Outcome, Request};
use crate::program::{FunctionPlan, Program, StepKind};
use crate::value::Value;

/// A frame that waits for the one above it.
struct Caller {
    function: u32,
    /// Where its slots start.
    base: u32,
    /// The step behind the one that called.
    next: u32,
}

/// A thread's execution of a line and of what it calls.
pub(super) struct LineExecutor<'x> {
    program: &'x Arc<Program>,
    context: &'x ExecContext,
    limits: Limits,
    stack: Stack<'x>,
    callers: Vec<Caller>,
    /// The calls that led here.
    outer: &'x dyn Fn() -> Vec<String>,
}

/// What a thread keeps of its last line for the next one.
#[derive(Default)]
struct Kept {
    values: Vec<Value>,
    callers: Vec<Caller>,
}

/// How many values a thread keeps room for.
const MAX_KEPT: usize = 1 << 14;

thread_local! {
    static KEPT: Cell<Kept> = Cell::default();
}

/// Runs a function that has a line on final arguments, and appends its results to `results`. `outer` are the calls that led here.
pub(super) fn run<'x>(
    program: &'x Arc<Program>,
    function: u32,
    arguments: impl Iterator<Item = Value>,
    context: &'x ExecContext,
    limits: Limits,
    outer: &'x dyn Fn() -> Vec<String>,
    results: &mut Vec<Value>,
) {
    let plan = program.plan(function);
    if limits.depth == 0 || plan.n_slots() > limits.values {
        results.extend(plan.results.iter().map(|_| Value::Error(limits.error().into())));
        return;
    }
    let Kept { values, callers } = KEPT.take();
    let stack = Stack::new((function, plan), values, arguments, program, context);
    let mut line = LineExecutor { program, context, limits, stack, callers, outer };
    line.run();
    line.stack.take_results(|value| results.push(value));
    let values = line.stack.into_values();
    if values.capacity() <= MAX_KEPT && line.callers.capacity() <= MAX_KEPT {
        KEPT.set(Kept { values, callers: line.callers });
    }
}

impl<'x> LineExecutor<'x> {
    /// Runs until the outermost frame has ended.
    fn run(&mut self) {
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.steps())) {
            self.stack.step_over();
            // Else it was the end of a value that panicked: nobody waits for that.
            if self.stack.frame().step().kind == StepKind::Kernel {
                let error = self.located(KernelError::of_panic(panic.as_ref()));
                self.stack.fill(&Value::Error(error));
            }
        }
    }

    fn steps(&mut self) {
        let attention = self.context.request.cancellation.attention();
        loop {
            match self.stack.run(attention) {
                Stop::Outcome(Outcome::Request) => self.request(),
                Stop::End => {
                    let Some(Caller { function, base, next }) = self.callers.pop() else { return };
                    self.stack.pop(function, self.program.plan(function), base as usize, next as usize);
                }
                Stop::Careful => self.careful(),
                Stop::Outcome(outcome) => self.unusual(outcome),
            }
        }
    }

    /// Runs a step unless the execution has been cancelled.
    fn careful(&mut self) {
        let Some(step) = self.stack.take_step() else { return };
        let cancellation = &self.context.request.cancellation;
        if step.kind == StepKind::Kernel {
            cancellation.before_kernel();
            if cancellation.is_cancelled() {
                let value = match self.blocked() {
                    Some(Value::Dead) => Value::Dead,
                    _ => cancelled(self.context),
                };
                return self.stack.fill(&value);
            }
        }
        match self.stack.run_step() {
            Outcome::Done => {}
            Outcome::Request => self.request(),
            outcome => self.unusual(outcome),
        }
    }

    /// Skips and failures.
    #[cold]
    fn unusual(&mut self, outcome: Outcome) {
        let value = match outcome {
            Outcome::Done | Outcome::Request => return,
            Outcome::Operand => self.blocked().unwrap_or_else(|| Value::Error(self.located(operand_error()))),
            Outcome::Error(error) => Value::Error(self.located(error)),
            // A kernel that is declared synchronous.
            Outcome::Later(_) => Value::Error(self.located(operand_error())),
        };
        self.stack.fill(&value);
    }

    /// Does what the current kernel asks for.
    fn request(&mut self) {
        let done = match self.stack.take_request() {
            Some(Request::Call(call)) => self.call(call),
            None => Err(operand_error()),
        };
        if let Err(error) = done {
            let error = Value::Error(self.located(error));
            self.stack.fill(&error);
        }
    }

    /// Opens a frame for a call. What the call is the last to read moves into it.
    #[inline]
    fn call(&mut self, call: Call) -> Result<(), KernelError> {
        let (frame, caller) = (self.stack.frame(), self.stack.plan());
        let kernel = frame.kernel();
        let function = callee(call, kernel, &caller.lists)?;
        let plan = self.program.plan(function);
        if self.callers.len() + 1 >= self.limits.depth
            || self.stack.len() + plan.n_slots() > self.limits.values
        {
            return Err(self.limits.error());
        }
        let operands = kernel.operands.of(&caller.lists).get(call.first_operand as usize..);
        let at = frame.at();
        // Both are bounded: by the limit on values, which is asked for here, and by the format.
        let (base, next) = (self.stack.base() as u32, self.stack.next() as u32);
        self.callers.push(Caller { function: at.function, base, next });
        self.stack.push(function, plan, operands.unwrap_or_default(), kernel.given.of(&caller.lists));
        Ok(())
    }

    /// What the current kernel's results become because of the operands that must be concrete, all of which this looks at.
    fn blocked(&mut self) -> Option<Value> {
        let view = self.program.kernel_view(self.stack.frame().at());
        let operands = view.operands().iter().enumerate();
        let propagating = operands.filter(|&(i, _)| {
            matches!(view.operand_mode(i as u32), OperandMode::Required | OperandMode::Order)
        });
        let slots = self.stack.slots();
        blocking(propagating.filter_map(|(_, &register)| slots.get(register as usize)))
    }

    /// The error with the places that it happened at.
    #[cold]
    fn located(&self, error: KernelError) -> Error {
        let calls = self.callers.iter().rev().filter_map(|caller| {
            let plan: &FunctionPlan = self.program.plan(caller.function);
            let step = plan.line.as_deref()?.get((caller.next as usize).checked_sub(1)?)?;
            Some(KernelRef { function: caller.function, kernel: step.kernel })
        });
        let places = std::iter::once(self.stack.frame().at()).chain(calls).take(MAX_TRACE);
        let mut trace: Vec<String> = places.filter_map(|at| self.program.location_string(at)).collect();
        if self.callers.len() < MAX_TRACE {
            trace.extend((self.outer)());
            trace.truncate(MAX_TRACE);
        }
        Error::new(error.code(), error.message(), trace)
    }
}
