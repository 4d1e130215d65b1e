//! Operands that are not concrete, and requests that differ from the kernel's declaration.

use crate::program::FunctionPlan;
use befrost_kernel_api::error::{ErrorCode, KernelError};
use befrost_kernel_api::kernel::Call;
use befrost_kernel_api::value::Value;

/// The value that replaces all results of a kernel whose operands prevent it from running. Dead takes
/// precedence over errors; among errors the first one counts.
#[derive(Default)]
pub(super) struct Blocked(Option<Value>);

impl Blocked {
    /// Takes the next operand that must be concrete into account.
    #[inline]
    pub(super) fn consider(&mut self, operand: &Value) {
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
    pub(super) fn value(self) -> Option<Value> {
        self.0
    }
}

/// [`Blocked`] applied to a sequence of operands.
pub(super) fn blocked_value<'v>(values: impl Iterator<Item = &'v Value>) -> Option<Value> {
    let mut blocked = Blocked::default();
    values.for_each(|value| blocked.consider(value));
    blocked.value()
}

/// The function that the request of kernel number `kernel` of a plan names.
#[inline]
pub(super) fn callee(call: Call, plan: &FunctionPlan, kernel: u32) -> Result<u32, KernelError> {
    let (table, kernel) = (&plan.table, kernel as usize);
    let functions = table.kernels[kernel].functions.of(&table.lists);
    let function = functions.get(call.function as usize).copied().ok_or_else(|| {
        let message = format!("a kernel called its function #{}, which it does not have", call.function);
        KernelError::new(ErrorCode::Internal, message)
    })?;
    if plan.kernels[kernel].first_passed != Some(call.first_operand) {
        let message = "a kernel passed other operands to its function than it has declared";
        return Err(KernelError::new(ErrorCode::Internal, message));
    }
    Ok(function)
}

/// The error of a kernel that could not read an operand although none is an error or dead, or that did not
/// set a result.
pub(super) fn operand_error() -> KernelError {
    KernelError::new(ErrorCode::Internal, "an operand is not of its declared type, or a result was not set")
}
