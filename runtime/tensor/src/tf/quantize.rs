//! Floats rounded to the numbers that a quantized integer can represent: TensorFlow's `FakeQuant`.
//!
//! ```text
//! range [min, max] ──Nudged──▶ the nearest range in which 0 is one of the 2^bits numbers
//! x ──▶ the nearest number of the range
//! ```
//!
//! All arithmetic is f32, in TensorFlow's order.

use super::fast::Cx;
use crate::error::invalid;
use crate::scratch::collected;
use crate::{DType, HostTensor, Shape, TensorError};

/// The lowest and the highest quantized integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    low: f32,
    high: f32,
}

impl Levels {
    /// The integers of this many bits, from 0; from 1 if the range is narrow.
    pub fn new(op: &'static str, bits: i64, is_narrow: bool) -> Result<Levels, TensorError> {
        if !(2..=16).contains(&bits) {
            return invalid(op, format!("num_bits must be between 2 and 16, inclusive, got {bits}"));
        }
        Ok(Levels { low: f32::from(u8::from(is_narrow)), high: ((1u32 << bits) - 1) as f32 })
    }

    /// The range nearest to `[min, max]` that represents 0 exactly. `None` if both ends are 0: then every
    /// number is rounded to 0.
    fn nudged(&self, min: f32, max: f32) -> Option<Nudged> {
        if min == 0.0 && max == 0.0 {
            return None;
        }
        let scale = (max - min) / (self.high - self.low);
        let zero = self.low - min / scale;
        let zero = if zero < self.low {
            self.low
        } else if zero > self.high {
            self.high
        } else {
            zero.round()
        };
        let inverse = Some((self.high - self.low) / (max - min));
        Some(Nudged { min: (self.low - zero) * scale, max: (self.high - zero) * scale, scale, inverse })
    }
}

/// A range, and the distance of neighbouring numbers in it.
#[derive(Clone, Copy, Debug)]
struct Nudged {
    min: f32,
    max: f32,
    scale: f32,
    /// The number of steps in 1; `None` if TensorFlow divides by the step.
    inverse: Option<f32>,
}

impl Nudged {
    /// The number of steps in a length.
    fn steps(&self, x: f32) -> f32 {
        self.inverse.map_or_else(|| x / self.scale, |inverse| x * inverse)
    }

    fn rounded(&self, x: f32) -> f32 {
        let zero = (self.steps(-self.min) + 0.5).floor();
        // Not `f32::min`, which loses NaN.
        let x = if x > self.max { self.max } else { x };
        let clamped = if x < self.min { self.min } else { x } - self.min;
        (self.steps(clamped) - zero + 0.5).floor() * self.scale
    }
}

/// The ranges of a tensor: one, or one for each channel of the last axis.
pub struct Ranges(Vec<Option<Nudged>>);

impl Ranges {
    /// The range that an operator's attributes specify.
    pub fn of_attributes(
        op: &'static str,
        levels: Levels,
        (min, max): (f32, f32),
    ) -> Result<Ranges, TensorError> {
        if min.is_nan() || max.is_nan() || min >= max {
            return invalid(op, format!("min has to be smaller than max, was: {min} >= {max}"));
        }
        Ok(Ranges(vec![levels.nudged(min, max)]))
    }

    /// The ranges that operands specify: scalars, or vectors with one element for each channel of `x`.
    pub fn of_operands(
        op: &'static str,
        levels: Levels,
        x: &HostTensor,
        (min, max): (&HostTensor, &HostTensor),
        is_per_channel: bool,
    ) -> Result<Ranges, TensorError> {
        let shape = match (is_per_channel, x.shape().dims().last()) {
            (false, _) => Shape::scalar(),
            (true, Some(&channels)) => Shape::new(&[channels])?,
            (true, None) => return invalid(op, "`inputs` is a scalar, expected channels".to_owned()),
        };
        min.expect_shape("min", &shape)?;
        max.expect_shape("max", &shape)?;
        let (min, max) = (min.read_as::<f32>("min")?, max.read_as::<f32>("max")?);
        let mut ranges = collected(min.iter().zip(max.iter()).map(|(&min, &max)| levels.nudged(min, max)))?;
        if !is_per_channel {
            ranges.iter_mut().flatten().for_each(|range| range.inverse = None);
        }
        Ok(Ranges(ranges))
    }

    /// The channel and the range of consecutive elements, from the first channel on.
    fn cycle(&self) -> impl Iterator<Item = (usize, &Option<Nudged>)> {
        self.0.iter().enumerate().cycle()
    }
}

/// `FakeQuantWithMinMax`: the nearest number of the range.
pub fn fake_quant(x: &HostTensor, ranges: &Ranges, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(DType::F32, x.shape().clone(), cx.allocator)?;
    {
        let from = x.read_as::<f32>("inputs")?;
        let from: &[f32] = &from;
        cx.parts(&mut out.write::<f32>()?, (ranges.0.len(), 8), &|first, out| {
            for ((out, &x), (_, range)) in out.iter_mut().zip(&from[first..]).zip(ranges.cycle()) {
                *out = range.map_or(0.0, |range| range.rounded(x));
            }
        });
    }
    Ok(out)
}

/// The gradients of [`fake_quant`] by the numbers, and by both ends of each range. A number inside its range
/// gets its gradient; the gradient of any other number is added to the end of the range that it exceeds. All
/// are products with 0 or 1, as in TensorFlow: a gradient that is NaN or infinite makes NaN of the others.
pub fn fake_quant_grad(
    dy: &HostTensor,
    x: &HostTensor,
    ranges: &Ranges,
    ends: &Shape,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    dy.expect_shape("gradients", x.shape())?;
    let by_x = HostTensor::allocate(DType::F32, x.shape().clone(), cx.allocator)?;
    let [by_min, by_max] = [(); 2].map(|()| HostTensor::zeros(DType::F32, ends.clone(), cx.allocator));
    let (by_min, by_max) = (by_min?, by_max?);
    {
        let (x, dy) = (x.read_as::<f32>("inputs")?, dy.read_as::<f32>("gradients")?);
        let (mut to, mut to_min, mut to_max) =
            (by_x.write::<f32>()?, by_min.write::<f32>()?, by_max.write::<f32>()?);
        let elements = to.iter_mut().zip(x.iter().zip(dy.iter()));
        for ((to, (&x, &dy)), (channel, range)) in elements.zip(ranges.cycle()) {
            *to = match range {
                None => dy,
                Some(range) => {
                    let part = |is_taken: bool| if is_taken { dy } else { dy * 0.0 };
                    to_min[channel] += part(x < range.min);
                    to_max[channel] += part(x > range.max);
                    part(x >= range.min && x <= range.max)
                }
            };
        }
    }
    Ok([by_x, by_min, by_max])
}
