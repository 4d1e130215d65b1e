//! The tools around Befrost.
//!
//! * [`cli`]: `ir-translate`, `ir-opt`, `bef-exec`.
//! * [`filecheck`]: compares output with the `CHECK:` comments of a file (also the program `FileCheck`).
#![forbid(unsafe_code)]

pub mod cli;
pub mod filecheck;
