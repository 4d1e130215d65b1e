//! Helpers of kernels in destination-passing style, mostly on images.

use bef_format::{AttrView, DType as FileDType};
use befrost_kernel_api::kernel::{Cursor, KernelFrame, Outcome, Param, RawAttr, Signature};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{ExecContext, KernelError};
use befrost_tensor::tf::fast::Cx;
use befrost_tensor::tf::{ImageFormat, Padding, Pool2dAttrs};
use befrost_tensor::{Element, HostTensor, TensorError, ops};

use crate::objects::{Tensor, refused};
use crate::workers;

/// The next `N` operands, all dense tensors.
pub(crate) struct Tensors<'f, const N: usize>(pub(crate) [&'f Tensor; N]);

impl<const N: usize> Param for Tensors<'_, N> {
    type Item<'f> = Tensors<'f, N>;
    fn declare(signature: &mut Signature) {
        signature.operands.extend([Tensor::TYPES; N]);
    }
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<Tensors<'f, N>, Outcome> {
        let next = |_| cursor.next_operand(frame)?.downcast_ref();
        let tensors: Option<Vec<&Tensor>> = (0..N).map(next).collect();
        tensors.and_then(|tensors| tensors.try_into().ok()).map(Tensors).ok_or(Outcome::Operand)
    }
}

/// Runs a computation on all workers of the queue.
pub(crate) fn compute<R>(
    cx: &ExecContext,
    f: impl FnOnce(&Cx<'_>) -> Result<R, TensorError>,
) -> Result<R, KernelError> {
    workers::compute(cx, cx.allocator(), f)
}

/// Runs a computation on all workers of the queue, and writes the result to `out`.
pub(crate) fn compute_into(
    cx: &ExecContext,
    out: &Tensor,
    f: impl FnOnce(&Cx<'_>) -> Result<HostTensor, TensorError>,
) -> Result<(), KernelError> {
    compute(cx, f).and_then(|result| ops::copy(&result, out).map_err(refused))
}

/// Error unless all tensors have the element type `T`.
pub(crate) fn typed<T: Element>(tensors: &[&Tensor]) -> Result<(), TensorError> {
    tensors.iter().try_for_each(|tensor| tensor.expect_dtype("operand", T::DTYPE))
}

/// A padding by name.
pub(crate) fn padding(name: &str) -> Result<Padding, KernelError> {
    match name {
        "same" => Ok(Padding::Same),
        "valid" => Ok(Padding::Valid),
        other => Err(KernelError::invalid(format!("'{other}' is no padding"))),
    }
}

/// Pooling windows with this size, strides and padding.
pub(crate) fn windows(
    name: &str,
    window: &RawAttr<'_>,
    strides: &RawAttr<'_>,
) -> Result<Pool2dAttrs, KernelError> {
    let padding = padding(name)?;
    Ok(Pool2dAttrs { window: pair(window)?, strides: pair(strides)?, padding, format: ImageFormat::Nhwc })
}

/// The values for height and width of an attribute.
pub(crate) fn pair(attr: &RawAttr<'_>) -> Result<(usize, usize), KernelError> {
    if let AttrView::Scalars { dtype, bytes, .. } = attr.view {
        match (dtype, bytes.as_chunks().0, bytes.as_chunks().0) {
            (FileDType::UI32 | FileDType::I32, [a, b], _) => {
                return Ok((u32::from_le_bytes(*a) as usize, u32::from_le_bytes(*b) as usize));
            }
            (FileDType::UI64 | FileDType::I64, _, [a, b]) => {
                return Ok((u64::from_le_bytes(*a) as usize, u64::from_le_bytes(*b) as usize));
            }
            _ => {}
        }
    }
    Err(KernelError::invalid(format!("expected two integers, for height and width, got {:?}", attr.view)))
}
