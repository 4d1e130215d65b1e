//! Operands and results of `tf` kernels.

use befrost_kernel_api::kernel::{KernelFrame, Outcome, Returns, Signature};
use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::tf::AnyTensor;
use befrost_tensor::tf::op::{Attributes, Type};
use befrost_tensor::{HostTensor, TensorError};
use smallvec::SmallVec;

use crate::objects::{Strings, Tensor};

/// The results of an operator, optionally followed by a chain.
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

/// The dense tensor in a value.
pub(super) fn dense(value: &Value) -> Result<&HostTensor, KernelError> {
    value.downcast_ref::<Tensor>().map(|tensor| &tensor.0).ok_or_else(|| {
        KernelError::invalid(format!("expected a dense tensor, got a value of type {}", value.type_name()))
    })
}

/// The element type of [`any`] tensors that an attribute holds: a numeric type or string.
pub(super) fn any_type(attrs: &Attributes<'_>, name: &str) -> Result<Type, TensorError> {
    match attrs.ty(name)? {
        Type::String => Ok(Type::String),
        _ => attrs.dtype(name).map(Type::from),
    }
}

/// The tensor of numbers or strings in a value.
pub(super) fn any(value: &Value) -> Result<AnyTensor, KernelError> {
    match value.downcast_ref::<Strings>() {
        Some(strings) => Ok(strings.0.clone().into()),
        None => dense(value).map(|x| x.clone().into()),
    }
}

/// A tensor as a value.
pub(super) fn value(x: AnyTensor) -> Value {
    match x {
        AnyTensor::Numbers(x) => Value::object(Tensor(x)),
        AnyTensor::Strings(x) => Value::object(Strings(x)),
    }
}
