//! `parallel_for`: the work of one kernel on all workers of the queue.
//!
//! ```text
//! caller ── adds N-1 helpers ── takes blocks from the front ── waits for the helpers' blocks ─▶ result
//! helper (a task) ───────────── takes blocks from the back
//! ```
//!
//! Caller and helpers take several blocks at once, fewer as fewer are left, until none are left. The caller
//! begins at one end and the helpers at the other. So a loop that reads the results of the previous loop
//! finds most of them in the cache of the core that wrote them. The caller waits only for blocks that have
//! been taken. So calls may be nested, on any queue, from any thread: the caller neither waits for an absent
//! worker nor starts threads. A helper that starts too late finds no blocks.
//!
//! After an error in a block of the caller's no more blocks are taken, because the remaining ones have higher
//! numbers. After an error in a block of a helper's the remaining blocks run, because they have lower
//! numbers. So the returned error is that of the lowest-numbered block that fails, for every distribution of
//! the work. The cancellation is checked before each block.

#![allow(unsafe_code, reason = "helpers borrow what the caller owns; it waits for them")]

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::Thread;
use std::time::Duration;

use crate::cancellation::Cancellation;
use crate::error::KernelError;
use crate::queue::{Queue, Task};
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

/// Code that runs consecutive blocks which one thread has taken. It stops at the first block that fails and
/// returns the block's number and error.
pub(crate) type Share<'b> = dyn Fn(Range<usize>) -> Result<(), (usize, KernelError)> + Sync + 'b;

/// Code that runs a block of indices.
pub type Body<'b> = dyn Fn(Range<usize>) -> Result<(), KernelError> + Sync + 'b;

/// The approximate time in which a thread wakes. A thread that waits, for work or for its end, spins for this
/// time before it sleeps.
pub const WAKE_TIME: Duration = Duration::from_micros(50);

/// The number of polls for the end of the last helper in that time: eighty take a microsecond.
const LOOKS: u128 = WAKE_TIME.as_micros() * 80;

struct Shared {
    /// Owned by the caller. Valid while the caller waits, that is, while `done` is less than `n`.
    share: *const Share<'static>,
    /// Number of blocks.
    n: usize,
    /// Number of blocks that are not taken. They lie between the caller's and the helpers'.
    left: AtomicUsize,
    /// Number of blocks that helpers have taken.
    helped: AtomicUsize,
    /// Number of blocks that are finished or will never be taken.
    done: AtomicUsize,
    /// Divisor of the number of remaining blocks, for the number that is taken at once.
    parts: usize,
    /// The error of the lowest-numbered block.
    error: Mutex<Option<(usize, KernelError)>>,
    caller: Thread,
}

// SAFETY: `share` points to a `Sync` closure; all other fields are Send and Sync.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Takes blocks and returns their number.
    fn take(&self) -> Option<usize> {
        // Relaxed: a count that guards no data. A helper got the data of the body with its task.
        let mut left = self.left.load(Ordering::Relaxed);
        while left > 0 {
            let some = (left / self.parts).max(1);
            match self.left.compare_exchange_weak(left, left - some, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(some),
                Err(now) => left = now,
            }
        }
        None
    }

    /// The caller's work.
    fn work(&self) {
        let mut first = 0;
        while let Some(some) = self.take() {
            let ends = !self.run(first..first + some);
            first += some;
            // Blocks that are never taken count as done. Relaxed: as in `take`.
            let not_taken = if ends { self.left.swap(0, Ordering::Relaxed) } else { 0 };
            self.finish(some + not_taken);
        }
    }

    /// A helper's work.
    fn help(&self) {
        while let Some(some) = self.take() {
            // Relaxed: `take` gives no more than `n` blocks in all, so these are neither the caller's nor
            // another helper's.
            let end = self.n - self.helped.fetch_add(some, Ordering::Relaxed);
            self.run(end - some..end);
            self.finish(some);
        }
    }

    fn finish(&self, blocks: usize) {
        // Release publishes the writes of these blocks; pairs with the Acquire load in `is_done`. Acquire
        // pairs with the Release halves of the other threads, for the one that wakes the caller.
        if self.done.fetch_add(blocks, Ordering::AcqRel) + blocks == self.n {
            self.caller.unpark();
        }
    }

    /// Runs blocks, and keeps the error of the lowest-numbered one. False after an error.
    fn run(&self, taken: Range<usize>) -> bool {
        let Err((block, error)) = self.run_share(taken) else { return true };
        let mut first = lock(&self.error);
        if first.as_ref().is_none_or(|(at, _)| block < *at) {
            *first = Some((block, error));
        }
        false
    }

    fn run_share(&self, taken: Range<usize>) -> Result<(), (usize, KernelError)> {
        let first = taken.start;
        // SAFETY: the taken blocks are not counted as done, so the caller still waits and `share` is valid.
        let share = unsafe { &*self.share };
        catch_unwind(AssertUnwindSafe(|| share(taken)))
            .unwrap_or_else(|panic| Err((first, KernelError::of_panic(panic))))
    }

    fn is_done(&self) -> bool {
        // Acquire: pairs with the Release half in `finish`: the writes of the blocks are visible.
        self.done.load(Ordering::Acquire) == self.n
    }
}

/// Calls `body` for all blocks of at most `block` indices of `0..n`, on this thread and on the queue's
/// workers, and returns when all have finished. In ascending order on a queue of one worker.
///
/// # Errors
/// The error of the lowest-numbered block that failed, or of the cancellation.
pub fn parallel_for(
    queue: &Queue,
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
            .unwrap_or_else(|panic| Err(KernelError::of_panic(panic)))
    };
    let share =
        |mut taken: Range<usize>| taken.try_for_each(|number| run(number).map_err(|error| (number, error)));
    share_out(queue, n.div_ceil(block), &share)
}

/// Checks the cancellation before a block.
///
/// # Errors
/// The error of the cancellation.
pub(crate) fn before_block(cancellation: &Cancellation) -> Result<(), KernelError> {
    match cancellation.error() {
        Some(error) => Err(KernelError::new(error.code(), error.message())),
        None => Ok(()),
    }
}

/// [`parallel_for`] for code with data that it keeps between consecutive blocks: calls `share` for ranges of
/// the `n` blocks, until none are left or one has failed.
///
/// # Errors
/// The error of the lowest-numbered block that failed.
pub(crate) fn share_out(queue: &Queue, n: usize, share: &Share<'_>) -> Result<(), KernelError> {
    let workers = queue.parallelism().min(n);
    if n == 0 {
        return Ok(());
    }
    let share: *const Share<'_> = share;
    // SAFETY: only the lifetime changes. `Shared::share` is used only while this function waits.
    let share = unsafe { std::mem::transmute::<*const Share<'_>, *const Share<'static>>(share) };
    let shared = Arc::new(Shared {
        share,
        n,
        left: AtomicUsize::new(n),
        helped: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        parts: if workers > 1 { 4 * workers } else { 1 },
        error: Mutex::new(None),
        caller: std::thread::current(),
    });
    let mut helpers = (1..workers).map(|_| {
        let shared = shared.clone();
        Task::new(move || shared.help())
    });
    // A queue that panics may have taken helpers before.
    let added = catch_unwind(AssertUnwindSafe(|| queue.local().add_helpers(&mut helpers)));
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
    if let Err(panic) = added {
        resume_unwind(panic);
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
            left: AtomicUsize::new(n),
            helped: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            parts: 2,
            error: Mutex::new(None),
            caller: std::thread::current(),
        });
        let helper = shared.clone();
        let thread = loom::thread::spawn(move || helper.help());
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
