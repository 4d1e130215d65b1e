//! The tensor ops of `tfrt_test` in TFRT's training examples. TFRT declares neither their forms nor their
//! attribute names.

use super::short::*;
use super::{Access, EffectResource, OpDef, Registry, TypeConstraint as T};
use crate::ir::KnownType as K;

const OPERANDS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// An op that reads its operands and returns a chain or a new value.
fn op(name: &str, summary: &'static str, operands: &[T], result: Option<T>) -> OpDef {
    let def = OpDef::new(name, summary).kernel();
    let def = OPERANDS.iter().zip(operands).fold(def, |def, (name, ty)| def.operand(name, *ty));
    match result {
        Some(ty) => def.result("result", ty),
        None => def,
    }
}

/// An op that writes the tensor that is operand number `out`.
fn into(name: &str, summary: &'static str, operands: &[T], out: u8) -> OpDef {
    op(name, summary, operands, Some(CHAIN)).effect(Access::Write, EffectResource::Operand(out))
}

pub(super) fn ops(r: &mut Registry) {
    const CHAINED: [T; 3] = [TENSOR, TENSOR, CHAIN];
    for k in [K::F32, K::I32, K::I64] {
        let t = k.name();
        let name = |op: &str| format!("tfrt_test.{op}.{t}");
        let scaled = [T::Is(k), TENSOR, TENSOR, T::Is(k), TENSOR];
        r.add(into(&name("add"), "c = a + b", &[TENSOR; 3], 2));
        r.add(into(&name("add_inplace"), "b = a + b", &[TENSOR; 2], 1));
        r.add(into(&name("equal"), "c is 1 where a and b are equal, else 0", &[TENSOR; 3], 2));
        r.add(into(&name("equal_inplace"), "b becomes 1 where a and b are equal, else 0", &[TENSOR; 2], 1));
        r.add(into(&name("relu"), "b = the greater of a and 0", &[TENSOR; 2], 1));
        r.add(into(&name("relu_inplace"), "a = the greater of a and 0", &[TENSOR], 0));
        r.add(into(&name("relu_grad_inplace"), "b becomes 0 where a is not positive", &[TENSOR; 2], 1));
        r.add(into(
            &format!("tfrt_test.slice_inplace.{t}.3"),
            "d = the part of a from position b on",
            &[TENSOR, TENSOR, CHAIN, TENSOR],
            3,
        ));
        r.add(into(&format!("tfrt_test.matmul.{t}.2"), "e = a * b * c + d * e", &scaled, 4));
        r.add(
            op(&format!("tfrt_test_sync.matmul.{t}.2"), "e = a * b * c + d * e", &scaled, None)
                .effect(Access::Write, EffectResource::Operand(4)),
        );
        r.add(
            op(&format!("tfrt_test_sync.relu.{t}"), "b = the greater of a and 0", &[TENSOR; 2], None)
                .effect(Access::Write, EffectResource::Operand(1)),
        );
        for (name, summary) in [("argmax", "the column of each row's greatest"), ("reduce_mean", "the mean")]
        {
            let rank = if name == "argmax" { 2 } else { 1 };
            r.add(op(&format!("tfrt_test.{name}.{t}.{rank}"), summary, &[TENSOR], Some(TENSOR)));
        }
        for rank in [2, 3] {
            let name = format!("tfrt_test.broadcast.{t}.{rank}");
            r.add(op(&name, "a, repeated to fill a shape", &[TENSOR, SHAPE], Some(TENSOR)));
        }
    }
    r.add(into("tfrt_test.cast.i32_to_f32", "b = a, as f32", &[TENSOR; 2], 1));
    for (name, summary) in [
        ("flatten", "b = a, in another shape"),
        ("mean_axis_zero", "b = the mean of a's rows"),
        ("tensor_transpose", "b = a, transposed"),
        ("broadcast_2d", "b = a at every pixel"),
        ("global_average_pooling", "b = the mean of a's pixels"),
    ] {
        r.add(into(&format!("tfrt_test.{name}.f32"), summary, &CHAINED, 1));
    }
    r.add(
        into("tfrt_test.max_pooling_2d.f32", "b = the greatest of each window of a", &CHAINED, 1)
            .unnamed(3, 0),
    );
    r.add(
        into("tfrt_test.zero_padding.f32", "b = a with zeros around its images", &CHAINED, 1).unnamed(1, 0),
    );
    r.add(into("tfrt_test.softmax_inplace.f32", "a = softmax of its rows", &[TENSOR, CHAIN], 0));
    r.add(into("tfrt_test.subtract_inplace.f32", "b = b - a", &[TENSOR; 2], 1));
    r.add(into("tfrt_test.gradient_descent.f32", "c = c - b * a", &[TENSOR; 3], 2));
}
