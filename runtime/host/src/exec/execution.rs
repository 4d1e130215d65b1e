//! [`Execution`]: the shared state of one external call that runs in general frames.

use std::sync::Arc;

use crate::program::Program;
use befrost_kernel_api::activity::Activity;
use befrost_kernel_api::context::{ExecContext, Limits};
use befrost_kernel_api::error::KernelError;
use befrost_kernel_api::executor::Surroundings;
use befrost_kernel_api::executor::sync::{AtomicUsize, Ordering};
use befrost_kernel_api::queue::Queue;

/// One external call that runs in general frames. Shared by all threads that work on it.
pub(super) struct Execution {
    pub(super) program: Arc<Program>,
    pub(super) context: ExecContext,
    /// Iteration number of the outermost frame.
    pub(super) iteration: u64,
    /// Whether the queue chooses the next ready kernel.
    pub(super) is_seeded: bool,
    /// The device on whose queue the execution began.
    pub(super) home: u16,
    /// The queue of threads on which values become final: [`NO_QUEUE`] if devices have queues of their own,
    /// because it may be any thread.
    pub(super) anywhere: u16,
    /// Total number of registers of the active frames.
    pub(super) values: AtomicUsize,
}

/// The queue of a thread that may run no kernels: it gives those that become ready to their queues.
pub(super) const NO_QUEUE: u16 = u16::MAX;

impl Execution {
    /// The queue of a device.
    #[inline]
    pub(super) fn queue(&self, device: u16) -> &Queue {
        if device == 0 { &self.context.request.queue } else { self.queue_of_device(device) }
    }

    #[cold]
    fn queue_of_device(&self, device: u16) -> &Queue {
        let request = &self.context.request;
        let device = request.devices.as_ref().and_then(|devices| devices.get(device));
        device.and_then(|device| device.queue()).unwrap_or(&request.queue)
    }

    /// The activity, if kernels of the program wait for each other.
    #[inline]
    pub(super) fn activity(&self) -> Option<&Arc<Activity>> {
        self.context.activity()
    }

    /// Counts a task that is to be given to a queue.
    #[inline]
    pub(super) fn begin_task(&self) {
        if let Some(activity) = self.activity() {
            activity.begin();
        }
    }

    /// Reserves the registers of a frame at `depth`.
    pub(super) fn reserve(&self, n: usize, depth: usize) -> Result<(), KernelError> {
        // Relaxed: a count that guards no data.
        let before = self.values.fetch_add(n, Ordering::Relaxed);
        if depth < self.context.limits.depth && before.saturating_add(n) <= self.context.limits.values {
            return Ok(());
        }
        self.release(n);
        Err(self.context.limits.error())
    }

    /// Limits that remain for a sequential execution started by a frame at `depth`.
    pub(super) fn remaining(&self, depth: usize) -> Limits {
        let limits = self.context.limits;
        let values = limits.values.saturating_sub(self.values.load(Ordering::Relaxed));
        Limits { depth: limits.depth.saturating_sub(depth + 1), values }
    }

    pub(super) fn release(&self, n: usize) {
        self.values.fetch_sub(n, Ordering::Relaxed);
    }

    /// Surroundings of the execution's kernels.
    #[inline]
    pub(super) fn surroundings(&self) -> Surroundings<'_> {
        surroundings(&self.program, &self.context)
    }
}

/// Surroundings of the kernels of an execution.
#[inline]
pub(super) fn surroundings<'x>(program: &'x Arc<Program>, context: &'x ExecContext) -> Surroundings<'x> {
    Surroundings { file: program.file(), functions: program, context }
}
