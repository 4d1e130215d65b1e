"""The rows of the design's goals table that are Python's, with the peers that are installed, in one run.

    peers.py       best of 5 batches, nanoseconds or microseconds per call, one thread
"""

import subprocess
import sys
import time

import numpy as np

import befrost as bf


def best(f, n):
    for _ in range(min(n, 20)):
        f()
    least = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(n):
            f()
        least = min(least, (time.perf_counter() - start) / n)
    return least


def row(what, goal, ours, n, **peers):
    words = [f"{what:44} goal {goal:>8}  befrost {best(ours, n) * 1e6:9.2f} us"]
    words += [f"{name} {best(f, n) * 1e6:9.2f} us" for name, f in peers.items()]
    print("  ".join(words), flush=True)


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
    row("a + b (Tensors of rank 0)", "0.18 us", lambda: ta + tb, 2000, numpy=lambda: a + b)
    row("m @ m (Tensors 2x2)", "0.24 us", lambda: tm @ tm, 2000, numpy=lambda: m @ m)
    row("v + v (Tensors 1024)", "0.23 us", lambda: tv + tv, 2000, numpy=lambda: v + v)
    row("f(x) of bf.function, x + 1, Tensor", "0.5 us", lambda: inc(t), 2000)
    row("f(x) of bf.function, x + 1, array", "0.9 us", lambda: inc(array), 2000, numpy=lambda: array + 1)
    f, n = bf.function(collatz), np.int64(27)
    begun = time.perf_counter()
    f(n)
    print(f"first call of collatz: {(time.perf_counter() - begun) * 1e3:.2f} ms (goal 5)")
    row("collatz(27), 111 iterations", "4 us", lambda: f(n), 200, python=lambda: collatz(27), numpy=lambda: collatz(n))
    re, im = np.meshgrid(np.linspace(-2, 1, 256, dtype=np.float32), np.linspace(-1.5, 1.5, 256, dtype=np.float32))
    g = bf.function(mandelbrot)
    begun = time.perf_counter()
    assert (np.asarray(g(re, im)) == mandelbrot(re, im)).mean() > 0.99
    print(f"first call of mandelbrot: {(time.perf_counter() - begun) * 1e3:.2f} ms (goal 10)")
    row("mandelbrot 256x256, 40 iterations", "2300 us", lambda: g(re, im), 5, numpy=lambda: mandelbrot(re, im))
    big = np.ones(1 << 20, np.float32)
    neg = bf.function(lambda x: -x)
    row("Neg of 4 MiB, array", "72 us", lambda: neg(big), 50, numpy=lambda: -big)
    code = "import time, numpy; s = time.perf_counter(); import befrost; print(time.perf_counter() - s)"
    seconds = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout or "nan")
                  for _ in range(5))
    print(f"import befrost beyond NumPy: {seconds * 1e3:.1f} ms (goal 25)")


if __name__ == "__main__":
    main()
