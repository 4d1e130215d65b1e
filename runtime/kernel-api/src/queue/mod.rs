//! The port to work queues: where tasks run that are not run at once.
//!
//! A [`WorkQueue`] runs [`Task`]s. Kernels add tasks of their own; [`parallel`](crate::parallel) spreads the
//! work of one kernel over the same workers; tasks for a later time wait in [`timers`]. The queues themselves
//! belong to the runtime.

pub(crate) mod parking;
pub(crate) mod task;
pub mod timers;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;

use crate::error::KernelError;

pub(crate) use parking::Parking;
pub use task::Task;

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
    fn keeper(&self) -> Option<Keeper> {
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
        match self.keeper() {
            Some(keeper) => _ = keeper.keep(task),
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
    /// thread runs other tasks meanwhile. Inside of a task: only if [`WorkQueue::may_wait`].
    fn wait_after(&self, latch: &Latch, first: &mut dyn FnMut());

    /// Waits until `latch` is open, as [`WorkQueue::wait_after`].
    fn wait(&self, latch: &Latch) {
        self.wait_after(latch, &mut || ());
    }

    /// Whether the calling task may wait: waits inside tasks nest on the machine's stack, and not without end.
    ///
    /// # Errors
    /// If it may not.
    fn may_wait(&self) -> Result<(), KernelError> {
        Ok(())
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

/// Runs a task; a panic ends the task, not the thread.
#[doc(hidden)]
pub fn run_task(task: Task) {
    // The panic hook has reported it; what the task owned was dropped, and promises among it became errors.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task.run()));
}

/// Where the calling thread keeps tasks of the queue whose tasks it runs.
#[derive(Debug)]
pub struct Keeper {
    keep: fn(Task),
    owes: bool,
    /// Of this thread.
    _not_send: PhantomData<*const ()>,
}

impl Keeper {
    /// Of a queue that keeps a task for the calling thread by `keep`. `owes`: other threads could run it.
    #[inline]
    pub fn new(keep: fn(Task), owes: bool) -> Keeper {
        Keeper { keep, owes, _not_send: PhantomData }
    }

    /// Keeps a task for this thread. Whether it has to be handed over if the thread goes on with something
    /// that it does not follow from.
    #[inline]
    pub fn keep(self, task: Task) -> bool {
        (self.keep)(task);
        self.owes
    }
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
}

#[doc(hidden)]
impl Latch {
    /// Sleeps until the latch is open, without taking part in anything.
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
