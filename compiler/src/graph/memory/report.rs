//! The memory plan as a table.

use std::fmt::Write;

use super::Planned;
use crate::build::sizes;
use crate::ir::{Module, ValueDef, ValueId};

/// A row for each storage with its op, then totals: for each arena of a function.
pub(super) fn table(m: &Module, function: &str, planned: &Planned) -> String {
    let Planned { ops, storages, arenas, edges } = planned;
    let n_edges: usize = edges.values().map(Vec::len).sum();
    let n_in_place = (0..ops.len()).filter(|&op| storages.is_in_place(op)).count();
    let mut text = String::new();
    for arena in arenas {
        _ = write!(text, "memory of @{function}");
        for (value, axis) in arena.scale.iter().filter_map(|&symbol| sizes::anchor(m, symbol)) {
            _ = write!(text, ", times dimension {axis} of {}", name(m, value));
        }
        text.push_str("\n      offset        bytes          ops  made by\n");
        let mut sum = 0;
        for (member, place) in arena.places(storages) {
            let storage = storages.get(member);
            let life = format!("{}..{}", storage.maker, storage.last());
            let name = m.op_name_str(ops[storage.maker]);
            _ = writeln!(text, "{:>12} {:>12} {life:>12}  {name}", place.start, storage.bytes);
            sum += storage.bytes;
        }
        let (peak, lower_bound) = (arena.plan.peak, arena.lower_bound);
        let ratio = peak as f64 / lower_bound.max(1) as f64;
        _ = writeln!(
            text,
            "peak {peak} bytes, lower bound {lower_bound} ({ratio:.3}), sum {sum}; {} places, {n_in_place} in place, {n_edges} edges added",
            arena.members.len(),
        );
    }
    text
}

/// An argument by its position, another value by the op that makes it.
fn name(m: &Module, value: ValueId) -> String {
    match m.value_def(value) {
        ValueDef::Result(op, i) => format!("result {i} of {}", m.op_name_str(op)),
        ValueDef::Arg(_, i) => format!("argument {i}"),
        ValueDef::Forward => String::new(),
    }
}
