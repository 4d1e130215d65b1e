//! Sleepers: workers that sleep because they have nothing to do, or because they wait inside a task and there
//! is no other task.
//!
//! A worker that sleeps has released its permit (`permits`) but still occupies its thread, and only this
//! thread can use it. So a thread that acquires a permit for a new task passes it to a sleeper.
//!
//! ```text
//! sleeper: push itself ─ release its permit ─ sleep until it gets a permit, or its wait is over ─▶ retract
//! adder:   push a task ─ acquire a permit ─ wake: the permit is the sleeper's
//! ```
//!
//! A thread for blocking tasks that waits inside one keeps its permit, which stands for the thread. It is
//! woken when a task is added and no permit is left: if all such threads waited for the task, no other could
//! run it.
//!
//! ```text
//! sleeper: push itself ─ fence ─ no task? ─▶ sleep until woken, or its wait is over
//! adder:   push a task ─ fence ─ no permit? ─▶ wake
//! ```
//!
//! A lock guards the list of sleepers. Adding or running a task does not take it while there are none.

use std::sync::Arc;

use befrost_kernel_api::executor::sync::{AtomicUsize, Mutex, Ordering, fence, lock};

/// Something that can be woken: a thread.
pub(super) trait Wake {
    fn wake(&self);
}

impl Wake for std::thread::Thread {
    fn wake(&self) {
        self.unpark();
    }
}

/// The workers that sleep. One that is no longer on the list has a permit again.
pub(super) struct Sleepers<T> {
    /// Length of the list, readable without the lock.
    n: AtomicUsize,
    list: Mutex<Vec<Arc<T>>>,
}

impl<T: Wake> Sleepers<T> {
    pub(super) fn new() -> Sleepers<T> {
        Sleepers { n: AtomicUsize::new(0), list: Mutex::new(Vec::new()) }
    }

    /// Adds a sleeper that still has its permit, which it releases next.
    pub(super) fn push(&self, sleeper: &Arc<T>) {
        let mut list = lock(&self.list);
        list.push(sleeper.clone());
        // Relaxed: an adder that must see it has acquired the permit that the sleeper released afterwards;
        // see `Permits`.
        self.n.store(list.len(), Ordering::Relaxed);
    }

    /// Adds a sleeper that keeps its permit, unless there is a task. Returns whether it was added.
    #[must_use]
    pub(super) fn push_unless(&self, sleeper: &Arc<T>, has_task: impl FnOnce() -> bool) -> bool {
        self.push(sleeper);
        // Pairs with the fence in `Permits::acquire_after_push`: either this thread sees the task, or the one
        // that added it and got no permit sees the sleeper in `n`.
        fence(Ordering::SeqCst);
        let has_task = has_task();
        if has_task {
            // Who was woken meanwhile runs that task.
            _ = self.retract(sleeper);
        }
        !has_task
    }

    /// Passes a permit to a sleeper, or a task, if there is a sleeper.
    #[must_use]
    pub(super) fn wake(&self) -> bool {
        // Relaxed: as in `push`.
        if self.n.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let mut list = lock(&self.list);
        let sleeper = list.pop();
        self.n.store(list.len(), Ordering::Relaxed);
        drop(list);
        if let Some(sleeper) = &sleeper {
            sleeper.wake();
        }
        sleeper.is_some()
    }

    /// Wakes all sleepers without passing permits.
    pub(super) fn wake_all(&self) {
        lock(&self.list).iter().for_each(|sleeper| sleeper.wake());
    }

    /// Whether the sleeper is still without a permit.
    pub(super) fn is_waiting(&self, sleeper: &Arc<T>) -> bool {
        lock(&self.list).iter().any(|one| Arc::ptr_eq(one, sleeper))
    }

    /// Removes the sleeper from the list. False if it was not on it: then it has been given a permit.
    #[must_use]
    pub(super) fn retract(&self, sleeper: &Arc<T>) -> bool {
        let mut list = lock(&self.list);
        let at = list.iter().position(|one| Arc::ptr_eq(one, sleeper));
        if let Some(at) = at {
            list.remove(at);
            self.n.store(list.len(), Ordering::Relaxed);
        }
        at.is_some()
    }
}
