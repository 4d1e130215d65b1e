"""`trace`: when functions and models ran, as a file for chrome://tracing or Perfetto."""

from __future__ import annotations

import atexit
import contextlib
import os
from typing import Iterator

from . import _native
from ._model import write_file


@contextlib.contextmanager
def trace(path: str | os.PathLike[str]) -> Iterator[None]:
    """A context whose runs are recorded. At its end their times and threads are written to `path`.

    The environment variable BEFROST_TRACE names a file for the whole process.
    """
    _native.trace_begin()
    try:
        yield
    finally:
        write_file(path, text_of_events(_native.trace_end()))


def text_of_events(events: list[tuple[str, float, float, int]]) -> bytes:
    """Recorded runs as Chrome's format of traces."""
    import json

    process = os.getpid()
    parts = [{"name": name, "ph": "X", "ts": start, "dur": took, "pid": process, "tid": thread, "cat": "run"}
             for name, start, took, thread in events]
    return json.dumps({"traceEvents": parts, "displayTimeUnit": "ns"}).encode()


def trace_process() -> None:
    """Records the whole process if BEFROST_TRACE is set."""
    path = os.environ.get("BEFROST_TRACE")
    if path:
        _native.trace_begin()
        atexit.register(lambda: write_file(path, text_of_events(_native.trace_end())))
