//! Devices and parts after the lowering to kernels: each kernel's device, and the calls of functions of
//! parts.

use crate::dialects::dev;
use crate::dialects::tfrt::Call;
use crate::dialects::tfrt_control::{Case, Cond, While};
use crate::ir::{AttrId, KnownType, OpId, Traits, names};
use crate::pass::Rewriter;

/// Gives each kernel the device of its operator, and other kernels in the function of a part the part's
/// device. The simulated times of recvs are no attributes of kernels.
pub(crate) fn place_kernels(r: &mut Rewriter<'_>) {
    let m = r.ir();
    let recvs: Vec<OpId> = m.walk_functions().filter(|&op| m.op_name_str(op) == dev::RECV).collect();
    let start = r.cx().str_id("start");
    recvs.into_iter().for_each(|op| r.remove_attr(op, start));
    let m = r.ir();
    let functions = m.functions();
    let of_parts: Vec<(OpId, AttrId)> = functions
        .into_iter()
        .filter_map(|function| Some((function, m.attr(function, names::DEVICE)?)))
        .collect();
    for (function, device) in of_parts {
        r.remove_attr(function, names::DEVICE);
        let m = r.ir();
        let is_glue = |&op: &OpId| {
            op != function && m.attr(op, names::DEVICE).is_none() && !m.traits(op).has(Traits::TERMINATOR)
        };
        let glue: Vec<OpId> = m.walk(function).filter(is_glue).collect();
        glue.into_iter().for_each(|op| r.set_attr(op, names::DEVICE, device));
    }
    let m = r.ir();
    let placed: Vec<(OpId, AttrId)> =
        m.walk_functions().filter_map(|op| Some((op, m.attr(op, names::DEVICE)?))).collect();
    for (op, device) in placed {
        r.remove_attr(op, names::DEVICE);
        r.set_attr(op, names::BEF_DEVICE, device);
    }
}

/// Makes functions of parts run even if their arguments are errors. Other parts wait for the values that they
/// send: an error must arrive there as an error.
pub(crate) fn run_parts_in_any_case(r: &mut Rewriter<'_>) {
    let m = r.ir();
    let has_step = |op: OpId| m.operands(op).any(|value| m.value_type(value) == KnownType::Step.id());
    let calls: Vec<(OpId, usize)> = m
        .walk_functions()
        .filter_map(|op| match m.op_name_str(op) {
            Call::NAME => Some((op, 0)),
            // The predicate decides.
            Cond::NAME | Case::NAME | While::NAME => Some((op, 1)),
            _ => None,
        })
        .filter(|&(op, _)| has_step(op))
        .collect();
    for (op, n_required) in calls {
        let modes: Vec<AttrId> = (0..r.ir().n_operands(op))
            .map(|i| r.cx().str_attr(if i < n_required { "required" } else { "lenient" }))
            .collect();
        let modes = r.cx().array_attr(&modes);
        r.set_attr(op, names::BEF_OPERAND_MODES, modes);
    }
}
