//! Bounds of executions: cancellation in every kind of loop, limits of calls from blocks, constant memory.
//! Also the results of blocks that are dead or fail.

use super::*;
use crate::queue::from_spec;
use befrost_kernel_api::context::Cancellation;
use befrost_kernel_api::live::live_objects;
use befrost_kernel_api::object::Object;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const SPECS: [&str; 5] = ["s", "seeded:3", "mstd:1", "mstd:2", "mstd:4"];

/// Loop-carried object; counts the objects that are alive.
#[derive(Debug)]
struct Carried;

impl Object for Carried {
    const TYPES: &'static [&'static str] = &["!test.carried"];
    fn display(&self) -> String {
        "carried".to_owned()
    }
}

/// Maximum number of objects that were seen alive.
static MOST: AtomicUsize = AtomicUsize::new(0);

fn more(registry: &mut Registry) {
    registry.add(control::parallel("blocks"));
    registry.add(kernel!("many", || i32::MAX));
    registry.add(kernel!("thousands", || fewer(20_000) as i32));
    registry.add(kernel!("carried", || Carried));
    registry.add(kernel!("renew", |_: &Carried| Carried));
    registry.add(kernel!("renew_later", |_: &Carried| Deferred::new(move |_| {
        let alive = live_objects().into_iter().find(|(name, _)| *name == "!test.carried");
        MOST.fetch_max(alive.map_or(0, |(_, n)| n), Ordering::Relaxed);
        Carried
    })));
    registry.add(kernel!("below_three", |x: i32| x < 3));
    registry.add(kernel!("always", |_: i32| true));
}

fn load(source: Source, results: &[u32]) -> Arc<Program> {
    let registry = Registry::new().with(kernels).with(more);
    Program::from_bytes(&source.bytes(results), &registry).unwrap()
}

/// Blocks of one index each, from the argument to `end`. Each calls `block`, a function of its bounds.
fn blocks(source: &mut Source, end: u32, block: FunctionId) -> u32 {
    let size = source.kernel("one", &[]);
    let operands = [(0, Required), (end, Required), (size, Required)];
    source.push(0, "blocks", &operands, &["!tfrt.chain"], &[block], &[])
}

/// Adds the end of a block as second argument of the current function.
fn second_bound(source: &mut Source) {
    source.main.arg(source.int, bef_format::StringId(0), None);
}

#[test]
fn a_deadline_reaches_every_kind_of_loop() {
    for body in ["add", "later", "promised"] {
        for kind in ["repeat", "while", "blocks"] {
            let mut source = Source::new();
            if kind == "blocks" {
                second_bound(&mut source);
            }
            let next = source.kernel("add", &[0, 0]);
            let next = if body == "add" { next } else { source.kernel(body, &[next]) };
            let always = source.on_stream(0, "always", &[(next, Required)], &["i1"], &[]);
            let result = match kind {
                "while" => source.next("outer", &[next, always]),
                "repeat" => source.next("outer", &[next]),
                _ => {
                    let chain = source.kernel("chain", &[next]);
                    source.next("outer", &[chain])
                }
            };
            let many = source.kernel("many", &[]);
            let yes = source.on_stream(0, "always", &[(0, Required)], &["i1"], &[]);
            let last = match kind {
                "while" => source.control("while", &[yes, 0], 1, &[result]),
                "repeat" => source.control("repeat", &[many, 0], 1, &[result]),
                _ => blocks(&mut source, many, result),
            };
            let program = load(source, &[last]);
            for spec in SPECS {
                let deadline = Instant::now() + Duration::from_millis(15);
                let cancellation = Cancellation::with_deadline(deadline);
                let request = Request { cancellation, ..Request::new(from_spec(spec).unwrap()) };
                let context = ExecContext::new(Arc::new(request));
                let main = FunctionId(program.image().n_functions() - 1);
                let results = call(&program, main, vec![Value::I32(1)], &context).unwrap();
                let code = results[0].error().map(|error| error.code());
                assert_eq!(code, Some(ErrorCode::DeadlineExceeded), "{spec} {kind} {body}");
            }
        }
    }
}

#[test]
fn a_cancellation_reaches_kernels_that_are_queued() {
    let mut source = Source::new();
    let cancelled = source.kernel("cancel", &[0]);
    // They are queued before the kernel that cancels runs, which is ready last.
    let mut all = vec![cancelled];
    for i in 1..50 {
        let late = source.on_stream(i, "later", &[(0, Required)], &["i32"], &[]);
        all.push(source.on_stream(i, "note", &[(late, Required), (cancelled, Order)], &["i32"], &[]));
    }
    let program = load(source, &all);
    for spec in SPECS {
        let (results, printed) = run_on(from_spec(spec).unwrap(), &program, Value::I32(1), Limits::default());
        assert_eq!((results[0].as_str(), printed.as_str()), ("1", ""), "{spec}");
        assert!(results[1..].iter().all(|result| result == "Cancelled"), "{spec} {results:?}");
    }
}

#[test]
fn blocks_have_the_limits_of_their_caller() {
    let mut source = Source::new();
    let mut deep = source.next("deep", &[0]);
    for i in 0..10 {
        let called = source.control("call", &[0], 1, &[deep]);
        deep = source.next(&format!("deep {i}"), &[called]);
    }
    second_bound(&mut source);
    let called = source.control("call", &[0], 1, &[deep]);
    let chain = source.kernel("chain", &[called]);
    let block = source.next("outer", &[chain]);
    let ten = source.kernel("ten", &[]);
    let last = blocks(&mut source, ten, block);
    let program = load(source, &[last]);
    for spec in SPECS {
        let result = |limits| {
            let (results, _) = run_on(from_spec(spec).unwrap(), &program, Value::I32(1), limits);
            results.concat()
        };
        assert_eq!(result(Limits::default()), "!tfrt.chain value", "{spec}");
        let few = result(Limits { depth: 8, ..Limits::default() });
        assert!(few.contains("calls nest too deeply"), "{spec}: {few}");
    }
}

#[test]
fn a_dead_block_makes_all_dead_and_a_failed_one_fails_all() {
    for (names, want) in [
        (["fail", "dead"], "<<dead>>"),
        (["add", "dead"], "<<dead>>"),
        (["add", "fail"], "fail 3"),
        (["add", "add"], "!tfrt.chain value"),
    ] {
        let mut source = Source::new();
        let parts = [(names[0], "second"), (names[1], "block")].map(|(name, next)| {
            let x = source.kernel(name, if name == "add" { &[0, 0] } else { &[0] });
            let chain = source.kernel("chain", &[x]);
            source.next(next, &[chain])
        });
        second_bound(&mut source);
        let is_early = source.on_stream(0, "below_three", &[(0, Required)], &["i1"], &[]);
        let operands = [(is_early, Required), (0, Required)];
        let chosen = source.push(0, "if", &operands, &["!tfrt.chain"], &parts, &[]);
        let block = source.next("outer", &[chosen]);
        let ten = source.kernel("ten", &[]);
        let last = blocks(&mut source, ten, block);
        let program = load(source, &[last]);
        for spec in SPECS {
            let (results, _) = run_on(from_spec(spec).unwrap(), &program, Value::I32(1), Limits::default());
            assert!(results[0].contains(want), "{spec} {names:?}: {results:?}");
        }
    }
}

/// Twenty thousand iterations with and without an asynchronous kernel in the body: the number of live objects
/// does not grow.
#[test]
fn loops_take_no_memory() {
    for body in ["renew_later", "renew"] {
        let mut source = Source::new();
        let object = "!test.carried";
        let mut step = FunctionBuilder::new(source.writer.string("step"), FunctionKind::Async);
        let ty = source.writer.ty(object);
        step.arg(ty, bef_format::StringId(0), None);
        let outer = std::mem::replace(&mut source.main, step);
        let next = source.on_stream(0, body, &[(0, Required)], &[object], &[]);
        let step = source.next("unused", &[next]);
        source.main = outer;
        let first = source.on_stream(0, "carried", &[], &[object], &[]);
        let times = source.kernel("thousands", &[]);
        let operands = [(times, Required), (first, Required)];
        let last = source.push(0, "repeat", &operands, &[object], &[step], &[]);
        let program = load(source, &[last]);
        for spec in SPECS {
            let (results, _) = run_on(from_spec(spec).unwrap(), &program, Value::I32(1), Limits::default());
            assert_eq!(results, ["carried"], "{spec} {body}");
            assert!(MOST.load(Ordering::Relaxed) < 100, "{spec} {body}");
        }
    }
}
