//! The rows of `devices.md`: crossings, also between parts, calls, two towers, a pipeline.
//!
//! `cargo bench -p befrost-kernels --bench devices`. The items are kernels, calls or products.

use std::sync::Arc;

use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use bef_format::{AttrId, DType, FunctionId, FunctionKind, OperandInfo, OperandMode, TypeId};
use befrost_host::device::{MadeDevices, make};
use befrost_host::{Program, call};
use befrost_kernel_api::{ExecContext, KernelError, Request, Value, kernel};
use divan::Bencher;
use divan::counter::ItemsCount;

/// The devices of a row: as on the command line, and the queue.
const DEVICES: [(&str, &str); 3] =
    [("CPU:1", "mstd:1"), ("CPU:2{threads=1}", "s"), ("CPU:2{threads=1}", "mstd:2")];

fn main() {
    divan::main();
}

/// A program under construction; the functions take and give numbers.
struct Source {
    writer: Writer,
    /// Numbers of two devices in the file: both the client's if the row has one device.
    devices: [u16; 2],
}

impl Source {
    fn new(devices: &str) -> Source {
        let mut writer = Writer::new();
        let mut number =
            |device: &str| writer.device(&format!("/job:localhost/replica:0/task:0/device:{device}"));
        let devices = if devices == "CPU:1" { [0, 0] } else { [0, number("CPU:1")] };
        Source { writer, devices }
    }

    fn function(&mut self, name: &str, n_args: usize) -> FunctionBuilder {
        self.function_of(name, &vec!["i64"; n_args])
    }

    fn function_of(&mut self, name: &str, args: &[&str]) -> FunctionBuilder {
        let (name, unnamed) = (self.writer.string(name), self.writer.string(""));
        let mut function = FunctionBuilder::new(name, FunctionKind::Async);
        for ty in args {
            let ty = self.writer.ty(ty);
            function.arg(ty, unnamed, None);
        }
        function
    }

    /// The attributes of an end of a channel.
    fn channel(&mut self, number: usize) -> [AttrId; 2] {
        let ty = self.writer.ty("i64");
        [self.writer.attr_int(ty, Some(DType::I64), number as i64), self.writer.attr_str("CPU:0")]
    }

    /// A call of a part in the step of register `step`, whatever becomes of its operands.
    fn call_part(
        &mut self,
        to: &mut FunctionBuilder,
        part: FunctionId,
        operands: &[u32],
        results: &[&str],
    ) -> u32 {
        let code = self.writer.kernel_name("tfrt.call");
        let results: Vec<TypeId> = results.iter().map(|ty| self.writer.ty(ty)).collect();
        let lenient = OperandInfo::new(OperandMode::Lenient, 0);
        to.kernel(&KernelSpec {
            code,
            operands,
            operand_info: &vec![lenient; operands.len()],
            functions: &[part],
            results: &results,
            ..KernelSpec::default()
        })
    }

    /// A kernel on one of the two devices.
    fn kernel(
        &mut self,
        to: &mut FunctionBuilder,
        device: usize,
        name: &str,
        operands: &[u32],
        results: &[&str],
        (functions, attrs): (&[FunctionId], &[AttrId]),
    ) -> u32 {
        let code = self.writer.kernel_name(name);
        let results: Vec<TypeId> = results.iter().map(|ty| self.writer.ty(ty)).collect();
        let device = self.devices[device];
        to.kernel(&KernelSpec {
            code,
            operands,
            functions,
            attrs,
            device,
            results: &results,
            ..KernelSpec::default()
        })
    }

    fn end(&mut self, mut function: FunctionBuilder, results: &[u32]) -> FunctionId {
        let unnamed = self.writer.string("");
        results.iter().for_each(|&register| function.result(register, unnamed));
        self.writer.add(function)
    }
}

/// A program with its devices.
struct Ready {
    program: Arc<Program>,
    context: ExecContext,
}

impl Ready {
    fn new(source: Source, (devices, queue): (&str, &str)) -> Ready {
        let bytes = source.writer.finish().expect("the program fits");
        let asked = devices.parse().expect("devices");
        let MadeDevices { queue, devices } =
            make(&asked, &[], (queue, false), &befrost_tensor::mem::Malloc::shared()).expect("devices");
        let mut registry = befrost_kernels::registry();
        // Work of about a hundred microseconds.
        registry.add(kernel!("bench.work", |x: i64| Ok::<i64, KernelError>(work(x))));
        registry.add(kernel!("bench.next", |x: i64| x.wrapping_mul(3).wrapping_add(1)));
        registry.add(kernel!("bench.count", |i: i64| i + 1));
        registry.add(kernel!("bench.less", |i: i64, n: i64| i < n));
        registry.add(kernel!("bench.one", || true));
        registry.add(kernel!("bench.sum", |a: i64, b: i64| a.wrapping_add(b)));
        registry.set_devices(devices.clone());
        let program = Program::from_bytes(&bytes, &registry).expect("the program is valid");
        let request = Request { devices: Some(devices), ..Request::new(queue) };
        Ready { program, context: ExecContext::new(Arc::new(request)) }
    }

    fn run(&self, arguments: &[i64]) -> Vec<Value> {
        let main = self.program.find("main").expect("main");
        let arguments = arguments.iter().map(|&x| Value::I64(divan::black_box(x))).collect();
        call(&self.program, main, arguments, &self.context).expect("a call")
    }
}

/// Arithmetic that takes about a hundred microseconds and no memory.
fn work(x: i64) -> i64 {
    (0..60_000i64).fold(x, |sum, i| divan::black_box(sum.wrapping_mul(31).wrapping_add(i)))
}

/// 1,000 tiny kernels that alternate between two devices; goal 2 us each with threads, TensorFlow 2.1.
#[divan::bench(args = DEVICES)]
fn alternating(bencher: Bencher, devices: (&str, &str)) {
    let mut source = Source::new(devices.0);
    let mut main = source.function("main", 1);
    let mut last = 0;
    for i in 0..1000 {
        last = source.kernel(&mut main, i % 2, "bench.next", &[last], &["i64"], (&[], &[]));
    }
    source.end(main, &[last]);
    let ready = Ready::new(source, devices);
    bencher.counter(ItemsCount::new(1000u32)).bench(|| ready.run(&[1]));
}

/// 1,000 tiny kernels that alternate between two parts of a program on one thread; goal 0.3 us each,
/// TensorFlow 2.1.
#[divan::bench]
fn alternating_by_parts(bencher: Bencher) {
    const N: usize = 1000;
    let mut source = Source::new("CPU:1");
    let none: (&[FunctionId], &[AttrId]) = (&[], &[]);
    let args = [&["i64", "!dev.step"][..], &["!dev.step"]];
    let parts = [0, 1].map(|part| {
        let mut function = source.function_of(if part == 0 { "first" } else { "second" }, args[part]);
        let (mut value, step) = (0, 1 - part as u32);
        for i in 0..N {
            // Kernel i sends its result on channel i.
            if i % 2 == part {
                let (from, to) = (source.channel(i.wrapping_sub(1)), source.channel(i));
                if i > 0 {
                    value = source.kernel(&mut function, 0, "dev.recv", &[step], &["i64"], (&[], &from));
                }
                value = source.kernel(&mut function, 0, "bench.next", &[value], &["i64"], none);
                if i + 1 < N {
                    source.kernel(&mut function, 0, "dev.send", &[value, step], &[], (&[], &to));
                }
            }
        }
        source.end(function, if N % 2 != part { &[] } else { std::slice::from_ref(&value) })
    });
    let mut main = source.function("main", 1);
    let step = source.kernel(&mut main, 0, "dev.step", &[], &["!dev.step"], none);
    let first =
        source.call_part(&mut main, parts[0], &[0, step], if N.is_multiple_of(2) { &["i64"] } else { &[] });
    let second = source.call_part(&mut main, parts[1], &[step], if N % 2 == 1 { &["i64"] } else { &[] });
    source.end(main, &[if N.is_multiple_of(2) { first } else { second }]);
    let ready = Ready::new(source, ("CPU:1", "s"));
    bencher.counter(ItemsCount::new(N)).bench(|| ready.run(&[1]));
}

/// A loop of two parts on one thread: the first has the condition, which it sends in each iteration, the
/// second the body; goal 1.5 us an iteration, TensorFlow 13.4.
#[divan::bench]
fn loop_by_parts(bencher: Bencher) {
    const N: usize = 1000;
    let mut source = Source::new("CPU:1");
    let none: (&[FunctionId], &[AttrId]) = (&[], &[]);
    let ty = source.writer.ty("i64");
    let (in_flight, frame) =
        (source.writer.attr_int(ty, Some(DType::I64), 10), source.writer.attr_str("while"));
    let channel = source.channel(0);
    let (number, step) = ("i64", "!dev.step");

    let mut body = source.function_of("first_body", &[number, number, step]);
    let count = source.kernel(&mut body, 0, "bench.count", &[0], &[number], none);
    let at = source.kernel(&mut body, 0, "dev.next", &[2], &[step], none);
    let more = source.kernel(&mut body, 0, "bench.less", &[count, 1], &["i1"], none);
    source.kernel(&mut body, 0, "dev.send", &[more, at], &[], (&[], &channel));
    let first_body = source.end(body, &[count, 1, at, more]);

    let mut body = source.function_of("second_body", &[number, step]);
    let next = source.kernel(&mut body, 0, "bench.next", &[0], &[number], none);
    let at = source.kernel(&mut body, 0, "dev.next", &[1], &[step], none);
    let more = source.kernel(&mut body, 0, "dev.recv", &[at], &["i1"], (&[], &channel));
    let second_body = source.end(body, &[next, at, more]);

    let mut first = source.function_of("first", &[number, number, step]);
    let at = source.kernel(&mut first, 0, "dev.enter", &[2], &[step], (&[], &[frame]));
    let more = source.kernel(&mut first, 0, "bench.less", &[0, 1], &["i1"], none);
    source.kernel(&mut first, 0, "dev.send", &[more, at], &[], (&[], &channel));
    let results = [number, number, step];
    let of_loop: (&[FunctionId], &[AttrId]) = (&[first_body], &[in_flight]);
    source.kernel(&mut first, 0, "tfrt.while", &[more, 0, 1, at], &results, of_loop);
    let first = source.end(first, &[]);

    let mut second = source.function_of("second", &[number, step]);
    let at = source.kernel(&mut second, 0, "dev.enter", &[1], &[step], (&[], &[frame]));
    let more = source.kernel(&mut second, 0, "dev.recv", &[at], &["i1"], (&[], &channel));
    let of_loop: (&[FunctionId], &[AttrId]) = (&[second_body], &[in_flight]);
    let last = source.kernel(&mut second, 0, "tfrt.while", &[more, 0, at], &[number, step], of_loop);
    let second = source.end(second, &[last]);

    let mut main = source.function("main", 3);
    let at = source.kernel(&mut main, 0, "dev.step", &[], &[step], none);
    source.call_part(&mut main, first, &[0, 1, at], &[]);
    let last = source.call_part(&mut main, second, &[2, at], &[number]);
    source.end(main, &[last]);
    let ready = Ready::new(source, ("CPU:1", "s"));
    bencher.counter(ItemsCount::new(N)).bench(|| ready.run(&[0, N as i64, 1]));
}

/// Calls of an empty program; goal 50 ns more on 8 devices than on 1.
#[divan::bench(args = [("CPU:1", "mstd:8"), ("CPU:8", "mstd:8")])]
fn empty_call(bencher: Bencher, devices: (&str, &str)) {
    let mut source = Source::new("CPU:1");
    let main = source.function("main", 1);
    source.end(main, &[0]);
    let ready = Ready::new(source, devices);
    bencher
        .counter(ItemsCount::new(1000u32))
        .bench(|| (0..1000).for_each(|i| _ = divan::black_box(ready.run(&[i]))));
}

/// Two chains without common values, on one device and on two; goal 1.8 times.
#[divan::bench(args = DEVICES)]
fn two_towers(bencher: Bencher, devices: (&str, &str)) {
    let mut source = Source::new(devices.0);
    let mut main = source.function("main", 1);
    let mut last = [0, 0];
    for _ in 0..20 {
        for tower in [0, 1] {
            let operand = [last[tower]];
            last[tower] = source.kernel(&mut main, tower, "bench.work", &operand, &["i64"], (&[], &[]));
        }
    }
    source.end(main, &last);
    let ready = Ready::new(source, devices);
    bencher.counter(ItemsCount::new(40u32)).bench(|| ready.run(&[1]));
}

/// A loop over 16 batches of three stages, the middle one as long as the others together, on one device and
/// on two: iterations overlap; goal 1.7 times.
#[divan::bench(args = DEVICES)]
fn pipeline(bencher: Bencher, devices: (&str, &str)) {
    let mut source = Source::new(devices.0);
    let none: (&[FunctionId], &[AttrId]) = (&[], &[]);
    // The number of the batch, their number, the sum of the results.
    let mut body = source.function("body", 3);
    let next = source.kernel(&mut body, 0, "bench.count", &[0], &["i64"], none);
    let more = source.kernel(&mut body, 0, "bench.less", &[next, 1], &["i1"], none);
    let first = source.kernel(&mut body, 0, "bench.work", &[0], &["i64"], none);
    let middle = source.kernel(&mut body, 1, "bench.work", &[first], &["i64"], none);
    let middle = source.kernel(&mut body, 1, "bench.work", &[middle], &["i64"], none);
    let last = source.kernel(&mut body, 0, "bench.work", &[middle], &["i64"], none);
    let sum = source.kernel(&mut body, 0, "bench.sum", &[2, last], &["i64"], none);
    let body = source.end(body, &[next, 1, sum, more]);
    let ty = source.writer.ty("i64");
    let in_flight = source.writer.attr_int(ty, Some(DType::I64), 4);
    let mut main = source.function("main", 3);
    let yes = source.kernel(&mut main, 0, "bench.one", &[], &["i1"], none);
    let of_loop: (&[FunctionId], &[AttrId]) = (&[body], &[in_flight]);
    let last = source.kernel(&mut main, 0, "tfrt.while", &[yes, 0, 1, 2], &["i64", "i64", "i64"], of_loop);
    source.end(main, &[last + 2]);
    let ready = Ready::new(source, devices);
    bencher.counter(ItemsCount::new(64u32)).bench(|| ready.run(&[0, 16, 0]));
}
