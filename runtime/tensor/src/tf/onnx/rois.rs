//! ONNX's `RoiAlign` and `MaxRoiPool`: regions of images, resampled to a fixed size.
//!
//! ```text
//! RoiAlign: bins of a region ─▶ samples between pixels, from four pixels each ─▶ mean or maximum
//! MaxRoiPool: bins of whole pixels ─▶ maximum
//! ```

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
fn image_dims(op: &'static str, x: &HostTensor) -> Result<[usize; 4], TensorError> {
    match *x.shape().dims() {
        [batch, channels, height, width] => Ok([batch, channels, height, width]),
        _ => invalid(op, format!("images of shape {}, expected rank 4", x.shape())),
    }
}

/// The bins of a region along an axis.
#[derive(Clone, Copy)]
struct Bins {
    /// The length of the axis of the image.
    len: usize,
    start: f64,
    size: f64,
    /// The number of samples in a bin.
    samples: usize,
}

/// Two neighbouring pixels, and the weight of the second.
type PixelPair = ([usize; 2], f64);

impl Bins {
    fn new(
        op: &'static str,
        len: usize,
        (start, end): (f64, f64),
        bins: usize,
        attrs: &RoiAlignAttrs,
    ) -> Result<Bins, TensorError> {
        let length = if attrs.half_pixel { end - start } else { (end - start).max(1.0) };
        let size = length / bins as f64;
        let samples = if attrs.samples > 0 { attrs.samples } else { size.ceil() as usize };
        // Bounds the time: far more samples than pixels are an error of the operands.
        if samples / 4 > len.saturating_add(16) {
            return invalid(op, format!("{samples} samples in a bin of an image of {len} pixels"));
        }
        Ok(Bins { len, start, size, samples })
    }

    /// The pixels around sample `i` of a bin; `None` if it is more than a pixel outside of the image.
    fn pair(&self, bin: usize, i: usize) -> Option<PixelPair> {
        let at = self.start + bin as f64 * self.size + (i as f64 + 0.5) * self.size / self.samples as f64;
        if !(at >= -1.0 && at <= self.len as f64) {
            return None;
        }
        let at = at.max(0.0);
        let low = at as usize;
        match low + 1 < self.len {
            true => Some(([low, low + 1], at - low as f64)),
            false => Some(([self.len - 1; 2], 0.0)),
        }
    }
}

/// Calls `f` for each sample of a bin, with the positions in a plane and the weights of its four pixels;
/// `None` for a sample outside of the image.
fn each_sample(
    [down, across]: &[Bins; 2],
    (y, x): (usize, usize),
    mut f: impl FnMut(Option<[(usize, f64); 4]>),
) {
    for i in 0..down.samples {
        let rows = down.pair(y, i);
        for j in 0..across.samples {
            let columns = across.pair(x, j);
            f(rows.zip(columns).map(|(([top, bottom], v), ([left, right], u))| {
                let at = |row: usize, column: usize| row * across.len + column;
                [
                    (at(top, left), (1.0 - v) * (1.0 - u)),
                    (at(top, right), (1.0 - v) * u),
                    (at(bottom, left), v * (1.0 - u)),
                    (at(bottom, right), v * u),
                ]
            }));
        }
    }
}

/// The bins of a region along height and width, and the number of its image.
type Region = ([Bins; 2], usize);

/// `_RoiAlign` of images with regions `[n, 4]` (left, top, right, bottom) and the numbers of their images.
pub fn roi_align(
    x: &HostTensor,
    rois: &HostTensor,
    indices: &HostTensor,
    attrs: &RoiAlignAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_RoiAlign";
    let [batch, channels, height, width] = image_dims(op, x)?;
    let n = match (rois.shape().dims(), indices.shape().dims()) {
        (&[n, 4], &[m]) if n == m => n,
        _ => {
            let (rois, indices) = (rois.shape(), indices.shape());
            return invalid(op, format!("regions of shape {rois} of images of shape {indices}"));
        }
    };
    rois.expect_dtype("rois", x.dtype())?;
    let [rows, columns] = attrs.size;
    if rows == 0 || columns == 0 {
        return invalid(op, format!("a result of {rows} by {columns}"));
    }
    let images = super::super::index::positions(op, indices, batch, x.shape())?;
    let wide_x = wide(op, x, cx)?;
    let out = HostTensor::zeros(wide_x.dtype(), Shape::new(&[n, channels, rows, columns])?, cx.allocator)?;
    if out.num_elements() > 0 {
        if height == 0 || width == 0 {
            return invalid(op, format!("images of shape {} have no pixels", x.shape()));
        }
        let corners = fast::cast(rois, DType::F64, cx)?;
        let corners = corners.read::<f64>()?;
        let offset = if attrs.half_pixel { 0.5 } else { 0.0 };
        let regions =
            corners.chunks_exact(4).zip(images).map(|(roi, image)| -> Result<Region, TensorError> {
                let side = |i: usize| (roi[i] * attrs.scale - offset, roi[i + 2] * attrs.scale - offset);
                let bins = [
                    Bins::new(op, height, side(1), rows, attrs)?,
                    Bins::new(op, width, side(0), columns, attrs)?,
                ];
                Ok((bins, image))
            });
        let regions = crate::scratch::try_collected(regions)?;
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
        let pixels = pixels.map(|pixels| pixels.map(|(at, weight)| (at, T::rounded(weight))));
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
        let count = T::rounded((bins[0].samples * bins[1].samples).max(1) as f64);
        out.iter_mut().step_by(step).for_each(|out| *out = *out / count);
    }
}

/// `_MaxRoiPool` of images with regions `[n, 5]`: number of the image, left, top, right, bottom.
pub fn max_roi_pool(
    x: &HostTensor,
    rois: &HostTensor,
    [rows, columns]: [usize; 2],
    scale: f64,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_MaxRoiPool";
    let [batch, channels, height, width] = image_dims(op, x)?;
    let &[n, 5] = rois.shape().dims() else {
        return invalid(op, format!("regions of shape {}, expected [n, 5]", rois.shape()));
    };
    rois.expect_dtype("rois", x.dtype())?;
    if rows == 0 || columns == 0 {
        return invalid(op, format!("a result of {rows} by {columns}"));
    }
    let wide_x = wide(op, x, cx)?;
    let out = HostTensor::zeros(wide_x.dtype(), Shape::new(&[n, channels, rows, columns])?, cx.allocator)?;
    let regions = fast::cast(rois, DType::F64, cx)?;
    let regions = regions.read::<f64>()?;
    let regions: &[f64] = &regions;
    if let Some(roi) = regions.chunks_exact(5).find(|roi| !(0.0..batch as f64).contains(&roi[0])) {
        return invalid(op, format!("a region of image {} of {batch}", roi[0]));
    }
    if out.num_elements() > 0 && height > 0 && width > 0 {
        let (each, plane) = (rows * columns, height * width);
        with_float!(wide_x, T => {
            let (x, mut out) = (wide_x.read::<T>()?, out.write::<T>()?);
            let x: &[T] = &x;
            cx.parts(&mut out, (each, plane.div_ceil(each)), &|first, part| {
                for (number, out) in (first / each..).zip(part.chunks_exact_mut(each)) {
                    let roi = &regions[number / channels * 5..][..5];
                    let x = &x[(roi[0] as usize * channels + number % channels) * plane..][..plane];
                    // Rounded to f32 before it is rounded to a pixel, as in an f32 computation.
                    let side = |i: usize| ((roi[i] * scale) as f32).round() as i64;
                    let span = |i: usize, bins: usize, len: usize, bin: usize| {
                        let start = side(i);
                        let size = side(i + 2).saturating_sub(start).saturating_add(1).max(1) as f64 / bins as f64;
                        let at = |x: f64| start.saturating_add(x as i64).clamp(0, len as i64) as usize;
                        at((bin as f64 * size).floor())..at(((bin + 1) as f64 * size).ceil())
                    };
                    for (bin, out) in out.iter_mut().enumerate() {
                        let mut most = T::LOWEST;
                        let across = span(1, columns, width, bin % columns);
                        for y in span(2, rows, height, bin / columns) {
                            let line = x[y * width..][..width].get(across.clone()).unwrap_or(&[]);
                            most = line.iter().fold(most, |most, &x| if x > most { x } else { most });
                        }
                        *out = if most == T::LOWEST { 0.0 } else { most };
                    }
                }
            });
        });
    }
    fast::cast(&out, x.dtype(), cx)
}
