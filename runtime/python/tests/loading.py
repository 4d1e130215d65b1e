"""Functions need a file for their source: modules of texts that tests write."""

import importlib.util
import pathlib
import types


def module(path: pathlib.Path) -> types.ModuleType:
    """The module of a file, which is executed again each time."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def written(path: pathlib.Path, source: str) -> types.ModuleType:
    """The module of a text, which is written to a file."""
    path.write_text(source)
    return module(path)
