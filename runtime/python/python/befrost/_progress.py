"""Progress of work that takes longer than a second: a line in a terminal, a display in a notebook."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import time
from typing import Any

DELAY = 1.0
STEP = 0.25
_MARKS = "|/-\\"


class Progress:
    """A context for slow work. `show` is a function of text, whose exception is raised when the work has ended; None for
    a line in a terminal or a display in a notebook, False for no progress."""

    def __init__(self, what: str, show: Any = None):
        self._what = what
        self._show = show
        self._is_callers = bool(show)
        self._failed: BaseException | None = None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Progress:
        if self._show is None:
            if _in_notebook():
                self._show = _Notebook()
            elif getattr(sys.stderr, "isatty", lambda: False)():
                self._show = _Terminal()
        if self._show:
            self._thread = threading.Thread(target=self._work, name="befrost-progress", daemon=True)
            self._thread.start()
        return self

    def _work(self) -> None:
        begun = time.monotonic()
        n = 0
        wait = DELAY
        while not self._done.wait(wait):
            wait = STEP
            try:
                self._show(f"{_MARKS[n % len(_MARKS)]} {self._what}: {time.monotonic() - begun:.0f} s")
            except BaseException as error:
                if self._is_callers:
                    self._failed = error
                return  # an error of the display must not stop the work
            n += 1

    def __exit__(self, kind: Any, *error: Any) -> None:
        if self._thread is None:
            return
        self._done.set()
        self._thread.join()
        if isinstance(self._show, (_Terminal, _Notebook)):
            with contextlib.suppress(Exception):
                self._show.close()
        if self._failed is not None and kind is None:
            raise self._failed


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return type(found).__name__ == "ZMQInteractiveShell"


class _Terminal:
    """One line of stderr, which is cleared at the end."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, text: str) -> None:
        self._width = max(self._width, len(text))
        sys.stderr.write(f"\r{text.ljust(self._width)}")
        sys.stderr.flush()

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class _Notebook:
    """A display that is updated."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, text: str) -> None:
        # Not an import, whose types depend on whether IPython is installed.
        display = importlib.import_module("IPython.display")
        if self._handle is None:
            self._handle = display.display(text, display_id=True)
        else:
            self._handle.update(text)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.update("")
