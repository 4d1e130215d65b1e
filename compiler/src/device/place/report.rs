//! The placement as a table.
//!
//! ```text
//! op                device                                          why    start   end
//! 'a' (tf.Sin)      /job:localhost/replica:0/task:0/device:CPU:1    spec    0 us    1.2 us
//! ```
//!
//! Start and end are simulated; ops in functions have neither. Then for each device what it does and needs,
//! and the whole.

use std::collections::BTreeMap;
use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::costs::Estimated;
use super::groups::Groups;
use super::schedule::{Problem, SimulatedCrossing, SimulatedSchedule};
use super::{PlacedGroup, Reason, is_control};
use crate::device::errors::op_text;
use crate::device::specs::{CLIENT, DeviceIndex, Devices};
use crate::dialects::tf::READ_REF;
use crate::ir::{LocKind, Module, OpId};

/// The table.
pub(super) fn table(
    m: &Module,
    groups: &Groups,
    choices: &[PlacedGroup],
    devices: &Devices,
    estimated: &Estimated,
) -> String {
    let Estimated { problem, groups: of, ops: tasks } = estimated;
    let device_of = |all: &Vec<usize>| all.first().map_or(CLIENT, |&group| choices[group].device);
    let placed: Vec<DeviceIndex> = of.iter().map(device_of).collect();
    let schedule = problem.simulate(&placed);
    let times: FxHashMap<OpId, (f64, f64)> =
        tasks.iter().copied().zip(schedule.times.iter().copied()).collect();
    let mut rows: Vec<[String; 5]> = vec![["op", "device", "why", "start", "end"].map(str::to_owned)];
    // A read of a reference belongs to the op that reads.
    let mut ops: Vec<OpId> = groups.of.keys().copied().filter(|&op| m.op_name_str(op) != READ_REF).collect();
    ops.sort_unstable();
    let mut counts = vec![0usize; devices.len()];
    for op in ops {
        let group = groups.of[&op];
        let PlacedGroup { device, reason } = choices[group];
        counts[usize::from(device)] += usize::from(!is_control(m, op));
        let group = &groups.all[group];
        let reason = match reason {
            Reason::Spec if group.by != Some(op) => match group.by {
                Some(_) if group.is_resource => Reason::Resource,
                Some(by) => Reason::Colocated(by),
                None => reason,
            },
            Reason::First | Reason::Cost if group.is_resource && group.ops.len() > 1 => Reason::Resource,
            _ => reason,
        };
        let why = match reason {
            Reason::Spec => "spec".to_owned(),
            Reason::Resource => "resource".to_owned(),
            Reason::Colocated(with) => format!("colocated with {}", op_text(m, with)),
            Reason::Soft => "soft".to_owned(),
            Reason::Only => "only kernel".to_owned(),
            Reason::Neighbour => "neighbour".to_owned(),
            Reason::First => "first".to_owned(),
            Reason::Cost => "cost".to_owned(),
        };
        let [start, end] = match times.get(&op) {
            Some(&(start, end)) => [start, end].map(microseconds),
            None => [String::new(), String::new()],
        };
        rows.push([placed_text(m, op), devices.name(device).to_string(), why, start, end]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [first, second, third, fourth] = [0, 1, 2, 3].map(width);
    let mut text = String::new();
    for [op, device, why, start, end] in &rows {
        let line = format!("{op:<first$}  {device:<second$}  {why:<third$}  {start:>fourth$}  {end}");
        _ = writeln!(text, "{}", line.trim_end());
    }
    text + &summary(devices, problem, &placed, &schedule, Some(&counts))
}

/// The work, memory and traffic of each device, and the whole. `n_operators` are those of each device.
pub(super) fn summary(
    devices: &Devices,
    problem: &Problem,
    placed: &[DeviceIndex],
    schedule: &SimulatedSchedule,
    n_operators: Option<&[usize]>,
) -> String {
    let mut busy = vec![0.0; devices.len()];
    for (task, (start, end)) in problem.tasks.iter().zip(&schedule.times) {
        busy[usize::from(placed[task.group])] += end - start;
    }
    let (mut came, mut went) = (vec![0.0; devices.len()], vec![0.0; devices.len()]);
    for ((from, to), bytes) in traffic(problem, placed, schedule) {
        went[usize::from(from)] += bytes;
        came[usize::from(to)] += bytes;
    }
    let mut text = String::new();
    for (device, name) in devices.all() {
        let at = usize::from(device);
        let n = n_operators.map_or_else(String::new, |all| format!("{} operators, ", all[at]));
        let (busy, peak) = (microseconds(busy[at]), schedule.peaks[at]);
        let (came, went) = (came[at], went[at]);
        _ = writeln!(text, "{name}: {n}busy {busy}, peak {peak} bytes, in {came} bytes, out {went} bytes");
    }
    _ = writeln!(
        text,
        "makespan {}, lower bound {}, critical path {}, {} bytes cross",
        microseconds(schedule.makespan),
        microseconds(problem.lower_bound()),
        microseconds(problem.critical_path()),
        schedule.moved
    );
    text
}

/// The bytes that cross from each device to each other one.
pub(super) fn traffic(
    problem: &Problem,
    placed: &[DeviceIndex],
    schedule: &SimulatedSchedule,
) -> BTreeMap<(DeviceIndex, DeviceIndex), f64> {
    let mut traffic = BTreeMap::new();
    for &SimulatedCrossing { from, to, bytes, .. } in &schedule.crossings {
        *traffic.entry((placed[problem.tasks[from].group], to)).or_insert(0.0) += bytes;
    }
    traffic
}

fn microseconds(nanoseconds: f64) -> String {
    format!("{:.1} us", nanoseconds / 1e3)
}

/// An op with its place in the source.
fn placed_text(m: &Module, op: OpId) -> String {
    let mut text = op_text(m, op);
    if let LocKind::File { file, line, col } = &*m.cx.loc(m.loc(op)) {
        _ = write!(text, " at {}:{line}:{col}", m.cx.str(*file));
    }
    text
}
