"""Operators on all pairs of dtypes, on random shapes, and with Python's numbers, against NumPy: values, dtypes, shapes,
and what is refused; compiled, and on Tensors."""

import operator
import warnings
from typing import Any

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


def values(dtype: Any, second: Any = False) -> Any:
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


def source(tmp_path_factory: pytest.TempPathFactory, texts: Any) -> Any:
    lines = (f"def f{i}({args}):\n    return {text}\n" for i, (args, text) in enumerate(texts))
    module = written(tmp_path_factory.mktemp("dtypes") / "functions.py", "\n".join(lines))
    return [getattr(module, f"f{i}") for i in range(len(texts))]


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = source(tmp_path_factory, [("x, y", f"x {sign} y") for sign in SYMBOLS.values()])
    return dict(zip(OPERATORS, made))


def plain(f: Any, *args: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return np.asarray(f(*args))
        except (TypeError, ValueError, OverflowError) as error:
            return error


def same(f: Any, compiled: Any, *args: Any) -> None:
    want = plain(f, *args)
    try:
        got = np.asarray(compiled(*args))
    except (bf.CompileError, ValueError) as error:
        assert isinstance(want, Exception), f"{error}; NumPy gives {want!r} of {want.dtype}"
        return
    assert not isinstance(want, Exception), f"{got!r}; NumPy refuses: {want}"
    agree(got, want)


def agree(got: Any, want: Any) -> None:
    assert got.dtype == want.dtype, f"{got.dtype}, NumPy {want.dtype}"
    assert got.shape == want.shape, f"{got.shape}, NumPy {want.shape}"
    tolerance = 1e-2 if want.dtype == np.float16 else 1e-5
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=1e-6)
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_pairs(op: Any, binary: Any) -> None:
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
def test_numbers(op: Any, binary: Any) -> None:
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
def test_unary(dtype: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    wrong = []
    for text, f in zip(UNARY, source(tmp_path_factory, [("x", text) for text in UNARY])):
        try:
            same(f, bf.function(f, level=0), values(dtype))
        except AssertionError as error:
            wrong.append(f"{text}: {str(error)[:200]}")
    assert not wrong, "\n".join(wrong)


def eagerly(f: Any, *args: Any) -> None:
    """The plain function on Tensors: as NumPy, and refused with its class of exception."""
    want = plain(f, *args)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            got = np.asarray(f(*(bf.tensor(arg) if isinstance(arg, np.ndarray) else arg for arg in args)))
        except Exception as error:
            assert isinstance(want, Exception) and isinstance(error, type(want)), f"{error!r}; NumPy: {want!r}"
            return
    assert not isinstance(want, Exception), f"{got!r}; NumPy refuses: {want}"
    agree(got, want)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_tensors(op: Any) -> None:
    wrong = []
    for a in DTYPES:
        pairs = [(values(a), values(b, True)) for b in DTYPES]
        # The infinities of a power of a complex number have any signs.
        numbers = [*NUMBERS, -1, 300] if op is operator.pow else [*NUMBERS, -1, 300, 1 << 40, 1e300]
        pairs += [pair for number in numbers
                  for pair in ((values(a), number), (number, values(a, True)))]
        for x, y in pairs:
            try:
                eagerly(op, x, y)
            except AssertionError as error:
                wrong.append(f"{x!r} {SYMBOLS[op]} {y!r}: {str(error)[:200]}")
    assert not wrong, "\n".join(wrong)


def random_array(draw: Any, dtype: Any, shape: Any, op: Any, second: Any) -> Any:
    if dtype == "bool":
        return np.array(draw.integers(int(second), 2, shape), bool)
    kind = np.dtype(dtype).kind
    if kind in "iu":
        # Division by zero and shifts beyond the width differ, and are tested apart.
        low = 1 if second or op is operator.pow else 0 if kind == "u" else -9
        return np.array(draw.integers(low, 7, shape), dtype)
    made = np.round(draw.normal(0, 3, shape), 2)
    if op not in (operator.pow, operator.floordiv, operator.mod):
        made = np.where(draw.random(shape) < 0.05, draw.choice([np.nan, np.inf, -np.inf, 0.0]), made)
    return np.array(abs(made) + 0.25 if op in (operator.pow, operator.mod, operator.floordiv) else made, dtype)


@pytest.mark.parametrize("seed", range(4))
def test_random_operands(seed: Any, binary: Any) -> None:
    """Random shapes, dtypes and values: operators on Tensors, and each sixth compiled."""
    draw = np.random.default_rng(seed)
    compiled = {op: bf.function(f, level=0) for op, f in binary.items()}
    wrong = []
    for i in range(600):
        op = OPERATORS[draw.integers(len(OPERATORS))]
        shape = tuple(int(n) for n in draw.integers(0 if draw.random() < 0.05 else 1, 4, draw.integers(0, 4)))
        other = [1 if draw.random() < 0.3 else n for n in shape[draw.integers(0, len(shape) + 1):]]
        if other and draw.random() < 0.05:
            other[0] += 1  # does not fit
        shapes = [shape, tuple(other)] if draw.random() < 0.5 else [tuple(other), shape]
        x, y = (random_array(draw, draw.choice(DTYPES), shapes[j], op, bool(j)) for j in range(2))
        for check in ([eagerly, same] if i % 6 == 0 else [eagerly]):
            try:
                check(binary[op], *([compiled[op]] if check is same else []), x, y)
            except AssertionError as error:
                wrong.append(f"{check.__name__} {x!r} {SYMBOLS[op]} {y!r}: {str(error)[:200]}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("dtype", DTYPES)
def test_shifts_by_numbers(dtype: Any) -> None:
    """Also counts of more bits than there are, and floats, which are none."""
    wrong = []
    for x in (values(dtype), np.zeros((), dtype), np.array([[1, 0, 1]], dtype)):
        for op in (operator.lshift, operator.rshift):
            for count in (0, 1, 7, 31, 62, 63, 64, 200, -1, True, 2.0):
                try:
                    eagerly(op, x, count)
                except AssertionError as error:
                    wrong.append(f"{x} {SYMBOLS[op]} {count}: {str(error)[:200]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_of_tensors(dtype: Any) -> None:
    texts = np.array([0, 1, 2.5, -3, 1e30, np.nan, np.inf])
    with np.errstate(all="ignore"):
        arrays = [*texts.astype(dtype), values(dtype)[:1], values(dtype), np.zeros((0,), dtype), np.ones((1, 1), dtype)]
    for x in map(np.asarray, arrays):
        for number in (bool, int, float, operator.index):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made: list[Any] = []
                for value in (x, bf.tensor(x)):
                    try:
                        made.append(number(value))
                    except (TypeError, ValueError, OverflowError) as error:
                        made.append(type(error))
            want, got = made
            assert type(got) is type(want) and (got == want or got != got and want != want), (number, x, got, want)


def test_numbers_beyond(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Known integers that a type does not have: what NumPy makes of them, or its OverflowError."""
    texts = ["x + 300", "-129 * x", "x << 300", "np.add(x, 300)", "np.maximum(300, x)", "x + (1 << 70)", "np.clip(x, 300, 400)",
             "np.int8(300)", "np.uint8(-1)", "np.int8([1, 300])", "np.full(3, 300, x.dtype)", "np.full_like(x, 300)",
             "np.array([300], np.int8)", "np.pad(x, 1, constant_values=300)", "x == 300", "np.less(x, 300)",
             "np.greater_equal(-300, x)", "np.clip(x, -300, 1)", "x.clip(0, 300)", "np.clip(x, -128, 127)", "x / 300",
             "np.int16([3, 4])", "np.float32('1.5')"]
    for text, f in zip(texts, source(tmp_path_factory, [("x", text) for text in texts])):
        f.__globals__["np"] = np
        x = np.array([1, 2], np.int8)
        want = plain(f, x)
        for of, given in ((bf.function(f, level=0), x), (f, bf.tensor(x))):
            if isinstance(want, Exception):
                with pytest.raises(OverflowError):
                    of(given)
            else:
                agree(np.asarray(of(given)), want)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("op", [operator.floordiv, operator.mod], ids=lambda op: op.__name__)
def test_floored_floats(op: Any, dtype: Any, binary: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same bits as NumPy's, also of zeros, infinities, NaN, and where the quotient is rounded: on Tensors, and
    compiled, by divisors that are known and that are not."""
    edges = np.array([0.0, 0.1, 0.3, 0.5, 1.0, 2.0, 2.5, 7.0, 1e4, np.inf, np.nan, np.finfo(dtype).smallest_subnormal,
                      np.finfo(dtype).max, 1 - np.finfo(dtype).epsneg], dtype)
    edges = np.concatenate([edges, -edges])
    x, y = (np.ascontiguousarray(part).reshape(-1) for part in np.meshgrid(edges, edges))

    def expect(got: Any, want: Any) -> None:
        assert isinstance(got, bf.Tensor) and np.asarray(got).dtype == want.dtype == dtype
        np.testing.assert_array_equal(np.asarray(got), want)
        numbers = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(np.asarray(got))[numbers], np.signbit(want)[numbers])

    numbers = [0.5, -0.5, 3, -3, 0.0, float("inf")]
    texts = [f"x {SYMBOLS[op]} {n}" for n in numbers[:-1]] + [f"{n} {SYMBOLS[op]} x" for n in numbers[:-1]]
    known = source(tmp_path_factory, [("x", text) for text in texts])
    with np.errstate(all="ignore"):
        for of in (op, bf.function(binary[op], level=0), bf.function(binary[op], level=2)):
            expect(of(bf.tensor(x), bf.tensor(y)), op(x, y))
            for number in numbers:
                expect(of(bf.tensor(x), number), op(x, number))
                expect(of(number, bf.tensor(x)), op(number, x))
            expect(of(bf.tensor(x), bf.tensor(dtype(-2.5))), op(x, dtype(-2.5)))
            expect(of(bf.tensor(dtype(7)), bf.tensor(x)), op(dtype(7), x))
            expect(of(bf.tensor(x[:0]), 2.0), op(x[:0], 2.0))
        for f in known:
            for level in (0, 2):
                expect(bf.function(f, level=level)(x), f(x))
