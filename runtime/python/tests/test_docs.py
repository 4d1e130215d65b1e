"""The examples in docstrings and in the READMEs of the package and of the repository."""

import doctest
import importlib
import pathlib
import pkgutil
import re
from typing import Any

import pytest

import befrost as bf

MODULES = sorted(m.name for m in pkgutil.walk_packages(bf.__path__, "befrost.") if not m.name.endswith("__main__"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: Any) -> None:
    module = importlib.import_module(name)
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    assert sum(len(t.examples) for name in MODULES for t in finder.find(importlib.import_module(name))) >= 10


PACKAGE = pathlib.Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("folder", [PACKAGE, PACKAGE.parents[1]], ids=["package", "repository"])
def test_readme(folder: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "README.md").read_text()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "testdata").symlink_to(PACKAGE.parents[1] / "testdata")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 2
    scope: dict[str, Any] = {}  # a block goes on where the one before it ended
    for i, block in enumerate(blocks):
        file = tmp_path / f"block{i}.py"
        file.write_text(block)
        scope["__name__"] = f"block{i}"
        exec(compile(block, str(file), "exec"), scope)
        for value, comment in re.findall(r"^print\((.*)\)\s*# (.*)$", block, re.M):
            assert comment in capsys.readouterr().out, value
