//! The two passes over a block.
//!
//! Streams are sets that are merged, so each op remembers the first that it was put into, and sets know into which they went. What depends on
//! what is kept with both of its ends: then whether the children of an op depend on one another shows in the lists of all but the longest, and
//! all of them together take time in proportion to their length and its logarithm.

use super::{Stream, StreamOptions, Streams};
use crate::dialects::Traits;
use crate::ir::{BlockId, KnownType, Module, OpId};

/// Analyses the blocks of a module; keeps its room between them.
pub struct Analysis<'m> {
    pub(super) m: &'m Module,
    /// Node of each op of the block that is analysed: its position + 1, as node 0 is the root.
    nodes: Vec<u32>,
    pub(super) ops: Vec<OpId>,
}

/// The root's node.
const ROOT: u32 = 0;
/// No node, no stream.
const NONE: u32 = u32::MAX;

impl<'m> Analysis<'m> {
    /// For the blocks of a module.
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
        let mut build = Build::new(self.ops.len() + 1);
        for (node, &op) in (1..).zip(&self.ops) {
            self.forward(node, op, options, &mut build);
        }
        let longest = build.path.iter().copied().max().unwrap_or(1);
        for node in (0..=self.ops.len() as u32).rev() {
            build.backward(node, options, longest);
        }
        for op in &self.ops {
            self.nodes[op.0 as usize] = NONE;
        }
        build.finish()
    }

    /// Hangs an op from one that defines an operand.
    fn forward(&self, node: u32, op: OpId, options: &StreamOptions, build: &mut Build) {
        let m = self.m;
        let definer = |value| match m.defining_op(value) {
            // What is defined elsewhere is there when the block begins.
            Some(op) => Some(self.nodes[op.0 as usize]).filter(|&it| it < node).unwrap_or(ROOT),
            None => ROOT,
        };
        let mut parent = ROOT;
        for value in m.operands(op) {
            let candidate = definer(value);
            if build.path[candidate as usize] > build.path[parent as usize] {
                parent = candidate;
            }
        }
        let cost = options.cost(m, op);
        build.hang(node, parent, cost, m.def(op).is_some_and(|def| def.traits.has(Traits::RETURN)));
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

/// A stream that may be merged yet.
struct Set {
    cost: i64,
    /// The one that it was merged into, else itself.
    merged: u32,
    parent: Option<(u32, u32)>,
    has_return: bool,
    /// Pairs of nodes that depend on one another, the first of which is of this stream.
    depends: Vec<(u32, u32)>,
}

impl Set {
    fn add(&mut self, mut depends: Vec<(u32, u32)>) {
        if depends.len() > self.depends.len() {
            std::mem::swap(&mut depends, &mut self.depends);
        }
        self.depends.append(&mut depends);
    }
}

/// The work in progress. Lists by node.
struct Build {
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
    sets: Vec<Set>,
    /// By stream: the node whose streams it was found among, for a moment.
    asked: Vec<u32>,
}

impl Build {
    fn new(n: usize) -> Build {
        let mut path = vec![0; n];
        path[ROOT as usize] = 1;
        let mut cost = vec![0; n];
        cost[ROOT as usize] = 1;
        Build {
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
        self.path[node as usize] = self.path[parent as usize].saturating_add(cost);
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

    /// The stream that a stream has become.
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

    fn together(&self, a: u32, b: u32) -> i64 {
        self.sets[a as usize].cost.saturating_add(self.sets[b as usize].cost)
    }

    /// Merges two streams, if they may be: the older one stays.
    fn merge(&mut self, a: u32, b: u32, options: &StreamOptions) -> Option<u32> {
        let cost = self.together(a, b);
        if a == b || options.upper_threshold.is_some_and(|upper| cost > upper) {
            return None;
        }
        let (stays, goes) = (a.min(b), a.max(b));
        let gone = &mut self.sets[goes as usize];
        gone.merged = stays;
        let has_return = gone.has_return;
        let depends = std::mem::take(&mut gone.depends);
        let set = &mut self.sets[stays as usize];
        set.cost = cost;
        set.has_return |= has_return;
        set.add(depends);
        Some(stays)
    }

    /// Puts a node into a stream, when all nodes behind it have one.
    fn backward(&mut self, node: u32, options: &StreamOptions, longest: i64) {
        let at = node as usize;
        let mut children = Vec::new();
        let mut child = self.first_child[at];
        while child != NONE {
            children.push(self.set[child as usize]);
            child = self.next_sibling[child as usize];
        }
        if options.merge_inter_dependent && children.len() > 1 {
            self.merge_dependent(node, &mut children, options);
        }
        let path = self.path[at];
        let is_small = |set: &Set| match options.threshold {
            Some(threshold) => set.cost < threshold,
            None => path.saturating_add(set.cost) < longest,
        };
        let (mut kept, mut small) = (Vec::with_capacity(children.len()), None);
        for mut set in children {
            if let Some(other) = small.take() {
                match self.merge(other, set, options) {
                    Some(merged) => set = merged,
                    None => kept.push(other),
                }
            }
            if is_small(&self.sets[set as usize]) {
                small = Some(set);
            } else {
                kept.push(set);
            }
        }
        kept.extend(small);
        let rank = |set: u32| (self.sets[set as usize].has_return, self.sets[set as usize].cost);
        let best = kept.iter().copied().reduce(|best, set| if rank(set) > rank(best) { set } else { best });
        let mut joined = best.unwrap_or_else(|| self.begin());
        if let Some(merged) = small.and_then(|small| self.merge(joined, small, options)) {
            joined = merged;
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

    fn begin(&mut self) -> u32 {
        let new = self.sets.len() as u32;
        self.sets.push(Set { cost: 0, merged: new, parent: None, has_return: false, depends: Vec::new() });
        self.asked.push(NONE);
        new
    }

    /// Merges those of a node's streams that depend on one another.
    fn merge_dependent(&mut self, node: u32, children: &mut Vec<u32>, options: &StreamOptions) {
        let Some(&longest) = children.iter().max_by_key(|&&set| self.sets[set as usize].depends.len()) else {
            return;
        };
        for &set in &*children {
            self.asked[set as usize] = node;
        }
        for &child in &*children {
            if child == longest {
                continue;
            }
            let from = self.find(child);
            let mut depends = std::mem::take(&mut self.sets[from as usize].depends);
            depends.retain(|&(_, other)| {
                let (from, to) = match self.set[other as usize] {
                    NONE => return true,
                    to => (self.find(child), self.find(to)),
                };
                let may_merge = from != to && self.asked[to as usize] == node;
                from != to && !(may_merge && self.merge(from, to, options).is_some())
            });
            let from = self.find(child);
            self.sets[from as usize].add(depends);
        }
        let mut seen = Vec::with_capacity(children.len());
        for child in std::mem::take(children) {
            let set = self.find(child);
            if std::mem::replace(&mut self.asked[set as usize], NONE) == node {
                seen.push(set);
            }
        }
        *children = seen;
    }

    /// Numbers the streams: the root's is 0, the others follow by their last leaf, the last one of the block first.
    fn finish(mut self) -> Streams {
        let root = self.find(self.set[ROOT as usize]);
        let mut ids = vec![NONE; self.sets.len()];
        let mut streams = Vec::new();
        let others = (0..self.sets.len() as u32).filter(|&set| set != root);
        for set in std::iter::once(root).chain(others) {
            if self.sets[set as usize].merged == set {
                ids[set as usize] = streams.len() as u32;
                streams.push(Stream { cost: self.sets[set as usize].cost, parent: None });
            }
        }
        let mut starts = Vec::new();
        for set in 0..self.sets.len() {
            let id = ids[set];
            if let Some((parent, node)) = self.sets[set].parent
                && id != NONE
            {
                let at = node.checked_sub(1);
                starts.push((at, id));
                streams[id as usize].parent = Some((ids[self.find(parent) as usize], at));
            }
        }
        starts.sort_unstable();
        let of = (1..self.set.len()).map(|node| ids[self.find(self.set[node]) as usize]).collect();
        Streams { of, streams, starts }
    }
}
