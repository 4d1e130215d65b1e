//! The IR: operations, blocks, regions and values in arenas.
//!
//! ```text
//! Module ── Context      interned strings, types, attributes, locations, op names
//!   │
//!   ├── ops      linked list per block; an op owns a run of operands and a run of result values
//!   ├── blocks   arguments, first and last op
//!   ├── regions  list of blocks, owned by an op
//!   ├── values   type, definition (op result or block argument), head of the use list
//!   ├── uses     one row per operand: value, owner, neighbours in the value's use list (newest first)
//!   └── side tables: spans of ops and operands, names of values and blocks
//! ```
//!
//! The terms are MLIR's. A module is a tree whose root is a `builtin.module` op ([`Module::top`]). Entities
//! refer to each other by ids, without sharing or reference counts. All changes go through methods of
//! [`Module`] (file `edit.rs`) that keep use lists and block order right. Ids are never reused.
//!
//! Not here: verification (`verify`) and definitions of ops, of which the IR reads only `OpInfo`. They are
//! the layer above (`dialects`), which also creates modules (`Module::new`) and returns the definition of an
//! op (`Module::def`).

pub mod affine;
pub mod attrs;
mod constants;
pub mod context;
pub(crate) mod dominance;
mod edit;
pub mod entity;
pub mod float;
mod ids;
mod info;
pub mod locs;
pub mod names;
pub mod resources;
mod shaped;
pub(crate) mod sizes;
pub mod symbols;
#[cfg(test)]
mod tests;
mod traits;
pub mod types;
mod walk;

pub use affine::{AffineExpr, AffineId, AffineMap, AffineOp, IntegerSet};
pub use attrs::{AttrKind, Blob};
pub(crate) use context::free_name;
pub use context::{Context, KnownType, OpNameData};
pub use edit::NewOp;
pub use float::FloatKind;
pub use ids::{AttrId, BlockId, LocId, OpId, OpNameId, RegionId, StrId, TypeId, UseId, ValueId};
pub(crate) use info::{OpInfo, OpTable};
pub use locs::LocKind;
pub use traits::Traits;
pub use types::{DYNAMIC, Signedness, TypeKind};
pub use walk::{Ops, PreOrder, Users};

use crate::diag::Span;
use entity::{Arena, PackedOption, SideTable};
use smallvec::SmallVec;

/// Definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Result number `1` of an op.
    Result(OpId, u32),
    /// Argument number `1` of a block.
    Arg(BlockId, u32),
    /// A placeholder for a value that was used before its definition was parsed; never in a finished module.
    Forward,
}

/// A value: type, definition and users.
#[derive(Clone, Debug)]
pub struct ValueData {
    ty: TypeId,
    def: ValueDef,
    first_use: PackedOption<UseId>,
}

/// One operand.
#[derive(Clone, Debug)]
struct UseData {
    value: ValueId,
    owner: OpId,
    next: PackedOption<UseId>,
    prev: PackedOption<UseId>,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct OpData {
    name: OpNameId,
    loc: LocId,
    parent: PackedOption<BlockId>,
    prev: PackedOption<OpId>,
    next: PackedOption<OpId>,
    /// Position in the block: ascending, with gaps.
    order: u32,
    first_use: u32,
    n_operands: u32,
    first_result: u32,
    n_results: u32,
    /// Properties of an unregistered op, as MLIR keeps them: one attribute, in `<...>`.
    properties: PackedOption<AttrId>,
    erased: bool,
    /// Sorted by the text of the names.
    attrs: SmallVec<[(StrId, AttrId); 2]>,
    extra: Option<Box<OpExtra>>,
}

/// Rare parts of an op.
#[derive(Clone, Debug, Default)]
struct OpExtra {
    regions: SmallVec<[RegionId; 2]>,
    successors: SmallVec<[BlockId; 2]>,
}

/// A block.
#[derive(Clone, Debug)]
pub struct BlockData {
    parent: PackedOption<RegionId>,
    first: PackedOption<OpId>,
    last: PackedOption<OpId>,
    args: SmallVec<[ValueId; 4]>,
}

/// A region.
#[derive(Clone, Debug)]
pub struct RegionData {
    parent: OpId,
    blocks: SmallVec<[BlockId; 1]>,
}

/// Estimated size of a module, for allocation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Capacity {
    /// Operations.
    pub ops: usize,
    /// Values.
    pub values: usize,
    /// Operands.
    pub uses: usize,
    /// Values with names in the text. If nonzero, places in the text are recorded.
    pub named: usize,
}

/// A program: all entities and the context of interned names and types.
pub struct Module {
    /// The interners.
    pub cx: Context,
    /// Place of each op in the parsed text.
    pub op_spans: SideTable<OpId, Span>,
    /// Place of each operand.
    pub use_spans: SideTable<UseId, Span>,
    /// Place of the name of each value, `%` included: of the result or the block argument.
    pub value_spans: SideTable<ValueId, Span>,
    /// Locations of block arguments.
    pub value_locs: SideTable<ValueId, LocId>,
    /// Names of values that were not parsed, without `%`; see [`Module::value_name`].
    pub value_names: SideTable<ValueId, StrId>,
    /// Name of a block in the text, without `^`.
    pub block_names: SideTable<BlockId, StrId>,
    /// The resource section `{-# ... #-}`.
    pub resources: Option<resources::Resources>,
    /// The work spent on folding.
    pub(crate) folding: FoldingWork,
    /// The symbolic sizes of values that a pass has asked for.
    pub(crate) sizes: std::sync::Mutex<sizes::KnownSizes>,
    ops: Arena<OpId, OpData>,
    blocks: Arena<BlockId, BlockData>,
    regions: Arena<RegionId, RegionData>,
    values: Arena<ValueId, ValueData>,
    uses: Arena<UseId, UseData>,
    top: OpId,
}

/// The work that `tf-constant-fold` has spent on a module, which is limited.
#[derive(Debug, Default)]
pub(crate) struct FoldingWork {
    /// The sum over all folded ops, in arithmetic operations and bytes moved.
    pub(crate) spent: u64,
    /// Ops left unfolded because of the limit, and whether this was reported.
    pub(crate) left: std::collections::BTreeMap<OpId, bool>,
}

impl Module {
    /// An empty `builtin.module` over the given definitions, with room for a program of about this size.
    pub(crate) fn over(table: &'static dyn OpTable, size: Capacity) -> Self {
        let mut module = Module {
            cx: Context::new(table),
            op_spans: SideTable::default(),
            use_spans: SideTable::default(),
            value_spans: SideTable::default(),
            value_locs: SideTable::default(),
            value_names: SideTable::default(),
            block_names: SideTable::default(),
            resources: None,
            folding: FoldingWork::default(),
            sizes: std::sync::Mutex::default(),
            ops: Arena::default(),
            blocks: Arena::default(),
            regions: Arena::default(),
            values: Arena::default(),
            uses: Arena::default(),
            top: OpId(0),
        };
        module.reserve(size);
        let name = module.cx.op_name(names::BUILTIN_MODULE);
        module.top = module.create(NewOp::new(name));
        let region = module.add_region(module.top);
        module.add_block(region);
        module
    }

    /// Reserves space for a program of about this size.
    pub(crate) fn reserve(&mut self, size: Capacity) {
        let Capacity { ops, values, uses, named } = size;
        self.ops.reserve(ops);
        self.values.reserve(values);
        self.uses.reserve(uses);
        if named > 0 {
            self.op_spans.reserve(ops);
            self.use_spans.reserve(uses);
            self.value_spans.reserve(values);
        }
    }

    /// The root: a `builtin.module`.
    pub fn top(&self) -> OpId {
        self.top
    }

    /// Makes another op the root (for the parser, if the text is one explicit module).
    pub fn set_top(&mut self, op: OpId) {
        self.top = op;
    }

    /// The block of the root module, which contains the functions.
    pub fn body(&self) -> BlockId {
        self.blocks_of(self.regions_of(self.top)[0])[0]
    }

    /// Number of op ids ever assigned, including erased ops.
    pub fn n_op_ids(&self) -> usize {
        self.ops.len()
    }

    /// Number of value ids ever assigned.
    pub fn n_value_ids(&self) -> usize {
        self.values.len()
    }

    /// Number of block ids ever assigned.
    pub fn n_block_ids(&self) -> usize {
        self.blocks.len()
    }

    // ---- operations ----

    /// Name id of an op.
    #[inline]
    pub fn op_name(&self, op: OpId) -> OpNameId {
        self.ops[op].name
    }

    /// Name of an op as text.
    #[inline]
    pub fn op_name_str(&self, op: OpId) -> &str {
        self.cx.str(self.cx.op_name_data(self.ops[op].name).name)
    }

    /// Traits of an op; none if it is not registered.
    #[inline]
    pub fn traits(&self, op: OpId) -> Traits {
        self.cx.op_name_data(self.ops[op].name).traits
    }

    /// True if the op's name is `name`.
    #[inline]
    pub fn is(&self, op: OpId, name: StrId) -> bool {
        self.cx.op_name_data(self.ops[op].name).name == name
    }

    /// Location of an op.
    #[inline]
    pub fn loc(&self, op: OpId) -> LocId {
        self.ops[op].loc
    }

    /// True after [`Module::erase`].
    pub fn is_erased(&self, op: OpId) -> bool {
        self.ops[op].erased
    }

    /// The block that holds an op.
    #[inline]
    pub fn parent_block(&self, op: OpId) -> Option<BlockId> {
        self.ops[op].parent.get()
    }

    /// The region that holds an op.
    pub fn parent_region(&self, op: OpId) -> Option<RegionId> {
        self.parent_block(op).and_then(|b| self.block_parent(b))
    }

    /// The op that holds an op.
    pub fn parent_op(&self, op: OpId) -> Option<OpId> {
        self.parent_region(op).map(|r| self.region_parent(r))
    }

    /// The op after `op` in its block.
    #[inline]
    pub fn next_op(&self, op: OpId) -> Option<OpId> {
        self.ops[op].next.get()
    }

    /// The op before `op` in its block.
    #[inline]
    pub fn prev_op(&self, op: OpId) -> Option<OpId> {
        self.ops[op].prev.get()
    }

    /// True if `a` comes before `b` in the block that holds both.
    #[inline]
    pub fn is_before(&self, a: OpId, b: OpId) -> bool {
        self.ops[a].order < self.ops[b].order
    }

    /// Number of operands.
    #[inline]
    pub fn n_operands(&self, op: OpId) -> usize {
        self.ops[op].n_operands as usize
    }

    /// Operands in order.
    #[inline]
    pub fn operands(
        &self,
        op: OpId,
    ) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + Clone + '_ {
        let data = &self.ops[op];
        (data.first_use..data.first_use + data.n_operands).map(|u| self.uses[UseId(u)].value)
    }

    /// Operand number `i`; panics if there is none.
    #[inline]
    pub fn operand(&self, op: OpId, i: usize) -> ValueId {
        assert!(i < self.n_operands(op), "operand index out of range");
        self.uses[self.operand_use(op, i)].value
    }

    /// The id of operand number `i`, for [`Module::use_spans`].
    #[inline]
    pub fn operand_use(&self, op: OpId, i: usize) -> UseId {
        UseId(self.ops[op].first_use + i as u32)
    }

    /// Number of results.
    #[inline]
    pub fn n_results(&self, op: OpId) -> usize {
        self.ops[op].n_results as usize
    }

    /// Results in order.
    #[inline]
    pub fn results(
        &self,
        op: OpId,
    ) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + Clone + use<> {
        let data = &self.ops[op];
        (data.first_result..data.first_result + data.n_results).map(ValueId)
    }

    /// Result number `i`; panics if there is none.
    #[inline]
    pub fn result(&self, op: OpId, i: usize) -> ValueId {
        assert!(i < self.n_results(op), "result index out of range");
        ValueId(self.ops[op].first_result + i as u32)
    }

    /// Attributes, sorted by name: inherent and discardable ones together.
    #[inline]
    pub fn attrs(&self, op: OpId) -> &[(StrId, AttrId)] {
        &self.ops[op].attrs
    }

    /// The attribute called `name`.
    #[inline]
    pub fn attr(&self, op: OpId, name: StrId) -> Option<AttrId> {
        self.ops[op].attrs.iter().find(|(n, _)| *n == name).map(|(_, a)| *a)
    }

    /// The number of ops that were ever created, of which some may be erased; their ids are smaller.
    pub(crate) fn n_created(&self) -> usize {
        self.ops.len()
    }

    /// The attribute called `name`, by text.
    pub fn attr_named(&self, op: OpId, name: &str) -> Option<AttrId> {
        self.cx.find_str(name).and_then(|name| self.attr(op, name))
    }

    /// True if the definition of `op` declares the attribute, so that generic form prints it in `<{...}>`.
    pub fn is_inherent(&self, op: OpId, name: StrId) -> bool {
        self.cx.op_name_data(self.ops[op].name).attr_names.contains(&name)
    }

    /// The properties of an unregistered op.
    pub fn properties(&self, op: OpId) -> Option<AttrId> {
        self.ops[op].properties.get()
    }

    /// Regions in order.
    #[inline]
    pub fn regions_of(&self, op: OpId) -> &[RegionId] {
        self.ops[op].extra.as_ref().map_or(&[], |e| &e.regions)
    }

    /// Successor blocks in order.
    #[inline]
    pub fn successors(&self, op: OpId) -> &[BlockId] {
        self.ops[op].extra.as_ref().map_or(&[], |e| &e.successors)
    }

    // ---- regions and blocks ----

    /// The op that owns a region.
    #[inline]
    pub fn region_parent(&self, region: RegionId) -> OpId {
        self.regions[region].parent
    }

    /// Blocks of a region, entry first.
    #[inline]
    pub fn blocks_of(&self, region: RegionId) -> &[BlockId] {
        &self.regions[region].blocks
    }

    /// First block of a region.
    pub fn entry(&self, region: RegionId) -> Option<BlockId> {
        self.regions[region].blocks.first().copied()
    }

    /// The block of an op that has one region of one block, as a function without branches between blocks.
    pub fn only_block(&self, op: OpId) -> Option<BlockId> {
        let &[region] = self.regions_of(op) else { return None };
        match self.blocks_of(region) {
            &[block] => Some(block),
            _ => None,
        }
    }

    /// The region that holds a block.
    #[inline]
    pub fn block_parent(&self, block: BlockId) -> Option<RegionId> {
        self.blocks[block].parent.get()
    }

    /// Arguments of a block.
    #[inline]
    pub fn args(&self, block: BlockId) -> &[ValueId] {
        &self.blocks[block].args
    }

    /// First op of a block.
    #[inline]
    pub fn first_op(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block].first.get()
    }

    /// Last op of a block: its terminator, in a verified module.
    #[inline]
    pub fn last_op(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block].last.get()
    }

    // ---- values ----

    /// Type of a value.
    #[inline]
    pub fn value_type(&self, value: ValueId) -> TypeId {
        self.values[value].ty
    }

    /// Definition of a value.
    #[inline]
    pub fn value_def(&self, value: ValueId) -> ValueDef {
        self.values[value].def
    }

    /// The op that defines a value, unless it is a block argument.
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.values[value].def {
            ValueDef::Result(op, _) => Some(op),
            ValueDef::Arg(..) | ValueDef::Forward => None,
        }
    }

    /// True if the value is defined in the block of `op`, before it.
    #[inline]
    pub fn is_defined_before(&self, value: ValueId, op: OpId) -> bool {
        let op = &self.ops[op];
        match self.values[value].def {
            ValueDef::Result(producer, _) => {
                let producer = &self.ops[producer];
                producer.parent == op.parent && producer.order < op.order && !producer.erased
            }
            ValueDef::Arg(block, _) => op.parent == block.into(),
            ValueDef::Forward => false,
        }
    }

    /// The block in which a value is defined.
    pub fn defining_block(&self, value: ValueId) -> Option<BlockId> {
        match self.values[value].def {
            ValueDef::Result(op, _) => self.parent_block(op),
            ValueDef::Arg(block, _) => Some(block),
            ValueDef::Forward => None,
        }
    }

    /// Name of a value in the text, without `%`.
    pub fn value_name(&self, value: ValueId) -> Option<&str> {
        if let Some(name) = self.value_names.at(value) {
            return Some(self.cx.str(*name));
        }
        let Span { start, end } = *self.value_spans.at(value)?;
        let text = self.cx.places().text.get(start as usize + 1..end as usize)?;
        Some(text.strip_suffix("#0").unwrap_or(text))
    }

    /// True if the value has no uses.
    #[inline]
    pub fn is_unused(&self, value: ValueId) -> bool {
        self.values[value].first_use == PackedOption::NONE
    }
}
