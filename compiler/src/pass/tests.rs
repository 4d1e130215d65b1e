//! Tests of passes and pipelines.

use super::*;
use crate::print::{PrintOptions, print};
use crate::syntax::{ParseOptions, parse};

#[track_caller]
fn check(pipeline: &str, text: &str, expected: &str) {
    let m = parse("t", text, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() }).module;
    let pm = PassManager::parse(pipeline);
    assert!(m.is_some() && pm.is_ok());
    if let (Some(mut m), Ok(mut pm)) = (m, pm) {
        assert!(pm.run(&mut m).is_ok());
        assert_eq!(print(&m, &PrintOptions::default()), expected);
    }
}

const PROGRAM: &str = "func.func @f(%c: !tfrt.chain) -> !tfrt.chain {
  %0 = tfrt.constant.i32 1
  %1 = tfrt.add.i32 %0, %0
  %2 = \"u.v\"() : () -> i32
  %3 = tfrt.constant.i32 3
  %4 = tfrt.print.i32 %3, %c
  %5 = tfrt_dht.create_uninitialized_tensor.i32.0 []
  tfrt.return %c : !tfrt.chain
}
";

const CLEANED: &str = "module {
  func.func @f(%arg0: !tfrt.chain) -> !tfrt.chain {
    %0 = \"u.v\"() : () -> i32
    %1 = tfrt.constant.i32 3
    %2 = tfrt.print.i32 %1, %arg0
    tfrt.return %arg0 : !tfrt.chain
  }
}
";

#[test]
fn dce_keeps_effects() {
    check("builtin.module(func.func(dce))", PROGRAM, CLEANED);
    check("dce", PROGRAM, CLEANED);
    check(" builtin.module( any( dce{} ) , strip-debuginfo ) ", PROGRAM, CLEANED);
}

#[test]
fn nested_pipelines_match_names() {
    let pm = PassManager::parse("builtin.module(other.op(dce))");
    let m = parse("t", PROGRAM, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() }).module;
    if let (Ok(mut pm), Some(mut m)) = (pm, m) {
        assert_eq!(pm.run(&mut m), Ok(Change::Unchanged));
    }
}

#[track_caller]
fn check_error(pipeline: &str, code: &str, part: &str) {
    match PassManager::parse(pipeline) {
        Ok(_) => panic!("{pipeline} is accepted"),
        Err(d) => {
            assert_eq!(d.code, code, "{d:?}");
            assert!(d.message.contains(part) || d.help.as_deref().unwrap_or("").contains(part), "{d:?}");
        }
    }
}

#[test]
fn bad_pipelines() {
    check_error("builtin.module(dcx)", "E0502", "did you mean `dce`?");
    check_error("frobnicate", "E0502", "strip-debuginfo");
    check_error("builtin.module(dce", "E0501", "never closed");
    check_error("dce,,dce", "E0501", "expected the name");
    check_error("dce)", "E0501", "expected `,`");
    check_error("dce{x=1}", "E0503", "x=1");
    check_error(&"a(".repeat(100), "E0501", "nest deeper");
}

#[test]
fn strip_debuginfo_forgets_locations() {
    let options = PrintOptions { locations: true, ..PrintOptions::default() };
    let m = parse("t", "func.func private @f() loc(\"x\")\n", &ParseOptions::default()).module;
    if let (Some(mut m), Ok(mut pm)) = (m, PassManager::parse("strip-debuginfo")) {
        assert!(print(&m, &options).contains("\"x\""));
        assert_eq!(pm.run(&mut m), Ok(Change::Changed));
        assert_eq!(
            print(&m, &options),
            "module {\n  func.func private @f() loc(#loc)\n} loc(#loc)\n#loc = loc(unknown)\n"
        );
        assert_eq!(pm.run(&mut m), Ok(Change::Unchanged));
    }
}

#[test]
fn passes_are_sorted() {
    assert!(passes().is_sorted_by_key(|p| p.name));
}
