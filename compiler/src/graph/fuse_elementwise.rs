//! `tf-fuse-elementwise`: fusion of elementwise operators into one that passes over memory once.
//!
//! ```text
//! %0 = Mul(%x, %scale)   %1 = AddV2(%0, %bias)   %2 = Tanh(%1)        %0 and %2 have users
//!     ──▶     %0, %2 = _FusedElementwise(%x, %scale, %bias) {ops, values, results}
//! ```
//!
//! A group ends in one op, at whose place the fused operator is computed. An op before it joins the group if
//! it has the shape of the group's end, if it shares a value with a member, and if all of its users are
//! members, or come after the end: then it is one more result. Nothing is computed twice. Splat constants
//! become part of the fused program.
//!
//! An error of an operand is one of all results, and so is its deadness. So a group has one result where
//! values may be dead, or where an operand that a result does not depend on may be an error.
//!
//! Values are f32 and i32. Booleans exist within a group only, and casts of them to i32 are no steps.

use befrost_tensor::DType;
use befrost_tensor::tf::fused::StepKind;
use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::build::Builder;
use crate::build::query::{dims, dtype, has_no_edges, shape, splat};
use crate::dialects::tf;
use crate::ir::{Module, OpId, TypeId, ValueId, names};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::{is_in_dataflow, is_total};

pub(crate) const PASS: Pass = Pass {
    name: "tf-fuse-elementwise",
    title: "TFFuseElementwise",
    summary: "makes one operator of several elementwise ones",
    options: &[],
    statistics: &[("num-fused", "Number of operators that became part of another")],
    run,
};

/// Limit on the steps of a fused operator.
const MOST_STEPS: usize = 512;
/// Limit on its operands, and on its results.
const MOST_VALUES: usize = 32;
/// Between two members are at most this many other ops.
const WINDOW: usize = 128;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    let ops: Vec<OpId> = m.walk_functions().filter(|&op| member(m, op).is_some()).collect();
    let mut taken: FxHashSet<OpId> = FxHashSet::default();
    // Users follow their operands in the walk.
    for &last in ops.iter().rev() {
        if taken.contains(&last) {
            continue;
        }
        let group = FusionGroup::ending_in(r.ir(), last);
        let members = group.members.clone();
        if members.len() > 1 && group.fuse(r).is_some() {
            cx.count("num-fused", members.len() as u64);
            taken.extend(members);
        }
    }
    r.change()
}

/// The part that an op has in a fused program.
#[derive(Clone, Copy, PartialEq)]
enum Member {
    Step(StepKind),
    /// A cast of booleans to i32, which they are there.
    Alias,
}

/// The part of an op, if it can have one.
fn member(m: &Module, op: OpId) -> Option<Member> {
    use DType::{F32, I1, I32};
    let row = tf::row(m, op)?;
    if !has_no_edges(m, op) || m.n_results(op) != 1 {
        return None;
    }
    let is = |value, wanted| dtype(m, value) == Some(wanted);
    let all = |wanted| m.operands(op).all(|value| is(value, wanted));
    let gives = |wanted| is(m.result(op, 0), wanted);
    let step = row.class().step(all(I32))?;
    let fits = match step {
        StepKind::Map(_) | StepKind::Arithmetic(_) => all(F32) && gives(F32),
        StepKind::Ints(_) => gives(I32),
        StepKind::Compare(_) => all(F32) && gives(I1),
        StepKind::ToFloat if all(I1) && gives(I32) => return Some(Member::Alias),
        StepKind::ToFloat => (all(I1) || all(I32)) && gives(F32),
        StepKind::Choose => {
            is(m.operand(op, 0), I1) && m.operands(op).skip(1).all(|value| is(value, F32)) && gives(F32)
        }
    };
    fits.then_some(Member::Step(step))
}

/// Ops that become one.
struct FusionGroup {
    last: OpId,
    /// In block order, `last` at the end.
    members: Vec<OpId>,
}

impl FusionGroup {
    /// The largest group that ends in an op.
    fn ending_in(m: &Module, last: OpId) -> FusionGroup {
        let is_in_dataflow = m.ancestors(last).chain([last]).any(|op| is_in_dataflow(m, op));
        let group = FusionGroup::with_results(m, last, if is_in_dataflow { 1 } else { MOST_VALUES });
        if group.keeps_errors(m) { group } else { FusionGroup::with_results(m, last, 1) }
    }

    /// The largest group that ends in an op and has so many results.
    fn with_results(m: &Module, last: OpId, most: usize) -> FusionGroup {
        let mut found = vec![last];
        let end = m.result(last, 0);
        if shape(m, end).is_some() && dtype(m, end) != Some(DType::I1) {
            extend(m, &mut found, most);
        }
        found.reverse();
        // Booleans do not come from outside. What remains behind the last op that reads such ones is a group,
        // unless it reads booleans of what was in front of it.
        loop {
            let members: FxHashSet<OpId> = found.iter().copied().collect();
            let is_inner = |value| m.defining_op(value).is_some_and(|op| members.contains(&op));
            let is_outer_flag = |value| dtype(m, value) == Some(DType::I1) && !is_inner(value);
            let reads_outer = |&op: &OpId| m.operands(op).any(is_outer_flag);
            match found.iter().rposition(reads_outer) {
                Some(i) => found = found.split_off(i + 1),
                None => return FusionGroup { last, members: found },
            }
        }
    }

    /// True if no result becomes an error that would not be one of the separate ops: what it does not depend
    /// on cannot fail.
    fn keeps_errors(&self, m: &Module) -> bool {
        let program = Steps::new(m, self);
        if program.results.len() < 2 {
            return true;
        }
        // Results of one op are errors together: the first stands for all.
        let source = |value| m.defining_op(value).filter(|&op| fails_as_a_whole(m, op));
        let is_same = |a, b| a == b || source(a).is_some_and(|op| source(b) == Some(op));
        let place = |value| program.operands.iter().position(|&operand| is_same(operand, value));
        // Operands beyond 64 count as read by nobody.
        let bit = |value| place(value).and_then(|i| 1u64.checked_shl(i as u32)).unwrap_or(0);
        let mut reads: FxHashMap<ValueId, u64> = FxHashMap::default();
        for &op in &self.members {
            let of = |value| reads.get(&value).copied().unwrap_or_else(|| bit(value));
            let all = m.operands(op).map(of).fold(0, |all, read| all | read);
            reads.insert(m.result(op, 0), all);
        }
        let results =
            program.results.iter().map(|&(op, _)| reads.get(&m.result(op, 0)).copied().unwrap_or(0));
        let by_all = results.fold(u64::MAX, |all, read| all & read);
        let others = program.operands.iter().filter(|&&value| bit(value) & by_all == 0);
        others.copied().all(|value| cannot_fail(m, value))
    }

    /// Replaces the group by one op; `None` if all operands are constants.
    fn fuse(&self, r: &mut Rewriter<'_>) -> Option<()> {
        let m = r.ir();
        let program = Steps::new(m, self);
        // Without operands there is no shape; the group is a constant.
        if program.operands.is_empty() {
            return None;
        }
        let types: Vec<TypeId> =
            program.results.iter().map(|&(op, _)| m.value_type(m.result(op, 0))).collect();
        let results: Vec<i64> = program.results.iter().map(|&(_, step)| step).collect();
        let mut b = Builder::before(r, self.last);
        let numbers: Vec<_> = program.numbers.iter().map(|&x| b.cx().f32_attr(x)).collect();
        let numbers = b.cx().array_attr(&numbers);
        let fused = b
            .op(Op::_FusedElementwise, &program.operands)
            .attr("numbers", numbers)
            .strs("ops", &program.names)
            .ints("results", &results)
            .ints("values", &program.values)
            .results(&types)
            .build()
            .ok()?;
        let mut made: FxHashMap<OpId, ValueId> = FxHashMap::default();
        for (i, &(op, _)) in program.results.iter().enumerate() {
            made.insert(op, r.ir().result(fused, i));
        }
        // Users first.
        for op in self.members.iter().rev() {
            match made.get(op) {
                Some(&value) => r.replace_op(*op, &[value]),
                None => r.erase(*op),
            }
        }
        Some(())
    }
}

/// True if an error of an op is one of all of its results: it is a kernel's, not one of functions that it
/// calls.
fn fails_as_a_whole(m: &Module, op: OpId) -> bool {
    tf::row(m, op).is_some() && tf::Control::of(m, op).is_none() && m.regions_of(op).is_empty()
}

/// True if a value is an argument, or follows from arguments by ops that cannot fail.
fn cannot_fail(m: &Module, value: ValueId) -> bool {
    let (mut todo, mut seen) = (vec![value], FxHashSet::default());
    while let Some(value) = todo.pop() {
        let Some(op) = m.defining_op(value) else { continue };
        if !seen.insert(op) {
            continue;
        }
        if seen.len() > WINDOW || !is_total(m, op) {
            return false;
        }
        todo.extend(m.operands(op));
    }
    true
}

/// Adds the ops that join the group of the only op in `found`, from the last to the first.
fn extend(m: &Module, found: &mut Vec<OpId>, most_results: usize) {
    let &[last] = &found[..] else { return };
    let (end, block) = (m.result(last, 0), m.parent_block(last));
    let (wanted, is_static) = (shape(m, end), dims(m, end).is_some());
    let is_after = |user: OpId| {
        let in_block = std::iter::once(user).chain(m.ancestors(user)).find(|&op| m.parent_block(op) == block);
        in_block.is_some_and(|op| m.is_before(last, op))
    };
    let mut members = FxHashSet::from_iter([last]);
    let read = |op: OpId| m.operands(op).filter(|&value| splat(m, value).is_none());
    // The values that members read; those of them that no member makes.
    let mut shared: FxHashSet<ValueId> = read(last).collect();
    let mut outer = shared.clone();
    let mut n_results = 1;
    let mut next = m.prev_op(last);
    let mut n_others = 0;
    while let Some(op) = next.filter(|_| n_others <= WINDOW) {
        next = m.prev_op(op);
        n_others += 1;
        let Some(part) = member(m, op) else { continue };
        let value = m.result(op, 0);
        if shape(m, value) != wanted || m.attr(op, names::DEVICE) != m.attr(last, names::DEVICE) {
            continue;
        }
        if !shared.contains(&value) && !read(op).any(|operand| shared.contains(&operand)) {
            continue;
        }
        let mut outside =
            m.users(value).map(|(user, _)| user).filter(|user| !members.contains(user)).peekable();
        let is_result = outside.peek().is_some();
        if is_result {
            // Sizes that are not known may differ from the end's.
            let may_be = is_static && part != Member::Alias && dtype(m, value) != Some(DType::I1);
            if !may_be || n_results == most_results || !outside.all(is_after) {
                continue;
            }
        }
        let new = read(op).filter(|operand| !outer.contains(operand)).count();
        if outer.len() + new > MOST_VALUES + usize::from(outer.contains(&value)) {
            continue;
        }
        n_results += usize::from(is_result);
        outer.remove(&value);
        outer.extend(read(op));
        shared.extend(read(op));
        members.insert(op);
        found.push(op);
        n_others = 0;
        if found.len() == MOST_STEPS {
            return;
        }
    }
}

/// The attributes of a fused op.
struct Steps {
    operands: Vec<ValueId>,
    numbers: Vec<f32>,
    names: Vec<&'static str>,
    values: Vec<i64>,
    /// The ops whose results have users outside of the group, and their steps.
    results: Vec<(OpId, i64)>,
}

impl Steps {
    fn new(m: &Module, group: &FusionGroup) -> Steps {
        let &FusionGroup { last, ref members } = group;
        let mut steps: FxHashMap<ValueId, usize> = FxHashMap::default();
        let mut in_order = Vec::with_capacity(members.len());
        let mut results: Vec<(OpId, i64)> = Vec::new();
        let inside: FxHashSet<OpId> = members.iter().copied().collect();
        for &op in members {
            let step = match member(m, op) {
                Some(Member::Alias) => steps.get(&m.operand(op, 0)).copied().unwrap_or_default(),
                _ => {
                    in_order.push(op);
                    in_order.len() - 1
                }
            };
            steps.insert(m.result(op, 0), step);
            if op == last || m.users(m.result(op, 0)).any(|(user, _)| !inside.contains(&user)) {
                results.push((op, step as i64));
            }
        }
        let (mut operands, mut numbers): (Vec<ValueId>, Vec<f32>) = (Vec::new(), Vec::new());
        let outer = in_order.iter().flat_map(|&op| m.operands(op)).filter(|value| !steps.contains_key(value));
        for value in outer.clone() {
            match number(m, value, last) {
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
            match number(m, value, last).and_then(same) {
                Some(i) => -1 - i as i64,
                None => operands.iter().position(|&other| other == value).unwrap_or_default() as i64,
            }
        };
        let values = in_order.iter().flat_map(|&op| m.operands(op)).map(place).collect();
        let names = in_order.iter().filter_map(|&op| Some(tf::row(m, op)?.name)).collect();
        Steps { operands, numbers, names, values, results }
    }
}

/// The number that all elements of a constant are, if the fused program can contain it.
fn number(m: &Module, value: ValueId, last: OpId) -> Option<f32> {
    let x = splat(m, value).filter(|_| is_scalar_like(m, value, last))?;
    let is_exact = match dtype(m, value)? {
        DType::I32 => x.abs() <= f64::from(1 << 24),
        _ => (x as f32).is_finite(),
    };
    is_exact.then_some(x as f32)
}

/// True if a splat constant cannot broadcast the result to a larger shape.
fn is_scalar_like(m: &Module, value: ValueId, last: OpId) -> bool {
    let (Some(own), Some(_)) = (shape(m, value), shape(m, m.result(last, 0))) else { return false };
    own.iter().all(|&dim| dim == 1) && own.len() <= 1
}
