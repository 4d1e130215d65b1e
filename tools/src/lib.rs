//! The tools around Befrost and the machinery of its tests.
//!
//! * [`cli`]: `ir-translate`, `ir-opt`, `bef-exec`.
//! * [`dice`]: reproducible random numbers for tests.
//! * [`filecheck`]: compares output with the `CHECK:` comments of a file (also the program `FileCheck`).
//! * [`fuzz`]: properties of any input, for tests and fuzzers.
//! * [`graphs`]: random op graphs.
//! * [`hostile`]: loads and runs untrusted files, for tests and fuzzers.
//! * [`lit`]: runs the `RUN:` lines of test files (driven by `tests/lit.rs`).
//! * [`models`]: networks of any size as text.
//! * [`oracle`]: a simple interpreter of programs, to be compared with the executor.
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
