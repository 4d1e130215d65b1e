//! Operands that branches pass to their successors.

use super::Rewriter;
use crate::dialects::Traits;
use crate::ir::{BlockId, Module, OpId, StrId, ValueId, names};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Predecessors of each block of a region: the terminator and the position of the block among its successors.
pub(crate) type Predecessors = FxHashMap<BlockId, SmallVec<[(OpId, usize); 2]>>;

/// The predecessors of blocks, in the order of the blocks.
pub(crate) fn predecessors(m: &Module, blocks: &[BlockId]) -> Predecessors {
    let mut preds = Predecessors::default();
    for branch in blocks.iter().filter_map(|b| m.last_op(*b)) {
        for (i, block) in m.successors(branch).iter().enumerate() {
            preds.entry(*block).or_default().push((branch, i));
        }
    }
    preds
}

impl Rewriter<'_> {
    /// Replaces the operands that a branch passes to successor `i`. Returns false, without a change, if the
    /// branch does not declare them.
    pub fn set_successor_operands(&mut self, branch: OpId, i: usize, values: &[ValueId]) -> bool {
        let Some(range) = self.module.successor_operands(branch, i) else { return false };
        let old: Vec<ValueId> = self.module.operands(branch).collect();
        let operands = [&old[..range.start], values, &old[range.end..]].concat();
        let grown = values.len() as i64 - range.len() as i64;
        if grown != 0 {
            self.count_operands(branch, i, grown);
        }
        self.set_operands(branch, &operands);
        true
    }

    /// Updates the counts of operands in a branch's attributes.
    fn count_operands(&mut self, branch: OpId, i: usize, grown: i64) {
        let Some(def) = self.module.def(branch) else { return };
        let found = def.successors.iter().enumerate().find_map(|(index, successor)| {
            let range = self.module.successor_range(branch, index);
            range.contains(&i).then(|| (successor, i - range.start))
        });
        let Some((successor, within)) = found else { return };
        if let (true, Some(index)) = (def.traits.has(Traits::OPERAND_SEGMENTS), successor.operands) {
            self.add_to_count(branch, names::OPERAND_SEGMENT_SIZES, index, grown);
        }
        if let Some(counts) = successor.counts {
            let counts = self.module.cx.str_id(counts);
            self.add_to_count(branch, counts, within, grown);
        }
    }

    fn add_to_count(&mut self, op: OpId, name: StrId, at: usize, grown: i64) {
        let Some(mut counts) = self.module.i32_array(op, name) else { return };
        let Some(count) = counts.get_mut(at) else { return };
        *count = i32::try_from(i64::from(*count) + grown).unwrap_or(0);
        let attr = self.module.cx.i32_array_attr(&counts);
        self.set_attr(op, name, attr);
    }
}
