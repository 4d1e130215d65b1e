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
//! A [`Runtime`] is a work queue, an allocator and a set of kernels; a [`Program`] is a loaded file; a [`Function`] can be called from any
//! thread, any number of times at once. What a call gives are [`Datum`]s, each of which may be an error of its own: one failed branch
//! does not take the others with it.

mod datum;
mod program;
mod runtime;

pub use befrost_host::context::{Cancellation, Output, Resources, Stdout};
pub use befrost_host::error::{Error, ErrorCode};
pub use befrost_host::kernel::Kernel;
pub use befrost_host::{Limits, LoadError, Registry, Value, kernel};
pub use befrost_kernels::registry;
pub use befrost_tensor::{DType, HostTensor, Shape, mem, npy};

pub use datum::Datum;
pub use program::{CallOptions, Function, Port, Program};
pub use runtime::{BuildError, Runtime, RuntimeBuilder};
