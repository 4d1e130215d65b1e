//! Operators on elements: arithmetic, comparisons, activations, conversions.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};

use crate::import::onnx::emit::{AttrArg, Lowered, Why, is_float, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::import::onnx::ops::learning::string;
use crate::import::onnx::tensor::{element_type, number_type};
use crate::ir::ValueId;

/// `Max`, `Min`, `Sum` of any number of tensors.
fn folded(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, op: Op) -> Result<ValueId, Why> {
    let all = n.all()?;
    all[1..].iter().try_fold(all[0], |sum, &next| g.one(op, &[sum, next]))
}

pub(super) fn max(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(folded(g, n, Op::Maximum))
}

pub(super) fn min(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(folded(g, n, Op::Minimum))
}

pub(super) fn sum(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(folded(g, n, Op::AddV2))
}

pub(super) fn mean(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let sum = folded(g, n, Op::AddV2)?;
    let count = g.scalar_like(n.inputs.len() as f64, sum)?;
    one(g.div(sum, count))
}

pub(super) fn div(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(g.div(n.input(0)?, n.input(1)?))
}

/// `Mod`: with the sign of the divisor, or with that of the dividend if `fmod`.
pub(super) fn modulo(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let op = if n.flag("fmod", false) { Op::TruncateMod } else { Op::FloorMod };
    let (a, b) = (n.input(0)?, n.input(1)?);
    // Small integers are computed in wider ones.
    let dtype = g.dtype(a)?;
    let wide = match dtype {
        DType::I8 | DType::I16 | DType::UI8 | DType::UI16 => DType::I32,
        DType::UI32 => DType::I64,
        _ => dtype,
    };
    let (a, b) = (g.cast(a, wide)?, g.cast(b, wide)?);
    let rest = g.one(op, &[a, b])?;
    one(g.cast(rest, dtype))
}

/// `Pow`, whose operands may have different types; the result has that of the base.
pub(super) fn pow(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (base, exponent) = (n.input(0)?, n.input(1)?);
    let (of, by) = (g.dtype(base)?, g.dtype(exponent)?);
    let common = if is_float(of) || !is_float(by) { of } else { by };
    let (a, b) = (g.cast(base, common)?, g.cast(exponent, common)?);
    let power = g.one(Op::Pow, &[a, b])?;
    one(g.cast(power, of))
}

pub(super) fn bit_shift(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let op = match n.word("direction", "")? {
        "LEFT" => Op::LeftShift,
        "RIGHT" => Op::RightShift,
        other => return Err(format!("direction '{other}'")),
    };
    one(g.one(op, &[n.input(0)?, n.input(1)?]))
}

pub(super) fn select(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(g.one(Op::SelectV2, &[n.input(0)?, n.input(1)?, n.input(2)?]))
}

pub(super) fn is_inf(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let zero = g.scalar_like(0.0, x)?;
    let mut found = g.one(Op::IsInf, &[x])?;
    for (name, op) in [("detect_positive", Op::Less), ("detect_negative", Op::Greater)] {
        if !n.flag(name, true) {
            let kept = g.one(op, &[x, zero])?;
            found = g.one(Op::LogicalAnd, &[found, kept])?;
        }
    }
    one(Ok(found))
}

/// `Clip`: bounds are operands, or attributes before version 11. The upper one wins.
pub(super) fn clip(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let mut x = n.input(0)?;
    for (i, name, op) in [(1, "min", Op::Maximum), (2, "max", Op::Minimum)] {
        let bound = match (n.optional(i), n.float(name)) {
            (Some(bound), _) => bound,
            (None, Some(bound)) => g.scalar_like(f64::from(bound), x)?,
            (None, None) => continue,
        };
        x = g.one(op, &[x, bound])?;
    }
    one(Ok(x))
}

/// Numbers as texts, as ONNX Runtime has them: as C writes them with `%.8g`; truth values are 1 and 0.
fn printed(g: &mut OnnxImporter<'_>, x: ValueId, dtype: DType) -> Result<ValueId, Why> {
    if !is_float(dtype) {
        let x = if dtype == DType::I1 { g.cast(x, DType::I32)? } else { x };
        return g.one(Op::AsString, &[x]);
    }
    let attrs = [("precision", AttrArg::Int(8)), ("shortest", AttrArg::Bool(true))];
    let digits = g.op(Op::AsString, &[x], &attrs)?;
    let (not_a_number, up, down) = (string(g, "NaN")?, string(g, "INF")?, string(g, "-INF")?);
    let (is_nan, is_infinite) = (g.one(Op::IsNan, &[x])?, g.one(Op::IsInf, &[x])?);
    let zero = g.scalar_like(0.0, x)?;
    let is_positive = g.one(Op::Greater, &[x, zero])?;
    let infinite = g.one(Op::SelectV2, &[is_positive, up, down])?;
    let text = g.one(Op::SelectV2, &[is_infinite, infinite, digits])?;
    g.one(Op::SelectV2, &[is_nan, not_a_number, text])
}

/// `Cast` to a type; strings are parsed and printed.
fn converted(g: &mut OnnxImporter<'_>, x: ValueId, to: Type) -> Result<ValueId, Why> {
    match (g.element(x), to) {
        (Some(Type::String), Type::String) => Ok(x),
        (Some(Type::String), Type::Dense(dtype)) => {
            let parsed =
                if matches!(dtype, DType::I32 | DType::I64 | DType::F64) { dtype } else { DType::F32 };
            let number = g.to(Op::StringToNumber, &[x], &[], parsed)?;
            g.cast(number, dtype)
        }
        (Some(Type::Dense(dtype)), Type::String) => printed(g, x, dtype),
        (_, Type::Dense(dtype)) => g.cast(x, dtype),
        _ => Err("a conversion that there is not".to_owned()),
    }
}

pub(super) fn cast(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let to = i32::try_from(n.int_or("to", 0)).map_err(|_| "no such type")?;
    one(converted(g, n.input(0)?, element_type(to)?))
}

pub(super) fn cast_like(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let to = g.element(n.input(1)?).ok_or("an input is no tensor")?;
    one(converted(g, n.input(0)?, to))
}

// ---- activations ----

pub(super) fn leaky_relu(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(g.op(Op::LeakyRelu, &[n.input(0)?], &[("alpha", AttrArg::Float(n.float_or("alpha", 0.01)))]))
}

/// `positive` where x > 0, `negative` elsewhere.
fn by_sign(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    positive: ValueId,
    negative: ValueId,
) -> Result<ValueId, Why> {
    let zero = g.scalar_like(0.0, x)?;
    let is_positive = g.one(Op::Greater, &[x, zero])?;
    g.one(Op::SelectV2, &[is_positive, positive, negative])
}

/// `scale * (x > 0 ? x : alpha * (exp(x / width) - 1))`.
fn exponential(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    scale: f32,
    alpha: f32,
    width: f32,
) -> Result<ValueId, Why> {
    let scaled = if width == 1.0 { x } else { g.times(x, 1.0 / f64::from(width))? };
    let less = g.one(Op::Expm1, &[scaled])?;
    let less = g.times(less, f64::from(alpha))?;
    let both = by_sign(g, x, x, less)?;
    if scale == 1.0 { Ok(both) } else { g.times(both, f64::from(scale)) }
}

pub(super) fn elu(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, alpha) = (n.input(0)?, n.float_or("alpha", 1.0));
    one(if alpha == 1.0 { g.one(Op::Elu, &[x]) } else { exponential(g, x, 1.0, alpha, 1.0) })
}

pub(super) fn selu(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (alpha, gamma) = (n.float_or("alpha", 1.673_263_2), n.float_or("gamma", 1.050_701));
    one(exponential(g, n.input(0)?, gamma, alpha, 1.0))
}

pub(super) fn celu(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let alpha = n.float_or("alpha", 1.0);
    one(exponential(g, n.input(0)?, 1.0, alpha, alpha))
}

pub(super) fn prelu(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, mut slope) = (n.input(0)?, n.input(1)?);
    // Before version 7 a vector was one of channels.
    if n.version < 7 && g.rank(slope)? == 1 && g.dims(slope)? != [1] {
        let behind = g.rank(x)?.saturating_sub(1);
        slope = g.expand_behind(slope, behind)?;
    }
    let less = g.mul(x, slope)?;
    one(by_sign(g, x, x, less))
}

pub(super) fn thresholded_relu(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let (zero, alpha) = (g.scalar_like(0.0, x)?, g.scalar_like(f64::from(n.float_or("alpha", 1.0)), x)?);
    let is_over = g.one(Op::Greater, &[x, alpha])?;
    one(g.one(Op::SelectV2, &[is_over, x, zero]))
}

/// `min(1, max(0, alpha * x + beta))`.
pub(super) fn hard_sigmoid_of(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    alpha: f64,
    beta: f64,
) -> Result<ValueId, Why> {
    let line = g.times(x, alpha)?;
    let line = g.plus(line, beta)?;
    let (zero, top) = (g.scalar_like(0.0, x)?, g.scalar_like(1.0, x)?);
    let over = g.one(Op::Maximum, &[line, zero])?;
    g.one(Op::Minimum, &[over, top])
}

pub(super) fn hard_sigmoid(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (alpha, beta) = (n.float_or("alpha", 0.2), n.float_or("beta", 0.5));
    one(hard_sigmoid_of(g, n.input(0)?, f64::from(alpha), f64::from(beta)))
}

pub(super) fn hard_swish(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let gate = hard_sigmoid_of(g, x, 1.0 / 6.0, 0.5)?;
    one(g.mul(x, gate))
}

/// `x * sigmoid(alpha * x)`.
fn swish_of(g: &mut OnnxImporter<'_>, x: ValueId, alpha: f32) -> Result<ValueId, Why> {
    let scaled = if alpha == 1.0 { x } else { g.times(x, f64::from(alpha))? };
    let gate = g.one(Op::Sigmoid, &[scaled])?;
    g.mul(x, gate)
}

pub(super) fn swish(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(swish_of(g, n.input(0)?, n.float_or("alpha", 1.0)))
}

pub(super) fn quick_gelu(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(swish_of(g, n.input(0)?, n.float_or("alpha", 1.702)))
}

pub(super) fn mish(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let soft = g.one(Op::Softplus, &[x])?;
    let gate = g.one(Op::Tanh, &[soft])?;
    one(g.mul(x, gate))
}

/// `x/2 * (1 + erf(x/√2))`, or its approximation by tanh.
fn gelu_of(g: &mut OnnxImporter<'_>, x: ValueId, approximate: bool) -> Result<ValueId, Why> {
    let bend = if approximate {
        let (square, scale) = (g.mul(x, x)?, (2.0 / std::f64::consts::PI).sqrt());
        let cube = g.mul(square, x)?;
        let cube = g.times(cube, 0.044715)?;
        let inner = g.add(x, cube)?;
        let inner = g.times(inner, scale)?;
        g.one(Op::Tanh, &[inner])?
    } else {
        let inner = g.times(x, std::f64::consts::FRAC_1_SQRT_2)?;
        g.one(Op::Erf, &[inner])?
    };
    let bend = g.plus(bend, 1.0)?;
    let half = g.times(x, 0.5)?;
    g.mul(half, bend)
}

pub(super) fn gelu(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let approximate = n.word("approximate", "none")? == "tanh";
    one(gelu_of(g, n.input(0)?, approximate))
}

/// `BiasGelu` and `FastGelu`: a bias before, which the second may lack.
pub(super) fn bias_gelu(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let mut x = n.input(0)?;
    if let Some(bias) = n.optional(1) {
        x = g.add(x, bias)?;
    }
    one(gelu_of(g, x, n.proto.op_type == "FastGelu"))
}

pub(super) fn shrink(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let (bias, lambda) = (f64::from(n.float_or("bias", 0.0)), f64::from(n.float_or("lambd", 0.5)));
    let dtype = g.dtype(x)?;
    let wide = if is_float(dtype) { dtype } else { DType::F64 };
    let x = g.cast(x, wide)?;
    let (low, high, zero) = (g.scalar(-lambda, wide)?, g.scalar(lambda, wide)?, g.scalar(0.0, wide)?);
    let (is_low, is_high) = (g.one(Op::Less, &[x, low])?, g.one(Op::Greater, &[x, high])?);
    let (below, above) = (g.plus(x, bias)?, g.plus(x, -bias)?);
    let inner = g.one(Op::SelectV2, &[is_high, above, zero])?;
    let all = g.one(Op::SelectV2, &[is_low, below, inner])?;
    one(g.cast(all, dtype))
}

/// `Dropout`: outside of training the input, and a mask of true.
pub(super) fn dropout(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let sizes = g.sizes(x)?;
    let scalar = |g: &mut OnnxImporter<'_>, value: ValueId, dtype: DType| {
        let value = g.reshape_to(value, &[])?;
        g.cast(value, dtype)
    };
    let training = match n.optional(2) {
        Some(training) => scalar(g, training, DType::I1)?,
        None => g.scalar(0.0, DType::I1)?,
    };
    if g.number_of(training) == Some(0.0) {
        let yes = g.scalar(1.0, DType::I1)?;
        return Ok(vec![x, g.fill(&sizes, yes)?]);
    }
    let ratio = match n.optional(1) {
        Some(ratio) => scalar(g, ratio, DType::F32)?,
        None => g.scalar(f64::from(n.float_or("ratio", 0.5)), DType::F32)?,
    };
    let zero = g.scalar(0.0, DType::F32)?;
    let ratio = g.one(Op::SelectV2, &[training, ratio, zero])?;
    let shape = g.size_vector(&sizes)?;
    let drawn = g.to(Op::RandomUniform, &[shape], &seed(n), DType::F32)?;
    let mask = g.one(Op::GreaterEqual, &[drawn, ratio])?;
    let one_ = g.scalar(1.0, DType::F32)?;
    let kept = g.sub(one_, ratio)?;
    let kept = g.cast_like(kept, x)?;
    let (scaled, zero) = (g.div(x, kept)?, g.scalar_like(0.0, x)?);
    Ok(vec![g.one(Op::SelectV2, &[mask, scaled, zero])?, mask])
}

// ---- random numbers ----

/// The attribute of a generator: the bits of the seed.
fn seed(n: &OnnxNode<'_>) -> [(&'static str, AttrArg<'static>); 1] {
    [("seed", AttrArg::Int(n.attr("seed").map_or(0, |seed| seed.i ^ i64::from(seed.f.to_bits()))))]
}

/// Random numbers of a shape; the second version of an operator takes the shape of its input.
pub(super) fn random(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let like = n.optional(0);
    let dtype = match (n.int("dtype"), like) {
        (Some(code), _) => number_type(code)?,
        (None, Some(x)) => g.dtype(x)?,
        (None, None) => DType::F32,
    };
    let shape = match like {
        Some(x) => g.shape(x)?,
        None => g.ints(n.ints("shape").ok_or("it has no shape")?)?,
    };
    let is_normal = n.proto.op_type.starts_with("RandomNormal");
    let op = if is_normal { Op::RandomStandardNormal } else { Op::RandomUniform };
    let drawn = g.to(op, &[shape], &seed(n), dtype)?;
    let (scale, offset) = if is_normal {
        (n.float_or("scale", 1.0), n.float_or("mean", 0.0))
    } else {
        let (low, high) = (n.float_or("low", 0.0), n.float_or("high", 1.0));
        (high - low, low)
    };
    let scaled = g.times(drawn, f64::from(scale))?;
    one(g.plus(scaled, f64::from(offset)))
}

pub(super) fn bernoulli(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let p = n.input(0)?;
    let dtype = n.int("dtype").map_or_else(|| g.dtype(p), number_type)?;
    let shape = g.shape(p)?;
    let of = g.dtype(p)?;
    let drawn = g.to(Op::RandomUniform, &[shape], &seed(n), of)?;
    let hit = g.one(Op::Less, &[drawn, p])?;
    one(g.cast(hit, dtype))
}

pub(super) fn multinomial(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let dtype = n.int("dtype").map_or(Ok(DType::I32), number_type)?;
    let count = g.scalar(n.int_or("sample_size", 1) as f64, DType::I32)?;
    one(g.to(Op::Multinomial, &[n.input(0)?, count], &seed(n), dtype))
}
