"""TensorFlow's operators by their names: `bf.tf.Conv2D(x, w, strides=[1, 1, 1, 1], padding="SAME")`.

Operands come first, or by their names; attributes by keyword. Attributes that follow from operands (T, N) are not
given. The operands of an operator with one list are the list's parts; one with several lists takes lists. Outside of a
compiled function an operator runs at once; inside it becomes an op of the graph.
"""

from __future__ import annotations

import functools
import keyword
import threading
import typing as _t  # not `Any`, which is an operator's name

if _t.TYPE_CHECKING:
    import inspect

import numpy as np

from . import _native
from ._errors import InvalidArgumentError, WrongTypeError, of_failure
from ._tensor import Tensor

_known: dict[str, str] = {}


def summaries() -> dict[str, str]:
    """The operators that can run, with a line about each."""
    if not _known:
        _known.update(_native.operators())
    return _known


MAX_CACHED = 4096


class OperatorSignature(_t.NamedTuple):
    """The signature of an operator."""

    inputs: list[tuple[str, bool, str | None]]
    """Operands: name, whether it is a list, and the attribute that counts it."""
    outputs: list[tuple[str, bool, str | None]]
    attributes: list[tuple[str, str, str | None]]
    """Attributes: name, kind, and the default in Python's words."""


def safe(name: str) -> str:
    """A name that Python takes."""
    return f"{name}_" if keyword.iskeyword(name) else name


class Operator:
    """An operator."""

    def __init__(self, name: str):
        self.__name__ = self.name = name
        self._made: dict[_t.Any, _t.Any] = {}
        self._eager: dict[_t.Any, _t.Any] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    @functools.cached_property
    def signature(self) -> OperatorSignature:
        """Its operands, results and attributes, but for those that follow from operands."""
        [(_, *parts)] = _native.signatures(self.name)
        return OperatorSignature(*parts)

    @functools.cached_property
    def operand_names(self) -> frozenset[str]:
        """The names of the operands, as keywords."""
        return frozenset(safe(name) for name, *_ in self.signature.inputs)

    @functools.cached_property
    def _lists(self) -> list[int]:
        return [i for i, (_, is_list, _) in enumerate(self.signature.inputs) if is_list]

    @functools.cached_property
    def _gives_list(self) -> bool:
        return any(is_list for _, is_list, _ in self.signature.outputs)

    def _are_flat(self, operands: tuple[_t.Any, ...]) -> bool:
        """Whether the operands of a list stand among the others. Only a single list can be written so."""
        if len(self._lists) != 1:
            return not self._lists
        return len(operands) != len(self.signature.inputs) or not isinstance(operands[self._lists[0]], (list, tuple))

    def packed(self, results: list[_t.Any]) -> _t.Any:
        """Results as they are returned: a single one alone, unless it is of a list."""
        return results[0] if len(results) == 1 and not self._gives_list else tuple(results)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        lines = [f"{self.name}: {summaries()[self.name].rstrip('.')}.", ""]
        lines += [f"operand {name}{': a list' if is_list else ''}" for name, is_list, _ in self.signature.inputs]
        lines += [f"attribute {name}: {kind}" + ("" if default is None else f" = {default}")
                  for name, kind, default in self.signature.attributes]
        lines += [f"result {name}{': a list' if is_list else ''}" for name, is_list, _ in self.signature.outputs]
        return "\n".join(lines)

    @property
    def __signature__(self) -> inspect.Signature:
        import ast
        import inspect

        kinds = inspect.Parameter
        if len(self._lists) == 1:
            operands = [kinds("operands", kinds.VAR_POSITIONAL)]
        else:
            operands = [kinds(safe(name), kinds.POSITIONAL_OR_KEYWORD) for name, *_ in self.signature.inputs]
        return inspect.Signature(operands + [
            kinds(name, kinds.KEYWORD_ONLY, default=kinds.empty if default is None else ast.literal_eval(default))
            for name, _, default in self.signature.attributes if name.isidentifier() and not keyword.iskeyword(name)])

    def arranged(self, operands: tuple[_t.Any, ...], attributes: dict[str, _t.Any]) -> tuple[tuple[_t.Any, ...], dict[str, _t.Any]]:
        """The operands in their order, without names and lists, and the attributes."""
        if self.operand_names.isdisjoint(attributes) and self._are_flat(operands):
            return operands, attributes
        inputs = self.signature.inputs
        if len(operands) > len(inputs):
            raise WrongTypeError(f"'{self.name}' takes {len(inputs)} operands, and {len(operands)} were given")
        given = dict(zip((name for name, *_ in inputs), operands))
        attributes = dict(attributes)
        flat: list[_t.Any] = []
        for name, is_list, count in inputs:
            if safe(name) in attributes:
                if name in given:
                    raise WrongTypeError(f"'{self.name}' got multiple values for the operand '{name}'")
                given[name] = attributes.pop(safe(name))
            if name not in given:
                raise WrongTypeError(f"'{self.name}' lacks the operand '{name}'")
            if not is_list:
                flat.append(given[name])
                continue
            if not isinstance(given[name], (list, tuple)):
                raise WrongTypeError(f"the operand '{name}' of '{self.name}' is a list")
            flat += given[name]
            if count is not None and len(self._lists) > 1:
                attributes.setdefault(count, len(given[name]))
        return tuple(flat), attributes

    def __call__(self, *operands: _t.Any, **attributes: _t.Any) -> _t.Any:
        operands, attributes = self.arranged(operands, attributes)
        key = tuple(sorted((name, dtype_name(value)) for name, value in attributes.items())) if attributes else ()
        try:
            eager = self._eager.get(key)
        except TypeError:  # a list
            key = repr(key)  # type: ignore[assignment]
            eager = self._eager.get(key)
        if eager is None:
            eager = self._prepare(key, attributes)
        try:
            made = eager.call(operands) if eager else self._compiled(operands, attributes)
        except _native.Failure as failure:
            error = of_failure(failure)
        else:
            return self.packed(made)
        raise error

    def _prepare(self, key: _t.Any, attributes: dict[str, _t.Any]) -> _t.Any:
        """The operator of the eager core; False if that has none with these attributes."""
        plain = {name: dtype_name(value) for name, value in attributes.items()}
        try:
            made: _t.Any = _native.EagerOp(self.name, plain)
        except _native.Failure:
            made = False
        with self._lock:
            if len(self._eager) >= MAX_CACHED:
                self._eager.clear()
            self._eager[key] = made
        return made

    def _compiled(self, operands: tuple[_t.Any, ...], attributes: dict[str, _t.Any]) -> _t.Any:
        """Its results, by a program of one operator."""
        given = [part if isinstance(part, Tensor) else np.asarray(part) for part in operands]
        types = [(_element_name(part), part.shape) for part in given]
        key = (tuple(types), repr(sorted(attributes.items())))
        executable = self._made.get(key)
        if executable is None:
            executable = self._compile(types, attributes)
            with self._lock:
                if len(self._made) >= MAX_CACHED:
                    self._made.clear()
                self._made[key] = executable
        return executable.run(given)

    def _compile(self, types: list[tuple[str, tuple[int, ...]]], attributes: dict[str, _t.Any]) -> _t.Any:
        graph = _native.Graph("main")
        ids = [graph.argument(f"x{i}", (name, list(shape))) for i, (name, shape) in enumerate(types)]
        plain = {key: dtype_name(value) for key, value in attributes.items()}
        try:
            results = graph.op(self.name, ids, plain)
        except ValueError as refused:
            error = InvalidArgumentError(str(refused))
        else:
            graph.finish([(f"y{i}", id) for i, id in enumerate(results)])
            try:
                return graph.compile(0, "s")
            except _native.Failure as failure:
                error = of_failure(failure)  # type: ignore[assignment]
        raise error


def _element_name(value: _t.Any) -> str:
    """The name of a tensor's or an array's element type."""
    if isinstance(value, Tensor):
        return value.dtype_name
    return "string" if value.dtype.kind in "USTO" else str(value.dtype.name)


def dtype_name(value: _t.Any) -> _t.Any:
    """An attribute as the graph takes it: dtypes by name."""
    if isinstance(value, np.dtype) or isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value).name
    if isinstance(value, (list, tuple)):
        return [dtype_name(part) for part in value]
    return value


def __getattr__(name: str) -> Operator:
    if name.startswith("__"):
        # Python's own questions: each `from ..tf import` asks for `__path__`.
        raise AttributeError(name)
    if name not in summaries():
        import difflib

        near = difflib.get_close_matches(name, summaries(), 3)
        raise AttributeError(f"there is no operator '{name}'" + (f"; did you mean {', '.join(near)}?" if near else ""))
    made = Operator(name)
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted(summaries())
