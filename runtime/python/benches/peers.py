"""The rows of the design's goals table that are Python's, with the peers that are installed, in one run.

    peers.py       best of 5 batches, microseconds of CPU per call (and of the wall clock, where they differ by more
                   than a tenth: another job runs), one thread

Peers are NumPy, ONNX Runtime (with the package onnx, which writes the models) and TensorFlow.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

import befrost as bf


def best(f, n):
    for _ in range(min(n, 20)):
        f()
    cpu = wall = float("inf")
    for _ in range(5):
        start, begun = time.process_time(), time.perf_counter()
        for _ in range(n):
            f()
        cpu, wall = min(cpu, (time.process_time() - start) / n), min(wall, (time.perf_counter() - begun) / n)
    return f"{cpu * 1e6:9.2f} us" + ("" if wall < 1.1 * cpu else f" (wall {wall * 1e6:.2f})")


def row(what, goal, ours, n, **peers):
    words = [f"{what:44} goal {goal:>8}  befrost {best(ours, n)}"]
    words += [f"{name} {best(f, n)}" for name, f in peers.items() if f is not None]
    print("  ".join(words), flush=True)


def tensorflow():
    """TensorFlow, on one thread, if it is installed."""
    try:
        import tensorflow as tf
    except ImportError:
        return None
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    return tf


def models(folder):
    """`model.run` of ONNX models beside ONNX Runtime."""
    try:
        import onnx
        import onnx.helper as make
        import onnxruntime
    except ImportError:
        print("onnx or onnxruntime is not installed: no row of model.run")
        return

    def written(op, n, size):
        ports = [[make.make_tensor_value_info(f"{name}{i}", 1, [size]) for i in range(n)] for name in "xy"]
        nodes = [make.make_node(op, [f"x{i}"], [f"y{i}"]) for i in range(n)]
        model = make.make_model(make.make_graph(nodes, "g", *ports), opset_imports=[make.make_opsetid("", 13)],
                                ir_version=8)
        path = str(folder / f"{op}{n}.onnx")
        onnx.save(model, path)
        return path

    for what, op, n, size, goal, runs in (("identity [1]", "Identity", 1, 1, "0.7 us", 2000),
                                          ("identity, 8 in, 8 out", "Identity", 8, 1, "2.5 us", 1000),
                                          ("Neg of 4 MiB", "Neg", 1, 1 << 20, "72 us", 50)):
        path = written(op, n, size)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model, session = bf.load(path, threads=1), onnxruntime.InferenceSession(path, options)
        feeds = {f"x{i}": np.ones(size, np.float32) for i in range(n)}
        row(f"model.run, {what}", goal, lambda: model.run(feeds), runs, onnxruntime=lambda: session.run(None, feeds))


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def mandelbrot(re, im):
    x, y = np.zeros_like(re), np.zeros_like(im)
    count = np.zeros(re.shape, np.int32)
    for _ in range(40):
        x, y = x * x - y * y + re, 2 * x * y + im
        count = count + (x * x + y * y < 4)
    return count


def main():
    start = time.perf_counter()
    for _ in range(1000000):
        pass
    print(f"calibration: a million empty iterations {time.perf_counter() - start:.4f} s; NumPy {np.__version__}")
    a, b = np.float32(1.5), np.float32(2.5)
    v, m = np.ones(1024, np.float32), np.ones((2, 2), np.float32)
    inc = bf.function(lambda x: x + 1)
    t = bf.tensor(np.ones(4, np.float32))
    array = np.ones(4, np.float32)
    ta, tb, tv, tm = map(bf.tensor, (a, b, v, m))
    tf = tensorflow()
    if tf is not None:
        fa, fb, fv, fm, ft = map(tf.constant, (a, b, v, m, array))
        their_inc = tf.function(lambda x: x + 1)
    row("a + b (Tensors of rank 0)", "0.18 us", lambda: ta + tb, 2000, numpy=lambda: a + b,
        tensorflow=tf and (lambda: fa + fb))
    row("m @ m (Tensors 2x2)", "0.24 us", lambda: tm @ tm, 2000, numpy=lambda: m @ m, tensorflow=tf and (lambda: fm @ fm))
    row("v + v (Tensors 1024)", "0.23 us", lambda: tv + tv, 2000, numpy=lambda: v + v,
        tensorflow=tf and (lambda: fv + fv))
    row("f(x) of bf.function, x + 1, Tensor", "0.5 us", lambda: inc(t), 2000, tensorflow=tf and (lambda: their_inc(ft)))
    row("f(x) of bf.function, x + 1, array", "0.9 us", lambda: inc(array), 2000, numpy=lambda: array + 1)
    f, n = bf.function(collatz), np.int64(27)
    begun = time.perf_counter()
    f(n)
    print(f"first call of collatz: {(time.perf_counter() - begun) * 1e3:.2f} ms (goal 5)")
    row("collatz(27), 111 iterations", "4 us", lambda: f(n), 200, python=lambda: collatz(27), numpy=lambda: collatz(n))
    re, im = np.meshgrid(np.linspace(-2, 1, 256, dtype=np.float32), np.linspace(-1.5, 1.5, 256, dtype=np.float32))
    g = bf.function(mandelbrot)
    begun = time.perf_counter()
    made = g(re, im)
    print(f"first call of mandelbrot: {(time.perf_counter() - begun) * 1e3:.2f} ms (goal 10)")
    with np.errstate(over="ignore", invalid="ignore"):
        assert (np.asarray(made) == mandelbrot(re, im)).mean() > 0.99
    row("mandelbrot 256x256, 40 iterations", "2300 us", lambda: g(re, im), 5, numpy=lambda: mandelbrot(re, im))
    big = np.ones(1 << 20, np.float32)
    neg = bf.function(lambda x: -x)
    row("Neg of 4 MiB, array", "72 us", lambda: neg(big), 50, numpy=lambda: -big)
    with tempfile.TemporaryDirectory() as folder:
        models(pathlib.Path(folder))
    code = "import time, numpy; s = time.process_time(); import befrost; print(time.process_time() - s)"
    seconds = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout or "nan")
                  for _ in range(5))
    print(f"import befrost beyond NumPy: {seconds * 1e3:.1f} ms (goal 25)")


if __name__ == "__main__":
    main()
