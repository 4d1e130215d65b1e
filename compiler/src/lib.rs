//! The compiler: IR, syntax, dialects, passes.
//!
//! ```text
//! text ──syntax::parse──▶ ir::Module ──verify──▶ pass::PassManager ──▶ emit ──▶ BEF
//!        ◀──print───────┘
//! ```
//!
//! Read in this order: [`ir`] (the data), [`dialects`] (the ops), [`syntax`] and [`mod@print`] (text),
//! [`verify`], [`fold`], [`rewrite`], [`build`], [`streams`], [`pass`], [`passes`] (the list), [`diag`]. This
//! crate neither runs programs nor reads or writes files.

#![forbid(unsafe_code)]

pub mod build;
pub mod diag;
pub mod dialects;
pub mod emit;
pub mod fold;
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
pub mod upstream;
pub mod verify;
