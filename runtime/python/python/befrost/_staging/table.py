"""The table: function objects of NumPy's, Python's and ours, and what they build.

A handler gets the interpreter and the arguments of the call, and may take fewer than NumPy: what it does not take is
refused. Functions that are computed by NumPy when everything is known are marked by `@numpy_function`.
"""

from __future__ import annotations

import ast
import builtins
import math
from typing import Any, Callable

import numpy as np

from .. import _functions as functions
from . import arithmetic as a
from . import indexing
from .arithmetic import as_array, is_numeric, run_ufunc, shape_id, size_of, truth, weak_kind
from .errors import Refused
from .joins import ArrayLeaf
from .lists import growing, length
from .values import (
    KINDS, Array, DictObject, Fixed, Growing, ListObject, Sequence, Struct, Weak, describe, is_staged,
    kind_of_number, known, shape_text,
)

TABLE: dict[Any, Callable[..., Any]] = {}
METHODS: dict[str, Callable[..., Any]] = {}
_NONE = np._NoValue


def entry(*functions: Any) -> Callable[[Any], Any]:
    """Makes a handler that of these functions."""
    def add(handler: Any) -> Any:
        for function in functions:
            TABLE[function] = handler
        return handler
    return add


def numpy_function(*functions: Any, method: str | None = None) -> Callable[[Any], Any]:
    """Makes a handler that of functions of NumPy's, which compute what is known themselves."""
    def add(handler: Any) -> Any:
        first = functions[0]

        def run(interp: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_staged(args) and not is_staged(kwargs):
                return interp.outside_made(interp.execute(first, list(args), kwargs))
            kwargs = {key: value for key, value in kwargs.items() if value is not _NONE}
            return handler(interp, *args, **kwargs)

        for function in functions:
            TABLE[function] = run
        if method is not None:
            METHODS[method] = run
        return handler
    return add


# ---- helpers ----


def dtype_of(interp: Any, dtype: Any) -> Any:
    """A dtype argument."""
    if dtype is None:
        return None
    if is_staged(dtype):
        raise Refused("a dtype must be known when the function is compiled")
    try:
        return np.dtype(dtype)
    except TypeError as error:
        raise Refused(str(error)) from None


def ints_of(interp: Any, value: Any, what: str) -> tuple[int, ...] | None:
    """A static integer or tuple of them; None if it is staged."""
    if isinstance(value, (ListObject, tuple, list)):
        parts = interp.all_items(value) if not isinstance(value, list) else value
    elif isinstance(value, Array) and value.const is not None:
        parts = value.const.reshape(-1).tolist()
    else:
        parts = [value]
    out = []
    for part in parts:
        if isinstance(part, Array) and part.const is not None and part.shape == ():
            part = int(part.const)
        if isinstance(part, (Weak, Array)):
            return None
        if kind_of_number(part) not in ("int", "bool") and not isinstance(part, np.integer):
            raise Refused(f"{what} is {describe(part)}, not an integer")
        out.append(int(part))
    return tuple(out)


def shape_vector(interp: Any, value: Any) -> Any:
    """A shape, static or staged, as a vector of the graph."""
    static = ints_of(interp, value, "a size") if not isinstance(value, Array) or value.const is not None else None
    if static is not None:
        return interp.emit.constant(static, np.int64)
    if isinstance(value, Array) and value.ndim == 1:
        return interp.emit.id(value, np.int64)
    parts = interp.all_items(value) if isinstance(value, (tuple, ListObject)) else [value]
    return interp.emit.op("Pack", [interp.emit.id(part, np.int64) for part in parts], {"axis": 0})[0]


def axes_of(interp: Any, axis: Any, ndim: int) -> list[int]:
    """The axes of a reduction, not negative."""
    if axis is None:
        return list(range(ndim))
    axes = ints_of(interp, axis, "an axis")
    if axes is None:
        raise Refused("an axis must be known when the function is compiled")
    for one in axes:
        if not -ndim <= one < ndim:
            raise Refused(f"axis {one} is out of bounds for array of dimension {ndim}")
    return [one % ndim for one in axes]


def axis_of(interp: Any, axis: Any, ndim: int) -> int:
    return axes_of(interp, axis, ndim)[0]


def refuse_where(**kwargs: Any) -> None:
    for key, value in kwargs.items():
        if value is not None and value is not _NONE:
            raise Refused(f"the argument '{key}' cannot be compiled")


# ---- ufuncs ----


def _ufunc(interp: Any, ufunc: Any, *operands: Any, out: Any = None, where: Any = True, dtype: Any = None) -> Any:
    refuse_where(out=out)
    if where is not True:
        raise Refused("the argument 'where' cannot be compiled")
    parts = [value if is_numeric(value) else as_array(interp.emit, value) for value in operands]
    if len(parts) != ufunc.nin:
        raise Refused(f"'numpy.{ufunc.__name__}' takes {ufunc.nin} operands, got {len(parts)}")
    made = run_ufunc(interp.emit, ufunc, parts)
    if dtype is not None:
        return astype(interp, made, dtype)
    return made


TABLE["ufunc"] = _ufunc
for _function in [*a.UFUNCS, *a.SPECIAL, np.matmul]:
    TABLE[_function] = (lambda f: lambda interp, *args, **kwargs: _ufunc(interp, f, *args, **kwargs))(_function)


@entry(np.round, np.around)
def np_round(interp: Any, x: Any, decimals: Any = 0, out: Any = None) -> Any:
    refuse_where(out=out)
    array = as_array(interp.emit, x)
    if array.const is not None:
        return known(np.round(array.const, decimals))
    if array.dtype.kind in "iu" and decimals >= 0:
        return array
    if array.dtype == np.dtype(bool):
        array = astype(interp, array, np.float16)
    if decimals == 0:
        return interp.emit.one("Rint", [interp.emit.id(array)])
    scale = 10.0 ** abs(decimals)
    first, second = (np.multiply, np.true_divide) if decimals > 0 else (np.true_divide, np.multiply)
    made = run_ufunc(interp.emit, first, [array, scale])
    made = interp.emit.one("Rint", [interp.emit.id(made)])
    made = run_ufunc(interp.emit, second, [made, scale])
    return made if array.dtype.kind == "f" else astype(interp, made, array.dtype)


METHODS["round"] = np_round


@numpy_function(np.clip, method="clip")
def clip(interp: Any, x: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if low is not None:
        x = run_ufunc(interp.emit, np.maximum, [_numeric(interp, x), _numeric(interp, low)])
    if high is not None:
        x = run_ufunc(interp.emit, np.minimum, [_numeric(interp, x), _numeric(interp, high)])
    return x


def _numeric(interp: Any, value: Any) -> Any:
    return value if is_numeric(value) else as_array(interp.emit, value)


# ---- reductions ----


def reduction(interp: Any, name: str, x: Any, axis: Any, keepdims: Any, dtype: Any = None) -> Any:
    emit = interp.emit
    array = as_array(emit, x)
    axes = axes_of(interp, axis, array.ndim)
    id = emit.id(array, dtype)
    if keepdims is _NONE:
        keepdims = False
    made = emit.op(name, [id, emit.constant(np.array(axes, np.int32))], {"keep_dims": bool(keepdims)})
    return emit.array(made[0])


def _sum_dtype(dtype: Any) -> Any:
    if dtype.kind in "bi" and dtype.itemsize < 8:
        return np.dtype(np.int64)
    if dtype.kind == "u" and dtype.itemsize < 8:
        return np.dtype(np.uint64)
    return dtype


def _add_reduction(names: Any, method: str, op: str) -> None:
    @numpy_function(*names, method=method)
    def reduce(interp: Any, x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
               initial: Any = None) -> Any:
        refuse_where(out=out)
        array = as_array(interp.emit, x)
        dtype = dtype_of(interp, dtype) or _sum_dtype(array.dtype)
        made = reduction(interp, op, array, axis, keepdims, dtype)
        if initial is not None:
            made = run_ufunc(interp.emit, np.add if op == "Sum" else np.multiply, [made, initial])
        return made


_add_reduction((np.sum,), "sum", "Sum")
_add_reduction((np.prod,), "prod", "Prod")


def _add_extremum(names: Any, method: str, op: str, on_bool: str) -> None:
    @numpy_function(*names, method=method)
    def reduce(interp: Any, x: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        refuse_where(out=out)
        array = as_array(interp.emit, x)
        axes = axes_of(interp, axis, array.ndim)
        if any(array.shape[one] == 0 for one in axes):
            raise Refused("zero-size array to reduction operation which has no identity")
        return reduction(interp, on_bool if array.dtype == np.dtype(bool) else op, array, axis, keepdims)


_add_extremum((np.max, np.amax), "max", "Max", "Any")
_add_extremum((np.min, np.amin), "min", "Min", "All")


@numpy_function(np.mean, method="mean")
def mean(interp: Any, x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    refuse_where(out=out)
    array = as_array(interp.emit, x)
    dtype = dtype_of(interp, dtype) or (np.dtype(np.float64) if array.dtype.kind in "biu" else array.dtype)
    return reduction(interp, "Mean", array, axis, keepdims, dtype)


@numpy_function(np.average)
def average(interp: Any, x: Any, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return mean(interp, x, axis)
    product = run_ufunc(interp.emit, np.multiply, [as_array(interp.emit, x), as_array(interp.emit, weights)])
    call = interp.call
    return run_ufunc(interp.emit, np.true_divide, [
        call(np.sum, [product], {"axis": axis}), call(np.sum, [weights], {"axis": axis})])


@numpy_function(np.var, method="var")
def var(interp: Any, x: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: Any = False) -> Any:
    refuse_where(out=out)
    emit = interp.emit
    array = as_array(emit, x)
    dtype = dtype_of(interp, dtype) or (np.dtype(np.float64) if array.dtype.kind in "biu" else array.dtype)
    array = emit.array(emit.id(array, dtype))
    apart = run_ufunc(emit, np.subtract, [array, mean(interp, array, axis, keepdims=True)])
    if array.dtype.kind == "c":
        apart = run_ufunc(emit, np.absolute, [apart])
    square = run_ufunc(emit, np.square, [apart])
    if kind_of_number(ddof) and ddof == 0:
        return mean(interp, square, axis, keepdims=keepdims)
    n: Any = 1
    for one in axes_of(interp, axis, array.ndim):
        n = interp.operate(ast.Mult, n, size_of(emit, array, one))
    total = reduction(interp, "Sum", square, axis, keepdims)
    return run_ufunc(emit, np.true_divide, [total, interp.operate(ast.Sub, n, ddof)])


@numpy_function(np.std, method="std")
def std(interp: Any, x: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: Any = False) -> Any:
    return run_ufunc(interp.emit, np.sqrt, [var(interp, x, axis, dtype, out, ddof, keepdims)])


def _add_logical(function: Any, method: str, op: str) -> None:
    @numpy_function(function, method=method)
    def reduce(interp: Any, x: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        refuse_where(out=out)
        return reduction(interp, op, as_array(interp.emit, x), axis, keepdims, np.dtype(bool))


_add_logical(np.any, "any", "Any")
_add_logical(np.all, "all", "All")


@numpy_function(np.count_nonzero)
def count_nonzero(interp: Any, x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    flags = interp.emit.array(interp.emit.id(as_array(interp.emit, x), np.bool_))
    return reduction(interp, "Sum", flags, axis, keepdims, np.dtype(np.int64))


@numpy_function(np.ptp)
def ptp(interp: Any, x: Any, axis: Any = None) -> Any:
    return run_ufunc(interp.emit, np.subtract, [interp.call(np.max, [x], {"axis": axis}),
                                                interp.call(np.min, [x], {"axis": axis})])


def _add_arg(function: Any, method: str, op: str) -> None:
    @numpy_function(function, method=method)
    def reduce(interp: Any, x: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        refuse_where(out=out)
        emit = interp.emit
        array = as_array(emit, x)
        if array.dtype == np.dtype(bool):
            array = astype(interp, array, np.int8)
        if axis is None:
            array = ravel(interp, array)
            axis = 0
        at = axis_of(interp, axis, array.ndim)
        if array.shape[at] == 0:
            raise Refused("attempt to get argmax of an empty sequence" if op == "ArgMax"
                          else "attempt to get argmin of an empty sequence")
        made = emit.one(op, [emit.id(array), emit.constant(at, np.int32)], output_type="int64")
        return interp.call(np.expand_dims, [made, at], {}) if keepdims is True else made


_add_arg(np.argmax, "argmax", "ArgMax")
_add_arg(np.argmin, "argmin", "ArgMin")


def _add_cumulative(function: Any, method: str, op: str) -> None:
    @numpy_function(function, method=method)
    def scan(interp: Any, x: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        refuse_where(out=out)
        emit = interp.emit
        array = as_array(emit, x)
        if axis is None:
            array, axis = ravel(interp, array), 0
        dtype = dtype_of(interp, dtype) or _sum_dtype(array.dtype)
        at = emit.constant(axis_of(interp, axis, array.ndim), np.int32)
        return emit.one(op, [emit.id(array, dtype), at])


_add_cumulative(np.cumsum, "cumsum", "Cumsum")
_add_cumulative(np.cumprod, "cumprod", "Cumprod")


# ---- making ----


@numpy_function(np.zeros)
def zeros(interp: Any, shape: Any, dtype: Any = float) -> Any:
    return full(interp, shape, 0, dtype)


@numpy_function(np.empty)
def empty(interp: Any, shape: Any, dtype: Any = float) -> Any:
    return full(interp, shape, 0, dtype)


TABLE[np.empty] = lambda interp, shape, dtype=float: interp.call(np.zeros, [shape], {"dtype": dtype})


@numpy_function(np.ones)
def ones(interp: Any, shape: Any, dtype: Any = float) -> Any:
    return full(interp, shape, 1, dtype)


@numpy_function(np.full)
def full(interp: Any, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    emit = interp.emit
    dtype = dtype_of(interp, dtype)
    value = fill_value if is_numeric(fill_value) else as_array(emit, fill_value)
    dims = shape_vector(interp, shape)
    id = emit.id(value, dtype)
    name = "Fill" if not isinstance(value, Array) or value.shape == () else "BroadcastTo"
    operands = [dims, id] if name == "Fill" else [id, dims]
    return emit.array(emit.op(name, operands)[0])


def _add_like(function: Any, value: Any) -> None:
    @numpy_function(function)
    def like(interp: Any, x: Any, dtype: Any = None, shape: Any = None) -> Any:
        emit = interp.emit
        array = as_array(emit, x)
        dtype = dtype_of(interp, dtype) or array.dtype
        if shape is None and None not in array.shape:
            return known(np.full(array.shape, value, dtype))
        dims = shape_id(emit, array) if shape is None else shape_vector(interp, shape)
        return emit.array(emit.op("Fill", [dims, emit.constant(value, dtype)])[0])


_add_like(np.zeros_like, 0)
_add_like(np.ones_like, 1)
_add_like(np.empty_like, 0)


@numpy_function(np.full_like)
def full_like(interp: Any, x: Any, fill_value: Any, dtype: Any = None) -> Any:
    emit = interp.emit
    array = as_array(emit, x)
    id = emit.id(_numeric(interp, fill_value), dtype_of(interp, dtype) or array.dtype)
    return emit.array(emit.op("BroadcastTo", [id, shape_id(emit, array)])[0])


@numpy_function(np.arange)
def arange(interp: Any, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    emit = interp.emit
    if stop is None:
        start, stop = 0, start
    parts = [part if is_numeric(part) else as_array(emit, part) for part in (start, stop, step)]
    found = dtype_of(interp, dtype)
    if found is None:
        found = np.result_type(*[KINDS[weak_kind(p)] if weak_kind(p) else p.dtype for p in parts])  # type: ignore[index]
        if found.kind in "b":
            found = np.dtype(np.int64)
    return emit.array(emit.op("Range", [emit.id(part, found) for part in parts])[0])


@numpy_function(np.linspace)
def linspace(interp: Any, start: Any, stop: Any, num: Any = 50, endpoint: Any = True) -> Any:
    emit = interp.emit
    steps = interp.call(np.arange, [0, num], {})
    last = interp.operate(ast.Sub, num, 1) if endpoint else num
    width = interp.operate(ast.Div, interp.operate(ast.Sub, stop, start), last)
    steps = astype(interp, as_array(emit, steps), np.float64)
    return run_ufunc(emit, np.add, [_numeric(interp, start), run_ufunc(emit, np.multiply, [steps, _numeric(interp, width)])])


@numpy_function(np.eye, np.identity)
def eye(interp: Any, n: Any, m: Any = None, k: Any = 0, dtype: Any = float) -> Any:
    emit = interp.emit
    rows = interp.call(np.arange, [n], {})
    columns = interp.call(np.arange, [n if m is None else m], {})
    rows = interp.call(np.expand_dims, [rows, 1], {})
    equal = run_ufunc(emit, np.equal, [interp.operate(ast.Add, rows, k), columns])
    return astype(interp, equal, dtype)


@entry(np.array, np.asarray, np.ascontiguousarray, np.asanyarray)
def np_array(interp: Any, x: Any, dtype: Any = None, copy: Any = True, ndmin: Any = 0) -> Any:
    dtype = dtype_of(interp, dtype)
    if not is_staged(x):
        plain = interp.plain(x)
        try:
            made = np.array(plain, dtype)
        except Exception as error:
            raise Refused(f"{type(error).__name__}: {error}") from None
        if made.dtype.kind not in "biufc":
            raise Refused(f"an array of {made.dtype}")
        return known(made)
    array = as_array(interp.emit, x)
    if isinstance(x, ListObject) and isinstance(x.items, Growing) and not x.items.lists:
        return known(np.zeros(0, dtype))
    return Array(*_fields(astype(interp, array, dtype or array.dtype)))


TABLE[np.asarray] = TABLE[np.asanyarray] = lambda interp, x, dtype=None: (
    astype(interp, x, dtype, copy=False) if isinstance(x, Array) else np_array(interp, x, dtype))


def _fields(array: Array) -> tuple[Any, ...]:
    return array.dtype, array.shape, array.id, array.const


def astype(interp: Any, x: Any, dtype: Any, copy: Any = True, casting: Any = "unsafe") -> Array:
    """`x.astype(dtype)`."""
    array = as_array(interp.emit, x)
    dtype = dtype_of(interp, dtype) or array.dtype
    if array.const is not None:
        return known(array.const.astype(dtype))
    if array.dtype == dtype and not copy:
        return array
    if array.dtype.kind == "c" and dtype.kind != "c":
        array = interp.emit.one("Real", [interp.emit.id(array)], Tout="float32" if array.dtype.itemsize == 8 else "float64")
    id = interp.emit.id(array, dtype)
    return Array(dtype, array.shape, id)


METHODS["astype"] = astype


@entry("cast")
def cast(interp: Any, cls: Any, x: Any = 0) -> Any:
    """`np.float32(x)`."""
    return astype(interp, x, cls)


@entry(np.copy)
def copy(interp: Any, x: Any, order: Any = "K") -> Array:
    array = as_array(interp.emit, x)
    return Array(*_fields(array))


METHODS["copy"] = copy
METHODS["__copy__"] = copy


# ---- shapes ----


def reshaped(interp: Any, array: Array, shape: Any) -> Array:
    emit = interp.emit
    made = emit.array(emit.op("Reshape", [emit.id(array), shape_vector(interp, shape)])[0])
    return Array(made.dtype, made.shape, made.id, roots=array.roots, owned=array.owned)


@numpy_function(np.reshape)
def reshape(interp: Any, x: Any, shape: Any, order: Any = "C") -> Any:
    if order not in ("C", None):
        raise Refused("another order than 'C'")
    array = as_array(interp.emit, x)
    static = ints_of(interp, shape, "a size")
    if static is not None and None not in array.shape:
        n = math.prod(array.shape)  # type: ignore[arg-type]
        rest = math.prod(size for size in static if size != -1)
        if static.count(-1) > 1 or (n != rest if -1 not in static else rest == 0 or n % rest):
            raise Refused(f"cannot reshape array of size {n} into shape {shape_text(static)}")
    return reshaped(interp, array, shape)


def _reshape_method(interp: Any, x: Array, *shape: Any, order: Any = "C") -> Any:
    return interp.call(np.reshape, [x, shape[0] if len(shape) == 1 else tuple(shape)], {})


METHODS["reshape"] = _reshape_method


@numpy_function(np.ravel, method="ravel")
def ravel(interp: Any, x: Any, order: Any = "C") -> Any:
    return reshaped(interp, as_array(interp.emit, x), (-1,))


METHODS["flatten"] = lambda interp, x, order="C": copy(interp, interp.call(np.ravel, [x], {}))


@numpy_function(np.transpose)
def transpose(interp: Any, x: Any, axes: Any = None) -> Any:
    emit = interp.emit
    array = as_array(emit, x)
    order = list(range(array.ndim))[::-1] if axes is None else axes_of(interp, axes, array.ndim)
    if sorted(order) != list(range(array.ndim)):
        raise Refused("axes don't match array")
    if array.ndim < 2:
        return array
    made = emit.array(emit.op("Transpose", [emit.id(array), emit.constant(order, np.int32)])[0])
    return Array(made.dtype, made.shape, made.id, roots=array.roots, owned=array.owned)


METHODS["transpose"] = lambda interp, x, *axes: interp.call(
    np.transpose, [x, None if not axes or axes[0] is None else axes[0] if len(axes) == 1 else tuple(axes)], {})


@numpy_function(np.swapaxes, method="swapaxes")
def swapaxes(interp: Any, x: Any, axis1: Any, axis2: Any) -> Any:
    array = as_array(interp.emit, x)
    order = list(range(array.ndim))
    i, j = axis_of(interp, axis1, array.ndim), axis_of(interp, axis2, array.ndim)
    order[i], order[j] = order[j], order[i]
    return transpose(interp, array, tuple(order))


@numpy_function(np.moveaxis)
def moveaxis(interp: Any, x: Any, source: Any, destination: Any) -> Any:
    array = as_array(interp.emit, x)
    start, end = axes_of(interp, source, array.ndim), axes_of(interp, destination, array.ndim)
    order = [i for i in range(array.ndim) if i not in start]
    for to, at in sorted(zip(end, start)):
        order.insert(to, at)
    return transpose(interp, array, tuple(order))


@numpy_function(np.expand_dims)
def expand_dims(interp: Any, x: Any, axis: Any) -> Any:
    array = as_array(interp.emit, x)
    axes = ints_of(interp, axis, "an axis") or ()
    n = array.ndim + len(axes)
    places = axes_of(interp, tuple(axes), n)
    parts: list[Any] = [None if i in places else indexing.Slice() for i in range(n)]
    return indexing.get(interp.emit, array, tuple(parts), interp.as_index_array)


@numpy_function(np.squeeze, method="squeeze")
def squeeze(interp: Any, x: Any, axis: Any = None) -> Any:
    emit = interp.emit
    array = as_array(emit, x)
    if axis is None:
        if None in array.shape:
            raise Refused(f"squeeze of an array of shape {shape_text(array.shape)}: give the axis")
        axes = [i for i, size in enumerate(array.shape) if size == 1]
    else:
        axes = axes_of(interp, axis, array.ndim)
        if any(array.shape[i] not in (1, None) for i in axes):
            raise Refused("cannot select an axis to squeeze out which has size not equal to one")
    if not axes:
        return array
    made = emit.one("Squeeze", [emit.id(array)], squeeze_dims=axes)
    return Array(made.dtype, made.shape, made.id, roots=array.roots, owned=array.owned)


def _parts(interp: Any, arrays: Any) -> list[Array]:
    if isinstance(arrays, Array):
        return [as_array(interp.emit, part) for part in interp.all_items(arrays)]
    return [as_array(interp.emit, part) for part in interp.all_items(arrays)]


@numpy_function(np.concatenate)
def concatenate(interp: Any, arrays: Any, axis: Any = 0, dtype: Any = None) -> Any:
    emit = interp.emit
    if isinstance(arrays, ListObject) and isinstance(arrays.items, Growing):
        return _concat_list(interp, arrays.items, axis)
    parts = _parts(interp, arrays)
    if axis is None:
        parts, axis = [ravel(interp, part) if part.const is None else known(part.const.ravel()) for part in parts], 0
    found = dtype_of(interp, dtype) or np.result_type(*[part.dtype for part in parts])
    at = axis_of(interp, axis, parts[0].ndim)
    if parts[0].ndim == 0:
        raise Refused("zero-dimensional arrays cannot be concatenated")
    for part in parts[1:]:
        if part.ndim != parts[0].ndim or any(
                x is not None and y is not None and x != y
                for i, (x, y) in enumerate(zip(part.shape, parts[0].shape)) if i != at):
            raise Refused(f"arrays of shapes {shape_text(parts[0].shape)} and {shape_text(part.shape)} cannot be "
                          f"concatenated along axis {at}")
    if len(parts) == 1:
        return Array(*_fields(parts[0]))
    return emit.one("ConcatV2", [*(emit.id(part, found) for part in parts), emit.constant(at, np.int32)])


def _concat_list(interp: Any, items: Growing, axis: Any) -> Any:
    emit = interp.emit
    leaf = items.item
    if not isinstance(leaf, ArrayLeaf) or not leaf.shape or axis != 0:
        raise Refused("concatenation of the items of a list whose length is only known when it runs")
    shape = emit.constant([-1, *(-1 if size is None else size for size in leaf.shape[1:])], np.int32)
    lead = emit.constant(np.array([], np.int64))
    made = emit.op("TensorListConcatV2", [items.lists[0], shape, lead],
                   {"element_dtype": leaf.dtype.name, "shape_dtype": "int32"})
    return emit.array(made[0])


@numpy_function(np.stack)
def stack(interp: Any, arrays: Any, axis: Any = 0) -> Any:
    emit = interp.emit
    if isinstance(arrays, ListObject) and isinstance(arrays.items, Growing):
        made = a.stacked_list(emit, arrays.items)
        at = axis_of(interp, axis, made.ndim)
        return made if at == 0 else moveaxis(interp, made, 0, at)
    parts = _parts(interp, arrays)
    if not parts:
        raise Refused("need at least one array to stack")
    for part in parts[1:]:
        if part.ndim != parts[0].ndim or any(x is not None and y is not None and x != y
                                             for x, y in zip(part.shape, parts[0].shape)):
            raise Refused(f"all input arrays must have the same shape: {shape_text(parts[0].shape)} and "
                          f"{shape_text(part.shape)}")
    return a.stacked(emit, parts, axis_of(interp, axis, parts[0].ndim + 1))


def _at_least(interp: Any, array: Array, n: int) -> Array:
    while array.ndim < n:
        array = interp.call(np.expand_dims, [array, 0 if n == 2 or array.ndim == 0 else 0], {})
    return array


@numpy_function(np.vstack)
def vstack(interp: Any, arrays: Any) -> Any:
    return interp.call(np.concatenate, [tuple(_at_least(interp, part, 2) for part in _parts(interp, arrays)), 0], {})


@numpy_function(np.hstack)
def hstack(interp: Any, arrays: Any) -> Any:
    parts = [_at_least(interp, part, 1) for part in _parts(interp, arrays)]
    return interp.call(np.concatenate, [tuple(parts), 0 if parts[0].ndim == 1 else 1], {})


@numpy_function(np.column_stack)
def column_stack(interp: Any, arrays: Any) -> Any:
    parts = [interp.call(np.expand_dims, [part, 1], {}) if part.ndim == 1 else part for part in _parts(interp, arrays)]
    return interp.call(np.concatenate, [tuple(parts), 1], {})


@numpy_function(np.atleast_1d)
def atleast_1d(interp: Any, x: Any) -> Any:
    return _at_least(interp, as_array(interp.emit, x), 1)


@numpy_function(np.atleast_2d)
def atleast_2d(interp: Any, x: Any) -> Any:
    return _at_least(interp, as_array(interp.emit, x), 2)


@numpy_function(np.split, np.array_split)
def split(interp: Any, x: Any, sections: Any, axis: Any = 0) -> Any:
    array = as_array(interp.emit, x)
    at = axis_of(interp, axis, array.ndim)
    n = array.shape[at]
    if n is None:
        raise Refused("split along an axis whose size is only known when it runs")
    if kind_of_number(sections):
        if sections <= 0 or n % sections:
            raise Refused("array split does not result in an equal division")
        bounds = [i * (n // sections) for i in range(1, sections)]
    else:
        bounds = list(ints_of(interp, sections, "a bound") or ())
    out = []
    for low, high in zip([0, *bounds], [*bounds, n]):
        index = (indexing.Slice(),) * at + (indexing.Slice(low, high),)
        out.append(indexing.get(interp.emit, array, index, interp.as_index_array))
    return ListObject(interp.state, out)


@numpy_function(np.broadcast_to)
def broadcast_to(interp: Any, x: Any, shape: Any) -> Any:
    emit = interp.emit
    return emit.array(emit.op("BroadcastTo", [emit.id(as_array(emit, x)), shape_vector(interp, shape)])[0])


@numpy_function(np.tile)
def tile(interp: Any, x: Any, reps: Any) -> Any:
    emit = interp.emit
    array = as_array(emit, x)
    times = interp.all_items(reps) if isinstance(reps, (tuple, ListObject)) else [reps]
    while array.ndim < len(times):
        array = interp.call(np.expand_dims, [array, 0], {})
    times = [1] * (array.ndim - len(times)) + times
    return emit.array(emit.op("Tile", [emit.id(array), shape_vector(interp, tuple(times))])[0])


@numpy_function(np.repeat, method="repeat")
def repeat(interp: Any, x: Any, repeats: Any, axis: Any = None) -> Any:
    array = as_array(interp.emit, x)
    if axis is None:
        array, axis = ravel(interp, array) if array.const is None else known(array.const.ravel()), 0
    at = axis_of(interp, axis, array.ndim)
    if isinstance(repeats, (ListObject, tuple)) or isinstance(repeats, Array) and repeats.ndim:
        raise Refused("repeat with different counts")
    n = size_of(interp.emit, array, at)
    index = interp.call(np.arange, [interp.operate(ast.Mult, n, repeats)], {})
    index = run_ufunc(interp.emit, np.floor_divide, [_numeric(interp, index), repeats])
    return interp.call(np.take, [array, index, at], {})


@numpy_function(np.take, method="take")
def take(interp: Any, x: Any, indices: Any, axis: Any = None) -> Any:
    array = as_array(interp.emit, x)
    if axis is None:
        array, axis = interp.call(np.ravel, [array], {}), 0
    at = axis_of(interp, axis, array.ndim)
    parts = (indexing.Slice(),) * at + (indices if is_numeric(indices) else as_array(interp.emit, indices),)
    return indexing.get(interp.emit, array, parts, interp.as_index_array)


@numpy_function(np.flip)
def flip(interp: Any, x: Any, axis: Any = None) -> Any:
    array = as_array(interp.emit, x)
    axes = axes_of(interp, axis, array.ndim)
    parts = tuple(indexing.Slice(None, None, -1) if i in axes else indexing.Slice() for i in range(array.ndim))
    return indexing.get(interp.emit, array, parts, interp.as_index_array)


@numpy_function(np.roll)
def roll(interp: Any, x: Any, shift: Any, axis: Any = None) -> Any:
    emit = interp.emit
    array = as_array(emit, x)
    if axis is None:
        flat = ravel(interp, array)
        made = emit.one("Roll", [emit.id(flat), emit.id(shift, np.int64), emit.constant(0, np.int32)])
        return emit.array(emit.op("Reshape", [emit.id(made), shape_id(emit, array)])[0])
    at = emit.constant(axis_of(interp, axis, array.ndim), np.int32)
    return emit.one("Roll", [emit.id(array), emit.id(shift, np.int64), at])


@numpy_function(np.pad)
def pad(interp: Any, x: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:
    emit = interp.emit
    array = as_array(emit, x)
    widths = np.broadcast_to(np.array(interp.plain(pad_width)), (array.ndim, 2)).astype(np.int64)
    sizes = emit.constant(widths)
    if mode == "constant":
        return emit.array(emit.op("PadV2", [emit.id(array), sizes, emit.id(constant_values, array.dtype)])[0])
    words = {"reflect": "REFLECT", "symmetric": "SYMMETRIC"}
    if mode not in words:
        raise Refused(f"pad with mode '{mode}'")
    return emit.one("MirrorPad", [emit.id(array), sizes], mode=words[mode])


# ---- choosing, sorting ----


@numpy_function(np.where)
def where(interp: Any, condition: Any, x: Any = _NONE, y: Any = _NONE) -> Any:
    if x is _NONE:
        return interp.call(np.nonzero, [condition], {})
    emit = interp.emit
    return a.select(emit, _numeric(interp, condition), _numeric(interp, x), _numeric(interp, y))


@numpy_function(np.nonzero, method="nonzero")
def nonzero(interp: Any, x: Any) -> Any:
    array = as_array(interp.emit, x)
    if array.ndim == 0:
        raise Refused("nonzero of a 0-d array")
    return tuple(indexing._indices_of_mask(interp.emit, array))


@numpy_function(np.flatnonzero)
def flatnonzero(interp: Any, x: Any) -> Any:
    return nonzero(interp, ravel(interp, x))[0]


@numpy_function(np.argwhere)
def argwhere(interp: Any, x: Any) -> Any:
    return interp.emit.one("Where", [interp.emit.id(as_array(interp.emit, x))])


def _sorted(interp: Any, array: Array, axis: Any) -> tuple[Array, Array, int]:
    """An array sorted along an axis, and the indices, with the axis last."""
    emit = interp.emit
    at = axis_of(interp, axis, array.ndim)
    moved = array if at == array.ndim - 1 else swapaxes(interp, array, at, -1)
    n = size_of(emit, moved, array.ndim - 1)
    k = emit.id(n, np.int32)
    source = moved
    if moved.dtype == np.dtype(bool):
        source = astype(interp, moved, np.int8)
    # TopK is stable and descends: what is reversed twice ascends, equal ones in their order.
    backwards = indexing.get(emit, source, (Ellipsis, indexing.Slice(None, None, -1)), interp.as_index_array)
    values, indices = emit.op("TopKV2", [emit.id(backwards), k])
    index = emit.array(indices)
    last = interp.operate(ast.Sub, n, 1)
    index = run_ufunc(emit, np.subtract, [last, emit.array(emit.id(index, np.int64))])
    flipped = (Ellipsis, indexing.Slice(None, None, -1))
    ordered = indexing.get(emit, emit.array(values), flipped, interp.as_index_array)
    index = indexing.get(emit, index, flipped, interp.as_index_array)
    return astype(interp, ordered, array.dtype), index, at


@numpy_function(np.sort)
def sort(interp: Any, x: Any, axis: Any = -1, kind: Any = None) -> Any:
    array = as_array(interp.emit, x)
    if axis is None:
        array, axis = ravel(interp, array), 0
    made, _, at = _sorted(interp, array, axis)
    return made if at == array.ndim - 1 else swapaxes(interp, made, at, -1)


@numpy_function(np.argsort, method="argsort")
def argsort(interp: Any, x: Any, axis: Any = -1, kind: Any = None, stable: Any = None) -> Any:
    array = as_array(interp.emit, x)
    if axis is None:
        array, axis = ravel(interp, array), 0
    _, made, at = _sorted(interp, array, axis)
    return made if at == array.ndim - 1 else swapaxes(interp, made, at, -1)


@numpy_function(np.median)
def median(interp: Any, x: Any, axis: Any = None) -> Any:
    array = as_array(interp.emit, x)
    if axis is None:
        array, axis = ravel(interp, array), 0
    made, _, at = _sorted(interp, array, axis)
    n = size_of(interp.emit, made, made.ndim - 1)
    low = interp.operate(ast.FloorDiv, interp.operate(ast.Sub, n, 1), 2)
    high = interp.operate(ast.FloorDiv, n, 2)
    pair = [interp.item(made, (Ellipsis, i)) for i in (low, high)]
    return run_ufunc(interp.emit, np.true_divide, [run_ufunc(interp.emit, np.add, pair), 2])


@numpy_function(np.diff)
def diff(interp: Any, x: Any, n: Any = 1, axis: Any = -1) -> Any:
    array = as_array(interp.emit, x)
    at = axis_of(interp, axis, array.ndim)
    for _ in range(n):
        lead = (indexing.Slice(),) * at
        later = indexing.get(interp.emit, array, (*lead, indexing.Slice(1)), interp.as_index_array)
        earlier = indexing.get(interp.emit, array, (*lead, indexing.Slice(None, -1)), interp.as_index_array)
        ufunc = np.not_equal if array.dtype == np.dtype(bool) else np.subtract
        array = run_ufunc(interp.emit, ufunc, [later, earlier])
    return array


# ---- products ----


@numpy_function(np.dot, method="dot")
def dot(interp: Any, x: Any, y: Any) -> Any:
    p, q = as_array(interp.emit, x), as_array(interp.emit, y)
    if p.ndim == 0 or q.ndim == 0:
        return run_ufunc(interp.emit, np.multiply, [p, q])
    if q.ndim <= 2:
        return a.matmul(interp.emit, p, q)
    return tensordot(interp, p, q, ((p.ndim - 1,), (q.ndim - 2,)))


@numpy_function(np.vdot, np.inner)
def inner(interp: Any, x: Any, y: Any) -> Any:
    p, q = as_array(interp.emit, x), as_array(interp.emit, y)
    if p.ndim == 0 or q.ndim == 0:
        return run_ufunc(interp.emit, np.multiply, [p, q])
    return tensordot(interp, p, q, ((p.ndim - 1,), (q.ndim - 1,)))


@numpy_function(np.outer)
def outer(interp: Any, x: Any, y: Any) -> Any:
    p, q = (interp.call(np.ravel, [as_array(interp.emit, v)], {}) for v in (x, y))
    return run_ufunc(interp.emit, np.multiply, [interp.call(np.expand_dims, [p, 1], {}), q])


@numpy_function(np.tensordot)
def tensordot(interp: Any, x: Any, y: Any, axes: Any = 2) -> Any:
    p, q = as_array(interp.emit, x), as_array(interp.emit, y)
    if kind_of_number(axes):
        first, second = list(range(p.ndim - axes, p.ndim)), list(range(axes))
    else:
        pair = interp.all_items(axes)
        first, second = axes_of(interp, pair[0], p.ndim), axes_of(interp, pair[1], q.ndim)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    left = list(letters[:p.ndim])
    right = list(letters[p.ndim:p.ndim + q.ndim])
    for i, j in zip(first, second):
        right[j] = left[i]
    out = [c for i, c in enumerate(left) if i not in first] + [c for j, c in enumerate(right) if j not in second]
    return einsum(interp, f"{''.join(left)},{''.join(right)}->{''.join(out)}", p, q)


@numpy_function(np.einsum)
def einsum(interp: Any, subscripts: Any, *operands: Any) -> Any:
    emit = interp.emit
    parts = [as_array(emit, part) for part in operands]
    dtype = np.result_type(*[part.dtype for part in parts])
    equation = subscripts.replace(" ", "")
    if "->" not in equation:
        counts = {c: equation.count(c) for c in equation if c.isalpha()}
        equation += "->" + ("..." if "..." in equation else "") + "".join(sorted(c for c, n in counts.items() if n == 1))
    return emit.one("Einsum", [emit.id(part, dtype) for part in parts], equation=equation)


@numpy_function(np.trace, method="trace")
def trace(interp: Any, x: Any) -> Any:
    array = as_array(interp.emit, x)
    if array.ndim != 2:
        raise Refused("trace of another array than a matrix")
    return interp.call(np.sum, [interp.call(np.diagonal, [array], {})], {})


@numpy_function(np.diagonal, method="diagonal")
def diagonal(interp: Any, x: Any) -> Any:
    array = as_array(interp.emit, x)
    if array.ndim != 2:
        raise Refused("diagonal of another array than a matrix")
    return interp.emit.one("MatrixDiagPart", [interp.emit.id(array)])


@numpy_function(np.diag)
def diag(interp: Any, x: Any) -> Any:
    array = as_array(interp.emit, x)
    return interp.emit.one("MatrixDiag" if array.ndim == 1 else "MatrixDiagPart", [interp.emit.id(array)])


def _band(interp: Any, x: Any, low: int, high: int) -> Any:
    emit = interp.emit
    array = as_array(emit, x)
    return emit.one("MatrixBandPart", [emit.id(array), emit.constant(low, np.int64), emit.constant(high, np.int64)])


@numpy_function(np.tril)
def tril(interp: Any, x: Any) -> Any:
    return _band(interp, x, -1, 0)


@numpy_function(np.triu)
def triu(interp: Any, x: Any) -> Any:
    return _band(interp, x, 0, -1)


@numpy_function(np.linalg.norm)
def norm(interp: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    array = as_array(interp.emit, x)
    if array.dtype.kind in "biu":
        array = astype(interp, array, np.float64)
    magnitude = run_ufunc(interp.emit, np.absolute, [array])
    if ord == 1 and (array.ndim == 1 or kind_of_number(axis)):
        return interp.call(np.sum, [magnitude], {"axis": axis, "keepdims": keepdims})
    if ord not in (None, 2, "fro") or ord == 2 and array.ndim != 1 and not kind_of_number(axis):
        raise Refused(f"norm with ord={ord!r}")
    square = interp.call(np.sum, [run_ufunc(interp.emit, np.square, [magnitude])], {"axis": axis, "keepdims": keepdims})
    return run_ufunc(interp.emit, np.sqrt, [square])


def _add_linear(function: Any, op: str) -> None:
    @numpy_function(function)
    def linear(interp: Any, x: Any) -> Any:
        array = as_array(interp.emit, x)
        if array.dtype.kind in "biu":
            array = astype(interp, array, np.float64)
        return interp.emit.one(op, [interp.emit.id(array)])


_add_linear(np.linalg.inv, "MatrixInverse")
_add_linear(np.linalg.det, "MatrixDeterminant")
_add_linear(np.linalg.cholesky, "Cholesky")


@numpy_function(np.linalg.solve)
def solve(interp: Any, x: Any, y: Any) -> Any:
    emit = interp.emit
    p, q = as_array(emit, x), as_array(emit, y)
    dtype = np.result_type(p.dtype, q.dtype)
    dtype = np.dtype(np.float64) if dtype.kind in "biu" else dtype
    right = q if q.ndim > 1 else interp.call(np.expand_dims, [q, 1], {})
    made = emit.one("MatrixSolve", [emit.id(p, dtype), emit.id(right, dtype)])
    return made if q.ndim > 1 else interp.call(np.squeeze, [made, 1], {})


@numpy_function(np.real)
def real(interp: Any, x: Any) -> Any:
    array = as_array(interp.emit, x)
    if array.dtype.kind != "c":
        return array
    return interp.emit.one("Real", [interp.emit.id(array)], Tout="float32" if array.dtype.itemsize == 8 else "float64")


@numpy_function(np.imag)
def imag(interp: Any, x: Any) -> Any:
    array = as_array(interp.emit, x)
    if array.dtype.kind != "c":
        return interp.call(np.zeros_like, [array], {})
    return interp.emit.one("Imag", [interp.emit.id(array)], Tout="float32" if array.dtype.itemsize == 8 else "float64")


@numpy_function(np.isclose)
def isclose(interp: Any, x: Any, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    emit = interp.emit
    p, q = _numeric(interp, x), _numeric(interp, y)
    apart = run_ufunc(emit, np.absolute, [run_ufunc(emit, np.subtract, [p, q])])
    allowed = run_ufunc(emit, np.add, [atol, run_ufunc(emit, np.multiply, [rtol, run_ufunc(emit, np.absolute, [q])])])
    near = run_ufunc(emit, np.less_equal, [apart, allowed])
    return run_ufunc(emit, np.logical_or, [near, run_ufunc(emit, np.equal, [p, q])])


@numpy_function(np.allclose)
def allclose(interp: Any, x: Any, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    return interp.call(np.all, [isclose(interp, x, y, rtol, atol)], {})


@numpy_function(np.array_equal)
def array_equal(interp: Any, x: Any, y: Any) -> Any:
    p, q = as_array(interp.emit, x), as_array(interp.emit, y)
    if p.ndim != q.ndim or any(m is not None and n is not None and m != n for m, n in zip(p.shape, q.shape)):
        return False
    return interp.call(np.all, [run_ufunc(interp.emit, np.equal, [p, q])], {})


@numpy_function(np.shape)
def np_shape(interp: Any, x: Any) -> Any:
    return interp.array_attribute(as_array(interp.emit, x), "shape")


@numpy_function(np.size)
def np_size(interp: Any, x: Any) -> Any:
    return interp.array_attribute(as_array(interp.emit, x), "size")


@numpy_function(np.ndim)
def np_ndim(interp: Any, x: Any) -> Any:
    return as_array(interp.emit, x).ndim


@entry("list_index")
def list_index(interp: Any, items: Any, value: Any) -> Any:
    raise Refused("the method 'index' of a list whose length is only known when it runs")


@entry("list_count")
def list_count(interp: Any, items: Any, value: Any) -> Any:
    equal = run_ufunc(interp.emit, np.equal, [as_array(interp.emit, items), value])
    return Weak("int", interp.emit.id(reduction(interp, "Sum", equal, None, False, np.dtype(np.int64))))


METHODS["item"] = lambda interp, x, *index: _item(interp, x, *index)
METHODS["tolist"] = lambda interp, x: _tolist(interp, x)
METHODS["fill"] = lambda interp, x, value: _refuse("the method 'fill' changes an array: use x[...] = value")
METHODS["sort"] = lambda interp, x, *args, **kwargs: _refuse("the method 'sort' changes an array: use np.sort")
METHODS["conj"] = METHODS["conjugate"] = lambda interp, x: run_ufunc(interp.emit, np.conjugate, [x])


def _refuse(why: str) -> Any:
    raise Refused(why)


def _item(interp: Any, x: Array, *index: Any) -> Any:
    if index:
        x = interp.item(x, index[0] if len(index) == 1 else tuple(index))
    if x.const is not None:
        return x.const.item()
    kind = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}[x.dtype.kind]
    id = interp.emit.id(x, KINDS[kind])
    if x.shape != ():
        id = interp.emit.op("Reshape", [id, interp.emit.constant(np.array([], np.int32))])[0]
    return Weak(kind, id)


def _tolist(interp: Any, x: Array) -> Any:
    if x.ndim == 0:
        return _item(interp, x)
    return ListObject(interp.state, [_tolist(interp, part) for part in interp.all_items(x)])


# ---- Python's ----


@entry(builtins.len)
def python_len(interp: Any, x: Any) -> Any:
    if isinstance(x, Array):
        if x.ndim == 0:
            raise Refused("len() of unsized object")
        return size_of(interp.emit, x, 0)
    if isinstance(x, ListObject):
        return len(x.items.items) if isinstance(x.items, Fixed) else length(interp.emit, x.items)
    if isinstance(x, DictObject):
        return len(x.items)
    if isinstance(x, Sequence):
        return x.length
    if isinstance(x, Struct) and hasattr(x.cls, "__len__"):
        return interp.call(interp.attribute(x, "__len__"), [], {})
    if isinstance(x, Weak) or kind_of_number(x):
        raise Refused(f"object of type '{weak_kind(x)}' has no len()")
    try:
        return len(x)
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}") from None


@entry(builtins.range)
def python_range(interp: Any, *args: Any) -> Any:
    if len(args) == 1:
        return interp.range_sequence(0, args[0], 1)
    if len(args) == 2:
        return interp.range_sequence(args[0], args[1], 1)
    if len(args) == 3:
        return interp.range_sequence(*args)
    raise Refused("range takes one to three arguments")


@entry(functions.range)
def staged_range(interp: Any, *args: Any) -> Any:
    made = python_range(interp, *args)
    made.is_staged = True
    return made


@entry(builtins.enumerate)
def python_enumerate(interp: Any, items: Any, start: Any = 0) -> Any:
    inner = interp.sequence(items)
    return Sequence(inner.length, lambda i: (interp.operate(ast.Add, i, start), inner.get(i)),
                    is_staged=inner.is_staged, can_stage=inner.can_stage, what="enumerate")


@entry(builtins.zip)
def python_zip(interp: Any, *items: Any, strict: Any = False) -> Any:
    parts = [interp.sequence(part) for part in items]
    n: Any = 0 if not parts else parts[0].length
    for part in parts[1:]:
        if kind_of_number(n) and kind_of_number(part.length):
            n = min(n, part.length)
        else:
            n = Weak("int", interp.emit.op(
                "Minimum", [interp.emit.id(n, np.int64), interp.emit.id(part.length, np.int64)])[0])
    staged = any(part.is_staged for part in parts)
    can = all(part.is_staged or part.can_stage for part in parts)
    if staged and not can and kind_of_number(n):
        staged = False
    return Sequence(n, lambda i: tuple(part.get(i) for part in parts), is_staged=staged, can_stage=can, what="zip")


@entry(builtins.reversed)
def python_reversed(interp: Any, items: Any) -> Any:
    inner = interp.sequence(items)
    last = interp.operate(ast.Sub, inner.length, 1)
    return Sequence(inner.length, lambda i: inner.get(interp.operate(ast.Sub, last, i)), is_staged=inner.is_staged,
                    can_stage=inner.can_stage, what="reversed")


@entry(builtins.map)
def python_map(interp: Any, function: Any, *items: Any) -> Any:
    inner = python_zip(interp, *items)
    return Sequence(inner.length, lambda i: interp.call(function, list(inner.get(i)), {}), is_staged=inner.is_staged,
                    can_stage=inner.can_stage, what="map")


@entry(builtins.filter)
def python_filter(interp: Any, function: Any, items: Any) -> Any:
    made = ListObject(interp.state)

    def body(part: Any) -> None:
        found = truth(interp.emit, part if function is None else interp.call(function, [part], {}))
        if found is True:
            interp.append(made, part)
        elif found is not False:
            interp.choose(found, lambda: interp.append(made, part), lambda: None)

    interp.for_each(interp.node, interp.sequence(items), body, [])
    return made


@entry(builtins.list)
def python_list(interp: Any, items: Any = ()) -> Any:
    if isinstance(items, ListObject):
        return ListObject(interp.state, items.items)
    made = ListObject(interp.state)
    sequence = interp.sequence(items)
    if not sequence.is_staged or isinstance(items, Array) and isinstance(sequence.length, int):
        return ListObject(interp.state, interp.all_items(items))
    interp.for_each(interp.node, sequence, lambda part: interp.append(made, part), [])
    return made


@entry(builtins.tuple)
def python_tuple(interp: Any, items: Any = ()) -> Any:
    return tuple(interp.all_items(items))


@entry(builtins.dict)
def python_dict(interp: Any, items: Any = None, **kwargs: Any) -> Any:
    made: dict[Any, Any] = {}
    if isinstance(items, DictObject):
        made.update(items.items)
    elif items is not None:
        for pair in interp.all_items(items):
            key, value = interp.all_items(pair)
            made[interp.static_key(key)] = value
    made.update(kwargs)
    return DictObject(interp.state, made)


@entry(builtins.set, builtins.frozenset)
def python_set(interp: Any, items: Any = ()) -> Any:
    parts = interp.all_items(items)
    if is_staged(parts):
        raise Refused("a set of values that are only known when it runs")
    return frozenset(interp.plain(part) for part in parts)


@entry(builtins.sum)
def python_sum(interp: Any, items: Any, start: Any = 0) -> Any:
    if isinstance(items, ListObject) and isinstance(items.items, Growing) and items.items.lists \
            and isinstance(items.items.item, ArrayLeaf) or isinstance(items, Array) and items.const is None:
        array = as_array(interp.emit, items)
        if array.ndim == 0:
            raise Refused("iteration over a 0-d array")
        if array.dtype != np.dtype(bool):
            total = reduction(interp, "Sum", array, 0, False)
            return total if kind_of_number(start) == "int" and start == 0 else interp.operate(ast.Add, start, total)
    holder = ListObject(interp.state, [start])

    def add(part: Any) -> None:
        interp.state.write(holder, "items", Fixed((interp.operate(ast.Add, interp.all_items(holder)[0], part),)))

    interp.for_each(interp.node, interp.sequence(items), add, [])
    return interp.all_items(holder)[0]


def _extreme(interp: Any, args: tuple[Any, ...], key: Any, default: Any, is_max: bool) -> Any:
    if len(args) == 1:
        items = args[0]
        if isinstance(items, Array) and items.const is None and key is None and items.ndim == 1:
            return interp.call(np.max if is_max else np.min, [items], {})
        if isinstance(items, ListObject) and isinstance(items.items, Growing) and key is None:
            stacked = as_array(interp.emit, items)
            made = interp.call(np.max if is_max else np.min, [stacked], {})
            return made if isinstance(items.items.item, ArrayLeaf) else Weak(items.items.item.kind, made.id)
        parts = interp.all_items(items)
    else:
        parts = list(args)
    if not parts:
        if default is not _NONE:
            return default
        raise Refused("max() or min() of an empty sequence")
    if not is_staged(parts) and key is None:
        plain = [interp.plain(part) for part in parts]
        try:
            return interp.outside((max if is_max else min)(plain))
        except Exception as error:
            raise Refused(f"{type(error).__name__}: {error}") from None
    best = parts[0]
    best_key = best if key is None else interp.call(key, [best], {})
    for part in parts[1:]:
        part_key = part if key is None else interp.call(key, [part], {})
        better = truth(interp.emit, a.compare(interp.emit, ast.Gt if is_max else ast.Lt, part_key, best_key))
        if isinstance(better, bool):
            best, best_key = (part, part_key) if better else (best, best_key)
            continue
        now, now_key = best, best_key
        best = interp.choose(better, lambda: part, lambda: now)
        best_key = best if key is None else interp.choose(better, lambda: part_key, lambda: now_key)
    return best


@entry(builtins.max)
def python_max(interp: Any, *args: Any, key: Any = None, default: Any = _NONE) -> Any:
    return _extreme(interp, args, key, default, True)


@entry(builtins.min)
def python_min(interp: Any, *args: Any, key: Any = None, default: Any = _NONE) -> Any:
    return _extreme(interp, args, key, default, False)


@entry(builtins.abs)
def python_abs(interp: Any, x: Any) -> Any:
    if isinstance(x, Weak):
        kind = {"bool": "int", "complex": "float"}.get(x.kind, x.kind)
        if x.kind == "complex":
            return Weak("float", interp.emit.op("ComplexAbs", [x.id], {"Tout": "float64"})[0])
        return Weak(kind, interp.emit.op("Abs", [interp.emit.id(x, KINDS[kind])])[0])
    if isinstance(x, Array):
        return run_ufunc(interp.emit, np.absolute, [x])
    return interp.call_static(abs, [x], {})


@entry(builtins.divmod)
def python_divmod(interp: Any, x: Any, y: Any) -> Any:
    return interp.operate(ast.FloorDiv, x, y), interp.operate(ast.Mod, x, y)


@entry(builtins.pow)
def python_pow(interp: Any, x: Any, y: Any, mod: Any = None) -> Any:
    if mod is not None:
        if is_staged((x, y, mod)):
            raise Refused("pow with three arguments")
        return pow(x, y, mod)
    return interp.operate(ast.Pow, x, y)


@entry(builtins.round)
def python_round(interp: Any, x: Any, digits: Any = None) -> Any:
    if isinstance(x, Array):
        made = np_round(interp, x, 0 if digits is None else digits)
        if digits is None and x.ndim == 0 and x.const is None:
            return Weak("int", interp.emit.id(made, np.int64))
        return made.const.item() if digits is None and x.ndim == 0 else made
    if isinstance(x, Weak):
        if x.kind != "float":
            return Weak("int", interp.emit.id(x, np.int64))
        array = np_round(interp, Array(np.dtype(np.float64), (), x.id), 0 if digits is None else digits)
        return Weak("int", interp.emit.id(array, np.int64)) if digits is None else Weak("float", interp.emit.id(array))
    return interp.call_static(round, [x] if digits is None else [x, digits], {})


def _number(kind: str) -> Any:
    def convert(interp: Any, x: Any = 0, *args: Any) -> Any:
        if isinstance(x, Weak) or isinstance(x, Array) and x.const is None:
            if kind == "bool":
                return Weak("bool", truth(interp.emit, x))
            if isinstance(x, Array):
                n = [size for size in x.shape if size not in (1, None)]
                if n:
                    raise Refused(f"only length-1 arrays can be converted to Python scalars, not {shape_text(x.shape)}")
                if x.dtype.kind == "c" and kind != "complex":
                    raise Refused(f"a complex number cannot be converted to {kind}")
            id = interp.emit.id(x, KINDS[kind])
            if isinstance(x, Array) and x.shape != ():
                id = interp.emit.op("Reshape", [id, interp.emit.constant(np.array([], np.int32))])[0]
            return Weak(kind, id)
        if is_staged(x):
            if kind == "bool":
                found = truth(interp.emit, x)
                return found if isinstance(found, bool) else Weak("bool", found)
            raise Refused(f"{kind}() of {describe(x)}")
        if kind == "bool":
            return truth(interp.emit, x)
        cls = {"int": int, "float": float, "complex": complex}[kind]
        try:
            return cls(interp.plain(x), *args)
        except Exception as error:
            raise Refused(f"{type(error).__name__}: {error}") from None
    return convert


TABLE[int], TABLE[float], TABLE[complex], TABLE[bool] = map(_number, ("int", "float", "complex", "bool"))


@entry(builtins.str)
def python_str(interp: Any, x: Any = "") -> Any:
    return interp.text(x)


@entry(builtins.repr)
def python_repr(interp: Any, x: Any) -> Any:
    return interp.text(x, representation=True)


@entry(builtins.print)
def python_print(interp: Any, *values: Any, sep: Any = " ", end: Any = "\n", flush: Any = False) -> None:
    interp.print(list(values), " " if sep is None else sep, "\n" if end is None else end)


@entry(builtins.isinstance)
def python_isinstance(interp: Any, x: Any, classes: Any) -> Any:
    return interp.is_instance(x, classes)


@entry(builtins.type)
def python_type(interp: Any, x: Any) -> Any:
    if isinstance(x, Weak):
        return {"int": int, "float": float, "bool": bool, "complex": complex}[x.kind]
    if isinstance(x, Array):
        return x.dtype.type if x.ndim == 0 else np.ndarray
    if isinstance(x, (ListObject, DictObject)):
        return list if isinstance(x, ListObject) else dict
    return x.cls if isinstance(x, Struct) else type(x)


@entry(builtins.callable)
def python_callable(interp: Any, x: Any) -> Any:
    from .values import Function, Method

    return isinstance(x, (Function, Method)) or not is_staged(x) and callable(x)


@entry(builtins.getattr)
def python_getattr(interp: Any, x: Any, name: Any, default: Any = _NONE) -> Any:
    try:
        return interp.attribute(x, name)
    except Refused:
        if default is _NONE:
            raise
        return default


def _any_all(is_any: bool) -> Any:
    def run(interp: Any, items: Any) -> Any:
        if isinstance(items, Array) and items.const is None and items.ndim == 1 or \
                isinstance(items, ListObject) and isinstance(items.items, Growing):
            return Weak("bool", interp.emit.id(interp.call(np.any if is_any else np.all, [as_array(interp.emit, items)], {})))
        found: Any = not is_any
        for part in interp.all_items(items):
            one = truth(interp.emit, part)
            if one is is_any:
                return is_any
            if not isinstance(one, bool):
                name = "LogicalOr" if is_any else "LogicalAnd"
                found = one if isinstance(found, bool) else interp.emit.op(name, [found, one])[0]
        return found if isinstance(found, bool) else Weak("bool", found)
    return run


TABLE[builtins.any], TABLE[builtins.all] = _any_all(True), _any_all(False)


@entry(builtins.sorted)
def python_sorted(interp: Any, items: Any, key: Any = None, reverse: Any = False) -> Any:
    if isinstance(items, Array) or isinstance(items, ListObject) and is_staged(items):
        array = as_array(interp.emit, items)
        if key is not None or array.ndim != 1:
            raise Refused("sorted with a key, of values that are only known when it runs")
        made = interp.call(np.sort, [array], {})
        if reverse:
            made = interp.call(np.flip, [made], {})
        if isinstance(made.shape[0], int):
            return ListObject(interp.state, interp.all_items(made))
        return ListObject(interp.state, interp.all_items_staged(made))
    parts = interp.all_items(items)
    if is_staged(parts):
        raise Refused("sorted of values that are only known when it runs")
    plain = [interp.plain(part) for part in parts]
    try:
        order = sorted(range(len(plain)), key=(lambda i: plain[i]) if key is None else (
            lambda i: interp.plain(interp.call(key, [parts[i]], {}))), reverse=bool(reverse))
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}") from None
    return ListObject(interp.state, [parts[i] for i in order])


_MATH = {
    math.sqrt: np.sqrt, math.exp: np.exp, math.expm1: np.expm1, math.log2: np.log2, math.log10: np.log10,
    math.log1p: np.log1p, math.sin: np.sin, math.cos: np.cos, math.tan: np.tan, math.asin: np.arcsin,
    math.acos: np.arccos, math.atan: np.arctan, math.atan2: np.arctan2, math.sinh: np.sinh, math.cosh: np.cosh,
    math.tanh: np.tanh, math.asinh: np.arcsinh, math.acosh: np.arccosh, math.atanh: np.arctanh,
    math.fabs: np.fabs, math.pow: np.power, math.hypot: np.hypot, math.fmod: np.fmod, math.isnan: np.isnan,
    math.isinf: np.isinf, math.isfinite: np.isfinite, math.degrees: np.degrees, math.radians: np.radians,
}


def _scalar(interp: Any, x: Any) -> Any:
    """An operand of a function of `math`: a float of rank 0."""
    if isinstance(x, Array) and any(size not in (1, None) for size in x.shape):
        raise Refused(f"only 0-dimensional arrays can be converted to Python scalars, not {shape_text(x.shape)}")
    return Array(np.dtype(np.float64), (), interp.emit.id(TABLE[float](interp, x)))


def _add_math(function: Any, ufunc: Any) -> None:
    def run(interp: Any, *args: Any) -> Any:
        if not is_staged(args):
            return interp.call_static(function, list(args), {})
        made = run_ufunc(interp.emit, ufunc, [_scalar(interp, x) for x in args])
        return Weak("bool" if made.dtype.kind == "b" else "float", interp.emit.id(made))

    TABLE[function] = run


for _function, _of in _MATH.items():
    _add_math(_function, _of)


@entry(math.log)
def math_log(interp: Any, x: Any, base: Any = None) -> Any:
    if not is_staged((x, base)):
        return interp.call_static(math.log, [x] if base is None else [x, base], {})
    made = Weak("float", interp.emit.id(run_ufunc(interp.emit, np.log, [_scalar(interp, x)])))
    return made if base is None else interp.operate(ast.Div, made, math_log(interp, base))


def _add_floor(function: Any, ufunc: Any) -> None:
    def run(interp: Any, x: Any) -> Any:
        if not is_staged(x):
            return interp.call_static(function, [x], {})
        if weak_kind(x) in ("int", "bool"):
            return Weak("int", interp.emit.id(x, np.int64))
        made = run_ufunc(interp.emit, ufunc, [_scalar(interp, x)])
        return Weak("int", interp.emit.id(made, np.int64))

    TABLE[function] = run


_add_floor(math.floor, np.floor)
_add_floor(math.ceil, np.ceil)
_add_floor(math.trunc, np.trunc)


@entry(math.gcd)
def math_gcd(interp: Any, x: Any, y: Any) -> Any:
    if not is_staged((x, y)):
        return interp.call_static(math.gcd, [x, y], {})
    raise Refused("'math.gcd' of numbers that are only known when it runs: write the loop")
