//! Colors of images: hue, saturation and value, and adjustments of contrast, hue and saturation.
//!
//! The last axis of images is red, green and blue, or hue, saturation and value, each from 0 to 1. Floats are
//! computed in f32, f64 in f64.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

use super::fast::{self, Cx};
use super::real::expect_float;
use crate::error::invalid;
use crate::scratch::filled;
use crate::{DType, Element, HostTensor, TensorError};

/// The number of channels of a color.
const CHANNELS: usize = 3;

/// A float in which colors are computed.
trait Channel:
    Element + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn number(x: f64) -> Self;
    fn abs(self) -> Self;

    /// The number limited to [0, 1]; NaN is 0, as in TensorFlow.
    fn limited(self) -> Self {
        let (zero, one) = (Self::number(0.0), Self::number(1.0));
        if self > zero { if self < one { self } else { one } } else { zero }
    }
}

impl Channel for f32 {
    fn number(x: f64) -> f32 {
        x as f32
    }
    fn abs(self) -> f32 {
        f32::abs(self)
    }
}

impl Channel for f64 {
    fn number(x: f64) -> f64 {
        x
    }
    fn abs(self) -> f64 {
        f64::abs(self)
    }
}

fn largest<T: PartialOrd>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

fn least<T: PartialOrd>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

fn hsv<T: Channel>([r, g, b]: [T; CHANNELS]) -> [T; CHANNELS] {
    let (zero, sixth) = (T::number(0.0), T::number(1.0) / T::number(6.0));
    let value = largest(largest(r, g), b);
    let range = value - least(least(r, g), b);
    let saturation = if value > zero { range / value } else { zero };
    if range.partial_cmp(&zero) != Some(Ordering::Greater) {
        return [zero, saturation, value];
    }
    let norm = sixth / range;
    let hue = if r == value {
        norm * (g - b)
    } else if g == value {
        norm * (b - r) + T::number(2.0) * sixth
    } else {
        norm * (r - g) + T::number(4.0) * sixth
    };
    [if hue < zero { hue + T::number(1.0) } else { hue }, saturation, value]
}

fn rgb<T: Channel>([hue, saturation, value]: [T; CHANNELS]) -> [T; CHANNELS] {
    let (one, two) = (T::number(1.0), T::number(2.0));
    let at = hue * T::number(6.0);
    let parts = [
        ((at - T::number(3.0)).abs() - one).limited(),
        (two - (at - two).abs()).limited(),
        (two - (at - T::number(4.0)).abs()).limited(),
    ];
    parts.map(|part| (one - saturation + saturation * part) * value)
}

/// A function of each color.
fn each_color<T: Channel>(
    x: &HostTensor,
    cx: &Cx<'_>,
    f: impl Fn([T; CHANNELS]) -> [T; CHANNELS] + Sync,
) -> Result<HostTensor, TensorError> {
    let from = fast::cast(x, T::DTYPE, cx)?;
    let out = HostTensor::allocate(T::DTYPE, x.shape().clone(), cx.allocator)?;
    {
        let from = from.read::<T>()?;
        let from: &[T] = &from;
        cx.parts(&mut out.write::<T>()?, (CHANNELS, 8), &|first, part| {
            let colors = from[first..first + part.len()].chunks_exact(CHANNELS);
            for (to, color) in part.chunks_exact_mut(CHANNELS).zip(colors) {
                to.copy_from_slice(&f([color[0], color[1], color[2]]));
            }
        });
    }
    fast::cast(&out, x.dtype(), cx)
}

/// Returns an error unless the last axis is that of colors.
fn expect_colors(op: &'static str, images: &HostTensor) -> Result<(), TensorError> {
    expect_float(op, images)?;
    match images.shape().dims().last() {
        Some(&CHANNELS) => Ok(()),
        _ => invalid(op, format!("images of shape {}, expected {CHANNELS} channels", images.shape())),
    }
}

/// `RGBToHSV`: hue, saturation and value of colors.
pub fn rgb_to_hsv(images: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    expect_colors("RGBToHSV", images)?;
    match images.dtype() {
        DType::F64 => each_color::<f64>(images, cx, hsv),
        _ => each_color::<f32>(images, cx, hsv),
    }
}

/// `HSVToRGB`: the colors of hues, saturations and values.
pub fn hsv_to_rgb(images: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    expect_colors("HSVToRGB", images)?;
    match images.dtype() {
        DType::F64 => each_color::<f64>(images, cx, rgb),
        _ => each_color::<f32>(images, cx, rgb),
    }
}

/// The images of an adjustment: `[..., height, width, channels]`.
fn expect_images(op: &'static str, images: &HostTensor) -> Result<(), TensorError> {
    match images.shape().rank() {
        3.. => expect_float(op, images),
        _ => invalid(op, format!("images of shape {}, expected rank 3 or more", images.shape())),
    }
}

/// `AdjustHue`: the colors with `delta` full circles added to the hue.
pub fn adjust_hue(images: &HostTensor, delta: f32, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    expect_images("AdjustHue", images)?;
    expect_colors("AdjustHue", images)?;
    each_color::<f32>(images, cx, |color| {
        let [r, g, b] = color;
        let (value, low) = (largest(largest(r, g), b), least(least(r, g), b));
        // The hue in sixths of a circle, as TensorFlow computes it: the position of the middle channel
        // between the others, from an even sixth upwards, from an odd one downwards.
        let (sixth, middle) = match (r < g, b < r, b > g) {
            (true, true, _) => (1, r),
            (true, false, true) => (3, g),
            (true, false, false) => (2, b),
            (false, _, _) if b < g => (0, g),
            (false, _, _) if b > r => (4, r),
            (false, _, _) => (5, b),
        };
        let hue = match value == low {
            true => 0.0,
            false => {
                let part = (middle - low) / (value - low);
                sixth as f32 + if sixth % 2 == 0 { part } else { 1.0 - part }
            }
        };
        let hue = (hue + delta * 6.0).rem_euclid(6.0);
        let sixth = hue as usize; // NaN is 0
        let part = hue - sixth as f32;
        let part = if sixth.is_multiple_of(2) { part } else { 1.0 - part };
        let middle = low + part * (value - low);
        match sixth {
            0 => [value, middle, low],
            1 => [middle, value, low],
            2 => [low, value, middle],
            3 => [low, middle, value],
            4 => [middle, low, value],
            _ => [value, low, middle],
        }
    })
}

/// `AdjustSaturation`: the colors with saturations multiplied by `scale` and limited to [0, 1].
pub fn adjust_saturation(images: &HostTensor, scale: f32, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    expect_images("AdjustSaturation", images)?;
    expect_colors("AdjustSaturation", images)?;
    each_color::<f32>(images, cx, |color| {
        let [hue, saturation, value] = hsv(color);
        rgb([hue, (saturation * scale).limited(), value])
    })
}

/// `AdjustContrastv2`: the difference of each pixel from the mean of its channel in its image, multiplied by
/// `factor`.
pub fn adjust_contrast(images: &HostTensor, factor: f32, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    expect_images("AdjustContrastv2", images)?;
    let [.., height, width, channels] = *images.shape().dims() else { return Ok(images.clone()) };
    let from = fast::cast(images, DType::F32, cx)?;
    let out = HostTensor::allocate(DType::F32, images.shape().clone(), cx.allocator)?;
    if out.num_elements() > 0 {
        let image = height * width * channels;
        let (from, mut to) = (from.read::<f32>()?, out.write::<f32>()?);
        let mut sums = filled(channels, 0.0f64)?;
        for (from, to) in from.chunks_exact(image).zip(to.chunks_exact_mut(image)) {
            sums.fill(0.0);
            for pixel in from.chunks_exact(channels) {
                sums.iter_mut().zip(pixel).for_each(|(sum, &x)| *sum += f64::from(x));
            }
            sums.iter_mut().for_each(|sum| *sum /= (height * width) as f64);
            cx.parts(to, (channels, 2), &|first, part| {
                let pixels = from[first..first + part.len()].chunks_exact(channels);
                for (to, pixel) in part.chunks_exact_mut(channels).zip(pixels) {
                    for ((to, &x), &mean) in to.iter_mut().zip(pixel).zip(&sums) {
                        *to = (x - mean as f32) * factor + mean as f32;
                    }
                }
            });
        }
    }
    fast::cast(&out, images.dtype(), cx)
}
