"""Sessions: sizes of their own, the cache on disk, kernel libraries."""

import json
import pathlib
import pickle
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

import befrost as bf

ROOT = pathlib.Path(__file__).resolve().parents[3]
GRAPH = ROOT / "testdata" / "digits" / "digits_mlp.pb"


def images(n: Any) -> Any:
    return (np.arange(n * 64, dtype=np.float32) % 17 / 16).reshape(n, 64)


def test_sizes_of_their_own() -> None:
    declared, exact = (bf.Session(GRAPH, threads=1, shapes=shapes) for shapes in ("declared", "exact"))
    auto = bf.Session(GRAPH, threads=1)
    for n in (1, 2, 1, 1, 2, 3):
        want = declared.run("logits", {"images": images(n)})
        for session in (exact, auto):
            np.testing.assert_allclose(session.run("logits", {"images": images(n)}), want, rtol=1e-4, atol=1e-4)
    assert declared.stats().specializations == 0
    assert exact.stats().specializations == 3
    assert auto.stats().specializations == 1
    with pytest.raises(ValueError, match="shapes"):
        bf.Session(GRAPH, shapes="all")


def test_the_cache_on_disk(tmp_path: pathlib.Path) -> None:
    first = bf.Session(GRAPH, threads=1, cache_dir=tmp_path / "cache")
    want = first.run("logits", {"images": images(2)})
    second = bf.Session(GRAPH, threads=1, cache_dir=tmp_path / "cache")
    assert (second.run("logits", {"images": images(2)}) == want).all()
    assert (first.stats().compilations, first.stats().from_cache) == (1, 0)
    assert (second.stats().compilations, second.stats().from_cache) == (0, 1)
    n_files = len(list((tmp_path / "cache").iterdir()))
    models = [bf.load(GRAPH, cache_dir=tmp_path / "cache") for _ in range(2)]
    assert len(list((tmp_path / "cache").iterdir())) == n_files + 1
    assert (models[0](images(2))[0] == models[1](images(2))[0]).all()


def test_runs_are_traced(tmp_path: pathlib.Path) -> None:
    session = bf.Session(GRAPH, threads=1)
    want = session.run("logits", {"images": images(2)})
    assert (session.run("logits", {"images": images(2)}, trace=tmp_path / "trace.json") == want).all()
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert any("MatMul" in event["name"] and "f32[2x64]" in event["args"]["operands"] for event in events)
    with pytest.raises(OSError):
        session.run("logits", {"images": images(2)}, trace=tmp_path / "none" / "trace.json")
    # The failure of the run is what is said.
    with pytest.raises(bf.Error, match="nowhere"):
        session.run("nowhere", {"images": images(2)}, trace=tmp_path / "none" / "trace.json")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The sample of testdata/library, compiled."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    made = tmp_path_factory.mktemp("library") / "sample.so"
    subprocess.run([compiler, "-std=c11", "-O1", "-fPIC", "-shared", "-pthread", "-I", ROOT / "runtime/c/include",
                    ROOT / "testdata/library/sample.c", "-o", made, "-lm"], check=True)
    return made


def test_models_use_kernel_libraries(library: Any) -> None:
    model = bf.load(ROOT / "testdata/library/norm.onnx", libraries=[library])
    x, scale = np.array([[3, 4], [0, 2]], np.float32), np.array([1, 10], np.float32)
    want = x / np.sqrt((x * x).sum(1, keepdims=True)) * scale
    for one in (model, pickle.loads(pickle.dumps(model))):
        np.testing.assert_allclose(one(x, scale)[0], want, rtol=1e-4)
    session = bf.Session(ROOT / "testdata/library/norm.onnx", libraries=[library])
    name = model.outputs[0].name
    np.testing.assert_allclose(session.run(name, {"x": x, "scale": scale}), want, rtol=1e-4)


def test_what_is_no_library_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(bf.Error, match="nowhere"):
        bf.load(GRAPH, libraries=[tmp_path / "nowhere.so"])
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(bf.Error, match="text.so"):
        bf.Session(GRAPH, libraries=[tmp_path / "text.so"])


def test_sessions_of_saved_models_and_programs(tmp_path: pathlib.Path) -> None:
    case = ROOT / "testdata" / "saved_models" / "two_signatures"
    session = bf.Session(case / "model", signature="affine")
    assert [port.name for port in session.inputs] == ["x"]
    assert {port.name for port in session.outputs} == {"sum", "y"}
    assert set(session.signatures) == {"affine", "add", "set_bias"}
    x = np.load(case / "i0_x.npy")
    np.testing.assert_allclose(session.run("y", {"x": x}), np.load(case / "o0_y.npy"), rtol=1e-5, atol=1e-6)
    added = bf.Session(case / "model", signature="add", variables=session.variables)
    np.testing.assert_array_equal(added.run("n", {"k": np.load(case / "i1_k.npy")}), np.load(case / "o1_n.npy"))
    with pytest.raises(KeyError, match="there is no signature 'sub'; there are: "):
        bf.Session(case / "model", signature="sub")
    # The names of the graph's own tensors stay names.
    model = bf.load(case / "model", signature="affine")
    names = [port.name for port in model.tensors()]
    assert len(names) > 3
    got = model.run({"x": x}, fetches=["y"])
    np.testing.assert_array_equal(got["y"], model.run({"x": x})["y"])
    # A program is run as a whole; its file says what it is.
    bf.load(GRAPH).save(tmp_path / "program")
    program = bf.Session(tmp_path / "program")
    want = bf.Session(GRAPH).run("logits", {"images": images(2)})
    np.testing.assert_allclose(program.run(program.outputs[0].name, {"images": images(2)}), want, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="'images' .* is not fed"):
        program.run(program.outputs[0].name)


def test_models_in_bytes_have_tensors() -> None:
    model = bf.load(GRAPH.read_bytes())
    assert {"images", "logits"} <= {port.name for port in model.tensors()}
    hidden = next(port.name for port in model.tensors() if port.shape == (None, 32))
    assert model.run({"images": images(3)}, fetches=[hidden])[0].shape == (3, 32)


def test_sessions_are_saved_with_the_values_of_their_variables(tmp_path: pathlib.Path) -> None:
    path = ROOT / "testdata" / "saved_models" / "two_signatures" / "model"
    x = np.load(path.parent / "i0_x.npy")
    model = bf.load(path, signature="affine")
    session = bf.Session(path, signature="affine", variables=model.variables)
    for name, value in model.variables.snapshot().items():
        if np.asarray(value).dtype == np.float32:
            model.variables[name] = np.asarray(value) * 2
    want = model.run({"x": x})
    for name, save in ("model", model.save), ("session", session.save):
        file = tmp_path / f"{name}.bef"
        save(file)
        again = bf.load(file)
        assert len(again.variables) == 0 and [port.name for port in again.inputs] == ["x"]
        for port in again.outputs:
            np.testing.assert_allclose(again.run({"x": x})[port.name], want[port.name], rtol=1e-5)
    with pytest.raises(bf.Error, match="the variables cannot be frozen"):
        bf.Session(path, signature="set_bias").save(tmp_path / "none.bef")


def test_parts_of_graphs_are_saved(tmp_path: pathlib.Path) -> None:
    session = bf.Session(GRAPH, threads=1)
    session.save(tmp_path / "all.bef")
    inner = next(port.name for port in session.tensors() if port.name not in ("images", "logits") and port.shape == (None, 10))
    session.save(tmp_path / "part.bef", inner, ["images"])
    want = session.run([inner, "logits"], {"images": images(2)})
    np.testing.assert_allclose(bf.load(tmp_path / "all.bef")(images(2))[0], want["logits"], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(bf.load(tmp_path / "part.bef")(images(2))[0], want[inner], rtol=1e-4, atol=1e-4)
    with pytest.raises(KeyError, match="did you mean 'logits'"):
        session.save(tmp_path / "none.bef", "logit")
    with pytest.raises(bf.Error, match="nothing to save"):
        session.save(tmp_path / "none.bef", feeds=["images"])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["all.bef", "part.bef"]


def test_pickled_session() -> None:
    session = bf.Session(GRAPH, level=1, threads=1, shapes="exact")
    again = pickle.loads(pickle.dumps(session))
    np.testing.assert_array_equal(again.run("logits", {"images": images(3)}), session.run("logits", {"images": images(3)}))
    assert again.stats().specializations == 1 and again.inputs[0].name == session.inputs[0].name
    # The values of variables go with it, as they are now.
    trained = bf.Session(ROOT / "testdata" / "training" / "cnn_digits_adam" / "graph.pb", init="init")
    trained.run(targets=["init"])
    again = pickle.loads(pickle.dumps(trained))
    name = trained.variables.names()[0]
    before: Any = np.array(trained.variables[name])
    assert len(trained.variables) == len(again.variables) and np.array_equal(again.variables[name], before)
    again.variables[name] = before + 1
    assert np.array_equal(trained.variables[name], before)
