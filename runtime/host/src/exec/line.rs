//! Executing lines: functions in which nothing has to wait.
//!
//! One stack of values holds the registers of all active frames ([`Stack`]), one of `Caller`s the calls. A kernel that calls pushes a frame
//! and the loop goes on with the callee; nothing recurses on the machine's stack. There are no counters, no atomics but one load, and no allocation
//! per kernel. A panic in a kernel is caught around the loop, becomes the kernel's error, and the loop goes on.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bef_format::OperandMode;

use super::stack::{Below, Stack, Stop};
use super::{Limits, MAX_TRACE, blocking, callee, cancelled, operand_error};
use crate::context::ExecContext;
use crate::error::{Error, KernelError};
use crate::kernel::{After, Again, KernelRef, Outcome, Request};
use crate::program::{FunctionPlan, Program, StepKind};
use crate::value::Value;

/// What comes after an iteration.
enum Iteration {
    Started,
    /// Nothing; what all results are instead, if they are not its own.
    Last(Option<Value>),
}

/// A frame that waits for the one above it, and whether its function is run again when it ends.
type Caller<'x> = (Below<'x>, Again);

/// A thread's execution of a line and of what it calls.
pub(super) struct LineExecutor<'x> {
    plans: &'x [FunctionPlan],
    program: &'x Program,
    context: &'x ExecContext,
    limits: Limits,
    stack: Stack<'x>,
    /// Whether the top frame's function is run again when it ends.
    again: Again,
    callers: Vec<Caller<'x>>,
    /// The calls that led here.
    outer: &'x dyn Fn() -> Vec<String>,
}

/// How many values a thread keeps room for.
const MAX_KEPT: usize = 1 << 14;

thread_local! {
    /// The list of values of the thread's last line, empty.
    static VALUES: Cell<Vec<Value>> = const { Cell::new(Vec::new()) };
}

/// Runs a function that has a line, perhaps several times, on final arguments, and appends its results to `results`. `outer` are the calls
/// that led here.
pub(super) fn run<'x>(
    (program, context): (&'x Arc<Program>, &'x ExecContext),
    (function, again): (u32, Again),
    arguments: impl Iterator<Item = Value>,
    limits: Limits,
    outer: &'x dyn Fn() -> Vec<String>,
    results: &mut Vec<Value>,
) {
    let plan = program.plan(function);
    let n_results = plan.n_results(again);
    if limits.depth == 0 || plan.n_slots() > limits.values {
        results.extend(std::iter::repeat_n(Value::Error(limits.error().into()), n_results));
        return;
    }
    let stack = Stack::new(plan, VALUES.take(), arguments, program, context);
    let (plans, callers) = (program.plans(), Vec::new());
    let mut line = LineExecutor { plans, program, context, limits, stack, again, callers, outer };
    match line.run() {
        Some(instead) => results.extend(std::iter::repeat_n(instead, n_results)),
        None => line.stack.take_results(n_results, |value| results.push(value)),
    }
    let values = line.stack.into_values();
    if values.capacity() <= MAX_KEPT {
        VALUES.set(values);
    }
}

impl<'x> LineExecutor<'x> {
    /// Runs until the outermost frame has ended. What all results are instead, if they are not its results.
    fn run(&mut self) -> Option<Value> {
        loop {
            let panic = match catch_unwind(AssertUnwindSafe(|| self.steps())) {
                Ok(instead) => return instead,
                Err(panic) => panic,
            };
            self.stack.step_over();
            // Else it was the end of a value that panicked: nobody waits for that.
            if self.stack.frame().step().kind == StepKind::Kernel {
                let error = self.located(KernelError::of_panic(panic.as_ref()));
                self.stack.fill(&Value::Error(error));
            }
        }
    }

    fn steps(&mut self) -> Option<Value> {
        let attention = self.context.request.cancellation.attention();
        loop {
            match self.stack.run(attention) {
                Stop::Outcome(Outcome::Request) => self.request(),
                Stop::End => {
                    let instead = match self.next_iteration() {
                        Iteration::Started => continue,
                        Iteration::Last(instead) => instead,
                    };
                    let Some(caller) = self.callers.pop() else { return instead };
                    self.back(caller, instead);
                }
                Stop::Careful => self.careful(),
                Stop::Outcome(outcome) => self.unusual(outcome),
            }
        }
    }

    /// Closes the top frame; its results, or what they are instead, are those of the kernel that called.
    #[inline]
    fn back(&mut self, (below, again): Caller<'x>, instead: Option<Value>) {
        self.stack.pop(below, instead.is_none());
        self.again = again;
        if let Some(value) = instead {
            self.stack.fill(&value);
        }
    }

    /// Starts the next iteration of the top frame's function, in the same frame, if there is one.
    #[inline]
    fn next_iteration(&mut self) -> Iteration {
        match self.again.after() {
            After::Nothing => return Iteration::Last(None),
            After::Iteration(again) => self.again = again,
            After::IfTrue => match self.stack.condition() {
                Value::I1(true) => {}
                Value::I1(false) => return Iteration::Last(None),
                value @ (Value::Error(_) | Value::Dead) => return Iteration::Last(Some(value.clone())),
                _ => return Iteration::Last(Some(Value::Error(operand_error().into()))),
            },
        }
        let cancellation = &self.context.request.cancellation;
        // Relaxed: a hint to look.
        if cancellation.attention().load(Ordering::Relaxed) {
            cancellation.before_kernel();
            if cancellation.is_cancelled() {
                return Iteration::Last(Some(cancelled(self.context)));
            }
        }
        self.stack.again();
        Iteration::Started
    }

    /// Runs a step unless the execution has been cancelled.
    fn careful(&mut self) {
        let step = self.stack.take_step();
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
    #[inline]
    fn request(&mut self) {
        if let Err(error) = self.try_request() {
            let error = Value::Error(self.located(error));
            self.stack.fill(&error);
        }
    }

    /// Opens a frame for a call. What the call is the last to read moves into it.
    #[inline]
    fn try_request(&mut self) -> Result<(), KernelError> {
        let Request { call, again } = self.stack.take_request();
        let frame = self.stack.frame();
        let (kernel, lists) = (frame.kernel(), &frame.plan().lists);
        let plan = &self.plans[callee(call, kernel, lists)? as usize];
        if self.callers.len() + 1 >= self.limits.depth
            || self.stack.len() + plan.n_slots() > self.limits.values
        {
            return Err(self.limits.error());
        }
        let operands = kernel.operands.of(lists).get(call.first_operand as usize..).unwrap_or_default();
        let below = self.stack.push(plan, operands, kernel.given.of(lists));
        self.callers.push((below, std::mem::replace(&mut self.again, again)));
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
        let calls = self.callers.iter().rev();
        let calls =
            calls.map(|(below, _)| KernelRef { function: below.function(), kernel: below.step.kernel });
        let places = std::iter::once(self.stack.frame().at()).chain(calls).take(MAX_TRACE);
        let mut trace: Vec<String> = places.filter_map(|at| self.program.location_string(at)).collect();
        if self.callers.len() < MAX_TRACE {
            trace.extend((self.outer)());
            trace.truncate(MAX_TRACE);
        }
        self.context.raise(&error, trace)
    }
}
