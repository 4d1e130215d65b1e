//! The heads of branches: what the home of a predicate computes for another part, moved in front of the
//! branch, so that the predicate rides on it.
//!
//! ```text
//! tf.If(%p, %x) on A and B                       %h = tf.If(%p, %x) on A
//!   then: %y = tf.Sin(%x) on A                     then: %y = tf.Sin(%x), return %y
//!         tf.Neg(%y) on B                ──▶       else: return tf._Dead
//!   else: tf.Abs(%x) on A                        tf.If(%p, %x, %h) on A and B
//!                                                  then: tf.Neg(%h) on B       else: tf.Abs(%x) on A
//! ```
//!
//! TensorFlow sends `%y`, dead or live, and no predicate. Without a head B gets both, each in a message. A
//! branch has a head if another part takes no operand on which the predicate rides, see
//! [`riders`](super::riders): it makes the first value for that part, and the predicates of branches inside
//! that would cross alone. There is none for a part that takes an operand of its own: TensorFlow's Switch
//! there needs the predicate, too. A head has ops of the predicate's home, and of parts to which the
//! predicate rides on an operand of these ops: so it goes on from part to part with what they compute.
//!
//! Only what has no effects and waits for nothing else in the branch is moved, so the parts cannot
//! wait for each other in a circle. It still runs in one branch only. A branch inside of a branch moves out
//! step by step.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::PartTable;
use super::divide::{copied_constant, renamed};
use super::prune::forget_types;
use super::reach::{PartIndex, Reach};
use crate::device::homes::{Homes, block_of};
use crate::device::specs::Devices;
use crate::device::{is_branch, is_everywhere, is_handle};
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::is_chain;
use crate::graph::effects::{access, callees, effectful};
use crate::ir::{AttrId, BlockId, Module, OpId, StrId, TypeId, ValueId, names};
use crate::pass::Rewriter;
use crate::rewrite::InsertionPoint;

/// How often all branches are looked at: how far a predicate moves out.
const MAX_ROUNDS: usize = 16;

/// How many values of a function that a part reads are tried as the first one.
const MAX_TRIES: usize = 64;

/// A branch that gets a head.
struct BranchHead {
    op: OpId,
    /// For each of its functions the ops that move there, in order.
    moved: Vec<Vec<OpId>>,
    /// The values that the rest of the functions reads, each with the number of its function and its device.
    given: Vec<(usize, ValueId, String)>,
}

/// A branch that may get a head.
struct HeadCandidate {
    op: OpId,
    /// The home of the predicate.
    home: PartIndex,
    /// The bodies of its functions.
    blocks: Vec<BlockId>,
    /// For each other part the operands on which the predicate rides.
    own: FxHashMap<PartIndex, Vec<ValueId>>,
    /// For each function the ops that may move.
    movable: Vec<FxHashSet<OpId>>,
}

/// Gives branches their heads.
pub(super) fn hoist(r: &mut Rewriter<'_>, devices: &Devices, parts: &PartTable) {
    if !r.ir().walk_functions().any(|op| is_branch(r.ir(), op)) {
        return;
    }
    for _ in 0..MAX_ROUNDS {
        let homes = Homes::of_module(r.ir(), devices);
        let reach = Reach::of_module(r.ir(), &homes, &parts.of);
        let finder = HeadFinder::of(r.ir(), &reach, parts);
        // A value that comes out of an inner branch may carry the predicates of all branches around it.
        let heads = Some(finder.heads(false)).filter(|heads| !heads.is_empty());
        let heads = heads.unwrap_or_else(|| finder.heads(true));
        let mut names: FxHashSet<StrId> = homes.functions.keys().copied().collect();
        for head in &heads {
            let functions: Vec<OpId> =
                callees(r.ir(), head.op).iter().map(|name| homes.functions[name]).collect();
            split(r, (&mut names, &functions), head);
        }
        if heads.is_empty() {
            return;
        }
    }
}

/// The search for heads in a module.
struct HeadFinder<'a> {
    m: &'a Module,
    reach: &'a Reach<'a>,
    parts: &'a PartTable,
    effectful: FxHashSet<StrId>,
}

impl<'a> HeadFinder<'a> {
    fn of(m: &'a Module, reach: &'a Reach<'a>, parts: &'a PartTable) -> HeadFinder<'a> {
        HeadFinder { m, reach, parts, effectful: effectful(m, &reach.homes.functions) }
    }

    /// The heads that can be made at once: the functions of one are not those in which another one is made.
    /// With `by_predicates`, predicates of inner branches may be what the predicate rides on.
    fn heads(&self, by_predicates: bool) -> Vec<BranchHead> {
        let mut found = Vec::new();
        let (mut made_in, mut divided) = (FxHashSet::default(), FxHashSet::default());
        let mut functions: Vec<(StrId, OpId)> =
            self.reach.homes.functions.iter().map(|(&name, &op)| (name, op)).collect();
        functions.sort_by_key(|&(_, op)| op.0);
        for (name, function) in functions {
            let Some(block) = block_of(self.m, function) else { continue };
            for op in self.m.ops_in(block).filter(|&op| is_branch(self.m, op)) {
                let names = callees(self.m, op);
                if divided.contains(&name) || names.iter().any(|name| made_in.contains(name)) {
                    continue;
                }
                if let Some(head) = self.head(op, &names, by_predicates) {
                    made_in.insert(name);
                    divided.extend(names);
                    found.push(head);
                }
            }
        }
        found
    }

    /// The head of a branch, if it gets one.
    fn head(&self, op: OpId, names: &[StrId], by_predicates: bool) -> Option<BranchHead> {
        let (m, reach) = (self.m, self.reach);
        let home = reach.home(m, m.operand(op, 0))?;
        let members = reach.members(m, op);
        let is_own = |name: &StrId| {
            let is_private = reach.homes.functions.get(name).is_some_and(|&function| m.is_private(function));
            is_private && reach.n_sites.get(name) == Some(&1)
        };
        let n_names = names.iter().collect::<FxHashSet<_>>().len();
        if members.len() < 2 || n_names < names.len() || !names.iter().all(is_own) {
            return None;
        }
        let blocks: Option<Vec<BlockId>> =
            names.iter().map(|name| block_of(m, *reach.homes.functions.get(name)?)).collect();
        let blocks = blocks?;
        let others: Vec<PartIndex> = members.into_iter().filter(|&part| part != home).collect();
        let own: FxHashMap<PartIndex, Vec<ValueId>> =
            others.iter().map(|&part| (part, reach.own_operands(m, op, part))).collect();
        let has_predicate = |part: PartIndex| own.get(&part).is_none_or(|own| !own.is_empty());
        let movable = blocks.iter().map(|&block| self.movable(block, &has_predicate)).collect();
        let branch = HeadCandidate { op, home, blocks, own, movable };
        let mut moved: Vec<BTreeSet<OpId>> = vec![BTreeSet::new(); branch.blocks.len()];
        for part in others {
            if branch.own[&part].is_empty() {
                // A Switch of TensorFlow's there needs the predicate, too.
                let has_operand = (1..tf::n_data_operands(m, op))
                    .any(|i| reach.home(m, m.operand(op, i)) == Some(part) && reach.reads(m, op, i, part));
                if has_operand || reach.is_needed(m, m.operand(op, 0), part, |_| true) {
                    continue;
                }
                let Some((i, first)) = self.first_read(&branch, part, by_predicates) else { continue };
                moved[i].extend(first);
            }
            for (i, moved) in moved.iter_mut().enumerate() {
                let inner = m.ops_in(branch.blocks[i]).filter(|&op| is_branch(m, op));
                let alone = inner.flat_map(|op| self.alone(op, part));
                moved.extend(alone.filter_map(|value| self.slice(&branch, i, value)).flatten());
            }
        }
        if moved.iter().all(BTreeSet::is_empty) {
            return None;
        }
        let in_order = |(block, moved): (&BlockId, BTreeSet<OpId>)| {
            m.ops_in(*block).filter(|op| moved.contains(op)).collect::<Vec<_>>()
        };
        let moved: Vec<Vec<OpId>> = branch.blocks.iter().zip(moved).map(in_order).collect();
        let mut given = Vec::new();
        for (i, ops) in moved.iter().enumerate() {
            let is_read = |value: &ValueId| m.users(*value).any(|(user, _)| !ops.contains(&user));
            let results = ops.iter().flat_map(|&op| m.results(op)).filter(is_read);
            let device = |value| self.parts.devices[reach.home(m, value).unwrap_or(home)].clone();
            given.extend(results.map(|value| (i, value, device(value))));
        }
        Some(BranchHead { op, moved, given })
    }

    /// The ops that make the first value which a part reads, with the number of their function.
    fn first_read(
        &self,
        branch: &HeadCandidate,
        part: PartIndex,
        by_predicates: bool,
    ) -> Option<(usize, BTreeSet<OpId>)> {
        branch.movable.iter().enumerate().find_map(|(i, movable)| {
            let ops = self.m.ops_in(branch.blocks[i]).filter(|op| movable.contains(op));
            let mut read = ops.filter_map(|op| self.read_from(op, part, by_predicates)).take(MAX_TRIES);
            read.find_map(|value| Some((i, self.slice(branch, i, value)?)))
        })
    }

    /// The part that has the results of an op.
    fn part_of(&self, op: OpId) -> PartIndex {
        let member = Control::of(self.m, op).and_then(|_| self.reach.members(self.m, op).first().copied());
        member.unwrap_or_else(|| self.reach.part_of_op(self.m, op))
    }

    /// The ops that make a value in function number `i` of a branch, if they may move, and the predicate
    /// rides on an operand of theirs to each part that has some of them.
    fn slice(&self, branch: &HeadCandidate, i: usize, value: ValueId) -> Option<BTreeSet<OpId>> {
        let m = self.m;
        let (mut found, mut todo) = (BTreeSet::new(), vec![value]);
        while let Some(value) = todo.pop() {
            let op = m.defining_op(value).filter(|op| branch.movable[i].contains(op));
            if let Some(op) = op.filter(|&op| found.insert(op)) {
                todo.extend(m.operands(op));
            }
        }
        let mut without: BTreeSet<PartIndex> =
            found.iter().map(|&op| self.part_of(op)).filter(|&part| part != branch.home).collect();
        let args = m.args(branch.blocks[i]);
        for &op in &found {
            let part = self.part_of(op);
            let is_carrier = |value: ValueId| {
                let at = args.iter().position(|&arg| arg == value);
                at.is_some_and(|at| branch.own[&part].contains(&m.operand(branch.op, at + 1)))
            };
            if without.contains(&part) && m.operands(op).any(is_carrier) {
                without.remove(&part);
            }
        }
        (!found.is_empty() && without.is_empty()).then_some(found)
    }

    /// The ops of a function that may move in front of it: of parts that have the predicate, without effects,
    /// and they wait for nothing else.
    fn movable(&self, block: BlockId, has_predicate: &dyn Fn(PartIndex) -> bool) -> FxHashSet<OpId> {
        let (m, reach) = (self.m, self.reach);
        let mut found = FxHashSet::default();
        for op in m.ops_in(block).filter(|&op| m.last_op(block) != Some(op)) {
            let is_there = match Control::of(m, op) {
                Some(_) => reach.members(m, op).len() == 1,
                None => tf::op_of(m.op_name_str(op)).is_some(),
            } && has_predicate(self.part_of(op));
            let is_known = |value: ValueId| match m.defining_op(value) {
                Some(op) => !is_chain(m, value) && (is_everywhere(m, op) || found.contains(&op)),
                None => true,
            };
            let is_data = m.results(op).all(|value| match is_chain(m, value) {
                true => m.is_unused(value),
                false => !is_handle(m, value),
            });
            if is_there
                && is_data
                && !is_everywhere(m, op)
                && m.regions_of(op).is_empty()
                && access(m, op, &self.effectful).is_none()
                && m.operands(op).all(is_known)
            {
                found.insert(op);
            }
        }
        found
    }

    /// The first result of an op that another part reads, other than as a predicate only, unless that counts.
    fn read_from(&self, op: OpId, part: PartIndex, by_predicates: bool) -> Option<ValueId> {
        let (m, reach) = (self.m, self.reach);
        let mut results = m.results(op).take(tf::n_data_results(m, op));
        results.find(|&value| {
            let is_plain = |(user, i): (OpId, usize)| {
                by_predicates || !is_branch(m, user) || i > 0 && !reach.is_predicate(m, user, value, part)
            };
            let mut users = m.users(value).filter(|&user| reach.is_read(m, value, user, part));
            reach.home(m, value) != Some(part) && users.any(is_plain)
        })
    }

    /// The predicates that would cross alone for a branch.
    fn alone(&self, op: OpId, part: PartIndex) -> Vec<ValueId> {
        let (m, reach) = (self.m, self.reach);
        let mut own = reach.own_operands(m, op, part);
        let is_predicate = |&value: &ValueId| reach.is_predicate(m, op, value, part);
        if !reach.members(m, op).contains(&part) || !own.iter().all(is_predicate) {
            return Vec::new();
        }
        own.push(m.operand(op, 0));
        own
    }
}

/// Makes the head of a branch.
fn split(r: &mut Rewriter<'_>, (names, functions): (&mut FxHashSet<StrId>, &[OpId]), head: &BranchHead) {
    let (op, moved) = (head.op, &head.moved);
    let m = r.ir();
    let (loc, callees) = (m.loc(op), callees(m, op));
    let given: Vec<(usize, ValueId, TypeId, AttrId)> = (head.given.iter())
        .map(|(i, value, device)| (*i, *value, r.ir().value_type(*value), r.cx().str_attr(device)))
        .collect();
    let mut heads: FxHashMap<StrId, String> = FxHashMap::default();
    for (i, (&callee, &function)) in callees.iter().zip(functions).enumerate() {
        let m = r.ir();
        let Some(block) = block_of(m, function) else { continue };
        let args = m.args(block).to_vec();
        let inputs: Vec<TypeId> = args.iter().map(|&arg| m.value_type(arg)).collect();
        let text = format!("{}.head", m.cx.str(callee));
        let text = r.cx().free_name(&text, |name| names.insert(name));
        let at = InsertionPoint::After(function);
        let (made, body) = r.private_function_of(at, loc, &text, &inputs);
        let end = InsertionPoint::End(body);
        let mut local: FxHashMap<ValueId, ValueId> =
            args.into_iter().zip(r.ir().args(body).iter().copied()).collect();
        let mut returned = Vec::new();
        for &(of, value, ty, device) in &given {
            let arg = r.add_arg(block, ty);
            if of == i {
                let users: Vec<(OpId, usize)> = r.ir().users(value).collect();
                let rest = users.into_iter().filter(|(user, _)| !moved[i].contains(user));
                rest.for_each(|(user, at)| r.set_operand(user, at, arg));
                returned.push(value);
            } else {
                let dead = r.create_named(end, loc, "tf._Dead", &[], &[ty], &[("device", device)]);
                returned.push(r.ir().result(dead, 0));
            }
        }
        for &op in &moved[i] {
            for at in 0..r.ir().n_operands(op) {
                let value = r.ir().operand(op, at);
                let constant = r.ir().defining_op(value).filter(|&op| is_everywhere(r.ir(), op));
                if let (Some(constant), None) = (constant, local.get(&value)) {
                    local.insert(value, copied_constant(r, end, constant, value));
                }
                local.get(&value).into_iter().for_each(|&value| r.set_operand(op, at, value));
            }
            r.move_to(op, end);
        }
        r.finish_function(made, loc, &returned);
        heads.insert(callee, text);
        r.remove_attr(function, names::ARG_ATTRS);
        r.refresh_signature(function);
    }
    let operands: Vec<ValueId> = r.ir().operands(op).collect();
    let types: Vec<TypeId> = given.iter().map(|&(_, _, ty, _)| ty).collect();
    let first = r.rebuild(op, &operands, &types);
    for (name, attr) in renamed(r, first, &|name| heads.get(&name).cloned()) {
        r.set_attr(first, name, attr);
    }
    let m = r.ir();
    let (data, chains) = operands.split_at(tf::n_data_operands(m, op));
    let operands: Vec<ValueId> =
        data.iter().copied().chain(m.results(first)).chain(chains.to_vec()).collect();
    let types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
    let rest = r.rebuild(op, &operands, &types);
    [first, rest].into_iter().for_each(|op| forget_types(r, op));
    let results: Vec<ValueId> = r.ir().results(rest).collect();
    r.replace_op(op, &results);
}
