//! Shape operators: reshaping without copies, sizes as tensors, and broadcasting of shapes.

use std::sync::Arc;

use super::index::indices_of;
use super::unary::cast;
use super::walk::broadcast_shape;
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::filled;
use crate::{DType, HostTensor, Shape, TensorError, resolve_axis};

/// A mask of axes, each of which must be listed once.
pub(super) fn axis_set(op: &'static str, shape: &Shape, axes: &[i64]) -> Result<Vec<bool>, TensorError> {
    let mut set = vec![false; shape.rank()];
    for &axis in axes {
        let at = resolve_axis(shape, axis)?;
        if std::mem::replace(&mut set[at], true) {
            return invalid(op, format!("axis {axis} of shape {shape} is named twice in {axes:?}"));
        }
    }
    Ok(set)
}

/// A permutation of all axes.
pub(super) fn permutation(op: &'static str, shape: &Shape, perm: &[i64]) -> Result<Vec<usize>, TensorError> {
    if axis_set(op, shape, perm)?.contains(&false) {
        return invalid(op, format!("{perm:?} is no permutation of the axes of shape {shape}"));
    }
    perm.iter().map(|&axis| resolve_axis(shape, axis)).collect()
}

/// `Reshape`: the same elements in another shape, in which one dimension may be -1. The bytes are shared.
pub fn reshape(x: &HostTensor, dims: &[i64]) -> Result<HostTensor, TensorError> {
    let mut known: Vec<i64> = dims.to_vec();
    if let Some(free) = dims.iter().position(|&d| d == -1) {
        known[free] = 1;
        let rest = Shape::from_i64(&known)?.num_elements();
        let n = x.num_elements();
        if rest == 0 || !n.is_multiple_of(rest) {
            return invalid(
                "Reshape",
                format!("shape {} with {n} elements cannot become {dims:?}", x.shape()),
            );
        }
        known[free] = (n / rest) as i64;
    }
    let shape = Shape::from_i64(&known)?;
    if shape.num_elements() != x.num_elements() {
        return invalid(
            "Reshape",
            format!("shape {} with {} elements cannot become {dims:?}", x.shape(), x.num_elements()),
        );
    }
    x.reshaped(shape)
}

/// `ExpandDims`: the tensor with a new axis of length 1 at position `axis`, in `-rank - 1..=rank`. The bytes
/// are shared.
pub fn expand_dims(x: &HostTensor, axis: i64) -> Result<HostTensor, TensorError> {
    let rank = x.shape().rank() as i64;
    let at = if axis < 0 { axis.saturating_add(rank + 1) } else { axis };
    if !(0..=rank).contains(&at) {
        return Err(TensorError::Axis { axis, shape: x.shape().clone() });
    }
    let mut dims = x.shape().dims().to_vec();
    dims.insert(at as usize, 1);
    x.reshaped(Shape::new(&dims)?)
}

/// `Squeeze`: the tensor without the listed axes, which must have length 1. If none is listed, all axes of
/// length 1 are removed. The bytes are shared.
pub fn squeeze(x: &HostTensor, axes: &[i64]) -> Result<HostTensor, TensorError> {
    let set = axis_set("Squeeze", x.shape(), axes)?;
    let dims = x.shape().dims();
    if let Some(at) = (0..dims.len()).find(|&i| set[i] && dims[i] != 1) {
        return invalid("Squeeze", format!("axis {at} of shape {} is not 1 long", x.shape()));
    }
    let kept: Vec<usize> = dims
        .iter()
        .zip(&set)
        .filter(|&(&dim, &named)| if axes.is_empty() { dim != 1 } else { !named })
        .map(|(&dim, _)| dim)
        .collect();
    x.reshaped(Shape::new(&kept)?)
}

/// `Shape`: the dimensions as i32 or i64. Fails for i32 if a dimension does not fit.
pub fn shape_of(
    x: &HostTensor,
    to: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    shape_as(x.shape(), to, allocator)
}

/// A shape as a vector of i32 or i64.
pub fn shape_as(shape: &Shape, to: DType, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let dims = shape.dims();
    if let (DType::I32, Some(&n)) = (to, dims.iter().find(|&&dim| i32::try_from(dim).is_err())) {
        return Err(TensorError::IndexRange { n });
    }
    if !matches!(to, DType::I32 | DType::I64) {
        return Err(TensorError::Unsupported { op: "Shape", dtype: to });
    }
    let dims: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
    cast(&HostTensor::from_slice(Shape::new(&[dims.len()])?, &dims, allocator)?, to, allocator)
}

/// A scalar of i32 or i64.
fn count(
    op: &'static str,
    n: usize,
    to: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    match to {
        DType::I32 if i32::try_from(n).is_err() => Err(TensorError::IndexRange { n }),
        DType::I32 | DType::I64 => {
            cast(&HostTensor::from_slice(Shape::scalar(), &[n as i64], allocator)?, to, allocator)
        }
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// `Size`: the number of elements, as i32 or i64. Fails for i32 if the number does not fit.
pub fn size_of(x: &HostTensor, to: DType, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    count("Size", x.num_elements(), to, allocator)
}

/// `Rank`: the number of dimensions, as i32.
pub fn rank_of(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    count("Rank", x.shape().rank(), DType::I32, allocator)
}

/// A shape given as a vector of i32 or i64.
pub fn shape_from(op: &'static str, x: &HostTensor) -> Result<Shape, TensorError> {
    if x.shape().rank() != 1 {
        return Err(TensorError::Rank { what: "shape", want: 1, got: x.shape().clone() });
    }
    Shape::from_i64(&indices_of(op, x)?)
}

/// `BroadcastArgs`: the shape that two shapes broadcast to.
pub fn broadcast_args(a: &Shape, b: &Shape) -> Result<Shape, TensorError> {
    broadcast_shape(a, b)
}

/// `BroadcastGradientArgs`: the axes over which a gradient of the broadcast shape is summed for each operand.
/// An axis of length 1 in both is summed for both, unless the shapes are equal: then nothing is summed.
pub fn broadcast_gradient_args(a: &Shape, b: &Shape) -> Result<[Vec<i64>; 2], TensorError> {
    let rank = broadcast_shape(a, b)?.rank();
    if a == b {
        return Ok([Vec::new(), Vec::new()]);
    }
    let repeated = |x: &Shape| {
        let missing = rank - x.rank();
        (0..rank)
            .filter(|&i| i.checked_sub(missing).is_none_or(|i| x.dims()[i] == 1))
            .map(|i| i as i64)
            .collect()
    };
    Ok([repeated(a), repeated(b)])
}

/// `InvertPermutation` of a vector of i32 or i64 that contains each number below its length once.
pub fn invert_permutation(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let op = "InvertPermutation";
    let &[n] = x.shape().dims() else {
        return Err(TensorError::Rank { what: "x", want: 1, got: x.shape().clone() });
    };
    let mut inverse = filled(n, -1i64)?;
    for (i, p) in super::index::positions(op, x, n, x.shape())?.into_iter().enumerate() {
        if std::mem::replace(&mut inverse[p], i as i64) != -1 {
            return invalid(op, format!("{p} occurs twice in a permutation of shape {}", x.shape()));
        }
    }
    cast(&HostTensor::from_slice(x.shape().clone(), &inverse, allocator)?, x.dtype(), allocator)
}
