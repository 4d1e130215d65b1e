//! The queue with threads in builds without the Cargo feature `threads`: making it is an error.

use std::convert::Infallible;
use std::io::{Error, ErrorKind};

use befrost_kernel_api::queue::Queue;

/// The deque of shared tasks of a thread: there is none.
pub(super) enum NoDeque {}

/// The multi-threaded queue, which this build does not have.
pub struct NoThreads(Infallible);

impl NoThreads {
    /// Refuses a queue of any number of threads.
    ///
    /// # Errors
    /// Always.
    pub fn new(_workers: usize, _blocking: usize) -> std::io::Result<NoThreads> {
        Err(Error::new(ErrorKind::Unsupported, "befrost was built without its Cargo feature `threads`"))
    }

    /// [`NoThreads::new`].
    ///
    /// # Errors
    /// Always.
    pub fn with_thread_start(
        workers: usize,
        blocking: usize,
        _start: impl Fn() + Send + Sync + 'static,
    ) -> std::io::Result<NoThreads> {
        NoThreads::new(workers, blocking)
    }

    /// The queue itself.
    #[must_use]
    pub fn with_idle_callers(self) -> NoThreads {
        self
    }
}

impl From<NoThreads> for Queue {
    fn from(queue: NoThreads) -> Queue {
        match queue.0 {}
    }
}
