"""Indexing of arrays: slices, integers, masks, index arrays, new axes, the ellipsis; and assignment to elements.

    known array, known index ──▶ NumPy
    integers, slices, new axes, ellipsis ──▶ StridedSlice; one staged integer ──▶ GatherV2
    one index array ──▶ GatherV2 along its axis; several ──▶ GatherNd
    a mask ──▶ Where, GatherNd
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .emitter import Emitter
from .errors import Refused, refusal_of
from .values import Array, ListObject, Weak, describe, is_staged, kind_of, kind_of_number, shape_text

AsArray = Callable[[Any], Array]


class Slice:
    """A slice whose parts may be staged."""

    __slots__ = ("start", "stop", "step")

    def __init__(self, start: Any = None, stop: Any = None, step: Any = None):
        self.start, self.stop, self.step = (_number(part) for part in (start, stop, step))

    def __eq__(self, other: object) -> bool:
        if is_staged(self.parts()) or isinstance(other, Slice) and is_staged(other.parts()):
            raise Refused("'==' of slices whose bounds are only known when it runs", code="P0109")
        return isinstance(other, Slice) and self.parts() == other.parts()

    def parts(self) -> tuple[Any, ...]:
        return self.start, self.stop, self.step

    def python(self) -> slice:
        return slice(*self.parts())


def _number(part: Any) -> Any:
    if isinstance(part, Array) and part.const is not None and part.shape == ():
        return int(part.const)
    return part


def normal(index: Any) -> Any:
    """An index in which slices of outside are `Slice`s."""
    if isinstance(index, slice):
        return Slice(index.start, index.stop, index.step)
    if isinstance(index, tuple) and any(isinstance(part, slice) for part in index):
        return tuple(map(normal, index))
    return index


def _tuple(index: Any) -> tuple[Any, ...]:
    return tuple(index) if isinstance(index, tuple) else (index,)


def _static(index: Any) -> Any:
    """An index as NumPy takes it, if it is static; else None."""
    out: list[Any] = []
    for part in _tuple(index):
        if isinstance(part, Slice):
            if is_staged(part.parts()):
                return None
            out.append(part.python())
        elif isinstance(part, Array):
            if part.const is None:
                return None
            out.append(part.const)
        elif isinstance(part, ListObject):
            if is_staged(part):
                return None
            out.append([p.const if isinstance(p, Array) else p for p in part.items.items])  # type: ignore[union-attr]
        elif isinstance(part, Weak):
            return None
        else:
            out.append(part)
    return tuple(out) if isinstance(index, tuple) else out[0]


def at(emit: Emitter, array: Array, index: Any) -> Array:
    """The row at an index that is in range and not negative."""
    if array.const is not None and kind_of_number(index):
        return Array(array.dtype, array.shape[1:], const=array.const[index]).over([array])
    ids = [emit.id(array), emit.id(index, np.int64), emit.constant(0, np.int32)]
    return emit.array(emit.op("GatherV2", ids)[0]).over([array])


def _expanded(array: Array, index: Any, as_array: AsArray) -> list[Any]:
    """The parts of an index, one per axis or new axis, without ellipsis; lists are arrays."""
    parts: list[Any] = []
    for part in _tuple(index):
        if isinstance(part, (ListObject, list)):
            part = as_array(part)
        if isinstance(part, (np.ndarray, np.generic)):
            part = as_array(part)
        if isinstance(part, Array) and part.const is not None and part.shape == () and kind_of(part.dtype) in "iu":
            part = int(part.const)
        if not (part is None or part is Ellipsis or isinstance(part, (Array, Slice, Weak)) or kind_of_number(part)):
            raise _no_index(part)
        if (part.kind if isinstance(part, Weak) else kind_of_number(part)) == "bool" or \
                isinstance(part, Array) and part.dtype == np.dtype(bool) and part.ndim == 0:
            raise Refused("an index is a single boolean, which adds an axis: use a mask of the array's shape, or a branch", code="P0112")
        parts.append(part)

    def axes(part: Any) -> int:
        if part is None:
            return 0
        return part.ndim if isinstance(part, Array) and part.dtype == np.dtype(bool) else 1

    n = sum(axes(part) for part in parts if part is not Ellipsis)
    if n > array.ndim:
        raise Refused(f"too many indices for array: array is {array.ndim}-dimensional, but {n} were indexed")
    fill = [Slice()] * (array.ndim - n)
    if any(part is Ellipsis for part in parts):
        where = next(i for i, part in enumerate(parts) if part is Ellipsis)
        if sum(part is Ellipsis for part in parts) > 1:
            raise Refused("an index can only have a single ellipsis ('...')")
        return parts[:where] + fill + parts[where + 1:]
    return parts + fill


def get(emit: Emitter, array: Array, index: Any, as_array: AsArray) -> Array:
    """`array[index]`."""
    plain = _static(index)
    if array.const is not None and plain is not None:
        try:
            found = array.const[plain]
        except Exception as error:
            raise refusal_of(error) from None
        made = Array(found.dtype, found.shape, const=found)
        return made.over([array]) if np.may_share_memory(found, array.const) else made
    parts = _expanded(array, index, as_array)
    advanced = [part for part in parts if isinstance(part, Array) and (part.ndim > 0 or part.dtype == np.dtype(bool))]
    if not advanced:
        return _basic(emit, array, parts)
    return _advanced(emit, array, parts, as_array)


def _no_index(part: Any) -> Refused:
    return Refused(f"an index is {describe(part)}: only integers, slices, ellipsis, None and integer or boolean arrays "
                   "are indices")


def _check_int(part: Any, size: Any, axis: int) -> None:
    if kind_of_number(part) == "float" or isinstance(part, (Array, Weak)) and (
            part.dtype if isinstance(part, Array) else np.dtype({"float": "f8"}.get(part.kind, "i8"))).kind not in "iub":
        raise _no_index(part)
    if kind_of_number(part) and size is not None and not -size <= part < size:
        raise Refused(f"index {part} is out of bounds for axis {axis} with size {size}")


def _is_whole(part: Any) -> bool:
    return isinstance(part, Slice) and part.parts() == (None, None, None)


def _basic(emit: Emitter, array: Array, parts: list[Any]) -> Array:
    """Integers, slices and new axes: a view."""
    current = array
    # Staged integers first, from the last axis, so that the axes before stay.
    axis = array.ndim
    rest = list(parts)
    for i in range(len(parts) - 1, -1, -1):
        part = parts[i]
        if part is None:
            continue
        axis -= 1
        if isinstance(part, Slice):
            continue
        size = array.shape[axis]
        _check_int(part, size, axis)
        if is_staged(part):
            at_id = _wrapped(emit, part, array, axis)
            ids = [emit.id(current), at_id, emit.constant(axis, np.int32)]
            current = emit.array(emit.op("GatherV2", ids)[0])
            del rest[i]
    if all(map(_is_whole, rest)):
        return current.over([array])
    begins: list[Any] = []
    ends: list[Any] = []
    strides: list[Any] = []
    masks = {"begin_mask": 0, "end_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
    for i, part in enumerate(rest):
        bit = 1 << i
        if part is None:
            masks["new_axis_mask"] |= bit
            row: tuple[Any, Any, Any] = (0, 0, 1)
        elif isinstance(part, Slice):
            start, stop, step = part.parts()
            step = 1 if step is None else step
            if kind_of_number(step) and step == 0:
                raise Refused("slice step cannot be zero")
            if start is None:
                masks["begin_mask"] |= bit
            if stop is None:
                masks["end_mask"] |= bit
            row = (start or 0 if kind_of_number(start) or start is None else start,
                   0 if stop is None else stop, step)
        else:
            masks["shrink_axis_mask"] |= bit
            row = (int(part), int(part) + 1, 1)
            if int(part) == -1:
                masks["end_mask"] |= bit
        for column, value in zip((begins, ends, strides), row):
            column.append(value)
    ids = [emit.id(current), *(_vector(emit, column) for column in (begins, ends, strides))]
    return emit.array(emit.op("StridedSlice", ids, masks)[0]).over([array])


def _vector(emit: Emitter, numbers: list[Any]) -> int:
    limit = np.iinfo(np.int64)
    if not is_staged(numbers):
        clamped = [min(max(int(n), limit.min), limit.max) for n in numbers]
        return emit.constant(clamped, np.int64)
    return emit.op("Pack", [emit.id(n, np.int64) for n in numbers], {"axis": 0})[0]


def _wrapped(emit: Emitter, index: Any, array: Array, axis: int) -> int:
    """A staged index, or an array of them, counted from the begin of its axis. What is out of range stays so."""
    at = emit.id(index, np.int64)
    if isinstance(index, Array) and kind_of(index.dtype) == "u":
        return at
    size = array.shape[axis]
    if size is None:
        from .arithmetic import size_of

        n = emit.id(size_of(emit, array, axis), np.int64)
    else:
        n = emit.constant(size, np.int64)
    negative = emit.op("Less", [at, emit.constant(0, np.int64)])[0]
    return emit.op("SelectV2", [negative, emit.op("AddV2", [at, n])[0], at])[0]


def _indices_of_mask(emit: Emitter, mask: Array) -> list[Array]:
    """The indices of a mask's true elements, one vector per axis."""
    found = emit.op("Where", [emit.id(mask)])[0]
    if mask.ndim == 1:
        return [emit.array(emit.op("Squeeze", [found], {"squeeze_dims": [1]})[0])]
    return [emit.array(id) for id in emit.op("Unpack", [found], {"axis": 1, "num": mask.ndim})]


def _advanced(emit: Emitter, array: Array, parts: list[Any], as_array: AsArray) -> Array:
    """Index arrays and masks, together with integers, slices and new axes."""
    expanded: list[Any] = []
    for part in parts:
        if isinstance(part, Array) and part.dtype == np.dtype(bool):
            axis = sum(1 for p in expanded if p is not None)
            for i, size in enumerate(part.shape):
                have = array.shape[axis + i]
                if size is not None and have is not None and size != have:
                    raise Refused(f"boolean index did not match indexed array along axis {axis + i}; size of axis is "
                                  f"{have} but size of corresponding boolean axis is {size}")
            expanded += _indices_of_mask(emit, part)
        else:
            expanded.append(part)
    is_index = [isinstance(p, (Array, Weak)) or kind_of_number(p) is not None for p in expanded]
    arrays = [i for i, yes in enumerate(is_index) if yes]
    # Slices and new axes first: whole ones in the places of the index arrays.
    sliced_parts = [Slice() if yes else part for part, yes in zip(expanded, is_index)]
    sliced = array if all(map(_is_whole, sliced_parts)) else _basic(emit, array, sliced_parts)
    first, last = arrays[0], arrays[-1]
    together = last - first + 1 == len(arrays)
    indices = []
    for i in arrays:
        part = expanded[i]
        axis = sum(1 for p in expanded[:i] if p is not None)
        size = array.shape[axis]
        if isinstance(part, Array) and part.const is not None and size is not None:
            if part.const.size and (part.const.min() < -size or part.const.max() >= size):
                bad = next(int(v) for v in part.const.flat if not -size <= v < size)
                raise Refused(f"index {bad} is out of bounds for axis {axis} with size {size}")
            indices.append(emit.constant(np.where(part.const < 0, part.const + size, part.const), np.int64))
        else:
            _check_int(part, size, axis)
            indices.append(_wrapped(emit, part, array, axis))
    if len(arrays) == 1:
        ids = [emit.id(sliced), indices[0], emit.constant(first, np.int32)]
        return emit.array(emit.op("GatherV2", ids)[0])
    # The indexed axes to the front, GatherNd, and the new axes to their place.
    order = arrays + [i for i in range(sliced.ndim) if i not in arrays]
    source = emit.id(sliced)
    if order != list(range(sliced.ndim)):
        source = emit.op("Transpose", [source, emit.constant(order, np.int32)])[0]
    shape = None
    for id in indices[1:]:
        shape = emit.op("AddV2", [indices[0] if shape is None else shape, id])[0]
    assert shape is not None
    zero = emit.op("ZerosLike", [shape])[0]
    stacked = emit.op("Pack", [emit.op("AddV2", [zero, id])[0] for id in indices], {"axis": -1})[0]
    found = emit.array(emit.op("GatherNd", [source, stacked])[0])
    if together and first > 0:
        n = emit.array(zero).ndim
        rest = found.ndim - n
        order = [n + i for i in range(first)] + list(range(n)) + [n + i for i in range(first, rest)]
        found = emit.array(emit.op("Transpose", [emit.id(found), emit.constant(order, np.int32)])[0])
    return found


def set(emit: Emitter, array: Array, index: Any, value: Any, as_array: AsArray) -> Array:
    """The array with other elements at an index."""
    from .arithmetic import shape_id

    plain = _static(index)
    if array.const is not None and plain is not None and not is_staged(value):
        made = array.const.copy()
        try:
            made[plain] = value.const if isinstance(value, Array) else value
        except Exception as error:
            raise refusal_of(error) from None
        return Array(array.dtype, array.shape, const=made)
    parts = _expanded(array, index, as_array)
    if len(parts) == 1 and isinstance(parts[0], Array) and parts[0].dtype == np.dtype(bool) \
            and parts[0].shape == array.shape and (not isinstance(value, Array) or value.ndim == 0):
        ids = [emit.id(parts[0]), emit.id(value, array.dtype), emit.id(array)]
        return emit.array(emit.op("SelectV2", ids)[0])
    # Positions of all elements in the flat array, indexed in the same way, say where to write.
    total = emit.op("Prod", [shape_id(emit, array, np.int64), emit.constant([0], np.int32)])[0]
    zero, one = emit.constant(0, np.int64), emit.constant(1, np.int64)
    flat = emit.op("Range", [zero, total, one])[0]
    positions = emit.array(emit.op("Reshape", [flat, shape_id(emit, array)])[0])
    positions = Array(positions.dtype, array.shape, positions.id)
    chosen = get(emit, positions, index, as_array)
    value_array = value if isinstance(value, Array) else None
    if value_array is not None and value_array.ndim > chosen.ndim:
        lead = value_array.shape[:value_array.ndim - chosen.ndim]
        if any(size not in (1, None) for size in lead):
            raise Refused(f"could not broadcast input array from shape {shape_text(value_array.shape)} into shape "
                          f"{shape_text(chosen.shape)}")
    if value_array is not None:
        for have, want in zip(value_array.shape[::-1], chosen.shape[::-1]):
            if have is not None and want is not None and have not in (want, 1):
                raise Refused(f"could not broadcast input array from shape {shape_text(value_array.shape)} into shape "
                              f"{shape_text(chosen.shape)}")
    updates = emit.op("BroadcastTo", [emit.id(value, array.dtype), shape_id(emit, chosen)])[0]
    where = emit.op("Reshape", [emit.id(chosen), emit.constant([-1, 1], np.int32)])[0]
    updates = emit.op("Reshape", [updates, emit.constant([-1], np.int32)])[0]
    source = emit.op("Reshape", [emit.id(array), emit.constant([-1], np.int32)])[0]
    made = emit.op("TensorScatterUpdate", [source, where, updates])[0]
    back = emit.array(emit.op("Reshape", [made, shape_id(emit, array)])[0])
    return Array(array.dtype, array.shape, back.id)
