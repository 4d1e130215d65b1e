"""Calls: functions of Python's are inlined, those of the table build ops, the rest is executed while compiling.

    Function, Python function with a source of the user's ──▶ inlined, with the place of the call
    NumPy's and Python's functions in the table           ──▶ ops
    class of a dataclass, named tuple                     ──▶ a structure
    anything else, with static arguments                  ──▶ called now; with staged ones refused by name
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._functions import Gradient, static
from .._tensor import Tensor
from .._variable import Variable
from .arithmetic import as_array, expect_few, is_numeric, truth
from .errors import Refused, note, refusal_of
from .interpreter import MAX_DEPTH, RETURN, VALUE, Control, Frame
from .joins import Differ
from .lists import appended, growing, length, popped
from .names import MISSING
from .source import Scope, function_node
from .values import (
    KINDS, Array, DictObject, Fixed, Function, Growing, ListObject, Method, Sequence, Struct, Weak, describe,
    is_plain_tuple, is_staged, kind_of, kind_of_number, known, known_arrays, make_struct,
)

if TYPE_CHECKING:
    from ..tf import Operator

# Modules whose functions are never the user's.
LIBRARIES = ("numpy", "math", "builtins", "functools", "itertools", "operator", "befrost", "dataclasses", "typing")
# Modules and builtins whose functions answer differently each time.
CHANGING = ("random", "time", "datetime", "secrets", "uuid", "os", "io", "sys", "socket", "subprocess", "numpy.random")
CHANGING_BUILTINS = ("open", "input", "exec", "eval", "compile", "globals", "locals", "vars", "breakpoint")

# Limit of the calls that are inlined, so that the time is bounded.
MAX_CALLS = 1 << 14

REDUCTIONS: dict[Any, Any] = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
                              np.logical_and: np.all, np.logical_or: np.any}
ACCUMULATIONS: dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}


def name_of(function: Any) -> str:
    """The name of a function in a message."""
    if isinstance(function, Function):
        return function.name
    if isinstance(function, Method):
        return f"{describe(function.owner)}.{function.name}"
    if isinstance(function, np.ufunc):
        return f"numpy.{function.__name__}"
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
    return f"{module}.{name}" if module and module != "builtins" else name


class Calls(Control):
    """Evaluates calls."""

    allows_changing = False
    n_inlined = 0

    def ev_Call(self, node: ast.Call) -> Any:
        function = self.eval(node.func)
        if function is static:
            # Evaluated while compiling, even if the answer differs each time.
            before, self.allows_changing = self.allows_changing, True
            args = self.elements(node.args)
            self.allows_changing = before
            if len(args) != 1 or node.keywords or is_staged(args):
                raise Refused("static() takes one value that is known when the function is compiled", code="P0109")
            return args[0]
        args = self.elements(node.args)
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.eval(keyword.value)
            if keyword.arg is None:
                kwargs.update(self.named_items(value))
            elif keyword.arg in kwargs:
                raise Refused(f"got multiple values for keyword argument '{keyword.arg}'")
            else:
                kwargs[keyword.arg] = value
        return self.call(function, args, kwargs)

    def named_items(self, value: Any) -> dict[Any, Any]:
        """The items of a dict: one of the function's, or one of outside."""
        if isinstance(value, DictObject):
            return value.items
        if isinstance(value, Mapping):
            return {key: self.outside(part) for key, part in value.items()}
        raise Refused(f"'**' of {describe(value)}, which is no dict")

    def call(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Calls anything."""
        from ..tf import Operator
        from .table import METHODS, TABLE

        if isinstance(function, Function):
            return self.inline(function.node, function.name, function.frame.file, function.scope, function.frame,
                               None, function.frame.globals, function.defaults, function.kw_defaults, args, kwargs)
        if isinstance(function, Method):
            return self.call_method(function, args, kwargs, METHODS)
        special = self.special(function, "__call__")
        if special is not None:
            return self.call(special, args, kwargs)
        if isinstance(function, functools.partial):
            return self.call(function.func, [*map(self.outside, function.args), *args],
                             {**{k: self.outside(v) for k, v in function.keywords.items()}, **kwargs})
        transform = getattr(function, "__befrost_gradient__", None)
        if transform is not None:
            return self.gradient(function.__befrost_function__, transform, args, kwargs)
        inner = getattr(function, "__befrost_function__", None)
        if inner is not None:
            return self.call(inner, args, kwargs)
        function = getattr(function, "__befrost_numpy__", function)
        try:
            handler = TABLE.get(function)
        except TypeError:
            handler = None
        if handler is not None:
            return self.by_handler(handler, function, args, kwargs)
        if isinstance(getattr(function, "__self__", None), np.ufunc):
            return self.ufunc_method(function.__self__, function.__name__, args, kwargs)
        if isinstance(function, np.ufunc) and function.nout == 1 and not kwargs:
            return self.by_handler(TABLE["ufunc"], function, [function, *args], kwargs)
        if isinstance(function, types.MethodType):
            owner = function.__self__
            if isinstance(function.__func__, types.FunctionType) and self.is_users(function.__func__):
                return self.call(function.__func__, [self.outside(owner), *args], kwargs)
        if isinstance(function, Operator):
            return self.operator(function, args, kwargs)
        if isinstance(function, type):
            return self.make(function, args, kwargs)
        if isinstance(function, types.FunctionType):
            if self.is_users(function) or self.any_staged(args, kwargs) and self.has_source(function):
                return self.call_python(function, args, kwargs)
        user_call = getattr(type(function), "__call__", None)
        if isinstance(user_call, types.FunctionType) and self.is_users(user_call):
            return self.call(user_call, [function, *args], kwargs)
        return self.call_static(function, args, kwargs)

    def ufunc_method(self, ufunc: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`np.add.reduce(x)` and its like."""
        of = {"reduce": REDUCTIONS, "accumulate": ACCUMULATIONS}.get(name, {}).get(ufunc)
        if of is not None and not args[2:]:
            # A ufunc's methods go along the first axis, if none is given.
            axis = kwargs.pop("axis", 0) if len(args) < 2 else args[1]
            return self.call(of, [args[0]], {"axis": axis, **kwargs})
        if name == "outer" and len(args) == 2 and ufunc.nin == 2:
            x, y = (as_array(self.emit, value) for value in args)
            x = self.call(np.reshape, [x, (*self.array_attribute(x, "shape"), *[1] * y.ndim)], {})
            return self.call(ufunc, [x, y], kwargs)
        if name == "__call__":
            return self.call(ufunc, args, kwargs)
        return self.call_static(getattr(ufunc, name), args, kwargs)

    def by_handler(self, handler: Any, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return handler(self, *args, **kwargs)
        except TypeError as error:
            if not fits(handler, self, args, kwargs):
                words = str(error).split("()", 1)[-1]
                raise Refused(f"'{name_of(function)}'{words}, or it cannot be compiled with these arguments", code="P0112") from None
            raise

    def operator(self, operator: Operator, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """An operator of TensorFlow's."""
        from ..tf import dtype_name

        def parts(value: Any) -> Any:
            return self.all_items(value) if isinstance(value, ListObject) else value

        name = operator.name
        try:
            operands, attributes = operator.arranged(tuple(map(parts, args)), {
                key: parts(value) if key in operator.operand_names else value for key, value in kwargs.items()})
        except TypeError as error:
            raise Refused(str(error)) from None
        ids = [self.emit.id(as_array(self.emit, value)) for value in operands]
        self.prints = self.prints or name.startswith("Print")
        attrs = {key: dtype_name(self.plain(value)) for key, value in attributes.items()}
        try:
            made = self.emit.op(name, ids, attrs)
        except TypeError as error:
            raise Refused(str(error)) from None
        return operator.packed([self.emit.array(id) for id in made])

    def gradient(self, function: Any, transform: Gradient, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The gradient of a function's result with respect to some of its arguments, and the result, if asked for."""
        args = list(args)
        wrt = (transform.wrt,) if isinstance(transform.wrt, int) else transform.wrt
        ids: list[int] = []
        for i in wrt:
            if not 0 <= i < len(args):
                raise Refused(f"there is no positional argument {i} to differentiate with respect to")
            args[i] = self.leaf_values(args[i], ids)
        value = self.call(function, args, kwargs)
        result, y = value, value
        if transform.has_aux:
            if not isinstance(value, tuple) or len(value) != 2:
                raise Refused("with has_aux the function returns a value and what else it computes")
            y = value[0]
        if not (isinstance(y, Weak) and y.kind == "float" or isinstance(y, Array) and y.shape == () and kind_of(y.dtype) == "f"):
            raise Refused(f"the gradient of {describe(y)}: the function must return a number, of a float dtype and rank 0")
        made = iter(self.emit.graph.gradients(self.emit.id(y), ids))
        gradients = tuple(self.rebuilt(args[i], made) for i in wrt)
        found = gradients[0] if isinstance(transform.wrt, int) else gradients
        return (result, found) if transform.with_value else found

    def leaf_values(self, value: Any, ids: list[int]) -> Any:
        """An argument whose numbers and arrays are values of the graph, which go to `ids`."""
        if isinstance(value, (Weak, Array)) or kind_of_number(value):
            dtype = KINDS[value.kind] if isinstance(value, Weak) else \
                value.dtype if isinstance(value, Array) else KINDS[kind_of_number(value) or "int"]
            if kind_of(dtype) != "f":
                raise Refused(f"the gradient with respect to {describe(value)}: give values of a float dtype")
            ids.append(self.emit.id(value))
            if isinstance(value, Array):
                return Array(value.dtype, value.shape, ids[-1], owned=False)
            return Weak("float", ids[-1])
        if isinstance(value, tuple):
            parts = [self.leaf_values(part, ids) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, ListObject) and isinstance(value.items, Fixed):
            return ListObject(self.state, [self.leaf_values(part, ids) for part in value.items.items])
        if isinstance(value, DictObject):
            return DictObject(self.state, {key: self.leaf_values(part, ids) for key, part in value.items.items()})
        raise Refused(f"the gradient with respect to {describe(value)}")

    def rebuilt(self, value: Any, ids: Any) -> Any:
        """The gradients of an argument, in its structure."""
        if isinstance(value, Array):
            return Array(value.dtype, value.shape, next(ids))
        if isinstance(value, Weak):
            return Weak(value.kind, next(ids))
        if isinstance(value, tuple):
            parts = [self.rebuilt(part, ids) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, ListObject):
            return ListObject(self.state, [self.rebuilt(part, ids) for part in self.all_items(value)])
        return DictObject(self.state, {key: self.rebuilt(part, ids) for key, part in value.items.items()})

    def any_staged(self, args: list[Any], kwargs: dict[str, Any]) -> bool:
        return is_staged(args) or is_staged(kwargs)

    def is_users(self, function: types.FunctionType) -> bool:
        """True for a function whose source is interpreted."""
        module = (function.__module__ or "").split(".")[0]
        if module in LIBRARIES:
            return False
        if function.__globals__ is self.root_globals or function.__closure__ is not None:
            return True
        return not function.__code__.co_filename.startswith("<frozen")

    def has_source(self, function: types.FunctionType) -> bool:
        module = (function.__module__ or "").split(".")[0]
        return module not in LIBRARIES

    def call_python(self, function: types.FunctionType, args: list[Any], kwargs: dict[str, Any]) -> Any:
        wrapped = getattr(function, "__wrapped__", None)
        if isinstance(wrapped, types.FunctionType) and function.__code__.co_name != wrapped.__code__.co_name and \
                hasattr(function, "cache_info"):
            function = wrapped
        node = function_node(function)
        scope = Scope(node)
        if scope.is_generator:
            raise Refused(f"'{function.__name__}' is a generator: 'yield' cannot be compiled", code="P0102")
        defaults = [self.outside(v) for v in function.__defaults__ or ()]
        kw = function.__kwdefaults__ or {}
        kw_defaults = [(self.outside(kw[a.arg]),) if a.arg in kw else None for a in node.args.kwonlyargs]
        return self.inline(node, function.__name__, function.__code__.co_filename, scope, None, function,
                           function.__globals__, defaults, kw_defaults, args, kwargs)

    def inline(self, node: Any, name: str, file: str, scope: Scope, parent: Frame | None, function: Any,
               module_globals: dict[str, Any], defaults: list[Any], kw_defaults: list[Any], args: list[Any],
               kwargs: dict[str, Any]) -> Any:
        """Interprets the body of a function in the place of its call."""
        if scope.is_generator:
            raise Refused(f"'{name}' is a generator: 'yield' cannot be compiled", code="P0102")
        caller, call_node = self.frame, self.node
        frame = Frame(self.state, name, file, scope, parent, function, module_globals)
        frame.caller, frame.call_node = caller, call_node
        frame.n_calls = caller.n_calls + 1
        bound = bind(name, node.args, defaults, kw_defaults, args, kwargs, self.state)
        frame.signature = (node, signature_of(bound))
        active: Frame | None = caller
        n_same = 0
        while active is not None:
            if active.signature is not None and active.signature[0] is node:
                n_same += 1
                is_again = active.function is function and active.signature[1] == frame.signature[1]
                if is_again and is_staged(tuple(bound.values())):
                    raise Refused(f"'{name}' calls itself with values of the same types: a recursion whose end "
                                  "depends on data cannot be compiled; use a loop", code="P0111")
            active = active.caller
        if n_same > MAX_DEPTH // 2:
            raise Refused(f"'{name}' recurses more than {n_same} calls deep: a recursion must end while it is compiled", code="P0111")
        self.n_inlined += 1
        if frame.n_calls > MAX_DEPTH or self.n_inlined > MAX_CALLS:
            what = f"nested more than {MAX_DEPTH} deep" if frame.n_calls > MAX_DEPTH else f"more than {MAX_CALLS}"
            raise Refused(f"the calls that are inlined are {what}", code="P0110")
        for key, value in bound.items():
            frame.cells[key] = (self.named(value), None)
        self.frame = frame
        if isinstance(node, ast.Lambda):
            result = self.eval(node.body)
        else:
            self.block(node.body)
            self.node = node
            result = self.result()
        self.frame, self.node = caller, call_node
        return result

    def result(self) -> Any:
        """The value that the frame returns."""
        frame = self.frame
        left = self.flag(RETURN)
        if left is False:
            return None
        if isinstance(left, Weak):
            origin = left.origin
            value = frame.cells[VALUE][0]
            if value is None:
                return None

            def nothing() -> None:
                self.state.write(frame, VALUE, None)
                self.state.write(frame, RETURN, True)

            before = frame.cells[VALUE]
            self.choose(left.id, lambda: None, nothing, origin)
            after = frame.cells[VALUE][0]
            if after is not None:
                raise Refused(f"'{frame.name}' returns a value on one way, and None on the other: there is no "
                              "return behind this statement for it", note("a return with a value", before[1]),
                              origin or (), code="P0104")
            return None
        value = self.read(frame, VALUE)
        return value

    # ---- classes ----

    def make(self, cls: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """An instance of a class."""
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            if not is_plain_tuple(cls):
                raise Refused(f"'{cls.__name__}' has __iter__, __getitem__ or __len__ of its own: use a dataclass", code="P0112")
            names = list(cls._fields)
            values = dict(zip(names, args))
            if len(args) > len(names):
                raise Refused(f"{cls.__name__} takes {len(names)} values, got {len(args)}")
            for key, value in kwargs.items():
                if key not in names or key in values:
                    raise Refused(f"{cls.__name__} got an unexpected argument '{key}'")
                values[key] = value
            for key, value in getattr(cls, "_field_defaults", {}).items():
                values.setdefault(key, self.outside(value))
            missing = [key for key in names if key not in values]
            if missing:
                raise Refused(f"{cls.__name__} is missing '{missing[0]}'")
            return cls(*(values[key] for key in names))
        if dataclasses.is_dataclass(cls) and cls.__init__.__qualname__.startswith("__create_fn__") or \
                dataclasses.is_dataclass(cls) and "__init__" not in _own(cls):
            return self.make_dataclass(cls, args, kwargs)
        if issubclass(cls, np.generic):
            return self.by_handler(_table()["cast"], cls, [cls, *args], kwargs)
        if isinstance(cls.__init__, types.FunctionType) and self.any_staged(args, kwargs):
            raise Refused(f"instances of '{cls.__name__}' cannot be compiled: use a dataclass or a named tuple", code="P0112")
        return self.call_static(cls, args, kwargs)

    def make_dataclass(self, cls: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        fields = [f for f in dataclasses.fields(cls) if f.init]
        values = dict(zip((f.name for f in fields), args))
        if len(args) > len(fields):
            raise Refused(f"{cls.__name__} takes {len(fields)} values, got {len(args)}")
        names = {f.name for f in fields}
        for key, value in kwargs.items():
            if key not in names or key in values:
                raise Refused(f"{cls.__name__} got an unexpected argument '{key}'")
            values[key] = value
        for f in dataclasses.fields(cls):
            if f.name in values:
                continue
            if f.default is not dataclasses.MISSING:
                values[f.name] = self.outside(f.default)
            elif f.default_factory is not dataclasses.MISSING:
                values[f.name] = self.call(f.default_factory, [], {})
            elif f.init:
                raise Refused(f"{cls.__name__} is missing '{f.name}'")
        made = Struct(self.state, cls, {f.name: values[f.name] for f in dataclasses.fields(cls) if f.name in values})
        if isinstance(getattr(cls, "__post_init__", None), types.FunctionType):
            self.call(Method(made, "__post_init__"), [], {})
        return made

    def is_instance(self, value: Any, classes: Any) -> bool:
        """isinstance of a value, as it would be in Python."""
        if isinstance(classes, tuple):
            return any(self.is_instance(value, cls) for cls in classes)
        if not isinstance(classes, (type, types.UnionType)):
            raise Refused(f"isinstance with {describe(classes)}, which is no class")
        if isinstance(value, Weak):
            return issubclass({"int": int, "float": float, "bool": bool, "complex": complex}[value.kind], classes)
        if isinstance(value, Array):
            return issubclass(value.dtype.type, classes) if value.ndim == 0 and classes is not np.ndarray else \
                issubclass(np.ndarray, classes)
        if isinstance(value, ListObject):
            return issubclass(list, classes)
        if isinstance(value, DictObject):
            return issubclass(dict, classes)
        if isinstance(value, Struct):
            return issubclass(value.cls, classes)
        return isinstance(value, classes)

    # ---- methods ----

    def call_method(self, method: Method, args: list[Any], kwargs: dict[str, Any], methods: Any) -> Any:
        owner, name = method.owner, method.name
        if type(owner) is Variable:
            if name == "numpy":
                return self.variable_value(owner)
            return self.variable_method(owner, name, args, kwargs)
        if isinstance(owner, Array):
            handler = methods.get(name)
            if handler is None:
                raise Refused(f"the method '{name}' of arrays cannot be compiled", code="P0112")
            return self.by_handler(handler, getattr(np.ndarray, name, name), [owner, *args], kwargs)
        if isinstance(owner, Weak):
            return self.number_method(owner, name, args)
        if isinstance(owner, ListObject):
            return self.list_method(owner, name, args, kwargs)
        if isinstance(owner, DictObject):
            return self.dict_method(owner, name, args, kwargs)
        if isinstance(owner, Struct):
            return self.call(getattr(owner.cls, name), [owner, *args], kwargs)
        if isinstance(owner, tuple):
            if name == "_replace":
                return type(owner)(*[kwargs.get(key, part) for key, part in zip(owner._fields, owner)])  # type: ignore[attr-defined]
            if name == "_asdict":
                return DictObject(self.state, dict(zip(owner._fields, owner)))  # type: ignore[attr-defined]
            found = getattr(type(owner), name, None)
            if isinstance(found, types.FunctionType):
                return self.call(found, [owner, *args], kwargs)
        if self.any_staged(args, kwargs) or is_staged(owner):
            raise Refused(f"the method '{name}' of {describe(owner)} with values that are only known when it runs", code="P0109")
        return self.call_static(getattr(self.plain(owner), name), args, kwargs)

    def number_method(self, owner: Weak, name: str, args: list[Any]) -> Any:
        if name == "conjugate":
            return Weak("complex", self.emit.op("Conj", [owner.id])[0]) if owner.kind == "complex" else owner
        if name == "is_integer" and owner.kind == "float":
            floor = self.emit.op("Floor", [owner.id])[0]
            return Weak("bool", self.emit.op("Equal", [floor, owner.id])[0])
        if name == "is_integer" and owner.kind in ("int", "bool"):
            return True
        if name == "bit_count" and owner.kind in ("int", "bool"):
            return Weak("int", self.emit.id(self.call(np.bitwise_count, [as_array(self.emit, owner)], {}), np.int64))
        raise Refused(f"the method '{name}' of a Python {owner.kind} that is only known when it runs", code="P0109")

    def append(self, owner: ListObject, value: Any) -> None:
        items = owner.items
        if isinstance(items, Fixed):
            self.change(owner, "items", Fixed((*items.items, value)))
            return
        self.change(owner, "items", appended(self.emit, items, value))

    def extend(self, owner: ListObject, value: Any) -> None:
        if isinstance(value, ListObject) and isinstance(value.items, Fixed) or isinstance(value, (tuple, DictObject)):
            more = self.all_items(value)
            if isinstance(owner.items, Fixed):
                expect_few(len(owner.items.items) + len(more), "list")
                self.change(owner, "items", Fixed((*owner.items.items, *more)))
                return
            for part in more:
                self.append(owner, part)
            return
        if isinstance(value, ListObject):
            value = ListObject(self.state, value.items)  # as it is now: it may be the one that grows
        self.for_each(self.node, self.sequence(value), lambda part: self.append(owner, part), [])

    def list_method(self, owner: ListObject, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from .table.lists import LIST_METHODS

        items = owner.items
        if name == "append" and len(args) == 1:
            return self.append(owner, args[0])
        if name == "extend" and len(args) == 1:
            return self.extend(owner, args[0])
        if name == "copy":
            return ListObject(self.state, items)
        if name == "clear":
            return self.change(owner, "items", Fixed(()))
        if name == "pop" and isinstance(items, Growing) and (not args or args == [-1]):
            rest, last = popped(self.emit, self.state, items)
            self.change(owner, "items", rest)
            return last
        is_pop_at = name == "pop" and len(args) == 1 and is_staged(args)
        if isinstance(items, Growing) or is_pop_at or name == "index" and is_staged((owner, *args)):
            if name not in LIST_METHODS:
                raise Refused(f"the method '{name}' of a list whose length is only known when it runs", code="P0109")
            return self.by_handler(lambda interp, *args, **kwargs: interp.call_python(LIST_METHODS[name], list(args), kwargs),
                                   getattr(list, name), [owner, *args], kwargs)
        plain = [*items.items]
        if name == "pop" and len(args) <= 1:
            if not plain:
                raise Refused("pop from an empty list")
            try:
                last = plain.pop(*map(self.plain, args))
            except (IndexError, TypeError) as error:
                raise Refused(str(error)) from None
        elif name == "insert" and len(args) == 2 and not is_staged(args[0]):
            try:
                plain.insert(self.plain(args[0]), args[1])
            except TypeError as error:
                raise Refused(str(error)) from None
            last = None
        elif name == "reverse" and not args:
            plain.reverse()
            last = None
        elif name == "sort" and not args and not is_staged(owner):
            plain = self.all_items(self.call(sorted, [owner], kwargs))
            last = None
        elif name in ("index", "count", "remove"):
            if is_staged(owner) or self.any_staged(args, kwargs):
                if name == "count":
                    from .arithmetic import compare

                    found = [compare(self.emit, ast.Eq, part, args[0]) for part in plain]
                    return self.call(sum, [tuple(found)], {})
                raise Refused(f"the method '{name}' of a list of values that are only known when it runs", code="P0109")
            # Found by value among plain items.
            last = self.execute(getattr(self.plain(owner), "index" if name == "remove" else name), args, kwargs)
            if name in ("index", "count"):
                return last
            del plain[last]
            last = None
        else:
            raise Refused(f"the method '{name}' of a list with these arguments", code="P0112")
        self.change(owner, "items", Fixed(tuple(plain)))
        return last

    def dict_method(self, owner: DictObject, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        items = owner.items
        if name == "keys":
            return tuple(items)
        if name == "values":
            return tuple(items.values())
        if name == "items":
            return tuple(items.items())
        if name == "copy":
            return DictObject(self.state, dict(items))
        if name in ("get", "pop", "setdefault") and (kwargs or not 1 <= len(args) <= 2):
            raise Refused(f"the method '{name}' of a dict takes a key and perhaps a default", code="P0112")
        if name == "get":
            return items.get(self.static_key(args[0]), args[1] if len(args) > 1 else None)
        made = dict(items)
        result = None
        if name == "update":
            for other in args:
                if not isinstance(other, DictObject):
                    raise Refused("update with something that is no dict", code="P0112")
                made.update(other.items)
            made.update(kwargs)
        elif name == "pop":
            key = self.static_key(args[0])
            if key not in made and len(args) < 2:
                raise Refused(f"KeyError: {key!r}", code="P0113")
            result = made.pop(key, *args[1:])
        elif name == "setdefault":
            result = made.setdefault(self.static_key(args[0]), args[1] if len(args) > 1 else None)
        elif name == "clear":
            made = {}
        else:
            raise Refused(f"the method '{name}' of a dict cannot be compiled", code="P0112")
        self.change(owner, "items", made)
        return result

    # ---- static calls ----

    def call_static(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Executes a call while compiling."""
        name = name_of(function)
        if self.any_staged(args, kwargs):
            raise Refused(f"'{name}' has no operator: it cannot be called with values that are only known when the "
                          "function runs", code="P0109")
        if not callable(function):
            raise Refused(f"{describe(function)} is not callable")
        module = getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__
        plain = getattr(function, "__name__", "")
        if not self.allows_changing and (any(module == m or module.startswith(m + ".") for m in CHANGING) and module != "os.path" or \
                module == "builtins" and plain in CHANGING_BUILTINS or \
                isinstance(getattr(function, "__self__", None), (np.random.RandomState, np.random.Generator))):
            raise Refused(f"'{name}' answers differently each time, and the function is compiled once: pass its "
                          "result as an argument, or wrap the call in bf.static(...)", code="P0103")
        made = self.outside(self.execute(function, args, kwargs))
        if isinstance(made, Array):
            sources = known_arrays((*args, *kwargs.values()))
            made = made.over([source for source in sources if np.may_share_memory(made.const, source.const)])
        return made

    def execute(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        plain_args = [self.plain(v) for v in args]
        plain_kwargs = {k: self.plain(v) for k, v in kwargs.items()}
        try:
            return function(*plain_args, **plain_kwargs)
        except Exception as error:
            raise refusal_of(error) from None

    def plain(self, value: Any) -> Any:
        """A static value as Python has it."""
        if isinstance(value, Array):
            return value.const[()] if value.shape == () else value.const
        if isinstance(value, ListObject):
            return [self.plain(v) for v in value.items.items]  # type: ignore[union-attr]
        if isinstance(value, DictObject):
            return {k: self.plain(v) for k, v in value.items.items()}
        if isinstance(value, tuple):
            return type(value)(*map(self.plain, value)) if hasattr(value, "_fields") else tuple(map(self.plain, value))
        if isinstance(value, Struct):
            return make_struct(value.cls, {key: self.plain(part) for key, part in value.fields.items()})
        if isinstance(value, Sequence):
            return range(*value.range) if value.range is not None else [self.plain(v) for v in self.all_items(value)]
        return value

    def outside(self, value: Any) -> Any:
        """An object of outside: arrays are known, and not the function's own."""
        if isinstance(value, Tensor):
            return known(value.numpy(), owned=False)
        if isinstance(value, (np.ndarray, np.generic)) and kind_of(value.dtype) in "biufc":
            return known(value, owned=isinstance(value, np.generic))
        if isinstance(value, tuple) and any(isinstance(v, (np.ndarray, np.generic, list, tuple)) for v in value):
            parts = [self.outside(v) for v in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return value


def fits(handler: Any, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """True if a handler can be called with these arguments."""
    try:
        inspect.signature(handler).bind(interp, *args, **kwargs)
    except TypeError:
        return False
    return True


def _own(cls: type) -> dict[str, Any]:
    """The methods that the user wrote in a dataclass in place of those that its decorator makes."""
    parameters = getattr(cls, "__dataclass_params__")
    return {"__init__": None} if not parameters.init else {}


def _table() -> Any:
    from .table import TABLE

    return TABLE


def signature_of(bound: dict[str, Any]) -> Any:
    """The types of staged arguments and the values of static ones."""
    from .joins import ArrayLeaf, NumberLeaf, to_template

    def text(value: Any) -> Any:
        if isinstance(value, NumberLeaf):
            return value.kind
        if isinstance(value, ArrayLeaf):
            return value.dtype.name, value.shape
        if isinstance(value, tuple):
            return tuple(map(text, value))
        if kind_of_number(value) or isinstance(value, str) or value is None:
            return type(value).__name__, repr(value)
        return id(value)

    return tuple((key, text(to_template(value) if not isinstance(value, (ListObject, DictObject, Struct)) else value))
                 for key, value in bound.items())


def bind(name: str, arguments: ast.arguments, defaults: list[Any], kw_defaults: list[Any], args: list[Any],
         kwargs: dict[str, Any], state: Any) -> dict[str, Any]:
    """The arguments of a call by their names, as Python binds them."""
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    only = {a.arg for a in arguments.posonlyargs}
    bound = dict(zip(positional, args))
    rest = args[len(positional):]
    if arguments.vararg is not None:
        bound[arguments.vararg.arg] = tuple(rest)
    elif rest:
        raise Refused(f"{name}() takes {len(positional)} positional arguments but {len(args)} were given")
    extra: dict[str, Any] = {}
    keyword_only = [a.arg for a in arguments.kwonlyargs]
    for key, value in kwargs.items():
        if key in keyword_only or key in positional and key not in only:
            if key in bound:
                raise Refused(f"{name}() got multiple values for argument '{key}'")
            bound[key] = value
        elif arguments.kwarg is not None:
            extra[key] = value
        else:
            raise Refused(f"{name}() got an unexpected keyword argument '{key}'")
    for key, value in zip(positional[len(positional) - len(defaults):], defaults):
        bound.setdefault(key, value)
    for key, default in zip(keyword_only, kw_defaults):
        if key not in bound and default is not None:
            bound[key] = default[0]
    if arguments.kwarg is not None:
        bound[arguments.kwarg.arg] = DictObject(state, extra)
    missing = [key for key in (*positional, *keyword_only) if key not in bound]
    if missing:
        raise Refused(f"{name}() is missing the argument '{missing[0]}'")
    return bound
