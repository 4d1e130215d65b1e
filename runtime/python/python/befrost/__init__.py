"""Befrost: models and Python functions, compiled and run by a small, safe runtime.

    load("model.onnx")        a model; call it with arrays
    @function                 a Python function, compiled when it is called
    tensor([1., 2.])          an array of the runtime
"""

from __future__ import annotations

from ._errors import (
    CheckFailedError, CompileError, DeadlineExceededError, DivisionError, Error, InvalidArgumentError, NotFoundError,
    OutOfRangeError, ResourceExhaustedError, UnimplementedError,
)
from ._function import Function, FunctionStats, Spec, function, spec
from ._model import Model, load
from ._native import __version__
from ._tensor import Tensor, tensor

__all__ = [
    "CheckFailedError", "CompileError", "DeadlineExceededError", "DivisionError", "Error", "Function",
    "FunctionStats", "InvalidArgumentError", "Model", "NotFoundError", "OutOfRangeError", "ResourceExhaustedError",
    "Spec", "Tensor", "UnimplementedError", "__version__", "function", "load", "spec", "tensor",
]
