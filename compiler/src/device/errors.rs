//! The diagnostics of devices, E1001 to E1008: one function per message.

use bef_format::device::{DeviceSpec, DeviceTextError};

use super::specs::{DeviceIndex, Devices};
use crate::diag::{Diagnostic, Severity, shortened};
use crate::dialects::tf_executor::node;
use crate::ir::{Module, OpId};

/// Maximum number of devices that a message lists.
const MAX_LISTED: usize = 16;

/// An op in a message: its node name with the op name, or the op name alone.
pub(super) fn op_text(m: &Module, op: OpId) -> String {
    match m.node_name(op) {
        Some(node) => format!("'{}' ({})", shortened(node, 100), m.op_name_str(op)),
        None => format!("`{}`", m.op_name_str(op)),
    }
}

fn at(m: &Module, op: OpId, code: &'static str, message: String) -> Diagnostic {
    Diagnostic::error(code, message).at(m.op_spans.at(op).copied())
}

fn listed(devices: &Devices) -> String {
    let names: Vec<String> = devices.all().take(MAX_LISTED).map(|(_, name)| name.to_string()).collect();
    let more = devices.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// E1001: an attribute that is no device spec.
pub(super) fn malformed(m: &Module, op: OpId, text: &str, error: &DeviceTextError) -> Diagnostic {
    let text = shortened(text, 100);
    at(m, op, "E1001", format!("{}: the device '{text}' is malformed: {error}", op_text(m, op)))
}

/// E1002: a spec that no device matches.
pub(super) fn no_device(m: &Module, op: OpId, spec: &DeviceSpec, devices: &Devices) -> Diagnostic {
    at(m, op, "E1002", format!("{}: no device matches '{spec}'", op_text(m, op)))
        .note(None, format!("the devices are {}", listed(devices)))
        .help("name a device that there is, or use soft placement, which drops index and kind of a spec")
}

/// E1003: an op for which no device that matches its spec has a kernel. The spec is that of its group.
pub(super) fn no_kernel(m: &Module, op: OpId, spec: &DeviceSpec, devices: &Devices) -> Diagnostic {
    let matching = if spec.is_open() { String::new() } else { format!(" that matches '{spec}'") };
    let kinds: Vec<&str> = devices.kinds_with_kernel(m, op).into_iter().collect();
    let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
    let message = format!("{}: no device{matching} has a kernel for it", op_text(m, op));
    at(m, op, "E1003", format!("{message}; kinds that have one: {kinds}"))
}

/// E1004: two ops that share a device and have contradicting specs; `path` says why they share it.
pub(super) fn contradiction(
    m: &Module,
    op: OpId,
    spec: &DeviceSpec,
    other: (OpId, &DeviceSpec),
    path: String,
) -> Diagnostic {
    let (other, other_spec) = other;
    let (one, two) = (op_text(m, op), op_text(m, other));
    at(
        m,
        op,
        "E1004",
        format!("{one} is to run on '{spec}' and together with {two}, which is on '{other_spec}'"),
    )
    .label(m.op_spans.at(other).copied(), "on another device")
    .note(None, path)
}

/// E1004, a warning: an op that follows its resource to another device than its spec says.
pub(super) fn resource_wins(
    m: &Module,
    op: OpId,
    spec: &DeviceSpec,
    wins: (OpId, &DeviceSpec),
) -> Diagnostic {
    let (resource, its) = wins;
    let (one, two) = (op_text(m, op), op_text(m, resource));
    at(m, op, "E1004", format!("{one} runs on '{its}', where its resource {two} is, not on '{spec}'"))
        .with_severity(Severity::Warning)
}

/// E1002, a remark: a spec that soft placement relaxed.
pub(super) fn soft(m: &Module, op: OpId, spec: &DeviceSpec, softer: &DeviceSpec) -> Diagnostic {
    let softer = if softer.is_open() { "any device".to_owned() } else { format!("'{softer}'") };
    at(m, op, "E1002", format!("{}: no device for '{spec}'; soft placement takes {softer}", op_text(m, op)))
        .with_severity(Severity::Remark)
}

/// E1005: memories that are too small: numbers of the devices, demand and capacity in bytes.
pub(super) fn no_memory(devices: &Devices, over: &[(DeviceIndex, f64, f64)]) -> Diagnostic {
    let one = |&(device, demand, capacity): &(DeviceIndex, f64, f64)| {
        let name = devices.name(device);
        format!("{name} needs {demand:.0} bytes and has {capacity:.0}")
    };
    let over: Vec<String> = over.iter().take(MAX_LISTED).map(one).collect();
    Diagnostic::error("E1005", format!("the program does not fit into memory: {}", over.join("; ")))
        .note(None, "counted are the constants that a device reads, its variables, and the values that live at a time")
        .help("give the devices more `memory`, or the operators more devices")
}

/// E1007: a measured time that makes no sense.
pub(super) fn bad_cost(m: &Module, op: OpId) -> Diagnostic {
    let message = "cost_ns is no dictionary of kinds of devices, with nanoseconds that are not negative";
    at(m, op, "E1007", format!("{}: {message}", op_text(m, op)))
}

/// E1007: too many copies of functions that are called on different devices.
pub(super) fn too_many_copies(m: &Module, op: OpId, most: usize) -> Diagnostic {
    at(m, op, "E1007", format!("the functions are called on different devices: more than {most} copies"))
}

/// E1007: a malformed set of devices.
pub(super) fn bad_set(text: &str, error: &DeviceTextError) -> Diagnostic {
    Diagnostic::error("E1007", format!("the devices '{}' make no sense: {error}", shortened(text, 200)))
}

/// E1007: too many values that cross between parts; `op` needs the first of those that are too many.
pub(super) fn too_many_channels(m: &Module, op: Option<OpId>, most: i64) -> Diagnostic {
    let message = format!("more than {most} values and control edges cross between the parts of the program");
    Diagnostic::error("E1007", message)
        .at(op.and_then(|op| m.op_spans.at(op).copied()))
        .help("place ops that exchange values together, or divide by task")
}

/// E1008: a collective that cannot be expanded.
pub(super) fn collective(m: &Module, op: OpId, why: &str) -> Diagnostic {
    at(m, op, "E1008", format!("{}: {why}", op_text(m, op)))
}

/// E1007: the option `only` names no part.
pub(super) fn no_part(names: &[String]) -> Diagnostic {
    let names = names.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>().join(", ");
    Diagnostic::error("E1007", "there is no such part").note(None, format!("the parts are {names}"))
}

/// E1008: a loop of primitives on several devices that has no condition, or several, which the parts could
/// follow.
pub(super) fn loop_condition(m: &Module, enter: OpId, n: usize) -> Diagnostic {
    let message = format!("{} enters a loop with {n} LoopConds, which cannot be divided", node(m, enter));
    at(m, enter, "E1008", message)
        .help("a loop on several devices has one LoopCond; or place its ops together")
}

/// E1008: an op of a graph of primitives on a device whose memory is not the host's.
pub(super) fn graph_in_other_memory(m: &Module, op: OpId, device: &str) -> Diagnostic {
    let message =
        format!("{} of a graph of primitives cannot run on {device}: it reads other memory", op_text(m, op));
    at(m, op, "E1008", message).help("leave out --no-functionalize; functions run on all devices")
}

/// E1008: parts that do not fit together: the broken rule, at one end of a channel, and the other end.
pub(super) fn unfit(m: &Module, op: OpId, what: &str, other: Option<(OpId, &str)>) -> Diagnostic {
    let unfit = at(m, op, "E1008", format!("the parts do not fit together: {what}"));
    match other {
        Some((other, note)) => unfit.note(m.op_spans.at(other).copied(), note),
        None => unfit,
    }
}

/// E1006: a handle of a resource that is needed on another device.
pub(super) fn handle_crosses(m: &Module, op: OpId, from: &str, to: &str) -> Diagnostic {
    let op_name = op_text(m, op);
    at(m, op, "E1006", format!("the handle of {op_name} would have to cross from {from} to {to}"))
        .help("place the ops that work on the resource together")
}
