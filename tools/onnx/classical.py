"""Writes cases of tools/tests/onnx.rs for the classical models (`ai.onnx.ml`), with onnxruntime's results.

    venv/bin/python tools/onnx/classical.py FOLDER            # all: several hundred, for BEFROST_ONNX=FOLDER
    venv/bin/python tools/onnx/classical.py testdata/onnx --kept

Each operator with each of its attributes. Left out is what onnxruntime refuses, what it leaves undefined (PROBIT of one score for two
classes, whose second column it does not write), and NaN in BRANCH_NEQ, for which it has another result than ONNX. Needs numpy, onnx and onnxruntime. Numbers are drawn with fixed seeds.
"""
import itertools

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from single import draw, main

f32, i64 = np.float32, np.int64
POSTS = ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"]
CASES = {}
# The cases that are kept in testdata/onnx.
KEPT = [
    "trees_2_one_positive_none", "trees_2_one_positive_logistic", "trees_2_second_none", "trees_2_both_none", "trees_2_some_logistic",
    "trees_2_one_mixed_softmax_base1", "trees_3_some_softmax_zero", "trees_3_all_probit", "trees_nan_gte_1", "trees_regressor_2_softmax_zero_base",
    "linear_1_logistic", "linear_1_softmax", "linear_3_probit", "svm_2_softmax", "svm_linear_2_none", "normalizer_max", "vectorizer", "one_hot_strings",
]


def case(name, op, feeds, outputs, opset=3, **attrs):
    """A node of `op`; `outputs` are the element types of its results."""
    feeds = feeds if isinstance(feeds, dict) else {"x": feeds}
    CASES[f"classical_{name}"] = (op, feeds, outputs, {"ai.onnx.ml": opset}, attrs)


CLASSIFIED = (TensorProto.INT64, TensorProto.FLOAT)
NAMED = (TensorProto.STRING, TensorProto.FLOAT)
SCORED = (TensorProto.FLOAT,)


def trees(name, classes, of, mode="BRANCH_LEQ", scale=1.0, sign=0, missing=None):
    """Four trees of depth two. `classes` are those with a weight at each leaf: a list, or a function of the generator."""
    random = draw(name)
    lists = {key: [] for key in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")}
    leaves = {key: [] for key in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(4):
        for node in range(7):
            is_leaf = node >= 3
            row = (tree, node, int(random.integers(3)), float(np.round(random.normal(), 1)), "LEAF" if is_leaf else mode,
                   0 if is_leaf else 2 * node + 1, 0 if is_leaf else 2 * node + 2)
            for key, value in zip(lists, row):
                lists[key].append(value)
            for target in (classes(random) if callable(classes) else classes) if is_leaf else ():
                weight = scale * random.normal()
                for key, value in zip(leaves, (tree, node, target, abs(weight) * sign if sign else weight)):
                    leaves[key].append(float(value) if key == "weights" else value)
    attrs = {f"nodes_{key}": value for key, value in lists.items()}
    attrs.update({f"{of}_{key}": value for key, value in leaves.items()})
    if missing is not None:
        attrs["nodes_missing_value_tracks_true"] = [missing] * 28
    return attrs


X = draw("x").normal(size=(9, 3)).astype(f32)
SMALL = (np.abs(X) * 0.1 + 0.05).astype(f32)
WITH_NAN = X.copy()
WITH_NAN[::2, 1] = WITH_NAN[1, 0] = np.nan
some = lambda count: lambda random: sorted(random.choice(count, size=random.integers(1, count), replace=False).tolist())

for post in POSTS:
    lower = post.lower()
    for count, (kind, classes), labels in itertools.product(
            (1, 2, 3), (("one", [0]), ("second", [1]), ("both", [0, 1]), ("all", None), ("some", None)), ("01", "ints", "strings")):
        classes = {"all": list(range(count)), "some": some(count) if count > 1 else [0]}.get(kind, classes)
        if not callable(classes) and max(classes) >= count:
            continue
        for sign, size in (("positive", 1), ("mixed", 0), ("negative", -1)):
            probit = {"scale": 0.05, "sign": 1} if post == "PROBIT" else {"scale": 0.3, "sign": size}
            for base in ([], [0.15], [0.1, 0.25], [0.1, 0.05, 0.2]):
                # One number for two classes whose leaves have weights for some: a column that onnxruntime does not write.
                if len(base) not in (0, count, 1 if count == 2 and kind != "some" else 0):
                    continue
                if post == "PROBIT" and count == 2 and (kind == "some" or (kind == "one" and len(base) < 2)):
                    continue
                if labels != "01" and (sign == "negative" or base or (count == 1 and labels == "strings")):
                    continue
                name = f"trees_{count}_{kind}_{sign}_{lower}" + (f"_base{len(base)}" if base else "") + ("" if labels == "01" else f"_{labels}")
                if kind != "one":
                    name = name.replace("_mixed", "")
                named = {"01": {"classlabels_int64s": list(range(count))}, "ints": {"classlabels_int64s": [7 + i for i in range(count)]},
                         "strings": {"classlabels_strings": [f"c{i}" for i in range(count)]}}[labels]
                attrs = trees(name, classes, "class", **probit)
                if base:
                    attrs["base_values"] = base
                case(name, "TreeEnsembleClassifier", X, NAMED if labels == "strings" else CLASSIFIED, post_transform=post, **named, **attrs)
    for count in (1, 2, 3):
        for aggregate, base in itertools.product(("SUM", "AVERAGE", "MIN", "MAX"), (False, True)):
            name = f"trees_regressor_{count}_{lower}" + ("" if aggregate == "SUM" else f"_{aggregate.lower()}") + ("_base" if base else "")
            attrs = trees(name, some(count) if count > 1 else [0], "target", scale=0.05 if post == "PROBIT" else 1.0, sign=int(post == "PROBIT"))
            if base:
                attrs["base_values"] = [0.05 * (i + 1) for i in range(count)]
            case(name, "TreeEnsembleRegressor", X, SCORED, n_targets=count, aggregate_function=aggregate, post_transform=post, **attrs)
    for count, labels in itertools.product((1, 2, 3), ("ints", "strings")):
        name = f"linear_{count}_{lower}" + ("" if labels == "ints" else "_strings")
        if (count, post) == (1, "PROBIT"):
            continue
        random = draw(name)
        weights = random.normal(size=3 * count)
        weights = np.abs(weights) * 0.3 if post == "PROBIT" else weights
        n_labels = max(count, 2)
        named = {"classlabels_ints": [5 + i for i in range(n_labels)]} if labels == "ints" else {"classlabels_strings": [f"c{i}" for i in range(n_labels)]}
        case(name, "LinearClassifier", SMALL if post == "PROBIT" else X, NAMED if labels == "strings" else CLASSIFIED, coefficients=weights.tolist(),
             intercepts=[0.1 * (i + 1) for i in range(count)], post_transform=post, multi_class=count % 2, **named)
        case(name.replace("linear", "linear_regressor"), "LinearRegressor", SMALL if post == "PROBIT" else X, SCORED, targets=count,
             coefficients=weights.tolist(), post_transform=post, **({"intercepts": [0.1 * (i + 1) for i in range(count)]} if labels == "ints" else {}))
    for count, probabilities in itertools.product((2, 3), (False, True)):
        if (count, probabilities, post) == (2, False, "PROBIT"):
            continue
        name = f"svm_{count}_{lower}" + ("_probabilities" if probabilities else "")
        random, pairs = draw(name), count * (count - 1) // 2
        extra = {"prob_a": (-np.abs(random.normal(size=pairs))).tolist(), "prob_b": random.normal(size=pairs).tolist()} if probabilities else {}
        case(name, "SVMClassifier", X, CLASSIFIED, classlabels_ints=[5 + i for i in range(count)], kernel_type="RBF", kernel_params=[0.5, 0.0, 3.0],
             vectors_per_class=[2] * count, support_vectors=random.normal(size=6 * count).tolist(), coefficients=random.normal(size=2 * count * (count - 1)).tolist(),
             rho=random.normal(size=pairs).tolist(), post_transform=post, **extra)
    for count, kind in itertools.product((2, 3), ("LINEAR", "RBF")):
        for sign in (0, 1):
            name = f"svm_linear_{count}_{lower}" + ("_rbf" if kind == "RBF" else "") + ("_positive" if sign else "")
            random = draw(name)
            weights = random.normal(size=3 * count)
            case(name, "SVMClassifier", X, CLASSIFIED, classlabels_ints=[5 + i for i in range(count)], kernel_type=kind, kernel_params=[0.5, 0.0, 3.0],
                 coefficients=(np.abs(weights) if sign else weights).tolist(), rho=[-0.2], post_transform=post)
    for one_class, supports in itertools.product((0, 1), (0, 3)):
        name = f"svm_regressor_{lower}_{one_class}_{supports}"
        random = draw(name)
        case(name, "SVMRegressor", SMALL, SCORED, kernel_type="POLY", kernel_params=[0.5, 0.1, 2.0], n_supports=supports, one_class=one_class, rho=[0.1],
             post_transform=post, coefficients=(0.2 * random.normal(size=supports or 3)).tolist(),
             **({"support_vectors": random.normal(size=9).tolist()} if supports else {}))

for mode, missing in itertools.product(("LEQ", "LT", "GTE", "GT", "EQ"), (None, 0, 1)):
    name = f"trees_nan_{mode.lower()}" + ("" if missing is None else f"_{missing}")
    case(name, "TreeEnsembleRegressor", np.round(WITH_NAN, 1), SCORED, n_targets=1, **trees(name, [0], "target", f"BRANCH_{mode}", missing=missing))
for dtype in (np.float64, np.int32, i64):
    name = f"trees_{np.dtype(dtype).name}"
    case(name, "TreeEnsembleRegressor", (X * 3).astype(dtype), SCORED, n_targets=1, **trees(name, [0], "target"))
    case(f"linear_{np.dtype(dtype).name}", "LinearClassifier", (X * 3).astype(dtype), CLASSIFIED, coefficients=[1.0, -2.0, 0.5, 0.25, 1.5, -1.0],
         intercepts=[0.1, 0.2], classlabels_ints=[3, 9])
tensors = trees("trees_tensors", [0, 1, 2], "class")
tensors.update({f"{key}_as_tensor": numpy_helper.from_array(np.array(tensors.pop(key))) for key in ("nodes_values", "class_weights")})
case("trees_tensors", "TreeEnsembleClassifier", X.astype(np.float64), CLASSIFIED, classlabels_int64s=[0, 1, 2],
     base_values_as_tensor=numpy_helper.from_array(np.array([0.1, 0.2, 0.3])), **tensors)

ROWS = np.array([[-1, -2, 0], [0, 0, 0], [3, -4, 1], [-5, -1, -2], [1, 2, 3]], f32)
for norm, dtype in itertools.product(("MAX", "L1", "L2"), (f32, np.float64, np.int32, i64)):
    suffix = "" if dtype is f32 else f"_{np.dtype(dtype).name}"
    case(f"normalizer_{norm.lower()}{suffix}", "Normalizer", ROWS.astype(dtype), SCORED, norm=norm)
    case(f"normalizer_{norm.lower()}_vector{suffix}", "Normalizer", ROWS[2].astype(dtype), SCORED, norm=norm)
for dtype, size in itertools.product((f32, np.float64, np.int32, i64), (1, 3)):
    case(f"scaler_{np.dtype(dtype).name}_{size}", "Scaler", ROWS.astype(dtype), SCORED, offset=[0.5, -1.0, 2.0][:size], scale=[2.0, 0.5, -3.0][:size])
case("scaler_cube", "Scaler", draw("cube").normal(size=(2, 3, 3)).astype(f32), SCORED, offset=[0.5, -1.0, 2.0], scale=[2.0, 0.5, -3.0])
case("scaler_vector", "Scaler", ROWS[0], SCORED, offset=[0.5, -1.0, 2.0], scale=[2.0, 0.5, -3.0])
case("binarizer", "Binarizer", X, SCORED, threshold=0.25)
case("binarizer_default", "Binarizer", ROWS, SCORED)
for size, replaced in itertools.product((1, 3), (0.0, float("nan"))):
    x = WITH_NAN if np.isnan(replaced) else ROWS
    case(f"imputer_{size}_{'nan' if np.isnan(replaced) else 'zero'}", "Imputer", x, SCORED, imputed_value_floats=[1.5, -2.0, 4.0][:size], replaced_value_float=replaced)
    if not np.isnan(replaced):
        case(f"imputer_ints_{size}", "Imputer", ROWS.astype(i64), (TensorProto.INT64,), imputed_value_int64s=[15, -20, 40][:size], replaced_value_int64=0)
case("imputer_vector", "Imputer", ROWS[1], SCORED, imputed_value_floats=[1.5, -2.0, 4.0], replaced_value_float=0.0)
WORDS = np.array([["b", "a"], ["q", "c"]], dtype=object)
for x, name in ((np.array([3, 9, 4, 3], i64), "ints"), (np.array([3.7, 9, 4, 3], f32), "floats"), (np.array([[3.2, 9], [4, 5]]), "doubles"), (WORDS, "strings"), (WORDS[0], "vector")):
    cats = {"cats_strings": ["a", "b", "c"]} if x.dtype == object else {"cats_int64s": [3, 4, 5]}
    case(f"one_hot_{name}", "OneHotEncoder", x, SCORED, **cats)
    case(f"one_hot_{name}_known", "OneHotEncoder", np.array(["a", "c"], object) if x.dtype == object else np.array([3, 5], x.dtype), SCORED, zeros=0, **cats)
two = {"x": ROWS, "y": ROWS[:, 1:]}
case("vectorizer", "FeatureVectorizer", two, SCORED, inputdimensions=[2, 4])
case("vectorizer_same", "FeatureVectorizer", two, SCORED, inputdimensions=[3, 2])
case("vectorizer_vectors", "FeatureVectorizer", {"x": ROWS[0], "y": ROWS[3]}, SCORED, inputdimensions=[3, 3])
case("vectorizer_cube", "FeatureVectorizer", {"x": draw("c").normal(size=(2, 2, 2)).astype(f32), "y": np.ones((2, 1), f32)}, SCORED, inputdimensions=[4, 1])

SIDES = {"strings": (["b", "a", "c"], np.array(["a", "q", "b"], object), TensorProto.STRING), "int64s": ([3, 1, 2], np.array([1, 7, 3], i64), TensorProto.INT64),
         "floats": ([1.5, float("nan"), -2.0], np.array([np.nan, 4, 1.5, -2], f32), TensorProto.FLOAT)}
DEFAULTS = {"strings": ("default_string", "other"), "int64s": ("default_int64", 42), "floats": ("default_float", 2.5)}
for (a, (keys, x, _)), (b, (values, _, to)) in itertools.product(SIDES.items(), SIDES.items()):
    for version, with_default in itertools.product((2, 4), (False, True)):
        extra = dict([DEFAULTS[b]]) if with_default else {}
        case(f"labels_{a}_{b}_{version}" + ("_default" if with_default else ""), "LabelEncoder", x, (to,), opset=version, **{f"keys_{a}": keys, f"values_{b}": values}, **extra)
for key, value, default in itertools.product((i64, np.int16, f32, np.float64), (i64, np.int16, f32, np.float64), (False, True)):
    extra = {"default_tensor": numpy_helper.from_array(np.array([9], value))} if default else {}
    name = f"labels_tensors_{np.dtype(key).name}_{np.dtype(value).name}" + ("_default" if default else "")
    case(name, "LabelEncoder", np.array([[1, 2], [5, 3]], key), (helper.np_dtype_to_tensor_dtype(np.dtype(value)),), opset=4,
         keys_tensor=numpy_helper.from_array(np.array([3, 1, 2], key)), values_tensor=numpy_helper.from_array(np.array([30, 10, 20], value)), **extra)
case("labels_classes", "LabelEncoder", np.array(["b", "z", "a"], object), (TensorProto.INT64,), opset=1, classes_strings=["a", "b"], default_int64=-7)
case("labels_numbers", "LabelEncoder", np.array([1, 0, 5], i64), (TensorProto.STRING,), opset=1, classes_strings=["a", "b"], default_string="?")
case("labels_twice", "LabelEncoder", np.array([1, 2], i64), (TensorProto.INT64,), opset=2, keys_int64s=[1, 2, 1], values_int64s=[10, 20, 30])


if __name__ == "__main__":
    main(CASES, [f"classical_{name}" for name in KEPT])
