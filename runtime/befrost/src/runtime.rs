//! The runtime, which executes programs.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use bef_format::device::{DeviceKernels, DeviceSet as AskedDevices, DeviceSpace, DeviceTextError};
use befrost_host::device::{CPU, MadeDevices, MakeDevicesError, make};
use befrost_kernel_api::device::{DeviceFactory, DeviceSet, Space};
use befrost_kernel_api::queue::Queue;
use befrost_kernel_api::{Error, ErrorCode, ExecContext, Limits, Registry, Request, Value};
use befrost_tensor::mem::{Allocator, Limited, Malloc};

use crate::error::LoadError;
use crate::program::Program;
use crate::recorder::{RecordedKernels, Recorder};

/// A work queue, an allocator, devices and kernels. Clones share them.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) queue: Queue,
    pub(crate) devices: Arc<DeviceSet>,
    pub(crate) allocator: Arc<dyn Allocator>,
    pub(crate) limits: Limits,
    registry: Arc<Registry>,
    recorded: Option<RecordedKernels>,
    /// The receiver of calls without one of their own.
    recorder: Option<Recorder>,
}

/// Builder of a [`Runtime`].
pub struct RuntimeBuilder {
    queue: String,
    idle_callers: bool,
    allocator: Arc<dyn Allocator>,
    max_memory: Option<usize>,
    limits: Limits,
    registry: Registry,
    recorder: Option<Recorder>,
    /// Parsed where they are set: a program that sets none need not contain the parser.
    devices: Result<AskedDevices, BuildError>,
    factories: Vec<DeviceFactory>,
}

/// Error of [`RuntimeBuilder::build`].
#[derive(Debug)]
pub struct BuildError(BuildProblem);

#[derive(Debug)]
enum BuildProblem {
    Text(String, DeviceTextError),
    Devices(MakeDevicesError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            BuildProblem::Text(text, error) => write!(f, "cannot read the devices '{text}': {error}"),
            BuildProblem::Devices(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Error {
        Error::new(ErrorCode::InvalidArgument, error.to_string(), Vec::new())
    }
}

impl RuntimeBuilder {
    /// Sets the work queue: `s`, or `mstd[:N[,B]]`, the default unless the Cargo feature `threads` is off.
    #[must_use]
    pub fn work_queue(self, spec: &str) -> RuntimeBuilder {
        RuntimeBuilder { queue: spec.to_owned(), ..self }
    }

    /// Sets whether a thread that waits for a call on the queue `mstd` leaves all tasks to the queue's
    /// threads, as in TFRT; by default it runs tasks meanwhile.
    #[must_use]
    pub fn idle_callers(self, idle_callers: bool) -> RuntimeBuilder {
        RuntimeBuilder { idle_callers, ..self }
    }

    /// Sets the allocator of tensors; the default is the system's.
    #[must_use]
    pub fn allocator(self, allocator: Arc<dyn Allocator>) -> RuntimeBuilder {
        RuntimeBuilder { allocator, ..self }
    }

    /// Sets a limit of the bytes that executions hold at a time: tensors, strings and arenas of all calls
    /// together, and for each call the values of its functions. A request beyond it is an error result, of
    /// the code `ResourceExhausted`. Constants in a mapped file do not count.
    #[must_use]
    pub fn max_memory(self, bytes: usize) -> RuntimeBuilder {
        RuntimeBuilder { max_memory: Some(bytes), ..self }
    }

    /// Sets the limits, such as the depth of nested calls.
    #[must_use]
    pub fn limits(self, limits: Limits) -> RuntimeBuilder {
        RuntimeBuilder { limits, ..self }
    }

    /// Sets the kernels; the default are the standard kernels.
    #[must_use]
    pub fn kernels(self, registry: Registry) -> RuntimeBuilder {
        RuntimeBuilder { registry, ..self }
    }

    /// Adds the kernels of a library, to those that were set before.
    ///
    /// # Errors
    /// As [`Library::load`](crate::Library::load), and if there is a kernel of one of the names.
    ///
    /// # Safety
    /// As [`Library::load`](crate::Library::load): its code runs in this process.
    #[cfg(feature = "libraries")]
    #[allow(unsafe_code, reason = "passes the contract of loading code on")]
    pub unsafe fn library(mut self, path: impl AsRef<Path>) -> Result<RuntimeBuilder, crate::LibraryError> {
        // SAFETY: the caller's contract is the same.
        let library = unsafe { crate::Library::load(path) }?;
        library.add_to(&mut self.registry)?;
        Ok(self)
    }

    /// Adds a kind of devices besides `CPU`.
    #[must_use]
    pub fn device_factory(mut self, factory: DeviceFactory) -> RuntimeBuilder {
        self.factories.push(factory);
        self
    }

    /// Sets the devices, as `CPU:2`. The first CPU is the client's: host memory, and the queue of calls. CPU
    /// devices share the queue's workers out, at least one each; on a queue without threads they share it.
    #[must_use]
    pub fn devices(self, devices: &str) -> RuntimeBuilder {
        let asked =
            devices.parse().map_err(|error| BuildError(BuildProblem::Text(devices.to_owned(), error)));
        RuntimeBuilder { devices: asked, ..self }
    }

    /// Records the times of the kernels of all programs.
    #[must_use]
    pub fn recorder(mut self, recorder: &Recorder) -> RuntimeBuilder {
        self.recorder = Some(recorder.clone());
        self
    }

    /// Builds the runtime and starts its queue.
    ///
    /// # Errors
    /// If there is no such queue, the text of the devices cannot be read, a device cannot be made, or the
    /// system cannot create the threads.
    pub fn build(self) -> Result<Runtime, BuildError> {
        let RuntimeBuilder {
            queue,
            idle_callers,
            mut allocator,
            max_memory,
            mut limits,
            mut registry,
            recorder,
            devices,
            factories,
        } = self;
        let asked = devices?;
        if let Some(bytes) = max_memory {
            allocator = Arc::new(Limited::new(allocator, bytes));
            limits.values = limits.values.min(bytes / size_of::<Value>());
        }
        let made = make(&asked, &factories, (&queue, idle_callers), &allocator);
        let MadeDevices { queue, devices } =
            made.map_err(|error| BuildError(BuildProblem::Devices(error)))?;
        if let Some(own) = devices.get(0).and_then(|client| client.memory().allocator()) {
            allocator = own.clone();
        }
        registry.set_devices(devices.clone());
        let runtime = Runtime {
            queue,
            devices,
            allocator,
            limits,
            registry: Arc::new(registry),
            recorded: None,
            recorder: None,
        };
        Ok(match recorder {
            Some(recorder) => runtime.recording(Some(recorder)),
            None => runtime,
        })
    }
}

impl Runtime {
    /// A builder with default settings.
    pub fn builder() -> RuntimeBuilder {
        Runtime::with_kernels(crate::registry())
    }

    /// A builder whose runtime has these kernels only, so that a program that uses no others need not contain
    /// the standard ones.
    pub fn with_kernels(registry: Registry) -> RuntimeBuilder {
        RuntimeBuilder {
            queue: befrost_host::queue::DEFAULT.to_owned(),
            idle_callers: false,
            allocator: Malloc::shared(),
            max_memory: None,
            limits: Limits::default(),
            registry,
            recorder: None,
            devices: Ok(AskedDevices::default()),
            factories: Vec::new(),
        }
    }

    /// True if both are the same runtime: one is a clone of the other.
    #[cfg(feature = "compile")]
    pub(crate) fn is(&self, other: &Runtime) -> bool {
        Arc::ptr_eq(&self.registry, &other.registry)
    }

    /// An execution on the runtime, with resources of its own: for operators that are executed one by one.
    pub fn context(&self) -> ExecContext {
        ExecContext::new(Arc::new(self.request(None)))
    }

    /// A request on the runtime, with resources of its own.
    pub(crate) fn request(&self, recorder: Option<Recorder>) -> Request {
        let Runtime { queue, devices, allocator, limits, registry: _, recorded, recorder: own } =
            self.clone();
        let devices = (devices.len() > 1).then_some(devices);
        let attachment = recorded.map(|kernels| kernels.attachment(recorder.or(own)));
        Request { allocator, limits, devices, attachment, ..Request::new(queue) }
    }

    /// The same runtime for programs whose kernels are recorded.
    pub(crate) fn recording(&self, recorder: Option<Recorder>) -> Runtime {
        if self.recorded.is_some() {
            return self.clone();
        }
        let traces = recorder.as_ref().is_none_or(Recorder::is_of_traces);
        let recorded = RecordedKernels::new(&self.registry, &self.devices, traces);
        Runtime { registry: recorded.registry.clone(), recorded: Some(recorded), recorder, ..self.clone() }
    }

    /// The devices; the first is the client's.
    pub fn devices(&self) -> &DeviceSet {
        &self.devices
    }

    /// A set of devices, as `CPU:1,GPU:2`, with what the compiler has to know about kinds that the embedder
    /// has added: the preference, the memory and the kernels of those that this runtime has.
    ///
    /// # Errors
    /// If the text is malformed.
    pub fn described(&self, devices: &str) -> Result<String, DeviceTextError> {
        let asked = devices.parse::<AskedDevices>()?;
        let set = asked.clone().with_configs(|name, config| {
            let number = self.devices.find(&name.to_string());
            let known = number.and_then(|n| self.devices.get(n).zip(self.devices.factory(n)));
            let Some((device, factory)) = known.filter(|(_, factory)| factory.kind != CPU.kind) else {
                return;
            };
            let is_host = device.memory().space() == Space::HOST;
            config.space = Some(if is_host { DeviceSpace::Host } else { DeviceSpace::Own });
            config.priority = Some(factory.priority).filter(|&priority| priority > 0);
            let own = self.registry.iter_on().filter(|(kind, _)| *kind == factory.kind);
            let mut own: Vec<String> =
                own.filter_map(|(_, kernel)| Some(kernel.name.strip_prefix("tf.")?.to_owned())).collect();
            own.sort_unstable();
            config.kernels = match factory.runs_host_kernels {
                true => Some(DeviceKernels::Host),
                false => {
                    Some(DeviceKernels::Named(own)).filter(|own| *own != DeviceKernels::Named(Vec::new()))
                }
            };
        });
        Ok(if set == asked { devices.to_owned() } else { set.to_string() })
    }

    /// The allocator of tensors.
    pub fn allocator(&self) -> &Arc<dyn Allocator> {
        &self.allocator
    }

    /// Waits until no task of the queue waits or runs: also tasks for whose results nobody waits. For callers
    /// outside of the queue.
    pub fn quiesce(&self) {
        self.queue.quiesce();
    }

    /// Reads and loads a BEF file.
    ///
    /// # Errors
    /// If the file cannot be read, is not valid, or uses kernels that are not registered.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Program, LoadError> {
        let path = path.as_ref();
        let program = befrost_host::Program::read(path, &self.registry).map_err(LoadError::of(path))?;
        Ok(Program::new(self.clone(), program))
    }

    /// [`Runtime::load`] from memory; the bytes are copied.
    ///
    /// # Errors
    /// As [`Runtime::load`].
    pub fn load_bytes(&self, bytes: &[u8]) -> Result<Program, LoadError> {
        let program = befrost_host::Program::from_bytes(bytes, &self.registry).map_err(LoadError::new)?;
        Ok(Program::new(self.clone(), program))
    }

    /// [`Runtime::load`] of bytes embedded in the executable, see [`include_bef!`](crate::include_bef). They
    /// are used in place if they are aligned to 64, as with that macro; otherwise they are copied.
    ///
    /// # Errors
    /// As [`Runtime::load`].
    pub fn load_static(&self, bytes: &'static [u8]) -> Result<Program, LoadError> {
        let program = befrost_host::Program::from_static(bytes, &self.registry).map_err(LoadError::new)?;
        Ok(Program::new(self.clone(), program))
    }

    /// [`Runtime::load`] by mapping the file: its tensors are used in place.
    ///
    /// # Errors
    /// As [`Runtime::load`].
    ///
    /// # Safety
    /// As [`Runtime::map_file`].
    #[allow(unsafe_code, reason = "passes the contract of mapping on")]
    pub unsafe fn map(&self, path: impl AsRef<Path>) -> Result<Program, LoadError> {
        let path = path.as_ref();
        // SAFETY: the caller's contract is the same.
        let program = unsafe { befrost_host::Program::map(path, &self.registry) };
        let program = program.map_err(LoadError::of(path))?;
        Ok(Program::new(self.clone(), program))
    }

    /// [`Runtime::map`] of an open file. It stays open while it is mapped, and keeps the locks that the
    /// caller has taken on it.
    ///
    /// # Errors
    /// As [`Runtime::load`].
    ///
    /// # Safety
    /// The file must not change while the program, or a tensor of it, is alive: neither its bytes nor its
    /// length. Access beyond the end of a truncated file kills the process (SIGBUS), and concurrent changes
    /// of bytes are a data race. Replacing the file (renaming another one to its name) is no change: the old
    /// file stays mapped.
    #[allow(unsafe_code, reason = "passes the contract of mapping on")]
    pub unsafe fn map_file(&self, file: File) -> Result<Program, LoadError> {
        // SAFETY: the caller's contract is the same.
        let program = unsafe { befrost_host::Program::map_file(file, &self.registry) };
        Ok(Program::new(self.clone(), program.map_err(LoadError::new)?))
    }
}
