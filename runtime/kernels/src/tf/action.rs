//! Operators on state and on objects. Attributes are decoded when a program is loaded; a call is a function
//! of values. Tensors that are lent to a program are copied before an action sees them, since it may keep
//! them in a variable, a list or a stack.
//!
//! ```text
//! tf.TensorListPushBack in a program ──load──▶ Action ──call──▶ values
//!            tables of lists, variables, updates, arrays, stacks: operator ──▶ ActionBuilder
//! ```
//!
//! The tables are here and not in the operators' rows, since actions work on values of the runtime, which the
//! tensor library does not know. The contract test compares them with the rows: one kernel for each.

use befrost_kernel_api::{ExecContext, KernelError, Value};
use befrost_tensor::scratch::collected;
use befrost_tensor::tf::op::{Attributes, Op};
use befrost_tensor::{DType, HostTensor, TensorError};
use smallvec::SmallVec;

use super::operands::dense;
use crate::objects::{Tensor, refused};
use crate::workers::run;

/// The implementation of an operator.
type ActionFn =
    Box<dyn Fn(&[&Value], &ExecContext) -> Result<SmallVec<[Value; 2]>, KernelError> + Send + Sync>;

/// Creates an action from the attributes.
pub(super) type ActionBuilder = fn(&Attributes<'_>) -> Result<Action, TensorError>;

/// An entry of a table: operators with the same constructor.
pub(super) type ActionRow = (&'static [Op], ActionBuilder);

/// An operator with decoded attributes.
pub(super) struct Action(ActionFn);

impl Action {
    /// Executes the operator.
    pub(super) fn call(
        &self,
        operands: &[&Value],
        cx: &ExecContext,
    ) -> Result<SmallVec<[Value; 2]>, KernelError> {
        if operands.iter().any(|value| is_lent(value)) {
            return self.call_kept(operands, cx);
        }
        (self.0)(operands, cx)
    }

    /// An action whose loops stop when the request is cancelled. Its results are dropped then, so it must not
    /// change state.
    pub(super) fn interruptible(self) -> Action {
        Action(Box::new(move |operands, cx| run(cx, cx.allocator(), |_| (self.0)(operands, cx))?))
    }

    /// [`Action::call`] with operands of which some are lent.
    #[cold]
    fn call_kept(&self, operands: &[&Value], cx: &ExecContext) -> Result<SmallVec<[Value; 2]>, KernelError> {
        let keep = |&value: &&Value| match value.downcast_ref::<Tensor>() {
            Some(Tensor(x)) => x.kept(cx.allocator()).map(tensor).map_err(refused),
            None => Ok(value.clone()),
        };
        let kept = operands.iter().map(keep).collect::<Result<SmallVec<[Value; 4]>, _>>()?;
        (self.0)(&kept.iter().collect::<SmallVec<[&Value; 4]>>(), cx)
    }
}

/// True for a tensor whose bytes are lent.
fn is_lent(value: &Value) -> bool {
    value.downcast_ref::<Tensor>().is_some_and(|tensor| tensor.0.is_lent())
}

/// An action with `N` operands.
pub(super) fn action<const N: usize, R: IntoIterator<Item = Value>>(
    attrs: &Attributes<'_>,
    f: impl Fn([&Value; N], &ExecContext) -> Result<R, KernelError> + Send + Sync + 'static,
) -> Result<Action, TensorError> {
    let op = attrs.op();
    Ok(Action(Box::new(move |operands, cx| match <[&Value; N]>::try_from(operands) {
        Ok(operands) => Ok(f(operands, cx)?.into_iter().collect()),
        Err(_) => Err(KernelError::invalid(format!("`{op}`: {} operands, expected {N}", operands.len()))),
    })))
}

/// An action with any number of operands.
pub(super) fn variadic_action<R: IntoIterator<Item = Value>>(
    f: impl Fn(&[&Value], &ExecContext) -> Result<R, KernelError> + Send + Sync + 'static,
) -> Result<Action, TensorError> {
    Ok(Action(Box::new(move |operands, cx| Ok(f(operands, cx)?.into_iter().collect()))))
}

/// A dense tensor as a value.
pub(super) fn tensor(x: HostTensor) -> Value {
    Value::object(Tensor(x))
}

/// A scalar as a value.
pub(super) fn scalar<T: befrost_tensor::Element>(x: T, cx: &ExecContext) -> Result<Value, KernelError> {
    let shape = befrost_tensor::Shape::scalar();
    HostTensor::from_slice(shape, &[x], cx.allocator()).map(tensor).map_err(refused)
}

/// The element of an operand that is an index or a count.
pub(super) fn int(value: &Value) -> Result<i64, KernelError> {
    match &ints(value)?[..] {
        &[int] => Ok(int),
        other => Err(KernelError::invalid(format!("{} numbers, expected one", other.len()))),
    }
}

/// The elements of an operand with indices or sizes.
pub(super) fn ints(value: &Value) -> Result<Vec<i64>, KernelError> {
    let x = dense(value)?;
    match x.dtype() {
        DType::I32 => {
            collected(x.read::<i32>().map_err(refused)?.iter().map(|&i| i64::from(i))).map_err(refused)
        }
        DType::I64 => x.to_vec().map_err(refused),
        dtype => Err(KernelError::invalid(format!("indices are of type {dtype}, expected i32 or i64"))),
    }
}
