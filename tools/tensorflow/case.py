"""Cases of `testdata/graphdefs` made by TensorFlow: a graph, feeds, and the results that TensorFlow gives.

    case = Case("op_resize", rtol=1e-5)
    x = case.feed("x", array)              a placeholder with the array's shape
    case.fetch("y", tf.raw_ops.Op(x=x))    a result to compare
    case.write()

Operators that are stateful are run as often as `runs` says, in one session, one stored run each.
"""
import json
import os
import shutil

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow.compat.v1 as tf

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata/graphdefs")


class Case:
    def __init__(self, name, rtol=1e-5, atol=1e-6):
        self.name, self.rtol, self.atol = name, rtol, atol
        self.graph = tf.Graph()
        self.scope = self.graph.as_default()
        self.scope.__enter__()
        self.feeds, self.fetches = {}, {}

    def feed(self, name, array, shape="array"):
        """A placeholder fed with the array; `shape` is its static shape, None an unknown one."""
        array = np.asarray(array)
        assert name not in self.feeds, name
        self.feeds[name] = array
        shape = array.shape if shape == "array" else shape
        return tf.placeholder(tf.as_dtype(array.dtype), shape, name=name)

    def fetch(self, name, *tensors):
        """Results to store; several are numbered."""
        for i, tensor in enumerate(tensors):
            result = name if len(tensors) == 1 else f"{name}_{i}"
            assert result not in self.fetches, result
            self.fetches[result] = tf.identity(tensor, name=result)

    def write(self, runs=1):
        self.scope.__exit__(None, None, None)
        folder = os.path.join(ROOT, self.name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        definition = self.graph.as_graph_def()
        definition.ClearField("versions")
        with open(os.path.join(folder, "graph.pb"), "wb") as file:
            file.write(definition.SerializeToString(deterministic=True))
        stored = []
        with tf.Session(graph=self.graph) as session:
            for i in range(runs):
                given = {f"{name}:0": array for name, array in self.feeds.items()}
                results = session.run(self.fetches, given)
                stored.append({
                    **({"calls": i + 1} if i else {}),
                    "feeds": [self.store(folder, f"feed_{name}", name, x) for name, x in self.feeds.items()],
                    "outputs": [self.store(folder, f"run{i}_{name}", name, x) for name, x in results.items()],
                })
        ops = {}
        for node in definition.node:
            ops[node.op] = ops.get(node.op, 0) + 1
        description = {
            "case": self.name,
            "fetches": [f"{name}:0" for name in self.fetches],
            "rtol": self.rtol,
            "atol": self.atol,
            "ops": dict(sorted(ops.items())),
            "runs": stored,
        }
        with open(os.path.join(folder, "feeds.json"), "w") as file:
            json.dump(description, file, indent=None, separators=(",", ": "))
            file.write("\n")
        size = sum(entry.stat().st_size for entry in os.scandir(folder))
        print(f"{self.name}: {len(self.fetches)} results, {size} bytes")

    @staticmethod
    def store(folder, file, name, array):
        array = np.asarray(array)
        if array.dtype.name == "bfloat16":
            raise ValueError(f"{name}: npy files have no bfloat16; cast it")
        if array.dtype == object:
            array = array.astype("S")
        np.save(os.path.join(folder, f"{file}.npy"), array)
        return {"tensor": f"{name}:0", "file": f"{file}.npy"}


def normal(seed, *shape, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def integers(seed, low, high, *shape, dtype=np.int32):
    return np.random.default_rng(seed).integers(low, high, size=shape).astype(dtype)
