//! Kernels of libraries that are ops of a dialect: operands and results of fixed types.
//!
//! ```text
//! values ──as_tensor──▶ tensors ──run──▶ tensors ──as_value──▶ values of the declared types
//! ```
//!
//! Not here: operators (`operator.rs`).

use std::borrow::Cow;
use std::sync::Arc;

use bef_format::AttrView;
use befrost_kernel_api::async_value::{AsyncRef, Promise};
use befrost_kernel_api::kernel::{Deferred, KernelFrame, KernelUse, Outcome, RawAttr, Returns, Types};
use befrost_kernel_api::{ErrorCode, ExecContext, KernelError, Value};
use befrost_kernels::Tensor;
use befrost_tensor::mem::Allocator;
use befrost_tensor::tf::op::Type;
use befrost_tensor::{DType, HostTensor, Shape, TensorError};

use super::abi::AttrSource;
use super::call::{CallOperand, LibraryCall};
use super::{BLOCKING, Kind, LoadedKernel, Ran, UseState};

/// The types of values that an operand or result of a declared type may have.
pub(super) fn types_of(ty: &&'static str) -> Types {
    match *ty {
        "!t.tensor" => &["!t.tensor", "tensor", "!tfrt_tensor.tensor"],
        // A list of one, for the life of the process.
        ty => Box::leak(Box::new([ty])),
    }
}

/// The state of a use in a program.
pub(super) fn prepare(kernel: &'static LoadedKernel, site: &KernelUse<'_>) -> Result<Arc<UseState>, String> {
    let state = kernel.prepare(&UseSource(site));
    state.map(Arc::new).map_err(|error| error.message().to_owned())
}

/// The attributes of a use in a program.
struct UseSource<'u>(&'u KernelUse<'u>);

impl UseSource<'_> {
    fn view(&self, name: &str) -> Option<RawAttr<'_>> {
        self.0.attr_named(name)
    }
}

impl AttrSource for UseSource<'_> {
    fn int(&self, name: &str) -> Option<i64> {
        match self.view(name)?.view {
            AttrView::Int { value, .. } => Some(value),
            _ => None,
        }
    }
    fn float(&self, name: &str) -> Option<f64> {
        self.view(name)?.view.as_f64().or_else(|| self.int(name).map(|value| value as f64))
    }
    fn bool(&self, name: &str) -> Option<bool> {
        match self.view(name)?.view {
            AttrView::Bool(value) => Some(value),
            _ => None,
        }
    }
    fn ty(&self, name: &str) -> Option<Type> {
        match self.view(name)?.view {
            AttrView::Type(text) => text.parse::<DType>().ok().map(Type::Dense),
            _ => None,
        }
    }
    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        match self.view(name)?.view {
            AttrView::Str(text) => Some(Cow::Owned(text.as_bytes().to_vec())),
            _ => None,
        }
    }
    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        let attr = self.view(name)?;
        match attr.view {
            AttrView::Scalars { dtype: bef_format::DType::I64, bytes, n, .. } => {
                Some(bytes.as_chunks::<8>().0.iter().take(n).map(|word| i64::from_le_bytes(*word)).collect())
            }
            AttrView::Scalars { dtype: bef_format::DType::I32, bytes, n, .. } => {
                let words = bytes.as_chunks::<4>().0.iter().take(n);
                Some(words.map(|word| i64::from(i32::from_le_bytes(*word))).collect())
            }
            AttrView::Array([]) => Some(Vec::new()),
            _ => None,
        }
    }
}

/// An operand of a kernel as a tensor; `Some(Ok(None))` for a chain. `None` for a value of another type.
fn as_tensor(
    value: &Value,
    allocator: &Arc<dyn Allocator>,
) -> Option<Result<Option<HostTensor>, TensorError>> {
    macro_rules! scalars {
        ($($variant:ident: $dtype:ident),*) => {
            match value {
                Value::Chain => return Some(Ok(None)),
                Value::I1(value) => (DType::I1, vec![u8::from(*value)]),
                $(Value::$variant(value) => (DType::$dtype, value.to_le_bytes().to_vec()),)*
                _ => return value.downcast_ref::<Tensor>().map(|tensor| Ok(Some(tensor.0.clone()))),
            }
        };
    }
    let (dtype, bytes) = scalars!(
        I8: I8, I16: I16, I32: I32, I64: I64, U8: UI8, U16: UI16, U32: UI32, U64: UI64, F16: F16, BF16: BF16,
        F32: F32, F64: F64
    );
    Some(HostTensor::splat(dtype, Shape::scalar(), &bytes, allocator).map(Some))
}

/// A result of a kernel: a value of its declared type.
fn as_value(kernel: &'static str, ty: &str, result: HostTensor) -> Result<Value, KernelError> {
    if ty == "!t.tensor" {
        return Ok(Value::object(Tensor(result)));
    }
    let wrong = || {
        let (dtype, shape) = (result.dtype(), result.shape());
        KernelError::new(
            ErrorCode::Internal,
            format!("{kernel}: a result of type {ty} is set to a tensor of {dtype}, shape {shape}"),
        )
    };
    if result.shape().rank() != 0 || ty.parse() != Ok(result.dtype()) {
        return Err(wrong());
    }
    let bytes = result.read_bytes().map_err(|_| wrong())?;
    macro_rules! scalars {
        ($($dtype:ident: $variant:ident($of:ty)),*) => {
            match result.dtype() {
                DType::I1 => Some(Value::I1(bytes.first() != Some(&0))),
                $(DType::$dtype => {
                    bytes.first_chunk().map(|bytes| Value::$variant(<$of>::from_le_bytes(*bytes)))
                })*
                _ => None,
            }
        };
    }
    scalars!(
        I8: I8(i8), I16: I16(i16), I32: I32(i32), I64: I64(i64), UI8: U8(u8), UI16: U16(u16), UI32: U32(u32),
        UI64: U64(u64), F32: F32(f32), F64: F64(f64), F16: F16(befrost_tensor::f16),
        BF16: BF16(befrost_tensor::bf16)
    )
    .ok_or_else(wrong)
}

/// The values of all results. A library sets no chains: they are added here.
fn as_values(
    kernel: &'static LoadedKernel,
    results: Result<Vec<HostTensor>, KernelError>,
) -> Result<Vec<Value>, KernelError> {
    let Kind::Kernel { results: types, .. } = &kernel.kind else { return Ok(Vec::new()) };
    let mut results = results?.into_iter();
    let value = |ty: &&'static str| match *ty {
        "!tfrt.chain" => Ok(Value::Chain),
        ty => match results.next() {
            Some(result) => as_value(kernel.name, ty, result),
            None => Err(KernelError::new(ErrorCode::Internal, "a result is missing")),
        },
    };
    types.iter().map(value).collect()
}

/// Runs a kernel.
pub(super) fn run(frame: &mut KernelFrame<'_>) -> Outcome {
    let state: &Arc<UseState> = match frame.prepared::<Arc<UseState>>() {
        Ok(state) => state.0,
        Err(outcome) => return outcome,
    };
    let Kind::Kernel { results: types, .. } = &state.kernel.kind else { return Outcome::Operand };
    let allocator = frame.context().allocator().clone();
    let mut operands = Vec::new();
    for i in 0..frame.n_operands() {
        match frame.operand(i).and_then(|value| as_tensor(value, &allocator)) {
            Some(Ok(tensor)) => operands.push(CallOperand::new(tensor)),
            Some(Err(error)) => return Outcome::error(KernelError::invalid(error.to_string())),
            None => return Outcome::Operand,
        }
    }
    let n_results = types.iter().filter(|ty| **ty != "!tfrt.chain").count();
    let call = LibraryCall::new(state.kernel.name, operands, n_results, allocator);
    if state.kernel.raw.flags & BLOCKING != 0 {
        return run_blocking(frame, state.clone(), call);
    }
    let (promises, values): (Vec<Promise>, Vec<AsyncRef>) = types.iter().map(|_| AsyncRef::pending()).unzip();
    let (kernel, cx, site) = (state.kernel, frame.context().clone(), frame.site());
    let mut promises = Some(promises);
    let ran = state.run(call, || {
        let promises = promises.take().unwrap_or_default();
        Box::new(move |results| match as_values(kernel, results) {
            Ok(values) => promises.into_iter().zip(values).for_each(|(promise, value)| promise.set(value)),
            Err(error) => {
                let error = cx.raise(&error, site.location().into_iter().collect());
                promises.into_iter().for_each(|promise| promise.fail(error.clone()));
            }
        })
    });
    match ran {
        Ran::Done(results) => match as_values(kernel, results) {
            Ok(values) => {
                values.into_iter().enumerate().for_each(|(i, value)| frame.set_result(i, value));
                Outcome::Done
            }
            Err(error) => Outcome::Error(error),
        },
        Ran::Later => {
            let values = values.into_iter().map(Value::Async).enumerate();
            values.for_each(|(i, value)| frame.set_result(i, value));
            Outcome::Done
        }
    }
}

/// Runs a kernel on a thread that may block.
fn run_blocking(frame: &mut KernelFrame<'_>, state: Arc<UseState>, call: LibraryCall) -> Outcome {
    let work = move |_: &ExecContext| match state.run(call, || Box::new(|_| ())) {
        Ran::Done(results) => as_values(state.kernel, results),
        Ran::Later => {
            let message = format!("{}: a blocking kernel must not return BF_LATER", state.kernel.name);
            Err(KernelError::new(ErrorCode::Internal, message))
        }
    };
    Deferred::blocking(work).store(frame)
}
