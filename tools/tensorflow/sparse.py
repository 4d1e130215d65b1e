"""Cases of sparse tensors and of reductions of selected rows."""
import numpy as np
import tensorflow.compat.v1 as tf

from case import Case, integers, normal

raw = tf.raw_ops


def segments():
    case = Case("op_sparse_segment")
    x = case.feed("x", normal(1, 5, 3), shape=[None, 3])
    indices = case.feed("indices", np.array([4, 0, 0, 2, 3], np.int32), shape=[None])
    ids = case.feed("ids", np.array([0, 0, 2, 2, 2], np.int32), shape=[None])
    wide = {"indices": tf.cast(indices, tf.int64), "segment_ids": tf.cast(ids, tf.int64)}
    none = tf.zeros([0], tf.int32)
    for name in ["Sum", "Mean", "SqrtN"]:
        op, with_n = getattr(raw, f"SparseSegment{name}"), getattr(raw, f"SparseSegment{name}WithNumSegments")
        grad, grad_rows = getattr(raw, f"SparseSegment{name}Grad"), getattr(raw, f"SparseSegment{name}GradV2")
        case.fetch(name, op(data=x, indices=indices, segment_ids=ids))
        case.fetch(f"{name}_none", op(data=x, indices=none, segment_ids=none))
        case.fetch(f"{name}_half", tf.cast(op(data=tf.cast(x, tf.half), indices=indices, segment_ids=ids), tf.float32))
        case.fetch(f"{name}_double", with_n(data=tf.cast(x, tf.float64), num_segments=5, **wide))
        dy = case.feed(f"dy_{name}", normal(2, 3, 3), shape=[None, 3])
        case.fetch(f"{name}_grad", grad(grad=dy, indices=indices, segment_ids=ids, output_dim0=6))
        rows = grad_rows(grad=tf.cast(dy, tf.float64), dense_output_dim0=6, **wide)
        case.fetch(f"{name}_grad_rows", *rows)
    whole = case.feed("whole", np.arange(12).reshape(4, 3), shape=[None, 3])
    case.fetch("whole_sum", raw.SparseSegmentSum(data=whole, indices=[3, 3, 1], segment_ids=[1, 1, 3]))
    case.write()


def arrays():
    case = Case("op_sparse_arrays")
    numbers = {
        "a": (np.array([[2, 1], [0, 3], [2, 0], [0, 0]]), np.array([1.5, -2, 3, 4], np.float32)),
        "sorted": (np.array([[0, 0], [0, 3], [2, 0], [2, 1]]), np.array([4, -2, 3, 1.5], np.float32)),
        "b": (np.array([[0, 3], [1, 1], [2, 1]]), np.array([2, 7, -1.25], np.float32)),
    }
    given = {}
    for name, (indices, values) in numbers.items():
        given[name] = (case.feed(f"{name}_indices", indices, shape=[None, 2]),
                       case.feed(f"{name}_values", values, shape=[None]))
    shape = case.feed("shape", np.array([4, 5]), shape=[2])
    (a_at, a), (at, values), (b_at, b) = given["a"], given["sorted"], given["b"]
    case.fetch("reordered", *raw.SparseReorder(input_indices=a_at, input_values=a, input_shape=shape))
    for name, new in {"line": [-1], "volume": [2, -1, 5], "same": [4, 5], "ones": [1, 20, 1]}.items():
        new = np.array(new, np.int64)
        case.fetch(f"reshaped_{name}", *raw.SparseReshape(input_indices=a_at, input_shape=shape, new_shape=new))
    for axis in [0, 1, -1]:
        case.fetch(f"joined_{axis + 2}", *raw.SparseConcat(
            indices=[a_at, b_at], values=[a, b], shapes=[shape, shape], concat_dim=axis))
    for name, (start, size) in {"inner": ([0, 1], [3, 3]), "beyond": ([2, 0], [9, 9]), "outside": ([7, 1], [1, 1])}.items():
        start, size = np.array(start, np.int64), np.array(size, np.int64)
        cut = raw.SparseSlice(indices=at, values=values, shape=shape, start=start, size=size)
        case.fetch(f"cut_{name}", *cut)
        case.fetch(f"cut_{name}_grad", raw.SparseSliceGrad(
            backprop_val_grad=cut[1] * 2, input_indices=at, input_start=start, output_indices=cut[0]))
    filled = raw.SparseFillEmptyRows(indices=a_at, values=a, dense_shape=shape, default_value=-1.0)
    case.fetch("filled", *filled)
    case.fetch("filled_grad", *raw.SparseFillEmptyRowsGrad(
        reverse_index_map=filled[3], grad_values=case.feed("dy_filled", normal(3, 6), shape=[None])))
    for op in [raw.SparseReduceSum, raw.SparseReduceMax]:
        for name, axes in {"rows": [0], "columns": [-1], "both": [0, 1], "none": []}.items():
            for keep in [False, True]:
                case.fetch(f"{op.__name__}_{name}_{keep}", op(
                    input_indices=at, input_values=values, input_shape=shape,
                    reduction_axes=np.array(axes, np.int32), keep_dims=keep))
    for threshold in [0.0, 0.5]:
        total = raw.SparseAdd(a_indices=at, a_values=values, a_shape=shape, b_indices=b_at, b_values=b, b_shape=shape,
                              thresh=threshold)
        case.fetch(f"sum_{int(threshold * 10)}", *total)
        case.fetch(f"sum_{int(threshold * 10)}_grad", *raw.SparseAddGrad(
            backprop_val_grad=total[1], a_indices=at, b_indices=b_at, sum_indices=total[0]))
    dense = case.feed("dense", normal(4, 4, 5), shape=[None, 5])
    case.fetch("dense_sum", raw.SparseTensorDenseAdd(a_indices=a_at, a_values=a, a_shape=shape, b=dense))
    small = tf.cast(a_at, tf.int32), tf.cast(shape, tf.int32)
    case.fetch("dense_sum_i32", raw.SparseTensorDenseAdd(a_indices=small[0], a_values=a, a_shape=small[1], b=dense))
    row = case.feed("row", normal(5, 5), shape=[5])
    column = case.feed("column", normal(6, 4, 1), shape=[4, 1])
    for op in [raw.SparseDenseCwiseAdd, raw.SparseDenseCwiseMul, raw.SparseDenseCwiseDiv]:
        for name, other in {"whole": dense, "row": row, "column": column, "scalar": tf.constant([3.0])}.items():
            case.fetch(f"{op.__name__}_{name}", op(sp_indices=at, sp_values=values, sp_shape=shape, dense=other))
    case.write()


def words():
    case = Case("op_string_sparse")
    texts = case.feed("words", np.array([b"x", b"yy", b"", b"z"]), shape=[None])
    at = case.feed("at", np.array([[2, 1], [0, 3], [2, 0], [0, 0]]), shape=[None, 2])
    shape = np.array([4, 5])
    ordered = raw.SparseReorder(input_indices=at, input_values=texts, input_shape=shape)
    case.fetch("reordered", *ordered)
    case.fetch("joined", *raw.SparseConcat(
        indices=[at, at], values=[texts, texts], shapes=[shape, shape], concat_dim=1))
    case.fetch("cut", *raw.SparseSlice(
        indices=ordered[0], values=ordered[1], shape=shape, start=np.array([0, 1]), size=np.array([3, 3])))
    case.fetch("filled", *raw.SparseFillEmptyRows(
        indices=ordered[0], values=ordered[1], dense_shape=shape, default_value="none"))
    case.fetch("dense", raw.SparseToDense(
        sparse_indices=ordered[0], output_shape=shape, sparse_values=ordered[1], default_value="-"))
    ours, theirs = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([[0, 0], [1, 0], [1, 2]])
    case.fetch("distance", raw.EditDistance(
        hypothesis_indices=ours, hypothesis_values=texts, hypothesis_shape=np.array([2, 2]),
        truth_indices=theirs, truth_values=np.array([b"yy", b"", b"z"]), truth_shape=np.array([2, 3]), normalize=False))
    case.write()


def counts():
    case = Case("op_sparse_counts")
    vector = case.feed("vector", np.array([3, 1, 1, 5, 0, 9], np.int32), shape=[None])
    matrix = case.feed("matrix", np.array([[3, 1, 1], [5, 0, 5], [2, 2, 2]], np.int64), shape=None)
    splits = case.feed("splits", np.array([0, 2, 2, 6], np.int64), shape=[None])
    indices = case.feed("indices", np.array([[2, 0, 1], [0, 1, 1], [2, 1, 0], [2, 1, 1], [0, 0, 0], [3, 0, 0]], np.int64))
    shape = case.feed("shape", np.array([4, 2, 2], np.int64))
    line = case.feed("line", np.arange(6, dtype=np.int64)[:, None])
    for dtype in [np.int32, np.int64, np.float32, np.float64]:
        for weighted in [False, True]:
            weights = integers(1, -3, 9, 6).astype(dtype) if weighted else np.zeros(0, dtype)
            square = integers(2, -3, 9, 3, 3).astype(dtype) if weighted else np.zeros(0, dtype)
            limits = [(-1, -1, False), (12, -1, False), (2, 4, False), (-1, 3, True), (0, 0, False)]
            for low, high, binary in limits if dtype == np.float32 else limits[:1]:
                by = {"minlength": low, "maxlength": high, "binary_output": binary}
                word = f"{dtype.__name__}_{weighted}_{low}_{high}_{binary}"
                case.fetch(f"vector_{word}", *raw.DenseCountSparseOutput(values=vector, weights=weights, **by))
                case.fetch(f"matrix_{word}", *raw.DenseCountSparseOutput(values=matrix, weights=square, **by))
                case.fetch(f"ragged_{word}", *raw.RaggedCountSparseOutput(
                    splits=splits, values=vector, weights=weights, **by))
                if low == -1:
                    case.fetch(f"sparse_{word}", *raw.SparseCountSparseOutput(
                        indices=indices, values=vector, dense_shape=shape, weights=weights, **by))
                    case.fetch(f"line_{word}", *raw.SparseCountSparseOutput(
                        indices=line, values=vector, dense_shape=[6], weights=weights, **by))
    nothing = np.zeros(0, np.int32)
    case.fetch("empty", *raw.DenseCountSparseOutput(values=nothing, weights=np.zeros(0, np.float32), binary_output=False))
    case.write()


def parts():
    """Sparse tensors split, compared, counted and crossed."""
    case = Case("op_sparse_parts")
    indices = case.feed("indices", np.array([[0, 0, 3], [0, 1, 2], [0, 1, 4], [1, 0, 0], [1, 2, 6], [2, 2, 1]], np.int64), shape=[None, 3])
    shape = case.feed("shape", np.array([3, 3, 7], np.int64))
    other = case.feed("other", np.array([[0, 1, 2], [1, 0, 0], [1, 0, 1], [2, 2, 6]], np.int64))
    for dtype in [np.float32, np.float64, np.float16, np.int8, np.uint16, np.int64, np.complex64]:
        word = np.dtype(dtype).name
        values = case.feed(f"values_{word}", integers(1, -8 if word[0] != "u" else 0, 9, 6, dtype=dtype))
        for axis, n in [(0, 2), (-1, 3), (2, 7), (1, 1)]:
            made = raw.SparseSplit(split_dim=axis, indices=indices, values=values, shape=shape, num_split=n)
            case.fetch(f"split_{word}_{axis}_{n}", *made.output_indices, *made.output_values, *made.output_shape)
        if word[0] != "c":
            others = case.feed(f"others_{word}", integers(2, -8 if word[0] != "u" else 0, 9, 4, dtype=dtype))
            for op in [raw.SparseSparseMaximum, raw.SparseSparseMinimum]:
                case.fetch(f"{op.__name__}_{word}", *op(
                    a_indices=indices, a_values=values, a_shape=shape, b_indices=other, b_values=others, b_shape=shape))
        if word in ["float32", "float64"]:  # halves are rounded after each step
            case.fetch(f"softmax_{word}", raw.SparseSoftmax(sp_indices=indices, sp_values=values, sp_shape=shape))
            case.fetch(f"softmax_turned_{word}", raw.SparseSoftmax(
                sp_indices=tf.reverse(indices, [0]), sp_values=values, sp_shape=shape))
        if word in ["float32", "float64", "int64"]:
            for kind in [np.int32, np.int64]:
                numbers = case.feed(f"numbers_{word}_{kind.__name__}", np.array([1, 3, 3, 0, 9, 2], kind))
                for rank in [1, 2, 3]:
                    for binary in [False, True]:
                        for weights in [values, values[:0]]:
                            case.fetch(f"counts_{word}_{kind.__name__}_{rank}_{binary}_{weights is values}", raw.SparseBincount(
                                indices=indices[:, 3 - rank:], values=numbers, dense_shape=shape[3 - rank:], size=kind(5),
                                weights=weights, binary_output=binary))
    case.write()


def crosses():
    """Combinations of features."""
    case = Case("op_crosses")
    # The last entry is one of an earlier row.
    a = case.feed("a_indices", np.array([[0, 0], [0, 1], [2, 0], [3, 5], [1, 0]], np.int64))
    b = case.feed("b_indices", np.array([[0, 0], [1, 0], [2, 0], [2, 1], [3, 0]], np.int64))
    shape = case.feed("shape", np.array([4, 6], np.int64))
    texts = case.feed("texts", np.array([b"x", b"", b"longer than sixteen bytes", b"y", b"z"]))
    numbers = case.feed("numbers", np.array([1, -7, 1 << 40, 3, 0], np.int64))
    words = case.feed("words", np.array([[b"p", b"q"], [b"r", b"s"], [b"t", b"u"], [b"v", b"w"]]))
    matrix = case.feed("matrix", np.array([[5], [-6], [7 << 33], [8]], np.int64))
    # Operands of each mixture: sparse, then dense.
    mixtures = {
        "texts": ([texts, texts], []), "numbers": ([numbers, numbers], []), "mixed": ([texts, numbers], [words, matrix]),
        "dense": ([], [words, words]), "dense_numbers": ([], [matrix]), "one": ([texts], []), "with_words": ([texts], [words]),
        "none": ([numbers], [matrix[:, :0]]),
    }
    for name, (sparse, dense) in mixtures.items():
        given = {"indices": [a, b][:len(sparse)], "values": sparse, "shapes": [shape] * len(sparse), "dense_inputs": dense}
        case.fetch(f"v2_{name}", *raw.SparseCrossV2(sep=tf.constant("<>"), **given))
        for buckets in [0, 10]:
            # TensorFlow crashes with strong hashes of dense integers.
            for strong in [False] if name in ["mixed", "dense_numbers"] else [False, True]:
                case.fetch(f"hashed_{name}_{buckets}_{strong}", *raw.SparseCrossHashed(
                    num_buckets=buckets, strong_hash=strong, salt=[137, -2], **given))
            for internal in [tf.int64, tf.string]:
                if internal == tf.string and any(x.dtype == tf.int64 for x in sparse + dense):
                    continue
                case.fetch(f"v1_{name}_{buckets}_{internal.name}", *raw.SparseCross(
                    hashed_output=True, num_buckets=buckets, hash_key=956888297470, out_type=tf.int64, internal_type=internal, **given))
                if not buckets:
                    case.fetch(f"v1_{name}_{internal.name}", *raw.SparseCross(
                        hashed_output=False, num_buckets=0, hash_key=1, out_type=tf.string, internal_type=internal, **given))
    case.write()


if __name__ == "__main__":
    segments()
    arrays()
    words()
    counts()
    parts()
    crosses()
