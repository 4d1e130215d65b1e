//! Ctrl-C while a run goes on.
//!
//! ```text
//! SIGINT ──▶ our handler ──▶ Python's handler (a flag that the main thread looks at between instructions)
//!                 └──byte──▶ pipe ──▶ thread ──▶ cancels the runs of the main thread
//! ```
//!
//! A run of the main thread is registered while it goes on. Its cancellation makes it return; then Python's
//! handler runs and raises KeyboardInterrupt. Other threads' runs go on, as Python's other threads do.
//!
//! After a fork the child has neither thread nor pipe of its own: it makes them when it needs them.

#![allow(unsafe_code, reason = "a signal handler, and the pipe that it writes to")]
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "calls of C that belong together, under one proof")]

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use befrost::Cancellation;
use pyo3::prelude::*;

/// The number of forks that lead to this process.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The number of forks that lead to this process.
pub(crate) fn generation() -> u32 {
    // Relaxed: a child's only thread wrote it.
    GENERATION.load(Ordering::Relaxed)
}

/// The runs of the main thread, the innermost last.
static RUNS: Mutex<Vec<Cancellation>> = Mutex::new(Vec::new());

/// True if a signal came that the main thread may not have seen yet.
static PENDING: AtomicBool = AtomicBool::new(false);

/// The end of the pipe that the handler writes to; -1 if there is none.
static WRITE_END: AtomicI32 = AtomicI32::new(-1);

/// The handler that ours calls.
static PREVIOUS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static IS_MAIN: Cell<bool> = const { Cell::new(false) };
}

fn runs() -> MutexGuard<'static, Vec<Cancellation>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A registered run. Dropped when the run has ended.
pub(crate) struct Watched(bool);

impl Drop for Watched {
    fn drop(&mut self) {
        if self.0 {
            runs().pop();
        }
    }
}

/// Registers a run, if this is the main thread. `is_long` says that it may take any time.
///
/// # Errors
/// A signal that came before the run, such as KeyboardInterrupt.
pub(crate) fn watch(py: Python<'_>, cancellation: &Cancellation, is_long: bool) -> PyResult<Watched> {
    if !IS_MAIN.get() {
        return Ok(Watched(false));
    }
    #[cfg(target_os = "linux")]
    linux::ensure(is_long);
    runs().push(cancellation.clone());
    let watched = Watched(true);
    // A signal from here on finds the run; one before it is found here.
    if PENDING.load(Ordering::Acquire) {
        seen(py)?;
    }
    Ok(watched)
}

/// Lets Python handle a signal that came during a run.
///
/// # Errors
/// What its handler raises: KeyboardInterrupt.
#[cold]
pub(crate) fn seen(py: Python<'_>) -> PyResult<()> {
    PENDING.store(false, Ordering::Release);
    py.check_signals()
}

/// Prepares for signals; called by the main thread.
#[pyfunction]
pub(crate) fn watch_interrupts() {
    IS_MAIN.set(true);
}

/// Forgets what a child does not inherit; called in the child, by its only thread.
#[pyfunction]
pub(crate) fn after_fork() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    IS_MAIN.set(true);
    PENDING.store(false, Ordering::Relaxed);
    if let Ok(mut runs) = RUNS.try_lock() {
        runs.clear();
    }
    #[cfg(target_os = "linux")]
    linux::forget();
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    /// Makes pipe, thread and handler, unless they are there. A process without them runs as well, and is not
    /// interrupted before the run ends.
    pub(super) fn ensure(is_long: bool) {
        if WRITE_END.load(Ordering::Relaxed) < 0 {
            _ = start();
        }
        install(is_long);
    }

    fn start() -> std::io::Result<()> {
        let mut ends = [0; 2];
        // SAFETY: two numbers are written to `ends`.
        if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        for end in ends {
            // SAFETY: an open file of ours.
            unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        // The handler must not wait for room: a full pipe has woken the thread already.
        // SAFETY: as above.
        unsafe { libc::fcntl(ends[1], libc::F_SETFL, libc::O_NONBLOCK) };
        let [read_end, write_end] = ends;
        let thread = std::thread::Builder::new().name("befrost-interrupts".to_owned());
        thread.spawn(move || serve(read_end))?;
        WRITE_END.store(write_end, Ordering::Release);
        Ok(())
    }

    /// Cancels the main thread's runs at each byte.
    fn serve(read_end: i32) {
        let mut byte = 0u8;
        loop {
            // SAFETY: one byte is written to `byte`.
            let n = unsafe { libc::read(read_end, (&raw mut byte).cast(), 1) };
            match n {
                1 => runs().iter().for_each(Cancellation::cancel),
                0 => return,
                _ if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
                _ => return,
            }
        }
    }

    /// Puts our handler before the one of Python's, unless it is there, or the signal is ignored.
    fn install(is_long: bool) {
        thread_local! {
            /// Looking is a system call, so not every short run looks.
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
        PREVIOUS.store(now.sa_sigaction, Ordering::Release);
        now.sa_sigaction = ours;
        // SAFETY: the handler does only what a handler may.
        unsafe { libc::sigaction(libc::SIGINT, &raw const now, std::ptr::null_mut()) };
    }

    /// Async-signal-safe: atomics, `write`, and Python's own handler.
    extern "C" fn on_signal(signal: libc::c_int) {
        // SAFETY: a place of this thread's.
        let errno = unsafe { *libc::__errno_location() };
        PENDING.store(true, Ordering::Release);
        let end = WRITE_END.load(Ordering::Acquire);
        if end >= 0 {
            // SAFETY: one byte is read.
            unsafe { libc::write(end, [0u8].as_ptr().cast(), 1) };
        }
        let previous = PREVIOUS.load(Ordering::Acquire);
        if previous != 0 {
            // SAFETY: it was the process's handler of this signal, of the kind that takes only the number.
            let handler =
                unsafe { std::mem::transmute::<libc::sighandler_t, extern "C" fn(libc::c_int)>(previous) };
            handler(signal);
        }
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = errno };
    }

    /// In a child: the pipe is the parent's too.
    pub(super) fn forget() {
        WRITE_END.store(-1, Ordering::Relaxed);
    }
}
