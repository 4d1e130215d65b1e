//! The distance of floats in units in the last place: the number of floats between them.

use crate::{DType, HostTensor, TensorError, ops};

/// True if two tensors of one float type have the same shape, and no two elements are more than `limit`
/// floats apart. A NaN is near no number, not even a NaN. Tensors of other types than f32 and f64 are
/// compared exactly.
///
/// # Errors
/// If the types differ, or a tensor is being written.
pub fn within(a: &HostTensor, b: &HostTensor, limit: u64) -> Result<bool, TensorError> {
    b.expect_dtype("b", a.dtype())?;
    if a.shape() != b.shape() {
        return Ok(false);
    }
    match a.dtype() {
        DType::F32 => {
            let (a, b) = (a.read_as::<f32>("a")?, b.read_as::<f32>("b")?);
            Ok(a.iter()
                .zip(b.iter())
                .all(|(a, b)| near(a.is_nan() || b.is_nan(), place32(*a), place32(*b), limit)))
        }
        DType::F64 => {
            let (a, b) = (a.read_as::<f64>("a")?, b.read_as::<f64>("b")?);
            Ok(a.iter()
                .zip(b.iter())
                .all(|(a, b)| near(a.is_nan() || b.is_nan(), place64(*a), place64(*b), limit)))
        }
        _ => ops::equal(a, b),
    }
}

fn near(is_nan: bool, a: i64, b: i64, limit: u64) -> bool {
    !is_nan && a.abs_diff(b) <= limit
}

/// The rank of a number in the order of all floats; both zeros have rank 0.
fn place32(x: f32) -> i64 {
    let magnitude = i64::from(x.to_bits() & !(1 << 31));
    if x.is_sign_negative() { -magnitude } else { magnitude }
}

fn place64(x: f64) -> i64 {
    let magnitude = (x.to_bits() & !(1 << 63)) as i64;
    if x.is_sign_negative() { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, Shape, mem::Malloc};

    fn apart<T: Element>(a: T, b: T, limit: u64) -> bool {
        let tensor = |x: T| HostTensor::from_slice(Shape::scalar(), &[x], &Malloc::shared()).unwrap();
        !within(&tensor(a), &tensor(b), limit).unwrap()
    }

    #[test]
    fn floats_between_are_counted() {
        assert!(!apart(1.0f32, 1.0 + 2.0 * f32::EPSILON, 2));
        assert!(apart(1.0f32, 1.0 + 3.0 * f32::EPSILON, 2));
        assert!(!apart(0.0f64, -0.0, 0));
        assert!(!apart(f64::from_bits(1), -f64::from_bits(1), 2));
        assert!(apart(f32::NAN, f32::NAN, u64::MAX));
        assert!(apart(f32::MAX, f32::INFINITY, 0) && !apart(f32::MAX, f32::INFINITY, 1));
        assert!(apart(1i32, 2, 5));
    }
}
