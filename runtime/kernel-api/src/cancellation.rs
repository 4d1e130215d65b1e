//! Cancellation of an execution: by the caller, at a deadline, or at a limit of kernels.
//!
//! ```text
//! cancel ──▶ error is set, once ──▶ no further kernel starts: results become the error
//!    ▲                          └──▶ waiting futures are woken and dropped
//!    └── by the caller, by a timer at the deadline, or by the count of kernels
//! ```
//!
//! Before a kernel one flag is loaded. Kernels are counted only if there is a limit. The clock is read before
//! each kernel only if there is no thread for timers. The cancellation is checked before each block of a
//! `parallel_for`, and long work should poll it. The kernels of tensors pass its flag to the loops of the
//! tensor library.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::time::Instant;

use crate::error::{Error, ErrorCode};
use crate::queue::timers::Timer;

/// Stops an execution from any thread at any time, at a deadline, or at a limit of kernels. Clones share one
/// state.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<CancelState>);

#[derive(Default)]
struct CancelState {
    /// Set after `error`.
    cancelled: AtomicBool,
    error: OnceLock<Error>,
    deadline: Option<Instant>,
    /// The cancellation at the deadline.
    timer: OnceLock<Timer>,
    /// Number of kernels that may still start.
    fuel: Option<AtomicU64>,
    /// True if [`Cancellation::before_kernel`] must count kernels, or read the clock because there is no
    /// timer.
    is_limited: AtomicBool,
    /// True if limited or cancelled: kernels may not start without further checks. Loaded before every
    /// kernel.
    attention: AtomicBool,
    /// Wakers in the order of their registration.
    wakers: Mutex<Wakers>,
}

#[derive(Default)]
struct Wakers {
    by_number: BTreeMap<u64, Waker>,
    next: u64,
}

impl CancelState {
    fn wakers(&self) -> MutexGuard<'_, Wakers> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registration of a waker with a cancellation, until it is dropped.
pub(crate) struct OnCancel {
    state: Arc<CancelState>,
    number: u64,
}

impl Drop for OnCancel {
    fn drop(&mut self) {
        let waker = self.state.wakers().by_number.remove(&self.number);
        // Outside of the lock: the waker may own anything.
        drop(waker);
    }
}

impl Cancellation {
    /// A cancellation at `deadline`.
    pub fn with_deadline(deadline: Instant) -> Cancellation {
        Cancellation::limited(Some(deadline), None)
    }

    /// A cancellation after the start of `kernels` kernels, for programs that may not terminate.
    pub fn with_fuel(kernels: u64) -> Cancellation {
        Cancellation::limited(None, Some(kernels))
    }

    /// [`Cancellation::with_deadline`] and [`Cancellation::with_fuel`], each optional.
    pub fn limited(deadline: Option<Instant>, kernels: Option<u64>) -> Cancellation {
        let is_limited = kernels.is_some();
        let state = Arc::new(CancelState {
            deadline,
            fuel: kernels.map(AtomicU64::new),
            is_limited: AtomicBool::new(is_limited),
            attention: AtomicBool::new(is_limited),
            ..CancelState::default()
        });
        let cancellation = Cancellation(state);
        if let Some(deadline) = deadline {
            cancellation.set_timer(deadline);
        }
        cancellation
    }

    fn set_timer(&self, deadline: Instant) {
        self.check_deadline();
        if self.is_cancelled() {
            return;
        }
        let state = Arc::downgrade(&self.0);
        let cancel = move || {
            if let Some(state) = state.upgrade() {
                Cancellation(state).check_deadline();
            }
        };
        match Timer::new(deadline, cancel) {
            Ok(timer) => _ = self.0.timer.set(timer),
            // No thread for timers: the clock is read before every kernel. Relaxed: no other thread has the
            // state yet.
            Err(_) => {
                self.0.is_limited.store(true, Ordering::Relaxed);
                self.0.attention.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Cancels the execution: kernels that have not started fail.
    pub fn cancel(&self) {
        self.cancel_with(Error::new(ErrorCode::Cancelled, "Cancelled", Vec::new()));
    }

    /// Cancels the execution with `error`. The first error is kept.
    pub fn cancel_with(&self, error: Error) {
        self.0.error.get_or_init(|| error);
        // Release publishes `error`; pairs with the Acquire load in `error`.
        self.0.cancelled.store(true, Ordering::Release);
        // Relaxed: a hint. Readers load `cancelled`, and look again before the next kernel.
        self.0.attention.store(true, Ordering::Relaxed);
        // A registration that locks the wakers after this finds `cancelled` set.
        let wakers = std::mem::take(&mut self.0.wakers().by_number);
        wakers.into_values().for_each(Waker::wake);
    }

    /// Registers a waker for the cancellation. It is woken at once if the execution is cancelled already.
    pub(crate) fn on_cancel(&self, waker: Waker) -> OnCancel {
        let mut wakers = self.0.wakers();
        let number = wakers.next;
        wakers.next += 1;
        // If `cancel_with` has locked the wakers before, the lock makes its store visible here. Otherwise it
        // finds this waker.
        if self.is_cancelled() {
            drop(wakers);
            waker.wake();
        } else {
            wakers.by_number.insert(number, waker);
        }
        OnCancel { state: self.0.clone(), number }
    }

    /// True if the execution was cancelled. One load, without reading the clock.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        // Relaxed: a hint to stop early. The error is read by `error`, which acquires it.
        self.0.cancelled.load(Ordering::Relaxed)
    }

    #[cold]
    fn count_kernel(&self) {
        // Relaxed: a count that guards no data.
        let take = |fuel: &AtomicU64| {
            fuel.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
        };
        if !self.is_cancelled() && self.0.fuel.as_ref().is_some_and(|fuel| !take(fuel)) {
            let message = "Out of fuel: as many kernels have started as may";
            self.cancel_with(Error::new(ErrorCode::ResourceExhausted, message, Vec::new()));
        }
        if self.0.timer.get().is_none() {
            self.check_deadline();
        }
    }

    /// Reads the clock and cancels if the deadline has passed.
    pub fn check_deadline(&self) {
        if self.0.deadline.is_some_and(|deadline| Instant::now() >= deadline) && !self.is_cancelled() {
            self.cancel_with(Error::new(ErrorCode::DeadlineExceeded, "Deadline exceeded", Vec::new()));
        }
    }

    /// The number of kernels that may still start, if it is limited.
    pub fn fuel(&self) -> Option<u64> {
        // Relaxed: a count that guards no data.
        self.0.fuel.as_ref().map(|fuel| fuel.load(Ordering::Relaxed))
    }

    /// The deadline.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// The error of the cancellation.
    pub fn error(&self) -> Option<&Error> {
        // Acquire pairs with the Release store in `cancel_with`.
        if self.0.cancelled.load(Ordering::Acquire) { self.0.error.get() } else { None }
    }
}

#[doc(hidden)]
impl Cancellation {
    /// The flag that is set if kernels may not start without further checks:
    /// [`before_kernel`](Cancellation::before_kernel) and `is_cancelled` before each.
    #[inline]
    pub fn attention(&self) -> &AtomicBool {
        &self.0.attention
    }

    /// The flag that is set by the cancellation, for loops that poll one.
    pub fn flag(&self) -> &AtomicBool {
        &self.0.cancelled
    }

    /// Counts a kernel that is about to start.
    #[inline]
    pub fn before_kernel(&self) {
        // Relaxed: set before the cancellation is shared, and guards no data.
        if self.0.is_limited.load(Ordering::Relaxed) {
            self.count_kernel();
        }
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation")
            .field("error", &self.error())
            .field("deadline", &self.deadline())
            .finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_first_cancellation_stays() {
        let cancellation = Cancellation::default();
        assert!(cancellation.error().is_none());
        cancellation.cancel();
        cancellation.cancel_with(Error::new(ErrorCode::Unknown, "later", Vec::new()));
        assert_eq!(cancellation.error().map(Error::code), Some(ErrorCode::Cancelled));
    }

    #[test]
    fn a_deadline_cancels_by_itself() {
        let past = Cancellation::with_deadline(Instant::now());
        assert_eq!(past.error().map(Error::code), Some(ErrorCode::DeadlineExceeded));
        let soon = Cancellation::with_deadline(Instant::now() + Duration::from_millis(5));
        assert!(!soon.attention().load(Ordering::Relaxed), "nothing is asked of kernels");
        while !soon.is_cancelled() {
            std::thread::yield_now();
        }
        assert_eq!(soon.error().map(Error::code), Some(ErrorCode::DeadlineExceeded));
    }

    #[test]
    fn fuel_is_spent_kernel_by_kernel() {
        let cancellation = Cancellation::with_fuel(2);
        cancellation.before_kernel();
        cancellation.before_kernel();
        assert!(!cancellation.is_cancelled());
        cancellation.before_kernel();
        assert_eq!(cancellation.error().map(Error::code), Some(ErrorCode::ResourceExhausted));
        let endless = Cancellation::default();
        (0..10).for_each(|_| endless.before_kernel());
        assert!(!endless.is_cancelled());
    }

    #[test]
    fn those_who_wait_are_woken_once() {
        struct Count(AtomicU64);
        impl std::task::Wake for Count {
            fn wake(self: Arc<Count>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let count = Arc::new(Count(AtomicU64::new(0)));
        let cancellation = Cancellation::default();
        let waits = cancellation.on_cancel(count.clone().into());
        drop(cancellation.on_cancel(count.clone().into()));
        cancellation.cancel();
        cancellation.cancel();
        let late = cancellation.on_cancel(count.clone().into());
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
        drop((waits, late));
        assert_eq!(Arc::strong_count(&count), 1);
    }
}
