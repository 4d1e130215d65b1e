//! The order of effects on different parts.
//!
//! ```text
//! A  print ─▶ dev.fence ─▶ dev.send                       print
//! B                            ╰──▶ dev.recv ─▶ dev.fence ─▶ print
//! ```
//!
//! In the function of a part the lowering orders effects. Between parts, an effect waits for a signal from
//! each other part that had the effect before it. At the end of a loop's condition and of its body, all parts
//! that have effects in the loop wait for the last ones, hence so do the next iteration's.
//!
//! In a graph of primitives control edges order effects, and nothing else does.
//!
//! Only effects outside of the program count, such as prints: a resource belongs to one device.
//!
//! A control edge from a branch, a loop or a call with effects waits for the parts in which it has them, as
//! it waits for these effects in the whole program; without effects it waits for the parts of its results.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::reach::{PartIndex, Reach};
use crate::device::homes::function_attr;
use crate::device::{body_with_graphs, is_handle};
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::GRAPH;
use crate::graph::effects::callees;
use crate::ir::{Module, OpId, StrId, ValueId};
use crate::rewrite::{state_access, with_callers};

/// The parts on which functions have effects.
pub(super) struct EffectParts {
    /// Those outside of the program.
    functions: FxHashMap<StrId, BTreeSet<PartIndex>>,
    /// All of them.
    all: FxHashMap<StrId, BTreeSet<PartIndex>>,
    /// For the condition and the body of each loop, the parts of both.
    loops: FxHashMap<StrId, BTreeSet<PartIndex>>,
}

impl EffectParts {
    pub(super) fn of_module(m: &Module, reach: &Reach<'_>) -> EffectParts {
        let [functions, all, loops] = Default::default();
        let mut parts = EffectParts { functions, all, loops };
        let mut calls = Vec::new();
        // By part: the functions with such effects there, and those with any.
        let mut outside: BTreeMap<PartIndex, Vec<StrId>> = BTreeMap::new();
        let mut any = outside.clone();
        for (&name, &function) in &reach.homes.functions {
            for op in body_with_graphs(m, function) {
                if is_outside(m, op) {
                    outside.entry(reach.part_of_op(m, op)).or_default().push(name);
                }
                // The ops of a graph of primitives have effects of their own.
                if m.op_name_str(op) != GRAPH && state_access(m, op).is_some() {
                    any.entry(reach.part_of_op(m, op)).or_default().push(name);
                }
                calls.extend(callees(m, op).into_iter().map(|callee| (name, callee)));
            }
        }
        for (own, of) in [(outside, &mut parts.functions), (any, &mut parts.all)] {
            for (part, functions) in own {
                for name in with_callers(functions, &calls) {
                    of.entry(name).or_default().insert(part);
                }
            }
        }
        for op in reach.homes.functions.values().flat_map(|&function| body_with_graphs(m, function)) {
            if Control::of(m, op) == Some(Control::While) {
                let all = parts.of_op(m, op, reach);
                for name in ["cond", "body"].into_iter().filter_map(|attr| function_attr(m, op, attr)) {
                    parts.loops.entry(name).or_default().extend(&all);
                }
            }
        }
        parts
    }

    /// The parts on which an op has effects outside of the program.
    pub(super) fn of_op(&self, m: &Module, op: OpId, reach: &Reach<'_>) -> BTreeSet<PartIndex> {
        if is_outside(m, op) {
            return BTreeSet::from([reach.part_of_op(m, op)]);
        }
        let all = callees(m, op).into_iter().filter_map(|name| self.functions.get(&name));
        all.flatten().copied().collect()
    }

    /// The parts that the completion of an op that runs functions waits for.
    pub(super) fn completing(&self, m: &Module, op: OpId, reach: &Reach<'_>) -> BTreeSet<PartIndex> {
        let effects = callees(m, op).into_iter().filter_map(|name| self.all.get(&name));
        let effects: BTreeSet<PartIndex> = effects.flatten().copied().collect();
        if !effects.is_empty() {
            return effects;
        }
        let results = m.results(op).take(tf::n_data_results(m, op));
        results.filter_map(|value| reach.home(m, value)).collect()
    }

    /// The parts whose next effects wait for the last ones of a loop's function; none for any other function.
    pub(super) fn of_loop(&self, function: StrId) -> BTreeSet<PartIndex> {
        self.loops.get(&function).cloned().unwrap_or_default()
    }
}

/// True if an op has an effect that is not on a resource of the program.
fn is_outside(m: &Module, op: OpId) -> bool {
    m.op_name_str(op) != GRAPH
        && state_access(m, op).is_some()
        && !m.operands(op).chain(m.results(op)).any(|value| is_handle(m, value))
}

/// The last effects in a function.
#[derive(Default)]
pub(super) struct LastEffects {
    /// The parts that had them.
    parts: BTreeSet<PartIndex>,
    /// In some of these parts the chain of a fence behind them.
    pub(super) fences: BTreeMap<PartIndex, ValueId>,
}

impl LastEffects {
    /// The other parts for which an effect of this part waits.
    pub(super) fn before(&self, part: PartIndex) -> impl Iterator<Item = PartIndex> {
        self.parts.iter().copied().filter(move |&other| other != part)
    }

    /// Records effects of these parts, which wait for all so far.
    pub(super) fn record(&mut self, parts: BTreeSet<PartIndex>) {
        if !parts.is_empty() {
            *self = LastEffects { parts, fences: BTreeMap::new() };
        }
    }
}
