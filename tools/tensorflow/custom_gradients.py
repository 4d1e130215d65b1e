"""Custom gradients as SavedModels have them: `testdata/gradients/custom_gradients_saved`."""
import json
import pathlib
import shutil

import numpy as np
import tensorflow as tf

CASE = pathlib.Path(__file__).parents[2] / "testdata/gradients/custom_gradients_saved"


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
    def __init__(self):
        self.w = tf.Variable([0.5, 3.0], name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x"), tf.TensorSpec([], tf.int32, name="n")])
    def __call__(self, x, n):
        a, b = rotated(self.w * x, n, x)
        sums = [bounded(self.w * x), log1pexp(x), a, b * b]
        # TensorFlow cannot load a gradient that captures what is in a loop.
        z = tf.while_loop(lambda i, z: i < n, lambda i, z: (i + 1, 0.1 * five_times(z)), [0, self.w * x])[1]
        return {"y": tf.add_n([tf.reduce_sum(part) for part in sums]) + tf.reduce_sum(z)}


def main():
    shutil.rmtree(CASE, ignore_errors=True)
    model = Model()
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    tf.saved_model.save(model, CASE / "model", options=options)
    (CASE / "model/fingerprint.pb").unlink(missing_ok=True)
    loaded = tf.saved_model.load(CASE / "model")
    runs = []
    for i, (x, n) in enumerate([([[1.0, 2.0], [-1.0, 0.5]], 3), ([[0.25, -0.75]], 0)]):
        x = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loaded(x, tf.constant(n))["y"]
        found = tape.gradient(y, [x, loaded.w])
        files = {"x": x, "n": np.int32(n), "y": y, "grad_x": found[0], "grad_w": found[1]}
        for name, value in files.items():
            np.save(CASE / f"run{i}_{name}.npy", np.asarray(value))
        feeds = [{"tensor": f"serving_default_{name}:0", "file": f"run{i}_{name}.npy"} for name in "xn"]
        gradients = [{"of": "serving_default_x:0", "file": f"run{i}_grad_x.npy"},
                     {"of": "w", "file": f"run{i}_grad_w.npy"}]
        outputs = [{"tensor": "StatefulPartitionedCall:0", "file": f"run{i}_y.npy"}]
        runs.append({"feeds": feeds, "outputs": outputs, "gradients": gradients})
    case = {"model": "model", "rtol": 1e-4, "atol": 1e-5, "ys": ["StatefulPartitionedCall:0"],
            "xs": ["serving_default_x:0", "w"], "runs": runs}
    (CASE / "case.json").write_text(json.dumps(case, indent=1) + "\n")


if __name__ == "__main__":
    main()
