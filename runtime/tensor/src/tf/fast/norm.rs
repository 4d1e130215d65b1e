//! Biases and batch normalization with its gradients, NHWC or NCHW. Training makes several passes over the
//! images, each at memory speed.

use super::super::norm::{all_but_channels, channels_of, moments_after};
use super::super::{BatchNorm, BatchNormAttrs, Binary, ImageFormat, Reduce, reference};
use super::elementwise::binary;
use super::{BLOCK, Cx, reduce};
use crate::scratch::collected;
use crate::simd::Isa;
use crate::{DType, HostTensor, Shape, TensorError};

/// See [`reference::bias_add`]; in place.
pub fn bias_add(
    x: HostTensor,
    bias: &HostTensor,
    format: ImageFormat,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let (channels, _) = format.channels("BiasAdd", &x)?;
    bias.expect_shape("bias", &Shape::new(&[channels])?)?;
    let mut dims = vec![channels];
    if format == ImageFormat::Nchw {
        dims.resize(x.shape().rank() - 1, 1); // of rank 2 at least
    }
    let bias = bias.reshaped(Shape::new(&dims)?)?;
    binary(Binary::Add, x, bias, cx)
}

/// See [`reference::bias_add_grad`].
pub fn bias_add_grad(dy: &HostTensor, format: ImageFormat, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    reduce(Reduce::Sum, dy, &all_but_channels("BiasAddGrad", dy, format)?, false, cx)
}

/// See [`reference::batch_norm`]; in place. The factor of each channel is computed in f64.
pub fn batch_norm(
    x: HostTensor,
    by: &BatchNorm<'_>,
    attrs: &BatchNormAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let BatchNorm { scale, offset, mean, variance } = *by;
    if [&x, scale, offset, mean, variance].iter().any(|x| x.dtype() != DType::F32) {
        return reference::batch_norm(&x, by, attrs, cx.allocator);
    }
    let (count, step) = channels_of("FusedBatchNormV3", &x, attrs.format)?;
    let vector = Shape::new(&[count])?;
    for (what, x) in [("mean", mean), ("variance", variance), ("scale", scale), ("offset", offset)] {
        x.expect_shape(what, &vector)?;
    }
    let factors = factors(&wide(scale)?, &wide(variance)?, attrs)?;
    let (mean, offset) = (mean.read::<f32>()?, offset.read::<f32>()?);
    normalize(x, (count, step), (&mean, &factors, &offset), cx)
}

/// The factor of each channel: `scale / sqrt(variance + epsilon)`.
fn factors(scale: &[f64], variance: &[f64], attrs: &BatchNormAttrs) -> Result<Vec<f32>, TensorError> {
    let factor = |(s, v): (&f64, &f64)| (s / (v + f64::from(attrs.epsilon)).sqrt()) as f32;
    collected(scale.iter().zip(variance).map(factor))
}

/// `(x - mean) * factor + offset` per channel, for `count` channels with stride `step`; in place.
fn normalize(
    x: HostTensor,
    (count, step): (usize, usize),
    (mean, factors, offset): (&[f32], &[f32], &[f32]),
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let isa = Isa::detect();
    let unit = if step == 1 { count } else { step };
    let run = |first: usize, out: &mut [f32]| {
        if step == 1 {
            return isa.normalize(mean, factors, offset, out);
        }
        for (plane, out) in (first / step..).zip(out.chunks_exact_mut(step)) {
            let c = plane % count;
            isa.normalize(&mean[c..=c], &factors[c..=c], &offset[c..=c], out);
        }
    };
    if x.num_elements() == 0 {
        return Ok(x);
    }
    if x.is_unique() {
        cx.parts(&mut x.write::<f32>()?, (unit, 1), &run);
        return Ok(x);
    }
    let out = HostTensor::allocate(DType::F32, x.shape().clone(), cx.allocator)?;
    {
        let from = x.read::<f32>()?;
        let from: &[f32] = &from;
        let piece = (BLOCK / unit).max(1) * unit;
        cx.parts(&mut out.write::<f32>()?, (unit, 1), &|first, out| {
            for (i, out) in out.chunks_mut(piece).enumerate() {
                let first = first + i * piece;
                out.copy_from_slice(&from[first..][..out.len()]);
                run(first, out);
            }
        });
    }
    Ok(out)
}

/// The layout of nonempty f32 images and vectors with one element per channel.
struct Images {
    channels: usize,
    /// The stride of channels.
    step: usize,
    /// The number of elements of a channel.
    n: f64,
    /// All axes except the channels.
    axes: Vec<i64>,
    /// The shape of a vector that broadcasts along the channels.
    row: Shape,
}

impl Images {
    /// `None` if a dtype or shape is not supported.
    fn new(x: &HostTensor, vectors: &[&HostTensor], format: ImageFormat) -> Option<Images> {
        let op = "FusedBatchNormV3";
        let (channels, step) = channels_of(op, x, format).ok()?;
        let vector = Shape::new(&[channels]).ok()?;
        let behind = if format == ImageFormat::Nhwc { 0 } else { x.shape().rank() - 2 };
        let row = [&[channels][..], &vec![1; behind]].concat();
        let fits = |v: &&HostTensor| v.dtype() == DType::F32 && *v.shape() == vector;
        (x.dtype() == DType::F32 && x.num_elements() > 0 && vectors.iter().all(fits)).then_some(())?;
        let n = (x.num_elements() / channels) as f64;
        let axes = all_but_channels(op, x, format).ok()?;
        Some(Images { channels, step, n, axes, row: Shape::new(&row).ok()? })
    }

    /// The reduction of each channel.
    fn reduced(&self, op: Reduce, x: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
        reduce(op, x, &self.axes, false, cx)
    }

    /// `op(x, vector)`, in place.
    fn with_each(
        &self,
        op: Binary,
        x: HostTensor,
        vector: &HostTensor,
        cx: &Cx<'_>,
    ) -> Result<HostTensor, TensorError> {
        binary(op, x, vector.reshaped(self.row.clone())?, cx)
    }

    fn vector(&self, f: impl Fn(usize) -> f64, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
        let values = collected((0..self.channels).map(|c| f(c) as f32))?;
        HostTensor::from_slice(Shape::new(&[self.channels])?, &values, cx.allocator)
    }
}

/// A vector's elements in f64.
fn wide(x: &HostTensor) -> Result<Vec<f64>, TensorError> {
    collected(x.read::<f32>()?.iter().map(|&x| f64::from(x)))
}

/// See [`reference::batch_norm_training`]. The centered images are rounded to f32, so their mean is not
/// exactly 0; it corrects the mean and the variance.
pub fn batch_norm_training(
    x: HostTensor,
    (scale, offset): (&HostTensor, &HostTensor),
    running: (&HostTensor, &HostTensor),
    attrs: &BatchNormAttrs,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 5], TensorError> {
    let Some(images) = Images::new(&x, &[scale, offset], attrs.format) else {
        return reference::batch_norm_training(&x, scale, offset, running, attrs, cx.allocator);
    };
    let mean = images.reduced(Reduce::Mean, &x, cx)?;
    let centered = images.with_each(Binary::Sub, x, &mean, cx)?;
    let rest = images.reduced(Reduce::Mean, &centered, cx)?;
    let norm = wide(&images.reduced(Reduce::EuclideanNorm, &centered, cx)?)?;
    let (means, rests) = (wide(&mean)?, wide(&rest)?);
    // The variance is negative by rounding only; NaN is kept.
    let variance = |(norm, rest): (&f64, &f64)| match norm * norm / images.n - rest * rest {
        variance if variance < 0.0 => 0.0,
        variance => variance,
    };
    let variance = collected(norm.iter().zip(&rests).map(variance))?;
    let y = {
        let (rest, offset) = (rest.read::<f32>()?, offset.read::<f32>()?);
        let by = (&rest[..], &factors(&wide(scale)?, &variance, attrs)?[..], &offset[..]);
        normalize(centered, (images.channels, images.step), by, cx)?
    };
    // An infinite mean makes the rest infinite or NaN; then the mean is not corrected.
    let corrected = |(&mean, &rest): (&f64, &f64)| if rest.is_finite() { mean + rest } else { mean };
    let mean = collected(means.iter().zip(&rests).map(corrected))?;
    let [mean, variance, batch_mean, batch_variance] =
        moments_after(images.n, (mean, variance), DType::F32, running, attrs, cx.allocator)?;
    Ok([y, mean, variance, batch_mean, batch_variance])
}

/// See [`reference::batch_norm_grad`].
pub fn batch_norm_grad(
    dy: HostTensor,
    x: HostTensor,
    scale: &HostTensor,
    (mean, variance): (&HostTensor, &HostTensor),
    is_training: bool,
    attrs: &BatchNormAttrs,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let images = Images::new(&x, &[scale, mean, variance], attrs.format);
    let Some(images) = images.filter(|_| dy.dtype() == DType::F32 && dy.shape() == x.shape()) else {
        let moments = (mean, variance);
        return reference::batch_norm_grad(&dy, &x, scale, moments, is_training, attrs, cx.allocator);
    };
    let (ones, zeros) = (images.vector(|_| 1.0, cx)?, images.vector(|_| 0.0, cx)?);
    let normalized = batch_norm(x, &BatchNorm { scale: &ones, offset: &zeros, mean, variance }, attrs, cx)?;
    let by_offset = images.reduced(Reduce::Sum, &dy, cx)?;
    let by_scale = {
        let products = binary(Binary::Mul, normalized.clone(), dy.clone(), cx)?;
        images.reduced(Reduce::Sum, &products, cx)?
    };
    let through_moments = if is_training {
        let (by_scale, by_offset) = (wide(&by_scale)?, wide(&by_offset)?);
        let slope = images.vector(|c| by_scale[c] / images.n, cx)?;
        let offset = images.vector(|c| by_offset[c] / images.n, cx)?;
        let x = images.with_each(Binary::Mul, normalized, &slope, cx)?;
        Some(images.with_each(Binary::Add, x, &offset, cx)?)
    } else {
        None
    };
    let dy = through_moments.map_or(Ok(dy.clone()), |x| binary(Binary::Sub, dy, x, cx))?;
    let (scale, variance) = (wide(scale)?, wide(variance)?);
    let factor = |c: usize| scale[c] / (variance[c] + f64::from(attrs.epsilon)).sqrt();
    Ok([images.with_each(Binary::Mul, dy, &images.vector(factor, cx)?, cx)?, by_scale, by_offset])
}
