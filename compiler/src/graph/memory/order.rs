//! Partial order of ops: the ops that are complete before an op starts, in all schedules.

use rustc_hash::FxHashMap;

use crate::ir::{Module, OpId};

/// The ancestors of each op, by index in the block.
pub(super) struct Ancestors {
    /// Direct predecessors.
    waits: Vec<Vec<usize>>,
    /// All predecessors, one bit per op of the block.
    sets: Vec<Vec<u64>>,
}

impl Ancestors {
    /// The ancestors of all ops of a block.
    pub(super) fn of(m: &Module, ops: &[OpId]) -> Ancestors {
        let number: FxHashMap<OpId, usize> = ops.iter().enumerate().map(|(i, &op)| (op, i)).collect();
        let waits: Vec<Vec<usize>> = ops
            .iter()
            .map(|&op| {
                let makers = m.operands(op).filter_map(|value| m.defining_op(value));
                makers.filter_map(|maker| number.get(&maker).copied()).collect()
            })
            .collect();
        let mut all = Ancestors { waits, sets: Vec::new() };
        (0..ops.len()).for_each(|i| all.settle(i));
        all
    }

    /// Computes the set of an op; the sets of all earlier ops are known.
    fn settle(&mut self, i: usize) {
        let mut set = vec![0; i.div_ceil(64)];
        for &waits in &self.waits[i] {
            add(&mut set, &self.sets, waits);
        }
        self.sets.truncate(i);
        self.sets.push(set);
    }

    /// True if op `a` is complete before op `b` starts, in all schedules.
    pub(super) fn is_before(&self, a: usize, b: usize) -> bool {
        self.sets.get(b).and_then(|set| set.get(a / 64)).is_some_and(|word| word >> (a % 64) & 1 == 1)
    }

    /// Adds dependencies. `more` is called for each op in block order with a test for existing dependencies,
    /// and returns the ops that it must wait for in addition.
    pub(super) fn extend(mut self, mut more: impl FnMut(usize, &dyn Fn(usize) -> bool) -> Vec<usize>) {
        for i in 0..self.waits.len() {
            self.settle_again(i);
            let mut wanted = more(i, &|a| self.is_before(a, i));
            // Latest first: the later op often waits for the earlier one already.
            wanted.sort_unstable();
            for a in wanted.into_iter().rev() {
                let (known, rest) = self.sets.split_at_mut(i);
                add(&mut rest[0], known, a);
                self.waits[i].push(a);
            }
        }
    }

    fn settle_again(&mut self, i: usize) {
        let mut set = std::mem::take(&mut self.sets[i]);
        for &waits in &self.waits[i] {
            add(&mut set, &self.sets, waits);
        }
        self.sets[i] = set;
    }
}

/// Adds an op and its ancestors.
fn add(set: &mut [u64], sets: &[Vec<u64>], op: usize) {
    if let Some(word) = set.get_mut(op / 64) {
        *word |= 1 << (op % 64);
    }
    for (word, other) in set.iter_mut().zip(&sets[op]) {
        *word |= other;
    }
}
