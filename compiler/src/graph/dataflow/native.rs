//! `tf-executor-to-kernels`: graphs with dataflow control flow as functions of kernels that know dead values.
//!
//! ```text
//! frame "w":  Enter ─▶ Merge ─▶ body ─▶ NextIteration         func @main_w(%i, %exit) {        one iteration
//!                        ▲                    │          ──▶    ...  tf._Switch, tf._Merge, strict ops
//!                        └────────────────────┘                 return %next, %exit', %is_any_next_live
//!                                                             }
//!                                               %r:2 = tfrt.while %is_any_enter_live @main_w(%enter, dead)
//! ```
//!
//! A frame is a function that is instantiated per iteration, so functions stay acyclic: what goes around are
//! the arguments and results of `tfrt.while`. Iteration n+1 starts as soon as one NextIteration of n is known
//! to be live, with the other values in any state, and at most `parallel_iterations` overlap. An Exit's value
//! is kept from the iteration in which it is live. A dead NextIteration is a dead argument of the next
//! iteration, if another starts it. An invariant is an argument that is returned.
//!
//! Inside of a function every op but the primitives is strict, so the executor propagates deadness. The
//! primitives are kernels that take their operands in any state (`befrost-kernels`, `tf/dataflow`). Control
//! edges are order operands, and carry deadness too. There is no other order among effects: in TensorFlow 1
//! the graph gives all of it. So the functions get the attribute [`FRAME`], for `tf-to-kernels`.

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dialects::Traits;
use crate::dialects::tf_executor::frames::{
    FrameData, FrameId, Frames, LoopVariable, ROOT, inputs, is_constant,
};
use crate::dialects::tf_executor::{
    self, FRAME, GRAPH, ISLAND, Primitive, block_of, data_operands, is_chain,
};
use crate::dialects::tfrt_control::While;
use crate::ir::{AttrId, AttrKind, BlockId, KnownType, Module, OpId, StrId, TypeId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::{InsertionPoint, TopologicalOrder};

use crate::graph::effects::{access, body, effectful, functions};

pub(crate) const PASS: Pass = Pass {
    name: tf_executor::TO_KERNELS,
    title: "TFExecutorToKernels",
    summary: "makes functions of kernels of graphs with dataflow control flow, which run natively",
    options: &[],
    statistics: &[("num-frames", "Number of loops that became functions")],
    run,
};

const CHAIN: TypeId = KnownType::Chain.id();

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    if !m.walk_functions().any(|op| m.op_name_str(op) == GRAPH) {
        return Change::Unchanged;
    }
    let mut by_name: Vec<(StrId, OpId)> = functions(m).into_iter().collect();
    by_name.sort_by_key(|&(_, function)| function.0);
    let mut taken: FxHashSet<StrId> = by_name.iter().map(|&(name, _)| name).collect();
    let effectful = effectful(m, &functions(m));
    for (name, function) in by_name {
        let m = r.ir();
        let graphs: Vec<OpId> = m.walk(function).filter(|&op| m.op_name_str(op) == GRAPH).collect();
        if let Some(op) = effect_beside(m, function, &graphs, &effectful) {
            cx.report(tf_executor::beside_graph(m, op));
            continue;
        }
        for graph in graphs {
            super::flatten(r, graph);
            match Frames::of(r.ir(), graph) {
                Err(wrong) => wrong.into_iter().for_each(|diagnostic| cx.report(diagnostic)),
                Ok(frames) => {
                    let stem = r.ir().cx.str(name).to_owned();
                    let (conds, loops) = Default::default();
                    let taken = &mut taken;
                    NativeLowering { r, cx, frames: &frames, function, stem, taken, conds, loops }
                        .graph(graph);
                }
            }
        }
    }
    r.change()
}

/// An effect of a function outside of its graphs, if there are others: operands do not order them.
fn effect_beside(m: &Module, function: OpId, graphs: &[OpId], effectful: &FxHashSet<StrId>) -> Option<OpId> {
    let has_effect = |&op: &OpId| access(m, op, effectful).is_some();
    let beside = body(m, function).into_iter().find(|op| !graphs.contains(op) && has_effect(op))?;
    let all = m.walk(function).filter(has_effect).take(2).count();
    (!graphs.is_empty() && all > 1).then_some(beside)
}

/// An argument of a loop's function: its first value, and that of the next iteration.
#[derive(Clone, Copy)]
enum Carried {
    /// A variable: the operand of the Enter, then that of the NextIteration.
    Variable { enter: OpId, sink: OpId },
    /// The operand of a constant Enter, in every iteration.
    Invariant { enter: OpId },
    /// The operand of an Enter, then dead.
    Once { enter: OpId },
    /// The completion of an Enter, if it is constant in every iteration.
    Completion { enter: OpId },
    /// Dead, then the Exit's value from the iteration in which it is live.
    Exit { exit: OpId },
    /// The number of the input that the Merges of variables take: 0, then 1.
    MergeNumber,
}

/// A frame that has become a function.
struct Loop {
    symbol: AttrId,
    /// The arguments, which are the results in front of the condition.
    args: Vec<(Carried, TypeId)>,
}

/// An element of a frame's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Unit {
    Op(OpId),
    Loop(FrameId),
}

struct NativeLowering<'a, 'm, 'c> {
    r: &'a mut Rewriter<'m>,
    cx: &'a PassCx<'c>,
    frames: &'a Frames,
    function: OpId,
    /// The name of the function.
    stem: String,
    taken: &'a mut FxHashSet<StrId>,
    /// The Switches whose predicate is the condition of a loop.
    conds: FxHashSet<OpId>,
    loops: FxHashMap<FrameId, Loop>,
}

impl NativeLowering<'_, '_, '_> {
    fn m(&self) -> &Module {
        self.r.ir()
    }

    fn graph(mut self, graph: OpId) {
        let Some(block) = block_of(self.m(), graph) else { return };
        let m = self.r.ir();
        let is = |value: ValueId, primitive| {
            m.defining_op(value).is_some_and(|op| Primitive::of(m, op) == Some(primitive))
        };
        let switches = m.ops_in(block).filter(|&op| Primitive::of(m, op) == Some(Primitive::Switch));
        self.conds = switches
            .filter(|&op| m.operands(op).nth(1).is_some_and(|by| is(by, Primitive::LoopCond)))
            .collect();
        for frame in self.frames.ids().rev().filter(|&frame| frame != ROOT) {
            let Some(order) = self.order(frame) else { return };
            self.loop_function(frame, &order);
        }
        self.cx.count("num-frames", self.loops.len() as u64);
        let Some(order) = self.order(ROOT) else { return };
        for unit in order {
            self.unit(unit, InsertionPoint::Before(graph));
        }
        self.fetch(graph, block);
        self.mark(self.function, "graph");
    }

    /// Says what kind of function it is, for `tf-to-kernels`.
    fn mark(&mut self, function: OpId, kind: &str) {
        let cx = self.r.cx();
        let (name, kind) = (cx.str_id(FRAME), cx.str_attr(kind));
        self.r.set_attr(function, name, kind);
    }

    /// The units of a frame, operands first; else in the order of the block. A loop in it is one unit.
    fn order(&mut self, frame: FrameId) -> Option<Vec<Unit>> {
        let (m, frames) = (self.r.ir(), self.frames);
        let known = frames.frame(frame);
        let mut position: FxHashMap<Unit, usize> = FxHashMap::default();
        for (i, &op) in known.ops.iter().enumerate() {
            match Primitive::of(m, op) {
                // A loop is behind all that enters it.
                Some(Primitive::Enter) => {
                    let entered = frames.of_value(m, m.result(op, 0));
                    position.insert(Unit::Loop(entered), i);
                }
                Some(Primitive::Source) => {}
                Some(Primitive::Merge) if known.variables.iter().any(|variable| variable.merge == op) => {}
                _ if m.op_name_str(op) == tf_executor::FETCH => {}
                _ => _ = position.insert(Unit::Op(op), i),
            }
        }
        let producer = |value: ValueId| {
            let op = m.defining_op(value)?;
            let unit = match (Primitive::of(m, op), frames.of_op(op)) {
                (Some(Primitive::Exit), of) if of != frame => Unit::Loop(of),
                _ => Unit::Op(op),
            };
            position.contains_key(&unit).then_some(unit)
        };
        let operands = |unit: Unit| match unit {
            Unit::Op(op) => inputs(m, op),
            Unit::Loop(inner) => {
                frames.frame(inner).enters.iter().flat_map(|&enter| m.operands(enter)).collect()
            }
        };
        let mut users = FxHashMap::<Unit, Vec<(usize, Unit)>>::default();
        let mut order = TopologicalOrder::new();
        for (&unit, &at) in &position {
            let from: Vec<Unit> = operands(unit).into_iter().filter_map(producer).collect();
            order.add((at, unit), from.len());
            from.into_iter().for_each(|from| users.entry(from).or_default().push((at, unit)));
        }
        let units = order.take_all(|(_, unit)| users.get(&unit).into_iter().flatten().copied());
        // A block is in order, so that a cycle goes through a loop.
        let left = order.waiting().find_map(|(_, unit)| match unit {
            Unit::Loop(inner) => Some(inner),
            Unit::Op(_) => None,
        });
        if let Some(inner) = left {
            let enter = frames.frame(inner).enters[0];
            self.cx.report(tf_executor::enters_itself(m, enter));
            return None;
        }
        Some(units.into_iter().map(|(_, unit)| unit).collect())
    }

    /// Makes a function of a frame.
    fn loop_function(&mut self, frame: FrameId, order: &[Unit]) {
        let known = self.frames.frame(frame).clone();
        let m = self.r.ir();
        let frame_name = known.name.map_or("loop", |name| m.cx.str(name));
        let stem = format!("{}_{}", self.stem, frame_name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
        let name = self.r.cx().free_name(&stem, |name| self.taken.insert(name));
        let (loc, before) = (self.m().loc(self.function), InsertionPoint::Before(self.function));
        let (function, block) = self.r.private_function_of(before, loc, &name, &[]);
        let args = self.arguments(&known, block);
        let end = InsertionPoint::End(block);
        for &unit in order {
            self.unit(unit, end);
        }

        let mut next_live = Vec::new();
        let mut returned = Vec::with_capacity(args.len() + 1);
        for (i, &(carried, ty)) in args.iter().enumerate() {
            let arg = self.m().args(block)[i];
            let next = match carried {
                Carried::Variable { sink, .. } => {
                    let next = self.entering(sink, 1, end);
                    next_live.push(next);
                    next
                }
                Carried::Invariant { .. } => arg,
                Carried::Completion { enter } if is_constant(self.m(), enter) => arg,
                Carried::Once { .. } | Carried::Completion { .. } => self.dead(ty, end),
                Carried::Exit { exit } => {
                    let value = self.entering(exit, 0, end);
                    self.first_live(&[arg, value], ty, end)
                }
                Carried::MergeNumber => self.number(1, ty, end),
            };
            returned.push(self.typed(next, ty, end));
        }
        returned.push(self.is_any_live(&next_live, end));
        for variable in &known.variables {
            self.r.erase(variable.sink);
            self.r.erase(variable.source);
        }
        self.r.finish_function(function, loc, &returned);
        self.mark(function, "loop");
        let symbol = self.r.cx().symbol_attr(&name);
        self.loops.insert(frame, Loop { symbol, args });
    }

    /// Creates the arguments of a frame's function, in place of what enters and of the Merges of variables.
    fn arguments(&mut self, known: &FrameData, block: BlockId) -> Vec<(Carried, TypeId)> {
        let mut args = Vec::new();
        let mut add = |this: &mut Self, carried, ty| {
            args.push((carried, ty));
            this.r.add_arg(block, ty)
        };
        let mut numbers = Vec::new();
        for &enter in &known.enters {
            let variables = known.variables.iter().filter(|variable| variable.enter == enter);
            for &LoopVariable { merge, sink, .. } in variables.clone() {
                let results: Vec<ValueId> = self.m().results(merge).collect();
                let ty = self.m().value_type(results[0]);
                let arg = add(self, Carried::Variable { enter, sink }, ty);
                self.r.replace(results[0], arg);
                numbers.extend(results.get(1).copied().filter(|&number| !self.m().is_unused(number)));
                if let Some(&completion) = results.get(2) {
                    let chain = self.chain_of(&[arg], merge, InsertionPoint::End(block));
                    self.r.replace(completion, chain);
                }
            }
            let results: Vec<ValueId> = self.m().results(enter).collect();
            let is_used = |this: &Self, value: ValueId| {
                let m = this.m();
                let is_merge = |user| variables.clone().any(|variable| variable.merge == user);
                m.users(value).any(|(user, _)| !is_merge(user))
            };
            if is_used(self, results[0]) {
                let constant = is_constant(self.m(), enter);
                let carried = if constant { Carried::Invariant { enter } } else { Carried::Once { enter } };
                let arg = add(self, carried, self.m().value_type(results[0]));
                self.r.replace(results[0], arg);
            }
            if let Some(&completion) = results.get(1).filter(|&&value| is_used(self, value)) {
                let arg = add(self, Carried::Completion { enter }, CHAIN);
                self.r.replace(completion, arg);
            }
        }
        if let Some(&first) = numbers.first() {
            let arg = add(self, Carried::MergeNumber, self.m().value_type(first));
            numbers.into_iter().for_each(|number| self.r.replace(number, arg));
        }
        for &exit in &known.exits {
            let ty = self.m().value_type(self.m().result(exit, 0));
            add(self, Carried::Exit { exit }, ty);
        }
        known.variables.iter().for_each(|variable| self.r.erase(variable.merge));
        args
    }

    /// Lowers a unit of a frame.
    fn unit(&mut self, unit: Unit, at: InsertionPoint) {
        let op = match unit {
            Unit::Loop(frame) => return self.run_loop(frame, at),
            Unit::Op(op) => op,
        };
        match Primitive::of(self.m(), op) {
            Some(Primitive::Switch) => self.switch(op, "tf._Switch", at),
            Some(Primitive::SwitchN) => self.switch(op, "tf._SwitchCase", at),
            Some(Primitive::Merge) => self.merge(op, at),
            Some(Primitive::LoopCond) => {
                let value = self.entering(op, 0, at);
                let mut values = vec![value];
                if self.m().n_results(op) > 1 {
                    values.push(self.chain_of(&[value], op, at));
                }
                self.r.replace_op(op, &values);
            }
            Some(Primitive::ControlTrigger) => {
                let chains: Vec<ValueId> = self.m().operands(op).collect();
                let chain = self.join(&chains, op, at);
                let values: Vec<ValueId> = self.m().results(op).map(|_| chain).collect();
                self.r.replace_op(op, &values);
            }
            // Used where the function returns, or the loop runs.
            Some(Primitive::Sink | Primitive::Exit | Primitive::Enter | Primitive::Source) => {}
            None => self.r.move_to(op, at),
        }
    }

    /// The kernel that runs a loop, at a place where all that enters is known.
    fn run_loop(&mut self, frame: FrameId, at: InsertionPoint) {
        let Some(Loop { symbol, args }) = self.loops.remove(&frame) else { return };
        let known = self.frames.frame(frame).clone();
        let first = known.enters[0];
        let entering: FxHashMap<OpId, ValueId> =
            known.enters.iter().map(|&enter| (enter, self.entering(enter, 0, at))).collect();
        let values: Vec<ValueId> = known.enters.iter().map(|enter| entering[enter]).collect();
        let mut operands = vec![self.is_any_live(&values, at)];
        for &(carried, ty) in &args {
            let value = match carried {
                Carried::Variable { enter, .. } | Carried::Invariant { enter } | Carried::Once { enter } => {
                    self.typed(entering[&enter], ty, at)
                }
                Carried::Completion { enter } => self.chain_of(&[entering[&enter]], enter, at),
                Carried::Exit { .. } => self.dead(ty, at),
                Carried::MergeNumber => self.number(0, ty, at),
            };
            operands.push(value);
        }
        let types: Vec<TypeId> = args.iter().map(|&(_, ty)| ty).collect();
        let in_flight = self.r.cx().int_attr(KnownType::I64.id(), known.parallel_iterations);
        let [required, lenient] = ["required", "lenient"].map(|mode| self.r.cx().str_attr(mode));
        let mut modes = vec![lenient; operands.len()];
        modes[0] = required;
        let modes = self.r.cx().array_attr(&modes);
        let attrs = [("body_fn", symbol), ("parallel_iterations", in_flight), ("bef.operand_modes", modes)];
        let made = self.op(While::NAME, &operands, &types, &attrs, first, at);
        let results: Vec<ValueId> = self.m().results(made).collect();
        for (&(carried, _), result) in args.iter().zip(results) {
            let Carried::Exit { exit } = carried else { continue };
            let mut values = vec![result];
            if self.m().n_results(exit) > 1 {
                values.push(self.chain_of(&[result], exit, at));
            }
            self.r.replace_op(exit, &values);
        }
        known.enters.iter().for_each(|&enter| self.r.erase(enter));
    }

    fn switch(&mut self, op: OpId, name: &str, at: InsertionPoint) {
        let operands: Vec<ValueId> = self.m().operands(op).collect();
        let results: Vec<TypeId> = self.m().results(op).map(|value| self.m().value_type(value)).collect();
        let is_loop_cond = self.conds.contains(&op);
        let is_loop_cond = self.r.cx().bool_attr(is_loop_cond);
        let attrs = [("is_loop_cond", is_loop_cond)];
        let attrs = if name == "tf._Switch" { &attrs[..] } else { &[] };
        let made = self.op(name, &operands, &results, attrs, op, at);
        let values: Vec<ValueId> = self.m().results(made).collect();
        self.r.replace_op(op, &values);
    }

    fn merge(&mut self, op: OpId, at: InsertionPoint) {
        let mut operands: Vec<ValueId> = data_operands(self.m(), op).collect();
        let edges: Vec<ValueId> = self.m().operands(op).skip(operands.len()).collect();
        if !edges.is_empty() {
            // Deadness of a control edge does not skip a Merge.
            operands.push(self.join(&edges, op, at));
        }
        let old: Vec<ValueId> = self.m().results(op).collect();
        let mut types: Vec<TypeId> = old.iter().map(|&value| self.m().value_type(value)).collect();
        types[1] = KnownType::I32.id();
        let any = self.r.cx().attr_id(AttrKind::Unit);
        let made = self.op("tf._Merge", &operands, &types, &[("bef.nonstrict", any)], op, at);
        let mut values: Vec<ValueId> = self.m().results(made).collect();
        if self.m().is_unused(old[1]) {
            values[1] = old[1];
        } else {
            let ty = self.m().value_type(old[1]);
            values[1] = self.make("tf._IndexTensor", &[values[1]], ty, &[], op, at);
        }
        self.r.replace_op(op, &values);
    }

    /// Replaces the results of a graph by what it fetches, and erases it.
    fn fetch(&mut self, graph: OpId, block: BlockId) {
        let at = InsertionPoint::Before(graph);
        let Some(end) = self.m().last_op(block) else { return };
        let (edges, data): (Vec<ValueId>, Vec<ValueId>) =
            self.m().operands(end).partition(|&value| is_chain(self.m(), value));
        let edges = if edges.is_empty() { edges } else { vec![self.join(&edges, end, at)] };
        let mut results = Vec::with_capacity(data.len());
        for (i, value) in data.into_iter().enumerate() {
            let from = self.m().defining_op(value).unwrap_or(graph);
            let ty = self.m().value_type(self.m().result(graph, i));
            let operands: Vec<ValueId> = std::iter::once(value).chain(edges.iter().copied()).collect();
            results.push(self.make("tf._Fetch", &operands, ty, &[], from, at));
        }
        self.r.replace_op(graph, &results);
    }

    /// The data operand `i` of an op, not before its control edges.
    fn entering(&mut self, op: OpId, i: usize, at: InsertionPoint) -> ValueId {
        let all: Vec<ValueId> = self.m().operands(op).skip(i).collect();
        if all.len() == 1 {
            return all[0];
        }
        let ty = self.m().value_type(all[0]);
        self.make(Op::Identity.op_name(), &all, ty, &[], op, at)
    }

    /// The value as one of type `ty`, which may know another shape.
    fn typed(&mut self, value: ValueId, ty: TypeId, at: InsertionPoint) -> ValueId {
        if self.m().value_type(value) == ty {
            return value;
        }
        self.make(Op::Identity.op_name(), &[value], ty, &[], self.function, at)
    }

    fn dead(&mut self, ty: TypeId, at: InsertionPoint) -> ValueId {
        self.make("tf._Dead", &[], ty, &[], self.function, at)
    }

    /// A number as a tensor.
    fn number(&mut self, number: i64, ty: TypeId, at: InsertionPoint) -> ValueId {
        let i32 = KnownType::I32.id();
        let value = self.r.cx().int_attr(i32, number);
        let number = self.make("tfrt.constant.i32", &[], i32, &[("value", value)], self.function, at);
        self.make("tf._IndexTensor", &[number], ty, &[], self.function, at)
    }

    /// The first value that is not dead.
    fn first_live(&mut self, values: &[ValueId], ty: TypeId, at: InsertionPoint) -> ValueId {
        let (any, types) = (self.r.cx().attr_id(AttrKind::Unit), [ty, KnownType::I32.id()]);
        let attrs = [("bef.nonstrict", any)];
        let made = self.op("tf._Merge", values, &types, &attrs, self.function, at);
        self.m().result(made, 0)
    }

    /// Whether one of the values is live, known as soon as one is.
    fn is_any_live(&mut self, values: &[ValueId], at: InsertionPoint) -> ValueId {
        let i1 = KnownType::I1.id();
        let m = self.m();
        let is_constant = |&value: &ValueId| {
            m.defining_op(value).is_some_and(|op| m.traits(op).has(Traits::CONSTANT) && m.n_operands(op) == 0)
        };
        let known =
            if values.is_empty() { Some(false) } else { values.iter().any(is_constant).then_some(true) };
        if let Some(known) = known {
            let known = self.r.cx().bool_attr(known);
            return self.make("tfrt.constant.i1", &[], i1, &[("value", known)], self.function, at);
        }
        let value = match values {
            [value] => *value,
            _ => self.first_live(values, self.m().value_type(values[0]), at),
        };
        self.make("tf._IsLive", &[value], i1, &[], self.function, at)
    }

    /// A chain that is final when all `chains` are, dead or not.
    fn join(&mut self, chains: &[ValueId], from: OpId, at: InsertionPoint) -> ValueId {
        self.make("tf._Join", chains, CHAIN, &[], from, at)
    }

    /// The completion of what makes these values.
    fn chain_of(&mut self, values: &[ValueId], from: OpId, at: InsertionPoint) -> ValueId {
        self.make("tfrt.merge.chains", values, CHAIN, &[], from, at)
    }

    fn make(
        &mut self,
        name: &str,
        operands: &[ValueId],
        result: TypeId,
        attrs: &[(&str, AttrId)],
        from: OpId,
        at: InsertionPoint,
    ) -> ValueId {
        let made = self.op(name, operands, &[result], attrs, from, at);
        self.m().result(made, 0)
    }

    /// Creates an op at the location of `from`.
    fn op(
        &mut self,
        name: &str,
        operands: &[ValueId],
        results: &[TypeId],
        attrs: &[(&str, AttrId)],
        from: OpId,
        at: InsertionPoint,
    ) -> OpId {
        let loc = self.m().loc(from);
        self.r.create_named(at, loc, name, operands, results, attrs)
    }
}

/// Moves the ops of islands into their graph. All wait for what the island waits for.
pub(super) fn inline_islands(r: &mut Rewriter<'_>, graph: OpId) {
    let Some(block) = block_of(r.ir(), graph) else { return };
    let islands: Vec<OpId> = r.ir().ops_in(block).filter(|&op| r.ir().op_name_str(op) == ISLAND).collect();
    for island in islands {
        let m = r.ir();
        let Some(inner) = block_of(m, island) else { continue };
        let Some(end) = m.last_op(inner) else { continue };
        let (at, loc) = (InsertionPoint::Before(island), m.loc(island));
        let waits = inputs(m, island);
        let ops: Vec<OpId> = m.ops_in(inner).filter(|&op| op != end).collect();
        let mut yielded: Vec<ValueId> = m.operands(end).collect();
        let waits = match waits.is_empty() {
            true => None,
            false => {
                let made = r.create_named(at, loc, "tfrt.merge.chains", &waits, &[CHAIN], &[]);
                Some(r.ir().result(made, 0))
            }
        };
        for op in ops {
            let operands: Vec<ValueId> = r.ir().operands(op).chain(waits).collect();
            r.set_operands(op, &operands);
            r.move_to(op, at);
        }
        if r.ir().n_results(island) > yielded.len() {
            let all: Vec<ValueId> = yielded.iter().copied().chain(waits).collect();
            let made = r.create_named(at, loc, "tfrt.merge.chains", &all, &[CHAIN], &[]);
            yielded.push(r.ir().result(made, 0));
        }
        r.replace_op(island, &yielded);
    }
}
