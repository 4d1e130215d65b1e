//! Dominance between the blocks of a region.
//!
//! Computed per region on first use, by iterating immediate dominators over the reverse post-order (Cooper,
//! Harvey and Kennedy). An unreachable block is dominated by every block, since it never executes.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use super::{BlockId, Module, RegionId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Dominators of the regions of one module.
#[derive(Default)]
pub(crate) struct Dominance {
    done: FxHashSet<RegionId>,
    /// Number in reverse post-order and immediate dominator. The entry is its own dominator.
    blocks: FxHashMap<BlockId, (u32, BlockId)>,
}

impl Dominance {
    /// True if `a` dominates `b`; both are in one region.
    pub(crate) fn dominates(&mut self, m: &Module, a: BlockId, b: BlockId) -> bool {
        if let Some(region) = m.block_parent(b)
            && self.done.insert(region)
        {
            self.compute(m, region);
        }
        if !self.blocks.contains_key(&b) {
            return true;
        }
        let mut at = b;
        loop {
            if at == a {
                return true;
            }
            match self.blocks.get(&at) {
                Some(&(_, up)) if up != at => at = up,
                _ => return false,
            }
        }
    }

    fn compute(&mut self, m: &Module, region: RegionId) {
        for (n, (block, up)) in (0u32..).zip(tree(m, region)) {
            self.blocks.insert(block, (n, up));
        }
    }
}

/// A shortest path of blocks from the entry of their region to `to` without `around`; `None` if every path
/// passes it.
pub(crate) fn path_around(m: &Module, around: BlockId, to: BlockId) -> Option<Vec<BlockId>> {
    let entry = m.entry(m.block_parent(to)?).filter(|&entry| entry != around)?;
    let mut came_from: FxHashMap<BlockId, BlockId> = FxHashMap::default();
    came_from.insert(entry, entry);
    let mut queue = VecDeque::from([entry]);
    while let Some(block) = queue.pop_front() {
        if block == to {
            let mut path = vec![to];
            let mut at = to;
            while at != entry {
                at = came_from[&at];
                path.push(at);
            }
            path.reverse();
            return Some(path);
        }
        for next in successors(m, block).filter(|&next| next != around) {
            if let Entry::Vacant(slot) = came_from.entry(next) {
                slot.insert(block);
                queue.push_back(next);
            }
        }
    }
    None
}

/// The reachable blocks with their immediate dominators, each after its dominator. The entry is its own
/// dominator.
pub(crate) fn tree(m: &Module, region: RegionId) -> Vec<(BlockId, BlockId)> {
    let Some(entry) = m.entry(region) else { return Vec::new() };
    let order = reverse_post_order(m, entry);
    let number: FxHashMap<BlockId, u32> = order.iter().zip(0..).map(|(b, n)| (*b, n)).collect();
    let mut preds: Vec<Vec<u32>> = vec![Vec::new(); order.len()];
    for (n, block) in (0u32..).zip(&order) {
        for successor in successors(m, *block) {
            if let Some(&s) = number.get(&successor) {
                preds[s as usize].push(n);
            }
        }
    }
    let mut up: Vec<Option<u32>> = vec![None; order.len()];
    up[0] = Some(0);
    let mut changed = true;
    while changed {
        changed = false;
        for n in 1..order.len() {
            let mut known = preds[n].iter().copied().filter(|p| up[*p as usize].is_some());
            let Some(first) = known.next() else { continue };
            let new = known.fold(first, |a, b| meet(&up, a, b));
            if up[n] != Some(new) {
                up[n] = Some(new);
                changed = true;
            }
        }
    }
    let dominators = up.into_iter().map(|u| order[u.unwrap_or(0) as usize]);
    order.iter().copied().zip(dominators).collect()
}

fn meet(up: &[Option<u32>], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = up[a as usize].unwrap_or(0);
        }
        while b > a {
            b = up[b as usize].unwrap_or(0);
        }
    }
    a
}

fn successors(m: &Module, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
    m.last_op(block).into_iter().flat_map(|op| m.successors(op).iter().copied())
}

fn reverse_post_order(m: &Module, entry: BlockId) -> Vec<BlockId> {
    let mut seen = FxHashSet::default();
    let mut order = Vec::new();
    // A block and the number of its visited successors.
    let mut stack = vec![(entry, 0)];
    seen.insert(entry);
    while let Some((block, n)) = stack.pop() {
        match successors(m, block).nth(n) {
            Some(next) => {
                stack.push((block, n + 1));
                if seen.insert(next) {
                    stack.push((next, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}
