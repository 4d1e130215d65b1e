//! `Session`: any tensor of a graph fed, any fetched, with variables that live between runs.

use std::time::{Duration, Instant};

use befrost::RunOptions;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::{failure, tensor};

/// A graph with its variables.
#[pyclass(frozen, module = "befrost._native")]
pub(crate) struct Session(befrost::Session);

#[pymethods]
impl Session {
    /// Opens a graph. `init` is the node that initializes its variables.
    #[new]
    fn new(py: Python<'_>, path: std::path::PathBuf, level: u8, init: Option<&str>) -> PyResult<Session> {
        let mut builder = befrost::Session::builder().level(level);
        if let Some(init) = init {
            builder = builder.init(init);
        }
        py.detach(|| builder.open(path)).map(Session).map_err(|error| failure::of(&error))
    }

    /// Computes tensors by their names. None for a fetch without a value.
    fn run(
        &self,
        py: Python<'_>,
        feeds: Vec<(String, Bound<'_, PyAny>)>,
        fetches: Vec<String>,
        targets: Vec<String>,
        timeout: Option<f64>,
    ) -> PyResult<Vec<Option<tensor::Tensor>>> {
        let values = feeds
            .iter()
            .map(|(name, value)| Ok((name.as_str(), tensor::of(value)?)))
            .collect::<PyResult<Vec<_>>>()?;
        let fetches: Vec<&str> = fetches.iter().map(String::as_str).collect();
        let options = RunOptions { targets, deadline: deadline(timeout)? };
        let made = py.detach(|| self.0.run_with(&values, &fetches, &options));
        let made = made.map_err(|error| failure::of(&error))?;
        let tensors = made.iter().map(|datum| {
            datum.map(|datum| datum.tensor().map(|tensor| tensor::Tensor(tensor.clone()))).transpose()
        });
        tensors.collect::<Result<_, _>>().map_err(|error| failure::of(&error))
    }

    /// The names of the variables that have values.
    fn variables(&self) -> PyResult<Vec<String>> {
        self.0.variables().names().map_err(|error| failure::of(&error))
    }

    /// The value of a variable.
    fn variable(&self, name: &str) -> PyResult<tensor::Tensor> {
        self.0.variables().get(name).map(tensor::Tensor).map_err(|error| failure::of(&error))
    }

    /// Gives a variable another value.
    fn set_variable(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.variables().set(name, tensor::of(value)?).map_err(|error| failure::of(&error))
    }

    /// Programs compiled, runs whose program was there, programs kept.
    fn stats(&self) -> (u64, u64, usize) {
        let stats = self.0.stats();
        (stats.compilations, stats.hits, stats.executables)
    }
}

/// The moment that is so many seconds from now.
pub(crate) fn deadline(timeout: Option<f64>) -> PyResult<Option<Instant>> {
    let Some(seconds) = timeout else { return Ok(None) };
    let wait = Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    let at = wait.and_then(|wait| Instant::now().checked_add(wait));
    at.map(Some).ok_or_else(|| PyOverflowError::new_err(format!("a timeout of {seconds} seconds")))
}
