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
    fn run(&self, order: &[TaskId], devices: &[usize]) -> SimulatedSchedule {
        let mut state = State::new(self);
        for &id in order {
            let device = devices[self.tasks[id].group];
            state.place(self, id, device);
        }
        SimulatedSchedule { makespan: state.makespan, times: state.times, moved: state.moved }
    }

    /// The times of a placement.
    pub(super) fn simulate(&self, devices: &[usize]) -> SimulatedSchedule {
        self.run(&self.by_rank(), devices)
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
    /// groups while the makespan falls, in at most `budget` simulations. Never worse than
    /// [`Problem::greedy`], nor than all groups on one device as far as they may be there.
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
        let mut best = (Vec::new(), f64::INFINITY, f64::INFINITY);
        for devices in starts {
            let SimulatedSchedule { makespan, moved, .. } = self.run(&order, &devices);
            if (makespan, moved) < (best.1, best.2) {
                best = (devices, makespan, moved);
            }
        }
        self.improve(&order, best, budget)
    }

    /// Places each group on the device where its first task in this order ends earliest.
    fn earliest(&self, order: &[TaskId]) -> Vec<usize> {
        let mut devices: Vec<Option<usize>> = vec![None; self.candidates.len()];
        let mut state = State::new(self);
        for &id in order {
            let group = self.tasks[id].group;
            let device = devices[group].unwrap_or_else(|| {
                let candidates = self.candidates[group].iter().copied();
                let ends = candidates.map(|device| (state.end(self, id, device), device));
                ends.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, device)| device)
            });
            devices[group] = Some(device);
            state.place(self, id, device);
        }
        let first = |(group, device): (usize, Option<usize>)| device.unwrap_or(self.candidates[group][0]);
        devices.into_iter().enumerate().map(first).collect()
    }

    /// Local search: single groups move, pairs of groups swap.
    fn improve(&self, order: &[TaskId], best: (Vec<usize>, f64, f64), budget: usize) -> Vec<usize> {
        let (mut devices, mut makespan, mut moved) = best;
        let free: Vec<usize> =
            (0..self.candidates.len()).filter(|&group| self.candidates[group].len() > 1).collect();
        let mut left = budget;
        let mut try_out = |devices: &mut Vec<usize>, changes: &[(usize, usize)]| {
            if left == 0 {
                return None;
            }
            left -= 1;
            let old: Vec<(usize, usize)> =
                changes.iter().map(|&(group, _)| (group, devices[group])).collect();
            changes.iter().for_each(|&(group, device)| devices[group] = device);
            let found = self.run(order, devices);
            if (found.makespan, found.moved) < (makespan, moved) {
                (makespan, moved) = (found.makespan, found.moved);
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
                Task { group: id, times: vec![time; n_devices], reads }
            })
            .collect();
        let links = (0..n_devices)
            .map(|a| (0..n_devices).map(|b| if a == b { (0.0, 0.0) } else { (50.0, 0.3) }).collect())
            .collect();
        Problem { tasks, candidates: vec![(0..n_devices).collect(); n_groups], links }
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

    #[test]
    fn independent_chains_are_shared_out() {
        // Eight towers of four tasks.
        let mut problem = random(1, 32, 4);
        for (id, task) in problem.tasks.iter_mut().enumerate() {
            task.times = vec![1000.0; 4];
            task.reads = if id % 4 == 0 { Vec::new() } else { vec![(id - 1, 100.0)] };
        }
        let found = problem.simulate(&problem.list(2000)).makespan;
        assert!(found <= problem.lower_bound() * 1.15, "{found}");
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
