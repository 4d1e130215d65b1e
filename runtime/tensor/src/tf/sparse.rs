//! Sparse and ragged operands: coordinates with values, and rows of different lengths.

use std::sync::Arc;

use super::index::indices_of;
use super::numeric::{Domain, Number};
use super::walk::strides;
use crate::element::with_element;
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::{collected, copied, push, try_collected, with_room};
use crate::{DType, HostTensor, Shape, TensorError};

/// The positions of elements of a tensor, given their coordinates. If `is_checked`, positions that do not
/// increase are an error.
pub(super) fn positions(
    op: &'static str,
    coordinates: &[i64],
    shape: &Shape,
    is_checked: bool,
) -> Result<Vec<usize>, TensorError> {
    let (rank, strides) = (shape.rank().max(1), strides(shape));
    let mut found: Vec<usize> = with_room(coordinates.len() / rank)?;
    for (i, index) in coordinates.chunks_exact(rank).enumerate() {
        let mut at = 0;
        for ((&along, &dim), &stride) in index.iter().zip(shape.dims()).zip(&strides) {
            match usize::try_from(along) {
                Ok(along) if along < dim => at += along * stride,
                _ => {
                    return invalid(
                        op,
                        format!("indices[{i}] = {index:?} is out of bounds of shape {shape}"),
                    );
                }
            }
        }
        let last = found.last().filter(|_| is_checked);
        if last.is_some_and(|&last| last >= at) {
            let how = if last == Some(&at) { "is repeated" } else { "is out of order" };
            return invalid(op, format!("indices[{i}] = {index:?} {how}"));
        }
        found.push(at);
    }
    Ok(found)
}

/// `SparseToDense`: a tensor with `values` at `indices` and `default` elsewhere. The indices have shape
/// `[n, rank]`, `[n]` or `[]`; the values are `n` elements or a scalar. If `is_checked`, indices that are
/// repeated or out of order are an error.
pub fn sparse_to_dense(
    indices: &HostTensor,
    shape: Shape,
    values: &HostTensor,
    default: &HostTensor,
    is_checked: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "SparseToDense";
    default.expect_dtype("default_value", values.dtype())?;
    default.expect_shape("default_value", &Shape::scalar())?;
    let (n, rank) = match *indices.shape().dims() {
        [] => (1, 1),
        [n] => (n, 1),
        [n, rank] => (n, rank),
        _ => return invalid(op, format!("indices of shape {}, expected rank 2 or less", indices.shape())),
    };
    if rank != shape.rank() || rank == 0 {
        return invalid(op, format!("indices of shape {} for a tensor of shape {shape}", indices.shape()));
    }
    let is_scalar = match *values.shape().dims() {
        [] => true,
        [len] if len == n => false,
        _ => return invalid(op, format!("values of shape {} for {n} indices", values.shape())),
    };
    let coordinates = indices_of(op, indices)?;
    let places = positions(op, &coordinates, &shape, is_checked)?;
    let fill = copied(&default.read_bytes()?)?;
    let out = HostTensor::splat(values.dtype(), shape, &fill, allocator)?;
    {
        let (from, mut to) = (values.read_bytes()?, out.write_bytes()?);
        let size = fill.len();
        for (i, place) in places.into_iter().enumerate() {
            let at = if is_scalar { 0 } else { i * size };
            to[place * size..][..size].copy_from_slice(&from[at..][..size]);
        }
    }
    Ok(out)
}

/// `SparseTensorDenseMatMul`: the product of a matrix of `values` at `indices` `[n, 2]` and a dense matrix,
/// each of them conjugated and transposed if its flag is true.
pub fn sparse_dense_matmul(
    indices: &HostTensor,
    values: &HostTensor,
    shape: &[i64],
    b: &HostTensor,
    [is_adjoint_a, is_adjoint_b]: [bool; 2],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "SparseTensorDenseMatMul";
    b.expect_dtype("b", values.dtype())?;
    let shape = Shape::from_i64(shape)?;
    let (&[n, 2], &[count], &[rows, columns], &[b_rows, b_columns]) =
        (indices.shape().dims(), values.shape().dims(), shape.dims(), b.shape().dims())
    else {
        let (indices, values, b) = (indices.shape(), values.shape(), b.shape());
        let problem = format!(
            "indices of shape {indices}, values of shape {values}, a matrix of shape {shape} and one of shape {b}"
        );
        return invalid(op, problem);
    };
    let (rows, columns) = if is_adjoint_a { (columns, rows) } else { (rows, columns) };
    let (inner, width) = if is_adjoint_b { (b_columns, b_rows) } else { (b_rows, b_columns) };
    if columns != inner || n != count {
        let problem = format!("{n} indices, {count} values, and {columns} columns for {inner} rows");
        return invalid(op, problem);
    }
    let coordinates = indices_of(op, indices)?;
    let out = HostTensor::zeros(values.dtype(), Shape::new(&[rows, width])?, allocator)?;
    with_element!(values.dtype(), T => {
        type Wide = <T as Number>::Wide;
        let (values, b, mut out) = (values.read::<T>()?, b.read::<T>()?, out.write::<T>()?);
        for (index, &value) in coordinates.chunks_exact(2).zip(values.iter()) {
            let (i, k) = if is_adjoint_a { (index[1], index[0]) } else { (index[0], index[1]) };
            let place = |index: i64, limit: usize| usize::try_from(index).ok().filter(|&at| at < limit);
            let (Some(i), Some(k)) = (place(i, rows), place(k, columns)) else {
                return invalid(op, format!("index {index:?} is out of bounds of shape {shape}"));
            };
            let value = if is_adjoint_a { value.widen().conjugated() } else { value.widen() };
            for (j, out) in out[i * width..][..width].iter_mut().enumerate() {
                let other: Wide = match is_adjoint_b {
                    true => b[j * b_columns + k].widen().conjugated(),
                    false => b[k * b_columns + j].widen(),
                };
                *out = T::narrow(out.widen().plus(value.times(other)));
            }
        }
    });
    Ok(out)
}

/// The row splits of a ragged tensor, which ascend from 0.
pub(super) fn splits_of(op: &'static str, splits: &HostTensor) -> Result<Vec<usize>, TensorError> {
    let found = indices_of(op, splits)?;
    let refused = |at: &i64| invalid(op, format!("a row split is {at}"));
    let ends = try_collected(found.iter().map(|at| usize::try_from(*at).or_else(|_| refused(at))));
    match ends {
        Err(error @ TensorError::Alloc(_)) => Err(error),
        Ok(ends) if splits.shape().rank() == 1 && ends.first() == Some(&0) && ends.is_sorted() => Ok(ends),
        _ => invalid(op, format!("row splits of shape {} must ascend from 0", splits.shape())),
    }
}

/// `RaggedGather`: rows of a ragged tensor by index. The results are the row splits of the inner axes of the
/// indices, the row splits of the gathered rows, and the values. A scalar index gathers one row itself.
pub fn ragged_gather(
    splits: &[&HostTensor],
    values: &HostTensor,
    indices: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<Vec<HostTensor>, TensorError> {
    let op = "RaggedGather";
    let Some(first) = splits.first() else { return invalid(op, "no row splits".to_owned()) };
    let dtype = first.dtype();
    let mut given = Vec::with_capacity(splits.len());
    for x in splits {
        x.expect_dtype("params_nested_splits", dtype)?;
        given.push(splits_of(op, x)?);
    }
    let Some(&n_values) = values.shape().dims().first() else {
        return invalid(op, "params.rank must be nonzero".to_owned());
    };
    for (i, ends) in given.iter().enumerate() {
        let inner = given.get(i + 1).map_or(n_values, |next| next.len() - 1);
        if ends.last().is_some_and(|&end| end > inner) {
            return invalid(op, format!("row splits {i} end behind the {inner} rows that there are"));
        }
    }
    // The gathered rows as ranges of rows of the current level.
    let n_rows = given[0].len() - 1;
    let mut rows = Vec::new();
    for (i, &index) in indices_of(op, indices)?.iter().enumerate() {
        match usize::try_from(index).ok().filter(|&row| row < n_rows) {
            Some(row) => push(&mut rows, row..row + 1)?,
            None => return invalid(op, format!("indices[{i}] = {index} is not in [0, {n_rows})")),
        }
    }
    // A single row is no row of rows: its splits are left out.
    let is_row = indices.shape().rank() == 0;
    let mut results = Vec::new();
    // The inner axes of the indices have rows of equal lengths.
    for pair in indices.shape().dims().windows(2).enumerate() {
        let (axis, &[_, length]) = pair else { continue };
        let n: usize = indices.shape().dims()[..=axis].iter().product();
        let last = n.checked_mul(length).ok_or(TensorError::TooLarge)?;
        results.push(ends_tensor((n, last), (0..=n).map(|i| i * length), dtype, allocator)?);
    }
    for (level, ends) in given.iter().enumerate() {
        let sum = |sum: usize, len: usize| sum.checked_add(len).ok_or(TensorError::TooLarge);
        let inner = collected(rows.iter().map(|range| ends[range.start]..ends[range.end]))?;
        let n = rows.iter().try_fold(0, |n, range| sum(n, range.len()))?;
        let last = inner.iter().try_fold(0, |n, range| sum(n, range.len()))?;
        let mut total = 0;
        let lengths = rows.iter().flat_map(|range| range.clone().map(|row| ends[row + 1] - ends[row]));
        let new_ends = lengths.map(|length| {
            total += length; // at most the last one
            total
        });
        if level > 0 || !is_row {
            results.push(ends_tensor((n, last), std::iter::once(0).chain(new_ends), dtype, allocator)?);
        }
        rows = inner;
    }
    let n =
        rows.iter().try_fold(0usize, |n, range| n.checked_add(range.len())).ok_or(TensorError::TooLarge)?;
    let shape = Shape::new(&[&[n], &values.shape().dims()[1..]].concat())?;
    let out = HostTensor::allocate(values.dtype(), shape, allocator)?;
    if out.num_elements() > 0 {
        let (from, mut to) = (values.read_bytes()?, out.write_bytes()?);
        let size = from.len() / n_values;
        let mut at = 0;
        for range in rows {
            let part = &from[range.start * size..range.end * size];
            to[at..][..part.len()].copy_from_slice(part);
            at += part.len();
        }
    }
    results.push(out);
    Ok(results)
}

/// The row splits of `n` rows, the last of which is `last`, as a tensor of i32 or i64.
fn ends_tensor(
    (n, last): (usize, usize),
    ends: impl Iterator<Item = usize>,
    dtype: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let shape = Shape::new(&[n.checked_add(1).ok_or(TensorError::TooLarge)?])?;
    let out = HostTensor::allocate(dtype, shape, allocator)?;
    if dtype == DType::I64 {
        out.write::<i64>()?.iter_mut().zip(ends).for_each(|(to, end)| *to = end as i64);
    } else if i32::try_from(last).is_ok() {
        out.write::<i32>()?.iter_mut().zip(ends).for_each(|(to, end)| *to = end as i32);
    } else {
        return Err(TensorError::IndexRange { n: last });
    }
    Ok(out)
}
