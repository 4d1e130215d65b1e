//! Conversions between floats and quantized integers, and from wide integers to narrow ones.

use super::{Level, RealRange, ToLevel, ToNumber, with_level};
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::collected;
use crate::tf::fast::{self, Cx};
use crate::tf::quantize_and_dequantize::{ranges_along, steps_to};
use crate::{DType, Element, HostTensor, Shape, TensorError};

/// The kind of a conversion between floats and integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantizeMode {
    /// The distance from the range's minimum is rounded.
    MinCombined,
    /// The number and the range's minimum are rounded, then subtracted.
    MinFirst,
    /// The number is scaled, so that 0 stands for 0.
    Scaled,
}

/// The attributes of [`quantize`] and [`dequantize`].
#[derive(Clone, Copy, Debug)]
pub struct Quantizing {
    /// The kind.
    pub mode: QuantizeMode,
    /// Whether the lowest of the signed integers is left out.
    pub is_narrow: bool,
    /// The axis of which each index has a range of its own.
    pub axis: Option<usize>,
}

impl Quantizing {
    /// The ranges of a tensor of this shape, and the number of consecutive elements of one range.
    fn ranges(
        &self,
        op: &'static str,
        shape: &Shape,
        (min, max): (&HostTensor, &HostTensor),
    ) -> Result<(Vec<RealRange>, usize), TensorError> {
        let (n, run) = ranges_along(op, shape, self.axis)?;
        for ends in [min, max] {
            if ends.num_elements() != n || ends.shape().rank() > 1 {
                return invalid(
                    op,
                    format!("the ends of ranges have shape {}, expected {n} numbers", ends.shape()),
                );
            }
        }
        if n != 1 && self.mode == QuantizeMode::MinFirst {
            return invalid(op, "mode MIN_FIRST is for a single range, not for those of an axis".to_owned());
        }
        let (min, max) = (min.read_as::<f32>("min_range")?, max.read_as::<f32>("max_range")?);
        Ok((collected(min.iter().zip(max.iter()).map(|(&min, &max)| RealRange { min, max }))?, run))
    }

    /// The lowest integer for numbers of a scaled range.
    fn low<T: Level>(&self) -> f32 {
        (T::LOW + i64::from(self.is_narrow)) as f32
    }
}

/// Computes `out` from `x`; `f(i, ..)` computes elements of the range `i`.
fn by_range<A: Element, B: Element>(
    (x, out): (&HostTensor, &HostTensor),
    (n, run): (usize, usize),
    cx: &Cx<'_>,
    f: impl Fn(usize, &[A], &mut [B]) + Sync,
) -> Result<(), TensorError> {
    let (from, mut to) = (x.read_as::<A>("input")?, out.write::<B>()?);
    let from: &[A] = &from;
    cx.parts(&mut to, (if n == 1 { 1 } else { run }, 4), &|first, part| {
        for (at, to) in (first..).step_by(run).zip(part.chunks_mut(run)) {
            f(at / run % n, &from[at..][..to.len()], to);
        }
    });
    Ok(())
}

/// A tensor of the results of `f` for the elements of `x`.
pub(super) fn mapped<A: Element, B: Element>(
    x: &HostTensor,
    cx: &Cx<'_>,
    f: impl Fn(A) -> B + Sync,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(B::DTYPE, x.shape().clone(), cx.allocator)?;
    by_range((x, &out), (1, x.num_elements().max(1)), cx, |_, from: &[A], to: &mut [B]| {
        to.iter_mut().zip(from).for_each(|(to, &x)| *to = f(x));
    })?;
    Ok(out)
}

/// `QuantizeV2`: the integers that stand for the numbers, and the ends of the ranges, which contain 0 and are
/// at least `least` wide relative to their ends.
///
/// # Errors
/// If the range of an axis has another number of ends, or a minimum exceeds its maximum.
pub fn quantize(
    op: &'static str,
    x: &HostTensor,
    ends: (&HostTensor, &HostTensor),
    to: DType,
    by: &Quantizing,
    (least, is_half_to_even): (f32, bool),
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let (given, run) = by.ranges(op, x.shape(), ends)?;
    if let Some(RealRange { min, max }) = given.iter().find(|range| range.max < range.min) {
        return invalid(op, format!("a range of {min} to {max}: max must not be below min"));
    }
    let wide = given.iter().map(|&RealRange { min, max }| {
        let low = min.min(0.0);
        let apart = min.abs().max(max.abs()).max(1.0) * least;
        RealRange { min: low, max: max.max(low + apart).max(0.0) }
    });
    let mut ranges: Vec<RealRange> = collected(wide)?;
    let out = HostTensor::allocate(to, x.shape().clone(), cx.allocator)?;
    let (sizes, tensors) = ((ranges.len(), run), (x, &out));
    with_level!(op, to, T => {
        match by.mode {
            QuantizeMode::MinFirst => {
                let to_level: Vec<ToLevel> = collected(ranges.iter().map(|&range| ToLevel::new::<T>(range)))?;
                by_range(tensors, sizes, cx, |i, from: &[f32], to: &mut [T]| {
                    to.iter_mut().zip(from).for_each(|(to, &x)| *to = to_level[i].of(x));
                })
            }
            QuantizeMode::MinCombined => by_range(tensors, sizes, cx, |i, from: &[f32], to: &mut [T]| {
                let RealRange { min, max } = ranges[i];
                let scale = (T::STEPS / f64::from(max - min)) as f32;
                let half = if T::LOW < 0 { ((T::STEPS + 1.0) / 2.0) as f32 } else { 0.0 };
                for (to, &x) in to.iter_mut().zip(from) {
                    let level = (x.min(max).max(min) - min) * scale;
                    *to = T::truncated(if T::LOW < 0 { (level - half).round() } else { level + 0.5 });
                }
            }),
            QuantizeMode::Scaled => {
                let (low, high) = (by.low::<T>(), T::HIGH as f32);
                let scale = |range: &RealRange| steps_to(low, range.min).min(steps_to(high, range.max));
                let scales: Vec<f32> = collected(ranges.iter().map(scale))?;
                for (range, scale) in ranges.iter_mut().zip(&scales) {
                    *range = RealRange { min: low / scale, max: high / scale };
                }
                by_range(tensors, sizes, cx, |i, from: &[f32], to: &mut [T]| {
                    let (RealRange { min, max }, scale) = (ranges[i], scales[i]);
                    for (to, &x) in to.iter_mut().zip(from) {
                        let level = x.min(max).max(min) * scale;
                        *to = T::truncated(if is_half_to_even { level.round_ties_even() } else { level.round() });
                    }
                })
            }
        }
    })?;
    // As in TensorFlow, an axis of length 1 has ends without an axis.
    let shape = if ranges.len() == 1 { Shape::scalar() } else { Shape::new(&[ranges.len()])? };
    let of = |end: fn(&RealRange) -> f32| {
        let ends = HostTensor::allocate(DType::F32, shape.clone(), cx.allocator)?;
        ends.write::<f32>()?.iter_mut().zip(&ranges).for_each(|(to, range)| *to = end(range));
        Ok::<_, TensorError>(ends)
    };
    let (min, max) = (of(|range| range.min)?, of(|range| range.max)?);
    Ok([out, min, max])
}

/// `Dequantize`: the numbers for which integers stand, as f32 or bf16.
///
/// # Errors
/// If the range of an axis has another number of ends, or a mode is not one of the result's type.
pub fn dequantize(
    op: &'static str,
    x: &HostTensor,
    ends: (&HostTensor, &HostTensor),
    to: DType,
    by: &Quantizing,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    if to != DType::F32 && (to != DType::BF16 || by.mode == QuantizeMode::MinFirst) {
        return Err(TensorError::Unsupported { op, dtype: to });
    }
    let (ranges, run) = by.ranges(op, x.shape(), ends)?;
    let out = HostTensor::allocate(DType::F32, x.shape().clone(), cx.allocator)?;
    let (sizes, tensors) = ((ranges.len(), run), (x, &out));
    with_level!(op, x.dtype(), T => {
        let steps = T::HIGH as f32 - T::LOW as f32;
        match by.mode {
            QuantizeMode::MinFirst => by_range(tensors, sizes, cx, |i, from: &[T], to: &mut [f32]| {
                let numbers = ToNumber::new::<T>(ranges[i]);
                to.iter_mut().zip(from).for_each(|(to, &x)| *to = numbers.of(x));
            }),
            QuantizeMode::MinCombined => by_range(tensors, sizes, cx, |i, from: &[T], to: &mut [f32]| {
                let RealRange { min, max } = ranges[i];
                let half = if T::LOW < 0 { (steps + 1.0) / 2.0 } else { 0.0 };
                let scale = (max - min) / steps;
                to.iter_mut().zip(from).for_each(|(to, &x)| *to = (x.get() as f32 + half) * scale + min);
            }),
            QuantizeMode::Scaled => by_range(tensors, sizes, cx, |i, from: &[T], to: &mut [f32]| {
                let RealRange { min, max } = ranges[i];
                let of_max = max / T::HIGH as f32;
                let scale = if T::LOW == 0 { of_max } else { of_max.max(min / by.low::<T>()) };
                to.iter_mut().zip(from).for_each(|(to, &x)| *to = x.get() as f32 * scale);
            }),
        }
    })?;
    if to == DType::F32 { Ok(out) } else { fast::cast(&out, to, cx) }
}

/// The map from i32 of a range to bytes of another range, by numbers with 16 binary digits after the point.
struct FixedPoint {
    scale: i64,
    offset: i64,
}

impl FixedPoint {
    fn new(from: RealRange, to: RealRange) -> FixedPoint {
        const ONE: i64 = 1 << 16;
        let (from_width, to_width) = (from.max - from.min, to.max - to.min);
        let mut of = FixedPoint { scale: 0, offset: ONE / 2 };
        if to_width != 0.0 {
            let center = ((f64::from(from.min + from.max)) / 2.0) as f32;
            let reciprocal = (255.0 / f64::from(to_width)) as f32;
            of.scale = (255.0 * ONE as f64 * f64::from(from_width) / f64::from(to_width)) as i64;
            let center = (center * reciprocal * ONE as f32) as i64;
            let low = (ONE as f64 * (f64::from(to.min) * 255.0) / f64::from(to_width)).round() as i64;
            of.offset = of.offset.wrapping_add(center).wrapping_sub(low);
        }
        of
    }

    fn of(&self, level: i32) -> u8 {
        let level = (i64::from(level).wrapping_mul(self.scale) >> 32).wrapping_add(self.offset) >> 16;
        u8::clamped(level)
    }
}

/// The integers of the type `to` and the range `requested` that stand for the same numbers.
pub(super) fn converted(
    op: &'static str,
    x: &HostTensor,
    (from, requested): (RealRange, RealRange),
    to: DType,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    if (x.dtype(), to) == (DType::I32, DType::UI8) {
        let fixed = FixedPoint::new(from, requested);
        return mapped(x, cx, |level: i32| fixed.of(level));
    }
    with_level!(op, x.dtype(), From => {
        let number = ToNumber::new::<From>(from);
        with_level!(op, to, To => {
            let level = ToLevel::new::<To>(requested);
            mapped(x, cx, |x: From| -> To { level.of(number.of(x)) })
        })
    })
}

/// `Requantize`: integers of the type `to` and the requested range, which contains 0.
///
/// # Errors
/// If it does not.
pub fn requantize(
    op: &'static str,
    x: &HostTensor,
    from: RealRange,
    requested: RealRange,
    to: DType,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let RealRange { min, max } = requested;
    if !(min <= 0.0 && max >= 0.0) {
        return invalid(op, format!("the requested range {min} to {max} does not contain 0"));
    }
    requested.beside(converted(op, x, (from, requested), to, cx)?, cx.allocator)
}

/// The range of the numbers for which the integers of a tensor stand, with 0 as the highest minimum.
fn used_range(op: &'static str, x: &HostTensor, range: RealRange) -> Result<RealRange, TensorError> {
    with_level!(op, x.dtype(), T => {
        let levels = x.read_as::<T>("input")?;
        let (mut low, mut high) = (T::clamped(T::HIGH), T::clamped(T::LOW));
        for part in levels.chunks(1 << 16) {
            if is_interrupted() {
                break;
            }
            part.iter().for_each(|&x| (low, high) = (low.min(x), high.max(x)));
        }
        Ok(RealRange { min: range.number(low).min(0.0), max: range.number(high) })
    })
}

/// `RequantizationRange`: the ends of the range of the numbers of a tensor.
pub fn requantization_range(
    op: &'static str,
    x: &HostTensor,
    range: RealRange,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 2], TensorError> {
    let RealRange { min, max } = used_range(op, x, range)?;
    Ok([super::scalar(min, cx.allocator)?, super::scalar(max, cx.allocator)?])
}

/// `QuantizeDownAndShrinkRange`: integers of the type `to` and the range of the tensor's numbers.
pub fn quantize_down(
    op: &'static str,
    x: &HostTensor,
    range: RealRange,
    to: DType,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let used = used_range(op, x, range)?;
    used.beside(converted(op, x, (range, used), to, cx)?, cx.allocator)
}
