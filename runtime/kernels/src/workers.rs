//! The workers of the queue, for parallel loops of the tensor library, and the interruption of all its loops.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use befrost_kernel_api::{ExecContext, KernelError};
use befrost_tensor::TensorError;
use befrost_tensor::interrupt::interruptible;
use befrost_tensor::mem::Allocator;
use befrost_tensor::parallel::Parallel;
use befrost_tensor::tf::fast::Cx;

use crate::objects::refused;

/// [`run`] of a computation that may fail.
///
/// # Errors
/// Those of the computation and of the cancellation.
pub fn compute<R>(
    cx: &ExecContext,
    allocator: &Arc<dyn Allocator>,
    f: impl FnOnce(&Cx<'_>) -> Result<R, TensorError>,
) -> Result<R, KernelError> {
    run(cx, allocator, f)?.map_err(refused)
}

/// Runs a computation on all workers of the queue, with memory of `allocator`. The cancellation of the
/// request stops its loops.
///
/// # Errors
/// The error of the cancellation. The results of a cancelled computation are incomplete.
pub fn run<R>(
    cx: &ExecContext,
    allocator: &Arc<dyn Allocator>,
    f: impl FnOnce(&Cx<'_>) -> R,
) -> Result<R, KernelError> {
    let cancellation = &cx.request.cancellation;
    let workers = Workers { cx, flag: cancellation.flag(), failed: OnceLock::new() };
    let result = interruptible(workers.flag, || f(&Cx { allocator, parallel: &workers }));
    if let Some(error) = workers.failed.into_inner() {
        return Err(error);
    }
    if cancellation.is_cancelled()
        && let Some(error) = cancellation.error()
    {
        return Err(KernelError::new(error.code(), error.message()));
    }
    Ok(result)
}

/// The workers of a request.
struct Workers<'a> {
    cx: &'a ExecContext,
    /// The cancellation of the request.
    flag: &'a AtomicBool,
    /// The first error of a loop.
    failed: OnceLock<KernelError>,
}

impl Parallel for Workers<'_> {
    fn workers(&self, work: u64) -> usize {
        self.cx.queue().local().workers_for(Duration::from_nanos(work))
    }

    fn parallel_for(&self, blocks: usize, block: &(dyn Fn(usize) + Sync)) {
        let body = |range: std::ops::Range<usize>| {
            interruptible(self.flag, || range.for_each(block));
            Ok(())
        };
        if let Err(error) = self.cx.parallel_for(blocks, 1, &body) {
            // The first error counts.
            _ = self.failed.set(error);
        }
    }
}
