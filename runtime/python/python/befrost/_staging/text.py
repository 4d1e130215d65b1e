"""Text: f-strings, print, and the strings of the graph.

    static parts ──▶ str          numbers and arrays ──▶ strings of the graph, formatted as Python and NumPy do
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .errors import Refused, refusal_of
from .interpreter import Control
from .values import (
    KINDS, Array, DictObject, ListObject, Text, Weak, describe, is_staged, kind_of,
)

_SPEC = re.compile(r"(?:(?P<fill>.)?(?P<align>[<>^]))?(?P<sign>[+ -]?)(?P<alternate>#?)(?P<zero>0?)(?P<width>\d*)(?P<group>[,_]?)"
                   r"(?P<precision>\.\d+)?(?P<type>[dfeEFgGsn%bcoxX]?)$", re.DOTALL)
# The bits of a digit.
_RADIX = {"b": 1, "o": 3, "x": 4}
# Limit of the characters that a format adds.
MAX_WIDTH = 1 << 12


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
        method = None if representation else self.special(value, "__str__")
        method = method or self.special(value, "__repr__")
        if method is not None:
            return self.call(method, [], {})
        if isinstance(value, Array) and value.const is None:
            made = Text(self.emit.op("_NumpyString", [self.emit.id(value)])[0])
            if not representation:
                return made
            if value.shape == ():
                is_bool = kind_of(value.dtype) == "b"
                return self.joined_text(["np.", made, "_"] if is_bool else [f"np.{value.dtype.name}(", made, ")"])
            raise Refused("the repr of an array that is only known when it runs", code="P0109")
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
            raise Refused(f"the text of {describe(value)}", code="P0112")
        try:
            plain = self.plain(value)
            return repr(plain) if representation else str(plain)
        except Refused:
            raise
        except Exception as error:
            raise refusal_of(error) from None

    def formatted(self, value: Any, spec: str, convert: str) -> Any:
        """A part of an f-string."""
        if convert in ("r", "a"):
            value = self.text(value, representation=True)
        elif convert == "s":
            value = self.text(value)
        method = self.special(value, "__format__")
        if method is not None:
            return self.call(method, [spec], {})
        widths = re.findall(r"\d+", spec)
        if widths and max(map(int, widths)) > MAX_WIDTH:
            raise Refused(f"the format '{spec}' makes more than {MAX_WIDTH} characters", code="P0110")
        if not is_staged(value):
            try:
                return format(self.plain(value), spec)
            except Exception as error:
                raise refusal_of(error) from None
        if not spec:
            if isinstance(value, Array) and value.ndim == 0 and kind_of(value.dtype) in "fc":
                # NumPy formats its numbers as Python's: float32 0.1 is 0.10000000149011612.
                kind = "float" if kind_of(value.dtype) == "f" else "complex"
                value = Weak(kind, self.emit.id(value, KINDS[kind]))
            return self.text(value)
        if isinstance(value, Array) and value.ndim:
            raise Refused("unsupported format string: an array has no format")
        found = _SPEC.match(spec)
        is_text = isinstance(value, Text)
        if found is None or is_text and (found["sign"] or found["group"] or found["precision"] or found["type"] not in ("", "s")):
            raise Refused(f"the format '{spec}' of a value that is only known when it runs", code="P0112")
        if found["type"].lower() in _RADIX and not is_text:
            return self.radix_text(value, spec, found)
        if found["alternate"] or found["type"] in ("c", "b", "o", "x", "X"):
            raise Refused(f"the format '{spec}' of a value that is only known when it runs", code="P0112")
        align, fill, width = found["align"], found["fill"] or " ", int(found["width"] or 0)
        if found["zero"] and (align or is_text):
            fill = found["fill"] or "0"
        if is_text:
            return self.padded(value, width, align or "<", fill)
        if align is None and not found["group"] and (found["precision"] or found["type"] or self.is_integer(value)):
            return self.number_text(value, spec, found, width)
        if found["zero"] and align is None:
            raise Refused(f"the format '{spec}' of a number that is only known when it runs", code="P0112")
        text = self.number_text(value, spec, found, 0)
        if found["group"]:
            text = self.grouped(text, found["group"])
        return self.padded(text, width, align or ">", fill)

    def radix_text(self, value: Any, spec: str, found: re.Match[str]) -> Any:
        """An integer in binary, octal or hexadecimal digits."""
        dtype = value.dtype if isinstance(value, Array) else KINDS[value.kind]
        if kind_of(dtype) not in "iub":
            raise Refused(f"Unknown format code '{found['type']}' for an object of type '{dtype}'")
        if found["precision"]:
            raise Refused("Precision not allowed in integer format specifier")
        if found["group"]:
            raise Refused(f"the format '{spec}' of a number that is only known when it runs", code="P0112")
        emit, bits = self.emit, _RADIX[found["type"].lower()]
        signed = emit.id(value, np.uint64 if kind_of(dtype) == "u" else np.int64)
        number = emit.cast(signed, np.uint64 if kind_of(dtype) == "u" else np.int64, np.uint64)
        plus = self.string(found["sign"].replace("-", ""))
        if kind_of(dtype) == "i":
            is_negative = emit.op("Less", [signed, emit.constant(0, np.int64)])[0]
            # That of the least integer is itself, whose bits are right.
            positive = emit.cast(emit.op("Neg", [signed])[0], np.int64, np.uint64)
            number = emit.op("SelectV2", [is_negative, positive, number])[0]
            plus = emit.op("SelectV2", [is_negative, self.string("-"), plus])[0]
        shifts = emit.constant(list(range(63 // bits * bits, -1, -bits)), np.uint64)
        places = emit.op("BitwiseAnd", [emit.op("RightShift", [number, shifts])[0], emit.constant((1 << bits) - 1, np.uint64)])[0]
        digits = emit.op("AsString", [emit.cast(places, np.uint64, np.int64)])[0]
        for digit, letter in enumerate("abcdef" if bits == 4 else "", 10):
            digits = emit.op("StaticRegexReplace", [digits], {"pattern": f"^{digit}$", "rewrite": letter})[0]
        joined = emit.op("ReduceJoin", [digits, emit.constant(0, np.int32)])[0]
        joined = emit.op("StaticRegexReplace", [joined], {"pattern": "^0+(.)", "rewrite": r"\1", "replace_global": False})[0]
        letter = found["type"]
        if letter == "X":
            joined = emit.op("StringUpper", [joined])[0]
        head = Text(self.string(self.joined_text([Text(plus), "0" + letter if found["alternate"] else ""])))
        width, fill = int(found["width"] or 0), found["fill"] or ("0" if found["zero"] else " ")
        if found["align"] or not found["zero"]:
            return self.padded(Text(self.string(self.joined_text([head, Text(joined)]))), width, found["align"] or ">", fill)
        used = emit.op("StringLength", [head.id])[0]
        room = emit.op("Sub", [emit.constant(width, np.int32), used])[0]
        return self.joined_text([head, self.filled(Text(joined), room, width, ">", "0")])

    def is_integer(self, value: Any) -> bool:
        return kind_of(value.dtype if isinstance(value, Array) else KINDS[value.kind]) in "iub"

    def number_text(self, value: Any, spec: str, found: re.Match[str], width: int) -> Text:
        """A number with sign, zeros and precision of a format, and at least so many characters."""
        kind = kind_of(value.dtype if isinstance(value, Array) else KINDS[value.kind])
        letter, sign = found["type"], found["sign"] if found["sign"] in ("+", " ") else ""
        is_integer = letter in ("d", "n") or not letter and not found["precision"] and kind in "iub"
        if kind == "c" or letter == "s" or found["zero"] and sign and width or found["precision"] and letter in ("", "d", "n") \
                or is_integer and kind not in "iub":
            raise Refused(f"the format '{spec}' of a {value!r} that is only known when it runs", code="P0112")
        attrs: dict[str, Any] = {"width": width} if width else {}
        if sign or found["zero"] and width:
            attrs["fill"] = sign or "0"
        if is_integer:
            return Text(self.emit.op("AsString", [self.emit.id(value, value.dtype if kind == "u" else np.int64)], attrs)[0])
        id = self.emit.id(value, np.float64)
        if not letter and not found["precision"]:
            if sign:
                raise Refused(f"the format '{spec}' of a {value!r} that is only known when it runs: give a precision", code="P0112")
            return Text(self.emit.op("_NumpyString", [id])[0])
        attrs["precision"] = int(found["precision"][1:]) if found["precision"] else 6
        if letter == "%":
            id = self.emit.op("Mul", [id, self.emit.constant(100.0, np.float64)])[0]
            if width:
                attrs["width"] -= 1
        elif letter in "eE":
            attrs["scientific"] = True
        elif letter in "gG":
            attrs["shortest"] = True
        text = self.emit.op("AsString", [id], attrs)[0]
        if letter in "EFG":
            text = self.emit.op("StringUpper", [text])[0]
        return Text(self.string(self.joined_text([Text(text), "%" if letter == "%" else ""])))

    def grouped(self, text: Text, separator: str) -> Text:
        """A number with a separator between thousands: one more in each iteration."""
        emit, graph, types = self.emit, self.emit.graph, [("string", list[int]())]
        cond, [arg] = graph.block(types)
        before = graph.enter(cond)
        more = emit.op("StaticRegexFullMatch", [arg], {"pattern": r"[+ -]?\d{4}.*"})[0]
        body, [arg] = graph.block(types)
        graph.enter(body)
        made = emit.op("StaticRegexReplace", [arg], {
            "pattern": r"^([+ -]?\d+)(\d{3})", "rewrite": rf"\1{separator}\2", "replace_global": False})
        graph.enter(before)
        emit.locate()
        return Text(graph.while_region([text.id], (cond, more), (body, made), types)[0])

    def padded(self, text: Text, width: int, align: str, fill: str) -> Any:
        """A text with at least `width` characters."""
        return self.filled(text, self.emit.constant(width, np.int32), width, align, fill) if width else text

    def filled(self, text: Text, room: int, width: int, align: str, fill: str) -> Any:
        """A text with at least `room` characters, a number of the graph that is `width` at most."""
        emit = self.emit
        zero = emit.constant(0, np.int32)
        length = emit.op("StringLength", [text.id], {"unit": "UTF8_CHAR"})
        missing = emit.op("Maximum", [emit.op("Sub", [room, *length])[0], zero])[0]
        left = {"<": zero, ">": missing}.get(align)
        if left is None:
            left = emit.op("FloorDiv", [missing, emit.constant(2, np.int32)])[0]
        fills = self.string(fill * width)
        parts = [Text(emit.op("Substr", [fills, zero, n], {"unit": "UTF8_CHAR"})[0])
                 for n in (left, emit.op("Sub", [missing, left])[0])]
        return self.joined_text([parts[0], text, parts[1]])

    def print(self, values: list[Any], sep: Any, end: Any) -> None:
        """`print(...)`."""
        parts: list[Any] = []
        for i, value in enumerate(values):
            parts += [sep] if i else []
            parts.append(self.text(value))
        text = self.joined_text(parts)
        self.prints = True
        self.emit.op("PrintV2", [self.string(text)], {"end": end, "output_stream": "stdout"})
