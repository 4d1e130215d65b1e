//! Sessions, callables, variables.

use std::ffi::c_char;

use befrost::{Session, Shapes};

use super::runtime::runtime_or_new;
use super::tensor::row_of;
use super::{
    OptionsStruct, Out, bf_callable, bf_error, bf_runtime, bf_session, bf_tensor, clear, deliver, give,
    guard, invalid, names, optional, options, release, retain, text, value_of, values,
};
use crate::handle::TensorValue;

/// Options of a session. `size` is the size of the structure that the caller was compiled with.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct bf_session_options {
    /// `sizeof(bf_session_options)`.
    pub(crate) size: u32,
    /// The level of optimization, 0 to 2.
    pub(crate) level: i32,
    /// The work queue, `s` or `mstd:2`; null: the default.
    pub(crate) work_queue: *const c_char,
    /// The node that initializes the variables; null: none.
    pub(crate) init: *const c_char,
    /// The signature whose inputs and outputs are names of the session; null: the default one.
    pub(crate) signature: *const c_char,
    /// A folder for compiled programs; null: none.
    pub(crate) cache_dir: *const c_char,
    /// Which sizes programs are compiled for: 0 all, those that come often by themselves; 1 all; 2 each.
    pub(crate) shapes: i32,
    /// Not 0: files of models are mapped, and do not change.
    pub(crate) map_weights: i32,
}

// SAFETY: numbers and pointers.
unsafe impl OptionsStruct for bf_session_options {
    const NAME: &'static str = "bf_session_options";
    const FIRST_SIZE: usize = std::mem::offset_of!(bf_session_options, signature);
}

/// Opens a model. Without a runtime it has one of its own.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_open(
    runtime: *const bf_runtime,
    path: *const c_char,
    given: *const bf_session_options,
    out: *mut *mut bf_session,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the session", out)?;
        let path = text("the path", path)?;
        let mut builder = Session::builder();
        let mut own_queue = None;
        if let Some(given) = options(given)? {
            let level = u8::try_from(given.level).ok().filter(|&level| level <= 2);
            builder = builder.level(level.ok_or_else(|| invalid(format!("{} is no level", given.level)))?);
            own_queue = optional("the work queue", given.work_queue)?;
            if own_queue.is_some() && !runtime.is_null() {
                return Err(invalid("the runtime has a work queue: the options may not name another one"));
            }
            if let Some(init) = optional("the name of the initialization", given.init)? {
                builder = builder.init(init);
            }
            if let Some(signature) = optional("the name of the signature", given.signature)? {
                builder = builder.signature(signature);
            }
            if let Some(folder) = optional("the folder for compiled programs", given.cache_dir)? {
                builder = builder.cache_dir(folder);
            }
            builder = builder.shapes(match given.shapes {
                0 => Shapes::Auto,
                1 => Shapes::Declared,
                2 => Shapes::Exact,
                other => return Err(invalid(format!("there are no shapes {other}"))),
            });
            // SAFETY: by the contract the files do not change if they are to be mapped.
            builder = unsafe { builder.map_weights(given.map_weights != 0) };
        }
        out.set(give(builder.runtime(&runtime_or_new(runtime, own_queue)?).open(path)?));
        Ok(())
    })
}

/// Another reference to a session.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_retain(session: *mut bf_session) {
    retain(session);
}

/// Gives a reference to a session back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_release(session: *mut bf_session) {
    release(session);
}

/// Writes a function of a session as a BEF file, with the present values of the variables: from its inputs to
/// its outputs, or, of a graph, from these tensors to those.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_save(
    session: *const bf_session,
    path: *const c_char,
    feed_names: *const *const c_char,
    n_feeds: usize,
    fetch_names: *const *const c_char,
    n_fetches: usize,
) -> *mut bf_error {
    guard(|| {
        let (session, path) = (value_of(session)?, text("the path", path)?);
        let feeds = names("a name to feed", feed_names, n_feeds)?;
        let fetches = names("a name to fetch", fetch_names, n_fetches)?;
        match (&feeds[..], &fetches[..]) {
            ([], []) => session.save(path),
            (feeds, fetches) => session.save_part(path, feeds, fetches),
        }
    })
}

/// Prepares names to be run again and again.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_callable(
    session: *const bf_session,
    feed_names: *const *const c_char,
    n_feeds: usize,
    fetch_names: *const *const c_char,
    n_fetches: usize,
    out: *mut *mut bf_callable,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the callable", out)?;
        let feeds = names("a name to feed", feed_names, n_feeds)?;
        let fetches = names("a name to fetch", fetch_names, n_fetches)?;
        out.set(give(value_of(session)?.callable(&feeds, &fetches)?));
        Ok(())
    })
}

/// Computes the fetches of a callable.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_callable_call(
    callable: *const bf_callable,
    feeds: *const *mut bf_tensor,
    n_feeds: usize,
    out: *mut *mut bf_tensor,
    n_fetches: usize,
) -> *mut bf_error {
    guard(|| {
        clear(n_fetches, out)?;
        let results = value_of(callable)?.call(values(feeds, n_feeds)?)?;
        if results.len() != n_fetches {
            let message = format!("{n_fetches} places for {} results", results.len());
            return Err(invalid(message));
        }
        deliver(results.into_values(), out)
    })
}

/// Another reference to a callable.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_callable_retain(callable: *mut bf_callable) {
    retain(callable);
}

/// Gives a reference to a callable back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_callable_release(callable: *mut bf_callable) {
    release(callable);
}

/// The names of the variables that have values, as a tensor of strings.
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
