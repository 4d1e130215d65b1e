//! TensorFlow's graphs interpreted by the oracle. The results of every stored run are TensorFlow's: this
//! tests the oracle itself.

use std::path::{Path, PathBuf};

use befrost::mem::Malloc;
use befrost::{HostTensor, npy};
use befrost_compiler::import::{Feed, ImportOptions, graphdef};
use befrost_compiler::pass::PassManager;
use befrost_compiler::verify::{Verified, verify};
use befrost_testing::oracle::tf::{self, Strictness, TfValue, VariableStore};
use serde_json::Value as Json;

use crate::compare::{Tolerance, same_tensor};

/// The passes that turn dataflow control flow into functions, which the oracle requires.
const FUNCTIONAL: &str = "builtin.module(tf-functionalize-control-flow,tf-outline-regions)";

/// True for the problem of a case with strings, which are no dense tensors: the oracle has no operators on
/// them.
fn is_of_strings(problem: &str) -> bool {
    ["expected numbers, got strings", "got a tensor of strings", "'tf.AsString': it does not know"]
        .iter()
        .any(|words| problem.contains(words))
}

#[test]
fn stored_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/graphdefs");
    let entries = std::fs::read_dir(root).expect("the graphs");
    let mut cases: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    cases.sort();
    let (mut n_right, mut n_strings, mut refused, mut wrong) = (0, 0, Vec::new(), Vec::new());
    for case in cases.iter().filter(|case| case.is_dir()) {
        let name = case.file_name().unwrap_or_default().to_string_lossy();
        match check(case) {
            Ok(Some(why)) | Err(why) if is_of_strings(&why) => n_strings += 1,
            Ok(Some(why)) => refused.push(format!("{name}: {why}")),
            Ok(None) => n_right += 1,
            Err(why) => wrong.push(format!("{name}: {why}")),
        }
    }
    println!("{n_right} graphs; not interpreted:\n{}", refused.join("\n"));
    assert_eq!(wrong, Vec::<String>::new());
    assert!(n_right >= 60, "{n_right} graphs");
    assert!(n_strings < 25, "{n_strings} graphs of strings");
    assert_eq!(refused, Vec::<String>::new());
}

/// Compares all runs of a graph. Returns the reason if the oracle does not interpret it.
fn check(case: &Path) -> Result<Option<String>, String> {
    let text = std::fs::read_to_string(case.join("feeds.json")).map_err(|error| error.to_string())?;
    let description: Json = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let fetches: Vec<String> = strings(&description["fetches"]);
    let tolerance = Tolerance {
        relative: description["rtol"].as_f64().unwrap_or(0.0).max(1e-4),
        absolute: description["atol"].as_f64().unwrap_or(0.0).max(1e-5),
    };
    for (i, run) in items(&description["runs"]).iter().enumerate() {
        let feeds = items(&run["feeds"]);
        let module = import(case, feeds, &fetches)?;
        let arguments = feeds.iter().map(|feed| tensor(case, feed).map(TfValue::Tensor));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let mut state = VariableStore::default();
        let mut call = || tf::call(&module, "main", &arguments, &mut state, Strictness::Strict);
        // The results are those of the last of some calls.
        let earlier = run["calls"].as_u64().map_or(0, |calls| calls.saturating_sub(1));
        let answers: Result<Vec<_>, _> = (0..earlier).map(|_| call()).collect();
        let answer = match answers.and_then(|_| call()) {
            Ok(answer) => answer,
            Err(refusal) => return Ok(Some(refusal.to_string())),
        };
        if run.get("expect_error").is_some() {
            if !answer.results.iter().any(|result| result.error().is_some()) {
                return Err(format!("run {i}: {:?} instead of an error", answer.results));
            }
            continue;
        }
        for output in items(&run["outputs"]) {
            let name = output["tensor"].as_str().unwrap_or_default();
            let at = fetches.iter().position(|fetch| same_name(fetch, name));
            let found = at.and_then(|at| answer.results.get(at)).ok_or(format!("no result {name}"))?;
            let TfValue::Tensor(found) = found else { return Err(format!("run {i}: {name}: {found:?}")) };
            let want = tensor(case, output)?;
            same_tensor(found, &want, tolerance).map_err(|why| format!("run {i}: {name}: {why}"))?;
        }
    }
    Ok(None)
}

fn import(case: &Path, feeds: &[Json], fetches: &[String]) -> Result<Verified, String> {
    let bytes = std::fs::read(case.join("graph.pb")).map_err(|error| error.to_string())?;
    let feeds = feeds.iter().map(|feed| Feed::named(feed["tensor"].as_str().unwrap_or_default())).collect();
    let options = ImportOptions { feeds, fetches: fetches.to_vec(), ..ImportOptions::default() };
    let module = graphdef(&bytes[..], bytes.len(), &options).map_err(|said| format!("{said:?}"))?;
    let mut passes = PassManager::parse(FUNCTIONAL).map_err(|wrong| format!("{wrong:?}"))?;
    let done = verify(module).and_then(|module| passes.run_with(module, &mut Default::default()));
    done.map(|(module, _)| module).map_err(|wrong| format!("{wrong:?}"))
}

fn tensor(case: &Path, described: &Json) -> Result<HostTensor, String> {
    let file = case.join(described["file"].as_str().unwrap_or_default());
    npy::read_file(&file, &Malloc::shared()).map_err(|error| error.to_string())
}

/// True if two names denote one tensor: `x` is `x:0`.
fn same_name(a: &str, b: &str) -> bool {
    a.trim_end_matches(":0") == b.trim_end_matches(":0")
}

fn items(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn strings(value: &Json) -> Vec<String> {
    items(value).iter().filter_map(Json::as_str).map(str::to_owned).collect()
}
