"""Lists whose length is only known when the function runs: a TensorList for each leaf of an item."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .emitter import VARIANT, Emitter, TensorType
from .errors import Refused
from .joins import (
    ArrayLeaf, Differ, GrowingTemplate, ListLeaf, coerce, converted, empty_lists, instantiate, join, join_items, keep, leaf_type,
    leaves, push, staged_template, to_template,
)
from .names import MISSING, State
from .values import Array, Fixed, Growing, Weak, describe


SCALAR: TensorType = ("int32", [])


def expect_leaves(items: Growing) -> None:
    """Refuses items that leave no trace in the graph: their number is not known."""
    if items.item is not MISSING and not items.lists:
        raise Refused("the items of a list whose length is only known when it runs have neither numbers nor arrays", code="P0109")


def length(emit: Emitter, items: Growing) -> Any:
    """The number of items."""
    if items.item is MISSING:
        return 0
    expect_leaves(items)
    n = emit.op("TensorListLength", [items.lists[0]])[0]
    return Weak("int", emit.cast(n, np.int32, np.int64))


def counted(emit: Emitter, n: int, initial: list[int], types: list[TensorType],
            body: Callable[[int, list[int]], list[int]]) -> list[int]:
    """A loop of `n` iterations, an int32: `body` makes the next values of the number of the iteration and the
    values."""
    graph, index = emit.graph, SCALAR
    first = emit.constant(0, np.int32)
    condition, args = graph.block([index, *types])
    before = graph.enter(condition)
    goes = emit.op("Less", [args[0], n])[0]
    block, args = graph.block([index, *types])
    graph.enter(block)
    made = body(args[0], args[1:])
    following = emit.op("AddV2", [args[0], emit.constant(1, np.int32)])[0]
    graph.enter(before)
    emit.locate()
    return list(graph.while_region([first, *initial], (condition, goes), (block, [following, *made]),
                                   [index, *types]))[1:]


def flattened(emit: Emitter, handle: int, found: ListLeaf) -> tuple[int, int]:
    """The items of the lists in a list, one behind the other in one list, and the lists' lengths."""
    name, dims = leaf_type(found.item)
    nothing, most = emit.constant([], np.int32), emit.constant(-1, np.int32)
    shape = emit.constant(dims, np.int32)

    def add(i: int, lists: list[int]) -> list[int]:
        part = emit.op("TensorListGetItem", [handle, i, nothing], {"element_dtype": "variant"}, [VARIANT])[0]
        n = emit.op("TensorListLength", [part])[0]

        def push_item(j: int, flat: list[int]) -> list[int]:
            one = emit.op("TensorListGetItem", [part, j, shape], {"element_dtype": name}, [(name, dims)])[0]
            return push(emit, flat, [one])

        return [*counted(emit, n, lists[:1], [VARIANT], push_item), *push(emit, lists[1:], [n])]

    flat = emit.op("EmptyTensorList", [shape, most], {"element_dtype": name})[0]
    lengths = emit.op("EmptyTensorList", [nothing, most], {"element_dtype": "int32"})[0]
    flat, lengths = counted(emit, emit.op("TensorListLength", [handle])[0], [flat, lengths], [VARIANT, VARIANT], add)
    return flat, lengths


def appended(emit: Emitter, items: Growing, value: Any) -> Growing:
    """The items and one more. If that is of a more general type, the others become so too: a loop that appends
    it finds that out in its first try and begins with the general type."""
    try:
        wanted = to_template(value) if items.item is MISSING else join(items.item, value)
        wanted = staged_template(wanted)
    except Differ as error:
        raise Refused(f"the items of a list have different types: {error.a} and {error.b}", code="P0104") from None
    lists = empty_lists(emit, wanted) if items.item is MISSING else converted(emit, items, wanted)
    made = Growing(wanted, tuple(push(emit, lists, coerce(emit, value, wanted))))
    keep(value)
    return made


def extended(emit: Emitter, items: Any, more: tuple[Any, ...]) -> Any:
    if isinstance(items, Fixed):
        return Fixed(items.items + more)
    for value in more:
        items = appended(emit, items, value)
    return items


def item(emit: Emitter, state: State, items: Growing, index: int) -> Any:
    """The item at an index, an int64 of the graph that is not negative."""
    expect_leaves(items)
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
    expect_leaves(items)
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
    keep(value)
    return Growing(items.item, tuple(lists))


def arrays_in(items: Fixed | Growing) -> tuple[Any, ...]:
    """The items, of which those of a list of staged length are arrays without a value: one for each leaf."""
    if isinstance(items, Fixed):
        return items.items
    found = () if items.item is MISSING else tuple(leaves(items.item))
    return tuple(Array(leaf.dtype, leaf.shape, roots=leaf.roots, owned=leaf.owned)
                 for leaf in found if isinstance(leaf, ArrayLeaf))


def growing(emit: Emitter, items: Any) -> Growing:
    """Items as those of a list of staged length."""
    if isinstance(items, Growing):
        return items
    try:
        template = join_items(items, Growing(MISSING, ()))
    except Differ as error:
        raise Refused(f"the items of a list have different types: {error.a} and {error.b}", code="P0104") from None
    assert isinstance(template, GrowingTemplate)
    if template.item is MISSING:
        raise Refused(f"the items of {describe(items)} are not known")
    return Growing(template.item, tuple(coerce(emit, items, template)))
