//! The library's side of the table: kernel libraries in Rust.
//!
//! ```text
//! library! { "geo": Area, Scale } ──▶ befrost_library_v1 ──▶ a RawKernel per LibraryKernel
//! host ──run──▶ run_of::<Area> ──Frame──▶ Area::run
//! ```
//!
//! The host's functions are called through its table, so a library works with any host of its version. A
//! panic becomes an error of the kernel.
//!
//! A kernel may leave its results to another thread: [`Frame::defer`] gives what ends it.

#![allow(unsafe_code, reason = "pointers from the host; the header is the contract")]

use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};

use befrost_kernel_api::error::drop_payload;
use befrost_kernel_api::{ErrorCode, KernelError};
use befrost_tensor::tf::op::Type;
use befrost_tensor::{DType, Element};

use super::abi::{Attrs, CODES, Host, LibraryMessage, OK, PortShapes, RawKernel, RawLibrary, VERSION, View};
use super::call::LibraryCall;
use super::{BLOCKING, DONE, FAILED, LATER, PURE};

/// A kernel of a library, and the state of one of its uses.
pub trait LibraryKernel: Sized + Send + Sync + 'static {
    /// `tf.MyNorm`, an operator; or `geo.area`, an op of a dialect of one's own.
    const NAME: &'static CStr;
    /// An operator's: `x:T scale:T -> y:T; T:{float,double} eps:float=1e-5`. Another kernel's: types, then
    /// the names of its attributes: `i32 !t.tensor -> i32; by`.
    const SIGNATURE: &'static CStr;
    /// For the documentation of the op.
    const SUMMARY: &'static CStr = c"";
    /// True if the results depend on nothing but operands and attributes.
    const IS_PURE: bool = true;
    /// True if a run may wait.
    const IS_BLOCKING: bool = false;

    /// The state of a use.
    ///
    /// # Errors
    /// The reason why the attributes are refused.
    fn prepare(attrs: &UseAttrs<'_>) -> Result<Self, String>;

    /// Computes the results.
    ///
    /// # Errors
    /// The error of the kernel.
    fn run(&self, frame: &mut Frame<'_>) -> Result<(), KernelError>;

    /// Sets the shapes of an operator's results; those that are not set are unknown.
    ///
    /// # Errors
    /// The reason why the operands' shapes are refused.
    fn infer(attrs: &UseAttrs<'_>, shapes: &mut UseShapes<'_>) -> Result<(), String> {
        _ = (attrs, shapes);
        Ok(())
    }
}

/// The attributes of a use, by their names; none of the kind that is asked for is `None`.
pub struct UseAttrs<'a> {
    host: &'a Host,
    attrs: *const Attrs<'a>,
}

impl UseAttrs<'_> {
    fn get<T: Default>(
        &self,
        name: &str,
        read: impl FnOnce(*const std::ffi::c_char, &mut T) -> i32,
    ) -> Option<T> {
        let (name, mut value) = (CString::new(name).ok()?, T::default());
        (read(name.as_ptr(), &mut value) == OK).then_some(value)
    }

    /// An integer.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name, |name, value| (self.host.attr_int)(self.attrs, name, value))
    }

    /// A floating-point number.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.get(name, |name, value| (self.host.attr_float)(self.attrs, name, value))
    }

    /// A boolean.
    pub fn bool(&self, name: &str) -> Option<bool> {
        self.get(name, |name, value| (self.host.attr_bool)(self.attrs, name, value))
            .map(|value: i32| value != 0)
    }

    /// An element type of numbers.
    pub fn dtype(&self, name: &str) -> Option<DType> {
        dtype_of(self.get(name, |name, value| (self.host.attr_type)(self.attrs, name, value))?)
    }

    /// A string.
    pub fn string(&self, name: &str) -> Option<Vec<u8>> {
        let (mut data, mut len) = (null(), 0);
        let read = |name, _: &mut ()| (self.host.attr_string)(self.attrs, name, &mut data, &mut len);
        self.get(name, read)?;
        // SAFETY: by the header's contract `len` bytes begin there while there are the attributes.
        Some(unsafe { elements(data.cast::<u8>(), len) }.to_vec())
    }

    /// A list of integers.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        let (mut data, mut len) = (null(), 0);
        let read = |name, _: &mut ()| (self.host.attr_ints)(self.attrs, name, &mut data, &mut len);
        self.get(name, read)?;
        // SAFETY: as in `string`.
        Some(unsafe { elements(data, len) }.to_vec())
    }
}

/// A kernel that runs.
pub struct Frame<'f> {
    host: &'static Host,
    call: *mut LibraryCall,
    /// Its ticket, if its results come later.
    ticket: Option<u64>,
    lifetime: PhantomData<&'f LibraryCall>,
}

/// The end of a kernel whose results come later, by any thread. Dropped, it makes the kernel fail.
#[must_use = "the kernel fails if it is dropped"]
pub struct Later {
    host: &'static Host,
    ticket: u64,
}

/// An operand: a tensor, a number, which is a tensor of rank 0, or a chain, which has no element type.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'f> {
    /// The element type.
    pub dtype: Option<DType>,
    /// The sizes of the dimensions.
    pub dims: &'f [i64],
    bytes: &'f [u8],
}

impl<'f> Operand<'f> {
    /// The elements, row by row.
    ///
    /// # Errors
    /// If they are of another type.
    pub fn elements<T: Element>(&self) -> Result<&'f [T], KernelError> {
        let is_of_type = self.dtype == Some(T::DTYPE);
        if is_of_type && self.bytes.is_empty() {
            // No bytes need not be aligned.
            return Ok(&[]);
        }
        match bytemuck::try_cast_slice(self.bytes) {
            Ok(elements) if is_of_type => Ok(elements),
            _ => {
                let found = self.dtype.map_or("a chain".to_owned(), |dtype| dtype.to_string());
                Err(KernelError::invalid(format!(
                    "the operand has elements of {found}, expected {}",
                    T::DTYPE
                )))
            }
        }
    }
}

impl<'f> Frame<'f> {
    /// The number of operands.
    pub fn n_operands(&self) -> usize {
        (self.host.n_operands)(self.call) as usize
    }

    /// The number of results.
    pub fn n_results(&self) -> usize {
        (self.host.n_results)(self.call) as usize
    }

    /// An operand.
    ///
    /// # Errors
    /// If there are not so many.
    pub fn operand(&self, i: usize) -> Result<Operand<'f>, KernelError> {
        // SAFETY: by the header's contract the view is valid until `run` returns.
        unsafe { operand_by(i, |i, view| (self.host.operand)(self.call, i, view)) }
    }

    /// The elements of a result of these sizes, to be written; they begin as zeros. A result is made once.
    ///
    /// # Errors
    /// If the result is made already, is not there, or has no memory.
    pub fn result<T: Element>(&mut self, i: usize, dims: &[i64]) -> Result<&'f mut [T], KernelError> {
        let make = |i, dtype, rank, dims| (self.host.result)(self.call, i, dtype, rank, dims);
        // SAFETY: by the header's contract the memory is valid until `run` returns, and is given once.
        unsafe { result_by(i, dims, make) }
    }

    /// Leaves the results to any thread, at any time after `run` has returned or before. The operands are
    /// copied for it.
    ///
    /// # Errors
    /// If they are left to another one, or the kernel may block, or there is no memory.
    pub fn defer(&mut self) -> Result<Later, KernelError> {
        let ticket = (self.host.defer)(self.call);
        if ticket == 0 {
            return Err(KernelError::new(ErrorCode::Internal, "the results cannot come later"));
        }
        self.ticket = Some(ticket);
        Ok(Later { host: self.host, ticket })
    }

    /// Makes an operand a result, without a copy.
    ///
    /// # Errors
    /// If there is no such operand or result, or the result is made already.
    pub fn forward(&mut self, i: usize, operand: usize) -> Result<(), KernelError> {
        let numbers = u32::try_from(i).ok().zip(u32::try_from(operand).ok());
        match numbers.is_some_and(|(i, operand)| (self.host.forward)(self.call, i, operand) == OK) {
            true => Ok(()),
            false => Err(KernelError::invalid(format!("operand #{operand} cannot be result #{i}"))),
        }
    }
}

impl Later {
    /// An operand.
    ///
    /// # Errors
    /// If there are not so many.
    pub fn operand(&self, i: usize) -> Result<Operand<'_>, KernelError> {
        // SAFETY: by the header's contract the view is valid until the ticket ends, which takes `self`.
        unsafe { operand_by(i, |i, view| (self.host.later_operand)(self.ticket, i, view)) }
    }

    /// The elements of a result, as those of [`Frame::result`].
    ///
    /// # Errors
    /// As [`Frame::result`].
    pub fn result<T: Element>(&mut self, i: usize, dims: &[i64]) -> Result<&mut [T], KernelError> {
        let make = |i, dtype, rank, dims| (self.host.later_result)(self.ticket, i, dtype, rank, dims);
        // SAFETY: by the header's contract the memory is valid until the ticket ends, which takes `self`, and
        // is given once.
        unsafe { result_by(i, dims, make) }
    }

    /// Ends the kernel: its results are there.
    pub fn finish(self) {
        (self.host.finish)(self.ticket);
        std::mem::forget(self);
    }

    /// Ends the kernel with an error.
    pub fn fail(self, error: &KernelError) {
        (self.host.later_fail)(self.ticket, number_of(error.code()), message_of(error).as_ptr());
        self.finish();
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        (self.host.drop)(self.ticket);
    }
}

/// The operand that the host's function gives.
///
/// # Safety
/// The view that it stores must be valid for `'a`.
unsafe fn operand_by<'a>(
    i: usize,
    view_of: impl FnOnce(u32, *mut View) -> i32,
) -> Result<Operand<'a>, KernelError> {
    let mut view = View { dtype: 0, rank: 0, dims: null(), data: null(), bytes: 0 };
    let found = u32::try_from(i).is_ok_and(|i| view_of(i, &mut view) == OK);
    if !found {
        return Err(KernelError::invalid(format!("there is no operand #{i}")));
    }
    let View { dtype, rank, dims, data, bytes } = view;
    // SAFETY: by the header's contract `rank` sizes begin there, and by the caller's they are valid.
    let dims = unsafe { elements(dims, usize::try_from(rank).unwrap_or(0)) };
    // SAFETY: as above, with `bytes` bytes.
    let bytes = unsafe { elements(data.cast::<u8>(), bytes) };
    Ok(Operand { dtype: dtype_of(dtype), dims, bytes })
}

/// The memory that the host's function gives for a result, with zeros in it.
///
/// # Safety
/// It must be valid for `'a`, and be given once.
unsafe fn result_by<'a, T: Element>(
    i: usize,
    dims: &[i64],
    make: impl FnOnce(u32, i32, i32, *const i64) -> *mut c_void,
) -> Result<&'a mut [T], KernelError> {
    let wrong = || KernelError::invalid(format!("result #{i} of sizes {dims:?} cannot be made"));
    let size = |&dim: &i64| usize::try_from(dim).ok();
    let n = dims.iter().map(size).try_fold(1usize, |n, dim| n.checked_mul(dim?)).ok_or_else(wrong)?;
    let (at, rank) =
        (u32::try_from(i).map_err(|_| wrong())?, i32::try_from(dims.len()).map_err(|_| wrong())?);
    let data = make(at, Type::Dense(T::DTYPE).code(), rank, dims.as_ptr()).cast::<T>();
    if data.is_null() {
        return Err(wrong());
    }
    if n == 0 {
        // Memory without elements need not be aligned.
        return Ok(&mut []);
    }
    // SAFETY: the host gave memory for `n` aligned elements.
    unsafe { data.write_bytes(0, n) };
    // SAFETY: as above; by the caller's contract the memory is given once and valid, and any bytes are
    // elements.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, n) })
}

/// The shapes of a use that is compiled.
pub struct UseShapes<'s> {
    host: &'s Host,
    shapes: *mut PortShapes,
}

impl<'s> UseShapes<'s> {
    /// The sizes of an operand, -1 for unknown ones; `None` if its rank is unknown.
    pub fn operand(&self, i: usize) -> Option<&'s [i64]> {
        let (mut rank, mut dims) = (-1, null());
        let found = (self.host.shape)(self.shapes, u32::try_from(i).ok()?, &mut rank, &mut dims) == OK;
        let rank = usize::try_from(rank).ok().filter(|_| found)?;
        // SAFETY: by the header's contract `rank` sizes begin there, until `infer` returns.
        Some(unsafe { elements(dims, rank) })
    }

    /// Sets the sizes of a result, -1 for unknown ones.
    ///
    /// # Errors
    /// If there is no such result, or no such shape.
    pub fn set(&mut self, result: usize, dims: &[i64]) -> Result<(), String> {
        let numbers = u32::try_from(result).ok().zip(i32::try_from(dims.len()).ok());
        let set = |(i, rank)| (self.host.set_shape)(self.shapes, i, rank, dims.as_ptr()) == OK;
        match numbers.is_some_and(set) {
            true => Ok(()),
            false => Err(format!("result #{result} cannot have the sizes {dims:?}")),
        }
    }
}

fn dtype_of(code: i32) -> Option<DType> {
    Type::from_code(code).ok().and_then(|(ty, is_ref)| ty.dtype().filter(|_| !is_ref))
}

/// The elements of an array of the host's, which may be null if there are none.
///
/// # Safety
/// `n` elements begin at `first`, for as long as `'a`.
unsafe fn elements<'a, T>(first: *const T, n: usize) -> &'a [T] {
    if first.is_null() || n == 0 {
        return &[];
    }
    // SAFETY: the caller's contract.
    unsafe { std::slice::from_raw_parts(first, n) }
}

/// The table of the host that called.
fn table(host: *const Host) -> &'static Host {
    // SAFETY: by the header's contract the host passes its table, which lives forever.
    unsafe { &*host }
}

/// The outcome of a library's function: an error for a refusal and for a panic.
fn outcome<T>(body: impl FnOnce() -> Result<T, KernelError>) -> Result<T, KernelError> {
    let caught = catch_unwind(AssertUnwindSafe(body));
    caught.unwrap_or_else(|payload| {
        drop_payload(payload);
        Err(KernelError::new(ErrorCode::Internal, "the kernel library has panicked"))
    })
}

fn number_of(code: ErrorCode) -> i32 {
    CODES.iter().find(|(_, known)| *known == code).map_or(2, |(number, _)| *number)
}

fn message_of(error: &KernelError) -> CString {
    CString::new(error.message().replace('\0', " ")).unwrap_or_default()
}

fn refusal(host: &Host, error: &KernelError) -> *mut LibraryMessage {
    (host.error)(number_of(error.code()), message_of(error).as_ptr())
}

extern "C" fn prepare_of<K: LibraryKernel>(
    host: *const Host,
    attrs: *const Attrs<'_>,
    state: *mut *mut c_void,
) -> *mut LibraryMessage {
    let host = table(host);
    match outcome(|| K::prepare(&UseAttrs { host, attrs: attrs.cast() }).map_err(KernelError::invalid)) {
        Ok(kernel) => {
            // SAFETY: by the header's contract it points to the place for the state.
            unsafe { state.write(Box::into_raw(Box::new(kernel)).cast()) };
            null_mut()
        }
        Err(error) => refusal(host, &error),
    }
}

extern "C" fn release_of<K: LibraryKernel>(state: *mut c_void) {
    // SAFETY: the host gives back, once, a state that `prepare_of` made.
    let state = (!state.is_null()).then(|| unsafe { Box::from_raw(state.cast::<K>()) });
    catch_unwind(AssertUnwindSafe(|| drop(state))).unwrap_or_else(drop_payload);
}

extern "C" fn run_of<K: LibraryKernel>(host: *const Host, state: *mut c_void, call: *mut LibraryCall) -> i32 {
    let host = table(host);
    // SAFETY: the host passes a state that `prepare_of` made and `release_of` has not taken.
    let kernel = unsafe { &*state.cast::<K>() };
    let mut frame = Frame { host, call, ticket: None, lifetime: PhantomData };
    match (outcome(|| kernel.run(&mut frame)), frame.ticket) {
        (Ok(()), None) => DONE,
        (Ok(()), Some(_)) => LATER,
        (Err(error), None) => {
            (host.fail)(call, number_of(error.code()), message_of(&error).as_ptr());
            FAILED
        }
        (Err(error), Some(ticket)) => {
            // Another thread may use the operands until it ends the ticket.
            (host.later_fail)(ticket, number_of(error.code()), message_of(&error).as_ptr());
            LATER
        }
    }
}

extern "C" fn infer_of<K: LibraryKernel>(
    host: *const Host,
    attrs: *const Attrs<'_>,
    shapes: *mut PortShapes,
) -> i32 {
    let host = table(host);
    let attrs = UseAttrs { host, attrs: attrs.cast() };
    match outcome(|| K::infer(&attrs, &mut UseShapes { host, shapes }).map_err(KernelError::invalid)) {
        Ok(()) => OK,
        Err(error) => {
            (host.refuse)(shapes, message_of(&error).as_ptr());
            number_of(error.code())
        }
    }
}

/// The kernels of a library, for [`library!`](crate::library!).
pub struct Kernels(Vec<RawKernel>);

impl Kernels {
    /// None.
    pub fn new() -> Kernels {
        Kernels(Vec::new())
    }

    /// Adds a kernel.
    #[must_use]
    pub fn with<K: LibraryKernel>(mut self, _: PhantomData<K>) -> Kernels {
        let flags = if K::IS_PURE { PURE } else { 0 } | if K::IS_BLOCKING { BLOCKING } else { 0 };
        self.0.push(RawKernel {
            size: size_of::<RawKernel>() as u32,
            flags,
            name: K::NAME.as_ptr(),
            signature: K::SIGNATURE.as_ptr(),
            summary: K::SUMMARY.as_ptr(),
            prepare: Some(prepare_of::<K>),
            release: Some(release_of::<K>),
            run: Some(run_of::<K>),
            infer: Some(infer_of::<K>),
        });
        self
    }

    /// Describes the library to the host, for the life of the process. Returns null, or the host's error if
    /// it is of another version.
    ///
    /// # Safety
    /// `host` and `library` must be what a host passes to `befrost_library_v1`: its table, which lives
    /// forever, and a structure to fill in, which nobody else uses meanwhile.
    pub unsafe fn describe(
        self,
        host: *const c_void,
        library: *mut c_void,
        name: &'static CStr,
    ) -> *mut c_void {
        let host = table(host.cast());
        if host.version != VERSION || (host.size as usize) < size_of::<Host>() {
            let error = KernelError::new(ErrorCode::FailedPrecondition, "the host is of another version");
            return refusal(host, &error).cast();
        }
        let kernels = self.0.leak();
        // SAFETY: the caller's contract.
        let library = unsafe { &mut *library.cast::<RawLibrary>() };
        library.version = VERSION;
        library.name = name.as_ptr();
        library.kernels = kernels.as_ptr();
        library.n_kernels = kernels.len();
        null_mut()
    }
}

impl Default for Kernels {
    fn default() -> Kernels {
        Kernels::new()
    }
}

/// Makes a kernel library of a crate of the type `cdylib`: its name, and its
/// [kernels](crate::library::LibraryKernel).
///
/// ```
/// use befrost::KernelError;
/// use befrost::library::{Frame, LibraryKernel, UseAttrs};
///
/// struct Length;
///
/// impl LibraryKernel for Length {
///     const NAME: &'static std::ffi::CStr = c"geo.length";
///     const SIGNATURE: &'static std::ffi::CStr = c"f64 f64 -> f64";
///
///     fn prepare(_: &UseAttrs<'_>) -> Result<Length, String> {
///         Ok(Length)
///     }
///
///     fn run(&self, frame: &mut Frame<'_>) -> Result<(), KernelError> {
///         let (x, y) = (frame.operand(0)?.elements::<f64>()?, frame.operand(1)?.elements::<f64>()?);
///         frame.result(0, &[])?[0] = x[0].hypot(y[0]);
///         Ok(())
///     }
/// }
///
/// befrost::library!(c"geometry": Length);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! library {
    ($name:literal: $($kernel:ty),+ $(,)?) => {
        #[allow(unsafe_code, reason = "the function that a host looks for")]
        #[unsafe(no_mangle)]
        extern "C" fn befrost_library_v1(
            host: *const ::std::ffi::c_void,
            library: *mut ::std::ffi::c_void,
        ) -> *mut ::std::ffi::c_void {
            let kernels = $crate::library::Kernels::new();
            $(let kernels = kernels.with(::std::marker::PhantomData::<$kernel>);)+
            // SAFETY: only a host calls this function, with its table and the structure to fill in.
            unsafe { kernels.describe(host, library, $name) }
        }
    };
}
