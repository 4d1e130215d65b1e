//! `tf-expand-collectives`: collectives of one program as ordinary operators.
//!
//! ```text
//! %r0 = tf.CollectiveReduce(%x0) {group_key = 1, instance_key = 7, group_size = 2, merge_op = "Add"}
//! %r1 = tf.CollectiveReduce(%x1) {group_key = 1, instance_key = 7, ..}
//!     ──▶   %r = tf.AddV2(%x0, %x1)      for both, on the device of the first one
//! ```
//!
//! All members of a group are in one function, so the reduction needs no communication library: its operands
//! and its result cross devices like any other values. Members are combined in program order. The ops that
//! compute operands of later members move in front of the first member; if one of them needs a result of the
//! group, the group is refused, since it would wait for itself.

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::errors;
use super::transfers::sorted_functions;
use crate::build::Builder;
use crate::dialects::tf;
use crate::graph::effects::body;
use crate::ir::{KnownType, Module, OpId, ValueId, names};
use crate::pass::{Change, Pass, PassCx, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "tf-expand-collectives",
    title: "TFExpandCollectives",
    summary: "makes ordinary operators of collectives whose members are in one function",
    options: &[],
    statistics: &[("num-groups", "Number of groups of members expanded")],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    for function in sorted_functions(r.ir()) {
        let m = r.ir();
        let mut groups: Vec<((i64, i64), Vec<OpId>)> = Vec::new();
        let mut index: FxHashMap<(i64, i64), usize> = FxHashMap::default();
        for op in body(m, function) {
            if tf::operator(m, op) == Some(Op::CollectiveReduce) {
                let key = (int(m, op, "group_key"), int(m, op, "instance_key"));
                let at = *index.entry(key).or_insert(groups.len());
                if at == groups.len() {
                    groups.push((key, Vec::new()));
                }
                groups[at].1.push(op);
            }
        }
        for (_, members) in groups {
            match expand(r, &members) {
                Ok(()) => cx.count("num-groups", 1),
                Err(why) => cx.report(errors::collective(r.ir(), members[0], &why)),
            }
        }
    }
    r.change()
}

fn int(m: &Module, op: OpId, name: &str) -> i64 {
    m.attr_named(op, name).and_then(|attr| m.cx.as_int(attr)).unwrap_or(0)
}

fn text<'m>(m: &'m Module, op: OpId, name: &str) -> &'m str {
    m.attr_named(op, name).and_then(|attr| m.cx.as_str(attr)).unwrap_or("")
}

/// Replaces the members of a group.
fn expand(r: &mut Rewriter<'_>, members: &[OpId]) -> Result<(), String> {
    let m = r.ir();
    let first = members[0];
    let size = int(m, first, "group_size");
    if i64::try_from(members.len()) != Ok(size) {
        return Err(format!("the group has {} members in this function, not {size}", members.len()));
    }
    let merge = text(m, first, "merge_op").to_owned();
    let last = text(m, first, "final_op").to_owned();
    let agrees = |&op: &OpId| text(m, op, "merge_op") == merge && text(m, op, "final_op") == last;
    if !members.iter().all(agrees) {
        return Err("its members reduce in different ways".to_owned());
    }
    let operator = match merge.as_str() {
        "Add" => Op::AddV2,
        "Mul" => Op::Mul,
        "Max" => Op::Maximum,
        "Min" => Op::Minimum,
        other => return Err(format!("'{other}' is no way to merge: Add, Mul, Max, Min")),
    };
    if !matches!(last.as_str(), "Id" | "Div") {
        return Err(format!("'{last}' is no final operation: Id, Div"));
    }
    hoist(r, members)?;
    let m = r.ir();
    let device = m.attr(first, names::DEVICE);
    let inputs: Vec<ValueId> = members.iter().map(|&op| m.operand(op, 0)).collect();
    let mut edges: Vec<ValueId> = members
        .iter()
        .flat_map(|&op| m.operands(op).skip(tf::n_data_operands(m, op)).collect::<Vec<_>>())
        .collect();
    edges.sort_by_key(|edge| edge.0);
    edges.dedup();
    let start = r.checkpoint();
    let refused = |refusal: crate::build::Refusal| refusal.message;
    let made = (|| {
        let mut sum = inputs[0];
        for (i, &input) in inputs.iter().enumerate().skip(1) {
            let mut operands = vec![sum, input];
            if i == 1 {
                operands.extend(&edges);
            }
            sum = Builder::before(r, first).one(operator, &operands)?;
        }
        if inputs.len() == 1 {
            let operands: Vec<ValueId> = inputs.iter().chain(&edges).copied().collect();
            sum = Builder::before(r, first).one(Op::Identity, &operands)?;
        }
        if last == "Div" {
            let ty = r.ir().value_type(sum);
            let element = r.ir().cx.element(ty);
            let scalar = tf::tensor(r.cx(), Some(&[]), element);
            let n = Builder::before(r, first).splat(inputs.len() as f64, scalar)?;
            sum = Builder::before(r, first).one(Op::Div, &[sum, n])?;
        }
        Ok(sum)
    })();
    let sum = match made {
        Ok(sum) => sum,
        Err(refusal) => {
            r.rollback(start);
            return Err(refused(refusal));
        }
    };
    if let Some(device) = device {
        let mut op = r.ir().defining_op(sum);
        while let Some(made) = op.filter(|&op| start_of(r.ir(), op, &inputs)) {
            r.set_attr(made, names::DEVICE, device);
            op = r.ir().defining_op(r.ir().operand(made, 0));
        }
    }
    for &op in members {
        let m = r.ir();
        let mut values = vec![sum];
        if m.n_results(op) > 1 {
            let types = [m.value_type(sum), KnownType::Chain.id()];
            let done = r.create_before(op, Op::Identity.op_name(), &[sum], &types, &[]);
            values = r.ir().results(done).collect();
        }
        r.replace_op(op, &values);
    }
    Ok(())
}

/// True if an op is one of the reduction: it makes none of the inputs.
fn start_of(m: &Module, op: OpId, inputs: &[ValueId]) -> bool {
    !m.results(op).any(|value| inputs.contains(&value))
}

/// Moves the ops that compute operands of later members in front of the first member.
fn hoist(r: &mut Rewriter<'_>, members: &[OpId]) -> Result<(), String> {
    let m = r.ir();
    let first = members[0];
    let group: FxHashSet<OpId> = members.iter().copied().collect();
    let mut needed: FxHashSet<OpId> = FxHashSet::default();
    let mut todo: Vec<ValueId> = members[1..].iter().flat_map(|&op| m.operands(op)).collect();
    while let Some(value) = todo.pop() {
        let Some(op) = m.defining_op(value) else { continue };
        if group.contains(&op) {
            return Err("an operand of a member needs the result of the group".to_owned());
        }
        if !m.is_before(op, first) && needed.insert(op) {
            todo.extend(m.operands(op));
        }
    }
    let Some(block) = m.parent_block(first) else { return Ok(()) };
    let order: Vec<OpId> = m.ops_in(block).filter(|op| needed.contains(op)).collect();
    order.into_iter().for_each(|op| r.move_before(op, first));
    Ok(())
}
