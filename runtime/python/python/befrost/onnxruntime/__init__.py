"""The part of ONNX Runtime's Python interface that most programs use: change the import, keep the rest.

    import befrost.onnxruntime as ort
    session = ort.InferenceSession("model.onnx")
    session.run(["logits"], {"images": x})

    binding = session.io_binding()
    binding.bind_cpu_input("images", x); binding.bind_output("logits")
    session.run_with_iobinding(binding); binding.copy_outputs_to_cpu()
"""

from __future__ import annotations

import enum
import os
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from .. import __version__, _native
from .._errors import (
    CancelledError, Error, FailedPreconditionError, InvalidArgumentError, NotFoundError, UnimplementedError, check_file,
)
from .._model import Model, Port, load, unknown, write_file
from .._native import Tensor
from .._onnx_header import Header, header_of, header_of_file
from .._trace import text_of_events

# ONNX Runtime's names of exceptions.
Fail = RuntimeException = EPFail = Error
InvalidArgument = InvalidGraph = InvalidProtobuf = NoModel = InvalidArgumentError
NoSuchFile = NotFound = NotFoundError
NotImplemented = UnimplementedError

class UnknownName(NotFoundError, InvalidArgumentError):
    """A name that a model does not have: an `InvalidArgument` of ONNX Runtime's."""


_TYPES = {"float32": "tensor(float)", "float64": "tensor(double)", "int64": "tensor(int64)", "int32": "tensor(int32)",
          "bool": "tensor(bool)", "uint8": "tensor(uint8)", "int8": "tensor(int8)", "float16": "tensor(float16)",
          "int16": "tensor(int16)", "uint16": "tensor(uint16)", "uint32": "tensor(uint32)",
          "uint64": "tensor(uint64)", "bfloat16": "tensor(bfloat16)", "complex64": "tensor(complex64)",
          "complex128": "tensor(complex128)", "str": "tensor(string)", "object": "tensor(string)"}


# The numbers of ONNX's element types.
_NUMBERS = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "str": 8, "object": 8,
            "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15,
            "bfloat16": 16}


def _dtype(element_type: Any) -> np.dtype[Any]:
    """A dtype, or that of the number of one of ONNX's element types."""
    if isinstance(element_type, int):
        names = [name for name, number in _NUMBERS.items() if number == element_type]
        if not names:
            raise InvalidArgumentError(f"{element_type} is no element type of ONNX's")
        element_type = names[0]
    found: np.dtype[Any] = np.dtype(element_type)
    return found


def _memory(what: str, address: int, element_type: Any, shape: Sequence[int]) -> Any:
    """An array over memory of someone else's."""
    import ctypes

    dtype = _dtype(element_type)
    n_bytes = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    if address == 0 and n_bytes:
        raise InvalidArgumentError(f"the address of the {what} is 0")
    memory: Any = (ctypes.c_char * n_bytes).from_address(address) if n_bytes else bytearray()
    return np.frombuffer(memory, dtype).reshape(tuple(shape))


class GraphOptimizationLevel(enum.IntEnum):
    """Levels of optimization."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Accepted and ignored."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """Accepted and ignored."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class NodeArg:
    """An input or an output: name, shape, type."""

    def __init__(self, port: Port, header: Header | None = None):
        self.name = port.name
        shape = port.shape
        self.shape: list[int | str | None] = [] if shape is None else list(shape)
        declared = header.sizes.get(port.name, []) if header is not None else []
        if len(declared) == len(self.shape):
            # The model's names of sizes.
            self.shape = [name if size is None else size for size, name in zip(self.shape, declared)]
        self.type = _TYPES.get(port.dtype or "", port.type)

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


class SessionOptions:
    """Options of a session: optimization and the number of threads are used, the rest is accepted."""

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level: Any = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode: Any = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order: Any = ExecutionOrder.DEFAULT
        self.enable_profiling = False
        self.profile_file_prefix = "onnxruntime_profile_"
        self.optimized_model_filepath = ""
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_cpu_mem_arena = True
        self.use_deterministic_compute = False
        self.use_per_session_threads = True
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self._entries: dict[str, str] = {}
        self._libraries: list[str] = []

    def register_custom_ops_library(self, path: str | os.PathLike[str]) -> None:
        """Adds a kernel library of Befrost's, whose code runs in this process."""
        self._libraries.append(os.fspath(path))

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Accepted."""
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """What was set."""
        if key not in self._entries:
            raise FailedPreconditionError(f"the options have no configuration with the key '{key}'")
        return self._entries[key]

    def has_session_config_entry(self, key: str) -> bool:
        """Whether it was set."""
        return key in self._entries

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Accepted: a program runs all sizes, and one of their own is compiled for those that come often."""

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        """Accepted."""


class RunOptions:
    """Options of a run. Setting `terminate` ends the runs that go on with them. `timeout`, in seconds, is Befrost's own."""

    def __init__(self) -> None:
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self.timeout: float | None = None
        self._scopes: list[_native.CancelScope] = []
        self._is_terminated = False

    @property
    def terminate(self) -> bool:
        """Whether runs with these options end."""
        return self._is_terminated

    @terminate.setter
    def terminate(self, value: bool) -> None:
        self._is_terminated = value
        if value:
            for scope in [*self._scopes]:
                scope.cancel()

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Accepted."""


class OrtValue:
    """A tensor that is bound to an input or comes from an output."""

    def __init__(self, value: Any):
        self._value = value

    @staticmethod
    def ortvalue_from_numpy(array: Any, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """A value with the contents of an array."""
        _only_cpu(device_type)
        return OrtValue(Tensor(array))

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any = np.float32, device_type: str = "cpu",
                                     device_id: int = 0) -> OrtValue:
        """A value with room for an array, which an output can be written to."""
        _only_cpu(device_type)
        return OrtValue(np.empty(tuple(shape), _dtype(element_type)))

    def update_inplace(self, array: Any) -> None:
        """Writes an array to the value."""
        if not isinstance(self._value, np.ndarray):
            self._value = np.array(self._value)
        if self._value.shape != array.shape or self._value.dtype != array.dtype:
            raise InvalidArgumentError(f"the value is {self._value.dtype}{list(self._value.shape)}, not "
                                       f"{array.dtype}{list(array.shape)}")
        np.copyto(self._value, array)

    def numpy(self) -> Any:
        """An array over it."""
        return self._value.numpy() if isinstance(self._value, Tensor) else self._value

    def shape(self) -> list[int]:
        """The sizes."""
        return list(self._value.shape)

    def data_type(self) -> str:
        """Its type, in ONNX Runtime's words."""
        return _TYPES[self.numpy().dtype.name]

    def element_type(self) -> int:
        """The number of its element type in ONNX."""
        return _NUMBERS[self.numpy().dtype.name]

    def data_ptr(self) -> int:
        """The address of its first element."""
        if isinstance(self._value, Tensor):
            self._value = np.array(self._value)  # which can be written to
        return int(self._value.ctypes.data)

    def is_sparse_tensor(self) -> bool:
        """False."""
        return False

    def is_tensor_sequence(self) -> bool:
        """False."""
        return False

    def device_name(self) -> str:
        """`cpu`."""
        return "cpu"

    def is_tensor(self) -> bool:
        """True."""
        return True

    def has_value(self) -> bool:
        """True."""
        return True


def _only_cpu(device_type: str) -> None:
    if device_type != "cpu":
        raise InvalidArgumentError(f"there is no device '{device_type}'; there is 'cpu'")


class IOBinding:
    """Inputs and outputs that are bound before a run."""

    def __init__(self, session: InferenceSession):
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}
        self._values: list[OrtValue] = []

    def bind_cpu_input(self, name: str, array: Any) -> None:
        """Binds an array to an input; nothing is copied."""
        self._session._check("input", name)
        self._inputs[name] = array

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int],
                   buffer_ptr: int) -> None:
        """Binds memory at an address, such as that of another package's tensor, which must live until the run has
        ended."""
        _only_cpu(device_type)
        self._session._check("input", name)
        self._inputs[name] = _memory(f"input '{name}'", buffer_ptr, element_type, shape)

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        """Binds a value to an input."""
        self._session._check("input", name)
        self._inputs[name] = value._value

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Any = None, buffer_ptr: Any = None) -> None:
        """Asks for an output; with an address, to be written there."""
        _only_cpu(device_type)
        self._session._check("output", name)
        if buffer_ptr is not None and (element_type is None or shape is None):
            raise InvalidArgumentError(f"the output '{name}' is written to an address: give its element type and shape")
        self._outputs[name] = None if buffer_ptr is None else _memory(f"output '{name}'", buffer_ptr, element_type, shape)

    def bind_ortvalue_output(self, name: str, value: OrtValue) -> None:
        """Asks for an output, to be written to the array of a value."""
        self._session._check("output", name)
        target = value._value
        if not isinstance(target, np.ndarray) or not target.flags.writeable:
            raise InvalidArgumentError("an output is written to an array that can be written to: OrtValue(array)")
        self._outputs[name] = target

    def clear_binding_inputs(self) -> None:
        """Forgets the inputs."""
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Forgets the outputs."""
        self._outputs.clear()

    def synchronize_inputs(self) -> None:
        """Nothing: there is one device."""

    def synchronize_outputs(self) -> None:
        """Nothing: there is one device."""

    def get_outputs(self) -> list[OrtValue]:
        """The outputs of the last run, in the order in which they were bound."""
        return list(self._values)

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The outputs of the last run as arrays."""
        return [value.numpy() for value in self._values]


class ModelMetadata:
    """What a model says about itself."""

    def __init__(self, header: Header):
        self.producer_name = header.producer_name
        self.graph_name = header.graph_name
        self.domain = header.domain
        self.description = header.description
        self.graph_description = header.graph_description
        self.version = header.version
        self.custom_metadata_map = dict(header.metadata)


class InferenceSession:
    """A model that is run with arrays by name."""

    def __init__(self, path_or_bytes: str | os.PathLike[str] | bytes, sess_options: SessionOptions | None = None,
                 providers: Sequence[Any] | None = None, provider_options: Sequence[Any] | None = None, **kwargs: Any):
        options = sess_options or SessionOptions()
        if options.optimized_model_filepath:
            raise UnimplementedError("an optimized model is not written as ONNX: `befrost.load(..).save(path)` writes BEF")
        if not isinstance(path_or_bytes, bytes):
            check_file(os.fspath(path_or_bytes))
        level = {0: 0, 1: 1}.get(int(options.graph_optimization_level))
        threads = options.intra_op_num_threads or None
        self._options = options
        self._model: Model = load(path_or_bytes, level=level, threads=threads, progress=False, libraries=options._libraries)
        self.set_providers(providers or [])
        if isinstance(path_or_bytes, bytes):
            self._header = header_of(memoryview(path_or_bytes))
        else:
            self._header = header_of_file(os.fspath(path_or_bytes))
        self._inputs = [NodeArg(port, self._header) for port in self._model.inputs]
        self._outputs = [NodeArg(port, self._header) for port in self._model.outputs]
        if options.enable_profiling:
            _native.trace_begin()
        self._names = [port.name for port in self._model.outputs]
        self._dtypes = {port.name: port.dtype for port in self._model.inputs}

    def get_inputs(self) -> list[NodeArg]:
        """The inputs."""
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        """The outputs."""
        return list(self._outputs)

    def get_providers(self) -> list[str]:
        """What executes it."""
        return get_available_providers()

    def set_providers(self, providers: Sequence[Any], provider_options: Sequence[Any] | None = None) -> None:
        """Accepts what executes it here: providers that are not there are passed over, as ONNX Runtime does."""
        for provider in providers:
            name = provider[0] if isinstance(provider, tuple) else provider
            if not isinstance(name, str):
                raise InvalidArgumentError(f"a provider is {name!r}, not a name")

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """None: `{"CPUExecutionProvider": {}}`."""
        return {name: {} for name in self.get_providers()}

    def get_modelmeta(self) -> ModelMetadata:
        """What the model says about itself; empty for models that are not of ONNX."""
        return ModelMetadata(self._header)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """The inputs that have values in the model."""
        return [node for node in self._inputs if node.name in self._header.initializers]

    def end_profiling(self) -> str:
        """Writes the times of the runs since the session was made, for chrome://tracing. Returns the file's name."""
        import time

        if not self._options.enable_profiling:
            raise FailedPreconditionError("profiling was not enabled in the session's options")
        path = f"{self._options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}.json"
        write_file(path, text_of_events(_native.trace_end()))
        return path

    def get_session_options(self) -> SessionOptions:
        """The options that it was made with."""
        return self._options

    def _check(self, what: str, name: str) -> None:
        names = [port.name for port in (self._inputs if what == "input" else self._outputs)]
        if name not in names:
            raise UnknownName(unknown(what, name, names).message)

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any],
            run_options: RunOptions | None = None) -> list[Any]:
        """Runs the model. The outputs are arrays, in the order of their names."""
        feeds = {}
        for name, value in input_feed.items():
            if name not in self._dtypes:
                self._check("input", name)
            if isinstance(value, (list, tuple, int, float)):
                value = np.asarray(value, self._dtypes[name])
            feeds[name] = value._value if isinstance(value, OrtValue) else value
        if run_options is None:
            made = self._model.run(feeds)
        else:
            scope = _native.CancelScope()
            run_options._scopes.append(scope)
            scope.enter()
            try:
                if run_options.terminate:
                    raise CancelledError("the run was terminated by its options")
                made = self._model.run(feeds, timeout=run_options.timeout)
            finally:
                scope.leave()
                run_options._scopes.remove(scope)
        if not output_names:
            return list(made)
        for name in output_names:
            self._check("output", name)
        return [made[name] for name in output_names]

    def run_async(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any],
                  callback: Callable[[list[Any], Any, str], Any], user_data: Any,
                  run_options: RunOptions | None = None) -> None:
        """`run` on a thread of its own, which calls `callback(outputs, user_data, error)`: the error is empty if there was
        none."""
        import threading

        def work() -> None:
            made: list[Any] = []
            error = ""
            try:
                made = self.run(output_names, input_feed, run_options)
            except Exception as wrong:
                error = str(wrong) or type(wrong).__name__
            callback(made, user_data, error)

        threading.Thread(target=work).start()

    def disable_fallback(self) -> None:
        """Nothing: there is one provider."""

    def enable_fallback(self) -> None:
        """Nothing: there is one provider."""

    def run_with_ort_values(self, output_names: Sequence[str] | None, input_feed: Mapping[str, OrtValue],
                            run_options: RunOptions | None = None) -> list[OrtValue]:
        """`run`, on values."""
        return [OrtValue(value) for value in self.run(output_names, input_feed, run_options)]

    def io_binding(self) -> IOBinding:
        """Bindings for `run_with_iobinding`."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Runs the model on what is bound."""
        names = list(iobinding._outputs) or self._names
        made = self.run(names, iobinding._inputs, run_options)
        values = []
        for name, value in zip(names, made):
            target = iobinding._outputs.get(name)
            if target is not None:
                if target.shape != value.shape or target.dtype != value.dtype:
                    raise InvalidArgumentError(f"the output '{name}' is {value.dtype}{list(value.shape)}, "
                                               f"the bound array {target.dtype}{list(target.shape)}")
                np.copyto(target, value)
                value = target
            values.append(OrtValue(value))
        iobinding._values = values


def get_available_providers() -> list[str]:
    """What can execute models."""
    return ["CPUExecutionProvider"]


def get_all_providers() -> list[str]:
    """What can execute models."""
    return get_available_providers()


def get_version_string() -> str:
    """Befrost's version."""
    return __version__


def get_build_info() -> str:
    """Befrost's name and version."""
    return f"befrost {__version__}"


def set_seed(seed: int) -> None:
    """Accepted: random operators of ONNX have seeds of their own."""


def set_default_logger_severity(level: int) -> None:
    """Accepted."""


def set_default_logger_verbosity(level: int) -> None:
    """Accepted."""


def enable_telemetry_events() -> None:
    """Nothing: there are none."""


def disable_telemetry_events() -> None:
    """Nothing: there are none."""


def get_device() -> str:
    """`CPU`."""
    return "CPU"


# Its names come from here.
from . import capi  # noqa: E402

__all__ = [
    "EPFail", "ExecutionMode", "ExecutionOrder", "Fail", "GraphOptimizationLevel", "IOBinding", "InferenceSession",
    "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "ModelMetadata", "NoModel", "NoSuchFile", "NodeArg",
    "NotFound", "NotImplemented", "OrtValue", "RunOptions", "RuntimeException", "SessionOptions", "UnknownName", "__version__",
    "capi", "disable_telemetry_events", "enable_telemetry_events", "get_all_providers", "get_available_providers",
    "get_build_info", "get_device", "get_version_string", "set_default_logger_severity", "set_default_logger_verbosity",
    "set_seed",
]
