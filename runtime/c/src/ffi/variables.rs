//! Variables of sessions.

use std::ffi::c_char;

use super::tensor::row_of;
use super::{
    Out, bf_error, bf_session, bf_snapshot, bf_tensor, give, guard, release, retain, text, value_of,
};
use crate::handle::{Snapshot, TensorValue};

/// The names of the variables that have values, as a tensor of texts.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_variables_names(
    session: *const bf_session,
    out: *mut *mut bf_tensor,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the names", out)?;
        let names = value_of(session)?.variables().names()?;
        out.set(give(TensorValue::new(row_of(&names)?)?));
        Ok(())
    })
}

/// The value of a variable.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_variables_get(
    session: *const bf_session,
    name: *const c_char,
    out: *mut *mut bf_tensor,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the value", out)?;
        let value = value_of(session)?.variables().get(text("the name", name)?)?;
        out.set(give(TensorValue::new(value.into())?));
        Ok(())
    })
}

/// Gives a variable a value.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_variables_set(
    session: *const bf_session,
    name: *const c_char,
    value: *const bf_tensor,
) -> *mut bf_error {
    guard(|| {
        let value = value_of(value)?.value.tensor()?.clone();
        value_of(session)?.variables().set(text("the name", name)?, value)
    })
}

/// The values of all variables, which later runs do not change.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_variables_snapshot(
    session: *const bf_session,
    out: *mut *mut bf_snapshot,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the snapshot", out)?;
        out.set(give(Snapshot(value_of(session)?.variables().snapshot()?)));
        Ok(())
    })
}

/// Gives the variables of a session the values of a snapshot.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_variables_restore(
    session: *const bf_session,
    snapshot: *const bf_snapshot,
) -> *mut bf_error {
    guard(|| value_of(session)?.variables().restore(value_of(snapshot)?.0.iter().cloned()))
}

/// Another reference to a snapshot.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_snapshot_retain(snapshot: *mut bf_snapshot) {
    retain(snapshot);
}

/// Gives a reference to a snapshot back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_snapshot_release(snapshot: *mut bf_snapshot) {
    release(snapshot);
}
