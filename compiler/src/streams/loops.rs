//! Streams for bodies of loops with overlapping iterations, even if nothing within one iteration may run in
//! parallel.
//!
//! ```text
//! iteration n:   next, more ──▶ iteration n + 1:   next, more ──▶ ...
//!                └─▶ slow                          └─▶ slow
//!
//! stream 0:      loop condition; small kernels
//! the others:    long-running kernels and their users
//! ```
//!
//! The next iteration starts as soon as the loop condition is available. So long-running kernels on which the
//! condition does not depend are in other streams. Without long-running kernels an iteration would end before
//! another thread could start it: such a body stays straight code.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Analysis;
use super::stored::WORTH_A_TASK;
use crate::dialects::tfrt_control::While;
use crate::dialects::{Cost, Traits};
use crate::graph::callees;
use crate::ir::{AttrKind, Module, OpId, StrId, names};

/// Functions of a module that are related to loops with overlapping iterations.
#[derive(Default)]
pub struct Loops {
    /// Functions of which several iterations may be in flight.
    bodies: FxHashSet<StrId>,
    /// Functions with long-running kernels. Empty if there are no such bodies.
    long: FxHashSet<StrId>,
}

impl Loops {
    /// Finds the functions of a module.
    pub fn new(m: &Module) -> Loops {
        let mut loops = Loops::default();
        for op in m.walk(m.top()) {
            if let Some(view) = While::of(m, op)
                && view.parallel_iterations(m).and_then(|limit| m.cx.as_int(limit)).is_some_and(|n| n > 1)
                && let Some(&AttrKind::Symbol { root, .. }) = view.body_fn(m).map(|body| m.cx.attr(body))
            {
                loops.bodies.insert(root);
            }
        }
        if loops.bodies.is_empty() {
            return loops;
        }
        let mut callers: FxHashMap<StrId, Vec<StrId>> = FxHashMap::default();
        let mut found = Vec::new();
        for function in m.functions() {
            let Some(name) = m.symbol_name(function) else { continue };
            for op in m.walk(function) {
                if is_long_kernel(m, op) {
                    found.push(name);
                }
                callees(m, op).into_iter().for_each(|callee| callers.entry(callee).or_default().push(name));
            }
        }
        while let Some(name) = found.pop() {
            if loops.long.insert(name) {
                found.extend(callers.get(&name).into_iter().flatten());
            }
        }
        loops
    }

    /// True if a function is the body of such a loop.
    pub fn is_body(&self, m: &Module, function: OpId) -> bool {
        !self.bodies.is_empty() && m.symbol_name(function).is_some_and(|name| self.bodies.contains(&name))
    }

    /// True if an op is long-running, or calls a function with such an op.
    fn is_long(&self, m: &Module, op: OpId) -> bool {
        m.walk(op)
            .any(|op| is_long_kernel(m, op) || callees(m, op).iter().any(|callee| self.long.contains(callee)))
    }
}

/// True if an op's kernel is declared to be long-running.
fn is_long_kernel(m: &Module, op: OpId) -> bool {
    let is_much = |cost: i64| cost >= WORTH_A_TASK as i64;
    let said = || m.attr(op, names::TFRT_COST).and_then(|cost| m.cx.as_int(cost));
    match m.def(op).map(|def| def.cost) {
        Some(Cost::Large) => true,
        Some(Cost::Fixed(cost)) => is_much(cost.into()),
        Some(Cost::Unknown | Cost::Small) | None => said().is_some_and(is_much),
    }
}

impl Analysis<'_> {
    /// The streams of the ops of a loop body, by position. `streams` are those of the body by itself. `None`
    /// if there is only one.
    pub(super) fn split(&self, ops: &[OpId], loops: &Loops, streams: Option<Vec<u32>>) -> Option<Vec<u32>> {
        let m = self.m;
        let long: Vec<bool> = ops.iter().map(|&op| loops.is_long(m, op)).collect();
        let is_return = |op: OpId| m.traits(op).has(Traits::RETURN);
        let Some((&last, kernels)) = ops.split_last().filter(|(last, _)| is_return(**last)) else {
            return streams;
        };
        if !long.contains(&true) {
            return streams;
        }
        let at: FxHashMap<OpId, usize> = kernels.iter().enumerate().map(|(at, &op)| (op, at)).collect();
        let makers = |op: OpId| m.operands(op).filter_map(|value| at.get(&m.defining_op(value)?).copied());
        // Kernels on which the loop condition depends.
        let mut is_home = vec![false; ops.len()];
        let condition = m.operands(last).last().and_then(|value| m.defining_op(value));
        let mut asked: Vec<usize> = condition.and_then(|op| at.get(&op).copied()).into_iter().collect();
        while let Some(kernel) = asked.pop() {
            if !std::mem::replace(&mut is_home[kernel], true) {
                asked.extend(makers(kernels[kernel]));
            }
        }
        // And small kernels that do not depend on long-running ones.
        for (kernel, &op) in kernels.iter().enumerate() {
            is_home[kernel] |= !long[kernel] && makers(op).all(|maker| is_home[maker]);
        }
        let mut numbers = FxHashMap::default();
        let mut number = |kernel: usize| {
            let stream = streams.as_ref().map_or(0, |streams| streams[kernel]);
            let next = numbers.len() as u32 + 1;
            *numbers.entry(stream).or_insert(next)
        };
        let n = kernels.len();
        let of: Vec<u32> = (0..=n).map(|k| if k == n || is_home[k] { 0 } else { number(k) }).collect();
        let has_both = is_home.contains(&true) && of.iter().any(|&stream| stream != 0);
        if has_both { Some(of) } else { streams }
    }
}
