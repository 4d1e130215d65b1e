//! NumPy arrays and host tensors: element types, and memory from one to the other without a copy.
//!
//! ```text
//! array ──Loans──▶ a lent buffer, until the call has ended      C-contiguous, aligned, of our dtypes
//!       └───────▶ a copy of NumPy's, which is lent              all others
//! result ──to_array──▶ an array over its memory, whose base is a `Memory`
//! ```
//!
//! Arrays are lent, not copied. A program that writes to an array while a run reads it has a data race, as
//! with any function of NumPy's that releases the interpreter's lock. A tensor that outlives the call is
//! copied.

#![allow(unsafe_code, reason = "NumPy's memory is reached through pointers; each block has its proof")]

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

use befrost::build::Type;
use befrost::mem::{Exported, Lease, Malloc};
use befrost::{DType, Datum, HostTensor, Shape, Value};
use numpy::npyffi::{
    NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_CARRAY, NPY_ARRAY_CARRAY_RO, NpyTypes, PY_ARRAY_API,
    get_type_object, npy_intp,
};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyMemoryError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyType, PyWeakrefReference};
use smallvec::SmallVec;

use crate::{failure, strings};

/// The element types that NumPy has, by its names and numbers.
const DTYPES: [(&str, DType, c_int); 14] = [
    ("bool", DType::I1, 0),
    ("int8", DType::I8, 1),
    ("int16", DType::I16, 3),
    ("int32", DType::I32, 5),
    ("int64", DType::I64, if cfg!(windows) { 9 } else { 7 }),
    ("uint8", DType::UI8, 2),
    ("uint16", DType::UI16, 4),
    ("uint32", DType::UI32, 6),
    ("uint64", DType::UI64, if cfg!(windows) { 10 } else { 8 }),
    ("float16", DType::F16, 23),
    ("float32", DType::F32, 11),
    ("float64", DType::F64, 12),
    ("complex64", DType::Complex64, 14),
    ("complex128", DType::Complex128, 15),
];

/// Limit of the bytes of a result that is copied to memory of NumPy's. Below it a copy takes less time than
/// an array over the result's memory.
const SMALL: usize = 512;

/// The name of an element type.
pub(crate) fn dtype_name(dtype: DType) -> &'static str {
    DTYPES.iter().find(|(_, known, _)| *known == dtype).map_or("bfloat16", |(name, ..)| name)
}

/// The element type of this name.
pub(crate) fn dtype_named(name: &str) -> Option<DType> {
    if name == "bfloat16" {
        return Some(DType::BF16);
    }
    DTYPES.iter().find(|(known, ..)| *known == name).map(|&(_, dtype, _)| dtype)
}

/// The name of an element type: a number's, or that of strings, resources or variants.
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

/// The class `ml_dtypes.bfloat16`.
fn bfloat16(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static BFLOAT16: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    BFLOAT16.import(py, "ml_dtypes", "bfloat16")
}

/// The element type for a descriptor of NumPy's, if there is one. There is none for a foreign byte order.
fn dtype_of(descr: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    let native = match descr.byteorder() {
        b'=' | b'|' => true,
        b'<' => cfg!(target_endian = "little"),
        b'>' => cfg!(target_endian = "big"),
        _ => false,
    };
    if !native {
        return None;
    }
    let num = descr.num();
    if let Some(&(_, dtype, _)) = DTYPES.iter().find(|(.., known)| *known == num) {
        return Some(dtype);
    }
    match (descr.kind(), descr.itemsize()) {
        // `long long` and the like, beside the type of the same size.
        (b'i', 4) => Some(DType::I32),
        (b'i', 8) => Some(DType::I64),
        (b'u', 4) => Some(DType::UI32),
        (b'u', 8) => Some(DType::UI64),
        // Types of other packages come behind NumPy's.
        (_, 2) if num >= 256 => {
            let class = bfloat16(descr.py()).ok()?;
            descr.typeobj().is(class).then_some(DType::BF16)
        }
        _ => None,
    }
}

/// A function or class of NumPy.
pub(crate) fn numpy<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("numpy").map(Bound::unbind))?;
    module.bind(py).getattr(name)
}

pub(crate) fn no_memory(error: impl std::fmt::Display) -> PyErr {
    PyMemoryError::new_err(error.to_string())
}

/// An array as a call sees it: type, sizes, and where its bytes are.
pub(crate) struct ArrayView<'a, 'py> {
    /// The element type.
    pub(crate) dtype: DType,
    /// The sizes of the dimensions.
    pub(crate) dims: &'a [usize],
    data: NonNull<u8>,
    /// While it lives, NumPy does not resize the array that owns the memory.
    owner: Bound<'py, PyWeakrefReference>,
}

impl<'a, 'py> ArrayView<'a, 'py> {
    /// The contents of an array, if they can be used as they are.
    pub(crate) fn of(array: &'a Bound<'py, PyUntypedArray>) -> PyResult<Option<ArrayView<'a, 'py>>> {
        // Before the first look at the contents: another thread, or a finalizer, may want to resize it.
        let owner = fixed(array)?;
        Ok(ArrayView::of_fixed(array, owner))
    }

    fn of_fixed(
        array: &'a Bound<'py, PyUntypedArray>,
        owner: Bound<'py, PyWeakrefReference>,
    ) -> Option<ArrayView<'a, 'py>> {
        // SAFETY: it is the pointer to an array object that is borrowed here, so it lives.
        let fields = unsafe { &(*array.as_array_ptr()).fields };
        let (flags, data) = (fields.flags, fields.data);
        let plain = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
        if flags & plain != plain {
            return None;
        }
        Some(ArrayView {
            dtype: dtype_of(&array.dtype())?,
            dims: array.shape(),
            data: NonNull::new(data)?.cast(),
            owner,
        })
    }

    /// The shape and the number of bytes.
    fn shape(&self) -> PyResult<(Shape, usize)> {
        let shape = Shape::new(self.dims).map_err(no_memory)?;
        let n_bytes = shape.num_bytes(self.dtype).map_err(no_memory)?;
        Ok((shape, n_bytes))
    }
}

/// A weak reference to the array that owns the memory of an array, which NumPy does not resize meanwhile.
fn fixed<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyWeakrefReference>> {
    let mut owner = array.clone();
    loop {
        // SAFETY: it is the pointer to an array object that `owner` holds.
        let base = unsafe { (*owner.as_array_ptr()).fields.base };
        // SAFETY: the base of an array is an object that the array holds, or null.
        let base = unsafe { Bound::from_borrowed_ptr_or_opt(owner.py(), base) };
        match base.and_then(|base| base.cast_into::<PyUntypedArray>().ok()) {
            Some(base) => owner = base,
            None => return PyWeakrefReference::new(&owner),
        }
    }
}

/// The arrays that are lent to one call, and copies of those that cannot be lent as they are.
#[derive(Default)]
pub(crate) struct Loans<'py> {
    // In this order: leases end before their memory goes.
    leases: SmallVec<[Lease<'py>; 8]>,
    owners: SmallVec<[Bound<'py, PyWeakrefReference>; 8]>,
    held: Vec<Bound<'py, PyAny>>,
}

impl<'py> Loans<'py> {
    /// The tensor of an array, which the caller holds until the loans end.
    pub(crate) fn lend(&mut self, view: ArrayView<'_, 'py>) -> PyResult<HostTensor> {
        let (shape, n_bytes) = view.shape()?;
        self.owners.push(view.owner);
        // SAFETY: the array is C-contiguous and aligned, so its `n_bytes` bytes begin at the data pointer;
        // those of numbers and booleans are initialized. The caller or `held` has a reference to the array
        // until the loans end, and NumPy does not move the memory of an array with a weak reference: `owners`
        // has one, which was there before the pointer was read. The essay requires the program not to write
        // to it. Loans are dropped, never forgotten: they do not leave this crate.
        let lease = unsafe { Lease::begin(view.data, n_bytes) };
        let tensor = HostTensor::from_buffer(view.dtype, shape, lease.buffer().clone()).map_err(no_memory)?;
        self.leases.push(lease);
        Ok(tensor)
    }

    /// The tensor of an array, or of anything that NumPy makes one of.
    pub(crate) fn of(&mut self, value: &Bound<'py, PyAny>) -> PyResult<HostTensor> {
        if let Ok(array) = value.cast::<PyUntypedArray>()
            && let Some(view) = ArrayView::of(array)?
        {
            return self.lend(view);
        }
        let made = plain(value)?;
        let array = made.cast::<PyUntypedArray>()?;
        let Some(view) = ArrayView::of(array)? else { return Err(unknown(&made)) };
        let tensor = self.lend(view)?;
        self.held.push(made.clone());
        Ok(tensor)
    }

    /// An array, or anything that NumPy makes one of, as a value: numbers, booleans, or strings.
    pub(crate) fn value(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Value> {
        if let Ok(array) = value.cast::<PyUntypedArray>()
            && let Some(view) = ArrayView::of(array)?
        {
            return self.lend(view).map(|tensor| Datum::from(tensor).into_value());
        }
        let array = numpy(value.py(), "asarray")?.call1((value,))?;
        if strings::is_of_strings(&array)? {
            let made = strings::of_array(&array)?;
            return made.map(|made| Datum::from(made).into_value()).ok_or_else(|| unknown(&array));
        }
        let tensor = self.of(&array)?;
        self.held.push(array);
        Ok(Datum::from(tensor).into_value())
    }
}

fn unknown(array: &Bound<'_, PyAny>) -> PyErr {
    match array.getattr(intern!(array.py(), "dtype")) {
        Ok(dtype) => {
            let is_of_strings = strings::is_of_strings(array).is_ok_and(|is| is)
                && strings::of_array(array).is_ok_and(|made| made.is_some());
            let accepted = match is_of_strings {
                true => "a tensor has numbers or booleans; models and functions take arrays of strings",
                false => "give numbers, booleans or strings",
            };
            let message = format!("arrays of dtype {dtype} cannot be used: {accepted}");
            failure::of_class(array.py(), "WrongTypeError", &message)
        }
        Err(error) => error,
    }
}

/// A C-contiguous array of the machine's byte order.
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let array = numpy(py, "asarray")?.call1((value,))?;
    let dtype = array.getattr(intern!(py, "dtype"))?.call_method1(intern!(py, "newbyteorder"), ("=",))?;
    numpy(py, "require")?.call1((array, dtype, ("C", "A")))
}

/// A tensor with the contents of an array, or of anything that NumPy makes one of, in memory of its own.
pub(crate) fn to_tensor(value: &Bound<'_, PyAny>) -> PyResult<HostTensor> {
    let mut loans = Loans::default();
    loans.of(value)?.kept(&Malloc::shared()).map_err(no_memory)
}

/// The classes of NumPy's scalars that are read without an array, the most frequent first.
struct Scalars([(Py<PyType>, DType); 10]);

impl Scalars {
    fn all(py: Python<'_>) -> PyResult<&Scalars> {
        static SCALARS: PyOnceLock<Scalars> = PyOnceLock::new();
        SCALARS.get_or_try_init(py, || {
            let class = |name: &str| Ok::<_, PyErr>(numpy(py, name)?.cast_into::<PyType>()?.unbind());
            Ok::<_, PyErr>(Scalars([
                (class("float32")?, DType::F32),
                (class("float64")?, DType::F64),
                (class("int64")?, DType::I64),
                (class("int32")?, DType::I32),
                (class("bool_")?, DType::I1),
                (class("uint8")?, DType::UI8),
                (class("int8")?, DType::I8),
                (class("uint64")?, DType::UI64),
                (class("uint32")?, DType::UI32),
                (class("float16")?, DType::F16),
            ]))
        })
    }
}

/// The element type of a scalar of NumPy's.
pub(crate) fn scalar_dtype(value: &Bound<'_, PyAny>) -> Option<DType> {
    let class = value.get_type();
    let Scalars(known) = Scalars::all(value.py()).ok()?;
    known.iter().find(|(of, _)| of.is(&class)).map(|&(_, dtype)| dtype)
}

/// A tensor with the value of a scalar of NumPy's, whose type is `dtype`.
pub(crate) fn of_scalar(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<HostTensor> {
    if scalar_dtype(value) != Some(dtype) {
        return to_tensor(value);
    }
    let mut bytes = [0u64; 2];
    // SAFETY: the value is a scalar of this type, of at most 16 bytes, which are written here.
    unsafe { PY_ARRAY_API.PyArray_ScalarAsCtype(value.py(), value.as_ptr(), bytes.as_mut_ptr().cast()) };
    let tensor = HostTensor::allocate(dtype, Shape::scalar(), &Malloc::shared()).map_err(no_memory)?;
    let all = bytes.map(u64::to_ne_bytes);
    tensor.write_bytes().map_err(no_memory)?.copy_from_slice(&all.as_flattened()[..dtype.size()]);
    Ok(tensor)
}

/// Memory of a tensor, as the base of the arrays that show it.
#[pyclass(frozen, module = "befrost._native")]
pub(crate) struct Memory(#[expect(dead_code, reason = "held, not read")] Exported);

/// NumPy's descriptor of an element type; a new reference.
fn descr_of(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyArrayDescr>> {
    match DTYPES.iter().find(|(_, known, _)| *known == dtype) {
        Some(&(.., num)) => {
            // SAFETY: the number is one of NumPy's own types, and the interpreter's lock is held.
            let raw = unsafe { PY_ARRAY_API.PyArray_DescrFromType(py, num) };
            // SAFETY: NumPy returns a new reference, or null with an exception.
            let descr = unsafe { Bound::from_owned_ptr_or_err(py, raw.cast())? };
            Ok(descr.cast_into::<PyArrayDescr>()?)
        }
        None => Ok(numpy(py, "dtype")?.call1((bfloat16(py)?,))?.cast_into::<PyArrayDescr>()?),
    }
}

/// A new array of these sizes over `data`, or with memory of its own.
fn new_array<'py>(
    py: Python<'py>,
    tensor: (DType, &[usize]),
    data: Option<NonNull<u8>>,
    flags: c_int,
) -> PyResult<Bound<'py, PyAny>> {
    let (dtype, dims) = tensor;
    let descr = descr_of(py, dtype)?;
    let mut sizes: SmallVec<[npy_intp; 8]> = dims.iter().map(|&dim| dim as npy_intp).collect();
    let data = data.map_or(ptr::null_mut(), |data| data.as_ptr().cast::<c_void>());
    // SAFETY: the interpreter's lock is held, so NumPy's table of classes can be read.
    let class = unsafe { get_type_object(py, NpyTypes::PyArray_Type) };
    let (rank, descr) = (sizes.len() as c_int, descr.into_ptr().cast());
    let (dims, strides, obj) = (sizes.as_mut_ptr(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: the class is NumPy's array; the reference to the descriptor is given up to it; there are `rank`
    // sizes, and NumPy computes the strides. `data` is null, or the aligned bytes of a tensor of this type
    // and shape, which the caller keeps as long as the array.
    let raw =
        unsafe { PY_ARRAY_API.PyArray_NewFromDescr(py, class, descr, rank, dims, strides, data, flags, obj) };
    // SAFETY: NumPy returns a new reference, or null with an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, raw) }
}

/// A new array with the contents of a tensor: a copy of a small one, and of one that is lent; otherwise over
/// its memory, and writable if this is the only handle.
pub(crate) fn to_array<'py>(py: Python<'py>, tensor: HostTensor) -> PyResult<Bound<'py, PyAny>> {
    let n_bytes = tensor.num_elements() * tensor.dtype().size();
    if n_bytes > SMALL && !tensor.is_lent() {
        return shown(py, tensor);
    }
    let array = new_array(py, (tensor.dtype(), tensor.shape().dims()), None, 0)?;
    let bytes = tensor.read_bytes().map_err(no_memory)?;
    if !bytes.is_empty() {
        let untyped = array.cast::<PyUntypedArray>()?;
        // SAFETY: it is the pointer to an array object that `array` holds.
        let data = unsafe { (*untyped.as_array_ptr()).fields.data };
        // SAFETY: NumPy made a C-contiguous array of this shape and dtype, so it has as many bytes as the
        // tensor. No other code has a reference to it yet.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast::<u8>(), bytes.len()) };
    }
    Ok(array)
}

/// An array over the memory of a tensor; writable if this is the only handle.
pub(crate) fn shown<'py>(py: Python<'py>, tensor: HostTensor) -> PyResult<Bound<'py, PyAny>> {
    let (dtype, shape) = (tensor.dtype(), tensor.shape().clone());
    let exported = tensor.into_buffer().map_err(no_memory)?.export().map_err(no_memory)?;
    let flags = if exported.is_writable() { NPY_ARRAY_CARRAY } else { NPY_ARRAY_CARRAY_RO };
    let array = new_array(py, (dtype, shape.dims()), Some(exported.data()), flags)?;
    let base = Bound::new(py, Memory(exported))?;
    let untyped = array.cast::<PyUntypedArray>()?;
    // SAFETY: the array is new and has no base. NumPy takes over the reference to `base`, which keeps the
    // memory.
    let done = unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, untyped.as_array_ptr(), base.into_ptr()) };
    if done < 0 { Err(PyErr::fetch(py)) } else { Ok(array) }
}
