//! The parts that all families of patterns share: rules, the table macro, and questions about ops.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::build::Builder;
use crate::build::query::{dtype, has_no_edges, ints};
use crate::ir::{Module, OpId, TypeId, ValueId};
use crate::rewrite::{Change, Rewriter};

/// A table of patterns: name, benefit and rule of each.
macro_rules! patterns {
    ($($name:literal $benefit:literal $rule:ident;)*) => {
        &[$(Pattern { name: $name, benefit: $benefit, rewrite: |r: &mut Rewriter<'_>, op: OpId| -> Change { apply(r, op, $rule) } },)*]
    };
}
pub(super) use patterns;

/// A rewrite rule. It returns the replacement of the op's first result; on `None` all ops that it built are
/// rolled back.
pub(super) type Rule = fn(&mut Builder<'_, '_>, OpId) -> Option<ValueId>;

/// Applies a rule to an op without control edges.
pub(super) fn apply(r: &mut Rewriter<'_>, op: OpId, rule: Rule) -> Change {
    if !has_no_edges(r.ir(), op) || r.ir().n_results(op) == 0 {
        return Change::Unchanged;
    }
    let old = r.ir().result(op, 0);
    let before = r.checkpoint();
    match rule(&mut Builder::before(r, op), op) {
        Some(value) if value != old => {
            r.replace(old, value);
            r.erase_if_unused(op);
            Change::Changed
        }
        _ => {
            r.rollback(before);
            Change::Unchanged
        }
    }
}

/// An op that replaces `old`; its result has the type of the first result of `old`.
pub(super) fn replacement(
    b: &mut Builder<'_, '_>,
    old: OpId,
    operator: Op,
    operands: &[ValueId],
) -> Option<ValueId> {
    let result = b.ir().result(old, 0);
    b.op(operator, operands).like(result).one().ok()
}

pub(super) fn ty(m: &Module, value: ValueId) -> TypeId {
    m.value_type(value)
}

pub(super) fn is_float(m: &Module, value: ValueId) -> bool {
    dtype(m, value).is_some_and(DType::is_inexact)
}

/// The elements of a constant that is a permutation of axes.
pub(super) fn permutation(m: &Module, value: ValueId) -> Option<Vec<i64>> {
    let order = ints(m, value)?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.iter().zip(0..).all(|(&axis, i)| axis == i).then_some(order)
}

/// The two operands of an op in both orders.
pub(super) fn operand_orders(m: &Module, op: OpId) -> [(ValueId, ValueId); 2] {
    [(m.operand(op, 0), m.operand(op, 1)), (m.operand(op, 1), m.operand(op, 0))]
}
