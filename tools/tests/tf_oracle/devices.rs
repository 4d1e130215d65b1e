//! Random programs whose ops are on random devices, as one function or partitioned, on several work queues,
//! with functions or natively with dataflow control flow. They have the results and effects that the oracle
//! gives without devices, and leave no memory and no step behind. Each way to compile a program runs on one
//! thread and on one of the other queues, on each of them in turn.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use befrost::Runtime;
use befrost::mem::{LeakCheck, Live, Malloc};
use befrost_compiler::device::{DeviceOptions, Partition};
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::pass::PassManager;
use befrost_compiler::passes::default_pipeline;
use befrost_kernel_api::live::live_objects;
use befrost_testing::dice::Dice;
use befrost_testing::graphs::{Program, mode_of};

use crate::random::{Executor, compare_with_oracle, natively, number, parsed, said};

/// The number of programs, unless `BEFROST_DEVICE_CASES` sets it. `BEFROST_DEVICE_FIRST` sets the first seed
/// (`cargo run -p xtask -- random-devices`).
const CASES: u64 = 40;

/// The number of steps of `@main`.
const STEPS: usize = 10;

/// Devices of two tasks of this process, and the same with an accelerator in place of one.
const DEVICES: &str = "CPU:2,/job:other/CPU:1";
const SIMULATED: &str = "CPU:1,SIM:1{streams=2},/job:other/CPU:1";

/// The devices of ops; the empty name is no device. Partial names could contradict each other on a resource.
const NAMES: [&str; 4] = ["", "/job:localhost/device:CPU:0", SECOND, "/job:other/device:CPU:0"];

/// The device that is an accelerator in [`SIMULATED`], and its name there.
const SECOND: &str = "/job:localhost/device:CPU:1";
const SECOND_SIMULATED: &str = "/job:localhost/device:SIM:0";

/// A runtime of a work queue, and the memory that its programs have.
struct Place {
    queue: &'static str,
    runtime: Runtime,
    memory: Arc<LeakCheck>,
}

impl Place {
    fn new(queue: &'static str, devices: &str) -> Place {
        let memory = Arc::new(LeakCheck::new(Malloc::shared()));
        let builder = Runtime::builder().device_factory(befrost_sim::SIM).allocator(memory.clone());
        let runtime = builder.work_queue(queue).devices(devices).build().expect("a runtime");
        Place { queue, runtime, memory }
    }

    /// Waits until no memory is left of programs that were dropped.
    fn clean(&self) -> Result<(), String> {
        let patience = Instant::now() + Duration::from_secs(60);
        self.runtime.devices().quiesce();
        while self.memory.live() != Live::default() {
            if Instant::now() > patience {
                return Err(format!("memory is left on {}: {:?}", self.queue, self.memory.live()));
            }
            std::thread::yield_now();
        }
        Ok(())
    }
}

static PLACES: LazyLock<BTreeMap<&str, Vec<Place>>> = LazyLock::new(|| {
    let two_threads = Place::new("mstd:4", "CPU:2{threads=2},/job:other/CPU:1");
    let all = ["s", "mstd:3", "seeded:1", "seeded:2"].map(|queue| Place::new(queue, DEVICES));
    let simulated = ["s", "mstd:2", "seeded:3"].map(|queue| Place::new(queue, SIMULATED));
    let all = all.into_iter().chain([two_threads]).collect();
    BTreeMap::from([(DEVICES, all), (SIMULATED, simulated.into())])
});

/// One way to compile a program.
struct Way {
    devices: &'static str,
    partition: Partition,
    policy: &'static str,
    level: u8,
    /// With dataflow control flow instead of conditionals and loops of functions.
    native: bool,
}

const fn cpu(partition: Partition, policy: &'static str, level: u8) -> Way {
    Way { devices: DEVICES, partition, policy, level, native: false }
}

const fn sim(partition: Partition, policy: &'static str, level: u8) -> Way {
    Way { devices: SIMULATED, ..cpu(partition, policy, level) }
}

const fn native(partition: Partition, policy: &'static str, level: u8) -> Way {
    Way { native: true, ..cpu(partition, policy, level) }
}

const WAYS: [Way; 14] = [
    cpu(Partition::None, "first", 0),
    cpu(Partition::None, "greedy", 1),
    cpu(Partition::None, "list", 2),
    cpu(Partition::Device, "first", 0),
    cpu(Partition::Device, "list", 2),
    cpu(Partition::Worker, "greedy", 0),
    cpu(Partition::Worker, "first", 2),
    native(Partition::None, "first", 0),
    native(Partition::Device, "first", 0),
    native(Partition::Device, "list", 2),
    native(Partition::Worker, "greedy", 1),
    sim(Partition::None, "first", 0),
    sim(Partition::None, "list", 2),
    sim(Partition::Device, "greedy", 1),
];

#[test]
fn random_devices() {
    let cases = number("BEFROST_DEVICE_CASES").unwrap_or(CASES);
    let first = number("BEFROST_DEVICE_FIRST").unwrap_or(1);
    let mut failures = Vec::new();
    for seed in first..first.saturating_add(cases) {
        if let Err(why) = check(seed, STEPS) {
            let shorter = (0..STEPS).find_map(|n| check(seed, n).err().map(|why| (n, why)));
            let (n, why) = shorter.unwrap_or((STEPS, why));
            let text = placed(&Program::random(mode_of(seed), seed, n).text, seed);
            println!("seed {seed}, {n} steps: {why:.400}");
            failures.push(format!("seed {seed}, {n} steps, {:?}: {why}\n{text}", mode_of(seed)));
        }
    }
    let shown = failures[..failures.len().min(3)].join("\n");
    assert!(failures.is_empty(), "{} failures, of which\n{shown}", failures.len());
}

/// Compares a program in all ways.
fn check(seed: u64, n: usize) -> Result<(), String> {
    let program = Program::random(mode_of(seed), seed, n);
    let text = placed(&program.text, seed);
    let mut executors = Vec::new();
    for (i, &Way { devices, partition, policy, level, native }) in WAYS.iter().enumerate() {
        let kind = if native { ", dataflow control flow" } else { "" };
        let way = format!("{devices} {partition:?} {policy} -O{level}{kind}");
        let (of_set, policy) = (devices.to_owned(), policy.to_owned());
        let options = DeviceOptions { devices: of_set, policy, partition, ..DeviceOptions::default() };
        let is_simulated = devices == SIMULATED;
        let module =
            parsed(&if is_simulated { text.replace(SECOND, SECOND_SIMULATED) } else { text.clone() })?;
        let pipeline = default_pipeline(&module, level, &options).ok_or("no op graph")?;
        let pipeline = if native { natively(&pipeline) } else { pipeline };
        let mut passes = PassManager::parse(&pipeline).map_err(|error| format!("{error:?}"))?;
        let (module, _) = passes.run(module).map_err(|wrong| format!("{way}: {}", said(&wrong)))?;
        let bef = emit_parts(&module, &EmitOptions::default());
        let bef = bef.map_err(|wrong| format!("{way}: {}", said(&wrong)))?.to_vec();
        // The single thread, and one of the other queues.
        let places = &PLACES[devices];
        let other = 1 + (seed as usize).wrapping_add(i) % (places.len() - 1);
        for place in [&places[0], &places[other]] {
            // Partitioning, like optimization, may choose another of several locations of an error. From
            // level 1 on locations are not compared.
            let name = format!("{way} on {}", place.queue);
            let executor = Executor::new(name, level.max(1), &bef, &place.runtime);
            let executor = executor.map_err(|why| format!("{way}: {why}"))?;
            executors.push(executor.divided(partition != Partition::None));
        }
    }
    compare_with_oracle(&program, &executors)?;
    drop(executors);
    PLACES.values().flatten().try_for_each(Place::clean)?;
    // No other test of this program has steps.
    match live_objects().iter().find(|(name, _)| *name == "!dev.step") {
        Some((_, n)) => Err(format!("{n} steps are left")),
        None => Ok(()),
    }
}

/// The program with a device, or none, for each op that is written on one line and takes no handle. An op
/// on a resource is on the device of the op that creates it. Ops that create resources of one name are on one
/// device, since on several they would be several resources.
fn placed(text: &str, seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1);
    let mut named: HashMap<String, &str> = HashMap::new();
    let mut line = |line: &str| {
        let mut name = NAMES[dice.below(NAMES.len())];
        if let Some((_, rest)) = line.split_once("shared_name = \"") {
            let resource = rest.split('"').next().unwrap_or_default();
            name = named.entry(resource.to_owned()).or_insert(name);
        }
        let takes_handle = line.rsplit_once(" -> ").map_or(line, |(operands, _)| operands);
        let takes_handle = takes_handle.contains("!tf_type.resource");
        let line_of = line.find("\"tf.").filter(|_| !line.contains("\"tf.Yield\"") && !takes_handle);
        let end = line_of.and_then(|at| Some(at + line[at..].find(") ")? + 2));
        match end {
            Some(end) if !name.is_empty() && line[end..].starts_with(": ") => {
                format!("{}{{device = \"{name}\"}} {}\n", &line[..end], &line[end..])
            }
            Some(end) if !name.is_empty() && line[end..].starts_with('{') => {
                format!("{}{{device = \"{name}\", {}\n", &line[..end], &line[end + 1..])
            }
            _ => format!("{line}\n"),
        }
    };
    text.lines().map(&mut line).collect()
}
