//! `eigen` and `tf_sync`: TFRT's kernels on images and matrices, which write into existing tensors. Chains
//! order them, except in synchronous functions.
//!
//! TFRT declares neither forms nor attribute names for them.

use super::short::*;
use super::{Access, Arity, EffectResource, OpDef, OperandMode, Registry, TypeConstraint as T};
use crate::ir::KnownType as K;

/// An op that reads these tensors and writes the last one.
fn into(name: String, summary: &'static str, tensors: &[&'static str]) -> OpDef {
    let n_inputs = tensors.len() as u8 - 1;
    let def = tensors.iter().fold(OpDef::new(name, summary), |def, name| def.operand(name, TENSOR));
    (0..n_inputs)
        .fold(def, |def, i| def.effect(Access::Read, EffectResource::Operand(i)))
        .effect(Access::Write, EffectResource::Operand(n_inputs))
        .kernel()
        .large()
}

pub(super) fn ops(r: &mut Registry) {
    eigen(r);
    tf_sync(r);
}

fn eigen(r: &mut Registry) {
    const NORM: [&str; 7] = ["input", "filter", "scale", "offset", "mean", "variance", "output"];
    let chained = |name: &str, summary, tensors: &[&'static str], n_attrs| {
        into(format!("eigen.{name}.f32"), summary, tensors)
            .operand("chain", CHAIN)
            .result("done", CHAIN)
            .unnamed(n_attrs, 0)
    };
    r.add(chained("conv2d", "the convolution of images with filters", &["input", "filter", "output"], 2));
    r.add(chained("conv2d.bias", "the same, with biases", &["input", "filter", "bias", "output"], 2));
    r.add(chained("conv2d.batch_norm", "a convolution, normalized", &NORM, 3));
    r.add(chained("conv2d.batch_norm.relu", "the greater of that and 0", &NORM, 3));
    r.add(chained("max_pooling_2d", "the greatest of each window", &["input", "output"], 3));
    r.add(chained("zero_padding", "images with zeros around them", &["input", "output"], 1));
    r.add(chained(
        "conv2d.grad.filter",
        "the gradient by the filters, from that by the result",
        &["output_grad", "input", "filter_grad"],
        2,
    ));
    r.add(chained(
        "conv2d.grad.input",
        "the gradient by the images, from that by the result",
        &["output_grad", "filter", "input_grad"],
        2,
    ));
    let norm = ["scale", "offset", "mean", "variance"];
    let def = OpDef::new("eigen.batch_norm.f32", "normalizes images in place")
        .operand("input", TENSOR)
        .effect(Access::Write, EffectResource::Operand(0));
    let def = norm.iter().fold(def, |def, name| def.operand(name, TENSOR));
    let def = (1..5).fold(def, |def, i| def.effect(Access::Read, EffectResource::Operand(i)));
    r.add(def.operand("chain", CHAIN).result("done", CHAIN).unnamed(1, 0).kernel().large());
    let inputs = ["output_grad", "input", "scale", "mean", "variance"];
    let def = OpDef::new("eigen.batch_norm.grad.f32", "the gradients of a normalization by fixed moments");
    let def = inputs.iter().fold(def, |def, name| def.operand(name, TENSOR)).operand("chain", CHAIN);
    let outs = ["input_grad", "scale_grad", "offset_grad"];
    let def = outs.iter().fold(def, |def, name| def.operand(name, TENSOR));
    let def = (0..5).fold(def, |def, i| def.effect(Access::Read, EffectResource::Operand(i)));
    let def = (6..9).fold(def, |def, i| def.effect(Access::Write, EffectResource::Operand(i)));
    let done = ["input_done", "scale_done", "offset_done"];
    let def = done.iter().fold(def, |def, name| def.result(name, CHAIN));
    r.add(def.unnamed(1, 0).kernel().large());
    for k in [K::F32, K::I32] {
        r.add(
            OpDef::new(format!("eigen.matmul.{}", k.name()), "c = alpha * a * b + beta * c")
                .operand("alpha", T::Is(k))
                .operand("a", TENSOR)
                .operand("b", TENSOR)
                .operand("beta", T::Is(k))
                .operand("c", TENSOR)
                .operand("chain", CHAIN)
                .result("done", CHAIN)
                .effect(Access::Read, EffectResource::Operand(1))
                .effect(Access::Read, EffectResource::Operand(2))
                .effect(Access::Write, EffectResource::Operand(4))
                .kernel()
                .large(),
        );
    }
}

fn tf_sync(r: &mut Registry) {
    let name = |name: &str, k: K| format!("tf_sync.{name}.{}", k.name());
    r.add(into("tf_sync.Const".into(), "sets a tensor to a constant", &["output"]).unnamed(1, 0));
    r.add(into("tf_sync.Tile.string".into(), "strings, repeated to fill a tensor", &["input", "output"]));
    for k in [K::F32, K::F64, K::I32, K::I64] {
        for (op, summary) in [
            ("AddV2", "the sum"),
            ("Mul", "the product"),
            ("RealDiv", "the quotient"),
            ("Sub", "the difference"),
        ] {
            r.add(into(name(op, k), summary, &["lhs", "rhs", "output"]));
        }
        r.add(into(name("Tile", k), "a tensor, repeated along each axis", &["input", "multiples", "output"]));
        r.add(
            OpDef::new(name("ConcatV2", k), "the tensors along an axis, into the last one")
                .operand("axis", I32)
                .operand_with("tensors", T::Any, Arity::Variadic, OperandMode::Required)
                .kernel()
                .large(),
        );
    }
    for k in [K::F32, K::F64] {
        for (op, summary) in [
            ("Log", "the logarithm"),
            ("Log1p", "the logarithm of 1 more"),
            ("Rsqrt", "1 by the square root"),
            ("Sigmoid", "the logistic function"),
            ("Softmax", "softmax of its rows"),
            ("LogSoftmax", "the logarithm of softmax of its rows"),
        ] {
            r.add(into(name(op, k), summary, &["input", "output"]));
        }
        r.add(
            into(name("_FusedMatMul", k), "a product, and what is done with it", &["a", "b", "output"])
                .operand_with("fusion_inputs", T::Any, Arity::Variadic, OperandMode::Required)
                .unnamed(3, 0),
        );
    }
}
