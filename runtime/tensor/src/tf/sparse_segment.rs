//! Reductions of selected rows by segment, and their gradients: sums and means of embeddings.
//!
//! ```text
//! data a b c    indices 2 0 0    segments 0 0 2    ──▶    [c + a, 0, a]
//! gradients x y z of the rows    ──▶    [x + z, 0, x], the sums by index
//! ```
//!
//! Both directions are sums of rows by group: here the groups are segments, there they are indices. Sums are
//! computed in the wide type and rounded once.

use super::fast::Cx;
use super::index::{indices_of, positions};
use super::numeric::{AnyWide, Domain, Number};
use super::real::expect_float;
use crate::element::with_element;
use crate::error::invalid;
use crate::scratch::{collected, filled, push};
use crate::sort::sorted_by_keys;
use crate::{HostTensor, Shape, TensorError};

/// The divisor of the sum of a segment with `n` rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentDivisor {
    /// 1.
    One,
    /// `n`: the mean.
    Count,
    /// The square root of `n`.
    RootOfCount,
}

impl SegmentDivisor {
    fn of(self, n: usize) -> f64 {
        match self {
            SegmentDivisor::One => 1.0,
            SegmentDivisor::Count => n as f64,
            SegmentDivisor::RootOfCount => (n as f64).sqrt(),
        }
    }

    /// Quotients are floats.
    fn expect(self, op: &'static str, x: &HostTensor) -> Result<(), TensorError> {
        if self == SegmentDivisor::One { Ok(()) } else { expect_float(op, x) }
    }
}

/// The number of elements of a row that are summed at once.
const LANES: usize = 64;

/// Sets `to` to the sum of rows with weights, after `finish`.
fn sum_rows<'x, T: Number>(
    to: &mut [T],
    rows: impl Iterator<Item = (&'x [T], T::Wide)> + Clone,
    finish: impl Fn(T::Wide) -> T,
) {
    for (first, to) in (0..).step_by(LANES).zip(to.chunks_mut(LANES)) {
        let mut sums = [T::Wide::ZERO; LANES];
        for (row, weight) in rows.clone() {
            for (sum, x) in sums.iter_mut().zip(&row[first..first + to.len()]) {
                *sum = sum.plus(x.widen().times(weight));
            }
        }
        to.iter_mut().zip(sums).for_each(|(to, sum)| *to = finish(sum));
    }
}

/// The positions in a sorted list of groups that belong to a group.
fn run(groups: &[i64], group: usize) -> std::ops::Range<usize> {
    let group = group as i64; // a row of a tensor
    groups.partition_point(|&of| of < group)..groups.partition_point(|&of| of <= group)
}

/// The work for each element of the result: the average number of rows in a group.
fn cost(n_terms: usize, n_groups: usize) -> usize {
    2 * n_terms.div_ceil(n_groups.max(1)).max(1)
}

/// The rows and the elements of a row of a tensor.
fn rows_of(op: &'static str, x: &HostTensor) -> Result<(usize, usize), TensorError> {
    match x.shape().dims().split_first() {
        Some((&n, rest)) => Ok((n, rest.iter().product())),
        None => invalid(op, "a scalar has no rows".to_owned()),
    }
}

/// The shape of `n` rows like those of a tensor, which has some axis.
fn with_rows(x: &HostTensor, n: usize) -> Result<Shape, TensorError> {
    Shape::new(&[&[n], &x.shape().dims()[1..]].concat())
}

/// Returns an error unless both operands are vectors of one length.
fn expect_pairs(op: &'static str, indices: &HostTensor, ids: &HostTensor) -> Result<(), TensorError> {
    match (indices.shape().dims(), ids.shape().dims()) {
        (&[n], &[count]) if n == count => Ok(()),
        _ => invalid(
            op,
            format!("indices of shape {} and segment ids of shape {}", indices.shape(), ids.shape()),
        ),
    }
}

/// `SparseSegmentSum` ...: row `i` of the result is the sum of the rows of `x`, along its first axis, at
/// those `indices` whose segment id is `i`, divided as `by` says. The ids do not decrease. There are
/// `n_segments` rows, or as many as the last id requires. An empty segment is 0.
pub fn sparse_segment(
    op: &'static str,
    by: SegmentDivisor,
    [x, indices, ids]: [&HostTensor; 3],
    n_segments: Option<usize>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    by.expect(op, x)?;
    let (n, len) = rows_of(op, x)?;
    expect_pairs(op, indices, ids)?;
    let (ids, rows) = (indices_of(op, ids)?, positions(op, indices, n, x.shape())?);
    if ids.first().is_some_and(|&first| first < 0) || !ids.is_sorted() {
        return invalid(op, "the segment ids do not rise from 0 or more".to_owned());
    }
    let least = ids.last().map_or(0, |&last| (last as usize).saturating_add(1));
    let n_segments = n_segments.unwrap_or(least);
    if least > n_segments {
        return invalid(op, format!("segment id {} is not below {n_segments}", least - 1));
    }
    let out = HostTensor::allocate(x.dtype(), with_rows(x, n_segments)?, cx.allocator)?;
    if out.num_elements() == 0 {
        return Ok(out);
    }
    with_element!(x.dtype(), T => {
        type Wide = <T as Number>::Wide;
        if !Wide::ORDERED {
            return Err(TensorError::Unsupported { op, dtype: x.dtype() });
        }
        let from = x.read::<T>()?;
        let (from, mut to): (&[T], _) = (&from, out.write::<T>()?);
        cx.parts(&mut to, (len, cost(ids.len(), n_segments)), &|first, part| {
            for (segment, to) in (first / len..).zip(part.chunks_exact_mut(len)) {
                let own = &rows[run(&ids, segment)];
                let selected = own.iter().map(|&row| (&from[row * len..][..len], Wide::ONE));
                let divisor = by.of(own.len());
                sum_rows(to, selected, |sum| match own.len() {
                    0 | 1 => T::narrow(sum),
                    _ if by == SegmentDivisor::One => T::narrow(sum),
                    _ => T::cast(AnyWide::Real(sum.any().real() / divisor)),
                });
            }
        });
    });
    Ok(out)
}

/// `SparseSegmentSumGrad` ...: the gradient of [`sparse_segment`] by its first operand of `n_rows` rows, from
/// the gradient `dy` by its result.
pub fn sparse_segment_grad(
    op: &'static str,
    by: SegmentDivisor,
    [dy, indices, ids]: [&HostTensor; 3],
    n_rows: usize,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let terms = GradientTerms::new(op, by, [dy, indices, ids], n_rows)?;
    let out = HostTensor::allocate(dy.dtype(), with_rows(dy, n_rows)?, cx.allocator)?;
    sum_gradients(dy, &terms, |row| run(&terms.rows, row), &out, cx)?;
    Ok(out)
}

/// `SparseSegmentSumGradV2` ...: [`sparse_segment_grad`], without the rows that no index selects; and the
/// sorted distinct indices.
pub fn sparse_segment_grad_rows(
    op: &'static str,
    by: SegmentDivisor,
    [dy, indices, ids]: [&HostTensor; 3],
    n_rows: usize,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 2], TensorError> {
    let terms = GradientTerms::new(op, by, [dy, indices, ids], n_rows)?;
    let (mut unique, mut runs) = (Vec::new(), Vec::new());
    let mut start = 0;
    for own in terms.rows.chunk_by(|a, b| a == b) {
        push(&mut unique, own[0])?;
        push(&mut runs, start..start + own.len())?;
        start += own.len();
    }
    let out = HostTensor::allocate(dy.dtype(), with_rows(dy, unique.len())?, cx.allocator)?;
    sum_gradients(dy, &terms, |row| runs[row].clone(), &out, cx)?;
    let unique = HostTensor::from_slice(Shape::new(&[unique.len()])?, &unique, cx.allocator)?;
    Ok([out, super::fast::cast(&unique, indices.dtype(), cx)?])
}

/// The terms of a gradient, sorted by the row that they contribute to.
struct GradientTerms {
    /// The row that a term contributes to.
    rows: Vec<i64>,
    /// The segment of a term.
    segments: Vec<usize>,
    /// The divisor of each segment.
    divisors: Vec<f64>,
}

impl GradientTerms {
    fn new(
        op: &'static str,
        by: SegmentDivisor,
        [dy, indices, ids]: [&HostTensor; 3],
        n_rows: usize,
    ) -> Result<GradientTerms, TensorError> {
        expect_float(op, dy)?;
        let (n_segments, _) = rows_of(op, dy)?;
        expect_pairs(op, indices, ids)?;
        let found = positions(op, ids, n_segments, dy.shape())?;
        let rows = indices_of(op, indices)?;
        if let Some(row) = rows.iter().find(|&&row| usize::try_from(row).map_or(true, |row| row >= n_rows)) {
            return invalid(op, format!("index {row} is not in [0, {n_rows})"));
        }
        let order = sorted_by_keys(rows.iter().map(|&row| row as u64))?; // not negative
        let mut counts = filled(n_segments, 0)?;
        found.iter().for_each(|&segment| counts[segment] += 1);
        Ok(GradientTerms {
            rows: collected(order.iter().map(|&i| rows[i]))?,
            segments: collected(order.iter().map(|&i| found[i]))?,
            divisors: collected(counts.iter().map(|&n| by.of(n)))?,
        })
    }
}

/// Sets each row of `out` to the sum of its terms, which `own` finds.
fn sum_gradients(
    dy: &HostTensor,
    terms: &GradientTerms,
    own: impl Fn(usize) -> std::ops::Range<usize> + Sync,
    out: &HostTensor,
    cx: &Cx<'_>,
) -> Result<(), TensorError> {
    if out.num_elements() == 0 {
        return Ok(());
    }
    let n = out.shape().dims().first().copied().unwrap_or(1);
    let len = out.num_elements() / n;
    let GradientTerms { segments, divisors, .. } = terms;
    with_element!(dy.dtype(), T => {
        let from = dy.read::<T>()?;
        let (from, mut to): (&[T], _) = (&from, out.write::<T>()?);
        cx.parts(&mut to, (len, cost(segments.len(), n)), &|first, part| {
            for (row, to) in (first / len..).zip(part.chunks_exact_mut(len)) {
                // As in TensorFlow, weights have the type of the gradient.
                let weight = |segment: usize| T::cast(AnyWide::Real(1.0 / divisors[segment])).widen();
                let selected = segments[own(row)].iter();
                let selected = selected.map(|&segment| (&from[segment * len..][..len], weight(segment)));
                sum_rows(to, selected, T::narrow);
            }
        });
    });
    Ok(())
}
