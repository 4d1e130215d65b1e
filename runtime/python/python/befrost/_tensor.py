"""`Tensor`: an immutable array of the runtime, with NumPy's operators and functions.

    a + b, np.add(a, b), np.sum(t)      the eager core, or a function that is compiled once per types
    functions that cannot be compiled   NumPy's function on arrays over the tensors' memory

The class is native (`runtime/python/src/tensor.rs`); methods that need not be fast are added here.
"""

from __future__ import annotations

import operator
from typing import Any, Callable, Iterator

import numpy as np

from . import _native
from ._native import Tensor, from_dlpack

_PYTHONS = (bool, int, float, complex)
_NUMBERS = (*_PYTHONS, np.generic)
MAX_REFUSED = 4096


def _plain(value: Any) -> Any:
    """An argument for NumPy: Tensors in it become arrays."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(map(_plain, value))
    return value


def _by_numpy(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What NumPy makes of Tensors as arrays; what it refuses is an error of the package's, too."""
    from ._errors import of_exception

    try:
        return function(*map(_plain, args), **{key: _plain(value) for key, value in kwargs.items()})
    except Exception as error:
        refusal = of_exception(error)
    raise refusal


def _is_number(dtype: Any) -> bool:
    """True of element types that a Tensor can have, as far as their kind says."""
    return dtype.kind in "biufc" or dtype.name == "bfloat16"


def _wrapped(value: Any) -> Any:
    """A result of NumPy: arrays in it become Tensors."""
    if isinstance(value, tuple) and any(isinstance(part, (np.ndarray, np.generic)) for part in value):
        parts = map(_wrapped, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, (np.ndarray, np.generic)) and _is_number(value.dtype):
        return Tensor(value)
    return value


# ---- functions that are compiled once per types ----

_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a ** b,
    "matmul": lambda a, b: a @ b,
    "and_": lambda a, b: a & b,
    "or_": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "neg": lambda a: -a,
    "pos": lambda a: +a,
    "abs": lambda a: abs(a),
    "invert": lambda a: ~a,
}
_compiled: dict[Any, Any] = {}
_refused: set[Any] = set()
_signatures: dict[Any, Any] = {}


def _function_of(key: Any, make: Callable[[], Callable[..., Any]]) -> Any:
    """The compiled function of a key."""
    made = _compiled.get(key)
    if made is None:
        from ._function import Function

        made = _compiled.setdefault(key, Function(make(), level=0))  # type: ignore[arg-type]
    return made


def _types(args: tuple[Any, ...]) -> Any:
    return tuple((part.dtype.char, part.shape) if isinstance(part, (Tensor, np.ndarray, np.generic)) else type(part)
                 for part in args)


def _ours(key: Any, make: Callable[[], Callable[..., Any]], plain: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result of the compiled function, or of NumPy's function if it cannot be compiled for these types."""
    from ._errors import CompileError

    known = (key, _types(args))
    if known not in _refused:
        try:
            return _function_of(key, make)(*args)
        except (CompileError, TypeError, OverflowError):
            if len(_refused) >= MAX_REFUSED:
                _refused.clear()
            _refused.add(known)
    return _wrapped(_by_numpy(plain, *args))


def _operand(value: Any) -> Any:
    """An operand of an operator; NotImplemented if it is none."""
    if isinstance(value, (Tensor, np.ndarray, *_NUMBERS)):
        return value
    if isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        return np.asarray(value)
    return NotImplemented


def _is_beyond(number: Any, other: Any) -> bool:
    """True of an integer of Python's that the element type of the other operand cannot hold."""
    if type(number) is not int or isinstance(other, _PYTHONS) or other.dtype.kind not in "iu":
        return False
    limits = np.iinfo(other.dtype)
    return not limits.min <= number <= limits.max


def _binary(name: str, a: Any, b: Any) -> Any:
    """An operator whose operands the eager core does not take as they are."""
    a, b = _operand(a), _operand(b)
    if a is NotImplemented or b is NotImplemented:
        return NotImplemented
    if _is_beyond(a, b) or _is_beyond(b, a):
        # In a compiled function the number would be one that is only known when it runs, and wrap around.
        return _wrapped(_by_numpy(getattr(operator, name), a, b))
    return _ours(name, lambda: _OPERATORS[name], getattr(operator, name), (a, b))


def _unary(name: str, a: Any) -> Any:
    return _ours(name, lambda: _OPERATORS[name], getattr(operator, name), (a,))


_native.set_operators(_binary, _unary)


def _template(function: Any, n: int, options: dict[str, Any]) -> Callable[..., Any]:
    """A function of `n` operands that calls another one with options."""
    if n == 1:
        return lambda a: function(a, **options)
    if n == 2:
        return lambda a, b: function(a, b, **options)
    return lambda a, b, c: function(a, b, c, **options)


def _is_known(function: Any) -> bool:
    from ._staging import table
    from ._staging.table.registry import TABLE

    del table
    return function in TABLE


def _call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], is_ufunc: bool) -> Any:
    """A function of NumPy's: compiled if it can be, otherwise NumPy's."""
    operands: list[Any] = []
    for value in args:
        if isinstance(value, (Tensor, np.ndarray)) or is_ufunc and isinstance(value, _NUMBERS):
            operands.append(value)
        else:
            break
    n = len(operands)
    rest = args[n:]

    def plain(*given: Any) -> Any:
        return function(*given, *map(_plain, rest), **{key: _plain(value) for key, value in kwargs.items()})

    is_beyond = is_ufunc and any(_is_beyond(a, b) for a in operands for b in operands)
    if 1 <= n <= 3 and _is_known(function) and not is_beyond:
        named = _named(function, n, list(rest))
        if named is not None:
            options = {**kwargs, **named}
            try:
                key = (function, n, tuple(sorted(options.items())))
                hash(key)
            except TypeError:
                pass
            else:
                return _ours(key, lambda: _template(function, n, options), plain, tuple(operands))
    return _wrapped(_by_numpy(plain, *operands))


def _named(function: Any, n: int, rest: list[Any]) -> dict[str, Any] | None:
    """Positional arguments behind the operands, by their names."""
    if not rest:
        return {}
    names = _signatures.get(function)
    if names is None:
        import inspect

        try:
            names = list(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            names = []
        _signatures[function] = names
    if len(names) < n + len(rest):
        return None
    return dict(zip(names[n:], rest))


# ---- methods ----

def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """Its contents for NumPy: without a copy if none is asked for and the dtype is its own."""
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError("another dtype needs a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def _array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """`np.add(t, 1)`."""
    out = kwargs.get("out", ())
    if any(isinstance(part, Tensor) for part in out):
        return NotImplemented
    if method == "__call__" and not kwargs:
        return _call(ufunc, inputs, kwargs, True)
    made = _by_numpy(getattr(ufunc, method), *inputs, **kwargs)
    return made if out else _wrapped(made)


def _array_function(self: Tensor, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """`np.sum(t)`."""
    if isinstance(kwargs.get("out"), Tensor):
        raise TypeError("a tensor cannot be written to")
    return _call(function, args, kwargs, False)


def _getitem(self: Tensor, index: Any) -> Tensor:
    return Tensor(_by_numpy(self.numpy().__getitem__, index))


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    raise TypeError("a tensor cannot be written to: take a copy, np.array(t)")


def _iter(self: Tensor) -> Iterator[Tensor]:
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return (Tensor(part) for part in self.numpy())


def _reversed(self: Tensor) -> Iterator[Tensor]:
    return iter(self[::-1])


def _contains(self: Tensor, value: Any) -> bool:
    """`value in t`: whether any element is equal to it."""
    return _plain(value) in self.numpy()


def _item(self: Tensor, *index: Any) -> Any:
    """The only element, or the one at an index, as a number of Python's."""
    return _by_numpy(self.numpy().item, *index)


def _tolist(self: Tensor) -> Any:
    """Its elements as numbers of Python's, in nested lists."""
    return self.numpy().tolist()


def _round(self: Tensor, digits: Any = None) -> Any:
    """`round(t)`: an int, with digits a tensor."""
    number: Any = self.numpy()[()]
    return _wrapped(round(number, digits))


def _format(self: Tensor, format_spec: str) -> str:
    return format(self.numpy()[()], format_spec)


def _str(self: Tensor) -> str:
    return str(self.numpy())


def _repr(self: Tensor) -> str:
    text = np.array2string(self.numpy(), separator=", ", prefix="tensor(")
    return f"tensor({text}, {self.dtype})"


def _repr_html(self: Tensor) -> str:
    """A table of its elements, for notebooks; of large ones the edges."""
    import html

    sizes = " × ".join(map(str, self.shape)) or "number"
    head = f"<b>Tensor</b> {html.escape(str(self.dtype))}, {sizes}, {self.nbytes:,} bytes"
    array = self.numpy()
    if array.ndim == 0 or array.ndim > 2 or array.size == 0:
        return f"{head}<pre>{html.escape(str(array))}</pre>"
    edge, rows = 6, []
    table = array.reshape(1, -1) if array.ndim == 1 else array

    def picked(n: int) -> list[int | None]:
        return list(range(n)) if n <= 2 * edge + 1 else [*range(edge), None, *range(n - edge, n)]

    for row in picked(table.shape[0]):
        cells = ("…" if row is None or column is None else html.escape(str(table[row, column]))
                 for column in picked(table.shape[1]))
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f"{head}<table>{''.join(rows)}</table>"


def _reduce(self: Tensor) -> Any:
    return Tensor, (np.array(self.numpy()),)


def _copy(self: Tensor, memo: Any = None) -> Tensor:
    return self


def _getattr(self: Tensor, name: str) -> Any:
    if name.startswith("_") or not hasattr(np.ndarray, name):
        raise AttributeError(f"'Tensor' object has no attribute '{name}'")
    function = getattr(np, name, None)
    method = getattr(self.numpy(), name)
    if not callable(method):
        return method
    if name in _AS_FUNCTIONS and callable(function):
        return lambda *args, **kwargs: _call(function, (self, *args), kwargs, False)

    def call(*args: Any, **kwargs: Any) -> Any:
        return _wrapped(_by_numpy(method, *args, **kwargs))

    return call


_AS_FUNCTIONS = frozenset("sum prod mean std var max min argmax argmin any all cumsum round clip".split())


def _attach() -> None:
    """Adds the methods to the native class."""
    methods: dict[str, Any] = {
        "__array__": _array, "__array_ufunc__": _array_ufunc, "__array_function__": _array_function,
        "__getitem__": _getitem, "__reversed__": _reversed, "__contains__": _contains,
        "__setitem__": _setitem, "__iter__": _iter, "item": _item, "tolist": _tolist,
        "__format__": _format, "__round__": _round, "__trunc__": lambda self: self.numpy()[()].__trunc__(),
        "__str__": _str, "__repr__": _repr, "_repr_html_": _repr_html, "__reduce__": _reduce,
        "__copy__": _copy, "__deepcopy__": _copy, "__getattr__": _getattr, "__array_priority__": 100, "__hash__": None,
        "dtype": property(lambda self: np.dtype(self.dtype_name) if self.dtype_name != "bfloat16" else _bfloat16(),
                          doc="NumPy's element type."),
        "T": property(lambda self: Tensor(self.numpy().T), doc="With its dimensions in the opposite order."),
        "__complex__": lambda self: complex(self.numpy()),
    }
    for name, method in methods.items():
        setattr(Tensor, name, method)


def _bfloat16() -> Any:
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


_attach()


def tensor(value: Any, dtype: Any = None) -> Tensor:
    """A tensor of a number, a nested list or an array.

    >>> tensor([1.0, 2.0], "float32") + 1
    tensor([2., 3.], float32)
    """
    return Tensor(value, dtype)


__all__ = ["Tensor", "from_dlpack", "tensor"]
