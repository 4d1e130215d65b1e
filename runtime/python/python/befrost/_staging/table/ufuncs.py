"""Universal functions and rounding."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import arithmetic as a
from ..arithmetic import as_array, is_numeric, limits, run_ufunc
from ..errors import Refused, refusal_of
from ..values import Array, kind_of, known
from .making import astype
from .registry import dtype_of, entry, METHODS, numeric, numpy_function, refuse_where, TABLE


def _ufunc(interp: Any, ufunc: Any, *operands: Any, out: Any = None, where: Any = True, dtype: Any = None) -> Any:
    refuse_where(out=out)
    if where is not True:
        raise Refused("the argument 'where' cannot be compiled", code="P0112")
    parts = [value if is_numeric(value) else as_array(interp.emit, value) for value in operands]
    if len(parts) != ufunc.nin:
        raise Refused(f"'numpy.{ufunc.__name__}' takes {ufunc.nin} operands, got {len(parts)}")
    if dtype is None:
        return run_ufunc(interp.emit, ufunc, parts)
    signature = (*[None] * ufunc.nin, dtype_of(interp, dtype))
    try:
        to = ufunc.resolve_dtypes((*map(a.argument_dtype, parts), None), signature=signature)
    except TypeError as error:
        raise refusal_of(error) from None
    return astype(interp, run_ufunc(interp.emit, ufunc, [
        astype(interp, part, one) for part, one in zip(parts, to)]), to[-1])


TABLE["ufunc"] = _ufunc
for _function in [*a.UFUNCS, *a.SPECIAL, np.matmul]:
    TABLE[_function] = functools.wraps(_ufunc)(
        lambda interp, *args, _function=_function, **kwargs: _ufunc(interp, _function, *args, **kwargs))


@entry(np.round, np.around)
def np_round(interp: Any, x: Any, decimals: Any = 0, out: Any = None) -> Any:
    refuse_where(out=out)
    array = as_array(interp.emit, x)
    if array.const is not None:
        return known(np.round(array.const, decimals))
    if kind_of(array.dtype) in "iu" and decimals >= 0:
        return array.fresh()
    if array.dtype == np.dtype(bool):
        array = astype(interp, array, np.float16)
    if decimals == 0:
        return interp.emit.one("Rint", [interp.emit.id(array)])
    scale = 10.0 ** abs(decimals)
    first, second = (np.multiply, np.true_divide) if decimals > 0 else (np.true_divide, np.multiply)
    made = run_ufunc(interp.emit, first, [array, scale])
    made = interp.emit.one("Rint", [interp.emit.id(made)])
    made = run_ufunc(interp.emit, second, [made, scale])
    return made if kind_of(array.dtype) == "f" else astype(interp, made, array.dtype)


METHODS["round"] = np_round
METHODS["is_integer"] = lambda interp, x: run_ufunc(interp.emit, np.equal, [run_ufunc(interp.emit, np.floor, [x]), x])


@numpy_function(np.clip, method="clip")
def clip(interp: Any, x: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if isinstance(x, Array) and kind_of(x.dtype) in "iu":
        # As in NumPy, integers of Python's may be bounds that the type does not have.
        lowest, highest = limits(x.dtype)
        low = None if type(low) is int and low <= lowest else low
        high = None if type(high) is int and high >= highest else high
    if low is not None:
        x = run_ufunc(interp.emit, np.maximum, [numeric(interp, x), numeric(interp, low)])
    if high is not None:
        x = run_ufunc(interp.emit, np.minimum, [numeric(interp, x), numeric(interp, high)])
    return x
