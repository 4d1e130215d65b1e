//! `Session`: any tensor of a graph fed, any fetched, with variables that live between runs.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use befrost::{
    Cancellation, Datum, ErrorCode, Recorder, Resources, RunOptions, SessionStats, Shape, Shapes, Variables,
};
use pyo3::prelude::*;

use crate::array::Loans;
use crate::call::{Setup, SysStdout, cancelled, deadline, nearest};
use crate::graph::operand;
use crate::model::{PyPort, port, precision_of};
use crate::tensor::{self, Tensor};
use crate::{failure, interrupt};

/// Variables by name, which sessions, models and functions may share.
#[pyclass(frozen, module = "befrost._native")]
pub(crate) struct VariableStore {
    resources: Resources,
}

impl VariableStore {
    /// The variables in `resources`.
    pub(crate) fn of(resources: Resources) -> VariableStore {
        VariableStore { resources }
    }

    /// The resources that the variables are in.
    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }

    fn variables(&self) -> Variables {
        Variables::of(&self.resources)
    }
}

#[pymethods]
impl VariableStore {
    /// A store without variables.
    #[new]
    fn new() -> VariableStore {
        VariableStore::of(Resources::default())
    }

    /// The names of the variables that have values.
    fn names(&self) -> PyResult<Vec<String>> {
        self.variables().names().map_err(|error| failure::of(&error))
    }

    /// The values of all variables at one moment, by name.
    fn snapshot(&self) -> PyResult<Vec<(String, Tensor)>> {
        let values = self.variables().snapshot().map_err(|error| failure::of(&error))?;
        Ok(values.into_iter().map(|(name, value)| (name, Tensor::from(value))).collect())
    }

    /// The value of a variable.
    fn get(&self, name: &str) -> PyResult<Tensor> {
        self.variables().get(name).map(Tensor::from).map_err(|error| failure::of(&error))
    }

    /// Gives a variable another value.
    fn set(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.variables().set(name, tensor::of(value)?).map_err(|error| failure::of(&error))
    }

    /// Removes a variable. Returns whether it had a value.
    fn remove(&self, name: &str) -> bool {
        self.variables().remove(name)
    }

    /// Sets variables at one moment: all of them, or none after an error.
    fn restore(&self, values: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<()> {
        let values = values.into_iter().map(|(name, value)| Ok((name, tensor::of(&value)?)));
        let values = values.collect::<PyResult<Vec<_>>>()?;
        self.variables().restore(values).map_err(|error| failure::of(&error))
    }
}

/// A graph with its variables.
#[pyclass(frozen, module = "befrost._native")]
pub(crate) struct Session {
    session: befrost::Session,
    prepared: Mutex<PreparedNames>,
}

/// The limit of the names that are remembered.
const MAX_PREPARED: usize = 1 << 10;

/// The names that runs were prepared for, by their hashes.
#[derive(Default)]
struct PreparedNames {
    hashes: HashSet<u64>,
    n_hits: u64,
}

/// The hash of the names of a run.
fn hash_of(feeds: &[&str], fetches: &[&str], targets: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (feeds, fetches).hash(&mut hasher);
    targets.iter().map(String::as_str).collect::<Vec<&str>>().hash(&mut hasher);
    hasher.finish()
}

impl Session {
    fn prepared(&self) -> MutexGuard<'_, PreparedNames> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Session {
    /// Opens a graph. `init` is the node that initializes its variables.
    #[new]
    #[pyo3(signature = (path, level = 2, init = None, work_queue = None, max_memory = None, store = None,
                        signature = None, libraries = None, cache_dir = None, shapes = "auto", precision = None))]
    #[expect(clippy::too_many_arguments, reason = "options")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        level: u8,
        init: Option<&str>,
        work_queue: Option<String>,
        max_memory: Option<usize>,
        store: Option<&Bound<'_, VariableStore>>,
        signature: Option<&str>,
        libraries: Option<Vec<PathBuf>>,
        cache_dir: Option<PathBuf>,
        shapes: &str,
        precision: Option<&str>,
    ) -> PyResult<Session> {
        let libraries = libraries.unwrap_or_default();
        let setup = Setup { work_queue, max_memory, libraries, ..Setup::default() };
        let shapes = match shapes {
            "auto" => Shapes::Auto,
            "declared" => Shapes::Declared,
            "exact" => Shapes::Exact,
            other => return Err(failure::refused(format!("there are no shapes '{other}'"))),
        };
        let mut builder = befrost::Session::builder().level(level).runtime(&setup.runtime()?).shapes(shapes);
        if let Some(store) = store {
            builder = builder.variables(store.get().resources.clone());
        }
        if let Some(signature) = signature {
            builder = builder.signature(signature);
        }
        if let Some(folder) = cache_dir {
            builder = builder.cache_dir(folder);
        }
        if let Some(init) = init {
            builder = builder.init(init);
        }
        if let Some(precision) = precision_of(precision)? {
            builder = builder.precision(precision);
        }
        let session = interrupt::wait_for(py, move || builder.open(path))?;
        let session = session.map_err(|error| failure::of(&error))?;
        Ok(Session { session, prepared: Mutex::default() })
    }

    /// Its variables.
    fn store(&self) -> VariableStore {
        VariableStore::of(self.session.variables().resources().clone())
    }

    /// Compiles what the first run of these names needs. A signal ends the wait.
    fn prepare(
        &self,
        py: Python<'_>,
        feeds: Vec<String>,
        fetches: Vec<String>,
        targets: Vec<String>,
    ) -> PyResult<()> {
        let [of_feeds, of_fetches] =
            [&feeds, &fetches].map(|names| names.iter().map(String::as_str).collect::<Vec<&str>>());
        let hash = hash_of(&of_feeds, &of_fetches, &targets);
        let session = self.session.clone();
        let made = interrupt::wait_for(py, move || session.warm_declared(&feeds, &fetches, &targets))?;
        // A program that needs the ranks of the feeds is compiled by its run, whose error says what is wrong.
        let is_compiled = match made {
            Ok(()) => true,
            Err(error) if error.code() == ErrorCode::InvalidArgument => false,
            Err(error) => return Err(failure::of(&error)),
        };
        let mut prepared = self.prepared();
        if prepared.hashes.len() >= MAX_PREPARED {
            prepared.hashes.clear();
        }
        prepared.hashes.insert(hash);
        prepared.n_hits += u64::from(is_compiled);
        Ok(())
    }

    /// Computes tensors by their names, as arrays or Tensors. None for a fetch without a value; None for all
    /// if these names must be prepared first.
    #[expect(clippy::too_many_arguments, reason = "options")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        feeds: Vec<(String, Bound<'py, PyAny>)>,
        fetches: Vec<String>,
        targets: Vec<String>,
        timeout: Option<f64>,
        tensors: bool,
        trace: Option<PathBuf>,
    ) -> PyResult<Option<Vec<Option<Bound<'py, PyAny>>>>> {
        let mut loans = Loans::default();
        let values =
            feeds.iter().map(|(name, value)| Ok((name.as_str(), Datum::from(operand(value, &mut loans)?))));
        let values = values.collect::<PyResult<Vec<_>>>()?;
        let fetches: Vec<&str> = fetches.iter().map(String::as_str).collect();
        let names: Vec<&str> = feeds.iter().map(|(name, _)| name.as_str()).collect();
        if !self.prepared().hashes.contains(&hash_of(&names, &fetches, &targets)) {
            return Ok(None);
        }
        let cancellation = Cancellation::limited(nearest(deadline(timeout)?), None);
        let output = Arc::new(SysStdout::default());
        let options = RunOptions {
            targets,
            cancellation: Some(cancellation.clone()),
            output: Some(output.clone()),
            recorder: trace.as_ref().map(|_| Recorder::of_traces()),
            ..RunOptions::default()
        };
        let watched = interrupt::watch(py, &cancellation, true)?;
        let made = py.detach(|| self.session.run_with(&values, &fetches, &options));
        drop((watched, values));
        let saved = match (&options.recorder, trace) {
            (Some(recorder), Some(path)) => recorder.save(path),
            _ => Ok(()),
        };
        if let Some(error) = output.error() {
            return Err(error);
        }
        if let Some(error) = cancellation.error() {
            return Err(cancelled(py, error));
        }
        // The failure of the run says more than that of its trace.
        let made = made.map_err(|error| failure::of(&error))?;
        saved?;
        let results = made.into_values().into_iter().map(|datum| {
            let Some(datum) = datum else { return Ok(None) };
            tensor::result(py, datum.into_value(), tensors).map(Some)
        });
        results.collect::<PyResult<_>>().map(Some)
    }

    /// Compiles what a run of these feeds, fetches and targets needs.
    /// With sizes of the feeds, the program of these sizes too.
    #[pyo3(signature = (feeds, fetches, targets, sizes = None))]
    fn warm(
        &self,
        py: Python<'_>,
        feeds: Vec<String>,
        fetches: Vec<String>,
        targets: Vec<String>,
        sizes: Option<Vec<Vec<usize>>>,
    ) -> PyResult<()> {
        let shapes = sizes.map(|sizes| sizes.iter().map(|sizes| Shape::new(sizes)).collect());
        let shapes: Option<Result<Vec<Shape>, _>> = shapes;
        let shapes = shapes.transpose().map_err(|error| failure::refused(error.to_string()))?;
        let session = self.session.clone();
        let made = interrupt::wait_for(py, move || match shapes {
            None => session.warm_declared(&feeds, &fetches, &targets),
            Some(shapes) => {
                let feeds: Vec<(String, Shape)> = feeds.into_iter().zip(shapes).collect();
                session.warm_with(&feeds, &fetches, &targets)
            }
        })?;
        made.map_err(|error| failure::of(&error))
    }

    /// Writes a function as a BEF file, with the present values of the variables: from the inputs to the
    /// outputs, or from these tensors to those.
    fn save(&self, py: Python<'_>, path: PathBuf, feeds: Vec<String>, fetches: Vec<String>) -> PyResult<()> {
        let [feeds, fetches] =
            [&feeds, &fetches].map(|names| names.iter().map(String::as_str).collect::<Vec<&str>>());
        let saved = py.detach(|| match (&feeds[..], &fetches[..]) {
            ([], []) => self.session.save(path),
            (feeds, fetches) => self.session.save_part(path, feeds, fetches),
        });
        saved.map_err(|error| failure::of(&error))
    }

    /// The inputs of the graph, of its signature or of the function.
    fn inputs(&self, py: Python<'_>) -> PyResult<Vec<PyPort>> {
        listed(py.detach(|| self.session.inputs()))
    }

    /// The outputs of the graph, of its signature or of the function.
    fn outputs(&self, py: Python<'_>) -> PyResult<Vec<PyPort>> {
        listed(py.detach(|| self.session.outputs()))
    }

    /// The names of the signatures with their inputs and outputs.
    fn signatures(&self) -> Vec<(String, Vec<PyPort>, Vec<PyPort>)> {
        let ports = |ports: &[befrost::Port]| ports.iter().map(port).collect();
        let of = |found: &befrost::Signature| {
            (found.name().to_owned(), ports(found.inputs()), ports(found.outputs()))
        };
        self.session.signatures().iter().map(of).collect()
    }

    /// The names and types of all tensors that can be fed and fetched.
    fn tensors(&self, py: Python<'_>) -> PyResult<Vec<PyPort>> {
        listed(py.detach(|| self.session.tensors()))
    }

    /// Programs compiled, runs whose program was there, programs kept, those read from the cache, those for
    /// sizes of their own, bytes.
    fn stats(&self) -> (u64, u64, usize, u64, u64, usize) {
        let SessionStats { compilations, from_cache, specializations, hits, executables, bytes } =
            self.session.stats();
        // A run that compiled was prepared first, and found its own program.
        let hits = hits.saturating_sub(self.prepared().n_hits);
        (compilations, hits, executables, from_cache, specializations, bytes)
    }
}

fn listed(ports: Result<impl AsRef<[befrost::Port]>, befrost::Error>) -> PyResult<Vec<PyPort>> {
    Ok(ports.map_err(|error| failure::of(&error))?.as_ref().iter().map(port).collect())
}
