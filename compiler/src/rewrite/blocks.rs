//! Changes of blocks and regions by a [`Rewriter`].

use super::{Change, InsertionPoint, Rewriter};
use crate::ir::{BlockId, OpId, RegionId, TypeId, ValueId};

impl Rewriter<'_> {
    /// Adds an empty block at the end of a region.
    pub fn add_block(&mut self, region: RegionId) -> BlockId {
        let owner = self.module.region_parent(region);
        self.touch(owner);
        self.module.add_block(region)
    }

    /// Adds an argument at the end of a block's arguments. Its predecessors must then pass one more value.
    pub fn add_arg(&mut self, block: BlockId, ty: TypeId) -> ValueId {
        self.touch_owner(block);
        self.module.add_arg(block, ty)
    }

    /// Removes an unused argument. Its predecessors must then pass one value less.
    pub fn remove_arg(&mut self, block: BlockId, i: usize) {
        self.module.remove_arg(block, i);
        self.touch_owner(block);
    }

    /// Detaches blocks and erases them with their contents, whose values must have no uses outside.
    pub fn erase_blocks(&mut self, blocks: &[BlockId]) {
        // Uses among the blocks may be circular, so all operands are dropped first.
        for &block in blocks {
            let tops: Vec<OpId> = self.module.ops_in(block).collect();
            for op in tops {
                let inside: Vec<OpId> = self.module.walk(op).collect();
                inside.into_iter().for_each(|op| self.set_operands(op, &[]));
            }
        }
        for &block in blocks {
            self.touch_owner(block);
            self.module.erase_block(block);
        }
    }

    /// Moves `op` and all after it to a new block without arguments, which follows the old one in the region.
    /// The old block then has no terminator.
    pub fn split_block(&mut self, op: OpId) -> BlockId {
        let Some(block) = self.module.parent_block(op) else { panic!("{op:?} is in no block") };
        let rest = self.module.create_block();
        self.module.insert_block_after(rest, block);
        self.move_ops(Some(op), InsertionPoint::End(rest));
        self.touch_owner(block);
        rest
    }

    /// Moves the ops of a block before `before`, replaces its arguments by `values`, and removes the block.
    pub fn inline_block(&mut self, block: BlockId, before: OpId, values: &[ValueId]) {
        self.give_args(block, values);
        let first = self.module.first_op(block);
        self.move_ops(first, InsertionPoint::Before(before));
        self.drop_empty(block);
    }

    /// Moves the ops of `block` to the end of `into`, replaces its arguments by `values`, and removes
    /// `block`. The terminator of `into` must have been erased.
    pub fn merge_block(&mut self, block: BlockId, into: BlockId, values: &[ValueId]) {
        self.give_args(block, values);
        let first = self.module.first_op(block);
        self.move_ops(first, InsertionPoint::End(into));
        self.drop_empty(block);
    }

    /// Moves all blocks of a region after the block `after`, in their order.
    pub fn inline_region(&mut self, region: RegionId, after: BlockId) {
        let mut after = after;
        for block in self.module.blocks_of(region).to_vec() {
            self.module.detach_block(block);
            self.module.insert_block_after(block, after);
            after = block;
        }
        let owner = self.module.region_parent(region);
        self.touch(owner);
        self.touch_owner(after);
    }

    /// Moves all blocks of a region to the end of another.
    pub fn move_blocks(&mut self, from: RegionId, to: RegionId) {
        for block in self.module.blocks_of(from).to_vec() {
            self.module.detach_block(block);
            self.module.append_block(to, block);
        }
        for region in [from, to] {
            let owner = self.module.region_parent(region);
            self.touch(owner);
        }
    }

    fn give_args(&mut self, block: BlockId, values: &[ValueId]) {
        let args = self.module.args(block).to_vec();
        assert!(args.len() == values.len(), "{block:?} has {} arguments", args.len());
        for (arg, &value) in args.into_iter().zip(values) {
            self.replace(arg, value);
        }
    }

    /// Moves `first` and all after it in its block.
    fn move_ops(&mut self, first: Option<OpId>, at: InsertionPoint) {
        let mut next = first;
        while let Some(op) = next {
            next = self.module.next_op(op);
            self.module.detach(op);
            self.place(op, at);
            self.touch(op);
        }
    }

    fn drop_empty(&mut self, block: BlockId) {
        self.touch_owner(block);
        self.module.erase_block(block);
    }

    fn touch_owner(&mut self, block: BlockId) {
        match self.module.block_parent(block).map(|r| self.module.region_parent(r)) {
            Some(owner) => self.touch(owner),
            None => self.change = Change::Changed,
        }
    }
}
