//! Values as operands and results of operators.

use befrost_host::kernel::{KernelFrame, Outcome, Returns, Signature};
use befrost_host::{ExecContext, KernelError, Value};
use befrost_tensor::{DType, HostTensor};
use smallvec::SmallVec;

use crate::objects::{Tensor, refused};

/// The results of an operator, of which a chain may follow.
pub(super) struct Results(pub(super) SmallVec<[Value; 2]>);

impl Returns for Results {
    fn declare(signature: &mut Signature) {
        signature.rest_results = Some(&[]);
        signature.stores_all = true;
    }

    fn store(self, frame: &mut KernelFrame<'_>) -> Outcome {
        let (n, wanted) = (self.0.len(), frame.n_results());
        if wanted != n && wanted != n + 1 {
            return Outcome::error(KernelError::invalid(format!("{n} results, used with {wanted}")));
        }
        self.0.into_iter().enumerate().for_each(|(i, value)| frame.set_result(i, value));
        if wanted > n {
            frame.set_result(n, Value::Chain);
        }
        Outcome::Done
    }
}

/// A value that must be a dense tensor.
pub(super) fn dense(value: &Value) -> Result<&HostTensor, KernelError> {
    value.downcast_ref::<Tensor>().map(|tensor| &tensor.0).ok_or_else(|| {
        KernelError::invalid(format!("expected a dense tensor, got a value of type {}", value.type_name()))
    })
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

/// The number in an operand that is an index or a count.
pub(super) fn int(value: &Value) -> Result<i64, KernelError> {
    match &ints(value)?[..] {
        &[int] => Ok(int),
        other => Err(KernelError::invalid(format!("{} numbers, expected one", other.len()))),
    }
}

/// The numbers in an operand of indices or sizes.
pub(super) fn ints(value: &Value) -> Result<Vec<i64>, KernelError> {
    let x = dense(value)?;
    match x.dtype() {
        DType::I32 => Ok(x.read::<i32>().map_err(refused)?.iter().map(|&i| i64::from(i)).collect()),
        DType::I64 => Ok(x.read::<i64>().map_err(refused)?.to_vec()),
        dtype => Err(KernelError::invalid(format!("indices are of type {dtype}, expected i32 or i64"))),
    }
}
