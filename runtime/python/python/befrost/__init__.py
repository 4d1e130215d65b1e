"""Befrost: models and Python functions, compiled and run by a small, safe runtime.

    load("model.onnx")        a model; call it with arrays
    @function                 a Python function, compiled when it is called
    Session("graph.pb")       a graph with variables: any tensor fed, any fetched
    tensor([1., 2.])          an array of the runtime
    tf.Conv2D(x, w, ...)      one of TensorFlow's operators, run at once
"""

from __future__ import annotations

import os as _os

from . import _native, core, tf
from ._errors import (
    CancelledError, CheckFailedError, CompileError, CompileRangeError, DeadlineExceededError, DivisionError, Error,
    FailedPreconditionError, InvalidArgumentError, MissingFileError, NotFoundError, OutOfRangeError,
    ResourceExhaustedError, UnimplementedError, WrongRangeError, WrongTypeError,
)
from ._explain import explain
from ._function import Function, FunctionStats, Spec, function, grad, spec, value_and_grad
from ._functions import range, static, timeout
from ._model import Model, ModelStats, Outputs, Port, Variables, load
from ._names import *
from ._native import __version__
from ._runtime import Runtime
from ._session import Session, SessionStats
from ._tensor import Tensor, from_dlpack, tensor
from ._trace import trace, trace_process
from ._variable import Variable

_native.watch_interrupts()
trace_process()
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(before=_native.before_fork, after_in_parent=_native.after_fork_in_parent,
                         after_in_child=_native.after_fork_in_child)

# Not the names of the Array API, which would hide Python's own: `abs`, `sum`, `bool`.
__all__ = [
    "CancelledError", "CheckFailedError", "CompileError", "CompileRangeError", "DeadlineExceededError", "DivisionError", "Error",
    "FailedPreconditionError", "Function", "FunctionStats", "InvalidArgumentError", "MissingFileError", "Model", "ModelStats",
    "NotFoundError", "OutOfRangeError", "Outputs", "Port", "ResourceExhaustedError", "Runtime", "Session",
    "SessionStats", "Spec", "Tensor", "UnimplementedError", "Variable", "Variables", "WrongRangeError",
    "WrongTypeError", "__version__", "core", "explain", "from_dlpack", "function", "grad", "load", "range", "spec", "static", "tensor", "tf", "timeout", "trace",
    "value_and_grad",
]
