//! Predicates that ride on values.
//!
//! ```text
//! %p, %x on A; tf.If(%p, %x) has ops on B        A: dev.send %x, %p in %step channel 3 to B
//!                                                B: %x, %p = dev.recv in %step channel 3 from A
//! tf.If(%p, %x, %q), where only an If inside     A: dev.send %x, %p, %q in %step channel 3 to B
//! of it reads %q on B
//! ```
//!
//! A branch in several parts needs its predicate in each. Where another part gets an operand of the branch
//! from the home of the predicate, both cross in one message, together with the predicates of branches inside
//! of it. TensorFlow sends no predicates there, either, but only values that Switches pass on, dead or live.
//!
//! A predicate only rides on a value that nothing in the part reads but this op, so that nobody else waits
//! for both. If something else in the part needs the predicate itself, it crosses alone, once for all.
//! Several branches by one predicate may each get it with a value of their own.
//!
//! Whatever depends on the predicate in the part is later in the order of the function than the op, hence
//! than the value: the parts cannot wait for each other in a circle.

use std::cmp::Reverse;

use super::divide::{Divide, MadeParts};
use super::primitives::is_merge;
use super::reach::PartIndex;
use crate::build::query::bytes_of;
use crate::device::is_handle;
use crate::dialects::tf::{self, Control};
use crate::ir::{Module, OpId, ValueId};

impl Divide<'_, '_, '_> {
    /// The predicate of a branch in a part; sent there, if another part has it.
    pub(super) fn predicate(&mut self, op: OpId, part: PartIndex, made: &mut MadeParts) -> Option<ValueId> {
        let predicate = self.m().operand(op, 0);
        let mut riders = self.own_operands(op, part, made);
        let carrier = riders.pop();
        riders.retain(|&value| self.is_predicate(op, value, part));
        let rides = carrier.is_some() && !self.is_needed(predicate, part, made)?;
        riders.extend(rides.then_some(predicate));
        let Some(carrier) = carrier.filter(|_| !riders.is_empty()) else {
            return self.need(predicate, part, made);
        };
        let mut received = self.bring(carrier, &riders, part, made)?;
        let own = if rides { received.pop() } else { self.need(predicate, part, made) };
        made.get_mut(&part)?.values.extend(riders.into_iter().zip(received));
        own
    }

    /// True if a part needs a predicate itself: something reads it that gets nothing else on which it rides.
    fn is_needed(&self, predicate: ValueId, part: PartIndex, made: &mut MadeParts) -> Option<bool> {
        let of = made.get(&part)?;
        if let Some(known) =
            of.values.contains_key(&predicate).then_some(true).or(of.needs.get(&predicate).copied())
        {
            return Some(known);
        }
        let m = self.m();
        let needs = |(user, i): (OpId, usize)| {
            let rides = i == 0 && is_branch(m, user) && !self.own_operands(user, part, made).is_empty();
            !rides && self.is_read(predicate, (user, i), part)
        };
        let is_needed = m.users(predicate).any(needs);
        made.get_mut(&part)?.needs.insert(predicate, is_needed);
        Some(is_needed)
    }

    /// The operands of a branch that come to a part from the home of the predicate for this op only. The last
    /// one is the smallest, and no predicate of branches inside of the op if another one is none.
    fn own_operands(&self, op: OpId, part: PartIndex, made: &MadeParts) -> Vec<ValueId> {
        let (m, reach) = (self.m(), self.reach);
        let predicate = m.operand(op, 0);
        // In a graph of primitives one part decides for all whether the op runs.
        let home = reach.home(m, predicate).filter(|&home| home != part && !self.graph.is_open());
        let (Some(home), Some(of)) = (home, made.get(&part)) else { return Vec::new() };
        let is_own = |&value: &ValueId| {
            let mut others = m.users(value).filter(|&(user, _)| user != op);
            value != predicate
                && reach.home(m, value) == Some(home)
                && !is_handle(m, value)
                && !of.values.contains_key(&value)
                && !others.any(|other| self.is_read(value, other, part))
        };
        let taken = (1..tf::n_data_operands(m, op)).filter(|&i| reach.reads(m, op, i, part));
        let mut own: Vec<ValueId> = taken.map(|i| m.operand(op, i)).filter(is_own).collect();
        let size = |value: ValueId| bytes_of(m, m.value_type(value)).unwrap_or(usize::MAX);
        own.sort_by_key(|&value| (!self.is_predicate(op, value, part), Reverse((size(value), value.0))));
        own.dedup();
        own
    }

    /// True if the functions of a branch read an operand in a part as predicates only.
    fn is_predicate(&self, op: OpId, value: ValueId, part: PartIndex) -> bool {
        let m = self.m();
        let mut places = (1..tf::n_data_operands(m, op)).filter(|&i| m.operand(op, i) == value);
        places.all(|i| !self.reach.readers(m, op, i - 1).contains(&part))
    }

    /// True if an op of the function reads a value in a part. What a graph of primitives reads, all parts
    /// read.
    fn is_read(&self, value: ValueId, (user, i): (OpId, usize), part: PartIndex) -> bool {
        let m = self.m();
        let block = m.parent_block(user);
        let is_return = block.and_then(|block| m.last_op(block)) == Some(user);
        match self.reader {
            _ if block != m.defining_block(value) => true,
            Some((_, function)) if is_return => self.reach.returns(function, i, part),
            _ => !is_merge(m, user) && self.reach.reads(m, user, i, part),
        }
    }
}

/// True for an op with a predicate.
fn is_branch(m: &Module, op: OpId) -> bool {
    matches!(Control::of(m, op), Some(Control::If | Control::Case))
}
