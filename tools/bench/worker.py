"""One engine with one model, in a process of its own: `compare.py` starts it and sends commands, a line of JSON each,
which it answers with a line of JSON.

    {"do": "load", "path": .., "threads": n}            seconds, bytes of the program
    {"do": "feed", "batch": n}                          inputs of this batch are made
    {"do": "results", "to": FILE.npz}                   one call, whose outputs are written
    {"do": "calls", "seconds": s, "most": n}            the seconds of each call, CPU seconds of all
    {"do": "concurrent", "seconds": s, "callers": n}    calls per second of several threads that call at once
    {"do": "memory"}                                    peak of the resident memory so far, bytes
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


class Befrost:
    def __init__(self, path, threads):
        import befrost

        self.model = befrost.load(path, threads=threads, progress=False)
        self.inputs = [(port.name, port.shape, port.dtype) for port in self.model.inputs]
        self.size = len(self.model.bef)

    def run(self, feeds):
        return list(self.model.run(feeds))


class OnnxRuntime:
    def __init__(self, path, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        kinds = {"tensor(float)": "float32", "tensor(int64)": "int64", "tensor(int32)": "int32"}
        sizes = lambda shape: [size if isinstance(size, int) else None for size in shape]
        self.inputs = [(x.name, sizes(x.shape), kinds[x.type]) for x in self.session.get_inputs()]
        self.size = os.path.getsize(path)

    def run(self, feeds):
        return self.session.run(None, feeds)


class TensorFlow:
    def __init__(self, path, threads):
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        graph = tf.compat.v1.GraphDef()
        with open(path, "rb") as file:
            graph.ParseFromString(file.read())
        with open(path.removesuffix(".pb") + ".json") as file:
            ports = json.load(file)
        wrap = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(graph, name=""), [])
        inputs, outputs = ([wrap.graph.as_graph_element(name) for name in ports[kind]] for kind in ("inputs", "outputs"))
        self.function = wrap.prune(inputs, outputs)
        self.inputs = [(x.op.name, x.shape.as_list(), x.dtype.as_numpy_dtype.__name__) for x in inputs]
        self.constant = tf.constant
        self.size = os.path.getsize(path)

    def run(self, feeds):
        return [x.numpy() for x in self.function(*(self.constant(feeds[name]) for name, _, _ in self.inputs))]


class OpenVino:
    def __init__(self, path, threads):
        import openvino

        # In f32, as the others: on processors that have bf16 it is OpenVINO's default.
        options = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
        self.model = openvino.Core().compile_model(path, "CPU", options)
        sizes = lambda shape: [None if size.is_dynamic else size.get_length() for size in shape]
        self.inputs = [(x.get_any_name(), sizes(x.partial_shape), x.element_type.to_dtype().name)
                       for x in self.model.inputs]
        # A request serves one caller at a time.
        self.requests = threading.local()
        self.size = os.path.getsize(path)

    def run(self, feeds):
        if not hasattr(self.requests, "own"):
            self.requests.own = self.model.create_infer_request()
        results = self.requests.own.infer(feeds)
        return [results[output] for output in self.model.outputs]


def inputs_of(model):
    """The inputs of an ONNX model, in its order."""
    import onnx

    sizes = lambda shape: [dim.dim_value if dim.HasField("dim_value") else None for dim in shape.dim]
    dtype = lambda kind: onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type).name
    return [(x.name, sizes(x.type.tensor_type.shape), dtype(x.type.tensor_type)) for x in model.graph.input]


class Iree:
    """IREE by its importer of ONNX models, compiled for this processor. Importer and compiler are processes of their
    own, whose memory does not count."""

    def __init__(self, path, threads):
        import iree.compiler.tools
        import iree.runtime
        import onnx

        self.inputs = inputs_of(onnx.load(path))
        with tempfile.TemporaryDirectory() as folder:
            mlir, program = (os.path.join(folder, name) for name in ("model.mlir", "model.vmfb"))
            importer = [sys.executable, "-m", "iree.compiler.tools.import_onnx", path, "-o", mlir]
            imported = subprocess.run(importer, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if imported.returncode != 0:
                raise RuntimeError(imported.stderr.strip().splitlines()[-1])
            # The limit is larger than its default, which the decoder's attention exceeds.
            options = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-llvmcpu-stack-allocation-limit=131072"]
            iree.compiler.tools.compile_file(mlir, output_file=program, target_backends=["llvm-cpu"],
                                             extra_args=options)
            self.size = os.path.getsize(program)
            with open(program, "rb") as file:
                self.program = file.read()
        iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        # `local-sync` computes on the thread that calls.
        self.config = iree.runtime.Config("local-sync" if threads == 1 else "local-task")
        self.runtime = iree.runtime
        # A context serves one caller at a time.
        self.contexts = threading.local()

    def function(self):
        module = self.runtime.VmModule.copy_buffer(self.config.vm_instance, self.program)
        context = self.runtime.SystemContext(vm_modules=[module], config=self.config)
        name = next(name for name in module.function_names if not name.startswith("__") and not name.endswith("$async"))
        return context.modules[module.name][name]

    def run(self, feeds):
        if not hasattr(self.contexts, "own"):
            self.contexts.own = self.function()
        results = self.contexts.own(*(feeds[name] for name, _, _ in self.inputs))
        return [np.asarray(x) for x in (results if isinstance(results, tuple) else (results,))]


def for_onnx2torch(model):
    """The model as onnx2torch reads it: what is constant is computed (weights of convolutions must be initializers),
    means have their axes as before version 18, and no size is zero."""
    import onnx
    import onnx.version_converter
    from onnx.reference import ReferenceEvaluator

    model = onnx.version_converter.convert_version(model, 18)
    constants = {x.name: onnx.numpy_helper.to_array(x) for x in model.graph.initializer}
    nodes = list(model.graph.node)
    del model.graph.node[:], model.graph.initializer[:]
    for node in nodes:
        if node.input and all(name in constants for name in node.input):
            found = ReferenceEvaluator(node).run(None, {name: constants[name] for name in node.input})
            constants.update(zip(node.output, found))
            continue
        if node.op_type == "ReduceMean":
            axes = constants[node.input.pop()].tolist()
            node.attribute.append(onnx.helper.make_attribute("axes", axes))
        if node.op_type == "Reshape":
            del node.attribute[:]
        model.graph.node.append(node)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(np.asarray(x), name) for name, x in constants.items())
    model.opset_import[0].version = 17
    return model


class Torch:
    """PyTorch by onnx2torch, as TorchScript whose weights are frozen: traced for the sizes of a batch at its first
    call."""

    def __init__(self, path, threads):
        import onnx
        import onnx2torch
        import torch

        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        model = onnx.load(path)
        self.inputs = inputs_of(model)
        self.module = onnx2torch.convert(for_onnx2torch(model)).eval()
        self.torch, self.traced = torch, {}
        self.size = os.path.getsize(path)

    def trace(self, inputs):
        script = self.torch.jit.trace(self.module, inputs, check_trace=False)
        script = self.torch.jit.optimize_for_inference(self.torch.jit.freeze(script))
        for _ in range(3):  # It specializes itself during its first calls.
            script(*inputs)
        return script

    def run(self, feeds):
        with self.torch.inference_mode():
            inputs = tuple(self.torch.from_numpy(feeds[name]) for name, _, _ in self.inputs)
            batch = inputs[0].shape[0]
            if batch not in self.traced:
                self.traced[batch] = self.trace(inputs)
            results = self.traced[batch](*inputs)
        return [x.numpy() for x in (results if isinstance(results, (tuple, list)) else (results,))]


# tract, a Rust library, has a worker of its own: tract.rs.
ENGINES = {"befrost": Befrost, "onnxruntime": OnnxRuntime, "tensorflow": TensorFlow, "openvino": OpenVino,
           "iree": Iree, "torch": Torch}


def numbers(first, n):
    """Between -1 and 1, 24 bits of a hash of the index: tract.rs has the same."""
    x = np.arange(first, first + n, dtype=np.uint32) * np.uint32(0x9E3779B9)
    x = (x ^ x >> 16) * np.uint32(0x85EBCA6B)
    x = (x ^ x >> 13) * np.uint32(0xC2B2AE35)
    return ((x ^ x >> 16) >> 8).astype("f") / np.float32(1 << 23) - np.float32(1)


def feeds_of(inputs, batch):
    """The same numbers for every engine, in the order of the names. An unknown size is the batch."""
    feeds, first = {}, 0
    for name, shape, dtype in sorted(inputs):
        sizes = [batch if size is None or axis == 0 else size for axis, size in enumerate(shape)]
        feeds[name] = numbers(first, int(np.prod(sizes))).reshape(sizes).astype(dtype)
        first += feeds[name].size
    return feeds


class Worker:
    def __init__(self, engine):
        self.make = ENGINES[engine]

    def load(self, path, threads):
        start = time.perf_counter()
        self.engine = self.make(path, threads)
        return {"seconds": time.perf_counter() - start, "bytes": self.engine.size}

    def feed(self, batch):
        self.feeds = feeds_of(self.engine.inputs, batch)
        self.engine.run(self.feeds)
        return {}

    def results(self, to):
        np.savez(to, *[np.asarray(x) for x in self.engine.run(self.feeds)])
        return {}

    def calls(self, seconds, most):
        times, begun = [], time.process_time()
        end = time.perf_counter() + seconds
        while len(times) < most and (not times or time.perf_counter() < end):
            start = time.perf_counter()
            self.engine.run(self.feeds)
            times.append(time.perf_counter() - start)
        return {"times": times, "cpu": time.process_time() - begun}

    def concurrent(self, seconds, callers):
        counts, begin = [0] * callers, time.perf_counter()

        def caller(i):
            while time.perf_counter() < begin + seconds:
                self.engine.run(self.feeds)
                counts[i] += 1

        threads = [threading.Thread(target=caller, args=(i,)) for i in range(callers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {"rate": sum(counts) / (time.perf_counter() - begin)}

    def memory(self):
        return {"bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


if __name__ == "__main__":
    # What the engines print must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = getattr(worker, command.pop("do"))(**command)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
