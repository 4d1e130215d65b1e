//! Quantization: integers that stand for `(q - zero_point) * scale`.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::convolution::{Windows, kernel_of};
use crate::import::onnx::emit::{AttrArg, DimSize, Lowered, Why, axis_of, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::import::onnx::tensor::number_type;
use crate::ir::ValueId;

/// The range of the numbers of 4 bits that these bytes are.
fn range_of_4_bits(dtype: DType) -> (f64, f64) {
    if dtype == DType::I8 { (-8.0, 7.0) } else { (0.0, 15.0) }
}

/// The range of an integer type.
fn range(dtype: DType) -> Result<(f64, f64), Why> {
    Ok(match dtype {
        DType::I8 => (-128.0, 127.0),
        DType::UI8 => (0.0, 255.0),
        DType::I16 => (-32768.0, 32767.0),
        DType::UI16 => (0.0, 65535.0),
        DType::I32 => (-2_147_483_648.0, 2_147_483_647.0),
        other => return Err(format!("quantization to {other} is not supported")),
    })
}

/// A scale or a zero point in the shape that broadcasts to `x`: one number, one per index of an axis, or one
/// per block of an axis.
fn spread(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, of: ValueId, x: ValueId) -> Result<ValueId, Why> {
    let (rank, of_rank) = (g.rank(x)?, g.rank(of)?);
    let block = n.int_or("block_size", 0);
    if of_rank == 0 || (of_rank == 1 && g.dims(of)? == [1] && block == 0) {
        return g.reshape_to(of, &[]);
    }
    let axis = axis_of(n.int_or("axis", 1), rank)?;
    if of_rank == 1 && rank != 1 || block == 0 {
        return g.expand_behind(of, rank - axis);
    }
    if of_rank != rank {
        return Err(format!("blocks of rank {of_rank} for a tensor of rank {rank}"));
    }
    blockwise(g, of, x, (axis, block))
}

/// Numbers of blocks of an axis of `x`, each repeated for its block; the last one may be cut.
pub(super) fn blockwise(
    g: &mut OnnxImporter<'_>,
    of: ValueId,
    x: ValueId,
    (axis, block): (usize, i64),
) -> Result<ValueId, Why> {
    let rank = g.rank(of)?;
    let mut sizes = g.sizes(of)?;
    let apart = g.expand(of, axis + 1)?;
    let mut repeats = vec![1; rank + 1];
    repeats[axis + 1] = block;
    let repeats = g.ints(&repeats)?;
    let repeated = g.one(Op::Tile, &[apart, repeats])?;
    sizes[axis] = g.size_product(&[sizes[axis], DimSize::Known(block)])?;
    let whole = g.reshape(repeated, &sizes)?;
    let size = g.size(x, axis)?;
    g.first(whole, axis, size)
}

/// `saturate(round(x) + zero_point)`.
fn saturated(g: &mut OnnxImporter<'_>, x: ValueId, zero_point: ValueId, to: DType) -> Result<ValueId, Why> {
    let has_4_bits = g.is_of_4_bits(zero_point);
    let rounded = g.one(Op::Round, &[x])?;
    let zero_point = g.cast_like(zero_point, rounded)?;
    let shifted = g.add(rounded, zero_point)?;
    let (low, high) = if has_4_bits { range_of_4_bits(to) } else { range(to)? };
    let (low, high) = (g.scalar_like(low, shifted)?, g.scalar_like(high, shifted)?);
    let over = g.one(Op::Maximum, &[shifted, low])?;
    let within = g.one(Op::Minimum, &[over, high])?;
    g.cast(within, to)
}

/// The operator `_QuantizeLinear` or `_DequantizeLinear` of a node, if that has no blocks, all numbers are
/// f32 and the integers have one of these types.
fn linear(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    op: Op,
    (integers, types): (DType, &[DType]),
) -> Result<Option<ValueId>, Why> {
    let (x, scale) = (n.input(0)?, n.input(1)?);
    let (number, is_f32) = (if op == Op::_QuantizeLinear { x } else { scale }, g.dtype(scale)? == DType::F32);
    let has_blocks = n.int_or("block_size", 0) != 0 || g.rank(scale)? > 1;
    let has_blocks = has_blocks || n.optional(2).is_some_and(|point| g.is_of_4_bits(point));
    if has_blocks || !is_f32 || g.dtype(number)? != DType::F32 || !types.contains(&integers) {
        return Ok(None);
    }
    let zero_point = match n.optional(2) {
        Some(zero_point) => zero_point,
        None => {
            let (zero, sizes) = (g.scalar(0.0, integers)?, g.sizes(scale)?);
            g.fill(&sizes, zero)?
        }
    };
    if g.rank(scale)? == 0 || g.dims(scale)? == [1] {
        // One number is a scalar.
        let (scale, zero_point) = (g.reshape_to(scale, &[])?, g.reshape_to(zero_point, &[])?);
        return g.one(op, &[x, scale, zero_point]).map(Some);
    }
    let axis = axis_of(n.int_or("axis", 1), g.rank(x)?)?;
    g.op(op, &[x, scale, zero_point], &[("axis", AttrArg::Int(axis as i64))]).map(Some)
}

pub(super) fn quantize_linear(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, scale) = (n.input(0)?, n.input(1)?);
    let zero_point = n.optional(2);
    let to = match (zero_point, n.int("output_dtype").filter(|&code| code != 0)) {
        (Some(zero_point), _) => g.dtype(zero_point)?,
        (None, Some(code)) => number_type(code)?,
        (None, None) => DType::UI8,
    };
    if let Some(y) = linear(g, n, Op::_QuantizeLinear, (to, &[DType::I8, DType::UI8]))? {
        return Ok(vec![y]);
    }
    let zero_point = match zero_point {
        Some(zero_point) => spread(g, n, zero_point, x)?,
        None => g.scalar(0.0, to)?,
    };
    let scale = spread(g, n, scale, x)?;
    let (x, scale) = (g.cast(x, DType::F32)?, g.cast(scale, DType::F32)?);
    let ratio = g.div(x, scale)?;
    one(saturated(g, ratio, zero_point, to))
}

/// `(x - zero_point) * scale`.
pub(super) fn dequantized(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    scale: ValueId,
    zero_point: Option<ValueId>,
) -> Result<ValueId, Why> {
    let mut wide = g.cast(x, DType::I32)?;
    if let Some(zero_point) = zero_point {
        let zero_point = g.cast(zero_point, DType::I32)?;
        wide = g.sub(wide, zero_point)?;
    }
    let number = g.cast_like(wide, scale)?;
    g.mul(number, scale)
}

pub(super) fn dequantize_linear(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let of = g.dtype(x)?;
    if let Some(y) = linear(g, n, Op::_DequantizeLinear, (of, &[DType::I8, DType::UI8, DType::I32]))? {
        return match n.int("output_dtype").filter(|&code| code != 0) {
            Some(code) => {
                let to = number_type(code)?;
                one(g.cast(y, to))
            }
            None => Ok(vec![y]),
        };
    }
    let scale = spread(g, n, n.input(1)?, x)?;
    let zero_point = n.optional(2).map(|zero_point| spread(g, n, zero_point, x)).transpose()?;
    let y = dequantized(g, x, scale, zero_point)?;
    one(match n.int("output_dtype").filter(|&code| code != 0) {
        Some(code) => {
            let to = number_type(code)?;
            g.cast(y, to)
        }
        None => Ok(y),
    })
}

pub(super) fn dynamic_quantize_linear(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    dynamically_quantized(g, n.input(0)?).map(Vec::from)
}

/// Bytes over the range of `x` and 0, their scale and their zero point.
pub(super) fn dynamically_quantized(g: &mut OnnxImporter<'_>, x: ValueId) -> Result<[ValueId; 3], Why> {
    let axes: Vec<usize> = (0..g.rank(x)?).collect();
    let (low, high) = (g.reduce(Op::Min, x, &axes, false)?, g.reduce(Op::Max, x, &axes, false)?);
    let zero = g.scalar_like(0.0, x)?;
    let (low, high) = (g.one(Op::Minimum, &[low, zero])?, g.one(Op::Maximum, &[high, zero])?);
    let extent = g.sub(high, low)?;
    let scale = g.scalar_like(255.0, x)?;
    let scale = g.div(extent, scale)?;
    let down = g.sub(zero, low)?;
    // Zeros only have scale 0 and zero point 0.
    let point = g.one(Op::DivNoNan, &[down, scale])?;
    let none = g.scalar(0.0, DType::UI8)?;
    let zero_point = saturated(g, point, none, DType::UI8)?;
    let ratio = g.one(Op::DivNoNan, &[x, scale])?;
    Ok([saturated(g, ratio, zero_point, DType::UI8)?, scale, zero_point])
}

fn zero_of(g: &mut OnnxImporter<'_>, given: Option<ValueId>, x: ValueId) -> Result<ValueId, Why> {
    given.map_or_else(|| g.scalar_like(0.0, x), Ok)
}

/// The exact products of integers without their zero points.
pub(super) fn multiplied(
    g: &mut OnnxImporter<'_>,
    a: ValueId,
    b: ValueId,
    a_zero: Option<ValueId>,
    b_zero: Option<ValueId>,
) -> Result<ValueId, Why> {
    let (a_zero, b_zero) = (zero_of(g, a_zero, a)?, zero_of(g, b_zero, b)?);
    g.one(Op::_QuantizedMatMul, &[a, b, a_zero, b_zero])
}

pub(super) fn matmul_integer(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(multiplied(g, n.input(0)?, n.input(1)?, n.optional(2), n.optional(3)))
}

/// A sum of products of integers as a quantized tensor.
fn requantized(
    g: &mut OnnxImporter<'_>,
    sum: ValueId,
    scales: [ValueId; 3],
    zero_point: ValueId,
) -> Result<ValueId, Why> {
    let [a, b, y] = scales;
    let (a, b, y) = (g.cast(a, DType::F32)?, g.cast(b, DType::F32)?, g.cast(y, DType::F32)?);
    let factor = g.mul(a, b)?;
    let factor = g.div(factor, y)?;
    let number = g.cast(sum, DType::F32)?;
    let number = g.mul(number, factor)?;
    let to = g.dtype(zero_point)?;
    saturated(g, number, zero_point, to)
}

pub(super) fn qlinear_matmul(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let i = |at| n.input(at);
    let sum = multiplied(g, i(0)?, i(3)?, Some(i(2)?), Some(i(5)?))?;
    let rows = i(1)?;
    // One scale per row.
    let rows = if g.rank(rows)? == 1 && g.dims(rows)? != [1] { g.expand(rows, 1)? } else { rows };
    one(requantized(g, sum, [rows, i(4)?, i(6)?], i(7)?))
}

fn convolved(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    x: ValueId,
    filters: ValueId,
    zeros: [Option<ValueId>; 2],
) -> Result<ValueId, Why> {
    let kernel = kernel_of(g, n, filters)?;
    let (of_x, of_filters) = (zero_of(g, zeros[0], x)?, zero_of(g, zeros[1], filters)?);
    let (mut x, mut windows) = (x, Windows::new(g, n, x, kernel)?);
    if windows.is_same {
        let with = g.reshape_to(of_x, &[])?;
        (x, windows) = windows.padded(g, x, with)?;
    }
    let pads = windows.flat_pads()?;
    let attrs = [
        ("strides", AttrArg::Ints(&windows.strides)),
        ("dilations", AttrArg::Ints(&windows.dilations)),
        ("pads", AttrArg::Ints(&pads)),
        ("group", AttrArg::Int(n.int_or("group", 1))),
    ];
    g.op(Op::_QuantizedConv, &[x, filters, of_x, of_filters], &attrs)
}

pub(super) fn conv_integer(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(convolved(g, n, n.input(0)?, n.input(1)?, [n.optional(2), n.optional(3)]))
}

pub(super) fn qlinear_conv(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let i = |at| n.input(at);
    let (mut x, rank) = (i(0)?, g.rank(i(0)?)?);
    let is_nhwc = n.flag("channels_last", false);
    if is_nhwc {
        x = g.move_axis(x, rank - 1, 1)?;
    }
    let mut sum = convolved(g, n, x, i(3)?, [Some(i(2)?), Some(i(5)?)])?;
    if let Some(bias) = n.optional(8) {
        let bias = g.expand_behind(bias, rank - 1)?;
        sum = g.add(sum, bias)?;
    }
    let scale = i(4)?;
    let scale = if g.rank(scale)? == 1 { g.expand_behind(scale, rank - 1)? } else { scale };
    let y = requantized(g, sum, [i(1)?, scale, i(6)?], i(7)?)?;
    one(if is_nhwc { g.move_axis(y, 1, rank - 1) } else { Ok(y) })
}

/// `QLinearAdd` and `QLinearMul` of com.microsoft.
pub(super) fn qlinear_binary(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let i = |at| n.input(at);
    let a = dequantized(g, i(0)?, i(1)?, n.optional(2))?;
    let b = dequantized(g, i(3)?, i(4)?, n.optional(5))?;
    let y = if n.proto.op_type == "QLinearAdd" { g.add(a, b)? } else { g.mul(a, b)? };
    one(quantized(g, y, i(6)?, n.optional(7), i(0)?))
}

/// `saturate(round(x / scale) + zero_point)`, with the element type of the zero point or of `like`.
pub(super) fn quantized(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    scale: ValueId,
    zero_point: Option<ValueId>,
    like: ValueId,
) -> Result<ValueId, Why> {
    let ratio = g.div(x, scale)?;
    let zero_point = zero_of(g, zero_point, like)?;
    let to = g.dtype(zero_point)?;
    saturated(g, ratio, zero_point, to)
}
