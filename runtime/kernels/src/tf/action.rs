//! Operators on things with state and on objects: functions of values, made of the operator's attributes.

use befrost_host::{ExecContext, KernelError, Value};
use befrost_tensor::TensorError;
use befrost_tensor::tf::op::Attributes;
use smallvec::SmallVec;

/// What an operator does with its operands.
type Run = Box<dyn Fn(&[&Value], &ExecContext) -> Result<SmallVec<[Value; 2]>, KernelError> + Send + Sync>;

/// How that is made of its attributes.
pub(super) type Make = fn(&Attributes<'_>) -> Result<Action, TensorError>;

/// Rows of a table: names that are made alike.
pub(super) type Row = (&'static [&'static str], Make);

/// An operator with its attributes.
pub(super) struct Action(Run);

impl Action {
    /// Calls it.
    pub(super) fn call(
        &self,
        operands: &[&Value],
        cx: &ExecContext,
    ) -> Result<SmallVec<[Value; 2]>, KernelError> {
        (self.0)(operands, cx)
    }
}

/// A function of `N` operands.
pub(super) fn of<const N: usize, R: IntoIterator<Item = Value>>(
    attrs: &Attributes<'_>,
    f: impl Fn([&Value; N], &ExecContext) -> Result<R, KernelError> + Send + Sync + 'static,
) -> Result<Action, TensorError> {
    let op = attrs.op();
    Ok(Action(Box::new(move |operands, cx| match <[&Value; N]>::try_from(operands) {
        Ok(operands) => Ok(f(operands, cx)?.into_iter().collect()),
        Err(_) => Err(KernelError::invalid(format!("`{op}`: {} operands, expected {N}", operands.len()))),
    })))
}

/// A function of all operands.
pub(super) fn of_all<R: IntoIterator<Item = Value>>(
    f: impl Fn(&[&Value], &ExecContext) -> Result<R, KernelError> + Send + Sync + 'static,
) -> Result<Action, TensorError> {
    Ok(Action(Box::new(move |operands, cx| Ok(f(operands, cx)?.into_iter().collect()))))
}
