//! Rewriting of IR: the [`Rewriter`], [`Pattern`]s, and the greedy driver.
//!
//! ```text
//! pass ──▶ Rewriter ──▶ Module (ir/edit.rs)       all changes by a pass
//!             │ touched ops
//!             ▼
//!     greedy driver ──▶ folders, then patterns of each op by benefit, to a fixpoint or the end of the budget
//! ```
//!
//! A [`Rewriter`] is a view of the module for changes inside of one op. Its methods keep use lists and the
//! order of ops consistent (by `ir/edit.rs`) and record touched ops for the driver's worklist. A pattern
//! matches one op, and either changes the IR and returns [`Change::Changed`], or leaves it unchanged. The
//! definition of an op lists its patterns.
//!
//! Folders and canonicalization patterns are in `fold`, patterns of the op graph in `graph/patterns`, passes
//! in `pass` and `graph`.

mod blocks;
pub(crate) mod branches;
mod clone;
mod constants;
mod effects;
mod greedy;
mod order;
pub(crate) mod signatures;
mod simplify;

pub use clone::IrMapping;
pub use effects::{
    is_in_dataflow, is_speculatable, is_total, is_trivially_dead, state_access, with_callers,
    would_be_trivially_dead,
};
pub use greedy::{Fold, GreedyConfig, Materialize, Outcome, fold_with_table, greedy};
pub(crate) use order::TopologicalOrder;
pub use simplify::simplify_regions;

use crate::ir::{
    AttrId, BlockId, Context, FoldingWork, LocId, Module, NewOp, OpId, RegionId, StrId, Traits, TypeId,
    ValueId, names,
};

/// Whether the IR changed.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The IR is unchanged.
    Unchanged,
    /// The IR is different.
    Changed,
}

impl Change {
    /// Changed if either is.
    pub fn or(self, other: Change) -> Change {
        if self == Change::Changed { self } else { other }
    }
}

/// A rewrite of one op, which either succeeds completely or changes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// Name, with which the user can disable it.
    pub name: &'static str,
    /// Patterns with more benefit are tried first; those of equal benefit in the order of registration.
    pub benefit: u16,
    /// Matches an op and possibly changes it or its surroundings.
    pub rewrite: fn(&mut Rewriter<'_>, OpId) -> Change,
}

/// An insertion point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertionPoint {
    /// Right before an op.
    Before(OpId),
    /// Right after an op.
    After(OpId),
    /// First in a block.
    Start(BlockId),
    /// Last in a block.
    End(BlockId),
}

/// A state of the IR that [`Rewriter::rollback`] goes back to.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    n_ops: usize,
    n_touched: usize,
    change: Change,
}

/// The interface through which passes and patterns change the IR.
pub struct Rewriter<'m> {
    module: &'m mut Module,
    root: OpId,
    change: Change,
    /// Ops that a driver should visit again, possibly erased; `None` without a driver.
    touched: Option<Vec<OpId>>,
}

impl<'m> Rewriter<'m> {
    /// A rewriter for changes inside of `root`.
    pub fn new(module: &'m mut Module, root: OpId) -> Self {
        Rewriter { module, root, change: Change::Unchanged, touched: None }
    }

    /// The IR, read-only.
    pub fn ir(&self) -> &Module {
        self.module
    }

    /// The context, for interning.
    pub fn cx(&mut self) -> &mut Context {
        &mut self.module.cx
    }

    /// The work spent on folding the module.
    pub(crate) fn folding(&mut self) -> &mut FoldingWork {
        &mut self.module.folding
    }

    /// The op that the pass runs on.
    pub fn root(&self) -> OpId {
        self.root
    }

    /// Whether the IR changed so far.
    pub fn change(&self) -> Change {
        self.change
    }

    /// A checkpoint of the current state.
    pub fn checkpoint(&self) -> Checkpoint {
        let n_touched = self.touched.as_ref().map_or(0, Vec::len);
        Checkpoint { n_ops: self.module.n_created(), n_touched, change: self.change }
    }

    /// Erases the ops created since the checkpoint. There must have been no other changes since.
    ///
    /// # Panics
    /// If an older op uses one of them.
    pub fn rollback(&mut self, to: Checkpoint) {
        let Checkpoint { n_ops, n_touched, change } = to;
        for op in (n_ops..self.module.n_created()).rev().map(|index| OpId(index as u32)) {
            if !self.module.is_erased(op) {
                self.module.erase(op);
            }
        }
        if let Some(touched) = &mut self.touched {
            touched.truncate(n_touched);
        }
        self.change = change;
    }

    fn touch(&mut self, op: OpId) {
        self.change = Change::Changed;
        if let Some(touched) = &mut self.touched {
            touched.push(op);
        }
    }

    /// Marks the users of a value as touched.
    fn touch_users(&mut self, value: ValueId) {
        self.change = Change::Changed;
        if let Some(touched) = &mut self.touched {
            touched.extend(self.module.users(value).map(|(user, _)| user));
        }
    }

    /// Marks the definitions of the operands of `op`, which is about to drop them, as touched.
    fn touch_producers(&mut self, op: OpId) {
        self.change = Change::Changed;
        if let Some(touched) = &mut self.touched {
            touched.extend(self.module.operands(op).filter_map(|v| self.module.defining_op(v)));
        }
    }

    // ---- ops ----

    /// Creates an op at an insertion point.
    pub fn create(&mut self, at: InsertionPoint, new: NewOp<'_>) -> OpId {
        let op = self.module.create(new);
        self.place(op, at);
        self.touch(op);
        op
    }

    /// Creates an op from strings at an insertion point.
    pub fn create_named(
        &mut self,
        at: InsertionPoint,
        loc: LocId,
        name: &str,
        operands: &[ValueId],
        results: &[TypeId],
        attrs: &[(&str, AttrId)],
    ) -> OpId {
        let op = self.module.create_named(name, operands, results, attrs);
        self.module.set_loc(op, loc);
        self.place(op, at);
        self.touch(op);
        op
    }

    /// [`Self::create_named`] before an op, with its location.
    pub fn create_before(
        &mut self,
        before: OpId,
        name: &str,
        operands: &[ValueId],
        results: &[TypeId],
        attrs: &[(&str, AttrId)],
    ) -> OpId {
        let loc = self.module.loc(before);
        self.create_named(InsertionPoint::Before(before), loc, name, operands, results, attrs)
    }

    fn place(&mut self, op: OpId, at: InsertionPoint) {
        match at {
            InsertionPoint::Before(other) => self.module.insert_before(op, other),
            InsertionPoint::After(other) => self.module.insert_after(op, other),
            InsertionPoint::End(block) => self.module.append(block, op),
            InsertionPoint::Start(block) => match self.module.first_op(block) {
                Some(first) => self.module.insert_before(op, first),
                None => self.module.append(block, op),
            },
        }
    }

    /// Adds an empty region to an op.
    pub fn add_region(&mut self, op: OpId) -> RegionId {
        self.touch(op);
        self.module.add_region(op)
    }

    /// Creates an op right before `op` with the same name, attributes and regions, and other operands and
    /// result types. `op` is left without blocks, to be replaced.
    pub fn rebuild(&mut self, op: OpId, operands: &[ValueId], results: &[TypeId]) -> OpId {
        let m = self.ir();
        let (name, loc, attrs) = (m.op_name(op), m.loc(op), m.attrs(op).to_vec());
        let regions = m.regions_of(op).to_vec();
        let new = NewOp { loc, operands, results, attrs: &attrs, ..NewOp::new(name) };
        let new = self.create(InsertionPoint::Before(op), new);
        for from in regions {
            let to = self.add_region(new);
            self.move_blocks(from, to);
        }
        new
    }

    /// Moves an op to another place.
    pub fn move_to(&mut self, op: OpId, at: InsertionPoint) {
        if matches!(at, InsertionPoint::Before(other) | InsertionPoint::After(other) if other == op) {
            return;
        }
        self.module.detach(op);
        self.place(op, at);
        self.touch(op);
    }

    /// Moves an op right before another.
    pub fn move_before(&mut self, op: OpId, before: OpId) {
        self.move_to(op, InsertionPoint::Before(before));
    }

    /// Erases an op, whose results must be unused.
    pub fn erase(&mut self, op: OpId) {
        if self.touched.is_some() {
            let inside: Vec<OpId> = self.module.walk(op).collect();
            for op in inside {
                self.touch_producers(op);
            }
        }
        self.module.erase(op);
        self.change = Change::Changed;
    }

    /// Erases an op that is still there if none of its results has a user.
    pub fn erase_if_unused(&mut self, op: OpId) {
        if !self.module.is_erased(op) && self.module.results(op).all(|value| self.module.is_unused(value)) {
            self.erase(op);
        }
    }

    /// [`Module::drop_dead_constants`]: ids of attributes without a use in an op are invalid afterwards.
    pub fn drop_dead_constants(&mut self) {
        self.module.drop_dead_constants();
    }

    /// Replaces the results of `op` by `values` and erases it.
    pub fn replace_op(&mut self, op: OpId, values: &[ValueId]) {
        for (old, &new) in self.module.results(op).zip(values) {
            self.pass_device(op, new);
            self.replace(old, new);
        }
        self.erase(op);
    }

    /// Replaces all uses of `old` by `new`.
    pub fn replace(&mut self, old: ValueId, new: ValueId) {
        if old != new && !self.module.is_unused(old) {
            self.touch_users(old);
            // The users that `new` has already have its type. There may be many: a constant's.
            let moved = self.passing_users(old);
            self.module.replace_all_uses(old, new);
            if let Some(producer) = self.module.defining_op(old) {
                self.touch(producer);
            }
            self.pass_type(new, moved);
        }
    }

    /// Lets the op that makes `new` run where the one that it replaces did, if it is younger and names no
    /// device. An operand that is passed on was not made in its place.
    fn pass_device(&mut self, old: OpId, new: ValueId) {
        let m = &*self.module;
        if m.operands(old).any(|value| value == new) {
            return;
        }
        let (Some(device), Some(new)) = (m.attr(old, names::DEVICE), m.defining_op(new)) else { return };
        if new.0 > old.0 && m.attr(new, names::DEVICE).is_none() && !m.traits(new).has(Traits::CONSTANT) {
            self.module.set_attr(new, names::DEVICE, device);
        }
    }

    /// The users of a value whose results have its type.
    fn passing_users(&self, value: ValueId) -> Vec<OpId> {
        let m = &*self.module;
        m.users(value).map(|(op, _)| op).filter(|&op| m.traits(op).has(Traits::PASSES_TYPE)).collect()
    }

    /// Gives the type of a value to the results of the ops that have the type of their operand.
    pub(crate) fn pass_type_on(&mut self, value: ValueId) {
        self.pass_type(value, self.passing_users(value));
    }

    /// Gives the type of a value to the results of these ops, which have the type of their operand.
    fn pass_type(&mut self, value: ValueId, users: Vec<OpId>) {
        let mut todo = vec![(value, users)];
        while let Some((value, users)) = todo.pop() {
            let m = &*self.module;
            let ty = m.value_type(value);
            let results = users.into_iter().flat_map(|op| m.results(op));
            let results: Vec<ValueId> = results.filter(|&result| m.value_type(result) != ty).collect();
            for result in results {
                self.module.set_value_type(result, ty);
                self.touch_users(result);
                todo.push((result, self.passing_users(result)));
            }
        }
    }

    /// Replaces one operand.
    pub fn set_operand(&mut self, op: OpId, i: usize, value: ValueId) {
        let old = self.module.operand(op, i);
        if old != value {
            self.module.set_operand(op, i, value);
            self.touch(op);
            if let Some(producer) = self.module.defining_op(old) {
                self.touch(producer);
            }
        }
    }

    /// Replaces all operands.
    pub fn set_operands(&mut self, op: OpId, operands: &[ValueId]) {
        if !self.module.operands(op).eq(operands.iter().copied()) {
            self.touch_producers(op);
            self.module.set_operands(op, operands);
            self.touch(op);
        }
    }

    /// Replaces the successors of an op.
    pub fn set_successors(&mut self, op: OpId, successors: &[BlockId]) {
        if self.module.successors(op) != successors {
            self.module.set_successors(op, successors);
            self.touch(op);
        }
    }

    /// Sets an attribute, replacing one of the same name.
    pub fn set_attr(&mut self, op: OpId, name: StrId, value: AttrId) {
        if self.module.attr(op, name) != Some(value) {
            self.module.set_attr(op, name, value);
            self.touch(op);
        }
    }

    /// Removes an attribute, if present.
    pub fn remove_attr(&mut self, op: OpId, name: StrId) {
        if self.module.remove_attr(op, name) {
            self.touch(op);
        }
    }

    /// Changes the type of a value.
    pub fn set_type(&mut self, value: ValueId, ty: TypeId) {
        if self.module.value_type(value) != ty {
            self.module.set_value_type(value, ty);
            self.touch_users(value);
            self.pass_type_on(value);
        }
    }

    /// Changes the location of an op.
    pub fn set_loc(&mut self, op: OpId, loc: LocId) {
        if self.module.loc(op) != loc {
            self.module.set_loc(op, loc);
            self.change = Change::Changed;
        }
    }

    /// Changes the location of a block argument.
    pub fn set_arg_loc(&mut self, arg: ValueId, loc: LocId) {
        if self.module.value_locs.at(arg).copied().unwrap_or(LocId::UNKNOWN) != loc {
            self.module.value_locs.set(arg, loc);
            self.change = Change::Changed;
        }
    }
}
