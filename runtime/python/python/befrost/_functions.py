"""Functions with a special meaning in compiled functions."""

from __future__ import annotations

import builtins
import contextlib
from typing import Any, Iterator

from . import _native
from ._errors import WrongTypeError


class Gradient:
    """The description of a gradient function: its positional arguments to differentiate by, and its results."""

    def __init__(self, wrt: int | tuple[int, ...], with_value: bool, has_aux: bool):
        if not all(type(i) is int for i in (wrt if isinstance(wrt, tuple) else (wrt,))):
            raise WrongTypeError(f"wrt is {wrt!r}, not the number of a positional argument or a tuple of these")
        self.wrt = wrt
        self.with_value = with_value
        self.has_aux = has_aux


def static(value: Any) -> Any:
    """The value itself. In a compiled function the expression is evaluated once, while it is compiled, even if it has
    another value each time: `bf.static(random.random())`."""
    return value


def range(*args: int) -> Any:
    """`range`, whose loop is never unrolled: it becomes a loop of the graph."""
    return builtins.range(*args)


@contextlib.contextmanager
def timeout(seconds: float) -> Iterator[None]:
    """A context that stops runs of this thread after `seconds`, with an error that is also a TimeoutError:
    `with bf.timeout(0.5): f(x)`."""
    _native.push_timeout(seconds)
    try:
        yield
    finally:
        _native.pop_timeout()
