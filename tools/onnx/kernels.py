"""Writes testdata/onnx-kernels: operators of Befrost for ONNX, with results of ONNX's reference implementation
or, where it lacks a case, of onnxruntime. The grammar is that of testdata/tensorflow.

    python3 tools/onnx/kernels.py [FAMILY ...]
"""

import os
import sys

import numpy as np
import onnx
import onnx.reference
from onnx import helper

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "testdata", "onnx-kernels")
TYPES = {
    "float32": "f32", "float64": "f64", "float16": "f16", "int8": "i8", "uint8": "ui8", "int16": "i16",
    "int32": "i32", "int64": "i64", "uint32": "ui32", "bool": "i1",
}


def reference(op, inputs, attrs, outputs=1, by="reference", opset=22, domain="", out_type=None):
    """The results of one node of ONNX; `None` stands for an absent operand."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, domain=domain, **attrs)
    given = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in zip(names, inputs) if n
    ]
    kind = onnx.TensorProto.UNDEFINED if out_type is None else out_type
    made = [onnx.ValueInfoProto(name=n) if out_type is None else helper.make_tensor_value_info(n, kind, None) for n in results]
    graph = helper.make_graph([node], "g", given, made)
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 3)] if domain else [])
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    feeds = {n: x for n, x in zip(names, inputs) if n}
    if by == "reference":
        return onnx.reference.ReferenceEvaluator(model).run(None, feeds)
    import onnxruntime
    model = onnx.shape_inference.infer_shapes(model)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)


def literal(x):
    def text(v):
        if x.dtype.kind == "b":
            return "true" if v else "false"
        if x.dtype.kind == "f":
            return "nan" if np.isnan(v) else f"{float(v):.9g}"
        return str(int(v))

    shape = "x".join(map(str, x.shape))
    return f"{TYPES[x.dtype.name]}[{shape}]:" + ",".join(text(v) for v in x.reshape(-1))


class File:
    """A file of cases."""

    def __init__(self, name, rtol=0.0, atol=0.0):
        self.path, self.n, self.seen = os.path.join(ROOT, name + ".txt"), 0, {}
        self.lines = [f"tolerance {rtol:g} {atol:g}"]

    def operand(self, x):
        x = np.asarray(x)
        text = literal(x)
        if text not in self.seen:
            self.seen[text] = f"x{len(self.seen)}"
            self.lines.append(f"{self.seen[text]} := {text}")
        return self.seen[text]

    def node(self, op, inputs, attrs):
        def text(v):
            if isinstance(v, (list, tuple, np.ndarray)):
                return ",".join(text(i) for i in v)
            return str(v).lower() if isinstance(v, bool) else str(v)

        names = [self.operand(x) for x in inputs]
        self.n += 1
        given = " ".join(f"{k}={text(v)}" for k, v in attrs.items())
        self.lines.append(" ".join([f"y{self.n} = {op}", *names, given]).strip())
        return f"y{self.n}"

    def case(self, op, inputs, attrs, wants):
        name = self.node(op, inputs, attrs)
        for i, want in enumerate(wants):
            if want is not None:
                self.lines.append(f"want {name}{f':{i}' if i else ''} {literal(np.asarray(want))}")

    def fails(self, op, inputs, attrs):
        self.lines.append(f"fails {self.node(op, inputs, attrs)}")

    def write(self):
        with open(self.path, "w") as file:
            file.write("\n".join(self.lines) + "\n")


FAMILIES = {}


def family(f):
    FAMILIES[f.__name__] = f
    return f


def floats(rng, *shape, dtype=np.float32):
    """Numbers of few digits."""
    return (rng.integers(-24, 25, shape) / 8).astype(dtype)


@family
def elements(rng):
    f = File("elements")
    for dtype in ["float32", "float16", "float64", "int8", "uint8", "int16", "int64", "bool"]:
        x = rng.integers(0 if dtype in ("bool", "uint8") else -9, 9, (3, 4, 2)).astype(dtype)
        for axis, shape in [(0, (2, 4, 2)), (1, (3, 5, 1)), (2, (3, 4, 3)), (-1, (1, 2, 2)), (-3, (5, 1, 1))]:
            n = x.shape[axis]
            i = rng.integers(-n, n, shape).astype("int64" if axis % 2 else "int32")
            sub = x[tuple(slice(None) if d == axis % 3 else slice(0, k) for d, k in enumerate(shape))]
            want = np.take_along_axis(sub, np.where(i < 0, i + n, i).astype("int64"), axis)
            f.case("_GatherElements", [x, i], {"axis": axis}, [want])
    x = np.arange(6, dtype="float32").reshape(2, 3)
    f.fails("_GatherElements", [x, np.array([[3]])], {"axis": 1})
    f.fails("_GatherElements", [x, np.array([[-4]])], {"axis": 1})
    f.fails("_GatherElements", [x, np.array([[0], [0], [0]])], {"axis": 1})
    f.fails("_GatherElements", [x, np.array([0])], {"axis": 0})
    f.fails("_GatherElements", [x, np.array([[0]])], {"axis": 2})
    f.fails("_GatherElements", [x, np.array([[0.0]], "float32")], {"axis": 0})
    f.case("_GatherElements", [x, np.zeros((0, 3), "int64")], {"axis": 0}, [np.zeros((0, 3), "float32")])
    for dtype in ["float32", "float16", "int32", "uint8"]:
        x = rng.integers(1, 5, (3, 4)).astype(dtype)
        for axis, shape in [(0, (3, 4)), (1, (2, 4)), (-2, (3, 2)), (-1, (1, 3))]:
            n = x.shape[axis]
            for reduction in ["none", "add", "mul", "max", "min"]:
                if reduction == "none":  # no position twice
                    i = np.argsort(rng.random(x.shape), axis)[tuple(slice(0, k) for k in shape)]
                    i = np.where(rng.integers(0, 2, i.shape) == 1, i - n, i)
                else:
                    i = rng.integers(-n, n, shape)
                u = rng.integers(1, 5, shape).astype(dtype)
                attrs = {"axis": axis, "reduction": reduction}
                f.case("_ScatterElements", [x, i, u], attrs, reference("ScatterElements", [x, i, u], attrs, opset=18))
    t, u = np.array([True, False, False]), np.array([False, True, False])
    i = np.array([0, 1, 1])
    for reduction, want in [("add", [1, 1, 0]), ("mul", [0, 0, 0]), ("max", [1, 1, 0]), ("min", [0, 0, 0])]:
        f.case("_ScatterElements", [t, i, u], {"reduction": reduction}, [np.array(want, bool)])
    x = np.ones((2, 3), "float32")
    f.fails("_ScatterElements", [x, np.array([[0]]), np.ones((1, 2), "float32")], {})
    f.fails("_ScatterElements", [x, np.array([[0]]), np.ones((1, 1), "int32")], {})
    f.fails("_ScatterElements", [x, np.array([[2]]), np.ones((1, 1), "float32")], {"axis": 0})
    f.fails("_ScatterElements", [x, np.array([[0]]), np.ones((1, 1), "float32")], {"reduction": "sub"})
    for reduction in ["none", "add", "mul", "max", "min"]:
        x = rng.integers(1, 9, (4, 3, 2)).astype("float32")
        i = np.array([[0, 1], [3, 2], [1, 0]]) if reduction == "none" else np.array([[0, 1], [3, 2], [0, 1]])
        u = rng.integers(1, 9, (3, 2)).astype("float32")
        want = reference("ScatterND", [x, i, u], {"reduction": reduction}, opset=18)
        f.case("_ScatterNdReduce", [x, i - np.array([4, 3]), u], {"reduction": reduction}, want)
        i, u = np.array([[2], [-1]]), rng.integers(1, 9, (2, 3, 2)).astype("float32")
        want = reference("ScatterND", [x, i, u], {"reduction": reduction}, opset=18)
        f.case("_ScatterNdReduce", [x, i, u], {"reduction": reduction}, want)
    f.fails("_ScatterNdReduce", [x, np.array([[4]]), u[:1]], {})
    f.fails("_ScatterNdReduce", [x, np.array([[-5]]), u[:1]], {})
    f.write()


@family
def pools(rng):
    f = File("pools", 1e-6, 1e-6)
    cases = [
        ((2, 3, 9), dict(kernel_shape=[3], strides=[2], pads=[1, 1])),
        ((1, 2, 8), dict(kernel_shape=[2], strides=[3], pads=[0, 1], dilations=[2])),
        ((1, 2, 40), dict(kernel_shape=[35])),
        ((1, 2, 5, 7), dict(kernel_shape=[3, 2])),
        ((2, 1, 5, 7), dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 2])),
        ((1, 1, 6, 6), dict(kernel_shape=[2, 2], dilations=[2, 3], pads=[1, 1, 1, 1])),
        ((1, 2, 4, 4), dict(kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)),
        ((1, 2, 6, 5), dict(kernel_shape=[3, 3], strides=[3, 3], pads=[1, 1, 1, 1], ceil_mode=1)),
        ((1, 1, 2, 2), dict(kernel_shape=[1, 1], strides=[2, 2], pads=[0, 0, 0, 0], ceil_mode=1)),
        ((1, 2, 3, 4, 5), dict(kernel_shape=[2, 3, 2], strides=[1, 2, 2], pads=[1, 1, 0, 0, 1, 1])),
    ]
    for shape, attrs in cases:
        x = floats(rng, *shape)
        ours = {k: bool(v) if k == "ceil_mode" else v for k, v in attrs.items()}
        f.case("_Pool", [x], {"mode": "max", **ours}, reference("MaxPool", [x], attrs, by="ort"))
        for order in [0, 1]:
            given = {**attrs, "storage_order": order}
            want = reference("MaxPool", [x], given, 2, by="ort")
            f.case("_MaxPoolWithIndices", [x], {**ours, "storage_order": order}, want)
        for padded in [0, 1]:
            want = reference("AveragePool", [x], {**attrs, "count_include_pad": padded}, by="ort")
            f.case("_Pool", [x], {"mode": "average", **ours, "count_include_pad": bool(padded)}, want)
        for p in [1, 2, 3]:
            want = reference("LpPool", [x], {**attrs, "p": p}, by="ort")
            f.case("_Pool", [x], {"mode": "lp", **ours, "p": p}, want)
    x = rng.integers(-128, 128, (1, 2, 5, 5)).astype("int8")
    attrs = dict(kernel_shape=[3, 3], strides=[2, 2])
    f.case("_Pool", [x], attrs, reference("MaxPool", [x], attrs, by="ort"))
    f.case("_MaxPoolWithIndices", [x], attrs, reference("MaxPool", [x], attrs, 2, by="ort"))
    x = (x.astype("int16") + 128).astype("uint8")
    f.case("_Pool", [x], attrs, reference("MaxPool", [x], attrs, by="ort"))
    f.fails("_Pool", [x], {"mode": "average", **attrs})
    h = floats(rng, 1, 1, 6, dtype="float16")
    f.case("_Pool", [h], {"kernel_shape": [2]}, [np.maximum(h[..., :-1], h[..., 1:])])
    d = floats(rng, 1, 1, 6, dtype="float64")
    f.case("_Pool", [d], {"kernel_shape": [2], "mode": "average"}, [(d[..., :-1] + d[..., 1:]) / 2])
    nan = np.array([[[np.nan, 1, np.nan, np.nan, 2]]], "float32")
    f.case("_Pool", [nan], {"kernel_shape": [2]}, [np.array([[[1, 1, np.nan, 2]]], "float32")])
    x = floats(rng, 1, 1, 4)
    for attrs in [
        dict(kernel_shape=[5]), dict(kernel_shape=[0]), dict(kernel_shape=[-1]), dict(kernel_shape=[2, 2]),
        dict(kernel_shape=[2], strides=[0]), dict(kernel_shape=[2], dilations=[0]), dict(kernel_shape=[2], pads=[1]),
        dict(kernel_shape=[2], pads=[-1, 0]), dict(kernel_shape=[2], mode="median"),
        dict(kernel_shape=[2], mode="lp", p=0), dict(kernel_shape=[2**62], pads=[2**62, 2**62]),
    ]:
        f.fails("_Pool", [x], attrs)
    f.fails("_MaxPoolWithIndices", [x], dict(kernel_shape=[1], pads=[1, 1]))
    f.fails("_MaxPoolWithIndices", [x], dict(kernel_shape=[1], storage_order=2))
    f.fails("_Pool", [x[0]], dict(kernel_shape=[1]))
    f.write()


@family
def quantized(rng):
    f = File("quantized")

    def numbers(dtype, *shape):
        i = np.iinfo(dtype)
        return rng.integers(i.min, i.max + 1, shape).astype(dtype)

    kinds = [("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8"), ("int8", "uint8")]
    shapes = [
        ((3, 5), (5, 4)), ((1, 9), (9, 20)), ((9, 6), (6, 35)), ((2, 3, 4), (4, 5)), ((2, 5, 4), (2, 4, 3)),
        ((2, 1, 3, 4), (3, 4, 2)), ((4,), (4, 3)), ((3, 4), (4,)), ((4,), (4,)), ((2, 0), (0, 3)), ((0, 2), (2, 3)),
    ]
    for ta, tb in kinds:
        for sa, sb in shapes:
            a, b = numbers(ta, *sa), numbers(tb, *sb)
            for za, zb in [(numbers(ta), numbers(tb)), (numbers(ta, 1), numbers(tb, 1))]:
                want = (a.astype("int32") - za) @ (b.astype("int32") - zb)
                f.case("_QuantizedMatMul", [a, b, za, zb], {}, [np.asarray(want, "int32")])
        a, b = numbers(ta, 2, 3, 5, 4), numbers(tb, 3, 4, 6)
        for za, zb in [(numbers(ta, 5), numbers(tb, 6)), (numbers(ta, 2, 1, 5, 1), numbers(tb, 3, 1, 6))]:
            left = a.astype("int32") - (za[:, None] if za.ndim == 1 else za)
            f.case("_QuantizedMatMul", [a, b, za, zb], {}, [left @ (b.astype("int32") - zb)])
    x = numbers("int8", 2, 3)
    z = np.zeros((), "int8")
    f.fails("_QuantizedMatMul", [x, x, z, z], {})
    f.fails("_QuantizedMatMul", [x, x.T, np.zeros(3, "int8"), z], {})
    f.fails("_QuantizedMatMul", [x, x.T, z, np.zeros((2, 2), "int8")], {})
    f.fails("_QuantizedMatMul", [x, x.T, z.astype("uint8"), z], {})
    f.fails("_QuantizedMatMul", [x.astype("int32"), x.T.astype("int32"), z.astype("int32"), z.astype("int32")], {})
    convs = [
        ((1, 2, 7), (3, 2, 3), dict(strides=[2], pads=[1, 1])),
        ((2, 3, 5, 6), (4, 3, 3, 2), dict(pads=[1, 0, 1, 1])),
        ((1, 4, 6, 19), (6, 2, 3, 3), dict(group=2, strides=[1, 2], pads=[1, 1, 1, 1])),
        ((1, 3, 6, 6), (3, 1, 2, 2), dict(group=3, dilations=[2, 1])),
        ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), dict(pads=[1, 0, 1, 0, 1, 0])),
        ((1, 2, 3, 3), (2, 2, 1, 1), {}),
    ]
    for tx, tw in kinds:
        for sx, sw, attrs in convs:
            x, w = numbers(tx, *sx), numbers(tw, *sw)
            for zx, zw in [(numbers(tx), numbers(tw)), (numbers(tx, 1), numbers(tw, sw[0]))]:
                zeros = zw.reshape(-1, *[1] * (w.ndim - 1))
                given = [(x.astype("int32") - zx).astype("float64"), (w.astype("int32") - zeros).astype("float64")]
                want = reference("Conv", given, attrs)[0]
                f.case("_QuantizedConv", [x, w, zx, zw], attrs, [np.rint(want).astype("int32")])
    x, w, z = numbers("int8", 1, 2, 4, 4), numbers("int8", 2, 2, 3, 3), np.zeros((), "int8")
    f.fails("_QuantizedConv", [x, w[:, :1], z, z], {})
    f.fails("_QuantizedConv", [x, w[:, :1], z, z], dict(group=0))
    f.fails("_QuantizedConv", [x, w, z, z], dict(group=2))
    f.fails("_QuantizedConv", [x, w[:, :, 0], z, z], {})
    f.fails("_QuantizedConv", [x, w, z, np.zeros(3, "int8")], {})
    f.fails("_QuantizedConv", [x, w, np.zeros(2, "int8"), z], {})
    f.fails("_QuantizedConv", [x, w, z, z], dict(strides=[1]))
    f.write()


@family
def recurrent(rng):
    f = File("recurrent", 2e-5, 2e-6)
    parts = {"LSTM": (4, "_Lstm"), "GRU": (3, "_Gru"), "RNN": (1, "_Rnn")}

    def layer(op, steps, batch, inputs, hidden, attrs, lens=None, zero=False):
        g, ours = parts[op]
        d = 2 if attrs.get("direction") == "bidirectional" else 1
        x, w, r = floats(rng, steps, batch, inputs), floats(rng, d, g * hidden, inputs), floats(rng, d, g * hidden, hidden)
        w, r = w / 4, r / 4
        b, h = floats(rng, d, 2 * g * hidden), floats(rng, d, batch, hidden) / 2
        c, p = floats(rng, d, batch, hidden), floats(rng, d, 3 * hidden)
        if zero:
            b, h, c, p = b * 0, h * 0, c * 0, p * 0
        n = np.array(lens if lens is not None else [steps] * batch, "int32")
        given = [x, w, r, b, n, h] + ([c, p] if op == "LSTM" else [])
        theirs = {**attrs, "hidden_size": hidden}
        want = reference(op, given, theirs, 3 if op == "LSTM" else 2, by="ort")
        own = {k: bool(v) if k == "input_forget" else v for k, v in theirs.items()}
        f.case(ours, given, own, want)
        return ours, given, own

    for op in parts:
        for direction in ["forward", "reverse", "bidirectional"]:
            layer(op, 3, 2, 4, 3, {"direction": direction})
            layer(op, 4, 3, 2, 5, {"direction": direction}, lens=[4, 1, 2])
        layer(op, 1, 1, 1, 1, {})
        layer(op, 2, 1, 3, 2, {"clip": 0.5})
        layer(op, 2, 9, 3, 17, {}, zero=True)
    layer("LSTM", 3, 2, 3, 4, {"input_forget": 1})
    for lbr in [0, 1]:
        layer("GRU", 3, 2, 3, 4, {"linear_before_reset": lbr, "direction": "bidirectional"}, lens=[3, 2])
    for name in ["Relu", "Tanh", "Sigmoid", "Softsign", "Softplus", "Affine", "LeakyRelu", "ThresholdedRelu",
                 "ScaledTanh", "HardSigmoid", "Elu"]:
        attrs = {"activations": [name]}
        if name in ("Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu"):
            attrs["activation_alpha"] = [0.75]
        if name in ("Affine", "ScaledTanh", "HardSigmoid"):
            attrs["activation_beta"] = [0.25]
        layer("RNN", 3, 2, 3, 4, attrs)
    layer("RNN", 3, 2, 3, 4, {"activations": ["LeakyRelu"]})
    layer("RNN", 3, 2, 3, 4, {"activations": ["HardSigmoid"]})
    attrs = {"activations": ["Sigmoid", "LeakyRelu", "Tanh", "HardSigmoid", "Tanh", "Relu"], "direction": "bidirectional"}
    layer("LSTM", 3, 2, 3, 4, {**attrs, "activation_alpha": [0.5, 0.3], "activation_beta": [0.4]})
    ours, given, own = layer("GRU", 2, 2, 2, 2, {})
    f.fails(ours, given, {**own, "hidden_size": 3})
    f.fails(ours, given, {**own, "direction": "sideways"})
    f.fails(ours, given, {**own, "direction": "bidirectional"})
    f.fails(ours, given, {**own, "activations": ["Tanh"]})
    f.fails(ours, given, {**own, "activations": ["Tanh", "Sine"]})
    f.fails(ours, given, {**own, "clip": -1})
    f.fails(ours, given[:4] + [np.array([3, 1], "int32")] + given[5:], own)
    f.fails(ours, given[:4] + [np.array([-1, 1], "int32")] + given[5:], own)
    f.fails(ours, given[:4] + [np.array([1], "int32")] + given[5:], own)
    f.fails(ours, given[:3] + [given[3][:, 1:]] + given[4:], own)
    f.fails(ours, [given[0].astype("float64")] + given[1:], own)
    f.write()


@family
def sets(rng):
    f = File("sets")
    for dtype in ["float32", "int8", "int64", "uint8", "bool", "float16"]:
        x = rng.integers(0, 4, (4, 3, 2)).astype(dtype)
        y, i, inv, n = np.unique(x, True, True, True)
        f.case("_UniqueSorted", [x], {}, [y, i, inv.reshape(-1), n])
        order = np.argsort(i)
        back = np.argsort(order)
        f.case("_UniqueSorted", [x], {"sorted": False}, [y[order], i[order], back[inv.reshape(-1)], n[order]])
        x = rng.integers(0, 2, (5, 2, 4)).astype(dtype)
        for axis in [0, 1, 2, -1, -3]:
            y, i, inv, n = np.unique(x, True, True, True, axis=axis)
            f.case("_UniqueSorted", [x], {"axis": [axis]}, [y, i, inv.reshape(-1), n])
            order = np.argsort(i)
            back = np.argsort(order)
            wants = [np.take(y, order, axis), i[order], back[inv.reshape(-1)], n[order]]
            f.case("_UniqueSorted", [x], {"axis": [axis], "sorted": False}, wants)
    x = np.array([np.nan, 1, -np.inf, np.nan, -0.0, 0.0], "float32")
    wants = [np.array([-np.inf, 0, 1, np.nan], "float32"), np.array([2, 4, 1, 0]), np.array([3, 2, 0, 3, 1, 1]), np.array([1, 2, 1, 2])]
    f.case("_UniqueSorted", [x], {}, wants)
    none = np.zeros(0, "int64")
    f.case("_UniqueSorted", [np.zeros((0, 2), "float32")], {}, [np.zeros(0, "float32"), none, none, none])
    f.case("_UniqueSorted", [np.zeros((0, 2), "float32")], {"axis": [0]}, [np.zeros((0, 2), "float32"), none, none, none])
    f.fails("_UniqueSorted", [x], {"axis": [1]})
    f.fails("_UniqueSorted", [x], {"axis": [0, 0]})
    op = "_BatchedNonMaxSuppression"
    boxes = rng.random((2, 9, 4)).astype("float32")
    scores = (rng.integers(0, 20, (2, 3, 9)) / 20).astype("float32")
    for center in [0, 1]:
        for most, iou, score in [(4, 0.3, 0.1), (9, 0.5, -1.0), (2, 0.0, 0.0), (0, 0.5, 0.0), (9, 1.0, 0.4)]:
            given = [np.array([most]), np.array([iou], "float32"), np.array([score], "float32")]
            want = reference("NonMaxSuppression", [boxes, scores, *given], {"center_point_box": center}, by="ort")
            f.case(op, [boxes, scores, *given], {"center_point_box": center}, want)
    f.case(op, [boxes, scores, np.int64(-1), np.float32(0.5), np.float32(0)], {}, [np.zeros((0, 3), "int64")])
    f.fails(op, [boxes, scores[:1], np.int64(1), np.float32(0.5), np.float32(0)], {})
    f.fails(op, [boxes[..., :3], scores, np.int64(1), np.float32(0.5), np.float32(0)], {})
    f.fails(op, [boxes, scores, np.int64(1), np.float32(1.5), np.float32(0)], {})
    f.fails(op, [boxes, scores, np.int64(1), np.float32(np.nan), np.float32(0)], {})
    f.write()


@family
def regions(rng):
    f = File("regions", 2e-5, 2e-5)
    x = floats(rng, 2, 3, 6, 7)
    rois = np.array([[0, 0, 4, 4], [1.5, 2.25, 6, 5], [-3, -2, 3, 9], [2, 2, 2.2, 2.1], [5, 4, 3, 1]], "float32")
    i = np.array([0, 1, 1, 0, 1])
    for mode in ["avg", "max"]:
        for half in [False, True]:
            for h, w, ratio, scale in [(2, 2, 2, 1.0), (3, 2, 0, 1.0), (1, 4, 3, 0.5), (2, 3, 0, 2.0)]:
                theirs = dict(mode=mode, output_height=h, output_width=w, sampling_ratio=ratio, spatial_scale=scale)
                kind = "half_pixel" if half else "output_half_pixel"
                want = reference("RoiAlign", [x, rois, i], {**theirs, "coordinate_transformation_mode": kind}, by="ort", opset=16)
                f.case("_RoiAlign", [x, rois, i], {**theirs, "half_pixel": half}, want)
    f.fails("_RoiAlign", [x, rois, i - 1], {})
    f.fails("_RoiAlign", [x, rois, i + 1], {})
    f.fails("_RoiAlign", [x, rois, i[:2]], {})
    f.fails("_RoiAlign", [x, rois, i], dict(output_height=0))
    f.fails("_RoiAlign", [x, rois, i], dict(sampling_ratio=2**62))
    f.fails("_RoiAlign", [x, rois * np.float32(1e30), i], {})
    f.fails("_RoiAlign", [x, rois, i], dict(mode="min"))
    rois = np.array([[0, 0, 0, 3, 3], [1, 1, 2, 6, 5], [1, -3, -2, 3, 9], [0, 2, 2, 2, 2], [0, 9, 9, 12, 12], [0, 5, 4, 3, 1]], "float32")
    for shape, scale in [((2, 2), 1.0), ((3, 1), 0.5), ((1, 5), 1.25)]:
        attrs = dict(pooled_shape=list(shape), spatial_scale=scale)
        f.case("_MaxRoiPool", [x, rois], attrs, reference("MaxRoiPool", [x, rois], attrs, by="ort", opset=20))
    f.fails("_MaxRoiPool", [x, rois + 1], dict(pooled_shape=[2, 2]))
    f.fails("_MaxRoiPool", [x, -rois - 1], dict(pooled_shape=[2, 2]))
    f.fails("_MaxRoiPool", [x, rois], dict(pooled_shape=[2]))
    f.fails("_MaxRoiPool", [x, rois], dict(pooled_shape=[2, -1]))
    f.fails("_MaxRoiPool", [x, rois[:, :4]], dict(pooled_shape=[2, 2]))
    for shape, places in [((2, 3, 4, 5), (3, 6)), ((1, 2, 3, 4, 2), (2, 3, 3)), ((1, 1, 1, 3), (2, 2))]:
        x = floats(rng, *shape)
        grid = (rng.integers(-37, 38, (shape[0], *places, len(places))) / 16).astype("float32") * np.float32(0.9)
        for mode in ["linear", "nearest", "cubic"]:
            for padding in ["zeros", "border", "reflection"]:
                for align in [False, True]:
                    if align and min(shape[2:]) == 1:
                        continue  # a reflection between two equal ends
                    theirs = dict(mode=mode, padding_mode=padding, align_corners=int(align))
                    # The reference moves cubic positions to the border; PyTorch and onnxruntime only their taps.
                    by = "onnxruntime" if (mode, padding) == ("cubic", "border") else "reference"
                    if by == "onnxruntime" and len(shape) > 4:
                        continue  # it has images only
                    want = reference("GridSample", [x, grid], theirs, by=by, opset=20)
                    f.case("_GridSample", [x, grid], {**theirs, "align_corners": align}, want)
    f.case("_GridSample", [x, np.array([[[[np.inf, -1e30]]]], "float32")], {"padding_mode": "reflection"}, [])
    f.fails("_GridSample", [x, grid[..., :1]], {})
    f.fails("_GridSample", [x, grid[:, 0]], {})
    f.fails("_GridSample", [x, grid], {"mode": "square"})
    f.fails("_GridSample", [x[:, :, :0], grid], {})
    f.write()


@family
def windows(rng):
    f = File("windows", 2e-5, 2e-5)
    for shape, filters, group, offsets, attrs in [
        ((1, 2, 5, 6), (3, 2, 3, 3), 1, 1, dict(pads=[1, 1, 1, 1])),
        ((2, 4, 6, 5), (4, 2, 2, 3), 2, 2, dict(strides=[2, 1], pads=[0, 1, 1, 0])),
        ((1, 4, 7, 7), (2, 4, 2, 2), 1, 4, dict(dilations=[2, 3])),
        ((1, 3, 4, 4), (3, 1, 1, 1), 3, 1, {}),
    ]:
        x, w = floats(rng, *shape), floats(rng, *filters)
        given = {**attrs, "group": group}
        rows, columns = reference("Conv", [x, w], given)[0].shape[2:]
        taps = filters[2] * filters[3]
        offset = floats(rng, shape[0], 2 * offsets * taps, rows, columns)
        mask = floats(rng, shape[0], offsets * taps, rows, columns)
        bias = floats(rng, filters[0])
        given["offset_group"] = offsets
        want = reference("DeformConv", [x, w, offset, bias, mask], given, opset=22)
        f.case("_DeformConv", [x, w, offset, bias, mask], given, want)
    f.fails("_DeformConv", [x, w, offset[:, 1:], bias, mask], given)
    f.fails("_DeformConv", [x, w, offset, bias[:2], mask], given)
    f.fails("_DeformConv", [x, w, offset, bias, mask[:, :, 1:]], given)
    f.fails("_DeformConv", [x, w, offset, bias, mask], {**given, "offset_group": 0})
    f.fails("_DeformConv", [x, w, offset, bias, mask], {**given, "offset_group": 2})
    for image, block, batch, channels, attrs in [
        ([5, 5], [1, 5], 1, 1, {}), ([5, 6], [2, 3], 2, 3, dict(strides=[2, 1], pads=[1, 0, 0, 1])),
        ([7, 6], [3, 2], 1, 2, dict(dilations=[2, 3])), ([4, 3, 5], [2, 1, 3], 1, 2, dict(pads=[1, 0, 1, 0, 0, 1])),
        ([9], [4], 2, 1, dict(strides=[2])),
    ]:
        n = len(image)
        get = lambda key, missing: attrs.get(key, [missing] * (2 * n if key == "pads" else n))
        s, d, p = get("strides", 1), get("dilations", 1), get("pads", 0)
        count = np.prod([(image[i] + p[i] + p[n + i] - d[i] * (block[i] - 1) - 1) // s[i] + 1 for i in range(n)])
        for dtype in ["float32", "int32", "float16"]:
            x = floats(rng, batch, channels * int(np.prod(block)), int(count)) * 8
            x = x.astype(dtype)
            theirs = dict(strides=s, dilations=d, pads=p)
            want = reference("Col2Im", [x, np.array(image), np.array(block)], theirs, opset=18)
            f.case("_Col2Im", [x, np.array(image), np.array(block)], attrs, want)
    image, block = np.array([9]), np.array([4])
    f.fails("_Col2Im", [x, image, block], {})
    f.fails("_Col2Im", [x, image, np.array([3])], attrs)
    f.fails("_Col2Im", [x, image, np.array([0])], attrs)
    f.fails("_Col2Im", [x, np.array([-9]), block], attrs)
    f.fails("_Col2Im", [x, np.array([9, 9]), block], attrs)
    f.fails("_Col2Im", [x[0], image, block], attrs)
    f.write()


@family
def trees(rng):
    f = File("trees", 1e-6, 1e-6)
    modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]

    def ensemble(count, depth, features, targets, modes=modes):
        a = {k: [] for k in [
            "nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_values", "nodes_truenodeids",
            "nodes_falsenodeids", "nodes_missing_value_tracks_true", "target_treeids", "target_nodeids", "target_ids",
            "target_weights",
        ]}
        for tree in range(count):
            n = 2 ** (depth + 1) - 1
            for node in range(n):
                leaf = node >= n // 2
                a["nodes_treeids"].append(tree)
                a["nodes_nodeids"].append(node)
                a["nodes_featureids"].append(0 if leaf else int(rng.integers(features)))
                a["nodes_modes"].append("LEAF" if leaf else str(rng.choice(modes)))
                a["nodes_values"].append(0.0 if leaf else float(rng.integers(-4, 5)) / 4)
                a["nodes_truenodeids"].append(0 if leaf else 2 * node + 1)
                a["nodes_falsenodeids"].append(0 if leaf else 2 * node + 2)
                a["nodes_missing_value_tracks_true"].append(int(rng.integers(2)))
                if leaf:
                    for target in sorted(rng.choice(targets, int(rng.integers(1, targets + 1)), replace=False)):
                        a["target_treeids"].append(tree)
                        a["target_nodeids"].append(node)
                        a["target_ids"].append(int(target))
                        a["target_weights"].append(float(rng.integers(-20, 20)) / 8)
        return {**a, "n_targets": targets}

    for count, depth, features, targets in [(1, 1, 1, 1), (3, 2, 4, 1), (5, 3, 3, 3), (1, 0, 2, 2)]:
        a = ensemble(count, depth, features, targets)
        x = (rng.integers(-4, 5, (7, features)) / 4).astype("float32")
        x[0, 0] = np.nan
        for aggregate in ["SUM", "AVERAGE", "MIN", "MAX"]:
            for base in [[], [float(i) + 0.5 for i in range(targets)]]:
                if aggregate in ("MIN", "MAX") and targets > 1:
                    continue  # targets without weight: unspecified
                theirs = {**a, "aggregate_function": aggregate, **({"base_values": base} if base else {})}
                theirs["nodes_values"] = np.array(a["nodes_values"], "float32")
                want = reference("TreeEnsembleRegressor", [x], theirs, domain="ai.onnx.ml")
                own = {**a, "aggregate_function": aggregate, "base_values": base}
                f.case("_TreeEnsemble", [x], own, [np.asarray(want[0], "float32")])
    a = ensemble(1, 1, 1, 1, ["BRANCH_LEQ"])
    f.case("_TreeEnsemble", [np.array([[0], [3]])], {**a, "nodes_values": [1.0, 0.0, 0.0], "target_ids": [0, 0], "target_nodeids": [1, 2],
           "target_treeids": [0, 0], "target_weights": [1.0, 2.0]}, [np.array([[1], [2]], "float32")])
    x = np.zeros((1, 1), "float32")
    for broken in [
        {"nodes_truenodeids": [0, 0, 0]}, {"nodes_truenodeids": [7, 0, 0]}, {"nodes_nodeids": [0, 1, 1]},
        {"nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 2, 0]},
        {"nodes_modes": ["BRANCH", "LEAF", "LEAF"]}, {"nodes_featureids": [-1, 0, 0]}, {"nodes_featureids": [1, 0, 0]},
        {"nodes_values": [1.0]}, {"target_ids": [1] * len(a["target_ids"])}, {"target_nodeids": [9] * len(a["target_ids"])},
        {"target_weights": []}, {"n_targets": 0}, {"n_targets": -1}, {"base_values": [1.0, 2.0]},
        {"aggregate_function": "MEDIAN"}, {"nodes_missing_value_tracks_true": [1]}, {"nodes_treeids": [0, 0, 1]},
    ]:
        f.fails("_TreeEnsemble", [x], {**a, **broken})
    f.fails("_TreeEnsemble", [x[None]], a)
    f.write()


def main():
    os.makedirs(ROOT, exist_ok=True)
    for name in sys.argv[1:] or FAMILIES:
        FAMILIES[name](np.random.default_rng(sum(map(ord, name))))


main()
