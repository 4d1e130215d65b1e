//! Operators, executed one by one.

use std::ffi::c_char;

use befrost::Error;
use befrost::eager::AttrValue;

use super::runtime::runtime_or_new;
use super::{
    Out, bf_error, bf_op, bf_runtime, bf_tensor, clear, deliver, give, guard, invalid, items, release,
    retain, text, value_of, values,
};
use crate::dtype;
use crate::handle::EagerOp;

/// An operator by its name. Without a runtime it is executed on the caller's thread.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_create(
    runtime: *const bf_runtime,
    name: *const c_char,
    out: *mut *mut bf_op,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the operator", out)?;
        let core = runtime_or_new(runtime, Some("s"))?.eager();
        out.set(give(EagerOp::new(core, text("the name", name)?)));
        Ok(())
    })
}

/// Sets an attribute of an operator.
fn set(
    op: *const bf_op,
    name: *const c_char,
    value: impl FnOnce() -> Result<AttrValue, Error>,
) -> *mut bf_error {
    guard(|| {
        let op = value_of(op)?;
        op.set(text("the name", name)?, value()?);
        Ok(())
    })
}

/// Sets an attribute that is an integer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_int(op: *const bf_op, name: *const c_char, value: i64) -> *mut bf_error {
    set(op, name, || Ok(value.into()))
}

/// Sets an attribute that is a number.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_float(op: *const bf_op, name: *const c_char, value: f32) -> *mut bf_error {
    set(op, name, || Ok(value.into()))
}

/// Sets an attribute that is true or false: 0 is false.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_bool(op: *const bf_op, name: *const c_char, value: i32) -> *mut bf_error {
    set(op, name, || Ok((value != 0).into()))
}

/// Sets an attribute that is an element type.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_dtype(op: *const bf_op, name: *const c_char, value: i32) -> *mut bf_error {
    set(op, name, || {
        let ty = dtype::type_of_number(value).ok_or_else(|| invalid(format!("{value} is no dtype")))?;
        Ok(ty.into())
    })
}

/// Sets an attribute that is a text.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_string(
    op: *const bf_op,
    name: *const c_char,
    value: *const c_char,
) -> *mut bf_error {
    set(op, name, || Ok(text("the value", value)?.into()))
}

/// Sets an attribute that is a list of integers.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_ints(
    op: *const bf_op,
    name: *const c_char,
    values: *const i64,
    n_values: usize,
) -> *mut bf_error {
    set(op, name, || Ok(items("the values", values, n_values)?.into()))
}

/// Executes an operator, and waits for its results.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_execute(
    op: *const bf_op,
    operands: *const *mut bf_tensor,
    n_operands: usize,
    out: *mut *mut bf_tensor,
    n_results: usize,
) -> *mut bf_error {
    guard(|| {
        clear(n_results, out)?;
        let results = value_of(op)?.execute(values(operands, n_operands)?)?;
        if results.len() != n_results {
            return Err(invalid(format!("{n_results} places for {} results", results.len())));
        }
        deliver(results.into_iter().map(Some).collect(), out)
    })
}

/// Another reference to an operator.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_retain(op: *mut bf_op) {
    retain(op);
}

/// Gives a reference to an operator back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_release(op: *mut bf_op) {
    release(op);
}
