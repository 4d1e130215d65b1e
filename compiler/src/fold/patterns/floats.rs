//! Patterns of floats. All are exact.

use super::matched;
use crate::fold::defined_by;
use crate::ir::OpId;
use crate::rewrite::{Change, Pattern, Rewriter};

/// `-x * -y` is `x * y`.
pub const MUL_OF_NEG: Pattern = Pattern { name: "mulf-of-negf", benefit: 1, rewrite: of_negations };
/// `-x / -y` is `x / y`.
pub const DIV_OF_NEG: Pattern = Pattern { name: "divf-of-negf", benefit: 1, rewrite: of_negations };

fn of_negations(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let name = r.ir().op_name_str(op).to_owned();
    matched(r, op, |r| {
        let m = r.ir();
        let of = |i: usize| {
            defined_by(m, m.operands(op).nth(i)?, "arith.negf").and_then(|op| m.operands(op).next())
        };
        let (x, y) = (of(0)?, of(1)?);
        let ty = m.value_type(x);
        let fastmath = m.attr_named(op, "fastmath");
        let attrs: Vec<_> = fastmath.into_iter().map(|a| ("fastmath", a)).collect();
        Some(r.create_before(op, &name, &[x, y], &[ty], &attrs))
    })
}
