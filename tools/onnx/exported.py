"""Runs what `ir-translate` exports as ONNX models with onnxruntime, and compares the results with the stored ones.

    python3 tools/onnx/exported.py target/debug/ir-translate [FOLDER ...]

FOLDER has a folder per case, with `graph.pb` and `feeds.json` (as `testdata/graphdefs` and `testdata/digits` have)
or with `model.onnx` and `case.json` (as `testdata/onnx`); the default are both of `testdata`. Prints the cases that are
refused or differ, and the shares. It needs `numpy`, `onnx` and `onnxruntime`.
"""
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter

import numpy as np
import onnx
import onnxruntime

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def cases(folder):
    """Path, arguments of the export, and runs: pairs of feeds and expected outputs, by name."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        load = lambda files: {key: np.load(os.path.join(path, file), allow_pickle=False) for key, file in files}
        if os.path.exists(os.path.join(path, "feeds.json")):
            case = json.load(open(os.path.join(path, "feeds.json")))
            tensors = lambda run, kind: load([(x["tensor"], x["file"]) for x in run.get(kind, [])])
            first = [x["tensor"] for x in case["runs"][0]["feeds"]]
            options = [f"--fetch={fetch}" for fetch in case["fetches"]] + [f"--feed={feed}" for feed in first]
            runs = [run for run in case["runs"] if "expect_error" not in run]
            runs = [(tensors(run, "feeds"), tensors(run, "outputs")) for run in runs]
            runs = [run for run in runs if list(run[0]) == first]
            yield name, os.path.join(path, "graph.pb"), options, runs, case
        elif os.path.exists(os.path.join(path, "case.json")):
            case = json.load(open(os.path.join(path, "case.json")))
            yield name, os.path.join(path, "model.onnx"), [], [
                (load(case["inputs"].items()), load(case["outputs"].items()))
            ], case


def differs(found, wanted, case):
    if wanted.dtype.kind in "US" or found.dtype == object:
        return not np.array_equal(found.astype(str), wanted.astype(str))
    if found.shape != wanted.shape:
        return f"shape {found.shape}, expected {wanted.shape}"
    if wanted.dtype.kind == "V":  # bf16
        return False
    rtol, atol = max(case.get("rtol", 0), 1e-3), max(case.get("atol", 0), 1e-5)
    if found.dtype.kind in "fc":
        equal = np.allclose(found.astype("f8"), wanted.astype("f8"), rtol, atol, equal_nan=True)
    else:
        equal = np.array_equal(found, wanted)
    return False if equal else f"{found.ravel()[:4]}, expected {wanted.ravel()[:4]}"


def check(model, runs, case):
    proto = onnx.load(model)
    # The checker does not know ports of unknown rank, which the format and the runtime have.
    ports = [*proto.graph.input, *proto.graph.output]
    if all(port.type.tensor_type.HasField("shape") for port in ports):
        onnx.checker.check_model(proto)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = {x.name for x in session.get_inputs()}
    for feeds, wanted in runs:
        short = lambda name: name if name in names else name.removesuffix(":0")
        feeds = {short(name): x.astype(object) if x.dtype.kind in "US" else x for name, x in feeds.items()}
        found = session.run(None, {name: x for name, x in feeds.items() if name in names})
        for (name, expected), value in zip(wanted.items(), found):
            if problem := differs(value, expected, case):
                return f"{name}: {problem}"
    return None


if __name__ == "__main__":
    tool = sys.argv[1]
    folders = sys.argv[2:] or [os.path.join(ROOT, "testdata", kind) for kind in ["graphdefs", "onnx"]]
    for folder in folders:
        count = Counter()
        for name, path, options, runs, case in cases(folder):
            for level in ["-O0", "-O2"]:
                with tempfile.TemporaryDirectory() as directory:
                    model = os.path.join(directory, "model.onnx")
                    done = subprocess.run([tool, path, level, "-o", model, *options], capture_output=True, text=True)
                    count["all"] += 1
                    if done.returncode:
                        error = done.stderr.partition("have: ")[2] or done.stderr
                        print(f"{name} {level} refused: {error.splitlines()[0][:150]}", flush=True)
                        count["refused"] += 1
                        continue
                    try:
                        problem = check(model, runs, case)
                    except Exception as error:
                        problem = " ".join(str(error).split())[:300]
                    if problem:
                        print(f"{name} {level} differs: {problem}", flush=True)
                        count["differ"] += 1
                    else:
                        count["equal"] += 1
        exported = count["all"] - count["refused"]
        print(f"{folder}: {exported} of {count['all']} exported, {count['equal']} of them equal with onnxruntime")
