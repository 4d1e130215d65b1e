//! The conditions under which the values of a graph are live.
//!
//! ```text
//! %f, %t = Switch(%x, %p)       %t is live if p = 1               and %x is
//! %y = Add(%t, %u)              %y is live if p = 1 and q = 0     where %u is live if q = 0
//! %m = Merge(%a, %b)            %m is always live                 where %a is live if p = 0, %b if p = 1
//! ```
//!
//! A condition is a set of *literals*: predicates, each with the branch that it must take. An op is live if
//! all its inputs are, so its literals are theirs. A Merge's are found by cases: a predicate of which every
//! branch is the condition of an input, as are all others alike, is a choice between those inputs, and no
//! condition of the Merge. With more inputs the choices are nested ([`Select`]).
//!
//! A loop is live if all values that enter it are. That is what the primitives mean only if its condition
//! needs a live value wherever a variable does; other loops are refused. Inside of a loop the literals of
//! the frames around it go along, and end with those of its own frame at the Exit.
//!
//! What has no such condition, such as a Merge that may get no live input, is refused with the reason, for
//! the frame of the op. Its results are live if themselves are: a predicate of their own.

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::build::query;
use crate::dialects::tf;
use crate::dialects::tf_executor::frames::{FrameId, Frames, ROOT, inputs};
use crate::dialects::tf_executor::{FETCH, Primitive, block_of, data_operands, node};
use crate::ir::{Module, OpId, TypeId, ValueId};

/// The most literals of a condition, and so the deepest nest of conditionals.
const MAX_LITERALS: usize = 64;

/// The most cases that are tried for one Merge.
const MAX_TRIES: u32 = 1 << 12;

/// A predicate and the number of its branch; 1 is that of true.
pub(super) type Literal = (ValueId, usize);

/// Literals, sorted and without duplicates.
pub(super) type Literals = SmallVec<[Literal; 4]>;

/// When a value is live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Liveness {
    /// If all these literals hold.
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
    /// The condition under which there is a choice.
    pub(super) when: Literals,
    pub(super) predicate: ValueId,
    /// One for each branch of the predicate.
    pub(super) of: Vec<Chosen>,
    pub(super) ty: TypeId,
    /// The op that it is for.
    pub(super) op: OpId,
    /// The value that it replaces: a result of a Merge, or an operand of the graph's end.
    pub(super) replaces: Option<Replaced>,
}

/// The value that a choice replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Replaced {
    Result(ValueId),
    Operand(usize),
}

/// How a predicate selects.
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
    /// The choice that is the value of a Merge's result, or of an operand of the graph's end.
    select_of: FxHashMap<(OpId, Replaced), usize>,
    /// The value behind each result of a Switch, and of a Merge that has one live input.
    behind: FxHashMap<ValueId, ValueId>,
    /// The same through gates and Identities: the value that decides.
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
            select_of: FxHashMap::default(),
            behind: FxHashMap::default(),
            decides: FxHashMap::default(),
            refused: FxHashMap::default(),
        };
        let Some(block) = block_of(m, graph) else { return found };
        let variables: FxHashSet<OpId> =
            frames.ids().flat_map(|id| &frames.frame(id).variables).map(|variable| variable.merge).collect();
        for op in m.ops_in(block) {
            found.op(m, frames, &variables, op);
        }
        found
    }

    /// When an op is live.
    pub(super) fn of_op(&self, op: OpId) -> Liveness {
        self.ops.get(&op).cloned().unwrap_or_else(Liveness::always)
    }

    /// When a value is live.
    pub(super) fn of_value(&self, value: ValueId) -> Liveness {
        self.values.get(&value).cloned().unwrap_or_else(Liveness::always)
    }

    /// Sets when an op and its results are live.
    pub(super) fn set(&mut self, m: &Module, op: OpId, when: Liveness) {
        self.values.extend(m.results(op).map(|result| (result, when.clone())));
        self.ops.insert(op, when);
    }

    pub(super) fn predicate(&self, value: ValueId) -> Option<Predicate> {
        self.predicates.get(&value).copied()
    }

    /// The literals of a frame among these.
    pub(super) fn in_frame(&self, when: &Liveness, frame: FrameId) -> Option<Literals> {
        let Liveness::When(literals) = when else { return None };
        let is_own = |&&(p, _): &&Literal| self.predicates.get(&p).is_some_and(|p| p.frame == frame);
        Some(literals.iter().filter(is_own).copied().collect())
    }

    /// The condition without the literals of a frame, which ends there.
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

    /// The values behind a value that something waits for: those that a ControlTrigger waits for instead of
    /// it.
    pub(super) fn waited_for(&self, m: &Module, value: ValueId) -> Vec<ValueId> {
        let (mut todo, mut seen, mut found) = (vec![value], FxHashSet::default(), Vec::new());
        while let Some(value) = todo.pop() {
            let value = self.behind(value);
            let from = m.defining_op(value);
            match from.filter(|&op| Primitive::of(m, op) == Some(Primitive::ControlTrigger)) {
                Some(trigger) if seen.insert(trigger) => todo.extend(m.operands(trigger)),
                Some(_) => {}
                None => found.push(value),
            }
        }
        found
    }

    /// The condition of a result that nothing is known about: it itself.
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
            // A number that no branch has selects the last one.
            true => query::ints(m, predicate)
                .and_then(|n| n.first().copied())
                .map(|n| usize::try_from(n).ok().filter(|&n| n < results.len()).unwrap_or(results.len() - 1)),
            false => query::splat(m, predicate).map(|value| usize::from(value != 0.0)),
        };
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

    /// The value behind a value, which is no result of a Switch without a gate.
    pub(super) fn behind(&self, value: ValueId) -> ValueId {
        self.behind.get(&value).copied().unwrap_or(value)
    }

    /// The value that decides in the end: Identities and Switches have the value of their operands.
    fn decides(&self, value: ValueId) -> ValueId {
        self.decides.get(&value).copied().unwrap_or(value)
    }

    /// Records that a result of an op is one of its operands.
    fn passes(&mut self, m: &Module, op: OpId, result: ValueId, operand: ValueId) {
        self.decides.insert(result, self.decides(operand));
        if Primitive::of(m, op).is_some() && !super::is_gated(m, op) {
            self.behind.insert(result, self.behind(operand));
        }
    }

    /// The choice that a result or an operand is.
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

    /// The choice between inputs with these conditions, and its own condition.
    fn choose(&self, inputs: &[(usize, Literals)], tries: &mut u32) -> Option<(Choice, Literals)> {
        *tries = tries.checked_sub(1)?;
        if let [(i, when)] = inputs {
            return Some((Choice::Input(*i), when.clone()));
        }
        let (_, first) = inputs.first()?;
        first.iter().find_map(|&(predicate, _)| {
            let n = self.predicates.get(&predicate)?.branches;
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

    /// Fetched values that may be dead are chosen between themselves and an error.
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

    /// A literal whose predicate is no condition of the predicates of the others.
    fn innermost(&self, literals: &Literals) -> Option<usize> {
        let needs = |other: ValueId, p: ValueId| match self.of_value(other) {
            Liveness::When(when) => when.iter().any(|&(needed, _)| needed == p),
            Liveness::Never => false,
        };
        let is_inner = |&(p, _): &Literal| !literals.iter().any(|&(other, _)| other != p && needs(other, p));
        literals.iter().position(is_inner).or(literals.len().checked_sub(1))
    }
}

/// Which input of a Merge is live.
enum Choice {
    Input(usize),
    Of { predicate: ValueId, of: Vec<Choice> },
}
