"""Functions of Python's numbers and of functions, written in Python as those of `composed`: `math`, `functools`; and the
module `operator`."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ... import tf
from .. import arithmetic
from ..errors import Refused
from ..values import Weak, is_staged
from .composed import composed, refuse
from .registry import NONE, TABLE, entry


@composed(math.prod)
def prod(items: Any, *, start: Any = 1) -> Any:
    made = start
    for part in items:
        made = made * part
    return made


@composed(math.fsum)
def fsum(items: Any) -> Any:
    return float(sum(items))


@composed(math.gcd)
def gcd(a: Any, b: Any) -> Any:
    if not (isinstance(a, (int, np.integer)) and isinstance(b, (int, np.integer))):
        refuse("'math.gcd' of other numbers than integers")
    while b:
        a, b = b, a % b
    return abs(a)


@composed(math.lcm)
def lcm(a: Any, b: Any) -> Any:
    common = math.gcd(a, b)
    return 0 if common == 0 else abs(a) // common * abs(b)


@composed(math.dist)
def dist(p: Any, q: Any) -> Any:
    return math.sqrt(sum((a - b) * (a - b) for a, b in zip(p, q)))


@composed(math.isclose)
def isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    a, b = float(a), float(b)
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


@composed(math.copysign)
def copysign(x: Any, y: Any) -> Any:
    return float(np.copysign(float(x), float(y)))


@composed(math.lgamma)
def lgamma(x: Any) -> Any:
    return float(tf.Lgamma(float(x)))


@composed(math.erf)
def erf(x: Any) -> Any:
    return float(tf.Erf(float(x)))


@composed(math.erfc)
def erfc(x: Any) -> Any:
    return float(tf.Erfc(float(x)))


@composed(functools.reduce)
def reduce(function: Any, items: Any, initial: Any = NONE) -> Any:
    parts = list(items)
    if initial is NONE:
        initial, parts = parts[0], parts[1:]
    for part in parts:
        initial = function(initial, part)
    return initial


def _add_operators() -> None:
    for kind, (_, function, _) in arithmetic.BINARY.items():
        TABLE[function] = lambda interp, x, y, kind=kind: interp.operate(kind, x, y)
    for kind, (_, function, _) in arithmetic.COMPARISONS.items():
        TABLE[function] = lambda interp, x, y, kind=kind: interp.compare(kind(), x, y)
    for kind, (_, unary) in arithmetic.UNARY.items():
        TABLE[unary] = lambda interp, x, kind=kind: arithmetic.unary(interp.emit, kind, x)


_add_operators()


@entry(operator.getitem)
def getitem(interp: Any, x: Any, index: Any) -> Any:
    return interp.item(x, index)


@entry(operator.not_)
def not_(interp: Any, x: Any) -> Any:
    found = arithmetic.truth(interp.emit, x)
    return not found if isinstance(found, bool) else Weak("bool", interp.emit.op("LogicalNot", [found])[0])


@entry(operator.truth)
def truth(interp: Any, x: Any) -> Any:
    found = arithmetic.truth(interp.emit, x)
    return found if isinstance(found, bool) else Weak("bool", found)


@entry(functools.partial)
def partial(interp: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    if is_staged(function) or not callable(function):
        raise Refused("'functools.partial' of a function that is defined in the compiled one: write a lambda", code="P0112")
    return functools.partial(function, *args, **kwargs)


