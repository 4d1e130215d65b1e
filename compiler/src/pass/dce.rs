//! `dce`: dead code elimination.
//!
//! An op goes if nobody uses its results and it would not be missed: it has no effects, or only reads, or only
//! allocates what it returns. (That a kernel may fail is no effect: errors are values.) Ops that are not registered,
//! terminators and symbols stay. Removing an op may make its operands' producers dead; they follow.

use super::{Change, Pass, PassCx, Rewriter};
use crate::ir::OpId;
use crate::rewrite::is_trivially_dead;

pub(super) const PASS: Pass = Pass {
    name: "dce",
    title: "DCE",
    summary: "removes operations whose results nobody uses and that have no effects",
    options: &[],
    statistics: &[],
    run,
};

fn run(rewriter: &mut Rewriter<'_>, _: &PassCx<'_>) -> Change {
    let root = rewriter.root();
    // Users come after definitions nearly always, so the reverse order finds most in one go.
    let mut todo: Vec<OpId> = rewriter.ir().walk(root).filter(|op| *op != root).collect();
    while let Some(op) = todo.pop() {
        if rewriter.ir().is_erased(op) || !is_trivially_dead(rewriter.ir(), op) {
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
