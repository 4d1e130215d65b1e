//! The workers of the queue, for parallel loops of the tensor library.

use std::sync::OnceLock;
use std::time::Duration;

use befrost_kernel_api::{ExecContext, KernelError};
use befrost_tensor::parallel::Parallel;

/// The workers of a request. Cancellation stops loops early; [`Workers::finish`] reports it.
pub(crate) struct Workers<'a> {
    cx: &'a ExecContext,
    stopped: OnceLock<KernelError>,
}

impl<'a> Workers<'a> {
    pub(crate) fn new(cx: &'a ExecContext) -> Workers<'a> {
        Workers { cx, stopped: OnceLock::new() }
    }

    /// Fails if a loop was stopped.
    pub(crate) fn finish(self) -> Result<(), KernelError> {
        self.stopped.into_inner().map_or(Ok(()), Err)
    }
}

impl Parallel for Workers<'_> {
    fn workers(&self, work: u64) -> usize {
        self.cx.queue().workers_for(Duration::from_nanos(work))
    }

    fn parallel_for(&self, blocks: usize, block: &(dyn Fn(usize) + Sync)) {
        let body = |range: std::ops::Range<usize>| {
            range.for_each(block);
            Ok(())
        };
        if let Err(error) = self.cx.parallel_for(blocks, 1, &body) {
            // The first error counts.
            _ = self.stopped.set(error);
        }
    }
}
