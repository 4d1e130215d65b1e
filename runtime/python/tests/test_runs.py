"""What happens around runs: Ctrl-C, time limits, forks, printing, threads, asyncio, traces, variables."""

import asyncio
import copy
import functools
import io
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import befrost as bf
import befrost.onnxruntime as ort

DATA = pathlib.Path(__file__).resolve().parents[3] / "testdata" / "digits"


def plainly(x: Any, n: int) -> Any:
    return x * n


@bf.function
def squared(x: Any) -> Any:
    return x * x


@bf.function
def endless(n: Any) -> Any:
    i = n
    while i > 0:
        i = i + 1 - 1
    return i


@bf.function
def printing(x: Any) -> Any:
    print("x is", x)
    return x + 1


@pytest.fixture(scope="module")
def images() -> Any:
    return np.load(DATA / "test_images.npy")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals of Linux")
def test_an_interrupt_ends_a_run() -> None:
    for _ in range(2):
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            endless(np.int64(1))
    assert endless(np.int64(0)) == 0


def test_time_limits(images: Any) -> None:
    with pytest.raises(TimeoutError):
        with bf.timeout(0.05):
            endless(np.int64(1))
    with pytest.raises(bf.DeadlineExceededError):
        with bf.timeout(100), bf.timeout(0.05):
            endless(np.int64(1))
    with bf.timeout(100):
        assert endless(np.int64(0)) == 0
    limited = bf.function(endless, timeout=0.05)
    with pytest.raises(TimeoutError):
        limited(np.int64(1))
    model = bf.load(DATA / "digits_mlp.pb")
    with pytest.raises(TimeoutError):
        model.run({"images": images}, timeout=0.0)
    assert model.run({"images": images}, timeout=100.0)[0].shape == (360, 10)


def test_printing(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    assert printing(np.int64(3)) == 4 and out.getvalue() == "x is 3\n"

    class Broken:
        def write(self, text: Any) -> None:
            raise RuntimeError("no paper")

    monkeypatch.setattr(sys, "stdout", Broken())
    with pytest.raises(RuntimeError, match="no paper"):
        printing(np.int64(3))
    monkeypatch.setattr(sys, "stdout", None)
    assert printing(np.int64(3)) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_runs_too(images: Any) -> None:
    model = bf.load(DATA / "digits_mlp.pb", threads=2)
    session = bf.Session(DATA / "digits_mlp.pb", threads=2)
    want = model(images)[0]
    session.run("logits", {"images": images})
    endless(np.int64(0))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            right = (model(images)[0] == want).all()
            right &= (session.run("logits", {"images": images}) == want).all()
            right &= (bf.tensor([1.0, 2.0]) + 1).tolist() == [2.0, 3.0]
            try:
                with bf.timeout(0.05):
                    endless(np.int64(1))
            except TimeoutError:
                code = 0 if right else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert (model(images)[0] == want).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forks_while_interrupts_are_served(tmp_path: pathlib.Path) -> None:
    # A signal wakes a thread, which takes the lock of the runs: no child may inherit it locked.
    program = """
import os, signal, threading, time
import numpy as np, befrost as bf
signal.signal(signal.SIGINT, lambda *given: None)
done = bf.function(lambda n: n + 1)
assert done(np.int64(1)) == 2
over = threading.Event()
def disturb():
    while not over.is_set():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.0002)
threading.Thread(target=disturb, daemon=True).start()
for i in range(60):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        code = 1
        try:
            code = 0 if done(np.int64(i)) == i + 1 else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0, i
over.set()
"""
    (tmp_path / "forks.py").write_text(program)
    command = [sys.executable, "-W", "ignore", str(tmp_path / "forks.py")]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr


def test_functions_travel_by_name() -> None:
    assert pickle.loads(pickle.dumps(endless)) is endless and copy.copy(endless) is endless
    doubled = bf.function(plainly, level=0, static=["n"])
    again = pickle.loads(pickle.dumps(doubled))
    assert again is not doubled and again(3.0, 2) == 6 and copy.deepcopy(doubled) is doubled
    assert pickle.loads(pickle.dumps(bf.grad(squared)))(3.0) == 6
    with pytest.raises(Exception, match="lambda"):
        pickle.dumps(bf.function(lambda x: x))


def test_asyncio(images: Any) -> None:
    model = bf.load(DATA / "digits_mlp.pb")

    async def both() -> Any:
        return await asyncio.gather(model.run_async({"images": images}), model.run_async({"images": images}),
                                    endless.run_async(np.int64(0)))

    first, second, third = asyncio.run(both())
    assert (first[0] == second[0]).all() and third == 0


def test_models_of_all_kinds(images: Any, tmp_path: pathlib.Path) -> None:
    data = (DATA / "digits_mlp.pb").read_bytes()
    want = bf.load(DATA / "digits_mlp.pb")(images)[0]
    of_bytes, of_file = bf.load(data), bf.load(io.BytesIO(data))
    for model in (of_bytes, of_file, pickle.loads(pickle.dumps(of_bytes))):
        assert (model(images)[0] == want).all()
    assert (bf.load((DATA / "digits_cnn.onnx").read_bytes()).inputs[0].name
            == bf.load(DATA / "digits_cnn.onnx").inputs[0].name)
    of_bytes.save(tmp_path / "m.bef")
    assert (bf.load(tmp_path / "m.bef")(images)[0] == want).all()
    assert (bf.load((tmp_path / "m.bef").read_bytes())(images)[0] == want).all()
    with pytest.raises(ValueError, match="is neither MLIR text"):
        bf.load(b"nothing like it")
    with pytest.raises(bf.Error):
        bf.load(data[:100])
    with pytest.raises(ValueError, match="level"):
        bf.load(data, level=7)
    with pytest.raises(ValueError, match="shapes"):
        bf.load(data, shapes="all")
    port = of_bytes.inputs[0]
    assert port.dtype == "float32" and port.shape is not None and port.shape[-1] == 64
    assert of_bytes.run({"images": images}, ["logits"])["logits"].shape == (360, 10)
    assert of_bytes.stats().runs >= 2 and "main" in of_bytes.signatures or of_bytes.signatures
    assert "images" in of_bytes._repr_html_()
    of_bytes.warm()
    with pytest.raises(ValueError, match="output"):
        of_bytes.run({"images": images}, output="list")


def test_an_onnxruntime_program(images: Any) -> None:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession((DATA / "digits_cnn.onnx").read_bytes(), options, ["CPUExecutionProvider"])
    name, output = session.get_inputs()[0].name, session.get_outputs()[0].name
    x = np.zeros([1 if not isinstance(size, int) else size for size in session.get_inputs()[0].shape], np.float32)
    [want] = session.run(None, {name: x}, ort.RunOptions())
    binding = session.io_binding()
    binding.bind_cpu_input(name, x)
    binding.bind_output(output)
    session.run_with_iobinding(binding)
    assert (binding.copy_outputs_to_cpu()[0] == want).all()
    target = np.empty_like(want)
    binding.bind_ortvalue_output(output, ort.OrtValue(target))
    session.run_with_iobinding(binding)
    assert (target == want).all() and binding.get_outputs()[0].numpy() is target
    with pytest.raises(KeyError, match="did you mean"):
        binding.bind_cpu_input(name + "s", x)
    ended = ort.RunOptions()
    ended.terminate = True
    with pytest.raises(bf.CancelledError):
        session.run(None, {name: x}, ended)


def test_variables() -> None:
    count, weights = bf.Variable(0), bf.Variable(np.ones(3, np.float32), name="w")

    @bf.function
    def step(x: Any) -> Any:
        count.assign_add(1)
        weights.assign_sub(0.5 * x)
        return weights * 2, count

    for i in range(1, 4):
        doubled, n = step(np.ones(3, np.float32))
        assert n == i and np.allclose(doubled, 2 - i) and doubled.dtype == np.float32
    count.assign(10)
    assert step(np.zeros(3, np.float32))[1] == 11 and int(count) == 11
    assert (weights + 1).dtype == np.float32 and np.allclose(np.asarray(weights), -0.5)

    class Layer:
        def __init__(self) -> None:
            self.w = bf.Variable(np.eye(2))

        def __call__(self, x: Any) -> Any:
            return x @ self.w

    layer = Layer()
    f = bf.function(layer.__call__)
    assert f(np.ones(2)).tolist() == [1, 1]
    layer.w.assign(np.zeros((2, 2)))
    assert f(np.ones(2)).tolist() == [0, 0]

    @bf.function
    def at_most(limit: Any) -> Any:
        while count < limit:
            count.assign_add(2)
        return count

    assert at_most(np.int64(20)) == 21

    @bf.function
    def wrong(x: Any) -> None:
        weights.assign(x)

    with pytest.raises(SyntaxError, match="dtype"):
        wrong(np.ones(3))
    with pytest.raises(SyntaxError, match="shape"):
        wrong(np.ones(4, np.float32))
    with pytest.raises(ValueError, match="shape"):
        weights.assign(np.ones(4, np.float32))
    assert pickle.loads(pickle.dumps(count)).value == count.value


def test_a_trace(tmp_path: pathlib.Path) -> None:
    f = bf.function(lambda x: x + 1)
    with bf.trace(tmp_path / "t.json"):
        f(np.ones(3))
        f(np.ones(3))
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert len(events) == 2 and events[0]["ph"] == "X" and "lambda" in events[0]["name"]
    code = "import befrost as bf; bf.load(%r)" % str(DATA / "digits_mlp.pb")
    env = {**os.environ, "BEFROST_TRACE": str(tmp_path / "all.json")}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    assert json.loads((tmp_path / "all.json").read_text())["traceEvents"] == []


def test_pictures() -> None:
    f = bf.function(lambda x: np.sum(x * 2))
    f(np.ones(3))
    text = f._repr_html_()
    assert "<svg" in text and "float64[3]" in text and "Mul" in text
    assert "<table>" in bf.tensor(np.ones((20, 20)))._repr_html_() and "…" in bf.tensor(np.ones(50))._repr_html_()


def test_the_command_line(tmp_path: pathlib.Path, images: Any) -> None:
    np.save(tmp_path / "x.npy", images)

    def run(*args: Any) -> Any:
        return subprocess.run([sys.executable, "-m", "befrost", *args], capture_output=True, text=True)

    model = str(DATA / "digits_mlp.pb")
    assert "input images" in run("show", model).stdout
    made = run("run", model, "--input", f"images={tmp_path}/x.npy", "--output", str(tmp_path))
    assert made.returncode == 0, made.stderr
    assert np.load(tmp_path / "logits.npy").shape == (360, 10)
    assert run("compile", model, "-o", str(tmp_path / "m.bef")).returncode == 0
    assert "input images" in run("show", str(tmp_path / "m.bef")).stdout
    assert run("explain", "P0107").stdout.startswith("P0107")
    wrong = run("explain", "P0199")
    assert wrong.returncode == 1 and "no code" in wrong.stderr
    assert run("show", "absent.pb").returncode == 1


def test_explanations() -> None:
    @bf.function
    def two_types(x: Any) -> Any:
        y: Any
        if x > 0:
            y = np.float32(1)
        else:
            y = np.int64(1)
        return y

    with pytest.raises(SyntaxError) as caught:
        two_types(np.float64(1))
    assert isinstance(caught.value, bf.CompileError)
    assert caught.value.code.startswith("P01") and bf.explain(caught.value.code)
    assert "time limit" in bf.explain("DeadlineExceeded")
    with pytest.raises(KeyError, match="did you mean P01"):
        bf.explain("P0191")
    for code in ("E0899", "E1201", "E08", "E03011"):
        with pytest.raises(KeyError, match="no code"):
            bf.explain(code)


def test_explanations_of_the_compiler(tmp_path: pathlib.Path) -> None:
    with pytest.raises(bf.Error, match="did you mean 'logits'") as caught:
        bf.Session(DATA / "digits_mlp.pb").save(tmp_path / "none.bef", "logit")
    found = re.search(r"E\d{4}", str(caught.value))
    assert found and "nearest" in bf.explain(found[0])
    # All codes that the compiler's sources have, but those that only its tests have.
    folder = pathlib.Path(__file__).resolve().parents[3] / "compiler" / "src"
    sources = [path.read_text() for path in folder.rglob("*.rs") if "tests" not in path.parts and path.stem != "tests"]
    codes = {code for text in sources for code in re.findall(r'"(E\d{4})"', text)}
    assert len(codes) > 150
    for code in sorted(codes):
        assert bf.explain(code).startswith(f"{code}: ")


def test_a_runtime(images: Any) -> None:
    runtime = bf.Runtime(level=1, threads=1, max_memory=1 << 28)
    assert runtime.load(DATA / "digits_mlp.pb")(images)[0].shape == (360, 10)
    assert runtime.session(DATA / "digits_mlp.pb").run("logits", {"images": images}).shape == (360, 10)
    small = bf.Runtime(threads=1, max_memory=1 << 12)
    with pytest.raises(MemoryError):
        small.function(lambda n: np.ones(100000) * n)(np.float64(2))
    with pytest.raises(ValueError):
        bf.Runtime(threads=0)


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    from befrost._progress import Progress

    said: list[str] = []
    with Progress("waiting", said.append):
        time.sleep(1.4)
    assert said and "waiting" in said[0]
    with Progress("quick", said.append):
        pass
    with Progress("nothing", False):
        pass


def test_many_versions_and_calls() -> None:
    f = bf.function(lambda x: x + 1)
    for i in range(1, 100):
        assert (np.asarray(f(np.ones(i))) == 2).all()
        assert f(i) == i + 1 and f(True) == 2 and f(float(i)) == i + 1.0
        assert f(np.float32(i)).dtype == np.float32
    assert f.stats().compilations <= 8 and f.stats().calls == 99 * 5
    with pytest.raises(OverflowError):
        f(1 << 70)


def test_printing_that_runs_functions_and_sessions(monkeypatch: pytest.MonkeyPatch, images: Any) -> None:
    """What is written may call what runs: the same function, a session."""
    session = bf.Session(DATA / "digits_mlp.pb", threads=1)
    begun: list[str] = []
    made: list[Any] = []

    class Calling:
        def write(self, text: str) -> None:
            if len(begun) < 3:
                begun.append(text)
                made.append((printing(np.int64(len(begun))).item(), session.run("logits", {"images": images[:1]}).shape))

    printing(np.int64(0))
    monkeypatch.setattr(sys, "stdout", Calling())
    assert printing(np.int64(3)) == 4
    assert made == [(4, (1, 10)), (3, (1, 10)), (2, (1, 10))]


def test_static_values_are_compared_by_value() -> None:
    @bf.function(static=["given"])
    def scaled(x: Any, given: Any) -> Any:
        return x * given["factors"][0] + given["array"]

    given: Any = {"factors": [2.0], "array": np.ones(2)}
    assert scaled(3.0, given).tolist() == [7.0, 7.0]
    given["factors"][0], again = 3.0, {"factors": [3.0], "array": np.ones(2)}
    assert scaled(3.0, given).tolist() == scaled(3.0, again).tolist() == [10.0, 10.0]
    given["array"][0] = 2
    assert scaled(3.0, given).tolist() == [11.0, 10.0] and scaled.stats().compilations == 3
    signed = bf.function(lambda x, z: np.copysign(x, z), static=["z"])
    assert signed(2.0, 0.0) == 2 and signed(2.0, -0.0) == -2


class PlainTuple(tuple):  # type: ignore[type-arg]
    pass


def test_tuples_of_other_classes_are_refused() -> None:
    with pytest.raises(TypeError, match="PlainTuple"):
        bf.function(lambda t: t[0])(PlainTuple((1.0, 2.0)))


class Methods:
    k = 3

    @bf.function
    def scaled(self, x: Any) -> Any:
        return x * self.k


def tenfold(f: Any) -> Any:
    @functools.wraps(f)
    def run(*args: Any) -> Any:
        return f(*args) * 10
    return run


def test_methods_and_decorated_functions() -> None:
    made = Methods()
    assert made.scaled(2) == 6 and bf.function(made.scaled, level=0)(2) == 6

    @bf.function
    @tenfold
    def following(x: Any) -> Any:
        return x + 1

    assert following(1) == 20


def test_options_and_arguments_that_are_wrong() -> None:
    with pytest.raises(KeyError, match="did you mean 'axis'"):
        bf.function(lambda x, axis: x, static=["axes"])
    wrong: list[dict[str, Any]] = [{"unroll": -1}, {"unroll": "a"}, {"max_memory": -1}]
    for options in wrong:
        with pytest.raises(bf.InvalidArgumentError, match=next(iter(options))):
            bf.function(lambda x: x, **options)
    for array in (np.ma.masked_array([1, 2], [False, True]), np.matrix([[1, 2]])):
        with pytest.raises(TypeError, match="operators of its own"):
            bf.function(lambda x: x * x)(array)
