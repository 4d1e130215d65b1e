//! Chores of the repository: `cargo run -p xtask -- CHORE`.
//!
//! ```text
//! c-library FOLDER   the C interface as a package has it: libraries and headers
//! features           the facade and the C interface without Cargo features, and with each alone
//! fuzz TARGET [SEC]  builds a target of tools/fuzz for libFuzzer and runs it for some seconds
//! header             the header of the C interface, of its declarations in Rust
//! instructions       instructions per kernel in the executor, counted by valgrind
//! kills [N]          training that is killed N times (200) and resumed: it must end with the same bits
//! loom               the loom tests of our concurrent code, which try every interleaving
//! model KIND [N=V].. a network as text, `residual` or `transformer`, see `befrost_testing::models`
//! random-devices [FROM N]  random programs on random devices, as one function and in parts, optimized
//! random-gradients [FROM N]  gradients of random programs, at every level and recomputed
//! refuse-memory      TensorFlow's graphs, with each request for memory refused in turn
//! sizes [NAME]..     the sizes of small programs, against a table
//! mutate-validate    the checks of BEF files, disabled one at a time: each must make a test fail
//! ```
//!
//! A chore is here if its command line is too long to remember or its success needs more than an exit code.
#![forbid(unsafe_code)]

mod c_library;
mod features;
mod fuzz;
mod header;
mod instructions;
mod mutate;
mod sizes;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The crates that have loom tests; each must run at least one.
const LOOM_CRATES: [&str; 3] = ["befrost-mem", "befrost-kernel-api", "befrost-host"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["c-library", folder] => c_library::install(&root(), &target(), Path::new(folder)),
        ["features"] => features::run(&root(), &target()),
        ["fuzz", name] => fuzz::run(&root(), &target(), name, "60"),
        ["fuzz", name, seconds] => fuzz::run(&root(), &target(), name, seconds),
        ["header"] => header::write(&root()),
        ["instructions"] => instructions::run(&root(), &target()),
        ["kills"] => kills("200"),
        ["kills", n] => kills(n),
        ["loom"] => loom(),
        ["model", words @ ..] => model(words),
        ["mutate-validate"] => mutate::run(&root(), &target()),
        ["random-devices"] => random_devices("1", "10000"),
        ["random-devices", first, n] => random_devices(first, n),
        ["random-gradients"] => random_gradients("1", "5000"),
        ["random-gradients", first, n] => random_gradients(first, n),
        ["refuse-memory"] => refuse_memory(),
        ["sizes", names @ ..] => sizes::run(&root(), &target(), names),
        _ => {
            eprintln!(
                "usage: cargo run -p xtask -- c-library FOLDER|features|fuzz TARGET [SECONDS]|header|instructions|kills [N]|loom|model KIND [NAME=VALUE]..|mutate-validate|random-devices [FROM N]|random-gradients [FROM N]|refuse-memory|sizes [NAME].."
            );
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a network.
fn model(words: &[&str]) -> Result<(), String> {
    let text = befrost_testing::models::from_words(words)?;
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| format!("cannot write: {error}"))
}

/// Runs the test of random programs on random devices with `n` of them, from `first` on. Optimized: most of
/// its time is the compiler's, and unoptimized it has six times as much.
fn random_devices(first: &str, n: &str) -> Result<(), String> {
    let set = [("BEFROST_DEVICE_FIRST", first), ("BEFROST_DEVICE_CASES", n)];
    let failure = "a program has other results on devices";
    run_test(&["--release"], "tf_oracle", "random_devices", &set, failure)
}

/// Runs the test of gradients of random programs with `n` of them, from `first` on.
fn random_gradients(first: &str, n: &str) -> Result<(), String> {
    let set = [("BEFROST_GRADIENT_FIRST", first), ("BEFROST_GRADIENT_CASES", n)];
    test("tf_oracle", "random_gradients", &set, "a gradient differs between ways to compute it")
}

/// Runs the test of refused requests for memory with all requests instead of a sample.
fn refuse_memory() -> Result<(), String> {
    let set = [("BEFROST_REFUSE_ALL", "1")];
    test("limits", "refused_request", &set, "a refused request is not an error result")
}

/// Runs the test that kills and resumes a training process, with `n` kills.
fn kills(n: &str) -> Result<(), String> {
    let set = [("BEFROST_TRAIN_KILLS", n)];
    test("bef_train", "killed_and_resumed", &set, "a run that was killed and resumed ends with other bits")
}

/// Runs one test of the tools with the environment variables `set`.
fn test(file: &str, name: &str, set: &[(&str, &str)], failure: &str) -> Result<(), String> {
    run_test(&[], file, name, set, failure)
}

/// Runs one test of the tools with these options of Cargo.
fn run_test(
    options: &[&str],
    file: &str,
    name: &str,
    set: &[(&str, &str)],
    failure: &str,
) -> Result<(), String> {
    let status = Command::new("cargo")
        .args(["test", "-p", "befrost-tools"])
        .args(options)
        .args(["--test", file, name, "--", "--nocapture"])
        .current_dir(root())
        .envs(set.iter().copied())
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(failure.to_owned()) }
}

/// The repository root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The target directory.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Runs the tests called `loom_*`, compiled for loom into a target directory of their own.
fn loom() -> Result<(), String> {
    let output = Command::new("cargo")
        .args(["test", "--lib"])
        .args(LOOM_CRATES.iter().flat_map(|package| ["-p", package]))
        .arg("loom_")
        .current_dir(root())
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", target().join("loom"))
        .envs([
            ("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false"),
            ("CARGO_PROFILE_DEV_OVERFLOW_CHECKS", "false"),
        ])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    let report = String::from_utf8_lossy(&output.stdout);
    print!("{report}");
    if !output.status.success() {
        return Err("the loom tests fail".to_owned());
    }
    let n_tests = report.lines().filter_map(|line| line.strip_prefix("running "));
    if n_tests.filter(|n| !n.starts_with("0 ")).count() < LOOM_CRATES.len() {
        return Err("a crate has no loom tests, or they were not found".to_owned());
    }
    Ok(())
}
