//! Patterns of casts.

use super::{cast, matched};
use crate::fold::constant::Elem;
use crate::fold::{defined_by, int_value, operands_of};
use crate::ir::{Module, OpId, TypeId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

/// `extsi(extui(x))` is `extui(x)`.
pub const EXTSI_OF_EXTUI: Pattern = Pattern { name: "extsi-of-extui", benefit: 1, rewrite: extsi_of_extui };
/// `trunci(ext(x))` is a shorter extension if the result is wider than `x`.
pub const TRUNC_OF_EXT: Pattern = Pattern { name: "trunci-of-extension", benefit: 1, rewrite: trunc_of_ext };
/// `trunci` of `x >> n` may shift logically if the copies of the sign are truncated.
pub const TRUNC_OF_SHRSI: Pattern =
    Pattern { name: "trunci-shrsi-to-shrui", benefit: 1, rewrite: trunc_of_shrsi };
/// `index_cast(extsi(x))` is `index_cast(x)`.
pub const INDEX_CAST_OF_EXTSI: Pattern =
    Pattern { name: "index-cast-of-extsi", benefit: 1, rewrite: index_cast_of_extsi };
/// `index_castui(extui(x))` is `index_castui(x)`.
pub const INDEX_CASTUI_OF_EXTUI: Pattern =
    Pattern { name: "index-castui-of-extui", benefit: 1, rewrite: index_castui_of_extui };

/// The operand of the cast called `name` that defines the operand of `op`.
fn inner(m: &Module, op: OpId, name: &str) -> Option<ValueId> {
    defined_by(m, m.operands(op).next()?, name).and_then(|op| m.operands(op).next())
}

fn result_type(m: &Module, op: OpId) -> TypeId {
    m.value_type(m.result(op, 0))
}

fn skip(r: &mut Rewriter<'_>, op: OpId, skipped: &str, result: &str) -> Change {
    matched(r, op, |r| {
        let x = inner(r.ir(), op, skipped)?;
        let ty = result_type(r.ir(), op);
        Some(cast(r, op, result, x, ty))
    })
}

fn extsi_of_extui(r: &mut Rewriter<'_>, op: OpId) -> Change {
    skip(r, op, "arith.extui", "arith.extui")
}

fn index_cast_of_extsi(r: &mut Rewriter<'_>, op: OpId) -> Change {
    skip(r, op, "arith.extsi", "arith.index_cast")
}

fn index_castui_of_extui(r: &mut Rewriter<'_>, op: OpId) -> Change {
    skip(r, op, "arith.extui", "arith.index_castui")
}

fn width(m: &Module, ty: TypeId) -> Option<u32> {
    match Elem::of(&m.cx, ty)? {
        Elem::Int(width) => Some(width),
        Elem::Float(_) => None,
    }
}

fn trunc_of_ext(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let to = result_type(m, op);
        let (name, x) =
            ["arith.extsi", "arith.extui"].into_iter().find_map(|name| Some((name, inner(m, op, name)?)))?;
        if width(m, m.value_type(x))? >= width(m, to)? {
            return None;
        }
        Some(cast(r, op, name, x, to))
    })
}

fn trunc_of_shrsi(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let shifted = m.operands(op).next()?;
        let (x, n) = operands_of(m, shifted, "arith.shrsi")?;
        let to = result_type(m, op);
        let (wide, narrow) = (width(m, m.value_type(x))?, width(m, to)?);
        if int_value(m, n)?.unsigned() > u128::from(wide - narrow) {
            return None;
        }
        let new = super::int_op(r, op, "arith.shrui", &[x, n]);
        let new = r.ir().result(new, 0);
        Some(cast(r, op, "arith.trunci", new, to))
    })
}
