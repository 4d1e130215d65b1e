"""Arithmetic on numbers and arrays: NumPy's dtypes decide, TensorFlow's operators compute.

    ufunc, operands ──resolve_dtypes──▶ dtypes of operands and result ──cast──▶ operator ──cast──▶ result

Known operands are computed by NumPy itself. Numbers of Python's follow Python's rules among themselves and are weak
beside arrays.
"""

from __future__ import annotations

import ast
import operator
from typing import Any, Callable

import numpy as np

from .emitter import Emitter
from .errors import Refused, refusal_of
from .values import (
    KINDS, ORDER, Array, DictObject, Fixed, Growing, ListObject, Sequence, Struct, Text, Weak, describe, is_staged,
    is_written, kind_of, kind_of_number, known, shape_text,
)

# The operator of a ufunc, for all dtypes that it resolves to; a text with ':' computes on booleans by another one.
UFUNCS: dict[Any, str] = {
    np.add: "AddV2:LogicalOr", np.subtract: "Sub", np.multiply: "Mul:LogicalAnd", np.true_divide: "RealDiv",
    np.power: "Pow", np.float_power: "Pow",
    np.maximum: "Maximum:LogicalOr", np.minimum: "Minimum:LogicalAnd", np.fmod: "Mod", np.arctan2: "Atan2",
    np.bitwise_and: "BitwiseAnd:LogicalAnd", np.bitwise_or: "BitwiseOr:LogicalOr",
    np.bitwise_xor: "BitwiseXor:NotEqual",
    np.equal: "Equal", np.not_equal: "NotEqual", np.less: "Less", np.less_equal: "LessEqual",
    np.greater: "Greater", np.greater_equal: "GreaterEqual",
    np.logical_and: "LogicalAnd", np.logical_or: "LogicalOr", np.logical_xor: "NotEqual",
    np.negative: "Neg", np.absolute: "Abs", np.sign: "Sign", np.square: "Square", np.sqrt: "Sqrt",
    np.exp: "Exp", np.expm1: "Expm1", np.log: "Log", np.log1p: "Log1p", np.sin: "Sin", np.cos: "Cos",
    np.tan: "Tan", np.arcsin: "Asin", np.arccos: "Acos", np.arctan: "Atan", np.sinh: "Sinh", np.cosh: "Cosh",
    np.tanh: "Tanh", np.arcsinh: "Asinh", np.arccosh: "Acosh", np.arctanh: "Atanh", np.floor: "Floor",
    np.ceil: "Ceil", np.rint: "Rint", np.reciprocal: "Reciprocal", np.isnan: "IsNan", np.isinf: "IsInf",
    np.isfinite: "IsFinite", np.invert: "Invert:LogicalNot", np.logical_not: "LogicalNot",
    np.conjugate: "Conj",
}
INTEGERS_UNCHANGED = {np.floor, np.ceil, np.rint}

BINARY: dict[type, tuple[Any, Callable[[Any, Any], Any], str]] = {
    ast.Add: (np.add, operator.add, "+"), ast.Sub: (np.subtract, operator.sub, "-"),
    ast.Mult: (np.multiply, operator.mul, "*"), ast.Div: (np.true_divide, operator.truediv, "/"),
    ast.FloorDiv: (np.floor_divide, operator.floordiv, "//"), ast.Mod: (np.remainder, operator.mod, "%"),
    ast.Pow: (np.power, operator.pow, "**"), ast.LShift: (np.left_shift, operator.lshift, "<<"),
    ast.RShift: (np.right_shift, operator.rshift, ">>"), ast.BitAnd: (np.bitwise_and, operator.and_, "&"),
    ast.BitOr: (np.bitwise_or, operator.or_, "|"), ast.BitXor: (np.bitwise_xor, operator.xor, "^"),
    ast.MatMult: (np.matmul, operator.matmul, "@"),
}
COMPARISONS: dict[type, tuple[Any, Callable[[Any, Any], Any], str]] = {
    ast.Eq: (np.equal, operator.eq, "=="), ast.NotEq: (np.not_equal, operator.ne, "!="),
    ast.Lt: (np.less, operator.lt, "<"), ast.LtE: (np.less_equal, operator.le, "<="),
    ast.Gt: (np.greater, operator.gt, ">"), ast.GtE: (np.greater_equal, operator.ge, ">="),
}
UNARY: dict[type, tuple[Any, Callable[[Any], Any]]] = {
    ast.USub: (np.negative, operator.neg), ast.UAdd: (np.positive, operator.pos),
    ast.Invert: (np.invert, operator.invert),
}
_WEAK_TYPES = {"int": int, "float": float, "complex": complex}
MAX_STATIC_BITS = 1 << 16
MAX_STATIC_ITEMS = 1 << 20


_LIMITS: dict[Any, tuple[int, int]] = {}


def limits(dtype: Any) -> tuple[int, int]:
    """The lowest and the highest number of an integer type."""
    found = _LIMITS.get(dtype)
    if found is None:
        info: Any = np.iinfo(dtype)
        found = _LIMITS[dtype] = info.min, info.max
    return found


def is_numeric(value: Any) -> bool:
    return isinstance(value, (Weak, Array)) or kind_of_number(value) is not None


def weak_kind(value: Any) -> str | None:
    """The kind of a number of Python's, staged or not."""
    return value.kind if isinstance(value, Weak) else kind_of_number(value)


def argument_dtype(value: Any) -> Any:
    """The dtype of an operand for `resolve_dtypes`: Python's types for its numbers."""
    if isinstance(value, Array):
        return value.dtype
    kind = weak_kind(value)
    if kind is None:
        return value.dtype
    return np.dtype(bool) if kind == "bool" else _WEAK_TYPES[kind]


def as_array(emit: Emitter, value: Any) -> Array:
    """The array that NumPy makes of a value: numbers, arrays, nested lists and tuples of them."""
    if isinstance(value, Array):
        return value
    kind = kind_of_number(value)
    if kind is not None:
        return known(value)
    if isinstance(value, Weak):
        return Array(KINDS[value.kind], (), value.id)
    if isinstance(value, ListObject):
        return list_array(emit, value)
    if isinstance(value, (tuple, list)):
        return stacked(emit, [as_array(emit, item) for item in value], weak=all(weak_kind(v) for v in value))
    if isinstance(value, np.generic):
        return known(value)
    raise Refused(f"no array can be made of {describe(value)}")


def list_array(emit: Emitter, value: ListObject) -> Array:
    items = value.items
    if isinstance(items, Fixed):
        return as_array(emit, items.items)
    return stacked_list(emit, items)


def stacked_list(emit: Emitter, items: Growing) -> Array:
    """The items of a list of staged length as one array."""
    from .joins import ArrayLeaf, NumberLeaf, leaf_type
    from .names import MISSING

    if items.item is MISSING:
        return known(np.array([]))

    def column(of: Any, handle: int) -> Array:
        name, dims = leaf_type(of)
        assert dims is not None
        made = emit.op("TensorListStack", [handle, emit.constant(dims, np.int32)],
                       {"element_dtype": name, "num_elements": -1}, [(name, [-1, *dims])])
        return emit.array(made[0])

    if isinstance(items.item, (ArrayLeaf, NumberLeaf)):
        return column(items.item, items.lists[0])
    if isinstance(items.item, tuple) and all(isinstance(part, (ArrayLeaf, NumberLeaf)) for part in items.item):
        return stacked(emit, list(map(column, items.item, items.lists)), 1)
    raise Refused("no array can be made of a list of structures")


def stacked(emit: Emitter, parts: list[Array], axis: int = 0, weak: bool = False) -> Array:
    """np.stack, with the dtype that they have in common."""
    if not parts:
        return known(np.array([]))
    dtype = np.result_type(*[part.dtype for part in parts])
    if all(part.const is not None for part in parts):
        return known(np.stack([part.const for part in parts], axis))
    ranks = {part.ndim for part in parts}
    if len(ranks) > 1:
        raise Refused(f"arrays of shapes {', '.join(shape_text(p.shape) for p in parts[:4])} cannot be stacked")
    ids = [emit.id(part, dtype) for part in parts]
    return emit.one("Pack", ids, axis=axis)


_RESOLVED: dict[tuple[Any, ...], tuple[tuple[Any, ...], str]] = {}


def resolved(ufunc: Any, types: tuple[Any, ...]) -> tuple[tuple[Any, ...], str]:
    """The dtypes of operands and result of a ufunc of `UFUNCS` or `SPECIAL` on operands of these types; and the operator
    that computes it of operands that are cast to them, if it is as simple as that, as it mostly is for numbers. Raises
    TypeError if NumPy refuses the types."""
    key = (ufunc, *types)
    found = _RESOLVED.get(key)
    if found is None:
        found = _RESOLVED[key] = _resolve(ufunc, types)
    return found


def _resolve(ufunc: Any, types: tuple[Any, ...]) -> tuple[tuple[Any, ...], str]:
    if ufunc in (np.logical_and, np.logical_or, np.logical_xor, np.logical_not):
        return (np.dtype(bool),) * (len(types) + 1), ""
    dtypes = tuple(ufunc.resolve_dtypes((*types, *[None] * ufunc.nout)))
    result = np.dtype(bool) if ufunc in _ORDER else dtypes[0]
    kind = kind_of(dtypes[0])
    is_simple = (kind == "f" or kind in "iu" and len(types) == 2) and dtypes == (*[dtypes[0]] * len(types), result)
    name = UFUNCS.get(ufunc, "").partition(":")[0] if ufunc not in SPECIAL else ""
    return dtypes, name if is_simple and name != "Conj" else ""


def _run_on_pair(emit: Emitter, ufunc: Any, a: Array, b: Array) -> Array | None:
    """The most frequent case: two staged arrays, and an operator that computes the ufunc of them as they are."""
    found = _RESOLVED.get((ufunc, a.dtype, b.dtype))
    if found is None or a.id is None or b.id is None:
        return None
    dtypes, simple = found
    if not simple or a.dtype != dtypes[0] or b.dtype != dtypes[1]:
        return None
    made = emit.op(simple, [a.id, b.id])[0]
    is_known = a.shape == b.shape and None not in a.shape
    return Array(dtypes[-1], a.shape, made) if is_known else emit.array(made)


def run_ufunc(emit: Emitter, ufunc: Any, operands: list[Any]) -> Any:
    """A ufunc on numbers and arrays."""
    if len(operands) == 2 and type(operands[0]) is type(operands[1]) is Array:
        made = _run_on_pair(emit, ufunc, *operands)
        if made is not None:
            return made
    if not any(map(is_staged, operands)):
        try:
            return known(ufunc(*[v.const if isinstance(v, Array) else v for v in operands]))
        except (TypeError, ValueError, OverflowError) as error:
            raise refusal_of(error) from None
    if ufunc is np.matmul:
        return matmul(emit, as_array(emit, operands[0]), as_array(emit, operands[1]))
    name = UFUNCS.get(ufunc)
    special = SPECIAL.get(ufunc)
    if name is None and special is None:
        raise Refused(f"there is no operator for 'numpy.{ufunc.__name__}'", code="P0112")
    try:
        dtypes, simple = resolved(ufunc, tuple(map(argument_dtype, operands)))
    except TypeError:
        words = ", ".join(describe(v) for v in operands)
        raise Refused(f"'numpy.{ufunc.__name__}' cannot be done on {words}") from None
    for value, dtype in zip(operands, dtypes):
        if kind_of_number(value) == "int" and kind_of(dtype) in "iu":
            low, high = limits(dtype)
            if not low <= value <= high:
                if ufunc in _ORDER:
                    return _compare_beyond(emit, ufunc, operands)
                raise Refused(f"the Python integer {value} is out of bounds for {dtype}", is_range=True)
    if simple:
        return emit.one(simple, [emit.id(value, dtype) for value, dtype in zip(operands, dtypes)])
    if special is not None:
        return special(emit, operands, dtypes)
    assert name is not None
    if ufunc in INTEGERS_UNCHANGED and kind_of(dtypes[0]) in "iub":
        return as_array(emit, operands[0]).fresh()
    if ufunc in _ORDER:
        if kind_of(dtypes[0]) == "c":
            return _compare_complex(emit, ufunc, operands, dtypes[0])
        if dtypes[0] != dtypes[1]:
            return _compare_signs(emit, ufunc, operands, dtypes)
    ids = [emit.id(value, dtype) for value, dtype in zip(operands, dtypes)]
    plain, _, on_bools = name.partition(":")
    if dtypes[0] == np.dtype(bool):
        if on_bools:
            plain = on_bools
        elif plain in ("Less", "LessEqual", "Greater", "GreaterEqual"):
            ids = [emit.cast(id, np.bool_, np.int8) for id in ids]
        elif plain == "Abs":
            return as_array(emit, operands[0]).fresh()
    if plain in ("IsNan", "IsInf", "IsFinite") and kind_of(dtypes[0]) not in "fc":
        return emit.array(emit.op("Fill", [shape_id(emit, as_array(emit, operands[0])),
                                           emit.constant(plain == "IsFinite")])[0])
    if plain in ("IsNan", "IsInf", "IsFinite") and kind_of(dtypes[0]) == "c":
        part_type = "float32" if dtypes[0].itemsize == 8 else "float64"
        of_parts = [emit.op(plain, emit.op(part, ids, {"Tout": part_type}))[0] for part in ("Real", "Imag")]
        return emit.one("LogicalAnd" if plain == "IsFinite" else "LogicalOr", of_parts)
    if plain == "Abs" and kind_of(dtypes[0]) == "c":
        return emit.one("ComplexAbs", ids, Tout=dtypes[-1].name)
    if plain == "Abs" and kind_of(dtypes[0]) == "u" or plain == "Conj" and kind_of(dtypes[0]) != "c":
        return emit.array(ids[0])
    if plain == "Reciprocal" and kind_of(dtypes[0]) not in "fc":
        raise Refused("'numpy.reciprocal' of integers: use '1 // x'", code="P0112")
    made = emit.one(plain, ids)
    if made.dtype != dtypes[-1]:
        assert made.id is not None
        return emit.array(emit.cast(made.id, made.dtype, dtypes[-1]))
    return made


_ORDER = {np.less: operator.lt, np.less_equal: operator.le, np.greater: operator.gt, np.greater_equal: operator.ge,
          np.equal: operator.eq, np.not_equal: operator.ne}
_STRICT = {np.less: np.less, np.less_equal: np.less, np.greater: np.greater, np.greater_equal: np.greater}


def _compare_beyond(emit: Emitter, ufunc: Any, operands: list[Any]) -> Any:
    """A comparison with an integer that the other operand's type does not have: NumPy compares with the exact one."""
    answer = ufunc(*[np.zeros((), v.dtype) if isinstance(v, Array) else v for v in operands])
    like = next(v for v in operands if isinstance(v, Array))
    return emit.array(emit.op("Fill", [shape_id(emit, like), emit.constant(bool(answer))])[0])


def _compare_signs(emit: Emitter, ufunc: Any, operands: list[Any], dtypes: tuple[Any, ...]) -> Any:
    """A comparison of int64 and uint64, which NumPy does exactly: what is negative is less than all others."""
    at = 0 if kind_of(dtypes[0]) == "i" else 1
    signed = emit.array(emit.id(operands[at], np.int64))
    pair = [as_array(emit, value) for value in operands]
    pair[at] = emit.array(emit.id(signed, np.uint64))
    compared = run_ufunc(emit, ufunc, pair)
    below = _ORDER[ufunc](-1, 0) if at == 0 else _ORDER[ufunc](0, -1)
    return select(emit, run_ufunc(emit, np.less, [signed, 0]), bool(below), compared)


def _compare_complex(emit: Emitter, ufunc: Any, operands: list[Any], dtype: Any) -> Any:
    """Complex numbers are ordered by their real parts, equal ones by their imaginary parts, as in NumPy."""
    if ufunc not in _STRICT:
        return emit.one(UFUNCS[ufunc].partition(":")[0], [emit.id(value, dtype) for value in operands])
    half = "float32" if dtype.itemsize == 8 else "float64"
    ids = [emit.id(value, dtype) for value in operands]
    real = [emit.one("Real", [id], Tout=half) for id in ids]
    imaginary = [emit.one("Imag", [id], Tout=half) for id in ids]
    equal = run_ufunc(emit, np.logical_and, [run_ufunc(emit, np.equal, real), run_ufunc(emit, ufunc, imaginary)])
    return run_ufunc(emit, np.logical_or, [run_ufunc(emit, _STRICT[ufunc], real), equal])


def shape_id(emit: Emitter, array: Array, dtype: Any = np.int32) -> int:
    """The shape of an array as a vector of the graph."""
    if None not in array.shape:
        return emit.constant(np.array(array.shape, dtype))
    return emit.op("Shape", [emit.id(array)], {"out_type": np.dtype(dtype).name})[0]


def size_of(emit: Emitter, array: Array, axis: int) -> Any:
    """The size of a dimension: static if it is known, else weak."""
    size = array.shape[axis]
    if size is not None:
        return size
    shape = emit.op("Shape", [emit.id(array)], {"out_type": "int64"})[0]
    ends = [emit.constant([axis], np.int32), emit.constant([axis + 1], np.int32), emit.constant([1], np.int32)]
    return Weak("int", emit.op("StridedSlice", [shape, *ends], {"shrink_axis_mask": 1})[0])


def _unary(name: str) -> Callable[[Emitter, list[Any], tuple[Any, ...]], Array]:
    return lambda emit, operands, dtypes: emit.one(name, [emit.id(operands[0], dtypes[0])])


def _composed(make: Callable[[Emitter, Array], Array]) -> Callable[[Emitter, list[Any], tuple[Any, ...]], Array]:
    return lambda emit, operands, dtypes: make(emit, emit.array(emit.id(operands[0], dtypes[0])))


def _scaled(factor: float) -> Callable[[Emitter, Array], Array]:
    return lambda emit, x: run_ufunc(emit, np.multiply, [x, factor])


SPECIAL: dict[Any, Callable[[Emitter, list[Any], tuple[Any, ...]], Array]] = {
    np.positive: lambda emit, operands, dtypes: as_array(emit, operands[0]).fresh(),
    np.log2: _composed(lambda emit, x: run_ufunc(emit, np.true_divide, [run_ufunc(emit, np.log, [x]), float(np.log(2))])),
    np.log10: _composed(lambda emit, x: run_ufunc(emit, np.true_divide, [run_ufunc(emit, np.log, [x]), float(np.log(10))])),
    np.exp2: _composed(lambda emit, x: run_ufunc(emit, np.power, [as_like(emit, 2.0, x), x])),
    np.cbrt: _composed(lambda emit, x: run_ufunc(emit, np.multiply, [
        run_ufunc(emit, np.sign, [x]), run_ufunc(emit, np.power, [run_ufunc(emit, np.absolute, [x]), 1.0 / 3.0])])),
    np.trunc: lambda emit, operands, dtypes: _trunc(emit, operands, dtypes),
    np.hypot: lambda emit, operands, dtypes: run_ufunc(emit, np.sqrt, [run_ufunc(emit, np.add, [
        run_ufunc(emit, np.square, [emit.array(emit.id(v, d))]) for v, d in zip(operands, dtypes)])]),
    np.deg2rad: _composed(_scaled(float(np.pi / 180))), np.radians: _composed(_scaled(float(np.pi / 180))),
    np.rad2deg: _composed(_scaled(float(180 / np.pi))), np.degrees: _composed(_scaled(float(180 / np.pi))),
    np.fmax: lambda emit, operands, dtypes: _ignoring_nan(emit, np.maximum, operands, dtypes),
    np.fmin: lambda emit, operands, dtypes: _ignoring_nan(emit, np.minimum, operands, dtypes),
    np.logaddexp: lambda emit, operands, dtypes: _logaddexp(emit, operands, dtypes),
    np.fabs: lambda emit, operands, dtypes: emit.one("Abs", [emit.id(operands[0], dtypes[0])]),
    np.floor_divide: lambda emit, operands, dtypes: _floor_divide(emit, operands, dtypes),
    np.remainder: lambda emit, operands, dtypes: _remainder(emit, operands, dtypes),
    np.left_shift: lambda emit, operands, dtypes: _shift(emit, "LeftShift", operands, dtypes),
    np.right_shift: lambda emit, operands, dtypes: _shift(emit, "RightShift", operands, dtypes),
}


def as_like(emit: Emitter, value: Any, x: Array) -> Array:
    return emit.array(emit.constant(value, x.dtype))


def _trunc(emit: Emitter, operands: list[Any], dtypes: tuple[Any, ...]) -> Array:
    x = emit.array(emit.id(operands[0], dtypes[0]))
    if kind_of(x.dtype) != "f":
        return x
    down = run_ufunc(emit, np.floor, [run_ufunc(emit, np.absolute, [x])])
    return run_ufunc(emit, np.multiply, [run_ufunc(emit, np.sign, [x]), down])  # type: ignore[no-any-return]


def _floats(emit: Emitter, operands: list[Any], dtypes: tuple[Any, ...]) -> tuple[Array, Array]:
    """Two operands of `//` and `%`, in single precision if they have less, in which NumPy computes these."""
    wide = dtypes[0] if dtypes[0].itemsize > 2 else np.dtype(np.float32)
    x, y = (emit.array(emit.cast(emit.id(value, dtype), dtype, wide)) for value, dtype in zip(operands, dtypes))
    return x, y


def _floor_divide(emit: Emitter, operands: list[Any], dtypes: tuple[Any, ...]) -> Array:
    """`x // y`. Of floats it is the quotient that belongs to the exact remainder: 1.0 // 0.1 is 9.0, although 1.0 / 0.1
    is 10.0. A quotient of zero has the sign of x / y."""
    if kind_of(dtypes[0]) != "f":
        return emit.one("FloorDiv", [emit.id(value, dtype) for value, dtype in zip(operands, dtypes)])
    x, y = _floats(emit, operands, dtypes)
    rest, ratio = run_ufunc(emit, np.fmod, [x, y]), run_ufunc(emit, np.true_divide, [x, y])
    quotient = run_ufunc(emit, np.true_divide, [run_ufunc(emit, np.subtract, [x, rest]), y])
    differs = run_ufunc(emit, np.not_equal, [run_ufunc(emit, np.less, [rest, 0]), run_ufunc(emit, np.less, [y, 0])])
    is_below = run_ufunc(emit, np.logical_and, [run_ufunc(emit, np.not_equal, [rest, 0]), differs])
    quotient = select(emit, is_below, run_ufunc(emit, np.subtract, [quotient, 1]), quotient)
    # An integer but for the rounding of the division.
    floor = run_ufunc(emit, np.floor, [quotient])
    is_above = run_ufunc(emit, np.greater, [run_ufunc(emit, np.subtract, [quotient, floor]), 0.5])
    floor = select(emit, is_above, run_ufunc(emit, np.add, [floor, 1]), floor)
    made = select(emit, run_ufunc(emit, np.equal, [quotient, 0]), run_ufunc(emit, np.floor, [ratio]), floor)
    if not _all_known(operands[1], lambda divisors: divisors != 0):
        made = select(emit, run_ufunc(emit, np.equal, [y, 0]), ratio, made)
    return emit.array(emit.id(made, dtypes[-1]))


def _remainder(emit: Emitter, operands: list[Any], dtypes: tuple[Any, ...]) -> Array:
    """`x % y`. Of floats a remainder of zero has the sign of y; zeros are added for that, not chosen, since the gradient
    with respect to x is 1."""
    if kind_of(dtypes[0]) != "f":
        return emit.one("FloorMod", [emit.id(value, dtype) for value, dtype in zip(operands, dtypes)])
    x, y = _floats(emit, operands, dtypes)
    rest = emit.one("FloorMod", [emit.id(x), emit.id(y)])
    zero = select(emit, run_ufunc(emit, np.equal, [rest, 0]), as_like(emit, 0.0, rest), as_like(emit, -0.0, rest))
    if _all_known(operands[1], lambda divisors: divisors > 0):
        made = run_ufunc(emit, np.add, [rest, zero])
    else:
        is_below = run_ufunc(emit, np.less, [y, 0])
        sign = select(emit, is_below, as_like(emit, -1.0, rest), as_like(emit, 1.0, rest))
        positive = run_ufunc(emit, np.add, [run_ufunc(emit, np.multiply, [sign, rest]), zero])
        made = run_ufunc(emit, np.multiply, [sign, positive])
    return emit.array(emit.id(made, dtypes[-1]))


def _all_known(value: Any, test: Callable[[Any], Any]) -> bool:
    """True if the elements are known and the test holds for all of them."""
    if isinstance(value, Array):
        return value.const is not None and bool(np.all(test(value.const)))
    return kind_of_number(value) is not None and bool(test(value))


def _shift(emit: Emitter, name: str, operands: list[Any], dtypes: tuple[Any, ...]) -> Array:
    """`x << n`, `x >> n`. The operator takes the nearest count from 0 to the number's last bit; in NumPy all bits leave
    the number if the count is negative or too large."""
    dtype = dtypes[0]
    bits = dtype.itemsize * 8
    ids = [emit.id(value, to) for value, to in zip(operands, dtypes)]
    if _all_known(operands[1], lambda counts: (counts >= 0) & (counts < bits)):
        return emit.one(name, ids)
    count = emit.array(ids[1])
    if name == "RightShift" and kind_of(dtype) == "i":
        all_bits = select(emit, run_ufunc(emit, np.less, [count, 0]), bits - 1, count)
        return emit.one(name, [ids[0], emit.id(all_bits)])
    inside = run_ufunc(emit, np.less, [count, bits])
    if kind_of(dtype) == "i":
        inside = run_ufunc(emit, np.logical_and, [inside, run_ufunc(emit, np.greater_equal, [count, 0])])
    return select(emit, inside, emit.one(name, ids), 0)


def _ignoring_nan(emit: Emitter, ufunc: Any, operands: list[Any], dtypes: tuple[Any, ...]) -> Array:
    x, y = (emit.array(emit.id(v, d)) for v, d in zip(operands, dtypes))
    both = run_ufunc(emit, ufunc, [x, y])
    if kind_of(x.dtype) != "f":
        return both  # type: ignore[no-any-return]
    no_y = select(emit, run_ufunc(emit, np.isnan, [y]), x, both)
    return select(emit, run_ufunc(emit, np.isnan, [x]), y, no_y)


def _logaddexp(emit: Emitter, operands: list[Any], dtypes: tuple[Any, ...]) -> Array:
    x, y = (emit.array(emit.id(v, d)) for v, d in zip(operands, dtypes))
    most = run_ufunc(emit, np.maximum, [x, y])
    apart = run_ufunc(emit, np.negative, [run_ufunc(emit, np.absolute, [run_ufunc(emit, np.subtract, [x, y])])])
    return run_ufunc(emit, np.add, [most, run_ufunc(emit, np.log1p, [run_ufunc(emit, np.exp, [apart])])])  # type: ignore[no-any-return]


def select(emit: Emitter, condition: Any, x: Any, y: Any) -> Array:
    """np.where of three."""
    operands = [x, y]
    dtype = np.result_type(*[v.dtype if isinstance(v, Array) else _number(v) for v in operands])
    return emit.one("SelectV2", [emit.id(condition, np.bool_), emit.id(x, dtype), emit.id(y, dtype)])


def _number(value: Any) -> Any:
    kind = weak_kind(value)
    assert kind is not None
    return {"bool": False, "int": 0, "float": 0.0, "complex": 0j}[kind]


def matmul(emit: Emitter, a: Array, b: Array) -> Array:
    """NumPy's matrix product."""
    if a.ndim == 0 or b.ndim == 0:
        raise Refused(f"'@' of shapes {shape_text(a.shape)} and {shape_text(b.shape)}: an operand is a number")
    inner, other = a.shape[-1], b.shape[-2] if b.ndim > 1 else b.shape[0]
    if inner is not None and other is not None and inner != other:
        raise Refused(f"the shapes {shape_text(a.shape)} and {shape_text(b.shape)} do not fit for '@': "
                      f"{inner} columns, {other} rows")
    dtype = np.result_type(a.dtype, b.dtype)
    if dtype == np.dtype(bool):
        product = matmul(emit, emit.array(emit.id(a, np.int32)), emit.array(emit.id(b, np.int32)))
        return run_ufunc(emit, np.not_equal, [product, 0])  # type: ignore[no-any-return]
    x, y = emit.id(a, dtype), emit.id(b, dtype)
    if a.ndim == 1:
        x = emit.op("ExpandDims", [x, emit.constant(0, np.int32)])[0]
    if b.ndim == 1:
        y = emit.op("ExpandDims", [y, emit.constant(1, np.int32)])[0]
    simple = a.ndim <= 2 and b.ndim <= 2
    made = emit.op("MatMul" if simple else "BatchMatMulV2", [x, y])[0]
    axes = ([-2] if a.ndim == 1 else []) + ([-1] if b.ndim == 1 else [])
    if axes:
        made = emit.op("Squeeze", [made], {"squeeze_dims": axes})[0]
    return emit.array(made)


def binary(emit: Emitter, state: Any, kind: type, a: Any, b: Any) -> Any:
    """`a op b`."""
    ufunc, python, sign = BINARY[kind]
    if is_numeric(a) and is_numeric(b):
        ka, kb = weak_kind(a), weak_kind(b)
        if ka and kb:
            if not isinstance(a, Weak) and not isinstance(b, Weak):
                return _static(python, a, b, sign)
            return _weak_binary(emit, kind, ufunc, a, b, ka, kb, sign)
        is_half = kind is ast.Pow and kb == "float" and not isinstance(b, Weak) and b == 0.5
        if is_half and a.ndim > 0 and kind_of(a.dtype) in "fc":
            ufunc, b = np.sqrt, None  # as in NumPy: the power of minus infinity is NaN
        is_square = kind is ast.Pow and kb == "int" and not isinstance(b, Weak) and b == 2
        if is_square and a.ndim > 0 and kind_of(a.dtype) == "b":
            ufunc, b = np.square, None  # as in NumPy, of dtype int8
        return run_ufunc(emit, ufunc, [a] if b is None else [a, b])
    if isinstance(a, ListObject) or isinstance(b, ListObject):
        if is_numeric(a) and isinstance(a, Array) or isinstance(b, Array):
            return run_ufunc(emit, ufunc, [as_array(emit, a), as_array(emit, b)])
        return _list_binary(emit, state, kind, a, b, sign)
    if isinstance(a, Array) and isinstance(b, (tuple, list)) or isinstance(b, Array) and isinstance(a, (tuple, list)):
        return run_ufunc(emit, ufunc, [as_array(emit, a), as_array(emit, b)])
    if isinstance(a, tuple) and isinstance(b, tuple) and kind is ast.Add:
        expect_few(len(a) + len(b), "tuple")
        return tuple(a) + tuple(b)
    if isinstance(a, DictObject) and isinstance(b, DictObject) and kind is ast.BitOr:
        return DictObject(state, {**a.items, **b.items})
    repeats = kind is ast.Mult and (isinstance(a, tuple) and isinstance(b, int) or isinstance(b, tuple) and isinstance(a, int))
    if not repeats and (is_staged(a) or is_staged(b)):
        raise Refused(f"'{sign}' of {describe(a)} and {describe(b)}")
    return _static(python, a, b, sign)


def expect_few(n: int, what: str) -> None:
    """Refuses a collection that is made while compiling, if it has too many items."""
    if n > MAX_STATIC_ITEMS:
        raise Refused(f"a {what} of {n} items is made while compiling, more than {MAX_STATIC_ITEMS}", code="P0110")


def _static(python: Any, a: Any, b: Any, sign: str) -> Any:
    if sign in ("**", "<<", "*") and isinstance(a, int) and isinstance(b, int):
        bits = a.bit_length() * b if sign == "**" else a.bit_length() + (b if sign == "<<" else b.bit_length())
        if bits > MAX_STATIC_BITS:
            raise Refused(f"{describe(a)} {sign} {describe(b)} has more than {MAX_STATIC_BITS} bits", code="P0110")
    if sign == "+" and isinstance(a, (tuple, str, bytes)) and isinstance(b, (tuple, str, bytes)):
        expect_few(len(a) + len(b), type(a).__name__)
    for items, n in ((a, b), (b, a)):
        if sign == "*" and isinstance(items, (tuple, str, bytes)) and isinstance(n, int):
            expect_few(len(items) * n, type(items).__name__)
    try:
        return python(a, b)
    except Exception as error:
        raise refusal_of(error) from None


def _list_binary(emit: Emitter, state: Any, kind: type, a: Any, b: Any, sign: str) -> Any:
    if kind is ast.Add and isinstance(a, ListObject) and isinstance(b, ListObject):
        if isinstance(a.items, Fixed) and isinstance(b.items, Fixed):
            expect_few(len(a.items.items) + len(b.items.items), "list")
            return ListObject(state, a.items.items + b.items.items)
        if isinstance(b.items, Fixed):
            from .lists import extended

            return ListObject(state, extended(emit, a.items, b.items.items))
    if kind is ast.Mult:
        items, n = (a, b) if isinstance(a, ListObject) else (b, a)
        if isinstance(n, int) and isinstance(items, ListObject) and isinstance(items.items, Fixed):
            expect_few(len(items.items.items) * n, "list")
            return ListObject(state, items.items.items * n)
    raise Refused(f"'{sign}' of {describe(a)} and {describe(b)}")


def _weak_binary(emit: Emitter, kind: type, ufunc: Any, a: Any, b: Any, ka: str, kb: str, sign: str) -> Weak:
    """Arithmetic of Python's numbers."""
    result = max(ka, kb, key=ORDER.index)
    bits = kind in (ast.BitAnd, ast.BitOr, ast.BitXor)
    if result == "bool" and not bits:
        result = "int"
    if kind is ast.MatMult or result == "complex" and kind in (ast.FloorDiv, ast.Mod):
        raise Refused(f"'{sign}' of {ka} and {kb}")
    if result in ("float", "complex") and (bits or kind in (ast.LShift, ast.RShift)):
        raise Refused(f"'{sign}' of {ka} and {kb}")
    if kind is ast.Div and result in ("bool", "int"):
        result = "float"
    if kind is ast.Pow and result == "int" and kind_of_number(b) == "int" and b < 0:
        result = "float"
    made = run_ufunc(emit, ufunc, [_converted(emit, a, KINDS[result]), _converted(emit, b, KINDS[result])])
    return Weak(result, emit.id(made))


def _converted(emit: Emitter, value: Any, dtype: Any) -> Array:
    """A number of Python's as an array of a dtype; a known one stays known."""
    if isinstance(value, Weak):
        return emit.array(emit.id(value, dtype))
    try:
        return known(np.asarray(value, dtype))
    except OverflowError:
        raise Refused(f"{value} does not fit in {dtype}", is_range=True) from None


def compare(emit: Emitter, kind: type, a: Any, b: Any) -> Any:
    """`a op b` for one comparison."""
    ufunc, python, sign = COMPARISONS[kind]
    if is_numeric(a) and is_numeric(b):
        ka, kb = weak_kind(a), weak_kind(b)
        if ka and kb:
            if not isinstance(a, Weak) and not isinstance(b, Weak):
                return _static(python, a, b, sign)
            dtype = KINDS[max(ka, kb, key=ORDER.index)]
            made = run_ufunc(emit, ufunc, [_converted(emit, a, dtype), _converted(emit, b, dtype)])
            return Weak("bool", emit.id(made))
        return run_ufunc(emit, ufunc, [a, b])
    if isinstance(a, Array) or isinstance(b, Array):
        if a is None or b is None or isinstance(a, str) or isinstance(b, str):
            return kind is ast.NotEq if kind in (ast.Eq, ast.NotEq) else _static(python, a, b, sign)
        return run_ufunc(emit, ufunc, [as_array(emit, a), as_array(emit, b)])
    if kind in (ast.Eq, ast.NotEq) and (isinstance(a, (tuple, ListObject)) or isinstance(b, (tuple, ListObject))):
        return _equal_structures(emit, kind, a, b, sign)
    if is_staged(a) or is_staged(b):
        if kind in (ast.Eq, ast.NotEq) and (a is None or b is None):
            return kind is ast.NotEq
        raise Refused(f"'{sign}' of {describe(a)} and {describe(b)}")
    return _static(python, a, b, sign)


def _equal_structures(emit: Emitter, kind: type, a: Any, b: Any, sign: str) -> Any:
    def items(value: Any) -> Any:
        if isinstance(value, ListObject) and isinstance(value.items, Fixed):
            return value.items.items
        return value if isinstance(value, tuple) else None

    x, y = items(a), items(b)
    if x is None or y is None:
        if is_staged(a) or is_staged(b):
            raise Refused(f"'{sign}' of {describe(a)} and {describe(b)}")
        return kind is ast.NotEq
    if isinstance(a, tuple) != isinstance(b, tuple) or len(x) != len(y):
        return kind is ast.NotEq
    answer: Any = True
    for p, q in zip(x, y):
        one = compare(emit, ast.Eq, p, q)
        if one is False:
            return kind is ast.NotEq
        if one is not True:
            answer = one if answer is True else Weak("bool", emit.op(
                "LogicalAnd", [truth(emit, answer), truth(emit, one)])[0])
    if kind is ast.NotEq:
        return not answer if isinstance(answer, bool) else Weak("bool", emit.op("LogicalNot", [truth(emit, answer)])[0])
    return answer


def required(emit: Emitter, value: Any, condition: Any, message: str) -> Any:
    """A staged integer, if the condition holds; else a ValueError when it runs."""
    wrong = select(emit, condition, 1.0, np.nan)
    checked = emit.one("CheckNumerics", [emit.id(wrong)], message=message)
    return Weak("int", emit.op("Mul", [emit.id(value, np.int64), emit.id(checked, np.int64)])[0])


def truth(emit: Emitter, value: Any) -> Any:
    """The truth of a value: True, False, or a boolean of the graph."""
    if isinstance(value, Weak):
        return emit.id(value, np.bool_)
    if isinstance(value, Array):
        sizes = [size for size in value.shape if size is not None]
        n = int(np.prod(sizes)) if sizes else 1
        if n != 1 and not (None in value.shape and n == 0):
            raise Refused(f"the truth value of an array with {n} elements is ambiguous (its shape is "
                          f"{shape_text(value.shape)}): use .any() or .all()")
        if value.const is not None:
            return bool(value.const.reshape(()))
        id = emit.id(value)
        if value.shape != ():
            id = emit.op("Reshape", [id, emit.constant(np.array([], np.int32))])[0]
        return emit.cast(id, value.dtype, np.bool_)
    if isinstance(value, ListObject):
        items = value.items
        if isinstance(items, Fixed):
            return bool(items.items)
        from .lists import length

        return truth(emit, length(emit, items))
    if isinstance(value, DictObject):
        return bool(value.items)
    if isinstance(value, tuple) and not any(is_written(getattr(type(value), f, None)) for f in ("__bool__", "__len__")):
        return bool(value)
    if isinstance(value, Sequence) and value.range is not None:
        return truth(emit, value.length)
    if isinstance(value, (Text, tuple)) or isinstance(value, Struct) and any(hasattr(value.cls, f) for f in ("__bool__", "__len__")):
        raise Refused(f"the truth of {describe(value)} is not known when the function is compiled", code="P0109")
    if is_staged(value):
        return True
    try:
        return bool(value)
    except Exception as error:
        raise Refused(f"the truth of {describe(value)} is not known: {type(error).__name__}: {error}", code="P0113") from None


def unary(emit: Emitter, kind: type, value: Any) -> Any:
    """`-x`, `+x`, `~x`."""
    if isinstance(value, Weak):
        if kind is ast.UAdd:
            return Weak("int" if value.kind == "bool" else value.kind, emit.id(value, KINDS["int"] if value.kind == "bool" else None))
        result = "int" if value.kind == "bool" else value.kind
        if kind is ast.Invert and result != "int":
            raise Refused(f"'~' of {value.kind}")
        name = "Neg" if kind is ast.USub else "Invert"
        return Weak(result, emit.op(name, [emit.id(value, KINDS[result])])[0])
    if isinstance(value, Array):
        return run_ufunc(emit, UNARY[kind][0], [value])
    if is_staged(value):
        raise Refused(f"an operator on {describe(value)}")
    try:
        return UNARY[kind][1](value)
    except Exception as error:
        raise refusal_of(error) from None
