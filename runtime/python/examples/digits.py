"""A CNN for handwritten digits as a plain NumPy function: compiled, compared with itself and with the graph that its
weights come from, and saved as BEF, which runs without Python."""

import pathlib
import sys
import time
from typing import Any

import numpy as np

import befrost as bf

DIGITS = pathlib.Path(__file__).resolve().parents[3] / "testdata" / "digits"


def convolve(x: Any, w: Any, b: Any) -> Any:
    """A convolution of 3x3 with padding, by shifts: x [n, h, w, c], w [3, 3, c, k]."""
    n, height, width, _ = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    total = b
    for i in range(3):
        for j in range(3):
            total = total + padded[:, i:i + height, j:j + width] @ w[i, j]
    return np.maximum(total, 0)


def pool(x: Any) -> Any:
    """The maximum of each 2x2."""
    n, height, width, c = x.shape
    return x.reshape(n, height // 2, 2, width // 2, 2, c).max((2, 4))


def cnn(images: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
    x = images.reshape(-1, 8, 8, 1)
    x = pool(convolve(x, w1, b1))
    x = pool(convolve(x, w2, b2))
    return x.reshape(len(images), -1) @ w3 + b3


def main() -> None:
    session = bf.Session(DIGITS / "digits_cnn.pb")
    weights = list(session.run(["Const", "Const_1", "Const_2", "Const_3", "Const_4", "Const_5"]))
    images, labels = np.load(DIGITS / "test_images.npy"), np.load(DIGITS / "test_labels.npy")
    compiled = bf.function(cnn)
    logits = np.asarray(compiled(images, *weights))
    np.testing.assert_allclose(logits, cnn(images, *weights), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(logits, session.run("logits", {"images": images}), rtol=1e-4, atol=1e-4)
    print(f"{(logits.argmax(1) == labels).sum()} of {len(labels)} digits right")
    for name, f in (("NumPy", cnn), ("compiled", compiled)):
        start = time.perf_counter()
        for _ in range(5):
            f(images, *weights)
        print(f"{name}: {(time.perf_counter() - start) / 5 * 1e3:.2f} ms per {len(images)} images")
    if len(sys.argv) > 1:
        types = [bf.spec((None, 64), "float32"), *(bf.spec(w.shape, w.dtype) for w in weights)]
        compiled.save(sys.argv[1], *types)


if __name__ == "__main__":
    main()
