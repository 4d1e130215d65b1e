//! Devices: the placement of the ops of an op graph, the transfers between devices, and the division of a
//! program.
//!
//! ```text
//! op graph ─resolve─▶ specs ─place─▶ one device per op ─┬─transfers─▶ one function, ops of several devices
//!                                                       └─partition─▶ a function per device, send and recv
//! ```
//!
//! An op has the attribute `device`: a spec, such as `/device:CPU:1`, in a model; after `tf-place` the full
//! name of a device. Constants have none: every device has those that it reads. `colocate` names groups of
//! ops that share a device.
//!
//! `tf-place` runs before all optimizations, so that no pass has to know devices: from then on a value passes
//! from one device to another through a `dev.transfer`, across which no pattern matches. Ops that passes
//! create have no device; `tf-transfers`, once more at the end, gives them the device of their operands.
//!
//! [`specs`] reads attributes, [`resolve`] merges specs through calls, [`mod@place`] chooses, [`homes`] finds
//! the devices of functions' arguments and results. [`transfers`] and [`partition`] are the two alternatives
//! that follow.

pub(crate) mod collectives;
mod crossings;
pub(crate) mod errors;
mod handles;
pub(crate) mod homes;
mod invariants;
pub(crate) mod lowered;
mod options;
pub(crate) mod partition;
pub(crate) mod place;
pub(crate) mod resolve;
mod resources;
mod sets;
pub(crate) mod specs;
pub(crate) mod transfers;
pub(crate) mod view;

pub use options::{DeviceOptions, Partition};
pub use place::CostProfile;
pub use resources::ResourcePlaces;

use bef_format::device::DeviceSpec;
use befrost_tensor::tf::op::{Op, Type};

use crate::dialects::dev;
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::{self, GRAPH};
use crate::ir::{AttrId, BlockId, Module, OpId, ValueId, names};

/// True if an op runs on one device: an operator, but no constant.
pub(crate) fn is_placed(m: &Module, op: OpId) -> bool {
    tf::op_of(m.op_name_str(op)).is_some() && !is_constant(m, op)
}

/// The device of an op or a kernel, if it has one.
pub(crate) fn device_of(m: &Module, op: OpId) -> Option<AttrId> {
    m.attr(op, names::DEVICE).or_else(|| m.attr(op, names::BEF_DEVICE))
}

/// True if an op or a kernel leaves its results in a memory other than the host's: it runs on a device with
/// such a memory, or transfers its operand there.
pub(crate) fn is_in_other_memory(m: &Module, op: OpId) -> bool {
    let name = dev::destination(m, op).or_else(|| m.cx.as_str(device_of(m, op)?));
    name.and_then(|name| name.parse::<DeviceSpec>().ok()).is_some_and(|spec| !specs::may_be_host(&spec))
}

/// True for an op with a predicate.
pub(crate) fn is_branch(m: &Module, op: OpId) -> bool {
    Control::of(m, op).is_some_and(Control::is_branch)
}

/// True if a value is a handle or a reference, which stays where its resource is.
pub(crate) fn is_handle(m: &Module, value: ValueId) -> bool {
    let ty = tf::type_of(&m.cx, m.value_type(value));
    ty.is_some_and(|(ty, is_ref)| is_ref || ty == Type::Resource)
}

/// True for a constant that every device has. A constant of a graph of primitives that waits for control
/// edges is dead if one is, so it is on one device.
pub(crate) fn is_everywhere(m: &Module, op: OpId) -> bool {
    let is_gated = || m.n_operands(op) > 0 && m.parent_op(op).is_some_and(|of| m.op_name_str(of) == GRAPH);
    is_constant(m, op) && !is_gated()
}

/// The ops of a block, and those of the graphs of primitives in it, each graph behind its ops.
pub(crate) fn ops_with_graphs(m: &Module, block: BlockId) -> Vec<OpId> {
    let mut all = Vec::new();
    for op in m.ops_in(block) {
        if m.op_name_str(op) == GRAPH {
            all.extend(tf_executor::block_of(m, op).into_iter().flat_map(|inner| m.ops_in(inner)));
        }
        all.push(op);
    }
    all
}

/// The ops of the body of a function, as [`ops_with_graphs`].
pub(crate) fn body_with_graphs(m: &Module, function: OpId) -> Vec<OpId> {
    homes::block_of(m, function).map_or_else(Vec::new, |block| ops_with_graphs(m, block))
}

/// True for a constant.
pub(crate) fn is_constant(m: &Module, op: OpId) -> bool {
    tf::operator(m, op) == Some(Op::Const)
}
