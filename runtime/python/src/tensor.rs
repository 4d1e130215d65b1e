//! `Tensor`: an immutable array of the runtime.

use befrost::HostTensor;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array;

/// An immutable array of numbers or booleans.
#[pyclass(frozen, subclass, module = "befrost")]
pub(crate) struct Tensor(pub(crate) HostTensor);

#[pymethods]
impl Tensor {
    /// A tensor with the contents of an array.
    #[new]
    fn new(value: &Bound<'_, PyAny>) -> PyResult<Tensor> {
        of(value).map(Tensor)
    }

    /// A new NumPy array with its contents.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array::to_array(py, &self.0)
    }

    /// The sizes of its dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.shape().dims())
    }

    /// NumPy's name of its element type.
    #[getter]
    fn dtype_name(&self) -> &'static str {
        array::dtype_name(self.0.dtype())
    }
}

/// The tensor that a value is, or that is made of it.
pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<HostTensor> {
    match value.cast::<Tensor>() {
        Ok(tensor) => Ok(tensor.get().0.clone()),
        Err(_) => array::to_tensor(value),
    }
}
