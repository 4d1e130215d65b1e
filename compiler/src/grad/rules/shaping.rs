//! Operators that forward, reshape, broadcast or fill a tensor.

use befrost_tensor::tf::op::Op;

use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::forward;

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::Identity
        | Op::IdentityN
        | Op::Snapshot
        | Op::GuaranteeConst
        | Op::EnsureShape
        | Op::_EnsureSameSizes
        | Op::PlaceholderWithDefault
        | Op::Print => Rule(forward),
        Op::Reshape | Op::ExpandDims | Op::Squeeze => Rule(|g| g.dx(0, g.d().reshape_like(g.x(0)))),
        Op::BroadcastTo => Rule(|g| g.dx_sum(0, g.d())),
        Op::Fill => Rule(|g| g.dx(1, g.d().sum_all())),
        _ => return None,
    })
}
