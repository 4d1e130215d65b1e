"""The examples in docstrings and in the README."""

import doctest
import importlib
import pathlib
import pkgutil
import re

import pytest

import befrost as bf

MODULES = sorted(m.name for m in pkgutil.walk_packages(bf.__path__, "befrost.") if not m.name.endswith("__main__"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    assert sum(len(t.examples) for name in MODULES for t in finder.find(importlib.import_module(name))) >= 10


def test_readme(tmp_path, monkeypatch, capsys):
    text = (pathlib.Path(__file__).resolve().parents[1] / "README.md").read_text()
    monkeypatch.chdir(tmp_path)
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", text, re.S)):
        file = tmp_path / f"block{i}.py"
        file.write_text(block)
        exec(compile(block, str(file), "exec"), {"__name__": f"block{i}"})
        for value, comment in re.findall(r"^print\((.*)\)\s*# (.*)$", block, re.M):
            assert comment in capsys.readouterr().out, value
