//! What one kernel does at once.
//!
//! ```text
//! Conv2D|MatMul|DepthwiseConv2dNative ─▶ BiasAdd (or Add of a vector) ─▶ Add of a tensor of the same shape ─▶ Relu|Relu6|Elu|...
//!        _Fused... (x, w, bias, residual) {fused_ops = ["BiasAdd", "Add", "Relu"]}, and the same for _Packed... (`tf-pack-weights`)
//!
//! Conv2D(x, w) ─▶ FusedBatchNormV3 of constants        Conv2D(x, w*scale) ─▶ BiasAdd
//! ```

use super::constant::patterns;
use super::layers::{
    attention, batched_layer_norm, flatten, gelu, layer_norm, scale_layer_norm, shift_layer_norm, softmax,
};
use super::{
    apply, attrs, constant, dims, dtype, flag, ints, is_used_once, layout, made_by, make, same_type, scalar,
    ty,
};
use crate::dialects::tf::operator;
use crate::ir::{AttrId, AttrKind, Module, OpId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};
use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

/// The rewrites of an operator.
pub(super) fn of(operator: Op) -> &'static [Pattern] {
    match operator {
        Op::BiasAdd | Op::BiasAddV1 => patterns! { "tf-fuse-bias" 8 fuse_bias; },
        Op::Add | Op::AddV2 => patterns! {
            "tf-layer-norm" 9 batched_layer_norm;
            "tf-layer-norm" 9 shift_layer_norm;
            "tf-fuse-bias" 8 fuse_bias;
            "tf-fuse-residual" 7 fuse_residual;
        },
        Op::Relu
        | Op::Relu6
        | Op::Elu
        | Op::Tanh
        | Op::Sigmoid
        | Op::LeakyRelu
        | Op::_Gelu
        | Op::Selu
        | Op::Softplus => {
            patterns! { "tf-fuse-activation" 8 fuse_activation; }
        }
        Op::Mul => patterns! {
            "tf-gelu" 9 gelu;
            "tf-layer-norm" 8 layer_norm;
            "tf-layer-norm" 8 scale_layer_norm;
        },
        Op::RealDiv => patterns! { "tf-softmax" 9 softmax; },
        Op::BatchMatMul | Op::BatchMatMulV2 | Op::BatchMatMulV3 => patterns! { "tf-attention" 9 attention; },
        Op::_PackedMatMul => patterns! { "tf-flatten" 8 flatten; },
        Op::FusedBatchNorm | Op::FusedBatchNormV2 | Op::FusedBatchNormV3 => {
            patterns! { "tf-fold-batch-norm" 8 fold_batch_norm; }
        }
        _ => &[],
    }
}

/// The word for an activation in `fused_ops`, if a product can be fused with it: a packed one with any function,
/// others as TensorFlow has it.
fn activation(m: &Module, op: OpId, product: Op) -> Option<&'static str> {
    let is_packed = PACKED.contains(&product);
    let operator = operator(m, op)?;
    let fits = match operator {
        Op::Relu | Op::Relu6 | Op::Elu | Op::LeakyRelu => true,
        Op::Tanh | Op::Sigmoid | Op::_Gelu => is_packed || product == Op::_FusedMatMul,
        Op::Selu | Op::Softplus => is_packed,
        _ => false,
    };
    fits.then(|| match operator {
        Op::_Gelu if flag(m, op, "approximate") => "GeluApproximate",
        Op::_Gelu => "GeluExact",
        _ => operator.name(),
    })
}

/// The words for a bias and for an addend in `fused_ops`.
const BIAS: &str = "BiasAdd";
const ADDEND: &str = "Add";

/// The products that TensorFlow fuses, their fused forms in the same order, and those of packed weights.
const PLAIN: [Op; 3] = [Op::Conv2D, Op::MatMul, Op::DepthwiseConv2dNative];
const FUSED: [Op; 3] = [Op::_FusedConv2D, Op::_FusedMatMul, Op::_FusedDepthwiseConv2dNative];
const PACKED: [Op; 3] = [Op::_PackedConv2D, Op::_PackedMatMul, Op::_PackedDepthwiseConv2dNative];

/// The strings of a list.
fn words(m: &Module, op: OpId, name: &str) -> Vec<String> {
    let Some(AttrKind::Array(items)) = m.attr_named(op, name).map(|attr| m.cx.attr(attr)) else {
        return Vec::new();
    };
    items.iter().filter_map(|&item| m.cx.as_str(item).map(str::to_owned)).collect()
}

/// The op that a value comes from and that may take more in, if nobody else uses the value.
fn fusable(m: &Module, value: ValueId, kinds: &[Op]) -> Option<OpId> {
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
) -> Option<ValueId> {
    let m = r.ir();
    let product = operator(m, inner)?;
    let fused = PLAIN.iter().position(|&plain| plain == product).map_or(product, |at| FUSED[at]);
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
    Some(make(r, op, fused, &operands, result, &written))
}

/// Whether an op is a product with packed weights.
fn is_packed(m: &Module, op: OpId) -> bool {
    operator(m, op).is_some_and(|operator| PACKED.contains(&operator))
}

/// A sum's operands, one that is a product and the other, in both orders.
fn either_way(m: &Module, op: OpId) -> [(ValueId, ValueId); 2] {
    [(m.operand(op, 0), m.operand(op, 1)), (m.operand(op, 1), m.operand(op, 0))]
}

/// A product and a bias.
fn fuse_bias(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let is_bias_add = matches!(operator(m, op)?, Op::BiasAdd | Op::BiasAddV1);
    let pairs = either_way(m, op);
    let pairs = if is_bias_add { &pairs[..1] } else { &pairs[..] };
    let (x, bias, inner) = pairs.iter().find_map(|&(x, bias)| {
        let inner = fusable(m, x, &PLAIN).or_else(|| fusable(m, x, &PACKED))?;
        // TensorFlow's fused depthwise convolution knows no explicit paddings.
        let is_known = operator(m, inner) != Some(Op::DepthwiseConv2dNative)
            || m.attr_named(inner, "explicit_paddings").is_none();
        (is_known && words(m, inner, "fused_ops").is_empty()).then_some((x, bias, inner))
    })?;
    if is_bias_add {
        if layout(m, inner) != layout(m, op) {
            return None;
        }
        return extend(r, op, inner, Some(bias), BIAS, &[]);
    }
    // A vector along the last axis, or the last axes of a product, that does not make the sum larger.
    let n = m.attr_named(inner, "contracted").map_or(1, |_| columns(m, inner));
    let bias_dims = dims(m, bias).filter(|dims| dims.len() == n)?;
    let crate::ir::TypeKind::Tensor { shape: Some(shape), .. } = m.cx.ty(ty(m, x)) else { return None };
    if layout(m, inner) != "NHWC" || !shape.ends_with(&bias_dims) {
        return None;
    }
    extend(r, op, inner, Some(bias), BIAS, &[])
}

/// How many axes of a packed product's result are columns.
fn columns(m: &Module, op: OpId) -> usize {
    let contracted = m.attr_named(op, "contracted").and_then(|attr| m.cx.as_int(attr)).unwrap_or(1);
    let shape = m.attr_named(op, "shape").map_or(2, |attr| match m.cx.attr(attr) {
        AttrKind::Array(items) => items.len(),
        _ => 2,
    });
    shape.saturating_sub(contracted as usize)
}

/// A product with a bias, and another tensor.
fn fuse_residual(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let (inner, residual) = either_way(m, op).into_iter().find_map(|(x, residual)| {
        let inner = fusable(m, x, &FUSED[..2]).or_else(|| fusable(m, x, &PACKED))?;
        let done = words(m, inner, "fused_ops");
        let is_first = done.is_empty() && is_packed(m, inner) || done == [BIAS];
        (is_first && same_type(m, x, residual) && x != residual).then_some((inner, residual))
    })?;
    extend(r, op, inner, Some(residual), ADDEND, &[])
}

/// A product with a bias, and an activation.
fn fuse_activation(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let x = m.operand(op, 0);
    let inner = fusable(m, x, &FUSED).or_else(|| fusable(m, x, &PACKED))?;
    let done = words(m, inner, "fused_ops");
    let what = activation(m, op, operator(m, inner)?)?;
    let is_next = match done.last() {
        Some(last) => last == BIAS || last == ADDEND,
        None => is_packed(m, inner),
    };
    if !is_next {
        return None;
    }
    let alpha = m.attr_named(op, "alpha").filter(|_| operator(m, op) == Some(Op::LeakyRelu));
    let more: Vec<(&str, AttrId)> = alpha.map(|alpha| ("leakyrelu_alpha", alpha)).into_iter().collect();
    extend(r, op, inner, None, what, &more)
}

/// A convolution, perhaps with a bias, and a normalization with constants: these go into the filter and a bias.
fn fold_batch_norm(r: &mut Rewriter<'_>, op: OpId) -> Option<ValueId> {
    let m = r.ir();
    let trains =
        m.attr_named(op, "is_training").is_none_or(|attr| matches!(m.cx.attr(attr), AttrKind::Bool(true)));
    let others_unused = m.results(op).skip(1).all(|value| m.is_unused(value));
    let constants = [1, 2, 3, 4].map(|i| m.operand(op, i));
    if trains || !others_unused || constants.iter().any(|&value| constant(m, value).is_none()) {
        return None;
    }
    let convolutions = [Op::Conv2D, Op::DepthwiseConv2dNative];
    let x = m.operand(op, 0);
    let (conv, bias) = match fusable(m, x, &[Op::_FusedConv2D, Op::_FusedDepthwiseConv2dNative, Op::BiasAdd])
    {
        Some(sum) if operator(m, sum) == Some(Op::BiasAdd) => {
            if layout(m, sum) != layout(m, op) {
                return None;
            }
            (fusable(m, m.operand(sum, 0), &convolutions)?, Some(m.operand(sum, 1)))
        }
        Some(fused) => {
            (words(m, fused, "fused_ops") == [BIAS]).then_some((fused, Some(m.operand(fused, 2))))?
        }
        None => (fusable(m, x, &convolutions)?, None),
    };
    let filter = m.operand(conv, 1);
    let filter_dims = dims(m, filter)?;
    let are_constants = constant(m, filter).is_some() && bias.is_none_or(|bias| constant(m, bias).is_some());
    if layout(m, conv) != layout(m, op) || !are_constants || filter_dims.len() != 4 {
        return None;
    }
    let [scale, offset, mean, variance] = constants;
    let epsilon = m.attr_named(op, "epsilon").map_or(1e-4, |attr| match m.cx.attr(attr) {
        AttrKind::Float { bits, .. } => f64::from(f32::from_bits(*bits as u32)),
        _ => 1e-4,
    });
    let (vector, kernel, result) = (ty(m, scale), ty(m, filter), ty(m, m.result(op, 0)));
    let image = m.operand(conv, 0);
    let conv_operator = operator(m, conv)?;
    let plain = FUSED.iter().position(|&fused| fused == conv_operator).map_or(conv_operator, |at| PLAIN[at]);
    let format = m.attr_named(op, "data_format");
    let fused_only = ["fused_ops", "num_args", "epsilon", "leakyrelu_alpha", "TArgs", "num_host_args"];
    let kept: Vec<(String, AttrId)> =
        attrs(m, conv).into_iter().filter(|(name, _)| !fused_only.contains(&name.as_str())).collect();
    let kept: Vec<(&str, AttrId)> = kept.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    let epsilon = scalar(r, op, epsilon, DType::F32)?;
    let shifted = make(r, op, Op::AddV2, &[variance, epsilon], vector, &[]);
    let root = make(r, op, Op::Rsqrt, &[shifted], vector, &[]);
    let factor = make(r, op, Op::Mul, &[scale, root], vector, &[]);
    // A depthwise filter's channels are on its last two axes.
    let spread = if plain == Op::DepthwiseConv2dNative {
        let shape = ints(r, op, &filter_dims[2..], DType::I32)?;
        let element = r.ir().cx.element(vector);
        let matrix = crate::dialects::tf::tensor(r.cx(), Some(&filter_dims[2..]), element);
        make(r, op, Op::Reshape, &[factor, shape], matrix, &[])
    } else {
        factor
    };
    let filter = make(r, op, Op::Mul, &[filter, spread], kernel, &[]);
    let mean = match bias {
        Some(bias) => make(r, op, Op::Sub, &[mean, bias], vector, &[]),
        None => mean,
    };
    let moved = make(r, op, Op::Mul, &[mean, factor], vector, &[]);
    let bias = make(r, op, Op::Sub, &[offset, moved], vector, &[]);
    let conv = make(r, op, plain, &[image, filter], result, &kept);
    let format: Vec<(&str, AttrId)> = format.map(|format| ("data_format", format)).into_iter().collect();
    Some(make(r, op, Op::BiasAdd, &[conv, bias], result, &format))
}
