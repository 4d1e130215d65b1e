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
const EDITS: u64 = 96;

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

/// The kernels of these parts as text; `None` if they cannot be compiled.
fn kernels(parts: &str) -> Option<String> {
    let module = verified(parts)?;
    let module = passed(parts, &default_pipeline(&module, 0, &DeviceOptions::default())?)?;
    Some(print(&module, &PrintOptions::default()))
}

/// The result of the program with these kernels; `None` if they cannot be loaded or called.
fn run(kernels: &str, queue: &str) -> Option<Datum> {
    let module = verified(kernels)?;
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
/// moved, a frame gets another name, a recv waits for a value of its function, or a loop of a part has one
/// iteration in flight at most.
fn edited(parts: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = parts.lines().map(str::to_owned).collect();
    let having = |what: &str| -> Vec<usize> {
        lines.iter().enumerate().filter(|(_, line)| line.contains(what)).map(|(i, _)| i).collect()
    };
    let (crossings, sends) = (having(" channel "), having("dev.send "));
    let at = crossings[dice.below(crossings.len())];
    match dice.below(7) {
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
        4 => {
            let frames = having("bef.frame = \"");
            let at = frames[dice.below(frames.len())];
            lines[at] = lines[at].replace("bef.frame = \"", "bef.frame = \"another ");
        }
        5 => {
            // A value that was sent or received earlier in the function: with the waits of the other part, an
            // order that is a circle, or one that holds.
            let recvs = having("dev.recv in ");
            let recv = recvs[dice.below(recvs.len())];
            let start = (0..recv).rev().find(|&i| lines[i].contains("func.func")).unwrap_or(0);
            let operators: Vec<usize> = (start..recv).filter(|&i| lines[i].contains(" = \"tf.")).collect();
            if let Some(&at) = operators.get(dice.below(operators.len().max(1))) {
                let value = lines[at].trim_start().split([' ', ':']).next().unwrap_or_default().to_owned();
                let value = if lines[at].contains(":2 = ") { format!("{value}#0") } else { value };
                let ty = lines[at].rsplit("-> ").next().unwrap_or_default().to_owned();
                lines[recv] = lines[recv].replacen(" channel ", " after %edit channel ", 1);
                lines.insert(recv, format!("    %edit = tfrt.merge.chains {value} : {ty}"));
            }
        }
        _ => {
            let loops = having("\"tf.While\"");
            let at = loops[dice.below(loops.len())];
            lines[at] = lines[at].replacen("{", "{parallel_iterations = 1 : i64, ", 1);
        }
    }
    lines.join("\n")
}

/// The kernels with one operand of a call that is required instead of lenient.
fn with_another_mode(kernels: &str, dice: &mut Dice) -> String {
    const LENIENT: &str = "\"lenient\"";
    let all: Vec<usize> = kernels.match_indices(LENIENT).map(|(at, _)| at).collect();
    let at = all[dice.below(all.len())];
    format!("{}\"required\"{}", &kernels[..at], &kernels[at + LENIENT.len()..])
}

#[test]
fn edited_parts_are_refused_or_end() {
    let divided = passed(
        PROGRAM,
        "builtin.module(tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2},verify-parts)",
    );
    let parts = print(&divided.expect("the parts fit together"), &PrintOptions::default());
    let whole = kernels(&parts).expect("kernels");
    let want =
        run(&whole, "s").expect("a result").tensor().expect("a number").to_vec::<f32>().expect("floats");
    assert_eq!(want, [4.0]);
    let (mut n_refused, mut n_errors, mut n_right) = (0, 0, 0);
    for seed in 1..=EDITS {
        let dice = &mut Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (parts, kernels) = match seed % 8 {
            0 => (parts.clone(), Some(with_another_mode(&whole, dice))),
            _ => {
                let parts = edited(&parts, dice);
                (parts.clone(), kernels(&parts))
            }
        };
        let is_refused = passed(&parts, "builtin.module(verify-parts)").is_none();
        n_refused += usize::from(is_refused);
        for queue in ["s", "mstd:2", "seeded:7"] {
            let Some(result) = kernels.as_ref().and_then(|kernels| run(kernels, queue)) else { continue };
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
