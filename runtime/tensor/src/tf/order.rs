//! Order: positions of extremes, the `k` largest elements, sorting, binary search.
//!
//! In sorting, a NaN is larger than any number. Positions of extremes skip NaN. Of equal elements, the first
//! is taken. Complex numbers are not supported, and i1 for positions of extremes only.

use std::cmp::Ordering;
use std::sync::Arc;

use super::index::indices_of;
use super::movement::transpose;
use super::numeric::{Domain, Number};
use super::reduce::axis_last;
use super::unary::cast;
use crate::element::with_element;
use crate::interrupt::expect_not_interrupted;
use crate::mem::Allocator;
use crate::sort::{AT_ONCE, least_by_keys, sorted_by_keys};
use crate::{DType, HostTensor, I1, Shape, TensorError, resolve_axis};

/// `ArgMax` (or `ArgMin`): positions along an axis, as i16, ui16, i32 or i64; 0 if all elements are NaN.
pub fn arg_extreme(
    largest: bool,
    x: &HostTensor,
    axis: i64,
    to: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let wanted = if largest { Ordering::Greater } else { Ordering::Less };
    if x.dtype() == DType::I1 {
        return arg_extreme(largest, &cast(x, DType::UI8, allocator)?, axis, to, allocator);
    }
    let shape = shape_of_places(largest, x.shape(), axis, to)?;
    let (transposed, _, len) = axis_last(x, axis, allocator)?;
    let out = HostTensor::allocate(DType::I64, shape, allocator)?;
    with_element!(x.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op: arg_name(largest), dtype: x.dtype() });
        }
        let from = transposed.read::<T>()?;
        for (row, out) in from.chunks_exact(len.max(1)).zip(out.write::<i64>()?.iter_mut()) {
            let mut best = 0;
            for (i, x) in row.iter().enumerate() {
                let (b, x) = (row[best].widen(), x.widen());
                if x.order(b) == Some(wanted) || (b.is_nan() && !x.is_nan()) {
                    best = i;
                }
            }
            *out = best as i64;
        }
    });
    cast(&out, to, allocator)
}

fn arg_name(largest: bool) -> &'static str {
    if largest { "ArgMax" } else { "ArgMin" }
}

/// The shape of the result of [`arg_extreme`]. Fails if the axis is empty, or too long for positions of this
/// type, or if the type is none of positions.
pub(super) fn shape_of_places(
    largest: bool,
    shape: &Shape,
    axis: i64,
    to: DType,
) -> Result<Shape, TensorError> {
    let op = arg_name(largest);
    let limit: u64 = match to {
        DType::I16 => 1 << 15,
        DType::UI16 => 1 << 16,
        DType::I32 => 1 << 31,
        DType::I64 => 1 << 63,
        dtype => return Err(TensorError::Unsupported { op, dtype }),
    };
    let mut dims = shape.dims().to_vec();
    let len = dims.remove(resolve_axis(shape, axis)?);
    let places = Shape::new(&dims)?;
    if len == 0 && places.num_elements() > 0 {
        return Err(TensorError::EmptyAxis { shape: shape.clone() });
    }
    if len as u64 > limit {
        let problem = format!("an axis of length {len} is too long for {to} indices, shape {shape}");
        return Err(TensorError::Invalid { op, problem });
    }
    Ok(places)
}

/// `TopKV2`: the `k` largest elements of each row of the last axis in descending order, and their positions
/// (i32). Equal elements stay in the row's order.
pub fn top_k(
    x: &HostTensor,
    k: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    let Some((&len, outer)) = x.shape().dims().split_last() else {
        return Err(TensorError::Axis { axis: -1, shape: x.shape().clone() });
    };
    if k > len {
        let problem = format!("the {k} largest of rows of {len} in shape {}", x.shape());
        return Err(TensorError::Invalid { op: "TopKV2", problem });
    }
    if i32::try_from(len).is_err() {
        return Err(TensorError::IndexRange { n: len });
    }
    let shape = Shape::new(&[outer, &[k]].concat())?;
    let values = HostTensor::allocate(x.dtype(), shape.clone(), allocator)?;
    let places = HostTensor::allocate(DType::I32, shape, allocator)?;
    if values.num_elements() == 0 {
        return Ok([values, places]);
    }
    with_element!(x.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op: "TopKV2", dtype: x.dtype() });
        }
        let (from, mut top, mut at) = (x.read::<T>()?, values.write::<T>()?, places.write::<i32>()?);
        for ((row, top), at) in from.chunks_exact(len).zip(top.chunks_exact_mut(k)).zip(at.chunks_exact_mut(k)) {
            let order = least_by_keys(row.iter().map(|x| !x.sort_key()), k)?;
            for ((top, at), &i) in top.iter_mut().zip(at).zip(&order) {
                (*top, *at) = (row[i], i as i32); // checked above
            }
        }
    });
    Ok([values, places])
}

/// `tf.sort` along an axis; NaN counts as the largest, and zeros of both signs are in any order.
pub fn sort(
    x: &HostTensor,
    axis: i64,
    descend: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let (transposed, back, len) = axis_last(x, axis, allocator)?;
    let out = HostTensor::allocate(x.dtype(), transposed.shape().clone(), allocator)?;
    with_element!(x.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op: "Sort", dtype: x.dtype() });
        }
        let (from, mut to) = (transposed.read::<T>()?, out.write::<T>()?);
        let flip = if descend { u64::MAX } else { 0 };
        for (row, to) in from.chunks_exact(len.max(1)).zip(to.chunks_exact_mut(len.max(1))) {
            if len <= AT_ONCE {
                expect_not_interrupted()?;
                to.copy_from_slice(row);
                T::sort(to);
                if descend {
                    to.reverse();
                }
                continue;
            }
            let order = sorted_by_keys(row.iter().map(|x| x.sort_key() ^ flip))?;
            to.iter_mut().zip(order).for_each(|(to, i)| *to = row[i]);
        }
    });
    if transposed.shares_buffer(x) { Ok(out) } else { transpose(&out, &back, allocator) }
}

/// `InTopKV2`: for each row of predictions (f32), true if fewer than `k` are larger than the prediction of
/// the target class; false if a prediction of the row is not finite or the class does not exist.
pub fn in_top_k(
    predictions: &HostTensor,
    targets: &HostTensor,
    k: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let &[rows, classes] = predictions.shape().dims() else {
        return Err(TensorError::Rank { what: "predictions", want: 2, got: predictions.shape().clone() });
    };
    targets.expect_shape("targets", &Shape::new(&[rows])?)?;
    let targets = indices_of("InTopKV2", targets)?;
    let out = HostTensor::zeros(DType::I1, Shape::new(&[rows])?, allocator)?;
    let from = predictions.read_as::<f32>("predictions")?;
    for ((row, target), out) in
        from.chunks_exact(classes.max(1)).zip(targets).zip(out.write::<I1>()?.iter_mut())
    {
        let target = usize::try_from(target).ok().and_then(|t| row.get(t)).filter(|t| t.is_finite());
        let is_in = target.is_some_and(|target| {
            row.iter().all(|p| p.is_finite()) && (row.iter().filter(|&p| p > target).count() as i64) < k
        });
        *out = is_in.into();
    }
    Ok(out)
}

/// `LowerBound` (or `UpperBound`): for each value, the first (or last) position at which its insertion keeps
/// the matching row of `sorted` in order, as i32 or i64. Both operands are matrices with equal numbers of
/// rows.
pub fn search_sorted(
    upper: bool,
    sorted: &HostTensor,
    values: &HostTensor,
    to: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = if upper { "UpperBound" } else { "LowerBound" };
    let (&[rows, n], &[value_rows, m]) = (sorted.shape().dims(), values.shape().dims()) else {
        let problem = format!("shapes {} and {}, expected matrices", sorted.shape(), values.shape());
        return Err(TensorError::Invalid { op, problem });
    };
    values.expect_dtype("values", sorted.dtype())?;
    if rows != value_rows {
        let problem = format!("shapes {} and {} differ in their rows", sorted.shape(), values.shape());
        return Err(TensorError::Invalid { op, problem });
    }
    if !matches!(to, DType::I32 | DType::I64) {
        return Err(TensorError::Unsupported { op, dtype: to });
    }
    if to == DType::I32 && i32::try_from(n).is_err() {
        return Err(TensorError::IndexRange { n });
    }
    let out = HostTensor::allocate(DType::I64, values.shape().clone(), allocator)?;
    with_element!(sorted.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op, dtype: sorted.dtype() });
        }
        let (from, values) = (sorted.read::<T>()?, values.read::<T>()?);
        for (i, (out, value)) in out.write::<i64>()?.iter_mut().zip(values.iter()).enumerate() {
            let (row, value) = (i / m, value.widen());
            let is_before = |x: &T| match x.widen().order(value) {
                Some(Ordering::Less) => true,
                Some(Ordering::Greater) => false,
                // A NaN is behind all for `UpperBound`, before all for `LowerBound`.
                Some(Ordering::Equal) | None => upper,
            };
            *out = from[row * n..(row + 1) * n].partition_point(is_before) as i64;
        }
    });
    cast(&out, to, allocator)
}
