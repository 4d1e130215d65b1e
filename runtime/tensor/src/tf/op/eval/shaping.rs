//! Operators that forward a tensor, return its shape, or create a tensor from a shape.

use super::{int_in, ints_in, of, of_many, shape_in};
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{self, cast, rank_of, shape_of, size_of, where_true};
use crate::{DType, HostTensor, Shape, TensorError};

pub(in crate::tf::op) fn identity(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x], _| Ok(x.clone()))
}

pub(in crate::tf::op) fn identity_n(attrs: &Attributes<'_>) -> Made {
    of_many(attrs, 1, |xs, _| Ok(xs.iter().copied().cloned().collect::<Vec<_>>()))
}

pub(in crate::tf::op) fn ensure_shape(attrs: &Attributes<'_>) -> Made {
    let (op, shape) = (attrs.op(), attrs.shape("shape")?);
    of(attrs, move |[x], _| match shape.allows(x.shape()) {
        true => Ok(x.clone()),
        false => invalid(op, format!("shape {}, expected {shape}", x.shape())),
    })
}

pub(in crate::tf::op) fn constant(attrs: &Attributes<'_>) -> Made {
    let value = attrs.tensor("value")?;
    value.expect_dtype("value", attrs.dtype("dtype")?)?;
    of(attrs, move |[], _| Ok(value.clone()))
}

pub(in crate::tf::op) fn reshape(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, shape], _| tf::reshape(x, &ints_in("Reshape", "shape", shape)?))
}

pub(in crate::tf::op) fn expand_dims(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, axis], _| tf::expand_dims(x, int_in("ExpandDims", "dim", axis)?))
}

pub(in crate::tf::op) fn squeeze(attrs: &Attributes<'_>) -> Made {
    let axes = attrs.ints("squeeze_dims")?;
    of(attrs, move |[x], _| tf::squeeze(x, &axes))
}

pub(in crate::tf::op) fn shape(attrs: &Attributes<'_>) -> Made {
    let to = attrs.dtype("out_type")?;
    of(attrs, move |[x], m| shape_of(x, to, m))
}

pub(in crate::tf::op) fn shape_n(attrs: &Attributes<'_>) -> Made {
    let to = attrs.dtype("out_type")?;
    of_many(attrs, 1, move |xs, m| xs.iter().map(|x| shape_of(x, to, m)).collect::<Result<Vec<_>, _>>())
}

pub(in crate::tf::op) fn size(attrs: &Attributes<'_>) -> Made {
    let to = attrs.dtype("out_type")?;
    of(attrs, move |[x], m| size_of(x, to, m))
}

pub(in crate::tf::op) fn rank(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x], m| rank_of(x, m))
}

pub(in crate::tf::op) fn broadcast_to(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, shape], m| tf::broadcast_to(x, &shape_in("BroadcastTo", "shape", shape)?, m))
}

pub(in crate::tf::op) fn broadcast_args(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[a, b], m| {
        let (left, right) = (shape_in("BroadcastArgs", "s0", a)?, shape_in("BroadcastArgs", "s1", b)?);
        b.expect_dtype("s1", a.dtype())?;
        let dims: Vec<i64> = tf::broadcast_args(&left, &right)?.dims().iter().map(|&d| d as i64).collect();
        vector(&dims, a.dtype(), m)
    })
}

pub(in crate::tf::op) fn broadcast_gradient_args(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[a, b], m| {
        let op = "BroadcastGradientArgs";
        b.expect_dtype("s1", a.dtype())?;
        let [left, right] = tf::broadcast_gradient_args(&shape_in(op, "s0", a)?, &shape_in(op, "s1", b)?)?;
        Ok([vector(&left, a.dtype(), m)?, vector(&right, a.dtype(), m)?])
    })
}

pub(in crate::tf::op) fn invert_permutation(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x], m| tf::invert_permutation(x, m))
}

pub(in crate::tf::op) fn fill(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[dims, x], m| tf::fill(shape_in("Fill", "dims", dims)?, x, m))
}

pub(in crate::tf::op) fn range(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[start, limit, delta], m| tf::range(start, limit, delta, m))
}

pub(in crate::tf::op) fn lin_space(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[start, stop, n], m| tf::lin_space(start, stop, int_in("LinSpace", "num", n)?, m))
}

pub(in crate::tf::op) fn zeros_like(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x], m| tf::zeros_like(x, m))
}

pub(in crate::tf::op) fn ones_like(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x], m| tf::ones_like(x, m))
}

pub(in crate::tf::op) fn empty(attrs: &Attributes<'_>) -> Made {
    let dtype = attrs.dtype("dtype")?;
    of(attrs, move |[shape], m| HostTensor::zeros(dtype, shape_in("Empty", "shape", shape)?, m))
}

pub(in crate::tf::op) fn indices_of_true(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x], m| where_true(x, m))
}

/// A vector of integers of a dtype.
pub(super) fn vector(
    values: &[i64],
    dtype: DType,
    allocator: &std::sync::Arc<dyn crate::mem::Allocator>,
) -> Result<HostTensor, TensorError> {
    cast(&HostTensor::from_slice(Shape::new(&[values.len()])?, values, allocator)?, dtype, allocator)
}

/// For each shape, the start of its tensor in the concatenation: zeros but for the concatenated axis.
pub(in crate::tf::op) fn concat_offset(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    of_many(attrs, 2, move |inputs, m| {
        let Some((axis, shapes)) = inputs.split_first() else { return Ok(Vec::new()) };
        let axis = int_in(op, "concat_dim", axis)?;
        let mut offset = 0i64;
        let mut offsets = Vec::with_capacity(shapes.len());
        if let Some(odd) = shapes.iter().find(|x| x.shape().rank() != 1) {
            return invalid(op, format!("`shape` has shape {}, expected a vector", odd.shape()));
        }
        let first = ints_in(op, "shape", shapes[0])?;
        let rank = first.len() as i64;
        let at = if axis < 0 { axis.saturating_add(rank) } else { axis };
        for &x in shapes {
            let dims = ints_in(op, "shape", x)?;
            let fits = dims.len() == first.len()
                && (0..rank).all(|i| i == at || dims[i as usize] == first[i as usize])
                && (0..rank).contains(&at);
            let next = if fits { offset.checked_add(dims[at as usize]) } else { None };
            let Some(next) = next else {
                return invalid(
                    op,
                    format!("no concatenation of shapes {first:?} and {dims:?} along axis {axis}"),
                );
            };
            let mut start = vec![0; dims.len()];
            start[at as usize] = offset;
            offsets.push(vector(&start, x.dtype(), m)?);
            offset = next;
        }
        Ok(offsets)
    })
}
