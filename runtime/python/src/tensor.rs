//! `Tensor`: an immutable array of the runtime.
//!
//! Operators go to the eager core (`eager`), which passes some on to Python. `befrost/_tensor.py` adds all
//! other methods. PyO3 wants a method for each operator, in one block, so they are written out.

#![allow(unsafe_code, reason = "the buffer protocol; each block has its proof")]

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use befrost::mem::{Exported, Malloc};
use befrost::{DType, Datum, Element, HostTensor, I1, Value};
use pyo3::class::basic::CompareOp;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::eager::{self, Binary, Unary};
use crate::{array, dlpack, failure, strings};

/// An immutable array of numbers or booleans.
#[pyclass(frozen, module = "befrost", weakref)]
pub(crate) struct Tensor {
    host: HostTensor,
    /// The same as a value of the runtime, made when a program first takes it.
    value: OnceLock<Value>,
    array: PyOnceLock<Py<PyAny>>,
}

/// An element as a number of Python's.
enum Scalar {
    Bool(bool),
    Int(i64),
    Float(f64),
}

/// A tensor as a value.
pub(crate) fn value(tensor: HostTensor) -> Value {
    Datum::from(tensor).into_value()
}

impl Tensor {
    /// A result of a run. What is lent for the run is copied.
    pub(crate) fn of_result(result: Value) -> PyResult<Tensor> {
        let tensor = Datum::from(result).into_tensor().map_err(|error| failure::of(&error))?;
        match tensor.is_lent() {
            true => tensor.kept(&Malloc::shared()).map(Tensor::from).map_err(array::no_memory),
            false => Ok(tensor.into()),
        }
    }

    /// The value.
    pub(crate) fn value(&self) -> &Value {
        self.value.get_or_init(|| value(self.host.clone()))
    }

    /// The element of a tensor of rank 0 with a usual type. NumPy has the rules for all others.
    fn scalar(&self) -> Option<Scalar> {
        fn only<T: Element>(host: &HostTensor) -> Option<T> {
            host.read::<T>().ok()?.first().copied()
        }
        let host = Some(&self.host).filter(|host| host.shape().rank() == 0)?;
        Some(match host.dtype() {
            DType::I1 => Scalar::Bool(only::<I1>(host)?.is_true()),
            DType::I32 => Scalar::Int(only::<i32>(host)?.into()),
            DType::I64 => Scalar::Int(only(host)?),
            DType::F32 => Scalar::Float(only::<f32>(host)?.into()),
            DType::F64 => Scalar::Float(only(host)?),
            _ => return None,
        })
    }

    /// The tensor of the runtime.
    pub(crate) fn host(&self) -> &HostTensor {
        &self.host
    }
}

/// A result of a run as a `Tensor`, or as an array, which strings always are.
pub(crate) fn result(py: Python<'_>, result: Value, is_tensor: bool) -> PyResult<Bound<'_, PyAny>> {
    let datum = Datum::from(result);
    if let Ok(made) = datum.strings() {
        return strings::to_array(py, made);
    }
    let result = datum.into_value();
    match is_tensor {
        true => Ok(Bound::new(py, Tensor::of_result(result)?)?.into_any()),
        false => {
            let tensor = Datum::from(result).into_tensor().map_err(|error| failure::of(&error))?;
            array::to_array(py, tensor)
        }
    }
}

impl From<HostTensor> for Tensor {
    fn from(host: HostTensor) -> Tensor {
        Tensor { host, value: OnceLock::new(), array: PyOnceLock::new() }
    }
}

#[pymethods]
impl Tensor {
    /// A tensor with the contents of an array, a nested list or a number.
    #[new]
    #[pyo3(signature = (value, dtype = None))]
    fn new(value: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Tensor> {
        if let Some(dtype) = dtype {
            let array = value.py().import("numpy")?.call_method1("asarray", (value, dtype))?;
            return array::to_tensor(&array).map(Tensor::from);
        }
        match value.cast::<Tensor>() {
            Ok(tensor) => Ok(tensor.get().host().clone().into()),
            Err(_) => array::to_tensor(value).map(Tensor::from),
        }
    }

    /// An array over its memory, which cannot be written to.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let this = slf.get();
        let made =
            this.array.get_or_try_init(py, || array::shown(py, this.host().clone()).map(Bound::unbind))?;
        Ok(made.bind(py).clone())
    }

    /// The sizes of its dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.host().shape().dims())
    }

    /// NumPy's name of its element type.
    #[getter]
    fn dtype_name(&self) -> &'static str {
        array::dtype_name(self.host().dtype())
    }

    /// The number of its dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.host().shape().rank()
    }

    /// The number of its elements.
    #[getter]
    fn size(&self) -> usize {
        self.host().num_elements()
    }

    /// The number of its bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        let host = self.host();
        host.num_elements() * host.dtype().size()
    }

    /// A DLPack capsule. Consumers that know only version 0, which has no word for read-only, get a copy.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if stream.is_some() {
            return Err(PyBufferError::new_err("a tensor in the host's memory has no stream"));
        }
        if dl_device.is_some_and(|device| device != (1, 0)) {
            return Err(PyBufferError::new_err("the tensor is in the host's memory: device (1, 0)"));
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        if copy == Some(false) && !versioned {
            let message = "a tensor is read-only, which only DLPack 1.0 can say: give max_version=(1, 0)";
            return Err(PyBufferError::new_err(message));
        }
        dlpack::export(py, self.host(), versioned, copy == Some(true))
    }

    /// `(1, 0)`: the host's memory.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (1, 0)
    }

    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        match slf.get().host().shape().dims() {
            [first, ..] => Ok(*first),
            [] => Err(pyo3::exceptions::PyTypeError::new_err("len() of unsized object")),
        }
    }

    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        match slf.get().scalar() {
            Some(Scalar::Bool(x)) => Ok(x),
            Some(Scalar::Int(x)) => Ok(x != 0),
            Some(Scalar::Float(x)) => Ok(x != 0.0),
            None => Tensor::numpy(slf)?.is_truthy(),
        }
    }

    fn __int__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().scalar() {
            Some(Scalar::Int(x)) => Ok(x.into_pyobject(py)?.into_any()),
            _ => Tensor::numpy(slf)?.call_method0("__int__"),
        }
    }

    fn __index__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().scalar() {
            Some(Scalar::Int(x)) => Ok(x.into_pyobject(py)?.into_any()),
            _ => Tensor::numpy(slf)?.call_method0("__index__"),
        }
    }

    fn __float__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().scalar() {
            Some(Scalar::Float(x)) => Ok(x.into_pyobject(py)?.into_any()),
            _ => Tensor::numpy(slf)?.call_method0("__float__"),
        }
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Add, slf, other)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Sub, slf, other)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Mul, slf, other)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Div, slf, other)
    }

    fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::MatMul, slf, other)
    }

    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::FloorDiv, slf, other)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Mod, slf, other)
    }

    fn __divmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let parts = [eager::binary(Binary::FloorDiv, slf, other)?, eager::binary(Binary::Mod, slf, other)?];
        PyTuple::new(slf.py(), parts)
    }

    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Pow, slf, other)
    }

    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::And, slf, other)
    }

    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Or, slf, other)
    }

    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Xor, slf, other)
    }

    fn __lshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::ShiftLeft, slf, other)
    }

    fn __rshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::ShiftRight, slf, other)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Add, other, slf)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Sub, other, slf)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Mul, other, slf)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Div, other, slf)
    }

    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::MatMul, other, slf)
    }

    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::FloorDiv, other, slf)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Mod, other, slf)
    }

    fn __rdivmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let parts = [eager::binary(Binary::FloorDiv, other, slf)?, eager::binary(Binary::Mod, other, slf)?];
        PyTuple::new(slf.py(), parts)
    }

    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Pow, other, slf)
    }

    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::And, other, slf)
    }

    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Or, other, slf)
    }

    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::Xor, other, slf)
    }

    fn __rlshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::ShiftLeft, other, slf)
    }

    fn __rrshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        eager::binary(Binary::ShiftRight, other, slf)
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        eager::unary(Unary::Neg, slf)
    }

    fn __pos__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        eager::unary(Unary::Pos, slf)
    }

    fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        eager::unary(Unary::Abs, slf)
    }

    fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        eager::unary(Unary::Invert, slf)
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let op = match op {
            CompareOp::Lt => Binary::Less,
            CompareOp::Le => Binary::LessEqual,
            CompareOp::Gt => Binary::Greater,
            CompareOp::Ge => Binary::GreaterEqual,
            CompareOp::Eq => Binary::Equal,
            CompareOp::Ne => Binary::NotEqual,
        };
        eager::binary(op, slf, other)
    }

    /// # Safety
    /// As Python's buffer protocol says.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("a tensor cannot be written to"));
        }
        let host = slf.get().host();
        let format = format_of(host.dtype());
        let format = format.ok_or_else(|| {
            PyBufferError::new_err(format!("buffers have no element type {}", host.dtype()))
        })?;
        let dims = host.shape().dims();
        let size = host.dtype().size() as isize;
        let sizes: Vec<isize> = dims.iter().map(|&dim| dim as isize).collect();
        let mut strides = vec![size; dims.len()];
        for i in (1..dims.len()).rev() {
            strides[i - 1] = strides[i].saturating_mul(sizes[i].max(1));
        }
        let memory = host.clone().into_buffer().map_err(array::no_memory)?;
        let memory = memory.export().map_err(array::no_memory)?;
        let (data, len) = (memory.data().as_ptr().cast::<c_void>(), memory.len() as isize);
        let mut shown = Box::new(Shown { _memory: memory, sizes, strides });
        let wants = |flag: c_int| flags & flag == flag;
        let (shape, strides) = (shown.sizes.as_mut_ptr(), shown.strides.as_mut_ptr());
        let filled = ffi::Py_buffer {
            buf: data,
            len,
            readonly: 1,
            itemsize: size,
            format: if wants(ffi::PyBUF_FORMAT) { format.as_ptr().cast_mut() } else { ptr::null_mut() },
            ndim: dims.len() as c_int,
            shape: if wants(ffi::PyBUF_ND) { shape } else { ptr::null_mut() },
            strides: if wants(ffi::PyBUF_STRIDES) { strides } else { ptr::null_mut() },
            suboffsets: ptr::null_mut(),
            internal: Box::into_raw(shown).cast(),
            obj: slf.clone().into_any().into_ptr(),
        };
        // SAFETY: Python passes a view to fill in. Its pointers are to `shown`, which lives until the view is
        // released, and `obj` has a reference of its own.
        unsafe { view.write(filled) };
        Ok(())
    }

    /// # Safety
    /// As Python's buffer protocol says.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: Python passes a view that `__getbuffer__` has filled in.
        let shown = unsafe { (*view).internal }.cast::<Shown>();
        // SAFETY: it is the box of `__getbuffer__`, and a view is released once.
        drop(unsafe { Box::from_raw(shown) });
    }
}

/// The memory and the sizes of a view of the buffer protocol.
struct Shown {
    _memory: Exported,
    sizes: Vec<isize>,
    strides: Vec<isize>,
}

/// The element type in the notation of Python's `struct`.
fn format_of(dtype: DType) -> Option<&'static CStr> {
    Some(match dtype {
        DType::I1 => c"?",
        DType::I8 => c"b",
        DType::I16 => c"h",
        DType::I32 => c"i",
        DType::I64 => c"q",
        DType::UI8 => c"B",
        DType::UI16 => c"H",
        DType::UI32 => c"I",
        DType::UI64 => c"Q",
        DType::F16 => c"e",
        DType::F32 => c"f",
        DType::F64 => c"d",
        DType::Complex64 => c"Zf",
        DType::Complex128 => c"Zd",
        _ => return None,
    })
}

/// The tensor of a `Tensor`, or a new one of anything that NumPy makes an array of.
pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<HostTensor> {
    match value.cast::<Tensor>() {
        Ok(tensor) => Ok(tensor.get().host().clone()),
        Err(_) => array::to_tensor(value),
    }
}

/// A tensor over the memory of an object with `__dlpack__`, or of a capsule.
#[pyfunction]
#[pyo3(signature = (value, /, *, device = None, copy = None))]
pub(crate) fn from_dlpack(
    value: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Tensor> {
    if let Some(device) = device
        && device.ne("cpu")?
    {
        return Err(PyBufferError::new_err(format!("there is no device {device}; there is 'cpu'")));
    }
    if let Ok(tensor) = value.cast::<Tensor>() {
        let mut host = tensor.get().host().clone();
        if copy == Some(true) {
            host.make_unique(&Malloc::shared()).map_err(array::no_memory)?;
        }
        return Ok(host.into());
    }
    dlpack::import(value, copy).map(Tensor::from)
}
