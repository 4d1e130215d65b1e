//! The execution's workers, as the tensor library asks for them.

use std::sync::OnceLock;

use befrost_kernel_api::{ExecContext, KernelError};
use befrost_tensor::matmul::Parallel;

/// The workers of an execution. A cancellation ends the work early; [`Workers::finish`] says so.
pub(crate) struct Workers<'a> {
    cx: &'a ExecContext,
    stopped: OnceLock<KernelError>,
}

impl<'a> Workers<'a> {
    pub(crate) fn new(cx: &'a ExecContext) -> Workers<'a> {
        Workers { cx, stopped: OnceLock::new() }
    }

    /// Fails if not all of the work was done.
    pub(crate) fn finish(self) -> Result<(), KernelError> {
        self.stopped.into_inner().map_or(Ok(()), Err)
    }
}

impl Parallel for Workers<'_> {
    fn workers(&self) -> usize {
        self.cx.queue().parallelism()
    }

    fn parallel_for(&self, blocks: usize, block: &(dyn Fn(usize) + Sync)) {
        let body = |range: std::ops::Range<usize>| {
            range.for_each(block);
            Ok(())
        };
        if let Err(error) = self.cx.parallel_for(blocks, 1, &body) {
            // The first one counts.
            _ = self.stopped.set(error);
        }
    }
}
