//! Ops on scalars that give no error unless an operand is one.
//!
//! Results that are undefined or poison upstream are errors of our kernels: a division by zero, a signed
//! quotient that overflows, a shift by the width or more, a float that does not fit an integer.

use crate::fold::int_value;
use crate::ir::{Module, OpId, TypeId, TypeKind};

/// True if no operands make the kernel of `arith` or `math` fail.
pub(in crate::dialects) fn is_total(m: &Module, op: OpId) -> bool {
    if !m.results(op).all(|value| is_scalar(m, m.value_type(value))) {
        return false;
    }
    let second = || m.operands(op).nth(1).and_then(|value| int_value(m, value));
    let name = m.op_name_str(op);
    let Some((_, name)) = name.split_once('.') else { return false };
    match name {
        "divsi" | "ceildivsi" | "floordivsi" => {
            second().is_some_and(|divisor| !matches!(divisor.signed(), 0 | -1))
        }
        "divui" | "ceildivui" | "remsi" | "remui" => second().is_some_and(|divisor| divisor.signed() != 0),
        "shli" | "shrsi" | "shrui" => {
            let width = m.results(op).next().and_then(|value| width(m, m.value_type(value)));
            second().zip(width).is_some_and(|(distance, width)| (0..width).contains(&distance.signed()))
        }
        "fptosi" | "fptoui" | "ctlz" | "cttz" | "ipowi" => false,
        _ => true,
    }
}

fn width(m: &Module, ty: TypeId) -> Option<i128> {
    match *m.cx.ty(ty) {
        TypeKind::Integer { width, .. } => Some(width.into()),
        TypeKind::Index => Some(64),
        _ => None,
    }
}

/// True for the types that a register holds.
fn is_scalar(m: &Module, ty: TypeId) -> bool {
    matches!(m.cx.ty(ty), TypeKind::Float(_)) || width(m, ty).is_some_and(|width| width <= 64)
}
