//! Operands that are not concrete, and requests that are not as declared.

use crate::program::FunctionPlan;
use befrost_kernel_api::error::{ErrorCode, KernelError};
use befrost_kernel_api::kernel::Call;
use befrost_kernel_api::value::Value;

/// What a kernel's results become when it cannot run because of its operands: dead before the first error.
#[derive(Default)]
pub(super) struct Instead(Option<Value>);

impl Instead {
    /// Looks at the next operand that must be concrete.
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

/// [`Instead`] of a number of operands.
pub(super) fn blocking<'v>(values: impl Iterator<Item = &'v Value>) -> Option<Value> {
    let mut instead = Instead::default();
    values.for_each(|value| instead.consider(value));
    instead.value()
}

/// The function that kernel number `kernel` of a plan asks for.
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

/// A kernel could not read an operand although none is an error or dead, or it did not set a result.
pub(super) fn operand_error() -> KernelError {
    KernelError::new(ErrorCode::Internal, "an operand is not of its declared type, or a result was not set")
}
