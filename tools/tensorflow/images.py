"""Resizing, crops and boxes."""
import numpy as np
from case import Case, integers, normal, tf

raw = tf.raw_ops


def resizing():
    case = Case("op_resize")
    x = case.feed("x", normal(1, 2, 3, 5, 2), shape=None)
    bytes_ = case.feed("bytes", integers(2, 0, 256, 1, 4, 3, 3, dtype=np.uint8))
    halves = case.feed("halves", normal(3, 1, 4, 3, 1, dtype=np.float16))
    doubles = case.feed("doubles", normal(6, 1, 4, 3, 1, dtype=np.float64))
    ints = case.feed("ints", integers(4, -1000, 1000, 1, 3, 3, 2))
    size = case.feed("size", np.array([7, 4], np.int32))
    flags = {"plain": {}, "corners": {"align_corners": True}, "centers": {"half_pixel_centers": True}}
    for word, attrs in flags.items():
        for op in ["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"]:
            run = getattr(raw, op)
            case.fetch(f"{op}_{word}", run(images=x, size=size, **attrs))
            case.fetch(f"{op}_{word}_smaller", run(images=x, size=[2, 3], **attrs))
            case.fetch(f"{op}_{word}_one", run(images=x, size=[1, 1], **attrs))
            case.fetch(f"{op}_{word}_bytes", run(images=bytes_, size=[9, 7], **attrs))
            case.fetch(f"{op}_{word}_halves", run(images=halves, size=[5, 6], **attrs))
            case.fetch(f"{op}_{word}_ints", run(images=ints, size=size, **attrs))
        dy = case.feed(f"dy_{word}", normal(5, 2, 7, 4, 2))
        for op in ["ResizeBilinearGrad", "ResizeBicubicGrad"]:
            run = getattr(raw, op)
            case.fetch(f"{op}_{word}", run(grads=dy, original_image=x, **attrs))
            small = dy[:1, :2, :3, :1]
            case.fetch(f"{op}_{word}_doubles", run(grads=small, original_image=doubles, **attrs))
        case.fetch(f"ResizeBilinearGrad_{word}_halves",
                   raw.ResizeBilinearGrad(grads=dy[:1, :, :, :1], original_image=halves, **attrs))
        nearest = raw.ResizeNearestNeighborGrad
        case.fetch(f"ResizeNearestNeighborGrad_{word}", nearest(grads=dy, size=[3, 5], **attrs))
        case.fetch(f"ResizeNearestNeighborGrad_{word}_ints", nearest(grads=ints, size=[2, 7], **attrs))
    case.write()


def crops():
    case = Case("op_crop")
    x = case.feed("x", normal(1, 2, 6, 5, 2))
    bytes_ = case.feed("bytes", integers(2, 0, 256, 2, 6, 5, 2, dtype=np.uint8))
    boxes = case.feed("boxes", np.array(
        [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.8, 0.9, 0.2, 0.1], [-0.5, 0.3, 1.5, 0.6]], np.float32))
    of = case.feed("of", np.array([0, 1, 1, 0], np.int32))
    for method in ["bilinear", "nearest"]:
        for size in [(3, 4), (1, 1), (9, 1)]:
            word = f"{method}_{size[0]}x{size[1]}"
            attrs = {"boxes": boxes, "box_ind": of, "method": method}
            case.fetch(word, raw.CropAndResize(image=x, crop_size=size, extrapolation_value=-7.5, **attrs))
            case.fetch(f"{word}_bytes", raw.CropAndResize(image=bytes_, crop_size=size, **attrs))
            dy = case.feed(f"dy_{word}", normal(3, 4, *size, 2))
            case.fetch(f"{word}_by_image", raw.CropAndResizeGradImage(
                grads=dy, image_size=[2, 6, 5, 2], T=tf.float32, **attrs))
            case.fetch(f"{word}_by_image_doubles", raw.CropAndResizeGradImage(
                grads=dy, image_size=[2, 6, 5, 2], T=tf.float64, **attrs))
            if method == "bilinear":
                case.fetch(f"{word}_by_boxes", raw.CropAndResizeGradBoxes(grads=dy, image=x, **attrs))
    case.write()


def boxes():
    case = Case("op_boxes")
    rng = np.random.default_rng(7)
    corners = rng.uniform(size=(40, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(0.05, 0.4, size=(40, 2))], 1).astype(np.float32)
    boxes[::3] = boxes[::3, [2, 3, 0, 1]]
    boxes[5, 2:] = boxes[5, :2]
    scores = np.round(rng.uniform(size=40), 1).astype(np.float32)
    given = {"boxes": case.feed("boxes", boxes), "scores": case.feed("scores", scores, shape=[None])}
    n = case.feed("n", np.int32(12))
    case.fetch("v1", raw.NonMaxSuppression(max_output_size=n, iou_threshold=0.3, **given))
    for threshold in [0.0, 0.2, 0.5, 1.0]:
        by = {"max_output_size": n, "iou_threshold": threshold, **given}
        word = str(threshold).replace(".", "_")
        case.fetch(f"v2_{word}", raw.NonMaxSuppressionV2(**by))
        case.fetch(f"v3_{word}", raw.NonMaxSuppressionV3(score_threshold=0.6, **by))
        for pad in [False, True]:
            padded = {"pad_to_max_output_size": pad, "score_threshold": 0.75, **by}
            case.fetch(f"v4_{word}_{pad}", *raw.NonMaxSuppressionV4(**padded))
            for sigma in [0.0, 0.5]:
                case.fetch(f"v5_{word}_{pad}_{int(sigma * 10)}",
                           *raw.NonMaxSuppressionV5(soft_nms_sigma=sigma, **padded))
    every = {"max_output_size": 100, "iou_threshold": 0.4, **given}
    case.fetch("every", raw.NonMaxSuppressionV3(score_threshold=float("-inf"), **every))
    case.fetch("none", raw.NonMaxSuppressionV3(score_threshold=2.0, **every))
    case.fetch("soft", *raw.NonMaxSuppressionV5(score_threshold=0.1, soft_nms_sigma=0.3, **every))
    shared = case.feed("shared", rng.uniform(-0.2, 1.2, size=(2, 20, 1, 4)).astype(np.float32))
    own = case.feed("own", rng.uniform(size=(2, 20, 3, 4)).astype(np.float32))
    by_class = case.feed("by_class", rng.uniform(size=(2, 20, 3)).astype(np.float32))
    for word, of in {"shared": shared, "own": own}.items():
        for i, attrs in enumerate([{}, {"pad_per_class": True}, {"clip_boxes": False}]):
            case.fetch(f"combined_{word}_{i}", *raw.CombinedNonMaxSuppression(
                boxes=of, scores=by_class, max_output_size_per_class=4, max_total_size=15, iou_threshold=0.3,
                score_threshold=0.2, **attrs))
    case.write()


def overlaps():
    """Selection of boxes by given overlaps, which need not be symmetric."""
    case = Case("op_overlaps")
    rng = np.random.default_rng(11)
    given = {
        "overlaps": case.feed("overlaps", np.round(rng.uniform(-1, 2, size=(20, 20)), 1).astype(np.float32)),
        "scores": case.feed("scores", np.round(rng.uniform(size=20), 1).astype(np.float32), shape=[None]),
    }
    for n in [0, 3, 30]:
        for i, (overlap, score) in enumerate([(0.0, 0.0), (0.5, 0.3), (1.7, -1.0), (-0.5, 0.5)]):
            case.fetch(f"n{n}_{i}", raw.NonMaxSuppressionWithOverlaps(
                max_output_size=n, overlap_threshold=overlap, score_threshold=score, **given))
    case.write()


def early_layers():
    """Operators of early models and of models that TensorFlow's tools optimized."""
    case = Case("op_early_layers")
    # A newer version of graphs would refuse the normalization.
    tf.import_graph_def(tf.GraphDef(versions={"producer": 8}))
    x = case.feed("x", normal(1, 2, 6, 5, 3), shape=[None, 6, 5, 3])
    filters = tf.constant(normal(2, 3, 2, 3, 4))
    moments = {"m": normal(3, 3), "v": np.abs(normal(4, 3)), "beta": normal(5, 3), "gamma": normal(6, 3)}
    fed = {name: case.feed(name, array) for name, array in moments.items()}
    convolved = tf.nn.conv2d(x, tf.constant(normal(7, 2, 2, 3, 3)), strides=1, padding="SAME")
    for scales in [False, True]:
        own = {"variance_epsilon": .001, "scale_after_normalization": scales}
        norm = tf.raw_ops.BatchNormWithGlobalNormalization
        case.fetch(f"norm_{scales}", norm(t=x, **fed, **own))
        case.fetch(f"norm_of_constants_{scales}", norm(t=convolved, **moments, **own))
        wide = {name: tf.cast(value, tf.float64) for name, value in {"t": x, **fed}.items()}
        case.fetch(f"norm_wide_{scales}", norm(**wide, **own))
    # TensorFlow's results of further images are wrong.
    one = case.feed("one", normal(8, 1, 6, 5, 3))
    paddings = [[0, 0], [2, 1], [1, 1], [0, 0]]
    for mode in ["REFLECT", "SYMMETRIC"]:
        for padding, stride in [("VALID", 1), ("SAME", 2)]:
            own = {"paddings": paddings, "mode": mode, "strides": [1, stride, stride, 1], "padding": padding}
            word = f"{mode}_{padding}"
            case.fetch(f"pad_{word}", tf.raw_ops.FusedPadConv2D(input=one, filter=filters, **own))
            for corners in [False, True]:
                case.fetch(f"resize_{word}_{corners}", tf.raw_ops.FusedResizeAndPadConv2D(
                    input=one, size=[4, 7], filter=filters, resize_align_corners=corners, **own))
    case.write()


def blocks():
    case = Case("op_blocks")
    images = case.feed("images", normal(1, 2, 4, 6, 3), shape=[None, None, 6, None])
    pairs = case.feed("pairs", np.array([[1, 1], [0, 2]], np.int64))
    for size in [2, 3]:
        padding = [[0, 0], [2, 0]] if size == 2 else [[1, 1], [0, 0]]
        y = raw.SpaceToBatch(input=images, paddings=padding, block_size=size)
        case.fetch(f"batches_{size}", y, tf.gradients(y * y, images)[0])
        case.fetch(f"images_{size}", raw.BatchToSpace(input=y, crops=padding, block_size=size))
    case.fetch("given", raw.SpaceToBatch(input=images, paddings=pairs, block_size=2))
    for dtype in [np.int32, np.int64]:
        axes = case.feed(f"axes_{dtype.__name__}", np.array([[0, 1, 2], [3, -1, -4]], dtype), shape=None)
        for source, to in [("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NHWC", "HWNC")]:
            case.fetch(f"axis_{source}_{to}_{dtype.__name__}", raw.DataFormatDimMap(
                x=axes, src_format=source, dst_format=to))
            for n in [4, 2]:
                x = np.arange(5, 5 + 2 * n, dtype=dtype)
                by = {"src_format": source, "dst_format": to}
                case.fetch(f"order_{source}_{to}_{n}_{dtype.__name__}", raw.DataFormatVecPermute(x=x[:n], **by))
                case.fetch(f"pairs_{source}_{to}_{n}_{dtype.__name__}", raw.DataFormatVecPermute(
                    x=x.reshape(n, 2), **by))
    deep = {"src_format": "NDHWC", "dst_format": "NCDHW"}
    case.fetch("deep", raw.DataFormatDimMap(x=[0, 1, 4, -2], **deep), raw.DataFormatVecPermute(x=[1, 2, 3, 4, 5], **deep),
               raw.DataFormatVecPermute(x=[7, 8, 9], **deep))
    case.fetch("turned", raw.DataFormatVecPermute(x=[7, 8], src_format="NHWC", dst_format="NWHC"))
    case.write()


if __name__ == "__main__":
    resizing()
    crops()
    boxes()
    overlaps()
    early_layers()
    blocks()
