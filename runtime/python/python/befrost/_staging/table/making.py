"""Functions that make arrays, and conversions of dtype."""

from __future__ import annotations

import ast
import builtins
from typing import Any

import numpy as np

from ..arithmetic import as_array, compare, is_numeric, run_ufunc, select, shape_id, truth, weak_kind
from ..errors import Refused, refusal_of
from ..values import Array, Growing, is_staged, kind_of, KINDS, known, ListObject, Weak, ZEROS
from .registry import numeric, dtype_of, entry, METHODS, numpy_function, shape_vector, TABLE


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
    id = emit.id(numeric(interp, fill_value), dtype_of(interp, dtype) or array.dtype)
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
        if found.kind == "b":
            found = np.dtype(np.int64)
    # A bound that lies before the start gives no elements; the operator refuses it.
    forward = truth(emit, compare(emit, ast.GtE, parts[2], 0))
    if isinstance(forward, bool):
        parts[1] = run_ufunc(emit, np.maximum if forward else np.minimum, [
            emit.array(emit.id(part, found)) for part in (parts[1], parts[0])])
    else:
        ends = [run_ufunc(emit, ufunc, [emit.array(emit.id(part, found)) for part in (parts[1], parts[0])])
                for ufunc in (np.maximum, np.minimum)]
        parts[1] = select(emit, Weak("bool", forward), *ends)
    return emit.array(emit.op("Range", [emit.id(part, found) for part in parts])[0])


@numpy_function(np.linspace)
def linspace(interp: Any, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, *, dtype: Any = None) -> Any:
    emit = interp.emit
    first, last = (numeric(interp, part) for part in (start, stop))
    found = dtype_of(interp, dtype) or np.result_type(*[
        ZEROS[weak_kind(part)] if weak_kind(part) else part.dtype for part in (first, last)], 0.0)  # type: ignore[index]
    ends = [as_array(emit, part) for part in (first, last)]
    wide = np.result_type(np.float64, *[end.dtype for end in ends])
    first, last = (astype(interp, end, wide) for end in ends)
    steps = astype(interp, as_array(emit, interp.call(np.arange, [0, num], {})), np.float64)
    ndim = max(first.ndim, last.ndim)
    steps = interp.call(np.reshape, [steps, (-1,) + (1,) * ndim], {}) if ndim else steps
    n_steps = interp.operate(ast.Sub, num, 1) if endpoint else num
    n_steps = interp.call(builtins.max, [n_steps, 1], {})  # of a single element the width does not matter
    width = run_ufunc(emit, np.true_divide, [run_ufunc(emit, np.subtract, [last, first]), numeric(interp, n_steps)])
    made = run_ufunc(emit, np.add, [first, run_ufunc(emit, np.multiply, [steps, width])])
    if endpoint:
        at_end = run_ufunc(emit, np.logical_and, [run_ufunc(emit, np.equal, [steps, numeric(interp, n_steps)]),
                                                  run_ufunc(emit, np.greater, [steps, 0])])
        made = select(emit, at_end, last, made)
    return astype(interp, made, found)


@numpy_function(np.eye, np.identity)
def eye(interp: Any, n: Any, m: Any = None, k: Any = 0, dtype: Any = float) -> Any:
    emit = interp.emit
    rows = interp.call(np.arange, [n], {})
    columns = interp.call(np.arange, [n if m is None else m], {})
    rows = interp.call(np.expand_dims, [rows, 1], {})
    equal = run_ufunc(emit, np.equal, [interp.operate(ast.Add, rows, k), columns])
    return astype(interp, equal, dtype)


@entry(np.array)
def np_array(interp: Any, x: Any, dtype: Any = None, copy: Any = True, ndmin: Any = 0) -> Any:
    dtype = dtype_of(interp, dtype)
    if not is_staged(x) and not isinstance(x, Array):
        plain = interp.plain(x)
        try:
            made = known(np.array(plain, dtype))
        except Exception as error:
            raise refusal_of(error) from None
        if kind_of(made.dtype) not in "biufc":
            raise Refused(f"an array of {made.dtype}")
    elif isinstance(x, ListObject) and isinstance(x.items, Growing) and not x.items.lists:
        made = known(np.zeros(0, dtype))
    else:
        made = astype(interp, x, dtype, copy=copy is True)
    if copy is False and (not isinstance(x, Array) or made is not x):
        raise Refused("unable to avoid copy while creating an array as requested")
    while made.ndim < ndmin:
        made = interp.call(np.expand_dims, [made, 0], {})
    return made


@entry(np.asarray, np.asanyarray, np.ascontiguousarray)
def as_array_of(interp: Any, x: Any, dtype: Any = None, copy: Any = None) -> Any:
    return np_array(interp, x, dtype, copy)


def astype(interp: Any, x: Any, dtype: Any, copy: Any = True, casting: Any = "unsafe") -> Array:
    """`x.astype(dtype)`."""
    array = as_array(interp.emit, x)
    dtype = dtype_of(interp, dtype) or array.dtype
    if not np.can_cast(array.dtype, dtype, casting):
        raise Refused(f"cannot cast array data from {array.dtype} to {dtype} according to the rule '{casting}'")
    if array.dtype == dtype and not copy:
        return array
    if array.const is not None:
        return known(array.const.astype(dtype))
    if kind_of(array.dtype) == "c" and kind_of(dtype) != "c":
        array = interp.emit.one("Real", [interp.emit.id(array)], Tout="float32" if array.dtype.itemsize == 8 else "float64")
    id = interp.emit.id(array, dtype)
    return Array(dtype, array.shape, id)


METHODS["astype"] = astype


@entry("cast")
def cast(interp: Any, cls: Any, x: Any = 0) -> Any:
    """`np.float32(x)`. What is known fits, or NumPy refuses it."""
    if not interp.any_staged([x], {}) and kind_of(np.dtype(cls)) in "biufc":
        return known(np.asarray(interp.execute(cls, [x], {})))
    return astype(interp, x, cls)


@entry(np.copy)
def copy(interp: Any, x: Any, order: Any = "K") -> Array:
    return as_array(interp.emit, x).fresh()


METHODS["copy"] = copy
METHODS["__copy__"] = copy
