"""`Tensor`: an immutable array of the runtime, with NumPy's operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import _native


class Tensor(NDArrayOperatorsMixin):
    """An immutable array. Operators and NumPy's functions take it like an array."""

    __slots__ = ("_native", "_array", "_type")
    __array_priority__ = 100

    def __init__(self, value: Any, dtype: Any = None):
        if dtype is not None:
            value = np.asarray(value, dtype)
        self._native = value if isinstance(value, _native.Tensor) else _native.Tensor(value)
        self._array: Any = None
        self._type: Any = None

    @staticmethod
    def _of(native: Any) -> Tensor:
        made = object.__new__(Tensor)
        made._native = native
        made._array = made._type = None
        return made

    def _key(self) -> Any:
        """Its type, as a part of a key."""
        if self._type is None:
            self._type = (Tensor, self._native.dtype_name, self._native.shape)
        return self._type

    def numpy(self) -> Any:
        """Its contents as an array that cannot be written to."""
        if self._array is None:
            array = self._native.numpy()
            array.flags.writeable = False
            self._array = array
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError("another dtype needs a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [part.numpy() if isinstance(part, Tensor) else part for part in inputs]
        if any(isinstance(part, Tensor) for part in kwargs.get("out", ())):
            return NotImplemented
        made = getattr(ufunc, method)(*plain, **kwargs)
        return tuple(map(Tensor, made)) if isinstance(made, tuple) else Tensor(made)

    @property
    def dtype(self) -> Any:
        return np.dtype(self._native.dtype_name)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._native.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def T(self) -> Tensor:
        return Tensor(self.numpy().T)

    def item(self, *index: Any) -> Any:
        """The only element, or the one at an index, as a number of Python's."""
        return self.numpy().item(*index)

    def tolist(self) -> Any:
        return self.numpy().tolist()

    def __getitem__(self, index: Any) -> Tensor:
        plain = index.numpy() if isinstance(index, Tensor) else index
        return Tensor(self.numpy()[plain])

    def __len__(self) -> int:
        return len(self.numpy())

    def __iter__(self) -> Any:
        return (Tensor(part) for part in self.numpy())

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __index__(self) -> int:
        return self.numpy().__index__()  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return float(self.numpy())

    def __complex__(self) -> complex:
        return complex(self.numpy())

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'Tensor'")

    def __format__(self, format_spec: str) -> str:
        return format(self.numpy()[()], format_spec)

    def __str__(self) -> str:
        return str(self.numpy())

    def __repr__(self) -> str:
        text = np.array2string(self.numpy(), separator=", ", prefix="tensor(")
        return f"tensor({text}, {self.dtype})"

    def __reduce__(self) -> Any:
        return Tensor, (np.array(self.numpy()),)

    def __dlpack__(self, **kwargs: Any) -> Any:
        return np.array(self.numpy()).__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        def plain(value: Any) -> Any:
            if isinstance(value, Tensor):
                return value.numpy()
            if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
                return type(value)(map(plain, value))
            return value

        made = function(*map(plain, args), **{key: plain(value) for key, value in kwargs.items()})
        return Tensor(made) if isinstance(made, (np.ndarray, np.generic)) else made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'Tensor' object has no attribute '{name}'")
        method = getattr(self.numpy(), name)
        if not callable(method):
            return method

        def call(*args: Any, **kwargs: Any) -> Any:
            made = method(*args, **kwargs)
            return Tensor(made) if isinstance(made, (np.ndarray, np.generic)) else made

        return call


def tensor(value: Any, dtype: Any = None) -> Tensor:
    """A tensor of a number, a nested list or an array."""
    return Tensor(value, dtype)
