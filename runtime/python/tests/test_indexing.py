"""Random index forms against NumPy: reading and assigning, static and staged."""

import pathlib
import random
from typing import Any

import numpy as np

import befrost as bf
from loading import written

COUNT = 400
SHAPE = (4, 3, 5)


def part(draw: Any, size: Any) -> Any:
    kind = draw.randrange(9)
    if kind == 0:
        return ":"
    if kind == 1:
        return str(draw.randrange(-size, size))
    if kind == 2:
        return "i"
    if kind == 3:
        return "j"
    if kind == 4:
        return f"{draw.choice(['', '-2', '1', 'i'])}:{draw.choice(['', '-1', '2', '9'])}"
    if kind == 5:
        return draw.choice(["::-1", "::2", "-1:0:-1", "1::2"])
    if kind == 6:
        return draw.choice(["[0, 2]", "[1, -1]", "k"])
    if kind == 7:
        return f"np.arange({size}) % 2 == 0"
    return "..."


def index(draw: Any) -> Any:
    n = draw.randrange(1, 4)
    sizes = list(SHAPE)
    parts, at = [], 0
    for _ in range(n):
        text = part(draw, sizes[min(at, 2)])
        if text == "...":
            if "..." in parts:
                text = ":"
            else:
                parts.append(text)
                break
        parts.append(text)
        at += 1
        if draw.random() < 0.15:
            parts.append("None")
    return ", ".join(parts)


def test_random_indices(tmp_path: pathlib.Path) -> None:
    draw = random.Random(7)
    texts = [index(draw) for _ in range(COUNT)]
    lines = ["import numpy as np"]
    for n, text in enumerate(texts):
        lines += [f"def get{n}(x, i, j, k):", f"    return x[{text}]", f"def put{n}(x, i, j, k):", "    y = x * 1",
                  f"    y[{text}] = -7", f"    y[{text}] += 2", "    return y"]
    module = written(tmp_path / "indices.py", "\n".join(lines))
    x = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    wrong, refused = [], 0
    for n, text in enumerate(texts):
        for name in ("get", "put"):
            f = getattr(module, f"{name}{n}")
            args = (x, np.int64(draw.randrange(-3, 3)), np.int64(draw.randrange(0, 3)), np.array([2, 0]))
            try:
                want = f(*args)
            except IndexError as error:
                want = error
            try:
                got = np.asarray(bf.function(f, level=draw.choice([0, 2]))(*args))
            except (bf.CompileError, IndexError, ValueError) as error:
                refused += 1
                if not isinstance(want, Exception):
                    wrong.append(f"{name} x[{text}] {args[1:]}: {error}")
                continue
            if isinstance(want, Exception):
                wrong.append(f"{name} x[{text}] {args[1:]}: {got.shape}, NumPy refuses: {want}")
            elif got.shape != want.shape or not (got == want).all():
                wrong.append(f"{name} x[{text}] {args[1:]}: {got.shape} {got.ravel()[:6]}, NumPy {want.shape} {want.ravel()[:6]}")
    assert refused < COUNT // 2, refused
    assert not wrong, f"{len(wrong)} of {2 * COUNT}:\n" + "\n".join(wrong[:30])
