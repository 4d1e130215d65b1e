//! `dce`: dead code elimination.
//!
//! What nothing depends on goes: ops without effects whose results are not needed, blocks that are never
//! reached, and arguments of blocks that are not needed, also if they only feed themselves around a loop.
//! What counts as an effect is said in `rewrite/effects.rs`, how dead code is found in `rewrite/simplify.rs`.

use super::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::simplify_regions;

pub(crate) const PASS: Pass = Pass {
    name: "dce",
    title: "DCE",
    summary: "removes operations whose results nobody uses and that have no effects, and blocks that are never reached",
    options: &[],
    statistics: &[],
    run,
};

fn run(r: &mut Rewriter<'_>, _: &PassCx<'_>) -> Change {
    let root = r.root();
    simplify_regions(r, root)
}
