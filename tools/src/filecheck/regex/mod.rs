//! Regular expressions as LLVM's FileCheck means them: POSIX extended, on bytes, leftmost-longest.
//!
//! Why not a crate: the usual ones are leftmost-*first* (`a|ab` on `ab` finds `a`), where LLVM finds the longest
//! match; they take text, not bytes; and the only one with back-references may take exponential time. An
//! expectation that matches less or more than LLVM's is a false pass in waiting, so the semantics are written
//! down here once, in three small steps:
//!
//! ```text
//! parse.rs    text -> Node       the dialect and its errors
//! program.rs  Node -> Program    linear-time walks: leftmost, longest, every end
//! search.rs   Regex::find        which part of the match each top-level group took; back-references
//! ```
//!
//! Not here: what a check line's pieces mean (`pattern.rs`).

mod parse;
mod program;
mod search;
#[cfg(test)]
mod tests;

pub(crate) use parse::{Node, parse};
pub(crate) use search::Regex;
