//! Checks of `arith` ops beyond the op table.
//!
//! The table's checks ran before: wrong kinds of types of operands and results are already reported. A check
//! here is silent where such a part is missing.

use crate::diag::Diagnostic;
use crate::dialects::ElementKind;
use crate::dialects::format::PartRef;
use crate::dialects::types::declared_type;
use crate::ir::{AttrKind, Context, KnownType, Module, OpId, Signedness, TypeId, TypeKind};
use crate::print::type_text;

fn report(m: &Module, op: OpId, code: &'static str, what: impl std::fmt::Display, out: &mut Vec<Diagnostic>) {
    let message = format!("`{}`: {what}", m.op_name_str(op));
    out.push(Diagnostic::error(code, message).at(m.op_spans.at(op).copied()));
}

/// Checks that the value of a constant is in the range of its type.
pub(super) fn constant(m: &Module, op: OpId, out: &mut Vec<Diagnostic>) {
    let Some(ty) = declared_type(m, op, PartRef::Result(0)) else { return };
    if let TypeKind::Integer { sign: Signedness::Signed | Signedness::Unsigned, .. } = m.cx.ty(ty) {
        return report(m, op, "E0436", "an integer constant must be signless", out);
    }
    if let TypeKind::Vector { scalable, .. } = m.cx.ty(ty)
        && scalable.contains(&true)
        && let Some(AttrKind::Dense { splat: false, .. }) = m.attr_named(op, "value").map(|a| m.cx.attr(a))
    {
        report(m, op, "E0436", "the elements of a scalable vector must all be equal", out);
    }
}

/// Checks that the condition is a single `i1` or has one `i1` per element.
pub(super) fn select(m: &Module, op: OpId, out: &mut Vec<Diagnostic>) {
    let types = declared_type(m, op, PartRef::Operand(0)).zip(declared_type(m, op, PartRef::Result(0)));
    let Some((condition, result)) = types else { return };
    if condition != KnownType::I1.id()
        && !(m.cx.is_container(result) && m.cx.same_container(condition, result))
    {
        let (condition, result) = (type_text(&m.cx, condition), type_text(&m.cx, result));
        let what = format!("the condition has type {condition}, expected i1 or i1 in the shape of {result}");
        report(m, op, "E0436", what, out);
    }
}

pub(super) fn same_shape(m: &Module, op: OpId, out: &mut Vec<Diagnostic>) {
    cast(m, op, out, |_, _, _| true);
}

pub(super) fn wider(m: &Module, op: OpId, out: &mut Vec<Diagnostic>) {
    cast(m, op, out, |cx, from, to| bits(cx, from) < bits(cx, to));
}

pub(super) fn narrower(m: &Module, op: OpId, out: &mut Vec<Diagnostic>) {
    cast(m, op, out, |cx, from, to| bits(cx, from) > bits(cx, to));
}

/// Checks that one of the two types is `index`.
pub(super) fn index_cast(m: &Module, op: OpId, out: &mut Vec<Diagnostic>) {
    cast(m, op, out, |cx, from, to| {
        let index = KnownType::Index.id();
        (from == index) != (to == index)
            && [from, to].iter().all(|t| ElementKind::IntegerOrIndex.holds(cx, *t))
    });
}

/// Checks that both types have the same width.
pub(super) fn bitcast(m: &Module, op: OpId, out: &mut Vec<Diagnostic>) {
    cast(m, op, out, |cx, from, to| bits(cx, from) == bits(cx, to));
}

fn bits(cx: &Context, ty: TypeId) -> u32 {
    match cx.ty(ty) {
        TypeKind::Integer { width, .. } => *width,
        TypeKind::Float(float) => float.bits(),
        _ => 0,
    }
}

/// Checks that both types have the same shape and compatible elements.
fn cast(m: &Module, op: OpId, out: &mut Vec<Diagnostic>, fits: fn(&Context, TypeId, TypeId) -> bool) {
    let types = declared_type(m, op, PartRef::Operand(0)).zip(declared_type(m, op, PartRef::Result(0)));
    let Some((from, to)) = types else { return };
    let cx = &m.cx;
    let elements = match (cx.ty(from), cx.ty(to)) {
        (
            TypeKind::MemRef { shape, elem, layout, space },
            TypeKind::MemRef { shape: shape_to, elem: elem_to, layout: layout_to, space: space_to },
        ) => (shape == shape_to && layout == layout_to && space == space_to).then_some((*elem, *elem_to)),
        _ => cx.same_container(from, to).then(|| (cx.element(from), cx.element(to))),
    };
    if !elements.is_some_and(|(from, to)| fits(cx, from, to)) {
        let what = format!("{} cannot become {}", type_text(cx, from), type_text(cx, to));
        report(m, op, "E0437", what, out);
    }
}
