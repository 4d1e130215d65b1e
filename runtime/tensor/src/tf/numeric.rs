//! Arithmetic per kind of number rather than per dtype.
//!
//! ```text
//! i8..i64, ui8..ui64 ──widen──▶ i128    add, mul, divide, compare ... in the wide type ──narrow──▶ the dtype
//! f16, bf16, f32, f64 ─────────▶ f64     (narrowing an integer wraps around, narrowing a float rounds once)
//! complex64, complex128 ───────▶ Complex128
//! i1 ──────────────────────────▶ bool
//! ```
//!
//! Arithmetic modulo 2^128 agrees with arithmetic modulo 2^64 and below. f64 has more than twice the digits
//! of f32, so a sum, product, quotient or root of f32 or shorter floats that is computed in f64 and then
//! rounded is correctly rounded. This makes these functions an oracle; they are not fast.
//!
//! The tables of operators are in `unary.rs` and `binary.rs`.

use std::cmp::Ordering;

use half::{bf16, f16};

use super::binary::BinaryTable;
use super::unary::UnaryTable;
use crate::scalar::{bf16_from_f64, f16_from_f64};
use crate::{Complex64, Complex128, Element, I1};

/// An element type and the wide type of its arithmetic.
pub(crate) trait Number: Element {
    type Wide: UnaryTable + BinaryTable;
    const BITS: u32 = 8 * size_of::<Self>() as u32;
    fn widen(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
    /// The lowest and the highest finite number; zeros for complex types.
    const ENDS: [Self; 2];
    /// Conversion by the rules of `Cast`: fractions are truncated, integers wrap around. TensorFlow leaves
    /// floats out of range and NaN to the machine; see [`f64_to_i32`], [`f64_to_u64`] and the integers.
    fn cast(from: AnyWide) -> Self;
    /// A key that has the order of the numbers. A NaN is larger than any number, and zeros are equal. The
    /// keys of numbers without an order are equal.
    fn sort_key(self) -> u64 {
        0
    }
    /// Sorts numbers by [`Number::sort_key`], -0 before 0; every NaN becomes the same NaN. Numbers without an
    /// order stay as they are.
    fn sort(_: &mut [Self]) {}
}

/// A number of any kind.
#[derive(Clone, Copy)]
pub(crate) enum AnyWide {
    Bool(bool),
    Int(i128),
    Real(f64),
    Complex(Complex128),
}

impl AnyWide {
    fn truth(self) -> bool {
        match self {
            AnyWide::Bool(b) => b,
            AnyWide::Int(i) => i != 0,
            AnyWide::Real(r) => r != 0.0,
            AnyWide::Complex(c) => c.re != 0.0 || c.im != 0.0,
        }
    }

    pub(crate) fn real(self) -> f64 {
        match self {
            AnyWide::Bool(b) => f64::from(u8::from(b)),
            AnyWide::Int(i) => i as f64,
            AnyWide::Real(r) => r,
            AnyWide::Complex(c) => c.re,
        }
    }
}

/// A kind of number.
pub(crate) trait Domain: Copy + PartialEq + Send + Sync + 'static {
    const ZERO: Self;
    const ONE: Self;
    fn any(self) -> AnyWide;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn negated(self) -> Self;
    /// The complex conjugate.
    fn conjugated(self) -> Self {
        self
    }
    /// Division by a count, for means; integer division truncates.
    fn over(self, n: usize) -> Self;
    /// The order, if these numbers are ordered and neither is NaN.
    fn order(self, other: Self) -> Option<Ordering>;
    const ORDERED: bool = true;
    fn is_nan(self) -> bool {
        false
    }
    fn is_finite_number(self) -> bool {
        true
    }
}

impl Domain for bool {
    fn negated(self) -> bool {
        self
    }
    const ZERO: bool = false;
    const ONE: bool = true;
    const ORDERED: bool = false;
    fn any(self) -> AnyWide {
        AnyWide::Bool(self)
    }
    fn plus(self, other: bool) -> bool {
        self | other
    }
    fn times(self, other: bool) -> bool {
        self & other
    }
    fn over(self, _: usize) -> bool {
        self
    }
    fn order(self, _: bool) -> Option<Ordering> {
        None
    }
}

impl Domain for i128 {
    fn negated(self) -> i128 {
        self.wrapping_neg()
    }
    const ZERO: i128 = 0;
    const ONE: i128 = 1;
    fn any(self) -> AnyWide {
        AnyWide::Int(self)
    }
    fn plus(self, other: i128) -> i128 {
        self.wrapping_add(other)
    }
    fn times(self, other: i128) -> i128 {
        self.wrapping_mul(other)
    }
    fn over(self, n: usize) -> i128 {
        self.checked_div(n as i128).unwrap_or(0)
    }
    fn order(self, other: i128) -> Option<Ordering> {
        Some(self.cmp(&other))
    }
}

impl Domain for f64 {
    fn negated(self) -> f64 {
        -self
    }
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    fn any(self) -> AnyWide {
        AnyWide::Real(self)
    }
    fn plus(self, other: f64) -> f64 {
        self + other
    }
    fn times(self, other: f64) -> f64 {
        self * other
    }
    fn over(self, n: usize) -> f64 {
        self / n as f64
    }
    fn order(self, other: f64) -> Option<Ordering> {
        self.partial_cmp(&other)
    }
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
    fn is_finite_number(self) -> bool {
        self.is_finite()
    }
}

impl Domain for Complex128 {
    fn negated(self) -> Complex128 {
        Complex128 { re: -self.re, im: -self.im }
    }
    fn conjugated(self) -> Complex128 {
        Complex128 { re: self.re, im: -self.im }
    }
    const ZERO: Complex128 = Complex128 { re: 0.0, im: 0.0 };
    const ONE: Complex128 = Complex128 { re: 1.0, im: 0.0 };
    const ORDERED: bool = false;
    fn any(self) -> AnyWide {
        AnyWide::Complex(self)
    }
    fn plus(self, other: Complex128) -> Complex128 {
        Complex128 { re: self.re + other.re, im: self.im + other.im }
    }
    fn times(self, other: Complex128) -> Complex128 {
        Complex128 {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
    fn over(self, n: usize) -> Complex128 {
        Complex128 { re: self.re / n as f64, im: self.im / n as f64 }
    }
    fn order(self, _: Complex128) -> Option<Ordering> {
        None
    }
    fn is_nan(self) -> bool {
        self.re.is_nan() || self.im.is_nan()
    }
}

impl Number for I1 {
    type Wide = bool;
    fn widen(self) -> bool {
        self.is_true()
    }
    const ENDS: [I1; 2] = [I1::FALSE, I1::TRUE];
    fn narrow(wide: bool) -> I1 {
        I1::from(wide)
    }
    fn cast(from: AnyWide) -> I1 {
        I1::from(from.truth())
    }
}

/// Conversion to i32; NaN and numbers out of range become the lowest number, as on x86.
pub(crate) fn f64_to_i32(x: f64) -> i32 {
    if x > -2_147_483_649.0 && x < 2_147_483_648.0 { x as i32 } else { i32::MIN }
}

/// [`f64_to_i32`] to i64.
pub(crate) fn f64_to_i64(x: f64) -> i64 {
    if x < 9_223_372_036_854_775_808.0 { x as i64 } else { i64::MIN }
}

/// Conversion to u64; NaN and numbers out of range become what they become as i64, modulo 2^64.
pub(crate) fn f64_to_u64(x: f64) -> u64 {
    const END: f64 = 18_446_744_073_709_551_616.0;
    if (0.0..END).contains(&x) { x as u64 } else { f64_to_i64(x).cast_unsigned() }
}

/// See [`Number::sort_key`].
fn sort_key_of_f64(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits(); // both zeros are one
    match (x.is_nan(), bits >> 63) {
        (true, _) => u64::MAX,
        (false, 0) => bits | 1 << 63,
        (false, _) => !bits,
    }
}

/// [`sort_key_of_f64`] in 32 bits.
fn sort_key_of_f32(x: f32) -> u64 {
    let bits = (x + 0.0).to_bits();
    u64::from(match (x.is_nan(), bits >> 31) {
        (true, _) => u32::MAX,
        (false, 0) => bits | 1 << 31,
        (false, _) => !bits,
    })
}

macro_rules! integers {
    ($($ty:ident: $from_f64:expr;)*) => {$(
        impl Number for $ty {
            type Wide = i128;
            fn widen(self) -> i128 {
                i128::from(self)
            }
            const ENDS: [$ty; 2] = [$ty::MIN, $ty::MAX];
            fn narrow(wide: i128) -> $ty {
                wide as $ty // the low bits
            }
            fn sort_key(self) -> u64 {
                (i128::from(self) - i128::from($ty::MIN)) as u64
            }
            fn sort(numbers: &mut [$ty]) {
                numbers.sort_unstable();
            }
            fn cast(from: AnyWide) -> $ty {
                match from {
                    AnyWide::Int(i) => i as $ty,
                    other => $from_f64(other.real()),
                }
            }
        }
    )*};
}
// Where TensorFlow's results differ between the elements of a vector and those after the last whole vector,
// the short integers are those of the vectors, which saturate numbers of i32, and those of ui32 are the
// others, which are numbers of i64 modulo 2^32.
integers! {
    i8: |x| f64_to_i32(x).clamp(i8::MIN.into(), i8::MAX.into()) as i8;
    i16: |x| f64_to_i32(x).clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    i32: f64_to_i32;
    i64: f64_to_i64;
    u8: |x| f64_to_i32(x).clamp(u8::MIN.into(), u8::MAX.into()) as u8;
    u16: |x| f64_to_i32(x).clamp(u16::MIN.into(), u16::MAX.into()) as u16;
    u32: |x| f64_to_i64(x) as u32;
    u64: f64_to_u64;
}

/// [`Number::sort`] of floats of type `$ty`, by integers of type `$bits`: those of positive numbers have the
/// order of the numbers, and so have those of negative numbers with their other bits inverted.
macro_rules! sort_floats {
    ($numbers:ident, $ty:ident, $bits:ident) => {{
        $numbers.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = $ty::NAN);
        let numbers = bytemuck::cast_slice_mut::<$ty, $bits>($numbers);
        let turn = |x: &mut $bits| *x ^= (*x >> ($bits::BITS - 1)) & $bits::MAX;
        numbers.iter_mut().for_each(turn);
        numbers.sort_unstable();
        numbers.iter_mut().for_each(turn);
    }};
}

macro_rules! floats {
    ($($ty:ident $bits:ident: $to_f64:expr, $from_f64:expr, $sort_key:expr;)*) => {$(
        impl Number for $ty {
            type Wide = f64;
            fn widen(self) -> f64 {
                $to_f64(self)
            }
            const ENDS: [$ty; 2] = [$ty::MIN, $ty::MAX];
            fn narrow(wide: f64) -> $ty {
                $from_f64(wide)
            }
            fn sort_key(self) -> u64 {
                $sort_key(self)
            }
            fn sort(numbers: &mut [$ty]) {
                sort_floats!(numbers, $ty, $bits);
            }
            fn cast(from: AnyWide) -> $ty {
                $from_f64(from.real())
            }
        }
    )*};
}
floats! {
    f64 i64: |x| x, |x| x, sort_key_of_f64;
    f16 i16: f16::to_f64, f16_from_f64, |x: f16| sort_key_of_f32(x.to_f32());
    bf16 i16: bf16::to_f64, bf16_from_f64, |x: bf16| sort_key_of_f32(x.to_f32());
}

impl Number for f32 {
    type Wide = f64;
    fn widen(self) -> f64 {
        f64::from(self)
    }
    const ENDS: [f32; 2] = [f32::MIN, f32::MAX];
    fn narrow(wide: f64) -> f32 {
        wide as f32
    }
    fn sort_key(self) -> u64 {
        sort_key_of_f32(self)
    }
    fn sort(numbers: &mut [f32]) {
        sort_floats!(numbers, f32, i32);
    }
    fn cast(from: AnyWide) -> f32 {
        match from {
            AnyWide::Int(i) => i as f32, // rounded once
            other => other.real() as f32,
        }
    }
}

impl Number for Complex128 {
    type Wide = Complex128;
    fn widen(self) -> Complex128 {
        self
    }
    const ENDS: [Complex128; 2] = [Domain::ZERO; 2];
    fn narrow(wide: Complex128) -> Complex128 {
        wide
    }
    fn cast(from: AnyWide) -> Complex128 {
        match from {
            AnyWide::Complex(c) => c,
            other => Complex128 { re: other.real(), im: 0.0 },
        }
    }
}

impl Number for Complex64 {
    type Wide = Complex128;
    fn widen(self) -> Complex128 {
        Complex128 { re: f64::from(self.re), im: f64::from(self.im) }
    }
    const ENDS: [Complex64; 2] = [Complex64 { re: 0.0, im: 0.0 }; 2];
    fn narrow(wide: Complex128) -> Complex64 {
        Complex64 { re: wide.re as f32, im: wide.im as f32 }
    }
    fn cast(from: AnyWide) -> Complex64 {
        Complex64::narrow(Complex128::cast(from))
    }
}

/// Defines an enum of functions, with the operator names that messages contain. The row of an operator names
/// its function ([`Class`](super::op::Class)); a function does not refer to its operators.
macro_rules! named_ops {
    ($(#[$meta:meta])* $enum:ident { $($(#[$variant_meta:meta])* $variant:ident = $name:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $enum { $($(#[$variant_meta])* #[doc = concat!("`", $name, "`.")] $variant,)* }

        impl $enum {
            /// All functions.
            pub const ALL: &[$enum] = &[$($enum::$variant),*];

            /// The name in messages, TensorFlow's.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$variant => $name,)* }
            }
        }
    };
}
pub(crate) use named_ops;
