//! `tfrt`: scalars, chains, printing, calls.
//!
//! The scalar arithmetic is in `befrost_tensor::scalar`.

use std::sync::Arc;

use befrost_kernel_api::async_value::{AsyncRef, Promise};
use befrost_kernel_api::device::{DeviceBuffer, DeviceSet};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{Attr, Kernel, KernelFrame, Outcome, Rest, Signature, StrAttr, control};
use befrost_kernel_api::value::Scalar;
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::scalar::{Float, Integer};
use half::{bf16, f16};

use crate::objects::{Complex128, Device};

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
    let merged = Signature {
        rest: Some(&[]),
        results: vec![<Chain as Scalar>::TYPES],
        stores_all: true,
        takes_any_memory: true,
        ..Signature::default()
    };
    registry.add(Kernel::new("tfrt.merge.chains", merged, merge_chains));
    registry.add(kernel!("tfrt.and.i1", |a: bool, b: bool| a && b));
    registry.add(kernel!("tfrt.constant.i1", |value: Attr<bool>| value.0).constant());
    integers(registry);
    floats(registry);
    constants(registry);
    casts(registry);
    prints(registry);
    registry.add(kernel!("tfrt.alias.value", |_: Chain, values: Rest<'_, Value>| values.to_vec()));
    registry.add(kernel!("tfrt.get_device", |_: Chain, name: StrAttr<'_>| device(name.0)));
}

/// A chain that is final when all operands are. A value in the memory of a device with streams is concrete
/// as soon as its launch is in a stream; the chain waits until the launch has ended, and is its error if it
/// fails.
fn merge_chains(frame: &mut KernelFrame<'_>) -> Outcome {
    let devices = frame.context().request.devices.as_ref().filter(|devices| devices.has_streams());
    let merged = devices.cloned().and_then(|devices| ended(frame, &devices));
    frame.set_result(0, merged.unwrap_or(Value::Chain));
    Outcome::Done
}

/// The end of the launches of those operands that are in the memory of a device; `None` if none is.
fn ended(frame: &KernelFrame<'_>, devices: &DeviceSet) -> Option<Value> {
    let operands = (0..frame.n_operands()).filter_map(|i| frame.operand(i)?.downcast_ref::<DeviceBuffer>());
    let buffers: Vec<DeviceBuffer> = operands.cloned().collect();
    if buffers.is_empty() {
        return None;
    }
    let (promise, merged) = AsyncRef::pending();
    let launches = Arc::new(Launches { buffers, promise: Some(promise) });
    for buffer in &launches.buffers {
        if let Some(device) = buffer.device(devices) {
            let launches = launches.clone();
            device.reached(buffer.position()).and_then(move |_| drop(launches));
        }
    }
    Some(Value::Async(merged))
}

/// Launches that are waited for. Who holds it last sets the promise.
struct Launches {
    buffers: Vec<DeviceBuffer>,
    promise: Option<Promise>,
}

impl Drop for Launches {
    fn drop(&mut self) {
        let mut value = Value::Chain;
        for buffer in &self.buffers {
            // Dead wins over error, and the first error over others.
            match (buffer.content().get(), &value) {
                (Some(Value::Dead), _) => value = Value::Dead,
                (Some(error @ Value::Error(_)), Value::Chain) => value = error.clone(),
                _ => {}
            }
        }
        if let Some(promise) = self.promise.take() {
            promise.set(value);
        }
    }
}

/// The device of this name; only the host exists.
fn device(name: &str) -> Result<Device, KernelError> {
    let is_host = |name: &str| matches!(name, "CPU:0" | "cpu:0");
    if is_host(name.rsplit('/').next().unwrap_or(name).trim_start_matches("device:")) {
        return Ok(Device { name: "CPU:0".into() });
    }
    Err(KernelError::new(ErrorCode::NotFound, format!("failed to find device '{name}'; there is CPU:0")))
}

fn divide_by_zero() -> KernelError {
    KernelError::invalid("Divide by zero")
}

macro_rules! integer_kernels {
    ($registry:ident, $($ty:ident)*) => {$(
        $registry.add(kernel!(concat!("tfrt.constant.", stringify!($ty)), |value: Attr<$ty>| value.0).constant());
        $registry.add(kernel!(concat!("tfrt.add.", stringify!($ty)), |a: $ty, b: $ty| Integer::add(a, b)));
        $registry.add(kernel!(concat!("tfrt.minus.", stringify!($ty)), |a: $ty, b: $ty| Integer::minus(a, b)));
        $registry.add(kernel!(concat!("tfrt.mul.", stringify!($ty)), |a: $ty, b: $ty| Integer::mul(a, b)));
        $registry.add(kernel!(concat!("tfrt.add_s.", stringify!($ty)), |a: $ty, b: $ty| Integer::add(a, b)));
        $registry.add(kernel!(concat!("tfrt.mul_s.", stringify!($ty)), |a: $ty, b: $ty| Integer::mul(a, b)));
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
        $registry.add(kernel!(concat!("tfrt.constant.", stringify!($ty)), |value: Attr<$ty>| value.0).constant());
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

macro_rules! constant_kernels {
    ($registry:ident, $($ty:ident $name:literal)*) => {$(
        $registry.add(kernel!($name, |value: Attr<$ty>| value.0));
    )*};
}

fn constants(registry: &mut Registry) {
    constant_kernels!(registry,
        u32 "tfrt.constant.ui32" u64 "tfrt.constant.ui64" f16 "tfrt.constant.f16" bf16 "tfrt.constant.bf16"
        i32 "tfrt.constant_s.i32" i64 "tfrt.constant_s.i64" f16 "tfrt.constant_s.f16" bf16 "tfrt.constant_s.bf16"
        f32 "tfrt.constant_s.f32" f64 "tfrt.constant_s.f64");
    // Attributes are in the order of their names, so the imaginary part is first.
    registry.add(kernel!("tfrt.constant.complex64", |im: Attr<f32>, re: Attr<f32>| [re.0, im.0]));
    registry
        .add(kernel!("tfrt.constant.complex128", |im: Attr<f64>, re: Attr<f64>| Complex128([re.0, im.0])));
}

/// Float to integer rounds toward zero and saturates; integer to float rounds to nearest. The compiler folds
/// with the same casts.
fn casts(registry: &mut Registry) {
    registry.add(kernel!("tfrt.cast.f32_to_i64", |value: f32| value as i64));
    registry.add(kernel!("tfrt.cast.f64_to_i64", |value: f64| value as i64));
    registry.add(kernel!("tfrt.cast.i64_to_f32", |value: i64| value as f32));
    registry.add(kernel!("tfrt.cast.i64_to_f64", |value: i64| value as f64));
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
    // As in TFRT, whose tests expect the bits.
    registry.add(kernel!("tfrt.print.f16", |value: f16, _: Chain, cx: &ExecContext| {
        cx.print(&format!("f16 = {}\n", value.to_bits())).map(|()| Chain)
    }));
    registry.add(kernel!("tfrt.print.complex64", |value: [f32; 2], _: Chain, cx: &ExecContext| {
        print_complex("complex64", value.map(Value::F32), cx)
    }));
    registry.add(kernel!("tfrt.print.complex128", |value: &Complex128, _: Chain, cx: &ExecContext| {
        print_complex("complex128", value.0.map(Value::F64), cx)
    }));
}

fn print_complex(name: &str, [re, im]: [Value; 2], cx: &ExecContext) -> Result<Chain, KernelError> {
    let im = im.to_string();
    let sign = if im.starts_with('-') { "" } else { "+" };
    cx.print(&format!("{name} = {re}{sign}{im}i\n")).map(|()| Chain)
}
