//! Graphs on several devices have TensorFlow's results: as one function and partitioned by device and by
//! task, at several levels of optimization, on one thread, on two, and in seeded orders. On `mstd` each CPU
//! device has a worker of its own. Graphs with control flow run once as functions, and once with dataflow
//! control flow, into which TensorFlow lowers all of it before it partitions. Simulated accelerators in place
//! of all CPUs but the first have the same results. Ops are placed where TensorFlow places them, and no more
//! values cross between devices than in TensorFlow. A variable stays where the first run has placed it.
//!
//! A case is a folder of `testdata/partition`, and of `$BEFROST_PARTITION` if that is set: `graph.pb`, and
//! `case.json` with devices, placement, numbers of transfers and runs, whose tensors are `.npy` files. The
//! runs of a case share one set of variables.
#![forbid(unsafe_code)]

mod cases;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use befrost::mem::{LeakCheck, Live, Malloc};
use befrost::{
    CallOptions, Cancellation, Datum, Diagnostics, Error, ErrorCode, HostTensor, Program, Resources, Runtime,
};
use befrost_compiler::device::{DeviceOptions, Partition, ResourcePlaces};
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::import::{Feed, INIT, ImportOptions, graphdef};
use befrost_compiler::ir::Module;
use befrost_compiler::pass::PassManager;
use befrost_compiler::passes::default_pipeline;
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::verify::verify;
use befrost_tensor::compare::{Tolerance, compare};
use libtest_mimic::Failed;
use serde_json::Value as Json;

fn main() {
    cases::run("partition", "BEFROST_PARTITION", "case.json", check);
}

/// The passes that make functions of dataflow control flow, and dataflow control flow of functions.
const FUNCTIONALIZE: &str = "tf-functionalize-control-flow";
const LOWER: &str = "tf-lower-functional-ops";

/// Up to this index each launch, copy and request is made to fail, then a sample of the further ones. With
/// `$BEFROST_ALL_FAULTS` it is each of all.
const MAX_DENSE: usize = 60;

/// A flag that is set when an error is reported. Relaxed: it guards no other data.
#[derive(Default)]
struct Raised(AtomicBool);

impl Diagnostics for Raised {
    fn report(&self, _: &Error) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One configuration of a run.
struct Configuration {
    partition: Partition,
    policy: &'static str,
    level: u8,
    queue: &'static str,
    /// Simulated accelerators in place of all CPUs but the first.
    simulated: bool,
    /// With dataflow control flow instead of conditionals and loops of functions.
    native: bool,
}

/// A configuration with CPU devices.
const fn cpu(partition: Partition, policy: &'static str, level: u8, queue: &'static str) -> Configuration {
    Configuration { partition, policy, level, queue, simulated: false, native: false }
}

/// A configuration with simulated accelerators.
const fn sim(partition: Partition, policy: &'static str, level: u8, queue: &'static str) -> Configuration {
    Configuration { simulated: true, ..cpu(partition, policy, level, queue) }
}

/// A configuration with CPU devices and dataflow control flow.
const fn native(partition: Partition, policy: &'static str, level: u8, queue: &'static str) -> Configuration {
    Configuration { native: true, ..cpu(partition, policy, level, queue) }
}

const CONFIGURATIONS: [Configuration; 27] = [
    cpu(Partition::None, "first", 0, "s"),
    cpu(Partition::None, "first", 0, "mstd:2"),
    cpu(Partition::None, "list", 2, "mstd:2"),
    cpu(Partition::None, "greedy", 1, "seeded:5"),
    cpu(Partition::Device, "first", 0, "s"),
    cpu(Partition::Device, "first", 0, "seeded:7"),
    cpu(Partition::Device, "first", 2, "s"),
    cpu(Partition::Device, "list", 2, "mstd:2"),
    cpu(Partition::Device, "greedy", 0, "mstd:2"),
    cpu(Partition::Worker, "first", 0, "mstd:2"),
    cpu(Partition::Worker, "list", 2, "seeded:3"),
    sim(Partition::None, "first", 0, "s"),
    sim(Partition::None, "list", 2, "mstd:2"),
    sim(Partition::None, "greedy", 0, "seeded:5"),
    sim(Partition::None, "first", 2, "mstd:2"),
    sim(Partition::Device, "first", 0, "s"),
    sim(Partition::Device, "list", 2, "mstd:2"),
    sim(Partition::Device, "greedy", 0, "seeded:7"),
    sim(Partition::Worker, "first", 2, "s"),
    native(Partition::None, "first", 0, "s"),
    native(Partition::None, "list", 2, "mstd:2"),
    native(Partition::Device, "first", 0, "s"),
    native(Partition::Device, "first", 0, "seeded:7"),
    native(Partition::Device, "first", 2, "mstd:2"),
    native(Partition::Device, "list", 2, "seeded:5"),
    native(Partition::Device, "greedy", 1, "mstd:2"),
    native(Partition::Worker, "list", 2, "s"),
];

fn check(case: &Path) -> Result<(), Failed> {
    let description: Json = serde_json::from_str(&std::fs::read_to_string(case.join("case.json"))?)?;
    let case = Case { folder: case.to_owned(), graph: std::fs::read(case.join("graph.pb"))?, description };
    let has_control_flow = case.has_control_flow();
    let is_possible = |way: &&Configuration| {
        (!way.simulated || case.has_local_devices()) && (!way.native || has_control_flow)
    };
    for way in CONFIGURATIONS.iter().filter(is_possible) {
        let simulated = if way.simulated { " simulated" } else { "" };
        let native = if way.native { ", dataflow control flow" } else { "" };
        let Configuration { partition, policy, level, queue, .. } = way;
        let name = format!("{partition:?} {policy}, -O{level} on {queue}{simulated}{native}");
        case.run_all(way).map_err(|why| format!("{name}: {}", why.message().unwrap_or_default()))?;
    }
    case.inject_faults()?;
    for run in items(&case.description["runs"]) {
        if run.get("expect_error").is_none_or(|error| text(&error["when"]) != "placement") {
            case.compare_placement(run)?;
            case.compare_crossings(run, false)?;
            if has_control_flow {
                case.compare_crossings(run, true)
                    .map_err(|why| format!("dataflow control flow: {}", why.message().unwrap_or_default()))?;
            }
        }
    }
    Ok(())
}

struct Case {
    folder: PathBuf,
    graph: Vec<u8>,
    description: Json,
}

impl Case {
    fn names(&self) -> Vec<&str> {
        items(&self.description["devices"]).iter().filter_map(Json::as_str).collect()
    }

    /// True if the devices are those of one task.
    fn has_local_devices(&self) -> bool {
        self.names().iter().all(|name| !name.starts_with('/'))
    }

    /// True if the graph has conditionals or loops.
    fn has_control_flow(&self) -> bool {
        self.description["control_flow"] != "none"
    }

    /// The devices, in the syntax of the command line.
    fn devices(&self, simulated: bool) -> String {
        let names = self.names();
        if simulated {
            // SIM:0 is not used, since CPU:1 becomes SIM:1.
            return format!("CPU:1,SIM:{}{{streams=2}}", names.len().max(2));
        }
        if self.has_local_devices() {
            return format!("CPU:{}", names.len());
        }
        let one = |name: &&str| match name.rsplit_once("/device:") {
            Some((task, _)) => format!("{task}/CPU:1"),
            None => (*name).to_owned(),
        };
        names.iter().map(one).collect::<Vec<_>>().join(",")
    }

    fn options(&self, partition: Partition, policy: &str, simulated: bool) -> DeviceOptions {
        DeviceOptions {
            devices: self.devices(simulated),
            soft: self.description["soft_placement"].as_bool().unwrap_or(false),
            policy: policy.to_owned(),
            wire: if self.description["bf16_wire"] == true { "bf16".to_owned() } else { String::new() },
            partition,
            ..DeviceOptions::default()
        }
    }

    fn imported(&self, run: &Json, simulated: bool) -> Result<Module, Failed> {
        self.imported_with(run, simulated, self.description["init"].as_str())
    }

    fn imported_with(&self, run: &Json, simulated: bool, init: Option<&str>) -> Result<Module, Failed> {
        let graph = if simulated { simulated_graph(&self.graph) } else { self.graph.clone() };
        let names = |value: &Json| items(value).iter().map(|name| text(name).to_owned()).collect();
        let feeds = items(&run["feeds"]).iter().map(|feed| Feed::named(text(&feed["tensor"]))).collect();
        let options = ImportOptions {
            feeds,
            fetches: names(&run["fetches"]),
            targets: names(&run["targets"]),
            init: init.map(str::to_owned),
            ..ImportOptions::default()
        };
        Ok(graphdef(&graph[..], graph.len(), &options).map_err(|said| format!("{said:?}"))?)
    }

    fn compiled(module: Module, pipeline: &str) -> Result<Module, Failed> {
        let mut passes = PassManager::parse(pipeline).map_err(|error| format!("{error:?}"))?;
        let module = verify(module).map_err(|said| format!("{said:?}"))?;
        let (module, _) = passes.run(module).map_err(|said| said[0].message.clone())?;
        Ok(module.into_module())
    }

    /// Checks all runs in one configuration. They share one set of variables.
    fn run_all(&self, way: &Configuration) -> Result<(), Failed> {
        let devices = self.devices(way.simulated);
        let builder = Runtime::builder().device_factory(befrost_sim::SIM);
        let runtime = builder.work_queue(way.queue).devices(&devices).build()?;
        let (resources, mut places) = (Resources::default(), ResourcePlaces::default());
        for (i, run) in items(&self.description["runs"]).iter().enumerate() {
            let expected = &run["expect_error"];
            let options = self.options(way.partition, way.policy, way.simulated);
            let mut module = self.imported(run, way.simulated)?;
            let pipeline = default_pipeline(&module, way.level, &options).ok_or("no op graph")?;
            let pipeline = if way.native { pipeline.replace(FUNCTIONALIZE, LOWER) } else { pipeline };
            places.keep(&mut module);
            let module = match Case::compiled(module, &pipeline) {
                Ok(_) if text(&expected["when"]) == "placement" => return Err("it was placed".into()),
                Err(_) if text(&expected["when"]) == "placement" => continue,
                module => verify(module?).map_err(|said| format!("{said:?}"))?,
            };
            places.record(&module, &devices);
            let bef = emit_parts(&module, &EmitOptions::default()).map_err(|said| format!("{said:?}"))?;
            let program = runtime.load_bytes(&bef.to_vec())?;
            let call = CallOptions { resources: resources.clone(), ..CallOptions::default() };
            if i == 0 && self.description["init"].is_string() {
                for result in program.function(INIT)?.call_with(Vec::new(), &call)? {
                    result.ok().map_err(|error| format!("init: {error}"))?;
                }
            }
            let inputs = items(&run["feeds"]).iter().map(|feed| self.array(&feed["file"], &runtime));
            let inputs = inputs.map(|tensor| tensor.map(Datum::from)).collect::<Result<Vec<_>, _>>()?;
            let results = program.function("main")?.call_with(inputs, &call)?;
            if !expected.is_null() {
                let error =
                    results.iter().find_map(Datum::error).ok_or_else(|| format!("run {i}: no error"))?;
                let node = text(&expected["node"]);
                if !error.location().is_some_and(|place| place.contains(node)) {
                    return Err(
                        format!("run {i}: the error is at {:?}, not at '{node}'", error.location()).into()
                    );
                }
                continue;
            }
            for output in items(&run["outputs"]) {
                let at = items(&run["fetches"]).iter().position(|fetch| fetch == &output["tensor"]);
                let got = results[at.ok_or("an output that is not fetched")?].tensor()?;
                let report = compare(got, &self.array(&output["file"], &runtime)?, self.tolerance())?;
                if !report.is_match() {
                    return Err(format!("run {i}, {}: {report}", output["tensor"]).into());
                }
            }
        }
        Ok(())
    }

    /// Repeats all runs on simulated accelerators while one launch, copy or request for memory of them fails,
    /// each in turn. A result that does not depend on the fault is right. Any other result is the device's
    /// error with a location. If the device is healthy, the next call is right. No memory leaks.
    fn inject_faults(&self) -> Result<(), Failed> {
        let runs = items(&self.description["runs"]).iter().take_while(|run| run["expect_error"].is_null());
        let runs: Vec<&Json> = runs.collect();
        if !self.has_local_devices() || runs.is_empty() {
            return Ok(());
        }
        let is_all = std::env::var_os("BEFROST_ALL_FAULTS").is_some();
        let next = |n: usize| if n < MAX_DENSE || is_all { n + 1 } else { n + n / 8 };
        for (partition, level) in [(Partition::None, 0), (Partition::Device, 2)] {
            let (options, mut places) = (self.options(partition, "first", true), ResourcePlaces::default());
            let mut files = Vec::new();
            for &run in &runs {
                let mut module = self.imported(run, true)?;
                let pipeline = default_pipeline(&module, level, &options).ok_or("no op graph")?;
                places.keep(&mut module);
                let module =
                    verify(Case::compiled(module, &pipeline)?).map_err(|said| format!("{said:?}"))?;
                places.record(&module, &options.devices);
                let bef = emit_parts(&module, &EmitOptions::default()).map_err(|said| format!("{said:?}"))?;
                files.push((run, bef.to_vec()));
            }
            for fault in ["fail-after", "fail-copy", "fail-alloc"] {
                for n in std::iter::successors(Some(1), |&n| Some(next(n))) {
                    let devices = self.devices(true).replace("streams=2", &format!("streams=2,{fault}={n}"));
                    let found = self
                        .run_with_fault(&files, &devices)
                        .map_err(|why| format!("{devices}: {}", why.message().unwrap_or_default()))?;
                    if !found {
                        break;
                    }
                }
                // The process goes on: healthy devices give the right results.
                if self.run_with_fault(&files, &self.devices(true))? {
                    return Err(format!("a fault without a device that has one, after {fault}").into());
                }
            }
        }
        Ok(())
    }

    /// Calls a program on devices of which one may have a fault. Returns whether a result is its error; all
    /// others must be right.
    fn call_with_fault(
        &self,
        run: &Json,
        program: &Program,
        runtime: &Runtime,
        call: &CallOptions,
    ) -> Result<bool, Failed> {
        let is_fault = |error: &Error| {
            let is_code = matches!(error.code(), ErrorCode::Unavailable | ErrorCode::ResourceExhausted);
            is_code && error.location().is_some()
        };
        let inputs = items(&run["feeds"]).iter().map(|feed| self.array(&feed["file"], runtime));
        let inputs = inputs.map(|tensor| tensor.map(Datum::from)).collect::<Result<Vec<_>, _>>()?;
        let results = program.function("main")?.call_with(inputs, call)?;
        let mut occurred = false;
        for output in items(&run["outputs"]) {
            let at = items(&run["fetches"]).iter().position(|fetch| fetch == &output["tensor"]);
            let result = &results[at.ok_or("an output that is not fetched")?];
            match result.error() {
                Some(error) if is_fault(error) => occurred = true,
                Some(error) => {
                    return Err(format!("{}: another error: {error:?}", output["tensor"]).into());
                }
                None => {
                    let want = self.array(&output["file"], runtime)?;
                    let report = compare(result.tensor()?, &want, self.tolerance())?;
                    if !report.is_match() {
                        return Err(format!("{}: {report}", output["tensor"]).into());
                    }
                }
            }
        }
        Ok(occurred)
    }

    /// Runs files, which share one set of variables, on devices with a fault, up to the run in which it
    /// occurs. Returns whether it did.
    fn run_with_fault(&self, files: &[(&Json, Vec<u8>)], devices: &str) -> Result<bool, Failed> {
        let memory = Arc::new(LeakCheck::new(Malloc::shared()));
        let builder = Runtime::builder().device_factory(befrost_sim::SIM).allocator(memory.clone());
        let runtime = builder.work_queue("mstd:2").devices(devices).build()?;
        let raised = Arc::new(Raised::default());
        // Nothing may wait for an event that the fault has prevented: at the deadline the error differs.
        let cancellation = Cancellation::with_deadline(Instant::now() + Duration::from_secs(20));
        let diagnostics: Option<Arc<dyn Diagnostics>> = Some(raised.clone());
        let call = CallOptions { diagnostics, cancellation, ..CallOptions::default() };
        let (mut occurred, has_variables) = (false, self.description["init"].is_string());
        for (i, (run, bef)) in files.iter().enumerate() {
            let program = runtime.load_bytes(bef)?;
            if i == 0 && has_variables {
                _ = program.function(INIT)?.call_with(Vec::new(), &call)?;
                // If a variable is not initialized, `main` is not run.
                occurred = raised.0.load(Ordering::Relaxed);
            }
            if !occurred {
                occurred = self.call_with_fault(run, &program, &runtime, &call)?;
                runtime.devices().quiesce();
                let is_healthy = runtime.devices().iter().all(|device| device.health().is_ok());
                // A copy or a request for memory that failed leaves the device as it was. Each device has
                // one such fault. Variables may have changed.
                let mut n_faults = usize::from(occurred && is_healthy && !has_variables);
                while n_faults > 0 && self.call_with_fault(run, &program, &runtime, &call)? {
                    n_faults += 1;
                    if n_faults > runtime.devices().len() {
                        return Err("the next call fails, too".into());
                    }
                }
            }
            // A target that fails gives no result. Later runs find other variables.
            occurred |= raised.0.load(Ordering::Relaxed);
            occurred |= runtime.devices().iter().any(|device| device.health().is_err());
            if occurred {
                break;
            }
        }
        runtime.devices().quiesce();
        drop((call, runtime));
        let patience = Instant::now() + Duration::from_secs(5);
        while memory.live() != Live::default() {
            if Instant::now() > patience {
                return Err(format!("memory is left: {:?}", memory.live()).into());
            }
            std::thread::yield_now();
        }
        Ok(occurred)
    }

    fn tolerance(&self) -> Tolerance {
        let tolerance = |name: &str| self.description[name].as_f64().unwrap_or(1e-5);
        Tolerance { rtol: tolerance("rtol"), atol: tolerance("atol") }
    }

    fn array(&self, file: &Json, runtime: &Runtime) -> Result<HostTensor, Failed> {
        Ok(befrost::npy::read_file(&self.folder.join(text(file)), runtime.allocator())?)
    }

    /// The text of the module, without its initialization, after the placement and the passes `pass`, without
    /// optimization.
    fn text_after(&self, run: &Json, pass: &str, native: bool) -> Result<String, Failed> {
        let (devices, soft) = (self.devices(false), self.options(Partition::None, "first", false).soft);
        let pipeline = format!(
            "builtin.module({},tf-outline-regions,tf-expand-collectives,\
             tf-place{{devices={devices} soft={soft}}}{pass})",
            if native { LOWER } else { FUNCTIONALIZE }
        );
        let module = Case::compiled(self.imported_with(run, false, None)?, &pipeline)?;
        Ok(print(&module, &PrintOptions { locations: true, local_scope: true, ..PrintOptions::default() }))
    }

    /// Checks that each op on a device is where TensorFlow placed it. Ops that TensorFlow does not list,
    /// control flow, `Identity` and reads of references are exempt.
    fn compare_placement(&self, run: &Json) -> Result<(), Failed> {
        let Some(partition) = run["partition"].as_u64() else { return Ok(()) };
        let placement = &self.description["partitions"][partition as usize]["placement"];
        let mut printed = self.text_after(run, "", false)?;
        if self.description["control_flow"] == "v2" {
            // Nodes of functions may have the names of the graph's.
            printed.truncate(printed.find("func.func private").unwrap_or(printed.len()));
        }
        for line in printed.lines().filter(|line| line.contains("device = \"")) {
            let (Some(device), Some(node)) = (
                between(line, "device = \"", "\""),
                line.rsplit("loc(\"").next().and_then(|rest| rest.split('"').next()),
            ) else {
                continue;
            };
            let is_free = ["tf.Identity\"", "If\"", "While\"", "Case\"", "Call\"", "tf._ReadRef\""];
            let Some(want) = placement[node].as_str().filter(|_| !is_free.iter().any(|op| line.contains(op)))
            else {
                continue;
            };
            let (got, want) = (short(device), short(want));
            if got != want {
                return Err(format!("'{node}' is on {got}, TensorFlow has it on {want}").into());
            }
        }
        Ok(())
    }

    /// Checks that there are no more sends than TensorFlow's, and, for a graph without control flow, no
    /// more for any pair of devices.
    fn compare_crossings(&self, run: &Json, native: bool) -> Result<(), Failed> {
        let Some(partition) = run["partition"].as_u64() else { return Ok(()) };
        let partition = &self.description["partitions"][partition as usize];
        if partition.get("not_counted").is_some() {
            return Ok(());
        }
        let pairs = partition["transfers"].as_object().into_iter().flatten();
        let theirs: u64 = pairs
            .flat_map(|(_, pair)| ["data", "control"].map(|kind| pair[kind].as_u64().unwrap_or(0)))
            .sum();
        let text =
            self.text_after(run, &format!(",tf-partition{{devices={}}}", self.devices(false)), native)?;
        let ours = text.matches("dev.send ").count() as u64;
        if ours > theirs {
            return Err(format!("{ours} sends, TensorFlow has {theirs}").into());
        }
        // Our feeds and fetches are on the first device, so pairs compare only if TensorFlow's client is too.
        let client = self.description["client"].as_str().map(short);
        let control = ["If\"(", "Case\"(", "While\"(", "tf_executor."];
        let is_control = |line: &str| control.iter().any(|op| line.contains(op));
        if text.lines().any(is_control) || client != self.names().first().map(|name| short(name)) {
            return Ok(());
        }
        for (pair, ours) in sends_by_pair(&text) {
            let theirs = partition["transfers"].as_object().into_iter().flatten();
            let theirs: u64 = theirs
                .filter(|(theirs, _)| theirs.split(" -> ").map(short).eq(pair.iter().cloned()))
                .flat_map(|(_, pair)| ["data", "control"].map(|kind| pair[kind].as_u64().unwrap_or(0)))
                .sum();
            if ours > theirs {
                return Err(
                    format!("{ours} sends from {}, TensorFlow has {theirs}", pair.join(" to ")).into()
                );
            }
        }
        Ok(())
    }
}

/// A device's name without its default parts.
fn short(name: &str) -> String {
    let name = name.replace("/replica:0", "").replace("/device:", "/");
    name.strip_prefix("/job:localhost/task:0/").unwrap_or(&name).to_owned()
}

/// The number of sends from each device to each other, in the text of a partitioned program.
fn sends_by_pair(text: &str) -> BTreeMap<[String; 2], u64> {
    let end = |line: &str, way: &str| {
        let channel: u64 = between(line, " channel ", " ")?.parse().ok()?;
        Some((channel, short(between(line, &format!(" {way} \""), "\"")?)))
    };
    let ends = |op: &str, way: &str| -> BTreeMap<u64, String> {
        text.lines().filter(|line| line.contains(op)).filter_map(|line| end(line, way)).collect()
    };
    let (from, to) = (ends("dev.recv ", "from"), ends("dev.send ", "to"));
    let mut pairs = BTreeMap::new();
    for (channel, to) in to {
        let from = from.get(&channel).cloned().unwrap_or_default();
        *pairs.entry([from, to]).or_default() += 1;
    }
    pairs
}

/// The graph with `SIM:N` for each `CPU:N` except `CPU:0`.
fn simulated_graph(graph: &[u8]) -> Vec<u8> {
    const DEVICE: &[u8] = b"/device:CPU:";
    let mut graph = graph.to_vec();
    for at in 0..graph.len().saturating_sub(DEVICE.len()) {
        let end = at + DEVICE.len();
        if graph[at..].starts_with(DEVICE) && graph[end] != b'0' {
            graph[end - 4..end - 1].copy_from_slice(b"SIM");
        }
    }
    graph
}

/// The text after `start` up to `end`.
fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let rest = &text[text.find(start)? + start.len()..];
    Some(&rest[..rest.find(end)?])
}

fn items(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}
