//! Effects in the functions of graphs with dataflow control flow, and of their loops.
//!
//! ```text
//! @graph(.., %first) -> (.., %done)           %done is final when %first and the effects of the graph are
//!   tfrt.while @loop(.., %first, %new)
//! @loop(.., %first, %before)                  %first only in a part, where effects wait for it
//!   return .., %first, %done, %goes_on        %done: %before, this iteration's effects, and its condition
//! ```
//!
//! Nothing but operands orders the effects of a graph. Its function begins when the effects in front of it
//! are complete, since a call is strict. The function of a part begins at once
//! ([`lowered`](crate::device::lowered)), so the effects of its graph wait for that themselves.
//!
//! If the condition of a loop is an error, its body is dead, so no effect in it fails. But nobody knows
//! whether they should have happened. So the condition's error is that of the effects too.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{CHAIN, Lowering};
use crate::dialects::tf_executor::FRAME;
use crate::graph::effects::{EffectState, body, callees};
use crate::ir::{AttrKind, BlockId, KnownType, Module, OpId, StrId, TypeId, ValueId, names};
use crate::rewrite::signatures::signature_of;

/// The kind of a function in which nothing but operands orders effects ([`FRAME`]).
pub(super) fn frame(m: &Module, function: OpId) -> Option<&str> {
    m.attr_named(function, FRAME).and_then(|attr| m.cx.as_str(attr))
}

/// True for a function of a part.
pub(super) fn is_part(m: &Module, function: OpId) -> bool {
    signature_of(m, function).0.contains(&KnownType::Step.id())
}

/// The functions of frames with effects that may run before the effects in front of their graph are complete,
/// since the function of the graph runs whatever becomes of its arguments.
pub(super) fn started_early(
    m: &Module,
    functions: &FxHashMap<StrId, OpId>,
    effectful: &FxHashSet<StrId>,
    loops: &FxHashSet<StrId>,
) -> FxHashSet<StrId> {
    let is_early = |(name, function): (&StrId, &OpId)| {
        let is_graph = frame(m, *function) == Some("graph") && m.is_private(*function);
        (is_graph && effectful.contains(name) && is_part(m, *function)).then_some(*function)
    };
    let mut todo: Vec<OpId> = functions.iter().filter_map(is_early).collect();
    let mut found = FxHashSet::default();
    while let Some(function) = todo.pop() {
        for name in body(m, function).into_iter().flat_map(|op| callees(m, op)) {
            if loops.contains(&name) && found.insert(name) {
                todo.push(functions[&name]);
            }
        }
    }
    found
}

/// True for a `tf._Switch` by the condition of a loop.
fn is_way_of_loop(m: &Module, op: OpId) -> bool {
    let is_loop_cond = m.attr_named(op, "is_loop_cond").map(|attr| m.cx.attr(attr));
    m.op_name_str(op) == "tf._Switch" && is_loop_cond == Some(&AttrKind::Bool(true))
}

impl Lowering<'_, '_, '_> {
    /// Passes the completion of effects from iteration to iteration of a frame.
    pub(super) fn frame_loop(&mut self, op: OpId, state: &mut EffectState) {
        let m = self.m();
        if !callees(m, op).iter().any(|name| self.loops.contains(name)) {
            return;
        }
        let mut operands: Vec<ValueId> = m.operands(op).collect();
        let mut types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
        let modes = m.attr(op, names::BEF_OPERAND_MODES).map(|attr| m.cx.attr(attr));
        let mut modes = if let Some(AttrKind::Array(modes)) = modes { modes.to_vec() } else { Vec::new() };
        let n = types.len();
        let is_early = callees(m, op).iter().any(|name| self.started.contains(name));
        let mut chains = if is_early { self.join_effects(op, state) } else { Vec::new() };
        chains.push(self.chain(op, &[]));
        types.extend(chains.iter().map(|_| CHAIN));
        modes.extend(chains.iter().map(|_| self.r.cx().str_attr("lenient")));
        operands.extend(chains);
        let new = self.r.rebuild(op, &operands, &types);
        let modes = self.r.cx().array_attr(&modes);
        self.r.set_attr(new, names::BEF_OPERAND_MODES, modes);
        let results: Vec<ValueId> = self.m().results(new).collect();
        self.r.replace_op(op, &results[..n]);
        state.barrier(results.last().copied());
    }

    /// Returns the completion of the effects of an iteration and of those before it, an error if the
    /// condition is one.
    pub(super) fn ends_iteration(
        &mut self,
        op: OpId,
        (block, first): (BlockId, Option<ValueId>),
        state: &EffectState,
    ) {
        let m = self.m();
        let before = m.args(block).last().copied();
        let condition = m.ops_in(block).find(|&op| is_way_of_loop(m, op)).map(|switch| m.operand(switch, 1));
        let effects = state.completions().unwrap_or_default().iter().copied();
        let all: Vec<ValueId> = before.into_iter().chain(effects).chain(condition).collect();
        let Some(chain) = self.join_dead(op, &all) else { return };
        let mut values: Vec<ValueId> = self.m().operands(op).collect();
        let at = values.len().saturating_sub(1);
        values.splice(at..at, first.into_iter().chain([chain]));
        self.r.set_operands(op, &values);
    }
}
