#!/usr/bin/env python3
"""The cost of an iteration and of a conditional, in TensorFlow and here, in both families of control flow.

    python tools/bench/control_flow.py target/release/bef-exec [--iterations 200000] [--rows scalar,overlap]

Needs TensorFlow from PyPI; nothing else here does. Each row is a loop of TensorFlow 1 (primitives) and of TensorFlow 2
(functions). Its cost is the difference between a run of many iterations and one of few, divided by the iterations, the best
of several runs; so loading, compiling and the first run of anything do not count. The results are compared before
any time is printed.

The last rows show whether iterations overlap. Their body has two independent branches of some milliseconds, one of which
has work in even iterations and the other in odd ones; the condition depends on the first. Where an iteration waits for
all of the one before, two threads are no faster than one; where iterations overlap, they are twice as fast.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

RUNS = 5


def scalar_loop(n):
    """i = 0; while i < n: i += 1"""
    return tf.while_loop(lambda i: i < n, lambda i: [i + 1], [tf.constant(0)])[0]


def conditional(n):
    """a = 0; for i < n: a = a + i if the flag else a - 1, with a flag that changes in every iteration"""
    cond = tf.compat.v1.cond

    def body(i, a, flag):
        return i + 1, cond(flag, lambda: a + i, lambda: a - 1), tf.logical_not(flag)

    zero = tf.constant(0)
    return tf.while_loop(lambda i, a, flag: i < n, body, [zero, zero, tf.constant(True)])[1]


def matmul_loop(n):
    """x = x @ w, n times, 128 by 128"""
    w = tf.constant(np.eye(128, dtype=np.float32))
    x = tf.constant(np.ones((128, 128), np.float32))
    return tf.while_loop(lambda i, x: i < n, lambda i, x: [i + 1, tf.matmul(x, w)], [tf.constant(0), x])[1][0, 0]


def overlap(n):
    """two branches that have work in turn, while the first one is finite and i < n"""
    cond = tf.compat.v1.cond
    w = tf.constant(np.eye(256, dtype=np.float32))

    def work(x):
        for _ in range(8):
            x = tf.matmul(x, w)
        return x

    def body(i, a, b):
        is_even = tf.equal(i % 2, 0)
        return i + 1, cond(is_even, lambda: work(a), lambda: a), cond(is_even, lambda: b, lambda: work(b))

    def is_going(i, a, b):
        return tf.logical_and(i < n, a[0, 0] < 1e9)

    x = tf.constant(np.ones((256, 256), np.float32))
    _, a, b = tf.while_loop(is_going, body, [tf.constant(0), x, x])
    return a[0, 0] + b[0, 0]


# Name, description, graph, how much fewer iterations it runs, threads.
ROWS = [
    ("scalar", "iteration of a scalar loop", scalar_loop, 1, 1),
    ("conditional", "the same with a conditional", conditional, 1, 1),
    ("matmul", "iteration with a 128x128 matmul", matmul_loop, 20, 1),
    ("overlap", "two branches in turn, one thread", overlap, 1000, 1),
    ("overlap", "two branches in turn, two threads", overlap, 1000, 2),
]


def graph_of(build, functional):
    """The graph of a row: `n` is its input, `out` its result."""
    graph = tf.Graph()
    with graph.as_default():
        switch = tf.compat.v1.enable_control_flow_v2 if functional else tf.compat.v1.disable_control_flow_v2
        switch()
        n = tf.compat.v1.placeholder(tf.int32, [], "n")
        tf.identity(build(n), "out")
    return graph


def per_iteration(run, few, many):
    """Seconds of an iteration, and the result of many."""
    times = {few: [], many: []}
    for _ in range(RUNS):
        for n in (few, many):
            begin = time.perf_counter()
            result = run(n)
            times[n].append(time.perf_counter() - begin)
    return (min(times[many]) - min(times[few])) / (many - few), result


def tensorflow(graph, few, many, threads):
    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
    with tf.compat.v1.Session(graph=graph, config=config) as session:
        return per_iteration(lambda n: session.run("out:0", {"n:0": n}), few, many)


def befrost(exe, graph, few, many, threads, options):
    queue = "s" if threads == 1 else f"mstd:{threads}"
    with tempfile.TemporaryDirectory() as folder:
        model, out = os.path.join(folder, "graph.pb"), os.path.join(folder, "out.npy")
        with open(model, "wb") as file:
            file.write(graph.as_graph_def().SerializeToString())

        def run(n):
            command = [exe, model, "--input", f"n=i32:{n}", "--output", f"out={out}", "--work-queue", queue]
            done = subprocess.run(command + options, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{' '.join(command)}\n{done.stderr}")
            return np.load(out)

        return per_iteration(run, few, many)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exe", help="the bef-exec to measure")
    parser.add_argument("--iterations", type=int, default=200_000)
    parser.add_argument("--rows", default=",".join(dict.fromkeys(row[0] for row in ROWS)))
    args = parser.parse_args()
    tf.compat.v1.disable_eager_execution()
    print("| ns per | TensorFlow 1 | TensorFlow 2 | Befrost, natively | Befrost, functional |")
    print("|---|---|---|---|---|")
    rows = args.rows.split(",")
    for _, name, build, slower, threads in (row for row in ROWS if row[0] in rows):
        few, many = 1, max(2, args.iterations // slower)
        v1, v2 = graph_of(build, False), graph_of(build, True)
        cells = [tensorflow(graph, few, many, threads) for graph in (v1, v2)]
        cells.append(befrost(args.exe, v1, few, many, threads, ["--no-functionalize"]))
        cells.append(befrost(args.exe, v2, few, many, threads, []))
        want = cells[0][1]
        for _, got in cells[1:]:
            if not np.allclose(got, want, rtol=1e-3):
                sys.exit(f"{name}: the results differ: {got}, {want}")
        print(f"| {name} | " + " | ".join(f"{seconds * 1e9:,.0f}" for seconds, _ in cells) + " |")


if __name__ == "__main__":
    main()
