//! Which functions have effects, and which ops of the op graph.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::dialects::tf;
use crate::dialects::{Effects, Traits};
use crate::ir::{AttrKind, Module, OpId, StrId};

/// The functions of a module by name.
pub(super) fn functions(m: &Module) -> FxHashMap<StrId, OpId> {
    let named =
        m.ops_in(m.body()).filter(|&op| m.def(op).is_some_and(|def| def.traits.has(Traits::FUNCTION)));
    named.filter_map(|op| Some((m.symbol_name(op)?, op))).collect()
}

/// The ops directly in the body of a function.
pub(super) fn body(m: &Module, function: OpId) -> Vec<OpId> {
    let blocks = m.regions_of(function).iter().flat_map(|&region| m.blocks_of(region));
    blocks.flat_map(|&block| m.ops_in(block)).collect()
}

/// The functions that an op names.
pub(crate) fn callees(m: &Module, op: OpId) -> Vec<StrId> {
    let mut names = Vec::new();
    for &(_, attr) in m.attrs(op) {
        match m.cx.attr(attr) {
            AttrKind::Symbol { root, nested } if nested.is_empty() => names.push(*root),
            AttrKind::Array(items) => names.extend(items.iter().filter_map(|&item| match m.cx.attr(item) {
                AttrKind::Symbol { root, nested } if nested.is_empty() => Some(*root),
                _ => None,
            })),
            _ => {}
        }
    }
    names
}

/// How an op must be ordered among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Not at all.
    Free,
    /// After what writes.
    Read,
    /// After what reads or writes.
    Write,
}

/// Operators that only look at state.
const READS: &[&str] = &[
    "IsVariableInitialized",
    "ReadVariableOp",
    "ResourceGather",
    "ResourceGatherNd",
    "VarIsInitializedOp",
    "VariableShape",
    "_ReadRef",
];

/// How an op of the `tf` dialect that calls nothing must be ordered.
pub(super) fn order(m: &Module, op: OpId) -> Order {
    let Some(name) = tf::op_of(m.op_name_str(op)) else { return Order::Free };
    if m.def(op).is_none_or(|def| def.effects == Effects::Pure) || tf::is_lowered(name) {
        return Order::Free;
    }
    if READS.contains(&name) { Order::Read } else { Order::Write }
}

/// The functions that have effects, or call one that has.
pub(super) fn effectful(m: &Module, functions: &FxHashMap<StrId, OpId>) -> FxHashSet<StrId> {
    let mut callers: FxHashMap<StrId, Vec<StrId>> = FxHashMap::default();
    let mut todo = Vec::new();
    for (&name, &function) in functions {
        for op in body(m, function) {
            if order(m, op) != Order::Free {
                todo.push(name);
            }
            for callee in callees(m, op) {
                callers.entry(callee).or_default().push(name);
            }
        }
    }
    let mut found = FxHashSet::default();
    while let Some(name) = todo.pop() {
        if found.insert(name) {
            todo.extend(callers.get(&name).into_iter().flatten());
        }
    }
    found
}
