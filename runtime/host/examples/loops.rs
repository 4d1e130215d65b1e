//! Ten million iterations of loops with synchronous and asynchronous bodies: memory must not grow with them.
//!
//! `cargo run --release -p befrost-host --example loops -- [ITERATIONS] [QUEUE]`. The body is a synchronous
//! kernel, a kernel that defers its result to a task, or one that sets a promise from a task. Each loop runs
//! a tenth of the iterations first; the full run may not double the peak of memory.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use bef_format::{FunctionId, FunctionKind};
use befrost_host::queue::from_spec;
use befrost_host::{Program, call};
use befrost_kernel_api::kernel::{Async, Deferred, control};
use befrost_kernel_api::live::live_objects;
use befrost_kernel_api::queue::Task;
use befrost_kernel_api::{ExecContext, Registry, Request, Value, kernel};

fn kernels(registry: &mut Registry) {
    registry.add(kernel!("next", |x: i32| x.wrapping_add(1)));
    registry.add(kernel!("next_later", |x: i32| Deferred::new(move |_| x.wrapping_add(1))));
    registry.add(kernel!("next_promised", |x: i32, cx: &ExecContext| {
        let (promise, result) = Async::<i32>::pending();
        cx.queue().add_task(Task::new(move || promise.set(Value::I32(x.wrapping_add(1)))));
        result
    }));
    registry.add(control::repeat("repeat"));
}

/// A program whose function `main` repeats `body`: its arguments are the number of iterations and the first
/// value.
fn program(body: &str) -> Arc<Program> {
    let mut writer = Writer::new();
    let (int, unnamed) = (writer.ty("i32"), writer.string(""));
    let mut step = FunctionBuilder::new(writer.string("step"), FunctionKind::Async);
    let x = step.arg(int, unnamed, None);
    let code = writer.kernel_name(body);
    let next = step.kernel(&KernelSpec { code, operands: &[x], results: &[int], ..KernelSpec::default() });
    step.result(next, unnamed);
    let step = writer.add(step);
    let mut main = FunctionBuilder::new(writer.string("main"), FunctionKind::Async);
    let operands = [main.arg(int, unnamed, None), main.arg(int, unnamed, None)];
    let code = writer.kernel_name("repeat");
    let (functions, results) = ([step], [int]);
    let last = main.kernel(&KernelSpec {
        code,
        operands: &operands,
        functions: &functions,
        results: &results,
        ..KernelSpec::default()
    });
    main.result(last, unnamed);
    writer.add(main);
    let bytes = writer.finish().expect("the program fits");
    Program::from_bytes(&bytes, &Registry::new().with(kernels)).expect("the program is valid")
}

/// The most memory that this process has used, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let n = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10_000_000i32);
    let spec = arguments.next().unwrap_or_else(|| "mstd:2".to_owned());
    let queue = match from_spec(&spec) {
        Ok(queue) => queue,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let context = ExecContext::new(Arc::new(Request::new(queue)));
    let mut is_fine = true;
    for body in ["next", "next_later", "next_promised"] {
        let program = program(body);
        let mut run = |n: i32| {
            let start = Instant::now();
            let arguments = vec![Value::I32(n), Value::I32(0)];
            let results = call(&program, FunctionId(1), arguments, &context);
            is_fine &= matches!(results.as_deref(), Ok([Value::I32(last)]) if *last == n);
            (start.elapsed().as_secs_f64() * 1e9 / f64::from(n.max(1)), peak())
        };
        let ((_, before), (time, after)) = (run(n / 10), run(n));
        println!("{spec} {body}: {time:.0} ns per iteration, peak {before} KiB, then {after} KiB");
        is_fine &= after <= 2 * before;
    }
    let left = live_objects();
    println!("alive afterwards: {left:?}");
    if is_fine && left.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
