//! Counted handles: a tag that tells their kind, and the value.

use std::ffi::CString;
use std::sync::{Mutex, MutexGuard, PoisonError};

use befrost::eager::{AttrValue, CoreRuntime, Op, OpAttrs, TensorHandle};
#[cfg(feature = "compile")]
use befrost::{Callable, Model, Run, Session};
use befrost::{Datum, Error, HostTensor, Program, Runtime};

/// A value behind an opaque pointer. The tag comes first, at the same place in all kinds.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Handle<T> {
    pub(crate) tag: u64,
    pub(crate) value: T,
}

/// A kind of handle.
pub(crate) trait Kind: Sized + Send + Sync + 'static {
    /// The tag of its handles.
    const TAG: u64;
    /// Its name in messages.
    const NAME: &'static str;
}

/// The text of an error lives as long as the error.
#[derive(Debug)]
pub(crate) struct ErrorText {
    pub(crate) error: Error,
    pub(crate) message: CString,
    pub(crate) location: CString,
    pub(crate) calls: Vec<CString>,
}

/// A tensor of numbers or strings, and its dimensions as the header has them.
#[derive(Debug)]
pub(crate) struct TensorValue {
    pub(crate) value: Datum,
    pub(crate) dims: Vec<i64>,
}

impl TensorValue {
    /// # Errors
    /// The error that the value is, or that of a value that is no tensor.
    pub(crate) fn new(value: Datum) -> Result<TensorValue, Error> {
        let shape = match value.strings() {
            Ok(strings) => strings.shape(),
            Err(_) => value.tensor()?.shape(),
        };
        let dims = shape.dims().iter().map(|&dim| i64::try_from(dim).unwrap_or(i64::MAX)).collect();
        Ok(TensorValue { value, dims })
    }

    /// The tensor, if it is one of numbers.
    pub(crate) fn numbers(&self) -> Option<&HostTensor> {
        self.value.tensor().ok()
    }
}

/// An operator with attributes, which is looked up when it is first executed after one of them was set.
pub(crate) struct EagerOp {
    core: CoreRuntime,
    name: String,
    state: Mutex<OpState>,
}

#[derive(Default)]
struct OpState {
    attrs: OpAttrs,
    op: Option<Op>,
}

impl EagerOp {
    pub(crate) fn new(core: CoreRuntime, name: &str) -> EagerOp {
        EagerOp { core, name: name.to_owned(), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, OpState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets an attribute.
    pub(crate) fn set(&self, name: &str, value: AttrValue) {
        let mut state = self.state();
        state.attrs.insert(name, value);
        state.op = None;
    }

    /// The results, when they are there.
    pub(crate) fn execute(&self, operands: Vec<Datum>) -> Result<Vec<Datum>, Error> {
        let mut state = self.state();
        let op = match &state.op {
            Some(op) => op.clone(),
            None => {
                let made = self.core.op(&self.name, state.attrs.freeze())?;
                state.op.insert(made).clone()
            }
        };
        drop(state);
        let operands = operands.into_iter().map(|operand| TensorHandle::new(operand.into_value()));
        // Not given up: the caller's handles hold them.
        let results = op.call(&operands.collect::<Vec<_>>())?;
        results
            .into_iter()
            .map(|result| match (result.error(), result.value()) {
                (Some(error), _) => Err(error.clone()),
                (None, Some(value)) => Ok(Datum::from(value.clone())),
                (None, None) => result.wait().map(Datum::from),
            })
            .collect()
    }
}

macro_rules! kinds {
    ($($ty:ty = $name:literal $tag:literal;)*) => {$(
        impl Kind for $ty {
            const TAG: u64 = u64::from_le_bytes(*$tag);
            const NAME: &'static str = $name;
        }
    )*};
}
kinds! {
    ErrorText = "bf_error" b"bferror1";
    TensorValue = "bf_tensor" b"bftensor";
    Runtime = "bf_runtime" b"bfruntim";
    Program = "bf_program" b"bfprogra";
    EagerOp = "bf_op" b"bfoperat";
}
#[cfg(feature = "compile")]
kinds! {
    Session = "bf_session" b"bfsessio";
    Callable = "bf_callable" b"bfcallab";
    Model = "bf_model" b"bf_model";
    Run = "bf_run" b"bfrunrun";
}
