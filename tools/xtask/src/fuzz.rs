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

/// The folders of `testdata` with seed files, for the targets that have such. The targets are the files of
/// `tools/fuzz/targets`.
const SEEDS: [(&str, &[&str]); 6] = [
    ("bef_execute", &["bef/golden"]),
    ("bef_roundtrip", &["bef/golden"]),
    ("filecheck", &["filecheck"]),
    ("graphdef", &["graphdefs"]),
    ("text", &["syntax", "verify", "pass"]),
    ("training", &["training"]),
];

/// The names of the targets, sorted.
fn targets(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("tools/fuzz/targets");
    let cannot = |error| format!("cannot list {}: {error}", folder.display());
    let mut targets = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        targets.extend(path.file_stem().and_then(|name| name.to_str()).map(str::to_owned));
    }
    targets.sort();
    Ok(targets)
}

/// Runs a target for some seconds; fails if it finds a failing input.
pub(super) fn run(root: &Path, target: &Path, name: &str, seconds: &str) -> Result<(), String> {
    let known = targets(root)?;
    if known.iter().all(|known| known != name) {
        return Err(format!("no target is called '{name}'; the targets are {}", known.join(", ")));
    }
    let seeds = SEEDS.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, seeds)| seeds);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_documented_and_has_a_corpus() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let readme = std::fs::read_to_string(root.join("tools/fuzz/README.md")).expect("the README is there");
        let known = targets(&root).expect("the targets can be listed");
        for name in &known {
            assert!(readme.contains(&format!("| {name} |")), "tools/fuzz/README.md lacks {name}");
            assert!(root.join("testdata/fuzz").join(name).is_dir(), "{name} has no corpus");
        }
        for (name, folders) in SEEDS {
            assert!(known.iter().any(|known| known == name), "{name} is no target");
            assert!(folders.iter().all(|folder| root.join("testdata").join(folder).is_dir()), "{name}");
        }
    }
}
