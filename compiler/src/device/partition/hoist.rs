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
//! there needs the predicate, too.
//!
//! Only what has no effects and waits for nobody but the home of the predicate is moved, so the parts cannot
//! wait for each other in a circle. It still runs in one branch only. A branch inside of a branch moves out
//! step by step.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::PartTable;
use super::divide::{copied_constant, renamed};
use super::prune::forget_types;
use super::reach::{PartIndex, Reach};
use super::riders::is_branch;
use crate::device::homes::{Homes, block_of};
use crate::device::specs::Devices;
use crate::device::{is_everywhere, is_handle};
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::is_chain;
use crate::graph::effects::{access, callees, effectful};
use crate::ir::{BlockId, Module, OpId, StrId, TypeId, ValueId, names};
use crate::pass::Rewriter;
use crate::rewrite::InsertionPoint;

/// How often all branches are looked at: how far a predicate moves out.
const MAX_ROUNDS: usize = 16;

/// A branch that gets a head, and for each of its functions the ops that move there, in order.
struct BranchHead {
    op: OpId,
    /// A device of the head.
    device: String,
    moved: Vec<Vec<OpId>>,
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
        let predicate = m.operand(op, 0);
        let home = reach.home(m, predicate)?;
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
        let movable: Vec<FxHashSet<OpId>> = blocks.iter().map(|&block| self.movable(block, home)).collect();
        let mut moved: Vec<BTreeSet<OpId>> = vec![BTreeSet::new(); blocks.len()];
        for part in members.into_iter().filter(|&part| part != home) {
            let mut values: Vec<(usize, ValueId)> = Vec::new();
            let all = || blocks.iter().zip(&movable).enumerate();
            if reach.own_operands(m, op, part).is_empty() {
                // A Switch of TensorFlow's there needs the predicate, too.
                let has_operand = (1..tf::n_data_operands(m, op))
                    .any(|i| reach.home(m, m.operand(op, i)) == Some(part) && reach.reads(m, op, i, part));
                if has_operand || reach.is_needed(m, predicate, part, |_| true) {
                    continue;
                }
                values.extend(all().find_map(|(i, (&block, movable))| {
                    let mut ops = m.ops_in(block).filter(|op| movable.contains(op));
                    Some((i, ops.find_map(|op| self.read_from(op, part, by_predicates))?))
                }));
                if values.is_empty() {
                    continue;
                }
            }
            for (i, (&block, movable)) in all() {
                let inner = m.ops_in(block).filter(|&op| is_branch(m, op));
                let alone = inner.flat_map(|op| self.alone(op, part));
                let made = |value: &ValueId| m.defining_op(*value).is_some_and(|op| movable.contains(&op));
                values.extend(alone.filter(made).map(|value| (i, value)));
            }
            for (i, value) in values {
                let mut todo = vec![value];
                while let Some(value) = todo.pop() {
                    let op = m.defining_op(value).filter(|op| movable[i].contains(op));
                    if let Some(op) = op.filter(|&op| moved[i].insert(op)) {
                        todo.extend(m.operands(op));
                    }
                }
            }
        }
        let in_order = |(block, moved): (&BlockId, BTreeSet<OpId>)| {
            m.ops_in(*block).filter(|op| moved.contains(op)).collect::<Vec<_>>()
        };
        let moved: Vec<Vec<OpId>> = blocks.iter().zip(moved).map(in_order).collect();
        let device = self.parts.devices[home].clone();
        moved.iter().any(|ops| !ops.is_empty()).then_some(BranchHead { op, device, moved })
    }

    /// The ops of a function that may move in front of it: of this part, without effects, and they wait for
    /// nothing else.
    fn movable(&self, block: BlockId, part: PartIndex) -> FxHashSet<OpId> {
        let (m, reach) = (self.m, self.reach);
        let mut found = FxHashSet::default();
        for op in m.ops_in(block).filter(|&op| m.last_op(block) != Some(op)) {
            let is_there = match Control::of(m, op) {
                Some(_) => reach.members(m, op).iter().eq(&[part]),
                None => tf::op_of(m.op_name_str(op)).is_some() && reach.part_of_op(m, op) == part,
            };
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
    let device = r.cx().str_attr(&head.device);
    // What the rest of the functions reads, each with the number of its function.
    let mut given: Vec<(usize, ValueId, TypeId)> = Vec::new();
    for (i, ops) in moved.iter().enumerate() {
        let m = r.ir();
        let is_read = |value: &ValueId| m.users(*value).any(|(user, _)| !ops.contains(&user));
        let results = ops.iter().flat_map(|&op| m.results(op)).filter(is_read);
        given.extend(results.map(|value| (i, value, m.value_type(value))));
    }
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
        for &(of, value, ty) in &given {
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
    let types: Vec<TypeId> = given.iter().map(|&(_, _, ty)| ty).collect();
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
