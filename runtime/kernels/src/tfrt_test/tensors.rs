//! The tensor kernels of TFRT's training examples (MNIST, ResNet), in destination-passing style, ordered by
//! chains.
//!
//! They call TensorFlow's operators (`befrost_tensor::tf`); images are NHWC.

use befrost_kernel_api::kernel::{RawAttr, StrAttr};
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, kernel};
use befrost_tensor::scratch::copied;
use befrost_tensor::tf::{
    Binary, Compare, Pool, Reduce, Unary, arg_extreme, binary, broadcast_to, cast, compare, pool, reduce,
    slice, softmax, transpose, unary,
};
use befrost_tensor::{DType, Element, HostTensor, TensorError, ops};

use crate::eigen::zero_padding;
use crate::gemm::gemm;
use crate::images::{typed, windows};
use crate::objects::{ShapeValue, Tensor, refused};

/// Adds the kernels.
pub(super) fn add(registry: &mut Registry) {
    numbers(registry);
    floats(registry);
    images(registry);
    registry.add(kernel!("tfrt_test.cast.i32_to_f32", |a: &Tensor, b: &Tensor, cx: &ExecContext| {
        put(typed::<i32>(&[a]).and_then(|()| cast(a, DType::F32, cx.allocator())), b)
    }));
}

/// Writes a result to `out`.
fn put(result: Result<HostTensor, TensorError>, out: &Tensor) -> Result<Chain, KernelError> {
    result.and_then(|result| ops::copy(&result, out)).map(|()| Chain).map_err(refused)
}

/// A result as a new tensor.
fn new(result: Result<HostTensor, TensorError>) -> Result<Tensor, KernelError> {
    result.map(Tensor).map_err(refused)
}

/// Elementwise equality as 1 or 0 of the element type.
fn equal<T: Element>(a: &Tensor, b: &Tensor, cx: &ExecContext) -> Result<HostTensor, TensorError> {
    typed::<T>(&[a, b])?;
    cast(&compare(Compare::Equal, a, b, cx.allocator())?, T::DTYPE, cx.allocator())
}

fn calculate<T: Element>(
    op: Binary,
    a: &Tensor,
    b: &Tensor,
    cx: &ExecContext,
) -> Result<HostTensor, TensorError> {
    typed::<T>(&[a, b])?;
    binary(op, a, b, cx.allocator())
}

fn relu<T: Element>(x: &Tensor, cx: &ExecContext) -> Result<HostTensor, TensorError> {
    typed::<T>(&[x])?;
    unary(Unary::Relu, x, cx.allocator())
}

fn broadcast<T: Element>(
    x: &Tensor,
    shape: &ShapeValue,
    rank: usize,
    cx: &ExecContext,
) -> Result<Tensor, KernelError> {
    if shape.0.rank() != rank {
        return Err(KernelError::invalid(format!("the shape {} is not of rank {rank}", shape.0)));
    }
    let shape = shape.of_tensor()?;
    new(typed::<T>(&[x]).and_then(|()| broadcast_to(x, &shape, cx.allocator())))
}

/// The slice of `x` that starts at `begin` and has the shape of `out`.
fn part<T: Element>(
    x: &Tensor,
    begin: &Tensor,
    out: &Tensor,
    cx: &ExecContext,
) -> Result<HostTensor, TensorError> {
    typed::<T>(&[x])?;
    let begin = copied(&begin.read_as::<i64>("begin")?)?;
    let size: Vec<i64> = out.shape().dims().iter().map(|&dim| dim as i64).collect();
    slice(x, &begin, &size, cx.allocator())
}

macro_rules! number_kernels {
    ($registry:ident, $($t:literal $ty:ty,)*) => {$(
        $registry.add(kernel!(
            concat!("tfrt_test.add.", $t),
            |a: &Tensor, b: &Tensor, c: &Tensor, cx: &ExecContext| put(calculate::<$ty>(Binary::Add, a, b, cx), c)
        ));
        $registry.add(kernel!(
            concat!("tfrt_test.add_inplace.", $t),
            |a: &Tensor, b: &Tensor, cx: &ExecContext| put(calculate::<$ty>(Binary::Add, a, b, cx), b)
        ));
        $registry.add(kernel!(concat!("tfrt_test.argmax.", $t, ".2"), |a: &Tensor, cx: &ExecContext| {
            new(typed::<$ty>(&[a]).and_then(|()| arg_extreme(true, a, 1, DType::I32, cx.allocator())))
        }));
        $registry.add(kernel!(
            concat!("tfrt_test.broadcast.", $t, ".2"),
            |a: &Tensor, shape: &ShapeValue, cx: &ExecContext| broadcast::<$ty>(a, shape, 2, cx)
        ));
        $registry.add(kernel!(
            concat!("tfrt_test.broadcast.", $t, ".3"),
            |a: &Tensor, shape: &ShapeValue, cx: &ExecContext| broadcast::<$ty>(a, shape, 3, cx)
        ));
        $registry.add(kernel!(
            concat!("tfrt_test.equal.", $t),
            |a: &Tensor, b: &Tensor, c: &Tensor, cx: &ExecContext| put(equal::<$ty>(a, b, cx), c)
        ));
        $registry.add(kernel!(
            concat!("tfrt_test.equal_inplace.", $t),
            |a: &Tensor, b: &Tensor, cx: &ExecContext| put(equal::<$ty>(a, b, cx), b)
        ));
        $registry.add(kernel!(
            concat!("tfrt_test.matmul.", $t, ".2"),
            |alpha: $ty, a: &Tensor, b: &Tensor, beta: $ty, c: &Tensor, cx: &ExecContext| {
                gemm::<$ty>(alpha, [a, b], beta, c, cx).map(|()| Chain)
            }
        ));
        $registry.add(kernel!(
            concat!("tfrt_test_sync.matmul.", $t, ".2"),
            |alpha: $ty, a: &Tensor, b: &Tensor, beta: $ty, c: &Tensor, cx: &ExecContext| {
                gemm::<$ty>(alpha, [a, b], beta, c, cx)
            }
        ));
        $registry.add(kernel!(concat!("tfrt_test.reduce_mean.", $t, ".1"), |a: &Tensor, cx: &ExecContext| {
            new(typed::<$ty>(&[a]).and_then(|()| reduce(Reduce::Mean, a, &[0], false, cx.allocator())))
        }));
        $registry.add(kernel!(
            concat!("tfrt_test.relu.", $t),
            |a: &Tensor, b: &Tensor, cx: &ExecContext| put(relu::<$ty>(a, cx), b)
        ));
        $registry.add(kernel!(
            concat!("tfrt_test_sync.relu.", $t),
            |a: &Tensor, b: &Tensor, cx: &ExecContext| put(relu::<$ty>(a, cx), b).map(|_| ())
        ));
        $registry.add(kernel!(
            concat!("tfrt_test.relu_inplace.", $t),
            |a: &Tensor, cx: &ExecContext| put(relu::<$ty>(a, cx), a)
        ));
        $registry.add(kernel!(
            concat!("tfrt_test.relu_grad_inplace.", $t),
            |activation: &Tensor, gradient: &Tensor, cx: &ExecContext| {
                put(calculate::<$ty>(Binary::ReluGrad, gradient, activation, cx), gradient)
            }
        ));
        $registry.add(kernel!(
            concat!("tfrt_test.slice_inplace.", $t, ".3"),
            |input: &Tensor, begin: &Tensor, _: Chain, output: &Tensor, cx: &ExecContext| {
                put(part::<$ty>(input, begin, output, cx), output)
            }
        ));
    )*};
}

fn numbers(registry: &mut Registry) {
    number_kernels!(registry, "f32" f32, "i32" i32, "i64" i64,);
}

fn floats(registry: &mut Registry) {
    registry.add(kernel!("tfrt_test.flatten.f32", |input: &Tensor, output: &Tensor, _: Chain| {
        put(typed::<f32>(&[input]).and_then(|()| input.reshaped(output.shape().clone())), output)
    }));
    registry.add(kernel!(
        "tfrt_test.gradient_descent.f32",
        |gradient: &Tensor, rate: &Tensor, output: &Tensor, cx: &ExecContext| {
            let step = calculate::<f32>(Binary::Mul, gradient, rate, cx).map(Tensor);
            put(step.and_then(|step| calculate::<f32>(Binary::Sub, output, &step, cx)), output)
        }
    ));
    registry.add(kernel!(
        "tfrt_test.mean_axis_zero.f32",
        |input: &Tensor, output: &Tensor, _: Chain, cx: &ExecContext| mean(input, &[0], output, cx)
    ));
    registry.add(kernel!("tfrt_test.softmax_inplace.f32", |a: &Tensor, _: Chain, cx: &ExecContext| {
        put(typed::<f32>(&[a]).and_then(|()| softmax(a, cx.allocator())), a)
    }));
    registry.add(kernel!(
        "tfrt_test.subtract_inplace.f32",
        |input: &Tensor, output: &Tensor, cx: &ExecContext| {
            put(calculate::<f32>(Binary::Sub, output, input, cx), output)
        }
    ));
    registry.add(kernel!(
        "tfrt_test.tensor_transpose.f32",
        |input: &Tensor, output: &Tensor, _: Chain, cx: &ExecContext| {
            put(typed::<f32>(&[input]).and_then(|()| transpose(input, &[1, 0], cx.allocator())), output)
        }
    ));
}

fn mean(input: &Tensor, axes: &[i64], output: &Tensor, cx: &ExecContext) -> Result<Chain, KernelError> {
    put(
        typed::<f32>(&[input]).and_then(|()| reduce(Reduce::Mean, input, axes, false, cx.allocator())),
        output,
    )
}

fn images(registry: &mut Registry) {
    registry.add(kernel!(
        "tfrt_test.broadcast_2d.f32",
        |input: &Tensor, output: &Tensor, _: Chain, cx: &ExecContext| put(
            over_image(input, output, cx),
            output
        )
    ));
    registry.add(kernel!(
        "tfrt_test.global_average_pooling.f32",
        |input: &Tensor, output: &Tensor, _: Chain, cx: &ExecContext| mean(input, &[1, 2], output, cx)
    ));
    registry.add(kernel!(
        "tfrt_test.max_pooling_2d.f32",
        |input: &Tensor,
         output: &Tensor,
         _: Chain,
         padding: StrAttr<'_>,
         window: RawAttr<'_>,
         strides: RawAttr<'_>,
         cx: &ExecContext| {
            let attrs = windows(padding.0, &window, &strides)?;
            put(typed::<f32>(&[input]).and_then(|()| pool(Pool::Max, input, &attrs, cx.allocator())), output)
        }
    ));
    registry.add(kernel!(
        "tfrt_test.zero_padding.f32",
        |input: &Tensor, output: &Tensor, _: Chain, padding: RawAttr<'_>, cx: &ExecContext| {
            zero_padding(input, output, &padding, cx)
        }
    ));
}

/// Broadcasts a vector of channels for each image of a batch to all pixels.
fn over_image(input: &Tensor, output: &Tensor, cx: &ExecContext) -> Result<HostTensor, TensorError> {
    typed::<f32>(&[input])?;
    let &[batch, channels] = input.shape().dims() else {
        return Err(TensorError::Invalid {
            op: "broadcast_2d",
            problem: format!("the shape {} is not of rank 2", input.shape()),
        });
    };
    let pixels = input.reshaped(befrost_tensor::Shape::new(&[batch, 1, 1, channels])?)?;
    broadcast_to(&pixels, output.shape(), cx.allocator())
}
