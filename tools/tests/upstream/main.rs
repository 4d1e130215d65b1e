//! Agreement with upstream: `mlir-opt` 19 reads our output, and we read its output as the same program.
//!
//! ```text
//! text ──parse──▶ IR ──print, generic, with locations──▶ mlir-opt ──generic or custom──▶ parse ──▶ same IR?
//! ```
//!
//! The programs are the accepted lit tests below `testdata`, split at `// -----`, and generated ones
//! (`generate.rs`). One process of `mlir-opt` reads all programs of a comparison. `mlir-opt` is the program
//! in the environment variable `MLIR_OPT`, in `/usr/lib/llvm-19/bin`, or on the PATH. Without it these
//! tests report this and end. Two programs have the same IR if our generic print of them is the same.
//! Programs of upstream's own ops must also print the same in custom form, byte for byte.
//!
//! [`NEWER`] lists our syntax beyond LLVM 19, with reasons. A program with such syntax is not compared. An
//! entry that no lit test needs is an error.
#![forbid(unsafe_code)]

mod folding;
mod generate;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use befrost_compiler::ir::Module;
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};

/// The separator of programs.
const MARKER: &str = "// -----\n";

/// The number of programs generated for each comparison.
const N_GENERATED: u64 = 600;

/// Syntax that mlir-opt 19 does not support: part of mlir-opt's error message, and our reason.
const NEWER: &[(&str, &str)] = &[
    ("expected ')' in inline location", "ranges, `loc(\"f\":1:2 to :3)`, came with LLVM 20"),
    ("!test.atomic.i32", "mlir-opt has a dialect `test` of its own, which has other types than TFRT's"),
];

/// An accepted program.
struct Program {
    name: String,
    module: Verified,
}

fn read(name: &str, text: &str) -> Result<Module, String> {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let result = parse(name, text, &options);
    let errors: Vec<String> = result.diagnostics.iter().map(|d| d.render_short(&result.source)).collect();
    result.module.ok_or_else(|| errors.join("\n"))
}

/// The program, if `ir-opt` accepts it.
fn program(name: &str, text: &str) -> Option<Program> {
    let module = read(name, text).ok()?;
    Some(Program { name: name.to_owned(), module: verify(module).ok()? })
}

fn generic(module: &Module, locations: bool) -> String {
    print(module, &PrintOptions { generic: true, keep_names: false, locations, ..PrintOptions::default() })
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of tests can be listed") {
        let path = entry.expect("a directory of tests can be listed").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "mlir") {
            found.push(path);
        }
    }
}

/// The lit tests.
fn corpus() -> Vec<Program> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let mut all = Vec::new();
    files(&root, &mut all);
    all.sort();
    let mut programs = Vec::new();
    for file in all {
        let bytes = fs::read(&file).expect("a test can be read");
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        let mut part = String::new();
        let mut number = 0;
        for line in text.split_inclusive('\n').chain([MARKER]) {
            if line.trim() == MARKER.trim() {
                number += 1;
                programs.extend(program(&format!("{name}#{number}"), &part));
                part.clear();
            } else {
                part.push_str(line);
            }
        }
    }
    assert!(programs.len() > 20, "only {} programs are accepted", programs.len());
    programs
}

/// The path of mlir-opt, if installed.
fn mlir_opt() -> Option<PathBuf> {
    let named = std::env::var_os("MLIR_OPT").map(PathBuf::from);
    let others = ["/usr/lib/llvm-19/bin/mlir-opt", "mlir-opt-19", "mlir-opt"].map(PathBuf::from);
    for candidate in named.into_iter().chain(others) {
        let answer = Command::new(&candidate).arg("--version").output();
        if answer.is_ok_and(|a| String::from_utf8_lossy(&a.stdout).contains("LLVM version 19")) {
            return Some(candidate);
        }
    }
    eprintln!("no mlir-opt of LLVM 19 on this machine: nothing is compared");
    None
}

/// The output of mlir-opt for each of `texts`, empty where it refuses, and all of its error messages.
fn upstream(mlir_opt: &Path, texts: &[String], options: &[&str]) -> (Vec<String>, String) {
    if texts.is_empty() {
        return (Vec::new(), String::new());
    }
    let mut child = Command::new(mlir_opt)
        .args(["--allow-unregistered-dialect", "--split-input-file"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mlir-opt starts");
    let mut stdin = child.stdin.take().expect("its input is ours");
    let input = texts.join(MARKER);
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("mlir-opt ends");
    // The number of answers shows whether mlir-opt has read everything.
    _ = writer.join();
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8(output.stdout).expect("mlir-opt prints UTF-8");
    let parts: Vec<String> = printed.split(MARKER).map(str::to_owned).collect();
    assert_eq!(parts.len(), texts.len(), "one answer for each program\n{complaints}");
    (parts, complaints)
}

/// The error messages of mlir-opt for one program.
fn complaint(mlir_opt: &Path, text: &str, options: &[&str]) -> String {
    upstream(mlir_opt, &[text.to_owned()], options).1
}

/// The outcome of a comparison.
#[derive(Default)]
struct Problems {
    found: Vec<String>,
    n_same: usize,
    /// The number of programs that met each entry of [`NEWER`].
    n_newer: [usize; NEWER.len()],
}

impl Problems {
    fn conclude(self, at_least: usize) {
        let Problems { found, n_same, n_newer } = self;
        eprintln!("{n_same} agree, {} are not for LLVM 19", n_newer.iter().sum::<usize>());
        let shown: Vec<&str> = found.iter().take(8).map(String::as_str).collect();
        assert!(found.is_empty(), "{} do not agree\n{}", found.len(), shown.join("\n=====\n"));
        assert!(n_same >= at_least, "only {n_same} programs were compared");
    }
}

/// Sends `programs` through mlir-opt, which prints with `options`, and compares the results.
fn round_trip(programs: &[Program], options: &[&str], problems: &mut Problems) {
    let Some(mlir_opt) = mlir_opt() else { return };
    // Custom forms omit terminators, and with them their locations.
    let locations = options.contains(&LOCATIONS) && options.contains(&GENERIC);
    let texts: Vec<String> = programs.iter().map(|p| generic(&p.module, true)).collect();
    let (answers, _) = upstream(&mlir_opt, &texts, options);
    for ((program, text), answer) in programs.iter().zip(&texts).zip(&answers) {
        let name = &program.name;
        if answer.trim().is_empty() {
            let said = complaint(&mlir_opt, text, options);
            match NEWER.iter().position(|(what, _)| said.contains(what)) {
                Some(entry) => problems.n_newer[entry] += 1,
                None => problems.found.push(format!("{name}: mlir-opt refuses\n{said}\n--- ours\n{text}")),
            }
            continue;
        }
        let wanted = generic(&program.module, locations);
        match read(name, answer) {
            Err(errors) => {
                problems.found.push(format!("{name}: not read back\n{errors}\n--- upstream\n{answer}"));
            }
            Ok(module) if generic(&module, locations) == wanted => problems.n_same += 1,
            Ok(module) => {
                let got = generic(&module, locations);
                problems.found.push(format!("{name}: {}\n--- upstream\n{answer}", difference(&wanted, &got)));
            }
        }
    }
}

/// The first line that differs.
fn difference(ours: &str, theirs: &str) -> String {
    let mut pairs = ours.lines().zip(theirs.lines()).enumerate();
    match pairs.find(|(_, (a, b))| a != b) {
        Some((i, (a, b))) => format!("line {} differs\n  ours   {a}\n  theirs {b}", i + 1),
        None => format!("one is longer: {} and {} lines", ours.lines().count(), theirs.lines().count()),
    }
}

fn generated(kind: generate::Kind) -> Vec<Program> {
    let mut programs = Vec::new();
    for seed in 0..N_GENERATED {
        let text = generate::program(kind, seed);
        let name = format!("{kind:?} {seed}");
        match read(&name, &text) {
            Ok(module) => {
                let module = verify(module).unwrap_or_else(|found| panic!("{name}: {found:?}\n{text}"));
                programs.push(Program { name, module });
            }
            Err(errors) => panic!("{name}: {errors}\n{text}"),
        }
    }
    programs
}

const GENERIC: &str = "--mlir-print-op-generic";
const LOCATIONS: &str = "--mlir-print-debuginfo";

fn all_forms(programs: &[Program]) -> Problems {
    let mut problems = Problems::default();
    for options in [&[GENERIC][..], &[][..], &[GENERIC, LOCATIONS][..], &[LOCATIONS][..]] {
        round_trip(programs, options, &mut problems);
    }
    problems
}

#[test]
fn the_lit_tests_come_back_the_same() {
    if mlir_opt().is_some() {
        let problems = all_forms(&corpus());
        for ((what, _), n) in NEWER.iter().zip(problems.n_newer) {
            assert!(n > 0, "nothing makes mlir-opt say '{what}' any more: the entry can go");
        }
        problems.conclude(60);
    }
}

#[test]
fn programs_of_unknown_ops_come_back_the_same() {
    if mlir_opt().is_some() {
        all_forms(&generated(generate::Kind::Unknown)).conclude(100);
    }
}

#[test]
fn programs_of_known_ops_come_back_the_same() {
    if mlir_opt().is_some() {
        all_forms(&generated(generate::Kind::Known)).conclude(500);
    }
}

/// Custom forms, value names and line layout are the same as upstream's.
#[test]
fn programs_of_known_ops_print_alike() {
    let Some(mlir_opt) = mlir_opt() else { return };
    let programs = generated(generate::Kind::Known);
    let texts: Vec<String> = programs.iter().map(|p| generic(&p.module, false)).collect();
    let (answers, _) = upstream(&mlir_opt, &texts, &[]);
    let mut problems = Problems::default();
    for (program, answer) in programs.iter().zip(&answers) {
        let ours = print(&program.module, &PrintOptions::default());
        if ours.trim_end() == answer.trim_end() {
            problems.n_same += 1;
        } else {
            problems.found.push(format!("{}: {}", program.name, difference(&ours, answer)));
        }
    }
    problems.conclude(500);
}
