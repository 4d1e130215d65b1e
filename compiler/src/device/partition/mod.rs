//! `tf-partition`: a function for each part of a program, with sends and recvs for what crosses.
//!
//! ```text
//! @main(%x)                                           @main.CPU_0(%x, %step)
//!   %a = tf.Sin(%x) {device = CPU:0}                    %a = tf.Sin(%x)
//!   %b = tf.Neg(%a) {device = CPU:1}           ──▶      dev.send %a in %step channel 0 to CPU:1
//!   return %b                                         @main.CPU_1(%step)
//!                                                       %a = dev.recv in %step channel 0 from CPU:0
//!                                                       %b = tf.Neg(%a)
//!                                                       dev.send %b in %step channel 1 to CPU:0
//! @main(%x)  %b = dev.parts(%x) {parts = [@main.CPU_0, @main.CPU_1], takes = [[0], []], gives = [[0], []]}
//! ```
//!
//! What nothing needs is removed first ([`prune`]). Every function becomes one function per part that has
//! ops in it ([`reach`]), and likewise every call, branch and loop ([`divide`]). A value crosses once for
//! each part that reads it. The parts of one call share a step (`!dev.step`), in which sends and recvs are
//! matched by key: the channel of the value and the frame in which it was sent. `dev.enter` makes the frame
//! of a loop, or of one of several calls of a function, and `dev.next` the frame of the next iteration.
//! Frames have the same names in all parts, hence the keys agree. A predicate rides on a value where one
//! crosses with it ([`riders`]).
//!
//! A recv has the simulated start of its first reader, in nanoseconds. It may have to wait, so that not too
//! much is received [`early`].
//!
//! A graph of primitives becomes one per part, with control loops ([`graph`], [`primitives`]).
//!
//! The ops of a function are divided in their order. An op only waits for ops that are earlier in that order,
//! so parts cannot wait for each other in a circle: [`verify`] checks it. Afterwards the sends of each part
//! move up ([`urgent`]).

mod divide;
mod early;
mod graph;
mod hoist;
mod order;
pub(super) mod primitives;
mod prune;
mod reach;
mod riders;
mod signals;
#[cfg(test)]
mod tests;
mod urgent;
pub(crate) mod verify;

use std::collections::{BTreeSet, VecDeque};

use bef_format::device::LOCALHOST;

use rustc_hash::{FxHashMap, FxHashSet};

use super::homes::{Homes, function_attr};
use super::place::simulate::StartTimes;
use super::specs::{DEVICES, Devices};
use super::transfers;
use crate::dialects::tf::{self, Control};
use crate::graph::effects::functions;
use crate::ir::{Module, OpId, StrId};
use crate::pass::symbol_dce::dead_symbols;
use crate::pass::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};
use divide::Divide;
use reach::{PartIndex, Reach, Role, roles_of};

pub(crate) const PASS: Pass = Pass {
    name: "tf-partition",
    title: "TFPartition",
    summary: "divides a program by device or by task, with sends and recvs for what crosses",
    options: &[
        DEVICES,
        PassOption {
            name: "by",
            summary: "what becomes a part",
            kind: OptionKind::Word("device", &["device", "worker"]),
        },
        PassOption {
            name: "wire",
            summary: "the type as which f32 crosses, rounded to nearest even",
            kind: OptionKind::Word("own", &["own", "bf16", "f16"]),
        },
        PassOption {
            name: "recv-memory",
            summary: "how many bytes a part may receive before they are read; 0 is no limit",
            kind: OptionKind::Number(0),
        },
        PassOption {
            name: "trips",
            summary: "how many iterations a loop is assumed to have",
            kind: OptionKind::Number(10),
        },
        PassOption {
            name: "only",
            summary: "keep this part only: its functions get the names of the whole ones",
            kind: OptionKind::Text(""),
        },
    ],
    statistics: &[
        ("num-sends", "Number of values that cross"),
        ("num-signals", "Number of control edges that cross"),
    ],
    run,
};

/// The parts of a program.
pub(super) struct PartTable {
    /// The names of the parts: `CPU_0`, `worker_1`.
    pub(super) names: Vec<String>,
    /// The part of each device.
    pub(super) of: Vec<PartIndex>,
    /// The name of one of a part's devices.
    pub(super) devices: Vec<String>,
}

impl PartTable {
    fn new(devices: &Devices, by_task: bool) -> PartTable {
        let mut parts = PartTable { names: Vec::new(), of: Vec::new(), devices: Vec::new() };
        let mut known: FxHashMap<String, PartIndex> = FxHashMap::default();
        for (_, name) in devices.all() {
            let task = match (name.job(), name.replica(), name.task()) {
                (LOCALHOST, 0, 0) => String::new(),
                (job, 0, task) => format!("{job}_{task}"),
                (job, replica, task) => format!("{job}_{replica}_{task}"),
            };
            let text = match (by_task, task.is_empty()) {
                (true, true) => "local".to_owned(),
                (true, false) => task,
                (false, true) => format!("{}_{}", name.kind(), name.index()),
                (false, false) => format!("{task}_{}_{}", name.kind(), name.index()),
            };
            let next = parts.names.len();
            let part = *known.entry(text.clone()).or_insert(next);
            if part == next {
                parts.names.push(text);
                parts.devices.push(name.to_string());
            }
            parts.of.push(part);
        }
        parts
    }
}

/// Gives loops copies of those functions that have another role as well, since each role has results of its
/// own; and replaces a loop's results that are invariants by their initial values.
fn prepare(r: &mut Rewriter<'_>) {
    let m = r.ir();
    let mut functions = functions(m);
    let mut taken: FxHashSet<StrId> = functions.keys().copied().collect();
    let all: Vec<OpId> = m.walk_functions().collect();
    let mut roles: FxHashMap<StrId, BTreeSet<Role>> = FxHashMap::default();
    for &op in &all {
        roles_of(m, op).into_iter().for_each(|(name, role)| _ = roles.entry(name).or_default().insert(role));
    }
    let is_loop = |m: &Module, op: OpId| Control::of(m, op) == Some(Control::While);
    let mut loops: VecDeque<OpId> = all.into_iter().filter(|&op| is_loop(m, op)).collect();
    let mut copies: FxHashMap<(StrId, Role), StrId> = FxHashMap::default();
    while let Some(op) = loops.pop_front() {
        for (attr, role) in [("cond", Role::Condition), ("body", Role::Body)] {
            let Some(name) = function_attr(r.ir(), op, attr) else { continue };
            let Some(&function) = functions.get(&name) else { continue };
            let is_only_role = roles.get(&name).is_none_or(|roles| roles.len() == 1);
            if is_only_role && r.ir().is_private(function) {
                continue;
            }
            let copy = copies.get(&(name, role)).copied().unwrap_or_else(|| {
                let stem = r.ir().cx.str(name).to_owned();
                let text = r.cx().free_name(&stem, |name| taken.insert(name));
                let copy = r.copy_function(function, &text);
                // Its loops have functions whose roles are known.
                loops.extend(r.ir().walk(copy).filter(|&op| is_loop(r.ir(), op)));
                let name = r.cx().str_id(&text);
                functions.insert(name, copy);
                name
            });
            copies.insert((name, role), copy);
            let text = r.ir().cx.str(copy).to_owned();
            let (attr, symbol) = (r.cx().str_id(attr), r.cx().symbol_attr(&text));
            r.set_attr(op, attr, symbol);
        }
        for i in 0..tf::n_data_results(r.ir(), op) {
            let m = r.ir();
            let (init, result) = (m.operand(op, i), m.result(op, i));
            if reach::is_invariant(m, &functions, op, i) {
                r.replace(result, init);
            }
        }
    }
}

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let Some(devices) = Devices::of_option(cx).filter(|devices| !devices.is_single()) else {
        return r.change();
    };
    if transfers::is_refused(r.ir(), &devices, cx) {
        return r.change();
    }
    // A part holds what it reaches. Lowering leaves functions that nothing runs any more, and so may pruning.
    let drop_dead = |r: &mut Rewriter<'_>| {
        dead_symbols(r.ir(), r.root()).into_iter().for_each(|op| r.erase(op));
    };
    drop_dead(r);
    primitives::flatten_all(r);
    prune::prune(r);
    drop_dead(r);
    primitives::assign_all(r, &devices);
    transfers::adopt(r, &devices);
    transfers::remove(r);
    prepare(r);
    let parts = PartTable::new(&devices, cx.text("by") == "worker");
    hoist::hoist(r, &devices, &parts);
    let homes = Homes::of_module(r.ir(), &devices);
    let reach = Reach::of_module(r.ir(), &homes, &parts.of);
    let starts = StartTimes::of(r.ir(), cx, &devices);
    let mut divide = Divide::new(r, cx, (&parts, starts), &reach);
    divide.run(Some(cx.text("only")).filter(|only| !only.is_empty()));
    let (n_sends, n_signals) = divide.crossings();
    urgent::sends_first(r, cx, &devices);
    // Else `tf-transfers` follows, which needs the names of ops on the client's device.
    if cx.text("by") == "device" && !devices.have_memories() {
        transfers::drop_client(r, &devices);
    }
    cx.count("num-sends", n_sends);
    cx.count("num-signals", n_signals);
    r.change()
}
