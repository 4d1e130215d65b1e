//! Numbers of occurrences of integers, as sparse tensors.

use std::sync::Arc;

use super::index::indices_of;
use super::numeric::{AnyWide, Domain, Number};
use crate::element::with_element;
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::{collected, push, with_room};
use crate::{DType, HostTensor, Shape, TensorError};

/// The attributes of operators that count.
#[derive(Clone, Copy, Debug)]
pub struct CountAttrs {
    /// The least number of columns; -1 for none.
    pub min_length: i64,
    /// The number of columns; -1 if it follows from the values.
    pub max_length: i64,
    /// Counts are 0 or 1.
    pub is_binary: bool,
    /// The type of the counts.
    pub dtype: DType,
}

/// The rows in which values are counted.
#[derive(Clone, Copy, Debug)]
pub enum CountRows<'a> {
    /// Those of the values' shape, which has one or two axes.
    Dense,
    /// By the first of two or more indices, `[values, axes]` in a dense shape.
    Sparse(&'a HostTensor, &'a HostTensor),
    /// By the ends of the rows, after the beginning of the first.
    Ragged(&'a HostTensor),
}

impl CountRows<'_> {
    /// The number of rows, `None` for a vector of counts, and the row of each of `n` values.
    fn of(self, op: &'static str, values: &Shape) -> Result<(Option<usize>, Vec<usize>), TensorError> {
        let n = values.num_elements();
        match self {
            CountRows::Dense => match *values.dims() {
                [_] => Ok((None, collected((0..n).map(|_| 0))?)),
                [rows, columns] if rows > 0 => {
                    Ok((Some(rows), collected((0..n).map(|i| i / columns.max(1)))?))
                }
                _ => invalid(op, format!("shape {values}, expected a vector or a matrix with rows")),
            },
            CountRows::Sparse(indices, shape) => {
                let shape = Shape::from_i64(&indices_of(op, shape)?)?;
                let axes = shape.rank();
                if indices.shape().dims() != [n, axes] || axes == 0 {
                    return invalid(op, format!("indices of shape {} in shape {shape}", indices.shape()));
                }
                let indices = indices_of(op, indices)?;
                let is_inside = |(&i, &dim): (&i64, &usize)| usize::try_from(i).is_ok_and(|i| i < dim);
                let index =
                    indices.chunks_exact(axes).find(|index| !index.iter().zip(shape.dims()).all(is_inside));
                if let Some(index) = index {
                    return invalid(op, format!("index {index:?} is outside of shape {shape}"));
                }
                let first =
                    indices.chunks_exact(axes).map(|index| if axes == 1 { 0 } else { index[0] as usize });
                Ok(((axes > 1).then(|| shape.dims()[0]), collected(first)?))
            }
            CountRows::Ragged(splits) => {
                let splits = indices_of(op, splits)?;
                let is_whole = splits.len() > 1 && splits[0] == 0 && splits[splits.len() - 1] == n as i64;
                if !is_whole || !splits.is_sorted() {
                    return invalid(op, format!("splits that do not divide {n} values"));
                }
                let mut rows = with_room(n)?;
                for (row, ends) in splits.windows(2).enumerate() {
                    (ends[0]..ends[1]).try_for_each(|_| push(&mut rows, row))?;
                }
                Ok((Some(splits.len() - 1), rows))
            }
        }
    }
}

/// `DenseCountSparseOutput`, `SparseCountSparseOutput` and `RaggedCountSparseOutput`: how often each value
/// occurs in its row, or the sum of its weights, as indices, values and shape of a sparse tensor.
pub fn sparse_counts(
    op: &'static str,
    values: &HostTensor,
    weights: &HostTensor,
    rows: CountRows<'_>,
    by: CountAttrs,
    m: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 3], TensorError> {
    weights.expect_dtype("weights", by.dtype)?;
    let is_weighted = weights.num_elements() > 0;
    if is_weighted && weights.shape() != values.shape() {
        return invalid(
            op,
            format!("weights of shape {} of values of shape {}", weights.shape(), values.shape()),
        );
    }
    let (n_rows, rows) = rows.of(op, values.shape())?;
    let values = indices_of(op, values)?;
    if let Some(value) = values.iter().find(|&&value| value < 0) {
        return invalid(op, format!("the value {value} is negative"));
    }
    let limit = if by.max_length < 0 { i64::MAX } else { by.max_length };
    let mut order = collected((0..values.len()).filter(|&i| values[i] < limit))?;
    order.sort_unstable_by_key(|&i| (rows[i], values[i], i));
    let largest = order.iter().map(|&i| values[i]).max().unwrap_or(0);
    let columns =
        if by.max_length < 0 { largest.saturating_add(1).max(by.min_length) } else { by.max_length };
    let groups = || order.chunk_by(|&i, &j| (rows[i], values[i]) == (rows[j], values[j]));
    let n = groups().count();
    let mut indices = with_room(2 * n)?;
    for group in groups() {
        if n_rows.is_some() {
            push(&mut indices, rows[group[0]] as i64)?;
        }
        push(&mut indices, values[group[0]])?;
    }
    let counts = with_element!(by.dtype, T => {
        let weights = weights.read::<T>()?;
        let wide = |number: i128| T::cast(AnyWide::Int(number)).widen();
        let counts = groups().map(|group| T::narrow(match (by.is_binary, is_weighted) {
            (true, _) => wide(1),
            (false, true) => group.iter().fold(wide(0), |sum, &i| T::narrow(sum.plus(weights[i].widen())).widen()),
            (false, false) => wide(group.len() as i128),
        }));
        HostTensor::from_slice(Shape::new(&[n])?, &collected(counts)?, m)?
    });
    let shape: Vec<i64> = n_rows.map(|rows| rows as i64).into_iter().chain([columns]).collect();
    Ok([
        HostTensor::from_slice(Shape::new(&[n, shape.len()])?, &indices, m)?,
        counts,
        HostTensor::from_slice(Shape::new(&[shape.len()])?, &shape, m)?,
    ])
}
