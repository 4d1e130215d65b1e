//! Interruption of long work.
//!
//! ```text
//! interruptible(flag, work) ──▶ work ─▶ loops ask `is_interrupted` now and then, and stop early
//!          ▲                                                              │
//!          └── the caller asks the flag again: the results are not valid ◀┘
//! ```
//!
//! The flag is a property of the thread while `work` runs, so no function between the caller and a loop
//! passes it on. A loop that stops early leaves its results incomplete but initialized. A caller that
//! declares a flag must therefore discard results if the flag is set afterwards. Without a flag nothing is
//! ever interrupted.
//!
//! A loop checks the flag about every [`STEPS`] additions, so that it stops within some milliseconds. A check
//! costs a nanosecond.
//!
//! Code that distributes work to other threads declares the flag there again.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::TensorError;

/// The number of additions, or similar steps, between two checks of the flag: a few milliseconds at most.
pub(crate) const STEPS: usize = 1 << 22;

thread_local! {
    /// The flag of the innermost [`interruptible`] call on this thread; null outside of one.
    static FLAG: Cell<*const AtomicBool> = const { Cell::new(ptr::null()) };
}

/// Restores the thread's previous flag when dropped, also by a panic.
struct Restore(*const AtomicBool);

impl Drop for Restore {
    fn drop(&mut self) {
        FLAG.set(self.0);
    }
}

/// Calls `work`, whose loops stop early once `flag` is set. The results are valid only if the flag is not set
/// after the call.
pub fn interruptible<R>(flag: &AtomicBool, work: impl FnOnce() -> R) -> R {
    let _restore = Restore(FLAG.replace(flag));
    work()
}

/// True if the work on this thread should stop.
#[inline]
pub fn is_interrupted() -> bool {
    let flag = FLAG.get();
    // Relaxed: the flag is a hint and publishes no data, so the load has no partner. Only results of this
    // thread are discarded because of it.
    // SAFETY: a flag that is not null is borrowed by the innermost `interruptible` call on this thread, which
    // has not returned.
    !flag.is_null() && unsafe { &*flag }.load(Ordering::Relaxed)
}

/// An error if the work on this thread should stop.
pub(crate) fn expect_not_interrupted() -> Result<(), TensorError> {
    if is_interrupted() { Err(TensorError::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_flag_counts() {
        let (set, unset) = (AtomicBool::new(true), AtomicBool::new(false));
        assert!(!is_interrupted());
        interruptible(&set, || {
            assert!(is_interrupted());
            interruptible(&unset, || {
                assert!(!is_interrupted());
                unset.store(true, Ordering::Relaxed);
                assert!(is_interrupted());
            });
            assert!(is_interrupted());
        });
        assert!(!is_interrupted());
    }

    #[test]
    fn a_panic_restores_the_flag() {
        let set = AtomicBool::new(true);
        let panicked = std::panic::catch_unwind(|| interruptible(&set, || panic!("on purpose")));
        assert!(panicked.is_err() && !is_interrupted());
    }

    #[test]
    fn other_threads_have_their_own() {
        let set = AtomicBool::new(true);
        interruptible(&set, || {
            let other = std::thread::spawn(is_interrupted);
            assert!(!other.join().unwrap());
        });
    }
}
