//! The greedy driver: folds and rewrites until nothing changes.
//!
//! An iteration puts every op on a worklist and processes it. A trivially dead op is erased, an op that folds
//! is replaced by the result, and for other ops the patterns are tried in the order of benefit. Touched ops
//! are added to the worklist again. When it is empty, the regions are simplified (`simplify.rs`). Iterations
//! end when one changes nothing, or when the budget is spent, as reported by [`Outcome::converged`]. The
//! order is that of the program, so results are deterministic.

use super::constants::{ConstantUniquer, constant_value};
use super::{Change, Pattern, Rewriter, is_in_dataflow, is_trivially_dead, simplify_regions};
use crate::dialects::{Folded, OpDef, Traits};
use crate::ir::{AttrId, Module, OpId, TypeId, ValueId};
use rustc_hash::FxHashSet;

/// Folds an op: returns its results, or an empty list after a change in place. `None` if it does not fold.
pub type Fold = fn(&mut Module, OpId) -> Option<Vec<Folded>>;
/// Creates a constant before an op, for a user of this dialect.
pub type Materialize = fn(&mut Rewriter<'_>, OpId, &str, AttrId, TypeId) -> Option<ValueId>;

/// Configuration of the driver.
#[derive(Clone, Copy)]
pub struct GreedyConfig {
    /// Start with the first op of the program instead of the last.
    pub top_down: bool,
    /// Maximum number of iterations over all ops.
    pub max_iterations: Option<u64>,
    /// Maximum number of folds and rewrites in total.
    pub max_rewrites: Option<u64>,
    /// Remove unreachable blocks, dead code and unused block arguments after each iteration.
    pub simplify_regions: bool,
    /// Folds one op.
    pub fold: Fold,
    /// Creates constants for folded results.
    pub materialize: Materialize,
    /// The patterns of an op.
    pub patterns: fn(&'static OpDef) -> &'static [Pattern],
    /// Filter of patterns.
    pub allowed: fn(&Pattern) -> bool,
}

impl Default for GreedyConfig {
    fn default() -> Self {
        GreedyConfig {
            top_down: true,
            max_iterations: Some(10),
            max_rewrites: None,
            simplify_regions: true,
            fold: fold_with_table,
            materialize: |_, _, _, _, _| None,
            patterns: |def| &def.patterns,
            allowed: |_| true,
        }
    }
}

/// Outcome of a run.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether anything changed.
    pub change: Change,
    /// False if the budget was used up before the fixpoint.
    pub converged: bool,
    /// Number of folds and rewrites.
    pub n_rewrites: u64,
}

/// Folds an op by the folder of its definition.
pub fn fold_with_table(m: &mut Module, op: OpId) -> Option<Vec<Folded>> {
    let folder = m.def(op)?.folder?;
    let constants: Vec<Option<AttrId>> =
        m.operands(op).map(|v| m.defining_op(v).and_then(|d| constant_value(m, d))).collect();
    folder(m, op, &constants)
}

impl Rewriter<'_> {
    /// The results of an op for constant operands. In-place changes by the folder are undone.
    pub fn would_fold(&mut self, op: OpId, constants: &[Option<AttrId>]) -> Option<Vec<Folded>> {
        let def = self.module.def(op)?;
        let folder = def.folder?;
        let operands: Vec<ValueId> = self.module.operands(op).collect();
        let attrs = self.module.attrs(op).to_vec();
        let mut constants = constants.to_vec();
        // Folders expect constants on the right.
        if def.traits.has(Traits::COMMUTATIVE) && matches!(constants.as_slice(), [Some(_), None, ..]) {
            constants.swap(0, 1);
            self.module.set_operand(op, 0, operands[1]);
            self.module.set_operand(op, 1, operands[0]);
        }
        let answer = folder(self.module, op, &constants);
        if self.module.n_operands(op) != operands.len() {
            self.module.set_operands(op, &operands);
        }
        for (i, operand) in operands.into_iter().enumerate() {
            self.module.set_operand(op, i, operand);
        }
        if self.module.attrs(op) != attrs.as_slice() {
            let now: Vec<_> = self.module.attrs(op).iter().map(|(name, _)| *name).collect();
            for name in now {
                self.module.remove_attr(op, name);
            }
            for (name, attr) in attrs {
                self.module.set_attr(op, name, attr);
            }
        }
        answer.filter(|parts| !parts.is_empty())
    }
}

/// Folds and rewrites all ops inside of the rewriter's root.
pub fn greedy(r: &mut Rewriter<'_>, config: &GreedyConfig) -> Outcome {
    let before = std::mem::replace(&mut r.change, Change::Unchanged);
    r.touched = Some(Vec::new());
    let root = r.root;
    let mut driver = Driver { r, config, root, work: Worklist::default(), n_rewrites: 0 };
    let converged = driver.run();
    let n_rewrites = driver.n_rewrites;
    r.touched = None;
    let change = r.change;
    r.change = before.or(change);
    Outcome { change, converged, n_rewrites }
}

/// A LIFO worklist without duplicates.
#[derive(Default)]
struct Worklist {
    list: Vec<OpId>,
    inside: FxHashSet<OpId>,
}

impl Worklist {
    fn push(&mut self, op: OpId) {
        if self.inside.insert(op) {
            self.list.push(op);
        }
    }

    fn pop(&mut self) -> Option<OpId> {
        let op = self.list.pop()?;
        self.inside.remove(&op);
        Some(op)
    }
}

struct Driver<'a, 'm> {
    r: &'a mut Rewriter<'m>,
    config: &'a GreedyConfig,
    root: OpId,
    work: Worklist,
    n_rewrites: u64,
}

impl Driver<'_, '_> {
    /// Returns whether the fixpoint was reached.
    fn run(&mut self) -> bool {
        let mut n = 0;
        loop {
            if self.config.max_iterations.is_some_and(|max| n >= max) || self.is_spent() {
                return false;
            }
            n += 1;
            self.fill();
            let mut again = self.process();
            if self.config.simplify_regions {
                again = again.or(simplify_regions(self.r, self.root));
            }
            if again == Change::Unchanged {
                return true;
            }
        }
    }

    fn is_spent(&self) -> bool {
        self.config.max_rewrites.is_some_and(|max| self.n_rewrites >= max)
    }

    /// Puts all ops on the worklist; constants move to their places first.
    fn fill(&mut self) {
        let root = self.root;
        let ops: Vec<OpId> = self.r.module.walk(root).filter(|op| *op != root).collect();
        let mut constants = ConstantUniquer::default();
        let mut kept: Vec<OpId> = Vec::with_capacity(ops.len());
        for op in ops {
            if constants.note(self.r, op) {
                kept.push(op);
            }
        }
        if self.config.top_down {
            kept.reverse();
        }
        self.work = Worklist::default();
        kept.into_iter().for_each(|op| self.work.push(op));
        if let Some(touched) = &mut self.r.touched {
            touched.clear();
        }
    }

    fn process(&mut self) -> Change {
        let mut change = Change::Unchanged;
        while !self.is_spent()
            && let Some(op) = self.work.pop()
        {
            if self.r.module.is_erased(op) {
                continue;
            }
            let changed = self.step(op);
            self.follow();
            if changed == Change::Changed {
                self.n_rewrites += 1;
            }
            change = change.or(changed);
        }
        change
    }

    fn step(&mut self, op: OpId) -> Change {
        if is_trivially_dead(self.r.module, op) {
            self.r.erase(op);
            return Change::Changed;
        }
        if is_in_dataflow(self.r.module, op) {
            return Change::Unchanged;
        }
        if constant_value(self.r.module, op).is_none() && self.fold(op) == Change::Changed {
            return Change::Changed;
        }
        self.rewrite(op)
    }

    fn fold(&mut self, op: OpId) -> Change {
        let Some(folded) = (self.config.fold)(self.r.module, op) else { return Change::Unchanged };
        if folded.is_empty() {
            self.r.touch(op);
            return Change::Changed;
        }
        let dialect = self.r.module.def(op).map_or("", |d| d.dialect());
        let mut values = Vec::with_capacity(folded.len());
        let mut made = Vec::new();
        for (i, part) in folded.into_iter().enumerate() {
            let ty = self.r.module.value_type(self.r.module.result(op, i));
            match part {
                Folded::Value(value) => values.push(value),
                Folded::Attr(attr) => match (self.config.materialize)(self.r, op, dialect, attr, ty) {
                    Some(value) => {
                        values.push(value);
                        made.extend(self.r.module.defining_op(value));
                    }
                    None => {
                        made.into_iter().for_each(|op| self.r.erase(op));
                        return Change::Unchanged;
                    }
                },
            }
        }
        self.r.replace_op(op, &values);
        Change::Changed
    }

    fn rewrite(&mut self, op: OpId) -> Change {
        let Some(def) = self.r.module.def(op) else { return Change::Unchanged };
        for pattern in (self.config.patterns)(def).iter().filter(|p| (self.config.allowed)(p)) {
            if (pattern.rewrite)(self.r, op) == Change::Changed {
                return Change::Changed;
            }
        }
        Change::Unchanged
    }

    /// Puts touched ops on the worklist, with the ops around them.
    fn follow(&mut self) {
        let Some(touched) = self.r.touched.as_mut().map(std::mem::take) else { return };
        let mut path = Vec::new();
        for op in touched {
            let mut at = Some(op);
            while let Some(op) = at
                && op != self.root
                && !self.r.module.is_erased(op)
            {
                path.push(op);
                at = self.r.module.parent_op(op);
            }
            // Only ops inside of the root.
            if at == Some(self.root) {
                path.iter().for_each(|op| self.work.push(*op));
            }
            path.clear();
        }
    }
}
