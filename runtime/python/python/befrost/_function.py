"""`befrost.function`: a Python function that is compiled when it is called.

    call ──flatten──▶ key (dtypes, ranks, structure, static values), sizes
         ──▶ version whose sizes fit ──▶ run ──▶ results
         └─▶ none: compile one; sizes that changed since the last one are unknown in it
"""

from __future__ import annotations

import functools
import importlib
import operator
import os
import sys
import threading
import types
from typing import TYPE_CHECKING, Any, Callable, Iterable, NoReturn, cast, overload

import numpy as np

from . import _native
from ._coroutines import on_thread
from ._errors import CompileError, InvalidArgumentError, raise_failure, raise_refused
from ._functions import Gradient
from ._model import _options, queue_of, unknown, write_file
from ._progress import Progress
from ._staging.errors import Refused
from ._tensor import Tensor

if TYPE_CHECKING:
    from ._staging.compiler import Leaf, Staged

DEFAULT_UNROLL = 1000
MAX_SHOWN = 8
# Limit of the dtypes, structures and static values that a function keeps programs for.
MAX_KEYS = 256
_PLAIN = frozenset([np.ndarray, *np.sctypeDict.values(), bool, int, float, Tensor])
_MANY = 64


class Spec:
    """The type of an argument: shape, None for unknown sizes, and dtype."""

    def __init__(self, shape: Iterable[int | None], dtype: Any):
        self.shape = tuple(None if size is None else operator.index(size) for size in shape)
        for size in self.shape:
            if size is not None and size < 0:
                raise InvalidArgumentError(f"the size {size} of a dimension: None stands for one that is not known")
        self.dtype = np.dtype(dtype)

    def __repr__(self) -> str:
        return f"spec({self.shape!r}, {self.dtype.name!r})"


def spec(shape: Iterable[int | None], dtype: Any = "float32") -> Spec:
    """The type of an array argument, for `Function.save` and `Function.ir`."""
    return Spec(shape, dtype)


class FunctionStats:
    """Counts of a function."""

    def __init__(self, compilations: int, calls: int):
        self.compilations = compilations
        self.calls = calls

    def __repr__(self) -> str:
        return f"FunctionStats(compilations={self.compilations}, calls={self.calls})"


class _Version:
    """A compiled function, for arguments of these sizes; None fits any."""

    def __init__(self, shapes: list[tuple[int | None, ...]], executable: Any, build: Callable[[Any], Any]):
        self.shapes = shapes
        self.executable = executable
        self.build = build

    def fits(self, types_: list[Leaf]) -> bool:
        return all(size is None or size == have for shape, leaf in zip(self.shapes, types_)
                   for size, have in zip(shape, leaf.shape))


class Function(_native.Dispatcher):
    """A compiled Python function. Its results are what the plain function gives on NumPy arrays, as Tensors."""

    def __init__(self, function: types.FunctionType, *, level: int | None = None, unroll: int = DEFAULT_UNROLL,
                 static: Iterable[str] = (), work_queue: str | None = None, gradient: Gradient | None = None,
                 timeout: float | None = None, max_memory: int | None = None, progress: Any = None):
        if not isinstance(function, types.FunctionType):
            raise TypeError(f"only Python functions are compiled, not {function!r}")
        self._given = {"level": level, "unroll": unroll, "static": static, "work_queue": work_queue, "gradient": gradient,
                       "timeout": timeout, "max_memory": max_memory}
        self._function = function
        self.__befrost_function__ = function
        self.__befrost_gradient__ = gradient
        self._level = _options(level, None)[0]
        self._unroll = unroll
        self._static = frozenset([static] if isinstance(static, str) else static)
        self._work_queue = queue_of(work_queue) or "s"
        self._timeout = timeout
        self._progress = progress
        self._max_memory = max_memory
        self._versions: dict[Any, list[_Version]] = {}
        self._lock = threading.RLock()
        self._compilations = 0
        code = function.__code__
        names = [*code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]]
        for name in self._static:
            if name not in names and not code.co_flags & 0x0C:
                raise unknown("argument", name, names)
        if not isinstance(unroll, int) or unroll < 0:
            raise InvalidArgumentError(f"unroll is {unroll!r}, not a number of iterations")
        if max_memory is not None and max_memory < 0:
            raise InvalidArgumentError(f"max_memory is {max_memory!r}, not a number of bytes")
        self._simple = None
        if not code.co_flags & 0x0C and not code.co_kwonlyargcount and not function.__defaults__ and not self._static:
            self._simple = code.co_varnames[:code.co_argcount]
        self._remembered: set[Any] = set()
        self._shown: list[tuple[dict[str, Any], list[Leaf]]] = []
        functools.update_wrapper(self, function)
        # The front end is loaded here: not by `import befrost`, since most programs that load models need none, and not by
        # the first call.
        for part in ("compiler", "table"):
            importlib.import_module(f"befrost._staging.{part}")

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<befrost.function {self._function.__qualname__}>"

    def __reduce__(self) -> Any:
        """By its name, as Python's functions, or by that of the plain function and the options: a process that loads it
        compiles its own."""
        module, name = self._function.__module__, self._function.__qualname__
        try:
            found = operator.attrgetter(name)(sys.modules[module])
        except (AttributeError, KeyError):
            found = self  # of a function: pickle refuses its name
        return name if found is self else (_again, (module, name, self._given))

    def __copy__(self) -> Function:
        return self

    def __deepcopy__(self, memo: Any) -> Function:
        return self

    # ---- arguments ----

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if self._simple is not None and not kwargs and len(args) == len(self._simple):
            return dict(zip(self._simple, args))
        import inspect

        # Of a function that a decorator made, not of the one that it wraps.
        bound = inspect.signature(self._function, follow_wrapped=False).bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def _keys(self, bound: dict[str, Any]) -> tuple[dict[str, Any], list[Any], list[Leaf]]:
        leaves: list[Any] = []
        from ._staging.compiler import Leaf, Static, flatten

        leaf_types: list[Leaf] = []
        keys: dict[str, Any] = {}
        for name, value in bound.items():
            if name in self._static:
                keys[name] = ("static", Static(value))
            elif isinstance(value, Spec):
                leaf_types.append(Leaf(None, value.dtype, value.shape))
                leaves.append(None)
                keys[name] = ("array", value.dtype.name, len(value.shape))
            else:
                keys[name] = flatten(value, leaves, leaf_types)
        return keys, leaves, leaf_types

    def _staged(self, keys: dict[str, Any], leaf_types: list[Leaf]) -> Staged:
        from ._staging.compiler import stage

        try:
            return stage(self._function, keys, leaf_types, self._unroll, self.__befrost_gradient__)
        except Refused as refused:
            error = refused
        raise_refused(error)

    def _executable(self, staged: Staged) -> _native.Executable:
        graph = staged.graph
        made: _native.Executable = graph.compile(self._level, self._work_queue, staged.prints or graph.loops, self._max_memory,
                             staged.store, self._function.__qualname__)
        return made

    def _version(self, keys: dict[str, Any], leaf_types: list[Leaf]) -> _Version:
        key = tuple(keys.items())
        versions = self._versions.get(key, ())
        for version in versions:
            if version.fits(leaf_types):
                return version
        with self._lock:
            if key not in self._versions and len(self._versions) >= MAX_KEYS:
                del self._versions[next(iter(self._versions))]
            known = self._versions.setdefault(key, [])
            for version in known:
                if version.fits(leaf_types):
                    return version
            if known:
                from ._staging.compiler import Leaf

                # A size that changes becomes unknown.
                leaf_types = [
                    Leaf(leaf.kind, leaf.dtype, tuple(a if a == b else None for a, b in zip(leaf.shape, shape)))
                    for leaf, shape in zip(leaf_types, known[-1].shapes)]
            try:
                with Progress(f"compiling {self._function.__qualname__}", self._progress):
                    staged = self._staged(keys, leaf_types)
                    if len(self._shown) < MAX_SHOWN:
                        self._shown.append((keys, leaf_types))
                    executable = self._executable(staged)
            except _native.Failure as failure:
                error = failure
            else:
                self._compilations += 1
                made = _Version([leaf.shape for leaf in leaf_types], executable, staged.build)
                known.append(made)
                return made
        raise CompileError(f"'{self._function.__qualname__}' was staged, but its graph is refused: {error.args[1]}")

    def _slow(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """A call for which the native part remembers no version."""
        keys, leaves, leaf_types = self._keys(self._bound(args, kwargs or {}))
        version = self._version(keys, leaf_types)
        if not kwargs and self._timeout is None and len(leaves) == len(args) == len(self._simple or ()):
            if all(type(a) in _PLAIN for a in args) and len(self._remembered) < _MANY:
                self._remember(version, leaf_types)
        return self._run(version, leaves)

    def _remember(self, version: _Version, leaf_types: list[Leaf]) -> None:
        """Lets the native part call a version."""
        types_: list[tuple[str, list[int | None]]] = [
            (leaf.kind if leaf.kind else f"array:{np.dtype(leaf.dtype).name}", list(shape))
            for leaf, shape in zip(leaf_types, version.shapes)]
        key = tuple((name, tuple(shape)) for name, shape in types_)
        if key in self._remembered or any(name == "complex" for name, _ in types_):
            return
        self._remembered.add(key)
        self.remember(types_, version.executable, None if version.build is next else version.build)

    def _run(self, version: _Version, leaves: Any) -> Any:
        try:
            made = version.executable.run(leaves, self._timeout)
        except _native.Failure as failure:
            error = failure
        else:
            return version.build(iter(made))
        self._raise(error)

    def _raise(self, failure: BaseException) -> NoReturn:
        """Raises the exception for an error of a run."""
        raise_failure(failure, self._function)

    # ---- views ----

    def ir(self, *args: Any, **kwargs: Any) -> str:
        """The graph for these arguments, before optimization, as text. Nothing is run."""
        keys, _, leaf_types = self._keys(self._bound(args, kwargs))
        return self._staged(keys, leaf_types).graph.text()  # type: ignore[no-any-return]

    def _repr_html_(self) -> str:
        """Its signatures with their graphs, as picture and text, for notebooks."""
        import html

        from . import _picture

        parts = [f"<b>{html.escape(repr(self))}</b> {self._compilations} compiled"]
        for keys, leaf_types in self._shown:
            text = self._staged(keys, leaf_types).graph.text()
            types_ = html.escape(", ".join(map(repr, leaf_types)))
            parts.append(f"<details open><summary><code>({types_})</code></summary>{_picture.svg(text)}"
                         f"<details><summary>text</summary><pre>{html.escape(text)}</pre></details></details>")
        return "".join(parts)

    def warm(self, *args: Any, **kwargs: Any) -> None:
        """Compiles it for arguments of these types, without running it. Arguments are examples, or `bf.spec(...)`."""
        keys, _, leaf_types = self._keys(self._bound(args, kwargs))
        self._version(keys, leaf_types)

    async def run_async(self, *args: Any, **kwargs: Any) -> Any:
        """A call on a thread of its own, for asyncio. Cancelling the coroutine ends the run."""
        return await on_thread(self, *args, **kwargs)

    def transform(self, name: str, **options: Any) -> Function:
        """The function that a transform of graphs makes of this one: "grad" or "value_and_grad", with the options of
        `befrost.grad`: `f.transform("grad", wrt=0)`."""
        if name not in TRANSFORMS:
            raise unknown("transform", name, list(TRANSFORMS))
        wrt = options.pop("wrt", 0)
        return TRANSFORMS[name](self, tuple(wrt) if isinstance(wrt, list) else wrt, **options)

    def stats(self) -> FunctionStats:
        """Counts of what it has done."""
        return FunctionStats(self._compilations, self.n_calls)

    def save(self, path: str | os.PathLike[str], *args: Any, **kwargs: Any) -> None:
        """Writes the function, compiled for arguments of these types, as a BEF file that runs without Python.

        Arguments are examples, or types: `bf.spec(shape, dtype)`."""
        keys, _, leaf_types = self._keys(self._bound(args, kwargs))
        staged = self._staged(keys, leaf_types)
        executable = self._executable(staged)
        write_file(path, executable.bef)


@overload
def function(f: Callable[..., Any], *, level: int | None = None, unroll: int = DEFAULT_UNROLL, static: Iterable[str] = (),
             work_queue: str | None = None, timeout: float | None = None, max_memory: int | None = None,
             progress: Any = None) -> Function: ...


@overload
def function(f: None = None, *, level: int | None = None, unroll: int = DEFAULT_UNROLL, static: Iterable[str] = (),
             work_queue: str | None = None, timeout: float | None = None, max_memory: int | None = None,
             progress: Any = None) -> Callable[[Callable[..., Any]], Function]: ...


def function(f: Callable[..., Any] | None = None, *, level: int | None = None, unroll: int = DEFAULT_UNROLL,
             static: Iterable[str] = (), work_queue: str | None = None, timeout: float | None = None,
             max_memory: int | None = None, progress: Any = None) -> Any:
    """Compiles a Python function when it is called: `@befrost.function`, with or without options.

    `level`: optimization, 0 to 2. `unroll`: limit of the iterations of an unrolled loop. `static`: names of arguments
    that are constants; the function is compiled for each of their values. `timeout`: seconds after which a call is
    stopped. `max_memory`: limit of the bytes that a call may hold. `progress`: as `load`'s, for compiling. `work_queue`: "s"
    runs a call on the caller's thread, "mstd:N" on N threads; the default is that of BEFROST_WORK_QUEUE, or "s".

    >>> import numpy as np
    >>> @function
    ... def collatz(n):
    ...     steps = 0
    ...     while n != 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         steps += 1
    ...     return steps
    >>> collatz(np.int64(27)).item()
    111
    """
    options: dict[str, Any] = {"level": level, "unroll": unroll, "static": static, "work_queue": work_queue,
                               "timeout": timeout, "max_memory": max_memory, "progress": progress}
    if f is None:
        return lambda g: cast(Function, function(g, **options))
    if isinstance(f, Function):
        f = f.__befrost_function__
    if isinstance(f, types.MethodType):
        plain: Any = getattr(f.__func__, "__befrost_function__", f.__func__)
        return types.MethodType(Function(plain, **options), f.__self__)
    return Function(f, **options)  # type: ignore[arg-type]


def _again(module: str, name: str, options: dict[str, Any]) -> Function:
    found = operator.attrgetter(name)(importlib.import_module(module))
    return Function(getattr(found, "__befrost_function__", found), **options)


def _gradient(f: Any, gradient: Gradient, options: dict[str, Any]) -> Function:
    if isinstance(f, Function):
        if f.__befrost_gradient__ is not None:
            inner = f

            def f(*args: Any) -> Any:
                return inner(*args)

            f.__module__ = inner.__module__  # it is interpreted as the user's function is
        else:
            f = f.__befrost_function__
    return Function(f, gradient=gradient, **options)


def grad(f: Any, wrt: int | tuple[int, ...] = 0, *, has_aux: bool = False, **options: Any) -> Function:
    """The gradient of a function that returns a number, with respect to positional arguments: a function of the same
    arguments. With a tuple `wrt` it returns a tuple. `options` are those of `function`."""
    return _gradient(f, Gradient(wrt, has_aux, has_aux), options)


def value_and_grad(f: Any, wrt: int | tuple[int, ...] = 0, *, has_aux: bool = False, **options: Any) -> Function:
    """As `grad`, and returns the function's value in front."""
    return _gradient(f, Gradient(wrt, True, has_aux), options)


TRANSFORMS: dict[str, Callable[..., Function]] = {"grad": grad, "value_and_grad": value_and_grad}

__all__ = ["Function", "FunctionStats", "Spec", "function", "spec"]
