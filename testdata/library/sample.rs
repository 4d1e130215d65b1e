//! A kernel library in Rust, without crates: `rustc --crate-type cdylib`. It declares only the first
//! functions of the host's table, and checks with the table's size that they are there.
#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_void};

#[repr(C)]
pub struct bf_view {
    dtype: i32,
    rank: i32,
    dims: *const i64,
    data: *const c_void,
    bytes: usize,
}

#[repr(C)]
pub struct bf_host {
    size: u32,
    version: u32,
    error: extern "C" fn(i32, *const c_char) -> *mut c_void,
    attrs: [*const c_void; 6],
    n_operands: *const c_void,
    n_results: *const c_void,
    operand: extern "C" fn(*const c_void, u32, *mut bf_view) -> i32,
    result: extern "C" fn(*mut c_void, u32, i32, i32, *const i64) -> *mut c_void,
}

#[repr(C)]
pub struct bf_kernel {
    size: u32,
    flags: u32,
    name: *const c_char,
    signature: *const c_char,
    summary: *const c_char,
    prepare: *const c_void,
    release: *const c_void,
    run: extern "C" fn(*const bf_host, *mut c_void, *mut c_void) -> i32,
    infer: *const c_void,
}

// SAFETY: its pointers are to constants.
unsafe impl Sync for bf_kernel {}

#[repr(C)]
pub struct bf_library {
    size: u32,
    version: u32,
    name: *const c_char,
    kernels: *const bf_kernel,
    n_kernels: usize,
}

const F64: i32 = 2;

/// The length of a vector of two numbers.
extern "C" fn length(host: *const bf_host, _state: *mut c_void, frame: *mut c_void) -> i32 {
    // SAFETY: the host passes its table, which lives forever.
    let host = unsafe { &*host };
    let number = |i: u32| {
        let mut view = bf_view { dtype: 0, rank: 0, dims: std::ptr::null(), data: std::ptr::null(), bytes: 0 };
        let found = (host.operand)(frame, i, &mut view) == 0 && view.dtype == F64 && view.rank == 0;
        // SAFETY: the data of an operand of rank 0 and type f64 is one aligned f64, valid until `run`
        // returns.
        found.then(|| unsafe { *view.data.cast::<f64>() })
    };
    let (Some(x), Some(y)) = (number(0), number(1)) else { return 2 };
    let result = (host.result)(frame, 0, F64, 0, std::ptr::null()).cast::<f64>();
    if result.is_null() {
        return 2;
    }
    // SAFETY: the host gave memory for one aligned f64.
    unsafe { *result = x.hypot(y) };
    0
}

static KERNELS: [bf_kernel; 1] = [bf_kernel {
    size: size_of::<bf_kernel>() as u32,
    flags: 1,
    name: c"rust.length".as_ptr(),
    signature: c"f64 f64 -> f64".as_ptr(),
    summary: c"the length of a vector".as_ptr(),
    prepare: std::ptr::null(),
    release: std::ptr::null(),
    run: length,
    infer: std::ptr::null(),
}];

#[unsafe(no_mangle)]
pub extern "C" fn befrost_library_v1(host: *const bf_host, library: *mut bf_library) -> *mut c_void {
    // SAFETY: the host passes its table, which lives forever.
    let host = unsafe { &*host };
    // SAFETY: the host passes a structure to fill in, which nothing else uses during the call.
    let library = unsafe { &mut *library };
    if host.version != 1 || (host.size as usize) < size_of::<bf_host>() {
        return (host.error)(9, c"the host is older".as_ptr());
    }
    library.version = 1;
    library.name = c"sample in Rust".as_ptr();
    library.kernels = KERNELS.as_ptr();
    library.n_kernels = KERNELS.len();
    std::ptr::null_mut()
}
