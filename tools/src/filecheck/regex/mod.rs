//! Regular expressions with the semantics of LLVM's FileCheck: POSIX extended, on bytes, leftmost-longest.
//!
//! Why not a crate: the usual ones are leftmost-*first* (`a|ab` on `ab` finds `a`), where LLVM finds the
//! longest match; they take text, not bytes; and the only one with back-references may take exponential time.
//! An expectation that matches less or more than LLVM's can become a false pass, so the semantics are
//! implemented here in three small steps:
//!
//! ```text
//! parse.rs    text -> Node          the dialect and its errors
//! program.rs  Node -> RegexProgram  linear-time walks: leftmost, longest, every end
//! search.rs   Regex::find           the extents of the top-level groups; back-references
//! ```
//!
//! Not here: the pieces of a check line (`pattern.rs`).

mod parse;
mod program;
mod search;
#[cfg(test)]
mod tests;

pub(crate) use parse::{Node, parse};
pub(crate) use search::Regex;
