//! Operators on tensors, which the eager core executes at once.
//!
//! ```text
//! a + b ──▶ both of one dtype, or one a plain number? ──yes──▶ eager core ──▶ Tensor
//!                         │no, or refused
//!                         └──▶ befrost._tensor: a compiled function per pair of types
//! ```
//!
//! Here the only promotion is that of integers in `/` and beside a float of Python's. `//` and `%` of floats
//! are those of `floored`. Tensors of two dtypes, and other operators for which NumPy has rules of its own
//! (shifts by tensors, vectors in `@`), go to `befrost._tensor`.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use befrost::build::{DefaultValue, Type};
use befrost::eager::{AttrValue, CoreRuntime, Op, OpAttrs, Results, TensorHandle};
use befrost::mem::Malloc;
use befrost::{Cancellation, DType, Datum, Error, ExecContext, HostTensor, Request, Shape, Value};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyInt};
use smallvec::{SmallVec, smallvec};

use crate::array::Loans;
use crate::call::{Setup, cancelled, nearest};
use crate::floored::floored;
use crate::graph::{attributes, operand};
use crate::tensor::{self, Tensor};
use crate::{failure, interrupt};

macro_rules! operators {
    ($(#[$doc:meta])* $name:ident: $($op:ident $text:literal),* $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($op),* }

        impl $name {
            /// The name in Python's module `operator`.
            fn name(self) -> &'static str {
                match self { $($name::$op => $text),* }
            }
        }
    };
}

operators! {
    /// Operators of two operands.
    Binary: Add "add", Sub "sub", Mul "mul", Div "truediv", FloorDiv "floordiv", Mod "mod", Pow "pow",
    MatMul "matmul", And "and_", Or "or_", Xor "xor", ShiftLeft "lshift", ShiftRight "rshift", Less "lt",
    LessEqual "le", Greater "gt", GreaterEqual "ge", Equal "eq", NotEqual "ne",
}

operators! {
    /// Operators of one operand.
    Unary: Neg "neg", Pos "pos", Abs "abs", Invert "invert",
}

/// The number of TensorFlow's operators in the tables below.
const N_OPS: usize = 25;

/// One of TensorFlow's operators: its number in the tables below, and its name.
type Row = (usize, &'static str);

fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}

fn is_int(dtype: DType) -> bool {
    !is_float(dtype) && !is_complex(dtype) && dtype != DType::I1
}

fn is_complex(dtype: DType) -> bool {
    matches!(dtype, DType::Complex64 | DType::Complex128)
}

impl Binary {
    /// The operator on two tensors of this type, if it means what NumPy's does.
    fn row(self, dtype: DType) -> Option<Row> {
        let (is_float, is_bool, is_int) = (is_float(dtype), dtype == DType::I1, is_int(dtype));
        let is_complex = is_complex(dtype);
        Some(match self {
            Binary::Add if !is_bool => (0, "AddV2"),
            Binary::Sub if !is_bool => (1, "Sub"),
            Binary::Mul if !is_bool => (2, "Mul"),
            Binary::Div if is_float => (3, "RealDiv"),
            Binary::Pow if is_float || is_int => (4, "Pow"),
            Binary::MatMul if matches!(dtype, DType::F32 | DType::F64) => (5, "MatMul"),
            Binary::Less if !is_bool && !is_complex => (6, "Less"),
            Binary::LessEqual if !is_bool && !is_complex => (7, "LessEqual"),
            Binary::Greater if !is_bool && !is_complex => (8, "Greater"),
            Binary::GreaterEqual if !is_bool && !is_complex => (9, "GreaterEqual"),
            Binary::Equal => (10, "Equal"),
            Binary::NotEqual => (11, "NotEqual"),
            Binary::And if is_bool => (12, "LogicalAnd"),
            Binary::Or if is_bool => (13, "LogicalOr"),
            Binary::And if is_int => (14, "BitwiseAnd"),
            Binary::Or if is_int => (15, "BitwiseOr"),
            Binary::Xor if is_int => (16, "BitwiseXor"),
            Binary::Xor if is_bool => (11, "NotEqual"),
            // Of floats NumPy's are not the floor of the quotient.
            Binary::FloorDiv if is_int => (21, "FloorDiv"),
            Binary::Mod if is_int => (22, "FloorMod"),
            _ => return None,
        })
    }

    /// The operator on a tensor of this type and a count of bits. NumPy has other results than TensorFlow for
    /// counts that are not within the type's bits.
    fn row_by(self, dtype: DType, count: Number) -> Option<Row> {
        let row = match self {
            Binary::ShiftLeft => (23, "LeftShift"),
            Binary::ShiftRight => (24, "RightShift"),
            _ => return None,
        };
        let is_within = matches!(count, Number::Int(n) if (0..8 * dtype.size() as i64).contains(&n));
        (is_int(dtype) && is_within).then_some(row)
    }
}

impl Unary {
    fn row(self, dtype: DType) -> Option<Row> {
        let is_signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64) || is_float(dtype);
        Some(match self {
            Unary::Neg if is_signed || is_complex(dtype) => (17, "Neg"),
            Unary::Abs if is_signed => (18, "Abs"),
            Unary::Invert if dtype == DType::I1 => (19, "LogicalNot"),
            Unary::Invert if !is_float(dtype) && !is_complex(dtype) => (20, "Invert"),
            _ => return None,
        })
    }
}

/// The core runtime of this process.
pub(crate) fn core() -> PyResult<&'static CoreRuntime> {
    static CORE: OnceLock<CoreRuntime> = OnceLock::new();
    if let Some(core) = CORE.get() {
        return Ok(core);
    }
    // A queue without threads works in a forked child too.
    let setup = Setup { work_queue: Some("s".to_owned()), ..Setup::default() };
    let made = CoreRuntime::new(setup.runtime()?.context());
    Ok(CORE.get_or_init(|| made))
}

/// An operator without attributes.
fn op((number, name): Row) -> PyResult<&'static Op> {
    static OPS: [OnceLock<Op>; N_OPS] = [const { OnceLock::new() }; N_OPS];
    let place = &OPS[number];
    if let Some(op) = place.get() {
        return Ok(op);
    }
    let made = core()?.op(name, OpAttrs::new()).map_err(|error| failure::of(&error))?;
    Ok(place.get_or_init(|| made))
}

/// Python's functions for all other operands.
static ELSEWHERE: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();

/// Sets Python's functions for all other operands. They take an operator's name and two operands or one.
#[pyfunction]
pub(crate) fn set_operators(py: Python<'_>, binary: Py<PyAny>, unary: Py<PyAny>) {
    _ = ELSEWHERE.set(py, (binary, unary));
}

fn not_set() -> PyErr {
    failure::refused("the package is not imported")
}

/// The work, in elementary steps, from which on the interpreter's lock is released.
const LONG: usize = 1 << 14;

/// Estimate of the elementary steps of an operator on these tensors.
fn work(row: Row, operands: &[&HostTensor]) -> usize {
    let elements = operands.iter().map(|x| x.num_elements()).max().unwrap_or(0);
    match (row.1, operands) {
        ("MatMul", [a, _]) => elements.saturating_mul(a.shape().dims().iter().copied().min().unwrap_or(1)),
        _ => elements,
    }
}

/// The only result of an operator, if it succeeds. `values` are its operands as values, for a longer
/// operator.
fn execute(
    py: Python<'_>,
    row: Row,
    operands: &[&HostTensor],
    values: impl FnOnce() -> SmallVec<[Value; 2]>,
) -> PyResult<Option<Tensor>> {
    let op = op(row)?;
    let limit = nearest(None);
    if limit.is_none()
        && let Some(made) = op.call_dense(operands)
    {
        return Ok(Some(made.into()));
    }
    let args: SmallVec<[TensorHandle; 2]> = values().into_iter().map(TensorHandle::new).collect();
    if work(row, operands) > LONG || limit.is_some() {
        // Not given up: Python's objects hold them.
        let made = attended(py, limit, |cx| settled(op.call_in(cx, &args)))?;
        return Ok(made.map(Tensor::from));
    }
    Ok(settled(op.call(&args)).map(Tensor::from))
}

/// The only result of an operator, unless it is an error.
fn settled(results: Result<Results, Error>) -> Option<HostTensor> {
    let handle = results.ok()?.into_iter().next()?;
    if handle.error().is_some() {
        return None;
    }
    match handle.value().is_some() {
        true => Datum::from(handle.into_value()).into_tensor().ok(),
        false => handle.wait().ok(),
    }
}

/// The result of operators in an execution that Ctrl-C and the time limit end. The interpreter's lock is
/// released.
fn attended<T: Send>(
    py: Python<'_>,
    limit: Option<Instant>,
    work: impl FnOnce(&ExecContext) -> T + Send,
) -> PyResult<T> {
    thread_local! {
        /// The execution of the thread's last operator, if there was no limit.
        static LAST: RefCell<Option<ExecContext>> = const { RefCell::new(None) };
    }
    let last = LAST.take().filter(|cx| limit.is_none() && !cx.request.cancellation.is_cancelled());
    let cx = match last {
        Some(cx) => cx,
        None => {
            let of = &core()?.context().request;
            ExecContext::new(Arc::new(Request {
                cancellation: Cancellation::limited(limit, None),
                resources: of.resources.clone(),
                allocator: of.allocator.clone(),
                ..Request::new(of.queue.clone())
            }))
        }
    };
    let cancellation = &cx.request.cancellation;
    let watched = interrupt::watch(py, cancellation, true)?;
    let made = py.detach(|| work(&cx));
    drop(watched);
    if let Some(error) = cancellation.error() {
        return Err(failure::explained(py, cancelled(py, error)));
    }
    if limit.is_none() {
        LAST.set(Some(cx));
    }
    Ok(made)
}

/// A number of Python's.
#[derive(Clone, Copy)]
enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    fn of(value: &Bound<'_, PyAny>) -> Option<Number> {
        if value.is_exact_instance_of::<PyFloat>() {
            return value.extract().ok().map(Number::Float);
        }
        value.cast_exact::<PyInt>().ok()?.extract().ok().map(Number::Int)
    }

    /// It as a tensor of this type: an integer that the type has exactly, or a float for a type of floats.
    fn tensor(self, dtype: DType) -> Option<HostTensor> {
        fn scalar<T: befrost::Element>(x: T) -> Option<HostTensor> {
            HostTensor::from_slice(Shape::scalar(), &[x], &Malloc::shared()).ok()
        }
        match (self, dtype) {
            (Number::Float(x), DType::F64) => scalar(x),
            // NumPy warns of a finite number beyond the range.
            (Number::Float(x), DType::F32) if (x as f32).is_finite() || !x.is_finite() => scalar(x as f32),
            (Number::Int(x), DType::F64) if x.unsigned_abs() <= 1 << 53 => scalar(x as f64),
            (Number::Int(x), DType::F32) if x.unsigned_abs() <= 1 << 24 => scalar(x as f32),
            (Number::Int(x), DType::I8) => scalar(i8::try_from(x).ok()?),
            (Number::Int(x), DType::I16) => scalar(i16::try_from(x).ok()?),
            (Number::Int(x), DType::I32) => scalar(i32::try_from(x).ok()?),
            (Number::Int(x), DType::I64) => scalar(x),
            (Number::Int(x), DType::UI8) => scalar(u8::try_from(x).ok()?),
            (Number::Int(x), DType::UI16) => scalar(u16::try_from(x).ok()?),
            (Number::Int(x), DType::UI32) => scalar(u32::try_from(x).ok()?),
            (Number::Int(x), DType::UI64) => scalar(u64::try_from(x).ok()?),
            _ => None,
        }
    }

    /// [`Number::tensor`], of a thread's last integers the same one: loops use them again and again.
    fn kept(self, dtype: DType) -> Option<HostTensor> {
        const KEPT: usize = 16;
        type Kept = [Option<(i64, HostTensor)>; KEPT];
        thread_local! {
            static LAST: RefCell<Kept> = const { RefCell::new([const { None }; KEPT]) };
        }
        let Number::Int(x) = self else { return self.tensor(dtype) };
        LAST.with_borrow_mut(|last| match last.get_mut((x as usize).wrapping_add(dtype as usize) % KEPT)? {
            Some((kept, tensor)) if *kept == x && tensor.dtype() == dtype => Some(tensor.clone()),
            place => place.insert((x, self.tensor(dtype)?)).1.clone().into(),
        })
    }
}

/// `a op b`, at least one of which is a tensor.
pub(crate) fn binary<'py>(
    op: Binary,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    if let Some(made) = fast(py, op, a, b)? {
        return Ok(Bound::new(py, made)?.into_any());
    }
    let (binary, _) = ELSEWHERE.get(py).ok_or_else(not_set)?;
    binary.bind(py).call1((op.name(), a, b))
}

fn fast<'py>(
    py: Python<'py>,
    op: Binary,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Option<Tensor>> {
    if matches!(op, Binary::FloorDiv | Binary::Mod)
        && let Some(made) = floored_of(op, a, b)
    {
        return Ok(Some(made.into()));
    }
    let (first, second) = (a.cast_exact::<Tensor>().ok(), b.cast_exact::<Tensor>().ok());
    match (first, second) {
        (Some(a), Some(b)) => {
            let (x, y) = (a.get().host(), b.get().host());
            if x.dtype() != y.dtype()
                || op == Binary::MatMul && (x.shape().rank() != 2 || y.shape().rank() != 2)
            {
                return Ok(None);
            }
            let is_real = op == Binary::Div;
            let (Some(x), Some(y)) = (promoted(x, is_real), promoted(y, is_real)) else { return Ok(None) };
            let Some(row) = op.row(x.dtype()) else { return Ok(None) };
            execute(py, row, &[&x, &y], || smallvec![value_of(a, &x), value_of(b, &y)])
        }
        (Some(a), None) => {
            let x = a.get().host();
            let by_count = || shifted_by(op, x, b);
            let Some((row, x, y)) = with_number(op, x, b).or_else(by_count) else { return Ok(None) };
            execute(py, row, &[&x, &y], || smallvec![value_of(a, &x), tensor::value(y.clone())])
        }
        (None, Some(b)) => {
            let Some((row, y, x)) = with_number(op, b.get().host(), a) else { return Ok(None) };
            execute(py, row, &[&x, &y], || smallvec![tensor::value(x.clone()), value_of(b, &y)])
        }
        (None, None) => Ok(None),
    }
}

/// `//` or `%` of Tensors and numbers, if they are floats.
fn floored_of(op: Binary, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> Option<HostTensor> {
    fn host<'t>(x: &'t Bound<'_, PyAny>) -> Option<&'t HostTensor> {
        x.cast_exact::<Tensor>().ok().map(|x| x.get().host())
    }
    let dtype = host(a).or_else(|| host(b))?.dtype();
    if !is_float(dtype) {
        return None;
    }
    let operand = |x| host(x).cloned().or_else(|| Number::of(x)?.kept(dtype));
    floored(op, &operand(a)?, &operand(b)?, LONG)
}

/// A tensor as an operand: if it is of integers and the operator computes real numbers, then as f64.
fn promoted(x: &HostTensor, is_real: bool) -> Option<Cow<'_, HostTensor>> {
    static CAST: OnceLock<Op> = OnceLock::new();
    if !is_real || !is_int(x.dtype()) {
        return Some(Cow::Borrowed(x));
    }
    let cast = match CAST.get() {
        Some(cast) => cast,
        None => {
            let made = core().ok()?.op("Cast", OpAttrs::new().set("DstT", Type::from(DType::F64))).ok()?;
            CAST.get_or_init(|| made)
        }
    };
    cast.call_dense(&[x]).map(Cow::Owned)
}

/// The value of an operand: that of the tensor, unless it was promoted.
fn value_of(tensor: &Bound<'_, Tensor>, operand: &HostTensor) -> Value {
    match ptr::eq(tensor.get().host(), operand) {
        true => tensor.get().value().clone(),
        false => tensor::value(operand.clone()),
    }
}

/// The operator of a tensor and a number of Python's, and both as its operands.
fn with_number<'t>(
    op: Binary,
    x: &'t HostTensor,
    other: &Bound<'_, PyAny>,
) -> Option<(Row, Cow<'t, HostTensor>, HostTensor)> {
    let number = Number::of(other)?;
    let row_of = |dtype| op.row(dtype).filter(|_| op != Binary::MatMul);
    if let Number::Int(_) = number {
        // NumPy refuses an integer that the type does not have, also if it divides them as f64.
        let of_type = number.kept(x.dtype())?;
        if op != Binary::Div {
            return Some((row_of(x.dtype())?, Cow::Borrowed(x), of_type));
        }
    }
    let x = promoted(x, true)?;
    let (row, number) = (row_of(x.dtype())?, number.kept(x.dtype())?);
    Some((row, x, number))
}

/// The operator that shifts a tensor by an integer of Python's, and both as its operands.
fn shifted_by<'t>(
    op: Binary,
    x: &'t HostTensor,
    count: &Bound<'_, PyAny>,
) -> Option<(Row, Cow<'t, HostTensor>, HostTensor)> {
    let count = Number::of(count)?;
    Some((op.row_by(x.dtype(), count)?, Cow::Borrowed(x), count.kept(x.dtype())?))
}

/// `op x`, of a tensor.
pub(crate) fn unary<'py>(op: Unary, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    if let Ok(tensor) = x.cast_exact::<Tensor>() {
        let host = tensor.get().host();
        if let Some(row) = op.row(host.dtype())
            && let Some(made) = execute(py, row, &[host], || smallvec![tensor.get().value().clone()])?
        {
            return Ok(Bound::new(py, made)?.into_any());
        }
    }
    let (_, unary) = ELSEWHERE.get(py).ok_or_else(not_set)?;
    unary.bind(py).call1((op.name(), x))
}

/// One of TensorFlow's operators with attributes, prepared for many calls.
#[pyclass(frozen, module = "befrost._native")]
pub(crate) struct EagerOp(Op);

#[pymethods]
impl EagerOp {
    /// The operator of this name.
    #[new]
    #[pyo3(signature = (name, attrs = None))]
    fn new(name: &str, attrs: Option<&Bound<'_, PyDict>>) -> PyResult<EagerOp> {
        EagerOp::of(core()?, name, attrs)
    }

    /// Calls it. The results are there when it returns.
    fn call<'py>(
        &self,
        py: Python<'py>,
        operands: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut loans = Loans::default();
        let mut args: SmallVec<[TensorHandle; 4]> = SmallVec::new();
        for given in &operands {
            args.push(TensorHandle::new(operand(given, &mut loans)?));
        }
        let made = attended(py, nearest(None), |cx| {
            let (results, done) = self.0.begin_in(cx, &args)?;
            if results.is_empty() {
                done.wait()?;
            }
            results.iter().map(waited).collect::<Result<Vec<_>, Error>>()
        })?;
        let made = made.map_err(|error| failure::of(&error))?;
        made.into_iter().map(|datum| tensor::result(py, datum.into_value(), true)).collect()
    }
}

impl EagerOp {
    /// An operator of a core with attributes.
    pub(crate) fn of(core: &CoreRuntime, name: &str, attrs: Option<&Bound<'_, PyDict>>) -> PyResult<EagerOp> {
        let mut own = OpAttrs::new();
        for (name, value) in attributes(name, attrs)? {
            let known = attr_value(&value);
            let known = known.ok_or_else(|| failure::refused(format!("the eager core takes no '{name}'")))?;
            own.insert(&name, known);
        }
        core.op(name, own).map(EagerOp).map_err(|error| failure::of(&error))
    }
}

/// The final value of a handle, which is dense or of strings.
pub(crate) fn waited(handle: &TensorHandle) -> Result<Datum, Error> {
    let made = handle.wait();
    match handle.value().cloned().map(Datum::from) {
        Some(strings) if strings.strings().is_ok() => Ok(strings),
        _ => made.map(Datum::from),
    }
}

/// An attribute for the eager core; `None` for a kind that it does not take.
fn attr_value(value: &DefaultValue) -> Option<AttrValue> {
    Some(match value {
        DefaultValue::Bool(value) => AttrValue::from(*value),
        DefaultValue::Int(value) => AttrValue::from(*value),
        DefaultValue::Float(value) => AttrValue::Float(DType::F64, *value),
        DefaultValue::String(value) => AttrValue::from(value.as_str()),
        DefaultValue::Type(value) => AttrValue::from(*value),
        DefaultValue::Shape(dims) => AttrValue::of_shape(dims.as_deref())?,
        DefaultValue::List(values) => {
            let ints = values.iter().map(|value| match value {
                DefaultValue::Int(int) => Some(*int),
                _ => None,
            });
            let floats = values.iter().map(|value| match value {
                DefaultValue::Float(float) => Some(*float),
                _ => None,
            });
            match (values.is_empty(), ints.collect::<Option<Vec<_>>>(), floats.collect::<Option<Vec<_>>>()) {
                (false, Some(ints), _) => AttrValue::from(&ints[..]),
                (false, None, Some(floats)) => AttrValue::Floats(DType::F64, floats.into()),
                _ => AttrValue::List(values.iter().map(attr_value).collect::<Option<_>>()?),
            }
        }
    })
}
