//! The doors from outside: one call, or many of one function.
//!
//! What a call must find out that does not depend on its arguments is found out when it is prepared: the
//! function, whether it has a line, the memory for its frames, what cancels it. Then a call looks at its
//! arguments and runs. So whoever calls a function again and again, as each thread of a `parallel_for` does
//! block by block, prepares it once; [`call`] prepares and calls.

use std::sync::Arc;
use std::task::Waker;

use bef_format::FunctionId;

use super::again::Again;
use super::execution::Execution;
use super::frame::{Frame, Started, Then};
use super::line::LineExecutor;
use super::worker;
use crate::program::{FunctionPlan, Program};
use crate::queue::may_wait;
use befrost_kernel_api::context::ExecContext;
use befrost_kernel_api::error::{ErrorCode, KernelError};
use befrost_kernel_api::executor::sync::AtomicUsize;
use befrost_kernel_api::executor::{FunctionCall, FunctionSource};
use befrost_kernel_api::queue::{Latch, Task};
use befrost_kernel_api::value::Value;

/// Calls a function and waits until everything that it started has completed.
///
/// Arguments may be in any state; results are final, unless the function returns an argument that is not. An
/// error result is the result of what failed, not of this call.
///
/// # Errors
/// If the arguments do not fit the function's signature, or the function is not one that can be called.
pub fn call(
    program: &Arc<Program>,
    function: FunctionId,
    mut arguments: Vec<Value>,
    context: &ExecContext,
) -> Result<Vec<Value>, KernelError> {
    let mut results = Vec::new();
    call_into(program, function, &mut arguments, context, &mut results)?;
    Ok(results)
}

/// [`call`] that takes the arguments out of a list and appends the results to one. If that has room, and the function has nothing to wait for,
/// nothing is allocated but what kernels allocate.
///
/// # Errors
/// As [`call`]; then the lists are as they were.
pub fn call_into(
    program: &Arc<Program>,
    function: FunctionId,
    arguments: &mut Vec<Value>,
    context: &ExecContext,
    results: &mut Vec<Value>,
) -> Result<(), KernelError> {
    PreparedCall::new(program, function, context)?.call_into(arguments, results)
}

/// A function that is ready to be called by this thread, again and again, as part of one execution.
///
/// ```text
/// let mut double = PreparedCall::new(&program, double, &context)?;
/// for x in inputs {
///     arguments.push(x);
///     double.call_into(&mut arguments, &mut results)?;
/// }
/// ```
pub struct PreparedCall<'p> {
    program: &'p Arc<Program>,
    plan: &'p FunctionPlan,
    context: &'p ExecContext,
    /// Of the next call.
    iteration: u32,
    /// If calls with final arguments go that way.
    line: Option<LineExecutor<'p>>,
}

impl<'p> PreparedCall<'p> {
    /// Prepares a function of `program`.
    ///
    /// # Errors
    /// If there is no such function.
    #[inline]
    pub fn new(
        program: &'p Arc<Program>,
        function: FunctionId,
        context: &'p ExecContext,
    ) -> Result<PreparedCall<'p>, KernelError> {
        let unknown = || KernelError::new(ErrorCode::NotFound, format!("no function #{}", function.0));
        let plan = program.plans().get(function.0 as usize).ok_or_else(unknown)?;
        let has_line = plan.is_line(context.queue().is_seeded());
        let line = has_line.then(|| LineExecutor::new((program, context), plan, context.limits, None));
        Ok(PreparedCall { program, plan, context, iteration: 0, line })
    }

    /// Calls it, as [`call_into`].
    ///
    /// # Errors
    /// As [`call_into`].
    pub fn call_into(
        &mut self,
        arguments: &mut Vec<Value>,
        results: &mut Vec<Value>,
    ) -> Result<(), KernelError> {
        if !self.plan.accepts(arguments) {
            return Err(misfit(self.program, self.plan, arguments));
        }
        match &mut self.line {
            Some(line) if arguments.iter().all(|value| value.final_value().is_some()) => {
                line.call(Again::NEVER.at(self.iteration.into()), arguments, results);
                Ok(())
            }
            _ => self.call_general(arguments, results),
        }
    }

    /// A call that has something to wait for.
    fn call_general(&self, arguments: &mut Vec<Value>, results: &mut Vec<Value>) -> Result<(), KernelError> {
        may_wait()?;
        let (latch, first) = (Latch::new(1), results.len());
        let mut started = self.open(arguments, Then::Opens(latch.clone()), results);
        if started.is_some() {
            let run = &mut || started.take().into_iter().for_each(worker::run);
            self.context.queue().wait_after(&latch, run);
        }
        results[first..].iter_mut().for_each(|result| *result = std::mem::take(result).resolved());
        Ok(())
    }

    /// The frame of such a call. Its results are appended, in any state; they are errors if there is no room
    /// for a frame.
    fn open(&self, arguments: &mut Vec<Value>, then: Then, results: &mut Vec<Value>) -> Option<Started> {
        let &PreparedCall { program, plan, context, iteration, line: _ } = self;
        let iteration = iteration.into();
        let (is_seeded, values) = (context.queue().is_seeded(), AtomicUsize::new(0));
        let (program, context) = (program.clone(), context.clone());
        let execution = Arc::new(Execution { program, context, iteration, is_seeded, values });
        if let Err(error) = execution.take(plan.n_registers as usize, 0) {
            let error = Value::Error(error.into());
            results.extend(plan.results.iter().map(|_| error.clone()));
            return None;
        }
        let mut started = Frame::start(execution, plan.index(), arguments.drain(..), None, then);
        results.extend(started.returns().into_iter().flat_map(|returns| returns.results(started.frame())));
        Some(started)
    }
}

impl FunctionSource for Program {
    fn needs_path(&self, function: FunctionId) -> bool {
        self.plan(function.0).needs_path
    }

    fn prepare<'c>(
        self: &'c Arc<Self>,
        function: FunctionId,
        context: &'c ExecContext,
    ) -> Result<Box<dyn FunctionCall + 'c>, KernelError> {
        Ok(Box::new(PreparedCall::new(self, function, context)?))
    }
}

impl FunctionCall for PreparedCall<'_> {
    fn set_iteration(&mut self, iteration: u32) {
        self.iteration = iteration;
    }

    fn call_into(&mut self, arguments: &mut Vec<Value>, results: &mut Vec<Value>) -> Result<(), KernelError> {
        PreparedCall::call_into(self, arguments, results)
    }

    fn begin(
        &mut self,
        arguments: &mut Vec<Value>,
        results: &mut Vec<Value>,
        ended: Waker,
    ) -> Result<bool, KernelError> {
        let all_are_final = arguments.iter().all(|value| value.final_value().is_some());
        if !self.plan.accepts(arguments) || self.line.is_some() && all_are_final {
            return self.call_into(arguments, results).map(|()| false);
        }
        let started = self.open(arguments, Then::Wakes(ended), results);
        let is_going = started.is_some();
        started.into_iter().for_each(|started| {
            self.context.queue().add_task(Task::new(move || worker::run(started)));
        });
        Ok(is_going)
    }
}

impl std::fmt::Debug for PreparedCall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PreparedCall").field(&self.program.image().function(self.plan.index()).name()).finish()
    }
}

/// Why a function cannot be called with these arguments.
#[cold]
fn misfit(program: &Program, plan: &FunctionPlan, arguments: &[Value]) -> KernelError {
    let view = program.image().function(plan.index());
    if plan.is_native {
        let message = format!("'{}' is native code: not supported yet", view.name());
        return KernelError::new(ErrorCode::Unimplemented, message);
    }
    let misfits = arguments.iter().zip(&plan.arg_types).enumerate();
    let message = match misfits.into_iter().find(|(_, (argument, ty))| !ty.accepts(argument)) {
        Some((i, (argument, _))) if arguments.len() == plan.arg_types.len() => {
            let (name, found, want) = (view.name(), argument.type_name(), view.arg_type(i as u32));
            format!("argument #{i} of '{name}' has type {found}, expected {want}")
        }
        _ => format!("'{}' takes {} arguments, got {}", view.name(), view.n_args(), arguments.len()),
    };
    KernelError::invalid(message)
}
