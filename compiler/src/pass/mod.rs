//! Passes and pipelines.
//!
//! A pass is a function over one op (a module or a function) that changes the IR through a [`Rewriter`] and says
//! whether it did. A [`PassManager`] is a pipeline in MLIR's textual form: `builtin.module(func.func(dce),strip-debuginfo)`
//! runs `dce` on each function directly inside the module, then `strip-debuginfo` on the module. Passes collect what
//! they want to change and then change it, so that nothing is walked while it moves.
//!
//! The list of passes is [`passes`]; a new pass is one entry there.

mod dce;
mod manager;
mod pipeline;
mod strip;
#[cfg(test)]
mod tests;

pub use manager::{Event, PassManager, RunOptions};

use crate::ir::{LocId, Module, OpId, ValueId};

/// Did a pass change anything?
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The IR is as it was.
    Unchanged,
    /// The IR is different.
    Changed,
}

impl Change {
    /// Changed if either is.
    pub fn or(self, other: Change) -> Change {
        if self == Change::Changed { self } else { other }
    }
}

/// A pass as the user knows it.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Name in pipelines, and flag of `ir-opt`.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What it does to the op that the rewriter is for.
    pub run: fn(&mut Rewriter<'_>) -> Change,
}

/// All passes, sorted by name.
pub fn passes() -> &'static [Pass] {
    const PASSES: &[Pass] = &[
        Pass {
            name: "dce",
            summary: "removes operations whose results nobody uses and that have no effects",
            run: dce::run,
        },
        Pass { name: "strip-debuginfo", summary: "makes all locations unknown", run: strip::run },
    ];
    PASSES
}

/// The pass called `name`.
pub fn find(name: &str) -> Option<&'static Pass> {
    passes().iter().find(|p| p.name == name)
}

/// The only way in which a pass changes the IR.
pub struct Rewriter<'m> {
    module: &'m mut Module,
    root: OpId,
    change: Change,
}

impl<'m> Rewriter<'m> {
    /// For changes inside of `root`.
    pub fn new(module: &'m mut Module, root: OpId) -> Self {
        Rewriter { module, root, change: Change::Unchanged }
    }

    /// The IR, to look at.
    pub fn ir(&self) -> &Module {
        self.module
    }

    /// The op that the pass runs on.
    pub fn root(&self) -> OpId {
        self.root
    }

    /// Was anything changed so far?
    pub fn change(&self) -> Change {
        self.change
    }

    /// Erases an op, whose results must be unused.
    pub fn erase(&mut self, op: OpId) {
        self.module.erase(op);
        self.change = Change::Changed;
    }

    /// Makes every user of `old` use `new`.
    pub fn replace(&mut self, old: ValueId, new: ValueId) {
        if !self.module.is_unused(old) {
            self.module.replace_all_uses(old, new);
            self.change = Change::Changed;
        }
    }

    /// Changes the location of an op.
    pub fn set_loc(&mut self, op: OpId, loc: LocId) {
        if self.module.loc(op) != loc {
            self.module.set_loc(op, loc);
            self.change = Change::Changed;
        }
    }

    /// Changes the location of a block argument.
    pub fn set_arg_loc(&mut self, arg: ValueId, loc: LocId) {
        if self.module.value_locs.at(arg).copied().unwrap_or(LocId::UNKNOWN) != loc {
            self.module.value_locs.set(arg, loc);
            self.change = Change::Changed;
        }
    }
}
