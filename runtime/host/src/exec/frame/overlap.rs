//! Loops whose iterations overlap: how many are in flight, and who starts the next one.
//!
//! ```text
//! Head ──enter──▶ has a place ──▶ starts an iteration, whose results are the head's next arguments as soon as its condition is known
//!           └───▶ waits       ──▶ the next iteration that ends gives it its place and goes on with it
//! Turn ──end────▶ an iteration's frame has ended: its place is free, or the head's
//! ```
//!
//! There is one [`Head`] per loop: the right to start the next iteration, and the duty to give the loop's
//! results. A [`Turn`] is an iteration in flight, which it is until its frame has ended, that is, until its
//! last kernel has completed. The kernel that asked for the loop is complete when neither is left, and
//! whoever gives up the last one completes it.

#![allow(unsafe_code, reason = "a cell that one thread at a time may touch; the proof is in `Gate`")]

use std::sync::{Arc, OnceLock};

use super::{Completing, Running};
use befrost_kernel_api::executor::sync::{AtomicUsize, Ordering, UnsafeCell};
use befrost_kernel_api::value::Value;

/// A number of places, and the one who may be waiting for one.
///
/// `taken` counts the places that are taken and who waits. Only the one adds to it, so there are never more
/// than `limit + 1`, and the one waits exactly if there are so many. `waiting` is written by the one before
/// it is counted, and taken by whoever brings the count from `limit + 1` to `limit`, of whom there is one, or
/// by the one itself if the count says that it need not wait.
struct Gate<T> {
    limit: usize,
    taken: AtomicUsize,
    waiting: UnsafeCell<Option<T>>,
}

// SAFETY: `waiting` is accessed by one thread at a time, as the type's description says, and what it holds
// may be sent.
unsafe impl<T: Send> Sync for Gate<T> {}

impl<T> Gate<T> {
    fn new(limit: usize) -> Gate<T> {
        Gate { limit: limit.max(1), taken: AtomicUsize::new(0), waiting: UnsafeCell::new(None) }
    }

    /// Takes a place and gives back who takes it, or keeps it until there is a place.
    ///
    /// # Safety
    /// There must be one `T` for the gate, which is this one.
    #[must_use]
    unsafe fn enter(&self, the_one: T) -> Option<T> {
        // Acquire pairs with the Release half in `leave`: what the iterations did that have left happens
        // before what follows.
        if self.taken.load(Ordering::Acquire) < self.limit {
            // Relaxed: nobody else adds to it, so there is still a place.
            self.taken.fetch_add(1, Ordering::Relaxed);
            return Some(the_one);
        }
        // SAFETY: the caller is the one, and does not wait yet.
        self.waiting.with_mut(|waiting| unsafe { *waiting = Some(the_one) });
        // Release publishes `waiting`, pairs with the Acquire half in `leave`; Acquire: as the load above.
        if self.taken.fetch_add(1, Ordering::AcqRel) < self.limit {
            return self.take();
        }
        None
    }

    /// Gives up a place: to whom waits for it, if somebody does.
    #[must_use]
    fn leave(&self) -> Option<T> {
        // Acquire pairs with the Release half in `enter`: `waiting` is visible. Release: what this iteration
        // did.
        if self.taken.fetch_sub(1, Ordering::AcqRel) > self.limit { self.take() } else { None }
    }

    fn take(&self) -> Option<T> {
        // SAFETY: called by who has found out from the count that it is the one who may.
        self.waiting.with_mut(|waiting| unsafe { (*waiting).take() })
    }
}

/// What the head and the iterations of a loop share.
struct Overlap {
    function: u32,
    gate: Gate<Box<Head>>,
    /// The kernel, when it has its results.
    completing: OnceLock<Completing>,
}

/// The right to start the next iteration.
#[must_use]
pub(in crate::exec) struct Head {
    shared: Arc<Overlap>,
    pub(in crate::exec) running: Running,
    /// The results of the iteration that was started last, or the arguments of the next one.
    pub(in crate::exec) values: Vec<Value>,
    /// How many have been started.
    pub(in crate::exec) n_started: u64,
}

/// An iteration in flight.
#[must_use]
pub(in crate::exec) struct Turn(Arc<Overlap>);

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Turn")
    }
}

/// What follows the end of an iteration.
#[must_use]
pub(in crate::exec) enum TurnEnd {
    Nothing,
    /// The head has a place now.
    Next(Box<Head>),
    /// The kernel is complete.
    Last(Completing),
}

impl Head {
    /// That of a new loop of a kernel, of whose function at most `limit` iterations are to be in flight.
    pub(in crate::exec) fn new(
        running: Running,
        function: u32,
        limit: u32,
        arguments: impl Iterator<Item = Value>,
    ) -> Box<Head> {
        let gate = Gate::new(limit as usize);
        let shared = Arc::new(Overlap { function, gate, completing: OnceLock::new() });
        Box::new(Head { shared, running, values: arguments.collect(), n_started: 0 })
    }

    /// Takes a place for the next iteration. If there is none, whoever frees one goes on.
    #[must_use]
    pub(in crate::exec) fn enter(self: Box<Head>) -> Option<Box<Head>> {
        let shared = self.shared.clone();
        // SAFETY: `new` makes one head for each gate, and it cannot be copied.
        unsafe { shared.gate.enter(self) }
    }

    /// The iteration for which a place was taken.
    pub(in crate::exec) fn turn(&self) -> Turn {
        Turn(self.shared.clone())
    }

    /// Makes all results of the loop `value`.
    pub(in crate::exec) fn set_results(&mut self, value: &Value) {
        self.values.clear();
        self.values.resize(self.running.info().n_results(), value.clone());
    }

    pub(in crate::exec) fn function(&self) -> u32 {
        self.shared.function
    }

    /// Gives up the kernel, which `publish` gives its results: if nothing else is left of the loop, it is
    /// complete.
    #[must_use]
    pub(in crate::exec) fn end(self, publish: impl FnOnce(Running) -> Completing) -> Option<Completing> {
        let Head { shared, running, values: _, n_started: _ } = self;
        // It is set once: there is one head.
        shared.completing.get_or_init(|| publish(running));
        last(shared)
    }
}

impl Turn {
    /// The iteration's frame has ended.
    pub(in crate::exec) fn end(self) -> TurnEnd {
        match self.0.gate.leave() {
            Some(head) => TurnEnd::Next(head),
            None => last(self.0).map_or(TurnEnd::Nothing, TurnEnd::Last),
        }
    }
}

/// The kernel, if nobody else has a part in the loop.
fn last(shared: Arc<Overlap>) -> Option<Completing> {
    Arc::into_inner(shared)?.completing.into_inner()
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use befrost_kernel_api::executor::sync::{Mutex, lock};
    use loom::thread;

    const ITERATIONS: usize = 3;

    /// Who starts iterations, and how many it has started.
    struct TheOne(usize);

    /// Iterations that end on threads of their own.
    struct Loop {
        gate: Gate<TheOne>,
        in_flight: AtomicUsize,
        threads: Mutex<Vec<thread::JoinHandle<()>>>,
        /// What iterations do, for loom to watch.
        effects: UnsafeCell<()>,
    }

    impl Loop {
        fn go_on(self: &Arc<Loop>, mut the_one: TheOne) {
            while the_one.0 < ITERATIONS {
                // SAFETY: there is one.
                match unsafe { self.gate.enter(the_one) } {
                    Some(one) => the_one = self.start(one),
                    None => return,
                }
            }
        }

        /// Starts an iteration, which has a place.
        fn start(self: &Arc<Loop>, TheOne(started): TheOne) -> TheOne {
            assert!(self.in_flight.fetch_add(1, Ordering::Relaxed) < self.gate.limit, "too many in flight");
            let shared = self.clone();
            let end = move || {
                if shared.gate.limit == 1 {
                    // Nothing else orders them.
                    shared.effects.with_mut(|_| ());
                }
                shared.in_flight.fetch_sub(1, Ordering::Relaxed);
                if let Some(the_one) = shared.gate.leave() {
                    let the_one = shared.start(the_one);
                    shared.go_on(the_one);
                }
            };
            lock(&self.threads).push(thread::spawn(end));
            TheOne(started + 1)
        }
    }

    #[test]
    fn loom_a_bound_is_kept_and_the_head_goes_on() {
        for limit in [1, 2] {
            let mut model = loom::model::Builder::new();
            model.preemption_bound = Some(3);
            model.check(move || {
                let shared = Arc::new(Loop {
                    gate: Gate::new(limit),
                    in_flight: AtomicUsize::new(0),
                    threads: Mutex::new(Vec::new()),
                    effects: UnsafeCell::new(()),
                });
                shared.go_on(TheOne(0));
                let mut ended = 0;
                loop {
                    let thread = lock(&shared.threads).pop();
                    let Some(thread) = thread else { break };
                    thread.join().unwrap();
                    ended += 1;
                }
                assert_eq!(ended, ITERATIONS, "the one was lost");
            });
        }
    }
}
