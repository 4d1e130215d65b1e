"""Cases of sequences of labels, examples, and numbers about numbers."""
import numpy as np
import tensorflow.compat.v1 as tf

from case import Case, integers, normal

raw = tf.raw_ops


def sequences():
    case = Case("op_ctc", rtol=1e-4, atol=1e-5)
    x = case.feed("x", normal(1, 6, 3, 4), shape=[None, None, 4])
    lengths = case.feed("lengths", np.array([6, 4, 0], np.int32), shape=[None])
    double = tf.cast(x, tf.float64)
    for merge in [False, True]:
        case.fetch(f"greedy_{merge}", *raw.CTCGreedyDecoder(inputs=x, sequence_length=lengths, merge_repeated=merge))
        case.fetch(f"greedy_{merge}_first", *raw.CTCGreedyDecoder(
            inputs=double, sequence_length=lengths, merge_repeated=merge, blank_index=0))
        # A sequence of length 0 has one path only.
        for width, paths in [(1, 1), (3, 1), (20, 1)]:
            found = raw.CTCBeamSearchDecoder(
                inputs=x, sequence_length=lengths, beam_width=width, top_paths=paths, merge_repeated=merge)
            case.fetch(f"beam_{width}_{merge}", *found[0], *found[1], *found[2], found[3])
        some = raw.CTCBeamSearchDecoder(
            inputs=double[:, :2], sequence_length=lengths[:2], beam_width=10, top_paths=3, merge_repeated=merge)
        case.fetch(f"paths_{merge}", *some[0], *some[1], *some[2], some[3])
    at = case.feed("at", np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0], [2, 1]]), shape=[None, 2])
    labels = case.feed("labels", np.array([1, 1, 2, 2, 0, 1, 1], np.int32), shape=[None])
    enough = np.array([6, 4, 3], np.int32)
    for collapse in [False, True]:
        for merge in [False, True]:
            case.fetch(f"loss_{collapse}_{merge}", *raw.CTCLoss(
                inputs=x, labels_indices=at, labels_values=labels, sequence_length=enough,
                preprocess_collapse_repeated=collapse, ctc_merge_repeated=merge))
    case.fetch("loss_double", *raw.CTCLoss(
        inputs=double, labels_indices=at, labels_values=labels, sequence_length=[2, 4, 2],
        ignore_longer_outputs_than_inputs=True))
    case.write()


def numbers():
    case = Case("op_counts")
    x = case.feed("x", normal(2, 3, 7), shape=[None, 7])
    whole = case.feed("whole", integers(3, -20, 20, 30), shape=[None])
    case.fetch("histogram", raw.HistogramFixedWidth(values=x, value_range=[-1.0, 1.5], nbins=5))
    case.fetch("histogram_whole", raw.HistogramFixedWidth(values=whole, value_range=[-10, 11], nbins=7, dtype=tf.int64))
    case.fetch("histogram_double", raw.HistogramFixedWidth(
        values=tf.cast(x, tf.float64), value_range=tf.constant([0.0, 1.0], tf.float64), nbins=3))
    for n in [0, 3, 6]:
        for reverse in [False, True]:
            case.fetch(f"nth_{n}_{reverse}", raw.NthElement(input=x, n=n, reverse=reverse))
    case.fetch("nth_whole", raw.NthElement(input=whole, n=4))
    at = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 0], [1, 1, 1]])
    other_at = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0], [1, 1, 0]])
    for normalize in [False, True]:
        case.fetch(f"distance_{normalize}", raw.EditDistance(
            hypothesis_indices=at, hypothesis_values=np.array([1, 2, 3, 4, 5]), hypothesis_shape=np.array([2, 2, 2]),
            truth_indices=other_at, truth_values=np.array([2, 2, 1, 7, 5]), truth_shape=np.array([2, 2, 3]),
            normalize=normalize))
    a = np.array([0.5, 2, 10, 1, 30, -1, 0.1, 3, 3, np.nan], np.float64)
    b = np.array([0.5, 3, 2, 1, 40, 1, 0.2, 3, 3, 1], np.float64)
    p = np.array([0.3, 0.2, 0.9, 0.7, 0.4, 0.5, 0.01, 0, 1, 0.5], np.float64)
    a, b, p = case.feed("a", a), case.feed("b", b), case.feed("p", p)
    case.fetch("beta", raw.Betainc(a=a, b=b, x=p))
    case.fetch("beta_float", raw.Betainc(a=tf.cast(a, tf.float32), b=3.0, x=tf.cast(p, tf.float32)))
    square = case.feed("square", normal(4, 2, 4, 4), shape=[None, 4, 4])
    case.fetch("lu", *raw.Lu(input=square))
    case.fetch("lu_wide", *raw.Lu(input=tf.cast(square, tf.float64), output_idx_type=tf.int64))
    case.write()


def special():
    case = Case("op_special", rtol=1e-5, atol=1e-6)
    signed = np.array([0, .3, -.7, 1, 1.4, 1.6, -2, 3, 4.9, 5.1, -8, 12, 30, -60, 130])
    positive = np.array([.01, .3, .5, .9, 1, 1.1, 1.9, 2, 2.1, 3, 7, 12, 25, 39, 41, 80])
    of_signed = ["BesselJ0", "BesselJ1", "Dawsn", "FresnelCos", "FresnelSin"]
    of_positive = ["BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1", "Expint", "Spence"]
    for dtype in [np.float32, np.float64]:
        x = case.feed(f"signed_{dtype.__name__}", signed.astype(dtype), shape=[None])
        y = case.feed(f"positive_{dtype.__name__}", positive.astype(dtype), shape=[None])
        for op in of_signed + of_positive:
            of = x if op in of_signed else y
            result = getattr(raw, op)(x=of)
            case.fetch(f"{op}_{dtype.__name__}", result)
            case.fetch(f"{op}_{dtype.__name__}_gradient", tf.gradients(result, of)[0])
            if op.startswith("Bessel"):
                case.fetch(f"{op}_{dtype.__name__}_half", getattr(raw, op)(x=tf.cast(of[:10], tf.float16)))
    case.write()


def randoms():
    case = Case("op_random_binomial")
    counts = case.feed("counts", np.array([1, 7, 30, 400, 0], np.float32), shape=[None])
    chances = case.feed("chances", np.array([[0.5], [0.02], [0.7], [0.99], [1]], np.float32), shape=[None, 1])
    x = case.feed("x", np.arange(24).reshape(8, 3), shape=[None, 3])
    for dtype in [tf.int32, tf.float64]:
        case.fetch(f"binomial_{dtype.name}", raw.StatelessRandomBinomial(
            shape=[3, 5, 5], seed=[7, 9], counts=counts, probs=chances, dtype=dtype))
    key, counter, alg = raw.StatelessRandomGetKeyCounterAlg(seed=[1, 2])
    case.fetch("shuffled", raw.StatelessShuffle(value=x, key=key, counter=counter, alg=alg))
    case.fetch("shuffled_vector", raw.StatelessShuffle(value=x[:, 0], key=key, counter=counter, alg=alg))
    case.write()


def example(**features):
    def feature(value):
        if value is None:
            return tf.train.Feature()
        if value and isinstance(value[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
        if value and isinstance(value[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=value))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=value))
    features = tf.train.Features(feature={name: feature(value) for name, value in features.items()})
    return tf.train.Example(features=features).SerializeToString(deterministic=True)


def examples():
    case = Case("op_examples")
    array = np.array([
        example(age=[3], pair=[0.5, 1.5], word=[b"one"], list=[1, 2, 3], words=[b"a", b"bc"], more=[7, 8, 9, 10]),
        example(age=[-1], pair=[2.0, 3.0], list=[4], numbers=[0.25], more=None, other=[b"?"]),
        example(pair=[-1.0, 0.0], word=[b"z"], words=[b""], numbers=[1.0, 2.0, 3.0], more=[5, 6]),
    ])
    x = case.feed("x", array, shape=[None])
    one = case.feed("one", array[0], shape=[])
    features = {
        "age": tf.io.FixedLenFeature([], tf.int64, default_value=99),
        "pair": tf.io.FixedLenFeature([2, 1], tf.float32),
        "word": tf.io.FixedLenFeature([1], tf.string, default_value=["none"]),
        "more": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True, default_value=-1),
        "list": tf.io.VarLenFeature(tf.int64),
        "words": tf.io.VarLenFeature(tf.string),
        "numbers": tf.io.RaggedFeature(tf.float32, row_splits_dtype=tf.int64),
        "other": tf.io.RaggedFeature(tf.string),
    }
    for name, serialized in {"all": x, "single": one}.items():
        for key, value in tf.io.parse_example(serialized, features).items():
            parts = tf.nest.flatten(value, expand_composites=True)
            case.fetch(f"{name}_{key}", *[part for part in parts if part is not None])
    old = {key: value for key, value in features.items() if not isinstance(value, tf.io.RaggedFeature)}
    defaults = [tf.constant(99, tf.int64), tf.zeros([0]), tf.constant(["none"])]
    found = raw.ParseExample(
        serialized=x, names=[], sparse_keys=["list", "words"], dense_keys=["age", "pair", "word"], dense_defaults=defaults,
        sparse_types=[tf.int64, tf.string], dense_shapes=[[], [2, 1], [1]])
    case.fetch("v1", *tf.nest.flatten(list(found)))
    found = raw.ParseSingleExample(
        serialized=one, num_sparse=2, sparse_keys=["list", "words"], dense_keys=["age", "pair", "word"],
        dense_defaults=defaults, sparse_types=[tf.int64, tf.string], dense_shapes=[[], [2, 1], [1]])
    case.fetch("single_v1", *tf.nest.flatten(list(found)))
    texts = case.feed("texts", np.array([b"  a b\t", b"", b" \n", b"x,y;;z"]), shape=[None])
    case.fetch("stripped", raw.StringStrip(input=texts))
    for skip in [False, True]:
        for name, delimiters in {"two": ",;", "none": ""}.items():
            case.fetch(f"split_{name}_{skip}", *raw.StringSplit(input=texts, delimiter=delimiters, skip_empty=skip))
    data = case.feed("bytes", np.array([b"\x01\x02\x03\x04\x05\x06\x07\x08", b"abcdefgh"]), shape=[None])
    for dtype in [tf.uint8, tf.int16, tf.float32, tf.complex64, tf.int64]:
        for little in [False, True]:
            case.fetch(f"raw_{dtype.name}_{little}", raw.DecodeRaw(bytes=data, out_type=dtype, little_endian=little))
    words = case.feed("words", np.array([b"a", b"bc", b"", b"d"]), shape=[None])
    case.fetch("ragged", raw.RaggedTensorToTensor(
        shape=np.int64(-1), values=words, default_value="-", row_partition_tensors=[np.array([0, 1, 4])],
        row_partition_types=["ROW_SPLITS"]))
    case.write()


if __name__ == "__main__":
    sequences()
    numbers()
    special()
    randoms()
    examples()
