//! Patterns of `scf.for` and `scf.while`.

use super::control::{block_of, inline};
use super::truth;
use crate::dialects::scf;
use crate::fold::int_value;
use crate::ir::{OpId, TypeId, ValueId};
use crate::rewrite::{Change, Pattern, Rewriter};

/// A loop without iterations is replaced by its initial values, a loop with one iteration by its body.
pub const FOR_TRIVIAL: Pattern = Pattern { name: "for-trivial", benefit: 2, rewrite: for_trivial };
/// A loop-carried value that never changes is replaced by its initial value.
pub const FOR_INVARIANT: Pattern =
    Pattern { name: "for-invariant-argument", benefit: 1, rewrite: for_invariant };
/// A loop whose condition is initially false is replaced by its `before` region.
pub const WHILE_FALSE: Pattern = Pattern { name: "while-false", benefit: 2, rewrite: while_false };

fn for_trivial(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let Some(view) = scf::For::of(m, op) else { return Change::Unchanged };
    let (low, high, step) = (view.lower_bound(m), view.upper_bound(m), view.step(m));
    let inits: Vec<ValueId> = view.init_args(m).collect();
    let never = low == high
        || matches!((int_value(m, low), int_value(m, high)), (Some(a), Some(b)) if a.signed() >= b.signed());
    if never {
        r.replace_op(op, &inits);
        return Change::Changed;
    }
    let (Some(low_n), Some(high_n), Some(step_n)) =
        (int_value(m, low), int_value(m, high), int_value(m, step))
    else {
        return Change::Unchanged;
    };
    let distance = high_n.signed().checked_sub(low_n.signed());
    if step_n.signed() <= 0 || distance.is_none_or(|d| d > step_n.signed()) {
        return Change::Unchanged;
    }
    let Some((block, end)) = block_of(m, view.region(m)) else { return Change::Unchanged };
    let args: Vec<ValueId> = [low].into_iter().chain(inits).collect();
    inline(r, op, block, end, &args)
}

fn for_invariant(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let Some(view) = scf::For::of(m, op) else { return Change::Unchanged };
    let region = view.region(m);
    let Some((block, end)) = block_of(m, region) else { return Change::Unchanged };
    let n = m.n_results(op);
    let (args, inits) = (m.args(block).to_vec(), view.init_args(m).collect::<Vec<_>>());
    let given: Vec<ValueId> = m.operands(end).collect();
    if args.len() != n + 1 || inits.len() != n || given.len() != n {
        return Change::Unchanged;
    }
    // The argument itself, or the initial value itself, which is defined outside.
    let stays = |i: usize| given[i] == args[i + 1] || given[i] == inits[i];
    let kept: Vec<usize> = (0..n).filter(|i| !stays(*i)).collect();
    if kept.len() == n {
        return Change::Unchanged;
    }
    let bounds = [view.lower_bound(m), view.upper_bound(m), view.step(m)];
    let types: Vec<TypeId> = kept.iter().map(|i| m.value_type(m.result(op, *i))).collect();
    let results: Vec<ValueId> = m.results(op).collect();
    for i in (0..n).filter(|i| stays(*i)) {
        r.replace(args[i + 1], inits[i]);
        r.replace(results[i], inits[i]);
    }
    let kept_values: Vec<ValueId> = kept.iter().map(|i| r.ir().operand(end, *i)).collect();
    r.set_operands(end, &kept_values);
    for i in (0..n).rev().filter(|i| stays(*i)) {
        r.remove_arg(block, i + 1);
    }
    let operands: Vec<ValueId> = bounds.into_iter().chain(kept.iter().map(|i| inits[*i])).collect();
    let new = r.rebuild(op, &operands, &types);
    for (at, i) in kept.into_iter().enumerate() {
        let result = r.ir().result(new, at);
        r.replace(results[i], result);
    }
    r.erase(op);
    Change::Changed
}

fn while_false(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let Some(view) = scf::While::of(m, op) else { return Change::Unchanged };
    let Some((block, end)) = block_of(m, view.before(m)) else { return Change::Unchanged };
    let Some(condition) = scf::Condition::of(m, end) else { return Change::Unchanged };
    let inits: Vec<ValueId> = view.inits(m).collect();
    let fits = condition.args(m).len() == m.n_results(op) && inits.len() == m.args(block).len();
    if !fits || truth(m, condition.condition(m)) != Some(false) {
        return Change::Unchanged;
    }
    r.inline_block(block, op, &inits);
    // With the initial values in place of the arguments.
    let values: Vec<ValueId> = condition.args(r.ir()).collect();
    r.erase(end);
    r.replace_op(op, &values);
    Change::Changed
}
