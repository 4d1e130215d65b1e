//! The removal of values that nothing needs, before the division, so that they do not cross. TensorFlow
//! prunes a graph before it partitions, too.
//!
//! ```text
//! %y = tf.If(%p, %a, %b) {then, else}          neither @then nor @else reads its second argument
//!     ──▶ %y = tf.If(%p, %a)                   then what makes %b goes, too, if nothing else reads it
//! %r:3 = tf.While(%i, %n, %sum)                %sum is only needed for its next value, and %r#2 is unused
//!     ──▶ %r:2 = tf.While(%i, %n)
//! ```
//!
//! Needed are effects, what the program returns, and what these need: through functions, loop variables and
//! the back edges of primitives. All functions that one op may run, and all ops that run one function, keep
//! the same arguments and results.
//!
//! An argument that a call in a graph of primitives does not take any more becomes a control edge: it may be
//! dead, and the call with it.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::device::homes::{block_of, function_attr};
use crate::device::ops_with_graphs;
use crate::device::transfers::sorted_functions;
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::frames::{Frames, ROOT};
use crate::dialects::tf_executor::{GRAPH, Primitive};
use crate::graph::effects::{access, callees, effectful, functions};
use crate::ir::{BlockId, KnownType, Module, OpId, StrId, TypeId, ValueId, names};
use crate::pass::Rewriter;
use crate::rewrite::{InsertionPoint, is_in_dataflow, would_be_trivially_dead};

/// Removes what nothing needs from all functions.
pub(super) fn prune(r: &mut Rewriter<'_>) {
    let needs = Needs::of_module(r.ir());
    for function in sorted_functions(r.ir()) {
        if let Some(name) = r.ir().symbol_name(function) {
            needs.keep(r, name, function);
        }
    }
}

/// The arguments and results of a function that are needed.
#[derive(Default)]
struct FunctionNeeds {
    args: Vec<bool>,
    results: Vec<bool>,
}

/// The needed ops of a module, and the needs of its functions.
struct Needs {
    functions: FxHashMap<StrId, FunctionNeeds>,
    ops: FxHashSet<OpId>,
    effectful: FxHashSet<StrId>,
}

/// The needed values of a function.
#[derive(Default)]
struct NeededValues {
    values: FxHashSet<ValueId>,
    /// The NextIterations whose values are needed.
    sinks: FxHashSet<OpId>,
    /// The needed ops whose own needs have to be looked at, perhaps again.
    todo: Vec<OpId>,
    /// The frames of the function's graphs.
    frames: FxHashMap<OpId, Frames>,
}

impl NeededValues {
    fn need(&mut self, m: &Module, values: impl IntoIterator<Item = ValueId>) {
        for value in values {
            if self.values.insert(value) {
                self.todo.extend(m.defining_op(value));
            }
        }
    }
}

impl Needs {
    fn of_module(m: &Module) -> Needs {
        let all = functions(m);
        let effectful = effectful(m, &all);
        let mut needs = Needs { functions: FxHashMap::default(), ops: FxHashSet::default(), effectful };
        let mut calls: FxHashMap<StrId, Vec<(StrId, OpId)>> = FxHashMap::default();
        // All is needed of the program's functions, and of what other ops than control flow refer to.
        let mut whole: FxHashSet<StrId> = FxHashSet::default();
        for (&name, &function) in &all {
            whole.extend((!m.is_private(function)).then_some(name));
            for op in m.walk(function) {
                for callee in callees(m, op) {
                    whole.extend(Control::of(m, op).is_none().then_some(callee));
                    calls.entry(callee).or_default().push((name, op));
                }
            }
        }
        let mut needed: FxHashMap<StrId, NeededValues> = FxHashMap::default();
        for (&name, &function) in &all {
            let Some(block) = block_of(m, function) else { continue };
            let (is_whole, end) = (whole.contains(&name), m.last_op(block));
            let results = vec![is_whole; end.map_or(0, |end| m.n_operands(end))];
            let args = vec![is_whole; m.args(block).len()];
            needs.functions.insert(name, FunctionNeeds { args, results });
            needed.extend(end.map(|end| (name, needs.roots(m, block, end))));
        }
        let names = sorted_functions(m).into_iter().filter_map(|function| m.symbol_name(function));
        let mut todo: VecDeque<StrId> = names.filter(|name| needed.contains_key(name)).collect();
        let mut waiting: FxHashSet<StrId> = todo.iter().copied().collect();
        while let Some(name) = todo.pop_front() {
            waiting.remove(&name);
            let Some(of) = needed.get_mut(&name) else { continue };
            for grown in needs.mark(m, (name, all[&name]), of) {
                let end = block_of(m, all[&grown]).and_then(|block| m.last_op(block));
                let again = calls.get(&grown).into_iter().flatten().copied();
                // A call that is not needed so far is looked at when it is.
                let again = again.filter(|(_, op)| needs.ops.contains(op)).chain(end.map(|end| (grown, end)));
                for (function, op) in again {
                    let Some(of) = needed.get_mut(&function) else { continue };
                    of.todo.push(op);
                    todo.extend(waiting.insert(function).then_some(function));
                }
            }
        }
        needs
    }

    /// The ops that a function needs whoever calls it, and its return.
    fn roots(&self, m: &Module, block: BlockId, end: OpId) -> NeededValues {
        let ops = ops_with_graphs(m, block);
        let graphs = ops.iter().filter(|&&op| m.op_name_str(op) == GRAPH);
        let frames = graphs.filter_map(|&graph| Some((graph, Frames::of(m, graph).ok()?))).collect();
        let todo = ops.into_iter().filter(|&op| op == end || self.is_root(m, op)).collect();
        NeededValues { todo, frames, ..NeededValues::default() }
    }

    /// Adds what the ops of a function need that have to be looked at. Returns the functions of which more is
    /// needed than before.
    fn mark(&mut self, m: &Module, (name, function): (StrId, OpId), needed: &mut NeededValues) -> Vec<StrId> {
        let Some(block) = block_of(m, function) else { return Vec::new() };
        let end = m.last_op(block);
        let mut grown = Vec::new();
        while let Some(op) = needed.todo.pop() {
            self.ops.insert(op);
            if Some(op) == end {
                let results = self.functions[&name].results.clone();
                needed.need(m, m.operands(op).zip(results).filter(|&(_, is)| is).map(|(value, _)| value));
            } else if let Some(control) = Control::of(m, op) {
                grown.extend(self.mark_control(m, op, control, needed));
            } else {
                needed.need(m, m.operands(op));
            }
            if Primitive::of(m, op) == Some(Primitive::Source) {
                let tokens = m.results(op).flat_map(|value| m.users(value)).map(|(user, _)| user);
                let sinks = tokens.filter(|&user| Primitive::of(m, user) == Some(Primitive::Sink));
                let NeededValues { sinks: known, todo, .. } = &mut *needed;
                todo.extend(sinks.filter(|&sink| known.insert(sink)));
            }
            // A loop ends by its condition.
            let frame = m.parent_op(op).and_then(|graph| {
                let frames = needed.frames.get(&graph)?;
                Some(frames.frame(Some(frames.of_op(op)).filter(|&frame| frame != ROOT)?))
            });
            let conds: Vec<ValueId> =
                frame.into_iter().flat_map(|frame| &frame.conds).flat_map(|&cond| m.results(cond)).collect();
            needed.need(m, conds);
        }
        let args: Vec<bool> = m.args(block).iter().map(|arg| needed.values.contains(arg)).collect();
        grown.extend(self.grow(name, |needs| &mut needs.args, &args));
        grown
    }

    /// True for an op that is needed whoever reads its results.
    fn is_root(&self, m: &Module, op: OpId) -> bool {
        match (Control::of(m, op), Primitive::of(m, op)) {
            (Some(_), _) => access(m, op, &self.effectful).is_some(),
            (None, Some(_)) => false,
            (None, None) => !would_be_trivially_dead(m, op),
        }
    }

    /// Needs more of a function. Returns its name if that is news.
    fn grow(
        &mut self,
        name: StrId,
        part: impl Fn(&mut FunctionNeeds) -> &mut Vec<bool>,
        more: &[bool],
    ) -> Option<StrId> {
        let own = part(self.functions.get_mut(&name)?);
        let mut has_grown = false;
        for (own, &more) in own.iter_mut().zip(more) {
            has_grown |= more && !*own;
            *own |= more;
        }
        has_grown.then_some(name)
    }

    /// The arguments of an op's functions that one of them needs.
    fn args(&self, m: &Module, op: OpId) -> Vec<bool> {
        let mut all = vec![false; tf::n_data_operands(m, op)];
        for name in callees(m, op) {
            match self.functions.get(&name) {
                Some(needs) => all.iter_mut().zip(&needs.args).for_each(|(all, &own)| *all |= own),
                None => all.fill(true),
            }
        }
        all
    }

    /// Adds what an op that runs functions needs of these, and of its operands.
    fn mark_control(
        &mut self,
        m: &Module,
        op: OpId,
        control: Control,
        needed: &mut NeededValues,
    ) -> Vec<StrId> {
        let (first, n_data) = (control.first_argument(), tf::n_data_operands(m, op));
        let (names, mut args) = (callees(m, op), self.args(m, op));
        let data = m.results(op).take(tf::n_data_results(m, op));
        let mut results: Vec<bool> = data.map(|value| needed.values.contains(&value)).collect();
        // The completion of an op without effects waits for all results.
        let mut completion = m.results(op).skip(results.len());
        if completion.any(|value| needed.values.contains(&value)) && !self.is_root(m, op) {
            results.fill(true);
        }
        let condition = function_attr(m, op, "cond").filter(|_| control == Control::While);
        if control == Control::While {
            // A variable is needed in all functions, or nowhere.
            args.iter_mut().zip(&results).for_each(|(arg, &result)| *arg |= result);
            if let (false, Some(variable)) = (args.contains(&true), args.first_mut()) {
                *variable = true;
            }
            results = args.clone();
        }
        let mut grown = Vec::new();
        for name in names {
            let of_function = if condition == Some(name) { vec![true; 1] } else { results.clone() };
            grown.extend(self.grow(name, |needs| &mut needs.args, &args));
            grown.extend(self.grow(name, |needs| &mut needs.results, &of_function));
        }
        // In a graph a call is dead where any operand is.
        let is_live = is_in_dataflow(m, op);
        let is_needed = |i: usize| is_live || i < first || i >= n_data || args[i - first];
        needed.need(m, m.operands(op).enumerate().filter(|&(i, _)| is_needed(i)).map(|(_, value)| value));
        grown
    }

    /// Leaves of a function what is needed.
    fn keep(&self, r: &mut Rewriter<'_>, name: StrId, function: OpId) {
        let m = r.ir();
        let (Some(block), Some(needs)) = (block_of(m, function), self.functions.get(&name)) else { return };
        let Some(end) = m.last_op(block) else { return };
        let has_all = needs.args.iter().chain(&needs.results).all(|&is| is);
        let returned = m.operands(end).zip(&needs.results).filter(|&(_, &is)| is).map(|(value, _)| value);
        let returned: Vec<ValueId> = returned.collect();
        let ops = ops_with_graphs(m, block);
        if !has_all {
            r.set_operands(end, &returned);
        }
        for op in ops.into_iter().rev() {
            if !self.ops.contains(&op) {
                r.erase(op);
            } else if let Some(control) = Control::of(r.ir(), op) {
                self.keep_control(r, op, control);
            }
        }
        if has_all {
            return;
        }
        for i in (0..needs.args.len()).rev().filter(|&i| !needs.args[i]) {
            r.remove_arg(block, i);
        }
        for list in [names::ARG_ATTRS, names::RES_ATTRS] {
            r.remove_attr(function, list);
        }
        let m = r.ir();
        let inputs: Vec<TypeId> = m.args(block).iter().map(|&arg| m.value_type(arg)).collect();
        let results: Vec<TypeId> = returned.iter().map(|&value| m.value_type(value)).collect();
        r.set_signature(function, &inputs, &results);
    }

    /// Leaves of the operands and results of an op that runs functions what these take and give.
    fn keep_control(&self, r: &mut Rewriter<'_>, op: OpId, control: Control) {
        let m = r.ir();
        let (first, n_data) = (control.first_argument(), tf::n_data_operands(m, op));
        let args = self.args(m, op);
        let results = match control {
            Control::While => args.clone(),
            _ => {
                let known = callees(m, op).first().and_then(|name| self.functions.get(name));
                known.map_or_else(|| vec![true; tf::n_data_results(m, op)], |needs| needs.results.clone())
            }
        };
        let is_operand = |i: usize| i < first || i >= n_data || args[i - first];
        let is_result = |i: usize| results.get(i).copied().unwrap_or(true);
        let (n_operands, n_results) = (m.n_operands(op), m.n_results(op));
        if (0..n_operands).all(is_operand) && (0..n_results).all(is_result) {
            return;
        }
        let (mut operands, mut edges) = (Vec::new(), Vec::new());
        for (i, value) in m.operands(op).enumerate() {
            if is_operand(i) {
                operands.push(value);
            } else if is_in_dataflow(m, op) && m.defining_op(value).is_some() {
                edges.push(value);
            }
        }
        let kept: Vec<ValueId> = (0..n_results).filter(|&i| is_result(i)).map(|i| m.result(op, i)).collect();
        let types: Vec<TypeId> = kept.iter().map(|&value| m.value_type(value)).collect();
        if !edges.is_empty() {
            let (at, loc) = (InsertionPoint::Before(op), r.ir().loc(op));
            let merge = r.create_named(at, loc, "tfrt.merge.chains", &edges, &[KnownType::Chain.id()], &[]);
            operands.push(r.ir().result(merge, 0));
        }
        let new = r.rebuild(op, &operands, &types);
        forget_types(r, new);
        let made: Vec<ValueId> = r.ir().results(new).collect();
        kept.into_iter().zip(made).for_each(|(old, new)| r.replace(old, new));
        r.erase(op);
    }
}

/// Removes the attributes that repeat the types of an op that runs functions.
pub(super) fn forget_types(r: &mut Rewriter<'_>, op: OpId) {
    for list in ["T", "Tin", "Tout", "output_shapes"] {
        let list = r.cx().str_id(list);
        r.remove_attr(op, list);
    }
}
