"""Writes the stub of `befrost.tf`: every operator of the table with its operands, attributes and a line about it.

    python stubs.py            prints it; `> python/befrost/tf.pyi` renews the one that is part of the package
"""

from __future__ import annotations

import keyword

from befrost import _native
from befrost.tf import safe

HEAD = '''"""TensorFlow's operators by their names, from the table: written by `stubs.py`."""

import functools as _f
import inspect as _i
import typing as _t

from . import _native as _n

_Dims = _t.Sequence[int] | None

MAX_CACHED: int

def summaries() -> dict[str, str]: ...
def dtype_name(value: _t.Any) -> _t.Any: ...

def safe(name: str) -> str: ...

class OperatorSignature(_t.NamedTuple):
    """The signature of an operator."""

    inputs: list[tuple[str, bool, str | None]]
    outputs: list[tuple[str, bool, str | None]]
    attributes: list[tuple[str, str, str | None]]

class Operator:
    """An operator."""

    name: str
    def __init__(self, name: str) -> None: ...
    @_f.cached_property
    def signature(self) -> OperatorSignature: ...
    @_f.cached_property
    def operand_names(self) -> frozenset[str]: ...
    @property
    def __signature__(self) -> _i.Signature: ...
    def arranged(
        self, operands: tuple[_t.Any, ...], attributes: dict[str, _t.Any]
    ) -> tuple[tuple[_t.Any, ...], dict[str, _t.Any]]: ...
    def packed(self, results: list[_t.Any]) -> _t.Any: ...
    def __call__(self, *operands: _t.Any, **attributes: _t.Any) -> _t.Any: ...

def __dir__() -> list[str]: ...
'''
KINDS = {"int": "int", "float": "float", "bool": "bool", "string": "str", "type": "_t.Any", "shape": "_Dims",
         "tensor": "_t.Any", "func": "_t.Any"}


def python_type(kind: str) -> str:
    """The type of an attribute's value."""
    if kind.startswith("list("):
        return f"_t.Sequence[{python_type(kind[5:-1])}]"
    return KINDS[kind]


def result_type(outputs: list[tuple[str, bool, str | None]]) -> str:
    """What an operator returns."""
    if any(is_list for _, is_list, _ in outputs):
        return "_t.Any"
    if len(outputs) == 1:
        return "_n.Tensor"
    return f"tuple[{', '.join(['_n.Tensor'] * len(outputs)) or '()'}]"


def stub() -> str:
    """The text of the stub."""
    summaries = dict(_native.operators())
    parts = [HEAD]
    for name, inputs, outputs, attrs in sorted(_native.signatures()):
        positional = [f"{safe(arg)}: {'_t.Sequence[_t.Any]' if is_list else '_t.Any'}" for arg, is_list, _ in inputs]
        if sum(is_list for _, is_list, _ in inputs) == 1:
            positional = ["*operands: _t.Any", *(f"{safe(arg)}: _t.Any = ..." for arg, *_ in inputs)]
        named = []
        for attr, kind, default in attrs:
            if not attr.isidentifier() or keyword.iskeyword(attr):
                continue
            value = "" if default is None else " = ..."
            named.append(f"{attr}: {python_type(kind)}{value}")
        star = ["*"] if named and positional[:1] != ["*operands: _t.Any"] else []
        arguments = ", ".join(["self", *positional, *star, *named])
        summary = summaries[name].rstrip(".").replace("\\", "\\\\").replace('"', "'")
        parts.append(f'''
@_t.type_check_only
class _Op{name}(_t.Protocol):
    """{summary}."""
    def __call__({arguments}) -> {result_type(outputs)}: ...
{name}: _Op{name}
''')
    return "".join(parts)


if __name__ == "__main__":
    print(stub(), end="")
