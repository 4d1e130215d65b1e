//! The tools around Befrost and the machinery of its tests.
//!
//! * [`cli`]: `ir-translate`, `ir-opt`, `bef-exec`.
//! * [`dice`]: random numbers that are the same each time, for tests.
//! * [`filecheck`]: compares output with the `CHECK:` comments of a file (also the program `FileCheck`).
//! * [`fuzz`]: what must hold for any text, for tests and fuzzers.
//! * [`graphs`]: random op graphs.
//! * [`hostile`]: loads and runs files that nobody trusts, for tests and fuzzers.
//! * [`lit`]: runs the `RUN:` lines of test files (driven by `tests/lit.rs`).
//! * [`models`]: networks of any size as text.
//! * [`oracle`]: interprets programs in the plainest way, for the executor to be compared with.
#![forbid(unsafe_code)]

pub mod cli;
pub mod dice;
pub mod filecheck;
pub mod fuzz;
pub mod graphs;
pub mod hostile;
pub mod lit;
pub mod models;
pub mod oracle;
