//! `tf-fuse-elementwise`: fusion of elementwise f32 operators into one that passes over memory once.
//!
//! ```text
//! %0 = Mul(%x, %scale)   %1 = AddV2(%0, %bias)   %2 = Tanh(%1)
//!     ──▶     %2 = _FusedElementwise(%x, %scale, %bias) {ops, values}
//! ```
//!
//! An operator joins a group if all its users are members and its result has the type of the group's result,
//! so that nothing is computed twice. Splat constants become part of the fused program.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::build::Builder;
use crate::build::query::{dtype, has_no_edges, shape, splat};
use crate::dialects::tf;
use crate::ir::{Module, OpId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "tf-fuse-elementwise",
    title: "TFFuseElementwise",
    summary: "makes one operator of chains of elementwise ones",
    options: &[],
    statistics: &[("num-fused", "Number of operators that became part of another")],
    run,
};

/// Limit on the steps and on the operands of a fused operator.
const MOST: usize = 32;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    let ops: Vec<OpId> = m.walk_functions().filter(|&op| is_elementwise(m, op)).collect();
    let mut taken: FxHashSet<OpId> = FxHashSet::default();
    // Users follow their operands in the walk.
    for &last in ops.iter().rev() {
        if taken.contains(&last) {
            continue;
        }
        let group = group(r.ir(), last);
        if group.len() > 1 && fuse(r, &group).is_some() {
            cx.count("num-fused", group.len() as u64);
            taken.extend(group);
        }
    }
    r.change()
}

fn is_elementwise(m: &Module, op: OpId) -> bool {
    let Some(row) = tf::row(m, op) else { return false };
    let n = match (row.vector_function(), row.vector_arithmetic()) {
        (Some(_), _) => 1,
        (_, Some(_)) => 2,
        _ => return false,
    };
    has_no_edges(m, op)
        && m.n_operands(op) == n
        && m.n_results(op) == 1
        && dtype(m, m.result(op, 0)) == Some(DType::F32)
        && m.operands(op).all(|value| dtype(m, value) == Some(DType::F32))
}

/// The fusion group that ends in `last`, in block order.
fn group(m: &Module, last: OpId) -> Vec<OpId> {
    let ty = m.value_type(m.result(last, 0));
    if shape(m, m.result(last, 0)).is_none() {
        return vec![last];
    }
    let block = m.parent_block(last);
    let mut members = FxHashSet::from_iter([last]);
    let mut found = vec![last];
    let mut at = 0;
    // An operator with users outside is tried again when another user has joined the group.
    while let Some(&op) = found.get(at) {
        at += 1;
        for value in m.operands(op) {
            let Some(inner) = m.defining_op(value) else { continue };
            let fits = !members.contains(&inner)
                && found.len() < MOST
                && m.parent_block(inner) == block
                && m.value_type(value) == ty
                && is_elementwise(m, inner)
                && m.users(value).all(|(user, _)| members.contains(&user));
            if fits && outer(m, &found, Some(inner)) <= MOST {
                members.insert(inner);
                found.push(inner);
            }
        }
    }
    // The order of discovery is not the order of the block.
    let mut order: Vec<OpId> = Vec::with_capacity(found.len());
    let mut next = Some(last);
    while let Some(op) = next {
        if members.contains(&op) {
            order.push(op);
        }
        next = if order.len() < members.len() { m.prev_op(op) } else { None };
    }
    order.reverse();
    order
}

/// Upper bound on the operands of a group.
fn outer(m: &Module, found: &[OpId], more: Option<OpId>) -> usize {
    let n: usize = found.iter().chain(&more).map(|&op| m.n_operands(op)).sum();
    n.saturating_sub(found.len())
}

/// Replaces a group by one op; `None` if all operands are constants.
fn fuse(r: &mut Rewriter<'_>, group: &[OpId]) -> Option<()> {
    let m = r.ir();
    let &last = group.last()?;
    let steps: FxHashMap<ValueId, usize> =
        group.iter().enumerate().map(|(i, &op)| (m.result(op, 0), i)).collect();
    let mut operands: Vec<ValueId> = Vec::new();
    let mut numbers: Vec<f32> = Vec::new();
    let number = |value: ValueId| {
        splat(m, value).map(|x| x as f32).filter(|x| x.is_finite() && is_scalar_like(m, value, last))
    };
    let all = || group.iter().flat_map(|&op| m.operands(op)).filter(|value| !steps.contains_key(value));
    for value in all() {
        match number(value) {
            Some(x) if !numbers.iter().any(|other| other.to_bits() == x.to_bits()) => numbers.push(x),
            Some(_) => {}
            None if !operands.contains(&value) => operands.push(value),
            None => {}
        }
    }
    let place = |value: ValueId| -> i64 {
        if let Some(&step) = steps.get(&value) {
            return (operands.len() + step) as i64;
        }
        let same = |x: f32| numbers.iter().position(|other| other.to_bits() == x.to_bits());
        match number(value).and_then(same) {
            Some(i) => -1 - i as i64,
            None => operands.iter().position(|&other| other == value).unwrap_or_default() as i64,
        }
    };
    // Without operands there is no shape; the group is a constant.
    if operands.is_empty() {
        return None;
    }
    let values: Vec<i64> = group.iter().flat_map(|&op| m.operands(op)).map(place).collect();
    let names: Vec<&str> = group.iter().filter_map(|&op| Some(tf::row(m, op)?.name)).collect();
    let result = m.result(last, 0);
    let mut b = Builder::before(r, last);
    let numbers: Vec<_> = numbers.iter().map(|&x| b.cx().f32_attr(x)).collect();
    let numbers = b.cx().array_attr(&numbers);
    let fused = b
        .op(Op::_FusedElementwise, &operands)
        .int("num_args", operands.len() as i64)
        .attr("numbers", numbers)
        .strs("ops", &names)
        .ints("values", &values)
        .like(result)
        .one()
        .ok()?;
    r.replace_op(last, &[fused]);
    // Users first.
    for &op in group.iter().rev().skip(1) {
        r.erase(op);
    }
    Some(())
}

/// True if a splat constant cannot broadcast the result to a larger shape.
fn is_scalar_like(m: &Module, value: ValueId, last: OpId) -> bool {
    let (Some(own), Some(_)) = (shape(m, value), shape(m, m.result(last, 0))) else { return false };
    own.iter().all(|&dim| dim == 1) && own.len() <= 1
}
