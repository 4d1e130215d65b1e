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

use super::again::Again;
use super::frame::Running;
use super::operands::{blocking, operand_error};
use super::stack::{Room, Stack, Stop};
use crate::program::{FunctionPlan, Program};
use befrost_kernel_api::context::{ExecContext, Limits};
use befrost_kernel_api::error::{Error, KernelError};
use befrost_kernel_api::executor::{CallChain, LoadedFile, StepKind};
use befrost_kernel_api::kernel::Outcome;
use befrost_kernel_api::value::Value;

/// A thread's execution of a function that has a line, and of what that calls. It runs the function as often
/// as it is asked to.
pub(super) struct LineExecutor<'x> {
    file: &'x LoadedFile,
    context: &'x ExecContext,
    stack: Stack<'x>,
}

thread_local! {
    /// The memory of the thread's last line.
    static ROOM: Cell<Room> = const { Cell::new(Room::EMPTY) };
}

impl<'x> LineExecutor<'x> {
    /// For the function of `plan`, which kernel `outer` calls; or the execution begins with it.
    #[inline]
    pub(super) fn new(
        (program, context): (&'x Arc<Program>, &'x ExecContext),
        plan: &'x FunctionPlan,
        limits: Limits,
        outer: Option<&'x Running>,
    ) -> LineExecutor<'x> {
        let room = ROOM.try_with(Cell::take).unwrap_or_default();
        let stack = Stack::new(plan, room, (program, context), limits, outer);
        LineExecutor { file: program.file(), context, stack }
    }

    /// Runs the function, perhaps several times, on the final arguments that it takes out of a list, and
    /// appends its results to another.
    #[inline]
    pub(super) fn call(&mut self, again: Again, arguments: &mut Vec<Value>, results: &mut Vec<Value>) {
        let n_results = self.stack.plan().n_results(again.is_while());
        if let Err(error) = self.stack.begin(again, arguments) {
            return results.extend(std::iter::repeat_n(Value::Error(error.into()), n_results));
        }
        match self.run() {
            Some(instead) => results.extend(std::iter::repeat_n(instead, n_results)),
            None => self.stack.append_results(n_results, results),
        }
        self.stack.end();
    }
}

impl Drop for LineExecutor<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.stack.is_small() {
            // Where the thread is ending, it keeps nothing.
            _ = ROOM.try_with(|kept| kept.set(self.stack.take_room()));
        }
    }
}

impl LineExecutor<'_> {
    /// Runs until the outermost frame has ended. What all results are instead, if they are not its results.
    fn run(&mut self) -> Option<Value> {
        loop {
            let panic = match catch_unwind(AssertUnwindSafe(|| self.steps())) {
                Ok(instead) => return instead,
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
            let instead = match stop {
                Stop::End => return None,
                Stop::Careful => match self.careful() {
                    Careful::Go => {
                        may_go = true;
                        continue;
                    }
                    Careful::Skip => continue,
                    Careful::Leave(instead) => instead,
                },
                Stop::Outcome(outcome) => match self.unusual(outcome) {
                    Some(error) => error,
                    None => continue,
                },
                Stop::Instead(instead) => instead,
            };
            if let Some(instead) = self.stack.leave(instead) {
                return Some(instead);
            }
        }
    }

    /// Looks at the step that comes next: if the execution has been cancelled, it is not run.
    fn careful(&mut self) -> Careful {
        let step = self.stack.select_next();
        let cancellation = &self.context.request.cancellation;
        if step.kind == StepKind::Registers || step.kind == StepKind::End && !self.stack.goes_on() {
            return Careful::Go;
        }
        cancellation.before_kernel();
        if !cancellation.is_cancelled() {
            return Careful::Go;
        }
        if step.kind == StepKind::End {
            return Careful::Leave(self.context.cancelled());
        }
        let value = match self.blocked() {
            Some(Value::Dead) => Value::Dead,
            _ => self.context.cancelled(),
        };
        self.stack.clear_results();
        self.stack.fill(&value);
        self.stack.step_over();
        Careful::Skip
    }

    /// Skips and failures. What all results of the function are, if it ends here: a synchronous one ends with
    /// its first failure.
    #[cold]
    fn unusual(&mut self, outcome: Outcome) -> Option<Value> {
        let value = match outcome {
            Outcome::Done | Outcome::Request => return None,
            Outcome::Operand => self.blocked().unwrap_or_else(|| Value::Error(self.located(operand_error()))),
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
    fn blocked(&mut self) -> Option<Value> {
        let view = self.file.kernel_view(self.stack.frame().at());
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
        self.context.raise(&error, self.stack.callers().trace())
    }
}

/// What becomes of a step that may not simply be run.
enum Careful {
    /// It may be run.
    Go,
    /// It is not run.
    Skip,
    /// The top frame's function is not run again; what its results are.
    Leave(Value),
}
