//! [`Execution`]: the shared state of one external call that runs in general frames.

use std::sync::Arc;

use crate::program::Program;
use befrost_kernel_api::context::{ExecContext, Limits};
use befrost_kernel_api::error::KernelError;
use befrost_kernel_api::executor::Surroundings;
use befrost_kernel_api::executor::sync::{AtomicUsize, Ordering};

/// One external call that runs in general frames. Shared by all threads that work on it.
pub(super) struct Execution {
    pub(super) program: Arc<Program>,
    pub(super) context: ExecContext,
    /// Iteration number of the outermost frame.
    pub(super) iteration: u64,
    /// Whether the queue chooses the next ready kernel.
    pub(super) is_seeded: bool,
    /// Total number of registers of the active frames.
    pub(super) values: AtomicUsize,
}

impl Execution {
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
