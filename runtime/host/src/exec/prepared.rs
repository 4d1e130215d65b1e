//! Entry points from outside: one call, or many calls of one function.
//!
//! [`PreparedCall`] holds everything about a call that does not depend on its arguments: the function, its
//! sequential executor with the memory for its frames, and the request that may be cancelled. A call then
//! only checks its arguments and runs. Repeated callers, such as each thread of a `parallel_for` block by
//! block, prepare once; [`call`] prepares and calls.

use std::sync::Arc;
use std::task::Waker;

use bef_format::FunctionId;

use super::execution::{Execution, NO_QUEUE};
use super::frame::{Continuation, Frame, NewFrame};
use super::sequential::SequentialExecutor;
use super::trip_count::TripCount;
use super::worker;
use crate::program::{FunctionPlan, Program};
use crate::queue::{NestedWait, check_may_wait};
use befrost_kernel_api::activity::Going;
use befrost_kernel_api::context::ExecContext;
use befrost_kernel_api::error::{ErrorCode, KernelError};
use befrost_kernel_api::executor::sync::AtomicUsize;
use befrost_kernel_api::executor::{FunctionCall, FunctionSource, KernelTable};
use befrost_kernel_api::queue::{Latch, Task};
use befrost_kernel_api::value::Value;

/// Calls a function and waits until everything that it started has completed.
///
/// Arguments may be in any state. Results are final, unless the function returns an argument that is not. An
/// error result belongs to the kernel that failed, not to this call.
///
/// # Errors
/// If the arguments do not fit the function's signature, or the function cannot be called.
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

/// [`call`] with caller-owned lists: takes the arguments out of one and appends the results to the other. If
/// `results` has capacity and the function runs sequentially, only kernels allocate.
///
/// # Errors
/// As [`call`]; then the lists are unchanged.
pub fn call_into(
    program: &Arc<Program>,
    function: FunctionId,
    arguments: &mut Vec<Value>,
    context: &ExecContext,
    results: &mut Vec<Value>,
) -> Result<(), KernelError> {
    let (plan, is_sequential) = plan_of(program, function, context)?;
    if is_sequential && plan.accepts(arguments) && are_final(arguments) {
        // Made where it runs: in a prepared call it would be moved, which takes longer than a short function.
        let executor = &mut SequentialExecutor::new((program, context), plan, context.limits, None);
        return run_sequentially(executor, 0, arguments, results);
    }
    PreparedCall { program, plan, context, iteration: 0, sequential: None }.call_into(arguments, results)
}

/// The plan of a function, and whether it runs sequentially in this execution.
#[inline]
fn plan_of<'p>(
    program: &'p Arc<Program>,
    function: FunctionId,
    context: &ExecContext,
) -> Result<(&'p FunctionPlan, bool), KernelError> {
    let unknown = || KernelError::new(ErrorCode::NotFound, format!("no function #{}", function.0));
    let plan = program.plans().get(function.0 as usize).ok_or_else(unknown)?;
    let devices = program.file().devices();
    devices.check(context)?;
    let home = devices.queue_of(context.device_number());
    Ok((plan, plan.runs_sequentially(context.queue().local().is_seeded(), home)))
}

#[inline]
fn are_final(arguments: &[Value]) -> bool {
    arguments.iter().all(|value| value.final_value().is_some())
}

/// Runs a sequential executor on final arguments of the function's types.
#[inline]
fn run_sequentially(
    executor: &mut SequentialExecutor<'_>,
    iteration: u32,
    arguments: &mut Vec<Value>,
    results: &mut Vec<Value>,
) -> Result<(), KernelError> {
    check_may_wait()?;
    let _nested = NestedWait::enter();
    executor.call(TripCount::ONCE.at(iteration.into()), arguments, results);
    Ok(())
}

/// A function prepared for repeated calls from one thread, as part of one execution.
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
    /// Iteration number of the next call.
    iteration: u32,
    /// Executor for calls with final arguments, if the function runs sequentially.
    sequential: Option<SequentialExecutor<'p>>,
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
        let (plan, is_sequential) = plan_of(program, function, context)?;
        let sequential =
            is_sequential.then(|| SequentialExecutor::new((program, context), plan, context.limits, None));
        Ok(PreparedCall { program, plan, context, iteration: 0, sequential })
    }

    /// Calls the function, as [`call_into`].
    ///
    /// # Errors
    /// As [`call_into`].
    pub fn call_into(
        &mut self,
        arguments: &mut Vec<Value>,
        results: &mut Vec<Value>,
    ) -> Result<(), KernelError> {
        if !self.plan.accepts(arguments) {
            return Err(mismatch(self.program, self.plan, arguments));
        }
        match &mut self.sequential {
            Some(sequential) if are_final(arguments) => {
                run_sequentially(sequential, self.iteration, arguments, results)
            }
            _ => self.call_general(arguments, results),
        }
    }

    /// Calls the function in a general frame.
    fn call_general(&self, arguments: &mut Vec<Value>, results: &mut Vec<Value>) -> Result<(), KernelError> {
        check_may_wait()?;
        let (latch, first) = (Latch::new(1), results.len());
        let mut new_frame = self.start(arguments, Continuation::OpenLatch(latch.clone()), results);
        if new_frame.is_some() {
            let run = &mut || new_frame.take().into_iter().for_each(worker::run);
            self.context.queue().wait_after(&latch, run);
        }
        results[first..].iter_mut().for_each(|result| *result = std::mem::take(result).resolved());
        Ok(())
    }

    /// Makes the frame of a general call and appends its results, in any state. Without room for a frame the
    /// results are errors and there is no frame.
    fn start(
        &self,
        arguments: &mut Vec<Value>,
        continuation: Continuation,
        results: &mut Vec<Value>,
    ) -> Option<NewFrame> {
        let &PreparedCall { program, plan, context, iteration, sequential: _ } = self;
        let iteration = iteration.into();
        let (is_seeded, values) = (context.queue().local().is_seeded(), AtomicUsize::new(0));
        let (program, context) = (program.clone(), context.clone());
        let context = if program.meets() { context.watched() } else { context };
        let devices = program.file().devices();
        let home = devices.queue_of(context.device_number());
        let anywhere = if devices.has_queues() || devices.has_streams() { NO_QUEUE } else { 0 };
        let execution = Execution { program, context, iteration, is_seeded, home, anywhere, values };
        let execution = Arc::new(execution);
        if let Err(error) = execution.reserve(plan.n_registers as usize, 0) {
            let error = Value::Error(error.into());
            results.extend(plan.results.iter().map(|_| error.clone()));
            arguments.clear();
            return None;
        }
        let mut new_frame = Frame::start(execution, plan.index(), arguments.drain(..), None, continuation);
        results.extend(
            new_frame.take_results_token().into_iter().flat_map(|token| token.results(new_frame.frame())),
        );
        Some(new_frame)
    }
}

impl FunctionSource for Program {
    fn table(&self, function: u32) -> &KernelTable {
        &self.plan(function).table
    }

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
        if !self.plan.accepts(arguments) || self.sequential.is_some() && are_final(arguments) {
            return self.call_into(arguments, results).map(|()| false);
        }
        let new_frame = self.start(arguments, Continuation::Wake(ended), results);
        let is_going = new_frame.is_some();
        new_frame.into_iter().for_each(|new_frame| {
            let going = new_frame.frame().execution.activity().cloned().map(Going::new);
            self.context.queue().add_task(Task::new(move || {
                worker::run(new_frame);
                drop(going);
            }));
        });
        Ok(is_going)
    }
}

impl std::fmt::Debug for PreparedCall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PreparedCall").field(&self.program.image().function(self.plan.index()).name()).finish()
    }
}

/// The error for arguments that do not fit, or for a function that cannot be called.
#[cold]
fn mismatch(program: &Program, plan: &FunctionPlan, arguments: &[Value]) -> KernelError {
    let view = program.image().function(plan.index());
    if plan.is_native {
        let message = format!("'{}' is native code: not supported yet", view.name());
        return KernelError::new(ErrorCode::Unimplemented, message);
    }
    let mismatches = arguments.iter().zip(&plan.arg_types).enumerate();
    let message = match mismatches.into_iter().find(|(_, (argument, ty))| !ty.accepts(argument)) {
        Some((i, (argument, _))) if arguments.len() == plan.arg_types.len() => {
            let (name, found, want) = (view.name(), argument.type_name(), view.arg_type(i as u32));
            format!("argument #{i} of '{name}' has type {found}, expected {want}")
        }
        _ => format!("'{}' takes {} arguments, got {}", view.name(), view.n_args(), arguments.len()),
    };
    KernelError::invalid(message)
}
