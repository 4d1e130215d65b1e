"""ONNX Runtime's native module: the names of `befrost.onnxruntime`.

    from befrost.onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
"""

from .. import (
    EPFail, ExecutionMode, ExecutionOrder, Fail, GraphOptimizationLevel, InferenceSession, InvalidArgument, InvalidGraph,
    InvalidProtobuf, ModelMetadata, NodeArg, NoModel, NoSuchFile, NotFound, NotImplemented, OrtValue, RunOptions,
    RuntimeException, SessionOptions, disable_telemetry_events, enable_telemetry_events, get_all_providers,
    get_available_providers, get_build_info, get_device, get_version_string, set_default_logger_severity,
    set_default_logger_verbosity, set_seed,
)

__all__ = [
    "EPFail", "ExecutionMode", "ExecutionOrder", "Fail", "GraphOptimizationLevel", "InferenceSession", "InvalidArgument",
    "InvalidGraph", "InvalidProtobuf", "ModelMetadata", "NoModel", "NoSuchFile", "NodeArg", "NotFound", "NotImplemented",
    "OrtValue", "RunOptions", "RuntimeException", "SessionOptions", "disable_telemetry_events",
    "enable_telemetry_events", "get_all_providers", "get_available_providers", "get_build_info", "get_device",
    "get_version_string", "set_default_logger_severity", "set_default_logger_verbosity", "set_seed",
]
