//! The rows for small kernels of `performance.md`: the executor's cost per kernel, next to an uncontended
//! atomic decrement.
//!
//! `cargo bench -p befrost-kernels --bench exec`. The items are kernels (or calls, or decrements), so divan's
//! throughput column is items per second: 100 Mitem/s are 10 ns each. `cargo run -p xtask -- instructions`
//! counts the instructions of the same rows.

#[path = "../../host/benches/common/calibration.rs"]
mod calibration;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use bef_format::{AttrId, DType, FunctionId, FunctionKind};
use befrost_host::{PreparedCall, Program, call, call_into, queue};
use befrost_kernel_api::error::{ErrorCode, KernelError};
use befrost_kernel_api::kernel::{Async, Deferred};
use befrost_kernel_api::queue::timers::Timer;
use befrost_kernel_api::{ExecContext, Registry, Request, Value, kernel};
use divan::Bencher;
use divan::counter::ItemsCount;

const N: u32 = 10_000;

fn main() {
    // Skipped if only some rows are selected.
    if std::env::args().skip(1).all(|argument| argument.starts_with('-')) {
        peak_memory();
    }
    divan::main();
}

/// Prints the peak memory of fib(25) in a fresh process; goal 10 MB, TFRT 52 MB.
fn peak_memory() {
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(|text| text.trim().to_owned())
    };
    let before = peak();
    let program = fib_of_25();
    let main = program.find("main").expect("there is a main");
    let result = call(&program, main, vec![Value::I32(1)], &context("s"));
    assert_eq!(result.expect("it fits")[0].to_string(), "75025");
    if let (Some(before), Some(after)) = (before, peak()) {
        println!("peak memory of the process: {after} with recursive fib of 25, {before} before");
    }
}

/// A program under construction whose function `main` takes one i32.
struct Source {
    writer: Writer,
    main: FunctionBuilder,
}

impl Source {
    fn new() -> Source {
        let mut writer = Writer::new();
        let name = writer.string("main");
        let (i32_type, unnamed) = (writer.ty("i32"), writer.string(""));
        let mut main = FunctionBuilder::new(name, FunctionKind::Async);
        main.arg(i32_type, unnamed, None);
        Source { writer, main }
    }

    fn kernel(&mut self, name: &str, operands: &[u32], functions: &[FunctionId]) -> u32 {
        self.on_stream(0, name, operands, functions)
    }

    fn on_stream(&mut self, stream: u32, name: &str, operands: &[u32], functions: &[FunctionId]) -> u32 {
        let code = self.writer.kernel_name(name);
        let results = [self.writer.ty("i32")];
        self.main.kernel(&KernelSpec {
            code,
            operands,
            functions,
            stream,
            results: &results,
            ..KernelSpec::default()
        })
    }

    fn any_kernel(&mut self, name: &str, operands: &[u32], results: &[&str], extra: Extra<'_>) -> u32 {
        let code = self.writer.kernel_name(name);
        let results: Vec<_> = results.iter().map(|ty| self.writer.ty(ty)).collect();
        let Extra { functions, attrs } = extra;
        let spec =
            KernelSpec { code, operands, functions, attrs, results: &results, ..KernelSpec::default() };
        self.main.kernel(&spec)
    }

    fn load(mut self, result: u32) -> Arc<Program> {
        let unnamed = self.writer.string("");
        self.main.result(result, unnamed);
        self.writer.add(self.main);
        let bytes = self.writer.finish().expect("the program fits");
        let registry = befrost_kernels::registry().with(kernels);
        Program::from_bytes(&bytes, &registry).expect("the program is valid")
    }
}

/// Functions and attributes of a kernel.
#[derive(Default)]
struct Extra<'e> {
    functions: &'e [FunctionId],
    attrs: &'e [AttrId],
}

/// A function under construction that `main` calls.
struct Callee {
    id: FunctionId,
    builder: FunctionBuilder,
}

impl Callee {
    fn new(writer: &mut Writer, name: &str, arguments: &[&str]) -> Callee {
        let (name, unnamed) = (writer.string(name), writer.string(""));
        let mut builder = FunctionBuilder::new(name, FunctionKind::Async);
        for ty in arguments {
            builder.arg(writer.ty(ty), unnamed, None);
        }
        Callee { id: writer.declare(), builder }
    }

    fn kernel(
        &mut self,
        writer: &mut Writer,
        name: &str,
        operands: &[u32],
        results: &[&str],
        extra: Extra<'_>,
    ) -> u32 {
        let code = writer.kernel_name(name);
        let results: Vec<_> = results.iter().map(|ty| writer.ty(ty)).collect();
        let Extra { functions, attrs } = extra;
        let spec =
            KernelSpec { code, operands, functions, attrs, results: &results, ..KernelSpec::default() };
        self.builder.kernel(&spec)
    }

    fn constant(&mut self, writer: &mut Writer, value: i32) -> u32 {
        let attr = int(writer, DType::I32, value);
        self.kernel(writer, "tfrt.constant.i32", &[], &["i32"], Extra { attrs: &[attr], ..Extra::default() })
    }

    fn end(mut self, writer: &mut Writer, results: &[u32]) -> FunctionId {
        let unnamed = writer.string("");
        for &register in results {
            self.builder.result(register, unnamed);
        }
        writer.define(self.id, self.builder);
        self.id
    }
}

/// An integer as an attribute.
fn int(writer: &mut Writer, dtype: DType, value: i32) -> AttrId {
    let ty = writer.ty(if dtype == DType::I64 { "i64" } else { "i32" });
    writer.attr_int(ty, Some(dtype), i64::from(value))
}

fn context(spec: &str) -> ExecContext {
    let queue = queue::from_spec(spec).expect("the queue exists");
    ExecContext::new(Arc::new(Request::new(queue)))
}

/// Runs `main(1)` repeatedly on the queue `spec`.
fn bench(bencher: Bencher, spec: &str, items: u32, program: Arc<Program>) {
    let context = context(spec);
    let main = program.find("main").expect("there is a main");
    bencher
        .counter(ItemsCount::new(items))
        .bench(|| call(&program, main, vec![Value::I32(divan::black_box(1))], &context));
}

/// TFRT 30 ns, goal 6.
#[divan::bench(args = ["s", "mstd:2"])]
fn chain_of_adds(bencher: Bencher, spec: &str) {
    let mut source = Source::new();
    let mut last = 0;
    for _ in 0..N {
        last = source.kernel("tfrt.add.i32", &[last, 0], &[]);
    }
    bench(bencher, spec, N, source.load(last));
}

/// TFRT 160 ns, goal 12.
#[divan::bench(args = ["s", "mstd:2"])]
fn independent_adds_and_sum(bencher: Bencher, spec: &str) {
    let mut source = Source::new();
    let adds: Vec<u32> = (0..N).map(|_| source.kernel("tfrt.add.i32", &[0, 0], &[])).collect();
    let sum = source.kernel("tfrt_test.sum", &adds, &[]);
    bench(bencher, spec, N + 1, source.load(sum));
}

/// TFRT 104 ns, goal 12.
#[divan::bench(args = ["s", "mstd:2"])]
fn tree_of_adds(bencher: Bencher, spec: &str) {
    let mut source = Source::new();
    let mut level: Vec<u32> = (0..N / 2).map(|_| source.kernel("tfrt.add.i32", &[0, 0], &[])).collect();
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| source.kernel("tfrt.add.i32", &[pair[0], *pair.last().unwrap_or(&0)], &[]))
            .collect();
    }
    bench(bencher, spec, N, source.load(level[0]));
}

/// TFRT 144 ns on `s`, goal 60.
#[divan::bench(args = ["s", "mstd:2"])]
fn chain_of_asynchronous_adds(bencher: Bencher, spec: &str) {
    let mut source = Source::new();
    let mut last = 0;
    for _ in 0..N {
        last = source.kernel("tfrt_test.async_add.i32", &[last, 0], &[]);
    }
    bench(bencher, spec, N, source.load(last));
}

/// `n` independent kernels and the sum of their results.
fn wide(name: &str, n: u32, stream_of: impl Fn(u32) -> u32) -> Arc<Program> {
    let mut source = Source::new();
    let all: Vec<u32> = (0..n).map(|i| source.on_stream(stream_of(i), name, &[0], &[])).collect();
    let sum = source.kernel("tfrt_test.sum", &all, &[]);
    source.load(sum)
}

/// Goal 100 ns on `s`.
#[divan::bench(args = ["s", "mstd:2"])]
fn independent_asynchronous_copies(bencher: Bencher, spec: &str) {
    bench(bencher, spec, N + 1, wide("tfrt_test.async_copy.i32", N, |_| 0));
}

/// Number of kernels that two workers share.
const WIDE: u32 = 1000;

/// Two microseconds each, in streams of their own; goal: two workers take at most 1/1.7 of the time.
#[divan::bench(args = ["s", "mstd:2"])]
fn independent_streams_of_2_microseconds(bencher: Bencher, spec: &str) {
    bench(bencher, spec, WIDE + 1, wide("bench.work", WIDE, |i| i));
}

/// The same in one stream, with asynchronous kernels that defer their work.
#[divan::bench(args = ["s", "mstd:2"])]
fn independent_asynchronous_kernels_of_2_microseconds(bencher: Bencher, spec: &str) {
    bench(bencher, spec, WIDE + 1, wide("bench.work_later", WIDE, |_| 0));
}

/// One kernel in ten is asynchronous; the others run as straight lines.
#[divan::bench(args = ["s", "mstd:2"])]
fn asynchronous_add_and_nine_others(bencher: Bencher, spec: &str) {
    let mut source = Source::new();
    let mut last = 0;
    for i in 0..N {
        let name = if i % 10 == 0 { "tfrt_test.async_add.i32" } else { "tfrt.add.i32" };
        last = source.kernel(name, &[last, 0], &[]);
    }
    bench(bencher, spec, N, source.load(last));
}

/// TFRT 151 ns per call with its add, goal 20.
#[divan::bench(args = ["s", "mstd:2"])]
fn calls_of_one_add(bencher: Bencher, spec: &str) {
    let mut source = Source::new();
    let mut callee = Callee::new(&mut source.writer, "double", &["i32"]);
    let double = callee.kernel(&mut source.writer, "tfrt.add.i32", &[0, 0], &["i32"], Extra::default());
    let callee = callee.end(&mut source.writer, &[double]);
    let mut last = 0;
    for _ in 0..N {
        last = source.kernel("tfrt.call", &[last], &[callee]);
    }
    bench(bencher, spec, N, source.load(last));
}

/// TFRT 156 ns per iteration, goal 10.
#[divan::bench(args = ["s", "mstd:2"])]
fn repeat_of_one_add(bencher: Bencher, spec: &str) {
    let mut source = Source::new();
    let writer = &mut source.writer;
    let mut body = Callee::new(writer, "body", &["i32"]);
    let sum = body.kernel(writer, "tfrt.add.i32", &[0, 0], &["i32"], Extra::default());
    let body = body.end(writer, &[sum]);
    let times = int(writer, DType::I32, N as i32);
    let times =
        source.any_kernel("tfrt.constant.i32", &[], &["i32"], Extra { attrs: &[times], functions: &[] });
    let last = source.kernel("tfrt.repeat.i32", &[times, 0], &[body]);
    bench(bencher, spec, N, source.load(last));
}

/// TFRT 658 ns per iteration on `s`, goal 15: two adds and a comparison in the body.
#[divan::bench(args = ["s", "mstd:2"])]
fn while_of_three_kernels(bencher: Bencher, spec: &str) {
    let mut source = Source::new();
    let writer = &mut source.writer;
    let mut body = Callee::new(writer, "body", &["i32", "i32", "i32"]);
    let next = body.kernel(writer, "tfrt.add.i32", &[0, 2], &["i32"], Extra::default());
    body.kernel(writer, "tfrt.add.i32", &[0, 0], &["i32"], Extra::default());
    let more = body.kernel(writer, "tfrt.lessequal.i32", &[next, 1], &["i1"], Extra::default());
    let body = body.end(writer, &[next, 1, 2, more]);
    let (n, one) = (int(writer, DType::I64, 1), int(writer, DType::I32, N as i32));
    let limit =
        source.any_kernel("tfrt.constant.i32", &[], &["i32"], Extra { attrs: &[one], functions: &[] });
    let yes = source.any_kernel("tfrt.equal.i32", &[0, 0], &["i1"], Extra::default());
    let last = source.any_kernel(
        "tfrt.while",
        &[yes, 0, limit, 0],
        &["i32", "i32", "i32"],
        Extra { attrs: &[n], functions: &[body] },
    );
    bench(bencher, spec, N, source.load(last));
}

/// A loop whose body takes a millisecond without blocking a thread: two iterations in flight halve the time.
#[divan::bench(args = ["s", "mstd:2"], consts = [1, 2], sample_count = 5, sample_size = 1)]
fn while_of_100_milliseconds<const IN_FLIGHT: i32>(bencher: Bencher, spec: &str) {
    const TIMES: i32 = 100;
    let mut source = Source::new();
    let writer = &mut source.writer;
    let mut body = Callee::new(writer, "body", &["i32", "i32", "i32"]);
    body.kernel(writer, "bench.millisecond", &[0], &["i32"], Extra::default());
    let next = body.kernel(writer, "tfrt.add.i32", &[0, 2], &["i32"], Extra::default());
    let more = body.kernel(writer, "tfrt.lessequal.i32", &[next, 1], &["i1"], Extra::default());
    let body = body.end(writer, &[next, 1, 2, more]);
    let (in_flight, last) = (int(writer, DType::I64, IN_FLIGHT), int(writer, DType::I32, TIMES));
    let limit =
        source.any_kernel("tfrt.constant.i32", &[], &["i32"], Extra { attrs: &[last], functions: &[] });
    let yes = source.any_kernel("tfrt.equal.i32", &[0, 0], &["i1"], Extra::default());
    let last = source.any_kernel(
        "tfrt.while",
        &[yes, 0, limit, 0],
        &["i32", "i32", "i32"],
        Extra { attrs: &[in_flight], functions: &[body] },
    );
    bench(bencher, spec, TIMES as u32, source.load(last));
}

fn kernels(registry: &mut Registry) {
    registry.add(kernel!("bench.millisecond", millisecond));
    registry.add(kernel!("bench.work", |x: i32| work(x)));
    registry.add(kernel!("bench.work_later", |x: i32| Deferred::new(move |_| work(x))));
}

/// Occupies a thread for about two microseconds.
fn work(x: i32) -> i32 {
    (0..1000).fold(x, |x, i| divan::black_box(x.wrapping_mul(3) ^ i))
}

/// Returns its operand after a millisecond.
fn millisecond(x: i32) -> Result<Async<i32>, KernelError> {
    let (promise, result) = Async::pending();
    let timer = Timer::new(Instant::now() + Duration::from_millis(1), move || promise.set(Value::I32(x)));
    timer.map_err(|error| KernelError::new(ErrorCode::Unavailable, error.to_string()))?.detach();
    Ok(result)
}

/// TFRT 283 ns per kernel with 100 users, 308 ns with 10,000; goal 20: all users and a sum read one result.
#[divan::bench(args = ["s", "mstd:2"], consts = [100, N])]
fn star_of_adds<const USERS: u32>(bencher: Bencher, spec: &str) {
    let mut source = Source::new();
    let center = source.kernel("tfrt.add.i32", &[0, 0], &[]);
    let adds: Vec<u32> = (0..USERS).map(|_| source.kernel("tfrt.add.i32", &[center, center], &[])).collect();
    let sum = source.kernel("tfrt_test.sum", &adds, &[]);
    bench(bencher, spec, USERS + 2, source.load(sum));
}

/// TFRT 450 ms on `s` and 97 ms on `mstd:2`, goal 18: 1,456,707 kernels.
#[divan::bench(args = ["s", "mstd:2"], sample_count = 20)]
fn recursive_fib_of_25(bencher: Bencher, spec: &str) {
    // 242,785 calls with three kernels each, 121,392 of them with seven more.
    bench(bencher, spec, 1_578_100, fib_of_25());
}

fn fib_of_25() -> Arc<Program> {
    let mut source = Source::new();
    let writer = &mut source.writer;
    let mut fib = Callee::new(writer, "fib", &["i32"]);
    let base = Callee::new(writer, "base", &["i32"]);
    let mut step = Callee::new(writer, "step", &["i32"]);
    // fib(n) = if n <= 1 then n else fib(n - 1) + fib(n - 2)
    let one = fib.constant(writer, 1);
    let small = fib.kernel(writer, "tfrt.lessequal.i32", &[0, one], &["i1"], Extra::default());
    let branches = [base.id, step.id];
    let result = fib.kernel(
        writer,
        "tfrt.cond",
        &[small, 0],
        &["i32"],
        Extra { functions: &branches, ..Extra::default() },
    );
    let fib_id = [fib.id];
    let calls = || Extra { functions: &fib_id, ..Extra::default() };
    let one = step.constant(writer, 1);
    let before = step.kernel(writer, "tfrt.minus.i32", &[0, one], &["i32"], Extra::default());
    let first = step.kernel(writer, "tfrt.call", &[before], &["i32"], calls());
    let two = step.constant(writer, 2);
    let before = step.kernel(writer, "tfrt.minus.i32", &[0, two], &["i32"], Extra::default());
    let second = step.kernel(writer, "tfrt.call", &[before], &["i32"], calls());
    let sum = step.kernel(writer, "tfrt.add.i32", &[first, second], &["i32"], Extra::default());
    base.end(writer, &[0]);
    step.end(writer, &[sum]);
    let fib = fib.end(writer, &[result]);
    let n = int(writer, DType::I32, 25);
    let n = source.any_kernel("tfrt.constant.i32", &[], &["i32"], Extra { attrs: &[n], functions: &[] });
    let last = source.kernel("tfrt.call", &[n], &[fib]);
    source.load(last)
}

/// TFRT 155 to 329 us for 1,000 blocks on two workers, goal 60: each block calls a function with one kernel.
#[divan::bench(args = ["s", "mstd:2"])]
fn parallel_for_of_1000_blocks(bencher: Bencher, spec: &str) {
    thousand_blocks(bencher, spec, "tfrt.parallel_for.i32");
}

/// The same.
#[divan::bench(args = ["s", "mstd:2"])]
fn parallel_call_of_1000_blocks(bencher: Bencher, spec: &str) {
    thousand_blocks(bencher, spec, "tfrt.parallel_call.i32");
}

fn thousand_blocks(bencher: Bencher, spec: &str, name: &str) {
    const BLOCKS: i32 = 1000;
    let mut source = Source::new();
    let writer = &mut source.writer;
    let mut body = Callee::new(writer, "body", &["i32", "i32"]);
    body.kernel(writer, "tfrt.add.i32", &[0, 1], &["i32"], Extra::default());
    let body = body.end(writer, &[]);
    let (zero, one, end) =
        (int(writer, DType::I32, 0), int(writer, DType::I32, 1), int(writer, DType::I32, BLOCKS));
    let [zero, end, one] = [zero, end, one].map(|value| {
        source.any_kernel("tfrt.constant.i32", &[], &["i32"], Extra { attrs: &[value], functions: &[] })
    });
    let extra = Extra { functions: &[body], ..Extra::default() };
    let done = source.any_kernel(name, &[zero, end, one], &["!tfrt.chain"], extra);
    bench(bencher, spec, BLOCKS as u32, source.load(done));
}

/// Cost of each of `N` branches between two functions with one add. TFRT has no figures.
fn branches(bencher: Bencher, spec: &str, name: &str, condition: &str) {
    let mut source = Source::new();
    let mut callee = Callee::new(&mut source.writer, "double", &["i32"]);
    let double = callee.kernel(&mut source.writer, "tfrt.add.i32", &[0, 0], &["i32"], Extra::default());
    let callee = callee.end(&mut source.writer, &[double]);
    let mut decides = 0;
    if condition == "i1" {
        decides = source.any_kernel("tfrt.equal.i32", &[0, 0], &["i1"], Extra::default());
    }
    let mut last = 0;
    for _ in 0..N {
        let functions = &[callee, callee];
        last = source.any_kernel(name, &[decides, last], &["i32"], Extra { functions, attrs: &[] });
    }
    bench(bencher, spec, N, source.load(last));
}

/// Goal 20, as for a call.
#[divan::bench(args = ["s", "mstd:2"])]
fn ifs_of_one_add(bencher: Bencher, spec: &str) {
    branches(bencher, spec, "tfrt.if", "i1");
}

/// Goal 20, as for a call.
#[divan::bench(args = ["s", "mstd:2"])]
fn cases_of_one_add(bencher: Bencher, spec: &str) {
    branches(bencher, spec, "tfrt.case", "i32");
}

/// The function runs once per call of `main`; the other kernels get its result.
#[divan::bench(args = ["s", "mstd:2"])]
fn onces_of_one_add(bencher: Bencher, spec: &str) {
    let mut source = Source::new();
    let mut callee = Callee::new(&mut source.writer, "double", &["i32"]);
    let double = callee.kernel(&mut source.writer, "tfrt.add.i32", &[0, 0], &["i32"], Extra::default());
    let callee = callee.end(&mut source.writer, &[double]);
    let mut last = 0;
    for _ in 0..N {
        last = source.kernel("tfrt.once", &[last], &[callee]);
    }
    bench(bencher, spec, N, source.load(last));
}

/// Number of calls timed together, since one is as short as reading the clock.
const CALLS: u32 = 1000;

/// TFRT 140 ns, goal 40: with a new argument list and a new result list for each call.
#[divan::bench(args = ["s", "mstd:2"])]
fn empty_call(bencher: Bencher, spec: &str) {
    let (program, context) = (Source::new().load(0), context(spec));
    let main = program.find("main").expect("there is a main");
    bencher.counter(ItemsCount::new(CALLS)).bench(|| {
        for i in 0..CALLS {
            let arguments = vec![Value::I32(divan::black_box(i as i32))];
            _ = divan::black_box(call(&program, main, arguments, &context));
        }
    });
}

/// The same with reused lists.
#[divan::bench(args = ["s", "mstd:2"])]
fn empty_call_into(bencher: Bencher, spec: &str) {
    let (program, context) = (Source::new().load(0), context(spec));
    let main = program.find("main").expect("there is a main");
    bencher.counter(ItemsCount::new(CALLS)).bench(|| {
        let (mut arguments, mut results) = (Vec::new(), Vec::new());
        for i in 0..CALLS {
            results.clear();
            arguments.push(Value::I32(divan::black_box(i as i32)));
            let called = call_into(&program, main, &mut arguments, &context, &mut results);
            _ = divan::black_box((called, &results));
        }
    });
}

/// The same with a function prepared once for all calls.
#[divan::bench(args = ["s", "mstd:2"])]
fn empty_call_prepared(bencher: Bencher, spec: &str) {
    let (program, context) = (Source::new().load(0), context(spec));
    let main = program.find("main").expect("there is a main");
    bencher.counter(ItemsCount::new(CALLS)).bench(|| {
        let mut prepared = PreparedCall::new(&program, main, &context).expect("main can be called");
        let (mut arguments, mut results) = (Vec::new(), Vec::new());
        for i in 0..CALLS {
            results.clear();
            arguments.push(Value::I32(divan::black_box(i as i32)));
            _ = divan::black_box((prepared.call_into(&mut arguments, &mut results), &results));
        }
    });
}

/// Cost of a constant: an attribute read in place.
#[divan::bench]
fn constants(bencher: Bencher) {
    let mut source = Source::new();
    let i32_type = source.writer.ty("i32");
    let value = source.writer.attr_int(i32_type, Some(DType::I32), 7);
    let code = source.writer.kernel_name("tfrt.constant.i32");
    let mut last = 0;
    for _ in 0..N {
        last = source.main.kernel(&KernelSpec {
            code,
            attrs: &[value],
            results: &[i32_type],
            ..KernelSpec::default()
        });
    }
    bench(bencher, "s", N, source.load(last));
}
