"""Gradients of compiled functions against finite differences."""

from typing import Any, Callable

import numpy as np
import pytest

import befrost as bf

FUNCTIONS: list[Any] = []


def case(*args: Any) -> Callable[[Any], Any]:
    def add(f: Any) -> Any:
        FUNCTIONS.append((f, args))
        return f
    return add


@case(np.array([0.5, -1.0, 2.0]))
def plain(x: Any) -> Any:
    return np.sum(np.sin(x) * x ** 2)


@case(np.array([0.5, 1.0]))
def branch(x: Any) -> Any:
    if np.sum(x) > 1:
        return np.sum(x * x)
    return np.sum(-x)


@case(np.array([0.3, 0.2]))
def loop(x: Any) -> Any:
    y = x
    n = 0
    while np.sum(y) < 20:
        y = y * 2 + x
        n += 1
    return np.sum(y) * 0.5


@case(np.float64(1.3))
def for_with_exit(x: Any) -> Any:
    total = 0.0
    for i in range(10):
        if total > 8:
            break
        total = total + x ** i
    return total


@case(np.array([[0.1, 0.4], [0.3, -0.2]]))
def network(w: Any) -> Any:
    h = np.ones(2)
    for _ in range(3):
        h = np.tanh(h @ w)
    return np.sum(h * h)


@case(np.array([1.0, 2.0, 3.0]))
def elements(x: Any) -> Any:
    total = 0.0
    for v in x:
        if v > 1.5:
            total += v * v
        else:
            total -= v
    return total


def numeric(f: Any, x: Any) -> Any:
    x = np.asarray(x, np.float64)
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = 1e-6
        out[i] = (f(x + step) - f(x - step)) / 2e-6
    return out


@pytest.mark.parametrize("level,queue", [(0, "s"), (2, "s"), (2, "mstd:2")])
@pytest.mark.parametrize("f,args", FUNCTIONS, ids=[f.__name__ for f, _ in FUNCTIONS])
def test_gradient(f: Any, args: Any, level: Any, queue: Any) -> None:
    got = bf.grad(f, level=level, work_queue=queue)(*args)
    np.testing.assert_allclose(np.asarray(got), numeric(f, args[0]), rtol=1e-5, atol=1e-7)


def test_value_structures_and_inner_use() -> None:
    def loss(params: Any, x: Any) -> Any:
        w, b = params["w"], params["b"]
        return np.sum((x @ w + b) ** 2)

    params = {"w": np.array([1.0, -2.0]), "b": np.float64(0.5)}
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    value, got = bf.value_and_grad(loss)(params, x)
    assert value.item() == loss(params, x)
    np.testing.assert_allclose(got["w"], numeric(lambda w: loss({**params, "w": w}, x), params["w"]), rtol=1e-5)

    @bf.function
    def fit(params: Any, x: Any) -> Any:
        for _ in bf.range(50):
            g = bf.grad(loss)(params, x)
            params = {"w": params["w"] - 0.01 * g["w"], "b": params["b"] - 0.01 * g["b"]}
        return params

    assert loss({k: np.asarray(v) for k, v in fit(params, x).items()}, x) < 0.1 * loss(params, x)


def test_refused() -> None:
    with pytest.raises(bf.CompileError, match="rank 0"):
        bf.grad(lambda x: x)(np.ones(2))
    with pytest.raises(bf.CompileError, match="float dtype"):
        bf.grad(lambda x: x)(np.int64(1))


def test_gradients_of_gradients() -> None:
    cube = bf.grad(lambda x: x**3)
    assert bf.grad(cube)(2.0) == 12 and bf.grad(bf.grad(cube))(2.0) == 6
    assert [float(part) for part in bf.value_and_grad(bf.grad(lambda x, y: x * x * y), 1)(2.0, 3.0)] == [12.0, 4.0]


def test_arguments_of_all_kinds() -> None:
    def f(x: Any, *rest: Any, k: Any = 2.0, **named: Any) -> Any:
        return x * rest[0] * k * named["z"]

    assert bf.grad(f)(3.0, 4.0, k=5.0, z=2.0) == 40 and bf.grad(f, 1)(3.0, 4.0, z=1.0) == 6


def test_remainders() -> None:
    """Where the remainder is zero, too, as in TensorFlow."""
    x, y = np.array([3.0, 4.0, -1.0, -4.0, 0.0]), np.array([2.0, -2.0, 3.0, 2.0, 1.0])
    assert bf.grad(lambda x: np.sum(x % 2.0))(x).tolist() == [1.0] * 5
    by_x, by_y = bf.grad(lambda x, y: np.sum(x % y), wrt=(0, 1))(x, y)
    assert by_x.tolist() == [1.0] * 5 and by_y.tolist() == [-1.0, 2.0, 1.0, 2.0, 0.0]
