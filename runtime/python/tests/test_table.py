"""The whole table of operators from Python: each is called on Tensors, and in a compiled function, with the same results."""

import os
from typing import Any

import numpy as np
import pytest

import befrost as bf
from loading import module

# Their answers differ each time, or they wait for others.
CHANGING = ("Random", "random", "Stateful", "Multinomial", "Barrier", "Queue", "Recv", "Send", "Collective", "TensorArray", "Stage",
            "Timestamp", "Truncated", "Shuffle", "Generator", "Unique", "Var", "Stack", "Table", "Iterator", "Dataset", "Rng", "Gamma",
            "Poisson", "CandidateSampler", "DropOut", "Dropout")
# The types of their results are declared, not inferred: a compiled function refuses them.
REFUSED = {"PlaceholderWithDefault", "Print", "RefIdentity"}
VALUES: dict[str, Any] = {"int": 1, "float": 0.5, "bool": True, "string": "", "type": np.float32, "shape": [2, 2],
                          "list(int)": [1, 1, 1, 1], "list(float)": [0.5], "list(type)": [np.float32], "list(shape)": [[2, 2]],
                          "list(bool)": [True], "list(string)": []}


def attributes(operator: Any) -> dict[str, Any]:
    """Values for the attributes that have no default."""
    return {name: VALUES.get(kind) for name, kind, default in operator.signature.attributes
            if default is None and VALUES.get(kind) is not None}


@pytest.mark.parametrize("operand", [np.array([[0.5, 0.25], [1.5, 2.0]], np.float32), np.array([[1, 0], [1, 1]], np.int32)],
                         ids=["floats", "integers"])
def test_every_operator(operand: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [name for name in dir(bf.tf) if not any(word in name for word in CHANGING)]
    results = {}
    for name in names:
        operator = getattr(bf.tf, name)
        operands: list[Any] = [[operand] if is_list and len(operator._lists) > 1 else operand
                               for _, is_list, _ in operator.signature.inputs]
        try:
            with bf.timeout(5.0):
                results[name] = operator(*operands, **attributes(operator))
        except (bf.Error, TypeError, ValueError):
            pass  # refused, by a documented class
    assert len(results) > 60, len(results)
    lines = ["import befrost as bf"]
    known = [name for name, made in results.items()
             if isinstance(made, bf.Tensor) and len(getattr(bf.tf, name)._lists) < 2 and len(getattr(bf.tf, name).signature.inputs)]
    for name in known:
        operator = getattr(bf.tf, name)
        n = len(operator.signature.inputs)
        given = "".join(f", {key}={'bf.float32' if value is np.float32 else '[bf.float32]' if value == [np.float32] else repr(value)}"
                        for key, value in attributes(operator).items())
        lines += [f"def f_{name}(x):", f"    return bf.tf.{name}({', '.join(['x'] * n)}{given})"]
    (tmp_path / "table.py").write_text("\n".join(lines) + "\n")
    functions = module(tmp_path / "table.py")
    wrong = []
    for name in known:
        want = results[name]
        try:
            got = bf.function(getattr(functions, f"f_{name}"), level=0)(operand)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5)
        except bf.CompileError as error:
            if name not in REFUSED:
                wrong.append(f"{name}: {error}"[:300])
        except Exception as error:
            wrong.append(f"{name}: {error!r}"[:300])
    assert not wrong, f"{len(wrong)} of {len(known)}:\n" + "\n".join(wrong)
    assert os.listdir(tmp_path) == ["table.py"] or "__pycache__" in os.listdir(tmp_path)


def joined(x: Any, y: Any) -> Any:
    axis = np.int32(0)
    flat, listed, named = bf.tf.ConcatV2(x, y, axis), bf.tf.ConcatV2([x, y], axis), bf.tf.ConcatV2(values=[x, y], axis=axis)
    return flat, listed, named


def parts(x: Any) -> Any:
    rows, columns = bf.tf.Unpack(x, num=1), bf.tf.Unpack(x, num=2, axis=1)
    return len(rows), len(columns), rows[0], columns[1]


def test_operands_and_results_that_are_lists() -> None:
    x, y = np.arange(3.0), np.arange(2.0)
    for call in (joined, bf.function(joined)):
        for made in call(x, y):
            np.testing.assert_array_equal(np.asarray(made), [0, 1, 2, 0, 1])
    row = np.array([[1.0, 2.0]])
    for take in (parts, bf.function(parts)):
        n_rows, n_columns, first, second = take(row)
        assert (n_rows, n_columns) == (1, 2)
        np.testing.assert_array_equal(np.asarray(first), [1, 2])
        np.testing.assert_array_equal(np.asarray(second), [2])


def test_a_failure_of_an_operator_without_results_is_raised() -> None:
    bf.tf.Assert(True, [np.float32(1.5)])
    with pytest.raises(AssertionError, match="1.5"):
        bf.tf.Assert(False, [np.float32(1.5)])
