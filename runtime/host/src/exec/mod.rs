//! The executor: runs functions of a program.
//!
//! ```text
//! call ─▶ all arguments final and the function has a line?  ─yes─▶ line      straight-line code, one thread
//!                                                           └no──▶ frame, worker   ready counters, any number of threads; in it straight
//!                                                                                  lines: runs of kernels that need no counters
//! ```
//!
//! [`call`] is the door from outside, [`PreparedCall`] one for many calls of one function. It runs what it can on the calling thread and waits for the rest; nothing inside ever waits.
//! The order of execution and the meaning of errors, dead values and cancellation are those of
//! `semantics.md`.

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
