//! Changing the IR: creation, insertion, moves, replacement, erasure.
//!
//! Each method keeps use lists, block lists and parents consistent. Erasing an op with uses is a bug of the
//! compiler and panics. Worklists replace recursion, so depth of nesting costs no stack.

use super::entity::{EntityId, PackedOption};
use super::{
    AttrId, BlockData, BlockId, LocId, Module, OpData, OpId, OpNameId, RegionData, RegionId, StrId, TypeId,
    UseData, UseId, ValueData, ValueDef, ValueId,
};
use smallvec::SmallVec;

/// Distance between the order numbers of neighbours, so that most insertions need no renumbering.
const ORDER_GAP: u32 = 32;

/// An op to be made by [`Module::create`].
#[derive(Clone, Copy, Debug)]
pub struct NewOp<'a> {
    /// Its name.
    pub name: OpNameId,
    /// Its location.
    pub loc: LocId,
    /// Operands.
    pub operands: &'a [ValueId],
    /// Types of the results.
    pub results: &'a [TypeId],
    /// Attributes in any order.
    pub attrs: &'a [(StrId, AttrId)],
    /// Successor blocks.
    pub successors: &'a [BlockId],
}

impl<'a> NewOp<'a> {
    /// An op with a name only, at an unknown location.
    pub fn new(name: OpNameId) -> Self {
        NewOp { name, loc: LocId::UNKNOWN, operands: &[], results: &[], attrs: &[], successors: &[] }
    }
}

impl Module {
    /// Creates a detached op.
    pub fn create(&mut self, new: NewOp<'_>) -> OpId {
        let NewOp { name, loc, operands, results, attrs, successors } = new;
        let op = self.ops.next_id();
        let first_use = self.uses.len() as u32;
        for &value in operands {
            self.push_use(op, value);
        }
        let first_result = self.values.len() as u32;
        for (i, &ty) in results.iter().enumerate() {
            self.values.push(ValueData {
                ty,
                def: ValueDef::Result(op, i as u32),
                first_use: PackedOption::NONE,
            });
        }
        let mut attrs: SmallVec<[(StrId, AttrId); 2]> = SmallVec::from_slice(attrs);
        if attrs.len() > 1 {
            let cx = &self.cx;
            attrs.sort_by(|a, b| cx.str(a.0).cmp(cx.str(b.0)));
        }
        let extra = if successors.is_empty() {
            None
        } else {
            Some(Box::new(super::OpExtra {
                regions: SmallVec::new(),
                successors: SmallVec::from_slice(successors),
            }))
        };
        self.ops.push(OpData {
            name,
            loc,
            parent: PackedOption::NONE,
            prev: PackedOption::NONE,
            next: PackedOption::NONE,
            order: 0,
            first_use,
            n_operands: operands.len() as u32,
            first_result,
            n_results: results.len() as u32,
            properties: PackedOption::NONE,
            erased: false,
            attrs,
            extra,
        })
    }

    /// Creates an op from strings: a convenient but slower form of [`Module::create`].
    pub fn create_named(
        &mut self,
        name: &str,
        operands: &[ValueId],
        results: &[TypeId],
        attrs: &[(&str, AttrId)],
    ) -> OpId {
        let name = self.cx.str_id(name);
        let name = self.cx.op_name(name);
        let attrs: SmallVec<[(StrId, AttrId); 4]> =
            attrs.iter().map(|(n, a)| (self.cx.str_id(n), *a)).collect();
        self.create(NewOp { operands, results, attrs: &attrs, ..NewOp::new(name) })
    }

    // ---- regions, blocks, arguments ----

    /// Adds an empty region to an op.
    pub fn add_region(&mut self, op: OpId) -> RegionId {
        let region = self.regions.push(RegionData { parent: op, blocks: SmallVec::new() });
        self.ops[op].extra.get_or_insert_default().regions.push(region);
        region
    }

    /// Removes the last region of an op; it must have no blocks.
    pub fn pop_region(&mut self, op: OpId) {
        if let Some(extra) = &mut self.ops[op].extra
            && let Some(region) = extra.regions.pop()
        {
            assert!(self.regions[region].blocks.is_empty(), "region still has blocks");
        }
    }

    /// Creates a detached block.
    pub fn create_block(&mut self) -> BlockId {
        self.blocks.push(BlockData {
            parent: PackedOption::NONE,
            first: PackedOption::NONE,
            last: PackedOption::NONE,
            args: SmallVec::new(),
        })
    }

    /// Adds an empty block at the end of a region.
    pub fn add_block(&mut self, region: RegionId) -> BlockId {
        let block = self.create_block();
        self.append_block(region, block);
        block
    }

    /// Appends a detached block to a region.
    pub fn append_block(&mut self, region: RegionId, block: BlockId) {
        assert!(self.blocks[block].parent == PackedOption::NONE, "block already has a region");
        self.blocks[block].parent = region.into();
        self.regions[region].blocks.push(block);
    }

    /// Inserts a detached block right after another.
    pub fn insert_block_after(&mut self, block: BlockId, after: BlockId) {
        let Some(region) = self.blocks[after].parent.get() else { panic!("{after:?} is in no region") };
        self.append_block(region, block);
        let blocks = &mut self.regions[region].blocks;
        if let Some(at) = blocks.iter().position(|b| *b == after) {
            blocks[at + 1..].rotate_right(1);
        }
    }

    /// Detaches a block from its region, with its contents.
    pub fn detach_block(&mut self, block: BlockId) {
        if let Some(region) = self.blocks[block].parent.get() {
            self.regions[region].blocks.retain(|b| *b != block);
            self.blocks[block].parent = PackedOption::NONE;
        }
    }

    /// Adds an argument at the end of a block's arguments.
    pub fn add_arg(&mut self, block: BlockId, ty: TypeId) -> ValueId {
        let index = self.blocks[block].args.len() as u32;
        let value = self.values.push(ValueData {
            ty,
            def: ValueDef::Arg(block, index),
            first_use: PackedOption::NONE,
        });
        self.blocks[block].args.push(value);
        value
    }

    /// Removes argument `i` of a block; it must be unused.
    pub fn remove_arg(&mut self, block: BlockId, i: usize) {
        let value = self.blocks[block].args.remove(i);
        assert!(self.is_unused(value), "{value:?} is still used");
        for at in i..self.blocks[block].args.len() {
            let arg = self.blocks[block].args[at];
            self.values[arg].def = ValueDef::Arg(block, at as u32);
        }
    }

    /// A placeholder for a value whose definition has not been read yet; to be replaced and dropped.
    pub fn create_forward(&mut self, ty: TypeId) -> ValueId {
        self.values.push(ValueData { ty, def: ValueDef::Forward, first_use: PackedOption::NONE })
    }

    // ---- position in a block ----

    /// Inserts a detached op at the end of a block.
    #[inline]
    pub fn append(&mut self, block: BlockId, op: OpId) {
        let last = self.blocks[block].last;
        let mut order = 0;
        match last.get() {
            Some(last) => {
                self.ops[last].next = op.into();
                order = self.ops[last].order;
            }
            None => self.blocks[block].first = op.into(),
        }
        self.blocks[block].last = op.into();
        let data = &mut self.ops[op];
        assert!(data.parent == PackedOption::NONE && !data.erased, "{op:?} is already in a block or erased");
        data.parent = block.into();
        data.prev = last;
        data.next = PackedOption::NONE;
        match order.checked_add(ORDER_GAP) {
            Some(order) => data.order = order,
            None => self.renumber(block),
        }
    }

    /// Inserts a detached op right before another.
    pub fn insert_before(&mut self, op: OpId, before: OpId) {
        let Some(block) = self.ops[before].parent.get() else { panic!("{before:?} is in no block") };
        assert!(
            self.ops[op].parent == PackedOption::NONE && !self.ops[op].erased,
            "{op:?} is already in a block or erased"
        );
        let prev = self.ops[before].prev;
        let low = match prev.get() {
            Some(prev) => {
                self.ops[prev].next = op.into();
                self.ops[prev].order
            }
            None => {
                self.blocks[block].first = op.into();
                0
            }
        };
        let high = self.ops[before].order;
        self.ops[before].prev = op.into();
        let data = &mut self.ops[op];
        data.parent = block.into();
        data.prev = prev;
        data.next = before.into();
        data.order = low + (high - low) / 2;
        if data.order == low || data.order == high {
            self.make_room(op, block);
        }
    }

    /// Inserts a detached op right after another.
    pub fn insert_after(&mut self, op: OpId, after: OpId) {
        match (self.ops[after].next.get(), self.ops[after].parent.get()) {
            (Some(next), _) => self.insert_before(op, next),
            (None, Some(block)) => self.append(block, op),
            (None, None) => panic!("{after:?} is in no block"),
        }
    }

    /// Detaches an op from its block. It keeps its operands and uses.
    pub fn detach(&mut self, op: OpId) {
        let Some(block) = self.ops[op].parent.get() else { return };
        let (prev, next) = (self.ops[op].prev, self.ops[op].next);
        match prev.get() {
            Some(prev) => self.ops[prev].next = next,
            None => self.blocks[block].first = next,
        }
        match next.get() {
            Some(next) => self.ops[next].prev = prev,
            None => self.blocks[block].last = prev,
        }
        let data = &mut self.ops[op];
        data.parent = PackedOption::NONE;
        data.prev = PackedOption::NONE;
        data.next = PackedOption::NONE;
    }

    /// Moves an op right before another.
    pub fn move_before(&mut self, op: OpId, before: OpId) {
        if op != before {
            self.detach(op);
            self.insert_before(op, before);
        }
    }

    /// Renumbers the neighbourhood of `op`, which has no order number of its own. The renumbered range is the
    /// smallest power of two around its neighbour that is sparse enough, where larger ranges must be sparser.
    /// So a run of insertions at one place costs the logarithm of its length per insertion.
    fn make_room(&mut self, op: OpId, block: BlockId) {
        let neighbour = self.ops[op].prev.get().or(self.ops[op].next.get());
        let base = neighbour.map_or(0, |n| self.ops[n].order);
        let (mut first, mut last, mut n) = (op, op, 1u32);
        let mut room = 1.0;
        for bits in 1..32 {
            let size = 1u32 << bits;
            let low = base & !(size - 1);
            while let Some(prev) = self.ops[first].prev.get().filter(|p| self.ops[*p].order >= low) {
                (first, n) = (prev, n + 1);
            }
            while let Some(next) = self.ops[last].next.get().filter(|p| self.ops[*p].order - low < size) {
                (last, n) = (next, n + 1);
            }
            room *= 1.5;
            if f64::from(n) < room {
                let step = size / n;
                let mut order = low + step / 2;
                let mut at = Some(first);
                for _ in 0..n {
                    let Some(op) = at else { break };
                    self.ops[op].order = order;
                    order += step;
                    at = self.ops[op].next.get();
                }
                return;
            }
        }
        self.renumber(block);
    }

    fn renumber(&mut self, block: BlockId) {
        let n = self.ops_in(block).count() as u64;
        // Renumber the whole range when the usual gap no longer fits.
        let gap = (u64::from(u32::MAX) / (n + 2)).clamp(1, u64::from(ORDER_GAP)) as u32;
        let mut order = 0;
        let mut at = self.blocks[block].first;
        while let Some(op) = at.get() {
            order += gap;
            self.ops[op].order = order;
            at = self.ops[op].next;
        }
    }

    // ---- operands, attributes, other parts ----

    fn push_use(&mut self, owner: OpId, value: ValueId) {
        let head = self.values[value].first_use;
        let id = self.uses.push(UseData { value, owner, next: head, prev: PackedOption::NONE });
        if let Some(head) = head.get() {
            self.uses[head].prev = id.into();
        }
        self.values[value].first_use = id.into();
    }

    fn unlink_use(&mut self, id: UseId) {
        let UseData { value, owner: _, next, prev } = self.uses[id];
        match prev.get() {
            Some(prev) => self.uses[prev].next = next,
            None if self.values[value].first_use == id.into() => self.values[value].first_use = next,
            None => {}
        }
        if let Some(next) = next.get() {
            self.uses[next].prev = prev;
        }
        self.uses[id].next = PackedOption::NONE;
        self.uses[id].prev = PackedOption::NONE;
    }

    /// Replaces operand `i` of an op.
    pub fn set_operand(&mut self, op: OpId, i: usize, value: ValueId) {
        assert!(i < self.n_operands(op), "operand index out of range");
        let id = self.operand_use(op, i);
        self.set_use(id, value);
    }

    fn set_use(&mut self, id: UseId, value: ValueId) {
        if self.uses[id].value == value {
            return;
        }
        self.unlink_use(id);
        let head = self.values[value].first_use;
        let data = &mut self.uses[id];
        data.value = value;
        data.next = head;
        if let Some(head) = head.get() {
            self.uses[head].prev = id.into();
        }
        self.values[value].first_use = id.into();
    }

    /// Replaces all operands of an op.
    pub fn set_operands(&mut self, op: OpId, operands: &[ValueId]) {
        let (first, n) = (self.ops[op].first_use, self.ops[op].n_operands);
        for id in first..first + n {
            self.unlink_use(UseId(id));
        }
        self.ops[op].first_use = self.uses.len() as u32;
        self.ops[op].n_operands = operands.len() as u32;
        for &value in operands {
            self.push_use(op, value);
        }
    }

    /// Replaces all uses of `old` by `new`. The order of `old`'s uses is kept, in front of those of `new`.
    pub fn replace_all_uses(&mut self, old: ValueId, new: ValueId) {
        if old == new {
            return;
        }
        let first = self.values[old].first_use;
        let Some(mut last) = first.get() else { return };
        loop {
            self.uses[last].value = new;
            match self.uses[last].next.get() {
                Some(next) => last = next,
                None => break,
            }
        }
        let head = self.values[new].first_use;
        self.uses[last].next = head;
        if let Some(head) = head.get() {
            self.uses[head].prev = last.into();
        }
        self.values[new].first_use = first;
        self.values[old].first_use = PackedOption::NONE;
    }

    /// Changes the type of a value.
    pub fn set_value_type(&mut self, value: ValueId, ty: TypeId) {
        self.values[value].ty = ty;
    }

    /// Changes the location of an op.
    pub fn set_loc(&mut self, op: OpId, loc: LocId) {
        self.ops[op].loc = loc;
    }

    /// Sets an attribute, replacing one of the same name.
    pub fn set_attr(&mut self, op: OpId, name: StrId, value: AttrId) {
        let cx = &self.cx;
        let attrs = &mut self.ops[op].attrs;
        match attrs.iter().position(|(n, _)| *n == name) {
            Some(at) => attrs[at].1 = value,
            None => {
                let at = attrs.partition_point(|(n, _)| cx.str(*n) < cx.str(name));
                attrs.insert(at, (name, value));
            }
        }
    }

    /// Removes an attribute; returns whether there was one.
    pub fn remove_attr(&mut self, op: OpId, name: StrId) -> bool {
        let attrs = &mut self.ops[op].attrs;
        match attrs.iter().position(|(n, _)| *n == name) {
            Some(at) => {
                attrs.remove(at);
                true
            }
            None => false,
        }
    }

    /// Sets the properties of an unregistered op.
    pub fn set_properties(&mut self, op: OpId, value: Option<AttrId>) {
        self.ops[op].properties = value.into();
    }

    /// Replaces the successors of an op.
    pub fn set_successors(&mut self, op: OpId, successors: &[BlockId]) {
        self.ops[op].extra.get_or_insert_default().successors = SmallVec::from_slice(successors);
    }

    // ---- erasure ----

    /// Erases an op with its regions. Its results must have no uses outside.
    pub fn erase(&mut self, op: OpId) {
        self.detach(op);
        // All operands are dropped first, so that uses among the erased ops do not count; then results are
        // checked.
        let mut doomed = vec![op];
        let mut at = 0;
        while at < doomed.len() {
            let op = doomed[at];
            at += 1;
            let (first, n) = (self.ops[op].first_use, self.ops[op].n_operands);
            for id in first..first + n {
                self.unlink_use(UseId(id));
            }
            self.ops[op].n_operands = 0;
            for r in 0..self.regions_of(op).len() {
                let region = self.regions_of(op)[r];
                for b in 0..self.blocks_of(region).len() {
                    let mut next = self.first_op(self.blocks_of(region)[b]);
                    while let Some(inner) = next {
                        doomed.push(inner);
                        next = self.next_op(inner);
                    }
                }
            }
        }
        for op in doomed {
            for result in self.results(op) {
                assert!(self.is_unused(result), "{op:?} is erased but {result:?} is still used");
            }
            self.ops[op].erased = true;
        }
    }

    /// Detaches a block and erases it with its contents.
    pub fn erase_block(&mut self, block: BlockId) {
        // From the end, since users follow definitions except around loops.
        while let Some(op) = self.last_op(block) {
            self.erase(op);
        }
        self.detach_block(block);
    }
}

impl Module {
    /// Owner and index of the operand of a use.
    pub(super) fn use_place(&self, id: UseId) -> (OpId, usize) {
        let owner = self.uses[id].owner;
        (owner, id.index() - self.ops[owner].first_use as usize)
    }
}
