//! Control edges between parts.
//!
//! ```text
//! %a, %b ──▶ If                   one signal: all that waits for %a in the part waits for %b, too
//! %a ──▶ If        %a, %b ──▶ op  two: if %b fails, the If runs in all other parts of it
//! ```
//!
//! A control edge to another part is a signal: a chain that crosses. Edges from one part to ops of another
//! part share a signal if exactly the same ops wait for them. So a part never waits for more than its ops do:
//! an op that is not run, because what it waits for failed or is dead, is not run in any of its parts. There
//! are never more signals than sources of edges.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::divide::{CHAIN, Divide, MadeParts, PartFunction};
use super::primitives::is_merge;
use super::reach::PartIndex;
use crate::device::{is_everywhere, is_handle};
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::{Primitive, is_chain};
use crate::ir::{LocId, OpId, ValueId};

/// The ops of a part that wait for a chain of another part, as a number for each set of ops.
#[derive(Default)]
pub(super) struct Waiters {
    sets: FxHashMap<Vec<OpId>, usize>,
    of_chains: FxHashMap<(ValueId, PartIndex), usize>,
}

impl Divide<'_, '_, '_> {
    /// Chains in the function of a part that are ready after these chains.
    pub(super) fn edges(
        &mut self,
        chains: &[ValueId],
        part: PartIndex,
        made: &mut MadeParts,
    ) -> Vec<ValueId> {
        let mut edges = Vec::new();
        let mut elsewhere: BTreeMap<PartIndex, Vec<ValueId>> = BTreeMap::new();
        for chain in self.merged(chains) {
            if !is_chain(self.m(), chain) {
                // What an island or a call without a part waits for.
                let loc = self.m().defining_op(chain).map_or(LocId::UNKNOWN, |op| self.m().loc(op));
                let is_certain = self.is_certain(chain);
                let present = if is_certain { None } else { self.present(chain, part, made) };
                let present: Vec<ValueId> = present.into_iter().collect();
                edges.extend(made.get(&part).and_then(|of| self.ready(&present, of, loc)));
                continue;
            }
            for home in self.chain_homes(chain, part) {
                let Some(of) = made.get(&part) else { continue };
                let known = match home == part {
                    true => of.values.get(&chain),
                    false => of.signals.get(&(vec![chain], home)),
                };
                match known.copied().or_else(|| self.beside(chain, (home, part), made)) {
                    Some(known) => edges.push(known),
                    None => elsewhere.entry(home).or_default().push(chain),
                }
            }
        }
        for (home, chains) in elsewhere {
            for chains in self.of_equal_waiters(chains, part) {
                let known = made.get(&part).and_then(|of| of.signals.get(&(chains.clone(), home)));
                let signal = known.copied().or_else(|| self.signal(&chains, (home, part), made));
                edges.extend(signal);
                if let (Some(signal), Some(of)) = (signal, made.get_mut(&part)) {
                    of.signals.insert((chains, home), signal);
                }
            }
        }
        edges.sort_by_key(|edge| edge.0);
        edges.dedup();
        edges
    }

    /// Sends a part a signal that all these values of another part are there.
    pub(super) fn signal(
        &mut self,
        values: &[ValueId],
        (home, part): (PartIndex, PartIndex),
        made: &mut MadeParts,
    ) -> Option<ValueId> {
        let &first = values.first()?;
        let frame = self.cross_in(first, [home, part], made);
        let (from, to) = (made.get(&home)?, made.get(&part)?);
        let local: Vec<ValueId> = values.iter().filter_map(|value| from.values.get(value).copied()).collect();
        let loc = self.m().defining_op(first).map_or(LocId::UNKNOWN, |op| self.m().loc(op));
        let ready = self.ready(&local, from, loc)?;
        Some(self.cross(ready, (from, to), frame, loc))
    }

    /// A chain that is ready when all these values are; none for no values.
    pub(super) fn ready(&mut self, values: &[ValueId], of: &PartFunction, loc: LocId) -> Option<ValueId> {
        match values {
            [] => None,
            [chain] if is_chain(self.m(), *chain) => Some(*chain),
            _ => {
                let merge = self.append(of, loc, "tfrt.merge.chains", values, &[CHAIN], &[]);
                Some(self.m().result(merge, 0))
            }
        }
    }

    /// A chain that is ready after this one of another part, without a signal, because a value of the same op
    /// crosses anyway. The results of some primitives may be dead while the op is not.
    fn beside(
        &mut self,
        chain: ValueId,
        (home, part): (PartIndex, PartIndex),
        made: &mut MadeParts,
    ) -> Option<ValueId> {
        use Primitive::{Merge, Switch, SwitchN};
        let m = self.m();
        let op = m.defining_op(chain).filter(|&op| home != part && Control::of(m, op).is_none())?;
        if matches!(Primitive::of(m, op), Some(Switch | SwitchN | Merge)) {
            return None;
        }
        let of = made.get(&part)?;
        let is_read = |user: OpId| {
            let is_op = Control::of(m, user).is_none() && m.last_op(m.parent_block(user)?) != Some(user);
            (is_op && self.reach.part_of_op(m, user) == part).then_some(())
        };
        let crosses = |&value: &ValueId| {
            let is_data = !is_handle(m, value);
            let is_needed = |value| m.users(value).any(|(user, _)| is_read(user).is_some());
            is_data && (of.values.contains_key(&value) || is_needed(value))
        };
        let value = m.results(op).take(tf::n_data_results(m, op)).find(crosses)?;
        let value = self.need(value, part, made)?;
        let of = made.get(&part)?;
        let loc = self.m().loc(op);
        let merge = self.append(of, loc, "tfrt.merge.chains", &[value], &[CHAIN], &[]);
        let ready = self.m().result(merge, 0);
        made.get_mut(&part)?.signals.insert((vec![chain], home), ready);
        Some(ready)
    }

    /// True for an op that only waits for its operands: a merge of chains, or a call without a part.
    fn joins(&self, op: OpId) -> bool {
        let m = self.m();
        is_merge(m, op) || Control::of(m, op).is_some() && self.reach.members(m, op).is_empty()
    }

    /// The values that these wait for, if they are merges of chains or completions of calls without a part.
    pub(super) fn merged(&self, chains: &[ValueId]) -> Vec<ValueId> {
        let m = self.m();
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut todo: Vec<ValueId> = chains.iter().rev().copied().collect();
        while let Some(chain) = todo.pop() {
            if !seen.insert(chain) {
                continue;
            }
            match m.defining_op(chain).filter(|&op| self.joins(op)) {
                Some(op) => todo.extend(m.operands(op).collect::<Vec<_>>().into_iter().rev()),
                None => found.push(chain),
            }
        }
        found
    }

    /// The parts that a chain waits for, as an edge to an op of `part`.
    fn chain_homes(&self, chain: ValueId, part: PartIndex) -> Vec<PartIndex> {
        let m = self.m();
        match m.defining_op(chain) {
            // Nothing waits for a constant.
            Some(op) if is_everywhere(m, op) => Vec::new(),
            Some(op) if Control::of(m, op).is_some() => {
                self.effects.completing(m, op, self.reach).into_iter().collect()
            }
            _ => vec![self.reach.home(m, chain).unwrap_or(part)],
        }
    }

    /// These chains, in groups for each of which the same ops of the part wait.
    fn of_equal_waiters(&mut self, mut chains: Vec<ValueId>, part: PartIndex) -> Vec<Vec<ValueId>> {
        if chains.len() == 1 {
            return vec![chains];
        }
        chains.sort_by_key(|chain| chain.0);
        let mut groups: BTreeMap<usize, Vec<ValueId>> = BTreeMap::new();
        for chain in chains {
            groups.entry(self.waiters_of(chain, part)).or_default().push(chain);
        }
        groups.into_values().collect()
    }

    /// The number of the set of ops of a part that wait for a chain, directly or through merges of chains.
    fn waiters_of(&mut self, chain: ValueId, part: PartIndex) -> usize {
        if let Some(&known) = self.waiters.of_chains.get(&(chain, part)) {
            return known;
        }
        let m = self.m();
        let (mut found, mut seen, mut todo) = (Vec::new(), FxHashSet::default(), vec![chain]);
        while let Some(chain) = todo.pop() {
            for (user, _) in m.users(chain).filter(|&(user, _)| seen.insert(user)) {
                let waits = || match Control::of(m, user) {
                    Some(_) => self.reach.members(m, user).contains(&part),
                    None => self.reach.part_of_op(m, user) == part,
                };
                if self.joins(user) {
                    todo.extend(m.results(user));
                } else if waits() {
                    found.push(user);
                }
            }
        }
        found.sort_unstable();
        let n = self.waiters.sets.len();
        let number = *self.waiters.sets.entry(found).or_insert(n);
        self.waiters.of_chains.insert((chain, part), number);
        number
    }
}
