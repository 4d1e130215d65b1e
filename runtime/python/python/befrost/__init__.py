"""Befrost: models and Python functions, compiled and run by a small, safe runtime.

    load("model.onnx")        a model; call it with arrays
    @function                 a Python function, compiled when it is called
    Session("graph.pb")       a graph with variables: any tensor fed, any fetched
    tensor([1., 2.])          an array of the runtime
    tf.Conv2D(x, w, ...)      an operator of TensorFlow's, run at once
"""

from __future__ import annotations

from typing import Any

from . import _names, tf
from ._errors import (
    CheckFailedError, CompileError, DeadlineExceededError, DivisionError, Error, InvalidArgumentError, NotFoundError,
    OutOfRangeError, ResourceExhaustedError, UnimplementedError,
)
from ._function import Function, FunctionStats, Spec, function, grad, spec, value_and_grad
from ._functions import range, static
from ._model import Model, Outputs, Port, load
from ._native import __version__
from ._session import Session, SessionStats, Variables
from ._tensor import Tensor, tensor


def __getattr__(name: str) -> Any:
    if name in _names.NAMES:
        made = globals()[name] = _names.NumPyFunction(name)
        return made
    raise AttributeError(f"module 'befrost' has no attribute '{name}'")


__all__ = [
    "CheckFailedError", "CompileError", "DeadlineExceededError", "DivisionError", "Error", "Function",
    "FunctionStats", "InvalidArgumentError", "Model", "NotFoundError", "OutOfRangeError", "Outputs", "Port",
    "ResourceExhaustedError", "Session", "SessionStats", "Spec", "Tensor", "UnimplementedError", "Variables",
    "__version__", "function", "grad", "load", "range", "spec", "static", "tensor", "tf", "value_and_grad",
]
