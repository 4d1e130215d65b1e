"""Refusals with places, and tracebacks that end in the user's source.

    Site      a place in a user's file, with the function it is in
    Refused   why a function cannot be compiled, raised by the interpreter, without a traceback of its own
    raise_at  raises an exception as if Python had run the user's lines: outermost call first
"""

from __future__ import annotations

import ast
import sys
import types
from typing import NamedTuple, NoReturn


class Site(NamedTuple):
    """A place in a source: what a traceback shows of it."""

    file: str
    function: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Refused(Exception):
    """The reason why a function cannot be compiled. `sites` are innermost first; empty until it is known. `code` is one
    of `befrost.explain`; without one the plain function would fail, too. `is_final` says that no more general types help,
    `is_range` that the plain function would raise an OverflowError."""

    def __init__(self, message: str, notes: tuple[str, ...] = (), sites: tuple[Site, ...] = (), *, code: str = "P0113",
                 is_final: bool = False, is_range: bool = False):
        super().__init__(message)
        self.message = message
        self.notes = notes
        self.sites = sites
        self.code = code
        self.is_final = is_final
        self.is_range = is_range


def refusal_of(error: Exception) -> Refused:
    """The refusal of an operation on known values that raises an exception."""
    return Refused(f"{type(error).__name__}: {error}", is_range=isinstance(error, OverflowError))


def note(what: str, site: Site | None) -> tuple[str, ...]:
    """A note that refers to a second place, if it is known."""
    return (f"{what}: {site}",) if site is not None else ()


def _frame(site: Site) -> types.TracebackType:
    """The traceback entry of a place."""
    tree = ast.parse("raise _here")
    line, end = max(site.line, 1), max(site.end_line, site.line, 1)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno, node.end_lineno = line, end
            node.col_offset, node.end_col_offset = site.column, max(site.end_column, site.column + 1)
    code = compile(tree, site.file, "exec").replace(co_name=site.function)
    try:
        exec(code, {"_here": ZeroDivisionError})
    except ZeroDivisionError as error:
        at = error.__traceback__
        assert at is not None and at.tb_next is not None
        return at.tb_next
    raise AssertionError("it raises")


def raise_at(error: BaseException, sites: tuple[Site, ...]) -> NoReturn:
    """Raises an exception whose traceback ends in these places, given innermost first."""
    chain: types.TracebackType | None = None
    for site in sites:
        try:
            at = _frame(site)
        except (ValueError, SyntaxError, OverflowError, RecursionError):
            continue  # a place that no code object can have
        chain = types.TracebackType(chain, at.tb_frame, at.tb_lasti, at.tb_lineno)
    error.__cause__ = None
    error.__suppress_context__ = True
    sys.exception()
    raise error.with_traceback(chain)
