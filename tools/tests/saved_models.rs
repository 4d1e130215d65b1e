//! SavedModels and other models with variables. The results of each call are TensorFlow's, at `-O0` and
//! `-O2`, on one thread and on two, with variables and with constants in their place.
//!
//! A case is a folder of `testdata/saved_models`, and of `$BEFROST_SAVED_MODELS` if that is set: `model`, and
//! `case.json` with calls of signatures, whose tensors are `.npy` files. Each call sees the variables as the
//! call before left them.
#![forbid(unsafe_code)]

mod cases;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use befrost::{CallOptions, Datum, Resources, Runtime, Value};
use befrost_kernels::{Strings, Tensor};
use befrost_tensor::compare::{Tolerance, compare, compare_strings};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::npy::{self, Array};
use libtest_mimic::Failed;
use serde_json::Value as Json;

fn main() {
    cases::run("saved_models", "BEFROST_SAVED_MODELS", "case.json", check);
}

/// Names of inputs or outputs, with their files.
type Files = Vec<(String, String)>;
/// The calls of a case: the signature, the files of its inputs and of its outputs.
type Calls = Vec<(String, Files, Files)>;

fn files(of: &Json) -> Files {
    let all = of.as_object().into_iter().flatten();
    all.map(|(name, file)| (name.clone(), file.as_str().unwrap_or_default().to_owned())).collect()
}

fn check(case: &Path) -> Result<(), Failed> {
    let description: Json = serde_json::from_str(&std::fs::read_to_string(case.join("case.json"))?)?;
    let calls = description["calls"].as_array().ok_or("no calls")?.iter().map(|call| {
        let signature = call["signature"].as_str().unwrap_or_default().to_owned();
        (signature, files(&call["inputs"]), files(&call["outputs"]))
    });
    let calls: Calls = calls.collect();
    let tags = description["tags"].as_array().into_iter().flatten().filter_map(Json::as_str);
    let tags: Vec<&str> = tags.collect();
    for (level, queue) in [("-O0", "s"), ("-O0", "mstd:2"), ("-O2", "s"), ("-O2", "mstd:2")] {
        for freeze in [false, true] {
            translated(case, &calls, &tags, level, queue, freeze)
                .map_err(|why| format!("{level} on {queue}, freeze: {freeze}: {why}"))?;
        }
        executed(case, &calls[0], &tags, level, queue).map_err(|why| format!("bef-exec {level}: {why}"))?;
    }
    Ok(())
}

/// The file or folder of the model.
fn model(case: &Path) -> PathBuf {
    let of_checkpoint = case.join("model.meta");
    if of_checkpoint.is_file() { of_checkpoint } else { case.join("model") }
}

/// Checks all calls of the model translated to BEF.
fn translated(
    case: &Path,
    calls: &Calls,
    tags: &[&str],
    level: &str,
    queue: &str,
    freeze: bool,
) -> Result<(), String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let bef = directory.path().join("model.bef");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ir-translate"));
    command.arg(model(case)).args([level, "--verify-each"]).arg("-o").arg(&bef);
    tags.iter().for_each(|tag| _ = command.args(["--tag", tag]));
    if freeze {
        command.arg("--freeze");
    }
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let runtime = Runtime::builder().work_queue(queue).build().map_err(|error| error.to_string())?;
    let bytes = std::fs::read(&bef).map_err(|error| error.to_string())?;
    let program = runtime.load_bytes(&bytes).map_err(|error| format!("{error:?}"))?;
    let resources = Resources::default();
    let call = |name: &str, arguments: Vec<Datum>| {
        let options = CallOptions { resources: resources.clone(), ..CallOptions::default() };
        let function = program.function(name).map_err(|error| error.to_string())?;
        let results = function.call_with(arguments, &options).map_err(|error| error.to_string())?;
        let failed = results.iter().find_map(Datum::error).map(|error| error.to_string());
        failed.map_or(Ok((function, results)), |error| Err(format!("'{name}' fails: {error}")))
    };
    if program.functions().any(|function| function.name() == "init") {
        call("init", Vec::new())?;
    }
    for (i, (signature, inputs, outputs)) in calls.iter().enumerate() {
        let function = program.function(signature).map_err(|error| error.to_string())?;
        let arguments = function.arguments().iter().map(|port| {
            let input = inputs.iter().find(|(name, _)| port.name() == name);
            let (_, file) = input.ok_or_else(|| format!("no input for {port:?}"))?;
            Ok(Datum::from(match read(case, file)? {
                Array::Numbers(numbers) => Value::object(Tensor(numbers)),
                Array::Strings(strings) => Value::object(Strings(strings)),
            }))
        });
        let (function, results) = call(signature, arguments.collect::<Result<_, String>>()?)?;
        for (name, file) in outputs {
            let at = function.results().iter().position(|port| port.name() == name);
            let at = at.ok_or_else(|| format!("'{signature}' has no result '{name}'"))?;
            let wrong = |why: String| format!("call {i}, '{signature}', '{name}': {why}");
            same(results[at].value(), &read(case, file)?).map_err(wrong)?;
        }
    }
    Ok(())
}

/// Checks the first call with `bef-exec` on the model itself.
fn executed(
    case: &Path,
    (signature, inputs, outputs): &(String, Files, Files),
    tags: &[&str],
    level: &str,
    queue: &str,
) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bef-exec"));
    command.arg(model(case)).args([level, "--work-queue", queue, "--signature", signature, "--leak-check"]);
    tags.iter().for_each(|tag| _ = command.args(["--tag", tag]));
    for (option, files) in [("--input", inputs), ("--expect", outputs)] {
        for (name, file) in files {
            command.args([option, &format!("{name}={}", case.join(file).display())]);
        }
    }
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn read(case: &Path, file: &str) -> Result<Array, String> {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    let bytes = std::fs::read(case.join(file)).map_err(|error| format!("{file}: {error}"))?;
    npy::parse_array(&bytes, &allocator).map_err(|error| format!("{file}: {error}"))
}

fn same(found: &Value, want: &Array) -> Result<(), String> {
    let tolerance = Tolerance { rtol: 1e-4, atol: 1e-5 };
    let report = match want {
        Array::Numbers(want) => {
            let found = found.downcast_ref::<Tensor>().ok_or("it is no tensor of numbers")?;
            compare(&found.0, want, tolerance)
        }
        Array::Strings(want) => {
            let found = found.downcast_ref::<Strings>().ok_or("it is no tensor of strings")?;
            compare_strings(&found.0, want)
        }
    };
    let report = report.map_err(|error| error.to_string())?;
    if report.is_match() { Ok(()) } else { Err(report.to_string()) }
}
