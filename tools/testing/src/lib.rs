//! The machinery of the tests, which no shipped program contains.
//!
//! * [`cores`]: work on all processors.
//! * [`dice`]: reproducible random numbers.
//! * [`fuzz`]: properties that hold for every input, for tests and fuzzers.
//! * [`graphs`]: random op graphs.
//! * [`hostile`]: loads and runs untrusted files, for tests and fuzzers.
//! * [`lex`]: a small lexer for Rust, for rules about the source.
//! * [`lit`]: runs the `RUN:` lines of test files (driven by `tools/tests/lit.rs`).
//! * [`models`]: networks of any size as text.
//! * [`oracle`]: a simple reference interpreter, with which the executor is compared.
#![forbid(unsafe_code)]

pub mod cores;
pub mod dice;
pub mod fuzz;
pub mod graphs;
pub mod hostile;
pub mod lex;
pub mod lit;
pub mod models;
pub mod oracle;
