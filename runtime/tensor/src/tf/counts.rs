//! Numbers about numbers: histograms, the n-th smallest element, distances of sequences, the incomplete beta
//! function.

use std::cmp::Ordering;

use super::fast::{self, Cx};
use super::movement::broadcast_to;
use super::numeric::{Domain, Number};
use super::sparse_arrays::SparseEntries;
use super::special;
use super::walk::strides;
use crate::element::with_element;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::{collected, copied, filled, push};
use crate::sort::sorted_by_keys;
use crate::{DType, HostTensor, Shape, TensorError};

/// `HistogramFixedWidth`: the numbers of elements in `n` equal parts of a range, as i32 or i64. The first and
/// the last part have the elements beyond the range, too.
pub fn histogram(
    x: &HostTensor,
    range: &HostTensor,
    n: usize,
    to: DType,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "HistogramFixedWidth";
    range.expect_dtype("value_range", x.dtype())?;
    range.expect_shape("value_range", &Shape::new(&[2])?)?;
    if n == 0 {
        return invalid(op, "nbins is 0, expected 1 or more".to_owned());
    }
    let counts = HostTensor::zeros(DType::I64, Shape::new(&[n])?, cx.allocator)?;
    with_element!(x.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op, dtype: x.dtype() });
        }
        let (ends, x, mut counts) = (range.read::<T>()?, x.read::<T>()?, counts.write::<i64>()?);
        let (low, high) = (ends[0].widen(), ends[1].widen());
        if low.order(high) != Some(Ordering::Less) {
            return invalid(op, format!("value_range is {:?}, expected two ascending numbers", &ends[..]));
        }
        // As in TensorFlow: differences in the type of the elements, quotients in f64.
        let above = |x: <T as Number>::Wide| T::narrow(x.plus(low.negated())).widen().any().real();
        let step = above(high) / n as f64;
        for x in x.iter() {
            let wide = x.widen();
            if wide.is_nan() {
                return invalid(op, "a value is NaN".to_owned());
            }
            let part = match wide.order(low) {
                Some(Ordering::Greater) => (above(wide) / step) as usize,
                _ => 0,
            };
            counts[part.min(n - 1)] += 1;
        }
    });
    fast::cast(&counts, to, cx)
}

/// `NthElement`: the element at position `n` of each row, sorted in ascending order, or descending if
/// `is_reverse`. NaN is the largest.
pub fn nth_element(
    x: &HostTensor,
    n: usize,
    is_reverse: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "NthElement";
    let Some((&len, outer)) = x.shape().dims().split_last() else {
        return invalid(op, "a scalar has no rows".to_owned());
    };
    if n >= len {
        return invalid(op, format!("position {n} of rows of {len} elements"));
    }
    let at = if is_reverse { len - 1 - n } else { n };
    let out = HostTensor::allocate(x.dtype(), Shape::new(outer)?, cx.allocator)?;
    with_element!(x.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op, dtype: x.dtype() });
        }
        let compare = |a: &T, b: &T| {
            let (a, b) = (a.widen(), b.widen());
            a.order(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        };
        let from = x.read::<T>()?;
        let mut row = copied(&from[..len.min(from.len())])?;
        for (from, to) in from.chunks_exact(len).zip(out.write::<T>()?.iter_mut()) {
            row.copy_from_slice(from);
            *to = *row.select_nth_unstable_by(at, compare).1;
        }
    });
    Ok(out)
}

/// The sequences of a sparse tensor along its last axis: the cell of each, among all other axes of `shape`,
/// and its elements, by cell.
fn sequences(
    op: &'static str,
    [indices, values]: [&HostTensor; 2],
    own: &[i64],
    cells: &Shape,
) -> Result<Vec<(usize, Vec<usize>)>, TensorError> {
    let entries = SparseEntries::new(op, indices, Some(values), own.len())?;
    let steps = strides(cells);
    let mut places = filled(entries.n, 0usize)?;
    for (i, place) in places.iter_mut().enumerate() {
        for ((&along, &dim), &step) in entries.at(i).iter().zip(cells.dims()).zip(&steps) {
            match usize::try_from(along).ok().filter(|&along| along < dim) {
                Some(along) => *place += along * step,
                None => {
                    return invalid(op, format!("indices {:?} are out of bounds of {cells}", entries.at(i)));
                }
            }
        }
    }
    let order = sorted_by_keys(places.iter().map(|&place| place as u64))?;
    let runs = order.chunk_by(|&i, &j| places[i] == places[j]);
    let mut found = Vec::new();
    for run in runs {
        push(&mut found, (places[run[0]], copied(run)?))?;
    }
    Ok(found)
}

/// The least number of insertions, removals and replacements that make `a` from `b`.
fn distance(
    (a, b): (&[usize], &[usize]),
    is_equal: impl Fn(usize, usize) -> bool,
) -> Result<usize, TensorError> {
    let mut row = collected(0..=b.len())?;
    for (i, &x) in a.iter().enumerate().take_while(|_| !is_interrupted()) {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(!is_equal(x, y));
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    Ok(row[b.len()])
}

/// `EditDistance`: the distance of each sequence of a sparse tensor from that of another, as f32, divided by
/// the other's length if `normalize`. Sequences are along the last axis.
pub fn edit_distance(
    hypothesis: [&HostTensor; 2],
    truth: [&HostTensor; 2],
    [shape, truth_shape]: [&[i64]; 2],
    normalize: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "EditDistance";
    truth[1].expect_dtype("truth_values", hypothesis[1].dtype())?;
    if shape.len() != truth_shape.len() || shape.is_empty() {
        return invalid(op, format!("shapes {shape:?} and {truth_shape:?}"));
    }
    let dims: Vec<i64> = shape.iter().zip(truth_shape).map(|(a, b)| *a.max(b)).collect();
    let cells = Shape::from_i64(&dims[..dims.len() - 1])?;
    let out = HostTensor::zeros(DType::F32, cells.clone(), cx.allocator)?;
    let ours = sequences(op, hypothesis, shape, &cells)?;
    let theirs = sequences(op, truth, truth_shape, &cells)?;
    let size = hypothesis[1].dtype().size();
    let (x, y) = (hypothesis[1].read_bytes()?, truth[1].read_bytes()?);
    let is_equal = |i: usize, j: usize| x[i * size..][..size] == y[j * size..][..size];
    {
        let mut to = out.write::<f32>()?;
        let (mut ours, mut theirs) = (ours.iter().peekable(), theirs.iter().peekable());
        loop {
            let cell = match (ours.peek(), theirs.peek()) {
                (Some(ours), Some(theirs)) => ours.0.min(theirs.0),
                (Some(only), None) | (None, Some(only)) => only.0,
                (None, None) => break,
            };
            let a = ours.next_if(|(own, _)| *own == cell).map_or(&[][..], |(_, sequence)| sequence);
            let b = theirs.next_if(|(own, _)| *own == cell).map_or(&[][..], |(_, sequence)| sequence);
            let changes = distance((a, b), is_equal)? as f32;
            to[cell] = if normalize { changes / b.len() as f32 } else { changes };
        }
    }
    Ok(out)
}

/// `Betainc`: the regularized incomplete beta function of tensors of one shape, or scalars.
pub fn betainc(operands: [&HostTensor; 3], cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let op = "Betainc";
    let dtype = operands[0].dtype();
    if !matches!(dtype, DType::F32 | DType::F64) {
        return Err(TensorError::Unsupported { op, dtype });
    }
    let mut shape = Shape::scalar();
    for x in operands {
        x.expect_dtype("x", dtype)?;
        if x.shape().rank() > 0 && shape.rank() > 0 && *x.shape() != shape {
            return invalid(op, format!("shapes {} and {shape} differ", x.shape()));
        }
        if x.shape().rank() > 0 {
            shape = x.shape().clone();
        }
    }
    let wide = |x: &HostTensor| fast::cast(&broadcast_to(x, &shape, cx.allocator)?, DType::F64, cx);
    let [a, b, x] = [wide(operands[0])?, wide(operands[1])?, wide(operands[2])?];
    let out = HostTensor::allocate(DType::F64, shape, cx.allocator)?;
    {
        let (a, b, x) = (a.read::<f64>()?, b.read::<f64>()?, x.read::<f64>()?);
        let (a, b, x): (&[f64], &[f64], &[f64]) = (&a, &b, &x);
        cx.parts(&mut out.write::<f64>()?, (1, 256), &|first, part| {
            for (i, to) in (first..).zip(part) {
                *to = special::betainc(a[i], b[i], x[i]);
            }
        });
    }
    fast::cast(&out, dtype, cx)
}
