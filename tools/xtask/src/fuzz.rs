//! `fuzz TARGET [SECONDS]`: builds a target of `tools/fuzz` for libFuzzer and runs it.
//!
//! ```text
//! testdata/fuzz/TARGET + seeds ──▶ libFuzzer ──▶ target/fuzz/corpus/TARGET   inputs that reach new code
//!                                           ╰──▶ target/fuzz/found/          inputs that fail
//! ```
//!
//! The stable compiler supports libFuzzer behind flags, which `RUSTC_BOOTSTRAP` enables. `--target` is given
//! although it is the host's: without it the flags also apply to build scripts, which then do not link.

use std::path::Path;
use std::process::Command;

/// The supported host.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// The instrumentation flags.
const FLAGS: [&str; 7] = [
    "-Zsanitizer=address",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

/// The targets, and the folders of `testdata` with seed files.
const TARGETS: [(&str, &[&str]); 14] = [
    ("bef_execute", &["bef/golden"]),
    ("bef_roundtrip", &["bef/golden"]),
    ("bundle", &[]),
    ("devices", &[]),
    ("filecheck", &["filecheck"]),
    ("graphdef", &["graphdefs"]),
    ("npy", &[]),
    ("npz", &[]),
    ("onnx", &[]),
    ("pbtxt", &[]),
    ("safetensors", &[]),
    ("saved_model", &[]),
    ("state", &[]),
    ("text", &["syntax", "verify", "pass"]),
];

/// Runs a target for some seconds; fails if it finds a failing input.
pub(super) fn run(root: &Path, target: &Path, name: &str, seconds: &str) -> Result<(), String> {
    let Some((_, seeds)) = TARGETS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = TARGETS.iter().map(|(known, _)| *known).collect();
        return Err(format!("no target is called '{name}'; the targets are {}", known.join(", ")));
    };
    let seconds: u32 = seconds.parse().map_err(|_| format!("'{seconds}' is not a number of seconds"))?;
    let folder = target.join("fuzz");
    build(root, &folder, name)?;
    let (corpus, found) = (folder.join("corpus").join(name), folder.join("found"));
    for made in [&corpus, &found] {
        std::fs::create_dir_all(made).map_err(|error| format!("cannot make {}: {error}", made.display()))?;
    }
    let status = Command::new(folder.join(TRIPLE).join("debug").join(name))
        // The first folder is where libFuzzer writes.
        .arg(&corpus)
        .arg(root.join("testdata/fuzz").join(name))
        .args(seeds.iter().map(|seed| root.join("testdata").join(seed)))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/{name}-", found.display()))
        .args(["-timeout=10", "-max_len=8192", "-print_final_stats=1"])
        .status()
        .map_err(|error| format!("cannot run {name}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{name} found something: its input is in {}", found.display())),
    }
}

fn build(root: &Path, folder: &Path, name: &str) -> Result<(), String> {
    let mut flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    for flag in FLAGS {
        flags.push(' ');
        flags.push_str(flag);
    }
    flags.push_str(" --cfg fuzzing");
    let status = Command::new("cargo")
        .args(["build", "-p", "befrost-fuzz", "--features", "fuzz", "--bin", name, "--target", TRIPLE])
        .current_dir(root)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", flags)
        .env("CARGO_TARGET_DIR", folder)
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} does not build")) }
}
