//! The conditions under which the values of a graph are live.
//!
//! ```text
//! %f, %t = Switch(%x, %p)       %t is live if p = 1               and %x is
//! %y = Add(%t, %u)              %y is live if p = 1 and q = 0     where %u is live if q = 0
//! %m = Merge(%a, %b)            %m is always live                 where %a is live if p = 0, %b if p = 1
//! ```
//!
//! A condition is a set of *literals*: predicates, each with the branch that it must take. An op is live if
//! all its inputs are live, so it has the literals of its inputs. Those of a Merge are found by cases: if the
//! conditions of two inputs differ in the branch of one predicate only, and each branch has an input, the
//! Merge selects by that predicate and does not depend on it. With more inputs the selects are nested
//! ([`Select`]).
//!
//! A loop is live if all values that enter it are live. This agrees with the primitives only if the loop's
//! condition needs a live value wherever a variable does; other loops are refused. Values in a loop have the
//! literals of the outer frames too. At an Exit the literals of the loop's own frame end.
//!
//! An op without such a condition, for example a Merge that may have no live input, is refused with a reason,
//! and its frame is not functionalized. Each of its results is a predicate of its own.

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::build::query;
use crate::dialects::tf;
use crate::dialects::tf_executor::frames::{FrameId, Frames, ROOT, inputs};
use crate::dialects::tf_executor::{FETCH, Primitive, block_of, data_operands, is_chain, node};
use crate::ir::{Module, OpId, Traits, TypeId, ValueId};

/// Limit of the literals of a condition, hence of the nesting of conditionals.
const MAX_LITERALS: usize = 64;

/// Limit of the case distinctions for one Merge.
const MAX_TRIES: u32 = 1 << 12;

/// A predicate and the number of its branch; the branch for true is 1.
pub(super) type Literal = (ValueId, usize);

/// Literals, sorted and without duplicates.
pub(super) type Literals = SmallVec<[Literal; 4]>;

/// The liveness condition of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Liveness {
    /// All these literals hold.
    When(Literals),
    /// Never.
    Never,
}

impl Liveness {
    /// Always.
    pub(super) fn always() -> Liveness {
        Liveness::When(Literals::new())
    }

    /// If both hold.
    pub(super) fn and(&self, other: &Liveness) -> Liveness {
        let (Liveness::When(a), Liveness::When(b)) = (self, other) else { return Liveness::Never };
        let mut all: Literals = a.iter().chain(b).copied().collect();
        all.sort_unstable();
        all.dedup();
        match all.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            true => Liveness::Never,
            false => Liveness::When(all),
        }
    }

    fn with(&self, literal: Literal) -> Liveness {
        self.and(&Liveness::When(Literals::from_slice(&[literal])))
    }
}

/// A value that a [`Select`] chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// An operand of an op.
    Input(OpId, usize),
    /// The result of another choice.
    Select(usize),
    /// A number: which input of a Merge is live.
    Number(i32),
    /// The error that this operand of the graph's end is dead.
    Dead(OpId, usize),
}

/// A choice between values by a predicate.
#[derive(Clone, Debug)]
pub(super) struct Select {
    /// The condition under which the select is live.
    pub(super) when: Literals,
    pub(super) predicate: ValueId,
    /// The operand for each branch of the predicate.
    pub(super) of: Vec<Chosen>,
    pub(super) ty: TypeId,
    /// The Merge, or the terminator of the graph.
    pub(super) op: OpId,
    /// The value that it replaces: a result of a Merge, or an operand of the graph's terminator.
    pub(super) replaces: Option<Replaced>,
}

/// The value that a choice replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Replaced {
    Result(ValueId),
    Operand(usize),
}

/// The kind of a predicate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Predicate {
    pub(super) branches: usize,
    /// A number, not a truth value.
    pub(super) is_number: bool,
    pub(super) frame: FrameId,
}

/// The reason why a frame is not functionalized, and the op.
pub(super) type Refused = (OpId, String);

/// The conditions of a graph.
pub(super) struct Conditions {
    values: FxHashMap<ValueId, Liveness>,
    ops: FxHashMap<OpId, Liveness>,
    predicates: FxHashMap<ValueId, Predicate>,
    pub(super) selects: Vec<Select>,
    /// The Switches and Merges with control edges, from other ops or to ops other than constants.
    gated: FxHashSet<OpId>,
    /// The select of a Merge's result, or of an operand of the graph's terminator.
    select_of: FxHashMap<(OpId, Replaced), usize>,
    /// The operand forwarded to each result of a Switch, and of a Merge with one live input.
    behind: FxHashMap<ValueId, ValueId>,
    /// The same, through gates and Identities too.
    decides: FxHashMap<ValueId, ValueId>,
    pub(super) refused: FxHashMap<FrameId, Refused>,
}

impl Conditions {
    /// The conditions of the values of a graph.
    pub(super) fn of(m: &Module, graph: OpId, frames: &Frames) -> Conditions {
        let mut found = Conditions {
            values: FxHashMap::default(),
            ops: FxHashMap::default(),
            predicates: FxHashMap::default(),
            selects: Vec::new(),
            gated: FxHashSet::default(),
            select_of: FxHashMap::default(),
            behind: FxHashMap::default(),
            decides: FxHashMap::default(),
            refused: FxHashMap::default(),
        };
        let Some(block) = block_of(m, graph) else { return found };
        let variables: FxHashSet<OpId> =
            frames.ids().flat_map(|id| &frames.frame(id).variables).map(|variable| variable.merge).collect();
        for op in m.ops_in(block) {
            if has_gate(m, op) && !variables.contains(&op) {
                found.gated.insert(op);
            }
            found.op(m, frames, &variables, op);
        }
        found
    }

    /// The condition of an op.
    pub(super) fn of_op(&self, op: OpId) -> Liveness {
        self.ops.get(&op).cloned().unwrap_or_else(Liveness::always)
    }

    /// The condition of a value.
    pub(super) fn of_value(&self, value: ValueId) -> Liveness {
        self.values.get(&value).cloned().unwrap_or_else(Liveness::always)
    }

    /// Sets the condition of an op and its results.
    pub(super) fn set(&mut self, m: &Module, op: OpId, when: Liveness) {
        self.values.extend(m.results(op).map(|result| (result, when.clone())));
        self.ops.insert(op, when);
    }

    pub(super) fn predicate(&self, value: ValueId) -> Option<Predicate> {
        self.predicates.get(&value).copied()
    }

    /// The literals that belong to a frame.
    pub(super) fn in_frame(&self, when: &Liveness, frame: FrameId) -> Option<Literals> {
        let Liveness::When(literals) = when else { return None };
        let is_own = |&&(p, _): &&Literal| self.predicates.get(&p).is_some_and(|p| p.frame == frame);
        Some(literals.iter().filter(is_own).copied().collect())
    }

    /// The condition in the parent frame: without the literals of this frame.
    pub(super) fn outside(&self, when: &Liveness, frame: FrameId) -> Liveness {
        let Liveness::When(literals) = when else { return Liveness::Never };
        let is_other = |(p, _): &Literal| self.predicates.get(p).is_none_or(|p| p.frame != frame);
        Liveness::When(literals.iter().copied().filter(is_other).collect())
    }

    fn refuse(&mut self, frame: FrameId, op: OpId, why: impl Into<String>) {
        self.refused.entry(frame).or_insert_with(|| (op, why.into()));
    }

    /// All inputs are live. Those from ControlTriggers may be dead.
    fn of_inputs(&self, m: &Module, op: OpId) -> Liveness {
        let is_trigger = |value: &ValueId| {
            m.defining_op(*value)
                .is_some_and(|from| Primitive::of(m, from) == Some(Primitive::ControlTrigger))
        };
        let inputs = inputs(m, op).into_iter().filter(|value| !is_trigger(value));
        inputs.fold(Liveness::always(), |when, value| match self.values.get(&value) {
            Some(input) => when.and(input),
            None => when,
        })
    }

    fn op(&mut self, m: &Module, frames: &Frames, variables: &FxHashSet<OpId>, op: OpId) {
        let frame = frames.of_op(op);
        let primitive = Primitive::of(m, op);
        let mut when = match primitive {
            Some(Primitive::Merge) if variables.contains(&op) => {
                let enter = data_operands(m, op).find(|value| self.values.contains_key(value));
                enter.map_or_else(Liveness::always, |value| self.of_value(value))
            }
            Some(Primitive::Merge) => self.merge(m, frame, op),
            Some(Primitive::ControlTrigger | Primitive::Source) => return,
            _ if m.op_name_str(op) == FETCH => return self.fetch(m, op),
            _ => self.of_inputs(m, op),
        };
        if let Liveness::When(literals) = &when
            && literals.len() > MAX_LITERALS
        {
            self.refuse(frame, op, format!("it depends on more than {MAX_LITERALS} conditions"));
            when = self.own(m, frame, op);
        }
        match primitive {
            Some(Primitive::Switch | Primitive::SwitchN) => self.switch(m, frames, op, when),
            Some(Primitive::Exit) => {
                let outside = self.outside(&when, frame);
                self.set(m, op, outside);
                self.ops.insert(op, when);
            }
            _ => {
                if tf::operator(m, op) == Some(Op::Identity) {
                    self.passes(m, op, m.result(op, 0), m.operand(op, 0));
                }
                self.set(m, op, when);
            }
        }
    }

    /// The values that stand for a control dependency: for a ControlTrigger those that it waits for.
    pub(super) fn waited_for(&self, m: &Module, value: ValueId, literals: &[Literal]) -> Vec<ValueId> {
        let (mut todo, mut seen, mut found) = (vec![value], FxHashSet::default(), Vec::new());
        while let Some(value) = todo.pop() {
            let value = self.behind_under(m, value, literals);
            let from = m.defining_op(value);
            match from.filter(|&op| Primitive::of(m, op) == Some(Primitive::ControlTrigger)) {
                Some(trigger) if seen.insert(trigger) => todo.extend(m.operands(trigger)),
                Some(_) => {}
                None => found.push(value),
            }
        }
        found
    }

    /// The condition of a result of unknown liveness: a literal of its own.
    fn own(&mut self, m: &Module, frame: FrameId, op: OpId) -> Liveness {
        let Some(value) = m.results(op).next() else { return Liveness::Never };
        self.predicates.insert(value, Predicate { branches: 1, is_number: true, frame });
        Liveness::When(Literals::from_slice(&[(value, 0)]))
    }

    fn switch(&mut self, m: &Module, frames: &Frames, op: OpId, when: Liveness) {
        let frame = frames.of_op(op);
        let is_number = Primitive::of(m, op) == Some(Primitive::SwitchN);
        let results: Vec<ValueId> = m.results(op).take(super::n_outputs(m, op)).collect();
        let predicate = self.decides(m.operand(op, 1));
        let data = m.operand(op, 0);
        results.iter().for_each(|&result| self.passes(m, op, result, data));
        self.set(m, op, when.clone());
        let known = match is_number {
            _ if results.len() == 1 => Some(0),
            // An index out of range selects the last branch.
            true => query::ints(m, predicate)
                .and_then(|n| n.first().copied())
                .map(|n| usize::try_from(n).ok().filter(|&n| n < results.len()).unwrap_or(results.len() - 1)),
            false => query::splat(m, predicate).map(|value| usize::from(value != 0.0)),
        };
        let known = known.or_else(|| self.implied(m, &when, predicate, results.len()));
        if let Some(known) = known {
            for (i, result) in results.into_iter().enumerate() {
                self.values.insert(result, if i == known { when.clone() } else { Liveness::Never });
            }
            return;
        }
        let branches = results.len();
        let new = Predicate { branches, is_number, frame: frames.of_value(m, predicate) };
        let known = *self.predicates.entry(predicate).or_insert(new);
        if (known.branches, known.is_number) != (branches, is_number) || known.frame != frame {
            self.refuse(frame, op, "its predicate selects by something else as well");
        }
        for (i, result) in results.into_iter().enumerate() {
            self.values.insert(result, when.with((predicate, i)));
        }
    }

    /// True if a Switch or a Merge has control edges, from other ops or to ops other than constants.
    pub(super) fn is_gated(&self, op: OpId) -> bool {
        self.gated.contains(&op)
    }

    /// The value forwarded to this one by Switches without gates and by Merges.
    pub(super) fn behind(&self, mut value: ValueId) -> ValueId {
        while let Some(&behind) = self.behind.get(&value) {
            value = behind;
        }
        value
    }

    /// Records the replacement of a value.
    pub(super) fn replace(&mut self, old: ValueId, new: ValueId) {
        self.behind.insert(old, new);
    }

    /// True for a Switch on this predicate.
    pub(super) fn switches_by(&self, m: &Module, op: OpId, predicate: ValueId) -> bool {
        Primitive::of(m, op) == Some(Primitive::Switch) && self.decides(m.operand(op, 1)) == predicate
    }

    /// The value forwarded to this one by Identities and Switches.
    fn decides(&self, value: ValueId) -> ValueId {
        self.decides.get(&value).copied().unwrap_or(value)
    }

    /// Records that a result of an op forwards an operand.
    fn passes(&mut self, m: &Module, op: OpId, result: ValueId, operand: ValueId) {
        self.decides.insert(result, self.decides(operand));
        if Primitive::of(m, op).is_some() && !self.gated.contains(&op) {
            self.behind.insert(result, self.behind(operand));
        }
    }

    /// The branch among `n` of a predicate, or of the outer value that enters a loop as this one, under a
    /// condition.
    fn implied(&self, m: &Module, when: &Liveness, mut predicate: ValueId, n: usize) -> Option<usize> {
        let Liveness::When(literals) = when else { return None };
        loop {
            if let Some(&(_, branch)) = literals.iter().find(|&&(p, _)| p == predicate) {
                let of = self.predicates.get(&predicate)?.branches;
                // The last of other branches is that of all numbers out of range.
                return (of == n || branch + 1 < of).then(|| branch.min(n - 1));
            }
            let enter =
                m.defining_op(predicate).filter(|&op| Primitive::of(m, op) == Some(Primitive::Enter))?;
            predicate = self.decides(m.operand(enter, 0));
        }
    }

    /// The value forwarded to this one where these literals hold; they decide selects.
    pub(super) fn behind_under(&self, m: &Module, mut value: ValueId, literals: &[Literal]) -> ValueId {
        loop {
            value = self.behind(value);
            let decided = || {
                let op = m.defining_op(value).filter(|op| !self.gated.contains(op))?;
                let select = &self.selects[self.select_of(op, Replaced::Result(value))?];
                let &(_, branch) = literals.iter().find(|&&(p, _)| p == select.predicate)?;
                match select.of[branch] {
                    Chosen::Input(op, i) => Some(m.operand(op, i)),
                    Chosen::Select(_) | Chosen::Number(_) | Chosen::Dead(..) => None,
                }
            };
            match decided() {
                Some(next) => value = next,
                None => return value,
            }
        }
    }

    /// The select of a result or an operand.
    pub(super) fn select_of(&self, op: OpId, replaced: Replaced) -> Option<usize> {
        self.select_of.get(&(op, replaced)).copied()
    }

    fn merge(&mut self, m: &Module, frame: FrameId, op: OpId) -> Liveness {
        let inputs: Vec<(usize, Literals)> = data_operands(m, op)
            .enumerate()
            .filter_map(|(i, value)| match self.of_value(value) {
                Liveness::When(literals) => Some((i, literals)),
                Liveness::Never => None,
            })
            .collect();
        if inputs.is_empty() {
            return Liveness::Never;
        }
        let Some((choice, when)) = self.choose(&inputs, &mut { MAX_TRIES }) else {
            self.refuse(frame, op, format!("{} is not live under exactly one condition", node(m, op)));
            return self.own(m, frame, op);
        };
        if let Choice::Input(i) = choice {
            self.passes(m, op, m.result(op, 0), m.operand(op, i));
            if m.results(op).nth(1).is_some_and(|index| !m.is_unused(index)) {
                self.refuse(frame, op, "its number is used, though only one of its inputs is ever live");
            }
            return Liveness::When(when);
        }
        let results: Vec<ValueId> = m.results(op).collect();
        let (output, index) = (results[0], results[1]);
        let value = |i| Chosen::Input(op, i);
        self.select(op, &choice, &when, m.value_type(output), Replaced::Result(output), &value);
        if !m.is_unused(index) {
            let number = |i| Chosen::Number(i as i32);
            self.select(op, &choice, &when, m.value_type(index), Replaced::Result(index), &number);
        }
        Liveness::When(when)
    }

    /// The choice between inputs by their conditions, and the condition of the choice.
    fn choose(&self, inputs: &[(usize, Literals)], tries: &mut u32) -> Option<(Choice, Literals)> {
        *tries = tries.checked_sub(1)?;
        if let [(i, when)] = inputs {
            return Some((Choice::Input(*i), when.clone()));
        }
        let (_, first) = inputs.first()?;
        first.iter().find_map(|&(predicate, _)| {
            // One branch is no choice: a literal of unknown liveness, which all inputs share.
            let n = self.predicates.get(&predicate).map(|p| p.branches).filter(|&n| n > 1)?;
            let mut branches: Vec<Vec<(usize, Literals)>> = vec![Vec::new(); n];
            for (i, when) in inputs {
                let at = when.iter().position(|&(p, _)| p == predicate)?;
                let mut rest = when.clone();
                let (_, branch) = rest.remove(at);
                branches.get_mut(branch)?.push((*i, rest));
            }
            let chosen = branches.iter().map(|inputs| self.choose(inputs, tries));
            let chosen = chosen.collect::<Option<Vec<_>>>()?;
            let when = chosen.first()?.1.clone();
            if chosen.iter().any(|(_, other)| *other != when) {
                return None;
            }
            let of = chosen.into_iter().map(|(choice, _)| choice).collect();
            Some((Choice::Of { predicate, of }, when))
        })
    }

    /// Adds the selects of a choice under a condition.
    fn select(
        &mut self,
        op: OpId,
        choice: &Choice,
        when: &Literals,
        ty: TypeId,
        replaces: Replaced,
        value: &dyn Fn(usize) -> Chosen,
    ) {
        let when = Liveness::When(when.clone());
        if let Chosen::Select(top) = self.nested(op, choice, &when, ty, value) {
            self.selects[top].replaces = Some(replaces);
            self.select_of.insert((op, replaces), top);
        }
    }

    /// Adds the selects of a choice, inner ones first. Returns the value.
    fn nested(
        &mut self,
        op: OpId,
        choice: &Choice,
        when: &Liveness,
        ty: TypeId,
        value: &dyn Fn(usize) -> Chosen,
    ) -> Chosen {
        let (predicate, of) = match choice {
            Choice::Input(i) => return value(*i),
            Choice::Of { predicate, of } => (*predicate, of),
        };
        let inner = |(branch, choice)| self.nested(op, choice, &when.with((predicate, branch)), ty, value);
        let of = of.iter().enumerate().map(inner).collect();
        let when = if let Liveness::When(literals) = when { literals.clone() } else { Literals::new() };
        self.selects.push(Select { when, predicate, of, ty, op, replaces: None });
        Chosen::Select(self.selects.len() - 1)
    }

    /// Adds a select between the value and an error for each fetched value that may be dead.
    fn fetch(&mut self, m: &Module, op: OpId) {
        for (i, value) in data_operands(m, op).enumerate() {
            let dead = Chosen::Dead(op, i);
            let Liveness::When(mut left) = self.of_value(value) else {
                self.refuse(ROOT, op, format!("{} is always dead", super::shown(m, value)));
                continue;
            };
            let mut source = Chosen::Input(op, i);
            // Inner choices first: their predicates may depend on the outer ones.
            while let Some(at) = self.innermost(&left) {
                let (predicate, branch) = left.remove(at);
                let n = self.predicates.get(&predicate).map_or(1, |p| p.branches);
                let of = (0..n).map(|b| if b == branch { source } else { dead }).collect();
                let (when, ty) = (left.clone(), m.value_type(value));
                self.selects.push(Select { when, predicate, of, ty, op, replaces: None });
                source = Chosen::Select(self.selects.len() - 1);
            }
            if let Chosen::Select(top) = source {
                self.selects[top].replaces = Some(Replaced::Operand(i));
                self.select_of.insert((op, Replaced::Operand(i)), top);
            }
        }
    }

    /// A literal on whose predicate the conditions of the other predicates do not depend.
    fn innermost(&self, literals: &Literals) -> Option<usize> {
        let needs = |other: ValueId, p: ValueId| match self.of_value(other) {
            Liveness::When(when) => when.iter().any(|&(needed, _)| needed == p),
            Liveness::Never => false,
        };
        let is_inner = |&(p, _): &Literal| !literals.iter().any(|&(other, _)| other != p && needs(other, p));
        literals.iter().position(is_inner).or(literals.len().checked_sub(1))
    }
}

/// True for a Switch or a Merge with control edges that must be kept. Constants wait for nothing.
fn has_gate(m: &Module, op: OpId) -> bool {
    let is_watched = |result: ValueId| {
        is_chain(m, result) && m.users(result).any(|(user, _)| !m.traits(user).has(Traits::CONSTANT))
    };
    let primitive = Primitive::of(m, op);
    matches!(primitive, Some(Primitive::Switch | Primitive::SwitchN | Primitive::Merge))
        && (m.operands(op).any(|value| is_chain(m, value)) || m.results(op).any(is_watched))
}

/// The live input of a Merge.
enum Choice {
    Input(usize),
    Of { predicate: ValueId, of: Vec<Choice> },
}
