//! Work queues: execution of tasks.
//!
//! A queue is chosen by name, as on `bef-exec`'s command line:
//!
//! ```text
//! s             [`SingleThreaded`]: in the order of arrival, on the thread that waits; deterministic
//! seeded:N      the same, in another legal order, chosen by N
//! mstd[:N[,B]]  [`MultiThreaded`]: N workers for tasks that never block,
//!               at most B threads for those that may (tokio)
//! ```
//!
//! The executor never blocks. Callers from outside do, by [`WorkQueue::wait`], and so may a kernel that calls
//! a function itself: its thread runs other tasks meanwhile. [`parallel_for`](crate::parallel::parallel_for)
//! spreads one kernel's work over the same workers. Tasks for a later time wait in [`timers`].

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

/// Handling of a blocking task when all threads for blocking tasks are busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The task waits for a thread. For tasks that do not wait for one another.
    Wait,
    /// The task is given back.
    Refuse,
}

/// An executor of tasks. Tasks never wait for one another.
pub trait WorkQueue: Send + Sync {
    /// The name that selects this kind of queue, such as `mstd`.
    fn name(&self) -> &'static str;

    /// Number of tasks that can run at the same time.
    fn parallelism(&self) -> usize;

    /// Adds a task that will not block.
    fn add_task(&self, task: Task);

    /// The calling thread's local queue, if it runs tasks of this queue. Only for a task that is about to
    /// end, or that calls [`WorkQueue::hand_over`] otherwise.
    fn local_queue(&self) -> Option<LocalQueue> {
        None
    }

    /// Whether a task that the calling thread put into its local queue now would be the next one that it
    /// runs, whatever other threads do.
    fn runs_next(&self) -> bool {
        false
    }

    /// Takes the task that the calling thread would run next, if `wants` accepts it, so that the current task
    /// runs it instead of ending. A task that is not accepted may stay in the local queue, as with
    /// [`WorkQueue::local_queue`].
    fn take_next(&self, _wants: &dyn Fn(&Task) -> bool) -> Option<Task> {
        None
    }

    /// Adds a task to the local queue if there is a [`WorkQueue::local_queue`], else as with
    /// [`WorkQueue::add_task`].
    fn add_soon(&self, task: Task) {
        match self.local_queue() {
            Some(local) => _ = local.push(task),
            None => self.add_task(task),
        }
    }

    /// Shares the local queue with other threads, before the current task does something long.
    fn hand_over(&self) {}

    /// Adds a task that may block, for example on input and output.
    ///
    /// # Errors
    /// The task, if it is refused: because all threads are busy and it is not to wait, or because too many
    /// tasks wait.
    fn add_blocking_task(&self, task: Task, when_full: WhenFull) -> Result<(), Task>;

    /// Runs `first` on the calling thread, as part of the queue's work, and waits until `latch` is open. The
    /// thread runs other tasks meanwhile. Inside of a task: only if [`may_wait`].
    fn wait_after(&self, latch: &Latch, first: &mut dyn FnMut());

    /// Waits until `latch` is open, as [`WorkQueue::wait_after`].
    fn wait(&self, latch: &Latch) {
        self.wait_after(latch, &mut || ());
    }

    /// Waits until no task waits or runs. For callers outside of the queue. Inside of a task it does not
    /// wait, because the task would wait for itself.
    fn quiesce(&self);

    /// Index of the ready kernel that runs next, of `n`, which is not 0. The last one, except for seeded
    /// queues.
    fn pick(&self, n: usize) -> usize {
        n - 1
    }

    /// Whether [`WorkQueue::pick`] is to be called.
    fn is_seeded(&self) -> bool {
        false
    }
}

/// Whether the calling thread may wait. Waits inside tasks nest on the machine's stack, so their number is
/// limited.
///
/// # Errors
/// If the thread may not wait.
pub fn may_wait() -> Result<(), KernelError> {
    if local::depth() < local::MAX_DEPTH {
        return Ok(());
    }
    let message = format!("waits inside kernels nest too deeply: at most {} may", local::MAX_DEPTH);
    Err(KernelError::new(ErrorCode::ResourceExhausted, message))
}

/// Runs a task. A panic ends the task, not the thread.
fn run(task: Task) {
    // The panic hook has reported the panic. The values that the task owned were dropped; promises among them
    // became errors.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task.run()));
}

/// A counter that wakes one waiting thread when it reaches zero.
#[derive(Debug)]
pub struct Latch {
    left: AtomicUsize,
    waiter: Thread,
}

impl Latch {
    /// A latch for the calling thread to wait for, which opens after `count` calls of
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
        // AcqRel: Release publishes this event. Acquire passes the other events on to the thread that sees
        // zero.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.waiter.unpark();
        }
    }

    /// Sleeps until the latch is open, without running tasks.
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

/// Error of making a queue.
#[derive(Debug)]
pub enum QueueError {
    /// There is no queue of this name.
    UnknownName(String),
    /// The numbers after the colon are missing, malformed or out of range.
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

/// Limit of the threads that a queue may be asked for.
const MAX_THREADS: usize = 4096;

/// Makes the queue that `spec` names: `s`, `mstd`, `mstd:N`, `mstd:N,B` or `seeded:N`.
///
/// # Errors
/// If there is no such queue, its numbers are out of range, or the system refuses threads.
pub fn from_spec(spec: &str) -> Result<Arc<dyn WorkQueue>, QueueError> {
    from_spec_as(spec, |queue| queue)
}

/// [`from_spec`], where a multi-threaded queue leaves tasks to its own threads while callers wait:
/// [`MultiThreaded::with_idle_callers`].
///
/// # Errors
/// As [`from_spec`].
pub fn from_spec_with_idle_callers(spec: &str) -> Result<Arc<dyn WorkQueue>, QueueError> {
    from_spec_as(spec, MultiThreaded::with_idle_callers)
}

fn from_spec_as(
    spec: &str,
    adapt: impl FnOnce(MultiThreaded) -> MultiThreaded,
) -> Result<Arc<dyn WorkQueue>, QueueError> {
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
            let queue = MultiThreaded::new(workers, blocking.unwrap_or(256)).map_err(QueueError::Threads)?;
            Ok(Arc::new(adapt(queue)))
        }
        _ => Err(QueueError::UnknownName(spec.to_owned())),
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
