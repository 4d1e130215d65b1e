//! Errors of loading.

use std::fmt;
use std::path::{Path, PathBuf};

use befrost_kernel_api::{Error, ErrorCode};

/// The reason why a program cannot be loaded, with the file's path if it came from one.
#[derive(Debug)]
pub struct LoadError {
    path: Option<PathBuf>,
    reason: befrost_host::LoadError,
}

/// The kinds of reasons why a program cannot be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// The file cannot be read.
    Io,
    /// The file is not valid.
    Format,
    /// The runtime lacks kernels that the program uses, or they are used in other ways than their signatures
    /// permit.
    Kernels,
}

/// A use of a kernel that the runtime does not have or that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelUse<'e> {
    /// The place in the program's text, as `file:line:col`, if the program contains it.
    pub location: Option<&'e str>,
    /// The function; empty in a region.
    pub function: &'e str,
    /// The fault.
    pub message: &'e str,
}

impl LoadError {
    pub(crate) fn new(reason: befrost_host::LoadError) -> LoadError {
        LoadError { path: None, reason }
    }

    /// Names the file.
    pub(crate) fn of(path: &Path) -> impl FnOnce(befrost_host::LoadError) -> LoadError + use<> {
        let path = Some(path.to_owned());
        |reason| LoadError { path, reason }
    }

    /// The file, unless the program came from memory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The kind of the reason.
    pub fn kind(&self) -> LoadErrorKind {
        match self.reason {
            befrost_host::LoadError::Io(_) => LoadErrorKind::Io,
            befrost_host::LoadError::Format(_) => LoadErrorKind::Format,
            befrost_host::LoadError::Kernels(_) => LoadErrorKind::Kernels,
        }
    }

    /// The wrong uses of kernels, for [`LoadErrorKind::Kernels`].
    pub fn kernel_uses(&self) -> impl Iterator<Item = KernelUse<'_>> {
        let uses = match &self.reason {
            befrost_host::LoadError::Kernels(uses) => &uses[..],
            befrost_host::LoadError::Io(_) | befrost_host::LoadError::Format(_) => &[],
        };
        uses.iter().map(|wrong| KernelUse {
            location: wrong.location.as_deref(),
            function: &wrong.function,
            message: &wrong.message,
        })
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Error {
        let code = match &error.reason {
            befrost_host::LoadError::Io(why) if why.kind() == std::io::ErrorKind::NotFound => {
                ErrorCode::NotFound
            }
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
    /// The reason without the path.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.reason)
    }
}
