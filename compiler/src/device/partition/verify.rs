//! `verify-parts`: parts of a program fit together.
//!
//! ```text
//! dev.parts ─walk all frames of all parts─▶ sends, recvs by (channel, frame) ─▶ one each, of equal types,
//!                      │                                                        in the same branches
//!                      └─ a node per op, an edge per wait, send ─▶ recv ──────▶ no circle
//! ```
//!
//! Functions are walked once for each call that leads to them: a loop's body as one iteration. What a loop
//! carries to the next iteration is no edge, because that is an iteration later. In a graph of primitives
//! that is what a NextIteration gives; all its ops run in every iteration, dead or live. Values meet in
//! frames of the same iteration, so an iteration waits for the same and for earlier ones only; hence no limit
//! of iterations in flight closes a circle.
//!
//! A recv runs only if its send does, dead or live: it is in the branches in which the send is, of ops that
//! have the same `bef.branch`. It may be in further ones; then what was sent is dropped with the step.
//!
//! A `dev.fence` waits for the effects before it in its function, and those behind it wait for the fence.
//!
//! Not here: that the predicates of a branch agree. They are one value, sent to the other parts.

use std::collections::BTreeMap;

use bef_format::device::MAX_LOOPS;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::device::homes::{block_of, function_attr};
use crate::device::{errors, is_everywhere, ops_with_graphs};
use crate::dialects::dev;
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::{self, GRAPH, Primitive};
use crate::graph::effects::{access, callees, effectful, functions};
use crate::ir::{AttrKind, BlockId, KnownType, Module, OpId, StrId, TypeId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::print::type_text;

pub(crate) const PASS: Pass = Pass {
    name: "verify-parts",
    title: "VerifyParts",
    summary: "checks that the parts of a divided program fit together",
    options: &[],
    statistics: &[("num-channels", "Number of channels")],
    run,
};

/// The attribute with the name of a branch, which is the same in all parts.
pub(super) const BRANCH: &str = "bef.branch";

/// Maximum number of ops in all frames together; a small one in tests, which reach it.
const MAX_NODES: usize = if cfg!(test) { 1 << 12 } else { 1 << 22 };
/// The deepest nest of calls.
const MAX_DEPTH: usize = 256;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    for parts in m.walk_functions().filter(|&op| m.op_name_str(op) == dev::PARTS) {
        let mut walk = PartWalk::new(m);
        match walk.parts(parts) {
            Ok(()) => cx.count("num-channels", walk.check(cx)),
            Err(TooLarge { at, why }) => cx.report(errors::unfit(m, at.unwrap_or(parts), &why, None)),
        }
    }
    r.change()
}

/// Number of a node.
type NodeId = usize;
/// Number of a nest of frames.
type PathId = usize;

/// The reason why parts are not checked, and the op where the walk ended.
struct TooLarge {
    at: Option<OpId>,
    why: String,
}

/// Refuses a loop that is inside of too many others.
fn check_nest(op: OpId, nest: usize) -> Result<(), TooLarge> {
    if nest > MAX_LOOPS {
        let why = format!("a loop is inside of {MAX_LOOPS} others");
        return Err(TooLarge { at: Some(op), why });
    }
    Ok(())
}

/// Where an op runs.
#[derive(Clone)]
struct PartScope {
    /// Its function begins behind this node.
    start: NodeId,
    /// The frame of the function.
    path: PathId,
    /// The branches around it, each with the number of its function.
    branches: Vec<(StrId, usize)>,
    depth: usize,
}

/// A send or a recv.
struct CrossingEnd {
    op: OpId,
    node: NodeId,
    branches: Vec<(StrId, usize)>,
}

/// The ends of a channel in a frame.
#[derive(Default)]
struct CrossingEnds {
    sends: Vec<CrossingEnd>,
    recvs: Vec<CrossingEnd>,
}

/// A function that was walked: nodes for its results, and one behind all that it does.
struct WalkedFunction {
    results: Vec<NodeId>,
    done: NodeId,
}

/// All frames of all parts.
struct PartWalk<'m> {
    m: &'m Module,
    functions: FxHashMap<StrId, OpId>,
    /// The functions with effects on state.
    effectful: FxHashSet<StrId>,
    /// For each node those that it waits for.
    waits: Vec<Vec<NodeId>>,
    /// The frames: the one around, and the name.
    paths: FxHashMap<(PathId, StrId), PathId>,
    /// For each frame the number of loops around it, and itself.
    nests: Vec<usize>,
    ends: BTreeMap<(i64, PathId), CrossingEnds>,
    /// The functions on the way to the current one.
    open: FxHashSet<StrId>,
}

impl<'m> PartWalk<'m> {
    fn new(m: &'m Module) -> PartWalk<'m> {
        let (waits, paths, ends, open) = Default::default();
        let functions = functions(m);
        let effectful = effectful(m, &functions);
        PartWalk { m, functions, effectful, waits, paths, nests: vec![0], ends, open }
    }

    fn node(&mut self, waits: Vec<NodeId>) -> NodeId {
        self.waits.push(waits);
        self.waits.len() - 1
    }

    /// Walks the functions of all parts. Fails if they are too large.
    fn parts(&mut self, parts: OpId) -> Result<(), TooLarge> {
        let start = self.node(Vec::new());
        for part in callees(self.m, parts) {
            let scope = PartScope { start, path: 0, branches: Vec::new(), depth: 0 };
            let n_args = self.block(part).map_or(0, |block| self.m.args(block).len());
            self.function(part, vec![start; n_args], &scope)?;
        }
        Ok(())
    }

    /// Fails if there are too many ops.
    fn check_size(&self) -> Result<(), TooLarge> {
        if self.waits.len() <= MAX_NODES {
            return Ok(());
        }
        Err(TooLarge { at: None, why: "they are too large to be checked".to_owned() })
    }

    fn block(&self, function: StrId) -> Option<BlockId> {
        self.functions.get(&function).and_then(|&function| block_of(self.m, function))
    }

    /// Walks a function whose arguments are these nodes.
    fn function(
        &mut self,
        name: StrId,
        args: Vec<NodeId>,
        scope: &PartScope,
    ) -> Result<WalkedFunction, TooLarge> {
        let m = self.m;
        let block = self.block(name).filter(|_| scope.depth < MAX_DEPTH && self.open.insert(name));
        let Some(block) = block else {
            // A recursion: what is inside happens behind everything that it takes.
            let done = self.node(args.into_iter().chain([scope.start]).collect());
            let n_results =
                self.block(name).and_then(|block| m.last_op(block)).map_or(0, |end| m.n_operands(end));
            return Ok(WalkedFunction { results: vec![done; n_results], done });
        };
        let mut values: FxHashMap<ValueId, NodeId> = m.args(block).iter().copied().zip(args).collect();
        let mut frames: FxHashMap<ValueId, PathId> = FxHashMap::default();
        let (mut all, mut results) = (vec![scope.start], Vec::new());
        // The last fence, and the effects behind it.
        let (mut fence, mut effects) = (scope.start, Vec::new());
        for op in ops_with_graphs(m, block) {
            self.check_size()?;
            let operands: Vec<NodeId> =
                m.operands(op).map(|value| values.get(&value).copied().unwrap_or(scope.start)).collect();
            let is_effect = access(m, op, &self.effectful).is_some();
            let start = if is_effect { fence } else { scope.start };
            if m.last_op(block) == Some(op) {
                results = operands;
            } else if let Some(control) = Control::of(m, op) {
                let step = m.operands(op).find_map(|value| frames.get(&value)).copied().unwrap_or(scope.path);
                let scope = PartScope { start, path: step, depth: scope.depth + 1, ..scope.clone() };
                let walked = self.control(op, control, &operands, &scope)?;
                all.push(walked.done);
                effects.extend(Some(walked.done).filter(|_| is_effect));
                let n_data = tf::n_data_results(m, op);
                let nodes = walked.results.into_iter().take(n_data).map(Some).chain(std::iter::repeat(None));
                values.extend(
                    m.results(op).zip(nodes).map(|(value, node)| (value, node.unwrap_or(walked.done))),
                );
            } else if m.op_name_str(op) == GRAPH {
                let end = tf_executor::block_of(m, op).and_then(|block| m.last_op(block));
                let fetched = end.into_iter().flat_map(|end| m.operands(end));
                let nodes = fetched.map(|value| values.get(&value).copied().unwrap_or(scope.start));
                let nodes: Vec<NodeId> = nodes.collect();
                values.extend(m.results(op).zip(nodes));
            } else if Primitive::of(m, op) != Some(Primitive::Source) && !is_everywhere(m, op) {
                let is_fence = m.op_name_str(op) == dev::FENCE;
                let before = if is_fence { std::mem::take(&mut effects) } else { Vec::new() };
                let node = self.node(operands.into_iter().chain(before).chain([start]).collect());
                all.push(node);
                if is_fence {
                    fence = node;
                } else if is_effect {
                    effects.push(node);
                }
                values.extend(m.results(op).map(|value| (value, node)));
                let of_step = |i: usize| frames.get(&m.operand(op, i)).copied().unwrap_or(scope.path);
                match m.op_name_str(op) {
                    dev::ENTER => {
                        let name = m.attr_named(op, "bef.frame").map(|attr| m.cx.attr(attr));
                        let Some(AttrKind::Str { text, .. }) = name else { continue };
                        let (outer, next) = (of_step(0), self.nests.len());
                        let path = *self.paths.entry((outer, *text)).or_insert(next);
                        if path == next {
                            self.nests.push(self.nests[outer] + usize::from(is_loop(m, op)));
                        }
                        check_nest(op, self.nests[path])?;
                        frames.insert(m.result(op, 0), path);
                    }
                    dev::SEND => {
                        let end = CrossingEnd { op, node, branches: scope.branches.clone() };
                        self.ends.entry((channel(m, op), of_step(1))).or_default().sends.push(end);
                    }
                    dev::RECV => {
                        let end = CrossingEnd { op, node, branches: scope.branches.clone() };
                        self.ends.entry((channel(m, op), of_step(0))).or_default().recvs.push(end);
                    }
                    // The primitives of a loop pass the step of an iteration on. What another iteration gives
                    // them is no edge.
                    _ if Primitive::of(m, op).is_some() => {
                        let is_step = |&value: &ValueId| m.value_type(value) == KnownType::Step.id();
                        let path = m.operands(op).find(is_step).and_then(|step| frames.get(&step).copied());
                        let steps = m.results(op).filter(is_step);
                        frames.extend(steps.filter_map(|step| Some((step, path?))));
                    }
                    _ => {}
                }
            }
        }
        self.open.remove(&name);
        Ok(WalkedFunction { results, done: self.node(all) })
    }

    /// Walks the functions that an op runs.
    fn control(
        &mut self,
        op: OpId,
        control: Control,
        operands: &[NodeId],
        scope: &PartScope,
    ) -> Result<WalkedFunction, TooLarge> {
        let m = self.m;
        let first = control.first_argument();
        let (data, chains) = operands.split_at(tf::n_data_operands(m, op));
        let args = data[first..].to_vec();
        let start = self.node([scope.start].iter().chain(chains).chain(&data[..first]).copied().collect());
        if control == Control::While {
            let [Some(cond), Some(body)] = ["cond", "body"].map(|attr| function_attr(m, op, attr)) else {
                return Ok(WalkedFunction { results: args, done: start });
            };
            let cond = self.function(cond, args.clone(), &PartScope { start, ..scope.clone() })?;
            let goes_on = self.node(cond.results.iter().copied().chain([start]).collect());
            let body = self.function(body, args.clone(), &PartScope { start: goes_on, ..scope.clone() })?;
            let done = self.node(vec![cond.done, body.done]);
            // A result waits for the last condition, and comes from the last iteration or from in front.
            let last = body.results.into_iter().map(Some).chain(std::iter::repeat(None));
            let both: Vec<Vec<NodeId>> = args
                .into_iter()
                .zip(last)
                .map(|(init, last)| [goes_on, init].into_iter().chain(last).collect())
                .collect();
            let results = both.into_iter().map(|waits| self.node(waits)).collect();
            return Ok(WalkedFunction { results, done });
        }
        let branch = m.attr_named(op, BRANCH).and_then(|attr| match m.cx.attr(attr) {
            AttrKind::Str { text, .. } => Some(*text),
            _ => None,
        });
        let (mut all, mut results) = (vec![start], vec![vec![start]; tf::n_data_results(m, op)]);
        let mut seen = FxHashSet::default();
        // What two branches run sends in one of them only.
        for (i, name) in callees(m, op).into_iter().enumerate().filter(|&(_, name)| seen.insert(name)) {
            let mut branches = scope.branches.clone();
            branches.extend(branch.map(|branch| (branch, i)));
            let walked =
                self.function(name, args.clone(), &PartScope { start, branches, ..scope.clone() })?;
            all.push(walked.done);
            results.iter_mut().zip(walked.results).for_each(|(waits, result)| waits.push(result));
        }
        let results = results.into_iter().map(|waits| self.node(waits)).collect();
        Ok(WalkedFunction { results, done: self.node(all) })
    }

    /// Checks all channels, then that nothing waits for itself. Returns the number of channels.
    fn check(&mut self, cx: &PassCx<'_>) -> u64 {
        let m = self.m;
        let mut fits = true;
        let mut report = |op: OpId, what: String, other: Option<(OpId, &str)>| {
            fits = false;
            cx.report(errors::unfit(m, op, &what, other));
        };
        let elsewhere: BTreeMap<i64, (Option<OpId>, Option<OpId>)> = self.ends.iter().fold(
            BTreeMap::new(),
            |mut all, (&(channel, _), CrossingEnds { sends, recvs })| {
                let known: &mut (Option<OpId>, Option<OpId>) = all.entry(channel).or_default();
                known.0 = known.0.or(sends.first().map(|end| end.op));
                known.1 = known.1.or(recvs.first().map(|end| end.op));
                all
            },
        );
        for (&(channel, _), CrossingEnds { sends, recvs }) in &self.ends {
            match (&sends[..], &recvs[..]) {
                ([send, other, ..], _) => {
                    report(
                        other.op,
                        format!("channel {channel} is sent twice"),
                        Some((send.op, "sent here, too")),
                    );
                }
                (_, [recv, other, ..]) => {
                    let what = format!("channel {channel} is received twice");
                    report(other.op, what, Some((recv.op, "received here, too")));
                }
                ([], [recv]) => match elsewhere[&channel].0 {
                    Some(send) => {
                        let what =
                            format!("channel {channel} is received in another frame than it is sent in");
                        report(recv.op, what, Some((send, "sent here")));
                    }
                    None => report(recv.op, format!("channel {channel} is received and never sent"), None),
                },
                // With a recv in another frame that is the error.
                ([send], []) if elsewhere[&channel].1.is_none() => {
                    report(send.op, format!("channel {channel} is sent and never received"), None);
                }
                ([send], [recv]) => {
                    let sent: Vec<TypeId> = dev::sent(m, send.op).map(|value| m.value_type(value)).collect();
                    let received: Vec<TypeId> = m.results(recv.op).map(|value| m.value_type(value)).collect();
                    if sent != received {
                        let [sent, received] = [sent, received].map(|types| types_text(m, &types));
                        let what = format!("channel {channel} is sent as {sent} and received as {received}");
                        report(recv.op, what, Some((send.op, "sent here")));
                    } else if !recv.branches.starts_with(&send.branches) {
                        let what = format!("channel {channel} is received where it may not be sent");
                        report(recv.op, what, Some((send.op, "sent in a branch")));
                    }
                }
                _ => {}
            }
        }
        if fits {
            self.check_waits(cx);
        }
        self.ends.len() as u64
    }

    /// Checks that nothing waits for itself.
    fn check_waits(&mut self, cx: &PassCx<'_>) {
        for ends in self.ends.values() {
            for (send, recv) in ends.sends.iter().zip(&ends.recvs) {
                self.waits[recv.node].push(send.node);
            }
        }
        let Some(circle) = circle(&self.waits) else { return };
        let circle: FxHashSet<NodeId> = circle.into_iter().collect();
        let of_circle = |(&(channel, _), ends): (&(i64, PathId), &CrossingEnds)| {
            let recv = ends.recvs.first().filter(|recv| circle.contains(&recv.node))?;
            Some((channel, recv.op))
        };
        let recvs: Vec<(i64, OpId)> = self.ends.iter().filter_map(of_circle).collect();
        let channels: Vec<String> = recvs.iter().map(|(channel, _)| channel.to_string()).collect();
        let what = format!("the parts wait for each other in a circle, by channels {}", channels.join(", "));
        if let Some(&(_, first)) = recvs.first() {
            let other = recvs.get(1).map(|&(_, op)| (op, "which waits for this"));
            cx.report(errors::unfit(self.m, first, &what, other));
        }
    }
}

/// The types of what crosses on a channel.
fn types_text(m: &Module, types: &[TypeId]) -> String {
    types.iter().map(|&ty| type_text(&m.cx, ty)).collect::<Vec<_>>().join(", ")
}

/// True for the `dev.enter` of a loop.
fn is_loop(m: &Module, enter: OpId) -> bool {
    m.users(m.result(enter, 0)).any(|(user, _)| {
        Control::of(m, user) == Some(Control::While) || Primitive::of(m, user) == Some(Primitive::Enter)
    })
}

fn channel(m: &Module, op: OpId) -> i64 {
    m.attr_named(op, "channel").and_then(|attr| m.cx.as_int(attr)).unwrap_or(0)
}

/// The nodes of a circle, if there is one.
fn circle(waits: &[Vec<NodeId>]) -> Option<Vec<NodeId>> {
    let mut left: Vec<usize> = waits.iter().map(Vec::len).collect();
    let mut users: Vec<Vec<NodeId>> = vec![Vec::new(); waits.len()];
    for (node, waits) in waits.iter().enumerate() {
        waits.iter().for_each(|&wait| users[wait].push(node));
    }
    let mut ready: Vec<NodeId> = (0..waits.len()).filter(|&node| left[node] == 0).collect();
    while let Some(node) = ready.pop() {
        for &user in &users[node] {
            left[user] -= 1;
            if left[user] == 0 {
                ready.push(user);
            }
        }
    }
    // Everything that is left waits for something that is left.
    let mut node = left.iter().position(|&left| left > 0)?;
    let mut at: FxHashMap<NodeId, usize> = FxHashMap::default();
    let mut way = Vec::new();
    while !at.contains_key(&node) {
        at.insert(node, way.len());
        way.push(node);
        node = waits[node].iter().copied().find(|&wait| left[wait] > 0)?;
    }
    Some(way.split_off(at[&node]))
}
