//! Passes and pipelines.
//!
//! A pass is a function over one op (a module or a function). It changes the IR through a [`Rewriter`] and
//! returns whether it did. A [`PassManager`] is a pipeline in MLIR's textual form:
//! `builtin.module(func.func(dce),strip-debuginfo)` runs `dce` on each function directly inside the module,
//! then `strip-debuginfo` on the module. Passes collect ops before they change them, so that walks see a
//! constant IR.
//!
//! The list of passes is [`crate::passes`], above this module; a new pass is one entry there.

pub(crate) mod canonicalize;
mod context;
pub(crate) mod cse;
pub(crate) mod dce;
mod errors;
pub(crate) mod inline;
pub(crate) mod licm;
mod manager;
mod pipeline;
pub(crate) mod print_op_stats;
pub(crate) mod print_stream;
mod reports;
mod reproducer;
pub(crate) mod sccp;
pub(crate) mod strip_debuginfo;
pub(crate) mod symbol_dce;
#[cfg(test)]
mod tests;

pub use context::{OptionValue, PassCx};
pub use manager::{Event, PassManager, RunOptions};
pub use reports::{Row, timing_report};
pub use reproducer::Reproducer;

pub use crate::rewrite::{Change, Rewriter};

/// A pass and its documentation.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Name in pipelines, and flag of `ir-opt`.
    pub name: &'static str,
    /// Name in reports, as in MLIR.
    pub title: &'static str,
    /// A one-sentence summary.
    pub summary: &'static str,
    /// Options in pipelines: `name{a=b c=d}`.
    pub options: &'static [PassOption],
    /// Statistics: name and description.
    pub statistics: &'static [(&'static str, &'static str)],
    /// Runs the pass on the rewriter's root.
    pub run: fn(&mut Rewriter<'_>, &PassCx<'_>) -> Change,
}

/// An option of a pass.
#[derive(Clone, Copy, Debug)]
pub struct PassOption {
    /// Name.
    pub name: &'static str,
    /// A one-sentence summary.
    pub summary: &'static str,
    /// Type and default value.
    pub kind: OptionKind,
}

/// Type of an option, with its default value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Flag(bool),
    /// An integer.
    Number(i64),
    /// A string.
    Text(&'static str),
    /// One of several words: the default, then all.
    Word(&'static str, &'static [&'static str]),
}

impl OptionKind {
    /// The default value.
    pub fn default_value(self) -> OptionValue {
        match self {
            OptionKind::Flag(on) => OptionValue::Flag(on),
            OptionKind::Number(n) => OptionValue::Number(n),
            OptionKind::Text(text) | OptionKind::Word(text, _) => OptionValue::Text(text.to_owned()),
        }
    }
}

impl Pass {
    /// True if `name` is the name of the pass, here or in TFRT.
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.name == "print-stream" && name == "tfrt-print-stream"
    }
}
