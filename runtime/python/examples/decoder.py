"""A greedy decoder as a plain NumPy function: a loop that ends where the data says so, with a list that grows. It is
compiled, compared with itself, and saved as BEF, which runs without Python."""

import sys
from typing import Any

import numpy as np

import befrost as bf


def decode(embeddings: Any, recurrent: Any, output: Any, start: Any, end: Any, most: Any) -> Any:
    """The tokens that follow `start` until `end`, at most `most`."""
    state = np.zeros(recurrent.shape[0], np.float32)
    token = start
    tokens = []
    for _ in range(most):
        state = np.tanh(embeddings[token] + state @ recurrent)
        token = np.argmax(state @ output)
        if token == end:
            break
        tokens.append(token)
    return tokens, len(tokens)


def main() -> None:
    draw = np.random.default_rng(3)
    embeddings, recurrent, output = (draw.normal(size=size).astype(np.float32) for size in ((20, 8), (8, 8), (8, 20)))
    compiled = bf.function(decode)
    for start in range(5):
        args = (embeddings, recurrent, output, np.int64(start), np.int64(8), np.int64(30))
        want, got = decode(*args), compiled(*args)
        assert [int(t) for t in want[0]] == [int(t) for t in got[0]] and want[1] == got[1]
        print(start, "->", *(int(t) for t in got[0]))
    assert compiled.stats().compilations == 1
    if len(sys.argv) > 1:
        compiled.save(sys.argv[1], *args)


if __name__ == "__main__":
    main()
