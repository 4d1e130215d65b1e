"""`python -m befrost run|show|compile|explain`: models from the command line."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from . import __version__
from ._errors import Error
from ._explain import explain
from ._model import load


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m befrost", description="Run, show and compile models.",
                                     epilog="example: python -m befrost run model.onnx --input images=images.npy")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a model on arrays of .npy files")
    run.add_argument("model")
    run.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy")
    run.add_argument("--fetch", action="append", metavar="NAME", help="a tensor of a graph instead of its outputs")
    run.add_argument("--output", metavar="FOLDER", help="write the outputs there as .npy")
    run.add_argument("--timeout", type=float, metavar="SECONDS", help="stop the run after this time")
    show = commands.add_parser("show", help="print a model's inputs and outputs")
    show.add_argument("model")
    compile_ = commands.add_parser("compile", help="write a model as a BEF file, which bef-exec and programs run")
    compile_.add_argument("model")
    compile_.add_argument("-o", "--output", metavar="FILE.bef", required=True)
    for command in (run, show, compile_):
        command.add_argument("--signature", metavar="NAME", help="the function of a model that has several")
        command.add_argument("--level", type=int, choices=(0, 1, 2), help="optimization; the default is 2")
    explain_ = commands.add_parser("explain", help="explain the code of an error")
    explain_.add_argument("code")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line. Returns the exit code."""
    parser = _arguments()
    given = parser.parse_args(arguments)
    try:
        if given.command == "explain":
            print(explain(given.code))
            return 0
        model = load(given.model, signature=given.signature, level=given.level)
        if given.command == "show":
            for what, ports in (("input", model.inputs), ("output", model.outputs)):
                for port in ports:
                    print(f"{what} {port}")
            return 0
        if given.command == "compile":
            model.save(given.output)
            return 0
        feeds = {}
        for text in given.input:
            name, equals, file = text.partition("=")
            if not equals:
                parser.error(f"--input {text}: give NAME=FILE.npy")
            feeds[name] = np.load(file, allow_pickle=False)
        made = model.run(feeds, given.fetch, timeout=given.timeout)
        for name in made.keys():
            if given.output:
                np.save(f"{given.output}/{name.replace('/', '_').replace(':', '_')}.npy", made[name])
            else:
                print(f"{name}: {made[name]}")
        return 0
    except (Error, OSError, ValueError, TypeError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
