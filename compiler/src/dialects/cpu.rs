//! `cpu`: tensor computations into existing buffers (destination passing).
//!
//! Every computation writes the tensor `out` and returns a chain. Operands are the inputs, then `out`, then
//! the chain that orders the computation. An input may be the same tensor as `out`.

use super::short::*;
use super::{Access, Arity, AttrConstraint as A, EffectResource, OpDef, OperandMode, Registry};
use crate::ir::KnownType as K;

pub(super) fn ops(r: &mut Registry) {
    r.add(
        OpDef::new("cpu.constant", "a constant tensor, read in place from the file")
            .attr("value", A::Dense)
            .result("tensor", TENSOR)
            .pure()
            .format("$value attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new("cpu.arena", "the memory of a frame, of which results lie where a plan says")
            .attr("bytes", A::Int(K::I64))
            .result("arena", super::TypeConstraint::Is(K::Arena))
            .effect(Access::Alloc, EffectResource::Result(0))
            .small()
            .format("attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new(
            "cpu.scaled_arena",
            "the memory of a frame, times one dimension of each operand: so many times as large are the places too",
        )
        .attr("axes", A::IntArray(K::I64))
        .attr("bytes", A::Int(K::I64))
        .operand_with("tensors", super::TypeConstraint::AnyTensor, Arity::Variadic, OperandMode::Required)
        .result("arena", super::TypeConstraint::Is(K::Arena))
        .effect(Access::Alloc, EffectResource::Result(0))
        .kernel(),
    );
    for k in TENSOR_TYPES {
        r.add(
            OpDef::new(
                format!("cpu.allocate.{}", k.name()),
                "a tensor of a given shape; its contents are not defined",
            )
            .operand("shape", SHAPE)
            .result("tensor", TENSOR)
            .effect(Access::Alloc, EffectResource::Result(0))
            .format("operands attr-dict")
            .kernel(),
        );
    }
    r.add(
        OpDef::new("cpu.after", "the tensor, once the chain is final")
            .operand("tensor", TENSOR)
            .operand("chain", CHAIN)
            .result("result", TENSOR)
            .pure()
            .format("operands attr-dict")
            .kernel(),
    );
    into(r, "cpu.matmul.f32", "the product of two matrices", &["lhs", "rhs"], |d| d);
    into(r, "cpu.bias_add.f32", "adds a vector to every row", &["input", "bias"], |d| d);
    into(r, "cpu.relu.f32", "the greater of each element and 0", &["input"], |d| d);
    into(r, "cpu.softmax.f32", "softmax along the last dimension", &["input"], |d| d);
    into(
        r,
        "cpu.argmax.f32",
        "the index of the first greatest element along an axis, as i32; negative axes count from the end",
        &["input"],
        |d| d.attr("axis", A::Int(K::I32)),
    );
    r.add(
        OpDef::new("cpu.count_equal.i32", "how many elements of two tensors of one shape are equal")
            .operand("lhs", TENSOR)
            .operand("rhs", TENSOR)
            .operand("chain", CHAIN)
            .result("count", I32)
            .result("done", CHAIN)
            .effect(Access::Read, EffectResource::Operand(0))
            .effect(Access::Read, EffectResource::Operand(1))
            .format("operands attr-dict")
            .kernel(),
    );
}

/// An op that reads `inputs` and writes one tensor.
fn into(
    r: &mut Registry,
    name: &str,
    summary: &'static str,
    inputs: &[&'static str],
    more: fn(OpDef) -> OpDef,
) {
    let mut def = OpDef::new(name, summary);
    for (i, input) in inputs.iter().enumerate() {
        def = def.operand(input, TENSOR).effect(Access::Read, EffectResource::Operand(i as u8));
    }
    def = def
        .operand("out", TENSOR)
        .effect(Access::Write, EffectResource::Operand(inputs.len() as u8))
        .operand("chain", CHAIN)
        .result("done", CHAIN);
    r.add(more(def).format("operands attr-dict").kernel());
}
