//! Work queues: where tasks run that are not run at once.
//!
//! A queue is chosen by name, as on `bef-exec`'s command line:
//!
//! ```text
//! s             [`SingleThreaded`]: tasks run in the order they came, on the thread that waits. Deterministic
//! seeded:N      the same, in another legal order, which N chooses
//! mstd[:N[,B]]  [`MultiThreaded`]: N workers for tasks that never block, at most B threads for those that may (tokio)
//! ```
//!
//! The executor never blocks. Callers from outside do, by [`WorkQueue::wait`], and so may a kernel that calls
//! a function from inside: its thread runs other tasks meanwhile.
//! [`parallel_for`](crate::parallel::parallel_for) spreads one kernel's work over the same workers; tasks for
//! a later time wait in [`timers`].

mod local;
mod multi;
mod parking;
mod permits;
mod shared_tasks;
mod single;
mod sleepers;
mod task;
pub mod timers;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;

use crate::error::{ErrorCode, KernelError};

pub use local::LocalQueue;
pub use multi::MultiThreaded;
pub(crate) use parking::Parking;
pub use single::SingleThreaded;
pub use task::Task;
pub(crate) use task::Work;

/// What becomes of a blocking task when all threads for such are busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits for a thread; for tasks that do not wait for one another.
    Wait,
    /// It is given back.
    Refuse,
}

/// Runs tasks. Tasks never wait for one another.
pub trait WorkQueue: Send + Sync {
    /// The name by which it was asked for, such as `mstd`.
    fn name(&self) -> &'static str;

    /// How many tasks can run at once.
    fn parallelism(&self) -> usize;

    /// Adds a task that will not block.
    fn add_task(&self, task: Task);

    /// Where the calling thread may keep tasks for itself, if it runs tasks of this queue: for a task that is
    /// about to end, or else calls
    /// [`WorkQueue::hand_over`].
    fn local_queue(&self) -> Option<LocalQueue> {
        None
    }

    /// Whether a task that the calling thread kept now would be the next one that it runs, whatever others
    /// do.
    fn runs_next(&self) -> bool {
        false
    }

    /// The task that the calling thread would run next, if it is one that it `wants`: instead of ending the
    /// one that it runs. If it is another one, the thread may keep it from then on, as with
    /// [`WorkQueue::keeper`].
    fn take_next(&self, _wants: &dyn Fn(&Task) -> bool) -> Option<Task> {
        None
    }

    /// Keeps a task for the calling thread, if there is a [`WorkQueue::keeper`], or adds it.
    fn add_soon(&self, task: Task) {
        match self.local_queue() {
            Some(local) => _ = local.push(task),
            None => self.add_task(task),
        }
    }

    /// The calling task goes on for long: what its thread keeps is not to wait for it.
    fn hand_over(&self) {}

    /// Adds a task that may block, on input and output for example.
    ///
    /// # Errors
    /// The task, if it is refused: because all threads are busy and it does not want to wait, or because too
    /// many wait.
    fn add_blocking_task(&self, task: Task, when_full: WhenFull) -> Result<(), Task>;

    /// Runs `first` on the calling thread, as part of the queue's work, and waits until `latch` is open. The
    /// thread runs other tasks meanwhile. Inside of a task: only if [`may_wait`].
    fn wait_after(&self, latch: &Latch, first: &mut dyn FnMut());

    /// Waits until `latch` is open, as [`WorkQueue::wait_after`].
    fn wait(&self, latch: &Latch) {
        self.wait_after(latch, &mut || ());
    }

    /// Waits until no task waits or runs. Called from outside; a task, which could only wait for itself, does
    /// not wait.
    fn quiesce(&self);

    /// Which of `n` ready kernels comes next; `n` is not 0. The last one, but for queues that are seeded.
    fn pick(&self, n: usize) -> usize {
        n - 1
    }

    /// Whether [`WorkQueue::pick`] is to be asked.
    fn is_seeded(&self) -> bool {
        false
    }
}

/// Whether the calling thread may wait: waits inside tasks nest on the machine's stack, and not without end.
///
/// # Errors
/// If it may not.
pub fn may_wait() -> Result<(), KernelError> {
    if local::depth() < local::MAX_DEPTH {
        return Ok(());
    }
    let message = format!("waits inside kernels nest too deeply: at most {} may", local::MAX_DEPTH);
    Err(KernelError::new(ErrorCode::ResourceExhausted, message))
}

/// Runs a task; a panic ends the task, not the thread.
fn run(task: Task) {
    // The panic hook has reported it; what the task owned was dropped, and promises among it became errors.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task.run()));
}

/// Counts down to zero and wakes the one thread that waits for it.
#[derive(Debug)]
pub struct Latch {
    left: AtomicUsize,
    waiter: Thread,
}

impl Latch {
    /// A latch that the calling thread will wait for, open after `count` calls of
    /// [`count_down`](Latch::count_down).
    pub fn new(count: usize) -> Arc<Latch> {
        Arc::new(Latch { left: AtomicUsize::new(count), waiter: std::thread::current() })
    }

    /// Whether the count has reached zero.
    pub fn is_open(&self) -> bool {
        // Acquire pairs with the Release of the last `count_down`: what it announced is visible.
        self.left.load(Ordering::Acquire) == 0
    }

    /// Counts one event.
    pub fn count_down(&self) {
        // AcqRel: Release publishes this event; Acquire passes the others' on to whoever sees zero.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.waiter.unpark();
        }
    }

    /// Sleeps until the latch is open, without taking part in anything.
    pub(crate) fn park_until_open(&self) {
        while !self.is_open() {
            self.park();
        }
    }

    /// Sleeps until the latch is open or the thread is woken for another reason.
    pub(crate) fn park(&self) {
        if !self.is_open() {
            std::thread::park();
        }
    }
}

/// Why a queue could not be made.
#[derive(Debug)]
pub enum QueueError {
    /// No queue has this name.
    UnknownName(String),
    /// The numbers after the colon are not as they should be.
    BadArguments(String),
    /// The system refused threads.
    Threads(std::io::Error),
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueError::UnknownName(name) => {
                write!(f, "unknown work queue '{name}': use s, mstd[:N[,B]] or seeded:N")
            }
            QueueError::BadArguments(text) if text.starts_with("seeded") => {
                write!(f, "bad work queue '{text}': after seeded: comes a number")
            }
            QueueError::BadArguments(text) => write!(
                f,
                "bad work queue '{text}': after mstd: come the number of workers (1 to {MAX_THREADS}) and, after a comma, of blocking threads"
            ),
            QueueError::Threads(error) => write!(f, "cannot start threads: {error}"),
        }
    }
}

impl std::error::Error for QueueError {}

/// More threads than this are a mistake.
const MAX_THREADS: usize = 4096;

/// The queue that `spec` names: `s`, `mstd`, `mstd:N`, `mstd:N,B` or `seeded:N`.
///
/// # Errors
/// If there is no such queue, its numbers are out of range, or the system refuses threads.
pub fn from_spec(spec: &str) -> Result<Arc<dyn WorkQueue>, QueueError> {
    let bad = || QueueError::BadArguments(spec.to_owned());
    let count = |text: &str| match text.parse::<usize>() {
        Ok(n) if (1..=MAX_THREADS).contains(&n) => Ok(n),
        _ => Err(bad()),
    };
    let (name, arguments) = match spec.split_once(':') {
        Some((name, arguments)) => (name, Some(arguments)),
        None => (spec, None),
    };
    match (name, arguments) {
        ("s", None) => Ok(Arc::new(SingleThreaded::new())),
        ("s", Some(_)) => Err(bad()),
        ("seeded", seed) => {
            let seed = seed.and_then(|text| text.parse().ok()).ok_or_else(bad)?;
            Ok(Arc::new(SingleThreaded::seeded(seed)))
        }
        ("mstd", arguments) => {
            let (workers, blocking) = match arguments.map(|text| text.split_once(',').unwrap_or((text, ""))) {
                None => (None, None),
                Some((workers, "")) if !spec.ends_with(',') => (Some(count(workers)?), None),
                Some((workers, blocking)) => (Some(count(workers)?), Some(count(blocking)?)),
            };
            let workers =
                workers.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
            Ok(Arc::new(MultiThreaded::new(workers, blocking.unwrap_or(256)).map_err(QueueError::Threads)?))
        }
        _ => Err(QueueError::UnknownName(spec.to_owned())),
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
