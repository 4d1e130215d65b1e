//! The compiler: IR, syntax, dialects, passes.
//!
//! ```text
//! text ──syntax::parse──▶ ir::Module ──verify──▶ pass::PassManager ──▶ emit ──▶ BEF
//!        ◀──print───────┘
//! ```
//!
//! Read in this order: [`ir`] (the data), [`dialects`] (the ops), [`diag`], [`syntax`] and [`mod@print`]
//! (text), [`verify`], [`rewrite`], [`fold`], [`pass`] (the pass manager and the passes for any dialect),
//! [`build`] and [`graph`] (the op graph), [`upstream`] (lowering of MLIR's control flow), [`passes`] (the
//! list of all passes), [`import`] (models), [`export`] (a GraphDef), [`train`]
//! (training programs), [`streams`], [`emit`] and [`raise`] (BEF). This
//! crate neither runs programs nor opens files.

#![forbid(unsafe_code)]

pub mod build;
pub mod device;
pub mod diag;
pub mod dialects;
pub mod emit;
pub mod export;
pub mod fold;
mod grad;
pub mod graph;
pub mod import;
pub mod ir;
pub mod pass;
pub mod passes;
pub mod print;
pub mod raise;
pub mod rewrite;
pub mod streams;
pub mod syntax;
pub mod train;
pub mod upstream;
pub mod verify;
