//! Executing lines: functions in which nothing has to wait.
//!
//! One stack of values holds the registers of all active frames, one more the calls ([`Stack`]). A kernel
//! that calls pushes a frame and the loop goes on with the callee; nothing recurses on the machine's stack.
//! There are no counters, no atomics but one load, and no allocation per kernel or call. Here is what happens
//! seldom: errors, cancellation, panics. A panic in a kernel is caught around the loop, becomes the kernel's
//! error, and the loop goes on.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bef_format::OperandMode;

use super::frame::Running;
use super::operands::{blocked_value, operand_error};
use super::stack::{Stack, StackMemory, Stop};
use super::trip_count::TripCount;
use crate::context::{ExecContext, Limits};
use crate::error::{Error, KernelError};
use crate::kernel::{CallChain, LoadedFile, Outcome, StepKind};
use crate::program::{FunctionPlan, Program};
use crate::value::Value;

/// A thread's execution of a function that has a line, and of what that calls. It runs the function as often
/// as it is asked to.
pub(super) struct SequentialExecutor<'x> {
    file: &'x LoadedFile,
    context: &'x ExecContext,
    stack: Stack<'x>,
}

thread_local! {
    /// The memory of the thread's last line.
    static STACK_MEMORY: Cell<StackMemory> = const { Cell::new(StackMemory::EMPTY) };
}

impl<'x> SequentialExecutor<'x> {
    /// For the function of `plan`, which kernel `outer` calls; or the execution begins with it.
    #[inline]
    pub(super) fn new(
        (program, context): (&'x Arc<Program>, &'x ExecContext),
        plan: &'x FunctionPlan,
        limits: Limits,
        outer: Option<&'x Running>,
    ) -> SequentialExecutor<'x> {
        let memory = STACK_MEMORY.try_with(Cell::take).unwrap_or_default();
        let stack = Stack::new(plan, memory, (program, context), limits, outer);
        SequentialExecutor { file: program.file(), context, stack }
    }

    /// Runs the function, perhaps several times, on the final arguments that it takes out of a list, and
    /// appends its results to another.
    #[inline]
    pub(super) fn call(&mut self, trips: TripCount, arguments: &mut Vec<Value>, results: &mut Vec<Value>) {
        let n_results = self.stack.plan().n_results(trips.is_while());
        if let Err(error) = self.stack.begin(trips, arguments) {
            return results.extend(std::iter::repeat_n(Value::Error(error.into()), n_results));
        }
        match self.run() {
            Some(substitute) => results.extend(std::iter::repeat_n(substitute, n_results)),
            None => self.stack.append_results(n_results, results),
        }
        self.stack.end();
    }
}

impl Drop for SequentialExecutor<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.stack.is_small() {
            // Where the thread is ending, it keeps nothing.
            _ = STACK_MEMORY.try_with(|kept| kept.set(self.stack.take_memory()));
        }
    }
}

impl SequentialExecutor<'_> {
    /// Runs until the outermost frame has ended. What all results are instead, if they are not its results.
    fn run(&mut self) -> Option<Value> {
        loop {
            let panic = match catch_unwind(AssertUnwindSafe(|| self.steps())) {
                Ok(substitute) => return substitute,
                Err(panic) => panic,
            };
            self.stack.step_over();
            // Else it was the end of a value that panicked: nobody waits for that.
            if !matches!(self.stack.frame().step().kind, StepKind::Registers | StepKind::End) {
                let error = self.located(KernelError::of_panic(panic.as_ref()));
                self.stack.fill(&Value::Error(error));
            }
        }
    }

    fn steps(&mut self) -> Option<Value> {
        let attention = self.context.request.cancellation.attention();
        let mut may_go = false;
        loop {
            let stop = self.stack.run(attention, std::mem::take(&mut may_go));
            let substitute = match stop {
                Stop::End => return None,
                Stop::Attention => match self.check_cancellation() {
                    CancellationCheck::Run => {
                        may_go = true;
                        continue;
                    }
                    CancellationCheck::Skip => continue,
                    CancellationCheck::LeaveFrame(substitute) => substitute,
                },
                Stop::Outcome(outcome) => match self.handle_failure(outcome) {
                    Some(error) => error,
                    None => continue,
                },
                Stop::Substitute(substitute) => substitute,
            };
            if let Some(substitute) = self.stack.return_substitute(substitute) {
                return Some(substitute);
            }
        }
    }

    /// Looks at the step that comes next: if the execution has been cancelled, it is not run.
    fn check_cancellation(&mut self) -> CancellationCheck {
        let step = self.stack.select_next();
        let cancellation = &self.context.request.cancellation;
        if step.kind == StepKind::Registers || step.kind == StepKind::End && !self.stack.runs_again() {
            return CancellationCheck::Run;
        }
        cancellation.before_kernel();
        if !cancellation.is_cancelled() {
            return CancellationCheck::Run;
        }
        if step.kind == StepKind::End {
            return CancellationCheck::LeaveFrame(self.context.cancelled());
        }
        let value = match self.blocked_by() {
            Some(Value::Dead) => Value::Dead,
            _ => self.context.cancelled(),
        };
        self.stack.clear_results();
        self.stack.fill(&value);
        self.stack.step_over();
        CancellationCheck::Skip
    }

    /// Skips and failures. What all results of the function are, if it ends here: a synchronous one ends with
    /// its first failure.
    #[cold]
    fn handle_failure(&mut self, outcome: Outcome) -> Option<Value> {
        let value = match outcome {
            Outcome::Done | Outcome::Request => return None,
            Outcome::Operand => {
                self.blocked_by().unwrap_or_else(|| Value::Error(self.located(operand_error())))
            }
            Outcome::Error(error) => Value::Error(self.located(error)),
            // A kernel that is declared synchronous.
            Outcome::Later(_) => Value::Error(self.located(operand_error())),
        };
        if self.stack.plan().is_sync {
            return Some(value);
        }
        self.stack.fill(&value);
        None
    }

    /// What the current kernel's results become because of the operands that must be concrete, all of which
    /// this looks at.
    fn blocked_by(&mut self) -> Option<Value> {
        let view = self.file.kernel_view(self.stack.frame().at());
        let operands = view.operands().iter().enumerate();
        let propagating = operands.filter(|&(i, _)| {
            matches!(view.operand_mode(i as u32), OperandMode::Required | OperandMode::Order)
        });
        let slots = self.stack.slots();
        blocked_value(propagating.filter_map(|(_, &register)| slots.get(register as usize)))
    }

    /// The error with the places that it happened at.
    #[cold]
    fn located(&self, error: KernelError) -> Error {
        self.context.raise(&error, self.stack.callers().trace())
    }
}

/// What becomes of a step that may not simply be run.
enum CancellationCheck {
    /// It may be run.
    Run,
    /// It is not run.
    Skip,
    /// The top frame's function is not run again; what its results are.
    LeaveFrame(Value),
}
