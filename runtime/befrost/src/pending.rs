//! Calls that go on while their caller does something else.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use befrost_kernel_api::queue::{Queue, Task, WhenFull};
use befrost_kernel_api::{Error, ErrorCode};

use crate::datum::Datum;

type PendingResults = Result<Vec<Datum>, Error>;

/// A call that was begun by [`Function::call_async`](crate::Function::call_async): a future of its results.
/// Dropped, it goes on; its [`Cancellation`](crate::Cancellation) ends it.
#[must_use = "the results are lost with it"]
pub struct PendingCall(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when the results are there.
    done: Condvar,
}

#[derive(Default)]
struct State {
    results: Option<PendingResults>,
    /// The future's latest waker.
    waker: Option<Waker>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, results: PendingResults) {
        let mut state = self.state();
        state.results = Some(results);
        let waker = state.waker.take();
        drop(state);
        self.done.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Gives the results to the caller, even if the call panics.
struct Promise(Option<Arc<Shared>>);

impl Promise {
    fn keep(mut self, results: PendingResults) {
        if let Some(shared) = self.0.take() {
            shared.finish(results);
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            let message = "the call ended without results: its queue is gone, or it panicked";
            shared.finish(Err(Error::new(ErrorCode::Internal, message, Vec::new())));
        }
    }
}

impl PendingCall {
    /// Runs `call` on a thread of the queue for work that may wait; on a queue without threads, at once.
    ///
    /// # Errors
    /// If too many tasks wait for a thread.
    pub(crate) fn begin(
        queue: &Queue,
        call: impl FnOnce() -> PendingResults + Send + 'static,
    ) -> Result<PendingCall, Error> {
        let shared = Arc::new(Shared::default());
        let promise = Promise(Some(shared.clone()));
        if !queue.has_threads() {
            promise.keep(call());
            return Ok(PendingCall(shared));
        }
        let task = Task::new(move || promise.keep(call()));
        queue.add_blocking_task(task, WhenFull::Wait).map_err(|_| {
            Error::new(ErrorCode::ResourceExhausted, "too many calls are waiting for a thread", Vec::new())
        })?;
        Ok(PendingCall(shared))
    }

    /// Waits for the results.
    ///
    /// # Errors
    /// As [`Function::call`](crate::Function::call).
    pub fn wait(self) -> PendingResults {
        let mut state = self.0.state();
        loop {
            match state.results.take() {
                Some(results) => return results,
                None => state = self.0.done.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// True if the results are there.
    pub fn is_done(&self) -> bool {
        self.0.state().results.is_some()
    }
}

impl Future for PendingCall {
    type Output = PendingResults;

    /// # Panics
    /// Polled again after it was ready.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<PendingResults> {
        let mut state = self.0.state();
        match state.results.take() {
            Some(results) => Poll::Ready(results),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCall").field("is_done", &self.is_done()).finish()
    }
}
