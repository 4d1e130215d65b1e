"""Functions that choose elements, and that sort."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np

from .. import arithmetic as a, indexing
from ..arithmetic import as_array, run_ufunc, size_of
from ..errors import Refused
from ..values import Array, kind_of
from .making import astype
from .registry import NONE, axis_of, ints_of, numeric, numpy_function
from .shapes import ravel, swapaxes


@numpy_function(np.where)
def where(interp: Any, condition: Any, x: Any = NONE, y: Any = NONE) -> Any:
    if x is NONE:
        return interp.call(np.nonzero, [condition], {})
    emit = interp.emit
    return a.select(emit, numeric(interp, condition), numeric(interp, x), numeric(interp, y))


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


def _checked_kth(interp: Any, array: Array, kth: Any, axis: Any) -> None:
    """The position of a partition must be within the array."""
    n = None if axis is None else array.shape[axis_of(interp, axis, array.ndim)]
    if axis is None and None not in array.shape:
        n = math.prod(size for size in array.shape if size is not None)
    for k in ints_of(interp, kth, "kth") or ():
        if n is not None and not -n <= k < n:
            raise Refused(f"kth(={k}) out of bounds ({n})")


@numpy_function(np.partition)
def partition(interp: Any, a: Any, kth: Any, axis: Any = -1) -> Any:
    """A sorted array is partitioned at every position."""
    _checked_kth(interp, as_array(interp.emit, a), kth, axis)
    return sort(interp, a, axis)


@numpy_function(np.argpartition, method="argpartition")
def argpartition(interp: Any, a: Any, kth: Any, axis: Any = -1) -> Any:
    _checked_kth(interp, as_array(interp.emit, a), kth, axis)
    return argsort(interp, a, axis)


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
    # As np.mean adds them.
    wide = np.dtype(np.float64 if kind_of(array.dtype) in "biu" else np.result_type(array.dtype, np.float32))
    total = run_ufunc(interp.emit, np.add, [astype(interp, part, wide) for part in pair])
    middle = run_ufunc(interp.emit, np.true_divide, [total, 2])
    middle = astype(interp, middle, np.result_type(array.dtype, 0.0))
    if kind_of(array.dtype) != "f":
        return middle
    last = interp.item(made, (Ellipsis, -1))  # NaN, if there is one
    return a.select(interp.emit, run_ufunc(interp.emit, np.isnan, [last]), last, middle)


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
