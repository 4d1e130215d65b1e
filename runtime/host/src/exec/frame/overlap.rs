//! Loops whose iterations overlap: the bound on the iterations in flight, and the start of the next one.
//!
//! ```text
//! LoopHead ──acquire─▶ permit ─▶ starts an iteration; its results are the head's next arguments
//!              └─────▶ waits  ─▶ the next iteration that ends passes its permit on and resumes the head
//! InFlight ──end─────▶ an iteration's frame has ended: its permit is free, or the head's
//! ```
//!
//! There is one [`LoopHead`] per loop: the right to start the next iteration, and the duty to deliver the
//! loop's results. An [`InFlight`] stands for an iteration until its frame has ended, that is, until its last
//! kernel has completed. The kernel that asked for the loop is complete when the head and all iterations are
//! gone; the last of them completes it.

#![allow(unsafe_code, reason = "a cell that one thread at a time may touch; the proof is in `Semaphore`")]

use std::sync::{Arc, OnceLock};

use super::{Completing, Running};
use befrost_kernel_api::executor::sync::{AtomicUsize, Ordering, UnsafeCell};
use befrost_kernel_api::value::Value;

/// A counting semaphore with one acquirer, which may wait.
///
/// `n_taken` is the number of permits taken, plus one if the acquirer waits. Only the acquirer increments it,
/// so it never exceeds `limit + 1`, and the acquirer waits exactly if it has this value. `waiting` is written
/// by the acquirer before it is counted. It is taken by the thread that decrements the count from `limit + 1`
/// to `limit`, of which there is one, or by the acquirer itself if the count shows that it need not wait.
struct Semaphore<T> {
    limit: usize,
    n_taken: AtomicUsize,
    waiting: UnsafeCell<Option<T>>,
}

// SAFETY: `waiting` is accessed by one thread at a time, as described at the type, and its content is Send.
unsafe impl<T: Send> Sync for Semaphore<T> {}

impl<T> Semaphore<T> {
    fn new(limit: usize) -> Semaphore<T> {
        Semaphore { limit: limit.max(1), n_taken: AtomicUsize::new(0), waiting: UnsafeCell::new(None) }
    }

    /// Takes a permit and returns `owner`, or keeps `owner` until there is a permit.
    ///
    /// # Safety
    /// There must be one `T` per semaphore: `owner`.
    #[must_use]
    unsafe fn acquire(&self, owner: T) -> Option<T> {
        // Acquire pairs with the Release half in `release`: what the iterations did that have ended happens
        // before what follows.
        if self.n_taken.load(Ordering::Acquire) < self.limit {
            // Relaxed: only this thread increments the count, so there is still a permit.
            self.n_taken.fetch_add(1, Ordering::Relaxed);
            return Some(owner);
        }
        // SAFETY: by the caller's contract this thread is the acquirer. It is not counted as waiting yet, so
        // no other thread touches `waiting`.
        self.waiting.with_mut(|waiting| unsafe { *waiting = Some(owner) });
        // Release publishes `waiting` and pairs with the Acquire half in `release`. Acquire: as for the load
        // above.
        if self.n_taken.fetch_add(1, Ordering::AcqRel) < self.limit {
            return self.take();
        }
        None
    }

    /// Returns a permit: to the owner that waits for one, if there is one.
    #[must_use]
    fn release(&self) -> Option<T> {
        // Acquire pairs with the Release half in `acquire`: `waiting` is visible. Release publishes what this
        // iteration did.
        if self.n_taken.fetch_sub(1, Ordering::AcqRel) > self.limit { self.take() } else { None }
    }

    fn take(&self) -> Option<T> {
        // SAFETY: the caller has found out from the count that it is the thread that may take `waiting`.
        self.waiting.with_mut(|waiting| unsafe { (*waiting).take() })
    }
}

/// Shared state of the head and the iterations of a loop.
struct LoopShared {
    function: u32,
    semaphore: Semaphore<Box<LoopHead>>,
    /// The kernel, once its results are written.
    completing: OnceLock<Completing>,
}

/// The right to start the next iteration.
#[must_use]
pub(in crate::exec) struct LoopHead {
    shared: Arc<LoopShared>,
    pub(in crate::exec) running: Running,
    /// Results of the iteration that was started last: the arguments of the next one.
    pub(in crate::exec) values: Vec<Value>,
    /// Number of iterations started.
    pub(in crate::exec) n_started: u64,
}

/// An iteration in flight.
#[must_use]
pub(in crate::exec) struct InFlight(Arc<LoopShared>);

impl std::fmt::Debug for InFlight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InFlight")
    }
}

/// Action at the end of an iteration.
#[must_use]
pub(in crate::exec) enum InFlightEnd {
    Nothing,
    /// The head has got the permit: it is to be resumed.
    Next(Box<LoopHead>),
    /// The kernel is to be completed.
    Last(Completing),
}

impl LoopHead {
    /// Head of a new loop of kernel `running`, with at most `limit` iterations of `function` in flight.
    pub(in crate::exec) fn new(
        running: Running,
        function: u32,
        limit: u32,
        arguments: impl Iterator<Item = Value>,
    ) -> Box<LoopHead> {
        let semaphore = Semaphore::new(limit as usize);
        let shared = Arc::new(LoopShared { function, semaphore, completing: OnceLock::new() });
        Box::new(LoopHead { shared, running, values: arguments.collect(), n_started: 0 })
    }

    /// Takes a permit for the next iteration. Without one, the head is kept and resumed by the next iteration
    /// that ends.
    #[must_use]
    pub(in crate::exec) fn acquire(self: Box<LoopHead>) -> Option<Box<LoopHead>> {
        let shared = self.shared.clone();
        // SAFETY: `new` makes one head for each semaphore, and it cannot be copied.
        unsafe { shared.semaphore.acquire(self) }
    }

    /// The iteration for which a permit was taken.
    pub(in crate::exec) fn in_flight(&self) -> InFlight {
        InFlight(self.shared.clone())
    }

    /// Sets all results of the loop to `value`.
    pub(in crate::exec) fn set_results(&mut self, value: &Value) {
        self.values.clear();
        self.values.resize(self.running.info().n_results(), value.clone());
    }

    pub(in crate::exec) fn function(&self) -> u32 {
        self.shared.function
    }

    /// Gives up the head. `write_results` writes the kernel's results. Returns the kernel if no iteration is
    /// in flight: then it is to be completed.
    #[must_use]
    pub(in crate::exec) fn end(
        self,
        write_results: impl FnOnce(Running) -> Completing,
    ) -> Option<Completing> {
        let LoopHead { shared, running, values: _, n_started: _ } = self;
        // Set once, because there is one head.
        shared.completing.get_or_init(|| write_results(running));
        last(shared)
    }
}

impl InFlight {
    /// Ends the iteration, whose frame has ended.
    pub(in crate::exec) fn end(self) -> InFlightEnd {
        match self.0.semaphore.release() {
            Some(head) => InFlightEnd::Next(head),
            None => last(self.0).map_or(InFlightEnd::Nothing, InFlightEnd::Last),
        }
    }
}

/// The kernel, if nothing else is left of the loop.
fn last(shared: Arc<LoopShared>) -> Option<Completing> {
    Arc::into_inner(shared)?.completing.into_inner()
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use befrost_kernel_api::executor::sync::{Mutex, lock};
    use loom::thread;

    const ITERATIONS: usize = 3;

    /// The right to start iterations, with the number of those started.
    struct Owner(usize);

    /// A loop whose iterations end on threads of their own.
    struct Loop {
        semaphore: Semaphore<Owner>,
        in_flight: AtomicUsize,
        threads: Mutex<Vec<thread::JoinHandle<()>>>,
        /// Effects of the iterations, watched by loom.
        effects: UnsafeCell<()>,
    }

    impl Loop {
        fn resume_loop(self: &Arc<Loop>, mut owner: Owner) {
            while owner.0 < ITERATIONS {
                // SAFETY: there is one `Owner`.
                match unsafe { self.semaphore.acquire(owner) } {
                    Some(permitted) => owner = self.start(permitted),
                    None => return,
                }
            }
        }

        /// Starts an iteration, for which there is a permit.
        fn start(self: &Arc<Loop>, Owner(n_started): Owner) -> Owner {
            assert!(
                self.in_flight.fetch_add(1, Ordering::Relaxed) < self.semaphore.limit,
                "too many in flight"
            );
            let shared = self.clone();
            let end = move || {
                if shared.semaphore.limit == 1 {
                    // With one permit, only the semaphore orders the iterations.
                    shared.effects.with_mut(|_| ());
                }
                shared.in_flight.fetch_sub(1, Ordering::Relaxed);
                if let Some(owner) = shared.semaphore.release() {
                    let owner = shared.start(owner);
                    shared.resume_loop(owner);
                }
            };
            lock(&self.threads).push(thread::spawn(end));
            Owner(n_started + 1)
        }
    }

    #[test]
    fn loom_a_bound_is_kept_and_the_head_goes_on() {
        for limit in [1, 2] {
            let mut model = loom::model::Builder::new();
            model.preemption_bound = Some(3);
            model.check(move || {
                let shared = Arc::new(Loop {
                    semaphore: Semaphore::new(limit),
                    in_flight: AtomicUsize::new(0),
                    threads: Mutex::new(Vec::new()),
                    effects: UnsafeCell::new(()),
                });
                shared.resume_loop(Owner(0));
                let mut ended = 0;
                loop {
                    let thread = lock(&shared.threads).pop();
                    let Some(thread) = thread else { break };
                    thread.join().unwrap();
                    ended += 1;
                }
                assert_eq!(ended, ITERATIONS, "the owner was lost");
            });
        }
    }
}
