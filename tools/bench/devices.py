#!/usr/bin/env python3
"""The speed table of devices: what a crossing, an iteration and a placement cost, in TensorFlow and here, in one run.

    python tools/bench/devices.py target/release [--rows ops,loop,bytes,call,towers,pipeline,simulated,compile] [--runs 5]

Needs TensorFlow from PyPI. The argument is the folder with `bef-exec` and `ir-opt`. Times are the least of the calls of a
run (`--repeat`), the best of several runs that take turns; results are compared before a time is printed. A goal is
that of the table in the devices' specification; a row that misses it says so.

    ops       1,000 tiny ops that alternate between two CPU devices, per op
    loop      a loop whose body is on the other device, per iteration
    bytes     a crossing of 4 MiB beside one of 4 bytes: equal, since nothing is copied
    call      a call of an empty program on 8 devices rather than 1
    towers    a training step of two towers: two devices of one thread against one
    pipeline  three stages over 16 micro-batches: two devices of one thread against one
    simulated the same with 16 micro-batches one after the other, placed by `list`: its makespan after --calibrate beside
              the measured one, on one device and on two
    compile   10,000 ops on 8 devices: place (named ops, and by `list`), partition, verify
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402

FAILED = []
ROOT = Path(__file__).resolve().parents[2]


def exec_times(tools, program, options, calls, output):
    """The least seconds of a call, and the result."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.npy"
        command = [tools / "bef-exec", program, *options, "--repeat", str(calls), "--warmup", str(max(calls // 10, 2))]
        command += ["--output", f"{output}={out}"] if output else []
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")
        found = re.search(r"wall min ([0-9.]+) (ns|us|ms|s)\b", done.stdout + done.stderr)
        if not found:
            sys.exit(f"no time in\n{(done.stdout + done.stderr)[-2000:]}")
        seconds = float(found[1]) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[found[2]]
        return seconds, np.load(out) if output else None


def best(runs, ways):
    """The least seconds of each way, which take turns, and the results of the last turn."""
    least, results = {name: float("inf") for name in ways}, {}
    for _ in range(runs):
        for name, way in ways.items():
            seconds, results[name] = way()
            least[name] = min(least[name], seconds)
    return least, results


def row(what, figure, unit, goal=None, is_met=True):
    text = f"| {what} | {figure:.4g} {unit} |"
    if goal:
        text += f" {goal} | {'met' if is_met else 'MISSED'} |"
        FAILED.extend([] if is_met else [what])
    else:
        text += " | |"
    print(text, flush=True)


def tensorflow(graph, feeds, fetch, calls, devices):
    """A way to run the graph in a session of several CPU devices with one thread for each pool."""
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto(
        device_count={"CPU": devices}, intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    session = tf.compat.v1.Session(graph=graph, config=config)
    run = session.make_callable(fetch, list(feeds))

    def way():
        values, times = list(feeds.values()), []
        for _ in range(max(calls // 10, 2)):
            run(*values)
        for _ in range(calls):
            begin = time.perf_counter()
            result = run(*values)
            times.append(time.perf_counter() - begin)
        return min(times), result

    return way


def saved(graph, folder, name):
    path = Path(folder) / f"{name}.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    return path


WAYS = {
    "transfers, s": ["--devices", "CPU:2", "--work-queue", "s"],
    "partition=device, s": ["--devices", "CPU:2", "--partition", "device", "--work-queue", "s"],
    "transfers, CPU:2{threads=1}": ["--devices", "CPU:2{threads=1}", "--work-queue", "mstd:2"],
}


def compared(got, want, what):
    for name, value in got.items():
        if not np.allclose(value, want, rtol=1e-4, atol=1e-5):
            sys.exit(f"{what}, {name}: {value}, expected {want}")


def ours(tools, path, inputs, calls, ways):
    """Ways to run the graph on all devices that its nodes name, and the program of one device beside them."""
    def of(options):
        return lambda: exec_times(tools, path, [*inputs, *options], calls, "out:0")

    return {"one device": of(["--work-queue", "s"]), **{name: of(WAYS[name]) for name in ways}}


def ops(args, folder):
    import tensorflow as tf

    n = 1000

    def chain(devices):
        graph = tf.Graph()
        with graph.as_default():
            x = tf.compat.v1.placeholder(tf.float32, [], "x")
            value = x
            for i in range(n):
                with tf.device(f"/cpu:{i % devices}"):
                    # No pattern combines these.
                    value = tf.raw_ops.Sin(x=value) if i % 4 < 2 else tf.raw_ops.Cos(x=value)
            tf.identity(value, "out")
        return graph

    two, one = chain(2), chain(1)
    feeds = {"x:0": np.float32(0.5)}
    ways = {"TensorFlow": tensorflow(two, feeds, "out:0", 200, 2), "TensorFlow, one": tensorflow(one, feeds, "out:0", 200, 1)}
    # At -O1 nothing is fused, neither on one device nor within one.
    ways |= ours(args.tools, saved(two, folder, "ops"), ["--input", "x=f32:0.5", "-O1"], 200, WAYS)
    least, results = best(args.runs, ways)
    compared(results, results["TensorFlow"], "ops")
    each = lambda name, other: (least[name] - least[other]) / n * 1e6
    row("an op that alternates between devices: TensorFlow", least["TensorFlow"] / n * 1e6, "us")
    row("its crossing: TensorFlow", each("TensorFlow", "TensorFlow, one"), "us")
    for name, goal in zip(WAYS, (0.05, 0.3, 2)):
        figure = each(name, "one device")
        row(f"its crossing: {name}", figure, "us", f"<= {goal} us", figure <= goal)


def loop(args, folder):
    import tensorflow as tf

    graph = tf.Graph()
    with graph.as_default():
        tf.compat.v1.disable_control_flow_v2()
        n = tf.compat.v1.placeholder(tf.int32, [], "n")

        def body(i, x):
            with tf.device("/cpu:1"):
                x = tf.raw_ops.Sin(x=x)
            return i + 1, x

        with tf.device("/cpu:0"):
            result = tf.while_loop(lambda i, x: i < n, body, [tf.constant(0), tf.constant(0.5)])[1]
            tf.identity(result, "out")
    many = 2000
    feeds = lambda n: {"n:0": np.int32(n)}
    path = saved(graph, folder, "loop")
    ways, names = {}, ["transfers, s", "partition=device, s"]
    for n in (1, many):
        ways[f"TensorFlow {n}"] = tensorflow(graph, feeds(n), "out:0", 20, 2)
        made = ours(args.tools, path, ["--input", f"n=i32:{n}"], 20, names)
        native = ours(args.tools, path, ["--input", f"n=i32:{n}", "--no-functionalize"], 20, names)
        ways |= {f"{name} {n}": way for name, way in made.items()}
        ways |= {f"{name}, natively {n}": way for name, way in native.items()}
    least, results = best(args.runs, ways)
    compared({name: value for name, value in results.items() if name.endswith(f" {many}")}, results[f"TensorFlow {many}"], "loop")
    each = lambda name: (least[f"{name} {many}"] - least[f"{name} 1"]) / (many - 1) * 1e6
    row("an iteration whose body is on the other device: TensorFlow", each("TensorFlow"), "us")
    for name, goal in zip(names, (0.2, 1.5)):
        row(f"the same: {name}", each(name), "us", f"<= {goal} us", each(name) <= goal)
        row(f"the same: {name}, natively", each(f"{name}, natively"), "us")


def data(args, folder):
    """A chain of reshapes, which copy nothing, between two devices."""
    import tensorflow as tf

    n = 100

    def chain(size):
        graph = tf.Graph()
        with graph.as_default():
            x = tf.compat.v1.placeholder(tf.float32, [size], "x")
            value = x
            for i in range(n):
                with tf.device(f"/cpu:{i % 2}"):
                    value = tf.reshape(value, [size, 1] if i % 2 else [1, size])
            tf.identity(tf.reshape(value, [-1])[:4], "out")
        return graph

    ways, way = {}, WAYS["partition=device, s"]
    for size in (4, 1 << 20):
        np.save(Path(folder) / f"x{size}.npy", np.ones(size, np.float32))
        options = ["--input", f"x={folder}/x{size}.npy", "-O0", *way]
        path = saved(chain(size), folder, f"bytes{size}")
        ways[size] = lambda path=path, options=options: exec_times(args.tools, path, options, 100, "out:0")
    least, _ = best(args.runs, ways)
    extra = (least[1 << 20] - least[4]) / n * 1e6
    # A copy of 4 MiB takes some 400 us.
    row("a crossing of 4 MiB, rather than of 16 bytes", extra, "us more", "no copy", extra < 20)


def call(args, folder):
    path = Path(folder) / "empty.mlir"
    path.write_text("func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  tfrt.return %x : tensor<f32>\n}\n")
    of = lambda devices: lambda: exec_times(
        args.tools, path, ["--input", "x=f32:1", "--devices", devices, "--work-queue", "s"], 20_000, None)
    least, _ = best(args.runs, {"1": of("CPU:1"), "8": of("CPU:8")})
    more = (least["8"] - least["1"]) * 1e9
    row("a call of an empty program on 8 devices rather than 1", more, "ns more", "<= 50 ns", more <= 50)


def towers(args, folder):
    """A training step of two towers of dense layers, with half of the batch each."""
    import tensorflow as tf

    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [256, 256], "x")
        w = [tf.constant(np.random.default_rng(i).normal(0, 0.05, (256, 256)).astype(np.float32)) for i in range(4)]
        gradients = []
        for i in range(2):
            with tf.device(f"/cpu:{i}"):
                y = x[i * 128:(i + 1) * 128]
                for weights in w:
                    y = tf.tanh(tf.matmul(y, weights))
                gradients.append(tf.gradients(tf.reduce_mean(tf.square(y)), w))
        with tf.device("/cpu:0"):
            new = [weights - 0.1 * (a + b) for weights, a, b in zip(w, *gradients)]
            tf.identity(tf.add_n(new), "out")
    two_devices(args, "a training step of two towers", saved(graph, folder, "towers"), (256, 256), folder, 1.8, "first")


def pipeline(args, folder):
    """Three stages over 16 micro-batches in one loop, whose iterations overlap."""
    import tensorflow as tf

    graph = tf.Graph()
    with graph.as_default():
        tf.compat.v1.disable_control_flow_v2()
        x = tf.compat.v1.placeholder(tf.float32, [256, 256], "x")
        w = [tf.constant(np.random.default_rng(i).normal(0, 0.06, (256, 256)).astype(np.float32)) for i in range(4)]

        def body(i, done):
            with tf.device("/cpu:0"):
                y = tf.tanh(tf.matmul(tf.tanh(tf.matmul(x + tf.cast(i, tf.float32), w[0])), w[1]))
            with tf.device("/cpu:1"):
                y = tf.tanh(tf.matmul(tf.tanh(tf.matmul(y, w[2])), w[3]))
                return i + 1, done + y

        with tf.device("/cpu:0"):
            zero = tf.zeros([256, 256])
            tf.identity(tf.while_loop(lambda i, done: i < 16, body, [tf.constant(0), zero])[1], "out")
    two_devices(args, "three stages over 16 micro-batches", saved(graph, folder, "pipeline"), (256, 256), folder, 1.7, "first")


def two_devices(args, what, path, shape, folder, goal, policy):
    x = Path(folder) / "x.npy"
    np.save(x, np.random.default_rng(9).normal(0, 1, shape).astype(np.float32))
    of = lambda options: lambda: exec_times(args.tools, path, ["--input", f"x={x}", *options], 20, "out:0")
    least, results = best(args.runs, {
        "one": of(["--work-queue", "s"]),
        "two": of(["--devices", "CPU:2{threads=1}", "--place", policy, "--work-queue", "mstd:2"]),
        "parts": of(["--devices", "CPU:2{threads=1}", "--place", policy, "--partition", "device", "--work-queue", "mstd:2"]),
    })
    compared(results, results["one"], what)
    for name in ("two", "parts"):
        ratio = least["one"] / least[name]
        row(f"{what}: one device by {name}", ratio, "times", f">= {goal}", ratio >= goal)


def simulated(args, folder):
    """The pipeline of the README: what the simulation says, and what a clock says."""
    path, x, devices = ROOT / "testdata/devices/pipeline.mlir", Path(folder) / "stages.npy", "CPU:2{threads=1}"
    np.save(x, np.random.default_rng(9).normal(0, 1, (360, 64)).astype(np.float32))
    rates = Path(folder) / "set.json"
    command = [args.tools / "bef-exec", "--devices", devices, "--work-queue", "mstd:2", "--calibrate", "-o", rates]
    subprocess.run([str(word) for word in command], check=True)
    ways, planned = {}, {}
    # On two devices `first` puts everything on the first one.
    for name, policy in {"one device": "first", "two devices": "list"}.items():
        command = [args.tools / "ir-translate", path, "--devices", f"@{rates}", "--place", policy, "--print-placement",
                   "-o", Path(folder) / "stages.bef"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
        planned[name] = float(re.search(r"makespan ([0-9.]+) us", done.stdout + done.stderr)[1]) / 1e6
        options = ["--input", str(x), "--devices", f"@{rates}", "--place", policy, "--work-queue", "mstd:2"]
        ways[name] = lambda options=options: exec_times(args.tools, path, options, 50, None)
    least, _ = best(args.runs, ways)
    for name in ways:
        off = abs(planned[name] / least[name] - 1)
        row(f"stages on {name}: measured", least[name] * 1e6, "us")
        row(f"stages on {name}: simulated", planned[name] * 1e6, "us", "within 15 %", off <= 0.15)
    ratio = least["one device"] / least["two devices"]
    row("stages placed by list: one device by two", ratio, "times", "> 1", ratio > 1)


def large(folder, name, place):
    """A program of 10,000 ops, to each of which `place` gives attributes."""
    lines, names = [], ["%x"]
    for i in range(10_000):
        a, b = names[-1], names[max(0, len(names) - 8)]
        lines.append(f'  %v{i} = "tf.AddV2"({a}, {b}) {place(i)} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>')
        names.append(f"%v{i}")
    path = Path(folder) / f"{name}.mlir"
    path.write_text("func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {\n" + "\n".join(lines)
                    + f"\n  tfrt.return {names[-1]} : tensor<64xf32>\n}}\n")
    return path


def pass_times(args, path, passes, names):
    """The least seconds of these passes."""
    least = {}
    for _ in range(args.runs):
        done = subprocess.run([args.tools / "ir-opt", path, f"--pass-pipeline=builtin.module({passes})", "--timing", "-o", os.devnull],
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr[-2000:])
        for name in names:
            found = re.search(r"([0-9.]+) \([^)]*\)\s+" + name, done.stderr + done.stdout)
            if not found:
                sys.exit(f"no time of {name} in\n{done.stderr[-2000:]}")
            least[name] = min(least.get(name, float("inf")), float(found[1]))
    return least


def compile_times(args, folder):
    """10,000 ops on 8 devices: each on a device that it names, and without names."""
    devices = "CPU:8"
    named = large(folder, "named", lambda i: f'{{device = "/cpu:{i // 7 % 8}"}}')
    passes = f"tf-place{{devices={devices} policy=first}},tf-partition{{devices={devices}}},verify-parts"
    least = pass_times(args, named, passes, ("TFPlace", "TFPartition", "VerifyParts"))
    for (name, seconds), goal in zip(least.items(), (0.3, 0.2, 0.1)):
        row(f"10,000 ops on 8 devices: {name}", seconds, "s", f"<= {goal} s", seconds <= goal)
    free = large(folder, "free", lambda i: "")
    seconds = pass_times(args, free, f"tf-place{{devices={devices} policy=list}}", ("TFPlace",))["TFPlace"]
    row("10,000 ops without names on 8 devices: TFPlace by list", seconds, "s", "<= 0.3 s", seconds <= 0.3)


ROWS = {"ops": ops, "loop": loop, "bytes": data, "call": call, "towers": towers, "pipeline": pipeline,
        "simulated": simulated, "compile": compile_times}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools", type=Path, help="the folder of bef-exec and ir-opt")
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    if rest := set(args.rows.split(",")) - set(ROWS):
        parser.error(f"no such rows: {', '.join(rest)}")
    if any(name in args.rows for name in ("ops", "loop", "bytes", "towers", "pipeline")):
        import tensorflow as tf

        tf.compat.v1.disable_eager_execution()
    print("| | measured | goal | |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.rows.split(","):
            ROWS[name](args, folder)
    if FAILED:
        sys.exit(f"missed: {', '.join(FAILED)}")


if __name__ == "__main__":
    main()
