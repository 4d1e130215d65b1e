"""`python -m befrost run|show|compile`: models from the command line."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from . import __version__
from ._errors import Error
from ._model import load


def main() -> int:
    """Runs the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m befrost", description="Run and show models.",
                                     epilog="example: python -m befrost run model.onnx --input images=images.npy")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a model on arrays of .npy files")
    run.add_argument("model")
    run.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy")
    run.add_argument("--output", metavar="FOLDER", help="write the outputs there as .npy")
    show = commands.add_parser("show", help="print a model's inputs and outputs")
    show.add_argument("model")
    given = parser.parse_args()
    try:
        model = load(given.model)
        if given.command == "show":
            for what, ports in (("input", model.inputs), ("output", model.outputs)):
                for port in ports:
                    print(f"{what} {port}")
            return 0
        feeds = {}
        for text in given.input:
            name, equals, file = text.partition("=")
            if not equals:
                parser.error(f"--input {text}: give NAME=FILE.npy")
            feeds[name] = np.load(file, allow_pickle=False)
        made = model.run(feeds)
        for name in made.keys():
            if given.output:
                np.save(f"{given.output}/{name.replace('/', '_').replace(':', '_')}.npy", made[name])
            else:
                print(f"{name}: {made[name]}")
        return 0
    except (Error, OSError, ValueError, TypeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
