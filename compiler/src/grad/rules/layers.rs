//! Convolutions, poolings, normalizations and losses. Most have operators for their gradients.

use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::AvgPool => Rule(|g| g.dx(0, g.same(Op::AvgPoolGrad, &[g.x(0).shape(), g.d()]))),
        Op::AvgPoolGrad => Rule(|g| g.dx(1, g.same(Op::AvgPool, &[g.d()]))),
        Op::AvgPool3D => Rule(|g| g.dx(0, g.same(Op::AvgPool3DGrad, &[g.x(0).shape(), g.d()]))),
        Op::AvgPool3DGrad => Rule(|g| g.dx(1, g.same(Op::AvgPool3D, &[g.d()]))),
        Op::MaxPool => Rule(|g| g.dx(0, g.same(Op::MaxPoolGrad, &[g.x(0), g.y(0), g.d()]))),
        Op::MaxPoolGrad => Rule(|g| max_pool_again(g, g.ints("ksize"), g.ints("strides"))),
        Op::MaxPoolGradV2 => {
            Rule(|g| g.dx(2, g.same(Op::MaxPoolGradGradV2, &[g.x(0), g.x(1), g.d(), g.x(3), g.x(4)])))
        }
        Op::MaxPoolGradGradV2 => {
            Rule(|g| g.dx(2, g.same(Op::MaxPoolGradV2, &[g.x(0), g.x(1), g.d(), g.x(3), g.x(4)])))
        }
        Op::MaxPool3DGrad => Rule(|g| g.dx(2, g.same(Op::MaxPool3DGradGrad, &[g.x(0), g.x(1), g.d()]))),
        Op::MaxPool3DGradGrad => Rule(|g| g.dx(2, g.same(Op::MaxPool3DGrad, &[g.x(0), g.x(1), g.d()]))),
        Op::Dilation2D => Rule(|g| {
            let operands = [g.x(0), g.x(1), g.d()];
            if g.wants(0) {
                g.dx(0, g.same(Op::Dilation2DBackpropInput, &operands));
            }
            if g.wants(1) {
                g.dx(1, g.same(Op::Dilation2DBackpropFilter, &operands));
            }
        }),
        Op::MaxPoolGradGrad => Rule(|g| g.dx(2, g.same(Op::MaxPoolGrad, &[g.x(0), g.x(1), g.d()]))),
        Op::MaxPoolV2 => {
            Rule(|g| g.dx(0, g.same(Op::MaxPoolGradV2, &[g.x(0), g.y(0), g.d(), g.x(1), g.x(2)])))
        }
        Op::MaxPool3D => Rule(|g| g.dx(0, g.same(Op::MaxPool3DGrad, &[g.x(0), g.y(0), g.d()]))),

        // The operator has computed the gradient of each loss by the logits already.
        Op::CTCLoss | Op::CTCLossV2 => Rule(|g| {
            let message = [("message", At::Str("there is no second derivative of CTCLoss"))];
            let by_logits = g.op(Op::PreventGradient, &[g.y(1)], &message);
            g.dx(0, g.d().expand(0).expand(-1) * by_logits);
        }),

        Op::BiasAdd => Rule(|g| {
            g.dx(0, g.d());
            if g.wants(1) {
                g.dx(1, g.same(Op::BiasAddGrad, &[g.d()]));
            }
        }),
        Op::BiasAddV1 => Rule(|g| {
            g.dx(0, g.d());
            if g.wants(1) {
                g.dx(1, g.op(Op::BiasAddGrad, &[g.d()], &[]));
            }
        }),
        Op::BiasAddGrad => Rule(|g| {
            let (x, d) = (g.x(0), g.d());
            let is_nchw = g.text("data_format").is_some_and(|format| format == "NCHW");
            let d = match (is_nchw, x.rank()) {
                (false, _) => d,
                (true, Some(rank)) => (2..rank).fold(d, |d, _| d.expand(-1)),
                (true, None) => return g.refuse("the number of axes is not known"),
            };
            g.dx(0, d.broadcast_like(x));
        }),

        Op::Conv2D => Rule(|g| convolution(g, Op::Conv2DBackpropInput, Op::Conv2DBackpropFilter)),
        Op::DepthwiseConv2dNative => Rule(|g| {
            convolution(g, Op::DepthwiseConv2dNativeBackpropInput, Op::DepthwiseConv2dNativeBackpropFilter);
        }),
        Op::Conv3D => Rule(|g| convolution(g, Op::Conv3DBackpropInputV2, Op::Conv3DBackpropFilterV2)),
        Op::Conv2DBackpropInput => Rule(|g| by_input(g, Op::Conv2D, Op::Conv2DBackpropFilter)),
        Op::DepthwiseConv2dNativeBackpropInput => {
            Rule(|g| by_input(g, Op::DepthwiseConv2dNative, Op::DepthwiseConv2dNativeBackpropFilter))
        }
        Op::Conv3DBackpropInputV2 => Rule(|g| by_input(g, Op::Conv3D, Op::Conv3DBackpropFilterV2)),
        Op::Conv2DBackpropFilter => Rule(|g| by_filter(g, Op::Conv2D, Op::Conv2DBackpropInput)),
        Op::DepthwiseConv2dNativeBackpropFilter => {
            Rule(|g| by_filter(g, Op::DepthwiseConv2dNative, Op::DepthwiseConv2dNativeBackpropInput))
        }
        Op::Conv3DBackpropFilterV2 => Rule(|g| by_filter(g, Op::Conv3D, Op::Conv3DBackpropInputV2)),

        Op::FusedBatchNorm => Rule(|g| batch_norm(g, Op::FusedBatchNormGrad, 2)),
        Op::FusedBatchNormV2 => Rule(|g| batch_norm(g, Op::FusedBatchNormGradV2, 2)),
        Op::FusedBatchNormV3 => Rule(|g| batch_norm(g, Op::FusedBatchNormGradV3, 3)),
        Op::LRN => Rule(|g| g.dx(0, g.same(Op::LRNGrad, &[g.d(), g.x(0), g.y(0)]))),

        Op::_LayerNorm => Rule(|g| first_three(g, Op::_LayerNormGrad, &[g.d(), g.x(0), g.x(1)])),

        Op::Softmax => Rule(|g| {
            let (d, y) = (g.d(), g.y(0));
            g.dx(0, (d - (d * y).sum_last()) * y);
        }),
        Op::LogSoftmax => Rule(|g| {
            let d = g.d();
            g.dx(0, d - d.sum_last() * g.y(0).un(Op::Exp));
        }),
        Op::SoftmaxCrossEntropyWithLogits => Rule(|g| {
            if g.wants(0) {
                g.dx_sum(0, entropy(g));
            }
            if g.wants(1) {
                let of_loss = g.dy(0).map(|d| d.expand(-1) * -g.x(0).un(Op::LogSoftmax));
                let of_gradient = g.dy(1).map(|d| -d);
                if let Some(d) = sum(of_loss, of_gradient) {
                    g.dx_sum(1, d);
                }
            }
        }),
        Op::SparseSoftmaxCrossEntropyWithLogits => Rule(|g| {
            if g.wants(0) {
                g.dx(0, entropy(g));
            }
        }),

        Op::FakeQuantWithMinMaxArgs => {
            Rule(|g| g.dx(0, g.same(Op::FakeQuantWithMinMaxArgsGradient, &[g.d(), g.x(0)])))
        }
        Op::FakeQuantWithMinMaxVars => Rule(|g| quantized(g, Op::FakeQuantWithMinMaxVarsGradient)),
        Op::FakeQuantWithMinMaxVarsPerChannel => {
            Rule(|g| quantized(g, Op::FakeQuantWithMinMaxVarsPerChannelGradient))
        }
        Op::QuantizeAndDequantizeV2 | Op::QuantizeAndDequantizeV3 => Rule(|g| g.dx(0, g.d())),
        Op::QuantizeAndDequantizeV4 => Rule(|g| quantized(g, Op::QuantizeAndDequantizeV4Grad)),
        // Linear in the gradient; what is inside of a range does not change with the numbers.
        Op::QuantizeAndDequantizeV4Grad => Rule(|g| {
            let op = Op::QuantizeAndDequantizeV4Grad;
            let made = g.ops(op, &[g.d(), g.x(1), g.x(2), g.x(3)], &g.common(op, &[]), 3);
            g.dx(0, made[0]);
        }),
        _ => return None,
    })
}

/// The gradient of `MaxPool`'s gradient: the places of the maxima are constants.
fn max_pool_again(g: &Vjp<'_, '_>, ksize: Vec<i64>, strides: Vec<i64>) {
    if !g.ints("explicit_paddings").is_empty() {
        return g.refuse("there is no second gradient with explicit paddings");
    }
    g.dx(0, g.x(0).zeros());
    g.dx(1, g.x(1).zeros());
    if g.wants(2) {
        let attrs = [("ksize", At::Ints(&ksize)), ("strides", At::Ints(&strides))];
        g.dx(2, g.same_but(Op::MaxPoolGradGrad, &[g.x(0), g.x(1), g.d()], &attrs));
    }
}

fn convolution(g: &Vjp<'_, '_>, by_input: Op, by_filter: Op) {
    let (x, filter) = (g.x(0), g.x(1));
    if g.wants(0) {
        g.dx(0, g.same(by_input, &[x.shape(), filter, g.d()]));
    }
    if g.wants(1) {
        g.dx(1, g.same(by_filter, &[x, filter.shape(), g.d()]));
    }
}

/// The gradient of a transposed convolution: operands are sizes, filter and gradient.
fn by_input(g: &Vjp<'_, '_>, forward: Op, by_filter: Op) {
    let (filter, dy) = (g.x(1), g.x(2));
    if g.wants(1) {
        g.dx(1, g.same(by_filter, &[g.d(), filter.shape(), dy]));
    }
    if g.wants(2) {
        g.dx(2, g.same(forward, &[g.d(), filter]));
    }
}

/// The gradient of the filters' gradient: operands are images, sizes and gradient.
fn by_filter(g: &Vjp<'_, '_>, forward: Op, by_input: Op) {
    let (x, dy) = (g.x(0), g.x(2));
    if g.wants(0) {
        g.dx(0, g.same(by_input, &[x.shape(), g.d(), dy]));
    }
    if g.wants(2) {
        g.dx(2, g.same(forward, &[x, g.d()]));
    }
}

/// The gradient of a batch normalization, whose op is `op` and takes `n_reserved` results. In training the
/// moments are the op's results; in inference they are operands, and constants. Gradients of the resulting
/// moments are ignored, as in TensorFlow.
fn batch_norm(g: &Vjp<'_, '_>, op: Op, n_reserved: usize) {
    let Some(d) = g.dy(0) else { return };
    let is_training = !matches!(g.bool("is_training"), Some(false));
    let mut operands = vec![d, g.x(0), g.x(1)];
    if is_training {
        operands.extend((0..n_reserved).map(|i| g.y(3 + i)));
    } else {
        operands.extend([g.x(3), g.x(4)]);
        operands.extend((n_reserved == 3).then(|| g.y(5)));
    }
    first_three(g, op, &operands);
}

/// The gradients of the first three operands, which are the results of an op.
fn first_three(g: &Vjp<'_, '_>, op: Op, operands: &[Val<'_>]) {
    let made = g.ops(op, operands, &g.common(op, &[]), 3);
    made.into_iter().enumerate().for_each(|(i, d)| g.dx(i, d));
}

fn sum<'g>(a: Option<Val<'g>>, b: Option<Val<'g>>) -> Option<Val<'g>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// The gradient of a cross entropy by the logits. The op's second result is the loss's gradient, and may have
/// a gradient itself.
fn entropy<'g>(g: &'g Vjp<'_, '_>) -> Val<'g> {
    let of_loss = g.dy(0).map(|d| d.expand(-1) * g.y(1));
    let of_gradient = g.dy(1).map(|d| {
        let softmax = g.x(0).un(Op::Softmax);
        (d - (d * softmax).sum_last()) * softmax
    });
    sum(of_loss, of_gradient).unwrap_or_else(|| g.y(1).zeros())
}

fn quantized(g: &Vjp<'_, '_>, op: Op) {
    first_three(g, op, &[g.d(), g.x(0), g.x(1), g.x(2)]);
}
