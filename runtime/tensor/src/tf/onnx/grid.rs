//! ONNX's `GridSample`: images sampled at positions of a grid. And its gradients.
//!
//! ```text
//! position in [-1, 1] ─▶ fraction of a pixel, per axis ─▶ 1, 2 or 4 taps with weights ─▶ their products
//! ```
//!
//! A position lists the last spatial axis first. The taps of a position are computed once for several
//! channels. A tap also has a slope, the derivative of its weight by the position: the gradient by a
//! coordinate is the sample with slopes in place of the weights of its axis.

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

/// A pixel on which a position depends.
#[derive(Clone, Copy)]
struct SampledPixel {
    pixel: usize,
    weight: f64,
    /// The derivative of the weight by the position.
    slope: f64,
}

/// The taps of an axis; `None` for a tap without a pixel.
type AxisTaps = [Option<SampledPixel>; 4];

/// Reflects a position at the ends until it is between them. Also returns the derivative, -1, 0 or 1.
fn reflected(x: f64, low: f64, high: f64) -> (f64, f64) {
    let length = high - low;
    if length <= 0.0 {
        return (low, 0.0);
    }
    let beyond = if x < low { low - x } else { x - high };
    if beyond <= 0.0 || beyond.is_nan() {
        return (x, 1.0);
    }
    let (times, rest) = ((beyond / length).floor(), beyond % length);
    let is_even = times % 2.0 == 0.0;
    // After an even number of whole lengths, the rest counts from the end that the position is beyond.
    (if (x < low) == is_even { low + rest } else { high - rest }, if is_even { -1.0 } else { 1.0 })
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
                Some(reflected(at, low, high).0.clamp(0.0, last) as usize)
            }
        }
    }

    /// The taps of a position in [-1, 1] on an axis of `len` pixels.
    fn taps<T: WideFloat>(&self, x: T, len: usize) -> AxisTaps {
        let (x, n) = (x.wide(), len as f64);
        let at = if self.align_corners { (x + 1.0) / 2.0 * (n - 1.0) } else { ((x + 1.0) * n - 1.0) / 2.0 };
        // Rounded to the dtype, as in other implementations, so that the same positions fall on pixels.
        let at = T::rounded(at).wide();
        let at = if self.sampling == Sampling::Nearest { at.round_ties_even() } else { at };
        let (low, high) = self.ends(len);
        let (at, by) = match self.beyond {
            // As in PyTorch, a cubic position stays where it is, and only its taps are moved to the border.
            Beyond::Border if self.sampling != Sampling::Cubic && (at < low || at > high) => {
                (at.clamp(0.0, n - 1.0), 0.0)
            }
            Beyond::Reflection => reflected(at, low, high),
            _ => (at, 1.0),
        };
        let by = by * if self.align_corners { n - 1.0 } else { n } / 2.0;
        let base = if self.sampling == Sampling::Nearest { at.trunc() } else { at.floor() };
        let u = at - base;
        let tap = |offset: f64, weight: f64, slope: f64| {
            self.pixel(base + offset, len).map(|pixel| SampledPixel { pixel, weight, slope: slope * by })
        };
        match self.sampling {
            Sampling::Nearest => [tap(0.0, 1.0, 0.0), None, None, None],
            Sampling::Linear => [tap(0.0, 1.0 - u, -1.0), tap(1.0, u, 1.0), None, None],
            Sampling::Cubic => {
                const A: f64 = -0.75;
                let near = |u: f64| ((A + 2.0) * u - (A + 3.0)) * u * u + 1.0;
                let far = |u: f64| ((A * u - 5.0 * A) * u + 8.0 * A) * u - 4.0 * A;
                let near_slope = |u: f64| (3.0 * (A + 2.0) * u - 2.0 * (A + 3.0)) * u;
                let far_slope = |u: f64| (3.0 * A * u - 10.0 * A) * u + 8.0 * A;
                [
                    tap(-1.0, far(u + 1.0), far_slope(u + 1.0)),
                    tap(0.0, near(u), near_slope(u)),
                    tap(1.0, near(1.0 - u), -near_slope(1.0 - u)),
                    tap(2.0, far(2.0 - u), -far_slope(2.0 - u)),
                ]
            }
        }
    }

    /// The taps of a position on each axis.
    fn all_taps<T: WideFloat>(&self, position: &[T], space: &[usize]) -> [AxisTaps; AXES] {
        let mut taps = [[None; 4]; AXES];
        for ((taps, &len), position) in taps.iter_mut().zip(space).zip(position.iter().rev()) {
            *taps = self.taps(*position, len);
        }
        taps
    }

    /// The cost of a position on `n` axes.
    fn cost(&self, n: usize) -> usize {
        [1, 8, 32, 128][n] / if self.sampling == Sampling::Cubic { 1 } else { 2 }
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
    for tap in own.iter().flatten() {
        each_pixel(dims, taps, (pixel * len + tap.pixel, weight * tap.weight), f);
    }
}

/// The sizes of images `[batch, channels, ...]` and of positions `[batch, ..., spatial axes]`.
struct Sizes<'a> {
    batch: usize,
    channels: usize,
    /// The spatial axes of the images.
    space: &'a [usize],
    /// The axes of the positions.
    places: &'a [usize],
}

impl<'a> Sizes<'a> {
    fn new(op: &'static str, x: &'a HostTensor, grid: &'a HostTensor) -> Result<Sizes<'a>, TensorError> {
        grid.expect_dtype("grid", x.dtype())?;
        match (x.shape().dims(), grid.shape().dims()) {
            (&[batch, channels, ref space @ ..], &[b, ref places @ .., n])
                if b == batch && n == space.len() && places.len() == n && (1..=AXES).contains(&n) =>
            {
                let sizes = Sizes { batch, channels, space, places };
                match sizes.plane() == 0 && batch * channels > 0 && sizes.each() > 0 {
                    true => invalid(op, format!("images of shape {} have no pixels", x.shape())),
                    false => Ok(sizes),
                }
            }
            _ => {
                let (grid, x) = (grid.shape(), x.shape());
                invalid(op, format!("a grid of shape {grid} for images of shape {x}"))
            }
        }
    }

    /// [`Sizes::new`]; also checks the gradients of the samples.
    fn with_gradients(
        op: &'static str,
        dy: &HostTensor,
        x: &'a HostTensor,
        grid: &'a HostTensor,
    ) -> Result<Sizes<'a>, TensorError> {
        let sizes = Sizes::new(op, x, grid)?;
        dy.expect_dtype("gradients", x.dtype())?;
        dy.expect_shape("gradients", &sizes.result()?)?;
        Ok(sizes)
    }

    /// The pixels of a channel.
    fn plane(&self) -> usize {
        self.space.iter().product()
    }

    /// The positions of an image.
    fn each(&self) -> usize {
        self.places.iter().product()
    }

    fn result(&self) -> Result<Shape, TensorError> {
        Shape::new(&[&[self.batch, self.channels], self.places].concat())
    }
}

/// `_GridSample` of images `[batch, channels, ...]` at positions `[batch, ..., spatial axes]`.
pub fn grid_sample(
    x: &HostTensor,
    grid: &HostTensor,
    attrs: &GridAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let sizes = Sizes::new("_GridSample", x, grid)?;
    let (channels, space, plane, each) = (sizes.channels, sizes.space, sizes.plane(), sizes.each());
    let (wide_x, wide_grid) = (wide("_GridSample", x, cx)?, wide("_GridSample", grid, cx)?);
    let out = HostTensor::allocate(wide_x.dtype(), sizes.result()?, cx.allocator)?;
    if out.num_elements() > 0 {
        let n = space.len();
        with_float!(wide_x, T => {
            let (x, grid, mut out) = (wide_x.read::<T>()?, wide_grid.read::<T>()?, out.write::<T>()?);
            let (x, grid): (&[T], &[T]) = (&x, &grid);
            cx.parts(&mut out, (each, attrs.cost(n)), &|first, part| {
                each_image((first / each, channels), each, part, |number, own| {
                    let x = &x[number * plane..][..own.len() / each * plane];
                    let grid = &grid[number / channels * each * n..][..each * n];
                    for (place, position) in grid.chunks_exact(n).enumerate() {
                        if place % 64 == 63 && is_interrupted() {
                            return;
                        }
                        let taps = attrs.all_taps(position, space);
                        sample((x, plane), (space, &taps[..n]), (&mut own[place..], each));
                    }
                });
            });
        });
    }
    fast::cast(&out, x.dtype(), cx)
}

/// Calls `f(number, part)` for the parts of `part` that belong to one image. They consist of channels of
/// `unit` elements, the first of which has a number.
fn each_image<T>(
    (first, channels): (usize, usize),
    unit: usize,
    part: &mut [T],
    mut f: impl FnMut(usize, &mut [T]),
) {
    let (mut number, mut rest) = (first, part);
    while !rest.is_empty() {
        let some = (channels - number % channels).min(rest.len() / unit);
        let (own, after) = rest.split_at_mut(some * unit);
        f(number, own);
        (number, rest) = (number + some, after);
    }
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

/// `_GridSampleGradImage`: the gradient by the images, given that of the samples.
pub fn grid_sample_grad_image(
    dy: &HostTensor,
    x: &HostTensor,
    grid: &HostTensor,
    attrs: &GridAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_GridSampleGradImage";
    let sizes = Sizes::with_gradients(op, dy, x, grid)?;
    let (channels, space, plane, each) = (sizes.channels, sizes.space, sizes.plane(), sizes.each());
    let (wide_dy, wide_grid) = (wide(op, dy, cx)?, wide(op, grid, cx)?);
    let out = HostTensor::allocate(wide_dy.dtype(), x.shape().clone(), cx.allocator)?;
    if out.num_elements() > 0 {
        let n = space.len();
        with_float!(wide_dy, T => {
            let (dy, grid, mut out) = (wide_dy.read::<T>()?, wide_grid.read::<T>()?, out.write::<T>()?);
            let (dy, grid): (&[T], &[T]) = (&dy, &grid);
            cx.parts(&mut out, (plane, attrs.cost(n) * each.div_ceil(plane)), &|first, part| {
                part.fill(T::rounded(0.0));
                each_image((first / plane, channels), plane, part, |number, own| {
                    let dy = &dy[number * each..][..own.len() / plane * each];
                    let grid = &grid[number / channels * each * n..][..each * n];
                    for (place, position) in grid.chunks_exact(n).enumerate() {
                        if place % 64 == 63 && is_interrupted() {
                            return;
                        }
                        let taps = attrs.all_taps(position, space);
                        each_pixel(space, &taps[..n], (0, 1.0), &mut |pixel, weight| {
                            let weight = T::rounded(weight);
                            for (own, dy) in own.chunks_exact_mut(plane).zip(dy[place..].iter().step_by(each)) {
                                own[pixel] += weight * *dy;
                            }
                        });
                    }
                });
            });
        });
    }
    fast::cast(&out, x.dtype(), cx)
}

/// `_GridSampleGradGrid`: the gradient by the positions, given that of the samples. Where pixels outside are
/// those at the border it is 0, as where the nearest pixel is taken.
pub fn grid_sample_grad_grid(
    dy: &HostTensor,
    x: &HostTensor,
    grid: &HostTensor,
    attrs: &GridAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_GridSampleGradGrid";
    let sizes = Sizes::with_gradients(op, dy, x, grid)?;
    let (channels, space, plane, each) = (sizes.channels, sizes.space, sizes.plane(), sizes.each());
    let (wide_dy, wide_x, wide_grid) = (wide(op, dy, cx)?, wide(op, x, cx)?, wide(op, grid, cx)?);
    let out = HostTensor::allocate(wide_dy.dtype(), grid.shape().clone(), cx.allocator)?;
    if out.num_elements() > 0 {
        let n = space.len();
        with_float!(wide_dy, T => {
            let (dy, x) = (wide_dy.read::<T>()?, wide_x.read::<T>()?);
            let (grid, mut out) = (wide_grid.read::<T>()?, out.write::<T>()?);
            let (dy, x, grid): (&[T], &[T], &[T]) = (&dy, &x, &grid);
            cx.parts(&mut out, (n, attrs.cost(n) * channels.max(1)), &|first, part| {
                let places = (first / n..).zip(part.chunks_exact_mut(n));
                for ((place, out), position) in places.zip(grid[first..].chunks_exact(n)) {
                    let image = place / each * channels;
                    // Images without channels have no gradients.
                    let x = &x[image * plane..];
                    let dy = dy.get(image * each + place % each..).unwrap_or_default();
                    let taps = attrs.all_taps(position, space);
                    // A position lists the last axis first.
                    for (axis, out) in out.iter_mut().rev().enumerate() {
                        let mut sloped = taps;
                        sloped[axis].iter_mut().flatten().for_each(|tap| tap.weight = tap.slope);
                        let mut sum = 0.0;
                        each_pixel(space, &sloped[..n], (0, 1.0), &mut |pixel, slope| {
                            for channel in 0..channels {
                                sum += slope * dy[channel * each].wide() * x[channel * plane + pixel].wide();
                            }
                        });
                        *out = T::rounded(sum);
                    }
                }
            });
        });
    }
    fast::cast(&out, grid.dtype(), cx)
}
