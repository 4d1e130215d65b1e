//! Folders of the casts of `arith`.
//!
//! A float that the narrower format does not have exactly is not cut off at compile time, and one that no integer of
//! the result's width stands for is undefined: both stay.

use super::constant::{Elem, Scalar};
use super::float::Float;
use super::int::Int;
use super::{Answer, attr, defined_by, read, result_type, value};
use crate::ir::{AttrId, Module, OpId, ValueId};

type Constants<'a> = &'a [Option<AttrId>];

fn convert(m: &mut Module, op: OpId, c: Constants<'_>, f: fn(Scalar, Elem) -> Option<Scalar>) -> Answer {
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
fn skip(m: &mut Module, op: OpId, names: &[&str]) -> Answer {
    let (_, x) = names.iter().find_map(|name| inner(m, op, name))?;
    m.set_operand(op, 0, x);
    Some(Vec::new())
}

/// Of `extsi`.
pub fn extsi(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
    skip(m, op, &["arith.extsi"]).or_else(|| convert(m, op, c, |x, to| resize(x, to, Int::resize_signed)))
}

/// Of `extui`.
pub fn extui(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
    skip(m, op, &["arith.extui"]).or_else(|| convert(m, op, c, |x, to| resize(x, to, Int::resize_unsigned)))
}

/// Of an extension from the type of the result or a wider one, of `trunci`.
pub fn trunci(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
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

/// Constants only.
pub fn extf(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
    convert(m, op, c, exactly)
}

/// Constants that the format has.
pub fn truncf(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
    convert(m, op, c, exactly)
}

/// Constants only.
pub fn sitofp(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
    convert(m, op, c, |x, to| match (x, to) {
        (Scalar::Int(x), Elem::Float(kind)) => Float::from_signed(kind, x.signed()).map(Scalar::Float),
        (Scalar::Float(_), _) | (_, Elem::Int(_)) => None,
    })
}

/// Constants only.
pub fn uitofp(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
    convert(m, op, c, |x, to| match (x, to) {
        (Scalar::Int(x), Elem::Float(kind)) => Float::from_unsigned(kind, x.unsigned()).map(Scalar::Float),
        (Scalar::Float(_), _) | (_, Elem::Int(_)) => None,
    })
}

/// Constants that the integers of this width have.
pub fn fptosi(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
    convert(m, op, c, |x, to| match (x, to) {
        (Scalar::Float(x), Elem::Int(width)) => {
            let value = x.truncated()?;
            let int = Int::new(width, value as u128)?;
            (int.signed() == value).then_some(Scalar::Int(int))
        }
        (Scalar::Int(_), _) | (_, Elem::Float(_)) => None,
    })
}

/// Constants that the unsigned integers of this width have.
pub fn fptoui(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
    convert(m, op, c, |x, to| match (x, to) {
        (Scalar::Float(x), Elem::Int(width)) => {
            let value = u128::try_from(x.truncated()?).ok()?;
            let int = Int::new(width, value)?;
            (int.unsigned() == value).then_some(Scalar::Int(int))
        }
        (Scalar::Int(_), _) | (_, Elem::Float(_)) => None,
    })
}

/// There and back, constants.
pub fn index_cast(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
    there_and_back(m, op, "arith.index_cast")
        .or_else(|| convert(m, op, c, |x, to| resize(x, to, Int::resize_signed)))
}

/// There and back, constants.
pub fn index_castui(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
    there_and_back(m, op, "arith.index_castui")
        .or_else(|| convert(m, op, c, |x, to| resize(x, to, Int::resize_unsigned)))
}

/// Through a type that has all numbers of the first one. (Upstream does not ask: `index` through `i8` is the same to it.)
fn there_and_back(m: &mut Module, op: OpId, name: &str) -> Answer {
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

/// To its own type, of `bitcast`, constants.
pub fn bitcast(m: &mut Module, op: OpId, c: Constants<'_>) -> Answer {
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
