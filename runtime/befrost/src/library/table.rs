//! Tables of libraries made of numbers and texts, for tests of the checks that loading does.

use std::ffi::{CString, c_void};
use std::ptr::null;

use super::abi::{Host, RawKernel, RawLibrary};
use super::call::LibraryCall;
use super::{FAILED, described};

/// The table of a kernel. Texts that are not there are null pointers.
#[derive(Clone, Debug, Default)]
pub struct TableKernel {
    /// Its field of this name, the bytes that the library says it has.
    pub size: u32,
    /// Its flags.
    pub flags: u32,
    /// Its name.
    pub name: Option<CString>,
    /// Its signature.
    pub signature: Option<CString>,
    /// True if there is a function that runs it.
    pub has_run: bool,
}

extern "C" fn fails(_: *const Host, _: *mut c_void, _: *mut LibraryCall) -> i32 {
    FAILED
}

/// Checks the table of a library, as loading the library does; nothing is added to the process's tables.
/// Without kernels the pointer to them is null, and `n_kernels` is the number that the library says.
///
/// # Errors
/// The reason why the library is refused.
pub fn check_table(
    size: u32,
    version: u32,
    kernels: Option<&[TableKernel]>,
    n_kernels: usize,
) -> Result<(), String> {
    let pointer = |text: &Option<CString>| text.as_ref().map_or(null(), |text| text.as_ptr());
    let raw = |kernel: &TableKernel| RawKernel {
        size: kernel.size,
        flags: kernel.flags,
        name: pointer(&kernel.name),
        signature: pointer(&kernel.signature),
        summary: null(),
        prepare: None,
        release: None,
        run: kernel.has_run.then_some(fails),
        infer: None,
    };
    let raws: Option<Vec<RawKernel>> = kernels.map(|kernels| kernels.iter().map(raw).collect());
    let (kernels, n_kernels) = match &raws {
        Some(raws) => (raws.as_ptr(), raws.len()),
        None => (null(), n_kernels),
    };
    described(&RawLibrary { size, version, name: null(), kernels, n_kernels }).map(|_| ())
}
