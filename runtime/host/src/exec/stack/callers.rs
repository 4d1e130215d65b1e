//! [`Callers`]: trace and path of a step in a sequential execution.

use super::super::frame::Running;
use super::super::trip_count::TripCount;
use super::CallerFrame;
use befrost_kernel_api::context::{ExecContext, FramePath};
use befrost_kernel_api::executor::{CallChain, LoadedFile, Surroundings};
use befrost_kernel_api::executor::{KernelRef, MAX_TRACE};
use befrost_kernel_api::kernel::KernelFrame;

/// Callers of the current step.
pub(in crate::exec) struct Callers<'s, 'x> {
    at: KernelRef,
    /// Iteration of the top frame.
    iteration: u64,
    below: &'s [CallerFrame<'x>],
    outer: Option<&'x Running>,
    file: &'x LoadedFile,
    context: &'x ExecContext,
}

impl<'s, 'x> Callers<'s, 'x> {
    pub(super) fn new(
        frame: &KernelFrame<'x>,
        trips: TripCount,
        below: &'s [CallerFrame<'x>],
        outer: Option<&'x Running>,
    ) -> Self {
        let Surroundings { file, functions: _, context } = frame.around();
        Callers { at: frame.at(), iteration: trips.iteration(), below, outer, file, context }
    }
}

impl CallerFrame<'_> {
    fn at(&self) -> KernelRef {
        KernelRef { function: self.plan.index(), kernel: self.step.kernel }
    }
}

impl CallChain for Callers<'_, '_> {
    fn trace(&self) -> Vec<String> {
        let kernels =
            std::iter::once(self.at).chain(self.below.iter().rev().map(CallerFrame::at)).take(MAX_TRACE);
        let mut trace = Vec::new();
        kernels.for_each(|at| self.file.extend_trace(at, &mut trace));
        if self.below.len() < MAX_TRACE {
            trace.extend(self.outer.into_iter().flat_map(CallChain::trace));
            trace.truncate(MAX_TRACE);
        }
        trace
    }

    fn path(&self) -> FramePath {
        let frames = self.below.iter().map(|below| (below.plan.index(), below.trips.iteration()));
        let mut frames = frames.chain([(self.at.function, self.iteration)]);
        let mut path = FramePath::default();
        if let Some((function, iteration)) = frames.next() {
            path = match self.outer {
                Some(kernel) => kernel.path_of_callee(function, iteration),
                None => self.context.path(function, iteration),
            };
        }
        for (below, (function, iteration)) in self.below.iter().zip(frames) {
            path.push(below.at(), function, iteration);
        }
        path
    }
}
