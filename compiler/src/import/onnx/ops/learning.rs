//! Classical models (`ai.onnx.ml`) but for trees and support vector machines, and optimizers
//! (`ai.onnx.preview.training`).

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};

use super::classes::{Labels, classified, linked, of_two_classes};
use crate::import::onnx::emit::{AttrArg, DimSize, Lowered, Why, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::import::onnx_proto::{AttributeProto, TensorProto};
use crate::ir::ValueId;

fn row(g: &mut OnnxImporter<'_>, numbers: &[f32]) -> Result<ValueId, Why> {
    g.floats(numbers, &[numbers.len() as i64])
}

pub(super) fn array_feature_extractor(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, at) = (n.input(0)?, n.input(1)?);
    let at = g.reshape_to(at, &[-1])?;
    let last = g.rank(x)?.checked_sub(1).ok_or("its input is a scalar")?;
    let y = g.gather(x, at, last)?;
    one(if last == 0 { g.expand(y, 0) } else { Ok(y) })
}

pub(super) fn binarizer(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let threshold = g.scalar_like(f64::from(n.float_or("threshold", 0.0)), x)?;
    let over = g.one(Op::Greater, &[x, threshold])?;
    one(g.cast_like(over, x))
}

pub(super) fn scaler(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let mut x = g.cast(n.input(0)?, DType::F32)?;
    if !n.floats("offset").is_empty() {
        let offset = row(g, n.floats("offset"))?;
        x = g.sub(x, offset)?;
    }
    if !n.floats("scale").is_empty() {
        let scale = row(g, n.floats("scale"))?;
        x = g.mul(x, scale)?;
    }
    one(Ok(x))
}

/// `Normalizer` of rows: by the largest element, or the L1 or L2 norm.
pub(super) fn normalizer(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = g.cast(n.input(0)?, DType::F32)?;
    let last = g.rank(x)?.checked_sub(1).ok_or("its input is a scalar")?;
    let size = match n.word("norm", "MAX")? {
        "MAX" => g.reduce(Op::Max, x, &[last], true)?,
        "L1" => {
            let sizes = g.one(Op::Abs, &[x])?;
            g.reduce(Op::Sum, sizes, &[last], true)?
        }
        "L2" => {
            let squares = g.one(Op::Square, &[x])?;
            let sum = g.reduce(Op::Sum, squares, &[last], true)?;
            g.one(Op::Sqrt, &[sum])?
        }
        other => return Err(format!("norm '{other}'")),
    };
    // A row whose size is zero stays as it is.
    let (zero, one_) = (g.scalar_like(0.0, size)?, g.scalar_like(1.0, size)?);
    let is_zero = g.one(Op::Equal, &[size, zero])?;
    let size = g.one(Op::SelectV2, &[is_zero, one_, size])?;
    one(g.div(x, size))
}

pub(super) fn imputer(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let ints = n.ints("imputed_value_int64s").unwrap_or_default();
    let (values, replaced) = if ints.is_empty() {
        let replaced = n.float_or("replaced_value_float", 0.0);
        (row(g, n.floats("imputed_value_floats"))?, f64::from(replaced))
    } else {
        (g.ints(ints)?, n.int_or("replaced_value_int64", 0) as f64)
    };
    let is_missing = if replaced.is_nan() {
        g.one(Op::IsNan, &[x])?
    } else {
        let replaced = g.scalar_like(replaced, x)?;
        g.one(Op::Equal, &[x, replaced])?
    };
    one(g.one(Op::SelectV2, &[is_missing, values, x]))
}

/// A matrix of f32 with the features of each row.
pub(super) fn features(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Result<ValueId, Why> {
    let x = g.cast(n.input(0)?, DType::F32)?;
    if g.rank(x)? == 1 { g.expand(x, 0) } else { Ok(x) }
}

/// Scores `x * coefficients + intercepts` with `columns` columns.
fn linear(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, columns: i64) -> Result<ValueId, Why> {
    let x = features(g, n)?;
    let coefficients = n.floats("coefficients");
    if columns < 1 || coefficients.len() as i64 % columns != 0 {
        return Err(format!("{} coefficients for {columns} results", coefficients.len()));
    }
    let weights = g.floats(coefficients, &[columns, coefficients.len() as i64 / columns])?;
    let scores = g.op(Op::MatMul, &[x, weights], &[("transpose_b", AttrArg::Bool(true))])?;
    if n.floats("intercepts").is_empty() {
        return Ok(scores);
    }
    let intercepts = row(g, n.floats("intercepts"))?;
    g.add(scores, intercepts)
}

pub(super) fn linear_regressor(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let columns = n.int_or("targets", 1);
    let scores = linear(g, n, columns)?;
    one(linked(g, scores, columns, n.word("post_transform", "NONE")?))
}

pub(super) fn linear_classifier(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let labels = Labels::new(g, n, "classlabels_ints", "classlabels_strings")?;
    let intercepts = n.floats("intercepts").len() as i64;
    let columns = if intercepts > 0 { intercepts } else { labels.count };
    let scores = linear(g, n, columns)?;
    if (columns, labels.count) == (1, 2) {
        let label = labels.above(g, scores, 0.0)?;
        return Ok(vec![label, of_two_classes(g, scores, true, n.word("post_transform", "NONE")?)?]);
    }
    if columns != labels.count {
        return Err(format!("{columns} scores for {} classes", labels.count));
    }
    classified(g, n, scores, labels)
}

/// A table from keys to values.
pub(super) fn label_encoder(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    if n.attr("classes_strings").is_some() {
        return classes(g, n);
    }
    let side = |g: &mut OnnxImporter<'_>, side: &str| -> Result<ValueId, Why> {
        if let Some(tensor) = n.tensor(&format!("{side}_tensor")) {
            return g.tensor_constant(tensor);
        }
        if let Some(ints) = n.ints(&format!("{side}_int64s")) {
            return g.ints(ints);
        }
        if let Some(attr) = n.attr(&format!("{side}_strings")) {
            return strings(g, attr);
        }
        match n.floats(&format!("{side}_floats")) {
            [] => Err(format!("it has no {side}")),
            floats => row(g, floats),
        }
    };
    let (keys, values) = (side(g, "keys")?, side(g, "values")?);
    let element = g.element(values).ok_or("its values are no tensor")?;
    let default = match (n.tensor("default_tensor"), element.dtype()) {
        (Some(tensor), _) => {
            let default = g.tensor_constant(tensor)?;
            g.reshape_to(default, &[])?
        }
        (None, None) => default_string(g, n)?,
        (None, Some(DType::I64)) => g.int(n.int_or("default_int64", -1))?,
        (None, Some(dtype)) => g.scalar(f64::from(n.float_or("default_float", -0.0)), dtype)?,
    };
    one(looked_up(g, n.input(0)?, [keys, values, default], n.version >= 4))
}

/// A vector of strings.
pub(super) fn strings(g: &mut OnnxImporter<'_>, attr: &AttributeProto) -> Result<ValueId, Why> {
    let (dims, string_data) = (vec![attr.strings.len() as i64], attr.strings.clone());
    g.tensor_constant(&TensorProto { dims, data_type: 8, string_data, ..TensorProto::default() })
}

/// One string.
pub(super) fn string(g: &mut OnnxImporter<'_>, text: &str) -> Result<ValueId, Why> {
    let string_data = vec![text.as_bytes().to_vec()];
    g.tensor_constant(&TensorProto { data_type: 8, string_data, ..TensorProto::default() })
}

/// The string for what a table lacks.
fn default_string(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Result<ValueId, Why> {
    string(g, n.word("default_string", "_Unused")?)
}

/// A table between strings and integers, in the direction that the type of the input asks for.
fn either_way(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    [strings, numbers]: [ValueId; 2],
) -> Result<ValueId, Why> {
    let x = n.input(0)?;
    if g.element(x) == Some(Type::String) {
        let default = g.int(n.int_or("default_int64", -1))?;
        return looked_up(g, x, [strings, numbers, default], false);
    }
    let (x, default) = (g.cast(x, DType::I64)?, default_string(g, n)?);
    looked_up(g, x, [numbers, strings, default], false)
}

/// `LabelEncoder` of version 1: strings and their numbers.
fn classes(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let attr = n.attr("classes_strings").ok_or("it has no classes")?;
    let numbers: Vec<i64> = (0..attr.strings.len() as i64).collect();
    let sides = [strings(g, attr)?, g.ints(&numbers)?];
    one(either_way(g, n, sides))
}

pub(super) fn category_mapper(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let attr = n.attr("cats_strings").ok_or("it has no cats_strings")?;
    let numbers = n.ints("cats_int64s").unwrap_or_default();
    if numbers.len() != attr.strings.len() {
        return Err(format!("{} strings for {} numbers", attr.strings.len(), numbers.len()));
    }
    let sides = [strings(g, attr)?, g.ints(numbers)?];
    one(either_way(g, n, sides))
}

/// The values of the keys that are equal to the elements of `x`, or the default.
fn looked_up(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    [keys, values, default]: [ValueId; 3],
    nan_is_a_key: bool,
) -> Result<ValueId, Why> {
    // The position of the first equal key.
    let apart = g.rank(x)?;
    let column = g.expand(x, apart)?;
    let mut is_equal = g.one(Op::Equal, &[column, keys])?;
    if nan_is_a_key && g.is_float(x) {
        let (a, b) = (g.one(Op::IsNan, &[column])?, g.one(Op::IsNan, &[keys])?);
        let both = g.one(Op::LogicalAnd, &[a, b])?;
        is_equal = g.one(Op::LogicalOr, &[is_equal, both])?;
    }
    let found = g.reduce(Op::Any, is_equal, &[apart], false)?;
    let numbers = g.cast(is_equal, DType::I32)?;
    let axis = g.int(apart as i64)?;
    let at = g.to(Op::ArgMax, &[numbers, axis], &[], DType::I64)?;
    let picked = g.gather(values, at, 0)?;
    g.one(Op::SelectV2, &[found, picked, default])
}

pub(super) fn one_hot_encoder(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let categories = Labels::new(g, n, "cats_int64s", "cats_strings")?;
    let x = n.input(0)?;
    let x = if g.element(x).is_some_and(|element| element.dtype().is_some()) {
        g.cast(x, DType::I64)?
    } else {
        x
    };
    let at = g.rank(x)?;
    let column = g.expand(x, at)?;
    let is_equal = g.one(Op::Equal, &[column, categories.values])?;
    let encoded = g.cast(is_equal, DType::F32)?;
    if n.flag("zeros", true) {
        return one(Ok(encoded));
    }
    // An element that is no category has a position behind all of them, at which there is nothing to gather.
    let found = g.reduce(Op::Sum, encoded, &[at], false)?;
    let (zero, axis, behind) = (g.scalar_like(0.0, found)?, g.int(at as i64)?, g.int(categories.count)?);
    let is_missing = g.one(Op::Equal, &[found, zero])?;
    let category = g.to(Op::ArgMax, &[encoded, axis], &[], DType::I64)?;
    let category = g.one(Op::SelectV2, &[is_missing, behind, category])?;
    let one_ = g.scalar(1.0, DType::F32)?;
    let ones = g.fill(&[DimSize::Known(categories.count)], one_)?;
    let present = g.gather(ones, category, 0)?;
    let present = g.expand(present, at)?;
    one(g.mul(encoded, present))
}

/// The features of all inputs, each cut or padded with zeros to the size in `inputdimensions`.
pub(super) fn feature_vectorizer(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (inputs, sizes) = (n.all()?, n.ints("inputdimensions").unwrap_or_default());
    if !sizes.is_empty() && (sizes.len() != inputs.len() || sizes.iter().any(|&size| size < 0)) {
        return Err(format!("inputdimensions {sizes:?} for {} inputs", inputs.len()));
    }
    let mut parts = Vec::new();
    for (i, x) in inputs.into_iter().enumerate() {
        let x = g.cast(x, DType::F32)?;
        let x = if g.rank(x)? == 1 { g.expand(x, 0)? } else { x };
        let x = if g.rank(x)? > 2 {
            let rows = g.size(x, 0)?;
            g.reshape(x, &[rows, DimSize::Known(-1)])?
        } else {
            x
        };
        let Some(&size) = sizes.get(i) else {
            parts.push(x);
            continue;
        };
        if g.dims(x)?.get(1) == Some(&size) {
            parts.push(x);
            continue;
        }
        let zero = g.scalar_like(0.0, x)?;
        let padded = g.pad(x, &[(0, 0), (0, size)], zero)?;
        parts.push(g.slice(padded, 1, 0, Some(size))?);
    }
    one(g.concat(&parts, 1))
}

// ---- optimizers ----

/// The tensors of an optimizer, grouped by parameter. The inputs are grouped by kind: all parameters, then
/// all gradients, and so on.
fn parameters(n: &OnnxNode<'_>, kinds: usize) -> Result<Vec<Vec<ValueId>>, Why> {
    let tensors: Vec<ValueId> = (2..n.inputs.len()).map(|i| n.input(i)).collect::<Result<_, _>>()?;
    let count = tensors.len() / kinds;
    if count == 0 || !tensors.len().is_multiple_of(kinds) {
        return Err(format!("{} tensors, expected {kinds} for each parameter", tensors.len()));
    }
    Ok((0..count).map(|i| (0..kinds).map(|kind| tensors[kind * count + i]).collect()).collect())
}

/// The results, grouped by kind like the inputs.
fn by_kind(results: &[Vec<ValueId>]) -> Vec<ValueId> {
    (0..results[0].len()).flat_map(|kind| results.iter().map(move |result| result[kind])).collect()
}

/// The gradient plus that of the regularization.
fn regularized(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    x: ValueId,
    gradient: ValueId,
) -> Result<ValueId, Why> {
    let part = g.times(x, f64::from(n.float_or("norm_coefficient", 0.0)))?;
    g.add(part, gradient)
}

pub(super) fn adagrad(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (rate, step) = (n.input(0)?, n.input(1)?);
    let mut results = Vec::new();
    for of in parameters(n, 3)? {
        let (x, sum) = (of[0], of[2]);
        let step = g.cast_like(step, x)?;
        let decay = g.times(step, f64::from(n.float_or("decay_factor", 0.0)))?;
        let decay = g.plus(decay, 1.0)?;
        let rate = g.cast_like(rate, x)?;
        let rate = g.div(rate, decay)?;
        let gradient = regularized(g, n, x, of[1])?;
        let square = g.one(Op::Square, &[gradient])?;
        let sum = g.add(sum, square)?;
        let root = g.one(Op::Sqrt, &[sum])?;
        let root = g.plus(root, f64::from(n.float_or("epsilon", 1e-6)))?;
        let scaled = g.mul(rate, gradient)?;
        let change = g.div(scaled, root)?;
        results.push(vec![g.sub(x, change)?, sum]);
    }
    Ok(by_kind(&results))
}

pub(super) fn momentum(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (rate, step) = (n.input(0)?, n.input(1)?);
    let (alpha, beta) = (f64::from(n.float_or("alpha", 0.0)), f64::from(n.float_or("beta", 0.0)));
    let mut results = Vec::new();
    for of in parameters(n, 3)? {
        let (x, velocity) = (of[0], of[2]);
        let rate = g.cast_like(rate, x)?;
        let zero = g.scalar_like(0.0, step)?;
        let later = g.one(Op::Greater, &[step, zero])?;
        let (beta, one_) = (g.scalar_like(beta, x)?, g.scalar_like(1.0, x)?);
        let beta = g.one(Op::SelectV2, &[later, beta, one_])?;
        let gradient = regularized(g, n, x, of[1])?;
        let (old, new) = (g.times(velocity, alpha)?, g.mul(beta, gradient)?);
        let velocity = g.add(old, new)?;
        let change = if n.word("mode", "standard")? == "nesterov" {
            let ahead = g.times(velocity, alpha)?;
            g.add(gradient, ahead)?
        } else {
            velocity
        };
        let change = g.mul(rate, change)?;
        results.push(vec![g.sub(x, change)?, velocity]);
    }
    Ok(by_kind(&results))
}

pub(super) fn adam(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (rate, step) = (n.input(0)?, n.input(1)?);
    let (alpha, beta) = (f64::from(n.float_or("alpha", 0.9)), f64::from(n.float_or("beta", 0.999)));
    let mut results = Vec::new();
    for of in parameters(n, 4)? {
        let x = of[0];
        let gradient = regularized(g, n, x, of[1])?;
        let square = g.one(Op::Square, &[gradient])?;
        let mut moments = Vec::new();
        for (old, new, share) in [(of[2], gradient, alpha), (of[3], square, beta)] {
            let (old, new) = (g.times(old, share)?, g.times(new, 1.0 - share)?);
            moments.push(g.add(old, new)?);
        }
        let root = g.one(Op::Sqrt, &[moments[1]])?;
        let root = g.plus(root, f64::from(n.float_or("epsilon", 1e-6)))?;
        let steps = g.cast_like(step, x)?;
        let rate = g.cast_like(rate, x)?;
        let mut corrections = Vec::new();
        for share in [alpha, beta] {
            let share = g.scalar_like(share, x)?;
            let power = g.one(Op::Pow, &[share, steps])?;
            let one_ = g.scalar_like(1.0, x)?;
            corrections.push(g.sub(one_, power)?);
        }
        let up = g.one(Op::Sqrt, &[corrections[1]])?;
        let factor = g.div(up, corrections[0])?;
        let adjusted = g.mul(rate, factor)?;
        let zero = g.scalar_like(0.0, steps)?;
        let later = g.one(Op::Greater, &[steps, zero])?;
        let rate = g.one(Op::SelectV2, &[later, adjusted, rate])?;
        let direction = g.div(moments[0], root)?;
        let change = g.mul(rate, direction)?;
        let new = g.sub(x, change)?;
        let after = 1.0 - f64::from(n.float_or("norm_coefficient_post", 0.0));
        results.push(vec![g.times(new, after)?, moments[0], moments[1]]);
    }
    Ok(by_kind(&results))
}
