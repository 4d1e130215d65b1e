"""`befrost.function`: a Python function that is compiled when it is called.

    call ──flatten──▶ key (dtypes, ranks, structure, static values), sizes
         ──▶ version whose sizes fit ──▶ run ──▶ results
         └─▶ none: compile one; sizes that changed since the last one are unknown in it
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import types
from typing import Any, Callable, Iterable

import numpy as np

from . import _native
from ._functions import Gradient
from ._errors import CompileError, raise_failure, raise_refused
from ._staging.compiler import Leaf, Staged, flatten, stage
from ._staging.calls import bind
from ._staging.errors import Refused
from ._staging.source import function_node
from ._tensor import Tensor

DEFAULT_UNROLL = 1000
MAX_KNOWN = 64
_ARRAYS = frozenset([np.ndarray, *np.sctypeDict.values()])
_PLAIN = _ARRAYS | {bool, int, float, Tensor}


class Spec:
    """The type of an argument: shape, None for unknown sizes, and dtype."""

    def __init__(self, shape: Iterable[int | None], dtype: Any):
        self.shape = tuple(shape)
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


def _printed(text: str) -> None:
    sys.stdout.write(text)


class Function:
    """A compiled Python function. Its results are what the plain function gives on NumPy arrays, as Tensors."""

    def __init__(self, function: types.FunctionType, *, level: int | None = None, unroll: int = DEFAULT_UNROLL,
                 static: Iterable[str] = (), work_queue: str | None = None, gradient: Gradient | None = None):
        if not isinstance(function, types.FunctionType):
            raise TypeError(f"only Python functions are compiled, not {function!r}")
        self._function = function
        self.__befrost_function__ = function
        self.__befrost_gradient__ = gradient
        self._level = int(os.environ.get("BEFROST_LEVEL", "2")) if level is None else level
        self._unroll = unroll
        self._static = frozenset([static] if isinstance(static, str) else static)
        self._work_queue = work_queue or os.environ.get("BEFROST_WORK_QUEUE") or "s"
        self._versions: dict[Any, list[_Version]] = {}
        self._lock = threading.RLock()
        self._compilations = 0
        self._calls = 0
        code = function.__code__
        self._simple = None
        if not code.co_flags & 0x0C and not code.co_kwonlyargcount and not function.__defaults__ and not self._static:
            self._simple = code.co_varnames[:code.co_argcount]
        self._n_simple = -1 if self._simple is None else len(self._simple)
        self._known: dict[Any, _Version] = {}
        functools.update_wrapper(self, function)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<befrost.function {self._function.__qualname__}>"

    # ---- arguments ----

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if self._simple is not None and not kwargs and len(args) == len(self._simple):
            return dict(zip(self._simple, args))
        import inspect

        bound = inspect.signature(self._function).bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def _keys(self, bound: dict[str, Any]) -> tuple[dict[str, Any], list[Any], list[Leaf]]:
        leaves: list[Any] = []
        leaf_types: list[Leaf] = []
        keys: dict[str, Any] = {}
        for name, value in bound.items():
            if name in self._static:
                from ._staging.compiler import Static

                keys[name] = ("static", Static(value))
            elif isinstance(value, Spec):
                leaf_types.append(Leaf(None, value.dtype, value.shape))
                leaves.append(None)
                keys[name] = ("array", value.dtype.name, len(value.shape))
            else:
                keys[name] = flatten(value, leaves, leaf_types)
        return keys, leaves, leaf_types

    def _staged(self, keys: dict[str, Any], leaf_types: list[Leaf]) -> Staged:
        try:
            return stage(self._function, keys, leaf_types, self._unroll, self.__befrost_gradient__)
        except Refused as refused:
            error = refused
        raise_refused(error)

    def _version(self, keys: dict[str, Any], leaf_types: list[Leaf]) -> _Version:
        key = tuple(keys.items())
        versions = self._versions.get(key, ())
        for version in versions:
            if version.fits(leaf_types):
                return version
        with self._lock:
            known = self._versions.setdefault(key, [])
            for version in known:
                if version.fits(leaf_types):
                    return version
            if known:
                # A size that changes becomes unknown.
                leaf_types = [
                    Leaf(leaf.kind, leaf.dtype, tuple(a if a == b else None for a, b in zip(leaf.shape, shape)))
                    for leaf, shape in zip(leaf_types, known[-1].shapes)]
            staged = self._staged(keys, leaf_types)
            try:
                executable = staged.graph.compile(self._level, self._work_queue, staged.prints)
            except _native.Failure as failure:
                error = failure
            else:
                self._compilations += 1
                made = _Version([leaf.shape for leaf in leaf_types], executable, staged.build)
                known.append(made)
                return made
        raise CompileError(f"'{self._function.__qualname__}' was staged, but its graph is refused: {error.args[1]}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) == self._n_simple:
            # Plain numbers and arrays of types that were seen before: one lookup.
            key = tuple([(a.dtype, a.shape) if (t := type(a)) in _ARRAYS else a._key() if t is Tensor else t
                         for a in args])
            version = self._known.get(key)
            if version is not None:
                return self._run(version, [a._native if type(a) is Tensor else a for a in args])
            made = self._slow(args, kwargs)
            if all(type(a) in _PLAIN for a in args) and len(self._known) < MAX_KNOWN:
                bound, _, leaf_types = self._keys(self._bound(args, kwargs))
                self._known[key] = self._version(bound, leaf_types)
            return made
        return self._slow(args, kwargs)

    def _slow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        keys, leaves, leaf_types = self._keys(self._bound(args, kwargs))
        return self._run(self._version(keys, leaf_types), leaves)

    def _run(self, version: _Version, leaves: Iterable[Any]) -> Any:
        self._calls += 1
        try:
            made = version.executable.run(leaves, _printed)
        except _native.Failure as failure:
            error = failure
        else:
            return version.build(map(Tensor._of, made))
        raise_failure(error, self._function)

    # ---- views ----

    def ir(self, *args: Any, **kwargs: Any) -> str:
        """The graph for these arguments, before optimization, as text. Nothing is run."""
        keys, _, leaf_types = self._keys(self._bound(args, kwargs))
        return self._staged(keys, leaf_types).graph.text()  # type: ignore[no-any-return]

    def stats(self) -> FunctionStats:
        """Counts of what it has done."""
        return FunctionStats(self._compilations, self._calls)

    def save(self, path: str | os.PathLike[str], *args: Any, **kwargs: Any) -> None:
        """Writes the function, compiled for arguments of these types, as a BEF file that runs without Python.

        Arguments are examples, or types: `bf.spec(shape, dtype)`."""
        keys, _, leaf_types = self._keys(self._bound(args, kwargs))
        staged = self._staged(keys, leaf_types)
        executable = staged.graph.compile(self._level, self._work_queue, staged.prints)
        path = os.fspath(path)
        temporary = f"{path}.{os.getpid()}.part"
        try:
            with open(temporary, "wb") as file:
                file.write(executable.bef)
            os.replace(temporary, path)
        except BaseException:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise


def function(f: Callable[..., Any] | None = None, *, level: int | None = None, unroll: int = DEFAULT_UNROLL,
             static: Iterable[str] = (), work_queue: str | None = None) -> Any:
    """Compiles a Python function when it is called: `@befrost.function`, with or without options.

    `level`: optimization, 0 to 2. `unroll`: the most iterations of loops that are unrolled. `static`: names of
    arguments that are constants, each value compiled anew.
    """
    if f is None:
        return lambda g: function(g, level=level, unroll=unroll, static=static, work_queue=work_queue)
    if isinstance(f, Function):
        f = f.__befrost_function__
    if isinstance(f, types.MethodType):
        made = Function(f.__func__, level=level, unroll=unroll, static=static, work_queue=work_queue)  # type: ignore[arg-type]
        return types.MethodType(made, f.__self__)
    return Function(f, level=level, unroll=unroll, static=static, work_queue=work_queue)  # type: ignore[arg-type]


def _gradient(f: Any, gradient: Gradient, options: dict[str, Any]) -> Function:
    if isinstance(f, Function):
        if f.__befrost_gradient__ is not None:
            inner = f

            def f(*args: Any) -> Any:
                return inner(*args)
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


__all__ = ["Function", "FunctionStats", "Spec", "bind", "function", "function_node", "spec"]
