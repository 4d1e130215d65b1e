//! The choice of the forward values that a backward function is given, and of those that it computes again: a
//! minimum cut.
//!
//! ```text
//! read by backward ops ──(ops that are cheap to repeat)──▶ arguments, products, reductions, effects
//!                        └─ the cheapest set in between ─┘ is kept
//! ```
//!
//! A kept value costs its bytes; an unknown size counts as large. Free values (arguments that live anyway)
//! cost nothing. Ops that are cheap to repeat are constants, the elementwise ones, and those that move
//! elements or describe shapes. Of equal cuts the one nearest to the readers is taken, which repeats the
//! fewest ops.
//!
//! The attribute `bef.recompute` of a function, or of the call, branch or loop, says otherwise: `none`
//! repeats constants only, `all` repeats all ops without effects, calls and loops too, and keeps nothing but
//! arguments and what others make.

use befrost_tensor::tf::op::{Effect, Op, OpRow, Traits};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::build::query;
use crate::dialects::tf;
use crate::graph::cut::{Graph, INFINITE, SINK, SOURCE};
use crate::ir::{KnownType, Module, OpId, ValueId};

/// The ops that a backward function computes again, rather than being given their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recompute {
    /// Constants.
    None,
    /// Those that are cheap to repeat.
    Cheap,
    /// Everything without effects.
    All,
}

impl Recompute {
    /// All of them.
    pub const ALL: [Recompute; 3] = [Recompute::None, Recompute::Cheap, Recompute::All];

    /// The name in the attribute `bef.recompute`.
    pub fn name(self) -> &'static str {
        match self {
            Recompute::None => "none",
            Recompute::Cheap => "cheap",
            Recompute::All => "all",
        }
    }

    /// The choice of this name.
    pub fn parse(name: &str) -> Option<Recompute> {
        Recompute::ALL.into_iter().find(|of| of.name() == name)
    }
}

/// The cost of a value of unknown size.
const LARGE: u64 = 1 << 32;

/// The forward values that a backward function reads.
pub(super) struct Kept {
    /// Values that the forward function hands over, in the order of the program.
    pub values: Vec<ValueId>,
    /// Free values that are read, in the order in which they were found.
    pub free: Vec<ValueId>,
    /// Ops that are computed again, in order.
    pub again: Vec<OpId>,
}

/// Divides the values `read` by backward ops into kept and repeated ones; `forward` are the forward ops, in
/// order.
pub(super) fn choose(
    m: &Module,
    forward: &[OpId],
    read: &[ValueId],
    is_free: impl Fn(ValueId) -> bool,
    recompute: Recompute,
    calls_pure: impl Fn(OpId) -> bool,
) -> Kept {
    let mut known: FxHashMap<OpId, bool> = FxHashMap::default();
    let mut repeatable = |m: &Module, value: ValueId| {
        let op = m.defining_op(value)?;
        let is = *known.entry(op).or_insert_with(|| may_repeat(m, op, recompute, &calls_pure));
        is.then_some(op)
    };
    let mut graph = Graph::new();
    // The two nodes of a value: its readers' side and its operands' side. The edge between them is the value.
    let mut nodes: FxHashMap<ValueId, (usize, usize)> = FxHashMap::default();
    let mut order = Vec::new();
    let mut todo: Vec<ValueId> = read.iter().rev().copied().collect();
    while let Some(value) = todo.pop() {
        if nodes.contains_key(&value) {
            continue;
        }
        nodes.insert(value, (graph.add_node(), graph.add_node()));
        order.push(value);
        if let Some(op) = repeatable(m, value).filter(|_| !is_free(value)) {
            todo.extend(m.operands(op));
        }
    }
    for &value in &order {
        let (reader, source) = nodes[&value];
        if is_free(value) {
            continue;
        }
        let again = repeatable(m, value);
        let is_kept = again.is_none() || recompute != Recompute::All;
        graph.add_edge(reader, source, if is_kept { cost(m, value) } else { INFINITE }, 0);
        match again {
            Some(op) => {
                m.operands(op).for_each(|operand| graph.add_edge(source, nodes[&operand].0, INFINITE, 0));
            }
            None => graph.add_edge(source, SINK, INFINITE, 0),
        }
    }
    for value in read {
        graph.add_edge(SOURCE, nodes[value].0, INFINITE, 0);
    }
    let sides = graph.cut();
    let (mut values, mut free, mut again) = (FxHashSet::default(), Vec::new(), FxHashSet::default());
    for &value in &order {
        let (reader, source) = nodes[&value];
        let (is_read, is_repeated) = match &sides {
            Some(sides) => (sides[reader], sides[source]),
            // No cut within the budget: the values that are read are kept.
            None => (read.contains(&value), false),
        };
        match (is_read, is_repeated) {
            (true, _) if is_free(value) => free.push(value),
            (true, false) => _ = values.insert(value),
            (true, true) => again.extend(m.defining_op(value)),
            (false, _) => {}
        }
    }
    let made = forward.iter().flat_map(|&op| m.results(op));
    let args = order.iter().copied().filter(|&value| m.defining_op(value).is_none());
    Kept {
        values: args.chain(made).filter(|value| values.contains(value)).collect(),
        free,
        again: forward.iter().copied().filter(|op| again.contains(op)).collect(),
    }
}

/// The bytes of a value.
fn cost(m: &Module, value: ValueId) -> u64 {
    let ty = m.value_type(value);
    if ty == KnownType::Chain.id() {
        return INFINITE;
    }
    query::bytes_of(m, ty).map_or(LARGE, |bytes| (bytes as u64).clamp(1, LARGE))
}

/// True if an op may be computed again. `calls_pure` tells whether the functions that it calls have no
/// effects.
fn may_repeat(m: &Module, op: OpId, recompute: Recompute, calls_pure: impl Fn(OpId) -> bool) -> bool {
    let Some(row) = tf::row(m, op) else { return false };
    let may_repeat = match recompute {
        Recompute::None => row.is_pure_function() && row.has(Traits::CONSTANT),
        Recompute::Cheap => row.is_pure_function() && is_cheap(row),
        Recompute::All => is_repeatable(m, op) && calls_pure(op),
    };
    may_repeat && query::has_no_edges(m, op)
}

fn is_cheap(row: &OpRow) -> bool {
    let moves = row.op.is_some_and(|op| {
        matches!(
            op,
            Op::Const
                | Op::Cast
                | Op::BroadcastTo
                | Op::Shape
                | Op::ShapeN
                | Op::Size
                | Op::Rank
                | Op::Fill
                | Op::ZerosLike
                | Op::OnesLike
                | Op::Transpose
                | Op::Range
                | Op::SelectV2
                | Op::BroadcastGradientArgs
                | Op::BroadcastArgs
                | Op::StridedSlice
                | Op::Pack
                | Op::ConcatOffset
        )
    });
    moves || row.has(Traits::ELEMENTWISE) || row.has(Traits::VIEW) || row.has(Traits::CONSTANT)
}

/// True if an op gives the same results each time and has no effect, but for those of functions that it
/// calls.
pub(super) fn is_repeatable(m: &Module, op: OpId) -> bool {
    tf::row(m, op).is_some_and(|row| {
        let is_pure = row.effect() == Effect::Pure && !row.has(Traits::FOREIGN);
        is_pure || tf::Control::of(m, op).is_some()
    })
}
