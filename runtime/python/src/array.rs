//! NumPy arrays and host tensors: element types by NumPy's names, and bytes from one to the other.
//!
//! Arrays are copied both ways: NumPy lets anybody write to an array while a run reads it.

#![allow(unsafe_code, reason = "NumPy's memory is reached through pointers; each block has its proof")]

use befrost::build::Type;
use befrost::mem::Malloc;
use befrost::{DType, HostTensor, Shape};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// The element types that NumPy has, by its names.
const DTYPES: [(&str, DType); 14] = [
    ("bool", DType::I1),
    ("int8", DType::I8),
    ("int16", DType::I16),
    ("int32", DType::I32),
    ("int64", DType::I64),
    ("uint8", DType::UI8),
    ("uint16", DType::UI16),
    ("uint32", DType::UI32),
    ("uint64", DType::UI64),
    ("float16", DType::F16),
    ("float32", DType::F32),
    ("float64", DType::F64),
    ("complex64", DType::Complex64),
    ("complex128", DType::Complex128),
];

/// The name of an element type.
pub(crate) fn dtype_name(dtype: DType) -> &'static str {
    DTYPES.iter().find(|(_, known)| *known == dtype).map_or("bfloat16", |(name, _)| name)
}

/// The element type of this name.
pub(crate) fn dtype_named(name: &str) -> Option<DType> {
    if name == "bfloat16" {
        return Some(DType::BF16);
    }
    DTYPES.iter().find(|(known, _)| *known == name).map(|&(_, dtype)| dtype)
}

/// The name of an element type, also of values that are no numbers.
pub(crate) fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Dense(dtype) => dtype_name(dtype),
        Type::String => "string",
        Type::Resource => "resource",
        Type::Variant => "variant",
    }
}

/// The element type of this name.
pub(crate) fn type_named(name: &str) -> Option<Type> {
    Some(match name {
        "string" => Type::String,
        "resource" => Type::Resource,
        "variant" => Type::Variant,
        name => Type::Dense(dtype_named(name)?),
    })
}

/// The element type of an array's, if we have it. Arrays of foreign byte order have none.
fn dtype_of(descr: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    let native = match descr.byteorder() {
        b'=' | b'|' => true,
        b'<' => cfg!(target_endian = "little"),
        b'>' => cfg!(target_endian = "big"),
        _ => false,
    };
    let dtype = match (descr.kind(), descr.itemsize()) {
        (b'b', 1) => DType::I1,
        (b'i', 1) => DType::I8,
        (b'i', 2) => DType::I16,
        (b'i', 4) => DType::I32,
        (b'i', 8) => DType::I64,
        (b'u', 1) => DType::UI8,
        (b'u', 2) => DType::UI16,
        (b'u', 4) => DType::UI32,
        (b'u', 8) => DType::UI64,
        (b'f', 2) => DType::F16,
        (b'f', 4) => DType::F32,
        (b'f', 8) => DType::F64,
        (b'c', 8) => DType::Complex64,
        (b'c', 16) => DType::Complex128,
        _ => return None,
    };
    native.then_some(dtype)
}

/// A function or class of NumPy.
fn numpy<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("numpy").map(Bound::unbind))?;
    module.bind(py).getattr(name)
}

/// A tensor with the contents of an array, or of anything that NumPy makes one of.
pub(crate) fn to_tensor(value: &Bound<'_, PyAny>) -> PyResult<HostTensor> {
    if let Ok(array) = value.cast::<PyUntypedArray>()
        && array.is_c_contiguous()
        && let Some(dtype) = dtype_of(&array.dtype())
    {
        return copied(array, dtype);
    }
    let py = value.py();
    let array = numpy(py, "ascontiguousarray")?.call1((numpy(py, "asarray")?.call1((value,))?,))?;
    // `ascontiguousarray` makes a vector of a scalar.
    let array = array.call_method1(intern!(py, "reshape"), (numpy(py, "shape")?.call1((value,))?,))?;
    let dtype = array.getattr(intern!(py, "dtype"))?;
    let native = array.call_method1(intern!(py, "astype"), (dtype.call_method1("newbyteorder", ("=",))?,))?;
    let array = native.cast::<PyUntypedArray>()?;
    match dtype_of(&array.dtype()) {
        Some(dtype) => copied(array, dtype),
        None => Err(PyTypeError::new_err(format!(
            "arrays of dtype {dtype} cannot be used: give numbers or booleans"
        ))),
    }
}

fn copied(array: &Bound<'_, PyUntypedArray>, dtype: DType) -> PyResult<HostTensor> {
    let shape = Shape::new(array.shape()).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    let n_bytes = array.len() * dtype.size();
    let tensor = HostTensor::allocate(dtype, shape, &Malloc::shared())
        .map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    if n_bytes > 0 {
        let mut to = tensor.write_bytes().map_err(|error| PyMemoryError::new_err(error.to_string()))?;
        // SAFETY: the pointer to the array is one of an object that we hold a reference to.
        let data = unsafe { (*array.as_array_ptr()).fields.data };
        // SAFETY: the array is C-contiguous and has `len` elements of `itemsize` bytes, which is the size of
        // `dtype` (`dtype_of`), from its data pointer on; we hold a reference to it, so the memory stays.
        // The bytes of any number or boolean are initialized. Nobody else writes meanwhile but with a data
        // race of the user's own, as with any function of NumPy's.
        let from = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), n_bytes) };
        to.copy_from_slice(from);
    }
    Ok(tensor)
}

/// A new array with the contents of a tensor.
pub(crate) fn to_array<'py>(py: Python<'py>, tensor: &HostTensor) -> PyResult<Bound<'py, PyAny>> {
    let dims = pyo3::types::PyTuple::new(py, tensor.shape().dims())?;
    let dtype = tensor.dtype();
    let descr = if dtype == DType::BF16 {
        static BFLOAT16: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        BFLOAT16.import(py, "ml_dtypes", "bfloat16")?.clone().into_any()
    } else {
        numpy(py, "dtype")?.call1((dtype_name(dtype),))?
    };
    let array = numpy(py, "empty")?.call1((dims, descr))?;
    let bytes = tensor.read_bytes().map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    if !bytes.is_empty() {
        let untyped = array.cast::<PyUntypedArray>()?;
        // SAFETY: the pointer to the array is one of an object that we hold a reference to.
        let data = unsafe { (*untyped.as_array_ptr()).fields.data };
        // SAFETY: `numpy.empty` made a C-contiguous array of this shape and dtype, so it has as many bytes as
        // the tensor; nobody else has seen it yet.
        let to = unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), bytes.len()) };
        to.copy_from_slice(&bytes);
    }
    Ok(array)
}
