//! `symbol-dce`: removal of unreferenced symbols.
//!
//! Public symbols are live. Private ones are live if a live op refers to them, as are nested ones
//! (`sym_visibility = "nested"`) of a symbol table that is hidden from outside. Ops in a symbol table that
//! are no symbols are live.

use super::{Change, Pass, PassCx, Rewriter};
use crate::diag::Diagnostic;
use crate::dialects::Traits;
use crate::ir::symbols::SymbolTables;
use crate::ir::{AttrId, AttrKind, Module, OpId, StrId, names};
use rustc_hash::FxHashSet;

const REMOVED: &str = "num-dce'd";

pub(crate) const PASS: Pass = Pass {
    name: "symbol-dce",
    title: "SymbolDCE",
    summary: "removes private symbols that nothing refers to",
    options: &[],
    statistics: &[(REMOVED, "Number of symbols DCE'd")],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let root = r.root();
    let m = r.ir();
    if !m.is_symbol_table(root) {
        let name = m.op_name_str(root);
        let message = format!("symbol-dce runs on symbol tables only; `{name}` is none");
        cx.report(Diagnostic::error("E0508", message).at(m.op_spans.at(root).copied()));
        return Change::Unchanged;
    }
    let dead = dead_symbols(m, root);
    cx.count(REMOVED, dead.len() as u64);
    dead.into_iter().for_each(|op| r.erase(op));
    r.change()
}

/// The dead symbols in the tables inside of `root`, without those nested in dead ones.
pub(crate) fn dead_symbols(m: &Module, root: OpId) -> Vec<OpId> {
    let live = live_symbols(m, root);
    let mut dead = Vec::new();
    let mut tables = vec![root];
    while let Some(table) = tables.pop() {
        for op in held(m, table) {
            if is_symbol(m, op) && !live.contains(&op) && m.is_symbol_table(table) {
                dead.push(op);
            } else {
                tables.push(op);
            }
        }
    }
    dead
}

fn live_symbols(m: &Module, root: OpId) -> FxHashSet<OpId> {
    let mut live = FxHashSet::default();
    let mut symbols = SymbolTables::default();
    // Live ops; for symbol tables also whether they are hidden from outside.
    let mut todo: Vec<(OpId, bool)> = vec![(root, m.parent_op(root).is_none() || m.is_private(root))];
    while let Some((op, hidden)) = todo.pop() {
        if m.is_symbol_table(op) {
            for inner in held(m, op) {
                let discardable =
                    is_symbol(m, inner) && !is_public(m, inner) && (hidden || m.is_private(inner));
                if !discardable && live.insert(inner) {
                    todo.push((inner, hidden || !is_symbol(m, inner) || m.is_private(inner)));
                }
            }
        } else {
            todo.extend(held(m, op).map(|inner| (inner, hidden)));
        }
        // References are resolved from the table around the op.
        let from = m.parent_op(op).unwrap_or(op);
        for path in references(m, op) {
            let Some((first, nested)) = path.split_first() else { continue };
            for n in 0..=nested.len() {
                if let Some(target) = symbols.resolve(m, from, *first, &nested[..n])
                    && live.insert(target)
                {
                    todo.push((target, hidden || m.is_private(target)));
                }
            }
        }
    }
    live
}

/// The ops directly inside of an op.
fn held(m: &Module, op: OpId) -> impl Iterator<Item = OpId> + '_ {
    m.regions_of(op).iter().flat_map(|r| m.blocks_of(*r)).flat_map(|b| m.ops_in(*b))
}

fn is_symbol(m: &Module, op: OpId) -> bool {
    m.traits(op).has(Traits::SYMBOL) && m.symbol_name(op).is_some()
}

fn is_public(m: &Module, op: OpId) -> bool {
    m.attr(op, names::SYM_VISIBILITY).and_then(|a| m.cx.as_str(a)).is_none_or(|text| text == "public")
}

/// The symbols that the attributes of an op refer to, each as a path from the root.
pub(super) fn references(m: &Module, op: OpId) -> Vec<Vec<StrId>> {
    let mut found = Vec::new();
    let mut todo: Vec<AttrId> = m.attrs(op).iter().rev().map(|(_, a)| *a).collect();
    todo.extend(m.properties(op));
    while let Some(attr) = todo.pop() {
        match m.cx.attr(attr) {
            AttrKind::Symbol { root, nested } => {
                found.push(std::iter::once(*root).chain(nested.iter().copied()).collect());
            }
            AttrKind::Array(elems) => todo.extend(elems.iter().rev()),
            AttrKind::Dict(entries) => todo.extend(entries.iter().rev().map(|(_, a)| *a)),
            _ => {}
        }
    }
    found
}
