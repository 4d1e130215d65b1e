//! Scheduling of tasks on devices: the simulation, and the policies that use it.
//!
//! ```text
//! Problem: tasks in groups, edges with bytes, times per device, links
//!     ──greedy──▶ ┐
//!     ──list────▶ ┴ a device for each group ──simulate──▶ times of each task, makespan
//! ```
//!
//! The simulation is list scheduling: tasks are placed in the order of their upward ranks (Topcuoglu et al.,
//! 2002: the mean time from a task's start to the end of the program, transfers included), each as soon as
//! its operands have arrived, in the first gap in which enough threads of its device are idle
//! ([`timeline`]). A value is sent to a device once, over [`links`] that carry one value at a time. The
//! simulation is deterministic, and takes linear time except for one sort.
//!
//! A device's memory holds what its groups keep there, and each value from the start of the task
//! that makes it, or from its arrival, to the end of the last one that reads it there. A placement that
//! exceeds a capacity is worse than any that exceeds none, or exceeds them by less.
//!
//! Devices that are alike and that nothing uses yet are tried once, so that thousands of them cost little.

mod links;
mod state;
#[cfg(test)]
mod tests;
mod timeline;

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::device::specs::DeviceIndex;
pub(super) use links::Links;
pub(super) use state::SimulatedCrossing;
use state::State;

/// Number of a task.
pub(super) type TaskId = usize;

/// A unit of work on one device.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// The group that shares a device.
    pub(super) group: usize,
    /// The time for each speed of devices.
    pub(super) times: Vec<TaskTime>,
    /// The tasks whose results it reads, each with the bytes of the value. They have smaller numbers.
    pub(super) reads: Vec<(TaskId, f64)>,
    /// The bytes of its results.
    pub(super) bytes: f64,
}

/// How long a task keeps how many threads of a device busy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TaskTime {
    pub(super) ns: f64,
    pub(super) threads: u32,
}

/// A device in a simulation.
#[derive(Clone, Debug)]
pub(super) struct SimulatedDevice {
    /// The number of its speed in [`Task::times`].
    pub(super) speed: usize,
    /// How many tasks of one thread it runs at a time.
    pub(super) threads: u32,
    /// The bytes of its memory, if that is limited.
    pub(super) capacity: Option<f64>,
    /// The first device that is like this one, links included.
    pub(super) alike: usize,
}

/// Tasks, devices and the links between them.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// In an order in which they may run.
    pub(super) tasks: Vec<Task>,
    /// For each group the devices on which it may be, best first.
    pub(super) candidates: Vec<Rc<[DeviceIndex]>>,
    pub(super) devices: Vec<SimulatedDevice>,
    pub(super) links: Links,
    /// The bytes of each constant and variable.
    pub(super) kept: Vec<f64>,
    /// For each group the numbers of those that it keeps on its device.
    pub(super) keeps: Vec<Vec<usize>>,
}

/// The simulated times of a placement.
#[derive(Clone, Debug)]
pub(super) struct SimulatedSchedule {
    /// Start and end of each task in nanoseconds.
    pub(super) times: Vec<(f64, f64)>,
    /// The end of the last task.
    pub(super) makespan: f64,
    /// Bytes that cross.
    pub(super) moved: f64,
    /// The most bytes that each device needs at a time.
    pub(super) peaks: Vec<f64>,
    /// The values that cross, by the task that makes them.
    pub(super) crossings: Vec<SimulatedCrossing>,
}

/// The worth of a placement, the best first: the bytes that do not fit, the makespan, the bytes that cross.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct PlacementCost {
    excess: f64,
    makespan: f64,
    moved: f64,
}

impl Problem {
    /// The time of a task on a device.
    fn time(&self, id: TaskId, device: DeviceIndex) -> TaskTime {
        self.tasks[id].times[self.devices[usize::from(device)].speed]
    }

    fn capacity(&self, device: DeviceIndex) -> Option<f64> {
        self.devices[usize::from(device)].capacity
    }

    /// The tasks by falling upward rank.
    fn by_rank(&self) -> Vec<TaskId> {
        let (latency, per_byte) = self.links.mean();
        let n_speeds = self.devices.iter().map(|device| device.speed + 1).max().unwrap_or(0);
        let mut shares = vec![0.0; n_speeds];
        self.devices.iter().for_each(|device| shares[device.speed] += 1.0 / self.devices.len() as f64);
        let mut ranks = vec![0.0f64; self.tasks.len()];
        for (id, task) in self.tasks.iter().enumerate().rev() {
            ranks[id] += task.times.iter().zip(&shares).map(|(time, share)| time.ns * share).sum::<f64>();
            for &(from, bytes) in &task.reads {
                ranks[from] = ranks[from].max(ranks[id] + latency + bytes * per_byte);
            }
        }
        let mut order: Vec<TaskId> = (0..self.tasks.len()).collect();
        // Equal ranks keep the order of the program, in which operands come first.
        order.sort_by(|&a, &b| ranks[b].total_cmp(&ranks[a]).then(a.cmp(&b)));
        order
    }

    /// Runs the tasks in an order, with the devices of their groups.
    fn run(&self, order: &[TaskId], devices: &[DeviceIndex]) -> State {
        let mut state = State::new(self);
        order.iter().for_each(|&id| state.place(self, id, devices[self.tasks[id].group]));
        state
    }

    /// The most bytes on each device at a time.
    fn peaks(&self, state: &State, devices: &[DeviceIndex]) -> Vec<f64> {
        let mut kept = KeptValues::new(self);
        (0..self.keeps.len()).for_each(|group| kept.add(self, group, devices[group]));
        // By device: time, and the bytes that come or go then.
        let mut changes: Vec<Vec<(f64, f64)>> = vec![Vec::new(); self.devices.len()];
        let mut last: Vec<Vec<(DeviceIndex, f64)>> = vec![Vec::new(); self.tasks.len()];
        for (task, &(_, end)) in self.tasks.iter().zip(&state.times) {
            for &(from, _) in &task.reads {
                let device = devices[task.group];
                match last[from].iter_mut().find(|(known, _)| *known == device) {
                    Some((_, at)) => *at = at.max(end),
                    None => last[from].push((device, end)),
                }
            }
        }
        for (id, task) in self.tasks.iter().enumerate() {
            let (start, end) = state.times[id];
            let home = (devices[task.group], start, end);
            let away = state.crossings[id].iter().map(|it| (it.to, it.arrival, it.arrival));
            for (device, from, at_least) in away.chain([home]) {
                let to = last[id].iter().find(|(known, _)| *known == device).map_or(at_least, |&(_, at)| at);
                changes[usize::from(device)].push((from, task.bytes));
                changes[usize::from(device)].push((to, -task.bytes));
            }
        }
        let most = |(mut changes, kept): (Vec<(f64, f64)>, f64)| {
            // Values that are freed make room for those that are made at the same time.
            changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let (mut now, mut most) = (kept, kept);
            for (_, bytes) in changes {
                now += bytes;
                most = most.max(now);
            }
            most
        };
        changes.into_iter().zip(kept.bytes).map(most).collect()
    }

    /// The worth of a simulated placement.
    fn cost(&self, order: &[TaskId], devices: &[DeviceIndex]) -> PlacementCost {
        let state = self.run(order, devices);
        let is_limited = self.devices.iter().any(|device| device.capacity.is_some());
        let peaks = if is_limited { self.peaks(&state, devices) } else { Vec::new() };
        let over = peaks.iter().zip(&self.devices).map(|(&peak, device)| match device.capacity {
            Some(capacity) => (peak - capacity).max(0.0),
            None => 0.0,
        });
        PlacementCost { excess: over.sum(), makespan: state.makespan, moved: state.moved }
    }

    /// The devices whose memory a schedule exceeds, with the demand and the capacity.
    pub(super) fn excess(&self, schedule: &SimulatedSchedule) -> Vec<(DeviceIndex, f64, f64)> {
        let all = (0..).zip(schedule.peaks.iter().zip(&self.devices));
        all.filter_map(|(device, (&peak, of))| Some((device, peak, of.capacity?)))
            .filter(|&(_, peak, capacity)| peak > capacity)
            .collect()
    }

    /// The times of a placement.
    pub(super) fn simulate(&self, devices: &[DeviceIndex]) -> SimulatedSchedule {
        let state = self.run(&self.by_rank(), devices);
        let peaks = self.peaks(&state, devices);
        let State { crossings, times, makespan, moved, .. } = state;
        SimulatedSchedule { makespan, times, moved, peaks, crossings: crossings.concat() }
    }

    /// The longest path, each task on the fastest device, transfers not counted.
    pub(super) fn critical_path(&self) -> f64 {
        let mut ends = vec![0.0f64; self.tasks.len()];
        for (id, task) in self.tasks.iter().enumerate() {
            let start = task.reads.iter().map(|&(from, _)| ends[from]).fold(0.0, f64::max);
            ends[id] = start + task.times.iter().map(|time| time.ns).fold(f64::INFINITY, f64::min);
        }
        ends.into_iter().fold(0.0, f64::max)
    }

    /// A bound below every makespan: the critical path, and all work shared among the threads of all devices.
    pub(super) fn lower_bound(&self) -> f64 {
        let least = |task: &Task| {
            let work = task.times.iter().map(|time| time.ns * f64::from(time.threads));
            work.fold(f64::INFINITY, f64::min)
        };
        let work: f64 = self.tasks.iter().map(least).sum();
        let threads: f64 = self.devices.iter().map(|device| f64::from(device.threads)).sum();
        self.critical_path().max(work / threads)
    }

    /// Each group, in program order, on the device where it would end earliest.
    pub(super) fn greedy(&self) -> Vec<DeviceIndex> {
        let order: Vec<TaskId> = (0..self.tasks.len()).collect();
        self.earliest(&order)
    }

    /// Each group, by upward rank, on the device where it would end earliest; then moves and swaps of
    /// groups while the makespan falls, in at most `budget` simulations, fewer for large programs. Never
    /// worse than [`Problem::greedy`], nor than all groups on one of the first
    /// devices as far as they may be there.
    pub(super) fn list(&self, budget: usize) -> Vec<DeviceIndex> {
        let order = self.by_rank();
        let mut starts = vec![self.earliest(&order), self.greedy()];
        let n_alone = MAX_ALONE.min(MAX_SIMULATED_TASKS / self.tasks.len().max(1));
        for device in (0..).take(self.devices.len().min(n_alone.max(1))) {
            let of = |candidates: &Rc<[DeviceIndex]>| match candidates.contains(&device) {
                true => device,
                false => candidates[0],
            };
            starts.push(self.candidates.iter().map(of).collect());
        }
        let costs = starts.into_iter().map(|devices| (self.cost(&order, &devices), devices));
        // The first of equal ones.
        let best = costs.reduce(|best, other| if other.0 < best.0 { other } else { best });
        best.map_or_else(Vec::new, |best| self.improve(&order, best, budget, |_| false))
    }

    /// A placement near this one that fits into the memory of the devices, if one is found in at most
    /// `budget` simulations.
    pub(super) fn fit(&self, mut devices: Vec<DeviceIndex>, budget: usize) -> Vec<DeviceIndex> {
        let mut kept = KeptValues::new(self);
        for (group, device) in devices.iter_mut().enumerate() {
            if !kept.fits(self, group, *device) {
                let mut others = self.candidates[group].iter().copied();
                *device = others.find(|&device| kept.fits(self, group, device)).unwrap_or(*device);
            }
            kept.add(self, group, *device);
        }
        let order = self.by_rank();
        let cost = self.cost(&order, &devices);
        self.improve(&order, (cost, devices), budget, |cost| cost.excess <= 0.0)
    }

    /// Places each group on the device where it would end earliest if it began as its first task in this
    /// order does; of equal ones, on that to which fewer bytes cross.
    fn earliest(&self, order: &[TaskId]) -> Vec<DeviceIndex> {
        let mut tasks: Vec<Vec<TaskId>> = vec![Vec::new(); self.candidates.len()];
        order.iter().for_each(|&id| tasks[self.tasks[id].group].push(id));
        let mut devices: Vec<Option<DeviceIndex>> = vec![None; self.candidates.len()];
        let (mut state, mut kept) = (State::new(self), KeptValues::new(self));
        let mut uses = DeviceUses::new(self);
        for &id in order {
            let group = self.tasks[id].group;
            let device = devices[group].unwrap_or_else(|| {
                let all = uses.distinct(self, group);
                let may_fit = all.iter().any(|&device| kept.fits(self, group, device));
                let candidates = all.into_iter().filter(|&device| !may_fit || kept.fits(self, group, device));
                let ends = candidates.map(|device| (state.outlook(self, &tasks[group], device), device));
                let best = ends.min_by(|((a, more_a), _), ((b, more_b), _)| {
                    a.total_cmp(b).then(more_a.total_cmp(more_b))
                });
                best.map_or(0, |(_, device)| device)
            });
            if devices[group].replace(device).is_none() {
                kept.add(self, group, device);
                uses.add(device);
            }
            state.place(self, id, device);
        }
        let first =
            |(group, device): (usize, Option<DeviceIndex>)| device.unwrap_or(self.candidates[group][0]);
        devices.into_iter().enumerate().map(first).collect()
    }

    /// Local search, until a placement is good enough: single groups move, pairs of groups swap.
    fn improve(
        &self,
        order: &[TaskId],
        (mut cost, mut devices): (PlacementCost, Vec<DeviceIndex>),
        budget: usize,
        is_enough: impl Fn(&PlacementCost) -> bool,
    ) -> Vec<DeviceIndex> {
        let free: Vec<usize> =
            (0..self.candidates.len()).filter(|&group| self.candidates[group].len() > 1).collect();
        let mut left = budget.min(MAX_SIMULATED_TASKS / self.tasks.len().max(1));
        let mut try_out = |devices: &mut Vec<DeviceIndex>, changes: &[(usize, DeviceIndex)]| {
            if left == 0 || is_enough(&cost) {
                return None;
            }
            left -= 1;
            let old: Vec<(usize, DeviceIndex)> =
                changes.iter().map(|&(group, _)| (group, devices[group])).collect();
            changes.iter().for_each(|&(group, device)| devices[group] = device);
            let found = self.cost(order, devices);
            if found < cost {
                cost = found;
                return Some(true);
            }
            old.into_iter().for_each(|(group, device)| devices[group] = device);
            Some(false)
        };
        let mut uses = DeviceUses::new(self);
        devices.iter().for_each(|&device| uses.add(device));
        loop {
            let mut improved = false;
            for &group in &free {
                for device in uses.distinct(self, group) {
                    let old = devices[group];
                    if device != old {
                        match try_out(&mut devices, &[(group, device)]) {
                            Some(true) => {
                                uses.remove(old);
                                uses.add(device);
                                improved = true;
                            }
                            Some(false) => {}
                            None => return devices,
                        }
                    }
                }
            }
            for (i, &a) in free.iter().enumerate() {
                for &b in &free[i + 1..] {
                    let (to_a, to_b) = (devices[b], devices[a]);
                    let may = || self.candidates[a].contains(&to_a) && self.candidates[b].contains(&to_b);
                    if to_a != to_b && may() {
                        match try_out(&mut devices, &[(a, to_a), (b, to_b)]) {
                            Some(better) => improved |= better,
                            None => return devices,
                        }
                    }
                }
            }
            if !improved {
                return devices;
            }
        }
    }
}

/// Maximum number of devices that are tried alone.
const MAX_ALONE: usize = 64;

/// Maximum number of tasks that the local search simulates in all, and again the placements on one device:
/// large programs get fewer placements, so that the time grows with their size, not with its square.
const MAX_SIMULATED_TASKS: usize = 250_000;

/// The constants and variables that groups keep on each device.
struct KeptValues {
    known: FxHashSet<(DeviceIndex, usize)>,
    /// By device.
    bytes: Vec<f64>,
}

impl KeptValues {
    fn new(problem: &Problem) -> KeptValues {
        KeptValues { known: FxHashSet::default(), bytes: vec![0.0; problem.devices.len()] }
    }

    /// The bytes on a device that has a group, too.
    fn with(&self, problem: &Problem, group: usize, device: DeviceIndex) -> f64 {
        let all = problem.keeps[group].iter();
        let new = all.filter(|&&value| !self.known.contains(&(device, value)));
        self.bytes[usize::from(device)] + new.map(|&value| problem.kept[value]).sum::<f64>()
    }

    fn fits(&self, problem: &Problem, group: usize, device: DeviceIndex) -> bool {
        problem.capacity(device).is_none_or(|capacity| self.with(problem, group, device) <= capacity)
    }

    fn add(&mut self, problem: &Problem, group: usize, device: DeviceIndex) {
        self.bytes[usize::from(device)] = self.with(problem, group, device);
        self.known.extend(problem.keeps[group].iter().map(|&value| (device, value)));
    }
}

/// How many groups each device has.
struct DeviceUses(Vec<usize>);

impl DeviceUses {
    fn new(problem: &Problem) -> DeviceUses {
        DeviceUses(vec![0; problem.devices.len()])
    }

    fn add(&mut self, device: DeviceIndex) {
        self.0[usize::from(device)] += 1;
    }

    fn remove(&mut self, device: DeviceIndex) {
        self.0[usize::from(device)] -= 1;
    }

    /// The candidates of a group that have groups, and of those without the first of each that are alike.
    fn distinct(&self, problem: &Problem, group: usize) -> Vec<DeviceIndex> {
        let mut seen = FxHashSet::default();
        let is_new = |device: &DeviceIndex| {
            let at = usize::from(*device);
            self.0[at] > 0 || seen.insert(problem.devices[at].alike)
        };
        problem.candidates[group].iter().copied().filter(is_new).collect()
    }
}
