//! Reductions and scans.
//!
//! Every function transposes its operand so that the affected elements are contiguous rows. Reductions sum
//! pairwise in the wide type of `numeric.rs` and round once, so the error grows with the logarithm of the
//! count. An empty reduction is the neutral element: 0, 1, the lowest or highest number, false or true. An
//! empty mean is NaN for floats and 0 for integers.

use std::cmp::Ordering;
use std::f64::consts::LN_2;
use std::sync::Arc;

use super::movement::transpose;
use super::numeric::{AnyWide, Domain, Number, named_ops};
use super::real::reals;
use super::shapes::axis_set;
use super::unary::{Unary, UnaryTable, cast};
use crate::element::with_element;
use crate::mem::Allocator;
use crate::{DType, HostTensor, Shape, TensorError, resolve_axis};

named_ops! {
    /// A reduction of numbers, or of booleans for `All` and `Any`.
    Reduce { Sum = "Sum"; Prod = "Prod"; Min = "Min"; Max = "Max"; Mean = "Mean"; EuclideanNorm = "EuclideanNorm"; All = "All"; Any = "Any"; }
}

named_ops! {
    /// A running sum or product. `CumulativeLogsumexp` is the logarithm of a running sum of exponentials, for
    /// floats.
    Scan { Cumsum = "Cumsum"; Cumprod = "Cumprod"; CumulativeLogsumexp = "CumulativeLogsumexp"; }
}

/// The reduction over `axes`, each listed once. A reduced axis has length 1 in the result if `keep_dims`;
/// otherwise it is removed. `Min` and `Max` are NaN if any element is NaN.
pub fn reduce(
    op: Reduce,
    x: &HostTensor,
    axes: &[i64],
    keep_dims: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let (set, kept) = kept_dims(op, x.shape(), axes, keep_dims)?;
    let on_truth = matches!(op, Reduce::All | Reduce::Any);
    let complex = matches!(x.dtype(), DType::Complex64 | DType::Complex128);
    if on_truth != (x.dtype() == DType::I1) || (complex && matches!(op, Reduce::Min | Reduce::Max)) {
        return Err(TensorError::Unsupported { op: op.name(), dtype: x.dtype() });
    }
    let dims = x.shape().dims();
    let (mut perm, mut reduced) = (Vec::new(), Vec::new());
    for (i, &is_reduced) in set.iter().enumerate() {
        if is_reduced {
            reduced.push(i as i64);
        } else {
            perm.push(i as i64);
        }
    }
    let row: usize = reduced.iter().map(|&i| dims[i as usize]).product();
    perm.extend(reduced);
    let in_order = perm.iter().enumerate().all(|(i, &p)| i as i64 == p);
    let transposed = if in_order { x.clone() } else { transpose(x, &perm, allocator)? };
    let out = HostTensor::allocate(x.dtype(), Shape::new(&kept)?, allocator)?;
    with_element!(x.dtype(), T => {
        let from = transposed.read::<T>()?;
        for (i, out) in out.write::<T>()?.iter_mut().enumerate() {
            *out = reduce_row(op, &from[i * row..(i + 1) * row]);
        }
    });
    Ok(out)
}

/// The mask of reduced axes, and the dimensions of the result.
pub(super) fn kept_dims(
    op: Reduce,
    shape: &Shape,
    axes: &[i64],
    keep_dims: bool,
) -> Result<(Vec<bool>, Vec<usize>), TensorError> {
    let set = axis_set(op.name(), shape, axes)?;
    let kept = shape.dims().iter().zip(&set).filter_map(|(&dim, &reduced)| match (reduced, keep_dims) {
        (false, _) => Some(dim),
        (true, true) => Some(1),
        (true, false) => None,
    });
    let kept = kept.collect();
    Ok((set, kept))
}

/// `L2Loss`: half the sum of squares of a float tensor, a scalar.
pub fn l2_loss(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let wide = reals("L2Loss", x, allocator)?;
    let loss = sum(&wide.read::<f64>()?, |x| x * x) / 2.0;
    cast(&HostTensor::from_slice(Shape::scalar(), &[loss], allocator)?, x.dtype(), allocator)
}

fn reduce_row<T: Number>(op: Reduce, row: &[T]) -> T {
    match op {
        Reduce::Sum | Reduce::Any => T::narrow(sum(row, |x| x)),
        Reduce::Prod | Reduce::All => T::narrow(pairwise(row, |x| x, T::Wide::ONE, T::Wide::times)),
        Reduce::Mean => {
            let sum = sum(row, |x| x);
            // As in TensorFlow, a sum of 64-bit integers wraps around before the division. A sum of shorter
            // integers does not overflow.
            let sum = match sum.any() {
                AnyWide::Int(_) if T::BITS == 64 => T::narrow(sum).widen(),
                _ => sum,
            };
            T::narrow(sum.over(row.len()))
        }
        Reduce::EuclideanNorm => {
            let sum = sum(row, |x| x.times(x.conjugated()));
            match (sum.any(), T::Wide::unary(Unary::Sqrt)) {
                (AnyWide::Int(_), _) => T::cast(AnyWide::Real(T::narrow(sum).widen().any().real().sqrt())),
                (_, Some(sqrt)) => T::narrow(sqrt(sum)),
                _ => T::narrow(sum),
            }
        }
        Reduce::Min => extreme(row, Ordering::Less),
        Reduce::Max => extreme(row, Ordering::Greater),
    }
}

/// The first largest or smallest element of a row, or the first NaN; for an empty row, the neutral element.
fn extreme<T: Number>(row: &[T], wanted: Ordering) -> T {
    let Some(&first) = row.first() else { return far_end(wanted) };
    row.iter().fold(first, |best, &x| {
        let (b, w) = (best.widen(), x.widen());
        if !b.is_nan() && (w.is_nan() || w.order(b) == Some(wanted)) { x } else { best }
    })
}

/// The neutral element of a maximum or minimum: the lowest or the highest number of a dtype, infinite for
/// floats.
pub(super) fn far_end<T: Number>(wanted: Ordering) -> T {
    let end = T::ENDS[usize::from(wanted == Ordering::Less)];
    match end.widen().any() {
        AnyWide::Real(x) => T::cast(AnyWide::Real(f64::INFINITY.copysign(x))),
        _ => end,
    }
}

fn sum<T: Number>(row: &[T], of: fn(T::Wide) -> T::Wide) -> T::Wide {
    pairwise(row, of, T::Wide::ZERO, T::Wide::plus)
}

/// Reduces both halves of a row, down to short rows. The depth is logarithmic in the length.
fn pairwise<T: Number>(
    row: &[T],
    of: fn(T::Wide) -> T::Wide,
    start: T::Wide,
    f: fn(T::Wide, T::Wide) -> T::Wide,
) -> T::Wide {
    if row.len() <= 32 {
        return row.iter().fold(start, |acc, x| f(acc, of(x.widen())));
    }
    let (left, right) = row.split_at(row.len() / 2);
    f(pairwise(left, of, start, f), pairwise(right, of, start, f))
}

/// The tensor with the axis moved to the end, the permutation that moves it back, and the length of the axis.
pub(super) fn axis_last(
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
    let transposed = if at + 1 == perm.len() { x.clone() } else { transpose(x, &perm, allocator)? };
    Ok((transposed, back, x.shape().dims()[at]))
}

/// `Cumsum`, `Cumprod`, `CumulativeLogsumexp` along an axis. Exclusive scans omit the element itself; reverse
/// scans start at the end. The logarithm of an empty sum is minus infinity.
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
    let (transposed, back, len) = axis_last(x, axis, allocator)?;
    let turned_back = |out: HostTensor| {
        if transposed.shape() == x.shape() && transposed.shares_buffer(x) {
            Ok(out)
        } else {
            transpose(&out, &back, allocator)
        }
    };
    let walk = Walk { len, exclusive, reverse };
    if op == Scan::CumulativeLogsumexp {
        let sums = reals(op.name(), &transposed, allocator)?;
        walk.run::<f64>(&mut sums.write::<f64>()?, f64::NEG_INFINITY, log_add);
        return turned_back(cast(&sums, x.dtype(), allocator)?);
    }
    let out = HostTensor::allocate(x.dtype(), transposed.shape().clone(), allocator)?;
    with_element!(x.dtype(), T => {
        type Wide = <T as Number>::Wide;
        let (start, f): (Wide, fn(Wide, Wide) -> Wide) = match op {
            Scan::Cumprod => (Wide::ONE, Wide::times),
            Scan::Cumsum | Scan::CumulativeLogsumexp => (Wide::ZERO, Wide::plus),
        };
        let mut to = out.write::<T>()?;
        to.copy_from_slice(&transposed.read::<T>()?);
        walk.run::<T>(&mut to, start, f);
    });
    turned_back(out)
}

/// `log(e^a + e^b)` without overflow.
fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == high || (high == f64::INFINITY && !low.is_nan()) {
        high + if low == high { LN_2 } else { 0.0 }
    } else {
        high + (low - high).exp().ln_1p()
    }
}

/// The options of a scan along rows.
struct Walk {
    len: usize,
    exclusive: bool,
    reverse: bool,
}

impl Walk {
    fn run<T: Number>(&self, rows: &mut [T], start: T::Wide, f: fn(T::Wide, T::Wide) -> T::Wide) {
        for row in rows.chunks_exact_mut(self.len.max(1)) {
            let mut acc = start;
            for i in 0..self.len {
                let x = &mut row[if self.reverse { self.len - 1 - i } else { i }];
                let next = f(acc, x.widen());
                *x = T::narrow(if self.exclusive { acc } else { next });
                acc = next;
            }
        }
    }
}
