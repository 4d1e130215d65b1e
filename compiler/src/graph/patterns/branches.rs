//! Branch ops with a constant condition.

use befrost_tensor::tf::op::Op;

use crate::dialects::tf;
use crate::fold::constant_of;
use crate::ir::{AttrId, AttrKind, Module, OpId, TypeId, ValueId};
use crate::rewrite::{Change, InsertionPoint, Pattern, Rewriter};

/// The patterns of `If` and `Case`.
pub(super) const PATTERNS: &[Pattern] =
    &[Pattern { name: "tf-constant-branch", benefit: 9, rewrite: call_branch }];

/// Replaces the op by a call of the selected branch. The control edges are kept.
fn call_branch(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let Some(branch) = chosen(r.ir(), op) else { return Change::Unchanged };
    let m = r.ir();
    let loc = m.loc(op);
    let operands: Vec<ValueId> = m.operands(op).skip(1).collect();
    let types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
    let name = Op::StatefulPartitionedCall.op_name();
    let call = r.create_named(InsertionPoint::Before(op), loc, name, &operands, &types, &[("f", branch)]);
    let results: Vec<ValueId> = r.ir().results(call).collect();
    r.replace_op(op, &results);
    Change::Changed
}

/// The branch function that a constant condition selects.
fn chosen(m: &Module, op: OpId) -> Option<AttrId> {
    let control = tf::Control::of(m, op)?;
    let number = tf::dense_splat(&m.cx, constant_of(m, m.operands(op).next()?)?)?;
    if control == tf::Control::If {
        return m.attr_named(op, if number != 0.0 { "then_branch" } else { "else_branch" });
    }
    let AttrKind::Array(branches) = m.cx.attr(m.attr_named(op, "branches")?) else { return None };
    // An index out of range selects the last branch, as in TensorFlow.
    let at = if number >= 0.0 { number as usize } else { usize::MAX };
    branches.get(at).or(branches.last()).copied()
}
