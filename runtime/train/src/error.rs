//! Errors of training.

use std::fmt;
use std::path::Path;

/// The reason why a run cannot begin or continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainError {
    /// The code of the error; empty if it has none.
    pub code: &'static str,
    /// The reason.
    pub message: String,
}

impl TrainError {
    /// An error without a code.
    pub(crate) fn new(message: impl Into<String>) -> TrainError {
        TrainError { code: "", message: message.into() }
    }

    /// E0909: an invalid option.
    pub(crate) fn option(message: impl Into<String>) -> TrainError {
        TrainError { code: "E0909", message: message.into() }
    }

    /// E0911: data that do not fit the program.
    pub(crate) fn data(message: impl Into<String>) -> TrainError {
        TrainError { code: "E0911", message: message.into() }
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: &Path, error: impl fmt::Display) -> TrainError {
        TrainError::new(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for TrainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            "" => f.write_str(&self.message),
            code => write!(f, "{code}: {}", self.message),
        }
    }
}

impl std::error::Error for TrainError {}

impl From<befrost::Error> for TrainError {
    fn from(error: befrost::Error) -> TrainError {
        TrainError::new(error.to_string())
    }
}
