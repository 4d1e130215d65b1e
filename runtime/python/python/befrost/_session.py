"""`Session`: any tensor of a graph fed, any fetched, with variables that live between runs."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping

from . import _native
from ._errors import of_failure
from ._model import Outputs
from ._tensor import Tensor


class Variables:
    """The variables of a session, by name."""

    def __init__(self, session: Any):
        self._session = session

    def __getitem__(self, name: str) -> Tensor:
        return Tensor._of(_guarded(self._session.variable, name))

    def __setitem__(self, name: str, value: Any) -> None:
        _guarded(self._session.set_variable, name, _plain(value))

    def names(self) -> list[str]:
        return list(_guarded(self._session.variables))

    def __iter__(self) -> Any:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def snapshot(self) -> dict[str, Tensor]:
        """The values of all variables."""
        return {name: self[name] for name in self.names()}

    def restore(self, values: Mapping[str, Any]) -> None:
        """Gives variables the values of a snapshot."""
        for name, value in values.items():
            self[name] = value


class SessionStats:
    """Counts of a session."""

    def __init__(self, compilations: int, hits: int, executables: int):
        self.compilations = compilations
        self.hits = hits
        self.executables = executables

    def __repr__(self) -> str:
        return f"SessionStats(compilations={self.compilations}, hits={self.hits}, executables={self.executables})"


def _plain(value: Any) -> Any:
    return value._native if isinstance(value, Tensor) else value


def _guarded(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except _native.Failure as failure:
        error = of_failure(failure)
    raise error


class Session:
    """A graph (.pb, .pbtxt, .meta, .onnx) with its variables.

    `init` names the node that initializes the variables. Any number of threads may run it at once.
    """

    def __init__(self, path: str | os.PathLike[str], *, init: str | None = None, level: int | None = None):
        self._path = os.fspath(path)
        number = int(os.environ.get("BEFROST_LEVEL", "2")) if level is None else level
        self._native = _guarded(_native.Session, self._path, number, init)
        self.variables = Variables(self._native)

    def run(self, fetches: str | Iterable[str] = (), feeds: Mapping[str, Any] | None = None, *,
            targets: Iterable[str] = (), timeout: float | None = None, output: str = "numpy") -> Any:
        """Computes tensors by their names, `x` or `x:0`. One name gives one value, several give `Outputs`.

        `targets` are nodes that run for their effects, such as a training step."""
        names = [fetches] if isinstance(fetches, str) else list(fetches)
        pairs = [(name, _plain(value)) for name, value in (feeds or {}).items()]
        made = _guarded(self._native.run, pairs, names, list(targets), timeout)
        values = [None if part is None else Tensor._of(part) for part in made]
        if output == "numpy":
            values = [None if part is None else part._native.numpy() for part in values]  # type: ignore[misc]
        return values[0] if isinstance(fetches, str) else Outputs(names, values)

    def stats(self) -> SessionStats:
        """Counts of what it has done."""
        return SessionStats(*self._native.stats())

    def __repr__(self) -> str:
        return f"Session({self._path!r})"
