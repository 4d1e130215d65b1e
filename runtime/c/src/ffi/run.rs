//! Runs: at once, or while the caller does something else.

use std::ffi::c_char;
use std::time::{Duration, Instant};

use befrost::{Datum, Error, Recorder, Results, RunOptions};

use super::{
    OptionsStruct, Out, bf_error, bf_run, bf_session, bf_tensor, clear, deliver, fits, give, guard, invalid,
    names, optional, options, release, retain, value_of, values,
};

/// Options of a run. What is zero is the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct bf_run_options {
    /// `sizeof(bf_run_options)`.
    pub(crate) size: u32,
    /// Nodes that run for their effects.
    pub(crate) targets: *const *const c_char,
    /// Their number.
    pub(crate) n_targets: usize,
    /// Seconds until the run is given up; 0: never.
    pub(crate) timeout_seconds: f64,
    /// A file for the times of the run's kernels, for Chrome's and Perfetto's viewers; of a run that is
    /// waited for.
    pub(crate) trace: *const c_char,
}

// SAFETY: numbers and pointers.
unsafe impl OptionsStruct for bf_run_options {
    const NAME: &'static str = "bf_run_options";
    const FIRST_SIZE: usize = std::mem::offset_of!(bf_run_options, trace);
}

/// The options of a run as the facade has them, and the file for its trace.
pub(super) fn run_options<'t>(given: *const bf_run_options) -> Result<(RunOptions, Option<&'t str>), Error> {
    let (mut run, mut trace) = (RunOptions::default(), None);
    if let Some(given) = options(given)? {
        let targets = names("a target", given.targets, given.n_targets)?;
        run.targets = targets.into_iter().map(str::to_owned).collect();
        if given.timeout_seconds != 0.0 {
            let timeout = Duration::try_from_secs_f64(given.timeout_seconds);
            let timeout = timeout.map_err(|_| invalid("the timeout is no number of seconds"))?;
            run.deadline = Instant::now().checked_add(timeout);
        }
        trace = optional("the file for a trace", given.trace)?;
        run.recorder = trace.map(|_| Recorder::of_traces());
    }
    Ok((run, trace))
}

/// Names with values.
fn named<'a>(
    names_of: *const *const c_char,
    tensors: *const *mut bf_tensor,
    n: usize,
) -> Result<Vec<(&'a str, Datum)>, Error> {
    Ok(names("a name to feed", names_of, n)?.into_iter().zip(values(tensors, n)?).collect())
}

/// Runs with these options, and writes the trace.
pub(super) fn traced(
    given: *const bf_run_options,
    run: impl FnOnce(&RunOptions) -> Result<Results, Error>,
) -> Result<Results, Error> {
    let (options, trace) = run_options(given)?;
    let made = run(&options);
    let saved = match (&options.recorder, trace) {
        (Some(recorder), Some(path)) => {
            recorder.save(path).map_err(|error| invalid(format!("cannot write '{path}': {error}")))
        }
        _ => Ok(()),
    };
    // The failure of the run says more than that of its trace.
    let made = made?;
    saved?;
    Ok(made)
}

/// Computes tensors by their names. Any tensor may be fed, and is not computed then. A fetched operation
/// without outputs gives null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_run(
    session: *const bf_session,
    given: *const bf_run_options,
    feed_names: *const *const c_char,
    feeds: *const *mut bf_tensor,
    n_feeds: usize,
    fetch_names: *const *const c_char,
    out: *mut *mut bf_tensor,
    n_fetches: usize,
) -> *mut bf_error {
    guard(|| {
        clear(n_fetches, out)?;
        let session = value_of(session)?;
        let feeds = named(feed_names, feeds, n_feeds)?;
        let fetches = names("a name to fetch", fetch_names, n_fetches)?;
        deliver(traced(given, |options| session.run_with(&feeds, &fetches, options))?.into_values(), out)
    })
}

/// Begins a run, which goes on while the caller does something else; on the work queue `s`, which has no
/// threads, at once.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_session_start(
    session: *const bf_session,
    given: *const bf_run_options,
    feed_names: *const *const c_char,
    feeds: *const *mut bf_tensor,
    n_feeds: usize,
    fetch_names: *const *const c_char,
    n_fetches: usize,
    out: *mut *mut bf_run,
) -> *mut bf_error {
    guard(|| {
        let out = Out::new("the run", out)?;
        let session = value_of(session)?;
        let feeds = named(feed_names, feeds, n_feeds)?;
        let fetches = names("a name to fetch", fetch_names, n_fetches)?;
        let (options, trace) = run_options(given)?;
        if trace.is_some() {
            return Err(invalid("a trace is of a run that is waited for, such as bf_session_run's"));
        }
        out.set(give(session.start_with(&feeds, &fetches, &options)));
        Ok(())
    })
}

/// 1 if the results of a run are there, 0 if not, and for null.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_run_is_done(run: *const bf_run) -> i32 {
    value_of(run).map_or(0, |run| i32::from(run.is_done()))
}

/// Waits for the results of a run, which only one caller gets.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_run_wait(
    run: *const bf_run,
    out: *mut *mut bf_tensor,
    n_fetches: usize,
) -> *mut bf_error {
    guard(|| {
        clear(n_fetches, out)?;
        let results = value_of(run)?.wait()?;
        fits(n_fetches, results.len())?;
        deliver(results.into_values(), out)
    })
}

/// Stops a run: waiting for it gives the error `BF_CANCELLED`, unless it has ended.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_run_cancel(run: *const bf_run) {
    if let Ok(run) = value_of(run) {
        run.cancel();
    }
}

/// Another reference to a run.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_run_retain(run: *mut bf_run) {
    retain(run);
}

/// Gives a reference to a run back. The last one cancels it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_run_release(run: *mut bf_run) {
    release(run);
}
