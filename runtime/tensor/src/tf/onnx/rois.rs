//! ONNX's `RoiAlign` and `MaxRoiPool`: regions of images, resampled to a fixed size.
//!
//! ```text
//! RoiAlign: bins of a region ─▶ samples between pixels, from four pixels each ─▶ mean or maximum
//! MaxRoiPool: bins of whole pixels ─▶ maximum
//! ```

use std::ops::Range;

use super::super::fast::{self, Cx};
use super::{WideFloat, wide, with_float};
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::{DType, HostTensor, Shape, TensorError};

/// The attributes of [`roi_align`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoiAlignAttrs {
    /// True for the largest weighted pixel of all samples, false for the mean of the samples.
    pub max: bool,
    /// Height and width of the results.
    pub size: [usize; 2],
    /// The number of samples in a bin along each axis; 0 for the size of the bin in pixels, rounded up.
    pub samples: usize,
    /// Pixels of the image per unit of the regions.
    pub scale: f64,
    /// True if positions are shifted by half a pixel. Otherwise regions are at least one pixel long.
    pub half_pixel: bool,
}

/// `[batch, channels, height, width]`.
pub(super) fn image_dims(op: &'static str, x: &HostTensor) -> Result<[usize; 4], TensorError> {
    match *x.shape().dims() {
        [batch, channels, height, width] => Ok([batch, channels, height, width]),
        _ => invalid(op, format!("images of shape {}, expected rank 4", x.shape())),
    }
}

/// The bins of a region along an axis.
#[derive(Clone, Copy)]
pub(super) struct Bins {
    /// The length of the axis of the image.
    len: usize,
    start: f64,
    size: f64,
    /// The number of bins.
    count: usize,
    /// The number of samples in a bin.
    samples: usize,
    /// True if the region is one pixel long because it would be shorter.
    is_least: bool,
}

/// Two neighbouring pixels.
struct PixelPair {
    at: [usize; 2],
    /// The weight of the second.
    weight: f64,
    /// The derivatives of the weight by the start and the end of the region.
    slopes: [f64; 2],
}

/// A pixel of a sample.
#[derive(Clone, Copy)]
pub(super) struct WeightedPixel {
    /// The position in a plane.
    pub(super) at: usize,
    pub(super) weight: f64,
    /// The derivatives of the weight by the sides of the region: left, top, right, bottom.
    pub(super) slopes: [f64; 4],
}

impl Bins {
    fn new(
        op: &'static str,
        len: usize,
        (start, end): (f64, f64),
        count: usize,
        attrs: &RoiAlignAttrs,
    ) -> Result<Bins, TensorError> {
        let is_least = !attrs.half_pixel && end - start < 1.0;
        let size = if is_least { 1.0 } else { end - start } / count as f64;
        let samples = if attrs.samples > 0 { attrs.samples } else { size.ceil() as usize };
        // Bounds the time: far more samples than pixels are an error of the operands.
        if samples / 4 > len.saturating_add(16) {
            return invalid(op, format!("{samples} samples in a bin of an image of {len} pixels"));
        }
        Ok(Bins { len, start, size, count, samples, is_least })
    }

    /// The pixels around sample `i` of a bin; `None` if it is more than a pixel outside of the image.
    fn pair(&self, bin: usize, i: usize) -> Option<PixelPair> {
        let place = (i as f64 + 0.5) / self.samples as f64;
        let at = self.start + bin as f64 * self.size + (i as f64 + 0.5) * self.size / self.samples as f64;
        if !(at >= -1.0 && at <= self.len as f64) {
            return None;
        }
        let low = at.max(0.0) as usize;
        let part = if self.is_least { 0.0 } else { (bin as f64 + place) / self.count as f64 };
        Some(match low + 1 < self.len {
            true if at < 0.0 => PixelPair { at: [low, low + 1], weight: 0.0, slopes: [0.0; 2] },
            true => PixelPair { at: [low, low + 1], weight: at - low as f64, slopes: [1.0 - part, part] },
            false => PixelPair { at: [self.len - 1; 2], weight: 0.0, slopes: [0.0; 2] },
        })
    }
}

/// Calls `f` for each sample of a bin, with its four pixels; `None` for a sample outside of the image.
pub(super) fn each_sample(
    [down, across]: &[Bins; 2],
    (y, x): (usize, usize),
    mut f: impl FnMut(Option<[WeightedPixel; 4]>),
) {
    for i in 0..down.samples {
        let rows = down.pair(y, i);
        for j in 0..across.samples {
            let pairs = rows.as_ref().zip(across.pair(x, j));
            f(pairs.map(|(rows, columns)| {
                [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| {
                    let weight = |pair: &PixelPair, i: usize| [1.0 - pair.weight, pair.weight][i];
                    let slope = |pair: &PixelPair, i: usize| pair.slopes.map(|slope| [-slope, slope][i]);
                    let (v, u) = (weight(rows, i), weight(&columns, j));
                    let ([top, bottom], [left, right]) = (slope(rows, i), slope(&columns, j));
                    WeightedPixel {
                        at: rows.at[i] * across.len + columns.at[j],
                        weight: v * u,
                        slopes: [v * left, top * u, v * right, bottom * u],
                    }
                })
            }));
        }
    }
}

/// The number of samples in a bin, at least one.
pub(super) fn n_samples([down, across]: &[Bins; 2]) -> usize {
    (down.samples * across.samples).max(1)
}

/// The bins of a region along height and width, and the number of its image.
pub(super) type Region = ([Bins; 2], usize);

/// The regions `[n, 4]` (left, top, right, bottom) of images, whose numbers are given.
pub(super) fn regions(
    op: &'static str,
    x: &HostTensor,
    (rois, indices): (&HostTensor, &HostTensor),
    attrs: &RoiAlignAttrs,
    cx: &Cx<'_>,
) -> Result<Vec<Region>, TensorError> {
    let [batch, _, height, width] = image_dims(op, x)?;
    match (rois.shape().dims(), indices.shape().dims()) {
        (&[n, 4], &[m]) if n == m => {}
        _ => {
            let (rois, indices) = (rois.shape(), indices.shape());
            return invalid(op, format!("regions of shape {rois} of images of shape {indices}"));
        }
    }
    rois.expect_dtype("rois", x.dtype())?;
    let [rows, columns] = attrs.size;
    if rows == 0 || columns == 0 {
        return invalid(op, format!("a result of {rows} by {columns}"));
    }
    let images = super::super::index::positions(op, indices, batch, x.shape())?;
    let corners = fast::cast(rois, DType::F64, cx)?;
    let corners = corners.read::<f64>()?;
    let offset = if attrs.half_pixel { 0.5 } else { 0.0 };
    let regions = corners.chunks_exact(4).zip(images).map(|(roi, image)| -> Result<Region, TensorError> {
        let side = |i: usize| (roi[i] * attrs.scale - offset, roi[i + 2] * attrs.scale - offset);
        let down = Bins::new(op, height, side(1), rows, attrs)?;
        let across = Bins::new(op, width, side(0), columns, attrs)?;
        Ok(([down, across], image))
    });
    crate::scratch::try_collected(regions)
}

/// `_RoiAlign` of images with regions `[n, 4]` (left, top, right, bottom) and the numbers of their images.
pub fn roi_align(
    x: &HostTensor,
    rois: &HostTensor,
    indices: &HostTensor,
    attrs: &RoiAlignAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_RoiAlign";
    let ([_, channels, height, width], [rows, columns]) = (image_dims(op, x)?, attrs.size);
    let regions = regions(op, x, (rois, indices), attrs, cx)?;
    let wide_x = wide(op, x, cx)?;
    let shape = Shape::new(&[regions.len(), channels, rows, columns])?;
    let out = HostTensor::zeros(wide_x.dtype(), shape, cx.allocator)?;
    if out.num_elements() > 0 {
        if height == 0 || width == 0 {
            return invalid(op, format!("images of shape {} have no pixels", x.shape()));
        }
        let plane = height * width;
        with_float!(wide_x, T => {
            let (x, mut out) = (wide_x.read::<T>()?, out.write::<T>()?);
            let x: &[T] = &x;
            let each = rows * columns;
            cx.parts(&mut out, (channels * each, 64), &|first, part| {
                let own = part.chunks_exact_mut(channels * each).zip(&regions[first / (channels * each)..]);
                for (out, (bins, image)) in own {
                    let x = &x[image * channels * plane..][..channels * plane];
                    for bin in 0..each {
                        if is_interrupted() {
                            return;
                        }
                        align_bin((x, plane), bins, (bin / columns, bin % columns), attrs.max, (&mut out[bin..], each));
                    }
                }
            });
        });
    }
    fast::cast(&out, x.dtype(), cx)
}

/// Computes one bin for all channels; the results of neighbouring channels are `step` apart.
fn align_bin<T: WideFloat>(
    (x, plane): (&[T], usize),
    bins: &[Bins; 2],
    bin: (usize, usize),
    is_max: bool,
    (out, step): (&mut [T], usize),
) {
    let mut is_first = true;
    each_sample(bins, bin, |pixels| {
        let pixels = pixels.map(|pixels| pixels.map(|pixel| (pixel.at, T::rounded(pixel.weight))));
        for (out, x) in out.iter_mut().step_by(step).zip(x.chunks_exact(plane)) {
            let parts = pixels.map_or([T::ZERO; 4], |pixels| pixels.map(|(at, weight)| weight * x[at]));
            if is_max {
                let larger = |a: T, b: T| if b > a { b } else { a };
                let most = parts.into_iter().fold(parts[0], larger);
                *out = if is_first { most } else { larger(*out, most) };
            } else {
                *out += parts[0] + parts[1] + parts[2] + parts[3];
            }
        }
        is_first = false;
    });
    if !is_max {
        let count = T::rounded(n_samples(bins) as f64);
        out.iter_mut().step_by(step).for_each(|out| *out = *out / count);
    }
}

/// The regions `[n, 5]` of a pooling: number of the image, left, top, right, bottom.
pub(super) fn pooled_regions(
    op: &'static str,
    x: &HostTensor,
    rois: &HostTensor,
    [rows, columns]: [usize; 2],
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let ([batch, ..], &[_, 5]) = (image_dims(op, x)?, rois.shape().dims()) else {
        return invalid(op, format!("regions of shape {}, expected [n, 5]", rois.shape()));
    };
    rois.expect_dtype("rois", x.dtype())?;
    if rows == 0 || columns == 0 {
        return invalid(op, format!("a result of {rows} by {columns}"));
    }
    let regions = fast::cast(rois, DType::F64, cx)?;
    let numbers = regions.read::<f64>()?;
    if let Some(roi) = numbers.chunks_exact(5).find(|roi| !(0.0..batch as f64).contains(&roi[0])) {
        return invalid(op, format!("a region of image {} of {batch}", roi[0]));
    }
    drop(numbers);
    Ok(regions)
}

/// The whole pixels of a bin, as ranges of rows and columns of an image.
pub(super) fn whole_pixels(
    roi: &[f64],
    scale: f64,
    (image, bins): ([usize; 2], [usize; 2]),
    bin: usize,
) -> [Range<usize>; 2] {
    // Rounded to f32 before it is rounded to a pixel, as in an f32 computation.
    let side = |i: usize| ((roi[i] * scale) as f32).round() as i64;
    let span = |i: usize, bins: usize, len: usize, bin: usize| {
        let start = side(i);
        let size = side(i + 2).saturating_sub(start).saturating_add(1).max(1) as f64 / bins as f64;
        let at = |x: f64| start.saturating_add(x as i64).clamp(0, len as i64) as usize;
        at((bin as f64 * size).floor())..at(((bin + 1) as f64 * size).ceil())
    };
    [span(2, bins[0], image[0], bin / bins[1]), span(1, bins[1], image[1], bin % bins[1])]
}

/// The largest of these pixels of a plane; the lowest number if there are none.
pub(super) fn largest<T: WideFloat>(plane: &[T], width: usize, [rows, columns]: &[Range<usize>; 2]) -> T {
    rows.clone().fold(T::LOWEST, |most, y| {
        let line = plane[y * width..][..width].get(columns.clone()).unwrap_or(&[]);
        line.iter().fold(most, |most, &x| if x > most { x } else { most })
    })
}

/// `_MaxRoiPool` of images with regions `[n, 5]`: number of the image, left, top, right, bottom.
pub fn max_roi_pool(
    x: &HostTensor,
    rois: &HostTensor,
    bins: [usize; 2],
    scale: f64,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_MaxRoiPool";
    let [_, channels, height, width] = image_dims(op, x)?;
    let regions = pooled_regions(op, x, rois, bins, cx)?;
    let wide_x = wide(op, x, cx)?;
    let shape = Shape::new(&[regions.shape().dims()[0], channels, bins[0], bins[1]])?;
    let out = HostTensor::zeros(wide_x.dtype(), shape, cx.allocator)?;
    let regions = regions.read::<f64>()?;
    let regions: &[f64] = &regions;
    if out.num_elements() > 0 && height > 0 && width > 0 {
        let (each, plane) = (bins[0] * bins[1], height * width);
        with_float!(wide_x, T => {
            let (x, mut out) = (wide_x.read::<T>()?, out.write::<T>()?);
            let x: &[T] = &x;
            cx.parts(&mut out, (each, plane.div_ceil(each)), &|first, part| {
                for (number, out) in (first / each..).zip(part.chunks_exact_mut(each)) {
                    let roi = &regions[number / channels * 5..][..5];
                    let x = &x[(roi[0] as usize * channels + number % channels) * plane..][..plane];
                    for (bin, out) in out.iter_mut().enumerate() {
                        let most = largest(x, width, &whole_pixels(roi, scale, ([height, width], bins), bin));
                        *out = if most == T::LOWEST { 0.0 } else { most };
                    }
                }
            });
        });
    }
    fast::cast(&out, x.dtype(), cx)
}
