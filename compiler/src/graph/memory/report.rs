//! The memory plan as a table.

use std::fmt::Write;

use super::Planned;
use crate::ir::Module;

/// A row for each storage with its op, then totals.
pub(super) fn table(m: &Module, function: &str, planned: &Planned) -> String {
    let Planned { ops, storages, plan, edges, lower_bound } = planned;
    let sum: usize = storages.placed().map(|storage| storage.bytes).sum();
    let n_edges: usize = edges.values().map(Vec::len).sum();
    let n_in_place = (0..ops.len()).filter(|&op| storages.is_in_place(op)).count();
    let mut text = format!("memory of @{function}\n      offset        bytes          ops  made by\n");
    for (storage, at) in storages.placed().zip(&plan.offsets) {
        let name = m.op_name_str(ops[storage.maker]);
        let life = format!("{}..{}", storage.maker, storage.last());
        _ = writeln!(text, "{at:>12} {:>12} {life:>12}  {name}", storage.bytes);
    }
    let ratio = plan.peak as f64 / (*lower_bound).max(1) as f64;
    _ = writeln!(
        text,
        "peak {} bytes, lower bound {lower_bound} ({ratio:.3}), sum {sum}; {} places, {n_in_place} in place, {n_edges} edges added",
        plan.peak,
        plan.offsets.len(),
    );
    text
}
