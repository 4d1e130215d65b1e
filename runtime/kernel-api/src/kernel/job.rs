//! Jobs: the deferred part of a kernel, run by a task.
//!
//! A job is one object of the thread's pool that contains its closure. A [`Job`] owns it. What a job has
//! received in a rendezvous takes the place of the rendezvous in it.

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
use crate::rendezvous::{Delivery, MeetingKey, StepTable};

/// Place of a job's execution.
#[derive(Debug)]
pub enum Place {
    /// On the queue, as a task that does not block.
    Queue,
    /// On a thread for tasks that block.
    Blocking(WhenFull),
    /// On the queue, after it is woken.
    Parked(Arc<Parking>),
    /// On the queue, after it has received what is sent with the key in the step.
    Meeting(Arc<StepTable>, MeetingKey),
    /// On the queue, with what it has received.
    Arrived(Delivery),
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

/// [`call`] for a closure that takes what the job has received.
///
/// # Safety
/// As for [`call`].
unsafe fn call_with_delivery<F>(job: NonNull<JobHeader>, frame: Option<&mut KernelFrame<'_>>) -> Outcome
where
    F: FnOnce(Delivery, &mut KernelFrame<'_>) -> Outcome,
{
    // SAFETY: the caller's contract: a cell of this type from the pool, which is freed once.
    let JobCell { closure, header } = unsafe { pool::unbox(job.cast::<JobCell<F>>()) };
    match (header.place, frame) {
        (Place::Arrived(delivery), Some(frame)) => closure(delivery, frame),
        (_, Some(_)) => Outcome::Operand,
        (_, None) => Outcome::Done,
    }
}

impl Job {
    /// A job that runs with what is sent with the key in the step.
    pub fn meeting<F>(step: Arc<StepTable>, key: MeetingKey, closure: F) -> Job
    where
        F: FnOnce(Delivery, &mut KernelFrame<'_>) -> Outcome + Send + 'static,
    {
        let header = JobHeader { call: call_with_delivery::<F>, place: Place::Meeting(step, key) };
        Job(pool::boxed(JobCell { header, closure }).cast())
    }

    pub(crate) fn new<F>(place: Place, closure: F) -> Job
    where
        F: FnOnce(&mut KernelFrame<'_>) -> Outcome + Send + 'static,
    {
        Job(pool::boxed(JobCell { header: JobHeader { call: call::<F>, place }, closure }).cast())
    }

    /// A job at the same place that calls `around`, which may run this job.
    pub fn within<F>(mut self, around: F) -> Job
    where
        F: FnOnce(Job, &mut KernelFrame<'_>) -> Outcome + Send + 'static,
    {
        match self.take_place() {
            Place::Meeting(step, key) => Job::meeting(step, key, move |delivery, frame| {
                self.arrive(delivery);
                around(self, frame)
            }),
            place => Job::new(place, move |frame| around(self, frame)),
        }
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

    fn place_mut(&mut self) -> &mut Place {
        // SAFETY: the job is owned, so the header is alive, and borrowed as long as `self`.
        unsafe { &mut (*self.0.as_ptr()).place }
    }

    /// The place, of which the job keeps nothing: it may be run on the queue, or [`Job::arrive`].
    pub fn take_place(&mut self) -> Place {
        std::mem::replace(self.place_mut(), Place::Queue)
    }

    /// Gives the job what it was to receive, to be run on the queue.
    pub fn arrive(&mut self, delivery: Delivery) {
        *self.place_mut() = Place::Arrived(delivery);
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

    #[test]
    fn a_job_that_has_received_drops_what_it_got() {
        let (step, owned) = (Arc::<StepTable>::default(), Arc::new(()));
        let held = owned.clone();
        let mut job = Job::meeting(step.clone(), (0, Default::default()), move |_, _| {
            drop(held);
            Outcome::Done
        });
        assert!(matches!(job.take_place(), Place::Meeting(..)));
        assert_eq!(Arc::strong_count(&step), 1, "a job that waits keeps no step");
        job.arrive(Ok(crate::value::Value::I32(1)));
        assert!(matches!(job.place(), Place::Arrived(Ok(_))));
        drop(job);
        assert_eq!(Arc::strong_count(&owned), 1);
    }
}
