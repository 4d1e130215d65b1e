"""Writes the models that speed is measured on: frozen GraphDefs with random seeded weights, inputs, and
TensorFlow's answer to compare with.

    python3 -m venv venv && venv/bin/pip install tensorflow-cpu
    venv/bin/python tools/bench/models.py DIRECTORY [MODEL ...]

For each model and batch size DIRECTORY gets NAME_bN.pb, NAME_bN.in.npy and NAME_bN.out.npy; an input that is not
called `x` gets NAME_bN.in.INPUT.npy. NAME_bN.json lists inputs and outputs. `?` in place of N is an unknown batch
size. Run one with

    bef-exec NAME_b1.pb --input NAME_b1.in.npy --expect NAME_b1.out.npy --rtol 1e-3 --repeat 200 --warmup 20
"""
import json
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


def attend(q, k, v):
    a = tf.nn.softmax(tf.linalg.matmul(q, k, transpose_b=True) * int(q.shape[-1]) ** -0.5)
    return tf.linalg.matmul(a, v)


def decoder(x, cache, heads=12):
    """One token of each sequence: its hidden state, and its keys and values, to be added to the cache."""
    hidden, layers, made = int(x.shape[-1]), int(cache.shape[1]), []
    split = lambda t: tf.transpose(tf.reshape(t, [-1, 1, heads, hidden // heads]), [0, 2, 1, 3])
    for layer in range(layers):
        n = norm(x)
        q, k, v = (split(dense(n, hidden, scale=hidden**-0.5)) for _ in range(3))
        made.append(tf.stack([k, v], 1))
        k, v = (tf.concat([cache[:, layer, i], new], 2) for i, new in enumerate((k, v)))
        a = tf.reshape(tf.transpose(attend(q, k, v), [0, 2, 1, 3]), [-1, 1, hidden])
        x = x + dense(a, hidden, scale=hidden**-0.5)
        f = dense(norm(x), 4 * hidden, lambda t: 0.5 * t * (1 + tf.math.tanh(0.7978846 * (t + 0.044715 * t * t * t))))
        x = x + dense(f, hidden, scale=(4 * hidden) ** -0.5)
    return norm(x), tf.stack(made, 1)


def lstm_weights(inputs, units):
    """Kernel, recurrent kernel and bias, the gates in the order of Keras: i, f, c, o."""
    rng = np.random.default_rng(SEED)
    return [(rng.standard_normal(shape) * scale).astype("f")
            for shape, scale in [((inputs, 4 * units), inputs**-0.5), ((units, 4 * units), units**-0.5), (4 * units, 0.1)]]


LSTM_UNITS = 256


def lstm(x):
    return LSTM(x)


def lstm_layer(inputs):
    """The layer, whose variables must be made outside of a trace."""
    layer = tf.keras.layers.LSTM(LSTM_UNITS, return_sequences=True)
    layer.build((None, None, inputs))
    layer.set_weights(lstm_weights(inputs, LSTM_UNITS))
    return layer


# The inputs by name, without the batch, which is their first axis.
MODELS = {
    "mlp": (mlp, {"x": [784]}, [1, 64, "?"]),
    "lenet": (lenet, {"x": [28, 28, 1]}, [1, 32, "?"]),
    "bert": (bert, {"x": [128, 384]}, [1, "?"]),
    "mobilenetv2": ("MobileNetV2", {"x": [224, 224, 3]}, [1, "?"]),
    "efficientnetb0": ("EfficientNetB0", {"x": [224, 224, 3]}, [1, "?"]),
    "efficientnetv2b0": ("EfficientNetV2B0", {"x": [224, 224, 3]}, [1, "?"]),
    "resnet50": ("ResNet50", {"x": [224, 224, 3]}, [1, "?"]),
    "vgg19": ("VGG19", {"x": [224, 224, 3]}, [1]),
    "lstm": (lstm, {"x": [64, 128]}, [1, "?"]),
    "decoder": (decoder, {"x": [1, 384], "cache": [6, 2, 12, 127, 32]}, [1, "?"]),
}


def write(directory, name, batch):
    global RNG, LSTM
    make, inputs, _ = MODELS[name]
    RNG = np.random.default_rng(SEED)
    size = None if batch == "?" else batch
    specs = [tf.TensorSpec([size] + shape, tf.float32, name=input) for input, shape in inputs.items()]
    # The layers make their variables here, outside of the trace.
    if isinstance(make, str):
        tf.keras.utils.set_random_seed(SEED)
        model = getattr(tf.keras.applications, make)(weights=None)
        make = lambda x: model(x, training=False)
    elif make is lstm:
        LSTM = lstm_layer(inputs["x"][-1])
    function = tf.function(make, input_signature=specs)
    frozen = convert_variables_to_constants_v2(function.get_concrete_function())
    path = os.path.join(directory, f"{name}_b{'N' if batch == '?' else batch}")
    with open(path + ".pb", "wb") as file:
        file.write(frozen.graph.as_graph_def().SerializeToString())
    with open(path + ".json", "w") as file:
        json.dump({"inputs": [x.name for x in frozen.inputs], "outputs": [y.name for y in frozen.outputs]}, file)
    feeds = {input: RNG.standard_normal([1 if batch == "?" else batch] + shape).astype("f") for input, shape in inputs.items()}
    for input, x in feeds.items():
        np.save(path + (".in.npy" if input == "x" else f".in.{input}.npy"), x)
    np.save(path + ".out.npy", np.asarray(frozen(*map(tf.constant, feeds.values()))[0]))
    print(path, flush=True)


if __name__ == "__main__":
    directory, wanted = sys.argv[1], sys.argv[2:] or MODELS
    os.makedirs(directory, exist_ok=True)
    for name in wanted:
        for batch in MODELS[name][2]:
            write(directory, name, batch)
