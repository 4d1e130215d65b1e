//! Devices: which one runs each op of an op graph, what crosses between them, and how a program is divided.
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
//! `tf-place` runs in front of all optimizations, so that no pass has to know devices: where a value goes
//! from one device to another there is a `dev.transfer` from then on, and no pattern matches across it. Ops
//! that passes create have no device; `tf-transfers`, once more at the end, gives them that of their
//! operands.
//!
//! [`specs`] reads attributes, [`resolve`] merges specs through calls, [`mod@place`] chooses, [`homes`] says
//! where arguments and results of functions are, [`transfers`] and [`partition`] are the two ways on.

pub(crate) mod collectives;
pub(crate) mod errors;
pub(crate) mod homes;
pub(crate) mod lowered;
mod options;
pub(crate) mod partition;
pub(crate) mod place;
pub(crate) mod resolve;
pub(crate) mod specs;
pub(crate) mod transfers;

pub use options::{DeviceOptions, Partition};

use bef_format::device::DeviceSpec;
use befrost_tensor::tf::op::Op;

use crate::dialects::{dev, tf};
use crate::ir::{Module, OpId, names};

/// True if an op runs on one device: an operator, but no constant.
pub(crate) fn is_placed(m: &Module, op: OpId) -> bool {
    tf::op_of(m.op_name_str(op)).is_some() && !is_constant(m, op)
}

/// True if an op, or a kernel, leaves its results in the memory of a device that has one of its own: it is
/// placed there, or transfers its operand there.
pub(crate) fn is_in_other_memory(m: &Module, op: OpId) -> bool {
    let device = m.attr(op, names::DEVICE).or_else(|| m.attr(op, names::BEF_DEVICE));
    let name = dev::destination(m, op).or_else(|| m.cx.as_str(device?));
    name.and_then(|name| name.parse::<DeviceSpec>().ok()).is_some_and(|spec| !specs::may_be_host(&spec))
}

/// True if each device has the results of the op from the beginning.
pub(crate) fn is_constant(m: &Module, op: OpId) -> bool {
    tf::operator(m, op) == Some(Op::Const)
}
