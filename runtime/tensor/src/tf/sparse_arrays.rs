//! Sparse tensors whose entries are moved: sorted, cut, joined, reshaped, with entries for empty rows.
//!
//! A sparse tensor is a matrix of coordinates `[n, rank]`, a vector of `n` values and a shape. Entries need
//! not be sorted, except where a function says so.

use std::cmp::Ordering;
use std::sync::Arc;

use super::index::{self, indices_of, slices_at};
use super::joins::concat;
use super::reduce::{Reduce, reduce};
use super::sparse::positions;
use super::walk::strides;
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::{collected, filled, push, with_room};
use crate::sort::sorted_positions;
use crate::{DType, HostTensor, I1, Shape, TensorError};

/// The coordinates of the entries of a sparse tensor.
pub(super) struct SparseEntries {
    pub(super) n: usize,
    pub(super) rank: usize,
    numbers: Vec<i64>,
}

impl SparseEntries {
    /// The coordinates of `values`, for a shape of `rank` sizes.
    pub(super) fn new(
        op: &'static str,
        indices: &HostTensor,
        values: Option<&HostTensor>,
        rank: usize,
    ) -> Result<SparseEntries, TensorError> {
        let &[n, given] = indices.shape().dims() else {
            return invalid(op, format!("indices of shape {}, expected a matrix", indices.shape()));
        };
        if given != rank {
            return invalid(op, format!("indices of shape {} for a shape of {rank} sizes", indices.shape()));
        }
        if let Some(values) = values.filter(|values| *values.shape().dims() != [n]) {
            return invalid(op, format!("values of shape {} for {n} indices", values.shape()));
        }
        Ok(SparseEntries { n, rank, numbers: indices_of(op, indices)? })
    }

    /// The coordinates of entry `i`.
    pub(super) fn at(&self, i: usize) -> &[i64] {
        &self.numbers[i * self.rank..][..self.rank]
    }

    /// Fails for an entry that is not inside of a tensor of this shape.
    pub(super) fn expect_inside(&self, op: &'static str, shape: &[i64]) -> Result<(), TensorError> {
        let is_outside = |&i: &usize| self.at(i).iter().zip(shape).any(|(at, dim)| !(0..*dim).contains(at));
        match (0..self.n).find(is_outside) {
            None => Ok(()),
            Some(i) => {
                invalid(op, format!("indices[{i}] = {:?} is not in a tensor of shape {shape:?}", self.at(i)))
            }
        }
    }

    /// The positions of the entries in a dense tensor.
    pub(super) fn positions(&self, op: &'static str, shape: &Shape) -> Result<Vec<usize>, TensorError> {
        match self.rank {
            0 => filled(self.n, 0),
            _ => positions(op, &self.numbers, shape, false),
        }
    }

    /// The entries in row-major order; equal ones keep their order.
    pub(super) fn order(&self) -> Result<Vec<usize>, TensorError> {
        sorted_positions(self.n, &|i, j| self.at(i).cmp(self.at(j)))
    }

    /// The coordinates of the entries in this order, as a matrix.
    fn taken(&self, order: &[usize], allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
        let out = HostTensor::allocate(DType::I64, Shape::new(&[order.len(), self.rank])?, allocator)?;
        if self.rank > 0 {
            for (to, &i) in out.write::<i64>()?.chunks_exact_mut(self.rank).zip(order) {
                to.copy_from_slice(self.at(i));
            }
        }
        Ok(out)
    }
}

/// The elements of a vector at these positions.
fn elements_at(
    x: &HostTensor,
    order: &[usize],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let shape = Shape::new(&[order.len()])?;
    slices_at(x.dtype(), shape, (&x.read_bytes()?, x.dtype().size()), order, allocator)
}

/// A vector of sizes.
fn sizes(dims: &[i64], allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    HostTensor::from_slice(Shape::new(&[dims.len()])?, dims, allocator)
}

/// `SparseReorder`: the entries in row-major order.
pub fn sparse_reorder(
    indices: &HostTensor,
    values: &HostTensor,
    rank: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    let entries = SparseEntries::new("SparseReorder", indices, Some(values), rank)?;
    let order = entries.order()?;
    Ok([entries.taken(&order, allocator)?, elements_at(values, &order, allocator)?])
}

/// `SparseReshape`: the coordinates of the same elements in a tensor of another shape, and that shape. One of
/// the new sizes may be -1: it follows from the others.
pub fn sparse_reshape(
    indices: &HostTensor,
    shape: &[i64],
    new_shape: &[i64],
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    let op = "SparseReshape";
    let entries = SparseEntries::new(op, indices, None, shape.len())?;
    let from = Shape::from_i64(shape)?;
    let mut dims = new_shape.to_vec();
    let mut open = dims.iter().enumerate().filter(|(_, dim)| **dim == -1).map(|(axis, _)| axis);
    let (first, second) = (open.next(), open.next());
    if second.is_some() {
        return invalid(op, format!("only one output dimension may be -1, got {new_shape:?}"));
    }
    if let Some(axis) = first {
        dims[axis] = 1;
        let rest = Shape::from_i64(&dims)?.num_elements();
        if rest == 0 {
            return invalid(op, format!("{new_shape:?}: the missing size is not determined by 0 elements"));
        }
        dims[axis] = (from.num_elements() / rest) as i64;
    }
    let to = Shape::from_i64(&dims)?;
    if to.num_elements() != from.num_elements() {
        return invalid(op, format!("{} elements of shape {from} in shape {to}", from.num_elements()));
    }
    let out = HostTensor::allocate(DType::I64, Shape::new(&[entries.n, to.rank()])?, allocator)?;
    let places = entries.positions(op, &from)?;
    if to.rank() > 0 {
        let (strides, mut rows) = (strides(&to), out.write::<i64>()?);
        for (mut place, row) in places.into_iter().zip(rows.chunks_exact_mut(to.rank())) {
            for (along, &stride) in row.iter_mut().zip(&strides) {
                *along = (place / stride) as i64;
                place %= stride;
            }
        }
    }
    Ok([out, sizes(&dims, allocator)?])
}

/// `SparseConcat`: sparse tensors joined along an axis, in row-major order.
pub fn sparse_concat(
    axis: i64,
    indices: &[&HostTensor],
    values: &[&HostTensor],
    shapes: &[Vec<i64>],
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 3], TensorError> {
    let op = "SparseConcat";
    let Some((first, rest)) = shapes.split_first() else { return invalid(op, "no operands".to_owned()) };
    let rank = first.len();
    let axis = usize::try_from(if axis < 0 { axis.saturating_add(rank as i64) } else { axis });
    let Some(axis) = axis.ok().filter(|&axis| axis < rank) else {
        return invalid(op, format!("the axis is not one of {rank}"));
    };
    let mut joined = first.clone();
    for shape in rest {
        let is_like = shape.iter().zip(first).enumerate().all(|(i, (a, b))| i == axis || a == b);
        if shape.len() != rank || !is_like {
            return invalid(op, format!("shapes {first:?} and {shape:?} differ not only along axis {axis}"));
        }
        joined[axis] = joined[axis].checked_add(shape[axis]).ok_or(TensorError::TooLarge)?;
    }
    if shapes.iter().flatten().any(|&dim| dim < 0) {
        return invalid(op, "a size is negative".to_owned());
    }
    let (mut numbers, mut n, mut offset) = (Vec::new(), 0usize, 0);
    for ((indices, values), shape) in indices.iter().zip(values).zip(shapes) {
        let entries = SparseEntries::new(op, indices, Some(values), rank)?;
        for i in 0..entries.n {
            for (along, &number) in entries.at(i).iter().enumerate() {
                let moved = if along == axis { number.wrapping_add(offset) } else { number };
                push(&mut numbers, moved)?;
            }
        }
        n += entries.n;
        offset += shape[axis]; // at most the joined size
    }
    let all = concat(values, 0, allocator)?;
    let entries = SparseEntries { n, rank, numbers };
    let order = entries.order()?;
    Ok([entries.taken(&order, allocator)?, elements_at(&all, &order, allocator)?, sizes(&joined, allocator)?])
}

/// `SparseSplit`: the `n` parts along an axis as coordinates, values and shapes. The first parts are larger
/// by one if the size is no multiple of their number.
pub fn sparse_split(
    axis: i64,
    [indices, values]: [&HostTensor; 2],
    shape: &[i64],
    n: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<Vec<HostTensor>, TensorError> {
    let op = "SparseSplit";
    let entries = SparseEntries::new(op, indices, Some(values), shape.len())?;
    let axis = usize::try_from(if axis < 0 { axis.saturating_add(entries.rank as i64) } else { axis });
    let Some(axis) = axis.ok().filter(|&axis| axis < entries.rank) else {
        return invalid(op, format!("the axis is not one of {}", entries.rank));
    };
    let count = i64::try_from(n).ok().filter(|&n| n > 0 && n <= shape[axis]);
    let Some(count) = count else {
        return invalid(op, format!("{n} parts of a size of {}", shape[axis]));
    };
    entries.expect_inside(op, shape)?;
    let (smaller, n_larger) = (shape[axis] / count, shape[axis] % count);
    let part = |along: i64| match along / (smaller + 1) {
        part if part < n_larger => part,
        _ => n_larger + (along - n_larger * (smaller + 1)) / smaller,
    };
    let start = |part: i64| part * smaller + part.min(n_larger);
    let mut orders: Vec<Vec<usize>> = collected((0..n).map(|_| Vec::new()))?;
    for i in 0..entries.n {
        push(&mut orders[part(entries.at(i)[axis]) as usize], i)?;
    }
    let mut results = with_room(3 * n)?;
    for (number, order) in (0..).zip(&orders) {
        let found = entries.taken(order, allocator)?;
        for row in found.write::<i64>()?.chunks_exact_mut(entries.rank) {
            row[axis] -= start(number);
        }
        results.push(found);
    }
    for order in &orders {
        results.push(elements_at(values, order, allocator)?);
    }
    let mut dims = shape.to_vec();
    for number in 0..count {
        dims[axis] = start(number + 1) - start(number);
        results.push(sizes(&dims, allocator)?);
    }
    Ok(results)
}

/// The shape of a slice, as far as it is in a tensor of this shape.
fn slice_shape(
    op: &'static str,
    shape: &[i64],
    start: &[i64],
    size: &[i64],
) -> Result<Vec<i64>, TensorError> {
    if start.len() != shape.len() || size.len() != shape.len() {
        return invalid(op, format!("start {start:?} and size {size:?} for shape {shape:?}"));
    }
    if shape.iter().chain(start).chain(size).any(|&number| number < 0) {
        return invalid(op, format!("start {start:?}, size {size:?} or shape {shape:?} is negative"));
    }
    // All are nonnegative: the differences fit.
    Ok(shape
        .iter()
        .zip(start)
        .zip(size)
        .map(|((&dim, &start), &size)| size.min((dim - start).max(0)))
        .collect())
}

/// `SparseSlice`: the entries in a box, with coordinates from its corner, and the shape of the box as far as
/// it is in the tensor.
pub fn sparse_slice(
    [indices, values]: [&HostTensor; 2],
    shape: &[i64],
    start: &[i64],
    size: &[i64],
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 3], TensorError> {
    let op = "SparseSlice";
    let entries = SparseEntries::new(op, indices, Some(values), shape.len())?;
    let kept_shape = slice_shape(op, shape, start, size)?;
    let is_inside = |&i: &usize| {
        let mut axes = entries.at(i).iter().zip(start).zip(size);
        axes.all(|((&along, &start), &size)| along >= start && along - start < size)
    };
    let kept = collected((0..entries.n).filter(is_inside))?;
    let found = entries.taken(&kept, allocator)?;
    if !start.is_empty() {
        for row in found.write::<i64>()?.chunks_exact_mut(start.len()) {
            row.iter_mut().zip(start).for_each(|(along, start)| *along -= start);
        }
    }
    Ok([found, elements_at(values, &kept, allocator)?, sizes(&kept_shape, allocator)?])
}

/// `SparseSliceGrad`: for each entry of a tensor, the gradient of its copy in a slice that begins at `start`;
/// 0 if the slice has none. The entries of both are sorted.
pub fn sparse_slice_grad(
    dy: &HostTensor,
    indices: &HostTensor,
    start: &[i64],
    slice_indices: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "SparseSliceGrad";
    let entries = SparseEntries::new(op, indices, None, start.len())?;
    let slice = SparseEntries::new(op, slice_indices, Some(dy), start.len())?;
    let compare = |i: usize, j: usize| {
        let moved = slice.at(j).iter().zip(start).map(|(along, start)| along.wrapping_add(*start));
        entries.at(i).iter().copied().cmp(moved)
    };
    scattered(dy, entries.n, slice.n, compare, allocator)
}

/// `SparseAddGrad`: for each entry of an operand of a sum, the gradient of the sum's entry at its place; 0 if
/// there is none. The entries of both are sorted.
pub fn sparse_add_grad(
    dy: &HostTensor,
    indices: &HostTensor,
    sum_indices: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "SparseAddGrad";
    let rank = indices.shape().dims().last().copied().unwrap_or(0);
    let entries = SparseEntries::new(op, indices, None, rank)?;
    let sum = SparseEntries::new(op, sum_indices, Some(dy), rank)?;
    scattered(dy, entries.n, sum.n, |i, j| entries.at(i).cmp(sum.at(j)), allocator)
}

/// A vector of `n` elements: those of `x` whose entries are equal by `compare`, and zeros.
fn scattered(
    x: &HostTensor,
    n: usize,
    n_x: usize,
    compare: impl Fn(usize, usize) -> Ordering,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::zeros(x.dtype(), Shape::new(&[n])?, allocator)?;
    {
        let (from, mut to, size) = (x.read_bytes()?, out.write_bytes()?, x.dtype().size());
        let mut j = 0;
        for (i, to) in to.chunks_exact_mut(size).enumerate() {
            while j < n_x && compare(i, j) == Ordering::Greater {
                j += 1;
            }
            if j < n_x && compare(i, j) == Ordering::Equal {
                to.copy_from_slice(&from[j * size..][..size]);
            }
        }
    }
    Ok(out)
}

/// `SparseFillEmptyRows`: the entries by row, with an entry of the default value in the first column of each
/// empty row. The results are coordinates, values, a mark for each empty row, and the new position of each
/// entry.
pub fn sparse_fill_empty_rows(
    indices: &HostTensor,
    values: &HostTensor,
    shape: &[i64],
    default: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 4], TensorError> {
    let op = "SparseFillEmptyRows";
    default.expect_dtype("default_value", values.dtype())?;
    default.expect_shape("default_value", &Shape::scalar())?;
    let entries = SparseEntries::new(op, indices, Some(values), shape.len())?;
    let Some(&rows) = shape.first() else { return invalid(op, "a scalar has no rows".to_owned()) };
    let Ok(n_rows) = usize::try_from(rows) else { return invalid(op, format!("dense_shape[0] is {rows}")) };
    let is_empty = HostTensor::zeros(DType::I1, Shape::new(&[n_rows])?, allocator)?;
    // The end of each row in the result.
    let mut ends: Vec<usize> = filled(n_rows, 0)?;
    for i in 0..entries.n {
        let row = entries.at(i)[0];
        match usize::try_from(row).ok().and_then(|row| ends.get_mut(row)) {
            Some(count) => *count += 1,
            None => return invalid(op, format!("indices[{i}, 0] = {row} is not in [0, {n_rows})")),
        }
    }
    let mut total = 0usize;
    for (end, is_empty) in ends.iter_mut().zip(is_empty.write::<I1>()?.iter_mut()) {
        *is_empty = I1::from(*end == 0);
        total = total.checked_add((*end).max(1)).ok_or(TensorError::TooLarge)?;
        *end = total - *end;
    }
    let moved = HostTensor::allocate(DType::I64, Shape::new(&[entries.n])?, allocator)?;
    let found = HostTensor::zeros(DType::I64, Shape::new(&[total, entries.rank])?, allocator)?;
    let fill = default.read_bytes()?;
    let new_values = HostTensor::splat(values.dtype(), Shape::new(&[total])?, &fill, allocator)?;
    {
        let (mut moved, mut found) = (moved.write::<i64>()?, found.write::<i64>()?);
        let (from, mut to, size) = (values.read_bytes()?, new_values.write_bytes()?, fill.len());
        // An empty row ends at its default entry, others begin there.
        for (row, (&place, is_empty)) in ends.iter().zip(is_empty.read::<I1>()?.iter()).enumerate() {
            if is_empty.is_true() {
                found[(place - 1) * entries.rank] = row as i64;
            }
        }
        for (i, moved) in moved.iter_mut().enumerate() {
            let next = &mut ends[entries.at(i)[0] as usize]; // checked above
            let place = *next;
            *next += 1;
            *moved = place as i64;
            found[place * entries.rank..][..entries.rank].copy_from_slice(entries.at(i));
            to[place * size..][..size].copy_from_slice(&from[i * size..][..size]);
        }
    }
    Ok([found, new_values, is_empty, moved])
}

/// `SparseFillEmptyRowsGrad`: the gradients of the entries, and the sum of those of default entries.
pub fn sparse_fill_empty_rows_grad(
    map: &HostTensor,
    dy: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    let op = "SparseFillEmptyRowsGrad";
    let (&[_], &[n]) = (map.shape().dims(), dy.shape().dims()) else {
        return invalid(op, format!("a map of shape {} for gradients of shape {}", map.shape(), dy.shape()));
    };
    let places = index::positions(op, map, n, dy.shape())?;
    let mut is_moved = filled(n, false)?;
    places.iter().for_each(|&place| is_moved[place] = true);
    let rest = collected((0..n).filter(|&place| !is_moved[place]))?;
    let of_default = reduce(Reduce::Sum, &elements_at(dy, &rest, allocator)?, &[0], false, allocator)?;
    Ok([elements_at(dy, &places, allocator)?, of_default])
}
