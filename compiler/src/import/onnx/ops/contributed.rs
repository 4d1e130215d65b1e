//! Operators that ONNX Runtime's optimizer and quantizer write (`com.microsoft`).
//!
//! ```text
//! FusedConv, FusedGemm       the standard operator, then an activation
//! QLinear*, QGemm            dequantize, the standard operator, quantize
//! MatMulNBits                a product with weights of 4 or 8 bits, which are dequantized
//! GatherBlockQuantized       rows of a table of 4 or 8 bits, which are dequantized
//! EmbedLayerNormalization    the sum of embeddings, normalized
//! ```
//!
//! Those of attention, and those that are versions of standard operators, are beside these.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};

use super::convolution::{conv, pool_of};
use super::elementwise::hard_sigmoid_of;
use super::indexing::{gemm, product};
use super::norm::layer_norm_of;
use super::quantize::{blockwise, dequantized, dynamically_quantized, multiplied, quantized};
use crate::import::onnx::emit::{AttrArg, Lowered, Why, axis_of, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::ir::ValueId;

/// The activation that a node names, with its parameters.
fn activated(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    x: ValueId,
    parameters: &[f32],
) -> Result<ValueId, Why> {
    let parameter = |i: usize, default: f32| parameters.get(i).copied().unwrap_or(default);
    match n.word("activation", "")? {
        "" => Ok(x),
        "Relu" => g.one(Op::Relu, &[x]),
        "Sigmoid" => g.one(Op::Sigmoid, &[x]),
        "Tanh" => g.one(Op::Tanh, &[x]),
        "LeakyRelu" => g.op(Op::LeakyRelu, &[x], &[("alpha", AttrArg::Float(parameter(0, 0.01)))]),
        "Clip" => {
            let (low, high) = (parameter(0, f32::MIN), parameter(1, f32::MAX));
            let (low, high) = (g.scalar_like(low.into(), x)?, g.scalar_like(high.into(), x)?);
            let over = g.one(Op::Maximum, &[x, low])?;
            g.one(Op::Minimum, &[over, high])
        }
        "HardSigmoid" => hard_sigmoid_of(g, x, parameter(0, 0.2).into(), parameter(1, 0.5).into()),
        other => Err(format!("the activation '{other}' is not supported")),
    }
}

/// The value of an operator that has one.
fn only(values: Lowered) -> Result<ValueId, Why> {
    values?.first().copied().ok_or_else(|| "it has no value".to_owned())
}

pub(super) fn fused_conv(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let mut y = only(conv(g, n))?;
    if let Some(more) = n.optional(3) {
        y = g.add(y, more)?;
    }
    one(activated(g, n, y, n.floats("activation_params")))
}

pub(super) fn fused_gemm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let y = only(gemm(g, n))?;
    let given = ["activation_alpha", "activation_beta", "activation_gamma"].map(|name| n.float(name));
    let parameters: Vec<f32> = given.into_iter().map_while(|parameter| parameter).collect();
    one(activated(g, n, y, &parameters))
}

/// `QLinearSigmoid`, `QLinearLeakyRelu`, `QLinearSoftmax`, and pooling: one operand with its scale and zero
/// point, then those of the result.
pub(super) fn qlinear_unary(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let q = n.input(0)?;
    let x = dequantized(g, q, n.input(1)?, n.optional(2))?;
    if n.flag("channels_last", false) {
        return Err("images NHWC are not supported".into());
    }
    let y = match n.proto.op_type.as_str() {
        "QLinearSigmoid" => g.one(Op::Sigmoid, &[x])?,
        "QLinearLeakyRelu" => {
            g.op(Op::LeakyRelu, &[x], &[("alpha", AttrArg::Float(n.float_or("alpha", 0.01)))])?
        }
        "QLinearSoftmax" => {
            let rank = g.rank(x)?;
            let (axis, last) = (axis_of(n.int_or("axis", -1), rank)?, rank - 1);
            if axis != last && n.int_or("opset", 13) < 13 {
                return Err("the softmax along several axes is not supported".into());
            }
            let moved = g.move_axis(x, axis, last)?;
            let y = g.one(Op::Softmax, &[moved])?;
            g.move_axis(y, last, axis)?
        }
        "QLinearGlobalAveragePool" => {
            let axes: Vec<usize> = (2..g.rank(x)?).collect();
            g.reduce(Op::Mean, x, &axes, true)?
        }
        _ => only(pool_of(g, n, x))?,
    };
    one(quantized(g, y, n.input(3)?, n.optional(4), q))
}

/// `QLinearConcat`: scale and zero point of the result, then three operands for each part.
pub(super) fn qlinear_concat(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let mut parts = Vec::new();
    for at in (2..n.inputs.len()).step_by(3) {
        parts.push(dequantized(g, n.input(at)?, n.input(at + 1)?, n.optional(at + 2))?);
    }
    let first = *parts.first().ok_or("it has no parts")?;
    let axis = axis_of(n.int_or("axis", 0), g.rank(first)?)?;
    let y = g.concat(&parts, axis)?;
    one(quantized(g, y, n.input(0)?, n.optional(1), n.input(2)?))
}

/// `QGemm`, whose bias has the scale of the product. Without a scale of the result, it is f32.
pub(super) fn qgemm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (mut a, mut b, mut b_scale, mut b_zero) = (n.input(0)?, n.input(3)?, n.input(4)?, n.optional(5));
    if n.flag("transA", false) {
        a = g.transpose(a, &[1, 0])?;
    }
    if n.flag("transB", false) {
        b = g.transpose(b, &[1, 0])?;
    }
    for of_columns in [Some(&mut b_scale), b_zero.as_mut()].into_iter().flatten() {
        if g.dims(*of_columns)? == [1] {
            *of_columns = g.reshape_to(*of_columns, &[])?;
        }
    }
    let mut sum = multiplied(g, a, b, n.optional(2), b_zero)?;
    if let Some(bias) = n.optional(6) {
        sum = g.add(sum, bias)?;
    }
    let scale = g.mul(n.input(1)?, b_scale)?;
    let scale = g.times(scale, n.float_or("alpha", 1.0).into())?;
    let numbers = g.cast(sum, DType::F32)?;
    let y = g.mul(numbers, scale)?;
    match n.optional(7) {
        Some(scale) => one(quantized(g, y, scale, n.optional(8), n.input(0)?)),
        None => one(Ok(y)),
    }
}

/// A product of bytes as f32, with a bias.
pub(super) fn scaled_product(
    g: &mut OnnxImporter<'_>,
    [a, a_scale, b, b_scale]: [ValueId; 4],
    [a_zero, b_zero, bias]: [Option<ValueId>; 3],
) -> Result<ValueId, Why> {
    let sum = multiplied(g, a, b, a_zero, b_zero)?;
    let (numbers, scale) = (g.cast(sum, DType::F32)?, g.mul(a_scale, b_scale)?);
    let y = g.mul(numbers, scale)?;
    bias.map_or(Ok(y), |bias| g.add(y, bias))
}

pub(super) fn dynamic_quantize_matmul(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let [a, a_scale, a_zero] = dynamically_quantized(g, n.input(0)?)?;
    let operands = [a, a_scale, n.input(1)?, n.input(2)?];
    one(scaled_product(g, operands, [Some(a_zero), n.optional(3), n.optional(4)]))
}

pub(super) fn matmul_integer_to_float(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let operands = [n.input(0)?, n.input(2)?, n.input(1)?, n.input(3)?];
    one(scaled_product(g, operands, [n.optional(4), n.optional(5), n.optional(6)]))
}

/// Numbers of 4 or 8 bits in bytes along the last axis, as f32.
fn unpacked(g: &mut OnnxImporter<'_>, bytes: ValueId, bits: i64, dims: &[i64]) -> Result<ValueId, Why> {
    let mut numbers = bytes;
    if bits == 4 {
        let (mask, four) = (g.scalar_like(15.0, bytes)?, g.scalar_like(4.0, bytes)?);
        let low = g.one(Op::BitwiseAnd, &[bytes, mask])?;
        let high = g.one(Op::RightShift, &[bytes, four])?;
        numbers = g.op(Op::Pack, &[low, high], &[("axis", AttrArg::Int(-1))])?;
    }
    let numbers = g.reshape_to(numbers, dims)?;
    g.cast(numbers, DType::F32)
}

/// `MatMulNBits`: the weights are (columns, blocks, bytes of a block), the lower half of a byte first.
pub(super) fn matmul_n_bits(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (rows, columns, block) = (n.int_or("K", 0), n.int_or("N", 0), n.int_or("block_size", 0));
    let bits = n.int_or("bits", 4);
    if rows < 1 || columns < 1 || block < 1 || ![4, 8].contains(&bits) || n.optional(4).is_some() {
        return Err(format!("K {rows}, N {columns}, blocks of {block}, {bits} bits, or reordered groups"));
    }
    let blocks = rows.div_euclid(block) + i64::from(rows % block != 0);
    let numbers = unpacked(g, n.input(1)?, bits, &[columns, blocks, -1])?;
    let scales = g.reshape_to(n.input(2)?, &[columns, blocks, 1])?;
    let zero = match n.optional(3) {
        None => g.scalar(f64::from(1 << (bits - 1)), DType::F32)?,
        Some(zero) if g.is_float(zero) => g.reshape_to(zero, &[columns, blocks, 1])?,
        Some(zero) => {
            let padded = g.reshape_to(zero, &[columns, -1])?;
            let points = unpacked(g, padded, bits, &[columns, -1])?;
            let points = g.slice(points, 1, 0, Some(blocks))?;
            g.expand(points, 2)?
        }
    };
    let shifted = g.sub(numbers, zero)?;
    let scales = g.cast(scales, DType::F32)?;
    let weights = g.mul(shifted, scales)?;
    let weights = g.reshape_to(weights, &[columns, -1])?;
    let weights = g.slice(weights, 1, 0, Some(rows))?;
    let weights = g.transpose(weights, &[1, 0])?;
    let x = n.input(0)?;
    let weights = g.cast_like(weights, x)?;
    let y = product(g, x, weights)?;
    one(n.optional(5).map_or(Ok(y), |bias| g.add(y, bias)))
}

/// `GatherBlockQuantized`: rows of a table whose blocks along another axis are quantized. The table has
/// bytes, or numbers of 4 bits.
pub(super) fn gather_block_quantized(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (table, indices, scales) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let rank = g.rank(table)?;
    let axis = axis_of(n.int_or("quantize_axis", 1), rank)?;
    let (block, bits) = (n.int_or("block_size", 128), n.int_or("bits", 4));
    let is_packed = bits == 4 && g.dtype(table)? == DType::UI8 && !g.is_of_4_bits(table);
    let is_plain = n.int_or("gather_axis", 0) == 0 && axis + 1 == rank && axis > 0 && block > 0;
    if !is_plain || is_packed {
        let why = "it gathers along another axis than the first, has blocks along another than the last, or bytes of two numbers";
        return Err(why.into());
    }
    let numbers = g.gather(table, indices, 0)?;
    let scales = g.gather(scales, indices, 0)?;
    let points = n.optional(3).map(|points| g.gather(points, indices, 0)).transpose()?;
    let points = match points {
        None if g.dtype(table)? == DType::UI8 => Some(g.scalar(f64::from(1 << (bits - 1)), DType::UI8)?),
        points => points,
    };
    let last = g.rank(numbers)? - 1;
    let scales = blockwise(g, scales, numbers, (last, block))?;
    let points = match points {
        Some(points) if g.rank(points)? > 0 => Some(blockwise(g, points, numbers, (last, block))?),
        points => points,
    };
    one(dequantized(g, numbers, scales, points))
}

/// `EmbedLayerNormalization`: of words, positions and segments.
pub(super) fn embed_layer_norm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let words = n.input(0)?;
    let mut sum = g.gather(n.input(2)?, words, 0)?;
    let positions = match n.optional(8) {
        Some(positions) => positions,
        None => {
            let length = g.size(words, 1)?;
            g.iota(length)?
        }
    };
    let of_positions = g.gather(n.input(3)?, positions, 0)?;
    sum = g.add(sum, of_positions)?;
    if let (Some(segments), Some(table)) = (n.optional(1), n.optional(4)) {
        let of_segments = g.gather(table, segments, 0)?;
        sum = g.add(sum, of_segments)?;
    }
    let scale = n.input(5)?;
    let normal = only(layer_norm_of(g, n, sum, scale, n.optional(6), -1))?;
    let lengths = match n.optional(7) {
        Some(mask) => g.reduce(Op::Sum, mask, &[1], false)?,
        None => {
            let (batch, zero) = (g.size(words, 0)?, g.scalar(0.0, DType::I32)?);
            g.fill(&[batch], zero)?
        }
    };
    Ok(vec![normal, lengths, sum])
}

/// `QLinearWhere`.
pub(super) fn qlinear_where(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = dequantized(g, n.input(1)?, n.input(2)?, n.optional(3))?;
    let y = dequantized(g, n.input(4)?, n.input(5)?, n.optional(6))?;
    let picked = g.one(Op::SelectV2, &[n.input(0)?, x, y])?;
    one(quantized(g, picked, n.input(7)?, n.optional(8), n.input(1)?))
}

pub(super) fn expand_dims(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let at = g.reshape_to(n.input(1)?, &[])?;
    one(g.one(Op::ExpandDims, &[n.input(0)?, at]))
}

pub(super) fn inverse(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(g.one(Op::MatrixInverse, &[n.input(0)?]))
}

/// `Unique` of com.microsoft: the values in the order of the first ones, their positions and their counts.
pub(super) fn unique(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = g.reshape_to(n.input(0)?, &[-1])?;
    let index = [("out_idx", AttrArg::Type(Type::Dense(DType::I64)))];
    g.ops(Op::UniqueWithCounts, &[x], &index, &[])
}

/// `CDist`: the distance of each row from each other row.
pub(super) fn distances(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (a, b) = (g.expand(n.input(0)?, 1)?, g.expand(n.input(1)?, 0)?);
    let difference = g.sub(a, b)?;
    let square = g.one(Op::Square, &[difference])?;
    let sum = g.reduce(Op::Sum, square, &[2], false)?;
    one(match n.word("metric", "sqeuclidean")? {
        "sqeuclidean" => Ok(sum),
        "euclidean" => g.one(Op::Sqrt, &[sum]),
        other => Err(format!("the metric '{other}' is not supported")),
    })
}
