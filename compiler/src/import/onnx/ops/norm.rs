//! Normalizations and distributions over an axis.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::shaping::flat_at;
use crate::import::onnx::emit::{AttrArg, DimSize, Lowered, Why, axis_of, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::ir::ValueId;

/// A vector of channels in the shape that broadcasts along axis 1 of images of this rank.
fn of_channels(g: &mut OnnxImporter<'_>, vector: ValueId, rank: usize) -> Result<ValueId, Why> {
    g.expand_behind(vector, rank.saturating_sub(1))
}

/// The mean and the variance over axes, which stay as size 1.
fn moments(g: &mut OnnxImporter<'_>, x: ValueId, axes: &[usize]) -> Result<(ValueId, ValueId), Why> {
    let mean = g.reduce(Op::Mean, x, axes, true)?;
    let squares = g.one(Op::SquaredDifference, &[x, mean])?;
    Ok((mean, g.reduce(Op::Mean, squares, axes, true)?))
}

/// `(x - mean) / sqrt(variance + epsilon)`, and the factor.
fn standardized(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    mean: ValueId,
    variance: ValueId,
    epsilon: f32,
) -> Result<(ValueId, ValueId), Why> {
    let shifted = g.plus(variance, f64::from(epsilon))?;
    let factor = g.one(Op::Rsqrt, &[shifted])?;
    let centred = g.sub(x, mean)?;
    Ok((g.mul(centred, factor)?, factor))
}

fn scaled(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    scale: ValueId,
    bias: Option<ValueId>,
) -> Result<ValueId, Why> {
    let y = g.mul(x, scale)?;
    bias.map_or(Ok(y), |bias| g.add(y, bias))
}

pub(super) fn batch_norm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let params: Vec<ValueId> = (1..5).map(|i| n.input(i)).collect::<Result<_, _>>()?;
    let (rank, epsilon) = (g.rank(x)?, n.float_or("epsilon", 1e-5));
    let training = n.flag("training_mode", false);
    let dtype = g.dtype(x)?;
    let is_plain = params.iter().all(|&param| g.dtype(param) == Ok(DType::F32));
    if rank == 4 && !training && dtype == DType::F32 && is_plain {
        let attrs = [
            ("epsilon", AttrArg::Float(epsilon)),
            ("data_format", AttrArg::Str("NCHW")),
            ("is_training", AttrArg::Bool(false)),
        ];
        let operands = [&[x], &params[..]].concat();
        return Ok(g.ops(Op::FusedBatchNormV3, &operands, &attrs, &[])?[..1].to_vec());
    }
    let wide = if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype };
    let images = g.cast(x, wide)?;
    let mut params: Vec<ValueId> =
        params.into_iter().map(|param| g.cast(param, wide)).collect::<Result<_, _>>()?;
    let mut running = Vec::new();
    if training {
        let axes: Vec<usize> = (0..rank).filter(|&axis| axis != 1).collect();
        let (mean, variance) = moments(g, images, &axes)?;
        let momentum = f64::from(n.float_or("momentum", 0.9));
        for (i, batch) in [(2, mean), (3, variance)] {
            let batch = g.reshape_to(batch, &[-1])?;
            let (old, new) = (g.times(params[i], momentum)?, g.times(batch, 1.0 - momentum)?);
            running.push(g.add(old, new)?);
            params[i] = batch;
        }
    }
    let params: Vec<ValueId> =
        params.into_iter().map(|param| of_channels(g, param, rank)).collect::<Result<_, _>>()?;
    let (normal, _) = standardized(g, images, params[2], params[3], epsilon)?;
    let y = scaled(g, normal, params[0], Some(params[1]))?;
    let mut outputs = vec![g.cast(y, dtype)?];
    outputs.extend(running);
    Ok(outputs)
}

/// `LayerNormalization`: computed in f32, or in the type of the input if that is wider.
pub(super) fn layer_norm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    layer_norm_of(g, n, x, n.input(1)?, n.optional(2), n.int_or("axis", -1))
}

pub(super) fn layer_norm_of(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    x: ValueId,
    scale: ValueId,
    bias: Option<ValueId>,
    axis: i64,
) -> Lowered {
    let rank = g.rank(x)?;
    let axes: Vec<usize> = (axis_of(axis, rank)?..rank).collect();
    let dtype = g.dtype(x)?;
    let wide = if dtype == DType::F64 { dtype } else { DType::F32 };
    let images = g.cast(x, wide)?;
    let (mean, variance) = moments(g, images, &axes)?;
    let (normal, factor) = standardized(g, images, mean, variance, n.float_or("epsilon", 1e-5))?;
    let normal = g.cast(normal, dtype)?;
    Ok(vec![scaled(g, normal, scale, bias)?, mean, factor])
}

/// `SkipLayerNormalization` of com.microsoft: the normalization of a sum, which is the last output.
pub(super) fn skip_layer_norm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let is_simplified = n.proto.op_type.starts_with("SkipSimplified");
    let mut x = g.add(n.input(0)?, n.input(1)?)?;
    if let Some(bias) = n.optional(if is_simplified { 3 } else { 4 }) {
        x = g.add(x, bias)?;
    }
    if is_simplified {
        let y = rms_of(g, n, x, n.input(2)?, -1)?;
        return Ok(vec![y, y, y, x]);
    }
    let mut outputs = layer_norm_of(g, n, x, n.input(2)?, n.optional(3), -1)?;
    outputs.push(x);
    Ok(outputs)
}

fn rms_of(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    x: ValueId,
    scale: ValueId,
    axis: i64,
) -> Result<ValueId, Why> {
    let rank = g.rank(x)?;
    let axes: Vec<usize> = (axis_of(axis, rank)?..rank).collect();
    let dtype = g.dtype(x)?;
    let wide = if dtype == DType::F64 { dtype } else { DType::F32 };
    let images = g.cast(x, wide)?;
    let squares = g.one(Op::Square, &[images])?;
    let mean = g.reduce(Op::Mean, squares, &axes, true)?;
    let shifted = g.plus(mean, f64::from(n.float_or("epsilon", 1e-5)))?;
    let factor = g.one(Op::Rsqrt, &[shifted])?;
    let normal = g.mul(images, factor)?;
    let normal = g.cast_like(normal, scale)?;
    g.mul(normal, scale)
}

/// `RMSNormalization`, and `SimplifiedLayerNormalization` of com.microsoft.
pub(super) fn rms_norm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(rms_of(g, n, n.input(0)?, n.input(1)?, n.int_or("axis", -1)))
}

/// Normalization of each sample over the elements of a group of channels.
fn by_groups(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, groups: Option<i64>) -> Result<ValueId, Why> {
    let x = n.input(0)?;
    let sizes = g.sizes(x)?;
    let (&[batch, channels, ref inner @ ..], Ok(dtype)) = (&sizes[..], g.dtype(x)) else {
        return Err("its input has no channels".into());
    };
    let groups = groups.map_or(channels, DimSize::Known);
    let wide = if dtype == DType::F64 { dtype } else { DType::F32 };
    let images = g.cast(x, wide)?;
    let parts = g.reshape(images, &[batch, groups, DimSize::Known(-1)])?;
    let (mean, variance) = moments(g, parts, &[2])?;
    let (normal, _) = standardized(g, parts, mean, variance, n.float_or("epsilon", 1e-5))?;
    let (scale, bias) = (n.input(1)?, n.input(2)?);
    let per_group =
        DimSize::Known(g.dims(scale)?.first().copied().unwrap_or(-1)) == groups && groups != channels;
    let whole: Vec<DimSize> = [&[batch, channels], inner].concat();
    let normal = g.cast(normal, dtype)?;
    if per_group {
        // Before version 21 the factors are those of the groups.
        let (scale, bias) = (g.expand_behind(scale, 2)?, g.expand_behind(bias, 2)?);
        let y = scaled(g, normal, scale, Some(bias))?;
        return g.reshape(y, &whole);
    }
    let normal = g.reshape(normal, &whole)?;
    let (scale, bias) = (of_channels(g, scale, whole.len())?, of_channels(g, bias, whole.len())?);
    scaled(g, normal, scale, Some(bias))
}

pub(super) fn group_norm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(by_groups(g, n, Some(n.int("num_groups").ok_or("it has no num_groups")?)))
}

pub(super) fn instance_norm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(by_groups(g, n, None))
}

pub(super) fn mean_variance(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let rank = g.rank(x)?;
    let axes = n.ints("axes").unwrap_or(&[0, 2, 3]);
    let axes: Vec<usize> = axes.iter().map(|&axis| axis_of(axis, rank)).collect::<Result<_, _>>()?;
    let (mean, variance) = moments(g, x, &axes)?;
    let deviation = g.one(Op::Sqrt, &[variance])?;
    let deviation = g.plus(deviation, 1e-9)?;
    let centred = g.sub(x, mean)?;
    one(g.div(centred, deviation))
}

pub(super) fn lp_norm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let axis = axis_of(n.int_or("axis", -1), g.rank(x)?)?;
    let is_first = n.int_or("p", 2) == 1;
    let parts = g.one(if is_first { Op::Abs } else { Op::Square }, &[x])?;
    let sum = g.reduce(Op::Sum, parts, &[axis], true)?;
    let norm = if is_first { sum } else { g.one(Op::Sqrt, &[sum])? };
    one(g.one(Op::DivNoNan, &[x, norm]))
}

/// `LRN` over a window of channels. A window of even size has one more channel after than before its centre.
pub(super) fn lrn(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    const MAX_WINDOW: i64 = 1 << 10;
    let size = n.int_or("size", 1).clamp(1, MAX_WINDOW);
    let alpha = n.float_or("alpha", 1e-4) / size as f32;
    let (beta, bias) = (n.float_or("beta", 0.75), n.float_or("bias", 1.0));
    if g.rank(x)? == 4 && size % 2 == 1 {
        let last = g.transpose(x, &[0, 2, 3, 1])?;
        let attrs = [
            ("depth_radius", AttrArg::Int((size - 1) / 2)),
            ("alpha", AttrArg::Float(alpha)),
            ("beta", AttrArg::Float(beta)),
            ("bias", AttrArg::Float(bias)),
        ];
        let y = g.op(Op::LRN, &[last], &attrs)?;
        return one(g.transpose(y, &[0, 3, 1, 2]));
    }
    let channels =
        g.dims(x)?.get(1).copied().filter(|&n| n >= 0).ok_or("the number of its channels is not known")?;
    let squares = g.one(Op::Square, &[x])?;
    // There is an axis of channels.
    let mut pads = vec![(0, 0); g.rank(x)?];
    pads[1] = ((size - 1) / 2, size - 1 - (size - 1) / 2);
    let zero = g.scalar_like(0.0, x)?;
    let squares = g.pad(squares, &pads, zero)?;
    let mut sum = g.slice(squares, 1, 0, Some(channels))?;
    for from in 1..size {
        let next = g.slice(squares, 1, from, Some(from.saturating_add(channels)))?;
        sum = g.add(sum, next)?;
    }
    let base = g.times(sum, f64::from(alpha))?;
    let base = g.plus(base, f64::from(bias))?;
    let power = g.scalar_like(f64::from(beta), x)?;
    let power = g.one(Op::Pow, &[base, power])?;
    one(g.div(x, power))
}

/// Applies `act` along the axis of a softmax; before version 13, along this axis and all after it.
fn along(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    act: impl FnOnce(&mut OnnxImporter<'_>, ValueId) -> Result<ValueId, Why>,
) -> Lowered {
    let x = n.input(0)?;
    if n.version < 13 {
        let sizes = g.sizes(x)?;
        let flat = flat_at(g, x, n.int_or("axis", 1))?;
        let y = act(g, flat)?;
        return one(g.reshape(y, &sizes));
    }
    let rank = g.rank(x)?;
    let axis = axis_of(n.int_or("axis", -1), rank)?; // so the rank is not 0
    let last = g.move_axis(x, axis, rank - 1)?;
    let y = act(g, last)?;
    one(g.move_axis(y, rank - 1, axis))
}

pub(super) fn softmax(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    along(g, n, |g, x| g.one(Op::Softmax, &[x]))
}

pub(super) fn log_softmax(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    along(g, n, |g, x| g.one(Op::LogSoftmax, &[x]))
}

pub(super) fn hardmax(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    along(g, n, |g, x| {
        let axis = g.int(-1)?;
        let found = g.to(Op::ArgMax, &[x, axis], &[], DType::I64)?;
        let last = g.rank(x)?.saturating_sub(1);
        let depth = g.size(x, last)?;
        let depth = g.size_value(depth)?;
        let depth = g.cast(depth, DType::I32)?;
        let (on, off) = (g.scalar_like(1.0, x)?, g.scalar_like(0.0, x)?);
        g.one(Op::OneHot, &[found, depth, on, off])
    })
}
