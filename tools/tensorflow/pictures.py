"""Pictures: decoded, encoded, turned, cut out and drawn on. The kernels of libjpeg and libpng are TensorFlow's."""
import struct
import zlib

import numpy as np
from case import Case, integers, normal, tf

raw = tf.raw_ops


def transforms():
    case = Case("op_projective", rtol=1e-5, atol=1e-4)
    images = case.feed("images", 50 + 40 * normal(1, 2, 5, 6, 3))
    some = np.array([[1, 0, -2.5, 0, 1, 1.25, 0, 0], [.8, .3, 1, -.2, 1.1, -.6, .02, -.01]], np.float32)
    one = np.array([[.5, -.7, 2.2, .7, .5, -1.1, .05, .03]], np.float32)
    far = np.array([[3, 0, -9, 0, -4, 11, 0, 0]], np.float32)
    edge = np.array([[1, 0, .5, 0, 1, -.5, -.5, 0]], np.float32)
    for mode in ["CONSTANT", "REFLECT", "WRAP", "NEAREST"]:
        for interpolation in ["NEAREST", "BILINEAR"]:
            by = {"fill_mode": mode, "interpolation": interpolation}
            for name, by_images in [("some", some), ("one", one), ("far", far), ("edge", edge)]:
                case.fetch(f"v3_{mode}_{interpolation}_{name}", raw.ImageProjectiveTransformV3(
                    images=images, transforms=by_images, output_shape=[4, 7], fill_value=9.5, **by))
            case.fetch(f"v2_{mode}_{interpolation}", raw.ImageProjectiveTransformV2(
                images=images, transforms=some, output_shape=[5, 6], **by))
            narrow = images[:, :, :1]
            case.fetch(f"narrow_{mode}_{interpolation}", raw.ImageProjectiveTransformV2(
                images=narrow, transforms=far, output_shape=[3, 3], **by))
    for dtype in [tf.uint8, tf.int32, tf.int64, tf.float16, tf.float64]:
        whole = tf.cast(tf.round(tf.clip_by_value(images, 0, 250)), dtype)
        for interpolation in ["NEAREST", "BILINEAR"]:
            y = raw.ImageProjectiveTransformV3(images=whole, transforms=one, output_shape=[4, 4], fill_value=7.,
                                               interpolation=interpolation)
            # Numbers that are cut off may differ by one.
            y = y if interpolation == "NEAREST" else tf.round(tf.cast(y, tf.float32) / 64)
            case.fetch(f"{dtype.name}_{interpolation}", y)
    y = raw.ImageProjectiveTransformV3(images=images, transforms=some, output_shape=[4, 7], fill_value=1.,
                                       interpolation="BILINEAR", fill_mode="CONSTANT")
    case.fetch("gradient", tf.gradients(tf.reduce_sum(y * normal(2, 2, 4, 7, 3)), images)[0])
    case.write()


def drawings():
    case = Case("op_drawings")
    boxes = np.array([[.2, .2, .8, .8], [0, 0, 1, 1], [-.5, -.5, .5, .5], [.5, .5, .5, .5], [.8, .2, .2, .8],
                      [1.2, .2, 1.5, .8], [.1, .1, 2, 2], [-1, .3, 2, .6], [.3, .9, .6, 1.4], [.4, -.1, .9, .3],
                      [.9, .6, .95, .7], [.05, .5, .3, .9]], np.float32)
    boxes = np.stack([boxes, boxes[::-1]])
    for depth in [1, 3, 4]:
        images = case.feed(f"images_{depth}", normal(depth, 2, 9, 11, depth))
        case.fetch(f"v1_{depth}", raw.DrawBoundingBoxes(images=images, boxes=boxes))
        half = raw.DrawBoundingBoxes(images=tf.cast(images, tf.float16), boxes=boxes)
        case.fetch(f"half_{depth}", half)
        for n, width in [(1, depth), (5, 4), (0, 4)]:
            case.fetch(f"v2_{depth}_{n}", raw.DrawBoundingBoxesV2(
                images=images, boxes=boxes, colors=normal(7, n, width)))
    case.fetch("none", raw.DrawBoundingBoxes(images=images, boxes=boxes[:, :0]))
    case.write()


def glimpses():
    case = Case("op_glimpses")
    images = case.feed("images", normal(1, 6, 5, 4, 2))
    offsets = np.array([[0, 0], [.5, -.5], [1, 1], [-1, -1], [.3, .7], [2, -3]], np.float32)
    for version, op in [(1, raw.ExtractGlimpse), (2, raw.ExtractGlimpseV2)]:
        for size in [[3, 2], [6, 7], [1, 1], [0, 3]]:
            for centered in [False, True]:
                for normalized in [False, True]:
                    case.fetch(f"v{version}_{size[0]}_{centered}_{normalized}", op(
                        input=images, size=size, offsets=offsets, centered=centered, normalized=normalized,
                        uniform_noise=False, noise="zero"))
        for noise in ["uniform", "gaussian"]:
            # All of the glimpse is inside, or its noise is in the range of the image.
            inside = op(input=images, size=[3, 2], offsets=0 * offsets, uniform_noise=False, noise=noise)
            case.fetch(f"v{version}_inside_{noise}", inside)
            noisy = op(input=images, size=[9, 9], offsets=offsets, uniform_noise=noise == "uniform", noise=noise)
            low, high = tf.reduce_min(images, [1, 2, 3], True), tf.reduce_max(images, [1, 2, 3], True)
            case.fetch(f"v{version}_range_{noise}", tf.reduce_all((low <= noisy) & (noisy <= high)))
    case.write()


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, depth, color, rows, *chunks):
    """A PNG of rows that are filtered already."""
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunk(*c) for c in chunks)
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def bmp(width, height, bits, offset=54):
    row = (width * bits // 8 + 3) // 4 * 4
    data = bytes(i * 7 % 251 for i in range(row * abs(height)))
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, len(data), 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset) + head + b"\1" * (offset - 54) + data


def pngs():
    case = Case("op_png")
    palette = bytes([1, 2, 3, 40, 50, 60, 70, 80, 90, 100, 110, 120])
    files = {"palette": png(4, 1, 2, 3, b"\0\x1b", (b"PLTE", palette)),
             "palette_alpha": png(4, 1, 2, 3, b"\0\x1b", (b"PLTE", palette), (b"tRNS", bytes([0, 128]))),
             "gray2": png(4, 1, 2, 0, b"\0\x1b"), "gray2_alpha": png(4, 1, 2, 0, b"\0\x1b", (b"tRNS", b"\0\1")),
             "gray1": png(8, 1, 1, 0, b"\0\x5b"), "gray4": png(2, 2, 4, 0, b"\0\x5b\1\xa3"),
             "rgb_alpha": png(2, 1, 8, 2, b"\0\1\2\3\4\5\6", (b"tRNS", b"\0\1\0\2\0\3"))}
    with tf.Session(graph=tf.Graph()) as session, session.graph.as_default():
        for channels in [1, 2, 3, 4]:
            for dtype, most in [(np.uint8, 256), (np.uint16, 65536)]:
                image = integers(channels, 0, most, 5, 7, channels, dtype=dtype)
                files[f"c{channels}_{dtype.__name__}"] = session.run(raw.EncodePng(image=image))
    for name, file in files.items():
        # The files end with zeros only if something follows.
        contents = case.feed(f"file_{name}", np.array(file + b"."))
        for channels in [0, 1, 3, 4]:
            if channels == 4 and "alpha" not in name and name[:4] in ["pale", "gray"]:
                continue  # TensorFlow's alpha is that of fewer bits
            for dtype in [tf.uint8, tf.uint16]:
                case.fetch(f"{name}_{channels}_{dtype.name}", raw.DecodePng(
                    contents=contents, channels=channels, dtype=dtype))
            case.fetch(f"{name}_{channels}_image", raw.DecodeImage(
                contents=contents, channels=channels, dtype=tf.float32))
    for channels in [1, 2, 3, 4]:
        for dtype, most in [(np.uint8, 256), (np.uint16, 65536)]:
            images = case.feed(f"image_{channels}_{dtype.__name__}", integers(9, 0, most, 2, 3, 4, channels, dtype=dtype))
            for level in [-1, 0, 9]:
                made = raw.EncodePng(image=images, compression=level)
                again = raw.DecodePng(contents=made[1], channels=0, dtype=tf.as_dtype(dtype))
                case.fetch(f"encoded_{channels}_{dtype.__name__}_{level}", again, tf.shape(made))
    case.write()


def bmps():
    case = Case("op_bmp")
    for bits in [8, 24, 32]:
        for name, file in [("up", bmp(3, 2, bits)), ("down", bmp(3, -2, bits)), ("more", bmp(5, 3, bits, 70))]:
            contents = case.feed(f"file_{bits}_{name}", np.array(file + b"."))
            # What follows the pixels is refused.
            contents = tf.strings.substr(contents, 0, len(file))
            for channels in [0, 3, 4]:
                case.fetch(f"{bits}_{name}_{channels}", raw.DecodeBmp(contents=contents, channels=channels))
                # TensorFlow 2.21 ends with bad_alloc for rows from the top.
                for dtype in [tf.uint8, tf.uint16, tf.float32] if name != "down" else []:
                    case.fetch(f"{bits}_{name}_{channels}_{dtype.name}", raw.DecodeImage(
                        contents=contents, channels=channels, dtype=dtype))
    case.write()


def jpegs():
    case = Case("op_jpeg", rtol=0, atol=3.5)
    y, x = np.mgrid[0:27, 0:38]
    smooth = np.stack([128 + 90 * np.sin(x / 9 + y / 7), 128 + 90 * np.cos(x / 13 - y / 11), 4 * y + 2 * x], -1)
    images = {"smooth": np.clip(smooth, 0, 255), "noise": integers(3, 100, 140, 17, 23, 3),
              "gray": np.clip(smooth[:, :, :1], 0, 255), "tiny": integers(4, 0, 256, 1, 1, 3)}
    files = {}
    with tf.Session(graph=tf.Graph()) as session, session.graph.as_default():
        for name, image in images.items():
            for label, by in [("", {}), ("_444", {"chroma_downsampling": False}),
                              ("_progressive", {"progressive": True}), ("_rough", {"quality": 40})]:
                if name == "gray" and label == "_444":
                    continue
                files[name + label] = session.run(raw.EncodeJpeg(image=image.astype(np.uint8), **by))
    for name, file in files.items():
        contents = case.feed(f"file_{name}", np.array(file))
        case.fetch(f"shape_{name}", raw.ExtractJpegShape(contents=contents))
        case.fetch(f"shape64_{name}", raw.ExtractJpegShape(contents=contents, output_type=tf.int64))
        for channels in [0, 1, 3] if name in ["smooth", "gray", "noise_444"] else [3]:
            picture = raw.DecodeJpeg(contents=contents, channels=channels, dct_method="INTEGER_ACCURATE")
            # The last column is compared below.
            picture = picture if "tiny" in name else picture[:, :-1]
            case.fetch(f"{name}_{channels}", tf.cast(picture, tf.float32))
        if not name.startswith("tiny") and "noise" not in name:
            case.fetch(f"{name}_cropped", tf.cast(raw.DecodeAndCropJpeg(
                contents=contents, crop_window=[5, 7, 13, 20], dct_method="INTEGER_ACCURATE"), tf.float32))
    case.write()
    case = Case("op_jpeg_edges", rtol=0, atol=5.5)
    for name, file in files.items():
        picture = raw.DecodeJpeg(contents=case.feed(f"file_{name}", np.array(file)), dct_method="INTEGER_ACCURATE")
        case.fetch(name, tf.cast(picture[:, -1], tf.float32))
    case.write()


if __name__ == "__main__":
    transforms()
    drawings()
    glimpses()
    pngs()
    bmps()
    jpegs()
