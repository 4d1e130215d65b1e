//! Stream analysis: which kernels of a function are worth running at the same time.
//!
//! A stream is a set of kernels that one thread runs, without a task for each. The analysis is TFRT's:
//!
//! ```text
//!   root (the call) ─┬─▶ a ──▶ b ──▶ return      forward: every op hangs from the operand that is there last (by cost), else from the root
//!                    └─▶ c ──▶ d                 backward: a leaf begins a stream; an op joins that of a child, when small ones have been
//!                                                merged: stream 0 = {root a b return}, stream 1 = {c d}, a child of stream 0
//! ```
//!
//! Which streams are small:
//! * with the attribute `tfrt.cost_threshold = N` of the function or else the module: those that cost less than N.
//! * without, or if N is not positive: those that, begun at the op, would end before the longest path through the function does. To run two
//!   of them one after the other takes no longer than to run them side by side.
//!
//! `tfrt.merge_inter_dependent_streams` merges small ones of an op's children into those that they depend on or that depend on them by more than
//! chains, before other small ones; with `tfrt.upper_cost_threshold = N` no op joins a stream that costs N already, but begins one.
//!
//! [`Streams`] is what TFRT would print. What is stored in a BEF file is [`Analysis::stored`], without streams that are not worth a task if
//! nobody has asked for a threshold, and numbered without gaps; of bodies of loops whose iterations overlap, [`Analysis::stored_of_body`] has more ([`Loops`]). The text never names streams: they are found anew whenever BEF is made.
//!
//! Not here: regions (each is a function of its own; its options are its function's), and whether streams are obeyed (the executor).

mod analysis;
mod loops;
mod stored;
#[cfg(test)]
mod tests;

pub use analysis::Analysis;
pub use loops::Loops;

use crate::dialects::Cost;
use crate::ir::{Module, OpId, names};

/// What a function or its module can ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// The cost of a stream that is not small; none: by the longest path.
    pub threshold: Option<i64>,
    /// The cost of a stream that no op joins.
    pub upper_threshold: Option<i64>,
    /// Merge streams that depend on one another.
    pub merge_inter_dependent: bool,
    /// Store what the analysis finds, though a stream may be too small to be worth a task: TFRT's order on one thread.
    pub stores_all: bool,
}

impl StreamOptions {
    /// Those of a function, from its attributes and those of what it is in.
    pub fn of_function(m: &Module, function: OpId) -> StreamOptions {
        let attr = |name: &str| {
            let on = |op: OpId| m.attr_named(op, name);
            on(function).or_else(|| on(m.parent_op(function)?))
        };
        let positive = |name: &str| m.cx.as_int(attr(name)?).filter(|&n| n > 0);
        let threshold = positive("tfrt.cost_threshold");
        StreamOptions {
            threshold,
            upper_threshold: positive("tfrt.upper_cost_threshold"),
            merge_inter_dependent: positive("tfrt.merge_inter_dependent_streams").is_some(),
            stores_all: threshold.is_some(),
        }
    }

    /// What an op costs. What nobody has said costs as much as the threshold.
    fn cost(&self, m: &Module, op: OpId) -> i64 {
        // What does not fit the record of a kernel is no cost.
        let fits = |cost: &i64| *cost > 0 && u32::try_from(*cost).is_ok();
        let said = || m.cx.as_int(m.attr(op, names::TFRT_COST)?).filter(fits);
        match m.def(op).map(|def| def.cost) {
            Some(Cost::Fixed(cost)) => i64::from(cost),
            Some(Cost::Unknown | Cost::Small | Cost::Large) | None => said().or(self.threshold).unwrap_or(1),
        }
    }
}

/// A stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Its number in TFRT, where numbers of streams that were merged into others are missing.
    pub number: u32,
    /// What its ops cost; that of stream 0 includes the root.
    pub cost: i64,
    /// The stream that it is started from, and at which op of it: its position, or none for the root. Stream 0 has no parent.
    pub parent: Option<(u32, Option<u32>)>,
}

/// The streams of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// By the position of the op in its block.
    of: Vec<u32>,
    /// By id. Stream 0 has the root, and the return unless there is an upper threshold.
    streams: Vec<Stream>,
    /// All but stream 0: where they are started, and which they are; by place, then in the order of their first ops.
    starts: Vec<(Option<u32>, u32)>,
}

impl Streams {
    /// The stream of the op at a position in the block.
    pub fn of(&self, position: usize) -> u32 {
        self.of.get(position).copied().unwrap_or(0)
    }

    /// A stream.
    pub fn stream(&self, id: u32) -> Option<Stream> {
        self.streams.get(id as usize).copied()
    }

    /// The streams that are started at an op, or at the root.
    pub fn started_at(&self, position: Option<u32>) -> impl Iterator<Item = u32> {
        let first = self.starts.partition_point(|&(at, _)| at < position);
        let rest = self.starts.get(first..).unwrap_or_default().iter();
        rest.take_while(move |(at, _)| *at == position).map(|&(_, id)| id)
    }
}
