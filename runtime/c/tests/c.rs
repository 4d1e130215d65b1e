//! The header and its examples: the functions are those of the library, and the examples compile without a
//! warning as C11 and run.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The names behind a prefix, up to a parenthesis.
fn functions<'t>(text: &'t str, is_function: impl Fn(&str) -> bool) -> BTreeSet<&'t str> {
    let lines = text.lines().filter(|line| is_function(line));
    let of = |line: &'t str| {
        let line = line.rsplit("fn ").next().unwrap_or(line);
        let before = &line[..line.find('(')?];
        let name = &before[before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1)..];
        name.starts_with("bf_").then_some(name)
    };
    lines.filter_map(of).collect()
}

#[test]
fn the_header_has_the_functions_of_the_library() {
    let header = std::fs::read_to_string(here("include/befrost.h")).expect("the header");
    let library = std::fs::read_to_string(here("src/ffi.rs")).expect("the library");
    let declared = functions(&header, |line| {
        !line.starts_with([' ', '/', '#', '}']) && line.contains('(') && !line.starts_with("typedef")
    });
    let defined = functions(&library, |line| line.contains("extern \"C\" fn bf_"));
    assert!(declared.len() > 20, "{declared:?}");
    assert_eq!(declared, defined);
}

/// The shared library, which cargo builds beside the tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.with_file_name("libbefrost_c.so")
}

/// Compiles and runs an example; returns what it printed.
fn run(example: &str, arguments: &[&Path]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["libbefrost.so", "libbefrost.so.1"] {
        std::fs::copy(library(), folder.path().join(name)).expect("the library");
    }
    let program = folder.path().join("example");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-I"])
        .arg(here("include"))
        .arg(here("examples").join(example))
        .arg("-L")
        .arg(folder.path())
        .args(["-lbefrost", "-o"])
        .arg(&program)
        .output();
    let Ok(compiled) = compiled else {
        eprintln!("there is no C compiler: the example was not tried");
        return None;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let said = Command::new(&program).args(arguments).env("LD_LIBRARY_PATH", folder.path()).output();
    let said = said.expect("it runs");
    assert!(said.status.success(), "{:?}: {}", said.status, String::from_utf8_lossy(&said.stderr));
    Some(String::from_utf8_lossy(&said.stdout).into_owned())
}

#[test]
#[cfg(target_os = "linux")]
fn digits_are_classified() {
    let printed = run("digits.c", &[&here("../../testdata/digits/digits_cnn.pb")]);
    if let Some(printed) = printed {
        assert!(printed.starts_with("image 0: ") && printed.lines().count() == 2, "{printed}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn variables_are_trained() {
    let graph = here("../../testdata/partition/sgd_on_parameter_device/graph.pb");
    if let Some(printed) = run("variables.c", &[&graph, Path::new("w")]) {
        assert_eq!(printed, "the loss falls\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn wrong_calls_are_refused() {
    if let Some(printed) = run("wrong.c", &[&here("../../testdata/digits/digits_cnn.pb")]) {
        assert_eq!(printed, "all refused\n");
    }
}
