"""`Session`: any tensor of a graph fed, any fetched, with variables that live between runs."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping

import numpy as np

from . import _native
from ._coroutines import on_thread
from ._errors import InvalidArgumentError, check_file, guarded
from ._model import Outputs, Port, Variables, _options, check_stamp, stamp_of
from ._progress import Progress


SHAPES = ("auto", "declared", "exact")


class SessionStats:
    """Counts of a session."""

    def __init__(self, compilations: int, hits: int, executables: int, from_cache: int, specializations: int,
                 n_bytes: int):
        self.compilations = compilations
        self.hits = hits
        self.executables = executables
        self.from_cache = from_cache
        self.specializations = specializations
        self.bytes = n_bytes

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={count}" for name, count in vars(self).items())
        return f"SessionStats({counts})"


class Session:
    """A model with its variables: a TensorFlow graph or SavedModel, an ONNX model, MLIR text or a BEF file. Of a
    program, text or BEF, all arguments of a function are fed.

    `signature`: the signature whose inputs and outputs are names here, beside the graph's own; of a program the
    function. `init` names the node that initializes the variables; a SavedModel, or a MetaGraph with its checkpoint,
    needs none. Any number of threads may run it at once. After a fork
    the child makes a session of its own, with the values that the variables had.

    `shapes`: with "auto" sizes that come often get a program of their own, which is compiled meanwhile; with
    "declared" one program runs all sizes, with "exact" each has its own. `cache_dir` is a folder for compiled
    programs. `libraries` are paths of kernel libraries, whose code runs in this process. `precision`: "bf16" or "int8"
    computes products and convolutions with constant weights in it. `progress`: as `load`'s, for opening and compiling.
    """

    def __init__(self, path: str | os.PathLike[str], *, signature: str | None = None, init: str | None = None,
                 level: int | None = None, threads: int | None = None, max_memory: int | None = None,
                 variables: Variables | None = None, libraries: Iterable[str | os.PathLike[str]] = (),
                 cache_dir: str | os.PathLike[str] | None = None, shapes: str = "auto", precision: str | None = None,
                 progress: Any = None):
        self._path = os.fspath(path)
        self._progress = progress
        check_file(self._path)
        self._stamp = stamp_of(self._path)
        number, queue = _options(level, threads)
        store = None if variables is None else variables._store
        if shapes not in SHAPES:
            raise InvalidArgumentError(f"shapes is {shapes!r}, not one of {', '.join(map(repr, SHAPES))}")
        folder = None if cache_dir is None else os.fspath(cache_dir)
        options = (signature, [os.fspath(path) for path in libraries], folder, shapes, precision)
        self._arguments = (self._path, number, None, queue, max_memory)
        self._options = options
        with Progress(f"opening {self._path}", progress):
            self._native = guarded(_native.Session, self._path, number, init, queue, max_memory, store, *options)
        self._process = os.getpid()
        self.variables = Variables(self._native.store())
        self._given = {"signature": signature, "init": init, "level": level, "threads": threads, "max_memory": max_memory,
                       "libraries": options[1], "cache_dir": folder, "shapes": shapes, "precision": precision}

    def __reduce__(self) -> Any:
        """As its file and options, with the values that its variables have now."""
        check_stamp(self._path, self._stamp)
        return _again, (self._path, self._given, self.variables.snapshot())

    def _session(self) -> _native.Session:
        if self._process != os.getpid():
            # The threads of the parent are not here.
            check_stamp(self._path, self._stamp)
            self._native = guarded(_native.Session, *self._arguments, self.variables._store, *self._options)
            self._process = os.getpid()
        return self._native

    def run(self, fetches: str | Iterable[str] = (), feeds: Mapping[str, Any] | None = None, *,
            targets: Iterable[str] = (), timeout: float | None = None, output: str = "numpy",
            trace: str | os.PathLike[str] | None = None) -> Any:
        """Computes tensors by their names, `x` or `x:0`. One name gives one value, several give `Outputs`.

        `targets` are nodes that run for their effects, such as a training step. `timeout`: seconds after which
        the run is stopped. `trace`: a file for the times of its kernels, for Chrome's and Perfetto's viewers."""
        if output not in ("numpy", "tensor"):
            raise InvalidArgumentError(f"output is {output!r}, not 'numpy' or 'tensor'")
        names = [fetches] if isinstance(fetches, str) else list(fetches)
        pairs = list((feeds or {}).items())
        session = self._session()
        given = (pairs, names, list(targets), timeout, output == "tensor", None if trace is None else os.fspath(trace))
        values = guarded(session.run, *given)
        while values is None:
            with Progress(f"compiling a part of {self._path}", self._progress):
                guarded(session.prepare, [name for name, _ in pairs], names, given[2])
            values = guarded(session.run, *given)
        return values[0] if isinstance(fetches, str) else Outputs(names, values)

    async def run_async(self, fetches: str | Iterable[str] = (), feeds: Mapping[str, Any] | None = None,
                        **options: Any) -> Any:
        """`run`, on a thread of its own, for asyncio. Cancelling the coroutine ends the run."""
        return await on_thread(self.run, fetches, feeds, **options)

    def warm(self, fetches: str | Iterable[str] = (), feeds: Iterable[str] | Mapping[str, Any] = (), *,
             targets: Iterable[str] = ()) -> None:
        """Compiles what a run of these names needs, without running it.

        With feeds by name, arrays or their shapes, the program of these sizes is compiled too, if sizes have programs
        of their own."""
        names = [fetches] if isinstance(fetches, str) else list(fetches)
        sizes = None
        if isinstance(feeds, Mapping):
            sizes = [list(feed if isinstance(feed, tuple) else np.shape(feed)) for feed in feeds.values()]
        guarded(self._session().warm, list(feeds), names, list(targets), sizes)

    def save(self, path: str | os.PathLike[str], fetches: str | Iterable[str] = (),
             feeds: Iterable[str] = ()) -> None:
        """Writes the function from the inputs to the outputs as a BEF file, with the present values of the variables
        as constants: it runs without the model's files, and without Python.

        `fetches` and `feeds` name another part of a graph, such as the predictions of one for training; without
        `feeds` all placeholders that it needs are inputs."""
        names = [fetches] if isinstance(fetches, str) else list(fetches)
        guarded(self._session().save, os.fspath(path), list(feeds), names)

    @property
    def inputs(self) -> list[Port]:
        """The inputs of the graph, of its signature or of the function."""
        return [Port(*port) for port in guarded(self._session().inputs)]

    @property
    def outputs(self) -> list[Port]:
        """The outputs of the graph, of its signature or of the function."""
        return [Port(*port) for port in guarded(self._session().outputs)]

    @property
    def signatures(self) -> dict[str, tuple[list[Port], list[Port]]]:
        """The inputs and outputs of the model's signatures, or of the program's functions."""
        found = guarded(self._session().signatures)
        return {name: ([Port(*port) for port in inputs], [Port(*port) for port in outputs])
                for name, inputs, outputs in found}

    def tensors(self) -> list[Port]:
        """All tensors that can be fed and fetched."""
        return [Port(*port) for port in guarded(self._session().tensors)]

    def stats(self) -> SessionStats:
        """Counts of what it has done."""
        return SessionStats(*self._native.stats())

    def __repr__(self) -> str:
        return f"Session({self._path!r})"


def _again(path: str, options: dict[str, Any], values: dict[str, Any]) -> Session:
    made = Session(path, **options)
    made.variables.restore(values)
    return made
