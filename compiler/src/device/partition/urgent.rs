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
//! the function, with the times by which policies place ([`costs`](crate::device::place::costs)).
//!
//! No op gets another operand, so no new wait comes about. Ops on state and fences keep their order, since
//! the lowering derives chains from it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::device::homes::block_of;
use crate::device::is_placed;
use crate::device::place::costs::Costs;
use crate::device::place::measured::measured;
use crate::device::specs::{CLIENT, DeviceIndex, Devices};
use crate::device::transfers::sorted_functions;
use crate::dialects::dev;
use crate::dialects::tf_executor::GRAPH;
use crate::graph::effects::{access, effectful, functions};
use crate::ir::{Module, OpId, StrId};
use crate::pass::{PassCx, Rewriter};

/// Moves the sends of all functions up.
pub(super) fn sends_first(r: &mut Rewriter<'_>, cx: &PassCx<'_>, devices: &Devices) {
    let m = r.ir();
    let functions = functions(m);
    let effectful = effectful(m, &functions);
    let (trips, measured) = (cx.number("trips").clamp(1, 1_000_000) as f64, measured(m, cx));
    let mut costs: FxHashMap<DeviceIndex, Costs<'_>> = FxHashMap::default();
    let mut moved: Vec<(OpId, OpId)> = Vec::new();
    for function in sorted_functions(m) {
        let mut ops: Vec<OpId> =
            block_of(m, function).into_iter().flat_map(|block| m.ops_in(block)).collect();
        let Some(end) = ops.pop() else { continue };
        let own = devices.of(m, function).unwrap_or(CLIENT);
        // An op without an operator takes no time: what is received may be there at once.
        let mut time = |op: OpId| -> f64 {
            let all = m.walk(op).filter(|&op| is_placed(m, op));
            all.map(|op| {
                let device = devices.of(m, op).unwrap_or(own);
                let new = || Costs::of(m, &functions, (devices, device), (trips, &measured));
                costs.entry(device).or_insert_with(new).time(op)
            })
            .sum()
        };
        let order = UrgentOrder::of(m, &ops, &effectful, &mut time).sends_first(m, &ops);
        if order.iter().enumerate().any(|(i, &at)| i != at) {
            moved.extend(order.into_iter().map(|at| (ops[at], end)));
        }
    }
    moved.into_iter().for_each(|(op, end)| r.move_before(op, end));
}

/// For each op of a block the numbers of those that it waits for, and when it would be complete on a device
/// of its own.
struct UrgentOrder {
    waits: Vec<Vec<usize>>,
    ends: Vec<f64>,
}

impl UrgentOrder {
    fn of(
        m: &Module,
        ops: &[OpId],
        effectful: &FxHashSet<StrId>,
        time: &mut dyn FnMut(OpId) -> f64,
    ) -> UrgentOrder {
        let number: FxHashMap<OpId, usize> = ops.iter().enumerate().map(|(i, &op)| (op, i)).collect();
        let (mut order, mut last) = (UrgentOrder { waits: Vec::new(), ends: Vec::new() }, None);
        for (i, &op) in ops.iter().enumerate() {
            let is_graph = m.op_name_str(op) == GRAPH;
            let makers = m.walk(op).flat_map(|op| m.operands(op)).filter_map(|value| m.defining_op(value));
            let mut waits: Vec<usize> = makers.filter_map(|op| number.get(&op).copied()).collect();
            if is_graph || m.op_name_str(op) == dev::FENCE || access(m, op, effectful).is_some() {
                waits.extend(last.replace(i));
            }
            let ready = waits.iter().map(|&at| order.ends[at]).fold(0.0, f64::max);
            order.ends.push(ready + time(op));
            order.waits.push(waits);
        }
        order
    }

    /// The numbers of the ops in their new order.
    fn sends_first(&self, m: &Module, ops: &[OpId]) -> Vec<usize> {
        let mut sends: Vec<usize> = (0..ops.len()).filter(|&i| m.op_name_str(ops[i]) == dev::SEND).collect();
        sends.sort_by(|&a, &b| self.ends[a].total_cmp(&self.ends[b]));
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
