//! Conversions from and to handles.
//!
//! Nothing waits: the result of a conversion becomes final with the handle.

use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::kernel::{Kernel, Outcome, Signature};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::value::Scalar;
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, Value, kernel};
use befrost_kernels::{Device, ShapeValue, Tensor, TensorType, refused};
use befrost_tensor::tf::cast;
use befrost_tensor::{DType, Dims, Shape};

use crate::handle::{TensorHandle, dense, metadata_of, representation};

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("corert.print_tensorhandle", |handle: &TensorHandle, cx: &ExecContext| {
        print(handle, cx).map(|()| Chain)
    }));
    registry.add(kernel!("corert_sync.print_tensorhandle", print));
    let signature = || Signature {
        operands: vec![Tensor::TYPES, Chain::TYPES],
        results: vec![TensorHandle::TYPES],
        stores_all: true,
        ..Signature::default()
    };
    registry.add(Kernel::lazy("corert.ht_to_tensorhandle", signature, |frame| {
        if !matches!(frame.operand(1), Some(Value::Chain))
            || frame.operand(0).is_none_or(|x| !x.is_concrete())
        {
            return Outcome::Operand;
        }
        match frame.take_operand(0) {
            Some(tensor) => {
                frame.set_result(0, Value::object(TensorHandle::new(tensor)));
                Outcome::Done
            }
            None => Outcome::Operand,
        }
    }));
    registry.add(kernel!("corert.tensorhandle_to_ht", |handle: &TensorHandle| {
        later(handle, |value| Ok(value.clone()))
    }));
    registry.add(kernel!("corert.tensorhandle_to_shape", |handle: &TensorHandle| {
        match handle.shape() {
            Some(shape) => shape_value(&shape).unwrap_or_else(|error| Value::Error(error.into())),
            None => later(handle, |value| match metadata_of(value) {
                Some(metadata) => shape_value(&metadata.shape),
                None => Err(KernelError::invalid("the value is no tensor")),
            }),
        }
    }));
    registry.add(kernel!("corert.tensorhandle_to_int32", |handle: &TensorHandle, cx: &ExecContext| {
        let cx = cx.clone();
        later(handle, move |value| number(value, &cx).map(Value::I32))
    }));
    registry.add(kernel!("corert.get_dst_tensor_type", |handle: &TensorHandle, _: &Device| {
        later(handle, |value| {
            let name = representation(value).ok_or_else(|| KernelError::invalid("the value is no tensor"))?;
            Ok(Value::object(TensorType(name.to_owned())))
        })
    }));
    registry.add(kernel!("corert.transfer", transfer));
    registry.add(kernel!("corert.transfer_inferred_tensortype", |handle: &TensorHandle, _: &Device| {
        handle.clone()
    }));
    registry.add(kernel!("tfrt_test.error_tensorhandle", || {
        Err::<TensorHandle, _>(KernelError::new(
            befrost_kernel_api::error::ErrorCode::Unknown,
            "invalid tensorhandle",
        ))
    }));
}

fn print(handle: &TensorHandle, cx: &ExecContext) -> Result<(), KernelError> {
    cx.print(&format!("{handle}\n"))
}

/// The result of `f` for the tensor of a handle, asynchronous if the handle is not final. An error is passed
/// on.
fn later(
    handle: &TensorHandle,
    f: impl FnOnce(&Value) -> Result<Value, KernelError> + Send + 'static,
) -> Value {
    let made = |value: &Value| match value {
        Value::Error(_) => value.clone(),
        value => f(value).unwrap_or_else(|error| Value::Error(error.into())),
    };
    match handle.value() {
        Some(value) => made(value),
        None => {
            let (promise, result) = AsyncRef::pending();
            handle.and_then(move |value| promise.set(made(value)));
            Value::Async(result)
        }
    }
}

fn shape_value(shape: &Shape) -> Result<Value, KernelError> {
    Ok(Value::object(ShapeValue(Dims::new(shape.dims()).map_err(refused)?)))
}

/// The number in a tensor of one element.
fn number(value: &Value, cx: &ExecContext) -> Result<i32, KernelError> {
    let tensor = dense(value, cx)?;
    match &tensor.read_as::<i32>("the tensor").map_err(refused)?[..] {
        [number] => Ok(*number),
        numbers => Err(KernelError::invalid(format!("a tensor of {} elements, expected one", numbers.len()))),
    }
}

fn transfer(
    handle: &TensorHandle,
    _: &Device,
    wanted: &TensorType,
    cx: &ExecContext,
) -> Result<TensorHandle, KernelError> {
    let (wanted, cx) = (wanted.0.clone(), cx.clone());
    if handle.error().is_some() {
        return Ok(handle.clone());
    }
    let convert = move |value: &Value| {
        let found = representation(value).unwrap_or("value");
        match &*wanted {
            wanted if wanted == found => Ok(value.clone()),
            "DenseHost" => dense(value, &cx).map(|tensor| Value::object(Tensor(tensor))),
            wanted => Err(KernelError::invalid(format!("cannot convert {found} to {wanted}"))),
        }
    };
    match handle.value() {
        Some(value) => convert(value).map(TensorHandle::new),
        None => {
            let (promise, result) = TensorHandle::pending(handle.metadata());
            promise.set(later(handle, convert));
            Ok(result)
        }
    }
}

/// Whether a predicate holds: a number that is not zero, a string that is not empty.
pub(super) fn predicate(value: &Value, cx: &ExecContext) -> Result<bool, KernelError> {
    use befrost_kernels::AnyTensor;
    let one = |n: usize| match n {
        1 => Ok(()),
        n => Err(KernelError::invalid(format!("a predicate of {n} elements, expected one"))),
    };
    match AnyTensor::of(value) {
        Some(AnyTensor::Strings(strings)) => {
            one(strings.num_elements())?;
            let read = strings.read().map_err(refused)?;
            Ok(read.iter().all(|text| !text.is_empty()))
        }
        Some(AnyTensor::Dense(tensor)) => {
            one(tensor.num_elements())?;
            is_true(&tensor.0, cx)
        }
        Some(AnyTensor::Scalar(tensor)) => is_true(&tensor.value, cx),
        Some(AnyTensor::Coo(_)) | None => Err(KernelError::invalid("tensor predicate does not support type")),
    }
}

fn is_true(tensor: &befrost_tensor::HostTensor, cx: &ExecContext) -> Result<bool, KernelError> {
    let truth = cast(tensor, DType::I1, cx.allocator())
        .map_err(|_| KernelError::invalid("tensor predicate does not support type"))?;
    let truth = truth.read_as::<befrost_tensor::I1>("predicate").map_err(refused)?;
    Ok(truth.iter().all(|truth| truth.is_true()))
}
