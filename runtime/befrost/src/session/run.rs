//! A run that goes on while its caller does something else.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use befrost_kernel_api::Error;
use befrost_kernel_api::context::Cancellation;

use super::results::Results;
use crate::pending::Pending;

/// A run that was begun by [`Session::start`](crate::Session::start): a future of its results. Dropped, it is
/// cancelled.
#[must_use = "a run that is dropped is cancelled"]
pub struct Run {
    pub(super) pending: Pending<Results>,
    pub(super) cancellation: Cancellation,
}

impl Run {
    /// Waits for the results.
    ///
    /// # Errors
    /// As [`Session::run`](crate::Session::run).
    pub fn wait(&self) -> Result<Results, Error> {
        self.pending.take()
    }

    /// True if the results are there.
    pub fn is_done(&self) -> bool {
        self.pending.is_done()
    }

    /// Stops it: its result will be the error `Cancelled`, unless it has ended.
    pub fn cancel(&self) {
        self.cancellation.cancel();
    }
}

impl Future for Run {
    type Output = Result<Results, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.pending).poll(cx)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("is_done", &self.is_done()).finish_non_exhaustive()
    }
}
