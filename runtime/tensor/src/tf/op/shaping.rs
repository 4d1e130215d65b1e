//! Operators that pass a tensor on, ask for its shape, or make one of a shape.

use super::{Attributes, OwnedEval, Row, int_in, ints_in, of, of_many, shape_in};
use crate::error::invalid;
use crate::tf::{
    broadcast_args, broadcast_gradient_args, broadcast_to, cast, expand_dims, fill, invert_permutation,
    lin_space, ones_like, range, rank_of, reshape, shape_of, size_of, squeeze, where_true, zeros_like,
};
use crate::{DType, HostTensor, Shape, TensorError};

pub(super) const OPS: &[Row] = &[
    (&["Identity", "Snapshot", "StopGradient", "PreventGradient"], |attrs| of(attrs, |[x], _| Ok(x.clone()))),
    (&["IdentityN"], |attrs| of_many(attrs, 1, |xs, _| Ok(xs.iter().copied().cloned().collect::<Vec<_>>()))),
    (&["EnsureShape", "PlaceholderWithDefault"], |attrs| {
        let (op, shape) = (attrs.op(), attrs.shape("shape")?);
        of(attrs, move |[x], _| match shape.allows(x.shape()) {
            true => Ok(x.clone()),
            false => invalid(op, format!("shape {}, expected {shape}", x.shape())),
        })
    }),
    (&["Const", "HostConst"], |attrs| {
        let value = attrs.tensor("value")?;
        value.expect_dtype("value", attrs.dtype("dtype")?)?;
        of(attrs, move |[], _| Ok(value.clone()))
    }),
    (&["Reshape"], |attrs| of(attrs, |[x, shape], _| reshape(x, &ints_in("Reshape", "shape", shape)?))),
    (&["ExpandDims"], |attrs| of(attrs, |[x, axis], _| expand_dims(x, int_in("ExpandDims", "dim", axis)?))),
    (&["Squeeze"], |attrs| {
        let axes = attrs.ints("squeeze_dims")?;
        of(attrs, move |[x], _| squeeze(x, &axes))
    }),
    (&["Shape"], |attrs| {
        let to = attrs.dtype("out_type")?;
        of(attrs, move |[x], m| shape_of(x, to, m))
    }),
    (&["ShapeN"], |attrs| {
        let to = attrs.dtype("out_type")?;
        of_many(attrs, 1, move |xs, m| xs.iter().map(|x| shape_of(x, to, m)).collect::<Result<Vec<_>, _>>())
    }),
    (&["Size"], |attrs| {
        let to = attrs.dtype("out_type")?;
        of(attrs, move |[x], m| size_of(x, to, m))
    }),
    (&["Rank"], |attrs| of(attrs, |[x], m| rank_of(x, m))),
    (&["BroadcastTo"], |attrs| {
        of(attrs, |[x, shape], m| broadcast_to(x, &shape_in("BroadcastTo", "shape", shape)?, m))
    }),
    (&["BroadcastArgs"], |attrs| {
        of(attrs, |[a, b], m| {
            let (left, right) = (shape_in("BroadcastArgs", "s0", a)?, shape_in("BroadcastArgs", "s1", b)?);
            b.expect_dtype("s1", a.dtype())?;
            let dims: Vec<i64> = broadcast_args(&left, &right)?.dims().iter().map(|&d| d as i64).collect();
            vector(&dims, a.dtype(), m)
        })
    }),
    (&["BroadcastGradientArgs"], |attrs| {
        of(attrs, |[a, b], m| {
            let op = "BroadcastGradientArgs";
            b.expect_dtype("s1", a.dtype())?;
            let [left, right] = broadcast_gradient_args(&shape_in(op, "s0", a)?, &shape_in(op, "s1", b)?)?;
            Ok([vector(&left, a.dtype(), m)?, vector(&right, a.dtype(), m)?])
        })
    }),
    (&["InvertPermutation"], |attrs| of(attrs, |[x], m| invert_permutation(x, m))),
    (&["Fill"], |attrs| of(attrs, |[dims, x], m| fill(shape_in("Fill", "dims", dims)?, x, m))),
    (&["Range"], |attrs| of(attrs, |[start, limit, delta], m| range(start, limit, delta, m))),
    (&["LinSpace"], |attrs| {
        of(attrs, |[start, stop, n], m| lin_space(start, stop, int_in("LinSpace", "num", n)?, m))
    }),
    (&["ZerosLike"], |attrs| of(attrs, |[x], m| zeros_like(x, m))),
    (&["OnesLike"], |attrs| of(attrs, |[x], m| ones_like(x, m))),
    // Elements that TensorFlow leaves uninitialized are zeros, so that runs repeat.
    (&["Empty"], |attrs| {
        let dtype = attrs.dtype("dtype")?;
        of(attrs, move |[shape], m| HostTensor::zeros(dtype, shape_in("Empty", "shape", shape)?, m))
    }),
    (&["Where"], |attrs| of(attrs, |[x], m| where_true(x, m))),
    (&["ConcatOffset"], concat_offset),
];

/// Integers of a dtype.
pub(super) fn vector(
    values: &[i64],
    dtype: DType,
    allocator: &std::sync::Arc<dyn crate::mem::Allocator>,
) -> Result<HostTensor, TensorError> {
    cast(&HostTensor::from_slice(Shape::new(&[values.len()])?, values, allocator)?, dtype, allocator)
}

/// Where each of the tensors of these shapes begins in their concatenation.
fn concat_offset(attrs: &Attributes<'_>) -> Result<OwnedEval, TensorError> {
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
