//! Values that are made once, by the first thread that asks; the others wait.
//!
//! A thread that asks again while it makes it, out of a function that is told of the progress, gets an error:
//! it would wait for itself.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{ThreadId, current};

use befrost_kernel_api::{Error, ErrorCode};

use super::refusal::refused;

/// A value that is made once, or the reason why there is none.
pub(super) struct MadeOnce<T> {
    made: OnceLock<Result<T, Error>>,
    /// The thread that makes it now.
    maker: Mutex<Option<ThreadId>>,
}

impl<T> Default for MadeOnce<T> {
    fn default() -> MadeOnce<T> {
        MadeOnce { made: OnceLock::new(), maker: Mutex::default() }
    }
}

impl<T> MadeOnce<T> {
    /// The value, if it was made.
    pub(super) fn get(&self) -> Option<&T> {
        self.made.get()?.as_ref().ok()
    }

    /// True if it could not be made.
    pub(super) fn has_failed(&self) -> bool {
        self.made.get().is_some_and(Result::is_err)
    }

    /// The value, which is made if nobody has asked for it before.
    ///
    /// # Errors
    /// If it could not be made, or this thread makes it.
    pub(super) fn get_or_make(&self, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
        if self.made.get().is_none() && *self.maker() == Some(current().id()) {
            let message = "this program is being compiled: who is told of it cannot run it";
            return Err(refused(ErrorCode::FailedPrecondition, message.to_owned()));
        }
        let made = self.made.get_or_init(|| {
            let _making = Making::begin(&self.maker);
            make()
        });
        made.as_ref().map_err(Clone::clone)
    }

    fn maker(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.maker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names this thread as the maker, until it ends, also by a panic.
struct Making<'m>(&'m Mutex<Option<ThreadId>>);

impl Making<'_> {
    fn begin(maker: &Mutex<Option<ThreadId>>) -> Making<'_> {
        *maker.lock().unwrap_or_else(PoisonError::into_inner) = Some(current().id());
        Making(maker)
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
