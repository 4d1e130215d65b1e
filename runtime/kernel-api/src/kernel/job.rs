//! Jobs: the deferred part of a kernel, run by a task.
//!
//! A job is one object of the thread's pool that contains its closure. A [`Job`] owns it.

#![allow(
    unsafe_code,
    reason = "a closure behind a pointer that does not know its type; the function beside it does"
)]

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

use super::frame::{KernelFrame, Outcome};
use crate::error::quietly;
use crate::pool;
use crate::queue::{Parking, WhenFull};

/// Place of a job's execution.
#[derive(Clone, Debug)]
pub enum Place {
    /// On the queue, as a task that does not block.
    Queue,
    /// On a thread for tasks that block.
    Blocking(WhenFull),
    /// On the queue, after it is woken.
    Parked(Arc<Parking>),
}

struct JobHeader {
    /// Moves the closure out, frees the job, and calls the closure if there is a frame.
    call: unsafe fn(NonNull<JobHeader>, Option<&mut KernelFrame<'_>>) -> Outcome,
    place: Place,
}

#[repr(C)]
struct JobCell<F> {
    header: JobHeader,
    closure: F,
}

/// The deferred part of a kernel. Its frame has the kernel's attributes and results, but no operands.
pub struct Job(NonNull<JobHeader>);

// SAFETY: `Job::new` takes Send closures only, and a `Place` is Send.
unsafe impl Send for Job {}

/// # Safety
/// `job` must point to a `JobCell<F>` from the pool, owned by the caller. It is freed.
unsafe fn call<F: FnOnce(&mut KernelFrame<'_>) -> Outcome>(
    job: NonNull<JobHeader>,
    frame: Option<&mut KernelFrame<'_>>,
) -> Outcome {
    // SAFETY: the caller's contract: a cell of this type from the pool, which is freed once.
    let JobCell { closure, header: _ } = unsafe { pool::unbox(job.cast::<JobCell<F>>()) };
    frame.map_or(Outcome::Done, closure)
}

impl Job {
    pub(crate) fn new<F>(place: Place, closure: F) -> Job
    where
        F: FnOnce(&mut KernelFrame<'_>) -> Outcome + Send + 'static,
    {
        Job(pool::boxed(JobCell { header: JobHeader { call: call::<F>, place }, closure }).cast())
    }

    /// A job at the same place that calls `around`, which may run this job.
    pub fn within<F>(self, around: F) -> Job
    where
        F: FnOnce(Job, &mut KernelFrame<'_>) -> Outcome + Send + 'static,
    {
        let place = self.place().clone();
        Job::new(place, move |frame| around(self, frame))
    }

    /// Runs the closure in the kernel's frame.
    pub fn run(self, frame: &mut KernelFrame<'_>) -> Outcome {
        let job = ManuallyDrop::new(self).0;
        // SAFETY: the job is owned, so the header is alive.
        let call = unsafe { job.as_ref() }.call;
        // SAFETY: `call` was stored for this job's type. `job` is not dropped, so it is freed once.
        unsafe { call(job, Some(frame)) }
    }
}

#[doc(hidden)]
impl Job {
    pub fn place(&self) -> &Place {
        // SAFETY: the job is owned, so the header is alive, and borrowed as long as `self`.
        unsafe { &(*self.0.as_ptr()).place }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: the job is owned, so the header is alive.
        let call = unsafe { self.0.as_ref() }.call;
        // SAFETY: `call` was stored for this job's type. The job is not used afterwards.
        quietly(|| _ = unsafe { call(self.0, None) });
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
    fn a_job_that_does_not_run_drops_its_closure() {
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
