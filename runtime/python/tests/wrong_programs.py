"""Programs that are wrong or hostile: right ones of `random_programs` with mistakes, and texts of a grammar of trouble.
Each is compiled, or refused with a line, in bounded time; what is compiled ends at its time limit.

    python wrong_programs.py [count [first seed]]
"""

import ast
import os
import pathlib
import random
import sys
import tempfile
import time
import traceback
import warnings
from typing import Any

import numpy as np

import befrost as bf
from loading import module
from random_programs import Maker

# Limit of the seconds that one program takes, on a machine with other work.
SECONDS = 40.0
STATEMENTS = [
    "try:\n    a = b\nexcept ValueError:\n    pass", "with open('x') as a:\n    pass", "yield a", "global a", "import random",
    "a = random.random()", "del a", "del items[0]", "class C:\n    pass", "raise ValueError(a)", "return items",
    "while True:\n    a = a + 1", "while True:\n    pass", "a = lambda v: a(v)", "a = a[a]", "a, b = b", "a = [a] * 100000",
    "for i in range(10 ** 9):\n    a += i", "a = 1 << 100000", "a = 'x' * (1 << 30)", "a = (lambda v: v(v))(lambda v: v(v))",
    "items.append(items)", "a = items == items", "x[0] = a", "y[a] = y", "y = x\ny[0] = 1", "assert a, undefined", "a.b = 1",
    "print(*items, sep=a)", "a = f'{a:{b}}'", "a = x @ y @ x", "a = np.zeros((a, b))", "a = np.zeros(1 << 60)", "a = __import__('os')",
    "a = [a for a in a]", "a = {a: b}", "a = {a, b}", "a = x[::0]", "a = x[1:2, 3, None, ...]", "match a:\n    case [1, *b]:\n        a = b",
    "a = max()", "a = sum(items, items)", "a = sorted(items, key=lambda v: undefined)", "a = isinstance(a, b)", "a = a if a else None",
    "nonlocal a", "a = yield", "a = await b", "a: int", "a = b = c = d = undefined", "a = ~1.5", "a = -'x'", "a = not x", "a = x or y",
    "def g(v):\n    return g(v - 1)\na = g(a)", "def g(*v, **w):\n    return v[9]\na = g(a, b=b)", "a = np.reshape(x, (a, -1))",
    "a = np.sum(x, axis=a)", "a = np.concatenate([x, a])", "a = np.where(x)", "a = np.random.rand()", "a = int('x')", "a = float(x)",
    "a = divmod(x, 0)", "a = 5 % 0", "a = n % 0", "a = x.sum(axis=7)", "a = x.undefined", "a = np.undefined(x)", "a = x(1)", "a = None + a",
    "for a in a:\n    pass", "for i in items:\n    items.append(i)", "while a:\n    items.append(a)\n    a = items", "a = bool(x)",
]
NAMES = ["a", "b", "c", "d", "x", "y", "n", "k", "items", "pair", "undefined", "np", "None", "True"]


class Mistakes(ast.NodeTransformer):
    """A few changes at random places."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.left = draw.randrange(1, 4)

    def is_here(self) -> Any:
        if self.left and self.draw.random() < 0.03:
            self.left -= 1
            return True
        return False

    def visit_Name(self, node: Any) -> Any:
        return ast.copy_location(ast.Name(self.draw.choice(NAMES[:11]), node.ctx), node) if self.is_here() else node

    def visit_Constant(self, node: Any) -> Any:
        if not self.is_here():
            return node
        value = self.draw.choice([None, "text", 1e308, -1, 1 << 63, 1j, True, float("nan"), b"", ...])
        return ast.copy_location(ast.Constant(value), node)

    def visit_JoinedStr(self, node: Any) -> Any:
        return node  # its parts are no expressions

    def visit_BinOp(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.is_here():
            node.op = self.draw.choice([ast.MatMult(), ast.Pow(), ast.LShift(), ast.Div(), ast.FloorDiv(), ast.BitAnd()])
        return node

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.is_here():
            node.args = node.args[:-1] if self.draw.random() < 0.5 else [*node.args, ast.Constant(2)]
        return node

    def visit_Assign(self, node: Any) -> Any:
        self.generic_visit(node)
        return self.changed(node)

    visit_AugAssign = visit_Expr = visit_Assign

    def changed(self, node: Any) -> Any:
        if not self.is_here():
            return node
        if self.draw.random() < 0.2:
            return ast.Pass()
        return [node, *ast.parse(self.draw.choice(STATEMENTS)).body]


def source(seed: Any) -> Any:
    """A program with mistakes; as text it is a right one, but for its meaning."""
    draw = random.Random(seed)
    while True:
        if draw.random() < 0.3:
            body = "\n".join(draw.choice(STATEMENTS) for _ in range(draw.randrange(1, 5)))
            lines = ["import numpy as np", "def f(x, n, k, z):", "    a, b, c, d = n * 1, k * 1, 1, 2", "    items = [1, n]",
                     "    y = np.zeros(3)", *("    " + line for line in body.split("\n")), "    return a, x"]
            text = "\n".join(lines) + "\n"
        else:
            tree = ast.parse(Maker(seed).program())
            tree.body[-1] = Mistakes(draw).visit(tree.body[-1])
            text = ast.unparse(ast.fix_missing_locations(tree))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(text, "<program>", "exec")
        except (SyntaxError, ValueError):
            continue
        return text


def run(seed: Any, folder: Any) -> Any:
    """What a program came to: "runs", a code, the class of a failure; or raises an AssertionError."""
    path = os.path.join(folder, f"wrong_{seed}.py")
    with open(path, "w") as file:
        file.write(source(seed))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        f = bf.function(module(pathlib.Path(path)).f, level=seed % 3, unroll=200, timeout=1.0, max_memory=1 << 28)
        begun = time.monotonic()
        try:
            f(np.arange(3.0), np.int64(2), np.int64(-1), np.float64(0.5))
            found = "runs"
        except bf.CompileError as error:
            lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
            assert lines or error.code == "P0110", f"a refusal without a line: {error}"
            assert error.code != "P0100", f"an exception of the front end: {error}\n{traceback.format_exc()}"
            found = error.code
        except bf.Error as error:
            found = type(error).__name__
        took = time.monotonic() - begun
    assert took < SECONDS, f"it took {took:.1f} s"
    return found


def main() -> Any:
    count, seed = map(int, (sys.argv[1:] + ["200", "1"][len(sys.argv) - 1:])[:2])
    found: dict[str, int] = {}
    sys.stdout, out = open(os.devnull, "w"), sys.stdout
    with tempfile.TemporaryDirectory() as folder:
        for i in range(seed, seed + count):
            try:
                what = run(i, folder)
            except Exception:
                print(source(i), f"seed {i} fails:", traceback.format_exc(), sep="\n", file=out)
                return 1
            found[what] = found.get(what, 0) + 1
    print(f"{count} wrong programs:", ", ".join(f"{what} {n}" for what, n in sorted(found.items())), file=out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
