//! `ts` and `ts_sync`: shapes as values, which separates their computation from that of the tensors.
//!
//! `matmul_shape` and `reduce_shape` are our own; the others are TFRT's.

use super::short::*;
use super::{Access, AttrConstraint as A, EffectResource, OpDef, Registry, TypeConstraint as T};
use crate::ir::KnownType as K;

const PARTIAL: T = T::Is(K::PartialShape);

/// Shape types of fixed rank.
const FIXED_RANK: [(usize, K); 3] =
    [(1, K::FixedRankShape1), (2, K::FixedRankShape2), (3, K::FixedRankShape3)];

pub(super) fn ops(r: &mut Registry) {
    for dialect in ["ts", "ts_sync"] {
        r.add(
            constant(format!("{dialect}.build_shape"), "a fixed shape")
                .attr("value", A::IntArray(K::I64))
                .result("shape", SHAPE)
                .format("$value attr-dict"),
        );
        r.add(
            constant(
                format!("{dialect}.build_partial_shape"),
                "a fixed shape; -1 is a size that is not known",
            )
            .attr("value", A::IntArray(K::I64))
            .result("shape", PARTIAL)
            .format("$value attr-dict"),
        );
        r.add(pure(format!("{dialect}.get_num_elements"), "the product of all sizes", &[SHAPE], I64));
        r.add(pure(
            format!("{dialect}.to_shape"),
            "the shape; an error if a size is not known",
            &[PARTIAL],
            SHAPE,
        ));
        r.add(pure(
            format!("{dialect}.to_partial_shape"),
            "the shape as one that may have unknown sizes",
            &[SHAPE],
            PARTIAL,
        ));
    }
    r.add(
        constant("ts.build_unranked_partial_shape".into(), "a shape of which nothing is known")
            .result("shape", PARTIAL)
            .format("attr-dict"),
    );
    r.add(pure("ts.equal_shape".into(), "true if both shapes are equal", &[SHAPE, SHAPE], I1));
    r.add(pure(
        "ts.get_dimension".into(),
        "the size of one dimension; an error if there is no such dimension",
        &[SHAPE, I32],
        I64,
    ));
    for (rank, k) in FIXED_RANK {
        r.add(pure(
            format!("ts.as_fixed_rank_shape.{rank}"),
            "the shape, if it has this rank; else an error",
            &[SHAPE],
            T::Is(k),
        ));
        r.add(print(format!("ts.print_fixed_rank_shape.{rank}"), T::Is(k)));
    }
    r.add(print("ts.print_shape".into(), SHAPE));
    r.add(print("ts.print_partial_shape".into(), PARTIAL));
    r.add(pure(
        "ts.matmul_shape".into(),
        "the shape of a product of two matrices; an error if they do not fit",
        &[SHAPE, SHAPE],
        SHAPE,
    ));
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

fn constant(name: String, summary: &'static str) -> OpDef {
    OpDef::new(name, summary).pure().kernel()
}

fn pure(name: String, summary: &'static str, operands: &[T], result: T) -> OpDef {
    let def = operands
        .iter()
        .zip(["a", "b"])
        .fold(OpDef::new(name, summary), |def, (ty, name)| def.operand(name, *ty));
    def.result("result", result).pure().format("operands attr-dict").kernel()
}

fn print(name: String, ty: T) -> OpDef {
    OpDef::new(name, "prints a shape")
        .operand("shape", ty)
        .operand("chain", CHAIN)
        .result("done", CHAIN)
        .effect(Access::Write, EffectResource::Output)
        .format("operands attr-dict")
        .kernel()
}
