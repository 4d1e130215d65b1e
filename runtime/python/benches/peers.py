"""The rows of the design's goals table that are Python's, with the peers that are installed, in one run.

    peers.py       best of 5 batches, microseconds of CPU per call (and of the wall clock, where they differ by more
                   than a tenth: another job runs), one thread

Peers are NumPy, ONNX Runtime (with the package onnx, which writes the models) and TensorFlow: eager, tf.function, and
XLA. The calibration is an uncontended fetch_sub of C's, where there is a compiler: 4.8 ns on the machine of the goals.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from typing import Any

import numpy as np

import befrost as bf


def best(f: Any, n: Any) -> Any:
    for _ in range(min(n, 20)):
        f()
    cpu = wall = float("inf")
    for _ in range(5):
        start, begun = time.process_time(), time.perf_counter()
        for _ in range(n):
            f()
        cpu, wall = min(cpu, (time.process_time() - start) / n), min(wall, (time.perf_counter() - begun) / n)
    return f"{cpu * 1e6:9.2f} us" + ("" if wall < 1.1 * cpu else f" (wall {wall * 1e6:.2f})")


def row(what: Any, goal: Any, ours: Any, n: Any, **peers: Any) -> None:
    words = [f"{what:44} goal {goal:>8}  befrost {best(ours, n)}"]
    words += [f"{name} {best(f, n)}" for name, f in peers.items() if f is not None]
    print("  ".join(words), flush=True)


def tensorflow() -> Any:
    """TensorFlow, on one thread, if it is installed."""
    try:
        import tensorflow as tf
    except ImportError:
        return None
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    return tf


FETCH_SUB = """#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
int main(void) {
  atomic_long x = 0;
  clock_t start = clock();
  for (long i = 0; i < 50000000; i++) atomic_fetch_sub(&x, 1);
  printf("%.2f", (double)(clock() - start) / CLOCKS_PER_SEC * 20);
}
"""


def calibration(folder: Any) -> Any:
    """The nanoseconds of a fetch_sub."""
    if shutil.which("cc") is None:
        return "no C compiler"
    (folder / "sub.c").write_text(FETCH_SUB)
    subprocess.run(["cc", "-O1", folder / "sub.c", "-o", folder / "sub"], check=True)
    return min(subprocess.run([folder / "sub"], capture_output=True, text=True).stdout for _ in range(3)) + " ns"


def first(what: Any, goal: Any, ours: Any, **peers: Any) -> None:
    """The first calls of functions, in milliseconds."""
    words = [f"{'first call of ' + what:44} goal {goal:>8}"]
    for name, f in {"befrost": ours, **peers}.items():
        if f is not None:
            begun = time.perf_counter()
            f()
            words.append(f"{name} {(time.perf_counter() - begun) * 1e3:9.2f} ms")
    print("  ".join(words), flush=True)


def threads() -> None:
    """Two threads that run one session, beside one thread."""
    digits = pathlib.Path(__file__).resolve().parents[3] / "testdata" / "digits"
    session, images = bf.Session(digits / "digits_cnn.pb", threads=1), np.load(digits / "test_images.npy")[:64]

    def work(n: Any) -> None:
        for _ in range(n):
            session.run("logits", {"images": images})

    def took(n_threads: Any, n: Any = 200) -> Any:
        started = [threading.Thread(target=work, args=(n,)) for _ in range(n_threads)]
        begun = time.perf_counter()
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        return time.perf_counter() - begun

    work(5)
    one, two = (min(took(n) for _ in range(5)) for n in (1, 2))
    print(f"{'two threads on one session (CNN of digits)':44} goal    1.9 x  {2 * one / two:.2f} x the runs of one")


def models(folder: Any) -> None:
    """`model.run` of ONNX models beside ONNX Runtime."""
    try:
        import onnx
        import onnx.helper as make
        import onnxruntime
    except ImportError:
        print("onnx or onnxruntime is not installed: no row of model.run")
        return

    def written(op: Any, n: Any, size: Any) -> Any:
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
        binding = session.io_binding()
        for name, array in feeds.items():
            binding.bind_cpu_input(name, array)
        for output in session.get_outputs():
            binding.bind_output(output.name)
        row(f"model.run, {what}", goal, lambda: model.run(feeds), runs, onnxruntime=lambda: session.run(None, feeds),
            io_binding=lambda: session.run_with_iobinding(binding))


def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def mandelbrot(re: Any, im: Any) -> Any:
    x, y = np.zeros_like(re), np.zeros_like(im)
    count = np.zeros(re.shape, np.int32)
    for _ in range(40):
        x, y = x * x - y * y + re, 2 * x * y + im
        count = count + (x * x + y * y < 4)
    return count


def collatz_of_tensorflow(tf: Any) -> Any:
    """The same for AutoGraph, which wants one type on both ways."""
    def f(n: Any) -> Any:
        steps = tf.constant(0, tf.int64)
        while n != 1:
            n = tf.where(n % 2 == 0, n // 2, 3 * n + 1)
            steps += 1
        return steps

    return f


def mandelbrot_of_tensorflow(tf: Any) -> Any:
    def f(re: Any, im: Any) -> Any:
        x, y = tf.zeros_like(re), tf.zeros_like(im)
        count = tf.zeros(re.shape, tf.int32)
        for _ in tf.range(40):
            x, y = x * x - y * y + re, 2 * x * y + im
            count = count + tf.cast(x * x + y * y < 4, tf.int32)
        return count

    return f


def wheels() -> None:
    """The sizes of a wheel, from the folder of BEFROST_WHEELS, where `maturin build --release` has put it."""
    for wheel in sorted(pathlib.Path(os.environ.get("BEFROST_WHEELS", "/nowhere")).glob("befrost-*.whl")):
        installed = sum(part.file_size for part in zipfile.ZipFile(wheel).infolist())
        print(f"{'wheel ' + wheel.name[:38]:44} goal     8 MB  {wheel.stat().st_size / 1e6:.2f} MB, installed {installed / 1e6:.1f} MB")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print(f"calibration: fetch_sub {calibration(pathlib.Path(folder))}; NumPy {np.__version__}")
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
    tn = bf.tensor(n)
    graph = xla = fn = None
    if tf is not None:
        fn = tf.constant(27, tf.int64)
        graph, xla = tf.function(collatz_of_tensorflow(tf)), tf.function(collatz_of_tensorflow(tf), jit_compile=True)
    first("collatz", "5 ms", lambda: f(n), tf_function=graph and (lambda: graph(fn)), xla=xla and (lambda: xla(fn)))
    row("collatz(27), 111 iterations", "4 us", lambda: f(n), 200, python=lambda: collatz(27), numpy=lambda: collatz(n),
        tf_function=graph and (lambda: graph(fn)), xla=xla and (lambda: xla(fn)))
    row("collatz(27) on Tensors, one by one", "120 us", lambda: collatz(tn), 50, numpy=lambda: collatz(n),
        tensorflow=tf and (lambda: collatz(fn)))
    re, im = np.meshgrid(np.linspace(-2, 1, 256, dtype=np.float32), np.linspace(-1.5, 1.5, 256, dtype=np.float32))
    g = bf.function(mandelbrot)
    if tf is not None:
        fre, fim = tf.constant(re), tf.constant(im)
        graph, xla = tf.function(mandelbrot_of_tensorflow(tf)), tf.function(mandelbrot_of_tensorflow(tf), jit_compile=True)
    first("mandelbrot", "10 ms", lambda: g(re, im), tf_function=graph and (lambda: graph(fre, fim)),
          xla=xla and (lambda: xla(fre, fim)))
    made = g(re, im)
    with np.errstate(over="ignore", invalid="ignore"):
        assert (np.asarray(made) == mandelbrot(re, im)).mean() > 0.99
    row("mandelbrot 256x256, 40 iterations", "2300 us", lambda: g(re, im), 5, numpy=lambda: mandelbrot(re, im),
        tf_function=graph and (lambda: graph(fre, fim)), xla=xla and (lambda: xla(fre, fim)))
    big = np.ones(1 << 20, np.float32)
    neg = bf.function(lambda x: -x)
    row("Neg of 4 MiB, array", "72 us", lambda: neg(big), 50, numpy=lambda: -big)
    with tempfile.TemporaryDirectory() as folder:
        models(pathlib.Path(folder))
    threads()
    for package in ("befrost", "onnxruntime", *(["tensorflow"] if tf is not None else [])):
        code = f"import time, numpy; s = time.process_time(); import {package}; print(time.process_time() - s)"
        seconds = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout or "nan")
                      for _ in range(5 if package == "befrost" else 2))
        print(f"{'import beyond NumPy: ' + package:44} goal    25 ms  {seconds * 1e3:.1f} ms")
    wheels()


if __name__ == "__main__":
    main()
