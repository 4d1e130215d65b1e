"""Calls for coroutines: on a thread of their own, and ended with the coroutine that waits for them."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

from . import _native


_T = TypeVar("_T")


async def on_thread(function: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
    """The result of a call. If the coroutine is cancelled, the runs of the call are."""
    import asyncio

    scope = _native.CancelScope()

    def work() -> _T:
        scope.enter()
        try:
            return function(*args, **kwargs)
        finally:
            scope.leave()

    try:
        return await asyncio.to_thread(work)
    finally:
        scope.cancel()
