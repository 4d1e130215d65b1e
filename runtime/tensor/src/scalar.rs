//! What the ops on numbers compute: kernels call these functions, and the compiler calls them when it folds.
//!
//! Integers wrap around, as in TFRT; so does the quotient that does not fit, which there is undefined. A division by
//! zero gives nothing: the kernel makes it an error, the compiler leaves the op alone.

/// Integer ops.
pub trait Integer: Copy + Ord + Sized {
    /// The sum.
    fn add(self, other: Self) -> Self;
    /// The difference.
    fn minus(self, other: Self) -> Self;
    /// The product.
    fn mul(self, other: Self) -> Self;
    /// Quotient, rounded toward zero, and remainder.
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
    /// The quotient; nothing if the divisor is 0.0 or -0.0.
    fn div(self, other: Self) -> Option<Self>;
    /// The second only if it is smaller, so a NaN in the first place stays.
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

#[cfg(test)]
mod tests {
    use super::{Float, Integer};

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
