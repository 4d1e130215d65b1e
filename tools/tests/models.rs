//! TensorFlow's graphs. The results of every stored run equal TensorFlow's:
//!
//! * at each level of optimization, on one thread and on two;
//! * with dataflow control flow executed natively, in several orders;
//! * after the export of the graph as a GraphDef and as an ONNX model.
//!
//! Our optimizer leaves no more ops than TensorFlow's own.
//!
//! A case is a folder of `testdata/graphdefs`, and of `$BEFROST_GRAPHDEFS` if that is set: `graph.pb`, and
//! `feeds.json` with the runs, whose tensors are `.npy` files.
#![forbid(unsafe_code)]

mod cases;
#[path = "cases/exported.rs"]
mod exported;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use befrost_compiler::import::{Feed, ImportOptions, graphdef};
use befrost_compiler::ir::Module;
use befrost_compiler::pass::PassManager;
use befrost_compiler::verify::verify;
use libtest_mimic::Failed;
use serde_json::Value as Json;

/// Ops that are not counted.
const FREE: &[&str] = &["Const", "Identity", "NoOp", "Placeholder"];

/// The flags with which a graph is compiled and run.
type Configuration = &'static [&'static str];

const FUNCTIONAL: [Configuration; 4] = [
    &["-O0", "--work-queue", "s"],
    &["-O1", "--work-queue", "s"],
    &["-O2", "--work-queue", "s"],
    &["-O2", "--work-queue", "mstd:2"],
];

/// The configurations that execute `Switch`, `Merge` and loops natively.
const NATIVE: [Configuration; 6] = [
    &["--no-functionalize", "-O0", "--work-queue", "s"],
    &["--no-functionalize", "-O0", "--seed", "5"],
    &["--no-functionalize", "-O2", "--work-queue", "s"],
    &["--no-functionalize", "-O2", "--work-queue", "mstd:2"],
    &["--no-functionalize", "-O2", "--seed", "3"],
    &["--no-functionalize", "-O2", "--seed", "8"],
];

fn main() {
    cases::run("graphdefs", "BEFROST_GRAPHDEFS", "feeds.json", check);
}

fn check(case: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(case.join("feeds.json"))?;
    let description: Json = serde_json::from_str(&text)?;
    let fetches: Vec<&str> = items(&description["fetches"]).iter().filter_map(Json::as_str).collect();
    let as_is = Graph { path: case.join("graph.pb"), fetches: fetches.clone(), rename: str::to_owned };
    for configuration in FUNCTIONAL {
        runs(case, &description, &as_is, configuration)?;
    }
    if has_dataflow_control_flow(&import(case, &description, &fetches)?) {
        for configuration in NATIVE {
            runs(case, &description, &as_is, configuration)?;
        }
    }
    let folder = tempfile::tempdir()?;
    for level in ["-O0", "-O2"] {
        let path = folder.path().join("exported.pb");
        export(case, &description, &fetches, level, &path)?;
        let exported = Graph { path, fetches: Vec::new(), rename: node_of };
        runs(case, &description, &exported, &[level, "--work-queue", "s"])
            .map_err(|error| format!("exported with {level}: {}", error.message().unwrap_or_default()))?;
        let path = folder.path().join("exported.onnx");
        let options = selection(&description, &fetches);
        let options: Vec<&str> = [level].into_iter().chain(options.iter().map(String::as_str)).collect();
        if exported::as_onnx(case, "graph.pb", &options, &path)? {
            let exported = Graph { path, fetches: Vec::new(), rename: port_of };
            runs(case, &without_errors(&description), &exported, &[level, "--work-queue", "s"])
                .map_err(|error| format!("as ONNX with {level}: {}", error.message().unwrap_or_default()))?;
        }
    }
    compare_with_grappler(case, &description, &fetches)
}

/// A graph of a case, with the mapping from the case's tensor names to the graph's.
struct Graph<'d> {
    path: PathBuf,
    fetches: Vec<&'d str>,
    rename: fn(&str) -> String,
}

/// The name of a tensor's node in an exported graph: `x` for `x:0`, `x_1` for `x:1`.
fn node_of(tensor: &str) -> String {
    tensor.strip_suffix(":0").unwrap_or(tensor).replace(':', "_")
}

/// The name of a tensor's port in an exported ONNX model: `x` for `x:0`.
fn port_of(tensor: &str) -> String {
    tensor.strip_suffix(":0").unwrap_or(tensor).to_owned()
}

/// The case without the runs that fail, since ONNX does not define which inputs are errors.
fn without_errors(description: &Json) -> Json {
    let mut description = description.clone();
    if let Some(runs) = description["runs"].as_array_mut() {
        runs.retain(|run| run.get("expect_error").is_none());
    }
    description
}

/// The options that name a case's fetches and feeds.
fn selection(description: &Json, fetches: &[&str]) -> Vec<String> {
    let feeds = items(&description["runs"][0]["feeds"]);
    let fetches = fetches.iter().map(|fetch| format!("--fetch={fetch}"));
    fetches.chain(feeds.iter().map(|feed| format!("--feed={}", text(&feed["tensor"])))).collect()
}

/// Checks all runs of a case.
fn runs(case: &Path, description: &Json, graph: &Graph<'_>, flags: &[&str]) -> Result<(), Failed> {
    let feeds =
        |run: &Json| items(&run["feeds"]).iter().map(|feed| text(&feed["tensor"]).to_owned()).collect();
    let first: Vec<String> = feeds(&description["runs"][0]);
    for (i, run) in items(&description["runs"]).iter().enumerate() {
        // An exported graph has the feeds of the first run.
        if graph.fetches.is_empty() && feeds(run) != first {
            continue;
        }
        let output = execute(case, description, graph, run, flags)?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let wants_error = run.get("expect_error").is_some();
        let failed = output.status.code() == Some(1);
        if wants_error != failed || !(failed || output.status.success()) {
            return Err(format!("run {i} with {}: {:?}\n{errors}", flags.join(" "), output.status).into());
        }
    }
    Ok(())
}

/// The op graph of a case, as imported, before any pass.
fn import(case: &Path, description: &Json, fetches: &[&str]) -> Result<Module, Failed> {
    let feeds = items(&description["runs"][0]["feeds"])
        .iter()
        .map(|feed| Feed::named(text(&feed["tensor"])))
        .collect();
    let fetches = fetches.iter().map(|&name| name.to_owned()).collect();
    let options = ImportOptions { feeds, fetches, ..ImportOptions::default() };
    let graph = std::fs::read(case.join("graph.pb"))?;
    graphdef(&graph[..], graph.len(), &options).map_err(|said| format!("{said:?}").into())
}

fn has_dataflow_control_flow(module: &Module) -> bool {
    module.walk_functions().any(|op| module.op_name_str(op) == "tf_executor.graph")
}

/// Exports the case's graph as a GraphDef.
fn export(case: &Path, description: &Json, fetches: &[&str], level: &str, to: &Path) -> Result<(), Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ir-translate"));
    command.arg(case.join("graph.pb")).arg(level).arg("-o").arg(to);
    let output = command.args(selection(description, fetches)).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("export with {level}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

fn execute(
    case: &Path,
    description: &Json,
    graph: &Graph<'_>,
    run: &Json,
    flags: &[&str],
) -> Result<Output, Failed> {
    let file = |tensor: &Json| {
        let name = (graph.rename)(text(&tensor["tensor"]));
        format!("{name}={}", case.join(text(&tensor["file"])).display())
    };
    let tolerance = |name: &str, least: f64| description[name].as_f64().unwrap_or(0.0).max(least).to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bef-exec"));
    command.arg(&graph.path).args(flags).arg("--leak-check");
    for fetch in &graph.fetches {
        command.args(["--fetch", fetch]);
    }
    // The results of a later call of the same program.
    if let Some(calls) = run["calls"].as_u64() {
        command.args(["--repeat", &calls.to_string()]);
    }
    for feed in items(&run["feeds"]) {
        command.args(["--input", &file(feed)]);
    }
    for output in items(&run["outputs"]) {
        command.args(["--expect", &file(output)]);
    }
    command.args(["--rtol", &tolerance("rtol", 1e-4), "--atol", &tolerance("atol", 1e-5)]);
    Ok(command.output()?)
}

/// Checks that our optimizer leaves no more ops than TensorFlow's.
fn compare_with_grappler(case: &Path, description: &Json, fetches: &[&str]) -> Result<(), Failed> {
    let theirs = &description["grappler"]["default"]["ops"];
    if theirs.is_null() {
        return Ok(());
    }
    let counted = |name: &str| !FREE.contains(&name);
    let want: u64 = keys(theirs).filter(|op| counted(op)).filter_map(|op| theirs[op].as_u64()).sum();
    let module = import(case, description, fetches)?;
    let mut passes =
        PassManager::parse(&befrost_compiler::graph::pipeline(2)).map_err(|error| format!("{error:?}"))?;
    let (module, _) = verify(module)
        .and_then(|module| passes.run_with(module, &mut Default::default()))
        .map_err(|said| format!("{said:?}"))?;
    let ours = operators(&module);
    let found: usize = ours.iter().filter(|(op, _)| counted(op)).map(|(_, n)| n).sum();
    if found as u64 > want {
        return Err(format!("{found} operators, TensorFlow has {want}: {ours:?}").into());
    }
    Ok(())
}

fn operators(module: &Module) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for op in module.walk(module.top()) {
        if let Some(name) = module.op_name_str(op).strip_prefix("tf.") {
            *found.entry(name.to_owned()).or_default() += 1;
        }
    }
    found
}

fn items(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn keys(value: &Json) -> impl Iterator<Item = &str> {
    value.as_object().into_iter().flat_map(|entries| entries.keys().map(String::as_str))
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}
