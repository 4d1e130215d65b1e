//! Segment reductions, and row-wise partition and stitching.

use std::cmp::Ordering;
use std::sync::Arc;

use super::index::indices_of;
use super::numeric::{Domain, Number, named_ops};
use crate::element::with_element;
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::{filled, grow, push, try_collected};
use crate::{HostTensor, Shape, TensorError};

named_ops! {
    /// The reduction of a segment's rows.
    Segment {
        Sum = "UnsortedSegmentSum"; Prod = "UnsortedSegmentProd"; Max = "UnsortedSegmentMax"; Min = "UnsortedSegmentMin";
    }
}

/// `UnsortedSegmentSum` ...: row `i` of the result is the reduction of the rows of `x` whose id in `ids` (i32
/// or i64) is `i`. Rows with a negative id are dropped. An empty segment is 0, 1, the lowest or the highest
/// finite number.
pub fn unsorted_segment(
    op: Segment,
    x: &HostTensor,
    ids: &HostTensor,
    n_segments: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let rank = ids.shape().rank();
    if x.shape().dims().get(..rank) != Some(ids.shape().dims()) {
        let problem = format!("ids of shape {} do not begin shape {}", ids.shape(), x.shape());
        return invalid(op.name(), problem);
    }
    let rest = &x.shape().dims()[rank..];
    let ids = indices_of(op.name(), ids)?;
    // As in TensorFlow, the ids of rows without elements are not checked.
    let is_beyond = |id: &&i64| **id >= 0 && **id as u64 >= n_segments as u64;
    if let Some(id) = ids.iter().filter(|_| x.num_elements() > 0).find(is_beyond) {
        return invalid(op.name(), format!("id {id} is not below {n_segments}, shape {}", x.shape()));
    }
    let out = HostTensor::allocate(x.dtype(), Shape::new(&[&[n_segments], rest].concat())?, allocator)?;
    if out.num_elements() == 0 {
        return Ok(out);
    }
    let len: usize = rest.iter().product();
    with_element!(x.dtype(), T => {
        type Wide = <T as Number>::Wide;
        if !Wide::ORDERED && matches!(op, Segment::Max | Segment::Min) {
            return Err(TensorError::Unsupported { op: op.name(), dtype: x.dtype() });
        }
        let (from, mut to) = (x.read::<T>()?, out.write::<T>()?);
        to.fill(match op {
            Segment::Sum => T::narrow(Wide::ZERO),
            Segment::Prod => T::narrow(Wide::ONE),
            Segment::Max => T::ENDS[0],
            Segment::Min => T::ENDS[1],
        });
        for (row, &id) in from.chunks_exact(len).zip(&ids) {
            let Ok(id) = usize::try_from(id) else { continue };
            for (to, &x) in to[id * len..(id + 1) * len].iter_mut().zip(row) {
                *to = together(op, *to, x);
            }
        }
    });
    Ok(out)
}

/// The reduction of two elements of a segment.
fn together<T: Number>(op: Segment, old: T, new: T) -> T {
    let (a, b) = (old.widen(), new.widen());
    let extreme = |wanted| if !a.is_nan() && (b.is_nan() || b.order(a) == Some(wanted)) { new } else { old };
    match op {
        Segment::Sum => T::narrow(a.plus(b)),
        Segment::Prod => T::narrow(a.times(b)),
        Segment::Max => extreme(Ordering::Greater),
        Segment::Min => extreme(Ordering::Less),
    }
}

named_ops! {
    /// The reduction of a segment's rows, for sorted segment ids.
    SortedSegment {
        Sum = "SegmentSum"; Prod = "SegmentProd"; Max = "SegmentMax"; Min = "SegmentMin"; Mean = "SegmentMean";
    }
}

/// `SegmentSum` ...: row `i` of the result is the reduction of the rows of `x`, along its first axis, whose
/// id in `ids` is `i`. The ids are a nondecreasing vector of i32 or i64. The last row of the result is that
/// of the last id. An empty segment is 0, or 1 for products.
pub fn segment(
    op: SortedSegment,
    x: &HostTensor,
    ids: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let name = op.name();
    let Some((&n, rest)) = x.shape().dims().split_first() else {
        return invalid(name, "a scalar has no rows".to_owned());
    };
    if *ids.shape().dims() != [n] {
        return invalid(name, format!("ids of shape {} for the rows of shape {}", ids.shape(), x.shape()));
    }
    let ids = indices_of(name, ids)?;
    if ids.first().is_some_and(|&first| first < 0) || !ids.is_sorted() {
        return invalid(name, "the ids do not rise from 0 or more".to_owned());
    }
    let rows = ids.last().map_or(Ok(0), |&last| usize::try_from(last).map(|last| last.saturating_add(1)));
    let rows = rows.map_err(|_| TensorError::TooLarge)?;
    let out = HostTensor::allocate(x.dtype(), Shape::new(&[&[rows], rest].concat())?, allocator)?;
    if out.num_elements() == 0 {
        return Ok(out);
    }
    let len: usize = rest.iter().product();
    let joined = match op {
        SortedSegment::Sum | SortedSegment::Mean => Segment::Sum,
        SortedSegment::Prod => Segment::Prod,
        SortedSegment::Max => Segment::Max,
        SortedSegment::Min => Segment::Min,
    };
    with_element!(x.dtype(), T => {
        type Wide = <T as Number>::Wide;
        if !Wide::ORDERED && matches!(op, SortedSegment::Max | SortedSegment::Min) {
            return Err(TensorError::Unsupported { op: name, dtype: x.dtype() });
        }
        let (from, mut to) = (x.read::<T>()?, out.write::<T>()?);
        to.fill(T::narrow(if op == SortedSegment::Prod { Wide::ONE } else { Wide::ZERO }));
        let mut rows = from.chunks_exact(len);
        for run in ids.chunk_by(|a, b| a == b) {
            let to = &mut to[run[0] as usize * len..][..len]; // an id, not negative
            for (i, row) in rows.by_ref().take(run.len()).enumerate() {
                for (to, &x) in to.iter_mut().zip(row) {
                    *to = if i == 0 { x } else { together(joined, *to, x) };
                }
            }
            if op == SortedSegment::Mean {
                to.iter_mut().for_each(|to| *to = T::narrow(to.widen().over(run.len())));
            }
        }
    });
    Ok(out)
}

/// `DynamicStitch`: row `i` of the result is the last of the rows with index `i`, or zeros if there is none.
/// The shape of each data tensor begins with the shape of its indices (i32); the rest is the same for all.
pub fn dynamic_stitch(
    indices: &[&HostTensor],
    data: &[&HostTensor],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "DynamicStitch";
    let (Some(first), true) = (data.first(), indices.len() == data.len()) else {
        return invalid(op, format!("{} tensors of indices for {} of data", indices.len(), data.len()));
    };
    let rest = first.shape().dims().get(indices[0].shape().rank()..).unwrap_or_default();
    let mut rows = Vec::with_capacity(data.len());
    for (at, x) in indices.iter().zip(data) {
        x.expect_dtype("data", first.dtype())?;
        if *x.shape().dims() != *[at.shape().dims(), rest].concat() {
            let problem = format!("indices of shape {} for data of shape {}", at.shape(), x.shape());
            return invalid(op, problem);
        }
        rows.push(indices_of(op, at)?);
    }
    if let Some(negative) = rows.iter().flatten().find(|&&i| i < 0) {
        return invalid(op, format!("index {negative} is negative"));
    }
    let n = rows.iter().flatten().max().map_or(0, |&last| (last as usize).saturating_add(1));
    let out = HostTensor::zeros(first.dtype(), Shape::new(&[&[n], rest].concat())?, allocator)?;
    if out.num_elements() > 0 {
        let len = rest.iter().product::<usize>() * first.dtype().size();
        let mut to = out.write_bytes()?;
        for (rows, x) in rows.iter().zip(data) {
            for (&row, from) in rows.iter().zip(x.read_bytes()?.chunks_exact(len)) {
                let start = row as usize * len; // not negative, below n
                to[start..start + len].copy_from_slice(from);
            }
        }
    }
    Ok(out)
}

/// The largest number of partitions. The size of the data does not bound their number.
const MAX_PARTITIONS: usize = 1 << 20;

/// `DynamicPartition`: tensor `p` of the `n` results has the rows of `x` whose number in `partitions` (i32)
/// is `p`, in order. The shape of `x` begins with the shape of the partitions.
pub fn dynamic_partition(
    x: &HostTensor,
    partitions: &HostTensor,
    n: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<Vec<HostTensor>, TensorError> {
    let op = "DynamicPartition";
    if n > MAX_PARTITIONS {
        return invalid(op, format!("{n} partitions, at most {MAX_PARTITIONS} are possible"));
    }
    let rank = partitions.shape().rank();
    if x.shape().dims().get(..rank) != Some(partitions.shape().dims()) {
        let problem = format!("partitions of shape {} do not begin shape {}", partitions.shape(), x.shape());
        return invalid(op, problem);
    }
    let rest = &x.shape().dims()[rank..];
    let found = super::index::positions(op, partitions, n, x.shape())?;
    let mut rows: Vec<Vec<usize>> = filled(n.min(found.len()), Vec::new())?;
    for (row, &partition) in found.iter().enumerate() {
        if rows.len() <= partition {
            grow(&mut rows, partition + 1, Vec::new)?; // below n, which is the number of results
        }
        push(&mut rows[partition], row)?;
    }
    // Without elements the other dimensions are not bounded.
    let len = if x.num_elements() == 0 { 0 } else { rest.iter().product::<usize>() * x.dtype().size() };
    let from = x.read_bytes()?;
    let none = Vec::new();
    let part = |partition: usize| {
        let rows = rows.get(partition).unwrap_or(&none);
        let out = HostTensor::allocate(x.dtype(), Shape::new(&[&[rows.len()], rest].concat())?, allocator)?;
        if out.num_elements() > 0 {
            for (to, row) in out.write_bytes()?.chunks_exact_mut(len).zip(rows) {
                to.copy_from_slice(&from[row * len..][..len]);
            }
        }
        Ok(out)
    };
    try_collected((0..n).map(part))
}

/// A number of occurrences with one more, or a sum with one more weight. Only 0 and 1 if `is_binary`.
pub(super) fn counted<T: Number>(old: T, weight: Option<&T>, is_binary: bool) -> T {
    let one = <T::Wide as Domain>::ONE;
    match weight {
        _ if is_binary => T::narrow(one),
        Some(weight) => T::narrow(old.widen().plus(weight.widen())),
        None => T::narrow(old.widen().plus(one)),
    }
}

/// `DenseBincount`, `Bincount`: for each number below `size`, the count of its occurrences in a vector (or in
/// each row of a matrix) of i32 or i64. With weights, one per element, the result is the sum of the weights
/// at the occurrences. If `binary`, the result is 1 for a number that occurs. The result has the dtype of the
/// weights, which may be empty.
pub fn bincount(
    x: &HostTensor,
    size: usize,
    weights: &HostTensor,
    binary: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "DenseBincount";
    let (rows, row) = match *x.shape().dims() {
        [] => (None, 1),
        [n] => (None, n),
        [rows, n] => (Some(rows), n),
        _ => return invalid(op, format!("numbers of shape {}, expected a vector or a matrix", x.shape())),
    };
    if weights.num_elements() > 0 && weights.shape() != x.shape() {
        return invalid(
            op,
            format!("weights of shape {} for numbers of shape {}", weights.shape(), x.shape()),
        );
    }
    let numbers = indices_of(op, x)?;
    if let Some(number) = numbers.iter().find(|&&number| number < 0) {
        return invalid(op, format!("{number} is negative"));
    }
    let dims: Vec<usize> = rows.into_iter().chain([size]).collect();
    let out = HostTensor::zeros(weights.dtype(), Shape::new(&dims)?, allocator)?;
    if out.num_elements() > 0 {
        with_element!(weights.dtype(), T => {
            let (weights, mut to) = (weights.read::<T>()?, out.write::<T>()?);
            for (i, &number) in numbers.iter().enumerate() {
                let Some(number) = usize::try_from(number).ok().filter(|&number| number < size) else { continue };
                let to = &mut to[i / row * size + number];
                *to = counted(*to, weights.get(i), binary);
            }
        });
    }
    Ok(out)
}
