"""Writes cases of tools/tests/onnx.rs for the operators of `com.microsoft` in models of language, with onnxruntime's results.

    venv/bin/python tools/onnx/transformers.py FOLDER         # all, for BEFROST_ONNX=FOLDER
    venv/bin/python tools/onnx/transformers.py testdata/onnx --kept

Packed queries, keys and values have the results of separate ones: onnxruntime has no kernel for them on CPUs.
"""
import itertools

import numpy as np
from onnx import TensorProto

from single import draw, main

f32, i32, i64 = np.float32, np.int32, np.int64
FLOAT = TensorProto.FLOAT
CASES = {}
KEPT = ["mha_qkv", "mha_kv_lengths", "mha_separate_starts_past", "mha_cross_bias", "mha_sizes", "mha_filter", "attention_sizes", "attention_starts_past_causal", "attention_hidden", "skip_bias", "skip_simplified",
        "embed_positions", "fast_gelu_bias", "rotary_positions_interleaved", "quick_gelu"]


def case(name, op, feeds, outputs=1, types=None, same_as=None, **attrs):
    CASES[f"transformer_{name}"] = (op, feeds, types or (FLOAT,) * outputs, {"com.microsoft": 1}, attrs, same_as)


def normal(name, *shape):
    return draw(name + str(shape)).normal(size=shape).astype(f32)


# Two batches of 5 queries, 2 heads of size 8.
B, S, N, H = 2, 5, 2, 8
D = N * H


def key_masks(keys):
    """Masks of the keys by their forms."""
    flags = np.ones((B, keys), i32)
    flags[1, keys - 2:] = 0
    return {
        "": None, "_lengths": np.array([keys, keys - 2], i32), "_flags": flags, "_square": np.repeat(flags[:, None], S, 1),
        # Lengths, starts of the queries, starts of the keys.
        "_starts": np.array([keys, keys - 2] + [0, S, 2 * S] + [0, keys, 2 * keys], i32),
    }


for form, mask, bias, causal in itertools.product(("separate", "kv", "qkv", "cross"), ("", "_lengths", "_flags", "_square", "_starts"), (False, True), (False, True)):
    if form == "cross" and causal:
        continue
    keys = 7 if form == "cross" else S
    separate = [normal(part, B, keys if part != "q" else S, D) for part in "qkv"]
    packed = lambda parts: np.stack([part.reshape(B, S, N, H) for part in parts], 3)
    inputs = {
        "separate": lambda: separate,
        "kv": lambda: (separate[0], packed(separate[1:]), None),
        "qkv": lambda: (packed(separate), None, None),
        "cross": lambda: (separate[0], *(part.reshape(B, N, keys, H) for part in separate[1:])),
    }[form]()
    for past in (False, True) if form == "separate" else (False,):
        total = keys + (3 if past else 0)
        rest = {"bias": normal("bias", 3 * D) if bias else None, "mask": key_masks(total)[mask], "add": normal("add", 1, N, S, total) if bias else None}
        if past:
            rest |= {"pk": normal("pk", B, N, 3, H), "pv": normal("pv", B, N, 3, H)}
        name = f"mha_{form}{mask}" + ("_bias" if bias else "") + ("_causal" if causal else "") + ("_past" if past else "")
        same_as = dict(zip("qkv", separate)) | rest if "kv" in form else None
        for scale in ({}, {"scale": 0.3}) if name == "mha_separate" else ({},):
            case(name + ("_scale" if scale else ""), "MultiHeadAttention", dict(zip("qkv", inputs)) | rest, 3 if past else 1, same_as=same_as,
                 num_heads=N, unidirectional=int(causal), **scale)

for mask, past, causal in itertools.product(("", "_lengths", "_flags", "_square", "_starts"), (False, True), (False, True)):
    total = S + (3 if past else 0)
    masks = key_masks(total)
    # Ends, then starts of the keys.
    masks["_starts"] = np.array([total, total - 1, 1, 0], i32)
    feeds = {"x": normal("x", B, S, 12), "w": normal("w", 12, 3 * D) * f32(0.4), "b": normal("b", 3 * D), "mask": masks[mask]}
    if past:
        feeds["past"] = normal("past", 2, B, N, 3, H)
    name = "attention" + mask + ("_past" if past else "") + ("_causal" if causal else "")
    case(name, "Attention", feeds, 2 if past else 1, num_heads=N, unidirectional=int(causal))
feeds = {"x": normal("x", B, S, 12), "w": normal("w", 12, 16 + 16 + 24) * f32(0.4), "b": normal("b", 56)}
case("attention_sizes", "Attention", feeds, 1, num_heads=N, qkv_hidden_sizes=[16, 16, 24])
case("attention_add", "Attention", {"x": normal("x", B, S, 12), "w": normal("w", 12, 48), "b": normal("b", 48), "m": None, "p": None, "add": normal("a", 1, N, S, S)}, 1, num_heads=N)
case("attention_scale", "Attention", {"x": normal("x", B, S, 12), "w": normal("w", 12, 48), "b": normal("b", 48)}, 1, num_heads=N, scale=0.2)
case("attention_filter", "Attention", {"x": normal("x", B, S, 12), "w": normal("w", 12, 48), "b": normal("b", 48), "m": key_masks(S)["_flags"]}, 1, num_heads=N, mask_filter_value=-2.0)
case("mha_filter", "MultiHeadAttention", {"q": normal("q", B, S, D), "k": normal("k", B, S, D), "v": normal("v", B, S, D), "b": None, "m": key_masks(S)["_flags"]}, 1, num_heads=N, mask_filter_value=-2.0)
case("mha_hidden", "MultiHeadAttention", {"q": normal("q", B, S, D), "k": normal("k", B, S, D), "v": normal("v", B, S, D), "b": None, "m": np.array([[1, 1, 1, 1, 1], [0] * 5], i32)}, 1, num_heads=N)
case("attention_hidden", "Attention", {"x": normal("x", B, S, 12), "w": normal("w", 12, 48), "b": normal("b", 48), "m": np.array([[1] * 5, [0] * 5], i32)}, 1, num_heads=N)
case("mha_sizes", "MultiHeadAttention", {"q": normal("q", B, S, D), "k": normal("k", B, 3, D), "v": normal("v", B, 3, 24), "b": normal("b", D + D + 24)}, 1, num_heads=N)

X, SKIP = normal("x", B, S, D), normal("skip", B, S, D)
G, BETA, BIAS = normal("g", D), normal("beta", D), normal("bias", D)
for shape, skip in (("", SKIP), ("_row", SKIP[:1]), ("_matrix", SKIP[0])):
    case("skip" + shape, "SkipLayerNormalization", {"x": X, "s": skip, "g": G, "b": BETA}, 1)
    case("skip_simplified" + shape, "SkipSimplifiedLayerNormalization", {"x": X, "s": skip, "g": G}, 1)
case("skip_plain", "SkipLayerNormalization", {"x": X, "s": SKIP, "g": G}, 1, epsilon=0.1)
case("skip_bias", "SkipLayerNormalization", {"x": X, "s": SKIP, "g": G, "b": BETA, "bias": BIAS}, 1, epsilon=0.1)
case("skip_flat", "SkipLayerNormalization", {"x": X[0], "s": SKIP[0], "g": G, "b": BETA, "bias": BIAS}, 1)
case("skip_simplified_bias", "SkipSimplifiedLayerNormalization", {"x": X, "s": SKIP, "g": G, "bias": BIAS}, 1, epsilon=0.1)
WORDS, SEGMENTS = np.array([[1, 3, 2, 0, 5], [4, 4, 1, 2, 0]], i32), np.array([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0]], i32)
for segments, mask, positions in itertools.product((False, True), (False, True), (None, "row", "all")):
    at = {"row": np.array([[2, 0, 1, 3, 4]], i32), "all": np.array([[2, 0, 1, 3, 4], [0, 1, 2, 3, 5]], i32)}.get(positions)
    feeds = {"w": WORDS, "s": SEGMENTS if segments else None, "words": normal("words", 6, D), "places": normal("places", 7, D), "segments": normal("seg", 2, D) if segments else None,
             "g": G, "b": BETA, "m": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], i32) if mask else None, "at": at}
    name = "embed" + ("" if segments else "_words") + ("_mask" if mask else "") + ("_positions" if positions == "row" else "_all_positions" if positions else "")
    case(name, "EmbedLayerNormalization", feeds, types=(FLOAT, TensorProto.INT32))
    case(name + "_sum", "EmbedLayerNormalization", feeds, types=(FLOAT, TensorProto.INT32, FLOAT), mask_index_type=int(mask))
case("bias_gelu", "BiasGelu", {"x": X, "b": BIAS})
case("gelu", "Gelu", {"x": X})
case("fast_gelu", "FastGelu", {"x": X})
case("fast_gelu_bias", "FastGelu", {"x": X, "b": BIAS})
case("quick_gelu", "QuickGelu", {"x": X})
case("quick_gelu_alpha", "QuickGelu", {"x": X}, alpha=0.7)
ANGLES = draw("angles").uniform(0, 6, (9, 4)).astype(f32)
for (form, x), (kind, at), interleaved in itertools.product(
        (("flat", X), ("heads", normal("h", B, N, S, H))), (("offset", np.array([3], i64)), ("positions", np.array([[0, 1, 2, 3, 4], [3, 4, 6, 7, 8]], i64))), (0, 1)):
    name = "rotary" + ("" if form == "flat" else "_heads") + ("_positions" if kind == "positions" else "") + ("_interleaved" if interleaved else "")
    case(name, "RotaryEmbedding", {"x": x, "at": at, "cos": np.cos(ANGLES), "sin": np.sin(ANGLES)}, interleaved=interleaved)
    case(name + "_part", "RotaryEmbedding", {"x": x, "at": at, "cos": np.cos(ANGLES[:, :2]), "sin": np.sin(ANGLES[:, :2])}, interleaved=interleaved, rotary_embedding_dim=4, num_heads=N)
case("rotary_scale", "RotaryEmbedding", {"x": X, "at": np.array([3], i64), "cos": np.cos(ANGLES), "sin": np.sin(ANGLES)}, scale=0.5)
if __name__ == "__main__":
    main(CASES, [f"transformer_{name}" for name in KEPT])
