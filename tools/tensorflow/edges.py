"""Shapes at the ends of what operators accept: parts without elements, values that broadcast, diagonals outside of
a matrix, windows just larger than the image; operators on references; complex gradients; gelu of infinities;
arrays of strings."""
import numpy as np
from case import Case, integers, normal, tf

raw = tf.raw_ops


def slices():
    """Assignments to slices, of tensors and of variables."""
    case = Case("op_slice_updates")
    x = case.feed("x", normal(1, 3, 4), shape=None)
    variable = raw.VarHandleOp(dtype=tf.float32, shape=[3, 4], shared_name="v")
    order = raw.AssignVariableOp(resource=variable, value=x)
    row, column = dict(shrink_axis_mask=1), dict(shrink_axis_mask=2)
    both, new_axis = dict(shrink_axis_mask=3), dict(new_axis_mask=1)
    updates = [
        # value, begin, end, strides, masks
        (np.full([2, 2], -1), [0, 0], [2, 2], [1, 1], {}),
        (-1, [0, 0], [2, 2], [1, 1], {}),
        ([-1], [0, 0], [2, 2], [1, 1], {}),
        ([-1, -2], [0, 0], [2, 2], [1, 1], {}),
        ([[-1], [-2]], [0, 0], [2, 2], [1, 1], {}),
        ([[[-1, -2]]], [0, 0], [2, 2], [1, 1], {}),
        ([-1, -2], [2, 3], [0, 0], [-1, -2], {}),
        ([-1, -2, -3, -4], [1, 0], [2, 4], [1, 1], row),
        (-1, [1, 0], [2, 4], [1, 1], row),
        ([[-1, -2, -3, -4]], [1, 0], [2, 4], [1, 1], row),
        ([-1, -2, -3, -4], [-1], [0], [1], row),
        ([-1, -2, -3], [0, 1], [3, 2], [1, 1], column),
        (-1, [1, 2], [2, 3], [1, 1], both),
        ([[-1]], [1, 2], [2, 3], [1, 1], both),
        ([-1, -2, -3], [0, 1], [0, 2], [1, 1], dict(ellipsis_mask=1, shrink_axis_mask=2)),
        (np.full([2, 2], -1), [0, 0, 0], [0, 2, 2], [1, 1, 1], new_axis),
        ([[-1, -2]], [0, 0, 0], [0, 2, 2], [1, 1, 1], dict(new_axis_mask=1, shrink_axis_mask=2)),
        # Nothing is replaced, so any value will do.
        (np.zeros([0, 2]), [1, 0], [1, 2], [1, 1], {}),
        (-1, [1, 0], [1, 2], [1, 1], {}),
        (np.full([2, 2], -1), [1, 0], [1, 2], [1, 1], {}),
        (np.zeros([5]), [1, 2], [2, 2], [1, 1], row),
    ]
    case.fetch("masked_index", raw.StridedSlice(
        input=x, begin=[2, 1], end=[0, 3], strides=[1, 1], begin_mask=3, end_mask=3, shrink_axis_mask=1))
    for i, (value, begin, end, strides, masks) in enumerate(updates):
        value = tf.constant(np.asarray(value, np.float32))
        case.fetch(f"tensor_{i}", raw.TensorStridedSliceUpdate(
            input=x, begin=begin, end=end, strides=strides, value=value, **masks))
        with tf.control_dependencies([order]):
            order = raw.ResourceStridedSliceAssign(
                ref=variable, begin=begin, end=end, strides=strides, value=value, **masks)
        with tf.control_dependencies([order]):
            read = raw.ReadVariableOp(resource=variable, dtype=tf.float32)
            case.fetch(f"variable_{i}", read)
            order = read.op
    case.write()


def diagonals():
    case = Case("op_diagonals")
    for i, (diagonal, k, rows, cols) in enumerate([
        ([1, 2], [5], -1, -1),
        ([1, 2], [5], 3, -1),
        ([1, 2], [-5], -1, 7),
        ([1], [1], 3, 2),
        ([[1, 2], [3, 4]], [1, 2], -1, -1),
        ([[1, 2], [3, 4]], [1, 2], 2, 3),
        ([[1, 2], [3, 4]], [-3, -2], -1, -1),
        ([[1, 2], [3, 4], [5, 6], [7, 8], [9, 1], [2, 3], [4, 5]], [-3, 3], -1, -1),
        ([[1, 2], [3, 4], [5, 6], [7, 8], [9, 1], [2, 3], [4, 5]], [-3, 3], 2, 2),
        ([[1, 2], [3, 4], [5, 6]], [-1, 1], 5, 2),
        ([], [0], -1, -1),
        ([], [1], -1, -1),
        ([], [2], 2, 2),
    ]):
        diagonal = case.feed(f"diagonal_{i}", np.array(diagonal, np.float32), shape=None)
        case.fetch(f"v2_{i}", raw.MatrixDiagV2(
            diagonal=diagonal, k=k, num_rows=rows, num_cols=cols, padding_value=9.0))
        for align in ["LEFT_RIGHT", "RIGHT_LEFT"]:
            case.fetch(f"v3_{i}_{align}", raw.MatrixDiagV3(
                diagonal=diagonal, k=k, num_rows=rows, num_cols=cols, padding_value=9.0, align=align))
    for i, (shape, k) in enumerate([((0, 3), 1), ((3, 0), 0), ((0, 0), 0)]):
        x = case.feed(f"x_{i}", np.zeros(shape, np.float32))
        case.fetch(f"part_{i}", raw.MatrixDiagPartV3(input=x, k=k, padding_value=9.0))
        case.fetch(f"set_{i}", raw.MatrixSetDiagV3(input=x, k=k, diagonal=np.zeros([0], np.float32)))
    case.write()


def parts():
    """Parts without elements, counts, segments, lists."""
    case = Case("op_empty_parts")
    for i, (shape, axis) in enumerate([((2, 0, 3), 0), ((0, 3), 1), ((5, 0), 0)]):
        x = case.feed(f"x_{i}", np.zeros(shape, np.float32), shape=None if i else shape)
        case.fetch(f"slices_{i}", *raw.Unpack(value=x, num=shape[axis], axis=axis))
    x = case.feed("none", np.zeros([0, 6], np.float32), shape=None)
    case.fetch("last_part", raw.Split(axis=0, value=x, num_split=70)[69])
    for i, (array, weights) in enumerate([
        ([[0, 1, 1], [2, 2, 2]], []),
        ([[0, 1, 1], [2, 2, 2]], np.arange(6.0).reshape(2, 3)),
        ([[0, 1, 1], [2, 2, 2]], np.arange(6.0)),
        (np.ones([2, 2, 2]), []),
        (2, []),
        ([7, 1], []),
    ]):
        array = case.feed(f"array_{i}", np.array(array, np.int32), shape=None)
        case.fetch(f"counts_{i}", raw.Bincount(arr=array, size=3, weights=np.array(weights, np.float32)))
    for i, (data, ids, n) in enumerate([
        ([1, 2, 3], 1, 3),
        (5, 1, 3),
        ([1, 2], -1, 3),
        (np.zeros([0]), np.zeros([0]), 3),
        (np.zeros([0]), np.zeros([0]), 0),
        (np.zeros([0, 2]), np.zeros([0]), 3),
        (np.zeros([2, 0]), [0, 1], 3),
        (np.zeros([2, 0]), [0, 7], 3),
        ([1, 2], [-1, -1], 0),
        ([[1, 2], [3, 4]], [[0, 1], [1, 2]], 3),
        (np.zeros([2, 0, 3]), np.zeros([2, 0]), 3),
        (np.zeros([0, 2, 0]), np.zeros([0]), 3),
    ]):
        data = case.feed(f"data_{i}", np.array(data, np.float32), shape=None)
        ids = case.feed(f"ids_{i}", np.array(ids, np.int32), shape=None)
        for op in ["Sum", "Prod"]:
            case.fetch(f"segment_{op}_{i}", getattr(raw, f"UnsortedSegment{op}")(
                data=data, segment_ids=ids, num_segments=n))
    for i, shape in enumerate([(3, 0), (0, 2), (3, 0, 2), (0,), (0, 0)]):
        x = case.feed(f"list_{i}", np.zeros(shape, np.float32), shape=None)
        element = np.array(shape[1:], np.int32)
        made = raw.TensorListFromTensor(tensor=x, element_shape=element)
        case.fetch(f"length_{i}", raw.TensorListLength(input_handle=made))
        case.fetch(f"stack_{i}", raw.TensorListStack(
            input_handle=made, element_shape=element, element_dtype=tf.float32))
    case.write()


def windows():
    """Windows that are larger than the image by one have no place: the result is empty."""
    case = Case("op_larger_windows")
    x = case.feed("x", normal(1, 1, 3, 3, 1), shape=None)
    one, none = [1, 1, 1, 1], np.zeros([1, 0, 0, 1], np.float32)
    size = [1, 4, 4, 1]
    filters = {n: case.feed(f"filter_{n}", normal(n, n, n, 1, 1)) for n in [2, 4, 6]}
    case.fetch("conv", raw.Conv2D(input=x, filter=filters[4], strides=one, padding="VALID"))
    case.fetch("conv_relu", raw.Relu(features=raw.BiasAdd(
        value=raw.Conv2D(input=x, filter=filters[4], strides=one, padding="VALID"), bias=[1.0])))
    case.fetch("conv_strided", raw.Conv2D(
        input=x, filter=filters[4][:, :3], strides=[1, 2, 2, 1], padding="VALID"))
    case.fetch("conv_dilated", raw.Conv2D(
        input=x, filter=filters[2], strides=one, padding="VALID", dilations=[1, 3, 3, 1]))
    case.fetch("conv_padded", raw.Conv2D(
        input=x, filter=filters[6], strides=one, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 1, 1, 0, 0]))
    case.fetch("depthwise", raw.DepthwiseConv2dNative(
        input=x, filter=filters[4], strides=one, padding="VALID"))
    case.fetch("max", raw.MaxPool(input=x, ksize=size, strides=one, padding="VALID"))
    case.fetch("average", raw.AvgPool(value=x, ksize=size, strides=one, padding="VALID"))
    case.fetch("conv_by_x", raw.Conv2DBackpropInput(
        input_sizes=[1, 3, 3, 1], filter=filters[4], out_backprop=none, strides=one, padding="VALID"))
    case.write()


def references():
    """Variables by reference, of each element type."""
    case = Case("op_references")
    for dtype in [tf.float32, tf.float64, tf.int32, tf.int64, tf.uint8, tf.int16, tf.float16, tf.complex64]:
        variable = raw.VariableV2(shape=[3], dtype=dtype, shared_name=dtype.name)
        x = case.feed(f"x_{dtype.name}", np.array([1, 2, 3], dtype.as_numpy_dtype))
        assigned = raw.Assign(ref=variable, value=x)
        added = raw.AssignAdd(ref=assigned, value=x)
        taken = raw.AssignSub(ref=added, value=tf.cast([0, 1, 2], dtype))
        case.fetch(dtype.name, raw.Mul(x=taken, y=x))
        scattered = raw.ScatterUpdate(ref=taken, indices=[2], updates=tf.cast([9], dtype))
        case.fetch(f"{dtype.name}_scattered", scattered)
    case.write()


def complex_numbers():
    case = Case("op_complex_gradients")
    for dtype in [np.complex64, np.complex128]:
        word = np.dtype(dtype).name
        y = case.feed(f"y_{word}", np.array([1 + 2j, -0.5 + 1j, 2 - 1j, 1], dtype))
        dy = case.feed(f"dy_{word}", np.array([1 + 1j, 2 - 3j, 0, -1j], dtype))
        for op in ["TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"]:
            case.fetch(f"{op}_{word}", getattr(raw, op)(y=y, dy=dy))
        default = raw.PlaceholderWithDefault(input=y, shape=[4])
        case.fetch(f"default_{word}", raw.Identity(input=default))
        case.fetch(f"default_of_any_{word}", raw.PlaceholderWithDefault(input=y, shape=[None]))
    case.write()


def gelu():
    """Gelu as graphs write it, alone and after a product: Gelu of -inf is NaN."""
    case = Case("op_gelu_ends")
    numbers = np.array([[-np.inf, np.inf, np.nan, -0.0], [0, 1e38, -1e38, -3]], np.float32)
    x = case.feed("x", numbers)
    scaled = case.feed("scaled", np.array([[np.inf], [-np.inf], [0.5], [np.nan]], np.float32))
    product = raw.BiasAdd(value=raw.MatMul(a=scaled, b=tf.constant([[1.0, -1.0]])), bias=[0.0, 1.0])
    for name, x in {"alone": x, "product": product}.items():
        erf = raw.Erf(x=x * np.float32(np.sqrt(0.5)))
        case.fetch(f"exact_{name}", 0.5 * x * (1.0 + erf))
        inner = np.float32(np.sqrt(2 / np.pi)) * (x + 0.044715 * raw.Pow(x=x, y=3.0))
        case.fetch(f"tanh_{name}", 0.5 * x * (1.0 + raw.Tanh(x=inner)))
    case.write()


def texts():
    """Operators that move or compare elements, on strings; operands of both kinds of characters."""
    case = Case("op_string_arrays")
    x = case.feed("x", np.array([["a", "straße", ""], ["日本", "b", "a"]]), shape=[None, 3])
    y = case.feed("y", np.array([b"a", b"b\xff", b""]))
    case.fetch("text_gather", raw.GatherV2(params=y, indices=[[2, 0], [1, 1]], axis=0))
    case.fetch("text_gather_columns", raw.GatherV2(params=x, indices=[2, 0], axis=1))
    case.fetch("text_gather_batch", raw.GatherV2(params=x, indices=[[2], [0]], axis=1, batch_dims=1))
    case.fetch("text_gather_v1", raw.Gather(params=x, indices=[1]))
    case.fetch("text_gather_nd", raw.GatherNd(params=x, indices=[[1, 0], [0, 1]]))
    case.fetch("text_equal", raw.Equal(x=x, y=y))
    case.fetch("text_not_equal", raw.NotEqual(x=x, y=tf.constant("a")))
    case.fetch("text_unequal_shapes", raw.Equal(x=y, y=["a", "b"], incompatible_shape_error=False))
    case.fetch("text_slice", raw.StridedSlice(input=x, begin=[0, 1], end=[2, 3], strides=[1, 1]))
    case.fetch("text_transpose", raw.Transpose(x=x, perm=[1, 0]))
    case.fetch("text_concat", raw.ConcatV2(values=[x, x], axis=0))
    case.fetch("text_pack", raw.Pack(values=[y, y], axis=1))
    case.fetch("text_select", raw.SelectV2(condition=raw.Equal(x=x, y=y), t=x, e=tf.constant("no")))
    case.fetch("text_reshape", raw.Reshape(tensor=x, shape=[-1]))
    case.fetch("text_shape", raw.Shape(input=x))
    case.write()


def moved_texts():
    """More operators that move strings, two that change them, and parts of a negative length."""
    case = Case("op_string_moves")
    x = case.feed("x", np.array([["a", "straße", ""], ["日本", "b", "a"]]), shape=[None, 3])
    y = case.feed("y", np.array([b"a", b"b\xff", b""]))
    case.fetch("text_partition", *raw.DynamicPartition(data=y, partitions=[1, 0, 1], num_partitions=2))
    case.fetch("text_stitch", raw.DynamicStitch(indices=[[4, 0], [1, 2]], data=[["p", "q"], ["r", "s"]]))
    case.fetch("text_parallel_stitch", raw.ParallelDynamicStitch(indices=[[1, 0]], data=[["p", "q"]]))
    case.fetch("text_ensured", raw.EnsureShape(input=x, shape=[None, 3]))
    case.fetch("text_missing", *raw.ListDiff(x=["c", "a", "d", "a"], y=y))
    case.fetch("text_mirror", raw.MirrorPad(input=y, paddings=[[1, 2]], mode="REFLECT"))
    case.fetch("text_pad", raw.Pad(input=x, paddings=[[0, 1], [1, 0]]))
    case.fetch("text_pad_v2", raw.PadV2(input=y, paddings=[[0, 2]], constant_values="-"))
    case.fetch("text_one_hot", raw.OneHot(indices=np.array([1, 0, 5], np.int8), depth=2, on_value="on", off_value="off"))
    case.fetch("text_reverse", raw.Reverse(tensor=x, dims=[False, True]))
    case.fetch("text_roll", raw.Roll(input=x, shift=[1], axis=[1]))
    case.fetch("text_shapes", *raw.ShapeN(input=[x, y]))
    case.fetch("text_updated", raw.TensorStridedSliceUpdate(
        input=x, begin=[0, 1], end=[2, 2], strides=[1, 1], value=[["new"], ["too"]]))
    case.fetch("text_zeros", raw.ZerosLike(x=x))
    case.fetch("text_sum", raw.Add(x=x, y=y))
    for i, attrs in enumerate([{}, {"width": 5}, {"width": 5, "fill": "-"}, {"precision": 1, "width": 3},
                               {"precision": 1}]):
        case.fetch(f"text_as_text_{i}", raw.AsString(input=y, **attrs))
    for dtype in [tf.uint32, tf.uint64]:
        case.fetch(f"text_number_{dtype.name}", raw.StringToNumber(string_tensor=["7", "4294967295"], out_type=dtype))
    for unit in ["BYTE", "UTF8_CHAR"]:
        case.fetch(f"text_negative_{unit}", raw.Substr(input=y, pos=0, len=-1, unit=unit))
    case.write()


def single_pixels():
    """Axes of one pixel, windows whose taps are all in the padding, indices of 16 bits, one ragged row."""
    case = Case("op_single_pixels")
    for height, width in [(1, 1), (1, 3), (3, 1)]:
        x = case.feed(f"x_{height}_{width}", normal(height + 5 * width, 1, height, width, 2))
        for size in [(1, 1), (2, 3), (4, 1)]:
            for aligned in [False, True]:
                word = f"{height}_{width}_{size[0]}_{size[1]}_{aligned}"
                case.fetch(f"area_{word}", raw.ResizeArea(images=x, size=size, align_corners=aligned))
                case.fetch(f"bilinear_{word}", raw.ResizeBilinear(images=x, size=size, align_corners=aligned))
    x, filters = case.feed("x", normal(2, 2, 1, 4, 2)), case.feed("filters", normal(3, 2, 2, 2))
    for i, (strides, rates) in enumerate([([1, 2, 2, 1], [1, 2, 1, 1]), ([1, 1, 3, 1], [1, 2, 2, 1])]):
        attrs = {"strides": strides, "rates": rates, "padding": "SAME"}
        y = raw.Dilation2D(input=x, filter=filters, **attrs)
        dy = tf.ones_like(y)
        case.fetch(f"dilation_{i}", y)
        case.fetch(f"dilation_by_x_{i}", raw.Dilation2DBackpropInput(
            input=x, filter=filters, out_backprop=dy, **attrs))
        case.fetch(f"dilation_by_filter_{i}", raw.Dilation2DBackpropFilter(
            input=x, filter=filters, out_backprop=dy, **attrs))
    rows, at = case.feed("rows", normal(4, 4, 3)), case.feed("at", np.array([3, 0, 3], np.int16))
    case.fetch("short_gather", raw.GatherV2(params=rows, indices=at, axis=0))
    case.fetch("short_gather_nd", raw.GatherNd(params=rows, indices=raw.ExpandDims(input=at, axis=1)))
    outer, inner = np.array([0, 1, 3], np.int64), np.array([0, 2, 2, 4], np.int64)
    for n_splits, index in [(1, 2), (2, 1)]:
        splits = [outer, inner][-n_splits:]
        found = raw.RaggedGather(params_nested_splits=splits, params_dense_values=rows, indices=index,
                                 OUTPUT_RAGGED_RANK=n_splits - 1)
        case.fetch(f"ragged_row_{n_splits}", *found.output_nested_splits, found.output_dense_values)
    case.write()


def special_operands():
    """Infinite and missing numbers in operators that are no functions of single elements; sums of short integers that overflow."""
    case = Case("op_special_operands", atol=0)
    logits = case.feed("logits", np.array([[-np.inf, 0, 1], [-np.inf, -np.inf, 2]], np.float32))
    labels = case.feed("labels", np.array([[0, 1, 0], [0.5, 0, 0.5]], np.float32))
    case.fetch("xent", *raw.SoftmaxCrossEntropyWithLogits(features=logits, labels=labels))
    classes = case.feed("classes", np.array([1, 2], np.int32))
    case.fetch("sparse_xent", *raw.SparseSoftmaxCrossEntropyWithLogits(features=logits, labels=classes))
    rows = case.feed("rows", np.array([[-np.inf, 0, np.inf]], np.float32))
    values = case.feed("values", np.array([[np.nan, np.inf, -np.inf, 0]], np.float32))
    case.fetch("upper", raw.UpperBound(sorted_inputs=rows, values=values))
    case.fetch("lower", raw.LowerBound(sorted_inputs=rows, values=values))
    start, stop = case.feed("start", np.float32(-np.inf)), case.feed("stop", np.float32(1))
    case.fetch("line", raw.LinSpace(start=start, stop=stop, num=np.int32(3)))
    case.fetch("factor", raw.Cholesky(input=case.feed("squares", np.array([[[np.nan]], [[np.inf]], [[4]]], np.float32))))
    x, filters = case.feed("x", integers(1, -128, 127, 1, 3, 4, 2, dtype=np.int8)), case.feed("filters", integers(2, -128, 127, 2, 1, 2, dtype=np.int8))
    dy = case.feed("dy", integers(3, 90, 127, 1, 3, 4, 2, dtype=np.int8))
    attrs = {"strides": [1] * 4, "rates": [1] * 4, "padding": "SAME"}
    case.fetch("dilation", raw.Dilation2D(input=x, filter=filters, **attrs))
    case.fetch("dilation_by_x", raw.Dilation2DBackpropInput(input=x, filter=filters, out_backprop=dy, **attrs))
    case.fetch("dilation_by_filter", raw.Dilation2DBackpropFilter(input=x, filter=filters, out_backprop=dy, **attrs))
    case.write()


def rows_in_place():
    """TensorFlow writes into the operand, so that each operator has its own copy."""
    case = Case("op_rows_in_place")
    x, rows = case.feed("x", normal(1, 4, 3)), case.feed("rows", normal(2, 3, 3))
    at = case.feed("at", np.array([2, -1, 4], np.int32))
    for name in ["InplaceUpdate", "InplaceAdd", "InplaceSub"]:
        case.fetch(name, getattr(raw, name)(x=raw.DeepCopy(x=x), i=at, v=rows))
    case.write()


if __name__ == "__main__":
    slices()
    diagonals()
    parts()
    windows()
    references()
    complex_numbers()
    gelu()
    texts()
    moved_texts()
    single_pixels()
    special_operands()
    rows_in_place()
