"""Cases of `testdata/partition` made by TensorFlow: a graph over several devices, its results, on which device
TensorFlow placed each node, and how many values it sends from one device to another.

    python tools/tensorflow/partitions.py FOLDER [NAME..]     writes the cases of these names, or all

The names are those of the functions below. All optimizers are off. `case.json` is described in the README of
the shared cases: feeds, fetches and results of each run; placement and transfers of each set of these.
"""
import json
import os
import shutil
import socket
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.disable_resource_variables()
RAW = tf.raw_ops
CPU = ["CPU:0", "CPU:1", "CPU:2"]


def on(i):
    return tf.device(f"/device:CPU:{i}")


def constant(value, name=None):
    return tf.constant(value, tf.float32, name=name)


def short(name):
    return name.replace("/replica:0", "").replace("/device:", "/").replace("/job:localhost/task:0/", "")


def message_of(failed):
    """The message without the places in this script."""
    lines = [line for line in failed.message.split("\n") if ".py" not in line and line.strip()]
    return (lines or [""])[-1][:200]


class Case:
    """A graph under construction, and its runs."""

    def __init__(self, name, flow="none", soft=False, jobs=None):
        self.name, self.flow, self.soft, self.jobs, self.has_init = name, flow, soft, jobs, False
        self.graph = tf.Graph()
        self.runs = []

    def feed(self, name, shape=(), dtype=tf.float32):
        return tf.placeholder(dtype, shape, name=name)

    def run(self, feeds, fetches, targets=(), error=None):
        """`error` is (when, node) of an expected failure."""
        self.runs.append((feeds, fetches, targets, error))

    def config(self):
        config = tf.ConfigProto(device_count={"CPU": len(CPU)}, allow_soft_placement=self.soft)
        config.graph_options.optimizer_options.opt_level = -1
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.experimental.collective_group_leader = "/job:localhost/replica:0/task:0"
        return config

    def session(self):
        if self.jobs is None:
            return tf.Session(graph=self.graph, config=self.config())
        names = [job for job, n in self.jobs.items() for _ in range(n)]
        sockets = {job: [socket.create_server(("localhost", 0)) for _ in range(n)] for job, n in self.jobs.items()}
        cluster = {job: [f"localhost:{free.getsockname()[1]}" for free in all] for job, all in sockets.items()}
        for free in (free for all in sockets.values() for free in all):
            free.close()
        self.servers = [tf.train.Server(cluster, job, i, config=tf.ConfigProto(device_count={"CPU": 1}))
                        for job, n in self.jobs.items() for i in range(n)]
        config = self.config()
        config.experimental.collective_group_leader = ""
        master = next(s for s, job in zip(self.servers, names) if job == "worker")
        return tf.Session(master.target, graph=self.graph, config=config)

    def write(self, root):
        folder = os.path.join(root, self.name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        definition = self.graph.as_graph_def()
        definition.ClearField("versions")
        with open(os.path.join(folder, "graph.pb"), "wb") as file:
            file.write(definition.SerializeToString(deterministic=True))
        if self.jobs is None:
            devices, client = CPU, "CPU:0"
        else:
            devices = [f"/job:{job}/replica:0/task:{i}/device:CPU:0" for job, n in self.jobs.items() for i in range(n)]
            client = "/job:worker/task:0/CPU:0"
        nodes = {node.name for node in definition.node}
        runs, partitions, known = [], [], {}
        with self.session() as session:
            if self.has_init:
                session.run("init")
            for i, (feeds, fetches, targets, error) in enumerate(self.runs):
                run = {"feeds": [], "fetches": list(fetches), "targets": list(targets)}
                for name, value in feeds.items():
                    file = f"run{i}_feed_{name.split(':')[0].replace('/', '_')}.npy"
                    value = np.asarray(value)
                    self.store(folder, file, value)
                    run["feeds"].append({"tensor": name, "file": file})
                options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
                tensors = [self.graph.get_tensor_by_name(name) for name in fetches]
                ops = [self.graph.get_operation_by_name(name) for name in targets]
                try:
                    results = session.run(tensors + ops, feeds, options, metadata)
                except tf.errors.OpError as failed:
                    if error is None:
                        raise
                    run["expect_error"] = {"when": error[0], "code": type(failed).__name__, "node": error[1],
                                           "message": message_of(failed)}
                else:
                    assert error is None, f"{self.name}: run {i} does not fail"
                    run["outputs"] = []
                    for name, value in zip(fetches, results):
                        file = f"run{i}_out_{name.replace(':', '_').replace('/', '_')}.npy"
                        self.store(folder, file, np.asarray(value))
                        run["outputs"].append({"tensor": name, "file": file})
                    key = (tuple(feeds), tuple(fetches), tuple(targets))
                    if key not in known:
                        known[key] = len(partitions)
                        partitions.append(self.partition(metadata.partition_graphs, nodes))
                    run["partition"] = known[key]
                runs.append(run)
        description = {"case": self.name, "devices": devices, "soft_placement": self.soft,
                       "control_flow": self.flow, "client": client, "rtol": 1e-5, "atol": 1e-6,
                       "init": "init" if self.has_init else None, "runs": runs, "partitions": partitions}
        with open(os.path.join(folder, "case.json"), "w") as file:
            json.dump(description, file, indent=None, separators=(",", ": "))
            file.write("\n")
        counts = [sum(sum(pair.values()) for pair in p["transfers"].values()) for p in partitions]
        print(f"{self.name}: {len(definition.node)} nodes, {len(runs)} runs, sends {counts}")

    @staticmethod
    def store(folder, file, value):
        if value.dtype == object or value.dtype.kind in "SU":
            value = np.asarray(value).astype("S")
        np.save(os.path.join(folder, file), value)

    @staticmethod
    def partition(graphs, nodes):
        placement, transfers, spans = {}, {}, False
        for graph in graphs:
            by_name = {node.name: node for node in graph.node}
            for node in graph.node:
                if node.name in nodes and not node.op.startswith("_"):
                    placement[node.name] = short(node.device)
                if node.op in ("_Send", "_HostSend"):
                    pair = f"{short(node.attr['send_device'].s.decode())} -> {short(node.attr['recv_device'].s.decode())}"
                    value = by_name[node.input[0].split(":")[0].lstrip("^")]
                    # A control edge is sent as an empty constant that the partitioner adds.
                    is_control = value.op == "Const" and value.name not in nodes
                    kinds = transfers.setdefault(pair, {"data": 0, "control": 0})
                    kinds["control" if is_control else "data"] += 1
            spans |= any(node.op.endswith("PartitionedCall") for node in graph.node)
        made = {"transfers": dict(sorted(transfers.items())), "placement": placement}
        if spans:
            made["not_counted"] = "functions that span devices are partitioned when they are called"
        return made


CASES = {}


def case(flow="none", **options):
    def register(build):
        def make():
            case = Case(build.__name__, flow, **options)
            control_v2 = flow == "v2"
            (tf.enable_control_flow_v2 if control_v2 else tf.disable_control_flow_v2)()
            with case.graph.as_default():
                build(case)
            return case
        CASES[build.__name__] = make
        return build
    return register


def vector(seed, n=4):
    return np.random.RandomState(seed).uniform(-1, 1, n).astype(np.float32)


# --- Control flow of TensorFlow 1 -----------------------------------------------------------------------------

@case("v1")
def v1_nested_outer_remote(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (4,))

    def outer(i, v):
        with on(2):
            start = v * 0.5
        _, w = tf.while_loop(lambda j, _: j < 3, lambda j, w: (j + 1, w + 1.0), [tf.constant(0), start])
        with on(1):
            return i + 1, w * v

    with on(0):
        _, y = tf.while_loop(lambda i, _: i < n, outer, [tf.constant(0), x])
    tf.identity(y, "y")
    for k in (0, 1, 3):
        c.run({"n:0": np.int32(k), "x:0": vector(1)}, ["y:0"])


@case("v1")
def v1_nested_three_deep(c):
    n = c.feed("n", (), tf.int32)

    def inner(k, v):
        with on(2):
            return k + 1, v + 1.0

    def middle(j, v):
        with on(1):
            v = v * 2.0
        _, v = tf.while_loop(lambda k, _: k < 2, inner, [tf.constant(0), v])
        return j + 1, v

    def outer(i, v):
        _, v = tf.while_loop(lambda j, _: j < 2, middle, [tf.constant(0), v])
        with on(0):
            return i + 1, v - 3.0

    _, y = tf.while_loop(lambda i, _: i < n, outer, [tf.constant(0), constant(1.0)])
    tf.identity(y, "y")
    for k in (0, 2):
        c.run({"n:0": np.int32(k)}, ["y:0"])


@case("v1")
def v1_cond_in_while(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (4,))

    def body(i, v):
        with on(1):
            odd = tf.equal(i % 2, 1)

        def yes():
            with on(1):
                return v * 2.0 + 1.0

        def no():
            with on(2):
                return v - 1.0

        return i + 1, tf.cond(odd, yes, no)

    _, y = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), x])
    tf.identity(y, "y")
    for k in (0, 1, 4):
        c.run({"n:0": np.int32(k), "x:0": vector(2)}, ["y:0"])


@case("v1")
def v1_while_in_cond(c):
    p, x = c.feed("p", (), tf.bool), c.feed("x", (4,))

    def yes():
        def body(i, v):
            with on(2):
                return i + 1, v * 1.5
        with on(1):
            _, y = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), x])
            return y

    def no():
        with on(0):
            return x - 1.0

    tf.identity(tf.cond(p, yes, no), "y")
    for k in (True, False):
        c.run({"p:0": np.bool_(k), "x:0": vector(3)}, ["y:0"])


@case("v1")
def v1_nested_conds(c):
    p, q, x = c.feed("p", (), tf.bool), c.feed("q", (), tf.bool), c.feed("x", (4,))

    def yes():
        def inner_yes():
            with on(2):
                return tf.square(x)

        def inner_no():
            with on(1):
                return -x

        with on(1):
            return tf.cond(q, inner_yes, inner_no) + 1.0

    def no():
        with on(2):
            return x * 3.0

    with on(0):
        tf.identity(tf.cond(p, yes, no), "y")
    for k in (0, 1, 2, 3):
        c.run({"p:0": np.bool_(k & 1), "q:0": np.bool_(k & 2), "x:0": vector(4)}, ["y:0"])


@case("v1")
def v1_cond_predicate_remote(c):
    x = c.feed("x", (4,))
    with on(2):
        p = tf.reduce_sum(x) > 0.0

    def yes():
        with on(0):
            a = x + 1.0
        with on(1):
            return a * 2.0, tf.reduce_max(x)

    def no():
        with on(1):
            return x, tf.constant(7.0)

    y, z = tf.cond(p, yes, no)
    with on(0):
        tf.add(y, z, "y")
    c.run({"x:0": vector(5)}, ["y:0"])
    c.run({"x:0": -np.abs(vector(5))}, ["y:0"])
    c.run({"x:0": np.abs(vector(5))}, ["y:0"])


def run_predicates(c, y):
    """Runs with all pairs of the predicates `p` and `q`, and fetches `y` on the first device."""
    with on(0):
        tf.identity(y, "y")
    for k in (0, 1, 2, 3):
        c.run({"p:0": np.bool_(k & 1), "q:0": np.bool_(k & 2), "x:0": vector(10 + k)}, ["y:0"])


def predicates(c):
    """Predicates and a value that are made on the first device."""
    p, q, x = c.feed("p", (), tf.bool), c.feed("q", (), tf.bool), c.feed("x", (4,))
    with on(0):
        return tf.logical_and(p, True), tf.logical_or(q, False), tf.identity(x)


def at(i, f, *values):
    with on(i):
        return f(*values)


@case("v1")
def v1_cond_one_branch_remote(c):
    p, _, x = predicates(c)
    run_predicates(c, tf.cond(p, lambda: at(1, tf.square, x), lambda: at(0, tf.negative, x)))


@case("v2")
def v2_nested_predicates(c):
    p, q, x = predicates(c)
    inner = lambda: tf.cond(q, lambda: at(1, tf.square, x), lambda: at(0, tf.sin, x))
    run_predicates(c, tf.cond(p, inner, lambda: at(0, tf.negative, x)))


@case("v1")
def v1_cond_value_inside(c):
    p, _, x = predicates(c)
    there_and_back = lambda: at(0, tf.cos, at(1, tf.square, at(0, tf.sin, x)))
    run_predicates(c, tf.cond(p, there_and_back, lambda: at(0, tf.negative, x)))


@case("v2")
def v2_nested_predicate_inside(c):
    p, _, x = predicates(c)

    def inner():
        q = at(0, lambda: tf.reduce_sum(x) > 0.0)
        return tf.cond(q, lambda: at(1, tf.square, x), lambda: at(0, tf.sin, x))

    run_predicates(c, tf.cond(p, inner, lambda: at(0, tf.negative, x)))


@case("v1")
def v1_cond_constants(c):
    p, _, _ = predicates(c)
    with on(1):
        y = tf.cond(p, lambda: constant([1.0, 2.0]), lambda: constant([3.0, 4.0]))
    run_predicates(c, y)


@case("v2")
def v2_three_deep_value_inside(c):
    p, _, x = predicates(c)

    def third():
        r = at(0, lambda: tf.reduce_max(x) > 0.5)
        return tf.cond(r, lambda: at(1, tf.square, at(0, tf.exp, x)), lambda: at(0, tf.sin, x))

    def second():
        q = at(0, lambda: tf.reduce_sum(x) > 0.0)
        return tf.cond(q, third, lambda: at(0, tf.cos, x))

    run_predicates(c, tf.cond(p, second, lambda: at(0, tf.negative, x)))


@case("v1")
def v1_cond_chain_of_devices(c):
    p, _, x = predicates(c)
    around = lambda: at(0, tf.abs, at(2, tf.cos, at(1, tf.square, x)))
    run_predicates(c, tf.cond(p, around, lambda: at(0, tf.negative, x)))


@case("v2")
def v2_cond_there_and_back(c):
    p, _, x = predicates(c)
    with on(0):
        y = tf.cos(x)
    around = lambda: at(2, tf.square, at(0, tf.sin, at(1, tf.add, x, y)))
    run_predicates(c, tf.cond(p, around, lambda: at(0, tf.negative, y)))


@case("v1")
def v1_cond_of_cond_result(c):
    p, _, x = predicates(c)
    y = tf.cond(p, lambda: at(2, tf.square, x), lambda: at(1, tf.negative, x))
    q = at(0, lambda: tf.reduce_sum(y) > 0.0)
    run_predicates(c, tf.cond(q, lambda: at(2, tf.sin, y), lambda: at(0, tf.cos, x)))


@case("v1")
def v1_while_swapped_variables(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (4,))

    def body(i, a, b):
        with on(1):
            s = a + b
        with on(2):
            t = a - b
        return i + 1, t, s

    with on(1):
        z = x * 2.0
    _, a, b = tf.while_loop(lambda i, *_: i < n, body, [tf.constant(0), x, z])
    tf.identity(a, "a")
    tf.identity(b, "b")
    for k in (0, 3):
        c.run({"n:0": np.int32(k), "x:0": vector(6)}, ["a:0", "b:0"])


@case("v1")
def v1_while_condition_remote(c):
    x = c.feed("x", (4,))

    def cond(v):
        with on(2):
            return tf.reduce_sum(v) < 20.0

    def body(v):
        with on(1):
            return v * 2.0 + 1.0

    with on(0):
        y = tf.while_loop(cond, body, [x])
        tf.identity(y, "y")
    c.run({"x:0": vector(7)}, ["y:0"])
    c.run({"x:0": vector(7) + 10}, ["y:0"])


@case("v1")
def v1_while_collects(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (4,))
    with on(0):
        array = tf.TensorArray(tf.float32, size=n, element_shape=(4,), clear_after_read=False)

    def body(i, v, array):
        with on(1):
            v = tf.sin(v) + v
        return i + 1, v, array.write(i, v)

    with on(1):
        _, _, array = tf.while_loop(lambda i, *_: i < n, body, [tf.constant(0), x, array])
    tf.identity(array.stack(), "y")
    for k in (1, 4):
        c.run({"n:0": np.int32(k), "x:0": vector(8)}, ["y:0"])


@case("v1")
def v1_while_shared_invariants(c):
    n, x, w = c.feed("n", (), tf.int32), c.feed("x", (2,)), c.feed("w", (2, 2))
    with on(2):
        scaled = w * 0.5

    def body(i, v):
        with on(1):
            a = tf.linalg.matvec(scaled, v)
        with on(2):
            b = tf.linalg.matvec(scaled, a)
        with on(1):
            return i + 1, a + b

    _, y = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), x])
    tf.identity(y, "y")
    for k in (0, 3):
        c.run({"n:0": np.int32(k), "x:0": vector(9, 2), "w:0": vector(10, 4).reshape(2, 2)}, ["y:0"])


@case("v1")
def v1_two_loops_in_a_row(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (4,))

    def loop(where, start, step):
        def body(i, v):
            with on(where):
                return i + 1, v + step
        return tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), start])[1]

    y = loop(2, loop(1, x, 1.0), 2.0)
    with on(1):
        tf.add(y, x, "y")
    for k in (0, 2):
        c.run({"n:0": np.int32(k), "x:0": vector(11)}, ["y:0"])


@case("v1")
def v1_control_into_loop(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (4,))
    with on(2):
        before = tf.identity(x * 2.0, "before")

    def body(i, v):
        with on(1):
            a = tf.sin(v)
        with on(2), tf.control_dependencies([a]):
            b = tf.cos(v)
        with on(0), tf.control_dependencies([b]):
            return i + 1, v + 1.0

    with tf.control_dependencies([before]):
        _, y = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), x])
    with on(1), tf.control_dependencies([y]):
        tf.identity(x, "y")
    for k in (0, 2):
        c.run({"n:0": np.int32(k), "x:0": vector(12)}, ["y:0"])


@case("v1")
def v1_grad_of_cond(c):
    x = c.feed("x", (4,))
    with on(1):
        p = tf.reduce_sum(x) > 0.0

    def yes():
        with on(1):
            return tf.square(x)

    def no():
        with on(2):
            return tf.sin(x) * x

    y = tf.cond(p, yes, no)
    with on(0):
        loss = tf.reduce_sum(y)
    tf.identity(tf.gradients(loss, x)[0], "dx")
    c.run({"x:0": np.abs(vector(13))}, ["dx:0"])
    c.run({"x:0": -np.abs(vector(13))}, ["dx:0"])


@case("v1")
def v1_grad_of_nested(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (3,))

    def body(i, v):
        def yes():
            with on(2):
                return v * v

        def no():
            with on(1):
                return tf.sin(v)

        return i + 1, tf.cond(i % 2 > 0, yes, no)

    with on(1):
        _, y = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), x])
    loss = tf.reduce_sum(y)
    tf.identity(tf.gradients(loss, x)[0], "dx")
    for k in (1, 3):
        c.run({"n:0": np.int32(k), "x:0": vector(14, 3)}, ["dx:0"])


@case("v1")
def v1_raw_dead_merge(c):
    p, x = c.feed("p", (), tf.bool), c.feed("x", (4,))
    with on(0):
        no, yes = RAW.Switch(data=x, pred=p)
    with on(1):
        a = yes + 1.0
    with on(2):
        b = no * 2.0
        both = a + b
    with on(1):
        y, index = RAW.Merge(inputs=[a, b])
        late, _ = RAW.Merge(inputs=[both, y])
    tf.identity(y, "y")
    tf.identity(index, "index")
    tf.identity(late, "late")
    for k in (True, False):
        c.run({"p:0": np.bool_(k), "x:0": vector(15)}, ["y:0", "index:0", "late:0"])


@case("v1")
def v1_control_from_dead(c):
    p, x = c.feed("p", (), tf.bool), c.feed("x", (4,))
    with on(1):
        no, yes = RAW.Switch(data=x, pred=p)
        a = tf.identity(yes + 1.0, "a")
    with on(2), tf.control_dependencies([a]):
        gated = tf.identity(x, "gated")
    with on(0):
        y, _ = RAW.Merge(inputs=[gated, no])
    tf.identity(y, "y")
    for k in (True, False):
        c.run({"p:0": np.bool_(k), "x:0": vector(16)}, ["y:0"])


# --- Functional control flow ----------------------------------------------------------------------------------

@case("v2")
def v2_cond_in_while(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (4,))

    def body(i, v):
        def yes():
            with on(1):
                return v * 2.0

        def no():
            with on(2):
                return v - 1.0

        with on(0):
            return i + 1, tf.cond(i % 2 > 0, yes, no)

    _, y = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), x])
    tf.identity(y, "y")
    for k in (0, 3):
        c.run({"n:0": np.int32(k), "x:0": vector(20)}, ["y:0"])


@case("v2")
def v2_while_in_cond(c):
    p, x = c.feed("p", (), tf.bool), c.feed("x", (4,))

    def yes():
        def body(i, v):
            with on(2):
                return i + 1, v * 1.5
        return tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), x])[1]

    def no():
        with on(1):
            return x - 1.0

    tf.identity(tf.cond(p, yes, no), "y")
    for k in (True, False):
        c.run({"p:0": np.bool_(k), "x:0": vector(21)}, ["y:0"])


@case("v2")
def v2_nested_three_deep(c):
    n = c.feed("n", (), tf.int32)

    def inner(k, v):
        with on(2):
            return k + 1, v + 1.0

    def middle(j, v):
        with on(1):
            v = v * 2.0
        return j + 1, tf.while_loop(lambda k, _: k < 2, inner, [tf.constant(0), v])[1]

    def outer(i, v):
        _, v = tf.while_loop(lambda j, _: j < 2, middle, [tf.constant(0), v])
        with on(0):
            return i + 1, v - 3.0

    _, y = tf.while_loop(lambda i, _: i < n, outer, [tf.constant(0), constant(1.0)])
    tf.identity(y, "y")
    for k in (0, 2):
        c.run({"n:0": np.int32(k)}, ["y:0"])


@case("v2")
def v2_case_of_loops(c):
    i, x = c.feed("i", (), tf.int32), c.feed("x", (4,))

    def branch(where, step):
        def body(j, v):
            with on(where):
                return j + 1, v + step
        return lambda: tf.while_loop(lambda j, _: j < 2, body, [tf.constant(0), x])[1]

    y = tf.switch_case(i, [branch(0, 1.0), branch(1, 2.0), branch(2, 3.0)])
    tf.identity(y, "y")
    for k in (0, 1, 2, 7):
        c.run({"i:0": np.int32(k), "x:0": vector(22)}, ["y:0"])


@case("v2")
def v2_cond_of_variables(c):
    p, x = c.feed("p", (), tf.bool), c.feed("x", (4,))
    with on(1):
        v = tf.get_variable("v", initializer=constant([1, 2, 3, 4]), use_resource=True)
    with on(2):
        w = tf.get_variable("w", initializer=constant([5, 6, 7, 8]), use_resource=True)
    tf.group(v.initializer, w.initializer, name="init")

    def yes():
        return v.assign_add(x).read_value()

    def no():
        return w.assign_sub(x).read_value()

    tf.identity(tf.cond(p, yes, no), "y")
    tf.add(v, w, "sum")
    for k in (True, False, True):
        c.run({"p:0": np.bool_(k), "x:0": vector(23)}, ["y:0"])
    c.run({}, ["sum:0"])
    c.has_init = True


@case("v2")
def v2_grad_of_while(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (3,))

    def body(i, v):
        with on(1):
            a = tf.sin(v)
        with on(2):
            return i + 1, a * v

    _, y = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), x])
    loss = tf.reduce_sum(y)
    tf.identity(tf.gradients(loss, x)[0], "dx")
    for k in (1, 3):
        c.run({"n:0": np.int32(k), "x:0": vector(24, 3)}, ["dx:0"])


@case("v2")
def v2_while_with_strings(c):
    n = c.feed("n", (), tf.int32)
    with on(1):
        start = tf.constant("a")

    def body(i, s):
        with on(2):
            return i + 1, tf.strings.join([s, tf.strings.as_string(i)], "-")

    _, s = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), start])
    with on(0):
        tf.strings.length(s, name="y")
    for k in (0, 3):
        c.run({"n:0": np.int32(k)}, ["y:0"])


@case("v2")
def v2_unneeded_values(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (4,))
    with on(2):
        start = tf.sin(x)
    with on(1):
        p = tf.reduce_sum(x) > 0.0

    def body(i, v, unneeded):
        with on(2):
            unneeded = tf.cos(unneeded)
        with on(1):
            return i + 1, v * 2.0, unneeded

    _, y, unneeded = tf.while_loop(lambda i, *_: i < n, body, [tf.constant(0), x, start])

    def yes():
        with on(2):
            tf.exp(unneeded)
        with on(1):
            return y + 1.0

    tf.identity(tf.cond(p, yes, lambda: y), "y")
    for k in (0, 2):
        c.run({"n:0": np.int32(k), "x:0": vector(25)}, ["y:0"])


# --- Functions ------------------------------------------------------------------------------------------------

@case()
def functions_shared(c):
    x = c.feed("x", (4,))

    @tf2.function
    def twice(v):
        return v * 2.0 + 1.0

    with on(1):
        a = twice(x)
    with on(2):
        b = twice(a)
    with on(0):
        tf.add(a, b, "y")
    c.run({"x:0": vector(30)}, ["y:0"])


@case()
def functions_nested(c):
    x = c.feed("x", (4,))

    @tf2.function
    def inner(v):
        with on(2):
            return tf.sin(v)

    @tf2.function
    def outer(v):
        with on(1):
            w = inner(v) * 2.0
        return w + inner(w), w

    a, b = outer(x)
    with on(0):
        tf.add(a, b, "y")
    c.run({"x:0": vector(31)}, ["y:0"])


# --- Graphs without control flow ------------------------------------------------------------------------------

@case()
def strings_across(c):
    i = c.feed("i", (3,), tf.int32)
    with on(1):
        s = tf.strings.as_string(i)
    with on(2):
        t = tf.strings.join([s, s], ":")
    with on(1):
        n = tf.strings.length(t, name="n")
        tf.strings.to_number(s, tf.float32, name="y")
    c.run({"i:0": np.array([1, 23, 456], np.int32)}, ["n:0", "y:0"])


@case()
def shapes_stay(c):
    x = c.feed("x", (None, None))
    with on(2):
        a = x * 2.0
    s = tf.shape(a)
    n = tf.size(a)
    r = tf.rank(a)
    with on(1):
        b = tf.reshape(a, tf.reverse(s, [0]))
        tf.identity(b, "y")
    tf.add(n, r, "z")
    c.run({"x:0": vector(40, 6).reshape(2, 3)}, ["y:0", "z:0"])


@case()
def many_types_across(c):
    x = c.feed("x", (3,))
    with on(1):
        i, b = tf.cast(x * 10.0, tf.int64), x > 0.0
        z = tf.complex(x, -x)
        d = tf.cast(x, tf.float64)
    with on(2):
        tf.add(i, tf.cast(b, tf.int64), "i")
        tf.multiply(z, z, "z")
        tf.identity(d * d, "d")
    c.run({"x:0": vector(41, 3)}, ["i:0", "z:0", "d:0"])


@case()
def control_edges_merge(c):
    x = c.feed("x", (4,))
    with on(1):
        a = [tf.identity(x + float(i), f"a{i}") for i in range(4)]
    with on(2):
        b = [tf.identity(x - float(i), f"b{i}") for i in range(3)]
    with on(0), tf.control_dependencies(a + b):
        y = tf.identity(x, "y")
    with on(0), tf.control_dependencies(a[:2]):
        z = tf.identity(x, "z")
    with on(2), tf.control_dependencies(a):
        w = x * 2.0
    tf.identity(w, "w")
    c.run({"x:0": vector(42)}, ["y:0", "z:0", "w:0"])


@case()
def control_chain(c):
    x = c.feed("x", (4,))
    last = x
    with on(0):
        y = x
    for i in range(6):
        with on(i % 3), tf.control_dependencies([y]):
            y = tf.identity(x * float(i), f"y{i}")
    tf.identity(y, "y")
    c.run({"x:0": vector(43)}, ["y:0"])


@case()
def group_of_targets(c):
    x = c.feed("x", ())
    ops = []
    for i in range(3):
        with on(i):
            v = tf.get_variable(f"v{i}", initializer=constant(float(i)), use_resource=True)
            ops.append(v.assign_add(x * float(i + 1)).op)
    tf.group(*[tf.global_variables_initializer()], name="init")
    tf.group(*ops, name="step")
    with on(0):
        tf.add_n([v.read_value() for v in tf.global_variables()], name="sum")
    c.run({"x:0": np.float32(1)}, [], ["step"])
    c.run({"x:0": np.float32(2)}, [], ["step"])
    c.run({}, ["sum:0"])
    c.has_init = True


@case()
def momentum_on_parameter_devices(c):
    x, t = c.feed("x", (4, 2)), c.feed("t", (4, 1))
    with on(1):
        w = tf.get_variable("w", initializer=constant([[0.5], [-0.5]]), use_resource=True)
    with on(2):
        b = tf.get_variable("b", initializer=constant([0.1]), use_resource=True)
    with on(0):
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - t), name="loss")
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="step")
    tf.group(tf.global_variables_initializer(), name="init")
    feeds = {"x:0": vector(44, 8).reshape(4, 2), "t:0": vector(45, 4).reshape(4, 1)}
    c.run(feeds, [], ["step"])
    c.run(feeds, ["loss:0"], ["step"])
    c.run(feeds, ["loss:0"])
    c.has_init = True


@case()
def ref_variable_assigned_across(c):
    x = c.feed("x", (4,))
    with on(2):
        v = tf.Variable([0.0, 0, 0, 0], name="v", use_resource=False)
    tf.group(v.initializer, name="init")
    with on(1):
        new = x * 3.0
    set_ = tf.assign(v, new, name="set")
    with on(0):
        tf.identity(v * 2.0, "y")
        with tf.control_dependencies([set_]):
            tf.identity(x, "done")
    c.run({"x:0": vector(46)}, ["done:0"])
    c.run({}, ["y:0"])
    c.has_init = True


@case()
def colocate_with_feed_and_chain(c):
    x = c.feed("x", (4,))
    with on(1):
        a = tf.identity(x + 1.0, "a")
    with tf.colocate_with(a):
        b = tf.identity(x * 2.0, "b")
    with tf.colocate_with(b):
        d = tf.identity(a + b, "d")
    with on(2):
        tf.identity(d - 1.0, "y")
    c.run({"x:0": vector(47)}, ["y:0"])


@case()
def colocate_contradiction(c):
    x = c.feed("x", (4,))
    with on(1):
        a = tf.identity(x, "a")
    with tf.device(None):
        with tf.colocate_with(a):
            b = tf.identity(x, "b")
    b.op._set_device("/device:CPU:2")
    tf.add(a, b, "y")
    c.run({"x:0": vector(48)}, ["y:0"], error=("placement", "b"))


@case(soft=True)
def soft_index_dropped(c):
    x = c.feed("x", (4,))
    with tf.device("/device:GPU:0"):
        a = tf.identity(x + 1.0, "a")
    with tf.device("/device:CPU:9"):
        b = tf.identity(a * 2.0, "b")
    with on(1):
        tf.identity(b, "y")
    c.run({"x:0": vector(49)}, ["y:0"])


@case()
def fetch_of_fed_and_constant(c):
    x = c.feed("x", (4,))
    with on(1):
        k = constant([1, 2, 3, 4], name="k")
        a = tf.identity(x, "a")
        b = tf.identity(a + k, "b")
    with on(2):
        tf.identity(b, "y")
    c.run({"x:0": vector(50)}, ["y:0", "k:0", "x:0"])
    c.run({"b:0": vector(51)}, ["y:0"])
    c.run({"a:0": vector(52)}, ["b:0", "y:0"])


@case()
def queue_of_noops(c):
    x = c.feed("x", (4,))
    with on(1):
        a = tf.identity(x + 1.0, "a")
    with on(2), tf.control_dependencies([a]):
        n = tf.no_op("n")
    with on(0), tf.control_dependencies([n]):
        y = tf.identity(x * 2.0, "y")
    with on(1), tf.control_dependencies([n]):
        z = tf.identity(x * 3.0, "z")
    c.run({"x:0": vector(53)}, ["y:0", "z:0"])


@case()
def split_and_concat(c):
    x = c.feed("x", (6, 2))
    with on(1):
        parts = tf.split(x, 3)
    made = []
    for i, part in enumerate(parts):
        with on(i):
            made.append(tf.nn.relu(part) + float(i))
    with on(2):
        tf.concat(made, 0, "y")
    c.run({"x:0": vector(54, 12).reshape(6, 2)}, ["y:0"])


@case()
def error_in_the_middle(c):
    x, i = c.feed("x", (4,)), c.feed("i", (2,), tf.int32)
    with on(1):
        a = x + 1.0
    with on(2):
        bad = tf.gather(a, i, name="bad")
    with on(0):
        tf.identity(bad * 2.0, "y")
        tf.identity(a, "z")
    c.run({"x:0": vector(55), "i:0": np.array([1, 2], np.int32)}, ["y:0", "z:0"])
    c.run({"x:0": vector(55), "i:0": np.array([1, 9], np.int32)}, ["y:0", "z:0"], error=("execution", "bad"))


@case("v1")
def error_in_a_loop(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (4,))

    def body(i, v):
        with on(2):
            picked = tf.gather(x, i, name="picked")
        with on(1):
            return i + 1, v + picked

    with on(1):
        _, y = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), constant(0.0)])
    tf.identity(y, "y")
    c.run({"n:0": np.int32(3), "x:0": vector(56)}, ["y:0"])
    c.run({"n:0": np.int32(6), "x:0": vector(56)}, ["y:0"], error=("execution", "while/picked"))


@case("v1")
def error_in_a_branch(c):
    p, x = c.feed("p", (), tf.bool), c.feed("x", (4,))

    def yes():
        with on(1):
            return tf.gather(x, 7, name="picked")

    def no():
        with on(2):
            return tf.reduce_sum(x)

    tf.identity(tf.cond(p, yes, no), "y")
    c.run({"p:0": np.bool_(False), "x:0": vector(57)}, ["y:0"])
    c.run({"p:0": np.bool_(True), "x:0": vector(57)}, ["y:0"], error=("execution", "cond/picked"))


def random_dag(seed, n):
    def build(c):
        dice = np.random.RandomState(seed)
        values = [c.feed("x", (4,)), c.feed("z", (4,))]
        for i in range(n):
            a, b = values[dice.randint(len(values))], values[dice.randint(len(values))]
            edges = [values[dice.randint(len(values))].op] if dice.rand() < 0.2 else []
            where = tf.device(None) if dice.rand() < 0.15 else on(dice.randint(3))
            with where, tf.control_dependencies(edges):
                kind = dice.randint(6)
                made = [lambda: a + b, lambda: a * 0.5 - b, lambda: tf.sin(a), lambda: tf.maximum(a, b),
                        lambda: a * constant([1, 2, 3, 4]), lambda: tf.reshape(a, tf.shape(b))][kind]()
            values.append(made)
        for i, value in enumerate(values[-4:]):
            tf.identity(value, f"y{i}")
        feeds = {"x:0": vector(seed), "z:0": vector(seed + 1)}
        c.run(feeds, [f"y{i}:0" for i in range(4)])
        c.run(feeds, ["y3:0"])
    build.__name__ = f"random_dag_{seed}"
    return build


for seed in (60, 61, 62, 63):
    case()(random_dag(seed, 10 * (seed - 58)))


def random_flow(seed, flow):
    def build(c):
        dice = np.random.RandomState(seed)
        n, x = c.feed("n", (), tf.int32), c.feed("x", (4,))

        def some(values):
            return values[dice.randint(len(values))]

        def block(values, depth):
            values = list(values)
            for _ in range(dice.randint(1, 4)):
                kind = dice.randint(6 if depth < 3 else 4)
                a, b = some(values), some(values)
                if kind < 4:
                    with on(dice.randint(3)):
                        values.append([lambda: a * 0.5 + b, lambda: tf.sin(a), lambda: a - 1.0,
                                       lambda: tf.minimum(a, b)][kind]())
                elif kind == 4:
                    with on(dice.randint(3)):
                        p = tf.reduce_sum(a) > 0.0
                    values.append(tf.cond(p, lambda: block(values, depth + 1), lambda: block(values, depth + 1)))
                else:
                    outer, m = list(values), dice.randint(1, 3)
                    two = dice.rand() < 0.5

                    def body(i, *vs):
                        made = block(outer + list(vs), depth + 1)
                        return (i + 1, made) + ((vs[0],) if two else ())

                    with on(dice.randint(3)):
                        start = [tf.constant(0), a] + ([b] if two else [])
                        out = tf.while_loop(lambda i, *_: i < m, body, start)
                    values.append(out[1])
            return values[-1]

        def step(i, v):
            return i + 1, block([x, v], 1)

        with on(dice.randint(3)):
            y = tf.while_loop(lambda i, _: i < n, step, [tf.constant(0), x])[1]
        tf.identity(block([x, y], 0), "y")
        for k in (0, 1, 3):
            c.run({"n:0": np.int32(k), "x:0": vector(seed)}, ["y:0"])
    build.__name__ = f"random_flow_{flow}_{seed}"
    return build


for seed in range(100, 110):
    case("v1")(random_flow(seed, "v1"))
for seed in range(110, 120):
    case("v2")(random_flow(seed, "v2"))


# --- Several tasks --------------------------------------------------------------------------------------------

@case(jobs={"worker": 2})
def dist_constants_and_control(c):
    x = c.feed("x", (4,))
    with tf.device("/job:worker/task:1"):
        a = x + constant([1, 2, 3, 4])
        b = tf.identity(x, "b")
    with tf.device("/job:worker/task:0"), tf.control_dependencies([b]):
        tf.multiply(a, 2.0, name="y")
    c.run({"x:0": vector(70)}, ["y:0"])


@case("v1", jobs={"worker": 2})
def dist_while(c):
    n, x = c.feed("n", (), tf.int32), c.feed("x", (4,))

    def body(i, v):
        with tf.device("/job:worker/task:1"):
            return i + 1, v * 2.0

    with tf.device("/job:worker/task:0"):
        _, y = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), x])
        tf.identity(y, "y")
    for k in (0, 3):
        c.run({"n:0": np.int32(k), "x:0": vector(71)}, ["y:0"])


@case("v1", jobs={"ps": 1, "worker": 2})
def dist_cond_of_variables(c):
    p, x = c.feed("p", (), tf.bool), c.feed("x", (4,))
    with tf.device("/job:ps/task:0"):
        v = tf.get_variable("v", initializer=constant([1, 2, 3, 4]), use_resource=True)
    tf.group(v.initializer, name="init")

    def yes():
        with tf.device("/job:worker/task:0"):
            return x * v

    def no():
        with tf.device("/job:worker/task:1"):
            return x - v

    with tf.device("/job:worker/task:0"):
        tf.identity(tf.cond(p, yes, no), "y")
    for k in (True, False):
        c.run({"p:0": np.bool_(k), "x:0": vector(72)}, ["y:0"])
    c.has_init = True


# --- Collectives ----------------------------------------------------------------------------------------------

def collective(c, make, n=3):
    for i in range(n):
        x = c.feed(f"x{i}", (2,))
        with on(i):
            tf.identity(make(x, i), f"y{i}")
    c.run({f"x{i}:0": vector(80 + i, 2) for i in range(n)}, [f"y{i}:0" for i in range(n)])


@case()
def collective_all_min(c):
    collective(c, lambda x, i: RAW.CollectiveReduce(
        input=x, group_size=3, group_key=1, instance_key=5, merge_op="Min", final_op="Id", subdiv_offsets=[0]))


@case()
def collective_mean(c):
    collective(c, lambda x, i: RAW.CollectiveReduce(
        input=x, group_size=3, group_key=1, instance_key=5, merge_op="Add", final_op="Div", subdiv_offsets=[0]))


@case()
def collective_gather(c):
    collective(c, lambda x, i: RAW.CollectiveGather(
        input=x, group_size=3, group_key=1, instance_key=6, shape=[6]))


@case()
def collective_broadcast(c):
    def make(x, i):
        if i == 0:
            return RAW.CollectiveBcastSend(input=x, group_size=3, group_key=1, instance_key=7, shape=[2])
        return x + RAW.CollectiveBcastRecv(T=tf.float32, group_size=3, group_key=1, instance_key=7, shape=[2])
    collective(c, make)


@case()
def collective_reduce_v2(c):
    collective(c, lambda x, i: RAW.CollectiveReduceV2(
        input=x, group_size=3, group_key=1, instance_key=8, ordering_token=[], merge_op="Add", final_op="Id"))


def main():
    root, names = sys.argv[1], sys.argv[2:] or list(CASES)
    failed = []
    for name in names:
        try:
            CASES[name]().write(root)
        except Exception as why:
            if sys.argv[2:]:
                raise
            shutil.rmtree(os.path.join(root, name), ignore_errors=True)
            failed.append(name)
            print(f"{name}: {type(why).__name__}: {str(why)[:200]}")
    if failed:
        sys.exit(f"{len(failed)} not written: {', '.join(failed)}")


if __name__ == "__main__":
    main()
