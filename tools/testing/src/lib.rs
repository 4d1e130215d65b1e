//! The machinery of the tests, which no program contains.
//!
//! * [`dice`]: reproducible random numbers.
//! * [`fuzz`]: properties of any input, for tests and fuzzers.
//! * [`graphs`]: random op graphs.
//! * [`hostile`]: loads and runs untrusted files, for tests and fuzzers.
//! * [`lit`]: runs the `RUN:` lines of test files (driven by `tools/tests/lit.rs`).
//! * [`models`]: networks of any size as text.
//! * [`oracle`]: a simple interpreter of programs, to be compared with the executor.
#![forbid(unsafe_code)]

pub mod dice;
pub mod fuzz;
pub mod graphs;
pub mod hostile;
pub mod lit;
pub mod models;
pub mod oracle;
