//! Tests with hostile input: deep, huge or garbage. Each is parsed or refused in bounded time and memory.

use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::syntax::*;
use std::time::{Duration, Instant};

const N: usize = 100_000;

/// Parses and prints `text` in less than the time of any quadratic algorithm; `expected` are the codes of its
/// errors.
#[track_caller]
fn check_text(text: &str, expected: &[&str]) {
    let start = Instant::now();
    let read = parse("t.mlir", text, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() });
    let shown: Vec<String> = read.diagnostics.iter().map(|d| d.render_short(&read.source)).collect();
    let codes = || shown.iter().filter(|d| d.contains("error["));
    assert_eq!(codes().count(), expected.len(), "{shown:.300?}");
    assert!(codes().zip(expected).all(|(d, code)| d.contains(code)), "{shown:.300?}");
    if let Some(m) = read.module {
        print(&m, &PrintOptions::default());
    }
    assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
}

#[track_caller]
fn check(attr: &str, expected: &[&str]) {
    check_text(&format!("\"t.x\"() {{a = {attr}}} : () -> ()\n"), expected);
}

/// `open` and `close` around `inside`, 100,000 times.
fn nested(open: &str, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(N), close.repeat(N))
}

#[test]
fn deep_values_are_refused() {
    check(&format!("affine_map<(d0) -> ({})>", nested("(", "d0", ")")), &["E0107"]);
    check(&format!("affine_map<(d0) -> ({}d0)>", "-".repeat(N)), &["E0223"]);
    check(&format!("affine_map<(d0) -> ({}d0)>", "d0 + ".repeat(N)), &["E0223"]);
    check(&format!("dense<{}> : tensor<2xi32>", nested("[", "1", "]")), &["E0107"]);
    check(&format!("dense<{}> : tensor<2xi32>", nested("(", "1", ")")), &["E0107"]);
    check(&format!("sparse<{}, 1> : tensor<2xi32>", nested("[", "1", "]")), &["E0107"]);
    check(&nested("complex<", "f32", ">"), &["E0107"]);
    check(&nested("tuple<", "f32", ">"), &["E0107"]);
    check(&nested("distinct[0]<", "1", ">"), &["E0107"]);
    check(&nested("[", "1", "]"), &["E0107"]);
    check(&nested("#a.b<", "", ">"), &["E0107"]);
    check(&format!("loc({})", nested("callsite(", "\"a\"", " at \"b\")")), &["E0107"]);
    check(&format!("loc({})", nested("fused[", "\"a\"", "]")), &["E0107"]);
}

#[test]
fn mere_declarations_take_no_memory() {
    check("dense<1> : tensor<1000000000xi32>", &[]);
    check("dense<1> : tensor<4294967296x4294967296xi32>", &[]);
    check("dense<\"a\"> : tensor<1000000000x!d.s>", &[]);
    check("dense<> : tensor<1000000000x0xi32>", &[]);
    check("dense<[1, 2]> : tensor<1000000000xi32>", &["E0212"]);
    check("dense<\"0x0102030405060708\"> : tensor<1000000000xi32>", &["E0212"]);
    check("dense<[\"a\"]> : tensor<1000000000x!d.s>", &["E0212"]);
    check("sparse<0, 1> : tensor<1000000000x1000000000xi32>", &[]);
    check(&format!("dense<1> : tensor<{}i32>", "2x".repeat(N)), &[]);
    check(&format!("dense<[1]> : tensor<{}i32>", "1x".repeat(N)), &["E0212"]);
    check(&format!("sparse<[{}[0]], 1> : tensor<2xi32>", "[0],".repeat(N)), &[]);
    check(&format!("dense<[{}1]> : tensor<{}xi16777208>", "1,".repeat(N), N + 1), &["E0212"]);
    check(&format!("array<i16777208: {}1>", "1,".repeat(N)), &["E0212"]);
}

#[test]
fn long_values() {
    check(&format!("dense<\"0x{}\"> : tensor<{N}xi8>", "1".repeat(2 * N - 1)), &["E0212"]);
    check(&format!("dense<\"0x{}\"> : tensor<{N}xi8>", "G".repeat(2 * N)), &["E0212"]);
    check(&format!("{} : i16777215", "9".repeat(N)), &[]);
    check(&format!("{} : i64", "9".repeat(N)), &["E0207"]);
    check(&format!("1.0e{}", "9".repeat(N)), &[]);
    check(&format!("affine_map<(d0) -> ({}d0)>", "d0, ".repeat(N)), &[]);
}

#[test]
fn resources() {
    let one = "k: \"0x04000000\"";
    let list = |entry: fn(usize) -> String| (0..N).map(entry).collect::<Vec<_>>().join(", ");
    check_text(&format!("{{-# dialect_resources: {} #-}}", "{ builtin: ".repeat(N)), &["E0203"]);
    check_text(&format!("{{-# {} #-}}", "\0<>{}\"".repeat(N)), &["E0203"]);
    check_text(&"{-# ".repeat(N), &["E0105"]);
    check_text(&format!("{{-# {} #-}}", "\"".repeat(N + 1)), &["E0105"]);
    check_text(&format!("{{-# {} #-}}", list(|_| "dialect_resources: {}".to_owned())), &[]);
    let many = list(|i| format!("k{i}: \"0x04000000\""));
    check_text(&format!("{{-# dialect_resources: {{ builtin: {{ {many} }} }} #-}}"), &[]);
    let groups = list(|i| format!("b{i}: {{ k: \"0x04000000\" }}"));
    check_text(&format!("{{-# dialect_resources: {{ {groups} }} #-}}"), &[]);
    check_text(&format!("{{-# external_resources: {{ {groups} }} #-}}"), &[]);
    let same = list(|i| format!("b: {{ k{i}: \"0x04000000\" }}"));
    check_text(&format!("{{-# dialect_resources: {{ {same} }} #-}}"), &[]);
    check_text(&format!("{{-# dialect_resources: {{ b: {{ {one} }} }} #-}}\n").repeat(N / 10), &[]);
}
