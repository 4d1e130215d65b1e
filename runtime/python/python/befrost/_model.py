"""`load` and `Model`: a file's function, called with arrays by position or by name."""

from __future__ import annotations

import os
import re
from typing import Any, Iterable, Iterator, Mapping

from . import _native
from ._coroutines import on_thread
from ._errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, WrongTypeError, check_file, guarded
from ._native import Outputs as Outputs, Tensor
from ._progress import Progress

_TYPE = re.compile(r"tensor<(?P<sizes>(?:[0-9?]+x)*)(?P<element>.+)>$")
_ELEMENTS = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16", "i1": "bool",
             "complex<f32>": "complex64", "complex<f64>": "complex128", "!tf_type.string": "str",
             **{f"i{n}": f"int{n}" for n in (8, 16, 32, 64)}, **{f"ui{n}": f"uint{n}" for n in (8, 16, 32, 64)}}


class Port:
    """An input or an output of a model: its name and its type; shape and dtype, None where they are not known."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: str):
        self.name = name
        self.type = type

    @property
    def shape(self) -> tuple[int | None, ...] | None:
        """The sizes, None for unknown ones; None if the rank is unknown."""
        found = _TYPE.match(self.type)
        if found is None:
            return None
        return tuple(None if size == "?" else int(size) for size in found["sizes"].split("x")[:-1])

    @property
    def dtype(self) -> str | None:
        """NumPy's name of the element type."""
        found = _TYPE.match(self.type)
        element = found["element"] if found else self.type
        return _ELEMENTS.get(element.removeprefix("*x"))

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"


def unknown(what: str, name: str, names: list[str]) -> NotFoundError:
    """The error for an unknown name, with the nearest known ones."""
    import difflib

    near = difflib.get_close_matches(str(name), names, 3)
    hint = f"; did you mean {', '.join(map(repr, near))}?" if near else f"; there are: {', '.join(map(repr, names))}"
    return NotFoundError(f"there is no {what} '{name}'{hint}")


class Variables:
    """Variables by name. Their values are Tensors; an assigned array is copied.

    Models, sessions and functions with the same variables see each other's updates.
    """

    def __init__(self, store: _native.VariableStore | None = None):
        self._store = _native.VariableStore() if store is None else store

    def __getitem__(self, name: str) -> Tensor:
        return guarded(self._store.get, name)

    def __setitem__(self, name: str, value: Any) -> None:
        guarded(self._store.set, name, value)

    def names(self) -> list[str]:
        """The names of the variables that have values."""
        return guarded(self._store.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def snapshot(self) -> dict[str, Tensor]:
        """The values of all variables at one moment: no update is partially visible."""
        return dict(guarded(self._store.snapshot))

    def restore(self, values: Mapping[str, Any]) -> None:
        """Sets variables to the values of a snapshot at one moment: all of them, or none after an error."""
        guarded(self._store.restore, list(values.items()))

    def __repr__(self) -> str:
        return f"Variables({', '.join(self.names())})"


class ModelStats:
    """Counts of a model."""

    def __init__(self, runs: int, compilations: int, n_bytes: int):
        self.runs = runs
        self.compilations = compilations
        self.bytes = n_bytes

    def __repr__(self) -> str:
        return f"ModelStats(runs={self.runs}, compilations={self.compilations}, bytes={self.bytes})"


def stamp_of(path: str) -> tuple[Any, ...]:
    """What changes when a file does, or one of a folder: times and sizes. Nothing of a file that is not there."""
    files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in sorted(names)] or [path]
    try:
        found = [(file, os.stat(file)) for file in files]
    except OSError:
        return ()
    return tuple((file, stat.st_mtime_ns, stat.st_size, stat.st_ino) for file, stat in found)


def check_stamp(path: str, stamp: tuple[Any, ...]) -> None:
    """Refuses a file that is about to be read again, if it is another one than before."""
    if stamp_of(path) != stamp:
        raise FailedPreconditionError(f"'{path}' has changed since it was loaded: load it again")


def queue_of(given: str | None) -> str | None:
    """The work queue that an option or the environment names."""
    found: Any = given or os.environ.get("BEFROST_WORK_QUEUE") or None
    if found is not None and not isinstance(found, str):
        raise WrongTypeError(f"work_queue is {found!r}, not a text such as 's' or 'mstd:4'")
    if found is not None and not re.fullmatch(r"s|mstd(:[1-9]\d{0,3}(,[1-9]\d{0,3})?)?|seeded:\d{1,19}", found):
        what = "work_queue" if given else "BEFROST_WORK_QUEUE"
        raise InvalidArgumentError(f"{what} is {found!r}: give 's' for the caller's thread, 'mstd:N' for N threads, or 'seeded:N' for one "
                                   "thread that runs tasks in an order that follows from N")
    return found


def _options(level: int | None, threads: int | None) -> tuple[int, str | None]:
    """The level, and the work queue."""
    given: Any = os.environ.get("BEFROST_LEVEL") or "2" if level is None else level
    if str(given) not in ("0", "1", "2"):
        raise InvalidArgumentError(f"the level{' of BEFROST_LEVEL' if level is None else ''} is {given!r}, not 0, 1 or 2")
    found = int(given)
    if threads is None:
        return found, queue_of(None)
    if threads < 1:
        raise InvalidArgumentError(f"{threads} threads: at least one is needed")
    return found, "s" if threads == 1 else f"mstd:{threads}"


class Model(_native.Model):
    """A compiled model. Any number of threads may run it at once.

    `inputs` and `outputs` are its ports, `variables` its variables by name.
    """

    _source: Any

    def __new__(cls, path: str, source: Any, **options: Any) -> Model:
        level, queue = _options(options.get("level"), options.get("threads"))
        check_file(path)
        stamp = stamp_of(path)
        made: Model = guarded(super().__new__, cls, path, level, queue, options.get("signature"),
                       options.get("max_memory"), list(options.get("libraries", ())), options.get("cache_dir"),
                       options.get("precision"))
        made._path, made._source, made._options, made._stamp = path, source, options, stamp
        made.inputs = [Port(*port) for port in made.input_ports()]
        made.outputs = [Port(*port) for port in made.output_ports()]
        made._names = [port.name for port in made.outputs]
        made._session = None
        made.variables = Variables(made.store())
        return made

    def __init__(self, path: str, source: Any, **options: Any):
        self._path: str
        self._stamp: tuple[Any, ...]
        self._options: dict[str, Any]
        self._names: list[str]
        self._session: Any
        self.inputs: list[Port]
        self.outputs: list[Port]
        self.variables: Variables

    def _run(self, feeds: Mapping[str, Any] | None, fetches: Iterable[str] | None, timeout: float | None,
             output: str | None) -> Outputs:
        """A run with `fetches`, or another kind of output."""
        if output not in (None, "numpy", "tensor"):
            raise InvalidArgumentError(f"output is {output!r}, not 'numpy' or 'tensor'")
        if feeds is not None and not isinstance(feeds, Mapping):
            raise WrongTypeError("`run` takes the inputs by their names, as {'x': x}; a call of the model takes them in their order")
        if fetches is not None:
            return self._fetched(feeds or {}, list(fetches), timeout, output or "numpy")
        return Outputs(self._names, guarded(self.run_values, self._values(feeds or {}), timeout, output == "tensor"))

    def _values(self, feeds: Mapping[str, Any]) -> list[Any]:
        """The inputs in their order."""
        names = [port.name for port in self.inputs]
        for name in feeds:
            if name not in names:
                raise unknown("input", name, names)
        missing = [port for port in self.inputs if port.name not in feeds]
        if missing:
            raise InvalidArgumentError(f"the input '{missing[0].name}' ({missing[0].type}) is not given")
        return [feeds[name] for name in names]

    def _fetched(self, feeds: Mapping[str, Any], fetches: list[str], timeout: float | None, output: str) -> Outputs:
        made = self.session().run(fetches, feeds, timeout=timeout, output=output)
        assert isinstance(made, Outputs)
        return made

    def session(self) -> Any:
        """A session on the same model, with the same variables: any tensor of a graph fed, any fetched."""
        if self._session is None:
            from ._session import Session

            check_stamp(self._path, self._stamp)
            self._session = Session(self._path, variables=self.variables, **self._options)
        return self._session

    def tensors(self) -> list[Port]:
        """All tensors that `fetches` can name."""
        return self.session().tensors()  # type: ignore[no-any-return]

    @property
    def signatures(self) -> dict[str, Model]:
        """The model's functions by name, with the same variables."""
        options = self._options
        check_stamp(self._path, self._stamp)
        return {name: Model(self._path, self._source, **{**options, "signature": name})
                for name in self.signature_names()}

    def warm(self, feeds: Mapping[str, Any] | None = None, fetches: Iterable[str] | None = None) -> None:
        """Compiles what a run needs, without running it: the program of the outputs is there since the model was loaded,
        that of other tensors is compiled now."""
        if fetches is not None:
            self.session().warm(fetches, feeds or {})
        else:
            self._values(feeds if feeds is not None else dict.fromkeys(port.name for port in self.inputs))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the compiled model as a BEF file, with the present values of its variables as constants."""
        if len(self.variables):
            self.session().save(path)
        else:
            write_file(path, self.bef)

    def stats(self) -> ModelStats:
        """Counts of what it has done."""
        compilations = 1 if self._session is None else 1 + self._session.stats().compilations
        return ModelStats(self.n_runs, compilations, len(self.bef))

    async def run_async(self, feeds: Mapping[str, Any] | None = None, fetches: Iterable[str] | None = None, *,
                        timeout: float | None = None, output: str | None = None) -> Outputs:
        """`run`, on a thread of its own, for asyncio. Cancelling the coroutine ends the run."""
        return await on_thread(self.run, feeds, fetches, timeout=timeout, output=output)

    def _repr_html_(self) -> str:
        """Its inputs, outputs, operations and size, for notebooks."""
        import html

        rows = [("input", port) for port in self.inputs] + [("output", port) for port in self.outputs]
        cells = "".join(f"<tr><td>{what}</td><td>{html.escape(port.name)}</td><td><code>{html.escape(port.type)}</code>"
                        "</td></tr>" for what, port in rows)
        size = html.escape(self._size())
        return f"<b>{html.escape(self._title())}</b> {size}<table>{cells}</table>"

    def __call__(self, *args: Any, **kwargs: Any) -> Outputs:
        if len(args) > len(self.inputs):
            raise TypeError(f"the model has {len(self.inputs)} inputs, got {len(args)}")
        feeds = {port.name: value for port, value in zip(self.inputs, args)}
        for name, value in kwargs.items():
            if name in feeds:
                raise TypeError(f"the input '{name}' is given twice")
            feeds[name] = value
        return self.run(feeds)

    def _size(self) -> str:
        n_operations, n_bytes = self.counts()
        return (f"{n_operations:,} operations, {n_bytes:,} bytes of weights and constants, {len(self.variables)} variables, "
                f"{len(self.bef):,} bytes compiled")

    def _title(self) -> str:
        return self._path if not isinstance(self._source, bytes) else f"<{len(self._source)} bytes>"

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(repr, ports)) for ports in (self.inputs, self.outputs))
        return f"Model({self._title()!r}: ({inputs}) -> ({outputs}); {self._size()})"

    def __reduce__(self) -> Any:
        check_stamp(self._path, self._stamp)
        return _again, (self._source, self._options)


def _again(source: Any, options: dict[str, Any]) -> Model:
    return load(source, **options)


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file atomically: other processes see the old one or the new one."""
    path = os.fspath(path)
    temporary = f"{path}.{os.getpid()}.part"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def _cleaned(folder: str, file: str) -> None:
    for remove, what in ((os.remove, file), (os.rmdir, folder)):
        try:
            remove(what)
        except OSError:
            pass


def load(path: str | os.PathLike[str] | bytes | bytearray | memoryview | Any, *, signature: str | None = None,
         level: int | None = None, threads: int | None = None, shapes: str = "auto",
         cache_dir: str | os.PathLike[str] | None = None, libraries: Iterable[Any] = (), progress: Any = None,
         max_memory: int | None = None, precision: str | None = None) -> Model:
    """Loads a model: ONNX, a TensorFlow graph or SavedModel, MLIR text, or BEF; from a path, bytes, or a file.

    `signature`: the function of a model that has several. `level`: optimization, 0 to 2; the default is that of
    BEFROST_LEVEL, or 2. `threads`: 1 runs on the caller's thread alone; the default is that of BEFROST_WORK_QUEUE,
    or as many as there are processors. `progress`: a function that is called with text, False for none; by
    default a line in a terminal or notebook if loading takes longer than a second. `cache_dir`: a folder for
    compiled programs. `libraries`: paths of kernel libraries, whose code runs in this process. `shapes` is that of
    a `Session`, for fetches other than the outputs. `precision`: "bf16" or "int8" computes products and convolutions
    with constant weights in this type; fetches other than the outputs stay f32.
    """
    if shapes not in ("auto", "declared", "exact"):
        raise InvalidArgumentError(f"shapes is {shapes!r}, not 'auto', 'declared' or 'exact'")
    options = {"signature": signature, "level": level, "threads": threads, "max_memory": max_memory, "precision": precision,
               "cache_dir": None if cache_dir is None else os.fspath(cache_dir),
               "libraries": [os.fspath(path) for path in libraries] or None,
               "shapes": None if shapes == "auto" else shapes}
    options = {name: value for name, value in options.items() if value is not None}
    if hasattr(path, "read"):
        path = path.read()
        if isinstance(path, str):
            path = path.encode()
    if isinstance(path, (bytes, bytearray, memoryview)):
        data = bytes(path)
        import tempfile
        import weakref

        folder = tempfile.mkdtemp(prefix="befrost-")
        file = os.path.join(folder, "model")
        try:
            with open(file, "wb") as out:
                out.write(data)
            with Progress("compiling the model", progress):
                model = Model(file, data, **options)
        except BaseException:
            _cleaned(folder, file)
            raise
        weakref.finalize(model, _cleaned, folder, file)
        return model
    path = os.fspath(path)
    with Progress(f"loading {path}", progress):
        return Model(path, path, **options)
