"""The examples run."""

import pathlib
import runpy
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_example(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, str(tmp_path / "made.bef")] if name == "digits.py" else [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    if name == "digits.py":
        assert "of 360 digits right" in capsys.readouterr().out
        assert (tmp_path / "made.bef").stat().st_size > 1000
