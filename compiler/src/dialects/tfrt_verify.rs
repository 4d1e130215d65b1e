//! Constraints of `tfrt` and `tfrt_test` ops on their regions and callees, with TFRT's messages for
//! violations.

use super::{Traits, errors};
use crate::diag::Diagnostic;
use crate::ir::{KnownType, Module, OpId, RegionId, TypeId, TypeKind, names};

fn operands(m: &Module, op: OpId, first: usize) -> impl Iterator<Item = TypeId> + '_ {
    m.operands(op).skip(first).map(|v| m.value_type(v))
}

fn results(m: &Module, op: OpId) -> Vec<TypeId> {
    m.results(op).map(|v| m.value_type(v)).collect()
}

fn block_of_range() -> [TypeId; 2] {
    [KnownType::I32.id(); 2]
}

/// Expected types of the callee of a plain call: all operands, all results.
pub(crate) fn all_types(m: &Module, op: OpId, _: &[TypeId]) -> (Vec<TypeId>, Vec<TypeId>) {
    let types = |v| m.value_type(v);
    (m.operands(op).map(types).collect(), m.results(op).map(types).collect())
}

/// True if values of these types may be passed for the wanted types: equal types or, for kernels, tensors of
/// other shapes.
pub(crate) fn are_passed(m: &Module, found: &[TypeId], want: &[TypeId], is_kernel: bool) -> bool {
    let cx = &m.cx;
    let is_tensor = |ty: TypeId| matches!(cx.ty(ty), TypeKind::Tensor { .. });
    let alike = |found: TypeId, want: TypeId| {
        is_kernel && is_tensor(found) && is_tensor(want) && cx.element(found) == cx.element(want)
    };
    found.len() == want.len()
        && found.iter().zip(want).all(|(&found, &want)| found == want || alike(found, want))
}

/// Expected types of the callees of `tfrt.cond`: the operands after the condition.
pub(super) fn after_condition(m: &Module, op: OpId, _: &[TypeId]) -> (Vec<TypeId>, Vec<TypeId>) {
    (operands(m, op, 1).collect(), results(m, op))
}

/// Expected types of the body of `tfrt.while`: arguments are the operands after the condition; results are
/// those of the loop and the condition of the next iteration.
pub(super) fn loop_body(m: &Module, op: OpId, given: &[TypeId]) -> (Vec<TypeId>, Vec<TypeId>) {
    let (passed, mut taken) = after_condition(m, op, given);
    taken.push(KnownType::I1.id());
    (passed, taken)
}

/// Expected types of the callee of `tfrt.parallel_call.i32`: arguments are the bounds of a block and the
/// operands after the block size; results are none or a chain.
pub(super) fn block_call(m: &Module, op: OpId, given: &[TypeId]) -> (Vec<TypeId>, Vec<TypeId>) {
    let passed = block_of_range().into_iter().chain(operands(m, op, 3)).collect();
    (passed, if given.is_empty() { Vec::new() } else { vec![KnownType::Chain.id()] })
}

/// Expected types of the callee of `tfrt_test.sync_benchmark`: all operands, no results.
pub(super) fn benchmark_call(m: &Module, op: OpId, _: &[TypeId]) -> (Vec<TypeId>, Vec<TypeId>) {
    (operands(m, op, 0).collect(), Vec::new())
}

/// The role of a callee, in TFRT's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CalleeRole {
    Callee,
    /// The `true` or `false` branch of a condition.
    Branch(bool),
    /// The function run for each block of a range.
    Block,
    /// The function of a benchmark.
    Benchmark,
}

/// The role of the function that an attribute names.
pub(crate) fn callee_role(m: &Module, op: OpId, attr: &str) -> CalleeRole {
    match m.op_name_str(op) {
        "tfrt.cond" => CalleeRole::Branch(attr == "a_true_fn"),
        "tfrt.parallel_call.i32" => CalleeRole::Block,
        "tfrt_test.sync_benchmark" => CalleeRole::Benchmark,
        _ => CalleeRole::Callee,
    }
}

impl CalleeRole {
    /// TFRT's message for a callee with wrong types. Types of arguments: passed and taken; of results: wanted
    /// and given.
    pub(crate) fn mismatch(
        self,
        (passed, taken): (&[TypeId], &[TypeId]),
        (wanted, given): (&[TypeId], &[TypeId]),
    ) -> String {
        let of = match self {
            CalleeRole::Callee | CalleeRole::Benchmark => "callee",
            CalleeRole::Branch(true) => "true function",
            CalleeRole::Branch(false) => "false function",
            CalleeRole::Block => return block_mismatch((passed, taken), given),
        };
        let what = |what: &str| match self {
            CalleeRole::Callee | CalleeRole::Benchmark => format!("{what} type mismatch"),
            _ => format!("{what} type mismatch for {of}"),
        };
        if passed.len() != taken.len() {
            return format!("incorrect number of operands for {of}");
        }
        if passed != taken {
            return what("operand");
        }
        if self == CalleeRole::Benchmark {
            return "Target benchmark function must return zero value.".to_owned();
        }
        if wanted.len() != given.len() {
            return format!("incorrect number of results for {of}");
        }
        what("result")
    }
}

fn block_mismatch((passed, taken): (&[TypeId], &[TypeId]), given: &[TypeId]) -> String {
    let text = if passed.len() != taken.len() {
        "incorrect number of callee operands"
    } else if !taken.starts_with(&block_of_range()) {
        // Their spelling ("stard").
        "callee must take stard and end indices first"
    } else if passed != taken {
        "operand type mismatch"
    } else if given.len() > 1 {
        "invalid callee result type"
    } else {
        "async callee must return a chain"
    };
    text.to_owned()
}

/// Expected results of a region: known types, or one value of any type.
enum RegionResults {
    These(Vec<TypeId>),
    One,
}

/// Checks that regions take the given arguments and return the expected results.
fn check(m: &Module, op: OpId, args: &[TypeId], gives: &RegionResults, diags: &mut Vec<Diagnostic>) {
    for (index, &region) in m.regions_of(op).iter().enumerate() {
        let Some(entry) = m.entry(region) else { continue };
        let found: Vec<TypeId> = m.args(entry).iter().map(|a| m.value_type(*a)).collect();
        if !are_passed(m, args, &found, true) {
            diags.push(errors::region_args(m, op, index, args, &found));
        }
        check_end(m, op, region, gives, diags);
    }
}

fn check_end(m: &Module, op: OpId, region: RegionId, gives: &RegionResults, diags: &mut Vec<Diagnostic>) {
    let Some(last) = m.entry(region).and_then(|entry| m.last_op(entry)) else { return };
    // The verifier reports any other terminator.
    if !m.traits(last).has(Traits::RETURN) {
        return;
    }
    let found: Vec<TypeId> = operands(m, last, 0).collect();
    match gives {
        RegionResults::These(want) if !are_passed(m, &found, want, true) => {
            diags.push(errors::yielded(m, last, want, &found, op));
        }
        RegionResults::One if found.len() != 1 => diags.push(errors::not_one_value(m, op, last, found.len())),
        _ => {}
    }
}

/// Verifies the regions of `tfrt.if` and `tfrt.repeat.i32`.
pub(super) fn verify_after_first(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let args: Vec<TypeId> = operands(m, op, 1).collect();
    check(m, op, &args, &RegionResults::These(results(m, op)), diags);
    let has_no_else = m.regions_of(op).get(1).is_some_and(|&region| m.blocks_of(region).is_empty());
    let lacks_else = has_no_else && m.n_results(op) > 0;
    if lacks_else {
        diags.push(errors::no_else(m, op).upstream("expected 'else' in 'tfrt.if' with result values"));
    }
}

/// Verifies the cost of `tfrt_test.test_cost`.
pub(super) fn verify_cost(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let cost = m.attr(op, names::TFRT_COST).and_then(|cost| m.cx.as_int(cost));
    if let Some(cost) = cost.filter(|&cost| cost <= 0) {
        diags.push(errors::cost(m, op, cost));
    }
}

/// Verifies the region of `tfrt_test.do.async`.
pub(super) fn verify_all(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let args: Vec<TypeId> = operands(m, op, 0).collect();
    check(m, op, &args, &RegionResults::These(results(m, op)), diags);
}

/// Verifies the region of `tfrt_test.benchmark`.
pub(super) fn verify_benchmark(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let args: Vec<TypeId> = operands(m, op, 0).collect();
    check(m, op, &args, &RegionResults::One, diags);
}

/// Verifies the region of `tfrt.parallel_for.i32`, which returns nothing or a chain.
pub(super) fn verify_blocks(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let args: Vec<TypeId> = block_of_range().into_iter().chain(operands(m, op, 3)).collect();
    let last = m.regions_of(op).first().and_then(|&region| m.last_op(m.entry(region)?));
    let gives_nothing = last.is_some_and(|last| m.n_operands(last) == 0);
    let gives = if gives_nothing { Vec::new() } else { vec![KnownType::Chain.id()] };
    check(m, op, &args, &RegionResults::These(gives), diags);
}
