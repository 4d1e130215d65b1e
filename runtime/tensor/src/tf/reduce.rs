//! Reductions, scans, positions of extremes, sorting.
//!
//! Every function turns the tensor so that what it works on lies in contiguous rows, and works on rows. Sums are taken pairwise in the
//! wide type of `numeric.rs` and rounded once: the error grows with the logarithm of the count. An empty reduction is the neutral element: 0, 1,
//! the lowest or highest number, false or true; an empty mean is NaN for floats and 0 for integers.

use std::cmp::Ordering;
use std::sync::Arc;

use super::movement::{axis_set, transpose};
use super::numeric::{AnyWide, Domain, Number, named_ops};
use crate::element::with_element;
use crate::mem::Allocator;
use crate::{DType, HostTensor, I1, Shape, TensorError, resolve_axis};

named_ops! {
    /// A reduction of numbers, or for `All` and `Any` of truth values.
    Reduce { Sum = "Sum"; Prod = "Prod"; Min = "Min"; Max = "Max"; Mean = "Mean"; All = "All"; Any = "Any"; }
}

named_ops! {
    /// A running sum or product.
    Scan { Cumsum = "Cumsum"; Cumprod = "Cumprod"; }
}

/// The reduction over these axes, each named once; they become 1 long if `keep_dims`, else they go away. `Min` and `Max` are NaN where there
/// is one.
pub fn reduce(
    op: Reduce,
    x: &HostTensor,
    axes: &[i64],
    keep_dims: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let set = axis_set(op.name(), x.shape(), axes)?;
    let on_truth = matches!(op, Reduce::All | Reduce::Any);
    let complex = matches!(x.dtype(), DType::Complex64 | DType::Complex128);
    if on_truth != (x.dtype() == DType::I1) || (complex && matches!(op, Reduce::Min | Reduce::Max)) {
        return Err(TensorError::Unsupported { op: op.name(), dtype: x.dtype() });
    }
    let dims = x.shape().dims();
    let (mut perm, mut reduced, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (i, &dim) in dims.iter().enumerate() {
        if set[i] {
            reduced.push(i as i64);
        } else {
            perm.push(i as i64);
        }
        match (set[i], keep_dims) {
            (false, _) => kept.push(dim),
            (true, true) => kept.push(1),
            (true, false) => {}
        }
    }
    let row: usize = reduced.iter().map(|&i| dims[i as usize]).product();
    perm.extend(reduced);
    let in_order = perm.iter().enumerate().all(|(i, &p)| i as i64 == p);
    let turned = if in_order { x.clone() } else { transpose(x, &perm, allocator)? };
    let out = HostTensor::allocate(x.dtype(), Shape::new(&kept)?, allocator)?;
    with_element!(x.dtype(), T => {
        let from = turned.read::<T>()?;
        for (i, out) in out.write::<T>()?.iter_mut().enumerate() {
            *out = reduce_row(op, &from[i * row..(i + 1) * row]);
        }
    });
    Ok(out)
}

fn reduce_row<T: Number>(op: Reduce, row: &[T]) -> T {
    match op {
        Reduce::Sum | Reduce::Any => T::narrow(pairwise(row, T::Wide::ZERO, T::Wide::plus)),
        Reduce::Prod | Reduce::All => T::narrow(pairwise(row, T::Wide::ONE, T::Wide::times)),
        Reduce::Mean => {
            let sum = pairwise(row, T::Wide::ZERO, T::Wide::plus);
            // An integer sum wraps around before it is divided, as TensorFlow's does.
            let sum = match sum.any() {
                AnyWide::Int(_) => T::narrow(sum).widen(),
                _ => sum,
            };
            T::narrow(sum.over(row.len()))
        }
        Reduce::Min => extreme(row, Ordering::Less, f64::INFINITY, i128::MAX),
        Reduce::Max => extreme(row, Ordering::Greater, f64::NEG_INFINITY, i128::MIN),
    }
}

/// The largest or smallest of a row; of an empty row, the far end of the dtype.
fn extreme<T: Number>(row: &[T], wanted: Ordering, end: f64, int_end: i128) -> T {
    let Some(&first) = row.first() else {
        return match T::Wide::ZERO.any() {
            // The saturating conversion finds the end of an integer type.
            AnyWide::Int(_) => T::cast(AnyWide::Real(int_end as f64)),
            _ => T::cast(AnyWide::Real(end)),
        };
    };
    row.iter().fold(first, |best, &x| {
        let (b, w) = (best.widen(), x.widen());
        if !b.is_nan() && (w.is_nan() || w.order(b) == Some(wanted)) { x } else { best }
    })
}

/// Halves a row until it is short. The depth is the logarithm of the length.
fn pairwise<T: Number>(row: &[T], start: T::Wide, f: fn(T::Wide, T::Wide) -> T::Wide) -> T::Wide {
    if row.len() <= 32 {
        return row.iter().fold(start, |acc, x| f(acc, x.widen()));
    }
    let (left, right) = row.split_at(row.len() / 2);
    f(pairwise(left, start, f), pairwise(right, start, f))
}

/// The axis moved to the end, and the way back.
fn axis_last(
    x: &HostTensor,
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<(HostTensor, Vec<i64>, usize), TensorError> {
    let at = resolve_axis(x.shape(), axis)?;
    let mut perm: Vec<i64> = (0..x.shape().rank() as i64).filter(|&i| i != at as i64).collect();
    perm.push(at as i64);
    let mut back = vec![0; perm.len()];
    for (i, &p) in perm.iter().enumerate() {
        back[p as usize] = i as i64;
    }
    let turned = if at + 1 == perm.len() { x.clone() } else { transpose(x, &perm, allocator)? };
    Ok((turned, back, x.shape().dims()[at]))
}

/// `Cumsum`, `Cumprod` along an axis; exclusive: without the element itself; reverse: from the end.
pub fn scan(
    op: Scan,
    x: &HostTensor,
    axis: i64,
    exclusive: bool,
    reverse: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    if x.dtype() == DType::I1 {
        return Err(TensorError::Unsupported { op: op.name(), dtype: DType::I1 });
    }
    let (turned, back, len) = axis_last(x, axis, allocator)?;
    let out = HostTensor::allocate(x.dtype(), turned.shape().clone(), allocator)?;
    with_element!(x.dtype(), T => {
        type Wide = <T as Number>::Wide;
        let (start, f): (Wide, fn(Wide, Wide) -> Wide) = match op {
            Scan::Cumsum => (Wide::ZERO, Wide::plus),
            Scan::Cumprod => (Wide::ONE, Wide::times),
        };
        let (from, mut to) = (turned.read::<T>()?, out.write::<T>()?);
        for (from, to) in from.chunks_exact(len.max(1)).zip(to.chunks_exact_mut(len.max(1))) {
            let mut acc = start;
            for i in 0..len {
                let i = if reverse { len - 1 - i } else { i };
                let next = f(acc, from[i].widen());
                to[i] = T::narrow(if exclusive { acc } else { next });
                acc = next;
            }
        }
    });
    if turned.shares_buffer(x) { Ok(out) } else { transpose(&out, &back, allocator) }
}

/// `ArgMax` (or `ArgMin`): positions along an axis, as i32 or i64; the first of equals. A NaN is larger, or smaller, than any number.
pub fn arg_extreme(
    largest: bool,
    x: &HostTensor,
    axis: i64,
    to: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = if largest { "ArgMax" } else { "ArgMin" };
    let wanted = if largest { Ordering::Greater } else { Ordering::Less };
    let (turned, _, len) = axis_last(x, axis, allocator)?;
    if !matches!(to, DType::I32 | DType::I64) {
        return Err(TensorError::Unsupported { op, dtype: to });
    }
    let dims = turned.shape().dims();
    let out = HostTensor::allocate(DType::I64, Shape::new(&dims[..dims.len() - 1])?, allocator)?;
    if len == 0 && out.num_elements() > 0 {
        return Err(TensorError::EmptyAxis { shape: x.shape().clone() });
    }
    if to == DType::I32 && i32::try_from(len).is_err() {
        return Err(TensorError::IndexRange { n: len });
    }
    with_element!(x.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op, dtype: x.dtype() });
        }
        let from = turned.read::<T>()?;
        for (row, out) in from.chunks_exact(len.max(1)).zip(out.write::<i64>()?.iter_mut()) {
            let mut best = 0;
            for (i, x) in row.iter().enumerate() {
                let (b, x) = (row[best].widen(), x.widen());
                if !b.is_nan() && (x.is_nan() || x.order(b) == Some(wanted)) {
                    best = i;
                }
            }
            *out = best as i64;
        }
    });
    super::unary::cast(&out, to, allocator)
}

/// From large to small, NaN first; equals keep their order.
fn descending<T: Number>(a: &T, b: &T) -> Ordering {
    let (a, b) = (a.widen(), b.widen());
    b.order(a).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

/// `TopKV2`: the `k` largest of each row of the last axis, largest first, and their positions (i32); the first of equals comes first.
pub fn top_k(
    x: &HostTensor,
    k: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<(HostTensor, HostTensor), TensorError> {
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
        return Ok((values, places));
    }
    with_element!(x.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op: "TopKV2", dtype: x.dtype() });
        }
        let (from, mut top, mut at) = (x.read::<T>()?, values.write::<T>()?, places.write::<i32>()?);
        for ((row, top), at) in from.chunks_exact(len).zip(top.chunks_exact_mut(k)).zip(at.chunks_exact_mut(k)) {
            let mut order: Vec<usize> = (0..len).collect();
            order.sort_by(|&i, &j| descending(&row[i], &row[j]));
            for ((top, at), &i) in top.iter_mut().zip(at).zip(&order) {
                (*top, *at) = (row[i], i as i32); // checked above
            }
        }
    });
    Ok((values, places))
}

/// `tf.sort` along an axis; NaN counts as the largest.
pub fn sort(
    x: &HostTensor,
    axis: i64,
    descend: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let (turned, back, len) = axis_last(x, axis, allocator)?;
    let out = HostTensor::allocate(x.dtype(), turned.shape().clone(), allocator)?;
    with_element!(x.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op: "Sort", dtype: x.dtype() });
        }
        let mut to = out.write::<T>()?;
        to.copy_from_slice(&turned.read::<T>()?);
        for row in to.chunks_exact_mut(len.max(1)) {
            row.sort_by(|a, b| if descend { descending(a, b) } else { descending(b, a) });
        }
    });
    if turned.shares_buffer(x) { Ok(out) } else { transpose(&out, &back, allocator) }
}

/// `InTopKV2`: whether fewer than `k` predictions of a row (f32) are larger than the target's; false if that is not finite or there is no
/// such class.
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
    let targets = super::index::indices_of("InTopKV2", targets)?;
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
