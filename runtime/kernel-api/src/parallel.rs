//! `parallel_for`: one kernel's work on all of the queue's workers.
//!
//! ```text
//! caller ── asks for N-1 helpers ── takes blocks until there are none ── waits for the blocks that helpers have taken ─▶ result
//! helper (a task) ───────────────── takes blocks until there are none
//! ```
//!
//! Who takes blocks takes several at once, fewer as they become few, in ascending order. The caller takes
//! part and waits only for blocks that somebody is working on. So it may be used inside of itself, on any
//! queue, from any thread: it neither waits for a worker that is not there nor makes more threads. A helper
//! that comes too late finds nothing to do.
//!
//! After an error no more blocks are taken. All blocks before it have been taken, and finish, so the error
//! that is returned, the one of the lowest-numbered block that fails, is the same however the work is spread.
//! A cancellation is looked for before each block.

#![allow(unsafe_code, reason = "helpers borrow what the caller owns; it waits for them")]

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::Thread;

use crate::cancellation::Cancellation;
use crate::error::KernelError;
use crate::queue::{Task, WorkQueue};
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

/// What is done with consecutive blocks, one after the other, which one thread has taken: if one fails, its
/// number and error; then the others are not done.
pub(crate) type Share<'b> = dyn Fn(Range<usize>) -> Result<(), (usize, KernelError)> + Sync + 'b;

/// What is done with a block of indices.
pub type Body<'b> = dyn Fn(Range<usize>) -> Result<(), KernelError> + Sync + 'b;

/// How often the caller looks whether the last helper has finished before it sleeps.
const LOOKS: u32 = 200;

struct Shared {
    /// The caller's. Valid while the caller waits, that is, while `done` is less than `n`.
    share: *const Share<'static>,
    /// How many blocks there are.
    n: usize,
    /// The first block that nobody has taken.
    next: AtomicUsize,
    /// How many are finished, or will never be taken.
    done: AtomicUsize,
    /// How many are taken at once: the blocks that are left divided by this.
    parts: usize,
    /// The error of the lowest-numbered block.
    error: Mutex<Option<(usize, KernelError)>>,
    caller: Thread,
}

// SAFETY: `share` points to something Sync; all else is Send and Sync.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Takes blocks.
    fn take(&self) -> Option<Range<usize>> {
        // Relaxed: numbers of blocks; what the body needs came with the task, or is the caller's own.
        let mut next = self.next.load(Ordering::Relaxed);
        while next < self.n {
            let end = next + ((self.n - next) / self.parts).max(1);
            match self.next.compare_exchange_weak(next, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(next..end),
                Err(now) => next = now,
            }
        }
        None
    }

    fn work(&self) {
        while let Some(taken) = self.take() {
            let mut done = taken.len();
            if let Err((block, error)) = self.run(taken) {
                let mut first = lock(&self.error);
                if first.as_ref().is_none_or(|(at, _)| block < *at) {
                    *first = Some((block, error));
                }
                // Nobody takes more; those that nobody has taken are over with.
                done += self.n - self.next.swap(self.n, Ordering::Relaxed).min(self.n);
            }
            // Release: what the blocks did; Acquire: what the others' did, for who wakes the caller.
            if self.done.fetch_add(done, Ordering::AcqRel) + done == self.n {
                self.caller.unpark();
            }
        }
    }

    fn run(&self, taken: Range<usize>) -> Result<(), (usize, KernelError)> {
        let first = taken.start;
        // SAFETY: the blocks were taken and are not counted as done, so the caller still waits.
        let share = unsafe { &*self.share };
        catch_unwind(AssertUnwindSafe(|| share(taken)))
            .unwrap_or_else(|panic| Err((first, KernelError::of_panic(panic.as_ref()))))
    }

    fn is_done(&self) -> bool {
        // Acquire: pairs with the Release half in `work`: what the blocks did is visible.
        self.done.load(Ordering::Acquire) == self.n
    }
}

/// Calls `body` for all blocks of at most `block` indices of `0..n`, on this thread and on the queue's
/// workers, and returns when all are finished. On a queue of one worker, in ascending order.
///
/// # Errors
/// That of the lowest-numbered block that failed; or that of the cancellation.
pub fn parallel_for(
    queue: &Arc<dyn WorkQueue>,
    cancellation: &Cancellation,
    n: usize,
    block: usize,
    body: &Body<'_>,
) -> Result<(), KernelError> {
    let block = block.max(1);
    let run = |number: usize| {
        before_block(cancellation)?;
        let start = number * block;
        let indices = start..start.saturating_add(block).min(n);
        catch_unwind(AssertUnwindSafe(|| body(indices)))
            .unwrap_or_else(|panic| Err(KernelError::of_panic(panic.as_ref())))
    };
    let share =
        |mut taken: Range<usize>| taken.try_for_each(|number| run(number).map_err(|error| (number, error)));
    share_out(queue, n.div_ceil(block), &share)
}

/// Whether a block may begin.
///
/// # Errors
/// That of the cancellation.
pub(crate) fn before_block(cancellation: &Cancellation) -> Result<(), KernelError> {
    match cancellation.error() {
        Some(error) => Err(KernelError::new(error.code(), error.message())),
        None => Ok(()),
    }
}

/// [`parallel_for`] for those who keep something from one block to the next: calls `share` for consecutive blocks of `n`, until there are none or one
/// has failed.
///
/// # Errors
/// That of the lowest-numbered block that failed.
pub(crate) fn share_out(queue: &Arc<dyn WorkQueue>, n: usize, share: &Share<'_>) -> Result<(), KernelError> {
    let workers = queue.parallelism().min(n);
    if n == 0 {
        return Ok(());
    }
    let share: *const Share<'_> = share;
    // SAFETY: only the lifetime changes, and `Shared::share` says when it may be used.
    let share = unsafe { std::mem::transmute::<*const Share<'_>, *const Share<'static>>(share) };
    let shared = Arc::new(Shared {
        share,
        n,
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        parts: if workers > 1 { 4 * workers } else { 1 },
        error: Mutex::new(None),
        caller: std::thread::current(),
    });
    for _ in 1..workers {
        let shared = shared.clone();
        queue.add_task(Task::new(move || shared.work()));
    }
    shared.work();
    let mut looks = 0;
    while !shared.is_done() {
        looks += 1;
        if looks < LOOKS {
            std::hint::spin_loop();
        } else {
            std::thread::park();
        }
    }
    let error = lock(&shared.error).take();
    error.map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::error::ErrorCode;

    /// Blocks as the caller and one helper take them; in place of the queue, a thread.
    fn check(n: usize, share: &'static Share<'static>) -> Option<(usize, KernelError)> {
        let shared = Arc::new(Shared {
            share,
            n,
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            parts: 2,
            error: Mutex::new(None),
            caller: std::thread::current(),
        });
        let helper = shared.clone();
        let thread = loom::thread::spawn(move || helper.work());
        shared.work();
        while !shared.is_done() {
            loom::thread::yield_now();
        }
        thread.join().unwrap();
        let error = lock(&shared.error).take();
        error
    }

    #[test]
    fn loom_all_blocks_are_done_when_the_caller_goes_on() {
        loom::model(|| assert!(check(3, &|_| Ok(())).is_none()));
    }

    #[test]
    fn loom_the_lowest_error_is_kept() {
        loom::model(|| {
            let fails = |mut taken: Range<usize>| {
                taken.try_for_each(|i| match i {
                    0 => Ok(()),
                    i => Err((i, KernelError::new(ErrorCode::Unknown, i.to_string()))),
                })
            };
            let fails: &'static Share<'static> = Box::leak(Box::new(fails));
            assert_eq!(
                check(3, fails).map(|(at, error)| (at, error.message().to_owned())),
                Some((1, "1".into()))
            );
        });
    }
}
