//! Random programs whose ops are on random devices, as one function or partitioned, on several work queues.
//! They have the results and effects that the oracle gives without devices.
//!
//! A program in which a handle would have to cross between devices is refused, and does not count.

use std::collections::HashMap;
use std::sync::LazyLock;

use befrost::Runtime;
use befrost_compiler::device::{DeviceOptions, Partition};
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::pass::PassManager;
use befrost_compiler::passes::default_pipeline;
use befrost_testing::dice::Dice;
use befrost_testing::graphs::{Program, mode_of};

use crate::random::{Executor, compare_with_oracle, parsed, said};

/// The number of programs, unless `BEFROST_DEVICE_CASES` sets it. `BEFROST_DEVICE_FIRST` sets the first seed
/// (`cargo run -p xtask -- random-devices`).
const CASES: u64 = 30;

/// The number of steps of `@main`.
const STEPS: usize = 10;

/// Devices of two tasks of this process.
const DEVICES: &str = "CPU:2,/job:other/CPU:1";

/// The devices of ops; the empty name is no device. Partial names could contradict each other on a resource.
const NAMES: [&str; 4] =
    ["", "/job:localhost/device:CPU:0", "/job:localhost/device:CPU:1", "/job:other/device:CPU:0"];

static RUNTIMES: LazyLock<Vec<(&str, Runtime)>> = LazyLock::new(|| {
    let runtime = |queue| Runtime::builder().work_queue(queue).devices(DEVICES).build().expect("a runtime");
    ["s", "mstd:3", "seeded:1", "seeded:2"].map(|queue| (queue, runtime(queue))).into()
});

const WAYS: [(Partition, &str, u8); 7] = [
    (Partition::None, "first", 0),
    (Partition::None, "greedy", 1),
    (Partition::None, "list", 2),
    (Partition::Device, "first", 0),
    (Partition::Device, "list", 2),
    (Partition::Worker, "greedy", 0),
    (Partition::Worker, "first", 2),
];

#[test]
fn random_devices() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let cases = number("BEFROST_DEVICE_CASES").unwrap_or(CASES);
    let first = number("BEFROST_DEVICE_FIRST").unwrap_or(1);
    let (mut n_right, mut n_refused, mut failures) = (0, 0, Vec::new());
    for seed in first..first.saturating_add(cases) {
        match check(seed, STEPS) {
            Ok(true) => n_right += 1,
            Ok(false) => n_refused += 1,
            Err(why) => {
                let shorter = (0..STEPS).find_map(|n| check(seed, n).err().map(|why| (n, why)));
                let (n, why) = shorter.unwrap_or((STEPS, why));
                let text = placed(&Program::random(mode_of(seed), seed, n).text, seed);
                failures.push(format!("seed {seed}, {n} steps, {:?}: {why}\n{text}", mode_of(seed)));
            }
        }
    }
    println!("{n_right} programs, {n_refused} refused because a handle would have to cross");
    let shown = failures[..failures.len().min(3)].join("\n");
    assert!(failures.is_empty(), "{} failures, of which\n{shown}", failures.len());
    assert!(n_right * 4 > cases, "{n_right} programs of {cases}");
}

/// Compares a program in all of [`WAYS`]. False if it is refused because a handle would have to cross.
fn check(seed: u64, n: usize) -> Result<bool, String> {
    let program = Program::random(mode_of(seed), seed, n);
    let text = placed(&program.text, seed);
    let mut executors = Vec::new();
    for (partition, policy, level) in WAYS {
        let way = format!("{partition:?} {policy} -O{level}");
        let (devices, policy) = (DEVICES.to_owned(), policy.to_owned());
        let options = DeviceOptions { devices, policy, partition, ..DeviceOptions::default() };
        let module = parsed(&text)?;
        let pipeline = default_pipeline(&module, level, &options).ok_or("no op graph")?;
        let mut passes = PassManager::parse(&pipeline).map_err(|error| format!("{error:?}"))?;
        let module = match passes.run(module) {
            Ok((module, _)) => module,
            Err(wrong) if wrong.iter().any(|why| why.code == "E1006") => {
                println!("seed {seed}, {way}: {}", said(&wrong));
                return Ok(false);
            }
            Err(wrong) => return Err(format!("{way}: {}", said(&wrong))),
        };
        let bef = emit_parts(&module, &EmitOptions::default());
        let bef = bef.map_err(|wrong| format!("{way}: {}", said(&wrong)))?.to_vec();
        for (queue, runtime) in &*RUNTIMES {
            // Partitioning, like optimization, may choose another of several locations of an error. From
            // level 1 on locations are not compared.
            executors.push(Executor::new(format!("{way} on {queue}"), level.max(1), &bef, runtime)?);
        }
    }
    compare_with_oracle(&program, &executors).map(|_| true)
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
