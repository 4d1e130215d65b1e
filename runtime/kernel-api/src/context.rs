//! The execution context: requests, executions in them, and the identity of frames.
//!
//! ```text
//! Request              one call from outside: id, step, limits, cancellation and deadline, resources,
//!    │                 allocator, queue, output
//!    └── ExecContext   one execution of a function in it: of the entry function, or of one that a kernel
//!           │          calls from a task; for each device that takes part, with its queue and allocator
//!           └── FramePath   one frame of an execution: the calls that lead to it, and their iterations
//! ```
//!
//! Kernels get an [`ExecContext`]. Requests and executions are shared and immutable except for the
//! cancellation and the resources. A [`FramePath`] is not stored: it is computed from the chain of callers
//! for kernels that take it ([`FrameCx`](crate::kernel::FrameCx)). Together with the step and the number of
//! an edge it is a rendezvous key, so its fields are part of the runtime's contract.

use std::any::Any;
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use befrost_mem::{Allocator, Malloc};

use crate::activity::Activity;

pub use crate::cancellation::Cancellation;
pub(crate) use crate::cancellation::OnCancel;
use crate::device::{Device, DeviceSet, HostDevice};
use crate::error::{Error, ErrorCode, KernelError};
use crate::parallel::parallel_for;
use crate::queue::Queue;
pub use crate::resources::{Resource, ResourceName, Resources};
use crate::value::Value;

/// Sink of kernels that print.
pub trait Output: Send + Sync {
    /// Writes all of `text`. Texts appear in the order of the calls.
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

/// Receiver of every error that a kernel raises, whether or not a result depends on it.
pub trait Diagnostics: Send + Sync {
    /// Receives an error, on the thread on which it happened, in order.
    fn report(&self, error: &Error);
}

#[doc(hidden)]
/// Limit of the calls in the trace of an error.
pub const MAX_TRACE: usize = 32;

/// Bounds on the depth of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Limit of nested active calls.
    pub depth: usize,
    /// Limit of the registers of all active calls of one execution, of 16 bytes each.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 1 << 20, values: 1 << 25 }
    }
}

impl Limits {
    /// The limits of an execution that a kernel begins.
    fn inside(self) -> Limits {
        Limits { depth: self.depth.saturating_sub(1), ..self }
    }
}

#[doc(hidden)]
impl Limits {
    pub fn error(self) -> KernelError {
        let Limits { depth, values } = self;
        let message = format!(
            "calls nest too deeply: at most {depth} calls with {values} registers in all may be active"
        );
        KernelError::new(ErrorCode::ResourceExhausted, message)
    }
}

/// One call from outside: the data that all its executions share.
pub struct Request {
    /// Unique in the process.
    pub id: u64,
    /// The caller's number of the request, such as the step of a training loop. Part of a rendezvous key.
    pub step: u64,
    /// Cancellation and deadline.
    pub cancellation: Cancellation,
    /// Named resources that outlive the request.
    pub resources: Resources,
    /// Allocator of tensors.
    pub allocator: Arc<dyn Allocator>,
    /// The queue of its tasks.
    pub queue: Queue,
    /// The devices of programs that were loaded for several; the first is the client's, with this queue and
    /// allocator.
    pub devices: Option<Arc<DeviceSet>>,
    /// Bounds on nested calls.
    pub limits: Limits,
    /// Sink of printed text.
    pub output: Arc<dyn Output>,
    /// The receiver of the errors that its kernels raise.
    pub diagnostics: Option<Arc<dyn Diagnostics>>,
    /// An object of the caller's, for kernels that know its type.
    pub attachment: Option<Arc<dyn Any + Send + Sync>>,
}

static NEXT_REQUEST: AtomicU64 = AtomicU64::new(1);

impl Request {
    /// A request on `queue` with defaults: step 0, the system's allocator, standard output, the default
    /// limits, no resources, no deadline, one device.
    pub fn new(queue: impl Into<Queue>) -> Request {
        Request {
            // Relaxed: only uniqueness matters.
            id: NEXT_REQUEST.fetch_add(1, Ordering::Relaxed),
            step: 0,
            cancellation: Cancellation::default(),
            resources: Resources::default(),
            allocator: Malloc::shared(),
            queue: queue.into(),
            devices: None,
            limits: Limits::default(),
            output: Arc::new(Stdout),
            diagnostics: None,
            attachment: None,
        }
    }
}

#[doc(hidden)]
/// One kernel of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelRef {
    pub function: u32,
    /// Its number in the function.
    pub kernel: u32,
}

/// One call in a [`FramePath`]. Functions are identified by their numbers in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameStep {
    /// The function of the calling kernel.
    pub caller: u32,
    /// The calling kernel, by its number in that function.
    pub kernel: u32,
    /// The called function.
    pub callee: u32,
    /// The iteration of a loop, the block of a parallel loop, or the number of the call of a kernel that
    /// calls from a task. From 0.
    pub iteration: u64,
}

/// The identity of a frame in a request: the calls that lead to it, outermost first. Empty for the entry
/// function.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FramePath(Vec<FrameStep>);

impl FramePath {
    /// The calls, outermost first.
    pub fn steps(&self) -> &[FrameStep] {
        &self.0
    }

    /// The iteration of the innermost call; 0 in the entry function.
    pub fn iteration(&self) -> u64 {
        self.0.last().map_or(0, |step| step.iteration)
    }
}

#[doc(hidden)]
impl FramePath {
    /// Appends a call of `callee` by kernel `at`.
    pub fn push(&mut self, at: KernelRef, callee: u32, iteration: u64) {
        let KernelRef { function: caller, kernel } = at;
        self.0.push(FrameStep { caller, kernel, callee, iteration });
    }

    /// Appends calls.
    pub fn extend(&mut self, steps: impl Iterator<Item = FrameStep>) {
        self.0.extend(steps);
    }
}

/// One execution of a function in a request: of the entry function, or of one that a kernel calls from a
/// task; as the kernels of one device see it.
pub struct ExecContext {
    /// The call from outside.
    pub request: Arc<Request>,
    /// The limits of the request, less the calls that lead here.
    #[doc(hidden)]
    pub limits: Limits,
    /// The kernel that began the execution. `None` for the entry function, and if no kernel of the function
    /// takes its frame.
    origin: Option<Arc<Origin>>,
    /// The activity, if kernels of the program wait for others.
    activity: Option<Arc<Activity>>,
    /// The number of the device.
    device: u16,
    /// The same execution on the other devices, by number. Each is made on first use.
    others: OnceLock<Box<[OnceLock<ExecContext>]>>,
}

impl Clone for ExecContext {
    fn clone(&self) -> ExecContext {
        let ExecContext { request, limits, origin, activity, device, others: _ } = self;
        let (request, origin, activity) = (request.clone(), origin.clone(), activity.clone());
        ExecContext { request, limits: *limits, origin, activity, device: *device, others: OnceLock::new() }
    }
}

/// A kernel that begins executions, as part of the paths of their frames.
pub(crate) struct Origin {
    /// The kernel's frame.
    path: FramePath,
    at: KernelRef,
    /// Number of calls so far.
    n_calls: AtomicU32,
}

impl Origin {
    /// Kernel `at` in the frame at `path`.
    pub(crate) fn new(path: FramePath, at: KernelRef) -> Arc<Origin> {
        Arc::new(Origin { path, at, n_calls: AtomicU32::new(0) })
    }

    /// The number of the next call, for kernels that do not number their calls.
    pub(crate) fn next_call(&self) -> u32 {
        // Relaxed: only uniqueness matters.
        self.n_calls.fetch_add(1, Ordering::Relaxed)
    }
}

impl ExecContext {
    /// The execution of a request's entry function.
    pub fn new(request: Arc<Request>) -> ExecContext {
        let limits = request.limits;
        ExecContext { request, limits, origin: None, activity: None, device: 0, others: OnceLock::new() }
    }

    /// An execution that a kernel of this one begins.
    pub(crate) fn inside(&self, origin: Option<Arc<Origin>>) -> ExecContext {
        ExecContext { limits: self.limits.inside(), origin, ..self.clone() }
    }

    /// The kernel's device.
    pub fn device(&self) -> &dyn Device {
        let devices = self.request.devices.as_ref();
        devices.and_then(|devices| devices.get(self.device)).map_or(HostDevice::client(), |device| &**device)
    }

    /// The queue of the kernel's device.
    #[inline]
    pub fn queue(&self) -> &Queue {
        if self.device == 0 { &self.request.queue } else { self.queue_of_device() }
    }

    #[cold]
    fn queue_of_device(&self) -> &Queue {
        self.device().queue().unwrap_or(&self.request.queue)
    }

    /// Allocator of tensors in the memory of the kernel's device.
    #[inline]
    pub fn allocator(&self) -> &Arc<dyn Allocator> {
        if self.device == 0 { &self.request.allocator } else { self.allocator_of_device() }
    }

    #[cold]
    fn allocator_of_device(&self) -> &Arc<dyn Allocator> {
        self.device().memory().allocator().unwrap_or(&self.request.allocator)
    }

    /// Calls `body` for blocks of at most `block` indices of `0..n`, on this thread and the queue's other
    /// workers, and returns when all have finished; see [`parallel_for`].
    ///
    /// # Errors
    /// The error of the lowest-numbered block that failed, or of the cancellation, which is checked before
    /// each block.
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

#[doc(hidden)]
impl ExecContext {
    /// The number of the kernel's device.
    #[inline]
    pub fn device_number(&self) -> u16 {
        self.device
    }

    /// The activity of the execution, if kernels of its program wait for others.
    #[inline]
    pub fn activity(&self) -> Option<&Arc<Activity>> {
        self.activity.as_ref()
    }

    /// The execution with an [`Activity`], which detects that its kernels can only wait for each other.
    #[must_use]
    pub fn watched(self) -> ExecContext {
        ExecContext { activity: self.activity.or_else(|| Some(Arc::default())), ..self }
    }

    /// The execution as kernels of this device see it.
    #[inline]
    pub fn on(&self, device: u16) -> &ExecContext {
        if device == self.device { self } else { self.on_other(device) }
    }

    #[cold]
    fn on_other(&self, device: u16) -> &ExecContext {
        let n = self.request.devices.as_ref().map_or(1, |devices| devices.len());
        let others = self.others.get_or_init(|| (0..n).map(|_| OnceLock::new()).collect());
        let other = || ExecContext { device, ..self.clone() };
        // Without a device of this number the execution stays on its own.
        others.get(usize::from(device)).map_or(self, |known| known.get_or_init(other))
    }

    /// The path of the execution's first frame, of `function`, in `iteration` of the kernel that began it.
    pub fn path(&self, function: u32, iteration: u64) -> FramePath {
        let Some(Origin { path, at, n_calls: _ }) = self.origin.as_deref() else {
            return FramePath::default();
        };
        let mut path = path.clone();
        path.push(*at, function, iteration);
        path
    }

    /// The error of a kernel with its trace. Reports it to the request's diagnostics.
    pub fn raise(&self, error: &KernelError, trace: Vec<String>) -> Error {
        if !error.inside().is_empty() {
            // The callee has reported it.
            let trace = error.inside().iter().cloned().chain(trace).take(MAX_TRACE).collect();
            return Error::new(error.code(), error.message(), trace);
        }
        let error = Error::new(error.code(), error.message(), trace);
        if let Some(activity) = &self.activity {
            activity.fail(&error);
        }
        if let Some(diagnostics) = &self.request.diagnostics {
            diagnostics.report(&error);
        }
        error
    }

    /// The result of a kernel that does not run because of the cancellation.
    pub fn cancelled(&self) -> Value {
        let error = self.request.cancellation.error().cloned();
        Value::Error(error.unwrap_or_else(|| Error::new(ErrorCode::Cancelled, "Cancelled", Vec::new())))
    }
}
