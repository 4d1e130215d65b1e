"""Results: from values to results of the graph, and back to what Python gets.

    value ──result_of──▶ results of the graph, and a function that builds the value of an iterator over them

A list of staged length is a result for each leaf of its items, stacked; a list in such a list is one for its items,
one behind the other, and one for its lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .emitter import Emitter, TensorType
from .errors import Refused
from .joins import (
    ArrayLeaf, DictTemplate, GrowingTemplate, Leaf, ListLeaf, ListTemplate, NumberLeaf, StructTemplate, leaf_type,
    leaves, make_tuple,
)
from .lists import expect_leaves, flattened
from .names import MISSING
from .values import (
    Array, DictObject, Fixed, Function, Growing, ListObject, Method, Sequence, Struct, Text, Weak, describe, make_struct,
)

if TYPE_CHECKING:
    from .compiler import Interpreter

Build = Callable[[Any], Any]


def result_of(interp: Interpreter, value: Any, out: list[tuple[str, int]], name: str) -> Build:
    """Adds the parts of a value to the graph's results. Returns the function that builds the value from an
    iterator over them."""
    if isinstance(value, (Weak, Array)):
        out.append((name, interp.emit.id(value)))
        return next
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        builders = [result_of(interp, part, out, f"{name}.{fields[i] if fields else i}") for i, part in enumerate(value)]
        cls = type(value)
        if fields:
            return lambda parts: cls(*[build(parts) for build in builders])
        return lambda parts: tuple([build(parts) for build in builders])
    if isinstance(value, ListObject):
        items = value.items
        if isinstance(items, Fixed):
            builders = [result_of(interp, part, out, f"{name}.{i}") for i, part in enumerate(items.items)]
            return lambda parts: [build(parts) for build in builders]
        return growing_result(interp, items, out, name)
    if isinstance(value, DictObject):
        pairs = [(key, result_of(interp, part, out, f"{name}.{key}")) for key, part in value.items.items()]
        return lambda parts: {key: build(parts) for key, build in pairs}
    if isinstance(value, Struct):
        fields_of = [(key, result_of(interp, part, out, f"{name}.{key}")) for key, part in value.fields.items()]
        made_of = value.cls
        return lambda parts: make_struct(made_of, {key: build(parts) for key, build in fields_of})
    if isinstance(value, Sequence):
        if value.range is not None and not value.is_staged:
            plain = range(*value.range)
            return lambda parts: plain
        raise Refused(f"a {value.what} is returned: return list(...) of it", code="P0108")
    if isinstance(value, Text):
        raise Refused("a text that is only known when it runs is returned", code="P0108")
    if isinstance(value, (Function, Method)):
        raise Refused(f"{describe(value)} is returned: a function that is defined in it cannot leave it", code="P0108")
    return lambda parts: value


def growing_result(interp: Interpreter, items: Growing, out: list[tuple[str, int]], name: str) -> Build:
    """A list of staged length comes back as a list."""
    if items.item is MISSING:
        return lambda parts: []
    expect_leaves(items)
    made: list[int] = []
    columns = [column_of(interp.emit, leaf, handle, made) for leaf, handle in zip(leaves(items.item), items.lists)]
    out.extend((f"{name}.{i}", id) for i, id in enumerate(made))

    def build(parts: Any) -> Any:
        return rebuild_items(items.item, [column(parts) for column in columns])
    return build


def column_of(emit: Emitter, leaf: Leaf, handle: int, out: list[int]) -> Build:
    """Adds the results for a leaf of a list's items. Returns what builds the values of the leaf."""
    if isinstance(leaf, ListLeaf):
        flat, n_items = flattened(emit, handle, leaf)
        lengths = stacked(emit, n_items, ("int32", []), out)
        values = column_of(emit, leaf.item, flat, out)

        def cut(parts: Any) -> Any:
            ends = np.cumsum(lengths(parts), dtype=np.int64)
            inner = values(parts)
            return [inner[start:end] for start, end in zip([0, *ends], ends)]
        return cut
    return stacked(emit, handle, leaf_type(leaf), out)


def stacked(emit: Emitter, handle: int, of: TensorType, out: list[int]) -> Build:
    """Adds the items of a TensorList as one result."""
    element, dims = of
    assert dims is not None
    shape = emit.constant(dims, np.int32)
    out += emit.op("TensorListStack", [handle, shape], {"element_dtype": element, "num_elements": -1},
                   [(element, [-1, *dims])])
    return lambda parts: np.asarray(next(parts))


def rebuild_items(template: Any, columns: list[Any]) -> list[Any]:
    """The items of a list of the values of their leaves."""
    return [rebuild(template, iter([column[i] for column in columns])) for i in range(len(columns[0]))]


def rebuild(template: Any, values: Any) -> Any:
    """An item of the values of its leaves; those of a list in it are the leaf's values of all its items."""
    if isinstance(template, (NumberLeaf, ArrayLeaf)):
        return next(values)
    if isinstance(template, tuple):
        return make_tuple(template, [rebuild(part, values) for part in template])
    if isinstance(template, (ListTemplate, DictTemplate)):
        return rebuild(template.items, values)
    if isinstance(template, Fixed):
        return [rebuild(part, values) for part in template.items]
    if isinstance(template, dict):
        return {key: rebuild(part, values) for key, part in template.items()}
    if isinstance(template, GrowingTemplate):
        columns = [] if template.item is MISSING else [next(values) for _ in leaves(template.item)]
        return rebuild_items(template.item, columns) if columns else []
    if isinstance(template, StructTemplate):
        fields = {key: rebuild(part, values) for key, part in template.fields.items()}
        return make_struct(template.cls, fields)
    return template
