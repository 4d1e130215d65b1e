//! `tf-fuse-elementwise`: operators of f32 that work element by element become one, which goes over memory
//! once.
//!
//! ```text
//! %0 = Mul(%x, %scale)   %1 = AddV2(%0, %bias)   %2 = Tanh(%1)     ──▶     %2 = _FusedElementwise(%x, %scale, %bias) {ops, values}
//! ```
//!
//! An operator is taken in if all who need it are in already, and its result has the type of the last one's:
//! then nothing is computed more than once. Constants that are one number are part of the program.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::build::Builder;
use crate::build::query::{dtype, is_free, shape, splat};
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

/// A fused operator has no more steps, and no more operands.
const MOST: usize = 32;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    let ops: Vec<OpId> = m.walk_functions().filter(|&op| is_elementwise(m, op)).collect();
    let mut taken: FxHashSet<OpId> = FxHashSet::default();
    // Users come behind what they use.
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
    is_free(m, op)
        && m.n_operands(op) == n
        && m.n_results(op) == 1
        && dtype(m, m.result(op, 0)) == Some(DType::F32)
        && m.operands(op).all(|value| dtype(m, value) == Some(DType::F32))
}

/// An operator, and before it those that only it and they need; in the order of the block.
fn group(m: &Module, last: OpId) -> Vec<OpId> {
    let ty = m.value_type(m.result(last, 0));
    if shape(m, m.result(last, 0)).is_none() {
        return vec![last];
    }
    let block = m.parent_block(last);
    let mut members = FxHashSet::from_iter([last]);
    let mut found = vec![last];
    let mut at = 0;
    // Whoever is refused, since somebody outside needs it, is asked again when another of its users has come
    // in.
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
    // What one needs was found after it has come in itself, or later.
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

/// How many operands a group may need, at most.
fn outer(m: &Module, found: &[OpId], more: Option<OpId>) -> usize {
    let n: usize = found.iter().chain(&more).map(|&op| m.n_operands(op)).sum();
    n.saturating_sub(found.len())
}

/// Makes one op of a group; nothing if its operands are all numbers.
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
    // A program of numbers alone would be a constant: somebody has to say the shape.
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

/// Whether a constant of one number does not make the result larger than its other operands would.
fn is_scalar_like(m: &Module, value: ValueId, last: OpId) -> bool {
    let (Some(own), Some(_)) = (shape(m, value), shape(m, m.result(last, 0))) else { return false };
    own.iter().all(|&dim| dim == 1) && own.len() <= 1
}
