//! The runtime: what programs run on.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use befrost_host::queue::{QueueError, WorkQueue, from_spec, from_spec_with_idle_callers};
use befrost_host::{Limits, LoadError, Registry};
use befrost_tensor::mem::{Allocator, Malloc};

use crate::program::Program;

/// A work queue, an allocator and kernels. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) queue: Arc<dyn WorkQueue>,
    pub(crate) allocator: Arc<dyn Allocator>,
    pub(crate) limits: Limits,
    registry: Arc<Registry>,
}

/// Collects what a [`Runtime`] is made of.
pub struct RuntimeBuilder {
    queue: String,
    idle_callers: bool,
    allocator: Arc<dyn Allocator>,
    limits: Limits,
    registry: Registry,
}

/// Why a runtime could not be built.
#[derive(Debug)]
pub struct BuildError(QueueError);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for BuildError {}

impl RuntimeBuilder {
    /// Chooses the queue: `s`, or `mstd[:N[,B]]`, the default.
    #[must_use]
    pub fn work_queue(self, spec: &str) -> RuntimeBuilder {
        RuntimeBuilder { queue: spec.to_owned(), ..self }
    }

    /// Chooses whether a thread that waits for a call on the queue `mstd` leaves all tasks to the queue's
    /// threads, as in TFRT; by default it runs tasks meanwhile.
    #[must_use]
    pub fn idle_callers(self, idle_callers: bool) -> RuntimeBuilder {
        RuntimeBuilder { idle_callers, ..self }
    }

    /// Chooses where tensors get their memory; the system's allocator by default.
    #[must_use]
    pub fn allocator(self, allocator: Arc<dyn Allocator>) -> RuntimeBuilder {
        RuntimeBuilder { allocator, ..self }
    }

    /// Chooses how deep calls may nest.
    #[must_use]
    pub fn limits(self, limits: Limits) -> RuntimeBuilder {
        RuntimeBuilder { limits, ..self }
    }

    /// Chooses the kernels; the standard ones by default.
    #[must_use]
    pub fn kernels(self, registry: Registry) -> RuntimeBuilder {
        RuntimeBuilder { registry, ..self }
    }

    /// Starts the queue.
    ///
    /// # Errors
    /// If there is no such queue, or the system refuses its threads.
    pub fn build(self) -> Result<Runtime, BuildError> {
        let RuntimeBuilder { queue, idle_callers, allocator, limits, registry } = self;
        let queue = if idle_callers { from_spec_with_idle_callers(&queue) } else { from_spec(&queue) };
        let queue = queue.map_err(BuildError)?;
        Ok(Runtime { queue, allocator, limits, registry: Arc::new(registry) })
    }
}

impl Runtime {
    /// Starts with the defaults.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder {
            queue: "mstd".to_owned(),
            idle_callers: false,
            allocator: Malloc::shared(),
            limits: Limits::default(),
            registry: befrost_kernels::registry(),
        }
    }

    /// Where tensors get their memory.
    pub fn allocator(&self) -> &Arc<dyn Allocator> {
        &self.allocator
    }

    /// Reads a BEF file into memory and makes it ready to run.
    ///
    /// # Errors
    /// If it cannot be read, is not a valid file, or uses kernels that this runtime does not have.
    pub fn load(&self, path: &Path) -> Result<Program, LoadError> {
        let program = befrost_host::Program::read(path, &self.registry)?;
        Ok(Program { runtime: self.clone(), program })
    }

    /// [`Runtime::load`] of bytes that are in memory already; they are copied.
    ///
    /// # Errors
    /// As [`Runtime::load`].
    pub fn load_bytes(&self, bytes: &[u8]) -> Result<Program, LoadError> {
        let program = befrost_host::Program::from_bytes(bytes, &self.registry)?;
        Ok(Program { runtime: self.clone(), program })
    }

    /// [`Runtime::load`] of a file that is part of the running program, see [`include_bef!`](crate::include_bef). It is used in place if it
    /// lies at a multiple of 64, as that macro makes it; only else is it copied.
    ///
    /// # Errors
    /// As [`Runtime::load`].
    pub fn load_static(&self, bytes: &'static [u8]) -> Result<Program, LoadError> {
        let program = befrost_host::Program::from_static(bytes, &self.registry)?;
        Ok(Program { runtime: self.clone(), program })
    }

    /// [`Runtime::load`] without reading: the file is mapped, its tensors are used where they are.
    ///
    /// # Errors
    /// As [`Runtime::load`].
    ///
    /// # Safety
    /// As [`Runtime::map_file`].
    #[allow(unsafe_code, reason = "passes the contract of mapping on")]
    pub unsafe fn map(&self, path: &Path) -> Result<Program, LoadError> {
        // SAFETY: the caller's contract is the same.
        let program = unsafe { befrost_host::Program::map(path, &self.registry) }?;
        Ok(Program { runtime: self.clone(), program })
    }

    /// [`Runtime::map`] of a file that is open. It stays open, and keeps the locks that the caller took on it, as long as it is mapped.
    ///
    /// # Errors
    /// As [`Runtime::load`].
    ///
    /// # Safety
    /// The file must not change while the program, or a tensor of it, lives: neither its bytes nor its
    /// length. Reading beyond the end of a file that became shorter kills the process (SIGBUS), and bytes
    /// that change are a data race. A file that is replaced (another one is renamed to its name) does not
    /// change: the old one lives on.
    #[allow(unsafe_code, reason = "passes the contract of mapping on")]
    pub unsafe fn map_file(&self, file: File) -> Result<Program, LoadError> {
        // SAFETY: the caller's contract is the same.
        let program = unsafe { befrost_host::Program::map_file(file, &self.registry) }?;
        Ok(Program { runtime: self.clone(), program })
    }
}
