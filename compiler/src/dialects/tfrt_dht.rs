//! `tfrt_dht`: dense host tensors, filled in place and ordered by chains.

use super::short::*;
use super::{Access, AttrConstraint as A, OpDef, Registry, Resource};
use crate::ir::KnownType as K;

/// Highest rank for which a creation kernel exists.
const MAX_RANK: usize = 4;

pub(super) fn ops(r: &mut Registry) {
    r.add(
        OpDef::new("tfrt_dht.print_tensor", "prints type, shape and values of a tensor")
            .operand("tensor", TENSOR)
            .operand("chain", CHAIN)
            .result("done", CHAIN)
            .effect(Access::Read, Resource::Operand(0))
            .effect(Access::Write, Resource::Output)
            .format("operands attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new("tfrt_dht.get_tensor_shape", "the shape of a tensor")
            .operand("tensor", TENSOR)
            .result("shape", SHAPE)
            .pure()
            .format("operands attr-dict")
            .kernel(),
    );
    for k in TENSOR_TYPES {
        let t = k.name();
        for rank in 0..=MAX_RANK {
            r.add(
                OpDef::new(
                    format!("tfrt_dht.create_uninitialized_tensor.{t}.{rank}"),
                    "a tensor of a fixed shape; its contents are not defined",
                )
                .attr("shape", A::IntArray(K::I64))
                .result("tensor", TENSOR)
                .effect(Access::Alloc, Resource::Result(0))
                .format("$shape attr-dict")
                .kernel(),
            );
        }
        r.add(
            OpDef::new(format!("tfrt_dht.fill_tensor_with_constant.{t}"), "sets every element to one number")
                .operand("tensor", TENSOR)
                .operand("chain", CHAIN)
                .attr("value", if matches!(k, K::F32 | K::F64) { A::Float(k) } else { A::Int(k) })
                .result("done", CHAIN)
                .effect(Access::Write, Resource::Operand(0))
                .format("operands $value attr-dict")
                .kernel(),
        );
        r.add(
            OpDef::new(
                format!("tfrt_dht.set_tensor_with_constant_values.{t}"),
                "sets the elements, in row-major order, to numbers of which there must be as many",
            )
            .operand("tensor", TENSOR)
            .operand("chain", CHAIN)
            .attr("values", A::NumberArray(k))
            .result("done", CHAIN)
            .effect(Access::Write, Resource::Operand(0))
            .format("operands $values attr-dict")
            .kernel(),
        );
        r.add(
            OpDef::new(format!("tfrt_dht.tensor_equal.{t}"), "true if shapes and elements are equal")
                .operand("lhs", TENSOR)
                .operand("rhs", TENSOR)
                .operand("chain", CHAIN)
                .result("equal", I1)
                .result("done", CHAIN)
                .effect(Access::Read, Resource::Operand(0))
                .effect(Access::Read, Resource::Operand(1))
                .format("operands attr-dict")
                .kernel(),
        );
    }
}
