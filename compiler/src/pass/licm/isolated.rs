//! Loops with isolated bodies: `tfrt.repeat.i32` and `tfrt.parallel_for.i32`.
//!
//! Arguments of the body stand for operands of the loop. An argument is invariant if the loop carries no
//! values, or if the body returns it unchanged. An op whose operands are all invariant moves in front of the
//! loop, with the operands in place of the arguments, and its result becomes a further argument:
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
//! Ops without operands, such as constants, stay: carrying them costs no less than recomputing them. Moved
//! ops get a copy.

use crate::dialects::tfrt_control::{ParallelFor, Repeat};
use crate::ir::{BlockId, Module, NewOp, OpId, TypeId, ValueId};
use crate::rewrite::{InsertionPoint, Rewriter, is_speculatable, is_total};
use rustc_hash::{FxHashMap, FxHashSet};

/// An isolated loop with the correspondence of its arguments and operands.
struct IsolatedLoop {
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

impl IsolatedLoop {
    fn of(m: &Module, op: OpId) -> Option<IsolatedLoop> {
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
        fits.then_some(IsolatedLoop { op, block, end, first_operand, first_arg, carries_values })
    }

    /// The invariant arguments and their operands.
    fn invariants(&self, m: &Module) -> FxHashMap<ValueId, ValueId> {
        let args = m.args(self.block)[self.first_arg..].iter().copied().enumerate();
        let same = args.filter(|&(i, arg)| !self.carries_values || m.operand(self.end, i) == arg);
        same.map(|(i, arg)| (arg, m.operand(self.op, self.first_operand + i))).collect()
    }
}

/// Moves invariant ops out of an isolated loop; returns their number.
pub(super) fn hoist(r: &mut Rewriter<'_>, loop_op: OpId) -> u64 {
    let Some(isolated) = IsolatedLoop::of(r.ir(), loop_op) else { return 0 };
    let mut outside = isolated.invariants(r.ir());
    let chosen = choose(r.ir(), &isolated, &outside);
    let mut carried: Vec<(ValueId, ValueId)> = Vec::new();
    for &op in &chosen {
        let results: Vec<ValueId> = r.ir().results(op).collect();
        for result in results {
            let ty = r.ir().value_type(result);
            let arg = r.add_arg(isolated.block, ty);
            r.replace(result, arg);
            outside.insert(arg, result);
            carried.push((arg, result));
        }
        for i in 0..r.ir().n_operands(op) {
            let inner = r.ir().operand(op, i);
            let outer = match outside.get(&inner) {
                Some(&outer) => outer,
                None => copy_out(r, isolated.op, inner, &mut outside),
            };
            r.set_operand(op, i, outer);
        }
        r.move_before(op, isolated.op);
    }
    carry(r, &isolated, carried);
    chosen.len() as u64
}

/// The invariant ops, producers first.
fn choose(m: &Module, isolated: &IsolatedLoop, invariants: &FxHashMap<ValueId, ValueId>) -> Vec<OpId> {
    let mut same: FxHashSet<ValueId> = invariants.keys().copied().collect();
    let mut chosen = Vec::new();
    for op in m.ops_in(isolated.block).filter(|op| *op != isolated.end) {
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

/// Copies the op without operands that defines `inner` in front of the loop; returns the copy of `inner`.
fn copy_out(
    r: &mut Rewriter<'_>,
    loop_op: OpId,
    inner: ValueId,
    outside: &mut FxHashMap<ValueId, ValueId>,
) -> ValueId {
    let m = r.ir();
    let Some(op) = m.defining_op(inner) else { return inner };
    let (name, loc, attrs) = (m.op_name(op), m.loc(op), m.attrs(op).to_vec());
    let old: Vec<ValueId> = m.results(op).collect();
    let types: Vec<TypeId> = old.iter().map(|v| m.value_type(*v)).collect();
    let copy = r.create(
        InsertionPoint::Before(loop_op),
        NewOp { loc, results: &types, attrs: &attrs, ..NewOp::new(name) },
    );
    outside.extend(old.into_iter().zip(r.ir().results(copy)));
    outside.get(&inner).copied().unwrap_or(inner)
}

/// Passes further values to the body of the loop: (argument, value outside) for each used new argument.
fn carry(r: &mut Rewriter<'_>, isolated: &IsolatedLoop, mut carried: Vec<(ValueId, ValueId)>) {
    let unused: Vec<usize> = (0..r.ir().args(isolated.block).len())
        .rev()
        .filter(|&i| {
            let arg = r.ir().args(isolated.block)[i];
            r.ir().is_unused(arg) && carried.iter().any(|&(new, _)| new == arg)
        })
        .collect();
    for i in unused {
        let arg = r.ir().args(isolated.block)[i];
        carried.retain(|&(new, _)| new != arg);
        r.remove_arg(isolated.block, i);
    }
    if carried.is_empty() {
        return;
    }
    let (op, end) = (isolated.op, isolated.end);
    if isolated.carries_values {
        let given: Vec<ValueId> = r.ir().operands(end).chain(carried.iter().map(|&(arg, _)| arg)).collect();
        r.set_operands(end, &given);
    }
    let m = r.ir();
    let operands: Vec<ValueId> = m.operands(op).chain(carried.iter().map(|&(_, outer)| outer)).collect();
    let old: Vec<ValueId> = m.results(op).collect();
    let more = carried.iter().filter(|_| isolated.carries_values).map(|&(arg, _)| arg);
    let types: Vec<TypeId> = old.iter().copied().chain(more).map(|v| m.value_type(v)).collect();
    let new = r.rebuild(op, &operands, &types);
    for (i, old) in old.into_iter().enumerate() {
        let result = r.ir().result(new, i);
        r.replace(old, result);
    }
    r.erase(op);
}
