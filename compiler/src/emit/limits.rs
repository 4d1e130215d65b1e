//! Limits of TFRT's files that ours do not have, checked by `ir-translate --tfrt-limits`. TFRT's files cannot
//! hold:
//!
//! * attributes other than numbers, strings, types of elements, shapes, dense tensors of numbers, symbols and
//!   lists of these;
//! * references to undefined functions, or to symbols outside of a module that kernels compile;
//! * synchronous functions that return an argument, or one value twice.

use super::errors;
use crate::diag::{self, Diagnostic};
use crate::dialects::Traits;
use crate::ir::symbols::SymbolTables;
use crate::ir::{AttrId, AttrKind, Module, OpId, StrId, TypeId, TypeKind, ValueDef, names};
use crate::print;
use rustc_hash::FxHashSet;

/// Errors for all parts of a module that TFRT's files cannot hold, in the order of the text.
pub fn tfrt_limits(m: &Module) -> Vec<Diagnostic> {
    let mut symbols = SymbolTables::default();
    let mut diags = Vec::new();
    for function in m.functions() {
        // Emission reports that.
        if m.regions_of(function).iter().any(|&region| m.blocks_of(region).len() > 1) {
            continue;
        }
        let is_sync = m.attr(function, names::TFRT_SYNC).is_some();
        for op in m.walk(function).filter(|&op| op != function) {
            attributes(m, op, &mut symbols, &mut diags);
            if is_sync && m.parent_op(op) == Some(function) {
                returned(m, op, &mut diags);
            }
        }
    }
    diag::sort(&mut diags);
    diags
}

fn attributes(m: &Module, op: OpId, symbols: &mut SymbolTables, diags: &mut Vec<Diagnostic>) {
    for &(name, value) in m.attrs(op) {
        let span = m.op_spans.at(op).copied();
        match m.cx.attr(value) {
            _ if !is_held(m, value) => diags.push(errors::not_held(span, m.cx.str(name))),
            AttrKind::Symbol { .. } => diags.extend(undefined(m, op, name, value, symbols)),
            AttrKind::Array(elements) => {
                diags.extend(elements.iter().filter_map(|&element| undefined(m, op, name, element, symbols)));
            }
            _ => {}
        }
    }
}

/// The error for a symbol that refers to neither a function nor a unit that a kernel compiles.
fn undefined(
    m: &Module,
    op: OpId,
    name: StrId,
    attr: AttrId,
    symbols: &mut SymbolTables,
) -> Option<Diagnostic> {
    let AttrKind::Symbol { root, nested } = m.cx.attr(attr) else { return None };
    let span = m.op_spans.at(op).copied();
    let target = symbols.resolve(m, m.top(), *root, &[]);
    let is_compiled = target.is_some_and(|op| m.is_compiled(op));
    match &**nested {
        [] if is_compiled || target.is_some_and(|op| m.is(op, names::FUNC_FUNC)) => None,
        [] => Some(errors::no_such_function(span, m.cx.str(name), m.cx.str(*root))),
        nested if is_compiled && symbols.resolve(m, m.top(), *root, nested).is_some() => None,
        _ => Some(errors::not_compiled(span, m.cx.str(name), &print::attr_text(&m.cx, attr))),
    }
}

fn is_held(m: &Module, attr: AttrId) -> bool {
    let mut stack = vec![attr];
    while let Some(attr) = stack.pop() {
        match m.cx.attr(attr) {
            AttrKind::Array(elements) => stack.extend(elements),
            AttrKind::Type(ty) if !is_element(m, *ty) => return false,
            AttrKind::Dense { ty, .. } if !is_element(m, m.cx.element(*ty)) => return false,
            AttrKind::Type(_) | AttrKind::Dense { .. } => {}
            // A unit attribute marks an op as non-strict.
            AttrKind::Unit | AttrKind::Bool(_) | AttrKind::Int { .. } | AttrKind::Float { .. } => {}
            AttrKind::Str { .. } | AttrKind::Bytes { .. } | AttrKind::Symbol { .. } => {}
            // Shapes.
            AttrKind::Opaque { .. } => {}
            _ => return false,
        }
    }
    true
}

/// True for element types of tensors.
fn is_element(m: &Module, ty: TypeId) -> bool {
    match m.cx.ty(ty) {
        TypeKind::Integer { width, .. } => matches!(width, 1 | 8 | 16 | 32 | 64),
        TypeKind::Float(_) | TypeKind::Complex(_) | TypeKind::Opaque(_) => true,
        _ => false,
    }
}

/// Checks that the results of a synchronous function are distinct results of its kernels.
fn returned(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    if !m.def(op).is_some_and(|def| def.traits.has(Traits::RETURN)) {
        return;
    }
    let mut seen = FxHashSet::default();
    for (i, value) in m.operands(op).enumerate() {
        let is_argument = matches!(m.value_def(value), ValueDef::Arg { .. });
        if is_argument || !seen.insert(value) {
            diags.push(errors::returned_again(m.op_spans.at(op).copied(), i, is_argument));
        }
    }
}
