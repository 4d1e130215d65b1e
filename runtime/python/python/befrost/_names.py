"""The functions of the Array API standard by NumPy's names: `bf.sum(t)`. They take Tensors and arrays and return
Tensors; in a compiled function they are NumPy's. Its constants and dtypes are NumPy's.

    bf.add(t, x) ──▶ what `np.add(t, x)` is on a Tensor: the eager core or a compiled function, else NumPy's function
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy import (
    bool_ as bool, complex64, complex128, float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32,
    uint64,
)

from ._native import Tensor
from ._tensor import _call, _plain, _wrapped

__all__ = [
    "abs", "acos", "acosh", "add", "all", "any", "arange", "argmax", "argmin", "argsort", "asarray", "asin",
    "asinh", "astype", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_arrays", "broadcast_to", "can_cast",
    "ceil", "clip", "complex128", "complex64", "concat", "conj", "copysign", "cos", "cosh", "count_nonzero",
    "cumulative_prod", "cumulative_sum", "diff", "divide", "e", "einsum", "empty", "empty_like", "equal", "exp",
    "expand_dims", "expm1", "eye", "finfo", "flip", "float16", "float32", "float64", "floor", "floor_divide",
    "full", "full_like", "greater", "greater_equal", "hypot", "iinfo", "imag", "inf", "int16", "int32", "int64",
    "int8", "isdtype", "isfinite", "isinf", "isnan", "less", "less_equal", "linspace", "log", "log10", "log1p",
    "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "matmul",
    "matrix_transpose", "max", "maximum", "mean", "meshgrid", "min", "minimum", "moveaxis", "multiply", "nan",
    "negative", "newaxis", "nextafter", "nonzero", "not_equal", "ones", "ones_like", "permute_dims", "pi",
    "positive", "pow", "prod", "real", "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll",
    "round", "searchsorted", "sign", "signbit", "sin", "sinh", "sort", "sqrt", "square", "squeeze", "stack",
    "std", "subtract", "sum", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "tril", "triu",
    "trunc", "uint16", "uint32", "uint64", "uint8", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "unstack", "var", "vecdot", "where", "zeros", "zeros_like",
]


class NumPyFunction:
    """A function of NumPy's on Tensors."""

    def __init__(self, name: str):
        self.__name__ = name
        # None if this NumPy is older than the standard.
        self.__befrost_numpy__ = getattr(np, name, None)
        self.__doc__ = f"`numpy.{name}` on Tensors.\n\n{getattr(self.__befrost_numpy__, '__doc__', None) or ''}"

    def _made(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        function = self.__befrost_numpy__
        if function is None:
            raise NotImplementedError(f"NumPy {np.__version__} has no '{self.__name__}'")
        made = _call(function, args, kwargs, isinstance(function, np.ufunc))
        return made if isinstance(made, (Tensor, tuple, list)) else Tensor(made)

    def __repr__(self) -> str:
        return f"<befrost.{self.__name__}>"


class UnaryFunction(NumPyFunction):
    """A function of one array."""

    def __call__(self, x: Any, /, **options: Any) -> Tensor:
        return cast(Tensor, self._made((x,), options))


class BinaryFunction(NumPyFunction):
    """A function of two arrays."""

    def __call__(self, x1: Any, x2: Any, /, **options: Any) -> Tensor:
        return cast(Tensor, self._made((x1, x2), options))


class AxisFunction(NumPyFunction):
    """A function along an axis, or of all elements."""

    def __call__(self, x: Any, /, axis: Any = None, **options: Any) -> Tensor:
        return cast(Tensor, self._made((x,), options if axis is None else {"axis": axis, **options}))


class ArrayFunction(NumPyFunction):
    """A function that makes an array of its arguments."""

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        return cast(Tensor, self._made(args, kwargs))


class ArraysFunction(NumPyFunction):
    """A function that makes several arrays."""

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        made = self._made(args, kwargs)
        return tuple(map(Tensor, made)) if isinstance(made, list) else cast("tuple[Tensor, ...]", made)


class TypeFunction(NumPyFunction):
    """A question about types."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        assert self.__befrost_numpy__ is not None
        made = self.__befrost_numpy__(*map(_plain, args), **kwargs)
        return _wrapped(made)


abs = UnaryFunction("abs")
acos = UnaryFunction("acos")
acosh = UnaryFunction("acosh")
add = BinaryFunction("add")
all = AxisFunction("all")
any = AxisFunction("any")
arange = ArrayFunction("arange")
argmax = AxisFunction("argmax")
argmin = AxisFunction("argmin")
argsort = ArrayFunction("argsort")
asarray = ArrayFunction("asarray")
asin = UnaryFunction("asin")
asinh = UnaryFunction("asinh")
astype = ArrayFunction("astype")
atan = UnaryFunction("atan")
atan2 = BinaryFunction("atan2")
atanh = UnaryFunction("atanh")
bitwise_and = BinaryFunction("bitwise_and")
bitwise_invert = UnaryFunction("bitwise_invert")
bitwise_left_shift = BinaryFunction("bitwise_left_shift")
bitwise_or = BinaryFunction("bitwise_or")
bitwise_right_shift = BinaryFunction("bitwise_right_shift")
bitwise_xor = BinaryFunction("bitwise_xor")
broadcast_arrays = ArraysFunction("broadcast_arrays")
broadcast_to = ArrayFunction("broadcast_to")
can_cast = TypeFunction("can_cast")
ceil = UnaryFunction("ceil")
clip = ArrayFunction("clip")
concat = ArrayFunction("concat")
conj = UnaryFunction("conj")
copysign = BinaryFunction("copysign")
cos = UnaryFunction("cos")
cosh = UnaryFunction("cosh")
count_nonzero = AxisFunction("count_nonzero")
cumulative_prod = ArrayFunction("cumulative_prod")
cumulative_sum = ArrayFunction("cumulative_sum")
diff = ArrayFunction("diff")
divide = BinaryFunction("divide")
einsum = ArrayFunction("einsum")
empty = ArrayFunction("empty")
empty_like = ArrayFunction("empty_like")
equal = BinaryFunction("equal")
exp = UnaryFunction("exp")
expand_dims = ArrayFunction("expand_dims")
expm1 = UnaryFunction("expm1")
eye = ArrayFunction("eye")
finfo = TypeFunction("finfo")
flip = AxisFunction("flip")
floor = UnaryFunction("floor")
floor_divide = BinaryFunction("floor_divide")
full = ArrayFunction("full")
full_like = ArrayFunction("full_like")
greater = BinaryFunction("greater")
greater_equal = BinaryFunction("greater_equal")
hypot = BinaryFunction("hypot")
iinfo = TypeFunction("iinfo")
imag = UnaryFunction("imag")
isdtype = TypeFunction("isdtype")
isfinite = UnaryFunction("isfinite")
isinf = UnaryFunction("isinf")
isnan = UnaryFunction("isnan")
less = BinaryFunction("less")
less_equal = BinaryFunction("less_equal")
linspace = ArrayFunction("linspace")
log = UnaryFunction("log")
log10 = UnaryFunction("log10")
log1p = UnaryFunction("log1p")
log2 = UnaryFunction("log2")
logaddexp = BinaryFunction("logaddexp")
logical_and = BinaryFunction("logical_and")
logical_not = UnaryFunction("logical_not")
logical_or = BinaryFunction("logical_or")
logical_xor = BinaryFunction("logical_xor")
matmul = BinaryFunction("matmul")
matrix_transpose = UnaryFunction("matrix_transpose")
max = AxisFunction("max")
maximum = BinaryFunction("maximum")
mean = AxisFunction("mean")
meshgrid = ArraysFunction("meshgrid")
min = AxisFunction("min")
minimum = BinaryFunction("minimum")
moveaxis = ArrayFunction("moveaxis")
multiply = BinaryFunction("multiply")
negative = UnaryFunction("negative")
nextafter = BinaryFunction("nextafter")
nonzero = ArraysFunction("nonzero")
not_equal = BinaryFunction("not_equal")
ones = ArrayFunction("ones")
ones_like = ArrayFunction("ones_like")
permute_dims = ArrayFunction("permute_dims")
positive = UnaryFunction("positive")
pow = BinaryFunction("pow")
prod = AxisFunction("prod")
real = UnaryFunction("real")
reciprocal = UnaryFunction("reciprocal")
remainder = BinaryFunction("remainder")
repeat = ArrayFunction("repeat")
reshape = ArrayFunction("reshape")
result_type = TypeFunction("result_type")
roll = ArrayFunction("roll")
round = ArrayFunction("round")
searchsorted = ArrayFunction("searchsorted")
sign = UnaryFunction("sign")
signbit = UnaryFunction("signbit")
sin = UnaryFunction("sin")
sinh = UnaryFunction("sinh")
sort = ArrayFunction("sort")
sqrt = UnaryFunction("sqrt")
square = UnaryFunction("square")
squeeze = AxisFunction("squeeze")
stack = ArrayFunction("stack")
std = AxisFunction("std")
subtract = BinaryFunction("subtract")
sum = AxisFunction("sum")
take = ArrayFunction("take")
take_along_axis = ArrayFunction("take_along_axis")
tan = UnaryFunction("tan")
tanh = UnaryFunction("tanh")
tensordot = ArrayFunction("tensordot")
tile = ArrayFunction("tile")
tril = ArrayFunction("tril")
triu = ArrayFunction("triu")
trunc = UnaryFunction("trunc")
unique_all = ArraysFunction("unique_all")
unique_counts = ArraysFunction("unique_counts")
unique_inverse = ArraysFunction("unique_inverse")
unique_values = UnaryFunction("unique_values")
unstack = ArraysFunction("unstack")
var = AxisFunction("var")
vecdot = BinaryFunction("vecdot")
where = ArrayFunction("where")
zeros = ArrayFunction("zeros")
zeros_like = ArrayFunction("zeros_like")

e, inf, nan, pi = np.e, np.inf, np.nan, np.pi
newaxis = None
