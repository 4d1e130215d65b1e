"""Convolutions and poolings of volumes, dilation, and windows that are just larger than the image."""
import numpy as np
from case import Case, integers, normal, tf

raw = tf.raw_ops


def volumes():
    case = Case("op_volumes")
    x = case.feed("x", normal(1, 2, 4, 5, 3, 2), shape=[None, None, None, None, 2])
    filters = case.feed("filters", normal(2, 2, 3, 2, 2, 3))
    halves = tf.cast(x, tf.float16)
    tied = case.feed("tied", integers(3, 0, 3, 1, 4, 4, 4, 1, dtype=np.float32))
    for padding in ["SAME", "VALID"]:
        for strides in [[1, 1, 1, 1, 1], [1, 2, 1, 2, 1]]:
            attrs = {"padding": padding, "strides": strides}
            word = f"{padding}_{strides[1]}"
            y = raw.Conv3D(input=x, filter=filters, **attrs)
            case.fetch(f"conv_{word}", y)
            case.fetch(f"conv_{word}_doubles", raw.Conv3D(
                input=tf.cast(x, tf.float64), filter=tf.cast(filters, tf.float64), **attrs))
            dy = tf.sin(y)
            case.fetch(f"conv_{word}_by_x", raw.Conv3DBackpropInputV2(
                input_sizes=tf.shape(x), filter=filters, out_backprop=dy, **attrs))
            case.fetch(f"conv_{word}_by_filters", raw.Conv3DBackpropFilterV2(
                input=x, filter_sizes=[2, 3, 2, 2, 3], out_backprop=dy, **attrs))
            pool = {"ksize": [1, 2, 3, 2, 1], **attrs}
            for tensor, name in [(x, "x"), (tied, "tied")]:
                y = raw.MaxPool3D(input=tensor, **pool)
                case.fetch(f"max_{name}_{word}", y)
                case.fetch(f"max_{name}_{word}_by_x", raw.MaxPool3DGrad(
                    orig_input=tensor, orig_output=y, grad=tf.cos(y), **pool))
                # The gradient is a fed tensor: TensorFlow writes the result over one that nothing else needs.
                case.fetch(f"max_{name}_{word}_again", raw.MaxPool3DGradGrad(
                    orig_input=tensor, orig_output=y, grad=tensor, **pool))
            y = raw.AvgPool3D(input=x, **pool)
            case.fetch(f"avg_{word}", y)
            case.fetch(f"avg_{word}_by_x", raw.AvgPool3DGrad(
                orig_input_shape=tf.shape(x), grad=tf.cos(y), **pool))
    image = case.feed("image", normal(4, 1, 6, 7, 2))
    ints = case.feed("ints", integers(5, -100, 100, 1, 6, 7, 2))
    for padding in ["SAME", "VALID"]:
        for strides, rates in [([1, 1, 1, 1], [1, 2, 1, 1]), ([1, 2, 3, 1], [1, 1, 1, 1])]:
            attrs = {"padding": padding, "strides": strides, "rates": rates}
            word = f"{padding}_{strides[1]}"
            for name, x, f in [("", image, filters[0, :, :, :, 0]), ("_ints", ints, integers(6, -9, 9, 3, 2, 2))]:
                y = raw.Dilation2D(input=x, filter=f, **attrs)
                dy = y * y
                case.fetch(f"dilation_{word}{name}", y)
                case.fetch(f"dilation_{word}{name}_by_x", raw.Dilation2DBackpropInput(
                    input=x, filter=f, out_backprop=dy, **attrs))
                case.fetch(f"dilation_{word}{name}_by_filter", raw.Dilation2DBackpropFilter(
                    input=x, filter=f, out_backprop=dy, **attrs))
    for ksize, stride in [(2, 2), (3, 1)]:
        by = {"ksize": [1, ksize, ksize, 1], "strides": [1, stride, stride, 1], "padding": "SAME"}
        y = raw.MaxPool(input=image, **by)
        case.fetch(f"max_again_{ksize}", raw.MaxPoolGradGradV2(
            orig_input=image, orig_output=y, grad=tf.cos(image), **by))
    case.write()


def windows():
    """Results are empty where less than a stride is missing. The sizes are unknown when the graph is made."""
    case = Case("op_windows_too_large")
    x = case.feed("x", normal(1, 1, 4, 6, 2), shape=[None, None, None, 2])
    filters = case.feed("filters", normal(2, 3, 3, 2, 4))
    for dilations, strides in [([1, 2, 1, 1], [1, 1, 1, 1]), ([1, 2, 2, 1], [1, 2, 2, 1]), ([1, 3, 3, 1], [1, 4, 4, 1])]:
        attrs = {"padding": "VALID", "strides": strides, "dilations": dilations}
        word = f"{dilations[2]}_{strides[1]}"
        case.fetch(f"conv_{word}", raw.Conv2D(input=x, filter=filters, **attrs))
    y = raw.Conv2D(input=x, filter=filters, padding="VALID", strides=[1, 2, 2, 1], dilations=[1, 2, 2, 1])
    case.fetch("total", tf.reduce_sum(y))
    for op in [raw.MaxPool, raw.AvgPool]:
        for ksize, stride in [(5, 1), (5, 2), (6, 3)]:
            attrs = {"ksize": [1, ksize, 2, 1], "strides": [1, stride, stride, 1], "padding": "VALID"}
            name = "max" if op is raw.MaxPool else "avg"
            case.fetch(f"{name}_{ksize}_{stride}", op(**{"input" if name == "max" else "value": x}, **attrs))
    case.write()


def patches():
    """Patches of volumes, and poolings with windows of two sizes."""
    case = Case("op_fractional")
    for dtype in [np.float32, np.float64, np.float16, np.int8, np.uint16, np.int64]:
        word = np.dtype(dtype).name
        x = case.feed(f"volume_{word}", integers(1, 0, 100, 2, 4, 5, 3, 2, dtype=dtype), shape=[None] * 5)
        for padding in ["SAME", "VALID"][:1 if dtype == np.int8 else 2]:
            for name, sizes, strides in [("large", [2, 3, 2], [1, 2, 1]), ("apart", [1, 2, 1], [2, 3, 2]), ("one", [4, 1, 3], [1, 1, 1])]:
                case.fetch(f"patches_{word}_{padding}_{name}", raw.ExtractVolumePatches(
                    input=x, ksizes=[1, *sizes, 1], strides=[1, *strides, 1], padding=padding))
    case.fetch("longer", raw.ExtractVolumePatches(
        input=x, ksizes=[1, 9, 2, 7, 1], strides=[1, 3, 1, 2, 1], padding="SAME"))
    for dtype in [np.float32, np.float64, np.int32, np.int64]:
        word = np.dtype(dtype).name
        x = case.feed(f"images_{word}", integers(4, -9, 30, 2, 11, 8, 2, dtype=dtype))
        for op, grad in [(raw.FractionalMaxPool, raw.FractionalMaxPoolGrad), (raw.FractionalAvgPool, raw.FractionalAvgPoolGrad)]:
            for ratio in [[1, 1], [1.5, 1.4], [2, 2.9], [11, 1.01]][:4 if word == "float32" else 2]:
                for overlapping in [False, True]:
                    for pseudo in [False, True][:2 if word == "float32" else 1]:
                        y, rows, columns = op(
                            value=x, pooling_ratio=[1., *map(float, ratio), 1.], deterministic=True, overlapping=overlapping,
                            pseudo_random=pseudo, seed=7, seed2=len(case.fetches))
                        name = f"{op.__name__}_{word}_{ratio[0]}_{overlapping}_{pseudo}"
                        case.fetch(name, y, rows, columns)
                        first = {"orig_input": x, "orig_output": y} if op is raw.FractionalMaxPool else {
                            "orig_input_tensor_shape": tf.shape(x, out_type=tf.int64)}
                        case.fetch(f"{name}_grad", grad(
                            out_backprop=y * 3 + 1, row_pooling_sequence=rows, col_pooling_sequence=columns,
                            overlapping=overlapping, **first))
    case.write()


if __name__ == "__main__":
    volumes()
    windows()
    patches()
