//! The cost of an operator that is executed by name: dispatch, inference, allocation, mathematics.
//!
//! `cargo bench -p befrost-eager`. `nothing` is an operator that gives its operand; `function` is the tensor
//! library's function alone.

use std::sync::Arc;

use befrost_eager::{CoreRuntime, Mode, Op, OpAttrs, TensorHandle};
use befrost_kernel_api::{ExecContext, Request};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::op;
use befrost_tensor::{HostTensor, Shape};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

fn core() -> CoreRuntime {
    let queue = befrost_host::queue::from_spec("s").unwrap_or_else(|error| panic!("{error}"));
    CoreRuntime::new(ExecContext::new(Arc::new(Request::new(queue)))).with_mode(Mode::Inline)
}

fn tensor(dims: &[usize]) -> HostTensor {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    let made = Shape::new(dims).and_then(|shape| {
        let ones = vec![1.0f32; shape.num_elements()];
        HostTensor::from_slice(shape, &ones, &allocator)
    });
    made.unwrap_or_else(|error| panic!("{error}"))
}

fn call(bencher: Bencher<'_, '_>, op: &Op, x: &TensorHandle, n: usize) {
    let args: Vec<TensorHandle> = (0..n).map(|_| x.clone()).collect();
    // Divan would keep the results.
    bencher.bench_local(|| drop(black_box(op.call(black_box(&args)))));
}

fn op(name: &str) -> Op {
    core().op(name, OpAttrs::new()).unwrap_or_else(|error| panic!("{error}"))
}

#[divan::bench]
fn nothing(bencher: Bencher<'_, '_>) {
    call(bencher, &op("tfrt_test.identity"), &TensorHandle::from(tensor(&[])), 1);
}

#[divan::bench]
fn add_scalars(bencher: Bencher<'_, '_>) {
    call(bencher, &op("AddV2"), &TensorHandle::from(tensor(&[])), 2);
}

#[divan::bench]
fn matmul_2x2(bencher: Bencher<'_, '_>) {
    call(bencher, &op("MatMul"), &TensorHandle::from(tensor(&[2, 2])), 2);
}

#[divan::bench]
fn add_1024(bencher: Bencher<'_, '_>) {
    call(bencher, &op("AddV2"), &TensorHandle::from(tensor(&[1024])), 2);
}

#[divan::bench]
fn add_scalars_by_name(bencher: Bencher<'_, '_>) {
    let (core, x) = (core(), TensorHandle::from(tensor(&[])));
    let args = [x.clone(), x];
    bencher.bench_local(|| drop(black_box(core.execute("AddV2", black_box(&args), OpAttrs::new()))));
}

fn function(bencher: Bencher<'_, '_>, name: &str, dims: &[usize]) {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    let row = op::row(name).unwrap_or_else(|| panic!("{name}"));
    let made = row.prepare(&&OpAttrs::new().freeze()).unwrap_or_else(|error| panic!("{error}"));
    let made = made.unwrap_or_else(|| panic!("{name} has no function"));
    let x = tensor(dims);
    bencher.bench_local(|| drop(black_box(made(black_box(&[&x, &x]), &allocator))));
}

#[divan::bench]
fn function_add_scalars(bencher: Bencher<'_, '_>) {
    function(bencher, "AddV2", &[]);
}

#[divan::bench]
fn function_matmul_2x2(bencher: Bencher<'_, '_>) {
    function(bencher, "MatMul", &[2, 2]);
}

#[divan::bench]
fn function_add_1024(bencher: Bencher<'_, '_>) {
    function(bencher, "AddV2", &[1024]);
}
