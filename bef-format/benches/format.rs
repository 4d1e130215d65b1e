//! Benches of validating, opening and writing a file of 100,000 additions.
//!
//! The goal for `validate` is 3 GB/s of tables (`performance.md`); the result is printed as bytes per second.

use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use bef_format::{AlignedBytes, FunctionKind, validate};
use divan::Bencher;
use divan::counter::BytesCount;

const N: u32 = 100_000;

fn main() {
    divan::main();
}

/// `n` additions; each reads the last value and a recent one. With or without the optional sections.
fn adds(n: u32, debug: bool) -> AlignedBytes {
    let mut w = Writer::new();
    let i32t = w.ty("i32");
    let code = w.kernel_name("tfrt.add.i32");
    let mut f = FunctionBuilder::new(w.string("main"), FunctionKind::Async);
    let mut last = f.arg(i32t, w.string("a"), None);
    for k in 0..n {
        let location = debug.then(|| w.location_file("adds.mlir", k, 8));
        let operands = &[last, last.saturating_sub(7)];
        last = f.kernel(&KernelSpec { code, operands, results: &[i32t], location, ..Default::default() });
        if debug {
            f.name_register(last, &format!("v{k}"));
        }
    }
    f.result(last, w.string(""));
    w.add(f);
    AlignedBytes::copy_of(&w.finish().expect("can be written"))
}

#[divan::bench(args = [false, true])]
fn check(bencher: Bencher<'_, '_>, debug: bool) {
    let bytes = adds(N, debug);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| validate(&bytes).map(|image| image.n_kernels()));
}

#[divan::bench]
fn checksums_alone(bencher: Bencher<'_, '_>) {
    let bytes = adds(N, true);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| xxhash_rust::xxh3::xxh3_64(&bytes));
}

#[divan::bench]
fn open_again(bencher: Bencher<'_, '_>) {
    let bytes = adds(N, true);
    let tables = validate(&bytes).expect("valid").tables();
    bencher.bench(|| tables.image(&bytes).map(|image| image.n_kernels()));
}

#[divan::bench]
fn read_all_kernels(bencher: Bencher<'_, '_>) {
    let bytes = adds(N, true);
    let image = validate(&bytes).expect("valid");
    let sum = |image: &bef_format::Image<'_>| {
        let f = image.function(0);
        f.kernels().map(|k| k.operands()[0] + k.first_result() + k.ready_count()).fold(0, u32::wrapping_add)
    };
    bencher.bench(|| sum(divan::black_box(&image)));
}

#[divan::bench(args = [false, true])]
fn write(debug: bool) -> usize {
    adds(N, debug).len()
}
