"""The exceptions of the package.

    Error            an error of the runtime: code, message, locations
      Each subclass is also one of Python's exceptions (ValueError, TypeError, OverflowError, KeyError,
      FileNotFoundError, IndexError, TimeoutError, AssertionError, MemoryError, NotImplementedError, ZeroDivisionError), so that code without Befrost's
      classes can catch it. A call that does not fit a function's parameters, and an operator that its operands do not
      have, is a plain TypeError, as of all of Python's.
    CompileError     also a SyntaxError: a function that cannot be compiled, with file, line and text; also an
                     OverflowError (CompileRangeError) if a known number does not fit in its type
"""

from __future__ import annotations

import ast
import errno
import linecache
import os
import re
import types
from typing import Any, Callable, NoReturn, TypeVar

from . import _native
from ._staging.errors import Refused, Site, raise_at


class Error(Exception):
    """An error of the runtime."""

    code = "Unknown"

    def __init__(self, message: str, code: str | None = None, locations: tuple[str, ...] = ()):
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.locations = locations


class InvalidArgumentError(Error, ValueError):
    """A value that an operation cannot take."""

    code = "InvalidArgument"


class WrongTypeError(InvalidArgumentError, TypeError):
    """A value of a type that an operation cannot take."""


class WrongRangeError(InvalidArgumentError, OverflowError):
    """A number beyond the range that an operation can take."""


class NotFoundError(Error, KeyError):
    """There is nothing of this name."""

    code = "NotFound"

    def __str__(self) -> str:
        return self.message


class MissingFileError(NotFoundError, FileNotFoundError):
    """There is no file of this name."""

    def __init__(self, message: str, code: str | None = None, locations: tuple[str, ...] = (), filename: Any = None):
        super().__init__(message, code, locations)
        self.errno, self.strerror, self.filename = errno.ENOENT, os.strerror(errno.ENOENT), filename


class OutOfRangeError(Error, IndexError):
    """An index outside of its range."""

    code = "OutOfRange"


class DeadlineExceededError(Error, TimeoutError):
    """The time limit was reached."""

    code = "DeadlineExceeded"


class CheckFailedError(Error, AssertionError):
    """An assertion does not hold."""

    code = "InvalidArgument"


class ResourceExhaustedError(Error, MemoryError):
    """Memory or another limited resource is exhausted."""

    code = "ResourceExhausted"


class UnimplementedError(Error, NotImplementedError):
    """There is no such operation."""

    code = "Unimplemented"


class DivisionError(Error, ZeroDivisionError):
    """An integer is divided by zero."""

    code = "InvalidArgument"


class CancelledError(Error):
    """The run was cancelled."""

    code = "Cancelled"


class FailedPreconditionError(Error, RuntimeError):
    """The operation is not possible in this state: a variable has no value."""

    code = "FailedPrecondition"


class CompileError(SyntaxError, Error):
    """A function cannot be compiled. `befrost.explain(error.code)` explains why and what to do."""

    code = "P0100"

    def __init__(self, message: str, site: Site | None = None, notes: tuple[str, ...] = (), code: str = "P0100"):
        SyntaxError.__init__(self, message)
        self.message = message
        self.code = code
        self.locations = ()
        self.msg = message
        if site is not None:
            self.filename, self.lineno, self.offset = site.file, site.line, site.column + 1
            self.end_lineno, self.end_offset = site.end_line or site.line, site.end_column + 1
            self.text = linecache.getline(site.file, site.line) or None
            self.locations = (f"{site.file}:{site.line}",)
        for note in notes:
            self.add_note(note)

    def __str__(self) -> str:
        return self.message


class CompileRangeError(CompileError, OverflowError):
    """A number that is known while compiling is beyond the range of its type."""


_BY_CODE: dict[str, type[Error]] = {
    "InvalidArgument": InvalidArgumentError, "NotFound": NotFoundError, "OutOfRange": OutOfRangeError,
    "DeadlineExceeded": DeadlineExceededError, "ResourceExhausted": ResourceExhaustedError,
    "Unimplemented": UnimplementedError, "Cancelled": CancelledError, "FailedPrecondition": FailedPreconditionError,
}
_GATHER = re.compile(r"(?:indices?|index)\S* = (-?\d+).*?\[0, (\d+)\)")
_ASSERTION = "assertion failed: "


def of_failure(failure: BaseException) -> Error:
    """The exception for an error of the native part."""
    code, message, places = failure.args
    if (message + " ").startswith(_ASSERTION):
        words = message[len(_ASSERTION):]
        return CheckFailedError(words, code, tuple(places))
    if "index" in message and "in a list of length" in message:
        return OutOfRangeError("list index out of range", code, tuple(places))
    if "the list is empty" in message:
        return OutOfRangeError("pop from empty list", code, tuple(places))
    found = _GATHER.search(message)
    if found:
        return OutOfRangeError(f"index {found[1]} is out of bounds for axis 0 with size {found[2]}", code, tuple(places))
    if "divi" in message and "zero" in message:
        return DivisionError(message, code, tuple(places))
    if re.search(r"\b(index|indices)\b.*(range|bound|not in)", message):
        return OutOfRangeError(message, code, tuple(places))
    return _BY_CODE.get(code, Error)(message, code, tuple(places))


_BY_CLASS: dict[type[Exception], type[Error]] = {
    IndexError: OutOfRangeError, OverflowError: WrongRangeError, ValueError: InvalidArgumentError, ZeroDivisionError: DivisionError,
}


def of_exception(error: Exception) -> Exception:
    """The exception for a refusal of NumPy's. Its TypeErrors, and classes that it has itself (`AxisError`), stay."""
    found = _BY_CLASS.get(type(error))
    return error if found is None else found(str(error))


def check_file(path: str) -> None:
    """Raises MissingFileError if there is no file, and no folder."""
    if not os.path.exists(path):
        raise MissingFileError(f"there is no file '{path}'", filename=path)


_T = TypeVar("_T")


def guarded(function: Callable[..., _T], *args: Any) -> _T:
    """The result of a native function, whose error becomes one of the package's."""
    try:
        return function(*args)
    except _native.Failure as failure:
        error = of_failure(failure)
    raise error


def _functions(file: str) -> list[tuple[int, int, str]]:
    """The functions of a file: first and last line, and name."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)), file)
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return []
    return [(node.lineno, node.end_lineno or node.lineno, getattr(node, "name", "<lambda>"))
            for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))]


def sites_of(places: tuple[str, ...], root: types.FunctionType) -> tuple[Site, ...]:
    """The places of a trace, `file:line:column`, innermost first, up to the function that was called. The rest of the
    trace, which is left out, are the loops and branches around the call."""
    known: dict[str, list[tuple[int, int, str]]] = {}
    out = []
    code = root.__code__
    for place in places:
        file, line, column = (place.rsplit(":", 2) + ["", ""])[:3]
        if not line.isdigit() or not column.isdigit():
            continue
        number = int(line)
        if file not in known:
            known[file] = _functions(file)
        around = [f for f in known[file] if f[0] <= number <= f[1]]
        name = max(around)[2] if around else "<module>"
        out.append(Site(file, name, number, max(int(column) - 1, 0)))
        if file == code.co_filename and name == code.co_name:
            break
    return tuple(out)


def raise_failure(failure: BaseException, root: types.FunctionType) -> NoReturn:
    """Raises the exception for an error of the native part, at the places of its trace."""
    error = of_failure(failure)
    raise_at(error, sites_of(error.locations, root))


def raise_refused(refused: Refused) -> NoReturn:
    """Raises the exception for a function that cannot be compiled, at its place."""
    site = refused.sites[0] if refused.sites else None
    error = CompileRangeError if refused.is_range else CompileError
    raise_at(error(refused.message, site, refused.notes, refused.code), refused.sites)


Failure = _native.Failure
