//! The call of a compiled function: from Python's arguments to a version that was compiled for their types.
//!
//! ```text
//! f(x, 3) ──types──▶ a version that is remembered ──▶ lend, run, Tensors
//!              └───▶ none: `_slow` in Python, which compiles and remembers
//! ```
//!
//! Only versions for positional arguments are remembered: arrays, Tensors, NumPy's scalars and Python's
//! numbers, whose types are compared quickly.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use befrost::mem::Malloc;
use befrost::{DType, HostTensor, I1, Shape, Value};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyTuple};
use smallvec::SmallVec;

use crate::array::{ArrayView, Loans, dtype_named, no_memory, of_scalar, scalar_dtype};
use crate::call::{Compiled, RunKind};
use crate::failure::{self, Failure};
use crate::graph::Executable;
use crate::tensor::{self, Tensor};

/// The most versions that are remembered.
const KEPT: usize = 64;

/// The type of an argument.
enum ArgType {
    Bool,
    Int,
    Float,
    Array { dtype: DType, dims: SmallVec<[Option<usize>; 4]> },
}

impl ArgType {
    /// The argument as a value, if it is of this type. Arrays are lent.
    fn take<'py>(&self, arg: &Bound<'py, PyAny>, loans: &mut Loans<'py>) -> PyResult<Option<Value>> {
        let (dtype, dims) = match self {
            ArgType::Bool => return plain::<PyBool, bool, I1>(arg, I1::from),
            ArgType::Int => return plain::<PyInt, i64, i64>(arg, |x| x),
            ArgType::Float => return plain::<PyFloat, f64, f64>(arg, |x| x),
            ArgType::Array { dtype, dims } => (*dtype, dims),
        };
        let fits = |sizes: &[usize]| {
            sizes.len() == dims.len()
                && sizes.iter().zip(dims).all(|(size, want)| want.is_none_or(|want| want == *size))
        };
        if let Ok(given) = arg.cast_exact::<Tensor>() {
            let host = given.get().host();
            let is_it = host.dtype() == dtype && fits(host.shape().dims());
            return Ok(is_it.then(|| given.get().value().clone()));
        }
        if let Ok(array) = arg.cast_exact::<PyUntypedArray>() {
            if array.ndim() != dims.len() {
                return Ok(None);
            }
            return match ArrayView::of(array)? {
                Some(view) if view.dtype == dtype && fits(view.dims) => {
                    loans.lend(view).map(|tensor| Some(tensor::value(tensor)))
                }
                _ => Ok(None),
            };
        }
        if dims.is_empty() && scalar_dtype(arg) == Some(dtype) {
            return of_scalar(arg, dtype).map(|tensor| Some(tensor::value(tensor)));
        }
        Ok(None)
    }
}

/// A number of Python's as a tensor of rank 0.
fn plain<'py, P, X, T>(arg: &Bound<'py, PyAny>, element: impl FnOnce(X) -> T) -> PyResult<Option<Value>>
where
    P: pyo3::PyTypeInfo,
    X: for<'a> FromPyObject<'a, 'py>,
    T: befrost::Element,
{
    if !arg.is_exact_instance_of::<P>() {
        return Ok(None);
    }
    let Ok(number) = arg.extract::<X>() else { return Ok(None) };
    let made = HostTensor::from_slice(Shape::scalar(), &[element(number)], &Malloc::shared());
    made.map(|tensor| Some(tensor::value(tensor))).map_err(no_memory)
}

/// A version of the function.
struct Known {
    args: Vec<ArgType>,
    /// True if the sizes of all arguments are known.
    is_fixed: bool,
    executable: Arc<Compiled>,
    /// Makes the result of a list of Tensors; without it the only one is the result.
    build: Option<Py<PyAny>>,
}

/// The base of `befrost.Function`.
#[pyclass(frozen, subclass, module = "befrost._native")]
pub(crate) struct Dispatcher {
    /// The versions in the order in which they were compiled.
    known: [OnceLock<Known>; KEPT],
    n_calls: AtomicU64,
}

impl Dispatcher {
    /// A version for these arguments, and the arguments as values.
    fn find<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        loans: &mut Loans<'py>,
    ) -> PyResult<Option<(&Known, Vec<Value>)>> {
        let mut values = Vec::with_capacity(args.len());
        let known = self.known.iter().map_while(OnceLock::get);
        'versions: for version in known.filter(|version| version.args.len() == args.len()) {
            values.clear();
            for (ty, arg) in version.args.iter().zip(args.iter_borrowed()) {
                match ty.take(&arg, loans)? {
                    Some(value) => values.push(value),
                    None => continue 'versions,
                }
            }
            return Ok(Some((version, values)));
        }
        Ok(None)
    }
}

#[pymethods]
impl Dispatcher {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Dispatcher {
        Dispatcher { known: [const { OnceLock::new() }; KEPT], n_calls: AtomicU64::new(0) }
    }

    /// Calls the function.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let this = slf.get();
        this.n_calls.fetch_add(1, Ordering::Relaxed);
        if kwargs.is_none() {
            let mut loans = Loans::default();
            if let Some((version, mut values)) = this.find(args, &mut loans)? {
                let options = RunKind { timeout: None, is_fixed: version.is_fixed };
                let made = version.executable.run(py, &mut values, options);
                let mut made = match made {
                    Ok(made) => made,
                    Err(error) => return Err(explained(slf, error)),
                };
                return match &version.build {
                    None => {
                        let only =
                            made.pop().ok_or_else(|| failure::refused("the function has no result"))?;
                        tensor::result(py, only, true)
                    }
                    Some(build) => {
                        let parts = made.into_iter().map(Tensor::of_result).collect::<PyResult<Vec<_>>>()?;
                        build.bind(py).call1((PyList::new(py, parts)?.try_iter()?,))
                    }
                };
            }
        }
        slf.call_method1("_slow", (args, kwargs))
    }

    /// Remembers a version. `args` has for each argument `bool`, `int`, `float`, or an array's dtype and
    /// sizes, None for any size. `build` makes the result of the executable's results; None if the only one
    /// is it.
    fn remember(
        &self,
        args: Vec<(String, Vec<Option<usize>>)>,
        executable: &Bound<'_, Executable>,
        build: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let of = |(name, dims): (String, Vec<Option<usize>>)| {
            Ok(match name.as_str() {
                "bool" if dims.is_empty() => ArgType::Bool,
                "int" => ArgType::Int,
                "float" => ArgType::Float,
                name => {
                    let name = name.strip_prefix("array:").unwrap_or(name);
                    let dtype = dtype_named(name);
                    let dtype =
                        dtype.ok_or_else(|| failure::refused(format!("there is no dtype '{name}'")))?;
                    ArgType::Array { dtype, dims: dims.into() }
                }
            })
        };
        let is_fixed = args.iter().all(|(_, dims)| dims.iter().all(Option::is_some));
        let args = args.into_iter().map(of).collect::<PyResult<_>>()?;
        let mut version = Known { args, is_fixed, executable: executable.get().0.clone(), build };
        for place in &self.known {
            match place.set(version) {
                Ok(()) => break,
                Err(back) => version = back,
            }
        }
        Ok(())
    }

    /// The number of calls.
    #[getter]
    fn n_calls(&self) -> u64 {
        self.n_calls.load(Ordering::Relaxed)
    }
}

/// The exception that the function's class raises for an error of a run.
#[cold]
fn explained(slf: &Bound<'_, Dispatcher>, error: PyErr) -> PyErr {
    let py = slf.py();
    if !error.is_instance_of::<Failure>(py) {
        return error;
    }
    match slf.call_method1("_raise", (error.value(py),)) {
        Ok(_) => error,
        Err(raised) => raised,
    }
}
