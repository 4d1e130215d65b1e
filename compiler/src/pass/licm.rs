//! `loop-invariant-code-motion`: what is the same in every iteration is computed once, before the loop.
//!
//! A loop is an op with the trait `LOOP` that is not isolated. An op inside of it moves in front of it if all that it
//! and the ops inside of it use is defined outside of the loop, and if computing it in vain does no harm, since the loop
//! may run no iteration: it has no effects, and cannot make the program undefined (`NOT_SPECULATABLE`). Inner loops come
//! first, so that what moves out of them may move on.
//!
//! Regions of tfrt's loops are isolated: their values come in as operands and, for `tfrt.repeat.i32`, out as results of
//! each iteration. To hoist from one would be to make it carry one value more; such loops are left as they are.

use super::{Change, Pass, PassCx, Rewriter};
use crate::dialects::{Effects, Traits};
use crate::ir::{Module, OpId};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

const MOVED: &str = "num-hoisted";

pub(super) const PASS: Pass = Pass {
    name: "loop-invariant-code-motion",
    title: "LoopInvariantCodeMotion",
    summary: "moves what is the same in every iteration in front of the loop",
    options: &[],
    statistics: &[(MOVED, "Number of operations moved out of loops")],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    let is_loop = |op: &OpId| {
        m.def(*op).is_some_and(|d| d.traits.has(Traits::LOOP) && !d.traits.has(Traits::ISOLATED))
    };
    let loops: Vec<OpId> = m.walk(r.root()).filter(is_loop).collect();
    // The walk has outer loops before inner ones.
    for op in loops.into_iter().rev() {
        cx.count(MOVED, hoist(r, op));
    }
    r.change()
}

/// Moves what it can out of a loop; says how many ops that were.
fn hoist(r: &mut Rewriter<'_>, looping: OpId) -> u64 {
    let m = r.ir();
    // What is defined inside, and moves.
    let mut moved: FxHashSet<OpId> = FxHashSet::default();
    let mut order: Vec<OpId> = Vec::new();
    for &region in m.regions_of(looping) {
        let mut todo: VecDeque<OpId> = m.blocks_of(region).iter().flat_map(|b| m.ops_in(*b)).collect();
        while let Some(op) = todo.pop_front() {
            if moved.contains(&op) || m.parent_region(op) != Some(region) || !may_move(m, op, looping, &moved) {
                continue;
            }
            moved.insert(op);
            order.push(op);
            // Its users may be free now.
            todo.extend(m.results(op).flat_map(|v| m.users(v)).map(|(user, _)| user));
        }
    }
    for op in &order {
        r.move_before(*op, looping);
    }
    order.len() as u64
}

fn may_move(m: &Module, op: OpId, looping: OpId, moved: &FxHashSet<OpId>) -> bool {
    m.walk(op).all(|inner| {
        is_harmless(m, inner, inner != op)
            && m.operands(inner).all(|value| {
                // Where the value is defined: outside of the loop, inside of what moves, or by what moves.
                let Some(block) = m.defining_block(value) else { return false };
                let Some(holder) = m.block_parent(block).map(|region| m.region_parent(region)) else { return false };
                m.is_inside(holder, op)
                    || !m.is_inside(holder, looping)
                    || m.defining_op(value).is_some_and(|d| moved.contains(&d))
            })
    })
}

/// No effects, and no harm if it is computed in vain. Terminators go with what they end.
fn is_harmless(m: &Module, op: OpId, inner: bool) -> bool {
    m.def(op).is_some_and(|d| {
        let ends = d.traits.has(Traits::TERMINATOR);
        let speculatable = !d.traits.has(Traits::NOT_SPECULATABLE);
        (!ends || inner) && speculatable && matches!(d.effects, Effects::Pure | Effects::Recursive)
    })
}
