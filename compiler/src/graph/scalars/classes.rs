//! Classes of values that have one representation: all tensors of rank 0, or all scalars.
//!
//! ```text
//! tfrt.call                operand i and argument i of the function; value i that it returns and result i
//! tfrt.cond, tfrt.case     the same, for all functions
//! tfrt.while               operand i, argument i, value i that the body returns, result i
//! tf._Switch, SwitchCase   the data operand and the data results
//! tf._Merge                the data operands and the first result
//! dev.send, dev.recv       what is sent on a channel and what is received from it, if both are in the module
//! ```
//!
//! Only private functions that no other op refers to take part. The classes are sets of a union-find forest.

use std::mem::take;

use rustc_hash::{FxHashMap, FxHashSet};

use super::operators::Arithmetic;
use super::scalar_type;
use crate::device::is_in_other_memory;
use crate::dialects::tfrt::Call;
use crate::dialects::tfrt_control::{Case, Cond, While};
use crate::dialects::{Traits, dev};
use crate::graph::effects::{callees, functions};
use crate::ir::{AttrId, BlockId, KnownType, Module, OpId, StrId, ValueId};

/// The part of an op in the rewriting.
#[derive(Clone, Copy, Debug)]
pub(super) enum ScalarRole {
    /// It has a scalar equivalent.
    Computes(Arithmetic),
    /// It forwards values in either representation.
    Passes,
    /// Its operands and results are tensors.
    Other,
}

/// The classes of the values of a module.
#[derive(Default)]
pub(super) struct Classes {
    /// The parent of a value in its tree; roots have none.
    parents: FxHashMap<ValueId, ValueId>,
    /// The roots of the scalar classes.
    scalar: FxHashSet<ValueId>,
    roles: FxHashMap<OpId, ScalarRole>,
    /// The bodies of the functions that take part.
    passing: FxHashSet<BlockId>,
    /// Values that operators read or compute as scalars.
    wanted: Vec<ValueId>,
    /// Values that must keep their type.
    fixed: Vec<ValueId>,
}

/// The way in which a calling op passes its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calling {
    /// Operands from this one on are arguments.
    Once(usize),
    /// Operands from the second on are arguments, and the results become arguments again.
    Loop,
}

impl Calling {
    fn of(m: &Module, op: OpId) -> Option<Calling> {
        Some(match m.op_name_str(op) {
            Call::NAME => Calling::Once(0),
            Cond::NAME | Case::NAME => Calling::Once(1),
            While::NAME => Calling::Loop,
            _ => return None,
        })
    }
}

impl Classes {
    /// The classes of the values in these blocks of functions.
    pub(super) fn of(m: &Module, blocks: &[BlockId]) -> Classes {
        let mut classes = Classes::default();
        let functions = passing_functions(m);
        for &block in blocks {
            for op in m.ops_in(block) {
                classes.add(m, op, &functions);
                // Regions may read values from outside, and they are not rewritten.
                let inside = m.walk(op).skip(1).flat_map(|inner| m.operands(inner));
                classes.fixed.extend(inside);
            }
        }
        classes.channels(m, blocks);
        for &block in functions.values() {
            classes.passing.insert(block);
            classes.roles.extend(m.last_op(block).map(|end| (end, ScalarRole::Passes)));
        }
        let (wanted, fixed) = (take(&mut classes.wanted), take(&mut classes.fixed));
        let fixed = classes.roots(fixed);
        classes.scalar = classes.roots(wanted).difference(&fixed).copied().collect();
        classes
    }

    fn roots(&mut self, values: Vec<ValueId>) -> FxHashSet<ValueId> {
        values.into_iter().map(|value| self.root(value)).collect()
    }

    /// True if the arguments of a function may become scalars.
    pub(super) fn has_passing_arguments(&self, block: BlockId) -> bool {
        self.passing.contains(&block)
    }

    pub(super) fn have_scalars(&self) -> bool {
        !self.scalar.is_empty()
    }

    /// True if a value is, or becomes, a scalar for the ops that take it as one.
    pub(super) fn is_scalar(&mut self, value: ValueId) -> bool {
        let root = self.root(value);
        self.scalar.contains(&root)
    }

    pub(super) fn role(&self, op: OpId) -> ScalarRole {
        self.roles.get(&op).copied().unwrap_or(ScalarRole::Other)
    }

    fn add(&mut self, m: &Module, op: OpId, functions: &FxHashMap<StrId, BlockId>) {
        let crosses = dev::destination(m, op).is_some() || is_in_other_memory(m, op);
        if crosses && Calling::of(m, op).is_none() {
            // Scalars are in the host's memory.
            return self.fixed.extend(m.results(op));
        }
        if let Some(arithmetic) = Arithmetic::of(m, op) {
            self.roles.insert(op, ScalarRole::Computes(arithmetic));
            let read = m.operands(op).take(arithmetic.n_read(m.n_operands(op)));
            let is_tensor = |&value: &ValueId| scalar_type(m, m.value_type(value)).is_some();
            self.wanted.extend(read.chain([m.result(op, 0)]).filter(is_tensor));
            return;
        }
        let tied: Vec<ValueId> = match m.op_name_str(op) {
            "tf._Switch" | "tf._SwitchCase" => m.operands(op).take(1).chain(data(m, m.results(op))).collect(),
            "tf._Merge" if is_test_of_life(m, op) => Vec::new(),
            "tf._Merge" => data(m, m.operands(op)).chain(m.results(op).take(1)).collect(),
            "tf._Dead" | "tf._IsLive" | "tf._Join" | "tfrt.merge.chains" => Vec::new(),
            _ if m.traits(op).has(Traits::PASSES_TYPE) => {
                m.operands(op).take(1).chain(m.results(op)).collect()
            }
            _ => return self.call(m, op, functions),
        };
        self.tie(m, &tied);
        self.roles.insert(op, ScalarRole::Passes);
    }

    /// Ties what is sent on each channel to what is received from it. The other end of a channel may be in
    /// another module: then the value keeps its type.
    fn channels(&mut self, m: &Module, blocks: &[BlockId]) {
        let mut channels: FxHashMap<(AttrId, usize), [Vec<ValueId>; 2]> = FxHashMap::default();
        for op in blocks.iter().flat_map(|&block| m.ops_in(block)) {
            let (end, values): (usize, Vec<ValueId>) = match m.op_name_str(op) {
                dev::SEND => (0, dev::sent(m, op).collect()),
                dev::RECV => (1, m.results(op).collect()),
                _ => continue,
            };
            match m.attr_named(op, "channel").filter(|_| !is_in_other_memory(m, op)) {
                Some(channel) => values.into_iter().enumerate().for_each(|(i, value)| {
                    channels.entry((channel, i)).or_default()[end].push(value);
                }),
                None => self.fixed.extend(values),
            }
            self.roles.insert(op, ScalarRole::Passes);
        }
        for [sent, received] in channels.into_values() {
            let all = [&sent[..], &received[..]].concat();
            if sent.is_empty() || received.is_empty() {
                self.fixed.extend(all);
            } else {
                self.tie(m, &all);
            }
        }
    }

    /// Ties the operands and results of a call to the arguments and results of its functions.
    fn call(&mut self, m: &Module, op: OpId, functions: &FxHashMap<StrId, BlockId>) {
        let Some(calling) = Calling::of(m, op) else { return };
        let used = callees(m, op);
        let blocks = used.iter().map(|name| functions.get(name).copied());
        let Some(blocks) = blocks.collect::<Option<Vec<BlockId>>>() else { return };
        let first = match calling {
            Calling::Once(first) => first,
            Calling::Loop => 1,
        };
        let (operands, results): (Vec<ValueId>, Vec<ValueId>) =
            (m.operands(op).skip(first).collect(), m.results(op).collect());
        for &block in &blocks {
            for (&operand, &arg) in operands.iter().zip(m.args(block)) {
                self.tie(m, &[operand, arg]);
            }
            let returned = m.last_op(block).into_iter().flat_map(|end| m.operands(end));
            for (returned, &result) in returned.zip(&results) {
                self.tie(m, &[returned, result]);
            }
        }
        if calling == Calling::Loop {
            operands.iter().zip(&results).for_each(|(&operand, &result)| self.tie(m, &[operand, result]));
        }
        self.roles.insert(op, ScalarRole::Passes);
    }

    /// Joins the classes of values. They are fixed if not all are tensors of rank 0 of one type.
    fn tie(&mut self, m: &Module, values: &[ValueId]) {
        let Some((&first, rest)) = values.split_first() else { return };
        let ty = m.value_type(first);
        if scalar_type(m, ty).is_none() || rest.iter().any(|&value| m.value_type(value) != ty) {
            self.fixed.push(first);
        }
        let root = self.root(first);
        for &value in rest {
            let other = self.root(value);
            if other != root {
                self.parents.insert(other, root);
            }
        }
    }

    fn root(&mut self, value: ValueId) -> ValueId {
        let mut root = value;
        while let Some(&parent) = self.parents.get(&root) {
            root = parent;
        }
        // Path compression.
        let mut at = value;
        while at != root {
            at = self.parents.insert(at, root).unwrap_or(root);
        }
        root
    }
}

/// True for a Merge whose result is only tested for being dead. Its inputs may have different types.
pub(super) fn is_test_of_life(m: &Module, op: OpId) -> bool {
    m.op_name_str(op) == "tf._Merge"
        && m.users(m.result(op, 0)).all(|(user, _)| m.op_name_str(user) == "tf._IsLive")
}

/// The values other than chains.
fn data(m: &Module, values: impl Iterator<Item = ValueId>) -> impl Iterator<Item = ValueId> {
    values.filter(|&value| m.value_type(value) != KnownType::Chain.id())
}

/// The bodies of the private functions that only calls, branches and loops use.
fn passing_functions(m: &Module) -> FxHashMap<StrId, BlockId> {
    let mut found: FxHashMap<StrId, BlockId> = functions(m)
        .into_iter()
        .filter(|&(_, function)| m.is_private(function))
        .filter_map(|(name, function)| Some((name, m.only_block(function)?)))
        .collect();
    for op in m.walk(m.top()) {
        if Calling::of(m, op).is_none() {
            callees(m, op).iter().for_each(|name| _ = found.remove(name));
        }
    }
    found
}
