//! Folders of the casts of `arith`.
//!
//! A float without an exact value in the narrower format is not truncated at compile time. A float outside of
//! the range of the result's integer type is undefined. Both casts stay.

use super::constant::{Elem, Scalar};
use super::float::Float;
use super::int::Int;
use super::{ConstantOperands, FoldResult, attr, defined_by, read, result_type, value};
use crate::ir::{Module, OpId, ValueId};

fn convert(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
    f: fn(Scalar, Elem) -> Option<Scalar>,
) -> FoldResult {
    let ty = result_type(m, op)?;
    let to = Elem::of(&m.cx, ty)?;
    let result = read(m, c, 0)?.map(|x| f(x, to))?;
    attr(result.write(&mut m.cx, ty))
}

fn resize(x: Scalar, to: Elem, f: fn(Int, u32) -> Option<Int>) -> Option<Scalar> {
    match (x, to) {
        (Scalar::Int(x), Elem::Int(width)) => f(x, width).map(Scalar::Int),
        (Scalar::Float(_), _) | (_, Elem::Float(_)) => None,
    }
}

/// The operand of the op called `name` that defines the operand of `op`.
fn inner(m: &Module, op: OpId, name: &str) -> Option<(OpId, ValueId)> {
    let inner = defined_by(m, m.operands(op).next()?, name)?;
    Some((inner, m.operands(inner).next()?))
}

/// Skips an inner cast, in place.
fn skip(m: &mut Module, op: OpId, names: &[&str]) -> FoldResult {
    let (_, x) = names.iter().find_map(|name| inner(m, op, name))?;
    m.set_operand(op, 0, x);
    Some(Vec::new())
}

/// Folds `extsi` of `extsi`.
pub fn extsi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    skip(m, op, &["arith.extsi"]).or_else(|| convert(m, op, c, |x, to| resize(x, to, Int::resize_signed)))
}

/// Folds `extui` of `extui`.
pub fn extui(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    skip(m, op, &["arith.extui"]).or_else(|| convert(m, op, c, |x, to| resize(x, to, Int::resize_unsigned)))
}

/// Folds `trunci` of an extension from the result's type or a wider one, and `trunci` of `trunci`.
pub fn trunci(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let to = result_type(m, op)?;
    for name in ["arith.extsi", "arith.extui"] {
        let Some((_, x)) = inner(m, op, name) else { continue };
        let from = m.value_type(x);
        if from == to {
            return value(x);
        }
        if let (Some(Elem::Int(from)), Some(Elem::Int(to))) = (Elem::of(&m.cx, from), Elem::of(&m.cx, to))
            && from > to
        {
            m.set_operand(op, 0, x);
            return Some(Vec::new());
        }
    }
    skip(m, op, &["arith.trunci"]).or_else(|| convert(m, op, c, |x, to| resize(x, to, Int::resize_unsigned)))
}

fn exactly(x: Scalar, to: Elem) -> Option<Scalar> {
    match (x, to) {
        (Scalar::Float(x), Elem::Float(kind)) => x.convert_exactly(kind).map(Scalar::Float),
        (Scalar::Int(_), _) | (_, Elem::Int(_)) => None,
    }
}

/// Folds constants.
pub fn extf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    convert(m, op, c, exactly)
}

/// Folds constants that are exact in the narrower format.
pub fn truncf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    convert(m, op, c, exactly)
}

/// Folds constants.
pub fn sitofp(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    convert(m, op, c, |x, to| match (x, to) {
        (Scalar::Int(x), Elem::Float(kind)) => Float::from_signed(kind, x.signed()).map(Scalar::Float),
        (Scalar::Float(_), _) | (_, Elem::Int(_)) => None,
    })
}

/// Folds constants.
pub fn uitofp(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    convert(m, op, c, |x, to| match (x, to) {
        (Scalar::Int(x), Elem::Float(kind)) => Float::from_unsigned(kind, x.unsigned()).map(Scalar::Float),
        (Scalar::Float(_), _) | (_, Elem::Int(_)) => None,
    })
}

/// Folds constants in the range of the integers of this width.
pub fn fptosi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    convert(m, op, c, |x, to| match (x, to) {
        (Scalar::Float(x), Elem::Int(width)) => {
            let value = x.truncated()?;
            let int = Int::new(width, value as u128)?;
            (int.signed() == value).then_some(Scalar::Int(int))
        }
        (Scalar::Int(_), _) | (_, Elem::Float(_)) => None,
    })
}

/// Folds constants in the range of the unsigned integers of this width.
pub fn fptoui(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    convert(m, op, c, |x, to| match (x, to) {
        (Scalar::Float(x), Elem::Int(width)) => {
            let value = u128::try_from(x.truncated()?).ok()?;
            let int = Int::new(width, value)?;
            (int.unsigned() == value).then_some(Scalar::Int(int))
        }
        (Scalar::Int(_), _) | (_, Elem::Float(_)) => None,
    })
}

/// Folds round trips and constants.
pub fn index_cast(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    there_and_back(m, op, "arith.index_cast")
        .or_else(|| convert(m, op, c, |x, to| resize(x, to, Int::resize_signed)))
}

/// Folds round trips and constants.
pub fn index_castui(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    there_and_back(m, op, "arith.index_castui")
        .or_else(|| convert(m, op, c, |x, to| resize(x, to, Int::resize_unsigned)))
}

/// Folds a round trip through a type that contains all numbers of the first one. (Upstream does not check
/// that: `index` through `i8` is the identity there.)
fn there_and_back(m: &mut Module, op: OpId, name: &str) -> FoldResult {
    let (cast, x) = inner(m, op, name)?;
    let (from, through) = (m.value_type(x), result_type(m, cast)?);
    match (Elem::of(&m.cx, from), Elem::of(&m.cx, through)) {
        (Some(Elem::Int(width)), Some(Elem::Int(wide)))
            if width <= wide && Some(from) == result_type(m, op) =>
        {
            value(x)
        }
        _ => None,
    }
}

/// Folds casts to the same type, `bitcast` of `bitcast`, and constants.
pub fn bitcast(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let (from, to) = (m.operands(op).next()?, result_type(m, op)?);
    if m.value_type(from) == to {
        return value(from);
    }
    skip(m, op, &["arith.bitcast"]).or_else(|| {
        convert(m, op, c, |x, to| {
            let bits = match x {
                Scalar::Int(x) => x.unsigned(),
                Scalar::Float(x) => u128::from(x.bits()),
            };
            match to {
                Elem::Int(width) => Int::new(width, bits).map(Scalar::Int),
                Elem::Float(kind) => Float::new(kind, bits as u64).map(Scalar::Float),
            }
        })
    })
}
