//! Programs on which no pass may take excessive time, though a naive algorithm would.

use std::fmt::Write;

use befrost_compiler::emit::{EmitOptions, emit};
use befrost_compiler::graph::pipeline;

use super::{compiled, said};

fn ends(text: &str, passes: &str) {
    if let Err(why) = compiled(text, passes) {
        panic!("{why}");
    }
}

/// A loop over eight nested levels of functions with twelve calls each: half a billion calls if each were
/// visited.
#[test]
fn calls_in_calls_in_a_loop_end() {
    let any = "tensor<*xf32>";
    let mut text = format!(
        "func.func @main(%p: tensor<i1>, %x: tensor<2xf32>) -> {any} {{
           %0:2 = \"tf.While\"(%p, %x) {{body = @body, cond = @cond}} : (tensor<i1>, tensor<2xf32>) -> (tensor<i1>, {any})
           tfrt.return %0#1 : {any}
         }}
         func.func private @cond(%p: tensor<i1>, %x: {any}) -> tensor<i1> {{ tfrt.return %p : tensor<i1> }}
         func.func private @body(%p: tensor<i1>, %x: {any}) -> (tensor<i1>, {any}) {{
           %y = \"tf.PartitionedCall\"(%x) {{f = @f0}} : ({any}) -> {any}
           tfrt.return %p, %y : tensor<i1>, {any}
         }}\n"
    );
    for level in 0..8 {
        let op = if level < 7 {
            format!("PartitionedCall\"(%xN) {{f = @f{}}}", level + 1)
        } else {
            "Relu\"(%xN)".into()
        };
        _ = writeln!(text, "func.func private @f{level}(%x0: {any}) -> {any} {{");
        for i in 0..12 {
            _ = writeln!(
                text,
                "  %x{} = \"tf.{} : ({any}) -> {any}",
                i + 1,
                op.replace("%xN", &format!("%x{i}"))
            );
        }
        _ = writeln!(text, "  tfrt.return %x12 : {any}\n}}");
    }
    ends(&text, "builtin.module(tf-shape-inference)");
}

const CALL: &str = "tf.StatefulPartitionedCall";
const IF: &str = "tf.If";

/// A chain of functions, each of which refers to the next one twice, and the gradient of the first one.
fn doubling(depth: usize, op: &str, attrs: &dyn Fn(usize) -> String) -> String {
    let (ty, p) = ("tensor<f32>", "tensor<i1>");
    let mut text = format!(
        "func.func @main(%p: {p}, %x: {ty}) -> {ty} {{
           %y = \"{CALL}\"(%p, %x) {{f = @f0}} : ({p}, {ty}) -> {ty}
           %d = \"tf._Gradients\"(%y, %x) {{operandSegmentSizes = array<i32: 1, 0, 1, 0>}} : ({ty}, {ty}) -> {ty}
           func.return %d : {ty}
         }}\n"
    );
    for level in 0..depth {
        let operands = if op == IF { "%p, %p, " } else { "%p, " };
        let types = if op == IF { format!("{p}, {p}, {ty}") } else { format!("{p}, {ty}") };
        let attrs = attrs(level + 1);
        _ = writeln!(
            text,
            "func.func private @f{level}(%p: {p}, %x: {ty}) -> {ty} {{
               %a = \"{op}\"({operands}%x) {{{attrs}}} : ({types}) -> {ty}
               %b = \"{op}\"({operands}%a) {{{attrs}}} : ({types}) -> {ty}
               func.return %b : {ty}
             }}"
        );
    }
    _ = writeln!(
        text,
        "func.func private @f{depth}(%p: {p}, %x: {ty}) -> {ty} {{
           %y = \"tf.Mul\"(%x, %x) : ({ty}, {ty}) -> {ty}
           func.return %y : {ty}
         }}"
    );
    text
}

/// 2^40 calls of 41 functions, each of which is analyzed and differentiated once.
#[test]
fn gradients_of_functions_that_call_twice_end() {
    ends(&doubling(40, CALL, &|next| format!("f = @f{next}")), "builtin.module(tf-gradients)");
}

/// A gradient that needs 4^30 copies of functions is refused before the copies are made.
#[test]
fn gradients_of_nested_branches_end() {
    let text = doubling(30, IF, &|next| format!("then_branch = @f{next}, else_branch = @f{next}"));
    let why = compiled(&text, "builtin.module(tf-gradients)").unwrap_err();
    assert!(why.contains("copies of functions"), "{why}");
}

/// A chain of assignments, each of which takes its reference from the one before.
#[test]
fn long_chains_of_references_end() {
    let n = 30_000;
    let ty = "tensor<!tf_type.f32ref>";
    let mut text = format!(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {{
           %v0 = \"tf.VariableV2\"() {{shape = #tf_type.shape<>, shared_name = \"v\"}} : () -> {ty}\n"
    );
    for i in 0..n {
        _ = writeln!(text, "%v{} = \"tf.Assign\"(%v{i}, %x) : ({ty}, tensor<f32>) -> {ty}", i + 1);
    }
    _ = writeln!(
        text,
        "%y = \"tf._ReadRef\"(%v{n}) : ({ty}) -> tensor<f32>\ntfrt.return %y : tensor<f32>\n}}"
    );
    ends(&text, "builtin.module(tf-to-kernels)");
}

/// Each inlined op has the locations of all calls around it: in full, more than a file can hold.
#[test]
fn deeply_nested_calls_are_emitted() {
    let (n, ty) = (200, "tensor<2xf32>");
    let mut text = format!("func.func private @f{n}(%x: {ty}) -> {ty} {{ tfrt.return %x : {ty} }}\n");
    for i in 0..n {
        let visibility = if i == 0 { "" } else { "private " };
        _ = writeln!(
            text,
            "func.func {visibility}@f{i}(%x: {ty}) -> {ty} {{
               %y = \"tf.Sin\"(%x) : ({ty}) -> {ty} loc(\"before{i}\")
               %z = \"tf.PartitionedCall\"(%y) {{f = @f{}}} : ({ty}) -> {ty} loc(\"call{i}\")
               %r = \"tf.Cos\"(%z) : ({ty}) -> {ty} loc(\"after{i}\")
               tfrt.return %r : {ty}
             }}",
            i + 1
        );
    }
    let module = compiled(&text, &pipeline(2)).unwrap_or_else(|why| panic!("{why}"));
    let bytes = emit(&module, &EmitOptions::default()).unwrap_or_else(|wrong| panic!("{}", said(&wrong)));
    assert!(!bytes.is_empty());
}
