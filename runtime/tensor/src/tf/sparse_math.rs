//! Arithmetic of sparse tensors: sums of entries, and sums and products with dense tensors.

use std::cmp::Ordering;
use std::sync::Arc;

use super::binary::{Binary, binary};
use super::index::slices_at;
use super::numeric::{AnyWide, Domain, Number};
use super::sparse_arrays::SparseEntries;
use super::walk::{broadcast_shape, repeating, strides};
use crate::element::with_element;
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::{collected, filled, push};
use crate::{HostTensor, Shape, TensorError, resolve_axis};

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
        let (mut sums, mut i, mut j) = (Vec::new(), 0, 0);
        while i < a.n || j < b.n {
            let order = match (i < a.n, j < b.n) {
                (true, true) => a.at(i).cmp(b.at(j)),
                (true, false) => Ordering::Less,
                (false, _) => Ordering::Greater,
            };
            let (sum, from) = match order {
                Ordering::Less => (Some(x[i]), a.at(i)),
                Ordering::Greater => (Some(y[j]), b.at(j)),
                Ordering::Equal => {
                    let sum = T::narrow(x[i].widen().plus(y[j].widen()));
                    (Some(sum).filter(|sum| reaches(sum.widen().any(), threshold)), a.at(i))
                }
            };
            if let Some(sum) = sum {
                push(&mut sums, sum)?;
                from.iter().try_for_each(|&along| push(&mut numbers, along))?;
            }
            i += usize::from(order != Ordering::Greater);
            j += usize::from(order != Ordering::Less);
        }
        HostTensor::from_slice(Shape::new(&[sums.len()])?, &sums, allocator)?
    });
    let indices = Shape::new(&[found.num_elements(), rank])?;
    let shape = HostTensor::from_slice(Shape::new(&[rank])?, a_shape, allocator)?;
    Ok([HostTensor::from_slice(indices, &numbers, allocator)?, found, shape])
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
