"""Operators on random operands, eagerly in TensorFlow and in Befrost, in one process. No cases: it prints what differs.

    python tools/tensorflow/random_operators.py NUMBER FIRST_SEED [OPERATOR ...]

Needs the Python package. TensorFlow's own descriptions of its operators are the grammar: operands and attributes are drawn by their types and names, so that a
good part of them fits together. All operators of both sides take part that have neither state nor functions. For each one it prints how often both agreed, both
refused, or only one did, and the first example of what is to be looked at: `differ` (values, types or shapes) and `refused` (by us alone; see OPERATORS.md).
A process for each operator: TensorFlow's kernels of windows divide by zero for some sizes, and abort.
"""
import collections
import inspect
import os
import random
import signal
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
warnings.filterwarnings("ignore")

import befrost as bf
import ml_dtypes
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

# The types of operands, by TensorFlow's numbers; those with a weight are drawn more often.
DTYPES = {number: tf.dtypes.as_dtype(number).as_numpy_dtype for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 17, 18, 19, 22, 23)}
WEIGHTS = {1: 8, 2: 2, 3: 3, 9: 3}
STRING, INDICES = 7, (3, 9)
TOLERANCES = {np.dtype(np.float16): 3e-3, np.dtype(ml_dtypes.bfloat16): 3e-2, np.dtype(np.float32): 2e-4, np.dtype(np.complex64): 2e-4}
TEXTS = [b"", b"a", b"ab c", b"12", b"-3.5", "H\u00e4llo".encode(), b"x,y,z", b"1e3", b"TRUE", b"  pad "]

AXES = {"axis", "dim", "dimension", "concat_dim", "split_dim"}
MANY_AXES = {"reduction_indices", "reduction_axes", "axes"}
SHAPES = {"shape", "dims", "dense_shape", "input_shape"}
VECTORS = SHAPES | {"output_shape", "multiples", "size", "begin", "end", "strides", "sizes", "shift", "input_sizes", "filter_sizes", "block_shape",
                    "output_size", "orig_input_shape", "new_shape"}
NUMBERS = {"k", "depth", "num", "num_segments", "limit", "start", "delta", "num_lower", "num_upper", "max_output_size", "minlength", "maxlength", "n",
           "num_bits"}
WINDOWS = {"strides", "ksize", "dilations", "window_strides"}


class NotDrawn(Exception):
    """Operands that the grammar has no rule for."""


class Draw:
    """The operands and attributes of one trial."""

    def __init__(self, op, seed):
        self.op, self.rng = op, random.Random(f"{op.name}{seed}")
        self.numbers = np.random.default_rng(self.rng.getrandbits(32))
        self.rank = self.rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5])
        self.base = self.shape(self.rank)
        self.shares_shapes = self.rng.random() < 0.6
        self.types, self.lengths, self.attrs = {}, {}, {}
        for attr in op.attr:
            self.attribute(attr)
        self.operands = {arg.name: self.argument(arg) for arg in op.input_arg}

    def shape(self, rank):
        return [0 if self.rng.random() < 0.05 else self.rng.choice([1, 2, 3, 4, 5]) for _ in range(rank)]

    def attribute(self, attr):
        """Draws an attribute, or a type or number that operands have."""
        name, rng = attr.name, self.rng
        of_operands = {arg.type_attr for arg in self.op.input_arg} | {arg.type_list_attr for arg in self.op.input_arg}
        if attr.type == "type":
            allowed = [ty for ty in (attr.allowed_values.list.type if attr.HasField("allowed_values") else DTYPES) if ty in DTYPES]
            if not allowed:
                raise NotDrawn
            self.types[name] = rng.choices(allowed, [WEIGHTS.get(ty, 1) for ty in allowed])[0]
            if name not in of_operands:
                self.attrs[name] = tf.dtypes.as_dtype(self.types[name]).name
        elif attr.type == "list(type)":
            self.types[name] = rng.choices(list(WEIGHTS), k=rng.choice([1, 1, 2, 3]))
            if name not in of_operands:
                self.attrs[name] = [tf.dtypes.as_dtype(ty).name for ty in self.types[name]]
        elif name in {arg.number_attr for arg in self.op.input_arg}:
            self.lengths[name] = max(rng.choice([1, 2, 2, 3]), attr.minimum)
        elif not (attr.HasField("default_value") and rng.random() < 0.5):
            value = self.value_of_attribute(attr)
            if value is not None:
                self.attrs[name] = value
            elif not attr.HasField("default_value"):
                raise NotDrawn

    def value_of_attribute(self, attr):
        """None for one that stays as it is if it is not given."""
        name, rng = attr.name, self.rng
        if attr.type == "bool":
            return rng.random() < 0.5
        if attr.type == "int":
            is_axis = "axis" in name or "dim" in name
            value = rng.randint(-self.rank, max(self.rank - 1, 0)) if is_axis else rng.choice([0, 1, 1, 2, 2, 3, 4, -1])
            return max(value, attr.minimum) if attr.has_minimum else value
        if attr.type == "float":
            return rng.choice([0.0, 0.5, 1.0, 0.1, 2.0, -1.0])
        if attr.type == "string" and attr.HasField("allowed_values"):
            return rng.choice(list(attr.allowed_values.list.s)).decode()
        if attr.type == "list(int)" and name in WINDOWS:
            inner = [rng.choice([1, 1, 2, 3]) for _ in range(max(self.rank - 2, 2))]
            return [1, 1, *inner] if self.attrs.get("data_format", "").startswith("NC") else [1, *inner, 1]
        if attr.type == "list(int)" and name != "explicit_paddings":
            return [rng.choice([0, 1, -1, 2]) for _ in range(rng.choice([0, 1, 1, 2]))]
        if attr.type == "list(float)":
            return [rng.choice([0.0, 0.5, 1.0, 2.0]) for _ in range(rng.choice([1, 2, 3]))]
        return list(self.base) if attr.type == "shape" else None

    def argument(self, arg):
        if arg.type_list_attr:
            return [self.operand(arg.name.lower(), ty) for ty in self.types[arg.type_list_attr]]
        ty = arg.type or self.types[arg.type_attr]
        if ty not in DTYPES:
            raise NotDrawn
        if arg.number_attr:
            return [self.operand(arg.name.lower(), ty) for _ in range(self.lengths[arg.number_attr])]
        return self.operand(arg.name.lower(), ty)

    def operand(self, name, ty):
        by_name = self.by_name(name) if ty in INDICES and self.rng.random() < 0.9 else None
        return self.values(self.operand_shape(), ty) if by_name is None else np.asarray(by_name, DTYPES[ty])

    def by_name(self, name):
        """Integers that fit the name of an operand; None if it tells nothing."""
        rng, rank, base = self.rng, self.rank, self.base
        if name in MANY_AXES or name in AXES and rng.random() < 0.3:
            axes = rng.sample(range(rank), rng.randint(0, rank))
            return [axis - rank if rng.random() < 0.3 else axis for axis in axes]
        if name in AXES:
            return rng.randint(-rank, max(rank - 1, 0))
        if name == "perm":
            return rng.sample(range(rank), rank)
        if name in SHAPES and rng.random() < 0.5:
            return rng.sample(base, rank) if name == "shape" and rng.random() < 0.4 else base
        if name in VECTORS:
            is_short = name in {"size", "output_size", "block_shape"} and rng.random() < 0.6
            return [rng.choice([1, 2, 3, 4, -1] if name == "size" else [0, 1, 1, 2, 2, 3, 4]) for _ in range(2 if is_short else rank)]
        if "padding" in name or name == "crops":
            return self.numbers.integers(0, 3, (rank if rng.random() < 0.7 else max(rank - 2, 1), 2))
        if name in NUMBERS:
            return rng.choice([0, 1, 2, 3, 4, 5, -1])
        if "indices" in name or "segment" in name or name in {"ids", "positions", "labels", "targets"}:
            rows = base[0] if base else 3
            found = self.numbers.integers(0, max(rows, 1), [rows] if "segment" in name else self.operand_shape())
            return np.sort(found) if "segment" in name and rng.random() < 0.8 else found
        return None

    def operand_shape(self):
        """The shape of this trial, one that broadcasts with it, or another."""
        rng, kind = self.rng, self.rng.random()
        if self.shares_shapes or kind < 0.4:
            if kind >= 0.25:
                return list(self.base)
            shape = [1 if rng.random() < 0.4 else size for size in self.base]
            return shape[rng.randint(0, len(shape)):] if rng.random() < 0.3 else shape
        return [] if kind < 0.55 else self.shape(rng.choice([0, 1, 1, 2, 2, 3, 4]))

    def values(self, shape, ty):
        rng, numbers, dtype = self.rng, self.numbers, DTYPES[ty]
        if ty == STRING:
            return np.array(rng.choices(TEXTS, k=int(np.prod(shape))), dtype=object).reshape(shape)
        kind = np.dtype(dtype).kind
        if dtype is np.bool_ or kind in "iu":
            low = 0 if kind in "ub" else -rng.choice([0, 0, 1, 3, 9])
            return numbers.integers(low, 2 if kind == "b" else rng.choice([1, 2, 3, 5, 20]) + 1, shape).astype(dtype)
        if kind == "c":
            return (numbers.normal(size=shape) + 1j * numbers.normal(size=shape)).astype(dtype)
        found, kind = np.asarray(numbers.normal(size=shape) * rng.choice([1, 1, 1, 3, 0.1])), rng.random()
        if kind < 0.25:
            found = np.abs(found)
        elif kind < 0.35:
            found = np.round(found)
        elif kind < 0.42 and found.size:
            found.reshape(-1)[numbers.integers(0, found.size, max(1, found.size // 3))] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30])
        return np.asarray(found).astype(dtype)


def arrays(results):
    """All results as arrays."""
    if isinstance(results, (list, tuple)):
        return [array for result in results for array in arrays(result)]
    return [np.asarray(results.numpy() if hasattr(results, "numpy") else results)]


def difference(want, got, tolerance):
    """What differs, if something does."""
    is_text = want.dtype.kind in "OSU" or got.dtype.kind in "OSU"
    if want.shape != got.shape or not is_text and want.dtype != got.dtype:
        return f"{got.dtype}{list(got.shape)}, TensorFlow {want.dtype}{list(want.shape)}"
    if is_text:
        as_bytes = lambda array: [text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text) for text in np.asarray(array, object).reshape(-1)]
        same = as_bytes(want) == as_bytes(got)
    elif want.dtype.kind in "biu":
        same = np.array_equal(want, got)
    else:
        wide, other = want.astype(np.complex128), got.astype(np.complex128)
        with np.errstate(all="ignore"):
            largest = min(max(1e-6, float(np.max(np.abs(wide[np.isfinite(wide)]), initial=0))), 1e30)
            same = np.allclose(other, wide, rtol=tolerance, atol=tolerance * largest, equal_nan=True)
    return None if same else f"{got.reshape(-1)[:6]}, TensorFlow {want.reshape(-1)[:6]}"


def by_tensorflow(op, draw):
    """TensorFlow's results. Its functions may have other names for parameters, in the order of the operator's."""
    function = getattr(tf.raw_ops, op.name)
    names = [name for name in inspect.signature(function).parameters if name != "name"]
    given = {name: [tf.constant(one) for one in value] if isinstance(value, list) else tf.constant(value) for name, value in draw.operands.items()}
    given |= draw.attrs
    derived = {name for arg in op.input_arg for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    declared = [part.name for part in [*op.input_arg, *op.attr] if part.name not in derived]
    free = [name for name in names if name not in declared]
    for name in declared:
        if name not in names and free:
            other = free.pop(0)
            if name in given:
                given[other] = given.pop(name)
    return arrays(function(**given))


def trial(op, seed):
    """What became of a trial, and why."""
    draw = Draw(op, seed)
    outcomes = []
    for run in (lambda: by_tensorflow(op, draw), lambda: arrays(getattr(bf.tf, op.name)(**draw.operands, **draw.attrs))):
        try:
            outcomes.append((run(), None))
        except Exception as error:  # noqa: BLE001: whatever either side refuses with
            outcomes.append((None, error))
    (want, theirs), (got, ours) = outcomes
    if theirs or ours:
        kind = "both refuse" if theirs and ours else "accepted" if theirs else "refused"
        return kind, None if theirs else f"{ours}"[:250], draw
    if len(want) != len(got):
        return "differ", f"{len(got)} results, TensorFlow {len(want)}", draw
    operands = [one for value in draw.operands.values() for one in (value if isinstance(value, list) else [value])]
    rough = max([TOLERANCES.get(one.dtype, 1e-9) for one in operands], default=0)
    for i, (one, other) in enumerate(zip(want, got)):
        why = difference(one, other, max(rough, TOLERANCES.get(one.dtype, 1e-8)))
        if why:
            return "differ", f"result {i}: {why}", draw
    return "agree", None, draw


def shown(draw):
    one = lambda array: f"{array.dtype}{list(array.shape)}:{array.reshape(-1)[:12].tolist()}"
    operands = {name: [one(array) for array in value] if isinstance(value, list) else one(value) for name, value in draw.operands.items()}
    return f"{operands} {draw.attrs}"


def trials(op, number, first):
    """Prints what became of all trials of an operator."""
    counts, examples = collections.Counter(), {}
    for seed in range(first, first + number):
        signal.alarm(20)
        try:
            kind, why, draw = trial(op, seed)
        except NotDrawn:
            continue
        finally:
            signal.alarm(0)
        counts[kind] += 1
        if why and kind not in examples:
            examples[kind] = f"    {kind}, seed {seed}: {' '.join(why.split())}\n        {shown(draw)}"
    if examples:
        print(op.name, ", ".join(f"{kind} {count}" for kind, count in counts.items()), *examples.values(), sep="\n", flush=True)


def takes_part(name):
    op = op_def_registry.get(name)
    parts = [*op.input_arg, *op.output_arg] if op else []
    resource, variant, references = 20, 21, 100
    return bool(
        op
        and hasattr(tf.raw_ops, name)
        and (not op.is_stateful or name.startswith("Stateless"))
        and not any(part.type in (resource, variant) or part.type > references for part in parts)
        and not any(attr.type == "func" for attr in op.attr)
        and name not in ("Const", "NoOp", "Placeholder")
    )


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    number, first, names = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    for name in names or sorted(name for name in dir(bf.tf) if takes_part(name)):
        sys.stdout.flush()
        child = os.fork()
        if not child:
            # What TensorFlow prints before it ends the process.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            signal.signal(signal.SIGALRM, lambda *_: os._exit(124))
            trials(op_def_registry.get(name), number, first)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print(f"{name}: ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"{name}: ended with {status >> 8}", flush=True)


if __name__ == "__main__":
    main()
