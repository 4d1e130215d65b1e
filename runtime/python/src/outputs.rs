//! `Outputs`: the values of a run, by name or position.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyString, PyType};

use crate::failure;

/// The arguments of `Outputs`: names and values.
type PyFields = (Vec<String>, Vec<Py<PyAny>>);

/// The outputs of a run, by name or position; iterating gives their values.
#[pyclass(frozen, module = "befrost")]
pub(crate) struct Outputs {
    names: Arc<[String]>,
    values: Vec<Py<PyAny>>,
}

impl Outputs {
    /// Values with their names.
    pub(crate) fn of(names: Arc<[String]>, values: Vec<Bound<'_, PyAny>>) -> Outputs {
        Outputs { names, values: values.into_iter().map(Bound::unbind).collect() }
    }
}

#[pymethods]
impl Outputs {
    #[new]
    fn new(names: Vec<String>, values: Vec<Py<PyAny>>) -> Outputs {
        Outputs { names: names.into(), values }
    }

    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = key.py();
        let at = if let Ok(name) = key.cast::<PyString>() {
            let name = name.to_cow()?;
            let found = self.names.iter().position(|known| *known == *name);
            match found {
                Some(at) => at,
                None => {
                    let unknown = py.import("befrost._model")?.getattr("unknown")?;
                    return Err(PyErr::from_value(unknown.call1(("output", name, self.names.to_vec()))?));
                }
            }
        } else {
            let at: isize = key.extract().map_err(|_| {
                PyTypeError::new_err(format!(
                    "outputs are found by name or position, not by {}",
                    key.get_type()
                ))
            })?;
            let n = self.values.len() as isize;
            let from_start = if at < 0 { at + n } else { at };
            usize::try_from(from_start)
                .ok()
                .filter(|&at| at < self.values.len())
                .ok_or_else(|| failure::of_class(py, "OutOfRangeError", &format!("output {at} of {n}")))?
        };
        match self.values.get(at) {
            Some(value) => Ok(value.clone_ref(py)),
            None => Err(failure::of_class(py, "OutOfRangeError", &format!("output {at} has no value"))),
        }
    }

    fn __len__(&self) -> usize {
        self.values.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.values.iter().map(|value| value.clone_ref(py)))?.try_iter()
    }

    /// True of the names.
    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        name.cast::<PyString>().is_ok_and(|name| self.names.iter().any(|known| name == known.as_str()))
    }

    /// The names.
    fn keys(&self) -> Vec<String> {
        self.names.to_vec()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, PyFields) {
        let (py, this) = (slf.py(), slf.get());
        let values = this.values.iter().map(|value| value.clone_ref(py)).collect();
        (slf.get_type(), (this.names.to_vec(), values))
    }

    fn __repr__(&self) -> String {
        format!("Outputs({})", self.names.join(", "))
    }
}
