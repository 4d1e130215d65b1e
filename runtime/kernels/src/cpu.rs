//! `cpu`: tensor computations in destination-passing style. `out` is an operand, and the chain result is
//! final when it is written.

use befrost_kernel_api::kernel::{Attr, DenseAttr};
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, kernel};
use befrost_tensor::{DType, Element, HostTensor, Shape, ops};

use crate::images::compute;
use crate::objects::{ShapeValue, Tensor, refused};

/// Adds the kernels of the `cpu` dialect.
pub fn cpu(registry: &mut Registry) {
    registry.add(kernel!("cpu.constant", constant));
    allocations(registry);
    registry.add(kernel!("cpu.after", |tensor: &Tensor, _: Chain| tensor.clone()));
    registry.add(kernel!("cpu.matmul.f32", |a: &Tensor,
                                            b: &Tensor,
                                            out: &Tensor,
                                            _: Chain,
                                            cx: &ExecContext| {
        f32s(&[("a", a), ("b", b)])?;
        compute(cx, |_| ops::matmul(a, b, out)).map(|()| Chain)
    }));
    registry.add(kernel!("cpu.bias_add.f32", |x: &Tensor, bias: &Tensor, out: &Tensor, _: Chain| {
        f32s(&[("x", x), ("bias", bias)])?;
        ops::bias_add(x, bias, out).map(|()| Chain).map_err(refused)
    }));
    registry.add(kernel!("cpu.relu.f32", |x: &Tensor, out: &Tensor, _: Chain| {
        f32s(&[("x", x)])?;
        ops::relu(x, out).map(|()| Chain).map_err(refused)
    }));
    registry.add(kernel!("cpu.softmax.f32", |x: &Tensor, out: &Tensor, _: Chain| {
        f32s(&[("x", x)])?;
        ops::softmax(x, out).map(|()| Chain).map_err(refused)
    }));
    registry.add(kernel!("cpu.argmax.f32", |x: &Tensor, out: &Tensor, _: Chain, axis: Attr<i32>| {
        f32s(&[("x", x)])?;
        ops::argmax(x, i64::from(axis.0), out).map(|()| Chain).map_err(refused)
    }));
    registry.add(kernel!("cpu.count_equal.i32", |a: &Tensor, b: &Tensor, _: Chain| {
        a.expect_dtype("a", DType::I32).map_err(refused)?;
        let count = ops::count_equal(a, b).map_err(refused)?;
        let count =
            i32::try_from(count).map_err(|_| KernelError::invalid(format!("{count} does not fit an i32")))?;
        Ok::<_, KernelError>((count, Chain))
    }));
}

/// A constant of the file, as a view without a copy.
pub(crate) fn constant(value: DenseAttr<'_>, cx: &ExecContext) -> Result<Tensor, KernelError> {
    let dtype = DType::from_code(value.dtype as u8)
        .ok_or_else(|| KernelError::invalid(format!("tensors of {} are not supported", value.dtype)))?;
    let shape = Shape::from_i64(value.shape).map_err(refused)?;
    let tensor = match value.splat {
        true => HostTensor::repeated(dtype, shape, value.data, cx.allocator()),
        false => HostTensor::from_buffer(dtype, shape, value.data),
    };
    tensor.map(Tensor).map_err(refused)
}

macro_rules! allocate {
    ($registry:ident, $($ty:ident)*) => {$(
        $registry.add(kernel!(
            concat!("cpu.allocate.", stringify!($ty)),
            |shape: &ShapeValue, cx: &ExecContext| {
                HostTensor::allocate(<$ty as Element>::DTYPE, shape.of_tensor()?, cx.allocator()).map(Tensor).map_err(refused)
            }
        ));
    )*};
}

fn allocations(registry: &mut Registry) {
    allocate!(registry, i32 i64 f32 f64);
}

/// Error unless all operands are f32.
fn f32s(operands: &[(&'static str, &Tensor)]) -> Result<(), KernelError> {
    operands.iter().try_for_each(|(what, tensor)| tensor.expect_dtype(what, DType::F32)).map_err(refused)
}
