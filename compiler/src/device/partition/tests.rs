//! `verify-parts` refuses parts that do not fit together, each for its reason, and accepts those that do.

use crate::device::place;
use crate::pass::{Pass, PassManager};
use crate::syntax::{ParseOptions, parse};
use crate::verify::verify;

/// Programs, most of which break a rule: `expected-error` says which.
const PROGRAMS: &str = include_str!("../../../../testdata/tf/verify-parts.mlir");

/// The passes of these tests; a pipeline among all would have all of them built once more.
const PASSES: &[Pass] = &[super::PASS, place::PASS, super::verify::PASS];

/// The messages of `verify-parts` for a program.
fn refusals(text: &str) -> Vec<String> {
    messages(text, "verify-parts")
}

/// The messages of passes for a program.
fn messages(text: &str, passes: &str) -> Vec<String> {
    let module = parse("parts.mlir", text, &ParseOptions::default()).module.expect("a program");
    let mut passes =
        PassManager::parse_among(&format!("builtin.module({passes})"), PASSES).expect("a pipeline");
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
    const LEVELS: usize = 11;
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

/// The passes that divide a program.
const DIVIDE: &str = "tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2},verify-parts";

#[test]
fn programs_with_too_many_channels_are_refused() {
    let chain = |n: usize| {
        let mut text = "func.func @main(%v0: tensor<f32>) -> tensor<f32> {\n".to_owned();
        for i in 0..n {
            let (next, device) = (i + 1, 1 - i % 2);
            text += &format!(
                "  %v{next} = \"tf.Neg\"(%v{i}) {{device = \"/cpu:{device}\"}} : (tensor<f32>) -> tensor<f32>\n"
            );
        }
        text + &format!("  tfrt.return %v{n} : tensor<f32>\n}}\n")
    };
    assert_eq!(messages(&chain(254), DIVIDE), [""; 0]);
    let want = "more than 256 values and control edges cross between the parts of the program";
    assert_eq!(messages(&chain(300), DIVIDE), [want]);
}

#[test]
fn loops_that_are_nested_too_deeply_are_refused() {
    let ty = "tensor<i32>, tensor<f32>";
    let nested = |n: usize| {
        let call = |level: usize| {
            format!(
                "  %r:2 = \"tf.While\"(%i, %x) {{cond = @cond{level}, body = @body{level}}} : ({ty}) -> ({ty})\n"
            )
        };
        let mut text = format!(
            "func.func @main(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {{\n{}  tfrt.return %r#1 : tensor<f32>\n}}\n",
            call(1)
        );
        for level in 1..=n {
            let inner = match level == n {
                true => "  %y = \"tf.Neg\"(%x) {device = \"/cpu:1\"} : (tensor<f32>) -> tensor<f32>\n  tfrt.return %i, %y"
                    .to_owned(),
                false => call(level + 1) + "  tfrt.return %i, %r#1",
            };
            text += &format!(
                "func.func private @cond{level}(%i: tensor<i32>, %x: tensor<f32>) -> tensor<i1> {{
  %p = \"tf.Less\"(%i, %i) {{device = \"/cpu:0\"}} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}}
func.func private @body{level}(%i: tensor<i32>, %x: tensor<f32>) -> ({ty}) {{
{inner} : {ty}
}}
"
            );
        }
        text
    };
    assert_eq!(messages(&nested(64), DIVIDE), [""; 0]);
    let want = "the parts do not fit together: a loop is inside of 64 others";
    assert_eq!(messages(&nested(65), DIVIDE), [want]);
}
