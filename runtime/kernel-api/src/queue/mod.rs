//! The port to work queues.
//!
//! A [`WorkQueue`] runs [`Task`]s. Kernels add tasks of their own, [`parallel`](crate::parallel) spreads the
//! work of one kernel over the same workers, and tasks for a later time wait in [`timers`]. The
//! implementations belong to the runtime.

pub(crate) mod parking;
pub(crate) mod task;
pub mod timers;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::Duration;

use crate::error::KernelError;

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

    /// Number of threads worth using now for a kernel that takes one thread the time `work`; at least 1.
    /// Short work does not pay for waking a thread.
    fn workers_for(&self, _work: Duration) -> usize {
        self.parallelism()
    }

    /// Adds tasks that help the calling one. Nothing waits for their start. Workers that search for tasks get
    /// them first; sleeping ones are woken for the rest.
    fn add_helpers(&self, helpers: &mut dyn ExactSizeIterator<Item = Task>) {
        helpers.for_each(|helper| self.add_task(helper));
    }

    /// True if the queue has threads of its own. Otherwise tasks run while a caller waits.
    fn has_threads(&self) -> bool {
        true
    }

    /// Adds a task that will not block.
    fn add_task(&self, task: Task);

    /// The calling thread's local queue, if it runs tasks of this queue. Only for a task that is about to
    /// end, or that calls [`WorkQueue::hand_over`] otherwise.
    fn local_queue(&self) -> Option<LocalQueue> {
        None
    }

    /// Whether a task that the calling thread added to its local queue now would be the next one that it
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

/// Runs a task. A panic ends the task, not the thread.
#[doc(hidden)]
pub fn run_task(task: Task) {
    // The panic hook has reported the panic. The values that the task owned were dropped; promises among them
    // became errors.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task.run()));
}

/// The calling thread's list of tasks of the queue whose tasks it runs.
#[derive(Debug)]
pub struct LocalQueue {
    push: fn(Task),
    must_share: bool,
    /// Belongs to this thread.
    _not_send: PhantomData<*const ()>,
}

impl LocalQueue {
    /// The list to which `push` adds a task. `must_share` says whether other threads could run its tasks.
    #[inline]
    pub fn new(push: fn(Task), must_share: bool) -> LocalQueue {
        LocalQueue { push, must_share, _not_send: PhantomData }
    }

    /// Adds a task to the list. Returns whether the list has to be handed over before the thread does
    /// unrelated work.
    #[inline]
    pub fn push(self, task: Task) -> bool {
        (self.push)(task);
        self.must_share
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
