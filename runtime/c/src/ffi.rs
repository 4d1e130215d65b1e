//! The functions of the header.
//!
//! The caller's contract, for every function: a pointer is null or points to what the header says, for as
//! long as the call lasts; a handle is null or was given out by this library and not released. Each `SAFETY`
//! refers to it. Arrays with a count of 0 may be null.

#![allow(unsafe_code, reason = "pointers from C; the contract is in the essay")]
#![allow(non_camel_case_types, reason = "the header's names")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use befrost::mem::Malloc;
use befrost::{Callable, Error, ErrorCode, HostTensor, Results, RunOptions, Runtime, Session, Shape};

use crate::dtype;
use crate::handle::{ErrorText, Handle, Kind, TensorValue};

/// An error: code, message and location.
pub(crate) type bf_error = Handle<ErrorText>;
/// A tensor.
pub(crate) type bf_tensor = Handle<TensorValue>;
/// A graph with its variables.
pub(crate) type bf_session = Handle<Session>;
/// A fixed set of names to feed and to fetch.
pub(crate) type bf_callable = Handle<Callable>;

/// The version of the binary interface.
pub(crate) const BF_ABI_VERSION: u32 = 1;

/// Options of a session. `size` is the size of the structure that the caller was compiled with.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct bf_session_options {
    /// `sizeof(bf_session_options)`.
    pub(crate) size: u32,
    /// The level of optimization, 0 to 2.
    pub(crate) level: i32,
    /// The work queue, `s` or `mstd:2`; null: the default.
    pub(crate) work_queue: *const c_char,
    /// The node that initializes the variables; null: none.
    pub(crate) init: *const c_char,
}

/// Options of a run.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct bf_run_options {
    /// `sizeof(bf_run_options)`.
    pub(crate) size: u32,
    /// Nodes that run for their effects.
    pub(crate) targets: *const *const c_char,
    /// Their number.
    pub(crate) n_targets: usize,
    /// Seconds until the run is given up; 0: never.
    pub(crate) timeout_seconds: f64,
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidArgument, message.into(), Vec::new())
}

/// A handle with one reference.
fn give<T: Kind>(value: T) -> *mut Handle<T> {
    Arc::into_raw(Arc::new(Handle { tag: T::TAG, value })).cast_mut()
}

/// A C string without inner zeros.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
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
    give(ErrorText { error, message, location })
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
            Err(invalid(format!("{what}: {n} elements do not fit in memory")))
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

/// An options structure of the caller's version, which must have all fields of this one.
fn options<'o, T>(what: &str, pointer: *const T) -> Result<Option<&'o T>, Error> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: by the contract it points to a structure that begins with its size.
    let size = unsafe { *pointer.cast::<u32>() } as usize;
    if size < size_of::<T>() {
        return Err(invalid(format!("{what}: size is {size}, expected at least {}", size_of::<T>())));
    }
    // SAFETY: it has at least the size of this structure.
    Ok(Some(unsafe { &*pointer }))
}

/// The version of the binary interface, [`BF_ABI_VERSION`].
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

/// Gives an error back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_error_release(error: *mut bf_error) {
    release(error);
}

/// A tensor with the caller's elements, which are copied; then `free_data`, if it is not null, is called with
/// `free_argument`, also after an error.
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
    let error = guard(|| {
        let out = Out::new("the tensor", out)?;
        let tensor = filled(number, rank, dims, data)?;
        out.set(give(TensorValue::new(tensor)));
        Ok(())
    });
    if let Some(free_data) = free_data {
        free_data(free_argument);
    }
    error
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

fn filled(number: i32, rank: i32, dims: *const i64, data: *const c_void) -> Result<HostTensor, Error> {
    let dtype = dtype::of_number(number).ok_or_else(|| invalid(format!("there is no dtype {number}")))?;
    let rank = usize::try_from(rank).map_err(|_| invalid(format!("the rank {rank} is negative")))?;
    let size = |&dim: &i64| usize::try_from(dim).map_err(|_| invalid(format!("the size {dim} is negative")));
    let dims: Vec<usize> = items("the dimensions", dims, rank)?.iter().map(size).collect::<Result<_, _>>()?;
    let refused = |error: befrost::TensorError| invalid(error.to_string());
    let shape = Shape::new(&dims).map_err(refused)?;
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
    value_of(tensor).map_or(0, |tensor| dtype::number(tensor.tensor.dtype()))
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

/// The elements of a tensor, row by row, which live as long as the tensor; null for null. Nobody may write to
/// them.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_data(tensor: *const bf_tensor) -> *const c_void {
    let bytes = value_of(tensor).ok().and_then(|tensor| tensor.tensor.read_bytes().ok());
    bytes.map_or(std::ptr::null(), |bytes| bytes.as_ptr().cast())
}

/// The number of bytes of a tensor's elements; 0 for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_tensor_bytes(tensor: *const bf_tensor) -> usize {
    let bytes = value_of(tensor).ok().and_then(|tensor| tensor.tensor.read_bytes().ok());
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

/// Opens a graph. `runtime` must be null: each session has its own.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_open(
    runtime: *const c_void,
    path: *const c_char,
    given: *const bf_session_options,
    out: *mut *mut bf_session,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the session", out)?;
        if !runtime.is_null() {
            return Err(invalid("the runtime must be null: each session has its own"));
        }
        let path = text("the path", path)?;
        let mut builder = Session::builder();
        if let Some(given) = options("bf_session_options", given)? {
            let level = u8::try_from(given.level).ok().filter(|&level| level <= 2);
            let unknown = || invalid(format!("there is no level {}: give 0, 1 or 2", given.level));
            builder = builder.level(level.ok_or_else(unknown)?);
            if let Some(queue) = optional("the work queue", given.work_queue)? {
                builder = builder.runtime(&Runtime::builder().work_queue(queue).build()?);
            }
            if let Some(init) = optional("the name of the initialization", given.init)? {
                builder = builder.init(init);
            }
        }
        out.set(give(builder.open(path)?));
        Ok(())
    })
}

/// Another reference to a session.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_retain(session: *mut bf_session) {
    retain(session);
}

/// Gives a reference to a session back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_release(session: *mut bf_session) {
    release(session);
}

/// The tensors of an array of handles.
fn tensors(first: *const *mut bf_tensor, n: usize) -> Result<Vec<HostTensor>, Error> {
    let all = items("the tensors", first, n)?;
    all.iter().map(|&tensor| value_of(tensor).map(|value| value.tensor.clone())).collect()
}

/// Gives the results of a run to the caller: all or none.
fn deliver(results: &Results, n: usize, out: *mut *mut bf_tensor) -> Result<(), Error> {
    let values = (0..n).map(|i| match results.iter().nth(i).flatten() {
        Some(value) => value.tensor().map(|tensor| Some(tensor.clone())),
        None => Ok(None),
    });
    for (i, value) in values.collect::<Result<Vec<_>, Error>>()?.into_iter().enumerate() {
        let made = value.map_or(std::ptr::null_mut(), |tensor| give(TensorValue::new(tensor)));
        // SAFETY: by the contract `out` points to `n` pointers.
        let place = unsafe { out.add(i) };
        // SAFETY: it is one of them.
        unsafe { *place = made };
    }
    Ok(())
}

/// Makes the places for results null.
fn clear(n: usize, out: *mut *mut bf_tensor) -> Result<(), Error> {
    if n > 0 && out.is_null() {
        return Err(invalid("the place for the results is null"));
    }
    for i in 0..n {
        // SAFETY: by the contract `out` points to `n` pointers.
        let place = unsafe { out.add(i) };
        // SAFETY: it is one of them.
        unsafe { *place = std::ptr::null_mut() };
    }
    Ok(())
}

/// Computes tensors of a graph. An operation without outputs that is fetched gives null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_run(
    session: *const bf_session,
    given: *const bf_run_options,
    feed_names: *const *const c_char,
    feeds: *const *mut bf_tensor,
    n_feeds: usize,
    fetch_names: *const *const c_char,
    out: *mut *mut bf_tensor,
    n_fetches: usize,
) -> *mut bf_error {
    guard(|| {
        clear(n_fetches, out)?;
        let session = value_of(session)?;
        let fed = names("a name to feed", feed_names, n_feeds)?;
        let feeds: Vec<(&str, HostTensor)> = fed.into_iter().zip(tensors(feeds, n_feeds)?).collect();
        let fetches = names("a name to fetch", fetch_names, n_fetches)?;
        let mut run = RunOptions::default();
        if let Some(given) = options("bf_run_options", given)? {
            let targets = names("a target", given.targets, given.n_targets)?;
            run.targets = targets.into_iter().map(str::to_owned).collect();
            if given.timeout_seconds != 0.0 {
                let timeout = std::time::Duration::try_from_secs_f64(given.timeout_seconds);
                let timeout = timeout
                    .map_err(|_| invalid("the timeout must be a finite, positive number of seconds"))?;
                run.deadline = std::time::Instant::now().checked_add(timeout);
            }
        }
        deliver(&session.run_with(&feeds, &fetches, &run)?, n_fetches, out)
    })
}

/// Prepares names to be run again and again.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_callable(
    session: *const bf_session,
    feed_names: *const *const c_char,
    n_feeds: usize,
    fetch_names: *const *const c_char,
    n_fetches: usize,
    out: *mut *mut bf_callable,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the callable", out)?;
        let feeds = names("a name to feed", feed_names, n_feeds)?;
        let fetches = names("a name to fetch", fetch_names, n_fetches)?;
        out.set(give(value_of(session)?.callable(&feeds, &fetches)?));
        Ok(())
    })
}

/// Computes the fetches of a callable.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_callable_call(
    callable: *const bf_callable,
    feeds: *const *mut bf_tensor,
    n_feeds: usize,
    out: *mut *mut bf_tensor,
    n_fetches: usize,
) -> *mut bf_error {
    guard(|| {
        clear(n_fetches, out)?;
        let results = value_of(callable)?.call(tensors(feeds, n_feeds)?)?;
        if results.len() != n_fetches {
            let message = format!("{n_fetches} places for {} results", results.len());
            return Err(invalid(message));
        }
        deliver(&results, n_fetches, out)
    })
}

/// Gives a reference to a callable back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_callable_release(callable: *mut bf_callable) {
    release(callable);
}

/// The value of a variable.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_variables_get(
    session: *const bf_session,
    name: *const c_char,
    out: *mut *mut bf_tensor,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the value", out)?;
        let value = value_of(session)?.variables().get(text("the name", name)?)?;
        out.set(give(TensorValue::new(value)));
        Ok(())
    })
}

/// Gives a variable a value.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_variables_set(
    session: *const bf_session,
    name: *const c_char,
    value: *const bf_tensor,
) -> *mut bf_error {
    guard(|| {
        let value = value_of(value)?.tensor.clone();
        value_of(session)?.variables().set(text("the name", name)?, value)
    })
}
