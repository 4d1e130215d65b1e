//! The simulation: tasks on devices, and values on links.

use rustc_hash::FxHashMap;

use super::links::LinkId;
use super::timeline::Timeline;
use super::{Problem, TaskId};
use crate::device::specs::DeviceIndex;

/// A value on its way to another device.
#[derive(Clone, Copy, Debug)]
pub(in crate::device::place) struct SimulatedCrossing {
    /// The task that makes it.
    pub(in crate::device::place) from: TaskId,
    /// The device to which it goes.
    pub(in crate::device::place) to: DeviceIndex,
    /// When it arrives.
    pub(in crate::device::place) arrival: f64,
    /// Its bytes.
    pub(in crate::device::place) bytes: f64,
}

/// The state of a simulation.
pub(super) struct State {
    devices: Vec<Timeline>,
    links: FxHashMap<LinkId, Timeline>,
    /// For each task the devices to which its value has been sent.
    pub(super) crossings: Vec<Vec<SimulatedCrossing>>,
    /// Start and end of each task.
    pub(super) times: Vec<(f64, f64)>,
    /// The device of each task that has run.
    placed: Vec<Option<DeviceIndex>>,
    pub(super) makespan: f64,
    pub(super) moved: f64,
}

impl State {
    pub(super) fn new(problem: &Problem) -> State {
        let n_tasks = problem.tasks.len();
        State {
            devices: problem.devices.iter().map(|device| Timeline::new(device.threads)).collect(),
            links: FxHashMap::default(),
            crossings: vec![Vec::new(); n_tasks],
            times: vec![(0.0, 0.0); n_tasks],
            placed: vec![None; n_tasks],
            makespan: 0.0,
            moved: 0.0,
        }
    }

    /// When the value of a task would be on a device, and whether it would have to be sent there; nothing if
    /// the task has not been placed.
    fn arrival(&self, problem: &Problem, from: TaskId, bytes: f64, to: DeviceIndex) -> Option<(f64, bool)> {
        let (home, end) = (self.placed[from]?, self.times[from].1);
        if home == to {
            return Some((end, false));
        }
        if let Some(known) = self.crossings[from].iter().find(|crossing| crossing.to == to) {
            return Some((known.arrival, false));
        }
        let arrival = problem.links.hops(home, to).fold(end, |at, (link, (latency, per_byte))| {
            let duration = bytes * per_byte;
            self.first_on(link, at, duration) + latency + duration
        });
        Some((arrival, true))
    }

    /// When a link is idle for a duration. References pass at any time.
    fn first_on(&self, link: LinkId, ready: f64, duration: f64) -> f64 {
        let line = self.links.get(&link).filter(|_| duration > 0.0);
        line.map_or(ready, |line| line.first(ready, 1, duration))
    }

    /// When the tasks of a group would have ended on a device, as far as is known, and the bytes that would
    /// cross.
    pub(super) fn outlook(&self, problem: &Problem, group: &[TaskId], device: DeviceIndex) -> (f64, f64) {
        let (mut end, mut moved) = (0.0f64, 0.0);
        for &id in group {
            for &(from, bytes) in &problem.tasks[id].reads {
                let (arrival, is_sent) = self.arrival(problem, from, bytes, device).unwrap_or_default();
                end = end.max(arrival);
                moved += if is_sent { bytes } else { 0.0 };
            }
            let time = problem.time(id, device);
            end = self.devices[usize::from(device)].first(end, time.threads, time.ns) + time.ns;
        }
        (end, moved)
    }

    /// Runs a task on a device.
    pub(super) fn place(&mut self, problem: &Problem, id: TaskId, device: DeviceIndex) {
        let task = &problem.tasks[id];
        let mut ready = 0.0f64;
        for &(from, bytes) in &task.reads {
            // Operands come first.
            let arrival = match self.arrival(problem, from, bytes, device).unwrap_or_default() {
                (_, true) => self.send(problem, from, bytes, device),
                (arrival, false) => arrival,
            };
            ready = ready.max(arrival);
        }
        let time = problem.time(id, device);
        let line = &mut self.devices[usize::from(device)];
        let start = line.first(ready, time.threads, time.ns);
        line.take(start, time.threads, time.ns);
        let end = start + time.ns;
        self.times[id] = (start, end);
        self.placed[id] = Some(device);
        self.makespan = self.makespan.max(end);
    }

    /// Sends the value of a task to a device; returns when it arrives.
    fn send(&mut self, problem: &Problem, from: TaskId, bytes: f64, to: DeviceIndex) -> f64 {
        let (mut at, home) = (self.times[from].1, self.placed[from].unwrap_or(to));
        for (link, (latency, per_byte)) in problem.links.hops(home, to) {
            let duration = bytes * per_byte;
            at = self.first_on(link, at, duration);
            if duration > 0.0 {
                self.links.entry(link).or_insert_with(|| Timeline::new(1)).take(at, 1, duration);
            }
            at += latency + duration;
        }
        self.crossings[from].push(SimulatedCrossing { from, to, arrival: at, bytes });
        self.moved += bytes;
        at
    }
}
