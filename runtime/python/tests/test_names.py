"""The names of the Array API, `bf.tf`'s signatures, strings, bfloat16, handlers, and what travels between processes."""

import inspect
import pathlib
import pickle
import queue
from typing import Any

import numpy as np
import pytest

import befrost as bf
import befrost.onnxruntime as ort
from befrost import _names, _tensor

DATA = pathlib.Path(__file__).resolve().parents[3] / "testdata"
# The functions of the standard of 2024.12, but for those of linear algebra and the Fourier transform.
STANDARD = """
    abs acos acosh add all any arange argmax argmin argsort asarray asin asinh astype atan atan2 atanh bitwise_and
    bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor broadcast_arrays broadcast_to can_cast
    ceil clip concat conj copysign cos cosh count_nonzero cumulative_prod cumulative_sum diff divide empty empty_like
    equal exp expand_dims expm1 eye finfo flip floor floor_divide from_dlpack full full_like greater greater_equal hypot
    iinfo imag isdtype isfinite isinf isnan less less_equal linspace log log10 log1p log2 logaddexp logical_and
    logical_not logical_or logical_xor matmul matrix_transpose max maximum mean meshgrid min minimum moveaxis multiply
    negative nextafter nonzero not_equal ones ones_like permute_dims positive pow prod real reciprocal remainder repeat
    reshape result_type roll round searchsorted sign signbit sin sinh sort sqrt square squeeze stack std subtract sum take
    take_along_axis tan tanh tensordot tile tril triu trunc unique_all unique_counts unique_inverse unique_values unstack
    var vecdot where zeros zeros_like
    e inf nan newaxis pi bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
""".split()
X, Y = np.array([[1.5, -2.0, 0.5], [3.0, 0.25, 1.0]]), np.array([[2.0, 0.5, 1.0], [0.5, 4.0, 3.0]])
M = np.array([[3, 1, 2], [9, 7, 8]])
U = np.array([0.1, 0.5, 0.9])
CALLS = {
    "acos": (U,), "acosh": (U + 1,), "asin": (U,), "atanh": (U,), "arange": (2, 9, 3), "astype": (X, np.float32),
    "broadcast_to": (U, (2, 3)), "clip": (X, 0.0, 1.0), "concat": ([X, Y],), "diff": (X,), "einsum": ("ij,ij->i", X, Y),
    "empty": ((2, 0),), "expand_dims": (X, 1), "eye": (3,), "full": ((2, 2), 7), "full_like": (X, 2.0),
    "linspace": (0.0, 1.0, 5), "log": (Y,), "log10": (Y,), "log1p": (Y,), "log2": (Y,), "matmul": (X, Y.T),
    "moveaxis": (X, 0, 1), "ones": ((2, 3),), "permute_dims": (X, (1, 0)), "pow": (Y, X), "repeat": (X, 2),
    "reshape": (X, (3, 2)), "roll": (X, 1), "round": (X,), "searchsorted": (U, U), "sqrt": (Y,), "squeeze": (X[:1],),
    "stack": ([X, Y],), "take": (U, M % 3), "take_along_axis": (X, M % 3), "tensordot": (X, Y.T, 1), "tile": (U, 2),
    "where": (X > 0, X, Y), "zeros": (4,), "meshgrid": (U, U), "broadcast_arrays": (U, X), "vecdot": (X, Y),
    "cumulative_sum": (U,), "cumulative_prod": (U,), "unstack": (X,), "asarray": (X,), "logical_not": (X > 0,),
}
INTEGERS = ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "bitwise_invert"]


def test_the_standard_is_there() -> None:
    assert set(STANDARD) - set(dir(bf)) == set()
    assert bf.float32 is np.float32 and bf.newaxis is None and bf.pi == np.pi
    with pytest.raises(AttributeError):
        bf.absent  # type: ignore[attr-defined]
    scope: dict[str, object] = {}
    exec("from befrost import *", scope)
    assert "load" in scope and "sum" not in scope and "bool" not in scope


@pytest.mark.parametrize("kind", [bf.tensor, np.asarray], ids=["tensors", "arrays"])
def test_functions_of_the_standard(kind: Any) -> None:
    wrong = []
    for name in _names.__all__:
        function: Any = getattr(bf, name)
        kinds = [kind.__name__ for kind in type(function).__mro__]
        if "NumPyFunction" not in kinds or "TypeFunction" in kinds:
            continue
        plain = getattr(np, name, None)
        if plain is None:
            continue
        if name in INTEGERS:
            args: Any = (M, M % 3)[:getattr(plain, "nin", 2)]
        elif name in CALLS:
            args = CALLS[name]
        else:
            args = (X, Y)[:plain.nin if isinstance(plain, np.ufunc) else 1]

        def given(part: Any) -> Any:
            if isinstance(part, np.ndarray):
                return kind(part)
            return [*map(given, part)] if isinstance(part, list) else part

        want = plain(*args)
        try:
            got = function(*map(given, args))
            several = isinstance(want, (tuple, list))
            assert several == isinstance(got, tuple) and (several or isinstance(got, bf.Tensor)), type(got)
            for g, w in zip(got if several else [got], want if several else [want], strict=True):
                assert isinstance(g, bf.Tensor) and g.dtype == np.asarray(w).dtype and g.shape == np.shape(w)
                if "empty" not in name:
                    np.testing.assert_allclose(np.asarray(g), w, rtol=1e-12, atol=1e-15)
        except Exception as error:
            wrong.append(f"{name}: {error!r}"[:300])
    assert not wrong, "\n".join(wrong)


def test_functions_of_numpy_are_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """What NumPy computes is computed by the runtime: only what cannot be compiled goes back to NumPy."""
    fallen = []
    plain = _tensor._wrapped

    def fall(value: Any) -> Any:
        fallen.append(value)
        return plain(value)

    monkeypatch.setattr(_tensor, "_wrapped", fall)
    t = bf.tensor(X)
    for made in (np.sum(t), np.mean(t, 0), np.add(t, t), np.where(t > 0, t, 0.0), t.sum(), bf.sum(t), bf.add(t, t),
                 bf.exp(X), t.max(1), np.sqrt(abs(t)), bf.matmul(t, X.T), t + np.int64(3), 2 ** t):
        assert isinstance(made, bf.Tensor)
    assert not fallen
    np.unwrap(t)
    assert fallen


def test_questions_about_types() -> None:
    t = bf.tensor(X, "float32")
    assert bf.result_type(t, np.float64) == np.float64 and bf.can_cast(np.int8, np.int16) is True
    assert bf.isdtype(t.dtype, "real floating") and bf.finfo(bf.float32).bits == 32 and bf.iinfo(bf.int8).max == 127
    made = bf.unique_all(bf.tensor([2, 1, 2]))
    assert made.counts.tolist() == [1, 2] and isinstance(made.values, bf.Tensor)  # type: ignore[attr-defined]

    @bf.function
    def f(x: Any) -> Any:
        return bf.sum(x * bf.pi, axis=0) + bf.astype(bf.ones(3), bf.float32)[:, bf.newaxis][0]

    assert np.allclose(f(X), np.sum(X * np.pi, axis=0) + 1)


# ---- operators of TensorFlow's ----

def test_operators_have_signatures_and_docs() -> None:
    conv = bf.tf.Conv2D
    parameters = inspect.signature(conv).parameters
    assert list(parameters)[:2] == ["input", "filter"] and parameters["padding"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["data_format"].default == "NHWC" and parameters["strides"].default is inspect.Parameter.empty
    assert "operand filter" in str(conv.__doc__) and "attribute strides: list(int)" in str(conv.__doc__)
    for name in dir(bf.tf):
        inspect.signature(getattr(bf.tf, name))
    x = np.ones((2, 3), np.float32)
    assert bf.tf.MatMul(b=x.T, a=x).tolist() == bf.tf.MatMul(x, x.T).tolist()
    assert bf.tf.MatMul(x, b=x.T).tolist() == [[3, 3], [3, 3]]
    assert bf.tf.ConcatV2(values=[x, x], axis=np.int32(0)).shape == (4, 3)
    with pytest.raises(TypeError, match="multiple values"):
        bf.tf.MatMul(x, x.T, a=x)  # type: ignore[misc]
    with pytest.raises(TypeError, match="lacks the operand 'b'"):
        bf.tf.MatMul(a=x)  # type: ignore[call-arg]

    @bf.function
    def f(x: Any, y: Any) -> Any:
        return bf.tf.MatMul(b=y, a=x), bf.tf.Pack(values=[x, x], axis=0)

    product, packed = f(x, x.T)
    assert product.tolist() == [[3, 3], [3, 3]] and packed.shape == (2, 2, 3)


def example(**features: Any) -> Any:
    """A serialized tf.Example of lists of integers and bytes."""
    def field(number: Any, data: Any) -> Any:
        return bytes([number << 3 | 2, len(data)]) + data

    entries = b""
    for name, value in features.items():
        if isinstance(value, bytes):
            feature = field(1, field(1, value))
        else:
            feature = field(3, field(1, bytes(value)))
        entries += field(1, field(1, name.encode()) + field(2, feature))
    return field(1, entries)


def test_examples_are_parsed() -> None:
    serialized = np.array([example(a=[3, 4], b=b"x"), example(a=[5, 6], b=b"yz")], object)
    none = np.array([], "S1")
    made = bf.tf.ParseExample(serialized, none, [np.array("b")], [np.array("a")], [np.zeros(0, np.int64)],
                              sparse_types=["string"], dense_shapes=[[2]])
    indices, values, shape, dense = made
    assert dense.tolist() == [[3, 4], [5, 6]] and values.tolist() == ["x", "yz"]
    assert indices.tolist() == [[0, 0], [1, 0]] and shape.tolist() == [2, 1]
    made = bf.tf.ParseExampleV2(
        serialized, none, np.array(["b"]), np.array(["a"]), none, np.zeros(0, np.int64), num_sparse=1,
        sparse_types=["string"], dense_shapes=[[2]], ragged_value_types=[], ragged_split_types=[])
    assert made[3].tolist() == [[3, 4], [5, 6]]


# ---- strings ----

TEXT = """func.func @main(%x: tensor<?x!tf_type.string>) -> (tensor<?x!tf_type.string>, tensor<?xi32>) {
  %y = "tf.StringUpper"(%x) : (tensor<?x!tf_type.string>) -> tensor<?x!tf_type.string>
  %n = "tf.StringLength"(%x) : (tensor<?x!tf_type.string>) -> tensor<?xi32>
  func.return %y, %n : tensor<?x!tf_type.string>, tensor<?xi32>
}
"""


def test_strings_go_in_and_come_out(tmp_path: pathlib.Path) -> None:
    (tmp_path / "upper.mlir").write_text(TEXT)
    model, session = bf.load(tmp_path / "upper.mlir"), bf.Session(tmp_path / "upper.mlir")
    port = model.inputs[0]
    assert port.dtype == "str" and port.shape == (None,)
    for words in (np.array(["ab", "c", ""]), np.array([b"ab", b"c", b""]), np.array(["ab", b"c", ""], object),
                  ["ab", "c", ""], np.array(["ab", "c", ""], np.dtypes.StringDType())):
        upper, lengths = model(words)
        assert upper.dtype == object and upper.tolist() == ["AB", "C", ""] and lengths.tolist() == [2, 1, 0]
        made = session.run([port.name for port in session.outputs], {session.inputs[0].name: words})
        assert made[0].tolist() == ["AB", "C", ""]
    assert model(np.array([], object))[0].shape == (0,)
    raw = np.array([b"\xff\x00a", "é"], object)
    upper, lengths = model(raw)
    assert lengths.tolist() == [3, 2] and upper[0].encode("utf-8", "surrogateescape") == b"\xff\x00A"
    assert (model(upper)[0] == upper).all()
    for wrong in (np.array(["a", 3], object), np.array([1.0, 2.0])):
        with pytest.raises((TypeError, bf.Error)):
            model(wrong)
    assert ort.InferenceSession(str(tmp_path / "upper.mlir")).get_inputs()[0].type == "tensor(string)"
    assert bf.tf.StringJoin(np.array("a"), np.array("b"), separator="-").item() == "a-b"
    assert bf.tf.AsString(np.array([1, 2])).tolist() == ["1", "2"]


# ---- bfloat16 ----

def test_bfloat16_in_functions() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([[1.5, -2.0], [0.5, 3.0]], ml_dtypes.bfloat16)
    y = np.array([[1.0, 0.5], [2.0, -1.0]], ml_dtypes.bfloat16)
    w = np.array([[1.0, 0.5], [2.0, -1.0]], np.float32)

    def f(x: Any, y: Any, w: Any) -> Any:
        total = x * y + y
        if x[0, 0] > 1:
            total = total - x
        for i in range(2):
            total = total + y[i]
        return (total, np.sum(x), np.exp(x), x + w, x > y, np.maximum(x, y), x.astype(np.float32) @ w, -x, abs(x), x * 1.0,
                np.where(x > 0, x, y), x.max(), np.concatenate([x, y]), x / y, np.zeros(2, x.dtype) + y[0], w.astype(x.dtype))

    with np.errstate(all="ignore"):
        want = f(x, y, w)
    for level in (0, 2):
        made = bf.function(f, level=level)(x, y, w)
        for i, (g, v) in enumerate(zip(made, want, strict=True)):
            v = np.asarray(v)
            assert g.dtype == v.dtype and g.shape == v.shape, (i, g.dtype, v.dtype)
            np.testing.assert_allclose(g.numpy().astype(np.float64), v.astype(np.float64), rtol=1e-2, err_msg=str(i))
    assert isinstance(np.cbrt(bf.tensor(y)), bf.Tensor)
    weights = y

    @bf.function
    def of_globals(x: Any) -> Any:
        return x * weights

    assert np.array_equal(of_globals(x).numpy(), x * y)


# ---- handlers ----

def test_handlers(capfd: pytest.CaptureFixture[str]) -> None:
    x, y = bf.tensor([1.0, 2.0]), np.array([3.0, 4.0])
    core = bf.core.Core("recording")
    assert core.execute("AddV2", x, y).tolist() == [4.0, 6.0]
    core.execute("tf.Cast", x, DstT=np.int32)
    records = core.take()
    assert [record.name for record in records] == ["tf.AddV2", "tf.Cast"] and core.take() == []
    assert records[0].results[0].tolist() == [4.0, 6.0] and len(records[0].operands) == 2 and "DstT" in records[1].attributes
    assert bf.core.Core("logging").execute("AddV2", x, x).tolist() == [2.0, 4.0]
    assert "dispatch 'tf.AddV2' 2 arguments" in capfd.readouterr().err
    seen = []

    def traced(name: Any, operands: Any, attributes: Any, execute: Any) -> Any:
        seen.append(name)
        return execute(*operands, **attributes) * 2

    assert bf.core.Core(traced).execute("Neg", x).tolist() == [-2.0, -4.0] and seen == ["Neg"]
    with pytest.raises(bf.InvalidArgumentError, match="recording"):
        bf.core.Core("nothing")
    with pytest.raises(bf.Error):
        core.execute("MatMul", x, y)


# ---- models ----

def test_outputs_travel(tmp_path: pathlib.Path) -> None:
    model = bf.load(DATA / "digits" / "digits_mlp.pb")
    images = np.load(DATA / "digits" / "test_images.npy")
    made = model(images)
    again = pickle.loads(pickle.dumps(made))
    assert isinstance(again, bf.Outputs) and again.keys() == made.keys() and (again["logits"] == made["logits"]).all()
    assert "operations" in repr(model) and "weights" in model._repr_html_()
    n_operations, n_bytes = model.counts()
    assert n_operations >= 3 and n_bytes > 4 * 64 * 10
    with pytest.raises(KeyError, match="images"):
        model.warm({"image": images})
    model.warm({"images": images})
    made = model.run({"images": images[:2]}, output="tensor")
    assert isinstance(made[0], bf.Tensor) and made[0].shape == (2, 10)
    session = bf.Session(DATA / "digits" / "digits_mlp.pb")
    assert isinstance(session.run("logits", {"images": images[:2]}, output="tensor"), bf.Tensor)
    for twice in (lambda: model(images, images=images), lambda: session.run("logits", {"images": images, "images:0": images})):
        with pytest.raises((TypeError, ValueError), match="twice"):
            twice()
    with pytest.raises(ValueError, match="images"):
        model.run({})
    with pytest.raises(ValueError, match="images"):
        session.run("logits", {})


def test_transforms() -> None:
    square = bf.function(lambda x: x * x)
    assert square.transform("grad", wrt=0)(3.0) == 6.0
    value, gradient = square.transform("value_and_grad")(3.0)
    assert (value, gradient) == (9.0, 6.0)
    [only] = square.transform("grad", wrt=[0])(3.0)
    assert only == 6.0
    with pytest.raises(KeyError, match="grad"):
        square.transform("gradd")


def test_functions_forget_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("befrost._function.MAX_KEYS", 4)
    f = bf.function(lambda x, n: x + n, static=["n"])
    for i in range(10):
        assert f(np.ones(2), n=i).tolist() == [1 + i] * 2
    assert len(f._versions) == 4


def test_errors_are_of_the_documented_class(tmp_path: pathlib.Path) -> None:
    model = DATA / "digits" / "digits_mlp.pb"
    f = bf.function(lambda x: x)
    cases: list[tuple[Any, type[Exception]]] = [
        (lambda: bf.load(model, level=9), ValueError), (lambda: bf.load(model, threads=0), ValueError),
        (lambda: bf.load(model, precision="f5"), ValueError), (lambda: bf.load(model, shapes="x"), ValueError),
        (lambda: bf.load(model).run({}), ValueError), (lambda: bf.load(model).run({"images": np.array([None])}), TypeError),
        (lambda: f(np.array([None])), TypeError), (lambda: f(1 << 70), OverflowError),
        (lambda: bf.tensor(np.array([None])), TypeError), (lambda: bf.Session(model, shapes="x"), ValueError),
        (lambda: bf.Runtime(level=5), ValueError), (lambda: bf.function(lambda x: x, level=7), ValueError),
        (lambda: bf.load(model).run({"images": np.zeros((1, 64), np.float32)}, timeout=1e300), OverflowError),
        (lambda: bf.timeout(1e300).__enter__(), OverflowError),
    ]
    for call, other in cases:
        with pytest.raises(bf.Error) as caught:
            call()
        assert isinstance(caught.value, other)


# ---- ONNX Runtime's interface ----

def test_more_of_onnxruntime(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = DATA / "digits" / "digits_cnn.onnx"
    options = ort.SessionOptions()
    options.enable_profiling = True
    session = ort.InferenceSession(str(path), options, providers=[("CPUExecutionProvider", {})])
    theirs = pytest.importorskip("onnx").load(path)
    meta = session.get_modelmeta()
    assert meta.producer_name == theirs.producer_name and meta.graph_name == theirs.graph.name
    assert meta.version == theirs.model_version
    for nodes, declared in ((session.get_inputs(), theirs.graph.input), (session.get_outputs(), theirs.graph.output)):
        for node in nodes:
            [port] = [port for port in declared if port.name == node.name]
            dims = port.type.tensor_type.shape.dim
            assert len(node.shape) == len(dims)
            for size, dim in zip(node.shape, dims):
                assert isinstance(size, int) or size == (dim.dim_param or None)
    assert session.get_overridable_initializers() == []
    given = session.get_inputs()[0]
    x = np.random.default_rng(0).random([size if isinstance(size, int) else 2 for size in given.shape], np.float32)
    [want] = session.run(None, {given.name: x})
    binding = session.io_binding()
    binding.bind_input(given.name, "cpu", 0, np.float32, x.shape, x.ctypes.data)
    room = ort.OrtValue.ortvalue_from_shape_and_type(want.shape, np.float32)
    binding.bind_ortvalue_output(session.get_outputs()[0].name, room)
    session.run_with_iobinding(binding)
    assert (room.numpy() == want).all()
    with pytest.raises(ValueError, match="address"):
        binding.bind_input(given.name, "cpu", 0, np.float32, x.shape, 0)
    assert (tmp_path / session.end_profiling()).stat().st_size > 50
    with pytest.raises(ort.InvalidArgument, match=given.name):
        session.run(None, {})
    with pytest.raises((ort.Fail, OSError)):
        ort.InferenceSession(str(tmp_path / "absent.onnx"))
    assert ort.InferenceSession(str(DATA / "digits" / "digits_mlp.pb")).get_modelmeta().producer_name == ""


def test_names_of_onnxruntime_are_in_the_modules_that_define_them(tmp_path: pathlib.Path) -> None:
    from befrost.onnxruntime.capi import onnxruntime_inference_collection as sessions, onnxruntime_pybind11_state as state

    assert ort.capi.onnxruntime_pybind11_state is state
    assert all(getattr(module, name) is getattr(ort, name) for module in (sessions, state) for name in module.__all__)
    with pytest.raises(state.NoSuchFile):
        sessions.InferenceSession(str(tmp_path / "absent.onnx"))


def test_names_and_memory_of_onnxruntime(tmp_path: pathlib.Path) -> None:
    path = str(DATA / "digits" / "digits_cnn.onnx")
    options = ort.SessionOptions()
    options.log_severity_level, options.enable_mem_reuse, options.logid = 3, False, "x"
    options.add_free_dimension_override_by_name("batch", 2)
    session = ort.InferenceSession(path, options)
    [given], output = session.get_inputs(), session.get_outputs()[0].name
    x = np.random.default_rng(0).random([size if isinstance(size, int) else 2 for size in given.shape], np.float32)
    [want] = session.run([output], {given.name: x})
    assert (session.run([output], {given.name: x.tolist()})[0] == want).all()
    # Names that are not there are arguments that are invalid, and keys that are not found.
    for outputs, feeds in (([output + "s"], {given.name: x}), ([output], {given.name: x, "other": x}), ([output], {"other": x})):
        for error in (ort.InvalidArgument, ValueError, KeyError):
            with pytest.raises(error):
                session.run(outputs, feeds)
    with pytest.raises(ort.NoSuchFile):
        ort.InferenceSession(str(tmp_path / "absent.onnx"))
    options.optimized_model_filepath = "made.onnx"
    with pytest.raises(ort.NotImplemented):
        ort.InferenceSession(path, options)
    # Values by their addresses.
    value, room = ort.OrtValue.ortvalue_from_numpy(x), ort.OrtValue.ortvalue_from_shape_and_type(want.shape, 1)
    assert value.element_type() == 1 and not value.is_sparse_tensor() and value.data_type() == "tensor(float)"
    binding = session.io_binding()
    binding.bind_input(given.name, value.device_name(), 0, np.float32, value.shape(), value.data_ptr())
    binding.bind_output(output, "cpu", 0, np.float32, room.shape(), room.data_ptr())
    session.run_with_iobinding(binding)
    assert (room.numpy() == want).all()
    with pytest.raises(ort.InvalidArgument, match="shape"):
        binding.bind_output(output, buffer_ptr=room.data_ptr())
    # Results that come by a call.
    found: queue.Queue[Any] = queue.Queue()
    for feeds in ({given.name: x}, {}):
        session.run_async([output], feeds, lambda *made: found.put(made), "data")
        values, data, error = found.get(timeout=60)
        assert data == "data" and (error == "" and (values[0] == want).all() if feeds else values == [] and given.name in error)


def test_headers_that_are_broken() -> None:
    from befrost._onnx_header import header_of

    data = (DATA / "digits" / "digits_cnn.onnx").read_bytes()
    draw = np.random.default_rng(0)
    for i in range(300):
        broken = bytearray(data[:draw.integers(1, 400)] if i % 2 else data[:4000])
        for at in draw.integers(0, len(broken), 3):
            broken[at] = draw.integers(0, 256)
        header_of(memoryview(bytes(broken)))
