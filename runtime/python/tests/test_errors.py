"""Errors have the class, the words, and the lines that `wrong.py` marks."""

import inspect
import re
import traceback
from typing import Any

import pytest

import befrost as bf
import wrong

FILE = wrong.__file__


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


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("case", wrong.FAILING, ids=[f.__name__ for f, *_ in wrong.FAILING])
def test_failing(case: Any, level: Any) -> None:
    function, error, words, args = case
    with pytest.raises(error) as info:
        bf.function(function, level=level)(*args)
    assert isinstance(info.value, bf.Error)
    check(info.value, function, words)
