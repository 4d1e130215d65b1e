//! Loops whose iterations overlap: number of iterations in flight, results, and order.

use super::*;
use crate::queue::from_spec;
use bef_format::{DType, StringId};
use befrost_kernel_api::async_value::{AsyncRef, Promise};
use befrost_kernel_api::context::Cancellation;
use befrost_kernel_api::live::live_objects;
use befrost_kernel_api::object::Object;
use befrost_kernel_api::queue::Task;
use befrost_kernel_api::resources::Resource;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const SPECS: [&str; 7] = ["s", "seeded:1", "seeded:2", "seeded:3", "mstd:1", "mstd:2", "mstd:4"];
const BOUNDS: [i32; 4] = [1, 2, 4, 8];
const ITERATIONS: i32 = 100;

/// Record of the iterations of one loop; a resource of the execution.
#[derive(Default)]
struct Flight {
    bound: AtomicI32,
    in_flight: AtomicI32,
    most: AtomicI32,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// Number of iterations started.
    started: i32,
    /// Iterations that do not end before so many have started, with their number.
    held: Vec<(i32, i32, Promise)>,
}

impl Resource for Flight {
    const TYPE: &'static str = "flight";
}

impl Flight {
    fn of(cx: &ExecContext) -> Arc<Flight> {
        cx.request.resources.or_insert_with(&"flight".into(), Flight::default)
    }
}

/// Loop-carried object; counts the objects that are alive.
#[derive(Debug)]
struct Late;

impl Object for Late {
    const TYPES: &'static [&'static str] = &["!test.late"];
    fn display(&self) -> String {
        "late".to_owned()
    }
}

/// Maximum number of objects that were seen alive.
static MOST: AtomicUsize = AtomicUsize::new(0);

fn more(registry: &mut Registry) {
    registry.add(kernel!("below", |x: i32| x < ITERATIONS - 1));
    registry.add(kernel!("below_later", |x: i32| Deferred::new(move |_| x < ITERATIONS - 1)));
    registry.add(kernel!("below_thousands", |x: i32| x < fewer(4_000) as i32));
    registry.add(kernel!("always", |_: i32| true));
    registry.add(kernel!("next", |x: i32| x + 1));
    registry.add(kernel!("copy", |x: i32| x));
    registry.add(kernel!("take_off", |x: i32, cx: &ExecContext| {
        let flight = Flight::of(cx);
        let now = flight.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        flight.most.fetch_max(now, Ordering::Relaxed);
        let mut waiting = flight.waiting.lock().unwrap();
        waiting.started += 1;
        let started = waiting.started;
        let released: Vec<_> = waiting.held.extract_if(.., |(until, _, _)| *until <= started).collect();
        drop(waiting);
        released.into_iter().for_each(|(_, x, promise)| promise.set(Value::I32(x)));
        x
    }));
    // Iteration x does not end before the maximum number of iterations are in flight with it.
    registry.add(kernel!("fly", |x: i32, cx: &ExecContext| {
        let flight = Flight::of(cx);
        let (promise, value) = Async::<i32>::pending();
        let until = (x + flight.bound.load(Ordering::Relaxed)).min(ITERATIONS);
        let mut waiting = flight.waiting.lock().unwrap();
        if waiting.started < until {
            waiting.held.push((until, x, promise));
        } else {
            drop(waiting);
            promise.set(Value::I32(x));
        }
        value
    }));
    // Random duration: as many tasks as the hash of the number says.
    registry.add(kernel!("wander", |x: i32, cx: &ExecContext| {
        fn hop(left: u32, x: i32, promise: Promise, queue: Queue) {
            if left == 0 {
                return promise.set(Value::I32(x));
            }
            let next = queue.clone();
            queue.add_task(Task::new(move || hop(left - 1, x, promise, next)));
        }
        let (promise, value) = Async::<i32>::pending();
        hop((x as u32).wrapping_mul(2_654_435_761) >> 28, x, promise, cx.queue().clone());
        value
    }));
    registry.add(kernel!("land", |x: i32, cx: &ExecContext| {
        Flight::of(cx).in_flight.fetch_sub(1, Ordering::Relaxed);
        x
    }));
    registry.add(kernel!("fail_at_fifty", |x: i32| match x {
        50 => Err(KernelError::invalid("fifty")),
        x => Ok(x),
    }));
    registry.add(kernel!("late", || Late));
    registry.add(kernel!("renew", |_: &Late| Deferred::new(move |_| {
        let alive = live_objects().into_iter().find(|(name, _)| *name == "!test.late");
        MOST.fetch_max(alive.map_or(0, |(_, n)| n), Ordering::Relaxed);
        Late
    })));
}

fn load(source: Source, results: &[u32]) -> Arc<Program> {
    let registry = Registry::new().with(kernels).with(more);
    Program::from_bytes(&source.bytes(results), &registry).unwrap()
}

/// A loop on the operands after the first one, which is the condition. Returns its results.
fn while_loop(
    source: &mut Source,
    operands: Operands<'_>,
    types: &[&str],
    body: FunctionId,
    in_flight: i32,
) -> u32 {
    let ty = source.writer.ty("i64");
    let attr = source.writer.attr_int(ty, Some(DType::I64), i64::from(in_flight));
    source.push(0, "while", operands, types, &[body], &[attr])
}

/// Results of `main` for 0, and the record of its iterations.
fn fly(spec: &str, program: &Arc<Program>, bound: i32) -> (Vec<String>, Arc<Flight>) {
    let context = ExecContext::new(Arc::new(Request::new(from_spec(spec).unwrap())));
    let flight = Flight::of(&context);
    flight.bound.store(bound, Ordering::Relaxed);
    let main = FunctionId(program.image().n_functions() - 1);
    let results = call(program, main, vec![Value::I32(0)], &context).unwrap();
    let results = results.iter().map(|value| match value.error() {
        Some(error) => error.to_string(),
        None => value.to_string(),
    });
    (results.collect(), flight)
}

#[test]
fn the_number_in_flight_reaches_the_bound_and_never_exceeds_it() {
    for bound in BOUNDS {
        for condition in ["below", "below_later"] {
            let mut source = Source::new();
            let off = source.kernel("take_off", &[0]);
            let flown = source.kernel("fly", &[off]);
            let wandered = source.kernel("wander", &[flown]);
            source.kernel("land", &[wandered]);
            let next = source.kernel("next", &[0]);
            let again = source.on_stream(0, condition, &[(0, Required)], &["i1"], &[]);
            let body = source.next("outer", &[next, again]);
            let yes = source.on_stream(0, "always", &[(0, Required)], &["i1"], &[]);
            let last = while_loop(&mut source, &[(yes, Required), (0, Required)], &["i32"], body, bound);
            let program = load(source, &[last]);
            for spec in SPECS {
                let (results, flight) = fly(spec, &program, bound);
                assert_eq!(results, ["100"], "{spec} {bound}");
                assert_eq!(flight.most.load(Ordering::Relaxed), bound, "{spec} {condition}");
                assert_eq!(flight.in_flight.load(Ordering::Relaxed), 0, "an iteration was not waited for");
                assert_eq!(flight.waiting.lock().unwrap().started, ITERATIONS);
            }
        }
    }
}

/// Iterations of random duration: sums in the order of iterations, of late values; errors of values, and of
/// the condition.
#[test]
fn results_and_errors_are_those_of_the_serial_order() {
    for (value, condition, want) in [
        ("next", "below", ["100", "5050"]),
        ("next", "below_later", ["100", "5050"]),
        ("fail_at_fifty", "below", ["100", "t:3:1: fifty"]),
        ("next", "fails", ["t:6:1: fifty", "t:6:1: fifty"]),
    ] {
        for bound in BOUNDS {
            let mut source = Source::new();
            source.main.arg(source.int, StringId(0), None);
            let next = source.kernel("next", &[0]);
            let wandered = source.kernel("wander", &[0]);
            let value = source.kernel(value, &[wandered]);
            let value = if value == wandered { value } else { source.kernel("wander", &[value]) };
            let sum = source.kernel("add", &[value, 1]);
            let tested = source.kernel(if condition == "fails" { "fail_at_fifty" } else { "copy" }, &[0]);
            let condition = if condition == "fails" { "below" } else { condition };
            let again = source.on_stream(0, condition, &[(tested, Required)], &["i1"], &[]);
            let body = source.next("outer", &[next, sum, again]);
            let yes = source.on_stream(0, "always", &[(0, Required)], &["i1"], &[]);
            let operands = [(yes, Required), (0, Required), (0, Required)];
            let first = while_loop(&mut source, &operands, &["i32", "i32"], body, bound);
            let program = load(source, &[first, first + 1]);
            for spec in SPECS {
                let (results, _) = fly(spec, &program, bound);
                assert_eq!(results, want, "{spec} {bound}");
            }
        }
    }
}

/// Order within an iteration's frame stays within it: the loop is complete when all iterations are, although
/// its results are final before.
#[test]
fn a_loop_is_complete_when_all_of_its_iterations_are() {
    for bound in BOUNDS {
        let mut source = Source::new();
        let late = source.kernel("wander", &[0]);
        source.kernel("note", &[late]);
        let next = source.kernel("next", &[0]);
        let again = source.on_stream(0, "below", &[(0, Required)], &["i1"], &[]);
        let body = source.next("outer", &[next, again]);
        let yes = source.on_stream(0, "always", &[(0, Required)], &["i1"], &[]);
        let last = while_loop(&mut source, &[(yes, Required), (0, Required)], &["i32"], body, bound);
        let thousand = source.kernel("minus_one", &[]);
        let after = source.on_stream(0, "note", &[(thousand, Required), (last, After)], &["i32"], &[]);
        let program = load(source, &[last, after]);
        for spec in SPECS {
            let (results, printed) =
                run_on(from_spec(spec).unwrap(), &program, Value::I32(0), Limits::default());
            assert_eq!(results, ["100", "-1"], "{spec} {bound}");
            let mut printed: Vec<i32> = printed.split(' ').map(|n| n.parse().unwrap()).collect();
            assert_eq!(printed.pop(), Some(-1), "{spec} {bound}");
            printed.sort_unstable();
            assert_eq!(printed, (0..ITERATIONS).collect::<Vec<_>>(), "{spec} {bound}");
        }
    }
}

/// A value that is not final passes through all iterations, and the values computed from it are late in each.
/// The loop starts without waiting for it.
#[test]
fn iterations_start_on_what_there_is() {
    for bound in BOUNDS {
        let mut source = Source::new();
        source.main.arg(source.int, StringId(0), None);
        let noted = source.kernel("note", &[0]);
        let next = source.kernel("next", &[noted]);
        let again = source.on_stream(0, "below", &[(0, Required)], &["i1"], &[]);
        let body = source.next("outer", &[next, 1, again]);
        let (zero, yes) = (source.kernel("zero", &[]), source.on_stream(0, "true", &[], &["i1"], &[]));
        let operands = [(yes, Required), (zero, Required), (0, Lenient)];
        let first = while_loop(&mut source, &operands, &["i32", "i32"], body, bound);
        let last = source.kernel("note", &[first + 1]);
        let program = load(source, &[first, last]);
        for spec in SPECS {
            let queue = from_spec(spec).unwrap();
            let (promise, late) = AsyncRef::pending();
            // When the loop has ended, and not before: nothing waits for the value in between.
            let sink = Arc::new(Sink::default());
            let request = Request { output: sink.clone(), ..Request::new(queue.clone()) };
            let context = ExecContext::new(Arc::new(request));
            let seen = sink.clone();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    while !seen.0.lock().unwrap().contains("99 ") {
                        std::thread::yield_now();
                    }
                    promise.set(Value::I32(-1));
                });
                let main = FunctionId(program.image().n_functions() - 1);
                let results = call(&program, main, vec![Value::Async(late)], &context).unwrap();
                assert_eq!(results[0].to_string(), "100", "{spec} {bound}");
                assert_eq!(results[1].to_string(), "-1", "{spec} {bound}");
            });
            assert!(sink.0.lock().unwrap().ends_with("98 99 -1 "), "{spec} {bound}");
        }
    }
}

#[test]
fn a_branch_starts_on_what_there_is_when_its_condition_comes() {
    for name in ["if", "case", "call"] {
        let mut source = Source::new();
        source.main.arg(source.int, StringId(0), None);
        let noted = source.kernel("note", &[0]);
        let sum = source.kernel("add", &[noted, 1]);
        let branch = source.next("outer", &[sum]);
        let one = source.kernel("one", &[]);
        let late = match name {
            "case" => source.kernel("later", &[one]),
            _ => {
                let late = source.kernel("later", &[one]);
                source.kernel("is_one", &[late])
            }
        };
        let operands: Vec<_> =
            [(late, Required), (one, Lenient), (0, Lenient)][usize::from(name == "call")..].to_vec();
        let functions = &[branch, branch][usize::from(name == "call")..];
        let chosen = source.push(0, name, &operands, &["i32"], functions, &[]);
        let program = load(source, &[chosen]);
        for spec in SPECS {
            let sink = Arc::new(Sink::default());
            let request = Request { output: sink.clone(), ..Request::new(from_spec(spec).unwrap()) };
            let context = ExecContext::new(Arc::new(request));
            let (promise, late) = AsyncRef::pending();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    while sink.0.lock().unwrap().is_empty() {
                        std::thread::yield_now();
                    }
                    promise.set(Value::I32(41));
                });
                let main = FunctionId(program.image().n_functions() - 1);
                let results = call(&program, main, vec![Value::Async(late)], &context).unwrap();
                assert_eq!(results[0].to_string(), "42", "{spec} {name}");
            });
        }
    }
}

#[test]
fn a_cancellation_ends_it() {
    for bound in BOUNDS {
        for late in ["later", "wander", "promised"] {
            let mut source = Source::new();
            let value = source.kernel(late, &[0]);
            let again = source.on_stream(0, "always", &[(0, Required)], &["i1"], &[]);
            let body = source.next("outer", &[value, again]);
            let yes = source.on_stream(0, "always", &[(0, Required)], &["i1"], &[]);
            let last = while_loop(&mut source, &[(yes, Required), (0, Required)], &["i32"], body, bound);
            let program = load(source, &[last]);
            for spec in SPECS {
                let deadline = Instant::now() + Duration::from_millis(5);
                let cancellation = Cancellation::with_deadline(deadline);
                let request = Request { cancellation, ..Request::new(from_spec(spec).unwrap()) };
                let context = ExecContext::new(Arc::new(request));
                let main = FunctionId(program.image().n_functions() - 1);
                let results = call(&program, main, vec![Value::I32(1)], &context).unwrap();
                let code = results[0].error().map(|error| error.code());
                assert_eq!(code, Some(ErrorCode::DeadlineExceeded), "{spec} {late} {bound}");
            }
        }
    }
}

#[test]
fn memory_does_not_grow_with_iterations() {
    let object = "!test.late";
    for bound in BOUNDS {
        let mut source = Source::new();
        let ty = source.writer.ty(object);
        source.main.arg(ty, StringId(0), None);
        let next = source.kernel("next", &[0]);
        let again = source.on_stream(0, "below_thousands", &[(0, Required)], &["i1"], &[]);
        let renewed = source.on_stream(0, "renew", &[(1, Required)], &[object], &[]);
        let body = source.next("outer", &[next, renewed, again]);
        let yes = source.on_stream(0, "always", &[(0, Required)], &["i1"], &[]);
        let first = source.on_stream(0, "late", &[], &[object], &[]);
        let operands = [(yes, Required), (0, Required), (first, Required)];
        let last = while_loop(&mut source, &operands, &["i32", object], body, bound);
        let program = load(source, &[last, last + 1]);
        for spec in SPECS {
            let (results, _) = run_on(from_spec(spec).unwrap(), &program, Value::I32(0), Limits::default());
            let end = (fewer(4000) + 1).to_string();
            assert_eq!(results, [end.as_str(), "late"], "{spec} {bound}");
            assert!(MOST.load(Ordering::Relaxed) < 100, "{spec} {bound}");
        }
    }
}

#[test]
fn a_limit_is_an_error_and_what_has_started_ends() {
    for bound in [2, 8] {
        let mut source = Source::new();
        let mut sum = source.kernel("wander", &[0]);
        for _ in 0..100 {
            sum = source.kernel("add", &[sum, 0]);
        }
        let again = source.on_stream(0, "always", &[(0, Required)], &["i1"], &[]);
        let body = source.next("outer", &[0, again]);
        let yes = source.on_stream(0, "always", &[(0, Required)], &["i1"], &[]);
        let last = while_loop(&mut source, &[(yes, Required), (0, Required)], &["i32"], body, bound);
        let program = load(source, &[last]);
        for spec in SPECS {
            for limits in
                [Limits { depth: 1, ..Limits::default() }, Limits { values: 150, ..Limits::default() }]
            {
                let (results, _) = run_on(from_spec(spec).unwrap(), &program, Value::I32(9), limits);
                assert!(results[0].contains("calls nest too deeply"), "{spec} {bound} {results:?}");
            }
        }
    }
}
