//! Side effects of ops and functions.

use crate::dialects::{Access, EffectResource, Effects, Traits};
use crate::ir::{Module, OpId, StrId, names};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// True for an op directly in a graph whose values may be dead, or in an island of one. It must not lose
/// operands or leave the island, from which its deadness comes.
pub fn is_in_dataflow(m: &Module, op: OpId) -> bool {
    m.parent_op(op).and_then(|parent| m.def(parent)).is_some_and(|def| def.traits.has(Traits::DATAFLOW))
}

/// True for an op of an island in such a graph. The island lives or dies with its inputs, so it must not lose
/// the op.
fn is_in_island(m: &Module, op: OpId) -> bool {
    is_in_dataflow(m, op) && m.parent_op(op).is_some_and(|parent| is_in_dataflow(m, parent))
}

/// True if the results of `op` are unused and it has no relevant side effects.
pub fn is_trivially_dead(m: &Module, op: OpId) -> bool {
    m.results(op).all(|r| m.is_unused(r)) && would_be_trivially_dead(m, op)
}

/// True if `op` could be erased if its results were unused: it, and all ops inside of it, have no effects,
/// only read, or only allocate their results. (Failure of a kernel is no effect: errors are values. Failure
/// of an access to state is one.)
/// Terminators, symbols, ops of islands and unregistered ops stay.
pub fn would_be_trivially_dead(m: &Module, op: OpId) -> bool {
    let stays =
        |op: OpId| m.def(op).is_none_or(|d| d.traits.has(Traits::TERMINATOR) || d.traits.has(Traits::SYMBOL));
    if stays(op) || is_in_island(m, op) {
        return false;
    }
    let mut todo: SmallVec<[OpId; 8]> = smallvec![op];
    while let Some(op) = todo.pop() {
        let Some(def) = m.def(op) else { return false };
        match &def.effects {
            Effects::Pure => {}
            Effects::Unknown | Effects::OfCallees => return false,
            Effects::Recursive => {
                let inside = m.regions_of(op).iter().flat_map(|r| m.blocks_of(*r));
                todo.extend(inside.flat_map(|b| m.ops_in(*b)));
            }
            Effects::List(effects) => {
                let harmless = effects.iter().all(|e| match (e.access, e.on) {
                    // A variable may have no value, which is an error of the function that reads it.
                    (Access::Read, EffectResource::State) => false,
                    (Access::Read, _) | (Access::Alloc, EffectResource::Result(_)) => true,
                    (Access::Write | Access::Alloc | Access::Free, _) => false,
                });
                if !harmless {
                    return false;
                }
            }
        }
    }
    true
}

/// The access of an op to the state of the op graph, apart from those in its regions and callees.
pub fn state_access(m: &Module, op: OpId) -> Option<Access> {
    m.def(op)?.effects.of_state()
}

/// These functions, and those that call one of them, also through others. `calls` are callers and callees.
pub fn with_callers(functions: Vec<StrId>, calls: &[(StrId, StrId)]) -> FxHashSet<StrId> {
    let mut callers: FxHashMap<StrId, Vec<StrId>> = FxHashMap::default();
    for &(caller, callee) in calls {
        callers.entry(callee).or_default().push(caller);
    }
    let mut todo = functions;
    let mut found = FxHashSet::default();
    while let Some(name) = todo.pop() {
        if found.insert(name) {
            todo.extend(callers.get(&name).into_iter().flatten());
        }
    }
    found
}

/// True if `op` may be computed where the program does not compute it: it has no effects and is defined for
/// its operands. Ops with regions are not speculatable, since they may be infinite loops. (The result may be
/// an error: see [`is_total`].)
pub fn is_speculatable(m: &Module, op: OpId) -> bool {
    m.def(op).is_some_and(|d| {
        d.effects == Effects::Pure
            && m.regions_of(op).is_empty()
            && !d.traits.has(Traits::TERMINATOR)
            && (!d.traits.has(Traits::TRAPS) || divides_safely(m, op))
    })
}

/// True if the divisor is a constant other than 0 and -1.
fn divides_safely(m: &Module, op: OpId) -> bool {
    let divisor = m.operands(op).nth(1).and_then(|v| m.defining_op(v));
    let constant = divisor.filter(|d| m.traits(*d).has(Traits::CONSTANT));
    let value = constant.and_then(|d| m.attr(d, names::VALUE)).and_then(|a| m.cx.as_int(a));
    // The minimum divided by -1 overflows.
    value.is_some_and(|n| n != 0 && n != -1)
}

/// True if `op` gives no error unless an operand is one.
pub fn is_total(m: &Module, op: OpId) -> bool {
    m.def(op).is_some_and(|d| d.traits.has(Traits::TOTAL) || d.total_if.is_some_and(|holds| holds(m, op)))
}
