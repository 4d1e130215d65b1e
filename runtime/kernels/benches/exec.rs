//! The small-kernel rows of `performance.md`: what the executor costs per kernel, next to one uncontended atomic decrement.
//!
//! `cargo bench -p befrost-kernels --bench exec`. The items are kernels (or calls, or decrements), so divan's throughput column is items per
//! second: 100 Mitem/s are 10 ns each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use bef_format::{DType, FunctionId, FunctionKind};
use befrost_host::{ExecContext, Limits, Program, Request, Value, call, queue};
use divan::Bencher;
use divan::counter::ItemsCount;

const N: u32 = 10_000;

fn main() {
    divan::main();
}

/// A program being written whose function `main` takes one i32.
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
        let code = self.writer.kernel_name(name);
        let results = [self.writer.ty("i32")];
        self.main.kernel(&KernelSpec {
            code,
            operands,
            functions,
            results: &results,
            ..KernelSpec::default()
        })
    }

    fn load(mut self, result: u32) -> Arc<Program> {
        let unnamed = self.writer.string("");
        self.main.result(result, unnamed);
        self.writer.add(self.main);
        let bytes = self.writer.finish().expect("the program fits");
        Program::from_bytes(&bytes, &befrost_kernels::registry()).expect("the program is valid")
    }
}

/// Runs `main(1)` again and again on the queue `spec`.
fn bench(bencher: Bencher, spec: &str, items: u32, program: Arc<Program>) {
    let queue = queue::from_spec(spec).expect("the queue exists");
    let context = ExecContext::new(Arc::new(Request::new(queue)));
    let main = program.find("main").expect("there is a main");
    bencher
        .counter(ItemsCount::new(items))
        .bench(|| call(&program, main, vec![Value::I32(divan::black_box(1))], &context, Limits::default()));
}

/// The calibration line: what an atomic decrement costs here and now.
#[divan::bench]
fn calibration_fetch_sub(bencher: Bencher) {
    let counter = AtomicU32::new(0);
    bencher.counter(ItemsCount::new(N)).bench(|| {
        for _ in 0..N {
            divan::black_box(&counter).fetch_sub(1, Ordering::AcqRel);
        }
    });
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

/// TFRT 151 ns per call with its add, goal 20.
#[divan::bench(args = ["s", "mstd:2"])]
fn calls_of_one_add(bencher: Bencher, spec: &str) {
    let mut source = Source::new();
    let (i32_type, unnamed) = (source.writer.ty("i32"), source.writer.string(""));
    let name = source.writer.string("add_one");
    let mut callee = FunctionBuilder::new(name, FunctionKind::Async);
    let argument = callee.arg(i32_type, unnamed, None);
    let code = source.writer.kernel_name("tfrt.add.i32");
    let sum = callee.kernel(&KernelSpec {
        code,
        operands: &[argument, argument],
        results: &[i32_type],
        ..KernelSpec::default()
    });
    callee.result(sum, unnamed);
    let callee = source.writer.add(callee);
    let mut last = 0;
    for _ in 0..N {
        last = source.kernel("tfrt.call", &[last], &[callee]);
    }
    bench(bencher, spec, N, source.load(last));
}

/// TFRT 140 ns, goal 40.
#[divan::bench(args = ["s", "mstd:2"])]
fn empty_call(bencher: Bencher, spec: &str) {
    bench(bencher, spec, 1, Source::new().load(0));
}

/// What a constant costs: reading an attribute in place.
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
