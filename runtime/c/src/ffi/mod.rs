//! The functions of the header.
//!
//! The caller's contract, for every function: a pointer is null or points to what the header says, for as
//! long as the call lasts; a handle is null or was given out by this library and not released. Each `SAFETY`
//! refers to it. Arrays with a count of 0 may be null.
//!
//! Here is what all of them use, with versions and errors.

#![allow(unsafe_code, reason = "pointers from C; the contract is in the essay")]
#![allow(non_camel_case_types, reason = "the header's names")]

mod attrs;
mod eager;
#[cfg(feature = "libraries")]
mod library;
#[cfg(feature = "compile")]
mod model;
#[cfg(feature = "compile")]
mod ports;
mod program;
#[cfg(feature = "compile")]
mod run;
mod runtime;
#[cfg(feature = "compile")]
mod session;
mod tensor;
#[cfg(feature = "compile")]
mod variables;

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

#[cfg(feature = "compile")]
use befrost::{Callable, Model, Run, Session};
use befrost::{Datum, Error, ErrorCode, Program};
use smallvec::SmallVec;

#[cfg(feature = "libraries")]
use crate::handle::LibraryValue;
use crate::handle::{EagerOp, ErrorText, Future, Handle, Kind, RuntimeValue, TensorValue, c_string};
#[cfg(feature = "compile")]
use crate::handle::{PortList, Snapshot};

/// An error: code, message and location.
pub(crate) type bf_error = Handle<ErrorText>;
/// A tensor of numbers or texts, or the handle of a variable, a table, a list.
pub(crate) type bf_tensor = Handle<TensorValue>;
/// A work queue, memory and kernels, which sessions and operators may share.
pub(crate) type bf_runtime = Handle<RuntimeValue>;
/// A kernel library.
#[cfg(feature = "libraries")]
pub(crate) type bf_loaded_library = Handle<LibraryValue>;
/// A BEF file in memory.
pub(crate) type bf_program = Handle<Program>;
/// A model's function.
#[cfg(feature = "compile")]
pub(crate) type bf_model = Handle<Model>;
/// A model with its variables.
#[cfg(feature = "compile")]
pub(crate) type bf_session = Handle<Session>;
/// Tensors of a model that can be fed or fetched: names and types.
#[cfg(feature = "compile")]
pub(crate) type bf_ports = Handle<PortList>;
/// A fixed set of names to feed and to fetch: nothing is looked up in a call.
#[cfg(feature = "compile")]
pub(crate) type bf_callable = Handle<Callable>;
/// A run that goes on.
#[cfg(feature = "compile")]
pub(crate) type bf_run = Handle<Run>;
/// The values of all variables at one time.
#[cfg(feature = "compile")]
pub(crate) type bf_snapshot = Handle<Snapshot>;
/// An operator with attributes.
pub(crate) type bf_op = Handle<EagerOp>;
/// A result of an operator that may not be there yet.
pub(crate) type bf_future = Handle<Future>;

/// The version of the binary interface.
pub(crate) const BF_ABI_VERSION: u32 = 1;

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidArgument, message.into(), Vec::new())
}

/// A handle with one reference.
fn give<T: Kind>(value: T) -> *mut Handle<T> {
    hand_over(handle(value))
}

fn hand_over<T: Kind>(handle: Arc<Handle<T>>) -> *mut Handle<T> {
    Arc::into_raw(handle).cast_mut()
}

fn handle<T: Kind>(value: T) -> Arc<Handle<T>> {
    Arc::new(Handle { tag: T::TAG, value })
}

/// Runs the body of a function: errors and panics become an error for the caller.
fn guard(body: impl FnOnce() -> Result<(), Error>) -> *mut bf_error {
    let error = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(error)) => error,
        Err(_) => Error::new(ErrorCode::Internal, "befrost has panicked".to_owned(), Vec::new()),
    };
    let message = c_string(error.message());
    let location = c_string(error.location().unwrap_or_default());
    let calls = error.calls().iter().map(|place| c_string(place)).collect();
    give(ErrorText { error, message, location, calls })
}

/// The value of a handle, which must be one of this kind.
fn value_of<'h, T: Kind>(handle: *const Handle<T>) -> Result<&'h T, Error> {
    if handle.is_null() {
        return Err(invalid(format!("a {} is null", T::NAME)));
    }
    // SAFETY: by the contract it is a handle, and all kinds begin with their tag.
    let tag = unsafe { (*handle).tag };
    if tag != T::TAG {
        return Err(invalid(format!("a handle is no {}", T::NAME)));
    }
    // SAFETY: the tag says that it is of this kind, and by the contract it lives during the call.
    Ok(unsafe { &(*handle).value })
}

/// Another reference to a handle.
fn retain<T: Kind>(handle: *mut Handle<T>) {
    if value_of(handle).is_ok() {
        // SAFETY: it was made by `give`, and lives.
        unsafe { Arc::increment_strong_count(handle) };
    }
}

/// Gives a reference back.
fn release<T: Kind>(handle: *mut Handle<T>) {
    if value_of(handle).is_ok() {
        // SAFETY: it was made by `give`, and by the contract this reference is not used again.
        drop(catch_unwind(AssertUnwindSafe(|| unsafe { Arc::decrement_strong_count(handle) })));
    }
}

/// The text behind a pointer.
fn text<'t>(what: &str, pointer: *const c_char) -> Result<&'t str, Error> {
    if pointer.is_null() {
        return Err(invalid(format!("{what} is null")));
    }
    // SAFETY: by the contract it points to a text that ends with a zero.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| invalid(format!("{what} is not UTF-8")))
}

/// The text behind a pointer that may be null.
fn optional<'t>(what: &str, pointer: *const c_char) -> Result<Option<&'t str>, Error> {
    if pointer.is_null() { Ok(None) } else { text(what, pointer).map(Some) }
}

/// The elements of an array.
fn items<'a, T>(what: &str, first: *const T, n: usize) -> Result<&'a [T], Error> {
    match (first.is_null(), n) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(invalid(format!("{what} is null"))),
        (false, _) if n > isize::MAX as usize / size_of::<T>().max(1) => {
            Err(invalid(format!("{n} is no number of {what}")))
        }
        // SAFETY: by the contract it points to `n` elements.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(first, n) }),
    }
}

fn names<'a>(what: &str, first: *const *const c_char, n: usize) -> Result<Vec<&'a str>, Error> {
    items(what, first, n)?.iter().map(|&name| text(what, name)).collect()
}

/// Where a result goes, which is null until there is one.
struct Out<T>(*mut *mut T);

impl<T> Out<T> {
    fn new(what: &str, place: *mut *mut T) -> Result<Out<T>, Error> {
        if place.is_null() {
            return Err(invalid(format!("the place for {what} is null")));
        }
        // SAFETY: by the contract it points to a pointer.
        unsafe { *place = std::ptr::null_mut() };
        Ok(Out(place))
    }

    fn set(self, value: *mut T) {
        // SAFETY: as in `new`.
        unsafe { *self.0 = value };
    }
}

/// An options structure of C, which begins with its size.
///
/// # Safety
/// It is plain data for which zeros are valid.
unsafe trait OptionsStruct: Copy {
    /// Its name in the header.
    const NAME: &'static str;
    /// The bytes that the first version of the header gave it.
    const FIRST_SIZE: usize;
}

/// An options structure of the caller's version. What that version does not have yet is zero.
fn options<T: OptionsStruct>(pointer: *const T) -> Result<Option<T>, Error> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: by the contract it points to a structure that begins with its size.
    let size = unsafe { *pointer.cast::<u32>() } as usize;
    if size < T::FIRST_SIZE {
        return Err(invalid(format!("{}: size is {size}, expected at least {}", T::NAME, T::FIRST_SIZE)));
    }
    let mut found = std::mem::MaybeUninit::<T>::zeroed();
    let n_bytes = size.min(size_of::<T>());
    // SAFETY: by the contract there are `size` bytes; `found` has room for no fewer than are copied.
    unsafe { std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), found.as_mut_ptr().cast::<u8>(), n_bytes) };
    // SAFETY: plain data, of which the caller gave the first bytes, and zeros are valid for the others.
    Ok(Some(unsafe { found.assume_init() }))
}

/// The values of an array of tensors.
fn values(first: *const *mut bf_tensor, n: usize) -> Result<Vec<Datum>, Error> {
    let all = items("the tensors", first, n)?;
    all.iter().map(|&tensor| value_of(tensor).map(|tensor| tensor.value.clone())).collect()
}

/// Checks that there are as many places as results.
fn fits(n_places: usize, n_results: usize) -> Result<(), Error> {
    let message = || format!("{n_places} places for {n_results} results");
    if n_places == n_results { Ok(()) } else { Err(invalid(message())) }
}

/// Gives results to the caller, for whom there are places: all or none. A result without a value is null.
fn deliver(results: impl IntoIterator<Item = Option<Datum>>, out: *mut *mut bf_tensor) -> Result<(), Error> {
    let made = results.into_iter().map(|value| value.map(TensorValue::new).transpose());
    let made = made.map(|value| Ok(value?.map(handle))).collect::<Result<SmallVec<[_; 4]>, Error>>()?;
    store(made.into_iter().map(|made| made.map_or(std::ptr::null_mut(), hand_over)), out);
    Ok(())
}

/// Stores handles in the caller's places.
fn store<T>(handles: impl Iterator<Item = *mut T>, out: *mut *mut T) {
    for (i, handle) in handles.enumerate() {
        // SAFETY: by the contract `out` points to as many pointers as there are handles.
        let place = unsafe { out.add(i) };
        // SAFETY: it is one of them.
        unsafe { *place = handle };
    }
}

/// Makes the places for results null.
fn clear<T>(n: usize, out: *mut *mut T) -> Result<(), Error> {
    if n > 0 && out.is_null() {
        return Err(invalid("the place for the results is null"));
    }
    if n > isize::MAX as usize / size_of::<*mut T>() {
        return Err(invalid(format!("{n} is no number of places for results")));
    }
    store(std::iter::repeat_n(std::ptr::null_mut(), n), out);
    Ok(())
}

/// The version of the binary interface, `BF_ABI_VERSION`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_abi_version() -> u32 {
    BF_ABI_VERSION
}

/// The code of an error; 0 (`BF_OK`) for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_error_code(error: *const bf_error) -> i32 {
    value_of(error).map_or(0, |error| match error.error.code() {
        ErrorCode::Cancelled => 1,
        ErrorCode::Unknown => 2,
        ErrorCode::InvalidArgument => 3,
        ErrorCode::DeadlineExceeded => 4,
        ErrorCode::NotFound => 5,
        ErrorCode::ResourceExhausted => 8,
        ErrorCode::FailedPrecondition => 9,
        ErrorCode::OutOfRange => 11,
        ErrorCode::Unimplemented => 12,
        ErrorCode::Internal => 13,
        ErrorCode::Unavailable => 14,
    })
}

/// The message of an error, which lives as long as the error; empty for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_error_message(error: *const bf_error) -> *const c_char {
    value_of(error).map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// The place where an error was raised, such as a node; empty if it has none, and for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_error_location(error: *const bf_error) -> *const c_char {
    value_of(error).map_or(c"".as_ptr(), |error| error.location.as_ptr())
}

/// The place of a caller of the kernel that failed, the innermost one first, which lives as long as the
/// error; null behind the last, and for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_error_call(error: *const bf_error, position: usize) -> *const c_char {
    let call = value_of(error).ok().and_then(|error| error.calls.get(position));
    call.map_or(std::ptr::null(), |place| place.as_ptr())
}

/// Gives an error back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_error_release(error: *mut bf_error) {
    release(error);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_the_caller() {
        let error = guard(|| panic!("on purpose"));
        assert_eq!(bf_error_code(error), 13);
        // SAFETY: the text lives as long as the error.
        let message = unsafe { CStr::from_ptr(bf_error_message(error)) };
        assert_eq!(message.to_str(), Ok("befrost has panicked"));
        bf_error_release(error);
    }
}
