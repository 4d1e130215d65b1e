"""The table: function objects of NumPy's, Python's and ours, with their handlers.

A handler gets the interpreter and the arguments of the call. It may have fewer parameters than the function: a call
with others is refused. Functions that are computed by NumPy when everything is known are marked by `@numpy_function`.
"""

from __future__ import annotations

import functools
import types
from typing import Any, Callable

import numpy as np

from ..arithmetic import as_array, is_numeric
from ..errors import Refused
from ..values import Array, describe, is_staged, kind_of_number, known_arrays, ListObject, Weak

TABLE: dict[Any, Callable[..., Any]] = {}
METHODS: dict[str, Callable[..., Any]] = {}
NONE = np._NoValue


def entry(*functions: Any) -> Callable[[Any], Any]:
    """Makes a Python function the handler of these functions; not of what a program put in their place before."""
    def add(handler: Any) -> Any:
        for function in functions:
            module = str(getattr(function, "__module__", None))
            if not isinstance(function, types.FunctionType) or module.split(".")[0] in ("befrost", "numpy", "functools"):
                TABLE[function] = handler
        return handler
    return add


def numpy_function(*functions: Any, method: str | None = None) -> Callable[[Any], Any]:
    """`entry` for functions of NumPy, which NumPy itself computes if all arguments are known."""
    def add(handler: Any) -> Any:
        first = functions[0]

        @functools.wraps(handler)
        def run(interp: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_staged(args) and not is_staged(kwargs):
                made = interp.execute(first, list(args), kwargs)
                return interp.outside_made(made, known_arrays((*args, *kwargs.values())))
            kwargs = {key: value for key, value in kwargs.items() if value is not NONE}
            return handler(interp, *args, **kwargs)

        for function in functions:
            TABLE[function] = run
        if method is not None:
            METHODS[method] = run
        return handler
    return add


def dtype_of(interp: Any, dtype: Any) -> Any:
    """A dtype argument."""
    if dtype is None:
        return None
    if is_staged(dtype):
        raise Refused("a dtype must be known when the function is compiled", code="P0109")
    try:
        return np.dtype(dtype)
    except TypeError as error:
        raise Refused(str(error)) from None


def ints_of(interp: Any, value: Any, what: str) -> tuple[int, ...] | None:
    """A static integer or tuple of them; None if it is staged."""
    if isinstance(value, (ListObject, tuple, list)):
        parts = interp.all_items(value) if not isinstance(value, list) else value
    elif isinstance(value, Array) and value.const is not None:
        parts = value.const.reshape(-1).tolist()
    else:
        parts = [value]
    out = []
    for part in parts:
        if isinstance(part, Array) and part.const is not None and part.shape == ():
            part = int(part.const)
        if isinstance(part, (Weak, Array)):
            return None
        if kind_of_number(part) not in ("int", "bool") and not isinstance(part, np.integer):
            raise Refused(f"{what} is {describe(part)}, not an integer")
        out.append(int(part))
    return tuple(out)


def shape_vector(interp: Any, value: Any) -> Any:
    """A shape, static or staged, as a vector of the graph."""
    static = ints_of(interp, value, "a size") if not isinstance(value, Array) or value.const is not None else None
    if static is not None:
        return interp.emit.constant(static, np.int64)
    if isinstance(value, Array) and value.ndim == 1:
        return interp.emit.id(value, np.int64)
    parts = interp.all_items(value) if isinstance(value, (tuple, ListObject)) else [value]
    return interp.emit.op("Pack", [interp.emit.id(part, np.int64) for part in parts], {"axis": 0})[0]


def axes_of(interp: Any, axis: Any, ndim: int) -> list[int]:
    """The axes of a reduction, not negative."""
    if axis is None:
        return list(range(ndim))
    axes = ints_of(interp, axis, "an axis")
    if axes is None:
        raise Refused("an axis must be known when the function is compiled", code="P0109")
    for one in axes:
        if not -ndim <= one < ndim:
            raise Refused(f"axis {one} is out of bounds for array of dimension {ndim}")
    return [one % ndim for one in axes]


def axis_of(interp: Any, axis: Any, ndim: int) -> int:
    return axes_of(interp, axis, ndim)[0]


def refuse_where(**kwargs: Any) -> None:
    for key, value in kwargs.items():
        if value is not None and value is not NONE:
            raise Refused(f"the argument '{key}' cannot be compiled", code="P0112")


def numeric(interp: Any, value: Any) -> Any:
    return value if is_numeric(value) else as_array(interp.emit, value)
