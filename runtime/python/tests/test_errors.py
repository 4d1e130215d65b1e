"""Errors have the class, the words, and the lines that `wrong.py` marks."""

import inspect
import re
import traceback
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import befrost as bf
import wrong

FILE = wrong.__file__
# The functions by the codes of their refusals.
CODES = {
    "P0100": "exception_of_an_object",
    "P0102": """uses_try generator raises_what_is_known raises_sometimes deletes_an_item uses_with assigns_global
defines_async""",
    "P0103": "uses_random uses_numpy_random",
    "P0104": "branch_dtypes return_dtypes list_of_two_types_in_a_loop list_types",
    "P0105": "maybe_unassigned deleted_and_used deleted_on_one_way",
    "P0106": """argument_assigned view_assigned list_that_may_be_another item_with_a_second_name
array_that_a_closure_has array_that_a_list_has element_of_a_copy""",
    "P0107": "endless",
    "P0108": "returns_function",
    "P0109": "truth_of_a_dataclass truth_of_a_text length_of_a_text staged_key",
    "P0110": """list_that_doubles list_that_doubles_in_place text_that_doubles integer_that_is_squared
width_of_a_known_format calls_that_double""",
    "P0112": """shortest_format_with_precision format_with_sign_and_zeros format_of_a_complex_number
get_without_a_key attribute_with_a_default reciprocal_of_integers argument_that_a_ufunc_lacks_here
argument_that_a_function_lacks_here insertion_into_a_matrix prints_elsewhere index_of_one_boolean
slice_of_a_list_is_assigned iterator_used_twice named_tuple_with_a_length generator_used_in_a_loop maximum_of_complex_numbers""",
    "P0113": """too_many_positional_patterns pop_at_a_text number_with_a_base zip_of_other_lengths undefined_name
length_of_a_zip item_of_an_enumerate items_changed_in_place_to_another_dtype
slice_changed_in_place_to_another_dtype cast_that_is_not_safe dtype_that_an_operand_does_not_fit static_index many_indices unpack no_broadcast in_helper too_many not_iterable""",
}


def marked(function: Any, mark: Any) -> Any:
    """The lines with a mark, in the function or in the helpers of the file that it calls."""
    with open(FILE) as file:
        lines = file.read().split("\n")
    source, first = inspect.getsourcelines(function)
    ranges = [(first, first + len(source))]
    for name in function.__code__.co_names:
        inner = getattr(wrong, name, None)
        if inspect.isfunction(inner) and inner.__module__ == "wrong":
            ranges += [(l, l + len(s)) for s, l in [inspect.getsourcelines(inner)]]
            for deeper in inner.__code__.co_names:
                deep = getattr(wrong, deeper, None)
                if inspect.isfunction(deep):
                    ranges += [(l, l + len(s)) for s, l in [inspect.getsourcelines(deep)]]
    return [i for low, high in ranges for i in range(low, high) if i <= len(lines) and f"# {mark}" in lines[i - 1]]


def check(error: Any, function: Any, words: Any) -> None:
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == FILE]
    text = "\n".join([str(error), *getattr(error, "__notes__", [])])
    assert lines and lines[-1] in marked(function, "HERE"), f"ends in {lines}: {text}"
    for word in words:
        assert word in text, f"'{word}' is not in: {text}"
    for line in marked(function, "NOTE"):
        assert line in lines or re.search(rf"wrong\.py:{line}\b", text), f"line {line} is not in {lines}, {text}"


@pytest.mark.parametrize("case", wrong.WRONG, ids=[f.__name__ for f, *_ in wrong.WRONG])
def test_refused(case: Any) -> None:
    function, words, args = case
    compiled = bf.function(function)
    for call in (compiled.ir, compiled):
        with pytest.raises(bf.CompileError) as info:
            call(*args)
        check(info.value, function, words)
        assert function.__name__ in CODES[info.value.code].split() and bf.explain(info.value.code)


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("case", wrong.FAILING, ids=[f.__name__ for f, *_ in wrong.FAILING])
def test_failing(case: Any, level: Any) -> None:
    function, error, words, args = case
    with pytest.raises(error) as info:
        bf.function(function, level=level)(*args)
    assert isinstance(info.value, bf.Error)
    check(info.value, function, words)


def test_operators_on_tensors() -> None:
    """Errors are raised where an operator is called: NumPy's class, and the package's."""
    m, v, small = bf.tensor(np.ones((2, 3))), bf.tensor([1, 2]), bf.tensor(np.array([1], np.int8))
    calls: list[tuple[Any, type[Exception], Any]] = [
        (bf.InvalidArgumentError, ValueError, lambda: m + v), (bf.InvalidArgumentError, ValueError, lambda: m @ m),
        (bf.InvalidArgumentError, ValueError, lambda: np.add(m, v)),
        (bf.InvalidArgumentError, ValueError, lambda: m.reshape(5)), (bf.InvalidArgumentError, ValueError, lambda: m.item()),
        (bf.OutOfRangeError, IndexError, lambda: v[2]), (bf.OutOfRangeError, IndexError, lambda: m.item(9, 9)),
        (bf.DivisionError, ZeroDivisionError, lambda: v // 0), (bf.WrongRangeError, OverflowError, lambda: small + 300),
        (np.exceptions.AxisError, ValueError, lambda: m.sum(axis=7)), (TypeError, TypeError, lambda: m << "x"),
    ]
    for ours, pythons, call in calls:
        with pytest.raises(ours) as info:
            call()
        assert isinstance(info.value, pythons)
        assert traceback.extract_tb(info.value.__traceback__)[0].filename == __file__


def test_arguments_that_make_no_sense() -> None:
    """Errors of the package's, each also one of Python's."""
    model = bf.load(b"func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { tfrt.return %x : tensor<2xf32> }")
    x = np.ones(2, np.float32)
    calls: list[tuple[type[bf.Error], str, Any]] = [
        (bf.OutOfRangeError, "output 9 of 1", lambda: model(x)[9]),
        (bf.WrongRangeError, "a timeout of NaN", lambda: model.run({"x": x}, timeout=float("nan"))),
        (bf.InvalidArgumentError, "the size -1 of a dimension: None stands for", lambda: bf.spec((-1, 2))),
        (bf.WrongTypeError, "wrt is 'x', not the number", lambda: bf.grad(lambda x: x, wrt="x")),  # type: ignore[arg-type]
        (bf.WrongTypeError, "an array of dtype float8_e5m2", lambda: bf.function(lambda x: x)(np.array([1], ml_dtypes.float8_e5m2))),
        (bf.WrongTypeError, "a tensor has numbers or booleans", lambda: bf.tensor(["a"])),
        (bf.WrongTypeError, "give numbers, booleans or strings", lambda: bf.tensor(np.array([object()]))),
    ]
    for ours, words, call in calls:
        with pytest.raises(ours, match=words):
            call()
