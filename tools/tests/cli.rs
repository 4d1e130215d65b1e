//! Tests of the command-line tools beyond lit: exact exit codes, terminals, closed outputs, files left on
//! disk.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

const TRANSLATE: &str = env!("CARGO_BIN_EXE_ir-translate");
const OPT: &str = env!("CARGO_BIN_EXE_ir-opt");
const EXEC: &str = env!("CARGO_BIN_EXE_bef-exec");

fn command(tool: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(tool);
    command.args(arguments).stdin(Stdio::null()).env("NO_COLOR", "1").env("LC_ALL", "C");
    command
}

fn run(tool: &str, arguments: &[&str]) -> Output {
    command(tool, arguments).output().unwrap()
}

fn testdata(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata").join(name).to_str().unwrap().to_owned()
}

/// One function that takes nothing and returns 1.
fn one() -> String {
    testdata("cli/Inputs/one.mlir")
}

/// Checks the exit code, and that standard output or standard error contains `text`.
fn check(tool: &str, arguments: &[&str], code: i32, text: &str) {
    let output = run(tool, arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(code), "{tool} {arguments:?}\n{printed}\n{told}");
    assert!(
        told.contains(text) || printed.contains(text),
        "{tool} {arguments:?}: no '{text}' in\n{printed}\n{told}"
    );
    assert!(!told.contains("panicked"), "{told}");
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let one = one();
    let one = one.as_str();
    // Unknown options, and invalid values.
    for tool in [TRANSLATE, OPT, EXEC] {
        check(tool, &[one, "--nothing"], 2, "unexpected argument '--nothing'");
        check(tool, &[one, "-x"], 2, "unexpected argument '-x'");
        check(tool, &[one, one], 2, "unexpected argument");
        check(tool, &[one, "--pass-pipeline"], 2, "a value is required");
        check(tool, &[one, "--pass-pipeline", "nothing"], 2, "nothing");
        check(tool, &[one, "--pass-pipeline", "builtin.module("], 2, "pipeline");
    }
    for tool in [TRANSLATE, EXEC] {
        check(tool, &[one, "-O3"], 2, "'3'");
    }
    check(
        TRANSLATE,
        &[one, "--from", "text"],
        2,
        "possible values: mlir, bef, graphdef, metagraph, savedmodel, onnx",
    );
    check(TRANSLATE, &[one, "--to", "savedmodel"], 2, "possible values: mlir, bef, dump");
    check(TRANSLATE, &[one, "--mlir-to-bef", "--bef-to-mlir"], 2, "cannot be used with");
    check(TRANSLATE, &[one, "--mlir-to-bef", "--to", "mlir"], 2, "cannot be used with");
    check(TRANSLATE, &["model.txt"], 2, "use --from");
    check(TRANSLATE, &[one, "-o", "model.pbtxt"], 2, "models are read, not written");
    check(TRANSLATE, &[one, "--generic"], 2, "'--generic' needs MLIR as output");
    check(TRANSLATE, &[one, "--keep-names"], 2, "'--keep-names' needs MLIR as output");
    check(TRANSLATE, &["--bef-to-mlir", "--disable-optional-sections"], 2, "needs BEF as output");
    check(TRANSLATE, &["--bef-to-mlir", "--split-input-file"], 2, "needs text as input");
    check(TRANSLATE, &["--bef-to-mlir", "--verify-diagnostics"], 2, "needs text as input");
    check(OPT, &[one, "--dce=1"], 2, "unexpected value '1'");
    check(OPT, &[one, "--dce", "--pass-pipeline", "dce"], 2, "exclude each other");
    check(OPT, &["--help-dialects", "nothing"], 2, "there is no dialect");
    check(EXEC, &[], 2, "FILE");
    check(EXEC, &[one, "--input", "x="], 2, "nothing follows the name");
    check(EXEC, &[one, "--input", "i32:x"], 2, "value #0, `x`, is not a value of i32");
    check(EXEC, &[one, "--input", "f32[2]:1"], 2, "1 values are written, the shape has 2 elements");
    check(EXEC, &[one, "--functions", "a,b", "--expect", "x.npy"], 2, "are for one function");
    check(EXEC, &[one, "--rtol=-1"], 2, "not negative");
    check(EXEC, &[one, "--atol", "x"], 2, "not negative");
    check(EXEC, &[one, "--work-queue", "x"], 2, "unknown work queue 'x'");
    check(EXEC, &[one, "--work-queue", "mstd:0"], 2, "bad work queue 'mstd:0'");
    check(EXEC, &[one, "--repeat", "0"], 2, "'0'");
    check(EXEC, &[one, "--warmup", "1"], 2, "--warmup is for --repeat");
    check(EXEC, &[one, "--timeout=-1"], 2, "expected a number of seconds");
    check(EXEC, &[one, "--timeout", "nan"], 2, "expected a number of seconds");
    check(EXEC, &[one, "--host-allocator", "x"], 2, "malloc, pooled, leak-check, profiled, fixed-1k");
}

#[test]
fn a_program_without_its_arguments_is_wrong_usage() {
    let signature = testdata("cli/signature.mlir");
    check(EXEC, &[&signature], 2, "note: call it like this: bef-exec ");
    check(EXEC, &[&signature, "--output", "y.npy"], 2, "note: the function is main(n: i32, ");
    check(EXEC, &[&signature, "--functions", "other"], 2, "--functions other --input n=i32:1");
    check(EXEC, &[&signature, "--input", "n=i32:1"], 1, "argument 'x' is missing");
    check(EXEC, &[&testdata("graphdefs/net_lenet/graph.pb")], 2, "--input x=x.npy");
}

#[test]
fn options_of_models_need_a_model() {
    let one = one();
    for option in ["--feed", "--fetch", "--function"] {
        check(TRANSLATE, &[&one, option, "x"], 2, &format!("'{option}' needs a model as input"));
        check(EXEC, &[&one, &format!("{option}=x")], 2, &format!("'{option}' needs a model as input"));
    }
}

#[test]
fn refused_inputs_are_exit_code_1() {
    let bad = testdata("cli/text-errors.mlir");
    for tool in [TRANSLATE, OPT, EXEC] {
        check(tool, &[&bad], 1, "error[E0301]");
        check(tool, &["missing.mlir"], 1, "cannot read 'missing.mlir'");
    }
    check(TRANSLATE, &["missing.pb"], 1, "cannot read 'missing.pb'");
    check(TRANSLATE, &["missing.onnx"], 1, "cannot read 'missing.onnx'");
    let one = one();
    check(EXEC, &[&one, "--functions", "two"], 1, "no function 'two'; there are: one");
    check(EXEC, &[&one, "--input", "i32:1"], 1, "no argument left");
    check(EXEC, &[&one, "--output", "/nowhere/at/all.npy"], 1, "cannot write '/nowhere/at/all.npy'");
    check(EXEC, &[&one, "--timeout", "0"], 1, "error: Deadline exceeded");
}

#[test]
fn an_error_result_is_data_unless_values_were_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fails.mlir");
    let text =
        "func.func @f() -> i32 {\n  %x = \"tfrt_test.fail\"() : () -> i32\n  tfrt.return %x : i32\n}\n";
    std::fs::write(&path, text).unwrap();
    let (path, result) = (path.to_str().unwrap(), directory.path().join("x.npy"));
    check(EXEC, &[path], 0, "'f' returned <<error: something bad happened>>");
    check(EXEC, &[path, "--functions", "f"], 0, "fails.mlir:2:8: error: something bad happened");
    check(
        EXEC,
        &[path, "--output", result.to_str().unwrap()],
        1,
        "'f' returned <<error: something bad happened>>",
    );
    assert!(!result.exists());
}

#[test]
fn help_and_version_are_for_everybody() {
    for tool in [TRANSLATE, OPT, EXEC] {
        check(tool, &["--help"], 0, "Examples:");
        check(tool, &["--help"], 0, "Exit codes: 0 all right; 1 ");
        check(tool, &["--version"], 0, env!("CARGO_PKG_VERSION"));
    }
    check(OPT, &["--help"], 0, "--dce");
}

#[test]
fn an_interrupt_ends_the_run_with_its_statistics() {
    let endless = testdata("cli/Inputs/endless.mlir");
    for (options, want) in [
        (&["--profile"][..], "tfrt.add.i32"),
        (&["--repeat", "10", "--profile"][..], "0 calls after 0 to warm up"),
        (&["--trace", "/dev/null", "--profile"][..], "endless.mlir:"),
    ] {
        let mut command = command(EXEC, &[&[endless.as_str(), "--work-queue", "s"], options].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = [0; 12];
        child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
        assert_eq!(&line, b"--- Running ");
        std::thread::sleep(Duration::from_millis(50));
        let pid = Pid::from_child(&child);
        kill_process(pid, Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{options:?}: {told}");
        assert!(told.contains(want) && told.contains("error: interrupted"), "{options:?}: {told}");
    }
}

/// A terminal's two ends: the program's, and ours.
fn terminal() -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = PathBuf::from(ptsname(&ours, Vec::new()).unwrap().into_string().unwrap());
    let theirs = File::options().read(true).write(true).open(name).unwrap();
    (theirs, File::from(ours))
}

#[test]
fn binary_output_is_never_written_to_a_terminal() {
    let (theirs, _ours) = terminal();
    let output = command(TRANSLATE, &[&one()]).stdout(theirs).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("binary output is not written to a terminal"), "{told}");

    // Text output is.
    let (theirs, _ours) = terminal();
    let output = command(TRANSLATE, &[&one(), "--to", "mlir"]).stdout(theirs).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn colours_are_for_terminals() {
    let bad = testdata("cli/text-errors.mlir");
    let plain = run(OPT, &[&bad]).stderr;
    assert!(plain.is_ascii() && !plain.contains(&0x1b));

    let shown = |no_colour: Option<&str>| {
        let (theirs, ours) = terminal();
        let mut command = command(OPT, &[&bad]);
        command.env_remove("NO_COLOR").env("TERM", "xterm").stdout(Stdio::null()).stderr(theirs);
        if let Some(value) = no_colour {
            command.env("NO_COLOR", value);
        }
        assert_eq!(command.status().unwrap().code(), Some(1));
        // One read: a second one would block if no bytes were left.
        let mut bytes = [0; 64];
        let n = rustix::io::read(&ours, &mut bytes).unwrap();
        bytes[..n].to_vec()
    };
    assert!(shown(None).contains(&0x1b));
    assert!(!shown(Some("1")).contains(&0x1b));
}

#[test]
fn a_reader_that_goes_away_ends_the_tool_quietly() {
    let one = one();
    let calls = testdata("exec/calls.mlir");
    let all: [(&str, &[&str]); 6] = [
        (TRANSLATE, &[&one]),
        (TRANSLATE, &[&one, "--to", "mlir"]),
        (OPT, &[&one]),
        (OPT, &["--help-dialects"]),
        (OPT, &["--list-passes"]),
        (EXEC, &[&calls]),
    ];
    for (tool, arguments) in all {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(tool, arguments).stdout(writer).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{tool} {arguments:?}: {told}");
        assert_eq!(told, "", "{tool} {arguments:?}");
    }
    // The output of `--help` to a closed pipe must not panic either.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(EXEC, &["--help"]).stdout(writer).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn closed_standard_error_harms_nobody() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = command(OPT, &[&testdata("cli/text-errors.mlir")]).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn output_files_are_whole_and_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("one.bef");
    let output = path.to_str().unwrap();
    check(TRANSLATE, &[&one(), "-o", output], 0, "");
    let first = std::fs::read(&path).unwrap();
    check(TRANSLATE, &[&one(), "-o", output], 0, "");
    assert_eq!(std::fs::read(&path).unwrap(), first, "the same input gives the same bytes");
    check(TRANSLATE, &[&testdata("cli/text-errors.mlir"), "-o", output], 1, "error");
    assert_eq!(std::fs::read(&path).unwrap(), first, "a refused input leaves the file as it was");
    let names: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["one.bef"], "no temporary file stays");
}

#[test]
fn times_are_reported_for_each_function() {
    let output = run(EXEC, &[&one(), "--repeat", "10", "--warmup", "2"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--- Running 'one':\n'one' returned 1\n");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "'one': 10 calls after 2 to warm up");
    for (line, clock) in lines[1..].iter().zip(["wall", "cpu"]) {
        assert!(line.trim().starts_with(clock), "{line}");
        assert!(["min", "median", "p90", "p99"].iter().all(|name| line.contains(name)), "{line}");
    }
    assert_eq!(lines.len(), 3);
}

/// A deadline covers loading: here, the wait for a standard input that stays open and empty.
#[test]
fn a_deadline_covers_waiting_for_input() {
    let mut waits = command(EXEC, &["-", "--timeout", "0.1"]);
    let mut waits = waits.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let input = waits.stdin.take();
    let output = waits.wait_with_output().unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: Deadline exceeded while loading\n");
}

/// A run removes the temporary files of killed processes beside its output. Those of living processes stay.
#[test]
fn abandoned_files_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    // Larger than any process id.
    let abandoned = file(".befrost-2147483646-abcdef");
    let others =
        [format!(".befrost-{}-abcdef", std::process::id()), ".befrost-".into(), ".befrost-x-y".into()];
    std::fs::write(&abandoned, "half").unwrap();
    others.iter().for_each(|name| std::fs::write(file(name), "half").unwrap());
    let out = file("one.bef");
    let output = run(TRANSLATE, &[&one(), "-o", out.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    assert!(out.exists() && !abandoned.exists());
    assert!(others.iter().all(|name| file(name).exists()));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 4);
}
