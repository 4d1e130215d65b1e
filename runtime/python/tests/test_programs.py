"""Each program compiled, on all levels, against itself on NumPy arrays: values, dtypes, shapes, what is printed."""

import contextlib
import copy
import dataclasses
import io

import numpy as np
import pytest

import befrost as bf
from programs import PROGRAMS


def compare(got, want, at="result"):
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
def test_program(program, level, queue):
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
