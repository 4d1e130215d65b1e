"""Values while a function is compiled.

    static    any Python object that is not one of the following
    Weak      a number of Python's that is staged: int (64 bits), float, complex or bool
    Array     dtype, shape with None for unknown sizes; its value is staged, or an array that is known
    ListObject, DictObject, Struct     mutable: cells in the journal
    Sequence  an iterable: range, zip, enumerate, reversed

A list has `Fixed` items, which are values themselves, or a number of items that is only known when the function
runs (`Growing`): then each leaf of an item's structure is a TensorList.
"""

from __future__ import annotations

import types
from typing import Any, Callable, Iterable

import numpy as np

from .errors import Refused
from .names import Owner, State

KINDS = {"bool": np.dtype(bool), "int": np.dtype(np.int64), "float": np.dtype(np.float64),
         "complex": np.dtype(np.complex128)}
ZEROS: dict[str, Any] = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}
ORDER = ["bool", "int", "float", "complex"]

NUMBERS: dict[type, str] = {bool: "bool", int: "int", float: "float", complex: "complex"}

Shape = tuple["int | None", ...]


def kind_of(dtype: Any) -> str:
    """The kind of an element type, one of "biufc" if it is one of numbers or booleans: ml_dtypes' bfloat16 is a float,
    though it has the kind "V"."""
    return "f" if dtype.kind == "V" and dtype.name == "bfloat16" else str(dtype.kind)


def kind_of_number(value: object) -> str | None:
    """The kind of a Python number."""
    try:
        return _KIND_OF_CLASS[type(value)]
    except KeyError:
        return next((kind for cls, kind in NUMBERS.items() if isinstance(value, cls)), None)


class Weak:
    """A staged number of Python's."""

    __slots__ = ("kind", "id", "origin")

    def __init__(self, kind: str, id: int, origin: Any = None):
        self.kind = kind
        self.id = id
        self.origin = origin

    def __repr__(self) -> str:
        return self.kind


_roots = iter(range(1, 1 << 62))


class Array:
    """An array: staged (`id`), or known (`const`). `roots` are the arrays whose memory it may have in NumPy;
    `owned` says that they were all made by the function."""

    __slots__ = ("dtype", "shape", "id", "const", "roots", "owned")

    def __init__(self, dtype: np.dtype[Any], shape: Shape, id: int | None = None, const: Any = None,
                 roots: frozenset[int] | None = None, owned: bool = True):
        self.dtype = np.dtype(dtype)
        self.shape = shape
        self.id = id
        self.const = const
        self.roots = frozenset([next(_roots)]) if roots is None else roots
        self.owned = owned

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def over(self, bases: Iterable[Array]) -> Array:
        """This as a view of other arrays, or of one of them. A number is none."""
        found = [base for base in bases if base is not self] if self.shape else []
        if not found:
            return self
        roots = frozenset[int]().union(*(base.roots for base in found))
        return Array(self.dtype, self.shape, self.id, self.const, roots, all(base.owned for base in found))

    def fresh(self) -> Array:
        """This as an array of its own."""
        return Array(self.dtype, self.shape, self.id, self.const)

    def __repr__(self) -> str:
        return f"{self.dtype}{shape_text(self.shape)}"


# For the classes that are asked most often.
_KIND_OF_CLASS: dict[type, str | None] = {**NUMBERS, Array: None, Weak: None}


def known(value: Any, owned: bool = True) -> Array:
    """An array of known contents."""
    array = np.asarray(value)
    return Array(array.dtype, array.shape, const=array, owned=owned)


def shape_text(shape: Shape) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


class Fixed:
    """The items of a list whose length is known."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Any, ...]):
        self.items = items


class Growing:
    """The items of a list whose length is staged: a template of an item, and a TensorList per leaf."""

    __slots__ = ("item", "lists")

    def __init__(self, item: Any, lists: tuple[int, ...]):
        self.item = item
        self.lists = lists


class ListObject(Owner):
    """A list."""

    def __init__(self, state: State, items: Any = ()):
        super().__init__(state)
        self.cells["items"] = (Fixed(tuple(items)) if isinstance(items, (tuple, list)) else items, None)

    @property
    def items(self) -> Fixed | Growing:
        return usable(self.cells["items"][0])  # type: ignore[no-any-return]


class DictObject(Owner):
    """A dict with static keys. The cell `items` has a dict that is never changed."""

    def __init__(self, state: State, items: dict[Any, Any]):
        super().__init__(state)
        self.cells["items"] = (items, None)

    @property
    def items(self) -> dict[Any, Any]:
        return usable(self.cells["items"][0])  # type: ignore[no-any-return]


class Struct(Owner):
    """An instance of a dataclass. Its cells are its attributes."""

    def __init__(self, state: State, cls: type, fields: dict[str, Any]):
        super().__init__(state)
        self.cls = cls
        for name, value in fields.items():
            self.cells[name] = (value, None)

    @property
    def fields(self) -> dict[str, Any]:
        return {name: usable(value) for name, (value, _) in self.cells.items() if isinstance(name, str)}


def make_struct(cls: type, fields: dict[str, Any]) -> Any:
    """An instance of a dataclass with these attributes, made without its `__init__`."""
    made: Any = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


class Sequence:
    """An iterable: a length, static or weak, and the item at an index. `can_stage` says whether `get` takes a staged
    index, `range` has the bounds and the step of a range.

    The length of a list, which the body of a loop may change, is a function that is asked in each iteration."""

    def __init__(self, length: Any, get: Callable[[Any], Any], *, is_staged: bool, can_stage: bool = True,
                 what: str = "iterable", rng: Any = None):
        self.bound = length
        self.get = get
        self.is_staged = is_staged
        self.can_stage = can_stage
        self.what = what
        self.range = rng

    @property
    def length(self) -> Any:
        return self.bound() if callable(self.bound) else self.bound


class Generated(ListObject):
    """The items of a generator expression."""


class Once(Owner):
    """The value of a variable that is an iterator: the first use leaves nothing of it."""

    def __init__(self, state: State, items: Any):
        super().__init__(state)
        self.items = items
        self.cells["used"] = (False, None)


class Text:
    """A string of the graph."""

    __slots__ = ("id",)

    def __init__(self, id: int):
        self.id = id


class Poison:
    """The value of a variable that cannot be used: reading it raises this refusal. `use_site` says that the
    refusal belongs to the place of the use."""

    __slots__ = ("message", "notes", "sites", "code")

    def __init__(self, message: str, notes: tuple[str, ...], sites: Any, *, code: str):
        self.message = message
        self.notes = notes
        self.sites = sites  # None: the place of the use
        self.code = code


class Partial:
    """A value that exists unless control flow has left: it can be used in the rest of the block, but not after the
    loop."""

    __slots__ = ("value", "poison")

    def __init__(self, value: Any, poison: Poison):
        self.value = value
        self.poison = poison


def usable(value: Any) -> Any:
    """The value of a cell. Raises Refused if it cannot be used."""
    if isinstance(value, Partial):
        return value.value
    if isinstance(value, Poison):
        raise Refused(value.message, value.notes, value.sites or (), code=value.code)
    return value


class Function:
    """A function that is defined in the function being compiled."""

    __slots__ = ("node", "frame", "defaults", "kw_defaults", "name", "scope")

    def __init__(self, node: Any, frame: Any, defaults: list[Any], kw_defaults: list[Any], name: str, scope: Any):
        self.node = node
        self.frame = frame
        self.defaults = defaults
        self.kw_defaults = kw_defaults
        self.name = name
        self.scope = scope


class Method:
    """A method of a value."""

    __slots__ = ("owner", "name")

    def __init__(self, owner: Any, name: str):
        self.owner = owner
        self.name = name


def is_written(method: Any) -> bool:
    """True for a method that the user wrote: no class of Python's has it, nor did a decorator make it."""
    if not isinstance(method, types.FunctionType) or method.__code__.co_filename == "<string>":
        return False
    return method.__globals__.get("__name__") not in ("collections", "dataclasses", "reprlib", "functools", "typing")


def is_plain_tuple(cls: type) -> bool:
    """True for tuple, and for named tuples that are made, iterated over and indexed as such."""
    return cls is tuple or hasattr(cls, "_fields") and not any(
        is_written(getattr(cls, name, None)) for name in ("__iter__", "__getitem__", "__len__", "__new__"))


def is_staged(value: Any) -> bool:
    """True if anything in a value is only known when the function runs."""
    if isinstance(value, Array):
        return value.const is None
    if isinstance(value, Weak):
        return True
    if isinstance(value, (tuple, list)):
        return any(map(is_staged, value))
    if isinstance(value, dict):
        return any(map(is_staged, value.values()))
    if isinstance(value, ListObject):
        items = value.items
        return isinstance(items, Growing) or is_staged(items.items)
    if isinstance(value, DictObject):
        return is_staged(value.items)
    if isinstance(value, Struct):
        return is_staged(value.fields)
    if isinstance(value, Sequence):
        return value.is_staged
    return isinstance(value, (Function, Method, Text))


def known_arrays(value: Any) -> list[Array]:
    """The arrays in a value, all of which are known."""
    if isinstance(value, Array):
        return [value]
    if isinstance(value, ListObject):
        value = value.items.items  # type: ignore[union-attr]
    return [found for part in value for found in known_arrays(part)] if isinstance(value, tuple) else []


def describe(value: Any) -> str:
    """A value in a message."""
    if isinstance(value, (Weak, Array)):
        return repr(value) if isinstance(value, Weak) or value.const is None else f"{value.dtype}{shape_text(value.shape)}"
    if isinstance(value, Text):
        return "a text"
    if isinstance(value, ListObject):
        return "a list"
    if isinstance(value, DictObject):
        return "a dict"
    if isinstance(value, Struct):
        return f"a {value.cls.__name__}"
    if isinstance(value, Function):
        return f"the function '{value.name}'"
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
        return f"'{getattr(value, '__qualname__', value)}'"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(describe, value)) + ")"
    kind = kind_of_number(value)
    if kind == "int" and value.bit_length() > 256:
        return f"int of {value.bit_length()} bits"
    if kind:
        return f"{kind} {value!r}"
    text = repr(value)
    return text if len(text) < 60 else f"a {type(value).__name__}"
