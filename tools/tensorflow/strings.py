"""Strings. What is stored of them are their fingerprints, numbers, and equality."""
import numpy as np
from case import Case, tf

raw = tf.raw_ops
BUCKETS = (1 << 63) - 1


def strings():
    case = Case("op_strings")

    def fetch(name, texts):
        case.fetch(name, raw.StringToHashBucketFast(input=texts, num_buckets=BUCKETS))

    long = ["", "a", "abcd", "hello", "eight888", "more than sixteen", "x" * 32, "y" * 33, "zyx" * 21 + "z",
            "w" * 65, "The quick brown fox jumps over the lazy dog. " * 5]
    words = tf.constant(long)
    fetch("hash", words)
    case.fetch("buckets", raw.StringToHashBucketFast(input=words, num_buckets=10))
    texts = ["Straße", "ÀÉ x", "ABC def", "日本語"]
    mixed, column = tf.constant(texts), tf.constant([[text] for text in texts])
    for unit in ["BYTE", "UTF8_CHAR"]:
        case.fetch(f"length_{unit}", raw.StringLength(input=mixed, unit=unit))
        fetch(f"part_{unit}", raw.Substr(input=mixed, pos=1, len=2, unit=unit))
        fetch(f"part_end_{unit}", raw.Substr(input=mixed, pos=-2, len=9, unit=unit))
        fetch(f"part_each_{unit}", raw.Substr(input=mixed, pos=[0, 1, 2, 3], len=[3, 0, 1, 5], unit=unit))
        fetch(f"part_broadcast_{unit}",
              raw.Substr(input=column, pos=[0, 1, 2], len=[1, 2, 1], unit=unit))
    for encoding in ["", "utf-8"]:
        word = encoding[:3]
        fetch(f"lower_{word}", raw.StringLower(input=mixed, encoding=encoding))
        fetch(f"upper_{word}", raw.StringUpper(input=mixed, encoding=encoding))
    fetch("join", raw.StringJoin(inputs=[mixed, tf.constant("-"), mixed], separator=", "))
    fetch("join_one", raw.StringJoin(inputs=[mixed]))
    lines = tf.constant(["a,b,,c", "", ",", "  two  words ", "tab\tand\nline"])
    for separator, word in [("", "space"), (",", "comma"), ("or", "or")]:
        for most in [-1, 1]:
            indices, values, shape = raw.StringSplitV2(input=lines, sep=separator, maxsplit=most)
            name = f"split_{word}_{most % 3}"
            case.fetch(f"{name}_indices", indices)
            case.fetch(f"{name}_shape", shape)
            fetch(f"{name}_values", values)
    ints = case.feed("ints", np.array([0, -1, 12345, 2**31 - 1, -(2**31)], np.int32))
    floats = case.feed("floats", np.array([0.0, -1.5, 3.14159265, 1e10, 1.5e-7, 123456.789, np.inf, -np.inf], np.float32))
    doubles = case.feed("doubles", np.array([0.1, -2e300, 1e-300, 99999.95], np.float64))
    bools = case.feed("bools", np.array([True, False]))
    pairs = case.feed("pairs", np.array([1 + 2j, -0.5 - 1e6j], np.complex64))
    fetch("of_ints", raw.AsString(input=ints))
    fetch("of_bools", raw.AsString(input=bools))
    fetch("of_pairs", raw.AsString(input=pairs))
    for i, fill in enumerate(["", " ", "+", "-", "0"]):
        fetch(f"of_ints_{i}", raw.AsString(input=ints, width=8, fill=fill))
        fetch(f"of_floats_{i}", raw.AsString(input=floats, width=14, fill=fill, precision=3))
    for i, attrs in enumerate([{}, {"scientific": True}, {"shortest": True}, {"precision": 2},
                               {"scientific": True, "precision": 3}, {"shortest": True, "precision": 3},
                               {"precision": 0}, {"shortest": True, "precision": 0}]):
        fetch(f"of_floats_by_{i}", raw.AsString(input=floats, **attrs))
        fetch(f"of_doubles_by_{i}", raw.AsString(input=doubles, **attrs))
    for dtype in [tf.float32, tf.float64]:
        texts = tf.constant(["1", " -2.5 ", "1e5", "inf", "-inf", ".5", "3.", "+7"])
        case.fetch(f"number_{dtype.name}", raw.StringToNumber(string_tensor=texts, out_type=dtype))
    for dtype in [tf.int32, tf.int64]:
        texts = tf.constant(["1", " -25 ", "2147483647"])
        case.fetch(f"number_{dtype.name}", raw.StringToNumber(string_tensor=texts, out_type=dtype))
    case.write()


def patterns():
    """RE2's classes of Unicode, cases beyond ASCII and literals; numbers and n-grams at their ends."""
    case = Case("op_patterns")
    texts = ["Ää Éé 12", "日本 x[a]", "a,b--c", "σΣς ½", "1e3 aa{,2}"]
    x = case.feed("x", np.array([text.encode() for text in texts]))
    found = [r"\pL+", r"\PN", r"[\p{Lu}\d]", r"\p{Han}|\p{^Latin}x", r"(?i)é", r"(?i:[à-ä])Ä", r"(?i)σ+", r"[[]", r"\Q1e3\E",
             r"[+--]|[&&b]", r"a{,2}", r"\s", r"(\pL)(\pL)"]
    for i, pattern in enumerate(found):
        case.fetch(f"replaced_{i}", raw.StaticRegexReplace(input=x, pattern=pattern, rewrite="<\\0>"))
        case.fetch(f"whole_{i}", raw.RegexFullMatch(input=x, pattern=f".*({pattern}).*"))
    case.fetch("no_group", raw.RegexReplace(input=x, pattern="a", rewrite="<\\1>"))
    numbers = case.feed("numbers", np.array([0, 7, 200], np.uint8))
    for i, fill in enumerate(["+", " ", "0", "-"]):
        case.fetch(f"unsigned_{i}", raw.AsString(input=numbers, width=5, fill=fill))
    none, splits = tf.constant([], tf.string, shape=[0]), case.feed("splits", np.array([0, 0, 0], np.int32))
    grams = raw.StringNGrams(data=none, data_splits=splits, separator=" ", ngram_widths=[2], left_pad="", right_pad="", pad_width=-1,
                             preserve_short_sequences=False)
    case.fetch("grams", grams.ngrams)
    ragged = raw.RaggedGather(params_nested_splits=[np.array([0, 2, 2, 5], np.int64)], params_dense_values=x, indices=[2, 0],
                              OUTPUT_RAGGED_RANK=1)
    case.fetch("ragged", *ragged.output_nested_splits, ragged.output_dense_values)
    case.write()


def kept():
    """Strings in variables, lists and the arrays of TensorFlow 1's loops."""
    case = Case("op_string_state")
    x = case.feed("x", np.array([b"one", b"", b"three"]))
    rows = case.feed("rows", np.array([[b"a", b"bb"], [b"c", b""], [b"ee", b"f"]]))
    of_strings = {"element_dtype": tf.string}
    variable = raw.VarHandleOp(dtype=tf.string, shape=[3], shared_name="texts")
    with tf.control_dependencies([raw.AssignVariableOp(resource=variable, value=x)]):
        read = raw.ReadVariableOp(resource=variable, dtype=tf.string)
        case.fetch("read", read, raw.VarIsInitializedOp(resource=variable), raw.VariableShape(input=variable))
        gathered = [raw.ResourceGather(resource=variable, indices=[[2, 0]], dtype=tf.string),
                    raw.ResourceGatherNd(resource=variable, indices=[[1], [2]], dtype=tf.string)]
        case.fetch("gathered", *gathered)
    with tf.control_dependencies([read, *gathered]):
        again = raw.AssignVariableOp(resource=variable, value=tf.reverse(x, [0]))
    with tf.control_dependencies([again]):
        case.fetch("reversed", raw.ReadVariableOp(resource=variable, dtype=tf.string))
    reference = raw.VariableV2(shape=[3], dtype=tf.string, shared_name="reference")
    assigned = raw.Assign(ref=reference, value=tf.strings.join([x, "!"]))
    case.fetch("reference", assigned, raw.IsVariableInitialized(ref=assigned))

    scalar, pair = tf.constant([], tf.int32), tf.constant([2])
    empty = raw.EmptyTensorList(element_shape=scalar, max_num_elements=-1, **of_strings)
    one = raw.TensorListPushBack(input_handle=empty, tensor=x[0])
    two = raw.TensorListPushBack(input_handle=one, tensor=x[2])
    shorter, last = raw.TensorListPopBack(input_handle=two, element_shape=scalar, **of_strings)
    case.fetch("pushed", raw.TensorListStack(input_handle=two, element_shape=scalar, **of_strings), last,
               raw.TensorListLength(input_handle=shorter))
    slots = raw.TensorListReserve(element_shape=pair, num_elements=3, **of_strings)
    slots = raw.TensorListSetItem(input_handle=slots, index=1, item=rows[2])
    case.fetch("slots", raw.TensorListStack(input_handle=slots, element_shape=pair, **of_strings),
               raw.TensorListGetItem(input_handle=slots, index=0, element_shape=pair, **of_strings))
    parts = raw.TensorListFromTensor(tensor=rows, element_shape=pair)
    case.fetch("parts", raw.TensorListGather(input_handle=parts, indices=[2, 0], element_shape=pair, **of_strings))
    case.fetch("joined", *raw.TensorListConcatV2(input_handle=parts, element_shape=pair, leading_dims=np.array([], np.int64),
                                                 **of_strings))
    scattered = raw.TensorListScatterV2(tensor=x, indices=[2, 0, 1], element_shape=scalar, num_elements=-1)
    both = raw.TensorListConcatLists(input_a=scattered, input_b=two, **of_strings)
    both = raw.TensorListResize(input_handle=both, size=6)
    case.fetch("both", raw.TensorListStack(input_handle=both, element_shape=scalar, **of_strings))
    divided = raw.TensorListSplit(tensor=rows, element_shape=[-1, 2], lengths=np.array([1, 2], np.int64))
    case.fetch("divided", raw.TensorListGetItem(input_handle=divided, index=1, element_shape=[-1, 2], **of_strings))

    def write(i, texts):
        return i + 1, texts.write(i, tf.strings.join([x[i], tf.strings.as_string(i)]))

    def written():
        texts = tf.TensorArray(tf.string, size=3, element_shape=[])
        return tf.while_loop(lambda i, _: i < 3, write, [tf.constant(0), texts])[1]

    tf.disable_control_flow_v2()
    case.fetch("array", written().stack(), written().gather([2, 0]))
    tf.enable_control_flow_v2()
    case.fetch("list", written().stack())
    tf.disable_control_flow_v2()
    case.write()


def not_text():
    """Constants and attributes of bytes that are not UTF-8."""
    case = Case("op_bytes")
    x = case.feed("x", np.array([b"a", b"\xc3\xa9", b"\x80"]))
    constant = tf.constant([b"\xff\x00a", b"text \\\"", b"\xc3("])
    case.fetch("constant", constant, tf.reverse(constant, [0]), raw.StringLength(input=constant))
    case.fetch("joined", raw.StringJoin(inputs=[x, constant], separator=b"\xfe\\\""))
    case.fetch("one", tf.fill([2], tf.constant(b"\xf0\x9f")), tf.equal(x, b"\x80"))
    case.write()


if __name__ == "__main__":
    strings()
    patterns()
    kept()
    not_text()
