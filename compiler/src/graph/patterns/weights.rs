//! Operators next to a product with constant weights, merged into the weights or the attributes.
//!
//! ```text
//! Mul(Conv2D(x, w), c)                 ─▶ Conv2D(x, w*c)
//! Mul(BiasAdd(Conv2D(x, w), b), c)     ─▶ BiasAdd(Conv2D(x, w*c), b*c)
//! Mul(Reshape(MatMul(x, w)), c)        ─▶ Reshape(MatMul(x, w*c))        the same for Transpose
//! Mul(Einsum(x, w), c)                 ─▶ Einsum(x, w*c)
//! Conv2D(Pad(x), w) {VALID}            ─▶ Conv2D(x, w) {EXPLICIT}
//! MaxPool(Pad(Relu(x))) {VALID}        ─▶ MaxPool(Relu(x)) {EXPLICIT}
//! Conv2DBackpropInput(n, w, dy)        ─▶ Conv2D(dy, Transpose(ReverseV2(w)))          stride 1, w constant
//! ```
//!
//! `c` is a constant: one number, or one number per channel of the product. Every intermediate result must
//! have no other use. The products of constants are computed by constant folding.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::rule::{apply, is_float, operand_orders, patterns, permutation, replacement};
use crate::build::Builder;
use crate::build::query::{
    bytes_of, data_format, dims, dtype, flag, int_list, ints, is_used_once, n_elements, producer_if, shape,
};
use crate::dialects::tf::operator;
use crate::fold::constant_of;
use crate::ir::{DYNAMIC, Module, OpId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

/// A constant factor of a value.
#[derive(Clone, Copy)]
struct Factor {
    /// A scalar, or a vector with an element for each index of the axis.
    constant: ValueId,
    /// The axis along which the factor varies.
    axis: Option<usize>,
}

/// Limit on the bytes of weights that are copied because others use them unscaled.
const MAX_COPIED: usize = 100 << 10;

/// Limit on the operators between a factor and the product.
const MAX_DEPTH: usize = 8;

/// `Mul(x, c)` where x is a product with constant weights, perhaps followed by biases, reshapes and
/// transposes.
pub(super) fn scale_weights(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (x, c) = operand_orders(m, op)
        .into_iter()
        .find(|&(x, c)| constant_of(m, c).is_some() && constant_of(m, x).is_none())?;
    let (rank, factor_dims) = (shape(m, x)?.len(), dims(m, c)?.to_vec());
    if !is_float(m, x) || factor_dims.len() > rank || m.value_type(x) != m.value_type(m.result(op, 0)) {
        return None;
    }
    let mut wide = factor_dims.iter().enumerate().filter(|&(_, &n)| n != 1);
    let axis = match (wide.next(), wide.next()) {
        (None, _) => None,
        (Some((at, _)), None) => Some(at + rank - factor_dims.len()),
        _ => return None,
    };
    passing(m, x)?;
    let flat: Vec<i64> = if axis.is_some() { vec![factor_dims.iter().product()] } else { vec![] };
    let factor = Factor { constant: reshaped(b, c, &flat)?, axis };
    scaled(b, x, factor, MAX_DEPTH)
}

/// A constant in another shape.
fn reshaped(b: &mut Builder<'_, '_>, constant: ValueId, to: &[i64]) -> Option<ValueId> {
    if dims(b.ir(), constant)? == to {
        return Some(constant);
    }
    let to = b.ints(to, DType::I32).ok()?;
    b.one(Op::Reshape, &[constant, to]).ok()
}

/// The operators through which a factor can be moved, and the products.
const PASSING: [Op; 12] = [
    Op::BiasAdd,
    Op::Add,
    Op::AddV2,
    Op::Sub,
    Op::Reshape,
    Op::Transpose,
    Op::Conv2D,
    Op::DepthwiseConv2dNative,
    Op::MatMul,
    Op::BatchMatMul,
    Op::BatchMatMulV2,
    Op::Einsum,
];

/// The operator that makes `value`, if a factor along `axis` can be moved in front of it.
fn passing(m: &Module, value: ValueId) -> Option<(OpId, Op)> {
    let op = producer_if(m, value, &PASSING).filter(|_| is_used_once(m, value))?;
    Some((op, operator(m, op)?))
}

/// The position of the channels in an image of rank 4.
fn channels(m: &Module, op: OpId) -> usize {
    if data_format(m, op) == "NHWC" { 3 } else { 1 }
}

/// The axis of a reshape's operand that corresponds to an axis of its result: equally many elements stand
/// before it, and it has the same size.
fn axis_before_reshape(m: &Module, op: OpId, axis: usize) -> Option<usize> {
    let (to, from) = (shape(m, m.result(op, 0))?, shape(m, m.operand(op, 0))?);
    let inner = |dims: &[i64]| n_elements(dims).filter(|_| !dims.contains(&DYNAMIC));
    let after = inner(to.get(axis + 1..)?)?;
    let size = *to.get(axis)?;
    (0..from.len()).find(|&at| from[at] == size && size != DYNAMIC && inner(&from[at + 1..]) == Some(after))
}

/// The operand of a sum that is not constant, and the position of the one that is.
fn addend(m: &Module, op: OpId) -> Option<(ValueId, usize)> {
    let (x, y) = (m.operand(op, 0), m.operand(op, 1));
    match (constant_of(m, x), constant_of(m, y)) {
        (None, Some(_)) => Some((x, 1)),
        (Some(_), None) => Some((y, 0)),
        _ => None,
    }
}

/// Whether the weights of a product are a constant that is not too large to be copied if others use it too.
fn has_own_weights(m: &Module, op: OpId) -> bool {
    let weights = m.operand(op, 1);
    let is_small = || bytes_of(m, m.value_type(weights)).is_some_and(|bytes| bytes <= MAX_COPIED);
    constant_of(m, weights).is_some()
        && dims(m, weights).is_some()
        && (is_used_once(m, weights) || is_small())
}

/// `value` times a factor, by other weights of the product that it comes from, which is at most `depth`
/// operators away.
fn scaled(b: &mut Builder<'_, '_>, value: ValueId, factor: Factor, depth: usize) -> Option<ValueId> {
    let m = b.ir();
    let (op, kind) = passing(m, value)?;
    let depth = depth.checked_sub(1)?;
    let Factor { constant, axis } = factor;
    let x = m.operand(op, 0);
    match kind {
        Op::BiasAdd => {
            let (bias, format) = (m.operand(op, 1), m.attr_named(op, "data_format"));
            let is_along = |axis: usize| match data_format(m, op) {
                "NHWC" => shape(m, value).is_some_and(|shape| axis + 1 == shape.len()),
                _ => axis == 1,
            };
            if constant_of(m, bias).is_none() || !axis.is_none_or(is_along) {
                return None;
            }
            let x = scaled(b, x, factor, depth)?;
            let bias = b.one(Op::Mul, &[bias, constant]).ok()?;
            b.op(Op::BiasAdd, &[x, bias]).maybe_attr("data_format", format).like(value).one().ok()
        }
        Op::Add | Op::AddV2 | Op::Sub => {
            let (x, other) = addend(m, op)?;
            let (rank, addend) = (shape(m, x)?.len(), m.operand(op, other));
            if m.value_type(x) != m.value_type(value) || dims(m, addend)?.len() > rank {
                return None;
            }
            // The addend may lack the leading axes.
            let aligned = match axis {
                Some(axis) => {
                    let mut to = vec![1; rank - axis];
                    to[0] = dims(m, constant)?.iter().product();
                    reshaped(b, constant, &to)?
                }
                None => constant,
            };
            let x = scaled(b, x, factor, depth)?;
            let addend = b.one(Op::Mul, &[addend, aligned]).ok()?;
            let operands = if other == 1 { [x, addend] } else { [addend, x] };
            replacement(b, op, kind, &operands)
        }
        Op::Reshape | Op::Transpose => {
            let inner = match (axis, kind) {
                (None, _) => None,
                (Some(axis), Op::Reshape) => Some(axis_before_reshape(m, op, axis)?),
                (Some(axis), _) => Some(*permutation(m, m.operand(op, 1))?.get(axis)? as usize),
            };
            let to = m.operand(op, 1);
            let x = scaled(b, x, Factor { constant, axis: inner }, depth)?;
            replacement(b, op, kind, &[x, to])
        }
        _ => {
            let fits = kind != Op::MatMul || shape(m, value)?.len() == 2;
            if !fits || m.n_operands(op) != 2 || !has_own_weights(m, op) {
                return None;
            }
            let (weights, rank) = (m.operand(op, 1), shape(m, value)?.len());
            let spread = match axis {
                None => constant,
                Some(axis) => along_weights(b, (op, kind), constant, (axis, rank))?,
            };
            let weights = b.one(Op::Mul, &[weights, spread]).ok()?;
            b.op(kind, &[x, weights]).attrs_of(op, |_| true).like(value).one().ok()
        }
    }
}

/// The factors along an axis of a product, of this rank, in a shape in which they multiply its weights.
fn along_weights(
    b: &mut Builder<'_, '_>,
    (op, kind): (OpId, Op),
    factors: ValueId,
    (axis, rank): (usize, usize),
) -> Option<ValueId> {
    let m = b.ir();
    let weights = dims(m, m.operand(op, 1))?.to_vec();
    let own_axis = match kind {
        Op::Conv2D | Op::DepthwiseConv2dNative => channels(m, op),
        Op::Einsum => axis,
        _ => rank - 1,
    };
    let is_transposed = flag(m, op, "transpose_b") || flag(m, op, "adj_y");
    match kind {
        _ if axis != own_axis => None,
        Op::DepthwiseConv2dNative => reshaped(b, factors, weights.get(2..)?),
        Op::Einsum => {
            let at = axis_of_weights(m, op, axis)?;
            let mut to = vec![1; weights.len().checked_sub(at)?];
            *to.first_mut()? = weights[at];
            reshaped(b, factors, &to)
        }
        _ if is_transposed => reshaped(b, factors, &[*weights.get(weights.len().checked_sub(2)?)?, 1]),
        _ => Some(factors),
    }
}

/// The axis of an einsum's right operand that an axis of its result is, if the left one lacks it.
fn axis_of_weights(m: &Module, op: OpId, axis: usize) -> Option<usize> {
    let equation = m.attr_named(op, "equation").and_then(|attr| m.cx.as_str(attr))?;
    let (operands, result) = equation.split_once("->").filter(|_| !equation.contains('.'))?;
    let (left, right) = operands.split_once(',')?;
    let label = result.trim().chars().nth(axis).filter(|&label| !left.contains(label))?;
    right.trim().chars().position(|other| other == label)
}

/// The patterns that take a `Pad` of an image into its user.
pub(super) fn pads(operator: Op) -> &'static [Pattern] {
    match operator {
        Op::MaxPool => patterns! { "tf-pad-of-max-pool" 8 pad_of_max_pool; },
        _ => patterns! { "tf-pad-of-convolution" 8 pad_of_convolution; },
    }
}

/// A convolution of a padded image, without the copy that `Pad` makes.
fn pad_of_convolution(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let (image, pads) = padded_image(b.ir(), op)?;
    let (operands, kind) = ([image, b.ir().operand(op, 1)], operator(b.ir(), op)?);
    with_pads(b, (op, kind), &operands, &pads)
}

/// The same for the maximum of an image without negative numbers: a zero changes no maximum, as long as each
/// window has a pixel.
fn pad_of_max_pool(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (image, pads) = padded_image(m, op)?;
    producer_if(m, image, &[Op::Relu, Op::Relu6])?;
    let sizes = int_list(m, op, "ksize")?;
    let has_pixel = |(pads, size): (&[i64], i64)| pads.iter().all(|&pad| pad < size);
    if sizes.len() != 4 || !pads.chunks(2).zip(sizes).all(has_pixel) {
        return None;
    }
    with_pads(b, (op, Op::MaxPool), &[image], &pads)
}

/// The image before a `Pad` of its height and width which only this op uses, and the paddings.
fn padded_image(m: &Module, op: OpId) -> Option<(ValueId, Vec<i64>)> {
    let pad = producer_if(m, m.operand(op, 0), &[Op::Pad]).filter(|_| is_used_once(m, m.operand(op, 0)))?;
    let pads = ints(m, m.operand(pad, 1)).filter(|pads| pads.len() == 8)?;
    let is_valid = m.attr_named(op, "padding").and_then(|attr| m.cx.as_str(attr)) == Some("VALID");
    let others = if channels(m, op) == 3 { [0, 1, 6, 7] } else { [0, 1, 2, 3] };
    let is_f32 = dtype(m, m.operand(op, 0)) == Some(DType::F32);
    if !is_valid || !is_f32 || others.iter().any(|&at| pads[at] != 0) || pads.iter().any(|&n| n < 0) {
        return None;
    }
    Some((m.operand(pad, 0), pads))
}

/// The op, of this kind, with paddings of its own.
fn with_pads(
    b: &mut Builder<'_, '_>,
    (op, kind): (OpId, Op),
    operands: &[ValueId],
    pads: &[i64],
) -> Option<ValueId> {
    let result = b.ir().result(op, 0);
    let explicit = b.cx().str_attr("EXPLICIT");
    b.op(kind, operands)
        .attrs_of(op, |name| !matches!(name, "padding" | "explicit_paddings"))
        .attr("padding", explicit)
        .ints("explicit_paddings", pads)
        .like(result)
        .one()
        .ok()
}

/// A transposed convolution with constant filters and stride 1 as the convolution that it is, so that its
/// filters are packed ahead of time, or transformed for Winograd's algorithm.
pub(super) fn transposed_convolution(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (filters, dy) = (m.operand(op, 1), m.operand(op, 2));
    let &[height, width, from, to] = dims(m, filters)? else { return None };
    let rows = if channels(m, op) == 3 { 1 } else { 2 };
    let list = |name| int_list(m, op, name).filter(|list| list.len() == 4);
    let (strides, given) = (list("strides")?, dims(m, dy)?);
    let dilations = list("dilations").unwrap_or_else(|| vec![1; 4]);
    let result_dims = dims(m, m.result(op, 0))?;
    let is_plain = given.get(channels(m, op)) == Some(&to) && result_dims.get(channels(m, op)) == Some(&from);
    if constant_of(m, filters).is_none() || !is_float(m, dy) || !is_plain || strides != [1; 4] {
        return None;
    }
    let forward = match m.attr_named(op, "padding").and_then(|attr| m.cx.as_str(attr))? {
        "SAME" => None,
        "VALID" => Some(vec![0; 8]),
        _ => Some(int_list(m, op, "explicit_paddings").filter(|pads| pads.len() == 8)?),
    };
    let mut pads = [0; 8];
    for (size, axis) in [height, width].into_iter().zip(rows..) {
        let reach = (size - 1).checked_mul(dilations[axis])?;
        let (before, after) = match &forward {
            Some(pads) => (pads[2 * axis], pads[2 * axis + 1]),
            None => (reach / 2, reach - reach / 2),
        };
        let (first, last) = (reach.checked_sub(before)?, reach.checked_sub(after)?);
        let (&from, &to) = (given.get(axis)?, result_dims.get(axis)?);
        // The sizes are those of the convolution's images.
        let fits = from.checked_add(reach)?.checked_sub(before.checked_add(after)?) == Some(to);
        if from == DYNAMIC || !fits || first < 0 || last < 0 {
            return None;
        }
        (pads[2 * axis], pads[2 * axis + 1]) = (first, last);
    }
    let axes = b.ints(&[0, 1], DType::I32).ok()?;
    let filters = b.one(Op::ReverseV2, &[filters, axes]).ok()?;
    let order = b.ints(&[0, 1, 3, 2], DType::I32).ok()?;
    let filters = b.one(Op::Transpose, &[filters, order]).ok()?;
    with_pads(b, (op, Op::Conv2D), &[dy, filters], &pads)
}
