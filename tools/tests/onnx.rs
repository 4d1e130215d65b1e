//! ONNX models. The results are those that ONNX, PyTorch or ONNX Runtime computed, for the model and for the
//! model exported again, at `-O0` on one thread and at `-O2` on two.
//!
//! A case is a folder of `testdata/onnx`: `model.onnx`, and `case.json` with the `.npy` file of each input
//! and output, and perhaps `atol`, an absolute tolerance. Most are node tests of the `onnx` package, written
//! by `tools/onnx/node_tests.py --keep`. More cases are read from the folder that `BEFROST_ONNX` names.
#![forbid(unsafe_code)]

mod cases;
#[path = "cases/exported.rs"]
mod exported;

use std::path::Path;
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::Value as Json;

fn main() {
    cases::run("onnx", "BEFROST_ONNX", "case.json", check);
}

fn check(case: &Path) -> Result<(), Failed> {
    let description: Json = serde_json::from_str(&std::fs::read_to_string(case.join("case.json"))?)?;
    let folder = tempfile::tempdir()?;
    for (level, queue) in [("-O0", "s"), ("-O2", "mstd:2")] {
        run(case, &description, &case.join("model.onnx"), &[level, "--work-queue", queue])?;
        let again = folder.path().join("exported.onnx");
        if exported::as_onnx(case, "model.onnx", &[level], &again)? {
            run(case, &description, &again, &[level, "--work-queue", queue])
                .map_err(|error| format!("exported: {}", error.message().unwrap_or_default()))?;
        }
    }
    Ok(())
}

/// Runs a model, and compares its results with those of the case.
fn run(case: &Path, description: &Json, model: &Path, options: &[&str]) -> Result<(), Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bef-exec"));
    command.arg(model).args(options).args(["--rtol", "1e-3"]);
    if let Some(atol) = description["atol"].as_f64() {
        command.args(["--atol", &atol.to_string()]);
    }
    for (key, option) in [("inputs", "--input"), ("outputs", "--expect")] {
        for (name, file) in description[key].as_object().into_iter().flatten() {
            let file = case.join(file.as_str().unwrap_or_default());
            command.arg(option).arg(format!("{name}={}", file.display()));
        }
    }
    let output = command.output()?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        return Err(format!("{}: {}", options.join(" "), String::from_utf8_lossy(&said)).into());
    }
    Ok(())
}
