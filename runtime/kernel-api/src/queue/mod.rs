//! The port to work queues.
//!
//! A [`WorkQueue`] runs [`Task`]s. Kernels add tasks of their own, [`parallel`](crate::parallel) spreads the
//! work of one kernel over the same workers, and tasks for a later time wait in [`timers`]. The queues of the
//! runtime are [`LocalQueue`](crate::executor::LocalQueue)s too, whose methods save the executor atomic
//! operations; all other `WorkQueue`s get the defaults of these methods. A request holds a [`Queue`], which
//! is either.

pub(crate) mod local;
pub(crate) mod parking;
pub(crate) mod task;
pub mod timers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;

use crate::error::{KernelError, drop_payload};

pub use local::Queue;
pub(crate) use parking::Parking;
pub use task::Task;

/// Handling of a blocking task when all threads for blocking tasks are busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The task waits for a thread. For tasks that do not wait for one another.
    Wait,
    /// The task is given back.
    Refuse,
}

/// An executor of tasks. A task does not block its thread: one that waits runs other tasks meanwhile.
pub trait WorkQueue: Send + Sync {
    /// The name that selects this kind of queue, such as `mstd`.
    fn name(&self) -> &'static str;

    /// Number of tasks that can run at the same time.
    fn parallelism(&self) -> usize;

    /// True if the queue has threads of its own. Otherwise tasks run while a caller waits.
    fn has_threads(&self) -> bool {
        true
    }

    /// Adds a task that will not block.
    fn add_task(&self, task: Task);

    /// Adds a task that may block, for example on input and output.
    ///
    /// # Errors
    /// The task, if it is refused: because all threads are busy and `when_full` is `Refuse`, or because too
    /// many tasks wait.
    fn add_blocking_task(&self, task: Task, when_full: WhenFull) -> Result<(), Task>;

    /// Runs `first` on the calling thread, as part of the queue's work, and waits until `latch` is open. The
    /// thread runs other tasks meanwhile. Inside of a task: only if [`WorkQueue::check_may_wait`].
    fn wait_after(&self, latch: &Latch, first: &mut dyn FnMut());

    /// Waits until `latch` is open, as [`WorkQueue::wait_after`].
    fn wait(&self, latch: &Latch) {
        self.wait_after(latch, &mut || ());
    }

    /// Checks that the calling task may wait. Waits inside tasks nest on the machine's stack, so a queue
    /// limits them.
    ///
    /// # Errors
    /// If the task may not wait.
    fn check_may_wait(&self) -> Result<(), KernelError> {
        Ok(())
    }

    /// Waits until no task waits or runs. For callers outside of the queue. Inside of a task it does not
    /// wait, because the task would wait for itself.
    fn quiesce(&self);
}

/// Runs a task. A panic ends the task, not the thread.
#[doc(hidden)]
pub fn run_task(task: Task) {
    // The panic hook has reported the panic. The values that the task owned were dropped; promises among them
    // became errors.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| task.run())) {
        drop_payload(payload);
    }
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

    /// True if the count has reached zero.
    pub fn is_open(&self) -> bool {
        // Acquire pairs with the Release halves in `count_down`: the effects of all events are visible.
        self.left.load(Ordering::Acquire) == 0
    }

    /// Counts one event.
    pub fn count_down(&self) {
        // AcqRel: Release publishes the effects of this event; pairs with the Acquire load in `is_open`.
        // Acquire pairs with the Release halves of the other calls, for the one that sees zero.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.waiter.unpark();
        }
    }
}

#[doc(hidden)]
impl Latch {
    /// Sleeps until the latch is open, without running tasks.
    pub fn park_until_open(&self) {
        while !self.is_open() {
            self.park();
        }
    }

    /// Sleeps until the latch is open or the thread is woken for another reason.
    pub fn park(&self) {
        if !self.is_open() {
            std::thread::park();
        }
    }
}
