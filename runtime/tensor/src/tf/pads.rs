//! Padding with a constant or by reflection, and the gradient of the latter.

use std::sync::Arc;

use super::fast::Cx;
use super::numeric::{Domain, Number};
use super::walk::{AxisMap, OUTSIDE, Offsets, gather_offsets, strides};
use crate::element::with_element;
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::collected;
use crate::{HostTensor, Shape, TensorError};

/// The contents of the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PadMode<'a> {
    /// `Pad`, `PadV2`: this element, as its bytes; an empty slice means zeros.
    Constant(&'a [u8]),
    /// `MirrorPad` without repeating the border: `c b | a b c | b a`.
    Reflect,
    /// `MirrorPad` with the border repeated: `b a | a b c | c b`.
    Symmetric,
}

/// The padded shape, and the number of positions added before each axis.
fn padded(
    op: &'static str,
    shape: &Shape,
    paddings: &[(i64, i64)],
    mode: PadMode<'_>,
) -> Result<(Shape, Vec<usize>), TensorError> {
    let bad = || invalid(op, format!("paddings {paddings:?} do not fit shape {shape}"));
    if paddings.len() != shape.rank() {
        return bad();
    }
    let (mut dims, mut befores) = (Vec::with_capacity(paddings.len()), Vec::with_capacity(paddings.len()));
    for (&dim, &(before, after)) in shape.dims().iter().zip(paddings) {
        let (Ok(before), Ok(after)) = (usize::try_from(before), usize::try_from(after)) else {
            return bad();
        };
        let limit = match mode {
            PadMode::Constant(_) => usize::MAX,
            PadMode::Reflect => dim.saturating_sub(1),
            PadMode::Symmetric => dim,
        };
        if before > limit || after > limit {
            return bad();
        }
        dims.push(dim.checked_add(before).and_then(|n| n.checked_add(after)).ok_or(TensorError::TooLarge)?);
        befores.push(before);
    }
    Ok((Shape::new(&dims)?, befores))
}

/// The offset maps of a nonempty padded tensor.
fn sources(
    shape: &Shape,
    padded: &Shape,
    befores: &[usize],
    mode: PadMode<'_>,
) -> Result<Vec<AxisMap>, TensorError> {
    let axes = shape.dims().iter().zip(padded.dims()).zip(befores).zip(strides(shape));
    axes.map(|(((&dim, &len), &before), stride)| {
        if len == dim {
            return Ok(AxisMap::Step { len, start: 0, step: stride.cast_signed() });
        }
        let source = |i: usize| match (i.checked_sub(before), mode) {
            (Some(i), _) if i < dim => i * stride,
            (_, PadMode::Constant(_)) => OUTSIDE,
            (Some(i), PadMode::Reflect) => (2 * dim - 2 - i) * stride,
            (Some(i), PadMode::Symmetric) => (2 * dim - 1 - i) * stride,
            (None, PadMode::Reflect) => (before - i) * stride,
            (None, PadMode::Symmetric) => (before - i - 1) * stride,
        };
        Ok(AxisMap::Table(collected((0..len).map(source))?))
    })
    .collect()
}

/// `Pad`, `PadV2`, `MirrorPad`: `paddings` has the numbers of positions to add before and after each axis. A
/// reflection adds fewer than the length of the axis on a side, a symmetric padding at most the length.
pub fn pad(
    x: &HostTensor,
    paddings: &[(i64, i64)],
    mode: PadMode<'_>,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let zeros = [0u8; 16];
    let element = match mode {
        PadMode::Constant([]) => &zeros[..x.dtype().size()],
        PadMode::Constant(bytes) if bytes.len() == x.dtype().size() => bytes,
        PadMode::Constant(bytes) => {
            return Err(TensorError::BufferSize { want: x.dtype().size(), got: bytes.len() });
        }
        PadMode::Reflect | PadMode::Symmetric => &[],
    };
    let (shape, befores) = padded("Pad", x.shape(), paddings, mode)?;
    let maps = || sources(x.shape(), &shape, &befores, mode);
    gather_offsets(x, shape.clone(), element, &Cx::serial(allocator), maps)
}

/// `MirrorPadGrad`: the gradient by the unpadded tensor, from the gradient by the padded one. Every sum is
/// rounded to the dtype.
pub fn mirror_pad_grad(
    dy: &HostTensor,
    paddings: &[(i64, i64)],
    mode: PadMode<'_>,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "MirrorPadGrad";
    let inner = dy.shape().dims().iter().zip(paddings).map(|(&dim, &(before, after))| {
        dim.checked_sub(usize::try_from(before).ok()?)?.checked_sub(usize::try_from(after).ok()?)
    });
    let inner = inner.collect::<Option<Vec<usize>>>().filter(|_| paddings.len() == dy.shape().rank());
    let Some(inner) = inner.filter(|_| !matches!(mode, PadMode::Constant(_))) else {
        return invalid(op, format!("{mode:?} paddings {paddings:?} did not give shape {}", dy.shape()));
    };
    let shape = Shape::new(&inner)?;
    let (_, befores) = padded(op, &shape, paddings, mode)?;
    let out = HostTensor::zeros(dy.dtype(), shape.clone(), allocator)?;
    if dy.num_elements() > 0 {
        with_element!(dy.dtype(), T => {
            let (from, mut to) = (dy.read::<T>()?, out.write::<T>()?);
            for (dy, at) in from.iter().zip(Offsets::new(sources(&shape, dy.shape(), &befores, mode)?)) {
                to[at] = T::narrow(to[at].widen().plus(dy.widen()));
            }
        });
    }
    Ok(out)
}
