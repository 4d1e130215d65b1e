"""Methods of lists whose length is only known when the function runs, in terms of their items: as `composed`, plain Python
that is interpreted at each call."""

from __future__ import annotations

from typing import Any, Callable

from ... import _functions as functions
from .. import arithmetic as a
from .registry import entry

LIST_METHODS: dict[str, Callable[..., Any]] = {}
"""The definitions by the methods' names."""


def method(definition: Any) -> Any:
    LIST_METHODS[definition.__name__] = definition
    return definition


def required(value: Any, condition: Any, message: str) -> Any:
    """A number, if the condition holds; else a ValueError."""
    return value if condition else message


@entry(required)
def _required(interp: Any, value: Any, condition: Any, message: str) -> Any:
    return a.required(interp.emit, value, condition, message)


@method
def pop(items: Any, index: Any) -> Any:
    n = len(items)
    found = items[index]
    for i in functions.range(index + n if index < 0 else index, n - 1):
        items[i] = items[i + 1]
    items.pop()
    return found


@method
def insert(items: Any, index: Any, value: Any) -> None:
    n = len(items)
    items.append(value)
    at = min(max(index + n if index < 0 else index, 0), n)
    for i in functions.range(n, at, -1):
        items[i] = items[i - 1]
    items[at] = value


@method
def reverse(items: Any) -> None:
    last = len(items) - 1
    for i in functions.range((last + 1) // 2):
        items[i], items[last - i] = items[last - i], items[i]


@method
def index(items: Any, value: Any, start: Any = 0) -> Any:
    at = -1
    for i in functions.range(start, len(items)):
        if items[i] == value:
            at = i
            break
    return required(at, at >= 0, "the value is not in list")


@method
def count(items: Any, value: Any) -> Any:
    n = 0
    for i in functions.range(len(items)):
        if items[i] == value:
            n += 1
    return n


@method
def remove(items: Any, value: Any) -> None:
    items.pop(items.index(value))
