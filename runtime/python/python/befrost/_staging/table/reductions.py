"""Reductions: sum, mean, max, any, argmax, cumsum and their like."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ..arithmetic import as_array, run_ufunc, select, size_of
from ..errors import Refused
from ..values import kind_of, kind_of_number
from .making import astype
from .registry import NONE, axes_of, axis_of, dtype_of, numpy_function, refuse_where
from .shapes import ravel


def reduction(interp: Any, name: str, x: Any, axis: Any, keepdims: Any, dtype: Any = None) -> Any:
    emit = interp.emit
    array = as_array(emit, x)
    axes = axes_of(interp, axis, array.ndim)
    id = emit.id(array, dtype)
    if keepdims is NONE:
        keepdims = False
    made = emit.op(name, [id, emit.constant(np.array(axes, np.int32))], {"keep_dims": bool(keepdims)})
    return emit.array(made[0])


def chosen(interp: Any, x: Any, where: Any, neutral: Any) -> Any:
    """An array with a neutral number in the places that a mask leaves out."""
    array = as_array(interp.emit, x)
    return array if where is True else interp.call(np.where, [where, array, neutral], {})


def _sum_dtype(dtype: Any) -> Any:
    if kind_of(dtype) in "bi" and dtype.itemsize < 8:
        return np.dtype(np.int64)
    if kind_of(dtype) == "u" and dtype.itemsize < 8:
        return np.dtype(np.uint64)
    return dtype


def _add_reduction(names: Any, method: str, op: str) -> None:
    @numpy_function(*names, method=method)
    def reduce(interp: Any, x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
               initial: Any = None, where: Any = True) -> Any:
        refuse_where(out=out)
        array = chosen(interp, x, where, 0 if op == "Sum" else 1)
        dtype = dtype_of(interp, dtype) or _sum_dtype(array.dtype)
        made = reduction(interp, op, array, axis, keepdims, dtype)
        if initial is not None:
            made = run_ufunc(interp.emit, np.add if op == "Sum" else np.multiply, [made, initial])
        return made


_add_reduction((np.sum,), "sum", "Sum")
_add_reduction((np.prod,), "prod", "Prod")


def _add_extremum(names: Any, method: str, op: str, on_bool: str) -> None:
    @numpy_function(*names, method=method)
    def reduce(interp: Any, x: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
               where: Any = True) -> Any:
        refuse_where(out=out)
        if where is not True and initial is None:
            raise Refused("reduction operations with a where mask, which have no identity, need the argument 'initial'")
        array = chosen(interp, x, where, initial)
        axes = axes_of(interp, axis, array.ndim)
        if initial is None and any(array.shape[one] == 0 for one in axes):
            raise Refused("zero-size array to reduction operation which has no identity")
        made = reduction(interp, on_bool if array.dtype == np.dtype(bool) else op, array, axis, keepdims)
        if initial is None:
            return made
        return run_ufunc(interp.emit, np.maximum if op == "Max" else np.minimum, [made, initial])


_add_extremum((np.max, np.amax), "max", "Max", "Any")
_add_extremum((np.min, np.amin), "min", "Min", "All")


@numpy_function(np.mean, method="mean")
def mean(interp: Any, x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    refuse_where(out=out)
    array = as_array(interp.emit, x)
    dtype = dtype_of(interp, dtype) or (np.dtype(np.float64) if kind_of(array.dtype) in "biu" else array.dtype)
    return reduction(interp, "Mean", array, axis, keepdims, dtype)


@numpy_function(np.average)
def average(interp: Any, x: Any, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return mean(interp, x, axis)
    array, weights = as_array(interp.emit, x), as_array(interp.emit, weights)
    if weights.ndim != array.ndim:
        if axis is None or weights.ndim != 1:
            raise Refused("weights of another shape than the array's belong to one axis: give it")
        at = axis_of(interp, axis, array.ndim)
        weights = interp.call(np.reshape, [weights, (-1,) + (1,) * (array.ndim - at - 1)], {})
        weights = interp.call(np.multiply, [interp.call(np.ones_like, [array], {}), weights], {})
    product = run_ufunc(interp.emit, np.multiply, [array, weights])
    call = interp.call
    return run_ufunc(interp.emit, np.true_divide, [
        call(np.sum, [product], {"axis": axis}), call(np.sum, [weights], {"axis": axis})])


@numpy_function(np.var, method="var")
def var(interp: Any, x: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: Any = False) -> Any:
    refuse_where(out=out)
    emit = interp.emit
    array = as_array(emit, x)
    dtype = dtype_of(interp, dtype) or (np.dtype(np.float64) if kind_of(array.dtype) in "biu" else array.dtype)
    array = emit.array(emit.id(array, dtype))
    apart = run_ufunc(emit, np.subtract, [array, mean(interp, array, axis, keepdims=True)])
    if kind_of(array.dtype) == "c":
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
    def reduce(interp: Any, x: Any, axis: Any = None, out: Any = None, keepdims: Any = False, where: Any = True) -> Any:
        refuse_where(out=out)
        return reduction(interp, op, chosen(interp, x, where, op == "All"), axis, keepdims, np.dtype(bool))


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
            array = astype(interp, array, np.uint8)
        if axis is None:
            array = ravel(interp, array)
            axis = 0
        at = axis_of(interp, axis, array.ndim)
        if array.shape[at] == 0:
            raise Refused("attempt to get argmax of an empty sequence" if op == "ArgMax"
                          else "attempt to get argmin of an empty sequence")
        dimension = emit.constant(at, np.int32)
        made = emit.one(op, [emit.id(array), dimension], output_type="int64")
        if kind_of(array.dtype) == "f":
            # The first NaN, if there is one.
            missing = run_ufunc(emit, np.isnan, [array])
            first = emit.one("ArgMax", [emit.id(missing, np.uint8), dimension], output_type="int64")
            made = select(emit, reduction(interp, "Any", missing, at, False), first, made)
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
