//! Executing lines: functions in which nothing has to wait.
//!
//! One stack of values holds the registers of all active frames, one of `LineFrame`s the calls. A kernel that calls pushes a frame and the
//! loop goes on with the callee; nothing recurses on the machine's stack. There are no counters, no atomics and no allocation per kernel;
//! and no unsafe code. A panic in a kernel is caught around the loop, becomes the kernel's error, and the loop goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bef_format::OperandMode;

use super::{Limits, MAX_TRACE, blocking, callee, cancelled, operand_error};
use crate::context::ExecContext;
use crate::error::{Error, KernelError};
use crate::kernel::{Call, KernelFrame, KernelRef, Outcome};
use crate::program::{FunctionPlan, Program, Step};
use crate::value::Value;

struct LineFrame {
    function: u32,
    /// Where its registers start on the value stack.
    base: usize,
    /// The next step.
    next: usize,
}

/// A thread's execution of a line and of what it calls.
pub(super) struct LineExecutor<'x> {
    program: &'x Arc<Program>,
    context: &'x ExecContext,
    limits: Limits,
    values: Vec<Value>,
    frames: Vec<LineFrame>,
}

impl<'x> LineExecutor<'x> {
    pub(super) fn new(
        program: &'x Arc<Program>,
        context: &'x ExecContext,
        limits: Limits,
    ) -> LineExecutor<'x> {
        LineExecutor { program, context, limits, values: Vec::new(), frames: Vec::new() }
    }

    /// Runs a function that has a line on final arguments, and appends its results to `results`. `outer` are the calls that led here.
    pub(super) fn run(
        &mut self,
        function: u32,
        arguments: impl Iterator<Item = Value>,
        results: &mut Vec<Value>,
        outer: &dyn Fn() -> Vec<String>,
    ) {
        self.values.clear();
        self.values.extend(arguments);
        let plan = self.program.plan(function);
        if let Err(error) = self.push(function, 0) {
            results.extend(plan.results.iter().map(|_| Value::Error(Error::from(error.clone()))));
            return;
        }
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.steps(outer))) {
            // The frames are as the panicking kernel left them: its step is the one before the next.
            let error = KernelError::of_panic(panic.as_ref());
            if let Some((plan, step, base)) = self.current() {
                let error = Value::Error(self.located(error, outer));
                fill(&mut self.values[base..], step, &error);
                retire(&mut self.values[base..], plan, step);
            }
        }
        take_results(plan, &mut self.values, |value| results.push(value));
        self.values.clear();
    }

    /// The step that is running, its function's plan, and where its registers start.
    fn current(&self) -> Option<(&'x FunctionPlan, &'x Step, usize)> {
        let frame = self.frames.last()?;
        Some((self.program.plan(frame.function), self.step(frame)?, frame.base))
    }

    /// The step that a frame is at.
    fn step(&self, frame: &LineFrame) -> Option<&'x Step> {
        self.program.plan(frame.function).line.as_deref()?.get(frame.next.checked_sub(1)?)
    }

    /// Opens a frame over the arguments at the top of the stack.
    fn push(&mut self, function: u32, base: usize) -> Result<(), KernelError> {
        let n_registers = self.program.plan(function).n_registers as usize;
        if self.frames.len() >= self.limits.depth || n_registers > self.limits.values.saturating_sub(base) {
            return Err(self.limits.error());
        }
        self.values.resize(base + n_registers, Value::Empty);
        self.frames.push(LineFrame { function, base, next: 0 });
        Ok(())
    }

    /// Runs until the outermost frame has ended. On return its registers are still on the stack.
    fn steps(&mut self, outer: &dyn Fn() -> Vec<String>) {
        let context = self.context;
        'frames: while let Some(frame) = self.frames.last_mut() {
            let (function, base) = (frame.function, frame.base);
            let plan = self.program.plan(function);
            let registers = &mut self.values[base..];
            while let Some(step) = plan.line.as_deref().and_then(|steps| steps.get(frame.next)) {
                frame.next += 1;
                context.request.cancellation.before_kernel();
                let at = KernelRef { function, kernel: step.kernel };
                let checked = step.plan.checked.of(&plan.lists);
                if context.request.cancellation.is_cancelled() {
                    let value = match blocked(self.program, at, registers) {
                        Some(Value::Dead) => Value::Dead,
                        _ => cancelled(context),
                    };
                    fill(registers, step, &value);
                } else if !checked.is_empty()
                    && let Some(value) =
                        blocking(checked.iter().map(|&register| &registers[register as usize]))
                {
                    fill(registers, step, &value);
                } else {
                    let mut kernel_frame = KernelFrame {
                        registers,
                        operands: step.plan.operands.of(&plan.lists),
                        first_result: step.plan.first_result as usize,
                        plan: &step.plan,
                        lists: &plan.lists,
                        at,
                        program: self.program,
                        context,
                    };
                    match (step.plan.run)(&mut kernel_frame) {
                        Outcome::Done => {}
                        outcome => {
                            self.unusual(outcome, plan, step, at, base, outer);
                            continue 'frames;
                        }
                    }
                }
                retire(registers, plan, step);
            }
            self.frames.pop();
            let Some((caller_plan, step, caller)) = self.current() else { return };
            let (below, registers) = self.values.split_at_mut(base);
            let mut slots = below[caller + step.plan.first_result as usize..].iter_mut();
            take_results(plan, registers, |value| {
                if let Some(slot) = slots.next() {
                    *slot = value;
                }
            });
            self.values.truncate(base);
            // What the call read last was given away when it began; a result that nobody wants is still there.
            retire(&mut self.values[caller..], caller_plan, step);
        }
    }

    /// Everything but a plain success: skips, failures, calls.
    fn unusual(
        &mut self,
        outcome: Outcome,
        plan: &FunctionPlan,
        step: &Step,
        at: KernelRef,
        base: usize,
        outer: &dyn Fn() -> Vec<String>,
    ) {
        let registers = &mut self.values[base..];
        let value = match outcome {
            Outcome::Done => return,
            Outcome::Operand => blocked(self.program, at, registers)
                .unwrap_or_else(|| Value::Error(self.located(operand_error(), outer))),
            Outcome::Error(error) => Value::Error(self.located(error, outer)),
            Outcome::Call(call) => match self.call(call, plan, step, base) {
                Ok(()) => return,
                Err(error) => Value::Error(self.located(error, outer)),
            },
        };
        let registers = &mut self.values[base..];
        fill(registers, step, &value);
        retire(registers, plan, step);
    }

    /// Opens a frame for a call. What the call is the last to read moves into it.
    fn call(&mut self, call: Call, plan: &FunctionPlan, step: &Step, base: usize) -> Result<(), KernelError> {
        let function = callee(call, &step.plan, &plan.lists)?;
        let n_args = self.program.plan(function).n_args as usize;
        let operands = step.plan.operands.of(&plan.lists);
        let arguments = operands.get(call.first_operand as usize..).unwrap_or_default();
        let top = self.values.len();
        for &register in arguments.iter().take(n_args) {
            let value = self.values.get(base + register as usize).cloned().unwrap_or(Value::Chain);
            self.values.push(value);
        }
        retire(&mut self.values[base..top], plan, step);
        let opened = self.push(function, top);
        if opened.is_err() {
            self.values.truncate(top);
        }
        opened
    }

    /// The error with the places that it happened at.
    fn located(&self, error: KernelError, outer: &dyn Fn() -> Vec<String>) -> Error {
        let mut trace = Vec::new();
        for frame in self.frames.iter().rev().take(MAX_TRACE) {
            let at = self.step(frame).map(|step| KernelRef { function: frame.function, kernel: step.kernel });
            trace.extend(at.and_then(|at| self.program.location_string(at)));
        }
        if self.frames.len() <= MAX_TRACE {
            trace.extend(outer());
            trace.truncate(MAX_TRACE);
        }
        Error::new(error.code(), error.message(), trace)
    }
}

/// Sets all results of a step that are not stored.
fn fill(registers: &mut [Value], step: &Step, value: &Value) {
    let first = step.plan.first_result as usize;
    for register in &mut registers[first..first + step.plan.n_results as usize] {
        if matches!(register, Value::Empty) {
            *register = value.clone();
        }
    }
}

/// Frees what the step was the last to read.
#[inline]
fn retire(registers: &mut [Value], plan: &FunctionPlan, step: &Step) {
    for &register in step.retired.of(&plan.lists) {
        registers[register as usize] = Value::Empty;
    }
}

/// What a kernel's results become because of the operands that must be concrete, all of which this looks at.
fn blocked(program: &Program, at: KernelRef, registers: &[Value]) -> Option<Value> {
    let view = program.kernel_view(at);
    let operands = view.operands().iter().enumerate();
    let propagating = operands
        .filter(|&(i, _)| matches!(view.operand_mode(i as u32), OperandMode::Required | OperandMode::Order));
    blocking(propagating.filter_map(|(_, &register)| registers.get(register as usize)))
}

/// Moves a frame's results out.
fn take_results(plan: &FunctionPlan, registers: &mut [Value], mut give: impl FnMut(Value)) {
    for &register in &plan.results {
        let register = &mut registers[register as usize];
        give(match if plan.repeats_results { register.clone() } else { std::mem::take(register) } {
            Value::Empty => Value::Error(operand_error().into()),
            value => value,
        });
    }
}
