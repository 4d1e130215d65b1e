//! Folders of comparisons and of `arith.select`.

use super::constant::{Constant, Scalar};
use super::int::Int;
use super::{
    ConstantOperands, FoldResult, attr, defined_by, int, int_attr, int_value, pair, read, result_type, value,
};
use crate::dialects::arith::{CMPI, Select};
use crate::ir::{AttrId, KnownType, Module, OpId};
use std::cmp::Ordering;

/// A predicate of `arith.cmpi`, by its number in [`CMPI`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are upstream's")]
pub enum CmpI {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
}

impl CmpI {
    const ALL: [CmpI; 10] = {
        use CmpI::*;
        [Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge]
    };

    /// The predicate of an `arith.cmpi`.
    pub fn of(m: &Module, op: OpId) -> Option<CmpI> {
        let number = m.attr_named(op, "predicate").and_then(|a| m.cx.as_int(a))?;
        usize::try_from(number).ok().and_then(|i| Self::ALL.get(i).copied())
    }

    /// The attribute for the predicate.
    pub fn attr(self, m: &mut Module) -> AttrId {
        m.cx.int_attr(CMPI.ty.id(), self as i64)
    }

    /// The negation of the predicate.
    pub fn inverse(self) -> CmpI {
        use CmpI::*;
        match self {
            Eq => Ne,
            Ne => Eq,
            Slt => Sge,
            Sle => Sgt,
            Sgt => Sle,
            Sge => Slt,
            Ult => Uge,
            Ule => Ugt,
            Ugt => Ule,
            Uge => Ult,
        }
    }

    /// The predicate for exchanged operands.
    pub fn flipped(self) -> CmpI {
        use CmpI::*;
        match self {
            Eq | Ne => self,
            Slt => Sgt,
            Sle => Sge,
            Sgt => Slt,
            Sge => Sle,
            Ult => Ugt,
            Ule => Uge,
            Ugt => Ult,
            Uge => Ule,
        }
    }

    /// True if the predicate compares signed integers.
    pub fn is_signed(self) -> bool {
        matches!(self, CmpI::Slt | CmpI::Sle | CmpI::Sgt | CmpI::Sge)
    }

    /// True if the predicate compares unsigned integers.
    pub fn is_unsigned(self) -> bool {
        matches!(self, CmpI::Ult | CmpI::Ule | CmpI::Ugt | CmpI::Uge)
    }

    /// True if the predicate holds for operands with these orderings.
    pub fn accepts(self, signed: Ordering, unsigned: Ordering) -> bool {
        use CmpI::*;
        match self {
            Eq => signed.is_eq(),
            Ne => signed.is_ne(),
            Slt => signed.is_lt(),
            Sle => signed.is_le(),
            Sgt => signed.is_gt(),
            Sge => signed.is_ge(),
            Ult => unsigned.is_lt(),
            Ule => unsigned.is_le(),
            Ugt => unsigned.is_gt(),
            Uge => unsigned.is_ge(),
        }
    }

    /// True if the predicate holds for two integers.
    pub fn holds(self, a: Int, b: Int) -> bool {
        self.accepts(a.signed().cmp(&b.signed()), a.unsigned().cmp(&b.unsigned()))
    }
}

fn truth(bit: bool) -> Option<Scalar> {
    Int::new(1, u128::from(bit)).map(Scalar::Int)
}

/// Folds comparisons of a value with itself, of `i1` values with constants, of extended `i1` values with 0,
/// and of constants; moves constants to the right.
pub fn cmpi(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let predicate = CmpI::of(m, op)?;
    let (a, b) = pair(m, op)?;
    let ty = result_type(m, op)?;
    if a == b {
        let bits = i128::from(predicate.accepts(Ordering::Equal, Ordering::Equal));
        return attr(int_attr(&mut m.cx, ty, bits));
    }
    let against = int(m, c, 1);
    if against.is_some_and(Int::is_zero) {
        for extension in ["arith.extsi", "arith.extui"] {
            if let Some(x) = defined_by(m, a, extension).and_then(|op| m.operands(op).next())
                && m.cx.element(m.value_type(x)) == KnownType::I1.id()
                && predicate == CmpI::Ne
            {
                return value(x);
            }
        }
    }
    if m.cx.element(m.value_type(a)) == KnownType::I1.id() {
        let same = match predicate {
            CmpI::Ne => against.is_some_and(Int::is_zero),
            CmpI::Eq => against.is_some_and(Int::is_one),
            _ => false,
        };
        if same {
            return value(a);
        }
    }
    if let (Some(a), Some(b)) = (read(m, c, 0), read(m, c, 1)) {
        let result = a.zip(&b, |a, b| match (a, b) {
            (Scalar::Int(a), Scalar::Int(b)) => truth(predicate.holds(a, b)),
            (Scalar::Float(_), _) | (_, Scalar::Float(_)) => None,
        })?;
        return attr(result.write(&mut m.cx, ty));
    }
    if c.first().copied().flatten().is_some() && c.get(1).copied().flatten().is_none() {
        let flipped = predicate.flipped().attr(m);
        let name = m.cx.str_id("predicate");
        m.set_operand(op, 0, b);
        m.set_operand(op, 1, a);
        m.set_attr(op, name, flipped);
        return Some(Vec::new());
    }
    None
}

/// Folds comparisons of constants, and of anything with NaN.
pub fn cmpf(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let number = m.attr_named(op, "predicate").and_then(|a| m.cx.as_int(a))?;
    // Upstream numbers the predicates from 0 (always false) to 15 (always true).
    let number = u32::try_from(number).ok().filter(|n| *n < 16)?;
    let ty = result_type(m, op)?;
    // `o..` are 1 to 7, `u..` 8 to 14.
    let accepts = |found: Option<Ordering>| match found {
        None => matches!(number, 8..=15),
        Some(order) => match number {
            0 | 14 => false,
            1 | 8 => order.is_eq(),
            2 | 9 => order.is_gt(),
            3 | 10 => order.is_ge(),
            4 | 11 => order.is_lt(),
            5 | 12 => order.is_le(),
            6 | 13 => order.is_ne(),
            _ => true,
        },
    };
    if matches!(number, 0 | 15) {
        return attr(int_attr(&mut m.cx, ty, i128::from(number == 15)));
    }
    let (a, b) = (read(m, c, 0), read(m, c, 1));
    let nan = |x: &Option<Constant>| matches!(x.as_ref().and_then(Constant::single), Some(Scalar::Float(x)) if x.is_nan());
    if nan(&a) || nan(&b) {
        return attr(int_attr(&mut m.cx, ty, i128::from(accepts(None))));
    }
    let result = a?.zip(&b?, |a, b| match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => truth(accepts(a.compare(b))),
        (Scalar::Int(_), _) | (_, Scalar::Int(_)) => None,
    })?;
    attr(result.write(&mut m.cx, ty))
}

/// Folds a constant condition, equal values, `select(c, true, false)`, and a condition that compares the two
/// values.
pub fn select(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    let select = Select::of(m, op)?;
    let (condition, a, b) = (select.condition(m), select.true_value(m), select.false_value(m));
    if a == b {
        return value(a);
    }
    if let Some(truth) = int(m, c, 0) {
        return value(if truth.is_zero() { b } else { a });
    }
    let ty = result_type(m, op)?;
    if m.cx.element(ty) == KnownType::I1.id()
        && m.value_type(condition) == ty
        && int(m, c, 1).is_some_and(Int::is_one)
        && int(m, c, 2).is_some_and(Int::is_zero)
    {
        return value(condition);
    }
    if let Some(compare) = defined_by(m, condition, "arith.cmpi")
        && let (Some(predicate), Some((x, y))) = (CmpI::of(m, compare), pair(m, compare))
        && ((x, y) == (a, b) || (x, y) == (b, a))
    {
        match predicate {
            CmpI::Eq => return value(b),
            CmpI::Ne => return value(a),
            _ => {}
        }
    }
    let (condition, a, b) = (read(m, c, 0)?, read(m, c, 1)?, read(m, c, 2)?);
    attr(condition.choose(&a, &b)?.write(&mut m.cx, ty))
}

/// The value `x` if `value` is `x ^ true`.
pub fn negated(m: &Module, value: crate::ir::ValueId) -> Option<crate::ir::ValueId> {
    let (x, ones) = super::operands_of(m, value, "arith.xori")?;
    (m.cx.element(m.value_type(x)) == KnownType::I1.id() && int_value(m, ones).is_some_and(Int::is_ones))
        .then_some(x)
}
