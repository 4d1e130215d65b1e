//! Arithmetic of scalar ops, shared by the kernels and the compiler's folder.
//!
//! Integers wrap around, as in TFRT. A quotient that does not fit wraps around too; in TFRT it is undefined.
//! Division by zero returns `None`: the kernel reports an error, and the compiler does not fold the op.

/// Integer ops.
pub trait Integer: Copy + Ord + Sized {
    /// The sum.
    fn add(self, other: Self) -> Self;
    /// The difference.
    fn minus(self, other: Self) -> Self;
    /// The product.
    fn mul(self, other: Self) -> Self;
    /// Quotient, rounded toward zero, and remainder; `None` if the divisor is 0.
    fn div(self, other: Self) -> Option<(Self, Self)>;
    /// The smaller one.
    #[inline]
    fn minimum(self, other: Self) -> Self {
        self.min(other)
    }
    /// True if both are equal.
    #[inline]
    fn equal(self, other: Self) -> bool {
        self == other
    }
    /// True if `self` is not greater.
    #[inline]
    fn less_equal(self, other: Self) -> bool {
        self <= other
    }
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl Integer for $ty {
            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline]
            fn div(self, other: Self) -> Option<(Self, Self)> {
                (other != 0).then(|| (self.wrapping_div(other), self.wrapping_rem(other)))
            }
        }
    )*};
}
integers! { i32 i64 }

/// Float ops.
pub trait Float: Copy + PartialOrd + Sized {
    /// The sum.
    fn add(self, other: Self) -> Self;
    /// The product.
    fn multiply(self, other: Self) -> Self;
    /// The quotient; `None` if the divisor is 0.0 or -0.0.
    fn div(self, other: Self) -> Option<Self>;
    /// `other` only if it is smaller, so a NaN in `self` stays.
    #[inline]
    fn minimum(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

macro_rules! floats {
    ($($ty:ident)*) => {$(
        impl Float for $ty {
            #[inline]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn multiply(self, other: Self) -> Self {
                self * other
            }
            #[inline]
            fn div(self, other: Self) -> Option<Self> {
                (other != 0.0).then(|| self / other)
            }
        }
    )*};
}
floats! { f32 f64 }

/// The nearest f16, ties to even. `half::f16::from_f64` rounds twice, or drops digits.
pub fn f16_from_f64(x: f64) -> half::f16 {
    half::f16::from_f32(rounded_to_odd(x))
}

/// The nearest bf16, ties to even. `half::bf16::from_f64` drops digits that decide a tie.
pub fn bf16_from_f64(x: f64) -> half::bf16 {
    half::bf16::from_f32(rounded_to_odd(x))
}

/// `x` rounded to odd: truncated to f32, with the last bit set if digits are lost. The result lies on a tie
/// of a shorter format only if `x` does, so rounding it again equals rounding `x` directly.
fn rounded_to_odd(x: f64) -> f32 {
    let near = x as f32;
    if x.is_nan() || f64::from(near) == x {
        return near;
    }
    let farther = f64::from(near).abs() > x.abs();
    f32::from_bits((near.to_bits() - u32::from(farther)) | 1)
}

#[cfg(test)]
mod tests {
    use super::{Float, Integer, bf16_from_f64, f16_from_f64};

    #[test]
    fn short_floats_are_rounded_once() {
        // A tie of bf16 plus a digit that f64 can represent and f32 cannot.
        assert_eq!(bf16_from_f64(1.0 + 2f64.powi(-8) + 2f64.powi(-40)).to_f64(), 1.0 + 2f64.powi(-7));
        assert_eq!(bf16_from_f64(1.0 + 2f64.powi(-8)).to_f64(), 1.0);
        assert_eq!(bf16_from_f64(1.0 + 2f64.powi(-8) - 2f64.powi(-40)).to_f64(), 1.0);
        assert_eq!(f16_from_f64(1.0 + 2f64.powi(-11) + 2f64.powi(-40)).to_f64(), 1.0 + 2f64.powi(-10));
        assert_eq!(f16_from_f64(-1.0 - 2f64.powi(-11) + 2f64.powi(-40)).to_f64(), -1.0);
        assert_eq!(f16_from_f64(2f64.powi(-25)).to_bits(), 0);
        assert_eq!(f16_from_f64(2f64.powi(-25) + 2f64.powi(-60)).to_bits(), 1);
        assert_eq!(f16_from_f64(-1e-300).to_bits(), 0x8000);
        assert_eq!(f16_from_f64(65_519.999).to_f64(), 65504.0);
        assert!(f16_from_f64(65520.0).is_infinite() && f16_from_f64(f64::NAN).is_nan());
        assert!(f16_from_f64(f64::INFINITY).is_infinite() && bf16_from_f64(1e300).is_infinite());
    }

    #[test]
    fn integers_wrap_around() {
        assert_eq!(Integer::add(i32::MAX, 1), i32::MIN);
        assert_eq!(i64::MIN.minus(1), i64::MAX);
        assert_eq!(Integer::mul(i32::MIN, -1), i32::MIN);
        assert_eq!(Integer::div(i64::MIN, -1), Some((i64::MIN, 0)));
        assert_eq!(Integer::div(-7i32, 2), Some((-3, -1)));
        assert_eq!(Integer::div(1i32, 0), None);
    }

    #[test]
    fn floats_keep_the_first_nan() {
        assert!(Float::minimum(f32::NAN, 1.0).is_nan());
        assert_eq!(Float::minimum(1.0, f64::NAN), 1.0);
        assert_eq!(Float::div(1.0f32, -0.0), None);
        assert_eq!(Float::div(1.0f32, 2.0), Some(0.5));
    }
}
