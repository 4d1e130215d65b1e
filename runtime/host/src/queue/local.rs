//! Thread-local state of a thread that runs tasks of a queue.
//!
//! A task that is added by another task, and that can wait until that one has ended, goes to a local list:
//! adding and taking it costs no atomic operation. The queue decides how the list is used. The
//! single-threaded queue runs its tasks; the multi-threaded one lets the thread keep one task and shares the
//! others.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::{Deque, LocalTasks, Task};
use befrost_kernel_api::executor::sync::thread_local_const;

struct ThreadState {
    /// Id of the queue; 0 for none.
    queue: Cell<usize>,
    /// Tasks of that queue that only this thread knows of, oldest first.
    own: RefCell<VecDeque<Task>>,
    /// The thread's deque of shared tasks.
    deque: RefCell<Option<Deque>>,
}

thread_local_const! {
    static THREAD: ThreadState = ThreadState {
        queue: Cell::new(0),
        own: RefCell::new(VecDeque::new()),
        deque: RefCell::new(None),
    };
}

thread_local_const! {
    /// Number of nested waits and calls on this thread.
    static DEPTH: Cell<u32> = Cell::new(0);
}

#[cfg(feature = "threads")]
thread_local_const! {
    /// Id of the queue whose blocking tasks this thread runs; 0 for none.
    static BLOCKING: Cell<usize> = Cell::new(0);
}

/// Limit of nested waits inside tasks, each of which runs other tasks on top of the one that waits, and of
/// nested calls, each of which runs kernels on top of the one that calls.
pub(super) const MAX_DEPTH: u32 = 64;

/// Period in which a thread runs tasks of a queue.
pub(super) struct QueueScope {
    before: usize,
    /// Local tasks of the previous queue.
    others: VecDeque<Task>,
    /// Deque of the previous queue.
    other_deque: Option<Deque>,
}

impl QueueScope {
    /// Begins the period. `None` if the thread runs tasks of this queue already.
    pub(super) fn enter(queue: usize) -> Option<QueueScope> {
        THREAD.with(|thread| {
            let before = thread.queue.replace(queue);
            (before != queue).then(|| QueueScope {
                before,
                others: thread.own.take(),
                other_deque: thread.deque.take(),
            })
        })
    }

    /// Ends the period. Returns the deque that was lent to the thread.
    #[cfg(feature = "threads")]
    pub(super) fn leave(self) -> Option<Deque> {
        THREAD.with(|thread| thread.deque.take())
    }
}

impl Drop for QueueScope {
    /// The local tasks must have been taken before; remaining ones are dropped.
    fn drop(&mut self) {
        THREAD.with(|thread| {
            thread.queue.set(self.before);
            let left = thread.own.replace(std::mem::take(&mut self.others));
            let deque = thread.deque.replace(self.other_deque.take());
            drop((left, deque));
        });
    }
}

/// One wait or call on this thread.
pub(crate) struct NestedWait(());

impl NestedWait {
    #[inline]
    pub(crate) fn enter() -> NestedWait {
        DEPTH.with(|depth| depth.set(depth.get() + 1));
        NestedWait(())
    }
}

impl Drop for NestedWait {
    #[inline]
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(depth.get() - 1));
    }
}

/// Calls `act` with the thread's local tasks and deque, if it runs tasks of this queue.
#[inline]
pub(super) fn with<R>(
    queue: usize,
    act: impl FnOnce(&mut VecDeque<Task>, &mut Option<Deque>) -> R,
) -> Option<R> {
    THREAD.with(|thread| {
        (thread.queue.get() == queue)
            .then(|| act(&mut thread.own.borrow_mut(), &mut thread.deque.borrow_mut()))
    })
}

/// Number of nested waits and calls on this thread.
#[inline]
pub(super) fn depth() -> u32 {
    DEPTH.with(Cell::get)
}

/// Says that this thread runs blocking tasks of this queue, for as long as it lives.
#[cfg(feature = "threads")]
pub(super) fn begin_blocking(queue: usize) {
    BLOCKING.with(|blocking| blocking.set(queue));
}

/// Whether this thread runs blocking tasks of this queue.
#[cfg(feature = "threads")]
pub(super) fn is_blocking_in(queue: usize) -> bool {
    BLOCKING.with(Cell::get) == queue
}

/// Whether this thread runs tasks of this queue.
#[inline]
pub(super) fn is_in(queue: usize) -> bool {
    THREAD.with(|thread| thread.queue.get()) == queue
}

/// Whether this thread runs tasks of this queue and has no local task besides the current one.
#[inline]
pub(super) fn is_last_in(queue: usize) -> bool {
    THREAD.with(|thread| thread.queue.get() == queue && thread.own.borrow().is_empty())
}

/// The calling thread's list of tasks of a queue; `None` if the thread runs no tasks of this queue.
/// `must_share` says whether other threads could run them.
#[inline]
pub(super) fn tasks_of(queue: usize, must_share: bool) -> Option<LocalTasks> {
    is_in(queue).then(|| LocalTasks::new(push, must_share))
}

fn push(task: Task) {
    THREAD.with(|thread| thread.own.borrow_mut().push_back(task));
}

/// Takes the oldest local task, if the thread runs tasks of this queue and `wants` it.
#[inline]
pub(super) fn take_if(queue: usize, wants: &dyn Fn(&Task) -> bool) -> Option<Task> {
    with(queue, |own, _| if own.front().is_some_and(wants) { own.pop_front() } else { None })?
}

/// Takes the oldest local task.
#[inline]
pub(super) fn take() -> Option<Task> {
    THREAD.with(|thread| thread.own.borrow_mut().pop_front())
}

/// Takes the local task with the index that `pick` chooses; its argument is the number of tasks.
pub(super) fn take_any(pick: impl FnOnce(usize) -> usize) -> Option<Task> {
    THREAD.with(|thread| {
        let mut own = thread.own.borrow_mut();
        let n = own.len();
        if n > 1 {
            own.swap(0, pick(n).min(n - 1));
        }
        own.pop_front()
    })
}
