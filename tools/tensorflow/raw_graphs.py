#!/usr/bin/env python3
"""Random graphs of raw Switch, _SwitchN, Merge, ControlTrigger and loops, run by TensorFlow and by bef-exec.

    python tools/tensorflow/raw_graphs.py target/debug/bef-exec [--first 1] [--count 50] [--keep FOLDER]

Each graph has values that are dead under some of its predicates, control edges that carry deadness, Merges of two to four inputs
of which one is live at most, and often a loop whose body is such a graph. It is run three times, functionalized and natively, at
-O0 and -O2, on several work queues. Where TensorFlow has an error (a fetched value is dead), we must have one. TensorFlow's own
optimizers are off: its constant folding kills constants behind a ControlTrigger.
"""
import argparse
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from tensorflow.core.protobuf import rewriter_config_pb2  # noqa: E402

WAYS = [["-O2"], ["-O0"], ["--no-functionalize", "-O0", "--seed", "3"],
        ["--no-functionalize", "-O2", "--work-queue", "s"], ["--no-functionalize", "-O2", "--work-queue", "mstd:2"]]


class Value:
    """A scalar of int32, and under which of the assignments of the predicates it is live."""

    def __init__(self, tensor, live):
        self.tensor, self.live = tensor, frozenset(live)


class Predicate:
    """A tensor that selects one of `n` ways, and the way under each assignment."""

    def __init__(self, tensor, way, n, is_number):
        self.tensor, self.way, self.n, self.is_number = tensor, way, n, is_number


def ways(x, predicate):
    if not predicate.is_number:
        return tf.raw_ops.Switch(data=x, pred=predicate.tensor)
    attrs = {"num_outs": tf.AttrValue(i=predicate.n), "T": tf.AttrValue(type=x.dtype.as_datatype_enum)}
    inputs, types = [x, predicate.tensor], [x.dtype] * predicate.n
    return tf.get_default_graph().create_op("_SwitchN", inputs, types, name="switch_n", attrs=attrs).outputs


def extend(draw, values, predicates, assignments, n):
    """These values and those of `n` random ops."""
    values, everywhere = list(values), frozenset(assignments)
    for _ in range(n):
        kind, (x, y) = draw.random(), (draw.choice(values), draw.choice(values))
        if kind < 0.4:
            predicate = draw.choice(predicates)
            for number, out in enumerate(ways(x.tensor, predicate)):
                values.append(Value(out, (a for a in x.live if predicate.way(a) == number)))
        elif kind < 0.6:
            inputs, live = [], frozenset()
            for value in draw.sample(values, len(values)):
                if not live & value.live and (value.live or draw.random() < 0.15) and len(inputs) < draw.choice([2, 2, 3, 4]):
                    inputs.append(value.tensor)
                    live |= value.live
            if len(inputs) > 1:
                edges = [y.tensor.op] if draw.random() < 0.1 else []
                with tf.control_dependencies(edges):
                    out, number = tf.raw_ops.Merge(inputs=inputs)
                values += [Value(out, live)] + ([Value(number, live)] if draw.random() < 0.4 else [])
        elif kind < 0.8:
            square = tf.raw_ops.Mul(x=y.tensor, y=y.tensor)
            out = tf.raw_ops.AddV2(x=x.tensor, y=y.tensor) if draw.random() < 0.6 else tf.raw_ops.Maximum(x=x.tensor, y=square)
            values.append(Value(out, x.live & y.live))
        elif kind < 0.92:
            # The completion of a Switch is live with its operands, not with one of its ways.
            if y.tensor.op.type not in ("Switch", "_SwitchN"):
                with tf.control_dependencies([y.tensor.op]):
                    is_constant = draw.random() < 0.6
                    out = tf.constant(draw.randint(1, 9)) if is_constant else tf.identity(x.tensor)
                values.append(Value(out, y.live if is_constant else x.live & y.live))
        else:
            with tf.control_dependencies([x.tensor.op]):
                trigger = tf.raw_ops.ControlTrigger()
            with tf.control_dependencies([trigger]):
                values.append(Value(tf.constant(draw.randint(1, 9)), everywhere))
    return values


def always(values, assignments):
    return [value.tensor for value in values if len(value.live) == len(assignments)]


def loop(draw, start, outer, x, trips):
    """A loop whose body has raw conditionals on its counter."""

    def body(i, a, b):
        rest = list(range(6))  # the counter modulo 6
        predicates = [Predicate(tf.equal(i % 2, 0), lambda k: int(k % 2 == 0), 2, False),
                      Predicate(tf.equal(i % 3, 1), lambda k: int(k % 3 == 1), 2, False), Predicate(i % 3, lambda k: k % 3, 3, True)]
        values = [Value(value, rest) for value in (i, a, b, tf.identity(outer))]
        found = always(extend(draw, values, predicates, rest, draw.randint(3, 14)), rest)
        return i + 1, draw.choice(found) % 1009, draw.choice(found[-4:]) % 1009

    first = [tf.constant(0), start, x]
    return tf.while_loop(lambda i, a, b: i < trips, body, first, parallel_iterations=draw.choice([1, 2, 10]))[1:]


def build(seed):
    """A graph, and its fetches."""
    draw, graph = random.Random(seed), tf.Graph()
    with graph.as_default():
        x, p, q, n = (tf.placeholder(dtype, [], name) for name, dtype in
                      (("x", tf.int32), ("p", tf.bool), ("q", tf.bool), ("n", tf.int32)))
        assignments = list(itertools.product((0, 1), (0, 1), (0, 1, 2)))
        predicates = [Predicate(p, lambda a: a[0], 2, False), Predicate(q, lambda a: a[1], 2, False), Predicate(n, lambda a: a[2], 3, True)]
        values = [Value(value, assignments) for value in (x, tf.constant(3), n)]
        values = extend(draw, values, predicates, assignments, draw.randint(4, 12))
        if draw.random() < 0.7:
            start, outer = (draw.choice(always(values, assignments)) for _ in range(2))
            trips = tf.constant(draw.randint(0, 5)) if draw.random() < 0.7 else n
            values += [Value(value, assignments) for value in loop(draw, start, outer, x, trips)]
            values = extend(draw, values, predicates, assignments, draw.randint(2, 8))
        live = always(values, assignments)
        fetches = [tf.identity(value, name=f"out{i}") for i, value in enumerate(draw.sample(live, min(3, len(live))))]
        partly = [value.tensor for value in values if len(value.live) < len(assignments)]
        if partly and draw.random() < 0.3:
            fetches.append(tf.identity(draw.choice(partly), name="maybe"))
    return graph, [fetch.op.name for fetch in fetches]


def config():
    options = tf.OptimizerOptions(opt_level=-1, do_constant_folding=False)
    rewrite = rewriter_config_pb2.RewriterConfig(disable_meta_optimizer=True)
    return tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options, rewrite_options=rewrite))


def by_tensorflow(session, fetches, feeds):
    """The results, or None after an error."""
    try:
        return [int(value) for value in session.run([f"{name}:0" for name in fetches], feeds)]
    except tf.errors.OpError:
        return None


def by_us(exe, model, fetches, inputs, way, folder):
    """The results, None after an error, or a text if the program was not run."""
    command = [exe, model, *way]
    for name in fetches:
        command += ["--fetch", name, "--output", f"{name}={folder}/{name}.npy"]
    for name, dtype, value in inputs:
        command += ["--feed", name, "--input", f"{name}={dtype}:{value}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 1:
        return None
    if done.returncode:
        return done.stderr
    return [int(np.load(f"{folder}/{name}.npy")) for name in fetches]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exe", help="the bef-exec to compare")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--keep", help="a folder for graphs with differences")
    args = parser.parse_args()
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()
    n_runs, n_errors, n_wrong = 0, 0, 0
    for seed in range(args.first, args.first + args.count):
        graph, fetches = build(seed)
        draw = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder, tf.Session(graph=graph, config=config()) as session:
            model = os.path.join(folder, "graph.pb")
            with open(model, "wb") as file:
                file.write(graph.as_graph_def().SerializeToString())
            for p, q, n in draw.sample(list(itertools.product((0, 1), (0, 1), (0, 1, 2))), 3):
                x = draw.randint(-5, 5)
                want = by_tensorflow(session, fetches, {"x:0": x, "p:0": bool(p), "q:0": bool(q), "n:0": n})
                inputs = [("x", "i32", x), ("p", "i1", p), ("q", "i1", q), ("n", "i32", n)]
                n_errors += want is None
                for way in WAYS:
                    got = by_us(args.exe, model, fetches, inputs, way, folder)
                    n_runs += 1
                    if got != want:
                        n_wrong += 1
                        print(f"seed {seed}, x {x}, p {p}, q {q}, n {n}, {' '.join(way)}: {got} instead of {want}")
                        if args.keep:
                            shutil.copyfile(model, os.path.join(args.keep, f"raw_{seed}.pb"))
    print(f"{n_runs} runs of {args.count} graphs, {n_errors} with errors, {n_wrong} wrong")
    sys.exit(n_wrong > 0)


if __name__ == "__main__":
    main()
