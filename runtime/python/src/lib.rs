//! The native part of the Python package `befrost`: `befrost._native`.
//!
//! ```text
//! array       NumPy arrays and host tensors, without copies
//! dlpack      the same for other libraries
//! strings     tensors of strings
//! tensor      Tensor: an immutable array of ours
//! eager       its operators, and TensorFlow's, at once
//! floored     `//` and `%` of floats
//! graph       Graph: the builder behind the source front end, and what it compiles
//! function    Dispatcher: the call of a compiled function
//! call        runs: lock, deadline, output
//! handlers    Core: operators through handlers
//! interrupt   Ctrl-C
//! libraries   kernel libraries
//! model       Model: a file's functions
//! outputs     the values of a run
//! session     Session: a graph with variables
//! failure     errors: (code, message, places)
//! ```
//!
//! The public interface is written in Python (`python/befrost`); here is what Python cannot do, or not fast.
//! No `unsafe` but in `array`, `dlpack`, `tensor`, `interrupt` and `libraries`.

mod array;
mod call;
mod dlpack;
mod eager;
mod failure;
mod floored;
mod function;
mod graph;
mod handlers;
mod interrupt;
mod libraries;
mod model;
mod outputs;
mod session;
mod strings;
mod tensor;

use pyo3::prelude::*;

/// The module.
#[pymodule(gil_used = false)]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<graph::Graph>()?;
    m.add_class::<graph::Executable>()?;
    m.add_class::<function::Dispatcher>()?;
    m.add_class::<tensor::Tensor>()?;
    m.add_class::<eager::EagerOp>()?;
    m.add_class::<handlers::Core>()?;
    m.add_class::<model::Model>()?;
    m.add_class::<outputs::Outputs>()?;
    m.add_class::<session::Session>()?;
    m.add_class::<session::VariableStore>()?;
    m.add_class::<interrupt::CancelScope>()?;
    m.add_function(wrap_pyfunction!(graph::operators, m)?)?;
    m.add_function(wrap_pyfunction!(graph::signatures, m)?)?;
    m.add_function(wrap_pyfunction!(tensor::from_dlpack, m)?)?;
    m.add_function(wrap_pyfunction!(eager::set_operators, m)?)?;
    m.add_function(wrap_pyfunction!(interrupt::watch_interrupts, m)?)?;
    m.add_function(wrap_pyfunction!(interrupt::before_fork, m)?)?;
    m.add_function(wrap_pyfunction!(interrupt::after_fork_in_parent, m)?)?;
    m.add_function(wrap_pyfunction!(interrupt::after_fork_in_child, m)?)?;
    m.add_function(wrap_pyfunction!(call::push_timeout, m)?)?;
    m.add_function(wrap_pyfunction!(call::pop_timeout, m)?)?;
    m.add_function(wrap_pyfunction!(call::trace_begin, m)?)?;
    m.add_function(wrap_pyfunction!(call::trace_end, m)?)?;
    m.add("Failure", m.py().get_type::<failure::Failure>())?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))
}
