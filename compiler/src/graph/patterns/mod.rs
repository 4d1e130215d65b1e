//! Rewrite patterns of the op graph, by operator. There is one table per family; a pass applies it to a
//! fixpoint.
//!
//! ```text
//! constant     Mul(c1, Mul(x, c2)) → Mul(x, c1*c2)     x + 0 → x
//!              Concat(a, c1, c2) → Concat(a, c)         Reshape(Reshape(x)) → Reshape(x)
//! arithmetic   x + x → 2*x     Neg(Neg(x)) → x     x*y + x*z → x*(y+z)
//!              MatMul(Transpose(x), y) → MatMul(x, y)
//! fusion       Conv2D + BiasAdd + Relu → _FusedConv2D
//! ```
//!
//! The family `constant` includes `branches` (branches with a constant condition) and `passing` (operators
//! that return an operand), the family `fusion` includes `layers` (layers written as elementary operators).
//!
//! Patterns change rounding only where TensorFlow's own optimizer does, and keep NaN and infinities where it
//! keeps them. Ops with control edges and ops whose completion has users are not rewritten, since their
//! position is significant.
//!
//! The types of new ops are as exact as those of the replaced ops; shape inference refines the others.

mod arithmetic;
mod branches;
mod constant;
mod fusion;
mod layers;
mod passing;

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::build::Builder;
use crate::build::query::{dims, dtype, has_no_edges, ints};
use crate::dialects::OpDef;
use crate::ir::{Module, OpId, TypeId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

/// The families of patterns; each belongs to a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Simplifications of ops with constant operands.
    Constant,
    /// Algebraic simplifications.
    Arithmetic,
    /// Fusion of several operators into one kernel.
    Fusion,
}

/// The patterns of an op.
pub(super) fn of(family: Family, def: &'static OpDef) -> &'static [Pattern] {
    let Some(operator) = def.row.and_then(|row| row.op) else { return &[] };
    match family {
        Family::Constant => constant::of(operator),
        Family::Arithmetic => arithmetic::of(operator),
        Family::Fusion => fusion::of(operator),
    }
}

/// A rewrite rule. It returns the replacement of the op's first result; on `None` all ops that it built are
/// rolled back.
type Rule = fn(&mut Builder<'_, '_>, OpId) -> Option<ValueId>;

/// Applies a rule to an op without control edges.
fn apply(r: &mut Rewriter<'_>, op: OpId, rule: Rule) -> Change {
    if !has_no_edges(r.ir(), op) || r.ir().n_results(op) == 0 {
        return Change::Unchanged;
    }
    let old = r.ir().result(op, 0);
    let before = r.checkpoint();
    match rule(&mut Builder::before(r, op), op) {
        Some(value) if value != old => {
            r.replace(old, value);
            if r.ir().results(op).all(|value| r.ir().is_unused(value)) {
                r.erase(op);
            }
            Change::Changed
        }
        _ => {
            r.rollback(before);
            Change::Unchanged
        }
    }
}

/// An op that replaces `old`; its result has the type of the first result of `old`.
fn replacement(b: &mut Builder<'_, '_>, old: OpId, operator: Op, operands: &[ValueId]) -> Option<ValueId> {
    let result = b.ir().result(old, 0);
    b.op(operator, operands).like(result).one().ok()
}

fn ty(m: &Module, value: ValueId) -> TypeId {
    m.value_type(value)
}

fn is_float(m: &Module, value: ValueId) -> bool {
    dtype(m, value).is_some_and(DType::is_inexact)
}

/// True if two values are known to have the same shape and element type.
fn same_type(m: &Module, a: ValueId, b: ValueId) -> bool {
    a == b || (ty(m, a) == ty(m, b) && dims(m, a).is_some())
}

/// The elements of a constant that is a permutation of axes.
fn permutation(m: &Module, value: ValueId) -> Option<Vec<i64>> {
    let order = ints(m, value)?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.iter().zip(0..).all(|(&axis, i)| axis == i).then_some(order)
}

/// The two operands of an op in both orders.
fn operand_orders(m: &Module, op: OpId) -> [(ValueId, ValueId); 2] {
    [(m.operand(op, 0), m.operand(op, 1)), (m.operand(op, 1), m.operand(op, 0))]
}
