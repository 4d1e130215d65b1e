//! Passes and pipelines.
//!
//! A pass is a function over one op (a module or a function) that changes the IR through a [`Rewriter`] and
//! says whether it did. A [`PassManager`] is a pipeline in MLIR's textual form:
//! `builtin.module(func.func(dce),strip-debuginfo)` runs `dce` on each function directly inside the module,
//! then `strip-debuginfo` on the module. Passes collect what they want to change and then change it, so that
//! nothing is walked while it moves.
//!
//! The list of passes is [`crate::passes`], above this module; a new pass is one entry there.

pub(crate) mod canonicalize;
pub(crate) mod cse;
mod cx;
pub(crate) mod dce;
mod errors;
#[cfg(test)]
mod flow_tests;
pub(crate) mod inline;
pub(crate) mod licm;
mod manager;
mod pipeline;
pub(crate) mod print_op_stats;
pub(crate) mod print_stream;
mod reports;
mod reproducer;
pub(crate) mod sccp;
pub(crate) mod strip;
pub(crate) mod symbol_dce;
#[cfg(test)]
mod tests;

pub use cx::{OptionValue, PassCx};
pub use manager::{Event, PassManager, RunOptions};
pub use reports::{Row, timing_report};
pub use reproducer::Reproducer;

pub use crate::rewrite::{Change, Rewriter};

/// A pass as the user knows it.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Name in pipelines, and flag of `ir-opt`.
    pub name: &'static str,
    /// Name in reports, as upstream's.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What can be set in the pipeline: `name{a=b c=d}`.
    pub options: &'static [PassOption],
    /// What it counts: name and explanation.
    pub statistics: &'static [(&'static str, &'static str)],
    /// What it does to the op that the rewriter is for.
    pub run: fn(&mut Rewriter<'_>, &PassCx<'_>) -> Change,
}

/// Something that can be set.
#[derive(Clone, Copy, Debug)]
pub struct PassOption {
    /// Its name.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What it may be, and its default.
    pub kind: OptionKind,
}

/// What an option may be; each with its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(i64),
    /// A text.
    Text(&'static str),
    /// One of the words.
    Word(&'static str, &'static [&'static str]),
}

impl OptionKind {
    /// The value if nothing is said.
    pub fn default_value(self) -> OptionValue {
        match self {
            OptionKind::Flag(on) => OptionValue::Flag(on),
            OptionKind::Number(n) => OptionValue::Number(n),
            OptionKind::Text(text) | OptionKind::Word(text, _) => OptionValue::Text(text.to_owned()),
        }
    }
}

impl Pass {
    /// Whether it has this name, here or in TFRT.
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.name == "print-stream" && name == "tfrt-print-stream"
    }
}
