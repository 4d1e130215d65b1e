//! Tensors of quantized integers: TensorFlow's `QuantizeV2`, `Dequantize` and the `Quantized` operators.
//!
//! ```text
//! the lowest .. the highest integer of a type  ◀──linearly──▶  min .. max, two scalars beside the tensor
//!
//! floats ─QuantizeV2─▶ bytes ─QuantizedConv2D, QuantizedMatMul, ..─▶ i32, of a wide range
//!    ▲                   ▲                                             │
//!    └─── Dequantize ────┴── Requantize, QuantizeDownAndShrinkRange ◀──┘
//! ```
//!
//! A quantized integer is the integer that stores it: `quint8` is `DType::UI8`, `qint32` is `DType::I32`.
//!
//! There are two conversions, as in TensorFlow: [`RealRange`] converts one number in f64; [`ToNumber`] and
//! [`ToLevel`] convert tensors in f32. All arithmetic is in TensorFlow's order, so that the integers are
//! equal. Broadcasting is NumPy's; TensorFlow's `QuantizedAdd` and `QuantizedMul` are wrong for most shapes.

mod arithmetic;
mod convert;
mod images;
mod uniform;

pub use arithmetic::{
    QuantizedOperand, quantized_add, quantized_bias_add, quantized_concat, quantized_matrix_product,
    quantized_mul, quantized_relu,
};
pub use convert::{
    QuantizeMode, Quantizing, dequantize, quantize, quantize_down, requantization_range, requantize,
};
pub use images::{
    InstanceNormRange, quantized_avg_pool, quantized_batch_norm, quantized_conv2d, quantized_instance_norm,
    quantized_max_pool, quantized_resize_bilinear,
};

pub use uniform::{
    UniformLimits, UniformOperands, uniform_add, uniform_clip, uniform_dequantize, uniform_dot,
    uniform_dot_hybrid, uniform_quantize, uniform_requantize,
};

use std::sync::Arc;

use crate::error::invalid;
use crate::mem::Allocator;
use crate::{Element, HostTensor, Shape, TensorError};

/// An integer that stands for a number of a range.
pub(super) trait Level: Element + Ord {
    const LOW: i64;
    const HIGH: i64;
    /// The number of distances between neighbouring integers.
    const STEPS: f64 = (Self::HIGH - Self::LOW) as f64;
    fn get(self) -> i64;
    /// The nearest integer of this type.
    fn clamped(level: i64) -> Self;
    /// A float without its fraction. Floats out of range saturate, but to the lowest i32 as on x86.
    fn truncated(x: f32) -> Self;
}

macro_rules! levels {
    ($($rust:ty, |$x:ident| $truncated:expr;)*) => {$(
        impl Level for $rust {
            const LOW: i64 = <$rust>::MIN as i64;
            const HIGH: i64 = <$rust>::MAX as i64;
            fn get(self) -> i64 {
                i64::from(self)
            }
            fn clamped(level: i64) -> $rust {
                level.clamp(Self::LOW, Self::HIGH) as $rust
            }
            fn truncated($x: f32) -> $rust {
                $truncated
            }
        }
    )*};
}

levels! {
    u8, |x| x as u8;
    i8, |x| x as i8;
    u16, |x| x as u16;
    i16, |x| x as i16;
    i32, |x| if x < -(i32::MIN as f32) { x as i32 } else { i32::MIN };
}

/// Evaluates `$body` with `$t` as the Rust type of the quantized integers `$dtype`.
macro_rules! with_level {
    ($op:expr, $dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            $crate::DType::UI8 => {
                type $t = u8;
                $body
            }
            $crate::DType::I8 => {
                type $t = i8;
                $body
            }
            $crate::DType::UI16 => {
                type $t = u16;
                $body
            }
            $crate::DType::I16 => {
                type $t = i16;
                $body
            }
            $crate::DType::I32 => {
                type $t = i32;
                $body
            }
            dtype => Err($crate::TensorError::Unsupported { op: $op, dtype }),
        }
    };
}
use with_level;

/// The numbers for which the lowest and the highest integer stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RealRange {
    /// The lowest number.
    pub min: f32,
    /// The highest number.
    pub max: f32,
}

impl RealRange {
    /// The range that two operands of one element each specify.
    ///
    /// # Errors
    /// If they are of another dtype or size.
    pub fn of(op: &'static str, min: &HostTensor, max: &HostTensor) -> Result<RealRange, TensorError> {
        let one = |what: &'static str, x: &HostTensor| match *x.read_as::<f32>(what)?.as_ref() {
            [number] => Ok(number),
            _ => invalid(op, format!("`{what}` of a range has shape {}, expected one number", x.shape())),
        };
        Ok(RealRange { min: one("min", min)?, max: one("max", max)? })
    }

    /// The range, unless it is empty or a single number.
    fn expect_wide(self, op: &'static str) -> Result<RealRange, TensorError> {
        match self.max > self.min {
            true => Ok(self),
            false => {
                invalid(op, format!("a range of {} to {}: max must be larger than min", self.min, self.max))
            }
        }
    }

    /// The distance of the numbers of neighbouring integers.
    fn step<T: Level>(self) -> f32 {
        (self.max - self.min) / (T::HIGH - T::LOW) as f32
    }

    /// The integer that stands for a number. The integers are continued beyond those of the type.
    fn level<T: Level>(self, x: f32) -> i64 {
        if self.min == self.max {
            return T::LOW;
        }
        let n = T::STEPS + 1.0;
        let scale = n / (f64::from(self.max - self.min) * (n / T::STEPS));
        let level = (f64::from(x) * scale).round() - (f64::from(self.min) * scale).round();
        (level as i64).saturating_add(T::LOW)
    }

    /// The number for which an integer stands.
    fn number<T: Level>(self, level: T) -> f32 {
        if self.min == self.max {
            return self.min;
        }
        let n = T::STEPS + 1.0;
        let scale = f64::from(self.max - self.min) * (n / T::STEPS) / n;
        let rounded = f64::from((self.min / scale as f32).round()) * f64::from(scale as f32);
        (rounded + (level.get() - T::LOW) as f64 * scale) as f32
    }

    /// The range of the products of numbers of two types `A` and `B`, as i32.
    fn of_products<A: Level, B: Level>(a: RealRange, b: RealRange) -> RealRange {
        let step = a.step::<A>() * b.step::<B>();
        RealRange { min: step * i32::LOW as f32, max: step * i32::HIGH as f32 }
    }

    /// A range around 0 that is wider than both ranges by this factor.
    fn of_sums(a: RealRange, b: RealRange, factor: f32) -> RealRange {
        let max = [a.min, a.max, b.min, b.max].into_iter().fold(0.0, |max: f32, end| max.max(end.abs()));
        RealRange { min: -max * factor, max: max * factor }
    }

    /// A result with its range as two further results.
    fn beside(self, y: HostTensor, allocator: &Arc<dyn Allocator>) -> Result<[HostTensor; 3], TensorError> {
        Ok([y, scalar(self.min, allocator)?, scalar(self.max, allocator)?])
    }
}

/// The affine map from the integers of a type to the numbers of a range.
#[derive(Clone, Copy)]
struct ToNumber {
    scale: f32,
    offset: f32,
}

impl ToNumber {
    fn new<T: Level>(range: RealRange) -> ToNumber {
        let RealRange { min, max } = range;
        let scale = (f64::from(max - min) / T::STEPS) as f32;
        let min = if min == max { min } else { (min / scale).round() * scale };
        ToNumber { scale, offset: min - T::LOW as f32 * scale }
    }

    fn of<T: Level>(self, level: T) -> f32 {
        self.offset + level.get() as f32 * self.scale
    }
}

/// The map from numbers to the nearest integers of a type.
#[derive(Clone, Copy)]
struct ToLevel {
    scale: f32,
    shift: f32,
}

impl ToLevel {
    fn new<T: Level>(range: RealRange) -> ToLevel {
        let RealRange { min, max } = range;
        let scale = if min == max { 0.0 } else { (T::STEPS / f64::from(max - min)) as f32 };
        ToLevel { scale, shift: (min * scale).round() - T::LOW as f32 }
    }

    fn of<T: Level>(self, x: f32) -> T {
        // The highest f32 that is an i32 is below the highest i32.
        T::truncated(
            ((x * self.scale).round() - self.shift)
                .max(T::LOW as f32)
                .min((T::HIGH as f32).min(2_147_483_520.0)),
        )
    }
}

/// A tensor of rank 0.
fn scalar<T: Element>(x: T, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    HostTensor::from_slice(Shape::scalar(), &[x], allocator)
}
