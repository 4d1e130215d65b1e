"""Cases of one node with onnxruntime's results, for `classical.py` and `transformers.py`."""
import json
import os
import sys
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper


def draw(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def modeled(op, feeds, outputs, opsets, attrs):
    """The model, its inputs, and the names of its results."""
    names = [f"y{i}" for i in range(len(outputs))]
    domain = next(iter(opsets))
    # The number of rows that a classical model gets is not known.
    rows = ["n"] if domain == "ai.onnx.ml" else []
    node = helper.make_node(op, [key if x is not None else "" for key, x in feeds.items()], names, domain=domain, **attrs)
    feeds = {key: x for key, x in feeds.items() if x is not None}
    elements = {key: TensorProto.STRING if x.dtype == object else helper.np_dtype_to_tensor_dtype(x.dtype) for key, x in feeds.items()}
    graph = helper.make_graph(
        [node], "single",
        [helper.make_tensor_value_info(key, elements[key], (rows + list(x.shape[1:])) if rows and x.ndim > 1 else x.shape) for key, x in feeds.items()],
        [helper.make_tensor_value_info(key, element, None) for key, element in zip(names, outputs)])
    imports = [helper.make_opsetid(*opset) for opset in ({"": 17} | opsets).items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=8), feeds, names


def written(folder, name, op, feeds, outputs, opsets, attrs, same_as=None):
    """Writes a case, unless onnxruntime refuses it. The results are those for the inputs `same_as`, if it is given."""
    made, feeds, names = modeled(op, feeds, outputs, opsets, attrs)
    reference, given, _ = modeled(op, same_as, outputs, opsets, attrs) if same_as else (made, feeds, names)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        results = onnxruntime.InferenceSession(reference.SerializeToString(), options).run(names, given)
    except Exception as error:
        print(f"{name}: onnxruntime refuses: {str(error).splitlines()[0][:160]}")
        return False
    to = os.path.join(folder, name)
    os.makedirs(to, exist_ok=True)
    onnx.save(made, os.path.join(to, "model.onnx"))
    description = {"inputs": {}, "outputs": {}}
    for kind, values in (("in", feeds.items()), ("out", zip(names, results))):
        for i, (tensor, value) in enumerate(values):
            file = f"run0_{kind}_{i}.npy"
            value = np.asarray(value)
            np.save(os.path.join(to, file), value.astype(str) if value.dtype == object else value)
            description[f"{kind}puts"][tensor] = file
    with open(os.path.join(to, "case.json"), "w") as file:
        json.dump(description, file)
    return True


def main(cases, kept):
    """`FOLDER` writes all cases, `FOLDER --kept` those in testdata. A case has the operator, the inputs, the element types of the results,
    the versions of the operator sets, that of the operator first, the attributes, and perhaps other inputs with the same results. An input of `None` is left out."""
    chosen = kept if "--kept" in sys.argv else list(cases)
    print(sum(written(sys.argv[1], name, *cases[name]) for name in chosen), "cases")
