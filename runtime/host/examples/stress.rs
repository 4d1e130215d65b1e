//! Four million calls of one program from eight threads: none may be lost, nothing may be left behind.
//!
//! `cargo run --release -p befrost-host --example stress -- [CALLS] [QUEUE]`. Each call runs an asynchronous
//! kernel, one that sets a promise from a task, and one that adds their results; every tenth is cancelled
//! beforehand.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use bef_format::{FunctionId, FunctionKind};
use befrost_host::queue::from_spec;
use befrost_host::{Program, call};
use befrost_kernel_api::kernel::{Async, Deferred};
use befrost_kernel_api::live::live_objects;
use befrost_kernel_api::queue::Task;
use befrost_kernel_api::{ExecContext, Registry, Request, Value, kernel};

const THREADS: u64 = 8;

fn kernels(registry: &mut Registry) {
    registry.add(kernel!("later", |x: i32| Deferred::new(move |_| x)));
    registry.add(kernel!("promised", |x: i32, cx: &ExecContext| {
        let (promise, result) = Async::<i32>::pending();
        cx.queue().add_task(Task::new(move || promise.set(Value::I32(x))));
        result
    }));
    registry.add(kernel!("add", |a: i32, b: i32| a.wrapping_add(b)));
}

fn program() -> Arc<Program> {
    let mut writer = Writer::new();
    let (name, int, unnamed) = (writer.string("main"), writer.ty("i32"), writer.string(""));
    let mut main = FunctionBuilder::new(name, FunctionKind::Async);
    let x = main.arg(int, unnamed, None);
    let mut kernel = |name: &str, operands: &[u32]| {
        let code = writer.kernel_name(name);
        main.kernel(&KernelSpec { code, operands, results: &[int], ..KernelSpec::default() })
    };
    let (a, b) = (kernel("later", &[x]), kernel("promised", &[x]));
    let sum = kernel("add", &[a, b]);
    main.result(sum, unnamed);
    writer.add(main);
    let bytes = writer.finish().expect("the program fits");
    Program::from_bytes(&bytes, &Registry::new().with(kernels)).expect("the program is valid")
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let calls = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(4_000_000u64);
    let spec = arguments.next().unwrap_or_else(|| "mstd:2".to_owned());
    let queue = match from_spec(&spec) {
        Ok(queue) => queue,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let program = program();
    let (right, cancelled) = (AtomicU64::new(0), AtomicU64::new(0));
    let start = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (queue, program, right, cancelled) = (&queue, &program, &right, &cancelled);
            scope.spawn(move || {
                for i in (thread..calls).step_by(THREADS as usize) {
                    let context = ExecContext::new(Arc::new(Request::new(queue.clone())));
                    if i % 10 == 0 {
                        context.request.cancellation.cancel();
                    }
                    let x = i as i32;
                    let results = call(program, FunctionId(0), vec![Value::I32(x)], &context);
                    match results.as_deref() {
                        Ok([Value::I32(sum)]) if *sum == x.wrapping_add(x) => {
                            right.fetch_add(1, Ordering::Relaxed)
                        }
                        Ok([Value::Error(_)]) if i % 10 == 0 => cancelled.fetch_add(1, Ordering::Relaxed),
                        _ => 0,
                    };
                }
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    queue.quiesce();
    drop(queue);
    let (right, cancelled) = (right.into_inner(), cancelled.into_inner());
    let (left, programs) = (live_objects(), Arc::strong_count(&program));
    println!(
        "{calls} calls from {THREADS} threads on {spec} in {seconds:.1} s: {right} right, {cancelled} cancelled"
    );
    println!("alive afterwards: {left:?}, {programs} reference to the program");
    let all = right + cancelled == calls && cancelled == calls.div_ceil(10);
    if all && left.is_empty() && programs == 1 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
