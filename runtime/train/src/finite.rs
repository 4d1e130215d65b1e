//! Tensors with elements that are not finite.
//!
//! ```text
//! word of 8 bytes: 1, 2 or 4 elements     (word & magnitudes) + carries, whose sign bits tell
//! ```
//!
//! The saver looks at every element: the crate is compiled without vectorization.

use befrost::{DType, HostTensor};

/// Words that are looked at between two decisions.
const BLOCK: usize = 1 << 10;

/// True if an element is NaN.
pub(crate) fn has_nan(tensor: &HostTensor) -> bool {
    has(tensor, 1)
}

/// True if no element is NaN or infinite.
pub(crate) fn is_finite(tensor: &HostTensor) -> bool {
    !has(tensor, 0)
}

/// True if the magnitude of an element is that of infinity or more, by at least `beyond`. NaNs have more.
fn has(tensor: &HostTensor, beyond: u64) -> bool {
    let (width, infinity) = match tensor.dtype() {
        DType::F16 => (16, 0x7c00),
        DType::BF16 => (16, 0x7f80),
        DType::F32 | DType::Complex64 => (32, 0x7f80_0000),
        DType::F64 | DType::Complex128 => (64, 0x7ff0 << 48),
        _ => return false,
    };
    let Ok(bytes) = tensor.read_bytes() else { return false };
    let in_each = |bits: u64| (0..64).step_by(width).fold(0, |word, at| word | bits << at);
    let sign = 1 << (width - 1);
    // A sum is less than twice the sign's bit, so none carries into the next element.
    let (magnitudes, carries) = (in_each(sign - 1), in_each(sign - infinity - beyond));
    let sum = |word: &[u8; 8]| (u64::from_le_bytes(*word) & magnitudes) + carries;
    let (words, rest) = bytes.as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    for block in words.chunks(BLOCK).chain([&[last][..]]) {
        let mut sums = 0;
        for word in block {
            sums |= sum(word);
        }
        if sums & in_each(sign) != 0 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tensor: &HostTensor, want: (bool, bool)) {
        assert_eq!((has_nan(tensor), is_finite(tensor)), want, "{tensor:?}");
    }

    #[test]
    fn all_elements_are_looked_at() {
        let n = 4 * BLOCK + 3;
        for at in [0, 1, 2 * BLOCK, n - 4, n - 1] {
            let mut numbers = vec![f32::MAX; n];
            numbers[at] = f32::NAN;
            check(&HostTensor::from_vec([n], numbers).unwrap(), (true, false));
        }
        check(&HostTensor::from_vec([n], vec![-f32::MAX; n]).unwrap(), (false, true));
        check(&HostTensor::from_vec([0], Vec::<f32>::new()).unwrap(), (false, true));
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
