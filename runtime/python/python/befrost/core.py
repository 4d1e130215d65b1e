"""Operators through handlers: the eager core with one that logs, records, or is a function.

    core = bf.core.Core("recording")
    core.execute("AddV2", x, y)
    core.take()                         [Record('tf.AddV2', ...)]

A function as handler gets the operator's name, its operands and attributes, and a function that executes it:

    def doubled(name, operands, attributes, execute):
        return 2 * execute(*operands, **attributes)
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np

from . import _native, tf
from ._errors import guarded
from ._tensor import Tensor

Handler = Callable[[str, tuple[Any, ...], dict[str, Any], Callable[..., Any]], Any]


class Record(NamedTuple):
    """An operator that was executed: its name, its attributes as text, its operands and results."""

    name: str
    attributes: str
    operands: list[Any]
    results: list[Any]


def _kept(operand: Any) -> Any:
    """An operand that a record can keep: arrays are lent for the call only."""
    array = operand if isinstance(operand, Tensor) else np.asarray(operand)
    return array if isinstance(operand, Tensor) or array.dtype.kind in "USTO" else Tensor(array)


class Core:
    """Operators by name, executed one by one through a handler: "cpu", "logging", which writes to standard error what
    is executed, "recording", or a function.

    >>> core = Core("recording")
    >>> core.execute("AddV2", 1.0, 2.0).item()
    3.0
    >>> [record.name for record in core.take()]
    ['tf.AddV2']
    """

    def __init__(self, handler: str | Handler = "cpu"):
        self._function = None if isinstance(handler, str) else handler
        self._native = guarded(_native.Core, handler if isinstance(handler, str) else "cpu")

    def execute(self, name: str, *operands: Any, **attributes: Any) -> Any:
        """The result of an operator of TensorFlow's, or a tuple of them."""
        if self._function is not None:
            return self._function(name, operands, attributes, lambda *args, **kwargs: self._execute(name, args, kwargs))
        return self._execute(name, operands, attributes)

    def _execute(self, name: str, operands: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
        operator: tf.Operator = getattr(tf, name.removeprefix("tf."))
        operands, attributes = operator.arranged(operands, attributes)
        op = guarded(self._native.op, operator.name, {key: tf.dtype_name(value) for key, value in attributes.items()})
        made = guarded(op.call, [_kept(part) for part in operands])
        return made[0] if len(made) == 1 else tuple(made)

    def take(self) -> list[Record]:
        """The operators that a recording handler has seen since the last call, in their order."""
        return [Record(*parts) for parts in guarded(self._native.take)]


__all__ = ["Core", "Handler", "Record"]
