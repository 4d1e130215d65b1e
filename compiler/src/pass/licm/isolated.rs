//! Loops whose body sees nothing from outside: `tfrt.repeat.i32` and `tfrt.parallel_for.i32`.
//!
//! What comes in are arguments, which stand for operands of the loop. An argument is the same in every
//! iteration if the loop hands nothing on, or if the body hands on just this argument. What is computed from
//! such arguments alone moves out, with the operands for the arguments, and comes back in as one more
//! argument:
//!
//! ```text
//! tfrt.repeat.i32 %n, %a, %x : i32, i32 {          %y = tfrt.mul.i32 %x, %x
//!   %y = tfrt.mul.i32 %x, %x                       tfrt.repeat.i32 %n, %a, %x, %y : i32, i32, i32 {
//!   %b = tfrt.add.i32 %a, %y                  ─▶     %b = tfrt.add.i32 %a, %y
//!   tfrt.return %b, %x : i32, i32                    tfrt.return %b, %x, %y : i32, i32, i32
//! }                                                }
//! ```
//!
//! What may fail stays, even if it cannot trap: its error would be an operand of the loop, and so one of all
//! its results, though the loop may run no iteration or need the value for one result only.
//!
//! What has no operands, such as a constant, stays: to carry it around costs no less than to make it anew.
//! What moves gets a copy of it.

use crate::dialects::tfrt_control::{ParallelFor, Repeat};
use crate::ir::{BlockId, Module, NewOp, OpId, TypeId, ValueId};
use crate::rewrite::{At, Rewriter, is_speculatable, is_total};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop of which is known what its arguments stand for.
struct Loop {
    op: OpId,
    block: BlockId,
    /// The terminator.
    end: OpId,
    /// How many operands stand before those that are passed on, and how many arguments before those that
    /// stand for them.
    first_operand: usize,
    first_arg: usize,
    /// Whether the body returns the next iteration's arguments.
    hands_on: bool,
}

impl Loop {
    fn of(m: &Module, op: OpId) -> Option<Loop> {
        let (body, first_operand, first_arg, hands_on) = if let Some(repeat) = Repeat::of(m, op) {
            (repeat.body(m), 1, 0, true)
        } else {
            (ParallelFor::of(m, op)?.body(m), 3, 2, false)
        };
        let &[block] = m.blocks_of(body) else { return None };
        let end = m.last_op(block)?;
        let n_args = m.args(block).len();
        let fits = n_args + first_operand == m.n_operands(op) + first_arg
            && (!hands_on || m.n_operands(end) == n_args && m.n_results(op) == n_args);
        fits.then_some(Loop { op, block, end, first_operand, first_arg, hands_on })
    }

    /// The arguments that are the same in every iteration, and the operands that they are.
    fn invariants(&self, m: &Module) -> FxHashMap<ValueId, ValueId> {
        let args = m.args(self.block)[self.first_arg..].iter().copied().enumerate();
        let same = args.filter(|&(i, arg)| !self.hands_on || m.operand(self.end, i) == arg);
        same.map(|(i, arg)| (arg, m.operand(self.op, self.first_operand + i))).collect()
    }
}

/// Moves what it can out of an isolated loop; says how many ops that were.
pub(super) fn hoist(r: &mut Rewriter<'_>, looping: OpId) -> u64 {
    let Some(looping) = Loop::of(r.ir(), looping) else { return 0 };
    let mut outside = looping.invariants(r.ir());
    let chosen = choose(r.ir(), &looping, &outside);
    let mut carried: Vec<(ValueId, ValueId)> = Vec::new();
    for &op in &chosen {
        let results: Vec<ValueId> = r.ir().results(op).collect();
        for result in results {
            let ty = r.ir().value_type(result);
            let arg = r.add_arg(looping.block, ty);
            r.replace(result, arg);
            outside.insert(arg, result);
            carried.push((arg, result));
        }
        for i in 0..r.ir().n_operands(op) {
            let inner = r.ir().operand(op, i);
            let outer = match outside.get(&inner) {
                Some(&outer) => outer,
                None => copy_out(r, looping.op, inner, &mut outside),
            };
            r.set_operand(op, i, outer);
        }
        r.move_before(op, looping.op);
    }
    carry(r, &looping, carried);
    chosen.len() as u64
}

/// The ops that compute the same in every iteration, producers first.
fn choose(m: &Module, looping: &Loop, invariants: &FxHashMap<ValueId, ValueId>) -> Vec<OpId> {
    let mut same: FxHashSet<ValueId> = invariants.keys().copied().collect();
    let mut chosen = Vec::new();
    for op in m.ops_in(looping.block).filter(|op| *op != looping.end) {
        let is_invariant = m.operands(op).all(|value| same.contains(&value));
        if is_invariant && is_speculatable(m, op) && is_total(m, op) {
            same.extend(m.results(op));
            if m.n_operands(op) > 0 {
                chosen.push(op);
            }
        }
    }
    chosen
}

/// Copies the op without operands that defines `inner` in front of the loop; the copy of `inner`.
fn copy_out(
    r: &mut Rewriter<'_>,
    looping: OpId,
    inner: ValueId,
    outside: &mut FxHashMap<ValueId, ValueId>,
) -> ValueId {
    let m = r.ir();
    let Some(op) = m.defining_op(inner) else { return inner };
    let (name, loc, attrs) = (m.op_name(op), m.loc(op), m.attrs(op).to_vec());
    let old: Vec<ValueId> = m.results(op).collect();
    let types: Vec<TypeId> = old.iter().map(|v| m.value_type(*v)).collect();
    let copy =
        r.create(At::Before(looping), NewOp { loc, results: &types, attrs: &attrs, ..NewOp::new(name) });
    outside.extend(old.into_iter().zip(r.ir().results(copy)));
    outside.get(&inner).copied().unwrap_or(inner)
}

/// Makes the loop pass more values to its body: for each new argument that is used the value that it stands
/// for.
fn carry(r: &mut Rewriter<'_>, looping: &Loop, mut carried: Vec<(ValueId, ValueId)>) {
    let unused: Vec<usize> = (0..r.ir().args(looping.block).len())
        .rev()
        .filter(|&i| {
            let arg = r.ir().args(looping.block)[i];
            r.ir().is_unused(arg) && carried.iter().any(|&(new, _)| new == arg)
        })
        .collect();
    for i in unused {
        let arg = r.ir().args(looping.block)[i];
        carried.retain(|&(new, _)| new != arg);
        r.remove_arg(looping.block, i);
    }
    if carried.is_empty() {
        return;
    }
    let (op, end) = (looping.op, looping.end);
    if looping.hands_on {
        let given: Vec<ValueId> = r.ir().operands(end).chain(carried.iter().map(|&(arg, _)| arg)).collect();
        r.set_operands(end, &given);
    }
    let m = r.ir();
    let operands: Vec<ValueId> = m.operands(op).chain(carried.iter().map(|&(_, outer)| outer)).collect();
    let old: Vec<ValueId> = m.results(op).collect();
    let more = carried.iter().filter(|_| looping.hands_on).map(|&(arg, _)| arg);
    let types: Vec<TypeId> = old.iter().copied().chain(more).map(|v| m.value_type(v)).collect();
    let new = r.rebuild(op, &operands, &types);
    for (i, old) in old.into_iter().enumerate() {
        let result = r.ir().result(new, i);
        r.replace(old, result);
    }
    r.erase(op);
}
