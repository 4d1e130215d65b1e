//! Ctrl-C while a run goes on.
//!
//! ```text
//! SIGINT ──▶ our handler ──▶ Python's handler (a flag that the main thread looks at between instructions)
//!                 └──byte──▶ pipe ──▶ thread ──▶ cancels the runs of the main thread
//! ```
//!
//! A run of the main thread is registered until it ends. Its cancellation makes it return; then Python's
//! handler runs and raises KeyboardInterrupt. Runs of other threads are not cancelled, as in Python; but a
//! thread that works for a coroutine has a `CancelScope`, by which the coroutine ends its runs.
//!
//! Loading and compiling cannot be cancelled. They happen on a thread of their own, for which the main thread
//! waits: a signal ends the wait, and the work ends unheard.
//!
//! After a fork the child has neither thread nor pipe of its own: its first run makes them. The thread that
//! forks holds the lock of the runs meanwhile, so that the child does not inherit it from a thread that it
//! does not have.

#![allow(unsafe_code, reason = "a signal handler, and the pipe that it writes to")]

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use befrost::Cancellation;
use pyo3::prelude::*;

use crate::failure;

static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The number of forks from the first process to this one.
pub(crate) fn generation() -> u32 {
    // Relaxed: a child's only thread wrote it.
    GENERATION.load(Ordering::Relaxed)
}

/// The runs of the main thread, the innermost last.
static RUNS: Mutex<Vec<Cancellation>> = Mutex::new(Vec::new());

/// True if there was a signal that the main thread may not have handled yet.
static PENDING: AtomicBool = AtomicBool::new(false);

/// The end of the pipe that the handler writes to; -1 if there is none.
static WRITE_END: AtomicI32 = AtomicI32::new(-1);

/// The handler that ours calls.
static PREVIOUS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static IS_MAIN: Cell<bool> = const { Cell::new(false) };
    /// The scopes that this thread works in, the innermost last.
    static SCOPES: RefCell<Vec<CancelScope>> = const { RefCell::new(Vec::new()) };
    /// The lock of the runs, while this thread forks.
    static HELD: RefCell<Option<MutexGuard<'static, Vec<Cancellation>>>> = const { RefCell::new(None) };
}

fn runs() -> MutexGuard<'static, Vec<Cancellation>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The runs of a thread that another one may end.
#[derive(Clone, Default)]
#[pyclass(frozen, module = "befrost._native")]
pub(crate) struct CancelScope(Arc<Mutex<ScopedRuns>>);

#[derive(Default)]
struct ScopedRuns {
    is_over: bool,
    /// The innermost last.
    runs: Vec<Cancellation>,
}

impl CancelScope {
    fn lock(&self) -> MutexGuard<'_, ScopedRuns> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl CancelScope {
    #[new]
    fn new() -> CancelScope {
        CancelScope::default()
    }

    /// Begins the scope on this thread.
    fn enter(&self) {
        SCOPES.with_borrow_mut(|scopes| scopes.push(self.clone()));
    }

    /// Ends the innermost scope of this thread.
    #[staticmethod]
    fn leave() {
        SCOPES.with_borrow_mut(|scopes| _ = scopes.pop());
    }

    /// Cancels its runs, and all later ones.
    fn cancel(&self) {
        let mut scoped = self.lock();
        scoped.is_over = true;
        scoped.runs.iter().for_each(Cancellation::cancel);
    }
}

/// A registered run. Dropped when the run has ended.
pub(crate) struct Watched {
    is_main: bool,
    scopes: Vec<CancelScope>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        if self.is_main {
            runs().pop();
        }
        for scope in &self.scopes {
            scope.lock().runs.pop();
        }
    }
}

/// Registers a run, if this is the main thread or one in a scope. `is_long` says that it may take any time.
///
/// # Errors
/// A signal that came before the run, such as KeyboardInterrupt.
pub(crate) fn watch(py: Python<'_>, cancellation: &Cancellation, is_long: bool) -> PyResult<Watched> {
    let scopes = SCOPES.with_borrow(Clone::clone);
    for scope in &scopes {
        let mut scoped = scope.lock();
        scoped.runs.push(cancellation.clone());
        if scoped.is_over {
            cancellation.cancel();
        }
    }
    let is_main = IS_MAIN.get();
    if !is_main {
        return Ok(Watched { is_main, scopes });
    }
    #[cfg(target_os = "linux")]
    linux::ensure(is_long);
    runs().push(cancellation.clone());
    let watched = Watched { is_main, scopes };
    // A later signal cancels the registered run; an earlier one is handled here. Acquire pairs with the
    // Release in `on_signal`.
    if PENDING.load(Ordering::Acquire) {
        seen(py)?;
    }
    Ok(watched)
}

/// The time between two looks for a signal.
const LOOK: Duration = Duration::from_millis(20);

/// The stack of work that is waited for: that of a main thread.
const STACK: usize = 8 << 20;

/// The result of work that cannot be cancelled, such as compiling. The interpreter's lock is released.
///
/// # Errors
/// The exception of a signal that came meanwhile: KeyboardInterrupt. The work goes on, and its result is
/// dropped.
pub(crate) fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if !IS_MAIN.get() {
        return Ok(py.detach(work));
    }
    let (give, take) = channel();
    let thread = std::thread::Builder::new().name("befrost-work".to_owned()).stack_size(STACK);
    // Nobody listens after a signal.
    let thread = thread.spawn(move || _ = give.send(work()))?;
    let mut take = take;
    loop {
        let (back, made) = py.detach(move || {
            let made = take.recv_timeout(LOOK);
            (take, made)
        });
        take = back;
        match made {
            Ok(made) => return Ok(made),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match thread.join() {
        Err(panic) => std::panic::resume_unwind(panic),
        Ok(()) => Err(failure::refused("the work has no result")),
    }
}

/// Lets Python handle a signal that came during a run.
///
/// # Errors
/// The exception that its handler raises: KeyboardInterrupt.
#[cold]
pub(crate) fn seen(py: Python<'_>) -> PyResult<()> {
    // Release: cleared before Python looks for signals, so a signal that sets it again is seen by one of the
    // two.
    PENDING.store(false, Ordering::Release);
    py.check_signals()
}

/// Prepares for signals; called by the main thread.
#[pyfunction]
pub(crate) fn watch_interrupts() {
    IS_MAIN.set(true);
}

/// Takes the lock of the runs; called by a thread that is about to fork.
#[pyfunction]
pub(crate) fn before_fork() {
    HELD.set(Some(runs()));
}

/// Releases the lock of the runs; called in the parent, also if there is no child.
#[pyfunction]
pub(crate) fn after_fork_in_parent() {
    HELD.set(None);
}

/// Resets the state that a child does not inherit; called in the child, by its only thread.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    // Relaxed, here and below: the child has one thread.
    GENERATION.fetch_add(1, Ordering::Relaxed);
    IS_MAIN.set(true);
    PENDING.store(false, Ordering::Relaxed);
    if let Some(mut runs) = HELD.take() {
        runs.clear();
    }
    #[cfg(target_os = "linux")]
    linux::forget();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{PipeReader, Read};
    use std::os::fd::{AsRawFd, IntoRawFd};

    use super::*;

    /// Makes pipe, thread and handler, unless they are there. Without them a signal takes effect when the run
    /// has ended.
    pub(super) fn ensure(is_long: bool) {
        if WRITE_END.load(Ordering::Relaxed) < 0 {
            _ = start();
        }
        install(is_long);
    }

    fn start() -> std::io::Result<()> {
        let (reader, writer) = std::io::pipe()?;
        // The handler must not wait for room: a full pipe has woken the thread already.
        // SAFETY: the file is open.
        unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        let thread = std::thread::Builder::new().name("befrost-interrupts".to_owned());
        thread.spawn(move || serve(reader))?;
        // Open for the life of the process, since a handler may write to it at any time. Release pairs with
        // the Acquire in `on_signal`.
        WRITE_END.store(writer.into_raw_fd(), Ordering::Release);
        Ok(())
    }

    /// Cancels the main thread's runs at each byte.
    fn serve(mut reader: PipeReader) {
        let mut byte = [0];
        while reader.read_exact(&mut byte).is_ok() {
            runs().iter().for_each(Cancellation::cancel);
        }
    }

    /// Installs our handler, which calls the installed one. Leaves the signal alone if ours is installed, if
    /// it is ignored, or if it ends the process.
    fn install(is_long: bool) {
        thread_local! {
            /// The question is a system call, so only one of many short runs asks.
            static RUNS_SINCE: Cell<u32> = const { Cell::new(0) };
        }
        let n = RUNS_SINCE.get();
        RUNS_SINCE.set(n.wrapping_add(1) % 256);
        if n != 0 && !is_long {
            return;
        }
        // SAFETY: all bits zero is a value of this plain struct.
        let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the handler of the signal is written to `now`.
        if unsafe { libc::sigaction(libc::SIGINT, std::ptr::null(), &raw mut now) } != 0 {
            return;
        }
        let ours = on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
        let with_info = now.sa_flags & libc::SA_SIGINFO != 0;
        if [ours, libc::SIG_DFL, libc::SIG_IGN].contains(&now.sa_sigaction) || with_info {
            return;
        }
        // Release pairs with the Acquire in `on_signal`.
        PREVIOUS.store(now.sa_sigaction, Ordering::Release);
        now.sa_sigaction = ours;
        // SAFETY: the handler does only what a handler may.
        unsafe { libc::sigaction(libc::SIGINT, &raw const now, std::ptr::null_mut()) };
    }

    /// Async-signal-safe: atomics, `write`, and Python's own handler.
    extern "C" fn on_signal(signal: libc::c_int) {
        // SAFETY: the function has no conditions.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: it is the place of this thread's errno.
        let errno = unsafe { *place };
        // Release pairs with the Acquire in `watch`.
        PENDING.store(true, Ordering::Release);
        // Acquire pairs with the Release in `start`.
        let end = WRITE_END.load(Ordering::Acquire);
        if end >= 0 {
            // SAFETY: one byte is read.
            unsafe { libc::write(end, [0u8].as_ptr().cast(), 1) };
        }
        // Acquire pairs with the Release in `install`.
        let previous = PREVIOUS.load(Ordering::Acquire);
        if previous != 0 {
            // SAFETY: it was the process's handler of this signal, of the kind that takes only the number.
            let handler =
                unsafe { std::mem::transmute::<libc::sighandler_t, extern "C" fn(libc::c_int)>(previous) };
            handler(signal);
        }
        // SAFETY: as above.
        unsafe { *place = errno };
    }

    /// In a child: the pipe is the parent's too.
    pub(super) fn forget() {
        WRITE_END.store(-1, Ordering::Relaxed);
    }
}
