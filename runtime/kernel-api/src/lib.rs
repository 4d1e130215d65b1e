//! The interface of kernels: all that a library of kernels links.
//!
//! ```
//! use befrost_kernel_api::kernel::{Attr, Deferred};
//! use befrost_kernel_api::{KernelError, Registry, kernel};
//!
//! /// A plain function: operands are passed by type, and the return value is the kernel's result or error.
//! fn area(width: i32, length: i32) -> Result<i32, KernelError> {
//!     width.checked_mul(length).ok_or_else(|| KernelError::invalid("the area is too large"))
//! }
//!
//! /// The kernels of the library.
//! pub fn geo(registry: &mut Registry) {
//!     registry.add(kernel!("geo.area", area));
//!     // Computed by a task of its own; attributes come after operands.
//!     registry.add(kernel!("geo.rain", |area: i32, millimetres: Attr<i32>| Deferred::new(move |_| {
//!         area.saturating_mul(millimetres.0)
//!     })));
//! }
//!
//! let registry = Registry::new().with(geo);
//! let signature = &registry.find("geo.area").unwrap().signature;
//! assert_eq!(signature.operands.len(), 2);
//! assert_eq!(signature.results, [["i32", "si32"]]);
//! ```
//!
//! Kernels see values, their own parameters and results, the execution context, and ports: to the functions
//! that they call ([`kernel::Callee`]), to the work queue ([`queue`]), to resources and memory ([`context`]).
//! They see neither plans, programs nor the executor, which are the runtime's.
//!
//! Tensors are not known here: every value that is not a scalar is an [`Object`](object::Object) of another
//! crate.
//!
//! Modules, each of which uses only those above it:
//!
//! ```text
//! sync, live, pool, error
//! activity                        detection of executions whose kernels can only wait for each other
//! value, async_value, object      values; AsyncValues and objects as values
//! queue                           tasks, and the port to work queues
//! cancellation, parallel, resources, context, device
//! image                           the bytes of a BEF file
//! rendezvous                      exchange of values between the parts of a program
//! kernel                          parameters, results, signatures, frames
//! registry                        kernels by name
//! launch                          kernels of the host on devices with streams
//! executor                        the interface of executors
//! ```
//!
//! `unsafe` lives in `object`, `async_value`, `pool`, `queue/task`, `parallel`, `image`, `kernel/job`,
//! `kernel/frame` and `value/words`; each states its rules.

#[doc(hidden)]
pub mod activity;
pub mod async_value;
mod cancellation;
pub mod context;
pub mod device;
pub mod error;
#[doc(hidden)]
pub mod executor;
mod image;
pub mod kernel;
pub mod launch;
pub mod live;
pub mod object;
pub mod parallel;
mod pool;
pub mod queue;
pub mod registry;
pub mod rendezvous;
pub mod resources;
mod sync;
pub mod value;

pub use context::{ExecContext, Limits, Request};
pub use error::{Error, ErrorCode, KernelError};
pub use registry::Registry;
pub use value::{Chain, Value};

/// A number of repetitions in a test, reduced under Miri.
#[cfg(all(test, not(loom)))]
fn fewer(times: usize) -> usize {
    if cfg!(miri) { times.div_ceil(100).min(1000) } else { times }
}
