//! Layers written with elementary operators. Each becomes one operator, whose kernel reads memory once.
//!
//! ```text
//! 0.5 * x * (1 + Erf(x / sqrt 2))                                ─▶ _Gelu(x)
//! 0.5 * x * Erfc(-x / sqrt 2)                                    ─▶ _Gelu(x)
//! 0.5 * x * (1 + Tanh(...))                                      ─▶ _Gelu(x) {approximate}
//! Exp(x - Max(x)) / Sum(Exp(x - Max(x)))                         ─▶ Softmax(x)
//! Log(Softmax(x))                                                ─▶ LogSoftmax(x)
//! BatchMatMul(Softmax(BatchMatMul(q, k^T) * scale + mask), v)    ─▶ _FusedAttention(q, k, v, mask)
//! (x - Mean(x)) * Rsqrt(Mean(SquaredDifference(x, Mean(x))) + epsilon) * gamma + beta
//!                                                                ─▶ _LayerNorm(x, gamma, beta)
//! ```
//!
//! Reductions are over the last axis. Factors may have any order. Intermediate results with other uses are
//! still computed for these.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::arithmetic::MOVEMENTS;
use super::rule::{apply, operand_orders, patterns, replacement, ty};
use crate::build::Builder;
use crate::build::query::{dims, dtype, flag, has_no_edges, ints, is_used_once, producer_if, shape, splat};
use crate::build::sizes::{same_shape, sizes};
use crate::dialects::tf::operator;
use crate::fold::constant_of;
use crate::ir::{AttrKind, Module, OpId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

/// The patterns that apply before differentiation.
pub(super) fn of(operator: Op) -> &'static [Pattern] {
    match operator {
        Op::Add | Op::AddV2 => patterns! {
            "tf-layer-norm" 9 batched_layer_norm_with_gradient;
            "tf-layer-norm" 9 shift_layer_norm;
        },
        Op::Mul => patterns! {
            "tf-gelu" 9 gelu;
            "tf-layer-norm" 8 layer_norm_with_gradient;
            "tf-layer-norm" 8 scale_layer_norm;
        },
        _ => &[],
    }
}

/// Maximum number of factors in a matched product.
const MOST_FACTORS: usize = 8;

/// A flattened product: the product of its constant factors, and the other factors.
struct Factors {
    number: f64,
    values: Vec<ValueId>,
}

impl Factors {
    /// The factors of `value`. `leaves` are not decomposed.
    fn of(m: &Module, value: ValueId, leaves: &[ValueId]) -> Option<Factors> {
        let mut found = Factors { number: 1.0, values: Vec::new() };
        let mut todo = vec![value];
        while let Some(value) = todo.pop() {
            if todo.len() + found.values.len() > MOST_FACTORS {
                return None;
            }
            let made = if leaves.contains(&value) { None } else { m.defining_op(value) };
            match made.filter(|&op| has_no_edges(m, op)).and_then(|op| Some((op, operator(m, op)?))) {
                Some((op, Op::Mul)) => todo.extend(m.operands(op)),
                Some((op, Op::Neg)) => {
                    found.number = -found.number;
                    todo.extend(m.operands(op));
                }
                Some((op, Op::RealDiv)) if splat(m, m.operand(op, 1)).is_some() => {
                    found.number /= splat(m, m.operand(op, 1))?;
                    todo.push(m.operand(op, 0));
                }
                Some((op, Op::Square)) => todo.extend([m.operand(op, 0), m.operand(op, 0)]),
                Some((op, Op::Pow)) if splat(m, m.operand(op, 1)) == Some(3.0) => {
                    todo.extend([m.operand(op, 0); 3]);
                }
                _ => match splat(m, value) {
                    Some(number) => found.number *= number,
                    None => found.values.push(value),
                },
            }
        }
        Some(found)
    }

    /// True if the factors are `number` and `values`, in any order.
    fn are(&self, number: f64, values: &[ValueId]) -> bool {
        let mut wanted = values.to_vec();
        wanted.sort_unstable();
        let mut found = self.values.clone();
        found.sort_unstable();
        found == wanted && (self.number - number).abs() <= 1e-5 * number.abs()
    }
}

/// The other operand of a sum with the constant `number`.
fn other_addend(m: &Module, value: ValueId, number: f64) -> Option<ValueId> {
    let op = producer_if(m, value, &[Op::Add, Op::AddV2])?;
    operand_orders(m, op).into_iter().find_map(|(x, other)| (splat(m, other) == Some(number)).then_some(x))
}

/// Gelu, exact or in TensorFlow's tanh approximation.
pub(super) fn gelu(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    if dtype(m, m.result(op, 0)) != Some(DType::F32) {
        return None;
    }
    // Candidates for the factor with Erf, Erfc or Tanh: operands, and operands of operands.
    let candidates = || {
        let below =
            m.operands(op).filter_map(|value| m.defining_op(value)).flat_map(|inner| m.operands(inner));
        m.operands(op).chain(below)
    };
    let (x, is_approximate) = candidates().find_map(|factor| {
        let (x, is_approximate) = gelu_factor(m, factor)?;
        let is_gelu = Factors::of(m, m.result(op, 0), &[x, factor])?.are(0.5, &[x, factor]);
        (is_gelu && ty(m, x) == ty(m, m.result(op, 0))).then_some((x, is_approximate))
    })?;
    b.op(Op::_Gelu, &[x]).bool("approximate", is_approximate).like(x).one().ok()
}

/// The operand x of gelu's factor `1 + Erf(x / sqrt 2)`, and whether the factor is the tanh approximation.
fn gelu_factor(m: &Module, factor: ValueId) -> Option<(ValueId, bool)> {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    if let Some(erfc) = producer_if(m, factor, &[Op::Erfc]) {
        let (x, number) = scaled(m, m.operand(erfc, 0))?;
        return ((number + half).abs() < 1e-5).then_some((x, false));
    }
    let inner = other_addend(m, factor, 1.0)?;
    if let Some(erf) = producer_if(m, inner, &[Op::Erf]) {
        let (x, number) = scaled(m, m.operand(erf, 0))?;
        return ((number - half).abs() < 1e-5).then_some((x, false));
    }
    let tanh = producer_if(m, inner, &[Op::Tanh])?;
    let (sum, number) = scaled(m, m.operand(tanh, 0))?;
    if (number - (2.0 / std::f64::consts::PI).sqrt()).abs() > 1e-5 {
        return None;
    }
    let sum = producer_if(m, sum, &[Op::Add, Op::AddV2])?;
    let x = operand_orders(m, sum)
        .into_iter()
        .find_map(|(x, cube)| Factors::of(m, cube, &[x])?.are(0.044715, &[x, x, x]).then_some(x))?;
    Some((x, true))
}

/// Decomposition of a value into another value times a constant: strips constant factors one by one.
fn scaled(m: &Module, value: ValueId) -> Option<(ValueId, f64)> {
    let (mut value, mut number) = (value, 1.0);
    for _ in 0..MOST_FACTORS {
        let Some(op) = producer_if(m, value, &[Op::Mul, Op::RealDiv, Op::Neg]) else { break };
        let (kind, first) = (operator(m, op)?, m.operand(op, 0));
        if kind == Op::Neg {
            (value, number) = (first, -number);
            continue;
        }
        let second = m.operand(op, 1);
        match (splat(m, first), splat(m, second)) {
            (_, Some(by)) if kind == Op::RealDiv => (value, number) = (first, number / by),
            (_, Some(by)) if kind == Op::Mul => (value, number) = (first, number * by),
            (Some(by), _) if kind == Op::Mul => (value, number) = (second, number * by),
            _ => break,
        }
    }
    Some((value, number))
}

/// The operand of a reduction over the last axis with `keep_dims`.
fn over_last_axis(m: &Module, value: ValueId, kind: Op) -> Option<ValueId> {
    let op = producer_if(m, value, &[kind])?;
    let x = m.operand(op, 0);
    let rank = shape(m, x).map(|dims| dims.len() as i64);
    let axes = ints(m, m.operand(op, 1))?;
    let is_last = matches!(axes[..], [axis] if axis == -1 || rank.is_some_and(|rank| axis == rank - 1));
    (is_last && flag(m, op, "keep_dims")).then_some(x)
}

/// The operators behind which the means of a layer norm may be.
#[derive(Clone, Copy)]
struct ForwardOps {
    /// Behind which the mean may be that is subtracted.
    center: &'static [Op],
    /// Behind which the mean of the variance may be, whose gradient is 0.
    variance: &'static [Op],
}

/// All operators that forward a value.
const FORWARDS: ForwardOps = ForwardOps {
    center: &[Op::Identity, Op::PreventGradient, Op::StopGradient],
    variance: &[Op::Identity, Op::PreventGradient, Op::StopGradient],
};

/// Those that change no gradient of a layer norm.
const WITH_GRADIENT: ForwardOps =
    ForwardOps { center: &[Op::Identity], variance: &[Op::Identity, Op::StopGradient] };

/// The value that `Identity`, `StopGradient` and the like forward.
fn skip(m: &Module, mut value: ValueId, forwards: &'static [Op]) -> ValueId {
    while let Some(op) = producer_if(m, value, forwards) {
        value = m.operand(op, 0);
    }
    value
}

/// `Exp(...) / Sum(Exp(...))` → `Softmax`.
pub(super) fn softmax(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (exp, sum) = (m.operand(op, 0), m.operand(op, 1));
    if over_last_axis(m, sum, Op::Sum)? != exp {
        return None;
    }
    let shifted = producer_if(m, m.operand(producer_if(m, exp, &[Op::Exp])?, 0), &[Op::Sub])?;
    let x = m.operand(shifted, 0);
    let most = skip(m, m.operand(shifted, 1), FORWARDS.center);
    if over_last_axis(m, most, Op::Max)? != x || ty(m, x) != ty(m, m.result(op, 0)) {
        return None;
    }
    replacement(b, op, Op::Softmax, &[x])
}

/// `Log(Softmax(x))` → `LogSoftmax(x)`, as TensorFlow's optimizer does. A movement between them follows.
pub(super) fn log_softmax(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (operand, result) = (m.operand(op, 0), m.result(op, 0));
    let movement = producer_if(m, operand, &MOVEMENTS).filter(|_| is_used_once(m, operand));
    let softmax = movement.map_or(operand, |movement| m.operand(movement, 0));
    let inner = producer_if(m, softmax, &[Op::Softmax]).filter(|_| is_used_once(m, softmax))?;
    let x = m.operand(inner, 0);
    let Some(movement) = movement else { return replacement(b, op, Op::LogSoftmax, &[x]) };
    let (moves, mut operands) = (operator(m, movement)?, m.operands(movement).collect::<Vec<_>>());
    operands[0] = b.op(Op::LogSoftmax, &[x]).like(softmax).one().ok()?;
    b.op(moves, &operands).attrs_of(movement, |_| true).like(result).one().ok()
}

/// `(x - Mean(x))` and `1 / sqrt(variance(x) + epsilon)` over rows: x and epsilon.
fn normalized(
    m: &Module,
    difference: ValueId,
    inverse: ValueId,
    forwards: ForwardOps,
) -> Option<(ValueId, f64)> {
    let sub = producer_if(m, difference, &[Op::Sub])?;
    let (x, mean) = (m.operand(sub, 0), m.operand(sub, 1));
    let is_mean = over_last_axis(m, skip(m, mean, forwards.center), Op::Mean) == Some(x);
    let (of, epsilon) = inverse_deviation(m, inverse, forwards)?;
    (is_mean && of == x).then_some((x, epsilon))
}

/// `1 / sqrt(variance(x) + epsilon)` over rows: x and epsilon.
fn inverse_deviation(m: &Module, value: ValueId, forwards: ForwardOps) -> Option<(ValueId, f64)> {
    let is_mean_of = |mean, x| over_last_axis(m, skip(m, mean, forwards.variance), Op::Mean) == Some(x);
    let rsqrt = producer_if(m, value, &[Op::Rsqrt])?;
    let sum = producer_if(m, m.operand(rsqrt, 0), &[Op::Add, Op::AddV2])?;
    operand_orders(m, sum).into_iter().find_map(|(variance, epsilon)| {
        let epsilon = splat(m, epsilon)?;
        let squares = over_last_axis(m, variance, Op::Mean)?;
        let op = producer_if(m, squares, &[Op::SquaredDifference, Op::Square])?;
        let (x, mean) = if operator(m, op) == Some(Op::Square) {
            let sub = producer_if(m, m.operand(op, 0), &[Op::Sub])?;
            (m.operand(sub, 0), m.operand(sub, 1))
        } else {
            (m.operand(op, 0), m.operand(op, 1))
        };
        let (x, mean) = if is_mean_of(mean, x) { (x, mean) } else { (mean, x) };
        is_mean_of(mean, x).then_some((x, epsilon))
    })
}

/// The length of the last axis, if the value is f32.
fn row(m: &Module, x: ValueId) -> Option<i64> {
    shape(m, x)?.last().copied().filter(|&n| n > 0 && dtype(m, x) == Some(DType::F32))
}

/// True for a vector of `n` elements.
fn is_row(m: &Module, value: ValueId, n: i64) -> bool {
    dims(m, value).is_some_and(|dims| dims == [n])
}

/// Layer norm without beta: `(x - mean) * (inverse * gamma)` or `(x - mean) * inverse`.
pub(super) fn layer_norm(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    layer_norm_behind(b, op, FORWARDS)
}

/// [`layer_norm`] that has the same gradient.
pub(super) fn layer_norm_with_gradient(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    layer_norm_behind(b, op, WITH_GRADIENT)
}

fn layer_norm_behind(b: &mut Builder<'_, '_>, op: OpId, forwards: ForwardOps) -> Option<ValueId> {
    let m = b.ir();
    let n = row(m, m.result(op, 0))?;
    let (x, epsilon, gamma) = operand_orders(m, op).into_iter().find_map(|(difference, inverse)| {
        if let Some((x, epsilon)) = normalized(m, difference, inverse, forwards) {
            return Some((x, epsilon, None));
        }
        let product = producer_if(m, inverse, &[Op::Mul])?;
        operand_orders(m, product).into_iter().find_map(|(inverse, gamma)| {
            let (x, epsilon) = normalized(m, difference, inverse, forwards)?;
            is_row(m, gamma, n).then_some((x, epsilon, Some(gamma)))
        })
    })?;
    if ty(m, x) != ty(m, m.result(op, 0)) {
        return None;
    }
    let gamma = match gamma {
        Some(gamma) => gamma,
        None => constant_row(b, n, 1.0)?,
    };
    let beta = constant_row(b, n, 0.0)?;
    norm(b, x, gamma, beta, epsilon as f32)
}

/// `x * g + (beta - mean * g)` with `g = inverse * gamma`: the form of a batch normalization over rows, in
/// which TensorFlow writes layer norms.
pub(super) fn batched_layer_norm(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    batched_layer_norm_behind(b, op, FORWARDS)
}

/// [`batched_layer_norm`] that has the same gradient.
pub(super) fn batched_layer_norm_with_gradient(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    batched_layer_norm_behind(b, op, WITH_GRADIENT)
}

fn batched_layer_norm_behind(b: &mut Builder<'_, '_>, op: OpId, forwards: ForwardOps) -> Option<ValueId> {
    let m = b.ir();
    let n = row(m, m.result(op, 0))?;
    let (x, gamma, beta, epsilon) = operand_orders(m, op).into_iter().find_map(|(product, rest)| {
        let product = producer_if(m, product, &[Op::Mul])?;
        let rest = producer_if(m, rest, &[Op::Sub])?;
        let (beta, shift) = (m.operand(rest, 0), producer_if(m, m.operand(rest, 1), &[Op::Mul])?);
        operand_orders(m, product).into_iter().find_map(|(x, g)| {
            let has_mean = operand_orders(m, shift).into_iter().any(|(mean, other)| {
                other == g && over_last_axis(m, skip(m, mean, forwards.center), Op::Mean) == Some(x)
            });
            let (inverse, gamma) =
                operand_orders(m, producer_if(m, g, &[Op::Mul])?).into_iter().find(|&(inverse, gamma)| {
                    inverse_deviation(m, inverse, forwards).is_some() && is_row(m, gamma, n)
                })?;
            let (of, epsilon) = inverse_deviation(m, inverse, forwards)?;
            (has_mean && of == x && is_row(m, beta, n)).then_some((x, gamma, beta, epsilon))
        })
    })?;
    norm(b, x, gamma, beta, epsilon as f32)
}

fn norm(b: &mut Builder<'_, '_>, x: ValueId, gamma: ValueId, beta: ValueId, epsilon: f32) -> Option<ValueId> {
    b.op(Op::_LayerNorm, &[x, gamma, beta]).f32("epsilon", epsilon).like(x).one().ok()
}

/// A constant vector with n equal elements.
fn constant_row(b: &mut Builder<'_, '_>, n: i64, number: f64) -> Option<ValueId> {
    let one = b.scalar(number, DType::F32).ok()?;
    let size = b.ints(&[n], DType::I32).ok()?;
    b.one(Op::Fill, &[size, one]).ok()
}

/// True for a vector of equal elements, as [`constant_row`] makes it.
fn is_filled(m: &Module, value: ValueId, number: f64) -> bool {
    let filled = producer_if(m, value, &[Op::Fill]).and_then(|op| splat(m, m.operand(op, 1)));
    filled.or_else(|| splat(m, value)) == Some(number)
}

/// `_LayerNorm(...) * vector` → gamma and beta are scaled.
pub(super) fn scale_layer_norm(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let (inner, vector) = with_vector(b.ir(), op)?;
    let [x, gamma, beta] = [0, 1, 2].map(|i| b.ir().operand(inner, i));
    let is_constant = constant_of(b.ir(), vector).is_some();
    let is_one = is_filled(b.ir(), gamma, 1.0);
    let is_zero = is_filled(b.ir(), beta, 0.0);
    // No zero is multiplied by a number that may be infinite.
    if !is_constant && !is_zero {
        return None;
    }
    let gamma = if is_one { vector } else { b.one(Op::Mul, &[gamma, vector]).ok()? };
    let beta = if is_zero { beta } else { b.one(Op::Mul, &[beta, vector]).ok()? };
    b.op(Op::_LayerNorm, &[x, gamma, beta]).attrs_of(inner, |name| name == "epsilon").like(x).one().ok()
}

/// `_LayerNorm(...) + vector` → beta is shifted.
pub(super) fn shift_layer_norm(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let (inner, vector) = with_vector(b.ir(), op)?;
    let [x, gamma, beta] = [0, 1, 2].map(|i| b.ir().operand(inner, i));
    let is_zero = is_filled(b.ir(), beta, 0.0);
    let beta = if is_zero { vector } else { b.one(Op::AddV2, &[beta, vector]).ok()? };
    b.op(Op::_LayerNorm, &[x, gamma, beta]).attrs_of(inner, |name| name == "epsilon").like(x).one().ok()
}

/// A layer norm without other users, and the vector that is the op's other operand.
fn with_vector(m: &Module, op: OpId) -> Option<(OpId, ValueId)> {
    operand_orders(m, op).into_iter().find_map(|(x, vector)| {
        let inner = producer_if(m, x, &[Op::_LayerNorm]).filter(|_| is_used_once(m, x))?;
        let n = row(m, x)?;
        is_row(m, vector, n).then_some((inner, vector))
    })
}

/// Attention over f32 with four axes. If q, k and v are transposes of [batch, positions, heads, size], the
/// fused op reads the untransposed tensors (`heads_inside`).
pub(super) fn attention(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let once = |value: ValueId, kinds: &[Op]| producer_if(m, value, kinds).filter(|_| is_used_once(m, value));
    let products = [Op::BatchMatMul, Op::BatchMatMulV2, Op::BatchMatMulV3];
    let rank_4 = |value: ValueId| {
        shape(m, value).is_some_and(|dims| dims.len() == 4) && dtype(m, value) == Some(DType::F32)
    };
    let softmax = once(m.operand(op, 0), &[Op::Softmax])?;
    let v = m.operand(op, 1);
    if flag(m, op, "adj_x") || flag(m, op, "adj_y") || !rank_4(v) {
        return None;
    }
    let mut scores = m.operand(softmax, 0);
    let mut mask = None;
    if let Some(sum) = once(scores, &[Op::Add, Op::AddV2]) {
        let (inner, other) = operand_orders(m, sum).into_iter().find(|&(inner, other)| {
            same_shape(m, inner, scores)
                && once(inner, &[Op::Mul, Op::RealDiv, products[0], products[1]]).is_some()
                && rank_4(other)
        })?;
        (scores, mask) = (inner, Some(other));
    }
    let mut scale = 1.0;
    if let Some(scaled) = once(scores, &[Op::Mul, Op::RealDiv]) {
        let (x, y) = (m.operand(scaled, 0), m.operand(scaled, 1));
        (scores, scale) = match (splat(m, x), splat(m, y)) {
            (_, Some(number)) if operator(m, scaled) == Some(Op::RealDiv) => (x, 1.0 / number),
            (_, Some(number)) if operator(m, scaled) == Some(Op::Mul) => (x, number),
            (Some(number), _) if operator(m, scaled) == Some(Op::Mul) => (y, number),
            _ => return None,
        };
    }
    let product = once(scores, &products)?;
    let (q, k) = (m.operand(product, 0), m.operand(product, 1));
    if flag(m, product, "adj_x") || !flag(m, product, "adj_y") || !rank_4(q) || !rank_4(k) {
        return None;
    }
    // No operand but the mask broadcasts.
    let batches = [q, k, v].map(|value| sizes(m, value).map(|sizes| sizes[..2].to_vec()));
    if batches[0] != batches[1] || batches[0] != batches[2] {
        return None;
    }
    let untransposed = |value: ValueId| {
        let transpose = producer_if(m, value, &[Op::Transpose])?;
        (ints(m, m.operand(transpose, 1))? == [0, 2, 1, 3]).then(|| m.operand(transpose, 0))
    };
    let sources = [q, k, v].map(untransposed);
    let (operands, heads_inside) = match sources {
        [Some(q), Some(k), Some(v)] => ([q, k, v], true),
        _ => ([q, k, v], false),
    };
    let operands: Vec<ValueId> = operands.into_iter().chain(mask).collect();
    let result = m.result(op, 0);
    b.op(Op::_FusedAttention, &operands)
        .bool("heads_inside", heads_inside)
        .int("num_masks", i64::from(mask.is_some()))
        .f32("scale", scale as f32)
        .like(result)
        .one()
        .ok()
}

/// `_PackedMatMul(Reshape(x))` that merges the last axes of x → a packed product that contracts all of them.
pub(super) fn flatten(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let reshape = producer_if(m, m.operand(op, 0), &[Op::Reshape])?;
    let x = m.operand(reshape, 0);
    let (from, to) = (shape(m, x)?, shape(m, m.operand(op, 0))?);
    let n_rows = to.len().checked_sub(1)?;
    let inner = from.get(n_rows..)?;
    let is_one = m.attr_named(op, "contracted").is_none_or(|attr| m.cx.as_int(attr) == Some(1));
    let AttrKind::Array(weights) = m.cx.attr(m.attr_named(op, "shape")?) else { return None };
    let columns = weights.get(1..)?.iter().map(|&size| m.cx.as_int(size));
    let is_same = sizes(m, x)?.get(..n_rows) == sizes(m, m.operand(op, 0))?.get(..n_rows);
    if !is_one || !is_same || inner.len() < 2 || inner.iter().any(|&dim| dim <= 0) {
        return None;
    }
    let operands: Vec<ValueId> = std::iter::once(x).chain(m.operands(op).skip(1)).collect();
    let (n, result) = (inner.len() as i64, m.result(op, 0));
    let sizes: Vec<i64> = inner.iter().map(|&dim| Some(dim)).chain(columns).collect::<Option<_>>()?;
    b.op(Op::_PackedMatMul, &operands)
        .attrs_of(op, |_| true)
        .int("contracted", n)
        .ints("shape", &sizes)
        .like(result)
        .one()
        .ok()
}
