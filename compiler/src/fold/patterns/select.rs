//! Patterns of `arith.select`.

use super::{cast, int_constant, int_op, matched};
use crate::dialects::arith::Select;
use crate::fold::compare::negated;
use crate::fold::int::Int;
use crate::fold::{defined_by, int_value};
use crate::ir::{KnownType, Module, OpId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

/// `select(c, x, select(c, a, b))` is `select(c, x, b)`, and likewise for the other operand.
pub const NESTED: Pattern = Pattern { name: "select-nested", benefit: 1, rewrite: nested };
/// `select(!c, a, b)` is `select(c, b, a)`.
pub const OF_NOT: Pattern = Pattern { name: "select-not-condition", benefit: 1, rewrite: of_not };
/// `select(c, false, true)` is `!c`.
pub const TO_NOT: Pattern = Pattern { name: "select-i1-to-not", benefit: 1, rewrite: to_not };
/// `select(c, 1, 0)` is `extui(c)`; `select(c, 0, 1)` is `extui(!c)`.
pub const TO_EXTUI: Pattern = Pattern { name: "select-to-extui", benefit: 1, rewrite: to_extui };

fn parts(m: &Module, op: OpId) -> Option<(ValueId, ValueId, ValueId)> {
    let select = Select::of(m, op)?;
    Some((select.condition(m), select.true_value(m), select.false_value(m)))
}

fn make(r: &mut Rewriter<'_>, op: OpId, c: ValueId, a: ValueId, b: ValueId) -> OpId {
    let ty = r.ir().value_type(a);
    r.create_before(op, "arith.select", &[c, a, b], &[ty], &[])
}

fn nested(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let (c, a, b) = parts(m, op)?;
        let inner = |v| defined_by(m, v, "arith.select").and_then(|op| parts(m, op)).filter(|p| p.0 == c);
        let (a, b) = match (inner(a), inner(b)) {
            (Some((_, a, _)), _) => (a, b),
            (None, Some((_, _, b))) => (a, b),
            (None, None) => return None,
        };
        Some(make(r, op, c, a, b))
    })
}

fn of_not(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let (c, a, b) = parts(r.ir(), op)?;
        let c = negated(r.ir(), c)?;
        Some(make(r, op, c, b, a))
    })
}

fn to_not(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let (c, a, b) = parts(m, op)?;
        let ty = m.value_type(c);
        let fits = m.cx.element(ty) == KnownType::I1.id()
            && m.value_type(a) == ty
            && int_value(m, a).is_some_and(Int::is_zero)
            && int_value(m, b).is_some_and(Int::is_one);
        if !fits {
            return None;
        }
        Some(int_op(r, op, "arith.xori", &[c, b]))
    })
}

fn to_extui(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let (c, a, b) = parts(m, op)?;
        let ty = m.value_type(a);
        let integer = matches!(m.cx.ty(m.cx.element(ty)), crate::ir::TypeKind::Integer { .. });
        if !integer || m.cx.element(ty) == KnownType::I1.id() || !m.cx.same_container(ty, m.value_type(c)) {
            return None;
        }
        let (x, y) = (int_value(m, a)?, int_value(m, b)?);
        let condition = match () {
            () if x.is_one() && y.is_zero() => c,
            () if x.is_zero() && y.is_one() => {
                let bit = m.value_type(c);
                let yes = int_constant(r, op, bit, -1)?;
                let not = int_op(r, op, "arith.xori", &[c, yes]);
                r.ir().result(not, 0)
            }
            () => return None,
        };
        Some(cast(r, op, "arith.extui", condition, ty))
    })
}
