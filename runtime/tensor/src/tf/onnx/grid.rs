//! ONNX's `GridSample`: images sampled at positions of a grid.
//!
//! ```text
//! position in [-1, 1] ─▶ fraction of a pixel, per axis ─▶ 1, 2 or 4 taps with weights ─▶ their products
//! ```
//!
//! A position lists the last spatial axis first. The taps of a position are computed once for several
//! channels.

use super::super::fast::{self, Cx};
use super::{WideFloat, wide, with_float};
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::{HostTensor, Shape, TensorError};

/// The interpolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Between neighbours along each axis.
    Linear,
    /// The nearest pixel; of two equally near ones, the one with the even number.
    Nearest,
    /// By cubic polynomials of four neighbours along each axis.
    Cubic,
}

/// The pixels outside of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Zeros.
    Zeros,
    /// The pixels at the border.
    Border,
    /// The image, reflected at the border.
    Reflection,
}

/// The attributes of [`grid_sample`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridAttrs {
    /// The interpolation.
    pub sampling: Sampling,
    /// The pixels outside of the image.
    pub beyond: Beyond,
    /// True if -1 and 1 are the centers of the outermost pixels, false for their outer edges.
    pub align_corners: bool,
}

/// The maximum number of spatial axes.
const AXES: usize = 3;

/// The pixels along an axis on which a position depends, with their weights; `None` for a tap without a
/// pixel.
type AxisTaps = [Option<(usize, f64)>; 4];

/// Reflects a position at the ends until it is between them.
fn reflected(x: f64, low: f64, high: f64) -> f64 {
    let length = high - low;
    if length <= 0.0 {
        return low;
    }
    let beyond = if x < low { low - x } else { x - high };
    if beyond <= 0.0 || beyond.is_nan() {
        return x;
    }
    let (times, rest) = ((beyond / length).floor(), beyond % length);
    // After an even number of whole lengths, the rest counts from the end that the position is beyond.
    if (x < low) == (times % 2.0 == 0.0) { low + rest } else { high - rest }
}

impl GridAttrs {
    fn ends(&self, len: usize) -> (f64, f64) {
        let last = len as f64 - 1.0;
        if self.align_corners { (0.0, last) } else { (-0.5, last + 0.5) }
    }

    /// The pixel at an integer position; `None` if it has the value 0.
    fn pixel(&self, at: f64, len: usize) -> Option<usize> {
        let last = len as f64 - 1.0;
        match self.beyond {
            Beyond::Zeros => (at >= 0.0 && at <= last).then_some(at as usize),
            Beyond::Border => Some(at.clamp(0.0, last) as usize),
            Beyond::Reflection => {
                let (low, high) = self.ends(len);
                Some(reflected(at, low, high).clamp(0.0, last) as usize)
            }
        }
    }

    /// The taps of a position in [-1, 1] on an axis of `len` pixels.
    fn taps(&self, x: f64, len: usize) -> AxisTaps {
        let n = len as f64;
        let at = if self.align_corners { (x + 1.0) / 2.0 * (n - 1.0) } else { ((x + 1.0) * n - 1.0) / 2.0 };
        // Rounded to f32, as in other implementations, so that the same positions fall on pixels.
        let at = f64::from(at as f32);
        let at = if self.sampling == Sampling::Nearest { at.round_ties_even() } else { at };
        let (low, high) = self.ends(len);
        let at = match self.beyond {
            // As in PyTorch, a cubic position stays where it is, and only its taps are moved to the border.
            Beyond::Border if self.sampling != Sampling::Cubic && (at < low || at > high) => {
                at.clamp(0.0, n - 1.0)
            }
            Beyond::Reflection => reflected(at, low, high),
            _ => at,
        };
        let base = if self.sampling == Sampling::Nearest { at.trunc() } else { at.floor() };
        let u = at - base;
        let tap = |offset: f64, weight: f64| self.pixel(base + offset, len).map(|pixel| (pixel, weight));
        match self.sampling {
            Sampling::Nearest => [tap(0.0, 1.0), None, None, None],
            Sampling::Linear => [tap(0.0, 1.0 - u), tap(1.0, u), None, None],
            Sampling::Cubic => {
                const A: f64 = -0.75;
                let near = |u: f64| ((A + 2.0) * u - (A + 3.0)) * u * u + 1.0;
                let far = |u: f64| ((A * u - 5.0 * A) * u + 8.0 * A) * u - 4.0 * A;
                [tap(-1.0, far(u + 1.0)), tap(0.0, near(u)), tap(1.0, near(1.0 - u)), tap(2.0, far(2.0 - u))]
            }
        }
    }
}

/// Calls `f` for each combination of taps along `dims`, with the pixel's position and the product of weights.
/// `pixel` and `weight` are those of the outer axes.
fn each_pixel(
    dims: &[usize],
    taps: &[AxisTaps],
    (pixel, weight): (usize, f64),
    f: &mut dyn FnMut(usize, f64),
) {
    let (Some((&len, dims)), Some((own, taps))) = (dims.split_first(), taps.split_first()) else {
        return f(pixel, weight);
    };
    for &(at, by) in own.iter().flatten() {
        each_pixel(dims, taps, (pixel * len + at, weight * by), f);
    }
}

/// `_GridSample` of images `[batch, channels, ...]` at positions `[batch, ..., spatial axes]`.
pub fn grid_sample(
    x: &HostTensor,
    grid: &HostTensor,
    attrs: &GridAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_GridSample";
    grid.expect_dtype("grid", x.dtype())?;
    let (batch, channels, space, places) = match (x.shape().dims(), grid.shape().dims()) {
        (&[batch, channels, ref space @ ..], &[b, ref places @ .., n])
            if b == batch && n == space.len() && places.len() == n && (1..=AXES).contains(&n) =>
        {
            (batch, channels, space, places)
        }
        _ => {
            return invalid(
                op,
                format!("a grid of shape {} for images of shape {}", grid.shape(), x.shape()),
            );
        }
    };
    let wide_x = wide(op, x, cx)?;
    let shape = Shape::new(&[&[batch, channels], places].concat())?;
    let out = HostTensor::allocate(wide_x.dtype(), shape, cx.allocator)?;
    if out.num_elements() > 0 {
        let plane: usize = space.iter().product();
        if plane == 0 {
            return invalid(op, format!("images of shape {} have no pixels", x.shape()));
        }
        let (n, each) = (space.len(), places.iter().product::<usize>());
        let wide_grid = wide(op, grid, cx)?;
        let cost = [1, 8, 32, 128][n] / if attrs.sampling == Sampling::Cubic { 1 } else { 2 };
        with_float!(wide_x, T => {
            let (x, grid, mut out) = (wide_x.read::<T>()?, wide_grid.read::<T>()?, out.write::<T>()?);
            let (x, grid): (&[T], &[T]) = (&x, &grid);
            cx.parts(&mut out, (each, cost), &|first, part| {
                let mut number = first / each;
                let mut rest = part;
                // Each iteration takes the channels of one image that are in the part.
                while !rest.is_empty() {
                    let some = (channels - number % channels).min(rest.len() / each);
                    let (own, after) = rest.split_at_mut(some * each);
                    rest = after;
                    let x = &x[number * plane..][..some * plane];
                    let grid = &grid[number / channels * each * n..][..each * n];
                    number += some;
                    for (place, position) in grid.chunks_exact(n).enumerate() {
                        if place % 64 == 63 && is_interrupted() {
                            return;
                        }
                        let mut taps: [AxisTaps; AXES] = [[None; 4]; AXES];
                        for ((taps, &len), position) in taps.iter_mut().zip(space).zip(position.iter().rev()) {
                            *taps = attrs.taps(position.wide(), len);
                        }
                        sample((x, plane), (space, &taps[..n]), (&mut own[place..], each));
                    }
                }
            });
        });
    }
    fast::cast(&out, x.dtype(), cx)
}

/// Computes one position for several channels; the results of neighbouring channels are `step` apart.
fn sample<T: WideFloat>(
    (x, plane): (&[T], usize),
    (dims, taps): (&[usize], &[AxisTaps]),
    (out, step): (&mut [T], usize),
) {
    out.iter_mut().step_by(step).for_each(|out| *out = T::ZERO);
    each_pixel(dims, taps, (0, 1.0), &mut |pixel, weight| {
        let weight = T::rounded(weight);
        for (out, x) in out.iter_mut().step_by(step).zip(x.chunks_exact(plane)) {
            *out += weight * x[pixel];
        }
    });
}
