//! Operators that return an operand unchanged for their attributes and shapes.

use super::rule::permutation;
use crate::build::query::{dims, flag, ints, shape};
use crate::build::sizes::same_shape;
use crate::dialects::tf::operator;
use crate::ir::{Module, OpId, ValueId};
use befrost_tensor::tf::op::Op;

/// The operand that equals the op's result for all inputs.
pub(super) fn operand(m: &Module, op: OpId) -> Option<ValueId> {
    let x = |i: usize| Some(m.operand(op, i));
    let n = m.n_operands(op);
    let same_shape = |i: usize| same_shape(m, m.operand(op, i), m.result(op, 0));
    match operator(m, op)? {
        Op::Identity | Op::StopGradient | Op::PreventGradient | Op::Snapshot | Op::GuaranteeConst => x(0),
        Op::Reshape | Op::BroadcastTo | Op::Squeeze | Op::ExpandDims if same_shape(0) => x(0),
        Op::Pad | Op::PadV2 | Op::MirrorPad | Op::Tile | Op::Slice
            if same_shape(0) && m.operand(op, 0) != m.operand(op, 1) =>
        {
            x(0)
        }
        Op::StridedSlice if same_shape(0) && is_full_slice(m, op) => x(0),
        Op::Transpose if keeps_order(m, op) => x(0),
        Op::ReverseV2 | Op::Roll if affects_size_1_axes_only(m, op) => x(0),
        Op::Cast | Op::Bitcast
            if m.value_type(m.operand(op, 0)) == m.value_type(m.result(op, 0)) || same_elements(m, op) =>
        {
            x(0)
        }
        Op::Sum | Op::Mean | Op::Max | Op::Min | Op::Prod | Op::All | Op::Any
            if ints(m, m.operand(op, 1)).is_some_and(|axes| axes.is_empty()) =>
        {
            x(0)
        }
        Op::ConcatV2 if n == 2 => x(0),
        Op::Concat if n == 2 => x(1),
        Op::AddN if n == 1 => x(0),
        Op::Split if m.n_results(op) == 1 => x(1),
        Op::SplitV if m.n_results(op) == 1 => x(0),
        _ => None,
    }
}

fn same_elements(m: &Module, op: OpId) -> bool {
    m.cx.element(m.value_type(m.operand(op, 0))) == m.cx.element(m.value_type(m.result(op, 0)))
        && !flag(m, op, "Truncate")
}

/// True if a slice has unit steps and changes no axes. If its shape is that of its operand it is the operand.
fn is_full_slice(m: &Module, op: OpId) -> bool {
    let positive = ints(m, m.operand(op, 3)).is_some_and(|steps| steps.iter().all(|&step| step == 1));
    let no_new_axis = m.attr_named(op, "new_axis_mask").and_then(|attr| m.cx.as_int(attr)).unwrap_or(0) == 0;
    let no_shrunk = m.attr_named(op, "shrink_axis_mask").and_then(|attr| m.cx.as_int(attr)).unwrap_or(0) == 0;
    positive && no_new_axis && no_shrunk
}

/// True if the permutation only moves size-1 axes.
fn keeps_order(m: &Module, op: OpId) -> bool {
    let Some(order) = permutation(m, m.operand(op, 1)) else { return false };
    let sizes = dims(m, m.operand(op, 0));
    let matters = |&axis: &i64| {
        let axis = usize::try_from(axis).unwrap_or(usize::MAX);
        sizes.as_ref().and_then(|sizes| sizes.get(axis)).is_none_or(|&size| size != 1)
    };
    let kept: Vec<i64> = order.iter().copied().filter(|axis| matters(axis)).collect();
    let rank = shape(m, m.operand(op, 0)).map(<[i64]>::len);
    rank == Some(order.len()) && kept.is_sorted()
        // A move of size-1 axes is an identity only if the shape stays the same.
        && (order.is_sorted() || dims(m, m.operand(op, 0)) == dims(m, m.result(op, 0)) && sizes.is_some())
}

/// True if all reversed or rolled axes have size 1.
fn affects_size_1_axes_only(m: &Module, op: OpId) -> bool {
    let axes = if operator(m, op) == Some(Op::Roll) { 2 } else { 1 };
    let (Some(axes), Some(sizes)) = (ints(m, m.operand(op, axes)), dims(m, m.operand(op, 0))) else {
        return false;
    };
    axes.iter().all(|&axis| {
        let axis = if axis < 0 { axis + sizes.len() as i64 } else { axis };
        usize::try_from(axis).ok().and_then(|axis| sizes.get(axis)).is_some_and(|&size| size == 1)
    })
}
