//! The executor: runs functions of a program.
//!
//! ```text
//! call ─▶ all arguments final and the function has a sequential plan?
//!           ├─yes─▶ sequential, stack   one thread, no counters
//!           └─no──▶ frame, worker       ready counters, any number of threads;
//!                                       runs of kernels that need no counters are straight lines
//! ```
//!
//! Entry points from outside are [`call`], for one call, and [`PreparedCall`], for many calls of one
//! function. Both run as much as possible on the calling thread and wait for the rest. Nothing inside the
//! executor ever blocks. The order of execution and the meaning of errors, dead values and cancellation are
//! those of `semantics.md`.

mod execution;
mod frame;
mod operands;
mod prepared;
mod sequential;
mod stack;
#[cfg(test)]
mod tests;
mod trip_count;
mod worker;

pub use self::prepared::{PreparedCall, call, call_into};
