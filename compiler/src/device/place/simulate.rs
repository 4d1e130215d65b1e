//! `tf-simulate`: the schedule of a placed program, as numbers or as a picture.
//!
//! ```text
//! CPU:0           ▐████▌    ▐██▌      a row for each device, a box for each op
//! CPU:1                 ▐███▌
//! CPU:0 to CPU:1       ▐▌             a row for each link, a box for each value that crosses
//! ```
//!
//! The times are those by which policies place ([`costs`](super::costs), [`schedule`](super::schedule));
//! ops in functions belong to the op that calls them.

use std::collections::hash_map::Entry;
use std::fmt::Write;

use bef_format::device::ScheduleView;
use rustc_hash::FxHashMap;

use super::candidates::Candidates;
use super::costs::Estimated;
use super::groups::Groups;
use super::measured::{forget, measured};
use super::report::{summary, traffic};
use super::schedule::{SimulatedCrossing, SimulatedSchedule};
use crate::device::body_with_graphs;
use crate::device::errors::op_text;
use crate::device::specs::{DEVICES, DeviceIndex, Devices};
use crate::graph::effects::{callees, functions};
use crate::ir::{Module, OpId, StrId};
use crate::pass::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "tf-simulate",
    title: "TFSimulate",
    summary: "prints the simulated schedule of a placed program",
    options: &[
        DEVICES,
        PassOption {
            name: "trips",
            summary: "how many iterations a loop is assumed to have",
            kind: OptionKind::Number(10),
        },
        PassOption { name: "svg", summary: "print a picture", kind: OptionKind::Flag(false) },
    ],
    statistics: &[],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let Some(devices) = Devices::of_option(cx).filter(|devices| devices.len() > 0) else {
        return r.change();
    };
    let m = r.ir();
    let Some((estimated, placed, schedule)) = simulated(m, cx, &devices) else { return r.change() };
    let text = match cx.flag("svg") {
        true => picture(m, &devices, &estimated, &placed, &schedule),
        false => numbers(&devices, &estimated, &placed, &schedule),
    };
    cx.print(&text);
    forget(r);
    r.change()
}

/// The simulation of a placed program: its tasks, the device of each of their groups, and the times. Nothing
/// after an error.
fn simulated(
    m: &Module,
    cx: &PassCx<'_>,
    devices: &Devices,
) -> Option<(Estimated, Vec<DeviceIndex>, SimulatedSchedule)> {
    let groups = Groups::of_module(m, cx, false);
    let candidates = Candidates::of_groups(m, &groups, devices, false, cx)?;
    let trips = cx.number("trips").clamp(1, 1_000_000) as f64;
    let measured = measured(m, cx);
    let estimated = Estimated::of(m, &groups, &candidates, devices, (trips, &measured));
    let placed: Vec<DeviceIndex> =
        estimated.problem.candidates.iter().map(|candidates| candidates[0]).collect();
    let schedule = estimated.problem.simulate(&placed);
    Some((estimated, placed, schedule))
}

/// The simulated starts of a placed program's ops, in nanoseconds.
pub(in crate::device) struct StartTimes {
    ops: FxHashMap<OpId, i64>,
    functions: FxHashMap<StrId, i64>,
    /// The end of the program.
    end: i64,
}

impl StartTimes {
    /// The times for the options of a pass; none after an error.
    pub(in crate::device) fn of(m: &Module, cx: &PassCx<'_>, devices: &Devices) -> Option<StartTimes> {
        let (estimated, _, schedule) = simulated(m, cx, devices)?;
        // The conversion saturates.
        let starts = schedule.times.iter().map(|&(start, _)| start as i64);
        let ops: FxHashMap<OpId, i64> = estimated.ops.iter().copied().zip(starts).collect();
        let of_name = functions(m);
        let mut in_order: Vec<(i64, OpId)> = ops.iter().map(|(&op, &start)| (start, op)).collect();
        in_order.sort_unstable();
        let mut times = StartTimes { ops, functions: FxHashMap::default(), end: schedule.makespan as i64 };
        for (start, op) in in_order {
            let mut todo = callees(m, op);
            while let Some(name) = todo.pop() {
                if let (Entry::Vacant(new), Some(&function)) =
                    (times.functions.entry(name), of_name.get(&name))
                {
                    new.insert(start);
                    todo.extend(body_with_graphs(m, function).into_iter().flat_map(|op| callees(m, op)));
                }
            }
        }
        Some(times)
    }

    /// When an op of a function begins: in a function that others call, when the first of these does; what
    /// the program returns, at its end.
    pub(in crate::device) fn start(&self, op: OpId, function: StrId) -> i64 {
        self.ops.get(&op).or_else(|| self.functions.get(&function)).copied().unwrap_or(self.end)
    }
}

/// The work of each device, the whole, and the bytes on each link.
fn numbers(
    devices: &Devices,
    estimated: &Estimated,
    placed: &[DeviceIndex],
    schedule: &SimulatedSchedule,
) -> String {
    let mut text = summary(devices, &estimated.problem, placed, schedule, None);
    for ((from, to), bytes) in traffic(&estimated.problem, placed, schedule) {
        _ = writeln!(text, "{} to {}: {bytes} bytes", devices.name(from), devices.name(to));
    }
    text
}

/// The schedule as SVG.
fn picture(
    m: &Module,
    devices: &Devices,
    estimated: &Estimated,
    placed: &[DeviceIndex],
    schedule: &SimulatedSchedule,
) -> String {
    let mut view = ScheduleView::new(devices.all().map(|(device, name)| (device, name.to_string())));
    let home = |task: usize| placed[estimated.problem.tasks[task].group];
    for (task, (&span, &op)) in schedule.times.iter().zip(&estimated.ops).enumerate() {
        view.works(home(task), span, op_text(m, op));
    }
    for &SimulatedCrossing { from, to, arrival, .. } in &schedule.crossings {
        let title = op_text(m, estimated.ops[from]);
        view.crosses(home(from), to, (schedule.times[from].1, arrival), title);
    }
    let (makespan, moved) = (schedule.makespan / 1e3, schedule.moved);
    view.svg(&format!("makespan {makespan:.1} us, {moved:.0} bytes cross"))
}
