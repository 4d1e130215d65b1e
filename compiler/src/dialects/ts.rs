//! `ts`: shapes as values, so that their computation is apart from that of the tensors.
//!
//! `matmul_shape` and `reduce_shape` are ours; the others are TFRT's.

use super::short::*;
use super::{Access, AttrConstraint as A, OpDef, Registry, Resource};
use crate::ir::KnownType as K;

pub(super) fn ops(r: &mut Registry) {
    r.add(
        OpDef::new("ts.build_shape", "a fixed shape")
            .attr("value", A::IntArray(K::I64))
            .result("shape", SHAPE)
            .pure()
            .format("$value attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new("ts.print_shape", "prints a shape")
            .operand("shape", SHAPE)
            .operand("chain", CHAIN)
            .result("done", CHAIN)
            .effect(Access::Write, Resource::Output)
            .format("operands attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new("ts.equal_shape", "true if both shapes are equal")
            .operand("lhs", SHAPE)
            .operand("rhs", SHAPE)
            .result("equal", I1)
            .pure()
            .format("operands attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new("ts.get_dimension", "the size of one dimension; an error if there is no such dimension")
            .operand("shape", SHAPE)
            .operand("index", I32)
            .result("size", I64)
            .pure()
            .format("operands attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new("ts.get_num_elements", "the product of all sizes")
            .operand("shape", SHAPE)
            .result("count", I64)
            .pure()
            .format("operands attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new("ts.matmul_shape", "the shape of a product of two matrices; an error if they do not fit")
            .operand("lhs", SHAPE)
            .operand("rhs", SHAPE)
            .result("shape", SHAPE)
            .pure()
            .format("operands attr-dict")
            .kernel(),
    );
    r.add(
        OpDef::new(
            "ts.reduce_shape",
            "a shape without one of its dimensions; negative axes count from the end",
        )
        .operand("shape", SHAPE)
        .attr("axis", A::Int(K::I32))
        .result("reduced", SHAPE)
        .pure()
        .format("operands attr-dict")
        .kernel(),
    );
}
