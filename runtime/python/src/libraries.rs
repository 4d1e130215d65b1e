//! Kernel libraries.

#![allow(unsafe_code, reason = "loads code that the user names")]

use std::path::PathBuf;

use befrost::RuntimeBuilder;
use pyo3::prelude::*;

use crate::failure;

/// A runtime that has the kernels of these libraries, too.
pub(crate) fn add(mut runtime: RuntimeBuilder, libraries: &[PathBuf]) -> PyResult<RuntimeBuilder> {
    for path in libraries {
        // SAFETY: the user names the library, and so trusts its code, as with a module that is imported.
        let added = unsafe { runtime.library(path) };
        runtime = added.map_err(|error| failure::refused(error.to_string()))?;
    }
    Ok(runtime)
}
