"""ONNX Runtime's module of sessions: the names of `befrost.onnxruntime`."""

from .. import InferenceSession, IOBinding, OrtValue

__all__ = ["IOBinding", "InferenceSession", "OrtValue"]
