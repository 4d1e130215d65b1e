//! The functions of a training program, and the names of their arguments and results.

use crate::graph::functions;
use crate::ir::{AttrKind, Module, OpId, StrId, names};

/// A function by its name.
pub(super) fn function(m: &Module, name: &str) -> Option<OpId> {
    m.cx.find_str(name).and_then(|name| functions(m).get(&name).copied())
}

/// The last op of a function's first block.
pub(super) fn end_of(m: &Module, function: OpId) -> Option<OpId> {
    let entry = m.regions_of(function).first().and_then(|&region| m.entry(region))?;
    m.ops_in(entry).last()
}

/// The names of a function's results.
pub(super) fn result_names(m: &Module, function: OpId) -> Vec<String> {
    port_names(m, function, names::RES_ATTRS)
}

/// The names of arguments or results.
pub(super) fn port_names(m: &Module, function: OpId, key: StrId) -> Vec<String> {
    let Some(AttrKind::Array(items)) = m.attr(function, key).map(|attr| m.cx.attr(attr)) else {
        return Vec::new();
    };
    (0..items.len()).map(|i| m.port_name(function, key, i).unwrap_or_default().to_owned()).collect()
}
