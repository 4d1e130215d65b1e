"""`load` and `Model`: a file's function, called with arrays by position or by name."""

from __future__ import annotations

import asyncio
import difflib
import html
import os
from typing import Any, Mapping

from . import _native
from ._errors import NotFoundError, of_failure
from ._tensor import Tensor


class Port:
    """An input or an output of a model."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: str):
        self.name = name
        self.type = type

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"


class Outputs:
    """The outputs of a run, by name or position; iterating gives their values."""

    def __init__(self, names: list[str], values: list[Any]):
        self._names = names
        self._values = values

    def __getitem__(self, key: int | str) -> Any:
        if isinstance(key, int):
            return self._values[key]
        if key not in self._names:
            raise _unknown("output", key, self._names)
        return self._values[self._names.index(key)]

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Any:
        return iter(self._values)

    def keys(self) -> list[str]:
        return list(self._names)

    def __repr__(self) -> str:
        return f"Outputs({', '.join(self._names)})"


def _unknown(what: str, name: str, names: list[str]) -> NotFoundError:
    near = difflib.get_close_matches(name, names, 3)
    hint = f"; did you mean {', '.join(map(repr, near))}?" if near else f"; there are: {', '.join(map(repr, names))}"
    return NotFoundError(f"there is no {what} '{name}'{hint}")


class Model:
    """A compiled model. Any number of threads may run it at once."""

    def __init__(self, path: str | os.PathLike[str]):
        self._path = os.fspath(path)
        try:
            self._native = _native.Model(self._path)
        except _native.Failure as failure:
            error = of_failure(failure)
        else:
            self.inputs = [Port(*port) for port in self._native.inputs()]
            self.outputs = [Port(*port) for port in self._native.outputs()]
            return
        raise error

    def run(self, feeds: Mapping[str, Any] | None = None, *, output: str = "numpy") -> Outputs:
        """Runs the model on inputs by name. The outputs are NumPy arrays, or Tensors with output="tensor"."""
        feeds = feeds or {}
        names = [port.name for port in self.inputs]
        for name in feeds:
            if name not in names:
                raise _unknown("input", name, names)
        missing = [port for port in self.inputs if port.name not in feeds]
        if missing:
            raise TypeError(f"the input '{missing[0].name}' ({missing[0].type}) is not given")
        values = [feeds[name] for name in names]
        try:
            made = self._native.run([v._native if isinstance(v, Tensor) else v for v in values])
        except _native.Failure as failure:
            error = of_failure(failure)
        else:
            tensors = [Tensor._of(part) if output == "tensor" else part.numpy() for part in made]
            return Outputs([port.name for port in self.outputs], tensors)
        raise error

    async def run_async(self, feeds: Mapping[str, Any] | None = None, *, output: str = "numpy") -> Outputs:
        """`run`, on a thread of its own, for asyncio."""
        return await asyncio.to_thread(self.run, feeds, output=output)

    def _repr_html_(self) -> str:
        """A table of inputs and outputs, for notebooks."""
        rows = [("input", port) for port in self.inputs] + [("output", port) for port in self.outputs]
        cells = "".join(f"<tr><td>{what}</td><td>{html.escape(port.name)}</td><td><code>{html.escape(port.type)}</code>"
                        "</td></tr>" for what, port in rows)
        return f"<b>{html.escape(self._path)}</b><table>{cells}</table>"

    def __call__(self, *args: Any, **kwargs: Any) -> Outputs:
        if len(args) > len(self.inputs):
            raise TypeError(f"the model has {len(self.inputs)} inputs, got {len(args)}")
        feeds = {port.name: value for port, value in zip(self.inputs, args)}
        for name, value in kwargs.items():
            if name in feeds:
                raise TypeError(f"the input '{name}' is given twice")
            feeds[name] = value
        return self.run(feeds)

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(repr, ports)) for ports in (self.inputs, self.outputs))
        return f"Model({self._path!r}: ({inputs}) -> ({outputs}))"

    def __reduce__(self) -> Any:
        return load, (self._path,)


def load(path: str | os.PathLike[str]) -> Model:
    """Loads a model: ONNX, a TensorFlow graph or SavedModel, MLIR text, or BEF."""
    return Model(path)
