"""Where sources come from, and hostile ones: an error with a line, in bounded time and memory."""

import builtins
import contextlib
import functools
import linecache
import pathlib
import random
import resource
import subprocess
import sys
import threading
import time
from typing import Any, Iterator

import numpy as np
import pytest

import befrost as bf
from loading import written


def load(tmp_path: pathlib.Path, source: Any, name: Any = "hostile") -> Any:
    return written(tmp_path / f"{name}.py", source)


def refused(f: Any, *args: Any) -> Any:
    with pytest.raises(bf.CompileError) as info:
        bf.function(f)(*args)
    return info.value


@contextlib.contextmanager
def bounded(seconds: float, megabytes: int) -> Iterator[None]:
    """Asserts that what happens takes no more time and memory."""
    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

    begun, before = time.monotonic(), peak()
    yield
    assert time.monotonic() - begun < seconds and peak() - before < megabytes


def test_lambdas_in_a_line() -> None:
    f, g, h = (lambda x: x + 1), (lambda x: x + 2), (lambda x: (lambda y: y * 3)(x))
    assert [bf.function(k)(np.int64(1)).item() for k in (f, g, h)] == [2, 3, 3]
    f, g, h = (lambda x: x + 1), (lambda x: x), (lambda x: (lambda y: y)(x + 2))  # bodies of one instruction
    assert [bf.function(k)(np.int64(1)).item() for k in (f, g, h)] == [2, 1, 3]


def test_decorated_and_methods() -> None:
    def twice(f: Any) -> Any:
        @functools.wraps(f)
        def run(x: Any) -> Any:
            return f(f(x))
        return run

    @bf.function
    @twice
    def add(x: Any) -> Any:
        return x + 1

    class Model:
        def __init__(self, w: Any) -> None:
            self.w = np.asarray(w)

        @bf.function
        def __call__(self, x: Any) -> Any:
            return x @ self.w

    assert add(np.int64(1)).item() == 3
    assert Model([1.0, 2.0]).__call__(np.array([3.0, 4.0])).item() == 11.0


def test_interactive_source() -> None:
    text = "def f(x):\n    if x > 0:\n        return x * 2\n    return -x\n"
    name = "<ipython-input-7-abcdef>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope: dict[str, Any] = {}
    exec(compile(text, name, "exec"), scope)
    f = bf.function(scope["f"])
    assert f(np.int64(2)).item() == 4 and f(np.int64(-2)).item() == 2


def test_no_source() -> None:
    scope: dict[str, Any] = {}
    exec("def f(x):\n    return x\n", scope)
    assert "file, a notebook" in str(refused(scope["f"], 1))


def test_changed_file(tmp_path: pathlib.Path) -> None:
    f = load(tmp_path, "def f(x):\n    return x + 1\n").f
    (tmp_path / "hostile.py").write_text("\n\n\ndef g(x):\n    return x\n")
    linecache.checkcache()
    assert "changed" in str(refused(f, 1))


def test_many_statements(tmp_path: pathlib.Path) -> None:
    source = "def f(x):\n" + "    x = x + 1\n" * 100000 + "    return x\n"
    with bounded(120, 1500):
        assert bf.function(load(tmp_path, source).f, level=0)(np.int64(0)).item() == 100000


def test_nested_ifs(tmp_path: pathlib.Path) -> None:
    lines = ["def f(x):"]
    lines += ["    " + " " * i + f"if x > {i}:" for i in range(90)] + ["    " + " " * 90 + "x = x + 1", "    return x"]
    assert bf.function(load(tmp_path, "\n".join(lines)).f, level=0)(np.int64(100)).item() == 101


def test_elif_chain(tmp_path: pathlib.Path) -> None:
    lines = ["def f(x):", "    if x == 0:", "        y = 0"]
    for i in range(1, 1000):  # Python itself takes less than 3,000
        lines += [f"    elif x == {i}:", f"        y = {i}"]
    lines += ["    else:", "        y = -1", "    return y"]
    f = bf.function(load(tmp_path, "\n".join(lines)).f)
    with bounded(60, 500):
        assert [f(np.int64(x)).item() for x in (0, 120, 999, 1000)] == [0, 120, 999, -1]


def test_nested_conditional_expressions(tmp_path: pathlib.Path) -> None:
    text = "x"
    for i in range(900):
        text = f"{i} if x > {i} else {text}"
    f = bf.function(load(tmp_path, f"def f(x):\n    return {text}\n").f, level=0)
    with bounded(60, 500):
        assert (f(np.int64(5)).item(), f(np.int64(-3)).item()) == (4, -3)


def test_types_that_grow_in_nested_loops(tmp_path: pathlib.Path) -> None:
    # The type of `h` needs a try more for each name that it goes through, in each of the loops.
    names, indent = "abcdefgh", "    "
    lines = ["def f(x):", *(f"    {name} = 0" for name in names)]
    for depth in range(5):
        lines.append(f"{indent}while x > {depth}:")
        indent += "    "
        lines += [f"{indent}{a} = {b} * 2" for a, b in zip(names, names[1:])]
        lines += [f"{indent}h = x * 0.5", f"{indent}x = x - 1"]
    made = load(tmp_path, "\n".join([*lines, "    return a, h"])).f
    with bounded(60, 500):
        got = bf.function(made, level=0)(np.float64(3))
    assert [part.item() for part in got] == list(made(np.float64(3)))


# The head of a loop, and what stands before the loop and at the end of its body, with the depth as {i}.
NESTS = {
    "for": ("for i{i} in bf.range(2):", [], []),
    "break": ("for i{i} in range(2):", [], ["if t > x:", "    break"]),
    "while": ("while i{i} < x:", ["i{i} = 0"], ["i{i} += 1", "if t > 7:", "    return t"]),
    "always": ("while True:", ["i{i} = 0"], ["i{i} += 1", "y{i} = i{i}", "if y{i} >= x:", "    break"]),
    "list": ("while len(items{i}) < x:", ["items{i} = []"], ["items{i}.append(t)"]),
}


@pytest.mark.parametrize("name", NESTS)
def test_nested_loops(tmp_path: pathlib.Path, name: str) -> None:
    # Twice as many interpretations of the body with each level would be more than the limit of statements.
    depth = 19
    head, before, behind = NESTS[name]
    lines = ["import befrost as bf", "def f(x):", "    t = x * 0"]
    for i in range(depth):
        lines += ["    " * (i + 1) + line.format(i=i) for line in [*before, head]]
    lines.append("    " * (depth + 1) + "t = t + 1")
    for i in reversed(range(depth)):
        lines += ["    " * (i + 2) + line.format(i=i) for line in behind]
    made = load(tmp_path, "\n".join([*lines, "    return t"])).f
    with bounded(60, 500):
        assert bf.function(made, level=0)(np.int64(1)).item() == made(np.int64(1))


def test_many_ifs(tmp_path: pathlib.Path) -> None:
    source = "def f(x):\n" + "    if x > 0:\n        x = x + 1\n" * 3000 + "    return x\n"
    with bounded(120, 150):
        assert bf.function(load(tmp_path, source).f)(np.int64(1)).item() == 3001


def test_many_choices_of_arrays(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from befrost._staging import joins

    monkeypatch.setattr(joins, "MAX_ROOTS", 8)
    source = "def f(x, n):\n" + "    if n > 0:\n        x = x + 1\n" * 7 + "    return x\n"
    assert bf.function(load(tmp_path, source).f)(np.zeros(2), 1).tolist() == [7, 7]
    more = source.replace("    return x", "    if n > 1:\n        x = x + 1\n    return x")
    found = refused(load(tmp_path, more, "more").f, np.zeros(2), 1)
    assert (found.code, found.lineno) == ("P0110", 16)


def test_names_in_a_chain_of_conditions(tmp_path: pathlib.Path) -> None:
    # Each else is interpreted once, though a part of each condition assigns a name.
    lines = ["def f(x):", "    if x > 99 and (m := x * 2) > 7:", "        y = 99"]
    for i in reversed(range(30)):
        lines += [f"    elif x > {i} and (m := x * 3) > 7:", f"        y = {i}"]
    made = load(tmp_path, "\n".join([*lines, "    else:", "        y = -1", "    return y"])).f
    f = bf.function(made, level=0)
    assert [f(np.int64(x)).item() for x in (100, 30, 5, 1, -1)] == [made(x) for x in (100, 30, 5, 1, -1)]


def test_guarded_cases(tmp_path: pathlib.Path) -> None:
    # The cases behind one with a guard are interpreted once, though two ways lead to them.
    cases = "".join(f"        case {i} | {i + 1} as k if y > {i}:\n            r = {i} + k\n" for i in range(24))
    source = f"def f(x, y):\n    match x:\n{cases}        case k:\n            r = 100 + k\n    return r\n"
    made = load(tmp_path, source).f
    f = bf.function(made, level=0)
    for x in (0, 5, 6, 7, 23, 30):
        assert f(np.int64(x), np.int64(6)).item() == made(x, 6)


def test_endless_static_loop() -> None:
    def f(x: Any) -> Any:
        n = 0
        while n >= 0:
            n += 1
        return x

    assert "unroll" in str(refused(f, np.int64(1)))


def test_types_that_never_stay() -> None:
    def f(x: Any) -> Any:
        while np.sum(x) > 0:
            x = np.stack([x, x])
        return x

    assert "before the loop" in str(refused(f, np.ones(2)))


def test_growing_tuple() -> None:
    def f(x: Any) -> Any:
        t: tuple[Any, ...] = ()
        while x > 0:
            t = t + (x,)
            x = x - 1
        return t

    assert "tuple" in str(refused(f, np.int64(3)))


def test_huge_static_numbers() -> None:
    def f(x: Any) -> Any:
        return x + 10 ** 10 ** 6

    def g(x: Any) -> Any:
        return [x] * (1 << 40)

    def h(x: Any) -> Any:
        return x + (1 << 70)

    def repeated_tuple(x: Any) -> Any:
        return (x,) * (1 << 40)

    def repeated_text(x: Any) -> Any:
        return x + len("a" * (1 << 40))

    for function in (f, g, h, repeated_tuple, repeated_text):
        refused(function, np.int64(1))


def test_truth_that_raises() -> None:
    class Odd:
        def __bool__(self) -> None:
            raise RuntimeError("no truth")

    odd = Odd()

    def f(x: Any) -> Any:
        return x if odd else -x

    assert "no truth" in str(refused(f, np.int64(1)))


def test_patched_builtins(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return abs(x)

    monkeypatch.setattr(builtins, "abs", lambda v: v * 10)
    assert bf.function(f)(np.int64(-2)).item() == -20


def test_arguments() -> None:
    def f(x: Any) -> Any:
        return x

    for wrong in (np.array(["a"]), np.array([object()]), np.zeros(2, np.longdouble)):
        with pytest.raises(TypeError):
            bf.function(f)(wrong)
    with pytest.raises(TypeError):
        bf.function(f)()
    with pytest.raises(OverflowError):
        bf.function(f)(1 << 80)
    big_endian = np.array([1, 2], ">i4")
    assert bf.function(f)(big_endian).tolist() == [1, 2]
    strided = np.arange(10)[::3]
    assert bf.function(f)(strided).tolist() == [0, 3, 6, 9]


def test_compilations() -> None:
    @bf.function
    def f(x: Any, k: Any) -> Any:
        return x.sum() * k

    for n in (3, 4, 5, 6):
        f(np.ones(n), 2)
    assert f.stats().compilations == 2
    f(np.ones(3), 7)
    assert f.stats().compilations == 2
    f(np.ones(3, np.float32), 7)
    assert f.stats().compilations == 3


def test_static_arguments() -> None:
    @bf.function(static="n")
    def f(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = x * 2
        return x

    assert f(np.int64(1), 3).item() == 8 and f(np.int64(1), 4).item() == 16
    assert "While" not in f.ir(np.int64(1), 3)


def test_threads() -> None:
    @bf.function
    def f(x: Any) -> Any:
        while x < 1000:
            x = x * 2
        return x

    wrong = []

    def run(seed: Any) -> None:
        draw = random.Random(seed)
        for _ in range(200):
            x = draw.randrange(1, 1000)
            want = x
            while want < 1000:
                want *= 2
            if f(np.int64(x)).item() != want:
                wrong.append(x)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and f.stats().compilations == 1


def test_save(tmp_path: pathlib.Path) -> None:
    @bf.function
    def f(x: Any, k: Any) -> Any:
        return x * k, x.sum()

    path = tmp_path / "f.bef"
    f.save(path, bf.spec((None,), "float32"), 2)
    model = bf.load(path)
    made = model.run({"x": np.ones(3, np.float32), "k": np.int64(4)})
    assert made["result.0"].tolist() == [4.0, 4.0, 4.0] and made[1] == 3.0


def test_a_notebooks_cells() -> None:
    shells = pytest.importorskip("IPython.core.interactiveshell")
    shell = shells.InteractiveShell.instance()
    try:
        first = shell.run_cell("import befrost as bf, numpy as np\n@bf.function\ndef f(x):\n    return x * 2 if x > 0 else -x\n")
        assert first.success
        made = shell.run_cell("[f(np.float64(2)).item(), f(np.float64(-3)).item()]")
        assert made.success and made.result == [4.0, 3.0]
        lambdas = shell.run_cell("g, h = bf.function(lambda x: x + 1), bf.function(lambda x: x - 1)\n[g(3).item(), h(3).item()]")
        assert lambdas.result == [4, 2]
        # The same name in a later cell is another function.
        assert shell.run_cell("@bf.function\ndef f(x):\n    return x + 10\nf(1).item()").result == 11
    finally:
        shells.InteractiveShell.clear_instance()


def test_the_interactive_interpreter() -> None:
    program = "import befrost as bf\n@bf.function\ndef f(x):\n    return x + 1\n\nprint('made', f(2))\n"
    made = subprocess.run([sys.executable, "-i", "-q"], input=program, capture_output=True, text=True)
    # From 3.13 on the interpreter keeps the sources; before it there are none, which is said.
    assert "made 3" in made.stdout or "define the function in a file" in made.stderr
