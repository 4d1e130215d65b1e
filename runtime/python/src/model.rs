//! `Model`: a file's functions, called by name.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use befrost::{CompileOptions, Precision, PreparedFunction, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::array::Loans;
use crate::call::{Compiled, RunKind, Setup};
use crate::graph::operand;
use crate::outputs::Outputs;
use crate::session::VariableStore;
use crate::{failure, interrupt, tensor};

/// A model of a file.
#[pyclass(frozen, subclass, module = "befrost._native")]
pub(crate) struct Model {
    model: befrost::Model,
    compiled: Arc<Compiled>,
    names: Vec<Py<PyAny>>,
    outputs: Arc<[String]>,
    n_runs: AtomicU64,
}

/// The precision of this name; none for "f32", which is that of the model.
pub(crate) fn precision_of(name: Option<&str>) -> PyResult<Option<Precision>> {
    let Some(name) = name.filter(|name| *name != "f32") else { return Ok(None) };
    let found = Precision::ALL.into_iter().find(|precision| precision.name() == name);
    found.map(Some).ok_or_else(|| {
        let names = Precision::ALL.map(|precision| format!("'{}'", precision.name())).join(", ");
        failure::refused(format!("precision is '{name}', not 'f32', {names}"))
    })
}

/// A port: name, type.
pub(crate) type PyPort = (String, String);

#[pymethods]
impl Model {
    /// Loads and compiles a file.
    #[new]
    #[pyo3(signature = (path, level = 2, work_queue = None, signature = None, max_memory = None,
                        libraries = None, cache_dir = None, precision = None))]
    #[expect(clippy::too_many_arguments, reason = "options")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        level: u8,
        work_queue: Option<String>,
        signature: Option<String>,
        max_memory: Option<usize>,
        libraries: Option<Vec<PathBuf>>,
        cache_dir: Option<PathBuf>,
        precision: Option<&str>,
    ) -> PyResult<Model> {
        let name = path.display().to_string();
        let libraries = libraries.unwrap_or_default();
        let setup = Setup { work_queue, max_memory, libraries, name, ..Setup::default() };
        let runtime = setup.runtime()?;
        let precision = precision_of(precision)?;
        let options = CompileOptions { level, precision, signature, cache_dir, ..CompileOptions::default() };
        let model = interrupt::wait_for(py, move || befrost::Model::load_with(&runtime, path, &options))?;
        Model::of(py, model.map_err(|error| failure::of(&error))?, setup)
    }

    /// The names of its signatures.
    fn signature_names(&self) -> Vec<String> {
        self.model.signatures()
    }

    /// The inputs: names and types.
    fn input_ports(&self) -> Vec<PyPort> {
        self.model.inputs().iter().filter(|port| !port.is_chain()).map(port).collect()
    }

    /// The outputs: names and types.
    fn output_ports(&self) -> Vec<PyPort> {
        self.model.outputs().iter().filter(|port| !port.is_chain()).map(port).collect()
    }

    /// Its variables.
    fn store(&self) -> VariableStore {
        VariableStore::of(self.model.resources().clone())
    }

    /// The number of operations, and of the bytes of weights and other constants.
    fn counts(&self) -> (u32, usize) {
        let program = self.model.function().program().inner();
        let image = program.image();
        (image.n_kernels(), image.payload().len())
    }

    /// Its program as a BEF file.
    #[getter]
    fn bef(&self) -> &[u8] {
        self.compiled.bef()
    }

    /// Runs it with the inputs in their order.
    #[pyo3(signature = (inputs, timeout = None, tensors = false))]
    fn run_values<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Bound<'py, PyAny>>,
        timeout: Option<f64>,
        tensors: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut loans = Loans::default();
        let values = inputs.iter().map(|value| operand(value, &mut loans)).collect::<PyResult<Vec<_>>>()?;
        self.results(py, values, timeout, tensors)
    }

    /// Runs the model on inputs by name. The outputs are NumPy arrays, or Tensors with output="tensor".
    ///
    /// `fetches` asks for other tensors of a graph than its outputs. `timeout`: seconds after which the run
    /// is given up, with an error that is also a TimeoutError. Arrays are not copied, neither in nor out.
    #[pyo3(signature = (feeds = None, fetches = None, *, timeout = None, output = None))]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        feeds: Option<&Bound<'py, PyAny>>,
        fetches: Option<&Bound<'py, PyAny>>,
        timeout: Option<f64>,
        output: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        this.n_runs.fetch_add(1, Ordering::Relaxed);
        if fetches.is_none()
            && output.is_none()
            && let Some(Ok(feeds)) = feeds.map(|feeds| feeds.cast_exact::<PyDict>())
        {
            let mut loans = Loans::default();
            if let Some(values) = this.in_order(feeds, &mut loans)? {
                let made = this.results(py, values, timeout, false);
                let made = made.map_err(|error| failure::explained(py, error))?;
                return Ok(Bound::new(py, Outputs::of(this.outputs.clone(), made))?.into_any());
            }
        }
        slf.call_method1("_run", (feeds, fetches, timeout, output))
    }

    /// The number of runs.
    #[getter]
    fn n_runs(&self) -> u64 {
        self.n_runs.load(Ordering::Relaxed)
    }
}

impl Model {
    fn of(py: Python<'_>, model: befrost::Model, setup: Setup) -> PyResult<Model> {
        let setup = Setup { resources: model.resources().clone(), ..setup };
        let names = model.inputs().iter().filter(|port| !port.is_chain()).map(|port| port.name());
        let names = names.map(|name| Ok(PyString::intern(py, name).into_any().unbind()));
        let names = names.collect::<PyResult<_>>()?;
        let prepared = PreparedFunction::new(model.function().clone(), setup.options());
        let compiled = Arc::new(Compiled::of(prepared, setup));
        let outputs =
            model.outputs().iter().filter(|port| !port.is_chain()).map(|port| port.name().to_owned());
        let outputs = outputs.collect();
        Ok(Model { model, compiled, names, outputs, n_runs: AtomicU64::new(0) })
    }

    /// The inputs in their order; none if the names are others.
    fn in_order<'py>(
        &self,
        feeds: &Bound<'py, PyDict>,
        loans: &mut Loans<'py>,
    ) -> PyResult<Option<Vec<Value>>> {
        if feeds.len() != self.names.len() {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(self.names.len());
        for name in &self.names {
            let Some(value) = feeds.get_item(name)? else { return Ok(None) };
            values.push(operand(&value, loans)?);
        }
        Ok(Some(values))
    }

    fn results<'py>(
        &self,
        py: Python<'py>,
        mut values: Vec<Value>,
        timeout: Option<f64>,
        tensors: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let made = self.compiled.run(py, &mut values, RunKind { timeout, ..RunKind::default() })?;
        drop(values);
        let outputs = self.model.outputs().iter().zip(made).filter(|(port, _)| !port.is_chain());
        outputs.map(|(_, result)| tensor::result(py, result, tensors)).collect()
    }
}

pub(crate) fn port(port: &befrost::Port) -> PyPort {
    (port.name().to_owned(), port.ty().to_owned())
}
