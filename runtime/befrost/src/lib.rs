//! Befrost's front door for those who embed it: load a BEF file, call its functions.
//!
//! ```no_run
//! use befrost::{Runtime, npy};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = Runtime::builder().work_queue("mstd:2").build()?;
//! let program = runtime.load("model.bef".as_ref())?;
//! let images = npy::read_file("images.npy".as_ref(), runtime.allocator())?;
//! let logits = program.function("main")?.call([images.into()])?;
//! println!("{}", logits[0].tensor()?.shape());
//! # Ok(())
//! # }
//! ```
//!
//! A [`Runtime`] is a work queue, an allocator and a set of kernels; a [`Program`] is a loaded file; a
//! [`Function`] can be called from any thread, any number of times at once. What a call gives are [`Datum`]s, each of which may be an error of its own: one failed branch
//! does not take the others with it.
//!
//! A program can be part of the executable; see [`include_bef!`].

mod datum;
mod program;
mod runtime;

pub use befrost_host::LoadError;
pub use befrost_kernel_api::context::{
    Cancellation, Diagnostics, FramePath, FrameStep, Output, Resource, ResourceName, Resources, Stdout,
};
pub use befrost_kernel_api::error::{Error, ErrorCode, KernelError};
pub use befrost_kernel_api::kernel::Kernel;
pub use befrost_kernel_api::{Chain, ExecContext, Limits, Registry, Value, kernel};
pub use befrost_kernels::{registry, variable_values};
pub use befrost_tensor::{DType, HostTensor, Shape, mem, npy};

/// A BEF file as part of the executable, at a multiple of 64, so that [`Runtime::load_static`] uses it and
/// its tensors where they are.
///
/// The path is that of [`include_bytes!`]: relative to the file in which the macro stands.
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
pub use program::{CallOptions, Function, Port, Program};
pub use runtime::{BuildError, Runtime, RuntimeBuilder};
