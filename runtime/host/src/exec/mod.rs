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
use crate::program::{KernelPlan, Program};
use crate::queue::{Latch, may_wait};
use crate::sync::{AtomicUsize, Ordering};
use crate::value::Value;

/// How many calls the trace of an error shows.
pub(crate) const MAX_TRACE: usize = 32;

/// What bounds the depth of calls.
#[derive(Clone, Copy, Debug)]
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
    arguments: Vec<Value>,
    context: &ExecContext,
    limits: Limits,
) -> Result<Vec<Value>, KernelError> {
    check_arguments(program, function, &arguments)?;
    let plan = program.plan(function.0);
    let is_seeded = context.queue().is_seeded();
    if plan.line.is_some() && !is_seeded && arguments.iter().all(|value| value.final_value().is_some()) {
        let mut results = Vec::with_capacity(plan.results.len());
        let entry = (function.0, Again::NEVER);
        line::run((program, context), entry, arguments.into_iter(), limits, &Vec::new, &mut results);
        return Ok(results);
    }
    may_wait()?;
    let values = AtomicUsize::new(0);
    let (program, context) = (program.clone(), context.clone());
    let execution = Arc::new(Execution { program, context, limits, is_seeded, values });
    if let Err(error) = execution.take(plan.n_registers as usize, 0) {
        let error = Value::Error(error.into());
        return Ok(plan.results.iter().map(|_| error.clone()).collect());
    }
    let latch = Latch::new(1);
    let then = Then::Opens(latch.clone());
    let started = Frame::start(execution.clone(), function.0, arguments.into_iter(), None, then);
    // In any state so far.
    let results: Vec<Value> = started.frame().results().collect();
    let mut started = Some(started);
    execution.context.queue().wait_after(&latch, &mut || started.take().into_iter().for_each(worker::run));
    Ok(results.into_iter().map(resolved).collect())
}

fn check_arguments(program: &Program, function: FunctionId, arguments: &[Value]) -> Result<(), KernelError> {
    let image = program.image();
    if function.0 >= image.n_functions() {
        return Err(KernelError::new(ErrorCode::NotFound, format!("no function #{}", function.0)));
    }
    let view = image.function(function.0);
    if view.kind() == bef_format::FunctionKind::Native {
        let message = format!("'{}' is native code: not supported yet", view.name());
        return Err(KernelError::new(ErrorCode::Unimplemented, message));
    }
    if view.n_args() as usize != arguments.len() {
        let message = format!("'{}' takes {} arguments, got {}", view.name(), view.n_args(), arguments.len());
        return Err(KernelError::invalid(message));
    }
    for (i, argument) in arguments.iter().enumerate() {
        let want = view.arg_type(i as u32);
        if argument.may_be(want) == Some(false) {
            let message = format!(
                "argument #{i} of '{}' has type {}, expected {want}",
                view.name(),
                argument.type_name()
            );
            return Err(KernelError::invalid(message));
        }
    }
    Ok(())
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
    plan.functions.of(lists).get(call.function as usize).copied().ok_or_else(|| {
        let message = format!("a kernel called its function #{}, which it does not have", call.function);
        KernelError::new(ErrorCode::Internal, message)
    })
}

/// A kernel could not read an operand although none is an error or dead, or it did not set a result.
fn operand_error() -> KernelError {
    KernelError::new(ErrorCode::Internal, "an operand is not of its declared type, or a result was not set")
}
