"""Custom gradients, in a SavedModel and in its graph alone: `testdata/gradients/custom_gradients_*`."""
import json
import pathlib
import shutil

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

CASES = pathlib.Path(__file__).parents[2] / "testdata/gradients"


@tf.custom_gradient
def bounded(x):
    """Captures an operand."""
    return x * x, lambda dy: tf.clip_by_value(dy * 2.0 * x, -1.0, 1.0)


@tf.custom_gradient
def five_times(x):
    """Captures nothing."""
    return x + x, lambda dy: 5.0 * dy


@tf.custom_gradient
def log1pexp(x):
    """Captures what the forward part computes."""
    e = tf.exp(x)
    return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


@tf.custom_gradient
def rotated(x, n, y):
    """Two results, three operands, and no gradient of the one between."""
    def gradient(da, db):
        return 3.0 * da + tf.cast(n, tf.float32) * db, None, da - y * db
    return (x * y, x + y), gradient


class Model(tf.Module):
    def __init__(self, w):
        self.w = w

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x"), tf.TensorSpec([], tf.int32, name="n")])
    def __call__(self, x, n):
        a, b = rotated(self.w * x, n, x)
        sums = [bounded(self.w * x), log1pexp(x), a, b * b]
        # TensorFlow cannot load a gradient that captures what is in a loop.
        z = tf.while_loop(lambda i, z: i < n, lambda i, z: (i + 1, 0.1 * five_times(z)), [0, self.w * x])[1]
        return {"y": tf.add_n([tf.reduce_sum(part) for part in sums]) + tf.reduce_sum(z)}


def scaled(w, v):
    """Captures two variables, one of which only its gradient reads."""
    @tf.custom_gradient
    def scaled(x):
        def gradient(dy, variables):
            return v * dy * variables[0], [3.0 * tf.reduce_sum(dy * x, 0)]
        return x * w, gradient
    return scaled


class Variables(tf.Module):
    """Gradients that capture variables, in a function that another one calls."""

    def __init__(self):
        self.w, self.v = tf.Variable([0.5, 3.0], name="w"), tf.Variable(7.0, name="v")
        of_variables = scaled(self.w, self.v)
        self.inner = tf.function(lambda x: of_variables(x) * of_variables(x))

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x"), tf.TensorSpec([], tf.int32, name="n")])
    def __call__(self, x, n):
        return {"y": tf.reduce_sum(self.inner(x)) * tf.cast(n, tf.float32)}


class EqualNames(tf.Module):
    """Both variables were called `w`."""

    def __init__(self):
        self.w, self.v = tf.Variable([0.5, 3.0], name="w"), tf.Variable([2.0, -1.0], name="w")
        self.of_variables = scaled(self.w, self.v)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x"), tf.TensorSpec([], tf.int32, name="n")])
    def __call__(self, x, n):
        return {"y": tf.reduce_sum(self.of_variables(x) + self.v) * tf.cast(n, tf.float32)}


def write(name, model, xs):
    """Writes a SavedModel, and its gradients after it was loaded."""
    case = CASES / name
    shutil.rmtree(case, ignore_errors=True)
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    tf.saved_model.save(model, case / "model", options=options)
    (case / "model/fingerprint.pb").unlink(missing_ok=True)
    loaded = tf.saved_model.load(case / "model")
    runs = []
    for i, (x, n) in enumerate([([[1.0, 2.0], [-1.0, 0.5]], 3), ([[0.25, -0.75]], 0)]):
        x = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loaded(x, tf.constant(n))["y"]
        found = tape.gradient(y, {of: x if of == "x" else getattr(loaded, of) for of in xs})
        values = {"x": x, "n": np.int32(n)} | {f"grad_{of}": value for of, value in found.items()}
        for value in values:
            np.save(case / f"run{i}_{value}.npy", np.asarray(values[value]))
        feeds = [{"tensor": f"serving_default_{feed}:0", "file": f"run{i}_{feed}.npy"} for feed in "xn"]
        gradients = [{"of": xs[of], "file": f"run{i}_grad_{of}.npy"} for of in xs]
        runs.append({"feeds": feeds, "gradients": gradients})
    return case, {"rtol": 1e-4, "atol": 1e-5, "xs": list(xs.values()), "runs": runs}


def main():
    x = {"x": "serving_default_x:0"}
    for name, model, xs in [
        ("saved", Model(tf.Variable([0.5, 3.0], name="w")), {"w": "w"}),
        ("variables", Variables(), {"w": "w"}),
        # The nodes have the numbers that TensorFlow 2.21 gives them.
        ("equal_names", EqualNames(), {"w": "w_1", "v": "w"}),
    ]:
        case, described = write(f"custom_gradients_{name}", model, x | xs)
        described |= {"model": "model", "ys": ["StatefulPartitionedCall:0"]}
        (case / "case.json").write_text(json.dumps(described, indent=1) + "\n")
    case, described = write("custom_gradients_graph", Model(tf.constant([0.5, 3.0])), x)
    saved = saved_model_pb2.SavedModel.FromString((case / "model/saved_model.pb").read_bytes())
    (case / "graph.pb").write_bytes(saved.meta_graphs[0].graph_def.SerializeToString(deterministic=True))
    shutil.rmtree(case / "model")
    described["ys"] = ["PartitionedCall:0"]
    (case / "case.json").write_text(json.dumps(described, indent=1) + "\n")


if __name__ == "__main__":
    main()
