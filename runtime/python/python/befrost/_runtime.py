"""`Runtime`: options that models, sessions and functions have in common."""

from __future__ import annotations

import os
from typing import Any, Callable

from ._errors import InvalidArgumentError
from ._function import function
from ._model import Model, load
from ._session import Session


class Runtime:
    """Options for compiling and running programs: optimization level, threads, limit of memory.

    >>> runtime = Runtime(threads=1, max_memory=1 << 30)
    >>> double = runtime.function(lambda x: x * 2)
    >>> double(21).item()
    42
    """

    def __init__(self, *, level: int | None = None, threads: int | None = None, max_memory: int | None = None):
        if threads is not None and threads < 1:
            raise InvalidArgumentError(f"{threads} threads: at least one is needed")
        if level is not None and level not in (0, 1, 2):
            raise InvalidArgumentError(f"the level is {level}, not 0, 1 or 2")
        self.level = level
        self.threads = threads
        self.max_memory = max_memory

    def _options(self, given: dict[str, Any]) -> dict[str, Any]:
        own = {"level": self.level, "threads": self.threads, "max_memory": self.max_memory}
        return {**{name: value for name, value in own.items() if value is not None}, **given}

    def load(self, path: Any, **options: Any) -> Model:
        """`befrost.load` with these options."""
        return load(path, **self._options(options))

    def session(self, path: str | os.PathLike[str], **options: Any) -> Session:
        """`befrost.Session` with these options."""
        return Session(path, **self._options(options))

    def function(self, f: Callable[..., Any] | None = None, **options: Any) -> Any:
        """`befrost.function` with these options."""
        options = self._options(options)
        threads = options.pop("threads", None)
        if threads is not None:
            options.setdefault("work_queue", "s" if threads == 1 else f"mstd:{threads}")
        return function(f, **options)

    def __repr__(self) -> str:
        return f"Runtime(level={self.level}, threads={self.threads}, max_memory={self.max_memory})"
