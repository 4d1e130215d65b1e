"""Operators on all pairs of dtypes, and with Python's numbers, against NumPy: values, dtypes, and what is refused."""

import operator
import warnings

import numpy as np
import pytest

import befrost as bf
from loading import written

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
             operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
             operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
SYMBOLS = dict(zip(OPERATORS, ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=",
                               ">", ">="]))
NUMBERS = [True, 3, 2.5, 1 + 2j]
UNARY = ["-x", "+x", "~x", "abs(x)", "not x[0]"]


def values(dtype, second=False):
    if dtype == "bool" and second:
        return np.array([True, True, True])  # no division by zero
    if dtype == "bool":
        return np.array([True, False, True])
    numbers = [2, 1, 3] if second else [5, 7, 4]
    made = np.array(numbers, dtype)
    if made.dtype.kind == "f" and not second:
        made = made + made.dtype.type(0.5)
    if made.dtype.kind == "c":
        made = made + made.dtype.type(1j)
    return made


def source(tmp_path_factory, texts):
    lines = (f"def f{i}({args}):\n    return {text}\n" for i, (args, text) in enumerate(texts))
    module = written(tmp_path_factory.mktemp("dtypes") / "functions.py", "\n".join(lines))
    return [getattr(module, f"f{i}") for i in range(len(texts))]


@pytest.fixture(scope="module")
def binary(tmp_path_factory):
    made = source(tmp_path_factory, [("x, y", f"x {sign} y") for sign in SYMBOLS.values()])
    return dict(zip(OPERATORS, made))


def plain(f, *args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return np.asarray(f(*args))
        except (TypeError, ValueError, OverflowError) as error:
            return error


def same(f, compiled, *args):
    want = plain(f, *args)
    try:
        got = np.asarray(compiled(*args))
    except (bf.CompileError, ValueError) as error:
        assert isinstance(want, Exception), f"{error}; NumPy gives {want!r} of {want.dtype}"
        return
    assert not isinstance(want, Exception), f"{got!r}; NumPy refuses: {want}"
    assert got.dtype == want.dtype, f"{got.dtype}, NumPy {want.dtype}"
    tolerance = 1e-2 if want.dtype == np.float16 else 1e-5
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=1e-6)
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_pairs(op, binary):
    f = binary[op]
    compiled = bf.function(f, level=0)
    wrong = []
    for a in DTYPES:
        for b in DTYPES:
            try:
                same(f, compiled, values(a), values(b, True))
            except AssertionError as error:
                wrong.append(f"{a} {SYMBOLS[op]} {b}: {str(error)[:200]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_numbers(op, binary):
    f = binary[op]
    compiled = bf.function(f, level=0)
    wrong = []
    for a in DTYPES:
        for number in NUMBERS:
            for args in ((values(a), number), (number, values(a, True))):
                try:
                    same(f, compiled, *args)
                except AssertionError as error:
                    wrong.append(f"{args}: {str(error)[:200]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("dtype", DTYPES)
def test_unary(dtype, tmp_path_factory):
    wrong = []
    for text, f in zip(UNARY, source(tmp_path_factory, [("x", text) for text in UNARY])):
        try:
            same(f, bf.function(f, level=0), values(dtype))
        except AssertionError as error:
            wrong.append(f"{text}: {str(error)[:200]}")
    assert not wrong, "\n".join(wrong)
