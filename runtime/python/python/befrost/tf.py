"""TensorFlow's operators by their names: `bf.tf.Conv2D(x, w, strides=[1, 1, 1, 1], padding="SAME")`.

Operands come first, attributes by keyword; attributes that follow from operands (T, N) are not given. Outside of a
compiled function an operator runs at once; inside it becomes an op of the graph.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from . import _native
from ._errors import InvalidArgumentError, of_failure
from ._tensor import Tensor

_known: dict[str, str] = {}


def summaries() -> dict[str, str]:
    """The operators that can run, with a line about each."""
    if not _known:
        _known.update(_native.operators())
    return _known


MAX_CACHED = 4096


class Operator:
    """An operator."""

    def __init__(self, name: str):
        self.__name__ = self.name = name
        self.__doc__ = f"{name}: {summaries()[name].rstrip('.')}."
        self._made: dict[Any, Any] = {}
        self._eager: dict[Any, Any] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def __call__(self, *operands: Any, **attributes: Any) -> Any:
        key = tuple(sorted((name, dtype_name(value)) for name, value in attributes.items())) if attributes else ()
        try:
            eager = self._eager.get(key)
        except TypeError:  # a list
            key = repr(key)  # type: ignore[assignment]
            eager = self._eager.get(key)
        if eager is None:
            eager = self._prepare(key, attributes)
        try:
            made = eager.call(operands) if eager else self._compiled(operands, attributes)
        except _native.Failure as failure:
            error = of_failure(failure)
        else:
            return made[0] if len(made) == 1 else tuple(made)
        raise error

    def _prepare(self, key: Any, attributes: dict[str, Any]) -> Any:
        """The operator of the eager core; False if that has none with these attributes."""
        plain = {name: dtype_name(value) for name, value in attributes.items()}
        try:
            made: Any = _native.EagerOp(self.name, plain)
        except _native.Failure:
            made = False
        with self._lock:
            if len(self._eager) >= MAX_CACHED:
                self._eager.clear()
            self._eager[key] = made
        return made

    def _compiled(self, operands: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
        """Its results, by a program of one operator."""
        given = [part if isinstance(part, Tensor) else Tensor(part) for part in operands]
        key = (tuple((part.dtype_name, part.shape) for part in given), repr(sorted(attributes.items())))
        executable = self._made.get(key)
        if executable is None:
            executable = self._compile(given, attributes)
            with self._lock:
                if len(self._made) >= MAX_CACHED:
                    self._made.clear()
                self._made[key] = executable
        return executable.run(given)

    def _compile(self, operands: list[Tensor], attributes: dict[str, Any]) -> Any:
        graph = _native.Graph("main")
        ids = [graph.argument(f"x{i}", (part.dtype_name, list(part.shape))) for i, part in enumerate(operands)]
        plain = {key: dtype_name(value) for key, value in attributes.items()}
        try:
            results = graph.op(self.name, ids, plain)
        except ValueError as refused:
            error = InvalidArgumentError(str(refused))
        else:
            graph.finish([(f"y{i}", id) for i, id in enumerate(results)])
            try:
                return graph.compile(0, "s")
            except _native.Failure as failure:
                error = of_failure(failure)  # type: ignore[assignment]
        raise error


def dtype_name(value: Any) -> Any:
    """An attribute as the graph takes it: dtypes by name."""
    if isinstance(value, np.dtype) or isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value).name
    if isinstance(value, (list, tuple)):
        return [dtype_name(part) for part in value]
    return value


def __getattr__(name: str) -> Operator:
    if name.startswith("__"):
        # Python's own questions: each `from ..tf import` asks for `__path__`.
        raise AttributeError(name)
    if name not in summaries():
        import difflib

        near = difflib.get_close_matches(name, summaries(), 3)
        raise AttributeError(f"there is no operator '{name}'" + (f"; did you mean {', '.join(near)}?" if near else ""))
    made = Operator(name)
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted(summaries())
