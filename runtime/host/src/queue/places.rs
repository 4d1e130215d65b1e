//! The places of drainers: how many workers empty a shared list, so that no task is left behind and no place
//! is wasted.
//!
//! ```text
//! adder:   push ─ fence ─ enter?  ─yes─▶ starts a drainer
//! drainer: pop until empty ─ leave ─ fence ─ empty? ─no─▶ enter? ─yes─▶ goes on
//! ```
//!
//! Either the adder's `enter` sees the place that the drainer gave up, or the drainer's second look sees the
//! adder's task: the two fences are totally ordered, and each stands between a write and the read of what the
//! other one writes.

use befrost_kernel_api::executor::sync::{AtomicUsize, Ordering, fence};

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

    /// The same, for drainers that are about to start and look for tasks.
    pub(super) fn all_taken(limit: usize) -> Places {
        Places { taken: AtomicUsize::new(limit), limit }
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
        // Release: who takes the place sees the donor that gave it up; pairs with the Acquire in `enter`. The
        // fence orders it against the list.
        self.taken.fetch_sub(1, Ordering::Release);
        // Pairs with the fence in `after_push`.
        fence(Ordering::SeqCst);
        !is_empty() && self.enter()
    }

    /// Takes a place if one is free.
    #[must_use]
    pub(super) fn enter(&self) -> bool {
        // Relaxed: only the exchange counts.
        let mut taken = self.taken.load(Ordering::Relaxed);
        while taken < self.limit {
            // Acquire: pairs with the Release in `leave`.
            match self.taken.compare_exchange_weak(taken, taken + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => taken = now,
            }
        }
        false
    }

    /// Takes a place, even if none is free: for a worker that goes on with what it waited in.
    pub(super) fn enter_anyway(&self) {
        self.taken.fetch_add(1, Ordering::Acquire);
    }

    /// Whether nobody has a place.
    pub(super) fn is_free(&self) -> bool {
        // Acquire: what the drainers did is visible.
        self.taken.load(Ordering::Acquire) == 0
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::super::donors::{Donors, Wake};
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn loom_no_task_is_left_behind() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            // The list is as weak as a lock-free one may be: a number of tasks that nothing orders against
            // the places.
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

    struct Flag(AtomicUsize);

    impl Wake for Flag {
        fn wake(&self) {
            self.0.store(1, Ordering::Release);
        }
    }

    #[test]
    fn loom_a_sleeping_donor_is_found_or_finds_the_task() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            // One place, taken by the donor; no other thread could run the task.
            let tasks = Arc::new(AtomicUsize::new(0));
            let places = Arc::new(Places::new(1));
            let donors = Arc::new(Donors::<Flag>::new());
            assert!(places.enter());
            let adder = {
                let (tasks, places, donors) = (tasks.clone(), places.clone(), donors.clone());
                thread::spawn(move || {
                    tasks.fetch_add(1, Ordering::Relaxed);
                    if places.after_push() {
                        assert!(donors.wake(), "the place was free: its donor must be on the list");
                    }
                })
            };
            let donor = std::sync::Arc::new(Flag(AtomicUsize::new(0)));
            donors.push(&donor);
            if places.leave(|| tasks.load(Ordering::Relaxed) == 0) {
                assert!(donors.retract(&donor), "nobody else could take the place");
            } else {
                while donor.0.load(Ordering::Acquire) == 0 {
                    thread::yield_now();
                }
                assert!(!donors.is_waiting(&donor));
            }
            adder.join().unwrap();
            assert!(!places.is_free());
        });
    }
}
