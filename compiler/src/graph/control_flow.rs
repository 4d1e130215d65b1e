//! `tf-simplify-control-flow`: removes unneeded loop variables, and replaces small branches by selections.
//!
//! ```text
//! %r:3 = tfrt.while %go @step(%i, %n, %count)         %r = tfrt.while %go @step(%i, %n)
//!                               │                ──▶
//!                               └ %count is only needed for its next value, and %r#2 is unused
//!
//! %y = tfrt.cond %p @then @else(%a, %b)          ──▶  %t = arith.addi %a, %b       the body of @then
//!                                                     %e = arith.subi %a, %c1      the body of @else
//!                                                     %y = arith.select %p, %t, %e
//! ```
//!
//! A call of a function costs as much as some four operations on scalars. A branch becomes a selection if its
//! results are scalars and its functions are short and cannot fail: then computing both is quicker. As with
//! inlining, fewer results may be errors than before: a call with an error operand was skipped as a whole.
//!
//! Part of the kernel graph's optimization, after `tf-scalars-to-arith`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::{callees, functions};
use crate::dialects::Traits;
use crate::dialects::tfrt_control::{Cond, While};
use crate::ir::{AttrKind, BlockId, Module, OpId, StrId, TypeId, TypeKind, ValueId, names};
use crate::pass::inline::copy_block;
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::{is_speculatable, is_total, is_trivially_dead, signatures, would_be_trivially_dead};

pub(crate) const PASS: Pass = Pass {
    name: "tf-simplify-control-flow",
    title: "TFSimplifyControlFlow",
    summary: "removes loop variables that nothing needs, and computes both sides of small branches of scalars",
    options: &[],
    statistics: &[
        ("num-variables", "Number of loop variables that were removed"),
        ("num-branches", "Number of branches that became selections"),
    ],
    run,
};

/// Limit on the ops in one function of a branch that becomes a selection.
const MAX_SELECTED: usize = 4;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    loop {
        let n = selections(r);
        cx.count("num-branches", n);
        if n == 0 {
            break;
        }
    }
    let n = loop_variables(r);
    cx.count("num-variables", n);
    if n > 0 {
        signatures::refresh(r);
    }
    r.change()
}

/// The only block of a private function.
fn private_block(m: &Module, functions: &FxHashMap<StrId, OpId>, name: StrId) -> Option<BlockId> {
    let &function = functions.get(&name).filter(|&&function| m.is_private(function))?;
    m.only_block(function)
}

/// The ops of this name in the functions, in the order of the module.
fn ops_named(m: &Module, name: &str) -> Vec<OpId> {
    m.walk_functions().filter(|&op| m.op_name_str(op) == name).collect()
}

/// Replaces branches that are cheaper as selections. Returns their number.
fn selections(r: &mut Rewriter<'_>) -> u64 {
    let functions = functions(r.ir());
    let mut n = 0;
    for op in ops_named(r.ir(), Cond::NAME) {
        let m = r.ir();
        let blocks: Option<Vec<BlockId>> = callees(m, op)
            .into_iter()
            .map(|name| private_block(m, &functions, name).filter(|&block| is_cheap(m, block)))
            .collect();
        let Some(&[on_true, on_false]) = blocks.as_deref() else { continue };
        let is_plain =
            m.results(op).all(|value| is_scalar(m, value)) && m.attr(op, names::BEF_NONSTRICT).is_none();
        if !is_plain {
            continue;
        }
        let condition = m.operand(op, 0);
        let args: Vec<ValueId> = m.operands(op).skip(1).collect();
        let results: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
        let (on_true, _) = copy_block(r, on_true, &args, op);
        let (on_false, _) = copy_block(r, on_false, &args, op);
        let selected: Vec<ValueId> = on_true
            .into_iter()
            .zip(on_false)
            .zip(results)
            .map(|((a, b), ty)| {
                if a == b {
                    return a;
                }
                let select = r.create_before(op, "arith.select", &[condition, a, b], &[ty], &[]);
                r.ir().result(select, 0)
            })
            .collect();
        r.replace_op(op, &selected);
        n += 1;
    }
    n
}

/// True for a block that costs less than a call, and cannot fail.
fn is_cheap(m: &Module, block: BlockId) -> bool {
    let work = |op: &OpId| !m.traits(*op).has(Traits::CONSTANT) && !m.traits(*op).has(Traits::RETURN);
    m.ops_in(block).filter(work).count() <= MAX_SELECTED
        && m.ops_in(block)
            .all(|op| m.traits(op).has(Traits::RETURN) || is_speculatable(m, op) && is_total(m, op))
}

fn is_scalar(m: &Module, value: ValueId) -> bool {
    matches!(m.cx.ty(m.value_type(value)), TypeKind::Integer { .. } | TypeKind::Float(_))
}

/// Removes loop variables that neither an iteration nor a reader of the results needs. Returns their number.
fn loop_variables(r: &mut Rewriter<'_>) -> u64 {
    let m = r.ir();
    let functions = functions(m);
    let mut n_uses: FxHashMap<StrId, usize> = FxHashMap::default();
    for op in m.walk(m.top()) {
        callees(m, op).into_iter().for_each(|name| *n_uses.entry(name).or_default() += 1);
    }
    let mut n = 0;
    for op in ops_named(m, While::NAME) {
        let m = r.ir();
        let &[name] = &callees(m, op)[..] else { continue };
        let block = private_block(m, &functions, name).filter(|_| n_uses[&name] == 1);
        let Some(block) = block else { continue };
        let needed = needed_variables(m, op, block);
        let n_variables = m.n_results(op);
        if needed.len() < n_variables {
            n += (n_variables - needed.len()) as u64;
            keep_variables(r, op, block, &needed);
        }
    }
    n
}

/// The numbers of the variables that are needed: by a reader of the result, by the condition, by an op that
/// must run, or for the next value of such a variable.
fn needed_variables(m: &Module, op: OpId, block: BlockId) -> FxHashSet<usize> {
    let Some(end) = m.last_op(block) else { return FxHashSet::default() };
    let mut needed: FxHashSet<usize> = FxHashSet::default();
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    let mut todo: Vec<ValueId> = m.operands(end).skip(m.n_results(op)).collect();
    let runs = m.ops_in(block).filter(|&inner| inner != end && !would_be_trivially_dead(m, inner));
    todo.extend(runs.flat_map(|inner| m.operands(inner)));
    let mut add = |i: usize, todo: &mut Vec<ValueId>| {
        if needed.insert(i) {
            todo.extend(m.operands(end).nth(i));
        }
    };
    (0..m.n_results(op)).filter(|&i| !m.is_unused(m.result(op, i))).for_each(|i| add(i, &mut todo));
    while let Some(value) = todo.pop() {
        if !seen.insert(value) {
            continue;
        }
        match m.defining_op(value) {
            Some(producer) => {
                let inside = m.walk(producer).skip(1).flat_map(|inner| m.operands(inner));
                todo.extend(m.operands(producer).chain(inside));
            }
            None => {
                if let Some(i) = m.args(block).iter().position(|&arg| arg == value) {
                    add(i, &mut todo);
                }
            }
        }
    }
    needed
}

/// Removes all variables of a loop except for `kept`.
fn keep_variables(r: &mut Rewriter<'_>, op: OpId, block: BlockId, kept: &FxHashSet<usize>) {
    let m = r.ir();
    let Some(end) = m.last_op(block) else { return };
    let n = m.n_results(op);
    let stays = |i: usize| i >= n || kept.contains(&i);
    let returned: Vec<ValueId> =
        m.operands(end).enumerate().filter(|&(i, _)| stays(i)).map(|(_, value)| value).collect();
    let operands: Vec<(usize, ValueId)> =
        m.operands(op).enumerate().filter(|&(i, _)| i == 0 || stays(i - 1)).collect();
    let results: Vec<ValueId> = m.results(op).collect();
    let types: Vec<TypeId> = (0..n).filter(|&i| stays(i)).map(|i| m.value_type(results[i])).collect();
    r.set_operands(end, &returned);
    // Erase the ops that computed the removed values.
    let ops: Vec<OpId> = r.ir().ops_in(block).collect();
    for inner in ops.into_iter().rev().filter(|&inner| inner != end) {
        if is_trivially_dead(r.ir(), inner) {
            r.erase(inner);
        }
    }
    for i in (0..n).rev().filter(|&i| !stays(i)) {
        r.remove_arg(block, i);
    }
    let values: Vec<ValueId> = operands.iter().map(|&(_, value)| value).collect();
    let new = r.rebuild(op, &values, &types);
    if let Some(AttrKind::Array(modes)) =
        r.ir().attr(op, names::BEF_OPERAND_MODES).map(|attr| r.ir().cx.attr(attr).clone())
    {
        let modes: Vec<_> = operands.iter().filter_map(|&(i, _)| modes.get(i).copied()).collect();
        let modes = r.cx().array_attr(&modes);
        r.set_attr(new, names::BEF_OPERAND_MODES, modes);
    }
    for (at, i) in (0..n).filter(|&i| stays(i)).enumerate() {
        let result = r.ir().result(new, at);
        r.replace(results[i], result);
    }
    r.erase(op);
}
