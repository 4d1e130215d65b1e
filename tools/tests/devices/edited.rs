//! Partitioned programs with an edit. `verify-parts` refuses the parts, or the run ends with an error or the
//! right result. No run hangs, even if the parts were refused.

use std::time::{Duration, Instant};

use befrost::{CallOptions, Cancellation, Datum, ErrorCode, HostTensor, Runtime};
use befrost_compiler::device::DeviceOptions;
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::pass::PassManager;
use befrost_compiler::passes::default_pipeline;
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};
use befrost_testing::dice::Dice;

/// The number of edited programs.
const EDITS: u64 = 60;

/// A loop with a conditional in it, on two devices.
const PROGRAM: &str = r#"
func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %a = "tf.Neg"(%x) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
  %r:3 = "tf.While"(%zero, %n, %a) {cond = @cond, body = @body} : (tensor<i32>, tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<i32>, tensor<f32>)
  %b = "tf.Abs"(%r#2) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %b : tensor<f32>
}
func.func private @cond(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<f32>) -> tensor<i1> {
  %p = "tf.Less"(%i, %n) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<f32>) -> (tensor<i32>, tensor<i32>, tensor<f32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %j = "tf.AddV2"(%i, %one) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %p = "tf.Less"(%x, %zero) {device = "/cpu:0"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %y = "tf.If"(%p, %x) {then_branch = @then, else_branch = @else} : (tensor<i1>, tensor<f32>) -> tensor<f32>
  tfrt.return %j, %n, %y : tensor<i32>, tensor<i32>, tensor<f32>
}
func.func private @then(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.Neg"(%x) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
  %z = "tf.AddV2"(%y, %x) {device = "/cpu:0"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %u = "tf.AddV2"(%z, %y) {device = "/cpu:1"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %u : tensor<f32>
}
func.func private @else(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.AddV2"(%x, %x) {device = "/cpu:1"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
"#;

fn verified(text: &str) -> Option<Verified> {
    verify(parse("parts.mlir", text, &ParseOptions::default()).module?).ok()
}

fn passed(text: &str, pipeline: &str) -> Option<Verified> {
    let mut passes = PassManager::parse(pipeline).expect("a pipeline");
    Some(passes.run(verified(text)?).ok()?.0)
}

/// The result of the program with these parts; `None` if they cannot be compiled, loaded or called.
fn run(parts: &str, queue: &str) -> Option<Datum> {
    let module = verified(parts)?;
    let pipeline = default_pipeline(&module, 0, &DeviceOptions::default())?;
    let module = passed(parts, &pipeline)?;
    let bef = emit_parts(&module, &EmitOptions::default()).ok()?.to_vec();
    let program = Runtime::builder().work_queue(queue).build().expect("a runtime").load_bytes(&bef).ok()?;
    let cancellation = Cancellation::with_deadline(Instant::now() + Duration::from_secs(60));
    let options = CallOptions { cancellation, ..CallOptions::default() };
    let scalar: [usize; 0] = [];
    let n = HostTensor::from_vec(scalar, vec![3i32]).expect("a number");
    let x = HostTensor::from_vec(scalar, vec![1f32]).expect("a number");
    let mut results = program.function("main").ok()?.call_with([n.into(), x.into()], &options).ok()?;
    results.pop()
}

/// One edit of the parts: a channel gets another number, a send is removed, a type changes, a send is
/// moved, or a frame gets another name.
fn edited(parts: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = parts.lines().map(str::to_owned).collect();
    let having = |what: &str| -> Vec<usize> {
        lines.iter().enumerate().filter(|(_, line)| line.contains(what)).map(|(i, _)| i).collect()
    };
    let (crossings, sends) = (having(" channel "), having("dev.send "));
    let at = crossings[dice.below(crossings.len())];
    match dice.below(5) {
        0 => {
            let (start, rest) = lines[at].split_once(" channel ").expect("a channel");
            let end = rest.find(' ').expect("an end");
            lines[at] = format!("{start} channel {}{}", dice.below(crossings.len()), &rest[end..]);
        }
        1 => _ = lines.remove(sends[dice.below(sends.len())]),
        2 => lines[at] = lines[at].replace("tensor<f32>", "tensor<?xf32>"),
        3 => {
            // The send moves to the end of its function, behind any recv there. A recv is not moved: one
            // after its user is no program.
            let send = sends[dice.below(sends.len())];
            let end = (send..lines.len()).find(|&i| lines[i].contains("return")).expect("an end");
            let line = lines.remove(send);
            lines.insert(end - 1, line);
        }
        _ => {
            let frames = having("bef.frame = \"");
            let at = frames[dice.below(frames.len())];
            lines[at] = lines[at].replace("bef.frame = \"", "bef.frame = \"another ");
        }
    }
    lines.join("\n")
}

#[test]
fn edited_parts_are_refused_or_end() {
    let divided = passed(
        PROGRAM,
        "builtin.module(tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2},verify-parts)",
    );
    let parts = print(&divided.expect("the parts fit together"), &PrintOptions::default());
    let want =
        run(&parts, "s").expect("a result").tensor().expect("a number").to_vec::<f32>().expect("floats");
    assert_eq!(want, [4.0]);
    let (mut n_refused, mut n_errors, mut n_right) = (0, 0, 0);
    for seed in 1..=EDITS {
        let parts = edited(&parts, &mut Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let is_refused = passed(&parts, "builtin.module(verify-parts)").is_none();
        n_refused += usize::from(is_refused);
        for queue in ["s", "mstd:2", "seeded:7"] {
            let Some(result) = run(&parts, queue) else { continue };
            match result.error() {
                Some(error) => {
                    assert_ne!(error.code(), ErrorCode::DeadlineExceeded, "it hangs on {queue}:\n{parts}");
                    n_errors += 1;
                }
                None if !is_refused => {
                    let found = result.tensor().expect("a number").to_vec::<f32>().expect("floats");
                    assert_eq!(found, want, "on {queue}:\n{parts}");
                    n_right += 1;
                }
                // Refused parts may have any result.
                None => {}
            }
        }
    }
    println!("{n_refused} refused, {n_errors} errors, {n_right} right all the same");
    assert!(n_refused > 20 && n_errors > 20, "{n_refused} refused, {n_errors} errors");
}
