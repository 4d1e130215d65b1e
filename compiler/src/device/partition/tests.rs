//! `verify-parts` refuses parts that do not fit together, each for its reason, and accepts those that do.

use crate::pass::PassManager;
use crate::syntax::{ParseOptions, parse};
use crate::verify::verify;

/// Programs, most of which break a rule: `expected-error` says which.
const PROGRAMS: &str = include_str!("../../../../testdata/tf/verify-parts.mlir");

/// The messages of `verify-parts` for a program.
fn refusals(text: &str) -> Vec<String> {
    let module = parse("parts.mlir", text, &ParseOptions::default()).module.expect("a program");
    let mut passes = PassManager::parse("builtin.module(verify-parts)").expect("a pipeline");
    match passes.run(verify(module).expect("a program of this IR")) {
        Ok(_) => Vec::new(),
        Err(said) => said.into_iter().map(|said| said.message).collect(),
    }
}

#[test]
fn each_rule_is_checked() {
    for text in PROGRAMS.split("// -----") {
        let expected = text.split("expected-error @+1 {{").skip(1).filter_map(|rest| rest.split("}}").next());
        assert_eq!(refusals(text), expected.collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn parts_that_are_too_large_are_refused() {
    const LEVELS: usize = 9;
    let mut text = "\
func.func @main() {
  dev.parts() {parts = [@f0], takes = [[]], gives = [[]]} : () -> ()
  tfrt.return
}
"
    .to_owned();
    for level in 0..LEVELS {
        let call = format!("  \"tf.PartitionedCall\"(%s) {{f = @f{}}} : (!dev.step) -> ()\n", level + 1);
        text += &format!("func.func private @f{level}(%s: !dev.step) {{\n{call}{call}  tfrt.return\n}}\n");
    }
    text += &format!("func.func private @f{LEVELS}(%s: !dev.step) {{\n  tfrt.return\n}}\n");
    assert_eq!(refusals(&text), ["the parts do not fit together: they are too large to be checked"]);
}
