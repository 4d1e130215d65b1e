//! The two passes over a block.
//!
//! Streams are disjoint sets (union-find): each op refers to its first stream, and a merged stream refers to
//! the stream that it was merged into, which keeps its number, as in TFRT. Each dependence is recorded with
//! both of its streams. So dependences among the children of an op are found in the lists of all streams but
//! the longest, and all of these searches together take time n log n in the lengths of the lists.

use super::{Stream, StreamOptions, Streams};
use crate::dialects::Traits;
use crate::ir::{BlockId, KnownType, Module, OpId};

/// Stream analysis of the blocks of a module. Buffers are reused between blocks.
pub struct Analysis<'m> {
    pub(super) m: &'m Module,
    /// Node of each op of the analysed block: its position + 1, as node 0 is the root.
    nodes: Vec<u32>,
    pub(super) ops: Vec<OpId>,
}

/// The root's node.
const ROOT: u32 = 0;
/// No node or no stream.
const NONE: u32 = u32::MAX;

impl<'m> Analysis<'m> {
    /// An analysis for the blocks of a module.
    pub fn new(m: &'m Module) -> Analysis<'m> {
        Analysis { m, nodes: Vec::new(), ops: Vec::new() }
    }

    /// The ops of the block that was analysed last.
    pub fn ops(&self) -> &[OpId] {
        &self.ops
    }

    /// The streams of a block.
    pub fn block(&mut self, block: BlockId, options: &StreamOptions) -> Streams {
        let m = self.m;
        self.nodes.resize(m.n_op_ids(), NONE);
        self.ops.clear();
        self.ops.extend(m.ops_in(block));
        for (node, op) in (1..).zip(&self.ops) {
            self.nodes[op.0 as usize] = node;
        }
        let mut build = Build::new(self.ops.len() + 1, options);
        for (node, &op) in (1..).zip(&self.ops) {
            self.forward(node, op, &mut build);
        }
        let longest = build.path.iter().copied().max().unwrap_or(1);
        for node in (0..=self.ops.len() as u32).rev() {
            build.backward(node, longest);
        }
        for op in &self.ops {
            self.nodes[op.0 as usize] = NONE;
        }
        build.finish()
    }

    /// Attaches an op to a parent among the definitions of its operands.
    fn forward(&self, node: u32, op: OpId, build: &mut Build<'_>) {
        let (m, options) = (self.m, build.options);
        let definer = |value| match m.defining_op(value) {
            // Values defined elsewhere are available when the block begins.
            Some(op) => Some(self.nodes[op.0 as usize]).filter(|&it| it < node).unwrap_or(ROOT),
            None => ROOT,
        };
        let mut last: Option<u32> = None;
        for candidate in m.operands(op).map(definer) {
            if last.is_none_or(|last| build.path[candidate as usize] > build.path[last as usize]) {
                last = Some(candidate);
            }
        }
        let parent = last.unwrap_or(ROOT);
        let cost = options.cost(m, op);
        // An op without operands does not wait for the root.
        let available = last.map_or(0, |last| build.path[last as usize]);
        build.path[node as usize] = available.saturating_add(cost);
        build.hang(node, parent, cost, m.traits(op).has(Traits::RETURN));
        if options.merge_inter_dependent {
            for value in m.operands(op) {
                let other = definer(value);
                if other != ROOT && other != parent && m.value_type(value) != KnownType::Chain.id() {
                    build.depend(node, other);
                }
            }
        }
    }
}

/// A stream during the analysis.
struct StreamSet {
    cost: i64,
    /// The stream that it was merged into, else itself.
    merged: u32,
    parent: Option<(u32, u32)>,
    has_return: bool,
    /// Pairs of dependent nodes, of which the first is in this stream.
    depends: Vec<(u32, u32)>,
}

impl StreamSet {
    fn add(&mut self, mut depends: Vec<(u32, u32)>) {
        if depends.len() > self.depends.len() {
            std::mem::swap(&mut depends, &mut self.depends);
        }
        self.depends.append(&mut depends);
    }
}

/// The state of an analysis. Lists are by node.
struct Build<'o> {
    options: &'o StreamOptions,
    cost: Vec<i64>,
    /// The cost of the longest path from the root to here.
    path: Vec<i64>,
    is_return: Vec<bool>,
    /// Children, in program order.
    first_child: Vec<u32>,
    last_child: Vec<u32>,
    next_sibling: Vec<u32>,
    depends: Vec<Vec<u32>>,
    set: Vec<u32>,
    sets: Vec<StreamSet>,
    /// By stream: the node whose streams are being examined and contain it, and its index among them.
    asked: Vec<(u32, u32)>,
}

/// The criterion for small streams, at the op where streams meet.
#[derive(Clone, Copy)]
enum SmallCriterion {
    /// By the threshold.
    Cost(i64),
    /// By the longest path of the function, and the path to the op.
    Path { longest: i64, here: i64 },
}

impl SmallCriterion {
    /// The cost from which on a stream is not small.
    fn limit(self) -> i64 {
        match self {
            SmallCriterion::Cost(threshold) => threshold,
            SmallCriterion::Path { longest, .. } => longest,
        }
    }

    fn is_small(self, set: &StreamSet) -> bool {
        match self {
            SmallCriterion::Cost(threshold) => set.cost < threshold,
            SmallCriterion::Path { longest, here } => here.saturating_add(set.cost) < longest,
        }
    }

    /// The criterion for a small stream that another small one is merged into: it is small itself or, without
    /// a threshold, both in sequence are.
    fn takes(self, open: &StreamSet, other: &StreamSet, merges_left_over: bool) -> bool {
        match self {
            SmallCriterion::Path { longest, here } if !merges_left_over => {
                here.saturating_add(open.cost).saturating_add(other.cost) < longest
            }
            _ => self.is_small(open),
        }
    }
}

impl<'o> Build<'o> {
    fn new(n: usize, options: &'o StreamOptions) -> Build<'o> {
        let mut path = vec![0; n];
        path[ROOT as usize] = 1;
        let mut cost = vec![0; n];
        cost[ROOT as usize] = 1;
        Build {
            options,
            cost,
            path,
            is_return: vec![false; n],
            first_child: vec![NONE; n],
            last_child: vec![NONE; n],
            next_sibling: vec![NONE; n],
            depends: Vec::new(),
            set: vec![NONE; n],
            sets: Vec::new(),
            asked: Vec::new(),
        }
    }

    fn hang(&mut self, node: u32, parent: u32, cost: i64, is_return: bool) {
        self.cost[node as usize] = cost;
        self.is_return[node as usize] = is_return;
        match std::mem::replace(&mut self.last_child[parent as usize], node) {
            NONE => self.first_child[parent as usize] = node,
            last => self.next_sibling[last as usize] = node,
        }
    }

    fn depend(&mut self, node: u32, other: u32) {
        self.depends.resize_with(self.cost.len(), Vec::new);
        self.depends[node as usize].push(other);
        self.depends[other as usize].push(node);
    }

    /// The stream that a stream has been merged into.
    fn find(&mut self, set: u32) -> u32 {
        let mut root = set;
        while self.sets[root as usize].merged != root {
            root = self.sets[root as usize].merged;
        }
        let mut at = set;
        while at != root {
            at = std::mem::replace(&mut self.sets[at as usize].merged, root);
        }
        root
    }

    /// Merges a stream into another one.
    fn merge(&mut self, from: u32, into: u32) {
        let gone = &mut self.sets[from as usize];
        gone.merged = into;
        let (cost, has_return) = (gone.cost, gone.has_return);
        let depends = std::mem::take(&mut gone.depends);
        let set = &mut self.sets[into as usize];
        set.cost = set.cost.saturating_add(cost);
        set.has_return |= has_return;
        set.add(depends);
    }

    /// Assigns a stream to a node after all of its descendants have one.
    fn backward(&mut self, node: u32, longest: i64) {
        let at = node as usize;
        let mut children = Vec::new();
        let mut child = self.first_child[at];
        while child != NONE {
            children.push(self.set[child as usize]);
            child = self.next_sibling[child as usize];
        }
        let small = match self.options.threshold {
            Some(threshold) => SmallCriterion::Cost(threshold),
            None => SmallCriterion::Path { longest, here: self.path[at] },
        };
        if self.options.merge_inter_dependent && children.len() > 1 {
            self.merge_dependent(node, &mut children, small);
        }
        let (mut kept, mut best) = (Vec::with_capacity(children.len()), None);
        let mut open: Option<u32> = None;
        let merges_left_over = self.options.merges_left_over;
        for set in children {
            let mut candidate = set;
            let data = &self.sets[set as usize];
            let is_small = small.is_small(data);
            let takes = |open: u32| small.takes(&self.sets[open as usize], data, merges_left_over);
            match open.filter(|&open| is_small && takes(open)) {
                Some(into) => {
                    self.merge(set, into);
                    candidate = into;
                }
                None => {
                    kept.push(set);
                    open = if is_small { Some(set) } else { open };
                }
            }
            best = self.better(best, candidate);
        }
        let joined = best.map_or_else(|| self.begin(), |(set, ..)| set);
        // The last open stream may be left small. With a threshold the op joins it, unless the op began a new
        // stream because it could not join any.
        if let Some(open) = open
            && (self.options.threshold.is_some() || merges_left_over)
            && best.is_some()
            && open != joined
            && small.is_small(&self.sets[open as usize])
        {
            self.merge(open, joined);
        }
        for set in kept {
            if self.find(set) != joined {
                self.sets[set as usize].parent = Some((joined, node));
            }
        }
        self.set[at] = joined;
        let set = &mut self.sets[joined as usize];
        set.cost = set.cost.saturating_add(self.cost[at]);
        set.has_return |= self.is_return[at];
        if let Some(depends) = self.depends.get_mut(at) {
            set.depends.extend(std::mem::take(depends).into_iter().map(|other| (node, other)));
        }
    }

    /// The preferred stream for an op to join: that of the return, then the most expensive one, then the
    /// first one; none above the upper threshold. Costs are those at the time of the choice.
    fn better(&self, best: Option<(u32, bool, i64)>, candidate: u32) -> Option<(u32, bool, i64)> {
        let StreamSet { cost, has_return, .. } = self.sets[candidate as usize];
        if self.options.upper_threshold.is_some_and(|upper| cost >= upper) {
            return best;
        }
        match best {
            Some((_, returns, most)) if (returns, most) >= (has_return, cost) => best,
            _ => Some((candidate, has_return, cost)),
        }
    }

    fn begin(&mut self) -> u32 {
        let new = self.sets.len() as u32;
        self.sets.push(StreamSet {
            cost: 0,
            merged: new,
            parent: None,
            has_return: false,
            depends: Vec::new(),
        });
        self.asked.push((NONE, 0));
        new
    }

    /// Merges streams of a node that by themselves cost less than the limit into others that depend on them
    /// or that they depend on, until those are no longer small.
    fn merge_dependent(&mut self, node: u32, children: &mut Vec<u32>, small: SmallCriterion) {
        let mut depends = self.dependent(node, children);
        for (i, &child) in children.iter().enumerate() {
            if self.find(child) != child {
                continue;
            }
            let mut others: Vec<u32> =
                std::mem::take(&mut depends[i]).into_iter().map(|other| self.find(other)).collect();
            others.sort_by_key(|&set| (hashed(set), set));
            others.dedup();
            for other in others {
                if other == child || self.sets[other as usize].cost >= small.limit() {
                    continue;
                }
                self.merge(other, child);
                if !small.is_small(&self.sets[child as usize]) {
                    break;
                }
            }
        }
        children.retain(|&child| self.sets[child as usize].merged == child);
    }

    /// For each of a node's streams, the others that it depends on or that depend on it.
    fn dependent(&mut self, node: u32, children: &[u32]) -> Vec<Vec<u32>> {
        let mut depends = vec![Vec::new(); children.len()];
        let longest = children.iter().copied().max_by_key(|&set| self.sets[set as usize].depends.len());
        for (i, &set) in (0..).zip(children) {
            self.asked[set as usize] = (node, i);
        }
        for (i, &child) in children.iter().enumerate() {
            if Some(child) == longest {
                continue;
            }
            let mut pairs = std::mem::take(&mut self.sets[child as usize].depends);
            pairs.retain(|&(_, other)| {
                let other = match self.set[other as usize] {
                    NONE => return true,
                    set => self.find(set),
                };
                if let (asked, j) = self.asked[other as usize]
                    && asked == node
                    && other != child
                {
                    depends[i].push(other);
                    if Some(other) == longest {
                        depends[j as usize].push(child);
                    }
                }
                other != child
            });
            self.sets[child as usize].depends = pairs;
        }
        depends
    }

    /// Numbers the streams: the root's is 0, the others follow in the order of their numbers in TFRT.
    fn finish(mut self) -> Streams {
        let root = self.find(self.set[ROOT as usize]);
        let mut ids = vec![NONE; self.sets.len()];
        let mut streams = Vec::new();
        let others = (0..self.sets.len() as u32).filter(|&set| set != root);
        for set in std::iter::once(root).chain(others) {
            if self.sets[set as usize].merged == set {
                ids[set as usize] = streams.len() as u32;
                streams.push(Stream { number: set, cost: self.sets[set as usize].cost, parent: None });
            }
        }
        let of: Vec<u32> = (1..self.set.len()).map(|node| ids[self.find(self.set[node]) as usize]).collect();
        let mut starts = Vec::new();
        let mut is_known = vec![false; streams.len()];
        for &id in &of {
            let set = streams[id as usize].number as usize;
            if !std::mem::replace(&mut is_known[id as usize], true)
                && let Some((parent, node)) = self.sets[set].parent
            {
                let at = node.checked_sub(1);
                starts.push((at, id));
                streams[id as usize].parent = Some((ids[self.find(parent) as usize], at));
            }
        }
        starts.sort_by_key(|&(at, _)| at);
        Streams { of, streams, starts }
    }
}

/// The order in which TFRT merges streams: that of a hash table with 64 buckets.
fn hashed(set: u32) -> u32 {
    set.wrapping_mul(37) % 64
}
