//! Jobs: what a kernel leaves to be done later, by a task.
//!
//! A job is one object of the thread's pool that holds its closure; who holds the job owns it.

#![allow(
    unsafe_code,
    reason = "a closure behind a pointer that does not know its type; the function beside it does"
)]

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

use super::frame::{KernelFrame, Outcome};
use crate::pool;
use crate::queue::{Parking, WhenFull};

/// Where a job runs.
#[derive(Clone, Debug)]
pub enum Place {
    /// On the queue, as a task that does not block.
    Queue,
    /// On a thread for tasks that block.
    Blocking(WhenFull),
    /// On the queue, when it is woken.
    Parked(Arc<Parking>),
}

struct Header {
    /// Moves the closure out, frees the job, and calls the closure, if there is a frame.
    call: unsafe fn(NonNull<Header>, Option<&mut KernelFrame<'_>>) -> Outcome,
    place: Place,
}

#[repr(C)]
struct WithClosure<F> {
    header: Header,
    closure: F,
}

/// What a kernel leaves to be done. Its frame has the kernel's attributes and results, but no operands any
/// more.
pub struct Job(NonNull<Header>);

// SAFETY: `Job::new` takes Send closures only.
unsafe impl Send for Job {}

/// # Safety
/// `job` must begin a `WithClosure<F>` from the pool, owned by the caller, who gives it up.
unsafe fn call<F: FnOnce(&mut KernelFrame<'_>) -> Outcome>(
    job: NonNull<Header>,
    frame: Option<&mut KernelFrame<'_>>,
) -> Outcome {
    // SAFETY: the caller's contract.
    let WithClosure { closure, header: _ } = unsafe { pool::unbox(job.cast::<WithClosure<F>>()) };
    frame.map_or(Outcome::Done, closure)
}

impl Job {
    pub(crate) fn new<F>(place: Place, closure: F) -> Job
    where
        F: FnOnce(&mut KernelFrame<'_>) -> Outcome + Send + 'static,
    {
        Job(pool::boxed(WithClosure { header: Header { call: call::<F>, place }, closure }).cast())
    }

    /// A job at the same place: whoever does it calls `around`, which does this one, or not.
    pub fn within<F>(self, around: F) -> Job
    where
        F: FnOnce(Job, &mut KernelFrame<'_>) -> Outcome + Send + 'static,
    {
        let place = self.place().clone();
        Job::new(place, move |frame| around(self, frame))
    }

    /// Does it.
    pub fn run(self, frame: &mut KernelFrame<'_>) -> Outcome {
        let job = ManuallyDrop::new(self).0;
        // SAFETY: the job is owned.
        let call = unsafe { job.as_ref() }.call;
        // SAFETY: stored for this job, which is given up.
        unsafe { call(job, Some(frame)) }
    }
}

#[doc(hidden)]
impl Job {
    pub fn place(&self) -> &Place {
        // SAFETY: the job is owned.
        unsafe { &(*self.0.as_ptr()).place }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: the job is owned.
        let call = unsafe { self.0.as_ref() }.call;
        // SAFETY: stored for this job, which is given up.
        let _: Outcome = unsafe { call(self.0, None) };
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_is_not_done_drops_what_it_owns() {
        let owned = Arc::new(());
        let held = owned.clone();
        let job = Job::new(Place::Queue, move |_| {
            drop(held);
            Outcome::Done
        });
        assert!(matches!(job.place(), Place::Queue));
        drop(job);
        assert_eq!(Arc::strong_count(&owned), 1);
    }
}
