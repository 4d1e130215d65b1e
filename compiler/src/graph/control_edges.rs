//! `tf-prune-control-edges`: control edges from operators that neither fail nor have effects go.
//!
//! ```text
//! %w, %ch = tf.Identity(%const)                         %w = tf.Identity(%const)
//! %y = tf.MatMul(%x, %w)                        ──▶     %y = tf.MatMul(%x, %w)
//! %z = tf.Identity(%y, %ch)                             %z = tf.Identity(%y)
//! ```
//!
//! Such an edge makes its target wait for what always succeeds and changes nothing. It keeps both ends from
//! being folded and fused. Frozen Keras models have an edge from each weight to the result.
//!
//! An op is *certain* if it is pure and total (`rewrite/effects.rs`) and waits for certain ops only, through
//! data and control edges. So it ends without an error, and its completion is neither an error nor dead. A
//! function's argument may be either. Edges whose target uses the chain as data (`return`, calls) stay.

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
        cx.count("num-removed", prune(r, &ops));
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
