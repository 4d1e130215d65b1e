//! Operators that only Befrost's compiler creates: packed weights and fusions (`crate::tf::fused`).
//!
//! ```text
//! _PackedConv2D(x, weights, bias) {filter_shape = [3, 3, 8, 8], fused_ops = ["BiasAdd", "Relu"], ...}
//! _FusedElementwise(a, b) {ops = ["Mul", "Tanh"], values = [0, 1, 2], numbers = [], results = [1]}    tanh(a
//! * b) _LayerNorm(x, scale, offset)        _Gelu(x)        _FusedAttention(q, k, v)
//! ```
//!
//! `weights` are the bytes of a [`Weights`], which determines the precision of the product. `input_range` is
//! the range of `x`, if it is known; weights of 8-bit integers use it. If `x` has bytes, `input_zero_point`
//! is the one that stands for 0, and `fused_ops` begins with "Mul": the scales of sums, for each column. A
//! result of bytes has `output_scale` and `output_zero_point`; `sum_scale` and `sum_zero_point` are those to
//! which the product is rounded before a tensor of bytes with the residual's is added.
//!
//! `values` has an entry for each operand of each step: an entry from 0 on counts the operands, then the
//! results of steps; -1, -2, ... are the `numbers`. `results` are the steps that are results. Booleans are
//! steps only: 0 and 1 of i32.

use smallvec::SmallVec;

use super::layers::conv;
use super::{owning, owning_many};
use crate::error::invalid;
use crate::simd::{Affine, Function};
use crate::tf::fast::Cx;
use crate::tf::fused::{
    self, After, Attention, BottleneckLayer, BottleneckLayers, ByteForm, ByteSum, Program, Step, Value,
    Weights,
};
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::op::rows::class;
use crate::tf::op::types::Type;
use crate::{DType, HostTensor, Shape, TensorError};

pub(in crate::tf::op) fn pack_matrix(attrs: &Attributes<'_>) -> Made {
    let is_transposed = attrs.bool("transpose")?;
    owning(attrs, move |[x], cx| fused::pack_matrix(&x, is_transposed, cx))
}

pub(in crate::tf::op) fn packed_matmul(attrs: &Attributes<'_>) -> Made {
    let (shape, contracted) = (sizes(attrs, "shape")?, attrs.count("contracted")?);
    let Some((inner, columns)) = shape.split_at_checked(contracted) else {
        return invalid("_PackedMatMul", format!("{contracted} axes contracted of weights {shape:?}"));
    };
    let (inner, columns) = (inner.to_vec(), columns.to_vec());
    let both = [&inner, &columns].map(|dims| dims.iter().product());
    packed(attrs, &[[1, 1], both].concat(), move |x, weights, after, cx| {
        product(x, (&inner, &columns), weights, after, cx)
    })
}

pub(in crate::tf::op) fn packed_conv2d(attrs: &Attributes<'_>) -> Made {
    let conv = conv(attrs)?;
    packed(attrs, &sizes(attrs, "filter_shape")?, move |x, weights, after, cx| {
        fused::conv2d(x, weights, &conv, after, cx)
    })
}

pub(in crate::tf::op) fn packed_depthwise_conv2d_native(attrs: &Attributes<'_>) -> Made {
    let conv = conv(attrs)?;
    packed(attrs, &sizes(attrs, "filter_shape")?, move |x, weights, after, cx| {
        fused::depthwise_conv2d(x, weights, &conv, after, cx)
    })
}

/// The three layers of a bottleneck; those at the ends are there if their shape is not empty.
pub(in crate::tf::op) fn packed_bottleneck(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let conv = conv(attrs)?;
    let layer = |shape: &str, ops: &str| -> Result<Option<EpilogueSpec>, TensorError> {
        if attrs.ints(shape)?.is_empty() { Ok(None) } else { EpilogueSpec::of(attrs, ops).map(Some) }
    };
    let expand = layer("expand_shape", "expand_ops")?;
    let project = layer("project_shape", "project_ops")?;
    let depthwise = EpilogueSpec::new(attrs)?;
    let all = || [expand.as_ref(), Some(&depthwise), project.as_ref()].into_iter().flatten();
    let (n_weights, n_args) = (all().count(), all().map(EpilogueSpec::n_args).sum::<usize>());
    owning_many(attrs, 1, move |operands, cx| {
        let [x, weights @ ..] = &operands[..] else { return invalid(op, "no operands".to_owned()) };
        let Some((weights, args)) =
            weights.split_at_checked(n_weights).filter(|(_, args)| args.len() == n_args)
        else {
            return invalid(op, format!("{} operands, expected {}", operands.len(), 1 + n_weights + n_args));
        };
        let weights = weights.iter().map(|weights| Weights::from_tensor(weights.clone()));
        let weights = weights.collect::<Result<SmallVec<[Weights; 3]>, _>>()?;
        let (mut weights, mut args) = (weights.iter(), args.iter());
        let mut layer = |spec: &EpilogueSpec| {
            weights.next().map(|weights| BottleneckLayer { weights, after: spec.after(&mut args) })
        };
        let expand = expand.as_ref().and_then(&mut layer);
        let Some(depthwise) = layer(&depthwise) else { return invalid(op, "no weights".to_owned()) };
        let project = project.as_ref().and_then(&mut layer);
        fused::bottleneck(x, &BottleneckLayers { expand, depthwise, project }, &conv, cx)
    })
}

pub(in crate::tf::op) fn fused_elementwise(attrs: &Attributes<'_>) -> Made {
    let program = program(attrs)?;
    owning_many(attrs, 0, move |operands, cx| program.run(operands.into_vec(), cx))
}

pub(in crate::tf::op) fn layer_norm(attrs: &Attributes<'_>) -> Made {
    let epsilon = attrs.float("epsilon")? as f32;
    owning(attrs, move |[x, scale, offset], cx| fused::layer_norm(x, &scale, &offset, epsilon, cx))
}

pub(in crate::tf::op) fn layer_norm_grad(attrs: &Attributes<'_>) -> Made {
    let epsilon = attrs.float("epsilon")? as f32;
    owning(attrs, move |[dy, x, scale], cx| fused::layer_norm_grad(dy, &x, &scale, epsilon, cx))
}

pub(in crate::tf::op) fn fused_attention(attrs: &Attributes<'_>) -> Made {
    let (scale, heads_inside) = (attrs.float("scale")? as f32, attrs.bool("heads_inside")?);
    owning_many(attrs, 3, move |operands, cx| match &operands[..] {
        [q, k, v, mask @ ..] if mask.len() < 2 => {
            fused::attention([q, k, v], mask.first(), &Attention { scale, heads_inside }, cx)
        }
        _ => invalid("_FusedAttention", format!("{} operands, expected 3 or 4", operands.len())),
    })
}

pub(in crate::tf::op) fn gelu(attrs: &Attributes<'_>) -> Made {
    let function = if attrs.bool("approximate")? { Function::GeluTanh } else { Function::Gelu };
    owning(attrs, move |[x], cx| crate::tf::fast::map(function, x, cx))
}

/// The vectorized function of an elementwise operator of one operand. `GeluExact`, `GeluApproximate` and
/// `Silu` are names in `fused_ops` only; no row has them.
fn function(name: &str) -> Option<Function> {
    match name {
        "GeluExact" => Some(Function::Gelu),
        "GeluApproximate" => Some(Function::GeluTanh),
        "Silu" => Some(Function::Silu),
        _ => class(name)?.vector_function(),
    }
}

/// The epilogue described by `fused_ops`, in this order: optional scales, an optional bias, an optional
/// addend, an optional function.
struct EpilogueSpec {
    has_scale: bool,
    has_bias: bool,
    has_residual: bool,
    function: Function,
}

impl EpilogueSpec {
    fn new(attrs: &Attributes<'_>) -> Result<EpilogueSpec, TensorError> {
        EpilogueSpec::of(attrs, "fused_ops")
    }

    /// The epilogue that an attribute describes.
    fn of(attrs: &Attributes<'_>, attr: &str) -> Result<EpilogueSpec, TensorError> {
        let names = attrs.strings(attr)?;
        let mut rest = &names[..];
        let mut take = |name: &str| match rest.split_first() {
            Some((first, others)) if first == name => {
                rest = others;
                true
            }
            _ => false,
        };
        let (has_scale, has_bias, has_residual) = (take("Mul"), take("BiasAdd"), take("Add"));
        let function = match rest {
            [] => Some(Function::Identity),
            [name] if name == "LeakyRelu" => {
                Some(Function::LeakyRelu(attrs.float("leakyrelu_alpha")? as f32))
            }
            [name] => function(name),
            _ => None,
        };
        match function {
            Some(function) => Ok(EpilogueSpec { has_scale, has_bias, has_residual, function }),
            None => invalid(attrs.op(), format!("`{attr}` is {names:?}")),
        }
    }

    /// The number of operands of the epilogue.
    fn n_args(&self) -> usize {
        [self.has_scale, self.has_bias, self.has_residual].into_iter().map(usize::from).sum()
    }

    /// The epilogue with its operands, which are the next ones.
    fn after<'a>(&self, args: &mut std::slice::Iter<'a, HostTensor>) -> After<'a> {
        let mut next_if = |has: bool| if has { args.next() } else { None };
        After {
            scale: next_if(self.has_scale),
            bias: next_if(self.has_bias),
            residual: next_if(self.has_residual),
            function: self.function,
            ..After::default()
        }
    }
}

/// The attribute `input_range`: the ends of the left operand's range, or an empty list.
fn input_range(attrs: &Attributes<'_>) -> Result<Option<(f32, f32)>, TensorError> {
    match attrs.floats("input_range")?[..] {
        [] => Ok(None),
        [low, high] if low <= high && high - low < f64::from(f32::MAX) => Ok(Some((low as f32, high as f32))),
        ref other => invalid(attrs.op(), format!("`input_range` is {other:?}")),
    }
}

/// True for i8, false for u8.
fn bytes_are_signed(ty: Type) -> Option<bool> {
    match ty.dtype()? {
        DType::I8 => Some(true),
        DType::UI8 => Some(false),
        _ => None,
    }
}

/// The zero point of bytes in an attribute.
fn zero_point(attrs: &Attributes<'_>, name: &str, is_signed: bool) -> Result<i32, TensorError> {
    let (zero, low) = (attrs.int(name)?, if is_signed { -128 } else { 0 });
    match (low..low + 256).contains(&zero) {
        true => Ok(zero as i32),
        false => invalid(attrs.op(), format!("`{name}` is {zero}, which is no byte of the type")),
    }
}

/// The quantization of bytes in two attributes.
fn affine(attrs: &Attributes<'_>, names: [&str; 2], is_signed: bool) -> Result<Affine, TensorError> {
    let scale = attrs.float(names[0])? as f32;
    if !scale.is_normal() || scale < 0.0 {
        return invalid(attrs.op(), format!("`{}` is {scale}", names[0]));
    }
    Ok(Affine { scale, zero: zero_point(attrs, names[1], is_signed)?, is_signed })
}

/// The dimensions in an attribute.
fn sizes(attrs: &Attributes<'_>, name: &str) -> Result<Vec<usize>, TensorError> {
    let dims = attrs.ints(name)?;
    // The invariant of `Shape` bounds every product of these dimensions, so callers multiply unchecked.
    let shape = Shape::from_i64(&dims)?;
    Ok(shape.dims().to_vec())
}

/// A product with packed weights of these dimensions.
fn packed(
    attrs: &Attributes<'_>,
    dims: &[usize],
    product: impl Fn(&HostTensor, &Weights, &After<'_>, &Cx<'_>) -> Result<HostTensor, TensorError>
    + Send
    + Sync
    + 'static,
) -> Made {
    let (op, dims) = (attrs.op(), dims.to_vec());
    let epilogue = EpilogueSpec::new(attrs)?;
    let range = input_range(attrs)?;
    let (from, to) = (attrs.ty("T")?, attrs.ty("U")?);
    let input = bytes_are_signed(from);
    let input_zero = input.map_or(Ok(0), |is_signed| zero_point(attrs, "input_zero_point", is_signed))?;
    let (output, sum) = match bytes_are_signed(to) {
        Some(is_signed) if input.is_some() => {
            let affine = |names| affine(attrs, names, is_signed);
            let sum = match attrs.count("num_residuals")? {
                0 => None,
                _ => Some([
                    affine(["sum_scale", "sum_zero_point"])?,
                    affine(["residual_scale", "residual_zero_point"])?,
                ]),
            };
            (Some(affine(["output_scale", "output_zero_point"])?), sum)
        }
        None => (None, None),
        Some(_) => return invalid(op, "a result of bytes for an operand of other numbers".to_owned()),
    };
    let n_args = epilogue.n_args() + usize::from(sum.is_some());
    owning_many(attrs, 2, move |operands, cx| {
        let [x, weights, args @ ..] = &operands[..] else {
            return invalid(op, "fewer than 2 operands".to_owned());
        };
        if args.len() != n_args {
            return invalid(op, format!("{} operands behind the weights, expected {n_args}", args.len()));
        }
        x.expect_dtype("input", from.dtype().unwrap_or(DType::F32))?;
        let weights = Weights::from_tensor(weights.clone())?;
        if weights.dims()[..] != dims[..] {
            return invalid(op, format!("weights of shape {:?}, expected {dims:?}", weights.dims()));
        }
        let mut args = args.iter();
        let after = epilogue.after(&mut args);
        let after = After {
            range,
            bytes: ByteForm {
                input_zero,
                output,
                sum: sum.zip(args.next()).map(|([product, of], residual)| ByteSum { product, residual, of }),
            },
            ..after
        };
        product(x, &weights, &after, cx)
    })
}

/// A product over the last axes of a tensor, whose lengths are `inner`. `columns` replaces them in the
/// result.
fn product(
    x: &HostTensor,
    (inner, columns): (&[usize], &[usize]),
    weights: &Weights,
    after: &After<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    if inner.len() == 1 && columns.len() == 1 {
        return fused::matmul(x, weights, after, cx);
    }
    let Some(rows) = x.shape().dims().strip_suffix(inner) else {
        return invalid("_PackedMatMul", format!("shape {} does not end with {inner:?}", x.shape()));
    };
    let [_, _, k, n] = weights.dims();
    let shape = Shape::new(&[rows, columns].concat())?;
    let flat = x.reshaped(Shape::new(&[rows, &[k]].concat())?)?;
    let residual = match after.residual {
        Some(residual) => {
            residual.expect_shape("residual", &shape)?;
            Some(residual.reshaped(Shape::new(&[rows, &[n]].concat())?)?)
        }
        None => None,
    };
    if after.bytes.sum.is_some() {
        return invalid("_PackedMatMul", "a residual of bytes with several axes of columns".to_owned());
    }
    // The bias has the shape of the columns.
    let bias = after.bias.map(|bias| bias.reshaped(Shape::new(&[n])?)).transpose()?;
    let after = After { bias: bias.as_ref(), residual: residual.as_ref(), ..*after };
    fused::matmul(&flat, weights, &after, cx)?.reshaped(shape)
}

fn program(attrs: &Attributes<'_>) -> Result<Program, TensorError> {
    let op = attrs.op();
    let (names, numbers) = (attrs.strings("ops")?, attrs.floats("numbers")?);
    let operands = attrs.types("TArgs")?.into_iter().map(Type::dtype).collect::<Option<Vec<DType>>>();
    let Some(operands) = operands else { return invalid(op, "operands that are not numbers".to_owned()) };
    let n = operands.len();
    let mut values = attrs.ints("values")?.into_iter();
    let mut next = || {
        let value = values.next()?;
        let Ok(at) = usize::try_from(value) else {
            let number = usize::try_from(value.checked_add(1)?.checked_neg()?).ok()?;
            return numbers.get(number).map(|&number| Value::Number(number as f32));
        };
        Some(if at < n { Value::Operand(at) } else { Value::Step(at - n) })
    };
    let mut is_int: Vec<bool> = operands.iter().map(|&dtype| dtype == DType::I32).collect();
    let mut step = |name: &str| {
        let step = match function(name) {
            Some(function) => Step::Map(function, next()?),
            None => {
                let class = class(name)?;
                let values = (0..class.n_step_operands()).map(|_| next());
                let values: SmallVec<[Value; 3]> = values.collect::<Option<_>>()?;
                let is_int = |value: &Value| match *value {
                    Value::Operand(at) => is_int.get(at) == Some(&true),
                    Value::Step(at) => is_int.get(n + at) == Some(&true),
                    Value::Number(_) => false,
                };
                class.step(values.iter().any(is_int))?.of(&values)?
            }
        };
        is_int.push(step.dtype() == DType::I32);
        Some(step)
    };
    let steps: Option<Vec<Step>> = names.iter().map(|name| step(name)).collect();
    let results = attrs.ints("results")?.into_iter().map(|step| usize::try_from(step).unwrap_or(usize::MAX));
    match steps {
        Some(steps) if values.next().is_none() => {
            Program::new(&operands, steps, &results.collect::<Vec<_>>())
        }
        _ => invalid(op, format!("`values` and `numbers` are not those of {names:?}")),
    }
}
