"""Random numbers from seeds; the stateful operators also in a loop, where their state goes on."""
import numpy as np
from case import Case, integers, normal, tf

raw = tf.raw_ops
FLOATS = [tf.float16, tf.float32, tf.float64]


def stateful():
    case = Case("op_random", rtol=1e-6)
    shape = case.feed("shape", np.array([3, 7], np.int64))
    for seeds in [{"seed": 1, "seed2": 2}, {"seed": -(1 << 40), "seed2": 0}]:
        word = "a" if seeds["seed"] == 1 else "b"
        for dtype in FLOATS:
            for op in ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"]:
                run = getattr(raw, op)
                case.fetch(f"{op}_{dtype.name}_{word}", run(shape=shape, dtype=dtype, **seeds))
        for dtype in [tf.int32, tf.int64]:
            ends = {"minval": tf.constant(-3, dtype), "maxval": tf.constant(1000, dtype)}
            case.fetch(f"RandomUniformInt_{dtype.name}_{word}", raw.RandomUniformInt(shape=shape, **ends, **seeds))
        case.fetch(f"RandomShuffle_{word}", raw.RandomShuffle(value=case.feed(f"x_{word}", np.arange(11)), **seeds))
        rows = case.feed(f"rows_{word}", normal(1, 5, 2))
        case.fetch(f"RandomShuffle_rows_{word}", raw.RandomShuffle(value=rows, **seeds))
        logits = normal(2, 3, 4)
        logits[1, 2] = np.inf
        logits[2] = [-np.inf, 0, 1, np.nan]
        logits = case.feed(f"logits_{word}", logits)
        for dtype in [tf.int32, tf.int64]:
            case.fetch(f"Multinomial_{dtype.name}_{word}",
                       raw.Multinomial(logits=logits, num_samples=9, output_dtype=dtype, **seeds))
        case.fetch(f"Multinomial_half_{word}",
                   raw.Multinomial(logits=tf.cast(logits, tf.float16), num_samples=6, **seeds))
    case.write()


def loop():
    tf.enable_control_flow_v2()
    case = Case("op_random_loop", rtol=1e-6)
    n = case.feed("n", np.int32(3))
    values = case.feed("values", np.arange(6, dtype=np.int32))
    logits = case.feed("logits", normal(2, 2, 3))
    makers = {
        "uniform": lambda: raw.RandomUniform(shape=[5], dtype=tf.float32, seed=3, seed2=4),
        "normal": lambda: raw.RandomStandardNormal(shape=[3], dtype=tf.float64, seed=3, seed2=4),
        "truncated": lambda: raw.TruncatedNormal(shape=[5], dtype=tf.float32, seed=3, seed2=4),
        "ints": lambda: raw.RandomUniformInt(shape=[2], minval=0, maxval=100, seed=3, seed2=4),
        "shuffled": lambda: raw.RandomShuffle(value=values, seed=3, seed2=4),
        "classes": lambda: raw.Multinomial(logits=logits, num_samples=5, seed=3, seed2=4)[1],
    }
    for word, draw in makers.items():
        shape = draw().shape.as_list()
        dtype = draw().dtype

        def body(i, drawn):
            return i + 1, tf.concat([drawn, draw()[None]], 0)

        start = tf.zeros([0] + shape, dtype)
        _, drawn = tf.while_loop(lambda i, _: i < n, body, [0, start], parallel_iterations=1,
                                 shape_invariants=[tf.TensorShape([]), tf.TensorShape([None] + shape)])
        case.fetch(word, drawn)
    case.write()


def stateless():
    case = Case("op_random_stateless", rtol=1e-6)
    shape = case.feed("shape", np.array([2, 5], np.int32))
    for seed, word in [(np.array([7, -9], np.int32), "int32"), (np.array([1 << 40, -5], np.int64), "int64")]:
        seed = case.feed(f"seed_{word}", seed)
        key, counter, alg = raw.StatelessRandomGetKeyCounterAlg(seed=seed)
        case.fetch(f"key_{word}", tf.bitcast(key, tf.int64))
        case.fetch(f"counter_{word}", tf.bitcast(counter, tf.int64))
        case.fetch(f"alg_{word}", alg)
        case.fetch(f"key_counter_{word}",
                   *[tf.bitcast(x, tf.int64) for x in raw.StatelessRandomGetKeyCounter(seed=seed)])
        stream = {"key": key, "counter": counter, "alg": raw.StatelessRandomGetAlg()}
        for op in ["StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"]:
            for dtype in FLOATS:
                case.fetch(f"{op}_{dtype.name}_{word}", getattr(raw, op)(shape=shape, seed=seed, dtype=dtype))
                case.fetch(f"{op}V2_{dtype.name}_{word}", getattr(raw, op + "V2")(shape=shape, dtype=dtype, **stream))
        for dtype in [tf.int32, tf.int64, tf.uint32, tf.uint64]:
            wide = lambda x: tf.bitcast(x, tf.int32 if dtype.size == 4 else tf.int64)
            case.fetch(f"full_{dtype.name}_{word}",
                       wide(raw.StatelessRandomUniformFullInt(shape=shape, seed=seed, dtype=dtype)))
            case.fetch(f"full_v2_{dtype.name}_{word}",
                       wide(raw.StatelessRandomUniformFullIntV2(shape=shape, dtype=dtype, **stream)))
            ends = {"minval": tf.constant(5, dtype), "maxval": tf.constant(1 << 30, dtype)}
            if dtype in [tf.int32, tf.int64]:
                case.fetch(f"ints_v2_{dtype.name}_{word}",
                           raw.StatelessRandomUniformIntV2(shape=shape, **stream, **ends))
                case.fetch(f"ints_{dtype.name}_{word}",
                           raw.StatelessRandomUniformInt(shape=shape, seed=seed, **ends))
        logits = case.feed(f"logits_{word}", normal(2, 2, 3))
        case.fetch(f"classes_{word}", raw.StatelessMultinomial(logits=logits, num_samples=4, seed=seed))
    case.write()


def variates():
    """Distributions that are drawn by rejection."""
    case = Case("op_random_variates", rtol=2e-6, atol=1e-12)
    shape = case.feed("shape", np.array([3, 2], np.int32))
    alphas = np.array([[0, .01, .4, .999], [1, 1.5, 7, 300]])
    rates = np.array([0, .3, 5, 9.9, 10, 12, 400, 1e6, -1, np.inf])
    for dtype in FLOATS:
        alpha = case.feed(f"alpha_{dtype.name}", alphas.astype(dtype.as_numpy_dtype), shape=[None, 4])
        y = raw.RandomGamma(shape=shape, alpha=alpha, seed=3, seed2=4)
        case.fetch(f"gamma_{dtype.name}", y)
        y2 = raw.StatelessRandomGammaV2(shape=[5, 2, 4], seed=[7, 9], alpha=alpha)
        case.fetch(f"gamma_v2_{dtype.name}", y2)
        key, counter, alg = raw.StatelessRandomGetKeyCounterAlg(seed=[1, 2])
        case.fetch(f"gamma_v3_{dtype.name}", raw.StatelessRandomGammaV3(
            shape=[2, 2, 4], key=key, counter=counter, alg=alg, alpha=alpha))
        rate = case.feed(f"rate_{dtype.name}", np.minimum(rates, 60000 if dtype == tf.float16 else np.inf).astype(
            dtype.as_numpy_dtype), shape=[None])
        for to in FLOATS + [tf.int32, tf.int64]:
            some = rate if to.is_floating else rate[:-1]  # conversions of infinities differ by element
            some = tf.minimum(rate, 60000) if to == tf.float16 else some  # TensorFlow does not end otherwise
            case.fetch(f"poisson_{dtype.name}_{to.name}", raw.RandomPoissonV2(
                shape=shape, rate=some, dtype=to, seed=5, seed2=6))
        case.fetch(f"poisson_stateless_{dtype.name}", raw.StatelessRandomPoisson(
            shape=[4, 10], seed=[3, 4], lam=rate, dtype=tf.float64))
        one = case.feed(f"one_{dtype.name}", np.array([.5], dtype.as_numpy_dtype))
        ends = [(-1, 2), (3, 3.5), (2.5, 9), (-np.inf, -1), (1, np.inf), (-9, .2), (-.1, .1), (-2, -1.9)]
        for i, (low, high) in enumerate(ends):
            low, high = tf.constant(low, dtype), tf.constant(high, dtype)
            case.fetch(f"truncated_{dtype.name}_{i}", raw.ParameterizedTruncatedNormal(
                shape=[3, 50], means=one, stdevs=one[0] * 2, minvals=low, maxvals=high, seed=7, seed2=8))
        lows, highs = (tf.constant([end[i] for end in ends], dtype) for i in range(2))
        means = tf.range(8) / 4 - 1
        case.fetch(f"truncated_rows_{dtype.name}", raw.ParameterizedTruncatedNormal(
            shape=[8, 3, 2], means=tf.cast(means, dtype), stdevs=one, minvals=lows, maxvals=highs, seed=7, seed2=9))
        case.fetch(f"truncated_stateless_{dtype.name}", raw.StatelessParameterizedTruncatedNormal(
            shape=[3, 4, 8], seed=[2, 3], means=tf.cast(means, dtype), stddevs=tf.cast([[1], [2], [.5], [1]], dtype),
            minvals=lows, maxvals=highs))
    for r in [tf.int32, tf.int64]:
        case.fetch(f"poisson_{r.name}", raw.RandomPoissonV2(
            shape=shape, rate=tf.constant([0, 3, 11, 100000], r), dtype=tf.float64, seed=5, seed2=6))
        case.fetch(f"poisson_stateless_{r.name}", raw.StatelessRandomPoisson(
            shape=[2, 2, 3], seed=[5, 6], lam=tf.constant([1, 20, 300], r), dtype=r))
    case.fetch("none", raw.RandomGamma(shape=[0, 2], alpha=[1.]), raw.RandomPoissonV2(shape=[2], rate=np.zeros([0])),
               raw.StatelessRandomGammaV2(shape=[0, 1], seed=[1, 2], alpha=[1.]),
               raw.ParameterizedTruncatedNormal(shape=[0, 2], means=0., stdevs=-1., minvals=0., maxvals=0.))
    case.write()


def gradients():
    case = Case("op_random_gradients", rtol=2e-4, atol=1e-6)
    for dtype in [tf.float32, tf.float64]:
        alpha = case.feed(f"alpha_{dtype.name}", np.array([[.3, 1, 2], [5, 30, 100]], dtype.as_numpy_dtype))
        y = raw.RandomGamma(shape=[4], alpha=alpha, seed=1, seed2=2)
        case.fetch(f"gamma_{dtype.name}", tf.gradients(y * tf.cast(normal(1, 4, 2, 3), dtype), alpha)[0])
        y = raw.StatelessRandomGammaV2(shape=[2, 2, 3], seed=[1, 2], alpha=alpha)
        case.fetch(f"gamma_v2_{dtype.name}", tf.gradients(y * tf.cast(normal(2, 2, 2, 3), dtype), alpha)[0])
        parameters = [case.feed(f"{name}_{dtype.name}", np.array(x, dtype.as_numpy_dtype)) for name, x in [
            ("mean", [0, 1, 2]), ("deviation", [[1], [.7]]), ("low", [-1, 0, 1.5]), ("high", [[1], [4]])]]
        y = raw.StatelessParameterizedTruncatedNormal(
            shape=[3, 2, 3], seed=[1, 2], means=parameters[0], stddevs=parameters[1], minvals=parameters[2] - 2,
            maxvals=parameters[3] + 1)
        case.fetch(f"truncated_{dtype.name}", *tf.gradients(y * tf.cast(normal(3, 3, 2, 3), dtype), parameters))
        a = case.feed(f"a_{dtype.name}", np.array([.01, .5, 1, 3, 3, 20, 100, 1000, 0, -1], dtype.as_numpy_dtype))
        x = case.feed(f"x_{dtype.name}", np.array([.5, 2, 1, .2, 10, 25, 70, 1010, 1, 1], dtype.as_numpy_dtype))
        case.fetch(f"derivative_{dtype.name}", raw.IgammaGradA(a=a, x=x))
        case.fetch(f"sample_{dtype.name}", raw.RandomGammaGrad(alpha=a[:5], sample=x[:5, None]))
        positive = case.feed(f"positive_{dtype.name}", np.array([.5, 2, 9], dtype.as_numpy_dtype))
        for op in [tf.math.igamma, tf.math.igammac]:
            case.fetch(f"{op.__name__}_{dtype.name}", tf.gradients(op(positive, positive[::-1]), positive)[0])
    case.write()


def generators():
    """Generators in variables, which are changed by each use."""
    tf.enable_resource_variables()
    case = Case("op_random_generators", rtol=1e-6)
    shape = case.feed("shape", np.array([2, 3], np.int64))

    def twice(name, f, state=(5, -7, 1 << 60)):
        handle = raw.VarHandleOp(dtype=tf.int64, shape=[len(state)], shared_name=name)
        # TensorFlow changes equal states in place, all at once.
        state = case.feed(f"state_{name}", np.array(state)) + 0
        with tf.control_dependencies([raw.AssignVariableOp(resource=handle, value=state)]):
            first = f(handle)
        with tf.control_dependencies([first]):
            second = f(handle)
        with tf.control_dependencies([second]):
            state = raw.ReadVariableOp(resource=handle, dtype=tf.int64)
        results = [x for x in [first, second] if not isinstance(x, tf.Operation)]
        case.fetch(name, *results, state)

    for alg in [1, 3]:
        for dtype in FLOATS:
            for op in [raw.StatefulUniform, raw.StatefulStandardNormalV2, raw.StatefulTruncatedNormal]:
                twice(f"{op.__name__}_{dtype.name}_{alg}", lambda handle: op(
                    resource=handle, algorithm=alg, shape=shape, dtype=dtype))
    for dtype in [tf.int32, tf.int64]:
        twice(f"ints_{dtype.name}", lambda handle: raw.StatefulUniformInt(
            resource=handle, algorithm=1, shape=shape, minval=tf.constant(-5, dtype), maxval=tf.constant(900, dtype)))
        for wide in [dtype, tf.uint32 if dtype.size == 4 else tf.uint64]:
            twice(f"full_{wide.name}", lambda handle: tf.bitcast(raw.StatefulUniformFullInt(
                resource=handle, algorithm=1, shape=shape, dtype=wide), dtype))
    for dtype in [tf.int32, tf.float64]:
        twice(f"binomial_{dtype.name}", lambda handle: raw.StatefulRandomBinomial(
            resource=handle, algorithm=1, shape=[3, 2, 4], counts=tf.constant([3., 40, 500, 7]),
            probs=tf.constant([[.2], [.9]]), dtype=dtype))
    twice("skip", lambda handle: raw.RngSkip(resource=handle, algorithm=1, delta=tf.constant(1000, tf.int64)))
    twice("carry", lambda handle: raw.RngSkip(resource=handle, algorithm=1, delta=tf.constant(1, tf.int64)), (-1, 5, 6))
    twice("read", lambda handle: raw.RngReadAndSkip(resource=handle, alg=1, delta=tf.constant(9, tf.uint64)))
    twice("longer", lambda handle: raw.RngSkip(resource=handle, algorithm=1, delta=tf.constant(3, tf.int64)), (1, 2, 3, 4, 5))
    case.fetch("nondeterministic", *[tf.shape(raw.NonDeterministicInts(shape=shape, dtype=dtype))
                                     for dtype in [tf.int32, tf.int64, tf.uint32, tf.uint64]])
    case.write()


def candidates():
    """Samplers of classes. Those that learn go on in the second run."""
    case = Case("op_candidates", rtol=2e-6, atol=1e-12)
    classes = case.feed("classes", np.array([[3, 0], [7, 3], [3, 9]], np.int64), shape=[None, 2])
    attrs = {"true_classes": classes, "num_true": 2}
    for unique in [False, True]:
        for name, op, more in [
                ("uniform", raw.UniformCandidateSampler, {"range_max": 11}),
                ("uniform_wide", raw.UniformCandidateSampler, {"range_max": 1 << 40}),
                ("log_uniform", raw.LogUniformCandidateSampler, {"range_max": 12}),
                ("log_uniform_wide", raw.LogUniformCandidateSampler, {"range_max": 100000}),
                ("learned", raw.LearnedUnigramCandidateSampler, {"range_max": 10}),
                ("learned_wide", raw.LearnedUnigramCandidateSampler, {"range_max": 1000}),
                ("unsafe", raw.ThreadUnsafeUnigramCandidateSampler, {"range_max": 16}),
                ("fixed", raw.FixedUnigramCandidateSampler, {"range_max": 10, "unigrams": [1., 3, .5, 9, 0, 2, 2, 4, 1, .25]}),
                ("fixed_bent", raw.FixedUnigramCandidateSampler, {
                    "range_max": 12, "unigrams": [1., 3, .5, 9, 1, 2, 2, 4, 1, .25], "distortion": .75, "num_reserved_ids": 2}),
                ("fixed_part", raw.FixedUnigramCandidateSampler, {
                    "range_max": 11, "unigrams": [float(i % 5 + 1) for i in range(30)], "num_reserved_ids": 2, "num_shards": 3, "shard": 1})]:
            for n in [1, 9]:
                case.fetch(f"{name}_{unique}_{n}", *op(**attrs, num_sampled=n, unique=unique, seed=3, seed2=n, **more))
        case.fetch(f"all_{unique}", *raw.AllCandidateSampler(**attrs, num_sampled=10, unique=unique))
    sampled = case.feed("sampled", np.array([9, 3, 1, 3, 5], np.int64))
    case.fetch("hits", *raw.ComputeAccidentalHits(true_classes=classes, sampled_candidates=sampled, num_true=2))
    case.write(runs=2)


if __name__ == "__main__":
    variates()
    gradients()
    generators()
    stateful()
    loop()
    stateless()
    candidates()
