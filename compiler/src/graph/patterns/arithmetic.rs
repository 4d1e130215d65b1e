//! Algebraic simplifications.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Attrs, Class, Op};

use super::rule::{apply, is_float, patterns, replacement};
use super::weights::{pads, scale_weights, transposed_convolution};
use crate::build::Builder;
use crate::build::query::{dims, dtype, flag, ints, is_used_once, n_elements, producer_if, splat};
use crate::build::sizes::same_type;
use crate::dialects::tf::{self, operator};
use crate::fold::constant_of;
use crate::ir::{Module, OpId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

/// The patterns of an operator.
pub(super) fn of(operator: Op) -> &'static [Pattern] {
    match operator {
        Op::Neg | Op::Reciprocal | Op::Inv | Op::LogicalNot | Op::Invert | Op::Conj => patterns! {
            "tf-involution" 9 involution;
            "tf-negate-comparison" 8 negate_comparison;
        },
        Op::Add | Op::AddV2 => patterns! {
            "tf-sum-of-same" 9 sum_of_same;
            "tf-add-negated" 8 add_negated;
            "tf-common-factor" 7 common_factor;
            "tf-minimize-broadcasts" 5 minimize_broadcasts;
        },
        Op::AddN => patterns! {
            "tf-sum-of-same" 9 sum_of_same;
            "tf-common-factor" 7 common_factor;
        },
        Op::Sub => patterns! {
            "tf-sub-negated" 8 sub_negated;
        },
        Op::Mul => patterns! {
            "tf-square" 8 square;
            "tf-scale-weights" 7 scale_weights;
            "tf-minimize-broadcasts" 5 minimize_broadcasts;
        },
        Op::RealDiv | Op::Div => patterns! { "tf-rsqrt" 8 rsqrt; },
        Op::MatMul | Op::BatchMatMul | Op::BatchMatMulV2 => {
            patterns! { "tf-transposed-operand" 8 transposed_operand; }
        }
        Op::Conv2D | Op::DepthwiseConv2dNative | Op::MaxPool => pads(operator),
        Op::BatchNormWithGlobalNormalization => patterns! { "tf-batch-norm-in-parts" 8 batch_norm_in_parts; },
        Op::FusedPadConv2D | Op::FusedResizeAndPadConv2D => {
            patterns! { "tf-pad-conv-in-parts" 8 pad_conv_in_parts; }
        }
        Op::PadV2 => patterns! { "tf-pad-of-zeros" 8 pad_of_zeros; },
        Op::Conv2DBackpropInput => patterns! { "tf-transposed-convolution" 8 transposed_convolution; },
        Op::ConcatV2 => patterns! { "tf-hoist-unary-chain" 6 hoist; },
        Op::Transpose | Op::Reshape | Op::Squeeze | Op::ExpandDims => {
            patterns! { "tf-cast-later" 6 cast_later; }
        }
        Op::Cast => patterns! { "tf-cast-earlier" 6 cast_earlier; },
        _ => &[],
    }
}

/// `(x - mean) * rsqrt(variance + epsilon) * gamma + beta` → `x * factor + offset`, whose factor and offset
/// are constants of most models, and move into the weights.
fn batch_norm_in_parts(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let [x, mean, variance, beta, gamma] = std::array::from_fn(|i| m.operand(op, i));
    let (dtype, scales) = (dtype(m, variance)?, flag(m, op, "scale_after_normalization"));
    let epsilon = tf::attrs_of(m, op, Op::BatchNormWithGlobalNormalization.row().signature());
    let epsilon = epsilon.float("variance_epsilon")?;
    let epsilon = b.scalar(epsilon, dtype).ok()?;
    let sum = b.one(Op::AddV2, &[variance, epsilon]).ok()?;
    let root = b.one(Op::Rsqrt, &[sum]).ok()?;
    let factor = if scales { b.one(Op::Mul, &[root, gamma]).ok()? } else { root };
    let shift = b.one(Op::Mul, &[mean, factor]).ok()?;
    let offset = b.one(Op::Sub, &[beta, shift]).ok()?;
    let scaled = b.one(Op::Mul, &[x, factor]).ok()?;
    replacement(b, op, Op::AddV2, &[scaled, offset])
}

/// A convolution with a resizing and a padding of its own → the three operators.
fn pad_conv_in_parts(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let operands: Vec<ValueId> = m.operands(op).collect();
    let result = m.result(op, 0);
    let (image, paddings, filter) = match operands[..] {
        [x, paddings, filter] => (x, paddings, filter),
        [x, size, paddings, filter] if dtype(m, x) == Some(DType::F32) => {
            let corners = flag(m, op, "resize_align_corners");
            let resized = b.op(Op::ResizeBilinear, &[x, size]).bool("align_corners", corners).one().ok()?;
            (resized, paddings, filter)
        }
        _ => return None,
    };
    let padded = b.op(Op::MirrorPad, &[image, paddings]).attrs_of(op, |name| name == "mode").one().ok()?;
    b.op(Op::Conv2D, &[padded, filter])
        .attrs_of(op, |name| matches!(name, "padding" | "strides"))
        .like(result)
        .one()
        .ok()
}

/// `g(g(x))` → `x`.
fn involution(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let inner = producer_if(m, m.operand(op, 0), &[operator(m, op)?])?;
    Some(m.operand(inner, 0))
}

/// `!(x < y)` → `x >= y` unless the operands are floats, where NaN forbids it; `!(x == y)` → `x != y`.
fn negate_comparison(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    if operator(m, op) != Some(Op::LogicalNot) {
        return None;
    }
    let comparisons = [Op::Less, Op::LessEqual, Op::Greater, Op::GreaterEqual, Op::Equal, Op::NotEqual];
    let inner = producer_if(m, m.operand(op, 0), &comparisons)?;
    let comparison = operator(m, inner)?;
    let ordered = !matches!(comparison, Op::Equal | Op::NotEqual);
    if ordered && is_float(m, m.operand(inner, 0)) || !is_used_once(m, m.operand(op, 0)) {
        return None;
    }
    let negated = match comparison {
        Op::Less => Op::GreaterEqual,
        Op::LessEqual => Op::Greater,
        Op::Greater => Op::LessEqual,
        Op::GreaterEqual => Op::Less,
        Op::Equal => Op::NotEqual,
        _ => Op::Equal,
    };
    let (x, y, result) = (m.operand(inner, 0), m.operand(inner, 1), m.result(op, 0));
    b.op(negated, &[x, y]).attrs_of(inner, |_| true).like(result).one().ok()
}

/// Decomposition of a value into `x * n` with a constant scalar `n`; `(value, 1.0)` if it is no such product.
fn as_multiple(m: &Module, value: ValueId) -> (ValueId, f64) {
    if let Some(product) = producer_if(m, value, &[Op::Mul]) {
        let (x, y) = (m.operand(product, 0), m.operand(product, 1));
        // The product has the shape of the other factor if the number is a scalar.
        let number =
            |x: ValueId| if dims(m, x).is_some_and(|dims| dims.is_empty()) { splat(m, x) } else { None };
        match (number(x), number(y)) {
            (None, Some(n)) if is_used_once(m, value) => return (x, n),
            (Some(n), None) if is_used_once(m, value) => return (y, n),
            _ => {}
        }
    }
    (value, 1.0)
}

/// `x + x` → `2*x`, `x + 3*x` → `4*x`, and so on.
fn sum_of_same(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let terms: Vec<(ValueId, f64)> = m.operands(op).map(|value| as_multiple(m, value)).collect();
    let &(x, _) = terms.first()?;
    if terms.len() < 2 || terms.iter().any(|&(y, _)| y != x) || constant_of(m, x).is_some() {
        return None;
    }
    let n: f64 = terms.iter().map(|&(_, n)| n).sum();
    let dtype = dtype(m, x)?;
    if dtype == DType::I1 || n.is_nan() || n.abs() >= 1e9 || (n.fract() != 0.0 && !dtype.is_inexact()) {
        return None;
    }
    let factor = b.scalar(n, dtype).ok()?;
    replacement(b, op, Op::Mul, &[x, factor])
}

/// `x + Neg(y)` → `x - y`.
fn add_negated(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (left, right) = (m.operand(op, 0), m.operand(op, 1));
    let (x, negation) = match producer_if(m, right, &[Op::Neg]) {
        Some(negation) => (left, negation),
        None => (right, producer_if(m, left, &[Op::Neg])?),
    };
    let y = m.operand(negation, 0);
    replacement(b, op, Op::Sub, &[x, y])
}

/// `x - Neg(y)` → `x + y`.
fn sub_negated(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let negation = producer_if(m, m.operand(op, 1), &[Op::Neg])?;
    let (x, y) = (m.operand(op, 0), m.operand(negation, 0));
    replacement(b, op, Op::AddV2, &[x, y])
}

/// `PadV2(x, pads, 0)` → `Pad(x, pads)`.
fn pad_of_zeros(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (x, pads) = (m.operand(op, 0), m.operand(op, 1));
    splat(m, m.operand(op, 2)).filter(|with| with.to_bits() == 0)?;
    replacement(b, op, Op::Pad, &[x, pads])
}

/// `x*y1 + x*y2` → `x*(y1 + y2)`, for any number of terms that have no other use.
fn common_factor(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    if !is_float(m, m.result(op, 0)) {
        return None;
    }
    let products: Vec<OpId> = m
        .operands(op)
        .map(|value| producer_if(m, value, &[Op::Mul]).filter(|_| is_used_once(m, value)))
        .collect::<Option<_>>()?;
    let (&first, rest) = products.split_first()?;
    if rest.is_empty() {
        return None;
    }
    let has = |product: OpId, x: ValueId| m.operand(product, 0) == x || m.operand(product, 1) == x;
    let x =
        [m.operand(first, 0), m.operand(first, 1)].into_iter().find(|&x| rest.iter().all(|&p| has(p, x)))?;
    let others: Vec<ValueId> = products
        .iter()
        .map(|&p| if m.operand(p, 0) == x { m.operand(p, 1) } else { m.operand(p, 0) })
        .collect();
    // The sum of the other factors must have the size of one product's other factor: all equal types or all
    // scalars.
    let alike = others.windows(2).all(|pair| same_type(m, pair[0], pair[1]));
    let scalars = others.iter().all(|&y| dims(m, y).is_some_and(|dims| dims.is_empty()));
    if !alike && !scalars {
        return None;
    }
    let operator = operator(m, op)?;
    let sum = b.one(operator, &others).ok()?;
    replacement(b, op, Op::Mul, &[x, sum])
}

/// `(x + s) + (y + t)` → `(x + y) + (s + t)`: small operands are added before they are broadcast.
fn minimize_broadcasts(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let operator = operator(m, op)?;
    let kinds: &[Op] = if operator == Op::Mul { &[Op::Mul] } else { &[Op::Add, Op::AddV2] };
    let (left, right) = (m.operand(op, 0), m.operand(op, 1));
    if left == right || !is_used_once(m, left) || !is_used_once(m, right) {
        return None;
    }
    let (p, q) = (producer_if(m, left, kinds)?, producer_if(m, right, kinds)?);
    let size = |value: ValueId| dims(m, value).and_then(n_elements);
    let split = |inner: OpId| {
        let (x, y) = (m.operand(inner, 0), m.operand(inner, 1));
        let (nx, ny) = (size(x)?, size(y)?);
        if nx > ny {
            Some((x, y))
        } else if ny > nx {
            Some((y, x))
        } else {
            None
        }
    };
    let ((x, s), (y, t)) = (split(p)?, split(q)?);
    if dims(m, x) != dims(m, y) {
        return None;
    }
    let large = b.one(operator, &[x, y]).ok()?;
    let small = b.one(operator, &[s, t]).ok()?;
    replacement(b, op, operator, &[large, small])
}

/// `x * x` → `Square(x)`.
fn square(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let x = m.operand(op, 0);
    if x != m.operand(op, 1)
        || dtype(m, x).is_none_or(|dtype| matches!(dtype, DType::Complex64 | DType::Complex128))
    {
        return None;
    }
    replacement(b, op, Op::Square, &[x])
}

/// `x / Sqrt(y)` → `x * Rsqrt(y)`.
fn rsqrt(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (x, root) = (m.operand(op, 0), m.operand(op, 1));
    let inner = producer_if(m, root, &[Op::Sqrt]).filter(|_| is_used_once(m, root))?;
    let y = m.operand(inner, 0);
    let root = b.one(Op::Rsqrt, &[y]).ok()?;
    replacement(b, op, Op::Mul, &[x, root])
}

/// `MatMul(Transpose(x), y)` → `MatMul(x, y) {transpose_a}`, for both operands and for batches.
fn transposed_operand(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let is_batch = operator(m, op) != Some(Op::MatMul);
    let flags = if is_batch { ["adj_x", "adj_y"] } else { ["transpose_a", "transpose_b"] };
    if is_batch
        && dtype(m, m.operand(op, 0))
            .is_none_or(|dtype| matches!(dtype, DType::Complex64 | DType::Complex128))
    {
        return None;
    }
    let mut operands = [m.operand(op, 0), m.operand(op, 1)];
    let mut transposed = [flag(m, op, flags[0]), flag(m, op, flags[1])];
    let mut changed = false;
    for (operand, transposed) in operands.iter_mut().zip(&mut transposed) {
        if let Some(inner) = producer_if(m, *operand, &[Op::Transpose])
            && swaps_last(&ints(m, m.operand(inner, 1))?)
        {
            *operand = m.operand(inner, 0);
            *transposed = !*transposed;
            changed = true;
        }
    }
    if !changed {
        return None;
    }
    let (result, operator) = (m.result(op, 0), operator(m, op)?);
    let mut product = b.op(operator, &operands).attrs_of(op, |name| !flags.contains(&name)).like(result);
    for (name, transposed) in flags.iter().zip(transposed) {
        if transposed {
            product = product.bool(name, true);
        }
    }
    product.one().ok()
}

/// True if the permutation swaps the last two axes and keeps all others.
fn swaps_last(order: &[i64]) -> bool {
    let n = order.len();
    n >= 2
        && order[n - 2..] == [n as i64 - 1, n as i64 - 2]
        && order[..n - 2].iter().enumerate().all(|(i, &axis)| axis == i as i64)
}

/// `Concat(f(a), f(b))` → `f(Concat(a, b))` for a unary operator `f`.
fn hoist(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let n = m.n_operands(op).checked_sub(1).filter(|&n| n >= 2)?;
    let first = m.defining_op(m.operand(op, 0))?;
    let operator = operator(m, first)?;
    if !matches!(operator.row().class(), Class::Unary(_)) || m.attrs(first).len() > 1 {
        return None;
    }
    let parts: Vec<ValueId> = m.operands(op).take(n).collect();
    let inner: Vec<ValueId> = parts
        .iter()
        .map(|&part| {
            producer_if(m, part, &[operator]).filter(|_| is_used_once(m, part)).map(|op| m.operand(op, 0))
        })
        .collect::<Option<_>>()?;
    let operands: Vec<ValueId> = inner.into_iter().chain([m.operand(op, n)]).collect();
    let joined = replacement(b, op, Op::ConcatV2, &operands)?;
    replacement(b, op, operator, &[joined])
}

/// The operators that move elements and keep their values.
pub(super) const MOVEMENTS: [Op; 4] = [Op::Transpose, Op::Reshape, Op::Squeeze, Op::ExpandDims];

/// `Transpose(Cast(x))` → `Cast(Transpose(x))` if the elements of x are smaller, or as large and only
/// reinterpreted: then two bitcasts with a transpose between them meet.
fn cast_later(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let cast = m.operand(op, 0);
    let inner = producer_if(m, cast, &[Op::Cast, Op::Bitcast])?;
    let x = m.operand(inner, 0);
    let (before, after) = (dtype(m, x)?.size(), dtype(m, cast)?.size());
    let moves = if operator(m, inner) == Some(Op::Cast) { before < after } else { before == after };
    if moves { swapped(b, op, inner, m.result(op, 0), x) } else { None }
}

/// `Cast(Transpose(x))` → `Transpose(Cast(x))` if the elements of the result are smaller.
fn cast_earlier(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (moved, result) = (m.operand(op, 0), m.result(op, 0));
    let inner = producer_if(m, moved, &MOVEMENTS)?;
    let narrows = dtype(m, result)?.size() < dtype(m, moved)?.size();
    if narrows { swapped(b, op, inner, m.operand(inner, 0), result) } else { None }
}

/// `outer(inner(x))` → `inner(outer(x))` for a movement and a cast, if nothing else uses the value between
/// them. The new value between them has the shape of `shaped` and the elements of `typed`.
fn swapped(
    b: &mut Builder<'_, '_>,
    outer: OpId,
    inner: OpId,
    shaped: ValueId,
    typed: ValueId,
) -> Option<ValueId> {
    let m = b.ir();
    if !is_used_once(m, m.result(inner, 0)) {
        return None;
    }
    let (x, result) = (m.operand(inner, 0), m.result(outer, 0));
    let (first, second) = (operator(m, outer)?, operator(m, inner)?);
    let mut own: Vec<ValueId> = m.operands(outer).collect();
    let mut others: Vec<ValueId> = m.operands(inner).collect();
    let (shaped, element) = (m.value_type(shaped), m.cx.element(m.value_type(typed)));
    let between = tf::with_element(b.cx(), shaped, element);
    own[0] = x;
    others[0] = b.op(first, &own).attrs_of(outer, |_| true).results(&[between]).one().ok()?;
    b.op(second, &others).attrs_of(inner, |_| true).like(result).one().ok()
}
