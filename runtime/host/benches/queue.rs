//! Costs of asynchrony: a task in a queue, a chain of asynchronous kernels, an AsyncValue and
//! its waiter, a `parallel_for`.
//!
//! `cargo bench -p befrost-host --bench queue`. Next to one uncontended atomic decrement, see
//! `performance.md`.

#[path = "common/calibration.rs"]
mod calibration;

use std::sync::Arc;

use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use bef_format::{FunctionId, FunctionKind};
use befrost_host::queue;
use befrost_host::{Program, call};
use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::context::Cancellation;
use befrost_kernel_api::kernel::{Deferred, Rest};
use befrost_kernel_api::parallel::parallel_for;
use befrost_kernel_api::queue::{Latch, Queue, Task};
use befrost_kernel_api::{ExecContext, Registry, Request, Value, kernel};
use divan::Bencher;
use divan::counter::ItemsCount;

const N: u32 = 10_000;

fn main() {
    divan::main();
}

fn queue(spec: &str) -> Queue {
    queue::from_spec(spec).expect("the queue exists")
}

/// Each task adds the next one.
#[divan::bench(args = ["s", "mstd:2"])]
fn chain_of_tasks(bencher: Bencher, spec: &str) {
    fn next(queue: &Queue, left: u32, latch: &Arc<Latch>) {
        let (queue_in, latch) = (queue.clone(), latch.clone());
        queue.local().add_soon(Task::new(move || match left {
            0 => latch.count_down(),
            _ => next(&queue_in, left - 1, &latch),
        }));
    }
    let queue = queue(spec);
    bencher.counter(ItemsCount::new(N)).bench(|| {
        let latch = Latch::new(1);
        queue.wait_after(&latch, &mut || next(&queue, N, &latch));
    });
}

/// Tasks that do nothing, added by one that goes on.
#[divan::bench(args = ["s", "mstd:2"])]
fn many_tasks(bencher: Bencher, spec: &str) {
    let queue = queue(spec);
    bencher.counter(ItemsCount::new(N)).bench(|| {
        let latch = Latch::new(N as usize);
        queue.wait_after(&latch, &mut || {
            for _ in 0..N {
                let latch = latch.clone();
                queue.add_task(Task::new(move || latch.count_down()));
            }
        });
    });
}

/// Runs a function from i32 to i32. `kernels` adds its kernels, `later` of one operand and `sum` of any
/// number, and returns the register of the result.
fn bench_kernels(
    bencher: Bencher,
    spec: &str,
    kernels: impl FnOnce(&mut dyn FnMut(&str, &[u32]) -> u32) -> u32,
) {
    let mut writer = Writer::new();
    let (name, int, unnamed) = (writer.string("main"), writer.ty("i32"), writer.string(""));
    let mut main = FunctionBuilder::new(name, FunctionKind::Async);
    main.arg(int, unnamed, None);
    let last = kernels(&mut |name, operands| {
        let code = writer.kernel_name(name);
        main.kernel(&KernelSpec { code, operands, results: &[int], ..KernelSpec::default() })
    });
    main.result(last, unnamed);
    writer.add(main);
    let registry = Registry::new().with(|registry: &mut Registry| {
        registry.add(kernel!("later", |x: i32| Deferred::new(move |_| x + 1)));
        registry.add(kernel!("sum", |all: Rest<'_, i32>| {
            all.iter().try_fold(0i32, |sum, x| x.map(|x| sum.wrapping_add(x)))
        }));
    });
    let bytes = writer.finish().expect("the program fits");
    let program = Program::from_bytes(&bytes, &registry).expect("the program is valid");
    let context = ExecContext::new(Arc::new(Request::new(queue(spec))));
    bencher
        .counter(ItemsCount::new(N))
        .bench(|| call(&program, FunctionId(0), vec![Value::I32(divan::black_box(1))], &context));
}

/// Goal 60 ns on `s`, 80 on `mstd:2`.
#[divan::bench(args = ["s", "mstd:1", "mstd:2"])]
fn chain_of_asynchronous_kernels(bencher: Bencher, spec: &str) {
    bench_kernels(bencher, spec, |kernel| (0..N).fold(0, |last, _| kernel("later", &[last])));
}

/// Goal 100 ns on `s`.
#[divan::bench(args = ["s", "mstd:1", "mstd:2"])]
fn independent_asynchronous_kernels(bencher: Bencher, spec: &str) {
    bench_kernels(bencher, spec, |kernel| {
        let all: Vec<u32> = (0..N).map(|_| kernel("later", &[0])).collect();
        kernel("sum", &all)
    });
}

#[divan::bench]
fn values_with_a_waiter(bencher: Bencher) {
    bencher.counter(ItemsCount::new(N)).bench(|| {
        for _ in 0..N {
            let (promise, value) = AsyncRef::pending();
            value.and_then(|value| _ = divan::black_box(value));
            promise.set(Value::I32(1));
        }
    });
}

/// Goal 60 us for two workers.
#[divan::bench(args = ["s", "mstd:2"])]
fn parallel_for_over_1000_blocks(bencher: Bencher, spec: &str) {
    let (queue, cancellation) = (queue(spec), Cancellation::default());
    bencher.bench(|| {
        parallel_for(&queue, &cancellation, 1000, 1, &|range| {
            divan::black_box(range);
            Ok(())
        })
    });
}
