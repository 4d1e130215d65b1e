"""Writes cases of tools/tests/onnx.rs: forms of nodes that exporters write and the node tests of the `onnx` package lack, with onnxruntime's results.

    venv/bin/python tools/onnx/forms.py testdata/onnx [CASE ...]

Sizes and ranks that are not known, machines of support vectors, quantized layers. Needs numpy, onnx and onnxruntime. Numbers are drawn with
fixed seeds.
"""
import json
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import onnx.parser
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

CASES = {}
OPSET = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("com.microsoft", 1)]
ELEMENT = {np.dtype("float32"): TensorProto.FLOAT, np.dtype("int64"): TensorProto.INT64, np.dtype("bool"): TensorProto.BOOL,
           np.dtype("int32"): TensorProto.INT32, np.dtype("uint8"): TensorProto.UINT8, np.dtype("int8"): TensorProto.INT8,
           np.dtype("float64"): TensorProto.DOUBLE}


def random(*shape, seed=0):
    return np.random.default_rng(seed + len(shape)).standard_normal(shape).astype(np.float32)


def case(name):
    def add(make):
        CASES[name] = make
        return make
    return add


def one(op, x, dims, weights=(), domain="", n_outputs=1, **attrs):
    """A node of `op` on `x`, whose declared dimensions are `dims`, and constant tensors ("" for none)."""
    names = ["x"] + [f"w{i}" if w is not None else "" for i, w in enumerate(weights)]
    outputs = [f"y{i}" for i in range(n_outputs)]
    node = helper.make_node(op, names, outputs, domain=domain, **attrs)
    constants = {name: w for name, w in zip(names[1:], weights) if w is not None}
    return [node], {"x": (x, dims)}, constants, outputs


for op in ["ReduceL2", "ReduceLogSum"]:
    @case(f"form_{op.lower()}_of_no_axes")
    def unreduced(op=op):
        return one(op, abs(random(2, 3)), ["n", 3], noop_with_empty_axes=1)


@case("form_split_unequal_unknown_size")
def split_unequal():
    return one("Split", random(5, 2), ["n", 2], n_outputs=3, num_outputs=3)


@case("form_slice_backward_before_the_start")
def slice_backward():
    starts, ends, steps = np.array([-9, -1, -7]), np.array([-20, -20, -20]), np.array([-1, -2, -1])
    return one("Slice", random(3, 4, 2), ["n", 4, "m"], [starts, ends, np.array([0, 1, 2]), steps])


@case("form_slice_unknown_number_of_axes")
def slice_from_found():
    x = np.zeros((3, 4), np.float32)
    x[1, 2] = 1
    nodes = [
        helper.make_node("NonZero", ["x"], ["found"]),
        helper.make_node("Reshape", ["found", "all"], ["starts"]),
        helper.make_node("Add", ["starts", "two"], ["ends"]),
        helper.make_node("Slice", ["table", "starts", "ends"], ["y0"]),
        helper.make_node("Slice", ["table", "starts", "ends", "starts"], ["y1"]),
    ]
    constants = {"all": np.array([-1]), "two": np.array([2]), "table": random(5, 6, 7)}
    return nodes, {"x": (x, ["n", 4])}, constants, ["y0", "y1"]


@case("form_grid_sample_cubic_border")
def grid_sample():
    grid = np.array([[[[-1.32, 0.84], [-1.28, -0.5], [0.1, 1.2], [0.3, 0.3]]]], np.float32)
    return one("GridSample", random(1, 2, 4, 4), [1, 2, 4, 4], [grid], mode="cubic", padding_mode="border", align_corners=1)


for axes, kind in (("hw", ""), ("w", "_1d")):
    n = len(axes)
    dims = ["n", 3] + list(axes)

    @case(f"form_conv_transpose_unknown_size{kind}")
    def transposed(n=n, dims=dims):
        x = random(2, 3, *[5, 4][:n])
        return one("ConvTranspose", x, dims, [random(3, 2, *[2] * n), random(2)], strides=[2] * n)

    @case(f"form_conv_transpose_pads_unknown_size{kind}")
    def padded(n=n, dims=dims):
        x = random(1, 3, *[5, 4][:n])
        return one("ConvTranspose", x, dims, [random(3, 2, *[3] * n)], strides=[2] * n, pads=[1] * 2 * n, output_padding=[1] * n)

    @case(f"form_conv_transpose_same_unknown_size{kind}")
    def same_transposed(n=n, dims=dims):
        return one("ConvTranspose", random(1, 3, *[5, 4][:n]), dims, [random(3, 2, *[3] * n)], strides=[2] * n, auto_pad="SAME_UPPER")

    @case(f"form_conv_same_upper_unknown_size{kind}")
    def same(n=n, dims=dims):
        return one("Conv", random(2, 3, *[7, 6][:n]), dims, [random(4, 3, *[3] * n), random(4)], strides=[2] * n, auto_pad="SAME_UPPER")

    @case(f"form_conv_same_lower_unknown_size{kind}")
    def lower(n=n, dims=dims):
        return one("Conv", random(2, 3, *[7, 6][:n]), dims, [random(4, 3, *[4] * n)], auto_pad="SAME_LOWER")


@case("form_conv_same_depthwise_unknown_size")
def depthwise():
    return one("Conv", random(1, 4, 7, 6), ["n", 4, "h", "w"], [random(4, 1, 3, 3)], strides=[2, 3], auto_pad="SAME_UPPER", group=4)


@case("form_max_pool_same_unknown_size")
def max_pool():
    return one("MaxPool", random(1, 2, 7, 6), ["n", 2, "h", "w"], kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER")


@case("form_average_pool_same_unknown_size")
def average_pool():
    return one("AveragePool", random(1, 2, 7, 6), ["n", 2, "h", "w"], kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER")


for op, name, attrs in [("MaxPool", "max_pool", {}), ("AveragePool", "average_pool", {}), ("LpPool", "lp_pool", {"p": 3}),
                        ("AveragePool", "average_pool_counting_pads", {"count_include_pad": 1})]:
    @case(f"form_{name}_same_lower_unknown_size")
    def lower_pool(op=op, attrs=attrs):
        return one(op, random(1, 2, 8, 7), ["n", 2, "h", "w"], kernel_shape=[4, 2], strides=[3, 3], auto_pad="SAME_LOWER", **attrs)


@case("form_conv_same_lower_strides_unknown_size")
def lower_strides():
    return one("Conv", random(1, 2, 8, 7), ["n", 2, "h", "w"], [random(3, 2, 4, 3), random(3)], strides=[3, 2], auto_pad="SAME_LOWER")


@case("form_conv_integer_same_unknown_size")
def integer_strides():
    x = np.random.default_rng(5).integers(0, 256, [1, 2, 8, 7], np.uint8)
    w = np.random.default_rng(6).integers(0, 256, [3, 2, 4, 3], np.uint8)
    return one("ConvInteger", x, ["n", 2, "h", "w"], [w, np.array(9, np.uint8)], strides=[3, 2], auto_pad="SAME_UPPER")


for parts in [1, 2]:
    @case(f"form_dft_{parts}_unknown_parts")
    def dft(parts=parts):
        return one("DFT", random(2, 6, parts), ["n", "m", "parts"], [None, np.array(1)])


def of_opset(version, op, x, dims, weights, element=TensorProto.FLOAT, **attrs):
    """A model like [`one`]'s with another set of operators and a result of these elements."""
    nodes, feeds, constants, outputs = one(op, x, dims, weights, **attrs)
    made = model(nodes, feeds, constants, outputs, {"y0": element})
    made.opset_import[0].version = version
    return made, feeds


@case("form_resize_nearest_of_version_10")
def shrunk():
    """Positions are rounded up along an axis that shrinks, and down along one that grows."""
    return of_opset(10, "Resize", random(1, 2, 5, 7), ["n", 2, "h", "w"], [np.array([1, 1, 1.7, 0.7], np.float32)], mode="nearest")


@case("form_dequantize_blocks_of_unknown_size")
def blocks():
    x = np.random.default_rng(7).integers(-9, 9, [2, 7], np.int8)
    return of_opset(21, "DequantizeLinear", x, ["n", "m"], [abs(random(2, 3)) + 1], axis=1, block_size=3)


@case("form_gemm_one_bias_unknown_size")
def one_bias():
    nodes = [helper.make_node("Gemm", ["a", "b", "c"], ["y"])]
    return nodes, {"a": (random(2, 3), ["m", "k"]), "b": (random(3, 4), ["k", "n"]), "c": (random(1), ["of_c"])}, {}, ["y"]


NUMBERS = np.array([np.nan, np.inf, -np.inf, -0.0, 1e20, 1.5e-9, 0.1, 123456789, -2.5, 1e-5])
for kind, x in [("f32", NUMBERS.astype("f")), ("f64", NUMBERS), ("bool", np.array([True, False]))]:
    @case(f"form_cast_{kind}_to_string")
    def texts(x=x):
        return of_opset(20, "Cast", x, ["n"], [], TensorProto.STRING, to=TensorProto.STRING)


@case("form_lstm_of_unknown_rank")
def unknown_rank():
    """PyTorch's squeeze of an axis that may be 1, as Silero's models have it, and axes that count from the end."""
    branch = lambda op, inputs, name: helper.make_graph([helper.make_node(op, inputs, [name])], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "two"], ["last"]),
        helper.make_node("Equal", ["last", "one"], ["is_one"]),
        helper.make_node("If", ["is_one"], ["flat"], then_branch=branch("Squeeze", ["x", "axis"], "then"), else_branch=branch("Identity", ["x"], "else")),
        helper.make_node("Unsqueeze", ["flat", "first"], ["steps"]),
        helper.make_node("LSTM", ["steps", "w", "r"], ["", "h", ""], hidden_size=4),
        helper.make_node("Squeeze", ["h", "first"], ["state"]),
        helper.make_node("Unsqueeze", ["state", "end"], ["column"]),
        helper.make_node("Conv", ["column", "filters"], ["y0"]),
    ]
    constants = {
        "two": np.int64(2), "one": np.int64(1), "axis": np.array([2]), "first": np.array([0]), "end": np.array([-1]),
        "w": random(1, 16, 3), "r": random(1, 16, 4), "filters": random(2, 4, 1),
    }
    return nodes, {"x": (random(2, 3, 1), ["n", 3, "k"])}, constants, ["y0"]


def vectors(n_classes, kind, **attrs):
    random_ = np.random.default_rng(n_classes)
    counts = random_.integers(1, 5, n_classes)
    n = int(counts.sum())
    pairs = n_classes * (n_classes - 1) // 2
    draw = lambda k: random_.standard_normal(k).astype(np.float32).tolist()
    attrs = dict(attrs)
    if attrs.pop("probabilities", False):
        attrs.update(prob_a=[-1.0 - 0.1 * i for i in range(pairs)], prob_b=[0.05 * i for i in range(pairs)])
    return one("SVMClassifier", random(9, 3), ["n", 3], domain="ai.onnx.ml", n_outputs=2, kernel_type=kind, kernel_params=[0.4, 0.3, 3.0],
               support_vectors=draw(3 * n), coefficients=draw((n_classes - 1) * n), rho=draw(pairs), vectors_per_class=counts.tolist(),
               classlabels_ints=list(range(10, 10 + n_classes)), **attrs)


for n_classes in (2, 3, 5):
    for kind in ("RBF", "POLY", "SIGMOID", "LINEAR"):
        CASES[f"form_svm_classifier_{n_classes}_{kind.lower()}"] = lambda n=n_classes, k=kind: vectors(n, k)
    CASES[f"form_svm_classifier_{n_classes}_probabilities"] = lambda n=n_classes: vectors(n, "RBF", probabilities=True)


@case("form_svm_classifier_linear_model")
def linear_classifier():
    return one("SVMClassifier", random(9, 3), ["n", 3], domain="ai.onnx.ml", n_outputs=2, kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], coefficients=random(12).tolist(),
               rho=[0.25], classlabels_ints=[0, 1, 2, 3])


for kind in ("RBF", "POLY", "LINEAR"):
    CASES[f"form_svm_regressor_{kind.lower()}"] = lambda k=kind: one(
        "SVMRegressor", random(6, 3), ["n", 3], domain="ai.onnx.ml", kernel_type=k, kernel_params=[0.4, 0.3, 3.0], n_supports=5,
        support_vectors=random(15).tolist(), coefficients=random(5).tolist(), rho=[0.5])


@case("form_svm_regressor_one_class")
def one_class():
    return one("SVMRegressor", random(6, 3), ["n", 3], domain="ai.onnx.ml", kernel_type="RBF", kernel_params=[0.4, 0.0, 3.0], n_supports=5,
               one_class=1, support_vectors=random(15).tolist(), coefficients=random(5).tolist(), rho=[0.1])


@case("form_dynamic_quantize_lstm")
def quantized_lstm():
    """The results are those of an LSTM with the dequantized weights: onnxruntime quantizes inputs and states too."""
    draw = np.random.default_rng(7)
    weights = [draw.integers(-127, 128, (2, size, 16)).astype(np.int8) for size in (3, 4)]
    scales = [np.array([0.01, 0.02], np.float32), (draw.random((2, 16)) * 0.01).astype(np.float32)]
    points = [np.array([3, -2], np.int8), np.zeros((2, 16), np.int8)]
    bias = random(2, 32)
    inputs = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"]
    node = helper.make_node("DynamicQuantizeLSTM", inputs, ["y0", "y1", "y2"], domain="com.microsoft", hidden_size=4, direction="bidirectional")
    constants = {"w": weights[0], "r": weights[1], "b": bias, "ws": scales[0], "wz": points[0], "rs": scales[1], "rz": points[1]}
    spread = lambda a: a.reshape(2, 1, -1).astype(np.float32)
    plain = [np.ascontiguousarray(((w - spread(z)) * spread(s)).transpose(0, 2, 1)).astype(np.float32) for w, s, z in zip(weights, scales, points)]
    reference = helper.make_node("LSTM", ["x", "w", "r", "b"], ["y0", "y1", "y2"], hidden_size=4, direction="bidirectional")
    feeds = {"x": (random(5, 2, 3), ["t", "n", 3])}
    return [node], feeds, constants, ["y0", "y1", "y2"], ([reference], {"w": plain[0], "r": plain[1], "b": bias})


@case("form_zip_map")
def zip_map():
    """A matrix of scores stands for a sequence of maps."""
    node = helper.make_node("ZipMap", ["x"], ["y0"], domain="ai.onnx.ml", classlabels_int64s=[0, 1, 2])
    return [node], {"x": (random(4, 3), ["n", 3])}, {}, ["y0"], ([helper.make_node("Identity", ["x"], ["y0"])], {})


MICROSOFT = "com.microsoft"


def draw(low, high, shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def several(op, feeds, constants, outputs=1, domain=MICROSOFT, order=None, **attrs):
    """A node of feeds and constants, in this order of names ("" for none)."""
    names = order or list(feeds) + list(constants)
    results = [f"y{i}" for i in range(outputs)]
    return [helper.make_node(op, names, results, domain=domain, **attrs)], feeds, constants, results


@case("form_fused_conv")
def fused_conv():
    feeds = {"x": (random(1, 3, 5, 5), ["n", 3, "h", "w"]), "z": (random(1, 2, 5, 5, seed=3), ["n", 2, "h", "w"])}
    constants = {"f": random(2, 3, 3, 3), "b": random(2)}
    return several("FusedConv", feeds, constants, order=["x", "f", "b", "z"], pads=[1, 1, 1, 1], activation="Relu")


for activation, parameters in (("Clip", [-0.5, 0.75]), ("LeakyRelu", [0.2]), ("HardSigmoid", [0.3, 0.4]), ("Tanh", [])):

    @case(f"form_fused_conv_{activation.lower()}")
    def conv_activation(activation=activation, parameters=parameters):
        return several("FusedConv", {"x": (random(1, 3, 5, 5), ["n", 3, "h", "w"])}, {"f": random(2, 3, 3, 3), "b": random(2)},
                       activation=activation, **({"activation_params": parameters} if parameters else {}))


@case("form_fused_gemm")
def fused_gemm():
    return several("FusedGemm", {"x": (random(3, 4), ["n", 4])}, {"b": random(5, 4), "c": random(5)}, transB=1, alpha=0.5, activation="LeakyRelu", activation_alpha=0.1)


QUANTUM = {"xs": np.float32(0.05), "xz": np.uint8(120), "ys": np.float32(0.01), "yz": np.uint8(7)}
for op, shape, attrs in (
    ("QLinearSigmoid", (3, 4), {}),
    ("QLinearLeakyRelu", (3, 4), {"alpha": 0.1}),
    ("QLinearSoftmax", (3, 4), {"axis": -1, "opset": 13}),
    ("QLinearGlobalAveragePool", (1, 2, 4, 4), {}),
    ("QLinearAveragePool", (1, 2, 5, 5), {"kernel_shape": [2, 2], "strides": [2, 2]}),
):
    CASES[f"form_{op.lower()}"] = lambda op=op, shape=shape, attrs=attrs: several(
        op, {"x": (draw(0, 255, shape, np.uint8), [f"d{i}" for i in range(len(shape))][:1] + list(shape[1:]))}, QUANTUM, **attrs)


@case("form_qlinear_concat")
def qlinear_concat():
    feeds = {"a": (draw(0, 255, (2, 3), np.uint8), ["n", 3]), "b": (draw(0, 255, (2, 2), np.uint8, 1), ["n", 2])}
    constants = {"ys": np.float32(0.03), "yz": np.uint8(100), "as": np.float32(0.02), "az": np.uint8(90), "bs": np.float32(0.04), "bz": np.uint8(110)}
    return several("QLinearConcat", feeds, constants, order=["ys", "yz", "a", "as", "az", "b", "bs", "bz"], axis=1)


@case("form_qlinear_where")
def qlinear_where():
    feeds = {"c": (draw(0, 2, (2, 3), np.bool_), ["n", 3]), "a": (draw(0, 255, (2, 3), np.uint8), ["n", 3]), "b": (draw(0, 255, (2, 3), np.uint8, 1), ["n", 3])}
    constants = {"as": np.float32(0.02), "az": np.uint8(90), "bs": np.float32(0.04), "bz": np.uint8(110), "ys": np.float32(0.04), "yz": np.uint8(100)}
    return several("QLinearWhere", feeds, constants, order=["c", "a", "as", "az", "b", "bs", "bz", "ys", "yz"])


for is_float in (False, True):

    @case("form_qgemm_to_float" if is_float else "form_qgemm")
    def qgemm(is_float=is_float):
        constants = {"xs": np.float32(0.05), "xz": np.uint8(120), "b": draw(-127, 127, (5, 4), np.int8, 2), "bs": (random(5) ** 2 * 0.01 + 0.001).astype(np.float32),
                     "bz": np.zeros(5, np.int8), "c": draw(-500, 500, 5, np.int32)}
        if not is_float:
            constants.update(ys=np.float32(0.1), yz=np.uint8(128))
        return several("QGemm", {"x": (draw(0, 255, (3, 4), np.uint8), ["n", 4])}, constants, transB=1)


@case("form_dynamic_quantize_matmul")
def dynamic_matmul():
    constants = {"b": draw(-127, 127, (4, 6), np.int8), "bs": np.float32(0.02), "bz": np.int8(3), "c": random(6)}
    return several("DynamicQuantizeMatMul", {"x": (random(2, 3, 4), ["n", 3, 4])}, constants)


@case("form_matmul_integer_to_float")
def integer_to_float():
    constants = {"b": draw(-127, 127, (4, 6), np.int8), "xs": np.float32(0.05), "bs": np.float32(0.02), "xz": np.uint8(120), "bz": np.int8(3), "c": random(6)}
    return several("MatMulIntegerToFloat", {"x": (draw(0, 255, (3, 4), np.uint8), ["n", 4])}, constants)


for bits, points in ((4, False), (4, True), (8, True)):

    @case(f"form_matmul_{bits}_bits{'_points' if points else ''}")
    def n_bits(bits=bits, points=points):
        rows, columns, block = 40, 6, 16
        blocks = -(-rows // block)
        constants = {"b": draw(0, 256, (columns, blocks, block * bits // 8), np.uint8), "s": (random(columns * blocks) ** 2 * 0.1 + 0.01).astype(np.float32)}
        if points:
            constants["z"] = draw(0, 256, columns * (-(-blocks * bits // 8)), np.uint8, 5)
        return several("MatMulNBits", {"x": (random(2, 3, rows), ["n", 3, rows])}, constants, K=rows, N=columns, bits=bits, block_size=block)


for name, mask, attrs in (
    ("", None, {}),
    ("_lengths", np.array([2, 4], np.int32), {}),
    ("_mask", np.array([[1, 1, 1, 0], [1, 0, 1, 1]], np.int32), {}),
    ("_causal", None, {"unidirectional": 1}),
):

    @case(f"form_attention_packed{name}")
    def packed(mask=mask, attrs=attrs):
        constants = {"w": random(8, 24) * np.float32(0.5), "b": random(24)}
        if mask is not None:
            constants["m"] = mask
        return several("Attention", {"x": (random(2, 4, 8), ["n", 4, 8])}, constants, num_heads=2, **attrs)


@case("form_attention_packed_past")
def packed_past():
    feeds = {"x": (random(2, 3, 8), ["n", "s", 8]), "p": (random(2, 2, 2, 5, 4), [2, "n", 2, "k", 4])}
    return several("Attention", feeds, {"w": random(8, 24) * np.float32(0.5), "b": random(24)}, 2, order=["x", "w", "b", "", "p"], num_heads=2, unidirectional=1)


for has_mask in (False, True):

    @case(f"form_embed_layer_norm{'_mask' if has_mask else ''}")
    def embed(has_mask=has_mask):
        feeds = {"w": (draw(0, 9, (2, 3), np.int32), ["n", "s"]), "s": (draw(0, 2, (2, 3), np.int32), ["n", "s"])}
        constants = {"words": random(9, 4), "places": random(5, 4), "segments": random(2, 4), "scale": random(4), "bias": random(4)}
        if has_mask:
            feeds["m"] = (np.array([[1, 1, 0], [1, 1, 1]], np.int32), ["n", "s"])
        return several("EmbedLayerNormalization", feeds, constants, 2, order=["w", "s", "words", "places", "segments", "scale", "bias"] + ["m"] * has_mask)


def convolutional():
    """A convolution, a block of a depthwise and a pointwise one that is added to its input, pools, and classes."""
    conv = lambda x, i, y, size, **attrs: helper.make_node("Conv", [x, f"w{i}", f"b{i}"], [y], pads=[size // 2] * 4, **attrs)
    nodes = [
        conv("x", 0, "a", 3, strides=[2, 2]), helper.make_node("Relu", ["a"], ["b"]),
        conv("b", 1, "c", 3, group=16), helper.make_node("Relu", ["c"], ["d"]),
        conv("d", 2, "e", 1),
        helper.make_node("Add", ["e", "b"], ["f"]), helper.make_node("Relu", ["f"], ["g"]),
        helper.make_node("MaxPool", ["g"], ["h"], kernel_shape=[2, 2], strides=[2, 2]),
        conv("h", 3, "i", 3), helper.make_node("Relu", ["i"], ["j"]),
        helper.make_node("GlobalAveragePool", ["j"], ["k"]), helper.make_node("Flatten", ["k"], ["l"]),
        helper.make_node("Gemm", ["l", "w4", "b4"], ["y0"], transB=1),
    ]
    shapes = [(16, 3, 3, 3), (16, 1, 3, 3), (16, 16, 1, 1), (24, 16, 3, 3), (10, 24)]
    constants = {f"w{i}": random(*shape, seed=i) * np.float32(np.prod(shape[1:]) ** -0.5) for i, shape in enumerate(shapes)}
    constants.update({f"b{i}": random(shape[0], seed=i) * np.float32(0.1) for i, shape in enumerate(shapes)})
    return nodes, {"x": (random(2, 3, 16, 16), ["n", 3, 16, 16])}, constants, ["y0"]


def perceptron():
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["a"]), helper.make_node("Add", ["a", "b0"], ["b"]), helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Gemm", ["c", "w1", "b1"], ["d"], transB=1), helper.make_node("Sigmoid", ["d"], ["e"]),
        helper.make_node("MatMul", ["e", "w2"], ["f"]), helper.make_node("Reshape", ["f", "shape"], ["g"]), helper.make_node("Concat", ["g", "g"], ["y0"], axis=2),
    ]
    constants = {"w0": random(20, 32) * np.float32(0.2), "b0": random(32), "w1": random(24, 32) * np.float32(0.2), "b1": random(24), "w2": random(24, 8)}
    return nodes, {"x": (random(4, 20), ["n", 20])}, {**constants, "shape": np.array([0, 2, 4])}, ["y0"]


# What onnxruntime's quantizer writes: layers between DequantizeLinear and QuantizeLinear.
QUANTIZED = {}
for name, make in (("convolutional", convolutional), ("perceptron", perceptron)):
    for per_channel in (False, True):
        for element in ("u8", "i8"):
            form = f"form_quantized_{name}_{element}{'_channels' if per_channel else ''}"
            CASES[form] = make
            QUANTIZED[form] = {
                "per_channel": per_channel,
                "activation_type": QuantType.QUInt8 if element == "u8" else QuantType.QInt8,
                # Unsigned weights have zero points of 128.
                "weight_type": QuantType.QUInt8 if (element, per_channel) == ("u8", False) else QuantType.QInt8,
                "extra_options": {"WeightSymmetric": True},
            }


def written(name, graph, opset=17, ir_version=8, of_4_bits=None, **values):
    """A case whose graph is written in ONNX's text. The values are the inputs and the constants that the text lacks."""
    imports = f'"" : {opset}, "ai.onnx.ml" : 3, "com.microsoft" : 1'

    def make():
        made = onnx.parser.parse_model(f"<ir_version: {ir_version}, opset_import: [{imports}]> g {graph}")
        inputs = [x.name for x in made.graph.input]
        made.graph.initializer.extend(numpy_helper.from_array(np.asarray(x), key) for key, x in values.items() if key not in inputs)
        for key, x in (of_4_bits or {}).items():
            made.graph.initializer.append(helper.make_tensor(key, TensorProto.INT4, x.shape, x.flatten()))
        return made, {key: (np.asarray(values[key]), None) for key in inputs}

    CASES[f"form_{name}"] = make


f32 = np.float32
written("pad_or_crop", "(float[N,3,h,w] x, int64[8] p) => (float[] y) { y = Pad<mode=\"constant\">(x,p) }", opset=13, x=random(2, 3, 5, 4), p=np.array([0, 0, 1, -1, 0, 0, 2, 1]))
written("scan_of_batch", """(float[N,4,3] x, float[N,3] i) => (float[] f, float[] y) {
    f, y = Scan<num_scan_inputs=1, directions=[1], body = b (float[3] s, float[3] v) => (float[3] s2, float[3] o) { s2 = Add(s,v) o = Identity(s2) }>(, i, x) }""",
        opset=8, x=random(2, 4, 3), i=random(2, 3))
written("split_of_unknown_size", """(float[N,3] x) => (float[] a, int64 n, float[] b, float[] c) <int64 m={-1}, int64 z={0}, int64 two={2}> {
    s = SplitToSequence<axis=0,keepdims=0>(x) a = SequenceAt(s,m) n = SequenceLength(s) t = SequenceErase(s,z) u = SequenceInsert(t,a,z)
    b = ConcatFromSequence<axis=-1,new_axis=1>(u) p = SplitToSequence<axis=0>(x,two) c = SequenceAt(p,m) }""", opset=13, x=random(3, 3))
written("concat_of_unknown_sizes", "(float[N,3] x, float[M,3] y) => (float[] b) { s = SequenceConstruct(x,y,x) b = ConcatFromSequence<axis=0>(s) }",
        opset=13, x=random(1, 3), y=random(2, 3))
written("transpose_of_unknown_rank", "(float[] x) => (float[] y) { r = Relu(x) y = Transpose(r) }", opset=13, x=random(2, 3, 4))
written("weights_of_4_bits", "(float[N,8] x) => (float[] y) { w = DequantizeLinear<axis=0,block_size=4>(q,s) y = MatMul(x,w) }", opset=21, ir_version=10,
        x=random(4, 8), s=abs(random(2, 3)), of_4_bits={"q": draw(-8, 8, (8, 3), np.int64)})
for bits, zero in ((8, 128), (16, 30000)):
    written(f"quantize_of_microsoft_{bits}", f"""(float[N,3] x) => (float[] y) <float s={{0.01}}, uint{bits} z={{{zero}}}> {{
        q = com.microsoft.QuantizeLinear(x,s,z) y = com.microsoft.DequantizeLinear(q,s,z) }}""", x=random(4, 3))
GROUPS = "float[B,2,P,16] pk, float[B,2,P,16] pv, int32[B] sl, int32 tl) => (float[] y, float[] k2, float[] v2)"
QUERY = dict(cc=np.cos(random(16, 8)), ss=np.sin(random(16, 8)))
for name, new, past, attrs in (("", 1, 5, ""), ("_prompt", 5, 0, ", scale=0.3"), ("_rotary", 1, 5, ", do_rotary=1"), ("_interleaved", 2, 3, ", do_rotary=1, rotary_interleaved=1")):
    written(f"group_query_attention{name}", f"""(float[B,S,64] q, float[B,S,32] k, float[B,S,32] v, {GROUPS} {{
        y, k2, v2 = com.microsoft.GroupQueryAttention<num_heads=4,kv_num_heads=2{attrs}>(q,k,v,pk,pv,sl,tl{",cc,ss" if "rotary" in attrs else ""}) }}""",
            q=random(1, new, 64), k=random(1, new, 32), v=random(1, new, 32), pk=random(1, 2, past, 16), pv=random(1, 2, past, 16),
            sl=np.array([new + past - 1], np.int32), tl=np.int32(new + past), **(QUERY if "rotary" in attrs else {}))
written("group_query_attention_window", f"""(float[B,S,128] q, {GROUPS} {{
    y, k2, v2 = com.microsoft.GroupQueryAttention<num_heads=4,kv_num_heads=2,do_rotary=1,local_window_size=3,softcap=2.0>(q,,,pk,pv,sl,tl,cc,ss) }}""",
        q=random(1, 5, 128), pk=random(1, 2, 0, 16), pv=random(1, 2, 0, 16), sl=np.array([4], np.int32), tl=np.int32(5), **QUERY)
written("simplified_layer_norm", "(float[N,3,4] x) => (float[] y) { y = SimplifiedLayerNormalization<axis=-1,epsilon=0.01,stash_type=1>(x,s) }", x=random(2, 3, 4), s=random(4))
written("quantized_attention", """(uint8[N,3,8] x) => (float[] y) <float a={0.01}, float b={0.01}, uint8 z={128}, uint8 c={128}> {
    y = com.microsoft.QAttention<num_heads=2>(x,w,bias,a,b,,z,c) }""", x=draw(0, 255, (2, 3, 8), np.uint8), w=draw(0, 255, (8, 24), np.uint8), bias=random(24))
written("attention_of_lengths", """(float[B,3,8] q, float[B,4,8] k, float[B,4,8] v, int32[B] m) => (float[] y) {
    y = com.microsoft.MultiHeadAttention<num_heads=2>(q,k,v,bias,m) }""",
        q=random(2, 3, 8), k=random(2, 4, 8), v=random(2, 4, 8, seed=2), m=np.array([3, 4], np.int32), bias=random(24))
written("of_microsoft", """(float[N,3] x, float[M,3] z, float[N,2,2] s, float[N,2,h,w] im, float[N,3,3,2] g) =>
    (float[] a, float[] b, float[] c, float[] d, float[] e, float[] f, float[] i, float[] u, int64[] at, int64[] n) <int64[4] p={0,1,1,0}, int32 last={-1}, float end={3}> {
    a = com.microsoft.CDist<metric="euclidean">(x,z) b = com.microsoft.Inverse(s) c = com.microsoft.Pad<mode="constant">(x,p)
    d = com.microsoft.ExpandDims(x,last) zero = Sub(end,end) e = com.microsoft.Range(zero,end) f = com.microsoft.GridSample<mode="bilinear",padding_mode="zeros">(im,g)
    i = com.microsoft.Trilu<upper=1>(x) flat = Reshape(z,minus) r = Round(flat) u, at, n = com.microsoft.Unique(r) }""",
        x=random(2, 3), z=random(4, 3, seed=4), s=random(2, 2, 2), im=random(2, 2, 4, 5), g=random(2, 3, 3, 2), minus=np.array([-1]))
written("gather_block_quantized", "(int64[N] i) => (float[] a) { a = com.microsoft.GatherBlockQuantized<gather_axis=0,quantize_axis=1,block_size=16,bits=8>(d,i,s,z) }",
        opset=21, ir_version=10, i=np.array([2, 0]), d=draw(0, 255, (3, 32), np.uint8), s=abs(random(3, 2)), z=draw(0, 255, (3, 2), np.uint8))
written("quantized_channels_last", """(uint8[N,h,w,2] x) => (uint8[] z) <float a={0.05}, uint8 b={120}, float c={0.02}, int8 d={0}, float e={0.2}, uint8 k={100}> {
    y = com.microsoft.QLinearConv<channels_last=1,pads=[1,1,1,1]>(x,a,b,f,c,d,e,k) z = com.microsoft.NhwcMaxPool<kernel_shape=[2,2],strides=[2,2]>(y) }""",
        x=draw(0, 255, (1, 4, 5, 2), np.uint8), f=draw(-20, 20, (3, 2, 3, 3), np.int8))
written("categories", """(string[N] s) => (int64[] a, int64[] b) {
    a = ai.onnx.ml.CategoryMapper<cats_strings=["a","b"],cats_int64s=[3,4],default_int64=-1>(s) b = ai.onnx.ml.LabelEncoder<keys_strings=["a","b"],values_int64s=[0,1]>(s) }""",
        s=np.array(["b", "q", "a"]))
written("nearest_half_pixel", """(float[N,2,h,w] x) => (float[] y, float[] z) <int64[4] s={1,2,3,9}, float[4] f={1,1,1.7,0.6}> {
    y = Resize<mode="nearest",nearest_mode="floor",coordinate_transformation_mode="tf_half_pixel_for_nn">(x,,,s)
    z = Resize<mode="nearest",nearest_mode="floor",coordinate_transformation_mode="tf_half_pixel_for_nn">(x,,f) }""", opset=13, x=random(1, 2, 5, 6))
# Positions halfway between elements, or on one, in f32 only.
written("resize_positions", """(float[N,2,5,6] x) => (float[] a, float[] b, float[] c)
    <float[4] down={1,1,0.6,0.45}, float[4] up={1,1,1.7,2.3}, int64[4] s={1,2,3,2}, float[8] roi={0,0,0.2,0.1,1,1,0.8,1.2}> {
    a = Resize<mode="nearest",nearest_mode="floor",coordinate_transformation_mode="half_pixel">(x,,down)
    b = Resize<mode="nearest",nearest_mode="round_prefer_floor",coordinate_transformation_mode="half_pixel">(x,,up)
    c = Resize<mode="nearest",nearest_mode="round_prefer_floor",coordinate_transformation_mode="tf_crop_and_resize",extrapolation_value=7.0>(x,roi,,s) }""", opset=19, x=random(1, 2, 5, 6))
written("quantized_functions", """(float[N,3,4,4] x) => (float[] y, float[] z, float[] v) <float s={0.05}, uint8 zero={128}, float t={0.03}, int8 point={-10}> {
    q = QuantizeLinear(x,s,zero) d = DequantizeLinear(q,s,zero)
    e = HardSwish(d) f = QuantizeLinear(e,t,point) y = DequantizeLinear(f,t,point)
    g = Sigmoid(d) h = Mul(d,g) i = QuantizeLinear(h,t,point) z = DequantizeLinear(i,t,point)
    j = QuantizeLinear(d,t,point) v = DequantizeLinear(j,t,point) }""", x=random(2, 3, 4, 4) * f32(3))
written("quantized_moves", """(float[N,4,4,4] x) => (float[] y, float[] y2, float[] y3, float[] y4) <float s={0.05}, int8 z={1}, float[4] sc={1,1,2,2}, int64[4] rp={1,2,1,1}> {
    q = QuantizeLinear(x,s,z) d = DequantizeLinear(q,s,z)
    a = Resize<mode="nearest",coordinate_transformation_mode="asymmetric",nearest_mode="floor">(d,,sc) b = QuantizeLinear(a,s,z) y = DequantizeLinear(b,s,z)
    c = DepthToSpace<blocksize=2>(d) e = QuantizeLinear(c,s,z) y2 = DequantizeLinear(e,s,z)
    f = Tile(d,rp) h = QuantizeLinear(f,s,z) y3 = DequantizeLinear(h,s,z)
    i = ReduceMax<axes=[2,3]>(d) j = QuantizeLinear(i,s,z) y4 = DequantizeLinear(j,s,z) }""", opset=13, x=random(2, 4, 4, 4) * f32(3))
written("sizes_of_one_name", "(float[N,4] x, float[N,4] y, float[M,N] m) => (float[] z) { a = Add(x,y) b = Relu(a) c = Mul(b,x) z = MatMul(m,c) }",
        x=random(3, 4), y=random(3, 4, seed=9), m=random(2, 3))


class Calibration(CalibrationDataReader):
    def __init__(self, feeds):
        self.feeds = iter([feeds])

    def get_next(self):
        return next(self.feeds, None)


def quantized(made, feeds, options):
    """The model with quantized layers, and the scale of its result."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        quantize_static(made, path, Calibration(feeds), quant_format=QuantFormat.QDQ, **options)
        made = onnx.load(path)
    last = next(node for node in made.graph.node if node.output[0] == made.graph.output[0].name)
    scale = next(x for x in made.graph.initializer if x.name == last.input[1])
    return made, float(numpy_helper.to_array(scale))


def model(nodes, feeds, constants, outputs, types):
    graph = helper.make_graph(
        nodes, "form",
        [helper.make_tensor_value_info(name, ELEMENT[x.dtype], dims) for name, (x, dims) in feeds.items()],
        [onnx.helper.make_tensor_value_info(name, types.get(name, TensorProto.FLOAT), None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=OPSET, ir_version=9)


# The types of results that are not f32.
TYPES = {"ConvInteger": {"y0": TensorProto.INT32}, "SVMClassifier": {"y0": TensorProto.INT64}, "EmbedLayerNormalization": {"y1": TensorProto.INT32}}


def main():
    folder = sys.argv[1]
    wanted = sys.argv[2:]
    for name, make in CASES.items():
        if wanted and name not in wanted:
            continue
        first, feeds, *rest = make()
        if isinstance(first, onnx.ModelProto):
            made, outputs = first, [x.name for x in first.graph.output]
            of = made
        else:
            constants, outputs, *reference = rest
            types = TYPES.get(first[0].op_type, {"y0": TensorProto.UINT8} if "yz" in constants else {})
            made = model(first, feeds, constants, outputs, types)
            of = model(reference[0][0], feeds, reference[0][1], outputs, types) if reference else made
        description = {"inputs": {}, "outputs": {}}
        if name in QUANTIZED:
            # A number that is almost halfway between two bytes may be rounded to either.
            made, description["atol"] = quantized(made, {name: x for name, (x, _) in feeds.items()}, QUANTIZED[name])
            of = made
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(of.SerializeToString(), options)
        results = session.run(outputs, {name: x for name, (x, _) in feeds.items()})
        to = os.path.join(folder, name)
        os.makedirs(to, exist_ok=True)
        with open(os.path.join(to, "model.onnx"), "wb") as file:
            file.write(made.SerializeToString())
        for kind, values in (("in", [(n, x) for n, (x, _) in feeds.items()]), ("out", zip(outputs, results))):
            for i, (tensor, value) in enumerate(values):
                file = f"run0_{kind}_{i}.npy"
                np.save(os.path.join(to, file), value.astype(str) if value.dtype == object else value)
                description["inputs" if kind == "in" else "outputs"][tensor] = file
        with open(os.path.join(to, "case.json"), "w") as file:
            json.dump(description, file)
    print(f"{len(CASES)} cases")


if __name__ == "__main__":
    main()
