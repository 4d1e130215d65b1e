"""The models for `compare.py` that ONNX has operators for and TensorFlow has not, or not as one."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import models


def save(path, nodes, inputs, outputs, weights, domains=()):
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "main", [value(*x) for x in inputs], [value(*x) for x in outputs],
                              [numpy_helper.from_array(x, name) for name, x in weights.items()])
    opsets = [helper.make_opsetid("", 21)] + [helper.make_opsetid(*domain) for domain in domains]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)


def lstm(path):
    """The layer of `models.lstm`, with the same weights in ONNX's order of gates: i, o, f, c."""
    (steps, inputs), units = models.MODELS["lstm"][1]["x"], models.LSTM_UNITS
    order = lambda x: np.concatenate([np.split(x, 4, -1)[gate] for gate in (0, 3, 1, 2)], -1)
    w, r, b = (order(x) for x in models.lstm_weights(inputs, units))
    weights = {"w": w.T[None].copy(), "r": r.T[None].copy(), "b": np.concatenate([b, np.zeros_like(b)])[None],
               "axes": np.array([1])}
    nodes = [helper.make_node("Transpose", ["x"], ["steps"], perm=[1, 0, 2]),
             helper.make_node("LSTM", ["steps", "w", "r", "b"], ["all"], hidden_size=units),
             helper.make_node("Squeeze", ["all", "axes"], ["states"]),
             helper.make_node("Transpose", ["states"], ["y"], perm=[1, 0, 2])]
    save(path, nodes, [("x", ["n", steps, inputs])], [("y", ["n", steps, units])], weights)


def trees(path, features=64, n_trees=200, depth=6):
    """A boosted ensemble: full trees of random splits, whose leaves are summed."""
    rng = np.random.default_rng(models.SEED)
    inner, all_nodes = 2**depth - 1, 2 ** (depth + 1) - 1
    at = np.arange(all_nodes)
    is_inner = at < inner
    each = lambda x: np.tile(x, n_trees).tolist()
    leaves = at[~is_inner]
    attrs = {
        "n_targets": 1,
        "nodes_treeids": np.repeat(np.arange(n_trees), all_nodes).tolist(),
        "nodes_nodeids": each(at),
        "nodes_featureids": np.where(each(is_inner), rng.integers(0, features, n_trees * all_nodes), 0).tolist(),
        "nodes_modes": each(np.where(is_inner, "BRANCH_LEQ", "LEAF")),
        "nodes_values": np.where(each(is_inner), rng.standard_normal(n_trees * all_nodes), 0).astype("f").tolist(),
        "nodes_truenodeids": each(np.where(is_inner, 2 * at + 1, 0)),
        "nodes_falsenodeids": each(np.where(is_inner, 2 * at + 2, 0)),
        "target_treeids": np.repeat(np.arange(n_trees), len(leaves)).tolist(),
        "target_nodeids": each(leaves),
        "target_ids": [0] * (n_trees * len(leaves)),
        "target_weights": rng.standard_normal(n_trees * len(leaves)).astype("f").tolist(),
    }
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **attrs)
    save(path, [node], [("x", ["n", features])], [("y", ["n", 1])], {}, [("ai.onnx.ml", 3)])


MODELS = {"lstm": lstm, "trees": trees}
