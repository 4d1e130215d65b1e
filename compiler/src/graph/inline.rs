//! `tf-inline`: calls become what they call, and branches whose condition is a constant become calls.
//!
//! A function that can come back to itself is not inlined, nor is a call with control edges, which order all of it. What nobody calls any more is
//! left to `symbol-dce`.

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::{body, callees, functions};
use super::signatures;
use crate::build::Builder;
use crate::build::query::{is_free, splat};
use crate::dialects::tf;
use crate::ir::{AttrId, AttrKind, LocId, LocKind, Module, OpId, StrId, TypeId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::Copies;

pub(crate) const PASS: Pass = Pass {
    name: "tf-inline",
    title: "TFInline",
    summary: "inlines calls of TensorFlow's functions, and takes the branch that a constant chooses",
    options: &[],
    statistics: &[("num-inlined", "Number of calls inlined"), ("num-chosen", "Number of branches chosen")],
    run,
};

/// A module does not grow by more ops than this.
const MAX_COPIED: usize = 1 << 17;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let functions = functions(r.ir());
    let looping = looping(r.ir(), &functions);
    let mut order: Vec<OpId> = functions.values().copied().collect();
    order.sort_by_key(|op| op.0);
    let mut copied = 0;
    for function in order {
        let mut todo = body(r.ir(), function);
        while let Some(op) = todo.pop() {
            if let Some(call) = chosen(r, op) {
                cx.count("num-chosen", 1);
                todo.push(call);
                continue;
            }
            let Some(callee) = callee(r.ir(), op, &functions, &looping) else { continue };
            let before = r.ir().prev_op(op);
            let after = r.ir().next_op(op);
            copied += inline(r, op, callee);
            cx.count("num-inlined", 1);
            if copied > MAX_COPIED {
                signatures::refresh(r);
                return r.change();
            }
            // What was copied may call again.
            let mut made = match before {
                Some(before) => r.ir().next_op(before),
                None => r
                    .ir()
                    .regions_of(function)
                    .first()
                    .and_then(|&region| r.ir().entry(region))
                    .and_then(|block| r.ir().first_op(block)),
            };
            while let Some(op) = made.filter(|&op| Some(op) != after) {
                todo.push(op);
                made = r.ir().next_op(op);
            }
        }
    }
    signatures::refresh(r);
    r.change()
}

/// The functions from which a way of calls leads back to themselves.
fn looping(m: &Module, functions: &FxHashMap<StrId, OpId>) -> FxHashSet<StrId> {
    let calls: FxHashMap<StrId, Vec<StrId>> = functions
        .iter()
        .map(|(&name, &function)| {
            (name, body(m, function).into_iter().flat_map(|op| callees(m, op)).collect())
        })
        .collect();
    let comes_back = |start: StrId| {
        let mut seen = FxHashSet::default();
        let mut todo = calls.get(&start).cloned().unwrap_or_default();
        while let Some(name) = todo.pop() {
            if name == start {
                return true;
            }
            if seen.insert(name) {
                todo.extend(calls.get(&name).into_iter().flatten());
            }
        }
        false
    };
    functions.keys().copied().filter(|&name| comes_back(name)).collect()
}

/// The function that a call calls, if it can be inlined.
fn callee(
    m: &Module,
    op: OpId,
    functions: &FxHashMap<StrId, OpId>,
    looping: &FxHashSet<StrId>,
) -> Option<OpId> {
    if tf::Control::of(m, op) != Some(tf::Control::Call) || !is_free(m, op) {
        return None;
    }
    let AttrKind::Symbol { root, nested } = m.cx.attr(m.attr_named(op, "f")?) else { return None };
    if !nested.is_empty() || looping.contains(root) {
        return None;
    }
    let callee = *functions.get(root)?;
    let [region] = m.regions_of(callee) else { return None };
    let [block] = m.blocks_of(*region) else { return None };
    let args = m.args(*block).len() == m.n_operands(op);
    let results = m.last_op(*block).is_some_and(|end| m.n_operands(end) == m.n_results(op));
    (args && results).then_some(callee)
}

fn inline(r: &mut Rewriter<'_>, call: OpId, callee: OpId) -> usize {
    let block = r.ir().regions_of(callee).first().and_then(|&region| r.ir().entry(region));
    let Some(block) = block else { return 0 };
    let at = r.ir().loc(call);
    let mut known: FxHashMap<LocId, LocId> = FxHashMap::default();
    let mut loc = |r: &mut Rewriter<'_>, callee: LocId| {
        *known.entry(callee).or_insert_with(|| r.cx().loc_id(LocKind::CallSite { callee, caller: at }))
    };
    let mut copies = Copies::default();
    let args: Vec<ValueId> = r.ir().operands(call).collect();
    copies.values.extend(r.ir().args(block).iter().copied().zip(args));
    r.copy_body(block, call, &mut copies, &mut loc);
    let end = r.ir().last_op(block);
    let results: Vec<ValueId> = end.into_iter().flat_map(|op| r.ir().operands(op)).collect();
    let results: Vec<ValueId> =
        results.into_iter().map(|value| copies.values.get(&value).copied().unwrap_or(value)).collect();
    r.replace_op(call, &results);
    copies.n_ops
}

/// A branch whose condition is a constant, as a call.
fn chosen(r: &mut Rewriter<'_>, op: OpId) -> Option<OpId> {
    let m = r.ir();
    let control = tf::Control::of(m, op)?;
    if !matches!(control, tf::Control::If | tf::Control::Case) {
        return None;
    }
    let number = splat(m, m.operand(op, 0))?;
    let function: AttrId = if control == tf::Control::If {
        m.attr_named(op, if number != 0.0 { "then_branch" } else { "else_branch" })?
    } else {
        let AttrKind::Array(branches) = m.cx.attr(m.attr_named(op, "branches")?) else { return None };
        // The last one, if there is none of this number.
        let at = if number >= 0.0 { number as usize } else { usize::MAX };
        *branches.get(at).or(branches.last())?
    };
    let operands: Vec<ValueId> = m.operands(op).skip(1).collect();
    let types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
    let mut b = Builder::before(r, op);
    let call =
        b.op(Op::StatefulPartitionedCall, &operands).attr("f", function).results(&types).build().ok()?;
    let results: Vec<ValueId> = r.ir().results(call).collect();
    r.replace_op(op, &results);
    Some(call)
}
