//! Equivalence of a call and its inlined body with respect to errors.
//!
//! A call that runs as a kernel is strict: if an argument is an error, the callee does not run and all
//! results are the first error. Inlined ops only propagate the errors of their own operands. Both are equal
//! if every result, and every op that has effects or may fail, depends on all arguments that may be errors,
//! in their order: it is then skipped whenever the call is, with the same error. They are also equal if all
//! operands of the call are lenient: the callee runs in any case.
//!
//! The errors that a value propagates are a list, of which the first counts. The list of an op is the
//! concatenation of those of its operands. Values that only total ops (`is_total`) compute are never errors.

use crate::dialects::{Effects, OperandMode, Traits};
use crate::ir::{AttrId, AttrKind, BlockId, KnownType, Module, OpId, ValueId, names};
use crate::pass::symbol_dce::references;
use crate::rewrite::is_total;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Limit on ops visited to prove that a value is no error.
const MAX_VISITS: usize = 64;
/// Maximum number of arguments that may be errors; calls with more are not inlined.
const MAX_ARGS: usize = 8;

type Errors = SmallVec<[ValueId; 2]>;

/// True for a kernel that calls its function whatever becomes of its operands, since all are lenient.
pub(super) fn runs_anyway(m: &Module, call: OpId) -> bool {
    let is_lenient = |&mode: &AttrId| m.cx.as_str(mode) == Some("lenient");
    let modes = m.attr(call, names::BEF_OPERAND_MODES).map(|attr| m.cx.attr(attr));
    let are_lenient = matches!(modes, Some(AttrKind::Array(modes))
        if modes.len() == m.n_operands(call) && modes.iter().all(is_lenient));
    are_lenient && m.def(call).is_some_and(|d| d.has_kernel)
}

pub(super) fn is_exact(m: &Module, call: OpId, blocks: &[BlockId]) -> bool {
    let runs = m.def(call).is_some_and(|d| d.has_kernel);
    if !runs || m.attr(call, names::BEF_NONSTRICT).is_some() || runs_anyway(m, call) {
        return true;
    }
    let mut all = Errors::new();
    for value in m.operands(call) {
        if may_be_error(m, value) && !all.contains(&value) {
            all.push(value);
        }
    }
    if all.is_empty() {
        return true;
    }
    let [block] = blocks else { return false };
    if all.len() > MAX_ARGS {
        return false;
    }
    let mut errors: FxHashMap<ValueId, Errors> = FxHashMap::default();
    for (arg, value) in m.args(*block).iter().zip(m.operands(call)) {
        errors.insert(*arg, all.iter().copied().filter(|v| *v == value).collect());
    }
    m.ops_in(*block).all(|op| {
        let Some(def) = m.def(op) else { return false };
        if def.traits.has(Traits::RETURN) {
            return m.operands(op).all(|v| errors.get(&v) == Some(&all));
        }
        let n = m.n_operands(op);
        let strict = (0..n).all(|i| def.operand_mode(i, n) == OperandMode::Required);
        let mut list = Errors::new();
        for value in m.operands(op) {
            for error in errors.get(&value).into_iter().flatten() {
                if !list.contains(error) {
                    list.push(*error);
                }
            }
        }
        let harmless = def.effects == Effects::Pure && is_total(m, op);
        let exact = strict && (harmless || list == all);
        errors.extend(m.results(op).map(|v| (v, list.clone())));
        exact
    })
}

/// True if nothing orders the call among effects, and its callee consists of ops without effects and of
/// kernels that call functions, which are not ordered either.
pub(super) fn has_no_effects(m: &Module, call: OpId, callee: OpId) -> bool {
    let is_chain = |value: ValueId| m.value_type(value) == KnownType::Chain.id();
    // A completion that nobody waits for orders nothing.
    let is_ordered = |op: OpId| {
        m.operands(op).any(is_chain) || m.results(op).any(|value| is_chain(value) && !m.is_unused(value))
    };
    let is_harmless = |op: OpId| {
        m.def(op).is_some_and(|def| {
            def.effects == Effects::Pure
                || def.traits.has(Traits::RETURN)
                || def.has_kernel && !references(m, op).is_empty()
        })
    };
    !is_ordered(call) && m.walk(callee).skip(1).all(|op| is_harmless(op) && !is_ordered(op))
}

/// False if only total ops compute the value.
fn may_be_error(m: &Module, value: ValueId) -> bool {
    let mut todo = vec![value];
    for _ in 0..MAX_VISITS {
        let Some(value) = todo.pop() else { return false };
        match m.defining_op(value) {
            Some(op) if is_total(m, op) => todo.extend(m.operands(op)),
            _ => return true,
        }
    }
    true
}
