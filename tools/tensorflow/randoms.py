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


if __name__ == "__main__":
    stateful()
    loop()
    stateless()
