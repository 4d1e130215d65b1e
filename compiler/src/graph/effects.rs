//! Effects in the op graph: functions with effects, resources that ops work on, and the chains that they wait
//! for. Which ops have effects on state is in their definitions ([`state_access`]), as for all passes.
//!
//! Variables with different names are different resources, and so are those that different ops create. A
//! resource that is an argument of a function may be any resource. Ops on such a resource, and effects
//! without a known resource (printing, assertions), are ordered against all effects.

use befrost_tensor::tf::op::{Op, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dialects::tf;
use crate::dialects::{Access, Traits};
use crate::ir::{AttrKind, KnownType, Module, OpId, StrId, TypeId, ValueId};
use crate::pass::Rewriter;
use crate::rewrite::{state_access, with_callers};

/// The functions of a module by name.
pub(crate) fn functions(m: &Module) -> FxHashMap<StrId, OpId> {
    let named =
        m.ops_in(m.body()).filter(|&op| m.def(op).is_some_and(|def| def.traits.has(Traits::FUNCTION)));
    named.filter_map(|op| Some((m.symbol_name(op)?, op))).collect()
}

/// The ops directly in the body of a function.
pub(crate) fn body(m: &Module, function: OpId) -> Vec<OpId> {
    let blocks = m.regions_of(function).iter().flat_map(|&region| m.blocks_of(region));
    blocks.flat_map(|&block| m.ops_in(block)).collect()
}

/// The functions that the attributes of an op refer to.
pub(crate) fn callees(m: &Module, op: OpId) -> Vec<StrId> {
    let mut names = Vec::new();
    for &(_, attr) in m.attrs(op) {
        match m.cx.attr(attr) {
            AttrKind::Symbol { root, nested } if nested.is_empty() => names.push(*root),
            AttrKind::Array(items) => names.extend(items.iter().filter_map(|&item| match m.cx.attr(item) {
                AttrKind::Symbol { root, nested } if nested.is_empty() => Some(*root),
                _ => None,
            })),
            _ => {}
        }
    }
    names
}

/// A resource that is known to differ from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Resource {
    /// The container and the name of a variable.
    Named(Option<StrId>, StrId),
    /// Created by the op with this result.
    Made(ValueId),
}

fn is_ref(m: &Module, value: ValueId) -> bool {
    tf::type_of(&m.cx, m.value_type(value)).is_some_and(|(_, is_ref)| is_ref)
}

/// The origin of a resource.
enum Origin {
    Resource(Resource),
    /// The same resource as this value.
    SameAs(ValueId),
    Unknown,
}

fn origin(m: &Module, value: ValueId) -> Origin {
    let Some(op) = m.defining_op(value) else { return Origin::Unknown };
    match tf::operator(m, op) {
        Some(Op::Identity) => Origin::SameAs(m.operand(op, 0)),
        Some(operator) if tf::names_resource(operator.row()) => {
            let text = |name| match m.cx.attr(m.attr_named(op, name)?) {
                AttrKind::Str { text, .. } => Some(*text),
                _ => None,
            };
            Origin::Resource(match text("shared_name").filter(|&name| !m.cx.str(name).is_empty()) {
                Some(name) => Resource::Named(text("container"), name),
                None => Resource::Made(value),
            })
        }
        Some(Op::TensorArrayV3 | Op::StackV2) => Origin::Resource(Resource::Made(value)),
        // Ops that change a variable forward its reference.
        Some(_) if is_ref(m, value) => {
            m.operands(op).next().filter(|&first| is_ref(m, first)).map_or(Origin::Unknown, Origin::SameAs)
        }
        _ => Origin::Unknown,
    }
}

/// The chains of the last effects on a resource.
#[derive(Default)]
struct ResourceChains {
    /// The chain of the last write.
    written: Option<ValueId>,
    /// The chains of the reads after it.
    read: Vec<ValueId>,
}

impl ResourceChains {
    /// The chains that a write waits for.
    fn last(&self) -> impl Iterator<Item = ValueId> {
        let written = self.written.filter(|_| self.read.is_empty());
        self.read.iter().copied().chain(written)
    }
}

/// The chains of the effects of a block so far.
pub(super) struct EffectState {
    /// Effects on unknown resources. All lanes start after its last write.
    all: ResourceChains,
    lanes: FxHashMap<Resource, ResourceChains>,
    /// The resources of the values that were looked up.
    resources: FxHashMap<ValueId, Option<Resource>>,
    /// The chains of all effects, if nothing but operands orders them.
    unordered: Option<Vec<ValueId>>,
}

impl EffectState {
    /// The state of a block whose effects wait for `chain`, and in which nothing but operands orders them.
    pub(super) fn unordered(chain: Option<ValueId>) -> EffectState {
        EffectState { unordered: Some(Vec::new()), ..EffectState::after(chain) }
    }

    /// The chains of all effects so far, which may be dead, if nothing orders them.
    pub(super) fn completions(&self) -> Option<&[ValueId]> {
        self.unordered.as_deref()
    }

    /// The state of a block whose effects wait for `chain`.
    pub(super) fn after(chain: Option<ValueId>) -> EffectState {
        let all = ResourceChains { written: chain, read: Vec::new() };
        let (lanes, resources) = Default::default();
        EffectState { all, lanes, resources, unordered: None }
    }

    /// Makes all later effects wait for `chain`, which itself waits for all effects so far.
    pub(super) fn barrier(&mut self, chain: Option<ValueId>) {
        if let Some(completions) = &mut self.unordered {
            return completions.extend(chain);
        }
        self.all = ResourceChains { written: chain, read: Vec::new() };
        self.lanes.clear();
    }

    /// The resources that an op works on, if they are known.
    pub(super) fn resources(&mut self, m: &Module, op: OpId) -> Option<Vec<Resource>> {
        let n = tf::n_data_operands(m, op);
        let is_resource = |value: &ValueId| {
            let ty = tf::type_of(&m.cx, m.value_type(*value));
            ty.is_some_and(|(ty, is_ref)| is_ref || ty == Type::Resource)
        };
        let mut values: Vec<ValueId> = m.operands(op).take(n).filter(is_resource).collect();
        if values.is_empty() {
            // A resource that the op creates.
            values.extend(m.results(op).next());
        }
        let found: Vec<Resource> =
            values.into_iter().map(|value| self.resource(m, value)).collect::<Option<_>>()?;
        if found.is_empty() { None } else { Some(found) }
    }

    /// The resource of a value.
    fn resource(&mut self, m: &Module, mut value: ValueId) -> Option<Resource> {
        let mut passed = Vec::new();
        let found = loop {
            if let Some(&known) = self.resources.get(&value) {
                break known;
            }
            passed.push(value);
            match origin(m, value) {
                Origin::Resource(resource) => break Some(resource),
                Origin::SameAs(from) => value = from,
                Origin::Unknown => break None,
            }
        };
        self.resources.extend(passed.into_iter().map(|value| (value, found)));
        found
    }

    /// The chains that an op with this effect waits for.
    pub(super) fn waits(&self, access: Access, resources: Option<&[Resource]>) -> Vec<ValueId> {
        let mut found = Vec::new();
        let only_reads = access == Access::Read;
        match resources {
            None if only_reads => {
                found.extend(self.all.written);
                found.extend(self.lanes.values().filter_map(|lane| lane.written));
            }
            None => {
                let is_first = self.lanes.is_empty();
                found.extend(self.all.last().filter(|_| is_first || !self.all.read.is_empty()));
                found.extend(self.lanes.values().flat_map(ResourceChains::last));
            }
            Some(resources) => {
                for lane in resources.iter().map(|resource| self.lanes.get(resource)) {
                    let own: Vec<ValueId> = match lane {
                        Some(lane) if only_reads => lane.written.into_iter().collect(),
                        Some(lane) => lane.last().collect(),
                        None => Vec::new(),
                    };
                    found.extend(if own.is_empty() { self.all.written.into_iter().collect() } else { own });
                }
                if !only_reads {
                    found.extend(&self.all.read);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Records that an op's effect is complete at `chain`.
    pub(super) fn record(&mut self, access: Access, resources: Option<&[Resource]>, chain: ValueId) {
        if let Some(completions) = &mut self.unordered {
            return completions.push(chain);
        }
        let only_reads = access == Access::Read;
        match resources {
            None if only_reads => self.all.read.push(chain),
            None => self.barrier(Some(chain)),
            Some(resources) => {
                for &resource in resources {
                    let lane = self.lanes.entry(resource).or_default();
                    match only_reads {
                        true => lane.read.push(chain),
                        false => *lane = ResourceChains { written: Some(chain), read: Vec::new() },
                    }
                }
            }
        }
    }
}

impl EffectState {
    /// Orders an op among the effects: it waits for those before it, and later ones for its completion.
    /// Returns the op that replaces it, which has a completion.
    pub(super) fn order(
        &mut self,
        r: &mut Rewriter<'_>,
        op: OpId,
        access: Access,
        resources: Option<&[Resource]>,
    ) -> OpId {
        let m = r.ir();
        let (n_operands, n_results) = (tf::n_data_operands(m, op), tf::n_data_results(m, op));
        let mut operands: Vec<ValueId> = m.operands(op).collect();
        operands.extend(self.waits(access, resources));
        let edges = operands.split_off(n_operands);
        for edge in edges {
            if !operands[n_operands..].contains(&edge) {
                operands.push(edge);
            }
        }
        let mut types: Vec<TypeId> = m.results(op).take(n_results).map(|value| m.value_type(value)).collect();
        types.push(KnownType::Chain.id());
        let new = r.rebuild(op, &operands, &types);
        let mut results: Vec<ValueId> = r.ir().results(new).collect();
        self.record(access, resources, results[n_results]);
        results.truncate(r.ir().n_results(op));
        r.replace_op(op, &results);
        new
    }
}

/// The access of an op to state, that of its callees included, some of which are `effectful`.
pub(crate) fn access(m: &Module, op: OpId, effectful: &FxHashSet<StrId>) -> Option<Access> {
    let calls = || callees(m, op).iter().any(|name| effectful.contains(name));
    state_access(m, op).or_else(|| calls().then_some(Access::Write))
}

/// The functions with effects, their own, those of graphs in them, or those of callees.
pub(crate) fn effectful(m: &Module, functions: &FxHashMap<StrId, OpId>) -> FxHashSet<StrId> {
    let (mut own, mut calls) = (Vec::new(), Vec::new());
    for (&name, &function) in functions {
        for op in m.walk(function) {
            if state_access(m, op).is_some() {
                own.push(name);
            }
            calls.extend(callees(m, op).into_iter().map(|callee| (name, callee)));
        }
    }
    with_callers(own, &calls)
}
