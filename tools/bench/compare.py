"""Befrost beside ONNX Runtime and TensorFlow, on models with random seeded weights, in one command:

    python3 tools/bench/compare.py [--out target/bench] [--models mlp,lenet] [--threads 1,2] [--batches 1,8,32]
        [--engines befrost,onnxruntime,tensorflow,openvino,iree,torch,tract]

makes a venv with the peers and Befrost's Python package (`--python` names an interpreter that has them), writes the
models (`models.py`, `onnx_models.py`; ONNX from TensorFlow's graphs by `ir-translate`), compares the results of all
engines on all rows, and stops if two differ by more than 1e-3 of the norm. Only then it measures: the engines run in
turns, each in a process of its own, so that what slows the machine down slows all of them.

The last four of these engines run only if they are named, all in f32: OpenVINO, IREE for this processor, PyTorch
(TorchScript, the model by onnx2torch), and tract by a Rust program, which is built then. A model that one of them
cannot read or run is in the report with the reason; without Befrost's or a default peer's result nothing is measured.

Writes `report.md`, `report.csv` and `report.svg`: latency (p50, p99), CPU time per call, calls per second of several
callers at once, load time, peak of the resident memory up to this batch, and the size of the program. The load time
of Befrost contains its compilation, and so does IREE's; PyTorch and tract compile for each batch, before its calls
are measured. The calls are Python's, but Rust's for tract, which saves it some microseconds. The bound is the
arithmetic of a call on all threads at the peak of one (`roofline.py`): what a row that is behind could gain at most.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

import report
import roofline

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MODELS = ["mlp", "lenet", "trees", "lstm", "decoder", "bert", "mobilenetv2", "efficientnetb0", "resnet50", "vgg19"]
# Those that `onnx_models.py` writes, with operators that TensorFlow lacks, for all engines that read ONNX models.
ONNX_MODELS = ["lstm", "trees"]
# The default engines; the others run when they are asked for.
ENGINES = ["befrost", "onnxruntime", "tensorflow"]
# What writes the models, and the packages of the engines. PyPI's own torch is the one for GPUs.
PACKAGES = ["numpy", "onnx", "tensorflow-cpu"]
PEERS = {
    "onnxruntime": ["onnxruntime"],
    "openvino": ["openvino"],
    "iree": ["iree-base-compiler", "iree-base-runtime"],
    "torch": ["onnx2torch", "torch", "--extra-index-url=https://download.pytorch.org/whl/cpu"],
    "tract": [],
}
TRACT = """[package]
name = "befrost-bench-tract"
edition = "2024"

[dependencies]
cpu-time = "1"
ndarray-npy = "0.10"
serde_json = "1"
tract-linalg = { version = "0.23", features = ["multithread-mm"] }
tract-onnx = "0.23"

[[bin]]
name = "tract"
path = "%s"

[workspace]
"""
TOLERANCE = 1e-3


class Failed(Exception):
    """An engine's error."""


def make_venv(path, engines):
    """The interpreter of a venv with the peers and with Befrost as this checkout has it."""
    python = os.path.join(path, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", path], check=True)
    packages = PACKAGES + [package for engine in engines for package in PEERS.get(engine, [])]
    subprocess.run([python, "-m", "pip", "install", "--quiet", "maturin>=1.9,<2", *packages], check=True)
    environment = os.environ | {"VIRTUAL_ENV": path, "PATH": os.path.join(path, "bin") + os.pathsep + os.environ["PATH"]}
    subprocess.run([python, "-m", "maturin", "develop", "--profile", "dist", "--quiet"], check=True, env=environment,
                   cwd=os.path.join(ROOT, "runtime", "python"))
    return python


def make_tract(folder):
    """The worker for tract, a program outside of the workspace."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "Cargo.toml"), "w") as file:
        file.write(TRACT % os.path.join(HERE, "tract.rs"))
    target = os.path.join(folder, "target")
    subprocess.run(["cargo", "build", "--release", "--quiet", "--target-dir", target], check=True, cwd=folder)
    return os.path.join(target, "release", "tract")


WRITE_MODELS = """
import os, sys
folder, names = sys.argv[1], sys.argv[2:]
import models, onnx_models
for name in names:
    if name in onnx_models.MODELS:
        onnx_models.MODELS[name](os.path.join(folder, name + ".onnx"))
    if name in models.MODELS:
        models.write(folder, name, "?")
"""


def ports_of(graph):
    """The options that name inputs and outputs of a graph, which the file beside it lists."""
    with open(graph.removesuffix(".pb") + ".json") as file:
        ports = json.load(file)
    return [f"--feed={port}" for port in ports["inputs"]] + [f"--fetch={port}" for port in ports["outputs"]]


def write_models(python, tool, folder, names):
    """By model: the file of each engine; TensorFlow has none of a model with operators that it lacks."""
    os.makedirs(folder, exist_ok=True)
    graph = lambda name: os.path.join(folder, f"{name}_bN.pb")
    onnx = lambda name: os.path.join(folder, f"{name}.onnx")
    absent = [name for name in names if not os.path.exists(onnx(name))]
    if absent:
        environment = os.environ | {"PYTHONPATH": HERE + os.pathsep + os.environ.get("PYTHONPATH", "")}
        subprocess.run([python, "-c", WRITE_MODELS, folder, *absent], check=True, env=environment)
    files = {}
    for name in names:
        if not os.path.exists(onnx(name)):
            subprocess.run([tool, graph(name), "-O0", "-o", onnx(name), *ports_of(graph(name))], check=True)
        files[name] = {engine: onnx(name) for engine in ["befrost", *PEERS]}
        if os.path.exists(graph(name)):
            files[name]["tensorflow"] = graph(name)
            if name not in ONNX_MODELS:
                files[name]["befrost"] = graph(name)
    return files


class Process:
    """A worker with a loaded model."""

    def __init__(self, command, engine, path, threads):
        self.engine = engine
        # Libraries that have threads of their own take the number from the environment.
        environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=environment)
        self.loaded = self.ask(do="load", path=path, threads=threads)

    def ask(self, **command):
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        answer = json.loads(line) if line else {"error": f"the process ended with {self.process.wait()}"}
        if "error" in answer:
            self.close()
            raise Failed(answer["error"])
        return answer

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()


def reason(text):
    """The line of an error that says what is wrong, shortened. OpenVINO begins with where, and says it last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = next((line.partition("error: ")[2] for line in lines if "error: " in line), lines[-1 if lines[0].endswith(":") else 0])
    return line if len(line) <= 200 else line[:200] + "..."


def results_of(numpy, process, batches, folder):
    """By batch: the results of an engine."""
    results = {}
    for batch in batches:
        path = os.path.join(folder, process.engine + ".npz")
        process.ask(do="feed", batch=batch)
        process.ask(do="results", to=path)
        with numpy.load(path) as arrays:
            results[batch] = [arrays[name] for name in arrays.files]
    return results


def compare(numpy, results, model, batch):
    """Stops if the engines' results differ from those of the last default engine."""
    reference = next((engine for engine in reversed(ENGINES) if engine in results), next(iter(results)))
    for engine, found in results.items():
        wanted = results[reference]
        if len(found) != len(wanted):
            sys.exit(f"{model}, batch {batch}: {engine} has {len(found)} results, {reference} {len(wanted)}")
        for i, (a, b) in enumerate(zip(found, wanted)):
            error = float(numpy.linalg.norm((a - b).ravel()) / max(numpy.linalg.norm(b.ravel()), 1e-30)) if a.shape == b.shape else None
            if error is None or not error <= TOLERANCE:
                what = f"shape {a.shape} for {b.shape}" if error is None else f"{error:.2e} of the norm"
                sys.exit(f"{model}, batch {batch}: result {i} of {engine} differs from {reference}'s: {what}")


def flops_of(tool, folder, path):
    """The operations of a call with a batch of 1; of loops' bodies those of no iteration."""
    ports = ports_of(path) if path.endswith(".pb") else []
    command = [tool, path, "--print-work", "-o", os.path.join(folder, "work.bef"), *ports]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return max((flops for flops, _ in roofline.work(said).values()), default=0.0)


def measure(processes, args):
    """The figures of one row, by engine."""
    times = {process.engine: [] for process in processes}
    cpu = dict.fromkeys(times, 0.0)
    for _ in range(args.rounds):
        for process in processes:
            answer = process.ask(do="calls", seconds=args.seconds / args.rounds, most=args.most)
            times[process.engine] += answer["times"]
            cpu[process.engine] += answer["cpu"]
    figures = {}
    for process in processes:
        ordered = sorted(times[process.engine])
        at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
        rate = process.ask(do="concurrent", seconds=args.seconds / args.rounds, callers=args.callers)["rate"]
        figures[process.engine] = {
            "p50": at(0.5), "p99": at(0.99), "cpu": cpu[process.engine] / len(ordered), "rate": rate,
            "load": process.loaded["seconds"], "memory": process.ask(do="memory")["bytes"], "size": process.loaded["bytes"],
        }
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    list_of = lambda kind: lambda text: [kind(item) for item in text.split(",")]
    parser.add_argument("--out", default=os.path.join(ROOT, "target", "bench"), help="folder of venv, models and report")
    parser.add_argument("--python", help="an interpreter with the peers and befrost, in place of a venv")
    parser.add_argument("--tool", default=os.path.join(ROOT, "target", "release", "ir-translate"), help="built if it is not there")
    parser.add_argument("--models", type=list_of(str), default=MODELS)
    parser.add_argument("--engines", type=list_of(str), default=ENGINES)
    parser.add_argument("--threads", type=list_of(int), default=[1, 2])
    parser.add_argument("--batches", type=list_of(int), default=[1, 8, 32])
    parser.add_argument("--seconds", type=float, default=5, help="for each engine and row")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each engine")
    parser.add_argument("--most", type=int, default=2000, help="calls in a turn")
    parser.add_argument("--callers", type=int, default=4, help="threads that call at once")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    python = args.python or make_venv(os.path.join(args.out, "venv"), args.engines)
    if not os.path.exists(args.tool):
        subprocess.run(["cargo", "build", "--release", "-p", "befrost-tools", "--bin", "ir-translate"], check=True, cwd=ROOT)
    # The interpreter of a venv is a link to the one that made it: the paths tell them apart, not the files.
    if os.path.abspath(python) != sys.executable and not os.environ.get("BEFROST_BENCH_CHILD"):
        # The comparison needs NumPy, which the venv has.
        os.environ["BEFROST_BENCH_CHILD"] = "1"
        os.execv(python, [python, os.path.abspath(__file__), *sys.argv[1:], "--python", python])
    import numpy

    commands = {engine: [python, os.path.join(HERE, "worker.py"), engine] for engine in args.engines}
    if "tract" in args.engines:
        commands["tract"] = [make_tract(os.path.join(args.out, "tract"))]
    files = write_models(python, args.tool, os.path.join(args.out, "models"), args.models)
    # By engine and model: why there are no figures.
    refused = {(engine, model): "the model has operators that the engine lacks"
               for model in args.models for engine in args.engines if engine not in files[model]}

    def started(engine, model, threads):
        return Process(commands[engine], engine, files[model][engine], threads)

    def engines_of(model):
        return [engine for engine in args.engines if (engine, model) not in refused]

    with tempfile.TemporaryDirectory() as folder:
        for threads in args.threads:
            for model in args.models:
                results = {batch: {} for batch in args.batches}
                for engine in engines_of(model):
                    try:
                        process = started(engine, model, threads)
                        for batch, found in results_of(numpy, process, args.batches, folder).items():
                            results[batch][engine] = found
                        process.close()
                    except Failed as error:
                        if engine in ENGINES:
                            sys.exit(f"{model}, {threads} threads: {engine}: {error}")
                        refused[engine, model] = reason(str(error))
                        print(f"{model}: {engine} refuses it: {refused[engine, model]}", file=sys.stderr, flush=True)
                for batch in args.batches:
                    compare(numpy, results[batch], model, batch)
                print(f"{model}, {threads} threads: all results agree", file=sys.stderr, flush=True)
    rows, peak = [], roofline.peak()
    for model in args.models:
        with tempfile.TemporaryDirectory() as folder:
            flops = flops_of(args.tool, folder, files[model]["befrost"])
        for threads in args.threads:
            processes = [started(engine, model, threads) for engine in engines_of(model)]
            for batch in args.batches:
                for process in processes:
                    process.ask(do="feed", batch=batch)
                row = {"model": model, "threads": threads, "batch": batch, "bound": flops * batch / peak / threads}
                for engine, figures in measure(processes, args).items():
                    rows.append({**row, "engine": engine, **figures})
                print(f"{model}, {threads} threads, batch {batch}: measured", file=sys.stderr, flush=True)
            for process in processes:
                process.close()
    about = f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}, peak of one thread {peak / 1e9:.0f} GFLOP/s"
    text = report.markdown(rows, about, refused)
    print(text)
    with open(os.path.join(args.out, "report.md"), "w") as file:
        file.write(text)
    with open(os.path.join(args.out, "report.svg"), "w") as file:
        file.write(report.svg(rows, refused))
    report.write_csv(os.path.join(args.out, "report.csv"), rows, refused)


if __name__ == "__main__":
    main()
