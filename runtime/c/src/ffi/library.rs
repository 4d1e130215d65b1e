//! Kernel libraries: what they offer. A runtime gets them by its options.

use std::ffi::c_char;

use befrost::Library;

use super::{Out, bf_error, bf_loaded_library, give, guard, release, retain, text, value_of};
use crate::handle::LibraryValue;

/// Loads a kernel library, whose code runs in this process, and stays there.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_library_load(
    path: *const c_char,
    out: *mut *mut bf_loaded_library,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the library", out)?;
        let path = text("the path", path)?;
        // SAFETY: by the contract the caller trusts the code of the library.
        let library = unsafe { Library::load(path) }?;
        out.set(give(LibraryValue::new(&library)));
        Ok(())
    })
}

/// The name of a library, which lives as long as the library; empty for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_library_name(library: *const bf_loaded_library) -> *const c_char {
    value_of(library).map_or(c"".as_ptr(), |library| library.name.as_ptr())
}

/// The name of a kernel by its number, which lives as long as the library; null behind the last, and for
/// null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_library_kernel(
    library: *const bf_loaded_library,
    position: usize,
) -> *const c_char {
    let kernel = value_of(library).ok().and_then(|library| library.kernels.get(position));
    kernel.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Another reference to a library.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_library_retain(library: *mut bf_loaded_library) {
    retain(library);
}

/// Gives a reference to a library back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_library_release(library: *mut bf_loaded_library) {
    release(library);
}
