//! Runs of compiled functions: how they are started, watched and ended.
//!
//! ```text
//! Program (BEF bytes, one function) ──run(arguments)──▶ results
//!    ├── the interpreter's lock is released, unless such runs take less than 5 µs
//!    ├── Ctrl-C and the deadline cancel it
//!    └── what it prints goes to sys.stdout, on the thread that prints
//! ```
//!
//! A forked child has none of its parent's threads, so the first run in it loads the program again.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use befrost::{
    CallOptions, Cancellation, Datum, Error, ErrorCode, Output, PreparedFunction, PreparedRun, Resources,
    Runtime, Value,
};
use pyo3::prelude::*;

use crate::{failure, interrupt, libraries};

/// Nanoseconds of a run from which on the interpreter's lock is released.
const SHORT: u64 = 5_000;

/// One of this many short runs is timed.
const TIMED: u64 = 16;

thread_local! {
    /// The deadlines of `with befrost.timeout(...)`, the innermost last.
    static DEADLINES: RefCell<Vec<Option<Instant>>> = const { RefCell::new(Vec::new()) };
}

/// Begins a time limit for the runs of this thread.
#[pyfunction]
pub(crate) fn push_timeout(seconds: f64) -> PyResult<()> {
    let new = deadline(Some(seconds))?;
    DEADLINES.with_borrow_mut(|all| {
        let outer = all.last().copied().flatten();
        let nearest = [new, outer].into_iter().flatten().min();
        all.push(nearest);
    });
    Ok(())
}

/// Ends the innermost time limit.
#[pyfunction]
pub(crate) fn pop_timeout() {
    DEADLINES.with_borrow_mut(|all| _ = all.pop());
}

/// True while runs are recorded.
static TRACED: AtomicBool = AtomicBool::new(false);

/// The recorded runs.
static EVENTS: Mutex<Vec<Event>> = Mutex::new(Vec::new());

/// Limit of the recorded runs.
const MAX_EVENTS: usize = 1 << 20;

/// A recorded run.
struct Event {
    name: String,
    start: Instant,
    took: Duration,
    thread: u64,
}

/// A recorded run in Python: name, start and duration in microseconds, thread.
type PyEvent = (String, f64, f64, u64);

/// Begins to record runs.
#[pyfunction]
pub(crate) fn trace_begin() {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner).clear();
    TRACED.store(true, Ordering::Relaxed);
}

/// Ends the record and returns the runs. Times count from the start of the first one.
#[pyfunction]
pub(crate) fn trace_end() -> Vec<PyEvent> {
    TRACED.store(false, Ordering::Relaxed);
    let events = std::mem::take(&mut *EVENTS.lock().unwrap_or_else(PoisonError::into_inner));
    let Some(first) = events.iter().map(|event| event.start).min() else { return Vec::new() };
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    events
        .into_iter()
        .map(|Event { name, start, took, thread }| (name, micros(start - first), micros(took), thread))
        .collect()
}

fn record(name: &str, start: Instant) {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static THREAD: u64 = THREADS.fetch_add(1, Ordering::Relaxed);
    }
    let event = Event { name: name.to_owned(), start, took: start.elapsed(), thread: THREAD.with(|id| *id) };
    let mut events = EVENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if events.len() < MAX_EVENTS {
        events.push(event);
    }
}

/// The moment `timeout` seconds from now; a negative timeout means now.
pub(crate) fn deadline(timeout: Option<f64>) -> PyResult<Option<Instant>> {
    let Some(seconds) = timeout else { return Ok(None) };
    let wait = Duration::try_from_secs_f64(if seconds < 0.0 { 0.0 } else { seconds }).ok();
    let at = wait.and_then(|wait| Instant::now().checked_add(wait));
    at.map(Some).ok_or_else(|| {
        Python::attach(|py| {
            failure::of_class(py, "WrongRangeError", &format!("a timeout of {seconds} seconds"))
        })
    })
}

/// The nearest of a deadline and those of the thread.
pub(crate) fn nearest(own: Option<Instant>) -> Option<Instant> {
    let outer = DEADLINES.with_borrow(|all| all.last().copied().flatten());
    [own, outer].into_iter().flatten().min()
}

/// `sys.stdout`. The first exception of a write becomes the error of the run.
#[derive(Default)]
pub(crate) struct SysStdout {
    failed: Mutex<Option<PyErr>>,
}

impl Output for SysStdout {
    fn write(&self, text: &str) -> std::io::Result<()> {
        Python::attach(|py| {
            let out = py.import("sys").and_then(|sys| sys.getattr("stdout"));
            let written = out.and_then(|out| match out.is_none() {
                true => Ok(()),
                false => out.call_method1("write", (text,)).map(drop),
            });
            written.map_err(|error| {
                let message = error.to_string();
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                std::io::Error::other(message)
            })
        })
    }
}

impl SysStdout {
    /// The exception that a write raised.
    pub(crate) fn error(&self) -> Option<PyErr> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Limit of the runtimes that are shared.
const MAX_SHARED: usize = 64;

/// The settings of a program.
#[derive(Clone, Default)]
pub(crate) struct Setup {
    /// The work queue; the runtime's default without one.
    pub(crate) work_queue: Option<String>,
    /// Limit of the bytes of its runs.
    pub(crate) max_memory: Option<usize>,
    /// Kernel libraries.
    pub(crate) libraries: Vec<PathBuf>,
    /// Variables that runs share.
    pub(crate) resources: Resources,
    /// True if runs may print, or may take any time: they release the interpreter's lock.
    pub(crate) is_long: bool,
    /// The name of runs in traces.
    pub(crate) name: String,
}

impl Setup {
    /// The runtime. Programs on the same queue share one, unless their memory is limited or they have kernels
    /// of their own.
    pub(crate) fn runtime(&self) -> PyResult<Runtime> {
        static SHARED: Mutex<Vec<(u32, Option<String>, Runtime)>> = Mutex::new(Vec::new());
        if self.max_memory.is_some() || !self.libraries.is_empty() {
            return self.new_runtime();
        }
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = interrupt::generation();
        let found = shared.iter().find(|(of, queue, _)| *of == generation && *queue == self.work_queue);
        if let Some((.., runtime)) = found {
            return Ok(runtime.clone());
        }
        let made = self.new_runtime()?;
        if shared.len() < MAX_SHARED {
            shared.push((generation, self.work_queue.clone(), made.clone()));
        }
        Ok(made)
    }

    fn new_runtime(&self) -> PyResult<Runtime> {
        let mut runtime = Runtime::builder();
        if let Some(queue) = &self.work_queue {
            runtime = runtime.work_queue(queue);
        }
        if let Some(bytes) = self.max_memory {
            runtime = runtime.max_memory(bytes);
        }
        let runtime = libraries::add(runtime, &self.libraries)?;
        runtime.build().map_err(|error| failure::refused(error.to_string()))
    }

    fn load(&self, bef: &[u8], function: &str) -> PyResult<PreparedFunction> {
        let program = self.runtime()?.load_bytes(bef);
        let program = program.map_err(|error| failure::refused(error.to_string()))?;
        let function = program.function(function).map_err(|error| failure::of(&error))?;
        Ok(PreparedFunction::new(function, self.options()))
    }

    /// The options of its calls.
    pub(crate) fn options(&self) -> CallOptions {
        CallOptions { resources: self.resources.clone(), ..CallOptions::default() }
    }
}

/// A run of a compiled function.
#[derive(Clone, Copy, Default)]
pub(crate) struct RunKind {
    /// Seconds after which it ends.
    pub(crate) timeout: Option<f64>,
    /// True if all runs take about as long as this one: the function has no loop, and its arguments have
    /// always the same sizes.
    pub(crate) is_fixed: bool,
}

/// A function, on a runtime of this process.
struct Loaded {
    generation: u32,
    prepared: Arc<PreparedFunction>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.generation != interrupt::generation() {
            // The threads of the parent process cannot be joined here, so their owner is never dropped.
            std::mem::forget(Arc::clone(&self.prepared));
        }
    }
}

/// A compiled function.
pub(crate) struct Compiled {
    setup: Setup,
    first: Loaded,
    /// The function as a forked child has loaded it again.
    again: Mutex<Option<Loaded>>,
    /// Estimate of the nanoseconds of a run; 0 before the first one.
    nanoseconds: AtomicU64,
    n_runs: AtomicU32,
}

impl Compiled {
    /// Loads a function of a program.
    pub(crate) fn load(bef: &[u8], function: &str, setup: Setup) -> PyResult<Compiled> {
        Ok(Compiled::of(setup.load(bef, function)?, setup))
    }

    /// A function that is loaded already.
    pub(crate) fn of(prepared: PreparedFunction, setup: Setup) -> Compiled {
        let prepared = Arc::new(prepared);
        Compiled {
            setup,
            first: Loaded { generation: interrupt::generation(), prepared },
            again: Mutex::default(),
            nanoseconds: AtomicU64::new(0),
            n_runs: AtomicU32::new(0),
        }
    }

    /// The program.
    pub(crate) fn bef(&self) -> &[u8] {
        self.first.prepared.function().program().bytes()
    }

    /// The function, after a fork one of a runtime with threads.
    fn forked(&self) -> PyResult<Arc<PreparedFunction>> {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = interrupt::generation();
        if let Some(loaded) = again.as_ref().filter(|loaded| loaded.generation == generation) {
            return Ok(loaded.prepared.clone());
        }
        let name = self.first.prepared.function().name();
        let prepared = Arc::new(self.setup.load(self.bef(), name)?);
        *again = Some(Loaded { generation, prepared: prepared.clone() });
        Ok(prepared)
    }

    /// Runs the function. The results are tensors, which may refer to lent memory.
    pub(crate) fn run(
        &self,
        py: Python<'_>,
        arguments: &mut Vec<Value>,
        options: RunKind,
    ) -> PyResult<Vec<Value>> {
        if !TRACED.load(Ordering::Relaxed) {
            return self.run_now(py, arguments, options);
        }
        let start = Instant::now();
        let made = self.run_now(py, arguments, options);
        record(&self.setup.name, start);
        made
    }

    fn run_now(
        &self,
        py: Python<'_>,
        arguments: &mut Vec<Value>,
        RunKind { timeout, is_fixed }: RunKind,
    ) -> PyResult<Vec<Value>> {
        let own;
        let prepared = match self.first.generation == interrupt::generation() {
            true => &self.first.prepared,
            false => {
                own = self.forked()?;
                &own
            }
        };
        let deadline = nearest(deadline(timeout)?);
        if self.setup.is_long || deadline.is_some() {
            return self.run_long(py, prepared, arguments, deadline);
        }
        let run = prepared.begin();
        let mut results = Vec::with_capacity(prepared.function().results().len());
        let seen = self.nanoseconds.load(Ordering::Relaxed);
        // Relaxed: estimates.
        let n = u64::from(self.n_runs.fetch_add(1, Ordering::Relaxed));
        let is_short = seen != 0 && seen < SHORT;
        // A signal waits for the end of a run that is always short.
        let _watched = match is_short && is_fixed {
            true => None,
            false => Some(interrupt::watch(py, run.cancellation(), false)?),
        };
        let made = if is_short && n % TIMED != 0 {
            run.call(arguments, &mut results)
        } else {
            let start = Instant::now();
            let made = match is_short {
                true => run.call(arguments, &mut results),
                false => py.detach(|| run.call(arguments, &mut results)),
            };
            let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            // The first run is slower than all others. After it the estimate rises slowly and falls at once.
            let estimate = if n == 0 { took.min(SHORT) } else { took.min((seen + took) / 2 + 1) };
            self.nanoseconds.store(estimate.max(1), Ordering::Relaxed);
            made
        };
        finish(py, &run, made, results)
    }

    /// A run that may take any time, may print, and ends at a deadline.
    fn run_long(
        &self,
        py: Python<'_>,
        prepared: &PreparedFunction,
        arguments: &mut Vec<Value>,
        deadline: Option<Instant>,
    ) -> PyResult<Vec<Value>> {
        let output = Arc::new(SysStdout::default());
        let cancellation = Cancellation::limited(deadline, None);
        let options = CallOptions { cancellation, output: output.clone(), ..self.setup.options() };
        let run = prepared.begin_with(options);
        let watched = interrupt::watch(py, run.cancellation(), true)?;
        let mut results = Vec::new();
        let made = py.detach(|| run.call(arguments, &mut results));
        drop(watched);
        if let Some(error) = output.error() {
            return Err(error);
        }
        finish(py, &run, made, results)
    }
}

/// The results of a run, as the caller gets them.
fn finish(
    py: Python<'_>,
    run: &PreparedRun<'_>,
    made: Result<(), Error>,
    mut results: Vec<Value>,
) -> PyResult<Vec<Value>> {
    if let Some(error) = run.cancellation().error() {
        return Err(cancelled(py, error));
    }
    made.map_err(|error| failure::of(&error))?;
    for result in &mut results {
        let datum = Datum::from(std::mem::take(result));
        if datum.strings().is_err() {
            datum.tensor().map_err(|error| failure::of(&error))?;
        }
        *result = datum.into_value();
    }
    Ok(results)
}

/// The exception for a run that was cancelled.
#[cold]
pub(crate) fn cancelled(py: Python<'_>, error: &Error) -> PyErr {
    if error.code() == ErrorCode::Cancelled
        && let Err(raised) = interrupt::seen(py)
    {
        return raised;
    }
    failure::of(error)
}
