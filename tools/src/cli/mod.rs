//! The command lines: `ir-translate`, `ir-opt`, `bef-exec`.
//!
//! ```text
//! failure   how a tool ends           files    inputs and outputs        report   diagnostics as people see them
//! options   what several tools have   parts    --split-input-file        expect   --verify-diagnostics
//! compile   the compiler, as the tools use it          spelling   TFRT's names of options
//! translate, opt, exec                the tools
//! ```
//!
//! The contract is `cli.md`; what it names and is not built is refused in so many words. Each program in `src/bin` only calls `main` here.

mod compile;
mod dialect_help;
pub mod exec;
mod expect;
mod failure;
mod files;
pub mod opt;
mod options;
mod parts;
mod passes;
mod report;
mod spelling;
pub mod translate;
