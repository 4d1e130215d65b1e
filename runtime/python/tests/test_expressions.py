"""Expressions of NumPy functions, methods, operators and index forms, on arrays and numbers of several dtypes: values,
dtypes, and what is refused."""

import copy
import pathlib
import warnings
from typing import Any

import numpy as np
import pytest

import befrost as bf
import expressions
from loading import written
from test_programs import compare

A = np.array
ARRAYS = [
    (A([1, 2, 3, 4]), A([4, 3, 2, 1])),
    (A([1.5, -2.5, 3.25, 0.0]), A([0.5, 3.0, -2.0, 4.0])),
    (A([1, 2, 3, 4], np.float32), A([4, 3, 2, 1], np.float32)),
    (A([1, 250, 3, 4], np.uint8), A([4, 3, 2, 1], np.int32)),
    (A([1.0, np.nan, -np.inf, 2.0]), A([1.0, 0.0, 3.0, np.nan])),
]
# What Python's numbers do and 64 bits or IEEE's division do not: FUNCTIONS.md.
NUMBERS = [
    (7, 2), (-7, 2), (0, 3), (7, -2), (True, False), (7.5, 2), (-7.5, 2.0), (float("nan"), 1.0),
    *[(kind(x), kind(y)) for kind in (np.int64, np.int8, np.float64, np.float32) for x, y in [(-7, 2), (7, -3), (0, 5)]],
    (np.uint8(7), np.uint8(3)), (np.int64(5), 2), (5, np.int64(3)), (np.uint8(200), np.int8(2)), (np.bool_(True), np.bool_(True)),
    (np.float64(0), np.float64(0)), (np.float64(1), np.float64(0)), (np.float64(np.inf), np.float64(2)),
    (np.float64(-5), np.float64(np.inf)), (np.int64(1), np.int64(70)), (np.int64(-9), np.int64(-1)),
]
PYTHONS_OWN = (ZeroDivisionError, OverflowError, ValueError)


def is_pythons(part: Any) -> Any:
    return isinstance(part, (bool, int, float)) and not isinstance(part, np.generic)


def check(f: Any, compiled: Any, args: Any) -> Any:
    """Compares a call. Returns what differs."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            want = f(*copy.deepcopy(args))
    except Exception as error:
        want = error
    try:
        got = compiled(*args)
    except bf.CompileError as error:
        return None if isinstance(want, Exception) else f"{error}; NumPy gives {want!r}"
    except bf.Error as error:
        is_same = isinstance(want, Exception) and isinstance(error, (type(want), ValueError))
        is_known = any(map(is_pythons, args)) or "zero" in str(error)
        return None if is_same or is_known else f"{error!r}; NumPy {want!r}"
    if isinstance(want, Exception):
        return None if any(map(is_pythons, args)) and isinstance(want, PYTHONS_OWN) else f"{got!r}; NumPy {want!r}"
    try:
        compare(got, want)
    except AssertionError as error:
        return str(error)[:300]
    return None


def functions(tmp_path: pathlib.Path, parameters: Any, lines: Any) -> Any:
    text = ["import functools, itertools, math, operator", "import numpy as np"]
    for i, line in enumerate(lines):
        text += [f"def f{i}({parameters}):", f"    return {line}"]
    module = written(tmp_path / "expressions_of_lines.py", "\n".join(text) + "\n")
    return [getattr(module, f"f{i}") for i in range(len(lines))]


def test_on_tensors(tmp_path: pathlib.Path) -> None:
    """The same on Tensors, operator by operator."""
    lines = expressions.ARRAYS.strip().split("\n")
    wrong = []
    for line, f in zip(lines, functions(tmp_path, "a, b", lines)):
        for args in ARRAYS[1:3]:
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    want = f(*args)
            except (TypeError, ValueError, IndexError):
                continue
            try:
                compare(f(*map(bf.tensor, args)), want)
            except Exception as error:
                wrong.append(f"{line} {args}: {error!r}"[:300])
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("parameters,text,cases", [
    ("a, b", expressions.ARRAYS, ARRAYS), ("x, y", expressions.NUMBERS, NUMBERS)], ids=["arrays", "numbers"])
def test_expressions(parameters: Any, text: Any, cases: Any, tmp_path: pathlib.Path) -> None:
    lines = text.strip().split("\n")
    wrong, n_right = [], 0
    for i, (line, f) in enumerate(zip(lines, functions(tmp_path, parameters, lines))):
        compiled = bf.function(f, level=2 if i % 4 == 0 else 0)
        for args in cases:
            found = check(f, compiled, args)
            n_right += found is None
            if found:
                wrong.append(f"{line} {args}: {found}")
    assert not wrong, f"{len(wrong)} of {len(wrong) + n_right}:\n" + "\n".join(wrong[:60])
