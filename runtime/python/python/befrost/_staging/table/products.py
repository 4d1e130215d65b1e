"""Matrix products and linear algebra, complex parts, comparisons of whole arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import arithmetic as a
from ..arithmetic import as_array, run_ufunc
from ..errors import Refused
from ..values import Array, kind_of, kind_of_number, KINDS, ListObject, Weak
from . import composed
from .making import astype
from .reductions import reduction
from .registry import numeric, axes_of, entry, ints_of, METHODS, numpy_function


@numpy_function(np.dot, method="dot")
def dot(interp: Any, x: Any, y: Any) -> Any:
    p, q = as_array(interp.emit, x), as_array(interp.emit, y)
    if p.ndim == 0 or q.ndim == 0:
        return run_ufunc(interp.emit, np.multiply, [p, q])
    if q.ndim <= 2:
        return a.matmul(interp.emit, p, q)
    return tensordot(interp, p, q, ((p.ndim - 1,), (q.ndim - 2,)))


@numpy_function(np.vdot)
def vdot(interp: Any, x: Any, y: Any) -> Any:
    p, q = (interp.call(np.ravel, [as_array(interp.emit, v)], {}) for v in (x, y))
    return dot(interp, run_ufunc(interp.emit, np.conjugate, [p]) if kind_of(p.dtype) == "c" else p, q)


@numpy_function(np.inner)
def inner(interp: Any, x: Any, y: Any) -> Any:
    p, q = as_array(interp.emit, x), as_array(interp.emit, y)
    if p.ndim == 0 or q.ndim == 0:
        return run_ufunc(interp.emit, np.multiply, [p, q])
    return tensordot(interp, p, q, ((p.ndim - 1,), (q.ndim - 1,)))


@numpy_function(np.outer)
def outer(interp: Any, x: Any, y: Any) -> Any:
    p, q = (interp.call(np.ravel, [as_array(interp.emit, v)], {}) for v in (x, y))
    return run_ufunc(interp.emit, np.multiply, [interp.call(np.expand_dims, [p, 1], {}), q])


@numpy_function(np.tensordot)
def tensordot(interp: Any, x: Any, y: Any, axes: Any = 2) -> Any:
    p, q = as_array(interp.emit, x), as_array(interp.emit, y)
    if kind_of_number(axes):
        first, second = list(range(p.ndim - axes, p.ndim)), list(range(axes))
    else:
        pair = interp.all_items(axes)
        first, second = axes_of(interp, pair[0], p.ndim), axes_of(interp, pair[1], q.ndim)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    left = list(letters[:p.ndim])
    right = list(letters[p.ndim:p.ndim + q.ndim])
    for i, j in zip(first, second):
        right[j] = left[i]
    out = [c for i, c in enumerate(left) if i not in first] + [c for j, c in enumerate(right) if j not in second]
    return einsum(interp, f"{''.join(left)},{''.join(right)}->{''.join(out)}", p, q)


@numpy_function(np.einsum)
def einsum(interp: Any, subscripts: Any, *operands: Any) -> Any:
    emit = interp.emit
    parts = [as_array(emit, part) for part in operands]
    dtype = np.result_type(*[part.dtype for part in parts])
    equation = subscripts.replace(" ", "")
    if "->" not in equation:
        counts = {c: equation.count(c) for c in equation if c.isalpha()}
        equation += "->" + ("..." if "..." in equation else "") + "".join(sorted(c for c, n in counts.items() if n == 1))
    if dtype == np.dtype(bool):
        counts = emit.one("Einsum", [emit.id(part, np.int32) for part in parts], equation=equation)
        return run_ufunc(emit, np.not_equal, [counts, 0])
    return emit.one("Einsum", [emit.id(part, dtype) for part in parts], equation=equation)


@numpy_function(np.trace, method="trace")
def trace(interp: Any, x: Any, offset: Any = 0) -> Any:
    array = as_array(interp.emit, x)
    if array.ndim != 2:
        raise Refused("trace of another array than a matrix")
    return interp.call(np.sum, [interp.call(np.diagonal, [array, offset], {})], {})


@numpy_function(np.diagonal, method="diagonal")
def diagonal(interp: Any, x: Any, offset: Any = 0) -> Any:
    array = as_array(interp.emit, x)
    if array.ndim != 2:
        raise Refused("diagonal of another array than a matrix")
    k = _static_diagonal(interp, offset)
    if k:
        return interp.call_python(composed.diagonal_at, [array, k], {}).over([array])
    return interp.emit.one("MatrixDiagPart", [interp.emit.id(array)]).over([array])


@numpy_function(np.diag)
def diag(interp: Any, v: Any, k: Any = 0) -> Any:
    array = as_array(interp.emit, v)
    if array.ndim != 1:
        return diagonal(interp, array, k)
    at = _static_diagonal(interp, k)
    if at:
        return interp.call_python(composed.diagonal_matrix, [array, at], {})
    return interp.emit.one("MatrixDiag", [interp.emit.id(array)])


def _band(interp: Any, x: Any, low: int, high: int) -> Any:
    emit = interp.emit
    array = as_array(emit, x)
    return emit.one("MatrixBandPart", [emit.id(array), emit.constant(low, np.int64), emit.constant(high, np.int64)])


def _static_diagonal(interp: Any, k: Any) -> int:
    found = ints_of(interp, k, "a diagonal")
    if found is None or len(found) != 1:
        raise Refused("the number of a diagonal must be known when the function is compiled", code="P0109")
    return found[0]


@numpy_function(np.tril)
def tril(interp: Any, m: Any, k: Any = 0) -> Any:
    above = _static_diagonal(interp, k)
    if above < 0:
        return interp.call_python(composed.triangle, [as_array(interp.emit, m), above, True], {})
    return _band(interp, m, -1, above)


@numpy_function(np.triu)
def triu(interp: Any, m: Any, k: Any = 0) -> Any:
    above = _static_diagonal(interp, k)
    if above > 0:
        return interp.call_python(composed.triangle, [as_array(interp.emit, m), above, False], {})
    return _band(interp, m, -above, -1)


@numpy_function(np.linalg.norm)
def norm(interp: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    array = as_array(interp.emit, x)
    if kind_of(array.dtype) in "biu":
        array = astype(interp, array, np.float64)
    magnitude = run_ufunc(interp.emit, np.absolute, [array])
    if array.ndim == 1 or kind_of_number(axis):
        options = {"axis": axis, "keepdims": keepdims}
        if ord == 1:
            return interp.call(np.sum, [magnitude], options)
        if kind_of_number(ord) and math.isinf(ord):
            return interp.call(np.max if ord > 0 else np.min, [magnitude], options)
        if ord == 0:
            nonzero = run_ufunc(interp.emit, np.not_equal, [magnitude, 0])
            return interp.call(np.sum, [nonzero], {**options, "dtype": array.dtype})
        if kind_of_number(ord) and ord != 2:
            total = interp.call(np.sum, [run_ufunc(interp.emit, np.power, [magnitude, ord])], options)
            return run_ufunc(interp.emit, np.power, [total, 1.0 / ord])
    elif array.ndim == 2 and axis is None and kind_of_number(ord) and ord in (1, -1, math.inf, -math.inf):
        sums = interp.call(np.sum, [magnitude], {"axis": 0 if abs(ord) == 1 else 1, "keepdims": keepdims})
        return interp.call(np.max if ord > 0 else np.min, [sums], {"keepdims": keepdims})
    if ord not in (None, 2, "fro") or ord == 2 and array.ndim != 1 and not kind_of_number(axis):
        raise Refused(f"norm with ord={ord!r}", code="P0112")
    square = interp.call(np.sum, [run_ufunc(interp.emit, np.square, [magnitude])], {"axis": axis, "keepdims": keepdims})
    return run_ufunc(interp.emit, np.sqrt, [square])


def _add_linear(function: Any, op: str) -> None:
    @numpy_function(function)
    def linear(interp: Any, x: Any) -> Any:
        array = as_array(interp.emit, x)
        if kind_of(array.dtype) in "biu":
            array = astype(interp, array, np.float64)
        return interp.emit.one(op, [interp.emit.id(array)])


_add_linear(np.linalg.inv, "MatrixInverse")
_add_linear(np.linalg.det, "MatrixDeterminant")
_add_linear(np.linalg.cholesky, "Cholesky")


@numpy_function(np.linalg.solve)
def solve(interp: Any, x: Any, y: Any) -> Any:
    emit = interp.emit
    p, q = as_array(emit, x), as_array(emit, y)
    dtype = np.result_type(p.dtype, q.dtype)
    dtype = np.dtype(np.float64) if kind_of(dtype) in "biu" else dtype
    right = q if q.ndim > 1 else interp.call(np.expand_dims, [q, 1], {})
    made = emit.one("MatrixSolve", [emit.id(p, dtype), emit.id(right, dtype)])
    return made if q.ndim > 1 else interp.call(np.squeeze, [made, 1], {})


@numpy_function(np.real)
def real(interp: Any, x: Any) -> Any:
    array = as_array(interp.emit, x)
    if kind_of(array.dtype) != "c":
        return array
    dtype = "float32" if array.dtype.itemsize == 8 else "float64"
    return interp.emit.one("Real", [interp.emit.id(array)], Tout=dtype).over([array])


@numpy_function(np.imag)
def imag(interp: Any, x: Any) -> Any:
    array = as_array(interp.emit, x)
    if kind_of(array.dtype) != "c":
        return interp.call(np.zeros_like, [array], {})
    dtype = "float32" if array.dtype.itemsize == 8 else "float64"
    return interp.emit.one("Imag", [interp.emit.id(array)], Tout=dtype).over([array])


@numpy_function(np.isclose)
def isclose(interp: Any, x: Any, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    emit = interp.emit
    p, q = numeric(interp, x), numeric(interp, y)
    apart = run_ufunc(emit, np.absolute, [run_ufunc(emit, np.subtract, [p, q])])
    allowed = run_ufunc(emit, np.add, [atol, run_ufunc(emit, np.multiply, [rtol, run_ufunc(emit, np.absolute, [q])])])
    near = run_ufunc(emit, np.less_equal, [apart, allowed])
    made = run_ufunc(emit, np.logical_or, [near, run_ufunc(emit, np.equal, [p, q])])
    if equal_nan:
        both = run_ufunc(emit, np.logical_and, [run_ufunc(emit, np.isnan, [value]) for value in (p, q)])
        made = run_ufunc(emit, np.logical_or, [made, both])
    return made


@numpy_function(np.allclose)
def allclose(interp: Any, x: Any, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    return interp.call(np.all, [isclose(interp, x, y, rtol, atol, equal_nan)], {})


@numpy_function(np.array_equal)
def array_equal(interp: Any, x: Any, y: Any) -> Any:
    p, q = as_array(interp.emit, x), as_array(interp.emit, y)
    if p.ndim != q.ndim or any(m is not None and n is not None and m != n for m, n in zip(p.shape, q.shape)):
        return False
    return interp.call(np.all, [run_ufunc(interp.emit, np.equal, [p, q])], {})


@numpy_function(np.shape)
def np_shape(interp: Any, x: Any) -> Any:
    return interp.array_attribute(as_array(interp.emit, x), "shape")


@numpy_function(np.size)
def np_size(interp: Any, x: Any) -> Any:
    return interp.array_attribute(as_array(interp.emit, x), "size")


@numpy_function(np.ndim)
def np_ndim(interp: Any, x: Any) -> Any:
    return as_array(interp.emit, x).ndim


@entry(np.result_type, np.promote_types)
def result_type(interp: Any, *parts: Any) -> Any:
    dtypes = [part.dtype if isinstance(part, Array) else KINDS[part.kind].type(0).item() if isinstance(part, Weak) else part
              for part in parts]
    return interp.call_static(np.result_type, dtypes, {})


METHODS["item"] = lambda interp, x, *index: _item(interp, x, *index)
METHODS["tolist"] = lambda interp, x: _tolist(interp, x)
METHODS["fill"] = lambda interp, x, value: _refuse("the method 'fill' changes an array: use x[...] = value")
METHODS["sort"] = lambda interp, x, *args, **kwargs: _refuse("the method 'sort' changes an array: use np.sort")
METHODS["conj"] = METHODS["conjugate"] = lambda interp, x: \
    run_ufunc(interp.emit, np.conjugate, [x]) if kind_of(x.dtype) == "c" else x


def _refuse(why: str) -> Any:
    raise Refused(why, code="P0112")


def _item(interp: Any, x: Array, *index: Any) -> Any:
    if index:
        x = interp.item(x, index[0] if len(index) == 1 else tuple(index))
    if x.const is not None:
        return x.const.item()
    kind = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}[kind_of(x.dtype)]
    id = interp.emit.id(x, KINDS[kind])
    if x.shape != ():
        id = interp.emit.op("Reshape", [id, interp.emit.constant(np.array([], np.int32))])[0]
    return Weak(kind, id)


def _tolist(interp: Any, x: Array) -> Any:
    if x.ndim == 0:
        return _item(interp, x)
    return ListObject(interp.state, [_tolist(interp, part) for part in interp.all_items(x)])
