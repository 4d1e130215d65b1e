//! What an execution knows about itself.
//!
//! ```text
//! Request   one call from outside: id, cancellation and deadline, resources, allocator, queue, output
//!    └── ExecContext   one frame of it: step, frame path, iteration
//! ```
//!
//! Kernels get an [`ExecContext`]. Rendezvous keys, traces and error messages are made of what stands here, so its fields are
//! part of the runtime's contract. Everything is shared and immutable but for the two things that are meant to change: the
//! cancellation, which is one atomic flag, and the resources.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use befrost_mem::{Allocator, Malloc};

pub use crate::cancellation::Cancellation;
pub(crate) use crate::cancellation::OnCancel;
use crate::error::{Error, ErrorCode, KernelError};
use crate::exec::{Limits, MAX_TRACE};
use crate::queue::WorkQueue;
use crate::queue::parallel::parallel_for;
pub use crate::resources::{Resource, ResourceName, Resources};

/// Where kernels that print write to.
pub trait Output: Send + Sync {
    /// Writes `text`, all of it, before anything that is written later.
    ///
    /// # Errors
    /// If the sink is gone.
    fn write(&self, text: &str) -> std::io::Result<()>;
}

/// The process's standard output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stdout;

impl Output for Stdout {
    fn write(&self, text: &str) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes())
    }
}

/// Who is told of every error that a kernel raises, whether or not a result depends on it.
pub trait Diagnostics: Send + Sync {
    /// Is told of an error; by any thread, in the order in which they happen there.
    fn report(&self, error: &Error);
}

/// What one call from outside shares with everything that it runs.
pub struct Request {
    /// Unique in the process.
    pub id: u64,
    /// Stops it, by hand or by deadline.
    pub cancellation: Cancellation,
    /// Named things that outlive it.
    pub resources: Resources,
    /// Where tensors get their memory.
    pub allocator: Arc<dyn Allocator>,
    /// Where it runs.
    pub queue: Arc<dyn WorkQueue>,
    /// Where it prints.
    pub output: Arc<dyn Output>,
    /// Who is told of errors.
    pub diagnostics: Option<Arc<dyn Diagnostics>>,
}

static NEXT_REQUEST: AtomicU64 = AtomicU64::new(1);

impl Request {
    /// A request that runs on `queue`, with everything else as in a plain program: the system's allocator, standard output,
    /// no resources, no deadline.
    pub fn new(queue: Arc<dyn WorkQueue>) -> Request {
        Request {
            // Relaxed: only uniqueness matters.
            id: NEXT_REQUEST.fetch_add(1, Ordering::Relaxed),
            cancellation: Cancellation::default(),
            resources: Resources::default(),
            allocator: Malloc::shared(),
            queue,
            output: Arc::new(Stdout),
            diagnostics: None,
        }
    }
}

/// The way from the entry function to a frame: which kernel called it, in which iteration.
#[derive(Clone, Debug, Default)]
pub struct FramePath(Option<Arc<FrameStep>>);

#[derive(Debug)]
struct FrameStep {
    parent: FramePath,
    name: Box<str>,
    iteration: u64,
}

impl FramePath {
    /// The path of a frame called `name` that iteration `iteration` of this one started.
    pub fn child(&self, name: &str, iteration: u64) -> FramePath {
        FramePath(Some(Arc::new(FrameStep { parent: self.clone(), name: name.into(), iteration })))
    }

    /// Names and iterations, innermost first.
    pub fn steps(&self) -> impl Iterator<Item = (&str, u64)> {
        std::iter::successors(self.0.as_deref(), |step| step.parent.0.as_deref())
            .map(|step| (&*step.name, step.iteration))
    }
}

impl Drop for FramePath {
    /// A loop, not recursion: a path may be as deep as a program's calls.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut step) = next.and_then(Arc::into_inner) {
            next = step.parent.0.take();
        }
    }
}

/// What a kernel may know about the execution it is part of.
#[derive(Clone)]
pub struct ExecContext {
    /// The call from outside.
    pub request: Arc<Request>,
    /// The step: which run of a session's or training loop's graph this is.
    pub step: u64,
    /// The frame, for rendezvous keys and traces.
    pub frame: FramePath,
    /// The iteration of the frame's loop; 0 outside of loops.
    pub iteration: u64,
    /// What bounds the depth of calls.
    pub(crate) limits: Limits,
}

impl ExecContext {
    /// The context of a request's outermost frame.
    pub fn new(request: Arc<Request>) -> ExecContext {
        ExecContext { request, step: 0, frame: FramePath::default(), iteration: 0, limits: Limits::default() }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> ExecContext {
        ExecContext { limits, ..self }
    }

    /// The error of a kernel with the places that it happened at, of which whoever wants to know is told.
    pub(crate) fn raise(&self, error: &KernelError, trace: Vec<String>) -> Error {
        if !error.inside().is_empty() {
            // It was told of where it happened.
            let trace = error.inside().iter().cloned().chain(trace).take(MAX_TRACE).collect();
            return Error::new(error.code(), error.message(), trace);
        }
        let error = Error::new(error.code(), error.message(), trace);
        if let Some(diagnostics) = &self.request.diagnostics {
            diagnostics.report(&error);
        }
        error
    }

    /// The queue that the execution runs on.
    pub fn queue(&self) -> &Arc<dyn WorkQueue> {
        &self.request.queue
    }

    /// Where tensors get their memory.
    pub fn allocator(&self) -> &Arc<dyn Allocator> {
        &self.request.allocator
    }

    /// Calls `body` for blocks of at most `block` of the indices of `0..n`, here and on the queue's other workers, and returns when all are
    /// finished; see [`parallel_for`].
    ///
    /// # Errors
    /// That of the lowest-numbered block that failed; or that of the cancellation, which is looked for before each block.
    pub fn parallel_for(
        &self,
        n: usize,
        block: usize,
        body: &(dyn Fn(Range<usize>) -> Result<(), KernelError> + Sync),
    ) -> Result<(), KernelError> {
        parallel_for(self.queue(), &self.request.cancellation, n, block, body)
    }

    /// Prints `text` to the execution's output.
    ///
    /// # Errors
    /// If the output is gone, such as a closed pipe.
    pub fn print(&self, text: &str) -> Result<(), KernelError> {
        self.request
            .output
            .write(text)
            .map_err(|error| KernelError::new(ErrorCode::Unavailable, format!("cannot print: {error}")))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_deep_frame_path_is_dropped_without_recursion() {
        let mut path = FramePath::default();
        for i in 0..200_000 {
            path = path.child("f", i);
        }
        assert_eq!(path.steps().next(), Some(("f", 199_999)));
    }
}
