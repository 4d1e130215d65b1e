//! What a thread knows of the queue whose tasks it is running.
//!
//! Tasks that a task adds, and that can wait until it has ended, go to a list of the thread: to add and take
//! one costs no atomic operation. The queue decides what becomes of the list: the single-threaded one runs
//! from it, the multi-threaded one lets the thread keep one task and shares the others.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::open::Deque;
use super::{LocalQueue, Task};
use befrost_kernel_api::executor::sync::thread_local_const;

struct Here {
    /// Which queue; 0 for none.
    queue: Cell<usize>,
    /// Tasks of that queue which only this thread knows of, in the order in which they came.
    own: RefCell<VecDeque<Task>>,
    /// Where it opens them for others.
    deque: RefCell<Option<Deque>>,
    /// How many waits nest on this thread.
    depth: Cell<u32>,
}

thread_local_const! {
    static HERE: Here = Here {
        queue: Cell::new(0),
        own: RefCell::new(VecDeque::new()),
        deque: RefCell::new(None),
        depth: Cell::new(0),
    };
}

/// How deep waits inside tasks may nest: each runs other tasks on top of the one that waits.
pub(super) const MAX_DEPTH: u32 = 64;

/// The time during which a thread runs tasks of a queue.
pub(super) struct Scope {
    before: usize,
    /// The tasks of the queue before.
    others: VecDeque<Task>,
    /// The deque of the queue before.
    other_deque: Option<Deque>,
}

impl Scope {
    /// Nothing if the thread runs tasks of this queue already.
    pub(super) fn enter(queue: usize) -> Option<Scope> {
        HERE.with(|here| {
            let before = here.queue.replace(queue);
            (before != queue).then(|| Scope {
                before,
                others: here.own.take(),
                other_deque: here.deque.take(),
            })
        })
    }

    /// Ends it. The deque that the thread was lent.
    pub(super) fn leave(self) -> Option<Deque> {
        HERE.with(|here| here.deque.take())
    }
}

impl Drop for Scope {
    /// The thread's own tasks must have been taken by now; what is left is dropped.
    fn drop(&mut self) {
        HERE.with(|here| {
            here.queue.set(self.before);
            let left = here.own.replace(std::mem::take(&mut self.others));
            let deque = here.deque.replace(self.other_deque.take());
            drop((left, deque));
        });
    }
}

/// One wait on this thread.
pub(super) struct Nested(());

impl Nested {
    pub(super) fn enter() -> Nested {
        HERE.with(|here| here.depth.set(here.depth.get() + 1));
        Nested(())
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        HERE.with(|here| here.depth.set(here.depth.get() - 1));
    }
}

/// Gives `act` what this thread keeps of a queue and where it opens that, if it runs tasks of this queue.
#[inline]
pub(super) fn with<R>(
    queue: usize,
    act: impl FnOnce(&mut VecDeque<Task>, &mut Option<Deque>) -> R,
) -> Option<R> {
    HERE.with(|here| {
        (here.queue.get() == queue).then(|| act(&mut here.own.borrow_mut(), &mut here.deque.borrow_mut()))
    })
}

/// How many waits nest on this thread.
pub(super) fn depth() -> u32 {
    HERE.with(|here| here.depth.get())
}

/// Whether this thread runs tasks of this queue.
#[inline]
pub(super) fn is_in(queue: usize) -> bool {
    HERE.with(|here| here.queue.get()) == queue
}

/// Whether this thread runs tasks of this queue, and has none besides the one that runs.
#[inline]
pub(super) fn is_last_in(queue: usize) -> bool {
    HERE.with(|here| here.queue.get() == queue && here.own.borrow().is_empty())
}

/// The calling thread's list of tasks of a queue; `None` if the thread runs no tasks of this queue. `must_share`
/// says whether other threads could run them.
#[inline]
pub(super) fn local_queue(queue: usize, must_share: bool) -> Option<LocalQueue> {
    is_in(queue).then(|| LocalQueue::new(push, must_share))
}

fn push(task: Task) {
    HERE.with(|here| here.own.borrow_mut().push_back(task));
}

/// The oldest task of this thread, if it runs tasks of this queue and `wants` it.
#[inline]
pub(super) fn take_if(queue: usize, wants: &dyn Fn(&Task) -> bool) -> Option<Task> {
    with(queue, |own, _| if own.front().is_some_and(wants) { own.pop_front() } else { None })?
}

/// Takes the oldest task of this thread.
#[inline]
pub(super) fn take() -> Option<Task> {
    HERE.with(|here| here.own.borrow_mut().pop_front())
}

/// Takes any task of this thread: `pick` chooses one of so many.
pub(super) fn take_any(pick: impl FnOnce(usize) -> usize) -> Option<Task> {
    HERE.with(|here| {
        let mut own = here.own.borrow_mut();
        let n = own.len();
        if n > 1 {
            own.swap(0, pick(n).min(n - 1));
        }
        own.pop_front()
    })
}
