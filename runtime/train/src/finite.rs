//! Tensors with elements that are not finite.

use befrost::{DType, HostTensor};

/// True if an element is NaN.
pub(crate) fn has_nan(tensor: &HostTensor) -> bool {
    has(tensor, |magnitude, infinity| magnitude > infinity)
}

/// True if no element is NaN or infinite.
pub(crate) fn is_finite(tensor: &HostTensor) -> bool {
    !has(tensor, |magnitude, infinity| magnitude >= infinity)
}

/// True if this is true of an element's bits without the sign, and those of infinity. NaNs have more.
fn has(tensor: &HostTensor, is: impl Fn(u64, u64) -> bool) -> bool {
    let Ok(bytes) = tensor.read_bytes() else { return false };
    let short = |infinity: u64| {
        let bits = bytes.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes) & 0x7fff);
        bits.map(u64::from).any(|bits| is(bits, infinity))
    };
    match tensor.dtype() {
        DType::F16 => short(0x7c00),
        DType::BF16 => short(0x7f80),
        DType::F32 | DType::Complex64 => {
            let bits = bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes) & 0x7fff_ffff);
            bits.map(u64::from).any(|bits| is(bits, 0x7f80_0000))
        }
        DType::F64 | DType::Complex128 => {
            let mut bits =
                bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes) & (u64::MAX >> 1));
            bits.any(|bits| is(bits, 0x7ff0 << 48))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tensor: &HostTensor, want: (bool, bool)) {
        assert_eq!((has_nan(tensor), is_finite(tensor)), want, "{tensor:?}");
    }

    #[test]
    fn infinities_are_no_nans() {
        let of = |x: f32| HostTensor::from_vec([3], vec![1.0f32, x, -f32::MAX]).unwrap();
        let of_doubles = |x: f64| HostTensor::from_vec([2], vec![x, f64::MIN_POSITIVE]).unwrap();
        for sign in [1.0, -1.0] {
            check(&of(0.0 * sign), (false, true));
            check(&of(f32::NAN.copysign(sign)), (true, false));
            check(&of(f32::INFINITY * sign), (false, false));
            check(&of_doubles(f64::NAN.copysign(sign.into())), (true, false));
            check(&of_doubles(f64::INFINITY * f64::from(sign)), (false, false));
            check(&of_doubles(-0.0), (false, true));
        }
        for (dtype, bits, want) in [
            (DType::F16, 0xfc00u16, (false, false)),
            (DType::F16, 0x7c01, (true, false)),
            (DType::F16, 0x7bff, (false, true)),
            (DType::BF16, 0x7f80, (false, false)),
            (DType::BF16, 0xff81, (true, false)),
            (DType::BF16, 0x7c01, (false, true)),
            (DType::I16, 0x7fff, (false, true)),
        ] {
            let tensor =
                HostTensor::allocate(dtype, befrost::Shape::scalar(), &befrost::mem::Malloc::shared());
            let tensor = tensor.unwrap();
            tensor.write_bytes().unwrap().copy_from_slice(&bits.to_le_bytes());
            check(&tensor, want);
        }
    }
}
