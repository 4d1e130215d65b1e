"""Arrays with two names: an assignment to an element that NumPy would show under the other name is refused; one of a
copy is not."""

import linecache
from typing import Any, Callable

import numpy as np
import pytest

import befrost as bf

SOURCES = ["x.copy()", "np.array([3., -1., 2., 7.])"]
VIEWS = [
    "y", "y[1:]", "y[::-1]", "y[None]", "y[...]", "y[n - 1:]", "y.ravel()", "y.reshape(2, 2)", "y.reshape(2, 2).T",
    "y.reshape(2, 2, order='F')", "y.reshape(2, 2)[0]", "y.reshape(2, 2)[n - 1]", "y.reshape(2, 2)[:, n - 1]",
    "(y.reshape(2, 2)[n - 1], 1)", "y.reshape(2, 2).diagonal()", "y.squeeze()", "y.real", "y.astype(float, copy=False)",
    "np.asarray(y)", "np.ascontiguousarray(y)", "np.array(y, copy=False)", "np.real(y)", "np.flip(y)", "np.split(y, 2)",
    "np.array_split(y, 3)", "np.broadcast_to(y, (2, 4))", "np.broadcast_arrays(y, y)[0]", "np.atleast_2d(y)",
    "np.atleast_3d(y)", "np.expand_dims(y, 0)", "np.diag(y.reshape(2, 2))", "np.swapaxes(y.reshape(2, 2), 0, 1)",
    "np.moveaxis(y.reshape(2, 2), 0, 1)", "np.rot90(y.reshape(2, 2))", "[v for v in y.reshape(2, 2)]",
    "list(y.reshape(2, 2))", "[y, x][1 - n]", "[y, x][1 - n:][0]", "{'a': y}", "y if x[0] > 0 else x", "(lambda a: a)(y)",
]
COPIES = [
    "y.copy()", "y.flatten()", "y.astype(float)", "y.tolist()", "y + 0", "+y", "y * 1", "y[0]", "y[[0, 1]]", "y[y > 0]",
    "float(y[n])", "np.array(y)", "np.copy(y)", "np.sort(y)", "np.take(y, [0, 1])", "np.take(y, n)", "np.concatenate([y])",
    "np.where(True, y, y)", "np.positive(y)", "np.round(y)", "np.floor(y)", "np.abs(y)", "np.clip(y, 0, 9)", "np.stack([y])",
    "np.array([y])", "np.tile(y, 1)", "np.repeat(y, 1)", "np.roll(y, 1)", "np.pad(y, 1)", "np.meshgrid(y, y)[0]",
    "np.nan_to_num(y)", "np.trace(y.reshape(2, 2))",
]


def function_of(source: str, name: str) -> Callable[..., Any]:
    text = f"def f(x, n):\n    y = {source}\n    z = {name}\n    y[0] = 99.\n    return z\n"
    file = f"<alias {source} {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    found: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), found)
    f: Callable[..., Any] = found["f"]
    return f


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", VIEWS)
def test_view(source: str, name: str) -> None:
    with pytest.raises(bf.CompileError, match="'y' is assigned, but 'z.*' is the same array or a view of it") as found:
        bf.function(function_of(source, name))(np.array([3., -1., 2., 7.]), np.int64(1))
    assert found.value.lineno == 4


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", COPIES)
def test_copy(source: str, name: str) -> None:
    f = function_of(source, name)
    x, n = np.array([3., -1., 2., 7.]), np.int64(1)
    np.testing.assert_array_equal(np.asarray(bf.function(f)(x, n)), np.asarray(f(x, n)))
