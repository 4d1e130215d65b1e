//! Canonicalization patterns: rewrites that create ops. The op table lists the patterns of each op.
//!
//! A pattern is a constant with a name, so that the user can list and disable single ones. The patterns of
//! `arith` are in files by kind of op, those of control flow in `control.rs` and `loops.rs`. Each makes the
//! program smaller or establishes the canonical form that other patterns and folders match. No pattern undoes
//! another, so the driver terminates.

pub mod casts;
pub mod control;
pub mod floats;
pub mod ints;
pub mod loops;
pub mod select;
pub mod tfrt;

use super::compare::CmpI;
use super::constant::{Constant, Scalar};
use super::int::Int;
use super::{constant_of, int_attr, materialize};
use crate::dialects::Registry;
use crate::ir::{Module, OpId, TypeId, ValueId};
use crate::rewrite::{Change, Rewriter};

/// Adds the patterns of `cf` and `scf` that create ops of `arith`.
pub fn control_flow(r: &mut Registry) {
    r.extend("cf.br", &[control::PASS_THROUGH]);
    r.extend("cf.cond_br", &[control::COND_BR_CONSTANT, control::COND_BR_SAME, control::PASS_THROUGH]);
    r.extend("cf.switch", &[control::SWITCH_CONSTANT]);
    r.extend("cf.assert", &[control::ASSERT_TRUE]);
    r.extend(
        "scf.if",
        &[control::IF_CONSTANT, control::IF_CONDITION, control::IF_TO_SELECT, control::IF_UNUSED],
    );
    r.extend("scf.for", &[loops::FOR_TRIVIAL, loops::FOR_INVARIANT]);
    r.extend("scf.while", &[loops::WHILE_FALSE]);
}

/// Replaces `op`, which has one result, by the op that `f` creates.
fn matched(r: &mut Rewriter<'_>, op: OpId, f: impl FnOnce(&mut Rewriter<'_>) -> Option<OpId>) -> Change {
    if r.ir().n_results(op) != 1 {
        return Change::Unchanged;
    }
    match f(r) {
        Some(new) => {
            let new = r.ir().result(new, 0);
            r.replace_op(op, &[new]);
            Change::Changed
        }
        None => Change::Unchanged,
    }
}

/// An op before `op`, with the type of its first operand.
fn int_op(r: &mut Rewriter<'_>, op: OpId, name: &str, operands: &[ValueId]) -> OpId {
    let ty = operands.first().map(|v| r.ir().value_type(*v));
    r.create_before(op, name, operands, ty.as_slice(), &[])
}

/// A cast before `op`.
fn cast(r: &mut Rewriter<'_>, op: OpId, name: &str, value: ValueId, to: TypeId) -> OpId {
    r.create_before(op, name, &[value], &[to], &[])
}

/// A comparison before `op`.
fn compare(r: &mut Rewriter<'_>, op: OpId, predicate: CmpI, a: ValueId, b: ValueId) -> OpId {
    let predicate = r.cx().int_attr(crate::dialects::arith::CMPI.ty.id(), predicate as i64);
    let ty = r.ir().value_type(a);
    let ty = r.cx().with_element(ty, crate::ir::KnownType::I1.id());
    r.create_before(op, "arith.cmpi", &[a, b], &[ty], &[("predicate", predicate)])
}

/// Sets the flags of a new op.
fn attr_with(r: &mut Rewriter<'_>, op: OpId, name: &str, bits: u32) {
    let attr = crate::dialects::arith::OVERFLOW.attr(r.cx(), bits);
    let name = r.cx().str_id(name);
    if let Some(attr) = attr {
        r.set_attr(op, name, attr);
    }
}

/// The constant that `f` computes from two constant values, before `op`.
fn constant(
    r: &mut Rewriter<'_>,
    op: OpId,
    a: ValueId,
    b: ValueId,
    f: fn(Int, Int) -> Int,
) -> Option<ValueId> {
    let m = r.ir();
    let ty = m.value_type(a);
    let read = |v| constant_of(m, v).and_then(|attr| Constant::read(&m.cx, attr));
    let result = read(a)?.zip(&read(b)?, |a, b| match (a, b) {
        (Scalar::Int(a), Scalar::Int(b)) => Some(Scalar::Int(f(a, b))),
        (Scalar::Float(_), _) | (_, Scalar::Float(_)) => None,
    })?;
    let attr = result.write(r.cx(), ty)?;
    materialize(r, op, "arith", attr, ty)
}

/// An integer constant before `op`.
fn int_constant(r: &mut Rewriter<'_>, op: OpId, ty: TypeId, bits: i128) -> Option<ValueId> {
    let attr = int_attr(r.cx(), ty, bits)?;
    materialize(r, op, "arith", attr, ty)
}

/// The value of a constant `i1`.
fn truth(m: &Module, value: ValueId) -> Option<bool> {
    if m.value_type(value) != crate::ir::KnownType::I1.id() {
        return None;
    }
    super::int_value(m, value).map(|int| !int.is_zero())
}
