//! Calls that go on while their caller does something else.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use befrost_host::queue::is_inside;
use befrost_kernel_api::queue::{Queue, Task, WhenFull};
use befrost_kernel_api::{Error, ErrorCode};

use crate::datum::Datum;

/// A call that was begun by [`Function::call_async`](crate::Function::call_async).
pub type PendingCall = Pending<Vec<Datum>>;

/// A call that goes on: a future of its results. Dropped, it goes on; its
/// [`Cancellation`](crate::Cancellation) ends it.
#[must_use = "the results are lost with it"]
pub struct Pending<T>(Arc<Shared<T>>);

struct Shared<T> {
    state: Mutex<State<T>>,
    /// Notified when the results are there.
    done: Condvar,
}

struct State<T> {
    results: Delivery<T>,
    /// The future's latest waker.
    waker: Option<Waker>,
}

enum Delivery<T> {
    NotYet,
    Here(Result<T, Error>),
    Taken,
}

impl<T> Delivery<T> {
    /// The results, if they are there; an error if somebody has them already.
    fn take(&mut self) -> Option<Result<T, Error>> {
        match std::mem::replace(self, Delivery::Taken) {
            Delivery::NotYet => {
                *self = Delivery::NotYet;
                None
            }
            Delivery::Here(results) => Some(results),
            Delivery::Taken => {
                let message = "the results of the call were taken before";
                Some(Err(Error::new(ErrorCode::FailedPrecondition, message, Vec::new())))
            }
        }
    }
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, results: Result<T, Error>) {
        let mut state = self.state();
        state.results = Delivery::Here(results);
        let waker = state.waker.take();
        drop(state);
        self.done.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Gives the results to the caller, even if the call panics.
struct Promise<T>(Option<Arc<Shared<T>>>);

impl<T> Promise<T> {
    fn keep(mut self, results: Result<T, Error>) {
        if let Some(shared) = self.0.take() {
            shared.finish(results);
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            let message = "the call ended without results: its queue is gone, or it panicked";
            shared.finish(Err(Error::new(ErrorCode::Internal, message, Vec::new())));
        }
    }
}

impl<T> Pending<T> {
    /// A call that has ended.
    #[cfg(feature = "compile")]
    pub(crate) fn ended(results: Result<T, Error>) -> Pending<T> {
        let state = Mutex::new(State { results: Delivery::Here(results), waker: None });
        Pending(Arc::new(Shared { state, done: Condvar::new() }))
    }
}

impl<T: Send + 'static> Pending<T> {
    /// Runs `call` on a thread of the queue for work that may wait; on a queue without threads, and inside of
    /// a kernel, at once: kernels that wait for each other would take all threads.
    ///
    /// # Errors
    /// If too many tasks wait for a thread.
    pub(crate) fn begin(
        queue: &Queue,
        call: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<Pending<T>, Error> {
        let state = Mutex::new(State { results: Delivery::NotYet, waker: None });
        let shared = Arc::new(Shared { state, done: Condvar::new() });
        let promise = Promise(Some(shared.clone()));
        if !queue.has_threads() || is_inside(queue) {
            promise.keep(call());
            return Ok(Pending(shared));
        }
        let task = Task::new(move || promise.keep(call()));
        queue.add_blocking_task(task, WhenFull::Wait).map_err(|_| {
            Error::new(ErrorCode::ResourceExhausted, "too many calls are waiting for a thread", Vec::new())
        })?;
        Ok(Pending(shared))
    }

    /// Waits for the results.
    ///
    /// # Errors
    /// That of the call.
    pub fn wait(self) -> Result<T, Error> {
        self.take()
    }

    /// Waits for the results, which only one caller gets.
    pub(crate) fn take(&self) -> Result<T, Error> {
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
        !matches!(self.0.state().results, Delivery::NotYet)
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T, Error>> {
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

impl<T: Send + 'static> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("is_done", &self.is_done()).finish()
    }
}
