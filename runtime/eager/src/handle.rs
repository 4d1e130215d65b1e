//! Tensor handles: tensors that may not be computed yet.
//!
//! ```text
//! value       a tensor | an error | an AsyncValue that becomes one of these
//! metadata    type and shape, if they were inferred before the tensor was computed
//! ```
//!
//! A handle in a register is a concrete value, whatever its tensor is: a program can print what is not there
//! yet, and the errors of operators. An operator that is refused, or skipped since an operand is an error,
//! gives errors in place of handles.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use befrost_kernel_api::async_value::{AsyncRef, Promise};
use befrost_kernel_api::device::{Device, HostDevice};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::object::Object;
use befrost_kernel_api::queue::Latch;
use befrost_kernel_api::value::State;
use befrost_kernel_api::{Error, ExecContext, KernelError, Value};
use befrost_kernels::{AnyTensor, Tensor, refused};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::op::Type;
use befrost_tensor::{HostTensor, Shape, TensorError, print};

/// Element type and shape of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The element type.
    pub ty: Type,
    /// The shape.
    pub shape: Shape,
}

impl fmt::Display for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Metadata { ty, shape } = self;
        match ty {
            Type::Dense(dtype) => write!(f, "{dtype} shape = {shape}"),
            Type::String | Type::Resource | Type::Variant => write!(f, "{} shape = {shape}", ty.name()),
        }
    }
}

/// A tensor that is computed, will be computed, or is an error. Clones refer to the same tensor.
#[derive(Clone, Debug)]
pub struct TensorHandle {
    /// For a tensor that was not computed when the handle was made.
    later: Option<Box<Later>>,
    value: Value,
}

/// The known properties of a tensor that was not computed yet.
#[derive(Clone, Default)]
struct Later {
    metadata: Option<Metadata>,
    /// The execution that computes it. A waiting thread runs tasks of its queue.
    cx: Option<ExecContext>,
}

impl fmt::Debug for Later {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.metadata.fmt(f)
    }
}

const _: () = assert!(size_of::<TensorHandle>() == 24);

impl TensorHandle {
    /// A handle of a value: a tensor, an error, or an AsyncValue of one.
    pub fn new(value: Value) -> TensorHandle {
        TensorHandle { later: None, value: value.resolved() }
    }

    /// A handle of a tensor that the promise gives, from any thread.
    pub fn pending(metadata: Option<Metadata>) -> (Promise, TensorHandle) {
        TensorHandle::pending_of(Later { metadata, cx: None })
    }

    /// A handle of a tensor that an execution makes.
    pub(crate) fn pending_in(metadata: Option<Metadata>, cx: &ExecContext) -> (Promise, TensorHandle) {
        TensorHandle::pending_of(Later { metadata, cx: Some(cx.clone()) })
    }

    fn pending_of(later: Later) -> (Promise, TensorHandle) {
        let (promise, value) = AsyncRef::pending();
        (promise, TensorHandle { later: Some(Box::new(later)), value: Value::Async(value) })
    }

    /// A handle of an error.
    pub fn failed(error: Error) -> TensorHandle {
        TensorHandle::new(Value::Error(error))
    }

    /// A handle of a tensor that an operator failed to compute: unlike a handle that is an error, it is
    /// there.
    pub(crate) fn not_computed(error: Error) -> TensorHandle {
        TensorHandle { later: Some(Box::default()), value: Value::Error(error) }
    }

    /// The handle as the result of a kernel; an error if there is no handle, since the operator was refused
    /// or skipped.
    pub(crate) fn into_result(self) -> Value {
        match &self.value {
            Value::Error(error) if self.later.is_none() => Value::Error(error.clone()),
            _ => Value::object(self),
        }
    }

    /// The value, if it is final.
    pub fn value(&self) -> Option<&Value> {
        self.value.final_value()
    }

    /// The value in any state, with the handle's own reference: if it is the only one, the tensor may be
    /// overwritten.
    pub fn into_value(self) -> Value {
        self.value.resolved()
    }

    /// The AsyncValue of a handle whose value is not final.
    pub fn unavailable(&self) -> Option<&AsyncRef> {
        match &self.value {
            Value::Async(value) if value.value().is_none() => Some(value),
            _ => None,
        }
    }

    /// The state of the value.
    pub fn state(&self) -> State {
        self.value.state()
    }

    /// The error, if the value is one.
    pub fn error(&self) -> Option<&Error> {
        self.value.error()
    }

    /// The device on which the tensor is: the client's, `CPU:0`.
    pub fn device(&self) -> &dyn Device {
        HostDevice::client()
    }

    /// Element type and shape, if they are known.
    pub fn metadata(&self) -> Option<Metadata> {
        match self.value() {
            Some(value) => metadata_of(value),
            None => self.later.as_ref()?.metadata.clone(),
        }
    }

    /// The dense tensor, if it is computed.
    pub fn dense(&self) -> Option<&HostTensor> {
        self.value()?.downcast_ref::<Tensor>().map(|tensor| &tensor.0)
    }

    /// True if its metadata is known to be this.
    pub(crate) fn is_of(&self, metadata: &Metadata) -> bool {
        match self.value() {
            Some(value) => AnyTensor::of(value).is_some_and(|tensor| {
                element_type(&tensor) == metadata.ty && *tensor.shape() == metadata.shape
            }),
            None => self.later.as_ref().is_some_and(|later| later.metadata.as_ref() == Some(metadata)),
        }
    }

    /// The element type, if it is known.
    pub fn dtype(&self) -> Option<Type> {
        self.metadata().map(|metadata| metadata.ty)
    }

    /// The shape, if it is known.
    pub fn shape(&self) -> Option<Shape> {
        self.metadata().map(|metadata| metadata.shape)
    }

    /// Calls `f` with the value: now if it is final, else on the thread that makes it final.
    pub fn and_then(&self, f: impl FnOnce(&Value) + Send + 'static) {
        match &self.value {
            Value::Async(value) => value.and_then(f),
            value => f(value),
        }
    }

    /// The tensor in dense form. Waits as [`TensorHandle::wait_value`].
    ///
    /// # Errors
    /// The error that the handle is, and those of a conversion.
    pub fn wait(&self) -> Result<HostTensor, Error> {
        let value = self.settled()?;
        match self.execution() {
            Some(cx) => Ok(dense(value, cx)?),
            None => Ok(dense_in(value, &(Malloc::shared() as Arc<dyn Allocator>))?),
        }
    }

    /// The value, whatever it is: a tensor of any kind, a list, a resource. While it waits for an operator,
    /// the thread runs tasks of the operator's queue; while it waits for a promise of
    /// [`TensorHandle::pending`], it sleeps.
    ///
    /// # Errors
    /// The error that the handle is.
    pub fn wait_value(&self) -> Result<Value, Error> {
        self.settled().cloned()
    }

    /// The value, when it is final.
    fn settled(&self) -> Result<&Value, Error> {
        if let Some(value) = self.unavailable() {
            wait_for(value, self.execution())?;
        }
        match self.value() {
            Some(Value::Error(error)) => Err(error.clone()),
            Some(value) => Ok(value),
            None => Err(KernelError::new(ErrorCode::Internal, "the tensor is not computed").into()),
        }
    }

    /// The execution that computes the tensor.
    fn execution(&self) -> Option<&ExecContext> {
        self.later.as_ref()?.cx.as_ref()
    }
}

/// Waits until a value is final.
pub(crate) fn wait_for(value: &AsyncRef, cx: Option<&ExecContext>) -> Result<(), KernelError> {
    cx.map_or(Ok(()), |cx| cx.queue().check_may_wait())?;
    let latch = Latch::new(1);
    let opens = latch.clone();
    value.and_then(move |_| opens.count_down());
    match cx {
        Some(cx) => cx.queue().wait(&latch),
        None => latch.park_until_open(),
    }
    Ok(())
}

impl From<HostTensor> for TensorHandle {
    fn from(tensor: HostTensor) -> TensorHandle {
        TensorHandle { later: None, value: Value::object(Tensor(tensor)) }
    }
}

/// The element type of a tensor.
fn element_type(tensor: &AnyTensor<'_>) -> Type {
    match tensor {
        AnyTensor::Dense(tensor) => Type::Dense(tensor.0.dtype()),
        AnyTensor::Coo(tensor) => Type::Dense(tensor.0.dtype()),
        AnyTensor::Scalar(tensor) => Type::Dense(tensor.value.dtype()),
        AnyTensor::Strings(_) => Type::String,
    }
}

/// The element type of a value that is a tensor.
pub(crate) fn type_of(value: &Value) -> Option<Type> {
    AnyTensor::of(value).as_ref().map(element_type)
}

/// Element type and shape of a tensor.
pub(crate) fn metadata_of(value: &Value) -> Option<Metadata> {
    let tensor = AnyTensor::of(value)?;
    Some(Metadata { ty: element_type(&tensor), shape: tensor.shape().clone() })
}

/// The name of a tensor's representation.
pub(crate) fn representation(value: &Value) -> Option<&'static str> {
    Some(match AnyTensor::of(value)? {
        AnyTensor::Dense(_) => "DenseHost",
        AnyTensor::Coo(_) => "CooHost",
        AnyTensor::Strings(_) => "StringHost",
        AnyTensor::Scalar(_) => "ScalarHost",
    })
}

/// The tensor in a value, in dense form.
pub(crate) fn dense(value: &Value, cx: &ExecContext) -> Result<HostTensor, KernelError> {
    dense_in(value, cx.allocator())
}

/// [`dense`] with memory of an allocator.
fn dense_in(value: &Value, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, KernelError> {
    match AnyTensor::of(value) {
        Some(AnyTensor::Dense(tensor)) => Ok(tensor.0.clone()),
        Some(AnyTensor::Coo(tensor)) => tensor.0.to_dense(allocator).map_err(refused),
        Some(AnyTensor::Scalar(tensor)) => tensor.to_dense(allocator).map_err(refused),
        // TFRT's spelling.
        Some(AnyTensor::Strings(_)) => {
            Err(KernelError::invalid("Cannot implictly convert StringHost to DenseHost"))
        }
        None => Err(KernelError::invalid(format!("a value of type {} is no tensor", value.type_name()))),
    }
}

/// Limit of the printed elements of a dense tensor.
const MAX_PRINTED: usize = 32;

/// The text of a value that is a tensor or an error.
pub(crate) fn text(value: &Value) -> String {
    let text = match (value, AnyTensor::of(value)) {
        (Value::Error(error), _) => return format!("Error TensorHandle: '{}'", error.message()),
        (_, Some(AnyTensor::Dense(tensor))) if tensor.num_elements() > MAX_PRINTED => beginning(tensor),
        (_, Some(tensor)) => tensor.text(),
        (_, None) => return value.to_string(),
    };
    text.unwrap_or_else(|error| format!("<<unreadable: {error}>>"))
}

/// The text of a large tensor.
fn beginning(tensor: &HostTensor) -> Result<String, TensorError> {
    let (dtype, shape) = (tensor.dtype(), tensor.shape());
    let malloc: Arc<dyn Allocator> = Malloc::shared();
    let first = HostTensor::allocate(dtype, Shape::new(&[MAX_PRINTED])?, &malloc)?;
    let n_bytes = MAX_PRINTED * dtype.size();
    first
        .write_bytes()?
        .iter_mut()
        .zip(tensor.read_bytes()?.iter())
        .take(n_bytes)
        .for_each(|(to, from)| *to = *from);
    let values = print::elements(&first)?;
    Ok(format!("DenseHostTensor dtype = {dtype}, shape = {shape}, values = [{values}, ...]"))
}

impl fmt::Display for TensorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.value(), self.later.as_ref().and_then(|later| later.metadata.as_ref())) {
            (Some(value), _) => f.write_str(&text(value)),
            (None, Some(metadata)) => write!(f, "future TensorHandle with metadata {metadata}"),
            (None, None) => f.write_str("fully future TensorHandle with unresolved metadata"),
        }
    }
}

impl Object for TensorHandle {
    const TYPES: &'static [&'static str] = &["!corert.tensorhandle"];

    fn display(&self) -> String {
        self.to_string()
    }
}

impl IntoFuture for TensorHandle {
    /// The tensor or the error.
    type Output = Value;
    type IntoFuture = Settled;

    fn into_future(self) -> Settled {
        Settled(self)
    }
}

/// The future of a handle's value.
#[derive(Debug)]
pub struct Settled(TensorHandle);

impl Future for Settled {
    type Output = Value;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Value> {
        match self.0.value() {
            Some(value) => Poll::Ready(value.clone()),
            None => {
                let waker = cx.waker().clone();
                self.0.and_then(move |_| waker.wake());
                Poll::Pending
            }
        }
    }
}

/// Calls `f` when all of these are final: now, or on the thread that makes the last one final.
pub(crate) fn when_final(mut values: Vec<AsyncRef>, f: Box<dyn FnOnce() + Send>) {
    while let Some(value) = values.pop() {
        if value.value().is_none() {
            value.and_then(move |_| when_final(values, f));
            return;
        }
    }
    f();
}
