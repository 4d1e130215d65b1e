//! Convolutions, poolings, normalizations and resizings of quantized images, `[batch, height, width,
//! channels]`.

use super::arithmetic::{QuantizedOperand, bilinear};
use super::{Level, RealRange, ToLevel};
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::{collected, filled};
use crate::tf::conv::ConvGeometry;
use crate::tf::fast::{self, Cx};
use crate::tf::resize::{Between, ResizedAxis, expect_size, image_dims};
use crate::tf::{
    self, Conv2dAttrs, Interpolation, Pool, Pool2dAttrs, ResizeAttrs, WindowSteps, quantized_conv,
};
use crate::{DType, HostTensor, Shape, TensorError};

/// `QuantizedConv2D`: the convolution of images of bytes with filters of bytes as i32, and its range. Padding
/// stands for 0.
///
/// # Errors
/// If the operands are not bytes, or the shapes do not fit.
pub fn quantized_conv2d(
    op: &'static str,
    [x, filter]: [&QuantizedOperand<'_>; 2],
    attrs: &Conv2dAttrs,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let geometry = ConvGeometry::new(op, x.levels.shape(), filter.levels.shape(), attrs)?;
    if geometry.from != geometry.image.channels {
        let (shape, filters) = (x.levels.shape(), filter.levels.shape());
        return invalid(op, format!("filters of shape {filters} for images of shape {shape}"));
    }
    let range = QuantizedOperand::products(op, [x, filter])?;
    if geometry.result_shape.num_elements() == 0 {
        let empty = HostTensor::allocate(DType::I32, geometry.result_shape, cx.allocator)?;
        return range.beside(empty, cx.allocator);
    }
    let (rows, cols) = (geometry.windows.rows, geometry.windows.cols);
    let pair = |(down, across): (usize, usize)| vec![down as i64, across as i64];
    let steps = WindowSteps {
        strides: pair(attrs.strides),
        dilations: pair(attrs.dilations),
        pads: [rows.pad.0, cols.pad.0, rows.pad.1, cols.pad.1].map(|pad| pad as i64).to_vec(),
    };
    let (images, filters) =
        (fast::transpose(x.levels, &[0, 3, 1, 2], cx)?, fast::transpose(filter.levels, &[3, 2, 0, 1], cx)?);
    let operands = [
        &QuantizedOperand { levels: &images, range: x.range },
        &QuantizedOperand { levels: &filters, range: filter.range },
    ];
    let sums = bilinear(op, operands, |x, zx, w, zw| quantized_conv(x, w, zx, zw, (&steps, 1), cx), cx)?;
    range.beside(fast::transpose(&sums, &[0, 2, 3, 1], cx)?, cx.allocator)
}

/// `QuantizedMaxPool`: the largest integer of each window.
pub fn quantized_max_pool(
    x: &QuantizedOperand<'_>,
    attrs: &Pool2dAttrs,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    x.range.beside(fast::pool(Pool::Max, x.levels, attrs, cx)?, cx.allocator)
}

/// `QuantizedAvgPool`: the mean of the integers of each window, without its fraction.
pub fn quantized_avg_pool(
    op: &'static str,
    x: &QuantizedOperand<'_>,
    attrs: &Pool2dAttrs,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let dtype = x.levels.dtype();
    if !matches!(dtype, DType::UI8 | DType::I8) {
        return Err(TensorError::Unsupported { op, dtype });
    }
    // Sums of bytes are exact in f64, and a quotient that is no integer is not rounded to one.
    let means = fast::pool(Pool::Avg, &fast::cast(x.levels, DType::F64, cx)?, attrs, cx)?;
    x.range.beside(fast::cast(&means, dtype, cx)?, cx.allocator)
}

/// `QuantizedBatchNormWithGlobalNormalization`: images of bytes normalized by mean, variance, offset and
/// factor of each channel, as i32 that stand for numbers from -2^20 to 2^20.
///
/// # Errors
/// If the operands are not bytes, or the shapes do not fit.
pub fn quantized_batch_norm(
    op: &'static str,
    x: &QuantizedOperand<'_>,
    [mean, variance, beta, gamma]: [&QuantizedOperand<'_>; 4],
    (epsilon, scales): (f32, bool),
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    const RANGE: RealRange = RealRange { min: -((1 << 20) as f32), max: (1 << 20) as f32 };
    let &[.., channels] = x.levels.shape().dims() else {
        return invalid(op, "images are of rank 4".to_owned());
    };
    if x.levels.shape().rank() != 4 {
        return invalid(op, format!("images of shape {}, expected rank 4", x.levels.shape()));
    }
    let level = |x: f32| i32::clamped(RANGE.level::<i32>(x));
    let [mean, variance, beta, gamma] = [mean, variance, beta, gamma].map(|of| {
        of.levels.expect_shape("a parameter of channels", &Shape::new(&[channels])?)?;
        let levels = of.levels.read_as::<u8>("a parameter of channels")?;
        collected(levels.iter().map(|&byte| of.range.number(byte)))
    });
    let parameters = mean?.into_iter().zip(variance?).zip(beta?.into_iter().zip(gamma?));
    let affine: Vec<(i32, i32)> = collected(parameters.map(|((mean, variance), (beta, gamma))| {
        let scale = 1.0 / (variance + epsilon).sqrt();
        let scale = if scales { scale * gamma } else { scale };
        (level(scale), level(-mean * scale + beta))
    }))?;
    let one = level(1.0);
    let numbers: [i32; 256] = std::array::from_fn(|byte| level(x.range.number(byte as u8)));
    let from = x.levels.read_as::<u8>("t")?;
    let from: &[u8] = &from;
    let out = HostTensor::allocate(DType::I32, x.levels.shape().clone(), cx.allocator)?;
    cx.parts(&mut out.write::<i32>()?, (channels, 8), &|first, to| {
        let elements = to.iter_mut().zip(&from[first..]);
        for ((to, &byte), &(scale, offset)) in elements.zip(affine.iter().cycle()) {
            *to = (numbers[usize::from(byte)].wrapping_mul(scale) / one).wrapping_add(offset);
        }
    });
    RANGE.beside(out, cx.allocator)
}

/// The range of the results of [`quantized_instance_norm`].
#[derive(Clone, Copy, Debug)]
pub struct InstanceNormRange {
    /// The range, if it does not follow from the results.
    pub given: Option<RealRange>,
    /// The least distance of its ends.
    pub min_separation: f32,
}

/// `QuantizedInstanceNorm`: images of bytes, each channel of an image normalized to mean 0 and variance 1.
///
/// # Errors
/// If the operand is not images of bytes, or its range is empty.
pub fn quantized_instance_norm(
    op: &'static str,
    x: &QuantizedOperand<'_>,
    epsilon: f32,
    by: InstanceNormRange,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let RealRange { min, max } = x.range.expect_wide(op)?;
    let &[_, rows, columns, channels] = x.levels.shape().dims() else {
        return invalid(op, format!("images of shape {}, expected rank 4", x.levels.shape()));
    };
    let (step, image, n) = ((max - min) / 255.0, rows * columns * channels, (rows * columns) as f64);
    let from = x.levels.read_as::<u8>("x")?;
    let normed = HostTensor::allocate(DType::F32, x.levels.shape().clone(), cx.allocator)?;
    let mut found = (f32::MAX, f32::MIN);
    let mut numbers = normed.write::<f32>()?;
    for (to, from) in numbers.chunks_mut(image.max(1)).zip(from.chunks(image.max(1))) {
        if is_interrupted() {
            break;
        }
        let of_channels = |of: &dyn Fn(usize, f32) -> f64| -> Result<Vec<f32>, TensorError> {
            let mut sums = filled(channels, 0.0f64)?;
            for pixel in from.chunks_exact(channels) {
                sums.iter_mut().zip(pixel).enumerate().for_each(|(c, (sum, &x))| *sum += of(c, f32::from(x)));
            }
            collected(sums.iter().map(|sum| (sum / n) as f32))
        };
        let means = of_channels(&|_, x| f64::from(x))?;
        let variances = of_channels(&|c, x| f64::from((step * (x - means[c])).powi(2)))?;
        let pixels = to.chunks_exact_mut(channels).zip(from.chunks_exact(channels));
        for (to, pixel) in pixels {
            for (c, (to, &x)) in to.iter_mut().zip(pixel).enumerate() {
                *to = step * (f32::from(x) - means[c]) * (1.0 / (variances[c] + epsilon).sqrt());
                found = (found.0.min(*to), found.1.max(*to));
            }
        }
    }
    let mut range = by.given.unwrap_or(RealRange { min: found.0, max: found.1 });
    if range.max - range.min < by.min_separation {
        range.max = range.min + by.min_separation;
    }
    let level = ToLevel::new::<u8>(range);
    let out = HostTensor::allocate(DType::UI8, x.levels.shape().clone(), cx.allocator)?;
    out.write::<u8>()?.iter_mut().zip(numbers.iter()).for_each(|(to, &x)| *to = level.of(x));
    range.beside(out, cx.allocator)
}

/// An interpolation between four pixels: two of a row, two of the next one; the position is a fraction of the
/// distance across and down.
type Lerp<'a, T> = &'a (dyn Fn([T; 4], f32, f32) -> T + Sync);

/// In fixed point, with this many binary digits after the point.
fn fixed_lerp([a, b, c, d]: [i64; 4], across: f32, down: f32, digits: u32) -> i64 {
    let one = 1i64 << digits; // products of numbers of 32 bits and of fractions fit
    let (across, down) = ((across * one as f32) as i64, (down * one as f32) as i64);
    let (top, bottom) = (a * one + (b - a) * across, c * one + (d - c) * across);
    (top + (bottom - top) / one * down + one / 2) / one
}

fn lerp_of_bytes(corners: [u8; 4], across: f32, down: f32) -> u8 {
    u8::clamped(fixed_lerp(corners.map(i64::from), across, down, 7))
}

fn lerp_of_i32(corners: [i32; 4], across: f32, down: f32) -> i32 {
    // As in TensorFlow, the integers are rounded to f32.
    i32::clamped(fixed_lerp(corners.map(|level| level as f32 as i64), across, down, 30))
}

fn resized<T: Level>(
    op: &'static str,
    images: &HostTensor,
    (height, width): (usize, usize),
    attrs: ResizeAttrs,
    lerp: Lerp<'_, T>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let [batch, rows, columns, channels] = image_dims(op, "images", images)?;
    expect_size(op, (height, width))?;
    if (rows, columns) == (height, width) {
        return Ok(images.clone());
    }
    let out = HostTensor::allocate(T::DTYPE, Shape::new(&[batch, height, width, channels])?, cx.allocator)?;
    let (down, across) = (ResizedAxis::new(rows, height, attrs), ResizedAxis::new(columns, width, attrs));
    let across: Vec<Between> = collected((0..width).map(|x| across.between(x)))?;
    let from = images.read_as::<T>("images")?;
    let from: &[T] = &from;
    let line = width * channels;
    cx.parts(&mut out.write::<T>()?, (line, 16), &|first, part| {
        for (at, to) in (first / line..).zip(part.chunks_mut(line)) {
            let y = down.between(at % height);
            let row = |y: usize| &from[(at / height * rows + y) * columns * channels..][..columns * channels];
            let (above, below) = (row(y.low), row(y.high));
            for (to, x) in to.chunks_mut(channels).zip(&across) {
                for (c, to) in to.iter_mut().enumerate() {
                    let (left, right) = (x.low * channels + c, x.high * channels + c);
                    *to = lerp([above[left], above[right], below[left], below[right]], x.part, y.part);
                }
            }
        }
    });
    Ok(out)
}

/// `QuantizedResizeBilinear` of bytes, i32 or f32.
///
/// # Errors
/// If the images have no pixels or another type.
pub fn quantized_resize_bilinear(
    op: &'static str,
    x: &QuantizedOperand<'_>,
    size: (usize, usize),
    attrs: ResizeAttrs,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let out = match x.levels.dtype() {
        DType::UI8 => resized(op, x.levels, size, attrs, &lerp_of_bytes, cx)?,
        DType::I32 => resized(op, x.levels, size, attrs, &lerp_of_i32, cx)?,
        DType::F32 => tf::resize(op, Interpolation::Bilinear, x.levels, size, attrs, cx)?,
        dtype => return Err(TensorError::Unsupported { op, dtype }),
    };
    x.range.beside(out, cx.allocator)
}
