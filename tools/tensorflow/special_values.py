"""Operators of floats on NaN, infinities, zeros, and the smallest and largest numbers.

Writes `bf16.txt`, `f16.txt`, `f32.txt` and `f64.txt` of `testdata/tensorflow/special`; their syntax is that of the files in the folder
above. Each operator is run on single elements and on a long operand that repeats them. TensorFlow's scalar and
vector code disagree where one of them has flushed a denormal intermediate result to zero: the number is stored
rather than NaN, the larger number rather than the smaller one, and the script says so.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import ml_dtypes
import numpy as np
import tensorflow as tf

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata/tensorflow/special")

# Long operands repeat the short ones, with a remainder after the last whole vector.
REPEATS = 7

UNARY = """Abs Neg Sign Square Reciprocal Inv Sqrt Rsqrt Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh
Tanh Asinh Acosh Atanh Erf Erfc Erfinv Ndtri Lgamma Digamma Ceil Floor Round Rint Sigmoid Softplus Softsign Relu
Relu6 Elu Selu BesselI0 BesselI0e BesselI1 BesselI1e IsNan IsInf IsFinite OnesLike ZerosLike LeakyRelu""".split()

BINARY = """Add AddV2 Sub Mul RealDiv Div DivNoNan MulNoNan FloorDiv FloorMod TruncateMod Mod Pow
Maximum Minimum SquaredDifference Atan2 Xdivy Xlogy Xlog1py ReluGrad Relu6Grad EluGrad SeluGrad SigmoidGrad
TanhGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad SoftplusGrad SoftsignGrad LeakyReluGrad Igamma Igammac Zeta
Polygamma NextAfter Equal NotEqual Less LessEqual Greater GreaterEqual ApproximateEqual""".split()

# Not at the ends of the range: TensorFlow's results are those of overflows and denormals on the way.
MODERATE_UNARY = """BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Dawsn Expint FresnelCos FresnelSin
Spence""".split()

MODERATE_BINARY = {"IgammaGradA": ("a", "x"), "RandomGammaGrad": ("alpha", "sample")}

CASTS = [np.float16, np.float32, np.float64, np.int32, np.int64, np.bool_]

REDUCE = "Sum Mean Prod Max Min EuclideanNorm".split()
SCAN = "Cumsum Cumprod CumulativeLogsumexp".split()
SEGMENT = "Sum Prod Max Min".split()

NAMES = {np.dtype(ml_dtypes.bfloat16): "bf16", np.dtype(np.float16): "f16", np.dtype(np.float32): "f32", np.dtype(np.float64): "f64",
         np.dtype(np.int32): "i32", np.dtype(np.int64): "i64", np.dtype(bool): "i1"}


def literal(array):
    array = np.asarray(array)
    kind = NAMES[array.dtype]

    def text(value):
        if kind.startswith("i"):
            return str(int(value))
        value = np.float32(value) if kind == "bf16" else value
        if not np.isfinite(value):
            return str(value).replace("-nan", "nan")
        return np.format_float_positional(value, trim="-") if 1e-5 <= abs(value) < 1e8 or value == 0 else (
            np.format_float_scientific(value, trim="-"))

    shape = f"[{'x'.join(map(str, array.shape))}]" if array.shape else ""
    return f"{kind}{shape}:" + ",".join(text(value) for value in array.flat)


class File:
    def __init__(self, dtype, rtol):
        self.dtype, self.name = np.dtype(dtype), NAMES[np.dtype(dtype)]
        self.lines = [
            f"# tools/tensorflow/special_values.py: TensorFlow {tf.__version__}",
            f"tolerance {rtol} 0",
        ]
        self.operands = {}

    def operand(self, name, array):
        array = np.asarray(array)
        self.operands[name] = array
        self.lines.append(f"{name} := {literal(array)}")

    def node(self, name, op, operands, call, attrs="", rows=True):
        """A result of the operands with these names; by rows if it depends on each row of the operands."""
        values = [self.operands[operand] for operand in operands]
        try:
            call(*map(tf.constant, values))
        except (tf.errors.NotFoundError, tf.errors.InvalidArgumentError) as error:
            assert self.name in ["f16", "bf16"], error  # some operators are not made for it
            return
        results = [result.numpy() for result in flat(call(*map(tf.constant, values)))]
        if rows:
            size = max(len(value) for value in values if value.ndim)
            self.check(name, call, values, size, results)
        self.lines.append(" ".join(f"{name} = {op} {' '.join(operands)} {attrs}".split()))
        for i, result in enumerate(results):
            self.lines.append(f"want {name}{f':{i}' if i else ''} {literal(result)}")

    def check(self, name, call, values, size, results):
        def along(value, f):
            return f(value) if value.ndim and len(value) == size else value

        def same(found, want):
            with np.errstate(all="ignore"):
                return np.isclose(found, want, rtol=1e-5, atol=0, equal_nan=True)

        extended = [along(v, lambda v: np.concatenate([v] * REPEATS + [v[:5]])) for v in values]
        long = [r.numpy() for r in flat(call(*map(tf.constant, extended)))]
        for k in range(len(results)):
            if results[k].ndim == 0 or len(results[k]) != size:
                continue
            singles = np.concatenate([
                flat(call(*(tf.constant(along(v, lambda v: v[i:i + 1])) for v in values)))[k].numpy()
                for i in range(size)])
            results[k] = long[k][:size].copy()
            for i in np.nonzero(~same(singles, results[k]).reshape(size, -1).all(1))[0]:
                given = [along(v, lambda v: v[i]) for v in values]
                print(f"{self.name} {name}{given}: alone {singles[i]}, in a vector {results[k][i]}")
                if np.isnan(results[k][i]) or np.abs(singles[i]) > np.abs(results[k][i]):
                    results[k][i] = singles[i]

    def write(self):
        with open(os.path.join(ROOT, f"{self.name}.txt"), "w") as file:
            file.write("\n".join(self.lines) + "\n")


def flat(results):
    return list(results) if isinstance(results, (tuple, list)) else [results]


def write(dtype, rtol):
    file = File(dtype, rtol)
    ends = ml_dtypes.finfo(dtype)
    numbers = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1, -1, ends.max, ends.min, ends.tiny, 0.5], dtype)
    a, b = (grid.ravel() for grid in np.meshgrid(numbers, numbers, indexing="ij"))
    raw = tf.raw_ops
    file.operand("x", np.concatenate([numbers, [-ends.tiny, -0.5, 2, -2, 3, 7, -7, 1e4, -1e4]]).astype(dtype))
    file.operand("a", a)
    file.operand("b", b)
    file.operand("rows", np.stack([a, b], 1))
    file.operand("last", np.int32(1))
    for op in UNARY:
        function = getattr(raw, op)
        attrs = {"LeakyRelu": "alpha=0.2:f32"}.get(op, "")
        extra = {"alpha": 0.2} if attrs else {}
        key = "features" if op in "Softplus Softsign Relu Relu6 Elu Selu LeakyRelu".split() else "x"
        file.node(op, op, ["x"], lambda x: function(**{key: x}, **extra), attrs)
    moderate = np.array([np.nan, np.inf, 0.5, 1, 2, 3, 8, 20], dtype)
    file.operand("moderate", moderate)
    for op in MODERATE_UNARY:
        file.node(op, op, ["moderate"], lambda x: getattr(raw, op)(x=x))
    c, d = (grid.ravel() for grid in np.meshgrid(moderate[2:], moderate[2:], indexing="ij"))
    file.operand("c", c)
    file.operand("d", d)
    for op, keys in MODERATE_BINARY.items():
        file.node(op, op, ["c", "d"], lambda c, d: getattr(raw, op)(**dict(zip(keys, (c, d)))))
    for to in CASTS:
        # Floats beyond a signed integer's range are undefined in TensorFlow, as NaN is.
        to = np.dtype(to)
        if to != file.dtype:
            file.node(f"Cast_{NAMES[to]}", "Cast", ["x"], lambda x: raw.Cast(x=x, DstT=to), f"DstT={NAMES[to]}")
    for op in BINARY:
        function = getattr(raw, op)
        attrs, extra = "", {}
        if op == "LeakyReluGrad":
            attrs, extra = "alpha=0.2:f32", {"alpha": 0.2}
        keys = {"Igamma": ("a", "x"), "Igammac": ("a", "x"), "Polygamma": ("a", "x"), "Zeta": ("x", "q"),
                "Atan2": ("y", "x"), "NextAfter": ("x1", "x2")}.get(op, ("x", "y"))
        if op.endswith("Grad"):
            first = op.removesuffix("Grad")
            keys = ("y", "dy") if first in "Sigmoid Tanh Sqrt Rsqrt Reciprocal Inv".split() else (
                ("gradients", "outputs" if first in "Elu Selu".split() else "features"))
        file.node(op, op, ["a", "b"], lambda a, b: function(**dict(zip(keys, (a, b))), **extra), attrs)
    file.node("AddN", "AddN", ["a", "b"], lambda a, b: raw.AddN(inputs=[a, b]), "N=2")
    file.operand("low", np.asarray(-1, dtype))
    file.operand("high", np.asarray(0.5, dtype))
    file.node("ClipByValue", "ClipByValue", ["x", "low", "high"],
              lambda x, low, high: raw.ClipByValue(t=x, clip_value_min=low, clip_value_max=high))
    for op in REDUCE:
        file.node(op, op, ["rows", "last"], lambda x, axis: getattr(raw, op)(input=x, axis=axis))
    for op in ["ArgMax", "ArgMin"]:
        file.node(op, op, ["rows", "last"], lambda x, axis: getattr(raw, op)(input=x, dimension=axis))
    for op in SCAN:
        file.node(op, op, ["rows", "last"], lambda x, axis: getattr(raw, op)(x=x, axis=axis))
    for op in ["Softmax", "LogSoftmax"]:
        file.node(op, op, ["rows"], lambda x: getattr(raw, op)(logits=x))
    file.node("L2Loss", "L2Loss", ["low"], lambda x: raw.L2Loss(t=x), rows=False)
    file.operand("ids", np.repeat(np.arange(len(a), dtype=np.int32), 2))
    file.operand("flat", np.stack([a, b], 1).ravel())
    file.operand("n", np.int32(len(a)))
    for op in SEGMENT + ["Mean"]:
        file.node(f"Segment{op}", f"Segment{op}", ["flat", "ids"],
                  lambda x, ids: getattr(raw, f"Segment{op}")(data=x, segment_ids=ids), rows=False)
    for op in SEGMENT:
        file.node(f"UnsortedSegment{op}", f"UnsortedSegment{op}", ["flat", "ids", "n"],
                  lambda x, ids, n: getattr(raw, f"UnsortedSegment{op}")(data=x, segment_ids=ids, num_segments=n),
                  rows=False)
    file.operand("k", np.int32(2))
    file.node("TopKV2", "TopKV2", ["rows", "k"], lambda x, k: raw.TopKV2(input=x, k=k))
    file.operand("ones", np.ones([2, 1], dtype))
    file.node("MatMul", "MatMul", ["rows", "ones"], lambda x, y: raw.MatMul(a=x, b=y))
    file.node("SoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits", ["rows", "rows"],
              lambda x, y: raw.SoftmaxCrossEntropyWithLogits(features=x, labels=y))
    file.operand("half", np.full(len(a), 0.5, dtype))
    file.node("ClipByValue_by_each", "ClipByValue", ["a", "b", "half"],
              lambda x, low, high: raw.ClipByValue(t=x, clip_value_min=low, clip_value_max=high))
    file.operand("bias", np.array([np.inf, 1], dtype))
    file.node("BiasAdd", "BiasAdd", ["rows", "bias"], lambda x, bias: raw.BiasAdd(value=x, bias=bias))
    file.operand("vectors", np.stack([a, b, a], 1))
    file.operand("others", np.stack([b, b, a], 1))
    file.node("Cross", "Cross", ["vectors", "others"], lambda a, b: raw.Cross(a=a, b=b))
    file.operand("targets", np.zeros(len(a), np.int32))
    file.node("SparseSoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", ["rows", "targets"],
              lambda x, y: raw.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=y))
    file.operand("images", file.operands["rows"].reshape(-1, 1, 2, 1))
    window = {"ksize": [1, 1, 2, 1], "strides": [1, 1, 1, 1], "padding": "VALID"}
    attrs = 'ksize=[1,1,2,1] strides=[1,1,1,1] padding="VALID"'
    file.node("MaxPool", "MaxPool", ["images"], lambda x: raw.MaxPool(input=x, **window), attrs)
    file.node("AvgPool", "AvgPool", ["images"], lambda x: raw.AvgPool(value=x, **window), attrs)
    if dtype == np.float32:
        file.node("InTopKV2", "InTopKV2", ["rows", "targets", "last"],
                  lambda x, targets, k: raw.InTopKV2(predictions=x, targets=targets, k=k))
        file.node("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxArgs", ["x"],
                  lambda x: raw.FakeQuantWithMinMaxArgs(inputs=x))
        file.node("FakeQuantWithMinMaxArgsGradient", "FakeQuantWithMinMaxArgsGradient", ["a", "b"],
                  lambda dy, x: raw.FakeQuantWithMinMaxArgsGradient(gradients=dy, inputs=x))
    file.write()


if __name__ == "__main__":
    write(ml_dtypes.bfloat16, 3e-2)
    write(np.float16, 5e-3)
    write(np.float32, 1e-5)
    write(np.float64, 1e-9)
