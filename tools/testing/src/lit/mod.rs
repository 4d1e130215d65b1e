//! The runner of lit tests: files with commands in their comments.
//!
//! ```text
//! // RUN: ir-opt %s --cse | FileCheck %s
//! // REQUIRES: avx2 && !debug      UNSUPPORTED: ..      XFAIL: *
//! ```
//!
//! The language is a subset of LLVM's lit with its internal shell. Anything outside the subset is refused
//! with a message: a misread line could pass where it should fail.
//!
//! ```text
//! file ──script.rs──▶ Script ──shell.rs──▶ pipelines ──exec.rs──▶ exit codes and output
//!                        └──feature.rs: is REQUIRES true?
//! ```
//!
//! * Each RUN line is run separately, in order; the first failure ends the test. A pipeline fails if any of
//!   its commands does, not just the last.
//! * Commands are the tools passed by the caller, a few ordinary ones from PATH (`shell.rs`), and absolute
//!   paths. No shell is used.
//! * `%s` is the test file, `%S` and `%p` its directory, `%t` a name for temporary files of this test, `%T`
//!   an empty directory of this test (also the working directory), `%%` a percent sign. Anything else with
//!   `%` is an error.
//! * A test that times out is killed with all its processes and fails, even if failure is expected. A
//!   malformed test fails likewise.

mod exec;
mod feature;
mod script;
mod shell;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use script::Script;

/// The settings common to all tests of a run.
#[derive(Clone, Debug)]
pub struct Config {
    /// Programs by the names that RUN lines use.
    pub tools: BTreeMap<String, PathBuf>,
    /// The features for REQUIRES, UNSUPPORTED and XFAIL.
    pub features: BTreeSet<String>,
    /// The parent of the tests' temporary directories.
    pub scratch: PathBuf,
    /// The timeout of one test.
    pub timeout: Duration,
}

/// The outcome of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All its lines succeeded.
    Pass,
    /// A line failed, as expected by XFAIL.
    ExpectedFailure,
    /// It cannot run with the given features; the text is the unmet condition.
    Unsupported(String),
    /// Any other outcome, with a report of the commands and their output.
    Fail(String),
}

/// The test files under `root`, in order: all that end in `.mlir` or `.test` and are not in a directory
/// `Inputs`.
///
/// # Errors
/// If a directory cannot be read.
pub fn discover(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                if entry.file_name() != "Inputs" {
                    directories.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "mlir" || e == "test") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Runs the test in the file `root`/`name`.
pub fn run_file(config: &Config, root: &Path, name: &str) -> Outcome {
    let path = root.join(name);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => return Outcome::Fail(format!("cannot read the test: {error}\n")),
    };
    match Script::parse(&bytes) {
        Ok(script) => run_script(config, &script, &path, name),
        Err(message) => Outcome::Fail(format!("{name}: {message}\n")),
    }
}

/// Runs a test that has been read from `path`; `name` names its temporary directory.
pub fn run_script(config: &Config, script: &Script, path: &Path, name: &str) -> Outcome {
    let fail = |message: String| Outcome::Fail(format!("{name}: {message}\n"));
    if let Some(reason) = script.unmet(&config.features) {
        return Outcome::Unsupported(reason);
    }
    let directory = config.scratch.join(format!("{name}.dir"));
    let base = Path::new(name).file_name().unwrap_or_default().to_owned();
    if let Err(error) = empty_directory(&directory) {
        return fail(format!("cannot make the directory '{}': {error}", directory.display()));
    }
    let mut temporary = base;
    temporary.push(".tmp");
    let places = shell::Places {
        source: path.to_owned(),
        source_directory: path.parent().unwrap_or(Path::new(".")).to_owned(),
        temporary: directory.join(temporary),
        directory: directory.clone(),
    };
    // Everything is parsed before anything is run.
    let mut lines = Vec::new();
    for line in &script.runs {
        match shell::parse(&line.text, &places, &config.tools) {
            Ok(pipelines) => lines.push((line, pipelines)),
            Err(message) => return fail(format!("RUN line {}: {message}", line.number)),
        }
    }
    let deadline = std::time::Instant::now() + config.timeout;
    for (line, pipelines) in lines {
        match exec::run(&pipelines, &directory, deadline) {
            Ok(()) => {}
            Err(failure) if failure.ended && script.fails_as_expected(&config.features) => {
                return Outcome::ExpectedFailure;
            }
            Err(failure) => {
                let report = failure.report;
                return Outcome::Fail(format!("{name}: RUN line {}: {}\n{report}", line.number, line.text));
            }
        }
    }
    if script.fails_as_expected(&config.features) {
        return fail("passes, but XFAIL says that it fails".to_owned());
    }
    Outcome::Pass
}

fn empty_directory(directory: &Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::fs::create_dir_all(directory)
}
