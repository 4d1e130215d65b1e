//! Operators on elements.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::export::onnx::emit::{AttrValue, Name, NodeWriter, WhyNot, Written};
use crate::export::onnx::node::TfNode;
use crate::export::onnx::tensor;

pub(super) fn same(_: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    Ok(n.inputs.clone())
}

/// The first operand.
pub(super) fn first(_: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    Ok(n.inputs.iter().take(1).cloned().collect())
}

pub(super) fn nothing(_: &mut NodeWriter<'_>, _: &TfNode<'_>) -> Written {
    Ok(Vec::new())
}

pub(super) fn cast(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (from, to) = (n.dtype(0)?, n.result_dtype(0)?);
    Ok(vec![w.cast(n.input(0)?, from, to)])
}

/// A scalar with the element type of operand 0.
fn scalar(w: &mut NodeWriter<'_>, n: &TfNode<'_>, number: f64) -> Result<Name, WhyNot> {
    w.scalar(number, n.dtype(0)?)
}

/// The quotient of operands 0 and 1, but 0 where operand `by` is 0.
fn zero_if_zero(w: &mut NodeWriter<'_>, n: &TfNode<'_>, value: &str, by: usize) -> Written {
    let zero = scalar(w, n, 0.0)?;
    let is_zero = w.op("Equal", &[n.input(by)?, &zero]);
    Ok(vec![w.op("Where", &[&is_zero, &zero, value])])
}

pub(super) fn div_no_nan(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let quotient = w.op("Div", &n.all());
    zero_if_zero(w, n, &quotient, 1)
}

pub(super) fn mul_no_nan(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let product = w.op("Mul", &n.all());
    zero_if_zero(w, n, &product, 1)
}

pub(super) fn xdivy(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let quotient = w.op("Div", &n.all());
    zero_if_zero(w, n, &quotient, 0)
}

pub(super) fn xlogy(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let log = w.op("Log", &[n.input(1)?]);
    let product = w.op("Mul", &[n.input(0)?, &log]);
    zero_if_zero(w, n, &product, 0)
}

pub(super) fn erfc(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (erf, top) = (w.op("Erf", &[n.input(0)?]), scalar(w, n, 1.0)?);
    Ok(vec![w.op("Sub", &[&top, &erf])])
}

/// `near` where the magnitude of operand 0 is below `limit`, `far` elsewhere.
fn by_magnitude(w: &mut NodeWriter<'_>, n: &TfNode<'_>, limit: f64, near: &str, far: &str) -> Written {
    let (magnitude, limit) = (w.op("Abs", &[n.input(0)?]), scalar(w, n, limit)?);
    let is_near = w.op("Less", &[&magnitude, &limit]);
    Ok(vec![w.op("Where", &[&is_near, near, far])])
}

/// `Expm1`: near 0, where `exp(x)` loses the digits of `x`, it is `2t / (1 - t)` with `t = tanh(x/2)`.
pub(super) fn expm1(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let x = n.input(0)?;
    let (half, unit) = (scalar(w, n, 0.5)?, scalar(w, n, 1.0)?);
    let half = w.op("Mul", &[x, &half]);
    let t = w.op("Tanh", &[&half]);
    let (twice, rest) = (w.op("Add", &[&t, &t]), w.op("Sub", &[&unit, &t]));
    let near = w.op("Div", &[&twice, &rest]);
    let power = w.op("Exp", &[x]);
    let far = w.op("Sub", &[&power, &unit]);
    by_magnitude(w, n, 1.0, &near, &far)
}

/// `Log1p`: near 0, where `1 + x` loses the digits of `x`, it is `2 artanh(z)` with `z = x / (x + 2)`, whose
/// series are odd powers by their exponents.
pub(super) fn log1p(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let x = n.input(0)?;
    let (unit, two) = (scalar(w, n, 1.0)?, scalar(w, n, 2.0)?);
    let more = w.op("Add", &[x, &two]);
    let z = w.op("Div", &[x, &more]);
    let square = w.op("Mul", &[&z, &z]);
    let mut sum = scalar(w, n, 2.0 / 9.0)?;
    for factor in [2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0] {
        let (product, factor) = (w.op("Mul", &[&sum, &square]), scalar(w, n, factor)?);
        sum = w.op("Add", &[&product, &factor]);
    }
    let near = w.op("Mul", &[&z, &sum]);
    let more = w.op("Add", &[x, &unit]);
    let far = w.op("Log", &[&more]);
    by_magnitude(w, n, 0.1, &near, &far)
}

/// The quotient, rounded down. That of integers is exact once the rest is taken away.
pub(super) fn floor_div(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if n.is_float(0) {
        let quotient = w.op("Div", &n.all());
        return Ok(vec![w.op("Floor", &[&quotient])]);
    }
    let rest = w.op("Mod", &n.all());
    let whole = w.op("Sub", &[n.input(0)?, &rest]);
    Ok(vec![w.op("Div", &[&whole, n.input(1)?])])
}

/// The rest with the sign of the divisor, which ONNX has for integers only.
pub(super) fn floor_mod(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if !n.is_float(0) {
        return Ok(vec![w.op("Mod", &n.all())]);
    }
    let by = n.input(1)?;
    let rest = w.with("Mod", &n.all(), vec![("fmod", AttrValue::Int(1))]);
    let zero = scalar(w, n, 0.0)?;
    let (rest_below, by_below) = (w.op("Less", &[&rest, &zero]), w.op("Less", &[by, &zero]));
    let differ = w.op("Xor", &[&rest_below, &by_below]);
    let is_whole = w.op("Equal", &[&rest, &zero]);
    let is_rest = w.op("Not", &[&is_whole]);
    let moves = w.op("And", &[&differ, &is_rest]);
    let moved = w.op("Add", &[&rest, by]);
    Ok(vec![w.op("Where", &[&moves, &moved, &rest])])
}

/// `TruncateDiv`: ONNX's quotient of integers is rounded to 0, as that of TensorFlow is.
pub(super) fn truncate_div(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let quotient = w.op("Div", &n.all());
    if !n.is_float(0) {
        return Ok(vec![quotient]);
    }
    let zero = scalar(w, n, 0.0)?;
    let is_below = w.op("Less", &[&quotient, &zero]);
    let (up, down) = (w.op("Ceil", &[&quotient]), w.op("Floor", &[&quotient]));
    Ok(vec![w.op("Where", &[&is_below, &up, &down])])
}

pub(super) fn truncate_mod(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    Ok(vec![w.with("Mod", &n.all(), vec![("fmod", AttrValue::Int(1))])])
}

pub(super) fn is_finite(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let x = n.input(0)?;
    let (is_inf, is_nan) = (w.op("IsInf", &[x]), w.op("IsNaN", &[x]));
    let is_neither = w.op("Or", &[&is_inf, &is_nan]);
    Ok(vec![w.op("Not", &[&is_neither])])
}

pub(super) fn leaky_relu(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let alpha = n.float("alpha")?;
    Ok(vec![w.with("LeakyRelu", &[n.input(0)?], vec![("alpha", AttrValue::Float(alpha))])])
}

/// `Equal`, which may be false for shapes that do not match.
pub(super) fn equal(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if !n.flag("incompatible_shape_error")? {
        return Err("of shapes that need not match".to_owned());
    }
    Ok(vec![w.op("Equal", &n.all())])
}

/// `LeftShift` and `RightShift`, which ONNX has for unsigned numbers.
pub(super) fn shift(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let dtype = n.dtype(0)?;
    if !matches!(dtype, DType::UI8 | DType::UI16 | DType::UI32 | DType::UI64) {
        return Err(format!("of {dtype}"));
    }
    let direction = if n.operator == Op::LeftShift { "LEFT" } else { "RIGHT" };
    Ok(vec![w.with("BitShift", &n.all(), vec![("direction", AttrValue::Str(direction))])])
}

/// `Atan2`: the angle of the quotient, turned by half a circle where `x` is negative. The sign of `y`
/// decides, that of a zero as well.
pub(super) fn atan2(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (y, x) = (n.input(0)?, n.input(1)?);
    // Two infinities have no quotient: their angle is that of their signs.
    let are_infinite = [y, x].map(|value| w.op("IsInf", &[value]));
    let are_infinite = w.op("And", &[&are_infinite[0], &are_infinite[1]]);
    let [y, x] = [y, x].map(|value| {
        let sign = w.op("Sign", &[value]);
        w.op("Where", &[&are_infinite, &sign, value])
    });
    let (y, x) = (y.as_str(), x.as_str());
    let (zero, half_circle) = (scalar(w, n, 0.0)?, scalar(w, n, std::f64::consts::PI)?);
    let (unit, least) = (scalar(w, n, 1.0)?, scalar(w, n, f64::NEG_INFINITY)?);
    // 1/-0 is the smallest of all numbers.
    let (y_inverse, x_inverse) = (w.op("Div", &[&unit, y]), w.op("Div", &[&unit, x]));
    let below = |w: &mut NodeWriter<'_>, value: &str, inverse: &str| {
        let (less, is_least) = (w.op("Less", &[value, &zero]), w.op("Equal", &[inverse, &least]));
        w.op("Or", &[&less, &is_least])
    };
    let (y_below, x_below) = (below(w, y, &y_inverse), below(w, x, &x_inverse));
    let back = w.op("Neg", &[&half_circle]);
    let turn = w.op("Where", &[&y_below, &back, &half_circle]);
    let turn = w.op("Where", &[&x_below, &turn, &zero]);
    let quotient = w.op("Div", &[y, x]);
    let angle = w.op("Atan", &[&quotient]);
    let turned = w.op("Add", &[&angle, &turn]);
    // 0/0 has no quotient: the angle is that of the signs alone.
    let (y_zero, x_zero) = (w.op("Equal", &[y, &zero]), w.op("Equal", &[x, &zero]));
    let is_origin = w.op("And", &[&y_zero, &x_zero]);
    let flat = w.op("Where", &[&x_below, &turn, y]);
    Ok(vec![w.op("Where", &[&is_origin, &flat, &turned])])
}

pub(super) fn not_equal(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let equal = equal(w, n)?;
    Ok(vec![w.op("Not", &[&equal[0]])])
}

pub(super) fn relu6(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (zero, six) = (scalar(w, n, 0.0)?, scalar(w, n, 6.0)?);
    Ok(vec![w.op("Clip", &[n.input(0)?, &zero, &six])])
}

pub(super) fn rsqrt(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let root = w.op("Sqrt", &[n.input(0)?]);
    Ok(vec![w.op("Reciprocal", &[&root])])
}

/// `Select`, whose condition may be a scalar or choose whole rows.
pub(super) fn select(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (condition, rank) = (n.rank(0)?, n.rank(1)?);
    let mut given = n.input(0)?.to_owned();
    if condition == 1 && rank > 1 {
        let behind: Vec<i64> = (1..rank as i64).collect();
        given = w.unsqueeze(&given, &behind);
    }
    Ok(vec![w.op("Where", &[&given, n.input(1)?, n.input(2)?])])
}

pub(super) fn square(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let x = n.input(0)?;
    Ok(vec![w.op("Mul", &[x, x])])
}

pub(super) fn squared_difference(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let difference = w.op("Sub", &n.all());
    Ok(vec![w.op("Mul", &[&difference, &difference])])
}

/// `AddN`: ONNX's sum of several tensors is of floating point numbers only.
pub(super) fn add_n(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if n.is_float(0) {
        return Ok(vec![w.op("Sum", &n.all())]);
    }
    let mut sum = n.input(0)?.to_owned();
    for part in &n.inputs[1..] {
        sum = w.op("Add", &[&sum, part]);
    }
    Ok(vec![sum])
}

pub(super) fn string_join(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let separator = n.word("separator")?;
    let mut parts = n.inputs.iter();
    let mut joined = parts.next().ok_or("it joins nothing")?.clone();
    for part in parts {
        if !separator.is_empty() {
            let between = w.constant(tensor::string(&separator));
            joined = w.op("StringConcat", &[&joined, &between]);
        }
        joined = w.op("StringConcat", &[&joined, part]);
    }
    Ok(vec![joined])
}

pub(super) fn regex_full_match(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let pattern = n.word("pattern")?;
    Ok(vec![w.with("RegexFullMatch", &[n.input(0)?], vec![("pattern", AttrValue::Str(&pattern))])])
}
