//! The native part of the Python package `befrost`: `befrost._native`.
//!
//! ```text
//! array       NumPy arrays and host tensors
//! tensor      Tensor: an immutable array of ours
//! graph       Graph: the builder behind the source front end, and what it compiles
//! model       Model: a file's functions
//! session     Session: a graph with variables
//! failure     errors: (code, message, places)
//! ```
//!
//! What a user sees is written in Python (`python/befrost`); here is what Python cannot do. No `unsafe` but
//! in `array`, where memory of NumPy's is read and written.

mod array;
mod failure;
mod graph;
mod model;
mod session;
mod tensor;

use pyo3::prelude::*;

/// The module.
#[pymodule(gil_used = false)]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<graph::Graph>()?;
    m.add_class::<graph::Executable>()?;
    m.add_class::<tensor::Tensor>()?;
    m.add_class::<model::Model>()?;
    m.add_class::<session::Session>()?;
    m.add_function(wrap_pyfunction!(graph::operators, m)?)?;
    m.add("Failure", m.py().get_type::<failure::Failure>())?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))
}
