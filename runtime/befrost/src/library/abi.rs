//! The table between host and library, and the functions behind it.
//!
//! The types are those of `befrost_library.h`, field by field. Pointers from a library are checked for null
//! and otherwise trusted, which is the contract of [`Library::load`](super::Library::load).

#![allow(unsafe_code, reason = "pointers from a library, which is trusted; the header is the contract")]

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::mem::offset_of;
use std::ptr::{null, null_mut};

use befrost_kernel_api::{ErrorCode, KernelError};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::Type;

use super::call::{self, CallOperand, LibraryCall};

/// The version of the table.
pub(super) const VERSION: u32 = 1;

/// An operand as a library sees it.
#[repr(C)]
pub(super) struct View {
    pub(super) dtype: i32,
    pub(super) rank: i32,
    pub(super) dims: *const i64,
    pub(super) data: *const c_void,
    pub(super) bytes: usize,
}

/// An error that a library gives.
#[repr(C)]
pub(super) struct LibraryMessage {
    /// [`MESSAGE`], by which it is known: an error of `befrost.h` has the same type in C, and a tag too.
    tag: u64,
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

/// `bf_host`.
#[repr(C)]
pub(super) struct Host {
    pub(super) size: u32,
    pub(super) version: u32,
    pub(super) error: extern "C" fn(i32, *const c_char) -> *mut LibraryMessage,
    pub(super) attr_int: extern "C" fn(*const Attrs<'_>, *const c_char, *mut i64) -> i32,
    pub(super) attr_float: extern "C" fn(*const Attrs<'_>, *const c_char, *mut f64) -> i32,
    pub(super) attr_bool: extern "C" fn(*const Attrs<'_>, *const c_char, *mut i32) -> i32,
    pub(super) attr_type: extern "C" fn(*const Attrs<'_>, *const c_char, *mut i32) -> i32,
    pub(super) attr_string:
        extern "C" fn(*const Attrs<'_>, *const c_char, *mut *const c_char, *mut usize) -> i32,
    pub(super) attr_ints: extern "C" fn(*const Attrs<'_>, *const c_char, *mut *const i64, *mut usize) -> i32,
    pub(super) n_operands: extern "C" fn(*const LibraryCall) -> u32,
    pub(super) n_results: extern "C" fn(*const LibraryCall) -> u32,
    pub(super) operand: extern "C" fn(*const LibraryCall, u32, *mut View) -> i32,
    pub(super) result: extern "C" fn(*mut LibraryCall, u32, i32, i32, *const i64) -> *mut c_void,
    pub(super) forward: extern "C" fn(*mut LibraryCall, u32, u32) -> i32,
    pub(super) fail: extern "C" fn(*mut LibraryCall, i32, *const c_char),
    pub(super) defer: extern "C" fn(*mut LibraryCall) -> u64,
    pub(super) later_operand: extern "C" fn(u64, u32, *mut View) -> i32,
    pub(super) later_result: extern "C" fn(u64, u32, i32, i32, *const i64) -> *mut c_void,
    pub(super) later_fail: extern "C" fn(u64, i32, *const c_char) -> i32,
    pub(super) finish: extern "C" fn(u64) -> i32,
    pub(super) drop: extern "C" fn(u64) -> i32,
    pub(super) shape: extern "C" fn(*const PortShapes, u32, *mut i32, *mut *const i64) -> i32,
    pub(super) set_shape: extern "C" fn(*mut PortShapes, u32, i32, *const i64) -> i32,
    pub(super) refuse: extern "C" fn(*mut PortShapes, *const c_char),
}

/// `bf_kernel`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawKernel {
    pub(super) size: u32,
    pub(super) flags: u32,
    pub(super) name: *const c_char,
    pub(super) signature: *const c_char,
    pub(super) summary: *const c_char,
    pub(super) prepare:
        Option<extern "C" fn(*const Host, *const Attrs<'_>, *mut *mut c_void) -> *mut LibraryMessage>,
    pub(super) release: Option<extern "C" fn(*mut c_void)>,
    pub(super) run: Option<extern "C" fn(*const Host, *mut c_void, *mut LibraryCall) -> i32>,
    pub(super) infer: Option<extern "C" fn(*const Host, *const Attrs<'_>, *mut PortShapes) -> i32>,
}

/// `bf_library`.
#[repr(C)]
pub(super) struct RawLibrary {
    pub(super) size: u32,
    pub(super) version: u32,
    pub(super) name: *const c_char,
    pub(super) kernels: *const RawKernel,
    pub(super) n_kernels: usize,
}

// The layout of libraries of the first version. `layout.c` of the C interface pins that of the header.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(offset_of!(View, dims) == 8 && offset_of!(View, bytes) == 24);
    assert!(offset_of!(Host, version) == 4 && offset_of!(Host, error) == 8);
    assert!(offset_of!(Host, attr_ints) == 56 && offset_of!(Host, fail) == 104);
    assert!(offset_of!(Host, drop) == 152 && offset_of!(Host, refuse) == 176);
    assert!(offset_of!(RawKernel, summary) == 24 && offset_of!(RawKernel, infer) == 56);
    assert!(offset_of!(RawLibrary, kernels) == 16 && offset_of!(RawLibrary, n_kernels) == 24);
};

/// `befrost_library_v1`.
pub(super) type EntryFn = extern "C" fn(*const Host, *mut RawLibrary) -> *mut LibraryMessage;

/// The table of this host.
pub(super) static HOST: Host = Host {
    size: size_of::<Host>() as u32,
    version: VERSION,
    error,
    attr_int,
    attr_float,
    attr_bool,
    attr_type,
    attr_string,
    attr_ints,
    n_operands,
    n_results,
    operand,
    result,
    forward,
    fail,
    defer,
    later_operand,
    later_result,
    later_fail,
    finish,
    drop: drop_ticket,
    shape,
    set_shape,
    refuse,
};

/// The codes of errors, by the numbers in the header.
pub(super) const CODES: [(i32, ErrorCode); 11] = [
    (1, ErrorCode::Cancelled),
    (2, ErrorCode::Unknown),
    (3, ErrorCode::InvalidArgument),
    (4, ErrorCode::DeadlineExceeded),
    (5, ErrorCode::NotFound),
    (8, ErrorCode::ResourceExhausted),
    (9, ErrorCode::FailedPrecondition),
    (11, ErrorCode::OutOfRange),
    (12, ErrorCode::Unimplemented),
    (13, ErrorCode::Internal),
    (14, ErrorCode::Unavailable),
];

pub(super) const OK: i32 = 0;
const INVALID: i32 = 3;
const NOT_FOUND: i32 = 5;

fn code_of(number: i32) -> ErrorCode {
    CODES.iter().find(|(known, _)| *known == number).map_or(ErrorCode::Unknown, |(_, code)| *code)
}

/// A text from a library; empty for null.
pub(super) fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the header says that texts end with a zero.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The tag of errors of libraries.
const MESSAGE: u64 = u64::from_le_bytes(*b"BFLIBERR");

/// The error that a library returned; `None` for null. A library returns an error once.
pub(super) fn taken(error: *mut LibraryMessage) -> Option<LibraryMessage> {
    if error.is_null() {
        return None;
    }
    // SAFETY: whatever is a `bf_error` in C begins with a tag.
    if unsafe { (*error).tag } != MESSAGE {
        let message = "its error was not made by the host's function `error`".to_owned();
        return Some(LibraryMessage { tag: MESSAGE, code: ErrorCode::Internal, message });
    }
    // SAFETY: the tag says that it comes from `error` below; by the header's contract it is returned once.
    Some(*unsafe { Box::from_raw(error) })
}

extern "C" fn error(code: i32, message: *const c_char) -> *mut LibraryMessage {
    Box::into_raw(Box::new(LibraryMessage { tag: MESSAGE, code: code_of(code), message: text(message) }))
}

/// Writes through a pointer, unless it is null.
fn put<T>(to: *mut T, value: T) -> i32 {
    if to.is_null() {
        return INVALID;
    }
    // SAFETY: the header says that it points to such a value.
    unsafe { to.write(value) };
    OK
}

// ---- attributes ----

/// Attributes of a use, in a program or of a node.
pub(super) trait AttrSource {
    fn int(&self, name: &str) -> Option<i64>;
    fn float(&self, name: &str) -> Option<f64>;
    fn bool(&self, name: &str) -> Option<bool>;
    fn ty(&self, name: &str) -> Option<Type>;
    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>>;
    fn ints(&self, name: &str) -> Option<Vec<i64>>;
}

/// `bf_attrs`: attributes, and the texts and lists of them that a library has pointers to.
pub(super) struct Attrs<'a> {
    source: &'a dyn AttrSource,
    texts: RefCell<Vec<Box<[u8]>>>,
    lists: RefCell<Vec<Box<[i64]>>>,
}

impl<'a> Attrs<'a> {
    pub(super) fn new(source: &'a dyn AttrSource) -> Attrs<'a> {
        Attrs { source, texts: RefCell::default(), lists: RefCell::default() }
    }
}

/// Calls `f` with attributes and a name.
fn attr<T>(
    attrs: *const Attrs<'_>,
    name: *const c_char,
    out: *mut T,
    f: impl FnOnce(&dyn AttrSource, &str) -> Option<T>,
) -> i32 {
    if attrs.is_null() || name.is_null() {
        return INVALID;
    }
    // SAFETY: attributes are given to a library for the time of a call, in which it gives them back here.
    let attrs = unsafe { &*attrs };
    match f(attrs.source, &text(name)) {
        Some(value) => put(out, value),
        None => NOT_FOUND,
    }
}

extern "C" fn attr_int(attrs: *const Attrs<'_>, name: *const c_char, out: *mut i64) -> i32 {
    attr(attrs, name, out, |attrs, name| attrs.int(name))
}

extern "C" fn attr_float(attrs: *const Attrs<'_>, name: *const c_char, out: *mut f64) -> i32 {
    attr(attrs, name, out, |attrs, name| attrs.float(name))
}

extern "C" fn attr_bool(attrs: *const Attrs<'_>, name: *const c_char, out: *mut i32) -> i32 {
    attr(attrs, name, out, |attrs, name| attrs.bool(name).map(i32::from))
}

extern "C" fn attr_type(attrs: *const Attrs<'_>, name: *const c_char, out: *mut i32) -> i32 {
    attr(attrs, name, out, |attrs, name| attrs.ty(name).map(Type::code))
}

extern "C" fn attr_string(
    attrs: *const Attrs<'_>,
    name: *const c_char,
    out: *mut *const c_char,
    len: *mut usize,
) -> i32 {
    let mut n = 0;
    let found = attr(attrs, name, out, |source, name| {
        let mut bytes = source.string(name)?.into_owned();
        n = bytes.len();
        bytes.push(0);
        // SAFETY: `attr` has checked the pointer.
        let mut texts = unsafe { &*attrs }.texts.borrow_mut();
        texts.push(bytes.into());
        texts.last().map(|text| text.as_ptr().cast())
    });
    if found == OK { put(len, n) } else { found }
}

extern "C" fn attr_ints(
    attrs: *const Attrs<'_>,
    name: *const c_char,
    out: *mut *const i64,
    len: *mut usize,
) -> i32 {
    let mut n = 0;
    let found = attr(attrs, name, out, |source, name| {
        let ints = source.ints(name)?;
        n = ints.len();
        // SAFETY: `attr` has checked the pointer.
        let mut lists = unsafe { &*attrs }.lists.borrow_mut();
        lists.push(ints.into());
        lists.last().map(|list| list.as_ptr())
    });
    if found == OK { put(len, n) } else { found }
}

// ---- calls ----

extern "C" fn n_operands(call: *const LibraryCall) -> u32 {
    // SAFETY: a frame is given to a library for the time of `run`, in which it gives it back here.
    unsafe { call.as_ref() }.map_or(0, |call| call.operands.len() as u32)
}

extern "C" fn n_results(call: *const LibraryCall) -> u32 {
    // SAFETY: as in `n_operands`.
    unsafe { call.as_ref() }.map_or(0, |call| call.results.len() as u32)
}

fn view(call: &LibraryCall, i: u32) -> Option<View> {
    let CallOperand { dims, tensor } = call.operands.get(i as usize)?;
    let (rank, list) = (dims.len() as i32, dims.as_ptr());
    let Some(tensor) = tensor else {
        return Some(View { dtype: 0, rank, dims: list, data: null(), bytes: 0 });
    };
    // The caller of `run` holds a guard meanwhile; the copies of a deferred call are its own.
    let bytes = tensor.read_bytes().ok()?;
    let dtype = Type::Dense(tensor.dtype()).code();
    Some(View { dtype, rank, dims: list, data: bytes.as_ptr().cast(), bytes: bytes.len() })
}

extern "C" fn operand(call: *const LibraryCall, i: u32, out: *mut View) -> i32 {
    // SAFETY: as in `n_operands`.
    match unsafe { call.as_ref() }.map(|call| view(call, i)) {
        Some(Some(view)) => put(out, view),
        Some(None) => NOT_FOUND,
        None => INVALID,
    }
}

/// The dimensions of a shape; `None` for a negative or too large rank, and for null.
fn dims_of<'d>(rank: i32, dims: *const i64) -> Option<&'d [i64]> {
    match usize::try_from(rank).ok()? {
        0 => Some(&[]),
        n if dims.is_null() || n > befrost_tensor::MAX_RANK => None,
        // SAFETY: by the header's contract there are `rank` dimensions.
        n => Some(unsafe { std::slice::from_raw_parts(dims, n) }),
    }
}

fn memory(call: &mut LibraryCall, i: u32, dtype: i32, rank: i32, dims: *const i64) -> *mut c_void {
    let Some(dims) = dims_of(rank, dims) else {
        call.fail(ErrorCode::InvalidArgument, &format!("result #{i} has rank {rank}"));
        return null_mut();
    };
    let memory = call.result(i as usize, dtype, dims).and_then(|tensor| tensor.write_bytes().ok());
    // The tensor is the call's alone until the kernel has ended.
    memory.map_or(null_mut(), |mut bytes| bytes.as_mut_ptr().cast())
}

extern "C" fn result(call: *mut LibraryCall, i: u32, dtype: i32, rank: i32, dims: *const i64) -> *mut c_void {
    // SAFETY: as in `n_operands`; one thread has the frame.
    unsafe { call.as_mut() }.map_or(null_mut(), |call| memory(call, i, dtype, rank, dims))
}

extern "C" fn forward(call: *mut LibraryCall, i: u32, operand: u32) -> i32 {
    // SAFETY: as in `result`.
    let done = unsafe { call.as_mut() }.is_some_and(|call| call.forward(i as usize, operand as usize));
    if done { OK } else { INVALID }
}

extern "C" fn fail(call: *mut LibraryCall, code: i32, message: *const c_char) {
    // SAFETY: as in `result`.
    if let Some(call) = unsafe { call.as_mut() } {
        call.fail(code_of(code), &text(message));
    }
}

extern "C" fn defer(call: *mut LibraryCall) -> u64 {
    // SAFETY: as in `result`.
    unsafe { call.as_mut() }.and_then(call::defer).unwrap_or(0)
}

extern "C" fn later_operand(ticket: u64, i: u32, out: *mut View) -> i32 {
    match call::with_deferred(ticket, |call| view(call, i)) {
        Some(Some(view)) => put(out, view),
        Some(None) | None => NOT_FOUND,
    }
}

extern "C" fn later_result(ticket: u64, i: u32, dtype: i32, rank: i32, dims: *const i64) -> *mut c_void {
    call::with_deferred(ticket, |call| memory(call, i, dtype, rank, dims)).unwrap_or(null_mut())
}

extern "C" fn later_fail(ticket: u64, code: i32, message: *const c_char) -> i32 {
    let failed = call::with_deferred(ticket, |call| call.fail(code_of(code), &text(message)));
    failed.map_or(NOT_FOUND, |()| OK)
}

extern "C" fn finish(ticket: u64) -> i32 {
    if call::end(ticket, None) { OK } else { NOT_FOUND }
}

extern "C" fn drop_ticket(ticket: u64) -> i32 {
    if call::end(ticket, Some("the kernel was dropped before it was finished")) { OK } else { NOT_FOUND }
}

// ---- shapes ----

/// `bf_shapes`.
pub(super) struct PortShapes {
    /// The rank, -1 if unknown, and the sizes.
    operands: Vec<(i32, Vec<i64>)>,
    results: Vec<PartialShape>,
    refused: Option<String>,
}

impl PortShapes {
    pub(super) fn new(operands: impl Iterator<Item = Option<Vec<i64>>>, n_results: usize) -> PortShapes {
        let operand = |dims: Option<Vec<i64>>| match dims {
            Some(dims) => (dims.len() as i32, dims),
            None => (-1, Vec::new()),
        };
        let operands = operands.map(operand).collect();
        PortShapes { operands, results: vec![PartialShape::unknown(); n_results], refused: None }
    }

    /// The shapes of the results, or the reason for a refusal.
    pub(super) fn finish(self, status: i32) -> Result<Vec<PartialShape>, String> {
        match self.refused {
            Some(why) => Err(why),
            None if status != OK => Err(format!("its shape function failed with the code {status}")),
            None => Ok(self.results),
        }
    }
}

extern "C" fn shape(shapes: *const PortShapes, i: u32, rank: *mut i32, dims: *mut *const i64) -> i32 {
    // SAFETY: shapes are given to a library for the time of `infer`, in which it gives them back here.
    match unsafe { shapes.as_ref() }.map(|shapes| shapes.operands.get(i as usize)) {
        Some(Some((n, sizes))) => match put(rank, *n) {
            OK => put(dims, sizes.as_ptr()),
            refused => refused,
        },
        Some(None) => NOT_FOUND,
        None => INVALID,
    }
}

extern "C" fn set_shape(shapes: *mut PortShapes, i: u32, rank: i32, dims: *const i64) -> i32 {
    // SAFETY: as in `shape`; one thread has them.
    let Some(shapes) = (unsafe { shapes.as_mut() }) else { return INVALID };
    let made = match rank {
        -1 => Some(PartialShape::unknown()),
        rank => dims_of(rank, dims).and_then(|dims| PartialShape::from_i64(dims).ok()),
    };
    match (shapes.results.get_mut(i as usize), made) {
        (Some(place), Some(shape)) => {
            *place = shape;
            OK
        }
        _ => {
            shapes.refused.get_or_insert_with(|| format!("result #{i} is given an impossible shape"));
            INVALID
        }
    }
}

extern "C" fn refuse(shapes: *mut PortShapes, message: *const c_char) {
    // SAFETY: as in `set_shape`.
    if let Some(shapes) = unsafe { shapes.as_mut() } {
        shapes.refused.get_or_insert_with(|| text(message));
    }
}

/// The kernel error of a library's message.
impl From<LibraryMessage> for KernelError {
    fn from(LibraryMessage { tag: _, code, message }: LibraryMessage) -> KernelError {
        KernelError::new(code, message)
    }
}
