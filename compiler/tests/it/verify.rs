//! Tests of the verifier: one program per code, with the only error and its place.

use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::faults;

/// `expected` are `line:col code` of all errors.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let r = parse("t", text, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() });
    let found: Vec<String> = r.diagnostics.iter().map(|d| d.render_short(&r.source)).collect();
    assert!(r.module.is_some(), "does not parse: {found:?}");
    if let Some(m) = r.module {
        let found: Vec<String> = faults(&m)
            .iter()
            .map(|d| {
                let (line, col) = d.span.map_or((0, 0), |s| r.source.line_col(s.start));
                format!("{line}:{col} {}: {}", d.code, d.message)
            })
            .collect();
        let same = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| f.starts_with(e));
        assert!(same, "expected {expected:#?}, found {found:#?}");
    }
}

/// In a function with arguments `%i: i32`, `%c: chain`.
#[track_caller]
fn check_body(body: &str, expected: &[&str]) {
    check(&format!("func.func @f(%i: i32, %c: !tfrt.chain) {{\n{body}\ntfrt.return\n}}\n"), expected);
}

#[test]
fn good_programs() {
    check_body("%0 = tfrt.add.i32 %i, %i", &[]);
    check_body("%0 = \"tfrt.add.i32\"(%i, %i, %c) : (i32, i32, !tfrt.chain) -> i32", &[]);
    check_body("\"u.v\"() ({\n\"u.a\"(%x) : (i32) -> ()\n%x = \"u.b\"() : () -> i32\n}) : () -> ()", &[]);
    check("module @m { func.func private @d(i32) -> i32 }", &[]);
}

#[test]
fn operands_and_results() {
    check_body("%0 = \"tfrt.add.i32\"(%i) : (i32) -> i32", &["2:6 E0401"]);
    check_body("%0 = \"tfrt.add.i32\"(%i, %i, %i) : (i32, i32, i32) -> i32", &["2:6 E0401"]);
    check_body(
        "%0 = \"tfrt.add.i32\"(%i, %c) : (i32, !tfrt.chain) -> i32",
        &["2:25 E0402: operand #1 (`rhs`)"],
    );
    check_body("\"tfrt.add.i32\"(%i, %i) : (i32, i32) -> ()", &["2:1 E0403"]);
    check_body("%0 = \"tfrt.add.i32\"(%i, %i) : (i32, i32) -> i64", &["2:6 E0404"]);
    check_body(
        "%0 = \"tfrt.print.i32\"(%i, %c, %c) : (i32, !tfrt.chain, !tfrt.chain) -> !tfrt.chain",
        &["2:6 E0401"],
    );
}

#[test]
fn attributes() {
    check_body("%0 = \"tfrt.constant.i32\"() : () -> i32", &["2:6 E0405"]);
    check_body("%0 = \"tfrt.constant.i32\"() {value = 1 : i64} : () -> i32", &["2:6 E0406"]);
    check_body("%0 = \"ts.build_shape\"() {value = [1, 2 : i32]} : () -> !ts.shape", &["2:6 E0406"]);
}

#[test]
fn blocks() {
    check_body("tfrt.return\ntfrt.new.chain", &["2:1 E0410"]);
    check("func.func @f() {\ntfrt.new.chain\n}", &["2:1 E0409"]);
    check_body("%0 = \"tfrt.new.chain\"() ({}) : () -> !tfrt.chain", &["2:6 E0407"]);
    check("\"builtin.module\"() ({\n^a:\n^b:\n}) : () -> ()", &["1:1 E0418"]);
    check_body("%0 = \"tfrt.new.chain\"()[^x] : () -> !tfrt.chain\n^x:", &["2:6 E0409", "2:6 E0408"]);
}

#[test]
fn dominance() {
    check_body("%0 = tfrt.add.i32 %1, %i\n%1 = tfrt.add.i32 %i, %i", &["2:19 E0411"]);
    check_body("%0 = \"u.v\"() ({\n\"u.a\"(%0) : (i32) -> ()\n}) : () -> i32", &["3:7 E0411"]);
    let diamond = "\"u.br\"()[^a, ^b] : () -> ()\n^a:\n%x = tfrt.add.i32 %i, %i\n\"u.br\"()[^d] : () -> ()\n^b:\n\"u.br\"()[^d] : () -> ()\n^d:\n%y = tfrt.add.i32 %x, %i";
    check_body(diamond, &["9:19 E0411"]);
    let line = "\"u.br\"()[^a] : () -> ()\n^a:\n%x = tfrt.add.i32 %i, %i\n\"u.br\"()[^d] : () -> ()\n^d:\n%y = tfrt.add.i32 %x, %i";
    check_body(line, &[]);
}

#[test]
fn symbols() {
    check_body("tfrt.call @g(%i) : (i32) -> ()", &["2:1 E0413"]);
    check("func.func private @f()\nfunc.func private @f()", &["2:1 E0414"]);
    check_body("tfrt.call @f(%i) : (i32) -> ()", &["2:1 E0415"]);
    check(
        "func.func @f() {\n\"tfrt.call\"() {callee = @m} : () -> ()\ntfrt.return\n}\nmodule @m {}",
        &["2:1 E0422"],
    );
    check("func.func @f() {\n\"tfrt.call\"() {callee = @m::@f} : () -> ()\ntfrt.return\n}", &["2:1 E0406"]);
}

#[test]
fn functions() {
    check("func.func @f() -> i32 {\ntfrt.return\n}", &["2:1 E0416"]);
    check(
        "\"func.func\"() <{sym_name = \"f\", function_type = (i32) -> ()}> ({\n^a(%x: i64):\ntfrt.return\n}) : () -> ()",
        &["1:1 E0417"],
    );
    check(
        "\"func.func\"() <{sym_name = \"f\", function_type = (i32) -> (), arg_attrs = [], sym_visibility = \"private\"}> ({}) : () -> ()",
        &["1:1 E0423"],
    );
}

#[test]
fn all_errors_are_reported_in_order() {
    check_body(
        "%0 = \"tfrt.add.i32\"(%i) : (i32) -> i32\n%1 = \"tfrt.constant.i32\"() : () -> i32\ntfrt.call @no() : () -> ()",
        &["2:6 E0401", "3:6 E0405", "4:1 E0413"],
    );
}

#[test]
fn modules_and_visibility() {
    check("\"builtin.module\"() ({\n^bb0(%a: i32):\n}) : () -> ()", &["1:1 E0425"]);
    check(
        "\"func.func\"() <{function_type = () -> (), sym_name = \"f\", sym_visibility = \"x\"}> ({}) : () -> ()",
        &["1:1 E0426"],
    );
}
