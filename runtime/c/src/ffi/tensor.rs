//! Tensors of numbers and of strings.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

#[cfg(feature = "compile")]
use befrost::Datum;
use befrost::dlpack::{self, DlManagedTensorVersioned, Foreign};
use befrost::mem::{Buffer, Malloc};
use befrost::{DType, Error, HostTensor, Shape, StringTensor, TensorError};

use super::{Out, bf_error, bf_tensor, give, guard, invalid, items, release, retain, value_of};
use crate::dtype;
use crate::handle::TensorValue;

fn refused(error: TensorError) -> Error {
    invalid(error.to_string())
}

/// Memory of the caller's.
struct Borrowed {
    free_data: extern "C" fn(*mut c_void),
    free_argument: *mut c_void,
}

// SAFETY: by the header's contract any thread may call the function with its argument.
unsafe impl Send for Borrowed {}
// SAFETY: a shared reference gives access to nothing.
unsafe impl Sync for Borrowed {}

impl Drop for Borrowed {
    fn drop(&mut self) {
        (self.free_data)(self.free_argument);
    }
}

/// A tensor over the caller's elements, which live and do not change until `free_data` is called with
/// `free_argument`: when they are used no more, by any thread, and also after an error. Without such a
/// function they are copied.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_borrow(
    number: i32,
    rank: i32,
    dims: *const i64,
    data: *const c_void,
    free_data: Option<extern "C" fn(*mut c_void)>,
    free_argument: *mut c_void,
    out: *mut *mut bf_tensor,
) -> *mut bf_error {
    let owner = free_data.map(|free_data| Arc::new(Borrowed { free_data, free_argument }));
    guard(|| {
        let out = Out::new("the tensor", out)?;
        let (dtype, shape) = (dtype_of(number)?, shape(rank, dims)?);
        let n_bytes = shape.num_bytes(dtype).map_err(refused)?;
        let start = NonNull::new(data.cast_mut().cast::<u8>());
        let tensor = match (owner, start.filter(|start| start.addr().get().is_multiple_of(dtype.align()))) {
            (Some(owner), Some(start)) if n_bytes > 0 => {
                // SAFETY: by the contract the elements live and do not change until `owner` is dropped.
                let buffer = unsafe { Buffer::shared(start, n_bytes, owner) };
                HostTensor::from_buffer(dtype, shape, buffer).map_err(refused)?
            }
            _ => filled(dtype, shape, data)?,
        };
        out.set(give(TensorValue::new(tensor.into())?));
        Ok(())
    })
}

/// A tensor with a copy of the caller's elements.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_create(
    number: i32,
    rank: i32,
    dims: *const i64,
    data: *const c_void,
    out: *mut *mut bf_tensor,
) -> *mut bf_error {
    bf_tensor_borrow(number, rank, dims, data, None, std::ptr::null_mut(), out)
}

fn shape(rank: i32, dims: *const i64) -> Result<Shape, Error> {
    let rank = usize::try_from(rank).map_err(|_| invalid(format!("{rank} is no rank")))?;
    let size = |&dim: &i64| usize::try_from(dim).map_err(|_| invalid(format!("{dim} is no size")));
    let dims: Vec<usize> = items("the dimensions", dims, rank)?.iter().map(size).collect::<Result<_, _>>()?;
    Shape::new(&dims).map_err(refused)
}

fn dtype_of(number: i32) -> Result<DType, Error> {
    dtype::of_number(number).ok_or_else(|| invalid(format!("{number} is no dtype")))
}

fn filled(dtype: DType, shape: Shape, data: *const c_void) -> Result<HostTensor, Error> {
    let tensor = HostTensor::allocate(dtype, shape, &Malloc::shared()).map_err(refused)?;
    let mut bytes = tensor.write_bytes().map_err(refused)?;
    let n = bytes.len();
    bytes.copy_from_slice(items::<u8>("the data", data.cast(), n)?);
    drop(bytes);
    Ok(tensor)
}

/// The number of a tensor's dtype; 0 for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_dtype(tensor: *const bf_tensor) -> i32 {
    value_of(tensor).map_or(0, |tensor| dtype::number(tensor.ty))
}

/// The number of a tensor's dimensions; -1 for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_rank(tensor: *const bf_tensor) -> i32 {
    value_of(tensor).map_or(-1, |tensor| i32::try_from(tensor.dims.len()).unwrap_or(i32::MAX))
}

/// The dimensions of a tensor, which live as long as the tensor; null for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_dims(tensor: *const bf_tensor) -> *const i64 {
    value_of(tensor).map_or(std::ptr::null(), |tensor| tensor.dims.as_ptr())
}

/// The elements of a tensor, row by row, which live as long as the tensor; null for null and for strings.
/// Nobody may write to them.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_data(tensor: *const bf_tensor) -> *const c_void {
    let bytes =
        value_of(tensor).ok().and_then(TensorValue::numbers).and_then(|numbers| numbers.read_bytes().ok());
    bytes.map_or(std::ptr::null(), |bytes| bytes.as_ptr().cast())
}

/// The number of bytes of a tensor's elements; 0 for null and for strings.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_bytes(tensor: *const bf_tensor) -> usize {
    let bytes =
        value_of(tensor).ok().and_then(TensorValue::numbers).and_then(|numbers| numbers.read_bytes().ok());
    bytes.map_or(0, |bytes| bytes.len())
}

/// Another reference to a tensor.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_retain(tensor: *mut bf_tensor) {
    retain(tensor);
}

/// Gives a reference to a tensor back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_release(tensor: *mut bf_tensor) {
    release(tensor);
}

/// A tensor with copies of texts, row by row. `lengths` are their numbers of bytes; null: each ends with a
/// zero.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_create_strings(
    rank: i32,
    dims: *const i64,
    texts: *const *const c_char,
    lengths: *const usize,
    out: *mut *mut bf_tensor,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the tensor", out)?;
        let shape = shape(rank, dims)?;
        let texts = items("the texts", texts, shape.num_elements())?;
        let lengths = match lengths.is_null() {
            true => None,
            false => Some(items("the lengths", lengths, texts.len())?),
        };
        let one = |(i, &text): (usize, &*const c_char)| match lengths {
            _ if text.is_null() => Err(invalid(format!("text {i} is null"))),
            // SAFETY: by the contract it points to a text that ends with a zero.
            None => Ok(unsafe { CStr::from_ptr(text) }.to_bytes()),
            Some(lengths) => items("the text", text.cast::<u8>(), lengths[i]),
        };
        let texts = texts.iter().enumerate().map(one).collect::<Result<Vec<&[u8]>, Error>>()?;
        let strings = StringTensor::new(shape, &texts, &Malloc::shared()).map_err(refused)?;
        out.set(give(TensorValue::new(strings.into())?));
        Ok(())
    })
}

/// A tensor of texts in a row.
#[cfg(feature = "compile")]
pub(super) fn row_of(texts: &[String]) -> Result<Datum, Error> {
    let shape = Shape::new(&[texts.len()]).map_err(refused)?;
    let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    StringTensor::new(shape, &texts, &Malloc::shared()).map(Datum::from).map_err(refused)
}

/// A text of a tensor of strings by its position, row by row: its bytes, which live as long as the tensor and
/// do not end with a zero, and their number.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_string(
    tensor: *const bf_tensor,
    position: usize,
    data: *mut *const c_char,
    length: *mut usize,
) -> *mut bf_error {
    guard(|| {
        if data.is_null() || length.is_null() {
            return Err(invalid("the place for the text or its length is null"));
        }
        let strings = value_of(tensor)?.value.strings()?.read().map_err(refused)?;
        let text = strings.at(position).ok_or_else(|| invalid(format!("there is no text {position}")))?;
        // SAFETY: by the contract it points to a pointer.
        unsafe { *data = text.as_ptr().cast() };
        // SAFETY: by the contract it points to a number.
        unsafe { *length = text.len() };
        Ok(())
    })
}

/// A tensor over the memory of another library's tensor, which is taken over, whatever happens: its deleter
/// is called when the memory is used no more, by any thread.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_from_dlpack(
    managed: *mut DlManagedTensorVersioned,
    out: *mut *mut bf_tensor,
) -> *mut bf_error {
    guard(|| {
        // SAFETY: by the contract it is a structure of DLPack's that the caller gives up.
        let foreign = NonNull::new(managed).map(|managed| unsafe { Foreign::versioned(managed) });
        let out = Out::new("the tensor", out)?;
        let foreign = foreign.ok_or_else(|| invalid("the DLPack tensor is null"))?;
        out.set(give(TensorValue::new(dlpack::import(foreign, None)?.into())?));
        Ok(())
    })
}

/// A tensor for other libraries, over its memory, which nobody may write to. Its deleter frees it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_to_dlpack(
    tensor: *const bf_tensor,
    out: *mut *mut DlManagedTensorVersioned,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the DLPack tensor", out)?;
        let numbers =
            value_of(tensor)?.numbers().ok_or_else(|| invalid("DLPack has no tensors of strings"))?;
        out.set(dlpack::export(numbers.clone())?.as_ptr());
        Ok(())
    })
}
