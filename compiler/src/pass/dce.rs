//! `dce`: dead code elimination.
//!
//! An op goes if nobody uses its results and it would not be missed: it has no effects, or only reads, or only
//! allocates what it returns. (That a kernel may fail is no effect: errors are values.) Ops that are not registered,
//! terminators and symbols stay. Removing an op may make its operands' producers dead; they follow.

use super::{Change, Rewriter};
use crate::dialects::{Access, Effects, Resource, Traits};
use crate::ir::{Module, OpId};

pub(super) fn run(rewriter: &mut Rewriter<'_>) -> Change {
    let root = rewriter.root();
    // Users come after definitions nearly always, so the reverse order finds most in one go.
    let mut todo: Vec<OpId> = rewriter.ir().walk(root).filter(|op| *op != root).collect();
    while let Some(op) = todo.pop() {
        if rewriter.ir().is_erased(op) || !is_dead(rewriter.ir(), op) {
            continue;
        }
        let producers: Vec<OpId> = rewriter
            .ir()
            .operands(op)
            .filter_map(|v| rewriter.ir().defining_op(v))
            .filter(|p| *p != op)
            .collect();
        rewriter.erase(op);
        todo.extend(producers);
    }
    rewriter.change()
}

fn is_dead(m: &Module, op: OpId) -> bool {
    let Some(def) = m.def(op) else { return false };
    if def.traits.has(Traits::TERMINATOR)
        || def.traits.has(Traits::SYMBOL)
        || !m.results(op).all(|r| m.is_unused(r))
    {
        return false;
    }
    match &def.effects {
        Effects::Pure => true,
        Effects::Unknown | Effects::Recursive => false,
        Effects::List(effects) => effects.iter().all(|e| match (e.access, e.on) {
            (Access::Read, _) | (Access::Alloc, Resource::Result(_)) => true,
            (Access::Write | Access::Alloc | Access::Free, _) => false,
        }),
    }
}
