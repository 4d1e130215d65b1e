//! Operands and results of several scalar types: [`Int`], [`Float`], [`Scalar`].

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{Cursor, KernelFrame, Outcome, Param, ResultValue, Signature, Types};
use befrost_kernel_api::value::State;
use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::scalar::{bf16_from_f64, f16_from_f64};
use half::{bf16, f16};

/// The IR types of an [`Int`].
pub(super) const INTEGERS: Types = &["i1", "i8", "i16", "i32", "i64", "index"];
/// The IR types of a [`Float`].
pub(super) const FLOATS: Types = &["f16", "bf16", "f32", "f64"];

/// Number of bits of an [`Int`]. `index` has 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    W1,
    W8,
    W16,
    W32,
    W64,
}

impl Width {
    pub(super) fn bits(self) -> u32 {
        match self {
            Width::W1 => 1,
            Width::W8 => 8,
            Width::W16 => 16,
            Width::W32 => 32,
            Width::W64 => 64,
        }
    }

    /// The width of an IR type.
    pub(super) fn of_type(name: &str) -> Option<Width> {
        Some(match name {
            "i1" => Width::W1,
            "i8" => Width::W8,
            "i16" => Width::W16,
            "i32" => Width::W32,
            "i64" | "index" => Width::W64,
            _ => return None,
        })
    }
}

/// A signless integer: its width, and its bits as a signed number. The `i1` `true` is -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Int {
    pub(super) width: Width,
    pub(super) value: i64,
}

impl Int {
    /// The low bits of a number.
    #[inline]
    pub(super) fn new(width: Width, value: i64) -> Int {
        let value = match width {
            Width::W1 => -(value & 1),
            Width::W8 => i64::from(value as i8),
            Width::W16 => i64::from(value as i16),
            Width::W32 => i64::from(value as i32),
            Width::W64 => value,
        };
        Int { width, value }
    }

    /// The bits as an unsigned number.
    #[inline]
    pub(super) fn unsigned(self) -> u64 {
        let spare = 64 - self.width.bits();
        (self.value as u64) << spare >> spare
    }

    /// The integer in a value.
    #[inline]
    pub(super) fn of(value: &Value) -> Option<Int> {
        Some(match *value {
            Value::I1(bit) => Int { width: Width::W1, value: -i64::from(bit) },
            Value::I8(value) => Int { width: Width::W8, value: value.into() },
            Value::I16(value) => Int { width: Width::W16, value: value.into() },
            Value::I32(value) => Int { width: Width::W32, value: value.into() },
            Value::I64(value) => Int { width: Width::W64, value },
            _ => return None,
        })
    }
}

impl Param for Int {
    type Item<'f> = Int;
    fn declare(signature: &mut Signature) {
        signature.operands.push(INTEGERS);
    }
    #[inline(always)]
    fn extract(frame: &KernelFrame<'_>, cursor: &mut Cursor) -> Result<Int, Outcome> {
        Outcome::required(cursor.next_operand(frame).and_then(Int::of))
    }
}

impl ResultValue for Int {
    const TYPES: Types = INTEGERS;
    const IS_PLAIN: bool = true;
    #[inline(always)]
    fn into_value(self) -> Value {
        match self.width {
            Width::W1 => Value::I1(self.value != 0),
            Width::W8 => Value::I8(self.value as i8),
            Width::W16 => Value::I16(self.value as i16),
            Width::W32 => Value::I32(self.value as i32),
            Width::W64 => Value::I64(self.value),
        }
    }
}

/// A float.
#[derive(Clone, Copy, Debug)]
pub(super) enum Float {
    F16(f16),
    BF16(bf16),
    F32(f32),
    F64(f64),
}

/// Type of a [`Float`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    F16,
    BF16,
    F32,
    F64,
}

impl Format {
    /// The format of an IR type.
    pub(super) fn of_type(name: &str) -> Option<Format> {
        Some(match name {
            "f16" => Format::F16,
            "bf16" => Format::BF16,
            "f32" => Format::F32,
            "f64" => Format::F64,
            _ => return None,
        })
    }

    /// The number of this format nearest to `value`, ties to even.
    #[inline]
    pub(super) fn nearest(self, value: f64) -> Float {
        match self {
            Format::F16 => Float::F16(f16_from_f64(value)),
            Format::BF16 => Float::BF16(bf16_from_f64(value)),
            Format::F32 => Float::F32(value as f32),
            Format::F64 => Float::F64(value),
        }
    }
}

impl Float {
    pub(super) fn format(self) -> Format {
        match self {
            Float::F16(_) => Format::F16,
            Float::BF16(_) => Format::BF16,
            Float::F32(_) => Format::F32,
            Float::F64(_) => Format::F64,
        }
    }

    /// The same number as `f64`.
    #[inline]
    pub(super) fn wide(self) -> f64 {
        match self {
            Float::F16(value) => value.to_f64(),
            Float::BF16(value) => value.to_f64(),
            Float::F32(value) => value.into(),
            Float::F64(value) => value,
        }
    }

    /// A function of one number, computed in `f32` for the narrow formats.
    #[inline(always)]
    pub(super) fn map(self, single: impl Fn(f32) -> f32, double: impl Fn(f64) -> f64) -> Float {
        match self {
            Float::F16(x) => Float::F16(f16::from_f32(single(x.to_f32()))),
            Float::BF16(x) => Float::BF16(bf16::from_f32(single(x.to_f32()))),
            Float::F32(x) => Float::F32(single(x)),
            Float::F64(x) => Float::F64(double(x)),
        }
    }

    /// A function of two numbers, computed in `f32` for the narrow formats.
    #[inline(always)]
    pub(super) fn zip(
        self,
        other: Float,
        single: impl Fn(f32, f32) -> f32,
        double: impl Fn(f64, f64) -> f64,
    ) -> Result<Float, KernelError> {
        Ok(match (self, other) {
            (Float::F64(x), Float::F64(y)) => Float::F64(double(x, y)),
            (Float::F32(x), Float::F32(y)) => Float::F32(single(x, y)),
            (Float::F16(x), Float::F16(y)) => Float::F16(f16::from_f32(single(x.to_f32(), y.to_f32()))),
            (Float::BF16(x), Float::BF16(y)) => Float::BF16(bf16::from_f32(single(x.to_f32(), y.to_f32()))),
            _ => return Err(mixed()),
        })
    }
}

impl Param for Float {
    type Item<'f> = Float;
    fn declare(signature: &mut Signature) {
        signature.operands.push(FLOATS);
    }
    #[inline(always)]
    fn extract(frame: &KernelFrame<'_>, cursor: &mut Cursor) -> Result<Float, Outcome> {
        Ok(match cursor.next_operand(frame) {
            Some(Value::F64(value)) => Float::F64(*value),
            Some(Value::F32(value)) => Float::F32(*value),
            Some(Value::F16(value)) => Float::F16(*value),
            Some(Value::BF16(value)) => Float::BF16(*value),
            _ => return Err(Outcome::Operand),
        })
    }
}

impl ResultValue for Float {
    const TYPES: Types = FLOATS;
    const IS_PLAIN: bool = true;
    #[inline(always)]
    fn into_value(self) -> Value {
        match self {
            Float::F16(value) => Value::F16(value),
            Float::BF16(value) => Value::BF16(value),
            Float::F32(value) => Value::F32(value),
            Float::F64(value) => Value::F64(value),
        }
    }
}

/// An operand or result of any type.
#[derive(Clone, Debug)]
pub(super) struct Scalar(pub(super) Value);

impl Param for Scalar {
    type Item<'f> = Scalar;
    fn declare(signature: &mut Signature) {
        signature.operands.push(&[]);
    }
    #[inline]
    fn extract(frame: &KernelFrame<'_>, cursor: &mut Cursor) -> Result<Scalar, Outcome> {
        let value = cursor.next_operand(frame).filter(|value| value.state() == State::Concrete);
        Outcome::required(value.cloned().map(Scalar))
    }
}

impl ResultValue for Scalar {
    const TYPES: Types = &[];
    const IS_PLAIN: bool = true;
    #[inline(always)]
    fn into_value(self) -> Value {
        self.0
    }
}

/// The error of operands whose types differ: no compiler emits such a use.
#[cold]
pub(super) fn mixed() -> KernelError {
    KernelError::new(ErrorCode::Internal, "the operands have different types")
}
