"""No cases: TensorFlow reads the checkpoints that `bef-train` writes, and goes on from them.

    venv/bin/python tools/tensorflow/read_checkpoints.py target/debug/bef-train

With each optimizer a few steps are trained. All tensors of the checkpoint are read and their checksums compared, its variables have the
dumped values, and a `Saver` restores them into the graph.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf

ROOT = pathlib.Path(__file__).parents[2]
OPTIMIZERS = ["sgd", "momentum", "adam", "adamw", "adagrad", "rmsprop:momentum=0.5,centered=true", "lars"]


def train(program, folder, optimizer):
    data = [word for what in ["images", "labels"] for word in ["--data", f"{what}={ROOT}/testdata/digits/train_{what}.npy"]]
    command = [program, ROOT / "testdata/training/digits_cnn.pb", *data, "--optimizer", optimizer, "--steps", "3", "--checkpoint", "ckpt",
               "--dump-variables", "out", "--quiet"]
    subprocess.run(command, cwd=folder, check=True)
    return {path.stem: np.load(path) for path in (folder / "out").glob("*.npy")}


def restored(prefix):
    """The variables of the graph, restored by TensorFlow."""
    graph = tf.compat.v1.GraphDef.FromString((ROOT / "testdata/training/digits_cnn.pb").read_bytes())
    with tf.Graph().as_default() as whole, tf.compat.v1.Session() as session:
        tf.import_graph_def(graph, name="")
        names = [node.name for node in graph.node if node.op in ("VarHandleOp", "VariableV2")]
        handles = {name: whole.get_tensor_by_name(f"{name}:0") for name in names}
        types = {name: tf.as_dtype(whole.get_operation_by_name(name).get_attr("dtype")) for name in names}
        for name in names:
            value, = tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=[name], shape_and_slices=[""], dtypes=[types[name]])
            session.run(tf.raw_ops.AssignVariableOp(resource=handles[name], value=value))
        return {name: session.run(tf.raw_ops.ReadVariableOp(resource=handles[name], dtype=types[name])) for name in names}


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    for optimizer in OPTIMIZERS:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            dumped = train(program, folder, optimizer)
            prefix = tf.train.latest_checkpoint(folder / "ckpt")
            reader = tf.train.load_checkpoint(prefix)
            stored = {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
            values = restored(prefix)
            # The files' names have dots.
            read = [(name, value) for tensors in (stored, values) for name, value in tensors.items()]
            differ = [name for name, value in read if not np.array_equal(value, dumped.get(name.replace("/", "."), value))]
            print(f"{optimizer}: {len(stored)} tensors, {len(dumped)} variables and slots, {len(values)} restored into the graph")
            if differ or not values:
                sys.exit(f"{optimizer}: {differ} differ")


if __name__ == "__main__":
    main()
