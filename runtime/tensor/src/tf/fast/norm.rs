//! Biases and batch normalization with its gradients, NHWC or NCHW.
//!
//! Training reads the images twice: for the moments, and to normalize them. So does the gradient: for the
//! sums of the gradients and of their products with the images, and for the gradient by the images. Sums
//! are in f64, over parts of the images whose number depends on the shape only. Moments are sums of
//! differences from a pixel of the channel, so that a mean that is large relative to the deviation costs no
//! digits.

use super::super::norm::{all_but_channels, channels_of, moments_after};
use super::super::{BatchNorm, BatchNormAttrs, Binary, ImageFormat, Reduce, Unary, reference};
use super::elementwise::{binary, unary};
use super::{BLOCK, Cx, reduce};
use crate::parallel::{ADDITIONS_PER_NS, each_part, nanoseconds};
use crate::scratch::{collected, filled, try_collected};
use crate::simd::{Arithmetic, Function, Isa, NormSlopes, Over};
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

/// The operators that follow a batch normalization: sums with tensors, then `Relu`.
#[derive(Clone, Copy, Debug, Default)]
pub struct AfterNorm<'a> {
    /// The tensors that are added.
    pub addends: &'a [HostTensor],
    /// True if `Relu` is last.
    pub relu: bool,
}

impl AfterNorm<'_> {
    /// True if they can be applied to a part of `x` at a time.
    fn fits(&self, x: &HostTensor) -> bool {
        self.addends.iter().all(|addend| addend.dtype() == DType::F32 && addend.shape() == x.shape())
    }

    /// Applies them one after the other.
    fn apply(&self, mut y: HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
        for addend in self.addends {
            y = binary(Binary::Add, y, addend.clone(), cx)?;
        }
        if self.relu { unary(Unary::Relu, y, cx) } else { Ok(y) }
    }
}

/// See [`reference::batch_norm`]; in place. The factor of each channel is computed in f64.
pub fn batch_norm(
    x: HostTensor,
    by: &BatchNorm<'_>,
    attrs: &BatchNormAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    batch_norm_then(x, by, attrs, &AfterNorm::default(), cx)
}

/// [`batch_norm`] and what follows it, in one pass over memory.
pub fn batch_norm_then(
    x: HostTensor,
    by: &BatchNorm<'_>,
    attrs: &BatchNormAttrs,
    after: &AfterNorm<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let BatchNorm { scale, offset, mean, variance } = *by;
    if [&x, scale, offset, mean, variance].iter().any(|x| x.dtype() != DType::F32) {
        return after.apply(reference::batch_norm(&x, by, attrs, cx.allocator)?, cx);
    }
    let (count, step) = channels_of("FusedBatchNormV3", &x, attrs.format)?;
    let vector = Shape::new(&[count])?;
    for (what, x) in [("mean", mean), ("variance", variance), ("scale", scale), ("offset", offset)] {
        x.expect_shape(what, &vector)?;
    }
    let factors = factors(&wide(scale)?, &wide(variance)?, attrs)?;
    let (mean, offset) = (mean.read::<f32>()?, offset.read::<f32>()?);
    normalize(x, (count, step), (&mean, &factors, &offset), after, cx)
}

/// The factor of each channel: `scale / sqrt(variance + epsilon)`.
fn factors(scale: &[f64], variance: &[f64], attrs: &BatchNormAttrs) -> Result<Vec<f32>, TensorError> {
    let factor = |(s, v): (&f64, &f64)| (s / (v + f64::from(attrs.epsilon)).sqrt()) as f32;
    collected(scale.iter().zip(variance).map(factor))
}

/// Calls `run(channels, first, part)` for parts of images with `count` channels with stride `step`: for
/// whole pixels, or for a part of one channel. `first` is the position of the part. `out` is written over `x`
/// if it has no other handle.
fn each_channels(
    x: HostTensor,
    (count, step): (usize, usize),
    cx: &Cx<'_>,
    run: impl Fn(std::ops::Range<usize>, usize, &mut [f32]) + Sync,
) -> Result<HostTensor, TensorError> {
    let unit = if step == 1 { count } else { step };
    let run = |first: usize, out: &mut [f32]| {
        if step == 1 {
            return run(0..count, first, out);
        }
        for (plane, out) in (first / step..).zip(out.chunks_exact_mut(step)) {
            let c = plane % count;
            run(c..c + 1, plane * step, out);
        }
    };
    if x.num_elements() == 0 {
        return Ok(x);
    }
    // What follows a part finds it in the cache.
    let piece = (BLOCK / unit).max(1) * unit;
    if x.is_unique() {
        cx.parts(&mut x.write::<f32>()?, (unit, 1), &|first, out| {
            out.chunks_mut(piece).enumerate().for_each(|(i, out)| run(first + i * piece, out));
        });
        return Ok(x);
    }
    let out = HostTensor::allocate(DType::F32, x.shape().clone(), cx.allocator)?;
    {
        let from = x.read::<f32>()?;
        let from: &[f32] = &from;
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

/// `(x - mean) * factor + offset` per channel, for `count` channels with stride `step`, and what follows; in
/// place.
fn normalize(
    x: HostTensor,
    layout: (usize, usize),
    (mean, factors, offset): (&[f32], &[f32], &[f32]),
    after: &AfterNorm<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let isa = Isa::detect();
    if !after.fits(&x) {
        let vectors = (mean, factors, offset);
        return after.apply(normalize(x, layout, vectors, &AfterNorm::default(), cx)?, cx);
    }
    let addends = try_collected(after.addends.iter().map(HostTensor::read::<f32>))?;
    let addends: Vec<&[f32]> = addends.iter().map(|addend| &addend[..]).collect();
    each_channels(x, layout, cx, |c, first, out| {
        isa.normalize(&mean[c.clone()], &factors[c.clone()], &offset[c], out);
        for addend in &addends {
            isa.arithmetic(Arithmetic::Add, Over::Left, out, &addend[first..][..out.len()]);
        }
        if after.relu {
            isa.map(Function::Relu, out);
        }
    })
}

/// The layout of nonempty f32 images and vectors with one element per channel.
struct Images {
    channels: usize,
    /// The stride of channels.
    step: usize,
    /// The number of elements of a channel.
    n: f64,
}

/// The number of elements in a part of the images whose sums are computed separately.
const PART: usize = 1 << 16;

impl Images {
    /// `None` if a dtype or shape is not supported.
    fn new(x: &HostTensor, vectors: &[&HostTensor], format: ImageFormat) -> Option<Images> {
        let (channels, step) = channels_of("FusedBatchNormV3", x, format).ok()?;
        let vector = Shape::new(&[channels]).ok()?;
        let fits = |v: &&HostTensor| v.dtype() == DType::F32 && *v.shape() == vector;
        (x.dtype() == DType::F32 && x.num_elements() > 0 && vectors.iter().all(fits)).then_some(())?;
        Some(Images { channels, step, n: (x.num_elements() / channels) as f64 })
    }

    /// For each channel the sums of `w` and of `w * (x - shift)`, where `w` is the element of `weights`, or
    /// `x - shift` without weights.
    fn sums(
        &self,
        x: &[f32],
        weights: Option<&[f32]>,
        shift: &[f32],
        cx: &Cx<'_>,
    ) -> Result<[Vec<f64>; 2], TensorError> {
        let (isa, channels) = (Isa::detect(), self.channels);
        // Parts are some pixels of all channels, or a channel of an image.
        let (part, columns) =
            if self.step == 1 { ((PART / channels).max(1) * channels, channels) } else { (self.step, 1) };
        let mut parts = filled(x.len().div_ceil(part).saturating_mul(2 * columns), 0.0)?;
        let workers = cx.parallel.workers(nanoseconds(x.len(), ADDITIONS_PER_NS));
        each_part(parts.chunks_mut(2 * columns), workers, cx.parallel, &|i, sums| {
            let at = i * part..x.len().min((i + 1) * part);
            let (x, weights) = (&x[at.clone()], weights.map(|weights| &weights[at]));
            let (first, second) = sums.split_at_mut(columns);
            if self.step == 1 {
                return isa.norm_sums(x, weights, shift, [first, second]);
            }
            // The plane of a channel is read as rows.
            let row = [shift[i % channels]; ROW];
            let (mut lanes, mut more) = ([0.0; ROW], [0.0; ROW]);
            let rows = x.len() / ROW * ROW;
            for (at, width) in [(0..rows, ROW), (rows..x.len(), x.len() - rows)] {
                let (weights, row) = (weights.map(|weights| &weights[at.clone()]), &row[..width]);
                isa.norm_sums(&x[at], weights, row, [&mut lanes, &mut more]);
            }
            (first[0], second[0]) = (lanes.iter().sum(), more.iter().sum());
        });
        let (mut first, mut second) = (filled(channels, 0.0)?, filled(channels, 0.0)?);
        for (i, sums) in parts.chunks_exact(2 * columns).enumerate() {
            let c = i * columns % channels;
            let (a, b) = sums.split_at(columns);
            first[c..].iter_mut().zip(a).for_each(|(sum, a)| *sum += a);
            second[c..].iter_mut().zip(b).for_each(|(sum, b)| *sum += b);
        }
        Ok([first, second])
    }

    fn vector(&self, values: &[f64], cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
        HostTensor::from_slice(Shape::new(&[self.channels])?, &rounded(values)?, cx.allocator)
    }
}

/// The number of columns as which a plane of a channel is read.
const ROW: usize = 32;

/// A vector's elements in f64.
fn wide(x: &HostTensor) -> Result<Vec<f64>, TensorError> {
    collected(x.read::<f32>()?.iter().map(|&x| f64::from(x)))
}

fn rounded(x: &[f64]) -> Result<Vec<f32>, TensorError> {
    collected(x.iter().map(|&x| x as f32))
}

/// See [`reference::batch_norm_training`].
pub fn batch_norm_training(
    x: HostTensor,
    vectors: (&HostTensor, &HostTensor),
    running: (&HostTensor, &HostTensor),
    attrs: &BatchNormAttrs,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 5], TensorError> {
    batch_norm_training_then(x, vectors, running, attrs, &AfterNorm::default(), cx)
}

/// [`batch_norm_training`], and what follows the normalized images, without another pass over memory.
pub fn batch_norm_training_then(
    x: HostTensor,
    (scale, offset): (&HostTensor, &HostTensor),
    running: (&HostTensor, &HostTensor),
    attrs: &BatchNormAttrs,
    after: &AfterNorm<'_>,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 5], TensorError> {
    let Some(images) = Images::new(&x, &[scale, offset], attrs.format) else {
        let [y, moments @ ..] =
            reference::batch_norm_training(&x, scale, offset, running, attrs, cx.allocator)?;
        let [mean, variance, batch_mean, batch_variance] = moments;
        return Ok([after.apply(y, cx)?, mean, variance, batch_mean, batch_variance]);
    };
    let (mean, variance) = {
        let x = x.read::<f32>()?;
        // The first pixel; differences from an infinite one would be NaN.
        let shift = x.iter().step_by(images.step).take(images.channels);
        let shift = collected(shift.map(|&x| if x.is_finite() { x } else { 0.0 }))?;
        let [sums, squares] = images.sums(&x, None, &shift, cx)?;
        let moments = |((shift, sum), square): ((&f32, &f64), &f64)| {
            let rest = sum / images.n;
            let variance = square / images.n - rest * rest;
            // Negative by rounding only; NaN is kept.
            (f64::from(*shift) + rest, if variance < 0.0 { 0.0 } else { variance })
        };
        let moments = collected(shift.iter().zip(&sums).zip(&squares).map(moments))?;
        (collected(moments.iter().map(|m| m.0))?, collected(moments.iter().map(|m| m.1))?)
    };
    let y = {
        // The images are centered by the rounded mean; the rest is subtracted from the offset.
        let (near, factors) = (rounded(&mean)?, factors(&wide(scale)?, &variance, attrs)?);
        let rest = |((mean, near), (factor, offset)): ((&f64, &f32), (&f32, &f32))| {
            let rest = mean - f64::from(*near);
            if rest == 0.0 { *offset } else { (f64::from(*offset) - rest * f64::from(*factor)) as f32 }
        };
        let offset = offset.read::<f32>()?;
        let offset = collected(mean.iter().zip(&near).zip(factors.iter().zip(&offset[..])).map(rest))?;
        normalize(x, (images.channels, images.step), (&near, &factors, &offset), after, cx)?
    };
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
    let (x, mean) = (x.read::<f32>()?, mean.read::<f32>()?);
    let (variance, scale) = (wide(variance)?, wide(scale)?);
    let inverse = collected(variance.iter().map(|v| (v + f64::from(attrs.epsilon)).sqrt().recip()))?;
    let (x, mean): (&[f32], &[f32]) = (&x, &mean);
    let [by_offset, products] = images.sums(x, Some(&dy.read::<f32>()?[..]), mean, cx)?;
    let scaled = |by: &[f64], f: &dyn Fn(f64) -> f64| {
        collected(by.iter().zip(&inverse).map(|(by, inverse)| by * f(*inverse)))
    };
    let by_scale = scaled(&products, &|inverse| inverse)?;
    let factor = rounded(&scaled(&scale, &|inverse| inverse)?)?;
    let through_moments =
        |by: Vec<f64>| collected(by.iter().map(|by| if is_training { (by / images.n) as f32 } else { 0.0 }));
    let slope = through_moments(scaled(&products, &|inverse| inverse * inverse)?)?;
    let offset = through_moments(scaled(&by_offset, &|_| 1.0)?)?;
    let isa = Isa::detect();
    let layout = (images.channels, images.step);
    let by_x = each_channels(dy, layout, cx, |c, first, out| {
        let x = &x[first..][..out.len()];
        if !is_training {
            // An infinite pixel has no influence.
            return isa.arithmetic(Arithmetic::Mul, Over::Left, out, &factor[c]);
        }
        let [mean, slope, offset, factor] =
            [mean, &slope, &offset, &factor].map(|numbers| &numbers[c.clone()]);
        isa.norm_gradient(NormSlopes { mean, slope, offset, factor }, x, out);
    })?;
    Ok([by_x, images.vector(&by_scale, cx)?, images.vector(&by_offset, cx)?])
}
