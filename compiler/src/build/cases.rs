//! A chain of conditionals on one integer becomes one selection.
//!
//! ```text
//! tf.IfRegion(x == 4) ({A}, {                                i = x - 4
//!     tf.IfRegion(x == 5) ({B}, {C})            ──▶          tf.CaseRegion(i) ({A}, {B}, {C})
//! })
//! ```
//!
//! A condition is a comparison of the integer, a scalar, with a constant, or the disjunction of several, by
//! an operator or a conditional. If each condition has one constant, and the constants follow each other,
//! the index is a difference. Otherwise it is selected by the conditions, of which the first that holds
//! counts.
//!
//! What stands beside the inner conditional in a chain must be constants and conditions of the chain: they
//! move in front of the selection, where they cannot fail and cost next to nothing.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};
use rustc_hash::FxHashSet;

use super::{Builder, Refusal, query};
use crate::dialects::tf::operator;
use crate::ir::{BlockId, Module, OpId, TypeId, ValueId};
use crate::rewrite::{InsertionPoint, Rewriter};

const IF: &str = "tf.IfRegion";
const CASE: &str = "tf.CaseRegion";
const YIELD: &str = "tf.Yield";

/// One conditional of a chain.
struct Link {
    op: OpId,
    condition: ValueId,
    /// The constants, of which one equals the integer where the condition holds.
    constants: Vec<i64>,
}

/// Forms selections of all chains of two conditionals and more.
pub(super) fn form_cases(r: &mut Rewriter<'_>) {
    let m = r.ir();
    let mut conditionals: Vec<OpId> = m.walk(r.root()).filter(|&op| m.op_name_str(op) == IF).collect();
    // The inner ones of a chain follow the outer ones, and are erased with them.
    conditionals.reverse();
    let mut taken: FxHashSet<OpId> = FxHashSet::default();
    while let Some(op) = conditionals.pop() {
        if taken.contains(&op) {
            continue;
        }
        let Some((subject, chain)) = chain_of(r.ir(), op).filter(|(_, chain)| chain.len() > 1) else {
            continue;
        };
        taken.extend(chain.iter().map(|link| link.op));
        let moved = move_conditions(r, &chain);
        let (order, least) = order_of(r.ir(), subject, &chain);
        let before = r.checkpoint();
        let b = &mut Builder::before(r, op);
        let index = match least {
            Some(least) => difference(b, subject, least, chain.len()),
            None => selected(b, &chain),
        };
        match index {
            Ok(index) => {
                form_case(r, index, &chain, &order);
                // A difference needs no comparisons.
                moved.into_iter().rev().for_each(|op| r.erase_if_unused(op));
            }
            Err(_) => r.rollback(before),
        }
    }
}

/// The chain that starts with a conditional, and the integer that it compares.
fn chain_of(m: &Module, first: OpId) -> Option<(ValueId, Vec<Link>)> {
    let subject = compared(m, m.operand(first, 0), &mut Vec::new())?;
    let mut chain = Vec::new();
    let mut next = Some(first);
    while let Some(op) = next {
        let (condition, mut constants) = (m.operand(op, 0), Vec::new());
        if compared(m, condition, &mut constants) != Some(subject) {
            break;
        }
        chain.push(Link { op, condition, constants });
        next = alone_in(m, otherwise(m, op));
    }
    Some((subject, chain))
}

/// The block of a conditional for a condition that does not hold.
fn otherwise(m: &Module, op: OpId) -> BlockId {
    block_of(m, op, 1)
}

fn block_of(m: &Module, op: OpId, region: usize) -> BlockId {
    m.blocks_of(m.regions_of(op)[region])[0]
}

/// The integer that a condition compares with constants, which are appended.
fn compared(m: &Module, condition: ValueId, constants: &mut Vec<i64>) -> Option<ValueId> {
    if let Some((a, b)) = alternatives(m, condition) {
        let subject = compared(m, a, constants)?;
        return (compared(m, b, constants)? == subject).then_some(subject);
    }
    let op = query::producer_if(m, condition, &[Op::Equal])?;
    let (a, b) = (m.operand(op, 0), m.operand(op, 1));
    let is_scalar = |value| query::dims(m, value).is_some_and(<[i64]>::is_empty);
    let (subject, constant) = match (integer(m, a), integer(m, b)) {
        (None, Some(constant)) => (a, constant),
        (Some(constant), None) => (b, constant),
        _ => return None,
    };
    constants.push(constant);
    (is_scalar(a) && is_scalar(b)).then_some(subject)
}

/// The conditions `a` and `b` of `a or b`: of an operator, or of a conditional that evaluates `b` if `a` does
/// not hold.
fn alternatives(m: &Module, condition: ValueId) -> Option<(ValueId, ValueId)> {
    if let Some(op) = query::producer_if(m, condition, &[Op::LogicalOr]) {
        return Some((m.operand(op, 0), m.operand(op, 1)));
    }
    let op = m.defining_op(condition).filter(|&op| m.op_name_str(op) == IF)?;
    let yielded = |region| {
        let end = m.last_op(block_of(m, op, region))?;
        (m.n_operands(end) == 1).then(|| m.operand(end, 0))
    };
    let (first, holds, other) = (m.operand(op, 0), yielded(0)?, yielded(1)?);
    let is_constant = || query::dtype(m, holds) == Some(DType::I1) && query::splat(m, holds) == Some(1.0);
    let is_true = holds == first || is_constant();
    let is_movable =
        |region| m.ops_in(block_of(m, op, region)).all(|op| m.op_name_str(op) == YIELD || can_move(m, op));
    (is_true && is_movable(0) && is_movable(1)).then_some((first, other))
}

/// The value of a constant of an integer type.
fn integer(m: &Module, value: ValueId) -> Option<i64> {
    if let Some(ints) = query::ints(m, value) {
        return ints.first().copied();
    }
    // Of the narrow types, and those of the wide ones that a double has exactly.
    let exact = |number: &f64| number.fract() == 0.0 && number.abs() < (1u64 << 53) as f64;
    let is_integer = matches!(
        query::dtype(m, value)?,
        DType::I8 | DType::I16 | DType::UI8 | DType::UI16 | DType::UI32 | DType::UI64
    );
    query::splat(m, value).filter(|number| is_integer && exact(number)).map(|number| number as i64)
}

/// The only conditional of a block, if the rest can move before the op that owns the block.
fn alone_in(m: &Module, block: BlockId) -> Option<OpId> {
    let mut found = None;
    for op in m.ops_in(block) {
        match m.op_name_str(op) {
            YIELD => {}
            _ if can_move(m, op) => {}
            IF if found.is_none() => found = Some(op),
            _ => return None,
        }
    }
    found
}

/// True for a constant and a part of a condition.
fn can_move(m: &Module, op: OpId) -> bool {
    if m.op_name_str(op) == IF {
        return m.n_results(op) == 1 && compared(m, m.result(op, 0), &mut Vec::new()).is_some();
    }
    query::has_no_edges(m, op)
        && match operator(m, op) {
            Some(Op::Const) => true,
            Some(Op::Equal | Op::LogicalOr) => compared(m, m.result(op, 0), &mut Vec::new()).is_some(),
            _ => false,
        }
}

/// Moves what stands beside the inner conditionals before the first one. Returns these ops, in their order.
fn move_conditions(r: &mut Rewriter<'_>, chain: &[Link]) -> Vec<OpId> {
    let m = r.ir();
    let blocks = chain[..chain.len() - 1].iter().map(|link| otherwise(m, link.op));
    let moved: Vec<OpId> = blocks.flat_map(|block| m.ops_in(block)).filter(|&op| can_move(m, op)).collect();
    for &op in &moved {
        r.move_to(op, InsertionPoint::Before(chain[0].op));
    }
    moved
}

/// Replaces a chain by a selection whose branches are the links in this order.
fn form_case(r: &mut Rewriter<'_>, index: ValueId, chain: &[Link], order: &[usize]) {
    let (first, last) = (chain[0].op, chain[chain.len() - 1].op);
    let m = r.ir();
    let yielded = yielded_for_first(m, chain);
    let types: Vec<TypeId> = m.results(first).map(|value| m.value_type(value)).collect();
    let loc = m.loc(first);
    let case = r.create_named(InsertionPoint::Before(first), loc, CASE, &[index], &types, &[]);
    let blocks = order.iter().map(|&i| (chain[i].op, 0, i)).chain([(last, 1, chain.len())]);
    for (op, region, values) in blocks {
        let m = r.ir();
        let from = m.regions_of(op)[region];
        if let Some(end) = m.last_op(block_of(m, op, region)) {
            r.set_operands(end, &yielded[values]);
        }
        let to = r.add_region(case);
        r.move_blocks(from, to);
    }
    let results: Vec<ValueId> = r.ir().results(case).collect();
    r.replace_op(first, &results);
}

/// The order of a chain's branches, and the least constant if the index is the difference from it: each
/// link has one constant, and in this order they follow each other.
fn order_of(m: &Module, subject: ValueId, chain: &[Link]) -> (Vec<usize>, Option<i64>) {
    let as_written: Vec<usize> = (0..chain.len()).collect();
    let mut order = as_written.clone();
    order.sort_by_key(|&i| chain[i].constants[0]);
    let constants: Vec<i64> = order.iter().map(|&i| chain[i].constants[0]).collect();
    let follow = constants.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    let has_difference = matches!(query::dtype(m, subject), Some(DType::I32 | DType::I64));
    match has_difference && follow && chain.iter().all(|link| link.constants.len() == 1) {
        true => (order, Some(constants[0])),
        false => (as_written, None),
    }
}

/// `subject - least` as the index of a selection of `n` branches and a last one. A difference that wraps
/// around is out of range still, since the subtraction is one to one.
fn difference(b: &mut Builder<'_, '_>, subject: ValueId, least: i64, n: usize) -> Result<ValueId, Refusal> {
    let dtype = query::dtype(b.ir(), subject).unwrap_or(DType::I64);
    let mut index = subject;
    if least != 0 {
        let least = b.ints_of_shape(&[least], &[], dtype)?;
        index = b.one(Op::Sub, &[index, least])?;
    }
    if dtype == DType::I64 {
        for (operator, bound) in [(Op::Maximum, -1), (Op::Minimum, n as i64)] {
            let bound = b.ints_of_shape(&[bound], &[], dtype)?;
            index = b.one(operator, &[index, bound])?;
        }
        let narrow = Type::Dense(DType::I32);
        index = b.op(Op::Cast, &[index]).ty("DstT", narrow).elements(&[narrow]).one()?;
    }
    Ok(index)
}

/// The number of the first condition that holds, or the number of conditions.
fn selected(b: &mut Builder<'_, '_>, chain: &[Link]) -> Result<ValueId, Refusal> {
    let mut index = b.ints_of_shape(&[chain.len() as i64], &[], DType::I32)?;
    for (i, link) in chain.iter().enumerate().rev() {
        let number = b.ints_of_shape(&[i as i64], &[], DType::I32)?;
        index = b.one(Op::SelectV2, &[link.condition, number, index])?;
    }
    Ok(index)
}

/// The values of the first conditional's results in the branch of each link, and in the last one's other
/// branch.
fn yielded_for_first(m: &Module, chain: &[Link]) -> Vec<Vec<ValueId>> {
    let ends = |op: OpId, region: usize| -> Vec<ValueId> {
        m.last_op(block_of(m, op, region)).map_or_else(Vec::new, |end| m.operands(end).collect())
    };
    /// A result of the first conditional, as seen in a block.
    #[derive(Clone, Copy)]
    enum Yielded {
        /// This result of the conditional that the block belongs to.
        Result(usize),
        Value(ValueId),
    }
    let mut sources: Vec<Yielded> = (0..m.n_results(chain[0].op)).map(Yielded::Result).collect();
    let values = |sources: &[Yielded], yielded: &[ValueId]| -> Vec<ValueId> {
        let value = |source: &Yielded| match *source {
            Yielded::Result(i) => yielded[i],
            Yielded::Value(value) => value,
        };
        sources.iter().map(value).collect()
    };
    let mut found = Vec::with_capacity(chain.len() + 1);
    for (i, link) in chain.iter().enumerate() {
        found.push(values(&sources, &ends(link.op, 0)));
        let others = values(&sources, &ends(link.op, 1));
        match chain.get(i + 1) {
            None => found.push(others),
            Some(inner) => {
                let of_inner = |value| m.results(inner.op).position(|result| result == value);
                let source = |value| of_inner(value).map_or(Yielded::Value(value), Yielded::Result);
                sources = others.into_iter().map(source).collect();
            }
        }
    }
    found
}
