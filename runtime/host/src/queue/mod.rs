//! Work queues: execution of tasks.
//!
//! A queue is chosen by name, as on `bef-exec`'s command line:
//!
//! ```text
//! s             [`SingleThreaded`]: in the order of arrival, on the thread that waits; deterministic
//! seeded:N      the same, in another legal order, chosen by N
//! mstd[:N[,B]]  [`MultiThreaded`]: N workers for tasks that never block,
//!               at most B threads for those that may (tokio; Cargo feature `threads`)
//! ```
//!
//! The executor never blocks. Callers from outside do, by [`WorkQueue::wait`], and so may a kernel that calls
//! a function itself: its thread runs other tasks meanwhile.
//! [`parallel_for`](befrost_kernel_api::parallel::parallel_for) spreads one kernel's work over the same
//! workers. Tasks for a later time wait in [`timers`](befrost_kernel_api::queue::timers).

mod local;
#[cfg(feature = "threads")]
mod multi;
#[cfg(not(feature = "threads"))]
mod no_threads;
#[cfg(feature = "threads")]
mod permits;
#[cfg(feature = "threads")]
mod shared_tasks;
mod single;
#[cfg(feature = "threads")]
mod sleepers;

use std::fmt;

use befrost_kernel_api::error::{ErrorCode, KernelError};
use befrost_kernel_api::executor::{LocalQueue, LocalTasks, run_task};
use befrost_kernel_api::queue::{Latch, Queue, Task, WhenFull, WorkQueue};

#[cfg(not(feature = "threads"))]
use no_threads::NoDeque as Deque;
#[cfg(feature = "threads")]
use shared_tasks::Deque;

pub(crate) use local::NestedWait;
#[cfg(feature = "threads")]
pub use multi::MultiThreaded;
#[cfg(not(feature = "threads"))]
pub use no_threads::NoThreads as MultiThreaded;
pub use single::SingleThreaded;

/// Checks that the calling thread may wait, or call a function. Waits and calls inside tasks nest on the
/// machine's stack, so their number is limited.
///
/// # Errors
/// If the thread may not wait.
#[inline]
pub fn check_may_wait() -> Result<(), KernelError> {
    if local::depth() < local::MAX_DEPTH { Ok(()) } else { Err(too_deep()) }
}

/// True if the calling thread runs a kernel: inside of a call, or of a task of this queue. Who waits there
/// for another thread of the queue may wait for ever, if all threads do.
pub fn is_inside(queue: &Queue) -> bool {
    local::depth() > 0 || queue.local().local_tasks().is_some()
}

#[cold]
fn too_deep() -> KernelError {
    let message = format!("calls and waits inside kernels nest too deeply: at most {} may", local::MAX_DEPTH);
    KernelError::new(ErrorCode::ResourceExhausted, message)
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
pub(crate) const MAX_THREADS: usize = 4096;

/// Makes the queue that `spec` names: `s`, `mstd`, `mstd:N`, `mstd:N,B` or `seeded:N`.
///
/// # Errors
/// If there is no such queue, its numbers are out of range, or the system refuses threads.
pub fn from_spec(spec: &str) -> Result<Queue, QueueError> {
    if let Some((workers, blocking)) = workers_of(spec)? {
        return Ok(MultiThreaded::new(workers, blocking).map_err(QueueError::Threads)?.into());
    }
    Ok(match spec.split_once(':').and_then(|(_, seed)| seed.parse().ok()) {
        Some(seed) => SingleThreaded::seeded(seed).into(),
        None => SingleThreaded::new().into(),
    })
}

/// The numbers of workers and of threads for blocking tasks that `spec` asks for; `None` if the queue has no
/// threads.
///
/// # Errors
/// If there is no such queue, or its numbers are out of range.
pub(crate) fn workers_of(spec: &str) -> Result<Option<(usize, usize)>, QueueError> {
    let bad = || QueueError::BadArguments(spec.to_owned());
    let count = |text: &str| match text.parse::<usize>() {
        Ok(n) if (1..=MAX_THREADS).contains(&n) => Ok(n),
        _ => Err(bad()),
    };
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    match spec.split_once(':') {
        None if spec == "mstd" => Ok(Some((all(), MAX_BLOCKING))),
        Some(("mstd", numbers)) => match numbers.split_once(',') {
            None => Ok(Some((count(numbers)?, MAX_BLOCKING))),
            Some((workers, blocking)) => Ok(Some((count(workers)?, count(blocking)?))),
        },
        None if spec == "s" => Ok(None),
        Some(("s", _)) => Err(bad()),
        Some(("seeded", seed)) => seed.parse::<u64>().map(|_| None).map_err(|_| bad()),
        None if spec == "seeded" => Err(bad()),
        _ => Err(QueueError::UnknownName(spec.split(':').next().unwrap_or(spec).to_owned())),
    }
}

/// The queue where none is named: `mstd`, or `s` in a build without threads.
pub const DEFAULT: &str = if cfg!(feature = "threads") { "mstd" } else { "s" };

/// The limit of threads for blocking tasks where none is given.
const MAX_BLOCKING: usize = 256;

#[cfg(all(test, feature = "threads", not(loom)))]
mod tests;
