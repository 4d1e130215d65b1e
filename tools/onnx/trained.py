"""Writes testdata/training/digits_lstm.onnx: a bidirectional LSTM reads the rows of a digit, and its last states give the scores.

    venv/bin/python tools/onnx/trained.py testdata/training

Needs numpy and onnx. The weights are random numbers from a fixed seed.
"""
import pathlib
import sys

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
digits (float[N, 64] images, int32[N] labels) => (float[N, 10] logits, float loss) <
    int64[3] rows = {-1, 8, 8}, int64[2] flat = {-1, 16}
> {
    by_image = Reshape(images, rows)
    by_row = Transpose <perm = [1, 0, 2]> (by_image)
    all, last = LSTM <hidden_size = 8, direction = "bidirectional"> (by_row, "lstm.w", "lstm.r", "lstm.b")
    both = Transpose <perm = [1, 0, 2]> (last)
    features = Reshape(both, flat)
    logits = Gemm(features, "logits.w", "logits.b")
    classes = Cast <to = 7> (labels)
    loss = SoftmaxCrossEntropyLoss(logits, classes)
}
"""
WEIGHTS = {"lstm.w": (2, 32, 8), "lstm.r": (2, 32, 8), "lstm.b": (2, 64), "logits.w": (16, 10), "logits.b": (10,)}


def main():
    random, model = np.random.default_rng(1), onnx.parser.parse_model(MODEL)
    for name, shape in WEIGHTS.items():
        numbers = random.normal(size=shape, scale=0.3).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(numbers, name))
    onnx.checker.check_model(model, full_check=True)
    (pathlib.Path(sys.argv[1]) / "digits_lstm.onnx").write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
