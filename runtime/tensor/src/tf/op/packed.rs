//! Operators that only our compiler writes: what it has packed or fused (`crate::tf::fused`).
//!
//! ```text
//! _PackedConv2D(x, weights, bias, addend) {filter_shape = [3, 3, 64, 64], fused_ops = ["BiasAdd", "Add", "Relu"], ...}
//! _FusedElementwise(a, b) {ops = ["Mul", "Tanh"], values = [0, 1, 2], numbers = []}        tanh(a * b)
//! _LayerNorm(x, scale, offset)        _Gelu(x)
//! ```
//!
//! `weights` are the bytes of a [`Weights`]. In `values` each step has its one or two: from 0 on the operands, behind them the steps, and from -1 down
//! the `numbers`.

use super::layers::conv;
use super::{Attributes, OwnedEval, Row, owning, owning_many};
use crate::error::invalid;
use crate::simd::Function;
use crate::tf::fast::Cx;
use crate::tf::fused::{self, After, Program, Step, Value, Weights};
use crate::{HostTensor, TensorError};

pub(super) const OPS: &[Row] = &[
    (&["_PackedMatMul"], |attrs| packed(attrs, "shape", fused::matmul)),
    (&["_PackedConv2D"], |attrs| {
        let conv = conv(attrs)?;
        packed(attrs, "filter_shape", move |x, weights, after, cx| {
            fused::conv2d(x, weights, &conv, after, cx)
        })
    }),
    (&["_PackedDepthwiseConv2dNative"], |attrs| {
        let conv = conv(attrs)?;
        packed(attrs, "filter_shape", move |x, weights, after, cx| {
            fused::depthwise_conv2d(x, weights, &conv, after, cx)
        })
    }),
    (&["_FusedElementwise"], |attrs| {
        let program = program(attrs)?;
        owning_many(attrs, 0, move |operands, cx| program.run(operands.into_vec(), cx))
    }),
    (&["_LayerNorm"], |attrs| {
        let epsilon = attrs.float("epsilon")? as f32;
        owning(attrs, move |[x, scale, offset], cx| fused::layer_norm(x, &scale, &offset, epsilon, cx))
    }),
    (&["_Gelu"], |attrs| {
        let function = if attrs.bool("approximate")? { Function::GeluTanh } else { Function::Gelu };
        owning(attrs, move |[x], cx| crate::tf::fast::map(function, x, cx))
    }),
];

/// What `fused_ops` says is done with a product: a bias or none, an addend or none, a function.
struct Epilogue {
    has_bias: bool,
    has_residual: bool,
    function: Function,
}

impl Epilogue {
    fn new(attrs: &Attributes<'_>) -> Result<Epilogue, TensorError> {
        let names = attrs.strings("fused_ops")?;
        let mut rest = &names[..];
        let mut take = |name: &str| match rest.split_first() {
            Some((first, others)) if first == name => {
                rest = others;
                true
            }
            _ => false,
        };
        let (has_bias, has_residual) = (take("BiasAdd"), take("Add"));
        let function = match rest {
            [] => Some(Function::Identity),
            [name] if name == "LeakyRelu" => {
                Some(Function::LeakyRelu(attrs.float("leakyrelu_alpha")? as f32))
            }
            [name] => fused::function(name),
            _ => None,
        };
        match function {
            Some(function) => Ok(Epilogue { has_bias, has_residual, function }),
            None => invalid(attrs.op(), format!("`fused_ops` is {names:?}")),
        }
    }
}

/// A product with packed weights, of the dimensions that the attribute `shape` has.
fn packed(
    attrs: &Attributes<'_>,
    shape: &str,
    product: impl Fn(&HostTensor, &Weights, &After<'_>, &Cx<'_>) -> Result<HostTensor, TensorError>
    + Send
    + Sync
    + 'static,
) -> Result<OwnedEval, TensorError> {
    let op = attrs.op();
    let epilogue = Epilogue::new(attrs)?;
    let dims = attrs.ints(shape)?;
    let n_args = usize::from(epilogue.has_bias) + usize::from(epilogue.has_residual);
    owning_many(attrs, 2, move |operands, cx| {
        let [x, weights, args @ ..] = &operands[..] else {
            return invalid(op, "fewer than 2 operands".to_owned());
        };
        if args.len() != n_args {
            return invalid(op, format!("{} operands behind the weights, expected {n_args}", args.len()));
        }
        let weights = Weights::from_tensor(weights.clone())?;
        let found = weights.dims();
        let found = found.iter().skip(found.len().saturating_sub(dims.len()));
        if !found.clone().map(|&dim| i64::try_from(dim).ok()).eq(dims.iter().map(|&dim| Some(dim))) {
            return invalid(op, format!("weights of shape {:?}, expected {dims:?}", weights.dims()));
        }
        let mut args = args.iter();
        let after = After {
            scale: None,
            bias: if epilogue.has_bias { args.next() } else { None },
            residual: args.next(),
            function: epilogue.function,
        };
        product(x, &weights, &after, cx)
    })
}

fn program(attrs: &Attributes<'_>) -> Result<Program, TensorError> {
    let op = attrs.op();
    let (n, names, numbers) = (attrs.count("num_args")?, attrs.strings("ops")?, attrs.floats("numbers")?);
    let mut values = attrs.ints("values")?.into_iter();
    let mut next = || {
        let value = values.next()?;
        let Ok(at) = usize::try_from(value) else {
            let number = usize::try_from(value.checked_add(1)?.checked_neg()?).ok()?;
            return numbers.get(number).map(|&number| Value::Number(number as f32));
        };
        Some(if at < n { Value::Operand(at) } else { Value::Step(at - n) })
    };
    let mut step = |name: &str| {
        if let Some(function) = fused::function(name) {
            return Some(Step::Map(function, next()?));
        }
        Some(Step::Arithmetic(fused::arithmetic(name)?, next()?, next()?))
    };
    let steps: Option<Vec<Step>> = names.iter().map(|name| step(name)).collect();
    match steps {
        Some(steps) if values.next().is_none() => Program::new(n, steps),
        _ => invalid(op, format!("`values` and `numbers` are not those of {names:?}")),
    }
}
