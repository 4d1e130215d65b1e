//! [`Deferred`]: results computed later, by a task, on a thread for blocking tasks, or by a future.
//!
//! ```text
//! kernel!("geo.scale", |x: i32| Deferred::new(move |_| x * 2))           a task of the queue
//! kernel!("net.read", |path: &Path| Deferred::blocking(...))             a thread that may block
//! kernel!("net.fetch", |x: i32| Deferred::future(async move { ... }))    polled on the queue when woken
//! ```
//!
//! For the executor the kernel runs until the work is done. So the results need no AsyncValue, and an error
//! of the work is an error of the kernel, with its location. A cancellation before the work begins prevents
//! it; a waiting future is dropped. Long work polls
//! [`Cancellation::is_cancelled`](crate::context::Cancellation::is_cancelled).

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::frame::{KernelFrame, Outcome};
use super::job::{Job, Place};
use super::returns::Returns;
use super::signature::{Completion, Signature};
use crate::activity::Going;
use crate::context::{ExecContext, OnCancel};
use crate::queue::{Parking, WhenFull};

/// Results that are computed later.
pub struct Deferred<R> {
    job: Job,
    _of: PhantomData<fn() -> R>,
}

impl<R: Returns> Deferred<R> {
    fn at(place: Place, work: impl FnOnce(&ExecContext) -> R + Send + 'static) -> Deferred<R> {
        let job = Job::new(place, move |frame| work(frame.context()).store_later(frame));
        Deferred { job, _of: PhantomData }
    }

    /// The results of `work`, which runs as a task of its own and does not block.
    pub fn new(work: impl FnOnce(&ExecContext) -> R + Send + 'static) -> Deferred<R> {
        Deferred::at(Place::Queue, work)
    }

    /// The results of `work`, which may block. It waits while all threads for blocking tasks are busy. If it
    /// waits for other blocking work otherwise than by running a function or a session, that may never begin.
    pub fn blocking(work: impl FnOnce(&ExecContext) -> R + Send + 'static) -> Deferred<R> {
        Deferred::at(Place::Blocking(WhenFull::Wait), work)
    }

    /// The results of `work`, which may block and wait for other blocking work. An error if all threads for
    /// blocking tasks are busy.
    pub fn blocking_now(work: impl FnOnce(&ExecContext) -> R + Send + 'static) -> Deferred<R> {
        Deferred::at(Place::Blocking(WhenFull::Refuse), work)
    }

    /// The results of `future`, which is polled on the queue.
    pub fn future(future: impl Future<Output = R> + Send + 'static) -> Deferred<R> {
        let future = Box::pin(future);
        let job = Job::new(Place::Queue, move |frame| {
            let going = frame.context().activity().cloned().map(Going::new);
            poll(Polled { future, waiting: None, going }, frame)
        });
        Deferred { job, _of: PhantomData }
    }
}

impl<R: Returns> Returns for Deferred<R> {
    fn declare(signature: &mut Signature) {
        R::declare(signature);
        signature.completion = Completion::Async;
        signature.stores_all = false;
    }

    fn store(self, _: &mut KernelFrame<'_>) -> Outcome {
        Outcome::Later(self.job)
    }
}

impl<R> fmt::Debug for Deferred<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Deferred")
    }
}

/// A future between two polls.
struct Polled<F> {
    future: Pin<Box<F>>,
    /// Its waker, and the registration of the waker with the cancellation.
    waiting: Option<(Arc<Parking>, OnCancel)>,
    /// Its count as an awaited value.
    going: Option<Going>,
}

fn poll<R: Returns, F: Future<Output = R> + Send + 'static>(
    mut polled: Polled<F>,
    frame: &mut KernelFrame<'_>,
) -> Outcome {
    let context = frame.context();
    let (parking, on_cancel) = polled.waiting.take().unwrap_or_else(|| {
        let parking = Parking::new(context.queue().clone(), context.activity().cloned());
        let on_cancel = context.request.cancellation.on_cancel(Waker::from(parking.clone()));
        (parking, on_cancel)
    });
    match polled.future.as_mut().poll(&mut Context::from_waker(&Waker::from(parking.clone()))) {
        Poll::Ready(results) => {
            let outcome = results.store_later(frame);
            drop(polled.going);
            outcome
        }
        Poll::Pending => {
            polled.waiting = Some((parking.clone(), on_cancel));
            Outcome::Later(Job::new(Place::Parked(parking), move |frame| poll(polled, frame)))
        }
    }
}
