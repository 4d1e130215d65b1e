//! Atomics, cells and locks: std's, or loom's under `--cfg loom`.
//!
//! All lock-free code imports its atomics from here, so the loom tests run the code that ships.
//! [`UnsafeCell`] has loom's interface with closures in both configurations: loom checks every access against
//! the happens-before order.

#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence};

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence};

#[cfg(loom)]
pub use loom::cell::UnsafeCell;

#[cfg(not(loom))]
pub use std::sync::Mutex;

#[cfg(loom)]
pub use loom::sync::Mutex;

/// Takes a lock. Ignores poisoning, so the data must be consistent even after a panic of a holder.
#[cfg(not(loom))]
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Takes a lock. Ignores poisoning, so the data must be consistent even after a panic of a holder.
#[cfg(loom)]
pub fn lock<T>(mutex: &Mutex<T>) -> loom::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A thread-local variable with a constant initial value.
#[cfg(not(loom))]
#[macro_export]
#[doc(hidden)]
macro_rules! thread_local_const {
    ($(#[$attr:meta])* static $name:ident: $ty:ty = $value:expr;) => {
        std::thread_local! { $(#[$attr])* static $name: $ty = const { $value }; }
    };
}

/// A variable local to one of loom's threads.
#[cfg(loom)]
#[macro_export]
#[doc(hidden)]
macro_rules! thread_local_const {
    ($(#[$attr:meta])* static $name:ident: $ty:ty = $value:expr;) => {
        loom::thread_local! { $(#[$attr])* static $name: $ty = $value; }
    };
}

pub use crate::thread_local_const;

/// `std::cell::UnsafeCell` with loom's interface.
#[cfg(not(loom))]
#[derive(Debug)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    /// A cell with a value.
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    /// Calls `f` with a pointer for reading. The caller proves that it may be dereferenced.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Calls `f` with a pointer for writing. The caller proves that it may be dereferenced.
    #[inline]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
