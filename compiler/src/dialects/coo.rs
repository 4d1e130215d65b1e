//! `coo`: sparse tensors in coordinate format, which hold the nonzero elements and their indices.

use super::short::*;
use super::{Access, EffectResource, OpDef, Registry, TypeConstraint as T};

fn chained(name: String, summary: &'static str, tensors: &[&'static str], result: T) -> OpDef {
    let def = tensors.iter().fold(OpDef::new(name, summary), |def, name| def.operand(name, TENSOR));
    let def =
        (0..tensors.len() as u8).fold(def, |def, i| def.effect(Access::Read, EffectResource::Operand(i)));
    def.operand("chain", CHAIN)
        .result("result", result)
        .result("done", CHAIN)
        .format("operands attr-dict")
        .kernel()
}

pub(super) fn ops(r: &mut Registry) {
    r.add(
        OpDef::new("coo.print_tensor", "prints type, shape, places and values of a tensor")
            .operand("tensor", TENSOR)
            .operand("chain", CHAIN)
            .result("done", CHAIN)
            .effect(Access::Read, EffectResource::Operand(0))
            .effect(Access::Write, EffectResource::Output)
            .format("operands attr-dict")
            .kernel(),
    );
    for t in ["f32", "i32"] {
        for rank in 0..=3 {
            let name = |op: &str| format!("coo.{op}.{t}.{rank}");
            r.add(chained(
                name("convert_coo_to_dht"),
                "the tensor with all of its elements",
                &["tensor"],
                TENSOR,
            ));
            r.add(chained(name("convert_dht_to_coo"), "the tensor without its zeros", &["tensor"], TENSOR));
            r.add(chained(
                name("tensor_equal"),
                "true if shapes and elements are equal",
                &["lhs", "rhs"],
                I1,
            ));
        }
    }
}
