//! Creation of tensors: fills, ranges, identity matrices.

use std::sync::Arc;

use super::numeric::{AnyWide, Domain, Number};
use super::real::scalar;
use crate::element::with_element;
use crate::mem::Allocator;
use crate::{DType, HostTensor, Shape, TensorError};

/// `Fill`: a scalar repeated.
pub fn fill(
    shape: Shape,
    value: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    value.expect_shape("value", &Shape::scalar())?;
    HostTensor::splat(value.dtype(), shape, &value.read_bytes()?, allocator)
}

/// `Range`: the numbers `start`, `start + delta`, ... before `limit`. The operands are scalars of one integer
/// or float dtype.
pub fn range(
    start: &HostTensor,
    limit: &HostTensor,
    delta: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let n = range_len(start, limit, delta)?;
    let out = HostTensor::allocate(start.dtype(), Shape::new(&[n])?, allocator)?;
    with_element!(start.dtype(), T => {
        let (start, delta) = (number::<T>(start)?, number::<T>(delta)?);
        for (i, out) in out.write::<T>()?.iter_mut().enumerate() {
            *out = T::cast(match (start, delta) {
                (AnyWide::Int(a), AnyWide::Int(d)) => AnyWide::Int(a + d * i as i128),
                (AnyWide::Real(a), AnyWide::Real(d)) => AnyWide::Real(a + d * i as f64),
                (other, _) => other,
            });
        }
    });
    Ok(out)
}

/// The value of a scalar.
fn number<T: Number>(x: &HostTensor) -> Result<AnyWide, TensorError> {
    Ok(x.read::<T>()?.first().map_or(AnyWide::Int(0), |x| x.widen().any()))
}

/// The length of [`range`].
pub(super) fn range_len(
    start: &HostTensor,
    limit: &HostTensor,
    delta: &HostTensor,
) -> Result<usize, TensorError> {
    let op = "Range";
    for (what, x) in [("start", start), ("limit", limit), ("delta", delta)] {
        x.expect_dtype(what, start.dtype())?;
        x.expect_shape(what, &Shape::scalar())?;
    }
    let dtype = start.dtype();
    let (start, limit, delta) =
        with_element!(dtype, T => (number::<T>(start)?, number::<T>(limit)?, number::<T>(delta)?));
    let refused = |problem: String| Err(TensorError::Invalid { op, problem });
    let n = match (start, limit, delta) {
        (AnyWide::Int(_), AnyWide::Int(_), AnyWide::Int(0)) => return refused("delta is 0".to_owned()),
        (AnyWide::Int(a), AnyWide::Int(b), AnyWide::Int(d)) => {
            let distance = if d > 0 { b - a } else { a - b };
            if distance < 0 {
                return refused(format!("limit {b} is not reached from {a} in steps of {d}"));
            }
            (distance as u128).div_ceil(d.unsigned_abs()) as f64
        }
        (AnyWide::Real(a), AnyWide::Real(b), AnyWide::Real(d)) => {
            let n = ((b - a) / d).ceil();
            if d == 0.0 || n.is_nan() || n < 0.0 {
                return refused(format!("limit {b} is not reached from {a} in steps of {d}"));
            }
            n
        }
        _ => return Err(TensorError::Unsupported { op, dtype }),
    };
    if n < 9e18 { Ok(n as usize) } else { Err(TensorError::TooLarge) }
}

/// `LinSpace`: `n` equidistant numbers from `start` to `stop`, both included. The operands are scalars of one
/// float dtype, which is also that of the result.
pub fn lin_space(
    start: &HostTensor,
    stop: &HostTensor,
    n: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "LinSpace";
    stop.expect_dtype("stop", start.dtype())?;
    let (first, last) = (scalar(op, "start", start)?, scalar(op, "stop", stop)?);
    let Some(count) = usize::try_from(n).ok().filter(|&n| n > 0) else {
        return Err(TensorError::Invalid { op, problem: format!("{n} numbers from {first} to {last}") });
    };
    let out = HostTensor::allocate(start.dtype(), Shape::new(&[count])?, allocator)?;
    let step = if count > 1 { (last - first) / (count - 1) as f64 } else { 0.0 };
    with_element!(start.dtype(), T => {
        for (i, out) in out.write::<T>()?.iter_mut().enumerate() {
            let x = match i {
                0 => first,
                i if i == count - 1 => last,
                i => first + step * i as f64,
            };
            *out = T::cast(AnyWide::Real(x));
        }
    });
    Ok(out)
}

/// `ZerosLike`.
pub fn zeros_like(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    HostTensor::zeros(x.dtype(), x.shape().clone(), allocator)
}

/// `OnesLike`.
pub fn ones_like(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(x.dtype(), x.shape().clone(), allocator)?;
    with_element!(x.dtype(), T => out.write::<T>()?.fill(T::narrow(Domain::ONE)));
    Ok(out)
}

/// The identity matrix of a dtype, extended or cut to `rows` by `cols`.
pub fn eye(
    rows: usize,
    cols: usize,
    dtype: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::zeros(dtype, Shape::new(&[rows, cols])?, allocator)?;
    with_element!(dtype, T => {
        for (i, row) in out.write::<T>()?.chunks_exact_mut(cols.max(1)).enumerate() {
            if let Some(one) = row.get_mut(i) {
                *one = T::narrow(Domain::ONE);
            }
        }
    });
    Ok(out)
}
