//! The command lines: `ir-translate`, `ir-opt`, `bef-exec`, `bef-train`.
//!
//! ```text
//! failure   exit codes                files    inputs and outputs        report   rendering of diagnostics
//! content   formats by first bytes      progress   of reading and writing large files
//! options   options of several tools  parts    --split-input-file        expect   --verify-diagnostics
//! model     TensorFlow's models, with their files    inspect   --inspect
//! compile   text, BEF or models       passes   pipelines and reports     spelling TFRT's names of options
//! training  options of training programs            precision  --precision, and files of ranges
//! deadline  --timeout                               statistics --profile, --trace
//! dialect_help   --help-dialects      translate, opt, exec, train   the tools
//! ```
//!
//! The contract is `cli.md`; its unimplemented features are refused explicitly. Each program in `src/bin`
//! only calls `main` here.

mod compile;
mod content;
mod cost_profile;
mod deadline;
mod device_set;
mod dialect_help;
mod divided;
pub mod exec;
mod expect;
mod failure;
mod files;
mod inspect;
mod kernels;
mod model;
pub mod opt;
mod options;
mod parts;
mod passes;
mod precision;
mod progress;
mod report;
mod spelling;
mod statistics;
pub mod train;
mod training;
pub mod translate;
