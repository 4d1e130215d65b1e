//! Tests of the pass manager and of pipelines. The files in `testdata/pass` test the passes.

use befrost_compiler::diag::{Diagnostic, Severity};
use befrost_compiler::ir::Module;
use befrost_compiler::pass::*;
use befrost_compiler::passes::passes;
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};
use std::time::Duration;

fn module(text: &str) -> Module {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    match parse("t", text, &options).module {
        Some(module) => module,
        None => panic!("the test's program is wrong"),
    }
}

/// Passes for tests.
const TEST_PASSES: &[Pass] = &[
    Pass {
        name: "fails",
        title: "Fails",
        summary: "",
        options: &[],
        statistics: &[],
        run: |r, cx| {
            let span = r.ir().op_spans.at(r.root()).copied();
            cx.report(Diagnostic::error("E0000", "as it should").at(span));
            Change::Unchanged
        },
    },
    Pass {
        name: "options",
        title: "Options",
        summary: "",
        options: &[
            PassOption { name: "flag", summary: "", kind: OptionKind::Flag(false) },
            PassOption { name: "number", summary: "", kind: OptionKind::Number(7) },
            PassOption { name: "text", summary: "", kind: OptionKind::Text("") },
            PassOption { name: "word", summary: "", kind: OptionKind::Word("one", &["one", "two"]) },
        ],
        statistics: &[("num-runs", "Number of runs"), ("a", "Always ten")],
        run: |_, cx| {
            cx.count("num-runs", 1);
            cx.count("a", 10);
            let text = format!(
                "{} {} {:?} {}",
                cx.flag("flag"),
                cx.number("number"),
                cx.text("text"),
                cx.text("word")
            );
            cx.report(Diagnostic::error("E0000", text).with_severity(Severity::Remark));
            Change::Unchanged
        },
    },
    Pass {
        name: "panics",
        title: "Panics",
        summary: "",
        options: &[],
        statistics: &[],
        run: |r, _| {
            let op = r.root();
            r.set_loc(op, befrost_compiler::ir::LocId::UNKNOWN);
            panic!("as it should, on {}", r.ir().op_name_str(op))
        },
    },
];

fn verified(program: &str) -> Verified {
    match verify(module(program)) {
        Ok(module) => module,
        Err(found) => panic!("{found:?}"),
    }
}

/// The result of a run, without the module.
fn change(ran: Result<(Verified, Change), Vec<Diagnostic>>) -> Result<Change, Vec<Diagnostic>> {
    ran.map(|(_, change)| change)
}

fn manager(pipeline: &str) -> PassManager {
    match PassManager::parse_among(pipeline, TEST_PASSES) {
        Ok(manager) => manager,
        Err(d) => panic!("{d:?}"),
    }
}

const PROGRAM: &str = "func.func @f() {
  tfrt.return
}
func.func @g() {
  tfrt.return
}
";

#[track_caller]
fn check_options(pipeline: &str, said: &str, again: &str) {
    let mut pm = manager(pipeline);
    assert_eq!(pm.text(), again);
    assert_eq!(change(pm.run(verified(PROGRAM))), Ok(Change::Unchanged));
    let texts: Vec<String> = pm.take_diagnostics().into_iter().map(|d| d.message).collect();
    assert_eq!(texts.join("; "), said);
}

#[test]
fn options_have_types_and_defaults() {
    check_options("options", "false 7 \"\" one", "builtin.module(options)");
    check_options("options{flag}", "true 7 \"\" one", "builtin.module(options{flag=true})");
    check_options(
        " options { number=-3 text='a b' word=two  flag=1 } , options{flag=false}",
        "true -3 \"a b\" two; false 7 \"\" one",
        "builtin.module(options{flag=true number=-3 text=\"a b\" word=two},options)",
    );
    check_options(
        "options{text=f(x{y=1})}",
        "false 7 \"f(x{y=1})\" one",
        "builtin.module(options{text=f(x{y=1})})",
    );
}

#[track_caller]
fn check_error(pipeline: &str, code: &str, at: (u32, u32), part: &str) {
    match PassManager::parse_among(pipeline, TEST_PASSES) {
        Ok(_) => panic!("{pipeline} is accepted"),
        Err(d) => {
            assert_eq!(d.code, code, "{d:?}");
            assert!(d.message.contains(part) || d.help.as_deref().unwrap_or("").contains(part), "{d:?}");
            assert_eq!(d.span.map(|s| (s.start, s.end)), Some(at), "{d:?}");
        }
    }
}

#[test]
fn bad_pipelines() {
    check_error("builtin.module(optionz)", "E0502", (15, 22), "did you mean `options`?");
    check_error("frobnicate", "E0502", (0, 10), "fails, options, panics");
    check_error("builtin.module(fails", "E0501", (14, 15), "never closed");
    check_error("builtin.module(fails;x)", "E0502", (15, 22), "unknown pass");
    check_error("builtin.module(fails x)", "E0501", (21, 22), "expected `,` or `)`");
    check_error("fails,,fails", "E0501", (6, 7), "expected the name");
    check_error("fails)", "E0501", (5, 6), "expected `,`");
    check_error("fails{x=1}", "E0503", (6, 7), "it has none");
    check_error("options{nomber=1}", "E0503", (8, 14), "did you mean `number`?");
    check_error("options{number=x}", "E0503", (8, 16), "takes a number");
    check_error("options{number}", "E0503", (8, 14), "takes a number");
    check_error("options{flag=2}", "E0503", (8, 14), "`true` or `false`");
    check_error("options{word=three}", "E0503", (8, 18), "one of one, two");
    check_error("options{flag", "E0501", (7, 8), "never closed");
    check_error("options{text='}", "E0501", (7, 8), "never closed");
    check_error(&"a(".repeat(100), "E0501", (64, 65), "nest deeper");
}

#[test]
fn nested_pipelines_match_names() {
    for (pipeline, runs) in [
        ("builtin.module(other.op(options))", 0),
        ("func.func(options)", 2),
        ("builtin.module(func.func(options,options))", 4),
        ("builtin.module(any(options),options)", 3),
        ("any(any(any(options)))", 2),
    ] {
        let mut pm = manager(pipeline);
        assert!(pm.run(verified(PROGRAM)).is_ok());
        assert_eq!(pm.take_diagnostics().len(), runs, "{pipeline}");
    }
}

#[test]
fn statistics_have_upstreams_layout() {
    let mut pm = manager("builtin.module(func.func(options),options)");
    assert!(pm.run(verified(PROGRAM)).is_ok());
    let text = pm.statistics();
    let expected = "
'func.func' Pipeline
  Options
    (S) 20 a        - Always ten
    (S)  2 num-runs - Number of runs
Options
  (S) 10 a        - Always ten
  (S)  1 num-runs - Number of runs
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn times_are_a_tree() {
    let second = Duration::from_secs(1);
    let nest = Row { name: "'f' Pipeline".to_owned(), spent: 2 * second, rows: vec![Row::new("A", second)] };
    let text = timing_report(&[Row::new("Parser", second), nest], 4 * second);
    let expected = "  Total Execution Time: 4.0000 seconds

  ----Wall Time----  ----Name----
    1.0000 ( 25.0%)  Parser
    2.0000 ( 50.0%)  'f' Pipeline
    1.0000 ( 25.0%)    A
    1.0000 ( 25.0%)  Rest
    4.0000 (100.0%)  Total
";
    assert!(text.ends_with(expected), "{text}");
    let names = |rows: &[Row]| rows.iter().map(|r| r.name.clone()).collect::<Vec<_>>();
    let rows = manager("builtin.module(func.func(options,fails),options)").timing();
    assert_eq!(names(&rows), ["'func.func' Pipeline", "Options"]);
    assert_eq!(names(&rows[0].rows), ["Options", "Fails"]);
}

/// Checks that a run fails with this error, and that the reproducer has the rest of the pipeline.
#[track_caller]
fn check_failure(pipeline: &str, code: &str, message: &str, rest: &str) {
    let mut pm = manager(pipeline);
    let mut failed = Vec::new();
    let mut observe = |event: Event<'_>, _: &Module, _| {
        if let Event::Failed(pass) = event {
            failed.push(pass.name);
        }
    };
    let mut options = RunOptions { verify_each: true, reproduce: true, observer: Some(&mut observe) };
    let m = verified(PROGRAM);
    let before = print(&m, &PrintOptions::default());
    match pm.run_with(m, &mut options) {
        Ok(_) => panic!("{pipeline} does not fail"),
        Err(said) => assert!(said.iter().any(|d| d.code == code && d.message == message), "{said:?}"),
    }
    let file = pm.take_reproducer().unwrap_or_default();
    assert!(file.starts_with(&before), "{file}");
    let again = module(&file).resources.as_mut().and_then(Reproducer::take);
    assert_eq!(again, Some(Reproducer { pipeline: rest.to_owned(), verify_each: true }));
    assert_eq!(failed.len(), usize::from(code == "E0000"));
}

#[test]
fn failures_can_be_reproduced() {
    check_failure(
        "builtin.module(options{text='\"'},func.func(fails),options)",
        "E0000",
        "as it should",
        "builtin.module(func.func(fails),options)",
    );
    check_failure(
        "builtin.module(func.func(panics))",
        "E0505",
        "the pass `panics` panicked: as it should, on func.func",
        "builtin.module(func.func(panics))",
    );
}

#[test]
fn strip_debuginfo_forgets_locations() {
    let options = PrintOptions { locations: true, ..PrintOptions::default() };
    let m = verified("func.func private @f() loc(\"x\")\n");
    if let Ok(mut pm) = PassManager::parse("strip-debuginfo") {
        assert!(print(&m, &options).contains("\"x\""));
        let Ok((m, Change::Changed)) = pm.run(m) else { panic!("there is a location to strip") };
        assert_eq!(
            print(&m, &options),
            "module {\n  func.func private @f() loc(#loc)\n} loc(#loc)\n#loc = loc(unknown)\n"
        );
        assert_eq!(change(pm.run(m)), Ok(Change::Unchanged));
    }
}

#[test]
fn passes_are_sorted() {
    assert!(TEST_PASSES.is_sorted_by_key(|p| p.name));
    assert!(passes().is_sorted_by_key(|p| p.name));
}
