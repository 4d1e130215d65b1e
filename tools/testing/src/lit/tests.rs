//! Tests of the runner on inline test files, each feature in a passing and a failing form.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Config, Outcome, discover, run_file};

/// A directory of test files and the runner's settings.
struct Bench {
    root: tempfile::TempDir,
    config: Config,
}

impl Bench {
    fn new() -> Bench {
        let root = tempfile::tempdir().expect("a temporary directory can be made");
        let config = Config {
            // `sh` stands in for a tool of ours; `absent` for one that was not built.
            tools: BTreeMap::from([
                ("sh".to_owned(), PathBuf::from("/bin/sh")),
                ("absent".to_owned(), root.path().join("absent")),
            ]),
            features: BTreeSet::from(["here".to_owned(), "big-one".to_owned()]),
            scratch: root.path().join("scratch"),
            timeout: Duration::from_secs(60),
        };
        Bench { root, config }
    }

    fn run(&self, text: &str) -> Outcome {
        let tests = self.root.path().join("a dir");
        std::fs::create_dir_all(&tests).expect("a directory can be made");
        std::fs::write(tests.join("x.test"), text).expect("a test can be written");
        run_file(&self.config, self.root.path(), "a dir/x.test")
    }
}

/// `Pass`, `XFail`, `Unsupported: ..` or `Fail: ..`
fn outcome(text: &str) -> String {
    match Bench::new().run(text) {
        Outcome::Pass => "Pass".to_owned(),
        Outcome::ExpectedFailure => "XFail".to_owned(),
        Outcome::Unsupported(reason) => format!("Unsupported: {reason}"),
        Outcome::Fail(report) => format!("Fail: {report}"),
    }
}

fn check_pass(text: &str) {
    assert_eq!(outcome(text), "Pass", "{text}");
}

fn check_fail(text: &str, part: &str) {
    let outcome = outcome(text);
    assert!(outcome.starts_with("Fail: ") && outcome.contains(part), "{text}\n{outcome}");
}

#[test]
fn each_line_must_succeed() {
    check_pass("RUN: true\nRUN: true\n");
    check_fail("RUN: true\n// RUN: false\n", "RUN line 2: false\nfalse: exit code 1");
    check_fail("RUN: false\nRUN: true\n", "RUN line 1");
    check_fail("RUN: true && false && true\n", "false: exit code 1");
    check_pass("RUN: true && true\n");
}

#[test]
fn each_command_of_a_pipeline_must_succeed() {
    check_pass("RUN: echo x | cat | grep x\n");
    check_fail("RUN: false | true\n", "false: exit code 1\ntrue: exit code 0");
    check_fail("RUN: true | false\n", "true: exit code 0\nfalse: exit code 1");
    check_fail("RUN: sh -c 'kill -9 $$' | cat\n", "signal 9");
}

#[test]
fn a_failure_shows_what_was_said() {
    check_fail("RUN: sh -c 'echo to-output; echo to-error >&2; exit 7'\n", "exit code 7");
    check_fail("RUN: sh -c 'echo to-output; exit 7'\n", "--- standard output:\nto-output");
    check_fail("RUN: sh -c 'echo to-error >&2; exit 7' | cat\n", "--- standard error:\nto-error");
}

#[test]
fn streams_go_where_they_are_sent() {
    check_pass("RUN: sh -c 'echo e >&2' 2>&1 | grep e\n");
    check_fail("RUN: sh -c 'echo e >&2' | grep e\n", "grep e: exit code 1");
    check_pass("RUN: sh -c 'echo o; echo e >&2' > %t 2>&1 && grep o %t && grep e %t\n");
    check_fail("RUN: sh -c 'echo o; echo e >&2' 2>&1 > %t | grep o\n", "grep o: exit code 1");
    check_pass("RUN: sh -c 'echo o; echo e >&2' 2>&1 > %t | grep e && grep o %t\n");
    check_pass("RUN: echo o >&2 2> %t.no | sh -c '! grep o'\n");
    check_pass("RUN: echo a > %t && echo b >> %t && grep a < %t && grep b < %t\n");
    check_fail("RUN: echo a > %t && echo b > %t && grep a < %t\n", "grep a: exit code 1");
    check_fail("RUN: cat < %t.missing\n", "cannot open");
    check_pass("RUN: sh -c 'echo e >&2' &> %t && grep e %t\n");
    check_pass("RUN: sh -c 'echo e >&2' 2> %t && sh -c 'echo f >&2' 2>> %t && grep e %t && grep f %t\n");
}

#[test]
fn words_are_made_as_a_shell_makes_them() {
    check_pass("RUN: test 'a  b' = \"a  b\" && test a\\ b = 'a b' && test x'y z'\"w\" = 'xy zw'\n");
    check_pass("RUN: test '' = \"\" && test '$x|&;' = '$x|&;' && test \"a\\\"b\" = 'a\"b'\n");
    check_pass("RUN: test 100%% = '100%%' && test \"%%d\" = %%d\n");
    check_pass("RUN: echo one \\\nRUN:   two | \\\nRUN:   grep 'one two'\n");
    check_fail("RUN: echo one \\\n", "ends in '\\'");
    check_fail("RUN: echo 'one\n", "closing '");
    check_fail("RUN:\n", "the RUN line is empty");
    check_fail("RUN: echo a |\n", "a command is missing");
    check_fail("RUN: && true\n", "a command is missing");
    check_fail("RUN: echo >\n", "lacks its file");
}

#[test]
fn unknown_constructs_are_refused() {
    for (line, part) in [
        ("echo $HOME", "'$' is not supported"),
        ("echo \"$HOME\"", "'$' is not supported"),
        ("echo `date`", "'`' is not supported"),
        ("true; false", "';' is not supported"),
        ("true || true", "'||' is not supported"),
        ("true &", "'&' is not supported"),
        ("(true)", "'(' is not supported"),
        ("cat *", "'*' is not supported"),
        ("cat <<EOF", "'<<' is not supported"),
        ("echo a >&3", "not supported"),
        ("echo %x", "unknown substitution '%x'"),
        ("echo %{name}", "unknown substitution '%{name}'"),
        ("echo 100%", "unknown substitution '%'"),
        ("python3 -c 1", "unknown command 'python3'"),
        ("A=b true", "unknown command 'A=b' (variables are set with env)"),
    ] {
        check_fail(&format!("RUN: true\nRUN: {line}\n"), part);
        // Nor does an expected failure hide it.
        check_fail(&format!("XFAIL: *\nRUN: {line}\n"), part);
    }
    check_fail("nothing here\n", "no RUN line");
    check_fail("DEFINE: %{x} = y\nRUN: true\n", "not supported");
    check_fail("text RUN: true\nRUN: true\n", "must be the first word");
}

#[test]
fn substitutions_name_the_files_of_the_test() {
    check_pass("RUN: grep 'here, as' %s\nhere, as text\n");
    check_pass(
        "RUN: test -f %S/x.test && test -f '%p/x.test' && test -d %T && test ! -e %t && touch %t.a && test -f x.test.tmp.a\n",
    );
    let bench = Bench::new();
    let once = "RUN: test ! -e %t && touch %t\n";
    assert_eq!(bench.run(once), Outcome::Pass);
    assert_eq!(bench.run(once), Outcome::Pass, "the directory must be empty again");
}

#[test]
fn the_environment_is_set_with_env() {
    check_pass("RUN: env LIT_X=1 LIT_Y='a b' sh -c 'test \"$LIT_X$LIT_Y\" = \"1a b\"'\n");
    check_fail("RUN: env LIT_X=1 -u LIT_X sh -c 'test \"$LIT_X\" = 1'\n", "exit code 1");
    check_fail("RUN: env LIT_X=1\n", "a command is missing");
    check_fail("RUN: env =1 true\n", "without a name");
}

#[test]
fn programs_that_cannot_start_fail_even_if_failure_is_expected() {
    check_fail("RUN: absent\n", "cannot run");
    check_fail("XFAIL: *\nRUN: absent\n", "cannot run");
    check_fail("XFAIL: *\nRUN: echo x | absent\n", "cannot run");
}

#[test]
fn an_expected_failure_must_fail() {
    assert_eq!(outcome("XFAIL: *\nRUN: false\n"), "XFail");
    assert_eq!(outcome("XFAIL: here\nRUN: false\n"), "XFail");
    check_fail("XFAIL: *\nRUN: true\n", "passes, but XFAIL says that it fails");
    check_fail("XFAIL: elsewhere\nRUN: false\n", "exit code 1");
    check_pass("XFAIL: elsewhere\nRUN: true\n");
    assert_eq!(outcome("XFAIL: elsewhere, here\nRUN: false\n"), "XFail");
}

#[test]
fn conditions_decide_whether_a_test_can_run() {
    assert_eq!(outcome("REQUIRES: elsewhere\nRUN: false\n"), "Unsupported: requires elsewhere");
    assert_eq!(outcome("REQUIRES: here, elsewhere\nRUN: false\n"), "Unsupported: requires elsewhere");
    check_fail("REQUIRES: here, big-one\nRUN: false\n", "exit code 1");
    assert_eq!(outcome("UNSUPPORTED: elsewhere, here\nRUN: false\n"), "Unsupported: unsupported with here");
    assert_eq!(outcome("UNSUPPORTED: *\nRUN: false\n"), "Unsupported: unsupported with *");
    check_pass("UNSUPPORTED: elsewhere\nRUN: true\n");
    for (condition, holds) in [
        ("here && big-one", true),
        ("here && elsewhere", false),
        ("elsewhere || here", true),
        ("!here || !elsewhere", true),
        ("!(here || elsewhere)", false),
        ("elsewhere && here || here", true),
        ("elsewhere && (here || here)", false),
        ("true && !false", true),
    ] {
        let outcome = outcome(&format!("REQUIRES: {condition}\nRUN: true\n"));
        assert_eq!(outcome == "Pass", holds, "{condition}: {outcome}");
    }
    check_fail("REQUIRES: here &&\nRUN: true\n", "expected a feature's name");
    check_fail("REQUIRES: here there\nRUN: true\n", "cannot understand 'there'");
    check_fail("REQUIRES: (here\nRUN: true\n", "lacks a ')'");
    check_fail("REQUIRES: *\nRUN: true\n", "expected a feature's name");
    check_fail(&format!("REQUIRES: {}here\nRUN: true\n", "!".repeat(1000)), "nested too deeply");
}

#[test]
fn a_test_that_hangs_is_killed_with_all_it_started() {
    let mut bench = Bench::new();
    bench.config.timeout = Duration::from_millis(200);
    let started = Instant::now();
    for head in ["", "XFAIL: *\n"] {
        // The inner sleep would keep the pipe open if only its parent were killed.
        let text = format!("{head}RUN: sh -c 'sleep 1000; true' | cat\n");
        match bench.run(&text) {
            Outcome::Fail(report) => assert!(report.contains("the time of the test ran out"), "{report}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(started.elapsed() < Duration::from_secs(100));
}

#[test]
fn tests_are_found_in_order_and_inputs_are_not() {
    let root = tempfile::tempdir().expect("a temporary directory can be made");
    for file in ["b/z.mlir", "b/a.test", "a.mlir", "b/Inputs/x.mlir", "c.txt", "Inputs/deep/er.test"] {
        let path = root.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("a directory can be made");
        std::fs::write(path, "").expect("a file can be written");
    }
    let found = discover(root.path()).expect("the directory can be read");
    let names: Vec<_> = found
        .iter()
        .map(|p| p.strip_prefix(root.path()).expect("it is below").display().to_string())
        .collect();
    assert_eq!(names, ["a.mlir", "b/a.test", "b/z.mlir"]);
}
