//! Kernels that ask for their frame path: it is the same in every plan and on every queue. The first function
//! of a program is called `main`; the last one is the function under test.

use super::*;
use crate::queue::from_spec;
use bef_format::{DType, StringId};
use befrost_kernel_api::kernel::{Callee, FrameCx};

const SPECS: [&str; 8] = ["s", "mstd:1", "mstd:2", "mstd:8", "seeded:1", "seeded:2", "seeded:3", "seeded:4"];
/// Kernels that return their operand. Functions with the first one have a sequential plan, those with the
/// others do not.
const PASSING: [&str; 3] = ["copy", "later", "promised"];

fn more(registry: &mut Registry) {
    registry.add(kernel!("where", |x: i32, frame: FrameCx<'_>, cx: &ExecContext| {
        cx.print(&format!("{x}{frame} ")).map(|()| x)
    }));
    registry.add(kernel!("where_later", |x: i32, frame: FrameCx<'_>| {
        let text = format!("{x}{frame} ");
        Deferred::new(move |cx: &ExecContext| cx.print(&text).map(|()| x))
    }));
    registry.add(kernel!("fail_there", |x: i32, frame: FrameCx<'_>| match x {
        2 => Err(KernelError::invalid(format!("at {frame}"))),
        x => Ok(x),
    }));
    registry.add(kernel!("panic_there", |x: i32, frame: FrameCx<'_>| match x {
        2 => std::panic::panic_any(format!("at {frame}")),
        x => x,
    }));
    registry.add(kernel!("twice", |arguments: Rest<'_, Value>, body: Callee| {
        let arguments = arguments.to_vec();
        Deferred::new(move |cx: &ExecContext| {
            body.call(arguments.clone(), cx)?;
            body.call(arguments, cx)
        })
    }));
    registry.add(kernel!("at_once", |arguments: Rest<'_, Value>, body: Callee, cx: &ExecContext| {
        body.call(arguments.to_vec(), cx).map(|_| 1)
    }));
    registry.add(control::parallel("blocks"));
    registry.add(kernel!("copy", |x: i32| x));
    registry.add(kernel!("next", |x: i32| x + 1));
    registry.add(kernel!("below_two", |x: i32| x < 2));
    registry.add(kernel!("always", |_: i32| true));
}

fn load(source: Source, results: &[u32]) -> Arc<Program> {
    let registry = Registry::new().with(kernels).with(more);
    Program::from_bytes(&source.bytes(results), &registry).unwrap()
}

/// Runs `main(1)` on all queues, and compares what the kernels print, in any order.
fn check(program: &Arc<Program>, want: &[String]) {
    let mut want: Vec<&str> = want.iter().map(String::as_str).collect();
    want.sort_unstable();
    for spec in SPECS {
        let (results, printed) = run_on(from_spec(spec).unwrap(), program, Value::I32(1), Limits::default());
        let mut got: Vec<&str> = printed.split(' ').collect();
        got.sort_unstable();
        assert_eq!(got, want, "{spec}: {results:?}");
    }
}

/// A loop of `body`, of which `in_flight` iterations overlap.
fn while_loop(source: &mut Source, start: u32, body: FunctionId, in_flight: i32) -> u32 {
    let yes = source.on_stream(0, "always", &[(start, Required)], &["i1"], &[]);
    let ty = source.writer.ty("i64");
    let attr = source.writer.attr_int(ty, Some(DType::I64), i64::from(in_flight));
    source.push(0, "while", &[(yes, Required), (start, Required)], &["i32"], &[body], &[attr])
}

/// Ends the body of a loop of three iterations.
fn end_of_body(source: &mut Source, name: &str) -> FunctionId {
    let next = source.kernel("next", &[0]);
    let more = source.on_stream(0, "below_two", &[(0, Required)], &["i1"], &[]);
    source.next(name, &[next, more])
}

/// Loops in loops in calls, with all bounds: the printed path contains the iterations.
#[test]
fn iterations_are_counted_in_every_loop() {
    for passing in PASSING {
        for in_flight in [1, 2, 8] {
            let mut source = Source::new();
            let passed = source.kernel(passing, &[0]);
            let said = source.kernel("where", &[passed]);
            let says = source.next("inner", &[said]);
            source.control("call", &[0], 1, &[says]);
            let inner = end_of_body(&mut source, "repeats");
            let zero = source.kernel("zero", &[]);
            let looped = while_loop(&mut source, zero, inner, in_flight);
            let repeats = source.next("outer", &[looped]);
            let passed = source.kernel(passing, &[0]);
            let ten = source.kernel("ten", &[]);
            source.control("repeat", &[ten, passed], 1, &[repeats]);
            let outer = end_of_body(&mut source, "entry");
            let zero = source.kernel("zero", &[]);
            let last = while_loop(&mut source, zero, outer, in_flight);
            let program = load(source, &[last]);
            let mut want = Vec::new();
            for a in 0..3 {
                for b in 0..10 {
                    let outer = format!("/outer#2[{a}]/repeats#2[{b}]");
                    want.extend((0..3).map(|c| format!("{c}{outer}/inner#2[{c}]/main#0[0]")));
                }
            }
            check(&program, &want);
        }
    }
}

/// `rec(n)` is `base(n)` if n is 1, else `step(n)`, which calls `rec(n - 1)` twice.
#[test]
fn calls_are_told_apart_in_recursion_and_branches() {
    for passing in PASSING {
        let mut source = Source::new();
        let rec = source.writer.declare();
        let said = source.kernel("where_later", &[0]);
        let base = source.next("step", &[said]);
        let minus = source.kernel("minus_one", &[]);
        let less = source.kernel("add", &[0, minus]);
        let said = source.kernel("where", &[less]);
        source.control("call", &[said], 1, &[rec]);
        let second = source.control("call", &[less], 1, &[rec]);
        let step = source.next("rec", &[second]);
        let passed = source.kernel(passing, &[0]);
        let is_one = source.kernel("is_one", &[passed]);
        let result = source.control("if", &[is_one, passed], 1, &[base, step]);
        source.main.result(result, StringId(0));
        let name = source.writer.string("entry");
        let main = std::mem::replace(&mut source.main, FunctionBuilder::new(name, FunctionKind::Async));
        source.writer.define(rec, main);
        source.main.arg(source.int, StringId(0), None);
        let two = source.kernel("add", &[0, 0]);
        let three = source.kernel("add", &[two, 0]);
        let last = source.control("call", &[three], 1, &[rec]);
        let program = load(source, &[last]);
        let first = "/rec#2[0]/step#2[0]";
        let mut want = vec![format!("2{first}")];
        for a in [3, 4] {
            let second = format!("{first}/rec#{a}[0]/step#2[0]");
            want.push(format!("1{second}"));
            want.extend([3, 4].map(|b| format!("1{second}/rec#{b}[0]/main#2[0]")));
        }
        check(&program, &want);
    }
}

/// Executions begun by kernels: blocks, calls from a task, functions called once.
#[test]
fn executions_inside_go_on_with_the_path() {
    for passing in PASSING {
        let mut source = Source::new();
        let passed = source.kernel(passing, &[0]);
        let said = source.kernel("where", &[passed]);
        let says = source.next("block", &[said]);
        source.main.arg(source.int, StringId(0), None);
        let twice = source.control("twice", &[0], 1, &[says]);
        let called = source.control("call", &[twice], 1, &[says]);
        source.control("at_once", &[called], 1, &[says]);
        let chain = source.kernel("chain", &[called]);
        let block = source.next("once", &[chain]);
        let (ten, one) = (source.kernel("ten", &[]), source.kernel("one", &[]));
        let operands = [(0, Required), (ten, Required), (one, Required)];
        source.push(0, "blocks", &operands, &["!tfrt.chain"], &[block], &[]);
        let once = source.next("entry", &[0]);
        let last = source.control("once", &[0], 1, &[once]);
        let program = load(source, &[last]);
        let mut want = Vec::new();
        for block in 0..9 {
            let (x, path) = (block + 1, format!("/once#0[0]/block#2[{block}]"));
            want.extend([0, 1].map(|call| format!("{x}{path}/main#0[{call}]")));
            want.extend([1, 2].map(|kernel| format!("{x}{path}/main#{kernel}[0]")));
        }
        check(&program, &want);
    }
}

/// A kernel that calls in place knows its callers in a sequential plan too.
#[test]
fn a_line_goes_on_with_the_path() {
    let mut source = Source::new();
    let said = source.kernel("where", &[0]);
    let says = source.next("calls", &[said]);
    source.control("at_once", &[0], 1, &[says]);
    let next = source.kernel("next", &[0]);
    let calls = source.next("entry", &[next]);
    let ten = source.kernel("ten", &[]);
    let last = source.control("repeat", &[ten, 0], 1, &[calls]);
    let program = load(source, &[last]);
    let want: Vec<String> = (0..10).map(|i| format!("{}/calls#1[{i}]/main#0[0]", i + 1)).collect();
    check(&program, &want);
}

/// Such a kernel behaves like others, with and without a sequential plan.
#[test]
fn a_kernel_with_a_frame_may_fail_and_panic() {
    for (kernel, says) in [("fail_there", "at"), ("panic_there", "a kernel panicked: at")] {
        let mut source = Source::new();
        let there = source.kernel(kernel, &[0]);
        let after = source.kernel("add", &[there, 0]);
        let tries = source.next("entry", &[after]);
        let ok = source.control("call", &[0], 1, &[tries]);
        let two = source.kernel("add", &[ok, 0]);
        let two = source.kernel("add", &[two, ok]);
        let two_or_four = source.kernel("copy", &[two]);
        let bad = source.control("call", &[ok], 1, &[tries]);
        let worse = source.control("call", &[bad], 1, &[tries]);
        let program = load(source, &[ok, two_or_four, bad, worse]);
        for spec in SPECS {
            let (results, _) = run_on(from_spec(spec).unwrap(), &program, Value::I32(1), Limits::default());
            let bad = format!("t:1:1: {says} /main#4[0] < t:5:1");
            let worse = bad.clone();
            assert_eq!(results, ["2", "5", &bad, &worse], "{spec}");
        }
    }
}
