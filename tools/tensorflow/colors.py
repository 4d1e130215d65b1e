"""Cases of colors, resampling and patches of images, and of poolings with positions."""
import numpy as np
import tensorflow.compat.v1 as tf

from case import Case, integers, normal

raw = tf.raw_ops


def colors():
    case = Case("op_colors", rtol=1e-4, atol=1e-5)
    random = np.random.default_rng(7).uniform(size=(2, 2, 3, 3)).astype(np.float32)
    # All orders of channels, grey, black, negative numbers.
    ends = np.array([[0.2, 0.5, 0.9], [0.2, 0.9, 0.5], [0.5, 0.2, 0.9], [0.5, 0.9, 0.2], [0.9, 0.2, 0.5], [0.9, 0.5, 0.2],
                     [0.5, 0.5, 0.5], [0, 0, 0], [-0.5, 0.25, -1], [0.5, 0.5, 0.1], [0.1, 0.5, 0.5], [0.5, 0.1, 0.5]],
                    np.float32).reshape(1, 3, 4, 3)
    for name, array in {"random": random, "ends": ends}.items():
        x = case.feed(name, array, shape=[None, None, None, 3])
        hsv = raw.RGBToHSV(images=x)
        case.fetch(f"{name}_hsv", hsv)
        case.fetch(f"{name}_rgb", raw.HSVToRGB(images=hsv))
        case.fetch(f"{name}_hsv_double", raw.RGBToHSV(images=tf.cast(x, tf.float64)))
        for delta in [-0.7, 0.0, 0.25, 0.9]:
            case.fetch(f"{name}_hue_{int(delta * 100) + 100}", raw.AdjustHue(images=x, delta=delta))
        for scale in [0.0, 0.5, 3.0]:
            case.fetch(f"{name}_saturation_{int(scale * 10)}", raw.AdjustSaturation(images=x, scale=scale))
        for factor in [-1.0, 0.5, 2.0]:
            case.fetch(f"{name}_contrast_{int(factor * 10) + 10}", raw.AdjustContrastv2(images=x, contrast_factor=factor))
    case.write()


def resampling():
    case = Case("op_resample", rtol=1e-4, atol=1e-5)
    x = case.feed("x", normal(1, 2, 5, 4, 3), shape=[None, None, None, 3])
    narrow = case.feed("narrow", integers(2, 0, 256, 1, 7, 3, 1, dtype=np.uint8), shape=[None, 7, 3, 1])
    for name, size in {"less": [2, 3], "more": [7, 9], "one": [1, 1]}.items():
        for align in [False, True]:
            case.fetch(f"area_{name}_{align}", raw.ResizeArea(images=x, size=size, align_corners=align))
        case.fetch(f"area_bytes_{name}", raw.ResizeArea(images=narrow, size=size))
    kernels = ["lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"]
    dy = case.feed("dy", normal(3, 2, 3, 6, 3), shape=[None, None, None, 3])
    for kernel in kernels:
        for antialias in [False, True]:
            to = dict(scale=[0.5, 1.7], translation=[0.25, -0.75], kernel_type=kernel, antialias=antialias)
            case.fetch(f"{kernel}_{antialias}", raw.ScaleAndTranslate(images=x, size=[3, 6], **to))
            case.fetch(f"{kernel}_{antialias}_grad", raw.ScaleAndTranslateGrad(grads=dy, original_image=x, **to))
    case.fetch("moved_outside", raw.ScaleAndTranslate(
        images=narrow, size=[4, 4], scale=[1.0, 2.0], translation=[2.5, -7.0], kernel_type="triangle"))
    case.write()


def patches():
    case = Case("op_patches")
    x = case.feed("x", normal(1, 2, 6, 5, 2), shape=[None, 6, 5, 2])
    whole = case.feed("whole", integers(2, -9, 9, 1, 4, 4, 1), shape=[1, 4, 4, 1])
    for padding in ["VALID", "SAME"]:
        for name, (size, strides, rates) in {"plain": ([2, 3], [1, 1], [1, 1]), "wide": ([2, 2], [2, 3], [2, 1])}.items():
            sides = dict(ksizes=[1, *size, 1], strides=[1, *strides, 1], rates=[1, *rates, 1], padding=padding)
            case.fetch(f"{name}_{padding}", raw.ExtractImagePatches(images=x, **sides))
            case.fetch(f"{name}_{padding}_whole", raw.ExtractImagePatches(images=whole, **sides))
        for batch in [False, True]:
            for name, (size, strides) in {"two": ([2, 2], [2, 2]), "three": ([3, 2], [1, 2])}.items():
                to = dict(ksize=[1, *size, 1], strides=[1, *strides, 1], padding=padding, include_batch_in_index=batch)
                word = f"{name}_{padding}_{batch}"
                pooled = raw.MaxPoolWithArgmax(input=x, **to)
                case.fetch(f"pool_{word}", *pooled)
                case.fetch(f"pool_{word}_i32", *raw.MaxPoolWithArgmax(input=whole, Targmax=tf.int32, **to))
                # Without the batch in the index, TensorFlow's own kernel of the gradient needs it.
                if batch:
                    case.fetch(f"pool_{word}_grad", raw.MaxPoolGradWithArgmax(
                        input=x, grad=pooled[0] * 2, argmax=pooled[1], **to))
    case.write()


if __name__ == "__main__":
    colors()
    resampling()
    patches()
