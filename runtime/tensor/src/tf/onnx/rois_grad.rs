//! The gradients of `RoiAlign` and `MaxRoiPool`.
//!
//! ```text
//! by the images     each result's gradient is added to the pixels that it was made of, times their weights
//! by the regions    the sum over these pixels of gradient, pixel, and derivative of the weight
//! ```
//!
//! A maximum was made of the first of the largest pixels. Regions of whole pixels have no gradient.

use super::super::fast::{self, Cx};
use super::rois::{
    Region, RoiAlignAttrs, WeightedPixel, each_sample, image_dims, largest, n_samples, pooled_regions,
    regions, whole_pixels,
};
use super::{WideFloat, wide, with_float};
use crate::interrupt::is_interrupted;
use crate::{HostTensor, Shape, TensorError};

/// Calls `f` for each pixel that a result of one channel was made of, with what its weight is multiplied by.
fn each_pixel<T: WideFloat>(
    plane: &[T],
    (bins, _): &Region,
    bin: (usize, usize),
    is_max: bool,
    f: &mut dyn FnMut(WeightedPixel, f64),
) {
    if !is_max {
        let share = 1.0 / n_samples(bins) as f64;
        return each_sample(bins, bin, |pixels| {
            pixels.into_iter().flatten().for_each(|pixel| f(pixel, share));
        });
    }
    // A sample outside of the image is zero, and made of no pixel.
    let mut most: Option<(T, Option<WeightedPixel>)> = None;
    let mut consider = |value: T, pixel: Option<WeightedPixel>| {
        if most.is_none_or(|(most, _)| value > most) {
            most = Some((value, pixel));
        }
    };
    each_sample(bins, bin, |pixels| match pixels {
        Some(pixels) => {
            let part = |pixel: &WeightedPixel| T::rounded(pixel.weight) * plane[pixel.at];
            pixels.iter().for_each(|pixel| consider(part(pixel), Some(*pixel)));
        }
        None => consider(T::ZERO, None),
    });
    if let Some((_, Some(pixel))) = most {
        f(pixel, 1.0);
    }
}

/// The gradient of the results of `n` regions of so many bins, checked, and the images, in a type to sum in.
fn wide_operands(
    op: &'static str,
    dy: &HostTensor,
    x: &HostTensor,
    (n, [rows, columns]): (usize, [usize; 2]),
    cx: &Cx<'_>,
) -> Result<[HostTensor; 2], TensorError> {
    let [_, channels, _, _] = image_dims(op, x)?;
    dy.expect_shape("dy", &Shape::new(&[n, channels, rows, columns])?)?;
    dy.expect_dtype("dy", x.dtype())?;
    Ok([wide(op, dy, cx)?, wide(op, x, cx)?])
}

/// `_RoiAlignGradImage`: the gradient by the images, given that of the results.
pub fn roi_align_grad_image(
    dy: &HostTensor,
    x: &HostTensor,
    rois: &HostTensor,
    indices: &HostTensor,
    attrs: &RoiAlignAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_RoiAlignGradImage";
    let ([_, channels, height, width], [rows, columns]) = (image_dims(op, x)?, attrs.size);
    let regions = regions(op, x, (rois, indices), attrs, cx)?;
    let [wide_dy, wide_x] = wide_operands(op, dy, x, (regions.len(), attrs.size), cx)?;
    let out = HostTensor::zeros(wide_x.dtype(), x.shape().clone(), cx.allocator)?;
    if out.num_elements() > 0 {
        let (plane, each) = (height * width, rows * columns);
        let cost = 64 * (regions.len() * each).div_ceil(plane);
        with_float!(wide_x, T => {
            let (dy, x, mut out) = (wide_dy.read::<T>()?, wide_x.read::<T>()?, out.write::<T>()?);
            let (dy, x): (&[T], &[T]) = (&dy, &x);
            cx.parts(&mut out, (plane, cost), &|first, part| {
                for (number, out) in (first / plane..).zip(part.chunks_exact_mut(plane)) {
                    let x = &x[number * plane..][..plane];
                    let own = regions.iter().enumerate().filter(|(_, region)| region.1 == number / channels);
                    for (i, region) in own {
                        let dy = &dy[(i * channels + number % channels) * each..][..each];
                        for (bin, dy) in dy.iter().enumerate() {
                            if is_interrupted() {
                                return;
                            }
                            let place = (bin / columns, bin % columns);
                            each_pixel(x, region, place, attrs.max, &mut |pixel, share| {
                                out[pixel.at] += *dy * T::rounded(pixel.weight * share);
                            });
                        }
                    }
                }
            });
        });
    }
    fast::cast(&out, x.dtype(), cx)
}

/// `_RoiAlignGradRois`: the gradient by the regions, given that of the results.
pub fn roi_align_grad_rois(
    dy: &HostTensor,
    x: &HostTensor,
    rois: &HostTensor,
    indices: &HostTensor,
    attrs: &RoiAlignAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_RoiAlignGradRois";
    let ([_, channels, height, width], [rows, columns]) = (image_dims(op, x)?, attrs.size);
    let regions = regions(op, x, (rois, indices), attrs, cx)?;
    let [wide_dy, wide_x] = wide_operands(op, dy, x, (regions.len(), attrs.size), cx)?;
    let out = HostTensor::zeros(wide_x.dtype(), rois.shape().clone(), cx.allocator)?;
    if x.num_elements() > 0 && out.num_elements() > 0 {
        let (plane, each) = (height * width, rows * columns);
        with_float!(wide_x, T => {
            let (dy, x, mut out) = (wide_dy.read::<T>()?, wide_x.read::<T>()?, out.write::<T>()?);
            let (dy, x): (&[T], &[T]) = (&dy, &x);
            cx.parts(&mut out, (4, 64 * channels * each), &|first, part| {
                for (i, out) in (first / 4..).zip(part.chunks_exact_mut(4)) {
                    let region = &regions[i];
                    let mut sums = [0.0; 4];
                    for (number, dy) in dy[i * channels * each..][..channels * each].iter().enumerate() {
                        if is_interrupted() {
                            return;
                        }
                        let (channel, bin) = (number / each, number % each);
                        let x = &x[(region.1 * channels + channel) * plane..][..plane];
                        let place = (bin / columns, bin % columns);
                        each_pixel(x, region, place, attrs.max, &mut |pixel, share| {
                            let d = dy.wide() * x[pixel.at].wide() * share * attrs.scale;
                            sums.iter_mut().zip(pixel.slopes).for_each(|(sum, slope)| *sum += d * slope);
                        });
                    }
                    out.iter_mut().zip(sums).for_each(|(out, sum)| *out = T::rounded(sum));
                }
            });
        });
    }
    fast::cast(&out, x.dtype(), cx)
}

/// `_MaxRoiPoolGrad`: the gradient by the images, given that of the results.
pub fn max_roi_pool_grad(
    dy: &HostTensor,
    x: &HostTensor,
    rois: &HostTensor,
    bins: [usize; 2],
    scale: f64,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_MaxRoiPoolGrad";
    let [_, channels, height, width] = image_dims(op, x)?;
    let regions = pooled_regions(op, x, rois, bins, cx)?;
    let n = regions.shape().dims()[0];
    let [wide_dy, wide_x] = wide_operands(op, dy, x, (n, bins), cx)?;
    let out = HostTensor::zeros(wide_x.dtype(), x.shape().clone(), cx.allocator)?;
    let regions = regions.read::<f64>()?;
    let regions: &[f64] = &regions;
    if out.num_elements() > 0 {
        let (each, plane) = (bins[0] * bins[1], height * width);
        with_float!(wide_x, T => {
            let (dy, x, mut out) = (wide_dy.read::<T>()?, wide_x.read::<T>()?, out.write::<T>()?);
            let (dy, x): (&[T], &[T]) = (&dy, &x);
            cx.parts(&mut out, (plane, n), &|first, part| {
                for (number, out) in (first / plane..).zip(part.chunks_exact_mut(plane)) {
                    let x = &x[number * plane..][..plane];
                    let of_image = |roi: &[f64]| roi[0] as usize == number / channels;
                    let own = regions.chunks_exact(5).enumerate().filter(|(_, roi)| of_image(roi));
                    for (i, roi) in own {
                        let dy = &dy[(i * channels + number % channels) * each..][..each];
                        for (bin, dy) in dy.iter().enumerate() {
                            if is_interrupted() {
                                return;
                            }
                            let pixels = whole_pixels(roi, scale, ([height, width], bins), bin);
                            let most = largest(x, width, &pixels);
                            let [rows, columns] = pixels;
                            let positions = rows.flat_map(|y| columns.clone().map(move |x| y * width + x));
                            let mut positions = positions.filter(|&at| most > T::LOWEST && x[at] == most);
                            if let Some(at) = positions.next() {
                                out[at] += *dy;
                            }
                        }
                    }
                }
            });
        });
    }
    fast::cast(&out, x.dtype(), cx)
}
