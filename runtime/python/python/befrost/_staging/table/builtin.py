"""Functions of Python's: builtins and `math`."""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import _functions as functions
from .. import arithmetic as a, indexing
from ..arithmetic import as_array, run_ufunc, size_of, truth, weak_kind
from ..errors import Refused, refusal_of
from ..joins import ArrayLeaf
from ..lists import length
from ..values import (
    Array, describe, DictObject, Fixed, Function, Generated, Growing, is_staged, kind_of, kind_of_number, KINDS, ListObject, Method,
    Sequence, shape_text, Struct, Text, Weak, ZEROS,
)
from .reductions import reduction
from .registry import NONE, entry, TABLE
from .ufuncs import np_round


@entry(builtins.len)
def python_len(interp: Any, x: Any) -> Any:
    if isinstance(x, Array):
        if x.ndim == 0:
            raise Refused("len() of unsized object")
        return size_of(interp.emit, x, 0)
    if isinstance(x, Generated) or isinstance(x, Sequence) and x.range is None:
        raise Refused(f"object of type '{getattr(x, 'what', 'generator')}' has no len()")
    if isinstance(x, ListObject):
        return len(x.items.items) if isinstance(x.items, Fixed) else length(interp.emit, x.items)
    if isinstance(x, DictObject):
        return len(x.items)
    if isinstance(x, Sequence):
        return x.length
    method = interp.special(x, "__len__")
    if method is not None:
        return interp.call(method, [], {})
    if isinstance(x, Weak) or kind_of_number(x):
        raise Refused(f"object of type '{weak_kind(x)}' has no len()")
    if isinstance(x, Text):
        raise Refused("len() of a text that is only known when it runs", code="P0109")
    try:
        return len(x)
    except Exception as error:
        raise refusal_of(error) from None


@entry(builtins.range)
def python_range(interp: Any, *args: Any) -> Any:
    if len(args) == 1:
        return interp.range_sequence(0, args[0], 1)
    if len(args) == 2:
        return interp.range_sequence(args[0], args[1], 1)
    if len(args) == 3:
        return interp.range_sequence(*args)
    raise Refused("range takes one to three arguments")


@entry(builtins.slice)
def python_slice(interp: Any, *parts: Any) -> Any:
    if not 1 <= len(parts) <= 3:
        raise Refused(f"slice takes one to three values, got {len(parts)}")
    return indexing.Slice(*((None, *parts) if len(parts) == 1 else parts))


@entry(functions.range)
def staged_range(interp: Any, *args: Any) -> Any:
    made = python_range(interp, *args)
    made.is_staged = True
    return made


@entry(builtins.enumerate)
def python_enumerate(interp: Any, items: Any, start: Any = 0) -> Any:
    inner = interp.sequence(items)
    return Sequence(inner.bound, lambda i: (interp.operate(ast.Add, i, start), inner.get(i)),
                    is_staged=inner.is_staged, can_stage=inner.can_stage, what="enumerate")


def _counted(interp: Any, n: Any, first: Any, second: Any) -> Sequence:
    """As many items of `itertools.count`, by the first two."""
    return Sequence(n, lambda i: interp.range_item(first, second - first, i), is_staged=False, what="count")


def _bounded(interp: Any, items: tuple[Any, ...]) -> list[Any]:
    """The sequences of a zip. Of iterators, which may have no end, only as many items as the others have."""
    is_iterator = [isinstance(part, Iterator) for part in items]
    parts = [None if yes else interp.sequence(part) for part, yes in zip(items, is_iterator)]
    if not all(is_iterator):
        lengths = [part.length for part in parts if part is not None]
        known = [n for n in lengths if kind_of_number(n)]
        for at, part in enumerate(items):
            if type(part) is itertools.count:
                n = min(known) if len(known) == len(lengths) else lengths[0]
                parts[at] = _counted(interp, n, next(part), next(part))
            elif is_iterator[at] and known:
                parts[at] = interp.sequence(tuple(map(interp.outside, itertools.islice(part, min(known)))))
    return [interp.sequence(part) if found is None else found for found, part in zip(parts, items)]


@entry(builtins.zip)
def python_zip(interp: Any, *items: Any, strict: Any = False) -> Any:
    parts = _bounded(interp, items)
    if strict is not False:
        lengths = [part.length for part in parts]
        if strict is not True or not all(map(kind_of_number, lengths)):
            raise Refused("zip(strict=True) needs lengths that are known when the function is compiled", code="P0109")
        wrong = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if wrong is not None:
            which = "longer" if lengths[wrong] > lengths[0] else "shorter"
            raise Refused(f"ValueError: zip() argument {wrong + 1} is {which} than argument{'s 1-' if wrong > 1 else ' '}{wrong}", code="P0113")

    def shortest() -> Any:
        n: Any = 0 if not parts else parts[0].length
        for part in parts[1:]:
            length = part.length
            if kind_of_number(n) and kind_of_number(length):
                n = min(n, length)
            else:
                n = Weak("int", interp.emit.op(
                    "Minimum", [interp.emit.id(n, np.int64), interp.emit.id(length, np.int64)])[0])
        return n

    staged = any(part.is_staged for part in parts)
    can = all(part.is_staged or part.can_stage for part in parts)
    bound = shortest if any(callable(part.bound) for part in parts) else shortest()
    if staged and not can and kind_of_number(bound() if callable(bound) else bound):
        staged = False
    return Sequence(bound, lambda i: tuple(part.get(i) for part in parts), is_staged=staged, can_stage=can, what="zip")


@entry(builtins.reversed)
def python_reversed(interp: Any, items: Any) -> Any:
    inner = interp.sequence(items)
    last = interp.operate(ast.Sub, inner.length, 1)
    return Sequence(inner.length, lambda i: inner.get(interp.operate(ast.Sub, last, i)), is_staged=inner.is_staged,
                    can_stage=inner.can_stage, what="reversed")


@entry(builtins.iter)
def python_iter(interp: Any, items: Any) -> Any:
    inner = interp.sequence(items)
    return Sequence(inner.bound, inner.get, is_staged=inner.is_staged, can_stage=inner.can_stage, what="iterator")


@entry(builtins.map)
def python_map(interp: Any, function: Any, *items: Any) -> Any:
    inner = python_zip(interp, *items)
    return Sequence(inner.bound, lambda i: interp.call(function, list(inner.get(i)), {}), is_staged=inner.is_staged,
                    can_stage=inner.can_stage, what="map")


@entry(builtins.filter)
def python_filter(interp: Any, function: Any, items: Any) -> Any:
    made = ListObject(interp.state)

    def body(part: Any) -> None:
        found = truth(interp.emit, part if function is None else interp.call(function, [part], {}))
        if found is True:
            interp.append(made, part)
        elif found is not False:
            interp.choose(found, lambda: interp.append(made, part), lambda: None)

    interp.for_each(interp.node, interp.sequence(items), body, [])
    return made


@entry(builtins.list)
def python_list(interp: Any, items: Any = ()) -> Any:
    if isinstance(items, ListObject):
        return ListObject(interp.state, items.items)
    made = ListObject(interp.state)
    sequence = interp.sequence(items)
    if not sequence.is_staged or isinstance(items, Array) and isinstance(sequence.length, int):
        return ListObject(interp.state, interp.all_items(sequence))
    interp.for_each(interp.node, sequence, lambda part: interp.append(made, part), [])
    return made


@entry(builtins.tuple)
def python_tuple(interp: Any, items: Any = ()) -> Any:
    return tuple(interp.all_items(items))


@entry(builtins.dict)
def python_dict(interp: Any, items: Any = None, **kwargs: Any) -> Any:
    made: dict[Any, Any] = {}
    if isinstance(items, DictObject):
        made.update(items.items)
    elif items is not None:
        for pair in interp.all_items(items):
            key, value = interp.all_items(pair)
            made[interp.static_key(key)] = value
    made.update(kwargs)
    return DictObject(interp.state, made)


@entry(builtins.set, builtins.frozenset)
def python_set(interp: Any, items: Any = ()) -> Any:
    parts = interp.all_items(items)
    if is_staged(parts):
        raise Refused("a set of values that are only known when it runs", code="P0109")
    return frozenset(interp.plain(part) for part in parts)


@entry(builtins.sum)
def python_sum(interp: Any, items: Any, start: Any = 0) -> Any:
    if isinstance(items, ListObject) and isinstance(items.items, Growing) and items.items.lists \
            and isinstance(items.items.item, ArrayLeaf) or isinstance(items, Array) and items.const is None:
        array = as_array(interp.emit, items)
        if array.ndim == 0:
            raise Refused("iteration over a 0-d array")
        if array.dtype != np.dtype(bool):
            total = reduction(interp, "Sum", array, 0, False)
            return total if kind_of_number(start) == "int" and start == 0 else interp.operate(ast.Add, start, total)
    holder = ListObject(interp.state, [start])

    def add(part: Any) -> None:
        interp.state.write(holder, "items", Fixed((interp.operate(ast.Add, interp.all_items(holder)[0], part),)))

    interp.for_each(interp.node, interp.sequence(items), add, [])
    return interp.all_items(holder)[0]


def _extreme_element(interp: Any, x: Array, is_max: bool) -> Array:
    """The extreme element as Python's comparisons find it: NaN is the result if it comes first, else it never is."""
    find = np.max if is_max else np.min
    if kind_of(x.dtype) != "f":
        return interp.call(find, [x], {})  # type: ignore[no-any-return]
    numbers = a.select(interp.emit, run_ufunc(interp.emit, np.isnan, [x]), -np.inf if is_max else np.inf, x)
    first = interp.item(x, 0)
    return a.select(interp.emit, run_ufunc(interp.emit, np.isnan, [first]), first, interp.call(find, [numbers], {}))


def _extreme(interp: Any, args: tuple[Any, ...], key: Any, default: Any, is_max: bool) -> Any:
    if len(args) == 1:
        items = args[0]
        if isinstance(items, Array) and items.const is None and key is None and items.ndim == 1:
            return _extreme_element(interp, items, is_max)
        if isinstance(items, ListObject) and isinstance(items.items, Growing) and key is None:
            made = _extreme_element(interp, as_array(interp.emit, items), is_max)
            return made if isinstance(items.items.item, ArrayLeaf) else Weak(items.items.item.kind, interp.emit.id(made))
        parts = interp.all_items(items)
    else:
        parts = list(args)
    if not parts:
        if default is not NONE:
            return default
        raise Refused("max() or min() of an empty sequence")
    if not is_staged(parts) and key is None:
        plain = [interp.plain(part) for part in parts]
        try:
            return interp.outside((max if is_max else min)(plain))
        except Exception as error:
            raise refusal_of(error) from None
    best = parts[0]
    best_key = best if key is None else interp.call(key, [best], {})
    for part in parts[1:]:
        part_key = part if key is None else interp.call(key, [part], {})
        better = truth(interp.emit, a.compare(interp.emit, ast.Gt if is_max else ast.Lt, part_key, best_key))
        if isinstance(better, bool):
            best, best_key = (part, part_key) if better else (best, best_key)
            continue
        now, now_key = best, best_key
        best = interp.choose(better, lambda: part, lambda: now)
        best_key = best if key is None else interp.choose(better, lambda: part_key, lambda: now_key)
    return best


@entry(builtins.max)
def python_max(interp: Any, *args: Any, key: Any = None, default: Any = NONE) -> Any:
    return _extreme(interp, args, key, default, True)


@entry(builtins.min)
def python_min(interp: Any, *args: Any, key: Any = None, default: Any = NONE) -> Any:
    return _extreme(interp, args, key, default, False)


@entry(builtins.abs)
def python_abs(interp: Any, x: Any) -> Any:
    if isinstance(x, Weak):
        kind = {"bool": "int", "complex": "float"}.get(x.kind, x.kind)
        if x.kind == "complex":
            return Weak("float", interp.emit.op("ComplexAbs", [x.id], {"Tout": "float64"})[0])
        return Weak(kind, interp.emit.op("Abs", [interp.emit.id(x, KINDS[kind])])[0])
    if isinstance(x, Array):
        return run_ufunc(interp.emit, np.absolute, [x])
    method = interp.special(x, "__abs__")
    return interp.call_static(abs, [x], {}) if method is None else interp.call(method, [], {})


@entry(builtins.divmod)
def python_divmod(interp: Any, x: Any, y: Any) -> Any:
    return interp.operate(ast.FloorDiv, x, y), interp.operate(ast.Mod, x, y)


@entry(builtins.pow)
def python_pow(interp: Any, x: Any, y: Any, mod: Any = None) -> Any:
    if mod is not None:
        if is_staged((x, y, mod)):
            raise Refused("pow with three arguments", code="P0112")
        return interp.call_static(pow, [x, y, mod], {})
    return interp.operate(ast.Pow, x, y)


@entry(builtins.round)
def python_round(interp: Any, x: Any, digits: Any = None) -> Any:
    if isinstance(x, Array) and x.ndim == 0 and x.const is not None:
        x = x.const[()]
    if isinstance(x, Array):
        made = np_round(interp, x, 0 if digits is None else digits)
        return Weak("int", _whole(interp, made)) if digits is None and x.ndim == 0 else made
    if isinstance(x, Weak):
        if x.kind != "float":
            return Weak("int", interp.emit.id(x, np.int64))
        array = np_round(interp, Array(np.dtype(np.float64), (), x.id), 0 if digits is None else digits)
        return Weak("int", _whole(interp, array)) if digits is None else Weak("float", interp.emit.id(array))
    return interp.call_static(round, [x] if digits is None else [x, digits], {})


def _whole(interp: Any, x: Any) -> int:
    """A number as int64 of the graph. NaN and infinities are errors."""
    if kind_of(x.dtype if isinstance(x, Array) else KINDS[x.kind]) == "f":
        message = "cannot convert float NaN or infinity to integer"
        x = interp.emit.one("CheckNumerics", [interp.emit.id(x)], message=message)
    return interp.emit.id(x, np.int64)  # type: ignore[no-any-return]


def _number(kind: str) -> Any:
    def convert(interp: Any, x: Any = 0, *args: Any) -> Any:
        if args and is_staged((x, *args)):
            if kind != "complex" or not all(weak_kind(part) in ("int", "float", "bool") for part in (x, *args)):
                raise Refused(f"{kind}() of {describe((x, *args))}")
            parts = [interp.emit.id(part, np.float64) for part in (x, *args)]
            return Weak("complex", interp.emit.op("Complex", parts, {"Tout": "complex128"})[0])
        if isinstance(x, Weak) or isinstance(x, Array) and x.const is None:
            if kind == "bool":
                return Weak("bool", truth(interp.emit, x))
            if isinstance(x, Array):
                n = [size for size in x.shape if size not in (1, None)]
                if n:
                    raise Refused(f"only length-1 arrays can be converted to Python scalars, not {shape_text(x.shape)}")
                if kind_of(x.dtype) == "c" and kind != "complex":
                    raise Refused(f"a complex number cannot be converted to {kind}")
            id = _whole(interp, x) if kind == "int" else interp.emit.id(x, KINDS[kind])
            if isinstance(x, Array) and x.shape != ():
                id = interp.emit.op("Reshape", [id, interp.emit.constant(np.array([], np.int32))])[0]
            return Weak(kind, id)
        if is_staged(x):
            if kind == "bool":
                found = truth(interp.emit, x)
                return found if isinstance(found, bool) else Weak("bool", found)
            raise Refused(f"{kind}() of {describe(x)}")
        if kind == "bool":
            return truth(interp.emit, x)
        cls = {"int": int, "float": float, "complex": complex}[kind]
        try:
            return cls(interp.plain(x), *args)
        except Exception as error:
            raise refusal_of(error) from None
    return convert


TABLE[int], TABLE[float], TABLE[complex], TABLE[bool] = map(_number, ("int", "float", "complex", "bool"))


@entry(builtins.str)
def python_str(interp: Any, x: Any = "") -> Any:
    return interp.text(x)


@entry(builtins.repr)
def python_repr(interp: Any, x: Any) -> Any:
    return interp.text(x, representation=True)


@entry(builtins.print)
def python_print(interp: Any, *values: Any, sep: Any = " ", end: Any = "\n", file: Any = None,
                 flush: Any = False) -> None:
    for name, value in (("sep", sep), ("end", end)):
        if is_staged(value):
            raise Refused(f"'{name}' of print must be known when the function is compiled", code="P0109")
        if not isinstance(value, (str, type(None))):
            raise Refused(f"TypeError: {name} must be None or a string, not {describe(value)}")
    if file is not None and file is not sys.stdout:
        raise Refused("'print' to another file than sys.stdout cannot be compiled", code="P0112")
    interp.print(list(values), " " if sep is None else sep, "\n" if end is None else end)


@entry(builtins.isinstance)
def python_isinstance(interp: Any, x: Any, classes: Any) -> Any:
    return interp.is_instance(x, classes)


@entry(builtins.type)
def python_type(interp: Any, x: Any) -> Any:
    if isinstance(x, Weak):
        return {"int": int, "float": float, "bool": bool, "complex": complex}[x.kind]
    if isinstance(x, Array):
        return x.dtype.type if x.ndim == 0 else np.ndarray
    if isinstance(x, (ListObject, DictObject)):
        return list if isinstance(x, ListObject) else dict
    return x.cls if isinstance(x, Struct) else type(x)


@entry(builtins.callable)
def python_callable(interp: Any, x: Any) -> Any:
    from ..values import Function, Method

    return isinstance(x, (Function, Method)) or not is_staged(x) and callable(x)


@entry(builtins.hasattr)
def python_hasattr(interp: Any, x: Any, name: Any) -> bool:
    if isinstance(x, Struct):
        return name in x.cells or hasattr(x.cls, name)
    if isinstance(x, Array):
        return hasattr(np.ndarray if x.ndim > 0 else x.dtype.type, name)
    if isinstance(x, (Generated, Sequence, Function, Method)):
        raise Refused(f"hasattr of {describe(x)}", code="P0112")
    if isinstance(x, Weak):
        return hasattr(ZEROS[x.kind], name)
    of = {ListObject: list, DictObject: dict, Text: str}.get(type(x))
    return hasattr(x if of is None else of, name)


@entry(builtins.getattr)
def python_getattr(interp: Any, x: Any, name: Any, default: Any = NONE) -> Any:
    # What cannot be compiled is refused: it is there.
    return interp.attribute(x, name) if default is NONE or python_hasattr(interp, x, name) else default


def _any_all(is_any: bool) -> Any:
    def run(interp: Any, items: Any) -> Any:
        if isinstance(items, Array) and items.const is None and items.ndim == 1 or \
                isinstance(items, ListObject) and isinstance(items.items, Growing):
            return Weak("bool", interp.emit.id(interp.call(np.any if is_any else np.all, [as_array(interp.emit, items)], {})))
        found: Any = not is_any
        for part in interp.all_items(items):
            one = truth(interp.emit, part)
            if one is is_any:
                return is_any
            if not isinstance(one, bool):
                name = "LogicalOr" if is_any else "LogicalAnd"
                found = one if isinstance(found, bool) else interp.emit.op(name, [found, one])[0]
        return found if isinstance(found, bool) else Weak("bool", found)
    return run


TABLE[builtins.any], TABLE[builtins.all] = _any_all(True), _any_all(False)


@entry(builtins.sorted)
def python_sorted(interp: Any, items: Any, key: Any = None, reverse: Any = False) -> Any:
    if isinstance(items, Array) or isinstance(items, ListObject) and is_staged(items):
        array = as_array(interp.emit, items)
        if key is not None or array.ndim != 1:
            raise Refused("sorted with a key, of values that are only known when it runs", code="P0109")
        made = interp.call(np.sort, [array], {})
        if reverse:
            made = interp.call(np.flip, [made], {})
        if isinstance(made.shape[0], int):
            return ListObject(interp.state, interp.all_items(made))
        return ListObject(interp.state, interp.all_items_staged(made))
    parts = interp.all_items(items)
    if is_staged(parts):
        raise Refused("sorted of values that are only known when it runs", code="P0109")
    plain = [interp.plain(part) for part in parts]
    try:
        order = sorted(range(len(plain)), key=(lambda i: plain[i]) if key is None else (
            lambda i: interp.plain(interp.call(key, [parts[i]], {}))), reverse=bool(reverse))
    except Refused:
        raise
    except Exception as error:
        raise refusal_of(error) from None
    return ListObject(interp.state, [parts[i] for i in order])


_MATH = {
    math.sqrt: np.sqrt, math.exp: np.exp, math.expm1: np.expm1, math.log2: np.log2, math.log10: np.log10,
    math.log1p: np.log1p, math.sin: np.sin, math.cos: np.cos, math.tan: np.tan, math.asin: np.arcsin,
    math.acos: np.arccos, math.atan: np.arctan, math.atan2: np.arctan2, math.sinh: np.sinh, math.cosh: np.cosh,
    math.tanh: np.tanh, math.asinh: np.arcsinh, math.acosh: np.arccosh, math.atanh: np.arctanh,
    math.fabs: np.fabs, math.pow: np.power, math.hypot: np.hypot, math.fmod: np.fmod, math.isnan: np.isnan,
    math.isinf: np.isinf, math.isfinite: np.isfinite, math.degrees: np.degrees, math.radians: np.radians,
    math.cbrt: np.cbrt, math.exp2: np.exp2,
}


def _scalar(interp: Any, x: Any) -> Any:
    """An operand of a function of `math`: a float of rank 0."""
    if isinstance(x, Array) and any(size not in (1, None) for size in x.shape):
        raise Refused(f"only 0-dimensional arrays can be converted to Python scalars, not {shape_text(x.shape)}")
    return Array(np.dtype(np.float64), (), interp.emit.id(TABLE[float](interp, x)))


def _add_math(function: Any, ufunc: Any) -> None:
    def run(interp: Any, *args: Any) -> Any:
        if not is_staged(args):
            return interp.call_static(function, list(args), {})
        made = run_ufunc(interp.emit, ufunc, [_scalar(interp, x) for x in args])
        return Weak("bool" if kind_of(made.dtype) == "b" else "float", interp.emit.id(made))

    TABLE[function] = run


for _function, _of in _MATH.items():
    _add_math(_function, _of)


@entry(math.log)
def math_log(interp: Any, x: Any, base: Any = None) -> Any:
    if not is_staged((x, base)):
        return interp.call_static(math.log, [x] if base is None else [x, base], {})
    made = Weak("float", interp.emit.id(run_ufunc(interp.emit, np.log, [_scalar(interp, x)])))
    return made if base is None else interp.operate(ast.Div, made, math_log(interp, base))


def _add_floor(function: Any, ufunc: Any) -> None:
    def run(interp: Any, x: Any) -> Any:
        if not is_staged(x):
            return interp.call_static(function, [x], {})
        if weak_kind(x) in ("int", "bool"):
            return Weak("int", interp.emit.id(x, np.int64))
        return Weak("int", _whole(interp, run_ufunc(interp.emit, ufunc, [_scalar(interp, x)])))

    TABLE[function] = run


_add_floor(math.floor, np.floor)
_add_floor(math.ceil, np.ceil)
_add_floor(math.trunc, np.trunc)
