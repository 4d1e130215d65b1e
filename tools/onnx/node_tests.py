"""Runs the node tests of the `onnx` package (onnx/backend/test/data/node) with bef-exec, and reports the share per operator.

    python tools/onnx/node_tests.py target/release/bef-exec DATA [-O LEVEL] [--only PART] [--max-opset 22] [--report FILE.md] [--keep FOLDER]

DATA is the folder `node` of the package's test data: a folder per test with model.onnx and test_data_set_*. Needs onnx and
numpy. A test passes if every output has the type, the shape and, within the package's tolerance (rtol 1e-3, atol 1e-7), the
values. --keep writes the two smallest passing tests of each operator as cases of tools/tests/onnx.rs.

NumPy files have no sequences and no optionals. A model with such inputs or outputs gets nodes that make them of tensors and
take them apart (`with_tensors`). Tests with other types that NumPy files do not have count as failed and are named.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper


def tensor(proto):
    """The tensor of a message, or None if NumPy files have no such elements."""
    return None if proto.data_type in (17, 18, 19, 20, 21, 22, 23) else numpy_helper.to_array(proto)


MESSAGES = {"tensor_type": onnx.TensorProto, "sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}


def message(path, info):
    """The message in a file."""
    found = MESSAGES[info.type.WhichOneof("value")]()
    with open(path, "rb") as file:
        found.ParseFromString(file.read())
    return found


def array(path, info):
    """The tensor of a file, or None if it is no tensor."""
    return tensor(message(path, info)) if info.type.WhichOneof("value") == "tensor_type" else None


def unnamed(of_type):
    """The type of a sequence's elements, whose sizes differ although they have one name."""
    found = onnx.TypeProto()
    found.CopyFrom(of_type)
    for dim in found.tensor_type.shape.dim if found.HasField("tensor_type") else []:
        dim.ClearField("dim_param")
    return found


class Plain:
    """A model whose inputs and outputs are tensors, and their values; `refused` says why there is none."""

    def __init__(self, model, n_given):
        # Inputs with initializers are fed last, or not at all: the first `n_given` have values.
        self.model, self.n_given, self.refused = model, n_given, None
        self.inputs, self.outputs = [], []  # (name, array)
        self.before, self.behind = [], []  # nodes
        self.made, self.wanted = [], []  # the graph's new inputs and outputs

    def op(self, nodes, op, inputs, outputs, **attrs):
        nodes.append(onnx.helper.make_node(op, inputs, outputs, **attrs))

    def put(self, name, of_type, value):
        """An input of this type, made of tensors."""
        kind = of_type.WhichOneof("value")
        if kind == "tensor_type":
            found = tensor(value)
            if found is None:
                self.refused = "its inputs are no tensors that files can have"
                return
            self.made.append(onnx.helper.make_value_info(name, of_type))
            self.inputs.append((name, found))
        elif kind == "sequence_type":
            element = unnamed(of_type.sequence_type.elem_type)
            names = [f"{name}__{i}" for i in range(len(value.tensor_values))]
            for part, item in zip(names, value.tensor_values):
                self.put(part, element, item)
            if names:
                self.op(self.before, "SequenceConstruct", names, [name])
            else:
                self.op(self.before, "SequenceEmpty", [], [name], dtype=element.tensor_type.elem_type)
        else:
            element = of_type.optional_type.elem_type
            held = held_by(value)
            if held is None:
                self.op(self.before, "Optional", [], [name], type=element)
            else:
                self.put(f"{name}__held", element, held)
                self.op(self.before, "Optional", [f"{name}__held"], [name])

    def take(self, name, of_type, value):
        """An output of this type, as tensors."""
        kind = of_type.WhichOneof("value")
        if kind == "tensor_type":
            found = tensor(value)
            if found is None:
                self.refused = "its outputs are no tensors that files can have"
                return
            self.wanted.append(onnx.helper.make_value_info(name, of_type))
            self.outputs.append((name, found))
        elif kind == "sequence_type":
            length = onnx.helper.make_tensor_type_proto(onnx.TensorProto.INT64, [])
            self.op(self.behind, "SequenceLength", [name], [f"{name}__n"])
            self.take(f"{name}__n", length, numpy_helper.from_array(np.array(len(value.tensor_values), np.int64)))
            for i, item in enumerate(value.tensor_values):
                at = numpy_helper.from_array(np.array(i, np.int64))
                self.op(self.behind, "Constant", [], [f"{name}__at{i}"], value=at)
                self.op(self.behind, "SequenceAt", [name, f"{name}__at{i}"], [f"{name}__{i}"])
                self.take(f"{name}__{i}", of_type.sequence_type.elem_type, item)
        else:
            held = held_by(value)
            truth = onnx.helper.make_tensor_type_proto(onnx.TensorProto.BOOL, [])
            self.op(self.behind, "OptionalHasElement", [name], [f"{name}__has"])
            self.take(f"{name}__has", truth, numpy_helper.from_array(np.array(held is not None)))
            if held is not None:
                self.op(self.behind, "OptionalGetElement", [name], [f"{name}__held"])
                self.take(f"{name}__held", of_type.optional_type.elem_type, held)

    def done(self):
        """The model with the nodes in front and behind."""
        graph = self.model.graph
        nodes = self.before + list(graph.node) + self.behind
        del graph.node[:], graph.output[:]
        graph.node.extend(nodes)
        graph.output.extend(self.wanted)
        given = {info.name for info in graph.input[: self.n_given]}
        rest = [info for info in graph.input if info.name not in given]
        del graph.input[:]
        graph.input.extend(self.made + rest)
        return self


def held_by(optional):
    """What an optional holds, or None."""
    kind = onnx.OptionalProto.DataType.Name(optional.elem_type)
    return {"TENSOR": optional.tensor_value, "SEQUENCE": optional.sequence_value}.get(kind)


def with_tensors(model, path):
    """A model and a data set with tensors alone."""
    given = [os.path.join(path, f"input_{i}.pb") for i in range(len(model.graph.input))]
    plain = Plain(model, next((i for i, file in enumerate(given) if not os.path.exists(file)), len(given)))
    for info, file in zip(model.graph.input[: plain.n_given], given):
        plain.put(info.name, info.type, message(file, info))
    for i, info in enumerate(model.graph.output):
        plain.take(info.name, info.type, message(os.path.join(path, f"output_{i}.pb"), info))
    return plain.done()


def saved(found, path):
    """Writes an array as bef-exec reads it: strings as fixed-width text, bf16 as its bits."""
    if found.dtype == object:
        found = np.array([x if isinstance(x, str) else x.decode() for x in found.ravel()], dtype=str).reshape(found.shape)
    np.save(path, found)


def equal(expected, got):
    if expected.dtype == object or got.dtype.kind in "USO":
        text = lambda a: [x.decode() if isinstance(x, bytes) else str(x) for x in a.ravel()]
        return expected.shape == got.shape and text(expected) == text(got)
    if expected.shape != got.shape:
        return False
    if str(expected.dtype) == "bfloat16":
        expected = expected.astype(np.float32)
        got = got.astype(np.float32) if got.dtype != np.uint16 else (got.astype(np.uint32) << 16).view(np.float32)
    elif expected.dtype != got.dtype:
        return False
    return np.allclose(expected, got, rtol=1e-3, atol=1e-7, equal_nan=True) if got.dtype.kind in "fc" else np.array_equal(expected, got)


def run(args, folder):
    """None if the test passes, or the reason."""
    for data in sorted(os.listdir(folder)):
        if not data.startswith("test_data_set"):
            continue
        path = os.path.join(folder, data)
        with tempfile.TemporaryDirectory() as work:
            plain = with_tensors(onnx.load(os.path.join(folder, "model.onnx")), path)
            if plain.refused:
                return plain.refused
            onnx.save(plain.model, f"{work}/model.onnx")
            command = [args.bef_exec, f"{work}/model.onnx", f"-O{args.O}", "--timeout", "60"]
            for i, (name, value) in enumerate(plain.inputs):
                saved(value, f"{work}/in{i}.npy")
                command += ["--input", f"{name}={work}/in{i}.npy"]
            for i, (name, _) in enumerate(plain.outputs):
                command += ["--output", f"{name}={work}/out{i}.npy"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                return (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").replace("\n", " ")
            for i, (name, expected) in enumerate(plain.outputs):
                got = np.load(f"{work}/out{i}.npy")
                if not equal(expected, got):
                    return f"output {name}: expected {expected.dtype}{list(expected.shape)} {expected.ravel()[:6]}, got {got.dtype}{list(got.shape)} {got.ravel()[:6]}"
    return None


def kept(data, folder, name):
    """Writes a test as a case: the model, and its first data set as .npy files."""
    source, target = os.path.join(data, name), os.path.join(folder, name.removeprefix("test_"))
    model = onnx.load(os.path.join(source, "model.onnx"))
    os.makedirs(target, exist_ok=True)
    shutil.copyfile(os.path.join(source, "model.onnx"), os.path.join(target, "model.onnx"))
    case = {}
    for key, infos in (("inputs", model.graph.input), ("outputs", model.graph.output)):
        case[key] = {}
        for i, info in enumerate(infos):
            case[key][info.name] = f"{key[:-1]}{i}.npy"
            saved(array(os.path.join(source, "test_data_set_0", f"{key[:-1]}_{i}.pb"), info), os.path.join(target, case[key][info.name]))
    with open(os.path.join(target, "case.json"), "w") as file:
        json.dump(case, file)


def size(folder):
    return sum(os.path.getsize(os.path.join(root, file)) for root, _, files in os.walk(folder) for file in files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bef_exec")
    parser.add_argument("data")
    parser.add_argument("-O", default="2")
    parser.add_argument("--only", default="")
    parser.add_argument("--max-opset", type=int, default=22)
    parser.add_argument("--report")
    parser.add_argument("--keep")
    args = parser.parse_args()
    tests = []
    for name in sorted(os.listdir(args.data)):
        if args.only not in name:
            continue
        model = onnx.load(os.path.join(args.data, name, "model.onnx"))
        if max((s.version for s in model.opset_import if s.domain in ("", "ai.onnx")), default=0) > args.max_opset:
            continue
        ops = [n.op_type for n in model.graph.node]
        tests.append((name, ops[-1] if ops else "none"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda test: run(args, os.path.join(args.data, test[0])), tests))
    by_op = collections.defaultdict(lambda: [0, 0])
    lines = []
    for (name, op), why in zip(tests, found):
        by_op[op][1] += 1
        by_op[op][0] += why is None
        if why is not None:
            lines.append(f"{name}: {why}")
    passed = sum(why is None for why in found)
    print("\n".join(lines))
    print(f"{passed} of {len(tests)} passed ({100 * passed / max(len(tests), 1):.1f} %)")
    if args.report:
        with open(args.report, "w") as report:
            report.write(f"{passed} of {len(tests)} node tests ({100 * passed / max(len(tests), 1):.1f} %) at opsets <= {args.max_opset}, -O{args.O}.\n\n")
            report.write("| operator | passed | of |\n|---|---|---|\n")
            report.writelines(f"| {op} | {n} | {of} |\n" for op, (n, of) in sorted(by_op.items()))
            report.write("\nFailed:\n\n" + "".join(f"* {line.split(':')[0]}\n" for line in lines))
    if args.keep:
        passing = collections.defaultdict(list)
        for (name, op), why in zip(tests, found):
            folder = os.path.join(args.data, name)
            # Random numbers differ from machine to machine, bf16 is not a type of .npy files, and texts are compared elsewhere.
            if why is None and size(folder) < 1 << 14 and b"bfloat16" not in name.encode() and "random" not in name.lower():
                passing[op].append((size(folder), name))
        for tests_of_op in passing.values():
            for _, name in sorted(tests_of_op)[:2]:
                kept(args.data, args.keep, name)
    sys.exit(passed != len(tests))


main()
