//! Permits of workers that drain a shared list, so that no task is left behind and no permit is unused.
//!
//! ```text
//! adder:   push ─ fence ─ try_acquire?  ─yes─▶ starts a worker
//! worker:  pop until empty ─ release ─ fence ─ empty? ─no─▶ try_acquire? ─yes─▶ continues
//! ```
//!
//! Either the adder's `try_acquire` sees the permit that the worker released, or the worker's second look at
//! the list sees the adder's task. The two fences are totally ordered, and each stands between a write and
//! the read of what the other thread writes.

use befrost_kernel_api::executor::sync::{AtomicUsize, Ordering, fence};

/// Number of permits, and how many of them are taken.
#[derive(Debug)]
pub(super) struct Permits {
    taken: AtomicUsize,
    limit: usize,
}

impl Permits {
    pub(super) fn new(limit: usize) -> Permits {
        Permits { taken: AtomicUsize::new(0), limit }
    }

    /// All permits taken, by workers that are about to start and look for tasks.
    pub(super) fn all_taken(limit: usize) -> Permits {
        Permits { taken: AtomicUsize::new(limit), limit }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Called after a task was pushed. Returns whether the caller has to start a worker, whose permit is
    /// taken.
    #[must_use]
    pub(super) fn acquire_after_push(&self) -> bool {
        // Pairs with the fence in `release`.
        fence(Ordering::SeqCst);
        self.try_acquire()
    }

    /// Called after `n` tasks were pushed, of which searching workers take one each. Returns for how many of
    /// the others the caller has to start a worker, whose permits are taken. A worker that searches counts
    /// itself, and is no longer counted when it releases its permit.
    #[must_use]
    pub(super) fn acquire_after_pushes(&self, n: usize, searching: impl FnOnce() -> usize) -> usize {
        // Pairs with the fence in `release`: either `searching` is the count without a worker that is about
        // to release its permit, or that worker sees the tasks.
        fence(Ordering::SeqCst);
        (searching()..n).take_while(|_| self.try_acquire()).count()
    }

    /// Releases a permit after the list was found empty. Returns whether the worker has to continue after
    /// all; then it has a permit again.
    #[must_use]
    pub(super) fn release(&self, is_empty: impl FnOnce() -> bool) -> bool {
        // Release pairs with the Acquire in `try_acquire`: the thread that takes the permit sees the sleeper
        // that released it. The fence orders the release against the list.
        self.taken.fetch_sub(1, Ordering::Release);
        // Pairs with the fence in `acquire_after_push`.
        fence(Ordering::SeqCst);
        !is_empty() && self.try_acquire()
    }

    /// Takes a permit if one is free.
    #[must_use]
    pub(super) fn try_acquire(&self) -> bool {
        // Relaxed: only the exchange counts.
        let mut taken = self.taken.load(Ordering::Relaxed);
        while taken < self.limit {
            // Acquire pairs with the Release in `release`.
            match self.taken.compare_exchange_weak(taken, taken + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => taken = now,
            }
        }
        false
    }

    /// Takes a permit even if none is free, for a worker that resumes the task in which it waited.
    pub(super) fn acquire_over_limit(&self) {
        // Acquire pairs with the Release in `release`, as in `try_acquire`.
        self.taken.fetch_add(1, Ordering::Acquire);
    }

    /// Whether no permit is taken.
    pub(super) fn are_all_free(&self) -> bool {
        // Acquire pairs with the Release in `release`: what the workers did is visible.
        self.taken.load(Ordering::Acquire) == 0
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::super::sleepers::{Sleepers, Wake};
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn loom_no_task_is_left_behind() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            // The list is as weak as a lock-free one may be: a number of tasks that nothing orders against
            // the permits.
            let tasks = Arc::new(AtomicUsize::new(0));
            let permits = Arc::new(Permits::new(1));
            let add = {
                let (tasks, permits) = (tasks.clone(), permits.clone());
                move || {
                    tasks.fetch_add(1, Ordering::Relaxed);
                    if permits.acquire_after_push() {
                        loop {
                            tasks.swap(0, Ordering::Relaxed);
                            if !permits.release(|| tasks.load(Ordering::Relaxed) == 0) {
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

    #[test]
    fn loom_a_searching_worker_takes_the_task_or_another_one_starts() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let tasks = Arc::new(AtomicUsize::new(0));
            let searching = Arc::new(AtomicUsize::new(0));
            let permits = Arc::new(Permits::all_taken(1));
            let worker = {
                let (tasks, searching, permits) = (tasks.clone(), searching.clone(), permits.clone());
                move || loop {
                    searching.fetch_add(1, Ordering::Relaxed);
                    tasks.swap(0, Ordering::Relaxed);
                    searching.fetch_sub(1, Ordering::Relaxed);
                    if !permits.release(|| tasks.load(Ordering::Relaxed) == 0) {
                        break;
                    }
                }
            };
            let other = thread::spawn(worker.clone());
            tasks.fetch_add(1, Ordering::Relaxed);
            if permits.acquire_after_pushes(1, || searching.load(Ordering::Relaxed)) == 1 {
                worker();
            }
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
    fn loom_a_sleeper_is_found_or_finds_the_task() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            // One permit, taken by the sleeper. No other thread could run the task.
            let tasks = Arc::new(AtomicUsize::new(0));
            let permits = Arc::new(Permits::new(1));
            let sleepers = Arc::new(Sleepers::<Flag>::new());
            assert!(permits.try_acquire());
            let adder = {
                let (tasks, permits, sleepers) = (tasks.clone(), permits.clone(), sleepers.clone());
                thread::spawn(move || {
                    tasks.fetch_add(1, Ordering::Relaxed);
                    if permits.acquire_after_push() {
                        assert!(sleepers.wake(), "the permit was free: the sleeper must be on the list");
                    }
                })
            };
            let sleeper = std::sync::Arc::new(Flag(AtomicUsize::new(0)));
            sleepers.push(&sleeper);
            if permits.release(|| tasks.load(Ordering::Relaxed) == 0) {
                assert!(sleepers.retract(&sleeper), "no other thread could take the permit");
            } else {
                while sleeper.0.load(Ordering::Acquire) == 0 {
                    thread::yield_now();
                }
                assert!(!sleepers.is_waiting(&sleeper));
            }
            adder.join().unwrap();
            assert!(!permits.are_all_free());
        });
    }

    #[test]
    fn loom_a_thread_that_waits_is_found_or_finds_the_blocking_task() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            // One permit, which the sleeper keeps.
            let tasks = Arc::new(AtomicUsize::new(0));
            let permits = Arc::new(Permits::all_taken(1));
            let sleepers = Arc::new(Sleepers::<Flag>::new());
            let adder = {
                let (tasks, permits, sleepers) = (tasks.clone(), permits.clone(), sleepers.clone());
                thread::spawn(move || {
                    tasks.fetch_add(1, Ordering::Relaxed);
                    assert!(!permits.acquire_after_push());
                    sleepers.wake()
                })
            };
            let sleeper = std::sync::Arc::new(Flag(AtomicUsize::new(0)));
            if sleepers.push_unless(&sleeper, || tasks.load(Ordering::Relaxed) > 0) {
                while sleeper.0.load(Ordering::Acquire) == 0 {
                    thread::yield_now();
                }
                assert!(!sleepers.is_waiting(&sleeper));
                assert!(adder.join().unwrap());
            } else {
                adder.join().unwrap();
            }
            assert!(!sleepers.wake(), "no sleeper is left on the list");
        });
    }
}
