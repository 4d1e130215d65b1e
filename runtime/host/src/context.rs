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

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use befrost_mem::{Allocator, Malloc};

use crate::error::{Error, ErrorCode, KernelError};
use crate::queue::WorkQueue;

/// Stops an execution, from any thread, at any time: by hand, at a deadline, or after so many kernels. Clones share one state.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<CancelState>);

#[derive(Default)]
struct CancelState {
    /// Set after `error`; tested before every kernel.
    cancelled: AtomicBool,
    error: OnceLock<Error>,
    deadline: Option<Instant>,
    /// How many kernels may still start.
    fuel: Option<AtomicU64>,
    /// Whether there is a deadline or a bound on kernels.
    is_limited: bool,
    /// Whether kernels may not simply start: set if limited, and when cancelled. What is asked before every kernel.
    attention: AtomicBool,
}

impl Cancellation {
    /// A cancellation that happens by itself when `deadline` has passed.
    pub fn with_deadline(deadline: Instant) -> Cancellation {
        Cancellation::limited(Some(deadline), None)
    }

    /// A cancellation that happens by itself when `kernels` kernels have started. So a program ends that would call itself for ever.
    pub fn with_fuel(kernels: u64) -> Cancellation {
        Cancellation::limited(None, Some(kernels))
    }

    /// [`Cancellation::with_deadline`] and [`Cancellation::with_fuel`], or one of them.
    pub fn limited(deadline: Option<Instant>, kernels: Option<u64>) -> Cancellation {
        let is_limited = deadline.is_some() || kernels.is_some();
        let fuel = kernels.map(AtomicU64::new);
        let attention = AtomicBool::new(is_limited);
        Cancellation(Arc::new(CancelState {
            deadline,
            fuel,
            is_limited,
            attention,
            ..CancelState::default()
        }))
    }

    /// Asks the execution to stop: kernels that have not started yield an error.
    pub fn cancel(&self) {
        self.cancel_with(Error::new(ErrorCode::Cancelled, "Cancelled", Vec::new()));
    }

    /// Asks the execution to stop with `error`. The first error stays.
    pub fn cancel_with(&self, error: Error) {
        self.0.error.get_or_init(|| error);
        // Release publishes `error`; pairs with the Acquire load in `error`.
        self.0.cancelled.store(true, Ordering::Release);
        // Relaxed: a hint; who acts on it looks at `cancelled`, and before the next kernel again.
        self.0.attention.store(true, Ordering::Relaxed);
    }

    /// Whether the execution was asked to stop. One load; does not look at the clock.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        // Relaxed: a hint to stop early; who acts on it reads the error by `error`.
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// Whether kernels may not simply start: if so, [`before_kernel`](Cancellation::before_kernel) and `is_cancelled` are to be asked before each.
    #[inline]
    pub(crate) fn attention(&self) -> &AtomicBool {
        &self.0.attention
    }

    /// Counts a kernel that is about to start, and looks at the clock.
    #[inline]
    pub(crate) fn before_kernel(&self) {
        if self.0.is_limited {
            self.count_kernel();
        }
    }

    #[cold]
    fn count_kernel(&self) {
        // Relaxed: a count that guards no data.
        let take = |fuel: &AtomicU64| {
            fuel.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
        };
        if !self.is_cancelled() && self.0.fuel.as_ref().is_some_and(|fuel| !take(fuel)) {
            let message = "Out of fuel: as many kernels have started as may";
            self.cancel_with(Error::new(ErrorCode::ResourceExhausted, message, Vec::new()));
        }
        self.check_deadline();
    }

    /// Looks at the clock: cancels if the deadline has passed.
    pub fn check_deadline(&self) {
        if self.0.deadline.is_some_and(|deadline| Instant::now() >= deadline) && !self.is_cancelled() {
            self.cancel_with(Error::new(ErrorCode::DeadlineExceeded, "Deadline exceeded", Vec::new()));
        }
    }

    /// When the execution will be stopped.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// Why the execution was asked to stop.
    pub fn error(&self) -> Option<&Error> {
        // Acquire pairs with the Release store in `cancel_with`.
        if self.0.cancelled.load(Ordering::Acquire) { self.0.error.get() } else { None }
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation")
            .field("error", &self.error())
            .field("deadline", &self.deadline())
            .finish()
    }
}

/// Named things that outlive a call: what variables, tables and sessions are made of.
#[derive(Clone, Default)]
pub struct Resources(Arc<Mutex<BTreeMap<String, Arc<dyn Any + Send + Sync>>>>);

impl Resources {
    /// The resource `name` of type `T`, made by `make` if there is none of that name.
    ///
    /// # Errors
    /// If there is one of another type.
    pub fn or_insert_with<T: Any + Send + Sync>(
        &self,
        name: &str,
        make: impl FnOnce() -> T,
    ) -> Result<Arc<T>, KernelError> {
        let mut resources = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let resource = match resources.get(name) {
            Some(resource) => resource.clone(),
            None => {
                let resource: Arc<dyn Any + Send + Sync> = Arc::new(make());
                resources.insert(name.to_owned(), resource.clone());
                resource
            }
        };
        resource.downcast().map_err(|_| {
            KernelError::new(
                ErrorCode::InvalidArgument,
                format!("resource '{name}' has another type than asked for"),
            )
        })
    }
}

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
}

impl ExecContext {
    /// The context of a request's outermost frame.
    pub fn new(request: Arc<Request>) -> ExecContext {
        ExecContext { request, step: 0, frame: FramePath::default(), iteration: 0 }
    }

    /// The queue that the execution runs on.
    pub fn queue(&self) -> &Arc<dyn WorkQueue> {
        &self.request.queue
    }

    /// Where tensors get their memory.
    pub fn allocator(&self) -> &Arc<dyn Allocator> {
        &self.request.allocator
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
    fn the_first_cancellation_stays() {
        let cancellation = Cancellation::default();
        assert!(cancellation.error().is_none());
        cancellation.cancel();
        cancellation.cancel_with(Error::new(ErrorCode::Unknown, "later", Vec::new()));
        assert_eq!(cancellation.error().map(Error::code), Some(ErrorCode::Cancelled));
    }

    #[test]
    fn a_deadline_cancels_when_it_is_looked_at() {
        let cancellation = Cancellation::with_deadline(Instant::now());
        assert!(!cancellation.is_cancelled());
        cancellation.check_deadline();
        assert_eq!(cancellation.error().map(Error::code), Some(ErrorCode::DeadlineExceeded));
    }

    #[test]
    fn fuel_is_spent_kernel_by_kernel() {
        let cancellation = Cancellation::with_fuel(2);
        cancellation.before_kernel();
        cancellation.before_kernel();
        assert!(!cancellation.is_cancelled());
        cancellation.before_kernel();
        assert_eq!(cancellation.error().map(Error::code), Some(ErrorCode::ResourceExhausted));
        let endless = Cancellation::default();
        (0..10).for_each(|_| endless.before_kernel());
        assert!(!endless.is_cancelled());
    }

    #[test]
    fn resources_are_made_once_and_keep_their_type() {
        let resources = Resources::default();
        assert_eq!(*resources.or_insert_with("a", || 1i32).unwrap(), 1);
        assert_eq!(*resources.or_insert_with("a", || 2i32).unwrap(), 1);
        assert!(resources.or_insert_with("a", || 2u8).is_err());
    }

    #[test]
    fn a_deep_frame_path_is_dropped_without_recursion() {
        let mut path = FramePath::default();
        for i in 0..200_000 {
            path = path.child("f", i);
        }
        assert_eq!(path.steps().next(), Some(("f", 199_999)));
    }
}
