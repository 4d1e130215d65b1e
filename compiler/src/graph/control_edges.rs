//! `tf-prune-control-edges`: removes control edges from operators that neither fail nor have effects.
//!
//! ```text
//! %w, %ch = tf.Identity(%const)                         %w = tf.Identity(%const)
//! %y = tf.MatMul(%x, %w)                        ──▶     %y = tf.MatMul(%x, %w)
//! %z = tf.Identity(%y, %ch)                             %z = tf.Identity(%y)
//! ```
//!
//! Such an edge makes its target wait for an op that always succeeds and changes nothing. It keeps both ends
//! from being folded and fused. Frozen Keras models have an edge from each weight to the result.
//!
//! An op is *certain* if it is pure and total (`rewrite/effects.rs`) and waits for certain ops only, through
//! data and control edges. Hence its completion is neither an error nor dead. Arguments of functions are not
//! certain. Edges whose target uses the chain as data (`return`, calls) stay.
//!
//! An edge to a constant is also removed if every reader of the constant depends on the source of the edge
//! anyway. That is so in the loops and conditionals of TensorFlow 1:
//!
//! ```text
//! %i1, %ch = tf.Identity(%i)        dead in iterations that do not run
//! %one = tf.Const(%ch)              needs no edge,
//! %next = tf.AddV2(%i1, %one)       because this is dead with %i1 alone
//! ```
//!
//! The source of an edge may also be the predicate on one way of its own Switch (`Switch(%p, %p)`), if the
//! reader depends on another value on the same way.

use befrost_tensor::tf::op::{Op, Traits};
use rustc_hash::FxHashSet;

use super::effects::{body, functions};
use crate::dialects::tf;
use crate::ir::{KnownType, Module, OpId, TypeId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::{is_speculatable, is_total, is_trivially_dead};

pub(crate) const PASS: Pass = Pass {
    name: "tf-prune-control-edges",
    title: "TFPruneControlEdges",
    summary: "removes control edges from operators that neither fail nor have effects",
    options: &[],
    statistics: &[("num-removed", "Number of control edges removed")],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    for function in functions(r.ir()).into_values() {
        let ops = body(r.ir(), function);
        let n_edges = prune_constants(r, &ops);
        let ops = body(r.ir(), function);
        cx.count("num-removed", n_edges + prune(r, &ops));
    }
    r.change()
}

/// Removes the edges from and to the ops of a function, which are in the order of execution. Returns their
/// number.
fn prune(r: &mut Rewriter<'_>, ops: &[OpId]) -> u64 {
    let mut certain: FxHashSet<OpId> = FxHashSet::default();
    let mut n_removed = 0;
    for &op in ops {
        let m = r.ir();
        let is_certain = |value: ValueId| m.defining_op(value).is_some_and(|op| certain.contains(&op));
        let first_edge = match is_merge(m, op) {
            true => 0,
            false if tf::row(m, op).is_some() => tf::n_data_operands(m, op),
            false => m.n_operands(op),
        };
        let operands: Vec<ValueId> = m.operands(op).collect();
        let is_pruned =
            |(i, value): (usize, ValueId)| i >= first_edge && is_chain(m, value) && is_certain(value);
        let kept: Vec<ValueId> = operands
            .iter()
            .copied()
            .enumerate()
            .filter(|&edge| !is_pruned(edge))
            .map(|(_, value)| value)
            .collect();
        if kept.iter().all(|&value| is_certain(value)) && (is_merge(m, op) || never_fails(m, op)) {
            certain.insert(op);
        }
        // A merge of nothing is no op: it goes when nothing uses it.
        if kept.len() < operands.len() && !(is_merge(m, op) && kept.is_empty()) {
            n_removed += (operands.len() - kept.len()) as u64;
            r.set_operands(op, &kept);
        }
    }
    for &op in ops.iter().rev() {
        if is_merge(r.ir(), op) && is_trivially_dead(r.ir(), op) {
            r.erase(op);
        } else if certain.contains(&op) {
            drop_completion(r, op);
        }
    }
    n_removed
}

/// Limit on the number of ops through which the dependence of a reader is searched.
const MAX_DEPTH: u32 = 8;

/// Removes the edges to constants whose readers depend on the edge's source anyway. Returns their number.
fn prune_constants(r: &mut Rewriter<'_>, ops: &[OpId]) -> u64 {
    let mut n_removed = 0;
    for &op in ops {
        let m = r.ir();
        if tf::operator(m, op) != Some(Op::Const) || m.n_operands(op) == 0 {
            continue;
        }
        let Some(constant) = m.results(op).next() else { continue };
        let is_read_as_data = m.results(op).skip(1).all(|completion| m.is_unused(completion));
        let is_implied = |edge: ValueId| {
            let Some(source) = m.defining_op(edge).filter(|&source| is_strict(m, source)) else {
                return false;
            };
            let way = way_of_predicate(m, source);
            let is_as_dead = |value: ValueId| {
                m.defining_op(value) == Some(source) || way.is_some() && way_of(m, value) == way
            };
            let depends = |user: OpId| {
                is_strict(m, user)
                    && m.operands(user)
                        .any(|other| other != constant && is_behind(m, other, &is_as_dead, MAX_DEPTH))
            };
            m.users(constant).all(|(user, _)| depends(user))
        };
        let kept: Vec<ValueId> =
            m.operands(op).filter(|&edge| !is_read_as_data || !is_implied(edge)).collect();
        if kept.len() < m.n_operands(op) {
            n_removed += (m.n_operands(op) - kept.len()) as u64;
            r.set_operands(op, &kept);
        }
    }
    for &op in ops.iter().rev() {
        if n_removed > 0 && is_strict(r.ir(), op) {
            drop_completion(r, op);
        }
    }
    n_removed
}

/// True for an operator that is dead or an error if an operand is.
fn is_strict(m: &Module, op: OpId) -> bool {
    tf::row(m, op).is_some_and(|row| !row.has(Traits::LOWERED))
}

/// True if a value is one of these, or computed from one.
fn is_behind(m: &Module, value: ValueId, is_one: &dyn Fn(ValueId) -> bool, depth: u32) -> bool {
    is_one(value)
        || m.defining_op(value).is_some_and(|op| {
            depth > 0
                && is_strict(m, op)
                && m.operands(op).any(|operand| is_behind(m, operand, is_one, depth - 1))
        })
}

/// The value that a sequence of `Identity` ops forwards.
fn origin(m: &Module, mut value: ValueId) -> ValueId {
    while let Some(op) = m.defining_op(value).filter(|&op| tf::operator(m, op) == Some(Op::Identity))
        && m.n_operands(op) == 1
        && m.result(op, 0) == value
    {
        value = m.operand(op, 0);
    }
    value
}

/// The predicate of the Switch that defines a value, and the number of the result.
fn way_of(m: &Module, value: ValueId) -> Option<(ValueId, usize)> {
    let op = m.defining_op(value).filter(|&op| m.op_name_str(op) == "tf._Switch")?;
    let way = m.results(op).take(2).position(|result| result == value)?;
    Some((origin(m, m.operand(op, 1)), way))
}

/// The way of a Switch, if an operator forwards the Switch's own predicate.
fn way_of_predicate(m: &Module, op: OpId) -> Option<(ValueId, usize)> {
    let value = m.results(op).next().map(|result| origin(m, result))?;
    let (predicate, way) = way_of(m, value)?;
    let data = m.defining_op(value).map(|switch| origin(m, m.operand(switch, 0)));
    (data == Some(predicate)).then_some((predicate, way))
}

fn never_fails(m: &Module, op: OpId) -> bool {
    is_speculatable(m, op) && is_total(m, op)
}

fn is_merge(m: &Module, op: OpId) -> bool {
    m.op_name_str(op) == "tfrt.merge.chains"
}

fn is_chain(m: &Module, value: ValueId) -> bool {
    m.value_type(value) == KnownType::Chain.id()
}

/// Rebuilds an operator without its completion, if nothing uses that.
fn drop_completion(r: &mut Rewriter<'_>, op: OpId) {
    let m = r.ir();
    let n = if tf::row(m, op).is_some() { tf::n_data_results(m, op) } else { m.n_results(op) };
    if n == m.n_results(op) || m.results(op).skip(n).any(|completion| !m.is_unused(completion)) {
        return;
    }
    let operands: Vec<ValueId> = m.operands(op).collect();
    let types: Vec<TypeId> = m.results(op).take(n).map(|value| m.value_type(value)).collect();
    let new = r.rebuild(op, &operands, &types);
    let values: Vec<ValueId> = r.ir().results(new).collect();
    r.replace_op(op, &values);
}
