"""Functions that are written in terms of others: plain Python and NumPy, which the front end interprets at each call.

    @composed(np.append)  def append(...)   ──▶ its body in the place of the call, as if the user had written it

Places are those of the user's call: the frames of this file are in no traceback (`interpreter.Frame.is_hidden`).
Arguments that the definitions lack are refused by name. Functions of numbers of Python's are in `scalars`.
"""

from __future__ import annotations

import types
from typing import Any, Callable

import numpy as np

from ... import tf
from ..arithmetic import argument_dtype, as_array
from ..errors import Refused, refusal_of
from ..values import kind_of
from .making import astype
from .registry import entry, numpy_function


def composed(*functions: Any, method: str | None = None) -> Callable[[Any], Any]:
    """Makes a definition the meaning of these functions."""
    def add(definition: types.FunctionType) -> Any:
        def run(interp: Any, *args: Any, **kwargs: Any) -> Any:
            return interp.call_python(definition, list(args), kwargs)

        numpy_function(*functions, method=method)(run)
        return definition
    return add


def refuse(why: str) -> None:
    """Refuses the call, while it is compiled."""
    raise ValueError(why)


@entry(refuse)
def _refuse(interp: Any, why: str) -> None:
    raise Refused(why, code="P0112")


def resolved(ufunc: Any, *operands: Any) -> Any:
    """The dtype of a ufunc's result."""
    return ufunc(*operands).dtype


@entry(resolved)
def _resolved(interp: Any, ufunc: Any, *operands: Any) -> Any:
    try:
        return ufunc.resolve_dtypes((*map(argument_dtype, operands), None))[-1]
    except TypeError as error:
        raise refusal_of(error) from None


def inexact(a: Any) -> Any:
    """An array of floats or complex numbers."""
    return np.asarray(a, np.result_type(a, np.float16))


@entry(inexact)
def _inexact(interp: Any, a: Any) -> Any:
    array = as_array(interp.emit, a)
    return array if kind_of(array.dtype) in "fc" else astype(interp, array, np.float64)


# ---- joining, dividing, turning ----

@composed(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    if axis is None:
        return np.concatenate((np.ravel(arr), np.ravel(values)))
    return np.concatenate((arr, values), axis)


@composed(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    x = np.ravel(arr) if axis is None else np.asarray(arr)
    if x.ndim != 1:
        refuse("an insertion along an axis of a matrix cannot be compiled")
    return np.concatenate((x[:obj], np.ravel(values).astype(x.dtype), x[obj:]))


@composed(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    x = np.ravel(arr) if axis is None else np.asarray(arr)
    at = 0 if axis is None else axis
    if isinstance(obj, (list, tuple, slice)):
        n = x.shape[at]
        gone = [*range(*obj.indices(n))] if isinstance(obj, slice) else [i % n for i in obj]
        return np.take(x, [i for i in range(n) if i not in gone], at)
    where = np.where(obj < 0, obj + x.shape[at], obj)
    kept = np.arange(x.shape[at] - 1)
    return np.take(x, kept + (kept >= where), at)


@composed(np.dstack)
def dstack(arrays: Any) -> Any:
    return np.concatenate([np.atleast_3d(part) for part in arrays], 2)


@composed(np.atleast_3d)
def atleast_3d(x: Any) -> Any:
    a = np.asarray(x)
    if a.ndim == 0:
        return np.reshape(a, (1, 1, 1))
    if a.ndim == 1:
        return a[None, :, None]
    return a[:, :, None] if a.ndim == 2 else a


@composed(np.fliplr)
def fliplr(m: Any) -> Any:
    return np.asarray(m)[:, ::-1]


@composed(np.flipud)
def flipud(m: Any) -> Any:
    return np.asarray(m)[::-1]


@composed(np.rot90)
def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    first, second = axes
    if k % 4 == 0:
        return np.asarray(m)
    if k % 4 == 2:
        return np.flip(m, (first, second))
    if k % 4 == 1:
        return np.swapaxes(np.flip(m, second), first, second)
    return np.flip(np.swapaxes(m, first, second), second)


@composed(np.rollaxis)
def rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    n = np.ndim(a)
    at, to = axis % n, start + n if start < 0 else start
    return np.moveaxis(a, at, to - 1 if at < to else to)


@composed(np.broadcast_arrays)
def broadcast_arrays(*args: Any) -> Any:
    shape = np.broadcast_shapes(*[np.shape(part) for part in args])
    return tuple([np.broadcast_to(part, shape) for part in args])


@composed(np.meshgrid)
def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> Any:
    n = len(xi)
    axes = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else [*range(n)]
    grids = [np.reshape(x, (1,) * at + (-1,) + (1,) * (n - at - 1)) for x, at in zip(xi, axes)]
    made = grids if sparse else np.broadcast_arrays(*grids)
    return tuple([grid.copy() for grid in made] if copy else made)


@composed(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    if not isinstance(indices_or_sections, int):
        return np.split(ary, indices_or_sections, axis)
    each, more = divmod(np.shape(ary)[axis], indices_or_sections)
    return np.split(ary, [each * i + min(i, more) for i in range(1, indices_or_sections)], axis)


@composed(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    return np.split(ary, indices_or_sections, 1 if np.ndim(ary) > 1 else 0)


@composed(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    return np.split(ary, indices_or_sections, 0)


# ---- diagonals and triangles ----

def diagonal_at(x: Any, k: Any) -> Any:
    """A diagonal that is not the main one."""
    low, right = max(-k, 0), max(k, 0)
    at = np.arange(max(min(x.shape[0] - low, x.shape[1] - right), 0))
    return x[at + low, at + right]


def diagonal_matrix(v: Any, k: Any) -> Any:
    """A matrix with a vector on a diagonal that is not the main one."""
    low, right = max(-k, 0), max(k, 0)
    return np.pad(np.diag(v), ((low, right), (right, low)))


def triangle(m: Any, k: Any, is_lower: Any) -> Any:
    """The elements below or above a diagonal, zeros elsewhere."""
    distance = np.arange(m.shape[-1]) - np.arange(m.shape[-2])[:, None]
    return np.where(distance <= k if is_lower else distance >= k, m, np.zeros((), m.dtype))


# ---- choosing ----

@composed(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    made = default
    for condition, choice in zip(condlist[::-1], choicelist[::-1]):
        made = np.where(condition, choice, made)
    return made


@composed(np.isin)
def isin(element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False) -> Any:
    found = np.any(np.asarray(element)[..., None] == np.ravel(test_elements), axis=-1)
    return np.logical_not(found) if invert else found


@composed(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        return np.ravel(arr)[indices]
    x = np.asarray(arr)
    n = x.ndim
    grid = [np.reshape(np.arange(x.shape[i]), (1,) * i + (-1,) + (1,) * (n - i - 1)) for i in range(n)]
    grid[axis] = indices
    return x[tuple(grid)]


@composed(np.compress)
def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    return np.take(np.ravel(a) if axis is None else a, np.flatnonzero(condition), 0 if axis is None else axis)


@composed(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    return np.ravel(arr)[np.flatnonzero(condition)]


@composed(np.searchsorted, method="searchsorted")
def searchsorted(a: Any, v: Any, side: Any = "left") -> Any:
    x, values = np.asarray(a), np.asarray(v)
    dtype = np.result_type(x, values)
    x, values = x.astype(dtype), values.astype(dtype)
    bound = tf.LowerBound if side == "left" else tf.UpperBound
    made: Any = np.reshape(bound(x[None, :], values.reshape(1, -1), out_type=np.int64), values.shape)
    if kind_of(dtype) == "f":
        # NaN is behind all other numbers.
        n_numbers = np.sum(np.logical_not(np.isnan(x)))
        of_nan = n_numbers if side == "left" else x.shape[0]
        made = np.where(np.isnan(values), of_nan, np.minimum(made, n_numbers))
    return made


@composed(np.digitize)
def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    edges = np.asarray(bins)
    side: Any = "left" if right else "right"
    down = edges.shape[0] - np.searchsorted(edges[::-1], x, side=side)
    return np.where(edges[0] <= edges[-1], np.searchsorted(edges, x, side=side), down)


@composed(np.unique)
def unique(ar: Any) -> Any:
    s = np.sort(np.ravel(ar))
    differs = s[1:] != s[:-1]
    if kind_of(s.dtype) == "f":
        differs = differs & ~(np.isnan(s[1:]) & np.isnan(s[:-1]))
    return s[np.concatenate((np.ones(np.minimum(s.size, 1), bool), differs))]


@composed(np.quantile)
def quantile(a: Any, q: Any, axis: Any = None, keepdims: Any = False) -> Any:
    x = np.asarray(a)
    dtype = np.result_type(x, 0.0)
    if kind_of(x.dtype) == "f" and not isinstance(q, (int, float)):
        dtype = np.result_type(dtype, np.asarray(q))
    ndim = x.ndim
    s = np.sort(np.ravel(x) if axis is None else np.moveaxis(x, axis, -1)).astype(dtype)
    at = np.asarray(q) * (s.shape[-1] - 1)
    low = np.floor(at)
    part = (at - low).astype(dtype)
    below, above = np.take(s, low.astype(int), -1), np.take(s, np.ceil(at).astype(int), -1)
    last = np.take(s, -1, -1) if at.ndim == 0 else s[..., -1:]
    made = np.where(np.isnan(last), last, below + (above - below) * part)
    made = made if at.ndim == 0 else np.moveaxis(made, -1, 0)
    if keepdims:
        made = np.reshape(made, at.shape + (1,) * ndim) if axis is None else np.expand_dims(made, axis)
    return made


@composed(np.percentile)
def percentile(a: Any, q: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return np.quantile(a, q / 100 if isinstance(q, (int, float)) else np.asarray(q) / 100, axis=axis, keepdims=keepdims)


def repeat_each(x: Any, counts: Any, axis: Any) -> Any:
    """Each row as often as its count says."""
    ends = np.cumsum(counts)
    return np.take(x, np.searchsorted(ends, np.arange(ends[-1]), side="right"), axis)


def pad_by_rows(x: Any, widths: Any, is_wrapped: Any) -> Any:
    """Rows of the edge, or of the other end, around an array."""
    for axis in range(x.ndim):
        n = x.shape[axis]
        rows = np.arange(-int(widths[axis, 0]), n + int(widths[axis, 1]))
        x = np.take(x, rows % n if is_wrapped else np.clip(rows, 0, n - 1), axis)
    return x


# ---- numbers that are missing ----

@composed(np.nansum)
def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    return np.sum(np.where(np.isnan(a), np.zeros_like(a), a), axis=axis, dtype=dtype, keepdims=keepdims)


@composed(np.nanprod)
def nanprod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    return np.prod(np.where(np.isnan(a), np.ones_like(a), a), axis=axis, dtype=dtype, keepdims=keepdims)


@composed(np.nancumsum)
def nancumsum(a: Any, axis: Any = None) -> Any:
    return np.cumsum(np.where(np.isnan(a), np.zeros_like(a), a), axis=axis)


@composed(np.nanmean)
def nanmean(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    total = np.nansum(a, axis=axis, keepdims=keepdims)
    n = np.sum(np.logical_not(np.isnan(a)), axis=axis, keepdims=keepdims)
    return total / (n.astype(total.dtype) if kind_of(total.dtype) == "f" else n)


@composed(np.nanvar)
def nanvar(a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    missing = np.isnan(a)
    apart = a - np.nanmean(a, axis=axis, keepdims=True)
    total = np.sum(np.where(missing, np.zeros_like(apart), apart * apart), axis=axis, keepdims=keepdims)
    return total / (np.sum(np.logical_not(missing), axis=axis, keepdims=keepdims) - ddof).astype(total.dtype)


@composed(np.nanstd)
def nanstd(a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    return np.sqrt(np.nanvar(a, axis=axis, ddof=ddof, keepdims=keepdims))


@composed(np.nanmax)
def nanmax(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    x = np.asarray(a)
    if kind_of(x.dtype) != "f":
        return np.max(x, axis=axis, keepdims=keepdims)
    made = np.max(np.where(np.isnan(x), -np.inf, x), axis=axis, keepdims=keepdims)
    return np.where(np.all(np.isnan(x), axis=axis, keepdims=keepdims), np.nan, made)


@composed(np.nanmin)
def nanmin(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    x = np.asarray(a)
    if kind_of(x.dtype) != "f":
        return np.min(x, axis=axis, keepdims=keepdims)
    made = np.min(np.where(np.isnan(x), np.inf, x), axis=axis, keepdims=keepdims)
    return np.where(np.all(np.isnan(x), axis=axis, keepdims=keepdims), np.nan, made)


@composed(np.nanargmax)
def nanargmax(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    x = np.asarray(a)
    if kind_of(x.dtype) != "f":
        return np.argmax(x, axis=axis, keepdims=keepdims)
    assert not np.any(np.all(np.isnan(x), axis=axis)), "All-NaN slice encountered"
    return np.argmax(np.where(np.isnan(x), -np.inf, x), axis=axis, keepdims=keepdims)


@composed(np.nanargmin)
def nanargmin(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return np.nanargmax(-np.asarray(a), axis=axis, keepdims=keepdims)


@composed(np.nan_to_num)
def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    a = np.asarray(x)
    if not copy:
        refuse("'numpy.nan_to_num' with copy=False, which changes its argument")
    if kind_of(a.dtype) != "f":
        return a.copy()
    most = np.finfo(a.dtype).max
    high, low = most if posinf is None else posinf, -most if neginf is None else neginf
    a = np.where(a == np.inf, np.asarray(high, a.dtype), np.where(a == -np.inf, np.asarray(low, a.dtype), a))
    return np.where(np.isnan(a), np.asarray(nan, a.dtype), a)


# ---- elementwise ----

@composed(np.fix)
def fix(x: Any) -> Any:
    return np.trunc(x)


@composed(np.sinc)
def sinc(x: Any) -> Any:
    a = np.asarray(x)
    y = np.pi * np.where(a == 0, 1.0e-20, a)
    return np.sin(y) / y


@composed(np.angle)
def angle(z: Any, deg: Any = False) -> Any:
    part = np.asarray(np.real(z))
    made = np.arctan2(np.imag(z), part + 0 if part.dtype == bool else part)
    return np.degrees(made) if deg else made


@composed(np.signbit)
def signbit(x: Any) -> Any:
    a = np.asarray(x)
    if kind_of(a.dtype) == "c":
        refuse("'numpy.signbit' of complex numbers")
    if kind_of(a.dtype) != "f":
        return a < 0
    return tf.Bitcast(a, type=f"int{a.dtype.itemsize * 8}") < 0


@composed(np.copysign)
def copysign(x1: Any, x2: Any) -> Any:
    size = np.abs(np.asarray(x1).astype(resolved(np.copysign, x1, x2)))
    return np.where(np.signbit(x2), -size, size)


@composed(np.heaviside)
def heaviside(x1: Any, x2: Any) -> Any:
    dtype = resolved(np.heaviside, x1, x2)
    x, half = np.asarray(x1).astype(dtype), np.asarray(x2).astype(dtype)
    made = np.where(x < 0, np.zeros((), dtype), np.where(x == 0, half, np.ones((), dtype)))
    return np.where(np.isnan(x), x, made)


@composed(np.ldexp)
def ldexp(x1: Any, x2: Any) -> Any:
    if kind_of(np.result_type(x2)) not in "iub":
        refuse("'numpy.ldexp' with an exponent that is no integer")
    dtype = resolved(np.ldexp, x1, x2)
    return np.asarray(x1).astype(dtype) * np.exp2(np.asarray(x2).astype(dtype))


@composed(np.divmod)
def divmod_of_arrays(x1: Any, x2: Any) -> Any:
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


@composed(np.gcd)
def gcd(x1: Any, x2: Any) -> Any:
    dtype = resolved(np.gcd, x1, x2)
    zero = np.zeros(np.broadcast_shapes(np.shape(x1), np.shape(x2)), dtype)
    a, b = [np.abs(np.asarray(x).astype(dtype)) + zero for x in (x1, x2)]
    while np.any(b != 0):
        is_done = b == 0
        a, b = np.where(is_done, a, b), np.where(is_done, zero, a % np.where(is_done, zero + 1, b))
    return a


@composed(np.lcm)
def lcm(x1: Any, x2: Any) -> Any:
    common = np.gcd(x1, x2)
    return np.abs(x1) // np.where(common == 0, common + 1, common) * np.abs(x2)


@composed(np.bitwise_count, method="bit_count")
def bitwise_count(x: Any) -> Any:
    if kind_of(np.result_type(x)) not in "iu":
        refuse("'numpy.bitwise_count' of other numbers than integers")
    return tf.PopulationCount(np.abs(x))


# ---- products, sums along an axis, polynomials ----

@composed(np.kron)
def kron(a: Any, b: Any) -> Any:
    x, y = np.asarray(a), np.asarray(b)
    n = max(x.ndim, y.ndim)
    x = np.reshape(x, (1,) * (n - x.ndim) + x.shape)
    y = np.reshape(y, (1,) * (n - y.ndim) + y.shape)
    sizes = tuple([x.shape[i] * y.shape[i] for i in range(n)])
    for i in range(n):
        x, y = np.expand_dims(x, 2 * i + 1), np.expand_dims(y, 2 * i)
    return np.reshape(x * y, sizes)


@composed(np.cross)
def cross(a: Any, b: Any) -> Any:
    x, y = np.asarray(a), np.asarray(b)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        refuse("a cross product of other vectors than of 3 elements")
    x0, x1, x2 = x[..., 0], x[..., 1], x[..., 2]
    y0, y1, y2 = y[..., 0], y[..., 1], y[..., 2]
    return np.stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0], -1)


@composed(np.ediff1d)
def ediff1d(ary: Any) -> Any:
    return np.diff(np.ravel(ary))


@composed(np.gradient)
def gradient(f: Any, h: Any = 1, axis: Any = None) -> Any:
    x = np.asarray(f)
    if x.ndim != 1 and axis is None:
        refuse("a gradient along all axes cannot be compiled: give the axis")
    x = np.moveaxis(x.astype(float) if kind_of(x.dtype) in "iu" else x, 0 if axis is None else axis, 0)
    made = np.concatenate(((x[1:2] - x[:1]) / h, (x[2:] - x[:-2]) / (2 * h), (x[-1:] - x[-2:-1]) / h))
    return np.moveaxis(made, 0, 0 if axis is None else axis)


@composed(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    f = np.moveaxis(y, axis, -1) if np.ndim(y) > 1 else np.asarray(y)
    width = dx
    if x is not None:
        width = np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1))
    return np.sum(width * (f[..., 1:] + f[..., :-1]) / 2.0, axis=-1)


@composed(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    x, k = np.asarray(a), np.asarray(v)
    if k.shape[0] > x.shape[0]:
        x, k = k, x
    n, m = x.shape[0], k.shape[0]
    at = np.arange(n + m - 1)[:, None] + np.arange(m) - (m - 1)
    products = np.take(x, np.clip(at, 0, n - 1)) * k[::-1]
    made = np.sum(np.where((at >= 0) & (at < n), products, np.zeros((), products.dtype)), axis=1, dtype=products.dtype)
    if mode == "valid":
        return made[m - 1:n]
    if mode not in ("full", "same"):
        refuse(f"the mode is {mode!r}, not 'full', 'same' or 'valid'")
    return made[(m - 1) // 2:(m - 1) // 2 + n] if mode == "same" else made


@composed(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    k = np.asarray(v)
    made = np.convolve(a, (np.conj(k) if kind_of(k.dtype) == "c" else k)[::-1], mode)
    return made if np.shape(a)[0] >= np.shape(v)[0] or mode != "valid" else made[::-1]


@composed(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    at, xs, ys = np.asarray(x).astype(float), np.asarray(xp).astype(float), np.asarray(fp).astype(float)
    i = np.clip(np.searchsorted(xs, at, side="right") - 1, 0, xs.shape[0] - 2)
    made = ys[i] + (ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i]) * (at - xs[i])
    made = np.where(at < xs[0], ys[0] if left is None else left, made)
    return np.where(at > xs[-1], ys[-1] if right is None else right, made)


@composed(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    factors = np.asarray(p)
    made = np.zeros_like(x)
    for i in range(factors.shape[0]):
        made = made * x + factors[i]
    return made


@composed(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    x = np.linalg.inv(a) if n < 0 else np.asarray(a)
    made = np.eye(x.shape[-1], dtype=x.dtype)
    for bit in bin(abs(n))[2:]:
        made = made @ made
        if bit == "1":
            made = made @ x
    return made


@composed(np.linalg.multi_dot)
def multi_dot(arrays: Any) -> Any:
    made = arrays[0]
    for i in range(1, len(arrays)):
        made = made @ arrays[i]
    return made


@composed(np.linalg.eigvalsh)
def eigvalsh(a: Any) -> Any:
    return tf.SelfAdjointEigV2(inexact(a), compute_v=False)[0]


@composed(np.linalg.eigh)
def eigh(a: Any, UPLO: Any = "L") -> Any:
    if UPLO not in ("L", "U", "l", "u"):
        refuse("UPLO argument must be 'L' or 'U'")
    x = inexact(a)
    # The operator reads the lower triangle.
    values, vectors = tf.SelfAdjointEigV2(x if UPLO in ("L", "l") else np.conj(np.swapaxes(x, -1, -2)), compute_v=True)
    return EighResult(np.real(values), vectors)


# Not `svd`, which testdata/python/err_unsupported_call expects to be refused.
@composed(np.linalg.svdvals)
def svdvals(x: Any) -> Any:
    return tf.Svd(inexact(x), compute_uv=False)[0]


@composed(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    dtype = np.result_type(a, b, np.float32)
    x, y = np.asarray(a, dtype), np.asarray(b, dtype)
    if x.ndim != 2 or y.ndim > 2:
        refuse("'numpy.linalg.lstsq' takes a matrix, and a vector or a matrix")
    columns = y if y.ndim == 2 else y[:, None]
    s, u, v = tf.Svd(x)
    m, n = x.shape
    is_large = s > (np.finfo(s.dtype).eps * max(m, n) if rcond is None else rcond) * s[0]
    inverse = np.where(is_large, 1 / np.where(is_large, s, 1), np.zeros((), s.dtype)).astype(dtype)
    made = v @ (inverse[:, None] * (np.conj(u.T) @ columns))
    rank = np.sum(is_large).astype(np.int32)
    # There are no sums of squares unless the solution is the only one.
    rest = np.sum(np.abs(columns - x @ made) ** 2, axis=0)
    rest = rest[np.full(rest.shape, rank == n)] if m > n else rest[:0]
    return made if y.ndim == 2 else made[:, 0], rest, rank, s


EighResult: Any = type(np.linalg.eigh(np.eye(1)))
QRResult: Any = type(np.linalg.qr(np.eye(1)))
SlogdetResult: Any = type(np.linalg.slogdet(np.eye(1)))


@composed(np.linalg.qr)
def qr(a: Any, mode: Any = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        refuse(f"the mode {mode!r} of 'numpy.linalg.qr'")
    q, r = tf.Qr(inexact(a), full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


@composed(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    sign, logarithm = tf.LogMatrixDeterminant(inexact(a))
    return SlogdetResult(sign, logarithm)


@composed(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None) -> Any:
    x = inexact(a)
    if rcond is None:
        rcond = 1e-15
    s, u, v = tf.Svd(x)
    is_large = s > rcond * np.max(s, axis=-1, keepdims=True)
    inverse = np.where(is_large, 1 / np.where(is_large, s, 1), np.zeros((), s.dtype))
    return (v * inverse[..., None, :].astype(x.dtype)) @ np.conj(np.swapaxes(u, -1, -2))


@composed(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None) -> Any:
    x = inexact(A)
    s = np.linalg.svdvals(x)
    if tol is None:
        tol = np.max(s, axis=-1, keepdims=True) * max(x.shape[-2], x.shape[-1]) * np.finfo(s.dtype).eps
    return np.sum(s > tol, axis=-1)


@composed(np.fromiter)
def fromiter(items: Any, dtype: Any) -> Any:
    return np.array(list(items), dtype)


