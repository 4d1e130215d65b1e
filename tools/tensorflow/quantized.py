"""Tensors of quantized integers. Quantized feeds and results are the integers that store them."""
import itertools

import numpy as np
from case import Case, integers, normal, tf

raw = tf.raw_ops
STORED = {tf.quint8: tf.uint8, tf.qint8: tf.int8, tf.quint16: tf.uint16, tf.qint16: tf.int16, tf.qint32: tf.int32}


class QuantizedCase(Case):
    def levels(self, name, array, dtype):
        """A fed quantized tensor."""
        return tf.bitcast(self.feed(name, array), dtype)

    def fetch_all(self, name, results):
        """Results, the quantized ones as integers."""
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        self.fetch(name, *[tf.bitcast(x, STORED[x.dtype]) if x.dtype in STORED else x for x in results])


def conversions():
    case = QuantizedCase("op_quantized_conversions", rtol=1e-6)
    x = case.feed("x", np.concatenate([3 * normal(1, 40), [-9, 9, 0, .5, 1.5, 2.5, -.5, -1.5]]).astype(np.float32))
    image = case.feed("image", 3 * normal(2, 2, 3, 4))
    low, high = case.feed("low", np.float32(-2.1)), case.feed("high", np.float32(4.7))
    above, below = case.feed("above", np.float32(1.25)), case.feed("below", np.float32(-3.5))
    lows = case.feed("lows", np.array([-1, 0, -3.5], np.float32))
    highs = case.feed("highs", np.array([2, 3, .25], np.float32))
    for dtype, stored in STORED.items():
        word = stored.name
        for mode, narrow in itertools.product(["MIN_COMBINED", "MIN_FIRST", "SCALED"], [False, True]):
            by = {"mode": mode, "narrow_range": narrow}
            # Floats out of the range of i32 are cast as the machine does it.
            wide = dtype != tf.qint32
            others = {"above": (above, high), "below": (below, low)} if wide and not narrow else {}
            ranges = {"both": (low, high)} | others
            for kind, (min_range, max_range) in ranges.items():
                y = raw.QuantizeV2(input=x, min_range=min_range, max_range=max_range, T=dtype, **by)
                case.fetch_all(f"{word}_{mode}_{narrow}_{kind}", y)
                case.fetch(f"{word}_{mode}_{narrow}_{kind}_back", raw.Dequantize(
                    input=y[0], min_range=y[1], max_range=y[2], **by))
            if mode != "MIN_FIRST" and wide:
                y = raw.QuantizeV2(input=image, min_range=lows, max_range=highs, T=dtype, axis=1, **by)
                case.fetch_all(f"{word}_{mode}_{narrow}_axis", y)
                to = tf.bfloat16 if mode == "MIN_COMBINED" else tf.float32
                back = raw.Dequantize(input=y[0], min_range=y[1], max_range=y[2], axis=1, dtype=to, **by)
                case.fetch(f"{word}_{mode}_{narrow}_axis_back", tf.cast(back, tf.float32))
        if dtype != tf.qint32:
            case.fetch_all(f"{word}_even", raw.QuantizeV2(
                input=x, min_range=-64, max_range=63.5, T=dtype, mode="SCALED", round_mode="HALF_TO_EVEN"))
            case.fetch_all(f"{word}_least", raw.QuantizeV2(
                input=x, min_range=0, max_range=0, T=dtype, ensure_minimum_range=.5))
    sums = case.levels("sums", np.concatenate([
        integers(3, -2**31, 2**31 - 1, 30, dtype=np.int64), [0, -2**31, 2**31 - 1]]).astype(np.int32), tf.qint32)
    ranges = {"both": (low, high), "above": (above, high), "below": (below, low)}
    for kind, (min_range, max_range) in ranges.items():
        own = {"input": sums, "input_min": min_range, "input_max": max_range}
        case.fetch_all(f"range_{kind}", raw.RequantizationRange(**own))
        case.fetch_all(f"down_{kind}", raw.QuantizeDownAndShrinkRange(**own, out_type=tf.quint8))
        for dtype in [tf.quint8, tf.qint8]:
            case.fetch_all(f"requantize_{STORED[dtype].name}_{kind}", raw.Requantize(
                **own, requested_output_min=-1.5, requested_output_max=5.25, out_type=dtype))
    case.write()


def arithmetic():
    case = QuantizedCase("op_quantized_arithmetic", rtol=1e-6)
    ranges = {"zero": (-1.0, 3.0), "far": (2.0, 9.0)}
    a = case.levels("a", integers(1, 0, 256, 5, 7, dtype=np.uint8), tf.quint8)
    b = case.levels("b", integers(2, 0, 256, 7, 3, dtype=np.uint8), tf.quint8)
    c = case.levels("c", integers(3, 0, 256, 5, 7, dtype=np.uint8), tf.quint8)
    v = case.levels("v", integers(4, 0, 256, 7, dtype=np.uint8), tf.quint8)
    s = case.levels("s", np.uint8(200), tf.quint8)
    for (of_a, (min_a, max_a)), (of_b, (min_b, max_b)) in itertools.product(ranges.items(), repeat=2):
        ends = {"min_a": min_a, "max_a": max_a, "min_b": min_b, "max_b": max_b}
        case.fetch_all(f"matmul_{of_a}_{of_b}", raw.QuantizedMatMul(a=a, b=b, **ends))
        case.fetch_all(f"matmul_turned_{of_a}_{of_b}", raw.QuantizedMatMul(
            a=a, b=c, transpose_a=True, **ends))
        case.fetch_all(f"matmul_both_{of_a}_{of_b}", raw.QuantizedMatMul(
            a=b, b=a, transpose_a=True, transpose_b=True, **ends))
        ends = {"min_x": min_a, "max_x": max_a, "min_y": min_b, "max_y": max_b}
        for word, (x, y) in {"same": (a, c), "vector": (a, v), "scalar": (a, s), "left": (s, a)}.items():
            case.fetch_all(f"add_{word}_{of_a}_{of_b}", raw.QuantizedAdd(x=x, y=y, **ends))
            case.fetch_all(f"mul_{word}_{of_a}_{of_b}", raw.QuantizedMul(x=x, y=y, **ends))
        ends = {"min_input": min_a, "max_input": max_a, "min_bias": min_b, "max_bias": max_b}
        case.fetch_all(f"bias_{of_a}_{of_b}", raw.QuantizedBiasAdd(input=a, bias=v, out_type=tf.qint32, **ends))
    signed = case.levels("signed", integers(5, -128, 128, 5, 7, dtype=np.int8), tf.qint8)
    bias = case.levels("bias", integers(6, -128, 128, 7, dtype=np.int8), tf.qint8)
    case.fetch_all("bias_int8", raw.QuantizedBiasAdd(
        input=signed, bias=bias, out_type=tf.qint32, min_input=-2, max_input=2, min_bias=-1, max_bias=1))
    wide = case.levels("wide", integers(7, -2**31, 2**31 - 1, 5, 7, dtype=np.int64).astype(np.int32), tf.qint32)
    other = case.levels("other", integers(8, -2**31, 2**31 - 1, 2, 7, dtype=np.int64).astype(np.int32), tf.qint32)
    for word, (min_x, max_x) in {"both": (-2.0, 8.0), "above": (1.0, 9.0), "below": (-4.0, -1.0)}.items():
        own = {"min_features": min_x, "max_features": max_x}
        for x, dtype in [(a, tf.quint8), (wide, tf.qint32)]:
            of = STORED[dtype].name
            case.fetch_all(f"relu_{of}_{word}", raw.QuantizedRelu(features=x, out_type=dtype, **own))
            case.fetch_all(f"relu6_{of}_{word}", raw.QuantizedRelu6(features=x, out_type=dtype, **own))
    for word, parts in {"uint8": [a, c, a], "int32": [wide, other, wide]}.items():
        case.fetch_all(f"concat_{word}", raw.QuantizedConcat(
            concat_dim=0, values=parts, input_mins=[-1., -2, 0], input_maxes=[3., 3, 4]))
    case.fetch_all("concat_same", raw.QuantizedConcat(
        concat_dim=1, values=[a, c], input_mins=[-1., -1], input_maxes=[3., 3]))
    case.fetch_all("reshape", raw.QuantizedReshape(tensor=a, shape=[7, -1], input_min=-1., input_max=2.))
    case.write()


def images():
    case = QuantizedCase("op_quantized_images", rtol=1e-6)
    x = case.levels("x", integers(1, 0, 256, 2, 7, 6, 3, dtype=np.uint8), tf.quint8)
    filters = case.levels("filters", integers(2, 0, 256, 3, 2, 3, 4, dtype=np.uint8), tf.quint8)
    ranges = {"zero": (-1.0, 3.0), "far": (2.0, 9.0)}
    for (of_x, (min_x, max_x)), (of_w, (min_w, max_w)) in itertools.product(ranges.items(), repeat=2):
        for padding, stride in itertools.product(["SAME", "VALID"], [1, 2]):
            case.fetch_all(f"conv_{padding}_{stride}_{of_x}_{of_w}", raw.QuantizedConv2D(
                input=x, filter=filters, strides=[1, stride, stride, 1], padding=padding,
                min_input=min_x, max_input=max_x, min_filter=min_w, max_filter=max_w))
    for padding in ["SAME", "VALID"]:
        own = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "padding": padding,
               "min_input": -1., "max_input": 2.}
        case.fetch_all(f"max_{padding}", raw.QuantizedMaxPool(input=x, **own))
        case.fetch_all(f"avg_{padding}", raw.QuantizedAvgPool(input=x, **own))
    case.fetch_all("norm", raw.QuantizedInstanceNorm(x=x, x_min=-1., x_max=2.))
    case.fetch_all("norm_given", raw.QuantizedInstanceNorm(
        x=x, x_min=-1., x_max=2., output_range_given=True, given_y_min=-1., given_y_max=1.5, variance_epsilon=.1))
    case.fetch_all("norm_apart", raw.QuantizedInstanceNorm(x=x, x_min=-1., x_max=2., min_separation=20.))
    parameters = {}
    for i, (word, low, high) in enumerate([("m", -1, 1), ("v", 0, 4), ("beta", -2, 2), ("gamma", 0, 2)]):
        levels = case.levels(word, integers(3 + i, 1, 256, 3, dtype=np.uint8), tf.quint8)
        parameters |= {word: levels, f"{word}_min": float(low), f"{word}_max": float(high)}
    for scales in [False, True]:
        case.fetch_all(f"batch_norm_{scales}", raw.QuantizedBatchNormWithGlobalNormalization(
            t=x, t_min=-1., t_max=3., out_type=tf.qint32, variance_epsilon=.001, scale_after_normalization=scales,
            **parameters))
    wide = integers(9, -2**31, 2**31 - 1, 1, 4, 5, 2, dtype=np.int64).astype(np.int32)
    wide = case.levels("wide", wide, tf.qint32)
    floats = case.feed("floats", normal(10, 1, 4, 5, 2))
    for word, image in {"uint8": x, "int32": wide, "float": floats}.items():
        for kind, by in {"plain": {}, "corners": {"align_corners": True}, "centers": {"half_pixel_centers": True}}.items():
            case.fetch_all(f"resize_{word}_{kind}", raw.QuantizedResizeBilinear(
                images=image, size=[5, 9], min=-1., max=2., **by))
    case.write()


def uniform():
    """Integers with scales and zero points."""
    case = Case("op_uniform_quantized", rtol=1e-6, atol=0)
    x = case.feed("x", normal(1, 3, 4, 2) * 20, shape=[None, 4, 2])
    scales = {-1: tf.constant(.35), 1: tf.constant([.1, .5, 1.7, .01]), 0: tf.constant([.2, .3, 2.5])}
    zeros = {-1: tf.constant(3), 1: tf.constant([0, -7, 100, 2]), 0: tf.constant([1, 0, -2])}
    ends = {tf.qint8: (-128, 127), tf.quint8: (0, 255), tf.qint32: (-2 ** 31, 2 ** 31 - 1)}

    def attrs(prefix, axis, to, narrow=0):
        low, high = ends[to]
        return {f"{prefix}quantization_axis": axis, f"{prefix}quantization_min_val": low + narrow,
                f"{prefix}quantization_max_val": high - narrow}

    plain = {tf.qint8: tf.int8, tf.quint8: tf.uint8, tf.qint32: tf.int32}
    bits = lambda y: tf.bitcast(y, plain[y.dtype])
    for to in ends:
        for axis in scales:
            q = raw.UniformQuantize(input=x, scales=scales[axis], zero_points=zeros[axis], Tout=to, **attrs("", axis, to, 5))
            case.fetch(f"quantized_{to.name}_{axis}", bits(q))
            case.fetch(f"numbers_{to.name}_{axis}", raw.UniformDequantize(
                input=q, scales=scales[axis], zero_points=zeros[axis], Tout=tf.float32, **attrs("", axis, to)))
            for other in [axis, -1] if axis >= 0 else [-1, 0, 1]:
                if to != tf.quint8:
                    case.fetch(f"changed_{to.name}_{axis}_{other}", bits(raw.UniformRequantize(
                        input=q, input_scales=scales[axis], input_zero_points=zeros[axis], output_scales=scales[other] * 3,
                        output_zero_points=zeros[other] - 1, Tout=tf.qint8, **attrs("input_", axis, to),
                        **attrs("output_", other, tf.qint8, 1))))
            if to == tf.qint32:
                low = tf.bitcast(zeros[axis] - 20, tf.qint32)
                high = tf.bitcast(zeros[axis] + 30, tf.qint32)
                case.fetch(f"clipped_{axis}", bits(raw.UniformQuantizedClipByValue(
                    operand=q, min=low, max=high, scales=scales[axis], zero_points=zeros[axis], **attrs("", axis, to))))
                for name, of, shape, b_axis in [("same", x * 2, axis, axis), ("row", x[0, :, :1], -1, -1), ("one", x[:1, :, :1], -1, -1)]:
                    b = raw.UniformQuantize(input=of, scales=scales[b_axis] * 2, zero_points=zeros[b_axis], Tout=to, **attrs("", b_axis, to))
                    case.fetch(f"sum_{name}_{axis}", bits(raw.UniformQuantizedAdd(
                        lhs=q, rhs=b, lhs_scales=scales[axis], lhs_zero_points=zeros[axis], rhs_scales=scales[b_axis] * 2,
                        rhs_zero_points=zeros[b_axis], output_scales=scales[shape] * .7, output_zero_points=zeros[shape] + 2,
                        **attrs("lhs_", axis, to), **attrs("rhs_", b_axis, to), **attrs("output_", shape, to, 2 ** 30))))
    q8 = lambda x, axis: raw.UniformQuantize(
        input=x, scales=scales[axis], zero_points=zeros[axis], Tout=tf.qint8, **attrs("", axis, tf.qint8))
    right = case.feed("right", normal(3, 6, 4) * 30)
    for axis in [-1, 1]:
        b = q8(right, axis)
        a = q8(case.feed(f"left_{axis}", normal(4, 5, 6) * 20), -1)
        for out in [-1, axis]:
            if f"product_{axis}_{out}" not in case.fetches:
                case.fetch(f"product_{axis}_{out}", bits(raw.UniformQuantizedDot(
                    lhs=a, rhs=b, lhs_scales=scales[-1], lhs_zero_points=zeros[-1], rhs_scales=scales[axis], rhs_zero_points=zeros[axis],
                    output_scales=scales[out] * .01, output_zero_points=zeros[out], Tout=tf.qint32, **attrs("lhs_", -1, tf.qint8),
                    **attrs("rhs_", axis, tf.qint8), **attrs("output_", out, tf.qint32, 1000))))
        rows = tf.concat([normal(5, 3, 6), np.zeros([1, 6], np.float32), np.full([1, 6], 7, np.float32), np.full([1, 6], -.01, np.float32)], 0)
        case.fetch(f"hybrid_{axis}", raw.UniformQuantizedDotHybrid(
            lhs=rows, rhs=b, rhs_scales=scales[axis], rhs_zero_points=zeros[axis], Tout=tf.float32, **attrs("rhs_", axis, tf.qint8)))
    case.write()


if __name__ == "__main__":
    conversions()
    arithmetic()
    images()
    uniform()
