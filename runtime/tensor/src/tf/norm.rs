//! Biases, batch normalization with its gradients, NHWC or NCHW, and local response normalization.
//!
//! Biases have any dtype. Everything else is for floats, computed in f64 and rounded once per result. The
//! images and the vectors, which have one element per channel, may differ in dtype, as in TensorFlow.

use std::sync::Arc;

use super::binary::{Binary, binary};
use super::real::reals;
use super::reduce::{Reduce, reduce};
use super::unary::cast;
use super::window::ImageFormat;
use crate::interrupt::{STEPS, is_interrupted};
use crate::mem::Allocator;
use crate::scratch::{collected, filled};
use crate::{DType, HostTensor, Shape, TensorError};

/// `BiasAdd`: adds a vector along the channels of a tensor of rank 2 or more: the last axis (NHWC) or axis 1
/// (NCHW).
pub fn bias_add(
    x: &HostTensor,
    bias: &HostTensor,
    format: ImageFormat,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let (channels, _) = format.channels("BiasAdd", x)?;
    bias.expect_shape("bias", &Shape::new(&[channels])?)?;
    let mut dims = vec![channels];
    if format == ImageFormat::Nchw {
        dims.resize(x.shape().rank() - 1, 1); // of rank 2 at least
    }
    binary(Binary::Add, x, &bias.reshaped(Shape::new(&dims)?)?, allocator)
}

/// `BiasAddGrad`: the sum over all axes except the channels.
pub fn bias_add_grad(
    dy: &HostTensor,
    format: ImageFormat,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    reduce(Reduce::Sum, dy, &all_but_channels("BiasAddGrad", dy, format)?, false, allocator)
}

/// All axes except the channels.
pub(super) fn all_but_channels(
    op: &'static str,
    x: &HostTensor,
    format: ImageFormat,
) -> Result<Vec<i64>, TensorError> {
    format.channels(op, x)?;
    let rank = x.shape().rank() as i64;
    let kept = if format == ImageFormat::Nchw { 1 } else { rank - 1 };
    Ok((0..rank).filter(|&axis| axis != kept).collect())
}

/// The vectors of a batch normalization.
#[derive(Clone, Copy, Debug)]
pub struct BatchNorm<'a> {
    /// The factor of the normalized values.
    pub scale: &'a HostTensor,
    /// The addend of the scaled values.
    pub offset: &'a HostTensor,
    /// The population's mean.
    pub mean: &'a HostTensor,
    /// The population's variance.
    pub variance: &'a HostTensor,
}

/// The attributes of a batch normalization.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchNormAttrs {
    /// Added to the variance.
    pub epsilon: f32,
    /// The weight of the batch's moments in the running ones; 1 replaces the running ones.
    pub exponential_avg_factor: f32,
    /// The order of the axes of the images.
    pub format: ImageFormat,
}

impl Default for BatchNormAttrs {
    fn default() -> BatchNormAttrs {
        BatchNormAttrs { epsilon: 1e-4, exponential_avg_factor: 1.0, format: ImageFormat::Nhwc }
    }
}

/// A vector per channel, in f64.
fn vector(
    op: &'static str,
    what: &'static str,
    x: &HostTensor,
    channels: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    x.expect_shape(what, &Shape::new(&[channels])?)?;
    reals(op, x, allocator)
}

/// The layout of the channels of images.
#[derive(Clone, Copy)]
struct Channels {
    count: usize,
    step: usize,
    /// The number of elements of a channel.
    n: f64,
}

/// The number of channels of images of rank 4 or 5, and the channel stride.
pub(super) fn channels_of(
    op: &'static str,
    x: &HostTensor,
    format: ImageFormat,
) -> Result<(usize, usize), TensorError> {
    if !matches!(x.shape().rank(), 4 | 5) {
        let problem = format!("shape {} is not of rank 4 or 5, {format:?}", x.shape());
        return Err(TensorError::Invalid { op, problem });
    }
    format.channels(op, x)
}

impl Channels {
    fn new(op: &'static str, x: &HostTensor, format: ImageFormat) -> Result<Channels, TensorError> {
        let (count, step) = channels_of(op, x, format)?;
        Ok(Channels { count, step, n: x.num_elements().checked_div(count).unwrap_or(0) as f64 })
    }

    fn of(&self, at: usize) -> usize {
        at / self.step % self.count // neither is 0, because an element exists
    }

    /// The mean over each channel of `f(channel, position)`, for the positions of `len` elements.
    fn means(&self, len: usize, f: impl Fn(usize, usize) -> f64) -> Result<Vec<f64>, TensorError> {
        let mut sums = filled(self.count, 0.0)?;
        (0..len).for_each(|at| sums[self.of(at)] += f(self.of(at), at));
        sums.iter_mut().for_each(|sum| *sum /= self.n);
        Ok(sums)
    }

    /// The mean and the variance of each channel; NaN if there are no elements.
    fn moments(&self, x: &[f64]) -> Result<(Vec<f64>, Vec<f64>), TensorError> {
        let mean = self.means(x.len(), |_, at| x[at])?;
        let variance = self.means(x.len(), |c, at| (x[at] - mean[c]) * (x[at] - mean[c]))?;
        Ok((mean, variance))
    }
}

/// A tensor of these numbers, rounded to a float dtype.
fn rounded(dtype: DType, values: &[f64], allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    cast(&HostTensor::from_slice(Shape::new(&[values.len()])?, values, allocator)?, dtype, allocator)
}

/// `FusedBatchNormV3` for inference: `(x - mean) / sqrt(variance + epsilon) * scale + offset` per channel.
pub fn batch_norm(
    x: &HostTensor,
    by: &BatchNorm<'_>,
    attrs: &BatchNormAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "FusedBatchNormV3";
    let channels = Channels::new(op, x, attrs.format)?;
    let mean = vector(op, "mean", by.mean, channels.count, allocator)?;
    let variance = vector(op, "variance", by.variance, channels.count, allocator)?;
    let (mean, variance) = (mean.read::<f64>()?, variance.read::<f64>()?);
    normalize(op, x, (by.scale, by.offset), (&mean, &variance), attrs, allocator)
}

fn normalize(
    op: &'static str,
    x: &HostTensor,
    (scale, offset): (&HostTensor, &HostTensor),
    (mean, variance): (&[f64], &[f64]),
    attrs: &BatchNormAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let channels = Channels::new(op, x, attrs.format)?;
    let scale = vector(op, "scale", scale, channels.count, allocator)?;
    let offset = vector(op, "offset", offset, channels.count, allocator)?;
    let values = reals(op, x, allocator)?;
    {
        let (scale, offset) = (scale.read::<f64>()?, offset.read::<f64>()?);
        for (at, x) in values.write::<f64>()?.iter_mut().enumerate() {
            let c = channels.of(at);
            *x = (*x - mean[c]) / (variance[c] + f64::from(attrs.epsilon)).sqrt() * scale[c] + offset[c];
        }
    }
    cast(&values, x.dtype(), allocator)
}

/// `FusedBatchNormV3` for training: images are normalized by their own moments. `running` are the mean and
/// variance before this batch; they may be empty if the factor is 1.
///
/// Returns the normalized images; the running mean and variance after this batch, where the batch's variance
/// has Bessel's correction; and the batch's mean and variance without it, for the gradient: `reserve_space_1`
/// and `_2`. The vectors have the dtype of `scale`.
pub fn batch_norm_training(
    x: &HostTensor,
    scale: &HostTensor,
    offset: &HostTensor,
    running: (&HostTensor, &HostTensor),
    attrs: &BatchNormAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 5], TensorError> {
    let op = "FusedBatchNormV3";
    let channels = Channels::new(op, x, attrs.format)?;
    scale.expect_shape("scale", &Shape::new(&[channels.count])?)?;
    let (mean, variance) = {
        let wide = reals(op, x, allocator)?;
        channels.moments(&wide.read::<f64>()?)?
    };
    let y = normalize(op, x, (scale, offset), (&mean, &variance), attrs, allocator)?;
    let [mean, variance, batch_mean, batch_variance] =
        moments_after(channels.n, (mean, variance), scale.dtype(), running, attrs, allocator)?;
    Ok([y, mean, variance, batch_mean, batch_variance])
}

/// The running mean and variance after a batch with the given moments and `n` elements per channel, and the
/// moments of the batch, all rounded to `dtype`.
pub(super) fn moments_after(
    n: f64,
    (mean, variance): (Vec<f64>, Vec<f64>),
    dtype: DType,
    running: (&HostTensor, &HostTensor),
    attrs: &BatchNormAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 4], TensorError> {
    let factor = f64::from(attrs.exponential_avg_factor);
    let blend = |what, old: &HostTensor, new: Vec<f64>| {
        if factor == 1.0 {
            return rounded(dtype, &new, allocator);
        }
        let old = vector("FusedBatchNormV3", what, old, new.len(), allocator)?;
        let old = old.read::<f64>()?;
        let blended = collected(old.iter().zip(&new).map(|(old, new)| old * (1.0 - factor) + new * factor))?;
        rounded(dtype, &blended, allocator)
    };
    let corrected = collected(variance.iter().map(|v| v * n / (n - 1.0).max(1.0)))?;
    let reserved = [rounded(dtype, &mean, allocator)?, rounded(dtype, &variance, allocator)?];
    let [batch_mean, batch_variance] = reserved;
    Ok([
        blend("mean", running.0, mean)?,
        blend("variance", running.1, corrected)?,
        batch_mean,
        batch_variance,
    ])
}

/// `FusedBatchNormGradV3`: the gradients by the images, the scale and the offset. `moments` are the mean and
/// variance that normalized `x`; if `is_training` they are the batch's own and depend on the images.
pub fn batch_norm_grad(
    dy: &HostTensor,
    x: &HostTensor,
    scale: &HostTensor,
    moments: (&HostTensor, &HostTensor),
    is_training: bool,
    attrs: &BatchNormAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 3], TensorError> {
    let op = "FusedBatchNormGradV3";
    let channels = Channels::new(op, x, attrs.format)?;
    dy.expect_dtype("y_backprop", x.dtype())?;
    dy.expect_shape("y_backprop", x.shape())?;
    let mean = vector(op, "reserve_space_1", moments.0, channels.count, allocator)?;
    let variance = vector(op, "reserve_space_2", moments.1, channels.count, allocator)?;
    let scales = vector(op, "scale", scale, channels.count, allocator)?;
    let (values, gradients) = (reals(op, x, allocator)?, reals(op, dy, allocator)?);
    let (mean, variance, scales) = (mean.read::<f64>()?, variance.read::<f64>()?, scales.read::<f64>()?);
    let deviation = collected(variance.iter().map(|v| (v + f64::from(attrs.epsilon)).sqrt()))?;
    let (by_scale, by_offset) = {
        // First the normalized images and their means, then the gradient, which depends on the means.
        let (mut x, dy) = (values.write::<f64>()?, gradients.read::<f64>()?);
        x.iter_mut()
            .enumerate()
            .for_each(|(at, x)| *x = (*x - mean[channels.of(at)]) / deviation[channels.of(at)]);
        let by_scale = channels.means(x.len(), |_, at| dy[at] * x[at])?;
        let by_offset = channels.means(x.len(), |_, at| dy[at])?;
        for (at, (x, dy)) in x.iter_mut().zip(dy.iter()).enumerate() {
            let c = channels.of(at);
            let through_moments = if is_training { by_offset[c] + *x * by_scale[c] } else { 0.0 };
            *x = scales[c] / deviation[c] * (dy - through_moments);
        }
        (by_scale, by_offset)
    };
    let sums = |means: Vec<f64>| -> Vec<f64> {
        means.iter().map(|mean| if channels.n == 0.0 { 0.0 } else { mean * channels.n }).collect()
    };
    Ok([
        cast(&values, x.dtype(), allocator)?,
        rounded(scale.dtype(), &sums(by_scale), allocator)?,
        rounded(scale.dtype(), &sums(by_offset), allocator)?,
    ])
}

/// The attributes of `LRN`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LrnAttrs {
    /// The largest distance of a channel that is summed over.
    pub radius: usize,
    /// The constant term of the scale.
    pub bias: f64,
    /// The factor of the squares.
    pub alpha: f64,
    /// The exponent of the scale.
    pub beta: f64,
}

impl LrnAttrs {
    /// The channels within the radius of one of `channels`.
    fn near(&self, channel: usize, channels: usize) -> std::ops::Range<usize> {
        channel.saturating_sub(self.radius)
            ..channel.saturating_add(self.radius).saturating_add(1).min(channels)
    }

    /// The number of channels to compute between two checks for an interruption.
    fn questions(&self, channels: usize) -> usize {
        (STEPS / self.near(channels / 2, channels).len().max(1)).max(1)
    }

    /// The scales of the channels of a pixel.
    fn scales(&self, pixel: &[f64], scales: &mut [f64]) {
        let questions = self.questions(pixel.len());
        for (c, scale) in scales.iter_mut().enumerate() {
            if c % questions == 0 && is_interrupted() {
                return;
            }
            let squares: f64 = pixel[self.near(c, pixel.len())].iter().map(|x| x * x).sum();
            *scale = self.bias + self.alpha * squares;
        }
    }
}

/// Images in f64, and their number of channels.
fn pixels(
    op: &'static str,
    x: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<(HostTensor, usize), TensorError> {
    match *x.shape().dims() {
        [_, _, _, channels] => Ok((reals(op, x, allocator)?, channels)),
        _ => Err(TensorError::Rank { what: "input", want: 4, got: x.shape().clone() }),
    }
}

/// `LRN`, local response normalization of NHWC images: each element divided by `scale^beta`, where `scale =
/// bias + alpha * s` and `s` is the sum of the squares of the channels at most `radius` away. Floats only.
pub fn lrn(
    x: &HostTensor,
    attrs: &LrnAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let (wide, channels) = pixels("LRN", x, allocator)?;
    if wide.num_elements() > 0 {
        let mut scales = filled(channels, 0.0)?;
        let mut pixels = wide.write::<f64>()?;
        for pixel in pixels.chunks_exact_mut(channels).take_while(|_| !is_interrupted()) {
            attrs.scales(pixel, &mut scales);
            for (x, scale) in pixel.iter_mut().zip(&scales) {
                *x /= scale.powf(attrs.beta);
            }
        }
    }
    cast(&wide, x.dtype(), allocator)
}

/// `LRNGrad`: the gradient by the images, from the gradient by the results, the images and the results.
pub fn lrn_grad(
    dy: &HostTensor,
    x: &HostTensor,
    y: &HostTensor,
    attrs: &LrnAttrs,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "LRNGrad";
    dy.expect_shape("input_grads", x.shape())?;
    y.expect_shape("output_image", x.shape())?;
    let ((x_wide, channels), (y, _), (dy, _)) =
        (pixels(op, x, allocator)?, pixels(op, y, allocator)?, pixels(op, dy, allocator)?);
    let dx = HostTensor::zeros(DType::F64, x.shape().clone(), allocator)?;
    if dx.num_elements() > 0 {
        let (mut scales, questions) = (filled(channels, 0.0)?, attrs.questions(channels));
        let (xs, ys, dys, mut dxs) =
            (x_wide.read::<f64>()?, y.read::<f64>()?, dy.read::<f64>()?, dx.write::<f64>()?);
        let given = xs.chunks_exact(channels).zip(ys.chunks_exact(channels)).zip(dys.chunks_exact(channels));
        for (((x, y), dy), dx) in given.zip(dxs.chunks_exact_mut(channels)) {
            attrs.scales(x, &mut scales);
            for c in 0..channels {
                if c % questions == 0 && is_interrupted() {
                    break;
                }
                let slope = -2.0 * attrs.alpha * attrs.beta * y[c] / scales[c];
                for near in attrs.near(c, channels) {
                    let own = if near == c { scales[c].powf(-attrs.beta) } else { 0.0 };
                    dx[near] += (slope * x[near] + own) * dy[c];
                }
            }
        }
    }
    cast(&dx, x.dtype(), allocator)
}
