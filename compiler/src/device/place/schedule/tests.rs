//! Policies against exhaustive search and lower bounds.

use super::*;
use crate::device::specs::LinkRate;

/// A reproducible sequence of numbers below `n`.
fn dice(state: &mut u64, n: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % n
}

/// Equal devices of one thread.
fn equal_devices(n: usize) -> Vec<SimulatedDevice> {
    vec![SimulatedDevice { speed: 0, threads: 1, capacity: None, alike: 0 }; n]
}

/// A problem of tasks on equal devices, each task a group of its own: time, and the tasks that it reads with
/// the bytes. Between devices are 50 ns and 0.3 ns per byte.
fn problem(tasks: Vec<(f64, Vec<(TaskId, f64)>)>, n_devices: usize) -> Problem {
    let task =
        |(group, (ns, reads))| Task { group, times: vec![TaskTime { ns, threads: 1 }], reads, bytes: 1000.0 };
    let tasks: Vec<Task> = tasks.into_iter().enumerate().map(task).collect();
    let all: Rc<[DeviceIndex]> = (0..).take(n_devices).collect();
    // Half of the way out of a device, half of it into the other.
    let half = (25.0, 0.15);
    Problem {
        candidates: vec![all; tasks.len()],
        keeps: vec![Vec::new(); tasks.len()],
        tasks,
        devices: equal_devices(n_devices),
        links: Links { ports: vec![Some((half, half)); n_devices], ..Links::default() },
        kept: Vec::new(),
    }
}

/// A random problem.
fn random(seed: u64, n_groups: usize, n_devices: usize) -> Problem {
    let mut state = seed;
    let task = |id| {
        let time = 100.0 + dice(&mut state, 1000) as f64;
        let n_reads = dice(&mut state, 3).min(id);
        let reads = (0..n_reads).map(|_| (dice(&mut state, id) as usize, dice(&mut state, 1000) as f64));
        (time, reads.collect())
    };
    problem((0..n_groups as u64).map(task).collect(), n_devices)
}

/// The least makespan of all placements.
fn exhaustive(problem: &Problem) -> f64 {
    let order = problem.by_rank();
    let mut placed = vec![0; problem.candidates.len()];
    let mut least = f64::INFINITY;
    loop {
        least = least.min(problem.run(&order, &placed).makespan);
        // The next one in which each device is used before those behind it, since all are alike.
        let is_last = |i: usize, placed: &[DeviceIndex]| {
            let used = placed[..i].iter().map(|&device| device + 1).max().unwrap_or(0);
            usize::from(placed[i]) + 1 == problem.devices.len() || placed[i] == used
        };
        let Some(at) = (0..placed.len()).rev().find(|&i| !is_last(i, &placed)) else { return least };
        placed[at] += 1;
        placed[at + 1..].fill(0);
    }
}

#[test]
fn lists_are_near_the_best_placement() {
    let (mut list, mut greedy) = (Vec::new(), Vec::new());
    for seed in 0..500 {
        let problem = random(seed * 977 + 1, if seed % 25 == 0 { 10 } else { 3 + seed as usize % 7 }, 3);
        let best = exhaustive(&problem);
        let ratio = |devices: &[DeviceIndex]| problem.simulate(devices).makespan / best;
        list.push(ratio(&problem.list(2000)));
        greedy.push(ratio(&problem.greedy()));
        assert!(problem.lower_bound() <= best * 1.000_001);
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let (mean_list, mean_greedy) = (mean(&list), mean(&greedy));
    list.sort_by(f64::total_cmp);
    let (near_all, worst) = (list[list.len() * 99 / 100], list[list.len() - 1]);
    println!("list: mean {mean_list:.4}, 99% {near_all:.4}, worst {worst:.4}; greedy: mean {mean_greedy:.4}");
    assert!(mean_list <= 1.05, "{mean_list}");
    assert!(near_all <= 1.25, "{near_all}");
    assert!(mean_greedy <= 1.25, "{mean_greedy}");
}

/// A graph: for each task its nanoseconds, and the tasks that it reads.
type Shape = Vec<(f64, Vec<TaskId>)>;

/// Adds a task to a shape.
fn add(shape: &mut Shape, ns: f64, reads: &[TaskId]) -> TaskId {
    shape.push((ns, reads.to_vec()));
    shape.len() - 1
}

/// A part of a batch for each tower, six layers, and the mean of the results.
fn towers(n: usize) -> Shape {
    let mut shape = Shape::new();
    let ends = (0..n).map(|_| {
        let first = add(&mut shape, 50.0, &[]);
        [900.0, 1200.0, 1500.0, 1500.0, 1200.0, 900.0]
            .iter()
            .fold(first, |at, &ns| add(&mut shape, ns, &[at]))
    });
    let ends: Vec<TaskId> = ends.collect();
    add(&mut shape, 50.0, &ends);
    shape
}

fn fork_join(n: usize) -> Shape {
    let mut shape = vec![(50.0, Vec::new())];
    shape.extend((0..n).map(|_| (1000.0, vec![0])));
    add(&mut shape, 50.0, &(1..=n).collect::<Vec<_>>());
    shape
}

/// The stages of a loop, each of which carries a state from one iteration to the next.
fn pipeline(iterations: usize, stages: usize) -> Shape {
    let mut shape = Shape::new();
    for at in 0..iterations * stages {
        let before = (at % stages > 0).then(|| at - 1);
        let state = at.checked_sub(stages);
        add(&mut shape, 1000.0, &before.into_iter().chain(state).collect::<Vec<_>>());
    }
    shape
}

/// Blocks of two convolutions; every fourth has a third one beside them.
fn residual(blocks: usize) -> Shape {
    let mut shape = Shape::new();
    let mut at = add(&mut shape, 3000.0, &[]);
    for block in 0..blocks {
        let first = add(&mut shape, 2000.0, &[at]);
        let second = add(&mut shape, 2000.0, &[first]);
        let beside = if block % 4 == 3 { add(&mut shape, 1000.0, &[at]) } else { at };
        at = add(&mut shape, 200.0, &[second, beside]);
    }
    shape
}

/// Layers of attention with eight heads, and of a network with one hidden layer.
fn transformer(layers: usize) -> Shape {
    let mut shape = Shape::new();
    let mut at = add(&mut shape, 300.0, &[]);
    for _ in 0..layers {
        let norm = add(&mut shape, 200.0, &[at]);
        let [query, key, value] = [0; 3].map(|_| add(&mut shape, 2000.0, &[norm]));
        let heads = [0; 8].map(|_| {
            let scores = add(&mut shape, 400.0, &[query, key]);
            let softmax = add(&mut shape, 300.0, &[scores]);
            add(&mut shape, 400.0, &[softmax, value])
        });
        let out = add(&mut shape, 2000.0, &heads);
        let sum = add(&mut shape, 150.0, &[at, out]);
        let norm = add(&mut shape, 200.0, &[sum]);
        let hidden = [0; 4].map(|_| add(&mut shape, 2000.0, &[norm]));
        let back = hidden.map(|part| add(&mut shape, 2000.0, &[part]));
        at = add(&mut shape, 300.0, &[&[sum][..], &back].concat());
    }
    shape
}

/// Prints the table of the ratios: `cargo test -p befrost-compiler lower_bound -- --nocapture`.
#[test]
fn lists_are_near_the_lower_bound() {
    let shapes = [
        ("8 towers", towers(8), Some(1.15)),
        ("fork and join", fork_join(32), Some(1.15)),
        ("loop pipeline", pipeline(16, 3), Some(1.15)),
        ("residual network", residual(16), None),
        ("transformer", transformer(4), None),
    ];
    for (name, shape, goal) in shapes {
        let ratios = [2, 4, 8, 64].map(|n| {
            let tasks =
                shape.iter().map(|(ns, reads)| (*ns, reads.iter().map(|&from| (from, 100.0)).collect()));
            let mut problem = problem(tasks.collect(), n);
            // References pass between CPUs.
            problem.links = Links { host: (80.0, 0.0), ports: vec![None; n], ..Links::default() };
            let ratio = problem.simulate(&problem.list(1000)).makespan / problem.lower_bound();
            assert!(goal.is_none_or(|goal| ratio <= goal), "{name} on {n} devices: {ratio}");
            format!("{n}: {ratio:.3}")
        });
        println!("{name:<16}  {}", ratios.join("  "));
    }
}

#[test]
fn overflow_goes_elsewhere() {
    // Two groups that read 600 bytes each, and devices that have only 1,000.
    let chain = (0..4).map(|id| (100.0, if id == 0 { Vec::new() } else { vec![(id - 1, 1.0)] }));
    let mut problem = problem(chain.collect(), 2);
    problem.tasks.iter_mut().for_each(|task| task.bytes = 0.0);
    problem.links.ports = vec![Some(((1e9, 1.0), (0.0, 0.0))); 2];
    problem.kept = vec![600.0, 600.0];
    problem.keeps = vec![vec![0], vec![1], vec![0], Vec::new()];
    let together = problem.list(100);
    assert_eq!(together[0], together[1], "moving costs a second");
    problem.devices.iter_mut().for_each(|device| device.capacity = Some(1000.0));
    for devices in [problem.greedy(), problem.list(100), problem.fit(vec![0; 4], 100)] {
        assert_ne!(devices[0], devices[1]);
        assert!(problem.excess(&problem.simulate(&devices)).is_empty());
    }
    problem.devices[1].capacity = Some(500.0);
    let schedule = problem.simulate(&problem.list(100));
    assert_eq!(problem.excess(&schedule), [(1, 600.0, 500.0)]);
}

#[test]
fn values_that_live_move_too() {
    // Four values of 400 bytes live at a time: no constants.
    let tasks = [vec![], vec![], vec![], vec![(0, 400.0), (1, 400.0), (2, 400.0)]];
    let mut problem = problem(tasks.map(|reads| (100.0, reads)).into(), 2);
    problem.tasks.iter_mut().for_each(|task| task.bytes = 400.0);
    (problem.devices[0].capacity, problem.devices[1].capacity) = (Some(1000.0), Some(2000.0));
    let placed = problem.fit(vec![0; 4], 100);
    assert!(problem.excess(&problem.simulate(&placed)).is_empty(), "{placed:?}");
    // What fits stays as it is.
    assert_eq!(problem.fit(vec![1; 4], 100), [1; 4]);
}

#[test]
fn a_group_stays_together_and_where_it_may_be() {
    let mut problem = random(5, 8, 3);
    problem.tasks[7].group = 0;
    problem.candidates.truncate(7);
    problem.keeps.truncate(7);
    problem.candidates[0] = Rc::new([2]);
    for devices in [problem.greedy(), problem.list(500)] {
        assert_eq!(devices[0], 2);
        assert_eq!(devices.len(), 7);
    }
}

#[test]
fn a_group_goes_where_all_of_it_ends_first() {
    // The group's second task reads a long value from device 1; its first task could begin on both.
    let tasks = vec![(100.0, Vec::new()), (10.0, Vec::new()), (10.0, vec![(0, 10_000.0), (1, 1.0)])];
    let mut problem = problem(tasks, 2);
    problem.tasks[2].group = 1;
    problem.candidates.truncate(2);
    problem.candidates[0] = Rc::new([1]);
    assert_eq!(problem.greedy(), [1, 1]);
}

#[test]
fn equal_ends_move_fewer_bytes() {
    // Links without latency and width: both places are as fast for the last task.
    let tasks = vec![(100.0, vec![]), (100.0, vec![]), (10.0, vec![(0, 10.0), (1, 5000.0)])];
    let mut problem = problem(tasks, 2);
    problem.links = Links { ports: vec![None; 2], ..Links::default() };
    problem.candidates[0] = Rc::new([0]);
    problem.candidates[1] = Rc::new([1]);
    assert_eq!(problem.greedy(), [0, 1, 1]);
}

#[test]
fn threads_of_a_device_share_its_tasks() {
    let check = |threads: u32, each: u32, want: f64| {
        let mut problem = problem(vec![(100.0, Vec::new()); 4], 1);
        problem.devices[0].threads = threads;
        problem.tasks.iter_mut().for_each(|task| task.times[0].threads = each);
        assert!((problem.simulate(&[0; 4]).makespan - want).abs() < 1e-9, "{threads} {each}");
        assert!((problem.lower_bound() - want).abs() < 1e-9, "{threads} {each}");
    };
    check(1, 1, 400.0);
    check(2, 1, 200.0);
    check(4, 1, 100.0);
    check(4, 4, 400.0);
}

#[test]
fn values_pass_between_accelerators_through_the_host() {
    let makespan = |direct: Option<LinkRate>| {
        let mut problem = problem(vec![(10.0, Vec::new()), (10.0, vec![(0, 100.0)])], 2);
        problem.links.direct.extend(direct.map(|rate| ((0, 1), rate)));
        problem.simulate(&[0, 1]).makespan
    };
    // Twice 25 ns and 15 ns.
    assert!((makespan(None) - 100.0).abs() < 1e-9);
    assert!((makespan(Some((5.0, 0.01))) - 26.0).abs() < 1e-9);
}

#[test]
fn thousands_of_devices_cost_little() {
    let mut problem = random(7, 300, 65_535);
    problem.devices[60_000].alike = 60_000;
    problem.devices[60_000].threads = 2;
    let devices = problem.list(50);
    assert!(problem.simulate(&devices).makespan <= 1.3 * problem.lower_bound().max(problem.critical_path()));
}
