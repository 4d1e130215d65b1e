//! Ragged operands as dense tensors: rows of different lengths, padded or counted.
//!
//! ```text
//! partitions of rows, from the outside     [[0, 2, 3]]       places of values in the padded result
//! values                                   a b c             [[a, b], [c, -]]
//! ```

use std::sync::Arc;

use super::index::indices_of;
use super::movement::broadcast_to;
use super::segment::counted;
use super::sparse::splits_of;
use super::unary::cast;
use crate::element::with_element;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::mem::Allocator;
use crate::scratch::{collected, filled, with_room};
use crate::{DType, HostTensor, Shape, TensorError};

/// A form of the rows of a ragged axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPartition {
    /// The number of rows of the outermost axis.
    FirstDimSize,
    /// The row of each value.
    ValueRowids,
    /// The positions at which rows begin, and the end of the last.
    RowSplits,
    /// The lengths of the rows.
    RowLengths,
}

/// Limit on the number of rows with ids: empty rows have none, so it does not follow from the operands'
/// sizes.
const MAX_ROWS: usize = 1 << 26;

/// The splits of rows in any form; `n_rows` is their number if the form does not tell.
fn splits_in(
    op: &'static str,
    form: RowPartition,
    x: &HostTensor,
    n_rows: Option<usize>,
) -> Result<Vec<usize>, TensorError> {
    if form == RowPartition::RowSplits {
        return splits_of(op, x);
    }
    let numbers = indices_of(op, x)?;
    let number = |at: &i64| usize::try_from(*at).or_else(|_| invalid(op, format!("{at} is no row")));
    if form == RowPartition::RowLengths {
        let mut splits = with_room(numbers.len() + 1)?;
        let mut end = 0usize;
        splits.push(end);
        for length in numbers.iter() {
            end = end.checked_add(number(length)?).ok_or(TensorError::TooLarge)?;
            splits.push(end);
        }
        return Ok(splits);
    }
    // Row ids ascend, so the splits are where the next row begins.
    let Some(n_rows) = n_rows.filter(|&n| n <= MAX_ROWS) else {
        return invalid(op, format!("row ids without a number of rows up to {MAX_ROWS}"));
    };
    let mut splits = with_room(n_rows.checked_add(1).ok_or(TensorError::TooLarge)?)?;
    for (i, row) in numbers.iter().enumerate() {
        let row = number(row)?;
        if row >= n_rows || row + 1 < splits.len() {
            return invalid(op, format!("row ids[{i}] = {row} does not ascend below {n_rows}"));
        }
        splits.resize(row + 1, i);
    }
    splits.resize(n_rows + 1, numbers.len());
    Ok(splits)
}

/// `RaggedTensorToTensor`: the values in rows of equal lengths, with a default behind shorter rows. A size in
/// `shape` that is negative is that of the longest row; `shape` may be missing. Longer rows are cut.
///
/// # Errors
/// For partitions that contradict each other or the values, and sizes that contradict those of the values.
pub fn ragged_to_tensor(
    shape: Option<&[i64]>,
    values: &HostTensor,
    default: &HostTensor,
    partitions: &[(RowPartition, &HostTensor)],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "RaggedTensorToTensor";
    let Some((&n_values, inner)) = values.shape().dims().split_first() else {
        return invalid(op, "the values are a scalar".to_owned());
    };
    let mut n_rows = None;
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for (i, &(form, x)) in partitions.iter().enumerate() {
        if form == RowPartition::FirstDimSize {
            match (indices_of(op, x)?.as_slice(), i) {
                (&[n], 0) => n_rows = usize::try_from(n).ok(),
                _ => return invalid(op, format!("partition {i} is a number of rows")),
            }
            continue;
        }
        let splits = splits_in(op, form, x, n_rows)?;
        if levels.last().is_some_and(|outer: &Vec<usize>| outer.last() != Some(&(splits.len() - 1))) {
            return invalid(op, format!("partition {i} has {} rows", splits.len() - 1));
        }
        n_rows = splits.last().copied();
        levels.push(splits);
    }
    let Some(first) = levels.first() else { return invalid(op, "no partitions of rows".to_owned()) };
    if n_rows != Some(n_values) {
        return invalid(op, format!("partitions of {n_rows:?} values, given {n_values}"));
    }
    // The sizes of the result.
    let mut dims = vec![first.len() - 1];
    for splits in &levels {
        dims.push(splits.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0));
    }
    let n_ragged = dims.len();
    dims.extend(inner);
    if let Some(shape) = shape {
        if shape.len() != dims.len() {
            return invalid(op, format!("a shape of rank {}, expected {}", shape.len(), dims.len()));
        }
        for (i, (dim, &wanted)) in dims.iter_mut().zip(shape).enumerate() {
            match usize::try_from(wanted) {
                Ok(wanted) if i < n_ragged => *dim = wanted,
                Ok(wanted) if wanted != *dim => {
                    return invalid(op, format!("axis {i} of the values has the size {dim}, not {wanted}"));
                }
                _ => {}
            }
        }
    }
    default.expect_dtype("default_value", values.dtype())?;
    let row = Shape::new(inner)?;
    let background = broadcast_to(default, &row, allocator)?;
    let out = HostTensor::allocate(values.dtype(), Shape::new(&dims)?, allocator)?;
    // The place of each row of the current level in the result, unless it is cut off.
    let mut places: Vec<Option<usize>> = with_room(first.len() - 1)?;
    places.extend((0..first.len() - 1).map(|row| Some(row).filter(|&row| row < dims[0])));
    for (splits, &dim) in levels.iter().zip(&dims[1..]) {
        let mut inner = filled(splits.last().copied().unwrap_or(0), None)?;
        for (place, pair) in places.iter().zip(splits.windows(2)) {
            let Some(place) = *place else { continue };
            for (i, to) in inner[pair[0]..pair[1]].iter_mut().take(dim).enumerate() {
                *to = Some(place * dim + i);
            }
        }
        places = inner;
    }
    let size = row.num_elements() * values.dtype().size();
    if size > 0 && out.num_elements() > 0 {
        let (from, mut to) = (values.read_bytes()?, out.write_bytes()?);
        let background = background.read_bytes()?;
        to.chunks_exact_mut(size).for_each(|to| to.copy_from_slice(&background));
        for (from, place) in from.chunks_exact(size).zip(&places) {
            if let Some(place) = place {
                to[place * size..][..size].copy_from_slice(from);
            }
        }
    }
    Ok(out)
}

/// `RaggedBincount`: for each row, the number of occurrences, or the sum of weights, of each integer below
/// `size`. Without weights (a tensor without elements), occurrences count 1. With `is_binary`, an integer
/// that occurs counts 1.
///
/// # Errors
/// For negative integers, splits that do not fit, and weights of another number.
pub fn ragged_bincount(
    splits: &HostTensor,
    values: &HostTensor,
    size: usize,
    weights: &HostTensor,
    is_binary: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "RaggedBincount";
    let (splits, numbers) = (splits_of(op, splits)?, indices_of(op, values)?);
    let n_weights = weights.num_elements();
    if splits.last() != Some(&numbers.len()) || n_weights > 0 && n_weights != numbers.len() {
        return invalid(op, format!("splits up to {:?}, {n_weights} weights", splits.last()));
    }
    if let Some(number) = numbers.iter().find(|&&number| number < 0) {
        return invalid(op, format!("{number} is negative"));
    }
    let shape = Shape::new(&[splits.len() - 1, size])?;
    let out = HostTensor::zeros(weights.dtype(), shape, allocator)?;
    if out.num_elements() > 0 {
        with_element!(weights.dtype(), T => {
            let (weights, mut to) = (weights.read::<T>()?, out.write::<T>()?);
            for (row, to) in splits.windows(2).zip(to.chunks_exact_mut(size)) {
                for (at, &number) in (row[0]..row[1]).zip(&numbers[row[0]..row[1]]) {
                    let to = usize::try_from(number).ok().and_then(|number| to.get_mut(number));
                    let Some(to) = to else { continue };
                    *to = counted(*to, weights.get(at), is_binary);
                }
            }
        });
    }
    Ok(out)
}

/// `Bucketize`: for each element, the number of boundaries that are not above it; all of them for NaN.
pub fn bucketize(
    x: &HostTensor,
    boundaries: &[f64],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(DType::I32, x.shape().clone(), allocator)?;
    let wide = cast(x, DType::F64, allocator)?;
    for (to, x) in out.write::<i32>()?.iter_mut().zip(wide.read::<f64>()?.iter()) {
        // A list has fewer elements than its file has bytes, so the position fits.
        *to = boundaries.partition_point(|bound| x.is_nan() || bound <= x) as i32;
    }
    Ok(out)
}

/// `RaggedRange`: a row of numbers from each start to its limit, by steps. Operands that are scalars are
/// repeated. The results are row splits and numbers.
pub fn ragged_range(
    [starts, limits, deltas]: [&HostTensor; 3],
    splits: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    let op = "RaggedRange";
    let mut rows = None;
    for (what, x) in [("starts", starts), ("limits", limits), ("deltas", deltas)] {
        x.expect_dtype(what, starts.dtype())?;
        match *x.shape().dims() {
            [] => {}
            [n] if rows.is_none_or(|rows| rows == n) => rows = Some(n),
            _ => {
                return invalid(
                    op,
                    format!(
                        "{what} of shape {}, expected a scalar or a vector of the length of the others",
                        x.shape()
                    ),
                );
            }
        }
    }
    let n = rows.unwrap_or(1);
    match starts.dtype() {
        DType::I32 => rows_of_range::<i32>(op, n, [starts, limits, deltas], splits, allocator),
        DType::I64 => rows_of_range::<i64>(op, n, [starts, limits, deltas], splits, allocator),
        DType::F32 => rows_of_range::<f32>(op, n, [starts, limits, deltas], splits, allocator),
        DType::F64 => rows_of_range::<f64>(op, n, [starts, limits, deltas], splits, allocator),
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// A number of ranges.
trait RangeNumber: crate::Element + PartialOrd {
    const ZERO: Self;
    /// The number of elements of a range that is not empty; `None` if it is too large.
    fn count(start: Self, limit: Self, delta: Self) -> Option<usize>;
    fn next(self, delta: Self) -> Self;
}

macro_rules! range_integers {
    ($($ty:ident)*) => {$(
        impl RangeNumber for $ty {
            const ZERO: $ty = 0;
            fn count(start: $ty, limit: $ty, delta: $ty) -> Option<usize> {
                usize::try_from(start.abs_diff(limit).div_ceil(delta.unsigned_abs())).ok()
            }
            // The number behind the last one is not used.
            fn next(self, delta: $ty) -> $ty {
                self.wrapping_add(delta)
            }
        }
    )*};
}
range_integers! { i32 i64 }

macro_rules! range_floats {
    ($($ty:ident)*) => {$(
        impl RangeNumber for $ty {
            const ZERO: $ty = 0.0;
            fn count(start: $ty, limit: $ty, delta: $ty) -> Option<usize> {
                let n = ((limit - start) / delta).abs().ceil();
                // 2^53 numbers fit in no memory.
                (n < 9e15).then_some(n as usize)
            }
            fn next(self, delta: $ty) -> $ty {
                self + delta
            }
        }
    )*};
}
range_floats! { f32 f64 }

fn rows_of_range<T: RangeNumber>(
    op: &'static str,
    n: usize,
    [starts, limits, deltas]: [&HostTensor; 3],
    dtype: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    let (starts, limits, deltas) = (starts.read::<T>()?, limits.read::<T>()?, deltas.read::<T>()?);
    let at = |x: &[T], i: usize| x[if x.len() == 1 { 0 } else { i }];
    let mut ends = with_room(n.saturating_add(1))?;
    let mut end = 0usize;
    ends.push(0i64);
    for i in 0..n {
        let (start, limit, delta) = (at(&starts, i), at(&limits, i), at(&deltas, i));
        if delta == T::ZERO {
            return invalid(op, format!("the delta of row {i} is 0"));
        }
        let is_filled = if delta > T::ZERO { start < limit } else { delta < T::ZERO && start > limit };
        let len = if is_filled { T::count(start, limit, delta) } else { Some(0) };
        end = len.and_then(|len| end.checked_add(len)).ok_or(TensorError::TooLarge)?;
        ends.push(end as i64);
    }
    if dtype == DType::I32 && i32::try_from(end).is_err() {
        return Err(TensorError::IndexRange { n: end });
    }
    let values = HostTensor::allocate(T::DTYPE, Shape::new(&[end])?, allocator)?;
    {
        let mut rest = &mut values.write::<T>()?[..];
        for i in 0..n {
            if is_interrupted() {
                return Err(TensorError::Interrupted);
            }
            let (own, behind) = std::mem::take(&mut rest).split_at_mut((ends[i + 1] - ends[i]) as usize);
            let (mut value, delta) = (at(&starts, i), at(&deltas, i));
            for to in own {
                *to = value;
                value = value.next(delta);
            }
            rest = behind;
        }
    }
    let ends = HostTensor::from_slice(Shape::new(&[ends.len()])?, &ends, allocator)?;
    Ok([cast(&ends, dtype, allocator)?, values])
}

/// `RaggedTensorToSparse`: coordinates, values and shape of the sparse tensor with the values of a ragged
/// one. `splits` are the row splits of its ragged axes, from the outside.
pub fn ragged_to_sparse(
    splits: &[&HostTensor],
    values: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 3], TensorError> {
    let op = "RaggedTensorToSparse";
    let (Some(&n_values), false) = (values.shape().dims().first(), splits.is_empty()) else {
        return invalid(op, format!("{} row splits and values of shape {}", splits.len(), values.shape()));
    };
    // For each ragged axis the longest row, and for each of its elements the row and the position in it.
    let (mut sizes, mut levels) = (Vec::with_capacity(splits.len() + 1), Vec::with_capacity(splits.len()));
    for (i, x) in splits.iter().enumerate() {
        x.expect_dtype("rt_nested_splits", splits[0].dtype())?;
        let ends = splits_of(op, x)?;
        let n = match splits.get(i + 1) {
            Some(next) => next.num_elements().saturating_sub(1),
            None => n_values,
        };
        if ends.last() != Some(&n) {
            return invalid(op, format!("row splits end with {:?}, expected {n}", ends.last()));
        }
        if i == 0 {
            sizes.push(ends.len() as i64 - 1);
        }
        let rows = ends
            .windows(2)
            .enumerate()
            .flat_map(|(row, ends)| (0..ends[1] - ends[0]).map(move |at| (row, at)));
        levels.push(collected(rows)?);
        sizes.push(ends.windows(2).map(|ends| (ends[1] - ends[0]) as i64).max().unwrap_or(0));
    }
    let inner = &values.shape().dims()[1..];
    let (n, rank) = (values.num_elements(), sizes.len() + inner.len());
    let places = HostTensor::allocate(DType::I64, Shape::new(&[n, rank])?, allocator)?;
    let width = if n == 0 { 1 } else { n / n_values };
    for (i, place) in places.write::<i64>()?.chunks_exact_mut(rank).enumerate() {
        let (ragged, dense) = place.split_at_mut(levels.len() + 1);
        let mut at = i / width;
        for (level, place) in levels.iter().zip(&mut ragged[1..]).rev() {
            let (row, in_row) = level[at];
            *place = in_row as i64;
            at = row;
        }
        ragged[0] = at as i64;
        let mut rest = i % width;
        for (place, &dim) in dense.iter_mut().zip(inner).rev() {
            *place = (rest % dim) as i64;
            rest /= dim;
        }
    }
    sizes.extend(inner.iter().map(|&dim| dim as i64));
    let sizes = HostTensor::from_slice(Shape::new(&[rank])?, &sizes, allocator)?;
    Ok([places, values.reshaped(Shape::new(&[n])?)?, sizes])
}
