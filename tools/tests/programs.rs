//! The programs `FileCheck` and `not` as processes: arguments, streams and exit codes.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::{Command, Stdio};

/// Runs a program with `input` as its standard input. Returns its exit code and standard error.
fn run(program: &str, arguments: &[&str], input: &str) -> (Option<i32>, String) {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program may end before it has read its input.
    _ = child.stdin.take().expect("it was piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the program ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn filecheck_answers_by_its_exit_code() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let file = directory.path().join("a.txt");
    std::fs::write(&file, "CHECK: one\n").expect("a file can be written");
    let file = file.to_str().expect("its name is UTF-8");
    let filecheck = |arguments: &[&str], input: &str| run(env!("CARGO_BIN_EXE_FileCheck"), arguments, input);
    assert_eq!(filecheck(&[file], "one\n"), (Some(0), String::new()));
    let (code, report) = filecheck(&[file], "two\n");
    assert_eq!(code, Some(1));
    let wanted =
        format!("{file}:1:8: error: CHECK: expected string not found in input\nCHECK: one\n       ^\n");
    let wanted = format!("{wanted}<stdin>:1:1: note: scanning from here\ntwo\n^\n");
    assert!(report.starts_with(&wanted), "{report}");
    assert!(report.contains("Input was:\n<<<<<<\n"), "the input is shown, as LLVM's shows it: {report}");
    assert_eq!(filecheck(&[file], "").0, Some(2));
    assert_eq!(filecheck(&[], "one\n").0, Some(2));
    assert_eq!(filecheck(&[file, file], "one\n").0, Some(1));
    assert_eq!(filecheck(&[file, "--no-such-option"], "one\n").0, Some(1));
    assert_eq!(filecheck(&["no-such-file"], "one\n").0, Some(2));
    assert_eq!(filecheck(&[file, "--input-file=no-such-file"], "one\n").0, Some(2));
    assert_eq!(filecheck(&["--input-file", file, file], "").0, Some(0));
    assert_eq!(filecheck(&["--input-file=-", file], "one\n").0, Some(0));
    assert_eq!(filecheck(&["--help"], "").0, Some(0));
}

#[test]
fn not_tells_refusals_from_crashes() {
    let code = |arguments: &[&str]| run(env!("CARGO_BIN_EXE_not"), arguments, "").0;
    let ends = |with: &'static str| ["sh", "-c", with];
    assert_eq!(code(&ends("exit 0")), Some(1));
    assert_eq!(code(&ends("exit 1")), Some(0));
    assert_eq!(code(&ends("exit 2")), Some(0));
    assert_eq!(code(&ends("exit 101")), Some(1), "a panic is no refusal");
    assert_eq!(code(&ends("kill -9 $$")), Some(1), "a crash is no refusal");
    assert_eq!(code(&["--crash", "sh", "-c", "kill -9 $$"]), Some(0));
    assert_eq!(code(&["--crash", "sh", "-c", "exit 101"]), Some(0));
    assert_eq!(code(&["--crash", "sh", "-c", "exit 1"]), Some(1));
    assert_eq!(code(&["--crash", "sh", "-c", "exit 0"]), Some(1));
    assert_eq!(code(&["./no-such-program"]), Some(1));
    assert_eq!(code(&["--crash", "./no-such-program"]), Some(1));
    assert_eq!(code(&[]), Some(2));
    assert_eq!(code(&["--crash"]), Some(2));
}
