//! The cost of an operator that is executed by name: dispatch, inference, allocation, mathematics.
//!
//! `cargo bench -p befrost-eager`. `nothing` is an operator that gives its operand; `function` is the tensor
//! library's function alone.

use std::sync::Arc;

use bef_format::FunctionKind;
use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use befrost_eager::{CoreRuntime, Mode, Op, OpAttrs, TensorHandle};
use befrost_host::{Program, call_into};
use befrost_kernel_api::{ExecContext, Registry, Request};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::op;
use befrost_tensor::{HostTensor, Shape};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

fn context() -> ExecContext {
    let queue = befrost_host::queue::from_spec("s").unwrap_or_else(|error| panic!("{error}"));
    ExecContext::new(Arc::new(Request::new(queue)))
}

fn core() -> CoreRuntime {
    CoreRuntime::new(context()).with_mode(Mode::Inline)
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

/// The kernels of a chain.
const CHAIN: usize = 1000;

/// Runs a function of a program: `kernels` adds its kernels and returns the register of the result.
fn program(bencher: Bencher<'_, '_>, items: usize, kernels: impl FnOnce(&mut Writer, &mut FunctionBuilder)) {
    let mut writer = Writer::new();
    let mut main = FunctionBuilder::new(writer.string("main"), FunctionKind::Async);
    kernels(&mut writer, &mut main);
    let id = writer.add(main);
    let bytes = writer.finish().unwrap_or_else(|error| panic!("{error:?}"));
    let registry = Registry::new().with(befrost_eager::corert);
    let program = Program::from_bytes(&bytes, &registry).unwrap_or_else(|error| panic!("{error}"));
    let (cx, mut results) = (context(), Vec::new());
    bencher.counter(ItemsCount::new(items)).bench_local(|| {
        let called = call_into(&program, id, &mut Vec::new(), &cx, &mut results);
        assert!(called.is_ok() && results.iter().all(|result| result.error().is_none()), "{results:?}");
        results.clear();
    });
}

/// A function without kernels, from outside.
#[divan::bench]
fn empty_function(bencher: Bencher<'_, '_>) {
    program(bencher, 1, |_, _| ());
}

/// `corert.executeop` of a matrix product of one element, each on the result of the one before.
#[divan::bench]
fn executeop_matmul_1x1(bencher: Bencher<'_, '_>) {
    program(bencher, CHAIN, |writer, main| {
        let (handler, handle) = (writer.ty("!corert.ophandler"), writer.ty("!corert.tensorhandle"));
        let null = writer.kernel_name("corert.create_null_op_handler");
        let null = main.kernel(&KernelSpec { code: null, results: &[handler], ..KernelSpec::default() });
        let cpu = writer.kernel_name("corert.create_cpu_op_handler");
        let cpu = main.kernel(&KernelSpec {
            code: cpu,
            operands: &[null],
            results: &[handler],
            ..KernelSpec::default()
        });
        let (f32s, i64s) = (writer.ty("f32"), writer.ty("i64"));
        let ones = writer.attr_scalars(f32s, bef_format::DType::F32, &1.0f32.to_le_bytes(), true);
        let shape =
            writer.attr_scalars(i64s, bef_format::DType::I64, &[1, 0, 0, 0, 0, 0, 0, 0].repeat(2), true);
        let one = writer.kernel_name("corert.create_dense_tensor.f32");
        let one = main.kernel(&KernelSpec {
            code: one,
            results: &[handle],
            attrs: &[shape, ones],
            ..KernelSpec::default()
        });
        let (none, name) = (writer.attr_array(&[]), writer.attr_str("tf.MatMul"));
        let code = writer.kernel_name("corert.executeop");
        let last = (0..CHAIN).fold(one, |last, _| {
            main.kernel(&KernelSpec {
                code,
                operands: &[cpu, last, one],
                results: &[handle],
                attrs: &[none, none, name],
                ..KernelSpec::default()
            })
        });
        let unnamed = writer.string("");
        main.result(last, unnamed);
    });
}
