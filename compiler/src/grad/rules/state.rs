//! Variables and tensor arrays.
//!
//! A variable's handle stands for its value: an op that reads the value passes its gradient to the handle.
//! Assignments pass none. The gradients of a tensor array's elements are in another tensor array.

use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::forward;
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::ReadVariableOp => Rule(forward),
        Op::TensorArrayReadV3 => Rule(|g| {
            let [handle, flow] = of_array(g, g.x(2));
            g.dx(2, g.op(Op::TensorArrayWriteV3, &[handle, g.x(1), g.d(), flow], &[]));
        }),
        Op::TensorArrayWriteV3 => Rule(|g| {
            let [handle, flow] = of_array(g, g.d());
            if g.wants(2) {
                g.dx(2, g.typed(Op::TensorArrayReadV3, &[handle, g.x(1), flow], &[], &[g.x(2).ty()])[0]);
            }
            g.dx(3, g.d());
        }),
        Op::TensorArrayGatherV3 => Rule(|g| {
            let [handle, flow] = of_array(g, g.x(2));
            g.dx(2, g.op(Op::TensorArrayScatterV3, &[handle, g.x(1), g.d(), flow], &[]));
        }),
        Op::TensorArrayScatterV3 => Rule(|g| {
            let [handle, flow] = of_array(g, g.d());
            if g.wants(2) {
                let operands = [handle, g.x(1), flow];
                g.dx(2, g.typed(Op::TensorArrayGatherV3, &operands, &[], &[g.x(2).ty()])[0]);
            }
            g.dx(3, g.d());
        }),
        Op::TensorArrayConcatV3 => Rule(|g| {
            let Some(d) = g.dy(0) else { return };
            let [handle, flow] = of_array(g, g.x(1));
            g.dx(1, g.op(Op::TensorArraySplitV3, &[handle, d, g.y(1), flow], &[]));
        }),
        Op::TensorArraySplitV3 => Rule(|g| {
            let [handle, flow] = of_array(g, g.d());
            if g.wants(1) {
                let types = [g.x(1).ty(), g.x(2).ty()];
                g.dx(1, g.typed(Op::TensorArrayConcatV3, &[handle, flow], &[], &types)[0]);
            }
            g.dx(3, g.d());
        }),
        _ => return None,
    })
}

/// The handle and flow of the tensor array that holds the gradients of the op's own array, created after the
/// flow `after`.
fn of_array<'g>(g: &'g Vjp<'_, '_>, after: Val<'g>) -> [Val<'g>; 2] {
    let types = [g.x(0).ty(), after.ty()];
    let source = g.source();
    let attrs = [("source", At::Str(&source))];
    let made = g.typed(Op::TensorArrayGradV3, &[g.x(0), after], &attrs, &types);
    [made[0], made[1]]
}
