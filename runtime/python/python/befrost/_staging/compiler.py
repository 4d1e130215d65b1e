"""From a Python function and its arguments to a graph.

    arguments ──describe──▶ key: dtypes, ranks, structure, static values; and sizes
    key and sizes ──stage──▶ Staged: the graph, how to flatten arguments, how to build results
"""

from __future__ import annotations

import ast
import dataclasses
import sys
import types
from typing import Any

import numpy as np

from .. import _native
from .._errors import WrongRangeError, WrongTypeError
from .._functions import Gradient
from .._tensor import Tensor
from .._variable import Variable
from .calls import Calls
from .emitter import type_of_leaf
from .errors import Refused, Site
from .expressions import Expressions
from .interpreter import Frame
from .loops import Loops
from .names import MISSING
from .results import Build, result_of
from .source import Scope, function_node
from .statements import Statements
from .text import Texts
from .values import (
    KINDS, Array, DictObject, ListObject, Struct, Weak, describe, is_plain_tuple, kind_of, kind_of_number, known,
)


class Interpreter(Statements, Loops, Expressions, Calls, Texts):
    """The interpreter with all its parts."""

    root_globals: dict[str, Any]
    store: Any = None

    def outside_made(self, value: Any, sources: list[Array]) -> Any:
        """The value of an object that NumPy computed from known arrays, of which it may be a view."""
        if isinstance(value, tuple):
            parts = [self.outside_made(part, sources) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, list):
            return ListObject(self.state, [self.outside_made(part, sources) for part in value])
        if not isinstance(value, (np.ndarray, np.generic)):
            return value
        made = known(value)
        return made.over([source for source in sources if np.may_share_memory(value, source.const)])


# ---- arguments ----


class Leaf:
    """The type of an argument's part: a number's kind, or an array's dtype and shape."""

    __slots__ = ("kind", "dtype", "shape")

    def __init__(self, kind: str | None, dtype: Any, shape: tuple[Any, ...]):
        self.kind = kind
        self.dtype = dtype
        self.shape = shape

    def __repr__(self) -> str:
        sizes = ", ".join("?" if size is None else str(size) for size in self.shape)
        return self.kind or f"{np.dtype(self.dtype).name}[{sizes}]"


def is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic, Tensor)) or (
        hasattr(value, "__array__") and not isinstance(value, type) or hasattr(value, "__dlpack__"))


def as_numpy(value: Any) -> Any:
    """An array argument, and its dtype and shape."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def flatten(value: Any, leaves: list[Any], types_: list[Leaf], depth: int = 0) -> Any:
    """The structure of an argument as a hashable key. Its arrays and numbers are appended to `leaves`."""
    if depth > 64:
        raise WrongTypeError("an argument is nested more than 64 levels deep")
    if isinstance(value, Variable):
        return "static", Static(value)
    if isinstance(value, Tensor):
        shape = value.shape
        types_.append(Leaf(None, value.dtype, shape))
        leaves.append(value)
        return "array", value.dtype_name, len(shape)
    kind = kind_of_number(value) if not isinstance(value, np.generic) else None
    if kind is not None:
        if kind == "int" and not -(1 << 63) <= value < 1 << 63:
            raise WrongRangeError(f"the integer {value} has more than 64 bits")
        types_.append(Leaf(kind, KINDS[kind], ()))
        leaves.append(np.asarray(value, KINDS[kind]))
        return kind
    if is_array(value):
        array = as_numpy(value)
        if isinstance(value, np.ndarray) and type(value).__mul__ is not np.ndarray.__mul__:
            raise WrongTypeError(f"an argument is a {type(value).__name__}, an array with operators of its own: give np.asarray of it")
        kind, n_bytes = kind_of(array.dtype), array.dtype.itemsize
        if kind not in "biufc" or kind == "f" and n_bytes == 1 or n_bytes > 16 or array.dtype in (np.longdouble, np.clongdouble):
            raise WrongTypeError(f"an argument is an array of dtype {array.dtype}: give numbers or booleans")
        types_.append(Leaf(None, array.dtype.newbyteorder("="), array.shape))
        leaves.append(array)
        return "array", array.dtype.name, array.ndim
    if isinstance(value, tuple):
        cls = type(value)
        if not is_plain_tuple(cls):
            raise WrongTypeError(f"an argument is a {cls.__name__}, which is no plain tuple: give a named tuple without __iter__, "
                                 "__getitem__ and __len__ of its own, or a dataclass")
        return "tuple", cls, tuple(flatten(part, leaves, types_, depth + 1) for part in value)
    if isinstance(value, list):
        return "list", tuple(flatten(part, leaves, types_, depth + 1) for part in value)
    if isinstance(value, dict):
        return "dict", tuple((key, flatten(part, leaves, types_, depth + 1)) for key, part in value.items())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return "dataclass", type(value), tuple(
            (f.name, flatten(getattr(value, f.name), leaves, types_, depth + 1)) for f in dataclasses.fields(value))
    return "static", Static(value)


def frozen(value: Any) -> Any:
    """A static argument as what it is equal to: by value, if it is made of numbers, texts, arrays and collections or has
    a hash; else by identity."""
    kind = type(value)
    if kind in (list, tuple):
        return kind, tuple(map(frozen, value))
    if kind is dict:
        return kind, tuple((frozen(key), frozen(part)) for key, part in value.items())
    if kind is np.ndarray and not value.dtype.hasobject:
        return kind, value.dtype, value.shape, value.tobytes()
    if kind in (float, complex):
        return kind, repr(value)  # of zeros the sign, too
    if dataclasses.is_dataclass(value) and kind.__hash__ is None:
        return kind, tuple(frozen(getattr(value, f.name)) for f in dataclasses.fields(value))
    try:
        hash(value)
    except TypeError:
        return kind, frozenset(value) if kind is set else id(value)
    return kind, value


class Static:
    """A static argument in a key."""

    __slots__ = ("value", "frozen")

    def __init__(self, value: Any):
        self.value = value
        self.frozen = frozen(value)

    def __hash__(self) -> int:
        return hash(self.frozen)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return False
        try:
            return bool(self.frozen == other.frozen)
        except Exception:
            return self.value is other.value


def unflatten(interp: Interpreter, key: Any, parts: Any) -> Any:
    """The staged value of an argument."""
    if isinstance(key, str) or key[0] == "array":
        return next(parts)
    tag = key[0]
    if tag == "tuple":
        items = [unflatten(interp, part, parts) for part in key[2]]
        return key[1](*items) if key[1] is not tuple else tuple(items)
    if tag == "list":
        return ListObject(interp.state, [unflatten(interp, part, parts) for part in key[1]])
    if tag == "dict":
        return DictObject(interp.state, {name: unflatten(interp, part, parts) for name, part in key[1]})
    if tag == "dataclass":
        return Struct(interp.state, key[1], {name: unflatten(interp, part, parts) for name, part in key[2]})
    return interp.outside(key[1].value)


def leaf_names(name: str, key: Any) -> list[str]:
    """The names of an argument's leaves."""
    if isinstance(key, str) or key[0] == "array":
        return [name]
    if key[0] == "tuple":
        fields = getattr(key[1], "_fields", None)
        return [n for i, part in enumerate(key[2]) for n in leaf_names(f"{name}.{fields[i] if fields else i}", part)]
    if key[0] == "list":
        return [n for i, part in enumerate(key[1]) for n in leaf_names(f"{name}.{i}", part)]
    if key[0] in ("dict", "dataclass"):
        return [n for inner, part in key[-1] for n in leaf_names(f"{name}.{inner}", part)]
    return []


# ---- the whole ----

MAX_RECURSION = 12_000


class Staged:
    """A function as a graph."""

    def __init__(self, graph: Any, n_results: int, build: Build, prints: bool, store: Any):
        self.graph = graph
        self.n_results = n_results
        self.build = build
        self.prints = prints
        self.store = store


def stage(function: types.FunctionType, keys: dict[str, Any], leaf_types: list[Leaf], unroll: int,
          gradient: Gradient | None = None) -> Staged:
    """Interprets a function. `keys` are the structures of its arguments by name, `leaf_types` the types of their
    leaves in order. Raises Refused with places."""
    interp = Interpreter("main", unroll)
    interp.root_globals = function.__globals__
    code = function.__code__
    limit = sys.getrecursionlimit()
    empty = Scope.__new__(Scope)
    empty.assigned, empty.nonlocals, empty.globals, empty.is_generator = set(), set(), set(), False
    try:
        # A level of nesting in the source is several calls here, none of which needs C's stack.
        sys.setrecursionlimit(max(limit, MAX_RECURSION))
        place = ast.Pass(lineno=code.co_firstlineno, col_offset=0, end_lineno=code.co_firstlineno, end_col_offset=0)
        interp.node = place
        interp.frame = Frame(interp.state, code.co_name, code.co_filename, empty, None, None, function.__globals__)
        node = function_node(function)
        interp.node = node
        scope = Scope(node)
        if scope.is_generator:
            raise Refused(f"'{function.__name__}' is a generator: 'yield' cannot be compiled", code="P0102")
        frame = Frame(interp.state, code.co_name, code.co_filename, scope, None, function, function.__globals__)
        types_ = iter(leaf_types)
        for name, key in keys.items():
            values = []
            for leaf_name in leaf_names(name, key):
                leaf = next(types_)
                id = interp.emit.graph.argument(leaf_name, type_of_leaf(leaf.dtype, leaf.shape))
                values.append(Weak(leaf.kind, id) if leaf.kind else Array(leaf.dtype, leaf.shape, id, owned=False))
            frame.cells[name] = (unflatten(interp, key, iter(values)), None)
        if gradient is not None:
            args: list[Any] = []
            kwargs: dict[str, Any] = {}
            for at, name in enumerate(keys):
                value = frame.cells[name][0]
                if node.args.vararg is not None and name == node.args.vararg.arg:
                    args += value
                elif node.args.kwarg is not None and name == node.args.kwarg.arg:
                    kwargs.update(value.items)
                elif at < code.co_argcount:
                    args.append(value)
                else:
                    kwargs[name] = value
            result = interp.gradient(function, gradient, args, kwargs)
            return finished(interp, result)
        interp.frame = frame
        frame.signature = (node, None)
        if isinstance(node, ast.Lambda):
            result = interp.eval(node.body)
        else:
            interp.block(node.body)
            interp.node = node
            result = interp.result()
        interp.node = node
        return finished(interp, result)
    except Refused as error:
        if not error.sites:
            error.sites = interp.sites()
        raise
    except RecursionError:
        raise Refused("the function is nested too deeply", (), interp.sites()[:8], code="P0110") from None
    except MemoryError:
        raise
    except Exception as error:
        # An exception of an object's own code (`__eq__`, `__hash__`), or a mistake here: it has a place all the same.
        raise Refused(f"{type(error).__name__}: {error}", (), interp.sites(), code="P0100") from error
    finally:
        sys.setrecursionlimit(limit)


def finished(interp: Interpreter, result: Any) -> Staged:
    """The graph with its results."""
    out: list[tuple[str, int]] = []
    build = result_of(interp, result, out, "result")
    interp.emit.graph.finish(out)
    return Staged(interp.emit.graph, len(out), build, interp.prints, interp.store)


# The builder's tables of operators are made with the first op: now, not in a call.
_native.Graph("tables").string("")

__all__ = ["MISSING", "Site", "Staged", "flatten", "stage"]
