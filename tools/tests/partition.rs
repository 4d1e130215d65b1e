//! Graphs over several devices give TensorFlow's results, as one function and divided by device and by task,
//! at `-O0` and `-O2`, on one thread, on two, and in seeded orders; ops are where TensorFlow placed them, and
//! never more values cross.
//!
//! A case is a folder of `testdata/partition`, and of `$BEFROST_PARTITION` if that is set: `graph.pb`, and
//! `case.json` with devices, placement, numbers of transfers and runs, whose tensors are `.npy` files. The
//! runs of a case share one set of variables.
#![forbid(unsafe_code)]

mod cases;

use std::path::{Path, PathBuf};

use befrost::{CallOptions, Datum, HostTensor, Resources, Runtime};
use befrost_compiler::device::{DeviceOptions, Partition};
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

/// A way to run a case.
struct Way {
    partition: Partition,
    policy: &'static str,
    level: u8,
    queue: &'static str,
}

const WAYS: [Way; 10] = [
    Way { partition: Partition::None, policy: "first", level: 0, queue: "s" },
    Way { partition: Partition::None, policy: "list", level: 2, queue: "mstd:2" },
    Way { partition: Partition::None, policy: "greedy", level: 1, queue: "seeded:5" },
    Way { partition: Partition::Device, policy: "first", level: 0, queue: "s" },
    Way { partition: Partition::Device, policy: "first", level: 0, queue: "seeded:7" },
    Way { partition: Partition::Device, policy: "first", level: 2, queue: "s" },
    Way { partition: Partition::Device, policy: "list", level: 2, queue: "mstd:2" },
    Way { partition: Partition::Device, policy: "greedy", level: 0, queue: "mstd:2" },
    Way { partition: Partition::Worker, policy: "first", level: 0, queue: "mstd:2" },
    Way { partition: Partition::Worker, policy: "list", level: 2, queue: "seeded:3" },
];

fn check(case: &Path) -> Result<(), Failed> {
    let description: Json = serde_json::from_str(&std::fs::read_to_string(case.join("case.json"))?)?;
    let case = Case { folder: case.to_owned(), graph: std::fs::read(case.join("graph.pb"))?, description };
    for way in &WAYS {
        let name = format!("{:?} {}, -O{} on {}", way.partition, way.policy, way.level, way.queue);
        case.run_all(way).map_err(|why| format!("{name}: {}", why.message().unwrap_or_default()))?;
    }
    for run in items(&case.description["runs"]) {
        if run.get("expect_error").is_none_or(|error| text(&error["when"]) != "placement") {
            case.compare_placement(run)?;
            case.compare_crossings(run)?;
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
    /// The devices as on a command line.
    fn devices(&self) -> String {
        let names: Vec<&str> = items(&self.description["devices"]).iter().filter_map(Json::as_str).collect();
        if names.iter().all(|name| !name.starts_with('/')) {
            return format!("CPU:{}", names.len());
        }
        let one = |name: &&str| match name.rsplit_once("/device:") {
            Some((task, _)) => format!("{task}/CPU:1"),
            None => (*name).to_owned(),
        };
        names.iter().map(one).collect::<Vec<_>>().join(",")
    }

    fn options(&self, partition: Partition, policy: &str) -> DeviceOptions {
        DeviceOptions {
            devices: self.devices(),
            soft: self.description["soft_placement"].as_bool().unwrap_or(false),
            policy: policy.to_owned(),
            partition,
            ..DeviceOptions::default()
        }
    }

    fn imported(&self, run: &Json) -> Result<Module, Failed> {
        let names = |value: &Json| items(value).iter().map(|name| text(name).to_owned()).collect();
        let feeds = items(&run["feeds"]).iter().map(|feed| Feed::named(text(&feed["tensor"]))).collect();
        let options = ImportOptions {
            feeds,
            fetches: names(&run["fetches"]),
            targets: names(&run["targets"]),
            init: self.description["init"].as_str().map(str::to_owned),
            ..ImportOptions::default()
        };
        Ok(graphdef(&self.graph[..], self.graph.len(), &options).map_err(|said| format!("{said:?}"))?)
    }

    fn passed(&self, run: &Json, pipeline: &str) -> Result<Module, Failed> {
        let mut passes = PassManager::parse(pipeline).map_err(|error| format!("{error:?}"))?;
        let module = verify(self.imported(run)?).map_err(|said| format!("{said:?}"))?;
        let (module, _) = passes.run(module).map_err(|said| said[0].message.clone())?;
        Ok(module.into_module())
    }

    /// All runs, with one set of variables.
    fn run_all(&self, way: &Way) -> Result<(), Failed> {
        let runtime = Runtime::builder().work_queue(way.queue).devices(&self.devices()).build()?;
        let resources = Resources::default();
        for (i, run) in items(&self.description["runs"]).iter().enumerate() {
            let expected = &run["expect_error"];
            let options = self.options(way.partition, way.policy);
            let pipeline =
                default_pipeline(&self.imported(run)?, way.level, &options).ok_or("no op graph")?;
            let module = match self.passed(run, &pipeline) {
                Ok(_) if text(&expected["when"]) == "placement" => return Err("it was placed".into()),
                Err(_) if text(&expected["when"]) == "placement" => continue,
                module => verify(module?).map_err(|said| format!("{said:?}"))?,
            };
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
            let tolerance = |name: &str| self.description[name].as_f64().unwrap_or(1e-5);
            let tolerance = Tolerance { rtol: tolerance("rtol"), atol: tolerance("atol") };
            for output in items(&run["outputs"]) {
                let at = items(&run["fetches"]).iter().position(|fetch| fetch == &output["tensor"]);
                let got = results[at.ok_or("an output that is not fetched")?].tensor()?;
                let report = compare(got, &self.array(&output["file"], &runtime)?, tolerance)?;
                if !report.is_match() {
                    return Err(format!("run {i}, {}: {report}", output["tensor"]).into());
                }
            }
        }
        Ok(())
    }

    fn array(&self, file: &Json, runtime: &Runtime) -> Result<HostTensor, Failed> {
        Ok(befrost::npy::read_file(&self.folder.join(text(file)), runtime.allocator())?)
    }

    /// The text of the module after a pass of the placement, at -O0.
    fn text_after(&self, run: &Json, pass: &str) -> Result<String, Failed> {
        let (devices, soft) = (self.devices(), self.options(Partition::None, "first").soft);
        let pipeline = format!(
            "builtin.module(tf-functionalize-control-flow,tf-outline-regions,tf-expand-collectives,\
             tf-place{{devices={devices} soft={soft}}}{pass})"
        );
        let module = self.passed(run, &pipeline)?;
        Ok(print(&module, &PrintOptions { locations: true, local_scope: true, ..PrintOptions::default() }))
    }

    /// Each op that names a device, and is neither a constant nor control flow, is where TensorFlow had it.
    fn compare_placement(&self, run: &Json) -> Result<(), Failed> {
        let Some(partition) = run["partition"].as_u64() else { return Ok(()) };
        let placement = &self.description["partitions"][partition as usize]["placement"];
        let printed = self.text_after(run, "")?;
        for line in printed.lines().filter(|line| line.contains("device = \"")) {
            let (Some(device), Some(node)) = (
                between(line, "device = \"", "\""),
                line.rsplit("loc(\"").next().and_then(|rest| rest.split('"').next()),
            ) else {
                continue;
            };
            let is_free = ["tf.Identity\"", "tf.If\"", "tf.While\"", "tf.Case\"", "Call\"", "tf._ReadRef\""];
            let Some(want) = placement[node].as_str().filter(|_| !is_free.iter().any(|op| line.contains(op)))
            else {
                continue;
            };
            let short = |name: &str| name.replace("/replica:0", "").replace("/device:", "/");
            let (got, want) = (short(device), short(want));
            if got != want && got != format!("/job:localhost/task:0/{want}") {
                return Err(format!("'{node}' is on {got}, TensorFlow has it on {want}").into());
            }
        }
        Ok(())
    }

    /// There are no more sends than TensorFlow's.
    fn compare_crossings(&self, run: &Json) -> Result<(), Failed> {
        let Some(partition) = run["partition"].as_u64() else { return Ok(()) };
        let partition = &self.description["partitions"][partition as usize];
        if partition.get("not_counted").is_some() {
            return Ok(());
        }
        let pairs = partition["transfers"].as_object().into_iter().flatten();
        let theirs: u64 = pairs
            .flat_map(|(_, pair)| ["data", "control"].map(|kind| pair[kind].as_u64().unwrap_or(0)))
            .sum();
        let text = self.text_after(run, &format!(",tf-partition{{devices={}}}", self.devices()))?;
        let ours = text.matches("dev.send ").count() as u64;
        if ours > theirs {
            return Err(format!("{ours} sends, TensorFlow has {theirs}").into());
        }
        Ok(())
    }
}

/// The text between two others.
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
