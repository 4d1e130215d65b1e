//! Tests of the parser.

use super::*;
use crate::print::{PrintOptions, print};

fn check_same(text: &str) {
    let r = parse("t.mlir", text, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() });
    let found: Vec<String> = r.diagnostics.iter().map(|d| d.render_short(&r.source)).collect();
    assert_eq!(found, [""; 0], "for {text}");
    let printed = r.module.map(|m| print(&m, &PrintOptions::default()));
    assert_eq!(printed.as_deref(), Some(text));
}

#[test]
fn simple_function() {
    check_same(
        "module {\n  func.func @f(%arg0: i32) -> i32 {\n    %0 = tfrt.constant.i32 42\n    %1 = tfrt.add.i32 %arg0, %0\n    tfrt.return %1 : i32\n  }\n}\n",
    );
}
