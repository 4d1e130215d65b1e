"""Memory that goes in and out: nothing is copied, and nothing that was lent is seen afterwards."""

import ctypes
import gc
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import befrost as bf


@bf.function
def negated(x: Any) -> Any:
    return -x


@bf.function
def same(x: Any) -> Any:
    return x


@bf.function
def views(x: Any) -> Any:
    return x.reshape(-1), x[1:], x.T


def test_results_are_handed_out() -> None:
    x = np.arange(1 << 16, dtype=np.float32)
    t = negated(x)
    a, b = t.numpy(), t.numpy()
    assert np.shares_memory(a, b) and not a.flags.writeable and not a.flags.owndata
    model = bf.load(saved(negated, bf.spec((None,), "f4")))
    made = model(x)[0]
    assert made.flags.writeable and made.flags.c_contiguous and not made.flags.owndata
    made[0] = 5
    assert model(x)[0][0] == 0
    del t, model
    gc.collect()
    assert (a[1:] == -x[1:]).all() and made[1] == -1


def saved(function: Any, *types: Any) -> Any:
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".bef") as file:
        function.save(file.name, *types)
        with open(file.name, "rb") as made:
            return made.read()


@pytest.mark.parametrize("n", [1, 3, 5000])
def test_what_was_lent_is_not_seen_afterwards(n: Any) -> None:
    x = np.full(n, 7.0)
    for _ in range(3):
        kept = same(x)
        parts = views(x.reshape(1, n))
        x[:] = 8
        assert (np.asarray(kept) == 7).all()
        assert all((np.asarray(part) == 7).all() for part in parts)
        x[:] = 7


def test_a_variable_keeps_a_copy() -> None:
    v = bf.Variable(np.zeros(2000))

    @bf.function
    def keep(x: Any) -> Any:
        v.assign(x)
        return x

    x = np.full(2000, 3.0)
    for value in (3.0, 4.0):
        x[:] = value
        keep(x)
        x[:] = -1
        assert (v.numpy() == value).all()


def test_lists_keep_copies() -> None:
    @bf.function
    def collect(x: Any, n: Any) -> Any:
        rows = []
        for i in bf.range(n):
            rows.append(x)
        return rows

    x = np.full(500, 2.0)
    made = collect(x, 3)
    x[:] = 0
    assert len(made) == 3 and all((np.asarray(row) == 2).all() for row in made)


def test_arrays_of_all_kinds() -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    read_only = base.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + base.tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 6)
    for x in (base, base[::2, ::-1], base.T, np.asfortranarray(base), base.astype(">f4"), read_only, unaligned,
              base[:0], base[0, 0], np.ma.masked_array(base).data):
        assert np.array_equal(np.asarray(negated(x)), -x)
    with pytest.raises(TypeError, match="object"):
        negated(np.array([object()]))
    with pytest.raises(TypeError):
        negated(np.array(["text"]))


def test_threads_share_arrays() -> None:
    x = np.random.default_rng(0).random(20000)
    wrong = []

    def work() -> None:
        for _ in range(50):
            if not np.array_equal(np.asarray(negated(x)), -x):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_buffer_protocol() -> None:
    for dtype in ("bool", "int8", "uint16", "int64", "float16", "float32", "complex128"):
        t = bf.tensor(np.arange(6).reshape(2, 3).astype(dtype))
        view = memoryview(t)
        assert view.readonly and view.shape == (2, 3) and view.c_contiguous
        assert np.array_equal(np.asarray(view), t.numpy()) and np.asarray(view).dtype == t.dtype
    assert bytes(bf.tensor([1, 2], "uint8")) == b"\1\2"
    view = memoryview(bf.tensor(np.ones(100000)))
    gc.collect()
    assert view[99999] == 1.0
    with pytest.raises(TypeError, match="not writable"):
        (ctypes.c_char * 8).from_buffer(bf.tensor([1.0]))


def test_dlpack_out() -> None:
    t = bf.tensor(np.arange(6, dtype=np.int16).reshape(2, 3))
    shared = np.from_dlpack(t)
    assert np.shares_memory(shared, t.numpy()) and not shared.flags.writeable
    assert shared.tolist() == [[0, 1, 2], [3, 4, 5]]
    old = t.__dlpack__()  # a consumer of version 0: it cannot know that it must not write
    assert "dltensor" in repr(old) and "versioned" not in repr(old)
    again = bf.from_dlpack(old)
    assert again.tolist() == t.tolist() and not np.shares_memory(again.numpy(), t.numpy())
    assert t.__dlpack_device__() == (1, 0)
    del t
    gc.collect()
    assert shared[1, 2] == 5
    t = bf.tensor([1.0])
    with pytest.raises(BufferError):
        t.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        t.__dlpack__(copy=False)
    del old
    t.__dlpack__()
    t.__dlpack__(max_version=(1, 0))  # capsules that nobody uses
    gc.collect()


def test_dlpack_in() -> None:
    x = np.arange(6.0).reshape(2, 3)
    t = bf.from_dlpack(x)
    assert np.shares_memory(t.numpy(), x) and t.tolist() == x.tolist()
    for strided in (x.T, x[:, ::2], x[::-1], x[:0], x[0, 0:1]):
        assert np.array_equal(bf.from_dlpack(strided).numpy(), strided)
    assert not np.shares_memory(bf.from_dlpack(x, copy=True).numpy(), x)
    with pytest.raises(BufferError, match="copied"):
        bf.from_dlpack(x.T, copy=False)
    for capsule in (x.__dlpack__(), x.__dlpack__(max_version=(1, 0))):
        assert bf.from_dlpack(capsule).tolist() == x.tolist()
        with pytest.raises(bf.InvalidArgumentError, match="used already"):
            bf.from_dlpack(capsule)
    with pytest.raises(TypeError):
        bf.from_dlpack(3)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    other = new(1, b"something else", None)
    with pytest.raises(bf.InvalidArgumentError, match="no DLPack"):
        bf.from_dlpack(other)
    del x
    gc.collect()
    assert t[1, 2].item() == 5
    w = bf.Variable(np.zeros((2, 3)))
    source = np.ones((2, 3))
    w.assign(bf.from_dlpack(source))
    same(bf.from_dlpack(source))
    source[:] = 9
    assert (w.numpy() == 1).all()


def test_tensors_are_immutable_and_travel() -> None:
    t = bf.tensor([[1.0, 2.0]])
    with pytest.raises(TypeError):
        t[0] = 1
    with pytest.raises(ValueError):
        t.numpy()[0, 0] = 1
    with pytest.raises(ValueError):
        t.numpy().flags.writeable = True
    with pytest.raises(TypeError):
        hash(t)
    assert np.array_equal(pickle.loads(pickle.dumps(t)), t)


def test_bfloat16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    t = bf.tensor(np.array([1.5, 2.5], ml_dtypes.bfloat16))
    assert t.dtype == ml_dtypes.bfloat16 and (t + t).tolist() == [3.0, 5.0]
    assert t.numpy().dtype == ml_dtypes.bfloat16
