"""`Session`: any tensor of a graph fed, any fetched, with variables that live between runs."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping

from . import _native
from ._errors import guarded
from ._model import Outputs, Variables, _options


class SessionStats:
    """Counts of a session."""

    def __init__(self, compilations: int, hits: int, executables: int):
        self.compilations = compilations
        self.hits = hits
        self.executables = executables

    def __repr__(self) -> str:
        return f"SessionStats(compilations={self.compilations}, hits={self.hits}, executables={self.executables})"


class Session:
    """A graph (.pb, .pbtxt, .meta, .onnx) with its variables.

    `init` names the node that initializes the variables. Any number of threads may run it at once. After a fork
    the child has a session of its own, with the values that the variables had at the fork.
    """

    def __init__(self, path: str | os.PathLike[str], *, init: str | None = None, level: int | None = None,
                 threads: int | None = None, max_memory: int | None = None, variables: Variables | None = None):
        self._path = os.fspath(path)
        number, queue = _options(level, threads)
        store = None if variables is None else variables._store
        self._arguments = (self._path, number, None, queue, max_memory)
        self._native = guarded(_native.Session, self._path, number, init, queue, max_memory, store)
        self._process = os.getpid()
        self.variables = Variables(self._native.store())

    def _session(self) -> _native.Session:
        if self._process != os.getpid():
            # A child does not have the threads of its parent.
            self._native = guarded(_native.Session, *self._arguments, self.variables._store)
            self._process = os.getpid()
        return self._native

    def run(self, fetches: str | Iterable[str] = (), feeds: Mapping[str, Any] | None = None, *,
            targets: Iterable[str] = (), timeout: float | None = None, output: str = "numpy") -> Any:
        """Computes tensors by their names, `x` or `x:0`. One name gives one value, several give `Outputs`.

        `targets` are nodes that run for their effects, such as a training step. `timeout`: seconds after which
        the run is stopped."""
        if output not in ("numpy", "tensor"):
            raise ValueError(f"output is {output!r}, not 'numpy' or 'tensor'")
        names = [fetches] if isinstance(fetches, str) else list(fetches)
        pairs = list((feeds or {}).items())
        values = guarded(self._session().run, pairs, names, list(targets), timeout, output == "tensor")
        return values[0] if isinstance(fetches, str) else Outputs(names, values)

    async def run_async(self, fetches: str | Iterable[str] = (), feeds: Mapping[str, Any] | None = None,
                        **options: Any) -> Any:
        """`run`, on a thread of its own, for asyncio."""
        import asyncio

        return await asyncio.to_thread(self.run, fetches, feeds, **options)

    def warm(self, fetches: str | Iterable[str] = (), feeds: Iterable[str] = (), *,
             targets: Iterable[str] = ()) -> None:
        """Compiles what a run of these names needs, without running it."""
        names = [fetches] if isinstance(fetches, str) else list(fetches)
        guarded(self._session().warm, list(feeds), names, list(targets))

    def stats(self) -> SessionStats:
        """Counts of what it has done."""
        return SessionStats(*self._native.stats())

    def __repr__(self) -> str:
        return f"Session({self._path!r})"
