//! `instructions`: the number of instructions per kernel in the executor, for each row of the bench of small
//! kernels.
//!
//! Times vary between runs, counts do not. Each row is run under `valgrind --tool=callgrind` with one sample
//! and with five: the difference is exactly four samples. The work queue is `s` (one thread), since the count
//! would include the waiting of other threads.

use std::path::Path;
use std::process::Command;

/// The rows of `runtime/kernels/benches/exec.rs`, with their numbers of kernels, calls or iterations.
const ROWS: [(&str, u64); 16] = [
    ("chain_of_adds::s", 10_000),
    ("independent_adds_and_sum::s", 10_001),
    ("tree_of_adds::s", 10_000),
    ("star_of_adds::100::s", 102),
    ("star_of_adds::10000::s", 10_002),
    ("chain_of_asynchronous_adds::s", 10_000),
    ("independent_asynchronous_copies::s", 10_001),
    ("asynchronous_add_and_nine_others::s", 10_000),
    ("calls_of_one_add::s", 10_000),
    ("repeat_of_one_add::s", 10_000),
    ("while_of_three_kernels::s", 10_000),
    ("recursive_fib_of_25::s", 1_578_100),
    ("parallel_for_of_1000_blocks::s", 1_000),
    ("empty_call::s", 1_000),
    ("empty_call_into::s", 1_000),
    ("empty_call_prepared::s", 1_000),
];

const SAMPLES: u64 = 4;

/// Counts the instructions of all rows, and prints a table.
pub(super) fn run(root: &Path, target: &Path) -> Result<(), String> {
    let bench = build(root)?;
    for (row, items) in ROWS {
        let count = |samples| count(&bench, target, row, samples);
        let per_item = (count(1 + SAMPLES)?.saturating_sub(count(1)?)) as f64 / (SAMPLES * items) as f64;
        println!("{per_item:9.1}  {}", row.trim_end_matches("::s"));
    }
    Ok(())
}

/// Builds the bench and returns its path.
fn build(root: &Path) -> Result<String, String> {
    let output = Command::new("cargo")
        .args(["bench", "-p", "befrost-kernels", "--bench", "exec", "--no-run"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let path =
        report.lines().find_map(|line| line.trim().strip_prefix("Executable ")?.split(['(', ')']).nth(1));
    path.map(str::to_owned).ok_or_else(|| format!("the bench cannot be built:\n{report}"))
}

/// The instructions of a whole process.
fn count(bench: &str, target: &Path, row: &str, samples: u64) -> Result<u64, String> {
    let out = format!("--callgrind-out-file={}", target.join("callgrind.out").display());
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", &out, bench, "--bench", "--exact", &format!("exec::{row}")])
        .args(["--sample-size", "1", "--sample-count", &samples.to_string()])
        .output()
        .map_err(|error| format!("cannot run valgrind: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let counted = report.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    counted.ok_or_else(|| format!("{row} cannot be counted:\n{report}"))
}
