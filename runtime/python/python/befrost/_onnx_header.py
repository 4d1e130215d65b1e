"""What an ONNX file says about itself and that a compiled model has not kept: its producer, names of sizes, initializers.

The wire format of protobuf is read as far as these fields; tensors are skipped, not read.
"""

from __future__ import annotations

from typing import Any, Iterator

# Limit of the fields that are read of a message.
MAX_FIELDS = 1 << 20


class Header:
    """The header of an ONNX file. Empty for files of other kinds."""

    def __init__(self) -> None:
        self.producer_name = self.domain = self.description = self.graph_name = self.graph_description = ""
        self.version = 0
        self.metadata: dict[str, str] = {}
        self.sizes: dict[str, list[int | str | None]] = {}
        """The sizes of inputs and outputs: a number, a name, or nothing."""
        self.inputs: list[str] = []
        self.initializers: set[str] = set()


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("a number of more than 64 bits")


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a message: number, and an integer or the bytes."""
    at = n = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        value: Any
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2:
            length, at = _varint(data, at)
            if length > len(data) - at:
                raise ValueError("a field is longer than its message")
            value, at = data[at:at + length], at + length
        elif kind in (1, 5):
            value, at = None, at + (8 if kind == 1 else 4)
        else:
            raise ValueError(f"a field of kind {kind}")
        n += 1
        if n > MAX_FIELDS:
            raise ValueError("too many fields")
        yield key >> 3, value


def _text(data: Any) -> str:
    return bytes(data).decode("utf-8", "replace")


def _only(data: memoryview, *path: int) -> memoryview | None:
    """The message at a path of field numbers."""
    for number in path:
        found = next((value for key, value in _fields(data) if key == number), None)
        if not isinstance(found, memoryview):
            return None
        data = found
    return data


def _port(header: Header, data: memoryview) -> str:
    """Reads a ValueInfoProto: name = 1, type = 2 {tensor_type = 1 {shape = 2 {dim = 1 {dim_value = 1, dim_param = 2}}}}."""
    name = next((_text(value) for key, value in _fields(data) if key == 1), "")
    shape = _only(data, 2, 1, 2)
    if shape is not None:
        sizes: list[int | str | None] = []
        for key, dim in _fields(shape):
            if key == 1:
                found = dict(_fields(dim))
                sizes.append(found[1] if 1 in found else _text(found[2]) or None if 2 in found else None)
        header.sizes[name] = sizes
    return name


def _read_graph(header: Header, data: memoryview) -> None:
    """Reads a GraphProto: name = 2, initializer = 5, doc_string = 10, input = 11, output = 12."""
    for key, value in _fields(data):
        if key == 2:
            header.graph_name = _text(value)
        elif key == 5:
            header.initializers.update(_text(name) for field, name in _fields(value) if field == 8)
        elif key == 10:
            header.graph_description = _text(value)
        elif key == 11:
            header.inputs.append(_port(header, value))
        elif key == 12:
            _port(header, value)


def header_of(data: memoryview) -> Header:
    """The header of a file's contents: ModelProto with producer_name = 2, domain = 4, model_version = 5, doc_string = 6,
    graph = 7, metadata_props = 14."""
    header = Header()
    try:
        for key, value in _fields(data):
            if key == 2:
                header.producer_name = _text(value)
            elif key == 4:
                header.domain = _text(value)
            elif key == 5:
                header.version = value
            elif key == 6:
                header.description = _text(value)
            elif key == 7:
                _read_graph(header, value)
            elif key == 14:
                pair = {number: _text(text) for number, text in _fields(value)}
                header.metadata[pair.get(1, "")] = pair.get(2, "")
    except (ValueError, IndexError, TypeError, AttributeError):
        return Header()
    return header


def header_of_file(path: str) -> Header:
    """The header of a file, which is mapped: its tensors are not read."""
    import mmap

    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            with memoryview(data) as view:
                return header_of(view)
    except (OSError, ValueError, BufferError):
        return Header()
