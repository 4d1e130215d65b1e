"""Each program compiled, on all levels, against itself on NumPy arrays: values, dtypes, shapes, what is printed."""

import contextlib
import copy
import dataclasses
import io
from typing import Any

import numpy as np
import pytest

import befrost as bf
import programs_changes  # noqa: F401: adds to PROGRAMS
from programs import PROGRAMS


def compare(got: Any, want: Any, at: Any = "result") -> None:
    if isinstance(want, (tuple, list)) and not isinstance(want, np.ndarray):
        assert isinstance(got, (tuple, list)) and len(got) == len(want), f"{at}: {got!r}, expected {want!r}"
        assert type(got) is type(want), f"{at}: {type(got)}, expected {type(want)}"
        for i, (g, w) in enumerate(zip(got, want)):
            compare(g, w, f"{at}[{i}]")
    elif isinstance(want, dict):
        assert list(got) == list(want), at
        for k in want:
            compare(got[k], want[k], f"{at}[{k!r}]")
    elif dataclasses.is_dataclass(want) and not isinstance(want, type):
        compare(dataclasses.asdict(got), dataclasses.asdict(want), at)
    elif want is None or isinstance(want, str):
        assert got == want, at
    else:
        g, w = np.asarray(got), np.asarray(want)
        if isinstance(want, (bool, int, float)) and not isinstance(want, np.generic):
            assert g.dtype.kind in {bool: "b", int: "iu", float: "f"}[type(want)], f"{at}: {g.dtype}, expected {want!r}"
        else:
            assert g.dtype == w.dtype, f"{at}: {g.dtype}, expected {w.dtype}"
        assert g.shape == w.shape, f"{at}: shape {g.shape}, expected {w.shape}"
        if w.dtype.kind in "fc":
            tolerance = 2e-3 if w.dtype.itemsize == 2 else 1e-4 if w.dtype.itemsize < 8 else 1e-9
            np.testing.assert_allclose(g, w, rtol=tolerance, atol=1e-6, err_msg=at)
        else:
            np.testing.assert_array_equal(g, w, err_msg=at)


@pytest.mark.parametrize("level,queue", [(0, "s"), (2, "s"), (2, "mstd:2")])
@pytest.mark.parametrize("program", PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_program(program: Any, level: Any, queue: Any) -> None:
    f, runs = program
    compiled = bf.function(f, level=level, work_queue=queue)
    for args in runs:
        want_said, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(want_said):
            want = f(*copy.deepcopy(args))
        with contextlib.redirect_stdout(said):
            got = compiled(*args)
        compare(got, want)
        assert said.getvalue() == want_said.getvalue()


def numbered(k: Any) -> Any:
    if k == 3:
        y = 1.5
    elif k == 2:
        y = 2.5
    elif k == 4:
        y = -1.0
    else:
        y = 0.25
    return y * 2


def early(k: Any) -> Any:
    if k == 404:
        return k + 1
    if k == 200 or k == 201:
        return k - 7
    if k == -1:
        return k * 3
    return k


def matched(k: Any, x: Any) -> Any:
    total = x
    for i in range(3):
        match k:
            case 0:
                total = total + i
            case 1 | 7:
                total = total * 2
                if total > 40:
                    break
            case 2:
                continue
            case _:
                k = 1
    return total, k


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.int8, np.uint16, np.uint64])
def test_comparisons_of_an_integer_are_a_selection(kind: Any) -> None:
    """The graph selects by the number, with the values of Python, at the ends of the type too."""
    limits = np.iinfo(np.int64 if kind is int else kind)
    edges = {0, 1, 2, 3, 4, 5, 7, 200, 201, 404, -1, limits.min, limits.max, limits.min + 3, limits.max - 3}
    numbers = sorted(n for n in edges if limits.min <= n <= limits.max)
    small = limits.max > 404 and limits.min < 0
    for f in (numbered, early, matched) if small else (numbered, matched):
        compiled = bf.function(f)
        for number in numbers:
            with np.errstate(over="ignore"):
                arguments = (kind(number), 3) if f is matched else (kind(number),)
                if f is early and kind is int and number in (limits.min, limits.max):
                    continue
                want, got = f(*arguments), compiled(*arguments)
            np.testing.assert_array_equal(np.asarray(got if f is not matched else [*map(int, got)]), np.asarray(want))
        text = compiled.ir(*arguments)
        # The flags of `break` and `continue` are computed between the comparisons of `matched`.
        assert f is matched or text.count("tf.CaseRegion") == 1, text
        assert f is not numbered or "tf.IfRegion" not in text, text
