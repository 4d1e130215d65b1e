//! Stream analysis: groups the kernels of a function into streams that are worth running in parallel.
//!
//! A stream is a set of kernels that one thread runs, without a task for each. The analysis is TFRT's:
//!
//! ```text
//! root (the call) ─┬─▶ a ──▶ b ──▶ return        stream 0 = {root a b return}
//!                  └─▶ c ──▶ d                   stream 1 = {c d}, a child of stream 0
//!
//! forward:   the parent of an op is the definition of its last available operand (by cost, then the first
//!            one); the root for an argument and for an op without operands
//! backward:  a leaf begins a stream; an op joins the stream of a child, after small ones have been merged
//! ```
//!
//! At the op where streams meet, a stream is small:
//! * with the attribute `tfrt.cost_threshold = N` of the function or else the module: if it costs less than
//!   N. Small streams are merged until they cost N. The op joins one that is left.
//! * without it, or if N is not positive: if, begun at the op, it would end before the longest path through
//!   the function does. Two small streams are merged if that is true of both in sequence, which then takes no
//!   longer than running them in parallel. The others stay apart.
//!
//! An argument is available with the root, at the cost 1. An op without operands does not even wait for the
//! root.
//!
//! `tfrt.merge_inter_dependent_streams` merges streams of an op's children that cost less than N, or than the
//! longest path, into small streams with a data dependence (not only by chains) between them, before other
//! small ones. With `tfrt.upper_cost_threshold = N` no op joins a stream with a cost of N or more; it begins
//! a new one instead.
//!
//! [`Streams`] is the result that TFRT would print. A BEF file stores [`Analysis::stored`], without streams
//! that are not worth a task (unless a threshold is set), and numbered without gaps. No small stream stays
//! apart there: a function in which it did would lose its sequential plan.
//! [`Analysis::stored_of_body`] adds streams in bodies of loops with overlapping iterations ([`Loops`]). The
//! text of a program does not contain streams: they are recomputed at each emission.
//!
//! Not here: regions (each is a function of its own, with the options of its module), and execution of
//! streams (the executor).

mod analysis;
mod loops;
mod stored;
#[cfg(test)]
mod tests;

pub use analysis::Analysis;
pub use loops::Loops;

use crate::dialects::Cost;
use crate::ir::{Module, OpId, names};

/// Options of stream analysis, from attributes of a function or its module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// The least cost of a stream that is not small; `None`: by the longest path.
    pub threshold: Option<i64>,
    /// The cost from which on no op joins a stream.
    pub upper_threshold: Option<i64>,
    /// Merge streams that depend on one another.
    pub merge_inter_dependent: bool,
    /// Without a threshold, too, merge small streams as long as one of them is small, and the op joins one
    /// that is left: fewer tasks than TFRT's.
    pub merges_left_over: bool,
    /// Store all streams of the analysis, even if too small to be worth a task: TFRT's order on one thread.
    pub stores_all: bool,
}

impl StreamOptions {
    /// The options of a function: from its own attributes, else from those of its module.
    pub fn of_function(m: &Module, function: OpId) -> StreamOptions {
        StreamOptions::read(m, &[Some(function), m.parent_op(function)])
    }

    /// The options of a region of an op that is no function: from the attributes of its module.
    pub fn of_region(m: &Module, owner: OpId) -> StreamOptions {
        StreamOptions::read(m, &[m.ancestors(owner).find(|&op| m.is(op, names::BUILTIN_MODULE))])
    }

    /// Reads each option from the first of the ops that has its attribute.
    fn read(m: &Module, ops: &[Option<OpId>]) -> StreamOptions {
        let attr = |name: &str| ops.iter().flatten().find_map(|&op| m.attr_named(op, name));
        let positive = |name: &str| m.cx.as_int(attr(name)?).filter(|&n| n > 0);
        let threshold = positive("tfrt.cost_threshold");
        StreamOptions {
            threshold,
            upper_threshold: positive("tfrt.upper_cost_threshold"),
            merge_inter_dependent: positive("tfrt.merge_inter_dependent_streams").is_some(),
            merges_left_over: false,
            stores_all: threshold.is_some(),
        }
    }

    /// The cost of an op. An unknown cost counts as the threshold.
    fn cost(&self, m: &Module, op: OpId) -> i64 {
        // A number that does not fit the record of a kernel is no cost.
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
    /// Its number in TFRT, which skips the numbers of merged streams.
    pub number: u32,
    /// The cost of its ops; that of stream 0 includes the root.
    pub cost: i64,
    /// The stream that starts it, and the position of the starting op there, or `None` for the root. Stream 0
    /// has no parent.
    pub parent: Option<(u32, Option<u32>)>,
}

/// The streams of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// Stream ids by the position of the op in its block.
    of: Vec<u32>,
    /// Streams by id. Stream 0 contains the root, and the return unless there is an upper threshold.
    streams: Vec<Stream>,
    /// All streams but stream 0 with the position where they are started, sorted by position, then by their
    /// first ops.
    starts: Vec<(Option<u32>, u32)>,
}

impl Streams {
    /// The stream of the op at a position in the block.
    pub fn of(&self, position: usize) -> u32 {
        self.of.get(position).copied().unwrap_or(0)
    }

    /// The stream with this id.
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
