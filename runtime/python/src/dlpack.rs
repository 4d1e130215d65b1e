//! DLPack, versioned and not, both ways without a copy.
//!
//! ```text
//! Tensor ──export──▶ capsule "dltensor_versioned" (read-only flag)  its memory
//!             └────▶ capsule "dltensor"                             a copy, since it cannot say "read-only"
//! capsule ──import──▶ Tensor over the producer's memory      renamed "used_...": a second use is an error
//! ```
//!
//! The structures are those of `dlpack.h`, 1.1.

#![allow(unsafe_code, reason = "structures that other libraries read and write")]

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use befrost::mem::{Buffer, Exported, Malloc};
use befrost::{DType, HostTensor, Shape};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::array::no_memory;

const PLAIN: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_PLAIN: &CStr = c"used_dltensor";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// `kDLCPU`.
const CPU: i32 = 1;
const READ_ONLY: u64 = 1;
/// The versions that are understood have this first number.
const MAJOR: u32 = 1;

#[repr(C)]
struct DlDevice {
    kind: i32,
    id: i32,
}

#[repr(C)]
struct DlDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: DlDevice,
    rank: i32,
    dtype: DlDataType,
    dims: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct DlManagedTensor {
    tensor: DlTensor,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DlManagedTensor)>,
}

#[repr(C)]
struct DlManagedTensorVersioned {
    major: u32,
    minor: u32,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DlManagedTensorVersioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// Element types by DLPack's codes: int 0, uint 1, float 2, bfloat 4, complex 5, bool 6.
const DTYPES: [(DType, u8, u8); 15] = [
    (DType::I8, 0, 8),
    (DType::I16, 0, 16),
    (DType::I32, 0, 32),
    (DType::I64, 0, 64),
    (DType::UI8, 1, 8),
    (DType::UI16, 1, 16),
    (DType::UI32, 1, 32),
    (DType::UI64, 1, 64),
    (DType::F16, 2, 16),
    (DType::F32, 2, 32),
    (DType::F64, 2, 64),
    (DType::BF16, 4, 16),
    (DType::Complex64, 5, 64),
    (DType::Complex128, 5, 128),
    (DType::I1, 6, 8),
];

/// The memory of an exported tensor, and its sizes.
struct Kept {
    _memory: Exported,
    sizes: Box<[i64]>,
    strides: Box<[i64]>,
}

/// The strides of a contiguous tensor, in elements.
fn strides_of(dims: &[usize]) -> Box<[i64]> {
    let mut step = 1i64;
    let mut strides: Vec<i64> = dims
        .iter()
        .rev()
        .map(|&dim| {
            let this = step;
            step = step.saturating_mul(dim.max(1) as i64);
            this
        })
        .collect();
    strides.reverse();
    strides.into()
}

/// The structure of a tensor, and what it refers to.
fn described(tensor: HostTensor) -> PyResult<(DlTensor, Box<Kept>)> {
    let dtype = tensor.dtype();
    let found = DTYPES.iter().find(|(of, ..)| *of == dtype);
    let &(_, code, bits) =
        found.ok_or_else(|| PyBufferError::new_err(format!("DLPack has no element type {dtype}")))?;
    let dims = tensor.shape().dims().to_vec();
    let memory = tensor.into_buffer().map_err(no_memory)?.export().map_err(no_memory)?;
    let data = memory.data().as_ptr().cast();
    let sizes = dims.iter().map(|&dim| dim as i64).collect();
    let mut kept = Box::new(Kept { _memory: memory, sizes, strides: strides_of(&dims) });
    let described = DlTensor {
        data,
        device: DlDevice { kind: CPU, id: 0 },
        rank: dims.len() as i32,
        dtype: DlDataType { code, bits, lanes: 1 },
        dims: kept.sizes.as_mut_ptr(),
        strides: kept.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    Ok((described, kept))
}

/// A capsule with a tensor.
pub(crate) fn export<'py>(
    py: Python<'py>,
    tensor: &HostTensor,
    versioned: bool,
    copy: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let mut tensor = tensor.clone();
    if copy || !versioned {
        tensor.make_unique(&Malloc::shared()).map_err(no_memory)?;
    }
    let is_read_only = !copy && versioned;
    let (tensor, kept) = described(tensor)?;
    let manager = Box::into_raw(kept).cast();
    let (managed, name, destructor): (*mut c_void, &CStr, ffi::PyCapsule_Destructor) = if versioned {
        let flags = if is_read_only { READ_ONLY } else { 0 };
        let deleter = Some(delete_versioned as unsafe extern "C" fn(*mut DlManagedTensorVersioned));
        let managed = DlManagedTensorVersioned { major: MAJOR, minor: 1, manager, deleter, flags, tensor };
        (Box::into_raw(Box::new(managed)).cast(), VERSIONED, drop_versioned)
    } else {
        let deleter = Some(delete as unsafe extern "C" fn(*mut DlManagedTensor));
        (Box::into_raw(Box::new(DlManagedTensor { tensor, manager, deleter })).cast(), PLAIN, drop_plain)
    };
    // SAFETY: the pointer is not null, the name lives forever, the destructor is for this structure.
    let raw = unsafe { ffi::PyCapsule_New(managed, name.as_ptr(), Some(destructor)) };
    // SAFETY: Python returns a new reference, or null with an exception.
    let capsule = unsafe { Bound::from_owned_ptr_or_err(py, raw) };
    match (&capsule, versioned) {
        (Ok(_), _) => {}
        // SAFETY: it was made above, and no capsule has it.
        (Err(_), true) => unsafe { delete_versioned(managed.cast()) },
        // SAFETY: as above.
        (Err(_), false) => unsafe { delete(managed.cast()) },
    }
    capsule
}

unsafe extern "C" fn delete(managed: *mut DlManagedTensor) {
    // SAFETY: the consumer gives back, once, what `export` made.
    let managed = unsafe { Box::from_raw(managed) };
    // SAFETY: as above.
    drop(unsafe { Box::from_raw(managed.manager.cast::<Kept>()) });
}

unsafe extern "C" fn delete_versioned(managed: *mut DlManagedTensorVersioned) {
    // SAFETY: as `delete`.
    let managed = unsafe { Box::from_raw(managed) };
    // SAFETY: as above.
    drop(unsafe { Box::from_raw(managed.manager.cast::<Kept>()) });
}

/// The pointer in a capsule of this name.
///
/// # Safety
/// `capsule` must be an object, and the interpreter's lock held.
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
        unsafe { delete(managed.as_ptr().cast()) };
    }
}

unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: as `drop_plain`.
    if let Some(managed) = unsafe { named(capsule, VERSIONED) } {
        // SAFETY: as `drop_plain`.
        unsafe { delete_versioned(managed.as_ptr().cast()) };
    }
}

/// A structure of another library, whose deleter is called when it is dropped.
enum Foreign {
    Plain(NonNull<DlManagedTensor>),
    Versioned(NonNull<DlManagedTensorVersioned>),
}

// SAFETY: the structure is only read here, and its deleter may be called from any thread, as DLPack says.
unsafe impl Send for Foreign {}
// SAFETY: as for Send.
unsafe impl Sync for Foreign {}

impl Foreign {
    fn tensor(&self) -> &DlTensor {
        match self {
            // SAFETY: the producer keeps the structure until its deleter is called, which `drop` does.
            Foreign::Plain(managed) => unsafe { &managed.as_ref().tensor },
            // SAFETY: as above.
            Foreign::Versioned(managed) => unsafe { &managed.as_ref().tensor },
        }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        match self {
            Foreign::Plain(managed) => {
                // SAFETY: the producer keeps the structure until its deleter is called.
                if let Some(deleter) = unsafe { managed.as_ref() }.deleter {
                    // SAFETY: the structure was taken out of its capsule, so this is its only deletion.
                    unsafe { deleter(managed.as_ptr()) };
                }
            }
            Foreign::Versioned(managed) => {
                // SAFETY: as above.
                if let Some(deleter) = unsafe { managed.as_ref() }.deleter {
                    // SAFETY: as above.
                    unsafe { deleter(managed.as_ptr()) };
                }
            }
        }
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
    options.set_item("max_version", (MAJOR, 1))?;
    match export.call((), Some(&options)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => export.call0(),
        made => made,
    }
}

/// Takes the structure out of a capsule.
fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Foreign> {
    let raw = capsule.as_ptr();
    // SAFETY: `capsule` is an object, and the interpreter's lock is held.
    let find = |name| unsafe { named(raw, name) };
    let (used, foreign) = if let Some(managed) = find(PLAIN) {
        (USED_PLAIN, Foreign::Plain(managed.cast()))
    } else if let Some(managed) = find(VERSIONED) {
        (USED_VERSIONED, Foreign::Versioned(managed.cast()))
    } else {
        let message = match find(USED_PLAIN).or_else(|| find(USED_VERSIONED)) {
            Some(_) => "the DLPack capsule was used already: make one for each tensor",
            None => "the capsule is no DLPack tensor",
        };
        return Err(PyValueError::new_err(message));
    };
    // SAFETY: it is a capsule; the name lives forever.
    if unsafe { ffi::PyCapsule_SetName(raw, used.as_ptr()) } != 0 {
        std::mem::forget(foreign); // the capsule still has it
        return Err(PyErr::fetch(capsule.py()));
    }
    Ok(foreign)
}

/// A tensor over the memory of another library's tensor, which lives as long as the new one. `copy` asks for
/// a copy, or forbids it.
pub(crate) fn import(value: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<HostTensor> {
    let foreign = take(&capsule_of(value)?)?;
    let refused = |what: String| PyBufferError::new_err(format!("the DLPack tensor {what}"));
    if let Foreign::Versioned(managed) = &foreign {
        // SAFETY: as `Foreign::tensor`; the version comes first in all versions.
        let major = unsafe { (*managed.as_ptr()).major };
        if major != MAJOR {
            return Err(refused(format!("is of version {major}, expected {MAJOR}")));
        }
    }
    let of = foreign.tensor();
    if of.device.kind != CPU {
        return Err(refused(format!("is on a device of kind {}", of.device.kind)));
    }
    let DlDataType { code, bits, lanes } = of.dtype;
    let known = DTYPES.iter().find(|(_, c, b)| (*c, *b) == (code, bits) && lanes == 1);
    let &(dtype, ..) =
        known.ok_or_else(|| refused(format!("has elements of code {code}, {bits} bits, {lanes} lanes")))?;
    let rank = usize::try_from(of.rank).ok().filter(|&rank| rank == 0 || !of.dims.is_null());
    let rank = rank.ok_or_else(|| refused(format!("is of rank {}", of.rank)))?;
    let list = |from: *const i64| match rank {
        0 => Vec::new(),
        // SAFETY: by DLPack's contract `rank` numbers begin there.
        rank => unsafe { std::slice::from_raw_parts(from, rank) }.to_vec(),
    };
    let sizes = list(of.dims);
    let dims = sizes.iter().map(|&size| usize::try_from(size)).collect::<Result<Vec<usize>, _>>();
    let dims = dims.map_err(|_| refused(format!("has sizes {sizes:?}")))?;
    let strides = if of.strides.is_null() { strides_of(&dims).into_vec() } else { list(of.strides) };
    let shape = Shape::new(&dims).map_err(no_memory)?;
    let n_bytes = shape.num_bytes(dtype).map_err(no_memory)?;
    if n_bytes == 0 {
        return HostTensor::zeros(dtype, shape, &Malloc::shared()).map_err(no_memory);
    }
    let offset = usize::try_from(of.byte_offset).map_err(|_| refused("begins too far".to_owned()))?;
    let start = NonNull::new(of.data.cast::<u8>()).ok_or_else(|| refused("has no memory".to_owned()))?;
    // SAFETY: by DLPack's contract the tensor begins `byte_offset` bytes behind the start of its memory.
    let start = unsafe { start.add(offset) };
    let expected = strides_of(&dims);
    let is_contiguous =
        dims.iter().zip(strides.iter().zip(&*expected)).all(|(dim, (a, b))| *dim == 1 || a == b);
    if is_contiguous && start.as_ptr().addr().is_multiple_of(dtype.align()) && copy != Some(true) {
        // SAFETY: the tensor is contiguous, so `n_bytes` initialized bytes begin at `start`; they live as
        // long as `foreign`. DLPack requires the program not to write to them meanwhile.
        let buffer = unsafe { Buffer::shared(start, n_bytes, Arc::new(foreign)) };
        return HostTensor::from_buffer(dtype, shape, buffer).map_err(no_memory);
    }
    if copy == Some(false) {
        return Err(refused("is not contiguous, so it must be copied".to_owned()));
    }
    let made = HostTensor::allocate(dtype, shape, &Malloc::shared()).map_err(no_memory)?;
    let size = dtype.size();
    let mut index = vec![0usize; rank];
    let mut out = made.write_bytes().map_err(no_memory)?;
    for to in out.chunks_exact_mut(size) {
        let at: i64 = index.iter().zip(&strides).map(|(&i, stride)| i as i64 * stride).sum();
        // SAFETY: by DLPack's contract the element at `index` is `at` elements from the first one.
        let from = unsafe { start.as_ptr().offset(at as isize * size as isize) };
        // SAFETY: an element of `size` bytes begins there; `to` is memory of the new tensor.
        unsafe { ptr::copy_nonoverlapping(from, to.as_mut_ptr(), size) };
        for (i, dim) in index.iter_mut().zip(&dims).rev() {
            *i += 1;
            if *i < *dim {
                break;
            }
            *i = 0;
        }
    }
    drop(out);
    Ok(made)
}
