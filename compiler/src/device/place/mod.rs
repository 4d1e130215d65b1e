//! `tf-place`: a device for each op.
//!
//! ```text
//! specs, resources, colocation ──groups──▶ candidates ──policy──▶ device = "full name" on each op
//! ```
//!
//! The [`candidates`] of a group are the devices that match its spec and have kernels for its ops. `first` is
//! TensorFlow's rule: the first candidate by priority of its kind, then by name. Ops that only read a shape
//! are placed with their operand, and so are ops that forward a value, if less crosses then. Ops without
//! operands, and ops that forward an argument, are placed with their readers if these agree. `greedy` and
//! `list` place groups with several candidates by estimated times ([`costs`], [`schedule`]), or by those that
//! were measured ([`measured`]). Where a placement does not fit into the memory of the devices, groups move
//! to other candidates; a program that fits nowhere is refused.

mod candidates;
pub(super) mod costs;
mod groups;
pub(super) mod measured;
mod path;
mod report;
mod schedule;
pub(crate) mod simulate;

use std::collections::BTreeSet;

use befrost_tensor::tf::op::Op;
use rustc_hash::FxHashMap;

use super::specs::{CLIENT, DEVICES, DeviceIndex, Devices};
use super::{errors, resolve};
use crate::dialects::tf_executor::Primitive;
use crate::dialects::{Traits, tf};
use crate::ir::{Module, OpId, ValueId, names};
use crate::pass::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};
use candidates::Candidates;
use costs::Estimated;
use groups::{GroupId, Groups};
pub use measured::CostProfile;

pub(crate) const PASS: Pass = Pass {
    name: "tf-place",
    title: "TFPlace",
    summary: "chooses a device for each of TensorFlow's operators",
    options: &[
        DEVICES,
        PassOption {
            name: "policy",
            summary: "how to choose where an operator has a choice",
            kind: OptionKind::Word("first", &["first", "greedy", "list"]),
        },
        PassOption {
            name: "soft",
            summary: "drop index, then kind of a spec that no device matches",
            kind: OptionKind::Flag(false),
        },
        PassOption {
            name: "budget",
            summary: "how many placements `list` simulates at most",
            kind: OptionKind::Number(1000),
        },
        PassOption {
            name: "trips",
            summary: "how many iterations a loop is assumed to have",
            kind: OptionKind::Number(10),
        },
        PassOption { name: "print", summary: "print the placement", kind: OptionKind::Flag(false) },
        PassOption {
            name: "keep-times",
            summary: "keep the measured times, for `tf-simulate`",
            kind: OptionKind::Flag(false),
        },
    ],
    statistics: &[("num-placed", "Number of operators placed")],
    run,
};

/// The reason for a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// Its own spec.
    Spec,
    /// The resource that it works on.
    Resource,
    /// The op that it shares a device with.
    Colocated(OpId),
    /// Soft placement.
    Soft,
    /// There is no other candidate.
    Only,
    /// The operand whose shape it reads, or the readers of its result.
    Neighbour,
    /// It is the first one.
    First,
    /// The estimated time.
    Cost,
}

/// The device of a group.
#[derive(Clone, Copy)]
struct PlacedGroup {
    device: DeviceIndex,
    reason: Reason,
}

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let Some(devices) = Devices::of_option(cx) else { return r.change() };
    let is_resolved = resolve::resolve(r, cx, &devices).is_some();
    let measured = measured::measured(r.ir(), cx);
    if !cx.flag("keep-times") {
        measured::forget(r);
    }
    if devices.is_single() || !is_resolved {
        return r.change();
    }
    let m = r.ir();
    let soft = cx.flag("soft");
    let groups = Groups::of_module(m, cx, soft);
    let Some(candidates) = Candidates::of_groups(m, &groups, &devices, soft, cx) else { return r.change() };
    let mut choices = first(m, &groups, &candidates);
    let trips = cx.number("trips").clamp(1, 1_000_000) as f64;
    let policy = cx.text("policy");
    let wants_times = policy != "first" || cx.flag("print") || devices.have_capacities();
    let estimated = wants_times.then(|| Estimated::of(m, &groups, &candidates, &devices, (trips, &measured)));
    if let Some(Estimated { problem, groups: of, .. }) = &estimated {
        let budget = usize::try_from(cx.number("budget")).unwrap_or(0);
        let device_of = |all: &Vec<GroupId>| all.first().map_or(CLIENT, |&group| choices[group].device);
        let mut chosen: Vec<DeviceIndex> = of.iter().map(device_of).collect();
        let placed = match policy {
            "first" => problem.fit(chosen.clone(), budget),
            "greedy" => problem.fit(problem.greedy(), budget),
            _ => problem.list(budget),
        };
        if policy != "first" {
            chosen.clear();
        }
        for (i, (groups, &device)) in of.iter().zip(&placed).enumerate() {
            // What `first` has chosen stays, unless it has to go.
            if chosen.get(i) == Some(&device) {
                continue;
            }
            for &group in groups.iter().filter(|&&group| candidates[group].has_choice()) {
                let reason = candidates[group].reason.unwrap_or(Reason::Cost);
                choices[group] = PlacedGroup { device, reason };
            }
        }
        let over = problem.excess(&problem.simulate(&placed));
        if !over.is_empty() {
            cx.report(errors::no_memory(&devices, &over));
            return r.change();
        }
    }
    if let (Some(estimated), true) = (&estimated, cx.flag("print")) {
        cx.print(&report::table(m, &groups, &choices, &devices, estimated));
    }
    let mut n_placed = 0;
    for (group, choice) in groups.all.iter().zip(&choices) {
        let name = r.cx().str_attr(&devices.name(choice.device).to_string());
        for &op in &group.ops {
            r.set_attr(op, names::DEVICE, name);
            r.remove_attr(op, names::COLOCATE);
            n_placed += 1;
        }
    }
    cx.count("num-placed", n_placed);
    // Primitives follow what they pass on: `partition::primitives`.
    let m = r.ir();
    let primitives: Vec<OpId> = m.walk_functions().filter(|&op| Primitive::of(m, op).is_some()).collect();
    for op in primitives {
        r.remove_attr(op, names::DEVICE);
        r.remove_attr(op, names::COLOCATE);
    }
    r.change()
}

/// TensorFlow's rule.
fn first(m: &Module, groups: &Groups, candidates: &[Candidates]) -> Vec<PlacedGroup> {
    let mut choices: Vec<PlacedGroup> = candidates
        .iter()
        .map(|Candidates { devices, reason }| PlacedGroup {
            device: devices[0],
            reason: reason.unwrap_or(Reason::First),
        })
        .collect();
    let place = |group: GroupId, wanted: Option<DeviceIndex>, choices: &mut Vec<PlacedGroup>| {
        if let Some(device) = wanted.filter(|device| candidates[group].devices.contains(device))
            && candidates[group].has_choice()
        {
            let reason = candidates[group].reason.unwrap_or(Reason::Neighbour);
            choices[group] = PlacedGroup { device, reason };
        }
    };
    let device_of = |value: ValueId, choices: &[PlacedGroup]| match m.defining_op(value) {
        Some(op) => groups.of.get(&op).map(|&group| choices[group].device),
        None => Some(CLIENT),
    };
    for (id, group) in groups.all.iter().enumerate() {
        if let Some(op) = group.reads_shape_only(m) {
            let operand = m.operands(op).next().and_then(|value| device_of(value, &choices));
            place(id, operand, &mut choices);
        }
    }
    // Ops that forward a value: first, in program order, to its producer if less crosses then; then, in
    // reverse, to its readers.
    let passing: Vec<GroupId> =
        (0..groups.all.len()).filter(|&id| groups.all[id].passes_on(m).is_some()).collect();
    for &id in &passing {
        let Some(value) = groups.all[id].passes_on(m) else { continue };
        let made = m.defining_op(value).and_then(|op| groups.of.get(&op));
        let Some(made) = made.map(|&group| choices[group].device) else { continue };
        let op = groups.all[id].ops[0];
        let readers = |value: ValueId| -> BTreeSet<DeviceIndex> {
            let others = m.users(value).filter(|&(user, _)| user != op);
            // What the program returns goes to the client; where results of other functions go is not known.
            let is_program = |op| m.parent_op(op).is_some_and(|function| !m.is_private(function));
            let device = |(user, _)| match groups.of.get(&user) {
                Some(&group) => Some(choices[group].device),
                None => (m.traits(user).has(Traits::RETURN) && is_program(user)).then_some(CLIENT),
            };
            others.filter_map(device).collect()
        };
        let (of_value, of_result) = (readers(value), readers(m.result(op, 0)));
        let n_crossings = |at: DeviceIndex| {
            let to_others = of_value.iter().chain(Some(&at).filter(|at| !of_value.contains(at)));
            to_others.filter(|&&device| device != made).count()
                + of_result.iter().filter(|&&device| device != at).count()
        };
        let here = choices[id].device;
        // Nothing crosses from one device to another that nothing crossed between before.
        let is_between = of_result.iter().all(|device| [made, here].contains(device));
        let is_less = is_between && n_crossings(made) < n_crossings(here);
        place(id, Some(made).filter(|_| is_less), &mut choices);
    }
    for &id in passing.iter().rev() {
        let group = &groups.all[id];
        let is_argument = group.passes_on(m).is_some_and(|value| m.defining_op(value).is_none());
        let users = group.ops.iter().flat_map(|&op| m.results(op)).flat_map(|value| m.users(value));
        let mut devices = users.filter_map(|(op, _)| groups.of.get(&op)).map(|&group| choices[group].device);
        let agreed = devices.next().filter(|&first| is_argument && devices.all(|device| device == first));
        place(id, agreed, &mut choices);
    }
    let readers = readers(m, groups);
    for (id, group) in groups.all.iter().enumerate() {
        if let Some(op) = group.source(m) {
            let mut devices = readers.get(&op).into_iter().flatten().map(|&group| choices[group].device);
            let agreed = devices.next().filter(|&first| devices.all(|device| device == first));
            place(id, agreed, &mut choices);
        }
    }
    choices
}

/// The groups that read the results of ops without operands but control edges.
fn readers(m: &Module, groups: &Groups) -> FxHashMap<OpId, Vec<GroupId>> {
    let mut readers: FxHashMap<OpId, Vec<GroupId>> = FxHashMap::default();
    for (id, group) in groups.all.iter().enumerate() {
        for value in group.ops.iter().flat_map(|&op| m.operands(op)) {
            if let Some(op) = m.defining_op(value).filter(|&op| tf::n_data_operands(m, op) == 0) {
                readers.entry(op).or_default().push(id);
            }
        }
    }
    readers
}

/// True if an operator does nothing but run functions.
fn is_control(m: &Module, op: OpId) -> bool {
    tf::Control::of(m, op).is_some() || tf::operator(m, op) == Some(Op::NoOp)
}
