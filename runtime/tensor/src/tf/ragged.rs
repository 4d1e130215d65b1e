//! Ragged operands as dense tensors: rows of different lengths, padded or counted.
//!
//! ```text
//! partitions of rows, from the outside     [[0, 2, 3]]       places of values in the padded result
//! values                                   a b c             [[a, b], [c, -]]
//! ```

use std::sync::Arc;

use super::index::indices_of;
use super::movement::broadcast_to;
use super::numeric::{Domain, Number};
use super::sparse::splits_of;
use super::unary::cast;
use crate::element::with_element;
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::{filled, with_room};
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
            type Wide = <T as Number>::Wide;
            let (weights, mut to) = (weights.read::<T>()?, out.write::<T>()?);
            for (row, to) in splits.windows(2).zip(to.chunks_exact_mut(size)) {
                for (at, &number) in (row[0]..row[1]).zip(&numbers[row[0]..row[1]]) {
                    let to = usize::try_from(number).ok().and_then(|number| to.get_mut(number));
                    let Some(to) = to else { continue };
                    *to = match weights.get(at) {
                        _ if is_binary => T::narrow(Wide::ONE),
                        Some(weight) => T::narrow(to.widen().plus(weight.widen())),
                        None => T::narrow(to.widen().plus(Wide::ONE)),
                    };
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
