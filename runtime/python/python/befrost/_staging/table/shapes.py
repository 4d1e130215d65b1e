"""Functions that change shapes, join and divide arrays."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np

from .. import arithmetic as a, indexing
from ..arithmetic import as_array, is_numeric, run_ufunc, shape_id, size_of
from ..errors import Refused
from ..joins import ArrayLeaf
from ..values import Array, Growing, kind_of_number, known, ListObject, shape_text
from . import composed
from .making import copy
from .registry import numeric, axes_of, axis_of, dtype_of, ints_of, METHODS, numpy_function, shape_vector


def reshaped(interp: Any, array: Array, shape: Any) -> Array:
    emit = interp.emit
    made: Array = emit.array(emit.op("Reshape", [emit.id(array), shape_vector(interp, shape)])[0])
    return made.over([array])


def in_order(interp: Any, x: Any, order: Any) -> Any:
    """An array whose elements, row by row, are those of another one in an order."""
    array = as_array(interp.emit, x)
    if order == "F":
        return transpose(interp, array)
    if order not in ("C", "A", "K", None):
        raise Refused(f"the order {order!r}", code="P0112")
    return array


@numpy_function(np.reshape)
def reshape(interp: Any, x: Any, shape: Any, order: Any = "C") -> Any:
    if order == "F":
        sizes = interp.all_items(shape) if isinstance(shape, (tuple, ListObject)) else [shape]
        made = interp.call(np.reshape, [in_order(interp, x, order), tuple(sizes[::-1])], {})
        return transpose(interp, made)
    array = in_order(interp, x, order)
    static = ints_of(interp, shape, "a size")
    if static is not None and None not in array.shape:
        n = math.prod(array.shape)
        rest = math.prod(size for size in static if size != -1)
        if static.count(-1) > 1 or (n != rest if -1 not in static else rest == 0 or n % rest):
            raise Refused(f"cannot reshape array of size {n} into shape {shape_text(static)}")
    return reshaped(interp, array, shape)


def _reshape_method(interp: Any, x: Array, *shape: Any, order: Any = "C") -> Any:
    return interp.call(np.reshape, [x, shape[0] if len(shape) == 1 else tuple(shape)], {"order": order})


METHODS["reshape"] = _reshape_method


@numpy_function(np.ravel, method="ravel")
def ravel(interp: Any, x: Any, order: Any = "C") -> Any:
    return reshaped(interp, in_order(interp, x, order), (-1,))


METHODS["flatten"] = lambda interp, x, order="C": copy(interp, interp.call(np.ravel, [x], {"order": order}))


@numpy_function(np.transpose)
def transpose(interp: Any, x: Any, axes: Any = None) -> Any:
    emit = interp.emit
    array = as_array(emit, x)
    order = list(range(array.ndim))[::-1] if axes is None else axes_of(interp, axes, array.ndim)
    if sorted(order) != list(range(array.ndim)):
        raise Refused("axes don't match array")
    if array.ndim < 2:
        return array
    return emit.array(emit.op("Transpose", [emit.id(array), emit.constant(order, np.int32)])[0]).over([array])


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
            raise Refused(f"squeeze of an array of shape {shape_text(array.shape)}: give the axis", code="P0109")
        axes = [i for i, size in enumerate(array.shape) if size == 1]
    else:
        axes = axes_of(interp, axis, array.ndim)
        if any(array.shape[i] not in (1, None) for i in axes):
            raise Refused("cannot select an axis to squeeze out which has size not equal to one")
    if not axes:
        return array
    return emit.one("Squeeze", [emit.id(array)], squeeze_dims=axes).over([array])


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
        return parts[0].fresh()
    return emit.one("ConcatV2", [*(emit.id(part, found) for part in parts), emit.constant(at, np.int32)])


def _concat_list(interp: Any, items: Growing, axis: Any) -> Any:
    emit = interp.emit
    leaf = items.item
    if not isinstance(leaf, ArrayLeaf) or not leaf.shape or axis != 0:
        raise Refused("concatenation of the items of a list whose length is only known when it runs", code="P0109")
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


@numpy_function(np.split)
def split(interp: Any, x: Any, sections: Any, axis: Any = 0) -> Any:
    array = as_array(interp.emit, x)
    at = axis_of(interp, axis, array.ndim)
    n = array.shape[at]
    if n is None:
        raise Refused("split along an axis whose size is only known when it runs", code="P0109")
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
    array = as_array(emit, x)
    return emit.array(emit.op("BroadcastTo", [emit.id(array), shape_vector(interp, shape)])[0]).over([array])


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
        return interp.call_python(composed.repeat_each, [array, as_array(interp.emit, repeats), at], {})
    n = size_of(interp.emit, array, at)
    index = interp.call(np.arange, [interp.operate(ast.Mult, n, repeats)], {})
    index = run_ufunc(interp.emit, np.floor_divide, [numeric(interp, index), repeats])
    return interp.call(np.take, [array, index, at], {})


@numpy_function(np.take, method="take")
def take(interp: Any, x: Any, indices: Any, axis: Any = None) -> Any:
    array = as_array(interp.emit, x)
    if axis is None:
        array, axis = interp.call(np.ravel, [array], {}), 0
    at = axis_of(interp, axis, array.ndim)
    parts = (indexing.Slice(),) * at + (indices if is_numeric(indices) else as_array(interp.emit, indices),)
    return indexing.get(interp.emit, array, parts, interp.as_index_array).fresh()


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
    if mode in ("edge", "wrap"):
        return interp.call_python(composed.pad_by_rows, [array, known(widths), mode == "wrap"], {})
    words = {"reflect": "REFLECT", "symmetric": "SYMMETRIC"}
    if mode not in words:
        raise Refused(f"pad with mode '{mode}'", code="P0112")
    return emit.one("MirrorPad", [emit.id(array), sizes], mode=words[mode])
