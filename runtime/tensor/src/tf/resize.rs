//! Resizing of images: TensorFlow's `ResizeNearestNeighbor`, `ResizeBilinear` and `ResizeBicubic`, and their
//! gradients.
//!
//! ```text
//! row i of the result ──ResizedAxis──▶ a position between rows of the image
//!                                      ──▶ one row, two with a fraction, or four with weights
//! ```
//!
//! Positions are f32, as in TensorFlow, so that they round to the same pixels. Images are
//! `[batch, height, width, channels]`. Interpolated results are f32 for every dtype.

use std::sync::Arc;

use super::fast::{self, Cx};
use super::numeric::{Domain, Number};
use super::real::expect_float;
use crate::element::with_element;
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::collected;
use crate::{DType, HostTensor, Shape, TensorError};

/// The attributes of a resizing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResizeAttrs {
    /// True if the first and the last pixel of each axis map to each other.
    pub align_corners: bool,
    /// True if the position of a pixel is the center of a unit square; false if it is the corner.
    pub half_pixel_centers: bool,
}

/// The interpolation of a resizing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Between the two pixels around a position.
    Bilinear,
    /// Between four pixels, by cubic polynomials.
    Bicubic,
}

/// Batch, height, width and channels.
type ImageSize = [usize; 4];

/// The dimensions of a tensor of images with at least one pixel each.
pub(super) fn image_dims(
    op: &'static str,
    what: &'static str,
    images: &HostTensor,
) -> Result<ImageSize, TensorError> {
    match *images.shape().dims() {
        [batch, rows, columns, channels] if rows > 0 && columns > 0 && channels > 0 => {
            Ok([batch, rows, columns, channels])
        }
        [_, _, _, _] => invalid(op, format!("`{what}` of shape {} has no pixels", images.shape())),
        _ => invalid(op, format!("`{what}` has shape {}, expected rank 4", images.shape())),
    }
}

pub(super) fn expect_size(op: &'static str, (height, width): (usize, usize)) -> Result<(), TensorError> {
    // Positions are counted in i32, as in TensorFlow.
    if [height, width].iter().all(|&n| n > 0 && n <= i32::MAX as usize) {
        return Ok(());
    }
    invalid(op, format!("images of {height} by {width} pixels: both must be positive and below 2^31"))
}

/// The map from positions of a resized axis to positions of the original one.
#[derive(Clone, Copy)]
pub(super) struct ResizedAxis {
    from: usize,
    to: usize,
    scale: f32,
    attrs: ResizeAttrs,
}

/// Two pixels, and the position between them as a fraction of their distance.
#[derive(Clone, Copy)]
pub(super) struct Between {
    pub(super) low: usize,
    pub(super) high: usize,
    pub(super) part: f32,
}

/// The positions along an axis of the `N` pixels that an interpolated pixel depends on, with weights.
type Taps<const N: usize> = [(usize, f32); N];

impl ResizedAxis {
    pub(super) fn new(from: usize, to: usize, attrs: ResizeAttrs) -> ResizedAxis {
        let scale = match attrs.align_corners && to > 1 {
            true => (from - 1) as f32 / (to - 1) as f32,
            false => from as f32 / to as f32,
        };
        ResizedAxis { from, to, scale, attrs }
    }

    fn last(&self) -> usize {
        self.from - 1 // no axis of an image has length 0
    }

    /// The position in the image of pixel `i` of the result, for interpolations.
    fn position(&self, i: usize) -> f32 {
        match self.attrs.half_pixel_centers {
            true => (i as f32 + 0.5) * self.scale - 0.5,
            false => i as f32 * self.scale,
        }
    }

    /// The pixel nearest to pixel `i` of the result.
    fn nearest(&self, i: usize) -> usize {
        let at = match self.attrs.half_pixel_centers {
            true => (i as f32 + 0.5) * self.scale,
            false => i as f32 * self.scale,
        };
        let at = if self.attrs.align_corners { at.round() } else { at.floor() };
        (at as usize).min(self.last())
    }

    pub(super) fn between(&self, i: usize) -> Between {
        let at = self.position(i);
        let low = (at.floor() as usize).min(self.last()); // a negative position saturates to 0
        Between { low, high: (at.ceil() as usize).min(self.last()), part: at - at.floor() }
    }

    fn linear_taps(&self, i: usize) -> Taps<2> {
        let Between { low, high, part } = self.between(i);
        [(low, 1.0 - part), (high, part)]
    }

    /// The four pixels around the position of pixel `i` of the result. With half pixel centers, pixels
    /// outside of the image have weight 0; otherwise the border is repeated.
    fn cubic_taps(&self, i: usize) -> Taps<4> {
        let at = self.position(i);
        let low = at.floor();
        let is_keys = self.attrs.half_pixel_centers;
        let a = if is_keys { -0.5 } else { -0.75 };
        // TensorFlow's weights are those of a table with 1024 steps.
        let part = ((at - low) * STEPS).round_ties_even() / STEPS;
        let distances = [1.0 + part, part, 1.0 - part, 2.0 - part];
        let mut taps = [(0, 0.0); 4];
        for (k, (tap, distance)) in taps.iter_mut().zip(distances).enumerate() {
            let wanted = low as i64 + k as i64 - 1;
            let inside = wanted.clamp(0, self.last() as i64);
            let counts = !is_keys || wanted == inside;
            *tap = (inside as usize, if counts { cubic(a, distance) } else { 0.0 });
        }
        let sum: f32 = taps.iter().map(|(_, weight)| weight).sum();
        if is_keys && sum.abs() >= 1000.0 * f32::MIN_POSITIVE {
            taps.iter_mut().for_each(|(_, weight)| *weight *= 1.0 / sum);
        }
        taps
    }

    fn all<T>(&self, f: impl Fn(&ResizedAxis, usize) -> T) -> Result<Vec<T>, TensorError> {
        collected((0..self.to).map(|i| f(self, i)))
    }
}

/// The steps between two pixels in the table of weights.
const STEPS: f32 = 1024.0;

/// The cubic convolution kernel with parameter `a`, at a distance of 0 to 2.
fn cubic(a: f32, distance: f32) -> f32 {
    let x = distance;
    if x <= 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else {
        ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    }
}

/// `ResizeBilinear` and `ResizeBicubic` of numbers, as f32.
pub fn resize(
    op: &'static str,
    interpolation: Interpolation,
    images: &HostTensor,
    (height, width): (usize, usize),
    attrs: ResizeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let [batch, rows, columns, channels] = image_dims(op, "images", images)?;
    expect_size(op, (height, width))?;
    let result =
        HostTensor::allocate(DType::F32, Shape::new(&[batch, height, width, channels])?, cx.allocator)?;
    if batch == 0 {
        return Ok(result);
    }
    let images = fast::cast(images, DType::F32, cx)?;
    let (down, across) = (ResizedAxis::new(rows, height, attrs), ResizedAxis::new(columns, width, attrs));
    let image = columns * channels;
    {
        let pixels = images.read::<f32>()?;
        let pixels: &[f32] = &pixels;
        let line = |n: usize, row: usize| &pixels[(n * rows + row) * image..][..image];
        let mut out = result.write::<f32>()?;
        match interpolation {
            Interpolation::Bilinear => {
                let (ys, xs) = (down.all(ResizedAxis::between)?, across.all(ResizedAxis::between)?);
                each_line(&mut out, (width * channels, height), 4, cx, |n, y, out| {
                    let Between { low, high, part } = ys[y];
                    interpolate_linear((line(n, low), line(n, high)), part, &xs, out);
                });
            }
            Interpolation::Bicubic => {
                let (ys, xs) = (down.all(ResizedAxis::cubic_taps)?, across.all(ResizedAxis::cubic_taps)?);
                each_line(&mut out, (width * channels, height), 32, cx, |n, y, out| {
                    interpolate_cubic(ys[y].map(|(row, weight)| (line(n, row), weight)), &xs, out);
                });
            }
        }
    }
    Ok(result)
}

/// Calls `f` for each row of the result with the number of the image, the row's number and its elements.
pub(super) fn each_line<T: Send>(
    out: &mut [T],
    (line, height): (usize, usize),
    cost: usize,
    cx: &Cx<'_>,
    f: impl Fn(usize, usize, &mut [T]) + Sync,
) {
    cx.parts(out, (line, cost), &|first, part| {
        for (i, out) in part.chunks_exact_mut(line).enumerate() {
            let row = first / line + i;
            f(row / height, row % height, out);
        }
    });
}

fn interpolate_linear((above, below): (&[f32], &[f32]), down: f32, xs: &[Between], out: &mut [f32]) {
    let channels = out.len() / xs.len();
    for (x, out) in xs.iter().zip(out.chunks_exact_mut(channels)) {
        let (left, right) = (x.low * channels, x.high * channels);
        for (c, out) in out.iter_mut().enumerate() {
            let top = above[left + c] + (above[right + c] - above[left + c]) * x.part;
            let bottom = below[left + c] + (below[right + c] - below[left + c]) * x.part;
            *out = top + (bottom - top) * down;
        }
    }
}

fn interpolate_cubic(lines: [(&[f32], f32); 4], xs: &[Taps<4>], out: &mut [f32]) {
    let channels = out.len() / xs.len();
    for (taps, out) in xs.iter().zip(out.chunks_exact_mut(channels)) {
        for (c, out) in out.iter_mut().enumerate() {
            let column = |x: usize| -> f32 {
                lines.iter().map(|(line, weight)| line[x * channels + c] * weight).sum()
            };
            *out = taps.iter().map(|&(x, weight)| column(x) * weight).sum();
        }
    }
}

/// `ResizeBilinearGrad` and `ResizeBicubicGrad`: the gradient by the images, from the gradient `dy` by the
/// f32 results. Only the shape and the dtype of `images` matter.
pub fn resize_grad(
    op: &'static str,
    interpolation: Interpolation,
    dy: &HostTensor,
    images: &HostTensor,
    attrs: ResizeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    expect_float(op, images)?;
    dy.expect_dtype("grads", DType::F32)?;
    let [batch, rows, columns, channels] = image_dims(op, "original_image", images)?;
    let [n, height, width, c] = image_dims(op, "grads", dy)?;
    if (n, c) != (batch, channels) {
        return invalid(
            op,
            format!("`grads` of shape {} for images of shape {}", dy.shape(), images.shape()),
        );
    }
    if batch == 0 {
        return HostTensor::zeros(images.dtype(), images.shape().clone(), cx.allocator);
    }
    let (down, across) = (ResizedAxis::new(rows, height, attrs), ResizedAxis::new(columns, width, attrs));
    let sums = HostTensor::zeros(DType::F64, images.shape().clone(), cx.allocator)?;
    {
        let (dy, mut sums) = (dy.read::<f32>()?, sums.write::<f64>()?);
        let dims = [rows, columns, channels];
        match interpolation {
            Interpolation::Bilinear => {
                spread(
                    &dy,
                    dims,
                    (&down.all(ResizedAxis::linear_taps)?, &across.all(ResizedAxis::linear_taps)?),
                    &mut sums,
                );
            }
            Interpolation::Bicubic => {
                spread(
                    &dy,
                    dims,
                    (&down.all(ResizedAxis::cubic_taps)?, &across.all(ResizedAxis::cubic_taps)?),
                    &mut sums,
                );
            }
        }
    }
    fast::cast(&sums, images.dtype(), cx)
}

/// Adds the gradient of each pixel to the pixels that it depends on.
fn spread<const N: usize>(
    dy: &[f32],
    [rows, columns, channels]: [usize; 3],
    (ys, xs): (&[Taps<N>], &[Taps<N>]),
    sums: &mut [f64],
) {
    let images = dy.chunks_exact(ys.len() * xs.len() * channels);
    for (dy, sums) in images.zip(sums.chunks_exact_mut(rows * columns * channels)) {
        for (taps_down, dy) in ys.iter().zip(dy.chunks_exact(xs.len() * channels)) {
            for (taps_across, dy) in xs.iter().zip(dy.chunks_exact(channels)) {
                for &(row, down) in taps_down {
                    for &(column, across) in taps_across {
                        let weight = f64::from(down) * f64::from(across);
                        let pixel = &mut sums[(row * columns + column) * channels..][..channels];
                        pixel.iter_mut().zip(dy).for_each(|(sum, &dy)| *sum += weight * f64::from(dy));
                    }
                }
            }
        }
    }
}

/// `ResizeNearestNeighbor`, for every dtype.
pub fn resize_nearest(
    images: &HostTensor,
    (height, width): (usize, usize),
    attrs: ResizeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "ResizeNearestNeighbor";
    let [batch, rows, columns, channels] = image_dims(op, "images", images)?;
    expect_size(op, (height, width))?;
    let shape = Shape::new(&[batch, height, width, channels])?;
    let result = HostTensor::allocate(images.dtype(), shape, cx.allocator)?;
    if batch == 0 {
        return Ok(result);
    }
    let (ys, across) = (ResizedAxis::new(rows, height, attrs), ResizedAxis::new(columns, width, attrs));
    let xs = across.all(ResizedAxis::nearest)?;
    let pixel = channels * images.dtype().size();
    {
        let from = images.read_bytes()?;
        let from: &[u8] = &from;
        each_line(&mut result.write_bytes()?, (width * pixel, height), 1, cx, |n, y, out| {
            let line = &from[(n * rows + ys.nearest(y)) * columns * pixel..][..columns * pixel];
            for (&x, out) in xs.iter().zip(out.chunks_exact_mut(pixel)) {
                out.copy_from_slice(&line[x * pixel..][..pixel]);
            }
        });
    }
    Ok(result)
}

/// `ResizeNearestNeighborGrad`: the gradient by images of `height` by `width` pixels, from the gradient `dy`
/// by the results.
pub fn resize_nearest_grad(
    dy: &HostTensor,
    (height, width): (usize, usize),
    attrs: ResizeAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "ResizeNearestNeighborGrad";
    let [batch, rows, columns, channels] = image_dims(op, "grads", dy)?;
    expect_size(op, (height, width))?;
    let shape = Shape::new(&[batch, height, width, channels])?;
    let (down, across) = (ResizedAxis::new(height, rows, attrs), ResizedAxis::new(width, columns, attrs));
    let result = HostTensor::zeros(dy.dtype(), shape, cx.allocator)?;
    with_element!(dy.dtype(), T => {
        let (from, mut to) = (dy.read::<T>()?, result.write::<T>()?);
        for (i, pixel) in from.chunks_exact(channels).enumerate() {
            let (n, y, x) = (i / (rows * columns), i / columns % rows, i % columns);
            let at = (n * height + down.nearest(y)) * width + across.nearest(x);
            for (sum, &dy) in to[at * channels..][..channels].iter_mut().zip(pixel) {
                *sum = T::narrow(sum.widen().plus(dy.widen()));
            }
        }
    });
    Ok(result)
}

/// `ResizeBilinear` without aligned corners and half pixel centers, for any number of batch axes: images
/// `[..., height, width, channels]` of ui8 or f32, resized, as f32.
pub fn resize_bilinear(
    images: &HostTensor,
    (height, width): (usize, usize),
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "resize_bilinear";
    let [batch @ .., rows, columns, channels] = images.shape().dims() else {
        return invalid(op, format!("the shape {} is not that of an image", images.shape()));
    };
    if [*rows, *columns, height, width].contains(&0) {
        let problem =
            format!("an image of shape {} cannot become one of {height} by {width}", images.shape());
        return invalid(op, problem);
    }
    if images.dtype() != DType::UI8 {
        images.expect_dtype("images", DType::F32)?;
    }
    let shape = Shape::new(&[batch, &[height, width, *channels]].concat())?;
    if shape.num_elements() == 0 {
        return HostTensor::allocate(DType::F32, shape, allocator);
    }
    let four = images.reshaped(Shape::new(&[batch.iter().product(), *rows, *columns, *channels])?)?;
    let (size, attrs, cx) = ((height, width), ResizeAttrs::default(), Cx::serial(allocator));
    resize(op, Interpolation::Bilinear, &four, size, attrs, &cx)?.reshaped(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use befrost_mem::Malloc;

    fn resized(values: &[f32], shape: &[usize], to: (usize, usize)) -> Vec<f32> {
        let images = HostTensor::allocate(DType::F32, Shape::new(shape).unwrap(), &Malloc::shared()).unwrap();
        images.write::<f32>().unwrap().copy_from_slice(values);
        resize_bilinear(&images, to, &Malloc::shared()).unwrap().read::<f32>().unwrap().to_vec()
    }

    /// The expected values are TensorFlow's.
    #[test]
    fn pixels_lie_between_those_around_them() {
        let square = [1., 2., 3., 4.];
        assert_eq!(resized(&square, &[2, 2, 1], (2, 2)), square);
        assert_eq!(resized(&square, &[2, 2, 1], (1, 1)), [1.]);
        assert_eq!(
            resized(&square, &[2, 2, 1], (4, 4)),
            [1., 1.5, 2., 2., 2., 2.5, 3., 3., 3., 3.5, 4., 4., 3., 3.5, 4., 4.]
        );
        // Two images of two channels.
        assert_eq!(
            resized(&[0., 8., 4., 0., 1., 1., 1., 1.], &[2, 1, 2, 2], (1, 4)),
            [0., 8., 2., 4., 4., 0., 4., 0., 1., 1., 1., 1., 1., 1., 1., 1.]
        );
    }

    #[test]
    fn values_without_a_size_are_refused() {
        let tensor = |shape: &[usize], dtype| {
            HostTensor::allocate(dtype, Shape::new(shape).unwrap(), &Malloc::shared()).unwrap()
        };
        let refused = |shape: &[usize], dtype, to| {
            resize_bilinear(&tensor(shape, dtype), to, &Malloc::shared()).unwrap_err().to_string()
        };
        assert!(refused(&[2, 2], DType::UI8, (1, 1)).contains("is not that of an image"));
        assert!(refused(&[0, 2, 1], DType::UI8, (1, 1)).contains("cannot become one of 1 by 1"));
        assert!(refused(&[2, 2, 1], DType::F32, (0, 1)).contains("cannot become one of 0 by 1"));
        assert!(refused(&[2, 2, 1], DType::I32, (1, 1)).contains("f32"));
        assert!(
            resize_bilinear(&tensor(&[1, 1, 3], DType::UI8), (usize::MAX, 2), &Malloc::shared()).is_err()
        );
    }
}
