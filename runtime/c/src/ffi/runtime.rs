//! Runtimes, which sessions and operators share.

use std::ffi::c_char;
use std::sync::OnceLock;

#[cfg(not(feature = "libraries"))]
use befrost::ErrorCode;
use befrost::eager::CoreRuntime;
use befrost::{Error, Runtime, RuntimeBuilder, kernels};

use super::{
    OptionsStruct, Out, bf_error, bf_runtime, give, guard, invalid, names, optional, options, release,
    retain, value_of,
};
use crate::handle::RuntimeValue;

/// A builder with the kernels of this build: those that the environment variable `BEFROST_KERNELS` named when
/// the library was built, without it the standard ones.
fn builder() -> RuntimeBuilder {
    const NAMED: Option<&str> = option_env!("BEFROST_KERNELS");
    match NAMED {
        None => Runtime::builder(),
        Some(_) => Runtime::with_kernels(kernels!(match NAMED {
            Some(names) => names,
            None => "",
        })),
    }
}

/// Options of a runtime. What is zero is the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct bf_runtime_options {
    /// `sizeof(bf_runtime_options)`.
    pub(crate) size: u32,
    /// The work queue, `s` or `mstd:2`.
    pub(crate) work_queue: *const c_char,
    /// Limit of the bytes that executions hold at a time.
    pub(crate) max_memory: usize,
    /// Paths of kernel libraries, whose code runs in this process: never a model's word.
    pub(crate) libraries: *const *const c_char,
    /// Their number.
    pub(crate) n_libraries: usize,
    /// MLIR text of the functions that attributes of operators may name.
    pub(crate) functions: *const c_char,
}

// SAFETY: numbers and pointers.
unsafe impl OptionsStruct for bf_runtime_options {
    const NAME: &'static str = "bf_runtime_options";
    const FIRST_SIZE: usize = std::mem::offset_of!(bf_runtime_options, functions);
}

/// Makes a runtime. The options may be null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_runtime_create(
    given: *const bf_runtime_options,
    out: *mut *mut bf_runtime,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the runtime", out)?;
        let mut builder = builder();
        let mut functions = None;
        if let Some(given) = options(given)? {
            if let Some(queue) = optional("the work queue", given.work_queue)? {
                builder = builder.work_queue(queue);
            }
            if given.max_memory > 0 {
                builder = builder.max_memory(given.max_memory);
            }
            for path in names("a kernel library", given.libraries, given.n_libraries)? {
                builder = with_library(builder, path)?;
            }
            functions = optional("the text of the functions", given.functions)?;
        }
        out.set(give(RuntimeValue::new(builder.build()?, functions.unwrap_or_default())));
        Ok(())
    })
}

/// With the kernels of a library.
#[cfg(feature = "libraries")]
fn with_library(builder: RuntimeBuilder, path: &str) -> Result<RuntimeBuilder, Error> {
    // SAFETY: by the contract the caller trusts the code of the library.
    Ok(unsafe { builder.library(path) }?)
}

#[cfg(not(feature = "libraries"))]
fn with_library(_: RuntimeBuilder, path: &str) -> Result<RuntimeBuilder, Error> {
    let message = format!("this build of befrost has no kernel libraries: {path}");
    Err(Error::new(ErrorCode::Unimplemented, message, Vec::new()))
}

/// Another reference to a runtime.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_runtime_retain(runtime: *mut bf_runtime) {
    retain(runtime);
}

/// Gives a reference to a runtime back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_runtime_release(runtime: *mut bf_runtime) {
    release(runtime);
}

/// The runtime of a handle; for null one with the default settings, on this work queue.
pub(super) fn runtime_or_new(handle: *const bf_runtime, queue: Option<&str>) -> Result<Runtime, Error> {
    if !handle.is_null() {
        return value_of(handle).map(|value| value.runtime.clone());
    }
    let builder = builder();
    let builder = match queue {
        Some(queue) => builder.work_queue(queue),
        None => builder,
    };
    Ok(builder.build()?)
}

/// The core of a runtime; for null one on the caller's thread, which all share that have none.
pub(super) fn core_of(handle: *const bf_runtime) -> Result<CoreRuntime, Error> {
    static SHARED: OnceLock<RuntimeValue> = OnceLock::new();
    if !handle.is_null() {
        return value_of(handle).map(|value| value.core().clone());
    }
    if SHARED.get().is_none() {
        // Another thread may have been faster.
        _ = SHARED.set(RuntimeValue::new(runtime_or_new(handle, Some("s"))?, ""));
    }
    let shared = SHARED.get().ok_or_else(|| invalid("there is no runtime"))?;
    Ok(shared.core().clone())
}
