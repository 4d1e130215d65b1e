//! Arithmetic of sparse tensors: sums of entries, sums and products with dense tensors, the larger elements
//! of two, softmax, and numbers of occurrences.

use std::cmp::Ordering;
use std::sync::Arc;

use super::binary::{Binary, binary};
use super::index::{indices_of, slices_at};
use super::numeric::{AnyWide, Domain, Number};
use super::real::expect_float;
use super::segment::counted;
use super::sparse_arrays::SparseEntries;
use super::unary::cast;
use super::walk::{broadcast_shape, repeating, strides};
use crate::element::with_element;
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::{collected, filled, push};
use crate::{DType, HostTensor, Shape, TensorError, resolve_axis};

/// `SparseReduceSum` and `SparseReduceMax`: the dense sums, or the largest elements, of a sparse tensor along
/// axes. A result without entries is 0.
pub fn sparse_reduce(
    op: &'static str,
    is_max: bool,
    [indices, values]: [&HostTensor; 2],
    shape: &[i64],
    axes: &[i64],
    keep_dims: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let entries = SparseEntries::new(op, indices, Some(values), shape.len())?;
    let shape = Shape::from_i64(shape)?;
    let mut is_reduced = vec![false; shape.rank()];
    for &axis in axes {
        is_reduced[resolve_axis(&shape, axis)?] = true;
    }
    let kept = shape.dims().iter().zip(&is_reduced).filter(|(_, is_reduced)| !**is_reduced);
    let kept = Shape::new(&collected(kept.map(|(&dim, _)| dim))?)?;
    let with_ones = shape.dims().iter().zip(&is_reduced);
    let with_ones: Vec<usize> =
        with_ones.map(|(&dim, &is_reduced)| if is_reduced { 1 } else { dim }).collect();
    let result = if keep_dims { Shape::new(&with_ones)? } else { kept.clone() };
    let out = HostTensor::zeros(values.dtype(), result, allocator)?;
    // The positions are checked in the whole shape, and then taken without the reduced axes.
    entries.positions(op, &shape)?;
    let steps = strides(&kept);
    let place = |i: usize| {
        let along = entries.at(i).iter().zip(&is_reduced).filter(|(_, is_reduced)| !**is_reduced);
        along.zip(&steps).map(|((&along, _), &step)| along as usize * step).sum::<usize>()
    };
    with_element!(values.dtype(), T => {
        type Wide = <T as Number>::Wide;
        if is_max && !Wide::ORDERED {
            return Err(TensorError::Unsupported { op, dtype: values.dtype() });
        }
        let (from, mut to) = (values.read::<T>()?, out.write::<T>()?);
        let mut is_set = filled(if is_max { to.len() } else { 0 }, false)?;
        for (i, &x) in from.iter().enumerate() {
            let at = place(i);
            let old = to[at].widen();
            if !is_max {
                to[at] = T::narrow(old.plus(x.widen()));
            } else if !is_set[at] || old.order(x.widen()) == Some(Ordering::Less) {
                (to[at], is_set[at]) = (x, true);
            }
        }
    });
    Ok(out)
}

/// `SparseAdd`: the sum of two sparse tensors with sorted entries. An entry of both is dropped if its
/// absolute value is below the threshold.
pub fn sparse_add(
    [a_indices, a_values, b_indices, b_values]: [&HostTensor; 4],
    [a_shape, b_shape]: [&[i64]; 2],
    threshold: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 3], TensorError> {
    let op = "SparseAdd";
    if a_shape != b_shape {
        return invalid(op, format!("shapes {a_shape:?} and {b_shape:?} differ"));
    }
    b_values.expect_dtype("b_values", a_values.dtype())?;
    threshold.expect_shape("thresh", &Shape::scalar())?;
    let threshold = with_element!(threshold.dtype(), R => threshold.read::<R>()?[0].widen().any());
    let rank = a_shape.len();
    let a = SparseEntries::new(op, a_indices, Some(a_values), rank)?;
    let b = SparseEntries::new(op, b_indices, Some(b_values), rank)?;
    let mut numbers = Vec::new();
    let found = with_element!(a_values.dtype(), T => {
        let (x, y) = (a_values.read::<T>()?, b_values.read::<T>()?);
        let mut sums = Vec::new();
        each_of_both(&a, &b, |at| {
            let (sum, from) = match at {
                (Some(i), None) => (Some(x[i]), a.at(i)),
                (None, Some(j)) => (Some(y[j]), b.at(j)),
                (Some(i), Some(j)) => {
                    let sum = T::narrow(x[i].widen().plus(y[j].widen()));
                    (Some(sum).filter(|sum| reaches(sum.widen().any(), threshold)), a.at(i))
                }
                (None, None) => return Ok(()),
            };
            if let Some(sum) = sum {
                push(&mut sums, sum)?;
                from.iter().try_for_each(|&along| push(&mut numbers, along))?;
            }
            Ok(())
        })?;
        HostTensor::from_slice(Shape::new(&[sums.len()])?, &sums, allocator)?
    });
    let indices = Shape::new(&[found.num_elements(), rank])?;
    let shape = HostTensor::from_slice(Shape::new(&[rank])?, a_shape, allocator)?;
    Ok([HostTensor::from_slice(indices, &numbers, allocator)?, found, shape])
}

/// Calls `f` for each entry of two sparse tensors with sorted entries, in order, with its numbers in both.
fn each_of_both(
    a: &SparseEntries,
    b: &SparseEntries,
    mut f: impl FnMut((Option<usize>, Option<usize>)) -> Result<(), TensorError>,
) -> Result<(), TensorError> {
    let (mut i, mut j) = (0, 0);
    while i < a.n || j < b.n {
        let order = match (i < a.n, j < b.n) {
            (true, true) => a.at(i).cmp(b.at(j)),
            (true, false) => Ordering::Less,
            (false, _) => Ordering::Greater,
        };
        f(((order != Ordering::Greater).then_some(i), (order != Ordering::Less).then_some(j)))?;
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
    }
    Ok(())
}

/// `SparseSparseMaximum` and `SparseSparseMinimum`: the coordinates and values of the larger, or smaller,
/// elements of two sparse tensors of one shape with sorted entries. A tensor is 0 where it has no entry.
pub fn sparse_extreme(
    op: &'static str,
    by: Binary,
    [a_indices, a_values, b_indices, b_values]: [&HostTensor; 4],
    [a_shape, b_shape]: [&[i64]; 2],
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    if a_shape != b_shape || a_shape.is_empty() {
        return invalid(
            op,
            format!("shapes {a_shape:?} and {b_shape:?}, expected two that are equal and not empty"),
        );
    }
    b_values.expect_dtype("b_values", a_values.dtype())?;
    let rank = a_shape.len();
    let a = SparseEntries::new(op, a_indices, Some(a_values), rank)?;
    let b = SparseEntries::new(op, b_indices, Some(b_values), rank)?;
    a.expect_inside(op, a_shape)?;
    b.expect_inside(op, b_shape)?;
    let mut numbers = Vec::new();
    let [x, y] = with_element!(a_values.dtype(), T => {
        let (x, y) = (a_values.read::<T>()?, b_values.read::<T>()?);
        let (mut from_x, mut from_y) = (Vec::new(), Vec::new());
        let zero = T::narrow(<T as Number>::Wide::ZERO);
        each_of_both(&a, &b, |(i, j)| {
            push(&mut from_x, i.map_or(zero, |i| x[i]))?;
            push(&mut from_y, j.map_or(zero, |j| y[j]))?;
            let from = i.map(|i| a.at(i)).or(j.map(|j| b.at(j))).unwrap_or_default();
            from.iter().try_for_each(|&along| push(&mut numbers, along))
        })?;
        let shape = Shape::new(&[from_x.len()])?;
        [HostTensor::from_slice(shape.clone(), &from_x, allocator)?, HostTensor::from_slice(shape, &from_y, allocator)?]
    });
    let indices = Shape::new(&[x.num_elements(), rank])?;
    Ok([HostTensor::from_slice(indices, &numbers, allocator)?, binary(by, &x, &y, allocator)?])
}

/// `SparseSoftmax`: the softmax of the entries that differ in the last coordinate only. As in TensorFlow, the
/// results are those of the sorted entries.
pub fn sparse_softmax(
    [indices, values]: [&HostTensor; 2],
    rank: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "SparseSoftmax";
    if rank < 2 {
        return invalid(op, format!("a tensor of rank {rank}, expected 2 or more"));
    }
    expect_float(op, values)?;
    let entries = SparseEntries::new(op, indices, Some(values), rank)?;
    let order = entries.order()?;
    let wide = cast(values, DType::F64, allocator)?;
    let mut found = wide.read::<f64>().and_then(|from| collected(order.iter().map(|&i| from[i])))?;
    let mut rest = &mut found[..];
    for row in order.chunk_by(|&i, &j| entries.at(i)[..rank - 1] == entries.at(j)[..rank - 1]) {
        let (row, after) = std::mem::take(&mut rest).split_at_mut(row.len());
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        row.iter_mut().for_each(|x| *x = (*x - largest).exp());
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|x| *x /= sum);
        rest = after;
    }
    let found = HostTensor::from_slice(values.shape().clone(), &found, allocator)?;
    cast(&found, values.dtype(), allocator)
}

/// `SparseBincount`: the number of occurrences, or the sum of weights, of each small integer in a vector, or
/// in each row of a tensor. Negative integers are refused in a vector.
pub fn sparse_bincount(
    [indices, values]: [&HostTensor; 2],
    shape: &[i64],
    size: usize,
    weights: &HostTensor,
    is_binary: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "SparseBincount";
    let entries = SparseEntries::new(op, indices, Some(values), shape.len())?;
    entries.expect_inside(op, shape)?;
    let numbers = indices_of(op, values)?;
    let n_weights = weights.num_elements();
    if n_weights > 0 && n_weights != entries.n {
        return invalid(op, format!("{n_weights} weights of {} numbers", entries.n));
    }
    let rows = match *shape {
        [] => return invalid(op, "a scalar".to_owned()),
        [_] => None,
        [rows, ..] => Some(rows),
    };
    if let Some(number) = numbers.iter().find(|number| rows.is_none() && **number < 0) {
        return invalid(op, format!("{number} is negative"));
    }
    let size_dim = i64::try_from(size).map_err(|_| TensorError::TooLarge)?;
    let result = Shape::from_i64(&collected(rows.into_iter().chain([size_dim]))?)?;
    let out = HostTensor::zeros(weights.dtype(), result, allocator)?;
    if out.num_elements() > 0 {
        with_element!(weights.dtype(), T => {
            let (weights, mut to) = (weights.read::<T>()?, out.write::<T>()?);
            for (i, &number) in numbers.iter().enumerate() {
                let Some(number) = usize::try_from(number).ok().filter(|&number| number < size) else { continue };
                let row = if rows.is_some() { entries.at(i)[0] as usize } else { 0 };
                let to = &mut to[row * size + number];
                *to = counted(*to, weights.get(i), is_binary);
            }
        });
    }
    Ok(out)
}

/// True if the absolute value of a number is not below the threshold; false for NaN.
fn reaches(x: AnyWide, threshold: AnyWide) -> bool {
    match (x, threshold) {
        (AnyWide::Int(x), AnyWide::Int(threshold)) => threshold <= x.abs(),
        (AnyWide::Complex(x), threshold) => threshold.real() <= x.re.hypot(x.im),
        (x, threshold) => threshold.real() <= x.real().abs(),
    }
}

/// `SparseTensorDenseAdd`: the sum of a sparse and a dense tensor of one shape.
pub fn sparse_dense_add(
    [indices, values]: [&HostTensor; 2],
    shape: &[i64],
    dense: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "SparseTensorDenseAdd";
    values.expect_dtype("a_values", dense.dtype())?;
    let entries = SparseEntries::new(op, indices, Some(values), shape.len())?;
    dense.expect_shape("b", &Shape::from_i64(shape)?)?;
    let places = entries.positions(op, dense.shape())?;
    let out = dense.copied(allocator)?;
    with_element!(values.dtype(), T => {
        let (from, mut to) = (values.read::<T>()?, out.write::<T>()?);
        for (&place, &x) in places.iter().zip(from.iter()) {
            to[place] = T::narrow(to[place].widen().plus(x.widen()));
        }
    });
    Ok(out)
}

/// `SparseDenseCwiseAdd` ...: the function of each entry of a sparse tensor and the element at its place of a
/// dense tensor, which is broadcast to the sparse tensor's shape.
pub fn sparse_dense_cwise(
    op: &'static str,
    by: Binary,
    [indices, values]: [&HostTensor; 2],
    shape: &[i64],
    dense: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let entries = SparseEntries::new(op, indices, Some(values), shape.len())?;
    let shape = Shape::from_i64(shape)?;
    let (rank, own) = (shape.rank(), dense.shape().dims());
    if !broadcast_shape(dense.shape(), &shape).is_ok_and(|common| common == shape) {
        return invalid(op, format!("shape {} does not broadcast to {shape}", dense.shape()));
    }
    entries.positions(op, &shape)?;
    let steps = strides(dense.shape());
    let place = |i: usize| -> usize {
        let along = entries.at(i)[rank - own.len()..].iter().zip(own).zip(&steps);
        along.map(|((&along, &dim), &step)| repeating(dim, along as usize * step)).sum()
    };
    let places = collected((0..entries.n).map(place))?;
    let size = dense.dtype().size();
    let found =
        slices_at(dense.dtype(), values.shape().clone(), (&dense.read_bytes()?, size), &places, allocator)?;
    binary(by, values, &found, allocator)
}
