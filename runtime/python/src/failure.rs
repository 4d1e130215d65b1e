//! Errors on their way to Python: `Failure(code, message, places)`, which the package turns into its own
//! classes.

use befrost::Error;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

pyo3::create_exception!(_native, Failure, PyException, "An error of the runtime: code, message, places.");

/// The exception for an error.
pub(crate) fn of(error: &Error) -> PyErr {
    let code = error.code().to_string();
    Failure::new_err((code, error.message().to_owned(), error.trace().to_vec()))
}

/// The exception for a refusal without a place.
pub(crate) fn refused(message: impl Into<String>) -> PyErr {
    Failure::new_err(("InvalidArgument".to_owned(), message.into(), Vec::<String>::new()))
}
