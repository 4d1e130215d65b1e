//! What is simpler because an operand is a constant.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::{
    apply, branches, broadcast, constant, dims, dtype, ints, is_float, made_by, make, order_in, passing,
    scalar, splat, ty,
};
use crate::dialects::tf::operator;
use crate::ir::{OpId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

macro_rules! patterns {
    ($($name:literal $benefit:literal $rule:ident;)*) => {
        &[$(Pattern { name: $name, benefit: $benefit, rewrite: |r: &mut Rewriter<'_>, op: OpId| -> Change { apply(r, op, $rule) } },)*]
    };
}
pub(super) use patterns;

/// The rewrites of an operator.
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
        Op::ConcatV2 => patterns! {
            "tf-pass-operand" 9 pass;
            "tf-concat-constants" 8 concat;
        },
        Op::If | Op::StatelessIf | Op::Case | Op::StatelessCase => branches::PATTERNS,
        _ => patterns! { "tf-pass-operand" 9 pass; },
    }
}

fn pass(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    passing::operand(r.ir(), op)
}

/// `x` if the op's result has its shape.
fn as_is(r: &Rewriter<'_>, op: OpId, x: ValueId) -> Option<ValueId> {
    let m = r.ir();
    let found = dims(m, x);
    (found.is_some() && found == dims(m, m.result(op, 0))).then_some(x)
}

/// x + 0, x - 0, x * 1, x / 1; and x * 0.
fn neutral(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let (x, y) = (m.operand(op, 0), m.operand(op, 1));
    let operator = operator(m, op)?;
    let (neutral, commutes) = match operator {
        Op::Add | Op::AddV2 => (0.0, true),
        Op::Mul => (1.0, true),
        Op::Sub => (0.0, false),
        _ => (1.0, false),
    };
    if splat(m, y) == Some(neutral) {
        return as_is(r, op, x);
    }
    if commutes && splat(m, x) == Some(neutral) {
        return as_is(r, op, y);
    }
    if operator == Op::Mul && (splat(m, x) == Some(0.0) || splat(m, y) == Some(0.0)) {
        // As TensorFlow has it, for infinities and NaN too.
        let sizes = dims(m, m.result(op, 0))?;
        let (dtype, result) = (dtype(m, x)?, ty(m, m.result(op, 0)));
        let zero = scalar(r, op, 0.0, dtype)?;
        if sizes.is_empty() {
            return Some(zero);
        }
        let shape = ints(r, op, &sizes, DType::I64)?;
        return Some(make(r, op, Op::Fill, &[shape, zero], result, &[]));
    }
    None
}

/// 0 - x is Neg(x); x / c is x * (1/c), where that is exact.
fn negate(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let (x, y) = (m.operand(op, 0), m.operand(op, 1));
    let result = ty(m, m.result(op, 0));
    if operator(m, op) == Some(Op::Sub) && splat(m, x) == Some(0.0) && as_is(r, op, y).is_some() {
        return Some(make(r, op, Op::Neg, &[y], result, &[]));
    }
    None
}

/// Mul(c1, Mul(x, c2)) is Mul(x, c1*c2), and its relatives of Add, Sub, RealDiv.
fn push_down(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let (a, b) = (m.operand(op, 0), m.operand(op, 1));
    let outer = operator(m, op)?;
    let (inner, c1, constant_first) = match (constant(m, a), constant(m, b)) {
        (None, Some(_)) => (a, b, false),
        (Some(_), None) => (b, a, true),
        _ => return None,
    };
    let is_sum = matches!(outer, Op::Add | Op::AddV2 | Op::Sub);
    let kinds: &[Op] = if is_sum { &[Op::Add, Op::AddV2, Op::Sub] } else { &[Op::Mul, Op::RealDiv, Op::Div] };
    if !is_sum && !is_float(m, a) && outer != Op::Mul {
        return None;
    }
    let inner_op = made_by(m, inner, kinds)?;
    let inner_name = operator(m, inner_op)?;
    if !is_sum && !is_float(m, a) && inner_name != Op::Mul {
        return None;
    }
    let (p, q) = (m.operand(inner_op, 0), m.operand(inner_op, 1));
    let (x, c2, x_first) = match (constant(m, p), constant(m, q)) {
        (None, Some(_)) => (p, q, true),
        (Some(_), None) => (q, p, false),
        _ => return None,
    };
    let result = ty(m, m.result(op, 0));
    // As sums with signs, or products with exponents: outer = s_i*inner + s_1*c1, inner = s_x*x + s_2*c2.
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
    let both = broadcast(r, c1, c2);
    let (c, c_sign) = match (s_1, s_2) {
        (1, 1) => (make(r, op, plus, &[c1, c2], both, &[]), 1),
        (1, _) => (make(r, op, minus, &[c1, c2], both, &[]), 1),
        (_, 1) => (make(r, op, minus, &[c2, c1], both, &[]), 1),
        _ => (make(r, op, plus, &[c1, c2], both, &[]), -1),
    };
    Some(match (s_x, c_sign) {
        (1, 1) => make(r, op, plus, &[x, c], result, &[]),
        (1, _) => make(r, op, minus, &[x, c], result, &[]),
        (_, 1) => make(r, op, minus, &[c, x], result, &[]),
        _ => return None,
    })
}

/// x ** n for small n.
fn power(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let x = m.operand(op, 0);
    let exponent = splat(m, m.operand(op, 1))?;
    as_is(r, op, x)?;
    let result = ty(r.ir(), r.ir().result(op, 0));
    let float = is_float(r.ir(), x);
    Some(match exponent {
        1.0 => x,
        2.0 => make(r, op, Op::Square, &[x], result, &[]),
        3.0 => {
            let square = make(r, op, Op::Square, &[x], result, &[]);
            make(r, op, Op::Mul, &[x, square], result, &[])
        }
        0.5 if float => make(r, op, Op::Sqrt, &[x], result, &[]),
        -0.5 if float => make(r, op, Op::Rsqrt, &[x], result, &[]),
        -1.0 if float => make(r, op, Op::Reciprocal, &[x], result, &[]),
        _ => return None,
    })
}

/// A choice whose condition is a constant.
fn choose(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let condition = splat(r.ir(), r.ir().operand(op, 0))?;
    let chosen = r.ir().operand(op, if condition != 0.0 { 1 } else { 2 });
    as_is(r, op, chosen)
}

/// A reshape of something that has only been reshaped.
fn reshape(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let inner = made_by(m, m.operand(op, 0), &[Op::Reshape, Op::Squeeze, Op::ExpandDims])?;
    let (x, shape) = (m.operand(inner, 0), m.operand(op, 1));
    if let Some(x) = as_is(r, op, x) {
        return Some(x);
    }
    let result = ty(r.ir(), r.ir().result(op, 0));
    Some(make(r, op, Op::Reshape, &[x, shape], result, &[]))
}

/// A change of shape that gives back what was there before.
fn undo(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let inner = made_by(m, m.operand(op, 0), &[Op::Reshape, Op::Squeeze, Op::ExpandDims])?;
    let x = m.operand(inner, 0);
    as_is(r, op, x)
}

/// Two transpositions are one.
fn transpose(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let inner = made_by(m, m.operand(op, 0), &[Op::Transpose])?;
    let (outer_order, inner_order) = (order_in(m, m.operand(op, 1))?, order_in(m, m.operand(inner, 1))?);
    let order: Vec<i64> = outer_order
        .iter()
        .map(|&axis| usize::try_from(axis).ok().and_then(|axis| inner_order.get(axis)).copied())
        .collect::<Option<_>>()?;
    let (x, result) = (m.operand(inner, 0), ty(m, m.result(op, 0)));
    if order.is_sorted() {
        return Some(x);
    }
    let order = ints(r, op, &order, DType::I32)?;
    Some(make(r, op, Op::Transpose, &[x, order], result, &[]))
}

/// Neighbours that are constants are joined first.
fn concat(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let n = m.n_operands(op) - 1;
    let axis = m.operand(op, n);
    constant(m, axis)?;
    let parts: Vec<ValueId> = m.operands(op).take(n).collect();
    let known: Vec<bool> = parts.iter().map(|&part| constant(m, part).is_some()).collect();
    let start = (0..n.saturating_sub(1)).find(|&i| known[i] && known[i + 1])?;
    let end = (start..n).find(|&i| !known[i]).unwrap_or(n);
    if end - start == n {
        return None;
    }
    let result = ty(m, m.result(op, 0));
    let mut operands: Vec<ValueId> = parts[start..end].to_vec();
    operands.push(axis);
    let joined = super::unranked(r, parts[start]);
    let joined = make(r, op, Op::ConcatV2, &operands, joined, &[]);
    let mut all: Vec<ValueId> = parts[..start].to_vec();
    all.push(joined);
    all.extend(&parts[end..]);
    all.push(axis);
    Some(make(r, op, Op::ConcatV2, &all, result, &[]))
}
