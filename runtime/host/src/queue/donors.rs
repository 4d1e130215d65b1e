//! Donors: workers that sleep, whether they have nothing to do or wait inside a task and could do something
//! else meanwhile.
//!
//! A worker that sleeps has given up its place (`places`) but still occupies its thread: only it can run what
//! comes there. Whoever takes a place for a new task gives it to a donor.
//!
//! ```text
//! donor: push itself ─ leave its place ─ sleep until given a place, or what it waits for has come ─▶ retract
//! adder: push a task ─ take a place ─ wake: the place is the donor's
//! ```
//!
//! A lock guards the list, which only holds those that sleep: neither adding nor running a task takes it
//! while nobody does.

use std::sync::Arc;

use befrost_kernel_api::executor::sync::{AtomicUsize, Mutex, Ordering, lock};

/// Something that can be woken: a thread.
pub(super) trait Wake {
    fn wake(&self);
}

impl Wake for std::thread::Thread {
    fn wake(&self) {
        self.unpark();
    }
}

/// A worker that sleeps. It has a place again once it is not on the list any more.
pub(super) struct Donors<T> {
    /// How many there are, so that the lock need not be taken to see that there are none.
    n: AtomicUsize,
    list: Mutex<Vec<Arc<T>>>,
}

impl<T: Wake> Donors<T> {
    pub(super) fn new() -> Donors<T> {
        Donors { n: AtomicUsize::new(0), list: Mutex::new(Vec::new()) }
    }

    /// Adds a donor that still has its place, which it gives up next.
    pub(super) fn push(&self, donor: &Arc<T>) {
        let mut list = lock(&self.list);
        list.push(donor.clone());
        // Relaxed: the adder who is to see it has taken the place that the donor gave up afterwards, see
        // `Places`.
        self.n.store(list.len(), Ordering::Relaxed);
    }

    /// Gives a place to a donor, if there is one.
    #[must_use]
    pub(super) fn wake(&self) -> bool {
        // Relaxed: as in `push`.
        if self.n.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let mut list = lock(&self.list);
        let donor = list.pop();
        self.n.store(list.len(), Ordering::Relaxed);
        drop(list);
        if let Some(donor) = &donor {
            donor.wake();
        }
        donor.is_some()
    }

    /// Wakes all of them without giving them anything.
    pub(super) fn wake_all(&self) {
        lock(&self.list).iter().for_each(|donor| donor.wake());
    }

    /// Whether the donor sleeps on without a place.
    pub(super) fn is_waiting(&self, donor: &Arc<T>) -> bool {
        lock(&self.list).iter().any(|one| Arc::ptr_eq(one, donor))
    }

    /// Takes the donor off the list. False if it was off already: somebody has given it a place.
    #[must_use]
    pub(super) fn retract(&self, donor: &Arc<T>) -> bool {
        let mut list = lock(&self.list);
        let at = list.iter().position(|one| Arc::ptr_eq(one, donor));
        if let Some(at) = at {
            list.remove(at);
            self.n.store(list.len(), Ordering::Relaxed);
        }
        at.is_some()
    }
}
