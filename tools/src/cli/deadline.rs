//! The deadline of the process, which counts from its start: loading, compiling and executing together.
//!
//! ```text
//! deadline ──▶ cancellation of the running call ──▶ its results are errors, and the tool ends regularly
//!          └── 100 ms later, if a call, the compiler or the loader still runs ──▶ the process ends
//! ```
//!
//! Kernels check for cancellation (`befrost_tensor::interrupt`). Work that does not stop ends with the
//! process. Printing and writing results are not limited: they follow calls that ended in time, or report the
//! timeout.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::failure::{Failure, tell};

/// The time after the deadline before the process ends.
const GRACE: Duration = Duration::from_millis(100);

/// The deadline, if there is one, and the work that it limits.
pub(super) struct Deadline {
    at: Option<Instant>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    work: Mutex<Work>,
    changed: Condvar,
}

/// The work of the main thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Work {
    /// Nothing that is limited.
    #[default]
    Unlimited,
    /// Reading and checking files.
    Loading,
    /// Compiling text or a model.
    Compiling,
    /// A call.
    Executing,
    /// The end of the tool.
    Done,
}

impl Shared {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, work: Work) -> Work {
        let before = std::mem::replace(&mut *self.work(), work);
        self.changed.notify_one();
        before
    }

    /// The time at which the process ends if limited work still runs.
    fn watch(&self, end: Instant) {
        let mut work = self.work();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let what = match *work {
                Work::Done => return,
                Work::Unlimited => {
                    work = self.changed.wait(work).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                Work::Loading => "loading",
                Work::Compiling => "compiling",
                Work::Executing => "executing",
            };
            if left.is_zero() {
                tell(&format!("error: Deadline exceeded while {what}\n"));
                std::process::exit(1);
            }
            work = self.changed.wait_timeout(work, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Deadline {
    /// A deadline this long after now; none if that time is out of range.
    pub(super) fn after(timeout: Option<Duration>) -> Result<Deadline, Failure> {
        let at = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let shared = Arc::<Shared>::default();
        if let Some(end) = at.and_then(|at| at.checked_add(GRACE)) {
            let shared = shared.clone();
            let thread = std::thread::Builder::new().name("deadline".to_owned());
            let thread = thread.spawn(move || shared.watch(end));
            thread.map_err(|error| Failure::Refused(format!("no thread for --timeout: {error}")))?;
        }
        Ok(Deadline { at, shared })
    }

    /// The deadline.
    pub(super) fn at(&self) -> Option<Instant> {
        self.at
    }

    /// True after the deadline.
    pub(super) fn is_over(&self) -> bool {
        self.at.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Runs work that the deadline limits.
    pub(super) fn limit<R>(&self, work: Work, run: impl FnOnce() -> R) -> R {
        let before = self.shared.set(work);
        let result = run();
        self.shared.set(before);
        result
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.shared.set(Work::Done);
    }
}
