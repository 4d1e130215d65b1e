//! `parallel_for`: the work of one kernel on all workers of the queue.
//!
//! ```text
//! caller ── adds N-1 helpers ── takes blocks until none are left ── waits for the helpers' blocks ─▶ result
//! helper (a task) ───────────── takes blocks until none are left
//! ```
//!
//! Caller and helpers take several blocks at once, in ascending order, fewer as they become few. The caller
//! waits only for blocks that are being worked on. So calls may be nested, on any queue, from any thread: the
//! caller neither waits for an absent worker nor starts threads. A helper that starts too late finds no
//! blocks.
//!
//! After an error no more blocks are taken. All lower-numbered blocks have been taken, and finish, so the
//! returned error, that of the lowest-numbered block that fails, does not depend on the distribution of the
//! work. The cancellation is checked before each block.

#![allow(unsafe_code, reason = "helpers borrow what the caller owns; it waits for them")]

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::Thread;
use std::time::Duration;

use crate::cancellation::Cancellation;
use crate::error::KernelError;
use crate::queue::{Queue, Task};
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

/// Code that runs consecutive blocks which one thread has taken. It stops at the first failure and returns
/// its number and error.
pub(crate) type Share<'b> = dyn Fn(Range<usize>) -> Result<(), (usize, KernelError)> + Sync + 'b;

/// Code that runs a block of indices.
pub type Body<'b> = dyn Fn(Range<usize>) -> Result<(), KernelError> + Sync + 'b;

/// About as long as waking a thread takes. A thread that waits looks for work, or for the end of it, for so
/// long before it sleeps.
pub const WAKE_TIME: Duration = Duration::from_micros(50);

/// The number of looks for the end of the last helper in that time: eighty take a microsecond.
const LOOKS: u128 = WAKE_TIME.as_micros() * 80;

struct Shared {
    /// Owned by the caller. Valid while the caller waits, that is, while `done` is less than `n`.
    share: *const Share<'static>,
    /// Number of blocks.
    n: usize,
    /// The first block that is not taken.
    next: AtomicUsize,
    /// Number of blocks that are finished or will never be taken.
    done: AtomicUsize,
    /// Divisor of the number of remaining blocks, for the number that is taken at once.
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
        // Relaxed: numbers of blocks. The data of the body came with the task, or is the caller's own.
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
                // No more are taken. The blocks that were not taken count as done.
                done += self.n - self.next.swap(self.n, Ordering::Relaxed).min(self.n);
            }
            // Release publishes the writes of these blocks. Acquire passes those of other blocks on, for the
            // thread that wakes the caller.
            if self.done.fetch_add(done, Ordering::AcqRel) + done == self.n {
                self.caller.unpark();
            }
        }
    }

    fn run(&self, taken: Range<usize>) -> Result<(), (usize, KernelError)> {
        let first = taken.start;
        // SAFETY: the taken blocks are not counted as done, so the caller still waits and `share` is valid.
        let share = unsafe { &*self.share };
        catch_unwind(AssertUnwindSafe(|| share(taken)))
            .unwrap_or_else(|panic| Err((first, KernelError::of_panic(panic.as_ref()))))
    }

    fn is_done(&self) -> bool {
        // Acquire: pairs with the Release half in `work`: the writes of the blocks are visible.
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
            .unwrap_or_else(|panic| Err(KernelError::of_panic(panic.as_ref())))
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
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        parts: if workers > 1 { 4 * workers } else { 1 },
        error: Mutex::new(None),
        caller: std::thread::current(),
    });
    let mut helpers = (1..workers).map(|_| {
        let shared = shared.clone();
        Task::new(move || shared.work())
    });
    queue.local().add_helpers(&mut helpers);
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
