//! The division of a graph of primitives, with dataflow control flow.
//!
//! ```text
//! a loop on A and B, in part A                     the same loop in part B
//!   %f = dev.enter %step {bef.frame = "w#1"}         %f = dev.enter %step {bef.frame = "w#1"}
//!   %e = Enter %f frame "w"                          %e = Enter %f frame "w"
//!   %s = Merge %e, %next                             %s = Merge %e, %next
//!   dev.send %cond in %s channel 0 to B      ──▶     %c = LoopCond (dev.recv in %s channel 0 from A)
//!   %end, %go = Switch %s, %cond                     %end, %go = Switch %s, %c
//!   NextIteration (dev.next %go)                     NextIteration (dev.next %go)
//! ```
//!
//! A part with ops in a loop of several parts gets a *control loop*, as TensorFlow calls it: a variable that
//! is the step of the iteration. All that crosses in the loop is sent and received in it, so a recv waits for
//! its iteration, and keys agree. The part with the condition sends it to the others. The step of an inner
//! loop enters from that of the outer one, so who takes part in an inner loop takes part in the outer ones.
//!
//! The step enters a loop in any case: if all else that enters is dead, there is one iteration of dead
//! values. So a send runs whenever its recv does, and what is dead arrives as dead.
//!
//! An op that runs functions runs in all its parts or in none: whether an operand is dead or an error is
//! decided in one part, and gates the step of the call in each.
//!
//! An invariant enters in each part that reads it, hence crosses once, before the loop. Devices of
//! primitives: [`primitives`](super::primitives).

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::divide::{Divide, MadeParts, STEP};
use super::primitives::{is_invariant, is_merge};
use super::reach::PartIndex;
use crate::device::{errors, is_everywhere};
use crate::dialects::dev;
use crate::dialects::tf::Control;
use crate::dialects::tf_executor::frames::{FrameId, Frames, ROOT};
use crate::dialects::tf_executor::{FETCH, GRAPH, Primitive, TOKEN, block_of, is_chain};
use crate::ir::{AttrId, KnownType, LocId, OpId, TypeId, ValueId};
use crate::rewrite::InsertionPoint;

/// The loops of a graph that is being divided; none outside of graphs.
#[derive(Default)]
pub(super) struct GraphFrames {
    frames: Frames,
    /// The parts with ops in each loop or in one inside of it.
    members: FxHashMap<FrameId, BTreeSet<PartIndex>>,
    /// The loops with ops in them, or in one inside of them, that run functions, and so need a step.
    with_calls: FxHashSet<FrameId>,
    /// The names of the frames of steps.
    names: FxHashMap<FrameId, AttrId>,
    /// The tokens of the steps' NextIterations.
    tokens: FxHashMap<(FrameId, PartIndex), ValueId>,
}

impl GraphFrames {
    /// The frame in which an op runs.
    pub(super) fn frame_of(&self, op: OpId) -> FrameId {
        self.frames.of_op(op)
    }

    /// True while a graph is divided.
    pub(super) fn is_open(&self) -> bool {
        !self.members.is_empty()
    }

    /// True for a loop whose parts have steps in it.
    fn has_steps(&self, frame: FrameId) -> bool {
        let is_divided = self.members.get(&frame).is_some_and(|parts| parts.len() > 1);
        frame != ROOT && (is_divided || self.with_calls.contains(&frame))
    }

    /// A frame and those around it.
    fn around(&self, frame: FrameId) -> impl Iterator<Item = FrameId> + use<> {
        let parents: Vec<FrameId> =
            std::iter::successors(Some(frame), |&frame| self.frames.frame(frame).parent).collect();
        parents.into_iter()
    }

    /// Adds a part to a frame and to those around it.
    fn join(&mut self, frame: FrameId, part: PartIndex) {
        for frame in self.around(frame) {
            self.members.entry(frame).or_default().insert(part);
        }
    }
}

impl Divide<'_, '_, '_> {
    /// Divides a graph: each part with ops in it gets a graph of its own.
    pub(super) fn graph(&mut self, graph: OpId, made: &mut MadeParts) {
        let m = self.m();
        let Some((inner, end)) = block_of(m, graph).and_then(|block| Some((block, m.last_op(block)?))) else {
            return;
        };
        let frames = match Frames::of(m, graph) {
            Ok(frames) => frames,
            Err(wrong) => return wrong.into_iter().for_each(|diagnostic| self.cx.report(diagnostic)),
        };
        self.graph = GraphFrames { frames, ..GraphFrames::default() };
        let ops: Vec<OpId> = self.m().ops_in(inner).filter(|&op| op != end).collect();
        self.join_all(&ops, graph);
        for frame in self.graph.frames.ids().filter(|&frame| self.graph.has_steps(frame)) {
            let data = self.graph.frames.frame(frame);
            if data.conds.len() != 1 {
                return self.cx.report(errors::loop_condition(self.m(), data.enters[0], data.conds.len()));
            }
        }
        let parts: Vec<PartIndex> = self.graph.members.get(&ROOT).into_iter().flatten().copied().collect();
        // What is made inside of a graph is not seen behind it.
        let mut outside = Vec::new();
        for &part in &parts {
            let m = self.m();
            let given = self.given(graph, part);
            let types: Vec<TypeId> = given.iter().map(|&i| m.value_type(m.result(graph, i))).collect();
            let (loc, attrs) = (m.loc(graph), m.attrs(graph).to_vec());
            let Some(of) = made.get_mut(&part) else { continue };
            let at = InsertionPoint::End(of.block);
            let op = self.r.create_named(at, loc, GRAPH, &[], &types, &[]);
            attrs.into_iter().for_each(|(name, attr)| self.r.set_attr(op, name, attr));
            let region = self.r.add_region(op);
            let block = std::mem::replace(&mut of.block, self.r.add_block(region));
            outside.push((part, op, block, of.values.clone(), of.signals.clone()));
        }
        for op in ops {
            let m = self.m();
            if let Some(control) = Control::of(m, op) {
                self.control(op, control, made);
                continue;
            }
            // An invariant enters where it is read.
            let is_everywhere = is_everywhere(m, op) || is_merge(m, op);
            if is_everywhere || (is_invariant(m, op) && m.n_results(op) == 1) {
                continue;
            }
            let is_condition = Primitive::of(m, op) == Some(Primitive::LoopCond);
            let part = self.reach.part_of_op(m, op);
            self.place(op, part, made);
            if is_condition {
                self.turn(op, made);
            }
        }
        for (part, op, block, values, signals) in outside {
            let given = self.given(graph, part);
            self.fetch(end, &given, part, made);
            let Some(of) = made.get_mut(&part) else { continue };
            (of.block, of.values, of.signals) = (block, values, signals);
            of.steps.clear();
            let m = self.r.ir();
            let pairs = given.iter().enumerate().map(|(at, &i)| (m.result(graph, i), m.result(op, at)));
            of.values.extend(pairs);
        }
        self.graph = GraphFrames::default();
    }

    /// The results of a graph that a part gives.
    fn given(&self, graph: OpId, part: PartIndex) -> Vec<usize> {
        let m = self.m();
        (0..m.n_results(graph)).filter(|&i| self.reach.home(m, m.result(graph, i)) == Some(part)).collect()
    }

    /// Finds the parts that take part in each frame.
    fn join_all(&mut self, ops: &[OpId], graph: OpId) {
        let (reach, m) = (self.reach, self.r.ir());
        for &op in ops {
            if is_everywhere(m, op) || is_merge(m, op) || is_invariant(m, op) {
                continue;
            }
            let frame = self.graph.frames.of_op(op);
            if Control::of(m, op).is_some() {
                self.graph.with_calls.extend(self.graph.around(frame));
                reach.members(m, op).into_iter().for_each(|part| self.graph.join(frame, part));
                continue;
            }
            let part = reach.part_of_op(m, op);
            self.graph.join(frame, part);
            if Primitive::of(m, op) == Some(Primitive::Enter) {
                let entered = self.graph.frames.of_value(m, m.result(op, 0));
                self.graph.join(entered, part);
            }
        }
        for result in m.results(graph) {
            let part = reach.home(m, result).unwrap_or(0);
            self.graph.join(ROOT, part);
        }
    }

    /// Makes the steps of a frame in both parts between which a value crosses; returns the frame.
    pub(super) fn cross_in(
        &mut self,
        value: ValueId,
        parts: [PartIndex; 2],
        made: &mut MadeParts,
    ) -> FrameId {
        let frame = self.graph.frames.of_value(self.m(), value);
        parts.into_iter().for_each(|part| self.enter(frame, part, made));
        frame
    }

    /// Makes the step of a frame in a part, and those of the frames around it.
    pub(super) fn enter(&mut self, frame: FrameId, part: PartIndex, made: &mut MadeParts) {
        let is_known = made.get(&part).is_none_or(|of| of.steps.contains_key(&frame));
        if frame == ROOT || is_known {
            return;
        }
        let data = self.graph.frames.frame(frame).clone();
        let parent = data.parent.unwrap_or(ROOT);
        self.enter(parent, part, made);
        let loc = data.enters.first().map_or(LocId::UNKNOWN, |&enter| self.m().loc(enter));
        let name = data.name.map_or_else(|| "loop".to_owned(), |name| self.m().cx.str(name).to_owned());
        let key = self.frame_name(frame, &name);
        let name = self.r.cx().str_attr(&name);
        let in_flight = self.r.cx().int_attr(KnownType::I64.id(), data.parallel_iterations);
        let token = self.r.cx().opaque_type(TOKEN);
        let number = self.r.cx().tensor_type(&[], KnownType::I32.id());
        let Some(of) = made.get(&part) else { return };
        let outer = of.step_of(parent);
        let first = self.append(of, loc, dev::ENTER, &[outer], &[STEP], &[("bef.frame", key)]);
        let first = self.m().result(first, 0);
        let attrs = [("frame_name", name), ("parallel_iterations", in_flight)];
        let enter = self.append(of, loc, Primitive::Enter.op_name(), &[first], &[STEP], &attrs);
        let source = self.append(of, loc, Primitive::Source.op_name(), &[], &[STEP, token], &[]);
        let inputs = [self.m().result(enter, 0), self.m().result(source, 0)];
        let merge = self.append(of, loc, Primitive::Merge.op_name(), &inputs, &[STEP, number], &[]);
        let (step, token) = (self.m().result(merge, 0), self.m().result(source, 1));
        self.graph.tokens.insert((frame, part), token);
        if let Some(of) = made.get_mut(&part) {
            of.steps.insert(frame, step);
        }
    }

    /// The name of a frame of steps, the same in all parts.
    fn frame_name(&mut self, frame: FrameId, name: &str) -> AttrId {
        if let Some(&known) = self.graph.names.get(&frame) {
            return known;
        }
        self.n_frames += 1;
        let attr = self.r.cx().str_attr(&format!("{name}#{}", self.n_frames));
        self.graph.names.insert(frame, attr);
        attr
    }

    /// Gives the parts of a loop the condition, and their steps the next iteration.
    fn turn(&mut self, cond: OpId, made: &mut MadeParts) {
        let frame = self.graph.frames.of_op(cond);
        let parts: Vec<PartIndex> = self.graph.members.get(&frame).into_iter().flatten().copied().collect();
        let parts = if self.graph.has_steps(frame) { parts } else { Vec::new() };
        let (loc, value) = (self.m().loc(cond), self.m().result(cond, 0));
        for part in parts {
            self.enter(frame, part, made);
            let Some(goes_on) = self.need(value, part, made) else { return };
            let (Some(of), Some(&token)) = (made.get(&part), self.graph.tokens.get(&(frame, part))) else {
                continue;
            };
            let step = of.step_of(frame);
            let switch =
                self.append(of, loc, Primitive::Switch.op_name(), &[step, goes_on], &[STEP, STEP], &[]);
            let live = self.m().result(switch, 1);
            let next = self.append(of, loc, dev::NEXT, &[live], &[STEP], &[]);
            let next = self.m().result(next, 0);
            self.append(of, loc, Primitive::Sink.op_name(), &[token, next], &[], &[]);
        }
    }

    /// In a graph of primitives, a chain in each part of an op that runs functions: dead, or an error, if an
    /// operand of the op is. One part decides it for all, since others may not have all operands.
    pub(super) fn gate(
        &mut self,
        op: OpId,
        members: &BTreeSet<PartIndex>,
        made: &mut MadeParts,
    ) -> Option<FxHashMap<PartIndex, ValueId>> {
        if !self.graph.is_open() {
            return None;
        }
        let (m, reach) = (self.r.ir(), self.reach);
        let frame = self.graph.frame_of(op);
        let operands: Vec<ValueId> = m.operands(op).collect();
        let mut values = self.merged(&operands);
        values.retain(|&value| !self.is_certain(value));
        let n_own = |part: PartIndex| values.iter().filter(|&&v| reach.home(m, v) == Some(part)).count();
        let owner = members.iter().copied().max_by_key(|&part| (n_own(part), std::cmp::Reverse(part)))?;
        let loc = m.loc(op);
        let mut local = Vec::new();
        for value in values {
            if is_chain(self.m(), value) {
                local.extend(self.edges(&[value], owner, made));
            } else {
                local.push(self.present(value, owner, made)?);
            }
        }
        let decided = self.ready(&local, made.get(&owner)?, loc)?;
        let mut gates = FxHashMap::from_iter([(owner, decided)]);
        for &part in members.iter().filter(|&&part| part != owner) {
            [owner, part].into_iter().for_each(|part| self.enter(frame, part, made));
            let gate = self.cross(decided, (made.get(&owner)?, made.get(&part)?), frame, loc);
            gates.insert(part, gate);
        }
        Some(gates)
    }

    /// A value in a part, or a chain that is ready when it is.
    pub(super) fn present(
        &mut self,
        value: ValueId,
        part: PartIndex,
        made: &mut MadeParts,
    ) -> Option<ValueId> {
        let m = self.m();
        let home = self.reach.home(m, value)?;
        let is_read =
            m.users(value).any(|(user, i)| !is_merge(m, user) && self.reach.reads(m, user, i, part));
        let of = made.get(&part)?;
        let key = (vec![value], home);
        if home == part || is_read || of.values.contains_key(&value) {
            return self.need(value, part, made);
        }
        if let Some(&signal) = of.signals.get(&key) {
            return Some(signal);
        }
        self.need(value, home, made)?;
        let signal = self.signal(&[value], (home, part), made)?;
        made.get_mut(&part)?.signals.insert(key, signal);
        Some(signal)
    }

    /// Ends the graph of a part with the results that it gives. They wait for the control edges of the part.
    fn fetch(&mut self, end: OpId, given: &[usize], part: PartIndex, made: &mut MadeParts) {
        let m = self.m();
        let loc = m.loc(end);
        let (edges, data): (Vec<ValueId>, Vec<ValueId>) = m.operands(end).partition(|&v| is_chain(m, v));
        let mut values = Vec::new();
        for &i in given {
            let Some(value) = self.need(data[i], part, made) else { return };
            values.push(value);
        }
        let Some(of) = made.get(&part) else { return };
        values.extend(self.merged(&edges).iter().filter_map(|edge| of.values.get(edge)));
        self.append(of, loc, FETCH, &values, &[], &[]);
    }
}
