//! Who has surely run when an operator starts, whatever the executor does.

use rustc_hash::FxHashMap;

use crate::ir::{Module, OpId};

/// For each operator, by its number in the block: all that it waits for.
pub(super) struct Ancestors {
    /// Those that it waits for directly.
    waits: Vec<Vec<usize>>,
    /// One bit for each operator of the block.
    sets: Vec<Vec<u64>>,
}

impl Ancestors {
    /// Of all operators of a block.
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

    /// Works out the set of an operator; those of all before it are known.
    fn settle(&mut self, i: usize) {
        let mut set = vec![0; i.div_ceil(64)];
        for &waits in &self.waits[i] {
            add(&mut set, &self.sets, waits);
        }
        self.sets.truncate(i);
        self.sets.push(set);
    }

    /// Whether operator `a` has completed before `b` starts.
    pub(super) fn is_before(&self, a: usize, b: usize) -> bool {
        self.sets.get(b).and_then(|set| set.get(a / 64)).is_some_and(|word| word >> (a % 64) & 1 == 1)
    }

    /// Makes operators wait for more: for each in the order of the block `more` says for whom it should, and
    /// gets told whom it waits for already.
    pub(super) fn extend(mut self, mut more: impl FnMut(usize, &dyn Fn(usize) -> bool) -> Vec<usize>) {
        for i in 0..self.waits.len() {
            self.settle_again(i);
            let mut wanted = more(i, &|a| self.is_before(a, i));
            // The last ones often wait for the others.
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

/// Adds an operator, and all that it waits for.
fn add(set: &mut [u64], sets: &[Vec<u64>], op: usize) {
    if let Some(word) = set.get_mut(op / 64) {
        *word |= 1 << (op % 64);
    }
    for (word, other) in set.iter_mut().zip(&sets[op]) {
        *word |= other;
    }
}
