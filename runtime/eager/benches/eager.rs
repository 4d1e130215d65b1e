//! The cost of an operator that is executed by name: dispatch, inference, allocation, mathematics.
//!
//! `cargo bench -p befrost-eager`. The parts of an addition of scalars:
//!
//! ```text
//! nothing               dispatch on the path of small tensors: an operator that gives its operand
//! general_nothing       dispatch on the general path, that of a chain
//! inference             the metadata of the results, when operands have new types or shapes
//! allocation            the memory of the result
//! function_add_scalars  the tensor library's function, with the memory
//! add_scalars           all of it on the path of small tensors
//! general_add_scalars   all of it on the general path: beyond general_nothing and the function, the metadata
//!                       that is remembered for operands of these types and shapes
//! ```

#[path = "../../host/benches/common/calibration.rs"]
mod calibration;

use std::sync::Arc;

use bef_format::FunctionKind;
use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use befrost_eager::{ChainHandle, CoreRuntime, Mode, Op, OpAttrs, TensorHandle};
use befrost_host::{Program, call_into};
use befrost_kernel_api::{ExecContext, Registry, Request, Value};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::{PartialShape, op};
use befrost_tensor::{DType, HostTensor, I1, Shape};
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

fn scalar(n: i64) -> HostTensor {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    HostTensor::from_slice(Shape::scalar(), &[n], &allocator).unwrap_or_else(|error| panic!("{error}"))
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

/// The general path.
fn general(bencher: Bencher<'_, '_>, name: &str, n: usize) {
    let (op, x, mut chain) = (op(name), TensorHandle::from(tensor(&[])), ChainHandle::new());
    bencher.bench_local(|| {
        let args = (0..n).map(|_| x.clone()).collect();
        drop(black_box(op.call_after(black_box(&mut chain), args)));
    });
}

#[divan::bench]
fn general_nothing(bencher: Bencher<'_, '_>) {
    general(bencher, "tfrt_test.identity", 1);
}

#[divan::bench]
fn general_add_scalars(bencher: Bencher<'_, '_>) {
    general(bencher, "AddV2", 2);
}

#[divan::bench]
fn inference(bencher: Bencher<'_, '_>) {
    let row = op::row("AddV2").unwrap_or_else(|| panic!("AddV2"));
    let (none, ty) = (OpAttrs::new().freeze(), op::Type::Dense(DType::F32));
    let operand = || op::Operand::new(ty, PartialShape::new(Vec::new()));
    bencher.bench_local(|| {
        let attrs = op::Derived::new(row.signature(), &none, vec![Some(ty); 2], Vec::new());
        drop(black_box(row.infer(&attrs, black_box(&[operand(), operand()]))));
    });
}

#[divan::bench]
fn allocation(bencher: Bencher<'_, '_>) {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    bencher.bench_local(|| drop(black_box(HostTensor::allocate(DType::F32, Shape::scalar(), &allocator))));
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

/// Adds the kernels of a function, whose arguments are the results of the one before. Returns its result.
type AddKernels<'k> = &'k dyn Fn(&mut Writer, &mut FunctionBuilder) -> Option<u32>;

/// Runs the last of a program's functions again and again, those before it once.
fn program(bencher: Bencher<'_, '_>, items: usize, functions: &[AddKernels<'_>]) {
    let mut writer = Writer::new();
    let unnamed = writer.string("");
    let mut ids = Vec::new();
    for kernels in functions {
        let mut function = FunctionBuilder::new(unnamed, FunctionKind::Async);
        if let Some(result) = kernels(&mut writer, &mut function) {
            function.result(result, unnamed);
        }
        ids.push(writer.add(function));
    }
    let bytes = writer.finish().unwrap_or_else(|error| panic!("{error:?}"));
    let registry = Registry::new().with(befrost_eager::corert);
    let program = Program::from_bytes(&bytes, &registry).unwrap_or_else(|error| panic!("{error}"));
    let cx = context();
    let call = |id, arguments: &mut Vec<Value>, results: &mut Vec<Value>| {
        let called = call_into(&program, id, arguments, &cx, results);
        assert!(called.is_ok() && results.iter().all(|result| result.error().is_none()), "{results:?}");
    };
    let Some((main, before)) = ids.split_last() else { return };
    let mut given = Vec::new();
    for &id in before {
        let mut made = Vec::new();
        call(id, &mut given, &mut made);
        given = made;
    }
    let (mut arguments, mut results) = (Vec::new(), Vec::new());
    bencher.counter(ItemsCount::new(items)).bench_local(|| {
        arguments.extend(given.iter().cloned());
        call(*main, &mut arguments, &mut results);
        results.clear();
    });
}

/// A function without kernels, from outside.
#[divan::bench]
fn empty_function(bencher: Bencher<'_, '_>) {
    program(bencher, 1, &[&|_, _| None]);
}

/// Adds the kernels that make the handler of operators on the CPU.
fn cpu_handler(writer: &mut Writer, function: &mut FunctionBuilder) -> Option<u32> {
    let handler = writer.ty("!corert.ophandler");
    let null = writer.kernel_name("corert.create_null_op_handler");
    let null = function.kernel(&KernelSpec { code: null, results: &[handler], ..KernelSpec::default() });
    let code = writer.kernel_name("corert.create_cpu_op_handler");
    let cpu = KernelSpec { code, operands: &[null], results: &[handler], ..KernelSpec::default() };
    Some(function.kernel(&cpu))
}

/// `corert.executeop` of a matrix product of one element, each on the result of the one before. As in a
/// session, the handler is there before. The goal: 200 ns.
#[divan::bench]
fn executeop_matmul_1x1(bencher: Bencher<'_, '_>) {
    let products: AddKernels<'_> = &|writer, main| {
        let (handler, handle) = (writer.ty("!corert.ophandler"), writer.ty("!corert.tensorhandle"));
        let unnamed = writer.string("");
        let cpu = main.arg(handler, unnamed, None);
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
        Some(last)
    };
    program(bencher, CHAIN, &[&cpu_handler, products]);
}

/// The trips of collatz(27), operator by operator, with the conditions read by the caller. The goal: 120 us.
#[divan::bench]
fn collatz_27(bencher: Bencher<'_, '_>) {
    let core = core();
    let op = |name: &str| core.op(name, OpAttrs::new()).unwrap_or_else(|error| panic!("{error}"));
    let [not_equal, rest, half, times, plus] = ["NotEqual", "FloorMod", "FloorDiv", "Mul", "AddV2"].map(op);
    let int = |n: i64| TensorHandle::from(scalar(n));
    let [one, two, three, first] = [1, 2, 3, 27].map(int);
    let call = |op: &Op, a: &TensorHandle, b: &TensorHandle| {
        op.call(&[a.clone(), b.clone()]).unwrap_or_else(|error| panic!("{error}")).remove(0)
    };
    let holds = |x: &TensorHandle| {
        let read = x.dense().and_then(|x| x.read::<I1>().ok());
        read.is_some_and(|x| x[0].is_true())
    };
    bencher.bench_local(|| {
        let (mut n, mut trips) = (first.clone(), 0);
        while holds(&call(&not_equal, &n, &one)) {
            n = if holds(&call(&not_equal, &call(&rest, &n, &two), &one)) {
                call(&half, &n, &two)
            } else {
                call(&plus, &call(&times, &n, &three), &one)
            };
            trips += 1;
        }
        assert_eq!(trips, 111);
    });
}
