"""Lists whose length is only known when the function runs: a TensorList for each leaf of an item."""

from __future__ import annotations

from typing import Any

import numpy as np

from .emitter import Emitter
from .errors import Refused
from .joins import (
    Differ, GrowingTemplate, coerce, converted, empty_lists, instantiate, join, join_items, leaf_type, leaves, push,
    staged_template, to_template,
)
from .names import MISSING, State
from .values import Fixed, Growing, Weak, describe


def length(emit: Emitter, items: Growing) -> Any:
    """The number of items."""
    if items.item is MISSING:
        return 0
    n = emit.op("TensorListLength", [items.lists[0]])[0]
    return Weak("int", emit.cast(n, np.int32, np.int64))


def appended(emit: Emitter, items: Growing, value: Any) -> Growing:
    """The items and one more. If that is of a more general type, the others become so too: a loop that appends
    it finds that out in its first try and begins with the general type."""
    try:
        wanted = to_template(value) if items.item is MISSING else join(items.item, value)
        wanted = staged_template(wanted)
    except Differ as error:
        raise Refused(f"the items of a list have different types: {error.a} and {error.b}") from None
    lists = empty_lists(emit, wanted) if items.item is MISSING else converted(emit, items, wanted)
    return Growing(wanted, tuple(push(emit, lists, coerce(emit, value, wanted))))


def extended(emit: Emitter, items: Any, more: tuple[Any, ...]) -> Any:
    if isinstance(items, Fixed):
        return Fixed(items.items + more)
    for value in more:
        items = appended(emit, items, value)
    return items


def item(emit: Emitter, state: State, items: Growing, index: int) -> Any:
    """The item at an index, an int64 of the graph that is not negative."""
    at = emit.cast(index, np.int64, np.int32)
    ids = []
    for found, handle in zip(leaves(items.item), items.lists):
        name, dims = leaf_type(found)
        shape = emit.constant(dims, np.int32)
        ids += emit.op("TensorListGetItem", [handle, at, shape], {"element_dtype": name}, [(name, dims)])
    return instantiate(emit, state, items.item, iter(ids))


def popped(emit: Emitter, state: State, items: Growing) -> tuple[Growing, Any]:
    """The items without the last one, and that one."""
    if items.item is MISSING:
        raise Refused("pop from an empty list")
    ids, rest = [], []
    for found, handle in zip(leaves(items.item), items.lists):
        name, dims = leaf_type(found)
        shape = emit.constant(dims, np.int32)
        left, last = emit.op("TensorListPopBack", [handle, shape], {"element_dtype": name},
                             [("variant", []), (name, dims)])
        rest.append(left)
        ids.append(last)
    return Growing(items.item, tuple(rest)), instantiate(emit, state, items.item, iter(ids))


def with_item(emit: Emitter, items: Growing, index: int, value: Any) -> Growing:
    """The items with another one at an index."""
    at = emit.cast(index, np.int64, np.int32)
    parts = coerce(emit, value, items.item)
    lists = [emit.op("TensorListSetItem", [handle, at, part], {"element_dtype": leaf_type(found)[0]})[0]
             for found, handle, part in zip(leaves(items.item), items.lists, parts)]
    return Growing(items.item, tuple(lists))


def growing(emit: Emitter, items: Any) -> Growing:
    """Items as those of a list of staged length."""
    if isinstance(items, Growing):
        return items
    try:
        template = join_items(items, Growing(MISSING, ()))
    except Differ as error:
        raise Refused(f"the items of a list have different types: {error.a} and {error.b}") from None
    assert isinstance(template, GrowingTemplate)
    if template.item is MISSING:
        raise Refused(f"the items of {describe(items)} are not known")
    return Growing(template.item, tuple(coerce(emit, items, template)))
