//! Sequential execution: functions in which nothing has to wait.
//!
//! One stack holds the registers of all active frames, a second one the calls ([`Stack`]). A kernel that
//! calls pushes a frame, and the loop continues with the callee: nothing recurses on the machine's stack.
//! There are no counters, one atomic load per step, and no allocation per kernel or call.
//!
//! This file handles the rare events: errors, cancellation, panics. A panic in a kernel is caught around the
//! loop and becomes the kernel's error; then the loop continues.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bef_format::OperandMode;

use super::frame::Running;
use super::operands::{blocked_value, operand_error};
use super::stack::{Stack, StackMemory, Stop};
use super::trip_count::TripCount;
use crate::program::{FunctionPlan, Program};
use befrost_kernel_api::context::{ExecContext, Limits};
use befrost_kernel_api::error::{Error, KernelError};
use befrost_kernel_api::executor::{CallChain, LoadedFile, StepKind};
use befrost_kernel_api::kernel::Outcome;
use befrost_kernel_api::value::Value;

/// One thread's execution of a function with a sequential plan, and of its callees. Can be called any number
/// of times.
pub(super) struct SequentialExecutor<'x> {
    file: &'x LoadedFile,
    context: &'x ExecContext,
    stack: Stack<'x>,
}

thread_local! {
    /// Memory of the thread's last sequential execution.
    static STACK_MEMORY: Cell<StackMemory> = const { Cell::new(StackMemory::EMPTY) };
}

impl<'x> SequentialExecutor<'x> {
    /// Executor for the function of `plan`. `outer` is the kernel that calls it, or `None` if the execution
    /// begins with this function.
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

    /// Runs the function with trip count `trips` on final arguments, which are taken out of `arguments`, and
    /// appends its results to `results`.
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
            // A thread that is being destroyed keeps nothing.
            _ = STACK_MEMORY.try_with(|kept| kept.set(self.stack.take_memory()));
        }
    }
}

impl SequentialExecutor<'_> {
    /// Runs until the outermost frame has ended. Returns the value that replaces all results, if there is
    /// one.
    fn run(&mut self) -> Option<Value> {
        loop {
            let panic = match catch_unwind(AssertUnwindSafe(|| self.steps())) {
                Ok(substitute) => return substitute,
                Err(panic) => panic,
            };
            let error = KernelError::of_panic(panic);
            self.stack.step_over();
            // Otherwise a destructor panicked while registers were freed. Nothing depends on that.
            if !matches!(self.stack.frame().step().kind, StepKind::Registers | StepKind::End) {
                let error = self.located(error);
                self.stack.fill_missing_results(&Value::Error(error));
            }
        }
    }

    fn steps(&mut self) -> Option<Value> {
        let attention = self.context.request.cancellation.attention();
        let mut may_run = false;
        loop {
            let stop = self.stack.run(attention, std::mem::take(&mut may_run));
            let substitute = match stop {
                Stop::End => return None,
                Stop::Attention => match self.check_cancellation() {
                    CancellationCheck::Run => {
                        may_run = true;
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

    /// Selects the next step and decides whether it runs: not if the execution has been cancelled.
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
        self.stack.fill_missing_results(&value);
        self.stack.step_over();
        CancellationCheck::Skip
    }

    /// Handles skipped and failed kernels. Returns the value of all results of the function if it ends here:
    /// a synchronous function ends with its first failure.
    #[cold]
    fn handle_failure(&mut self, outcome: Outcome) -> Option<Value> {
        let value = match outcome {
            Outcome::Done | Outcome::Request => return None,
            Outcome::Operand => {
                self.blocked_by().unwrap_or_else(|| Value::Error(self.located(operand_error())))
            }
            Outcome::Error(error) => Value::Error(self.located(error)),
            // The kernel is declared synchronous.
            Outcome::Later(_) => Value::Error(self.located(operand_error())),
        };
        if self.stack.plan().is_sync {
            return Some(value);
        }
        self.stack.fill_missing_results(&value);
        None
    }

    /// The value that replaces the current kernel's results because of its operands, as
    /// [`Blocked`](super::operands::Blocked) defines it.
    fn blocked_by(&mut self) -> Option<Value> {
        let view = self.file.kernel_view(self.stack.frame().at());
        let operands = view.operands().iter().enumerate();
        let propagating = operands.filter(|&(i, _)| {
            matches!(view.operand_mode(i as u32), OperandMode::Required | OperandMode::Order)
        });
        let slots = self.stack.slots();
        blocked_value(propagating.filter_map(|(_, &register)| slots.get(register as usize)))
    }

    /// `error` with its trace.
    #[cold]
    fn located(&self, error: KernelError) -> Error {
        self.context.raise(&error, self.stack.callers().trace())
    }
}

/// Decision about a step that needs attention.
enum CancellationCheck {
    /// The step runs.
    Run,
    /// The step is skipped; its results are set.
    Skip,
    /// The top frame ends here; all its results are this value.
    LeaveFrame(Value),
}
