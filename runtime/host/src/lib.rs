//! The host runtime: work queues, programs, and the executor.
//!
//! ```text
//! bytes ─▶ Program (validated, kernels resolved) ─call─▶ Values
//!             ▲                                   │
//!          Registry of kernels              WorkQueue, ExecContext
//! ```
//!
//! Values, kernels, their registry and the execution context are those of [`befrost_kernel_api`]. The
//! executor never blocks, holds no lock while it dispatches, and turns every failure into a value.
//!
//! Modules, each using only those above it:
//!
//! ```text
//! queue       work queues
//! device      making the devices of a runtime
//! mapping     the bytes of a file
//! program     loading: fills the tables that kernels read, plans functions
//! exec        the executor
//! ```
//!
//! `unsafe` is limited to `exec/frame`, `exec/stack`, `mapping` and `program/open`; each states its rules.

pub mod device;
mod exec;
mod mapping;
pub mod program;
pub mod queue;

pub use exec::{PreparedCall, call, call_into};
pub use mapping::map_file;
pub use program::{LoadError, Program};

/// Number of repetitions of a test: fewer under an interpreter.
#[cfg(all(test, not(loom)))]
fn fewer(times: usize) -> usize {
    if cfg!(miri) { times.div_ceil(100).min(1000) } else { times }
}
