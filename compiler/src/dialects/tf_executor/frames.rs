//! The frames of a graph: its loops, and the loop of each op and value.
//!
//! ```text
//! root ─Enter "outer"─▶ outer ─Enter "inner"─▶ inner       a frame is named by its Enters
//!      ◀────Exit──────       ◀────Exit──────
//! ```
//!
//! An op runs in the frame of its inputs, and its results are in the same frame, with two exceptions: an
//! Enter's result is in the frame that it names, an Exit's in the parent of its input's frame. Ops without
//! inputs and values from outside of the graph are in the root frame, which is no loop. One pass over the
//! block, which is in order, finds all frames.
//!
//! A loop's variable is a Merge of an Enter and of a NextIteration's source. In the first iteration the Merge
//! forwards the Enter's value, in every other one the value of the sink with the same token in the previous
//! iteration. A source and a sink whose Merge was removed are no variable.
//!
//! Graphs whose frames are no nested loops are refused: inputs of different frames, a frame entered from
//! different parents, an Exit or a NextIteration in the root frame, a loop's Merge with other inputs, a Merge
//! all of whose inputs would be live at once, tokens that do not tie one source to one sink.
//!
//! Used by the verifier of graphs and by the passes of `graph/dataflow`. Not here: which branch of a
//! conditional an op belongs to (`graph/dataflow/condition`).

use rustc_hash::{FxHashMap, FxHashSet};

use super::{FETCH, Primitive, block_of, data_operands, errors, is_chain};
use crate::diag::Diagnostic;
use crate::dialects::dev;
use crate::ir::entity::{Arena, entity};
use crate::ir::{AttrKind, Module, OpId, StrId, ValueId};

entity! {
    /// A frame of a graph: the root, or a loop.
    FrameId = "frame";
}

/// The root frame.
pub const ROOT: FrameId = FrameId(0);

/// TensorFlow's default of `parallel_iterations`.
const PARALLEL_ITERATIONS: i64 = 10;

/// A frame.
#[derive(Clone, Debug, Default)]
pub struct FrameData {
    /// The frame whose values enter; `None` for the root.
    pub parent: Option<FrameId>,
    /// Its name; `None` for the root.
    pub name: Option<StrId>,
    /// The maximum number of iterations in flight.
    pub parallel_iterations: i64,
    /// The ops by which values enter, those of invariants included. They run in the parent.
    pub enters: Vec<OpId>,
    /// Its variables, in the order of their Merges.
    pub variables: Vec<LoopVariable>,
    /// Its conditions, of which a loop that can be left has one.
    pub conds: Vec<OpId>,
    /// The ops by which values leave. They run in this frame.
    pub exits: Vec<OpId>,
    /// All ops that run in it, in the order of the block.
    pub ops: Vec<OpId>,
}

/// A variable of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopVariable {
    /// Gives the first value.
    pub enter: OpId,
    /// Has the value in each iteration.
    pub merge: OpId,
    /// Stands for the next value before it is known.
    pub source: OpId,
    /// Is given the next value.
    pub sink: OpId,
}

/// The frames of a graph.
#[derive(Default)]
pub struct Frames {
    frames: Arena<FrameId, FrameData>,
    ops: FxHashMap<OpId, FrameId>,
    /// The results of Enters and Exits, whose frame is not that of the op.
    crossing: FxHashMap<ValueId, FrameId>,
}

impl Frames {
    /// The frames of a graph.
    ///
    /// # Errors
    /// All faults of its loops, each with the nodes that it is about.
    pub fn of(m: &Module, graph: OpId) -> Result<Frames, Vec<Diagnostic>> {
        let mut finder = Finder::new(m);
        let Some(block) = block_of(m, graph) else { return Ok(finder.frames) };
        for op in m.ops_in(block) {
            finder.op(op);
        }
        if finder.wrong.is_empty() { Ok(finder.frames) } else { Err(finder.wrong) }
    }

    /// A frame.
    pub fn frame(&self, frame: FrameId) -> &FrameData {
        &self.frames[frame]
    }

    /// All frames; each one follows its parent.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = FrameId> + use<> {
        (0..self.frames.len() as u32).map(FrameId)
    }

    /// The frame in which an op of the graph runs: for an Enter that which it leaves.
    pub fn of_op(&self, op: OpId) -> FrameId {
        self.ops.get(&op).copied().unwrap_or(ROOT)
    }

    /// The frame of a value that the graph uses.
    pub fn of_value(&self, m: &Module, value: ValueId) -> FrameId {
        let known = self.crossing.get(&value).copied();
        known.or_else(|| m.defining_op(value).map(|op| self.of_op(op))).unwrap_or(ROOT)
    }
}

/// True if an Enter's value is visible in every iteration.
pub fn is_constant(m: &Module, enter: OpId) -> bool {
    m.attr_named(enter, "is_constant").is_some_and(|attr| matches!(m.cx.attr(attr), AttrKind::Bool(true)))
}

/// The values from outside of an op that it or the ops inside of it use.
pub fn inputs(m: &Module, op: OpId) -> Vec<ValueId> {
    let mut found: Vec<ValueId> = m.operands(op).collect();
    if !m.regions_of(op).is_empty() {
        let is_inside = |value: ValueId| {
            m.defining_block(value)
                .and_then(|block| m.block_parent(block))
                .is_some_and(|region| m.is_inside(m.region_parent(region), op))
        };
        let inner = m.walk(op).filter(|&inner| inner != op);
        found.extend(inner.flat_map(|inner| m.operands(inner)).filter(|&value| !is_inside(value)));
    }
    found
}

/// True for a source of whose variable only the token is used: optimization has removed its Merge.
pub fn is_unread(m: &Module, source: OpId) -> bool {
    m.results(source).enumerate().all(|(i, value)| i == 1 || m.is_unused(value))
}

struct Finder<'m> {
    m: &'m Module,
    frames: Frames,
    by_name: FxHashMap<StrId, FrameId>,
    /// Values that may be dead.
    uncertain: FxHashSet<ValueId>,
    wrong: Vec<Diagnostic>,
}

impl<'m> Finder<'m> {
    fn new(m: &'m Module) -> Finder<'m> {
        let mut frames = Frames::default();
        frames.frames.push(FrameData { parallel_iterations: 1, ..FrameData::default() });
        let (by_name, uncertain) = Default::default();
        Finder { m, frames, by_name, uncertain, wrong: Vec::new() }
    }

    fn op(&mut self, op: OpId) {
        let primitive = Primitive::of(self.m, op);
        if primitive == Some(Primitive::Source) {
            // Its frame is that of its Merge.
            return self.check_source(op);
        }
        let inputs: Vec<ValueId> =
            inputs(self.m, op).into_iter().filter(|&value| !self.is_unplaced(value)).collect();
        let frame = self.frame_of(op, &inputs);
        if frame != ROOT && self.m.op_name_str(op) == FETCH {
            let (value, shown) = (self.shown_value(inputs[0]), self.shown(frame));
            self.wrong.push(errors::fetched_inside(self.m, op, &value, &shown));
        }
        self.place(op, frame);
        let is_switch = matches!(primitive, Some(Primitive::Switch | Primitive::SwitchN));
        // What another part of a divided program sends may be dead.
        let is_received = self.m.op_name_str(op) == dev::RECV;
        if is_switch || is_received || inputs.iter().any(|value| self.uncertain.contains(value)) {
            self.uncertain.extend(self.m.results(op));
        }
        match primitive {
            Some(Primitive::Merge) => self.merge(op, frame),
            Some(Primitive::Enter) => self.enter(op, frame),
            Some(Primitive::Exit) => match self.frames.frames[frame].parent {
                Some(parent) => {
                    self.frames.frames[frame].exits.push(op);
                    self.frames.crossing.extend(self.m.results(op).map(|value| (value, parent)));
                }
                None => self.wrong.push(errors::not_in_a_loop(self.m, op)),
            },
            Some(Primitive::Sink) => self.sink(op, frame),
            Some(Primitive::LoopCond) => self.frames.frames[frame].conds.push(op),
            _ => {}
        }
    }

    fn place(&mut self, op: OpId, frame: FrameId) {
        self.frames.ops.insert(op, frame);
        self.frames.frames[frame].ops.push(op);
    }

    /// True for the results of a source before its Merge. The token has no frame.
    fn is_unplaced(&self, value: ValueId) -> bool {
        let source =
            self.m.defining_op(value).filter(|&op| Primitive::of(self.m, op) == Some(Primitive::Source));
        source.is_some_and(|op| !self.frames.ops.contains_key(&op) || self.m.result(op, 1) == value)
    }

    /// The one frame of these inputs of an op.
    fn frame_of(&mut self, op: OpId, inputs: &[ValueId]) -> FrameId {
        let m = self.m;
        let mut found: Option<(ValueId, FrameId)> = None;
        for &value in inputs {
            let frame = self.frames.of_value(m, value);
            match found {
                Some((first, other)) if other != frame => {
                    let (a, b) = (self.shown_value(first), self.shown_value(value));
                    let (in_a, in_b) = (self.shown(other), self.shown(frame));
                    self.wrong.push(errors::two_frames(m, op, [(&a, &in_a), (&b, &in_b)]));
                    return frame;
                }
                _ => found = Some((value, frame)),
            }
        }
        found.map_or(ROOT, |(_, frame)| frame)
    }

    fn shown(&self, frame: FrameId) -> String {
        match self.frames.frames[frame].name {
            Some(name) => format!("frame '{}'", self.m.cx.str(name)),
            None => "no frame".to_owned(),
        }
    }

    fn shown_value(&self, value: ValueId) -> String {
        self.m.defining_op(value).map_or("an argument".to_owned(), |op| errors::node(self.m, op))
    }

    fn enter(&mut self, op: OpId, parent: FrameId) {
        let m = self.m;
        let name = match m.attr_named(op, "frame_name").map(|attr| m.cx.attr(attr)) {
            Some(AttrKind::Str { text, .. }) => *text,
            _ => return,
        };
        let parallel = m.attr_named(op, "parallel_iterations").and_then(|attr| m.cx.as_int(attr));
        let frames = &mut self.frames.frames;
        let frame = *self.by_name.entry(name).or_insert_with(|| {
            frames.push(FrameData {
                parent: Some(parent),
                name: Some(name),
                parallel_iterations: parallel.unwrap_or(PARALLEL_ITERATIONS).max(1),
                ..FrameData::default()
            })
        });
        let known = frames[frame].parent;
        if known != Some(parent)
            && let (Some(known), Some(&first)) = (known, frames[frame].enters.first())
        {
            let parents = [self.shown(parent), self.shown(known)];
            let [this, other] = [&*parents[0], &*parents[1]];
            self.wrong.push(errors::two_parents(m, op, m.cx.str(name), first, [this, other]));
        }
        self.frames.frames[frame].enters.push(op);
        self.frames.crossing.extend(m.results(op).map(|value| (value, frame)));
    }

    fn merge(&mut self, op: OpId, frame: FrameId) {
        let m = self.m;
        let is_source = |&value: &ValueId| {
            m.defining_op(value).filter(|&from| Primitive::of(m, from) == Some(Primitive::Source))
        };
        let inputs: Vec<ValueId> = data_operands(m, op).collect();
        let sources: Vec<OpId> = inputs.iter().filter_map(is_source).collect();
        let Some(&source) = sources.first() else {
            if !inputs.iter().any(|value| self.uncertain.contains(value)) {
                self.wrong.push(errors::no_switch(m, op));
            }
            return;
        };
        let enters: Vec<OpId> = inputs
            .iter()
            .filter_map(|&value| m.defining_op(value))
            .filter(|&from| Primitive::of(m, from) == Some(Primitive::Enter))
            .collect();
        let &[enter] = &enters[..] else {
            return self.wrong.push(errors::loop_merge(m, op, &format!("has {} Enters", enters.len())));
        };
        if sources.len() != 1 || inputs.len() != 2 {
            return self.wrong.push(errors::loop_merge(m, op, "has further inputs besides an Enter"));
        }
        if is_constant(m, enter) {
            return self.wrong.push(errors::loop_merge(m, op, "has an Enter that is constant"));
        }
        if self.frames.ops.contains_key(&source) {
            return self.wrong.push(errors::loop_merge(m, op, "shares it with another Merge"));
        }
        let Some(sink) = self.sink_of(source) else { return };
        self.place(source, frame);
        self.frames.frames[frame].variables.push(LoopVariable { enter, merge: op, source, sink });
    }

    /// The sink with the token of a source.
    fn sink_of(&self, source: OpId) -> Option<OpId> {
        let token = self.m.results(source).nth(1)?;
        let mut users = self.m.users(token);
        let (sink, _) = users.next()?;
        users.next().is_none().then_some(sink)
    }

    fn check_source(&mut self, source: OpId) {
        let m = self.m;
        if self.sink_of(source).is_none() {
            let n = m.results(source).nth(1).map_or(0, |token| m.users(token).count());
            self.wrong.push(errors::token(m, source, &format!("its token has {n} sinks, expected one")));
        }
        let merges = |(user, _): (OpId, usize)| Primitive::of(m, user) == Some(Primitive::Merge);
        let outputs: Vec<ValueId> = m.results(source).collect();
        if is_unread(m, source) {
            return;
        }
        let is_used = outputs.first().is_some_and(|&value| m.users(value).any(merges));
        let is_misused = outputs
            .iter()
            .any(|&value| (value == outputs[0] || is_chain(m, value)) && !m.users(value).all(merges));
        if !is_used || is_misused {
            self.wrong.push(errors::token(
                m,
                source,
                "only a Merge may use what comes from an iteration before",
            ));
        }
    }

    fn sink(&mut self, op: OpId, frame: FrameId) {
        let m = self.m;
        let source = m.operands(op).next().and_then(|token| m.defining_op(token));
        match source.filter(|&source| Primitive::of(m, source) == Some(Primitive::Source)) {
            None => self.wrong.push(errors::token(m, op, "its token is not that of a source")),
            Some(_) if frame == ROOT => self.wrong.push(errors::not_in_a_loop(m, op)),
            Some(source) => match self.frames.ops.get(&source) {
                Some(&of_source) if of_source != frame => {
                    let (here, there) = (self.shown(frame), self.shown(of_source));
                    let why = format!("it is in {here}, the Merge of its source in {there}");
                    self.wrong.push(errors::token(m, op, &why));
                }
                _ => {}
            },
        }
    }
}
