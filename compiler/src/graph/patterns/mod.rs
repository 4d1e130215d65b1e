//! Rewrites of the op graph, by operator: one table for each family, which a pass applies to a fixpoint.
//!
//! ```text
//! constant     Mul(c1, Mul(x, c2)) → Mul(x, c1*c2)     x + 0 → x     Concat(a, c1, c2) → Concat(a, c)     Reshape(Reshape(x)) → Reshape(x)
//! arithmetic   x + x → 2*x     Neg(Neg(x)) → x     x*y + x*z → x*(y+z)     MatMul(Transpose(x), y) → MatMul(x, y)
//! fusion       Conv2D + BiasAdd + Relu → _FusedConv2D
//! ```
//!
//! What changes rounding is what TensorFlow's own optimizer changes too; NaN and infinities are kept where it
//! keeps them. An op that has control edges, or whose completion somebody waits for, is left alone: its place
//! matters.
//!
//! A rewrite makes ops whose types are as exact as those that they replace; shape inference fills in the
//! rest.

mod arithmetic;
mod branches;
mod constant;
mod fusion;
mod layers;
mod passing;

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::build::Builder;
use crate::build::query::{dims, dtype, ints, is_free};
use crate::dialects::OpDef;
use crate::ir::{Module, OpId, TypeId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

/// The passes that rewrites belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// What is simpler because an operand is a constant.
    Constant,
    /// What is simpler by the laws of arithmetic.
    Arithmetic,
    /// What one kernel does at once.
    Fusion,
}

/// The rewrites of an op.
pub(super) fn of(family: Family, def: &'static OpDef) -> &'static [Pattern] {
    let Some(operator) = def.row.and_then(|row| row.op) else { return &[] };
    match family {
        Family::Constant => constant::of(operator),
        Family::Arithmetic => arithmetic::of(operator),
        Family::Fusion => fusion::of(operator),
    }
}

/// A rewrite that gives the value that an op's first result is, or nothing; then what it built is taken back.
type Rule = fn(&mut Builder<'_, '_>, OpId) -> Option<ValueId>;

/// Applies a rule to an op that may go.
fn apply(r: &mut Rewriter<'_>, op: OpId, rule: Rule) -> Change {
    if !is_free(r.ir(), op) || r.ir().n_results(op) == 0 {
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

/// An op in the place of another one, whose first result has the type of that one's.
fn instead(b: &mut Builder<'_, '_>, old: OpId, operator: Op, operands: &[ValueId]) -> Option<ValueId> {
    let result = b.ir().result(old, 0);
    b.op(operator, operands).like(result).one().ok()
}

fn ty(m: &Module, value: ValueId) -> TypeId {
    m.value_type(value)
}

fn is_float(m: &Module, value: ValueId) -> bool {
    dtype(m, value).is_some_and(DType::is_inexact)
}

/// Whether two values surely have the same shape and element type.
fn same_type(m: &Module, a: ValueId, b: ValueId) -> bool {
    a == b || (ty(m, a) == ty(m, b) && dims(m, a).is_some())
}

/// The numbers of a constant that is an order of axes.
fn order_in(m: &Module, value: ValueId) -> Option<Vec<i64>> {
    let order = ints(m, value)?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.iter().zip(0..).all(|(&axis, i)| axis == i).then_some(order)
}

/// The two operands of an op, in both orders.
fn either_way(m: &Module, op: OpId) -> [(ValueId, ValueId); 2] {
    [(m.operand(op, 0), m.operand(op, 1)), (m.operand(op, 1), m.operand(op, 0))]
}
