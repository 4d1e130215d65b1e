//! Images resampled by weighted sums of rows and of columns: TensorFlow's `ScaleAndTranslate`, `ResizeArea`,
//! and their gradients.
//!
//! ```text
//! row i of the result ──Spans──▶ rows of the image with weights      likewise columns, in a second pass
//! gradient: the same sums with the transposed spans
//! ```

use super::fast::{self, Cx};
use super::real::expect_float;
use super::resize::{each_line, expect_size, image_dims};
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::{filled, push, with_room};
use crate::{DType, HostTensor, Shape, TensorError};

/// For each position along an axis of a result: positions along the axis of the source, with weights.
struct Spans {
    /// The end of the taps of each position.
    ends: Vec<usize>,
    taps: Vec<(usize, f32)>,
}

impl Spans {
    fn with_room(n: usize) -> Result<Spans, TensorError> {
        Ok(Spans { ends: with_room(n)?, taps: Vec::new() })
    }

    fn n(&self) -> usize {
        self.ends.len()
    }

    fn at(&self, i: usize) -> &[(usize, f32)] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.taps[start..self.ends[i]]
    }

    /// The average number of taps, at least 1.
    fn cost(&self) -> usize {
        self.taps.len().div_ceil(self.n().max(1)).max(1)
    }

    /// Ends the taps of a position.
    fn end(&mut self) -> Result<(), TensorError> {
        push(&mut self.ends, self.taps.len())
    }

    /// For each of the `n` positions of the source the positions of the result, with the same weights.
    fn transposed(&self, n: usize) -> Result<Spans, TensorError> {
        let mut ends: Vec<usize> = filled(n, 0)?;
        self.taps.iter().for_each(|&(from, _)| ends[from] += 1);
        let mut sum = 0;
        for end in &mut ends {
            (sum, *end) = (sum + *end, sum);
        }
        let mut taps = filled(self.taps.len(), (0, 0.0))?;
        for to in 0..self.n() {
            for &(from, weight) in self.at(to) {
                taps[ends[from]] = (to, weight);
                ends[from] += 1;
            }
        }
        Ok(Spans { ends, taps })
    }
}

/// Adds to each element of `to` the sum of the elements of lines with weights.
fn add_lines<'l>(to: &mut [f32], lines: impl Iterator<Item = (&'l [f32], f32)>) {
    for (line, weight) in lines {
        to.iter_mut().zip(line).for_each(|(to, x)| *to += x * weight);
    }
}

/// The weighted sums of f32 images `[batch, rows, columns, channels]`, multiplied by `scale`, with the
/// spans of the rows and of the columns.
fn resampled(
    images: &HostTensor,
    [down, across]: [&Spans; 2],
    scale: f32,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let &[batch, rows, columns, channels] = images.shape().dims() else { return Ok(images.clone()) };
    let (height, width, line) = (down.n(), across.n(), columns * channels);
    let result = HostTensor::zeros(DType::F32, Shape::new(&[batch, height, width, channels])?, cx.allocator)?;
    let between =
        HostTensor::zeros(DType::F32, Shape::new(&[batch, height, columns, channels])?, cx.allocator)?;
    if result.num_elements() == 0 || between.num_elements() == 0 {
        return Ok(result);
    }
    {
        let pixels = images.read::<f32>()?;
        let pixels: &[f32] = &pixels;
        each_line(&mut between.write::<f32>()?, (line, height), down.cost(), cx, |n, y, out| {
            let taps = down.at(y).iter();
            add_lines(out, taps.map(|&(row, weight)| (&pixels[(n * rows + row) * line..][..line], weight)));
        });
    }
    {
        let pixels = between.read::<f32>()?;
        let pixels: &[f32] = &pixels;
        each_line(&mut result.write::<f32>()?, (width * channels, height), across.cost(), cx, |n, y, out| {
            let from = &pixels[(n * height + y) * line..][..line];
            for (x, out) in out.chunks_exact_mut(channels).enumerate() {
                let taps = across.at(x).iter();
                add_lines(
                    out,
                    taps.map(|&(column, weight)| (&from[column * channels..][..channels], weight)),
                );
                out.iter_mut().for_each(|out| *out *= scale);
            }
        });
    }
    Ok(result)
}

/// The weight of a pixel by its distance from a position, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SamplingKernel {
    /// Lanczos' kernel of this radius.
    Lanczos(f32),
    /// Gauss' function with a standard deviation of 0.5, up to 1.5.
    Gaussian,
    /// 1 up to 0.5.
    Box,
    /// A line from 1 to 0.
    Triangle,
    /// The cubic polynomials of Keys.
    KeysCubic,
    /// The cubic polynomials of Mitchell and Netravali.
    MitchellCubic,
}

impl SamplingKernel {
    fn radius(self) -> f32 {
        match self {
            SamplingKernel::Lanczos(radius) => radius,
            SamplingKernel::Gaussian => 1.5,
            SamplingKernel::Box | SamplingKernel::Triangle => 1.0,
            SamplingKernel::KeysCubic | SamplingKernel::MitchellCubic => 2.0,
        }
    }

    /// The weight at a distance, which is not negative.
    fn weight(self, x: f32) -> f32 {
        use std::f32::consts::PI;
        match self {
            SamplingKernel::Lanczos(radius) if x > radius => 0.0,
            SamplingKernel::Lanczos(_) if x <= 1e-3 => 1.0,
            SamplingKernel::Lanczos(radius) => {
                radius * (PI * x).sin() * (PI * x / radius).sin() / (PI * PI * x * x)
            }
            SamplingKernel::Gaussian if x >= 1.5 => 0.0,
            SamplingKernel::Gaussian => (-2.0 * x * x).exp(),
            SamplingKernel::Box if x == 0.5 => 0.5,
            SamplingKernel::Box => f32::from(u8::from(x < 0.5)),
            SamplingKernel::Triangle => (1.0 - x).max(0.0),
            SamplingKernel::KeysCubic | SamplingKernel::MitchellCubic if x >= 2.0 => 0.0,
            SamplingKernel::KeysCubic if x >= 1.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            SamplingKernel::KeysCubic => ((1.5 * x - 2.5) * x) * x + 1.0,
            SamplingKernel::MitchellCubic if x >= 1.0 => {
                (((-7.0 / 18.0) * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0
            }
            SamplingKernel::MitchellCubic => (((7.0 / 6.0) * x - 2.0) * x) * x + 8.0 / 9.0,
        }
    }

    /// The pixels that each pixel of an axis of `to` pixels depends on.
    fn spans(
        self,
        from: usize,
        to: usize,
        axis: AxisTransform,
        antialias: bool,
    ) -> Result<Spans, TensorError> {
        let inverse = 1.0 / axis.scale;
        let shift = -inverse * axis.translation;
        // If the image is made smaller, the kernel becomes wider.
        let width = if antialias { inverse.max(1.0) } else { 1.0 };
        let (radius, last) = (self.radius() * width, (from - 1) as f32);
        let mut spans = Spans::with_room(to)?;
        for i in (0..to).take_while(|_| !is_interrupted()) {
            let at = (i as f32 + 0.5) * inverse + shift;
            if !(at < 0.0 || at > from as f32) {
                let first = (at - radius - 0.5).ceil().clamp(0.0, last) as usize; // NaN is 0
                let end = (at + radius - 0.5).floor().clamp(0.0, last) as usize + 1;
                let (start, mut sum) = (spans.taps.len(), 0.0f32);
                for pixel in first..end {
                    let weight = self.weight((pixel as f32 + 0.5 - at).abs() * (1.0 / width));
                    sum += weight;
                    push(&mut spans.taps, (pixel, weight))?;
                }
                match sum.abs() >= 1000.0 * f32::MIN_POSITIVE {
                    true => spans.taps[start..].iter_mut().for_each(|(_, weight)| *weight *= 1.0 / sum),
                    false => spans.taps.truncate(start),
                }
            }
            spans.end()?;
        }
        spans.ends.resize(to, spans.taps.len()); // after an interruption
        Ok(spans)
    }
}

/// The map from an axis of an image to that of the result, in pixels.
#[derive(Clone, Copy, Debug)]
pub struct AxisTransform {
    /// The factor, positive.
    pub scale: f32,
    /// The distance added after the multiplication.
    pub translation: f32,
}

/// The attributes and the operands of a `ScaleAndTranslate`.
#[derive(Clone, Copy, Debug)]
pub struct ImageTransform {
    /// The kernel.
    pub kernel: SamplingKernel,
    /// True if the kernel becomes wider where the image becomes smaller.
    pub antialias: bool,
    /// The maps of rows and of columns.
    pub axes: [AxisTransform; 2],
}

impl ImageTransform {
    fn expect_scale(&self, op: &'static str) -> Result<(), TensorError> {
        match self.axes.iter().find(|axis| axis.scale.is_nan() || axis.scale <= 0.0) {
            Some(axis) => invalid(op, format!("the scale {} is not above 0", axis.scale)),
            None => Ok(()),
        }
    }

    fn spans(&self, from: [usize; 2], to: [usize; 2]) -> Result<[Spans; 2], TensorError> {
        let [rows, columns] = self.axes;
        Ok([
            self.kernel.spans(from[0], to[0], rows, self.antialias)?,
            self.kernel.spans(from[1], to[1], columns, self.antialias)?,
        ])
    }
}

/// `ScaleAndTranslate`: images scaled and moved, as f32 images of `height` by `width` pixels.
pub fn scale_and_translate(
    images: &HostTensor,
    (height, width): (usize, usize),
    by: &ImageTransform,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "ScaleAndTranslate";
    let [batch, rows, columns, channels] = image_dims(op, "images", images)?;
    expect_size(op, (height, width))?;
    by.expect_scale(op)?;
    let shape = Shape::new(&[batch, height, width, channels])?;
    if batch == 0 {
        return HostTensor::zeros(DType::F32, shape, cx.allocator);
    }
    let [down, across] = by.spans([rows, columns], [height, width])?;
    resampled(&fast::cast(images, DType::F32, cx)?, [&down, &across], 1.0, cx)
}

/// `ScaleAndTranslateGrad`: the gradient by the images, from the gradient `dy` by the result.
pub fn scale_and_translate_grad(
    dy: &HostTensor,
    images: &HostTensor,
    by: &ImageTransform,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "ScaleAndTranslateGrad";
    by.expect_scale(op)?;
    gradient(op, dy, images, |from, to| Ok((by.spans(from, to)?, 1.0)), cx)
}

/// The gradient of a resampling: `spans` gives the spans of the forward direction and the factor.
fn gradient(
    op: &'static str,
    dy: &HostTensor,
    images: &HostTensor,
    spans: impl FnOnce([usize; 2], [usize; 2]) -> Result<([Spans; 2], f32), TensorError>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    expect_float(op, images)?;
    dy.expect_dtype("grads", DType::F32)?;
    let [batch, rows, columns, channels] = image_dims(op, "original_image", images)?;
    let [n, height, width, c] = image_dims(op, "grads", dy)?;
    if (n, c) != (batch, channels) {
        let (dy, images) = (dy.shape(), images.shape());
        return invalid(op, format!("`grads` of shape {dy} for images of shape {images}"));
    }
    let ([down, across], scale) = spans([rows, columns], [height, width])?;
    let transposed = [&down.transposed(rows)?, &across.transposed(columns)?];
    fast::cast(&resampled(dy, transposed, scale, cx)?, images.dtype(), cx)
}

/// The pixels that are covered by each of `to` equal parts of an axis of `from` pixels, weighted by how much
/// of them is covered; and the length of a part. The corners of a single pixel cannot be aligned.
fn areas(from: usize, to: usize, align_corners: bool) -> Result<(Spans, f32), TensorError> {
    let length = match align_corners && from > 1 && to > 1 {
        true => (from - 1) as f32 / (to - 1) as f32,
        false => from as f32 / to as f32,
    };
    let mut spans = Spans::with_room(to)?;
    for i in (0..to).take_while(|_| !is_interrupted()) {
        let (start, end) = (i as f32 * length, (i + 1) as f32 * length);
        let (first, last) = (start.floor() as usize, end.ceil() as usize);
        for pixel in first..last {
            let (left, right) = (pixel as f32, (pixel + 1) as f32);
            let covered = match (left < start, right > end) {
                (true, true) => length,
                (true, false) => right - start,
                (false, true) => end - left,
                (false, false) => 1.0,
            };
            push(&mut spans.taps, (pixel.min(from - 1), covered))?;
        }
        spans.end()?;
    }
    spans.ends.resize(to, spans.taps.len()); // after an interruption
    Ok((spans, length))
}

fn both_areas(
    from: [usize; 2],
    to: [usize; 2],
    align_corners: bool,
) -> Result<([Spans; 2], f32), TensorError> {
    let ((down, height), (across, width)) =
        (areas(from[0], to[0], align_corners)?, areas(from[1], to[1], align_corners)?);
    Ok(([down, across], 1.0 / (height * width)))
}

/// `ResizeArea`: images in another size; a pixel is the mean of the area that it covers in the image.
pub fn resize_area(
    images: &HostTensor,
    (height, width): (usize, usize),
    align_corners: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "ResizeArea";
    let [batch, rows, columns, channels] = image_dims(op, "images", images)?;
    expect_size(op, (height, width))?;
    if batch == 0 {
        return HostTensor::zeros(DType::F32, Shape::new(&[0, height, width, channels])?, cx.allocator);
    }
    let ([down, across], scale) = both_areas([rows, columns], [height, width], align_corners)?;
    resampled(&fast::cast(images, DType::F32, cx)?, [&down, &across], scale, cx)
}

/// The gradient of [`resize_area`] by the images, from the gradient `dy` by the result.
pub fn resize_area_grad(
    dy: &HostTensor,
    images: &HostTensor,
    align_corners: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    gradient("_ResizeAreaGrad", dy, images, |from, to| both_areas(from, to, align_corners), cx)
}
