"""Text: f-strings, print, and the strings of the graph.

    static parts ──▶ str          numbers and arrays ──▶ strings of the graph, formatted as Python and NumPy do
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .errors import Refused
from .interpreter import Control
from .values import (
    KINDS, Array, DictObject, ListObject, Text, Weak, describe, is_staged,
)

_SPEC = re.compile(r"(?P<sign>[+ -]?)(?P<zero>0?)(?P<width>\d*)(?P<precision>\.\d+)?(?P<type>[dfeEFgGsn%]?)$")


class Texts(Control):
    """Makes text."""

    def string(self, text: Any) -> int:
        """A string of the graph."""
        if isinstance(text, Text):
            return text.id
        return self.constant_string(text)

    def constant_string(self, text: str) -> int:
        return self.emit.string(text)

    def joined_text(self, parts: list[Any]) -> Any:
        """Parts of a text as one: a str, if all are known."""
        merged: list[Any] = []
        for part in parts:
            if isinstance(part, str) and merged and isinstance(merged[-1], str):
                merged[-1] += part
            elif part != "":
                merged.append(part)
        if not merged:
            return ""
        if len(merged) == 1:
            return merged[0]
        ids = [self.string(part) for part in merged]
        return Text(self.emit.op("StringJoin", ids, {"separator": ""})[0])

    def text(self, value: Any, representation: bool = False) -> Any:
        """`str(value)`, or `repr(value)`: a str or a Text."""
        if isinstance(value, Text):
            return value
        if isinstance(value, Array) and value.const is None:
            made = Text(self.emit.op("_NumpyString", [self.emit.id(value)])[0])
            if not representation:
                return made
            if value.shape == ():
                return self.joined_text([f"np.{value.dtype.name}(", made, ")"])
            raise Refused("the repr of an array that is only known when it runs")
        if isinstance(value, Weak):
            return Text(self.emit.op("_NumpyString", [self.emit.id(value, KINDS[value.kind])])[0])
        if isinstance(value, (tuple, ListObject)) and is_staged(value):
            items = self.all_items(value)
            parts: list[Any] = []
            fields = getattr(value, "_fields", None)
            for i, part in enumerate(items):
                parts += [", "] if i else []
                parts += [f"{fields[i]}="] if fields else []
                parts.append(self.text(part, representation=True))
            if fields:
                return self.joined_text([f"{type(value).__name__}(", *parts, ")"])
            if isinstance(value, ListObject):
                return self.joined_text(["[", *parts, "]"])
            return self.joined_text(["(", *parts, ",)" if len(items) == 1 else ")"])
        if isinstance(value, DictObject) and is_staged(value):
            parts = []
            for i, (key, part) in enumerate(value.items.items()):
                parts += [", "] if i else []
                parts += [f"{key!r}: ", self.text(part, representation=True)]
            return self.joined_text(["{", *parts, "}"])
        if is_staged(value):
            raise Refused(f"the text of {describe(value)}")
        try:
            plain = self.plain(value)
            return repr(plain) if representation else str(plain)
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"{type(error).__name__}: {error}") from None

    def formatted(self, value: Any, spec: str, convert: str) -> Any:
        """A part of an f-string."""
        if convert in ("r", "a"):
            value = self.text(value, representation=True)
        elif convert == "s":
            value = self.text(value)
        if not is_staged(value):
            try:
                return format(self.plain(value), spec)
            except Exception as error:
                raise Refused(f"{type(error).__name__}: {error}") from None
        if not spec:
            return self.text(value)
        if isinstance(value, Text):
            raise Refused(f"the format '{spec}' of a text that is only known when it runs")
        if isinstance(value, Array) and value.ndim:
            raise Refused("unsupported format string: an array has no format")
        found = _SPEC.match(spec)
        if found is None:
            raise Refused(f"the format '{spec}' of a number that is only known when it runs")
        kind = (value.dtype if isinstance(value, Array) else KINDS[value.kind]).kind
        letter = found["type"]
        if kind == "c" or found["zero"] and found["sign"] in ("+", " ") or found["precision"] and letter in ("", "d", "n"):
            raise Refused(f"the format '{spec}' of a {value!r} that is only known when it runs")
        attrs: dict[str, Any] = {}
        if found["width"]:
            attrs["width"] = int(found["width"])
        if found["zero"]:
            attrs["fill"] = "0"
        elif found["sign"] in ("+", " "):
            attrs["fill"] = found["sign"]
        suffix = ""
        if letter in ("d", "n") or not letter and not found["precision"] and kind in "iu":
            if kind not in "iub":
                raise Refused(f"the format '{spec}' of a {value!r}")
            id = self.emit.id(value, value.dtype if kind == "u" else np.int64)
        else:
            if not letter and not found["precision"]:
                raise Refused(f"the format '{spec}' of a {value!r} that is only known when it runs: give a precision")
            if letter in ("s", "G", "E", "F"):
                raise Refused(f"the format '{spec}' of a number that is only known when it runs")
            id = self.emit.id(value, np.float64)
            attrs["precision"] = int(found["precision"][1:]) if found["precision"] else 6
            if letter == "%":
                id = self.emit.op("Mul", [id, self.emit.constant(100.0, np.float64)])[0]
                suffix = "%"
                if "width" in attrs:
                    attrs["width"] -= 1
            elif letter == "e":
                attrs["scientific"] = True
            elif letter == "g":
                attrs["shortest"] = True
        return self.joined_text([Text(self.emit.op("AsString", [id], attrs)[0]), suffix])

    def print(self, values: list[Any], sep: Any, end: Any) -> None:
        """`print(...)`."""
        parts: list[Any] = []
        for i, value in enumerate(values):
            parts += [sep] if i else []
            parts.append(self.text(value))
        text = self.joined_text(parts)
        self.prints = True
        self.emit.op("PrintV2", [self.string(text)], {"end": end, "output_stream": "stdout"})
