//! The executor: runs functions of a program.
//!
//! ```text
//! call ─▶ all arguments final and the function has a line?  ─yes─▶ line      straight-line code, one thread
//!                                                           └no──▶ frame, worker   ready counters, any number of threads
//! ```
//!
//! [`call`] is the door from outside. It runs what it can on the calling thread and waits for the rest; nothing inside ever waits.
//! The order of execution and the meaning of errors, dead values and cancellation are those of `semantics.md`.

pub(crate) mod calling;
mod frame;
mod line;
mod stack;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::Arc;

use bef_format::FunctionId;

use self::frame::{Frame, Then};
use crate::context::ExecContext;
use crate::error::{Error, ErrorCode, KernelError};
use crate::kernel::{Again, Call};
use crate::program::{FunctionPlan, KernelPlan, Program};
use crate::queue::{Latch, may_wait};
use crate::sync::{AtomicUsize, Ordering};
use crate::value::Value;

/// How many calls the trace of an error shows.
pub(crate) const MAX_TRACE: usize = 32;

/// What bounds the depth of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many calls may be active below one another.
    pub depth: usize,
    /// How many registers the active calls of one execution may have together; each is 16 bytes.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 1 << 20, values: 1 << 25 }
    }
}

impl Limits {
    /// Those of a function that a kernel calls by itself.
    pub(crate) fn inside(self) -> Limits {
        Limits { depth: self.depth.saturating_sub(1), ..self }
    }

    fn error(self) -> KernelError {
        let Limits { depth, values } = self;
        let message = format!(
            "calls nest too deeply: at most {depth} calls with {values} registers in all may be active"
        );
        KernelError::new(ErrorCode::ResourceExhausted, message)
    }
}

/// One call from outside that goes the general way, shared by all threads that work on it.
struct Execution {
    program: Arc<Program>,
    context: ExecContext,
    limits: Limits,
    /// Whether the queue chooses which ready kernel comes next.
    is_seeded: bool,
    /// How many registers the active frames have together.
    values: AtomicUsize,
}

impl Execution {
    /// Asks for the registers of a frame at `depth`.
    fn take(&self, n: usize, depth: usize) -> Result<(), KernelError> {
        // Relaxed: a count that guards no data.
        let before = self.values.fetch_add(n, Ordering::Relaxed);
        if depth < self.limits.depth && before.saturating_add(n) <= self.limits.values {
            return Ok(());
        }
        self.give_back(n);
        Err(self.limits.error())
    }

    /// What a line may take that a frame at `depth` runs.
    fn left(&self, depth: usize) -> Limits {
        let values = self.limits.values.saturating_sub(self.values.load(Ordering::Relaxed));
        Limits { depth: self.limits.depth.saturating_sub(depth + 1), values }
    }

    fn give_back(&self, n: usize) {
        self.values.fetch_sub(n, Ordering::Relaxed);
    }
}

/// Calls a function and waits until everything that it started has completed.
///
/// Arguments may be in any state; results are final, unless the function returns an argument that is not. An error result is the result of
/// what failed, not of this call.
///
/// # Errors
/// If the arguments do not fit the function's signature, or the function is not one that can be called.
pub fn call(
    program: &Arc<Program>,
    function: FunctionId,
    mut arguments: Vec<Value>,
    context: &ExecContext,
    limits: Limits,
) -> Result<Vec<Value>, KernelError> {
    let plan = find(program, function)?;
    let mut results = Vec::with_capacity(plan.results.len());
    call_plan((program, plan), &mut arguments, context, limits, &mut results)?;
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
    limits: Limits,
    results: &mut Vec<Value>,
) -> Result<(), KernelError> {
    let plan = find(program, function)?;
    call_plan((program, plan), arguments, context, limits, results)
}

#[inline]
fn find(program: &Arc<Program>, function: FunctionId) -> Result<&FunctionPlan, KernelError> {
    let unknown = || KernelError::new(ErrorCode::NotFound, format!("no function #{}", function.0));
    program.plans().get(function.0 as usize).ok_or_else(unknown)
}

#[inline]
fn call_plan(
    (program, plan): (&Arc<Program>, &FunctionPlan),
    arguments: &mut Vec<Value>,
    context: &ExecContext,
    limits: Limits,
    results: &mut Vec<Value>,
) -> Result<(), KernelError> {
    if !plan.accepts(arguments) {
        return Err(misfit(program, plan, arguments));
    }
    let is_seeded = context.queue().is_seeded();
    if plan.has_line && !is_seeded && arguments.iter().all(|value| value.final_value().is_some()) {
        let entry = (plan, Again::NEVER);
        let own = (context.limits != limits).then(|| ExecContext { limits, ..context.clone() });
        let context = own.as_ref().unwrap_or(context);
        line::run((program, context), entry, arguments.drain(..), limits, &Vec::new, results);
        return Ok(());
    }
    call_general(program, plan, arguments, (context, limits, is_seeded), results)
}

/// A call of a function that has something to wait for.
fn call_general(
    program: &Arc<Program>,
    plan: &FunctionPlan,
    arguments: &mut Vec<Value>,
    (context, limits, is_seeded): (&ExecContext, Limits, bool),
    results: &mut Vec<Value>,
) -> Result<(), KernelError> {
    may_wait()?;
    let values = AtomicUsize::new(0);
    let (program, context) = (program.clone(), ExecContext { limits, ..context.clone() });
    let execution = Arc::new(Execution { program, context, limits, is_seeded, values });
    if let Err(error) = execution.take(plan.n_registers as usize, 0) {
        let error = Value::Error(error.into());
        results.extend(plan.results.iter().map(|_| error.clone()));
        return Ok(());
    }
    let latch = Latch::new(1);
    let then = Then::Opens(latch.clone());
    let started = Frame::start(execution.clone(), plan.index, arguments.drain(..), None, then);
    // In any state so far.
    let first = results.len();
    results.extend(started.frame().results());
    let mut started = Some(started);
    execution.context.queue().wait_after(&latch, &mut || started.take().into_iter().for_each(worker::run));
    results[first..].iter_mut().for_each(|result| *result = resolved(std::mem::take(result)));
    Ok(())
}

/// Why a function cannot be called with these arguments.
#[cold]
fn misfit(program: &Program, plan: &FunctionPlan, arguments: &[Value]) -> KernelError {
    let view = program.image().function(plan.index);
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

/// What a kernel's results become when it cannot run because of its operands: dead before the first error.
#[derive(Default)]
struct Instead(Option<Value>);

impl Instead {
    /// Looks at the next operand that must be concrete.
    #[inline]
    fn consider(&mut self, operand: &Value) {
        if !operand.is_concrete() {
            self.consider_other(operand);
        }
    }

    #[cold]
    fn consider_other(&mut self, operand: &Value) {
        match (operand.final_value(), &self.0) {
            (Some(Value::Dead), _) => self.0 = Some(Value::Dead),
            (Some(Value::Error(error)), None) => self.0 = Some(Value::Error(error.clone())),
            _ => {}
        }
    }

    /// `None` if all operands are concrete.
    fn value(self) -> Option<Value> {
        self.0
    }
}

/// [`Instead`] of a number of operands.
fn blocking<'v>(values: impl Iterator<Item = &'v Value>) -> Option<Value> {
    let mut instead = Instead::default();
    values.for_each(|value| instead.consider(value));
    instead.value()
}

/// Replaces an AsyncValue that is final by its value.
#[inline]
fn resolve(value: &mut Value) {
    if let Value::Async(inner) = value
        && let Some(inner) = inner.value().cloned()
    {
        *value = inner;
    }
}

/// [`resolve`].
fn resolved(mut value: Value) -> Value {
    resolve(&mut value);
    value
}

/// What results become that a cancellation keeps from being computed.
fn cancelled(context: &ExecContext) -> Value {
    let error = context.request.cancellation.error().cloned();
    Value::Error(error.unwrap_or_else(|| Error::new(ErrorCode::Cancelled, "Cancelled", Vec::new())))
}

/// The function that a kernel asks for.
#[inline]
fn callee(call: Call, plan: &KernelPlan, lists: &[u32]) -> Result<u32, KernelError> {
    let function = plan.functions.of(lists).get(call.function as usize).copied().ok_or_else(|| {
        let message = format!("a kernel called its function #{}, which it does not have", call.function);
        KernelError::new(ErrorCode::Internal, message)
    })?;
    if plan.first_passed != Some(call.first_operand) {
        let message = "a kernel passed other operands to its function than it has declared";
        return Err(KernelError::new(ErrorCode::Internal, message));
    }
    Ok(function)
}

/// A kernel could not read an operand although none is an error or dead, or it did not set a result.
fn operand_error() -> KernelError {
    KernelError::new(ErrorCode::Internal, "an operand is not of its declared type, or a result was not set")
}
