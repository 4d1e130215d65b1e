"""Operators of graphs that serve: sets, ragged ranges, tables by reference, tensors and sequences as messages.

What is stored of strings are their fingerprints.
"""
import numpy as np
from case import Case, integers, normal, tf
from google.protobuf import text_format
from tensorflow.core.framework import tensor_pb2

raw = tf.raw_ops
BUCKETS = (1 << 63) - 1


def fetch(case, name, tensor):
    if tensor.dtype == tf.string:
        tensor = raw.StringToHashBucketFast(input=tensor, num_buckets=BUCKETS)
    case.fetch(name, tensor)


def fetch_all(case, name, tensors):
    for i, tensor in enumerate(tensors):
        fetch(case, f"{name}_{i}", tensor)


def sparse_of(dense):
    """Indices, values and shape of the numbers that are not negative."""
    places = np.argwhere(dense >= 0).astype(np.int64)
    return places, dense[dense >= 0], np.array(dense.shape, np.int64)


def sets():
    case = Case("op_sets")
    a, b = integers(1, -3, 7, 2, 3, 6), integers(2, -3, 9, 2, 3, 4)
    words = np.array(["", "b", "a", "bb", "Z", "\u00e9", "aa", "c", "d"])
    for dtype in [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, str]:
        of = (lambda x: words[abs(x)]) if dtype is str else (lambda x: x.astype(dtype))
        label = dtype.__name__
        for operation in ["union", "intersection", "a-b", "B-A"]:
            if dtype not in [np.int32, str] and operation != "union":
                continue
            name = f"{label}_{operation.replace('-', '')}"
            made = raw.DenseToDenseSetOperation(set1=of(a), set2=of(b), set_operation=operation)
            fetch_all(case, f"dense_{name}", made)
            places, values, shape = sparse_of(a)
            others = sparse_of(b)
            made = raw.DenseToSparseSetOperation(
                set1=of(b), set2_indices=places, set2_values=of(values), set2_shape=shape,
                set_operation=operation)
            fetch_all(case, f"mixed_{name}", made)
            made = raw.SparseToSparseSetOperation(
                set1_indices=places, set1_values=of(values), set1_shape=shape, set2_indices=others[0],
                set2_values=of(others[1]), set2_shape=others[2], set_operation=operation)
            fetch_all(case, f"sparse_{name}", made)
        case.fetch(f"size_{label}", raw.SetSize(set_indices=places, set_values=of(values), set_shape=shape))
    none = np.zeros([0, 2], np.int64)
    made = raw.SparseToSparseSetOperation(
        set1_indices=none, set1_values=np.zeros([0], np.int32), set1_shape=np.array([2, 4]), set2_indices=none,
        set2_values=np.zeros([0], np.int32), set2_shape=np.array([2, 3]), set_operation="union")
    fetch_all(case, "none", made)
    made = raw.SparseToSparseSetOperation(
        set1_indices=[[7, 0]], set1_values=[3], set1_shape=np.array([1 << 40, 2]), set2_indices=[[5, 0]],
        set2_values=[4], set2_shape=np.array([1 << 40, 1]), set_operation="union")
    fetch_all(case, "many", made)
    fetch_all(case, "empty", raw.DenseToDenseSetOperation(
        set1=of(a), set2=np.zeros([2, 3, 0], str), set_operation="intersection"))
    case.write()


def arrays():
    case = Case("op_serving_arrays")
    x = integers(1, 0, 2, 5, 3)
    rows = case.feed("rows", np.array([4, 4, 1, 4, 1, 0], np.int64))
    for dtype in [tf.int32, tf.int64]:
        for i, (y, axis) in enumerate([(x, [0]), (x, [1]), (x, [-1]), (rows, []), (rows, [0])]):
            made = raw.UniqueWithCountsV2(x=y, axis=np.array(axis, np.int64), out_idx=dtype)
            case.fetch(f"unique_{dtype.name}_{i}", *made)
        words = tf.constant(["b", "a", "", "b", "a", "b"])
        fetch_all(case, f"unique_words_{dtype.name}", raw.UniqueWithCountsV2(
            x=words, axis=np.zeros([1], np.int64), out_idx=dtype))
        fetch_all(case, f"unique_of_words_{dtype.name}", raw.Unique(x=words, out_idx=dtype))
        fetch_all(case, f"counted_words_{dtype.name}", raw.UniqueWithCounts(x=words, out_idx=dtype))
        for i, (at, dims) in enumerate([(22, [7, 6]), ([22, 41, 37], [7, 6]), ([0, 119, 59], [2, 3, 4, 5]),
                                        (-1, [7, 6]), ([5], [6]), (0, [])]):
            numpy = dtype.as_numpy_dtype
            made = raw.UnravelIndex(indices=np.array(at, numpy), dims=np.array(dims, numpy))
            case.fetch(f"unravel_{dtype.name}_{i}", made)
    case.fetch("constant", raw.GuaranteeConst(input=rows))
    for i, (starts, limits, deltas) in enumerate([
            ([0, 5, 8], [3, 3, 12], 1), ([0, 5], [3, 3], [1, -1]), (0, 5, 2), (5, 0, 1), (0, 5, -1), ([], [], 1),
            ([0, 9, 4], 10, [3, 7, 1]), (-100, 100, 51)]):
        for dtype in [np.int32, np.int64, np.float32, np.float64]:
            # TensorFlow refuses steps that are less than 1.
            more = .1 if dtype in [np.float32, np.float64] else 0
            deltas_of = np.array(deltas) + more * np.sign(deltas)
            for splits in [tf.int32, tf.int64]:
                case.fetch(f"range_{i}_{dtype.__name__}_{splits.name}", *raw.RaggedRange(
                    starts=np.array(starts, dtype), limits=np.array(limits, dtype),
                    deltas=deltas_of.astype(dtype), Tsplits=splits))
    for i, (splits, values) in enumerate([
            ([[0, 2, 2, 3]], normal(1, 3)), ([[0, 1, 3], [0, 2, 2, 3]], np.array(["a", "", "c"])),
            ([[0, 2]], integers(2, 0, 9, 2, 3, 2)), ([[0]], np.zeros([0], np.float32)),
            ([[0, 0]], np.zeros([0], np.int64)), ([[0, 3], [0, 2, 2, 3]], np.array([True, False, True]))]):
        for dtype in [np.int32, np.int64]:
            fetch_all(case, f"sparse_{i}_{dtype.__name__}", raw.RaggedTensorToSparse(
                rt_nested_splits=[np.array(ends, dtype) for ends in splits], rt_dense_values=values))
    case.write()


def tables():
    case = Case("op_ref_tables")
    words = case.feed("words", np.array(["b", "z", "a", "b"]))
    keys, values = np.array(["a", "b", "c"]), np.array([10, 20, 30], np.int64)
    names = {"shared_name": "numbers", "key_dtype": tf.string, "value_dtype": tf.int64}
    table = raw.HashTable(**names)
    with tf.control_dependencies([raw.InitializeTable(table_handle=table, keys=keys, values=values)]):
        case.fetch("found", raw.LookupTableFind(table_handle=table, keys=words, default_value=np.int64(-1)))
        case.fetch("size", raw.LookupTableSize(table_handle=table))
    asked = np.array([[20, 7], [10, 30]], np.int64)
    table = raw.MutableHashTable(key_dtype=tf.int64, value_dtype=tf.string, shared_name="words")
    insert = raw.LookupTableInsert(table_handle=table, keys=values, values=keys)
    with tf.control_dependencies([insert]):
        before = raw.LookupTableFind(table_handle=table, keys=asked, default_value="none")
        before = raw.StringToHashBucketFast(input=before, num_buckets=BUCKETS)
        case.fetch("words_before", before)
        with tf.control_dependencies([before]):
            again = raw.LookupTableImport(table_handle=table, keys=np.array([7], np.int64), values=["seven"])
            with tf.control_dependencies([again]):
                fetch(case, "words_after", raw.LookupTableFind(
                    table_handle=table, keys=asked, default_value="none"))
                exported = raw.LookupTableExport(table_handle=table, Tkeys=tf.int64, Tvalues=tf.string)
                fetch_all(case, "exported", exported)
    table = raw.MutableHashTableOfTensors(
        key_dtype=tf.int32, value_dtype=tf.float32, value_shape=[2], shared_name="pairs")
    insert = raw.LookupTableInsert(table_handle=table, keys=[3, 4], values=normal(1, 2, 2))
    with tf.control_dependencies([insert]):
        case.fetch("pairs", raw.LookupTableFind(table_handle=table, keys=[4, 5], default_value=[0., 1.]))
    case.write()


def messages():
    case = Case("op_tensor_messages")
    given = {"floats": normal(1, 2, 3), "doubles": normal(2, 3).astype(np.float64), "scalar": np.float32(1.5),
             "ints": integers(3, -9, 9, 2, 2), "longs": integers(4, -9, 9, 3, dtype=np.int64),
             "bytes": integers(5, -9, 9, 3, dtype=np.int8), "flags": np.array([True, False]),
             "complex": np.array([1 + 2j], np.complex64), "empty": np.zeros([0, 3], np.float32),
             "words": np.array([["ab", ""], ["c", "\u00e9"]]), "halves": normal(6, 2).astype(np.float16),
             "unsigned": np.array([7], np.uint64)}
    for name, x in given.items():
        x = tf.constant(x)
        message = raw.SerializeTensor(tensor=x)
        fetch(case, f"{name}_message", message)
        fetch(case, name, raw.ParseTensor(serialized=message, out_type=x.dtype))
    listed = [
        ("dtype:DT_FLOAT tensor_shape{dim{size:3}} float_val:2", tf.float32),
        ("dtype:DT_FLOAT tensor_shape{dim{size:3}} float_val:2 float_val:4", tf.float32),
        ("dtype:DT_FLOAT tensor_shape{dim{size:3}}", tf.float32),
        ("dtype:DT_INT32 tensor_shape{} int_val:7", tf.int32),
        ("dtype:DT_INT32 int_val:7", tf.int32),
        ("dtype:DT_INT32 tensor_shape{dim{size:1}} int_val:7 int_val:8", tf.int32),
        ("dtype:DT_STRING tensor_shape{dim{size:2}} string_val:'a'", tf.string),
        ("dtype:DT_STRING tensor_shape{dim{size:2}}", tf.string),
        ("dtype:DT_HALF tensor_shape{dim{size:1}} half_val:15360", tf.float16),
        ("dtype:DT_BOOL tensor_shape{dim{size:3}} bool_val:true bool_val:false", tf.bool),
        ("dtype:DT_UINT8 tensor_shape{dim{size:2}} int_val:300", tf.uint8),
        ("dtype:DT_INT8 tensor_shape{dim{size:2}} int_val:-5", tf.int8),
        ("dtype:DT_COMPLEX64 tensor_shape{dim{size:2}} scomplex_val:1 scomplex_val:2 scomplex_val:3", tf.complex64),
        ("dtype:DT_COMPLEX128 tensor_shape{dim{size:1}} dcomplex_val:1 dcomplex_val:2", tf.complex128),
        ("dtype:DT_DOUBLE tensor_shape{dim{size:2}} double_val:.5", tf.float64),
        ("dtype:DT_INT64 tensor_shape{dim{size:2}} int64_val:-5 int64_val:1099511627776", tf.int64),
        ("dtype:DT_UINT32 tensor_shape{dim{size:1}} uint32_val:5", tf.uint32),
        ("dtype:DT_UINT64 tensor_shape{dim{size:1}} uint64_val:5", tf.uint64),
        ("dtype:DT_INT32 tensor_shape{dim{size:0}}", tf.int32),
        ("dtype:DT_FLOAT tensor_shape{dim{size:2}} tensor_content:'abcdabcd' float_val:3", tf.float32)]
    texts = [text_format.Parse(text, tensor_pb2.TensorProto()).SerializeToString() + b"\x78\x01" for text, _ in listed]
    # The unknown field at the end keeps zeros at the end, which NumPy drops.
    feed = case.feed("messages", np.array(texts, "S"))
    for i, (_, dtype) in enumerate(listed):
        fetch(case, f"listed_{i}", raw.ParseTensor(serialized=feed[i], out_type=dtype))
    case.write()


def sequences():
    case = Case("op_sequences")
    texts = ["""context{feature{key:"c" value{int64_list{value:[3,4]}}} feature{key:"d" value{float_list{value:[1,2]}}}
                        feature{key:"r" value{bytes_list{value:["p","q"]}}}}
                feature_lists{
                feature_list{key:"x" value{feature{int64_list{value:[1,2]}} feature{int64_list{value:3}} feature{}}}
                feature_list{key:"y" value{feature{float_list{value:[1,2]}} feature{float_list{value:[3,4]}}}}
                feature_list{key:"w" value{feature{bytes_list{value:"one"}} feature{bytes_list{value:"two"}}
                                           feature{bytes_list{value:"three"}}}}
                feature_list{key:"z" value{feature{bytes_list{value:["p","q"]}} feature{} feature{bytes_list{value:"r"}}}}}
             """,
             """context{feature{key:"c" value{int64_list{value:5}}}}
                feature_lists{feature_list{key:"y" value{feature{float_list{value:[7,8]}}}}
                              feature_list{key:"other" value{feature{float_list{value:[7,8]}}}}}""",
             "", """feature_lists{feature_list{key:"x" value{}} feature_list{key:"z" value{feature{}}}}"""]
    messages = [text_format.Parse(text, tf.train.SequenceExample()).SerializeToString() for text in texts]
    # A field that no reader knows, which ends with no zero.
    feed = case.feed("messages", np.array([message + b"\x78\x01" for message in messages], "S"))
    default = np.array([9, 9.5], np.float32)
    for label, given in [("all", feed), ("none", feed[:0]), ("first", feed[0]), ("second", feed[1]), ("third", feed[2])]:
        if label in ["all", "none"]:
            fetch_all(case, f"v1_{label}", flat(raw.ParseSequenceExample(
                serialized=given, debug_name=[], context_dense_defaults=[default],
                feature_list_dense_missing_assumed_empty=["y", "w"], context_sparse_keys=["c"],
                context_dense_keys=["d"], feature_list_sparse_keys=["x"], feature_list_dense_keys=["y", "w"],
                Ncontext_sparse=1, Ncontext_dense=1, Nfeature_list_sparse=1, Nfeature_list_dense=2,
                context_sparse_types=[tf.int64], feature_list_dense_types=[tf.float32, tf.string],
                context_dense_shapes=[[2]], feature_list_sparse_types=[tf.int64],
                feature_list_dense_shapes=[[2], []])))
        made = raw.ParseSequenceExampleV2(
            serialized=given, debug_name=[], context_sparse_keys=["c"], context_dense_keys=["d"],
            context_ragged_keys=["r"], feature_list_sparse_keys=["x"], feature_list_dense_keys=["y", "w"],
            feature_list_ragged_keys=["z", "no"], feature_list_dense_missing_assumed_empty=[True, True],
            context_dense_defaults=[default], Ncontext_sparse=1, context_sparse_types=[tf.int64],
            context_ragged_value_types=[tf.string], context_ragged_split_types=[tf.int32],
            context_dense_shapes=[[2]], Nfeature_list_sparse=1, Nfeature_list_dense=2,
            feature_list_dense_types=[tf.float32, tf.string], feature_list_sparse_types=[tf.int64],
            feature_list_ragged_value_types=[tf.string, tf.int64],
            feature_list_ragged_split_types=[tf.int64, tf.int32], feature_list_dense_shapes=[[2], []])._asdict()
        if label in ["first", "second", "third"]:
            # TensorFlow leaves the splits of a single example unset.
            made.pop("context_ragged_row_splits")
            made.pop("feature_list_ragged_outer_splits")
            fetch_all(case, f"single_{label}", flat(raw.ParseSingleSequenceExample(
                serialized=given, feature_list_dense_missing_assumed_empty=["y", "w"], context_sparse_keys=["c"],
                context_dense_keys=["d"], feature_list_sparse_keys=["x"], feature_list_dense_keys=["y", "w"],
                context_dense_defaults=[default], debug_name="name", context_sparse_types=[tf.int64],
                feature_list_dense_types=[tf.float32, tf.string], context_dense_shapes=[[2]],
                feature_list_sparse_types=[tf.int64], feature_list_dense_shapes=[[2], []])))
        fetch_all(case, f"v2_{label}", flat(made.values()))
    case.write()


def anonymous_tables():
    """Tables without names, each the table of its handle."""
    case = Case("op_anonymous_tables")
    numbers, words = case.feed("numbers", np.array([3, 1, 4], np.int64)), case.feed("words", np.array([b"three", b"", b"four"]))
    wanted = case.feed("wanted", np.array([4, 7, 3], np.int64))

    def found(table, by, default):
        return raw.LookupTableFindV2(table_handle=table, keys=by, default_value=default)

    by_number = raw.AnonymousHashTable(key_dtype=tf.int64, value_dtype=tf.string)
    other = raw.AnonymousHashTable(key_dtype=tf.int64, value_dtype=tf.string)
    first = raw.InitializeTableV2(table_handle=by_number, keys=numbers, values=words)
    second = raw.InitializeTableV2(table_handle=other, keys=numbers[:1], values=words[2:])
    with tf.control_dependencies([first, second]):
        case.fetch("found", found(by_number, wanted, "none"), found(other, wanted, "none"))
        case.fetch("sizes", raw.LookupTableSizeV2(table_handle=by_number), raw.LookupTableSizeV2(table_handle=other))
    by_word = raw.AnonymousMutableHashTable(key_dtype=tf.string, value_dtype=tf.int64)
    with tf.control_dependencies([raw.LookupTableInsertV2(table_handle=by_word, keys=words, values=numbers)]):
        inserted = found(by_word, words[::2], np.int64(-1))
    with tf.control_dependencies([inserted]):
        removed = raw.LookupTableRemoveV2(table_handle=by_word, keys=words[:1])
    with tf.control_dependencies([removed]):
        case.fetch("changed", inserted, found(by_word, words, np.int64(-1)))
    pairs = case.feed("pairs", np.array([[1, 2], [3, 4], [5, 6]], np.float32))
    of_pairs = raw.AnonymousMutableHashTableOfTensors(key_dtype=tf.int64, value_dtype=tf.float32, value_shape=[2])
    dense = raw.AnonymousMutableDenseHashTable(empty_key=np.int64(-1), deleted_key=np.int64(-2), value_dtype=tf.float32, value_shape=[2])
    for name, table in {"tensors": of_pairs, "dense": dense}.items():
        with tf.control_dependencies([raw.LookupTableInsertV2(table_handle=table, keys=numbers, values=pairs)]):
            case.fetch(name, found(table, wanted, np.zeros(2, np.float32)))
    case.write(runs=2)


def flat(results):
    for result in results:
        yield from result if isinstance(result, list) else [result]


if __name__ == "__main__":
    sets()
    arrays()
    tables()
    anonymous_tables()
    messages()
    sequences()
