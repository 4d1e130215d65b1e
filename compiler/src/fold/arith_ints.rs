//! Folders of the integer ops of `arith`.
//!
//! Each first tries identities (`x + 0`), which need one constant or none, then computes. The docs list the
//! identities.

use super::constant::{Constant, Scalar};
use super::int::Int;
use super::{ConstantOperands, FoldResult, attr, int, int_attr, operands_of, pair, read, result_type, value};
use crate::dialects::Folded;
use crate::ir::{AttrId, Module, OpId, ValueId};

/// Computes with two integers, element by element.
fn compute(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
    f: impl Fn(Int, Int) -> Option<Int>,
) -> FoldResult {
    attr(zip(m, op, c, 0, f))
}

fn zip(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
    result: usize,
    f: impl Fn(Int, Int) -> Option<Int>,
) -> Option<AttrId> {
    let ty = m.value_type(m.results(op).nth(result)?);
    let (a, b) = (read(m, c, 0)?, read(m, c, 1)?);
    ints(&a, &b, f)?.write(&mut m.cx, ty)
}

/// Computes with two lists of integers.
pub(super) fn ints(a: &Constant, b: &Constant, f: impl Fn(Int, Int) -> Option<Int>) -> Option<Constant> {
    a.zip(b, |a, b| match (a, b) {
        (Scalar::Int(a), Scalar::Int(b)) => f(a, b).map(Scalar::Int),
        (Scalar::Float(_), _) | (_, Scalar::Float(_)) => None,
    })
}

/// An integer for every element of the result.
fn all(m: &mut Module, op: OpId, bits: i128) -> FoldResult {
    let ty = result_type(m, op)?;
    attr(int_attr(&mut m.cx, ty, bits))
}

fn is(m: &Module, c: ConstantOperands<'_>, i: usize, what: fn(Int) -> bool) -> bool {
    int(m, c, i).is_some_and(what)
}

/// True if `bit` of `overflowFlags` is set on the op that defines the value.
fn has_flag(m: &Module, value: ValueId, bit: u32) -> bool {
    let flags = m.defining_op(value).and_then(|op| m.attr_named(op, "overflowFlags"));
    flags.and_then(|a| crate::dialects::arith::OVERFLOW.bits(&m.cx, a)).is_some_and(|set| set >> bit & 1 == 1)
}

/// `x + 0`, `(x - y) + y`, `y + (x - y)`.
pub fn addi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let (a, b) = pair(m, op)?;
    if is(m, c, 1, Int::is_zero) {
        return value(a);
    }
    for (difference, other) in [(a, b), (b, a)] {
        if let Some((x, y)) = operands_of(m, difference, "arith.subi")
            && y == other
        {
            return value(x);
        }
    }
    compute(m, op, c, |a, b| Some(a.add(b)))
}

/// `x - x`, `x - 0`, `(x + y) - y`, `(x + y) - x`.
pub fn subi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let (a, b) = pair(m, op)?;
    if a == b {
        return all(m, op, 0);
    }
    if is(m, c, 1, Int::is_zero) {
        return value(a);
    }
    if let Some((x, y)) = operands_of(m, a, "arith.addi") {
        if y == b {
            return value(x);
        }
        if x == b {
            return value(y);
        }
    }
    compute(m, op, c, |a, b| Some(a.sub(b)))
}

/// `x * 0`, `x * 1`.
pub fn muli(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let (a, b) = pair(m, op)?;
    if is(m, c, 1, Int::is_zero) {
        return value(b);
    }
    if is(m, c, 1, Int::is_one) {
        return value(a);
    }
    compute(m, op, c, |a, b| Some(a.mul(b)))
}

/// `x / 1`, and `(x * y) / y` where the product does not overflow by flag `bit`.
fn divide(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
    bit: Option<u32>,
    f: fn(Int, Int) -> Option<Int>,
) -> FoldResult {
    let (a, b) = pair(m, op)?;
    if is(m, c, 1, |b| b.is_one() && b.width() > 1) || bit != Some(NSW) && is(m, c, 1, Int::is_one) {
        return value(a);
    }
    if let Some(bit) = bit
        && let Some((x, y)) = operands_of(m, a, "arith.muli")
        && has_flag(m, a, bit)
    {
        if y == b {
            return value(x);
        }
        if x == b {
            return value(y);
        }
    }
    compute(m, op, c, f)
}

const NSW: u32 = 0;
const NUW: u32 = 1;

/// `x / 1`, `(x * y) / y`.
pub fn divsi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    divide(m, op, c, Some(NSW), Int::div_signed)
}

/// `x / 1`, `(x * y) / y`.
pub fn divui(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    divide(m, op, c, Some(NUW), Int::div_unsigned)
}

/// `x / 1`.
pub fn ceildivsi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    signed_rounded(m, op, c, Int::ceil_div_signed)
}

/// `x / 1`.
pub fn floordivsi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    signed_rounded(m, op, c, Int::floor_div_signed)
}

fn signed_rounded(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
    f: fn(Int, Int) -> Option<Int>,
) -> FoldResult {
    if is(m, c, 1, |b| b.is_one() && b.width() > 1) {
        return value(m.operand(op, 0));
    }
    compute(m, op, c, f)
}

/// `x / 1`.
pub fn ceildivui(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    divide(m, op, c, None, Int::ceil_div_unsigned)
}

/// `x % 1`.
pub fn remsi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    if is(m, c, 1, Int::is_one) {
        return all(m, op, 0);
    }
    compute(m, op, c, Int::rem_signed)
}

/// `x % 1`.
pub fn remui(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    if is(m, c, 1, Int::is_one) {
        return all(m, op, 0);
    }
    compute(m, op, c, Int::rem_unsigned)
}

/// True if one operand is `not` of the other.
fn complements(m: &Module, a: ValueId, b: ValueId) -> bool {
    [(a, b), (b, a)].into_iter().any(|(not, x)| {
        operands_of(m, not, "arith.xori")
            .is_some_and(|(y, ones)| y == x && super::int_value(m, ones).is_some_and(Int::is_ones))
    })
}

/// `x & 0`, `x & -1`, `x & ~x`, `x & (x & y)`.
pub fn andi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let (a, b) = pair(m, op)?;
    if is(m, c, 1, Int::is_zero) {
        return value(b);
    }
    if is(m, c, 1, Int::is_ones) {
        return value(a);
    }
    if complements(m, a, b) {
        return all(m, op, 0);
    }
    for (both, x) in [(a, b), (b, a)] {
        if operands_of(m, both, "arith.andi").is_some_and(|(y, z)| y == x || z == x) {
            return value(both);
        }
    }
    compute(m, op, c, |a, b| Some(a.and(b)))
}

/// `x | 0`, `x | -1`, `x | ~x`.
pub fn ori(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let (a, b) = pair(m, op)?;
    if is(m, c, 1, Int::is_zero) {
        return value(a);
    }
    if is(m, c, 1, Int::is_ones) {
        return value(b);
    }
    if complements(m, a, b) {
        return all(m, op, -1);
    }
    compute(m, op, c, |a, b| Some(a.or(b)))
}

/// `x ^ 0`, `x ^ x`, `(x ^ y) ^ y`.
pub fn xori(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let (a, b) = pair(m, op)?;
    if is(m, c, 1, Int::is_zero) {
        return value(a);
    }
    if a == b {
        return all(m, op, 0);
    }
    for (either, other) in [(a, b), (b, a)] {
        if let Some((x, y)) = operands_of(m, either, "arith.xori") {
            if y == other {
                return value(x);
            }
            if x == other {
                return value(y);
            }
        }
    }
    compute(m, op, c, |a, b| Some(a.xor(b)))
}

fn shift(m: &mut Module, op: OpId, c: ConstantOperands<'_>, f: fn(Int, Int) -> Option<Int>) -> FoldResult {
    if is(m, c, 1, Int::is_zero) {
        return value(m.operand(op, 0));
    }
    compute(m, op, c, f)
}

/// Shift by 0.
pub fn shli(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    shift(m, op, c, Int::shl)
}

/// Shift by 0.
pub fn shrsi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    shift(m, op, c, Int::shr_signed)
}

/// Shift by 0.
pub fn shrui(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    shift(m, op, c, Int::shr_unsigned)
}

/// Folds a minimum or maximum: `absorbing` is the result whatever the other operand is, `neutral` never is.
fn extreme(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
    absorbing: fn(Int) -> bool,
    neutral: fn(Int) -> bool,
    first: fn(Int, Int) -> bool,
) -> FoldResult {
    let (a, b) = pair(m, op)?;
    if is(m, c, 1, absorbing) {
        return value(b);
    }
    if is(m, c, 1, neutral) {
        return value(a);
    }
    compute(m, op, c, |a, b| Some(if first(a, b) { a } else { b }))
}

fn is_signed_min(a: Int) -> bool {
    a == a.signed_min()
}

fn is_signed_max(a: Int) -> bool {
    a == a.signed_max()
}

/// With the least or the greatest number.
pub fn maxsi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    extreme(m, op, c, is_signed_max, is_signed_min, |a, b| a.signed() >= b.signed())
}

/// With the least or the greatest number.
pub fn minsi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    extreme(m, op, c, is_signed_min, is_signed_max, |a, b| a.signed() <= b.signed())
}

/// With the least or the greatest number.
pub fn maxui(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    extreme(m, op, c, Int::is_ones, Int::is_zero, |a, b| a.unsigned() >= b.unsigned())
}

/// With the least or the greatest number.
pub fn minui(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    extreme(m, op, c, Int::is_zero, Int::is_ones, |a, b| a.unsigned() <= b.unsigned())
}

fn truth(bit: bool) -> Option<Int> {
    Int::new(1, u128::from(bit))
}

/// `x + 0`.
pub fn addui_extended(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let overflow = m.value_type(m.results(op).nth(1)?);
    if is(m, c, 1, Int::is_zero) {
        let none = int_attr(&mut m.cx, overflow, 0)?;
        return Some(vec![Folded::Value(m.operand(op, 0)), Folded::Attr(none)]);
    }
    let sum = zip(m, op, c, 0, |a, b| Some(a.add(b)))?;
    let carry = zip(m, op, c, 1, |a, b| truth(!a.add_fits_unsigned(b)))?;
    Some(vec![Folded::Attr(sum), Folded::Attr(carry)])
}

/// `x * 0`.
pub fn mulsi_extended(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    extended(m, op, c, Int::mul_high_signed)
}

/// `x * 0`, `x * 1`.
pub fn mului_extended(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    if is(m, c, 1, Int::is_one) {
        let ty = result_type(m, op)?;
        let high = int_attr(&mut m.cx, ty, 0)?;
        return Some(vec![Folded::Value(m.operand(op, 0)), Folded::Attr(high)]);
    }
    extended(m, op, c, Int::mul_high_unsigned)
}

fn extended(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
    high: fn(Int, Int) -> Option<Int>,
) -> FoldResult {
    if is(m, c, 1, Int::is_zero) {
        let zero = m.operand(op, 1);
        return Some(vec![Folded::Value(zero), Folded::Value(zero)]);
    }
    let low = zip(m, op, c, 0, |a, b| Some(a.mul(b)))?;
    let high = zip(m, op, c, 1, high)?;
    Some(vec![Folded::Attr(low), Folded::Attr(high)])
}
