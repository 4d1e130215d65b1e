//! Loading of kernel libraries, whose code the user trusts.

#![allow(unsafe_code, reason = "loads the code that the user names")]

use std::path::Path;

use befrost::{Library, LibraryError};

/// Loads a library.
pub(crate) fn load_library(path: &Path) -> Result<Library, LibraryError> {
    // SAFETY: the contract, that the library is what `befrost_library.h` says, is passed on to the user:
    // `--help` states that its code runs.
    unsafe { Library::load(path) }
}
