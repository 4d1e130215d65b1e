//! Rewrites of the op graph, by operator: one table for each family, which a pass applies to a fixpoint.
//!
//! ```text
//! constant     Mul(c1, Mul(x, c2)) → Mul(x, c1*c2)     x + 0 → x     Concat(a, c1, c2) → Concat(a, c)     Reshape(Reshape(x)) → Reshape(x)
//! arithmetic   x + x → 2*x     Neg(Neg(x)) → x     x*y + x*z → x*(y+z)     MatMul(Transpose(x), y) → MatMul(x, y)
//! fusion       Conv2D + BiasAdd + Relu → _FusedConv2D
//! ```
//!
//! What changes rounding is what TensorFlow's own optimizer changes too; NaN and infinities are kept where it keeps them. An op that has control
//! edges, or whose completion somebody waits for, is left alone: its place matters.
//!
//! A rewrite makes ops whose types are as exact as those that they replace; shape inference fills in the rest.

mod arithmetic;
mod branches;
mod constant;
mod fusion;
mod layers;
mod passing;

use std::sync::Arc;

use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::op::Op;
use befrost_tensor::{DType, HostTensor};

use crate::dialects::tf::operator;
use crate::dialects::{OpDef, tf};
use crate::fold::constant_of;
use crate::ir::{AttrId, Module, OpId, TypeId, ValueId};
use crate::rewrite::{At, Change, Pattern, Rewriter};

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

/// A rewrite that gives the value that an op's first result is, or nothing.
type Rule = fn(&mut Rewriter<'_>, OpId) -> Option<ValueId>;

/// Applies a rule to an op that may go.
fn apply(r: &mut Rewriter<'_>, op: OpId, rule: Rule) -> Change {
    if !is_free(r.ir(), op) || r.ir().n_results(op) == 0 {
        return Change::Unchanged;
    }
    match rule(r, op) {
        Some(value) if value != r.ir().result(op, 0) => {
            let old = r.ir().result(op, 0);
            r.replace(old, value);
            if r.ir().results(op).all(|value| r.ir().is_unused(value)) {
                r.erase(op);
            }
            Change::Changed
        }
        _ => Change::Unchanged,
    }
}

/// Whether an op has no control edges and nobody waits for its completion.
pub(super) fn is_free(m: &Module, op: OpId) -> bool {
    tf::n_data_operands(m, op) == m.n_operands(op) && tf::n_data_results(m, op) == m.n_results(op)
}

/// The op of one of these operators whose first result a value is, if it is free.
pub(super) fn made_by(m: &Module, value: ValueId, wanted: &[Op]) -> Option<OpId> {
    let op = m.defining_op(value)?;
    (wanted.contains(&operator(m, op)?) && m.result(op, 0) == value && is_free(m, op)).then_some(op)
}

/// Whether a value has one use.
fn is_used_once(m: &Module, value: ValueId) -> bool {
    m.users(value).take(2).count() == 1
}

fn ty(m: &Module, value: ValueId) -> TypeId {
    m.value_type(value)
}

pub(super) fn dtype(m: &Module, value: ValueId) -> Option<DType> {
    tf::type_of(&m.cx, ty(m, value))?.0.dtype()
}

fn is_float(m: &Module, value: ValueId) -> bool {
    dtype(m, value).is_some_and(DType::is_inexact)
}

/// The dimensions of a value that are all known.
pub(super) fn dims(m: &Module, value: ValueId) -> Option<Vec<i64>> {
    super::constants::static_dims(m, ty(m, value))
}

/// Whether two values surely have the same shape and element type.
fn same_type(m: &Module, a: ValueId, b: ValueId) -> bool {
    a == b || (ty(m, a) == ty(m, b) && dims(m, a).is_some())
}

/// The constant that a value is.
pub(super) fn constant(m: &Module, value: ValueId) -> Option<AttrId> {
    constant_of(m, value)
}

/// The number that all elements of a constant are.
pub(super) fn splat(m: &Module, value: ValueId) -> Option<f64> {
    tf::dense_splat(&m.cx, constant(m, value)?)
}

/// A scalar constant of an element type.
fn scalar(r: &mut Rewriter<'_>, before: OpId, number: f64, dtype: DType) -> Option<ValueId> {
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let wide = HostTensor::from_slice(befrost_tensor::Shape::scalar(), &[number], &plain).ok()?;
    let one = befrost_tensor::tf::cast(&wide, dtype, &plain).ok()?;
    let attr = tf::tensor_attr(r.cx(), &one)?;
    Some(super::constants::constant(r, before, attr))
}

/// The numbers of a constant that is an order of axes.
fn order_in(m: &Module, value: ValueId) -> Option<Vec<i64>> {
    let order = super::shapes::ints(m, value)?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.iter().zip(0..).all(|(&axis, i)| axis == i).then_some(order)
}

/// A constant of numbers of type `dtype`.
pub(super) fn ints(r: &mut Rewriter<'_>, before: OpId, numbers: &[i64], dtype: DType) -> Option<ValueId> {
    let ty = super::constants::int_tensor(numbers, &[numbers.len() as i64], dtype)?;
    let attr = tf::tensor_attr(r.cx(), &ty)?;
    Some(super::constants::constant(r, before, attr))
}

/// Makes an op before another, with a result of this type.
pub(super) fn make(
    r: &mut Rewriter<'_>,
    before: OpId,
    operator: Op,
    operands: &[ValueId],
    ty: TypeId,
    attrs: &[(&str, AttrId)],
) -> ValueId {
    let loc = r.ir().loc(before);
    let op = r.create_named(At::Before(before), loc, operator.op_name(), operands, &[ty], attrs);
    r.ir().result(op, 0)
}

/// A tensor type of unknown shape with the elements of a value.
fn unranked(r: &mut Rewriter<'_>, like: ValueId) -> TypeId {
    let element = r.ir().cx.element(r.ir().value_type(like));
    tf::tensor(r.cx(), None, element)
}

/// The type of the broadcast of two values, as far as it is known.
fn broadcast(r: &mut Rewriter<'_>, a: ValueId, b: ValueId) -> TypeId {
    let m = r.ir();
    if let (Some(a_dims), Some(b_dims)) = (dims(m, a), dims(m, b)) {
        let rank = a_dims.len().max(b_dims.len());
        let at = |dims: &[i64], i: usize| (i + dims.len()).checked_sub(rank).map_or(1, |i| dims[i]);
        let all: Vec<i64> = (0..rank)
            .map(|i| match (at(&a_dims, i), at(&b_dims, i)) {
                (1, other) | (other, 1) => other,
                (one, other) if one == other => one,
                _ => -1,
            })
            .collect();
        let element = m.cx.element(m.value_type(a));
        return tf::tensor(r.cx(), Some(&all), element);
    }
    unranked(r, a)
}

/// An attribute that is a truth value, by name.
pub(super) fn flag(m: &Module, op: OpId, name: &str) -> bool {
    m.attr_named(op, name).is_some_and(|attr| matches!(m.cx.attr(attr), crate::ir::AttrKind::Bool(true)))
}

/// The order of the axes of an op's images.
pub(super) fn layout(m: &Module, op: OpId) -> &str {
    m.attr_named(op, "data_format").and_then(|attr| m.cx.as_str(attr)).unwrap_or("NHWC")
}

/// The attributes of an op by name.
pub(super) fn attrs(m: &Module, op: OpId) -> Vec<(String, AttrId)> {
    m.attrs(op).iter().map(|&(name, attr)| (m.cx.str(name).to_owned(), attr)).collect()
}
