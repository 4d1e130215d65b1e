//! The order of the ops in the function of a part: what others wait for comes first.
//!
//! ```text
//! %y = recv, tf.MatMul(%y), .., %i = recv, tf.AddV2(%i, 1), send
//!     ──▶   %i = recv, tf.AddV2(%i, 1), send, %y = recv, tf.MatMul(%y), ..
//! ```
//!
//! A device with one thread runs ready kernels in the order of their function. A send behind work that does
//! not concern it holds up the part that waits for it: in a loop, the next iteration. So sends move up with
//! what they need, those first whose value is there first, by the longest estimated path from the start of
//! the function.
//!
//! No op gets another operand, so no new wait comes about. Ops on state and fences keep their order, since
//! the lowering derives chains from it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::build::query;
use crate::dialects::dev;
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::GRAPH;
use crate::graph::effects::access;
use crate::ir::{BlockId, Module, OpId, StrId};
use crate::pass::Rewriter;

/// Nanoseconds of an op without work, and of one that runs functions.
const OVERHEAD: u64 = 200;
const FUNCTIONS: u64 = 1_000_000;
/// Arithmetic operations, and bytes, per nanosecond.
const FLOPS: u64 = 20;
const BANDWIDTH: u64 = 10;

/// Moves the sends of a block up.
pub(super) fn sends_first(r: &mut Rewriter<'_>, block: BlockId, effectful: &FxHashSet<StrId>) {
    let m = r.ir();
    let mut ops: Vec<OpId> = m.ops_in(block).collect();
    let Some(end) = ops.pop() else { return };
    let order = UrgentOrder::of(m, &ops, effectful).sends_first(m, &ops);
    if order.iter().enumerate().any(|(i, &at)| i != at) {
        order.into_iter().for_each(|at| r.move_before(ops[at], end));
    }
}

/// For each op of a block the numbers of those that it waits for, and when it would be complete on a device
/// of its own.
struct UrgentOrder {
    waits: Vec<Vec<usize>>,
    ends: Vec<u64>,
}

impl UrgentOrder {
    fn of(m: &Module, ops: &[OpId], effectful: &FxHashSet<StrId>) -> UrgentOrder {
        let number: FxHashMap<OpId, usize> = ops.iter().enumerate().map(|(i, &op)| (op, i)).collect();
        let (mut order, mut last) = (UrgentOrder { waits: Vec::new(), ends: Vec::new() }, None);
        for (i, &op) in ops.iter().enumerate() {
            let is_graph = m.op_name_str(op) == GRAPH;
            let makers = m.walk(op).flat_map(|op| m.operands(op)).filter_map(|value| m.defining_op(value));
            let mut waits: Vec<usize> = makers.filter_map(|op| number.get(&op).copied()).collect();
            if is_graph || m.op_name_str(op) == dev::FENCE || access(m, op, effectful).is_some() {
                waits.extend(last.replace(i));
            }
            let ready = waits.iter().map(|&at| order.ends[at]).max().unwrap_or(0);
            order.ends.push(ready.saturating_add(time(m, op)));
            order.waits.push(waits);
        }
        order
    }

    /// The numbers of the ops in their new order.
    fn sends_first(&self, m: &Module, ops: &[OpId]) -> Vec<usize> {
        let mut sends: Vec<usize> = (0..ops.len()).filter(|&i| m.op_name_str(ops[i]) == dev::SEND).collect();
        sends.sort_by_key(|&i| self.ends[i]);
        let (mut order, mut is_placed) = (Vec::with_capacity(ops.len()), vec![false; ops.len()]);
        for send in sends.into_iter().chain(0..ops.len()) {
            let start = order.len();
            let mut todo = vec![send];
            while let Some(at) = todo.pop() {
                if !std::mem::replace(&mut is_placed[at], true) {
                    order.push(at);
                    todo.extend(&self.waits[at]);
                }
            }
            // What an op waits for has a smaller number.
            order[start..].sort_unstable();
        }
        order
    }
}

/// The estimated nanoseconds of an op. What is received may be there at once.
fn time(m: &Module, op: OpId) -> u64 {
    if Control::of(m, op).is_some() || m.op_name_str(op) == GRAPH {
        return FUNCTIONS;
    }
    let work = tf::row(m, op).and_then(|row| query::work(m, op, row));
    work.map_or(OVERHEAD, |work| OVERHEAD + (work.flops / FLOPS).max(work.bytes / BANDWIDTH))
}
