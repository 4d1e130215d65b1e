"""Random graphs over three devices with TensorFlow's results, placements and numbers of sends: more cases of `tools/tests/partition.rs`.

    python tools/tensorflow/random_partitions.py FOLDER FIRST_SEED NUMBER [--conditionals]
    BEFROST_PARTITION=FOLDER cargo test -p befrost-tools --test partition random_

Elementwise operators, reductions, gathers, control edges, variables, `cond` and `while_loop` nested up to three deep, as dataflow (TensorFlow 1) or as
functions, on devices by full, partial and old names, colocated, or free. Each case is made by a process of its own, since TensorFlow keeps the forms of
control flow for good. Results must not depend on an order that the graph does not say: all accesses of one variable are in one order.

With --conditionals mostly `cond` and `while_loop`, by predicates that several of them share, of few operators: whether a branch is cheaper here or there.
"""
import os
import random
import sys

import numpy as np
from partitions import Case, on, tf, vector

UNARY = [tf.tanh, tf.negative, tf.abs, tf.nn.relu, tf.square, tf.identity, tf.sin,
         lambda v: v * 0.5, lambda v: v + 1.0, lambda v: tf.reverse(v, [0]), lambda v: v - tf.reduce_mean(v),
         lambda v: tf.cast(tf.cast(v * 4, tf.int32), tf.float32), lambda v: tf.fill(tf.shape(v), tf.reduce_max(v)),
         lambda v: tf.gather(v, [3, 1, 0, 2]), lambda v: tf.where(v > 0, v, -v)]
BINARY = [tf.add, tf.multiply, tf.maximum, tf.minimum, tf.subtract, lambda a, b: tf.concat([a[:2], b[2:]], 0),
          lambda a, b: tf.stack([a, b])[0] + b]


class RandomGraph:
    """The graph of a seed. All tensors but predicates and counts have the shape [4]."""

    def __init__(self, case, rng):
        self.case, self.rng = case, rng
        self.count, self.flag = case.feed("n", (), tf.int32), case.feed("p", (), tf.bool)
        self.inputs = [case.feed("x", (4,)), case.feed("y", (4,))]
        self.has_control_flow = False
        self.variables, self.last_access = [], {}
        for i in range(rng.choice([0, 0, 1, 2])):
            with on(rng.randrange(3)):
                self.variables.append(tf.get_variable(f"v{i}", initializer=vector(i), use_resource=True))

    def device(self, near=None):
        """The scope of a random device, or of that of `near`."""
        kind, i = self.rng.random(), self.rng.randrange(3)
        if kind < 0.15:
            return tf.device(None)
        if kind < 0.25:
            return tf.device(f"/cpu:{i}")
        if kind < 0.32:
            return tf.device(f"/job:localhost/replica:0/task:0/device:CPU:{i}")
        if kind < 0.36:
            return tf.device("/job:localhost")
        if kind < 0.42 and near is not None:
            return tf.colocate_with(near.op)
        if kind < 0.46 and self.case.soft:
            return tf.device("/device:GPU:0")
        return on(i)

    def predicate(self, values):
        v, w = self.rng.choice(values), self.rng.choice(values)
        with self.device(v):
            return self.rng.choice([lambda: tf.reduce_sum(v) > 0.1, lambda: self.flag, lambda: v[0] < w[1]])()

    def within(self, seed, build):
        """What `build` makes with random choices of its own: control flow may call it more than once."""
        outer, self.rng = self.rng, random.Random(seed)
        made = build()
        self.rng = outer
        return made

    def cond(self, values, depth):
        self.has_control_flow = True
        predicate = self.predicate(values)
        n_results = self.rng.choice([1, 1, 2])

        def results():
            made = self.block(values, depth - 1, self.rng.randrange(1, 4))[-n_results:]
            if self.rng.random() < 0.2:
                made = [self.rng.choice(values) for _ in range(n_results)]
            return [tf.identity(value) for value in made]

        seeds = [self.rng.getrandbits(30) for _ in range(2)]
        made = tf.cond(predicate, *(lambda seed=seed: self.within(seed, results) for seed in seeds))
        return list(made) if isinstance(made, (list, tuple)) else [made]

    def loop(self, values, depth):
        self.has_control_flow = True
        limit = self.rng.choice([self.count, 2, 3, 0])
        first = [self.rng.choice(values) for _ in range(self.rng.choice([1, 2]))]
        ends_by_data, seed = self.rng.random() < 0.25, self.rng.getrandbits(30)

        def goes_on(i, *carried):
            return tf.logical_and(i < limit, tf.reduce_sum(carried[0]) < 50.0) if ends_by_data else i < limit

        def body(i, *carried):
            def results():
                made = self.block(values[-3:] + list(carried), depth - 1, self.rng.randrange(1, 5))[-len(carried):]
                with self.device():
                    following = i + 1
                return [following] + [tf.clip_by_value(value, -9.0, 9.0) for value in made]

            return self.within(seed, results)

        return tf.while_loop(goes_on, body, [tf.constant(0)] + first, parallel_iterations=self.rng.choice([1, 10]))[1:]

    def access(self, v):
        """The value of a variable, perhaps after an update; after the access before this one."""
        variable = self.rng.choice(self.variables)
        with tf.control_dependencies(self.last_access.get(variable.name, [])):
            if self.rng.random() < 0.5:
                update = variable.assign_add(v * 0.1) if self.rng.random() < 0.7 else variable.assign(v)
                with tf.control_dependencies([update.op]):
                    value = variable.read_value()
            else:
                value = variable.read_value()
        self.last_access[variable.name] = [value.op]
        with self.device():
            return value * 2.0

    def block(self, values, depth, steps, is_outermost=False):
        values = list(values)
        for _ in range(steps):
            v, w, kind = self.rng.choice(values[-4:]), self.rng.choice(values), self.rng.random()
            if depth and kind < 0.12:
                values += self.cond(values, depth)
            elif depth and kind < 0.24:
                values += self.loop(values, depth)
            elif is_outermost and self.variables and kind < 0.32:
                values.append(self.access(v))
            elif kind < 0.38:
                with tf.control_dependencies([w.op]), self.device(v):
                    values.append(tf.identity(v))
            elif kind < 0.68:
                with self.device(v):
                    values.append(self.rng.choice(UNARY)(v))
            else:
                with self.device(w):
                    values.append(self.rng.choice(BINARY)(v, w))
        return values


class RandomConditionals(RandomGraph):
    """Control flow above all, on devices that are always said, by predicates that may have been used before: outside, or around."""

    def __init__(self, case, rng):
        super().__init__(case, rng)
        self.variables, self.predicates = [], []

    def device(self, near=None):
        return on(self.rng.randrange(3))

    def predicate(self, values):
        if self.predicates and self.rng.random() < 0.3:
            return self.rng.choice(self.predicates)
        self.predicates.append(super().predicate(values))
        return self.predicates[-1]

    def within(self, seed, build):
        # What is made inside is not known outside.
        outer, self.predicates = self.predicates, list(self.predicates)
        made = super().within(seed, build)
        self.predicates = outer
        return made

    def loop(self, values, depth):
        # A predicate from outside would be an input of the loop.
        outer, self.predicates = self.predicates, []
        made = super().loop(values, depth)
        self.predicates = outer
        return made

    def block(self, values, depth, steps, is_outermost=False):
        values = list(values)
        for _ in range(steps):
            v, w, kind = self.rng.choice([values[-1], self.rng.choice(values)]), self.rng.choice(values), self.rng.random()
            if depth and kind < 0.4:
                values += self.cond(values, depth)
            elif depth and kind < 0.55:
                values += self.loop(values, depth)
            else:
                with self.device():
                    values.append(self.rng.choice(UNARY[:7])(v) if kind < 0.8 else self.rng.choice(BINARY[:5])(v, w))
        return values


def random_case(seed, kind):
    rng = random.Random(seed)
    case = Case(f"random_{seed}", rng.choice(["v1", "v1", "v2"]), soft=rng.random() < 0.2)
    (tf.enable_control_flow_v2 if case.flow == "v2" else tf.disable_control_flow_v2)()
    with case.graph.as_default():
        graph = kind(case, rng)
        values = graph.block(graph.inputs, rng.choice([0, 1, 2, 2, 3]), rng.randrange(4, 12), is_outermost=True)[2:]
        fetches = []
        for i, value in enumerate(rng.sample(values, min(len(values), rng.choice([1, 1, 2, 3])))):
            with graph.device():
                fetches.append(tf.identity(value, f"out{i}").name)
        if graph.variables:
            case.has_init = True
            tf.group(*[variable.initializer for variable in graph.variables], name="init")
    if not graph.has_control_flow:
        case.flow = "none"
    for count, flag, i in [(0, True, 1), (1, False, 2), (3, True, 3)]:
        feeds = {"n:0": np.int32(count), "p:0": np.bool_(flag), "x:0": vector(seed * 7 + i), "y:0": vector(seed * 11 + i)}
        case.run(feeds, fetches)
    return case


def main(folder, first, number, kind):
    for seed in range(first, first + number):
        process = os.fork()
        if process == 0:
            random_case(seed, kind).write(folder)
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(process, 0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), RandomConditionals if "--conditionals" in sys.argv[4:] else RandomGraph)
