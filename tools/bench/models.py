"""Writes the models that speed is measured on: frozen GraphDefs with random seeded weights, one input each,
and TensorFlow's answer to compare with.

    python3 -m venv venv && venv/bin/pip install tensorflow-cpu
    venv/bin/python tools/bench/models.py DIRECTORY [MODEL ...]

For each model and batch size DIRECTORY gets NAME_bN.pb, NAME_bN.in.npy and NAME_bN.out.npy. `?` in place of N
is an unknown batch size. Run one with

    bef-exec NAME_b1.pb --input NAME_b1.in.npy --expect NAME_b1.out.npy --rtol 1e-3 --repeat 200 --warmup 20
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

SEED = 1


def dense(x, n, activation=None, scale=None):
    k = int(x.shape[-1])
    w = tf.constant(RNG.standard_normal((k, n)).astype("f") * (scale or (2.0 / k) ** 0.5))
    b = tf.constant(RNG.standard_normal(n).astype("f") * 0.1)
    y = tf.linalg.matmul(x, w) + b
    return activation(y) if activation else y


def conv(x, n, size, padding):
    k = size * size * int(x.shape[-1])
    w = tf.constant(RNG.standard_normal((size, size, int(x.shape[-1]), n)).astype("f") * (2.0 / k) ** 0.5)
    b = tf.constant(RNG.standard_normal(n).astype("f") * 0.1)
    return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, padding), b))


def mlp(x):
    x = dense(x, 512, tf.nn.relu)
    x = dense(x, 512, tf.nn.relu)
    return tf.nn.softmax(dense(x, 10))


def lenet(x):
    x = tf.nn.max_pool2d(conv(x, 6, 5, "SAME"), 2, 2, "VALID")
    x = tf.nn.max_pool2d(conv(x, 16, 5, "VALID"), 2, 2, "VALID")
    x = tf.reshape(x, [-1, 400])
    x = dense(dense(x, 120, tf.nn.relu), 84, tf.nn.relu)
    return tf.nn.softmax(dense(x, 10))


def norm(x):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    n = int(x.shape[-1])
    gamma, beta = (tf.constant(1 + 0.1 * RNG.standard_normal(n).astype("f")) for _ in range(2))
    return (x - mean) * tf.math.rsqrt(variance + 1e-6) * gamma + beta


def bert(x, layers=6, heads=12):
    hidden, tokens = int(x.shape[-1]), int(x.shape[-2])
    split = lambda t: tf.transpose(tf.reshape(t, [-1, tokens, heads, hidden // heads]), [0, 2, 1, 3])
    for _ in range(layers):
        q, k, v = (split(dense(x, hidden, scale=hidden**-0.5)) for _ in range(3))
        a = tf.nn.softmax(tf.linalg.matmul(q, k, transpose_b=True) * (hidden // heads) ** -0.5)
        a = tf.reshape(tf.transpose(tf.linalg.matmul(a, v), [0, 2, 1, 3]), [-1, tokens, hidden])
        x = norm(x + dense(a, hidden, scale=hidden**-0.5))
        f = dense(x, 4 * hidden, lambda t: 0.5 * t * (1 + tf.math.erf(t * 2**-0.5)))
        x = norm(x + dense(f, hidden, scale=(4 * hidden) ** -0.5))
    return x


MODELS = {
    "mlp": (mlp, [784], [1, 64, "?"]),
    "lenet": (lenet, [28, 28, 1], [1, 32, "?"]),
    "bert": (bert, [128, 384], [1, "?"]),
    "mobilenetv2": ("MobileNetV2", [224, 224, 3], [1, "?"]),
    "efficientnetv2b0": ("EfficientNetV2B0", [224, 224, 3], [1, "?"]),
    "resnet50": ("ResNet50", [224, 224, 3], [1, "?"]),
    "vgg19": ("VGG19", [224, 224, 3], [1]),
}


def write(directory, name, make, shape, batch):
    global RNG
    RNG = np.random.default_rng(SEED)
    spec = tf.TensorSpec([None if batch == "?" else batch] + shape, tf.float32, name="x")
    if isinstance(make, str):
        # The layers make their variables here, outside of the trace.
        tf.keras.utils.set_random_seed(SEED)
        model = getattr(tf.keras.applications, make)(weights=None)
        make = lambda x: model(x, training=False)
    function = tf.function(make, input_signature=[spec])
    frozen = convert_variables_to_constants_v2(function.get_concrete_function())
    path = os.path.join(directory, f"{name}_b{'N' if batch == '?' else batch}")
    with open(path + ".pb", "wb") as file:
        file.write(frozen.graph.as_graph_def().SerializeToString())
    x = RNG.standard_normal([1 if batch == "?" else batch] + shape).astype("f")
    np.save(path + ".in.npy", x)
    np.save(path + ".out.npy", np.asarray(frozen(tf.constant(x))[0]))
    print(path, flush=True)


if __name__ == "__main__":
    directory, wanted = sys.argv[1], sys.argv[2:] or MODELS
    os.makedirs(directory, exist_ok=True)
    for name in wanted:
        make, shape, batches = MODELS[name]
        for batch in batches:
            write(directory, name, make, shape, batch)
