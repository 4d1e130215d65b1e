//! Devices and parts after the lowering to kernels: each kernel's device, and the calls of functions of
//! parts.

use crate::dialects::dev;
use crate::dialects::tfrt::Call;
use crate::dialects::tfrt_control::{Case, Cond, While};
use crate::ir::{AttrId, KnownType, Module, OpId, Traits, ValueId, names};
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
/// send: an error must arrive there as an error. In a graph of primitives a gate decides in all parts alike.
/// The step that all parts share is there at once; they begin when it is.
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
        let m = r.ir();
        let is_required = |(i, value)| i < n_required || is_step(m, value) || is_gated(m, value);
        let required: Vec<bool> = m.operands(op).enumerate().map(is_required).collect();
        let modes = required.into_iter().map(|is| r.cx().str_attr(if is { "required" } else { "lenient" }));
        let modes: Vec<AttrId> = modes.collect();
        let modes = r.cx().array_attr(&modes);
        r.set_attr(op, names::BEF_OPERAND_MODES, modes);
    }
}

/// True for the step that all parts share, where it begins.
fn is_step(m: &Module, value: ValueId) -> bool {
    m.defining_op(value).is_some_and(|op| m.op_name_str(op) == dev::STEP)
}

/// True for a step that depends on more than the step around it.
fn is_gated(m: &Module, step: ValueId) -> bool {
    let enter = m.defining_op(step).filter(|&op| m.op_name_str(op) == dev::ENTER);
    enter.is_some_and(|op| m.n_operands(op) > 1)
}
