//! Operators, executed one by one.

use std::ffi::c_char;

use befrost::Error;
use befrost::eager::TensorHandle;

use super::runtime::core_of;
use super::{
    Out, bf_error, bf_future, bf_op, bf_runtime, bf_tensor, clear, deliver, fits, give, guard, items,
    release, retain, store, text, value_of,
};
use crate::handle::{EagerOp, Future, TensorValue};

/// An operator of TensorFlow's, or of a kernel library of the runtime's, by its name. Operators of one
/// runtime share variables, tables and the order of their effects. Without a runtime it is executed on the
/// caller's thread, and shares them with all others without one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_create(
    runtime: *const bf_runtime,
    name: *const c_char,
    out: *mut *mut bf_op,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the operator", out)?;
        out.set(give(EagerOp::new(core_of(runtime)?, text("the name", name)?)));
        Ok(())
    })
}

/// The tensors of an array as operands.
fn operands_of(first: *const *mut bf_tensor, n: usize) -> Result<Vec<TensorHandle>, Error> {
    let tensors = items("the operands", first, n)?.iter();
    tensors.map(|&tensor| Ok(TensorHandle::new(value_of(tensor)?.value.value().clone()))).collect()
}

/// Executes an operator, and waits for its results. Operands and results may be tensors of any kind: handles
/// of variables, lists.
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
        let results = value_of(op)?.begin(&operands_of(operands, n_operands)?)?;
        fits(n_results, results.len())?;
        let made = results.iter().map(|result| result.wait_value().map(|value| Some(value.into())));
        deliver(made.collect::<Result<Vec<_>, _>>()?, out)
    })
}

/// Begins to execute an operator, which goes on while the caller does something else if it takes long and the
/// runtime has threads. One without results is waited for.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_start(
    op: *const bf_op,
    operands: *const *mut bf_tensor,
    n_operands: usize,
    out: *mut *mut bf_future,
    n_results: usize,
) -> *mut bf_error {
    guard(|| {
        clear(n_results, out)?;
        let results = value_of(op)?.begin(&operands_of(operands, n_operands)?)?;
        fits(n_results, results.len())?;
        store(results.into_iter().map(|result| give(Future(result))), out);
        Ok(())
    })
}

/// 1 if a result is there, or an error in its place; 0 if not, and for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_future_is_done(future: *const bf_future) -> i32 {
    value_of(future).map_or(0, |future| i32::from(future.0.unavailable().is_none()))
}

/// Waits for a result. It may be asked for any number of times.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_future_wait(future: *const bf_future, out: *mut *mut bf_tensor) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the result", out)?;
        out.set(give(TensorValue::new(value_of(future)?.wait()?)?));
        Ok(())
    })
}

/// Another reference to a future.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_future_retain(future: *mut bf_future) {
    retain(future);
}

/// Gives a reference to a future back. The operator goes on.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_future_release(future: *mut bf_future) {
    release(future);
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
