//! Programs: files that are ready to run.
//!
//! ```text
//! bytes ─validate─▶ Image ─check uses of kernels─▶ Program ─first call: plan all functions─▶ plans
//! ```
//!
//! Everything that does not depend on a call is done here, once. Loading finds the kernels and compares
//! signatures, so loading is where all errors are reported. The first call plans the order of execution, so
//! that tools that only inspect a file do not wait for plans. A program never changes; any number of threads
//! may execute it at once.

mod check;
mod devices;
mod error;
mod kernels;
mod open;
mod parts;
mod places;
mod plan;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use bef_format::{FunctionId, FunctionKind, FunctionView, Image};

use self::kernels::Kernels;
use crate::mapping::Bytes;
use befrost_kernel_api::executor::{
    KernelRef, LoadedFile, PreparedUse, SharedData, SharedImage, location_of,
};
use befrost_kernel_api::kernel::{Kernel, KernelUse, StepUse};
use befrost_kernel_api::registry::Registry;
use befrost_mem::Frozen;

pub use error::{KernelUseError, LoadError};
pub(crate) use plan::{
    CallTarget, Carry, FunctionPlan, GeneralKernel, GeneralPlan, Move, Operand, OutsideUse, StraightKernel,
    StraightLine, User,
};

/// A validated, resolved file, ready to run.
pub struct Program {
    file: Arc<LoadedFile>,
    kernels: Kernels,
    /// Whether kernels wait for each other.
    meets: bool,
    /// By function. Made by the first call.
    plans: OnceLock<Box<[FunctionPlan]>>,
    by_name: BTreeMap<Box<str>, u32>,
}

impl Program {
    /// Loads a program from the bytes of a BEF file, which are copied.
    ///
    /// # Errors
    /// If the bytes are not a valid file, or use kernels that `registry` does not have or that do not fit.
    pub fn from_bytes(bytes: &[u8], registry: &Registry) -> Result<Arc<Program>, LoadError> {
        Program::resolve(Bytes::copy_of(bytes), registry)
    }

    /// [`Program::from_bytes`] for bytes that are part of the running executable. The bytes and their tensors
    /// are used in place if they are aligned to 64 bytes; otherwise they are copied.
    ///
    /// # Errors
    /// As [`Program::from_bytes`].
    pub fn from_static(bytes: &'static [u8], registry: &Registry) -> Result<Arc<Program>, LoadError> {
        Program::resolve(Bytes::of_static(bytes), registry)
    }

    fn resolve(bytes: Bytes, registry: &Registry) -> Result<Arc<Program>, LoadError> {
        let mapped = SharedImage::new(Frozen::from_owner(Arc::new(bytes)))?;
        let image = mapped.image();
        let devices = devices::find(image, registry).map_err(|missing| LoadError::Kernels(vec![missing]))?;
        let kernels = check::check(image, registry, &devices).map_err(LoadError::Kernels)?;
        let kernels = Kernels::new(kernels, image, registry, &devices);
        places::check(image, &devices, &kernels).map_err(LoadError::Kernels)?;
        parts::check(image, &kernels).map_err(LoadError::Kernels)?;
        let by_name = image
            .functions()
            .map(|f| (Box::from(f.name()), f.index()))
            .filter(|(name, _): &(Box<str>, u32)| !name.is_empty());
        let by_name = by_name.collect();
        let prepared = prepare(&mapped, &kernels).map_err(LoadError::Kernels)?;
        let file = Arc::new(LoadedFile::new(mapped, prepared, devices));
        let meets = kernels.all().any(|kernel| kernel.signature.step == Some(StepUse::Receives));
        Ok(Arc::new(Program { file, kernels, meets, plans: OnceLock::new(), by_name }))
    }

    /// The part of the program that kernels see.
    #[inline]
    pub(crate) fn file(&self) -> &Arc<LoadedFile> {
        &self.file
    }

    /// Whether kernels of it wait for each other.
    #[inline]
    pub(crate) fn meets(&self) -> bool {
        self.meets
    }

    /// The file.
    pub fn image(&self) -> &Image<'_> {
        self.file.image()
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.file.bytes()
    }

    /// The function called `name`.
    pub fn find(&self, name: &str) -> Option<FunctionId> {
        self.by_name.get(name).copied().map(FunctionId)
    }

    /// The functions that can be called from outside, in the order of the file.
    pub fn functions(&self) -> impl Iterator<Item = FunctionView<'_, '_>> {
        self.image().functions().filter(|f| !f.name().is_empty() && f.kind() != FunctionKind::Native)
    }

    /// Execution plans, by function.
    #[inline]
    pub(crate) fn plans(&self) -> &[FunctionPlan] {
        self.plans.get_or_init(|| plan::plan(&self.file, &self.kernels))
    }

    #[inline]
    pub(crate) fn plan(&self, function: u32) -> &FunctionPlan {
        &self.plans()[function as usize]
    }
}

/// Calls the `prepare` function of each kernel that has one, for all uses of the kernel.
fn prepare(file: &SharedImage, kernels: &Kernels) -> Result<Box<[PreparedUse]>, Vec<KernelUseError>> {
    let (mut prepared, mut errors) = (Vec::new(), Vec::new());
    let wants = |known: &Kernel| known.signature.prepare.is_some();
    if !kernels.all().any(wants) {
        return Ok(Box::default());
    }
    let shared = SharedData::default();
    for function in file.image().functions() {
        for (i, kernel) in function.kernels().enumerate() {
            let known = kernels.of(&kernel);
            let Some(prepare) = &known.signature.prepare else { continue };
            match prepare.call(&KernelUse::new(known.name, file, function.index(), kernel, &shared)) {
                Ok(made) => {
                    let at = KernelRef { function: function.index(), kernel: i as u32 };
                    prepared.push(PreparedUse { at, made });
                }
                Err(message) => {
                    let location = location_of(file.image(), &kernel);
                    let message = format!("'{}': {message}", known.name);
                    errors.push(KernelUseError { location, function: function.name().to_owned(), message });
                    if errors.len() == check::MAX_ERRORS {
                        return Err(errors);
                    }
                }
            }
        }
    }
    if errors.is_empty() { Ok(prepared.into()) } else { Err(errors) }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("image", self.image()).finish_non_exhaustive()
    }
}
