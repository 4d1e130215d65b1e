//! Fusion of several operators into one kernel.
//!
//! ```text
//! Conv2D|MatMul|DepthwiseConv2dNative ─▶ BiasAdd (or Add of a vector)
//!                                      ─▶ Add of a tensor of the same shape
//!                                      ─▶ Relu|Relu6|Elu|...
//!     becomes _Fused... (x, w, bias, residual) {fused_ops = ["BiasAdd", "Add", "Relu"]},
//!     and the same for _Packed... (`tf-pack-weights`)
//!
//! Conv2D(x, w) ─▶ FusedBatchNormV3 of constants        Conv2D(x, w*scale) ─▶ BiasAdd
//! max(x, 0), min(Relu(x), 6), ClipByValue(x, 0, 6)     Relu(x), Relu6(x)
//! AddN(x, y, z)                                        (x + y) + z
//! ```
//!
//! Limits become activations here and not among the algebraic simplifications, because their gradients
//! differ where x is 0.

use super::layers::{
    attention, batched_layer_norm, flatten, gelu, layer_norm, log_softmax, scale_layer_norm,
    shift_layer_norm, softmax,
};
use super::rule::{apply, is_float, operand_orders, patterns, replacement};
use super::weights::pads;
use crate::build::Builder;
use crate::build::query::{
    data_format, dims, dtype, flag, has_no_edges, is_used_once, n_elements, producer_if, shape, splat,
};
use crate::build::sizes::same_type;
use crate::dialects::tf::{operator, row};
use crate::fold::constant_of;
use crate::ir::{AttrId, AttrKind, Module, OpId, TypeId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};
use befrost_tensor::DType;
use befrost_tensor::tf::op::{Activates, Fusion, Op, ProductForm, ProductOps};

/// The patterns of an operator.
pub(super) fn of(operator: Op) -> &'static [Pattern] {
    match operator {
        Op::BiasAdd | Op::BiasAddV1 => patterns! { "tf-fuse-bias" 8 fuse_bias; },
        Op::Add | Op::AddV2 => patterns! {
            "tf-layer-norm" 9 batched_layer_norm;
            "tf-layer-norm" 9 shift_layer_norm;
            "tf-fuse-bias" 8 fuse_bias;
            "tf-fuse-residual" 7 fuse_residual;
        },
        Op::AddN => patterns! { "tf-add-in-pairs" 5 add_in_pairs; },
        Op::Mul => patterns! {
            "tf-gelu" 9 gelu;
            "tf-fuse-silu" 8 fuse_silu;
            "tf-layer-norm" 8 layer_norm;
            "tf-layer-norm" 8 scale_layer_norm;
        },
        Op::Maximum | Op::Minimum | Op::ClipByValue => patterns! { "tf-limits-to-relu" 9 limits_to_relu; },
        // Here there are no transposes of layouts left between a `Pad` and its user.
        Op::Conv2D | Op::DepthwiseConv2dNative | Op::MaxPool => pads(operator),
        Op::RealDiv => patterns! { "tf-softmax" 9 softmax; },
        Op::Log => patterns! { "tf-log-softmax" 9 log_softmax; },
        Op::BatchMatMul | Op::BatchMatMulV2 | Op::BatchMatMulV3 => patterns! { "tf-attention" 9 attention; },
        Op::_PackedMatMul => patterns! { "tf-flatten" 8 flatten; },
        Op::FusedBatchNorm | Op::FusedBatchNormV2 | Op::FusedBatchNormV3 => &[
            Pattern {
                name: "tf-fold-batch-norm",
                benefit: 8,
                rewrite: |r, op| apply(r, op, fold_batch_norm),
            },
            Pattern { name: "tf-fuse-batch-norm", benefit: 7, rewrite: fuse_after_batch_norm },
        ],
        _ if matches!(operator.row().fusion(), Fusion::Activation(_)) => {
            patterns! { "tf-fuse-activation" 8 fuse_activation; }
        }
        _ => &[],
    }
}

/// The product that an op computes, and the form of its operator.
fn product_of(m: &Module, op: OpId) -> Option<(ProductOps, ProductForm)> {
    match row(m, op)?.fusion() {
        Fusion::Product(product, form) => Some((product, form)),
        Fusion::Activation(_) | Fusion::None => None,
    }
}

/// The word for an activation in `fused_ops`. `None` if it cannot be fused with the product.
fn activation(m: &Module, op: OpId, (product, form): (ProductOps, ProductForm)) -> Option<&'static str> {
    let row = row(m, op)?;
    let is_packed = form == ProductForm::Packed;
    let fits = match row.fusion() {
        Fusion::Activation(Activates::All) => true,
        Fusion::Activation(Activates::Matrices) => is_packed || product == ProductOps::MATMUL,
        Fusion::Activation(Activates::Packed) => is_packed,
        Fusion::Product(..) | Fusion::None => false,
    };
    fits.then(|| match row.op {
        Some(Op::_Gelu) if flag(m, op, "approximate") => "GeluApproximate",
        Some(Op::_Gelu) => "GeluExact",
        _ => row.name,
    })
}

/// The words for a bias and a residual in `fused_ops`.
const BIAS: &str = "BiasAdd";
const ADDEND: &str = "Add";

/// The strings of an array attribute.
pub(in crate::graph) fn words(m: &Module, op: OpId, name: &str) -> Vec<String> {
    let Some(AttrKind::Array(items)) = m.attr_named(op, name).map(|attr| m.cx.attr(attr)) else {
        return Vec::new();
    };
    items.iter().filter_map(|&item| m.cx.as_str(item).map(str::to_owned)).collect()
}

/// The producer of an f32 value, if it is a product in one of `forms` and the value has one use.
fn fusable(m: &Module, value: ValueId, forms: &[ProductForm]) -> Option<OpId> {
    let op = m.defining_op(value)?;
    let (_, form) = product_of(m, op)?;
    let fits = forms.contains(&form) && is_used_once(m, value) && dtype(m, value) == Some(DType::F32);
    fits.then_some(op)
}

/// Rebuilds the product `inner` with one more fused op, `does`.
fn extend(
    b: &mut Builder<'_, '_>,
    op: OpId,
    inner: OpId,
    arg: Option<ValueId>,
    does: &str,
    alpha: Option<AttrId>,
) -> Option<ValueId> {
    let m = b.ir();
    let (product, form) = product_of(m, inner)?;
    let fused = if form == ProductForm::Packed { product.packed } else { product.fused };
    let operands: Vec<ValueId> = m.operands(inner).chain(arg).collect();
    let (done, result) = (words(m, inner, "fused_ops"), m.result(op, 0));
    let all: Vec<&str> = done.iter().map(String::as_str).chain([does]).collect();
    b.op(fused, &operands)
        .attrs_of(inner, |_| true)
        .strs("fused_ops", &all)
        .int("num_args", operands.len() as i64 - 2)
        .maybe_attr("leakyrelu_alpha", alpha)
        .like(result)
        .one()
        .ok()
}

/// True for a product with packed weights.
fn is_packed(m: &Module, op: OpId) -> bool {
    product_of(m, op).is_some_and(|(_, form)| form == ProductForm::Packed)
}

/// `max(x, 0)` → `Relu(x)`; the same limited to 6 from above, in either order → `Relu6(x)`.
fn limits_to_relu(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let result = m.result(op, 0);
    let is_one = |x: ValueId| dims(m, x).and_then(n_elements) == Some(1);
    let is_limit = |x: ValueId, limit: f64| is_one(x) && splat(m, x) == Some(limit);
    // The other operand, if one is the limit.
    let limited = |op: OpId, limit: f64| {
        operand_orders(m, op).into_iter().find_map(|(x, other)| is_limit(other, limit).then_some(x))
    };
    let inner = |x: ValueId, kind: Op| producer_if(m, x, &[kind]).filter(|_| is_used_once(m, x));
    let (x, kind) = match operator(m, op)? {
        Op::ClipByValue => {
            let fits = is_limit(m.operand(op, 1), 0.0) && is_limit(m.operand(op, 2), 6.0);
            (fits.then(|| m.operand(op, 0))?, Op::Relu6)
        }
        Op::Minimum => {
            let x = limited(op, 6.0)?;
            (m.operand(inner(x, Op::Relu)?, 0), Op::Relu6)
        }
        _ => {
            let x = limited(op, 0.0)?;
            match inner(x, Op::Minimum).and_then(|inner| limited(inner, 6.0)) {
                Some(x) => (x, Op::Relu6),
                None => (x, Op::Relu),
            }
        }
    };
    if !is_float(m, x) || !same_type(m, x, result) {
        return None;
    }
    replacement(b, op, kind, &[x])
}

/// `AddN(x, y, z)` → `(x + y) + z`, the order of its kernel: sums of pairs become part of fused programs.
fn add_in_pairs(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    const MOST: usize = 8;
    let m = b.ir();
    let (result, terms): (ValueId, Vec<ValueId>) = (m.result(op, 0), m.operands(op).collect());
    let is_known = dtype(m, result) == Some(DType::F32) && dims(m, result).is_some();
    let (&first, others) = terms.split_first().filter(|(_, others)| (1..MOST).contains(&others.len()))?;
    if !is_known || terms.iter().any(|&term| !same_type(m, term, result)) {
        return None;
    }
    others.iter().try_fold(first, |sum, &x| b.op(Op::AddV2, &[sum, x]).like(result).one().ok())
}

/// A product, then a bias.
fn fuse_bias(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let is_bias_add = matches!(operator(m, op)?, Op::BiasAdd | Op::BiasAddV1);
    let pairs = operand_orders(m, op);
    let pairs = if is_bias_add { &pairs[..1] } else { &pairs[..] };
    let (x, bias, inner) = pairs.iter().find_map(|&(x, bias)| {
        let inner = fusable(m, x, &[ProductForm::Plain, ProductForm::Packed])?;
        // TensorFlow's fused depthwise convolution has no explicit paddings.
        let is_known = operator(m, inner) != Some(Op::DepthwiseConv2dNative)
            || m.attr_named(inner, "explicit_paddings").is_none();
        (is_known && words(m, inner, "fused_ops").is_empty()).then_some((x, bias, inner))
    })?;
    if is_bias_add {
        if data_format(m, inner) != data_format(m, op) {
            return None;
        }
        return extend(b, op, inner, Some(bias), BIAS, None);
    }
    // The bias has the last axis (or the column axes) of the product as its shape, so the sum is not larger.
    let n = m.attr_named(inner, "contracted").map_or(1, |_| columns(m, inner));
    let bias_dims = dims(m, bias)?;
    // Leading axes of size 1 are no more than a way to write a vector.
    let (leading, bias_dims) = bias_dims.split_at(bias_dims.len().checked_sub(n)?);
    let fits = leading.len() + n <= shape(m, x)?.len() && leading.iter().all(|&dim| dim == 1);
    if data_format(m, inner) != "NHWC" || !fits || !shape(m, x)?.ends_with(bias_dims) {
        return None;
    }
    let bias = match leading {
        [] => bias,
        _ => {
            let to = bias_dims.to_vec();
            let to = b.ints(&to, DType::I32).ok()?;
            b.one(Op::Reshape, &[bias, to]).ok()?
        }
    };
    extend(b, op, inner, Some(bias), BIAS, None)
}

/// The number of column axes in the result of a packed product.
fn columns(m: &Module, op: OpId) -> usize {
    let contracted = m.attr_named(op, "contracted").and_then(|attr| m.cx.as_int(attr)).unwrap_or(1);
    let shape = m.attr_named(op, "shape").map_or(2, |attr| match m.cx.attr(attr) {
        AttrKind::Array(items) => items.len(),
        _ => 2,
    });
    shape.saturating_sub(contracted as usize)
}

/// A product with a bias, then a residual.
fn fuse_residual(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let (inner, residual) = operand_orders(m, op).into_iter().find_map(|(x, residual)| {
        let inner = fusable(m, x, &[ProductForm::Fused, ProductForm::Packed])?;
        // TensorFlow's fused depthwise convolution adds no residual.
        if product_of(m, inner)? == (ProductOps::DEPTHWISE, ProductForm::Fused) {
            return None;
        }
        let done = words(m, inner, "fused_ops");
        let is_first = done.is_empty() && is_packed(m, inner) || done == [BIAS];
        (is_first && same_type(m, x, residual) && x != residual).then_some((inner, residual))
    })?;
    extend(b, op, inner, Some(residual), ADDEND, None)
}

/// A product with a bias, then an activation.
fn fuse_activation(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let x = m.operand(op, 0);
    let inner = fusable(m, x, &[ProductForm::Fused, ProductForm::Packed])?;
    let done = words(m, inner, "fused_ops");
    let what = activation(m, op, product_of(m, inner)?)?;
    let is_next = match done.last() {
        Some(last) => last == BIAS || last == ADDEND,
        None => is_packed(m, inner),
    };
    if !is_next {
        return None;
    }
    let alpha = m.attr_named(op, "alpha").filter(|_| operator(m, op) == Some(Op::LeakyRelu));
    extend(b, op, inner, None, what, alpha)
}

/// A packed product, perhaps with a bias, times its own sigmoid.
fn fuse_silu(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let inner = operand_orders(m, op).into_iter().find_map(|(x, other)| {
        let sigmoid = producer_if(m, other, &[Op::Sigmoid])?;
        let inner = m.defining_op(x).filter(|&inner| is_packed(m, inner))?;
        let are_all = m.operand(sigmoid, 0) == x && is_used_once(m, other) && m.users(x).take(3).count() == 2;
        let done = words(m, inner, "fused_ops");
        let is_next = done.last().is_none_or(|last| last == BIAS || last == ADDEND);
        (are_all && is_next).then_some(inner)
    })?;
    extend(b, op, inner, None, "Silu", None)
}

/// `Relu(FusedBatchNormV3(...))`, perhaps with an addend in between → `_FusedBatchNormEx`, in the place of
/// the normalization.
fn fuse_after_batch_norm(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let Some((relu, sum, addend)) = relu_behind(m, op).filter(|_| has_no_edges(m, op)) else {
        return Change::Unchanged;
    };
    let types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
    let operands: Vec<ValueId> = m.operands(op).chain(addend).collect();
    let before = r.checkpoint();
    let mut b = Builder::before(r, op);
    let fused = b
        .op(Op::_FusedBatchNormEx, &operands)
        .attrs_of(op, |_| true)
        .str("activation_mode", "Relu")
        .int("num_side_inputs", i64::from(addend.is_some()))
        .results(&types)
        .build();
    let Ok(fused) = fused else {
        r.rollback(before);
        return Change::Unchanged;
    };
    let results: Vec<ValueId> = r.ir().results(fused).collect();
    r.replace_op(relu, &results[..1]);
    if let Some(sum) = sum {
        r.erase(sum);
    }
    r.replace_op(op, &results);
    Change::Changed
}

/// The only user of a batch normalization's first result, if it is a `Relu`, or an addition whose only user
/// is one: the `Relu`, the addition, and its other operand, which is there before the normalization.
fn relu_behind(m: &Module, op: OpId) -> Option<(OpId, Option<OpId>, Option<ValueId>)> {
    let only_user = |value: ValueId| {
        let (user, _) = m.users(value).next().filter(|_| is_used_once(m, value))?;
        (m.parent_block(user) == m.parent_block(op) && has_no_edges(m, user)).then_some(user)
    };
    let y = m.result(op, 0);
    let is_third = operator(m, op) == Some(Op::FusedBatchNormV3);
    let next =
        only_user(y).filter(|_| is_third && dtype(m, y) == Some(DType::F32) && dims(m, y).is_some())?;
    match operator(m, next)? {
        Op::Relu => Some((next, None, None)),
        Op::Add | Op::AddV2 => {
            let relu = only_user(m.result(next, 0)).filter(|&user| operator(m, user) == Some(Op::Relu))?;
            let (_, addend) = operand_orders(m, next).into_iter().find(|&(x, _)| x == y)?;
            let is_there = m
                .defining_op(addend)
                .is_none_or(|made| m.parent_block(made) != m.parent_block(op) || m.is_before(made, op));
            (is_there && same_type(m, y, addend)).then_some((relu, Some(next), Some(addend)))
        }
        _ => None,
    }
}

/// A convolution, perhaps with a bias, then a batch normalization with constants: scale and offset are folded
/// into the filter and a bias.
fn fold_batch_norm(b: &mut Builder<'_, '_>, op: OpId) -> Option<ValueId> {
    let m = b.ir();
    let trains =
        m.attr_named(op, "is_training").is_none_or(|attr| matches!(m.cx.attr(attr), AttrKind::Bool(true)));
    let others_unused = m.results(op).skip(1).all(|value| m.is_unused(value));
    let constants = [1, 2, 3, 4].map(|i| m.operand(op, i));
    if trains || !others_unused || constants.iter().any(|&value| constant_of(m, value).is_none()) {
        return None;
    }
    let is_convolution = |&conv: &OpId| product_of(m, conv).is_some_and(|(of, _)| of != ProductOps::MATMUL);
    let x = m.operand(op, 0);
    let sum = producer_if(m, x, &[Op::BiasAdd]).filter(|_| is_used_once(m, x));
    let (conv, bias) = match (sum, fusable(m, x, &[ProductForm::Fused]).filter(is_convolution)) {
        (Some(sum), _) => {
            if data_format(m, sum) != data_format(m, op) || dtype(m, x) != Some(DType::F32) {
                return None;
            }
            (fusable(m, m.operand(sum, 0), &[ProductForm::Plain])?, Some(m.operand(sum, 1)))
        }
        (None, Some(fused)) => {
            (words(m, fused, "fused_ops") == [BIAS]).then_some((fused, Some(m.operand(fused, 2))))?
        }
        (None, None) => (fusable(m, x, &[ProductForm::Plain])?, None),
    };
    if !is_convolution(&conv) {
        return None;
    }
    let filter = m.operand(conv, 1);
    let filter_dims = dims(m, filter)?.to_vec();
    let are_constants =
        constant_of(m, filter).is_some() && bias.is_none_or(|bias| constant_of(m, bias).is_some());
    if data_format(m, conv) != data_format(m, op) || !are_constants || filter_dims.len() != 4 {
        return None;
    }
    let [scale, offset, mean, variance] = constants;
    let epsilon = m.attr_named(op, "epsilon").map_or(1e-4, |attr| match m.cx.attr(attr) {
        AttrKind::Float { bits, .. } => f64::from(f32::from_bits(*bits as u32)),
        _ => 1e-4,
    });
    let (image, result) = (m.operand(conv, 0), m.result(op, 0));
    let plain = product_of(m, conv)?.0.plain;
    let format = m.attr_named(op, "data_format");
    let fused_only = ["fused_ops", "num_args", "epsilon", "leakyrelu_alpha", "TArgs", "num_host_args"];
    let epsilon = b.scalar(epsilon, DType::F32).ok()?;
    let shifted = b.one(Op::AddV2, &[variance, epsilon]).ok()?;
    let root = b.one(Op::Rsqrt, &[shifted]).ok()?;
    let factor = b.one(Op::Mul, &[scale, root]).ok()?;
    // The channels of a depthwise filter are its last two axes.
    let spread = if plain == Op::DepthwiseConv2dNative {
        let shape = b.ints(&filter_dims[2..], DType::I32).ok()?;
        b.one(Op::Reshape, &[factor, shape]).ok()?
    } else {
        factor
    };
    let filter = b.one(Op::Mul, &[filter, spread]).ok()?;
    let mean = match bias {
        Some(bias) => b.one(Op::Sub, &[mean, bias]).ok()?,
        None => mean,
    };
    let moved = b.one(Op::Mul, &[mean, factor]).ok()?;
    let bias = b.one(Op::Sub, &[offset, moved]).ok()?;
    let conv = b
        .op(plain, &[image, filter])
        .attrs_of(conv, |name| !fused_only.contains(&name))
        .like(result)
        .one()
        .ok()?;
    b.op(Op::BiasAdd, &[conv, bias]).maybe_attr("data_format", format).like(result).one().ok()
}
