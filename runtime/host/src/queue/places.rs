//! The places of drainers: how many workers empty a shared list, so that no task is left behind and no place is wasted.
//!
//! ```text
//! adder:   push ─ fence ─ enter?  ─yes─▶ starts a drainer
//! drainer: pop until empty ─ leave ─ fence ─ empty? ─no─▶ enter? ─yes─▶ goes on
//! ```
//!
//! Either the adder's `enter` sees the place that the drainer gave up, or the drainer's second look sees the adder's task: the two fences are
//! totally ordered, and each stands between a write and the read of what the other one writes.

use crate::sync::{AtomicUsize, Ordering, fence};

/// How many drainers there are, and may be.
#[derive(Debug)]
pub(super) struct Places {
    taken: AtomicUsize,
    limit: usize,
}

impl Places {
    pub(super) fn new(limit: usize) -> Places {
        Places { taken: AtomicUsize::new(0), limit }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// After a task was pushed: whether the caller has to start a drainer for it.
    #[must_use]
    pub(super) fn after_push(&self) -> bool {
        // Pairs with the fence in `leave`.
        fence(Ordering::SeqCst);
        self.enter()
    }

    /// Gives up a place when the list was found empty; whether the drainer has to go on after all.
    #[must_use]
    pub(super) fn leave(&self, is_empty: impl FnOnce() -> bool) -> bool {
        // Relaxed: the count guards no data; the fence orders it against the list.
        self.taken.fetch_sub(1, Ordering::Relaxed);
        // Pairs with the fence in `after_push`.
        fence(Ordering::SeqCst);
        !is_empty() && self.enter()
    }

    /// Takes a place if one is free.
    fn enter(&self) -> bool {
        // Relaxed: as in `leave`.
        let mut taken = self.taken.load(Ordering::Relaxed);
        while taken < self.limit {
            match self.taken.compare_exchange_weak(taken, taken + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => taken = now,
            }
        }
        false
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn loom_no_task_is_left_behind() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            // The list is as weak as a lock-free one may be: a number of tasks that nothing orders against the places.
            let tasks = Arc::new(AtomicUsize::new(0));
            let places = Arc::new(Places::new(1));
            let add = {
                let (tasks, places) = (tasks.clone(), places.clone());
                move || {
                    tasks.fetch_add(1, Ordering::Relaxed);
                    if places.after_push() {
                        loop {
                            tasks.swap(0, Ordering::Relaxed);
                            if !places.leave(|| tasks.load(Ordering::Relaxed) == 0) {
                                break;
                            }
                        }
                    }
                }
            };
            let other = thread::spawn(add.clone());
            add();
            other.join().unwrap();
            assert_eq!(tasks.load(Ordering::Relaxed), 0);
        });
    }
}
