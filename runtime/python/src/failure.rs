//! Errors as exceptions: `Failure(code, message, places)`, which the package turns into its own classes.

use befrost::Error;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

pyo3::create_exception!(_native, Failure, PyException, "An error of the runtime: code, message, places.");

/// The exception for an error.
pub(crate) fn of(error: &Error) -> PyErr {
    let code = error.code().to_string();
    Failure::new_err((code, error.message().to_owned(), error.trace().to_vec()))
}

/// The exception for an invalid argument.
pub(crate) fn refused(message: impl Into<String>) -> PyErr {
    Failure::new_err(("InvalidArgument".to_owned(), message.into(), Vec::<String>::new()))
}

/// An exception of this class of the package.
#[cold]
pub(crate) fn of_class(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let of = py.import("befrost._errors").and_then(|errors| errors.getattr(class));
    match of.and_then(|of| of.call1((message,))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(other) => other,
    }
}

/// The package's exception for a `Failure`; other exceptions are returned as they are.
#[cold]
pub(crate) fn explained(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<Failure>(py) {
        return error;
    }
    let of = py.import("befrost._errors").and_then(|errors| errors.getattr("of_failure"));
    match of.and_then(|of| of.call1((error.value(py),))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(other) => other,
    }
}
