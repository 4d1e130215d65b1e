//! `tf_sync`: TensorFlow operators for synchronous functions: without chains, in destination-passing style.

use bef_format::AttrView;
use befrost_kernel_api::kernel::{Attr, DenseAttr, RawAttr, Rest};
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::tf::fast::{self, Cx};
use befrost_tensor::tf::{Binary, ImageFormat, Transposition, Unary, broadcast_to, concat, tile};
use befrost_tensor::{Element, HostTensor, TensorError, ops};

use crate::cpu::constant;
use crate::images::{compute_into, typed};
use crate::objects::{AnyTensor, Tensor, WriteOnceStrings, refused};

/// Adds the kernels of the `tf_sync` dialect.
pub fn tf_sync(registry: &mut Registry) {
    registry.add(kernel!("tf_sync.Const", |out: &Tensor, value: DenseAttr<'_>, cx: &ExecContext| {
        ops::copy(&constant(value, cx)?.0, out).map_err(refused)
    }));
    registry.add(kernel!("tf_sync.Tile.string", tile_strings));
    numbers(registry);
    floats(registry);
}

macro_rules! number_kernels {
    ($registry:ident, $($t:literal $ty:ty,)*) => {$(
        binary_kernels!($registry, $t $ty, "AddV2" Add, "Mul" Mul, "RealDiv" RealDiv, "Sub" Sub);
        $registry.add(kernel!(
            concat!("tf_sync.ConcatV2.", $t),
            |axis: i32, tensors: Rest<'_, Value>, cx: &ExecContext| join::<$ty>(axis, &tensors, cx)
        ));
        $registry.add(kernel!(
            concat!("tf_sync.Tile.", $t),
            |x: &Tensor, multiples: &Tensor, out: &Tensor, cx: &ExecContext| {
                compute_into(cx, out, |cx| {
                    typed::<$ty>(&[x])?;
                    tile(x, &positions(multiples)?, cx.allocator)
                })
            }
        ));
    )*};
}

macro_rules! binary_kernels {
    ($registry:ident, $t:literal $ty:ty, $($name:literal $op:ident),*) => {$(
        $registry.add(kernel!(
            concat!("tf_sync.", $name, ".", $t),
            |a: AnyTensor<'_>, b: AnyTensor<'_>, out: &Tensor, cx: &ExecContext| {
                compute_into(cx, out, |cx| {
                    let (a, b) = (dense::<$ty>(&a, cx)?, dense::<$ty>(&b, cx)?);
                    fast::binary(Binary::$op, a, b, cx)
                })
            }
        ));
    )*};
}

fn numbers(registry: &mut Registry) {
    number_kernels!(registry, "f32" f32, "f64" f64, "i32" i32, "i64" i64,);
}

macro_rules! float_kernels {
    ($registry:ident, $($t:literal $ty:ty,)*) => {$(
        unary_kernels!($registry, $t $ty,
            "Log" |x, cx| fast::unary(Unary::Log, x, cx);
            "Log1p" |x, cx| fast::unary(Unary::Log1p, x, cx);
            "Rsqrt" |x, cx| fast::unary(Unary::Rsqrt, x, cx);
            "Sigmoid" |x, cx| fast::unary(Unary::Sigmoid, x, cx);
            "Softmax" fast::softmax;
            "LogSoftmax" fast::log_softmax;);
        $registry.add(kernel!(
            concat!("tf_sync._FusedMatMul.", $t),
            |a: &Tensor,
             b: &Tensor,
             out: &Tensor,
             more: Rest<'_, Value>,
             fused: RawAttr<'_>,
             trans_a: Attr<bool>,
             trans_b: Attr<bool>,
             cx: &ExecContext| {
                fused_matmul::<$ty>([a, b], [trans_a.0, trans_b.0], (&fused, &more), out, cx)
            }
        ));
    )*};
}

macro_rules! unary_kernels {
    ($registry:ident, $t:literal $ty:ty, $($name:literal $function:expr;)*) => {$(
        $registry.add(kernel!(
            concat!("tf_sync.", $name, ".", $t),
            |x: &Tensor, out: &Tensor, cx: &ExecContext| {
                let function: fn(HostTensor, &Cx<'_>) -> Result<HostTensor, TensorError> = $function;
                compute_into(cx, out, |cx| {
                    typed::<$ty>(&[x])?;
                    function(x.0.clone(), cx)
                })
            }
        ));
    )*};
}

fn floats(registry: &mut Registry) {
    float_kernels!(registry, "f32" f32, "f64" f64,);
}

/// A tensor of numbers as a dense tensor.
fn dense<T: Element>(x: &AnyTensor<'_>, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let tensor = match x {
        AnyTensor::Dense(tensor) => tensor.0.clone(),
        AnyTensor::Scalar(tensor) => broadcast_to(&tensor.value, &tensor.shape, cx.allocator)?,
        AnyTensor::Coo(_) | AnyTensor::Strings(_) => {
            let problem = "expected a tensor of numbers with all of its elements".to_owned();
            return Err(TensorError::Invalid { op: "tf_sync", problem });
        }
    };
    tensor.expect_dtype("operand", T::DTYPE)?;
    Ok(tensor)
}

/// The elements of an integer vector.
fn positions(x: &Tensor) -> Result<Vec<i64>, TensorError> {
    use befrost_tensor::{DType, tf};
    let wide = tf::cast(x, DType::I64, &befrost_tensor::mem::Malloc::shared())?;
    wide.to_vec::<i64>()
}

/// Concatenates all tensors but the last into the last.
fn join<T: Element>(axis: i32, tensors: &Rest<'_, Value>, cx: &ExecContext) -> Result<(), KernelError> {
    let tensors: Option<Vec<&Tensor>> = tensors.iter().map(Value::downcast_ref).collect();
    let Some([inputs @ .., out]) = tensors.as_deref() else {
        return Err(KernelError::invalid("expected tensors, and one to put them into"));
    };
    compute_into(cx, out, |cx| {
        typed::<T>(inputs)?;
        let inputs: Vec<&HostTensor> = inputs.iter().map(|tensor| &tensor.0).collect();
        concat(&inputs, i64::from(axis), cx.allocator)
    })
}

/// A product with fused functions, in the order of the attribute. Biases are among the further operands.
fn fused_matmul<T: Element>(
    [a, b]: [&Tensor; 2],
    transposed: [bool; 2],
    (fused, more): (&RawAttr<'_>, &Rest<'_, Value>),
    out: &Tensor,
    cx: &ExecContext,
) -> Result<(), KernelError> {
    let mut more = more.iter().map(Value::downcast_ref::<Tensor>);
    let mut steps = Vec::new();
    for element in fused.elements() {
        let AttrView::Str(name) = element.view else {
            return Err(KernelError::invalid(format!("expected a list of names, got {:?}", element.view)));
        };
        steps.push(match name {
            "BiasAdd" => match more.next().flatten() {
                Some(bias) => Step::Bias(bias),
                None => return Err(KernelError::invalid("BiasAdd has no operand")),
            },
            "Relu" => Step::Function(Unary::Relu),
            "Relu6" => Step::Function(Unary::Relu6),
            "Elu" => Step::Function(Unary::Elu),
            other => return Err(KernelError::invalid(format!("cannot fuse '{other}' with a product"))),
        });
    }
    let [trans_a, trans_b] =
        transposed.map(|is| if is { Transposition::Transpose } else { Transposition::None });
    compute_into(cx, out, |cx| {
        typed::<T>(&[a, b])?;
        let product = fast::matmul(a, trans_a, b, trans_b, cx)?;
        steps.iter().try_fold(product, |x, step| match *step {
            Step::Bias(bias) => fast::bias_add(x, bias, ImageFormat::Nhwc, cx),
            Step::Function(function) => fast::unary(function, x, cx),
        })
    })
}

/// A function fused with a product.
enum Step<'a> {
    Bias(&'a Tensor),
    Function(Unary),
}

/// Tiles strings along each axis to the size of `out`.
fn tile_strings(x: AnyTensor<'_>, out: &WriteOnceStrings, cx: &ExecContext) -> Result<(), KernelError> {
    let AnyTensor::Strings(x) = x else { return Err(KernelError::invalid("expected a tensor of strings")) };
    out.write(x, cx.allocator())
}
