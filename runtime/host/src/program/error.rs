//! Why a file cannot be a program.

use std::fmt;

use bef_format::FormatError;

/// Why a file cannot be a program.
#[derive(Debug)]
pub enum LoadError {
    /// It cannot be read.
    Io(std::io::Error),
    /// It is not a valid BEF file.
    Format(FormatError),
    /// It uses kernels in a way that they cannot be used.
    Kernels(Vec<KernelUseError>),
}

/// A use of a kernel that does not fit the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelUseError {
    /// Where, as `file:line:col`, if the file says so.
    pub location: Option<String>,
    /// The function that the use stands in.
    pub function: String,
    /// What does not fit.
    pub message: String,
}

impl fmt::Display for KernelUseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Some(location) => write!(f, "{location}: {}", self.message),
            None if self.function.is_empty() => write!(f, "in a region: {}", self.message),
            None => write!(f, "in function '{}': {}", self.function, self.message),
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Io(error) => error.fmt(f),
            LoadError::Format(error) => error.fmt(f),
            LoadError::Kernels(errors) => {
                for (i, error) in errors.iter().enumerate() {
                    write!(f, "{}{error}", if i == 0 { "" } else { "\n" })?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for LoadError {}

impl From<FormatError> for LoadError {
    fn from(error: FormatError) -> LoadError {
        LoadError::Format(error)
    }
}

impl From<std::io::Error> for LoadError {
    fn from(error: std::io::Error) -> LoadError {
        LoadError::Io(error)
    }
}
