//! Grappler's fusions: a product or convolution with an epilogue, computed by the separate operators.
//!
//! ```text
//! fused_ops = ["BiasAdd", "Add", "Relu"]      args = [bias, addend]: each step takes its operands in order
//! ```

use super::layers::{conv, transposed};
use super::owning_many;
use crate::error::invalid;
use crate::simd::Function;
use crate::tf::fast::{self, Cx};
use crate::tf::fused::{After, matmul_of_two};
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::unary::real_map;
use crate::tf::{BatchNorm, BatchNormAttrs, Binary, ImageFormat, Unary};
use crate::{DType, HostTensor, TensorError};

pub(in crate::tf::op) fn fused_matmul(attrs: &Attributes<'_>) -> Made {
    let (left, right) = (transposed(attrs, "transpose_a")?, transposed(attrs, "transpose_b")?);
    let apart = move |a: &HostTensor, b: &HostTensor, cx: &Cx<'_>| fast::matmul(a, left, b, right, cx);
    let at_once = move |a: &HostTensor, b: &HostTensor, after: &After<'_>, cx: &Cx<'_>| {
        matmul_of_two((a, left), (b, right), after, cx)
    };
    fused(attrs, ImageFormat::Nhwc, apart, at_once)
}

pub(in crate::tf::op) fn fused_conv2d(attrs: &Attributes<'_>) -> Made {
    let conv = conv(attrs)?;
    attrs.word("filter_format", &[("HWIO", ())])?;
    if attrs.count("num_host_args")? > 0 {
        return invalid("_FusedConv2D", "`host_args` are not supported".to_owned());
    }
    fused(attrs, conv.format, move |x, filter, cx| fast::conv2d(x, filter, &conv, cx), |_, _, _, _| Ok(None))
}

pub(in crate::tf::op) fn fused_depthwise_conv2d_native(attrs: &Attributes<'_>) -> Made {
    let conv = conv(attrs)?;
    let product =
        move |x: &HostTensor, filter: &HostTensor, cx: &Cx<'_>| fast::depthwise_conv2d(x, filter, &conv, cx);
    fused(attrs, conv.format, product, |_, _, _, _| Ok(None))
}

/// A step of the epilogue.
#[derive(Clone, Copy)]
enum FusedOp {
    Bias(ImageFormat),
    Add,
    Norm(BatchNormAttrs),
    Unary(Unary),
    LeakyRelu(f32),
    GeluExact,
    GeluApproximate,
}

impl FusedOp {
    fn new(attrs: &Attributes<'_>, name: &str, format: ImageFormat) -> Result<FusedOp, TensorError> {
        Ok(match name {
            "BiasAdd" => FusedOp::Bias(format),
            "Add" => FusedOp::Add,
            "FusedBatchNorm" => {
                let epsilon = attrs.float("epsilon")? as f32;
                FusedOp::Norm(BatchNormAttrs { epsilon, format, ..BatchNormAttrs::default() })
            }
            "Relu" => FusedOp::Unary(Unary::Relu),
            "Relu6" => FusedOp::Unary(Unary::Relu6),
            "Elu" => FusedOp::Unary(Unary::Elu),
            "Tanh" => FusedOp::Unary(Unary::Tanh),
            "Sigmoid" => FusedOp::Unary(Unary::Sigmoid),
            "LeakyRelu" => FusedOp::LeakyRelu(attrs.float("leakyrelu_alpha")? as f32),
            "GeluExact" => FusedOp::GeluExact,
            "GeluApproximate" => FusedOp::GeluApproximate,
            _ => return invalid(attrs.op(), format!("`fused_ops` has an unknown \"{name}\"")),
        })
    }

    fn n_args(self) -> usize {
        match self {
            FusedOp::Bias(_) | FusedOp::Add => 1,
            FusedOp::Norm(_) => 4,
            FusedOp::Unary(_) | FusedOp::LeakyRelu(_) | FusedOp::GeluExact | FusedOp::GeluApproximate => 0,
        }
    }

    /// The function of f32, if the step is one of each element.
    fn function(self) -> Option<Function> {
        match self {
            FusedOp::Unary(op) => fast::function_of(op),
            FusedOp::LeakyRelu(alpha) => Some(Function::LeakyRelu(alpha)),
            FusedOp::GeluExact => Some(Function::Gelu),
            FusedOp::GeluApproximate => Some(Function::GeluTanh),
            FusedOp::Bias(_) | FusedOp::Add | FusedOp::Norm(_) => None,
        }
    }

    /// Applies the step; `args` has [`FusedOp::n_args`] elements.
    fn apply(self, x: HostTensor, args: &[HostTensor], cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
        match (self, args) {
            (FusedOp::Bias(format), [bias]) => fast::bias_add(x, bias, format, cx),
            (FusedOp::Add, [other]) => fast::binary(Binary::Add, x, other.clone(), cx),
            (FusedOp::Norm(attrs), [scale, offset, mean, variance]) => {
                fast::batch_norm(x, &BatchNorm { scale, offset, mean, variance }, &attrs, cx)
            }
            (FusedOp::Unary(op), []) => fast::unary(op, x, cx),
            (FusedOp::LeakyRelu(alpha), []) => fast::leaky_relu(x, alpha, cx),
            (FusedOp::GeluExact, []) if x.dtype() == DType::F32 => fast::map(Function::Gelu, x, cx),
            (FusedOp::GeluApproximate, []) if x.dtype() == DType::F32 => fast::map(Function::GeluTanh, x, cx),
            (FusedOp::GeluExact, []) => real_map("GeluExact", &x, cx.allocator, |x| {
                0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2))
            }),
            (FusedOp::GeluApproximate, []) => real_map("GeluApproximate", &x, cx.allocator, |x| {
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
                0.5 * x * (1.0 + inner.tanh())
            }),
            (_, args) => Err(TensorError::Count { want: self.n_args(), got: args.len() }),
        }
    }
}

/// The steps as an epilogue that a product applies while a tile is in the cache: an optional bias, an
/// optional addend of the result's shape, an optional function. `None` if they are others.
fn epilogue<'a>(steps: &[FusedOp], args: &'a [HostTensor]) -> Option<After<'a>> {
    let (mut after, mut steps, mut args) = (After::default(), steps, args.iter());
    if let [FusedOp::Bias(_), rest @ ..] = steps {
        (after.bias, steps) = (Some(args.next()?), rest);
    }
    if let [FusedOp::Add, rest @ ..] = steps {
        (after.residual, steps) = (Some(args.next()?), rest);
    }
    match steps {
        [] => {}
        [step] => after.function = step.function()?,
        _ => return None,
    }
    Some(after)
}

/// A product with its steps, by `at_once` where that can, else one after another. An addend that broadcasts
/// is a step of its own.
fn fused(
    attrs: &Attributes<'_>,
    format: ImageFormat,
    product: impl Fn(&HostTensor, &HostTensor, &Cx<'_>) -> Result<HostTensor, TensorError> + Send + Sync + 'static,
    at_once: impl Fn(&HostTensor, &HostTensor, &After<'_>, &Cx<'_>) -> Result<Option<HostTensor>, TensorError>
    + Send
    + Sync
    + 'static,
) -> Made {
    let op = attrs.op();
    let names = attrs.strings("fused_ops")?;
    let steps = names.iter().map(|name| FusedOp::new(attrs, name, format)).collect::<Result<Vec<_>, _>>()?;
    let n_args: usize = steps.iter().map(|step| step.n_args()).sum();
    owning_many(attrs, 2, move |inputs, cx| {
        let [x, by, args @ ..] = &inputs[..] else { return invalid(op, "fewer than 2 operands".to_owned()) };
        if args.len() != n_args {
            return invalid(op, format!("{} operands for {names:?}, expected {n_args}", args.len()));
        }
        if let Some(after) = epilogue(&steps, args)
            && let Some(out) = at_once(x, by, &after, cx)?
        {
            return Ok(out);
        }
        let mut rest = args;
        steps.iter().try_fold(product(x, by, cx)?, |x, step| {
            let (args, after) = rest.split_at(step.n_args()); // in bounds: `args` has the sum of all `n_args`
            rest = after;
            step.apply(x, args, cx)
        })
    })
}
