//! Sessions and callables.

use std::cell::Cell;
use std::ffi::{c_char, c_void};

use befrost::{Datum, Error, Session, SessionBuilder, Shapes};

use super::run::{bf_run_options, traced};
use super::runtime::runtime_or_new;
use super::tensor::row_of;
use super::{
    OptionsStruct, Out, bf_callable, bf_error, bf_runtime, bf_session, bf_tensor, clear, deliver, fits, give,
    guard, invalid, items, names, optional, options, release, retain, text, value_of, values,
};
use crate::handle::TensorValue;

/// Options of a session.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct bf_session_options {
    /// `sizeof(bf_session_options)`.
    pub(crate) size: u32,
    /// The level of optimization, 0 to 2; without options it is 2.
    pub(crate) level: i32,
    /// The work queue, `s` or `mstd:2`; null: the default. With a runtime it must be null.
    pub(crate) work_queue: *const c_char,
    /// The node that initializes the variables; null: none.
    pub(crate) init: *const c_char,
    /// The signature whose inputs and outputs are names of the session; null: the default one, or none.
    pub(crate) signature: *const c_char,
    /// A folder for compiled programs; null: none.
    pub(crate) cache_dir: *const c_char,
    /// Which sizes programs are compiled for: `BF_SHAPES_AUTO` or another.
    pub(crate) shapes: i32,
    /// Not 0: files of models are mapped, and must not change while the session lives.
    pub(crate) map_weights: i32,
    /// The session whose variables it shares, and does not initialize; null: it has its own.
    pub(crate) variables_of: *const bf_session,
}

// SAFETY: numbers and pointers.
unsafe impl OptionsStruct for bf_session_options {
    const NAME: &'static str = "bf_session_options";
    const FIRST_SIZE: usize = std::mem::offset_of!(bf_session_options, signature);
}

/// A builder with these options.
fn session_builder(
    runtime: *const bf_runtime,
    given: *const bf_session_options,
) -> Result<SessionBuilder, Error> {
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
        if !given.variables_of.is_null() {
            builder = builder.variables(value_of(given.variables_of)?.variables().resources().clone());
        }
    }
    Ok(builder.runtime(&runtime_or_new(runtime, own_queue)?))
}

/// Opens a model: a TensorFlow graph or the folder of a SavedModel, an ONNX model, MLIR text or a BEF file,
/// of which all arguments of a function are fed. Without a runtime it has one of its own; the options may be
/// null.
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
        out.set(give(session_builder(runtime, given)?.open(path)?));
        Ok(())
    })
}

/// `bf_session_open` of the contents of a file that names no other files. They are copied.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_open_bytes(
    runtime: *const bf_runtime,
    bytes: *const c_void,
    n_bytes: usize,
    given: *const bf_session_options,
    out: *mut *mut bf_session,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the session", out)?;
        let bytes = items("the model", bytes.cast::<u8>(), n_bytes)?;
        out.set(give(session_builder(runtime, given)?.bytes(bytes.to_vec())?));
        Ok(())
    })
}

/// The names of a model's signatures, or of a program's functions, as a tensor of texts.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_signatures(
    session: *const bf_session,
    out: *mut *mut bf_tensor,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the names", out)?;
        let signatures = value_of(session)?.signatures().iter();
        let names: Vec<String> = signatures.map(|signature| signature.name().to_owned()).collect();
        out.set(give(TensorValue::new(row_of(&names)?)?));
        Ok(())
    })
}

/// Compiles what a run of these names needs, without running it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_warm(
    session: *const bf_session,
    feed_names: *const *const c_char,
    n_feeds: usize,
    fetch_names: *const *const c_char,
    n_fetches: usize,
    targets: *const *const c_char,
    n_targets: usize,
) -> *mut bf_error {
    guard(|| {
        let feeds = names("a name to feed", feed_names, n_feeds)?;
        let fetches = names("a name to fetch", fetch_names, n_fetches)?;
        value_of(session)?.warm_declared(&feeds, &fetches, &names("a target", targets, n_targets)?)
    })
}

/// Counts of a session.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct bf_stats {
    /// `sizeof(bf_stats)`.
    pub(crate) size: u32,
    /// Sets of names whose programs are kept.
    pub(crate) executables: u32,
    /// Programs compiled.
    pub(crate) compilations: u64,
    /// Programs that were read from the folder for compiled programs instead.
    pub(crate) from_cache: u64,
    /// Those of either kind that are for sizes of their own.
    pub(crate) specializations: u64,
    /// Runs whose program was there.
    pub(crate) hits: u64,
    /// The bytes of the programs that are kept.
    pub(crate) bytes: u64,
}

// SAFETY: numbers.
unsafe impl OptionsStruct for bf_stats {
    const NAME: &'static str = "bf_stats";
    const FIRST_SIZE: usize = size_of::<bf_stats>();
}

/// Stores the counts of a session in a structure whose `size` is set.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_stats(session: *const bf_session, out: *mut bf_stats) -> *mut bf_error {
    guard(|| {
        let given = options(out.cast_const())?.ok_or_else(|| invalid("the place for the counts is null"))?;
        let stats = value_of(session)?.stats();
        let made = bf_stats {
            size: given.size,
            executables: u32::try_from(stats.executables).unwrap_or(u32::MAX),
            compilations: stats.compilations,
            from_cache: stats.from_cache,
            specializations: stats.specializations,
            hits: stats.hits,
            bytes: stats.bytes as u64,
        };
        // SAFETY: by the contract it points to a structure of the caller's size, which is no smaller.
        unsafe { *out = made };
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
        let callable = value_of(callable)?;
        let (mut feed_values, mut results) = LISTS.take();
        let called = items("the tensors", feeds, n_feeds)?.iter().try_for_each(|&feed| {
            feed_values.push(value_of(feed)?.value.clone());
            Ok(())
        });
        let called = called.and_then(|()| callable.call(&mut feed_values, &mut results));
        let delivered = called.and_then(|()| {
            fits(n_fetches, results.len())?;
            // A fetched operation without outputs is a chain.
            let data = results.drain(..).map(Some);
            deliver(data.map(|datum| datum.filter(|datum| !datum.is_chain())), out)
        });
        feed_values.clear();
        results.clear();
        LISTS.set((feed_values, results));
        delivered
    })
}

thread_local! {
    /// Empty lists of the thread's last call.
    static LISTS: Cell<(Vec<Datum>, Vec<Datum>)> = const { Cell::new((Vec::new(), Vec::new())) };
}

/// Computes the fetches of a callable with options, which name no targets.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_callable_call_with(
    callable: *const bf_callable,
    given: *const bf_run_options,
    feeds: *const *mut bf_tensor,
    n_feeds: usize,
    out: *mut *mut bf_tensor,
    n_fetches: usize,
) -> *mut bf_error {
    guard(|| {
        clear(n_fetches, out)?;
        let (callable, feeds) = (value_of(callable)?, values(feeds, n_feeds)?);
        let results = traced(given, |options| callable.run_with(feeds, options))?;
        fits(n_fetches, results.len())?;
        deliver(results.into_values(), out)
    })
}

/// Computes the fetches of a callable and writes them into tensors of their types and sizes, which
/// `bf_tensor_create` has made. After an error some may have been written.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_callable_call_into(
    callable: *const bf_callable,
    feeds: *const *mut bf_tensor,
    n_feeds: usize,
    into: *const *mut bf_tensor,
    n_fetches: usize,
) -> *mut bf_error {
    guard(|| {
        let (callable, feeds) = (value_of(callable)?, values(feeds, n_feeds)?);
        let into = values(into, n_fetches)?;
        let into = into.iter().map(|datum| datum.tensor().cloned()).collect::<Result<Vec<_>, Error>>()?;
        callable.call_into(feeds, &into)
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
