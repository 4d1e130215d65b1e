//! `tf-expand-collectives`: collectives of one program as ordinary operators.
//!
//! ```text
//! %r0 = tf.CollectiveReduce(%x0) {group_key = 1, instance_key = 7, group_size = 2, merge_op = "Add"}
//! %r1 = tf.CollectiveReduce(%x1) {group_key = 1, instance_key = 7, ..}
//!     ──▶   %r = tf.AddV2(%x0, %x1)      for both, on the device of the first one
//!
//! CollectiveGather           tf.ConcatV2 of all members' operands
//! CollectiveBcastSend, Recv  tf.Identity of the sender's operand
//! ```
//!
//! All members of a group are in one function, so they need no communication library: operands and results
//! cross devices like any other values. Reductions combine members in program order; gathers, like
//! TensorFlow, in the order of their devices, as far as specs give it. The ops of version 2 have their keys
//! as operands, which must be constants. The ops that compute operands of later members move in front of the
//! first member; if one of them needs a result of the group, the group is refused, since it would wait for
//! itself.

use bef_format::device::DeviceSpec;
use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::errors;
use super::specs::text_of;
use super::transfers::sorted_functions;
use crate::build::{Builder, query};
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

/// The purpose of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Collective {
    Reduce,
    Gather,
    Broadcast,
}

/// An op of a group.
struct CollectiveMember {
    op: OpId,
    /// The keys of the group and of the instance.
    key: (i64, i64),
    of: Collective,
    /// Its operand; none for a receiver.
    input: Option<ValueId>,
    size: i64,
}

/// The op as a member of a group, if it is one.
fn member(m: &Module, op: OpId) -> Option<Result<CollectiveMember, String>> {
    use Collective::{Broadcast, Gather, Reduce};
    let (of, has_input, has_attrs) = match tf::operator(m, op)? {
        Op::CollectiveReduce => (Reduce, true, true),
        Op::CollectiveReduceV2 => (Reduce, true, false),
        Op::CollectiveGather => (Gather, true, true),
        Op::CollectiveGatherV2 => (Gather, true, false),
        Op::CollectiveBcastSend => (Broadcast, true, true),
        Op::CollectiveBcastSendV2 => (Broadcast, true, false),
        Op::CollectiveBcastRecv => (Broadcast, false, true),
        Op::CollectiveBcastRecvV2 => (Broadcast, false, false),
        _ => return None,
    };
    let names = ["group_size", "group_key", "instance_key"];
    let first = usize::from(has_input);
    let numbers = names.iter().enumerate().map(|(i, name)| match has_attrs {
        true => Some(int(m, op, name)),
        false => query::ints(m, m.operands(op).nth(first + i)?)?.first().copied(),
    });
    let numbers: Option<Vec<i64>> = numbers.collect();
    Some(match numbers.as_deref() {
        Some(&[size, group, instance]) => {
            let input = m.operands(op).next().filter(|_| has_input);
            Ok(CollectiveMember { op, key: (group, instance), of, input, size })
        }
        _ => Err("the keys of the group are no constants".to_owned()),
    })
}

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    for function in sorted_functions(r.ir()) {
        let m = r.ir();
        let mut groups: Vec<Vec<CollectiveMember>> = Vec::new();
        let mut index: FxHashMap<(i64, i64), usize> = FxHashMap::default();
        for op in body(m, function) {
            match member(m, op) {
                Some(Ok(member)) => {
                    let at = *index.entry(member.key).or_insert(groups.len());
                    if at == groups.len() {
                        groups.push(Vec::new());
                    }
                    groups[at].push(member);
                }
                Some(Err(why)) => cx.report(errors::collective(m, op, &why)),
                None => {}
            }
        }
        for members in groups {
            match expand(r, &members) {
                Ok(()) => cx.count("num-groups", 1),
                Err(why) => cx.report(errors::collective(r.ir(), members[0].op, &why)),
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

/// The operator that combines two members of a reduction.
fn reduction(m: &Module, members: &[CollectiveMember]) -> Result<Op, String> {
    let first = members[0].op;
    let (merge, last) = (text(m, first, "merge_op"), text(m, first, "final_op"));
    let agrees = |member: &CollectiveMember| {
        text(m, member.op, "merge_op") == merge && text(m, member.op, "final_op") == last
    };
    if !members.iter().all(agrees) {
        return Err("its members reduce in different ways".to_owned());
    }
    if !matches!(last, "Id" | "Div") {
        return Err(format!("'{last}' is no final operation: Id, Div"));
    }
    Ok(match merge {
        "Add" => Op::AddV2,
        "Mul" => Op::Mul,
        "Max" => Op::Maximum,
        "Min" => Op::Minimum,
        other => return Err(format!("'{other}' is no way to merge: Add, Mul, Max, Min")),
    })
}

/// The operands of a group in the order in which they are combined.
fn inputs_of(m: &Module, members: &[CollectiveMember]) -> Result<Vec<ValueId>, String> {
    let inputs =
        |members: &[&CollectiveMember]| members.iter().filter_map(|member| member.input).collect::<Vec<_>>();
    let mut order: Vec<&CollectiveMember> = members.iter().collect();
    match members[0].of {
        Collective::Reduce => {}
        Collective::Gather => {
            let device = |member: &&CollectiveMember| text_of(m, member.op)?.parse::<DeviceSpec>().ok();
            if order.iter().all(|member| device(member).is_some()) {
                order.sort_by_key(device);
            }
        }
        Collective::Broadcast => {
            let n = inputs(&order).len();
            if n != 1 {
                return Err(format!("the group has {n} senders, not 1"));
            }
        }
    }
    Ok(inputs(&order))
}

/// Replaces the members of a group.
fn expand(r: &mut Rewriter<'_>, members: &[CollectiveMember]) -> Result<(), String> {
    let m = r.ir();
    let CollectiveMember { op: first, of, size, .. } = members[0];
    if i64::try_from(members.len()) != Ok(size) {
        return Err(format!("the group has {} members in this function, not {size}", members.len()));
    }
    if members.iter().any(|member| member.of != of) {
        return Err("its members do different things".to_owned());
    }
    let operator = if of == Collective::Reduce { reduction(m, members)? } else { Op::Identity };
    let divides = of == Collective::Reduce && text(m, first, "final_op") == "Div";
    let inputs = inputs_of(m, members)?;
    let ops: Vec<OpId> = members.iter().map(|member| member.op).collect();
    hoist(r, &ops)?;
    let m = r.ir();
    let device = m.attr(first, names::DEVICE);
    let mut edges: Vec<ValueId> = ops
        .iter()
        .flat_map(|&op| m.operands(op).skip(tf::n_data_operands(m, op)).collect::<Vec<_>>())
        .collect();
    edges.sort_by_key(|edge| edge.0);
    edges.dedup();
    let start = r.checkpoint();
    let refused = |refusal: crate::build::Refusal| refusal.message;
    let made = (|| {
        let mut sum = inputs[0];
        if of == Collective::Gather {
            let scalar = tf::tensor(r.cx(), Some(&[]), KnownType::I32.id());
            let axis = Builder::before(r, first).splat(0.0, scalar)?;
            let operands: Vec<ValueId> = inputs.iter().chain([&axis]).chain(&edges).copied().collect();
            return Builder::before(r, first).one(Op::ConcatV2, &operands);
        }
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
        if divides {
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
    for op in ops {
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
