//! The functions of the parts.

use std::collections::{BTreeMap, BTreeSet};

use bef_format::device;
use befrost_tensor::DType;
use befrost_tensor::tf::op::Type;
use rustc_hash::FxHashMap;

use super::PartTable;
use super::early::EarlyValues;
use super::graph::GraphFrames;
use super::order::{EffectParts, LastEffects};
use super::primitives::{is_invariant, is_merge, origin};
use super::reach::{PartIndex, Reach, Role};
use super::riders::Ridden;
use super::signals::Waiters;
use super::verify::BRANCH;
use crate::build::query::bytes_of;
use crate::device::homes::block_of;
use crate::device::place::simulate::StartTimes;
use crate::device::specs::CLIENT;
use crate::device::transfers::sorted_functions;
use crate::device::{errors, is_everywhere, is_handle};
use crate::dialects::dev;
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::frames::{FrameId, ROOT};
use crate::dialects::tf_executor::{GRAPH, Primitive};
use crate::graph::effects::callees;
use crate::ir::{
    AttrId, AttrKind, BlockId, KnownType, LocId, Module, NewOp, OpId, StrId, TypeId, ValueId, names,
};
use crate::pass::{PassCx, Rewriter};
use crate::rewrite::InsertionPoint;

/// Maximum number of channels; a small one in tests, which reach it.
const MAX_CHANNELS: i64 = if cfg!(test) { 1 << 8 } else { device::MAX_CHANNELS };

pub(super) const CHAIN: TypeId = KnownType::Chain.id();
pub(super) const STEP: TypeId = KnownType::Step.id();

/// A function of a part, under construction.
pub(super) struct PartFunction {
    pub(super) part: PartIndex,
    op: OpId,
    /// Where ops are appended: its block, or that of a graph of primitives in it.
    pub(super) block: BlockId,
    /// The frame in which it runs.
    step: ValueId,
    /// In a graph of primitives, the steps of its loops.
    pub(super) steps: FxHashMap<FrameId, ValueId>,
    /// Its values, by those of the whole function.
    pub(super) values: FxHashMap<ValueId, ValueId>,
    /// For chains of another part, a chain in this function that is ready after all of them.
    pub(super) signals: FxHashMap<(Vec<ValueId>, PartIndex), ValueId>,
    /// The values that it has received.
    pub(super) early: EarlyValues,
    /// The predicates of its branches, each with whether something needs it itself.
    pub(super) needs: FxHashMap<ValueId, bool>,
    /// The predicates that came with a value, each as it came last.
    pub(super) ridden: FxHashMap<ValueId, Ridden>,
}

impl PartFunction {
    /// A value of the whole function in this one, if it has it, alone or as a predicate on a value.
    fn value(&self, value: ValueId) -> Option<ValueId> {
        let ridden = || self.ridden.get(&value).map(|ridden| ridden.predicate);
        self.values.get(&value).copied().or_else(ridden)
    }

    /// The step of a frame.
    pub(super) fn step_of(&self, frame: FrameId) -> ValueId {
        self.steps.get(&frame).copied().unwrap_or(self.step)
    }
}

/// A function in all parts, under construction.
pub(super) type MadeParts = BTreeMap<PartIndex, PartFunction>;

/// The division of a module.
pub(super) struct Divide<'a, 'm, 'c> {
    pub(super) r: &'a mut Rewriter<'m>,
    pub(super) cx: &'a PassCx<'c>,
    parts: &'a PartTable,
    /// When ops begin, if that was simulated.
    starts: Option<StartTimes>,
    /// The op that is being divided, and its function.
    reader: Option<(OpId, StrId)>,
    pub(super) reach: &'a Reach<'a>,
    pub(super) effects: EffectParts,
    /// The loops of the graph of primitives that is being divided.
    pub(super) graph: GraphFrames,
    pub(super) waiters: Waiters,
    /// The type in which f32 crosses.
    wire: Option<DType>,
    /// How many bytes a part may receive before they are read; 0 is no limit.
    recv_memory: u64,
    /// The names of the functions of parts.
    symbols: FxHashMap<(StrId, PartIndex), String>,
    n_channels: i64,
    pub(super) n_signals: u64,
    pub(super) n_frames: u64,
    n_branches: u64,
}

impl<'a, 'm, 'c> Divide<'a, 'm, 'c> {
    pub(super) fn new(
        r: &'a mut Rewriter<'m>,
        cx: &'a PassCx<'c>,
        (parts, starts): (&'a PartTable, Option<StartTimes>),
        reach: &'a Reach<'a>,
    ) -> Divide<'a, 'm, 'c> {
        let symbols = FxHashMap::default();
        let wire = match cx.text("wire") {
            "bf16" => Some(DType::BF16),
            "f16" => Some(DType::F16),
            _ => None,
        };
        let effects = EffectParts::of_module(r.ir(), reach);
        Divide {
            r,
            cx,
            parts,
            starts,
            reader: None,
            reach,
            effects,
            graph: GraphFrames::default(),
            waiters: Waiters::default(),
            wire,
            recv_memory: u64::try_from(cx.number("recv-memory")).unwrap_or(0),
            symbols,
            n_channels: 0,
            n_signals: 0,
            n_frames: 0,
            n_branches: 0,
        }
    }

    /// The numbers of values and of signals that cross.
    pub(super) fn crossings(&self) -> (u64, u64) {
        (self.n_channels as u64 - self.n_signals, self.n_signals)
    }

    pub(super) fn m(&self) -> &Module {
        self.r.ir()
    }

    /// Divides all functions. With `only`, that part's functions take the place of the program's.
    pub(super) fn run(&mut self, only: Option<&str>) {
        let only = only.map(|only| self.parts.names.iter().position(|name| name == only));
        if only == Some(None) {
            return self.cx.report(errors::no_part(&self.parts.names));
        }
        let functions = sorted_functions(self.m());
        let mut taken: Vec<StrId> = self.reach.homes.functions.keys().copied().collect();
        for &function in &functions {
            let Some(name) = self.m().symbol_name(function) else { continue };
            for &part in &self.reach.functions[&name].members {
                let text = format!("{}.{}", self.m().cx.str(name), self.parts.names[part]);
                let text = self.r.cx().free_name(&text, |id| !taken.contains(&id));
                taken.push(self.r.cx().str_id(&text));
                self.symbols.insert((name, part), text);
            }
        }
        for &function in &functions {
            self.function(function);
        }
        for &function in &functions {
            match (self.m().is_private(function), only.flatten()) {
                (true, _) => self.r.erase(function),
                (false, None) => self.program(function),
                (false, Some(part)) => self.keep(function, part),
            }
        }
    }

    /// Divides a function.
    fn function(&mut self, function: OpId) {
        let m = self.m();
        let (Some(name), Some(block)) = (m.symbol_name(function), block_of(m, function)) else { return };
        let members: Vec<PartIndex> = self.reach.functions[&name].members.iter().copied().collect();
        let mut made: MadeParts =
            members.iter().map(|&part| (part, self.open(function, name, block, part))).collect();
        let mut last = LastEffects::default();
        for op in self.m().ops_in(block).collect::<Vec<_>>() {
            self.reader = Some((op, name));
            let effects = match self.m().last_op(block) == Some(op) {
                true => self.effects.of_loop(name),
                false => self.effects.of_op(self.m(), op, self.reach),
            };
            self.order(op, effects, &mut last, &mut made);
            let m = self.m();
            if m.last_op(block) == Some(op) {
                self.returns(op, name, &mut made);
            } else if let Some(control) = Control::of(m, op) {
                self.control(op, control, &mut made);
            } else if m.op_name_str(op) == GRAPH {
                self.graph(op, &mut made);
            } else if !is_everywhere(m, op) && !is_merge(m, op) {
                let part = self.reach.part_of_op(m, op);
                self.place(op, part, &mut made);
            }
        }
        made.values().for_each(|of| self.r.refresh_signature(of.op));
    }

    /// Starts the function of a part.
    fn open(&mut self, function: OpId, name: StrId, block: BlockId, part: PartIndex) -> PartFunction {
        let text = self.symbols[&(name, part)].clone();
        let (sym_name, private) = (self.r.cx().str_attr(&text), self.r.cx().str_attr("private"));
        let loc = self.m().loc(function);
        let mut attrs = vec![("sym_name", sym_name), ("sym_visibility", private)];
        // Ops without an operator, such as a send, run on the part's device.
        if self.parts.of[usize::from(CLIENT)] != part {
            attrs.push(("device", self.r.cx().str_attr(&self.parts.devices[part])));
        }
        let op = self.r.create_named(InsertionPoint::After(function), loc, "func.func", &[], &[], &attrs);
        let region = self.r.add_region(op);
        let new = self.r.add_block(region);
        let mut values = FxHashMap::default();
        let args = self.m().args(block).to_vec();
        for (&arg, takes) in args.iter().zip(&self.reach.functions[&name].takes) {
            if takes.contains(&part) {
                let ty = self.m().value_type(arg);
                values.insert(arg, self.r.add_arg(new, ty));
            }
        }
        let step = self.r.add_arg(new, STEP);
        PartFunction {
            part,
            op,
            block: new,
            step,
            steps: FxHashMap::default(),
            values,
            signals: FxHashMap::default(),
            early: EarlyValues::default(),
            needs: FxHashMap::default(),
            ridden: FxHashMap::default(),
        }
    }

    /// Appends an op to a function.
    pub(super) fn append(
        &mut self,
        of: &PartFunction,
        loc: LocId,
        name: &str,
        operands: &[ValueId],
        results: &[TypeId],
        attrs: &[(&str, AttrId)],
    ) -> OpId {
        self.r.create_named(InsertionPoint::End(of.block), loc, name, operands, results, attrs)
    }

    /// A value in the function of a part; sent there if another part has it.
    pub(super) fn need(&mut self, value: ValueId, part: PartIndex, made: &mut MadeParts) -> Option<ValueId> {
        if let Some(&known) = made.get(&part)?.values.get(&value) {
            return Some(known);
        }
        let m = self.m();
        let op = m.defining_op(value);
        if let Some(op) = op.filter(|&op| is_everywhere(m, op)) {
            let block = made.get(&part)?.block;
            let at = match m.first_op(block) {
                Some(first) => InsertionPoint::Before(first),
                None => InsertionPoint::End(block),
            };
            let copy = copied_constant(self.r, at, op, value);
            made.get_mut(&part)?.values.insert(value, copy);
            return Some(copy);
        }
        if let Some(enter) = op.filter(|&op| is_invariant(m, op)) {
            // An invariant enters the loop in each part that reads it.
            self.place(enter, part, made);
            return made.get(&part)?.values.get(&value).copied();
        }
        let home = self.reach.home(m, value)?;
        if is_handle(m, value) {
            let at = op.unwrap_or_else(|| made[&part].op);
            self.cx.report(errors::handle_crosses(m, at, &self.parts.names[home], &self.parts.names[part]));
            return None;
        }
        self.bring(value, &[], part, made)?;
        made.get(&part)?.values.get(&value).copied()
    }

    /// Sends a value to a part, and with it predicates that its home has; returns these.
    pub(super) fn bring(
        &mut self,
        value: ValueId,
        riders: &[ValueId],
        part: PartIndex,
        made: &mut MadeParts,
    ) -> Option<Vec<ValueId>> {
        let m = self.m();
        let (op, home) = (m.defining_op(value), self.reach.home(m, value)?);
        // An argument has no location; that of a reader is used.
        let at = op.or_else(|| m.users(value).next().map(|(user, _)| user));
        let loc = at.map_or(LocId::UNKNOWN, |op| m.loc(op));
        let all = std::iter::once(&value).chain(riders);
        let sent: Option<Vec<ValueId>> = all.map(|&of| made.get(&home)?.value(of)).collect();
        let is_condition = op.is_some_and(|op| Primitive::of(m, op) == Some(Primitive::LoopCond));
        let frame = self.cross_in(value, [home, part], made);
        let after = self.after_read(value, part, made);
        let (from, to) = (made.get(&home)?, made.get(&part)?);
        let mut received = self.cross_all(&sent?, (from, to), frame, (loc, after));
        let riders = received.split_off(1);
        let mut received = received.pop()?;
        if is_condition {
            let ty = self.m().value_type(received);
            let cond = self.append(to, loc, Primitive::LoopCond.op_name(), &[received], &[ty], &[]);
            received = self.m().result(cond, 0);
        }
        made.get_mut(&part)?.values.insert(value, received);
        Some(riders)
    }

    /// A chain for which the recv of a value waits, so that the part does not receive too much before it is
    /// read.
    fn after_read(&mut self, value: ValueId, part: PartIndex, made: &mut MadeParts) -> Option<ValueId> {
        // A graph of primitives may have values of a loop that is not over.
        if self.recv_memory == 0 || self.graph.is_open() {
            return None;
        }
        // Of unknown sizes nothing but the element is counted.
        let m = self.m();
        let bytes = bytes_of(m, m.value_type(value)).map_or(1, |bytes| bytes as u64);
        let limit = self.recv_memory;
        let reader = made.get_mut(&part)?.early.receive(bytes, limit)?;
        let loc = m.defining_op(reader).map_or(LocId::UNKNOWN, |op| m.loc(op));
        let merge = self.append(made.get(&part)?, loc, "tfrt.merge.chains", &[reader], &[CHAIN], &[]);
        Some(self.m().result(merge, 0))
    }

    /// The type in which a value goes over the wire between processes, if not in its own.
    fn on_wire(&mut self, ty: TypeId) -> Option<TypeId> {
        let wire = self.wire?;
        let is_f32 = tf::type_of(&self.m().cx, ty) == Some((Type::Dense(DType::F32), false));
        is_f32.then(|| {
            let element = tf::element(self.r.cx(), Type::Dense(wire), false);
            tf::with_element(self.r.cx(), ty, element)
        })
    }

    /// The value as another type of number, in the function of a part.
    fn cast(&mut self, value: ValueId, ty: TypeId, of: &PartFunction, loc: LocId) -> ValueId {
        let device = self.r.cx().str_attr(&self.parts.devices[of.part]);
        let cast = self.append(of, loc, "tf.Cast", &[value], &[ty], &[("device", device)]);
        self.m().result(cast, 0)
    }

    /// Sends a chain of one part to another, in a frame of the graph that is being divided.
    pub(super) fn cross(
        &mut self,
        chain: ValueId,
        parts: (&PartFunction, &PartFunction),
        frame: FrameId,
        loc: LocId,
    ) -> ValueId {
        self.n_signals += 1;
        self.cross_all(&[chain], parts, frame, (loc, None))[0]
    }

    /// Sends values of one part to another in one message: a value, and predicates that ride on it. These are
    /// never rounded.
    fn cross_all(
        &mut self,
        values: &[ValueId],
        (from, to): (&PartFunction, &PartFunction),
        frame: FrameId,
        (loc, after): (LocId, Option<ValueId>),
    ) -> Vec<ValueId> {
        let (mut sent, own) = (values.to_vec(), self.m().value_type(values[0]));
        let wire = self.on_wire(own);
        if let Some(ty) = wire {
            sent[0] = self.cast(sent[0], ty, from, loc);
        }
        let types: Vec<TypeId> = sent.iter().map(|&value| self.m().value_type(value)).collect();
        sent.insert(1, from.step_of(frame));
        if self.n_channels == MAX_CHANNELS {
            self.cx.report(errors::too_many_channels(self.m(), self.reader.map(|(op, _)| op), MAX_CHANNELS));
        }
        let channel = self.r.cx().int_attr(KnownType::I64.id(), self.n_channels);
        self.n_channels += 1;
        let (sender, receiver) = (&self.parts.devices[from.part], &self.parts.devices[to.part]);
        let (sender, receiver) = (self.r.cx().str_attr(sender), self.r.cx().str_attr(receiver));
        let attrs = [("to", receiver), ("channel", channel)];
        self.append(from, loc, dev::SEND, &sent, &[], &attrs);
        let start = self.starts.as_ref().zip(self.reader).map(|(starts, (op, of))| starts.start(op, of));
        let start = start.map(|start| ("start", self.r.cx().int_attr(KnownType::I64.id(), start)));
        let attrs: Vec<(&str, AttrId)> =
            [("from", sender), ("channel", channel)].into_iter().chain(start).collect();
        let operands: Vec<ValueId> = std::iter::once(to.step_of(frame)).chain(after).collect();
        let recv = self.append(to, loc, dev::RECV, &operands, &types, &attrs);
        let mut received: Vec<ValueId> = self.m().results(recv).collect();
        if wire.is_some() {
            received[0] = self.cast(received[0], own, to, loc);
        }
        received
    }

    /// Lets effects of an op on these parts wait for the last ones on other parts.
    fn order(&mut self, op: OpId, parts: BTreeSet<PartIndex>, last: &mut LastEffects, made: &mut MadeParts) {
        let loc = self.m().loc(op);
        for &part in &parts {
            let mut signals = Vec::new();
            for before in last.before(part).collect::<Vec<_>>() {
                let (Some(from), Some(to)) = (made.get(&before), made.get(&part)) else { continue };
                let chain = last.fences.get(&before).copied().unwrap_or_else(|| {
                    let fence = self.append(from, loc, dev::FENCE, &[], &[CHAIN], &[]);
                    self.m().result(fence, 0)
                });
                last.fences.insert(before, chain);
                signals.push(self.cross(chain, (from, to), ROOT, loc));
            }
            if let (Some(of), false) = (made.get(&part), signals.is_empty()) {
                self.append(of, loc, dev::FENCE, &signals, &[CHAIN], &[]);
            }
        }
        last.record(parts);
    }

    /// True for a value that is not dead: a constant, or an argument of the function, which runs.
    pub(super) fn is_certain(&self, value: ValueId) -> bool {
        let m = self.m();
        m.defining_op(origin(m, value)).is_none_or(|op| is_everywhere(m, op))
    }

    /// Puts an op into the function of a part.
    pub(super) fn place(&mut self, op: OpId, part: PartIndex, made: &mut MadeParts) {
        let m = self.m();
        let n_data = tf::n_data_operands(m, op);
        let all: Vec<ValueId> = m.operands(op).collect();
        let (data, chains) = all.split_at(n_data);
        let mut operands = Vec::with_capacity(all.len());
        for &value in data {
            let Some(value) = self.need(value, part, made) else { return };
            operands.push(value);
        }
        operands.extend(self.edges(chains, part, made));
        let m = self.m();
        let (name, loc, attrs) = (m.op_name(op), m.loc(op), m.attrs(op).to_vec());
        let results: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
        let new = NewOp { loc, operands: &operands, results: &results, attrs: &attrs, ..NewOp::new(name) };
        let Some(of) = made.get_mut(&part) else { return };
        let new = self.r.create(InsertionPoint::End(of.block), new);
        let m = self.r.ir();
        of.values.extend(m.results(op).zip(m.results(new)));
        m.results(new).next().into_iter().for_each(|result| of.early.read(result));
    }

    /// Divides an op that runs functions.
    pub(super) fn control(&mut self, op: OpId, control: Control, made: &mut MadeParts) {
        let m = self.m();
        let members = self.reach.members(m, op);
        let first = control.first_argument();
        let n_data = tf::n_data_operands(m, op);
        let all: Vec<ValueId> = m.operands(op).collect();
        let (data, chains) = all.split_at(n_data);
        let n_results = tf::n_data_results(m, op);
        let results: Vec<ValueId> = m.results(op).collect();
        let loc = m.loc(op);
        let names = callees(m, op);
        let gate = self.gate(op, &members, made);
        // A frame for the op, if the values of two calls could be confused.
        let n_sites = |name: &StrId| self.reach.n_sites.get(name).copied().unwrap_or(0);
        let has_frame =
            control == Control::While || gate.is_some() || names.iter().any(|name| n_sites(name) > 1);
        let frame = has_frame.then(|| {
            self.n_frames += 1;
            let of = self.m().node_name(op).unwrap_or("call").to_owned();
            format!("{of}#{}", self.n_frames)
        });
        // The same name in all parts, by which branches are known to be one.
        let branch = (first == 1).then(|| {
            self.n_branches += 1;
            let of = self.m().node_name(op).unwrap_or("branch");
            let text = format!("{of}#{}", self.n_branches);
            (self.r.cx().str_id(BRANCH), self.r.cx().str_attr(&text))
        });
        for part in members {
            let mut operands = Vec::new();
            for (i, &value) in data.iter().enumerate() {
                if i < first {
                    let Some(predicate) = self.predicate(op, part, made) else { return };
                    operands.push(predicate);
                } else if self.reach.takers(self.m(), op, i - first).contains(&part) {
                    // The predicate itself, as it is there.
                    let known = operands.first().copied().filter(|_| first == 1 && value == data[0]);
                    let Some(value) = known.or_else(|| self.need(value, part, made)) else { return };
                    operands.push(value);
                }
            }
            let (edges, gate) = match &gate {
                Some(gate) => (Vec::new(), gate.get(&part).copied()),
                None => (self.edges(chains, part, made), None),
            };
            let at = self.graph.frame_of(op);
            self.enter(at, part, made);
            let Some(of) = made.get(&part) else { continue };
            let mut step = of.step_of(at);
            if let Some(frame) = &frame {
                let frame = self.r.cx().str_attr(frame);
                let taken: Vec<ValueId> = std::iter::once(step).chain(gate).collect();
                let enter = self.append(of, loc, dev::ENTER, &taken, &[STEP], &[("bef.frame", frame)]);
                step = self.m().result(enter, 0);
            }
            operands.push(step);
            operands.extend(edges);
            let m = self.m();
            let here: Vec<usize> = match control {
                Control::While => {
                    (0..n_results).filter(|&i| self.reach.takers(m, op, i).contains(&part)).collect()
                }
                _ => (0..n_results).filter(|&i| self.reach.home(m, results[i]) == Some(part)).collect(),
            };
            let mut types: Vec<TypeId> = here.iter().map(|&i| m.value_type(results[i])).collect();
            if control == Control::While {
                types.push(STEP);
            }
            types.extend(results[n_results..].iter().map(|&chain| m.value_type(chain)));
            let mut attrs = renamed(self.r, op, &|name| self.symbols.get(&(name, part)).cloned());
            attrs.extend(branch);
            let name = self.m().op_name(op);
            let new = NewOp { loc, operands: &operands, results: &types, attrs: &attrs, ..NewOp::new(name) };
            let block = made[&part].block;
            let new = self.r.create(InsertionPoint::End(block), new);
            let Some(of) = made.get_mut(&part) else { continue };
            let m = self.r.ir();
            let mut values: Vec<ValueId> = m.results(new).collect();
            values.first().into_iter().for_each(|&result| of.early.read(result));
            let chain = values.split_off(values.len() - (results.len() - n_results));
            of.values.extend(here.iter().map(|&i| results[i]).zip(values));
            of.values.extend(results[n_results..].iter().copied().zip(chain));
        }
    }

    /// Creates the returns of the functions of all parts.
    fn returns(&mut self, end: OpId, name: StrId, made: &mut MadeParts) {
        let m = self.m();
        let (end_name, loc) = (m.op_name(end), m.loc(end));
        let returned: Vec<ValueId> = m.operands(end).collect();
        let role = self.reach.role(name);
        let parts: Vec<PartIndex> = made.keys().copied().collect();
        // All crossings first: a return is the last op.
        let mut returns = Vec::new();
        for part in parts {
            let mut values = Vec::new();
            for (i, &value) in returned.iter().enumerate() {
                if self.reach.returns(name, i, part) {
                    let Some(value) = self.need(value, part, made) else { return };
                    values.push(value);
                }
            }
            let Some(of) = made.get(&part) else { continue };
            if role == Role::Body {
                let step = of.step;
                let next = self.append(of, loc, dev::NEXT, &[step], &[STEP], &[]);
                values.push(self.m().result(next, 0));
            }
            returns.push((made[&part].block, values));
        }
        for (block, values) in returns {
            let new = NewOp { loc, operands: &values, ..NewOp::new(end_name) };
            self.r.create(InsertionPoint::End(block), new);
        }
    }

    /// Replaces a function of the program by that of a part, or removes it if the part has no op in it.
    fn keep(&mut self, function: OpId, part: PartIndex) {
        let m = self.m();
        let symbol = m.symbol_name(function).and_then(|name| self.symbols.get(&(name, part)));
        let made = symbol.and_then(|text| {
            m.functions().into_iter().find(|&op| m.symbol_name(op).is_some_and(|name| m.cx.str(name) == text))
        });
        let name = m.attr(function, names::SYM_NAME);
        self.r.erase(function);
        if let (Some(made), Some(name)) = (made, name) {
            self.r.set_attr(made, names::SYM_NAME, name);
            self.r.remove_attr(made, names::SYM_VISIBILITY);
        }
    }

    /// Replaces the body of a function of the program by a `dev.parts` that runs its parts.
    fn program(&mut self, function: OpId) {
        let m = self.m();
        let (Some(name), Some(block)) = (m.symbol_name(function), block_of(m, function)) else { return };
        let of = &self.reach.functions[&name];
        let homes = self.reach.results(name);
        let args = m.args(block).to_vec();
        let Some(end) = m.last_op(block) else { return };
        let (end_name, end_loc, loc) = (m.op_name(end), m.loc(end), m.loc(function));
        let results: Vec<TypeId> = m.operands(end).map(|value| m.value_type(value)).collect();
        let members: Vec<PartIndex> = of.members.iter().copied().collect();
        let ops: Vec<OpId> = m.ops_in(block).collect();
        ops.into_iter().rev().for_each(|op| self.r.erase(op));
        let index = |d: &mut Self, i: usize| d.r.cx().int_attr(KnownType::I64.id(), i as i64);
        let (mut parts, mut takes, mut gives) = (Vec::new(), Vec::new(), Vec::new());
        for &part in &members {
            let symbol = self.symbols[&(name, part)].clone();
            parts.push(self.r.cx().symbol_attr(&symbol));
            let taken: Vec<AttrId> =
                (0..args.len()).filter(|&i| of.takes[i].contains(&part)).map(|i| index(self, i)).collect();
            let given: Vec<AttrId> =
                (0..results.len()).filter(|&i| homes[i] == part).map(|i| index(self, i)).collect();
            takes.push(self.r.cx().array_attr(&taken));
            gives.push(self.r.cx().array_attr(&given));
        }
        let attrs = [
            ("parts", self.r.cx().array_attr(&parts)),
            ("takes", self.r.cx().array_attr(&takes)),
            ("gives", self.r.cx().array_attr(&gives)),
        ];
        let at = InsertionPoint::End(block);
        let made = self.r.create_named(at, loc, dev::PARTS, &args, &results, &attrs);
        let values: Vec<ValueId> = self.m().results(made).collect();
        let end = NewOp { loc: end_loc, operands: &values, ..NewOp::new(end_name) };
        self.r.create(at, end);
    }
}

/// A copy of a value of a constant, without its control edges.
pub(super) fn copied_constant(
    r: &mut Rewriter<'_>,
    at: InsertionPoint,
    constant: OpId,
    value: ValueId,
) -> ValueId {
    let m = r.ir();
    let (name, loc, ty) = (m.op_name(constant), m.loc(constant), m.value_type(value));
    let attrs = m.attrs(constant).to_vec();
    let copy = if ty == CHAIN {
        r.create_named(at, loc, "tfrt.new.chain", &[], &[CHAIN], &[])
    } else {
        r.create(at, NewOp { loc, attrs: &attrs, results: &[ty], ..NewOp::new(name) })
    };
    r.ir().result(copy, 0)
}

/// The attributes of an op with other names of functions.
pub(super) fn renamed(
    r: &mut Rewriter<'_>,
    op: OpId,
    name_of: &dyn Fn(StrId) -> Option<String>,
) -> Vec<(StrId, AttrId)> {
    let mut attrs = r.ir().attrs(op).to_vec();
    let symbol = |r: &mut Rewriter<'_>, attr: AttrId| match r.ir().cx.attr(attr) {
        AttrKind::Symbol { root, nested } if nested.is_empty() => {
            name_of(*root).map_or(attr, |text| r.cx().symbol_attr(&text))
        }
        _ => attr,
    };
    for (_, attr) in &mut attrs {
        *attr = match r.ir().cx.attr(*attr).clone() {
            AttrKind::Array(items) => {
                let items: Vec<AttrId> = items.iter().map(|&item| symbol(r, item)).collect();
                r.cx().array_attr(&items)
            }
            _ => symbol(r, *attr),
        };
    }
    attrs
}
