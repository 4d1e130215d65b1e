//! Tensors out of numbers: fills, ranges, diagonals, shapes.

use std::sync::Arc;

use super::numeric::{AnyWide, Domain, Number};
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

/// `Shape`: the dimensions as i32 or i64. Fails for i32 where a dimension does not fit.
pub fn shape_of(
    x: &HostTensor,
    to: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let dims = x.shape().dims();
    if let (DType::I32, Some(&n)) = (to, dims.iter().find(|&&dim| i32::try_from(dim).is_err())) {
        return Err(TensorError::IndexRange { n });
    }
    if !matches!(to, DType::I32 | DType::I64) {
        return Err(TensorError::Unsupported { op: "Shape", dtype: to });
    }
    let dims: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
    super::unary::cast(&HostTensor::from_slice(Shape::new(&[dims.len()])?, &dims, allocator)?, to, allocator)
}

/// `Range`: `start`, `start + delta`, ... before `limit`; three scalars of one dtype of integers or floats.
pub fn range(
    start: &HostTensor,
    limit: &HostTensor,
    delta: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "Range";
    for (what, x) in [("start", start), ("limit", limit), ("delta", delta)] {
        x.expect_dtype(what, start.dtype())?;
        x.expect_shape(what, &Shape::scalar())?;
    }
    let dtype = start.dtype();
    with_element!(dtype, T => {
        let wide = |x: &HostTensor| -> Result<AnyWide, TensorError> { Ok(x.read::<T>()?[0].widen().any()) };
        let refused = |problem: String| Err(TensorError::Invalid { op, problem });
        let (start, limit, delta) = (wide(start)?, wide(limit)?, wide(delta)?);
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
        if n >= 9e18 {
            return Err(TensorError::TooLarge);
        }
        let out = HostTensor::allocate(dtype, Shape::new(&[n as usize])?, allocator)?;
        for (i, out) in out.write::<T>()?.iter_mut().enumerate() {
            *out = T::cast(match (start, delta) {
                (AnyWide::Int(a), AnyWide::Int(d)) => AnyWide::Int(a + d * i as i128),
                (AnyWide::Real(a), AnyWide::Real(d)) => AnyWide::Real(a + d * i as f64),
                (other, _) => other,
            });
        }
        Ok(out)
    })
}

/// `LinSpace`: `n` numbers from `start` to `stop`, both included, as floats of a dtype.
pub fn lin_space(
    start: f64,
    stop: f64,
    n: usize,
    dtype: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    if n == 0 || !matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64) {
        let problem = format!("{n} numbers of dtype {dtype}");
        return Err(TensorError::Invalid { op: "LinSpace", problem });
    }
    let out = HostTensor::allocate(dtype, Shape::new(&[n])?, allocator)?;
    let step = if n > 1 { (stop - start) / (n - 1) as f64 } else { 0.0 };
    with_element!(dtype, T => {
        for (i, out) in out.write::<T>()?.iter_mut().enumerate() {
            let x = if i > 0 && i == n - 1 { stop } else { start + step * i as f64 };
            *out = T::cast(AnyWide::Real(x));
        }
    });
    Ok(out)
}

/// The identity matrix of a dtype, or a part of it: `rows` by `cols`.
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

/// `Diag`: the tensor of shape `dims ++ dims` that has `x` on its diagonal and zeros elsewhere.
pub fn diag(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let dims = x.shape().dims();
    let out = HostTensor::zeros(x.dtype(), Shape::new(&[dims, dims].concat())?, allocator)?;
    let (n, size) = (x.num_elements(), x.dtype().size());
    {
        let (from, mut to) = (x.read_bytes()?, out.write_bytes()?);
        for (i, element) in from.chunks_exact(size).enumerate() {
            let at = i * (n + 1) * size;
            to[at..at + size].copy_from_slice(element);
        }
    }
    Ok(out)
}
