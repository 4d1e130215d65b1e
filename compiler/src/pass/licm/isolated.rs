//! Loops with isolated bodies, whose arguments stand for operands of the loop.
//!
//! An argument is invariant if the loop carries no values, or if the body returns it unchanged. An op whose
//! operands are all invariant is computed in front of the loop, with the operands in place of the arguments,
//! and its result becomes a further argument:
//!
//! ```text
//! tfrt.repeat.i32 %n, %a, %x : i32, i32 {          %y = tfrt.mul.i32 %x, %x
//!   %y = tfrt.mul.i32 %x, %x                       tfrt.repeat.i32 %n, %a, %x, %y : i32, i32, i32 {
//!   %b = tfrt.add.i32 %a, %y                  ─▶     %b = tfrt.add.i32 %a, %y
//!   tfrt.return %b, %x : i32, i32                    tfrt.return %b, %x, %y : i32, i32, i32
//! }                                                }
//! ```
//!
//! Ops that may fail stay even if they cannot trap: the error would be an operand of the loop, hence an error
//! of all of its results, although the loop may run no iteration or need the value for one result only.
//!
//! Constants, and ops that forward their operands, move only together with ops that need them: carrying them
//! costs no less than recomputing them.

use crate::dialects::tf;
use crate::dialects::tfrt_control::{ParallelFor, Repeat};
use crate::ir::{BlockId, Module, NewOp, OpId, TypeId, ValueId};
use crate::rewrite::{InsertionPoint, Rewriter, is_speculatable, is_total};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop with an isolated body of one block.
pub(crate) trait IsolatedLoop {
    /// The loop.
    fn op(&self) -> OpId;

    /// The body.
    fn body(&self) -> BlockId;

    /// The invariant arguments of the body, with the operands of the loop for which they stand.
    fn invariants(&self, m: &Module) -> FxHashMap<ValueId, ValueId>;

    /// True if an op with invariant operands may be computed in front of the loop.
    fn may_move(&self, m: &Module, op: OpId) -> bool;

    /// Turns the values `inside` of the body into arguments, with `outside` as operands of the loop.
    fn carry(&self, r: &mut Rewriter<'_>, inside: &[ValueId], outside: &[ValueId]);
}

/// Computes invariant ops in front of a loop; returns their number, without constants and forwarding ops.
pub(crate) fn hoist(r: &mut Rewriter<'_>, isolated: &impl IsolatedLoop) -> u64 {
    let m = r.ir();
    let mut outside = isolated.invariants(m);
    let mut known: FxHashSet<ValueId> = outside.keys().copied().collect();
    let mut invariant = Vec::new();
    for op in m.ops_in(isolated.body()) {
        if m.operands(op).all(|value| known.contains(&value)) && isolated.may_move(m, op) {
            known.extend(m.results(op));
            invariant.push(op);
        }
    }
    let mut work: FxHashSet<OpId> = FxHashSet::default();
    for &op in &invariant {
        let is_work = match tf::is_passing(m, op) {
            true => m.operands(op).filter_map(|value| m.defining_op(value)).any(|by| work.contains(&by)),
            false => m.n_operands(op) > 0,
        };
        if is_work {
            work.insert(op);
        }
    }
    let moving: FxHashSet<OpId> = invariant.iter().copied().collect();
    let needed: Vec<ValueId> = invariant
        .iter()
        .filter(|op| work.contains(op))
        .flat_map(|&op| m.results(op))
        .filter(|&value| m.users(value).any(|(user, _)| !moving.contains(&user)))
        .collect();
    if needed.is_empty() {
        return 0;
    }
    let mut taken: FxHashSet<OpId> = needed.iter().filter_map(|&value| m.defining_op(value)).collect();
    for &op in invariant.iter().rev() {
        if taken.contains(&op) {
            taken.extend(m.operands(op).filter_map(|value| m.defining_op(value)));
        }
    }
    let n_hoisted = work.intersection(&taken).count() as u64;
    for &op in invariant.iter().filter(|op| taken.contains(op)) {
        let m = r.ir();
        let (name, loc, attrs) = (m.op_name(op), m.loc(op), m.attrs(op).to_vec());
        let operands: Vec<ValueId> = m.operands(op).map(|value| outside[&value]).collect();
        let results: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
        let new = NewOp { loc, operands: &operands, results: &results, attrs: &attrs, ..NewOp::new(name) };
        let copy = r.create(InsertionPoint::Before(isolated.op()), new);
        outside.extend(r.ir().results(op).zip(r.ir().results(copy)));
    }
    isolated.carry(r, &needed, &needed.iter().map(|value| outside[value]).collect::<Vec<_>>());
    for &op in invariant.iter().rev() {
        // Of a read, whose error is an effect, there is a copy.
        if taken.contains(&op) && r.ir().results(op).all(|value| r.ir().is_unused(value)) {
            r.erase(op);
        } else {
            r.erase_if_unused(op);
        }
    }
    n_hoisted
}

/// `tfrt.repeat.i32` or `tfrt.parallel_for.i32`, with the correspondence of its arguments and operands.
pub(super) struct RegionLoop {
    op: OpId,
    block: BlockId,
    /// The terminator.
    end: OpId,
    /// Number of operands before the carried ones, and of arguments before those that correspond to them.
    first_operand: usize,
    first_arg: usize,
    /// True if the body returns the arguments of the next iteration.
    carries_values: bool,
}

impl RegionLoop {
    pub(super) fn of(m: &Module, op: OpId) -> Option<RegionLoop> {
        let (body, first_operand, first_arg, carries_values) = if let Some(repeat) = Repeat::of(m, op) {
            (repeat.body(m), 1, 0, true)
        } else {
            (ParallelFor::of(m, op)?.body(m), 3, 2, false)
        };
        let &[block] = m.blocks_of(body) else { return None };
        let end = m.last_op(block)?;
        let n_args = m.args(block).len();
        let fits = n_args + first_operand == m.n_operands(op) + first_arg
            && (!carries_values || m.n_operands(end) == n_args && m.n_results(op) == n_args);
        fits.then_some(RegionLoop { op, block, end, first_operand, first_arg, carries_values })
    }
}

impl IsolatedLoop for RegionLoop {
    fn op(&self) -> OpId {
        self.op
    }

    fn body(&self) -> BlockId {
        self.block
    }

    fn invariants(&self, m: &Module) -> FxHashMap<ValueId, ValueId> {
        let args = m.args(self.block)[self.first_arg..].iter().copied().enumerate();
        let same = args.filter(|&(i, arg)| !self.carries_values || m.operand(self.end, i) == arg);
        same.map(|(i, arg)| (arg, m.operand(self.op, self.first_operand + i))).collect()
    }

    fn may_move(&self, m: &Module, op: OpId) -> bool {
        is_speculatable(m, op) && is_total(m, op)
    }

    fn carry(&self, r: &mut Rewriter<'_>, inside: &[ValueId], outside: &[ValueId]) {
        let m = r.ir();
        let types: Vec<TypeId> = inside.iter().map(|&value| m.value_type(value)).collect();
        let operands: Vec<ValueId> = m.operands(self.op).chain(outside.iter().copied()).collect();
        let old: Vec<ValueId> = m.results(self.op).collect();
        let mut results: Vec<TypeId> = old.iter().map(|&value| m.value_type(value)).collect();
        let mut returned: Vec<ValueId> = m.operands(self.end).collect();
        for (&value, &ty) in inside.iter().zip(&types) {
            let arg = r.add_arg(self.block, ty);
            r.replace(value, arg);
            returned.push(arg);
        }
        if self.carries_values {
            r.set_operands(self.end, &returned);
            results.extend(types);
        }
        let new = r.rebuild(self.op, &operands, &results);
        let results: Vec<ValueId> = r.ir().results(new).take(old.len()).collect();
        r.replace_op(self.op, &results);
    }
}
