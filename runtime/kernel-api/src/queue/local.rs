//! [`LocalQueue`]: the executor's side of a work queue; [`Queue`]: a shared queue with that side.
//!
//! Every method of [`LocalQueue`] has a default that uses [`WorkQueue`] alone. The queues of the runtime
//! override them: a task that is about to end leaves its successor in a list of its thread, which costs no
//! atomic operation; a seeded queue orders ready kernels.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::{Latch, Task, WhenFull, WorkQueue};
use crate::error::KernelError;

/// The protocol between a queue and the executor: tasks that stay on their thread, and the order of ready
/// kernels.
pub trait LocalQueue: WorkQueue {
    /// The calling thread's local tasks, if it runs tasks of this queue. Only for a task that is about to
    /// end, or that calls [`LocalQueue::hand_over`] before other work.
    fn local_tasks(&self) -> Option<LocalTasks> {
        None
    }

    /// True if a task that the calling thread adds to its local tasks is certainly the next one that it runs,
    /// whatever other threads do.
    fn runs_next(&self) -> bool {
        false
    }

    /// Takes the task that the calling thread would run next, if `wants` accepts it, so that the current task
    /// runs it instead of ending. A task that is not accepted may stay in the local tasks, as with
    /// [`LocalQueue::local_tasks`].
    fn take_next(&self, _wants: &dyn Fn(&Task) -> bool) -> Option<Task> {
        None
    }

    /// Adds a task to the local tasks if there are [`LocalQueue::local_tasks`], else as with
    /// [`WorkQueue::add_task`].
    fn add_soon(&self, task: Task) {
        match self.local_tasks() {
            Some(local) => _ = local.push(task),
            None => self.add_task(task),
        }
    }

    /// Shares the local tasks with other threads, before the current task does something long.
    fn hand_over(&self) {}

    /// Index of the ready kernel that runs next, of `n`, which is not 0. The last one, except for seeded
    /// queues.
    fn pick(&self, n: usize) -> usize {
        n - 1
    }

    /// True if [`LocalQueue::pick`] is to be called.
    fn is_seeded(&self) -> bool {
        false
    }

    /// Number of threads to use for a kernel that takes one thread the time `work`; at least 1. Short work
    /// does not pay for waking a thread.
    fn workers_for(&self, _work: Duration) -> usize {
        self.parallelism()
    }

    /// Adds tasks that help the calling one. Nothing waits for their start. Workers that search for tasks get
    /// them first; sleeping ones are woken for the rest.
    fn add_helpers(&self, helpers: &mut dyn ExactSizeIterator<Item = Task>) {
        helpers.for_each(|helper| self.add_task(helper));
    }
}

/// The calling thread's list of tasks of the queue whose tasks it runs.
#[derive(Debug)]
pub struct LocalTasks {
    push: fn(Task),
    must_share: bool,
    /// Belongs to this thread.
    _not_send: PhantomData<*const ()>,
}

impl LocalTasks {
    /// The list to which `push` adds a task. `must_share` says whether other threads could run its tasks.
    #[inline]
    pub fn new(push: fn(Task), must_share: bool) -> LocalTasks {
        LocalTasks { push, must_share, _not_send: PhantomData }
    }

    /// Adds a task to the list. Returns whether the list has to be handed over before the thread does
    /// unrelated work.
    #[inline]
    pub fn push(self, task: Task) -> bool {
        (self.push)(task);
        self.must_share
    }
}

/// A work queue, shared by requests and by the tasks that add further ones. Clones refer to the same queue.
#[derive(Clone)]
pub struct Queue(Arc<dyn LocalQueue>);

impl Queue {
    /// A queue that an embedder implements.
    pub fn new(queue: impl WorkQueue + 'static) -> Queue {
        Queue(Arc::new(Plain(queue)))
    }

    /// A reference that does not keep the queue.
    pub fn downgrade(&self) -> WeakQueue {
        WeakQueue(Arc::downgrade(&self.0))
    }

    /// The executor's side.
    #[doc(hidden)]
    #[inline]
    pub fn local(&self) -> &dyn LocalQueue {
        &*self.0
    }
}

impl<Q: LocalQueue + 'static> From<Q> for Queue {
    fn from(queue: Q) -> Queue {
        Queue(Arc::new(queue))
    }
}

impl Deref for Queue {
    type Target = dyn WorkQueue;

    #[inline]
    fn deref(&self) -> &(dyn WorkQueue + 'static) {
        &*self.0
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Queue").field(&self.name()).finish()
    }
}

/// A reference to a [`Queue`] that does not keep it.
pub struct WeakQueue(Weak<dyn LocalQueue>);

impl WeakQueue {
    /// The queue, if it still exists.
    pub fn upgrade(&self) -> Option<Queue> {
        self.0.upgrade().map(Queue)
    }
}

/// A queue without local tasks.
struct Plain<Q>(Q);

impl<Q: WorkQueue> LocalQueue for Plain<Q> {}

impl<Q: WorkQueue> WorkQueue for Plain<Q> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn parallelism(&self) -> usize {
        self.0.parallelism()
    }

    fn has_threads(&self) -> bool {
        self.0.has_threads()
    }

    fn add_task(&self, task: Task) {
        self.0.add_task(task);
    }

    fn add_blocking_task(&self, task: Task, when_full: WhenFull) -> Result<(), Task> {
        self.0.add_blocking_task(task, when_full)
    }

    fn wait_after(&self, latch: &Latch, first: &mut dyn FnMut()) {
        self.0.wait_after(latch, first);
    }

    fn check_may_wait(&self) -> Result<(), KernelError> {
        self.0.check_may_wait()
    }

    fn quiesce(&self) {
        self.0.quiesce();
    }
}
