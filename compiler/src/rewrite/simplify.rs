//! Simplification of regions: removal of unreachable blocks, dead ops and dead block arguments, and merging
//! of blocks.
//!
//! A block with a single predecessor that has no other successor is merged into the predecessor.
//!
//! Dead values are found by computing the live ones: ops with effects and terminators are live, and so are
//! the operands of a live op. A branch operand is live if the block argument is. So a cycle of values around
//! a loop of blocks without another use is dead.

use super::branches::{Predecessors, predecessors};
use super::{Change, Rewriter, would_be_trivially_dead};
use crate::dialects::{Effects, Traits};
use crate::ir::{BlockId, Module, OpId, RegionId, ValueDef, ValueId};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

/// Simplifies all regions inside of `root`.
pub fn simplify_regions(r: &mut Rewriter<'_>, root: OpId) -> Change {
    let regions: Vec<RegionId> =
        r.ir().walk(root).flat_map(|op| r.ir().regions_of(op).iter().copied()).collect();
    let mut change = Change::Unchanged;
    for region in regions {
        if !r.ir().is_erased(r.ir().region_parent(region)) {
            change = change.or(erase_unreachable(r, region)).or(merge_chains(r, region));
        }
    }
    change.or(erase_dead(r, root))
}

/// Erases unreachable blocks.
fn erase_unreachable(r: &mut Rewriter<'_>, region: RegionId) -> Change {
    let m = r.ir();
    let Some(entry) = m.entry(region) else { return Change::Unchanged };
    if m.blocks_of(region).len() == 1 {
        return Change::Unchanged;
    }
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

/// Merges blocks into their only predecessor if that has no other successor.
fn merge_chains(r: &mut Rewriter<'_>, region: RegionId) -> Change {
    let blocks = r.ir().blocks_of(region).to_vec();
    if blocks.len() < 2 {
        return Change::Unchanged;
    }
    let preds = predecessors(r.ir(), &blocks);
    let mut merged = FxHashSet::default();
    for &block in &blocks {
        // A merged block brings its terminator, which may be such a branch again.
        while !merged.contains(&block)
            && let Some((end, next, values)) = only_next(r.ir(), block)
            && next != block
            && next != blocks[0]
            && preds.get(&next).is_some_and(|p| p.len() == 1)
        {
            r.erase(end);
            r.merge_block(next, block, &values);
            merged.insert(next);
        }
    }
    if merged.is_empty() { Change::Unchanged } else { Change::Changed }
}

/// The terminator of a block that is an unconditional branch, its destination and its operands.
fn only_next(m: &Module, block: BlockId) -> Option<(OpId, BlockId, Vec<ValueId>)> {
    let end = m.last_op(block)?;
    let &[next] = m.successors(end) else { return None };
    let is_branch = m.def(end).is_some_and(|d| d.traits.has(Traits::BRANCH) && d.effects == Effects::Pure);
    let range =
        m.successor_operands(end, 0).filter(|range| is_branch && range.len() == m.args(next).len())?;
    Some((end, next, range.map(|i| m.operand(end, i)).collect()))
}

/// Erases dead ops and block arguments.
fn erase_dead(r: &mut Rewriter<'_>, root: OpId) -> Change {
    let m = r.ir();
    let ops: Vec<OpId> = m.walk(root).collect();
    let blocks: Vec<BlockId> =
        ops.iter().flat_map(|op| m.regions_of(*op)).flat_map(|r| m.blocks_of(*r)).copied().collect();
    let preds = predecessors(m, &blocks);
    let mut live =
        Live { m, preds: &preds, ops: FxHashSet::default(), todo: Vec::new(), values: FxHashSet::default() };
    live.ops.reserve(ops.len());
    live.values.reserve(ops.len());
    live.op(root);
    // Blocks whose arguments cannot be removed.
    let fixed = blocks.iter().filter(|b| !can_drop(m, **b, &preds));
    fixed.flat_map(|b| m.args(*b)).for_each(|arg| live.value(*arg));
    live.follow();
    let Live { ops: live_ops, values: live_values, .. } = live;
    let with_dead = |b: &&BlockId| m.args(**b).iter().any(|a| !live_values.contains(a));
    let shrinking: Vec<BlockId> = blocks.iter().filter(with_dead).copied().collect();
    let mut change = if shrinking.is_empty() { Change::Unchanged } else { Change::Changed };
    for &block in &shrinking {
        drop_dead_operands(r, block, &preds, &live_values);
    }
    // Dead values are only used by dead ops, later in the program or around a loop.
    let mut dead: Vec<OpId> = Vec::new();
    for op in ops {
        let held_by_dead = r.ir().parent_op(op).is_some_and(|p| !live_ops.contains(&p));
        if !live_ops.contains(&op) && !held_by_dead {
            dead.push(op);
        }
    }
    for &op in &dead {
        let inside: Vec<OpId> = r.ir().walk(op).collect();
        inside.into_iter().for_each(|op| r.set_operands(op, &[]));
    }
    for block in shrinking {
        for i in (0..r.ir().args(block).len()).rev() {
            if !live_values.contains(&r.ir().args(block)[i]) {
                r.remove_arg(block, i);
            }
        }
    }
    for op in dead {
        r.erase(op);
        change = Change::Changed;
    }
    change
}

struct Live<'a> {
    m: &'a Module,
    preds: &'a Predecessors,
    ops: FxHashSet<OpId>,
    values: FxHashSet<ValueId>,
    /// Live values whose definitions have not been visited.
    todo: Vec<ValueId>,
}

impl Live<'_> {
    /// Marks an op as live, and the ops with effects inside of it.
    fn op(&mut self, op: OpId) {
        let m = self.m;
        let mut todo: SmallVec<[OpId; 8]> = smallvec![op];
        while let Some(op) = todo.pop() {
            if !self.ops.insert(op) {
                continue;
            }
            let handed: SmallVec<[_; 2]> =
                (0..m.successors(op).len()).map(|i| (i, m.successor_operands(op, i))).collect();
            for (at, value) in m.operands(op).enumerate() {
                let args = handed.iter().filter_map(|(i, range)| {
                    let range = range.as_ref().filter(|r| r.contains(&at))?;
                    m.args(m.successors(op)[*i]).get(at - range.start).copied()
                });
                let mut args = args.peekable();
                // A branch operand is live only if the argument is.
                if args.peek().is_none() || args.any(|arg| self.values.contains(&arg)) {
                    self.value(value);
                }
            }
            let held = m.regions_of(op).iter().flat_map(|r| m.blocks_of(*r)).flat_map(|b| m.ops_in(*b));
            todo.extend(held.filter(|inner| {
                m.def(*inner).is_none_or(|d| d.traits.has(Traits::TERMINATOR))
                    || !would_be_trivially_dead(m, *inner)
            }));
        }
    }

    fn value(&mut self, value: ValueId) {
        if self.values.insert(value) {
            self.todo.push(value);
        }
    }

    fn follow(&mut self) {
        while let Some(value) = self.todo.pop() {
            match self.m.value_def(value) {
                ValueDef::Result(op, _) => self.op(op),
                ValueDef::Arg(block, i) => {
                    for &(branch, successor) in self.preds.get(&block).into_iter().flatten() {
                        if let Some(range) = self.m.successor_operands(branch, successor)
                            && range.len() > i as usize
                            && self.ops.contains(&branch)
                        {
                            self.value(self.m.operand(branch, range.start + i as usize));
                        }
                    }
                }
                ValueDef::Forward => {}
            }
        }
    }
}

/// True if arguments can be removed from a block: it is no entry, and all of its predecessors declare their
/// successor operands.
fn can_drop(m: &Module, block: BlockId, preds: &Predecessors) -> bool {
    let is_entry = m.block_parent(block).and_then(|region| m.entry(region)) == Some(block);
    let n = m.args(block).len();
    let known = |(branch, i): &(OpId, usize)| m.successor_operands(*branch, *i).is_some_and(|r| r.len() == n);
    !is_entry && preds.get(&block).is_some_and(|p| p.iter().all(known))
}

/// Removes the operands for dead arguments from the branches to a block.
fn drop_dead_operands(r: &mut Rewriter<'_>, block: BlockId, preds: &Predecessors, live: &FxHashSet<ValueId>) {
    let args = r.ir().args(block).to_vec();
    for &(branch, i) in preds.get(&block).into_iter().flatten() {
        let Some(range) = r.ir().successor_operands(branch, i) else { continue };
        let kept: Vec<ValueId> = range
            .zip(&args)
            .filter(|(_, arg)| live.contains(arg))
            .map(|(at, _)| r.ir().operand(branch, at))
            .collect();
        r.set_successor_operands(branch, i, &kept);
    }
}
