"""Befrost: models and Python functions, compiled and run by a small, safe runtime.

    load("model.onnx")        a model; call it with arrays
    @function                 a Python function, compiled when it is called
    Session("graph.pb")       a graph with variables: any tensor fed, any fetched
    tensor([1., 2.])          an array of the runtime
    tf.Conv2D(x, w, ...)      an operator of TensorFlow's, run at once
"""

from __future__ import annotations

from ._errors import (
    CheckFailedError, CompileError, DeadlineExceededError, DivisionError, Error, InvalidArgumentError, NotFoundError,
    OutOfRangeError, ResourceExhaustedError, UnimplementedError,
)
from . import tf
from ._function import Function, FunctionStats, Spec, function, spec
from ._functions import range, static
from ._model import Model, Outputs, Port, load
from ._native import __version__
from ._session import Session, SessionStats, Variables
from ._tensor import Tensor, tensor

__all__ = [
    "CheckFailedError", "CompileError", "DeadlineExceededError", "DivisionError", "Error", "Function",
    "FunctionStats", "InvalidArgumentError", "Model", "NotFoundError", "OutOfRangeError", "Outputs", "Port",
    "ResourceExhaustedError", "Session", "SessionStats", "Spec", "Tensor", "UnimplementedError", "Variables",
    "__version__", "function", "load", "range", "spec", "static", "tensor", "tf",
]
