//! The parts that need each argument, and that have ops in each function.
//!
//! ```text
//! an op                     its own part, with its data operands
//! a call, a branch          all parts of the callees; an argument goes to the parts that read it there
//! a loop                    all parts of condition and body, and the homes of its variables
//! ```
//!
//! An argument of a function goes to every part that reads it there, so it does not cross inside of the
//! function; likewise an invariant of a loop. A variable that a loop changes has one home, and crosses in
//! each iteration. All branches of an op have the same parts and arguments. The sets only grow; the rules are
//! applied to a function once, callees first, and again when the sets of one of its callees have grown.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::primitives::origin;
use crate::device::homes::{Homes, block_of, function_attr};
use crate::device::specs::DeviceIndex;
use crate::device::{body_with_graphs, is_branch, is_everywhere, ops_with_graphs};
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::{self, FETCH, GRAPH};
use crate::graph::effects::callees;
use crate::ir::{Module, OpId, StrId, ValueId};

/// Number of a part.
pub(super) type PartIndex = usize;

/// The parts of a function.
#[derive(Clone, Default)]
pub(super) struct FunctionParts {
    /// The parts that have ops in it.
    pub(super) members: BTreeSet<PartIndex>,
    /// For each argument, the parts that take it.
    pub(super) takes: Vec<BTreeSet<PartIndex>>,
    /// For each argument, the parts that read it other than as a predicate.
    reads: Vec<BTreeSet<PartIndex>>,
    /// The arguments that have one home, since a loop changes them.
    homed: Vec<bool>,
}

/// The parts of all functions.
pub(super) struct Reach<'a> {
    pub(super) homes: &'a Homes<'a>,
    /// The part of each device.
    pub(super) part_of: &'a [PartIndex],
    pub(super) functions: FxHashMap<StrId, FunctionParts>,
    /// The number of ops that refer to each function.
    pub(super) n_sites: FxHashMap<StrId, usize>,
    /// The roles of functions that ops refer to.
    roles: FxHashMap<StrId, Role>,
    /// The branches, each with its place in the order of the program.
    branches: FxHashMap<OpId, usize>,
    /// The first branch by each predicate in each part.
    deciding: FxHashMap<(ValueId, PartIndex), usize>,
}

/// The role of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Role {
    /// The condition of a loop: all parts return it.
    Condition,
    /// The body of a loop: a part returns the variables that it takes.
    Body,
    /// Any other function.
    Other,
}

impl<'a> Reach<'a> {
    /// The parts of a module's functions.
    pub(super) fn of_module(m: &Module, homes: &'a Homes<'a>, part_of: &'a [PartIndex]) -> Reach<'a> {
        let (functions, n_sites, roles) = Default::default();
        let (branches, deciding) = Default::default();
        let mut reach = Reach { homes, part_of, functions, n_sites, roles, branches, deciding };
        let mut order: Vec<(StrId, OpId)> = homes.functions.iter().map(|(&name, &op)| (name, op)).collect();
        order.sort_by_key(|&(_, op)| std::cmp::Reverse(op.0));
        for &(name, function) in &order {
            let n = block_of(m, function).map_or(0, |block| m.args(block).len());
            let [takes, reads] = [0; 2].map(|_| vec![BTreeSet::new(); n]);
            let of = FunctionParts { members: BTreeSet::new(), takes, reads, homed: vec![false; n] };
            reach.functions.insert(name, of);
        }
        let mut callers: FxHashMap<StrId, Vec<StrId>> = FxHashMap::default();
        for &(caller, function) in &order {
            for op in body_with_graphs(m, function) {
                let names: FxHashSet<StrId> = callees(m, op).into_iter().collect();
                for name in names {
                    *reach.n_sites.entry(name).or_default() += 1;
                    callers.entry(name).or_default().push(caller);
                }
                reach.roles.extend(roles_of(m, op));
                if Control::of(m, op) == Some(Control::While) {
                    reach.carry(m, op);
                }
            }
        }
        let mut todo: VecDeque<StrId> = order.iter().map(|&(name, _)| name).collect();
        let mut waiting: FxHashSet<StrId> = todo.iter().copied().collect();
        while let Some(name) = todo.pop_front() {
            waiting.remove(&name);
            for grown in reach.grow(m, name) {
                let callers = callers.get(&grown).into_iter().flatten();
                todo.extend(callers.filter(|&&caller| waiting.insert(caller)));
            }
        }
        let ops = order.iter().flat_map(|&(_, function)| body_with_graphs(m, function));
        for (at, op) in ops.filter(|&op| is_branch(m, op)).enumerate() {
            reach.branches.insert(op, at);
            for part in reach.members(m, op) {
                reach.deciding.entry((m.operand(op, 0), part)).or_insert(at);
            }
        }
        reach
    }

    /// True if a part has the predicate of a branch before it comes to that: it makes it, or has ops in an
    /// earlier branch by it.
    pub(super) fn knows_predicate(&self, m: &Module, op: OpId, part: PartIndex) -> bool {
        let predicate = m.operand(op, 0);
        let earlier = self.deciding.get(&(predicate, part)).zip(self.branches.get(&op));
        self.home(m, predicate) == Some(part) || earlier.is_some_and(|(first, at)| first < at)
    }

    fn part(&self, device: DeviceIndex) -> PartIndex {
        self.part_of[usize::from(device)]
    }

    /// The role of a function.
    pub(super) fn role(&self, function: StrId) -> Role {
        self.roles.get(&function).copied().unwrap_or(Role::Other)
    }

    /// The part of an op.
    pub(super) fn part_of_op(&self, m: &Module, op: OpId) -> PartIndex {
        self.part(self.homes.device(m, op))
    }

    /// The part that has a value; `None` for a constant, which all have.
    pub(super) fn home(&self, m: &Module, value: ValueId) -> Option<PartIndex> {
        self.homes.home(m, value).map(|device| self.part(device))
    }

    /// The parts of a function's results.
    pub(super) fn results(&self, function: StrId) -> Vec<PartIndex> {
        self.homes.results(function).iter().map(|home| home.map_or(0, |device| self.part(device))).collect()
    }

    /// True if a part returns result number `i` of a function.
    pub(super) fn returns(&self, function: StrId, i: usize, part: PartIndex) -> bool {
        match self.role(function) {
            Role::Condition => true,
            Role::Body => self.functions[&function].takes.get(i).is_some_and(|of| of.contains(&part)),
            Role::Other => self.results(function).get(i) == Some(&part),
        }
    }

    /// True if an op reads its data operand number `i` in a part.
    pub(super) fn reads(&self, m: &Module, op: OpId, i: usize, part: PartIndex) -> bool {
        let Some(control) = Control::of(m, op) else { return self.part_of_op(m, op) == part };
        let first = control.first_argument();
        match i < first {
            true => self.members(m, op).contains(&part),
            false => self.takers(m, op, i - first).contains(&part),
        }
    }

    /// Sets the homes of a loop's variables, except for invariants.
    fn carry(&mut self, m: &Module, op: OpId) {
        let names = callees(m, op);
        for i in 0..tf::n_data_operands(m, op) {
            if is_invariant(m, &self.homes.functions, op, i) {
                continue;
            }
            let homes = names.iter().find_map(|&name| self.homes.argument(m, name, i));
            let home = homes.map_or(0, |device| self.part(device));
            for name in &names {
                let Some(of) = self.functions.get_mut(name) else { continue };
                if let (Some(homed), Some(takes)) = (of.homed.get_mut(i), of.takes.get_mut(i)) {
                    *homed = true;
                    takes.insert(home);
                    of.members.insert(home);
                }
            }
        }
    }

    /// Applies the rules to a function once. Returns the functions whose sets have grown.
    fn grow(&mut self, m: &Module, name: StrId) -> Vec<StrId> {
        let Some(block) = block_of(m, self.homes.functions[&name]) else { return Vec::new() };
        let mut grown = Vec::new();
        let args: FxHashMap<ValueId, usize> =
            m.args(block).iter().enumerate().map(|(i, &arg)| (arg, i)).collect();
        let mut members = BTreeSet::new();
        let mut taken: Vec<(usize, PartIndex, bool)> = Vec::new();
        // An invariant enters a loop of a graph in each part that reads it there.
        let mut take_as = |value: ValueId, part: PartIndex, is_read: bool| {
            taken.extend(args.get(&origin(m, value)).map(|&i| (i, part, is_read)));
        };
        for op in ops_with_graphs(m, block) {
            if m.last_op(block) == Some(op) {
                for (value, part) in m.operands(op).zip(self.results(name)) {
                    members.insert(part);
                    take_as(value, part, true);
                }
                continue;
            }
            if m.op_name_str(op) == GRAPH {
                // What a graph fetches goes to the parts that give it.
                let end = tf_executor::block_of(m, op).and_then(|inner| m.last_op(inner));
                let fetched = end.into_iter().flat_map(|end| m.operands(end));
                for (result, value) in m.results(op).zip(fetched) {
                    let part = self.home(m, result).unwrap_or(0);
                    members.insert(part);
                    take_as(value, part, true);
                }
                continue;
            }
            let Some(control) = Control::of(m, op) else {
                if !is_everywhere(m, op) && m.op_name_str(op) != FETCH {
                    let part = self.part_of_op(m, op);
                    members.insert(part);
                    m.operands(op).for_each(|value| take_as(value, part, true));
                }
                continue;
            };
            grown.extend(self.unite(m, op));
            let parts = self.members(m, op);
            let first = control.first_argument();
            let n_data = tf::n_data_operands(m, op);
            for (i, value) in m.operands(op).enumerate() {
                let (all, read) = match i.checked_sub(first).filter(|_| i < n_data) {
                    Some(i) if first == 1 => (self.takers(m, op, i), self.readers(m, op, i)),
                    Some(i) => (self.takers(m, op, i), self.takers(m, op, i)),
                    None if i < first => (parts.clone(), BTreeSet::new()),
                    None => (parts.clone(), parts.clone()),
                };
                all.into_iter().for_each(|part| take_as(value, part, read.contains(&part)));
            }
            members.extend(parts);
        }
        let Some(of) = self.functions.get_mut(&name) else { return grown };
        let mut has_grown = false;
        for (i, part, is_read) in taken {
            has_grown |= is_read && of.reads[i].insert(part);
            if !of.homed[i] {
                has_grown |= of.takes[i].insert(part);
            }
            members.insert(part);
        }
        for part in members {
            has_grown |= of.members.insert(part);
        }
        grown.extend(has_grown.then_some(name));
        grown
    }

    /// Gives all callees of an op the same parts and arguments. Returns those whose sets have grown.
    fn unite(&mut self, m: &Module, op: OpId) -> Vec<StrId> {
        let members = self.members(m, op);
        let names = callees(m, op);
        let n = names.iter().filter_map(|name| self.functions.get(name)).map(|of| of.takes.len()).max();
        let takes: Vec<BTreeSet<PartIndex>> = (0..n.unwrap_or(0)).map(|i| self.takers(m, op, i)).collect();
        let size = |of: &FunctionParts| of.members.len() + of.takes.iter().map(BTreeSet::len).sum::<usize>();
        let mut grown = Vec::new();
        for name in names {
            let Some(of) = self.functions.get_mut(&name) else { continue };
            let before = size(of);
            of.members.extend(&members);
            of.takes.iter_mut().zip(&takes).for_each(|(own, all)| own.extend(all));
            grown.extend((size(of) > before).then_some(name));
        }
        grown
    }

    /// The parts that have ops in an op's callees.
    pub(super) fn members(&self, m: &Module, op: OpId) -> BTreeSet<PartIndex> {
        let all = callees(m, op).into_iter().filter_map(|name| self.functions.get(&name));
        all.flat_map(|of| of.members.iter().copied()).collect()
    }

    /// The parts that read argument number `i` of an op's callees other than as a predicate.
    pub(super) fn readers(&self, m: &Module, op: OpId, i: usize) -> BTreeSet<PartIndex> {
        let all = callees(m, op).into_iter().filter_map(|name| self.functions.get(&name)?.reads.get(i));
        all.flatten().copied().collect()
    }

    /// The parts that take argument number `i` of an op's callees.
    pub(super) fn takers(&self, m: &Module, op: OpId, i: usize) -> BTreeSet<PartIndex> {
        let all = callees(m, op).into_iter().filter_map(|name| self.functions.get(&name)?.takes.get(i));
        all.flatten().copied().collect()
    }
}

/// True if the body of a loop returns its argument number `i` as it is.
pub(super) fn is_invariant(m: &Module, functions: &FxHashMap<StrId, OpId>, op: OpId, i: usize) -> bool {
    let Some(block) = function_attr(m, op, "body")
        .and_then(|name| functions.get(&name))
        .and_then(|&function| block_of(m, function))
    else {
        return false;
    };
    let returned = m.last_op(block).and_then(|end| m.operands(end).nth(i));
    returned.is_some() && returned == m.args(block).get(i).copied()
}

/// The functions that an op refers to, each with its role.
pub(super) fn roles_of(m: &Module, op: OpId) -> Vec<(StrId, Role)> {
    if Control::of(m, op) != Some(Control::While) {
        return callees(m, op).into_iter().map(|name| (name, Role::Other)).collect();
    }
    let named = |attr, role| function_attr(m, op, attr).map(|name| (name, role));
    named("cond", Role::Condition).into_iter().chain(named("body", Role::Body)).collect()
}
