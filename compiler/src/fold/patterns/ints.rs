//! Patterns of the integer ops of `arith` that create ops.

use super::{attr_with, constant, int_op, matched};
use crate::fold::compare::{CmpI, negated};
use crate::fold::int::Int;
use crate::fold::{constant_of, defined_by, int_value, operands_of};
use crate::ir::{Module, OpId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

/// Combines the constants of `(x + a) + b`, `(x - a) + b`, `(a - x) + b`.
pub const ADD_CONSTANTS: Pattern = Pattern { name: "addi-constants", benefit: 1, rewrite: add_constants };
/// `x + y * -1` is `x - y`.
pub const ADD_NEGATIVE: Pattern = Pattern { name: "addi-negative", benefit: 1, rewrite: add_negative };
/// Combines the constants of differences with sums and differences.
pub const SUB_CONSTANTS: Pattern = Pattern { name: "subi-constants", benefit: 1, rewrite: sub_constants };
/// `(a - b) - a` is `0 - b`.
pub const SUB_SELF: Pattern = Pattern { name: "subi-self", benefit: 1, rewrite: sub_self };
/// Combines the constants of `(x * a) * b`.
pub const MUL_CONSTANTS: Pattern = Pattern { name: "muli-constants", benefit: 1, rewrite: mul_constants };
/// `ext(x) & ext(y)` is `ext(x & y)`; the same for `|` and `^`.
pub const BITWISE_OF_EXT: Pattern =
    Pattern { name: "bitwise-of-extension", benefit: 1, rewrite: bitwise_of_extension };
/// `cmpi ^ true` is the inverse comparison.
pub const NOT_OF_COMPARE: Pattern = Pattern { name: "xori-not-cmpi", benefit: 1, rewrite: not_of_compare };
/// A comparison of two extensions is a comparison of their operands.
pub const COMPARE_EXT: Pattern = Pattern { name: "cmpi-extension", benefit: 1, rewrite: compare_extensions };
/// A sum whose overflow is unused is `addi`.
pub const PLAIN_SUM: Pattern = Pattern { name: "addui-extended-to-addi", benefit: 1, rewrite: plain_sum };
/// A product whose high half is unused is `muli`.
pub const PLAIN_PRODUCT: Pattern =
    Pattern { name: "muli-extended-to-muli", benefit: 1, rewrite: plain_product };

/// The parts of `x op constant`.
fn right_constant(m: &Module, value: ValueId, name: &str) -> Option<(ValueId, ValueId, ValueId)> {
    let (x, c) = operands_of(m, value, name)?;
    constant_of(m, c).map(|_| (x, c, value))
}

/// The parts of `constant op x`.
fn left_constant(m: &Module, value: ValueId, name: &str) -> Option<(ValueId, ValueId)> {
    let (c, x) = operands_of(m, value, name)?;
    constant_of(m, c).map(|_| (x, c))
}

const ADD: fn(Int, Int) -> Int = Int::add;
const SUB: fn(Int, Int) -> Int = Int::sub;

fn add_constants(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let (sum, b, _) = right_constant(m, m.result(op, 0), "arith.addi")?;
        if let Some((x, a, inner)) = right_constant(m, sum, "arith.addi") {
            let flags = kept_flags(m, op, inner, a, b);
            let c = constant(r, op, a, b, ADD)?;
            let new = int_op(r, op, "arith.addi", &[x, c]);
            if let Some(flags) = flags {
                attr_with(r, new, "overflowFlags", flags);
            }
            return Some(new);
        }
        if let Some((x, a, _)) = right_constant(m, sum, "arith.subi") {
            let c = constant(r, op, b, a, SUB)?;
            return Some(int_op(r, op, "arith.addi", &[x, c]));
        }
        let (x, a) = left_constant(m, sum, "arith.subi")?;
        let c = constant(r, op, a, b, ADD)?;
        Some(int_op(r, op, "arith.subi", &[c, x]))
    })
}

/// The flags of `x + (a + b)`: the common flags of both sums that hold for `a + b` itself.
fn kept_flags(m: &Module, op: OpId, inner: ValueId, a: ValueId, b: ValueId) -> Option<u32> {
    let flags = |op: OpId| {
        let attr = m.attr_named(op, "overflowFlags")?;
        crate::dialects::arith::OVERFLOW.bits(&m.cx, attr)
    };
    let both = flags(op)? & flags(m.defining_op(inner)?)?;
    let (a, b) = (int_value(m, a)?, int_value(m, b)?);
    let fits = u32::from(a.add_fits_signed(b)) | u32::from(a.add_fits_unsigned(b)) << 1;
    Some(both & fits).filter(|set| *set != 0)
}

fn add_negative(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let (a, b) = operands_of(m, m.result(op, 0), "arith.addi")?;
        let negative = |v: ValueId| {
            let (y, c) = operands_of(m, v, "arith.muli")?;
            int_value(m, c).is_some_and(Int::is_ones).then_some(y)
        };
        let (x, y) = match (negative(b), negative(a)) {
            (Some(y), _) => (a, y),
            (None, Some(y)) => (b, y),
            (None, None) => return None,
        };
        Some(int_op(r, op, "arith.subi", &[x, y]))
    })
}

fn sub_constants(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let (lhs, rhs) = operands_of(m, m.result(op, 0), "arith.subi")?;
        if constant_of(m, rhs).is_some() {
            if let Some((x, a, _)) = right_constant(m, lhs, "arith.addi") {
                let c = constant(r, op, a, rhs, SUB)?;
                return Some(int_op(r, op, "arith.addi", &[x, c]));
            }
            if let Some((x, a, _)) = right_constant(m, lhs, "arith.subi") {
                let c = constant(r, op, a, rhs, ADD)?;
                return Some(int_op(r, op, "arith.subi", &[x, c]));
            }
            let (x, a) = left_constant(m, lhs, "arith.subi")?;
            let c = constant(r, op, a, rhs, SUB)?;
            return Some(int_op(r, op, "arith.subi", &[c, x]));
        }
        constant_of(m, lhs)?;
        if let Some((x, a, _)) = right_constant(m, rhs, "arith.addi") {
            let c = constant(r, op, lhs, a, SUB)?;
            return Some(int_op(r, op, "arith.subi", &[c, x]));
        }
        if let Some((x, a, _)) = right_constant(m, rhs, "arith.subi") {
            let c = constant(r, op, lhs, a, ADD)?;
            return Some(int_op(r, op, "arith.subi", &[c, x]));
        }
        let (x, a) = left_constant(m, rhs, "arith.subi")?;
        let c = constant(r, op, lhs, a, SUB)?;
        Some(int_op(r, op, "arith.addi", &[x, c]))
    })
}

fn sub_self(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let (difference, a) = operands_of(m, m.result(op, 0), "arith.subi")?;
        let (x, b) = operands_of(m, difference, "arith.subi")?;
        if x != a {
            return None;
        }
        let zero = super::int_constant(r, op, m_type(r, a), 0)?;
        Some(int_op(r, op, "arith.subi", &[zero, b]))
    })
}

fn m_type(r: &Rewriter<'_>, value: ValueId) -> crate::ir::TypeId {
    r.ir().value_type(value)
}

fn mul_constants(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let (product, b, _) = right_constant(m, m.result(op, 0), "arith.muli")?;
        let (x, a, _) = right_constant(m, product, "arith.muli")?;
        let c = constant(r, op, a, b, Int::mul)?;
        Some(int_op(r, op, "arith.muli", &[x, c]))
    })
}

fn bitwise_of_extension(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let name = r.ir().op_name_str(op).to_owned();
    matched(r, op, |r| {
        let m = r.ir();
        let (a, b) = operands_of(m, m.result(op, 0), &name)?;
        let (extension, x, y) = ["arith.extui", "arith.extsi"].into_iter().find_map(|extension| {
            let of = |v| defined_by(m, v, extension).and_then(|op| m.operands(op).next());
            Some((extension, of(a)?, of(b)?))
        })?;
        if m.value_type(x) != m.value_type(y) {
            return None;
        }
        let narrow = int_op(r, op, &name, &[x, y]);
        let narrow = r.ir().result(narrow, 0);
        let wide = m_type(r, r.ir().result(op, 0));
        Some(super::cast(r, op, extension, narrow, wide))
    })
}

fn not_of_compare(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let compare = defined_by(m, negated(m, m.result(op, 0))?, "arith.cmpi")?;
        let predicate = CmpI::of(m, compare)?.inverse();
        let (a, b) = (m.operand(compare, 0), m.operand(compare, 1));
        Some(super::compare(r, op, predicate, a, b))
    })
}

fn compare_extensions(r: &mut Rewriter<'_>, op: OpId) -> Change {
    matched(r, op, |r| {
        let m = r.ir();
        let predicate = CmpI::of(m, op)?;
        let of = |i: usize, name: &str| {
            defined_by(m, m.operands(op).nth(i)?, name).and_then(|op| m.operands(op).next())
        };
        let signed = of(0, "arith.extsi").zip(of(1, "arith.extsi")).filter(|_| !predicate.is_unsigned());
        let unsigned = of(0, "arith.extui").zip(of(1, "arith.extui")).filter(|_| !predicate.is_signed());
        let (x, y) = signed.or(unsigned)?;
        if m.value_type(x) != m.value_type(y) {
            return None;
        }
        Some(super::compare(r, op, predicate, x, y))
    })
}

fn plain_sum(r: &mut Rewriter<'_>, op: OpId) -> Change {
    first_result_only(r, op, "arith.addi")
}

fn plain_product(r: &mut Rewriter<'_>, op: OpId) -> Change {
    first_result_only(r, op, "arith.muli")
}

fn first_result_only(r: &mut Rewriter<'_>, op: OpId, name: &str) -> Change {
    let m = r.ir();
    if m.n_results(op) != 2 || !m.is_unused(m.result(op, 1)) {
        return Change::Unchanged;
    }
    let (old, operands) = (m.result(op, 0), m.operands(op).collect::<Vec<_>>());
    let new = int_op(r, op, name, &operands);
    let new = r.ir().result(new, 0);
    r.replace(old, new);
    r.erase(op);
    Change::Changed
}
