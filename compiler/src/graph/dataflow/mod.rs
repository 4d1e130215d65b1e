//! `tf-functionalize-control-flow`: conditionals and loops of the primitives of dataflow control flow.
//!
//! ```text
//! tf_executor.graph {Switch, Merge, Enter, ...}  ──▶  tf.IfRegion, tf.CaseRegion, tf.WhileRegion
//!
//! frames (of the dialect)     which loop an op belongs to
//! condition                   under which predicates it is live
//! plan                        which conditional it belongs to, and its place there
//! loops, build                the ops with regions
//! ```
//!
//! Loops come first, inner ones before outer ones. A loop becomes one op of its parent frame, with its Enters
//! as operands and its Exits as results. Then the conditionals of the graph follow. `tf-outline-regions`, the
//! next pass, makes functions of the regions, with captured values and the loop's invariants as arguments.
//!
//! A loop or a conditional without such a form stays as it is, and so do its parent frames; a remark names
//! the op. A frame is analysed completely before it is changed. The order of effects is that of the control
//! edges: an edge out of a conditional or a loop becomes an edge from its op.
//!
//! A fetched value that is dead is an error (of an Assert) that names it.

mod build;
mod condition;
mod loops;
mod lower;
pub(crate) mod native;
mod plan;
pub(crate) mod shapes;

pub(crate) use lower::LOWER;

use rustc_hash::FxHashSet;

use self::condition::{Conditions, Literals, Liveness, Refused};
use self::plan::{Nodes, PlanNode};
use crate::diag::{Diagnostic, Severity};
use crate::dialects::at_op;
use crate::dialects::tf_executor::frames::{self, FrameId, Frames, ROOT};
use crate::dialects::tf_executor::{self, FETCH, GRAPH, ISLAND, Primitive, block_of, is_chain, node};
use crate::ir::{Module, OpId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::InsertionPoint;

pub(crate) const FUNCTIONALIZE: Pass = Pass {
    name: tf_executor::FUNCTIONALIZE,
    title: "TFFunctionalizeControlFlow",
    summary: "makes conditionals and loops of TensorFlow's dataflow control flow",
    options: &[],
    statistics: &[
        ("num-loops", "Number of loops made"),
        ("num-conditionals", "Number of conditionals made"),
        ("num-left", "Number of graphs that are left"),
    ],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    let graphs: Vec<OpId> = m.walk_functions().filter(|&op| m.op_name_str(op) == GRAPH).collect();
    for graph in graphs {
        remove_unread(r, graph);
        let Ok(frames) = Frames::of(r.ir(), graph) else { continue };
        let conditions = Conditions::of(r.ir(), graph, &frames);
        let ops = frames.ids().map(|id| frames.frame(id).ops.clone()).collect();
        let left = FxHashSet::default();
        Functionalizer { r: &mut *r, cx, graph, frames, conditions, ops, left }.run();
    }
    r.change()
}

/// The state of the functionalization of a graph.
struct Functionalizer<'a, 'm, 'c> {
    r: &'a mut Rewriter<'m>,
    cx: &'a PassCx<'c>,
    graph: OpId,
    frames: Frames,
    conditions: Conditions,
    /// The ops of each frame, with the loops that were frames in it.
    ops: Vec<Vec<OpId>>,
    /// The frames that are not functionalized.
    left: FxHashSet<FrameId>,
}

impl Functionalizer<'_, '_, '_> {
    fn m(&self) -> &Module {
        self.r.ir()
    }

    fn run(mut self) {
        // Inner frames follow the frames that contain them.
        for frame in self.frames.ids().rev() {
            if self
                .frames
                .ids()
                .any(|inner| self.frames.frame(inner).parent == Some(frame) && self.left.contains(&inner))
            {
                self.left.insert(frame);
                continue;
            }
            let done = match self.conditions.refused.get(&frame) {
                Some(refused) => Err(refused.clone()),
                None if frame == ROOT => self.root(),
                None => self.make_loop(frame),
            };
            if let Err((op, why)) = done {
                self.left.insert(frame);
                self.remark(frame, op, &why);
            }
        }
        if self.left.contains(&ROOT) {
            self.cx.count("num-left", 1);
            sort(self.r, self.graph);
        }
    }

    /// Reports why a frame is not functionalized.
    fn remark(&self, frame: FrameId, op: OpId, why: &str) {
        let m = self.m();
        let what = match self.frames.frame(frame).name {
            Some(name) => format!("the loop '{}'", m.cx.str(name)),
            None => "a graph".to_owned(),
        };
        let message = format!("{what} stays dataflow control flow because of {}: {why}", node(m, op));
        let Diagnostic { notes, span, .. } = at_op(m, op, "E0513", "");
        let remark = Diagnostic { notes, span, ..Diagnostic::error("E0513", message) };
        self.cx.report(remark.with_severity(Severity::Remark));
    }

    /// The live nodes of a frame, with their literals in it.
    fn nodes(&self, frame: FrameId) -> Result<Vec<(PlanNode, Literals)>, Refused> {
        let (m, conditions) = (self.m(), &self.conditions);
        let mut nodes = Vec::new();
        for &op in &self.ops[frame.0 as usize] {
            let Some(literals) = conditions.in_frame(&conditions.of_op(op), frame) else { continue };
            match Primitive::of(m, op) {
                Some(Primitive::Switch | Primitive::SwitchN | Primitive::Merge)
                    if conditions.is_gated(op) =>
                {
                    // The Switches of a loop's variables lead into the body and out of the loop.
                    let decision = self.frames.frame(frame).conds.first().map(|&cond| m.result(cond, 0));
                    match decision.filter(|&decision| conditions.switches_by(m, op, decision)) {
                        Some(decision) => nodes.extend([0, 1].map(|branch| {
                            let literals = Literals::from_slice(&[(decision, branch)]);
                            (PlanNode::Gate(op), literals)
                        })),
                        None => nodes.push((PlanNode::Gate(op), literals)),
                    }
                }
                Some(Primitive::LoopCond) if frame == ROOT => {
                    return Err((op, "it is in no loop".to_owned()));
                }
                Some(Primitive::Exit | Primitive::Sink | Primitive::LoopCond) => {
                    nodes.push((PlanNode::Op(op), literals));
                }
                Some(_) => {}
                None if m.op_name_str(op) == ISLAND => {
                    return Err((op, "islands are not taken apart".to_owned()));
                }
                None => nodes.push((PlanNode::Op(op), literals)),
            }
        }
        for (i, select) in conditions.selects.iter().enumerate() {
            if self.frames.of_op(select.op) == frame
                && let Some(literals) = conditions.in_frame(&Liveness::When(select.when.clone()), frame)
            {
                nodes.push((PlanNode::Select(i), literals));
            }
        }
        Ok(nodes)
    }

    /// Functionalizes the conditionals of the graph, whose loops were replaced.
    fn root(&mut self) -> Result<(), Refused> {
        let nodes = self.nodes(ROOT)?;
        let steps = Nodes::new(self.m(), &self.conditions, nodes)?.plan(&Literals::new())?;
        let graph = self.graph;
        let mut builder = build::FrameBuilder::new(self.r, &self.conditions);
        builder.steps(&steps, InsertionPoint::Before(graph));
        let n_conditionals = builder.n_conditionals;
        self.cx.count("num-conditionals", n_conditionals);
        let m = self.m();
        let Some(end) = block_of(m, graph).and_then(|block| m.last_op(block)) else { return Ok(()) };
        let values: Vec<ValueId> = m.operands(end).filter(|&value| !is_chain(m, value)).collect();
        self.r.replace_op(graph, &values);
        Ok(())
    }
}

/// Moves the ops of islands into their graph, and removes the NextIterations of variables that nothing reads.
pub(crate) fn flatten(r: &mut Rewriter<'_>, graph: OpId) {
    native::inline_islands(r, graph);
    remove_unread(r, graph);
}

/// Removes the NextIterations of variables that nothing reads.
fn remove_unread(r: &mut Rewriter<'_>, graph: OpId) {
    let m = r.ir();
    let Some(block) = block_of(m, graph) else { return };
    let is_unread = |&op: &OpId| Primitive::of(m, op) == Some(Primitive::Source) && frames::is_unread(m, op);
    let unread: Vec<OpId> = m.ops_in(block).filter(is_unread).collect();
    for source in unread {
        let token = r.ir().result(source, 1);
        let sinks: Vec<OpId> = r.ir().users(token).map(|(sink, _)| sink).collect();
        sinks.into_iter().for_each(|sink| r.erase(sink));
        r.erase(source);
    }
}

/// Sorts the ops of a graph that stays: operands first. (Loops were created at its end.)
fn sort(r: &mut Rewriter<'_>, graph: OpId) {
    let m = r.ir();
    let Some(block) = block_of(m, graph) else { return };
    let Some(end) = m.last_op(block) else { return };
    let mut placed: FxHashSet<OpId> = FxHashSet::default();
    let mut order: Vec<OpId> = Vec::new();
    for first in m.ops_in(block) {
        let mut todo = vec![(first, false)];
        while let Some((op, is_ready)) = todo.pop() {
            if is_ready && placed.insert(op) {
                order.push(op);
            }
            if is_ready || placed.contains(&op) {
                continue;
            }
            todo.push((op, true));
            let from = frames::inputs(m, op).into_iter().filter_map(|value| m.defining_op(value));
            todo.extend(from.filter(|&from| m.parent_block(from) == Some(block)).map(|from| (from, false)));
        }
    }
    for op in order.into_iter().filter(|&op| op != end) {
        r.move_to(op, InsertionPoint::Before(end));
    }
}

/// The data results of a Switch.
fn n_outputs(m: &Module, switch: OpId) -> usize {
    m.results(switch).filter(|&result| !is_chain(m, result)).count()
}

/// The value that a gated primitive forwards, unless it is a select.
fn gated(m: &Module, conditions: &Conditions, op: OpId) -> ValueId {
    let live = m.operands(op).position(|value| conditions.of_value(value) != Liveness::Never);
    let is_merge = Primitive::of(m, op) == Some(Primitive::Merge);
    m.operand(op, if is_merge { live.unwrap_or(0) } else { 0 })
}

/// The name of a value in messages.
fn shown(m: &Module, value: ValueId) -> String {
    m.defining_op(value).map_or("an argument".to_owned(), |op| node(m, op))
}

/// True for the op that ends a graph.
fn is_fetch(m: &Module, op: OpId) -> bool {
    m.op_name_str(op) == FETCH
}
