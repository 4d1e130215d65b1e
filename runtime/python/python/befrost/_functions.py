"""Functions that mean something to the source front end."""

from __future__ import annotations

import builtins
from typing import Any


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
