//! Patterns of branches (`cf`) and of `scf.if`.
//!
//! Merging a block into its only predecessor is done in `rewrite/simplify.rs`, which has the predecessors.

use super::{int_constant, truth};
use crate::dialects::{cf, scf};
use crate::fold::constant::{Constant, Scalar};
use crate::fold::int_value;
use crate::ir::{BlockId, Module, NewOp, OpId, RegionId, TypeId, ValueId};
use crate::rewrite::{Change, InsertionPoint, Pattern, Rewriter};
use rustc_hash::FxHashSet;
use std::iter::once;

/// A conditional branch on a constant is a branch.
pub const COND_BR_CONSTANT: Pattern =
    Pattern { name: "cond-br-constant", benefit: 2, rewrite: cond_br_constant };
/// A conditional branch with equal destinations is a branch; its operands may be selects on the condition.
pub const COND_BR_SAME: Pattern =
    Pattern { name: "cond-br-identical-successors", benefit: 1, rewrite: cond_br_same };
/// A branch to a block that only branches goes to the destination of that branch.
pub const PASS_THROUGH: Pattern = Pattern { name: "branch-pass-through", benefit: 1, rewrite: pass_through };
/// A switch on a constant, or without cases, is a branch.
pub const SWITCH_CONSTANT: Pattern =
    Pattern { name: "switch-constant", benefit: 2, rewrite: switch_constant };
/// An assertion of `true` is erased.
pub const ASSERT_TRUE: Pattern = Pattern { name: "assert-true", benefit: 1, rewrite: assert_true };
/// Unused results of `scf.if` are dropped.
pub const IF_UNUSED: Pattern = Pattern { name: "if-unused-results", benefit: 1, rewrite: if_unused };
/// `scf.if` on a constant is replaced by one of its regions.
pub const IF_CONSTANT: Pattern = Pattern { name: "if-constant", benefit: 2, rewrite: if_constant };
/// In the regions of `scf.if` the condition is constant.
pub const IF_CONDITION: Pattern = Pattern { name: "if-condition-inside", benefit: 1, rewrite: if_condition };
/// A result of `scf.if` that yields values from outside is a select.
pub const IF_TO_SELECT: Pattern = Pattern { name: "if-to-select", benefit: 1, rewrite: if_to_select };

fn forwarded(m: &Module, op: OpId, successor: usize) -> Option<Vec<ValueId>> {
    let range = m.successor_operands(op, successor)?;
    Some(range.map(|i| m.operand(op, i)).collect())
}

/// Replaces a terminator by `cf.br`.
fn branch(r: &mut Rewriter<'_>, op: OpId, to: BlockId, values: &[ValueId]) {
    let loc = r.ir().loc(op);
    let name = r.cx().str_id("cf.br");
    let name = r.cx().op_name(name);
    r.create(
        InsertionPoint::Before(op),
        NewOp { loc, operands: values, successors: &[to], ..NewOp::new(name) },
    );
    r.erase(op);
}

fn cond_br_constant(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let condition = cf::CondBr::of(m, op).map(|branch| branch.condition(m));
    let taken = condition.and_then(|c| truth(m, c)).map(|yes| usize::from(!yes));
    let Some(taken) = taken else { return Change::Unchanged };
    let target = m.successors(op).get(taken).copied().zip(forwarded(m, op, taken));
    let Some((to, values)) = target else { return Change::Unchanged };
    branch(r, op, to, &values);
    Change::Changed
}

fn cond_br_same(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let Some(view) = cf::CondBr::of(m, op) else { return Change::Unchanged };
    let (condition, to) = (view.condition(m), view.true_dest(m));
    let (yes, no) = (view.true_dest_operands(m), view.false_dest_operands(m));
    if to != view.false_dest(m) || yes.len() != no.len() {
        return Change::Unchanged;
    }
    let pairs: Vec<(ValueId, ValueId)> = yes.zip(no).collect();
    let mut values = Vec::with_capacity(pairs.len());
    for (yes, no) in pairs {
        values.push(if yes == no { yes } else { select(r, op, condition, yes, no) });
    }
    branch(r, op, to, &values);
    Change::Changed
}

fn switch_constant(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let Some(switch) = cf::Switch::of(m, op) else { return Change::Unchanged };
    let taken = if m.successors(op).len() == 1 {
        0
    } else {
        let Some(flag) = int_value(m, switch.flag(m)) else { return Change::Unchanged };
        let Some(cases) = switch.case_values(m).and_then(|attr| Constant::read(&m.cx, attr)) else {
            return Change::Unchanged;
        };
        cases.position(Scalar::Int(flag)).map_or(0, |i| i + 1)
    };
    let target = m.successors(op).get(taken).copied().zip(forwarded(m, op, taken));
    let Some((to, values)) = target else { return Change::Unchanged };
    branch(r, op, to, &values);
    Change::Changed
}

fn assert_true(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let Some(assert) = cf::Assert::of(m, op) else { return Change::Unchanged };
    if truth(m, assert.arg(m)) != Some(true) {
        return Change::Unchanged;
    }
    r.erase(op);
    Change::Changed
}

fn select(r: &mut Rewriter<'_>, op: OpId, condition: ValueId, yes: ValueId, no: ValueId) -> ValueId {
    let ty = r.ir().value_type(yes);
    let select = r.create_before(op, "arith.select", &[condition, yes, no], &[ty], &[]);
    r.ir().result(select, 0)
}

/// Longest chain of forwarding blocks that is followed. Only malicious programs have longer ones.
const MAX_HOPS: usize = 1000;

/// Final destination and operands of a chain of blocks that only branch, entered with `values`. `None` for a
/// cycle.
fn through(m: &Module, block: BlockId, values: Vec<ValueId>) -> Option<(BlockId, Vec<ValueId>)> {
    let (mut at, mut given) = (block, values);
    let mut seen = FxHashSet::from_iter([block]);
    while let Some((to, values)) = hop(m, at, &given) {
        if !seen.insert(to) || seen.len() > MAX_HOPS {
            return None;
        }
        (at, given) = (to, values);
    }
    (at != block).then_some((at, given))
}

/// One step of [`through`].
fn hop(m: &Module, block: BlockId, values: &[ValueId]) -> Option<(BlockId, Vec<ValueId>)> {
    let only = m.first_op(block)?;
    let br = cf::Br::of(m, only)?;
    let args = m.args(block);
    // The block's arguments have no other uses.
    let local = args.iter().all(|a| m.users(*a).all(|(user, _)| user == only));
    if !local || args.len() != values.len() {
        return None;
    }
    let given = |v: ValueId| args.iter().position(|a| *a == v).map_or(v, |i| values[i]);
    Some((br.dest(m), br.dest_operands(m).map(given).collect()))
}

fn pass_through(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let n = m.successors(op).len();
    for i in 0..n {
        let Some(values) = forwarded(m, op, i) else { return Change::Unchanged };
        let Some((to, values)) = through(m, m.successors(op)[i], values) else { continue };
        if m.parent_block(op) == Some(m.successors(op)[i]) {
            continue;
        }
        if n == 1 {
            branch(r, op, to, &values);
            return Change::Changed;
        }
        return retarget(r, op, i, to, values);
    }
    Change::Unchanged
}

/// Replaces successor `i` of a `cf.cond_br` by another block.
fn retarget(r: &mut Rewriter<'_>, op: OpId, i: usize, to: BlockId, values: Vec<ValueId>) -> Change {
    let m = r.ir();
    let Some(view) = cf::CondBr::of(m, op) else { return Change::Unchanged };
    let condition = view.condition(m);
    let mut successors = [view.true_dest(m), view.false_dest(m)];
    let mut given: [Vec<ValueId>; 2] =
        [view.true_dest_operands(m).collect(), view.false_dest_operands(m).collect()];
    successors[i] = to;
    given[i] = values;
    let sizes = [1, given[0].len() as i32, given[1].len() as i32];
    let sizes = crate::ir::AttrKind::DenseArray {
        elem: crate::ir::KnownType::I32.id(),
        data: sizes.iter().flat_map(|n| n.to_le_bytes()).collect(),
    };
    let sizes = r.cx().attr_id(sizes);
    let operands: Vec<ValueId> = [condition].into_iter().chain(given.into_iter().flatten()).collect();
    r.set_successors(op, &successors);
    r.set_operands(op, &operands);
    r.set_attr(op, crate::ir::names::OPERAND_SEGMENT_SIZES, sizes);
    Change::Changed
}

// ---- scf.if ----

/// The one block of a region and the op that ends it.
pub(super) fn block_of(m: &Module, region: RegionId) -> Option<(BlockId, OpId)> {
    match m.blocks_of(region) {
        &[block] => m.last_op(block).map(|last| (block, last)),
        _ => None,
    }
}

fn if_constant(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let Some(view) = scf::If::of(m, op) else { return Change::Unchanged };
    let Some(yes) = truth(m, view.condition(m)) else { return Change::Unchanged };
    let taken = if yes { view.then_region(m) } else { view.else_region(m) };
    if m.blocks_of(taken).is_empty() {
        // Without an else region there are no results.
        if m.n_results(op) > 0 {
            return Change::Unchanged;
        }
        r.erase(op);
        return Change::Changed;
    }
    let Some((block, end)) = block_of(m, taken) else { return Change::Unchanged };
    inline(r, op, block, end, &[])
}

/// Inlines a block before an op, whose results are replaced by the operands of the block's terminator.
pub(super) fn inline(r: &mut Rewriter<'_>, op: OpId, block: BlockId, end: OpId, args: &[ValueId]) -> Change {
    let m = r.ir();
    if m.n_operands(end) != m.n_results(op) || m.args(block).len() != args.len() {
        return Change::Unchanged;
    }
    r.inline_block(block, op, args);
    let values: Vec<ValueId> = r.ir().operands(end).collect();
    r.erase(end);
    r.replace_op(op, &values);
    Change::Changed
}

fn if_condition(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let Some(view) = scf::If::of(m, op) else { return Change::Unchanged };
    let condition = view.condition(m);
    let regions = [(view.then_region(m), -1), (view.else_region(m), 0)];
    if truth(m, condition).is_some() {
        return Change::Unchanged;
    }
    let uses: Vec<(OpId, usize)> = m.users(condition).filter(|(user, _)| *user != op).collect();
    let ty = m.value_type(condition);
    for (user, i) in uses {
        for (region, bits) in regions {
            if !is_inside(r.ir(), user, region) {
                continue;
            }
            if let Some(known) = int_constant(r, op, ty, bits) {
                r.set_operand(user, i, known);
                return Change::Changed;
            }
        }
    }
    Change::Unchanged
}

/// True if an op is nested in a region.
fn is_inside(m: &Module, op: OpId, region: RegionId) -> bool {
    once(op).chain(m.ancestors(op)).any(|op| m.parent_region(op) == Some(region))
}

fn if_to_select(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let Some(view) = scf::If::of(m, op) else { return Change::Unchanged };
    let (then, otherwise) = (view.then_region(m), view.else_region(m));
    let (Some((_, yes)), Some((_, no))) = (block_of(m, then), block_of(m, otherwise)) else {
        return Change::Unchanged;
    };
    let n = m.n_results(op);
    if m.n_operands(yes) != n || m.n_operands(no) != n {
        return Change::Unchanged;
    }
    let outside = |v: ValueId| {
        let block = m.defining_block(v).and_then(|b| m.block_parent(b));
        block.is_some_and(|region| region != then && region != otherwise)
    };
    let condition = view.condition(m);
    let found = (0..n).find(|&i| {
        let (a, b) = (m.operand(yes, i), m.operand(no, i));
        !m.is_unused(m.result(op, i)) && outside(a) && outside(b)
    });
    let Some(i) = found else { return Change::Unchanged };
    let (a, b, result) = (m.operand(yes, i), m.operand(no, i), m.result(op, i));
    let new = if a == b { a } else { select(r, op, condition, a, b) };
    r.replace(result, new);
    Change::Changed
}

fn if_unused(r: &mut Rewriter<'_>, op: OpId) -> Change {
    let m = r.ir();
    let Some(view) = scf::If::of(m, op) else { return Change::Unchanged };
    let n = m.n_results(op);
    let kept: Vec<usize> = (0..n).filter(|i| !m.is_unused(m.result(op, *i))).collect();
    let regions = [view.then_region(m), view.else_region(m)];
    let ends: Vec<OpId> = regions.iter().filter_map(|region| Some(block_of(m, *region)?.1)).collect();
    if kept.len() == n || ends.len() != 2 || ends.iter().any(|end| m.n_operands(*end) != n) {
        return Change::Unchanged;
    }
    let operands = [view.condition(m)];
    let old: Vec<ValueId> = kept.iter().map(|i| m.result(op, *i)).collect();
    let types: Vec<TypeId> = old.iter().map(|v| m.value_type(*v)).collect();
    for end in ends {
        let values: Vec<ValueId> = kept.iter().map(|i| r.ir().operand(end, *i)).collect();
        r.set_operands(end, &values);
    }
    let new = r.rebuild(op, &operands, &types);
    for (i, old) in old.into_iter().enumerate() {
        let result = r.ir().result(new, i);
        r.replace(old, result);
    }
    r.erase(op);
    Change::Changed
}
