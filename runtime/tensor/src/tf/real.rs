//! Conversion of float tensors to f64 tensors, in which reference operators compute before they round once.

use std::sync::Arc;

use super::unary::cast;
use crate::mem::Allocator;
use crate::{DType, HostTensor, Shape, TensorError};

/// Returns an error unless the elements are f16, bf16, f32 or f64.
pub(super) fn expect_float(op: &'static str, x: &HostTensor) -> Result<(), TensorError> {
    match x.dtype() {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Ok(()),
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// A copy of a float tensor in f64.
pub(super) fn reals(
    op: &'static str,
    x: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    expect_float(op, x)?;
    cast(x, DType::F64, allocator)
}

/// The value of a float tensor of one element.
pub(super) fn scalar(op: &'static str, what: &'static str, x: &HostTensor) -> Result<f64, TensorError> {
    x.expect_shape(what, &Shape::scalar())?;
    expect_float(op, x)?;
    let wide = cast(x, DType::F64, &crate::mem::Malloc::shared())?; // 8 bytes
    let elements = wide.read::<f64>()?;
    Ok(elements.first().copied().unwrap_or_default())
}
