//! The executor: runs functions of a program.
//!
//! ```text
//! call ─▶ all arguments final and the function has a line?  ─yes─▶ line      straight-line code, one thread
//!                                                           └no──▶ frame, worker   ready counters, any number of threads; in it straight
//!                                                                                  lines: runs of kernels that need no counters
//! ```
//!
//! [`call`] is the door from outside, [`PreparedCall`] one for many calls of one function. It runs what it can on the calling thread and waits for the rest; nothing inside ever waits.
//! The order of execution and the meaning of errors, dead values and cancellation are those of `semantics.md`.

pub(crate) mod calling;
mod frame;
mod line;
mod prepared;
mod stack;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::Arc;

pub use self::prepared::{PreparedCall, call, call_into};
use crate::context::{ExecContext, Limits};
use crate::error::{Error, ErrorCode, KernelError};
use crate::kernel::Call;
use crate::program::{KernelPlan, Program};
use crate::sync::{AtomicUsize, Ordering};
use crate::value::Value;

/// One call from outside that goes the general way, shared by all threads that work on it.
struct Execution {
    program: Arc<Program>,
    context: ExecContext,
    /// The iteration of its first frame.
    iteration: u64,
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
        if depth < self.context.limits.depth && before.saturating_add(n) <= self.context.limits.values {
            return Ok(());
        }
        self.give_back(n);
        Err(self.context.limits.error())
    }

    /// What a line may take that a frame at `depth` runs.
    fn left(&self, depth: usize) -> Limits {
        let limits = self.context.limits;
        let values = limits.values.saturating_sub(self.values.load(Ordering::Relaxed));
        Limits { depth: limits.depth.saturating_sub(depth + 1), values }
    }

    fn give_back(&self, n: usize) {
        self.values.fetch_sub(n, Ordering::Relaxed);
    }
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
