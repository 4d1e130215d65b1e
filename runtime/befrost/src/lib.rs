//! The API for embedding Befrost: load a BEF file, call its functions.
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
//! A [`Runtime`] is a work queue, an allocator and a set of kernels. A [`Program`] is a loaded file. A
//! [`Function`] can be called from any thread, also concurrently. Results are [`Datum`]s, each of which may
//! be an error: a failed branch of the graph does not affect the other results.
//!
//! A program can be embedded in the executable; see [`include_bef!`].

mod datum;
mod program;
mod runtime;

pub use befrost_host::context::{
    Cancellation, Diagnostics, FramePath, FrameStep, Output, Resource, ResourceName, Resources, Stdout,
};
pub use befrost_host::error::{Error, ErrorCode, KernelError};
pub use befrost_host::kernel::Kernel;
pub use befrost_host::{Chain, ExecContext, Limits, LoadError, Registry, Value, kernel};
pub use befrost_kernels::{registry, variable_values};
pub use befrost_tensor::{DType, HostTensor, Shape, mem, npy};

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
pub use program::{CallOptions, Function, Port, Program};
pub use runtime::{BuildError, Runtime, RuntimeBuilder};
