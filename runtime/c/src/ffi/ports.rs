//! Inputs, outputs and tensors of models: names and types.

use std::ffi::c_char;

use super::{Out, bf_error, bf_model, bf_ports, bf_session, give, guard, invalid, release, retain, value_of};
use crate::handle::{PortList, PortValue};

/// The inputs, the outputs, or all tensors of a session that can be fed or fetched: `BF_INPUTS`, `BF_OUTPUTS`
/// or `BF_TENSORS`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_ports(
    session: *const bf_session,
    which: i32,
    out: *mut *mut bf_ports,
) -> *mut bf_error {
    guard(|| {
        let (out, session) = (Out::new("the ports", out)?, value_of(session)?);
        let ports = match which {
            0 => session.inputs()?,
            1 => session.outputs()?,
            2 => &session.tensors()?,
            other => return Err(invalid(format!("there are no ports {other}"))),
        };
        out.set(give(PortList::new(ports)));
        Ok(())
    })
}

/// The inputs or the outputs of a model, in their order: `BF_INPUTS` or `BF_OUTPUTS`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_model_ports(
    model: *const bf_model,
    which: i32,
    out: *mut *mut bf_ports,
) -> *mut bf_error {
    guard(|| {
        let (out, model) = (Out::new("the ports", out)?, value_of(model)?);
        let ports = match which {
            0 => model.inputs(),
            1 => model.outputs(),
            other => return Err(invalid(format!("there are no ports {other}"))),
        };
        out.set(give(PortList::new(ports)));
        Ok(())
    })
}

fn port<'p>(ports: *const bf_ports, position: usize) -> Option<&'p PortValue> {
    value_of(ports).ok()?.0.get(position)
}

/// The number of ports; 0 for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_ports_count(ports: *const bf_ports) -> usize {
    value_of(ports).map_or(0, |ports| ports.0.len())
}

/// The name of a port, which lives as long as the ports; null behind the last, and for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_ports_name(ports: *const bf_ports, position: usize) -> *const c_char {
    port(ports, position).map_or(std::ptr::null(), |port| port.name.as_ptr())
}

/// The element type of a port; 0 if it has none, behind the last, and for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_ports_dtype(ports: *const bf_ports, position: usize) -> i32 {
    port(ports, position).map_or(0, |port| port.dtype)
}

/// The rank of a port; -1 if it is unknown, behind the last, and for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_ports_rank(ports: *const bf_ports, position: usize) -> i32 {
    let dims = port(ports, position).and_then(|port| port.dims.as_ref());
    dims.map_or(-1, |dims| i32::try_from(dims.len()).unwrap_or(i32::MAX))
}

/// The sizes of a port, -1 for one that differs from run to run, which live as long as the ports; null if the
/// rank is unknown, behind the last, and for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_ports_dims(ports: *const bf_ports, position: usize) -> *const i64 {
    let dims = port(ports, position).and_then(|port| port.dims.as_ref());
    dims.map_or(std::ptr::null(), |dims| dims.as_ptr())
}

/// Another reference to ports.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_ports_retain(ports: *mut bf_ports) {
    retain(ports);
}

/// Gives a reference to ports back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_ports_release(ports: *mut bf_ports) {
    release(ports);
}
