//! DLPack's capsules, both ways; the tensors in them are the facade's matter (`befrost::dlpack`).
//!
//! ```text
//! Tensor ──export──▶ capsule "dltensor_versioned" (read-only flag)  its memory
//!             └────▶ capsule "dltensor"                             a copy, since it cannot say "read-only"
//! capsule ──import──▶ Tensor over the producer's memory      renamed "used_...": a second use is an error
//! ```

#![allow(unsafe_code, reason = "capsules have pointers to structures that other libraries read and write")]

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use befrost::dlpack::{CPU, Foreign, MAJOR, MINOR};
use befrost::{Error, ErrorCode, HostTensor, dlpack};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyCapsule, PyDict};

use crate::array::no_memory;
use crate::failure;

const PLAIN: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_PLAIN: &CStr = c"used_dltensor";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// The exception for an error: BufferError, or MemoryError.
fn exception(error: &Error) -> PyErr {
    match error.code() {
        ErrorCode::ResourceExhausted => no_memory(error.message()),
        _ => PyBufferError::new_err(error.message().to_owned()),
    }
}

/// A capsule with a tensor.
pub(crate) fn export<'py>(
    py: Python<'py>,
    tensor: &HostTensor,
    versioned: bool,
    copy: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let tensor = tensor.clone();
    let (managed, name, destructor): (*mut c_void, &CStr, ffi::PyCapsule_Destructor) = match (versioned, copy)
    {
        (true, false) => {
            (dlpack::export(tensor).map_err(|e| exception(&e))?.as_ptr().cast(), VERSIONED, drop_versioned)
        }
        (true, true) => (
            dlpack::export_copy(tensor).map_err(|e| exception(&e))?.as_ptr().cast(),
            VERSIONED,
            drop_versioned,
        ),
        (false, _) => {
            (dlpack::export_plain(tensor).map_err(|e| exception(&e))?.as_ptr().cast(), PLAIN, drop_plain)
        }
    };
    // SAFETY: the pointer is not null, the name lives forever, the destructor is for this structure.
    let raw = unsafe { ffi::PyCapsule_New(managed, name.as_ptr(), Some(destructor)) };
    // SAFETY: Python returns a new reference, or null with an exception.
    let capsule = unsafe { Bound::from_owned_ptr_or_err(py, raw) };
    if capsule.is_err()
        && let Some(managed) = NonNull::new(managed)
    {
        // SAFETY: it was made above, and no capsule has it.
        drop(unsafe { foreign(managed, versioned) });
    }
    capsule
}

/// The structure behind a pointer.
///
/// # Safety
/// It must be a structure of this kind that nobody else uses or deletes.
unsafe fn foreign(managed: NonNull<c_void>, versioned: bool) -> Foreign {
    match versioned {
        // SAFETY: the caller's contract.
        true => unsafe { Foreign::versioned(managed.cast()) },
        // SAFETY: as above.
        false => unsafe { Foreign::plain(managed.cast()) },
    }
}

/// The pointer in a capsule of this name.
///
/// # Safety
/// `capsule` must be an object, and the thread attached to the interpreter.
unsafe fn named(capsule: *mut ffi::PyObject, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the caller's contract.
    if unsafe { ffi::PyCapsule_IsValid(capsule, name.as_ptr()) } == 0 {
        return None;
    }
    // SAFETY: it is a capsule of this name.
    NonNull::new(unsafe { ffi::PyCapsule_GetPointer(capsule, name.as_ptr()) })
}

unsafe extern "C" fn drop_plain(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls it with the capsule, under the interpreter's lock.
    if let Some(managed) = unsafe { named(capsule, PLAIN) } {
        // SAFETY: a consumer would have renamed the capsule, so the structure is still `export`'s.
        drop(unsafe { foreign(managed, false) });
    }
}

unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: as `drop_plain`.
    if let Some(managed) = unsafe { named(capsule, VERSIONED) } {
        // SAFETY: as `drop_plain`.
        drop(unsafe { foreign(managed, true) });
    }
}

/// The capsule of an object with `__dlpack__`.
fn capsule_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if value.cast::<PyCapsule>().is_ok() {
        return Ok(value.clone());
    }
    let py = value.py();
    if let Ok(method) = value.getattr("__dlpack_device__") {
        let (kind, _): (i32, i32) = method.call0()?.extract()?;
        if kind != CPU {
            return Err(PyBufferError::new_err(format!(
                "the tensor is on a device of kind {kind}, not in the host's memory"
            )));
        }
    }
    let export = value.getattr("__dlpack__").map_err(|_| {
        PyTypeError::new_err(format!("{} has no '__dlpack__', and is no capsule", value.get_type()))
    })?;
    let options = PyDict::new(py);
    options.set_item("max_version", (MAJOR, MINOR))?;
    match export.call((), Some(&options)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => export.call0(),
        made => made,
    }
}

/// Takes the structure out of a capsule. Of several threads that ask, one gets it, also where Python has no
/// lock of its own.
fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Foreign> {
    with_critical_section(capsule, || take_locked(capsule))
}

fn take_locked(capsule: &Bound<'_, PyAny>) -> PyResult<Foreign> {
    let raw = capsule.as_ptr();
    // SAFETY: `capsule` is an object, and the thread is attached to the interpreter.
    let find = |name| unsafe { named(raw, name) };
    let (used, managed, versioned) = if let Some(managed) = find(PLAIN) {
        (USED_PLAIN, managed, false)
    } else if let Some(managed) = find(VERSIONED) {
        (USED_VERSIONED, managed, true)
    } else {
        let message = match find(USED_PLAIN).or_else(|| find(USED_VERSIONED)) {
            Some(_) => "the DLPack capsule was used already: make one for each tensor",
            None => "the capsule is no DLPack tensor",
        };
        return Err(failure::of_class(capsule.py(), "InvalidArgumentError", message));
    };
    // SAFETY: it is a capsule; the name lives forever.
    if unsafe { ffi::PyCapsule_SetName(raw, used.as_ptr()) } != 0 {
        return Err(PyErr::fetch(capsule.py()));
    }
    // SAFETY: the capsule's name says what it is, and that its structure now belongs to who renamed it.
    Ok(unsafe { foreign(managed, versioned) })
}

/// A tensor over the memory of another library's tensor, which lives as long as the new one. `copy` asks for
/// a copy, or forbids it.
pub(crate) fn import(value: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<HostTensor> {
    let foreign = take(&capsule_of(value)?)?;
    dlpack::import(foreign, copy).map_err(|error| exception(&error))
}
