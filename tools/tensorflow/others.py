"""Quantized ranges, sparse and ragged operands."""
import itertools

import numpy as np
from case import Case, integers, normal, tf

raw = tf.raw_ops


def quantize():
    case = Case("op_fake_quant", rtol=1e-6)
    x = case.feed("x", (4 * normal(1, 5, 3)).astype(np.float32), shape=[None, 3])
    dy = case.feed("dy", normal(2, 5, 3))
    low = case.feed("low", np.float32(-1.3))
    high = case.feed("high", np.float32(4.1))
    zero = case.feed("zero", np.float32(0))
    lows = case.feed("lows", np.array([-1.3, 0.0, 0.4], np.float32))
    highs = case.feed("highs", np.array([2.2, 0.0, 3.9], np.float32))
    for bits, narrow in [(8, False), (8, True), (2, False), (16, True)]:
        attrs = {"num_bits": bits, "narrow_range": narrow}
        word = f"{bits}_{narrow}"
        ends = {"min": -0.7, "max": 3.3}
        case.fetch(f"args_{word}", raw.FakeQuantWithMinMaxArgs(inputs=x, **ends, **attrs))
        case.fetch(f"args_{word}_by_x",
                   raw.FakeQuantWithMinMaxArgsGradient(gradients=dy, inputs=x, **ends, **attrs))
        for name, ends in {"vars": (low, high), "zero": (zero, zero), "channels": (lows, highs)}.items():
            ends = {"min": ends[0], "max": ends[1]}
            kind = "VarsPerChannel" if name == "channels" else "Vars"
            case.fetch(f"{name}_{word}", getattr(raw, f"FakeQuantWithMinMax{kind}")(inputs=x, **ends, **attrs))
            case.fetch(f"{name}_{word}_by", *getattr(raw, f"FakeQuantWithMinMax{kind}Gradient")(
                gradients=dy, inputs=x, **ends, **attrs))
    case.write()


def quantize_and_dequantize():
    case = Case("op_quantize_and_dequantize", rtol=1e-6)
    edges = np.array([0, .5, 1.5, -2.5, -8, 8, 100, -100, 1e-3, -.49, .51, 2.5, 3.5, -.5, 7.9], np.float32)
    x = case.feed("x", np.concatenate([3 * normal(1, 2, 5, 3), edges.reshape(1, 5, 3)]).astype(np.float32))
    dy = case.feed("dy", normal(2, 3, 5, 3))
    low, high = case.feed("low", np.float32(-4.1)), case.feed("high", np.float32(6.2))
    lows = case.feed("lows", np.array([-1, -3.5, 0, -2, -6], np.float32))
    highs = case.feed("highs", np.array([2, 3, 4, .5, 0], np.float32))
    zero, bits = case.feed("zero", np.float32(0)), case.feed("bits", np.int32(5))
    ends = {"input_min": low, "input_max": high}
    by_axis = {"input_min": lows, "input_max": highs}
    for signed in [True, False]:
        for n, mode, narrow, given in itertools.product([2, 8, 16], ["HALF_TO_EVEN", "HALF_UP"], [False, True],
                                                        [False, True]):
            case.fetch(f"v2_{signed}_{n}_{mode}_{narrow}_{given}", raw.QuantizeAndDequantizeV2(
                input=x, **ends, signed_input=signed, num_bits=n, range_given=given, round_mode=mode,
                narrow_range=narrow))
        case.fetch(f"zero_{signed}", raw.QuantizeAndDequantizeV2(
            input=x, input_min=zero, input_max=zero, signed_input=signed, range_given=True))
        case.fetch(f"axis_{signed}", raw.QuantizeAndDequantizeV2(
            input=x, **by_axis, signed_input=signed, range_given=False, axis=1))
        for given in [True, False]:
            case.fetch(f"v3_{signed}_{given}", raw.QuantizeAndDequantizeV3(
                input=x, **ends, num_bits=bits, signed_input=signed, range_given=given, narrow_range=not given))
        case.fetch(f"v4_{signed}", raw.QuantizeAndDequantizeV4(
            input=x, **ends, signed_input=signed, range_given=True))
    case.fetch("by", *raw.QuantizeAndDequantizeV4Grad(gradients=dy, input=x, **ends))
    case.fetch("by_axis", *raw.QuantizeAndDequantizeV4Grad(gradients=dy, input=x, **by_axis, axis=1))
    case.write()


def halves():
    """Numbers half way between two steps, whose rounding shows how TensorFlow divides; round trips of f64."""
    case = Case("op_quantized_halves", rtol=1e-6)
    low, high = np.float32([0, -1, -0.5]), np.float32([2, 3, 0.7])
    ties = case.feed("ties", (low + (np.arange(60)[:, None] * 4 + 0.5) * (high - low) / 255).astype(np.float32))
    for i in range(3):
        x, ends = ties[:, i], [float(low[i]), float(high[i])]
        case.fetch(f"args_{i}", raw.FakeQuantWithMinMaxArgs(inputs=x, min=ends[0], max=ends[1]))
        case.fetch(f"vars_{i}", raw.FakeQuantWithMinMaxVars(inputs=x, min=ends[0], max=ends[1]))
    case.fetch("channels", raw.FakeQuantWithMinMaxVarsPerChannel(inputs=ties, min=low, max=high))
    x = case.feed("x", normal(1, 3, 4, dtype=np.float64))
    ends, rows = {"input_min": np.float64(-1), "input_max": np.float64(0.5)}, np.zeros(3)
    for given, axis in [(False, -1), (False, 0), (True, -1)]:
        attrs = {"range_given": given, "axis": axis, "narrow_range": given, **(ends if axis < 0 else dict.fromkeys(ends, rows))}
        word = f"{'given' if given else 'own'}_{axis + 1}"
        case.fetch(f"wide_{word}", raw.QuantizeAndDequantizeV2(input=x, **attrs, round_mode="HALF_UP"))
        case.fetch(f"wide_bits_{word}", raw.QuantizeAndDequantizeV3(input=x, **attrs, num_bits=5))
    dy = case.feed("dy", normal(2, 3, 4, dtype=np.float64))
    case.fetch("wide_gradient", *raw.QuantizeAndDequantizeV4Grad(gradients=dy, input=x, **ends))
    case.write()


def sparse():
    case = Case("op_sparse")
    shape = case.feed("shape", np.array([4, 3], np.int64))
    indices = case.feed("indices", np.array([[0, 1], [1, 0], [1, 2], [3, 1]], np.int64), shape=[None, 2])
    for dtype in [np.float32, np.int32, np.complex64]:
        word = np.dtype(dtype).name
        values = normal(1, 4) * 9 + (1j * normal(4, 4) if dtype is np.complex64 else 0)
        values = case.feed(f"values_{word}", values.astype(dtype))
        one = values[0]
        case.fetch(f"dense_{word}", raw.SparseToDense(
            sparse_indices=indices, output_shape=shape, sparse_values=values, default_value=one))
        case.fetch(f"dense_scalar_{word}", raw.SparseToDense(
            sparse_indices=np.int32(2), output_shape=[5], sparse_values=one, default_value=values[1]))
        case.fetch(f"dense_vector_{word}", raw.SparseToDense(
            sparse_indices=[3, 1, 3, 0], output_shape=[5], sparse_values=values, default_value=one,
            validate_indices=False))
        for adjoint_a in [False, True]:
            for adjoint_b in [False, True]:
                b = integers(2, -9, 9, 4 if adjoint_a else 3, 5).astype(dtype)
                if dtype is np.complex64:
                    b = b + (1j * integers(3, -9, 9, *b.shape)).astype(dtype)
                name = f"{word}_{adjoint_a}_{adjoint_b}"
                b = case.feed(f"b_{name}", b.T if adjoint_b else b)
                case.fetch(f"matmul_{name}", raw.SparseTensorDenseMatMul(
                    a_indices=indices, a_values=values, a_shape=shape, b=b, adjoint_a=adjoint_a,
                    adjoint_b=adjoint_b))
    for dtype in [np.int32, np.int64]:
        word = np.dtype(dtype).name
        outer = case.feed(f"outer_{word}", np.array([0, 2, 2, 5], dtype))
        inner = case.feed(f"inner_{word}", np.array([0, 1, 4, 4, 6, 7], dtype))
        ragged = case.feed(f"ragged_{word}", normal(5, 7, 2), shape=[None, 2])
        rows = case.feed(f"rows_{word}", np.array([[2, 0], [1, 2], [0, 0]], np.int64))
        case.fetch(f"gather_one_{word}", *flat(raw.RaggedGather(
            params_nested_splits=[inner], params_dense_values=ragged, indices=rows[:, 0],
            OUTPUT_RAGGED_RANK=1)))
        case.fetch(f"gather_two_{word}", *flat(raw.RaggedGather(
            params_nested_splits=[outer, inner], params_dense_values=ragged, indices=rows,
            OUTPUT_RAGGED_RANK=3)))
    case.write()


def ragged():
    case = Case("op_ragged")
    values = case.feed("values", normal(1, 7, 2), shape=[None, 2])
    default = case.feed("default", np.array([9, 8], np.float32))
    zero = case.feed("zero", np.float32(0))
    splits = case.feed("splits", np.array([0, 2, 2, 5, 7], np.int64), shape=[None])
    outer = case.feed("outer", np.array([0, 1, 1, 4], np.int64), shape=[None])
    rowids = case.feed("rowids", np.array([0, 0, 2, 2, 2, 4, 4], np.int64), shape=[None])
    n_rows = case.feed("n_rows", np.int64(6))
    for name, partitions, types in [
        ("splits", [splits], ["ROW_SPLITS"]),
        ("nested", [outer, splits], ["ROW_SPLITS", "ROW_SPLITS"]),
        ("rowids", [n_rows, rowids], ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]),
    ]:
        rank = 2 + sum(of != "FIRST_DIM_SIZE" for of in types)
        shapes = {"whole": [-1] * rank, "cut": [2] + [1] * (rank - 2) + [2], "padded": [8] + [5] * (rank - 2) + [-1]}
        for kind, shape in {**shapes, "none": -1}.items():
            case.fetch(f"tensor_{name}_{kind}", raw.RaggedTensorToTensor(
                shape=np.array(shape, np.int64), values=values, default_value=default if kind == "whole" else zero,
                row_partition_tensors=partitions, row_partition_types=types))
    for dtype in [np.int32, np.int64]:
        word = np.dtype(dtype).name
        numbers = case.feed(f"numbers_{word}", np.array([3, 1, 1, 4, 9, 0, 0], dtype), shape=[None])
        size = case.feed(f"size_{word}", dtype(5))
        for kind, weights in {"counts": np.zeros(0, np.float32), "sums": normal(3, 7)}.items():
            case.fetch(f"bins_{word}_{kind}", raw.RaggedBincount(
                splits=splits, values=numbers, size=size, weights=weights, binary_output=False))
        case.fetch(f"bins_{word}_binary", raw.RaggedBincount(
            splits=splits, values=numbers, size=size, weights=np.zeros(0, np.float32), binary_output=True))
    for dtype in [np.float32, np.float64, np.int32, np.int64]:
        x = case.feed(f"x_{np.dtype(dtype).name}", np.array([[-5, 0, 1], [2, 3, 100]], dtype), shape=[None, 3])
        case.fetch(f"buckets_{np.dtype(dtype).name}", raw.Bucketize(input=x, boundaries=[0, 2, 2.5, 50]))
    ends = case.feed("ends", np.array([np.nan, np.inf, -np.inf, 2.5, -0.0], np.float32))
    case.fetch("buckets_ends", raw.Bucketize(input=ends, boundaries=[0, 2.5]))
    case.write()


def flat(results):
    splits, values = results
    return [*splits, values]


if __name__ == "__main__":
    quantize()
    quantize_and_dequantize()
    halves()
    sparse()
    ragged()
