"""The part of ONNX Runtime's Python interface that most programs use: change the import, keep the rest.

    import befrost.onnxruntime as ort
    session = ort.InferenceSession("model.onnx")
    session.run(["logits"], {"images": x})
"""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from ._model import Model

_TYPES = {"f32": "tensor(float)", "f64": "tensor(double)", "i64": "tensor(int64)", "i32": "tensor(int32)",
          "i1": "tensor(bool)", "ui8": "tensor(uint8)", "i8": "tensor(int8)", "f16": "tensor(float16)"}


class NodeArg:
    """An input or an output: name, shape, type."""

    def __init__(self, name: str, type: str):
        self.name = name
        text = type[type.find("<") + 1:type.rfind(">")] if "<" in type else ""
        parts = text.split("x") if text else []
        self.shape = [None if part in ("?", "*") else int(part) for part in parts[:-1]]
        self.type = _TYPES.get(parts[-1] if parts else "", type)

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


class SessionOptions:
    """Accepted and ignored: there is nothing to tune."""

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level: Any = None


class RunOptions:
    """Accepted and ignored."""


class InferenceSession:
    """A model that is run with arrays by name."""

    def __init__(self, path_or_bytes: str | os.PathLike[str], sess_options: SessionOptions | None = None,
                 providers: Sequence[Any] | None = None, **kwargs: Any):
        if isinstance(path_or_bytes, (bytes, bytearray)):
            raise TypeError("give the path of the model: models in memory are not supported yet")
        self._model = Model(path_or_bytes)

    def get_inputs(self) -> list[NodeArg]:
        return [NodeArg(port.name, port.type) for port in self._model.inputs]

    def get_outputs(self) -> list[NodeArg]:
        return [NodeArg(port.name, port.type) for port in self._model.outputs]

    def get_providers(self) -> list[str]:
        return ["CPUExecutionProvider"]

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any],
            run_options: RunOptions | None = None) -> list[Any]:
        made = self._model.run(input_feed)
        return list(made) if not output_names else [made[name] for name in output_names]


def get_available_providers() -> list[str]:
    return ["CPUExecutionProvider"]
