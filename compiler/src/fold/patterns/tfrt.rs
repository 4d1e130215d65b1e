//! Patterns of `tfrt`. The replacement depends on the same operands, so errors propagate as before.

use super::matched;
use crate::fold::{constant_of, materialize};
use crate::ir::{OpId, TypeId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

/// Combines the constants of `(x + a) + b` and `(x * a) * b` of integers.
pub const CONSTANTS: Pattern = Pattern { name: "tfrt-constants", benefit: 1, rewrite: constants };

fn constants(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let name = m.op_name_str(op).to_owned();
        let (inner, b) = super::super::operands_of(m, m.result(op, 0), &name)?;
        let (x, a) = super::super::operands_of(m, inner, &name)?;
        constant_of(m, a)?;
        constant_of(m, b)?;
        let both = fold_two(r, op, a, b)?;
        let ty: TypeId = r.ir().value_type(x);
        Some(r.create_before(op, &name, &[x, both], &[ty], &[]))
    })
}

/// The constant result of the op for two constants.
fn fold_two(r: &mut Rewriter<'_>, op: OpId, a: ValueId, b: ValueId) -> Option<ValueId> {
    let constants = [constant_of(r.ir(), a), constant_of(r.ir(), b)];
    let attr = match r.would_fold(op, &constants)?.as_slice() {
        [crate::dialects::Folded::Attr(attr)] => *attr,
        _ => return None,
    };
    let ty = r.ir().value_type(a);
    materialize(r, op, "tfrt", attr, ty)
}
