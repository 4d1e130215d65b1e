//! Tests of programs without an encoding in BEF.

use super::{EmitOptions, emit};
use crate::syntax::{ParseOptions, parse};
use crate::verify::Verified;

fn read(text: &str) -> Verified {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let parsed = parse("bad.mlir", text, &options);
    Verified::unchecked(parsed.module.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics)))
}

/// Errors are located. Some programs are ill-formed, as a pass of a release build could leave them.
#[test]
fn values_without_a_form_are_refused() {
    let cases = [
        ("\"t.op\"() : () -> ()", "E0601"),
        ("module { module {} }", "E0601"),
        ("func.func @f() { func.func @g() { tfrt.return } tfrt.return }", "E0602"),
        ("func.func @f() {\n^bb0:\n \"t.br\"()[^bb1] : () -> ()\n^bb1:\n tfrt.return }", "E0603"),
        ("func.func private @f()", "E0604"),
        ("func.func @f() { \"t.op\"() : () -> () }", "E0605"),
        ("func.func @f() { tfrt.return\n tfrt.return }", "E0605"),
        (
            "func.func @f(%x: i32) { \"t.op\"() ({ %0 = tfrt.add.i32 %x, %x\n tfrt.return }) : () -> ()\n tfrt.return }",
            "E0606",
        ),
        ("func.func @f() { tfrt.call @g() : () -> ()\n tfrt.return }", "E0608"),
        ("func.func @f() { tfrt.return }\nfunc.func @f() { tfrt.return }", "E0610"),
        ("func.func @f() -> i32 { tfrt.return }", "E0611"),
        ("func.func @f() { \"t.op\"() {bef.nonstrict = 1} : () -> ()\n tfrt.return }", "E0613"),
        (
            "func.func @f() { \"t.op\"() {bef.operand_modes = [\"required\"]} : () -> ()\n tfrt.return }",
            "E0613",
        ),
        ("func.func @f() { tfrt.return {a} }", "E0614"),
    ];
    for (text, code) in cases {
        let module = read(text);
        let diags = emit(&module, &EmitOptions::default()).expect_err(text);
        assert!(diags.iter().any(|d| d.code == code && d.span.is_some()), "{code} for {text}: {diags:?}");
    }
    let deep = format!(
        "func.func @f() {{ \"t.op\"() {{a = {}{}}} : () -> ()\n tfrt.return }}",
        "[".repeat(70),
        "]".repeat(70)
    );
    let module = read(&deep);
    let diags = emit(&module, &EmitOptions::default()).expect_err("too deep");
    assert!(diags[0].code == "E0612" && diags[0].span.is_some(), "{diags:?}");
}
