//! Simplifications of ops with constant operands.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::rule::{apply, is_float, patterns, permutation, replacement};
use super::{branches, passing};
use crate::build::Builder;
use crate::build::query::{dims, dtype, has_no_edges, producer_if, splat};
use crate::build::sizes::same_shape;
use crate::dialects::tf::operator;
use crate::fold::constant_of;
use crate::ir::{Module, OpId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

/// The patterns of an operator.
pub(super) fn of(operator: Op) -> &'static [Pattern] {
    match operator {
        Op::Add | Op::AddV2 | Op::Mul => patterns! {
            "tf-pass-operand" 9 pass;
            "tf-neutral-operand" 8 neutral;
            "tf-push-constant-down" 5 push_down;
        },
        Op::Sub | Op::Div | Op::RealDiv => patterns! {
            "tf-neutral-operand" 8 neutral;
            "tf-negate" 7 negate;
            "tf-push-constant-down" 5 push_down;
        },
        Op::Pow => patterns! { "tf-small-power" 8 power; },
        Op::Select | Op::SelectV2 => patterns! { "tf-constant-choice" 8 choose; },
        Op::Reshape => patterns! {
            "tf-pass-operand" 9 pass;
            "tf-reshape-of-reshape" 8 reshape;
        },
        Op::Squeeze | Op::ExpandDims => patterns! {
            "tf-pass-operand" 9 pass;
            "tf-undo-reshape" 8 undo;
        },
        Op::Transpose => patterns! {
            "tf-pass-operand" 9 pass;
            "tf-transpose-of-transpose" 8 transpose;
        },
        Op::Bitcast => patterns! {
            "tf-pass-operand" 9 pass;
            "tf-bitcast-of-bitcast" 8 bitcast;
        },
        Op::ConcatV2 => patterns! {
            "tf-pass-operand" 9 pass;
            "tf-concat-constants" 8 concat;
        },
        Op::IdentityN => {
            const PATTERNS: &[Pattern] =
                &[Pattern { name: "tf-pass-operands", benefit: 9, rewrite: pass_all }];
            PATTERNS
        }
        Op::If | Op::StatelessIf | Op::Case | Op::StatelessCase => branches::PATTERNS,
        _ => patterns! { "tf-pass-operand" 9 pass; },
    }
}

fn pass(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    passing::operand(b.ir(), op)
}

/// `IdentityN(x, y)` → `x, y`.
fn pass_all(r: &mut Rewriter<'_>, op: OpId) -> Change {
    if !has_no_edges(r.ir(), op) || r.ir().n_operands(op) != r.ir().n_results(op) {
        return Change::Unchanged;
    }
    let operands: Vec<ValueId> = r.ir().operands(op).collect();
    r.replace_op(op, &operands);
    Change::Changed
}

/// `x` if it has the shape of the op's result.
fn if_same_shape(m: &Module, op: OpId, x: ValueId) -> Option<ValueId> {
    same_shape(m, x, m.result(op, 0)).then_some(x)
}

/// Identity elements: `x + 0`, `x - 0`, `x * 1`, `x / 1` → `x`; also `x * 0` → `0` of integers, since an
/// infinity times 0 is NaN.
fn neutral(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (x, y) = (m.operand(op, 0), m.operand(op, 1));
    let operator = operator(m, op)?;
    let (neutral, commutes) = match operator {
        Op::Add | Op::AddV2 => (0.0, true),
        Op::Mul => (1.0, true),
        Op::Sub => (0.0, false),
        _ => (1.0, false),
    };
    if splat(m, y) == Some(neutral) {
        return if_same_shape(m, op, x);
    }
    if commutes && splat(m, x) == Some(neutral) {
        return if_same_shape(m, op, y);
    }
    if operator == Op::Mul && !is_float(m, x) && (splat(m, x) == Some(0.0) || splat(m, y) == Some(0.0)) {
        let (sizes, dtype) = (dims(m, m.result(op, 0))?.to_vec(), dtype(m, x)?);
        let zero = b.scalar(0.0, dtype).ok()?;
        if sizes.is_empty() {
            return Some(zero);
        }
        let shape = b.ints(&sizes, DType::I64).ok()?;
        return replacement(b, op, Op::Fill, &[shape, zero]);
    }
    None
}

/// `0 - x` → `Neg(x)`.
fn negate(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (x, y) = (m.operand(op, 0), m.operand(op, 1));
    if operator(m, op) == Some(Op::Sub) && splat(m, x) == Some(0.0) && if_same_shape(m, op, y).is_some() {
        return replacement(b, op, Op::Neg, &[y]);
    }
    None
}

/// Reassociation of constants: `Mul(c1, Mul(x, c2))` → `Mul(x, c1*c2)`, and the same for Add, Sub and
/// RealDiv.
fn push_down(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (left, right) = (m.operand(op, 0), m.operand(op, 1));
    let outer = operator(m, op)?;
    let (inner, c1, constant_first) = match (constant_of(m, left), constant_of(m, right)) {
        (None, Some(_)) => (left, right, false),
        (Some(_), None) => (right, left, true),
        _ => return None,
    };
    let is_sum = matches!(outer, Op::Add | Op::AddV2 | Op::Sub);
    let kinds: &[Op] = if is_sum { &[Op::Add, Op::AddV2, Op::Sub] } else { &[Op::Mul, Op::RealDiv, Op::Div] };
    if !is_sum && !is_float(m, left) && outer != Op::Mul {
        return None;
    }
    let inner_op = producer_if(m, inner, kinds)?;
    let inner_name = operator(m, inner_op)?;
    if !is_sum && !is_float(m, left) && inner_name != Op::Mul {
        return None;
    }
    let (p, q) = (m.operand(inner_op, 0), m.operand(inner_op, 1));
    let (x, c2, x_first) = match (constant_of(m, p), constant_of(m, q)) {
        (None, Some(_)) => (p, q, true),
        (Some(_), None) => (q, p, false),
        _ => return None,
    };
    // Both ops as signed sums (or products with exponents ±1): outer = s_inner*inner + s_1*c1, inner = s_x*x
    // + s_2*c2.
    let inverse = |operator: Op| matches!(operator, Op::Sub | Op::RealDiv | Op::Div);
    let (s_inner, s_1) = match (inverse(outer), constant_first) {
        (false, _) => (1, 1),
        (true, false) => (1, -1),
        (true, true) => (-1, 1),
    };
    let (s_x, s_2) = match (inverse(inner_name), x_first) {
        (false, _) => (1, 1),
        (true, true) => (1, -1),
        (true, false) => (-1, 1),
    };
    let (s_x, s_2) = (s_x * s_inner, s_2 * s_inner);
    let (plus, minus) = if is_sum { (Op::AddV2, Op::Sub) } else { (Op::Mul, Op::RealDiv) };
    let (c, c_sign) = match (s_1, s_2) {
        (1, 1) => (b.one(plus, &[c1, c2]), 1),
        (1, _) => (b.one(minus, &[c1, c2]), 1),
        (_, 1) => (b.one(minus, &[c2, c1]), 1),
        _ => (b.one(plus, &[c1, c2]), -1),
    };
    let c = c.ok()?;
    match (s_x, c_sign) {
        (1, 1) => replacement(b, op, plus, &[x, c]),
        (1, _) => replacement(b, op, minus, &[x, c]),
        (_, 1) => replacement(b, op, minus, &[c, x]),
        _ => None,
    }
}

/// `Pow(x, n)` with a small constant n.
fn power(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let x = m.operand(op, 0);
    let exponent = splat(m, m.operand(op, 1))?;
    if_same_shape(m, op, x)?;
    let float = is_float(m, x);
    match exponent {
        1.0 => Some(x),
        2.0 => replacement(b, op, Op::Square, &[x]),
        3.0 => {
            let square = replacement(b, op, Op::Square, &[x])?;
            replacement(b, op, Op::Mul, &[x, square])
        }
        0.5 if float => replacement(b, op, Op::Sqrt, &[x]),
        -0.5 if float => replacement(b, op, Op::Rsqrt, &[x]),
        -1.0 if float => replacement(b, op, Op::Reciprocal, &[x]),
        _ => None,
    }
}

/// `Select` with a constant condition.
fn choose(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let condition = splat(m, m.operand(op, 0))?;
    if_same_shape(m, op, m.operand(op, if condition != 0.0 { 1 } else { 2 }))
}

/// `Reshape(Reshape(x))` → `Reshape(x)`.
fn reshape(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let inner = producer_if(m, m.operand(op, 0), &[Op::Reshape, Op::Squeeze, Op::ExpandDims])?;
    let (x, shape) = (m.operand(inner, 0), m.operand(op, 1));
    if let Some(x) = if_same_shape(m, op, x) {
        return Some(x);
    }
    replacement(b, op, Op::Reshape, &[x, shape])
}

/// `Squeeze(Reshape(x))` → `x` if the shapes are equal.
fn undo(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let inner = producer_if(m, m.operand(op, 0), &[Op::Reshape, Op::Squeeze, Op::ExpandDims])?;
    if_same_shape(m, op, m.operand(inner, 0))
}

/// `Transpose(Transpose(x))` → `Transpose(x)` or `x`.
fn transpose(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let inner = producer_if(m, m.operand(op, 0), &[Op::Transpose])?;
    let (outer_order, inner_order) =
        (permutation(m, m.operand(op, 1))?, permutation(m, m.operand(inner, 1))?);
    let order: Vec<i64> = outer_order
        .iter()
        .map(|&axis| usize::try_from(axis).ok().and_then(|axis| inner_order.get(axis)).copied())
        .collect::<Option<_>>()?;
    let x = m.operand(inner, 0);
    if order.is_sorted() {
        return Some(x);
    }
    let order = b.ints(&order, DType::I32).ok()?;
    replacement(b, op, Op::Transpose, &[x, order])
}

/// `Bitcast(Bitcast(x))` → `Bitcast(x)`, unless both split an axis or both join one.
fn bitcast(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let inner = producer_if(m, m.operand(op, 0), &[Op::Bitcast])?;
    let x = m.operand(inner, 0);
    let size = |value| Some(dtype(m, value)?.size());
    let (from, between, to) = (size(x)?, size(m.operand(op, 0))?, size(m.result(op, 0))?);
    let are_one = from == between || between == to || from == to;
    if are_one { replacement(b, op, Op::Bitcast, &[x]) } else { None }
}

/// Adjacent constant operands of a concatenation are concatenated first, which constant folding then
/// computes.
fn concat(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let n = m.n_operands(op) - 1;
    let axis = m.operand(op, n);
    constant_of(m, axis)?;
    let parts: Vec<ValueId> = m.operands(op).take(n).collect();
    let known: Vec<bool> = parts.iter().map(|&part| constant_of(m, part).is_some()).collect();
    let start = (0..n.saturating_sub(1)).find(|&i| known[i] && known[i + 1])?;
    let end = (start..n).find(|&i| !known[i]).unwrap_or(n);
    if end - start == n {
        return None;
    }
    let joined = b.one(Op::ConcatV2, &[&parts[start..end], &[axis]].concat()).ok()?;
    let all = [&parts[..start], &[joined], &parts[end..], &[axis]].concat();
    replacement(b, op, Op::ConcatV2, &all)
}
