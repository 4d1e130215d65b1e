"""One value for two ways of control flow.

    join(a, b)                 ──▶ template: a structure with leaves, or Poison where no value can be both
    coerce(value, template)    ──▶ the graph's values of its leaves
    instantiate(template, ids) ──▶ the value

Sizes that differ become unknown; a static number that differs becomes weak; a weak number takes the dtype that
meets it. Everything else must be equal.
"""

from __future__ import annotations

from typing import Any, Iterator, Union

import numpy as np

from .emitter import VARIANT, Emitter, TensorType, type_of_leaf
from .errors import Refused
from .names import MISSING, Owner, State
from .values import (
    KINDS, ORDER, ZEROS, Array, DictObject, Fixed, Growing, ListObject, Partial, Poison, Shape, Struct, Weak, describe,
    kind_of_number,
)

# Limit of the arrays among which branches choose, so that the memory of thousands of branches is bounded.
MAX_ROOTS = 4096


class NumberLeaf:
    """A weak number."""

    __slots__ = ("kind", "origin")

    def __init__(self, kind: str, origin: Any = None):
        self.kind = kind
        self.origin = origin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberLeaf) and other.kind == self.kind

    def __repr__(self) -> str:
        return self.kind


class ArrayLeaf:
    """An array of this type."""

    __slots__ = ("dtype", "shape", "roots", "owned")

    def __init__(self, dtype: Any, shape: Shape, roots: frozenset[int], owned: bool):
        self.dtype = dtype
        self.shape = shape
        self.roots = roots
        self.owned = owned

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, ArrayLeaf) and other.dtype == self.dtype and other.shape == self.shape
                and other.owned == self.owned)


class ListLeaf:
    """The TensorList of a list in a list of staged length. `item` is the leaf of its items."""

    __slots__ = ("item",)

    def __init__(self, item: Leaf):
        self.item = item

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListLeaf) and other.item == self.item


Leaf = Union[NumberLeaf, ArrayLeaf, ListLeaf]


Pair = tuple[Any, Any]


class ListTemplate:
    """A list that is another one on each way. `is_kept`: a list of staged length has it. `of`: the lists of both ways."""

    __slots__ = ("items", "is_kept", "of")

    def __init__(self, items: Any, is_kept: bool = False, of: Pair | None = None):
        self.items = items
        self.is_kept = is_kept
        self.of = of


class DictTemplate:
    __slots__ = ("items", "is_kept", "of")

    def __init__(self, items: dict[Any, Any], is_kept: bool = False, of: Pair | None = None):
        self.items = items
        self.is_kept = is_kept
        self.of = of


class StructTemplate:
    __slots__ = ("cls", "fields", "is_kept", "of")

    def __init__(self, cls: type, fields: dict[str, Any], is_kept: bool = False, of: Pair | None = None):
        self.cls = cls
        self.fields = fields
        self.is_kept = is_kept
        self.of = of


class Known:
    """The objects that a join has made, by the objects of both ways, so that two names of one object stay two names of
    one object. What is as old as `clock` or older was there before the ways divided."""

    def __init__(self, clock: int):
        self.clock = clock
        self.made: dict[tuple[int, int], Owner] = {}

    def one_of(self, of: Pair | None, made: Owner) -> Owner:
        """The object that was made for a pair of objects: this one, if there is none yet."""
        if of is None:
            return made
        first, second = (part.itself if isinstance(part, Owner) else part for part in of)
        known = self.made.setdefault((id(first), id(second)), made)
        if known is made and first is not second:
            for part in (first, second):
                if isinstance(part, Owner) and part.birth <= self.clock:
                    part.others = [*part.others, made]
                    made.others = [*made.others, part]
        return known


class GrowingTemplate:
    """Items of a list whose length is staged."""

    __slots__ = ("item",)

    def __init__(self, item: Any):
        self.item = item


class Differ(Exception):
    """Two values cannot be one. `a` and `b` are in words."""

    def __init__(self, a: str, b: str):
        super().__init__(a, b)
        self.a = a
        self.b = b


def equal_static(a: Any, b: Any) -> bool:
    """True for static objects that are the same value."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    try:
        return bool(a == b) or (isinstance(a, float) and a != a and b != b)
    except Exception:
        return False


def _equal_const(a: Array, b: Array) -> bool:
    return (a.const is not None and b.const is not None and a.dtype == b.dtype and a.shape == b.shape
            and a.const.tobytes() == b.const.tobytes())


def leaf(value: Any) -> NumberLeaf | ArrayLeaf | None:
    """The leaf of a number or an array."""
    kind = kind_of_number(value)
    if kind is not None:
        return NumberLeaf(kind)
    if isinstance(value, Weak):
        return NumberLeaf(value.kind, value.origin)
    if isinstance(value, Array):
        return ArrayLeaf(value.dtype, value.shape, value.roots, value.owned)
    if isinstance(value, (NumberLeaf, ArrayLeaf)):
        return value
    return None


def _leaf_text(a: NumberLeaf | ArrayLeaf) -> str:
    if isinstance(a, NumberLeaf):
        return a.kind
    return repr(Array(a.dtype, a.shape, 0, roots=a.roots))


def join_leaves(a: NumberLeaf | ArrayLeaf, b: NumberLeaf | ArrayLeaf) -> NumberLeaf | ArrayLeaf:
    if isinstance(a, NumberLeaf) and isinstance(b, NumberLeaf):
        if a.kind != b.kind and "bool" in (a.kind, b.kind):
            if {a.kind, b.kind} != {"bool", "int"}:
                raise Differ(a.kind, b.kind)
        return NumberLeaf(max(a.kind, b.kind, key=ORDER.index), a.origin or b.origin)
    if isinstance(a, NumberLeaf):
        return join_leaves(b, a)
    if isinstance(b, NumberLeaf):
        # A number takes the dtype that meets it, if that is of its kind or a wider one.
        if np.result_type(a.dtype, ZEROS[b.kind]) != a.dtype or a.shape != ():
            raise Differ(_leaf_text(a), b.kind)
        return ArrayLeaf(a.dtype, (), a.roots, a.owned)
    if a.dtype != b.dtype:
        raise Differ(_leaf_text(a), _leaf_text(b))
    if len(a.shape) != len(b.shape):
        raise Differ(_leaf_text(a), _leaf_text(b))
    shape = tuple(x if x == y else None for x, y in zip(a.shape, b.shape))
    # A number is a view of nothing.
    roots = a.roots | b.roots if shape else frozenset()
    if len(roots) > MAX_ROOTS:
        raise Refused(f"an array may be one of more than {MAX_ROOTS} others, since as many branches choose: make a copy",
                      code="P0110")
    return ArrayLeaf(a.dtype, shape, roots, a.owned and b.owned)


def join(a: Any, b: Any) -> Any:
    """The template of two values, or of a template and a value. Raises Differ."""
    if a is MISSING:
        return to_template(b)
    if b is MISSING:
        return to_template(a)
    if a is b:
        return a.itself if isinstance(a, Owner) else a
    if isinstance(a, Owner) and isinstance(b, Owner) and a.itself is b.itself:
        return a.itself
    if isinstance(a, Array) and isinstance(b, Array) and _equal_const(a, b):
        return a if a.roots == b.roots else a.over([a.fresh().over([a]), b])
    if isinstance(a, (Weak, Array)) or isinstance(b, (Weak, Array)) or kind_of_number(a) or kind_of_number(b) \
            or isinstance(a, (NumberLeaf, ArrayLeaf)) or isinstance(b, (NumberLeaf, ArrayLeaf)):
        if kind_of_number(a) and equal_static(a, b):
            return a
        x, y = leaf(a), leaf(b)
        if x is None or y is None:
            raise Differ(describe(a), describe(b))
        return join_leaves(x, y)
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b) or type(a) is not type(b):
            raise Differ(_kind(a), _kind(b))
        return make_tuple(a, [join(x, y) for x, y in zip(a, b)])
    if isinstance(a, (Fixed, Growing, GrowingTemplate)) and isinstance(b, (Fixed, Growing, GrowingTemplate)):
        return join_items(a, b)
    if isinstance(a, (ListObject, ListTemplate)) and isinstance(b, (ListObject, ListTemplate)):
        return ListTemplate(join_items(a.items, b.items), a.is_kept or b.is_kept, (a, b))
    if isinstance(a, (DictObject, DictTemplate)) and isinstance(b, (DictObject, DictTemplate)):
        return DictTemplate(join_dicts(a.items, b.items), a.is_kept or b.is_kept, (a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return join_dicts(a, b)
    if isinstance(a, (Struct, StructTemplate)) and isinstance(b, (Struct, StructTemplate)):
        if a.cls is not b.cls:
            raise Differ(a.cls.__name__, b.cls.__name__)
        return StructTemplate(a.cls, join_dicts(a.fields, b.fields), a.is_kept or b.is_kept, (a, b))
    if equal_static(a, b):
        return a
    raise Differ(_kind(a), _kind(b))


def _kind(value: Any) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}" if type(value) is tuple else f"a {type(value).__name__}"
    return describe(value)


def join_dicts(a: dict[Any, Any], b: dict[Any, Any]) -> dict[Any, Any]:
    if list(a) != list(b):
        if sorted(map(repr, a)) != sorted(map(repr, b)):
            raise Differ(f"a dict of {list(a)}", f"a dict of {list(b)}")
    return {key: join(value, b[key]) for key, value in a.items()}


def join_items(a: Any, b: Any) -> Any:
    """The template of a list's items."""
    if isinstance(a, Fixed) and isinstance(b, Fixed) and len(a.items) == len(b.items):
        return Fixed(tuple(join(x, y) for x, y in zip(a.items, b.items)))
    item: Any = MISSING
    for items in (a, b):
        for part in (items.items if isinstance(items, Fixed) else [items.item]):
            if part is not MISSING:
                item = join(item, part) if item is not MISSING else to_template(part)
    if item is not MISSING:
        item = staged_template(item)
    return GrowingTemplate(item)


def to_template(value: Any, clock: int = -1) -> Any:
    """The template of one value: what is staged becomes leaves. What is as old as `clock` or older stays itself."""
    if isinstance(value, Weak):
        return NumberLeaf(value.kind, value.origin)
    if isinstance(value, Array):
        return value if value.const is not None else ArrayLeaf(value.dtype, value.shape, value.roots, value.owned)
    if isinstance(value, tuple):
        return make_tuple(value, [to_template(x, clock) for x in value])
    if isinstance(value, Fixed):
        return Fixed(tuple(to_template(x, clock) for x in value.items))
    if isinstance(value, Growing):
        return GrowingTemplate(value.item)
    if isinstance(value, Owner) and value.birth <= clock:
        return value.itself
    of = (value, value)
    if isinstance(value, ListObject):
        return ListTemplate(to_template(value.items, clock), value.is_kept, of)
    if isinstance(value, DictObject):
        return DictTemplate({key: to_template(x, clock) for key, x in value.items.items()}, value.is_kept, of)
    if isinstance(value, dict):
        return {key: to_template(x, clock) for key, x in value.items()}
    if isinstance(value, Struct):
        return StructTemplate(value.cls, {key: to_template(x, clock) for key, x in value.fields.items()}, value.is_kept, of)
    return value


def staged_template(template: Any) -> Any:
    """A template whose numbers and known arrays are leaves too. Raises Differ for what cannot be staged. What can be
    changed in it is kept."""
    found = leaf(template)
    if found is not None:
        return found
    if isinstance(template, tuple):
        return make_tuple(template, [staged_template(x) for x in template])
    if isinstance(template, dict):
        return {key: staged_template(x) for key, x in template.items()}
    if isinstance(template, DictTemplate):
        return DictTemplate({key: staged_template(x) for key, x in template.items.items()}, True)
    if isinstance(template, StructTemplate):
        return StructTemplate(template.cls, {key: staged_template(x) for key, x in template.fields.items()}, True)
    if isinstance(template, ListTemplate):
        return ListTemplate(staged_template(template.items), True)
    if isinstance(template, Fixed):
        return Fixed(tuple(staged_template(x) for x in template.items))
    if isinstance(template, GrowingTemplate):
        return template
    if template is None or isinstance(template, str):
        return template
    raise Differ("an item of a list whose length is only known when it runs", describe(template))


def make_tuple(like: tuple[Any, ...], items: list[Any]) -> Any:
    """A tuple of the class of another."""
    return type(like)(*items) if hasattr(like, "_fields") else tuple(items)


def leaves(template: Any) -> Iterator[Leaf]:
    """The leaves of a template in order."""
    if isinstance(template, (NumberLeaf, ArrayLeaf)):
        yield template
    elif isinstance(template, tuple):
        for part in template:
            yield from leaves(part)
    elif isinstance(template, Fixed):
        for part in template.items:
            yield from leaves(part)
    elif isinstance(template, dict):
        for part in template.values():
            yield from leaves(part)
    elif isinstance(template, GrowingTemplate):
        if template.item is not MISSING:
            yield from map(ListLeaf, leaves(template.item))
    elif isinstance(template, ListTemplate):
        yield from leaves(template.items)
    elif isinstance(template, DictTemplate):
        yield from leaves(template.items)
    elif isinstance(template, StructTemplate):
        yield from leaves(template.fields)


def leaf_type(found: Leaf) -> TensorType:
    """The type of a leaf in the graph."""
    if isinstance(found, ListLeaf):
        return VARIANT
    if isinstance(found, NumberLeaf):
        return type_of_leaf(KINDS[found.kind], ())
    return type_of_leaf(found.dtype, found.shape)


def types(template: Any) -> list[TensorType]:
    return [leaf_type(found) for found in leaves(template)]


def coerce(emit: Emitter, value: Any, template: Any) -> list[int]:
    """The graph's values of the leaves of a value, as the template wants them. A value that is not there gives
    zeros. Raises Refused if the template does not fit."""
    out: list[int] = []
    _coerce(emit, value, template, out)
    return out


def _coerce(emit: Emitter, value: Any, template: Any, out: list[int]) -> None:
    if isinstance(value, Partial):
        value = value.value
    if isinstance(template, NumberLeaf):
        dtype = KINDS[template.kind]
        out.append(emit.zeros(dtype, ()) if _is_absent(value) else emit.id(value, dtype))
    elif isinstance(template, ArrayLeaf):
        if _is_absent(value):
            id = emit.zeros(template.dtype, template.shape)
        else:
            id = emit.id(value, template.dtype)
        out.append(id)
    elif isinstance(template, tuple):
        parts = value if isinstance(value, tuple) else [MISSING] * len(template)
        for part, inner in zip(parts, template):
            _coerce(emit, part, inner, out)
    elif isinstance(template, Fixed):
        parts = value.items if isinstance(value, Fixed) else [MISSING] * len(template.items)
        for part, inner in zip(parts, template.items):
            _coerce(emit, part, inner, out)
    elif isinstance(template, dict):
        for key, inner in template.items():
            _coerce(emit, MISSING if _is_absent(value) else value[key], inner, out)
    elif isinstance(template, GrowingTemplate):
        _coerce_growing(emit, value, template, out)
    elif isinstance(template, (ListTemplate, DictTemplate)):
        _coerce(emit, MISSING if _is_absent(value) else value.items, template.items, out)
    elif isinstance(template, StructTemplate):
        _coerce(emit, MISSING if _is_absent(value) else value.fields, template.fields, out)


def _is_absent(value: Any) -> bool:
    return value is MISSING or isinstance(value, Poison)


def _coerce_growing(emit: Emitter, value: Any, template: GrowingTemplate, out: list[int]) -> None:
    if template.item is MISSING:
        return
    if isinstance(value, Growing):
        if value.item is MISSING:
            out.extend(empty_lists(emit, template.item))
            return
        out.extend(converted(emit, value, template.item))
        return
    lists = empty_lists(emit, template.item)
    if isinstance(value, Fixed):
        for item in value.items:
            lists = push(emit, lists, coerce(emit, item, template.item))
            keep(item)
    out.extend(lists)


def keep_grown(value: Any, template: Any) -> None:
    """Keeps the items of the lists in a value that have a staged length in the template."""
    if isinstance(value, (ListObject, DictObject)) and isinstance(template, (ListTemplate, DictTemplate)):
        value, template = value.items, template.items
    elif isinstance(value, Struct) and isinstance(template, StructTemplate):
        value, template = value.fields, template.fields
    if isinstance(value, Fixed) and isinstance(template, GrowingTemplate):
        for part in value.items:
            keep(part)
    elif isinstance(value, Fixed) and isinstance(template, Fixed):
        keep_grown(value.items, template.items)
    elif isinstance(value, tuple) and isinstance(template, tuple):
        for part, inner in zip(value, template):
            keep_grown(part, inner)
    elif isinstance(value, dict) and isinstance(template, dict):
        for key, inner in template.items():
            keep_grown(value.get(key), inner)


def keep(value: Any) -> None:
    """Says of all that can be changed in a value that a list of staged length has it."""
    if isinstance(value, (ListObject, DictObject, Struct)):
        value.keep()
        value = value.fields if isinstance(value, Struct) else value.items
    if isinstance(value, (tuple, Fixed)):
        for part in (value.items if isinstance(value, Fixed) else value):
            keep(part)
    elif isinstance(value, dict):
        for part in value.values():
            keep(part)


def converted(emit: Emitter, items: Growing, item: Any) -> list[int]:
    """The lists of items of a more general type: other dtypes, if need be."""
    before, after = list(leaves(items.item)), list(leaves(item))
    out = []
    if list(map(innermost, before)) != list(map(innermost, after)):
        raise Refused("the lists in a list whose length is only known when it runs differ in length, or in the types of "
                      "their items", code="P0104")
    for have, want, handle in zip(before, after, items.lists):
        (source, dims), (target, _) = leaf_type(have), leaf_type(want)
        if source != target:
            assert dims is not None
            shape = emit.constant(dims, np.int32)
            stacked = emit.op("TensorListStack", [handle, shape], {"element_dtype": source, "num_elements": -1},
                              [(source, [-1, *dims])])[0]
            wide = emit.cast(stacked, source, target)
            handle = emit.op("TensorListFromTensor", [wide, shape], {"element_dtype": target})[0]
        out.append(handle)
    return out


def empty_lists(emit: Emitter, item: Any) -> list[int]:
    """A TensorList without elements for each leaf of an item."""
    made = []
    for found in leaves(item):
        name, dims = leaf_type(found)
        shape = emit.constant(dims, np.int32)
        most = emit.constant(-1, np.int32)
        made += emit.op("EmptyTensorList", [shape, most], {"element_dtype": name})
    return made


def innermost(found: Leaf) -> Any:
    """The dtype of the numbers in the lists of a leaf; None for other leaves."""
    inner = found
    while isinstance(inner, ListLeaf):
        inner = inner.item
    return None if inner is found else leaf_type(inner)[0]


def push(emit: Emitter, lists: list[int], parts: list[int]) -> list[int]:
    """The lists with an element more."""
    return [emit.op("TensorListPushBack", [handle, part])[0] for handle, part in zip(lists, parts)]


def instantiate(emit: Emitter, state: State, template: Any, ids: Iterator[int], known: Known | None = None) -> Any:
    """The value of a template with these values as leaves."""
    def again(part: Any) -> Any:
        return instantiate(emit, state, part, ids, known)

    if isinstance(template, NumberLeaf):
        return Weak(template.kind, next(ids), template.origin)
    if isinstance(template, ArrayLeaf):
        return Array(template.dtype, template.shape, next(ids), roots=template.roots, owned=template.owned)
    if isinstance(template, tuple):
        return make_tuple(template, [again(part) for part in template])
    if isinstance(template, Fixed):
        return Fixed(tuple(again(part) for part in template.items))
    if isinstance(template, dict):
        return {key: again(part) for key, part in template.items()}
    if isinstance(template, GrowingTemplate):
        n = 0 if template.item is MISSING else sum(1 for _ in leaves(template.item))
        return Growing(template.item, tuple(next(ids) for _ in range(n)))
    if isinstance(template, (ListTemplate, DictTemplate, StructTemplate)):
        made: ListObject | DictObject | Struct
        if isinstance(template, ListTemplate):
            made = ListObject(state, again(template.items))
        elif isinstance(template, DictTemplate):
            made = DictObject(state, again(template.items))
        else:
            made = Struct(state, template.cls, again(template.fields))
        if template.is_kept:
            made.keep()
        return made if known is None else known.one_of(template.of, made)
    return template


def same(a: Any, b: Any) -> bool:
    """True for templates with the same leaves in the same places."""
    if a is b:
        return True
    if isinstance(a, Poison) and isinstance(b, Poison):
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, (NumberLeaf, ArrayLeaf, ListLeaf)):
        return bool(a == b)
    if isinstance(a, Array):
        return _equal_const(a, b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Fixed):
        return same(a.items, b.items)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(part, b[key]) for key, part in a.items())
    if isinstance(a, GrowingTemplate):
        return same(a.item, b.item)
    if isinstance(a, (ListTemplate, DictTemplate)):
        return a.is_kept == b.is_kept and same(a.items, b.items)
    if isinstance(a, StructTemplate):
        return a.cls is b.cls and a.is_kept == b.is_kept and same(a.fields, b.fields)
    return equal_static(a, b)
