//! ONNX models: the numbers that ONNX, PyTorch or ONNX Runtime computed with them, at -O0 and -O2, on one
//! thread and on two.
//!
//! A case is a folder of `testdata/onnx`: `model.onnx`, and `case.json` with the `.npy` file of each input
//! and output. Most are node tests of the `onnx` package, written by `tools/onnx/node_tests.py --keep`. More
//! cases are read from the folder that `BEFROST_ONNX` names.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value as Json;

fn main() {
    let arguments = Arguments::from_args();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/onnx");
    let others = std::env::var_os("BEFROST_ONNX").map(PathBuf::from);
    let mut trials = Vec::new();
    for root in std::iter::once(own).chain(others) {
        let entries = std::fs::read_dir(&root).into_iter().flatten().flatten();
        let mut cases: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| path.join("case.json").is_file()).collect();
        cases.sort();
        for case in cases {
            let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
            trials.push(Trial::test(name, move || check(&case)));
        }
    }
    assert!(!trials.is_empty(), "the cases are gone");
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(case: &Path) -> Result<(), Failed> {
    let description: Json = serde_json::from_str(&std::fs::read_to_string(case.join("case.json"))?)?;
    for (level, queue) in [("-O0", "s"), ("-O2", "mstd:2")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bef-exec"));
        command.arg(case.join("model.onnx")).args([level, "--work-queue", queue, "--rtol", "1e-3"]);
        for (key, option) in [("inputs", "--input"), ("outputs", "--expect")] {
            for (name, file) in description[key].as_object().into_iter().flatten() {
                let file = case.join(file.as_str().unwrap_or_default());
                command.arg(option).arg(format!("{name}={}", file.display()));
            }
        }
        let output = command.output()?;
        if !output.status.success() {
            let said = [output.stdout, output.stderr].concat();
            return Err(format!("{level} on {queue}: {}", String::from_utf8_lossy(&said)).into());
        }
    }
    Ok(())
}
