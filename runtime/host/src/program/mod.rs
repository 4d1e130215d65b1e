//! Programs: a file that is ready to run.
//!
//! ```text
//! bytes ─validate─▶ Image ─check every kernel's use against its signature─▶ Program ─first call: plan every function─▶ plans
//! ```
//!
//! Everything that does not depend on a call is done here, once: kernels are found, signatures compared, and, when the first call comes, orders of
//! execution computed. So what can fail fails at loading, and who only looks into a file does not wait for plans.
//! A program never changes; any number of threads may execute it at once.

mod check;
mod plan;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use bef_format::{FormatError, FunctionId, FunctionKind, FunctionView, Image, KernelView};
use befrost_mem::{Buffer, ViewError};

use crate::kernel::{AnyPrepared, Kernel, KernelRef, KernelUse};
use crate::mapping::Mapped;
use crate::registry::Registry;

pub(crate) use plan::{
    Carry, FunctionPlan, General, GeneralKernel, INLINE_OPERANDS, KernelPlan, Member, Move, Operand, Out,
    Step, StepKind, Straight, Target, User, is_in,
};

/// A validated, resolved file, ready to run.
pub struct Program {
    mapped: Mapped,
    kernels: Kernels,
    /// Those uses of which the kernel has made something, in order.
    prepared: Box<[PreparedUse]>,
    /// By function; made by the first call.
    plans: OnceLock<Box<[FunctionPlan]>>,
    by_name: BTreeMap<Box<str>, u32>,
}

/// The kernels of a program.
pub(crate) struct Kernels {
    by_code: Box<[Kernel]>,
    /// By function: the kernels that native functions are.
    native: BTreeMap<u32, Kernel>,
}

impl Kernels {
    fn new(by_code: Vec<&Kernel>, image: &Image<'_>, registry: &Registry) -> Kernels {
        let native = image.functions().filter(|function| function.kind() == FunctionKind::Native);
        let native =
            native.filter_map(|function| Some((function.index(), registry.find(function.name())?.clone())));
        Kernels { by_code: by_code.into_iter().cloned().collect(), native: native.collect() }
    }

    /// The kernel that a use runs: that of its code, or the native function that it calls.
    pub(crate) fn of(&self, kernel: &KernelView<'_, '_>) -> &Kernel {
        let native = || self.native.get(&kernel.functions().first()?.0);
        let known = &self.by_code[kernel.code().index()];
        if self.native.is_empty() { known } else { native().unwrap_or(known) }
    }
}

/// What a kernel has made of one of its uses.
pub(crate) struct PreparedUse {
    at: KernelRef,
    made: AnyPrepared,
}

impl PreparedUse {
    /// The number of that of a use, if there is one.
    fn find(all: &[PreparedUse], at: KernelRef) -> Option<u32> {
        let key = |at: KernelRef| (at.function, at.kernel);
        all.binary_search_by_key(&key(at), |prepared| key(prepared.at)).ok().map(|i| i as u32)
    }
}

/// Why a file cannot be a program.
#[derive(Debug)]
pub enum LoadError {
    /// It cannot be read.
    Io(std::io::Error),
    /// It is not a valid BEF file.
    Format(FormatError),
    /// It uses kernels in a way that they cannot be used.
    Kernels(Vec<KernelUseError>),
}

/// A use of a kernel that does not fit the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelUseError {
    /// Where, as `file:line:col`, if the file says so.
    pub location: Option<String>,
    /// The function that the use stands in.
    pub function: String,
    /// What does not fit.
    pub message: String,
}

impl fmt::Display for KernelUseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Some(location) => write!(f, "{location}: {}", self.message),
            None if self.function.is_empty() => write!(f, "in a region: {}", self.message),
            None => write!(f, "in function '{}': {}", self.function, self.message),
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Io(error) => error.fmt(f),
            LoadError::Format(error) => error.fmt(f),
            LoadError::Kernels(errors) => {
                for (i, error) in errors.iter().enumerate() {
                    write!(f, "{}{error}", if i == 0 { "" } else { "\n" })?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for LoadError {}

impl From<FormatError> for LoadError {
    fn from(error: FormatError) -> LoadError {
        LoadError::Format(error)
    }
}

impl From<std::io::Error> for LoadError {
    fn from(error: std::io::Error) -> LoadError {
        LoadError::Io(error)
    }
}

impl Program {
    /// A program of the bytes of a BEF file, which are copied.
    ///
    /// # Errors
    /// If they are not a valid file, or use kernels that `registry` does not have or that do not fit.
    pub fn from_bytes(bytes: &[u8], registry: &Registry) -> Result<Arc<Program>, LoadError> {
        Program::resolve(Mapped::copy_of(bytes)?, registry)
    }

    /// [`Program::from_bytes`] of bytes that are part of the running program. They are used in place, and their tensors with them, if they lie at a
    /// multiple of 64; only else are they copied.
    ///
    /// # Errors
    /// As [`Program::from_bytes`].
    pub fn from_static(bytes: &'static [u8], registry: &Registry) -> Result<Arc<Program>, LoadError> {
        Program::resolve(Mapped::of_static(bytes)?, registry)
    }

    pub(crate) fn resolve(mapped: Mapped, registry: &Registry) -> Result<Arc<Program>, LoadError> {
        let image = mapped.image();
        let kernels = check::check(image, registry).map_err(LoadError::Kernels)?;
        let kernels = Kernels::new(kernels, image, registry);
        let by_name = image
            .functions()
            .map(|f| (Box::from(f.name()), f.index()))
            .filter(|(name, _): &(Box<str>, u32)| !name.is_empty());
        let by_name = by_name.collect();
        let mut program =
            Program { mapped, kernels, prepared: Box::default(), plans: OnceLock::new(), by_name };
        program.prepared = program.prepare().map_err(LoadError::Kernels)?;
        Ok(Arc::new(program))
    }

    /// Lets each kernel that wants to make something of its uses.
    fn prepare(&self) -> Result<Box<[PreparedUse]>, Vec<KernelUseError>> {
        let (mut prepared, mut errors) = (Vec::new(), Vec::new());
        let wants = |known: &Kernel| known.signature.prepare.is_some();
        if !self.kernels.by_code.iter().chain(self.kernels.native.values()).any(wants) {
            return Ok(Box::default());
        }
        for function in self.image().functions() {
            for (i, kernel) in function.kernels().enumerate() {
                let known = self.kernels.of(&kernel);
                let Some(prepare) = &known.signature.prepare else { continue };
                match prepare.call(&KernelUse::new(known.name, self, function.index(), kernel)) {
                    Ok(made) => {
                        let at = KernelRef { function: function.index(), kernel: i as u32 };
                        prepared.push(PreparedUse { at, made });
                    }
                    Err(message) => {
                        let location = location_of(self.image(), &kernel);
                        let message = format!("'{}': {message}", known.name);
                        errors.push(KernelUseError {
                            location,
                            function: function.name().to_owned(),
                            message,
                        });
                        if errors.len() == check::MAX_ERRORS {
                            return Err(errors);
                        }
                    }
                }
            }
        }
        if errors.is_empty() { Ok(prepared.into()) } else { Err(errors) }
    }

    /// What a kernel has made of its use.
    #[inline]
    pub(crate) fn prepared(&self, i: u32) -> Option<&AnyPrepared> {
        self.prepared.get(i as usize).map(|prepared| &prepared.made)
    }

    /// The file.
    pub fn image(&self) -> &Image<'_> {
        self.mapped.image()
    }

    /// The function called `name`.
    pub fn find(&self, name: &str) -> Option<FunctionId> {
        self.by_name.get(name).copied().map(FunctionId)
    }

    /// The functions that can be called from outside, in the order of the file.
    pub fn functions(&self) -> impl Iterator<Item = FunctionView<'_, '_>> {
        self.image().functions().filter(|f| !f.name().is_empty() && f.kind() != FunctionKind::Native)
    }

    /// How each function is executed.
    #[inline]
    pub(crate) fn plans(&self) -> &[FunctionPlan] {
        self.plans.get_or_init(|| plan::plan(self.image(), &self.kernels, &self.prepared))
    }

    #[inline]
    pub(crate) fn plan(&self, function: u32) -> &FunctionPlan {
        &self.plans()[function as usize]
    }

    pub(crate) fn kernel_view(&self, at: KernelRef) -> KernelView<'_, '_> {
        self.image().function(at.function).kernel(at.kernel)
    }

    /// A part of the file as a buffer that keeps the file alive.
    pub(crate) fn mapped(&self, part: &[u8]) -> Result<Buffer, ViewError> {
        self.mapped.view(part)
    }

    /// Where a kernel stands, if the file says so.
    pub(crate) fn location_string(&self, at: KernelRef) -> Option<String> {
        location_of(self.image(), &self.kernel_view(at))
    }

    /// The name of the place where a kernel stands.
    pub(crate) fn location_name(&self, at: KernelRef) -> Option<&str> {
        self.image().location_name(self.kernel_view(at).location()?)
    }
}

/// Where a kernel stands, if the file says so.
fn location_of(image: &Image<'_>, kernel: &KernelView<'_, '_>) -> Option<String> {
    kernel.location().map(|location| image.location_string(location))
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("image", self.image()).finish_non_exhaustive()
    }
}
