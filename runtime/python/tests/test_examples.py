"""The examples run."""

import pathlib
import runpy
import sys
from typing import Any

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_example(name: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", [name, str(tmp_path / "made.bef")])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert {"digits.py": "of 360 digits right", "decoder.py": "4 -> "}[name] in capsys.readouterr().out
    assert (tmp_path / "made.bef").stat().st_size > 1000
