//! The tools around Befrost and the machinery of its tests.
//!
//! * [`filecheck`]: compares output with the `CHECK:` comments of a file (also the program `FileCheck`).
//! * [`lit`]: runs the `RUN:` lines of test files (driven by `tests/lit.rs`).
#![forbid(unsafe_code)]

pub mod filecheck;
pub mod lit;
