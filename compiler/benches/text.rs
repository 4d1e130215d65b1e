//! Parsing, verifying and printing 100,000 ops, in MB/s of text; building ops, per op.

use befrost_compiler::ir::{KnownType, Module, NewOp};
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::faults;
use divan::counter::{BytesCount, ItemsCount};
use std::fmt::Write;

fn main() {
    divan::main();
}

/// One function of `n` adds, as in TFRT's record, or `functions` of them.
fn program(n: usize, functions: usize) -> String {
    let mut text = String::new();
    for f in 0..functions {
        let _ = writeln!(text, "func.func @f{f}(%x: i32) -> i32 {{\n  %v0 = tfrt.add.i32 %x, %x");
        for i in 1..n / functions {
            let _ = writeln!(text, "  %v{i} = tfrt.add.i32 %v{}, %x", i - 1);
        }
        let _ = writeln!(text, "  tfrt.return %v{} : i32\n}}", n / functions - 1);
    }
    text
}

/// The same in generic form with attributes.
fn generic(n: usize) -> String {
    let mut text = String::from("func.func @f(%x: i32) -> i32 {\n  %v0 = tfrt.constant.i32 1\n");
    for i in 1..n {
        let _ = writeln!(
            text,
            "  %v{i} = \"tfrt.add.i32\"(%v{}, %x) {{a = {i} : i32, b}} : (i32, i32) -> i32",
            i - 1
        );
    }
    let _ = writeln!(text, "  tfrt.return %v{} : i32\n}}", n - 1);
    text
}

fn blob(bytes: usize) -> String {
    let mut text = String::from("func.func @f() -> !t.tensor {\n  %0 = cpu.constant dense<\"0x");
    for i in 0..bytes {
        let _ = write!(text, "{:02X}", (i * 7) as u8);
    }
    let _ = writeln!(text, "\"> : tensor<{}xf32>\n  tfrt.return %0 : !t.tensor\n}}", bytes / 4);
    text
}

fn parsed(text: &str) -> Module {
    parse("bench.mlir", text, &ParseOptions::default()).module.expect("the bench's program is right")
}

#[divan::bench(args = [1, 1000])]
fn parse_custom(bencher: divan::Bencher, functions: usize) {
    let text = program(100_000, functions);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| parsed(&text));
}

#[divan::bench(args = [10_000, 100_000, 1_000_000], sample_count = 10)]
fn parse_sizes(bencher: divan::Bencher, n: usize) {
    let text = program(n, 1);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| parsed(&text));
}

/// The work of `ir-opt` without reading and writing files.
#[divan::bench(args = [(10_000, 1), (100_000, 1), (1_000_000, 1), (100_000, 1000)], sample_count = 10)]
fn parse_verify_print(bencher: divan::Bencher, (n, functions): (usize, usize)) {
    let text = program(n, functions);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let module = parsed(&text);
        assert!(faults(&module).is_empty());
        print(&module, &PrintOptions::default())
    });
}

#[divan::bench]
fn parse_generic(bencher: divan::Bencher) {
    let text = generic(100_000);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| parsed(&text));
}

#[divan::bench(sample_count = 10)]
fn parse_blob_16_mb(bencher: divan::Bencher) {
    let text = blob(16 << 20);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| parsed(&text));
}

#[divan::bench]
fn verify_custom(bencher: divan::Bencher) {
    let text = program(100_000, 1);
    let module = parsed(&text);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| faults(&module));
}

#[divan::bench(args = [false, true])]
fn print_ops(bencher: divan::Bencher, generic: bool) {
    let module = parsed(&program(100_000, 1));
    let options = PrintOptions { generic, ..PrintOptions::default() };
    let bytes = print(&module, &options).len();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| print(&module, &options));
}

#[divan::bench]
fn build_ops(bencher: divan::Bencher) {
    const N: usize = 100_000;
    bencher.counter(ItemsCount::new(N)).bench_local(|| {
        let mut module = Module::new();
        let body = module.body();
        let name = module.cx.str_id("tfrt.add.i32");
        let name = module.cx.op_name(name);
        let block = module.create_block();
        let mut last = module.add_arg(block, KnownType::I32.id());
        for _ in 0..N {
            let op = module.create(NewOp {
                operands: &[last, last],
                results: &[KnownType::I32.id()],
                ..NewOp::new(name)
            });
            module.append(body, op);
            last = module.result(op, 0);
        }
        module
    });
}
