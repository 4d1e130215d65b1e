//! Nesting of live ops in conditionals, and their order.
//!
//! ```text
//! nodes, each with the literals under which it is live ──▶ steps: nodes, and conditionals of steps
//! ```
//!
//! A region has literals. The nodes with exactly those literals are steps of the region; the others belong to
//! conditionals in it. A conditional contains all nodes with a literal of its predicate whose operands are
//! available, and the selects of its results. So there is one conditional per predicate, unless a node
//! between two of them uses a result of the first. A value inside of a conditional with users behind it
//! *crosses* its border: one branch returns the value, the others a zero.
//!
//! Nodes without effects and without users are left out. A plan changes nothing; `build` executes it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::condition::{Chosen, Conditions, Literal, Literals, Refused, Replaced};
use crate::dialects::tf_executor::frames::inputs;
use crate::dialects::tf_executor::{FETCH, Primitive, is_chain};
use crate::ir::{Module, OpId, Traits, ValueId};
use crate::rewrite::{TopologicalOrder, would_be_trivially_dead};

/// An element of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PlanNode {
    /// An op, which is moved; or the end of a region, which is given its operands.
    Op(OpId),
    /// An op of another region, which is copied.
    Copy(OpId),
    /// The value that a primitive with control edges passes on, once these are final.
    Gate(OpId),
    /// A select, by number.
    Select(usize),
}

/// A part of a plan.
#[derive(Clone, Debug)]
pub(super) enum PlanStep {
    /// A node that is no select.
    PlanNode(PlanNode),
    /// A conditional.
    Branch(Branch),
}

/// A conditional.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) predicate: ValueId,
    pub(super) branches: Vec<Vec<PlanStep>>,
    /// The selects of its results.
    pub(super) selects: Vec<usize>,
    pub(super) crossing: Crossing,
}

/// The results of a conditional: values inside of it that later steps use.
#[derive(Clone, Debug, Default)]
pub(super) struct Crossing {
    /// Values, with their branches.
    pub(super) values: Vec<(ValueId, usize)>,
    /// Values that are operands of a select, whose result stands for them.
    pub(super) chosen: Vec<(ValueId, usize)>,
    /// Completions of ops, joined to that of the conditional.
    pub(super) chains: Vec<ValueId>,
}

/// Nodes with what they depend on.
pub(super) struct Nodes<'a> {
    m: &'a Module,
    conditions: &'a Conditions,
    list: Vec<PlanNode>,
    of: FxHashMap<PlanNode, usize>,
    literals: Vec<Literals>,
    /// The values that each node uses, with their producers among the nodes.
    uses: Vec<Vec<(ValueId, Option<usize>)>>,
    /// The users of each node.
    users: Vec<Vec<(usize, ValueId)>>,
}

/// True if a node without users must stay.
fn is_wanted(m: &Module, node: PlanNode) -> bool {
    match node {
        PlanNode::Op(op) => {
            let is_end = Primitive::of(m, op).is_some() || m.op_name_str(op) == FETCH;
            is_end || !would_be_trivially_dead(m, op)
        }
        PlanNode::Copy(_) | PlanNode::Gate(_) | PlanNode::Select(_) => false,
    }
}

impl<'a> Nodes<'a> {
    /// The wanted ones of these nodes, and what they need, in the order of their dependencies.
    ///
    /// # Errors
    /// An op that depends on itself.
    pub(super) fn new(
        m: &'a Module,
        conditions: &'a Conditions,
        given: Vec<(PlanNode, Literals)>,
    ) -> Result<Nodes<'a>, Refused> {
        let mut nodes = Nodes {
            m,
            conditions,
            list: Vec::new(),
            of: FxHashMap::default(),
            literals: Vec::new(),
            uses: Vec::new(),
            users: Vec::new(),
        };
        nodes.set(given);
        let mut needed: FxHashSet<usize> = FxHashSet::default();
        let mut todo: Vec<usize> = (0..nodes.list.len()).filter(|&i| is_wanted(m, nodes.list[i])).collect();
        while let Some(i) = todo.pop() {
            if needed.insert(i) {
                todo.extend(nodes.uses[i].iter().filter_map(|&(_, from)| from));
            }
        }
        let order = nodes.order(&needed)?;
        let sorted = order.into_iter().map(|i| (nodes.list[i], nodes.literals[i].clone())).collect();
        nodes.set(sorted);
        Ok(nodes)
    }

    fn set(&mut self, nodes: Vec<(PlanNode, Literals)>) {
        self.of = nodes.iter().enumerate().map(|(i, &(node, _))| (node, i)).collect();
        (self.list, self.literals) = nodes.into_iter().unzip();
        self.uses = (0..self.list.len()).map(|i| self.uses_of(i)).collect();
        self.users = vec![Vec::new(); self.list.len()];
        for (user, uses) in self.uses.iter().enumerate() {
            for &(value, from) in uses {
                if let Some(from) = from {
                    self.users[from].push((user, value));
                }
            }
        }
    }

    /// The numbers of these nodes in the order of their dependencies, else in the given one.
    fn order(&self, needed: &FxHashSet<usize>) -> Result<Vec<usize>, Refused> {
        let n_missing = |i: usize| self.uses[i].iter().filter(|(_, from)| from.is_some()).count();
        let mut order = TopologicalOrder::new();
        needed.iter().for_each(|&i| order.add(i, n_missing(i)));
        let found = order.take_all(|i| self.users[i].iter().map(|&(user, _)| user));
        match order.waiting().min() {
            None => Ok(found),
            Some(i) => Err((self.op(i), "it waits for itself when its loop is one operation".to_owned())),
        }
    }

    /// The op of a node.
    fn op(&self, i: usize) -> OpId {
        match self.list[i] {
            PlanNode::Op(op) | PlanNode::Copy(op) | PlanNode::Gate(op) => op,
            PlanNode::Select(select) => self.conditions.selects[select].op,
        }
    }

    /// The values that a node uses, its predicates included, with their producers.
    fn uses_of(&self, i: usize) -> Vec<(ValueId, Option<usize>)> {
        let (m, conditions) = (self.m, self.conditions);
        let here = &self.literals[i];
        let mut found = Vec::new();
        let mut add = |value: ValueId, literals: &[Literal]| {
            for value in conditions.waited_for(m, value, literals) {
                found.push((value, self.node_of(value)));
            }
        };
        here.iter().for_each(|&(predicate, _)| add(predicate, here));
        let mut chosen: Vec<usize> = Vec::new();
        match self.list[i] {
            PlanNode::Op(op) | PlanNode::Copy(op) if m.traits(op).has(Traits::CONSTANT) => {}
            PlanNode::Op(op) | PlanNode::Copy(op) => {
                let is_fetch = m.op_name_str(op) == FETCH;
                for (i, value) in inputs(m, op).into_iter().enumerate() {
                    match conditions.select_of(op, Replaced::Operand(i)).filter(|_| is_fetch) {
                        Some(select) => chosen.push(select),
                        None => add(value, here),
                    }
                }
            }
            PlanNode::Gate(op) => {
                match conditions.select_of(op, Replaced::Result(m.result(op, 0))) {
                    Some(select) => chosen.push(select),
                    None => add(super::gated(m, conditions, op), here),
                }
                m.operands(op).filter(|&value| is_chain(m, value)).for_each(|edge| add(edge, here));
            }
            PlanNode::Select(select) => {
                let select = &conditions.selects[select];
                add(select.predicate, here);
                for (branch, &source) in select.of.iter().enumerate() {
                    match source {
                        Chosen::Input(op, i) => {
                            let mut there = here.clone();
                            there.push((select.predicate, branch));
                            add(m.operand(op, i), &there);
                        }
                        Chosen::Select(inner) => chosen.push(inner),
                        Chosen::Number(_) | Chosen::Dead(..) => {}
                    }
                }
            }
        }
        let node = |select: usize| self.of.get(&PlanNode::Select(select)).copied();
        found.extend(chosen.into_iter().map(|select| (conditions.selects[select].predicate, node(select))));
        found
    }

    /// The producer of a value.
    fn node_of(&self, value: ValueId) -> Option<usize> {
        let m = self.m;
        let op = m.defining_op(value)?;
        let select = self.conditions.select_of(op, Replaced::Result(value)).map(PlanNode::Select);
        // The number of a Merge's live input passes no gate.
        let passes = m.result(op, 0) == value || select.is_none();
        let gate = Some(PlanNode::Gate(op)).filter(|_| passes);
        let nodes = [gate, Some(PlanNode::Op(op)), Some(PlanNode::Copy(op)), select];
        nodes.into_iter().flatten().find_map(|node| self.of.get(&node).copied())
    }

    /// The steps of a region with these literals, which all nodes have.
    ///
    /// # Errors
    /// An op whose place is not found, with the reason.
    pub(super) fn plan(&self, region: &Literals) -> Result<Vec<PlanStep>, Refused> {
        let all: Vec<usize> = (0..self.list.len()).collect();
        Planner { nodes: self, is_left: vec![true; self.list.len()] }.region(&all, region)
    }
}

struct Planner<'n, 'a> {
    nodes: &'n Nodes<'a>,
    /// The nodes that are not placed yet.
    is_left: Vec<bool>,
}

impl Planner<'_, '_> {
    fn region(&mut self, nodes: &[usize], region: &Literals) -> Result<Vec<PlanStep>, Refused> {
        let of = self.nodes;
        // The nodes by the predicates of their further literals; a select counts for its own predicate too.
        let mut by_predicate: Vec<(ValueId, Vec<usize>)> = Vec::new();
        let mut at: FxHashMap<ValueId, usize> = FxHashMap::default();
        // The nodes that are no part of a conditional.
        let mut ready = TopologicalOrder::new();
        for &i in nodes {
            let literals = of.literals[i].iter().filter(|literal| !region.contains(literal));
            let own = self.choice(i);
            for predicate in literals.map(|&(p, _)| p).chain(own) {
                let n = *at.entry(predicate).or_insert_with(|| {
                    by_predicate.push((predicate, Vec::new()));
                    by_predicate.len() - 1
                });
                by_predicate[n].1.push(i);
            }
            if own.is_none() && of.literals[i].len() == region.len() {
                ready.add(i, self.left(i).count());
            }
        }
        let mut steps = Vec::new();
        loop {
            while let Some(i) = ready.take() {
                steps.push(PlanStep::PlanNode(of.list[i]));
                self.is_left[i] = false;
                ready.placed(of.users[i].iter().map(|&(user, _)| user));
            }
            by_predicate.retain(|(_, nodes)| nodes.iter().any(|&i| self.is_left[i]));
            let Some((predicate, closure)) = self.next(&by_predicate, region) else { break };
            let branch = self.branch(predicate, &closure, region)?;
            for &i in &closure {
                self.is_left[i] = false;
                ready.placed(of.users[i].iter().map(|&(user, _)| user));
            }
            steps.push(PlanStep::Branch(branch));
        }
        match nodes.iter().find(|&&i| self.is_left[i]) {
            None => Ok(steps),
            Some(&i) => Err((of.op(i), "no order of the conditionals has all its inputs".to_owned())),
        }
    }

    /// The predicate of a select.
    fn choice(&self, i: usize) -> Option<ValueId> {
        match self.nodes.list[i] {
            PlanNode::Select(select) => Some(self.nodes.conditions.selects[select].predicate),
            _ => None,
        }
    }

    /// The producers of a node that are not placed yet.
    fn left(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        self.nodes.uses[i].iter().filter_map(|&(_, from)| from).filter(|&from| self.is_left[from])
    }

    /// The next conditional: its predicate and its nodes. The first for which nothing remains, else the one
    /// with the most nodes.
    fn next(
        &self,
        by_predicate: &[(ValueId, Vec<usize>)],
        region: &Literals,
    ) -> Option<(ValueId, Vec<usize>)> {
        let of = self.nodes;
        let mut best: Option<(ValueId, Vec<usize>)> = None;
        for (predicate, nodes) in by_predicate {
            if !self.is_known(*predicate) {
                continue;
            }
            let wanted = self.not_inner(*predicate, nodes, region);
            let mut closure: Vec<usize> = Vec::new();
            let mut inside: FxHashSet<usize> = FxHashSet::default();
            // The result of a select is available behind its conditional only.
            let is_inside = |from: usize, inside: &FxHashSet<usize>| {
                let is_result =
                    self.choice(from) == Some(*predicate) && of.literals[from].len() == region.len();
                inside.contains(&from) && !is_result
            };
            for &i in &wanted {
                if self.left(i).all(|from| is_inside(from, &inside)) && inside.insert(i) {
                    closure.push(i);
                }
            }
            if closure.len() > best.as_ref().map_or(0, |(_, best)| best.len()) {
                let is_all = closure.len() == wanted.len();
                best = Some((*predicate, closure));
                if is_all {
                    break;
                }
            }
        }
        best
    }

    /// The nodes of a predicate but for those of inner conditionals: of choices by it that belong to a
    /// branch of another predicate.
    fn not_inner(&self, predicate: ValueId, nodes: &[usize], region: &Literals) -> Vec<usize> {
        let of = self.nodes;
        let has = |i: usize| of.literals[i].iter().any(|&(p, _)| p == predicate);
        let is_inner_choice =
            |i: usize| self.choice(i) == Some(predicate) && of.literals[i].len() > region.len() && !has(i);
        let mut inner: FxHashSet<usize> = FxHashSet::default();
        for &i in nodes.iter().rev().filter(|&&i| self.is_left[i]) {
            let is_inner_user =
                |&(user, _): &(usize, ValueId)| is_inner_choice(user) || inner.contains(&user);
            let users = &of.users[i];
            // A node without further literals must be in this conditional.
            let may_wait = of.literals[i].len() > region.len() + 1 && !users.is_empty();
            if is_inner_choice(i) || may_wait && users.iter().all(is_inner_user) {
                inner.insert(i);
            }
        }
        nodes.iter().copied().filter(|&i| self.is_left[i] && !inner.contains(&i)).collect()
    }

    /// True if the producer of a predicate is placed.
    fn is_known(&self, predicate: ValueId) -> bool {
        let from = self.nodes.node_of(self.nodes.conditions.behind(predicate));
        from.is_none_or(|from| !self.is_left[from])
    }

    /// A conditional with these nodes.
    fn branch(
        &mut self,
        predicate: ValueId,
        closure: &[usize],
        region: &Literals,
    ) -> Result<Branch, Refused> {
        let of = self.nodes;
        let n = of.conditions.predicate(predicate).map_or(0, |predicate| predicate.branches);
        let (mut branches, mut selects) = (vec![Vec::new(); n], Vec::new());
        for &i in closure {
            match (of.list[i], of.literals[i].iter().find(|&&(p, _)| p == predicate)) {
                (_, Some(&(_, branch))) => branches[branch].push(i),
                (PlanNode::Select(select), None) => selects.push(select),
                (_, None) => return Err((of.op(i), "it is in no branch".to_owned())),
            }
        }
        let crossing = self.crossing(&branches, closure, &selects)?;
        let mut planned = Vec::new();
        for (branch, nodes) in branches.iter().enumerate() {
            let mut literals = region.clone();
            literals.push((predicate, branch));
            literals.sort_unstable();
            planned.push(self.region(nodes, &literals)?);
        }
        Ok(Branch { predicate, branches: planned, selects, crossing })
    }

    /// The values and chains of branches with users outside.
    fn crossing(
        &self,
        branches: &[Vec<usize>],
        closure: &[usize],
        selects: &[usize],
    ) -> Result<Crossing, Refused> {
        let (of, m) = (self.nodes, self.nodes.m);
        let closure: FxHashSet<usize> = closure.iter().copied().collect();
        let mut crossing = Crossing::default();
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        for (branch, nodes) in branches.iter().enumerate() {
            for &(user, value) in nodes.iter().flat_map(|&i| &of.users[i]) {
                if closure.contains(&user) || !seen.insert(value) {
                    continue;
                }
                if is_chain(m, value) {
                    crossing.chains.push(value);
                } else if let Some(select) = self.choice_of(value, branch, selects) {
                    crossing.chosen.push((value, select));
                } else if super::build::has_zero(m, m.value_type(value)) {
                    crossing.values.push((value, branch));
                } else {
                    let shown = super::shown(m, value);
                    return Err((of.op(user), format!("it uses {shown}, which is in another conditional")));
                }
            }
        }
        Ok(crossing)
    }

    /// The select among these that has the value as its operand for a branch.
    fn choice_of(&self, value: ValueId, branch: usize, selects: &[usize]) -> Option<usize> {
        let Nodes { m, conditions, .. } = *self.nodes;
        let has = |&select: &usize| {
            let select = &conditions.selects[select];
            let mut literals = select.when.clone();
            literals.push((select.predicate, branch));
            let Chosen::Input(op, i) = select.of[branch] else { return false };
            conditions.behind_under(m, m.operand(op, i), &literals) == value
        };
        selects.iter().copied().find(has)
    }
}
