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
import sys
import threading
import time

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

SEED = 1


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


ENGINES = {"befrost": Befrost, "onnxruntime": OnnxRuntime, "tensorflow": TensorFlow, "openvino": OpenVino}


def feeds_of(inputs, batch):
    """The same numbers for every engine: they are drawn in the order of the names. An unknown size is the batch."""
    rng = np.random.default_rng(SEED)
    feeds = {}
    for name, shape, dtype in sorted(inputs):
        sizes = [batch if size is None or axis == 0 else size for axis, size in enumerate(shape)]
        feeds[name] = rng.standard_normal(sizes).astype(dtype)
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
