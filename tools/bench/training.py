#!/usr/bin/env python3
"""Trains the rows of the table of goals with TensorFlow and here, interleaved, and prints what a step costs.

    python tools/bench/training.py target/release [ROW ...] [--rounds 3] [--csv FILE] [--svg FILE]

The folder holds ir-translate, bef-exec and bef-train. Needs TensorFlow from PyPI; nothing else here does. A row is one
forward graph with variables: TensorFlow differentiates it and applies its own optimizer, `ir-translate --train` makes a
program of the same file. First ten losses are compared. Then both take turns; a row's time is the median of a turn's
steps, of the best turn: CPU time of all threads, and wall time. Memory is the peak of the resident set of the process.

The bound is the arithmetic of a step divided by the peak of one thread (`roofline.py`); of the LSTM that in its loops
is not counted.

Besides: an iteration of a scalar loop, forward and backward, by the difference of many and few; an update by Adam, per
parameter; and checkpoints of 512 MiB, wall time by the difference of a run with and one without.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import roofline  # noqa: E402

THREADS = [1, 2]
LOSSES = 10


class Net:
    """Layers with variables, whose first values are drawn by seeds: the same bits here and there."""

    def __init__(self, tf):
        self.tf, self.variables, self.updates = tf, [], []

    def variable(self, shape, deviation=0.0, mean=0.0, trainable=True):
        tf, seed = self.tf, [len(self.variables), 1]
        value = tf.random.stateless_normal(shape, seed) * deviation + mean if deviation else tf.fill(shape, mean)
        variable = tf.compat.v1.get_variable(f"v{seed[0]}", initializer=value, use_resource=True, trainable=trainable)
        self.variables.append(variable)
        return variable

    def dense(self, x, n, activation=None, gain=2.0):
        k = int(x.shape[-1])
        flat = self.tf.reshape(x, [-1, k])
        y = self.tf.matmul(flat, self.variable([k, n], (gain / k) ** 0.5)) + self.variable([n])
        y = activation(y) if activation else y
        return self.tf.reshape(y, list(x.shape[:-1]) + [n]) if x.shape.rank > 2 else y

    def conv(self, x, n, size, padding="SAME", stride=1, bias=True):
        k = int(x.shape[-1])
        filters = self.variable([size, size, k, n], (2.0 / (size * size * k)) ** 0.5)
        y = self.tf.nn.conv2d(x, filters, stride, padding)
        return self.tf.nn.bias_add(y, self.variable([n])) if bias else y

    def batch_norm(self, x, gain=1.0):
        tf, n = self.tf, int(x.shape[-1])
        scale, shift = self.variable([n], mean=gain), self.variable([n])
        moving = [self.variable([n], mean=start, trainable=False) for start in (0.0, 1.0)]
        y, mean, variance = tf.compat.v1.nn.fused_batch_norm(x, scale, shift, epsilon=1e-5, is_training=True)[:3]
        for average, now in zip(moving, (mean, variance)):
            self.updates.append(average.assign_sub((average - now) * 0.1, read_value=False))
        return y

    def layer_norm(self, x):
        tf, n = self.tf, int(x.shape[-1])
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-6) * self.variable([n], mean=1.0) + self.variable([n])

    def cross_entropy(self, logits, labels):
        tf = self.tf
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def images(batch, size, channels, classes):
    rng = np.random.default_rng(1)
    return {"x": rng.standard_normal([batch, size, size, channels]).astype("f"),
            "y": rng.integers(0, classes, batch).astype("i")}


def mlp(net, x, y):
    relu = net.tf.nn.relu
    return net.cross_entropy(net.dense(net.dense(net.dense(x, 512, relu), 512, relu), 10), y)


def lenet(net, x, y):
    tf = net.tf
    pool = lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID")
    x = pool(tf.nn.relu(net.conv(x, 6, 5)))
    x = tf.reshape(pool(tf.nn.relu(net.conv(x, 16, 5, "VALID"))), [-1, 400])
    return net.cross_entropy(net.dense(net.dense(net.dense(x, 120, tf.nn.relu), 84, tf.nn.relu), 10), y)


def resnet50(net, x, y):
    tf = net.tf

    def block(x, n, stride, shortcut):
        side = net.batch_norm(net.conv(x, 4 * n, 1, stride=stride, bias=False)) if shortcut else x
        z = tf.nn.relu(net.batch_norm(net.conv(x, n, 1, bias=False)))
        z = tf.nn.relu(net.batch_norm(net.conv(z, n, 3, stride=stride, bias=False)))
        return tf.nn.relu(side + net.batch_norm(net.conv(z, 4 * n, 1, bias=False), gain=0.2))

    x = tf.nn.relu(net.batch_norm(net.conv(x, 64, 7, stride=2, bias=False)))
    x = tf.nn.max_pool2d(x, 3, 2, "SAME")
    for i, (n, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for j in range(blocks):
            x = block(x, n, 2 if i and not j else 1, not j)
    return net.cross_entropy(net.dense(tf.reduce_mean(x, [1, 2]), 1000, gain=0.1), y)


def bert(net, x, y, layers=6, hidden=384, heads=12):
    tf, tokens = net.tf, int(x.shape[1])
    split = lambda t: tf.transpose(tf.reshape(t, [-1, tokens, heads, hidden // heads]), [0, 2, 1, 3])
    gelu = lambda t: 0.5 * t * (1 + tf.math.erf(t * 2**-0.5))
    x = net.layer_norm(tf.gather(net.variable([30522, hidden], 0.02), x) + net.variable([tokens, hidden], 0.02))
    for _ in range(layers):
        q, k, v = (split(net.dense(x, hidden, gain=1.0)) for _ in range(3))
        a = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (hidden // heads) ** -0.5)
        a = tf.reshape(tf.transpose(tf.matmul(a, v), [0, 2, 1, 3]), [-1, tokens, hidden])
        a.set_shape(x.shape)
        x = net.layer_norm(x + net.dense(a, hidden, gain=1.0))
        x = net.layer_norm(x + net.dense(net.dense(x, 4 * hidden, gelu), hidden, gain=1.0))
    return net.cross_entropy(net.dense(tf.reduce_mean(x, 1), 2, gain=1.0), y)


def lstm(net, x, y, hidden=128):
    """A while loop over the rows of x [steps, batch, inputs]."""
    tf, (steps, batch, inputs) = net.tf, x.shape
    w, b = net.variable([inputs + hidden, 4 * hidden], (inputs + hidden) ** -0.5), net.variable([4 * hidden])

    def body(t, h, c):
        i, f, o, g = tf.split(tf.matmul(tf.concat([x[t], h], 1), w) + b, 4, 1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        return t + 1, tf.sigmoid(o) * tf.tanh(c), c

    zero = tf.zeros([batch, hidden])
    h = tf.while_loop(lambda t, *_: t < steps, body, [tf.constant(0), zero, zero])[1]
    return net.cross_entropy(net.dense(h, 10), y)


VGG19 = [(64, 2), (128, 2), (256, 4), (512, 4), (512, 1)]


def style_transfer(net, size=224):
    """VGG19 up to conv5_1 with constant weights; the image is the variable."""
    tf, rng = net.tf, np.random.default_rng(1)

    def features(x):
        taken, k = {}, 3
        weights = np.random.default_rng(2)
        for i, (n, convs) in enumerate(VGG19, 1):
            for j in range(1, convs + 1):
                w = weights.standard_normal([3, 3, k, n]).astype("f") * (2.0 / (9 * k)) ** 0.5
                x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, tf.constant(w), 1, "SAME"), tf.constant([0.01] * n)))
                taken[f"conv{i}_{j}"], k = x, n
            x = tf.nn.avg_pool2d(x, 2, 2, "VALID")
        return taken

    def gram(x):
        flat = tf.reshape(x, [-1, x.shape[-1]])
        return tf.matmul(flat, flat, transpose_a=True)

    image = features(net.variable([1, size, size, 3], 0.2))
    content = tf.constant(rng.standard_normal(image["conv4_2"].shape).astype("f"))
    loss = tf.reduce_mean(tf.math.squared_difference(image["conv4_2"], content))
    for i in range(1, 6):
        x = image[f"conv{i}_1"]
        pixels, n = int(x.shape[1] * x.shape[2]), int(x.shape[-1])
        want = tf.constant((np.eye(n) * pixels).astype("f"))
        loss += 500 / 5 * tf.reduce_sum((gram(x) - want) ** 2) / (4.0 * n**2 * pixels**2)
    return loss


def tokens():
    rng = np.random.default_rng(1)
    return {"x": rng.integers(0, 30522, [4, 128]).astype("i"), "y": rng.integers(0, 2, 4).astype("i")}


def rows_of_numbers():
    rng = np.random.default_rng(1)
    return {"x": rng.standard_normal([64, 784]).astype("f"), "y": rng.integers(0, 10, 64).astype("i")}


def sequence():
    # The first axis is that of the batch in all data: the steps are the second.
    rng = np.random.default_rng(1)
    return {"x": rng.standard_normal([16, 64, 64]).astype("f"), "y": rng.integers(0, 10, 16).astype("i")}


class Row:
    """A model, its data, its optimizer for both, and the goal in milliseconds and megabytes."""

    def __init__(self, title, build, data, ours, theirs, steps, goal, memory=None, rtol=2e-3):
        self.title, self.build, self.data, self.ours, self.theirs = title, build, data, ours, theirs
        self.steps, self.goal, self.memory, self.rtol = steps, goal, memory, rtol


def sgd(rate):
    return f"sgd:lr={rate}", lambda train: train.GradientDescentOptimizer(rate)


def momentum(rate):
    return f"momentum:lr={rate},momentum=0.9", lambda train: train.MomentumOptimizer(rate, 0.9)


def adam(rate):
    return f"adam:lr={rate}", lambda train: train.AdamOptimizer(rate)


ROWS = {
    "mlp": Row("MLP 784-512-512-10, batch 64, Adam", mlp, rows_of_numbers, *adam(1e-3), 300, 1.05),
    "lenet": Row("LeNet, batch 32, momentum", lenet, lambda: images(32, 28, 1, 10), *momentum(0.01), 200, 1.5),
    "resnet50": Row("ResNet50, batch 4, SGD", resnet50, lambda: images(4, 224, 3, 1000), *sgd(0.01), 4, 520, 750),
    "bert": Row("BERT-like, 4 x 128 tokens, Adam", bert, tokens, *adam(1e-4), 6, 180, 750),
    "lstm": Row("LSTM of 64 steps, Adam", lambda net, x, y: lstm(net, net.tf.transpose(x, [1, 0, 2]), y), sequence,
                *adam(1e-3), 60, 4),
    "vgg19": Row("VGG19 style transfer 224, Adam", style_transfer, dict, *adam(2e-2), 4, 240, 450),
}


def graph_of(tf, row):
    """The forward graph of a row with `loss`, `init` and `updates`."""
    graph = tf.Graph()
    with graph.as_default():
        net = Net(tf)
        feeds = {name: tf.compat.v1.placeholder(of.dtype, of.shape, name) for name, of in row.data().items()}
        loss = tf.identity(row.build(net, **feeds), "loss")
        tf.group(*[v.initializer for v in net.variables], name="init")
        tf.group(*net.updates, name="updates")
    return graph, loss


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def turn(step, n):
    """Medians of CPU and wall time of n steps."""
    times = []
    for _ in range(n):
        begin = time.process_time(), time.perf_counter()
        step()
        times.append((time.process_time() - begin[0], time.perf_counter() - begin[1]))
    return [statistics.median(kind) for kind in zip(*times)]


def worker(name, threads, folder):
    """TensorFlow's side of a row: writes the graph, then takes a turn for each number of steps that it reads."""
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    row = ROWS[name]
    graph, loss = graph_of(tf, row)
    with open(os.path.join(folder, "graph.pb"), "wb") as file:
        file.write(graph.as_graph_def().SerializeToString())
    begin = time.process_time()
    with graph.as_default():
        train = row.theirs(tf.compat.v1.train).minimize(loss)
        with graph.control_dependencies([graph.get_operation_by_name("updates")]):
            train = tf.group(train)
        init = tf.compat.v1.global_variables_initializer()
    feeds = {f"{name}:0": of for name, of in row.data().items()}
    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
    with tf.compat.v1.Session(graph=graph, config=config) as session:
        session.run(init)
        step = lambda: session.run([loss, train], feeds)[0]
        losses = [float(step())]
        compiled = time.process_time() - begin
        losses += [float(step()) for _ in range(LOSSES - 1)]
        print(json.dumps({"losses": losses, "compile": compiled}), flush=True)
        for line in sys.stdin:
            cpu, wall = turn(step, int(line))
            print(json.dumps({"cpu": cpu, "wall": wall, "peak": peak()}), flush=True)


class TensorFlow:
    """A worker in a process of its own."""

    def __init__(self, name, threads, folder):
        command = [sys.executable, __file__, "--worker", name, str(threads), folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.first = self.read()

    def read(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else sys.exit("TensorFlow's process ended")

    def turn(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return self.read()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def run(command):
    """What a command prints, its CPU time and its peak of memory."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{text}")
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class Befrost:
    """A training program of the same graph."""

    def __init__(self, tools, row, folder):
        self.tools, self.row = tools, row
        self.program = os.path.join(folder, "step.bef")
        command = [self.tool("ir-translate"), os.path.join(folder, "graph.pb"), "--train", "loss", "--optimizer",
                   row.ours, "--updates", "updates", "--print-work", "-o", self.program]
        said, self.compile, _ = run(command)
        self.flops = roofline.work(said)["step"][0]
        self.data = []
        for name, of in row.data().items():
            path = os.path.join(folder, f"{name}.npy")
            np.save(path, of)
            self.data.append(f"{name}={path}")
        self.log = os.path.join(folder, "log.jsonl")

    def tool(self, name):
        return os.path.join(self.tools, name)

    def losses(self):
        batch = max((len(of) for of in self.row.data().values()), default=1)
        data = [word for each in self.data for word in ("--data", each)]
        run([self.tool("bef-train"), self.program, *data, "--no-shuffle", "--batch", batch, "--steps", LOSSES, "--log",
             self.log, "--quiet"])
        with open(self.log) as file:
            return [json.loads(line)["loss"] for line in file]

    def turn(self, steps, threads):
        queue = "s" if threads == 1 else f"mstd:{threads}"
        inputs = [word for each in self.data for word in ("--input", each)]
        text, _, peak = run([self.tool("bef-exec"), self.program, "--init-function", "init", "--functions", "step",
                             "--repeat", steps, "--warmup", 2, "--work-queue", queue, *inputs])
        times = times_of(text)
        return {"cpu": times["cpu "], "wall": times["wall"], "peak": peak}


def best(turns):
    return {"cpu": min(t["cpu"] for t in turns), "wall": min(t["wall"] for t in turns), "peak": max(t["peak"] for t in turns)}


def measure(tools, name, rounds, peak_rate):
    """A line of the table for each number of threads."""
    row, lines, ours = ROWS[name], [], None
    for threads in THREADS:
        with tempfile.TemporaryDirectory() as folder:
            theirs = TensorFlow(name, threads, folder)
            ours = Befrost(tools, row, folder)
            if threads == 1:
                pairs = list(zip(theirs.first["losses"], ours.losses()))
                if len(pairs) != LOSSES or not all(np.isclose(a, b, rtol=row.rtol, atol=1e-4) for a, b in pairs):
                    sys.exit(f"{name}: the losses differ: {pairs}")
            turns = [(theirs.turn(row.steps), ours.turn(row.steps, threads)) for _ in range(rounds)]
            theirs.end()
        them, us = (best(side) for side in zip(*turns))
        lines.append({"row": row.title, "threads": threads, "tensorflow_ms": them["cpu"] * 1e3, "ms": us["cpu"] * 1e3,
                      "goal_ms": row.goal, "bound_ms": ours.flops / peak_rate * 1e3, "tensorflow_wall_ms": them["wall"] * 1e3, "wall_ms": us["wall"] * 1e3,
                      "tensorflow_mb": them["peak"] / 1e6, "mb": us["peak"] / 1e6, "goal_mb": row.memory,
                      "tensorflow_compile_s": theirs.first["compile"], "compile_s": ours.compile})
    return lines


class Session:
    """A graph of TensorFlow on one thread."""

    def __init__(self, build):
        import tensorflow as tf

        self.tf, self.graph = tf, tf.Graph()
        with self.graph.as_default():
            build(tf)
        config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        self.session = tf.compat.v1.Session(graph=self.graph, config=config)

    def run(self, what, feeds=None):
        return self.session.run(what, feeds)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.graph.as_graph_def().SerializeToString())


def times_of(text):
    return {kind: float(number) * UNITS[unit] for kind, number, unit in
            re.findall(r"^  (wall|cpu ) min .*? median ([0-9.]+) (\w+)", text, re.MULTILINE)}


def loop(tools, folder, rounds, few=100, many=4000):
    """Seconds of an iteration of x = x * 0.999 with its gradient."""
    def build(tf):
        x, n = tf.compat.v1.placeholder(tf.float32, [], "x"), tf.compat.v1.placeholder(tf.int32, [], "n")
        y = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 0.999), [tf.constant(0), x])[1]
        tf.identity(y, "y")

    forward = Session(build)
    forward.write(os.path.join(folder, "loop.pb"))
    with forward.graph.as_default():
        y, x = (forward.graph.get_tensor_by_name(name) for name in ("y:0", "x:0"))
        forward.tf.identity(forward.tf.gradients(y, x)[0], "dx")

    def theirs(n):
        step = lambda: forward.run("dx:0", {"x:0": 1.0, "n:0": n})
        step()
        return turn(step, 9)[0]

    def ours(n):
        command = [os.path.join(tools, "bef-exec"), os.path.join(folder, "loop.pb"), "--gradient", "ys=y xs=x",
                   "--input", "x=f32:1.0", "--input", f"n=i32:{n}", "--repeat", 50, "--warmup", 2, "--work-queue", "s"]
        return times_of(run(command)[0])["cpu "]

    def cost(side):
        return (min(side(many) for _ in range(rounds)) - min(side(few) for _ in range(rounds))) / (many - few)

    return cost(theirs), cost(ours)


def update(tools, folder, rounds, count):
    """Seconds of an update by Adam, per parameter."""
    def build(tf):
        names = ["w", "m", "v", "g"]
        variables = [tf.compat.v1.get_variable(name, initializer=tf.fill([count], 0.25)) for name in names]
        w, m, v, _ = [variable.handle for variable in variables]
        tf.group(*[variable.initializer for variable in variables], name="init")
        tf.raw_ops.ResourceApplyAdam(var=w, m=m, v=v, beta1_power=0.9, beta2_power=0.999, lr=1e-3, beta1=0.9, beta2=0.999,
                                     epsilon=1e-8, grad=variables[3].read_value(), name="train")
        tf.identity(tf.constant(0.0), "loss")

    session, steps = Session(build), 200 if count < 1 << 20 else 8
    session.write(os.path.join(folder, "adam.pb"))
    session.run("init")
    program = os.path.join(folder, "adam.bef")
    run([os.path.join(tools, "ir-translate"), os.path.join(folder, "adam.pb"), "--train", "loss", "--train-op", "train",
         "-o", program])
    command = [os.path.join(tools, "bef-exec"), program, "--init-function", "init", "--functions", "step", "--repeat", steps,
               "--warmup", 2, "--work-queue", "s"]
    turns = [(turn(lambda: session.run(session.graph.get_operation_by_name("train")), steps)[0],
              times_of(run(command)[0])["cpu "]) for _ in range(rounds)]
    return [min(side) / count for side in zip(*turns)]


def checkpoints(tools, folder):
    """Seconds to save and to restore 512 MiB of variables."""
    def build(tf):
        sizes = [1] + 8 * [16 << 20]
        variables = [tf.compat.v1.get_variable(f"v{i}", initializer=tf.fill([n], 0.25)) for i, n in enumerate(sizes)]
        tf.group(*[variable.initializer for variable in variables], name="init")
        tf.reduce_sum(variables[0] ** 2, name="loss")

    def wall(act):
        begin = time.perf_counter()
        act()
        return time.perf_counter() - begin

    session = Session(build)
    session.write(os.path.join(folder, "large.pb"))
    session.run("init")
    with session.graph.as_default():
        saver = session.tf.compat.v1.train.Saver()
    prefix = os.path.join(folder, "theirs")
    theirs = [wall(lambda: saver.save(session.session, prefix, write_meta_graph=False)),
              wall(lambda: saver.restore(session.session, prefix))]
    command = [os.path.join(tools, "bef-train"), os.path.join(folder, "large.pb"), "--trainable", "^v0$", "--steps", 1,
               "--quiet", "--work-queue", "s"]
    plain = min(wall(lambda: run(command)) for _ in range(2))
    saved = wall(lambda: run(command + ["--checkpoint", os.path.join(folder, "ours"), "--sync-save"]))
    restored = wall(lambda: run(command + ["--restore", os.path.join(folder, "ours")]))
    return list(zip(theirs, [saved - plain, restored - plain]))


def others(tools, rounds):
    """The rows that are no steps, as a table."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [("scalar loop forward + backward, ns per iteration", loop(tools, folder, rounds), 1e9, "200")]
        for where, count in (("in cache", 1 << 16), ("from memory", 1 << 24)):
            rows.append((f"Adam {where}, ns per parameter", update(tools, folder, rounds, count), 1e9, "0.3"))
        saved, restored = checkpoints(tools, folder)
        rows += [("save 512 MiB, s", saved, 1, "0.5"), ("restore 512 MiB, s", restored, 1, "0.25")]
    text = "| | TensorFlow | Befrost | goal |\n|---|---|---|---|\n"
    for title, (them, us), unit, goal in rows:
        text += f"| {title} | {them * unit:.3g} | {us * unit:.3g} | {goal} |\n"
    return text


def markdown(lines):
    text = "| step | threads | TensorFlow, CPU ms | Befrost, CPU ms | goal | bound, ms | wall ms, both "
    text += "| peak MB, both | goal | compile, CPU s, both |\n|---|---|---|---|---|---|---|---|---|---|\n"
    for of in lines:
        goal = [f"{of[key]:g}" if of[key] and of["threads"] == 1 else "" for key in ("goal_ms", "goal_mb")]
        text += (f"| {of['row']} | {of['threads']} | {of['tensorflow_ms']:.2f} | {of['ms']:.2f} | {goal[0]} | "
                 f"{of['bound_ms']:.2f} | {of['tensorflow_wall_ms']:.2f}, {of['wall_ms']:.2f} | {of['tensorflow_mb']:.0f}, {of['mb']:.0f} | "
                 f"{goal[1]} | {of['tensorflow_compile_s']:.2f}, {of['compile_s']:.2f} |\n")
    return text


def svg(lines):
    """Bars of CPU time relative to TensorFlow's, at one thread; a mark is the goal."""
    lines, width, height = [of for of in lines if of["threads"] == 1], 400, 24
    text = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 320}" height="{height * (len(lines) + 1)}" '
    text += 'font-family="sans-serif" font-size="12">\n'
    for i, of in enumerate(lines):
        y, part = i * height + 4, of["ms"] / of["tensorflow_ms"]
        goal = 300 + width * of["goal_ms"] / of["tensorflow_ms"]
        text += f'<text x="290" y="{y + 12}" text-anchor="end">{of["row"]}</text>\n'
        text += f'<rect x="300" y="{y}" width="{width * min(part, 1):.0f}" height="16" fill="#4a7"/>\n'
        text += f'<line x1="{goal:.0f}" x2="{goal:.0f}" y1="{y - 2}" y2="{y + 18}" stroke="#c33"/>\n'
        text += f'<text x="306" y="{y + 12}">{of["ms"]:.2f} ms of {of["tensorflow_ms"]:.2f}</text>\n'
    return text + "</svg>\n"


def main():
    if sys.argv[1:2] == ["--worker"]:
        return worker(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools", help="the folder of ir-translate, bef-exec and bef-train")
    parser.add_argument("rows", nargs="*", help=f"{', '.join(ROWS)}; default: all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--others", action="store_true", help="only the loop, Adam and checkpoints")
    parser.add_argument("--csv")
    parser.add_argument("--svg")
    args = parser.parse_args()
    if args.others:
        import tensorflow as tf

        tf.compat.v1.disable_eager_execution()
        return print(others(args.tools, args.rounds))
    if not args.rows:
        # Not in this process: the peak of a process's memory starts at its parent's.
        subprocess.run([sys.executable, __file__, args.tools, "--others", "--rounds", str(args.rounds)], check=True)
    peak_rate = roofline.peak()
    lines = [line for name in args.rows or ROWS for line in measure(args.tools, name, args.rounds, peak_rate)]
    print(f"peak of one thread: {peak_rate / 1e9:.0f} GFLOP/s\n")
    print(markdown(lines))
    if args.csv:
        with open(args.csv, "w") as file:
            file.write(",".join(lines[0]) + "\n")
            file.writelines(",".join("" if x is None else str(x).replace(",", ";") for x in of.values()) + "\n" for of in lines)
    if args.svg:
        with open(args.svg, "w") as file:
            file.write(svg(lines))


if __name__ == "__main__":
    main()
