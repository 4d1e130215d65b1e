//! `tfrt`: scalars, chains, printing, calls.
//!
//! What the ops on numbers compute is in `befrost_tensor::scalar`.

use befrost_host::kernel::{Attr, Ignored, control};
use befrost_host::{Chain, ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::scalar::{Float, Integer};

/// Adds the kernels of the `tfrt` dialect.
pub fn tfrt(registry: &mut Registry) {
    registry.add(control::caller("tfrt.call"));
    registry.add(control::branch("tfrt.if"));
    registry.add(control::branch("tfrt.cond"));
    registry.add(control::case("tfrt.case"));
    registry.add(control::repeat("tfrt.repeat.i32"));
    registry.add(control::while_loop("tfrt.while"));
    registry.add(control::once("tfrt.once"));
    registry.add(control::parallel("tfrt.parallel_for.i32"));
    registry.add(control::parallel("tfrt.parallel_call.i32"));
    registry.add(kernel!("tfrt.new.chain", || Chain));
    registry.add(kernel!("tfrt.merge.chains", |_: Ignored| Chain));
    registry.add(kernel!("tfrt.and.i1", |a: bool, b: bool| a && b));
    registry.add(kernel!("tfrt.constant.i1", |value: Attr<bool>| value.0));
    integers(registry);
    floats(registry);
    prints(registry);
}

fn divide_by_zero() -> KernelError {
    KernelError::invalid("Divide by zero")
}

macro_rules! integer_kernels {
    ($registry:ident, $($ty:ident)*) => {$(
        $registry.add(kernel!(concat!("tfrt.constant.", stringify!($ty)), |value: Attr<$ty>| value.0));
        $registry.add(kernel!(concat!("tfrt.add.", stringify!($ty)), |a: $ty, b: $ty| Integer::add(a, b)));
        $registry.add(kernel!(concat!("tfrt.minus.", stringify!($ty)), |a: $ty, b: $ty| Integer::minus(a, b)));
        $registry.add(kernel!(concat!("tfrt.mul.", stringify!($ty)), |a: $ty, b: $ty| Integer::mul(a, b)));
        $registry.add(kernel!(concat!("tfrt.minimum.", stringify!($ty)), |a: $ty, b: $ty| Integer::minimum(a, b)));
        $registry.add(kernel!(concat!("tfrt.equal.", stringify!($ty)), |a: $ty, b: $ty| Integer::equal(a, b)));
        $registry.add(kernel!(concat!("tfrt.lessequal.", stringify!($ty)), |a: $ty, b: $ty| Integer::less_equal(a, b)));
        $registry.add(kernel!(concat!("tfrt.div.", stringify!($ty)), |a: $ty, b: $ty| {
            Integer::div(a, b).ok_or_else(divide_by_zero)
        }));
    )*};
}

fn integers(registry: &mut Registry) {
    integer_kernels!(registry, i32 i64);
}

macro_rules! float_kernels {
    ($registry:ident, $($ty:ident)*) => {$(
        $registry.add(kernel!(concat!("tfrt.constant.", stringify!($ty)), |value: Attr<$ty>| value.0));
        $registry.add(kernel!(concat!("tfrt.add.", stringify!($ty)), |a: $ty, b: $ty| Float::add(a, b)));
        $registry.add(kernel!(concat!("tfrt.multiply.", stringify!($ty)), |a: $ty, b: $ty| Float::multiply(a, b)));
        $registry.add(kernel!(concat!("tfrt.div.", stringify!($ty)), |a: $ty, b: $ty| {
            Float::div(a, b).ok_or_else(divide_by_zero)
        }));
        $registry.add(kernel!(concat!("tfrt.minimum.", stringify!($ty)), |a: $ty, b: $ty| Float::minimum(a, b)));
    )*};
}

fn floats(registry: &mut Registry) {
    float_kernels!(registry, f32 f64);
}

macro_rules! print_kernel {
    ($registry:ident, $ty:ident, $name:literal, $format:literal) => {
        $registry.add(kernel!(concat!("tfrt.print.", $name), |value: $ty, _: Chain, cx: &ExecContext| {
            cx.print(&format!($format, Value::from(value))).map(|()| Chain)
        }));
    };
}

fn prints(registry: &mut Registry) {
    print_kernel!(registry, bool, "i1", "int1 = {}\n");
    print_kernel!(registry, i32, "i32", "int32 = {}\n");
    print_kernel!(registry, i64, "i64", "int64 = {}\n");
    print_kernel!(registry, f32, "f32", "f32 = {}\n");
    print_kernel!(registry, f64, "f64", "f64 = {}\n");
}
