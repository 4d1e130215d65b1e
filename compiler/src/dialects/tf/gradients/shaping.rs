//! Operators that forward a tensor, give it another shape, or make one.

use befrost_tensor::tf::op::Op;

use crate::dialects::Gradient::{self, Constant, Flow, Refuses, Rule};

pub(super) fn gradient(op: Op) -> Option<Gradient> {
    Some(match op {
        Op::Identity
        | Op::IdentityN
        | Op::Snapshot
        | Op::EnsureShape
        | Op::PlaceholderWithDefault
        | Op::RefIdentity
        | Op::Print => Rule(|g| {
            for i in 0..g.n_y() {
                if let Some(dy) = g.any_dy(i) {
                    g.dx_any(i, dy);
                }
            }
        }),
        Op::PreventGradient => Refuses,
        Op::Reshape | Op::ExpandDims | Op::Squeeze => Rule(|g| g.dx(0, g.d().reshape_like(g.x(0)))),
        Op::BroadcastTo => Rule(|g| g.dx_sum(0, g.d())),
        Op::Fill => Rule(|g| g.dx(1, g.d().sum_all())),
        Op::ZerosLike | Op::OnesLike | Op::LinSpace | Op::Bitcast => Constant,
        Op::PartitionedCall
        | Op::StatefulPartitionedCall
        | Op::If
        | Op::StatelessIf
        | Op::Case
        | Op::StatelessCase
        | Op::While
        | Op::StatelessWhile
        | Op::SymbolicGradient => Flow,
        _ => return None,
    })
}
