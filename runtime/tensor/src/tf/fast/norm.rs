//! Biases and batch normalization, NHWC or NCHW.

use super::super::norm::channels_of;
use super::super::{BatchNorm, BatchNormAttrs, Binary, Format, reference};
use super::elementwise::binary;
use super::{BLOCK, Cx};
use crate::simd::Isa;
use crate::{DType, HostTensor, Shape, TensorError};

/// See [`reference::bias_add`]; in place.
pub fn bias_add(
    x: HostTensor,
    bias: &HostTensor,
    format: Format,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let (channels, _) = format.channels("BiasAdd", &x)?;
    bias.expect_shape("bias", &Shape::new(&[channels])?)?;
    let mut dims = vec![channels];
    if format == Format::Nchw {
        dims.resize(x.shape().rank() - 1, 1); // of rank 2 at least
    }
    let bias = bias.reshaped(Shape::new(&dims)?)?;
    binary(Binary::Add, x, bias, cx)
}

/// See [`reference::batch_norm`]; in place. `x` less the mean is multiplied by one number per channel, computed in f64.
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
    let (scale, offset) = (scale.read::<f32>()?, offset.read::<f32>()?);
    let (mean, variance) = (mean.read::<f32>()?, variance.read::<f32>()?);
    let factors: Vec<f32> = variance
        .iter()
        .zip(scale.iter())
        .map(|(&v, &s)| (f64::from(s) / (f64::from(v) + f64::from(attrs.epsilon)).sqrt()) as f32)
        .collect();
    let (mean, offset): (&[f32], &[f32]) = (&mean, &offset);
    let isa = Isa::detect();
    let unit = if step == 1 { count } else { step };
    let run = |first: usize, out: &mut [f32]| {
        if step == 1 {
            return isa.normalize(mean, &factors, offset, out);
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
        cx.parts(&mut x.write::<f32>()?, (unit, 1), run);
        return Ok(x);
    }
    let out = HostTensor::allocate(DType::F32, x.shape().clone(), cx.allocator)?;
    {
        let from = x.read::<f32>()?;
        let from: &[f32] = &from;
        let piece = (BLOCK / unit).max(1) * unit;
        cx.parts(&mut out.write::<f32>()?, (unit, 1), |first, out| {
            for (i, out) in out.chunks_mut(piece).enumerate() {
                let first = first + i * piece;
                out.copy_from_slice(&from[first..][..out.len()]);
                run(first, out);
            }
        });
    }
    Ok(out)
}
