"""Ops of the graph with places, and values made of their results.

    value (number, Weak, Array) ──id──▶ the graph's value
    op ──▶ ids ──array──▶ Array with the dtype and the shape that were inferred
"""

from __future__ import annotations

from typing import Any, Callable, Sequence as Seq

import numpy as np

from .. import _native
from .errors import Refused, Site
from .values import KINDS, Array, Shape, Weak, describe, kind_of_number

TensorType = tuple[str, "list[int] | None"]


def type_of_leaf(dtype: Any, shape: Shape) -> TensorType:
    name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    return name, [-1 if size is None else size for size in shape]


# Operators on which NumPy takes complex numbers too, by their parts.
REAL = frozenset(["Maximum", "Minimum", "Max", "Min", "ArgMax", "ArgMin", "TopKV2", "Rint"])
VARIANT: TensorType = ("variant", [])


# By their names, for which NumPy searches, and the names, which it makes each time.
_DTYPES: dict[str, Any] = {}
_NAMES: dict[Any, str] = {}
_BOOL = np.dtype(bool)


def name_of(dtype: np.dtype[Any]) -> str:
    """A dtype's name."""
    found = _NAMES.get(dtype)
    if found is None:
        found = _NAMES[dtype] = dtype.name
    return found


class Emitter:
    """The builder of one function. Ops get the place of the node at hand."""

    def __init__(self, name: str, place: Callable[[], tuple[Any, Callable[[], tuple[Site, ...]]]]):
        self.graph = _native.Graph(name)
        self._place = place
        self._last: Any = None
        self._locations: dict[Any, list[tuple[str, int, int]]] = {}

    def locate(self) -> None:
        """Says where the next ops come from."""
        key, sites = self._place()
        if key != self._last:
            self._last = key
            known = self._locations.get(key)
            if known is None:
                known = self._locations[key] = [(s.file, max(s.line, 0), s.column + 1) for s in sites()]
            self.graph.location(known)

    def op(self, name: str, operands: Seq[int], attrs: dict[str, Any] | None = None,
           results: Seq[TensorType] | None = None) -> list[int]:
        """Adds an op. Raises Refused with the operator's reason."""
        self.locate()
        if name in REAL and self.graph.type_of(operands[0])[0].startswith("complex"):
            raise Refused(f"`{name}` does not take complex numbers", code="P0112")
        try:
            return self.graph.op(name, operands, attrs, None if results is None else list(results))
        except OverflowError as error:
            raise Refused(str(error), code="P0110") from None
        except ValueError as error:
            raise Refused(str(error).replace("`tf.", "`")) from None

    def array(self, id: int, roots: frozenset[int] | None = None, owned: bool = True) -> Array:
        """The array that a graph's value is."""
        name, dims = self.graph.type_of(id)
        if dims is None:
            raise Refused("the rank of the result is not known")
        dtype = _DTYPES.get(name)
        if dtype is None:
            dtype = _DTYPES[name] = np.dtype(name)
        return Array(dtype, tuple([None if size < 0 else size for size in dims]), id, roots=roots, owned=owned)

    def one(self, name: str, operands: Seq[int], **attrs: Any) -> Array:
        """An op with one result."""
        return self.array(self.op(name, operands, attrs)[0])

    def constant(self, value: Any, dtype: Any = None) -> int:
        """A constant."""
        try:
            array = np.asarray(value, dtype)
        except OverflowError:
            raise Refused(f"{value} does not fit in {np.dtype(dtype)}", is_range=True) from None
        try:
            return self.graph.constant(array)
        except TypeError as error:
            raise Refused(str(error)) from None

    def id(self, value: Any, dtype: Any = None) -> int:
        """The graph's value of a number or an array, cast to `dtype` if that is given."""
        if isinstance(value, Array):
            if value.const is not None:
                return self.constant(value.const if dtype is None else value.const.astype(dtype))
            assert value.id is not None
            return value.id if dtype is None or value.dtype == dtype else self.cast(value.id, value.dtype, dtype)
        kind = kind_of_number(value)
        if kind is not None:
            return self.constant(value, KINDS[kind] if dtype is None else dtype)
        if isinstance(value, Weak):
            return value.id if dtype is None else self.cast(value.id, KINDS[value.kind], dtype)
        raise Refused(f"{describe(value)} is no number or array")

    def cast(self, id: int, source: Any, target: Any) -> int:
        """A value with other elements, as NumPy converts them."""
        source, target = np.dtype(source), np.dtype(target)
        if source == target:
            return id
        if target == _BOOL:
            return self.op("NotEqual", [id, self.constant(0, source)])[0]
        name = name_of(target)
        _, dims = self.graph.type_of(id)
        return self.op("Cast", [id], {"DstT": name}, [(name, dims)])[0]

    def weak(self, kind: str, id: int) -> Weak:
        return Weak(kind, id)

    def zeros(self, dtype: Any, shape: Shape) -> int:
        """A value of this type that is never read."""
        return self.constant(np.zeros([0 if size is None else size for size in shape], np.dtype(dtype)))

    def string(self, text: str) -> int:
        """A string of the graph."""
        self.locate()
        return self.graph.string(text)
