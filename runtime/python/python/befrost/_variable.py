"""`Variable`: a value that compiled functions read and assign, and that lives between calls.

    count = bf.Variable(0)              in a function:  count.assign_add(1)   count * 2
    a function reads it when it runs, not when it is compiled; effects happen in program order
"""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import _native
from ._errors import InvalidArgumentError, guarded
from ._tensor import Tensor

_store = _native.VariableStore()
_numbers = itertools.count()
_assigners: dict[Any, Any] = {}
_lock = threading.Lock()
MAX_ASSIGNERS = 256


class Variable(NDArrayOperatorsMixin):
    """An array of fixed dtype and shape whose value changes.

    >>> count = Variable(0)
    >>> count.assign_add(2)
    >>> count.value.item()
    2
    """

    def __init__(self, value: Any, dtype: Any = None, name: str | None = None):
        if dtype is None and isinstance(value, (bool, int, float, complex)):
            value = np.asarray(value)
        first = Tensor(value.value if isinstance(value, Variable) else value, dtype)
        self.dtype = first.dtype
        self.shape: tuple[int, ...] = first.shape
        self.name = name or "Variable"
        self._key = f"{self.name}:{next(_numbers)}"
        _assign("AssignVariableOp", self, first)
        weakref.finalize(self, _store.remove, self._key)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape))

    @property
    def value(self) -> Tensor:
        """The current value. Later updates do not change it."""
        return guarded(_store.get, self._key)

    def numpy(self) -> Any:
        """The current value as a read-only array."""
        return self.value.numpy()

    def assign(self, value: Any) -> None:
        """Replaces the value."""
        _assign("AssignVariableOp", self, self._fitting(value))

    def assign_add(self, value: Any) -> None:
        """Adds to the value."""
        _assign("AssignAddVariableOp", self, self._fitting(value, broadcast=True))

    def assign_sub(self, value: Any) -> None:
        """Subtracts from the value."""
        _assign("AssignSubVariableOp", self, self._fitting(value, broadcast=True))

    def _fitting(self, value: Any, broadcast: bool = False) -> Tensor:
        array = np.asarray(value.value if isinstance(value, Variable) else value)
        if isinstance(value, (bool, int, float, complex)) and np.can_cast(array.dtype, self.dtype, "same_kind"):
            array = array.astype(self.dtype)
        if array.dtype != self.dtype:
            raise InvalidArgumentError(f"the variable '{self.name}' is of dtype {self.dtype}, not {array.dtype}")
        if array.shape != self.shape:
            if not broadcast and array.ndim:
                raise InvalidArgumentError(f"the variable '{self.name}' is of shape {self.shape}, not {array.shape}")
            try:
                array = np.ascontiguousarray(np.broadcast_to(array, self.shape))
            except ValueError:
                raise InvalidArgumentError(
                    f"the variable '{self.name}' is of shape {self.shape}, not {array.shape}") from None
        return Tensor(array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.value.__array__(dtype, copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(part, Variable) for part in kwargs.get("out", ())):
            return NotImplemented
        plain = [part.value if isinstance(part, Variable) else part for part in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)

    def __getitem__(self, index: Any) -> Tensor:
        return self.value[index]

    def __len__(self) -> int:
        return len(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"Variable({self.name!r}, {self.value!r})"

    def __reduce__(self) -> Any:
        return Variable, (np.array(self.numpy()), None, self.name)


def attributes_of(variable: Variable) -> dict[str, Any]:
    """The attributes of the operator that makes a variable's handle."""
    return {"dtype": variable.dtype.name, "shape": list(variable.shape), "shared_name": variable._key,
            "container": ""}


def _assign(operator: str, variable: Variable, value: Tensor) -> None:
    """Runs an assignment, as a program of its own."""
    key = (operator, variable._key)
    executable = _assigners.get(key)
    if executable is None:
        graph = _native.Graph("main")
        x = graph.argument("x", (value.dtype_name, list(value.shape)))
        handle = graph.op("VarHandleOp", [], attributes_of(variable), [("resource", [])])[0]
        graph.op(operator, [handle, x], {"dtype": value.dtype_name})
        graph.finish([("y", x)])
        executable = guarded(graph.compile, 0, "s", False, None, _store)
        with _lock:
            if len(_assigners) >= MAX_ASSIGNERS:
                _assigners.clear()
            _assigners[key] = executable
    guarded(executable.run, [value])
