//! `Model`: a file's functions, called by name.

use pyo3::prelude::*;

use crate::{failure, tensor};

/// A model of a file.
#[pyclass(frozen, module = "befrost._native")]
pub(crate) struct Model(befrost::Model);

/// A port: name, type.
type PyPort = (String, String);

#[pymethods]
impl Model {
    /// Loads and compiles a file.
    #[new]
    fn new(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Model> {
        py.detach(|| befrost::Model::load(path)).map(Model).map_err(|error| failure::of(&error))
    }

    /// The inputs: names and types.
    fn inputs(&self) -> Vec<PyPort> {
        self.0.inputs().iter().filter(|port| !port.is_chain()).map(port).collect()
    }

    /// The outputs: names and types.
    fn outputs(&self) -> Vec<PyPort> {
        self.0.outputs().iter().filter(|port| !port.is_chain()).map(port).collect()
    }

    /// Runs it with the inputs in their order.
    fn run(&self, py: Python<'_>, inputs: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<tensor::Tensor>> {
        let values = inputs.iter().map(tensor::of).collect::<PyResult<Vec<_>>>()?;
        let made = py.detach(|| self.0.run(values)).map_err(|error| failure::of(&error))?;
        Ok(made.into_iter().map(tensor::Tensor).collect())
    }
}

fn port(port: &befrost::Port) -> PyPort {
    (port.name().to_owned(), port.ty().to_owned())
}
