"""The modules in which ONNX Runtime's classes and exceptions are defined, and where programs look for them."""

from . import onnxruntime_inference_collection, onnxruntime_pybind11_state

__all__ = ["onnxruntime_inference_collection", "onnxruntime_pybind11_state"]
