//! Counted handles: a tag that tells their kind, and the value.

use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

#[cfg(feature = "libraries")]
use befrost::Library;
use befrost::eager::{AttrValue, CoreRuntime, Op, OpAttrs, TensorHandle, Type};
#[cfg(feature = "compile")]
use befrost::{Callable, Model, Port, Run, Session};
use befrost::{Datum, Error, ErrorCode, HostTensor, Program, Runtime};
use smallvec::SmallVec;

#[cfg(feature = "compile")]
use crate::dtype;

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

/// A tensor of any kind, and its type and dimensions as the header has them.
#[derive(Debug)]
pub(crate) struct TensorValue {
    pub(crate) value: Datum,
    pub(crate) ty: Type,
    pub(crate) dims: SmallVec<[i64; 6]>,
}

impl TensorValue {
    /// # Errors
    /// The error that the value is, or that of a value that is no tensor.
    pub(crate) fn new(value: Datum) -> Result<TensorValue, Error> {
        let (ty, shape) = value.tensor_type()?;
        let dims = shape.dims().iter().map(|&dim| i64::try_from(dim).unwrap_or(i64::MAX)).collect();
        Ok(TensorValue { value, ty, dims })
    }

    /// The tensor, if it is one of numbers.
    pub(crate) fn numbers(&self) -> Option<&HostTensor> {
        self.value.tensor().ok()
    }
}

/// A runtime, and the core that executes its operators one by one: they share variables and tables, and their
/// effects have one order.
pub(crate) struct RuntimeValue {
    pub(crate) runtime: Runtime,
    /// Text of the functions that attributes of operators may name.
    functions: String,
    core: OnceLock<CoreRuntime>,
}

impl RuntimeValue {
    pub(crate) fn new(runtime: Runtime, functions: &str) -> RuntimeValue {
        RuntimeValue { runtime, functions: functions.to_owned(), core: OnceLock::new() }
    }

    pub(crate) fn core(&self) -> &CoreRuntime {
        self.core.get_or_init(|| self.runtime.eager_with(&self.functions))
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
    op: Option<Arc<Op>>,
}

impl EagerOp {
    pub(crate) fn new(core: CoreRuntime, name: &str) -> EagerOp {
        EagerOp { core, name: name.to_owned(), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, OpState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets an attribute.
    ///
    /// # Errors
    /// If it was set before.
    pub(crate) fn set(&self, name: &str, value: AttrValue) -> Result<(), Error> {
        let mut state = self.state();
        if !state.attrs.insert(name, value) {
            let message = format!("the attribute '{name}' of {} is set already", self.name);
            return Err(Error::new(ErrorCode::FailedPrecondition, message, Vec::new()));
        }
        state.op = None;
        Ok(())
    }

    /// Executes it, or begins to. One without results, whose error no result would be, is waited for.
    pub(crate) fn begin(&self, operands: &[TensorHandle]) -> Result<Vec<TensorHandle>, Error> {
        let mut state = self.state();
        let op = match &state.op {
            Some(op) => op.clone(),
            None => {
                let made = Arc::new(self.core.op(&self.name, state.attrs.freeze())?);
                state.op.insert(made).clone()
            }
        };
        drop(state);
        // The operands are not given up: the caller's handles hold them.
        let (results, done) = op.begin_in(self.core.context(), operands)?;
        if results.is_empty() {
            done.wait()?;
        }
        Ok(results.into_vec())
    }
}

/// The result of an operator that was begun.
pub(crate) struct Future(pub(crate) TensorHandle);

impl Future {
    /// The value, when it is there.
    pub(crate) fn wait(&self) -> Result<Datum, Error> {
        self.0.wait_value().map(Datum::from)
    }
}

/// A kernel library: its name and those of its kernels.
#[cfg(feature = "libraries")]
pub(crate) struct LibraryValue {
    pub(crate) name: CString,
    pub(crate) kernels: Vec<CString>,
}

#[cfg(feature = "libraries")]
impl LibraryValue {
    pub(crate) fn new(library: &Library) -> LibraryValue {
        LibraryValue { name: c_string(library.name()), kernels: library.kernels().map(c_string).collect() }
    }
}

/// Ports, as the header has them.
#[cfg(feature = "compile")]
pub(crate) struct PortList(pub(crate) Vec<PortValue>);

/// A port: a tensor that is fed or fetched.
#[cfg(feature = "compile")]
pub(crate) struct PortValue {
    pub(crate) name: CString,
    pub(crate) dtype: i32,
    pub(crate) dims: Option<Vec<i64>>,
}

#[cfg(feature = "compile")]
impl PortList {
    pub(crate) fn new(ports: &[Port]) -> PortList {
        let size = |size: &Option<usize>| size.and_then(|size| i64::try_from(size).ok()).unwrap_or(-1);
        let of = |port: &Port| PortValue {
            name: c_string(port.name()),
            dtype: port.element_type().map_or(0, dtype::number),
            dims: port.shape().as_slice().map(|dims| dims.iter().map(size).collect()),
        };
        PortList(ports.iter().filter(|port| !port.is_chain()).map(of).collect())
    }
}

/// The values of variables at one time, by their names.
#[cfg(feature = "compile")]
pub(crate) struct Snapshot(pub(crate) Vec<(String, HostTensor)>);

/// A C string without inner zeros.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
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
    RuntimeValue = "bf_runtime" b"bfruntim";
    Future = "bf_future" b"bffuture";
    Program = "bf_program" b"bfprogra";
    EagerOp = "bf_op" b"bfoperat";
}
#[cfg(feature = "libraries")]
kinds! {
    LibraryValue = "bf_library" b"bflibrar";
}
#[cfg(feature = "compile")]
kinds! {
    PortList = "bf_ports" b"bf_ports";
    Snapshot = "bf_snapshot" b"bfsnapsh";
    Session = "bf_session" b"bfsessio";
    Callable = "bf_callable" b"bfcallab";
    Model = "bf_model" b"bf_model";
    Run = "bf_run" b"bfrunrun";
}
