"""Functions that mean something to the source front end."""

from __future__ import annotations

import builtins
import contextlib
from typing import Any, Iterator

from . import _native


class Gradient:
    """What a gradient function is: with respect to which positional arguments, and what it returns."""

    def __init__(self, wrt: int | tuple[int, ...], with_value: bool, has_aux: bool):
        self.wrt = wrt
        self.with_value = with_value
        self.has_aux = has_aux


def static(value: Any) -> Any:
    """The value itself. In a compiled function the expression is evaluated once, while it is compiled, also if it
    answers differently each time: `bf.static(random.random())`."""
    return value


def range(*args: int) -> Any:
    """`range`, whose loop always becomes one of the graph, however many iterations are known."""
    return builtins.range(*args)


@contextlib.contextmanager
def timeout(seconds: float) -> Iterator[None]:
    """A context in which runs of this thread are given up after so many seconds, with an error that is also a
    TimeoutError: `with bf.timeout(0.5): f(x)`."""
    _native.push_timeout(seconds)
    try:
        yield
    finally:
        _native.pop_timeout()
