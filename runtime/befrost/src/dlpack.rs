//! DLPack: tensors from and for other libraries, without a copy.
//!
//! ```text
//! HostTensor ──export──▶ DlManagedTensorVersioned, read-only     its memory
//!                └─────▶ DlManagedTensor, which others may write a copy, since it cannot say "read-only"
//! Foreign ──import──▶ HostTensor over the producer's memory      its deleter is called with the last use
//! ```
//!
//! The structures are those of `dlpack.h`, 1.1.
//!
//! Not here: the way in which they change hands, capsules in Python and pointers in C.

#![allow(unsafe_code, reason = "structures that other libraries read and write")]

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use befrost_kernel_api::{Error, ErrorCode};
use befrost_tensor::mem::{Buffer, Exported, Malloc};
use befrost_tensor::{DType, HostTensor, Shape};

/// `kDLCPU`, the kind of the only device whose tensors are imported.
pub const CPU: i32 = 1;
/// The versions that are understood have this first number.
pub const MAJOR: u32 = 1;
/// The second number of the version of exported tensors.
pub const MINOR: u32 = 1;
/// The flag of a tensor that nobody may write to.
pub const READ_ONLY: u64 = 1;

/// `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DlDevice {
    /// The kind of device.
    pub kind: i32,
    /// The number of the device among those of its kind.
    pub id: i32,
}

/// `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DlDataType {
    /// The kind of number.
    pub code: u8,
    /// The bits of a lane.
    pub bits: u8,
    /// The numbers in an element.
    pub lanes: u16,
}

/// `DLTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct DlTensor {
    /// The start of the memory.
    pub data: *mut c_void,
    /// The device that has it.
    pub device: DlDevice,
    /// The number of dimensions.
    pub rank: i32,
    /// The element type.
    pub dtype: DlDataType,
    /// The sizes of the dimensions.
    pub dims: *mut i64,
    /// The strides in elements; null: row by row.
    pub strides: *mut i64,
    /// The bytes before the first element.
    pub byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct DlManagedTensor {
    /// The tensor.
    pub tensor: DlTensor,
    /// The producer's data.
    pub manager: *mut c_void,
    /// Frees the tensor.
    pub deleter: Option<unsafe extern "C" fn(*mut DlManagedTensor)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
#[derive(Debug)]
pub struct DlManagedTensorVersioned {
    /// The version's first number. It comes first in all versions.
    pub major: u32,
    /// The version's second number.
    pub minor: u32,
    /// The producer's data.
    pub manager: *mut c_void,
    /// Frees the tensor.
    pub deleter: Option<unsafe extern "C" fn(*mut DlManagedTensorVersioned)>,
    /// Flags, such as [`READ_ONLY`].
    pub flags: u64,
    /// The tensor.
    pub tensor: DlTensor,
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

fn no_memory(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::ResourceExhausted, error.to_string(), Vec::new())
}

fn refused(what: String) -> Error {
    Error::new(ErrorCode::InvalidArgument, what, Vec::new())
}

/// The structure of a tensor, and what it refers to.
fn described(tensor: HostTensor) -> Result<(DlTensor, Box<Kept>), Error> {
    let dtype = tensor.dtype();
    let found = DTYPES.iter().find(|(of, ..)| *of == dtype);
    let &(_, code, bits) = found.ok_or_else(|| refused(format!("DLPack has no element type {dtype}")))?;
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

/// A tensor for a consumer that must not write to it. Its deleter frees it.
///
/// # Errors
/// If DLPack has no such element type.
pub fn export(tensor: HostTensor) -> Result<NonNull<DlManagedTensorVersioned>, Error> {
    versioned(tensor, READ_ONLY)
}

/// A copy for a consumer that may write to it. Its deleter frees it.
///
/// # Errors
/// As [`export`], and without memory.
pub fn export_copy(mut tensor: HostTensor) -> Result<NonNull<DlManagedTensorVersioned>, Error> {
    tensor.make_unique(&Malloc::shared()).map_err(no_memory)?;
    versioned(tensor, 0)
}

/// [`export_copy`] for a consumer that knows only version 0.
///
/// # Errors
/// As [`export_copy`].
pub fn export_plain(mut tensor: HostTensor) -> Result<NonNull<DlManagedTensor>, Error> {
    tensor.make_unique(&Malloc::shared()).map_err(no_memory)?;
    let (tensor, kept) = described(tensor)?;
    let manager = Box::into_raw(kept).cast();
    let deleter = Some(delete as unsafe extern "C" fn(*mut DlManagedTensor));
    Ok(NonNull::from(Box::leak(Box::new(DlManagedTensor { tensor, manager, deleter }))))
}

fn versioned(tensor: HostTensor, flags: u64) -> Result<NonNull<DlManagedTensorVersioned>, Error> {
    let (tensor, kept) = described(tensor)?;
    let manager = Box::into_raw(kept).cast();
    let deleter = Some(delete_versioned as unsafe extern "C" fn(*mut DlManagedTensorVersioned));
    let managed = DlManagedTensorVersioned { major: MAJOR, minor: MINOR, manager, deleter, flags, tensor };
    Ok(NonNull::from(Box::leak(Box::new(managed))))
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

/// A structure of another library, whose deleter is called when it is dropped.
#[derive(Debug)]
pub struct Foreign(Managed);

#[derive(Debug)]
enum Managed {
    Plain(NonNull<DlManagedTensor>),
    Versioned(NonNull<DlManagedTensorVersioned>),
}

// SAFETY: the structure is only read here, and its deleter may be called from any thread, as DLPack says.
unsafe impl Send for Foreign {}
// SAFETY: as for Send.
unsafe impl Sync for Foreign {}

impl Foreign {
    /// Takes a structure over.
    ///
    /// # Safety
    /// It must be one as DLPack defines it, with memory that is initialized and that nobody writes to, until
    /// its deleter is called. Nobody else may use or delete it.
    pub unsafe fn plain(managed: NonNull<DlManagedTensor>) -> Foreign {
        Foreign(Managed::Plain(managed))
    }

    /// [`Foreign::plain`] of a structure with a version, whose version and deleter are where version 1 has
    /// them.
    ///
    /// # Safety
    /// As [`Foreign::plain`].
    pub unsafe fn versioned(managed: NonNull<DlManagedTensorVersioned>) -> Foreign {
        Foreign(Managed::Versioned(managed))
    }

    fn tensor(&self) -> &DlTensor {
        match &self.0 {
            // SAFETY: the producer keeps the structure until its deleter is called, which `drop` does.
            Managed::Plain(managed) => unsafe { &managed.as_ref().tensor },
            // SAFETY: as above.
            Managed::Versioned(managed) => unsafe { &managed.as_ref().tensor },
        }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        match &self.0 {
            Managed::Plain(managed) => {
                // SAFETY: the producer keeps the structure until its deleter is called.
                if let Some(deleter) = unsafe { managed.as_ref() }.deleter {
                    // SAFETY: the structure was taken out of its capsule, so this is its only deletion.
                    unsafe { deleter(managed.as_ptr()) };
                }
            }
            Managed::Versioned(managed) => {
                // SAFETY: as above.
                if let Some(deleter) = unsafe { managed.as_ref() }.deleter {
                    // SAFETY: as above.
                    unsafe { deleter(managed.as_ptr()) };
                }
            }
        }
    }
}

/// A tensor over the memory of another library's tensor, which lives as long as the new one. `copy` asks for
/// a copy, or forbids it.
///
/// # Errors
/// If the tensor is not in the host's memory, has elements or sizes that no tensor has, is of another version
/// or would have to be copied, and without memory.
pub fn import(foreign: Foreign, copy: Option<bool>) -> Result<HostTensor, Error> {
    let refused = |what: String| refused(format!("the DLPack tensor {what}"));
    if let Managed::Versioned(managed) = &foreign.0 {
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
