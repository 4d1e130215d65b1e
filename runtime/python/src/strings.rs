//! Tensors of strings: NumPy's arrays of text, bytes, or objects of these.
//!
//! Text is UTF-8. Bytes that are none become surrogates, as in Python's names of files, so that strings which
//! come out go in as they were.

use std::sync::Arc;

use befrost::mem::{Allocator, Malloc};
use befrost::{Shape, StringTensor};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySlice, PyString};

use crate::array::{no_memory, numpy};

/// True if this kind of array may have strings: text, bytes, or objects.
pub(crate) fn is_of_strings(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    let kind = array.getattr(intern!(array.py(), "dtype"))?.getattr(intern!(array.py(), "kind"))?;
    Ok(matches!(kind.extract::<char>()?, 'U' | 'S' | 'T' | 'O'))
}

/// The strings of an array; `None` if one of its elements is none.
pub(crate) fn of_array(array: &Bound<'_, PyAny>) -> PyResult<Option<StringTensor>> {
    let py = array.py();
    let dims: Vec<usize> = array.getattr(intern!(py, "shape"))?.extract()?;
    let items = array.call_method1(intern!(py, "reshape"), (-1,))?.call_method0(intern!(py, "tolist"))?;
    let mut strings: Vec<Bound<'_, PyBytes>> = Vec::new();
    for item in items.try_iter()? {
        let item = item?;
        strings.push(match item.cast_into::<PyBytes>() {
            Ok(bytes) => bytes,
            Err(other) => {
                let other = other.into_inner();
                if !other.is_instance_of::<PyString>() {
                    return Ok(None);
                }
                let encode = intern!(py, "encode");
                other.call_method1(encode, ("utf-8", "surrogateescape"))?.cast_into::<PyBytes>()?
            }
        });
    }
    let parts: Vec<&[u8]> = strings.iter().map(|bytes| bytes.as_bytes()).collect();
    let malloc: Arc<dyn Allocator> = Malloc::shared();
    let made = Shape::new(&dims).and_then(|shape| StringTensor::new(shape, &parts, &malloc));
    made.map(Some).map_err(no_memory)
}

/// An array of `str` objects.
pub(crate) fn to_array<'py>(py: Python<'py>, tensor: &StringTensor) -> PyResult<Bound<'py, PyAny>> {
    let strings = tensor.read().map_err(no_memory)?;
    let text = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text).into_any()),
        Err(_) => PyBytes::new(py, bytes).call_method1(intern!(py, "decode"), ("utf-8", "surrogateescape")),
    };
    let items = strings.iter().map(text).collect::<PyResult<Vec<_>>>()?;
    let array = numpy(py, "empty")?.call1((items.len(), "O"))?;
    array.set_item(PySlice::full(py), PyList::new(py, items)?)?;
    array.call_method1(intern!(py, "reshape"), (tensor.shape().dims(),))
}
