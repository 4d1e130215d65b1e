//! Floats rounded to multiples of a step that quantized integers represent: TensorFlow's
//! `QuantizeAndDequantize`.
//!
//! ```text
//! range [min, max] ──▶ the least step with which the integers of `bits` cover it; 0 is a multiple
//! x ──▶ clamped, if the range was given ──▶ the nearest multiple of the step
//! ```
//!
//! All arithmetic is f32, or f64 for f64, in TensorFlow's order.

use std::fmt::Display;
use std::ops::{Div, Mul};

use super::fast::Cx;
use crate::error::invalid;
use crate::scratch::{collected, filled};
use crate::{DType, Element, HostTensor, Shape, TensorError};

/// The rounding of numbers half way between two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfWay {
    /// To the even integer.
    Even,
    /// To the greater integer.
    Up,
}

/// The quantized integers, and how ranges are distinguished.
#[derive(Clone, Copy, Debug)]
pub struct Quantized {
    /// The number of bits.
    pub bits: i64,
    /// Whether there are negative integers.
    pub is_signed: bool,
    /// Whether the lowest of the signed integers is left out.
    pub is_narrow: bool,
    /// How numbers are rounded.
    pub half_way: HalfWay,
    /// The axis of which each index has a range of its own.
    pub axis: Option<usize>,
}

/// A float that is rounded: f32 or f64.
pub(super) trait Rounded:
    Element + PartialOrd + Display + Mul<Output = Self> + Div<Output = Self>
{
    /// 0, the largest number and infinity.
    const ZERO_LARGEST_INFINITY: [Self; 3];

    /// The number of an integer.
    fn level(level: i64) -> Self;

    /// The nearest integer.
    fn to_integer(self, half_way: HalfWay) -> Self;

    /// The smaller and the larger one; the other one of a NaN.
    fn ends(self, ends: (Self, Self)) -> (Self, Self);
}

macro_rules! rounded {
    ($($ty:ident)*) => {$(
        impl Rounded for $ty {
            const ZERO_LARGEST_INFINITY: [$ty; 3] = [0.0, $ty::MAX, $ty::INFINITY];

            fn level(level: i64) -> $ty {
                level as $ty
            }

            fn to_integer(self, half_way: HalfWay) -> $ty {
                match half_way {
                    HalfWay::Even => self.round_ties_even(),
                    HalfWay::Up => (self + 0.5).floor(),
                }
            }

            fn ends(self, (low, high): ($ty, $ty)) -> ($ty, $ty) {
                (low.min(self), high.max(self))
            }
        }
    )*};
}
rounded! { f32 f64 }

/// A range, the number of steps in 1, and the step.
#[derive(Clone, Copy, Debug)]
struct StepRange<T> {
    min: T,
    max: T,
    scale: T,
    step: T,
}

impl Quantized {
    fn steps<T: Rounded>(&self, min: T, max: T) -> StepRange<T> {
        let top = 1i64 << (self.bits - i64::from(self.is_signed));
        let low = T::level(if self.is_signed { i64::from(self.is_narrow) - top } else { 0 });
        let high = T::level(top - 1);
        let (from_min, from_max) = (steps_to(low, min), steps_to(high, max));
        if from_min < from_max {
            let step = min / low;
            StepRange { min, max: high * step, scale: from_min, step }
        } else {
            let step = max / high;
            StepRange { min: low * step, max, scale: from_max, step }
        }
    }

    /// Checks the number of bits.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn check(&self, op: &'static str) -> Result<(), TensorError> {
        match self.bits > 0 && self.bits < if self.is_signed { 62 } else { 63 } {
            true => Ok(()),
            false => {
                let (bits, signed) = (self.bits, self.is_signed);
                invalid(op, format!("num_bits is out of range: {bits} with signed_input {signed}"))
            }
        }
    }
}

/// The number of steps in 1, if the integer `level` stands for the end of a range; all that there are, if 0
/// does.
pub(super) fn steps_to<T: Rounded>(level: T, end: T) -> T {
    let [zero, largest, _] = T::ZERO_LARGEST_INFINITY;
    if level * end > zero { level / end } else { largest }
}

/// The number of ranges of a tensor with one range for each index of an axis, or with one, and the number of
/// consecutive elements of one range.
pub(super) fn ranges_along(
    op: &'static str,
    shape: &Shape,
    axis: Option<usize>,
) -> Result<(usize, usize), TensorError> {
    let dims = shape.dims();
    match axis {
        None => Ok((1, shape.num_elements().max(1))),
        Some(axis) if axis < dims.len() => {
            Ok((dims[axis], dims[axis + 1..].iter().product::<usize>().max(1)))
        }
        Some(axis) => invalid(op, format!("axis is {axis}, of a tensor of rank {}", dims.len())),
    }
}

/// The ends of ranges: one number, or one for each range.
fn ends<T: Element>(
    op: &'static str,
    ends: &HostTensor,
    n: usize,
    of_axis: bool,
) -> Result<Vec<T>, TensorError> {
    let values = ends.read_as::<T>("a range")?;
    let is_right = if of_axis { ends.shape().dims() == [n] } else { values.len() == 1 };
    match is_right {
        true => collected(values.iter().copied()),
        false => invalid(op, format!("the ends of ranges have shape {}, expected {n} numbers", ends.shape())),
    }
}

/// `QuantizeAndDequantize`: the nearest multiple of the step of the range: of the one that is given, to which
/// numbers are clamped, else of the tensor's own.
///
/// # Errors
/// If the ends of ranges have other shapes, or a range has no numbers.
pub fn quantize_and_dequantize(
    op: &'static str,
    x: &HostTensor,
    given: Option<(&HostTensor, &HostTensor)>,
    by: &Quantized,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    by.check(op)?;
    match x.dtype() {
        DType::F64 => rounded::<f64>(op, x, given, by, cx),
        _ => rounded::<f32>(op, x, given, by, cx),
    }
}

fn rounded<T: Rounded>(
    op: &'static str,
    x: &HostTensor,
    given: Option<(&HostTensor, &HostTensor)>,
    by: &Quantized,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let (n, inner) = ranges_along(op, x.shape(), by.axis)?;
    let from = x.read_as::<T>("input")?;
    let ranges: Vec<(T, T)> = match given {
        Some((min, max)) => {
            let of_axis = by.axis.is_some();
            let (min, max) = (ends(op, min, n, of_axis)?, ends(op, max, n, of_axis)?);
            if let Some((min, max)) = min.iter().zip(&max).find(|(min, max)| min > max) {
                return invalid(op, format!("Invalid range: input_min {min} > input_max {max}"));
            }
            collected(min.into_iter().zip(max))?
        }
        None => {
            let [_, _, infinity] = T::ZERO_LARGEST_INFINITY;
            let mut found = filled(n, (infinity, infinity * T::level(-1)))?;
            for (at, part) in from.chunks(inner).enumerate() {
                let ends = &mut found[at % n];
                *ends = part.iter().fold(*ends, |ends, x| x.ends(ends));
            }
            found
        }
    };
    let steps = collected(ranges.iter().map(|&(min, max)| by.steps(min, max)))?;
    let out = HostTensor::allocate(x.dtype(), x.shape().clone(), cx.allocator)?;
    let mut to = out.write::<T>()?;
    for (at, (to, from)) in to.chunks_mut(inner).zip(from.chunks(inner)).enumerate() {
        let StepRange { min, max, scale, step } = steps[at % n];
        for (to, &x) in to.iter_mut().zip(from) {
            let x = match given {
                // Not `clamp`: the range of unsigned integers for numbers below 0 has no numbers.
                Some(_) => {
                    let x = if x > max { max } else { x };
                    if x < min { min } else { x }
                }
                None => x,
            };
            *to = (x * scale).to_integer(by.half_way) * step;
        }
    }
    drop(to);
    Ok(out)
}

/// The gradients of [`quantize_and_dequantize`] with given ranges: that of a number inside its range goes
/// through; the ends have none.
///
/// # Errors
/// If the operands have other shapes.
pub fn quantize_and_dequantize_grad(
    op: &'static str,
    dy: &HostTensor,
    x: &HostTensor,
    (min, max): (&HostTensor, &HostTensor),
    by: &Quantized,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    dy.expect_shape("gradients", x.shape())?;
    match x.dtype() {
        DType::F64 => inside::<f64>(op, dy, x, (min, max), by, cx),
        _ => inside::<f32>(op, dy, x, (min, max), by, cx),
    }
}

fn inside<T: Rounded>(
    op: &'static str,
    dy: &HostTensor,
    x: &HostTensor,
    (min, max): (&HostTensor, &HostTensor),
    by: &Quantized,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let (n, inner) = ranges_along(op, x.shape(), by.axis)?;
    let of_axis = by.axis.is_some();
    let (lows, highs): (Vec<T>, Vec<T>) = (ends(op, min, n, of_axis)?, ends(op, max, n, of_axis)?);
    let by_x = HostTensor::allocate(x.dtype(), x.shape().clone(), cx.allocator)?;
    {
        let (x, dy) = (x.read_as::<T>("input")?, dy.read_as::<T>("gradients")?);
        let mut to = by_x.write::<T>()?;
        for (at, ((to, x), dy)) in to.chunks_mut(inner).zip(x.chunks(inner)).zip(dy.chunks(inner)).enumerate()
        {
            let (low, high) = (lows[at % n], highs[at % n]);
            for ((to, &x), &dy) in to.iter_mut().zip(x).zip(dy) {
                *to = if x >= low && x <= high { dy } else { T::ZERO_LARGEST_INFINITY[0] };
            }
        }
    }
    let zeros = |like: &HostTensor| HostTensor::zeros(x.dtype(), like.shape().clone(), cx.allocator);
    Ok([by_x, zeros(min)?, zeros(max)?])
}
