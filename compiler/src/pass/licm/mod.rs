//! `loop-invariant-code-motion`: invariant ops of loops move in front of the loop.
//!
//! A loop is an op with the trait `LOOP`. An op directly inside of it moves if its operands are defined
//! outside of the loop and it is speculatable (`rewrite/effects.rs`), since the loop may run no iteration.
//! Inner loops come first, so that ops can leave several loops. Ops with regions stay, as in MLIR: they may
//! be infinite loops.
//!
//! Loops with isolated bodies get moved values as arguments (`isolated`): regions here, functions in
//! `graph/licm.rs`.

mod isolated;

pub(crate) use isolated::{IsolatedLoop, hoist as hoist_from_isolated};

use super::{Change, Pass, PassCx, Rewriter};
use crate::dialects::Traits;
use crate::ir::{Module, OpId};
use crate::rewrite::is_speculatable;
use isolated::RegionLoop;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

const MOVED: &str = "num-hoisted";

pub(crate) const PASS: Pass = Pass {
    name: "loop-invariant-code-motion",
    title: "LoopInvariantCodeMotion",
    summary: "moves what is the same in every iteration in front of the loop",
    options: &[],
    statistics: &[(MOVED, "Number of operations moved out of loops")],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    let is_loop = |op: &OpId| m.traits(*op).has(Traits::LOOP);
    let loops: Vec<OpId> = m.walk(r.root()).filter(is_loop).collect();
    // The walk visits outer loops first.
    for op in loops.into_iter().rev() {
        let moved = match r.ir().traits(op).has(Traits::ISOLATED) {
            true => RegionLoop::of(r.ir(), op).map_or(0, |isolated| isolated::hoist(r, &isolated)),
            false => hoist(r, op),
        };
        cx.count(MOVED, moved);
    }
    r.change()
}

/// Moves invariant ops out of a loop; returns their number.
fn hoist(r: &mut Rewriter<'_>, loop_op: OpId) -> u64 {
    let m = r.ir();
    // Moved ops, which are defined outside of the loop from now on.
    let mut moved: FxHashSet<OpId> = FxHashSet::default();
    let mut order: Vec<OpId> = Vec::new();
    for &region in m.regions_of(loop_op) {
        let mut todo: VecDeque<OpId> = m.blocks_of(region).iter().flat_map(|b| m.ops_in(*b)).collect();
        while let Some(op) = todo.pop_front() {
            if moved.contains(&op) || m.parent_region(op) != Some(region) || !may_move(m, op, loop_op, &moved)
            {
                continue;
            }
            moved.insert(op);
            order.push(op);
            // Its users may be invariant now.
            todo.extend(m.results(op).flat_map(|v| m.users(v)).map(|(user, _)| user));
        }
    }
    for op in &order {
        r.move_before(*op, loop_op);
    }
    order.len() as u64
}

fn may_move(m: &Module, op: OpId, loop_op: OpId, moved: &FxHashSet<OpId>) -> bool {
    is_speculatable(m, op)
        && m.operands(op).all(|value| {
            let Some(block) = m.defining_block(value) else { return false };
            let holder = m.block_parent(block).map(|region| m.region_parent(region));
            holder.is_some_and(|holder| !m.is_inside(holder, loop_op))
                || m.defining_op(value).is_some_and(|d| moved.contains(&d))
        })
}
