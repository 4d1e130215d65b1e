//! The API for embedding Befrost: load a BEF file, call its functions.
//!
//! ```no_run
//! use befrost::{HostTensor, Runtime};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = Runtime::builder().build()?;
//! let program = runtime.load("model.bef")?;
//! let image = HostTensor::from_vec([1, 64], vec![0.5f32; 64])?;
//! let results = program.function("main")?.call_ok([image.into()])?;
//! let logits: Vec<f32> = results[0].tensor()?.to_vec()?;
//! println!("{logits:?}");
//! # Ok(())
//! # }
//! ```
//!
//! A [`Runtime`] is a work queue, an allocator and a set of kernels; a [`Program`] is a loaded file; a
//! [`Function`] is called with [`Datum`]s: numbers, strings and tensors. Each result may be an error of its
//! own, since one failed branch does not take the others with it; [`Function::call_ok`] makes the first of
//! them an `Err`.
//!
//! All of these are cheap to clone and can be used from any thread. A function can be called any number of
//! times at once. Calls share nothing but what they are given: variables and tables live in [`Resources`],
//! which the caller keeps and passes to each call in [`CallOptions`].
//!
//! A program can be part of the executable, see [`include_bef!`]; with the feature `compile`, a default one,
//! text and models are compiled in the process, see `compile`, `Model` and `Session`.

#[cfg(feature = "compile")]
mod access;
#[cfg(feature = "compile")]
pub mod build;
#[cfg(feature = "compile")]
mod cache;
#[cfg(feature = "compile")]
mod compile;
mod datum;
pub mod dlpack;
#[cfg(feature = "eager")]
pub mod eager;
mod error;
#[cfg(feature = "compile")]
mod folder;
mod given;
#[cfg(feature = "compile")]
mod graph;
#[cfg(feature = "libraries")]
pub mod library;
#[cfg(feature = "compile")]
mod model;
mod pending;
mod port;
mod prepared;
mod program;
mod recorder;
mod runtime;
#[cfg(feature = "compile")]
mod session;
#[cfg(feature = "compile")]
mod signature;
#[cfg(feature = "compile")]
mod training;

#[cfg(feature = "compile")]
pub use access::FileAccess;
pub use bef_format::device::DeviceName;
#[cfg(feature = "compile")]
pub use befrost_compiler::device::{DeviceOptions, Partition, ResourcePlaces};
#[cfg(feature = "compile")]
pub use befrost_compiler::import::Initialization;
#[cfg(feature = "compile")]
pub use befrost_compiler::train::{Clip, Optimizer, Recompute};
pub use befrost_kernel_api::async_value::AsyncRef;
pub use befrost_kernel_api::context::{
    Cancellation, Diagnostics, FramePath, FrameStep, Output, Resource, ResourceName, Resources, Stdout,
};
pub use befrost_kernel_api::error::{Error, ErrorCode, KernelError};
pub use befrost_kernel_api::kernel::{Deferred, Kernel};
pub use befrost_kernel_api::{Chain, ExecContext, Limits, Registry, Request, Value, device, kernel};
pub use befrost_kernels::{allow_folder, assign_variable_values, variable_values};
pub use befrost_tensor::narrow::Precision;
pub use befrost_tensor::tf::{PartialShape, Philox};
pub use befrost_tensor::{
    DType, Element, HostTensor, HostTensor as Tensor, I1, Shape, StringTensor, TensorError, bundle, mem, npy,
};
#[cfg(feature = "compile")]
pub use compile::{CompileError, CompileOptions, Source, compile, compile_with};
#[cfg(feature = "compile")]
pub use folder::{ModelFolder, SAVED_VARIABLES, saved_model};
#[cfg(feature = "compile")]
pub use graph::{Gradients, Graph};
#[cfg(feature = "libraries")]
pub use library::{Library, LibraryError};
#[cfg(feature = "compile")]
pub use model::Model;
#[cfg(feature = "compile")]
pub use session::{
    Callable, Progress, Results, Run, RunOptions, Session, SessionBuilder, SessionStats, Shapes, Variables,
};
#[cfg(feature = "compile")]
pub use signature::Signature;
#[cfg(feature = "compile")]
pub use training::Training;

/// All standard kernels, as far as Cargo features include them; with the feature `eager` also those of the
/// eager core.
pub fn registry() -> Registry {
    let registry = befrost_kernels::registry();
    #[cfg(feature = "eager")]
    let registry = registry.with(befrost_eager::corert);
    registry
}

/// The kernels of the operators named in a constant text, op names with spaces between, and no others: for
/// small programs. The linker leaves out what no kernel of these needs. `ir-translate --print-kernels` prints
/// the text for a model.
///
/// A name of a standard kernel that is not a function of tensors (of variables, of control flow, of `tfrt`)
/// includes all kernels of those kinds, as far as Cargo features do. Kernels of arenas are always included.
///
/// ```
/// use befrost::Runtime;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::with_kernels(befrost::kernels!("tf.Const tf._PackedMatMul")).build()?;
/// # Ok(())
/// # }
/// ```
///
/// A name of the dialect `tf` that no kernel has is an error of the compiler:
///
/// ```compile_fail
/// befrost::kernels!("tf.MatMull");
/// ```
#[macro_export]
macro_rules! kernels {
    ($names:expr) => {{
        static FUNCTIONS: [&$crate::selection::OpRow; $crate::selection::n_functions($names)] =
            $crate::selection::selected($names);
        $crate::selection::selected_kernels::<{ !$crate::selection::are_functions($names) }>(&FUNCTIONS)
    }};
}

/// For the macro [`kernels!`].
#[doc(hidden)]
pub mod selection {
    pub use befrost_kernels::selected as selected_kernels;
    pub use befrost_tensor::tf::op::{OpRow, are_functions, n_functions, selected};
}

/// A BEF file embedded in the executable with an alignment of 64, so that [`Runtime::load_static`] uses it
/// and its tensors in place.
///
/// As for [`include_bytes!`], the path is relative to the file that uses the macro.
///
/// ```
/// use befrost::{Datum, Runtime, Value};
///
/// static ADDS: &[u8] = befrost::include_bef!("../../../testdata/bef/golden/v1_0_adds.bef");
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder().work_queue("s").build()?;
/// let program = runtime.load_static(ADDS)?;
/// // Five times doubled.
/// let results = program.function("main")?.call([Datum::from(3i32)])?;
/// assert!(matches!(results[0].value(), Value::I32(96)));
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! include_bef {
    ($path:expr) => {{
        #[repr(C, align(64))]
        struct Aligned<T: ?Sized>(T);
        static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!($path));
        &FILE.0
    }};
}

pub use datum::Datum;
pub use error::{KernelUse, LoadError, LoadErrorKind};
pub use given::{adopt, lend};
pub use pending::{Pending, PendingCall};
pub use port::Port;
pub use prepared::{PreparedFunction, PreparedRun};
pub use program::{CallOptions, Function, Program};
pub use recorder::Recorder;
pub use runtime::{BuildError, Runtime, RuntimeBuilder};
