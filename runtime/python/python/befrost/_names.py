"""The functions of the Array API standard by NumPy's names: `bf.sum(t)`. They take Tensors and arrays and return
Tensors; in a compiled function they are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._tensor import Tensor, _plain

NAMES = frozenset("""
    abs acos acosh add all any arange argmax argmin argsort asarray asin asinh atan atan2 atanh bitwise_and
    bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor broadcast_to ceil clip concat conj cos
    cosh cumulative_sum diff divide einsum equal exp expand_dims expm1 eye flip floor floor_divide full full_like
    greater greater_equal imag isfinite isinf isnan less less_equal linspace log log10 log1p log2 logical_and
    logical_not logical_or logical_xor matmul max maximum mean min minimum moveaxis multiply negative nonzero not_equal
    ones ones_like permute_dims positive pow prod real remainder repeat reshape roll round sign sin sinh sort sqrt
    square squeeze stack std subtract sum take tan tanh tensordot tile tril triu trunc var where zeros zeros_like
""".split())


class NumPyFunction:
    """A function of NumPy's on Tensors."""

    def __init__(self, name: str):
        self.__name__ = name
        self.__befrost_numpy__ = getattr(np, name)
        self.__doc__ = f"`numpy.{name}` on Tensors."

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = self.__befrost_numpy__(*map(_plain, args), **{key: _plain(value) for key, value in kwargs.items()})
        if isinstance(made, tuple):
            return tuple(Tensor(part) for part in made)
        return Tensor(made)

    def __repr__(self) -> str:
        return f"<befrost.{self.__name__}>"
