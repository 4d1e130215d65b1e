//! Cloning of ops and blocks.

use super::{Change, Rewriter};
use crate::ir::{BlockId, LocId, NewOp, OpId, TypeId, ValueId, names};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Mapping from originals to clones.
#[derive(Default)]
pub struct IrMapping {
    /// Values. Values without an entry map to themselves.
    pub values: FxHashMap<ValueId, ValueId>,
    /// Blocks. Blocks without an entry map to themselves.
    pub blocks: FxHashMap<BlockId, BlockId>,
    /// Number of created ops.
    pub n_ops: usize,
    /// Operands whose values were not cloned at their use.
    late: Vec<(OpId, usize, ValueId)>,
}

impl Rewriter<'_> {
    /// Clones blocks with their contents after the block `after`. Locations are mapped by `loc`.
    pub fn copy_blocks(
        &mut self,
        blocks: &[BlockId],
        after: BlockId,
        copies: &mut IrMapping,
        loc: &mut dyn FnMut(&mut Self, LocId) -> LocId,
    ) {
        let mut after = after;
        let made: Vec<BlockId> = blocks
            .iter()
            .map(|_| {
                let block = self.module.create_block();
                self.module.insert_block_after(block, after);
                after = block;
                block
            })
            .collect();
        self.fill_copies(blocks, &made, copies, loc);
    }

    /// Clones the ops of a block except for the last one, in front of an op.
    pub fn copy_body(
        &mut self,
        block: BlockId,
        before: OpId,
        copies: &mut IrMapping,
        loc: &mut dyn FnMut(&mut Self, LocId) -> LocId,
    ) {
        let mut next = self.module.first_op(block);
        let mut nested = Vec::new();
        while let Some(op) = next.filter(|op| self.module.next_op(*op).is_some()) {
            next = self.module.next_op(op);
            let made = self.copy_op(op, copies, &mut nested, loc);
            self.module.insert_before(made, before);
        }
        self.fill_nested(nested, copies, loc);
    }

    /// Clones a function after itself, as a private one with this name, which must be free.
    pub fn copy_function(&mut self, function: OpId, name: &str) -> OpId {
        let (mut copies, mut nested) = (IrMapping::default(), Vec::new());
        let made = self.copy_op(function, &mut copies, &mut nested, &mut |_, loc| loc);
        self.module.insert_after(made, function);
        self.fill_nested(nested, &mut copies, &mut |_, loc| loc);
        let (name, private) = (self.cx().str_attr(name), self.cx().str_attr("private"));
        self.set_attr(made, names::SYM_NAME, name);
        self.set_attr(made, names::SYM_VISIBILITY, private);
        made
    }

    fn fill_copies(
        &mut self,
        blocks: &[BlockId],
        made: &[BlockId],
        copies: &mut IrMapping,
        loc: &mut dyn FnMut(&mut Self, LocId) -> LocId,
    ) {
        self.declare(blocks, made, copies);
        let nested = blocks.iter().copied().zip(made.iter().copied()).collect();
        self.fill_nested(nested, copies, loc);
    }

    /// Maps blocks to their clones, and creates the arguments.
    fn declare(&mut self, blocks: &[BlockId], made: &[BlockId], copies: &mut IrMapping) {
        for (&block, &new) in blocks.iter().zip(made) {
            copies.blocks.insert(block, new);
            for arg in self.module.args(block).to_vec() {
                let copy = self.module.add_arg(new, self.module.value_type(arg));
                if let Some(&loc) = self.module.value_locs.at(arg) {
                    self.module.value_locs.set(copy, loc);
                }
                copies.values.insert(arg, copy);
            }
        }
    }

    /// Fills declared blocks and those nested in them.
    fn fill_nested(
        &mut self,
        mut todo: Vec<(BlockId, BlockId)>,
        copies: &mut IrMapping,
        loc: &mut dyn FnMut(&mut Self, LocId) -> LocId,
    ) {
        while let Some((block, new)) = todo.pop() {
            let mut next = self.module.first_op(block);
            while let Some(op) = next {
                next = self.module.next_op(op);
                let made = self.copy_op(op, copies, &mut todo, loc);
                self.module.append(new, made);
            }
        }
        for (op, i, value) in std::mem::take(&mut copies.late) {
            if let Some(&copy) = copies.values.get(&value) {
                self.module.set_operand(op, i, copy);
            }
        }
        self.change = Change::Changed;
    }

    /// Clones one op, detached. Its blocks are declared, to be filled later.
    fn copy_op(
        &mut self,
        op: OpId,
        copies: &mut IrMapping,
        nested: &mut Vec<(BlockId, BlockId)>,
        loc: &mut dyn FnMut(&mut Self, LocId) -> LocId,
    ) -> OpId {
        let old_loc = self.module.loc(op);
        let new_loc = loc(self, old_loc);
        let m = &mut *self.module;
        let old: SmallVec<[ValueId; 8]> = m.operands(op).collect();
        let operands: SmallVec<[ValueId; 8]> =
            old.iter().map(|v| copies.values.get(v).copied().unwrap_or(*v)).collect();
        let results: SmallVec<[TypeId; 4]> = m.results(op).map(|v| m.value_type(v)).collect();
        let attrs: SmallVec<[_; 4]> = m.attrs(op).into();
        let successors: SmallVec<[BlockId; 2]> =
            m.successors(op).iter().map(|b| copies.blocks.get(b).copied().unwrap_or(*b)).collect();
        let new = NewOp {
            name: m.op_name(op),
            loc: new_loc,
            operands: &operands,
            results: &results,
            attrs: &attrs,
            successors: &successors,
        };
        let made = m.create(new);
        m.set_properties(made, m.properties(op));
        if let Some(&span) = m.op_spans.at(op) {
            m.op_spans.set(made, span);
        }
        copies.n_ops += 1;
        copies.values.extend(m.results(op).zip(m.results(made)));
        let late = old.iter().enumerate().filter(|(i, v)| operands[*i] == **v);
        copies.late.extend(late.map(|(i, v)| (made, i, *v)));
        for region in m.regions_of(op).to_vec() {
            let blocks = self.module.blocks_of(region).to_vec();
            let new_region = self.module.add_region(made);
            let new_blocks: Vec<BlockId> = blocks.iter().map(|_| self.module.add_block(new_region)).collect();
            self.declare(&blocks, &new_blocks, copies);
            nested.extend(blocks.into_iter().zip(new_blocks));
        }
        self.touch(made);
        made
    }
}
