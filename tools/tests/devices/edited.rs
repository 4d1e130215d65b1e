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

/// The number of edits of each program.
const EDITS: u64 = 96;

/// A loop with a conditional in it, on two devices. The predicate rides on a value.
const CONDITIONAL: &str = r#"
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
  %k = "tf.Cast"(%j) {device = "/cpu:0"} : (tensor<i32>) -> tensor<f32>
  %y = "tf.If"(%p, %x, %k) {then_branch = @then, else_branch = @else} : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %j, %n, %y : tensor<i32>, tensor<i32>, tensor<f32>
}
func.func private @then(%x: tensor<f32>, %k: tensor<f32>) -> tensor<f32> {
  %y = "tf.Neg"(%x) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
  %z = "tf.AddV2"(%y, %x) {device = "/cpu:0"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %u = "tf.AddV2"(%z, %y) {device = "/cpu:1"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %u : tensor<f32>
}
func.func private @else(%x: tensor<f32>, %k: tensor<f32>) -> tensor<f32> {
  %y = "tf.AddV2"(%x, %x) {device = "/cpu:1"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %z = "tf.Sub"(%k, %k) {device = "/cpu:1"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %u = "tf.AddV2"(%y, %z) {device = "/cpu:1"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %u : tensor<f32>
}
"#;

/// A loop in a loop, each on both devices; the inner one runs as often as the outer one has run.
const NESTED: &str = r#"
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
  %j = "tf.AddV2"(%i, %one) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r:3 = "tf.While"(%one, %j, %x) {cond = @inner_cond, body = @inner} : (tensor<i32>, tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<i32>, tensor<f32>)
  tfrt.return %j, %n, %r#2 : tensor<i32>, tensor<i32>, tensor<f32>
}
func.func private @inner_cond(%k: tensor<i32>, %j: tensor<i32>, %x: tensor<f32>) -> tensor<i1> {
  %p = "tf.Less"(%k, %j) {device = "/cpu:1"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @inner(%k: tensor<i32>, %j: tensor<i32>, %x: tensor<f32>) -> (tensor<i32>, tensor<i32>, tensor<f32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %l = "tf.AddV2"(%k, %one) {device = "/cpu:1"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %y = "tf.AddV2"(%x, %x) {device = "/cpu:0"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %z = "tf.Neg"(%y) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %l, %j, %z : tensor<i32>, tensor<i32>, tensor<f32>
}
"#;

/// A loop and a conditional behind it in a graph of primitives.
const PRIMITIVES: &str = r#"
func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %r = tf_executor.graph -> tensor<f32> {
    %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %limit = tf_executor.Enter %n frame "w" constant true : (tensor<i32>) -> tensor<i32>
    %step = tf_executor.Enter %one frame "w" constant true : (tensor<i32>) -> tensor<i32>
    %i0 = tf_executor.Enter %zero frame "w" : (tensor<i32>) -> tensor<i32>
    %x0 = tf_executor.Enter %x frame "w" : (tensor<f32>) -> tensor<f32>
    %ni, %ti = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %nx, %tx = tf_executor.NextIteration.Source : () -> (tensor<f32>, !tf_executor.token)
    %i, %from0 = tf_executor.Merge %i0, %ni : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %v, %from1 = tf_executor.Merge %x0, %nx : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
    %less = "tf.Less"(%i, %limit) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %go = tf_executor.LoopCond %less : (tensor<i1>) -> tensor<i1>
    %last, %i1 = tf_executor.Switch %i, %go : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %all, %v1 = tf_executor.Switch %v, %go : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
    %i2 = "tf.AddV2"(%i1, %step) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %w = "tf.Neg"(%v1) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
    %v2 = "tf.AddV2"(%w, %w) {device = "/cpu:1"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tf_executor.NextIteration.Sink %ti, %i2 : (!tf_executor.token, tensor<i32>) -> ()
    tf_executor.NextIteration.Sink %tx, %v2 : (!tf_executor.token, tensor<f32>) -> ()
    %e = tf_executor.Exit %all : (tensor<f32>) -> tensor<f32>
    %p = "tf.Less"(%e, %x) {device = "/cpu:1"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %f, %t = tf_executor.Switch %e, %p : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
    %a = "tf.Square"(%f) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
    %b = "tf.Abs"(%t) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
    %m, %k = tf_executor.Merge %a, %b : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
    tf_executor.fetch %m : tensor<f32>
  }
  tfrt.return %r : tensor<f32>
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
    // Graphs of primitives stay what they are.
    let pipeline = default_pipeline(&module, 0, &DeviceOptions::default())?;
    let module = passed(parts, &pipeline.replace("tf-functionalize-control-flow,", ""))?;
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
/// moved, a frame gets another name, a recv waits for a value of its function, a predicate is not sent, or a
/// loop of a part has one iteration in flight at most.
fn edited(parts: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = parts.lines().map(str::to_owned).collect();
    let having = |what: &str| -> Vec<usize> {
        lines.iter().enumerate().filter(|(_, line)| line.contains(what)).map(|(i, _)| i).collect()
    };
    let (crossings, sends) = (having(" channel "), having("dev.send "));
    let at = crossings[dice.below(crossings.len())];
    match dice.below(8) {
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
            let is_end = |line: &str| line.contains("return") || line.contains("tf_executor.fetch");
            let end = (send..lines.len()).find(|&i| is_end(&lines[i])).expect("an end");
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
        6 => {
            let send = sends.iter().copied().find(|&i| lines[i].contains(", %"));
            let parts = send.and_then(|at| {
                let (sent, rest) = lines[at].split_once(" in ")?;
                Some((at, sent.rsplit_once(", ")?.0, rest.rsplit_once(", ")?.0))
            });
            if let Some((at, sent, rest)) = parts {
                lines[at] = format!("{sent} in {rest}");
            }
        }
        _ => {
            let (loops, enters) = (having("\"tf.While\""), having("tf_executor.Enter "));
            if !loops.is_empty() {
                let at = loops[dice.below(loops.len())];
                lines[at] = lines[at].replacen("{", "{parallel_iterations = 1 : i64, ", 1);
            }
            for at in enters {
                lines[at] = lines[at].replacen(" parallel_iterations 10", " parallel_iterations 1", 1);
            }
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
    edit(CONDITIONAL, [4.0]);
}

#[test]
fn edited_parts_with_nested_loops_are_refused_or_end() {
    edit(NESTED, [8.0]);
}

#[test]
fn edited_parts_of_primitives_are_refused_or_end() {
    edit(PRIMITIVES, [8.0]);
}

/// Edits the parts of a program, whose result is `want`, and runs them.
fn edit(program: &str, want: [f32; 1]) {
    let divided = passed(
        program,
        "builtin.module(tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2},verify-parts)",
    );
    let parts = print(&divided.expect("the parts fit together"), &PrintOptions::default());
    let whole = kernels(&parts).expect("kernels");
    let value = |result: &Datum| result.tensor().expect("a number").to_vec::<f32>().expect("floats");
    assert_eq!(value(&run(&whole, "s").expect("a result")), want);
    let (mut n_refused, mut n_unloaded, mut n_errors, mut n_right) = (0, 0, 0, 0);
    for seed in 1..=EDITS {
        let dice = &mut Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Parts, or the kernels of the parts: `verify-parts` refuses the former, loading the latter.
        let (is_refused, edited) = match seed % 8 {
            0 => (None, Some(with_another_mode(&whole, dice))),
            1 => (None, Some(edited(&whole, dice))),
            _ => {
                let parts = edited(&parts, dice);
                (Some(passed(&parts, "builtin.module(verify-parts)").is_none()), kernels(&parts))
            }
        };
        n_refused += usize::from(is_refused == Some(true));
        let Some(edited) = edited else { continue };
        let is_loaded = run(&edited, "s").is_some();
        n_unloaded += usize::from(!is_loaded);
        assert!(is_loaded || is_refused != Some(false), "parts that fit are not loaded:\n{edited}");
        // What would be refused runs, too.
        let unchecked = unchecked(&edited);
        for queue in ["s", "mstd:2", "seeded:7"] {
            let Some(result) = run(&unchecked, queue) else { continue };
            match result.error() {
                Some(error) => {
                    assert_ne!(error.code(), ErrorCode::DeadlineExceeded, "it hangs on {queue}:\n{edited}");
                    n_errors += 1;
                }
                None if is_loaded && is_refused != Some(true) => {
                    assert_eq!(value(&result), want, "on {queue}:\n{edited}");
                    n_right += 1;
                }
                // Refused parts may have any result.
                None => {}
            }
        }
    }
    let found = format!("{n_refused} refused, {n_unloaded} not loaded, {n_errors} errors, {n_right} right");
    println!("{found}");
    assert!(n_refused > 20 && n_unloaded > 20 && n_errors > 20, "{found}");
}

/// The same kernels in a form that loading does not check: the parts have a frame of the step, not the step.
fn unchecked(kernels: &str) -> String {
    let hide = |line: &str| match line.split_once(" = dev.step") {
        Some((step, _)) => {
            format!("  %whole = dev.step\n{step} = dev.enter %whole {{bef.frame = \"all\"}}")
        }
        None => line.to_owned(),
    };
    kernels.lines().map(hide).collect::<Vec<_>>().join("\n")
}
