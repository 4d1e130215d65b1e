//! The host runtime: AsyncValues, work queues, kernels, programs, and the executor.
//!
//! ```text
//! bytes ─▶ Program (validated, kernels resolved) ─call─▶ Values
//!             ▲                                   │
//!          Registry of kernels              WorkQueue, ExecContext
//! ```
//!
//! The crate knows no tensors: every value that is not a scalar is an [`Object`](object::Object) of another
//! crate. The executor never blocks, holds no lock while it dispatches, and turns every failure into a value.
//!
//! Modules, each using only those above it:
//!
//! ```text
//! error
//! value, async_value, object      values; AsyncValues and objects as values
//! queue                           tasks
//! cancellation, parallel, resources, context
//! kernel                          the interface of kernels, and the tables that it reads
//! registry, program               loading: fills the tables, plans functions
//! exec                            the executor
//! ```
//!
//! `kernel` is the interface of kernels: it sees the tables that `program` fills, and neither plans nor the
//! executor.
//!
//! `unsafe` is limited to `object`, `async_value`, `pool`, `queue/task`, `parallel`, `kernel/job`,
//! `kernel/frame`, `value/words`, `exec/frame`, `exec/stack`, `mapping` and `program/open`; each states its
//! rules.

pub mod async_value;
mod cancellation;
pub mod context;
pub mod error;
mod exec;
pub mod kernel;
pub mod live;
mod mapping;
pub mod object;
pub mod parallel;
mod pool;
pub mod program;
pub mod queue;
pub mod registry;
pub mod resources;
mod sync;
pub mod value;

pub use context::{ExecContext, Limits, Request};
pub use error::{Error, ErrorCode, KernelError};
pub use exec::{PreparedCall, call, call_into};
pub use program::{LoadError, Program};
pub use registry::Registry;
pub use value::{Chain, Value};

/// Number of repetitions of a test: fewer under an interpreter.
#[cfg(all(test, not(loom)))]
fn fewer(times: usize) -> usize {
    if cfg!(miri) { times.div_ceil(100).min(1000) } else { times }
}
