//! Predicates that ride on values.
//!
//! ```text
//! %p, %x on A; tf.If(%p, %x) has ops on B        A: dev.send %x, %p in %step channel 3 to B
//!                                                B: %x, %p = dev.recv in %step channel 3 from A
//! tf.If(%p, %x, %q), where only an If inside     A: dev.send %x, %p, %q in %step channel 3 to B
//! of it reads %q on B
//! ```
//!
//! A branch in several parts needs its predicate in each. Where a part gets an operand of the branch from a
//! part that has the predicate, its home or one that had an earlier branch by it, both cross in one message,
//! together with the predicates of branches inside of it. TensorFlow sends no predicates there, either, but
//! only values that Switches pass on, dead or live.
//!
//! A predicate only rides on a value that nothing in the part reads but branches by it, so that nobody else
//! waits for both. If something else in the part needs the predicate itself, it crosses alone, once for all.
//! Several branches by one predicate may each get it with a value of their own.
//!
//! Whatever depends on the predicate in the part is later in the order of the function than the op, hence
//! than the value: the parts cannot wait for each other in a circle.

use std::cmp::Reverse;

use super::divide::{Divide, MadeParts};
use super::primitives::is_merge;
use super::reach::{PartIndex, Reach};
use crate::build::query::bytes_of;
use crate::device::{is_branch, is_handle};
use crate::dialects::tf;
use crate::ir::{Module, OpId, ValueId};

/// A predicate that a part has received with a value.
pub(super) struct Ridden {
    /// The value, of the whole function.
    carrier: ValueId,
    /// The predicate in the part.
    pub(super) predicate: ValueId,
}

impl Divide<'_, '_, '_> {
    /// The predicate of a branch in a part; sent there, if another part has it.
    pub(super) fn predicate(&mut self, op: OpId, part: PartIndex, made: &mut MadeParts) -> Option<ValueId> {
        let (m, reach) = (self.r.ir(), self.reach);
        let predicate = m.operand(op, 0);
        // In a graph of primitives one part decides for all whether the op runs.
        let mut riders = if self.graph.is_open() { Vec::new() } else { reach.own_operands(m, op, part) };
        let of = made.get(&part)?;
        if let Some(ridden) = of.ridden.get(&predicate).filter(|ridden| riders.contains(&ridden.carrier)) {
            return Some(ridden.predicate);
        }
        riders.retain(|value| !of.values.contains_key(value));
        let carrier = riders.pop();
        riders.retain(|&value| reach.is_predicate(m, op, value, part));
        let rides = carrier.is_some() && !self.is_needed(predicate, part, made)?;
        riders.extend(rides.then_some(predicate));
        let Some(carrier) = carrier.filter(|_| !riders.is_empty()) else {
            return self.need(predicate, part, made);
        };
        let mut received = self.bring(carrier, &riders, part, made)?;
        let own = if rides { received.pop() } else { self.need(predicate, part, made) };
        let of = made.get_mut(&part)?;
        if let Some(own) = own.filter(|_| rides) {
            of.ridden.insert(predicate, Ridden { carrier, predicate: own });
        }
        of.values.extend(riders.into_iter().zip(received));
        own
    }

    /// True if a part needs a predicate itself: something reads it that gets nothing else on which it rides.
    fn is_needed(&self, predicate: ValueId, part: PartIndex, made: &mut MadeParts) -> Option<bool> {
        let of = made.get_mut(&part)?;
        if of.values.contains_key(&predicate) {
            return Some(true);
        }
        let (m, reach) = (self.m(), self.reach);
        let rides = |user: OpId| !reach.own_operands(m, user, part).is_empty();
        Some(*of.needs.entry(predicate).or_insert_with(|| reach.is_needed(m, predicate, part, rides)))
    }
}

impl Reach<'_> {
    /// The operands of a branch that come to a part from one other part, which has the predicate, for
    /// branches by this predicate only. The last one is the smallest, and no predicate of branches inside of
    /// the op if another one is none.
    pub(super) fn own_operands(&self, m: &Module, op: OpId, part: PartIndex) -> Vec<ValueId> {
        let predicate = m.operand(op, 0);
        let Some(home) = self.home(m, predicate).filter(|&home| home != part) else { return Vec::new() };
        let is_by_it = |user: OpId| is_branch(m, user) && m.operand(user, 0) == predicate;
        let comes_from = |value: ValueId| {
            let from = self.home(m, value).filter(|&from| from != part && value != predicate)?;
            let mut others = m.users(value).filter(|&(user, _)| !is_by_it(user));
            let is_own = self.knows_predicate(m, op, from)
                && !is_handle(m, value)
                && !self.is_taken(m, value, part)
                && !others.any(|other| self.is_read(m, value, other, part));
            is_own.then_some((from, value))
        };
        let taken = (1..tf::n_data_operands(m, op)).filter(|&i| self.reads(m, op, i, part));
        let all: Vec<(PartIndex, ValueId)> = taken.filter_map(|i| comes_from(m.operand(op, i))).collect();
        // From the predicate's home rather than from another part that has it.
        let from = all.iter().map(|&(from, _)| from).min_by_key(|&from| (from != home, from));
        let mut own: Vec<ValueId> =
            all.into_iter().filter(|&(of, _)| Some(of) == from).map(|(_, value)| value).collect();
        let size = |value: ValueId| bytes_of(m, m.value_type(value)).unwrap_or(usize::MAX);
        own.sort_by_key(|&value| (!self.is_predicate(m, op, value, part), Reverse((size(value), value.0))));
        own.dedup();
        own
    }

    /// True if something in a part reads a predicate, other than branches by it for which it rides.
    pub(super) fn is_needed(
        &self,
        m: &Module,
        predicate: ValueId,
        part: PartIndex,
        rides: impl Fn(OpId) -> bool,
    ) -> bool {
        let rides = |user: OpId| is_branch(m, user) && m.operand(user, 0) == predicate && rides(user);
        m.users(predicate).any(|user| !rides(user.0) && self.is_read(m, predicate, user, part))
    }

    /// True if the functions of a branch read an operand in a part as predicates only.
    pub(super) fn is_predicate(&self, m: &Module, op: OpId, value: ValueId, part: PartIndex) -> bool {
        let mut places = (1..tf::n_data_operands(m, op)).filter(|&i| m.operand(op, i) == value);
        places.all(|i| !self.readers(m, op, i - 1).contains(&part))
    }

    /// True if a value is an argument that a part takes.
    fn is_taken(&self, m: &Module, value: ValueId, part: PartIndex) -> bool {
        let Some(block) = m.defining_block(value).filter(|_| m.defining_op(value).is_none()) else {
            return false;
        };
        let function = m.block_parent(block).and_then(|region| m.symbol_name(m.region_parent(region)));
        let takes = function.and_then(|name| self.functions.get(&name)).map(|of| &of.takes);
        let i = m.args(block).iter().position(|&arg| arg == value);
        takes.zip(i).is_some_and(|(takes, i)| takes[i].contains(&part))
    }

    /// True if an op reads a value in a part. What a graph of primitives reads, all parts read.
    pub(super) fn is_read(
        &self,
        m: &Module,
        value: ValueId,
        (user, i): (OpId, usize),
        part: PartIndex,
    ) -> bool {
        let block = m.parent_block(user);
        if block != m.defining_block(value) {
            return true;
        }
        if block.and_then(|block| m.last_op(block)) != Some(user) {
            return !is_merge(m, user) && self.reads(m, user, i, part);
        }
        let function = m.parent_op(user).and_then(|function| m.symbol_name(function));
        function.is_none_or(|name| self.returns(name, i, part))
    }
}
