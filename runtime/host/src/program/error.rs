//! Errors of loading a program.

use std::fmt;

use bef_format::FormatError;

/// Error of loading a program.
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read.
    Io(std::io::Error),
    /// The file is not valid BEF.
    Format(FormatError),
    /// The file uses kernels in ways that their signatures do not permit.
    Kernels(Vec<KernelUseError>),
}

/// A use of a kernel that does not fit its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelUseError {
    /// Location of the use, as `file:line:col`, if the file contains it.
    pub location: Option<String>,
    /// Function that contains the use.
    pub function: String,
    /// Description of the mismatch.
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
