"""Runs, operators and compilations that are ended: by Ctrl-C, time limits, coroutines; and what is lent meanwhile."""

import asyncio
import concurrent.futures
import gc
import os
import pathlib
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
from befrost._progress import Progress

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals of Linux")
ENDLESS = """func.func @main(%x: tensor<i64>) -> tensor<i64> {
  %y = "tf.WhileRegion"(%x) ({
  ^bb0(%i: tensor<i64>):
    %zero = "tf.Const"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %more = "tf.Greater"(%i, %zero) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "tf.Yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>):
    %one = "tf.Const"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %next = "tf.AddV2"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "tf.Yield"(%next) : (tensor<i64>) -> ()
  }) {is_stateless = true} : (tensor<i64>) -> tensor<i64>
  func.return %y : tensor<i64>
}
"""


@bf.function
def endless(n: Any) -> Any:
    i = n
    while i > 0:
        i = i + 1 - 1
    return i


@bf.function
def slow_sum(x: Any, n: Any) -> Any:
    total = 0.0
    for _ in bf.range(n):
        total = total * 0.5 + np.sum(x + total)
    return total


@pytest.fixture
def program(tmp_path: pathlib.Path) -> Any:
    (tmp_path / "endless.mlir").write_text(ENDLESS)
    return tmp_path / "endless.mlir"


def interrupted(call: Any, after: Any = 0.15) -> Any:
    """Sends SIGINT while a call runs. Returns the seconds from the signal to its end."""
    sent = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
            time.sleep(after + 5)
    finally:
        timer.cancel()
        timer.join()
    return time.monotonic() - sent[0]


@LINUX
def test_an_interrupt_ends_runs_of_all_kinds(program: Any) -> None:
    threads = bf.function(endless.__befrost_function__, work_queue="mstd:2")
    model, session = bf.load(program), bf.Session(program)
    [(name, _)] = [(port.name, port.type) for port in session.inputs]
    [output] = [port.name for port in session.outputs]
    one = np.int64(1)
    calls = [lambda: endless(one), lambda: threads(one), lambda: model(one), lambda: session.run(output, {name: one}),
             lambda: bf.load(program, threads=2)(one)]
    for call in calls:
        assert interrupted(call) < 1.0
    assert endless(np.int64(0)) == 0


@LINUX
def test_an_interrupt_ends_an_operator() -> None:
    a = bf.tensor(np.ones((2500, 2500)))
    big: list[Any] = [lambda: bf.tf.MatMul(a, a), lambda: a @ a]
    for operator in big:
        def many() -> None:
            for _ in range(200):
                operator()

        assert interrupted(many) < 1.5


@LINUX
def test_an_interrupt_ends_a_compilation(tmp_path: pathlib.Path) -> None:
    # 20,000 operations take seconds to compile, in which no Python runs.
    lines = ["def many(x):", *("    x = x * 1.0001 + 0.5" for _ in range(6000)), "    return x"]
    (tmp_path / "many.py").write_text("\n".join(lines))
    from loading import module

    function = bf.function(module(tmp_path / "many.py").many)
    graph = function._staged(*function._keys({"x": np.ones(3)})[::2]).graph
    begun = time.monotonic()
    waited = interrupted(lambda: graph.compile(2), 0.05)
    assert waited < 1.0 and time.monotonic() - begun < 5


def test_time_limits_end_operators() -> None:
    a = bf.tensor(np.ones((2000, 2000)))
    for operator in (lambda: bf.tf.MatMul(a, a), lambda: a @ a, lambda: np.add(a, 1)):
        with pytest.raises(TimeoutError):
            with bf.timeout(0.2):
                while True:
                    operator()
    small = bf.tensor([1.0])
    with pytest.raises(bf.DeadlineExceededError):
        with bf.timeout(0.05):
            while True:
                small = small + small
    assert (bf.tensor([1.0]) + 1).tolist() == [2.0]


def test_a_cancelled_coroutine_ends_its_run(program: Any) -> None:
    model, session = bf.load(program), bf.Session(program)
    output, name = session.outputs[0].name, session.inputs[0].name
    one = np.int64(1)
    ended = []

    def noted(call: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                return call(*args, **kwargs)
            finally:
                ended.append(call)
        return run

    async def limited(start: Any) -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(start(), 0.1)

    before = threading.active_count()
    for start in (lambda: model.run_async({name: one}), lambda: session.run_async(output, {name: one}),
                  lambda: endless.run_async(one)):
        # asyncio.run joins its threads: without an end of the run it would not return.
        done = concurrent.futures.ThreadPoolExecutor(1).submit(lambda: asyncio.run(limited(start)))
        done.result(timeout=20)
    assert threading.active_count() <= before + 8
    assert noted(lambda: 1)() == 1 and ended


def test_an_interrupt_under_asyncio_ends_the_run(tmp_path: pathlib.Path) -> None:
    text = """
import asyncio, numpy as np, befrost as bf
@bf.function
def endless(n):
    while n > 0:
        n = n + 1 - 1
    return n
async def main():
    print("begun", flush=True)
    await endless.run_async(np.int64(1))
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted")
"""
    (tmp_path / "waits.py").write_text(text)
    process = subprocess.Popen([sys.executable, str(tmp_path / "waits.py")], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0] == "interrupted\n"


def test_terminate_ends_a_run(program: Any) -> None:
    session, options = ort.InferenceSession(str(program)), ort.RunOptions()
    threading.Timer(0.15, lambda: setattr(options, "terminate", True)).start()
    name = session.get_inputs()[0].name
    with pytest.raises(bf.CancelledError):
        session.run(None, {name: np.int64(1)}, options)
    with pytest.raises(ort.Fail):
        session.run(None, {name: np.int64(0)}, options)
    options.terminate = False
    assert session.run(None, {name: np.int64(0)}, options) == [0]


# ---- what is lent meanwhile ----

def test_a_lent_array_is_not_resized() -> None:
    x = np.ones(1 << 16)
    view = x[:]
    def work(lent: Any) -> None:
        with pytest.raises(TimeoutError), bf.timeout(1.0):
            slow_sum(lent, 1 << 40)

    slow_sum(x, 1)
    for lent in (x, view):
        run = threading.Thread(target=work, args=(lent,))
        run.start()
        time.sleep(0.3)  # it has begun, and goes on
        for _ in range(20):
            with pytest.raises(ValueError, match="resize"):
                x.resize(1, refcheck=False)
        run.join()
    assert len(x) == 1 << 16
    del view
    x.resize(1, refcheck=False)
    assert len(x) == 1


def test_a_lent_array_may_lose_its_name() -> None:
    x = np.ones(1 << 16)
    slow_sum(x, 1)
    made: list[Any] = []
    want = slow_sum(x, 500).item()
    run = threading.Thread(target=lambda x: made.append(slow_sum(x, 500)), args=(x,))
    run.start()
    del x
    gc.collect()
    np.zeros(1 << 16)
    run.join()
    assert made[0] == want


def test_progress_that_raises() -> None:
    def broken(text: Any) -> None:
        raise RuntimeError("no display")

    with pytest.raises(RuntimeError, match="no display"):
        with Progress("waiting", broken):
            time.sleep(1.2)
    with pytest.raises(KeyError):  # the error of the work comes first
        with Progress("waiting", broken):
            time.sleep(1.2)
            raise KeyError("work")


def test_progress_of_sessions_and_functions(monkeypatch: pytest.MonkeyPatch, program: Any) -> None:
    monkeypatch.setattr("befrost._progress.DELAY", 0.0)
    said = []

    def show(text: Any) -> None:
        said.append(text)

    bf.function(slow_sum.__befrost_function__, progress=show)(np.ones(3), 2)
    session = bf.Session(program, progress=show)
    session.run(session.outputs[0].name, {session.inputs[0].name: np.int64(0)})
    for what in ("compiling slow_sum", "opening", "compiling a part"):
        assert any(what in text for text in said), what


def test_progress_in_a_terminal_and_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import types

    monkeypatch.setattr("befrost._progress.DELAY", 0.01)

    class Screen(io.StringIO):
        def isatty(self) -> Any:
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress("waiting"):
        time.sleep(0.1)
    text = screen.getvalue()
    assert "waiting: 0 s" in text and text.endswith("\r") and text.count("\n") == 0

    class ZMQInteractiveShell:
        pass

    shown = []

    class Handle:
        def update(self, text: Any) -> None:
            shown.append(text)

    def display(text: Any, display_id: Any) -> Any:
        shown.append(text)
        return Handle()

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = ZMQInteractiveShell  # type: ignore[attr-defined]
    inner = types.ModuleType("IPython.display")
    inner.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    with Progress("waiting"):
        time.sleep(0.1)
    assert "waiting: 0 s" in shown[0] and shown[-1] == ""
    monkeypatch.setattr(screen, "write", lambda text: 1 / 0)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.delitem(sys.modules, "IPython")
    with Progress("waiting"):  # a broken screen must not stop the work
        time.sleep(0.05)


# ---- files that change ----

def test_a_model_whose_file_changed(tmp_path: pathlib.Path) -> None:
    import pickle
    import shutil

    data = pathlib.Path(__file__).resolve().parents[3] / "testdata" / "digits"
    path = tmp_path / "model.pb"
    shutil.copy(data / "digits_mlp.pb", path)
    images = np.load(data / "test_images.npy")
    model = bf.load(path)
    want = model(images)[0]
    shutil.copy(data / "digits_cnn.pb", path)
    assert (model(images)[0] == want).all()
    for again in (model.session, model.tensors, lambda: model.signatures, lambda: pickle.dumps(model),
                  lambda: model.run({"images": images}, fetches=["logits"])):
        with pytest.raises(bf.FailedPreconditionError, match="changed"):
            again()
    # What was opened before stays.
    shutil.copy(data / "digits_mlp.pb", path)
    model = bf.load(path)
    model.session()
    shutil.copy(data / "digits_cnn.pb", path)
    assert (bf.load(path)(images)[0] != want).any()
