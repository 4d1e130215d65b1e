//! Groups of ops that share a device, with their merged specs.
//!
//! Ops are in one group if they work on the same resource or reference, also through functions, loops and
//! branches, or if `colocate` says so. Specs of a group are merged, beginning with the ops that create its
//! resources. An op on a resource whose spec contradicts follows the resource, with a warning; any other
//! contradiction is an error.

use bef_format::device::DeviceSpec;
use befrost_tensor::tf::op::Op;
use rustc_hash::FxHashMap;

use super::path::Ties;
use crate::device::handles::ties;
use crate::device::sets::Sets;
use crate::device::specs::{Specs, groups_of};
use crate::device::{errors, is_handle, is_placed};
use crate::dialects::tf::{self, Control};
use crate::graph::effects::functions;
use crate::ir::{AttrKind, Module, OpId, StrId, ValueId};
use crate::pass::PassCx;

/// Number of a group.
pub(super) type GroupId = usize;

/// Ops that share a device.
pub(super) struct DeviceGroup {
    /// In the order of the program.
    pub(super) ops: Vec<OpId>,
    /// The merged specs.
    pub(super) spec: DeviceSpec,
    /// The op that gave the spec.
    pub(super) by: Option<OpId>,
    /// Whether a resource joins the ops.
    pub(super) is_resource: bool,
}

/// The groups of all placed ops of a module.
pub(super) struct Groups {
    pub(super) all: Vec<DeviceGroup>,
    pub(super) of: FxHashMap<OpId, GroupId>,
}

/// A thing that shares a device with others.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Tied {
    Op(OpId),
    Value(ValueId),
    /// A colocation group of a function.
    Class(OpId, StrId),
    /// The container and the name of a resource, and a number: resources of one name on different devices are
    /// different ones.
    Named(Option<StrId>, StrId, usize),
}

/// The specs of the resources of each container and name. An op without a spec means the first.
#[derive(Default)]
struct NamedSpecs(FxHashMap<(Option<StrId>, StrId), Vec<DeviceSpec>>);

impl NamedSpecs {
    /// The number of the resource of this name that an op with this spec makes.
    fn number(&mut self, container: Option<StrId>, name: StrId, spec: &DeviceSpec) -> usize {
        let known = self.0.entry((container, name)).or_default();
        let fits = |known: &DeviceSpec| spec.within(known) == known.within(spec);
        let at = known.iter().position(fits).unwrap_or(known.len());
        match known.get_mut(at) {
            Some(known) => *known = spec.within(known),
            None => known.push(spec.clone()),
        }
        at
    }
}

impl Groups {
    /// The groups of a module, whose specs are resolved. Reports contradictions.
    pub(super) fn of_module(m: &Module, cx: &PassCx<'_>, soft: bool) -> Groups {
        let functions = functions(m);
        let mut order: Vec<OpId> = functions.values().copied().collect();
        order.sort_unstable();
        let (mut specs, mut named) = (Specs::default(), NamedSpecs::default());
        let (mut sets, mut known) = (Sets::<Tied>::default(), Ties::default());
        let mut ops = Vec::new();
        for &function in &order {
            for op in m.walk(function) {
                let mut join = |a, b| {
                    sets.join(a, b);
                    known.add(a, b);
                };
                ties(m, op, &functions, &mut |a, b| join(Tied::Value(a), Tied::Value(b)));
                if !is_placed(m, op) {
                    continue;
                }
                ops.push(op);
                for class in groups_of(m, op) {
                    join(Tied::Op(op), Tied::Class(function, class));
                }
                if Control::of(m, op).is_none() {
                    let spec = specs.of(m, op, cx);
                    tie(m, op, &mut join, |container, name| named.number(container, name, &spec));
                }
            }
        }
        let mut groups = Groups { all: Vec::new(), of: FxHashMap::default() };
        let mut number: FxHashMap<usize, GroupId> = FxHashMap::default();
        for op in ops {
            let id = sets.id(Tied::Op(op));
            let id = *number.entry(sets.find(id)).or_insert_with(|| {
                groups.all.push(DeviceGroup {
                    ops: Vec::new(),
                    spec: DeviceSpec::default(),
                    by: None,
                    is_resource: false,
                });
                groups.all.len() - 1
            });
            groups.all[id].ops.push(op);
            groups.of.insert(op, id);
        }
        for group in &mut groups.all {
            group.merge(m, &mut specs, &known, (cx, soft));
        }
        groups
    }
}

/// Ties an op to the resources among its operands and results. `number` is that of a resource that the op
/// makes.
fn tie(
    m: &Module,
    op: OpId,
    join: &mut impl FnMut(Tied, Tied),
    number: impl FnOnce(Option<StrId>, StrId) -> usize,
) {
    for value in m.operands(op).chain(m.results(op)).filter(|&value| is_handle(m, value)) {
        join(Tied::Op(op), Tied::Value(value));
    }
    let text = |name| match m.cx.attr(m.attr_named(op, name)?) {
        AttrKind::Str { text, .. } => Some(*text).filter(|&text| !m.cx.str(text).is_empty()),
        _ => None,
    };
    if makes_resource(m, op)
        && let Some(name) = text("shared_name")
    {
        let container = text("container");
        join(Tied::Op(op), Tied::Named(container, name, number(container, name)));
    }
}

/// True if an op's resource comes from nowhere else.
fn makes_resource(m: &Module, op: OpId) -> bool {
    m.results(op).any(|value| is_handle(m, value)) && !m.operands(op).any(|value| is_handle(m, value))
}

impl DeviceGroup {
    /// Merges the specs of the ops.
    fn merge(&mut self, m: &Module, specs: &mut Specs, known: &Ties, (cx, soft): (&PassCx<'_>, bool)) {
        let is_tied_op = |&op: &OpId| {
            Control::of(m, op).is_none()
                && m.operands(op).chain(m.results(op)).any(|value| is_handle(m, value))
        };
        self.is_resource = self.ops.iter().any(is_tied_op);
        let mut order = self.ops.clone();
        order.sort_by_key(|&op| !makes_resource(m, op));
        for op in order {
            let spec = specs.of(m, op, cx);
            if spec.is_open() {
                continue;
            }
            let merged = spec.within(&self.spec);
            if let (Some(by), false) = (self.by, self.spec.within(&spec) == merged) {
                let other = (by, &self.spec);
                if self.is_resource && is_tied_op(&op) {
                    cx.report(errors::resource_wins(m, op, &spec, other));
                } else if soft {
                    cx.report(errors::soft(m, op, &spec, &self.spec));
                } else {
                    cx.report(errors::contradiction(m, op, &spec, other, known.path(m, by, op)));
                }
                continue;
            }
            self.spec = merged;
            self.by.get_or_insert(op);
        }
    }

    /// The only op, if it only reads the shape of its operand.
    pub(super) fn reads_shape_only(&self, m: &Module) -> Option<OpId> {
        let &[op] = &self.ops[..] else { return None };
        matches!(tf::operator(m, op), Some(Op::Shape | Op::Size | Op::Rank)).then_some(op)
    }

    /// The value that the only op of the group returns as it is.
    pub(super) fn passes_on(&self, m: &Module) -> Option<ValueId> {
        let &[op] = &self.ops[..] else { return None };
        let is_one = tf::operator(m, op) == Some(Op::Identity);
        is_one.then(|| m.operands(op).next()).flatten()
    }

    /// The only op, if it has one result and no operands but control edges.
    pub(super) fn source(&self, m: &Module) -> Option<OpId> {
        let &[op] = &self.ops[..] else { return None };
        (tf::n_data_operands(m, op) == 0 && tf::n_data_results(m, op) == 1).then_some(op)
    }
}
