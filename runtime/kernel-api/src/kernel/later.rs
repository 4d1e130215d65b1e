//! [`Later`]: results that a kernel leaves to be computed by a task, on a thread for tasks that block, or by a future.
//!
//! ```text
//! kernel!("geo.scale", |x: i32| Later::new(move |_| x * 2))                 a task of the queue
//! kernel!("net.read", |path: &Path| Later::blocking(...))                   one of the threads that may block
//! kernel!("net.fetch", |x: i32| Later::future(async move { ... }))          polled on the queue, where its waker brings it
//! ```
//!
//! The executor keeps the kernel running, so to speak, until the work is done: its results need no
//! AsyncValue, and an error of the work is an error of the kernel, with its place. If the execution is
//! cancelled before the work begins, it does not begin; a future is dropped where it waits. Work that takes
//! long asks [`Cancellation::is_cancelled`](crate::context::Cancellation::is_cancelled) now and then.

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
use crate::context::{ExecContext, OnCancel};
use crate::queue::{Parking, WhenFull};

/// Results that will be there later.
pub struct Later<R> {
    job: Job,
    _of: PhantomData<fn() -> R>,
}

impl<R: Returns> Later<R> {
    fn at(place: Place, work: impl FnOnce(&ExecContext) -> R + Send + 'static) -> Later<R> {
        let job = Job::new(place, move |frame| work(frame.context()).store_later(frame));
        Later { job, _of: PhantomData }
    }

    /// The results of `work`, which runs as a task of its own and does not block.
    pub fn new(work: impl FnOnce(&ExecContext) -> R + Send + 'static) -> Later<R> {
        Later::at(Place::Queue, work)
    }

    /// The results of `work`, which may block. It waits for a thread if all that may block are busy; for work
    /// that does not wait for other such work.
    pub fn blocking(work: impl FnOnce(&ExecContext) -> R + Send + 'static) -> Later<R> {
        Later::at(Place::Blocking(WhenFull::Wait), work)
    }

    /// The results of `work`, which may block, and wait for other such work; an error if all threads that may
    /// block are busy.
    pub fn blocking_now(work: impl FnOnce(&ExecContext) -> R + Send + 'static) -> Later<R> {
        Later::at(Place::Blocking(WhenFull::Refuse), work)
    }

    /// The results of `future`, which is polled on the queue.
    pub fn future(future: impl Future<Output = R> + Send + 'static) -> Later<R> {
        let future = Box::pin(future);
        let job = Job::new(Place::Queue, move |frame| poll(Polled { future, waiting: None }, frame));
        Later { job, _of: PhantomData }
    }
}

impl<R: Returns> Returns for Later<R> {
    fn declare(signature: &mut Signature) {
        R::declare(signature);
        signature.completion = Completion::Async;
        signature.stores_all = false;
    }

    fn store(self, _: &mut KernelFrame<'_>) -> Outcome {
        Outcome::Later(self.job)
    }
}

impl<R> fmt::Debug for Later<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Later")
    }
}

/// A future between two polls.
struct Polled<F> {
    future: Pin<Box<F>>,
    /// What wakes it, and, so that a cancellation does, what holds it there.
    waiting: Option<(Arc<Parking>, OnCancel)>,
}

fn poll<R: Returns, F: Future<Output = R> + Send + 'static>(
    mut polled: Polled<F>,
    frame: &mut KernelFrame<'_>,
) -> Outcome {
    let context = frame.context();
    let (parking, on_cancel) = polled.waiting.take().unwrap_or_else(|| {
        let parking = Parking::new(context.queue().clone());
        let on_cancel = context.request.cancellation.on_cancel(Waker::from(parking.clone()));
        (parking, on_cancel)
    });
    match polled.future.as_mut().poll(&mut Context::from_waker(&Waker::from(parking.clone()))) {
        Poll::Ready(results) => results.store_later(frame),
        Poll::Pending => {
            polled.waiting = Some((parking.clone(), on_cancel));
            Outcome::Later(Job::new(Place::Parked(parking), move |frame| poll(polled, frame)))
        }
    }
}
