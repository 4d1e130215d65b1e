//! [`Execution`]: one call from outside that goes the general way.

use std::sync::Arc;

use crate::program::Program;
use befrost_kernel_api::context::{ExecContext, Limits};
use befrost_kernel_api::error::KernelError;
use befrost_kernel_api::executor::Surroundings;
use befrost_kernel_api::executor::sync::{AtomicUsize, Ordering};

/// One call from outside that goes the general way, shared by all threads that work on it.
pub(super) struct Execution {
    pub(super) program: Arc<Program>,
    pub(super) context: ExecContext,
    /// The iteration of its first frame.
    pub(super) iteration: u64,
    /// Whether the queue chooses which ready kernel comes next.
    pub(super) is_seeded: bool,
    /// How many registers the active frames have together.
    pub(super) values: AtomicUsize,
}

impl Execution {
    /// Asks for the registers of a frame at `depth`.
    pub(super) fn take(&self, n: usize, depth: usize) -> Result<(), KernelError> {
        // Relaxed: a count that guards no data.
        let before = self.values.fetch_add(n, Ordering::Relaxed);
        if depth < self.context.limits.depth && before.saturating_add(n) <= self.context.limits.values {
            return Ok(());
        }
        self.give_back(n);
        Err(self.context.limits.error())
    }

    /// What a line may take that a frame at `depth` runs.
    pub(super) fn left(&self, depth: usize) -> Limits {
        let limits = self.context.limits;
        let values = limits.values.saturating_sub(self.values.load(Ordering::Relaxed));
        Limits { depth: limits.depth.saturating_sub(depth + 1), values }
    }

    pub(super) fn give_back(&self, n: usize) {
        self.values.fetch_sub(n, Ordering::Relaxed);
    }

    /// The surroundings of its kernels.
    #[inline]
    pub(super) fn around(&self) -> Surroundings<'_> {
        around(&self.program, &self.context)
    }
}

/// The surroundings of the kernels of an execution.
#[inline]
pub(super) fn around<'x>(program: &'x Arc<Program>, context: &'x ExecContext) -> Surroundings<'x> {
    Surroundings { file: program.file(), functions: program, context }
}
