//! `dev`: what crosses between devices.
//!
//! ```text
//! %1 = dev.transfer %0 to "/job:localhost/replica:0/task:0/device:SIM:0" : tensor<4xf32>
//! ```

use super::{AttrConstraint as A, OpDef, Registry, TypeConstraint as T, TypeFn};
use crate::ir::{Module, OpId};

/// The op that brings a value to another device.
pub const TRANSFER: &str = "dev.transfer";

/// The device to which an op brings its operand, if it is a transfer.
pub fn destination(m: &Module, op: OpId) -> Option<&str> {
    let attr = m.attr_named(op, "to").filter(|_| m.op_name_str(op) == TRANSFER)?;
    m.cx.as_str(attr)
}

pub(super) fn ops(r: &mut Registry) {
    r.add(
        OpDef::new(TRANSFER, "the value in the memory of another device")
            .operand("value", T::Any)
            .attr("to", A::Str)
            .result("result", T::Any)
            .type_from("result", "value", TypeFn::Same)
            .pure()
            .format("$value `to` $to attr-dict `:` type($value)")
            .kernel(),
    );
}
