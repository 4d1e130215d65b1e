//! Errors of loading.

use std::fmt;
use std::path::{Path, PathBuf};

use befrost_host::program::KernelUseError;
use befrost_kernel_api::{Error, ErrorCode};

/// The reason why a program cannot be loaded, with the file's path if it came from one.
#[derive(Debug)]
pub struct LoadError {
    path: Option<PathBuf>,
    reason: befrost_host::LoadError,
}

impl LoadError {
    /// Names the file.
    pub(crate) fn of(path: &Path) -> impl FnOnce(befrost_host::LoadError) -> LoadError + use<> {
        let path = Some(path.to_owned());
        |reason| LoadError { path, reason }
    }

    /// The file, unless the program came from memory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The uses of kernels that the runtime does not have or that are wrong, if this is the reason.
    pub fn kernel_uses(&self) -> &[KernelUseError] {
        match &self.reason {
            befrost_host::LoadError::Kernels(uses) => uses,
            _ => &[],
        }
    }

    /// The reason without the path.
    pub fn reason(&self) -> &befrost_host::LoadError {
        &self.reason
    }
}

impl From<befrost_host::LoadError> for LoadError {
    fn from(reason: befrost_host::LoadError) -> LoadError {
        LoadError { path: None, reason }
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Error {
        let code = match &error.reason {
            befrost_host::LoadError::Io(_) => ErrorCode::Unavailable,
            befrost_host::LoadError::Format(_) => ErrorCode::InvalidArgument,
            befrost_host::LoadError::Kernels(_) => ErrorCode::Unimplemented,
        };
        Error::new(code, error.to_string(), Vec::new())
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "cannot load '{}': {}", path.display(), self.reason),
            None => self.reason.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.reason)
    }
}
