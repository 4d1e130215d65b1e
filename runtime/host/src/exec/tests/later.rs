//! Kernels with late results: tasks, blocking threads, futures; and kernels that call functions themselves.

use super::*;
use crate::queue::from_spec;
use befrost_kernel_api::context::{Cancellation, Resources};
use befrost_kernel_api::object::Object;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const SPECS: [&str; 6] = ["s", "seeded:1", "seeded:2", "mstd:1", "mstd:2", "mstd:4,1"];

/// A future that is ready at the second poll, and not before it was woken.
#[derive(Default)]
struct Twice(bool);

impl Future for Twice {
    type Output = ();
    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return std::task::Poll::Ready(());
        }
        let waker = cx.waker().clone();
        std::thread::spawn(move || waker.wake());
        std::task::Poll::Pending
    }
}

static INNER: OnceLock<Arc<Program>> = OnceLock::new();

fn more(registry: &mut Registry) {
    registry.add(kernel!("blocking", |x: i32| Deferred::blocking(move |_| {
        std::thread::sleep(Duration::from_millis(1));
        x + 1
    })));
    registry.add(kernel!("blocking_now", |x: i32| Deferred::blocking_now(move |_| x)));
    registry.add(kernel!("future", |x: i32| Deferred::future(async move {
        Twice::default().await;
        Twice::default().await;
        x + 1
    })));
    registry.add(kernel!("forever", |x: i32| Deferred::future(async move {
        std::future::pending::<()>().await;
        x
    })));
    registry.add(kernel!("waits_in_step_0", |x: i32, cx: &ExecContext| {
        let waits = cx.request.step == 0;
        Deferred::future(async move {
            if waits {
                std::future::pending::<()>().await;
            }
            x
        })
    }));
    registry.add(kernel!("polls", |_: i32| Deferred::blocking(
        |cx: &ExecContext| -> Result<i32, KernelError> {
            while !cx.request.cancellation.is_cancelled() {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(KernelError::new(ErrorCode::Cancelled, "stopped"))
        }
    )));
    registry.add(kernel!("fail_later", |x: i32| {
        Deferred::new(move |_| Err::<i32, _>(KernelError::invalid(format!("fail {x}"))))
    }));
    registry.add(kernel!("fail_future", |x: i32| {
        Deferred::future(async move {
            Twice::default().await;
            Err::<i32, _>(KernelError::invalid(format!("fail {x}")))
        })
    }));
    registry.add(kernel!("note_later", |x: i32| Deferred::new(move |cx: &ExecContext| {
        cx.print(&format!("l{x} ")).map(|()| x)
    })));
    registry.add(kernel!("add_task", |x: i32, cx: &ExecContext| {
        let output = cx.request.output.clone();
        cx.queue()
            .add_task(befrost_kernel_api::queue::Task::new(move || _ = output.write(&format!("t{x} "))));
        x
    }));
    registry.add(kernel!("promise_and_print", |x: i32, cx: &ExecContext| {
        let (promise, result) = Async::<i32>::pending();
        let output = cx.request.output.clone();
        cx.queue().add_task(befrost_kernel_api::queue::Task::new(move || {
            promise.set(Value::I32(x));
            _ = output.write("set ");
        }));
        result
    }));
    registry.add(kernel!("two_later", |x: i32| Deferred::new(move |_| (x, x + 1))));
    registry.add(kernel!("inner", |x: i32, cx: &ExecContext| -> Result<i32, KernelError> {
        let program = INNER.get().expect("set by the test");
        let results = call(program, FunctionId(0), vec![Value::I32(x)], cx)?;
        match results.first() {
            Some(Value::I32(x)) => Ok(*x),
            other => Err(KernelError::invalid(format!("{other:?}"))),
        }
    }));
    registry.add(kernel!("sum_to", |n: i32, cx: &ExecContext| {
        let sum = std::sync::atomic::AtomicI32::new(0);
        let body = |range: std::ops::Range<usize>| {
            range.for_each(|i| _ = sum.fetch_add(i as i32, std::sync::atomic::Ordering::Relaxed));
            Ok(())
        };
        cx.parallel_for(n as usize, 1, &body).map(|()| sum.into_inner())
    }));
}

fn load(source: Source, results: &[u32]) -> Arc<Program> {
    let registry = Registry::new().with(kernels).with(bad_kernels).with(more);
    Program::from_bytes(&source.bytes(results), &registry).unwrap()
}

fn check(source: Source, results: &[u32], argument: i32, want: &[&str]) {
    let program = load(source, results);
    for spec in SPECS {
        let queue = from_spec(spec).unwrap();
        let (got, _) = run_on(queue, &program, Value::I32(argument), Limits::default());
        assert_eq!(got, want, "{spec}");
    }
}

#[test]
fn results_come_from_tasks_threads_and_futures() {
    let mut source = Source::new();
    let mut all = vec![0];
    for _ in 0..3 {
        for name in ["later", "blocking", "future", "promised"] {
            all.push(source.kernel(name, &[all[all.len() - 1]]));
        }
    }
    let last = all[all.len() - 1];
    check(source, &[last, 0], 10, &["16", "10"]);
    let mut source = Source::new();
    let first = source.on_stream(0, "two_later", &[(0, Required)], &["i32", "i32"], &[]);
    let sum = source.kernel("add", &[first, first + 1]);
    check(source, &[sum], 10, &["21"]);
}

/// A deferred part that runs without a task is one that would run next anyway.
#[test]
fn tasks_come_in_order_whether_they_are_queued_or_done_at_once() {
    let printed = |source: Source, last: u32| {
        let program = load(source, &[last]);
        let (_, output) = run_on(from_spec("s").unwrap(), &program, Value::I32(1), Limits::default());
        output
    };
    // The last kernel is ready first. Its task comes first, then those of the others, each with the kernels
    // that it makes ready.
    let mut source = Source::new();
    let numbers: Vec<u32> = ["zero", "one", "ten"].iter().map(|name| source.kernel(name, &[])).collect();
    let later: Vec<u32> = numbers.iter().map(|&x| source.kernel("note_later", &[x])).collect();
    let notes: Vec<u32> = later.iter().map(|&x| source.kernel("note", &[x])).collect();
    assert_eq!(printed(source, notes[0]), "l10 10 l1 1 l0 0");
    // A task added by another kernel comes after the one of the kernel that ran before it.
    let mut source = Source::new();
    let second = source.kernel("one", &[]);
    let first = source.kernel("ten", &[]);
    let later = source.kernel("note_later", &[first]);
    let task = source.kernel("add_task", &[second]);
    let mut last = later;
    for _ in 0..100 {
        last = source.kernel("later", &[last]);
    }
    let end = source.kernel("note", &[last]);
    let sum = source.kernel("add", &[end, task]);
    assert_eq!(printed(source, sum), "l10 t1 10");
    // A kernel that sets a promise continues before the next task, whatever becomes ready.
    let mut source = Source::new();
    let promised = source.kernel("promise_and_print", &[0]);
    let later = source.kernel("note_later", &[0]);
    let note = source.kernel("note", &[promised]);
    let sum = source.kernel("add", &[note, later]);
    assert_eq!(printed(source, sum), "1 set l1");
    // Tasks of one frame, in a row, with the kernels that they make ready, whatever their streams.
    for n_streams in [1, 40] {
        let mut source = Source::new();
        let operands = [(0, Required)];
        let mut note = |i: u32| source.on_stream(i % n_streams, "note_later", &operands, &["i32"], &[]);
        let later: Vec<u32> = (0..40).map(&mut note).collect();
        let again = source.kernel("note_later", &[later[0]]);
        let end = source.kernel("note", &[later[39]]);
        let sum = source.kernel("add", &[again, end]);
        assert_eq!(printed(source, sum), format!("{}1 l1", "l1 ".repeat(40)));
    }
}

#[test]
fn late_failures_have_locations() {
    let mut source = Source::new();
    let failed = source.kernel("fail_later", &[0]);
    let after = source.kernel("later", &[failed]);
    let panicked = source.kernel("panic_later", &[0]);
    let future = source.kernel("fail_future", &[0]);
    let fine = source.kernel("later", &[0]);
    let want = ["t:1:1: fail 1", "t:3:1: a kernel panicked: panic 1", "t:4:1: fail 1", "1"];
    check(source, &[after, panicked, future, fine], 1, &want);
}

#[test]
fn a_thread_that_is_not_there_is_an_error() {
    let mut source = Source::new();
    let mut last = 0;
    for _ in 0..1000 {
        // Each is refused, and so are those that do not depend on it.
        last = source.kernel("blocking_now", &[0]);
    }
    let program = load(source, &[last]);
    let (got, _) = run_on(from_spec("s").unwrap(), &program, Value::I32(1), Limits::default());
    assert_eq!(got, ["t:1000:1: there is no thread to run it: too many tasks block"]);
}

#[test]
fn a_cancellation_reaches_what_waits() {
    for name in ["forever", "polls"] {
        let mut source = Source::new();
        let waits = source.kernel(name, &[0]);
        let after = source.kernel("later", &[waits]);
        let program = load(source, &[waits, after]);
        for spec in SPECS {
            // On `s`, a blocking kernel occupies the thread, but the deadline's timer has a thread of its
            // own.
            let deadline = Instant::now() + Duration::from_millis(20);
            let cancellation = Cancellation::with_deadline(deadline);
            let request = Request { cancellation, ..Request::new(from_spec(spec).unwrap()) };
            let context = ExecContext::new(Arc::new(request));
            let results = call(&program, FunctionId(0), vec![Value::I32(1)], &context).unwrap();
            assert!(results.iter().all(|value| value.error().is_some()), "{spec} {name}: {results:?}");
        }
    }
}

#[test]
fn long_chains_of_tasks_are_flat_and_give_back_what_they_took() {
    let mut source = Source::new();
    let mut last = 0;
    for _ in 0..fewer(20_000) {
        last = source.kernel("later", &[last]);
    }
    check(source, &[last], 7, &["7"]);
}

#[test]
fn a_kernel_may_call_and_wait_on_the_only_worker() {
    let mut source = Source::new();
    let first = source.kernel("later", &[0]);
    let second = source.kernel("blocking", &[first]);
    INNER.set(load(source, &[second])).expect("set once");
    let mut source = Source::new();
    let sums: Vec<u32> = (0..20)
        .map(|i| {
            let late = source.kernel("later", &[0]);
            let inner = source.on_stream(i, "inner", &[(late, Required)], &["i32"], &[]);
            source.kernel("sum_to", &[inner])
        })
        .collect();
    let mut sum = sums[0];
    for &next in &sums[1..] {
        sum = source.kernel("add", &[sum, next]);
    }
    // 99 + 1 = 100 numbers from 0 on, twenty times.
    check(source, &[sum], 99, &["99000"]);
}

#[test]
fn many_calls_from_many_threads_lose_and_leak_nothing() {
    let mut source = Source::new();
    let a = source.kernel("later", &[0]);
    let b = source.kernel("promised", &[0]);
    let c = source.kernel("add", &[a, b]);
    let program = load(source, &[c]);
    for spec in ["s", "mstd:2"] {
        let queue = from_spec(spec).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (queue, program) = (&queue, &program);
                scope.spawn(move || {
                    for i in 0..500 {
                        let (got, _) =
                            run_on(queue.clone(), program, Value::I32(thread * 1000 + i), Limits::default());
                        assert_eq!(got, [(2 * (thread * 1000 + i)).to_string()]);
                    }
                });
            }
        });
        queue.quiesce();
    }
    assert_eq!(Arc::strong_count(&program), 1);
}

/// A function that is called once is called again if the call was cancelled, before it began or while it ran.
#[test]
fn a_cancelled_call_is_no_result_of_a_function_that_is_called_once() {
    for waits in [false, true] {
        let mut source = Source::new();
        let x = source.kernel(if waits { "waits_in_step_0" } else { "later" }, &[0]);
        let function = source.next("cancelling", &[x]);
        let once = source.control("once", &[0], 1, &[function]);
        let cancelled = source.kernel("cancel", &[0]);
        let cancelling = source.next("waiting", &[once, cancelled]);
        let waiting = source.control("once", &[0], 1, &[function]);
        let asking = source.next("unused", &[waiting]);
        let program = load(source, &[0]);
        for spec in SPECS {
            let resources = Resources::default();
            let request = |step, cancellation| {
                let (queue, resources) = (from_spec(spec).unwrap(), resources.clone());
                let request = Request { step, cancellation, resources, ..Request::new(queue) };
                ExecContext::new(Arc::new(request))
            };
            let cancellation = Cancellation::default();
            let context = request(0, cancellation.clone());
            let results = match waits {
                true => {
                    let (program, context) = (program.clone(), context);
                    let asks = std::thread::spawn(move || {
                        call(&program, asking, vec![Value::I32(3)], &context).unwrap()
                    });
                    std::thread::sleep(Duration::from_millis(5));
                    cancellation.cancel();
                    asks.join().unwrap()
                }
                false => call(&program, cancelling, vec![Value::I32(3)], &context).unwrap(),
            };
            // Without a wait the call may have ended before the cancellation.
            let code = results[0].error().map(|error| error.code());
            assert!(code == Some(ErrorCode::Cancelled) || !waits && code.is_none(), "{spec} {results:?}");
            let context = request(1, Cancellation::default());
            let results = call(&program, asking, vec![Value::I32(3)], &context).unwrap();
            assert_eq!(results[0].to_string(), "3", "{spec} {waits}");
        }
    }
}

/// The payload of a panic may panic when it is dropped: no worker or caller is lost.
#[test]
fn payloads_of_panics_that_panic_are_errors_too() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            std::panic::panic_any(1);
        }
    }
    let more = |registry: &mut Registry| {
        registry.add(kernel!("explode", |_: i32| -> i32 { std::panic::panic_any(Payload) }));
        registry.add(kernel!("explode_later", |_: i32| Deferred::new(|_| -> i32 {
            std::panic::panic_any(Payload)
        })));
        registry.add(kernel!("explode_everywhere", |x: i32, cx: &ExecContext| {
            let body = |_: std::ops::Range<usize>| std::panic::panic_any(Payload);
            cx.parallel_for(20, 1, &body).map(|()| x)
        }));
    };
    for name in ["explode", "explode_later", "explode_everywhere"] {
        let mut source = Source::new();
        let results = [source.kernel(name, &[0]), source.kernel("note", &[0])];
        let registry = Registry::new().with(kernels).with(more);
        let program = Program::from_bytes(&source.bytes(&results), &registry).unwrap();
        for spec in SPECS {
            let (results, _) = run_on(from_spec(spec).unwrap(), &program, Value::I32(1), Limits::default());
            assert_eq!(results, ["t:1:1: a kernel panicked: (no message)", "1"], "{spec} {name}");
        }
    }
}

/// Values and closures of kernels may panic when they are dropped: no caller waits for ever.
#[test]
fn destructors_that_panic_end_nothing_else() {
    #[derive(Debug)]
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            std::panic::panic_any("a destructor panics");
        }
    }
    impl Object for Loud {
        const TYPES: &'static [&'static str] = &["!test.loud"];
        fn display(&self) -> String {
            "loud".to_owned()
        }
    }
    let more = |registry: &mut Registry| {
        registry.add(kernel!("loud", |_: i32| Loud));
        registry.add(kernel!("listen", |_: &Loud, x: i32| x));
        registry.add(kernel!("loud_later", |x: i32, cx: &ExecContext| {
            let loud = Loud;
            cx.request.cancellation.cancel();
            Deferred::new(move |_| {
                std::mem::forget(loud);
                x
            })
        }));
    };
    for is_cancelled in [false, true] {
        let mut source = Source::new();
        let loud = source.on_stream(0, "loud", &[(0, Required)], &["!test.loud"], &[]);
        source.on_stream(0, "loud", &[(0, Required)], &["!test.loud"], &[]);
        let later = source.kernel(if is_cancelled { "loud_later" } else { "later" }, &[0]);
        let operands = [(loud, Required), (later, Required)];
        let result = source.on_stream(0, "listen", &operands, &["i32"], &[]);
        let registry = Registry::new().with(kernels).with(more);
        let program = Program::from_bytes(&source.bytes(&[result]), &registry).unwrap();
        for spec in SPECS {
            let (results, _) = run_on(from_spec(spec).unwrap(), &program, Value::I32(1), Limits::default());
            assert_eq!(results, [if is_cancelled { "Cancelled" } else { "1" }], "{spec}");
        }
    }
}
