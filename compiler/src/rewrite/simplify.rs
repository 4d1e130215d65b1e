//! Simpler regions: without blocks that are never reached.

use super::{Change, Rewriter};
use crate::ir::{BlockId, OpId, RegionId};
use rustc_hash::FxHashSet;

/// Simplifies all regions inside of `root`.
pub(super) fn regions(r: &mut Rewriter<'_>, root: OpId) -> Change {
    let regions: Vec<RegionId> =
        r.ir().walk(root).flat_map(|op| r.ir().regions_of(op).iter().copied()).collect();
    let mut change = Change::Unchanged;
    for region in regions {
        if !r.ir().is_erased(r.ir().region_parent(region)) {
            change = change.or(erase_unreachable(r, region));
        }
    }
    change
}

/// Erases the blocks that no path from the entry reaches.
fn erase_unreachable(r: &mut Rewriter<'_>, region: RegionId) -> Change {
    let m = r.ir();
    let Some(entry) = m.entry(region) else { return Change::Unchanged };
    let mut reached = FxHashSet::from_iter([entry]);
    let mut todo = vec![entry];
    while let Some(block) = todo.pop() {
        for &next in m.last_op(block).map_or(&[][..], |op| m.successors(op)) {
            if reached.insert(next) {
                todo.push(next);
            }
        }
    }
    let dead: Vec<BlockId> = m.blocks_of(region).iter().copied().filter(|b| !reached.contains(b)).collect();
    if dead.is_empty() {
        return Change::Unchanged;
    }
    r.erase_blocks(&dead);
    Change::Changed
}
