//! Floats rounded to multiples of a step that quantized integers represent: TensorFlow's
//! `QuantizeAndDequantize`.
//!
//! ```text
//! range [min, max] ──▶ the least step with which the integers of `bits` cover it; 0 is a multiple
//! x ──▶ clamped, if the range was given ──▶ the nearest multiple of the step
//! ```
//!
//! All arithmetic is f32, in TensorFlow's order.

use super::fast::Cx;
use crate::error::invalid;
use crate::scratch::{collected, filled};
use crate::{DType, HostTensor, Shape, TensorError};

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

/// A range, the number of steps in 1, and the step.
#[derive(Clone, Copy, Debug)]
struct StepRange {
    min: f32,
    max: f32,
    scale: f32,
    step: f32,
}

impl Quantized {
    fn steps(&self, min: f32, max: f32) -> StepRange {
        let top = 1i64 << (self.bits - i64::from(self.is_signed));
        let low = if self.is_signed { i64::from(self.is_narrow) - top } else { 0 } as f32;
        let high = (top - 1) as f32;
        let (from_min, from_max) = (steps_to(low, min), steps_to(high, max));
        if from_min < from_max {
            let step = min / low;
            StepRange { min, max: high * step, scale: from_min, step }
        } else {
            let step = max / high;
            StepRange { min: low * step, max, scale: from_max, step }
        }
    }

    fn rounded(&self, x: f32) -> f32 {
        match self.half_way {
            HalfWay::Even => x.round_ties_even(),
            HalfWay::Up => (x + 0.5).floor(),
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
pub(super) fn steps_to(level: f32, end: f32) -> f32 {
    if level * end > 0.0 { level / end } else { f32::MAX }
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
fn ends(op: &'static str, ends: &HostTensor, n: usize, of_axis: bool) -> Result<Vec<f32>, TensorError> {
    let values = ends.read_as::<f32>("a range")?;
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
    let (n, inner) = ranges_along(op, x.shape(), by.axis)?;
    let from = x.read_as::<f32>("input")?;
    let ranges: Vec<(f32, f32)> = match given {
        Some((min, max)) => {
            let of_axis = by.axis.is_some();
            let (min, max) = (ends(op, min, n, of_axis)?, ends(op, max, n, of_axis)?);
            if let Some((min, max)) = min.iter().zip(&max).find(|(min, max)| min > max) {
                return invalid(op, format!("Invalid range: input_min {min} > input_max {max}"));
            }
            collected(min.into_iter().zip(max))?
        }
        None => {
            let mut found = filled(n, (f32::INFINITY, f32::NEG_INFINITY))?;
            for (at, part) in from.chunks(inner).enumerate() {
                let (low, high) = &mut found[at % n];
                for &x in part {
                    (*low, *high) = (low.min(x), high.max(x));
                }
            }
            found
        }
    };
    let steps = collected(ranges.iter().map(|&(min, max)| by.steps(min, max)))?;
    let out = HostTensor::allocate(DType::F32, x.shape().clone(), cx.allocator)?;
    let mut to = out.write::<f32>()?;
    for (at, (to, from)) in to.chunks_mut(inner).zip(from.chunks(inner)).enumerate() {
        let StepRange { min, max, scale, step } = steps[at % n];
        for (to, &x) in to.iter_mut().zip(from) {
            let x = match given {
                // Not `f32::clamp`: the range of unsigned integers for numbers below 0 has no numbers.
                Some(_) => {
                    let x = if x > max { max } else { x };
                    if x < min { min } else { x }
                }
                None => x,
            };
            *to = by.rounded(x * scale) * step;
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
    let (n, inner) = ranges_along(op, x.shape(), by.axis)?;
    let of_axis = by.axis.is_some();
    let (lows, highs) = (ends(op, min, n, of_axis)?, ends(op, max, n, of_axis)?);
    let by_x = HostTensor::allocate(DType::F32, x.shape().clone(), cx.allocator)?;
    {
        let (x, dy) = (x.read_as::<f32>("input")?, dy.read_as::<f32>("gradients")?);
        let mut to = by_x.write::<f32>()?;
        for (at, ((to, x), dy)) in to.chunks_mut(inner).zip(x.chunks(inner)).zip(dy.chunks(inner)).enumerate()
        {
            let (low, high) = (lows[at % n], highs[at % n]);
            for ((to, &x), &dy) in to.iter_mut().zip(x).zip(dy) {
                *to = if x >= low && x <= high { dy } else { 0.0 };
            }
        }
    }
    let zeros = |like: &HostTensor| HostTensor::zeros(DType::F32, like.shape().clone(), cx.allocator);
    Ok([by_x, zeros(min)?, zeros(max)?])
}
