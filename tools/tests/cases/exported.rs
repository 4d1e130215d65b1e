//! The export of cases as ONNX models.
//!
//! The file `not-onnx.txt` beside the cases of `testdata` lists those that are refused, since ONNX does not
//! have their ops. The test fails if another case is refused, or if a listed one is not.

use std::path::Path;
use std::process::{Command, Output};

use libtest_mimic::Failed;

/// Exports a model as an ONNX model with these options; false if it is refused.
pub(crate) fn as_onnx(case: &Path, model: &str, options: &[&str], to: &Path) -> Result<bool, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ir-translate"));
    let Output { status, stderr, .. } =
        command.arg(case.join(model)).args(options).arg("--to").arg("onnx").arg("-o").arg(to).output()?;
    let said = String::from_utf8_lossy(&stderr).into_owned();
    if !status.success() && !said.contains("error[E1102]") {
        return Err(format!("export as ONNX: {said}").into());
    }
    let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let list = case.with_file_name("not-onnx.txt");
    // Folders outside `testdata` have no list.
    if let Ok(list) = std::fs::read_to_string(&list) {
        match (status.success(), list.lines().any(|line| line == name)) {
            (true, true) => return Err("it can be exported as ONNX: remove it from not-onnx.txt".into()),
            (false, false) => return Err(format!("export as ONNX: {said}").into()),
            _ => {}
        }
    }
    Ok(status.success())
}
