//! Grappler's fusions: a product or convolution, and what is done with its result, composed of the operators that they stand for.
//!
//! ```text
//! fused_ops = ["BiasAdd", "Add", "Relu"]      args = [bias, addend]: each step takes the operands that it needs, in order
//! ```

use std::sync::Arc;

use super::layers::{conv, transposed};
use super::{Attributes, Eval, Row, of_many};
use crate::error::invalid;
use crate::mem::Allocator;
use crate::tf::unary::real_map;
use crate::tf::{
    BatchNorm, BatchNormAttrs, Binary, Format, Unary, batch_norm, bias_add, binary, conv2d, depthwise_conv2d,
    leaky_relu, matmul, unary,
};
use crate::{HostTensor, TensorError};

pub(super) const OPS: &[Row] = &[
    (&["_FusedMatMul"], |attrs| {
        let (left, right) = (transposed(attrs, "transpose_a")?, transposed(attrs, "transpose_b")?);
        fused(attrs, Format::Nhwc, move |a, b, m| matmul(a, left, b, right, m))
    }),
    (&["_FusedConv2D"], |attrs| {
        let conv = conv(attrs)?;
        attrs.word("filter_format", &[("HWIO", ())])?;
        if attrs.count("num_host_args")? > 0 {
            return invalid("_FusedConv2D", "`host_args` are not supported".to_owned());
        }
        fused(attrs, conv.format, move |x, filter, m| conv2d(x, filter, &conv, m))
    }),
    (&["_FusedDepthwiseConv2dNative"], |attrs| {
        let conv = conv(attrs)?;
        fused(attrs, conv.format, move |x, filter, m| depthwise_conv2d(x, filter, &conv, m))
    }),
];

/// What is done with the result.
#[derive(Clone, Copy)]
enum Step {
    Bias(Format),
    Add,
    Norm(BatchNormAttrs),
    Unary(Unary),
    LeakyRelu(f32),
    GeluExact,
    GeluApproximate,
}

impl Step {
    fn new(attrs: &Attributes<'_>, name: &str, format: Format) -> Result<Step, TensorError> {
        Ok(match name {
            "BiasAdd" => Step::Bias(format),
            "Add" => Step::Add,
            "FusedBatchNorm" => {
                let epsilon = attrs.float("epsilon")? as f32;
                Step::Norm(BatchNormAttrs { epsilon, format, ..BatchNormAttrs::default() })
            }
            "Relu" => Step::Unary(Unary::Relu),
            "Relu6" => Step::Unary(Unary::Relu6),
            "Elu" => Step::Unary(Unary::Elu),
            "Tanh" => Step::Unary(Unary::Tanh),
            "Sigmoid" => Step::Unary(Unary::Sigmoid),
            "LeakyRelu" => Step::LeakyRelu(attrs.float("leakyrelu_alpha")? as f32),
            "GeluExact" => Step::GeluExact,
            "GeluApproximate" => Step::GeluApproximate,
            _ => return invalid(attrs.op(), format!("`fused_ops` has an unknown \"{name}\"")),
        })
    }

    fn n_args(self) -> usize {
        match self {
            Step::Bias(_) | Step::Add => 1,
            Step::Norm(_) => 4,
            Step::Unary(_) | Step::LeakyRelu(_) | Step::GeluExact | Step::GeluApproximate => 0,
        }
    }

    /// The arguments are as many as [`Step::n_args`] says.
    fn apply(
        self,
        x: &HostTensor,
        args: &[&HostTensor],
        m: &Arc<dyn Allocator>,
    ) -> Result<HostTensor, TensorError> {
        match (self, args) {
            (Step::Bias(format), [bias]) => bias_add(x, bias, format, m),
            (Step::Add, [other]) => binary(Binary::Add, x, other, m),
            (Step::Norm(attrs), &[scale, offset, mean, variance]) => {
                batch_norm(x, &BatchNorm { scale, offset, mean, variance }, &attrs, m)
            }
            (Step::Unary(op), []) => unary(op, x, m),
            (Step::LeakyRelu(alpha), []) => leaky_relu(x, alpha, m),
            (Step::GeluExact, []) => real_map("GeluExact", x, m, |x| {
                0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2))
            }),
            (Step::GeluApproximate, []) => real_map("GeluApproximate", x, m, |x| {
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
                0.5 * x * (1.0 + inner.tanh())
            }),
            (_, args) => Err(TensorError::Count { want: self.n_args(), got: args.len() }),
        }
    }
}

fn fused(
    attrs: &Attributes<'_>,
    format: Format,
    product: impl Fn(&HostTensor, &HostTensor, &Arc<dyn Allocator>) -> Result<HostTensor, TensorError>
    + Send
    + Sync
    + 'static,
) -> Result<Eval, TensorError> {
    let op = attrs.op();
    let names = attrs.strings("fused_ops")?;
    let steps = names.iter().map(|name| Step::new(attrs, name, format)).collect::<Result<Vec<_>, _>>()?;
    let n_args: usize = steps.iter().map(|step| step.n_args()).sum();
    of_many(attrs, 2, move |inputs, m| {
        let &[x, by, ref args @ ..] = inputs else { return invalid(op, "fewer than 2 operands".to_owned()) };
        if args.len() != n_args {
            return invalid(op, format!("{} operands for {names:?}, expected {n_args}", args.len()));
        }
        let mut rest = args;
        steps.iter().try_fold(product(x, by, m)?, |x, step| {
            let (args, after) = rest.split_at(step.n_args()); // their sum was checked
            rest = after;
            step.apply(&x, args, m)
        })
    })
}
