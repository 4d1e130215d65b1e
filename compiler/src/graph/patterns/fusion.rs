//! What one kernel does at once.
//!
//! ```text
//! Conv2D|MatMul ─▶ BiasAdd (or Add of a vector) ─▶ Add of a tensor of the same shape ─▶ Relu|Relu6|Elu|Tanh|Sigmoid|LeakyRelu
//!        _FusedConv2D|_FusedMatMul (x, w, bias, residual) {fused_ops = ["BiasAdd", "Add", "Relu"]}
//!
//! Conv2D(x, w) ─▶ FusedBatchNormV3 of constants        Conv2D(x, w*scale) ─▶ BiasAdd
//! ```

use super::constant::patterns;
use super::{
    apply, attrs, constant, dims, dtype, flag, is_used_once, made_by, make, name, same_type, scalar, ty,
};
use crate::ir::{AttrId, AttrKind, Module, OpId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};
use befrost_tensor::DType;

/// The rewrites of an operator.
pub(super) fn of(name: &str) -> &'static [Pattern] {
    match name {
        "BiasAdd" | "BiasAddV1" => patterns! { "tf-fuse-bias" 8 fuse_bias; },
        "Add" | "AddV2" => patterns! {
            "tf-fuse-bias" 8 fuse_bias;
            "tf-fuse-residual" 7 fuse_residual;
        },
        "Relu" | "Relu6" | "Elu" | "Tanh" | "Sigmoid" | "LeakyRelu" => {
            patterns! { "tf-fuse-activation" 8 fuse_activation; }
        }
        "FusedBatchNorm" | "FusedBatchNormV2" | "FusedBatchNormV3" => {
            patterns! { "tf-fold-batch-norm" 8 fold_batch_norm; }
        }
        _ => &[],
    }
}

/// What an activation is called in `fused_ops`, and which products it is fused with.
fn activation(name: &str, product: &str) -> bool {
    match name {
        "Relu" | "Relu6" | "Elu" | "LeakyRelu" => true,
        "Tanh" | "Sigmoid" => product == "_FusedMatMul",
        _ => false,
    }
}

/// The strings of a list.
fn words(m: &Module, op: OpId, name: &str) -> Vec<String> {
    let Some(AttrKind::Array(items)) = m.attr_named(op, name).map(|attr| m.cx.attr(attr)) else {
        return Vec::new();
    };
    items.iter().filter_map(|&item| m.cx.as_str(item).map(str::to_owned)).collect()
}

/// The op that a value comes from and that may take more in, if nobody else uses the value.
fn fusable(m: &Module, value: ValueId, kinds: &[&str]) -> Option<OpId> {
    made_by(m, value, kinds).filter(|_| is_used_once(m, value) && dtype(m, value) == Some(DType::F32))
}

/// Makes a fused op that does one thing more.
fn extend(
    r: &mut Rewriter<'_>,
    op: OpId,
    inner: OpId,
    arg: Option<ValueId>,
    does: &str,
    more: &[(&str, AttrId)],
) -> ValueId {
    let m = r.ir();
    let fused = match name(m, inner) {
        "Conv2D" => "_FusedConv2D".to_owned(),
        "MatMul" => "_FusedMatMul".to_owned(),
        other => other.to_owned(),
    };
    let operands: Vec<ValueId> = m.operands(inner).chain(arg).collect();
    let mut does_now = words(m, inner, "fused_ops");
    does_now.push(does.to_owned());
    let n_args = operands.len() as i64 - 2;
    let kept: Vec<(String, AttrId)> =
        attrs(m, inner).into_iter().filter(|(name, _)| name != "fused_ops" && name != "num_args").collect();
    let result = ty(m, m.result(op, 0));
    let cx = r.cx();
    let list: Vec<AttrId> = does_now.iter().map(|word| cx.str_attr(word)).collect();
    let list = cx.array_attr(&list);
    let n_args = cx.int_attr(crate::ir::KnownType::I64.id(), n_args);
    let mut written: Vec<(&str, AttrId)> = kept.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    written.extend([("fused_ops", list), ("num_args", n_args)]);
    written.extend(more);
    make(r, op, &fused, &operands, result, &written)
}

/// A product and a bias.
fn fuse_bias(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let is_bias_add = name(m, op).starts_with("BiasAdd");
    let pairs = [(m.operand(op, 0), m.operand(op, 1)), (m.operand(op, 1), m.operand(op, 0))];
    let pairs = if is_bias_add { &pairs[..1] } else { &pairs[..] };
    let (x, bias, inner) =
        pairs.iter().find_map(|&(x, bias)| Some((x, bias, fusable(m, x, &["Conv2D", "MatMul"])?)))?;
    let layout =
        |op: OpId| m.attr_named(op, "data_format").and_then(|attr| m.cx.as_str(attr)).unwrap_or("NHWC");
    let is_image = name(m, inner) == "Conv2D";
    if is_image && layout(inner) != "NHWC" || is_bias_add && layout(op) != "NHWC" {
        return None;
    }
    if !is_bias_add {
        // A vector along the last axis that does not make the sum larger.
        let channels = *dims(m, bias).filter(|dims| dims.len() == 1)?.first()?;
        let last = match m.cx.ty(ty(m, x)) {
            crate::ir::TypeKind::Tensor { shape: Some(shape), .. } => *shape.last()?,
            _ => return None,
        };
        if channels != last {
            return None;
        }
    }
    Some(extend(r, op, inner, Some(bias), "BiasAdd", &[]))
}

/// A product with a bias, and another tensor.
fn fuse_residual(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let pairs = [(m.operand(op, 0), m.operand(op, 1)), (m.operand(op, 1), m.operand(op, 0))];
    let (inner, residual) = pairs.into_iter().find_map(|(x, residual)| {
        let inner = fusable(m, x, &["_FusedConv2D", "_FusedMatMul"])?;
        let fits = words(m, inner, "fused_ops") == ["BiasAdd"] && same_type(m, x, residual) && x != residual;
        fits.then_some((inner, residual))
    })?;
    Some(extend(r, op, inner, Some(residual), "Add", &[]))
}

/// A product with a bias, and an activation.
fn fuse_activation(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let inner = fusable(m, m.operand(op, 0), &["_FusedConv2D", "_FusedMatMul"])?;
    let done = words(m, inner, "fused_ops");
    let what = name(m, op).to_owned();
    if !activation(&what, name(m, inner))
        || !done.last().is_some_and(|last| last == "BiasAdd" || last == "Add")
    {
        return None;
    }
    let alpha = m.attr_named(op, "alpha").filter(|_| what == "LeakyRelu");
    let more: Vec<(&str, AttrId)> = alpha.map(|alpha| ("leakyrelu_alpha", alpha)).into_iter().collect();
    Some(extend(r, op, inner, None, &what, &more))
}

/// A convolution and a normalization with constants: these go into the filter and a bias.
fn fold_batch_norm(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let trains =
        m.attr_named(op, "is_training").is_none_or(|attr| matches!(m.cx.attr(attr), AttrKind::Bool(true)));
    let others_unused = m.results(op).skip(1).all(|value| m.is_unused(value));
    let layout = m.attr_named(op, "data_format").and_then(|attr| m.cx.as_str(attr)).unwrap_or("NHWC");
    if trains || !others_unused || layout != "NHWC" || flag(m, op, "adj_x") {
        return None;
    }
    let x = m.operand(op, 0);
    let conv = fusable(m, x, &["Conv2D"])?;
    let [scale, offset, mean, variance] = [1, 2, 3, 4].map(|i| m.operand(op, i));
    let filter = m.operand(conv, 1);
    if [scale, offset, mean, variance, filter].iter().any(|&value| constant(m, value).is_none()) {
        return None;
    }
    if m.attr_named(conv, "data_format").and_then(|attr| m.cx.as_str(attr)).unwrap_or("NHWC") != "NHWC" {
        return None;
    }
    let epsilon = m.attr_named(op, "epsilon").map_or(1e-4, |attr| match m.cx.attr(attr) {
        AttrKind::Float { bits, .. } => f64::from(f32::from_bits(*bits as u32)),
        _ => 1e-4,
    });
    let (vector, kernel, result) = (ty(m, scale), ty(m, filter), ty(m, m.result(op, 0)));
    let image = m.operand(conv, 0);
    let kept = attrs(m, conv);
    let kept: Vec<(&str, AttrId)> = kept.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    let epsilon = scalar(r, op, epsilon, DType::F32)?;
    let shifted = make(r, op, "AddV2", &[variance, epsilon], vector, &[]);
    let root = make(r, op, "Rsqrt", &[shifted], vector, &[]);
    let factor = make(r, op, "Mul", &[scale, root], vector, &[]);
    let filter = make(r, op, "Mul", &[filter, factor], kernel, &[]);
    let moved = make(r, op, "Mul", &[mean, factor], vector, &[]);
    let bias = make(r, op, "Sub", &[offset, moved], vector, &[]);
    let conv = make(r, op, "Conv2D", &[image, filter], result, &kept);
    Some(make(r, op, "BiasAdd", &[conv, bias], result, &[]))
}
