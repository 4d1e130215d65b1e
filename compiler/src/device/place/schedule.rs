//! Scheduling of tasks on devices: the simulation, and the policies that use it.
//!
//! ```text
//! Problem: tasks in groups, edges with bytes, times per device, links
//!     ──greedy──▶ ┐
//!     ──list────▶ ┴ a device for each group ──simulate──▶ times of each task, makespan
//! ```
//!
//! The simulation is list scheduling: tasks begin in the order of their upward ranks (Topcuoglu et al., 2002:
//! the mean time from a task's start to the end of the program, transfers included), each as soon as its
//! operands have arrived and its device is free. A value is sent to a device once, over a link that carries
//! one value at a time in each direction. The simulation is deterministic, and takes linear time except for
//! one sort.
//!
//! A device's memory holds the constants that its groups read, and each value from the start of the task
//! that makes it, or from its arrival, to the end of the last one that reads it there. A placement that
//! exceeds a capacity is worse than any that exceeds none, or exceeds them by less.

use rustc_hash::FxHashSet;

/// Number of a task.
pub(super) type TaskId = usize;

/// A unit of work on one device.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// The group that shares a device.
    pub(super) group: usize,
    /// Nanoseconds on each device.
    pub(super) times: Vec<f64>,
    /// The tasks whose results it reads, each with the bytes of the value. They have smaller numbers.
    pub(super) reads: Vec<(TaskId, f64)>,
    /// The bytes of its results.
    pub(super) bytes: f64,
}

/// Tasks, devices and the links between them.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// In an order in which they may run.
    pub(super) tasks: Vec<Task>,
    /// For each group the devices on which it may be, best first.
    pub(super) candidates: Vec<Vec<usize>>,
    /// For each pair of devices the latency in nanoseconds and the nanoseconds per byte.
    pub(super) links: Vec<Vec<(f64, f64)>>,
    /// The bytes of each constant.
    pub(super) constants: Vec<f64>,
    /// For each group the numbers of the constants that it reads.
    pub(super) kept: Vec<Vec<usize>>,
    /// For each device the bytes of its memory, if that is limited.
    pub(super) capacities: Vec<Option<f64>>,
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
    /// The values that cross: the task that makes it, the device to which it goes, when it arrives.
    pub(super) crossings: Vec<(TaskId, usize, f64)>,
}

/// The worth of a placement, the best first: the bytes that do not fit, the makespan, the bytes that cross.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct PlacementCost {
    excess: f64,
    makespan: f64,
    moved: f64,
}

impl Problem {
    fn n_devices(&self) -> usize {
        self.links.len()
    }

    /// The tasks by falling upward rank.
    fn by_rank(&self) -> Vec<TaskId> {
        let n = self.n_devices() as f64;
        let pairs = (n * (n - 1.0)).max(1.0);
        let sum = |of: fn(&(f64, f64)) -> f64| self.links.iter().flatten().map(of).sum::<f64>() / pairs;
        let (latency, per_byte) = (sum(|link| link.0), sum(|link| link.1));
        let mut ranks = vec![0.0f64; self.tasks.len()];
        for (id, task) in self.tasks.iter().enumerate().rev() {
            ranks[id] += task.times.iter().sum::<f64>() / n;
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
    fn run(&self, order: &[TaskId], devices: &[usize]) -> State {
        let mut state = State::new(self);
        for &id in order {
            let device = devices[self.tasks[id].group];
            state.place(self, id, device);
        }
        state
    }

    /// The most bytes on each device at a time.
    fn peaks(&self, state: &State, devices: &[usize]) -> Vec<f64> {
        let mut kept = KeptConstants::new(self);
        (0..self.kept.len()).for_each(|group| kept.add(self, group, devices[group]));
        // By device: time, and the bytes that come or go then.
        let mut changes: Vec<Vec<(f64, f64)>> = vec![Vec::new(); self.n_devices()];
        let mut last: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.tasks.len()];
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
            for &(device, arrival) in &state.arrivals[id] {
                let is_home = device == devices[task.group];
                let from = if is_home { state.times[id].0 } else { arrival };
                let to = last[id].iter().find(|(known, _)| *known == device).map_or(arrival, |&(_, at)| at);
                changes[device].push((from, task.bytes));
                changes[device].push((to, -task.bytes));
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
    fn cost(&self, order: &[TaskId], devices: &[usize]) -> PlacementCost {
        let state = self.run(order, devices);
        let is_limited = self.capacities.iter().any(Option::is_some);
        let peaks = if is_limited { self.peaks(&state, devices) } else { Vec::new() };
        let over = peaks.iter().zip(&self.capacities).map(|(&peak, capacity)| match capacity {
            Some(capacity) => (peak - capacity).max(0.0),
            None => 0.0,
        });
        PlacementCost { excess: over.sum(), makespan: state.makespan, moved: state.moved }
    }

    /// The devices whose memory a schedule exceeds, with the demand and the capacity.
    pub(super) fn excess(&self, schedule: &SimulatedSchedule) -> Vec<(usize, f64, f64)> {
        let devices = schedule.peaks.iter().zip(&self.capacities).enumerate();
        devices
            .filter_map(|(device, (&peak, capacity))| Some((device, peak, (*capacity)?)))
            .filter(|&(_, peak, capacity)| peak > capacity)
            .collect()
    }

    /// The times of a placement.
    pub(super) fn simulate(&self, devices: &[usize]) -> SimulatedSchedule {
        let state = self.run(&self.by_rank(), devices);
        let peaks = self.peaks(&state, devices);
        let State { arrivals, times, devices: placed, makespan, moved, .. } = state;
        let of = |(id, all): (TaskId, Vec<(usize, f64)>)| {
            let away = all.into_iter().filter(|&(device, _)| device != placed[id]);
            away.map(|(device, arrival)| (id, device, arrival)).collect::<Vec<_>>()
        };
        let crossings = arrivals.into_iter().enumerate().flat_map(of).collect();
        SimulatedSchedule { makespan, times, moved, peaks, crossings }
    }

    /// A bound below every makespan: the longest path, and all work shared among all devices.
    pub(super) fn lower_bound(&self) -> f64 {
        let fastest = |task: &Task| task.times.iter().copied().fold(f64::INFINITY, f64::min);
        let mut ends = vec![0.0f64; self.tasks.len()];
        let mut work = 0.0;
        for (id, task) in self.tasks.iter().enumerate() {
            let start = task.reads.iter().map(|&(from, _)| ends[from]).fold(0.0, f64::max);
            ends[id] = start + fastest(task);
            work += fastest(task);
        }
        ends.into_iter().fold(work / self.n_devices() as f64, f64::max)
    }

    /// Each group, in program order, on the device where its first task ends earliest.
    pub(super) fn greedy(&self) -> Vec<usize> {
        let order: Vec<TaskId> = (0..self.tasks.len()).collect();
        self.earliest(&order)
    }

    /// Each group, by upward rank, on the device where its first task ends earliest; then moves and swaps of
    /// groups while the makespan falls, in at most `budget` simulations, fewer for large programs. Never
    /// worse than [`Problem::greedy`], nor than all groups on one device as far as they may be there.
    pub(super) fn list(&self, budget: usize) -> Vec<usize> {
        let order = self.by_rank();
        let mut starts = vec![self.earliest(&order), self.greedy()];
        for device in 0..self.n_devices().min(MAX_ALONE) {
            let of = |candidates: &Vec<usize>| match candidates.contains(&device) {
                true => device,
                false => candidates[0],
            };
            starts.push(self.candidates.iter().map(of).collect());
        }
        let costs = starts.into_iter().map(|devices| (self.cost(&order, &devices), devices));
        // The first of equal ones.
        let best = costs.reduce(|best, other| if other.0 < best.0 { other } else { best });
        best.map_or_else(Vec::new, |best| self.improve(&order, best, budget))
    }

    /// Places each group on the device where its first task in this order ends earliest.
    fn earliest(&self, order: &[TaskId]) -> Vec<usize> {
        let mut devices: Vec<Option<usize>> = vec![None; self.candidates.len()];
        let mut state = State::new(self);
        let mut kept = KeptConstants::new(self);
        for &id in order {
            let group = self.tasks[id].group;
            let device = devices[group].unwrap_or_else(|| {
                let fits = |&device: &usize| {
                    self.capacities[device].is_none_or(|capacity| kept.with(self, group, device) <= capacity)
                };
                let all = || self.candidates[group].iter().copied();
                let may_fit = all().any(|device| fits(&device));
                let candidates = all().filter(|device| !may_fit || fits(device));
                let ends = candidates.map(|device| (state.end(self, id, device), device));
                ends.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, device)| device)
            });
            if devices[group].replace(device).is_none() {
                kept.add(self, group, device);
            }
            state.place(self, id, device);
        }
        let first = |(group, device): (usize, Option<usize>)| device.unwrap_or(self.candidates[group][0]);
        devices.into_iter().enumerate().map(first).collect()
    }

    /// Local search: single groups move, pairs of groups swap.
    fn improve(
        &self,
        order: &[TaskId],
        (mut cost, mut devices): (PlacementCost, Vec<usize>),
        budget: usize,
    ) -> Vec<usize> {
        let free: Vec<usize> =
            (0..self.candidates.len()).filter(|&group| self.candidates[group].len() > 1).collect();
        let mut left = budget.min(MAX_SIMULATED_TASKS / self.tasks.len().max(1));
        let mut try_out = |devices: &mut Vec<usize>, changes: &[(usize, usize)]| {
            if left == 0 {
                return None;
            }
            left -= 1;
            let old: Vec<(usize, usize)> =
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
        loop {
            let mut improved = false;
            for &group in &free {
                for &device in &self.candidates[group] {
                    if device != devices[group] {
                        match try_out(&mut devices, &[(group, device)]) {
                            Some(better) => improved |= better,
                            None => return devices,
                        }
                    }
                }
            }
            for (i, &a) in free.iter().enumerate() {
                for &b in &free[i + 1..] {
                    let (to_a, to_b) = (devices[b], devices[a]);
                    let may = self.candidates[a].contains(&to_a) && self.candidates[b].contains(&to_b);
                    if to_a != to_b && may {
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

/// Maximum number of tasks that the local search simulates in all: large programs get fewer placements, so
/// that the time grows with their size, not with its square.
const MAX_SIMULATED_TASKS: usize = 4_000_000;

/// The constants on each device.
struct KeptConstants {
    known: FxHashSet<(usize, usize)>,
    /// By device.
    bytes: Vec<f64>,
}

impl KeptConstants {
    fn new(problem: &Problem) -> KeptConstants {
        KeptConstants { known: FxHashSet::default(), bytes: vec![0.0; problem.n_devices()] }
    }

    /// The bytes on a device that has a group, too.
    fn with(&self, problem: &Problem, group: usize, device: usize) -> f64 {
        let all = problem.kept[group].iter();
        let new = all.filter(|&&constant| !self.known.contains(&(device, constant)));
        self.bytes[device] + new.map(|&constant| problem.constants[constant]).sum::<f64>()
    }

    fn add(&mut self, problem: &Problem, group: usize, device: usize) {
        self.bytes[device] = self.with(problem, group, device);
        self.known.extend(problem.kept[group].iter().map(|&constant| (device, constant)));
    }
}

/// The state of a simulation.
struct State {
    /// When each device is free.
    free: Vec<f64>,
    /// When each link is free, by sender and receiver.
    links: Vec<f64>,
    /// When the value of each task is on each device, if it is there.
    arrivals: Vec<Vec<(usize, f64)>>,
    times: Vec<(f64, f64)>,
    devices: Vec<usize>,
    makespan: f64,
    moved: f64,
}

impl State {
    fn new(problem: &Problem) -> State {
        let (n, n_tasks) = (problem.n_devices(), problem.tasks.len());
        State {
            free: vec![0.0; n],
            links: vec![0.0; n * n],
            arrivals: vec![Vec::new(); n_tasks],
            times: vec![(0.0, 0.0); n_tasks],
            devices: vec![0; n_tasks],
            makespan: 0.0,
            moved: 0.0,
        }
    }

    /// When the value of a task would be on a device.
    fn arrival(&self, problem: &Problem, from: TaskId, bytes: f64, to: usize) -> f64 {
        let known = self.arrivals[from].iter().find(|(device, _)| *device == to);
        known.map(|&(_, at)| at).unwrap_or_else(|| {
            let device = self.devices[from];
            let (latency, per_byte) = problem.links[device][to];
            let link = self.links[device * self.free.len() + to];
            self.times[from].1.max(link) + latency + bytes * per_byte
        })
    }

    /// When a task would end on a device.
    fn end(&self, problem: &Problem, id: TaskId, device: usize) -> f64 {
        let task = &problem.tasks[id];
        let reads = task.reads.iter();
        let ready = reads.map(|&(from, bytes)| self.arrival(problem, from, bytes, device));
        ready.fold(self.free[device], f64::max) + task.times[device]
    }

    /// Runs a task on a device.
    fn place(&mut self, problem: &Problem, id: TaskId, device: usize) {
        let task = &problem.tasks[id];
        let mut start = self.free[device];
        for &(from, bytes) in &task.reads {
            let at = self.arrival(problem, from, bytes, device);
            if !self.arrivals[from].iter().any(|(known, _)| *known == device) {
                let (_, per_byte) = problem.links[self.devices[from]][device];
                let n = self.free.len();
                let link = &mut self.links[self.devices[from] * n + device];
                *link = link.max(self.times[from].1) + bytes * per_byte;
                self.arrivals[from].push((device, at));
                self.moved += bytes;
            }
            start = start.max(at);
        }
        let end = start + task.times[device];
        self.times[id] = (start, end);
        self.devices[id] = device;
        self.arrivals[id].push((device, end));
        self.free[device] = end;
        self.makespan = self.makespan.max(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reproducible sequence of numbers below `n`.
    fn dice(state: &mut u64, n: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % n
    }

    fn random(seed: u64, n_groups: usize, n_devices: usize) -> Problem {
        let mut state = seed;
        let tasks = (0..n_groups)
            .map(|id| {
                let time = 100.0 + dice(&mut state, 1000) as f64;
                let n_reads = dice(&mut state, 3).min(id as u64);
                let reads = (0..n_reads)
                    .map(|_| (dice(&mut state, id as u64) as usize, dice(&mut state, 1000) as f64))
                    .collect();
                Task { group: id, times: vec![time; n_devices], reads, bytes: 1000.0 }
            })
            .collect();
        let links = (0..n_devices)
            .map(|a| (0..n_devices).map(|b| if a == b { (0.0, 0.0) } else { (50.0, 0.3) }).collect())
            .collect();
        let (kept, capacities) = (vec![Vec::new(); n_groups], vec![None; n_devices]);
        let candidates = vec![(0..n_devices).collect(); n_groups];
        Problem { tasks, candidates, links, constants: Vec::new(), kept, capacities }
    }

    fn exhaustive(problem: &Problem) -> f64 {
        let (n, devices) = (problem.candidates.len(), problem.n_devices());
        let order = problem.by_rank();
        let all = (0..devices.pow(n as u32)).map(|mut code| {
            let mut placed = vec![0; n];
            for device in &mut placed {
                *device = code % devices;
                code /= devices;
            }
            problem.run(&order, &placed).makespan
        });
        all.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn lists_are_near_the_best_placement() {
        let (mut list, mut greedy) = (Vec::new(), Vec::new());
        for seed in 0..60 {
            let problem = random(seed * 977 + 1, 7, 3);
            let best = exhaustive(&problem);
            let ratio = |devices: &[usize]| problem.simulate(devices).makespan / best;
            list.push(ratio(&problem.list(2000)));
            greedy.push(ratio(&problem.greedy()));
            assert!(problem.lower_bound() <= best * 1.000_001);
        }
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
        assert!(mean(&list) <= 1.05, "{list:?}");
        assert!(mean(&greedy) <= 1.25, "{greedy:?}");
    }

    /// Tasks with these times, each of which reads values of 100 bytes of these.
    fn shaped(tasks: Vec<(f64, Vec<TaskId>)>, n_devices: usize) -> Problem {
        let mut problem = random(1, tasks.len(), n_devices);
        for (task, (time, reads)) in problem.tasks.iter_mut().zip(tasks) {
            task.times = vec![time; n_devices];
            task.reads = reads.into_iter().map(|from| (from, 100.0)).collect();
        }
        problem
    }

    #[test]
    fn lists_are_near_the_lower_bound() {
        // Chains of `n` tasks.
        let chains = |n: usize, of: usize| -> Vec<(f64, Vec<TaskId>)> {
            let reads = |id: usize| if id.is_multiple_of(of) { Vec::new() } else { vec![id - 1] };
            (0..n * of).map(|id| (1000.0, reads(id))).collect()
        };
        let (towers, pipeline) = (chains(8, 4), chains(16, 3));
        let mut fork_join = vec![(50.0, Vec::new())];
        fork_join.extend((0..32).map(|_| (1000.0, vec![0])));
        fork_join.push((50.0, (1..=32).collect()));
        for n in [2, 4, 8, 64] {
            for (name, tasks) in [("towers", &towers), ("pipeline", &pipeline), ("fork and join", &fork_join)]
            {
                let problem = shaped(tasks.clone(), n);
                let ratio = problem.simulate(&problem.list(2000)).makespan / problem.lower_bound();
                assert!(ratio <= 1.15, "{name} on {n} devices: {ratio}");
            }
        }
    }

    #[test]
    fn overflow_goes_elsewhere() {
        // Two groups that read 600 bytes each, and devices that have only 1,000.
        let mut problem = random(3, 4, 2);
        problem.links = vec![vec![(0.0, 0.0), (1e9, 1.0)], vec![(1e9, 1.0), (0.0, 0.0)]];
        for (id, task) in problem.tasks.iter_mut().enumerate() {
            task.bytes = 0.0;
            task.reads = if id == 0 { Vec::new() } else { vec![(id - 1, 1.0)] };
        }
        problem.constants = vec![600.0, 600.0];
        problem.kept = vec![vec![0], vec![1], vec![0], Vec::new()];
        let together = problem.list(100);
        assert_eq!(together[0], together[1], "moving costs a second");
        problem.capacities = vec![Some(1000.0), Some(1000.0)];
        for devices in [problem.greedy(), problem.list(100)] {
            assert_ne!(devices[0], devices[1]);
            assert!(problem.excess(&problem.simulate(&devices)).is_empty());
        }
        problem.capacities[1] = Some(500.0);
        let schedule = problem.simulate(&problem.list(100));
        assert_eq!(problem.excess(&schedule), [(1, 600.0, 500.0)]);
    }

    #[test]
    fn a_group_stays_together_and_where_it_may_be() {
        let mut problem = random(5, 8, 3);
        problem.tasks[7].group = 0;
        problem.candidates.truncate(7);
        problem.candidates[0] = vec![2];
        for devices in [problem.greedy(), problem.list(500)] {
            assert_eq!(devices[0], 2);
            assert_eq!(devices.len(), 7);
        }
    }
}
