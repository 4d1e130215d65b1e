//! Folders of the float ops of `arith`. Identities are exact for every operand, -0.0, infinities and NaNs
//! included.

use super::constant::Scalar;
use super::float::Float;
use super::{ConstantOperands, FoldResult, attr, defined_by, pair, read, result_type, value};
use crate::ir::{Module, OpId};

fn compute(m: &mut Module, op: OpId, c: ConstantOperands<'_>, f: fn(Float, Float) -> Float) -> FoldResult {
    let ty = result_type(m, op)?;
    let (a, b) = (read(m, c, 0)?, read(m, c, 1)?);
    let result = a.zip(&b, |a, b| match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => Some(Scalar::Float(f(a, b))),
        (Scalar::Int(_), _) | (_, Scalar::Int(_)) => None,
    })?;
    attr(result.write(&mut m.cx, ty))
}

/// The float of constant operand `i`, a scalar or splat.
fn float(m: &Module, c: ConstantOperands<'_>, i: usize) -> Option<Float> {
    match read(m, c, i)?.single()? {
        Scalar::Float(float) => Some(float),
        Scalar::Int(_) => None,
    }
}

/// Folds to the first operand if the second one is the neutral element.
fn neutral(m: &mut Module, op: OpId, c: ConstantOperands<'_>, is: fn(Float) -> bool) -> FoldResult {
    let (a, _) = pair(m, op)?;
    if float(m, c, 1).is_some_and(is) { value(a) } else { None }
}

fn is_one(a: Float) -> bool {
    a.value() == 1.0
}

/// `x + -0.0`.
pub fn addf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    neutral(m, op, c, Float::is_negative_zero).or_else(|| compute(m, op, c, Float::add))
}

/// `x - 0.0`.
pub fn subf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    neutral(m, op, c, Float::is_positive_zero).or_else(|| compute(m, op, c, Float::sub))
}

/// `x * 1.0`.
pub fn mulf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    neutral(m, op, c, is_one).or_else(|| compute(m, op, c, Float::mul))
}

/// `x / 1.0`.
pub fn divf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    neutral(m, op, c, is_one).or_else(|| compute(m, op, c, Float::div))
}

/// Folds constants.
pub fn remf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    compute(m, op, c, Float::rem)
}

/// `max(x, -infinity)`.
pub fn maximumf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    neutral(m, op, c, |b| b.is_infinity(true)).or_else(|| compute(m, op, c, Float::maximum))
}

/// `min(x, infinity)`.
pub fn minimumf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    neutral(m, op, c, |b| b.is_infinity(false)).or_else(|| compute(m, op, c, Float::minimum))
}

/// `max(x, NaN)`. (`max(x, -infinity)` is not `x` if `x` is NaN.)
pub fn maxnumf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    neutral(m, op, c, Float::is_nan).or_else(|| compute(m, op, c, Float::max_num))
}

/// `min(x, NaN)`.
pub fn minnumf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    neutral(m, op, c, Float::is_nan).or_else(|| compute(m, op, c, Float::min_num))
}

/// `-(-x)`.
pub fn negf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let x = m.operands(op).next()?;
    if let Some(inner) = defined_by(m, x, "arith.negf") {
        return value(m.operands(inner).next()?);
    }
    let ty = result_type(m, op)?;
    let result = read(m, c, 0)?.map(|a| match a {
        Scalar::Float(a) => Some(Scalar::Float(a.neg())),
        Scalar::Int(_) => None,
    })?;
    attr(result.write(&mut m.cx, ty))
}
