//! Fused operators expanded into plain ones, which are then differentiated.

use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Expands};
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::_UnaryOpsComposition => Expands(|g| {
            let mut value = g.x(0);
            for name in g.texts("op_names") {
                let Some(row) = befrost_tensor::tf::op::row(&name) else {
                    g.refuse("it names no operator");
                    return vec![value];
                };
                let Some(op) = row.op else { continue };
                value = value.un(op);
            }
            vec![value]
        }),
        Op::_FusedMatMul => Expands(|g| vec![behind(g, g.same(Op::MatMul, &[g.x(0), g.x(1)]), 2)]),
        Op::_FusedConv2D => Expands(|g| vec![behind(g, g.same(Op::Conv2D, &[g.x(0), g.x(1)]), 2)]),
        Op::_FusedDepthwiseConv2dNative => {
            Expands(|g| vec![behind(g, g.same(Op::DepthwiseConv2dNative, &[g.x(0), g.x(1)]), 2)])
        }
        Op::_FusedBatchNormEx => Expands(|g| {
            let operands: Vec<Val<'_>> = (0..5).map(|i| g.x(i)).collect();
            let attrs = g.common(Op::FusedBatchNormV3, &[]);
            let mut made = g.ops(Op::FusedBatchNormV3, &operands, &attrs, 6);
            let with_side = if g.n_x() > 5 { made[0] + g.x(5) } else { made[0] };
            made[0] = activated(g, with_side, &g.text("activation_mode").unwrap_or_default());
            made
        }),
        Op::BatchNormWithGlobalNormalization => Expands(|g| {
            let factor = (g.x(2) + g.float("variance_epsilon").unwrap_or(0.0)).un(Op::Rsqrt);
            let factor = if g.flag("scale_after_normalization") { factor * g.x(4) } else { factor };
            vec![(g.x(0) - g.x(1)) * factor + g.x(3)]
        }),
        Op::FusedPadConv2D => Expands(|g| vec![padded_conv(g, g.x(0), 1)]),
        Op::FusedResizeAndPadConv2D => Expands(|g| {
            let corners = [("align_corners", At::Of("resize_align_corners"))];
            let resized = g.op(Op::ResizeBilinear, &[g.x(0), g.x(1)], &corners);
            vec![padded_conv(g, resized.cast_like(g.x(0)), 2)]
        }),
        Op::_GeluTanhSlope => Expands(|g| {
            let (x, square, factor) = (g.x(0), g.x(0).un(Op::Square), (2.0 / std::f64::consts::PI).sqrt());
            let t = ((x + square * x * 0.044_715) * factor).un(Op::Tanh);
            let slope = (square * 0.134_145 + 1.0) * (1.0 - t.un(Op::Square));
            vec![(t + 1.0 + x * factor * slope) * 0.5]
        }),
        Op::_LayerNormGrad => Expands(layer_norm_gradient),
        Op::_FusedAttention => Expands(|g| {
            let heads_inside = g.flag("heads_inside");
            let turn = |x: Val<'_>| {
                let x = g.x(0).with(x.id);
                if heads_inside { x.transpose(g.ints_value(&[0, 2, 1, 3])) } else { x }
            };
            let (q, k, v) = (turn(g.x(0)), turn(g.x(1)), turn(g.x(2)));
            let scores = q.matmul(k, false, true) * g.float("scale").unwrap_or(1.0);
            let scores = if g.n_x() > 3 { scores + g.x(3) } else { scores };
            vec![turn(scores.un(Op::Softmax).matmul(v, false, false))]
        }),
        Op::FusedBatchNormGrad | Op::FusedBatchNormGradV2 | Op::FusedBatchNormGradV3 => {
            Expands(batch_norm_gradient)
        }
        _ => return None,
    })
}

/// A product followed by its fused operators, whose operands begin at `next`.
fn behind<'g>(g: &'g Vjp<'_, '_>, product: Val<'g>, mut next: usize) -> Val<'g> {
    let mut value = product;
    for name in g.texts("fused_ops") {
        match name.as_str() {
            "BiasAdd" => {
                value = g.same(Op::BiasAdd, &[value, g.x(next)]);
                next += 1;
            }
            "Add" => {
                value = value + g.x(next);
                next += 1;
            }
            "FusedBatchNorm" => {
                let operands = [value, g.x(next), g.x(next + 1), g.x(next + 2), g.x(next + 3)];
                let attrs = g.common(Op::FusedBatchNormV3, &[("is_training", At::Bool(false))]);
                value = g.ops(Op::FusedBatchNormV3, &operands, &attrs, 1)[0];
                next += 4;
            }
            "LeakyRelu" => {
                let alpha = [("alpha", At::Of("leakyrelu_alpha"))];
                value = g.op(Op::LeakyRelu, &[value], &alpha);
            }
            name => value = activated(g, value, name),
        }
    }
    value
}

fn activated<'g>(g: &'g Vjp<'_, '_>, value: Val<'g>, name: &str) -> Val<'g> {
    let op = match name {
        "" | "Identity" => return value,
        "Relu" => Op::Relu,
        "Relu6" => Op::Relu6,
        "Elu" => Op::Elu,
        "Tanh" => Op::Tanh,
        "Sigmoid" => Op::Sigmoid,
        "GeluExact" => return g.op(Op::_Gelu, &[value], &[]),
        "GeluApproximate" => return g.op(Op::_Gelu, &[value], &[("approximate", At::Bool(true))]),
        _ => {
            g.refuse("it has a fused operator that is not known");
            return value;
        }
    };
    value.un(op)
}

/// The convolution of `x`, padded by operand `i`, with the filters of the next one.
fn padded_conv<'g>(g: &'g Vjp<'_, '_>, x: Val<'g>, i: usize) -> Val<'g> {
    let padded = g.op(Op::MirrorPad, &[x, g.x(i)], &[("mode", At::Of("mode"))]);
    let attrs = [("padding", At::Of("padding")), ("strides", At::Of("strides"))];
    g.op(Op::Conv2D, &[padded, g.x(i + 1)], &attrs)
}

/// The gradient of a layer norm in plain operators.
fn layer_norm_gradient<'g>(g: &'g Vjp<'_, '_>) -> Vec<Val<'g>> {
    let (d, x, scale) = (g.x(0), g.x(1), g.x(2));
    let Some(rank) = x.rank().or(d.rank()) else {
        g.refuse("the number of axes is not known");
        return vec![d, scale, scale];
    };
    let mean = |v: Val<'_>| g.x(1).with(v.id).sum_last() / x.size(-1).cast_like(x);
    let centered = x - mean(x);
    let inverse = (mean(centered.un(Op::Square)) + g.float("epsilon").unwrap_or(0.0)).un(Op::Rsqrt);
    let (normal, scaled) = (centered * inverse, d * scale);
    let rows: Vec<i64> = (0..rank as i64 - 1).collect();
    let rows = g.ints_value(&rows);
    let of_x = (scaled - mean(scaled) - normal * mean(scaled * normal)) * inverse;
    vec![of_x, (d * normal).sum(rows, false), d.sum(rows, false)]
}

/// The gradient of a batch normalization in plain operators, so that it can be differentiated again.
fn batch_norm_gradient<'g>(g: &'g Vjp<'_, '_>) -> Vec<Val<'g>> {
    let is_nchw = g.text("data_format").is_some_and(|format| format == "NCHW");
    let scale = g.x(2);
    let f = scale.dtype();
    let (d, x) = (g.x(0).cast(f), g.x(1).cast(f));
    let Some(rank) = x.rank().or(d.rank()) else {
        g.refuse("the number of axes is not known");
        return vec![d; 5];
    };
    let channel = if is_nchw { 1 } else { rank - 1 };
    let axes: Vec<i64> = (0..rank as i64).filter(|&axis| axis != channel as i64).collect();
    let axes = g.ints_value(&axes);
    let beside = |v: Val<'_>| (channel + 1..rank).fold(g.x(2).with(v.id), |v, _| v.expand(-1));
    let n = axes.known_ints().unwrap_or_default().iter().fold(x.int(1), |n, &axis| n * x.size(axis)).cast(f);
    let epsilon = g.float("epsilon").unwrap_or(1e-4);
    let sums = |v: Val<'_>| g.x(2).with(v.id).sum(axes, false);
    let is_training = !matches!(g.bool("is_training"), Some(false));
    let (mean, variance) = if is_training {
        let mean = sums(x) / n;
        (mean, sums((x - beside(mean)).un(Op::Square)) / n)
    } else {
        (g.x(3), g.x(4))
    };
    let (centered, inverse) = (x - beside(mean), (variance + epsilon).un(Op::Rsqrt));
    let of_offset = sums(d);
    let of_scale = sums(d * centered) * inverse;
    let slope = beside(scale * inverse);
    let of_x = if is_training {
        let linear = centered * beside(inverse * of_scale / n);
        slope * (d - beside(of_offset / n) - linear)
    } else {
        slope * d
    };
    let none = [g.y(3), g.y(4)].map(Val::zeros);
    vec![of_x.cast_like(g.x(1)), of_scale, of_offset, none[0], none[1]]
}
