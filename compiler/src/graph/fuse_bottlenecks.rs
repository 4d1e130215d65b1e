//! `tf-fuse-bottlenecks`: a depthwise convolution takes the 1x1 convolutions before and behind it.
//!
//! ```text
//! _PackedConv2D 1x1 ─▶ _PackedDepthwiseConv2dNative ─▶ _PackedConv2D 1x1
//!     ──▶     _PackedBottleneck(x, three weights, operands of three epilogues) {expand_ops, fused_ops, ...}
//! ```
//!
//! The fused operator computes the images of many channels between the layers in bands that stay in a cache
//! (`befrost_tensor::conv::bottleneck`). A 1x1 convolution is taken if nothing else uses the images between
//! it and the depthwise convolution, and if these do not stay in the cache anyway: small images are faster
//! with all images of a batch in one product.
//!
//! Runs behind `tf-remap`, which has completed the epilogues.

use befrost_tensor::tf::fused::{Algorithm, Packing};
use befrost_tensor::tf::op::{Attrs as _, Op};
use befrost_tensor::{DType, Shape};

use super::patterns::words;
use crate::build::Builder;
use crate::build::query::{data_format, dims, dtype, has_no_edges, is_used_once, n_elements, shape};
use crate::dialects::tf::{self, operator};
use crate::ir::{DYNAMIC, Module, OpId, TypeId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "tf-fuse-bottlenecks",
    title: "TFFuseBottlenecks",
    summary: "makes one operator of a depthwise convolution and the 1x1 convolutions around it",
    options: &[],
    statistics: &[("num-fused", "Number of 1x1 convolutions that became part of another operator")],
    run,
};

/// The least number of elements of an image between two layers: half of an L2 cache.
const MIN_IMAGE: i64 = 1 << 17;

/// The most weights of a 1x1 convolution, which are read again for each band: a quarter of an L2 cache.
const MAX_WEIGHTS: i64 = 1 << 16;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let is_depthwise = |op: &OpId| operator(r.ir(), *op) == Some(Op::_PackedDepthwiseConv2dNative);
    let ops: Vec<OpId> = r.ir().walk_functions().filter(is_depthwise).collect();
    for op in ops {
        if let Some(n_fused) = Layers::around(r.ir(), op).and_then(|layers| layers.fuse(r)) {
            cx.count("num-fused", n_fused);
        }
    }
    r.change()
}

/// The layers that become one.
struct Layers {
    expand: Option<OpId>,
    depthwise: OpId,
    project: Option<OpId>,
}

impl Layers {
    /// A depthwise convolution and the layers that it takes; `None` if it takes none.
    fn around(m: &Module, depthwise: OpId) -> Option<Layers> {
        if !is_layer(m, depthwise) || adds(m, depthwise) {
            return None;
        }
        let (x, result) = (m.operand(depthwise, 0), m.result(depthwise, 0));
        let is_beside = |op: OpId| m.parent_block(op) == m.parent_block(depthwise);
        let expand = m.defining_op(x).filter(|&op| is_inner(m, x) && is_beside(op) && is_of_pixels(m, op));
        let expand = expand.filter(|&op| !adds(m, op));
        let project = m.users(result).next().filter(|_| is_inner(m, result));
        let project = project.filter(|&(op, at)| at == 0 && is_beside(op) && is_of_pixels(m, op));
        let project = project.map(|(op, _)| op);
        (expand.is_some() || project.is_some()).then_some(Layers { expand, depthwise, project })
    }

    /// Returns the number of layers that became part of the depthwise convolution.
    fn fuse(&self, r: &mut Rewriter<'_>) -> Option<u64> {
        let m = r.ir();
        let Layers { expand, depthwise, project } = *self;
        let layers = || [expand, Some(depthwise), project].into_iter().flatten();
        let (first, last) = (expand.unwrap_or(depthwise), project.unwrap_or(depthwise));
        let weights = layers().map(|op| m.operand(op, 1));
        let args = layers().flat_map(|op| m.operands(op).skip(2));
        let operands: Vec<ValueId> = [m.operand(first, 0)].into_iter().chain(weights).chain(args).collect();
        let n_weights = layers().count();
        let types: Vec<TypeId> = m.results(last).map(|value| m.value_type(value)).collect();
        let of =
            |op: Option<OpId>| op.map(|op| (channels(m, op).unwrap_or_default(), words(m, op, "fused_ops")));
        let ends =
            [("expand_shape", "expand_ops", of(expand)), ("project_shape", "project_ops", of(project))];
        let before = r.checkpoint();
        let mut b = Builder::before(r, last);
        let mut new = b
            .op(Op::_PackedBottleneck, &operands)
            .attrs_of(depthwise, |name| KEPT.contains(&name))
            .int("num_weights", n_weights as i64)
            .int("num_args", (operands.len() - 1 - n_weights) as i64);
        for (shape, ops, layer) in &ends {
            if let Some((channels, words)) = layer {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                new = new.ints(shape, channels).strs(ops, &words);
            }
        }
        let Ok(new) = new.results(&types).build() else {
            r.rollback(before);
            return None;
        };
        let results: Vec<ValueId> = r.ir().results(new).collect();
        r.replace_op(last, &results);
        // Nothing uses the others any more.
        for op in [Some(depthwise), expand].into_iter().flatten().filter(|&op| op != last) {
            r.erase(op);
        }
        Some(n_weights as u64 - 1)
    }
}

/// The attributes of the depthwise convolution that the fused operator has.
const KEPT: &[&str] =
    &["data_format", "dilations", "explicit_paddings", "filter_shape", "fused_ops", "padding", "strides"];

/// True if a layer adds other images, which only the last one of the fused operator may.
fn adds(m: &Module, op: OpId) -> bool {
    words(m, op, "fused_ops").iter().any(|word| word == "Add")
}

/// True for a layer of NHWC images of f32, whose epilogue the fused operator has.
fn is_layer(m: &Module, op: OpId) -> bool {
    let are_floats = [m.operand(op, 0), m.result(op, 0)].map(|x| dtype(m, x)) == [Some(DType::F32); 2];
    let is_known = |word: &String| word != "Mul" && word != "LeakyRelu";
    are_floats
        && has_no_edges(m, op)
        && data_format(m, op) == "NHWC"
        && words(m, op, "fused_ops").iter().all(is_known)
}

/// True for a 1x1 convolution with weights of f32 that is worth being fused.
fn is_of_pixels(m: &Module, op: OpId) -> bool {
    if operator(m, op) != Some(Op::_PackedConv2D) || !is_layer(m, op) {
        return false;
    }
    let ints = |name: &str| ints_of(m, op, name).unwrap_or_default();
    let padding = m.attr_named(op, "padding").and_then(|attr| m.cx.as_str(attr));
    let is_plain = ints("strides").iter().all(|&n| n == 1) && matches!(padding, Some("SAME" | "VALID"));
    let fits = match channels(m, op) {
        Some([from, to]) => from.checked_mul(to).is_some_and(|n| n <= MAX_WEIGHTS),
        None => false,
    };
    let filters =
        Shape::from_i64(&ints("filter_shape")).and_then(|shape| Packing::filters(&shape, Algorithm::Direct));
    let n_bytes = filters.map(|packing| packing.n_bytes() as i64);
    is_plain && fits && n_bytes.is_ok_and(|n| dims(m, m.operand(op, 1)) == Some(&[n]))
}

/// The channels before and behind a 1x1 convolution.
fn channels(m: &Module, op: OpId) -> Option<[i64; 2]> {
    match ints_of(m, op, "filter_shape")?[..] {
        [1, 1, from, to] => Some([from, to]),
        _ => None,
    }
}

/// The numbers of an array attribute.
fn ints_of(m: &Module, op: OpId, name: &str) -> Option<Vec<i64>> {
    tf::attrs_of(m, op, tf::row(m, op)?.signature()).ints(name)
}

/// True for images between two layers that need not exist, and are too large for a cache.
fn is_inner(m: &Module, x: ValueId) -> bool {
    let image = shape(m, x).and_then(|shape| shape.get(1..)).filter(|image| !image.contains(&DYNAMIC));
    is_used_once(m, x) && image.and_then(n_elements).is_some_and(|n| n >= MIN_IMAGE)
}
