//! Arithmetic on floats that are held as bits: f16, bf16, f32, f64.
//!
//! The three narrow formats compute in f64 and round to their own format. f64 has more than twice their
//! digits, so the double rounding is exact, as IEEE 754 demands. A NaN result of NaN operands is the first of
//! them, made quiet. A NaN result of numbers is the positive quiet NaN without payload. So results are the
//! same on every machine.

use crate::ir::FloatKind;
use befrost_tensor::scalar::{bf16_from_f64, f16_from_f64};
use std::cmp::Ordering;

/// The bits of a float in one of the four formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float {
    kind: FloatKind,
    bits: u64,
}

/// Positions of the parts of a format.
struct FloatLayout {
    sign: u64,
    infinity: u64,
    quiet: u64,
}

#[allow(clippy::should_implement_trait, reason = "named like the ops; not all of them give a result")]
impl Float {
    /// A float from its bits; `None` for formats without arithmetic.
    pub fn new(kind: FloatKind, bits: u64) -> Option<Float> {
        kind.is_arithmetic().then_some(Float { kind, bits })
    }

    /// The number nearest to `value`.
    pub fn from_f64(kind: FloatKind, value: f64) -> Option<Float> {
        let bits = match kind {
            FloatKind::F64 => value.to_bits(),
            FloatKind::F32 => u64::from((value as f32).to_bits()),
            FloatKind::F16 => u64::from(f16_from_f64(value).to_bits()),
            FloatKind::BF16 => u64::from(bf16_from_f64(value).to_bits()),
            _ => return None,
        };
        let float = Float { kind, bits };
        Some(if value.is_nan() { float.nan() } else { float })
    }

    /// The format.
    pub fn kind(self) -> FloatKind {
        self.kind
    }

    /// The bits.
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// The exact value.
    pub fn value(self) -> f64 {
        match self.kind {
            FloatKind::F64 => f64::from_bits(self.bits),
            FloatKind::F32 => f64::from(f32::from_bits(self.bits as u32)),
            FloatKind::F16 => half::f16::from_bits(self.bits as u16).to_f64(),
            _ => half::bf16::from_bits(self.bits as u16).to_f64(),
        }
    }

    fn layout(self) -> FloatLayout {
        let (width, mantissa) = match self.kind {
            FloatKind::F64 => (64, 52),
            FloatKind::F32 => (32, 23),
            FloatKind::F16 => (16, 10),
            _ => (16, 7),
        };
        let sign = 1u64 << (width - 1);
        FloatLayout { sign, infinity: (sign - 1) >> mantissa << mantissa, quiet: 1 << (mantissa - 1) }
    }

    /// The NaN for an undefined result.
    fn nan(self) -> Float {
        let FloatLayout { infinity, quiet, .. } = self.layout();
        Float { bits: infinity | quiet, ..self }
    }

    fn quieted(self) -> Float {
        Float { bits: self.bits | self.layout().quiet, ..self }
    }

    /// True for NaN.
    pub fn is_nan(self) -> bool {
        let FloatLayout { sign, infinity, .. } = self.layout();
        self.bits & (sign - 1) > infinity
    }

    /// True for 0.0 and -0.0.
    pub fn is_zero(self) -> bool {
        self.bits & (self.layout().sign - 1) == 0
    }

    /// True for 0.0 exactly.
    pub fn is_positive_zero(self) -> bool {
        self.bits == 0
    }

    /// True for -0.0 exactly.
    pub fn is_negative_zero(self) -> bool {
        self.bits == self.layout().sign
    }

    /// True if the sign bit is set.
    pub fn is_negative(self) -> bool {
        self.bits & self.layout().sign != 0
    }

    /// True for the infinity of this sign.
    pub fn is_infinity(self, negative: bool) -> bool {
        self.bits == self.layout().infinity | if negative { self.layout().sign } else { 0 }
    }

    fn compute(self, other: Float, f: fn(f64, f64) -> f64) -> Float {
        if self.is_nan() {
            return self.quieted();
        }
        if other.is_nan() {
            return other.quieted();
        }
        Float::from_f64(self.kind, f(self.value(), other.value())).unwrap_or(self)
    }

    /// The sum.
    pub fn add(self, other: Float) -> Float {
        self.compute(other, |a, b| a + b)
    }

    /// The difference.
    pub fn sub(self, other: Float) -> Float {
        self.compute(other, |a, b| a - b)
    }

    /// The product.
    pub fn mul(self, other: Float) -> Float {
        self.compute(other, |a, b| a * b)
    }

    /// The quotient.
    pub fn div(self, other: Float) -> Float {
        self.compute(other, |a, b| a / b)
    }

    /// The remainder, with the sign of `self`, like C's `fmod`.
    pub fn rem(self, other: Float) -> Float {
        self.compute(other, |a, b| a % b)
    }

    /// The negation, which flips the sign of NaNs as well.
    pub fn neg(self) -> Float {
        Float { bits: self.bits ^ self.layout().sign, ..self }
    }

    /// Total order of numbers where -0.0 is less than 0.0; the operands are not NaN.
    fn order(self, other: Float) -> Ordering {
        let by_value = self.value().partial_cmp(&other.value()).unwrap_or(Ordering::Equal);
        by_value.then(other.is_negative().cmp(&self.is_negative()))
    }

    /// The greater operand; NaN if either is NaN.
    pub fn maximum(self, other: Float) -> Float {
        match (self.is_nan(), other.is_nan()) {
            (true, _) => self.quieted(),
            (false, true) => other.quieted(),
            (false, false) => {
                if self.order(other) == Ordering::Less {
                    other
                } else {
                    self
                }
            }
        }
    }

    /// The smaller operand; NaN if either is NaN.
    pub fn minimum(self, other: Float) -> Float {
        match (self.is_nan(), other.is_nan()) {
            (true, _) => self.quieted(),
            (false, true) => other.quieted(),
            (false, false) => {
                if self.order(other) == Ordering::Greater {
                    other
                } else {
                    self
                }
            }
        }
    }

    /// The greater operand; the other one if one is NaN.
    pub fn max_num(self, other: Float) -> Float {
        match (self.is_nan(), other.is_nan()) {
            (true, _) => other,
            (false, true) => self,
            (false, false) => self.maximum(other),
        }
    }

    /// The smaller operand; the other one if one is NaN.
    pub fn min_num(self, other: Float) -> Float {
        match (self.is_nan(), other.is_nan()) {
            (true, _) => other,
            (false, true) => self,
            (false, false) => self.minimum(other),
        }
    }

    /// The ordering of two floats; `None` if one is NaN.
    pub fn compare(self, other: Float) -> Option<Ordering> {
        self.value().partial_cmp(&other.value())
    }

    /// The same number in another format, if it is exact there. NaNs keep the part of their payload that
    /// fits.
    pub fn convert_exactly(self, kind: FloatKind) -> Option<Float> {
        if self.is_nan() {
            return None;
        }
        let other = Float::from_f64(kind, self.value())?;
        (other.value() == self.value()).then_some(other)
    }

    /// The number nearest to a signed integer.
    pub fn from_signed(kind: FloatKind, value: i128) -> Option<Float> {
        // A single rounding from the integer itself; f64 is exact only up to 2^53.
        match kind {
            FloatKind::F64 => Float::from_f64(kind, value as f64),
            FloatKind::F32 => Float::new(kind, u64::from((value as f32).to_bits())),
            _ if value.unsigned_abs() < 1 << 53 => Float::from_f64(kind, value as f64),
            _ => None,
        }
    }

    /// The number nearest to an unsigned integer.
    pub fn from_unsigned(kind: FloatKind, value: u128) -> Option<Float> {
        match kind {
            FloatKind::F64 => Float::from_f64(kind, value as f64),
            FloatKind::F32 => Float::new(kind, u64::from((value as f32).to_bits())),
            _ if value < 1 << 53 => Float::from_f64(kind, value as f64),
            _ => None,
        }
    }

    /// The value rounded toward zero, if its magnitude is below 2^127.
    pub fn truncated(self) -> Option<i128> {
        let value = self.value().trunc();
        (value.abs() < 2f64.powi(127)).then_some(value as i128)
    }
}
