//! Uniquing of constants: one op per constant, in front of all uses.
//!
//! The constants of an isolated region move to the start of its entry block, one per value, type and dialect.
//! So folding finds them by one lookup, and equal constants need no CSE.

use super::{InsertionPoint, Rewriter, is_in_dataflow};
use crate::dialects::Traits;
use crate::ir::{AttrId, LocId, Module, OpId, RegionId, TypeId, names};
use rustc_hash::{FxHashMap, FxHashSet};

/// The value of a constant op.
pub(super) fn constant_value(m: &Module, op: OpId) -> Option<AttrId> {
    m.def(op).filter(|d| d.traits.has(Traits::CONSTANT)).and_then(|_| m.attr(op, names::VALUE))
}

/// The constants already placed.
#[derive(Default)]
pub(super) struct ConstantUniquer {
    known: FxHashMap<(RegionId, &'static str, AttrId, TypeId), OpId>,
    placed: FxHashSet<OpId>,
}

impl ConstantUniquer {
    /// Moves `op` to its place if it is a constant, or replaces it by an equal one. Returns false if the op
    /// was erased.
    pub(super) fn note(&mut self, r: &mut Rewriter<'_>, op: OpId) -> bool {
        let m = r.ir();
        let (Some(value), Some(def)) = (constant_value(m, op), m.def(op)) else { return true };
        // A constant that waits for operands stays in place, and one that may be dead.
        if m.n_results(op) != 1 || m.n_operands(op) > 0 || is_in_dataflow(m, op) {
            return true;
        }
        let Some(region) = home(m, op) else { return true };
        let Some(entry) = m.entry(region) else { return true };
        let result = m.result(op, 0);
        let key = (region, def.dialect(), value, m.value_type(result));
        if let Some(&same) = self.known.get(&key) {
            let kept = m.result(same, 0);
            r.replace_op(op, &[kept]);
            r.set_loc(same, LocId::UNKNOWN);
            return false;
        }
        if let Some(first) = m.first_op(entry) {
            let settled = m.parent_block(op) == Some(entry)
                && (first == op || m.prev_op(op).is_some_and(|p| self.placed.contains(&p)));
            if !settled {
                r.move_to(op, InsertionPoint::Before(first));
                r.set_loc(op, LocId::UNKNOWN);
            }
        }
        self.known.insert(key, op);
        self.placed.insert(op);
        true
    }
}

/// The region whose entry block is the place of a constant at `op`: the nearest isolated one.
fn home(m: &Module, op: OpId) -> Option<RegionId> {
    let mut region = m.parent_region(op)?;
    loop {
        let parent = m.region_parent(region);
        match (m.def(parent), m.parent_region(parent)) {
            (Some(def), Some(outer)) if !def.traits.has(Traits::ISOLATED) => region = outer,
            _ => return Some(region),
        }
    }
}
