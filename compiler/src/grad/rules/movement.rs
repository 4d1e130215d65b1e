//! Operators that move elements: the gradient moves them back.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::BatchToSpace => Rule(|g| g.dx(0, g.same(Op::SpaceToBatch, &[g.d(), g.x(1)]))),
        Op::SpaceToBatch => Rule(|g| g.dx(0, g.same(Op::BatchToSpace, &[g.d(), g.x(1)]))),
        Op::BatchToSpaceND => Rule(|g| g.dx(0, g.op(Op::SpaceToBatchND, &[g.d(), g.x(1), g.x(2)], &[]))),
        Op::SpaceToBatchND => Rule(|g| g.dx(0, g.op(Op::BatchToSpaceND, &[g.d(), g.x(1), g.x(2)], &[]))),
        Op::DepthToSpace => Rule(|g| g.dx(0, g.same(Op::SpaceToDepth, &[g.d()]))),
        Op::SpaceToDepth => Rule(|g| g.dx(0, g.same(Op::DepthToSpace, &[g.d()]))),
        Op::Concat => Rule(|g| parts(g, 0, 1)),
        Op::ConcatV2 => Rule(|g| parts(g, g.n_x() - 1, 0)),
        Op::ParallelConcat => Rule(|g| {
            let rows = unpacked(g, g.d(), g.n_x(), 0);
            rows.into_iter().enumerate().for_each(|(i, row)| g.dx(i, row.expand(0)));
        }),
        Op::Pack => Rule(|g| {
            let rows = unpacked(g, g.d(), g.n_x(), g.int("axis").unwrap_or(0));
            rows.into_iter().enumerate().for_each(|(i, row)| g.dx(i, row));
        }),
        Op::Unpack => Rule(|g| g.dx(0, g.same(Op::Pack, &g.ds()))),
        Op::Split => Rule(|g| g.dx(1, joined(g, g.x(0)))),
        Op::SplitV => Rule(|g| g.dx(0, joined(g, g.x(2)))),
        Op::Transpose => Rule(|g| g.dx(0, g.d().transpose(inverse(g.x(1))))),
        Op::ConjugateTranspose => {
            Rule(|g| g.dx(0, g.op(Op::ConjugateTranspose, &[g.d(), inverse(g.x(1))], &[])))
        }
        Op::MirrorPad => Rule(|g| g.dx(0, g.same(Op::MirrorPadGrad, &[g.d(), g.x(1)]))),
        Op::MirrorPadGrad => Rule(|g| g.dx(0, g.same(Op::MirrorPad, &[g.d(), g.x(1)]))),
        Op::Pad | Op::PadV2 => Rule(|g| {
            if !g.wants(0) {
                return;
            }
            let (x, paddings) = (g.x(0), g.x(1));
            let dtype = paddings.dtype();
            let begin = match paddings.known_ints() {
                Some(all) => paddings.ints(&all.iter().step_by(2).copied().collect::<Vec<_>>(), dtype),
                None => {
                    let rows = paddings.size(0).expand(0);
                    let first = Val::concat(&[rows, g.ints_value(&[1])], 0);
                    paddings.slice(g.ints_value(&[0, 0]), first).reshaped(&[-1])
                }
            };
            g.dx(0, g.d().slice(begin, x.shape_as(dtype)));
        }),
        Op::Reverse => Rule(|g| g.dx(0, g.op(Op::Reverse, &[g.d(), g.x(1)], &[]))),
        Op::ReverseV2 => Rule(|g| g.dx(0, g.op(Op::ReverseV2, &[g.d(), g.x(1)], &[]))),
        Op::ReverseSequence => Rule(|g| g.dx(0, g.same(Op::ReverseSequence, &[g.d(), g.x(1)]))),
        Op::Roll => Rule(|g| g.dx(0, g.op(Op::Roll, &[g.d(), -g.x(1), g.x(2)], &[]))),
        Op::Slice => Rule(|g| {
            let (x, begin) = (g.x(0), g.x(1));
            let dtype = begin.dtype();
            let after = x.shape_as(dtype) - g.y(0).shape_as(dtype) - begin;
            let paddings = g.op(Op::Pack, &[begin, after], &[("axis", At::Int(1))]);
            g.dx(0, g.d().bin(Op::Pad, paddings));
        }),
        Op::StridedSlice => Rule(|g| {
            let shape = g.x(0).shape_as(g.x(1).dtype());
            let operands = [shape, g.x(1), g.x(2), g.x(3), g.d()];
            let types = [g.x(0).ty()];
            let attrs = g.common(Op::StridedSliceGrad, &[]);
            g.dx(0, g.typed(Op::StridedSliceGrad, &operands, &attrs, &types)[0]);
        }),
        Op::StridedSliceGrad => Rule(|g| g.dx(4, g.same(Op::StridedSlice, &[g.d(), g.x(1), g.x(2), g.x(3)]))),
        Op::TensorStridedSliceUpdate => Rule(|g| {
            let at = [g.x(1), g.x(2), g.x(3)];
            if g.wants(0) {
                let operands = [g.d(), at[0], at[1], at[2], g.x(4).zeros()];
                g.dx(0, g.same(Op::TensorStridedSliceUpdate, &operands));
            }
            if g.wants(4) {
                let part = g.same(Op::StridedSlice, &[g.d(), at[0], at[1], at[2]]);
                g.dx_sum(4, part);
            }
        }),
        // The copies along each axis become an axis of their own.
        Op::Tile => Rule(|g| {
            let (x, n) = (g.x(0), g.x(1).cast(DType::I32));
            let both = g.op(Op::Pack, &[n, x.shape()], &[("axis", At::Int(1))]).reshaped(&[-1]);
            let axes = match x.rank() {
                Some(rank) => x.ints(&(0..rank as i64).map(|i| 2 * i).collect::<Vec<_>>(), DType::I32),
                None => x.op(Op::Range, &[x.int(0), x.rank_value() * x.int(2), x.int(2)], &[]),
            };
            g.dx(0, g.d().reshape(both).sum(axes, false).reshape_like(x));
        }),
        Op::BatchMatrixBandPart | Op::MatrixBandPart => {
            Rule(|g| g.dx(0, g.op(Op::MatrixBandPart, &[g.d(), g.x(1), g.x(2)], &[])))
        }
        Op::Diag => Rule(|g| g.dx(0, g.d().un(Op::DiagPart))),
        Op::DiagPart => Rule(|g| g.dx(0, g.d().un(Op::Diag))),
        Op::MatrixDiag => Rule(|g| g.dx(0, g.d().un(Op::MatrixDiagPart))),
        Op::MatrixDiagPart => Rule(|g| g.dx(0, g.x(0).zeros().bin(Op::MatrixSetDiag, g.d()))),
        Op::MatrixSetDiag => Rule(|g| {
            if g.wants(0) {
                g.dx(0, g.d().bin(Op::MatrixSetDiag, g.x(1).zeros()));
            }
            g.dx(1, g.d().un(Op::MatrixDiagPart));
        }),
        Op::MatrixDiagV2 | Op::MatrixDiagV3 => Rule(|g| {
            let operands = [g.d(), g.x(1), g.d().number(0.0)];
            g.dx(0, g.op(Op::MatrixDiagPartV3, &operands, &aligned(g, "MatrixDiagV2")));
        }),
        Op::MatrixDiagPartV2 | Op::MatrixDiagPartV3 => Rule(|g| {
            let operands = [g.x(0).zeros(), g.d(), g.x(1)];
            g.dx(0, g.op(Op::MatrixSetDiagV3, &operands, &aligned(g, "MatrixDiagPartV2")));
        }),
        Op::MatrixSetDiagV2 | Op::MatrixSetDiagV3 => Rule(|g| {
            let attrs = aligned(g, "MatrixSetDiagV2");
            if g.wants(0) {
                g.dx(0, g.op(Op::MatrixSetDiagV3, &[g.d(), g.x(1).zeros(), g.x(2)], &attrs));
            }
            if g.wants(1) {
                let operands = [g.d(), g.x(2), g.d().number(0.0)];
                g.dx(1, g.op(Op::MatrixDiagPartV3, &operands, &attrs));
            }
        }),
        _ => return None,
    })
}

/// The alignment of diagonals: that of the op, or the only one of an old operator.
fn aligned(g: &Vjp<'_, '_>, old: &str) -> Vec<(&'static str, At<'static>)> {
    let align = if g.is(old) { At::Str("LEFT_LEFT") } else { At::Of("align") };
    vec![("align", align)]
}

/// The inverse of a permutation.
fn inverse(order: Val<'_>) -> Val<'_> {
    let Some(known) = order.known_ints() else { return order.un(Op::InvertPermutation) };
    let n = known.len() as i64;
    let mut inverse = vec![0; known.len()];
    for (i, &axis) in known.iter().enumerate() {
        if let Some(at) = inverse.get_mut(axis.rem_euclid(n.max(1)) as usize) {
            *at = i as i64;
        }
    }
    order.ints(&inverse, DType::I32)
}

/// The gradient of a concatenation: its slices, for the operands from `first` on, along the axis in operand
/// `axis`.
fn parts(g: &Vjp<'_, '_>, axis: usize, first: usize) {
    let n = g.n_x() - 1;
    let axis = g.x(axis).cast(DType::I32);
    let axis = match (axis.known_ints().as_deref(), g.y(0).rank()) {
        (Some(&[axis]), _) if axis >= 0 => g.int_value(axis),
        (Some(&[axis]), Some(rank)) => g.int_value(axis + rank as i64),
        _ => axis.bin(Op::FloorMod, g.y(0).rank_value()),
    };
    let shapes: Vec<Val<'_>> = (first..first + n).map(|i| g.x(i).shape()).collect();
    let operands: Vec<Val<'_>> = std::iter::once(axis).chain(shapes.iter().copied()).collect();
    let offsets = g.ops(Op::ConcatOffset, &operands, &[], n);
    for i in 0..n {
        if g.wants(first + i) {
            g.dx(first + i, g.d().slice(offsets[i], shapes[i]));
        }
    }
}

/// The slices along an axis.
fn unpacked<'g>(g: &'g Vjp<'_, '_>, value: Val<'g>, n: usize, axis: i64) -> Vec<Val<'g>> {
    g.ops(Op::Unpack, &[value], &[("num", At::Int(n as i64)), ("axis", At::Int(axis))], n)
}

/// The gradients of all results joined along an axis.
fn joined<'g>(g: &'g Vjp<'_, '_>, axis: Val<'g>) -> Val<'g> {
    let operands: Vec<Val<'_>> = g.ds().into_iter().chain([axis]).collect();
    g.op(Op::ConcatV2, &operands, &[])
}
