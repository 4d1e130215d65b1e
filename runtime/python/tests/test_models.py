"""Models, sessions, tensors, operators by name."""

import pathlib
import pickle
from typing import Any

import numpy as np
import pytest

import befrost as bf
import befrost.onnxruntime as ort

DATA = pathlib.Path(__file__).resolve().parents[3] / "testdata" / "digits"


def test_a_missing_file(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "absent.onnx")
    for opened in (bf.load, bf.Session, ort.InferenceSession):
        with pytest.raises(FileNotFoundError, match="there is no file") as caught:
            opened(path)
        assert isinstance(caught.value, bf.NotFoundError) and caught.value.filename == path
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    # What is there and cannot be read is another error.
    with pytest.raises(bf.InvalidArgumentError, match="folder without a SavedModel"):
        bf.load(tmp_path)


def test_work_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("s", "mstd", "mstd:2", "mstd:2,4", "seeded:7"):
        assert bf.function(lambda x: x + 1, work_queue=name)(1).item() == 2
    wrong: Any
    for wrong in ("zz", "s:1", "mstd:0", "mstd:x", "mstd:99999", "seeded", "S"):
        with pytest.raises(ValueError, match=f"work_queue is '{wrong}': give 's'"):
            bf.function(lambda x: x, work_queue=wrong)
    wrong = 3
    with pytest.raises(bf.WrongTypeError, match="work_queue is 3"):
        bf.function(lambda x: x, work_queue=wrong)
    monkeypatch.setenv("BEFROST_WORK_QUEUE", "zz")
    for made in (lambda: bf.function(lambda x: x), lambda: bf.load(DATA / "digits_mlp.pb")):
        with pytest.raises(bf.InvalidArgumentError, match="BEFROST_WORK_QUEUE is 'zz'"):
            made()


def test_model() -> None:
    model = bf.load(DATA / "digits_mlp.pb")
    images = np.load(DATA / "test_images.npy")
    made = model.run({"images": images})
    np.testing.assert_allclose(made["logits"], np.load(DATA / "mlp_test_logits.npy"), atol=1e-4)
    assert (model(images)[0] == made["logits"]).all() and (model(images=images)[0] == made[0]).all()
    again = pickle.loads(pickle.dumps(model))
    assert (again(images)[0] == made[0]).all()
    assert "images" in repr(model)
    with pytest.raises(KeyError, match="did you mean 'images'"):
        model.run({"image": images})
    with pytest.raises(bf.InvalidArgumentError, match="'images'"):
        model.run({})
    with pytest.raises(ValueError):
        model.run({"images": images.astype(np.float64)})
    by_position: list[Any] = [images, [images]]
    for feeds in by_position:
        with pytest.raises(TypeError, match="by their names"):
            model.run(feeds)
    with pytest.raises(KeyError, match="logits"):
        made["logit"]
    assert "logits" in made and "logit" not in made and 0 not in made
    with pytest.raises(KeyError, match="there is no input '3'"):
        model.run({3: images})  # type: ignore[dict-item]
    with pytest.raises(bf.Error):
        bf.load(DATA / "absent.pb")


def test_precision() -> None:
    images = np.load(DATA / "test_images.npy")
    exact = bf.load(DATA / "digits_cnn.pb")(images)[0]
    for precision in ("bf16", "int8"):
        made = bf.load(DATA / "digits_cnn.pb", precision=precision)(images)[0]
        assert (made != exact).any() and (made.argmax(1) != exact.argmax(1)).sum() <= 8
        # Other fetches are of the same precision.
        model = bf.load(DATA / "digits_cnn.pb", precision=precision)
        (name,) = [port.name for port in model.outputs]
        np.testing.assert_allclose(model.run({"images": images}, [name])[name], made, atol=1e-5)
    assert (bf.load(DATA / "digits_cnn.pb", precision="f32")(images)[0] == exact).all()
    with pytest.raises(ValueError, match="'int4', not 'f32', 'bf16', 'int8'"):
        bf.load(DATA / "digits_cnn.pb", precision="int4")
    with pytest.raises(bf.InvalidArgumentError, match="packs no weights"):
        bf.load(DATA / "digits_cnn.pb", precision="bf16", level=0)


def test_session() -> None:
    session = bf.Session(DATA / "digits_mlp.pb")
    images = np.load(DATA / "test_images.npy")
    logits = session.run("logits:0", {"images:0": images})
    np.testing.assert_allclose(logits, np.load(DATA / "mlp_test_logits.npy"), atol=1e-4)
    both = session.run(["logits", "images"], {"images": images})
    assert (both["images"] == images).all()
    assert session.stats().compilations == 2
    session.warm("logits", {"images": (5, 64)})
    session.warm("logits", {"images": images[:5]})
    assert session.stats().specializations == 1
    with pytest.raises(bf.InvalidArgumentError, match="64"):
        session.warm("logits", {"images": (5, 63)})
    with pytest.raises(bf.Error):
        session.run("nothing:0", {"images:0": images})


def test_onnxruntime_face() -> None:
    session = ort.InferenceSession(str(DATA / "digits_cnn.onnx"))
    [given] = session.get_inputs()
    assert given.type == "tensor(float)"
    x = np.zeros([size if isinstance(size, int) else 1 for size in given.shape], np.float32)
    [logits] = session.run(None, {given.name: x})
    [again] = session.run([session.get_outputs()[0].name], {given.name: x})
    assert (logits == again).all()


def test_tensor() -> None:
    t = bf.tensor([1.0, 2.0], "float32")
    assert t.dtype == np.float32 and t.shape == (2,) and len(t) == 2
    assert (t + 1.0).dtype == np.float32 and (t @ t).item() == 5.0
    assert isinstance(np.sum(t), bf.Tensor) and np.sum(t).item() == 3.0
    assert [v.item() for v in t] == [1.0, 2.0] and t[1].item() == 2.0
    assert pickle.loads(pickle.dumps(t)).tolist() == [1.0, 2.0]
    assert np.from_dlpack(t).tolist() == [1.0, 2.0]
    assert t.sum().item() == 3.0 and t.T.shape == (2,) and f"{t[0]:.1f}" == "1.0"
    with pytest.raises(ValueError):
        t.numpy()[0] = 3
    with pytest.raises(AttributeError):
        t.absent


def test_operators() -> None:
    made = bf.tf.MatMul(np.ones((2, 3)), np.ones((3, 2)))
    assert made.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    values, indices = bf.tf.TopKV2(np.array([1.0, 3.0, 2.0]), np.int32(2))
    assert values.tolist() == [3.0, 2.0] and indices.tolist() == [1, 2]
    assert bf.tf.Cast(np.int32(3), DstT=np.float32).dtype == np.float32
    with pytest.raises(AttributeError, match="MatMul"):
        bf.tf.MatMull  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="differ|incompatible"):
        bf.tf.MatMul(np.ones((2, 3)), np.ones((2, 2)))


def test_operators_in_a_function() -> None:
    @bf.function
    def f(x: Any) -> Any:
        return bf.tf.Softmax(x * 2)

    made = f(np.zeros((1, 2), np.float32))
    assert made.tolist() == [[0.5, 0.5]]
